//! Reading on from a passage.

use crate::{
    search::{dense, embedder::Embedder},
    sources::{ExpandRequest, Expansion, Passage, SourceError, Strategy},
};

use super::contents::{Contents, Labels};

/// What this kind offers, in the order `auto` prefers it.
pub(super) const STRATEGIES: &[Strategy] =
    &[Strategy::Section, Strategy::Adjacent, Strategy::Document, Strategy::Similar];

/// Reads on from the passage of the request.
pub(super) fn expand(
    contents: &Contents,
    labels: &Labels<'_>,
    request: &ExpandRequest,
) -> Result<Expansion, SourceError> {
    let not_found = || SourceError::ReferenceNotFound(request.reference.clone());
    let origin = contents.find(&request.reference).ok_or_else(not_found)?;
    let (entry, passage, _) = contents.passage(origin).ok_or_else(not_found)?;
    let (first, last) = (entry.first, entry.first + entry.document.passages.len() as u32 - 1);
    let window = u32::try_from(request.window).unwrap_or(u32::MAX);
    let range = match request.strategy {
        Strategy::Adjacent => {
            origin.saturating_sub(window).max(first)..=origin.saturating_add(window).min(last)
        }
        Strategy::Document => first..=last,
        Strategy::Section => {
            let same = |ordinal: &u32| {
                contents
                    .passage(*ordinal)
                    .is_some_and(|(_, other, _)| in_section(&passage.headings, &other.headings))
            };
            let start = (first..origin).rev().take_while(same).last().unwrap_or(origin);
            let end = (origin + 1..=last).take_while(same).last().unwrap_or(origin);
            start..=end
        }
        Strategy::Similar => return similar(contents, labels, request, origin),
        strategy => {
            return Err(SourceError::StrategyNotSupported { strategy, supported: STRATEGIES.to_vec() });
        }
    };
    let order = outward(origin, *range.start(), *range.end());
    let side = |ordinal: u32| usize::from(ordinal > origin);
    let mut kept = within_budget(contents, request.budget.max_tokens, origin, &order, side);
    kept.ordinals.sort_unstable();
    Ok(assemble(contents, labels, origin, &kept, |_| 0.0))
}

/// Whether `other` stands in the section of a passage under `headings`: under the same headings,
/// or below them. Text before the first heading is a section of its own.
fn in_section(headings: &[String], other: &[String]) -> bool {
    if headings.is_empty() { other.is_empty() } else { other.starts_with(headings) }
}

/// The ordinals of a range from the origin outward, without it: after, before, after, before …
fn outward(origin: u32, start: u32, end: u32) -> Vec<u32> {
    let after = (origin + 1..=end).map(Some).chain(std::iter::repeat(None));
    let before = (start..origin).rev().map(Some).chain(std::iter::repeat(None));
    let pairs = after.zip(before).take_while(|(after, before)| after.is_some() || before.is_some());
    pairs.flat_map(|(after, before)| [after, before].into_iter().flatten()).collect()
}

/// What the budget allows.
struct Kept {
    ordinals: Vec<u32>,
    /// The origin's text, where it had to be cut.
    cut: Option<String>,
    truncated: bool,
}

/// The origin, cut if it must be, then as many of `order` as fit the budget. Each side (0 or 1) ends
/// at the first that does not fit: what is returned has no gaps.
fn within_budget(
    contents: &Contents,
    budget: usize,
    origin: u32,
    order: &[u32],
    side: impl Fn(u32) -> usize,
) -> Kept {
    let mut kept = Kept { ordinals: vec![origin], cut: None, truncated: false };
    let Some((_, passage, _)) = contents.passage(origin) else { return kept };
    let cost = contents.version.embedder.count_tokens(&passage.text);
    if cost > budget {
        kept.cut = Some(cut(&passage.text, budget, contents.version.embedder.as_ref()));
        kept.truncated = true;
        return kept;
    }
    let mut left = budget - cost;
    let mut ended = [false, false];
    for ordinal in order {
        let Some(ended) = ended.get_mut(side(*ordinal)).filter(|ended| !**ended) else { continue };
        let Some((_, passage, _)) = contents.passage(*ordinal) else { continue };
        let cost = contents.version.embedder.count_tokens(&passage.text);
        if cost > left {
            *ended = true;
            kept.truncated = true;
        } else {
            left -= cost;
            kept.ordinals.push(*ordinal);
        }
    }
    kept
}

/// The beginning of `text` that comes to at most `budget` tokens, in whole words if it has any.
fn cut(text: &str, budget: usize, embedder: &dyn Embedder) -> String {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let head = |end: &usize| text.get(..*end).unwrap_or_default();
    let fits = ends.partition_point(|end| embedder.count_tokens(head(end)) <= budget);
    let fitting = fits.checked_sub(1).and_then(|last| ends.get(last)).map(head).unwrap_or_default();
    let words = fitting.rfind(char::is_whitespace).and_then(|end| fitting.get(..end));
    words.unwrap_or(fitting).trim_end().to_owned()
}

/// The passages of other documents nearest to the origin, or to the origin and the query together.
fn similar(
    contents: &Contents,
    labels: &Labels<'_>,
    request: &ExpandRequest,
    origin: u32,
) -> Result<Expansion, SourceError> {
    let dense = contents.index.dense();
    let mut nearness = dense.cosines(&dense.vector(origin as usize).unwrap_or_default());
    if let Some(query) = &request.query {
        let embedded = contents.version.embedder.embed_query(query);
        let embedded = embedded.map_err(|error| SourceError::embedding("embedding a query", error))?;
        let to_query = dense.cosines(&embedded);
        for (near, to_query) in nearness.iter_mut().zip(to_query) {
            *near = (*near + to_query) / 2.0;
        }
    }
    let document = |ordinal: u32| {
        contents.passage(ordinal).map(|(entry, _, _)| (entry.first, entry.document.passages.len()))
    };
    let own = document(origin);
    // So many are enough: at worst all passages of the origin's document, and all that were replaced,
    // come first.
    let absent = contents.index.replaced();
    let enough = request.window.saturating_add(own.map_or(0, |(_, passages)| passages) + absent);
    let order: Vec<u32> = dense::top(&nearness, enough)
        .into_iter()
        .map(|hit| hit.0)
        .filter(|ordinal| document(*ordinal) != own && !contents.index.is_replaced(*ordinal))
        .take(request.window)
        .collect();
    let kept = within_budget(contents, request.budget.max_tokens, origin, &order, |_| 0);
    let cosine = |ordinal: u32| dense.cosine(origin as usize, ordinal as usize);
    Ok(assemble(contents, labels, origin, &kept, cosine))
}

fn assemble(
    contents: &Contents,
    labels: &Labels<'_>,
    origin: u32,
    kept: &Kept,
    score: impl Fn(u32) -> f32,
) -> Expansion {
    let passage = |ordinal: &u32| {
        let is_origin = *ordinal == origin;
        let mut hit = contents.hit(*ordinal, score(*ordinal), labels)?;
        if let Some(text) = kept.cut.as_ref().filter(|_| is_origin) {
            hit.text.clone_from(text);
        }
        Some(Passage { hit, is_origin })
    };
    Expansion { passages: kept.ordinals.iter().filter_map(passage).collect(), truncated: kept.truncated }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_outward_from_the_origin() {
        assert_eq!(outward(3, 1, 6), [4, 2, 5, 1, 6]);
        assert_eq!(outward(0, 0, 2), [1, 2]);
        assert!(outward(2, 2, 2).is_empty());
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
