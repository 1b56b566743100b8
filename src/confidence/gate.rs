//! The decision to answer or to ask, as one value that explains itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Assessment, Signals};

/// How readily the gate asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Asks sooner.
    Eager,
    /// The default.
    #[default]
    Balanced,
    /// Asks only when retrieval very likely failed.
    Reserved,
}

impl Profile {
    /// Threshold on `p_miss` above which the gate asks.
    pub fn t_miss(self) -> f32 {
        match self {
            Self::Eager => 0.4,
            Self::Balanced => 0.5,
            Self::Reserved => 0.7,
        }
    }
}

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
    /// What it was taken from.
    pub signals: Signals,
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
/// The cuts between levels. Above 0.6 no profile asks: eager asks from p_miss > 0.4 on.
const HIGH: f32 = 0.7;
const MODERATE: f32 = 0.4;

/// Decides whether to answer or to ask, and why.
pub fn decide(signals: &Signals, assessment: &Assessment, profile: Profile) -> Verdict {
    let above = |signal, value: f32, threshold: f32| Crossing { signal, value, threshold, above: true };
    let foreign = assessment.p_ooc > assessment.t_ooc;
    let missing = assessment.p_miss > profile.t_miss();
    let empty = signals.lexical_hits == 0 && signals.dense_hits == 0;

    let mut crossed = Vec::new();
    if foreign {
        crossed.push(above("p_ooc", assessment.p_ooc, assessment.t_ooc));
    }
    if missing {
        crossed.push(above("p_miss", assessment.p_miss, profile.t_miss()));
    }
    let mut ask = None;
    if empty {
        ask = Some(Reason::NoMatch);
    } else if foreign || missing {
        if signals.oov >= OFF_VOCABULARY {
            crossed.push(above("oov", signals.oov, OFF_VOCABULARY));
        }
        if signals.coh_min < INCOHERENT {
            crossed.push(Crossing {
                signal: "coh_min",
                value: signals.coh_min,
                threshold: INCOHERENT,
                above: false,
            });
        }
        if signals.clusters >= MANY_CLUSTERS {
            crossed.push(above("clusters", signals.clusters as f32, MANY_CLUSTERS as f32));
        }
        ask = Some(reason(signals, foreign));
    }
    let level = match assessment.confidence {
        c if c >= HIGH => Level::High,
        c if c >= MODERATE => Level::Moderate,
        _ => Level::Low,
    };
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
        signals: *signals,
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
