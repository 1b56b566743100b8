//! Everyday queries that belong to no documentation: what foreign looks like. Our own writing,
//! one a line. Knows nothing of how they are used.

/// The bank of one language by its ISO 639-1 code (a region is ignored); English where there is none.
pub fn utterances(language: &str) -> impl Iterator<Item = &'static str> {
    let language = language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let text = match language.as_str() {
        "de" => include_str!("de.txt"),
        "es" => include_str!("es.txt"),
        "fr" => include_str!("fr.txt"),
        "it" => include_str!("it.txt"),
        "ja" => include_str!("ja.txt"),
        "nl" => include_str!("nl.txt"),
        "pt" => include_str!("pt.txt"),
        "zh" => include_str!("zh.txt"),
        _ => include_str!("en.txt"),
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_language_has_enough_distinct_lines() {
        for language in ["de", "en", "es", "fr", "it", "ja", "nl", "pt", "zh"] {
            let lines: Vec<_> = utterances(language).collect();
            assert!(lines.len() >= 320, "{language}: {}", lines.len());
            assert_eq!(lines.iter().collect::<HashSet<_>>().len(), lines.len(), "{language}");
        }
    }

    #[test]
    fn regions_fall_back_to_the_language_and_the_rest_to_english() {
        assert!(utterances("pt-BR").eq(utterances("pt")));
        assert!(utterances("xx").eq(utterances("en")));
    }
}
