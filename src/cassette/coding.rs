//! Bodies, decoded: what recorders and servers did to them is undone. A coding that a recorder undid
//! but still names is no error.

use std::io::{self, Read as _};

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use crate::frame::http::Dechunker;

/// What a body may unpack to, in bytes.
pub(super) const MAX_BODY: u64 = 256 << 20;

/// A body that was decoded, and what is to be said of it.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) body: Vec<u8>,
    pub(super) note: Option<String>,
    /// True if a limit was hit.
    pub(super) is_too_large: bool,
    /// True if it could not be unpacked to its end.
    pub(super) is_cut: bool,
}

/// Undoes the codings that a head names, the last one first.
pub(super) fn decode(mut body: Vec<u8>, transfer: &str, content: &str) -> Decoded {
    if transfer.to_ascii_lowercase().contains("chunked")
        && let Some(whole) = joined_chunks(&body)
    {
        body = whole;
    }
    let mut decoded = Decoded { body, ..Decoded::default() };
    for name in content.rsplit(',').map(|name| name.trim().to_ascii_lowercase()) {
        let body = decoded.body.as_slice();
        let unpacked = match name.as_str() {
            "gzip" | "x-gzip" if body.starts_with(b"\x1f\x8b") => unpack(MultiGzDecoder::new(body)),
            "deflate" if body.starts_with(b"\x78") => unpack(ZlibDecoder::new(body)),
            "br" if !is_text(body) => unpack(brotli_decompressor::Decompressor::new(body, 4096)),
            "zstd" if body.starts_with(b"\x28\xb5\x2f\xfd") => unzstd(body),
            "gzip" | "x-gzip" | "deflate" | "br" | "zstd" | "identity" | "none" | "" | "utf-8"
            | "aws-chunked" => continue,
            _ => {
                let note = format!("the coding {name:?} of its body is not known");
                decoded.note = Some(note);
                continue;
            }
        };
        match unpacked {
            (bytes, None) => decoded.body = bytes,
            (bytes, Some(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                let note = format!("its body unpacks to more than {MAX_BODY} bytes");
                return Decoded { body: bytes, note: Some(note), is_too_large: true, is_cut: true };
            }
            // Brotli has no mark of its own: what is none was decoded by the recorder.
            (bytes, Some(_)) if bytes.is_empty() && name == "br" => {}
            (bytes, Some(error)) => {
                decoded.note =
                    Some(format!("its body can't be unpacked to its end: {name}: {error}"));
                decoded.body = bytes;
                decoded.is_cut = true;
            }
        }
    }
    decoded
}

/// Unpacks gzip, as far as it goes.
pub(super) fn unzip(bytes: &[u8]) -> (Vec<u8>, Option<io::Error>) {
    unpack(MultiGzDecoder::new(bytes))
}

/// Reads to the end, or as far as it goes.
fn unpack(reader: impl io::Read) -> (Vec<u8>, Option<io::Error>) {
    let mut bytes = Vec::new();
    match reader.take(MAX_BODY + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > MAX_BODY => (bytes, Some(io::ErrorKind::FileTooLarge.into())),
        read => (bytes, read.err()),
    }
}

fn unzstd(body: &[u8]) -> (Vec<u8>, Option<io::Error>) {
    match ruzstd::decoding::StreamingDecoder::new(body) {
        Ok(decoder) => unpack(decoder),
        Err(error) => (body.to_vec(), Some(io::Error::other(error.to_string()))),
    }
}

/// True if a body begins as those of models do, so that it is packed no more.
fn is_text(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    let begins: [&[u8]; 8] = [b"{", b"[", b"\"", b"<", b"data:", b"event:", b":", b"id:"];
    begins.iter().any(|begin| body.starts_with(begin))
}

/// Joins the chunks of HTTP. Returns `None` if the bytes are no chunks: those that break off have the
/// line ends of HTTP at least.
fn joined_chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let first = memchr::memchr(b'\n', body).and_then(|end| body.get(..end));
    let is_http = first.is_some_and(|line| line.ends_with(b"\r"));
    let (mut chunks, mut whole) = (Dechunker::default(), Vec::new());
    while !body.is_empty() && !chunks.is_ended() {
        let (data, rest) = chunks.step(body).ok()?;
        whole.extend_from_slice(data);
        body = rest;
    }
    Some(whole).filter(|_| is_http || chunks.is_whole())
}
