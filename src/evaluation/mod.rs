//! Measuring retrieval and the gate on labelled queries: data sets, metrics, intervals, figures,
//! and plots. Knows rankings and verdicts; neither how an index finds them nor how a command prints.

pub mod dataset;
pub mod estimate;
pub mod gate;
pub mod metrics;
pub mod plots;
pub mod retrieval;

use serde::Serialize;

/// All figures of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// How well the right documents are found.
    pub retrieval: retrieval::Retrieval,
    /// How well the gate tells when to ask; absent without a gate file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<gate::Gate>,
}
