//! The next request of the Responses API: the items of the output as they came, and an item for
//! each result.

use crate::format::openai_chat::turn as chat;
use crate::format::openai_responses::calls::Nature;
use crate::format::support::turn_prelude::*;

static SHAPE: Shape = Shape {
    name: "openai-responses",
    marks: &[
        "instructions",
        "previous_response_id",
        "max_output_tokens",
        "include",
        "input.*.type=function_call_output",
    ],
};

pub(in crate::format) static REQUEST: Request = Request {
    list: "input",
    shape: &SHAPE,
    endpoints: &["/responses"],
    by_id: Some("previous_response_id"),
    add,
    finish,
    fit: |request, append| match Object::new(request).flag("store") {
        Some(false) => without_ids(append),
        _ => append,
    },
    is_answer: |item| match Object::new(item).word("type") {
        Some(kind) if kind.ends_with("_output") => is_own_output(&Object::new(item)),
        Some(kind) if kind != "message" => !kind.ends_with("_response"),
        _ => is_answer(item),
    },
    calls,
    results: |answers| answers.iter().map(result).collect(),
    system: System::text(&["instructions"]),
    new: r#"{"model":"","input":[],"stream":true}"#,
    tools: |tools| {
        let declare = |mut draft: Draft| {
            draft.set_first("type", "\"function\"");
            // By default, a schema must name every property as required.
            draft.set("strict", "false");
            draft.json()
        };
        ("tools", array(declarations(tools, "parameters").into_iter().map(declare)))
    },
    choice: Some(&ToolChoice {
        paths: &["tool_choice"],
        relax: |json| {
            let mut choice = Draft::new(json);
            let mode = json::string(json).or_else(|| choice.text("mode"));
            match mode.as_deref() {
                Some("auto" | "none") => None,
                Some(_) if !choice.is_empty() => {
                    choice.set("mode", "\"auto\"");
                    Some(choice.json())
                }
                _ => Some("\"auto\"".into()),
            }
        },
        none: Some("\"none\""),
    }),
    ..chat::REQUEST
};

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    let item = turn.objects.at(of, piece);
    if !piece.is_whole {
        return item.join("arguments", piece.json);
    }
    let pieces = std::mem::replace(item, Draft::new(piece.json));
    // An item may repeat nothing of its pieces.
    if let (Some(arguments), Some("\"\"")) = (pieces.get("arguments"), item.get("arguments")) {
        item.set("arguments", arguments);
    }
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let (mut append, mut has_more) = (Vec::new(), false);
    // A thought and the item after it are a pair: it is not accepted without what it led to.
    let mut is_kept = !ending.finish_reason.is_cut();
    for (mut item, is_dropped) in turn.take_all(ending).rev() {
        let kind = item.text("type").unwrap_or_default();
        if kind.is_empty() {
            return Err(Incomplete("the item of a call never came".into()));
        }
        if kind == "message" && is_unreadable(&item) {
            return Err(Incomplete("a text of the message is no string".into()));
        }
        if kind == "message" && !has_content(&item) {
            continue;
        }
        is_kept = if kind == "reasoning" { is_kept } else { !(is_dropped && is_answered(&item)) };
        has_more |= is_kept && kind != "reasoning";
        if is_kept {
            finish_item(&mut item, &kind);
            append.push(item.json());
        }
    }
    append.reverse();
    if !has_more {
        return Err(no_content(ending));
    }
    Ok(Appended { append, set: Vec::new() })
}

/// True for a message that says anything. An empty one is refused.
fn has_content(item: &Draft) -> bool {
    let json = item.json();
    let parts = Object::new(&json);
    parts.each("content").iter().any(|part| {
        let part = Object::new(part);
        part.word("type").as_deref() != Some("output_text") || part.word("text").is_some()
    })
}

/// True for a message that has lost a text: that of a part is no string.
fn is_unreadable(item: &Draft) -> bool {
    let json = item.json();
    let parts = Object::new(&json);
    let is_unreadable = |part: &&str| {
        Object::new(part).get("text").is_some_and(|text| json::string(text).is_none())
    };
    parts.each("content").iter().any(is_unreadable)
}

/// Takes off an item what an SDK added, and makes its arguments an object's text.
fn finish_item(item: &mut Draft, kind: &str) {
    ["parsed", "parsed_arguments"].iter().for_each(|key| drop(item.remove(key)));
    if kind == "function_call" {
        item.set_object_text("arguments");
    }
}

/// Returns the items as a server can read them that stores nothing: it knows no ids but those of
/// its own tools, and of a thought only what is in it.
fn without_ids(append: Vec<String>) -> Vec<String> {
    let fit = |json: String| {
        let mut item = Draft::new(&json);
        let kind = item.text("type").unwrap_or_default();
        let is_empty = |key| item.get(key).is_none_or(|json| matches!(json, "[]" | "\"\""));
        if kind == "reasoning" && is_empty("encrypted_content") && is_empty("content") {
            return None;
        }
        if NAMED.contains(&kind.as_str()) {
            item.remove("id");
        }
        Some(item.json())
    };
    append.into_iter().filter_map(fit).collect()
}

