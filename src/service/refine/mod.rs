//! `refine`: reading on from a hit, and asking the user which way when several ways fit.

mod paths;
mod values;

use super::{
    Clarification, Failure, Outcome, Service, ask,
    chosen::{Chosen, chosen},
    describe_source::DataFreshness,
    find::{DEPTH, Found, find},
    outcome::{AnswerNote, Next, next},
    retrieve::{Standing, checked_clarification, checked_query, checked_reference, confidence_note},
    view::View,
};
use crate::{
    access::{Caller, Scope},
    dialogue::{Dialogue, Form, Question, Round},
    sources::{
        Budget, ExpandRequest, Expansion, Hit, Reference, Source, SourceError, Strategy, registry::Entry,
    },
    text::excerpt,
};
use paths::{Lead, lead};
pub use values::{PassageNote, Refine, Refined, Step, StepBy, StrategyChoice};

/// The parts of a call that have been checked.
struct Checked<'a> {
    entry: &'a Entry,
    source: std::sync::Arc<dyn Source>,
    origin: Hit,
    query: Option<&'a str>,
    clarification: Option<&'a str>,
    choice: Option<Reference>,
}

impl Service {
    /// One round of `refine`, as [`Service::retrieve`] is of retrieve.
    ///
    /// # Errors
    /// What no answer of the user could mend: bad arguments, unknown references, sources that fail.
    pub async fn refine(
        &self,
        caller: &Caller,
        request: &Refine,
        dialogue: &Dialogue,
        request_id: &str,
    ) -> Result<Round<Refined>, Failure> {
        let view = self.view(caller, Scope::Read, request_id).await?;
        let call = check(&view, request).await?;
        let mut path = vec![Step { reference: call.origin.reference.to_string(), by: StepBy::Request }];
        let words: Vec<&str> = call.clarification.into_iter().chain(dialogue.texts()).collect();
        let clarified = !words.is_empty();
        // Words without a query are a query: the user said what they are after.
        let query = match call.query {
            Some(query) => Some([&[query], words.as_slice()].concat().join(" ")),
            None => clarified.then(|| words.join(" ")),
        };
        let found = match &query {
            Some(query) => Some(find(&[call.entry], query, DEPTH, self.clarify.profile, dialogue).await?),
            None => None,
        };
        let lead = found.as_ref().map(|found| lead(&call.origin, found, request.strategy));

        let dialogue = self.allowed(&[call.entry], request.clarify, dialogue);
        let chosen = chosen(&[call.entry], call.choice.as_ref(), &dialogue).await?;
        let (target, outcome) = match &chosen {
            Some(Chosen::Hit(hit)) => {
                path.push(Step { reference: hit.reference.to_string(), by: StepBy::Choice });
                (hit.reference.clone(), Outcome::Answered)
            }
            other => {
                let stale = matches!(other, Some(Chosen::Gone));
                let question = found.as_ref().zip(lead.as_ref()).and_then(|(found, lead)| {
                    self.path_question(query.as_deref().unwrap_or_default(), found, lead, &dialogue)
                });
                let worthwhile = match &question {
                    Some(question) => dialogue
                        .worthwhile(question, self.grew(&call, found.as_ref(), clarified, &dialogue).await?),
                    None => false,
                };
                let outcome = match next(&dialogue, question.is_some(), clarified, worthwhile) {
                    Next::Ask => match question {
                        Some(question) => return Ok(Round::Ask(vec![question])),
                        None => Outcome::NotNeeded,
                    },
                    Next::Answer(_) if stale => Outcome::StaleChoice,
                    Next::Answer(outcome) => outcome,
                };
                let target =
                    lead.as_ref().map_or_else(|| call.origin.reference.clone(), |lead| lead.target.clone());
                if target != call.origin.reference {
                    path.push(Step { reference: target.to_string(), by: StepBy::Query });
                }
                (target, outcome)
            }
        };
        let standing = lead.as_ref().and_then(|lead| lead.ask).map_or(Standing::Ok, Standing::of);
        let (strategy, expansion) = expand(&call, request, target.clone(), query).await?;
        let alternatives = lead
            .map(|lead| lead.paths)
            .unwrap_or_default()
            .into_iter()
            .filter(|choice| choice.reference != target.to_string())
            .collect();
        let argument = AnswerNote::argument(call.choice.as_ref(), call.clarification);
        Ok(Round::Answered(Refined {
            request_id: request_id.to_owned(),
            reference: target.to_string(),
            strategy,
            path,
            status: if matches!(chosen, Some(Chosen::Hit(_))) { Standing::Ok } else { standing },
            passages: expansion.passages.into_iter().map(PassageNote::from).collect(),
            truncated: expansion.truncated,
            confidence: found.as_ref().map(confidence_note),
            clarification: Clarification::new(outcome, &dialogue, argument),
            alternatives,
            usage_rules: call.entry.config().card.usage.clone(),
            data_freshness: DataFreshness::of(call.entry),
        }))
    }

