//! `request_access`.

use rmcp::model::Tool;

use super::{Nature, define};
use crate::service::{AccessRequested, RequestAccess};

pub(super) const NAME: &str = "request_access";

pub(super) fn definition() -> Tool {
    define::<RequestAccess, AccessRequested>(
        NAME,
        "Request access",
        "Asks a source's owner for access you do not have, with a reason the owner can decide by. Answers \
         already_granted where you have the access, and pending or already_pending where the owner has to decide: \
         tell the user, and go on without it. Once it is approved, the call that was refused works.",
        Nature { read_only: false, idempotent: true },
    )
}
