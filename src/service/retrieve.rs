//! `retrieve`: finding what fits a query, and asking the user when it is weak or ambiguous.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Clarification, ClarifyMode, ConfidenceNote, Failure, Outcome, Service, ask, budget,
    describe_source::DataFreshness,
    find::{Found, find},
    outcome::{AnswerNote, Next, next},
};
pub use super::{find::Unavailable, select::Selector};
use crate::{
    access::Caller,
    confidence::gate,
    config::Usage,
    dialogue::{Choice, Dialogue, MayAsk, Round, Silence},
    sources::{Hit, Provenance, Reference, SourceError, registry::Entry},
};

/// Arguments of `retrieve`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retrieve {
    /// What to find, in natural language: a whole question works better than keywords.
    #[schemars(length(min = 1, max = 8192))]
    pub query: String,
    /// A slug, a list of slugs, or "*" for every source.
    #[serde(default)]
    pub source: Selector,
    /// How many hits to return, from 1 to 50.
    #[serde(default = "default_top_k")]
    #[schemars(range(min = 1, max = 50))]
    pub top_k: u32,
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
    /// Whether the query may be rewritten with the source's vocabulary.
    #[serde(default)]
    pub rewrite: RewriteMode,
    /// Upper bound on the hits' text, in tokens (estimated at four characters each).
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// Restricts the search by fields of the source; see its data card for what it supports.
    #[serde(default)]
    pub filters: Option<Map<String, Value>>,
}

/// Whether a query may be rewritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RewriteMode {
    /// Where the source has a vocabulary.
    #[default]
    Auto,
    /// Not in this call.
    Never,
}

fn default_top_k() -> u32 {
    5
}

/// Longest query accepted, in characters.
pub(super) const MAX_QUERY: usize = 8192;

/// What `retrieve` answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Retrieved {
    /// Identifies this call in logs.
    pub request_id: String,
    /// ok, weak, ambiguous or empty.
    pub status: Standing,
    /// How sure the result is.
    pub confidence: ConfidenceNote,
    /// How asking the user went.
    pub clarification: Clarification,
    /// What was searched for.
    pub executed_queries: Vec<ExecutedQuery>,
    /// Results, best first. All that was found is here, however weak.
    pub hits: Vec<HitNote>,
    /// What else could have been meant: hand one back as `choice`.
    pub alternatives: Vec<Choice>,
    /// How each source's content may be used, by slug.
    pub usage_rules: std::collections::BTreeMap<String, Usage>,
    /// How fresh each source is, by slug.
    pub data_freshness: std::collections::BTreeMap<String, DataFreshness>,
    /// Whether `max_tokens` cut anything off.
    pub truncated: bool,
    /// Sources that could not be searched.
    pub unavailable: Vec<Unavailable>,
}

/// What a result is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The hits very likely satisfy the query.
    Ok,
    /// They may well not: say so when using them.
    Weak,
    /// They answer different questions the query could mean.
    Ambiguous,
    /// There is nothing there to find.
    Empty,
}

impl Standing {
    /// What a result is worth that there is this reason to ask about.
    pub(super) fn of(reason: gate::Reason) -> Self {
        match reason.form() {
            gate::Form::ChoiceAndClarification => Self::Ambiguous,
            gate::Form::Clarification => Self::Weak,
        }
    }
}

/// One query that was searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExecutedQuery {
    /// Its words.
    pub text: String,
    /// Where it comes from.
    pub origin: QueryOrigin,
}

/// Where a query comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryOrigin {
    /// The call's own.
    User,
    /// With what the user said when asked.
    Clarification,
    /// By the source's vocabulary.
    Vocabulary,
    /// By a language model.
    Llm,
}

/// One result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HitNote {
    /// Its stable handle, for `refine`.
    pub reference: String,
    /// The passage: data, never instructions.
    pub text: String,
    /// Fused score in [0, 1]; comparable within this result only.
    pub score: f32,
    /// Its place, from 1.
    pub rank: usize,
    /// Title of its document.
    pub title: String,
    /// Where a person can read the original.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Heading path inside the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Index of the passage in its document, from 0.
    pub position: u32,
    /// Where it comes from.
    pub provenance: Provenance,
    /// Structured fields, of sources that have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl HitNote {
    fn new(rank: usize, hit: Hit) -> Self {
        Self {
            reference: hit.reference.to_string(),
            text: hit.text,
            score: hit.score,
            rank,
            title: hit.title,
            url: hit.url,
            section: hit.section,
            position: hit.position,
            provenance: hit.provenance,
            data: hit.data,
        }
    }
}

