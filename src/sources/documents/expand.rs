//! Reading on from a passage.

use crate::{
    search::{dense, embedder::Embedder},
    sources::{ExpandRequest, Expansion, Passage, SourceError, Strategy},
};

use super::version::{Labels, Version};

/// What this kind offers, in the order `auto` prefers it.
pub(super) const STRATEGIES: &[Strategy] =
    &[Strategy::Section, Strategy::Adjacent, Strategy::Document, Strategy::Similar];

/// Reads on from the passage of the request.
pub(super) fn expand(
    version: &Version,
    embedder: &dyn Embedder,
    labels: &Labels<'_>,
    request: &ExpandRequest,
) -> Result<Expansion, SourceError> {
    let not_found = || SourceError::ReferenceNotFound(request.reference.clone());
    let origin = version.find(&request.reference).ok_or_else(not_found)?;
    let (entry, passage, _) = version.passage(origin).ok_or_else(not_found)?;
    let (first, last) = (entry.first, entry.first + entry.document.passages.len() as u32 - 1);
    let window = u32::try_from(request.window).unwrap_or(u32::MAX);
    let range = match request.strategy {
        Strategy::Adjacent => {
            origin.saturating_sub(window).max(first)..=origin.saturating_add(window).min(last)
        }
        Strategy::Document => first..=last,
        Strategy::Section => {
            let same = |ordinal: &u32| {
                version
                    .passage(*ordinal)
                    .is_some_and(|(_, other, _)| in_section(&passage.headings, &other.headings))
            };
            let start = (first..origin).rev().take_while(same).last().unwrap_or(origin);
            let end = (origin + 1..=last).take_while(same).last().unwrap_or(origin);
            start..=end
        }
        Strategy::Similar => return similar(version, embedder, labels, request, origin),
        strategy => {
            return Err(SourceError::StrategyNotSupported { strategy, supported: STRATEGIES.to_vec() });
        }
    };
    let order = outward(origin, *range.start(), *range.end());
    let mut kept = within_budget(version, embedder, request, order.into_iter());
    let truncated = kept.truncated;
    kept.ordinals.sort_unstable();
    Ok(assemble(version, labels, origin, kept.ordinals.into_iter().map(|ordinal| (ordinal, 0.0)), truncated))
}

/// Whether `other` stands in the section of a passage under `headings`: under the same headings,
/// or below them. Text before the first heading is a section of its own.
fn in_section(headings: &[String], other: &[String]) -> bool {
    if headings.is_empty() { other.is_empty() } else { other.starts_with(headings) }
}

/// The ordinals of a range from the origin outward: after, before, after, before …
fn outward(origin: u32, start: u32, end: u32) -> Vec<u32> {
    let after = (origin + 1..=end).map(Some).chain(std::iter::repeat(None));
    let before = (start..origin).rev().map(Some).chain(std::iter::repeat(None));
    let pairs = after.zip(before).take_while(|(after, before)| after.is_some() || before.is_some());
    std::iter::once(origin)
        .chain(pairs.flat_map(|(after, before)| [after, before].into_iter().flatten()))
        .collect()
}

struct Kept {
    ordinals: Vec<u32>,
    truncated: bool,
}

/// The passages that fit the budget, nearest first; the origin always does.
fn within_budget(
    version: &Version,
    embedder: &dyn Embedder,
    request: &ExpandRequest,
    ordinals: impl Iterator<Item = u32>,
) -> Kept {
    let mut left = request.budget.max_tokens;
    let mut kept = Kept { ordinals: Vec::new(), truncated: false };
    for ordinal in ordinals {
        let Some((_, passage, _)) = version.passage(ordinal) else { continue };
        let cost = embedder.count_tokens(&passage.text);
        if cost > left && !kept.ordinals.is_empty() {
            kept.truncated = true;
            break;
        }
        left = left.saturating_sub(cost);
        kept.ordinals.push(ordinal);
    }
    kept
}

/// The passages of other documents nearest to the origin, or to the origin and the query together.
fn similar(
    version: &Version,
    embedder: &dyn Embedder,
    labels: &Labels<'_>,
    request: &ExpandRequest,
    origin: u32,
) -> Result<Expansion, SourceError> {
    let dense = version.index.dense();
    let mut vector = dense.vector(origin as usize).unwrap_or_default();
    if let Some(query) = &request.query {
        let embedded =
            embedder.embed(&[query]).map_err(|error| SourceError::internal("embedding a query", error))?;
        for (x, y) in vector.iter_mut().zip(embedded.iter().flatten()) {
            *x = (*x + y) / 2.0;
        }
    }
    let own = |ordinal: u32| {
        version.passage(ordinal).map(|(entry, _, _)| entry.first)
            == version.passage(origin).map(|(entry, _, _)| entry.first)
    };
    let cosines = dense.cosines(&vector);
    let wanted = request.window.max(1);
    let nearest: Vec<(u32, f32)> =
        dense::top(&cosines, cosines.len()).into_iter().filter(|hit| !own(hit.0)).take(wanted).collect();
    let order = std::iter::once(origin).chain(nearest.iter().map(|hit| hit.0));
    let kept = within_budget(version, embedder, request, order);
    let score = |ordinal: u32| nearest.iter().find(|hit| hit.0 == ordinal).map_or(1.0, |hit| hit.1);
    let scored: Vec<(u32, f32)> = kept.ordinals.iter().map(|ordinal| (*ordinal, score(*ordinal))).collect();
    Ok(assemble(version, labels, origin, scored.into_iter(), kept.truncated))
}

fn assemble(
    version: &Version,
    labels: &Labels<'_>,
    origin: u32,
    ordinals: impl Iterator<Item = (u32, f32)>,
    truncated: bool,
) -> Expansion {
    let passages = ordinals
        .filter_map(|(ordinal, score)| {
            let hit = version.hit(ordinal, score, labels)?;
            Some(Passage { hit, is_origin: ordinal == origin })
        })
        .collect();
    Expansion { passages, truncated }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_outward_from_the_origin() {
        assert_eq!(outward(3, 1, 6), [3, 4, 2, 5, 1, 6]);
        assert_eq!(outward(0, 0, 2), [0, 1, 2]);
        assert_eq!(outward(2, 2, 2), [2]);
    }

    #[test]
    fn a_section_holds_what_is_below_its_heading() {
        let path =
            |text: &str| text.split('/').filter(|h| !h.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        assert!(in_section(&path("A"), &path("A")));
        assert!(in_section(&path("A"), &path("A/B")));
        assert!(!in_section(&path("A/B"), &path("A")));
        assert!(!in_section(&path("A"), &path("B")));
        assert!(in_section(&path(""), &path("")));
        assert!(!in_section(&path(""), &path("A")));
    }
}
