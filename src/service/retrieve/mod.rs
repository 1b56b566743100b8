//! `retrieve`: finding what fits a query, and asking the user when it is weak or ambiguous.

mod values;

use super::{
    Clarification, ConfidenceNote, Failure, Outcome, Service, ask, budget,
    chosen::{Chosen, chosen},
    describe_source::DataFreshness,
    find::{Found, find},
    outcome::{AnswerNote, Next, next},
    view::View,
};
pub use super::{find::Unavailable, view::Selector};
use crate::{
    access::{Caller, Scope},
    confidence::gate,
    config::Usage,
    dialogue::{Choice, Dialogue, MAX_TEXT, Round},
    sources::{Hit, Reference, registry::Entry},
};
pub use values::{ExecutedQuery, HitNote, QueryOrigin, Retrieve, Retrieved, RewriteMode, Standing};

/// Longest query accepted, in characters.
pub(super) const MAX_QUERY: usize = 8192;

/// How many hits there are at most.
const MOST_HITS: usize = 50;
/// How many are shown whoever does not say.
const USUAL_HITS: usize = 5;

/// The parts of a call that have been checked.
struct Checked<'a> {
    query: &'a str,
    entries: Vec<&'a Entry>,
    /// How many hits to show, if the caller said so.
    top_k: Option<usize>,
    clarification: Option<&'a str>,
    choice: Option<Reference>,
}

impl Service {
    /// One round of `retrieve`: runs from the top, reads earlier answers out of `dialogue`, and
    /// comes to an answer or a question. Keeps nothing.
    ///
    /// # Errors
    /// What no answer of the user could mend: bad arguments, unknown sources, nothing to search.
    pub async fn retrieve(
        &self,
        caller: &Caller,
        request: &Retrieve,
        dialogue: &Dialogue,
        request_id: &str,
    ) -> Result<Round<Retrieved>, Failure> {
        let view = self.view(caller, Scope::Read, request_id).await?;
        let call = check(&view, request).await?;
        let mut executed = vec![ExecutedQuery { text: call.query.to_owned(), origin: QueryOrigin::User }];
        let plain = self.find(&call, call.query, dialogue).await?;

        // A choice settles the question: that option only.
        let chosen = chosen(&call.entries, call.choice.as_ref(), dialogue).await?;
        if let Some(Chosen::Hit(hit)) = chosen {
            return Ok(Round::Answered(
                self.answer_choice(&call, plain, *hit, executed, dialogue, request_id).await?,
            ));
        }
        let stale = matches!(chosen, Some(Chosen::Gone));

        let words: Vec<&str> = call.clarification.into_iter().chain(dialogue.texts()).collect();
        let clarified = !words.is_empty();
        let known_before = plain.known_terms();
        let (found, enriched) = if clarified {
            let enriched = format!("{} {}", call.query, words.join(" "));
            executed.push(ExecutedQuery { text: enriched.clone(), origin: QueryOrigin::Clarification });
            let mut better = self.find(&call, &enriched, dialogue).await?;
            if better.wants_to_ask() {
                // Words that have nothing to do with the question are only hidden by it.
                let alone = self.find(&call, &words.join(" "), dialogue).await?;
                if alone.confidence() > better.confidence() {
                    executed
                        .push(ExecutedQuery { text: words.join(" "), origin: QueryOrigin::Clarification });
                    better = alone;
                }
            }
            better.hits.iter_mut().for_each(|hit| hit.provenance.rewritten = true);
            (Found::merged(plain, better), enriched)
        } else {
            (plain, call.query.to_owned())
        };

        let dialogue = self.allowed(&call.entries, request.clarify, dialogue);
        let again = dialogue.last_was_unusable();
        let settled = dialogue.parts().next().is_some();
        let questions = ask::questions(&enriched, &found, &|slug| self.name_of(slug), again);
        // Of questions about parts, those that were answered are not open any more.
        let brought = settled || found.known_terms() > known_before;
        let worthwhile = questions.first().is_some_and(|question| dialogue.worthwhile(question, brought));
        let outcome = match next(&dialogue, found.wants_to_ask(), clarified || settled, worthwhile) {
            Next::Ask if questions.is_empty() => Outcome::NotNeeded,
            Next::Ask => return Ok(Round::Ask(questions)),
            Next::Answer(_) if stale => Outcome::StaleChoice,
            Next::Answer(outcome) => outcome,
        };
        let argument = AnswerNote::argument(None, call.clarification);
        let clarification = Clarification::new(outcome, &dialogue, argument);
        Ok(Round::Answered(self.answer(&call, request, found, executed, clarification, request_id)))
    }

