//! Against golden vectors made by an independent implementation (`assets/golden.py`).

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::*;

#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

fn golden() -> Vec<Golden> {
    serde_json::from_str(include_str!("../../../tests/data/embedding_golden.json")).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let norm = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() / (norm(a) * norm(b))
}

#[test]
fn tokens_are_those_of_the_reference_tokenizer() {
    let tokenizer = WordPiece::new(VOCABULARY).unwrap();
    for golden in golden() {
        assert_eq!(tokenizer.encode(&golden.text, MAX_TOKENS), golden.ids, "{:?}", golden.text);
    }
}

#[test]
fn vectors_are_those_of_the_reference_on_every_instruction_set() {
    let mut cosines = Vec::new();
    for isa in Isa::available() {
        let embedding = MiniLm::with_isa(isa).unwrap();
        for golden in golden().iter().filter(|golden| isa == Isa::detect() || golden.ids.len() < 24) {
            let vector = embedding.embed_one(&golden.text);
            // Activations are rounded to bytes in groups of 32: one part in 254 of the group's
            // largest, through 24 products. Texts of two or three tokens average little of it out.
            let floor = if golden.ids.len() < 5 { 0.998 } else { 0.9985 };
            let cosine = cosine(&vector, &golden.vector);
            assert!(cosine > floor, "{isa:?} {cosine} {:?}", golden.text);
            cosines.push(cosine);
        }
    }
    let mean = cosines.iter().sum::<f32>() / cosines.len() as f32;
    assert!(mean > 0.9995, "{mean}");
}

#[test]
fn instruction_sets_agree_to_the_bit() {
    let all: Vec<MiniLm> = Isa::available().into_iter().map(|isa| MiniLm::with_isa(isa).unwrap()).collect();
    // Short texts will do: what is the same for some tokens is the same for many.
    for golden in golden().iter().filter(|golden| golden.ids.len() < 24) {
        let first = all[0].embed_one(&golden.text);
        for other in &all[1..] {
            assert_eq!(first, other.embed_one(&golden.text), "{:?}", golden.text);
        }
    }
}

#[test]
fn a_batch_equals_its_texts_one_by_one() {
    let embedding = MiniLm::load().unwrap();
    let goldens = golden();
    let texts: Vec<&str> = goldens.iter().map(|golden| golden.text.as_str()).collect();
    let batch = embedding.embed_batch(&texts);
    for (text, vector) in texts.iter().zip(batch) {
        assert_eq!(embedding.embed_one(text), vector);
        let length: f32 = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5);
    }
}

#[test]
fn hostile_text_is_only_text() {
    let embedding = MiniLm::load().unwrap();
    for text in
        ["\u{0}".repeat(1 << 20), "\u{301}".repeat(1 << 16), "word ".repeat(1 << 18), "x".repeat(1 << 20)]
    {
        assert!(embedding.embed_one(&text).iter().all(|x| x.is_finite()));
    }
}

#[test]
fn the_id_names_the_weights_that_are_built_in() {
    let hash: String = Sha256::digest(WEIGHTS).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        (ID, hash.as_str()),
        ("minilm-l6-q4-r1", "f31a3b8af68d4c0d00d1623123c4f4f8496e657465bf39b307bd0631475d9248"),
        "other weights need another id, or caches would mix their vectors"
    );
}