    /// Whether the user's words brought something the source knows.
    async fn grew(
        &self,
        call: &Checked<'_>,
        found: Option<&Found>,
        clarified: bool,
        dialogue: &Dialogue,
    ) -> Result<bool, Failure> {
        let (Some(query), Some(found), true) = (call.query, found, clarified) else { return Ok(true) };
        let before = find(&[call.entry], query, DEPTH, self.clarify.profile, dialogue).await?;
        Ok(found.known_terms() > before.known_terms())
    }

    fn path_question(
        &self,
        query: &str,
        found: &Found,
        lead: &Lead,
        dialogue: &Dialogue,
    ) -> Option<Question> {
        let reason = lead.ask?;
        let again = dialogue.last_was_unusable();
        if lead.paths.len() < 2 {
            // The hits of a weak search are no paths to choose from: ask in words.
            return ask::in_words(query, found, &|slug| self.name_of(slug), again);
        }
        let message = format!(
            "{} ways to read on fit “{}”; they lead to different documents. Which one do you mean? \
             If it is none of these, say in your own words what you are looking for.",
            lead.paths.len(),
            excerpt(query, 120),
        );
        Some(Question {
            form: Form::Choice,
            slot: None,
            reason,
            message: ask::repeated(again, message),
            subject: ask::normalised(query),
            options: lead.paths.clone(),
        })
    }
}

async fn check<'a>(view: &View<'a>, request: &'a Refine) -> Result<Checked<'a>, Failure> {
    let reference = checked_reference("reference", &request.reference)?;
    let query = request.query.as_deref().map(|query| checked_query("query", query)).transpose()?;
    if request.window > 20 {
        return Err(Failure::argument("window", "must be from 0 to 20"));
    }
    if !(1..=100_000).contains(&request.max_tokens) {
        return Err(Failure::argument("max_tokens", "must be from 1 to 100000"));
    }
    let choice = request.choice.as_deref().map(|text| checked_reference("choice", text)).transpose()?;
    if choice.as_ref().is_some_and(|choice| choice.source != reference.source) {
        return Err(Failure::argument("choice", "belongs to another source than `reference`"));
    }
    let entry = view.readable(&reference.source).await?;
    let source = entry.source().map_err(|error| Failure::from_source(entry.slug(), &error))?;
    if let Some(strategy) = request.strategy.named()
        && !source.strategies().contains(&strategy)
    {
        let error = SourceError::StrategyNotSupported { strategy, supported: source.strategies().to_vec() };
        return Err(Failure::from_source(entry.slug(), &error));
    }
    let origin =
        source.locate(&reference).await.map_err(|error| Failure::from_source(entry.slug(), &error))?;
    let clarification = checked_clarification(request.clarification.as_deref())?;
    Ok(Checked { entry, source, origin, query, clarification, choice })
}

async fn expand(
    call: &Checked<'_>,
    request: &Refine,
    target: Reference,
    query: Option<String>,
) -> Result<(Strategy, Expansion), Failure> {
    let preferred = call.source.strategies().first().copied().unwrap_or(Strategy::Adjacent);
    let strategy = request.strategy.named().unwrap_or(preferred);
    let expand = ExpandRequest {
        reference: target,
        strategy,
        query,
        window: request.window as usize,
        budget: Budget { max_tokens: request.max_tokens as usize },
    };
    let expansion =
        call.source.expand(expand).await.map_err(|error| Failure::from_source(call.entry.slug(), &error))?;
    Ok((strategy, expansion))
}
