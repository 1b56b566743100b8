//! From what somebody typed to the cities it can mean: as it is written, with what qualifies it, by
//! its beginning, in spite of slips, and at last in parts.

use super::{Gazetteer, areas::qualifies, data::City, fold::fold, names::Bearer};

/// How a query was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By a point: the nearest first.
    Point,
    /// By a name, written as it is, and all that qualifies it.
    Exact,
    /// By the beginning of a name.
    Beginning,
    /// By a name with so many slips in it.
    Similar(u8),
    /// By a name, with words beside it that say nothing here.
    Part,
}

/// What a query can mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    /// Indices of cities, best first.
    pub(super) cities: Vec<u32>,
    /// How many of the first fit equally well.
    pub(super) fitting: usize,
    /// Whether the first has so many more inhabitants than the others that fit.
    pub(super) dominant: bool,
    pub(super) how: How,
    /// Words that say nothing here, as written but folded.
    pub(super) unknown: Vec<String>,
}

/// What people write around a name.
const FILLER: &[&str] = &[
    "a",
    "about",
    "address",
    "and",
    "are",
    "at",
    "called",
    "city",
    "coordinates",
    "coords",
    "find",
    "for",
    "geocode",
    "in",
    "is",
    "latitude",
    "locate",
    "located",
    "location",
    "longitude",
    "lookup",
    "map",
    "me",
    "name",
    "named",
    "of",
    "on",
    "place",
    "please",
    "population",
    "position",
    "show",
    "tell",
    "the",
    "to",
    "town",
    "was",
    "what",
    "whats",
    "where",
    "wheres",
    "which",
];
/// Longest query that is read as one name with qualifiers, in words.
const WORDS: usize = 12;
/// Longest text that is searched for names in it, in words.
const SCANNED: usize = 64;
/// Longest name looked for inside a text, in words.
const NAME: usize = 4;
/// Shortest name looked for by its beginning, or in spite of slips, in characters.
const BEGINNING: usize = 3;
const SIMILAR: usize = 4;
/// From this length on a name may have two slips.
const TWO_SLIPS: usize = 8;
/// Names that begin as the query does are looked at up to this many.
const BEGINNINGS: usize = 500;
/// What a city's other names weigh beside names that cities go by: many were used once, or by few.
const OTHER: f64 = 0.02;
/// A guess stands beside a better one from this share of its weight on.
const RIVAL: f64 = 0.1;
/// A name inside a text that is not written as one has to be of a city of so many inhabitants.
const WELL_KNOWN: f64 = 100_000.0;
/// So many times the inhabitants of all others of its name make one the city that is meant.
const DOMINANT: f64 = 20.0;

type Cut<'a> = (String, Vec<&'a str>);

impl Gazetteer {
    /// Reads a query that is not a point. `lenient` allows guesses: beginnings, slips, and names in a
    /// longer text. Without it the query has to be a name, and be written as one.
    pub(super) fn read(&self, text: &str, lenient: bool) -> Option<Reading> {
        let folded = fold(text);
        let all: Vec<&str> = folded.split(' ').filter(|word| !word.is_empty()).take(SCANNED).collect();
        let is_filler = |word: &&&str| FILLER.contains(*word);
        let from = all.iter().take_while(is_filler).count();
        let to = all.len() - all.iter().rev().take_while(is_filler).count();
        let bare = all.get(from..to.max(from)).unwrap_or_default();
        let mut variants =
            [all.as_slice(), bare].into_iter().filter(|words| (1..=WORDS).contains(&words.len()));
        for words in variants.clone() {
            for (name, qualifiers) in cuts(words) {
                let named = lenient || !qualifiers.is_empty() || is_capitalised(text, &name);
                let bearers = self.qualified(self.names.exact(&name), &qualifiers);
                if named && !bearers.is_empty() {
                    return Some(self.named(bearers));
                }
            }
        }
        if !lenient {
            return None;
        }
        let words = variants.next_back().unwrap_or_default();
        self.beginning(words).or_else(|| self.similar(words)).or_else(|| self.part(text, &all))
    }

    fn beginning(&self, words: &[&str]) -> Option<Reading> {
        let worth =
            |(name, qualifiers): &Cut<'_>| name.chars().count() >= BEGINNING && self.can_qualify(qualifiers);
        cuts(words).filter(worth).find_map(|(name, qualifiers)| {
            let bearers = self.qualified(&self.names.beginning(&name, BEGINNINGS), &qualifiers);
            self.guessed(bearers, How::Beginning)
        })
    }

    fn similar(&self, words: &[&str]) -> Option<Reading> {
        let allowed = |name: &str| match name.chars().count() {
            length if length >= TWO_SLIPS => 2,
            length if length >= SIMILAR => 1,
            _ => 0,
        };
        // Walking all names costs much more than the rest: only where the words beside one could qualify it.
        let cuts: Vec<Cut<'_>> = cuts(words).filter(|(_, qualifiers)| self.can_qualify(qualifiers)).collect();
        (1..=2).find_map(|slips| {
            cuts.iter().filter(|(name, _)| allowed(name) >= slips).find_map(|(name, qualifiers)| {
                let (slips, bearers) = self.names.similar(name, slips);
                self.guessed(self.qualified(&bearers, qualifiers), How::Similar(slips))
            })
        })
    }

