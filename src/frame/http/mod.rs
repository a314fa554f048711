//! HTTP around a body, as `curl -i` and `curl --raw` print it.

mod chunked;
mod heads;

pub(crate) use chunked::{Dechunker, is_chunk_size};
pub(crate) use heads::{Found, find_head};
