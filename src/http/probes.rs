//! `/livez` and `/readyz`: outside every check, without a backend call, with generic reasons.

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;

use super::Readiness;

pub(super) fn routes(readiness: Readiness) -> Router {
    Router::new().route("/livez", get(live)).route("/readyz", get(ready)).with_state(readiness)
}

async fn live() -> Response {
    answer(StatusCode::OK, json!({"status": "alive"}))
}

async fn ready(State(readiness): State<Readiness>) -> Response {
    let waiting = readiness.waiting_for();
    if waiting.is_empty() {
        answer(StatusCode::OK, json!({"status": "ready"}))
    } else {
        answer(StatusCode::SERVICE_UNAVAILABLE, json!({"status": "waiting", "waiting_for": waiting}))
    }
}

fn answer(status: StatusCode, body: serde_json::Value) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}
