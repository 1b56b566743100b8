//! `askback evaluate`: how well retrieval and the gate do on labelled queries.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use serde_json::json;

use super::{CliError, complain, progress::Bar, say, start};
use crate::{
    confidence::{Profile, Verdict},
    config::{self, Settings, SourceConfig},
    evaluation::{
        Report,
        dataset::{self, GateQuery, Query, Relevance},
        estimate::Estimate,
        gate::{self, Judged},
        metrics, plots,
        retrieval::{self, Rankings},
    },
    sources::{
        documents::{Inspector, Seen},
        registry::{Kind, Surroundings},
    },
    store::SqliteState,
};

/// Measure retrieval, and the gate, on labelled queries in BEIR form.
#[derive(Args)]
pub(super) struct Evaluate {
    /// Folder with corpus.jsonl, queries.jsonl and qrels.tsv.
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// Queries for the gate: one JSON object a line with kind, text, relevant, full.
    #[arg(long, value_name = "FILE")]
    gate: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Write a reliability diagram and a precision-recall curve as SVG into this folder.
    #[arg(long, value_name = "DIR", requires = "gate")]
    plots: Option<PathBuf>,
    /// Write what became of each gate query, one JSON object a line.
    #[arg(long, value_name = "FILE", requires = "gate")]
    trace: Option<PathBuf>,
    /// Keep the index here, so that the next run need not embed again.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// Queries searched between two notes of progress.
const BATCH: usize = 64;

pub(super) async fn run(
    arguments: Evaluate,
    settings: impl Fn() -> Result<Settings, CliError>,
) -> Result<(), CliError> {
    // The models may be configured; without a configuration it is those that are shipped.
    let settings = match settings() {
        Err(CliError::Config(config::ConfigError::Unreadable(_))) => None,
        other => Some(other?),
    };
    let work = move || evaluate(&arguments, settings.as_ref());
    tokio::task::spawn_blocking(work).await.map_err(|error| CliError::failed("evaluating", error))?
}

fn evaluate(arguments: &Evaluate, settings: Option<&Settings>) -> Result<(), CliError> {
    let queries = dataset::queries(&arguments.corpus).map_err(CliError::Usage)?;
    let gate_queries =
        arguments.gate.as_deref().map(dataset::gate_queries).transpose().map_err(CliError::Usage)?;
    let temporary = tempfile::tempdir().map_err(|error| CliError::failed("making a folder", error))?;
    let data_dir = arguments.cache.as_deref().unwrap_or(temporary.path());
    let inspector = open(&arguments.corpus, data_dir, settings)?;

    let found = search(&inspector, &queries)?;
    let mut report = Report { retrieval: retrieval::measure(&found), gate: None };
    if let Some(queries) = &gate_queries {
        let (judged, verdicts) = judge(&inspector, queries)?;
        report.gate = Some(gate::measure(&judged));
        if let Some(folder) = &arguments.plots {
            plot(folder, &judged)?;
        }
        if let Some(file) = &arguments.trace {
            write(file, &trace(queries, &judged, &verdicts))?;
        }
    }
    if arguments.json {
        let text = serde_json::to_string(&report).map_err(|error| CliError::failed("writing JSON", error))?;
        say(&text);
    } else {
        show(&report);
    }
    Ok(())
}

/// Indexes the corpus as a documents source with the shipped defaults.
fn open(corpus: &Path, data_dir: &Path, settings: Option<&Settings>) -> Result<Inspector, CliError> {
    let kind =
        Kind::named("documents").ok_or_else(|| CliError::Failed("there is no kind documents".to_owned()))?;
    let file = corpus.join("corpus.jsonl");
    let own = json!({ "path": file }).as_object().cloned().unwrap_or_default();
    let config = SourceConfig::new("evaluated", kind, own);
    let state = Arc::new(SqliteState::new(data_dir));
    let surroundings =
        Surroundings { data_dir: data_dir.to_owned(), state, ..start::surroundings(settings)? };
    let failed = |error| CliError::failed("indexing the corpus", error);
    let inspector = Inspector::open(&config, &surroundings).map_err(failed)?;
    let report = inspector.refresh(&Bar::new("corpus")).map_err(failed)?;
    for warning in &report.warnings {
        complain(&format!("warning: {warning}"));
    }
    if let Some(note) = &inspector.calibration().map_err(failed)?.note {
        complain(&format!("note: {note}"));
    }
    Ok(inspector)
}

fn look(inspector: &Inspector, texts: &[&str]) -> Result<Vec<Seen>, CliError> {
    let mut seen = Vec::with_capacity(texts.len());
    let bar = Bar::new("queries");
    for batch in texts.chunks(BATCH) {
        bar.searched(seen.len(), texts.len());
        let found = inspector.search(batch, Profile::default());
        seen.extend(found.map_err(|error| CliError::failed("searching", error))?);
    }
    Ok(seen)
}

fn search(inspector: &Inspector, queries: &[Query]) -> Result<Vec<(Relevance, Rankings)>, CliError> {
    let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
    let rankings = look(inspector, &texts)?.into_iter().map(|seen| Rankings {
        lexical: seen.lexical,
        dense: seen.dense,
        hybrid: seen.hybrid,
    });
    Ok(queries.iter().map(|query| query.relevant.clone()).zip(rankings).collect())
}

/// What became of each gate query, and the verdict on it.
fn judge(inspector: &Inspector, queries: &[GateQuery]) -> Result<(Vec<Judged>, Vec<Verdict>), CliError> {
    // Several are degraded from one query: each text is searched for once.
    let texts: BTreeSet<&str> =
        queries.iter().flat_map(|query| [query.text.as_str(), query.full()]).collect();
    let texts: Vec<&str> = texts.into_iter().collect();
    let seen: BTreeMap<&str, Seen> = texts.iter().copied().zip(look(inspector, &texts)?).collect();
    let judged = queries.iter().filter_map(|query| {
        let relevant: Relevance = query.relevant.iter().map(|id| (id.clone(), 1.0)).collect();
        let ndcg = |seen: &Seen| metrics::ndcg(&seen.hybrid, &relevant, 10);
        let (seen, answered) = (seen.get(query.text.as_str())?, seen.get(query.full())?);
        let judged = Judged {
            kind: query.kind,
            has_relevant: !relevant.is_empty(),
            ndcg: ndcg(seen),
            ndcg_full: ndcg(answered),
            asked: seen.verdict.ask.is_some(),
            confidence: f64::from(seen.verdict.confidence),
        };
        Some((judged, seen.verdict.clone()))
    });
    Ok(judged.unzip())
}

fn trace(queries: &[GateQuery], judged: &[Judged], verdicts: &[Verdict]) -> String {
    queries
        .iter()
        .zip(judged.iter().zip(verdicts))
        .map(|(query, (judged, verdict))| {
            let line = json!({
                "kind": query.kind,
                "text": query.text,
                "ndcg10": judged.ndcg,
                "asked": judged.asked,
                "verdict": verdict,
            });
            format!("{line}\n")
        })
        .collect()
}

fn plot(folder: &Path, judged: &[Judged]) -> Result<(), CliError> {
    fs::create_dir_all(folder)
        .map_err(|error| CliError::failed(&format!("making {}", folder.display()), error))?;
    // Foreign queries cannot succeed and would only flatter the curve of what can be answered.
    let own = judged.iter().filter(|one| !one.kind.is_foreign());
    let drawn = |svg: Result<String, String>| svg.map_err(CliError::Failed);
    write(
        &folder.join("reliability.svg"),
        &drawn(plots::reliability_diagram(&gate::outcomes(judged.iter())))?,
    )?;
    write(&folder.join("precision-recall.svg"), &drawn(plots::asking_curve(&gate::doubts(own)))?)
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    fs::write(file, text).map_err(|error| CliError::failed(&format!("writing {}", file.display()), error))
}

fn show(report: &Report) {
    let retrieval = &report.retrieval;
    say("retrieval    nDCG@10            recall@10          recall@100         MRR@10");
    for (name, figures) in
        [("lexical", &retrieval.lexical), ("dense", &retrieval.dense), ("hybrid", &retrieval.hybrid)]
    {
        let cells = [figures.ndcg10, figures.recall10, figures.recall100, figures.mrr10].map(cell);
        say(format!("  {name:<10} {}", cells.join(" ")).trim_end());
    }
    let Some(gate) = &report.gate else { return };
    say("\ngate (label-free)");
    for (name, figure) in [
        ("answerable queries asked (false asks)", gate.false_asks),
        ("far from the corpus, asked", gate.ooc_far_asked),
        ("near the corpus, asked", gate.ooc_near_asked),
        ("degraded and failing, asked", gate.degraded_failing_asked),
        ("AUROC of confidence for failing", gate.auroc_failing),
        ("AUROC of confidence for near the corpus", gate.auroc_ooc_near),
        ("asked, of half real and half degraded", gate.asked_share),
        ("  nDCG@10 of these, never asking", gate.mix_never),
        ("  nDCG@10 of these, asking", gate.mix_ask),
        ("  nDCG@10 of these, always asking", gate.mix_always),
        ("expected calibration error", gate.ece),
    ] {
        say(format!("  {name:<42} {}", cell(figure)).trim_end());
    }
}

fn cell(figure: Estimate) -> String {
    match (figure.value, figure.low, figure.high) {
        (Some(value), Some(low), Some(high)) => format!("{value:.3} [{low:.3}, {high:.3}]"),
        _ => format!("{:<20}", "–"),
    }
}
