//! A documents source laid open for measurement: both rankings and the verdict of each query, which
//! a [`crate::sources::Source`] has no reason to show.

use std::sync::Arc;

use super::{
    contents::Contents,
    source::{Inner, open_inner},
};
use crate::{
    confidence::{
        Calibration, Verdict,
        gate::{self, Profile},
    },
    config::SourceConfig,
    search::hybrid::{DEPTH, Found},
    sources::{Progress, Refreshed, SourceError, registry::Surroundings},
};

/// A documents source that shows what it sees.
pub struct Inspector(Arc<Inner>);

/// What one query saw: document ids, best first, each once and ranked by its best passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// By keywords alone.
    pub lexical: Vec<String>,
    /// By meaning alone.
    pub dense: Vec<String>,
    /// As the source ranks.
    pub hybrid: Vec<String>,
    /// The gate's decision.
    pub verdict: Verdict,
}

impl Inspector {
    /// Opens the source that `config` describes.
    ///
    /// # Errors
    /// As when it is opened to be served.
    pub fn open(config: &SourceConfig, surroundings: &Surroundings) -> Result<Self, SourceError> {
        Ok(Self(open_inner(config, surroundings)?))
    }

    /// Brings the index up to date.
    ///
    /// # Errors
    /// What stood in the way.
    pub fn refresh(&self, progress: &dyn Progress) -> Result<Refreshed, SourceError> {
        self.0.refresh(progress)
    }

    /// The calibration in force.
    ///
    /// # Errors
    /// [`SourceError::Unavailable`] before the first refresh.
    pub fn calibration(&self) -> Result<Arc<Calibration>, SourceError> {
        Ok(self.0.in_force()?.version.calibration())
    }

    /// Searches for each of `queries` as the source would, and judges what came back as `profile` does.
    ///
    /// # Errors
    /// As a search.
    pub fn search(&self, queries: &[&str], profile: Profile) -> Result<Vec<Seen>, SourceError> {
        let contents = self.0.current()?;
        let found = self.0.look(&contents, queries)?;
        Ok(found.into_iter().map(|found| seen(&contents, &found, profile)).collect())
    }
}

fn seen(contents: &Contents, found: &Found, profile: Profile) -> Seen {
    let verdict =
        gate::decide(&found.signals, &contents.version.calibration().assess(&found.signals), profile);
    Seen {
        lexical: documents(contents, &found.lexical),
        dense: documents(contents, &found.dense),
        hybrid: documents(contents, &found.fused),
        verdict,
    }
}

/// The documents of ranked passages.
fn documents(contents: &Contents, passages: &[(u32, f32)]) -> Vec<String> {
    let mut documents: Vec<String> = Vec::new();
    for (ordinal, _) in passages.iter().take(2 * DEPTH) {
        if let Some((entry, ..)) = contents.passage(*ordinal)
            && !documents.contains(&entry.id)
        {
            documents.push(entry.id.clone());
        }
    }
    documents
}
