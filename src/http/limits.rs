//! Requests a minute, by caller: before a request is read, so that reading it costs nothing.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::Response,
};

use super::refusal::refuse_for_now;
use crate::{
    access::Caller,
    limits::{Class, Exceeded, Limits, whole_seconds},
    service::Code,
};

/// The layer. Comes after the one that finds out who the caller is.
pub(super) async fn count(State(limits): State<Arc<Limits>>, request: Request, next: Next) -> Response {
    let counted = request
        .extensions()
        .get::<Caller>()
        .map_or(Ok(()), |caller| limits.count(&caller.subject, Class::Request));
    match counted {
        Err(exceeded @ Exceeded::Rate { retry_after, .. }) => refuse_for_now(
            StatusCode::TOO_MANY_REQUESTS,
            Code::RateLimited,
            &exceeded.to_string(),
            whole_seconds(retry_after),
        ),
        _ => next.run(request).await,
    }
}
