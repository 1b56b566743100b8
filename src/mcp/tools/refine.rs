//! `refine`.

use rmcp::model::Tool;

use super::{Nature, define};
use crate::{
    access::Caller,
    dialogue::{Dialogue, Round},
    mcp::rounds::Asks,
    service::{Failure, Refined, Service},
};

pub(super) const NAME: &str = "refine";

pub(super) fn definition() -> Tool {
    define::<crate::service::Refine, Refined>(
        NAME,
        "Refine",
        "Reads on from a hit, by its reference: the passages around it, its section, its document, or similar \
         passages elsewhere. Give a `query` and leave `strategy` at auto to be taken to the part that answers it; \
         when several ways fit, or none does, the tool asks the user itself. Where the user could not be asked, \
         `alternatives` lists the other ways: call again with `choice`, or with the user's words as `clarification`.",
        Nature { read_only: true, idempotent: true },
    )
}

/// The tool as something that asks.
pub(super) enum Refine {}

impl Asks for Refine {
    type Request = crate::service::Refine;
    type Response = Refined;

    async fn round(
        service: &Service,
        caller: &Caller,
        request: &Self::Request,
        dialogue: &Dialogue,
        request_id: &str,
    ) -> Result<Round<Refined>, Failure> {
        service.refine(caller, request, dialogue, request_id).await
    }
}
