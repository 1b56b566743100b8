//! What pages in browsers may do (the Fetch standard's CORS protocol). A preflight carries no
//! credentials, so it is answered without any.

use std::{collections::HashSet, time::Duration};

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Lets pages of `origins` call.
pub(super) fn layer(origins: impl Iterator<Item = String>) -> CorsLayer {
    let origins: HashSet<String> =
        origins.map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
    let allowed = AllowOrigin::predicate(move |origin: &HeaderValue, _| {
        origin.to_str().is_ok_and(|origin| origins.contains(&origin.to_ascii_lowercase()))
    });
    let mcp = |name| HeaderName::from_static(name);
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([
            header::ACCEPT,
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            mcp("last-event-id"),
            mcp("mcp-method"),
            mcp("mcp-name"),
            mcp("mcp-protocol-version"),
            mcp("mcp-session-id"),
        ])
        .expose_headers([header::RETRY_AFTER, header::WWW_AUTHENTICATE, mcp("mcp-session-id")])
        .max_age(Duration::from_secs(3600))
}
