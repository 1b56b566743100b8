//! Knowing when to ask: the signals of a search, what they mean in a source (calibration), the
//! reasons, and the gate that decides between answering and asking. Pure arithmetic over values:
//! it searches nothing itself and knows neither sources nor the protocol.

pub mod bank;
pub mod calibration;
pub mod gate;
pub mod logistic;
pub mod matches;
pub mod merge;
pub mod nagging;
pub mod options;
mod policy;
mod signals;
mod similarity;
pub(crate) mod stats;

pub use calibration::{Assessment, Calibration};
pub use gate::{Form, Level, Policy, Profile, Reason, Status, Verdict, decide};
pub use signals::{Observation, Signals, clusters};
pub use similarity::Similarity;
