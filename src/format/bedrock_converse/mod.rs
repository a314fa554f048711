//! Bedrock's Converse API, beside its [row](crate::format::rows::bedrock_converse): the requests
//! that go on after an answer, and its server's errors.

pub(super) mod reply;
pub(super) mod turn;
