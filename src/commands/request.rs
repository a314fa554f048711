//! REQUEST, as commands read it.

use std::io;

use anyhow::Context;

use crate::commands::shown;
use crate::detect;
use crate::frame::without_mark;
use crate::io::read_whole;
use crate::request::{Refused, RequestBody};

/// Returns the error that a request stands as it is, with the name of what it lies in.
pub(super) fn named(refused: Refused, name: &str) -> anyhow::Error {
    anyhow::Error::new(refused).context(name.to_owned())
}

/// Reads a request. Returns also the bytes that were read.
pub(super) fn read_request(path: &str) -> anyhow::Result<(RequestBody, Vec<u8>)> {
    let bytes = read_whole(path).with_context(|| shown(path).to_owned())?;
    let body = match String::from_utf8(without_mark(&bytes).to_vec()) {
        Ok(text) => RequestBody::new(text),
        Err(_) => Err("is not UTF-8".to_owned()),
    };
    body.map_err(|why| match answer(&bytes) {
        Some(format) => {
            format!("this is an answer ({format}), not a request: the request comes first")
        }
        None => format!("the request {why}"),
    })
    .map(|body| (body, bytes))
    .map_err(|why| named(Refused::malformed(why), shown(path)))
}

/// Returns the format of bytes that are a stream or a log.
fn answer(bytes: &[u8]) -> Option<String> {
    let format = detect::explain(bytes, true).format;
    Some(format).filter(|format| !matches!(format.as_str(), "unknown" | "text"))
}

/// Reads a file of JSON without the byte order mark that it may begin with: parsers may ignore that
/// (RFC 8259, section 8.1), and writers must not add it.
pub(super) fn read_json(path: &str) -> io::Result<Vec<u8>> {
    Ok(without_mark(&read_whole(path)?).to_vec())
}
