//! What labelled queries add to a calibration: a probability that fits their outcomes, and a
//! threshold at the share of false asks that the owner accepts.

use serde::{Deserialize, Serialize};

use crate::confidence::{
    gate::{HIGH, Profile},
    logistic::Logistic,
    stats::{quantile, rounded},
};

/// Fewest labelled queries to learn from.
const MIN_LABELLED: usize = 100;

/// Fewest failures, and successes, among them: a slope needs both.
const MIN_OUTCOMES: usize = 5;

/// L2 penalty of the refit, weak: one slope over a hundred outcomes needs no more.
const C: f64 = 10.0;

/// A query whose answer is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledQuery {
    /// Its words.
    pub query: String,
    /// Ids of documents that answer it, any of them.
    pub documents: Vec<String>,
}

/// Labelled queries, and what their owner accepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Labels {
    /// The queries.
    pub queries: Vec<LabelledQuery>,
    /// Share of answerable queries that may be asked about, in (0, 0.5].
    pub false_asks: f64,
}

/// What was learnt from labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Labelled {
    /// From the logit of the label-free confidence to the probability of success (Platt, 1999).
    platt: Logistic,
    /// Confidence below which to ask: eager, balanced, reserved.
    pub(super) least: [f64; 3],
    /// Labelled queries it was learnt from.
    pub queries: usize,
    /// How many of them found a right document among the first ten.
    pub answerable: usize,
    /// The share of false asks that was asked for.
    pub false_asks: f64,
}

impl Labelled {
    /// Learns from the label-free confidence and the success of each labelled query.
    ///
    /// # Errors
    /// Why there is nothing to learn, in words for the owner.
    pub fn fit(outcomes: &[(f64, bool)], false_asks: f64) -> Result<Self, String> {
        let answerable = outcomes.iter().filter(|(_, success)| *success).count();
        let failing = outcomes.len() - answerable;
        if outcomes.len() < MIN_LABELLED {
            return Err(format!(
                "{} labelled queries whose documents are in the source are too few; at least {MIN_LABELLED} are needed",
                outcomes.len()
            ));
        }
        if answerable < MIN_OUTCOMES || failing < MIN_OUTCOMES {
            return Err(format!(
                "{answerable} labelled queries find their document and {failing} do not; at least {MIN_OUTCOMES} of each are needed: add harder or easier ones"
            ));
        }
        let rows: Vec<(Vec<f64>, bool)> =
            outcomes.iter().map(|(confidence, success)| (vec![logit(*confidence)], *success)).collect();
        let platt = Logistic::fit(&rows, C).ok_or("the labels cannot be told apart")?;
        let rising = platt.terms.first().is_some_and(|term| term.weight > 0.0);
        if !rising {
            return Err(
                "the labels contradict the confidence: queries it trusts fail more often; check the labels"
                    .to_owned(),
            );
        }
        let answered: Vec<f64> = outcomes
            .iter()
            .filter(|(_, success)| *success)
            .map(|(confidence, _)| platt.probability(&[logit(*confidence)]))
            .collect();
        // Twice the share for the eager, half of it for the reserved. The gate never asks at high confidence.
        let least = [2.0, 1.0, 0.5].map(|times| {
            let share = (times * false_asks).clamp(0.0, 1.0);
            rounded(quantile(&answered, share).unwrap_or(0.0).min(f64::from(HIGH)))
        });
        Ok(Self { platt, least, queries: outcomes.len(), answerable, false_asks })
    }

    /// The probability of success at a label-free `confidence`.
    pub fn confidence(&self, confidence: f64) -> f64 {
        self.platt.probability(&[logit(confidence)])
    }

    /// The confidence below which a profile asks.
    pub fn least(&self, profile: Profile) -> f64 {
        profile.of(self.least)
    }
}

/// ln(p / (1 − p)), kept finite.
fn logit(p: f64) -> f64 {
    let p = p.clamp(1e-4, 1.0 - 1e-4);
    (p / (1.0 - p)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred confidences; those of 0.3 and more succeed, but for every tenth.
    fn outcomes() -> Vec<(f64, bool)> {
        (0..100).map(|n| (f64::from(n) / 100.0, n >= 30 && n % 10 != 0)).collect()
    }

    #[test]
    fn the_threshold_asks_about_the_share_that_was_accepted() {
        let labelled = Labelled::fit(&outcomes(), 0.1).unwrap();
        let asked = |profile| {
            let least = labelled.least(profile);
            let asked = outcomes()
                .iter()
                .filter(|(confidence, success)| *success && labelled.confidence(*confidence) < least)
                .count();
            asked as f64 / labelled.answerable as f64
        };
        assert!((asked(Profile::Balanced) - 0.1).abs() < 0.02, "{}", asked(Profile::Balanced));
        assert!((asked(Profile::Eager) - 0.2).abs() < 0.02);
        assert!((asked(Profile::Reserved) - 0.05).abs() < 0.02);
    }

    #[test]
    fn confidence_becomes_the_share_that_succeeds() {
        // Of those at 0.2 half succeed, of those at 0.8 nine in ten.
        let at = |confidence: f64, successes: usize| (0..100).map(move |n| (confidence, n < successes));
        let outcomes: Vec<(f64, bool)> = at(0.2, 50).chain(at(0.8, 90)).collect();
        let labelled = Labelled::fit(&outcomes, 0.03).unwrap();
        // Two points determine the line; the penalty bends it by less than a point.
        assert!((labelled.confidence(0.2) - 0.5).abs() < 0.01, "{}", labelled.confidence(0.2));
        assert!((labelled.confidence(0.8) - 0.9).abs() < 0.01, "{}", labelled.confidence(0.8));
    }

    #[test]
    fn labels_that_teach_nothing_are_refused_in_words() {
        let few = Labelled::fit(&outcomes()[..50], 0.03).unwrap_err();
        assert!(few.contains("50 labelled queries") && few.contains("100"), "{few}");
        let all: Vec<(f64, bool)> = outcomes().iter().map(|(c, _)| (*c, true)).collect();
        assert!(Labelled::fit(&all, 0.03).unwrap_err().contains("0 do not"));
        let upside_down: Vec<(f64, bool)> = outcomes().iter().map(|(c, s)| (1.0 - *c, *s)).collect();
        assert!(Labelled::fit(&upside_down, 0.03).unwrap_err().contains("contradict"));
    }
}
