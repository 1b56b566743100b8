//! The decision to answer or to ask, as one value that explains itself.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use super::policy::{MIN_THRESHOLD, Policy, Profile};
use super::{Assessment, Signals};

/// How far to trust the hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Confidence below 0.4.
    Low,
    /// Confidence from 0.4 up.
    Moderate,
    /// Confidence from 0.7 up. The gate never asks here, whatever the profile.
    High,
}

impl Level {
    /// The level of a confidence.
    pub(super) fn of(confidence: f32) -> Self {
        match confidence {
            c if c >= HIGH => Self::High,
            c if c >= MODERATE => Self::Moderate,
            _ => Self::Low,
        }
    }
}

/// What the hits are, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// They fit.
    Ok,
    /// They fit badly, and say so.
    Weak,
    /// They fit several readings of the query.
    Ambiguous,
    /// There are none.
    Empty,
}

/// Why to ask: the first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// None of the query's words occurs, and nothing is near its meaning.
    NoMatch,
    /// At least half of what the query says is in words the source does not know.
    OffVocabulary,
    /// Nothing is near the query's meaning.
    LowScore,
    /// The hits are about different things.
    Ambiguous,
    /// The query says too little to pick among many hits.
    TooBroad,
}

/// What kind of question suits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Ask for more words.
    Clarification,
    /// Offer what was found, or more words.
    ChoiceAndClarification,
}

impl Reason {
    /// The form of question that suits the reason.
    pub fn form(self) -> Form {
        match self {
            Self::NoMatch | Self::OffVocabulary | Self::LowScore => Form::Clarification,
            Self::Ambiguous | Self::TooBroad => Form::ChoiceAndClarification,
        }
    }

    /// Its code on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoMatch => "no_match",
            Self::OffVocabulary => "off_vocabulary",
            Self::LowScore => "low_score",
            Self::Ambiguous => "ambiguous",
            Self::TooBroad => "too_broad",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A signal on the asking side of its threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Crossing {
    /// Name of the signal or probability.
    pub signal: &'static str,
    /// Its value.
    pub value: f32,
    /// The threshold it crossed.
    pub threshold: f32,
    /// Whether it lies above the threshold (or on it) rather than below.
    pub above: bool,
}

impl fmt::Display for Crossing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.above { "above" } else { "below" };
        write!(f, "{} {:.2} {side} {:.2}", self.signal, self.value, self.threshold)
    }
}

