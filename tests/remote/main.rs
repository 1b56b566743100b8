//! Remote models against a service that misbehaves on demand.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests, too")]

mod embedding;
mod rerank;
mod source;
mod stub;
mod support;
