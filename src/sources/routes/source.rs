//! The routes source.

use std::sync::Arc;

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::{
    ends::{Ends, Resolved, Waypoint, document},
    engine::{Engine, Route},
    query::Trip,
    settings::RoutesSettings,
};
use crate::{
    access::Visibility,
    config::SourceConfig,
    sources::{
        Candidates, Evidence, ExpandRequest, Expansion, Hit, MatchEvidence, Progress, Provenance, Reference,
        Refreshed, SearchRequest, Source, SourceError, Status, Strategy, Trust,
        registry::{Family, Surroundings},
    },
    text::hex,
};

/// Changes whenever the same question would be put to the engine differently.
const RECIPE: &str = "routes1";
/// How likely the wanted way is among those found, once the ends are settled.
const RELIABILITY: f32 = 0.97;

/// All steps of a way; other ways.
static STRATEGIES: [Strategy; 2] = [Strategy::Document, Strategy::Adjacent];

/// Opens a routes source, with an adapter of its own for the places its ends are looked up in.
pub(super) fn open(
    config: &SourceConfig,
    surroundings: &Surroundings,
) -> Result<Arc<dyn Source>, SourceError> {
    let settings = RoutesSettings::read(&config.settings);
    let settings =
        settings.map_err(|error| SourceError::Unavailable(format!("{}: {}", error.key, error.message)))?;
    let options = settings
        .options()
        .map_err(|error| SourceError::Unavailable(format!("{}: {}", error.key, error.message)))?;
    let places = surroundings
        .configs
        .iter()
        .find(|other| other.slug == settings.places && other.kind.family() == Family::Places)
        .ok_or_else(|| SourceError::Unavailable("`places` names no source of kind places".to_owned()))?;
    // Questions about ends show what is in the source of places: nobody may see it here who may not there.
    if places.policy.visibility == Visibility::Restricted && places.policy != config.policy {
        let why = "its source of places is restricted: give both the same policy";
        return Err(SourceError::Unavailable(why.to_owned()));
    }
    let ends = Ends { places: places.kind.open(places, surroundings)?, slug: places.slug.clone() };
    let opened = crate::text::now();
    Ok(Arc::new(RoutesSource { slug: config.slug.clone(), ends, engine: Engine::new(options)?, opened }))
}

struct RoutesSource {
    slug: String,
    ends: Ends,
    engine: Engine,
    /// When it was opened, RFC 3339.
    opened: String,
}

#[async_trait]
impl Source for RoutesSource {
    async fn search(&self, request: SearchRequest) -> Result<Candidates, SourceError> {
        let nothing = |unknown_terms| Candidates {
            hits: Vec::new(),
            evidence: Evidence::Matched(MatchEvidence {
                fitting: 0,
                dominant: false,
                reliability: RELIABILITY,
                unknown_terms,
                known_terms: 0,
            }),
        };
        let Some(trip) = Trip::read(&request.query) else { return Ok(nothing(Vec::new())) };
        let Resolved { waypoints, open } = self.ends.resolve(&trip, &request).await?;
        let nowhere = open.iter().any(|part| part.options.is_empty());
        if nowhere && !request.lenient {
            // Asked along with other sources, "from … to …" may be about anything.
            return Ok(nothing(Vec::new()));
        }
        let hits = match &waypoints {
            Some(waypoints) => self.hits(waypoints).await?,
            None => Vec::new(),
        };
        if !open.is_empty() {
            return Ok(Candidates { hits, evidence: Evidence::Open(open) });
        }
        let evidence = MatchEvidence {
            fitting: hits.len(),
            dominant: false,
            reliability: RELIABILITY,
            unknown_terms: Vec::new(),
            known_terms: trip.ends.len(),
        };
        Ok(Candidates { hits, evidence: Evidence::Matched(evidence) })
    }

    async fn locate(&self, reference: &Reference) -> Result<Hit, SourceError> {
        let (waypoints, routes) = self.ways(reference).await?;
        let (n, route) = pick(&routes, reference)?;
        Ok(self.hit(&waypoints, n, route))
    }

