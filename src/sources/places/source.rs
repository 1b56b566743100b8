//! The places source.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    How, Matches, Place,
    backend::{Backend, Embedded},
    gazetteer::Gazetteer,
    geocoder::Geocoder,
    settings::{BackendName, PlacesSettings, trust},
};
use crate::{
    config::SourceConfig,
    sources::{
        Candidates, Evidence, ExpandRequest, Expansion, Hit, MatchEvidence, Progress, Provenance, Reference,
        Refreshed, SearchRequest, Source, SourceError, Status, Strategy, Trust, registry::Surroundings,
    },
    text::hex,
};

/// Changes whenever the same data would be read or searched differently.
const RECIPE: &str = "places1";
/// Near places told with all details.
const NEAR: usize = 5;

/// Opens a places source.
pub(super) fn open(
    config: &SourceConfig,
    _surroundings: &Surroundings,
) -> Result<Arc<dyn Source>, SourceError> {
    let settings = PlacesSettings::read(&config.settings)
        .map_err(|error| SourceError::Unavailable(format!("{}: {}", error.key, error.message)))?;
    let backend: Arc<dyn Backend> = match settings.backend {
        BackendName::Gazetteer => Arc::new(Embedded(Gazetteer::shared()?)),
        named => {
            let options = settings
                .geocoder()
                .map_err(|error| SourceError::Unavailable(format!("{}: {}", error.key, error.message)))?;
            Arc::new(match named {
                BackendName::Photon => Geocoder::photon(options)?,
                BackendName::Mapbox => Geocoder::mapbox(options)?,
                _ => Geocoder::nominatim(options)?,
            })
        }
    };
    let opened = crate::text::now();
    Ok(Arc::new(PlacesSource { slug: config.slug.clone(), backend, opened, trust: trust(&config.settings) }))
}

struct PlacesSource {
    slug: String,
    backend: Arc<dyn Backend>,
    /// When the data was taken into use, RFC 3339.
    opened: String,
    trust: Trust,
}

#[async_trait]
impl Source for PlacesSource {
    async fn search(&self, request: SearchRequest) -> Result<Candidates, SourceError> {
        let Matches { places, fitting, dominant, how, unknown } =
            self.backend.search(&request.query, request.limit, request.lenient).await?;
        let hits = places
            .into_iter()
            .enumerate()
            .map(|(rank, place)| Hit { score: score(how, rank < fitting), ..self.hit(&place) })
            .collect();
        let words = request.query.split_whitespace().count();
        let known_terms = if fitting == 0 { 0 } else { words.saturating_sub(unknown.len()) };
        let reliability = reliability(how);
        let evidence = MatchEvidence { fitting, dominant, reliability, unknown_terms: unknown, known_terms };
        Ok(Candidates { hits, evidence: Evidence::Matched(evidence) })
    }

    async fn locate(&self, reference: &Reference) -> Result<Hit, SourceError> {
        Ok(self.hit(&self.get(reference).await?))
    }

    async fn expand(&self, request: ExpandRequest) -> Result<Expansion, SourceError> {
        let place = self.get(&request.reference).await?;
        let others = match request.strategy {
            Strategy::Document => Vec::new(),
            // On each side, there: here, all around.
            Strategy::Adjacent => self.near(&place, 2 * request.window).await?,
            Strategy::Section => self.backend.beside(&place, 2 * request.window).await?,
            strategy => {
                return Err(SourceError::StrategyNotSupported { strategy, supported: STRATEGIES.to_vec() });
            }
        };
        let mut origin = self.hit(&place);
        if request.strategy == Strategy::Document {
            origin.text = place.details(&self.near(&place, NEAR).await?);
        }
        let others = others.iter().map(|other| {
            let mut hit = self.hit(other);
            hit.text = format!("{} away. {}", place.away(other), hit.text);
            if let Some(data) = hit.data.as_mut().and_then(|data| data.as_object_mut()) {
                data.insert("distance_m".to_owned(), json!(place.point.distance(other.point).round()));
            }
            hit
        });
        Ok(Expansion::within(request.budget, origin, others))
    }

    async fn refresh(&self, _progress: Arc<dyn Progress>) -> Result<Refreshed, SourceError> {
        let count = self.backend.count();
        Ok(Refreshed { documents: count, passages: count, ..Refreshed::default() })
    }

    fn strategies(&self) -> &[Strategy] {
        &STRATEGIES
    }

    fn status(&self) -> Status {
        let count = self.backend.count();
        Status {
            health: self.backend.health(),
            documents: count,
            passages: count,
            index_version: Some(self.backend.version()),
            last_refreshed: Some(self.opened.clone()),
            calibration: None,
        }
    }
}

/// Everything about the place, what else is in its division, what is near.
static STRATEGIES: [Strategy; 3] = [Strategy::Document, Strategy::Section, Strategy::Adjacent];

impl PlacesSource {
    async fn get(&self, reference: &Reference) -> Result<Place, SourceError> {
        let place = if reference.position == 0 { self.backend.get(&reference.document).await? } else { None };
        place.ok_or_else(|| SourceError::ReferenceNotFound(reference.clone()))
    }

    /// The nearest places, without itself.
    async fn near(&self, place: &Place, limit: usize) -> Result<Vec<Place>, SourceError> {
        let mut near = self.backend.nearest(place.point, limit + 1).await?;
        near.retain(|other| other.id != place.id);
        near.truncate(limit);
        Ok(near)
    }

    fn hit(&self, place: &Place) -> Hit {
        let text = place.summary();
        let context = place.context();
        Hit {
            reference: Reference { source: self.slug.clone(), document: place.id.clone(), position: 0 },
            document: place.id.clone(),
            score: 0.0,
            title: place.name.clone(),
            section: (!context.is_empty()).then_some(context),
            label: Some(place.label()),
            url: place.url.clone(),
            position: 0,
            provenance: Provenance {
                origin: format!("{}:{}", self.backend.name(), place.id),
                fetched_at: self.opened.clone(),
                trust: self.trust,
                content_sha256: hex(&Sha256::digest(text.as_bytes())),
                index_version: self.backend.version(),
                recipe_version: RECIPE.to_owned(),
                rewritten: false,
                writer: None,
                revision: None,
            },
            text,
            data: Some(place.fields()),
            notes: Vec::new(),
        }
    }
}

/// How likely the right place is among those that fit. Of the queries in `tests/data/places.tsv` that name
/// one, the guesses were right at least as often; a name in a longer text says little of what is asked.
fn reliability(how: How) -> f32 {
    match how {
        How::Point => 0.99,
        How::Exact => 0.97,
        How::Similar(0 | 1) => 0.85,
        How::Beginning => 0.8,
        How::Similar(_) => 0.75,
        How::Part => 0.3,
    }
}

fn score(how: How, fits: bool) -> f32 {
    let best = reliability(how);
    if fits { best } else { best / 2.0 }
}
