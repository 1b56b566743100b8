//! Messages to the outside that must not be lost: put down in the transaction they tell of, and
//! taken by whichever process is there to deliver them.

use rusqlite::{Connection, Transaction, params};
use serde::Serialize;
use serde_json::json;
use time::OffsetDateTime;

use super::{StoreError, broken, millis, text};
use crate::store::state::Delivery;

/// Puts a message down, due at once.
pub(super) fn put(
    transaction: &Transaction<'_>,
    event: &str,
    data: &impl Serialize,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let body = serde_json::to_string(&json!({ "type": event, "timestamp": text(now), "data": data }))
        .map_err(broken)?;
    let message_id = format!("msg_{}", uuid::Uuid::now_v7().simple());
    transaction.execute(
        "INSERT INTO outbox (message_id, body, due_ms) VALUES (?1, ?2, ?3)",
        params![message_id, body, millis(now)],
    )?;
    Ok(())
}

/// Takes what is due and keeps others from it until `until`: a process that dies meanwhile loses
/// nothing, and one that lives does not hear of it twice.
pub(super) fn take_due(
    transaction: &Transaction<'_>,
    limit: usize,
    now: OffsetDateTime,
    until: OffsetDateTime,
) -> Result<Vec<Delivery>, StoreError> {
    let mut statement = transaction.prepare_cached(
        "UPDATE outbox SET due_ms = ?3, attempts = attempts + 1
         WHERE id IN (SELECT id FROM outbox WHERE due_ms <= ?2 ORDER BY due_ms, id LIMIT ?1)
         RETURNING id, message_id, body, attempts - 1",
    )?;
    let taken = statement.query_map(params![limit as i64, millis(now), millis(until)], |row| {
        Ok(Delivery {
            id: row.get::<_, i64>(0)?.unsigned_abs(),
            message_id: row.get(1)?,
            body: row.get(2)?,
            attempts: row.get(3)?,
        })
    })?;
    let mut taken: Vec<Delivery> = taken.collect::<Result<_, _>>()?;
    taken.sort_by_key(|delivery| delivery.id);
    Ok(taken)
}

pub(super) fn delivered(
    connection: &Connection,
    delivery: u64,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE outbox SET due_ms = NULL, delivered_ms = ?2, trouble = NULL WHERE id = ?1",
        params![delivery as i64, millis(now)],
    )?;
    Ok(())
}

pub(super) fn postpone(
    connection: &Connection,
    delivery: u64,
    why: &str,
    due: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE outbox SET due_ms = ?2, trouble = ?3 WHERE id = ?1",
        params![delivery as i64, due.map(millis), why],
    )?;
    Ok(())
}
