//! Who is calling and what they may do. Decides; stores nothing and speaks no protocol.

mod caller;

pub use caller::{Caller, CallerKind, Scope};
