//! The next request of the Interactions API, for a server that is not asked by the id of the last
//! one: the steps as they came, and a step for each result.

use crate::event::Output;
use crate::format::openai_chat::turn as chat;
use crate::format::support::answers::{declarations, function, given, is_answer};
use crate::format::support::draft::{Draft, Drafts, each_record, is_blank, string};
use crate::format::support::object::Object;
use crate::format::turn::{
    Answer, Appended, Call, Ending, Incomplete, Request, Shape, System, ToolChoice, Turn,
    no_content,
};
use crate::frame::Frame;
use crate::json;
use crate::json::array;

static SHAPE: Shape = Shape {
    name: "gemini-interactions",
    marks: &[
        "generation_config",
        "agent",
        "previous_interaction_id",
        "input.*.type=user_input",
        "input.*.content.*.type=function_result",
    ],
};

pub(super) static REQUEST: Request = Request {
    list: "input",
    shape: &SHAPE,
    endpoint: "/interactions",
    marks: &[],
    by_id: Some("previous_interaction_id"),
    turn: |_| Box::new(InteractionsTurn::default()),
    fit: |_, append| append,
    is_answer: |step| match Object::new(step).word("type") {
        Some(kind) => kind != "user_input" && kind != "function_result",
        None => is_answer(step),
    },
    paused: &[],
    calls,
    results: |answers| answers.iter().map(result).collect(),
    user: |text| {
        let text = Draft::of(&[("type", "\"text\""), ("text", &json::quote(text))]).json();
        Draft::of(&[("type", "\"user_input\""), ("content", &array([text]))]).json()
    },
    system: System::text(&["system_instruction"]),
    new: r#"{"model":"","input":[],"stream":true}"#,
    tools: |tools| {
        let declare = |mut draft: Draft| {
            draft.set_first("type", "\"function\"");
            draft.json()
        };
        ("tools", array(declarations(tools, "parameters").into_iter().map(declare)))
    },
    choice: Some(&ToolChoice {
        paths: &["generation_config.tool_choice"],
        relax: |json| match string(json).as_deref() {
            Some("validated") => None,
            _ => chat::relax(json),
        },
        none: Some("\"none\""),
    }),
};

#[derive(Default)]
struct InteractionsTurn {
    steps: Drafts,
}

impl Turn for InteractionsTurn {
    fn feed(&mut self, frame: &Frame<'_>) {
        each_record(frame, |record| {
            let index = record.get("index").unwrap_or_default();
            match record.word("event_type").as_deref() {
                Some("step.start" | "content.start") => {
                    let step = record.get("step|content").unwrap_or_default();
                    self.steps.start(index, Draft::new(step));
                }
                Some("step.delta" | "content.delta") => {
                    if let Some(delta) = record.get("delta") {
                        self.delta(index, &Draft::new(delta));
                    }
                }
                _ if self.steps.is_empty() => {
                    for step in record.each("steps|outputs|interaction.steps|interaction.outputs") {
                        self.steps.start("", Draft::new(step));
                    }
                }
                _ => {}
            }
        });
    }

    fn size(&self) -> usize {
        self.steps.size()
    }

    fn finish(&mut self, ending: &Ending) -> Result<Appended, Incomplete> {
        let mut steps = self.steps.take();
        let is_call = |step: &Draft| step.text("type").as_deref() == Some("function_call");
        ending.retain(&mut steps, |step| step.word("id"), is_call);
        for step in &mut steps {
            if step.get("signature") == Some("\"\"") {
                step.remove("signature");
            }
            if step.get("arguments").is_some() {
                step.set_object("arguments");
            }
        }
        let is_thought = |step: &Draft| step.text("type").as_deref() == Some("thought");
        if steps.iter().all(is_thought) {
            return Err(no_content(ending));
        }
        Ok(Appended { append: steps.iter().map(Draft::json).collect(), set: Vec::new() })
    }
}

impl InteractionsTurn {
    fn delta(&mut self, index: &str, delta: &Draft) {
        let step = self.steps.at(index);
        let kind = delta.text("type").unwrap_or_default();
        let is_output = step.text("type").as_deref() == Some("model_output");
        match kind.as_str() {
            // A piece of a message is one of the list of its pieces.
            "text" | "text_delta" if is_output => {
                let mut content = Object::new(&step.json())
                    .each("content")
                    .into_iter()
                    .map(Draft::new)
                    .collect::<Vec<_>>();
                let text = delta.get("text").unwrap_or("null");
                match content.last_mut().filter(|last| last.get("text").is_some()) {
                    Some(last) => last.join("text", text),
                    None => content.push(Draft::of(&[("type", "\"text\""), ("text", text)])),
                }
                step.set("content", array(content.iter().map(Draft::json)));
            }
            "thought_summary" => {
                let piece = delta.get("content").unwrap_or("null");
                step.join("summary", &array([piece.to_owned()]));
            }
            kind if is_output => {
                let mut piece = delta.clone();
                piece.set_first("type", json::quote(kind));
                step.join("content", &array([piece.json()]));
            }
            _ => {
                for (key, json) in delta.members().filter(|(key, _)| *key != "type") {
                    if key != "arguments" || !is_blank(json) {
                        step.join(key, json);
                    }
                }
            }
        }
    }
}

fn calls(append: &[String]) -> Vec<Call> {
    let calls = append.iter().map(|json| Object::new(json));
    let calls = calls.filter(|step| step.word("type").as_deref() == Some("function_call"));
    calls.map(|step| function(&step, "id", "name")).collect()
}

fn result(answer: &Answer<'_>) -> String {
    let id = json::quote(answer.call.id.as_deref().unwrap_or_default());
    let result = match answer.output {
        Output::Json(json) if json.trim_ascii_start().starts_with('{') => json::minify(json),
        output => json::quote(&given(output).text()),
    };
    let mut step = Draft::of(&[
        ("type", "\"function_result\""),
        ("call_id", &id),
        ("name", &json::quote(&answer.call.name)),
        ("result", &result),
    ]);
    if answer.is_error {
        step.set("is_error", "true");
    }
    step.json()
}
