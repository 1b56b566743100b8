//! Reading "from A to B" and its variants.

use std::sync::LazyLock;

/// Stops on the way at most.
const STOPS: usize = 8;
/// Longest end, in characters.
const END: usize = 200;

/// Where a route begins and ends and what it passes, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trip {
    /// Start, stops on the way, destination: two or more.
    pub(super) ends: Vec<String>,
}

/// Words between the stops after "via".
static BETWEEN_STOPS: [&str; 4] = [" and then ", " then ", " and ", ";"];
/// What stands before a start that has no "from".
static LEADS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    vec![
        "directions",
        "drive",
        "driving",
        "how far is it",
        "how far is",
        "how do i get",
        "how long is the drive",
        "route",
        "the way",
        "way",
    ]
});

impl Trip {
    /// Reads `from A to B`, `A to B`, `between A and B`, `A → B`, each also with `via C and D`. `None` for
    /// whatever has no two ends.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(['?', '.', '!']).trim();
        let arrows = text.replace("->", "→");
        let ends: Vec<String> = if arrows.contains('→') {
            arrows.split('→').map(|end| after_lead(end).to_owned()).collect()
        } else {
            in_words(text)?
        };
        let ends: Vec<String> =
            ends.iter().map(|end| end.trim().trim_matches(',').trim().to_owned()).collect();
        let fit = |end: &String| end.chars().any(char::is_alphanumeric) && end.chars().count() <= END;
        ((2..=STOPS + 2).contains(&ends.len()) && ends.iter().all(fit)).then_some(Self { ends })
    }

    /// The name of an end for answers: `from`, `via1`, …, `to`.
    pub(super) fn slot(&self, n: usize) -> String {
        match n {
            0 => "from".to_owned(),
            n if n + 1 == self.ends.len() => "to".to_owned(),
            n => format!("via{n}"),
        }
    }

    /// The same for people.
    pub(super) fn what(&self, n: usize) -> String {
        match n {
            0 => "the start".to_owned(),
            n if n + 1 == self.ends.len() => "the destination".to_owned(),
            _ if self.ends.len() == 3 => "the stop on the way".to_owned(),
            n => format!("stop {n} on the way"),
        }
    }
}

fn in_words(text: &str) -> Option<Vec<String>> {
    if let Some((_, rest)) = cut(text, "between ")
        && let Some((from, to)) = cut(rest, " and ")
    {
        return Some(vec![from.to_owned(), to.to_owned()]);
    }
    let rest = match cut(text, "from ") {
        Some((before, rest)) if before.is_empty() || before.ends_with(' ') => rest,
        _ => after_lead(text),
    };
    let (from, to) = cut(rest, " to ")?;
    let (from, early) = stops(from);
    let (to, late) = stops(to);
    let mut ends = vec![from.to_owned()];
    ends.extend(early.into_iter().chain(late));
    ends.push(to.to_owned());
    Some(ends)
}

/// An end and the stops named after it.
fn stops(text: &str) -> (&str, Vec<String>) {
    let Some((end, listed)) = cut(text, " via ") else { return (text, Vec::new()) };
    let mut stops = vec![listed.to_owned()];
    for between in BETWEEN_STOPS {
        stops = stops.iter().flat_map(|stop| split(stop, between)).collect();
    }
    (end, stops)
}

fn split(text: &str, between: &str) -> Vec<String> {
    match cut(text, between) {
        Some((first, rest)) => std::iter::once(first.to_owned()).chain(split(rest, between)).collect(),
        None => vec![text.to_owned()],
    }
}

/// `text` without words such as "directions" at its beginning.
fn after_lead(text: &str) -> &str {
    let text = text.trim();
    let lead = LEADS.iter().filter_map(|lead| {
        let rest = text.get(lead.len()..).filter(|rest| rest.starts_with(' '))?;
        text.get(..lead.len()).filter(|head| head.eq_ignore_ascii_case(lead)).map(|_| rest.trim())
    });
    let rest = lead.min_by_key(|rest| rest.len()).unwrap_or(text);
    match cut(rest, "from ") {
        Some(("", rest)) => rest,
        _ => rest,
    }
}

/// Cuts at the first `word`, which is ASCII, in any case of letters.
fn cut<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let at = text.to_ascii_lowercase().find(word)?;
    Some((text.get(..at)?, text.get(at + word.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("from Paris to Rome", &["Paris", "Rome"])]
    #[case("Route from Springfield, Illinois to Chicago", &["Springfield, Illinois", "Chicago"])]
    #[case("How do I get from 48.85, 2.35 to Lyon?", &["48.85, 2.35", "Lyon"])]
    #[case("directions Paris to Rome", &["Paris", "Rome"])]
    #[case("Paris → Rome", &["Paris", "Rome"])]
    #[case("paris->lyon -> rome", &["paris", "lyon", "rome"])]
    #[case("From Paris to Rome via Lyon and Turin", &["Paris", "Lyon", "Turin", "Rome"])]
    #[case("from Paris via Lyon to Rome", &["Paris", "Lyon", "Rome"])]
    #[case("driving distance between Oslo and Bergen", &["Oslo", "Bergen"])]
    #[case("from places/2988507#0 to places/3169070#0", &["places/2988507#0", "places/3169070#0"])]
    #[case("from Łódź to Ürümqi", &["Łódź", "Ürümqi"])]
    fn reads_trips(#[case] text: &str, #[case] ends: &[&str]) {
        assert_eq!(Trip::read(text).unwrap().ends, ends);
    }

    #[rstest]
    #[case("")]
    #[case("Paris")]
    #[case("from to")]
    #[case("from Paris to")]
    #[case("→")]
    #[case("→ Rome")]
    #[case("How do I run two replicas?")]
    fn reads_nothing_else(#[case] text: &str) {
        assert_eq!(Trip::read(text), None);
    }

    #[test]
    fn long_trips_are_refused() {
        assert!(Trip::read(&["x"; 10].join("→")).is_some());
        assert!(Trip::read(&["x"; 11].join("→")).is_none());
        assert!(Trip::read(&format!("from {} to y", "x".repeat(201))).is_none());
    }

    #[test]
    fn ends_have_names() {
        let trip = Trip::read("a → b → c → d").unwrap();
        assert_eq!([0, 1, 2, 3].map(|n| trip.slot(n)), ["from", "via1", "via2", "to"]);
        assert_eq!(trip.what(2), "stop 2 on the way");
    }
}
