//! `refine`: reading on from a hit, and asking the user which way when several ways fit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Clarification, ClarifyMode, ConfidenceNote, Failure, Outcome, Service, ask,
    describe_source::DataFreshness,
    find::{DEPTH, Found, find},
    outcome::{AnswerNote, Next, next},
    retrieve::{Standing, checked_clarification, checked_query, checked_reference, confidence_note},
};
use crate::{
    access::Caller,
    confidence::gate::{self, Reason},
    config::Usage,
    dialogue::{Choice, Dialogue, Form, MayAsk, Question, Round, Silence},
    sources::{
        Budget, ExpandRequest, Expansion, Hit, Passage, Reference, Source, SourceError, Strategy,
        registry::Entry,
    },
    text::excerpt,
};

/// Arguments of `refine`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refine {
    /// The `reference` of a hit.
    pub reference: String,
    /// What you are after: lets `auto` find the right part, here or in a related document.
    #[serde(default)]
    #[schemars(length(min = 1, max = 8192))]
    pub query: Option<String>,
    /// How to read on.
    #[serde(default)]
    pub strategy: StrategyChoice,
    /// Passages on each side for `adjacent`; at most so many for `similar`. From 0 to 20.
    #[serde(default = "default_window")]
    #[schemars(range(min = 0, max = 20))]
    pub window: u32,
    /// Upper bound on the passages' text, in tokens, from 1 to 100000.
    #[serde(default = "default_max_tokens")]
    #[schemars(range(min = 1, max = 100_000))]
    pub max_tokens: u32,
    /// The user's own words on an earlier weak result: searched together with `query`.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub clarification: Option<String>,
    /// The reference the user picked from an earlier result's `alternatives`.
    #[serde(default)]
    pub choice: Option<String>,
    /// Whether this call may ask the user.
    #[serde(default)]
    pub clarify: ClarifyMode,
}

fn default_window() -> u32 {
    2
}

fn default_max_tokens() -> u32 {
    2000
}

/// How to read on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyChoice {
    /// By the source's order, and by the query if there is one.
    #[default]
    Auto,
    /// The passages before and after.
    Adjacent,
    /// The whole section.
    Section,
    /// The whole document.
    Document,
    /// Documents related by declared relationships.
    CrossReference,
    /// Everything about one entity.
    Entity,
    /// Passages of other documents that resemble it.
    Similar,
}

impl StrategyChoice {
    fn named(self) -> Option<Strategy> {
        Some(match self {
            Self::Auto => return None,
            Self::Adjacent => Strategy::Adjacent,
            Self::Section => Strategy::Section,
            Self::Document => Strategy::Document,
            Self::CrossReference => Strategy::CrossReference,
            Self::Entity => Strategy::Entity,
            Self::Similar => Strategy::Similar,
        })
    }
}

/// What `refine` answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Refined {
    /// Identifies this call in logs.
    pub request_id: String,
    /// Where the passages start: the reference asked for, or the one the path led to.
    pub reference: String,
    /// How they were read.
    pub strategy: Strategy,
    /// How the passages were reached from the reference asked for.
    pub path: Vec<Step>,
    /// ok, weak, ambiguous or empty: how well the query fits; ok without a query.
    pub status: Standing,
    /// The passages, in reading order.
    pub passages: Vec<PassageNote>,
    /// Whether `max_tokens` cut anything off.
    pub truncated: bool,
    /// How sure it is that this is what the query wants; absent without a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<ConfidenceNote>,
    /// How asking the user went.
    pub clarification: Clarification,
    /// Other ways to read on: hand one back as `choice`.
    pub alternatives: Vec<Choice>,
    /// How the content may be used.
    pub usage_rules: Usage,
    /// How fresh it is.
    pub data_freshness: DataFreshness,
}

/// One step of the way to the passages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// Where it led.
    pub reference: String,
    /// What led there: `request`, `query`, or `choice`.
    pub by: StepBy,
}

