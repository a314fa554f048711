//! The closed list of warning codes.

use crate::event::Code;
use crate::event::words::words;

words! {
    /// The subject of a warning. The documentation of each variant states when it
    /// comes.
    pub enum WarningCode {
        /// A record came after the one that ends its message, and was passed over.
        AfterDone = "after_done",
        /// An agent's log holds an error that did not end the agent's turn.
        AgentError = "agent_error",
        /// A call's arguments came whole, at its start or end, and in fragments, and differ; what
        /// came last counts. Of a call that had ended, neither does.
        ArgumentsMismatch = "arguments_mismatch",
        /// The elements of an array, or the calls of a list, are not separated by one comma each.
        ArrayComma = "array_comma",
        /// A line of an event stream without `data:` was read as an event.
        BareRecord = "bare_record",
        /// A call in text lacks its closer alone, and was taken as closed.
        CloserMissing = "closer_missing",
        /// A control character in a string of JSON was read as it is.
        ControlCharacter = "control_character",
        /// Arguments that each fragment repeats from their beginning were taken once.
        CumulativeArguments = "cumulative_arguments",
        /// Reasoning that each record repeats from its beginning was taken once.
        CumulativeReasoning = "cumulative_reasoning",
        /// A block that is no call was still open when its message ended.
        CutBlock = "cut_block",
        /// The arguments were a JSON string that holds the object, and were unwrapped.
        DoubleEncoded = "double_encoded",
        /// A second `data:` before a record was taken off.
        DoublePrefix = "double_prefix",
        /// A tool's name came twice in a row, and was taken once.
        DoubledName = "doubled_name",
        /// `response.created` came a second time in an open response.
        DuplicateCreated = "duplicate_created",
        /// A JSON object has a key twice; the last one counts.
        DuplicateKey = "duplicate_key",
        /// `message_start` came a second time in an open message.
        DuplicateMessageStart = "duplicate_message_start",
        /// The text begins with the prompt, which a program printed again; it was left out.
        EchoedPrompt = "echoed_prompt",
        /// The message ended well and holds nothing: neither text nor thought, call or block.
        EmptyAnswer = "empty_answer",
        /// The provider reported an error that does not end its session.
        ErrorEvent = "error_event",
        /// A field named `error` of an event stream was read as an error event.
        ErrorField = "error_field",
        /// A finish reason came after another one that differs; the worse one counts, or else the last.
        FinishChanged = "finish_changed",
        /// The finish reason says that there are tool calls, but there is none.
        FinishMismatch = "finish_mismatch",
        /// The model wrote the results of its own calls, or the turn of another; a call in them is
        /// withdrawn.
        ForgedResults = "forged_results",
        /// A fragment's id and index name two calls; it was added to the call of its id, or of its
        /// index if its id is new and it has no name.
        IndexMismatch = "index_mismatch",
        /// A number in a call's arguments is more than a double holds; it was kept as it is.
        InexactNumber = "inexact_number",
        /// A JSON string holds half of a surrogate pair or bytes that are not UTF-8, which were
        /// replaced.
        InvalidText = "invalid_text",
        /// Plain text holds bytes that are not UTF-8, which were replaced.
        InvalidUtf8 = "invalid_utf8",
        /// Lines that a program broke at the edge of a terminal were joined.
        JoinedLines = "joined_lines",
        /// A tool's name came in pieces, and was joined.
        JoinedName = "joined_name",
        /// A fragment came for a call that had ended, and was dropped.
        LateFragment = "late_fragment",
        /// An item of a response was whole only in the event that ends the response.
        LateItem = "late_item",
        /// Usage came after the end of its turn, and was dropped.
        LateUsage = "late_usage",
        /// Lines that are no records came before a stream: of curl's `-v`, of a log, a prompt; or
        /// curl's progress stood before a record. They were passed over.
        LeadingText = "leading_text",
        /// A string in a call's arguments holds half of a surrogate pair; it was kept as it is.
        LoneSurrogate = "lone_surrogate",
        /// A program hid or changed the markup of calls, so that none can be read; the message of the
        /// warning names what keeps it.
        LostMarkup = "lost_markup",
        /// Some bytes or a record could not be read; the message ends with an error.
        Malformed = "malformed",
        /// Markup of a call stands in code or between quotation marks, and is text.
        MarkupInCode = "markup_in_code",
        /// Markup of a call stands in a thought that goes on after it, and is a part of that.
        MarkupInReasoning = "markup_in_reasoning",
        /// Plain text holds a dialect's markup, but no dialect was asked for.
        MarkupInText = "markup_in_text",
        /// A part of a block came without `contentBlockStart` before it.
        MissingBlockStart = "missing_block_start",
        /// A call was ended by what came after it, not by an end of its own.
        MissingCallEnd = "missing_call_end",
        /// An interaction ended without `interaction.completed`.
        MissingCompleted = "missing_completed",
        /// A part of a response came without `response.created` before it.
        MissingCreated = "missing_created",
        /// The stream ended after its finish reason, but without `[DONE]`.
        MissingDone = "missing_done",
        /// An event names no block, item or call, or a choice no number; it was taken to be the latest
        /// one's, or a new call's; a result that may be of several calls, the oldest one's. An end that
        /// names no call is of the only one that is open.
        MissingIndex = "missing_index",
        /// A call of a response was whole, but its `response.output_item.done` never came.
        MissingItemDone = "missing_item_done",
        /// A message began before the last one had ended.
        MissingMessageEnd = "missing_message_end",
        /// A part of a message came without the event that starts the message.
        MissingMessageStart = "missing_message_start",
        /// The message has a stop reason, but its `message_stop` never came.
        MissingMessageStop = "missing_message_stop",
        /// An event came without `RUN_STARTED` before it.
        MissingRunStarted = "missing_run_started",
        /// A part of an interaction came without `interaction.created` before it.
        MissingStart = "missing_start",
        /// Another model than the one that was announced wrote the rest of the message.
        ModelChanged = "model_changed",
        /// The message ended as its format says, but without a finish reason.
        NoFinishReason = "no_finish_reason",
        /// Nothing of the message can be appended to a request: there is no `turn`.
        NoTurn = "no_turn",
        /// The response says that it is still being made.
        NotFinished = "not_finished",
        /// A line of NDJSON that is not JSON was passed over.
        NotJson = "not_json",
        /// Arguments of `null` were read as `{}`.
        NullArguments = "null_arguments",
        /// A delta came for a block that had not started, and was dropped.
        OrphanDelta = "orphan_delta",
        /// A block ended that had not started.
        OrphanStop = "orphan_stop",
        /// A result came for a call that is not in the message.
        OrphanToolResult = "orphan_tool_result",
        /// The provider reported an error, but the message does not end with it.
        Provider = "provider",
        /// A block that came before in the same message was passed over.
        RepeatedBlock = "repeated_block",
        /// A second call has the id of another one; both were kept.
        RepeatedId = "repeated_id",
        /// Each record repeats the whole text so far; only what is new was taken.
        RepeatedText = "repeated_text",
        /// The id of a call is another one's already, and the call was given one of its own.
        ReusedId = "reused_id",
        /// A block, item or call began under the index of one that was still open.
        ReusedIndex = "reused_index",
        /// Several records in one event were read one by one.
        SeveralRecords = "several_records",
        /// A closer of reasoning that was not open was dropped. Calls in the text before it are taken
        /// back.
        StrayCloser = "stray_closer",
        /// A message of a sub-agent in an agent's log was passed over.
        Subagent = "subagent",
        /// A text, repeated whole at its end, differs from its pieces, or one takes the place of what
        /// came.
        TextMismatch = "text_mismatch",
        /// The arguments of a call are nested deeper than `--max-depth`; the call is invalid.
        TooDeep = "too_deep",
        /// The provider reports that a call's input could not be read.
        ToolInputError = "tool_input_error",
        /// The input ended inside a frame after the end of its message.
        Truncated = "truncated",
        /// The text ended inside a block, or another marker came.
        UnclosedBlock = "unclosed_block",
        /// A block of an unknown type has no meaning here.
        UnknownBlock = "unknown_block",
        /// Events of an unknown type are passed over; once a type and message.
        UnknownEvent = "unknown_event",
        /// Lines that are no field of an event stream, once an input, or a member of a delta that holds
        /// text or an object, once a name and message, are passed over.
        UnknownField = "unknown_field",
        /// An action that the agent asks for is neither a function nor an API request.
        UnknownInvocation = "unknown_invocation",
        /// An item of a response of an unknown type has no meaning here.
        UnknownItem = "unknown_item",
        /// A call in text names a tool that `--tools` does not define.
        UnknownTool = "unknown_tool",
        /// The rest of a damaged AWS event stream was counted, not read.
        Unread = "unread",
        /// The input, or what follows a message in it, is in no known format.
        Unrecognised = "unrecognised",
        /// Records without a blank line between them were read one by one.
        UnseparatedEvents = "unseparated_events",
        /// The last event of the input lacks its blank line, and was read.
        UnterminatedEvent = "unterminated_event",
        /// Counts of the usage that contradict each other were adjusted.
        UsageAdjusted = "usage_adjusted",
        /// The body of an HTTP response has another length than its head says, and was read to its end.
        WrongLength = "wrong_length",
        /// A field is not of its type, and was left out.
        WrongType = "wrong_type",
    }
}

impl WarningCode {
    /// True if it infers or repairs nothing: it is no error where warnings are.
    pub(crate) fn is_remark(self) -> bool {
        self == WarningCode::EmptyAnswer
    }

    /// The code for an error that its message does not end with. A limit and a
    /// signal have none: they end the input.
    pub(crate) fn of_error(code: Code) -> Option<Self> {
        match code {
            Code::Provider => Some(WarningCode::Provider),
            Code::Truncated => Some(WarningCode::Truncated),
            Code::Malformed => Some(WarningCode::Malformed),
            Code::Unrecognised => Some(WarningCode::Unrecognised),
            Code::Limit | Code::Interrupted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_each_is_a_sentence() {
        let names: Vec<&str> = WarningCode::ALL.iter().map(|code| code.name()).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        for code in WarningCode::ALL {
            assert!(code.meaning().ends_with('.'), "{}", code.name());
        }
    }
}
