//! Access requests, their decisions, and grants.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::{StoreError, audit, broken, millis, outbox, text, text_of};
use crate::store::state::{
    Access, AccessRequest, Actor, Decision, Event, Grant, NewGrant, NewRequest, RequestStatus, Requested,
};

/// Grants in force at `now`, of one subject or of all, oldest first.
pub(super) fn grants(
    connection: &Connection,
    subject: Option<&str>,
    now: OffsetDateTime,
) -> Result<Vec<Grant>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, subject, source, access, granted_ms, granted_by, expires_ms, request FROM grants
         WHERE revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?1) AND subject = coalesce(?2, subject)
         ORDER BY id",
    )?;
    let mut rows = statement.query(params![millis(now), subject])?;
    let mut grants = Vec::new();
    while let Some(row) = rows.next()? {
        grants.push(Grant {
            id: row.get::<_, i64>(0)?.unsigned_abs(),
            subject: row.get(1)?,
            source: row.get(2)?,
            access: access(row, 3)?,
            granted_at: text_of(row.get(4)?),
            granted_by: row.get(5)?,
            expires_at: row.get::<_, Option<i64>>(6)?.map(text_of),
            request: row.get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
        });
    }
    Ok(grants)
}

/// Grants access; the grant's number.
pub(super) fn grant(
    transaction: &Transaction<'_>,
    grant: &NewGrant,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    let NewGrant { subject, source, access, days, by } = grant;
    let id = give(transaction, (subject, source, *access), *days, by, None, now)?;
    let details = [
        ("grant", json!(id)),
        ("subject", json!(subject)),
        ("access", json!(access.name())),
        ("days", json!(days)),
    ];
    record(transaction, "access.granted", by, source, "", details, now)?;
    Ok(id)
}

fn give(
    transaction: &Transaction<'_>,
    (subject, source, access): (&str, &str, Access),
    days: Option<u32>,
    by: &Actor,
    request: Option<u64>,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    let expires = days.map(|days| millis(now.saturating_add(Duration::days(days.into()))));
    transaction.execute(
        "INSERT INTO grants (subject, source, access, granted_ms, granted_by, expires_ms, request)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            subject,
            source,
            access.name(),
            millis(now),
            by.subject,
            expires,
            request.map(|id| id as i64)
        ],
    )?;
    Ok(transaction.last_insert_rowid().unsigned_abs())
}

/// Ends a grant; whether it was in force.
pub(super) fn revoke(
    transaction: &Transaction<'_>,
    grant: u64,
    by: &Actor,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let ended = transaction
        .query_row(
            "UPDATE grants SET revoked_ms = ?2
             WHERE id = ?1 AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > ?2)
             RETURNING subject, source, access",
            params![grant as i64, millis(now)],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)),
        )
        .optional()?;
    let Some((subject, source, access)) = ended else { return Ok(false) };
    let details = [("grant", json!(grant)), ("subject", json!(subject)), ("access", json!(access))];
    record(transaction, "access.revoked", by, &source, "", details, now)?;
    Ok(true)
}

/// Asks for access, unless the same is pending.
pub(super) fn request(
    transaction: &Transaction<'_>,
    request: &NewRequest,
    now: OffsetDateTime,
) -> Result<Requested, StoreError> {
    let NewRequest { caller, source, access, reason, days, request_id, notify } = request;
    let last = |condition: &str| {
        let query = format!(
            "SELECT {REQUEST} FROM access_requests
             WHERE subject = ?1 AND source = ?2 AND access = ?3 AND {condition} ORDER BY id DESC LIMIT 1"
        );
        one(transaction, &query, params![caller.subject, source, access.name()])
    };
    let before = last("status <> 'pending'")?;
    if let Some(pending) = last("status = 'pending'")? {
        return Ok(Requested { request: pending, new: false, before });
    }
    transaction.execute(
        "INSERT INTO access_requests (subject, kind, source, access, reason, days, status, requested_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?7)",
        params![caller.subject, caller.kind, source, access.name(), reason, days, text(now)],
    )?;
    let id = transaction.last_insert_rowid().unsigned_abs();
    let details = [("request", json!(id)), ("access", json!(access.name())), ("days", json!(days))];
    record(transaction, "access.requested", caller, source, request_id, details, now)?;
    let request = find(transaction, id)?.ok_or_else(|| broken("a request just made is not there"))?;
    if *notify {
        outbox::put(transaction, "access.requested", &request, now)?;
    }
    Ok(Requested { request, new: true, before })
}

