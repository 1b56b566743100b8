//! How remote models answered when they were first seen, so that a replaced one is noticed across
//! restarts and between processes.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior, params};

use super::{StoreError, connect};
use crate::search::remote::{Memory, Sighting};

/// Sightings of remote models. Cheap to make; opens a connection for each use.
#[derive(Debug, Clone)]
pub struct EmbeddingStore {
    data_dir: PathBuf,
}

impl EmbeddingStore {
    /// The sightings in `data_dir`.
    pub fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned() }
    }

    fn find(&self, name: &str) -> Result<Vec<Noted>, StoreError> {
        noted(&connect(&self.data_dir)?, name)
    }

    fn take(&self, name: &str, now: &Sighting) -> Result<Sighting, StoreError> {
        let mut connection = connect(&self.data_dir)?;
        // Immediate: two processes that see a new model together must agree on one sighting of it.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = noted(&transaction, name)?;
        let latest = before.iter().map(|noted| noted.seen).max().unwrap_or(0);
        // The first that fits: what later ones are compared with must not drift along with them.
        let sighting = match before.into_iter().find(|noted| noted.sighting.is_same(now)) {
            Some(Noted { number, seen, sighting }) => {
                if seen < latest {
                    transaction.execute(
                        "UPDATE embeddings SET seen = ?2 WHERE number = ?1",
                        params![number, latest + 1],
                    )?;
                }
                sighting
            }
            None => {
                transaction.execute(
                    "INSERT INTO embeddings (name, seen, canary) VALUES (?1, ?2, ?3)",
                    params![name, latest + 1, to_bytes(&now.canary)],
                )?;
                now.clone()
            }
        };
        transaction.commit()?;
        Ok(sighting)
    }
}

impl Memory for EmbeddingStore {
    fn last(&self, name: &str) -> Result<Option<Sighting>, String> {
        let noted = self.find(name).map_err(|error| error.to_string())?;
        Ok(noted.into_iter().max_by_key(|noted| noted.seen).map(|noted| noted.sighting))
    }

    fn knows(&self, name: &str, now: &Sighting) -> Result<bool, String> {
        let noted = self.find(name).map_err(|error| error.to_string())?;
        Ok(noted.iter().any(|noted| noted.sighting.is_same(now)))
    }

    fn note(&self, name: &str, now: &Sighting) -> Result<Sighting, String> {
        self.take(name, now).map_err(|error| error.to_string())
    }
}

/// A row of the table.
struct Noted {
    number: i64,
    seen: i64,
    sighting: Sighting,
}

/// The sightings of a name, in the order they were first noted.
fn noted(connection: &Connection, name: &str) -> Result<Vec<Noted>, StoreError> {
    let mut statement =
        connection.prepare("SELECT number, seen, canary FROM embeddings WHERE name = ?1 ORDER BY number")?;
    let rows = statement.query_map([name], |row| {
        let canary = from_bytes(row.get_ref(2)?.as_blob()?);
        Ok(Noted { number: row.get(0)?, seen: row.get(1)?, sighting: Sighting { canary } })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|component| component.to_le_bytes()).collect()
}

fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|component| f32::from_le_bytes(*component)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(degrees: f32) -> Sighting {
        Sighting { canary: vec![degrees.to_radians().cos(), degrees.to_radians().sin()] }
    }

    #[test]
    fn the_first_sighting_of_a_model_stands_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddingStore::new(folder.path());
        assert_eq!(store.last("a"), Ok(None));
        assert_eq!(store.note("a", &at(0.0)), Ok(at(0.0)));
        // 2° from the first is the same, 4° is not, however small the steps that led there.
        assert_eq!(store.note("a", &at(2.0)), Ok(at(0.0)));
        assert_eq!(store.knows("a", &at(2.0)), Ok(true));
        assert_eq!(store.knows("a", &at(4.0)), Ok(false));
        assert_eq!(store.note("a", &at(4.0)), Ok(at(4.0)));
        assert_eq!(store.last("a"), Ok(Some(at(4.0))));
        // One that comes back is recognised, and was seen last again.
        assert_eq!(store.note("a", &at(1.0)), Ok(at(0.0)));
        assert_eq!(store.last("a"), Ok(Some(at(0.0))));
        assert_eq!(EmbeddingStore::new(folder.path()).last("b"), Ok(None));
    }
}
