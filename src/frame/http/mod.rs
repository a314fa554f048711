//! HTTP around a body: the heads that `curl -i` prints before it (RFC 9112 §2.1), the chunked coding
//! that `curl --raw` leaves in it (§7.1), and where it ends, if another response follows (§6.3).

mod chunked;
mod head;
mod places;
mod responses;

#[cfg(feature = "cli")]
pub(crate) use chunked::Dechunker;
pub(crate) use head::begins_head;
#[cfg(feature = "cli")]
pub(crate) use head::{HttpHead, MAX_HEAD, find_heads, head_len};
pub(crate) use places::BodyPlaces;
pub(crate) use responses::{BodyBegin, HttpResponses, ResponsePiece};
