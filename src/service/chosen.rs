//! What the two asking tools share of a conversation: the option that was picked, and whether
//! sources and arguments let a round ask at all.

use super::{ClarifyMode, Failure, Service};
use crate::{
    dialogue::{Dialogue, MayAsk, Silence},
    sources::{Hit, Reference, SourceError, registry::Entry},
};

/// What became of a choice.
pub(super) enum Chosen {
    /// It is there.
    Hit(Box<Hit>),
    /// It is gone.
    Gone,
}

/// The option the user picked when asked, or else the caller by `argument`, looked up in `entries`.
pub(super) async fn chosen(
    entries: &[&Entry],
    argument: Option<&Reference>,
    dialogue: &Dialogue,
) -> Result<Option<Chosen>, Failure> {
    let of = |reference: &Reference| entries.iter().find(|entry| entry.slug() == reference.source);
    // An elicited option was offered by us, but may come from a client that dropped the state: one
    // that does not parse or is of a source outside this call is no answer.
    let elicited = dialogue
        .choice()
        .and_then(|text| text.parse::<Reference>().ok())
        .filter(|choice| of(choice).is_some());
    let Some(reference) = elicited.or_else(|| argument.cloned()) else { return Ok(None) };
    let Some(entry) = of(&reference) else { return Ok(None) };
    let located = match entry.source() {
        Ok(source) => source.locate(&reference).await,
        Err(error) => Err(error),
    };
    match located {
        Ok(hit) => Ok(Some(Chosen::Hit(Box::new(hit)))),
        Err(SourceError::ReferenceNotFound(_)) => Ok(Some(Chosen::Gone)),
        Err(error) => Err(Failure::from_source(entry.slug(), &error)),
    }
}

impl Service {
    /// The dialogue as far as `entries` and the call's `mode` let it ask.
    pub(super) fn allowed(&self, entries: &[&Entry], mode: ClarifyMode, dialogue: &Dialogue) -> Dialogue {
        let mut dialogue = dialogue.clone();
        if mode == ClarifyMode::Never || !entries.iter().any(|entry| self.source_clarifies(entry)) {
            dialogue.may_ask = MayAsk::No(Silence::Disabled);
        }
        dialogue
    }
}
