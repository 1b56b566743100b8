//! The HTTP side: routes, who is let in, which hosts and origins, whose sessions, probes, and the drain
//! at the end.

mod auth;
mod body;
mod cors;
mod limits;
mod probes;
mod readiness;
mod refusal;
mod serve;
mod sessions;

pub use readiness::{Latch, Readiness};
pub use serve::{ServeError, serve};
