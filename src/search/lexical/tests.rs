use super::*;

fn index(texts: &[&str]) -> LexicalIndex {
    LexicalIndex::build(None, Language::English, texts.iter().copied()).unwrap()
}

#[test]
fn scores_are_bm25() {
    // Three texts of two terms each, so every length is average and the length factor is 1:
    // idf = ln(1 + (3 − 1 + ½) / (1 + ½)) = ln(8/3); tf part = 1·(1.2 + 1) / (1 + 1.2) = 1.
    let index = index(&["red apple", "green pear", "green plum"]);
    let terms = index.terms("apples").unwrap();
    let hits = index.search(&terms, 10).unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].0, 0);
    assert!((hits[0].1 - (8.0f32 / 3.0).ln()).abs() < 1e-5, "{hits:?}");
    assert!((terms.known[0].1 - (8.0f32 / 3.0).ln()).abs() < 1e-6);
}

#[test]
fn what_a_query_repeats_counts_more_and_more_slowly() {
    // Factor of three occurrences: (8 + 1)·3 / (8 + 3) = 27/11.
    let index = index(&["red apple", "green pear", "green plum"]);
    let score = |query: &str| index.search(&index.terms(query).unwrap(), 10).unwrap()[0].1;
    assert!((score("apple apples apple") / score("apple") - 27.0 / 11.0).abs() < 1e-5);
}

#[test]
fn surroundings_decide_between_equal_passages() {
    let with = |text: &str, context: &str| InContext { text: text.into(), context: Some(context.into()) };
    let stone = InContext::alone("grey stone");
    let texts = [with("red apple", "red apple pear"), with("red apple", "red apple stone"), stone];
    let index = LexicalIndex::build_in_context(None, Language::English, texts.into_iter()).unwrap();
    let found = index.search(&index.terms("apple stone").unwrap(), 10).unwrap();
    let place = |passage: u32| found.iter().position(|hit| hit.0 == passage).unwrap();
    assert!(place(1) < place(0), "{found:?}");
}

#[test]
fn unknown_terms_are_told_apart() {
    let index = index(&["red apple", "green pear"]);
    let terms = index.terms("the red zebra").unwrap();
    assert_eq!(terms.known.iter().map(|(t, _)| t.text.as_str()).collect::<Vec<_>>(), ["red"]);
    assert_eq!(terms.unknown.iter().map(|t| t.surface.as_str()).collect::<Vec<_>>(), ["zebra"]);
}

#[test]
fn query_syntax_is_only_words() {
    let index = index(&["red apple", "green pear"]);
    for query in ["body:red AND (", "\"", "*", "red^1000", "-red +pear", "ordinal:[0 TO 9]"] {
        let terms = index.terms(query).unwrap();
        index.search(&terms, 10).unwrap();
    }
}

#[test]
fn a_layer_above_is_scored_as_if_all_had_been_built_at_once() {
    let whole = index(&["red apple", "green pear", "green plum", "red plum tart"]);
    let layered = index(&["red apple", "green pear"]);
    let since = ["green plum", "red plum tart"].map(InContext::alone);
    let layered = layered.with(since.into_iter()).unwrap();
    assert_eq!((layered.len(), whole.len()), (4, 4));
    for query in ["plum", "red", "green plum", "tart", "zebra"] {
        let terms = whole.terms(query).unwrap();
        assert_eq!(layered.terms(query).unwrap(), terms, "{query}");
        let (one, two) = (whole.search(&terms, 10).unwrap(), layered.search(&terms, 10).unwrap());
        assert_eq!(one.len(), two.len(), "{query}");
        for (a, b) in one.iter().zip(&two) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-5, "{query}: {one:?} {two:?}");
        }
    }
    let mut vocabulary = Vec::new();
    layered.vocabulary(|term| vocabulary.push(term.to_vec())).unwrap();
    assert!(vocabulary.contains(&b"tart".to_vec()) && vocabulary.contains(&b"pear".to_vec()));
}

#[test]
fn a_layer_takes_the_place_of_the_one_before() {
    let layered = index(&["red apple"]).with([InContext::alone("green plum")].into_iter()).unwrap();
    let layered = layered.with([InContext::alone("blue grape")].into_iter()).unwrap();
    assert_eq!(layered.len(), 2);
    assert!(layered.terms("plum").unwrap().known.is_empty());
    assert_eq!(layered.search(&layered.terms("grape").unwrap(), 5).unwrap()[0].0, 1);
}
