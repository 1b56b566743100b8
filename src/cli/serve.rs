//! `askback serve`.

use std::{sync::Arc, time::Duration};

use tokio::{net::TcpListener, signal::unix::SignalKind};

use super::{CliError, progress::Logged, start};
use crate::{
    config::Settings,
    http::{self, Readiness},
    notify::Courier,
    sources::registry::{Entry, Registry},
    telemetry,
};

/// How often sources are checked for changes, and ones that failed are tried again.
const REFRESH: Duration = Duration::from_secs(60);

/// How often a source that cannot answer at all is tried again: another process may be building the
/// very index it waits for.
const RETRY: Duration = Duration::from_secs(5);

pub(super) async fn run(settings: Settings) -> Result<(), CliError> {
    telemetry::init(&settings.log).map_err(CliError::Usage)?;
    let readiness = Readiness::default();
    // Bound first: a port that is taken is known before any work is done, and probes answer while
    // indexes are built.
    let listener = TcpListener::bind(settings.server.address)
        .await
        .map_err(|error| CliError::failed(&format!("listening on {}", settings.server.address), error))?;
    let started = start(&settings)?;
    prepare(&started.registry, &readiness);
    if let Some(webhook) = &settings.access.webhook {
        tokio::spawn(Courier::new(Arc::clone(&started.state), webhook.clone())?.run());
    }
    tracing::info!(
        address = %settings.server.address,
        sources = started.registry.entries().len(),
        version = env!("CARGO_PKG_VERSION"),
        "serving MCP at /mcp"
    );
    let stop = shutdown_signal()?;
    http::serve(listener, &settings.server, started.handler, started.identity, readiness, stop)
        .await
        .map_err(|error| CliError::failed("serving", error))?;
    tracing::info!("stopped");
    Ok(())
}

/// Resolves on SIGTERM or SIGINT.
fn shutdown_signal() -> Result<impl Future<Output = ()> + Send + 'static, CliError> {
    let listen = |kind| {
        tokio::signal::unix::signal(kind).map_err(|error| CliError::failed("listening for signals", error))
    };
    let (mut term, mut int) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

/// Starts bringing every source up to date, and keeps doing so. Readiness waits for each source
/// to have answered or failed once: one that has an index answers from it meanwhile.
fn prepare(registry: &Arc<Registry>, readiness: &Readiness) {
    for n in 0..registry.entries().len() {
        let waiting = Arc::clone(registry);
        let first = registry.entries().get(n).is_some_and(|entry| entry.status().index_version.is_none());
        let latch = first.then(|| {
            readiness.hold(move || {
                waiting.entries().get(n).map_or_else(String::new, |entry| {
                    let note = entry.status().health.note().unwrap_or("starting").to_owned();
                    format!("source {}: {note}", entry.slug())
                })
            })
        });
        let registry = Arc::clone(registry);
        tokio::spawn(async move {
            let mut latch = latch;
            loop {
                let Some(entry) = registry.entries().get(n) else { return };
                refresh(entry).await;
                latch.take();
                let answers = entry.status().index_version.is_some();
                tokio::time::sleep(if answers { REFRESH } else { RETRY }).await;
            }
        });
    }
}

async fn refresh(entry: &Entry) {
    match entry.refresh(Arc::new(Logged::new(entry.slug()))).await {
        Ok(report) if report.changed => {
            tracing::info!(
                source = entry.slug(),
                documents = report.documents,
                passages = report.passages,
                added = report.added,
                updated = report.updated,
                removed = report.removed,
                "index is up to date"
            );
            for warning in report.warnings.iter().take(20) {
                tracing::warn!(source = entry.slug(), "{warning}");
            }
        }
        Ok(_) => {}
        Err(error) => {
            tracing::warn!(source = entry.slug(), %error, "source could not be refreshed; trying again")
        }
    }
}
