//! How a call's asking went: the one table that holds for every source and both asking tools.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    confidence::{
        Signals,
        gate::{Level, Reason},
    },
    dialogue::{Answer, Dialogue, Exchange, Form, MayAsk, Reply, Silence},
    sources::Reference,
};

/// How the asking of one call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There was nothing to ask.
    NotNeeded,
    /// The user (or the caller, by argument) clarified or chose.
    Answered,
    /// No usable answer came, twice.
    Unusable,
    /// No clarification was received: the client declined.
    Declined,
    /// No clarification was received: the form was closed.
    Cancelled,
    /// No clarification was received in time.
    TimedOut,
    /// The client failed or went away while being asked.
    Failed,
    /// This client cannot ask its user.
    Unsupported,
    /// Asking is switched off for this call, client or source.
    Disabled,
    /// The call had asked as often as it may.
    Exhausted,
    /// The option chosen is no longer there.
    StaleChoice,
}

/// What a response says about asking.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Clarification {
    /// How it went.
    pub outcome: Outcome,
    /// What was asked, oldest first.
    pub asked: Vec<AskedNote>,
    /// The usable answer that this result rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerNote>,
}

/// One question that was asked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AskedNote {
    /// What the form asked for.
    pub form: Form,
    /// Which part of the query it was about, where parts were asked about one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A usable answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerNote {
    /// The reference chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The words given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification: Option<String>,
}

impl From<&Reply> for AnswerNote {
    fn from(reply: &Reply) -> Self {
        Self { choice: reply.choice.clone(), clarification: reply.text.clone() }
    }
}

impl AnswerNote {
    /// What the caller gave by argument, if anything.
    pub(super) fn argument(choice: Option<&Reference>, clarification: Option<&str>) -> Option<Self> {
        (choice.is_some() || clarification.is_some()).then(|| Self {
            choice: choice.map(ToString::to_string),
            clarification: clarification.map(str::to_owned),
        })
    }
}

impl Clarification {
    /// What `dialogue` came to, with `outcome` decided by the round.
    pub(super) fn new(outcome: Outcome, dialogue: &Dialogue, argument: Option<AnswerNote>) -> Self {
        let asked = dialogue
            .exchanges
            .iter()
            .map(|Exchange { asked, .. }| AskedNote {
                form: asked.form,
                slot: asked.slot.clone(),
                reason: asked.reason,
            })
            .collect();
        let answer = dialogue.exchanges.iter().rev().find_map(|exchange| match &exchange.answer {
            Answer::Accepted(reply) => Some(AnswerNote::from(reply)),
            _ => None,
        });
        Self { outcome, asked, answer: answer.or(argument) }
    }
}

/// Whether this round may ask, given how the last question went and whether it wants to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask.
    Ask,
    /// Answer, with this outcome.
    Answer(Outcome),
}

/// The outcome table. `wants` is what the gate says now; `clarified` whether the result rests on
/// something the user or the caller clarified; `worthwhile` whether one more question would not nag.
pub(super) fn next(dialogue: &Dialogue, wants: bool, clarified: bool, worthwhile: bool) -> Next {
    let settled = if clarified { Outcome::Answered } else { Outcome::NotNeeded };
    match dialogue.last().map(|exchange: &Exchange| &exchange.answer) {
        Some(Answer::Declined) => return Next::Answer(Outcome::Declined),
        Some(Answer::Cancelled) => return Next::Answer(Outcome::Cancelled),
        Some(Answer::TimedOut) => return Next::Answer(Outcome::TimedOut),
        Some(Answer::Failed) => return Next::Answer(Outcome::Failed),
        Some(Answer::Unusable) => {
            let again = wants && dialogue.unusable_rounds() == 1 && dialogue.may_ask == MayAsk::Yes;
            return if again { Next::Ask } else { Next::Answer(Outcome::Unusable) };
        }
        Some(Answer::Accepted(_)) | None => {}
    }
    if !wants {
        return Next::Answer(settled);
    }
    match dialogue.may_ask {
        MayAsk::Yes if worthwhile => Next::Ask,
        MayAsk::Yes => Next::Answer(settled),
        // What the user did say counts for more than that nobody may be asked again.
        MayAsk::No(Silence::Exhausted) => Next::Answer(if worthwhile { Outcome::Exhausted } else { settled }),
        MayAsk::No(_) if clarified => Next::Answer(Outcome::Answered),
        MayAsk::No(Silence::Unsupported) => Next::Answer(Outcome::Unsupported),
        MayAsk::No(Silence::Disabled) => Next::Answer(Outcome::Disabled),
    }
}

