//! The HTTP side: routes, which hosts and origins get in, probes, and the drain at the end.

mod probes;
mod readiness;
mod serve;

pub use readiness::{Latch, Readiness};
pub use serve::{ServeError, serve};
