//! What stands in for a calibration where a source is too small to learn from.

use super::{Calibration, Outline, Sizes};
use crate::confidence::logistic::{Logistic, Term};

impl Calibration {
    /// Weights for the bundled embedding, marked uncalibrated: the mean, in units of the raw signals, of
    /// fits to four collections (abstracts on aeronautics, information science and biomedicine, and
    /// twenty READMEs), of 214 to 2,683 passages. `note` says why it stands in.
    ///
    /// Each judged by the mean of the other three: 0 to 0.9 % of the answerable queries of the three
    /// collections of abstracts asked, 92 to 99 % of the everyday ones; of the READMEs 3 sensible
    /// queries in 45, and every one-word and off-topic one. Signals of another embedding have other
    /// scales: there this is a guess until there is enough text to fit.
    pub fn pooled(note: impl Into<String>) -> Self {
        // Raw units: mean 0 and deviation 1 leave the weights as they are.
        let raw = |weight| Term { weight, mean: 0.0, deviation: 1.0 };
        Self {
            calibrated: false,
            ooc: Logistic { bias: 5.822, terms: vec![raw(-20.601)] },
            miss: Logistic { bias: 3.586, terms: vec![raw(-6.322), raw(-1.774)] },
            t_ooc: Some(0.5),
            sep: None,
            sizes: Sizes::default(),
            passages: 0,
            outline: Outline::default(),
            labelled: None,
            seed: 0,
            fitted_at: None,
            embedding: None,
            recipe: None,
            note: Some(note.into()),
        }
    }
}