/// How sure the result is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConfidenceNote {
    /// high, moderate or low.
    pub level: Level,
    /// Probability that the hits satisfy the query, in [0, 1].
    pub probability: f32,
    /// Whether the source could be calibrated; without that, take the probability as a rough guide.
    pub calibrated: bool,
    /// Why it is not high: stable codes.
    pub reasons: Vec<Reason>,
    /// The numbers behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<Signals>,
    /// The decision in words: which signal crossed which threshold.
    pub explanation: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialogue::Asked;
    use rstest::rstest;

    fn accepted() -> Answer {
        Answer::Accepted(Reply { choice: None, text: Some("words".into()) })
    }

    fn dialogue(answers: &[Answer], may_ask: MayAsk) -> Dialogue {
        let asked = Asked {
            form: Form::Clarification,
            slot: None,
            reason: Some(Reason::LowScore),
            subject: String::new(),
            options: vec![],
        };
        Dialogue {
            exchanges: answers
                .iter()
                .zip(1..)
                .map(|(answer, round)| Exchange { round, asked: asked.clone(), answer: answer.clone() })
                .collect(),
            may_ask,
        }
    }

    const UNSUPPORTED: MayAsk = MayAsk::No(Silence::Unsupported);
    const DISABLED: MayAsk = MayAsk::No(Silence::Disabled);
    const EXHAUSTED: MayAsk = MayAsk::No(Silence::Exhausted);

    // Columns: answers so far, may ask, gate wants to, clarified, worthwhile → what happens.
    #[rstest]
    #[case::strong(&[], MayAsk::Yes, false, false, true, Next::Answer(Outcome::NotNeeded))]
    #[case::weak(&[], MayAsk::Yes, true, false, true, Next::Ask)]
    #[case::strong_without_client(&[], UNSUPPORTED, false, false, true, Next::Answer(Outcome::NotNeeded))]
    #[case::weak_without_client(&[], UNSUPPORTED, true, false, true, Next::Answer(Outcome::Unsupported))]
    #[case::weak_switched_off(&[], DISABLED, true, false, true, Next::Answer(Outcome::Disabled))]
    #[case::argument_helped(&[], MayAsk::Yes, false, true, true, Next::Answer(Outcome::Answered))]
    #[case::argument_did_not_help(&[], UNSUPPORTED, true, true, true, Next::Answer(Outcome::Answered))]
    #[case::answer_helped(&[accepted()], MayAsk::Yes, false, true, true, Next::Answer(Outcome::Answered))]
    #[case::answer_left_doubt(&[accepted()], MayAsk::Yes, true, true, true, Next::Ask)]
    #[case::would_nag(&[accepted()], MayAsk::Yes, true, true, false, Next::Answer(Outcome::Answered))]
    #[case::rounds_used_up(&[accepted(), accepted()], EXHAUSTED, true, true, true, Next::Answer(Outcome::Exhausted))]
    #[case::unusable_once(&[Answer::Unusable], MayAsk::Yes, true, false, false, Next::Ask)]
    #[case::unusable_twice(&[Answer::Unusable, Answer::Unusable], MayAsk::Yes, true, false, true, Next::Answer(Outcome::Unusable))]
    #[case::unusable_last_round(&[Answer::Unusable], EXHAUSTED, true, false, true, Next::Answer(Outcome::Unusable))]
    #[case::declined(&[Answer::Declined], MayAsk::Yes, true, false, true, Next::Answer(Outcome::Declined))]
    #[case::cancelled(&[Answer::Cancelled], MayAsk::Yes, true, false, true, Next::Answer(Outcome::Cancelled))]
    #[case::timed_out(&[Answer::TimedOut], MayAsk::Yes, true, false, true, Next::Answer(Outcome::TimedOut))]
    #[case::failed(&[Answer::Failed], MayAsk::Yes, true, false, true, Next::Answer(Outcome::Failed))]
    #[case::declined_after_an_answer(&[accepted(), Answer::Declined], MayAsk::Yes, true, true, true, Next::Answer(Outcome::Declined))]
    fn table(
        #[case] answers: &[Answer],
        #[case] may_ask: MayAsk,
        #[case] wants: bool,
        #[case] clarified: bool,
        #[case] worthwhile: bool,
        #[case] expected: Next,
    ) {
        assert_eq!(next(&dialogue(answers, may_ask), wants, clarified, worthwhile), expected);
    }
}
