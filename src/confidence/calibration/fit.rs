//! Learning what signals mean in a source, without labels, from queries of our own making.

use super::{Calibration, Corpus, Outline, Probe, Seen, Sizes, miss_features, ooc_features, probes};
use crate::confidence::{
    logistic::Logistic,
    stats::{auroc, quantile, rounded},
};
use crate::random::Rng;

/// What a fit depends on besides the corpus.
#[derive(Debug, Clone)]
pub struct Params {
    /// Seed of the draw: the same corpus and seed give the same calibration to the digit.
    pub seed: u64,
    /// Size of P.
    pub in_corpus: usize,
    /// Size of N at most.
    pub foreign: usize,
    /// Size of K.
    pub known_item: usize,
    /// Fewest passages to learn from.
    pub min_passages: usize,
    /// Time to record, RFC 3339 in UTC.
    pub fitted_at: String,
    /// Embedding to record.
    pub embedding: String,
    /// Recipe to record.
    pub recipe: String,
    /// What the corpus is made of, to record.
    pub outline: Outline,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            seed: 20_250_401,
            in_corpus: 300,
            foreign: 300,
            known_item: 500,
            min_passages: 50,
            fitted_at: String::new(),
            embedding: String::new(),
            recipe: String::new(),
            outline: Outline::default(),
        }
    }
}

/// L2 penalty, as scikit-learn's `C`.
const C: f64 = 0.3;
/// Share of N that stands for misses in `p_miss`.
const FOREIGN_MISSES: usize = 150;
/// Below this AUROC the embedding cannot tell foreign queries, and `p_ooc` is ignored.
const MIN_SEPARATION: f64 = 0.9;
/// Fewest queries of a set to learn from.
const MIN_QUERIES: usize = 30;
/// Queries put to the index at a time, between reports of progress.
const BATCH: usize = 64;

/// Fits a calibration. `bank` holds everyday queries in the corpus' language; `progress` is told how
/// many queries of how many are done. A corpus too small or too poor gets [`Calibration::pooled`].
///
/// # Errors
/// What the index says when it cannot search.
pub fn fit(
    corpus: &dyn Corpus,
    bank: &[&str],
    params: &Params,
    mut progress: impl FnMut(usize, usize),
) -> Result<Calibration, String> {
    let stamp = |calibration: Calibration| Calibration {
        passages: corpus.passages(),
        outline: params.outline.clone(),
        seed: params.seed,
        fitted_at: Some(params.fitted_at.clone()),
        embedding: Some(params.embedding.clone()),
        recipe: Some(params.recipe.clone()),
        ..calibration
    };
    if corpus.passages() < params.min_passages {
        let note =
            format!("too few passages to calibrate ({} of {})", corpus.passages(), params.min_passages);
        return Ok(stamp(Calibration::pooled(note)));
    }
    let mut rng = Rng::new(params.seed);
    let inside = probes::in_corpus(corpus, params.in_corpus, &mut rng);
    let known = probes::known_items(corpus, params.known_item, &mut rng);
    let mut foreign: Vec<Probe> =
        bank.iter().map(|query| Probe { query: (*query).to_owned(), leave_out: None }).collect();
    rng.shuffle(&mut foreign);
    foreign.truncate(params.foreign);

    let known_probes: Vec<Probe> = known.iter().map(|item| item.probe.clone()).collect();
    let total = inside.len() + foreign.len() + known.len();
    let mut done = 0;
    let mut observe = |probes: &[Probe]| -> Result<Vec<Seen>, String> {
        let mut seen = Vec::with_capacity(probes.len());
        for batch in probes.chunks(BATCH) {
            seen.extend(corpus.observe(batch)?);
            done += batch.len();
            progress(done, total);
        }
        Ok(seen)
    };
    let p = observe(&inside)?;
    let n = observe(&foreign)?;
    let k = observe(&known_probes)?;

    // An everyday query whose every word is known and that lies as near as the corpus' own is
    // no example of foreign: the corpus may be about just that.
    let near = |seen: &[Seen]| seen.iter().map(|s| f64::from(s.signals.d_mean5)).collect::<Vec<f64>>();
    let typical = quantile(&near(&p), 0.5).unwrap_or(f64::INFINITY);
    let n: Vec<Seen> =
        n.into_iter().filter(|s| s.signals.oov > 0.0 || f64::from(s.signals.d_mean5) < typical).collect();
    let sizes = Sizes { in_corpus: p.len(), foreign: n.len(), known_item: k.len() };
    if [sizes.in_corpus, sizes.foreign, sizes.known_item].iter().any(|&size| size < MIN_QUERIES) {
        return Ok(stamp(Calibration::pooled("too little text to cut calibration queries from")));
    }

    let ooc: Vec<(Vec<f64>, bool)> = p
        .iter()
        .map(|s| (ooc_features(&s.signals).to_vec(), false))
        .chain(n.iter().map(|s| (ooc_features(&s.signals).to_vec(), true)))
        .collect();
    let miss: Vec<(Vec<f64>, bool)> = k
        .iter()
        .zip(&known)
        .map(|(seen, item)| {
            let found = seen.passages.iter().any(|&hit| {
                hit == item.passage
                    || (item.any_of_document
                        && corpus.passage(hit).is_some_and(|hit| hit.document == item.document))
            });
            (miss_features(&seen.signals).to_vec(), !found)
        })
        .chain(n.iter().take(FOREIGN_MISSES).map(|s| (miss_features(&s.signals).to_vec(), true)))
        .collect();
    let (Some(ooc), Some(miss)) = (Logistic::fit(&ooc, C), Logistic::fit(&miss, C)) else {
        return Ok(stamp(Calibration::pooled("no calibration query found its own passage")));
    };

    let sep = auroc(&near(&p), &near(&n)).unwrap_or(0.5);
    let over_p: Vec<f64> = p.iter().map(|s| ooc.probability(&ooc_features(&s.signals))).collect();
    let separates = sep >= MIN_SEPARATION;
    Ok(stamp(Calibration {
        calibrated: true,
        t_ooc: separates.then(|| quantile(&over_p, 0.9).unwrap_or(0.5).max(0.5)).map(rounded),
        note: (!separates).then(|| {
            format!("the embedding does not tell foreign queries from fitting ones (AUROC {sep:.2}): only word matches guard against them")
        }),
        ooc,
        miss,
        sep: Some(rounded(sep)),
        sizes,
        ..Calibration::pooled("")
    }))
}
