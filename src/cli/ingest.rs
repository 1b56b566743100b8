//! `askback ingest`.

use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::{
    CliError, complain,
    progress::{Bar, log_beside_bar},
    say,
    start::open,
};
use crate::{
    config::Settings,
    sources::registry::{Entry, Registry},
    text,
};

/// Bring the sources' indexes up to date.
#[derive(Args)]
pub(super) struct Ingest {
    /// Slugs of the sources; all of them if none is named.
    sources: Vec<String>,
    /// Print one JSON object per source.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Ingest, settings: Settings) -> Result<(), CliError> {
    log_beside_bar(&settings.log)?;
    let registry = open(&settings)?;
    let entries: Vec<&Entry> = if arguments.sources.is_empty() {
        registry.entries().iter().collect()
    } else {
        arguments.sources.iter().map(|slug| entry(&registry, slug)).collect::<Result<_, _>>()?
    };
    let mut failed = Vec::new();
    for entry in entries {
        let result = entry.refresh(Arc::new(Bar::new(entry.slug()))).await;
        match result {
            Ok(report) => {
                if arguments.json {
                    say(&json!({"source": entry.slug(), "report": report}).to_string());
                    continue;
                }
                say(&format!(
                    "{}: {} documents, {} passages; {} added, {} updated, {} removed",
                    entry.slug(),
                    report.documents,
                    report.passages,
                    report.added,
                    report.updated,
                    report.removed
                ));
                for warning in &report.warnings {
                    complain(&format!("{}: {warning}", entry.slug()));
                }
            }
            Err(error) => {
                complain(&format!("{}: {error}", entry.slug()));
                failed.push(entry.slug().to_owned());
            }
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(CliError::Failed(format!("not ingested: {}", failed.join(", "))))
    }
}

/// The source called `slug`, or an error that knows a better name.
pub(super) fn entry<'a>(registry: &'a Registry, slug: &str) -> Result<&'a Entry, CliError> {
    registry.get(slug).ok_or_else(|| {
        let nearest = text::nearest(slug, registry.entries().iter().map(Entry::slug), 1);
        let hint = nearest.first().map(|slug| format!("; did you mean `{slug}`?")).unwrap_or_default();
        CliError::Usage(format!("there is no source `{slug}`{hint}"))
    })
}
