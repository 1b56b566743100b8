//! Taking contributions, and keeping up with those that other processes took.
//!
//! A contribution is recorded in the state store, which is the truth; what answers is brought up to it
//! before every call. So nothing has to be told to anybody: not to this process after a crash, and not
//! to others.

use std::sync::{Arc, PoisonError};

use time::OffsetDateTime;

use super::{
    contents::{CaughtUp, Contents, Notes},
    contributed,
    embed::vectors,
    ingest::store_failed,
    source::Inner,
};
use crate::{
    sources::{Quiet, SourceError},
    store::{
        Documents,
        state::{Contributed, Contribution, Entry, Item},
    },
};

impl Inner {
    /// Records a contribution, unless it was before, and puts it in force here.
    pub(super) fn contribute(&self, contribution: &Contribution) -> Result<Contributed, SourceError> {
        let contents = self.in_force()?;
        if let Some(repeated) = self.state.repeated(contribution).map_err(store_failed)? {
            return Ok(repeated);
        }
        if !matches!(contribution.entry, Entry::Annotate { .. }) {
            contributed::check(contribution.title.as_deref(), &contribution.content)?;
            // Embedded and cached before it is recorded: what cannot be embedded now is not acknowledged.
            let embedder = contents.version.embedder.as_ref();
            let document = contributed::document(&item(contribution), embedder);
            let documents = Documents::from([(String::new(), document)]);
            vectors(&self.store, embedder, &documents, &Quiet)?;
        }
        let recorded =
            self.state.contribute(contribution, OffsetDateTime::now_utc()).map_err(store_failed)?;
        if let Err(error) = self.current() {
            // It is recorded: the next call tries again.
            tracing::warn!(source = self.slug, %error, "a contribution is recorded but not yet in the index");
        }
        Ok(recorded)
    }

    /// What answers, with all that was contributed until now.
    pub(super) fn current(&self) -> Result<Arc<Contents>, SourceError> {
        let contents = self.in_force()?;
        let latest = self.state.latest(&self.slug).map_err(store_failed)?;
        if has(&contents, latest) {
            return Ok(contents);
        }
        let _one = self.catching_up.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have been quicker, and a newer version may be in force.
        let contents = self.in_force()?;
        if has(&contents, latest) {
            return Ok(contents);
        }
        let caught_up = Arc::new(self.catch_up(&contents, latest)?);
        self.contents.store(Some(Arc::clone(&caught_up)));
        Ok(caught_up)
    }

    fn catch_up(&self, contents: &Contents, latest: u64) -> Result<Contents, SourceError> {
        let items = self.state.items(&self.slug, contents.caught_up.items).map_err(store_failed)?;
        let notes = self.state.notes(&self.slug, contents.caught_up.notes).map_err(store_failed)?;
        let embedder = contents.version.embedder.as_ref();
        let mut documents = contents.since();
        documents.extend(items.iter().map(|item| (item.id.clone(), contributed::document(item, embedder))));
        let mut caught_up = if items.is_empty() {
            contents.clone()
        } else {
            let vectors = vectors(&self.store, embedder, &documents, &Quiet)?;
            let last = items.iter().map(|item| item.change).max().unwrap_or(latest);
            contents
                .with_documents(documents, &vectors, last)
                .map_err(|error| SourceError::internal("adding what was contributed", error))?
        };
        let seen = notes.iter().map(|note| note.change).max().unwrap_or(latest).max(latest);
        if !notes.is_empty() {
            let mut all: Notes = Notes::clone(&caught_up.notes);
            for note in notes {
                all.entry(note.document.clone()).or_default().push(note);
            }
            caught_up.notes = Arc::new(all);
        }
        caught_up.caught_up = CaughtUp { items: caught_up.caught_up.items.max(latest), notes: seen };
        Ok(caught_up)
    }
}

/// What a contribution will be, as far as its passages go.
fn item(contribution: &Contribution) -> Item {
    Item {
        id: String::new(),
        revision: 0,
        change: 0,
        title: contribution.title.clone(),
        content: contribution.content.clone(),
        origin: contribution.origin.clone(),
        note: contribution.note.clone(),
        writer: contribution.writer.subject.clone(),
        recorded_at: String::new(),
    }
}

fn has(contents: &Contents, latest: u64) -> bool {
    contents.caught_up.items >= latest && contents.caught_up.notes >= latest
}
