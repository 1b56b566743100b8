//! What can stand after a name to say which one: countries and first-level divisions, by any of
//! their names and codes.

use super::{data::Area, fold::fold};

/// Words between a name and what qualifies it.
pub(super) const BETWEEN: [&str; 8] = ["in", "the", "of", "state", "province", "region", "one", "city"];
/// Shortest name that may have a slip in it, in characters.
const FORGIVING: usize = 5;

/// The spellings of some areas, in their order.
pub(super) struct Areas(Vec<Vec<String>>);

impl Areas {
    pub(super) fn new(areas: &[Area]) -> Self {
        let spellings = |area: &Area| {
            // The code of a division of DE is DE.02: nobody writes that.
            let code = (!area.code.contains('.')).then_some(&*area.code);
            let all = [&*area.name].into_iter().chain(area.others.split('|')).chain(code);
            all.map(fold).filter(|name| !name.is_empty()).collect()
        };
        Self(areas.iter().map(spellings).collect())
    }

    /// The words that occur in any spelling.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().flat_map(|spelling| spelling.split(' '))
    }

    pub(super) fn of(&self, area: Option<u16>) -> &[String] {
        area.and_then(|area| self.0.get(usize::from(area))).map_or(&[], Vec::as_slice)
    }
}

/// Whether `words` name areas of a place and say nothing else. `spellings` are of all its areas.
pub(super) fn qualifies(words: &[&str], spellings: &[&[String]]) -> bool {
    fn rest(words: &[&str], spellings: &[&[String]], named: bool) -> bool {
        let Some((first, after)) = words.split_first() else { return named };
        let area = spellings.iter().copied().flatten().any(|spelling| {
            let length = spelling.split(' ').count();
            words
                .split_at_checked(length)
                .is_some_and(|(head, tail)| is(&head.join(" "), spelling) && rest(tail, spellings, true))
        });
        area || (BETWEEN.contains(first) && rest(after, spellings, named))
    }
    rest(words, spellings, false)
}

fn is(written: &str, spelling: &str) -> bool {
    written == spelling
        || (spelling.chars().count() >= FORGIVING && strsim::osa_distance(written, spelling) == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("illinois", true)]
    #[case("il", true)]
    #[case("in illinois usa", true)]
    #[case("the one in the state of illinois", true)]
    #[case("united states", true)]
    #[case("ilinois", true)]
    #[case("ohio", false)]
    #[case("illinois pizza", false)]
    #[case("in the", false)]
    #[case("i", false)]
    fn qualifiers(#[case] words: &str, #[case] expected: bool) {
        let illinois = ["illinois".to_owned(), "il".to_owned()];
        let country = ["united states", "usa", "us"].map(str::to_owned);
        let words: Vec<&str> = words.split(' ').collect();
        assert_eq!(qualifies(&words, &[&illinois, &country]), expected);
    }
}