    /// The longest name in a longer text, the weightiest of equally long ones.
    fn part(&self, text: &str, words: &[&str]) -> Option<Reading> {
        (1..=NAME).rev().find_map(|length| {
            let candidates = words.windows(length).enumerate().filter_map(|(at, window)| {
                let name = window.join(" ");
                let filler = window.iter().all(|word| FILLER.contains(word));
                let bearers = if filler { &[] } else { self.names.exact(&name) };
                let weight = bearers.iter().map(|bearer| self.weight(*bearer)).fold(0.0, f64::max);
                // Many an everyday word is the name of some small town.
                let meant = weight >= WELL_KNOWN || is_capitalised(text, &name);
                (meant && !bearers.is_empty()).then_some((weight, at, bearers))
            });
            let (_, at, bearers) = candidates.max_by(|a, b| a.0.total_cmp(&b.0))?;
            let unknown = words
                .iter()
                .enumerate()
                .filter(|(n, word)| !(at..at + length).contains(n) && !FILLER.contains(word))
                .map(|(_, word)| (*word).to_owned())
                .collect();
            Some(Reading { how: How::Part, unknown, ..self.named(bearers.to_vec()) })
        })
    }

    /// Whether all words occur in what can qualify some name.
    fn can_qualify(&self, words: &[&str]) -> bool {
        words.iter().all(|word| self.qualifying.contains(*word))
    }

    fn qualified(&self, bearers: &[Bearer], qualifiers: &[&str]) -> Vec<Bearer> {
        let fits = |bearer: &&Bearer| {
            qualifiers.is_empty()
                || self.city(bearer.city).is_some_and(|city| {
                    let areas = [self.divisions.of(city.division), self.countries.of(Some(city.country))];
                    qualifies(qualifiers, &areas)
                })
        };
        bearers.iter().filter(fits).copied().collect()
    }

    /// All cities that go by a name fit equally well; those only also called so, if they are much larger,
    /// or if there is no other.
    fn named(&self, bearers: Vec<Bearer>) -> Reading {
        let ranked = self.ranked(bearers);
        let best = ranked.first().map_or(0.0, |(weight, _)| *weight);
        let least = largest_own(&ranked).unwrap_or(best * RIVAL);
        Self::reading(ranked, How::Exact, |weight, bearer| !bearer.other || weight >= least)
    }

    /// Of guesses, the ones that are not much less likely than the best fit.
    fn guessed(&self, bearers: Vec<Bearer>, how: How) -> Option<Reading> {
        let ranked = self.ranked(bearers);
        let rival = ranked.first()?.0 * RIVAL;
        let least = largest_own(&ranked).unwrap_or(rival);
        let fits = |weight, bearer: Bearer| weight >= if bearer.other { least } else { rival };
        Some(Self::reading(ranked, how, fits))
    }

    fn reading(ranked: Vec<(f64, Bearer)>, how: How, fits: impl Fn(f64, Bearer) -> bool) -> Reading {
        let (first, rest): (Vec<_>, Vec<_>) =
            ranked.into_iter().partition(|(weight, bearer)| fits(*weight, *bearer));
        let fitting = first.len();
        let others: f64 = first.iter().skip(1).map(|(weight, _)| weight).sum();
        let dominant = first.first().is_some_and(|(weight, _)| *weight >= DOMINANT * others);
        let cities = first.into_iter().chain(rest).map(|(_, bearer)| bearer.city).collect();
        Reading { cities, fitting, dominant, how, unknown: Vec::new() }
    }

    /// Each city once, the weightiest first.
    fn ranked(&self, bearers: Vec<Bearer>) -> Vec<(f64, Bearer)> {
        let mut ranked: Vec<(f64, Bearer)> =
            bearers.into_iter().map(|bearer| (self.weight(bearer), bearer)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut seen = std::collections::HashSet::new();
        ranked.retain(|(_, bearer)| seen.insert(bearer.city));
        ranked
    }

    fn weight(&self, bearer: Bearer) -> f64 {
        let population = self.city(bearer.city).map_or(0, |city: &City| city.population);
        f64::from(population.max(1)) * if bearer.other { OTHER } else { 1.0 }
    }
}

/// The weight of the largest city that goes by one of the names.
fn largest_own(ranked: &[(f64, Bearer)]) -> Option<f64> {
    ranked.iter().find(|(_, bearer)| !bearer.other).map(|(weight, _)| *weight)
}

/// Every way to cut words into a name and qualifiers after or before it, the longest names first.
fn cuts<'a>(words: &'a [&'a str]) -> impl Iterator<Item = Cut<'a>> {
    (1..=words.len()).rev().flat_map(move |length| {
        let after = words.split_at_checked(length).map(|(name, rest)| (name.join(" "), rest.to_vec()));
        let before = words
            .split_at_checked(words.len() - length)
            .filter(|(rest, _)| !rest.is_empty())
            .map(|(rest, name)| (name.join(" "), rest.to_vec()));
        after.into_iter().chain(before)
    })
}

/// Whether `name`'s first word stands in `text` as names are written: not in lower case.
fn is_capitalised(text: &str, name: &str) -> bool {
    let first = name.split(' ').next().unwrap_or_default();
    text.split(|c: char| c.is_whitespace() || c == '-')
        .map(|word| word.trim_start_matches(|c: char| !c.is_alphanumeric()))
        .any(|word| fold(word).split(' ').next() == Some(first) && !word.starts_with(char::is_lowercase))
}
