//! Contributed content: items with all their revisions, notes on items, and the keys that make a
//! repeated call the same call.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde_json::json;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::{StoreError, audit, broken, text};
use crate::store::state::{Contributed, Contribution, Entry, Event, Item, Note, Receipt, WriteResult};

/// Records a contribution, unless it was recorded before.
pub(super) fn contribute(
    transaction: &Transaction<'_>,
    contribution: &Contribution,
    now: OffsetDateTime,
) -> Result<Contributed, StoreError> {
    if let Some(repeated) = repeated(transaction, contribution)? {
        return Ok(repeated);
    }
    let receipt = match &contribution.entry {
        Entry::Append => append(transaction, contribution, now)?,
        Entry::Upsert { key } => upsert(transaction, contribution, key, now)?,
        Entry::Annotate { document, position, content_sha256 } => {
            annotate(transaction, contribution, (document, *position, content_sha256), now)?
        }
    };
    if let Some(key) = &contribution.idempotency_key {
        let told = serde_json::to_string(&receipt).map_err(broken)?;
        transaction.prepare_cached(
            "INSERT INTO idempotency (source, subject, key, fingerprint, receipt) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?.execute(
            params![contribution.source, contribution.writer.subject, key, contribution.fingerprint(), told],
        )?;
    }
    Ok(Contributed::Recorded(receipt))
}

