//! The service over the wire: real HTTP, real clients, both protocol eras.

#![allow(unreachable_pub, reason = "the harness is shared by the modules of one test binary")]

mod asking;
mod harness;
mod hostile;
mod http;
mod legacy;
mod state;
mod tools;