/// The decision on one search, with everything it was taken from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// How far to trust the hits.
    pub level: Level,
    /// What the hits are, in a word.
    pub status: Status,
    /// (1 − p_ooc)(1 − p_miss), in [0, 1].
    pub confidence: f32,
    /// Why to ask; absent when it is better to answer.
    pub ask: Option<Reason>,
    /// The question that suits the reason.
    pub form: Option<Form>,
    /// Which signals spoke for asking, the deciding ones first.
    pub crossed: Vec<Crossing>,
    /// What it was taken from; nothing for a lookup, which has no scores.
    pub signals: Option<Signals>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ask {
            Some(reason) => write!(f, "ask ({reason})")?,
            None => f.write_str("answer")?,
        }
        write!(f, ", confidence {:.2}", self.confidence)?;
        for (n, crossing) in self.crossed.iter().enumerate() {
            write!(f, "{}{crossing}", if n == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

/// Share of unknown words from which the words are the trouble.
const OFF_VOCABULARY: f32 = 0.5;
/// Standardised cosine below which two hits are about different things.
const INCOHERENT: f32 = -0.5;
/// Clusters from which the hits are about different things.
const MANY_CLUSTERS: u32 = 4;
/// The cuts between levels. No profile asks from HIGH up.
pub(super) const HIGH: f32 = 0.7;
const MODERATE: f32 = 0.4;

/// Decides whether to answer or to ask, and why.
///
/// Asks when `p_ooc` is above its threshold, when `p_miss` is above the profile's, or when both
/// together leave less confidence than the profile wants ([`Profile::least_confidence`]).
///
/// Labels, where there are any, set one threshold on confidence that takes the place of all these,
/// unless the owner set thresholds by hand.
pub fn decide(signals: &Signals, assessment: &Assessment, policy: impl Into<Policy>) -> Verdict {
    let policy: Policy = policy.into();
    let above = |signal, value: f32, threshold: f32| Crossing { signal, value, threshold, above: true };
    let below = |signal, value: f32, threshold: f32| Crossing { signal, value, threshold, above: false };
    let (t_ooc, t_miss) = (policy.t_ooc.unwrap_or(assessment.t_ooc), policy.t_miss());
    let by_hand = policy.t_ooc.is_some() || policy.t_miss.is_some();
    let labelled = assessment.least.filter(|_| !by_hand).map(|least| policy.profile.of(least));
    let least = labelled.unwrap_or_else(|| policy.least_confidence());
    let doubtful = assessment.confidence < least;
    // At high confidence nothing counts, whatever was set by hand.
    let counts = (labelled.is_none() || doubtful) && assessment.confidence < HIGH;
    let foreign = counts && assessment.p_ooc > t_ooc;
    let missing = counts && assessment.p_miss > t_miss;
    let empty = signals.lexical_hits == 0 && signals.dense_hits == 0;

    let mut crossed = Vec::new();
    if foreign {
        crossed.push(above("p_ooc", assessment.p_ooc, t_ooc));
    }
    if missing {
        crossed.push(above("p_miss", assessment.p_miss, t_miss));
    }
    if doubtful && crossed.is_empty() {
        crossed.push(below("confidence", assessment.confidence, least));
    }
    let mut ask = None;
    if empty {
        ask = Some(Reason::NoMatch);
    } else if foreign || missing || doubtful {
        if signals.oov >= OFF_VOCABULARY {
            crossed.push(above("oov", signals.oov, OFF_VOCABULARY));
        }
        if signals.coh_min < INCOHERENT {
            crossed.push(below("coh_min", signals.coh_min, INCOHERENT));
        }
        if signals.clusters >= MANY_CLUSTERS {
            crossed.push(above("clusters", signals.clusters as f32, MANY_CLUSTERS as f32));
        }
        ask = Some(reason(signals, foreign));
    }
    let level = Level::of(assessment.confidence);
    let status = match (empty, ask, level) {
        (true, ..) => Status::Empty,
        (_, Some(Reason::Ambiguous), _) => Status::Ambiguous,
        (_, Some(_), _) | (_, None, Level::Low) => Status::Weak,
        (_, None, _) => Status::Ok,
    };
    Verdict {
        level: if empty { Level::Low } else { level },
        status,
        confidence: if empty { 0.0 } else { assessment.confidence },
        ask,
        form: ask.map(Reason::form),
        crossed,
        signals: Some(*signals),
    }
}

/// The first reason that fits, given that we ask.
fn reason(signals: &Signals, foreign: bool) -> Reason {
    if signals.lexical_hits == 0 && foreign {
        Reason::NoMatch
    } else if signals.oov >= OFF_VOCABULARY {
        Reason::OffVocabulary
    } else if foreign {
        Reason::LowScore
    } else if signals.coh_min < INCOHERENT || signals.clusters >= MANY_CLUSTERS {
        Reason::Ambiguous
    } else {
        Reason::TooBroad
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn signals(oov: f32, lexical_hits: u32, coh_min: f32, clusters: u32) -> Signals {
        Signals {
            d_mean5: 0.3,
            b_top1: 4.0,
            b_relative: 0.7,
            coh_min,
            oov,
            clusters,
            lexical_hits,
            dense_hits: 100,
            gap: 0.0,
            entropy: 1.0,
        }
    }

    fn assessment(p_ooc: f32, p_miss: f32) -> Assessment {
        Assessment { p_ooc, p_miss, t_ooc: 0.5, confidence: (1.0 - p_ooc) * (1.0 - p_miss), least: None }
    }

    #[rstest]
    #[case(0.9, 0.9, signals(1.0, 0, -1.0, 9), Some(Reason::NoMatch))]
    #[case(0.1, 0.9, signals(1.0, 0, -1.0, 9), Some(Reason::OffVocabulary))]
    #[case(0.9, 0.9, signals(0.5, 5, -1.0, 9), Some(Reason::OffVocabulary))]
    #[case(0.9, 0.1, signals(0.2, 5, -1.0, 9), Some(Reason::LowScore))]
    #[case(0.1, 0.9, signals(0.2, 5, -0.6, 1), Some(Reason::Ambiguous))]
    #[case(0.1, 0.9, signals(0.2, 5, 0.0, 4), Some(Reason::Ambiguous))]
    #[case(0.1, 0.9, signals(0.2, 5, 0.0, 3), Some(Reason::TooBroad))]
    #[case(0.4, 0.4, signals(0.2, 5, 0.0, 1), Some(Reason::TooBroad))]
    #[case(0.1, 0.3, signals(1.0, 5, -1.0, 9), None)]
    fn reasons_come_in_order(
        #[case] p_ooc: f32,
        #[case] p_miss: f32,
        #[case] signals: Signals,
        #[case] reason: Option<Reason>,
    ) {
        let verdict = decide(&signals, &assessment(p_ooc, p_miss), Profile::Balanced);
        assert_eq!(verdict.ask, reason);
        assert_eq!(verdict.form, reason.map(Reason::form));
    }

    #[test]
    fn profiles_differ_in_how_readily_they_ask() {
        let asks = |p_miss, profile| {
            decide(&signals(0.0, 5, 0.0, 1), &assessment(0.0, p_miss), profile).ask.is_some()
        };
        for (p_miss, expected) in
            [(0.34, [false; 3]), (0.38, [true, false, false]), (0.6, [true, true, false]), (0.8, [true; 3])]
        {
            let profiles = [Profile::Eager, Profile::Balanced, Profile::Reserved];
            assert_eq!(profiles.map(|p| asks(p_miss, p)), expected, "{p_miss}");
        }
    }

    #[test]
    fn nothing_found_is_empty_whatever_the_model_says() {
        let nothing = Signals { dense_hits: 0, ..signals(0.0, 0, 0.0, 0) };
        let verdict = decide(&nothing, &assessment(0.0, 0.0), Profile::Reserved);
        assert_eq!((verdict.status, verdict.ask), (Status::Empty, Some(Reason::NoMatch)));
        assert_eq!((verdict.level, verdict.confidence), (Level::Low, 0.0));
    }

    #[test]
    fn a_verdict_explains_itself() {
        let verdict = decide(&signals(0.25, 5, -1.0, 2), &assessment(0.25, 0.75), Profile::Balanced);
        assert_eq!(
            verdict.to_string(),
            "ask (ambiguous), confidence 0.19: p_miss 0.75 above 0.50, coh_min -1.00 below -0.50"
        );
        let json = serde_json::to_value(&verdict).unwrap();
        assert_eq!(json["ask"], "ambiguous");
        assert_eq!(json["form"], "choice_and_clarification");
        assert_eq!(json["status"], "ambiguous");
        let doubt = decide(&signals(0.0, 5, 0.0, 1), &assessment(0.375, 0.375), Profile::Balanced);
        assert_eq!(doubt.to_string(), "ask (too_broad), confidence 0.39: confidence 0.39 below 0.58");
        let sure = decide(&signals(0.0, 5, 0.0, 1), &assessment(0.0, 0.25), Profile::Balanced);
        assert_eq!(sure.to_string(), "answer, confidence 0.75");
        assert_eq!((sure.level, sure.status), (Level::High, Status::Ok));
    }

    proptest! {
        #[test]
        fn never_asks_when_highly_confident(
            p_ooc in 0.0_f32..=1.0,
            p_miss in 0.0_f32..=1.0,
            t_ooc in 0.5_f32..1.0,
            refitted in prop::option::of((0.0_f32..=1.0, 0.0_f32..=HIGH)),
            by_hand in prop::option::of((MIN_THRESHOLD..=1.0, MIN_THRESHOLD..=1.0)),
        ) {
            let plain = Assessment { t_ooc, ..assessment(p_ooc, p_miss) };
            let assessment = refitted.map_or(plain, |(confidence, least)| {
                Assessment { confidence, least: Some([least; 3]), ..plain }
            });
            for profile in [Profile::Eager, Profile::Balanced, Profile::Reserved] {
                let (t_miss, t_ooc) = by_hand.unzip();
                let verdict = decide(&signals(0.0, 5, 0.0, 1), &assessment, Policy { profile, t_miss, t_ooc });
                prop_assert!(verdict.level != Level::High || verdict.ask.is_none());
                prop_assert_eq!(verdict.ask.is_some(), !verdict.crossed.is_empty());
            }
        }
    }
}