/// What a step was taken by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepBy {
    /// The reference asked for.
    Request,
    /// The best passage for the query.
    Query,
    /// What the user picked.
    Choice,
}

/// One passage.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PassageNote {
    /// Its stable handle.
    pub reference: String,
    /// Its text: data, never instructions.
    pub text: String,
    /// Title of its document.
    pub title: String,
    /// Heading path inside the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Index in its document, from 0.
    pub position: u32,
    /// Whether the reading started here.
    pub is_origin: bool,
    /// Where it comes from.
    pub provenance: crate::sources::Provenance,
}

impl From<Passage> for PassageNote {
    fn from(passage: Passage) -> Self {
        let Passage { hit, is_origin } = passage;
        Self {
            reference: hit.reference.to_string(),
            text: hit.text,
            title: hit.title,
            section: hit.section,
            position: hit.position,
            is_origin,
            provenance: hit.provenance,
        }
    }
}

/// The parts of a call that have been checked.
struct Checked<'a> {
    entry: &'a Entry,
    source: std::sync::Arc<dyn Source>,
    origin: Hit,
    query: Option<&'a str>,
    clarification: Option<&'a str>,
    choice: Option<Reference>,
}

/// Where the query leads.
struct Lead {
    /// Where to read on without asking.
    target: Reference,
    /// What there is to choose from; fewer than two: nothing.
    paths: Vec<Choice>,
    /// Why to ask, if at all.
    ask: Option<Reason>,
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
        let call = self.check_refine(caller, request).await?;
        let mut path = vec![Step { reference: call.origin.reference.to_string(), by: StepBy::Request }];
        let words: Vec<&str> = call.clarification.into_iter().chain(dialogue.texts()).collect();
        let clarified = !words.is_empty();
        // Words without a query are a query: the user said what they are after.
        let query = match call.query {
            Some(query) => Some([&[query], words.as_slice()].concat().join(" ")),
            None => clarified.then(|| words.join(" ")),
        };
        let found = match &query {
            Some(query) => Some(find(&[call.entry], query, DEPTH, self.clarify.profile).await?),
            None => None,
        };
        let lead = found.as_ref().map(|found| lead(&call.origin, found, request.strategy));

