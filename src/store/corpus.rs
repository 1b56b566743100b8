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

/// How a file looked from outside, to tell later whether it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: i64,
    /// Time of last modification, nanoseconds since 1970.
    pub modified_ns: i64,
}

/// What is stored about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// How it looked.
    pub stamp: Stamp,
    /// What its reader could not make sense of.
    pub warnings: Vec<String>,
    /// Whether a document of it was left out because another file has one of the same id.
    pub clash: bool,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Documents.
    pub documents: u64,
    /// Passages.
    pub passages: u64,
}

/// A document with its passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// The file it was read from, relative to the source; of contributed content, what its writer says
    /// it was drawn from.
    pub path: String,
    /// Title for people.
    pub title: String,
    /// Where a person can read the original.
    pub url: Option<String>,
    /// SHA-256 of its content, hex.
    pub sha256: String,
    /// When it was read or contributed, RFC 3339 in UTC.
    pub fetched_at: String,
    /// Who contributed it; nobody, if it is from a file.
    pub writer: Option<String>,
    /// Which revision of what was contributed it is.
    pub revision: Option<u64>,
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
    /// It holds what was contributed up to this change.
    pub contributed: u64,
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
    /// The embedding of `vectors`.
    pub embedding: &'a str,
    /// Vectors of the passages: those of `upserts` are stored with them. They were cached when
    /// made, but another source's change may have swept the cache since.
    pub vectors: &'a HashMap<TextHash, ByteVector>,
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
            .prepare("SELECT id, path, title, url, sha256, fetched_at, writer, revision FROM documents WHERE source = ?1")?;
        let mut rows = statement.query([&self.source])?;
        while let Some(row) = rows.next()? {
            let document = StoredDocument {
                path: row.get(1)?,
                title: row.get(2)?,
                url: row.get(3)?,
                sha256: row.get(4)?,
                fetched_at: row.get(5)?,
                writer: row.get(6)?,
                revision: row.get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
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
            let passage =
                StoredPassage { headings: from_json(&headings)?, text: row.get(2)?, hash: row.get(3)? };
            if let Some(document) =
                documents.get_mut(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)
            {
                document.passages.push(passage);
            }
        }
        Ok(Some((pinned, documents)))
    }

    /// Puts another calibration (JSON) beside `version`, if that is still in force; whether it was.
    pub fn recalibrate(&self, version: &str, calibration: &str) -> Result<bool, StoreError> {
        let changed = self.connect()?.execute(
            "UPDATE corpora SET calibration = ?3 WHERE source = ?1 AND version = ?2",
            params![self.source, version, calibration],
        )?;
        Ok(changed > 0)
    }

    /// The labelled queries (JSON) the owner has given, if any.
    pub fn labels(&self) -> Result<Option<String>, StoreError> {
        let query = "SELECT labels FROM labels WHERE source = ?1";
        Ok(self.connect()?.query_row(query, [&self.source], |row| row.get(0)).optional()?)
    }

    /// Keeps labelled queries (JSON), or forgets them.
    pub fn keep_labels(&self, labels: Option<&str>) -> Result<(), StoreError> {
        let connection = self.connect()?;
        match labels {
            Some(labels) => connection.execute(
                "INSERT OR REPLACE INTO labels (source, labels) VALUES (?1, ?2)",
                params![self.source, labels],
            )?,
            None => connection.execute("DELETE FROM labels WHERE source = ?1", [&self.source])?,
        };
        Ok(())
    }

    /// The files as last seen, by path.
    pub fn files(&self) -> Result<BTreeMap<String, StoredFile>, StoreError> {
        let connection = self.connect()?;
        let mut statement = connection
            .prepare("SELECT path, size, modified_ns, warnings, clash FROM files WHERE source = ?1")?;
        let mut rows = statement.query([&self.source])?;
        let mut files = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let warnings: String = row.get(3)?;
            let file = StoredFile {
                stamp: Stamp { size: row.get(1)?, modified_ns: row.get(2)? },
                warnings: from_json(&warnings)?,
                clash: row.get(4)?,
            };
            files.insert(row.get(0)?, file);
        }
        Ok(files)
    }

    /// How much the version in force holds.
    pub fn counts(&self) -> Result<Counts, StoreError> {
        let query = "SELECT (SELECT count(*) FROM documents WHERE source = ?1),
                            (SELECT count(*) FROM passages WHERE source = ?1)";
        let counts = self
            .connect()?
            .query_row(query, [&self.source], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        Ok(Counts { documents: counts.0.unsigned_abs(), passages: counts.1.unsigned_abs() })
    }

    /// Notes that the files were looked at and hold what is in force.
    pub fn touch(&self, files: &BTreeMap<String, StoredFile>, at: &str) -> Result<(), StoreError> {
        let mut connection = self.connect()?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        replace_files(&transaction, &self.source, files)?;
        transaction
            .execute("UPDATE corpora SET refreshed_at = ?2 WHERE source = ?1", params![self.source, at])?;
        transaction.commit()?;
        Ok(())
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
        insert_vectors(&transaction, embedding, vectors)?;
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
                "INSERT INTO documents (source, id, path, title, url, sha256, fetched_at, writer, revision)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
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
                let StoredDocument { path, title, url, sha256, fetched_at, writer, revision, passages } =
                    stored;
                let revision = revision.map(|revision| revision as i64);
                document
                    .execute(params![source, id, path, title, url, sha256, fetched_at, writer, revision])?;
                for (position, stored) in passages.iter().enumerate() {
                    let headings = to_json(&stored.headings)?;
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
        }
        let hashes =
            change.upserts.iter().flat_map(|(_, document)| document.passages.iter().map(|p| &p.hash));
        let vectors = hashes.filter_map(|hash| change.vectors.get_key_value(hash));
        insert_vectors(&transaction, change.embedding, vectors)?;
        replace_files(&transaction, source, change.files)?;
        let Pinned { version, recipe, refreshed_at, calibration, contributed } = &change.pinned;
        transaction.execute(
            "INSERT OR REPLACE INTO corpora (source, version, recipe, refreshed_at, calibration, contributed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![source, version, recipe, refreshed_at, calibration, *contributed as i64],
        )?;
        transaction.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)", [])?;
        transaction.commit()?;
        Ok(())
    }
}

