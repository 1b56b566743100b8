//! What is believed of an answer of `/rerank`: one finite score per text.

use serde::Deserialize;

use super::{trouble::Trouble, vectors::json};

/// `{"results": […]}` of Cohere, Jina and vLLM, or the bare list of text-embeddings-inference.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Results { results: Vec<Item> },
    Data { data: Vec<Item> },
    Bare(Vec<Item>),
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    #[serde(alias = "score")]
    relevance_score: f32,
}

/// The scores of `count` texts, in their order.
pub(super) fn read(body: &[u8], count: usize) -> Result<Vec<f32>, Trouble> {
    let (Answer::Results { results: items } | Answer::Data { data: items } | Answer::Bare(items)) =
        json(body)?;
    if items.len() != count {
        return Err(Trouble::Unsound(format!("{} scores for {count} texts", items.len())));
    }
    let mut scores = vec![None; count];
    for Item { index, relevance_score: score } in items {
        match scores.get_mut(index).filter(|slot| slot.is_none() && score.is_finite()) {
            Some(slot) => *slot = Some(score),
            None => {
                return Err(Trouble::Unsound(
                    "scores that are no numbers, or do not belong to one text each".to_owned(),
                ));
            }
        }
    }
    Ok(scores.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::cohere(
        r#"{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}"#
    )]
    #[case::with_texts(
        r#"{"model": "m", "results": [{"index": 0, "document": {"text": "a"}, "relevance_score": 0.1},
            {"index": 1, "document": {"text": "b"}, "relevance_score": 0.9}], "usage": {"total_tokens": 9}}"#
    )]
    #[case::voyage(
        r#"{"data": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}"#
    )]
    #[case::bare(r#"[{"index": 1, "score": 0.9}, {"index": 0, "score": 0.1}]"#)]
    fn every_common_shape_is_read(#[case] body: &str) {
        assert_eq!(read(body.as_bytes(), 2).unwrap(), [0.1, 0.9]);
    }

    #[rstest]
    #[case::missing(r#"{"results": [{"index": 1, "relevance_score": 0.9}]}"#)]
    #[case::twice(r#"[{"index": 1, "score": 0.9}, {"index": 1, "score": 0.1}]"#)]
    #[case::beyond(r#"[{"index": 2, "score": 0.9}, {"index": 0, "score": 0.1}]"#)]
    #[case::negative(r#"[{"index": -1, "score": 0.9}, {"index": 0, "score": 0.1}]"#)]
    #[case::infinite(r#"[{"index": 1, "score": 1e39}, {"index": 0, "score": 0.1}]"#)]
    #[case::nan(r#"[{"index": 1, "score": NaN}, {"index": 0, "score": 0.1}]"#)]
    #[case::words(r#"[{"index": 1, "score": "high"}, {"index": 0, "score": 0.1}]"#)]
    #[case::nothing("")]
    fn anything_else_is_refused(#[case] body: &str) {
        assert!(matches!(read(body.as_bytes(), 2), Err(Trouble::Unsound(_))));
    }
}
