//! One exchange of HTTP/1.1, as far as a server of captures needs it: a request is read within
//! limits, an answer goes out in chunks.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cut::Cut as _;
use crate::frame::http::{Dechunker, MAX_HEAD, head_len};

/// The size of one read, in bytes.
const READ: usize = 8 << 10;

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    /// The path and the query.
    pub(crate) target: String,
    /// False if the client is of HTTP/1.0, and reads no chunks.
    pub(crate) reads_chunks: bool,
    /// Names in lower case, and values.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The memory that bodies of requests have together.
#[derive(Debug)]
pub(crate) struct Room {
    left: AtomicUsize,
    is_bounded: bool,
}

/// The part of a room that one request has, until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldRoom<'r> {
    room: &'r Room,
    bytes: usize,
}

impl Room {
    /// Returns room for so many bytes; 0 is no limit.
    pub(crate) fn new(bytes: usize) -> Self {
        Room { left: AtomicUsize::new(bytes), is_bounded: bytes != 0 }
    }

    pub(crate) fn held(&self) -> HeldRoom<'_> {
        HeldRoom { room: self, bytes: 0 }
    }
}

impl HeldRoom<'_> {
    /// Takes room for more bytes, if there is.
    fn take(&mut self, bytes: usize) -> Result<(), NoRequest> {
        let less = |left: usize| left.checked_sub(bytes);
        let Room { left, is_bounded } = self.room;
        if *is_bounded && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_err() {
            return Err(refused(503, "the requests that come at once are larger than --max-event"));
        }
        self.bytes += bytes;
        Ok(())
    }

    fn release(&mut self) {
        self.room.left.fetch_add(std::mem::take(&mut self.bytes), Ordering::SeqCst);
    }
}

impl Drop for HeldRoom<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The reason why there is no request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRequest {
    /// The client sent nothing.
    Nothing,
    /// The request cannot be answered: the HTTP status for that, and the reason.
    Refused(u16, String),
}

