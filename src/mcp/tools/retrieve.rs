//! `retrieve`.

use rmcp::model::Tool;

use super::{Nature, define};
use crate::{
    access::Caller,
    dialogue::{Dialogue, Round},
    mcp::rounds::Asks,
    service::{Failure, Retrieved, Service},
};

pub(super) const NAME: &str = "retrieve";

pub(super) fn definition() -> Tool {
    define::<crate::service::Retrieve, Retrieved>(
        NAME,
        "Retrieve",
        "Finds passages for a question, in the user's words and as a whole question. If the result is weak or \
         ambiguous, the tool asks the user itself and returns the better result. Where the user could not be asked \
         you get everything found, annotated: `status` says what it is worth (ok, weak, ambiguous, empty), \
         `confidence.reasons` why, and `alternatives` what else could have been meant. Then ask the user in the \
         conversation and call again with the same query plus `choice` (one of the alternatives' references) or \
         `clarification` (the user's words). Use refine with a hit's reference to read on.",
        Nature { read_only: true, idempotent: true },
    )
}

/// The tool as something that asks.
pub(super) enum Retrieve {}

impl Asks for Retrieve {
    type Request = crate::service::Retrieve;
    type Response = Retrieved;

    async fn round(
        service: &Service,
        caller: &Caller,
        request: &Self::Request,
        dialogue: &Dialogue,
        request_id: &str,
    ) -> Result<Round<Retrieved>, Failure> {
        service.retrieve(caller, request, dialogue, request_id).await
    }
}
