//! Small helpers over text that many rooms need: the nearest name, shortening, cleaning.

/// The names nearest to `wanted`, best first, at most `limit`; none that is merely far less far.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    // A hostile name may be a megabyte: the distance is quadratic, and no real name is that long.
    let wanted: String = wanted.chars().take(64).flat_map(char::to_lowercase).collect();
    let mut scored: Vec<(f64, &str)> = names
        .map(|name| {
            let folded = name.to_lowercase();
            let contained =
                wanted.chars().count() >= 3 && (folded.contains(&wanted) || wanted.contains(&folded));
            let score = strsim::jaro_winkler(&wanted, &folded);
            (if contained { score.max(0.9) } else { score }, name)
        })
        .filter(|(score, _)| *score >= 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(limit).map(|(_, name)| name).collect()
}

/// `text` without control characters, white space folded, at most `limit` characters, cut at a
/// word where there is one and marked with an ellipsis. What is shown of retrieved or user text.
pub fn excerpt(text: &str, limit: usize) -> String {
    // Folding a whole chunk to show a line of it would be waste: a few times the limit is enough.
    let head: String = text.chars().take(limit.saturating_mul(4).saturating_add(64)).collect();
    let cleaned: String = head.chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect();
    let folded = cleaned.split_whitespace().collect::<Vec<_>>().join(" ");
    if folded.chars().count() <= limit {
        return folded;
    }
    let cut: String = folded.chars().take(limit.saturating_sub(1)).collect();
    let at_word = cut.rfind(' ').filter(|at| *at > cut.len() / 2).and_then(|at| cut.get(..at));
    format!("{}…", at_word.unwrap_or(&cut).trim_end())
}

/// The first `limit` characters of `text`.
pub fn head(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// This moment, RFC 3339 in UTC.
pub fn now() -> String {
    let now = time::OffsetDateTime::now_utc();
    now.format(&time::format_description::well_known::Rfc3339).unwrap_or_default()
}

/// Bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Control characters, and the invisible ones that reorder or hide text (bidirectional overrides,
/// zero-width characters, tags): nothing a person should be shown from somebody else's text.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_the_slip_and_not_the_stranger() {
        let names = ["handbook", "places", "routes"];
        assert_eq!(nearest("handbok", names.into_iter(), 3), ["handbook"]);
        assert_eq!(nearest("HANDBOOK", names.into_iter(), 3), ["handbook"]);
        assert_eq!(nearest("the-handbook", names.into_iter(), 3), ["handbook"]);
        assert!(nearest("weather", names.into_iter(), 3).is_empty());
        assert!(nearest(&"x".repeat(1 << 20), names.into_iter(), 3).is_empty());
    }

    #[test]
    fn excerpts_are_short_clean_and_cut_at_words() {
        assert_eq!(excerpt("a\u{0}b\n\n c\u{202e}d", 20), "a b c d");
        assert_eq!(excerpt("one two three four", 12), "one two…");
        assert_eq!(excerpt("abcdefghij", 5), "abcd…");
        assert_eq!(excerpt("exactly ten", 11), "exactly ten");
    }
}
