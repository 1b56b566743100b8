//! Knowing when to ask: the signals of a search, what they mean in a source (calibration), the
//! reasons, and the gate that decides between answering and asking. Pure arithmetic over values:
//! it searches nothing itself and knows neither sources nor the protocol.

pub mod calibration;
pub mod gate;
mod signals;
mod similarity;

pub use calibration::{Assessment, Calibration};
pub use signals::{Observation, Signals};
pub use similarity::Similarity;
