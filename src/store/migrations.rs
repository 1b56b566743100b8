//! The schema, step by step. A step that has shipped is never changed, only followed by another.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// Each step brings the schema from its index to the next version.
const STEPS: &[&str] = &[
    // 1: the corpora of document sources.
    "CREATE TABLE corpora (
         source          TEXT PRIMARY KEY,
         version         TEXT NOT NULL,
         recipe          TEXT NOT NULL,
         refreshed_at    TEXT NOT NULL,
         calibration     TEXT NOT NULL
     ) STRICT;
     CREATE TABLE files (
         source          TEXT NOT NULL,
         path            TEXT NOT NULL,
         size            INTEGER NOT NULL,
         modified_ns     INTEGER NOT NULL,
         PRIMARY KEY (source, path)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE documents (
         source          TEXT NOT NULL,
         id              TEXT NOT NULL,
         path            TEXT NOT NULL,
         title           TEXT NOT NULL,
         url             TEXT,
         sha256          TEXT NOT NULL,
         fetched_at      TEXT NOT NULL,
         PRIMARY KEY (source, id)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE passages (
         source          TEXT NOT NULL,
         document        TEXT NOT NULL,
         position        INTEGER NOT NULL,
         headings        TEXT NOT NULL,
         text            TEXT NOT NULL,
         hash            BLOB NOT NULL,
         PRIMARY KEY (source, document, position),
         FOREIGN KEY (source, document) REFERENCES documents (source, id) ON DELETE CASCADE
     ) STRICT;
     CREATE INDEX passages_by_hash ON passages (hash);
     CREATE TABLE vectors (
         embedding       TEXT NOT NULL,
         hash            BLOB NOT NULL,
         scale           REAL NOT NULL,
         bytes           BLOB NOT NULL,
         PRIMARY KEY (embedding, hash)
     ) STRICT, WITHOUT ROWID;",
    // 2: what a file's reader had to say, so that it is said again while the file is unchanged.
    "ALTER TABLE files ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]';
     ALTER TABLE files ADD COLUMN clash INTEGER NOT NULL DEFAULT 0;",
    // 3: how remote embeddings answered, in the order they were first seen; that with the largest
    // `seen` of its name answered last.
    "CREATE TABLE embeddings (
         number          INTEGER PRIMARY KEY,
         name            TEXT NOT NULL,
         seen            INTEGER NOT NULL,
         canary          BLOB NOT NULL
     ) STRICT;",
    // 4: queries whose answers the owner has labelled, for calibrating with them again and again.
    "CREATE TABLE labels (
         source          TEXT PRIMARY KEY,
         labels          TEXT NOT NULL
     ) STRICT;",
    // 5: what agents contribute, who may do what, and the record of both. A change of contributed
    // content is numbered by the audit record that tells of it. Times that are compared are
    // milliseconds since 1970, others RFC 3339.
    "CREATE TABLE items (
         source          TEXT NOT NULL,
         id              TEXT NOT NULL,
         revision        INTEGER NOT NULL,
         change          INTEGER NOT NULL UNIQUE,
         title           TEXT,
         content         TEXT NOT NULL,
         origin          TEXT NOT NULL,
         note            TEXT,
         writer          TEXT NOT NULL,
         recorded_at     TEXT NOT NULL,
         current         INTEGER NOT NULL,
         PRIMARY KEY (source, id, revision)
     ) STRICT;
     CREATE INDEX items_by_change ON items (source, change) WHERE current = 1;
     CREATE TABLE notes (
         source          TEXT NOT NULL,
         change          INTEGER NOT NULL,
         document        TEXT NOT NULL,
         position        INTEGER NOT NULL,
         content_sha256  TEXT NOT NULL,
         content         TEXT NOT NULL,
         origin          TEXT NOT NULL,
         note            TEXT,
         writer          TEXT NOT NULL,
         recorded_at     TEXT NOT NULL,
         PRIMARY KEY (source, change)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX notes_by_passage ON notes (source, document, position);
     CREATE TABLE idempotency (
         source          TEXT NOT NULL,
         subject         TEXT NOT NULL,
         key             TEXT NOT NULL,
         fingerprint     BLOB NOT NULL,
         receipt         TEXT NOT NULL,
         PRIMARY KEY (source, subject, key)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE access_requests (
         id              INTEGER PRIMARY KEY AUTOINCREMENT,
         subject         TEXT NOT NULL,
         kind            TEXT NOT NULL,
         source          TEXT NOT NULL,
         access          TEXT NOT NULL,
         reason          TEXT NOT NULL,
         days            INTEGER,
         status          TEXT NOT NULL,
         requested_at    TEXT NOT NULL,
         decided_at      TEXT,
         decided_by      TEXT,
         why             TEXT
     ) STRICT;
     CREATE UNIQUE INDEX one_pending_request ON access_requests (subject, source, access)
         WHERE status = 'pending';
     CREATE TABLE grants (
         id              INTEGER PRIMARY KEY AUTOINCREMENT,
         subject         TEXT NOT NULL,
         source          TEXT NOT NULL,
         access          TEXT NOT NULL,
         granted_ms      INTEGER NOT NULL,
         granted_by      TEXT NOT NULL,
         expires_ms      INTEGER,
         revoked_ms      INTEGER,
         request         INTEGER
     ) STRICT;
     CREATE INDEX grants_by_subject ON grants (subject) WHERE revoked_ms IS NULL;
     CREATE TABLE audit (
         number          INTEGER PRIMARY KEY,
         at              TEXT NOT NULL,
         event           TEXT NOT NULL,
         caller          TEXT NOT NULL,
         kind            TEXT NOT NULL,
         source          TEXT NOT NULL,
         request_id      TEXT NOT NULL,
         details         TEXT NOT NULL,
         previous        TEXT NOT NULL,
         hash            TEXT NOT NULL
     ) STRICT;
     CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
         BEGIN SELECT RAISE(ABORT, 'the audit record is append-only'); END;
     CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
         BEGIN SELECT RAISE(ABORT, 'the audit record is append-only'); END;
     CREATE TABLE audit_head (
         one             INTEGER PRIMARY KEY CHECK (one = 1),
         number          INTEGER NOT NULL,
         hash            TEXT NOT NULL
     ) STRICT;
     INSERT INTO audit_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
     CREATE TABLE outbox (
         id              INTEGER PRIMARY KEY AUTOINCREMENT,
         message_id      TEXT NOT NULL UNIQUE,
         body            TEXT NOT NULL,
         due_ms          INTEGER,
         attempts        INTEGER NOT NULL DEFAULT 0,
         trouble         TEXT,
         delivered_ms    INTEGER
     ) STRICT;
     CREATE INDEX outbox_due ON outbox (due_ms) WHERE due_ms IS NOT NULL;",
    // 6: contributed content in an index: who wrote a document, in which revision, and up to which
    // change a version holds what was contributed.
    "ALTER TABLE documents ADD COLUMN writer TEXT;
     ALTER TABLE documents ADD COLUMN revision INTEGER;
     ALTER TABLE corpora ADD COLUMN contributed INTEGER NOT NULL DEFAULT 0;",
];

/// Brings the schema up to date. A store of a newer version is refused, not misread.
pub(super) fn run(connection: &mut Connection) -> Result<(), StoreError> {
    // Without a lock, so that readers need not wait for whoever is writing.
    if version(connection)? == STEPS.len() {
        return Ok(());
    }
    // Immediate: two processes that start together migrate one after the other.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = version(&transaction)?;
    if version > STEPS.len() {
        return Err(StoreError(format!(
            "it was written by a newer askback (schema {version}, this one knows {}); run that version, or use another data.dir",
            STEPS.len()
        )));
    }
    for step in STEPS.iter().skip(version) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
    transaction.commit()?;
    Ok(())
}

fn version(connection: &Connection) -> Result<usize, StoreError> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_once_and_refuses_the_future() {
        let mut connection = Connection::open_in_memory().unwrap();
        run(&mut connection).unwrap();
        run(&mut connection).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        assert!(run(&mut connection).unwrap_err().to_string().contains("newer"));
    }
}
