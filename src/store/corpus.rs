//! The corpus of one document source: files, documents, passages, cached vectors.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::{StoreError, connect};
use crate::search::dense::ByteVector;

/// SHA-256 of an indexed text.
pub type TextHash = [u8; 32];

/// What is stored about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Bytes.
    pub size: i64,
    /// Time of last modification, nanoseconds since 1970.
    pub modified_ns: i64,
}

/// A document with its passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// The file it was read from, relative to the source.
    pub path: String,
    /// Title for people.
    pub title: String,
    /// Where a person can read the original.
    pub url: Option<String>,
    /// SHA-256 of its content, hex.
    pub sha256: String,
    /// When it was read, RFC 3339 in UTC.
    pub fetched_at: String,
    /// Its passages, in order.
    pub passages: Vec<StoredPassage>,
}

/// A passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPassage {
    /// Headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its text.
    pub text: String,
    /// Hash of what is indexed of it.
    pub hash: TextHash,
}

/// The version of a corpus that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Names the version and the folder of its lexical index.
    pub version: String,
    /// What it was built by.
    pub recipe: String,
    /// When it was built, RFC 3339 in UTC.
    pub refreshed_at: String,
    /// The calibration, as JSON.
    pub calibration: String,
}

/// A change of a corpus, made in one transaction.
pub struct Activation<'a> {
    /// The version that is in force afterwards.
    pub pinned: Pinned,
    /// All files the source has now.
    pub files: &'a BTreeMap<String, StoredFile>,
    /// Documents to add or replace, by id.
    pub upserts: Vec<(&'a str, &'a StoredDocument)>,
    /// Ids of documents that are gone.
    pub removals: Vec<&'a str>,
    /// Vectors of other embeddings than this are dropped if nothing uses them.
    pub embedding: &'a str,
}

/// Documents by id.
pub type Documents = BTreeMap<String, StoredDocument>;

/// The corpus of one source. Cheap to make; opens a connection for each use, so that it can be
/// shared between threads.
#[derive(Debug, Clone)]
pub struct CorpusStore {
    data_dir: PathBuf,
    source: String,
}

impl CorpusStore {
    /// The corpus of `source` in the store of `data_dir`.
    pub fn new(data_dir: &Path, source: &str) -> Self {
        Self { data_dir: data_dir.to_owned(), source: source.to_owned() }
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        connect(&self.data_dir)
    }

    /// The version in force; `None` before the first.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read; so for all methods here.
    pub fn pinned(&self) -> Result<Option<Pinned>, StoreError> {
        pinned(&self.connect()?, &self.source)
    }