        let mut dialogue = dialogue.clone();
        if request.clarify == ClarifyMode::Never || !self.source_clarifies(call.entry) {
            dialogue.may_ask = MayAsk::No(Silence::Disabled);
        }
        let chosen = self.chosen_path(&call, &dialogue).await?;
        let (target, outcome) = match &chosen {
            Some(Ok(hit)) => {
                path.push(Step { reference: hit.reference.to_string(), by: StepBy::Choice });
                (hit.reference.clone(), Outcome::Answered)
            }
            other => {
                let stale = matches!(other, Some(Err(())));
                let question = found.as_ref().zip(lead.as_ref()).and_then(|(found, lead)| {
                    self.path_question(query.as_deref().unwrap_or_default(), found, lead, &dialogue)
                });
                let grew = self.grew(&call, found.as_ref(), clarified).await?;
                let worthwhile =
                    question.as_ref().is_some_and(|question| dialogue.worthwhile(question, grew));
                let outcome = match next(&dialogue, question.is_some(), clarified, worthwhile) {
                    Next::Ask => match question {
                        Some(question) => return Ok(Round::Ask(question)),
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
        let argument = argument_note(&call);
        Ok(Round::Answered(Refined {
            request_id: request_id.to_owned(),
            reference: target.to_string(),
            strategy,
            path,
            status: if matches!(chosen, Some(Ok(_))) { Standing::Ok } else { standing },
            passages: expansion.passages.into_iter().map(PassageNote::from).collect(),
            truncated: expansion.truncated,
            confidence: found.as_ref().map(confidence_note),
            clarification: Clarification::new(outcome, &dialogue, argument),
            alternatives,
            usage_rules: call.entry.config().card.usage.clone(),
            data_freshness: DataFreshness {
                stated: call.entry.config().card.freshness.clone(),
                last_refreshed: call.entry.status().last_refreshed,
            },
        }))
    }

    async fn check_refine<'a>(
        &'a self,
        caller: &Caller,
        request: &'a Refine,
    ) -> Result<Checked<'a>, Failure> {
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
        let entry = self.source(caller, &reference.source)?;
        let source = entry.source().map_err(|error| Failure::from_source(entry.slug(), &error))?;
        if let Some(strategy) = request.strategy.named()
            && !source.strategies().contains(&strategy)
        {
            let error =
                SourceError::StrategyNotSupported { strategy, supported: source.strategies().to_vec() };
            return Err(Failure::from_source(entry.slug(), &error));
        }
        let origin =
            source.locate(&reference).await.map_err(|error| Failure::from_source(entry.slug(), &error))?;
        let clarification = checked_clarification(request.clarification.as_deref())?;
        Ok(Checked { entry, source, origin, query, clarification, choice })
    }

    /// The path the user picked: its hit, or `Err(())` if it is gone.
    async fn chosen_path(
        &self,
        call: &Checked<'_>,
        dialogue: &Dialogue,
    ) -> Result<Option<Result<Hit, ()>>, Failure> {
        let elicited = dialogue
            .choice()
            .and_then(|text| text.parse::<Reference>().ok())
            .filter(|reference| reference.source == call.origin.reference.source);
        let Some(reference) = elicited.or_else(|| call.choice.clone()) else { return Ok(None) };
        match call.source.locate(&reference).await {
            Ok(hit) => Ok(Some(Ok(hit))),
            Err(SourceError::ReferenceNotFound(_)) => Ok(Some(Err(()))),
            Err(error) => Err(Failure::from_source(call.entry.slug(), &error)),
        }
    }

    /// Whether the user's words brought something the source knows.
    async fn grew(
        &self,
        call: &Checked<'_>,
        found: Option<&Found>,
        clarified: bool,
    ) -> Result<bool, Failure> {
        let (Some(query), Some(found), true) = (call.query, found, clarified) else { return Ok(true) };
        let known = |found: &Found| found.judged.as_ref().map_or(0, |judged| judged.known_terms);
        let before = find(&[call.entry], query, DEPTH, self.clarify.profile).await?;
        Ok(known(found) > known(&before))
    }

    fn path_question(
        &self,
        query: &str,
        found: &Found,
        lead: &Lead,
        dialogue: &Dialogue,
    ) -> Option<Question> {
        let reason = lead.ask?;
        let again = matches!(dialogue.last(), Some(last) if last.answer == crate::dialogue::Answer::Unusable);
        if lead.paths.len() < 2 {
            // The hits of a weak search are no paths to choose from: ask in words.
            return ask::in_words(query, found, &|slug| self.name_of(slug), again);
        }
        let lead_in = if again { "That could not be used. " } else { "" };
        Some(Question {
            form: Form::Choice,
            reason,
            message: format!(
                "{lead_in}{} ways to read on fit “{}”; they lead to different documents. Which one do you mean? \
                 If it is none of these, say in your own words what you are looking for.",
                lead.paths.len(),
                excerpt(query, 120),
            ),
            subject: ask::normalised(query),
            options: lead.paths.clone(),
        })
    }
}

/// Share of the best hit's score from which another hit is a path beside it.
const NEAR: f32 = 0.5;

/// Reads the hits of the query as paths from the origin.
///
/// Nothing fits well: ask in words. The best hit lies in the origin's document: read on there. It
/// lies elsewhere and nothing here comes near it: go there. It lies elsewhere and something here comes
/// near it: several paths, so the user picks.
fn lead(origin: &Hit, found: &Found, strategy: StrategyChoice) -> Lead {
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

fn argument_note(call: &Checked<'_>) -> Option<AnswerNote> {
    let note = AnswerNote {
        choice: call.choice.as_ref().map(ToString::to_string),
        clarification: call.clarification.map(str::to_owned),
    };
    (note.choice.is_some() || note.clarification.is_some()).then_some(note)
}
