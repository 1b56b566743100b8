//! Options for a choice: from the first hits to a few that a person can tell apart.

use std::collections::HashSet;

use super::{Reason, Similarity, clusters};
use crate::text::excerpt;

/// Longest label, in characters.
const LABEL: usize = 120;
/// Cosine above which two hits say the same.
const SAME: f32 = 0.95;
/// Cosine from which hits belong to one cluster when picking one of each.
const LINK: f32 = 0.6;
/// Options offered at most, "none of these" not counted.
const MOST: usize = 5;

/// A hit as far as options look at it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its document.
    pub document: &'a str,
    /// The document's title.
    pub title: &'a str,
    /// Its section.
    pub section: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// Place of its hit among the candidates.
    pub index: usize,
    /// What a person reads: distinct, without control characters, at most 120 characters.
    pub label: String,
}

/// Two to five options from the first hits, best first: near-duplicates merged, one per section
/// of a document; for [`Reason::Ambiguous`] the best of each cluster comes before the others.
/// `None` where fewer than two can be told apart.
pub fn build(reason: Reason, candidates: &[Candidate<'_>], similarity: &Similarity) -> Option<Vec<Labelled>> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    if reason == Reason::Ambiguous {
        let first: Vec<usize> =
            clusters(similarity, LINK).into_iter().filter_map(|c| c.first().copied()).collect();
        order.sort_by_key(|index| (!first.contains(index), *index));
    }
    let mut kept: Vec<usize> = Vec::new();
    for index in order {
        let Some(candidate) = candidates.get(index) else { continue };
        let repeats = kept.iter().any(|other| {
            let same_place = candidates.get(*other).is_some_and(|other| {
                (other.document, other.section) == (candidate.document, candidate.section)
            });
            same_place || similarity.get(index, *other) > SAME
        });
        if !repeats && kept.len() < MOST {
            kept.push(index);
        }
    }
    let labelled = label(&kept, candidates);
    (labelled.len() >= 2).then_some(labelled)
}

/// Titles; where titles repeat, with the section; where those repeat too, with the beginning of
/// the text. What is still the same cannot be told apart and is left out.
fn label(kept: &[usize], candidates: &[Candidate<'_>]) -> Vec<Labelled> {
    let hits: Vec<(usize, &Candidate<'_>)> =
        kept.iter().filter_map(|index| Some((*index, candidates.get(*index)?))).collect();
    let forms: [&dyn Fn(&Candidate<'_>) -> String; 3] = [
        &|hit| hit.title.to_owned(),
        &|hit| {
            hit.section.map_or_else(|| hit.title.to_owned(), |section| format!("{} › {section}", hit.title))
        },
        &|hit| format!("{}: “{}”", excerpt(hit.title, 50), excerpt(hit.text, 60)),
    ];
    let mut seen = HashSet::new();
    hits.iter()
        .filter_map(|(index, hit)| {
            let alone = |form: &dyn Fn(&Candidate<'_>) -> String| {
                let mine = excerpt(&form(hit), LABEL);
                let repeated =
                    hits.iter().filter(|(_, other)| excerpt(&form(other), LABEL) == mine).count() > 1;
                (!repeated && !mine.is_empty()).then_some(mine)
            };
            let label = forms.iter().find_map(|form| alone(form))?;
            seen.insert(label.clone()).then_some(Labelled { index: *index, label })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate<'a>(document: &'a str, title: &'a str, section: Option<&'a str>) -> Candidate<'a> {
        Candidate { document, title, section, text: document }
    }

    fn labels(reason: Reason, candidates: &[Candidate<'_>], similarity: &Similarity) -> Vec<(usize, String)> {
        build(reason, candidates, similarity)
            .unwrap_or_default()
            .into_iter()
            .map(|o| (o.index, o.label))
            .collect()
    }

    #[test]
    fn titles_then_sections_then_text() {
        let candidates = [
            candidate("a", "Setup", Some("Linux")),
            candidate("b", "Setup", Some("Mac")),
            candidate("c", "Use", None),
            candidate("d", "Twin", None),
            candidate("e", "Twin", None),
        ];
        let apart = Similarity::new(5, |_, _| 0.0);
        assert_eq!(
            labels(Reason::TooBroad, &candidates, &apart),
            [
                (0, "Setup › Linux".to_owned()),
                (1, "Setup › Mac".to_owned()),
                (2, "Use".to_owned()),
                (3, "Twin: “d”".to_owned()),
                (4, "Twin: “e”".to_owned()),
            ]
        );
    }

    #[test]
    fn near_duplicates_and_repeats_of_a_section_are_merged() {
        let candidates = [candidate("a", "A", None), candidate("b", "B", None), candidate("a", "A", None)];
        let alike = Similarity::new(3, |i, j| if (i, j) == (0, 1) { 0.96 } else { 0.0 });
        assert_eq!(build(Reason::TooBroad, &candidates, &alike), None);
        let apart = Similarity::new(3, |_, _| 0.0);
        assert_eq!(labels(Reason::TooBroad, &candidates, &apart).len(), 2);
    }

    #[test]
    fn ambiguity_shows_every_sense_first() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let candidates: Vec<_> = names.iter().map(|name| candidate(name, name, None)).collect();
        // 0 to 5 are about one thing, 6 about another.
        let senses = Similarity::new(7, |_, j| if j == 6 { 0.0 } else { 0.8 });
        let indices = |reason| labels(reason, &candidates, &senses).iter().map(|l| l.0).collect::<Vec<_>>();
        assert_eq!(indices(Reason::Ambiguous), [0, 6, 1, 2, 3]);
        assert_eq!(indices(Reason::TooBroad), [0, 1, 2, 3, 4]);
    }

    proptest! {
        #[test]
        fn options_are_few_distinct_short_and_clean(
            hits in prop::collection::vec(("[a-c]", ".{0,200}", prop::option::of(".{0,200}"), ".{0,99}"), 0..12),
        ) {
            let candidates: Vec<_> = hits
                .iter()
                .map(|(d, t, s, x)| Candidate { document: d, title: t, section: s.as_deref(), text: x })
                .collect();
            let similarity = Similarity::new(candidates.len().min(10), |_, _| 0.1);
            for reason in [Reason::Ambiguous, Reason::TooBroad] {
                if let Some(options) = build(reason, &candidates, &similarity) {
                    prop_assert!((2..=10).contains(&options.len()));
                    let distinct: HashSet<&str> = options.iter().map(|o| o.label.as_str()).collect();
                    prop_assert_eq!(distinct.len(), options.len());
                    for option in &options {
                        prop_assert!(option.index < candidates.len());
                        prop_assert!(option.label.chars().count() <= LABEL);
                        prop_assert!(!option.label.chars().any(char::is_control));
                    }
                }
            }
        }
    }
}
