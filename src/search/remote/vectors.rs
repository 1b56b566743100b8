//! What is believed of an answer of `/embeddings`: as many vectors as texts, in the order of the
//! texts, all of one length, of finite numbers. Anything else would be kept for years.

use serde::Deserialize;

use super::trouble::Trouble;

/// More numbers than any embedding has.
const MOST_DIMENSIONS: usize = 16_384;

/// The answer, understood.
#[derive(Debug, PartialEq)]
pub(super) struct Vectors {
    /// One per text, in order, of length one.
    pub(super) vectors: Vec<Vec<f32>>,
    /// Which model the service says it used.
    pub(super) model: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Reads an answer about `count` texts.
pub(super) fn read(body: &[u8], count: usize) -> Result<Vectors, Trouble> {
    let Answer { data, model } = json(body)?;
    let unsound = |what: String| Err(Trouble::Unsound(what));
    if data.len() != count {
        return unsound(format!("{} vectors for {count} texts", data.len()));
    }
    let dimensions = data.first().map_or(0, |item| item.embedding.len());
    let numbered = data.iter().any(|item| item.index.is_some());
    let mut vectors = vec![Vec::new(); count];
    for (n, Item { index, embedding }) in data.into_iter().enumerate() {
        // Some services leave the numbers out, and keep the order.
        let place = if numbered { index } else { Some(n) };
        let Some(slot) = place.and_then(|at| vectors.get_mut(at)).filter(|slot| slot.is_empty()) else {
            return unsound("its `index` numbers are not 0, 1, 2 …, each once".to_owned());
        };
        if embedding.len() != dimensions || !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            return unsound(format!("vectors of {dimensions} and of {} numbers", embedding.len()));
        }
        *slot = match unit(&embedding) {
            Some(vector) => vector,
            None => return unsound("a vector of zeros, or of what are no numbers".to_owned()),
        };
    }
    Ok(Vectors { vectors, model })
}

/// Reads JSON, and does not repeat what was wrong in it: that may be somebody's text.
pub(super) fn json<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Trouble> {
    serde_json::from_slice(body).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Eof => "JSON that breaks off",
            serde_json::error::Category::Data => "JSON that is not what was asked for",
            _ => "no JSON",
        };
        Trouble::Unsound(format!("{what} (line {}, column {})", error.line(), error.column()))
    })
}

/// The vector with length one.
fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    (length.is_finite() && length > 1e-12)
        .then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn takes_the_order_from_the_numbers_and_makes_unit_vectors() {
        let body = br#"{"object": "list", "model": "m", "usage": {}, "data": [
            {"object": "embedding", "index": 1, "embedding": [0, -2]},
            {"object": "embedding", "index": 0, "embedding": [3.0, 4e0]}]}"#;
        let read = read(body, 2).unwrap();
        assert_eq!(read.vectors, [vec![0.6, 0.8], vec![0.0, -1.0]]);
        assert_eq!(read.model.as_deref(), Some("m"));
    }

    #[test]
    fn numbers_may_be_left_out_by_all() {
        let body = br#"{"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}"#;
        assert_eq!(read(body, 2).unwrap().vectors, [vec![1.0, 0.0], vec![0.0, 1.0]]);
    }

    #[rstest]
    #[case::too_few(r#"{"data": [{"index": 0, "embedding": [1]}]}"#)]
    #[case::too_many(r#"{"data": [{"embedding": [1]}, {"embedding": [1]}, {"embedding": [1]}]}"#)]
    #[case::twice(r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#)]
    #[case::beyond(r#"{"data": [{"index": 1, "embedding": [1]}, {"index": 2, "embedding": [1]}]}"#)]
    #[case::half_numbered(r#"{"data": [{"index": 0, "embedding": [1]}, {"embedding": [1]}]}"#)]
    #[case::lengths(r#"{"data": [{"embedding": [1, 0]}, {"embedding": [1]}]}"#)]
    #[case::empty(r#"{"data": [{"embedding": []}, {"embedding": []}]}"#)]
    #[case::zeros(r#"{"data": [{"embedding": [0]}, {"embedding": [1]}]}"#)]
    #[case::nan(r#"{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}"#)]
    #[case::null(r#"{"data": [{"embedding": [null]}, {"embedding": [1]}]}"#)]
    #[case::infinite(r#"{"data": [{"embedding": [1e39]}, {"embedding": [1]}]}"#)]
    #[case::beyond_f64(r#"{"data": [{"embedding": [1e999]}, {"embedding": [1]}]}"#)]
    #[case::strings(r#"{"data": [{"embedding": ["1"]}, {"embedding": [1]}]}"#)]
    #[case::base64(r#"{"data": [{"embedding": "AACAPw=="}, {"embedding": "AACAPw=="}]}"#)]
    #[case::truncated(r#"{"data": [{"embedding": [1, 0.2"#)]
    #[case::error(r#"{"error": "no"}"#)]
    #[case::html("<html>secret text</html>")]
    fn anything_else_is_refused_and_not_repeated(#[case] body: &str) {
        let trouble = read(body.as_bytes(), 2).unwrap_err();
        assert!(matches!(&trouble, Trouble::Unsound(what) if !what.contains("secret")), "{trouble:?}");
    }
}
