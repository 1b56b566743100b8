//! Who is calling and what they may do. Decides; stores nothing and speaks no protocol.

pub mod audit;
mod caller;
mod held;
mod policy;
mod schema;

pub use crate::store::state::Access;
pub use caller::{Caller, CallerKind, Scope};
pub use held::Held;
pub use policy::{AccessLevel, Lifecycle, Policy, Refusal, Standing, Visibility, WriteMode, WritePolicy};
pub use schema::ContentSchema;
