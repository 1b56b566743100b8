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
    /// The model that answered last.
    last: Mutex<Option<Arc<RemoteEmbedder>>>,
    /// When somebody last looked, and what came of it. Held while looking.
    looked: Mutex<Option<(Instant, Result<(), EmbedError>)>>,
}

impl RemoteEmbedding {
    /// An embedding that is asked through `transport`, and recognised by what `memory` keeps.
    /// Asks nothing yet.
    pub fn new(transport: Arc<Transport>, options: EmbeddingOptions, memory: Arc<dyn Memory>) -> Self {
        let line = Arc::new(Line::new(transport, options));
        let name = line.name();
        let (last, looked) = (Mutex::new(None), Mutex::new(None));
        Self { line, name, memory, pause: PAUSE, last, looked }
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

    /// The embedder of a model that was recognised, in place of the one before if it is another.
    fn meet(&self, sighting: &Sighting) -> Arc<RemoteEmbedder> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Arc::new(RemoteEmbedder::new(Arc::clone(&self.line), sighting));
        if let Some(before) = last.as_ref() {
            if before.id() == seen.id() {
                return Arc::clone(before);
            }
            tracing::warn!(
                before = before.id(),
                now = seen.id(),
                "another model answers under the same name; everything is embedded and calibrated again"
            );
            before.replace();
        }
        *last = Some(Arc::clone(&seen));
        seen
    }
}

impl Embedding for RemoteEmbedding {
    fn known(&self) -> Option<Arc<dyn Embedder>> {
        if let Some(last) = self.last.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
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
