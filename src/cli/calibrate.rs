//! `askback calibrate`: learning anew what a source's scores mean, from its owner's labels too.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::{
    CliError,
    ingest::entry,
    progress::{Bar, log_beside_bar},
    say,
    start::open,
};
use crate::{
    confidence::{
        Calibration,
        calibration::{LabelledQuery, Labels},
        gate::Policy,
    },
    config::Settings,
    sources::{CalibrateRequest, LabelChange},
};

/// Calibrate a source anew; with labels, so that at most a chosen share of good questions is asked about.
#[derive(Args)]
pub(super) struct Calibrate {
    /// Slug of the source.
    source: String,
    /// Labelled queries: `query<TAB>document id` a line, or JSON Lines with query and document (or
    /// documents). At least 100; kept, and used again whenever the source is calibrated.
    #[arg(long, value_name = "FILE", conflicts_with = "forget_labels")]
    labels: Option<PathBuf>,
    /// Share of answerable queries that may be asked about [default with --labels: 0.03].
    #[arg(long, value_name = "SHARE", conflicts_with = "forget_labels")]
    false_asks: Option<f64>,
    /// Forget the labels given before.
    #[arg(long)]
    forget_labels: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const FALSE_ASKS: f64 = 0.03;

pub(super) async fn run(arguments: Calibrate, settings: Settings) -> Result<(), CliError> {
    log_beside_bar(&settings.log)?;
    if let Some(share) = arguments.false_asks
        && !(share > 0.0 && share <= 0.5)
    {
        return Err(CliError::Usage("--false-asks must be above 0 and at most 0.5".to_owned()));
    }
    let labels = match (&arguments.labels, arguments.false_asks) {
        (Some(file), share) => LabelChange::Replace(Labels {
            queries: read(file).map_err(CliError::Usage)?,
            false_asks: share.unwrap_or(FALSE_ASKS),
        }),
        (None, Some(share)) => LabelChange::FalseAsks(share),
        (None, None) if arguments.forget_labels => LabelChange::Forget,
        (None, None) => LabelChange::Keep,
    };
    let registry = open(&settings)?;
    let entry = entry(&registry, &arguments.source)?;
    let failed = |error| CliError::failed(&format!("calibrating {}", entry.slug()), error);
    let source = entry.source().map_err(failed)?;
    let request = CalibrateRequest { labels };
    let calibration = source.calibrate(request, Arc::new(Bar::new(entry.slug()))).await.map_err(failed)?;
    if arguments.json {
        say(&json!({"source": entry.slug(), "calibration": calibration}).to_string());
    } else {
        show(entry.slug(), &calibration, &entry.config().clarify.policy(settings.clarify.profile));
    }
    Ok(())
}

fn show(slug: &str, calibration: &Calibration, policy: &Policy) {
    let sizes = calibration.sizes;
    if calibration.calibrated {
        say(&format!(
            "{slug}: calibrated on {} queries of its own, {} everyday ones and {} to find again, over {} passages",
            sizes.in_corpus, sizes.foreign, sizes.known_item, calibration.passages
        ));
    } else {
        say(&format!("{slug}: not calibrated"));
    }
    if let Some(sep) = calibration.sep {
        say(&format!("  tells foreign queries from its own with AUROC {sep:.3}"));
    }
    let by_hand = policy.t_ooc.is_some() || policy.t_miss.is_some();
    if let Some(labelled) = &calibration.labelled {
        say(&format!(
            "  {} labelled queries, {} of them answerable, for {:.1} % false asks",
            labelled.queries,
            labelled.answerable,
            100.0 * labelled.false_asks,
        ));
    }
    match &calibration.labelled {
        Some(labelled) if !by_hand => {
            say(&format!("  asks when confidence < {:.3}", labelled.least(policy.profile)));
        }
        _ => {
            let t_ooc = policy.t_ooc.map(f64::from).or(calibration.t_ooc);
            let foreign = t_ooc.map(|t_ooc| format!("p_ooc > {t_ooc:.3}, ")).unwrap_or_default();
            let (t_miss, least) = (policy.t_miss(), policy.least_confidence());
            say(&format!("  asks when {foreign}p_miss > {t_miss:.2} or confidence < {least:.2}"));
        }
    }
    if let Some(note) = &calibration.note {
        say(&format!("  note: {note}"));
    }
}

#[derive(Deserialize)]
struct Record {
    query: String,
    document: Option<String>,
    #[serde(default)]
    documents: Vec<String>,
}

/// Reads labels. Lines of one query are one query with several documents.
fn read(file: &Path) -> Result<Vec<LabelledQuery>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("--labels: {}: {error}", file.display()))?;
    let mut labelled: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("--labels: {}:{}", file.display(), n + 1);
        let (query, documents) = if line.trim_start().starts_with('{') {
            let record: Record = serde_json::from_str(line).map_err(|error| format!("{}: {error}", at()))?;
            (record.query, record.document.into_iter().chain(record.documents).collect())
        } else {
            let (query, document) = line
                .split_once('\t')
                .ok_or_else(|| format!("{}: is not a query and a document id with a tab between", at()))?;
            (query.to_owned(), vec![document.trim().to_owned()])
        };
        if query.trim().is_empty() || documents.is_empty() {
            return Err(format!("{}: needs a query and at least one document id", at()));
        }
        labelled.entry(query.trim().to_owned()).or_default().extend(documents);
    }
    Ok(labelled.into_iter().map(|(query, documents)| LabelledQuery { query, documents }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Result<Vec<LabelledQuery>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        read(file.path())
    }

    #[test]
    fn both_forms_are_read_and_lines_of_one_query_joined() {
        let read = labels("how\ta.md\n{\"query\": \"how\", \"document\": \"b.md\"}\n\n{\"query\": \"why\", \"documents\": [\"c.md\", \"d.md\"]}\n").unwrap();
        let plain: Vec<(&str, Vec<&str>)> = read
            .iter()
            .map(|l| (l.query.as_str(), l.documents.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(plain, [("how", vec!["a.md", "b.md"]), ("why", vec!["c.md", "d.md"])]);
    }

    #[test]
    fn a_bad_line_is_named() {
        for bad in ["how a.md", "{\"query\": \"how\"}", "{\"document\": \"a\"}", "\ta.md"] {
            let message = labels(&format!("ok\tx\n{bad}\n")).unwrap_err();
            assert!(message.contains(":2: "), "{message}");
        }
    }
}
