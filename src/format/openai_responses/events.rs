//! The events of items: pieces of texts and of arguments, and what repeats
//! them.

use crate::event::Block;
use crate::format::openai_responses::items::Items;
use crate::format::openai_responses::payload::{ItemRef, ResponseEvent};
use crate::format::openai_responses::state::TextKind;
use crate::format::support::prelude::*;

/// Takes an event of an item.
pub(super) fn feed(
    items: &mut Items,
    frame: &Frame,
    kind: &str,
    event: &ResponseEvent,
    out: &mut EventOut,
) -> Done {
    let (name, is_end) = piece_of(kind).unwrap_or_default();
    if let Some(slot) = text_of(name) {
        return text(items, frame, (slot, is_end), event, out);
    }
    if let Some(is_free) = is_free(name) {
        items.repeats = !is_end;
        let call = items.call(event.named(), out)?;
        return match (is_end, &event.delta) {
            (true, _) => call.repeat(&event.whole_arguments().unwrap_or_default(), is_free, out),
            (false, Some(piece)) => call.piece(piece, is_free, out),
            (false, None) => {
                out.lost()?;
                out.unknown(frame, kind)
            }
        };
    }
    let index = event.output_index;
    match (kind, event.item, event.part, event.annotation) {
        ("response.output_item.added", Some(item), ..) => items.add(frame, index, item, out),
        ("response.output_item.done", Some(item), ..) => items.done(frame, index, item, out),
        ("response.content_part.done", _, Some(json), _) => {
            finish_part(items, frame, (event.named(), event.content_index), json, out)
        }
        ("response.reasoning_summary_part.done", _, Some(json), _) => {
            finish_part(items, frame, (event.named(), event.summary_index), json, out)
        }
        ("response.output_text.annotation.added", _, _, Some(json)) => {
            items.at(event.named(), out)?.annotation(json.get(), out)
        }
        ("response.image_generation_call.partial_image", ..) => {
            media("partial_image", event.partial_image_b64.as_ref(), out)
        }
        ("response.output_audio.delta" | "response.audio.delta", ..) => {
            media("audio", event.delta.as_deref(), out)
        }
        _ if is_repeated(kind) => Ok(()),
        _ => out.unknown(frame, kind),
    }
}

/// A piece of a text, or the whole of it.
fn text(
    items: &mut Items,
    frame: &Frame,
    (slot, is_end): (TextKind, bool),
    event: &ResponseEvent,
    out: &mut EventOut,
) -> Done {
    let part = if slot == TextKind::Summary { event.summary_index } else { event.content_index };
    let at = (slot, part.unwrap_or(0));
    match (is_end, event.whole_text(), &event.delta) {
        (true, Some(whole), _) => items.at(event.named(), out)?.text(at, &whole, out),
        (false, _, Some(piece)) => {
            items.piece(event.named(), at, piece, out)?;
            let json = event.logprobs.map_or("null", RawJson::get);
            items.repeats &= !out.raw_member(0, "logprobs", json)?;
            Ok(())
        }
        // Of spoken text, some servers only say that it has ended.
        (true, None, _) => Ok(()),
        _ => out.unknown(frame, event.kind.text().unwrap_or(frame.event_type)),
    }
}

fn finish_part(
    items: &mut Items,
    frame: &Frame,
    (named, part): (ItemRef<'_>, Option<u64>),
    json: RawJson<'_>,
    out: &mut EventOut,
) -> Done {
    items.at(named, out)?.finish_part(frame, part.unwrap_or(0), json, out).map(|_| ())
}

/// Generated media, in base64.
fn media(name: &str, data: Option<&Str>, out: &mut EventOut) -> Done {
    let text = data.map(Str::as_str).unwrap_or_default();
    out.emit(0, Kind::Block(Block { name, text, attributes: None }))
}

/// Splits the type of an event into what it is a piece of, and whether it repeats the whole of
/// that at its end.
fn piece_of(kind: &str) -> Option<(&str, bool)> {
    let (name, verb) = kind.strip_prefix("response.").unwrap_or(kind).rsplit_once('.')?;
    match verb {
        "delta" => Some((name, false)),
        "done" => Some((name, true)),
        _ => None,
    }
}

/// Returns the text that an event is of, by its name. Realtime had other names for some of them
/// before it was generally available.
fn text_of(name: &str) -> Option<TextKind> {
    match name {
        "output_text"
        | "text"
        | "output_audio_transcript"
        | "audio_transcript"
        | "audio.transcript" => Some(TextKind::Answer),
        "refusal" => Some(TextKind::Refusal),
        "reasoning_summary_text" => Some(TextKind::Summary),
        "reasoning_text" => Some(TextKind::Thought),
        _ => None,
    }
}

/// Returns true if an event is of arguments that are free text, and false if they are JSON.
fn is_free(name: &str) -> Option<bool> {
    match name {
        "function_call_arguments" | "mcp_call_arguments" => Some(false),
        "custom_tool_call_input" => Some(true),
        _ => None,
    }
}

/// Events that say nothing that a later one doesn't: parts that begin, what the
/// provider's tools are at, and pieces of what the item of a call has whole.
fn is_repeated(kind: &str) -> bool {
    const PARTS: [&str; 2] = ["response.content_part.", "response.reasoning_summary_part."];
    const PIECES: [&str; 6] = [
        "response.code_interpreter_call_code.",
        "response.shell_call_command.",
        "response.shell_call_output_content.",
        "response.apply_patch_call_operation_diff.",
        "response.output_audio.",
        "response.audio.",
    ];
    const STATES: [&str; 7] = [
        "in_progress", "searching", "interpreting", "generating", "compacting", "completed",
        "failed",
    ];
    PARTS.iter().chain(&PIECES).any(|start| kind.starts_with(start))
        || kind.rsplit_once('.').is_some_and(|(_, state)| STATES.contains(&state))
}
