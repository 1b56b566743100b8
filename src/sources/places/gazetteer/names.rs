//! The names of all cities, folded: found as they are, by their beginning, or in spite of slips.

use std::sync::LazyLock;

use levenshtein_automata::{LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy_fst::{Automaton, IntoStreamer, Map, MapBuilder, Streamer};

/// One slip, a swap of neighbours counting as one (Damerau's distance).
static ONE_SLIP: LazyLock<LevenshteinAutomatonBuilder> =
    LazyLock::new(|| LevenshteinAutomatonBuilder::new(1, true));
/// Two slips.
static TWO_SLIPS: LazyLock<LevenshteinAutomatonBuilder> =
    LazyLock::new(|| LevenshteinAutomatonBuilder::new(2, true));

/// A city that a name is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bearer {
    /// Index of the city.
    pub(super) city: u32,
    /// Whether it is only one of its other names.
    pub(super) other: bool,
}

/// Folded names and the cities they are of.
pub(super) struct Names {
    map: Map<Vec<u8>>,
    /// Where the bearers of each name begin; one entry more than there are names.
    starts: Vec<u32>,
    bearers: Vec<Bearer>,
}

impl Names {
    /// An index of `names`, in any order; the first spelling of a city's name wins.
    pub(super) fn new(mut names: Vec<(String, Bearer)>) -> Result<Self, tantivy_fst::Error> {
        names.retain(|(name, _)| !name.is_empty());
        // Under one name, a city's own comes before what it is called otherwise.
        names.sort_unstable();
        names.dedup_by(|b, a| a.0 == b.0 && a.1.city == b.1.city);
        let mut builder = MapBuilder::memory();
        let (mut starts, mut bearers) = (Vec::new(), Vec::with_capacity(names.len()));
        for group in names.chunk_by(|a, b| a.0 == b.0) {
            let Some((name, _)) = group.first() else { continue };
            builder.insert(name, starts.len() as u64)?;
            starts.push(bearers.len() as u32);
            bearers.extend(group.iter().map(|(_, bearer)| *bearer));
        }
        starts.push(bearers.len() as u32);
        Ok(Self { map: Map::from_bytes(builder.into_inner()?)?, starts, bearers })
    }

    /// The cities called exactly so.
    pub(super) fn exact(&self, name: &str) -> &[Bearer] {
        self.map.get(name).map_or(&[], |at| self.at(at))
    }

    /// The cities whose names begin so, at most `limit` names.
    pub(super) fn beginning(&self, beginning: &str, limit: usize) -> Vec<Bearer> {
        let mut stream = self.map.range().ge(beginning).into_stream();
        let mut found = Vec::new();
        for _ in 0..limit {
            match stream.next() {
                Some((name, at)) if name.starts_with(beginning.as_bytes()) => {
                    found.extend_from_slice(self.at(at))
                }
                _ => break,
            }
        }
        found
    }

    /// The cities with the names nearest to `name`, at most `slips` (1 or 2) from it, and how far
    /// they are; nothing if none is. The first letter has to be right, or to have changed places with the
    /// second: people rarely slip there, and the others are most of the names.
    pub(super) fn similar(&self, name: &str, slips: u8) -> (u8, Vec<Bearer>) {
        let builder = if slips < 2 { &*ONE_SLIP } else { &*TWO_SLIPS };
        let automaton = Slips(builder.build_dfa(name));
        let (mut nearest, mut found) = (slips, Vec::new());
        let mut firsts: Vec<char> = name.chars().take(2).collect();
        firsts.dedup();
        for first in firsts {
            let from = first.to_string();
            // No byte of UTF-8 is 0xFF: one more in the last is past all that begins with this letter.
            let mut to = from.clone().into_bytes();
            to.iter_mut().next_back().into_iter().for_each(|byte| *byte += 1);
            let mut stream = self.map.search(&automaton).ge(&from).lt(&to).into_stream();
            while let Some((key, at)) = stream.next() {
                let end = key.iter().fold(automaton.start(), |state, byte| automaton.accept(&state, *byte));
                let distance = automaton.0.distance(end).to_u8();
                if distance < nearest {
                    nearest = distance;
                    found.clear();
                }
                if distance == nearest {
                    found.extend_from_slice(self.at(at));
                }
            }
        }
        (nearest, found)
    }

    fn at(&self, name: u64) -> &[Bearer] {
        let bounds = usize::try_from(name).ok().and_then(|name| self.starts.get(name..name + 2));
        match bounds {
            Some([from, to]) => self.bearers.get(*from as usize..*to as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The automaton of everything within some slips, as the index walks it.
struct Slips(levenshtein_automata::DFA);

impl Automaton for Slips {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), levenshtein_automata::Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let own = |city| Bearer { city, other: false };
        let other = |city| Bearer { city, other: true };
        let all = [
            ("springfield", own(3)),
            ("springfield", own(1)),
            ("springfield", other(1)),
            ("springs", own(4)),
            ("koln", own(7)),
            ("cologne", other(7)),
            ("", own(9)),
        ];
        Names::new(all.map(|(name, bearer)| (name.to_owned(), bearer)).to_vec()).unwrap()
    }

    fn cities(bearers: &[Bearer]) -> Vec<u32> {
        bearers.iter().map(|bearer| bearer.city).collect()
    }

    #[test]
    fn finds_names_as_they_are() {
        let names = names();
        assert_eq!(cities(names.exact("springfield")), [1, 3]);
        assert!(names.exact("springfield").iter().all(|bearer| !bearer.other), "its own name counts");
        assert_eq!(names.exact("cologne"), [Bearer { city: 7, other: true }]);
        assert!(names.exact("spring").is_empty());
    }

    #[test]
    fn finds_names_by_their_beginning() {
        assert_eq!(cities(&names().beginning("spring", 10)), [1, 3, 4]);
        assert_eq!(cities(&names().beginning("spring", 1)), [1, 3]);
        assert!(names().beginning("x", 10).is_empty());
    }

    #[test]
    fn finds_names_in_spite_of_slips() {
        let names = names();
        // A letter left out, a swap of neighbours: one slip each. The nearest names only.
        assert_eq!(names.similar("cologn", 1), (1, vec![Bearer { city: 7, other: true }]));
        assert_eq!(cities(&names.similar("klon", 1).1), [7]);
        assert_eq!(cities(&names.similar("srpingfeild", 2).1), [1, 3]);
        assert!(names.similar("srpingfeild", 1).1.is_empty());
        assert!(names.similar("zzzz", 2).1.is_empty());
    }
}
