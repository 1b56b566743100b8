//! The state store in SQLite: the same file the indexes' corpora are in, in write-ahead mode, so that a
//! server, replicas on one machine, and commands work on it together.

mod access;
mod audit;
mod contributions;
mod outbox;

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    StoreError, connect,
    state::{
        AccessRequest, Actor, AuditHead, AuditRecord, Contributed, Contribution, Decision, Delivery, Event,
        Grant, Item, NewGrant, NewRequest, Note, Requested, StateStore,
    },
};

/// Connections kept open between calls: more than threads use at a time are closed.
const KEPT: usize = 8;

/// The state store of one data folder. Cheap to make; nothing is opened before it is used.
#[derive(Debug)]
pub struct SqliteState {
    data_dir: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl SqliteState {
    /// The state store in `data_dir`.
    pub fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned(), idle: Mutex::default() }
    }

    /// Reads or writes over a connection of its own. One that failed is not used again: what state it
    /// was left in is not known.
    fn with<R>(&self, work: impl FnOnce(&mut Connection) -> Result<R, StoreError>) -> Result<R, StoreError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => connect(&self.data_dir)?,
        };
        let result = work(&mut connection)?;
        let mut idle = idle();
        if idle.len() < KEPT {
            idle.push(connection);
        }
        Ok(result)
    }

    /// A transaction that writes: all or nothing, one after the other. It is durable when this returns.
    fn change<R>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        })
    }
}

impl StateStore for SqliteState {
    fn contribute(
        &self,
        contribution: &Contribution,
        now: OffsetDateTime,
    ) -> Result<Contributed, StoreError> {
        self.change(|transaction| contributions::contribute(transaction, contribution, now))
    }

    fn repeated(&self, contribution: &Contribution) -> Result<Option<Contributed>, StoreError> {
        self.with(|connection| contributions::repeated(connection, contribution))
    }

    fn latest(&self, source: &str) -> Result<u64, StoreError> {
        self.with(|connection| contributions::latest(connection, source))
    }

    fn items(&self, source: &str, after: u64) -> Result<Vec<Item>, StoreError> {
        self.with(|connection| contributions::items(connection, source, after))
    }

    fn history(&self, source: &str, id: &str) -> Result<Vec<Item>, StoreError> {
        self.with(|connection| contributions::history(connection, source, id))
    }

    fn notes(&self, source: &str, after: u64) -> Result<Vec<Note>, StoreError> {
        self.with(|connection| contributions::notes(connection, source, after))
    }

    fn grants(&self, subject: &str, now: OffsetDateTime) -> Result<Vec<Grant>, StoreError> {
        self.with(|connection| access::grants(connection, Some(subject), now))
    }

    fn all_grants(&self, now: OffsetDateTime) -> Result<Vec<Grant>, StoreError> {
        self.with(|connection| access::grants(connection, None, now))
    }

    fn grant(&self, grant: &NewGrant, now: OffsetDateTime) -> Result<u64, StoreError> {
        self.change(|transaction| access::grant(transaction, grant, now))
    }

    fn revoke(&self, grant: u64, by: &Actor, now: OffsetDateTime) -> Result<bool, StoreError> {
        self.change(|transaction| access::revoke(transaction, grant, by, now))
    }

    fn request(&self, request: &NewRequest, now: OffsetDateTime) -> Result<Requested, StoreError> {
        self.change(|transaction| access::request(transaction, request, now))
    }

    fn requests(&self, all: bool) -> Result<Vec<AccessRequest>, StoreError> {
        self.with(|connection| access::requests(connection, all))
    }

    fn decide(
        &self,
        request: u64,
        decision: &Decision,
        by: &Actor,
        now: OffsetDateTime,
    ) -> Result<Option<AccessRequest>, StoreError> {
        self.change(|transaction| access::decide(transaction, request, decision, by, now))
    }

    fn record(&self, event: &Event, now: OffsetDateTime) -> Result<(), StoreError> {
        self.change(|transaction| audit::append(transaction, event, now).map(|_| ()))
    }

    fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRecord>, StoreError> {
        self.with(|connection| audit::records(connection, after, limit))
    }

    fn audit_head(&self) -> Result<AuditHead, StoreError> {
        self.with(|connection| audit::head(connection))
    }

    fn take_due(
        &self,
        limit: usize,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.change(|transaction| outbox::take_due(transaction, limit, now, until))
    }

    fn delivered(&self, delivery: u64, now: OffsetDateTime) -> Result<(), StoreError> {
        self.change(|transaction| outbox::delivered(transaction, delivery, now))
    }

    fn postpone(&self, delivery: u64, why: &str, due: Option<OffsetDateTime>) -> Result<(), StoreError> {
        self.change(|transaction| outbox::postpone(transaction, delivery, why, due))
    }
}

/// A time for people, RFC 3339 in UTC to the millisecond.
fn text(time: OffsetDateTime) -> String {
    let time = time.to_offset(time::UtcOffset::UTC);
    let whole = time.replace_millisecond(time.millisecond()).unwrap_or(time);
    whole.format(&Rfc3339).unwrap_or_default()
}

/// A time to compare, milliseconds since 1970.
fn millis(time: OffsetDateTime) -> i64 {
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

/// Milliseconds since 1970 for people.
fn text_of(millis: i64) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).map(text).unwrap_or_default()
}

fn broken(what: impl std::fmt::Display) -> StoreError {
    StoreError(what.to_string())
}
