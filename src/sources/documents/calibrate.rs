//! Learning what scores mean in a version of the index: the index as something calibration can
//! put questions to, and the labels its owner has given.

use std::collections::HashSet;

use super::version::Version;
use crate::{
    confidence::{
        Calibration, bank,
        calibration::{self, Corpus, CorpusPassage, Labels, Outline, Params, Probe, Seen, Sketch},
    },
    search::analysis::Language,
    sources::{Progress, SourceError, Stage},
};

/// How many passages of a search calibration looks at.
const TOP: usize = 10;

/// Queries embedded and searched for at a time, between reports of progress.
const BATCH: usize = 64;

/// A version under calibration.
struct Calibrating<'a> {
    version: &'a Version,
}

/// Sketches of what a version is made of.
pub(super) fn outline(version: &Version) -> Result<Outline, SourceError> {
    let passages = version.listing.documents.iter().flat_map(|entry| &entry.document.passages);
    let mut terms = Vec::new();
    version
        .index
        .lexical()
        .vocabulary(|term| terms.push(fingerprint(term)))
        .map_err(|error| SourceError::internal("reading the vocabulary", error))?;
    Ok(Outline {
        passages: Sketch::of(passages.map(|passage| fingerprint(&passage.hash))),
        vocabulary: Sketch::of(terms.into_iter()),
    })
}

/// Passages looked at to tell the language, spread over the corpus, and characters of each.
const SAMPLED: usize = 64;
const SAMPLE: usize = 400;

/// The language the passages are mostly in, as far as it can be told.
pub(super) fn detect(version: &Version) -> Option<Language> {
    let passages = version.passages() as usize;
    let sample: String = (0..passages)
        .step_by(passages.div_ceil(SAMPLED).max(1))
        .filter_map(|n| version.passage(n as u32))
        .flat_map(|(_, passage, _)| passage.text.chars().take(SAMPLE).chain(['\n']))
        .collect();
    Language::detect(&sample)
}

/// FNV-1a (Fowler, Noll and Vo): the same on every machine, which the standard library's is not.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Fits a calibration of `version`, whose [`outline`] is given, and refits it to `labels` where there are any. Labels that
/// teach nothing (any more) leave it label-free, and the reason beside it.
pub(super) fn calibrate(
    version: &Version,
    outline: Outline,
    language: Option<Language>,
    labels: Option<&Labels>,
    now: &str,
    progress: &dyn Progress,
) -> Result<(Calibration, Option<String>), SourceError> {
    progress.step(Stage::Calibrate, 0, 0);
    let corpus = Calibrating { version };
    let step = |done: usize, total: usize| progress.step(Stage::Calibrate, done as u64, total as u64);
    let params = Params {
        fitted_at: now.to_owned(),
        embedding: version.embedder.id().to_owned(),
        recipe: version.pinned.recipe.clone(),
        outline,
        ..Params::default()
    };
    // Everyday queries in another language than the texts' would be foreign for the wrong reason.
    let language = language.or_else(|| detect(version)).unwrap_or_default();
    let bank: Vec<&str> = bank::utterances(language.code()).collect();
    let failed = |error| SourceError::internal("calibrating", error);
    let fitted = calibration::fit(&corpus, &bank, &params, step).map_err(failed)?;
    let Some(labels) = labels else { return Ok((fitted, None)) };
    let outcomes = outcomes(&corpus, &fitted, labels, progress)?;
    match fitted.clone().with_labels(&outcomes, labels.false_asks) {
        Ok(refitted) => Ok((refitted, None)),
        Err(why) => Ok((fitted, Some(why))),
    }
}

/// The label-free confidence and the success of every labelled query that has a document here.
fn outcomes(
    corpus: &Calibrating<'_>,
    calibration: &Calibration,
    labels: &Labels,
    progress: &dyn Progress,
) -> Result<Vec<(f64, bool)>, SourceError> {
    let version = corpus.version;
    let first = |id: &String| version.listing.find(id).map(|entry| entry.first as usize);
    let known: Vec<(Probe, HashSet<usize>)> = labels
        .queries
        .iter()
        .map(|labelled| {
            let probe = Probe { query: labelled.query.clone(), leave_out: None };
            (probe, labelled.documents.iter().filter_map(first).collect())
        })
        .filter(|(_, documents): &(Probe, HashSet<usize>)| !documents.is_empty())
        .collect();
    let mut outcomes = Vec::with_capacity(known.len());
    for batch in known.chunks(BATCH) {
        progress.step(Stage::Calibrate, outcomes.len() as u64, known.len() as u64);
        let probes: Vec<Probe> = batch.iter().map(|(probe, _)| probe.clone()).collect();
        let seen = corpus.observe(&probes).map_err(|error| SourceError::internal("calibrating", error))?;
        outcomes.extend(seen.iter().zip(batch).map(|(seen, (_, documents))| {
            let document = |passage: &usize| corpus.passage(*passage).map(|passage| passage.document);
            let success =
                seen.passages.iter().filter_map(document).any(|document| documents.contains(&document));
            (f64::from(calibration.assess(&seen.signals).confidence), success)
        }));
    }
    Ok(outcomes)
}

impl Corpus for Calibrating<'_> {
    fn passages(&self) -> usize {
        self.version.passages() as usize
    }

    fn passage(&self, n: usize) -> Option<CorpusPassage> {
        let (entry, passage, _) = self.version.passage(u32::try_from(n).ok()?)?;
        Some(CorpusPassage {
            document: entry.first as usize,
            title: entry.document.title.clone(),
            text: passage.text.clone(),
        })
    }

    fn content_words(&self, text: &str) -> Vec<String> {
        self.version.index.lexical().content_words(text)
    }

    fn observe(&self, probes: &[Probe]) -> Result<Vec<Seen>, String> {
        let texts: Vec<&str> = probes.iter().map(|probe| probe.query.as_str()).collect();
        let vectors = self.version.embedder.embed_queries(&texts).map_err(|error| error.to_string())?;
        probes
            .iter()
            .zip(vectors)
            .map(|(probe, vector)| {
                let leave_out = probe.leave_out.and_then(|n| u32::try_from(n).ok());
                let found =
                    self.version.index.search(&probe.query, &vector, leave_out).map_err(|e| e.to_string())?;
                let passages = found.fused.iter().take(TOP).map(|hit| hit.0 as usize).collect();
                Ok(Seen { signals: found.signals, passages })
            })
            .collect()
    }
}
