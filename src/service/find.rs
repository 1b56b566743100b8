//! Searching one or several sources for a query and judging what came back.

use futures::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;

use super::Failure;
use crate::{
    confidence::{
        Signals, Similarity,
        gate::{self, Profile, Verdict},
        matches::{self, Lookup},
        merge,
    },
    dialogue::{Choice, Dialogue, Reply},
    sources::{
        Candidates, Evidence, Hit, MatchEvidence, OpenPart, RankedEvidence, SearchRequest, Settled,
        registry::Entry,
    },
    text::excerpt,
};

/// Evidence and options look at this many hits, however few the caller wants to see.
pub(super) const DEPTH: usize = 10;
/// How sure it is that somebody means what they picked.
const CHOSEN: f32 = 0.99;
/// How likely what is meant is among the readings of a query with open parts.
const OPEN: f32 = 0.9;
/// Longest label of an option, in characters.
const LABEL: usize = 120;

/// What a query found, judged.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Hits of all sources, best first.
    pub hits: Vec<Hit>,
    /// The judgement; `None` if there was nothing to judge.
    pub judged: Option<Judged>,
    /// Cosines between the first hits; 0 between those of different sources.
    pub similarity: Similarity,
    /// Where things were looked up: those that fit equally well, as far as a person can pick from them.
    pub fitting: Option<Vec<Choice>>,
    /// Parts of the query that have to be settled first.
    pub open: Vec<OpenPart>,
    /// Sources that could not be searched.
    pub unavailable: Vec<Unavailable>,
}

/// The judgement of the most confident source.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// The gate's decision.
    pub verdict: Verdict,
    /// The numbers it rests on; a lookup has none.
    pub signals: Option<Signals>,
    /// Probability that what is meant is among the hits, however many fit.
    pub relevance: f32,
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

    /// Whether the gate would ask. More fitting things than a form can offer are listed instead.
    pub(super) fn wants_to_ask(&self) -> bool {
        let listed = self.fitting.as_ref().is_some_and(|fitting| fitting.len() > matches::MOST);
        !listed && self.judged.as_ref().is_some_and(|judged| judged.verdict.ask.is_some())
    }

    fn nothing() -> Self {
        let similarity = Similarity::new(0, |_, _| 0.0);
        Self {
            hits: Vec::new(),
            judged: None,
            similarity,
            fitting: None,
            open: Vec::new(),
            unavailable: Vec::new(),
        }
    }

    /// How many hits to show whoever did not say how many they want.
    pub(super) fn worth_showing(&self, usual: usize) -> usize {
        usual.max(self.fitting.as_ref().map_or(0, Vec::len))
    }

    /// The same, now that somebody has said which one is meant.
    pub(super) fn settled(mut self) -> Self {
        if let Some(judged) = &mut self.judged {
            let lookup = Lookup { fitting: 1, dominant: true, reliability: CHOSEN, unexplained: false };
            judged.verdict = matches::decide(lookup, Profile::default());
        }
        self
    }

    fn relevance(&self) -> f32 {
        self.judged.as_ref().map_or(0.0, |judged| judged.relevance)
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
        Self { hits, similarity, ..clarified }
    }
}

