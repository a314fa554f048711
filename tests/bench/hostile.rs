//! Streams that are meant to be slow: twice as much of one may take no more
//! than 2.2 times the instructions.

use super::instructions;

/// A stream of a size.
type Shape = (&'static str, &'static [&'static str], fn(usize) -> String);

const SHAPES: &[Shape] = &[
    ("one long line of JSON", &[], |n| {
        format!("data: {{\"choices\":\"{}\"}}\n\n", "a".repeat(n * 100))
    }),
    ("one long line of no JSON", &[], |n| format!("data: {}", "[".repeat(n * 100))),
    ("empty data lines", &[], |n| {
        format!("data: {{\"choices\":[]}}\n\n{}\n", "data:\n".repeat(n * 20))
    }),
    ("many lines of one event", &[], |n| format!("data: [\n{}\n", "data: [],\n".repeat(n * 10))),
    ("fragments of one call", &["--deltas"], |n| call(n, |_| 0)),
    ("fragments of as many calls", &["--max-calls", "0"], |n| call(n, |at| at)),
    ("calls by turns", &["--max-calls", "0", "--deltas"], |n| call(n, |at| at % 1000)),
    ("choices", &[], |n| {
        lines(n, |at| {
            format!("{{\"choices\":[{{\"index\":{at},\"delta\":{{\"content\":\"a\"}}}}]}}")
        })
    }),
    ("nested values", &["--max-depth", "0"], |n| {
        let arguments = format!("{{\\\"a\\\":{}{}}}", "[".repeat(n * 10), "]".repeat(n * 10));
        lines(1, |_| fragment(0, &arguments))
    }),
    ("angle brackets", TEXT, |n| "<".repeat(n * 50)),
    ("openers that never close", TEXT, |n| "<tool_call>\n".repeat(n * 5)),
    ("halves of markers", TEXT, |n| "<tool_cal <|tool_call <func ".repeat(n * 2)),
    ("brackets and braces", TEXT, |n| "[{\"name\": [".repeat(n * 5)),
    ("fences", TEXT, |n| "```json\n{\"a\": 1}\n```\n".repeat(n * 3)),
    ("one open call", TEXT, |n| {
        format!(
            "<tool_call>\n{{\"name\": \"f\", \"arguments\": {{\"a\": \"{}",
            "</tool_cal".repeat(n * 5)
        )
    }),
    ("an open parameter", TEXT, |n| {
        format!("<tool_call>\n<function=f>\n<parameter=a>\n{}", "</parameter\n".repeat(n * 5))
    }),
    ("thoughts", TEXT, |n| "<think>a</think>".repeat(n * 4)),
];

const TEXT: &[&str] = &["-f", "text", "-d", "auto", "--max-calls", "0"];

fn lines(n: usize, chunk: impl Fn(usize) -> String) -> String {
    (0..n).map(|at| format!("data: {}\n\n", chunk(at))).collect()
}

fn fragment(index: usize, arguments: &str) -> String {
    format!(
        "{{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"c{index}\",\
         \"function\":{{\"name\":\"f\",\"arguments\":\"{arguments}\"}}}}]}}}}]}}"
    )
}

fn call(n: usize, index: fn(usize) -> usize) -> String {
    lines(n, |at| fragment(index(at), " "))
}

/// Prints how the instructions grow with each shape.
pub(crate) fn table() {
    println!("\n| hostile stream | instructions a byte | for twice as much |");
    println!("| --- | --: | --: |");
    let file = tempfile::NamedTempFile::new().unwrap().into_temp_path().to_path_buf();
    for (name, args, shape) in SHAPES {
        let count = |n| {
            let text = shape(n);
            std::fs::write(&file, &text).unwrap();
            Some((instructions(&[&["parse"], *args].concat(), &file)? as f64, text.len() as f64))
        };
        let (Some((one, _)), Some((two, bytes))) = (count(5_000), count(10_000)) else {
            return println!("| valgrind isn't installed | - | - |");
        };
        println!("| {name} | {:.1} | {:.2} |", two / bytes, two / one);
    }
}
