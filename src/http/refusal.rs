//! Answers of the HTTP layer that are no protocol messages: refused before there is anybody to speak
//! the protocol with. They have the form of a tool's failure, so that clients know one form.

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::service::Code;

/// `{code, message, details}` with a status.
pub(super) fn refuse(status: StatusCode, code: Code, message: &str, details: Value) -> Response {
    let body = json!({"code": code, "message": message, "details": details});
    (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// The same, for now: with the seconds after which it is worth trying again.
pub(super) fn refuse_for_now(status: StatusCode, code: Code, message: &str, seconds: u64) -> Response {
    let mut response = refuse(status, code, message, json!({"retry_after_seconds": seconds}));
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}
