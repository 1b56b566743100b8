//! `askback evaluate`: how well retrieval and the gate do on labelled queries.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::json;

use super::{CliError, complain, progress::Bar, say, start};
use crate::{
    confidence::gate::Profile,
    config::{self, Card, Settings, SourceClarify, SourceConfig},
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
    let judged = gate_queries.as_ref().map(|queries| judge(&inspector, queries)).transpose()?;
    let report = Report {
        retrieval: retrieval::measure(&found),
        gate: judged.as_ref().map(|traced| gate::measure(&verdicts(traced))),
    };
    if let (Some(traced), Some(folder)) = (&judged, &arguments.plots) {
        plot(folder, &verdicts(traced))?;
    }
    if let (Some(traced), Some(queries), Some(file)) = (&judged, &gate_queries, &arguments.trace) {
        write(file, &trace(queries, traced))?;
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
    let config = SourceConfig {
        slug: "evaluated".to_owned(),
        kind,
        name: "evaluated corpus".to_owned(),
        description: String::new(),
        card: Card::default(),
        clarify: SourceClarify::default(),
        settings: json!({ "path": file }).as_object().cloned().unwrap_or_default(),
    };
    let surroundings = Surroundings { data_dir: data_dir.to_owned(), ..start::surroundings(settings)? };
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

/// A gate query's outcome, and what it was seen by.
struct Traced {
    judged: Judged,
    seen: Seen,
}

fn judge(inspector: &Inspector, queries: &[GateQuery]) -> Result<Vec<Traced>, CliError> {
    let full = |query: &GateQuery| query.full.clone().unwrap_or_else(|| query.text.clone());
    // Several are degraded from one query: each text is searched for once.
    let texts: BTreeSet<String> =
        queries.iter().flat_map(|query| [query.text.clone(), full(query)]).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let seen: BTreeMap<&str, Seen> = texts.iter().copied().zip(look(inspector, &texts)?).collect();
    let ndcg = |query: &GateQuery, seen: &Seen| {
        let relevant: Relevance = query.relevant.iter().map(|id| (id.clone(), 1.0)).collect();
        metrics::ndcg(&seen.hybrid, &relevant, 10)
    };
    let traced = queries.iter().filter_map(|query| {
        let (seen, answered) = (seen.get(query.text.as_str())?, seen.get(full(query).as_str())?);
        let judged = Judged {
            kind: query.kind,
            has_relevant: !query.relevant.is_empty(),
            ndcg: ndcg(query, seen),
            ndcg_full: ndcg(query, answered),
            asked: seen.verdict.ask.is_some(),
            confidence: f64::from(seen.verdict.confidence),
        };
        Some(Traced { judged, seen: seen.clone() })
    });
    Ok(traced.collect())
}

fn verdicts(traced: &[Traced]) -> Vec<Judged> {
    traced.iter().map(|traced| traced.judged.clone()).collect()
}

fn trace(queries: &[GateQuery], traced: &[Traced]) -> String {
    queries
        .iter()
        .zip(traced)
        .map(|(query, Traced { judged, seen })| {
            let line = json!({
                "kind": query.kind,
                "text": query.text,
                "ndcg10": judged.ndcg,
                "asked": judged.asked,
                "verdict": seen.verdict,
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