    /// The version in force and all its documents, read in one transaction: they belong together.
    pub fn load(&self) -> Result<Option<(Pinned, Documents)>, StoreError> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction()?;
        let Some(pinned) = pinned(&transaction, &self.source)? else { return Ok(None) };
        let mut documents = BTreeMap::new();
        let mut statement = transaction
            .prepare("SELECT id, path, title, url, sha256, fetched_at FROM documents WHERE source = ?1")?;
        let mut rows = statement.query([&self.source])?;
        while let Some(row) = rows.next()? {
            let document = StoredDocument {
                path: row.get(1)?,
                title: row.get(2)?,
                url: row.get(3)?,
                sha256: row.get(4)?,
                fetched_at: row.get(5)?,
                passages: Vec::new(),
            };
            documents.insert(row.get::<_, String>(0)?, document);
        }
        let mut statement = transaction.prepare(
            "SELECT document, headings, text, hash FROM passages WHERE source = ?1 ORDER BY document, position",
        )?;
        let mut rows = statement.query([&self.source])?;
        while let Some(row) = rows.next()? {
            let headings: String = row.get(1)?;
            let passage = StoredPassage {
                headings: serde_json::from_str(&headings).map_err(|error| StoreError(error.to_string()))?,
                text: row.get(2)?,
                hash: row.get(3)?,
            };
            if let Some(document) =
                documents.get_mut(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)
            {
                document.passages.push(passage);
            }
        }
        Ok(Some((pinned, documents)))
    }

    /// The files as last seen, by path.
    pub fn files(&self) -> Result<BTreeMap<String, StoredFile>, StoreError> {
        let connection = self.connect()?;
        let mut statement =
            connection.prepare("SELECT path, size, modified_ns FROM files WHERE source = ?1")?;
        let rows = statement.query_map([&self.source], |row| {
            Ok((row.get(0)?, StoredFile { size: row.get(1)?, modified_ns: row.get(2)? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The cached vectors of `embedding` for `hashes`, as far as there are any.
    pub fn vectors<'a>(
        &self,
        embedding: &str,
        hashes: impl Iterator<Item = &'a TextHash>,
    ) -> Result<HashMap<TextHash, ByteVector>, StoreError> {
        let connection = self.connect()?;
        let mut statement =
            connection.prepare("SELECT scale, bytes FROM vectors WHERE embedding = ?1 AND hash = ?2")?;
        let mut vectors = HashMap::new();
        for hash in hashes {
            let found = statement
                .query_row(params![embedding, hash], |row| {
                    let bytes = row.get_ref(1)?.as_blob()?.iter().map(|byte| *byte as i8).collect();
                    Ok(ByteVector { bytes, scale: row.get::<_, f64>(0)? as f32 })
                })
                .optional()?;
            if let Some(vector) = found {
                vectors.insert(*hash, vector);
            }
        }
        Ok(vectors)
    }

    /// Caches vectors: what was embedded stays embedded, whatever happens before activation.
    pub fn cache<'a>(
        &self,
        embedding: &str,
        vectors: impl Iterator<Item = (&'a TextHash, &'a ByteVector)>,
    ) -> Result<(), StoreError> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare(
                "INSERT OR REPLACE INTO vectors (embedding, hash, scale, bytes) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for (hash, vector) in vectors {
                let bytes: Vec<u8> = vector.bytes.iter().map(|byte| *byte as u8).collect();
                insert.execute(params![embedding, hash, f64::from(vector.scale), bytes])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Makes a change and puts its version in force, all or nothing.
    pub fn activate(&self, change: &Activation<'_>) -> Result<(), StoreError> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let source = &self.source;
        {
            let mut remove = transaction.prepare("DELETE FROM documents WHERE source = ?1 AND id = ?2")?;
            let mut document = transaction.prepare(
                "INSERT INTO documents (source, id, path, title, url, sha256, fetched_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            let mut passage = transaction.prepare(
                "INSERT INTO passages (source, document, position, headings, text, hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            for id in &change.removals {
                remove.execute(params![source, id])?;
            }
            for (id, stored) in &change.upserts {
                remove.execute(params![source, id])?;
                let StoredDocument { path, title, url, sha256, fetched_at, passages } = stored;
                document.execute(params![source, id, path, title, url, sha256, fetched_at])?;
                for (position, stored) in passages.iter().enumerate() {
                    let headings = serde_json::to_string(&stored.headings)
                        .map_err(|error| StoreError(error.to_string()))?;
                    passage.execute(params![
                        source,
                        id,
                        position as i64,
                        headings,
                        stored.text,
                        stored.hash
                    ])?;
                }
            }
            transaction.execute("DELETE FROM files WHERE source = ?1", [source])?;
            let mut file = transaction
                .prepare("INSERT INTO files (source, path, size, modified_ns) VALUES (?1, ?2, ?3, ?4)")?;
            for (path, stored) in change.files {
                file.execute(params![source, path, stored.size, stored.modified_ns])?;
            }
        }
        let Pinned { version, recipe, refreshed_at, calibration } = &change.pinned;
        transaction.execute(
            "INSERT OR REPLACE INTO corpora (source, version, recipe, refreshed_at, calibration)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![source, version, recipe, refreshed_at, calibration],
        )?;
        transaction.execute(
            "DELETE FROM vectors WHERE embedding = ?1 AND hash NOT IN (SELECT hash FROM passages)",
            [change.embedding],
        )?;
        transaction.commit()?;
        Ok(())
    }
}

fn pinned(connection: &Connection, source: &str) -> Result<Option<Pinned>, StoreError> {
    let query = "SELECT version, recipe, refreshed_at, calibration FROM corpora WHERE source = ?1";
    let pinned = connection
        .query_row(query, [source], |row| {
            Ok(Pinned {
                version: row.get(0)?,
                recipe: row.get(1)?,
                refreshed_at: row.get(2)?,
                calibration: row.get(3)?,
            })
        })
        .optional()?;
    Ok(pinned)
}
