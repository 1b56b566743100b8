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
