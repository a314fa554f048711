//! How the turns of a conversation are opened, where a text holds more of it than one answer.
//!
//! What stands before the last opener of an assistant's turn is a prompt that was printed again: see
//! [`mod@crate::dressing`]. Where an answer goes on with the turn of another role, the model speaks for
//! that one, and makes no call in it.

use std::sync::LazyLock;

use crate::scan::Pattern;

/// How the turns of a prompt are written.
pub(crate) struct TurnForm {
    /// The texts that a prompt begins with.
    pub(crate) begins: &'static [&'static str],
    /// The patterns that open the turn of another role in an answer.
    pub(crate) others: &'static [&'static str],
    /// The opener of an assistant's turn.
    pub(crate) answer: &'static str,
    /// True if these are lines of their own: the special tokens are hidden.
    pub(crate) is_line: bool,
}

impl TurnForm {
    /// Openers that the role follows.
    const fn roles(
        begins: &'static [&'static str],
        others: &'static [&'static str],
        answer: &'static str,
    ) -> TurnForm {
        TurnForm { begins, others, answer, is_line: false }
    }

    const fn tokens(begins: &'static [&'static str], answer: &'static str) -> TurnForm {
        TurnForm { begins, others: begins, answer, is_line: false }
    }

    const fn lines(begins: &'static [&'static str], answer: &'static str) -> TurnForm {
        TurnForm { begins, others: &[], answer, is_line: true }
    }
}

/// Source: the chat templates that tokenizers of these families have.
pub(crate) const FORMS: &[TurnForm] = &[
    TurnForm::roles(&["<|im_start|>"], &["<|im_start|>{_}"], "<|im_start|>assistant"),
    TurnForm::roles(
        &["<|start_header_id|>"],
        &["<|start_header_id|>{_}"],
        "<|start_header_id|>assistant<|end_header_id|>",
    ),
    TurnForm::roles(
        &["<|header_start|>"],
        &["<|header_start|>{_}"],
        "<|header_start|>assistant<|header_end|>",
    ),
    TurnForm::roles(&["<start_of_turn>user"], &["<start_of_turn>{_}"], "<start_of_turn>model"),
    TurnForm::roles(&["<|turn>"], &["<|turn>{_}"], "<|turn>model"),
    TurnForm::roles(
        &["[INST]", "[SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]"],
        &["[INST]", "[SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[TOOL_RESULTS]"],
        "[/INST]",
    ),
    TurnForm::roles(&[], &[], "[/TOOL_RESULTS]"),
    TurnForm::tokens(&["<｜begin▁of▁sentence｜>", "<｜User｜>"], "<｜Assistant｜>"),
    TurnForm::tokens(&["<|begin_of_sentence|>", "<|User|>"], "<|Assistant|>"),
    TurnForm::tokens(&["<|begin_of_sentence|>"], "\nAssistant:"),
    TurnForm::roles(&["<｜begin▁of▁sentence｜>", "<|BOT|>"], &["<|BOT|>{_}"], "<|BOT|>assistant"),
    TurnForm::tokens(&["<｜hy_begin▁of▁sentence｜>", "<｜hy_User｜>"], "<｜hy_Assistant｜>"),
    TurnForm::roles(
        &["[gMASK]<sop>", "<|system|>", "<|user|>"],
        &["[gMASK]<sop>", "<|system|>", "<|user|>", "<|observation|>", "<|tool_response|>"],
        "<|assistant|>",
    ),
    TurnForm::roles(
        &["<|start_of_role|>"],
        &["<|start_of_role|>{_}"],
        "<|start_of_role|>assistant<|end_of_role|>",
    ),
    TurnForm::tokens(&["<|im_system|>", "<|im_user|>"], "<|im_assistant|>assistant<|im_middle|>"),
    TurnForm::roles(
        &["<|START_OF_TURN_TOKEN|>"],
        &["<|START_OF_TURN_TOKEN|><|{_}"],
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ),
    TurnForm::roles(
        &["[|system|]", "[|user|]"],
        &["[|system|]", "[|user|]", "[|tool|]"],
        "[|assistant|]",
    ),
    TurnForm::roles(
        &["<begin_of_document>", "<beginning_of_sentence>"],
        &["<beginning_of_sentence>{_}"],
        "<beginning_of_sentence>ai",
    ),
    TurnForm::roles(&[], &["<|begin|>{_}"], "<|begin|>assistant"),
    TurnForm::roles(&["<|im:start|>"], &["<|im:start|>{_}"], "<|im:start|>assistant"),
    TurnForm::roles(&["]~!b[", "]~b]"], &["]~!b[", "]~b]{_}"], "]~b]ai"),
    TurnForm::roles(
        &["<seed:bos>system", "<seed:bos>user"],
        &["<seed:bos>{_}"],
        "<seed:bos>assistant",
    ),
    TurnForm::roles(&["<|bom|>"], &["<|bom|><|{_}"], "<|bom|><|assistant|>"),
    TurnForm::roles(
        &["<|start|>system", "<|start|>developer", "<|start|>user"],
        &[
            "<|start|>system", "<|start|>developer", "<|start|>user", "<|start|>tool",
            "<|start|>functions.",
        ],
        "<|start|>assistant",
    ),
    TurnForm::lines(&["system\n", "system\r\n"], "assistant"),
    TurnForm::lines(&["user\n", "user\r\n"], "assistant"),
    TurnForm::lines(&["user\n", "user\r\n"], "model"),
];

/// The openers of turns in an answer, and true for those of the model's own, which come first.
pub(crate) static OPENERS: LazyLock<Vec<(Pattern, bool)>> = LazyLock::new(|| {
    let forms = || FORMS.iter().filter(|form| !form.is_line);
    // A label in ordinary words is none: an answer may have one.
    let is_token = |answer: &&str| !answer.starts_with('\n');
    let own: Vec<&str> = forms().map(|form| form.answer).filter(is_token).collect();
    let others: Vec<&str> = forms().flat_map(|form| form.others).copied().collect();
    let own = Pattern::parse_all(&own).into_iter().map(|own| (own, true));
    own.chain(Pattern::parse_all(&others).into_iter().map(|other| (other, false))).collect()
});

/// True if a marker begins with the opener of an assistant's turn.
pub(crate) fn opens_answer(marker: &str) -> bool {
    let marker = marker.trim_start();
    FORMS.iter().any(|form| !form.is_line && marker.starts_with(form.answer.trim_start()))
}

/// True if a marker opens the turn of another role.
pub(crate) fn opens_other(marker: &str) -> bool {
    FORMS.iter().any(|form| form.others.contains(&marker))
}
