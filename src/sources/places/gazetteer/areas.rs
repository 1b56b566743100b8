//! What can stand after a name to say which one: countries and first-level divisions, by any of
//! their names and codes.

use std::collections::BTreeMap;

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
///
/// Goes through the words once, noting where a reading can go on: what can be read in many ways, as the
/// same code ten times over, takes no longer than anything else.
pub(super) fn qualifies(words: &[&str], spellings: &[&[String]]) -> bool {
    // For each number of words: whether they can be read, without and with an area among them.
    let mut read: BTreeMap<usize, [bool; 2]> = BTreeMap::from([(0, [true, false])]);
    while let Some((at, [plain, named])) = read.pop_first() {
        let Some((first, _)) = words.get(at..).and_then(<[&str]>::split_first) else { return named };
        if BETWEEN.contains(first) {
            let next = read.entry(at + 1).or_default();
            *next = [next[0] | plain, next[1] | named];
        }
        for spelling in spellings.iter().copied().flatten() {
            let end = at + spelling.split(' ').count();
            if words.get(at..end).is_some_and(|written| is(&written.join(" "), spelling)) {
                read.entry(end).or_default()[1] = true;
            }
        }
    }
    false
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
    #[case("usa usa usa usa usa usa usa usa usa usa usa zzz", false)]
    #[case("usa usa usa usa usa usa usa usa usa usa usa in", true)]
    fn qualifiers(#[case] words: &str, #[case] expected: bool) {
        let illinois = ["illinois".to_owned(), "il".to_owned()];
        let country = ["united states", "usa", "us"].map(str::to_owned);
        let words: Vec<&str> = words.split(' ').collect();
        assert_eq!(qualifies(&words, &[&illinois, &country]), expected);
    }
}
