//! The service over the wire: real HTTP, real clients, both protocol eras.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    unreachable_pub,
    reason = "helpers of tests, shared by the modules of one binary"
)]

mod access;
mod asking;
mod auth;
mod harness;
mod hostile;
mod http;
mod legacy;
mod limits;
mod places;
mod routes;
mod sessions;
mod state;
mod tools;
mod write;

#[path = "../common/issuer.rs"]
mod issuer;
