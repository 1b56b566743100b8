//! Protocol 2026-07-28: a question is a result, its answer comes with the next call, and whatever
//! has to be remembered travels sealed with the client. Any replica can take the next round.

use std::collections::BTreeMap;

use rmcp::{
    ErrorData,
    model::{CallToolResponse, ElicitRequest, InputRequest, InputRequiredResult, InputResponses},
};
use serde_json::Value;

use super::{Asked, Asks, Rounds, form, reach::Reach};
use crate::{
    dialogue::{self, Answer, Binding, Dialogue, Exchange, Form, MayAsk, Round, RoundState, Silence},
    mcp::wire,
};

impl Rounds {
    pub(super) async fn modern<T: Asks>(
        &self,
        call: &Asked<'_>,
        request: &T::Request,
        reach: &Reach,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(call.arguments.clone());
        let binding = Binding { subject: &call.caller.subject, tool: &call.tool.name, arguments: &arguments };
        let exchanges = match &call.state {
            Some(sealed) => {
                let state = self.sealer.open(sealed, &binding).map_err(wire::bad_state)?;
                answered(state, call.responses.as_ref())
            }
            None => call.responses.as_ref().map(unasked).unwrap_or_default(),
        };
        // A client that loses the state would be asked for ever: what it said is taken, and that is it.
        let forgets =
            call.state.is_none() && exchanges.iter().any(|e| matches!(e.answer, Answer::Accepted(_)));
        let may_ask =
            if forgets { MayAsk::No(Silence::Exhausted) } else { self.may_ask(reach, exchanges.len()) };
        let dialogue = Dialogue { may_ask, exchanges };
        let question = match self.round::<T>(call, request, &dialogue).await {
            Ok(Round::Ask(question)) => question,
            Ok(Round::Answered(response)) => return Ok(wire::result(Ok(response), call.request_id).into()),
            Err(failure) => return Ok(wire::failed(failure, call.request_id).into()),
        };
        let key = question.form.key().to_owned();
        let state = RoundState::new(dialogue.exchanges, question.asked());
        let sealed = self.sealer.seal(&state, &binding).map_err(|error| {
            wire::protocol(wire::internal(&format!("a state could not be sealed: {error}")))
        })?;
        let elicitation = InputRequest::Elicitation(ElicitRequest::new(form::elicitation(&question, true)));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(key, elicitation)])), Some(sealed)).into())
    }
}

/// The exchanges of a verified state, completed by this call's response. No response, or one that
/// makes no sense, is an unusable answer: the round decides whether to ask again. Responses to
/// what was not asked are ignored.
fn answered(state: RoundState, responses: Option<&InputResponses>) -> Vec<Exchange> {
    let asked = state.pending;
    let response = responses.and_then(|responses| responses.get(asked.form.key()));
    let answer = response.map_or(Answer::Unusable, |response| Answer::read(response, &asked));
    let mut exchanges = state.exchanges;
    exchanges.push(Exchange { asked, answer });
    exchanges
}

/// Responses without a state count as a first answer: a client may drop the state. What was asked
/// is then unknown, so only what can be checked like an argument is taken.
fn unasked(responses: &InputResponses) -> Vec<Exchange> {
    [Form::Choice, Form::Clarification]
        .into_iter()
        .find_map(|form| {
            let asked = dialogue::Asked { form, reason: None, subject: String::new(), options: Vec::new() };
            let answer = Answer::read(responses.get(form.key())?, &asked);
            Some(vec![Exchange { asked, answer }])
        })
        .unwrap_or_default()
}
