//! The next request of generateContent: the model's parts with their signatures where they stood,
//! and one content of the user's with all responses.

use crate::format::openai_chat::turn as chat;
use crate::format::support::turn_prelude::*;

pub(in crate::format) static REQUEST: Request = Request {
    list: "contents",
    shape: Shape::ANY,
    endpoints: &[":generateContent", ":streamGenerateContent"],
    add,
    finish,
    fit: |_, append| append,
    calls: |append| {
        calls_in(append, "parts", |part| {
            Some(function(&Object::new(part.get(CALL)?), "id", "name"))
        })
    },
    results,
    user: |text| message_of("user", "parts", [object_of!(line; "text": text)]),
    system: System {
        paths: &["systemInstruction", "system_instruction"],
        form: |text| object_of!(line; "parts": [{ "text": text }]),
    },
    new: r#"{"contents":[]}"#,
    tools: |tools| {
        let declared = array(declarations(tools, "parametersJsonSchema").iter().map(Draft::json));
        ("tools", array([object_of!(line; "functionDeclarations": AsIs(&declared))]))
    },
    choice: Some(&ToolChoice {
        paths: &["toolConfig.functionCallingConfig", "tool_config.function_calling_config"],
        relax: |json| {
            let mut config = Draft::new(json);
            config.word("mode").filter(|mode| mode.eq_ignore_ascii_case("any"))?;
            let names = Object::new(json).get("allowedFunctionNames|allowed_function_names");
            // The names of functions are refused with `AUTO`.
            config.set("mode", if names.is_some() { "\"VALIDATED\"" } else { "\"AUTO\"" });
            Some(config.json())
        },
        none: Some("{\"mode\":\"NONE\"}"),
    }),
    ..chat::REQUEST
};

/// A function's call, in either spelling.
const CALL: &str = "functionCall|function_call";
const SIGNATURE: &str = "thoughtSignature|thought_signature";

fn add(turn: &mut TurnDraft, of: Of, piece: Piece<'_>) {
    let part = Draft::new(piece.json);
    if let Of::Call(_) = of {
        return add_call(turn.objects.at(of, piece), part, piece.is_whole);
    }
    if part.members().all(|(key, json)| key == "thought" || (key == "text" && json == "\"\"")) {
        return;
    }
    match turn.objects.last_mut().filter(|last| is_plain(last) && is_plain(&part)) {
        Some(last) if last.get("thought") == part.get("thought") => {
            last.join("text", part.get("text").unwrap_or("null"));
        }
        _ => *turn.objects.at(of, piece) = part,
    }
}

fn finish(turn: &mut TurnDraft, ending: &Ending) -> Result<Appended, Incomplete> {
    let kept = turn.take_all(ending).filter(|(part, is_dropped)| {
        let call = call_of(&part.json());
        let is_named = |call: String| Object::new(&call).word("name").is_some();
        call.is_none_or(|call| is_named(call) && !is_dropped)
    });
    let kept: Vec<_> = kept.map(|(part, _)| part).collect();
    let is_thought = |part: &Draft| part.get("thought") == Some("true");
    if kept.iter().all(|part| is_thought(part) || is_only_signature(part)) {
        return Err(no_content(ending));
    }
    let parts = kept.iter().map(Draft::json);
    Ok(Appended { append: vec![message_of("model", "parts", parts)], set: Vec::new() })
}

/// The function's call that a part is.
fn call_of(part: &str) -> Option<String> {
    Object::new(part).get(CALL).map(str::to_owned)
}

fn is_only_signature(part: &Draft) -> bool {
    let is_flag = |key: &str| key == "thought" || SIGNATURE.split('|').any(|name| name == key);
    part.members().all(|(key, json)| is_flag(key) || (key == "text" && json == "\"\""))
}

/// Adds a piece of a call. Only the first one has a name; the last one has all arguments.
fn add_call(part: &mut Draft, mut piece: Draft, is_whole: bool) {
    if part.is_empty() {
        if piece.has(call_key(&piece)) {
            piece.inside(call_key(&piece), |call| {
                let names = ["partialArgs", "partial_args", "willContinue", "will_continue"];
                names.iter().for_each(|name| drop(call.remove(name)));
            });
        }
        *part = piece;
        return;
    }
    if let Some(signature) = piece.get("thoughtSignature") {
        part.set("thoughtSignature", signature);
    }
    let args =
        Object::new(&piece.json()).get("functionCall.args|function_call.args").map(str::to_owned);
    if let Some(args) = args.filter(|args| is_whole || args != "{}") {
        part.inside(call_key(part), |call| call.set("args", args));
    }
}

/// Returns the key of a part's call, as the part spells it.
fn call_key(part: &Draft) -> &'static str {
    if part.has("functionCall") { "functionCall" } else { "function_call" }
}

/// True for text alone: such parts may be one.
fn is_plain(part: &Draft) -> bool {
    part.get("text").is_some() && part.members().all(|(key, _)| matches!(key, "text" | "thought"))
}

/// Returns one content with all responses, and after them the media, which a response can't hold.
fn results(answers: &[Answer<'_>]) -> Vec<String> {
    let mut parts: Vec<_> = answers.iter().map(result).collect();
    for answer in answers {
        parts.extend(given(answer.output).media().map(
            |(mime, data)| object_of!(line; "inlineData": { "mimeType": mime, "data": data }),
        ));
    }
    vec![message_of("user", "parts", parts)]
}

fn result(answer: &Answer<'_>) -> String {
    let given = given(answer.output);
    let key = if answer.is_error { "error" } else { "result" };
    let value = match (&given, answer.output) {
        // An object is the response itself.
        (GivenAnswer::Json(json), _) if !answer.is_error && json.starts_with('{') => {
            json::minify(json)
        }
        (GivenAnswer::Json(_) | GivenAnswer::List(_), Output::Json(json)) if !answer.is_error => {
            object_of!(line; key: AsIs(&json::minify(json)))
        }
        _ => object_of!(line; key: &*given.text()),
    };
    let NativeCall { id, name, .. } = answer.call;
    object_of!(
        line;
        "functionResponse": { "id": id.as_deref(), "name": &**name, "response": AsIs(&value) },
    )
}
