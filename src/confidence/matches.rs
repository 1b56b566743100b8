//! The decision on a lookup: how many things fit what was named, rather than how well one does.

use super::gate::{Level, Profile, Reason, Status, Verdict};

/// Options a person can be asked to pick from. With more, a list is of more use than a form.
pub const MOST: usize = 10;

/// What a lookup found, as far as the decision looks at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookup {
    /// How many things fit equally well.
    pub fitting: usize,
    /// Whether the first is far better known than the others that fit.
    pub dominant: bool,
    /// Probability that what is meant is among them, in (0, 1).
    pub reliability: f32,
    /// Whether words of the query played no part.
    pub unexplained: bool,
}

/// Below this much reliability, the words are the trouble and not the choice.
const DOUBTFUL: f32 = 0.5;

/// Decides on a lookup. One fitting thing is answered; two to [`MOST`] are [`Reason::Ambiguous`], more are
/// [`Reason::TooBroad`]; nothing is [`Reason::NoMatch`], and a name among words that say nothing here
/// [`Reason::OffVocabulary`]. Confidence is that the first is meant: reliability shared among the fitting.
///
/// A source that is [`Profile::Reserved`] takes a dominant one for meant, and asks about no namesakes.
pub fn decide(lookup: Lookup, profile: Profile) -> Verdict {
    let Lookup { reliability, unexplained, .. } = lookup;
    let plain = lookup.dominant && profile == Profile::Reserved;
    let fitting = if plain { lookup.fitting.min(1) } else { lookup.fitting };
    let ask = match fitting {
        0 => Some(Reason::NoMatch),
        _ if reliability < DOUBTFUL => {
            Some(if unexplained { Reason::OffVocabulary } else { Reason::LowScore })
        }
        1 => None,
        2..=MOST => Some(Reason::Ambiguous),
        _ => Some(Reason::TooBroad),
    };
    let confidence = if fitting == 0 { 0.0 } else { reliability / fitting as f32 };
    let status = match ask {
        None => Status::Ok,
        Some(Reason::NoMatch) => Status::Empty,
        Some(Reason::Ambiguous | Reason::TooBroad) => Status::Ambiguous,
        Some(_) => Status::Weak,
    };
    Verdict {
        level: Level::of(confidence),
        status,
        confidence,
        ask,
        form: ask.map(Reason::form),
        crossed: Vec::new(),
        signals: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    // Columns: fitting, reliability, unexplained words → reason, confidence.
    #[rstest]
    #[case(0, 0.97, false, Some(Reason::NoMatch), 0.0)]
    #[case(1, 0.97, false, None, 0.97)]
    #[case(1, 0.75, false, None, 0.75)]
    #[case(2, 0.9, false, Some(Reason::Ambiguous), 0.45)]
    #[case(10, 0.9, false, Some(Reason::Ambiguous), 0.09)]
    #[case(11, 0.88, false, Some(Reason::TooBroad), 0.08)]
    #[case(1, 0.3, true, Some(Reason::OffVocabulary), 0.3)]
    #[case(3, 0.3, true, Some(Reason::OffVocabulary), 0.1)]
    #[case(1, 0.3, false, Some(Reason::LowScore), 0.3)]
    fn reasons(
        #[case] fitting: usize,
        #[case] reliability: f32,
        #[case] unexplained: bool,
        #[case] reason: Option<Reason>,
        #[case] confidence: f32,
    ) {
        let lookup = Lookup { fitting, dominant: false, reliability, unexplained };
        let verdict = decide(lookup, Profile::Reserved);
        assert_eq!(verdict.ask, reason);
        assert!((verdict.confidence - confidence).abs() < 1e-6, "{}", verdict.confidence);
    }

    #[test]
    fn only_the_reserved_take_the_well_known_for_meant() {
        let lookup = Lookup { fitting: 2, dominant: true, reliability: 0.9, unexplained: false };
        let asks = |profile| decide(lookup, profile).ask;
        assert_eq!(asks(Profile::Reserved), None);
        assert_eq!([Profile::Balanced, Profile::Eager].map(asks), [Some(Reason::Ambiguous); 2]);
    }
}
