//! Lines that other programs print before a stream, on the same output: the stream is read as it is
//! alone, whatever stands before it, and however the input is cut.

use toolstream::Config;

use crate::run::{Print, run};

/// What people have before a stream. `~` is a carriage return.
const LEADING: &[&str] = &[
    // curl -v, with and without progress, over HTTP/1.1 and HTTP/2
    "*   Trying 127.0.0.1:8080...\n* Connected to localhost (127.0.0.1) port 8080 (#0)\n\
     > POST /v1/chat/completions HTTP/1.1~\n> Host: localhost:8080~\n> Accept: */*~\n> ~\n\
     < HTTP/1.1 200 OK~\n< content-type: text/event-stream~\n< ~\n{ [69 bytes data]\n",
    "* Host api.example.com:443 was resolved.\n* IPv6: (none)\n* IPv4: 192.0.2.1\n\
     *   Trying 192.0.2.1:443...\n* ALPN: curl offers h2,http/1.1\n\
     * TLSv1.3 (OUT), TLS handshake, Client hello (1):\n} [512 bytes data]\n\
     *  CAfile: /etc/ssl/certs/ca-certificates.crt\n* using HTTP/2\n> POST /v1/messages HTTP/2\n\
     * Request completely sent off\n< HTTP/2 200 \n< \n",
    "* Uses proxy env variable https_proxy == 'http://127.0.0.1:3128'\n*   Trying 127.0.0.1:3128...\n",
    "* Re-using existing connection with host localhost\n> GET / HTTP/1.1\n>\n< HTTP/1.1 200 OK\n<\n",
    // curl's progress, at its end and in its midst, where no line end follows
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n\
     \u{20}                                Dload  Upload   Total   Spent    Left  Speed\n\
     ~  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\
     ~100   912    0   817  100    95   2314    269 --:--:-- --:--:-- --:--:--  2590\n",
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n\
     \u{20}                                Dload  Upload   Total   Spent    Left  Speed\n\
     ~  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\
     ~100    95    0     0  100    95      0     93  0:00:01  0:00:01 --:--:--    93",
    "Warning: Binary output can mess up your terminal.\nWarning: Consider \"--output\".\n",
    "Note: Unnecessary use of -X or --request, POST is already inferred.\n",
    // wget
    "--2026-11-27 10:00:00--  http://localhost:8080/v1/messages\nResolving localhost... 127.0.0.1\n\
     Connecting to localhost|127.0.0.1|:8080... connected.\n\
     HTTP request sent, awaiting response... 200 OK\nLength: unspecified [text/event-stream]\n\
     Saving to: 'STDOUT'\n\n",
    // Prompts and traces of shells
    "$ curl -sN http://localhost:8080/v1/messages\n",
    "[me@box app]$ ./ask.sh\n",
    "PS C:\\Users\\me> ./ask.ps1\n",
    "❯ ./ask.sh\n",
    "+ curl -sN http://localhost:8080\n+ tee out.log\n",
    "Script started on 2026-11-27 10:00:00+00:00 [TERM=\"xterm\" TTY=\"/dev/pts/1\"]\n",
    // Logs: a time
    "2026-11-27T10:00:00.123Z gateway started\n",
    "2026-11-27 10:00:00,123 - root - INFO - started\n",
    "2026/11/27 10:00:00 listening on :8080\n",
    "10:00:00 [main] listening\n",
    "[2026-11-27 10:00:00 +0000] [1] [INFO] Booting worker\n",
    "[10:00:00] listening\n",
    "[27/Nov/2026:10:00:00 +0000] \"POST /v1/messages HTTP/1.1\" 200\n",
    "[   12.345678] usb 1-1: new device\n",
    "Nov 27 10:00:00 box gateway[123]: started\n",
    "time=2026-11-27T10:00:00Z level=info msg=started\n",
    // a level
    "INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)\n",
    "DEBUG:httpx:HTTP Request: POST http://localhost\n",
    "WARNING: running as root\n",
    "warning: unused variable\n",
    "I1127 10:00:00.000000 1 server.go:10] started\n",
    "[I 10:00:00 app] started\n",
    // or brackets
    "[server] listening on 8080\n[server] one client\n",
    // Runtimes and tools
    "npm warn config production\nnpm notice\n",
    "> app@1.0.0 ask\n> node ask.js\n\n",
    "(node:123) ExperimentalWarning: fetch\n(Use `node --trace-warnings ...` to show where)\n",
    "   Compiling app v0.1.0\n    Finished dev profile in 1.00s\n     Running `target/debug/app`\n",
    "/usr/lib/python3/site.py:88: UserWarning: old\n  warnings.warn(\"old\")\n",
    "Pseudo-terminal will not be allocated because stdin is not a terminal.\n",
    "nohup: ignoring input\n",
    "Forwarding from 127.0.0.1:8080 -> 8080\nHandling connection for 8080\n",
    "Unable to find image 'gateway:latest' locally\n",
    // Fields that event streams have no rule for
    "message:\n",
    "trace-id: 1f2e\n",
    // What agents print
    "Reading prompt from stdin...\n",
    "Loaded cached credentials.\n",
    // Of several kinds, with blank lines
    "\n$ ./ask.sh\n\n2026-11-27 10:00:00 up\n\n\nmessage:\n",
];

