//! Putting a lexical and a dense ranking together.

use std::collections::BTreeMap;

/// Weight of the lexical side. Swept on seven collections: 0.5 to 0.6 is a plateau.
pub const LEXICAL_WEIGHT: f32 = 0.5;

/// The convex combination of scores, `w·bm25/max(bm25) + (1 − w)·minmax(cosine)`, over the union
/// of both rankings: place and score in [0, 1], best first, equal ones by place.
///
/// `cosine` gives the cosine of any place: what only the lexical side found has one too.
pub fn convex(lexical: &[(u32, f32)], dense: &[(u32, f32)], cosine: impl Fn(u32) -> f32) -> Vec<(u32, f32)> {
    let largest = lexical.iter().map(|hit| hit.1).fold(0.0, f32::max);
    let mut union: BTreeMap<u32, (f32, f32)> =
        dense.iter().map(|(at, cosine)| (*at, (0.0, *cosine))).collect();
    for (at, score) in lexical {
        union.entry(*at).or_insert_with(|| (0.0, cosine(*at))).0 = *score;
    }
    let cosines = || union.values().map(|scores| scores.1);
    let (low, high) = (cosines().fold(f32::MAX, f32::min), cosines().fold(f32::MIN, f32::max));
    let mut fused: Vec<(u32, f32)> = union
        .iter()
        .map(|(at, (bm25, cosine))| {
            let lexical = if largest > 0.0 { bm25 / largest } else { 0.0 };
            let dense = if high > low { (cosine - low) / (high - low) } else { 1.0 };
            (*at, LEXICAL_WEIGHT * lexical + (1.0 - LEXICAL_WEIGHT) * dense)
        })
        .collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_the_convex_combination() {
        let lexical = [(1, 10.0), (2, 5.0)];
        let dense = [(3, 0.8), (1, 0.4)];
        // 1: ½·1 + ½·(0.4−0.2)/0.6 = 0.6667; 3: ½·0 + ½·1 = 0.5; 2: ½·½ + ½·0 = 0.25.
        let fused = convex(&lexical, &dense, |_| 0.2);
        let expected = [(1, 2.0 / 3.0), (3, 0.5), (2, 0.25)];
        for (found, expected) in fused.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-6, "{fused:?}");
        }
    }

    #[test]
    fn one_side_alone_still_ranks() {
        assert_eq!(convex(&[], &[(5, 0.3)], |_| 0.0), [(5, 0.5)]);
        assert!(convex(&[], &[], |_| 0.0).is_empty());
        assert_eq!(
            convex(&[(1, 2.0), (2, 1.0)], &[], |_| 0.0).iter().map(|h| h.0).collect::<Vec<_>>(),
            [1, 2]
        );
    }
}
