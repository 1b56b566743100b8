//! Protocols up to 2025-11-25 with a session: a question is a request of ours on the call's own
//! stream, and the call waits for the answer.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, ElicitRequest, ProgressNotificationParam, ServerRequest},
    service::{PeerRequestOptions, RequestContext, ServiceError},
};

use super::{Asked, Asks, Rounds, form, reach::Reach};
use crate::{
    dialogue::{self, Answer, Dialogue, Exchange, Question, Round},
    mcp::wire,
};

/// How often a waiting call shows that it is alive, where the client asked for progress.
const HEARTBEAT: Duration = Duration::from_secs(5);

impl Rounds {
    pub(super) async fn legacy<T: Asks>(
        &self,
        call: &Asked<'_>,
        request: &T::Request,
        reach: &Reach,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        loop {
            let dialogue = Dialogue { may_ask: self.may_ask(reach, &exchanges), exchanges };
            let questions = match self.round::<T>(call, request, &dialogue).await {
                Ok(Round::Ask(questions)) => questions,
                Ok(Round::Answered(response)) => {
                    return Ok(wire::result(Ok(response), call.request_id).into());
                }
                Err(failure) => return Ok(wire::failed(failure, call.request_id).into()),
            };
            exchanges = dialogue.exchanges;
            let round = dialogue::rounds(&exchanges) + 1;
            let titled = matches!(reach, Reach::BackChannel { titled: true });
            for question in questions {
                let Some(answer) = self.ask(&question, titled, call, context).await else {
                    // Nobody reads what a cancelled call returns.
                    return Err(ErrorData::internal_error("the call was cancelled", None));
                };
                let usable = matches!(answer, Answer::Accepted(_));
                exchanges.push(Exchange { round, asked: question.asked(), answer });
                if !usable {
                    // Whoever closes one form does not want the next.
                    break;
                }
            }
        }
    }

    /// Asks the user and waits; `None` if the call is cancelled meanwhile.
    async fn ask(
        &self,
        question: &Question,
        titled: bool,
        call: &Asked<'_>,
        context: &RequestContext<RoleServer>,
    ) -> Option<Answer> {
        let wait = self.service.clarify().wait;
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form::elicitation(question, titled)));
        let options = PeerRequestOptions::with_timeout(wait);
        let handle = match context.peer.send_cancellable_request(request, options).await {
            Ok(handle) => handle,
            Err(error) => return Some(failed(&error, call)),
        };
        let id = handle.id.clone();
        let peer = handle.peer.clone();
        let answered = handle.await_response();
        tokio::pin!(answered);
        let mut beat = tokio::time::interval(HEARTBEAT);
        beat.tick().await;
        let mut beats = 0.0;
        loop {
            tokio::select! {
                result = &mut answered => return Some(match result {
                    // Whatever type the result was read as, it is judged as the JSON it came as.
                    Ok(result) => serde_json::to_value(result)
                        .map_or(Answer::Unusable, |result| Answer::read(&result, &question.asked())),
                    Err(error) => failed(&error, call),
                }),
                () = context.ct.cancelled() => {
                    // The question is moot: the client may close its form.
                    let reason = Some("the call that asked was cancelled".to_owned());
                    let notice = rmcp::model::CancelledNotificationParam::new(Some(id), reason);
                    let _ = peer.notify_cancelled(notice).await;
                    return None;
                }
                _ = beat.tick() => {
                    beats += 1.0;
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, beats)
                            .with_message("waiting for the user's answer");
                        let _ = context.peer.notify_progress(progress).await;
                    }
                }
            }
        }
    }
}

/// A question that did not come back: logged without content, never an error to the caller.
fn failed(error: &ServiceError, call: &Asked<'_>) -> Answer {
    let answer = match error {
        ServiceError::Timeout { .. } => Answer::TimedOut,
        _ => Answer::Failed,
    };
    let cause = match error {
        ServiceError::McpError(error) => format!("the client answered with error {}", error.code.0),
        ServiceError::Timeout { .. } => "no answer in time".to_owned(),
        other => other.to_string(),
    };
    tracing::warn!(tool = %call.tool.name, request_id = call.request_id, cause, "the user could not be asked");
    answer
}