/// Searches `entries` for `query`. A source that fails is left out and named; the call fails only
/// if all do.
pub(super) async fn find(
    entries: &[&Entry],
    query: &str,
    limit: usize,
    default: Profile,
    dialogue: &Dialogue,
) -> Result<Found, Failure> {
    let settled: Vec<Settled> = dialogue.parts().map(settled).collect();
    let settled = &settled;
    let limit = limit.max(DEPTH);
    let searches = entries.iter().map(|entry| async move {
        let request = SearchRequest {
            query: query.to_owned(),
            limit,
            lenient: entries.len() == 1,
            settled: settled.clone(),
        };
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
    let Candidates { hits, evidence } = candidates;
    let found = match evidence {
        Evidence::Ranked(evidence) => judge_ranked(entry, hits, evidence, default),
        Evidence::Open(parts) => judge_open(hits, parts),
        Evidence::Matched(evidence) => {
            judge_matched(hits, evidence, entry.config().clarify.policy(default).profile)
        }
    };
    if let Some(judged) = &found.judged {
        trace(entry.slug(), judged);
    }
    found
}

fn judge_ranked(entry: &Entry, hits: Vec<Hit>, evidence: RankedEvidence, default: Profile) -> Found {
    let policy = entry.config().clarify.policy(default);
    let judged = (!hits.is_empty()).then(|| {
        let verdict =
            gate::decide(&evidence.signals, &evidence.calibration.assess(&evidence.signals), policy);
        Judged {
            relevance: verdict.confidence,
            verdict,
            signals: Some(evidence.signals),
            calibrated: evidence.calibration.calibrated,
            unknown_terms: evidence.unknown_terms,
            known_terms: evidence.known_terms,
        }
    });
    Found {
        hits,
        judged,
        similarity: evidence.similarity,
        fitting: None,
        open: Vec::new(),
        unavailable: Vec::new(),
    }
}

fn judge_matched(hits: Vec<Hit>, evidence: MatchEvidence, profile: Profile) -> Found {
    let MatchEvidence { fitting, dominant, reliability, unknown_terms, known_terms } = evidence;
    let unexplained = !unknown_terms.is_empty();
    let verdict = matches::decide(Lookup { fitting, dominant, reliability, unexplained }, profile);
    let relevance = if fitting == 0 { 0.0 } else { reliability };
    let judged = Judged { verdict, signals: None, relevance, calibrated: false, unknown_terms, known_terms };
    let choices = labelled(hits.iter().take(fitting));
    let similarity = Similarity::new(hits.len().min(DEPTH), |_, _| 0.0);
    Found {
        hits,
        judged: Some(judged),
        similarity,
        fitting: Some(choices),
        open: Vec::new(),
        unavailable: Vec::new(),
    }
}

/// A query with parts that several things fit, or none: whatever was found rests on a guess.
fn judge_open(hits: Vec<Hit>, open: Vec<OpenPart>) -> Found {
    let nowhere = open.iter().any(|part| part.options.is_empty());
    let readings = open.iter().map(|part| part.options.len().max(1)).product::<usize>().max(2);
    let fitting = if nowhere { 0 } else { readings.min(matches::MOST) };
    let lookup = Lookup { fitting, dominant: false, reliability: OPEN, unexplained: false };
    let judged = Judged {
        verdict: matches::decide(lookup, Profile::default()),
        signals: None,
        relevance: OPEN,
        calibrated: false,
        unknown_terms: Vec::new(),
        known_terms: 0,
    };
    Found { hits, judged: Some(judged), open, ..Found::nothing() }
}

fn settled((slot, reply): (&str, &Reply)) -> Settled {
    Settled { slot: slot.to_owned(), choice: reply.choice.clone(), text: reply.text.clone() }
}

/// Hits as options, with labels that tell them apart.
pub(super) fn labelled<'a>(hits: impl Iterator<Item = &'a Hit>) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    for hit in hits {
        let mut label = excerpt(hit.label.as_deref().unwrap_or(&hit.title), LABEL);
        if choices.iter().any(|earlier| earlier.label == label) {
            let detail = excerpt(&hit.document, 20);
            label = format!("{} ({detail})", excerpt(&label, LABEL - 23));
        }
        choices.push(Choice { reference: hit.reference.to_string(), label });
    }
    choices
}

/// What the gate saw and decided, for whoever traces. Numbers only: no word of the query.
fn trace(source: &str, judged: &Judged) {
    let Judged { verdict, signals, .. } = judged;
    let signals = signals.as_ref();
    let _span = tracing::debug_span!(
        "gate",
        source,
        d_mean5 = signals.map(|s| s.d_mean5),
        b_top1 = signals.map(|s| s.b_top1),
        coh_min = signals.map(|s| s.coh_min),
        oov = signals.map(|s| s.oov),
        clusters = signals.map(|s| s.clusters),
        lexical_hits = signals.map(|s| s.lexical_hits),
        dense_hits = signals.map(|s| s.dense_hits),
    )
    .entered();
    let ask = verdict.ask.map(gate::Reason::code);
    tracing::debug!(confidence = verdict.confidence, ask, "judged");
}

/// Puts the findings of several sources together. Relevance is comparable across sources and
/// scores are not, so a hit ranks by its score weighted with its source's relevance.
fn combine(mut parts: Vec<Found>, limit: usize) -> Found {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return only;
    }
    let mut weighted: Vec<(f32, usize, usize)> = Vec::new();
    for (part, found) in parts.iter().enumerate() {
        let relevance = found.relevance();
        for (rank, hit) in found.hits.iter().enumerate() {
            weighted.push((hit.score * relevance, part, rank));
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
    // The source most likely to hold what is meant speaks for all.
    let speaker = parts.into_iter().max_by(|a, b| a.relevance().total_cmp(&b.relevance()));
    let Some(Found { judged, fitting, open, .. }) = speaker else { return Found::nothing() };
    Found { hits, judged, similarity, fitting, open, unavailable: Vec::new() }
}