impl HttpRequest {
    /// Reads a request whose body has at most `max_body` bytes, 0 is no limit, and finds room. Writes to `out` that
    /// the body may be sent, if the client asks. A read that takes too long fails with `TimedOut` or
    /// `WouldBlock`.
    pub(crate) fn read(
        input: &mut dyn Read,
        out: &mut dyn Write,
        max_body: usize,
        held: &mut HeldRoom<'_>,
    ) -> Result<Self, NoRequest> {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = head_len(&bytes) {
                break end;
            }
            if bytes.len() > MAX_HEAD {
                let why = format!("the head of a request has more than {MAX_HEAD} bytes");
                return Err(NoRequest::Refused(431, why));
            }
            if more(input, &mut bytes)? == 0 {
                return Err(match bytes.is_empty() {
                    true => NoRequest::Nothing,
                    false => refused(400, "the request ended inside its head"),
                });
            }
        };
        let body = bytes.split_off(end);
        let mut request = HttpRequest::parse(&String::from_utf8_lossy(&bytes))?;
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
        {
            request.check(request.length()?.unwrap_or(0), max_body)?;
            // A client that has left is noticed by the next read.
            let _ = out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").and_then(|()| out.flush());
        }
        // What is refused takes no room: its answer may come before the next request.
        let read = request.read_body(body, input, max_body, held);
        read.inspect_err(|_| held.release())?;
        Ok(request)
    }

    /// Parses a head.
    fn parse(head: &str) -> Result<Self, NoRequest> {
        let mut lines = head.lines();
        if head.contains(|c: char| c.is_control() && !matches!(c, '\r' | '\n' | '\t')) {
            return Err(refused(400, "the head has a control character"));
        }
        let mut words = lines.next().unwrap_or_default().split(' ');
        let first = (words.next(), words.next(), words.next(), words.next());
        let (method, target, version) = match first {
            (Some(method), Some(target), Some(version @ ("HTTP/1.1" | "HTTP/1.0")), None)
                if !method.is_empty() && !target.is_empty() =>
            {
                (method, target, version)
            }
            _ => return Err(refused(400, "the first line is no request of HTTP/1.1")),
        };
        // A name with a space in it, or none, is read by some servers and by others not.
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let is_name = !name.is_empty() && name.bytes().all(is_token);
            is_name.then(|| (name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers = lines.filter(|line| !line.is_empty()).map(header).collect::<Option<_>>();
        let request = HttpRequest {
            method: method.to_owned(),
            target: target.to_owned(),
            reads_chunks: version != "HTTP/1.0",
            headers: headers.ok_or(refused(400, "a header has no name and colon"))?,
            body: Vec::new(),
        };
        request.check_framing()?;
        Ok(request)
    }

    /// Fails if two servers could read two lengths of the body (RFC 9112 §6.3): what one takes for
    /// its end, the other takes for a request.
    fn check_framing(&self) -> Result<(), NoRequest> {
        let count = |name: &str| self.headers.iter().filter(|(known, _)| known == name).count();
        let (lengths, codings) = (count("content-length"), count("transfer-encoding"));
        if lengths + codings > 1 {
            return Err(refused(400, "the length of the body is said twice"));
        }
        let coding = self.header("transfer-encoding");
        if coding.is_some_and(|coding| !coding.eq_ignore_ascii_case("chunked")) {
            return Err(refused(400, "the body has a transfer-encoding other than chunked"));
        }
        if coding.is_some() && !self.reads_chunks {
            return Err(refused(400, "a request of HTTP/1.0 has no chunks"));
        }
        self.length().map(drop)
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding").is_some()
    }

    /// Returns the path, without the query and a slash at its end.
    pub(crate) fn path(&self) -> &str {
        self.target.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/')
    }

    /// Returns the value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the length of the body, if the head says it.
    fn length(&self) -> Result<Option<usize>, NoRequest> {
        let Some(length) = self.header("content-length") else { return Ok(None) };
        // A sign is read as a part of a number.
        let digits = Some(length).filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()));
        let length = digits.and_then(|digits| digits.parse().ok());
        length.map(Some).ok_or(refused(400, "the content-length is no number"))
    }

    fn check(&self, length: usize, max: usize) -> Result<(), NoRequest> {
        if max == 0 || length <= max {
            return Ok(());
        }
        Err(NoRequest::Refused(413, format!("the body is larger than --max-event {max}")))
    }

    /// Reads the body, of which these bytes have come.
    fn read_body(
        &mut self,
        begin: Vec<u8>,
        input: &mut dyn Read,
        max: usize,
        held: &mut HeldRoom<'_>,
    ) -> Result<(), NoRequest> {
        let cut = || refused(400, "the request ended inside its body");
        if self.is_chunked() {
            let (mut dechunker, mut bytes) = (Dechunker::default(), begin);
            loop {
                let mut rest = bytes.as_slice();
                while !rest.is_empty() && !dechunker.is_whole() {
                    let step = dechunker.step(rest);
                    let (data, after) = step.map_err(|fault| refused(400, &fault.message()))?;
                    self.check(self.body.len() + data.len(), max)?;
                    held.take(data.len())?;
                    self.body.extend_from_slice(data);
                    rest = after;
                }
                bytes.clear();
                if dechunker.is_whole() {
                    return Ok(());
                }
                if more(input, &mut bytes)? == 0 {
                    return Err(cut());
                }
            }
        }
        let length = self.length()?.unwrap_or(0);
        self.check(length, max)?;
        held.take(begin.len())?;
        self.body = begin;
        while self.body.len() < length {
            match more(input, &mut self.body)? {
                0 => return Err(cut()),
                count => held.take(count)?,
            }
        }
        self.body.truncate(length);
        Ok(())
    }
}

fn refused(status: u16, why: &str) -> NoRequest {
    NoRequest::Refused(status, why.into())
}

/// Reads some bytes. Returns how many.
fn more(input: &mut dyn Read, bytes: &mut Vec<u8>) -> Result<usize, NoRequest> {
    let mut buffer = [0; READ];
    loop {
        match input.read(&mut buffer) {
            Ok(count) => {
                bytes.extend_from_slice(buffer.before(count));
                return Ok(count);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                return Err(refused(408, "the request takes too long"));
            }
            Err(_) => return Err(NoRequest::Nothing),
        }
    }
}

/// Writes the head of an answer, and its body in chunks; to a client of HTTP/1.0 as it is.
pub(crate) struct AnswerWriter<'w> {
    out: &'w mut dyn Write,
    in_chunks: bool,
}

