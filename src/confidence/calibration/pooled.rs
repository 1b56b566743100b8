//! What stands in for a calibration where a source is too small to learn from.

use super::{Calibration, Sizes};
use crate::confidence::logistic::{Logistic, Term};

impl Calibration {
    /// Weights for the bundled embedding pooled over several collections, marked uncalibrated.
    pub fn pooled(note: impl Into<String>) -> Self {
        Self {
            calibrated: false,
            ooc: Logistic { bias: 0.0, terms: vec![Term { weight: -1.0, mean: 0.28, deviation: 0.03 }] },
            miss: Logistic {
                bias: 0.0,
                terms: vec![
                    Term { weight: -1.0, mean: 0.35, deviation: 0.13 },
                    Term { weight: -2.0, mean: 1.0, deviation: 0.6 },
                ],
            },
            t_ooc: Some(0.5),
            sep: None,
            sizes: Sizes::default(),
            passages: 0,
            seed: 0,
            fitted_at: None,
            embedding: None,
            recipe: None,
            note: Some(note.into()),
        }
    }
}
