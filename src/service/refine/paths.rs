//! Where a query leads from a hit.

use super::StrategyChoice;
use crate::{
    confidence::gate::{self, Reason},
    dialogue::Choice,
    service::find::{DEPTH, Found},
    sources::{Hit, Reference},
    text::excerpt,
};

/// Where the query leads.
pub(super) struct Lead {
    /// Where to read on without asking.
    pub(super) target: Reference,
    /// What there is to choose from; fewer than two: nothing.
    pub(super) paths: Vec<Choice>,
    /// Why to ask, if at all.
    pub(super) ask: Option<Reason>,
}

/// Share of the best hit's score from which another hit is a path beside it.
const NEAR: f32 = 0.5;

/// Reads the hits of the query as paths from the origin.
///
/// Nothing fits well: ask in words. The best hit lies in the origin's document: read on there. It
/// lies elsewhere and nothing here comes near it: go there. It lies elsewhere and something here comes
/// near it: several paths, so the user picks.
pub(super) fn lead(origin: &Hit, found: &Found, strategy: StrategyChoice) -> Lead {
    let stay = Lead { target: origin.reference.clone(), paths: Vec::new(), ask: None };
    let verdict = found.judged.as_ref().and_then(|judged| judged.verdict.ask);
    // A named strategy says how to read from the reference given: the query moves nothing.
    if strategy != StrategyChoice::Auto {
        return stay;
    }
    if let Some(reason) = verdict.filter(|reason| reason.form() == gate::Form::Clarification) {
        return Lead { ask: Some(reason), ..stay };
    }
    let best = found.hits.first().map_or(0.0, |hit| hit.score);
    let top: Vec<&Hit> = found.hits.iter().take(DEPTH).filter(|hit| hit.score >= NEAR * best).collect();
    let here = top.iter().find(|hit| hit.document == origin.document);
    match (top.first(), here) {
        (Some(best), Some(_)) if best.document == origin.document => {
            Lead { target: best.reference.clone(), ..stay }
        }
        (Some(_), Some(here)) => {
            let paths = paths(here, &top);
            let ask = (paths.len() >= 2).then_some(Reason::Ambiguous);
            Lead { target: here.reference.clone(), paths, ask }
        }
        (Some(best), None) => Lead { target: best.reference.clone(), ..stay },
        _ => stay,
    }
}

/// The best passage here first, then the best of each other document, at most five in all.
fn paths(here: &Hit, top: &[&Hit]) -> Vec<Choice> {
    let mut documents: Vec<&str> = Vec::new();
    let mut paths: Vec<Choice> = Vec::new();
    for hit in std::iter::once(&here).chain(top) {
        if documents.contains(&hit.document.as_str()) || paths.len() == 5 {
            continue;
        }
        documents.push(&hit.document);
        let place = if hit.document == here.document { "here" } else { "in another document" };
        let section = hit.section.as_deref().map(|section| format!(" › {section}")).unwrap_or_default();
        let mut label = excerpt(&format!("{}{section} ({place})", hit.title), 120);
        if paths.iter().any(|earlier| earlier.label == label) {
            label = excerpt(&format!("{}: {label}", hit.document), 120);
        }
        paths.push(Choice { reference: hit.reference.to_string(), label });
    }
    paths
}
