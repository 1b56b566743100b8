//! One body, two eras: runs a tool's round and carries its questions to the user, statelessly on
//! protocol 2026-07-28, over the back-channel on older ones. The era and what the client can do
//! come from the request, never from configuration.

mod form;
mod legacy;
mod modern;
mod reach;

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, InputResponses, JsonObject, Tool},
    service::RequestContext,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{schema, wire};
use crate::{
    access::Caller,
    dialogue::{self, Dialogue, Exchange, MayAsk, Round, Sealer, Silence},
    limits::Limits,
    service::{Failure, Service},
};
use reach::Reach;

/// A tool that can ask. All it brings is its round: a pure function of the request and the
/// dialogue so far, run from the top each time.
pub(super) trait Asks {
    /// Its arguments.
    type Request: DeserializeOwned + Send + Sync;
    /// Its result.
    type Response: Serialize + Send;

    /// Runs one round.
    fn round(
        service: &Service,
        caller: &Caller,
        request: &Self::Request,
        dialogue: &Dialogue,
        request_id: &str,
    ) -> impl Future<Output = Result<Round<Self::Response>, Failure>> + Send;
}

/// One call of a tool that can ask.
pub(super) struct Asked<'a> {
    pub(super) caller: Caller,
    pub(super) tool: &'a Tool,
    pub(super) arguments: &'a JsonObject,
    pub(super) request_id: &'a str,
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// Runs rounds.
pub(super) struct Rounds {
    service: Service,
    sealer: Sealer,
    limits: Arc<Limits>,
}

impl Rounds {
    pub(super) fn new(service: Service, sealer: Sealer, limits: Arc<Limits>) -> Self {
        Self { service, sealer, limits }
    }

    /// Runs a tool's round, as often as questions and answers take.
    pub(super) async fn run<T: Asks>(
        &self,
        call: Asked<'_>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let reach = Reach::of(&context, self.service.clarify());
        let request: T::Request = match schema::arguments(call.arguments, &call.tool.input_schema) {
            Ok(request) => request,
            Err(failure) => return Ok(wire::failed(failure, call.request_id).into()),
        };
        match reach {
            Reach::Stateless | Reach::Nobody { modern: true, .. } => {
                self.modern::<T>(&call, &request, &reach).await
            }
            Reach::BackChannel { .. } => self.legacy::<T>(&call, &request, &reach, &context).await,
            Reach::Nobody { why, .. } => {
                let response = self.round::<T>(&call, &request, &Dialogue::silent(why)).await;
                Ok(wire::result(response.and_then(answered), call.request_id).into())
            }
        }
    }

    async fn round<T: Asks>(
        &self,
        call: &Asked<'_>,
        request: &T::Request,
        dialogue: &Dialogue,
    ) -> Result<Round<T::Response>, Failure> {
        // Each round is work of its own: a person's time to answer is in nobody's way.
        let round = T::round(&self.service, &call.caller, request, dialogue, call.request_id);
        self.limits.run(round).await?
    }

    /// Whether a round may ask after these exchanges.
    fn may_ask(&self, reach: &Reach, exchanges: &[Exchange]) -> MayAsk {
        let asked = dialogue::rounds(exchanges);
        match reach {
            Reach::Nobody { why, .. } => MayAsk::No(*why),
            _ if asked >= self.service.clarify().max_rounds => MayAsk::No(Silence::Exhausted),
            _ => MayAsk::Yes,
        }
    }
}

/// The answer of a round that was told it may not ask.
fn answered<R>(round: Round<R>) -> Result<R, Failure> {
    match round {
        Round::Answered(response) => Ok(response),
        Round::Ask(_) => Err(wire::internal("a round asked although it may not")),
    }
}