/// A stream or body in each framing.
const STREAMS: &[&str] = &[
    "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\
     \"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\
     \"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"c\",\
     \"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1}}}\n\n\
     event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"done\":false}\n\
     {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\
     \"done_reason\":\"stop\"}\n",
    "{\n  \"id\": \"a\",\n  \"object\": \"chat.completion\",\n  \"choices\": [\n    {\"index\": 0, \
     \"message\": {\"role\": \"assistant\", \"content\": \"Hi\"}, \"finish_reason\": \"stop\"}\n  ]\n}\n",
    "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}],\"role\":\"model\"}}]}\n,\r\n\
     {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"!\"}]},\"finishReason\":\"STOP\"}]}]\n",
    "0:\"Hi\"\nd:{\"finishReason\":\"stop\",\"usage\":{\"promptTokens\":1,\"completionTokens\":1}}\n",
    "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nretry-after: 3\r\n\r\n\
     {\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\"}}",
];

/// Returns what an input gives, without the places of what stands in it, and how many warnings of
/// leading text there are.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, usize, u8) {
    let run = run(&Config::default(), Print::Joined, pieces);
    let is_leading = |line: &&str| line.contains(r#""code":"leading_text""#);
    let leading = run.out.lines().filter(is_leading).count();
    let without_offset = |line: &str| match line.split_once(",\"offset\":") {
        Some((before, after)) => format!("{before}{}", after.trim_start_matches(char::is_numeric)),
        None => line.to_owned(),
    };
    let lines = run.out.lines().filter(|line| !is_leading(line)).map(without_offset).collect();
    (lines, leading, run.status)
}

#[test]
fn a_stream_is_read_as_it_is_alone() {
    for stream in STREAMS {
        let (alone, none, status) = read([stream.as_bytes()]);
        assert_eq!(none, 0, "{stream}");
        assert!(!alone[0].contains(r#""format":"text""#), "{alone:?}");
        for leading in LEADING {
            let input = format!("{}{stream}", leading.replace('~', "\r"));
            let whole = read([input.as_bytes()]);
            assert_eq!(whole, (alone.clone(), 1, status), "{input}");
            assert_eq!(read(input.as_bytes().chunks(1)), whole, "byte by byte: {input}");
            assert_eq!(read(input.as_bytes().chunks(7)), whole, "in sevens: {input}");
        }
    }
}

#[test]
fn what_is_no_stream_stays_text() {
    for leading in LEADING {
        for text in ["Hello.\n", "{\"city\": \"Oslo\"}\n", "- a\n- b\n"] {
            let input = format!("{}{text}", leading.replace('~', "\r"));
            let (lines, warned, status) = read([input.as_bytes()]);
            assert_eq!((warned, status), (0, 0), "{input}");
            assert!(lines[0].contains(r#""format":"text""#), "{lines:?}");
            assert_eq!(read(input.as_bytes().chunks(1)), (lines, 0, 0), "byte by byte: {input}");
        }
    }
}

#[test]
fn text_that_no_program_prints_before_a_stream_is_not_waited_for() {
    for text in ["Hello", "The answer is", "# Title", "- item", "1. First", "**Bold**", "世界"] {
        let (mut out, dialect) = (Vec::new(), toolstream::dialect::Selection::None);
        let config = Config { dialect, ..Config::default() };
        let label = toolstream::sink::Label::default();
        let mut sink = toolstream::sink::Ndjson::new(&mut out, label);
        toolstream::Pipeline::new(&config).feed(text.as_bytes(), &mut sink).unwrap();
        toolstream::sink::Sink::flush(&mut sink).unwrap();
        drop(sink);
        assert!(String::from_utf8(out).unwrap().contains(text), "{text} is held back");
    }
}
