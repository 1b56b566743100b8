//! A remote embedding over time. What answers under a name is recognised by how it answers to a text
//! of ours, whenever a source is refreshed; between two refreshes it is taken to be the same.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{
    embedder::{Line, RemoteEmbedder},
    options::EmbeddingOptions,
    sighting::{Memory, Sighting},
    transport::Transport,
};
use crate::search::embedder::{EmbedError, Embedder, Embedding};

/// How long a look is good for. Sources are refreshed together, and need one look, not one each.
const PAUSE: Duration = Duration::from_secs(5);

/// See the module.
pub struct RemoteEmbedding {
    line: Arc<Line>,
    name: String,
    memory: Arc<dyn Memory>,
    pause: Duration,
    /// The models that were met, the one that answers now last.
    met: Mutex<Vec<Arc<RemoteEmbedder>>>,
    /// When somebody last looked, and what came of it. Held while looking.
    looked: Mutex<Option<(Instant, Result<(), EmbedError>)>>,
}

impl RemoteEmbedding {
    /// An embedding that is asked through `transport`, and recognised by what `memory` keeps.
    /// Asks nothing yet.
    pub fn new(transport: Arc<Transport>, options: EmbeddingOptions, memory: Arc<dyn Memory>) -> Self {
        let line = Arc::new(Line::new(transport, options));
        let name = line.name();
        let (met, looked) = (Mutex::new(Vec::new()), Mutex::new(None));
        Self { line, name, memory, pause: PAUSE, met, looked }
    }

    /// The same, looking again only after `pause`.
    #[must_use]
    pub fn pausing(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Asks for the canary and recognises the model by it.
    fn look(&self) -> Result<(), EmbedError> {
        let see = || self.line.look().map_err(|trouble| self.line.give_up(&trouble));
        let kept = |error: String| EmbedError::Failed(format!("keeping how the model answered: {error}"));
        let (now, model) = see()?;
        // A new face is looked at twice: a service that answers differently each time, because several
        // models take turns or because it is broken, must not have everything embedded over and over.
        if !self.memory.knows(&self.name, &now).map_err(kept)? && !see()?.0.is_same(&now) {
            tracing::warn!(
                model = self.line.options.endpoint.model,
                "embedding service at {} answers to the same text with different vectors; do several models take \
                 turns behind that address?",
                self.line.options.endpoint.url
            );
            return Err(EmbedError::Unavailable("its embedding service contradicts itself".to_owned()));
        }
        let sighting = self.memory.note(&self.name, &now).map_err(kept)?;
        self.meet(&sighting).recognised_as(model);
        Ok(())
    }

    /// The embedder of a model that was recognised: from now on it answers, and no other. One that was
    /// met before is the same as then, since sources may have kept it.
    fn meet(&self, sighting: &Sighting) -> Arc<RemoteEmbedder> {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = RemoteEmbedder::new(Arc::clone(&self.line), sighting);
        let before = met.last().map(|before| before.id().to_owned());
        let seen = match met.iter().position(|other| other.id() == seen.id()) {
            Some(at) => met.remove(at),
            None => Arc::new(seen),
        };
        if let Some(before) = before.filter(|before| before != seen.id()) {
            tracing::warn!(
                before,
                now = seen.id(),
                "another model answers under the same name; everything is embedded and calibrated again"
            );
        }
        met.iter().for_each(|other| other.answers(false));
        seen.answers(true);
        met.push(Arc::clone(&seen));
        seen
    }
}

impl Embedding for RemoteEmbedding {
    fn known(&self) -> Option<Arc<dyn Embedder>> {
        if let Some(last) = self.met.lock().unwrap_or_else(PoisonError::into_inner).last() {
            return Some(Arc::clone(last) as Arc<dyn Embedder>);
        }
        match self.memory.last(&self.name) {
            Ok(sighting) => sighting.map(|sighting| self.meet(&sighting) as Arc<dyn Embedder>),
            Err(error) => {
                tracing::warn!(error, "what is known of the embedding cannot be read");
                None
            }
        }
    }

    fn current(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match looked.as_ref().filter(|(at, _)| at.elapsed() < self.pause) {
            Some((_, result)) => result.clone(),
            None => {
                // Started before the look, so that what is known is replaced and not forgotten.
                self.known();
                let result = self.look();
                *looked = Some((Instant::now(), result.clone()));
                result
            }
        };
        result?;
        self.known().ok_or_else(|| EmbedError::Failed("the model was forgotten".to_owned()))
    }
}