impl<'w> AnswerWriter<'w> {
    /// Writes the head. It says that the connection ends with the body only if it ends well: to
    /// some clients, a body that was cut is then whole.
    pub(crate) fn begin(
        out: &'w mut dyn Write,
        status: u16,
        headers: &[(String, String)],
        in_chunks: bool,
        ends_well: bool,
    ) -> io::Result<Self> {
        let mut head = format!("HTTP/1.1 {status} \r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(if in_chunks { "transfer-encoding: chunked\r\n" } else { "" });
        head.push_str(if ends_well { "connection: close\r\n" } else { "" });
        head.push_str("\r\n");
        out.write_all(head.as_bytes())?;
        out.flush()?;
        Ok(AnswerWriter { out, in_chunks })
    }

    /// Writes a piece of the body, at once.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.in_chunks {
            let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
            self.out.write_all(&chunk)?;
        } else {
            self.out.write_all(bytes)?;
        }
        self.out.flush()
    }

    /// Ends the body: without this, a client that reads chunks knows that it was cut.
    pub(crate) fn end(self) -> io::Result<()> {
        self.out.write_all(if self.in_chunks { b"0\r\n\r\n" } else { b"" })?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client whose bytes come in pieces of this size.
    struct Client<'b>(&'b [u8], usize);

    impl Read for Client<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(buffer.len());
            self.0.read(&mut buffer[..length])
        }
    }

    /// Reads a request at several splits: its line, its body, and what was written meanwhile.
    #[track_caller]
    fn check(input: &str, expected: Result<(&str, &str, &str), u16>) {
        for size in [1, 3, 10_000] {
            let mut sent = Vec::new();
            let mut client = Client(input.as_bytes(), size);
            let room = Room::new(0);
            let request = HttpRequest::read(&mut client, &mut sent, 20, &mut room.held());
            let sent = String::from_utf8(sent).unwrap();
            let got = match request {
                Ok(HttpRequest { method, target, body, .. }) => {
                    Ok((format!("{method} {target}"), String::from_utf8(body).unwrap(), sent))
                }
                Err(NoRequest::Nothing) => Err(0),
                Err(NoRequest::Refused(status, _)) => Err(status),
            };
            let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
            assert_eq!(got, expected, "{input:?} in pieces of {size}");
        }
    }

    #[test]
    fn requests_are_read() {
        check("GET /a?b HTTP/1.1\r\nA: b\r\n\r\n", Ok(("GET /a?b", "", "")));
        check("POST / HTTP/1.1\ncontent-length: 2\n\n{}rest", Ok(("POST /", "{}", "")));
        let chunks = "Transfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n1;x\r\n\n\r\n0\r\n\r\n";
        check(&format!("POST / HTTP/1.1\r\n{chunks}"), Ok(("POST /", "{}\n", "")));
        check(
            "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
            Ok(("POST /", "x", "HTTP/1.1 100 Continue\r\n\r\n")),
        );
    }

    #[test]
    fn requests_at_once_share_their_room() {
        let room = Room::new(100);
        let read = |held: &mut HeldRoom<'_>| {
            let text = format!("POST / HTTP/1.1\r\ncontent-length: 60\r\n\r\n{}", "x".repeat(60));
            let read =
                HttpRequest::read(&mut Client(text.as_bytes(), 7), &mut Vec::new(), 100, held);
            read.is_ok()
        };
        let (mut first, mut second) = (room.held(), room.held());
        assert!(read(&mut first) && !read(&mut second));
        drop((first, second));
        assert!(read(&mut room.held()) && read(&mut room.held()));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        check("", Err(0));
        check("GET /", Err(400));
        check("GET / HTTP/2\r\n\r\n", Err(400));
        check("hello\r\n\r\n", Err(400));
        check("GET / HTTP/1.1\r\nno colon\r\n\r\n", Err(400));
        for head in [
            "content-length: x",
            "content-length: +2",
            "content-length: 2, 2",
            "content-length:",
            "content-length: 2\r\ncontent-length: 2",
            "content-length: 2\r\ncontent-length: 3",
            "content-length: 2\r\ntransfer-encoding: chunked",
            "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
            "transfer-encoding: xchunked",
            "transfer-encoding: chunked, gzip",
            "transfer-encoding: gzip, chunked",
            "transfer-encoding : chunked",
            " content-length: 2",
            "a\r\ncontent-length: 2",
            ": 2",
            "a: b\0c",
        ] {
            check(&format!("POST / HTTP/1.1\r\n{head}\r\n\r\n{{}}"), Err(400));
        }
        check("POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", Err(400));
        check("POST / HTTP/1.1 x\r\n\r\n", Err(400));
        check("POST / HTTP/1.9\r\n\r\n", Err(400));
        check("POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n{}", Err(400));
        check("POST / HTTP/1.1\r\ncontent-length: 21\r\n\r\n", Err(413));
        check("POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 21\r\n\r\n", Err(413));
        let long = format!("15\r\n{}\r\n0\r\n\r\n", "x".repeat(21));
        for chunks in [long.as_str(), "x\r\n", "1\r\n{}\r\n", &format!("1;{}", "x".repeat(5000))] {
            let status = if chunks == long { 413 } else { 400 };
            let head = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
            check(&format!("{head}{chunks}"), Err(status));
        }
        check(&format!("GET / HTTP/1.1\r\na: {}", "x".repeat(MAX_HEAD)), Err(431));
    }
}
