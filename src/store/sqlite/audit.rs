//! The audit record: append-only, each record bound to the one before by its hash.

use rusqlite::{Connection, Row, params};
use time::OffsetDateTime;

use super::{StoreError, broken, text};
use crate::store::state::{AuditHead, AuditRecord, Event};

/// Appends a record of `event`; its number.
pub(super) fn append(connection: &Connection, event: &Event, now: OffsetDateTime) -> Result<u64, StoreError> {
    let head = head(connection)?;
    let mut record = AuditRecord {
        number: head.number + 1,
        at: text(now),
        event: event.name.clone(),
        caller: event.actor.subject.clone(),
        kind: event.actor.kind.clone(),
        source: event.source.clone(),
        request_id: event.request_id.clone(),
        details: event.details.clone(),
        previous: head.hash,
        hash: String::new(),
    };
    record.hash = record.expected_hash();
    let details = serde_json::to_string(&record.details).map_err(broken)?;
    connection.execute(
        "INSERT INTO audit (number, at, event, caller, kind, source, request_id, details, previous, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            record.number as i64,
            record.at,
            record.event,
            record.caller,
            record.kind,
            record.source,
            record.request_id,
            details,
            record.previous,
            record.hash
        ],
    )?;
    connection.execute(
        "UPDATE audit_head SET number = ?1, hash = ?2",
        params![record.number as i64, record.hash],
    )?;
    Ok(record.number)
}

/// Records younger than number `after`, oldest first.
pub(super) fn records(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<AuditRecord>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT number, at, event, caller, kind, source, request_id, details, previous, hash
         FROM audit WHERE number > ?1 ORDER BY number LIMIT ?2",
    )?;
    let mut rows = statement.query(params![after as i64, limit as i64])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(row)?);
    }
    Ok(records)
}

fn record(row: &Row<'_>) -> Result<AuditRecord, StoreError> {
    let details: String = row.get(7)?;
    Ok(AuditRecord {
        number: row.get::<_, i64>(0)?.unsigned_abs(),
        at: row.get(1)?,
        event: row.get(2)?,
        caller: row.get(3)?,
        kind: row.get(4)?,
        source: row.get(5)?,
        request_id: row.get(6)?,
        details: serde_json::from_str(&details).map_err(broken)?,
        previous: row.get(8)?,
        hash: row.get(9)?,
    })
}

/// What the last record is, as noted beside the records.
pub(super) fn head(connection: &Connection) -> Result<AuditHead, StoreError> {
    let mut statement = connection.prepare_cached("SELECT number, hash FROM audit_head WHERE one = 1")?;
    Ok(statement.query_row([], |row| {
        Ok(AuditHead { number: row.get::<_, i64>(0)?.unsigned_abs(), hash: row.get(1)? })
    })?)
}
