//! Searching one or several sources for a query and judging what came back.

use futures::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;

use super::Failure;
use crate::{
    confidence::{
        Signals, Similarity,
        gate::{self, Profile, Verdict},
        merge,
    },
    sources::{Candidates, Evidence, Hit, SearchRequest, registry::Entry},
};

/// Evidence and options look at this many hits, however few the caller wants to see.
pub(super) const DEPTH: usize = 10;

/// What a query found, judged.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Hits of all sources, best first.
    pub hits: Vec<Hit>,
    /// The judgement; `None` if there was nothing to judge.
    pub judged: Option<Judged>,
    /// Cosines between the first hits; 0 between those of different sources.
    pub similarity: Similarity,
    /// Sources that could not be searched.
    pub unavailable: Vec<Unavailable>,
}

/// The judgement of the most confident source.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// The gate's decision.
    pub verdict: Verdict,
    /// The numbers it rests on.
    pub signals: Signals,
    /// Whether the source could be calibrated.
    pub calibrated: bool,
    /// Words of the query that the source does not know, as written.
    pub unknown_terms: Vec<String>,
    /// How many distinct words of the query it knows.
    pub known_terms: usize,
}

/// A source that could not be searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unavailable {
    /// Its slug.
    pub source: String,
    /// Why, in words.
    pub message: String,
}

impl Found {
    /// Probability that the hits satisfy the query, 0 if there are none.
    pub(super) fn confidence(&self) -> f32 {
        self.judged.as_ref().map_or(0.0, |judged| judged.verdict.confidence)
    }

    /// How many distinct words of the query the most confident source knows.
    pub(super) fn known_terms(&self) -> usize {
        self.judged.as_ref().map_or(0, |judged| judged.known_terms)
    }

    /// Whether the gate would ask.
    pub(super) fn wants_to_ask(&self) -> bool {
        self.judged.as_ref().is_some_and(|judged| judged.verdict.ask.is_some())
    }

    /// What a clarified search and the plain one come to together: the clarified one if it is
    /// more confident, otherwise both, interleaved by rank.
    pub(super) fn merged(plain: Self, clarified: Self) -> Self {
        if clarified.confidence() > plain.confidence() || plain.hits.is_empty() {
            return clarified;
        }
        let key = |hit: &Hit| hit.reference.clone();
        let hits = merge::interleave(&clarified.hits, &plain.hits, key);
        // The cosines belong to the plain order; options are only built from the clarified one.
        let similarity = clarified.similarity;
        Self { hits, similarity, judged: clarified.judged, unavailable: clarified.unavailable }
    }
}

/// Searches `entries` for `query`. A source that fails is left out and named; the call fails only
/// if all do.
pub(super) async fn find(
    entries: &[&Entry],
    query: &str,
    limit: usize,
    default: Profile,
) -> Result<Found, Failure> {
    let limit = limit.max(DEPTH);
    let searches = entries.iter().map(|entry| async move {
        let request = SearchRequest { query: query.to_owned(), limit };
        match entry.source() {
            Ok(source) => source.search(request).await,
            Err(error) => Err(error),
        }
    });
    let mut parts = Vec::new();
    let mut unavailable = Vec::new();
    let mut first_failure = None;
    for (entry, result) in entries.iter().zip(join_all(searches).await) {
        match result {
            Ok(candidates) => parts.push((*entry, judge(entry, candidates, default))),
            Err(error) => {
                let failure = Failure::from_source(entry.slug(), &error);
                unavailable
                    .push(Unavailable { source: entry.slug().to_owned(), message: failure.message.clone() });
                first_failure.get_or_insert(failure);
            }
        }
    }
    match (parts.is_empty(), first_failure) {
        (true, Some(failure)) => Err(failure),
        _ => Ok(Found { unavailable, ..combine(parts.into_iter().map(|(_, found)| found).collect(), limit) }),
    }
}

fn judge(entry: &Entry, candidates: Candidates, default: Profile) -> Found {
    let Evidence::Ranked(evidence) = candidates.evidence;
    let policy = entry.config().clarify.policy(default);
    let judged = (!candidates.hits.is_empty()).then(|| Judged {
        verdict: gate::decide(&evidence.signals, &evidence.calibration.assess(&evidence.signals), policy),
        signals: evidence.signals,
        calibrated: evidence.calibration.calibrated,
        unknown_terms: evidence.unknown_terms,
        known_terms: evidence.known_terms,
    });
    if let Some(judged) = &judged {
        trace(entry.slug(), judged);
    }
    Found { hits: candidates.hits, judged, similarity: evidence.similarity, unavailable: Vec::new() }
}

/// What the gate saw and decided, for whoever traces. Numbers only: no word of the query.
fn trace(source: &str, judged: &Judged) {
    let Judged { verdict, signals, .. } = judged;
    let _span = tracing::debug_span!(
        "gate",
        source,
        d_mean5 = signals.d_mean5,
        b_top1 = signals.b_top1,
        coh_min = signals.coh_min,
        oov = signals.oov,
        clusters = signals.clusters,
        lexical_hits = signals.lexical_hits,
        dense_hits = signals.dense_hits,
    )
    .entered();
    let ask = verdict.ask.map(gate::Reason::code);
    tracing::debug!(confidence = verdict.confidence, ask, "judged");
}

/// Puts the findings of several sources together. Confidence is comparable across sources and
/// scores are not, so a hit ranks by its score weighted with its source's confidence.
fn combine(mut parts: Vec<Found>, limit: usize) -> Found {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return only;
    }
    let mut weighted: Vec<(f32, usize, usize)> = Vec::new();
    for (part, found) in parts.iter().enumerate() {
        let confidence = found.confidence();
        for (rank, hit) in found.hits.iter().enumerate() {
            weighted.push((hit.score * confidence, part, rank));
        }
    }
    weighted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    weighted.truncate(limit);
    let cosine = |a: usize, b: usize| match (weighted.get(a), weighted.get(b)) {
        (Some((_, left, i)), Some((_, right, j))) if left == right => {
            parts.get(*left).map_or(0.0, |part| part.similarity.get(*i, *j))
        }
        _ => 0.0,
    };
    let similarity = Similarity::new(weighted.len().min(DEPTH), cosine);
    let hits = weighted
        .iter()
        .filter_map(|(score, part, rank)| {
            let hit = parts.get(*part)?.hits.get(*rank)?;
            Some(Hit { score: *score, ..hit.clone() })
        })
        .collect();
    let judged = parts
        .into_iter()
        .filter_map(|part| part.judged)
        .max_by(|a, b| a.verdict.confidence.total_cmp(&b.verdict.confidence));
    Found { hits, judged, similarity, unavailable: Vec::new() }
}
