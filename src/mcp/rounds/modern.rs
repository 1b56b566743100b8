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
    dialogue::{
        self, Answer, Binding, Dialogue, Exchange, Form, MayAsk, Question, Round, RoundState, Silence,
    },
    mcp::wire,
};

/// Answers without a state that are looked at.
const MOST_ANSWERS: usize = 16;

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
        let may_ask = if forgets { MayAsk::No(Silence::Exhausted) } else { self.may_ask(reach, &exchanges) };
        let dialogue = Dialogue { may_ask, exchanges };
        let questions = match self.round::<T>(call, request, &dialogue).await {
            Ok(Round::Ask(questions)) => questions,
            Ok(Round::Answered(response)) => return Ok(wire::result(Ok(response), call.request_id).into()),
            Err(failure) => return Ok(wire::failed(failure, call.request_id).into()),
        };
        let state = RoundState::new(dialogue.exchanges, questions.iter().map(Question::asked).collect());
        let sealed = self.sealer.seal(&state, &binding).map_err(|error| {
            wire::protocol(wire::internal(&format!("a state could not be sealed: {error}")))
        })?;
        let requests = questions.iter().map(|question| {
            let elicitation = ElicitRequest::new(form::elicitation(question, true));
            (question.form.key(question.slot.as_deref()), InputRequest::Elicitation(elicitation))
        });
        Ok(InputRequiredResult::new(Some(requests.collect::<BTreeMap<_, _>>()), Some(sealed)).into())
    }
}

/// The exchanges of a verified state, completed by this call's response. No response, or one that
/// makes no sense, is an unusable answer: the round decides whether to ask again. Responses to
/// what was not asked are ignored.
fn answered(state: RoundState, responses: Option<&InputResponses>) -> Vec<Exchange> {
    let RoundState { mut exchanges, pending, .. } = state;
    let round = dialogue::rounds(&exchanges) + 1;
    for asked in pending {
        let key = asked.form.key(asked.slot.as_deref());
        let response = responses.and_then(|responses| responses.get(&key));
        let answer = response.map_or(Answer::Unusable, |response| Answer::read(response, &asked));
        exchanges.push(Exchange { round, asked, answer });
    }
    exchanges
}

/// Responses without a state count as first answers: a client may drop the state. What was asked
/// is then unknown, so only what can be checked like an argument is taken.
fn unasked(responses: &InputResponses) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    // Keys are sorted: a choice comes before a clarification of the same.
    for (key, response) in responses.iter().take(MOST_ANSWERS) {
        let Some((form, slot)) = Form::of_key(key) else { continue };
        if exchanges.iter().any(|earlier| earlier.asked.slot == slot) {
            continue;
        }
        let asked = dialogue::Asked { form, slot, reason: None, subject: String::new(), options: Vec::new() };
        let answer = Answer::read(response, &asked);
        exchanges.push(Exchange { round: 1, asked, answer });
    }
    exchanges
}