/// Requests, oldest first.
pub(super) fn requests(connection: &Connection, all: bool) -> Result<Vec<AccessRequest>, StoreError> {
    let query = format!("SELECT {REQUEST} FROM access_requests WHERE ?1 OR status = 'pending' ORDER BY id");
    let mut statement = connection.prepare_cached(&query)?;
    let mut rows = statement.query([all])?;
    let mut requests = Vec::new();
    while let Some(row) = rows.next()? {
        requests.push(access_request(row)?);
    }
    Ok(requests)
}

/// Decides a pending request; the request afterwards.
pub(super) fn decide(
    transaction: &Transaction<'_>,
    request: u64,
    decision: &Decision,
    by: &Actor,
    now: OffsetDateTime,
) -> Result<Option<AccessRequest>, StoreError> {
    let Some(pending) = find(transaction, request)? else { return Ok(None) };
    if pending.status != RequestStatus::Pending {
        return Ok(Some(pending));
    }
    let (status, why) = match decision {
        Decision::Approve { .. } => ("approved", None),
        Decision::Deny { why } => ("denied", Some(why)),
    };
    transaction.execute(
        "UPDATE access_requests SET status = ?2, decided_at = ?3, decided_by = ?4, why = ?5 WHERE id = ?1",
        params![request as i64, status, text(now), by.subject, why],
    )?;
    let AccessRequest { subject, source, access, .. } = &pending;
    let mut details = BTreeMap::from([
        ("request", json!(request)),
        ("subject", json!(subject)),
        ("access", json!(access.name())),
    ]);
    if let Decision::Approve { days } = decision {
        let days = days.or(pending.days);
        let grant = give(transaction, (subject, source, *access), days, by, Some(request), now)?;
        details.extend([("grant", json!(grant)), ("days", json!(days))]);
    }
    record(transaction, &format!("access.{status}"), by, source, "", details, now)?;
    find(transaction, request)
}

fn record(
    transaction: &Transaction<'_>,
    name: &str,
    actor: &Actor,
    source: &str,
    request_id: &str,
    details: impl IntoIterator<Item = (&'static str, Value)>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let event = Event {
        name: name.to_owned(),
        actor: actor.clone(),
        source: source.to_owned(),
        request_id: request_id.to_owned(),
        details: details.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    };
    audit::append(transaction, &event, now).map(|_| ())
}

const REQUEST: &str = "id, subject, kind, source, access, reason, days, status, requested_at, decided_at, \
                       decided_by, why";

fn find(connection: &Connection, id: u64) -> Result<Option<AccessRequest>, StoreError> {
    one(connection, &format!("SELECT {REQUEST} FROM access_requests WHERE id = ?1"), params![id as i64])
}

fn one(
    connection: &Connection,
    query: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> Result<Option<AccessRequest>, StoreError> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(parameters)?;
    rows.next()?.map(access_request).transpose()
}

fn access_request(row: &Row<'_>) -> Result<AccessRequest, StoreError> {
    let status = match row.get::<_, String>(7)?.as_str() {
        "pending" => RequestStatus::Pending,
        "approved" => RequestStatus::Approved,
        "denied" => RequestStatus::Denied,
        other => return Err(broken(format!("a request has the unknown status {other}"))),
    };
    Ok(AccessRequest {
        id: row.get::<_, i64>(0)?.unsigned_abs(),
        subject: row.get(1)?,
        kind: row.get(2)?,
        source: row.get(3)?,
        access: access(row, 4)?,
        reason: row.get(5)?,
        days: row.get(6)?,
        status,
        requested_at: row.get(8)?,
        decided_at: row.get(9)?,
        decided_by: row.get(10)?,
        why: row.get(11)?,
    })
}

fn access(row: &Row<'_>, column: usize) -> Result<Access, StoreError> {
    match row.get::<_, String>(column)?.as_str() {
        "read" => Ok(Access::Read),
        "write" => Ok(Access::Write),
        other => Err(broken(format!("access of the unknown kind {other}"))),
    }
}