/// What a contribution with an idempotency key came to, if it was recorded before.
pub(super) fn repeated(
    connection: &Connection,
    contribution: &Contribution,
) -> Result<Option<Contributed>, StoreError> {
    let Some(key) = &contribution.idempotency_key else { return Ok(None) };
    let kept = connection
        .prepare_cached(
            "SELECT fingerprint, receipt FROM idempotency WHERE source = ?1 AND subject = ?2 AND key = ?3",
        )?
        .query_row(params![contribution.source, contribution.writer.subject, key], |row| {
            Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?;
    let Some((fingerprint, receipt)) = kept else { return Ok(None) };
    if fingerprint != contribution.fingerprint() {
        return Ok(Some(Contributed::Conflict));
    }
    Ok(Some(Contributed::Replayed(serde_json::from_str(&receipt).map_err(broken)?)))
}

fn append(
    transaction: &Transaction<'_>,
    contribution: &Contribution,
    now: OffsetDateTime,
) -> Result<Receipt, StoreError> {
    // Named after the change that brings it: nobody else can have that number.
    let id = format!("~item/{}", audit::head(transaction)?.number + 1);
    revise(transaction, contribution, id, None, now)
}

fn upsert(
    transaction: &Transaction<'_>,
    contribution: &Contribution,
    key: &str,
    now: OffsetDateTime,
) -> Result<Receipt, StoreError> {
    let id = format!("~key/{key}");
    let current = current(transaction, &contribution.source, &id)?;
    match current {
        Some(item) if item.title == contribution.title && item.content == contribution.content => {
            let mut receipt = Receipt {
                document: id,
                position: 0,
                result: WriteResult::Unchanged,
                revision: item.revision,
                recorded_at: item.recorded_at,
                change: 0,
            };
            receipt.change = noted(transaction, contribution, &receipt, now)?;
            Ok(receipt)
        }
        current => revise(transaction, contribution, id, current.as_ref(), now),
    }
}

/// Puts a revision of an item in force. The one before stays, as history.
fn revise(
    transaction: &Transaction<'_>,
    contribution: &Contribution,
    id: String,
    before: Option<&Item>,
    now: OffsetDateTime,
) -> Result<Receipt, StoreError> {
    let mut receipt = Receipt {
        document: id,
        position: 0,
        result: if before.is_some() { WriteResult::Updated } else { WriteResult::Created },
        revision: before.map_or(1, |item| item.revision + 1),
        recorded_at: text(now),
        change: 0,
    };
    receipt.change = noted(transaction, contribution, &receipt, now)?;
    let Contribution { source, title, content, origin, note, writer, .. } = contribution;
    transaction
        .prepare_cached("UPDATE items SET current = 0 WHERE source = ?1 AND id = ?2 AND current = 1")?
        .execute(params![source, receipt.document])?;
    transaction
        .prepare_cached(
            "INSERT INTO items (source, id, revision, change, title, content, origin, note, writer, recorded_at, current)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1)",
        )?
        .execute(params![
            source,
            receipt.document,
            receipt.revision as i64,
            receipt.change as i64,
            title,
            content,
            origin,
            note,
            writer.subject,
            receipt.recorded_at
        ])?;
    Ok(receipt)
}

fn annotate(
    transaction: &Transaction<'_>,
    contribution: &Contribution,
    (document, position, content_sha256): (&str, u32, &str),
    now: OffsetDateTime,
) -> Result<Receipt, StoreError> {
    let Contribution { source, content, origin, note, writer, .. } = contribution;
    let before: i64 = transaction
        .prepare_cached("SELECT count(*) FROM notes WHERE source = ?1 AND document = ?2 AND position = ?3")?
        .query_row(params![source, document, position], |row| row.get(0))?;
    let mut receipt = Receipt {
        document: document.to_owned(),
        position,
        result: WriteResult::Created,
        revision: before.unsigned_abs() + 1,
        recorded_at: text(now),
        change: 0,
    };
    receipt.change = noted(transaction, contribution, &receipt, now)?;
    transaction
        .prepare_cached(
            "INSERT INTO notes (source, change, document, position, content_sha256, content, origin, note, writer, recorded_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            source,
            receipt.change as i64,
            document,
            position,
            content_sha256,
            content,
            origin,
            note,
            writer.subject,
            receipt.recorded_at
        ])?;
    Ok(receipt)
}

/// Tells the audit record of a write; the change's number.
fn noted(
    transaction: &Transaction<'_>,
    contribution: &Contribution,
    receipt: &Receipt,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    // Enough to recognise the content by, not to read it.
    let sha256 = crate::text::hex(&Sha256::digest(&contribution.content));
    let details = BTreeMap::from([
        ("mode".to_owned(), json!(contribution.entry.mode())),
        ("item".to_owned(), json!(receipt.document)),
        ("position".to_owned(), json!(receipt.position)),
        ("result".to_owned(), json!(receipt.result.name())),
        ("revision".to_owned(), json!(receipt.revision)),
        ("bytes".to_owned(), json!(contribution.content.len())),
        ("sha256".to_owned(), json!(sha256)),
    ]);
    let event = Event {
        name: "write".to_owned(),
        actor: contribution.writer.clone(),
        source: contribution.source.clone(),
        request_id: contribution.request_id.clone(),
        details,
    };
    audit::append(transaction, &event, now)
}

/// Number of the last change of what was contributed to a source.
pub(super) fn latest(connection: &Connection, source: &str) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT max(coalesce((SELECT max(change) FROM items WHERE source = ?1 AND current = 1), 0),
                    coalesce((SELECT max(change) FROM notes WHERE source = ?1), 0))",
    )?;
    Ok(statement.query_row([source], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

const ITEM: &str = "id, revision, change, title, content, origin, note, writer, recorded_at";

/// Current revisions younger than a change, oldest first.
pub(super) fn items(connection: &Connection, source: &str, after: u64) -> Result<Vec<Item>, StoreError> {
    let query =
        format!("SELECT {ITEM} FROM items WHERE source = ?1 AND change > ?2 AND current = 1 ORDER BY change");
    let mut statement = connection.prepare_cached(&query)?;
    let items = statement.query_map(params![source, after as i64], item)?;
    Ok(items.collect::<Result<_, _>>()?)
}

/// All revisions of an item, oldest first.
pub(super) fn history(connection: &Connection, source: &str, id: &str) -> Result<Vec<Item>, StoreError> {
    let query = format!("SELECT {ITEM} FROM items WHERE source = ?1 AND id = ?2 ORDER BY revision");
    let mut statement = connection.prepare_cached(&query)?;
    let items = statement.query_map(params![source, id], item)?;
    Ok(items.collect::<Result<_, _>>()?)
}

fn current(connection: &Connection, source: &str, id: &str) -> Result<Option<Item>, StoreError> {
    let query = format!("SELECT {ITEM} FROM items WHERE source = ?1 AND id = ?2 AND current = 1");
    Ok(connection.prepare_cached(&query)?.query_row(params![source, id], item).optional()?)
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item {
        id: row.get(0)?,
        revision: row.get::<_, i64>(1)?.unsigned_abs(),
        change: row.get::<_, i64>(2)?.unsigned_abs(),
        title: row.get(3)?,
        content: row.get(4)?,
        origin: row.get(5)?,
        note: row.get(6)?,
        writer: row.get(7)?,
        recorded_at: row.get(8)?,
    })
}

/// Notes younger than a change, oldest first.
pub(super) fn notes(connection: &Connection, source: &str, after: u64) -> Result<Vec<Note>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT change, document, position, content_sha256, content, origin, writer, recorded_at
         FROM notes WHERE source = ?1 AND change > ?2 ORDER BY change",
    )?;
    let notes = statement.query_map(params![source, after as i64], |row| {
        Ok(Note {
            change: row.get::<_, i64>(0)?.unsigned_abs(),
            document: row.get(1)?,
            position: row.get(2)?,
            content_sha256: row.get(3)?,
            content: row.get(4)?,
            origin: row.get(5)?,
            writer: row.get(6)?,
            recorded_at: row.get(7)?,
        })
    })?;
    Ok(notes.collect::<Result<_, _>>()?)
}
