//! The rows as a whole.

use std::collections::BTreeMap;

use super::*;
use crate::dialect::machine::grammar::Grammar;

/// The names that engines have for the dialects, and the row that each means, if that
/// has another name: vLLM, SGLang, dynamo, smg. Names that stand for a file of
/// the model's, or for no dialect, are not among them.
const ENGINES: &[&str] = &[
    "dots deepseek_v3 deepseek_v31 deepseek_v32 deepseek_v4 deepseek_v41 \
     cohere_command3:cohere_action cohere_command4 ernie45 glm45 glm47 ling3 \
     granite-20b-fc:granite20b_fc granite:granite3 granite4:hermes hermes beam poolside_v1 \
     hunyuan_a13b hy_v3 hy_v4 internlm:internlm2 jamba:tool_calls_json_array lfm2 kimi_k2 \
     kimi_k3 k2_horizon llama3_json llama4_json:llama3_json llama4_pythonic longcat mimo \
     minimax_m2 minimax_m3 minicpm5 mistral:mistral_json olmo3 plamo3 muse:muse_atem \
     muse_glimmer:muse_atem musespark1x:muse_atem openai:harmony phi4_mini_json:phi4_mini \
     pythonic qwen3_coder qwen3_json:hermes qwen3_xml:qwen3_coder seed_oss step3 \
     step3p5:qwen3_coder step5:qwen3_coder inkling xlam gigachat3 functiongemma gemma4 apertus",
    "apertus2509:apertus deepseekv3:deepseek_v3 deepseekv31:deepseek_v31 \
     deepseekv32:deepseek_v32 deepseekv4:deepseek_v4 deepseekv41:deepseek_v41 glm:glm45 \
     gpt-oss:harmony llama3:llama3_json qwen:hermes qwen25:hermes spark25 minimax-m2:minimax_m2 \
     minimax-m3:minimax_m3 nanbeige:qwen3_coder trinity:hermes interns1:internlm2 hunyuan:hy_v3 \
     gigachat35 iquest_q1",
    "nemotron_deci:nemotron_toolcall phi4:phi4_mini harmony deepseek_v3_1:deepseek_v31 \
     deepseek_v3_2:deepseek_v32 nemotron_nano:qwen3_coder minimax_m3_nom:minimax_m3 \
     gemma-4:gemma4 nemotron_v3:qwen3_coder muse_spark:muse_atem muse_spark_open:muse_atem",
    "qwen_xml:qwen3_coder qwen_coder:qwen3_coder nemotron:qwen3_coder llama:llama3_json \
     deepseek:deepseek_v3 deepseek31:deepseek_v31 deepseek32:deepseek_v32 glm45_moe:glm45 \
     glm47_moe:glm47 sarashina kimik2:kimi_k2 cohere:cohere_action",
];

fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

#[test]
fn every_pattern_can_be_read() {
    for row in DIALECTS {
        if let Err(error) = Grammar::new(row) {
            panic!("{}: {error}", row.name);
        }
    }
}

#[test]
fn a_name_means_one_row() {
    let mut rows = BTreeMap::new();
    for row in DIALECTS {
        for name in [row.name].iter().chain(row.aliases) {
            let other = rows.insert(canonical(name), row.name);
            assert_eq!(other, None, "{name} means {} as well", row.name);
        }
    }
    assert!(!rows.contains_key("auto") && !rows.contains_key("none"));
}

#[test]
fn names_of_engines_are_known() {
    for name in ENGINES.iter().flat_map(|engine| engine.split_ascii_whitespace()) {
        let (name, row) = name.split_once(':').unwrap_or((name, name));
        match choose(name) {
            Ok(Selection::Row(found)) => assert_eq!(found.name, row, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn every_row_says_who_writes_so() {
    for row in DIALECTS {
        assert!(!row.models.is_empty(), "{}", row.name);
        assert!(row.markers().next().is_some(), "{}", row.name);
    }
}