    async fn find(&self, call: &Checked<'_>, query: &str, dialogue: &Dialogue) -> Result<Found, Failure> {
        find(&call.entries, query, call.top_k.unwrap_or(MOST_HITS), self.clarify.profile, dialogue).await
    }

    async fn answer_choice(
        &self,
        call: &Checked<'_>,
        plain: Found,
        mut hit: Hit,
        mut executed: Vec<ExecutedQuery>,
        dialogue: &Dialogue,
        request_id: &str,
    ) -> Result<Retrieved, Failure> {
        let reason = plain.judged.as_ref().and_then(|judged| judged.verdict.ask);
        let chosen = hit.reference.to_string();
        let alternatives: Vec<Choice> = reason
            .map(|reason| ask::choices(reason, &plain))
            .unwrap_or_default()
            .into_iter()
            .filter(|choice| choice.reference != chosen)
            .collect();
        let found = if plain.fitting.is_some() {
            // Things looked up by name: which one is meant is now known.
            plain.settled()
        } else {
            // With the title the user picked, the query says what it meant: that is what confidence is of.
            let enriched = format!("{} {}", call.query, hit.title);
            executed.push(ExecutedQuery { text: enriched.clone(), origin: QueryOrigin::Clarification });
            self.find(call, &enriched, dialogue).await?
        };
        hit.score =
            found.hits.iter().find(|other| other.reference == hit.reference).map_or(0.0, |other| other.score);
        let argument =
            call.choice.as_ref().and_then(|choice| AnswerNote::argument(Some(choice), call.clarification));
        let entry = call.entries.iter().filter(|entry| entry.slug() == hit.reference.source);
        Ok(Retrieved {
            request_id: request_id.to_owned(),
            status: Standing::Ok,
            confidence: confidence_note(&found),
            clarification: Clarification::new(Outcome::Answered, dialogue, argument),
            executed_queries: executed,
            alternatives,
            usage_rules: entry.clone().map(|entry| usage(entry)).collect(),
            data_freshness: entry.map(|entry| freshness(entry)).collect(),
            hits: vec![HitNote::new(1, hit)],
            truncated: false,
            unavailable: found.unavailable,
        })
    }

    fn answer(
        &self,
        call: &Checked<'_>,
        request: &Retrieve,
        mut found: Found,
        executed: Vec<ExecutedQuery>,
        clarification: Clarification,
        request_id: &str,
    ) -> Retrieved {
        let reason = found.judged.as_ref().and_then(|judged| judged.verdict.ask);
        let alternatives = reason.map(|reason| ask::choices(reason, &found)).unwrap_or_default();
        let confidence = confidence_note(&found);
        let status = standing(&found);
        let wanted = call.top_k.unwrap_or_else(|| found.worth_showing(USUAL_HITS)).min(MOST_HITS);
        found.hits.truncate(wanted);
        let truncated =
            request.max_tokens.is_some_and(|max_tokens| budget::trim(&mut found.hits, max_tokens as usize));
        let shown: Vec<&&Entry> = call
            .entries
            .iter()
            .filter(|entry| found.hits.iter().any(|hit| hit.reference.source == entry.slug()))
            .collect();
        Retrieved {
            request_id: request_id.to_owned(),
            status,
            confidence,
            clarification,
            executed_queries: executed,
            usage_rules: shown.iter().map(|entry| usage(entry)).collect(),
            data_freshness: shown.iter().map(|entry| freshness(entry)).collect(),
            hits: found.hits.into_iter().enumerate().map(|(n, hit)| HitNote::new(n + 1, hit)).collect(),
            alternatives,
            truncated,
            unavailable: found.unavailable,
        }
    }