fn insert_vectors<'a>(
    connection: &Connection,
    embedding: &str,
    vectors: impl Iterator<Item = (&'a TextHash, &'a ByteVector)>,
) -> Result<(), StoreError> {
    let mut insert = connection
        .prepare("INSERT OR REPLACE INTO vectors (embedding, hash, scale, bytes) VALUES (?1, ?2, ?3, ?4)")?;
    for (hash, vector) in vectors {
        let bytes: Vec<u8> = vector.bytes.iter().map(|byte| *byte as u8).collect();
        insert.execute(params![embedding, hash, f64::from(vector.scale), bytes])?;
    }
    Ok(())
}

fn replace_files(
    connection: &Connection,
    source: &str,
    files: &BTreeMap<String, StoredFile>,
) -> Result<(), StoreError> {
    connection.execute("DELETE FROM files WHERE source = ?1", [source])?;
    let mut insert = connection.prepare(
        "INSERT INTO files (source, path, size, modified_ns, warnings, clash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (path, file) in files {
        let StoredFile { stamp, warnings, clash } = file;
        insert.execute(params![source, path, stamp.size, stamp.modified_ns, to_json(warnings)?, clash])?;
    }
    Ok(())
}

fn to_json(texts: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(texts).map_err(|error| StoreError(error.to_string()))
}

fn from_json(json: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError(error.to_string()))
}

fn pinned(connection: &Connection, source: &str) -> Result<Option<Pinned>, StoreError> {
    let query =
        "SELECT version, recipe, refreshed_at, calibration, contributed FROM corpora WHERE source = ?1";
    let pinned = connection
        .query_row(query, [source], |row| {
            Ok(Pinned {
                version: row.get(0)?,
                recipe: row.get(1)?,
                refreshed_at: row.get(2)?,
                calibration: row.get(3)?,
                contributed: row.get::<_, i64>(4)?.unsigned_abs(),
            })
        })
        .optional()?;
    Ok(pinned)
}