/// The types of items whose id the server looks up.
const NAMED: &[&str] = &["custom_tool_call", "function_call", "message", "reasoning"];

/// The type of the answer to an item, if it is the caller's to answer.
fn answer_of(item: &Object<'_>) -> Option<String> {
    let [kind, environment, execution] =
        ["type", "environment.type", "execution"].map(|place| item.word(place));
    let kind = kind?;
    let nature = Nature::of_kind(&kind, environment.as_deref(), execution.as_deref());
    (nature == Nature::Call(None)).then(|| match kind.as_str() {
        "mcp_approval_request" => "mcp_approval_response".to_owned(),
        "tool_search_call" => "tool_search_output".to_owned(),
        kind => format!("{kind}_output"),
    })
}

/// True for the output of a tool that the provider ran: it has given it an id.
fn is_own_output(item: &Object<'_>) -> bool {
    let is_hosted = |kind: &str| matches!(kind, "shell_call_output" | "tool_search_output");
    item.word("type").is_some_and(|kind| is_hosted(&kind))
        && item.word("id").is_some()
        && item.word("execution").as_deref() != Some("client")
}

fn is_answered(item: &Draft) -> bool {
    answer_of(&Object::new(&item.json())).is_some()
}

fn calls(append: &[String]) -> Vec<NativeCall> {
    let items = append.iter().map(|json| (json, Object::new(json)));
    let call = |(json, item): (&String, Object<'_>)| {
        answer_of(&item)?;
        let kind = item.word("type").filter(|kind| kind != "function_call");
        // A built-in tool goes by the name of its type, and so does what needs approval.
        let own = || kind.as_deref().map(|kind| kind.trim_end_matches("_call").to_owned());
        let name = item.word("name").filter(|_| kind.as_deref() != Some("mcp_approval_request"));
        let name = name.or_else(own).unwrap_or_default();
        Some(NativeCall { id: item.word("call_id|id"), name, kind, json: json.clone() })
    };
    items.filter_map(call).collect()
}

fn result(answer: &Answer<'_>) -> String {
    let id = json::quote(answer.call.id.as_deref().unwrap_or_default());
    let kind = answer_of(&Object::new(&answer.call.json));
    let kind = kind.as_deref().unwrap_or("function_call_output");
    let mut item = Draft::of(&[("type", &json::quote(kind)), ("call_id", &id)]);
    let text = || json::quote(&plain(answer));
    let own = match answer.output {
        Output::Json(json) => Some(json::minify(json)),
        Output::Text(_) => None,
    };
    match kind {
        "mcp_approval_response" => {
            item.remove("call_id");
            item.set("approval_request_id", id);
            let is_approved = !answer.is_error && own.as_deref() != Some("false");
            item.set("approve", if is_approved { "true" } else { "false" });
        }
        "apply_patch_call_output" => {
            item.set("status", if answer.is_error { "\"failed\"" } else { "\"completed\"" });
            item.set("output", text());
        }
        "shell_call_output" => item.set("output", own.unwrap_or_else(|| shell(answer))),
        "computer_call_output" => item.set("output", own.unwrap_or_else(text)),
        "tool_search_output" => {
            item.set("execution", "\"client\"");
            item.set("status", "\"completed\"");
            item.set("tools", own.unwrap_or_else(|| "[]".to_owned()));
        }
        _ => item.set("output", output(answer)),
    }
    item.json()
}

/// The output of a command, and its exit.
fn shell(answer: &Answer<'_>) -> String {
    let (text, code) = (given(answer.output).text(), u64::from(answer.is_error));
    let outcome = object_of!(line; "type": "exit", "exit_code": code);
    array([object_of!(line; "stdout": &*text, "stderr": "", "outcome": AsIs(&outcome))])
}

fn output(answer: &Answer<'_>) -> String {
    match given(answer.output) {
        given @ GivenAnswer::Blocks(_) if given.media().next().is_none() => {
            json::quote(&plain(answer))
        }
        GivenAnswer::Blocks(blocks) => array(blocks.iter().map(|block| match block {
            AnswerBlock::Text(text) => object_of!(line; "type": "input_text", "text": &**text),
            AnswerBlock::Media { mime, data } => {
                let (kind, key) = match mime.starts_with("image/") {
                    true => ("input_image", "image_url"),
                    false => ("input_file", "file_data"),
                };
                object_of!(line; "type": kind, key: &*format!("data:{mime};base64,{data}"))
            }
        })),
        GivenAnswer::List(json) if is_typed(json) => json::minify(json),
        _ => json::quote(&plain(answer)),
    }
}
