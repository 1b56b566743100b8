//! Wording: from what was found to a question a person can answer. Everything retrieved or typed
//! by somebody is quoted, shortened and cleaned: it is data.

use crate::{
    confidence::{
        gate::{self, Reason},
        matches,
        options::{self, Candidate},
    },
    dialogue::{Choice, Form, Question},
    sources::{Hit, OpenPart},
    text::excerpt,
};

use super::find::{DEPTH, Found, labelled};

/// How much of the user's query a message repeats, in characters.
const QUERY: usize = 120;
/// How much of a title.
const TITLE: usize = 80;

/// A source's name for people, by slug.
pub(super) type Names<'a> = &'a dyn Fn(&str) -> String;

/// The question to ask about `found`, or `None` where the gate sees no reason to. `again` says
/// that the same question came back without a usable answer.
pub(super) fn question(query: &str, found: &Found, names: Names<'_>, again: bool) -> Option<Question> {
    let reason = found.judged.as_ref()?.verdict.ask?;
    let options = match reason.form() {
        gate::Form::ChoiceAndClarification => choices(reason, found),
        gate::Form::Clarification => Vec::new(),
    };
    if options.is_empty() {
        return in_words(query, found, names, again);
    }
    let message = repeated(again, choice_message(query, found, &options));
    Some(Question { form: Form::Choice, slot: None, reason, message, subject: normalised(query), options })
}

/// The questions to ask about `found`: one for each part of the query that is open, otherwise the one
/// about all of it.
pub(super) fn questions(query: &str, found: &Found, names: Names<'_>, again: bool) -> Vec<Question> {
    if found.open.is_empty() {
        return question(query, found, names, again).into_iter().collect();
    }
    found.open.iter().map(|part| about(part, again)).collect()
}

/// The question about one part of a query: which of the things that fit, or what else to call it.
fn about(part: &OpenPart, again: bool) -> Question {
    let written = excerpt(&part.written, QUERY);
    let what = &part.what;
    let (form, reason, message) = match part.options.len() {
        0 => (
            Form::Clarification,
            Reason::NoMatch,
            format!(
                "Nothing is known by the name “{written}”, which is {what}. Please say what it is called otherwise, or where it is."
            ),
        ),
        count @ 1..=matches::MOST => (
            Form::Choice,
            Reason::Ambiguous,
            format!(
                "There are {count} that fit “{written}”, which is {what}. Which one do you mean? If it is none of these, say in your own words."
            ),
        ),
        count => (
            Form::Clarification,
            Reason::TooBroad,
            format!(
                "There are {count} that fit “{written}”, which is {what}. Please say more precisely which one, such as its region or country."
            ),
        ),
    };
    let options = if form == Form::Choice { labelled(part.options.iter()) } else { Vec::new() };
    let subject = format!("{} {}", part.slot, normalised(&part.written));
    Question {
        form,
        slot: Some(part.slot.clone()),
        reason,
        message: repeated(again, message),
        subject,
        options,
    }
}

/// The question that asks for other words, whatever the hits look like.
pub(super) fn in_words(query: &str, found: &Found, names: Names<'_>, again: bool) -> Option<Question> {
    let judged = found.judged.as_ref()?;
    let reason = judged.verdict.ask?;
    let message = repeated(again, clarification_message(query, reason, &judged.unknown_terms, found, names));
    Some(Question {
        form: Form::Clarification,
        slot: None,
        reason,
        message,
        subject: normalised(query),
        options: Vec::new(),
    })
}

pub(super) fn repeated(again: bool, message: String) -> String {
    if again { format!("That could not be used. {message}") } else { message }
}

/// The options of a choice; also what a response lists as `alternatives`.
pub(super) fn choices(reason: Reason, found: &Found) -> Vec<Choice> {
    if !found.open.is_empty() {
        return found.open.iter().flat_map(|part| labelled(part.options.iter())).collect();
    }
    if let Some(fitting) = &found.fitting {
        let to_pick = reason.form() == gate::Form::ChoiceAndClarification;
        return if to_pick { fitting.clone() } else { Vec::new() };
    }
    let top: Vec<&Hit> = found.hits.iter().take(DEPTH).collect();
    let candidates: Vec<Candidate<'_>> = top
        .iter()
        .map(|hit| Candidate {
            document: &hit.document,
            title: &hit.title,
            section: hit.section.as_deref(),
            text: &hit.text,
        })
        .collect();
    options::build(reason, &candidates, &found.similarity)
        .into_iter()
        .flatten()
        .filter_map(|option| {
            let hit = top.get(option.index)?;
            Some(Choice { reference: hit.reference.to_string(), label: option.label })
        })
        .collect()
}

fn choice_message(query: &str, found: &Found, choices: &[Choice]) -> String {
    if found.fitting.is_some() {
        return format!(
            "There are {} that fit “{}”. Which one do you mean? \
             If it is none of these, say in your own words what you are looking for.",
            choices.len(),
            excerpt(query, QUERY),
        );
    }
    let chosen: Vec<&Hit> = choices
        .iter()
        .filter_map(|choice| found.hits.iter().find(|hit| hit.reference.to_string() == choice.reference))
        .collect();
    format!(
        "{} results fit “{}”; they differ in {}. Which one do you mean? \
         If it is none of these, say in your own words what you are looking for.",
        choices.len(),
        excerpt(query, QUERY),
        difference(&chosen),
    )
}

/// What sets the options apart, most telling first.
fn difference(hits: &[&Hit]) -> &'static str {
    let distinct = |key: &dyn Fn(&Hit) -> String| {
        hits.iter().map(|hit| key(hit)).collect::<std::collections::BTreeSet<_>>().len() > 1
    };
    if distinct(&|hit| hit.reference.source.clone()) {
        "where they come from"
    } else if distinct(&|hit| hit.document.clone()) {
        "what they are about"
    } else {
        "which part of the document they are"
    }
}

fn clarification_message(
    query: &str,
    reason: Reason,
    unknown: &[String],
    found: &Found,
    names: Names<'_>,
) -> String {
    let asked = excerpt(query, QUERY);
    let lead = match (reason, unknown.is_empty()) {
        (Reason::OffVocabulary, false) => {
            let words: Vec<String> =
                unknown.iter().take(5).map(|word| format!("“{}”", excerpt(word, 40))).collect();
            format!("“{asked}” uses words that do not occur in what was searched: {}.", words.join(", "))
        }
        _ => format!("“{asked}” did not map well to what was searched."),
    };
    let mut seen = Vec::new();
    for hit in found.hits.iter().take(DEPTH) {
        let line =
            format!("“{}” ({})", excerpt(&hit.title, TITLE), excerpt(&names(&hit.reference.source), 60));
        if !seen.contains(&line) {
            seen.push(line);
        }
        if seen.len() == 3 {
            break;
        }
    }
    let closest =
        if seen.is_empty() { String::new() } else { format!(" The closest found: {}.", seen.join(", ")) };
    format!("{lead}{closest} Please say in other words, or in more detail, what you are looking for.")
}

/// What makes two queries the same question: letters and digits, lower case, single spaces.
pub(super) fn normalised(query: &str) -> String {
    query
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
