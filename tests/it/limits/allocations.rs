//! The allocations of records of text, and of calls in plain text.

use std::io;

use allocation_counter::measure;
use toolstream::dialect::choose;
use toolstream::format;
use toolstream::sink::{Label, Ndjson};
use toolstream::{Config, Pipeline};

/// The records that are fed before any allocation is counted, and while they are.
const RECORDS: usize = 500;
/// What buffers may grow by while they are counted.
const GROWTH: u64 = 4;

/// A stream of one format: what comes first, and a record with `TEXT` in it.
struct Stream {
    format: &'static str,
    head: &'static str,
    record: &'static str,
}

/// The commonest formats.
const STREAMS: &[Stream] = &[
    Stream {
        format: "openai-chat",
        head: "",
        record: "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
                 \"choices\":[{\"index\":0,\"delta\":{\"content\":\"TEXT\"},\"finish_reason\":null}]}\n\n",
    },
    Stream {
        format: "openai-completions",
        head: "",
        record: "data: {\"id\":\"c\",\"object\":\"text_completion\",\
                 \"choices\":[{\"index\":0,\"text\":\"TEXT\",\"finish_reason\":null}]}\n\n",
    },
    Stream {
        format: "openai-responses",
        head: "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"m\"}}\n\n",
        record: "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\
                 \"content_index\":0,\"delta\":\"TEXT\"}\n\n",
    },
    Stream {
        format: "anthropic",
        head: "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\"}}\n\n\
               data: {\"type\":\"content_block_start\",\"index\":0,\
               \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        record: "data: {\"type\":\"content_block_delta\",\"index\":0,\
                 \"delta\":{\"type\":\"text_delta\",\"text\":\"TEXT\"}}\n\n",
    },
    Stream {
        format: "gemini",
        head: "",
        record: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"TEXT\"}],\
                 \"role\":\"model\"},\"index\":0}]}\n\n",
    },
    Stream {
        format: "ollama-chat",
        head: "",
        record: "{\"model\":\"m\",\"created_at\":\"2025-01-01T00:00:00Z\",\
                 \"message\":{\"role\":\"assistant\",\"content\":\"TEXT\"},\"done\":false}\n",
    },
    Stream {
        format: "ollama-generate",
        head: "",
        record: "{\"model\":\"m\",\"created_at\":\"2025-01-01T00:00:00Z\",\
                 \"response\":\"TEXT\",\"done\":false}\n",
    },
    Stream {
        format: "cohere",
        head: "data: {\"type\":\"message-start\",\"id\":\"m\"}\n\n",
        record: "data: {\"type\":\"content-delta\",\"index\":0,\
                 \"delta\":{\"message\":{\"content\":{\"text\":\"TEXT\"}}}}\n\n",
    },
    Stream {
        format: "ai-sdk-ui",
        head: "data: {\"type\":\"start\"}\n\ndata: {\"type\":\"text-start\",\"id\":\"0\"}\n\n",
        record: "data: {\"type\":\"text-delta\",\"id\":\"0\",\"delta\":\"TEXT\"}\n\n",
    },
    Stream {
        format: "mistral-conversations",
        head: "data: {\"type\":\"conversation.response.started\",\"conversation_id\":\"c\"}\n\n",
        record: "data: {\"type\":\"message.output.delta\",\"output_index\":0,\"id\":\"m\",\
                 \"content_index\":0,\"model\":\"m\",\"role\":\"assistant\",\"content\":\"TEXT\"}\n\n",
    },
];

/// Returns the allocations that records take, once some were read: each is a read of its own.
fn allocations(config: &Config, head: &str, record: impl Fn(usize) -> String) -> u64 {
    let mut sink = Ndjson::new(io::sink(), Label::default());
    let mut pipeline = Pipeline::new(config);
    pipeline.feed(head.as_bytes(), &mut sink).unwrap();
    let records: Vec<String> = (0..2 * RECORDS).map(record).collect();
    let (first, counted) = records.split_at(RECORDS);
    first.iter().for_each(|record| pipeline.feed(record.as_bytes(), &mut sink).unwrap());
    let feed =
        || counted.iter().for_each(|record| pipeline.feed(record.as_bytes(), &mut sink).unwrap());
    measure(feed).count_total
}

#[test]
fn a_record_of_text_allocates_nothing() {
    let mut wrong = Vec::new();
    for Stream { format, head, record } in STREAMS {
        for repeat in [true, false] {
            let config = Config { format: format::find(format), repeat, ..Config::default() };
            assert!(config.format.is_some(), "{format}");
            let text = |number| record.replace("TEXT", &format!(" the word {number:05}"));
            let count = allocations(&config, head, text);
            if count > GROWTH {
                wrong.push(format!("{format}, repeat {repeat}: {count} for {RECORDS} records"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_call_in_text_allocates_little() {
    let units = [
        (
            "hermes",
            "Well.\n<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":\"TEXT\",\"b\":1}}\n</tool_call>\n",
            9,
        ),
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.f:1<|tool_call_argument_begin|>{\"a\":\"TEXT\",\"b\":1}<|tool_call_end|>",
            4,
        ),
        (
            "glm45",
            "Well.\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>TEXT</arg_value>\n\
             <arg_key>b</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n",
            4,
        ),
        (
            "qwen3_coder",
            "Well.\n<tool_call>\n<function=f>\n<parameter=a>\nTEXT\n</parameter>\n\
             <parameter=b>\n1\n</parameter>\n</function>\n</tool_call>\n",
            4,
        ),
        (
            "anthropic_xml",
            "Well.\n<function_calls>\n<invoke name=\"f\">\n<parameter name=\"a\">TEXT</parameter>\n\
             <parameter name=\"b\">1</parameter>\n</invoke>\n</function_calls>\n",
            18,
        ),
    ];
    let mut wrong = Vec::new();
    for (dialect, unit, most) in units {
        let format = format::find("text");
        let mut config = Config { format, dialect: choose(dialect).unwrap(), ..Config::default() };
        config.assembly.max_calls = 0;
        let count =
            allocations(&config, "", |number| unit.replace("TEXT", &format!("{number:05}")));
        if count > most * RECORDS as u64 {
            wrong.push(format!("{dialect}: {:.1} a call", count as f64 / RECORDS as f64));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