    async fn expand(&self, request: ExpandRequest) -> Result<Expansion, SourceError> {
        let (waypoints, routes) = self.ways(&request.reference).await?;
        let (chosen, route) = pick(&routes, &request.reference)?;
        let mut origin = self.hit(&waypoints, chosen, route);
        let mut others = Vec::new();
        match request.strategy {
            Strategy::Document => origin.text = route.details(&waypoints),
            Strategy::Adjacent => {
                let beside = routes.iter().enumerate().filter(|(n, _)| *n != chosen);
                others.extend(beside.map(|(n, route)| self.hit(&waypoints, n, route)));
            }
            strategy => {
                return Err(SourceError::StrategyNotSupported { strategy, supported: STRATEGIES.to_vec() });
            }
        }
        Ok(Expansion::within(request.budget, origin, others))
    }

    async fn refresh(&self, _progress: Arc<dyn Progress>) -> Result<Refreshed, SourceError> {
        Ok(Refreshed::default())
    }

    fn strategies(&self) -> &[Strategy] {
        &STRATEGIES
    }

    fn status(&self) -> Status {
        Status {
            health: self.engine.health(),
            documents: 0,
            passages: 0,
            index_version: Some(self.engine.name().to_owned()),
            last_refreshed: Some(self.opened.clone()),
            calibration: None,
        }
    }
}

/// The way a reference stands for. Engines know no ids: where there are fewer ways than there were, the
/// best is the nearest thing to the one that is gone.
fn pick<'a>(routes: &'a [Route], reference: &Reference) -> Result<(usize, &'a Route), SourceError> {
    let wanted = reference.position as usize;
    let found = routes.get(wanted).map(|route| (wanted, route)).or_else(|| Some((0, routes.first()?)));
    found.ok_or_else(|| SourceError::ReferenceNotFound(reference.clone()))
}

impl RoutesSource {
    async fn routes(&self, waypoints: &[Waypoint]) -> Result<Vec<Route>, SourceError> {
        let points: Vec<_> = waypoints.iter().map(|waypoint| waypoint.point).collect();
        self.engine.routes(&points).await
    }

    async fn hits(&self, waypoints: &[Waypoint]) -> Result<Vec<Hit>, SourceError> {
        let routes = self.routes(waypoints).await?;
        let hits = routes.iter().enumerate();
        Ok(hits.map(|(n, route)| Hit { score: RELIABILITY, ..self.hit(waypoints, n, route) }).collect())
    }

    /// The ends a reference names, and the ways between them now.
    async fn ways(&self, reference: &Reference) -> Result<(Vec<Waypoint>, Vec<Route>), SourceError> {
        let waypoints = self.ends.read(&reference.document).await?;
        let waypoints = waypoints.ok_or_else(|| SourceError::ReferenceNotFound(reference.clone()))?;
        let routes = self.routes(&waypoints).await?;
        Ok((waypoints, routes))
    }

    fn hit(&self, waypoints: &[Waypoint], n: usize, route: &Route) -> Hit {
        let text = route.summary(waypoints);
        let document = document(waypoints);
        let position = u32::try_from(n).unwrap_or(u32::MAX);
        let names = [waypoints.first(), waypoints.last()].map(|end| end.map_or("", |end| end.name.as_str()));
        Hit {
            reference: Reference { source: self.slug.clone(), document: document.clone(), position },
            score: 0.0,
            title: names.join(" → "),
            section: None,
            label: Some(route.label()),
            url: None,
            position,
            provenance: Provenance {
                origin: format!("{}:{document}", self.engine.name()),
                fetched_at: crate::text::now(),
                trust: Trust::ExternalPassthrough,
                content_sha256: hex(&Sha256::digest(text.as_bytes())),
                index_version: self.engine.name().to_owned(),
                recipe_version: RECIPE.to_owned(),
                rewritten: false,
                writer: None,
                revision: None,
            },
            data: Some(route.fields(waypoints)),
            notes: Vec::new(),
            document,
            text,
        }
    }
}
