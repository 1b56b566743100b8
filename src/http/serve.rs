//! Serving on a bound listener until told to stop, and then letting calls under way finish.

use std::{sync::Arc, time::Duration};

use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;

use super::{
    Readiness,
    auth::{self, Gate, metadata},
    body, cors, limits, probes,
    sessions::{self, Sessions},
};
use crate::{config::Server, identity::Identity, mcp::Handler};

/// The listener failed.
#[derive(Debug, thiserror::Error)]
#[error("serving failed: {0}")]
pub struct ServeError(#[from] std::io::Error);

/// Serves until `shutdown` resolves, then refuses new connections and gives calls under way
/// `settings.drain` to finish. Takes a bound listener, so that tests serve on port 0.
///
/// # Errors
/// [`ServeError`] if the listener fails.
pub async fn serve(
    listener: TcpListener,
    settings: &Server,
    handler: Handler,
    identity: Arc<Identity>,
    readiness: Readiness,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let ended = CancellationToken::new();
    let calls_under_way = handler.calls_under_way();
    let port = listener.local_addr()?.port();
    let app = app(settings, port, handler, identity, readiness.clone(), ended.clone());
    let drain = settings.drain;
    let stopping = CancellationToken::new();
    let begun = stopping.clone();
    let graceful = async move {
        shutdown.await;
        tracing::info!("draining");
        readiness.drain();
        begun.cancel();
    };
    let server = axum::serve(listener, app).with_graceful_shutdown(graceful).into_future();
    tokio::pin!(server);
    tokio::select! {
        result = &mut server => return Ok(result?),
        () = stopping.cancelled() => {}
    }
    // Connections that stay open by design (a session's event stream) would hold the server up
    // for ever, so what is still open when the calls have had their time is ended.
    let calls_done = Duration::from_millis(200);
    let mut waited = Duration::ZERO;
    while waited < drain {
        tokio::select! {
            result = &mut server => return Ok(result?),
            () = tokio::time::sleep(calls_done) => waited += calls_done,
        }
        if calls_under_way() == 0 {
            break;
        }
    }
    ended.cancel();
    // Ending the streams lets their connections close; a client that does not read is cut off.
    match tokio::time::timeout(Duration::from_secs(2), server).await {
        Ok(result) => Ok(result?),
        Err(_) => Ok(()),
    }
}

fn app(
    settings: &Server,
    port: u16,
    handler: Handler,
    identity: Arc<Identity>,
    readiness: Readiness,
    ended: CancellationToken,
) -> Router {
    let origins: Vec<String> =
        settings.allowed_origins.iter().cloned().chain(own_origins(settings, port)).collect();
    // Origins are checked even when none is allowed: other pages have no business here by default.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(&settings.allowed_hosts)
        .with_allowed_origins(origins.clone())
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(settings.max_body)
        .with_cancellation_token(ended);
    let manager = Arc::<LocalSessionManager>::default();
    let known = Sessions::new(Arc::clone(&manager), settings.max_sessions);
    let counts = handler.limits();
    let gate = Gate::new(Arc::clone(&identity));
    let mcp = StreamableHttpService::new(move || Ok(handler.clone()), manager, config);
    // The last layer is the first that a request comes to.
    Router::new()
        .route_service("/mcp", mcp)
        .layer(middleware::from_fn_with_state(known, sessions::bind))
        .layer(middleware::from_fn_with_state(gate.clone(), auth::require_scopes))
        .layer(middleware::from_fn_with_state(settings.max_body, body::read))
        .layer(middleware::from_fn_with_state(counts, limits::count))
        .layer(middleware::from_fn_with_state(gate, auth::identify))
        .layer(cors::layer(origins.into_iter()))
        // Nothing here is meant to panic; if something does, it costs one response.
        .layer(CatchPanicLayer::new())
        .merge(probes::routes(readiness))
        .merge(metadata::routes(&identity))
}

/// The origins of the service itself: a page would have to come from here to have one of them.
fn own_origins(settings: &Server, port: u16) -> impl Iterator<Item = String> {
    settings.allowed_hosts.iter().map(move |host| {
        let host =
            if host.contains("::") && !host.starts_with('[') { format!("[{host}]") } else { host.clone() };
        let named = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if named { format!("http://{host}") } else { format!("http://{host}:{port}") }
    })
}
