//! From the ends of a trip, as written, to points: through a source of places.

use std::sync::Arc;

use super::query::Trip;
use crate::sources::{
    Evidence, Hit, OpenPart, Reference, SearchRequest, Settled, Source, SourceError, geo::Point,
};

/// Places looked at for one end.
const MOST: usize = 50;
/// Ends of a route in one reference.
const ENDS: usize = 10;

/// A point that a route passes, and what it is called.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Waypoint {
    pub(super) point: Point,
    /// For people.
    pub(super) name: String,
    /// In references: `=id` of a place, or `latitude,longitude`.
    pub(super) spelled: String,
}

/// What the ends of a trip come to.
pub(super) struct Resolved {
    /// A point for each end, the likeliest where several fit; none if an end is nowhere.
    pub(super) waypoints: Option<Vec<Waypoint>>,
    /// The ends that have to be settled.
    pub(super) open: Vec<OpenPart>,
}

/// Finds ends in a source of places.
pub(super) struct Ends {
    pub(super) places: Arc<dyn Source>,
    /// The slug of that source.
    pub(super) slug: String,
}

impl Ends {
    /// Finds all ends of a trip, with what was said about them.
    ///
    /// # Errors
    /// What the source of places says.
    pub(super) async fn resolve(
        &self,
        trip: &Trip,
        request: &SearchRequest,
    ) -> Result<Resolved, SourceError> {
        let (mut waypoints, mut open) = (Vec::new(), Vec::new());
        for (n, written) in trip.ends.iter().enumerate() {
            let slot = trip.slot(n);
            let said = request.settled.iter().rev().find(|settled| settled.slot == slot);
            let (found, options) = self.end(written, said, request.lenient).await?;
            waypoints.push(found);
            if let Some(options) = options {
                open.push(OpenPart { slot, what: trip.what(n), written: written.clone(), options });
            }
        }
        Ok(Resolved { waypoints: waypoints.into_iter().collect(), open })
    }

    /// The likeliest point of an end, and what there is to choose from if that is not settled.
    async fn end(
        &self,
        written: &str,
        said: Option<&Settled>,
        lenient: bool,
    ) -> Result<(Option<Waypoint>, Option<Vec<Hit>>), SourceError> {
        // What was chosen comes first, if it is a place; then a point or a reference; then names.
        let references = [said.and_then(|said| said.choice.as_deref()), Some(written)];
        for reference in references.into_iter().flatten() {
            if let Some(waypoint) = self.referred(reference).await? {
                return Ok((Some(waypoint), None));
            }
        }
        if let Some(point) = Point::read(written) {
            return Ok((Some(Waypoint::at(point)), None));
        }
        let words = said.and_then(|said| said.text.as_deref());
        let mut last = (Vec::new(), 0);
        let readings = words.map_or(vec![written.to_owned()], |words| {
            vec![format!("{written} {words}"), words.to_owned(), written.to_owned()]
        });
        for reading in readings {
            let request = SearchRequest { lenient, ..SearchRequest::new(reading, MOST) };
            let found = self.places.search(request).await?;
            let fitting = match found.evidence {
                Evidence::Matched(evidence) if evidence.unknown_terms.is_empty() => evidence.fitting,
                _ => 0,
            };
            if fitting == 1 {
                return Ok((found.hits.first().and_then(Waypoint::of), None));
            }
            if fitting > 1 {
                last = (found.hits, fitting);
                break;
            }
        }
        let (hits, fitting) = last;
        let likeliest = hits.first().and_then(Waypoint::of);
        Ok((likeliest, Some(hits.into_iter().take(fitting).collect())))
    }

    /// The place that a reference of the source of places stands for, if it is one.
    async fn referred(&self, text: &str) -> Result<Option<Waypoint>, SourceError> {
        let Ok(reference) = text.parse::<Reference>() else { return Ok(None) };
        if reference.source != self.slug {
            return Ok(None);
        }
        match self.places.locate(&reference).await {
            Ok(hit) => Ok(Waypoint::of(&hit)),
            Err(SourceError::ReferenceNotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The waypoints that a route's document is made of; `None` if it is none.
    ///
    /// # Errors
    /// What the source of places says.
    pub(super) async fn read(&self, document: &str) -> Result<Option<Vec<Waypoint>>, SourceError> {
        let parts: Vec<&str> = document.split('>').collect();
        if !(2..=ENDS).contains(&parts.len()) {
            return Ok(None);
        }
        let mut waypoints = Vec::new();
        for part in parts {
            let found = match part.strip_prefix('=') {
                Some(id) => self.referred(&format!("{}/{id}#0", self.slug)).await?,
                None => Point::read(part).map(Waypoint::at).filter(|waypoint| waypoint.spelled == part),
            };
            let Some(waypoint) = found else { return Ok(None) };
            waypoints.push(waypoint);
        }
        Ok(Some(waypoints))
    }
}

impl Waypoint {
    fn at(point: Point) -> Self {
        let spelled = format!("{:.5},{:.5}", point.latitude, point.longitude);
        // What the reference says is what is driven to.
        let point = Point::read(&spelled).unwrap_or(point);
        Self { point, name: spelled.replace(',', ", "), spelled }
    }

    /// The waypoint that a place is.
    fn of(hit: &Hit) -> Option<Self> {
        let point: Point = serde_json::from_value(hit.data.as_ref()?.get("coordinates")?.clone()).ok()?;
        let name = hit.label.clone().unwrap_or_else(|| hit.title.clone());
        Some(Self { point, name, spelled: format!("={}", hit.document) })
    }
}

/// The document of the ways through some waypoints.
pub(super) fn document(waypoints: &[Waypoint]) -> String {
    waypoints.iter().map(|waypoint| waypoint.spelled.as_str()).collect::<Vec<_>>().join(">")
}
