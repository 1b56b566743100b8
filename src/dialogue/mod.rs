//! What is asked of a person and what comes back: questions, answers, and the sealed state that
//! carries them from one round to the next. Knows nothing of how a question reaches the person.
//!
//! A tool that can ask is a pure round: it reads prior [`Exchange`]s out of a [`Dialogue`] and
//! returns either an answer or a [`Question`]. Nothing is kept between rounds.

mod answer;
mod question;
mod state;

pub use answer::{Answer, MAX_TEXT, Reply};
pub use question::{Choice, Form, NONE_OF_THESE, Question};
pub use state::{Asked, Binding, RoundState, Sealer, StateError};

use serde::{Deserialize, Serialize};

use crate::confidence::nagging::{self, Put};

/// One question and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Which round asked it, from 1: the questions of one round are asked together.
    pub round: u32,
    /// What was asked.
    pub asked: Asked,
    /// What came back.
    pub answer: Answer,
}

/// How many rounds asked something, by what came of them, oldest first.
pub fn rounds(exchanges: &[Exchange]) -> u32 {
    exchanges.last().map_or(0, |exchange| exchange.round)
}

/// Whether a round may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayAsk {
    /// It may.
    Yes,
    /// It may not, and why.
    No(Silence),
}

/// Why nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The client cannot ask its user: no elicitation, or no channel back to it.
    Unsupported,
    /// Asking is switched off: by the caller, the client list, or configuration.
    Disabled,
    /// The call has asked as often as it may.
    Exhausted,
}

/// What a round knows of the conversation so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    /// Earlier questions and answers, oldest first.
    pub exchanges: Vec<Exchange>,
    /// Whether one more question may be asked.
    pub may_ask: MayAsk,
}

impl Dialogue {
    /// A first round in which nobody can be asked.
    pub fn silent(why: Silence) -> Self {
        Self { exchanges: Vec::new(), may_ask: MayAsk::No(why) }
    }

    /// The answer that decides how the latest round went, if anything was asked: the first that is not
    /// usable, where there are several.
    pub fn last(&self) -> Option<&Exchange> {
        let latest = self.exchanges.last()?;
        let round = self.exchanges.iter().filter(|exchange| exchange.round == latest.round);
        let usable = |exchange: &&Exchange| matches!(exchange.answer, Answer::Accepted(_));
        round.clone().find(|exchange| !usable(exchange)).or(Some(latest))
    }

    /// In how many rounds an answer could not be used.
    pub fn unusable_rounds(&self) -> usize {
        let unusable = self.exchanges.iter().filter(|exchange| exchange.answer == Answer::Unusable);
        unusable.map(|exchange| exchange.round).collect::<std::collections::BTreeSet<_>>().len()
    }

    /// What people said about parts of the query that were asked about one by one, oldest first.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &Reply)> {
        self.exchanges.iter().filter_map(|exchange| match (&exchange.asked.slot, &exchange.answer) {
            (Some(slot), Answer::Accepted(reply)) => Some((slot.as_str(), reply)),
            _ => None,
        })
    }

    /// Whether `question` would not nag after what was asked already; `brought` says whether the
    /// answers brought a word that the corpus knows.
    pub fn worthwhile(&self, question: &Question, brought: bool) -> bool {
        let next = question.asked();
        let earlier: Vec<Put<'_>> = self.exchanges.iter().map(|exchange| exchange.asked.put()).collect();
        nagging::worthwhile(&earlier, &next.put(), brought)
    }

    /// Whether the last question came back without a usable answer.
    pub fn last_was_unusable(&self) -> bool {
        self.last().is_some_and(|exchange| exchange.answer == Answer::Unusable)
    }

    /// The free text people gave about the query as a whole, oldest first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.whole().filter_map(|exchange| match &exchange.answer {
            Answer::Accepted(reply) => reply.text.as_deref(),
            _ => None,
        })
    }

    /// The option chosen last for the query as a whole.
    pub fn choice(&self) -> Option<&str> {
        self.whole().rev().find_map(|exchange| match &exchange.answer {
            Answer::Accepted(reply) => reply.choice.as_deref(),
            _ => None,
        })
    }

    /// The exchanges about the query as a whole.
    fn whole(&self) -> impl DoubleEndedIterator<Item = &Exchange> {
        self.exchanges.iter().filter(|exchange| exchange.asked.slot.is_none())
    }
}

/// What a round comes to.
#[derive(Debug, Clone)]
pub enum Round<R> {
    /// The tool's answer.
    Answered(R),
    /// Questions that have to be answered first; never none. Several are asked together.
    Ask(Vec<Question>),
}
