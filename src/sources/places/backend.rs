//! Where places come from.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Matches, Place, gazetteer::Gazetteer};
use crate::sources::{Health, SourceError, geo::Point};

/// Something that knows places.
#[async_trait]
pub(super) trait Backend: Send + Sync {
    /// What `text` can mean, at most `limit` places. `lenient` allows guesses.
    async fn search(&self, text: &str, limit: usize, lenient: bool) -> Result<Matches, SourceError>;

    /// The places nearest to a point, the nearest first, at most `limit`.
    async fn nearest(&self, point: Point, limit: usize) -> Result<Vec<Place>, SourceError>;

    /// The largest places in the same division as `place`, at most `limit`, without itself.
    async fn beside(&self, place: &Place, limit: usize) -> Result<Vec<Place>, SourceError>;

    /// The place with an id, if there is one.
    async fn get(&self, id: &str) -> Result<Option<Place>, SourceError>;

    /// Identifies its data, for provenance.
    fn version(&self) -> String;

    /// What it is, for provenance: `geonames`, `nominatim`, ….
    fn name(&self) -> &'static str;

    /// How many places it holds, if it can tell.
    fn count(&self) -> u64;

    /// Whether it answered the last time.
    fn health(&self) -> Health;
}

/// The embedded gazetteer.
pub(super) struct Embedded(pub(super) Arc<Gazetteer>);

#[async_trait]
impl Backend for Embedded {
    async fn search(&self, text: &str, limit: usize, lenient: bool) -> Result<Matches, SourceError> {
        Ok(self.0.search(text, limit, lenient))
    }

    async fn nearest(&self, point: Point, limit: usize) -> Result<Vec<Place>, SourceError> {
        Ok(self.0.nearest(point, limit))
    }

    async fn beside(&self, place: &Place, limit: usize) -> Result<Vec<Place>, SourceError> {
        Ok(self.0.beside(&place.id, limit))
    }

    async fn get(&self, id: &str) -> Result<Option<Place>, SourceError> {
        Ok(self.0.get(id))
    }

    fn version(&self) -> String {
        self.0.version().to_owned()
    }

    fn name(&self) -> &'static str {
        "geonames"
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }

    fn health(&self) -> Health {
        Health::Healthy
    }
}
