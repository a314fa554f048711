//! Results of tools that a caller gives: lines of NDJSON, or an array.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json;
use crate::request::message::CallResult;

#[derive(Deserialize)]
struct ResultRow<'a> {
    r#type: Option<String>,
    id: Option<String>,
    index: Option<u64>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    /// True or false, or what Bedrock calls them.
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
}

/// Reads results. Lines of other events are passed over. Returns what is wrong, with the number of
/// the line or element.
pub(crate) fn read(text: &str) -> Result<Vec<CallResult>, String> {
    let rows: Vec<(usize, &str)> = if text.trim_start().starts_with('[') {
        let rows: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|error| format!("not JSON: {}", json::misread(text, &error)))?;
        rows.into_iter().map(RawValue::get).enumerate().collect()
    } else {
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect()
    };
    let mut results = Vec::new();
    for (at, row) in rows {
        let wrong = |what: &str| format!("result {}: {what}", at + 1);
        let misread = |error| wrong(&json::misread(row, &error));
        let row: ResultRow<'_> = serde_json::from_str(row).map_err(misread)?;
        if row.r#type.is_some_and(|kind| kind != "tool_result") {
            continue;
        }
        let output = row.output.ok_or_else(|| wrong("it has no `output`"))?.get();
        let is_error = match row.is_error.map_or("false", RawValue::get) {
            "true" | "\"error\"" => true,
            "false" | "\"success\"" => false,
            other => return Err(wrong(&format!("`is_error` is {other}, not true or false"))),
        };
        results.push(CallResult {
            id: row.id,
            index: row.index,
            is_error,
            ..CallResult::of(output)
        });
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result: its id, its index, its output, and if that is JSON and an error.
    type Row<'a> = (Option<&'a str>, Option<u64>, &'a str, bool, bool);

    fn row(given: &CallResult) -> Row<'_> {
        let CallResult { id, index, output, is_json, is_error } = given;
        (id.as_deref(), *index, output, *is_json, *is_error)
    }

    #[track_caller]
    fn check(text: &str, expected: &[Row<'_>]) {
        let results = read(text).unwrap();
        assert_eq!(results.iter().map(row).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn lines_and_arrays() {
        let expected =
            [(Some("a"), None, "x\n", false, false), (None, Some(1), "{\"b\": 1.0}", true, true)];
        check(
            "{\"id\":\"a\",\"output\":\"x\\n\"}\n\n{\"index\":1,\"output\":{\"b\": 1.0},\"is_error\":true}\n",
            &expected,
        );
        check(
            " [{\"id\":\"a\",\"output\":\"x\\n\"},{\"index\":1,\"output\":{\"b\": 1.0},\"is_error\":true}]",
            &expected,
        );
        check(
            "{\"type\":\"text\",\"text\":\"t\"}\n{\"type\":\"tool_result\",\"id\":\"a\",\"output\":\"\"}",
            &[(Some("a"), None, "", false, false)],
        );
        check(
            "{\"id\":\"a\",\"output\":\"\",\"is_error\":\"error\"}\n{\"id\":\"b\",\"output\":\"\",\"is_error\":null}",
            &[(Some("a"), None, "", false, true), (Some("b"), None, "", false, false)],
        );
        check("", &[]);
    }

    #[test]
    fn what_is_no_result_is_named() {
        assert!(read("{\"id\":\"a\"}").unwrap_err().starts_with("result 1: it has no `output`"));
        assert!(read("{}\n{").unwrap_err().starts_with("result 1"));
        assert!(read("[{]").unwrap_err().starts_with("not JSON"));
        for is_error in ["1", "\"true\"", "{}"] {
            let result = format!("{{\"id\":\"a\",\"output\":\"\",\"is_error\":{is_error}}}");
            let why = format!("result 1: `is_error` is {is_error}, not true or false");
            assert_eq!(read(&result).unwrap_err(), why);
        }
    }
}