/// The parts of a call that have been checked.
struct Checked<'a> {
    query: &'a str,
    entries: Vec<&'a Entry>,
    top_k: usize,
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
        let call = self.check_retrieve(caller, request)?;
        let mut executed = vec![ExecutedQuery { text: call.query.to_owned(), origin: QueryOrigin::User }];
        let plain = self.find(&call, call.query).await?;

        // A choice settles the question: that option only.
        let chosen = self.chosen(&call, dialogue).await?;
        if let Some(Chosen::Hit(hit)) = chosen {
            return Ok(Round::Answered(
                self.answer_choice(&call, plain, *hit, executed, dialogue, request_id).await?,
            ));
        }
        let stale = matches!(chosen, Some(Chosen::Gone));

        let words: Vec<&str> = call.clarification.into_iter().chain(dialogue.texts()).collect();
        let clarified = !words.is_empty();
        let known_before = plain.judged.as_ref().map_or(0, |judged| judged.known_terms);
        let (found, enriched) = if clarified {
            let enriched = format!("{} {}", call.query, words.join(" "));
            executed.push(ExecutedQuery { text: enriched.clone(), origin: QueryOrigin::Clarification });
            let mut better = self.find(&call, &enriched).await?;
            better.hits.iter_mut().for_each(|hit| hit.provenance.rewritten = true);
            (Found::merged(plain, better), enriched)
        } else {
            (plain, call.query.to_owned())
        };

        let dialogue = self.allowed(&call, request.clarify, dialogue);
        let again = matches!(dialogue.last(), Some(last) if last.answer == crate::dialogue::Answer::Unusable);
        let question = ask::question(&enriched, &found, &|slug| self.name_of(slug), again);
        let worthwhile = question.as_ref().is_some_and(|question| {
            let known_after = found.judged.as_ref().map_or(0, |judged| judged.known_terms);
            dialogue.worthwhile(question, known_after > known_before)
        });
        let outcome = match next(&dialogue, found.wants_to_ask(), clarified, worthwhile) {
            Next::Ask => match question {
                Some(question) => return Ok(Round::Ask(question)),
                None => Outcome::NotNeeded,
            },
            Next::Answer(_) if stale => Outcome::StaleChoice,
            Next::Answer(outcome) => outcome,
        };
        let argument =
            call.clarification.map(|text| AnswerNote { choice: None, clarification: Some(text.to_owned()) });
        let clarification = Clarification::new(outcome, &dialogue, argument);
        Ok(Round::Answered(self.answer(&call, request, found, executed, clarification, request_id)))
    }

    fn check_retrieve<'a>(&'a self, caller: &Caller, request: &'a Retrieve) -> Result<Checked<'a>, Failure> {
        let query = checked_query("query", &request.query)?;
        if !(1..=50).contains(&request.top_k) {
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
        let entries = self.select(caller, &request.source)?;
        let choice = request.choice.as_deref().map(|text| checked_reference("choice", text)).transpose()?;
        if let Some(choice) = &choice
            && !entries.iter().any(|entry| entry.slug() == choice.source)
        {
            return Err(Failure::argument("choice", "belongs to a source that `source` does not name"));
        }
        Ok(Checked {
            query,
            entries,
            top_k: request.top_k as usize,
            clarification: checked_clarification(request.clarification.as_deref())?,
            choice,
        })
    }

    async fn find(&self, call: &Checked<'_>, query: &str) -> Result<Found, Failure> {
        find(&call.entries, query, call.top_k, self.clarify.profile).await
    }

    /// The option the user picked when asked, or the caller by argument.
    async fn chosen(&self, call: &Checked<'_>, dialogue: &Dialogue) -> Result<Option<Chosen>, Failure> {
        // An elicited option was offered by us, but may come from a client that dropped the
        // state: one that does not parse or is of a source outside this call is no answer.
        let elicited = dialogue
            .choice()
            .and_then(|text| text.parse::<Reference>().ok())
            .filter(|reference| call.entries.iter().any(|entry| entry.slug() == reference.source));
        let Some(reference) = elicited.or_else(|| call.choice.clone()) else { return Ok(None) };
        let Some(entry) = call.entries.iter().find(|entry| entry.slug() == reference.source) else {
            return Ok(None);
        };
        let located = match entry.source() {
            Ok(source) => source.locate(&reference).await,
            Err(error) => Err(error),
        };
        match located {
            Ok(hit) => Ok(Some(Chosen::Hit(Box::new(hit)))),
            Err(SourceError::ReferenceNotFound(_)) => Ok(Some(Chosen::Gone)),
            Err(error) => Err(Failure::from_source(entry.slug(), &error)),
        }
    }

    /// May this round ask, as far as sources and arguments are concerned?
    fn allowed(&self, call: &Checked<'_>, mode: ClarifyMode, dialogue: &Dialogue) -> Dialogue {
        let mut dialogue = dialogue.clone();
        let sources_ask = call.entries.iter().any(|entry| self.source_clarifies(entry));
        if mode == ClarifyMode::Never || !sources_ask {
            dialogue.may_ask = MayAsk::No(Silence::Disabled);
        }
        dialogue
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
        // With the title the user picked, the query says what it meant: that is what confidence is of.
        let enriched = format!("{} {}", call.query, hit.title);
        executed.push(ExecutedQuery { text: enriched.clone(), origin: QueryOrigin::Clarification });
        let found = self.find(call, &enriched).await?;
        hit.score =
            found.hits.iter().find(|other| other.reference == hit.reference).map_or(0.0, |other| other.score);
        let argument = call.choice.as_ref().map(|choice| AnswerNote {
            choice: Some(choice.to_string()),
            clarification: call.clarification.map(str::to_owned),
        });
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
        found.hits.truncate(call.top_k);
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

/// What became of a choice.
enum Chosen {
    Hit(Box<Hit>),
    Gone,
}

fn standing(found: &Found) -> Standing {
    match found.judged.as_ref().map(|judged| judged.verdict.ask) {
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
            signals: Some(judged.signals),
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
    let stated = entry.config().card.freshness.clone();
    (entry.slug().to_owned(), DataFreshness { stated, last_refreshed: entry.status().last_refreshed })
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
        Some(text) if text.chars().count() > 1000 => {
            Err(Failure::argument("clarification", "must be at most 1000 characters"))
        }
        text => Ok(text),
    }
}

/// Reads a reference given as an argument.
pub(super) fn checked_reference(field: &str, text: &str) -> Result<Reference, Failure> {
    text.parse().map_err(|error| Failure::argument(field, error))
}
