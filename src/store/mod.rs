//! Durable state on disk: one SQLite file in write-ahead mode, which a server and a command can
//! use at the same time. It is the truth; indexes are derived from it.

mod corpus;
mod embeddings;
mod migrations;
mod sqlite;
pub mod state;

use std::{path::Path, time::Duration};

use rusqlite::Connection;

pub use corpus::{
    Activation, CorpusStore, Counts, Documents, Pinned, Stamp, StoredDocument, StoredFile, StoredPassage,
    TextHash,
};
pub use embeddings::EmbeddingStore;
pub use sqlite::SqliteState;

/// The store could not be used. The text is for logs.
#[derive(Debug, thiserror::Error)]
#[error("the store could not be used: {0}")]
pub struct StoreError(pub(crate) String);

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// How long to wait for another process that is writing.
const BUSY: Duration = Duration::from_secs(30);

/// Opens the store in `data_dir`, making and migrating it as needed.
fn connect(data_dir: &Path) -> Result<Connection, StoreError> {
    std::fs::create_dir_all(data_dir)?;
    let mut connection = Connection::open(data_dir.join("askback.db"))?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on disk before anybody hears of it.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    migrations::run(&mut connection)?;
    Ok(connection)
}
