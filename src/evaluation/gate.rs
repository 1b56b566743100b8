//! How well the gate tells when to ask.

use serde::Serialize;

use super::{
    dataset::Kind,
    estimate::{Estimate, estimate, mean},
    metrics::{auroc, calibration_error},
};

/// A gate query with what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What it is.
    pub kind: Kind,
    /// Whether anything is known to be relevant to it.
    pub has_relevant: bool,
    /// nDCG@10 of its hits.
    pub ndcg: f64,
    /// nDCG@10 of the hits for the query it was degraded from; its own where it was not.
    pub ndcg_full: f64,
    /// Whether the gate asks.
    pub asked: bool,
    /// Confidence in its hits, in [0, 1].
    pub confidence: f64,
}

/// The figures. *Answerable* is a real query with nDCG@10 above 0; *failing* has nDCG@10 of 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// Share of answerable queries asked about: what nags.
    pub false_asks: Estimate,
    /// Share of queries to no corpus asked about.
    pub ooc_far_asked: Estimate,
    /// Share of queries to another corpus asked about.
    pub ooc_near_asked: Estimate,
    /// Share of degraded queries that fail and are asked about.
    pub degraded_failing_asked: Estimate,
    /// AUROC of (the lack of) confidence telling failing from others, over real and degraded queries.
    pub auroc_failing: Estimate,
    /// AUROC of (the lack of) confidence telling queries to another corpus from real ones.
    pub auroc_ooc_near: Estimate,
    /// Share asked about, of half real and half degraded queries.
    pub asked_share: Estimate,
    /// nDCG@10 on half real, half degraded queries if nobody is ever asked.
    pub mix_never: Estimate,
    /// The same when those who are asked supply the full query.
    pub mix_ask: Estimate,
    /// The same when everybody supplies the full query.
    pub mix_always: Estimate,
    /// Expected calibration error of confidence as the probability of nDCG@10 above 0, over all
    /// kinds; what is foreign cannot succeed.
    pub ece: Estimate,
}

impl Judged {
    fn failing(&self) -> bool {
        self.ndcg <= 0.0
    }

    fn answerable(&self) -> bool {
        self.kind == Kind::Real && !self.failing()
    }
}

/// Confidence and success of every query: what calibration is judged by.
pub fn outcomes<'a>(judged: impl Iterator<Item = &'a Judged>) -> Vec<(f64, bool)> {
    judged.map(|one| (one.confidence, !one.failing())).collect()
}

/// Lack of confidence and failure of every query: what the choice of a threshold is judged by.
pub fn doubts<'a>(judged: impl Iterator<Item = &'a Judged>) -> Vec<(f64, bool)> {
    judged.map(|one| (1.0 - one.confidence, one.failing())).collect()
}

/// The figures of judged queries.
pub fn measure(judged: &[Judged]) -> Gate {
    let mut kinds: Vec<Kind> = judged.iter().map(|one| one.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let strata: Vec<Vec<&Judged>> =
        kinds.iter().map(|kind| judged.iter().filter(|one| one.kind == *kind).collect()).collect();
    let asked = |of: fn(&Judged) -> bool| {
        estimate(&strata, |sample| {
            mean(sample.iter().filter(|one| of(one)).map(|one| f64::from(u8::from(one.asked))))
        })
    };
    // Half and half, whatever the numbers of real and of degraded queries are.
    let mix = |value: fn(&Judged) -> f64| {
        estimate(&strata, |sample| {
            let real = mean(sample.iter().filter(|one| one.kind == Kind::Real).map(|one| value(one)))?;
            let degraded = mean(sample.iter().filter(|one| one.kind.is_degraded()).map(|one| value(one)))?;
            Some(0.5 * real + 0.5 * degraded)
        })
    };
    let doubt = |of: fn(&Judged) -> Option<bool>| {
        estimate(&strata, |sample| {
            auroc(sample.iter().filter_map(|one| Some((1.0 - one.confidence, of(one)?))))
        })
    };
    Gate {
        false_asks: asked(Judged::answerable),
        ooc_far_asked: asked(|one| one.kind == Kind::OocFar),
        ooc_near_asked: asked(|one| one.kind == Kind::OocNear),
        degraded_failing_asked: asked(|one| one.kind.is_degraded() && one.has_relevant && one.failing()),
        auroc_failing: doubt(|one| (!one.kind.is_foreign() && one.has_relevant).then(|| one.failing())),
        auroc_ooc_near: doubt(|one| match one.kind {
            Kind::OocNear => Some(true),
            Kind::Real => Some(false),
            _ => None,
        }),
        asked_share: mix(|one| f64::from(u8::from(one.asked))),
        mix_never: mix(|one| one.ndcg),
        mix_ask: mix(|one| if one.asked { one.ndcg_full } else { one.ndcg }),
        mix_always: mix(|one| one.ndcg_full),
        ece: estimate(&strata, |sample| calibration_error(&outcomes(sample.iter().copied()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: Kind, ndcg: f64, ndcg_full: f64, asked: bool, confidence: f64) -> Judged {
        Judged { kind, has_relevant: !kind.is_foreign(), ndcg, ndcg_full, asked, confidence }
    }

    #[test]
    fn figures_by_hand() {
        let gate = measure(&[
            judged(Kind::Real, 1.0, 1.0, false, 1.0),
            judged(Kind::Real, 0.5, 0.5, true, 0.2),
            judged(Kind::Keep1, 0.0, 1.0, true, 0.1),
            judged(Kind::OffVocabulary, 0.0, 0.5, false, 0.9),
            judged(Kind::DropNoun, 0.5, 0.5, false, 0.8),
            judged(Kind::OocNear, 0.0, 0.0, true, 0.0),
            judged(Kind::OocFar, 0.0, 0.0, false, 0.6),
        ]);
        let close = |estimate: Estimate, expected: f64| {
            let value = estimate.value.unwrap();
            assert!((value - expected).abs() < 1e-8, "{value} {expected}");
        };
        close(gate.false_asks, 0.5);
        close(gate.ooc_far_asked, 0.0);
        close(gate.ooc_near_asked, 1.0);
        close(gate.degraded_failing_asked, 0.5);
        // Doubts of failing: 0.9, 0.1; of others: 0, 0.8, 0.2. Pairs won: 3 + 1 of 6.
        close(gate.auroc_failing, 4.0 / 6.0);
        close(gate.auroc_ooc_near, 1.0);
        close(gate.asked_share, 0.5 * 0.5 + 0.5 / 3.0);
        close(gate.mix_never, 0.5 * 0.75 + 0.5 * 0.5 / 3.0);
        close(gate.mix_ask, 0.5 * 0.75 + 0.5 * 1.5 / 3.0);
        close(gate.mix_always, 0.5 * 0.75 + 0.5 * 2.0 / 3.0);
        // Seven bins of one: |p − success| = 0, .8, .1, .9, .2, 0, .6.
        close(gate.ece, 2.6 / 7.0);
    }

    #[test]
    fn what_is_not_there_has_no_figure() {
        let gate = measure(&[judged(Kind::OocFar, 0.0, 0.0, true, 0.0)]);
        assert_eq!(
            (gate.ooc_far_asked.value, gate.false_asks.value, gate.mix_ask.value),
            (Some(1.0), None, None)
        );
    }
}
