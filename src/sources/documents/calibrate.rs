//! The index as something calibration can put questions to.

use crate::confidence::calibration::{Corpus, CorpusPassage, Probe, Seen};

use super::version::Version;

/// How many passages of a search calibration looks at.
const TOP: usize = 10;

/// A version under calibration.
pub(super) struct Calibrating<'a> {
    pub(super) version: &'a Version,
}

impl Corpus for Calibrating<'_> {
    fn passages(&self) -> usize {
        self.version.passages() as usize
    }

    fn passage(&self, n: usize) -> Option<CorpusPassage> {
        let (entry, passage, _) = self.version.passage(u32::try_from(n).ok()?)?;
        Some(CorpusPassage {
            document: entry.first as usize,
            title: entry.document.title.clone(),
            text: passage.text.clone(),
        })
    }

    fn content_words(&self, text: &str) -> Vec<String> {
        self.version.index.lexical().content_words(text)
    }

    fn observe(&self, probes: &[Probe]) -> Result<Vec<Seen>, String> {
        let texts: Vec<&str> = probes.iter().map(|probe| probe.query.as_str()).collect();
        let vectors = self.version.embedder.embed_queries(&texts).map_err(|error| error.to_string())?;
        probes
            .iter()
            .zip(vectors)
            .map(|(probe, vector)| {
                let leave_out = probe.leave_out.and_then(|n| u32::try_from(n).ok());
                let found =
                    self.version.index.search(&probe.query, &vector, leave_out).map_err(|e| e.to_string())?;
                let passages = found.fused.iter().take(TOP).map(|hit| hit.0 as usize).collect();
                Ok(Seen { signals: found.signals, passages })
            })
            .collect()
    }
}