    pub(super) fn name_of(&self, slug: &str) -> String {
        self.registry.get(slug).map_or_else(|| slug.to_owned(), |entry| entry.config().name.clone())
    }
}

async fn check<'a>(view: &View<'a>, request: &'a Retrieve) -> Result<Checked<'a>, Failure> {
    let query = checked_query("query", &request.query)?;
    if request.top_k.is_some_and(|top_k| !(1..=50).contains(&top_k)) {
        return Err(Failure::argument("top_k", "must be from 1 to 50"));
    }
    if request.max_tokens == Some(0) {
        return Err(Failure::argument("max_tokens", "must be at least 1; leave it out for no limit"));
    }
    if let Some(field) = request.filters.as_ref().and_then(|filters| filters.keys().next()) {
        let field = crate::text::excerpt(field, 40);
        return Err(Failure::argument(
            "filters",
            format!("no source here can filter by `{field}`; leave filters out"),
        ));
    }
    let entries = view.select(&request.source).await?;
    let choice = request.choice.as_deref().map(|text| checked_reference("choice", text)).transpose()?;
    if let Some(choice) = &choice
        && !entries.iter().any(|entry| entry.slug() == choice.source)
    {
        return Err(Failure::argument("choice", "belongs to a source that `source` does not name"));
    }
    Ok(Checked {
        query,
        entries,
        top_k: request.top_k.map(|top_k| top_k as usize),
        clarification: checked_clarification(request.clarification.as_deref())?,
        choice,
    })
}

fn standing(found: &Found) -> Standing {
    match found.judged.as_ref().map(|judged| judged.verdict.ask) {
        _ if found.hits.is_empty() => Standing::Empty,
        None => Standing::Empty,
        Some(reason) => reason.map_or(Standing::Ok, Standing::of),
    }
}

pub(super) fn confidence_note(found: &Found) -> ConfidenceNote {
    match &found.judged {
        Some(judged) => ConfidenceNote {
            level: judged.verdict.level,
            probability: judged.verdict.confidence,
            calibrated: judged.calibrated,
            reasons: judged.verdict.ask.into_iter().collect(),
            signals: judged.signals,
            explanation: judged.verdict.to_string(),
        },
        None => ConfidenceNote {
            level: gate::Level::Low,
            probability: 0.0,
            calibrated: false,
            reasons: Vec::new(),
            signals: None,
            explanation: "nothing was found".to_owned(),
        },
    }
}

fn usage(entry: &Entry) -> (String, Usage) {
    (entry.slug().to_owned(), entry.config().card.usage.clone())
}

fn freshness(entry: &Entry) -> (String, DataFreshness) {
    (entry.slug().to_owned(), DataFreshness::of(entry))
}

/// Trims a query and checks its length.
pub(super) fn checked_query<'a>(field: &str, text: &'a str) -> Result<&'a str, Failure> {
    let text = text.trim();
    if !text.chars().any(char::is_alphanumeric) {
        return Err(Failure::argument(field, "must hold at least one letter or digit: say what to find"));
    }
    if text.chars().count() > MAX_QUERY {
        return Err(Failure::argument(
            field,
            format!("must be at most {MAX_QUERY} characters; ask one question at a time"),
        ));
    }
    Ok(text)
}

/// Trims a clarification given as an argument; an empty one counts as none.
pub(super) fn checked_clarification(text: Option<&str>) -> Result<Option<&str>, Failure> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    match text {
        Some(text) if text.chars().count() > MAX_TEXT as usize => {
            Err(Failure::argument("clarification", format!("must be at most {MAX_TEXT} characters")))
        }
        text => Ok(text),
    }
}

/// Reads a reference given as an argument.
pub(super) fn checked_reference(field: &str, text: &str) -> Result<Reference, Failure> {
    text.parse().map_err(|error| Failure::argument(field, error))
}
