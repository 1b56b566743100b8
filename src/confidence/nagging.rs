//! The rules against nagging: when one more question is not worth a person's attention.

use std::collections::HashSet;

/// A question, as far as the rules look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Put<'a> {
    /// What it is about, normalised.
    pub subject: &'a str,
    /// Why it is asked; unknown where the client dropped the state.
    pub reason: Option<super::Reason>,
    /// The options offered.
    pub options: &'a [String],
}

/// Share of options two questions may have in common, by Jaccard's index.
const OVERLAP: f32 = 0.5;

/// Whether `next` may be asked after `earlier`, all of which were answered. `brought` says whether
/// the answers brought at least one word that the corpus knows: without one, a further question
/// would only be the same again.
pub fn worthwhile(earlier: &[Put<'_>], next: &Put<'_>, brought: bool) -> bool {
    if earlier.is_empty() {
        return true;
    }
    brought
        && earlier.iter().all(|before| {
            let same =
                before.subject == next.subject && (before.reason == next.reason || before.reason.is_none());
            !same && jaccard(before.options, next.options) <= OVERLAP
        })
}

/// |A ∩ B| / |A ∪ B|; 0 for two empty sets, which have no options to repeat.
fn jaccard(a: &[String], b: &[String]) -> f32 {
    let (a, b): (HashSet<&String>, HashSet<&String>) = (a.iter().collect(), b.iter().collect());
    let union = a.union(&b).count();
    if union == 0 { 0.0 } else { a.intersection(&b).count() as f32 / union as f32 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::confidence::Reason;

    fn put<'a>(subject: &'a str, reason: Reason, options: &'a [String]) -> Put<'a> {
        Put { subject, reason: Some(reason), options }
    }

    fn options(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_first_question_is_always_worthwhile() {
        assert!(worthwhile(&[], &put("q", Reason::LowScore, &[]), false));
    }

    #[test]
    fn a_second_needs_a_word_the_corpus_knows() {
        let first = [put("q", Reason::LowScore, &[])];
        assert!(worthwhile(&first, &put("q more", Reason::LowScore, &[]), true));
        assert!(!worthwhile(&first, &put("q more", Reason::LowScore, &[]), false));
    }

    #[test]
    fn the_same_question_is_not_put_twice() {
        let first = [put("q", Reason::LowScore, &[])];
        assert!(!worthwhile(&first, &put("q", Reason::LowScore, &[]), true));
        assert!(worthwhile(&first, &put("q", Reason::TooBroad, &[]), true));
    }

    #[test]
    fn options_may_overlap_by_half_at_most() {
        let (abc, bcd, cde) =
            (options(&["a", "b", "c"]), options(&["b", "c", "d"]), options(&["c", "d", "e"]));
        let first = [put("q", Reason::TooBroad, &abc)];
        // {b, c} of {a, b, c, d}: 0.5. {c} of five: 0.2. All of three: 1.
        assert!(worthwhile(&first, &put("r", Reason::TooBroad, &bcd), true));
        assert!(worthwhile(&first, &put("r", Reason::TooBroad, &cde), true));
        assert!(!worthwhile(&first, &put("r", Reason::TooBroad, &abc), true));
    }

    proptest! {
        #[test]
        fn never_repeats(subject in "[a-b]", names in prop::collection::vec("[a-e]", 0..5), brought: bool) {
            let question = put(&subject, Reason::Ambiguous, &names);
            prop_assert!(!worthwhile(&[question], &question, brought));
        }
    }
}
