//! What takes real processes: the built binary, killed, run twice at a time, and used at the command
//! line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    unreachable_pub,
    reason = "helpers of tests, shared by the modules of one binary"
)]

mod commands;
mod crash;
mod deployment;
mod replicas;
