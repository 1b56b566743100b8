//! Outcomes on the wire: the one place where a failure becomes a protocol result.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    dialogue::StateError,
    service::{Code, Failure},
};

/// A tool's result: structured, and the same JSON as text for clients that only read text.
pub(super) fn result<R: Serialize>(response: Result<R, Failure>, request_id: &str) -> CallToolResult {
    match response.and_then(|response| {
        serde_json::to_value(response)
            .map_err(|error| internal(&format!("a result could not be written as JSON: {error}")))
    }) {
        Ok(value) => CallToolResult::structured(value),
        Err(failure) => failed(failure, request_id),
    }
}

/// A tool's failure: `isError`, and `{code, message, details}` as text. No structured content:
/// that has to match the output schema, which describes success.
pub(super) fn failed(mut failure: Failure, request_id: &str) -> CallToolResult {
    if let Value::Object(details) = &mut failure.details {
        details.insert("request_id".to_owned(), json!(request_id));
    }
    let text = serde_json::to_string(&failure).unwrap_or_else(|_| r#"{"code":"internal_error"}"#.to_owned());
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Something broke on our side: the log gets the cause, the caller does not.
pub(super) fn internal(cause: &str) -> Failure {
    tracing::error!(cause, "call failed");
    Failure::new(
        Code::InternalError,
        "something broke on the server's side; try again, and tell its operator if it goes on",
    )
}

/// A request state that does not open is a protocol error: the client broke the protocol's rule
/// to hand it back unchanged with the same request.
pub(super) fn bad_state(error: StateError) -> ErrorData {
    let reason = match error {
        StateError::Invalid => "invalid_request_state",
        StateError::Expired => "expired_request_state",
    };
    ErrorData::invalid_params(error.to_string(), Some(json!({ "reason": reason })))
}

/// A use case's failure where the protocol knows only its own errors: resources and prompts.
pub(super) fn protocol(failure: Failure) -> ErrorData {
    match failure.code {
        Code::SourceNotFound => ErrorData::resource_not_found(failure.message, Some(failure.details)),
        Code::InvalidArgument => ErrorData::invalid_params(failure.message, Some(failure.details)),
        _ => ErrorData::internal_error(failure.message, None),
    }
}
