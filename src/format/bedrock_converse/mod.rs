//! Bedrock's Converse API, beside its row: the requests
//! that go on after an answer.

pub(super) mod turn;
