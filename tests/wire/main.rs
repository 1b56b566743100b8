//! The service over the wire: real HTTP, real clients, both protocol eras.

mod asking;
mod harness;
mod hostile;
mod http;
mod legacy;
mod state;
mod tools;
