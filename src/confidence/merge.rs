//! Putting the results of two searches for the same thing together.

use std::{collections::HashMap, hash::Hash};

/// Damping of reciprocal ranks (Cormack, Clarke and Büttcher, 2009).
const K: f32 = 60.0;

/// Both lists fused by reciprocal rank, each item once; equal ones in the order of the first list.
pub fn interleave<T: Clone, Id: Hash + Eq>(first: &[T], second: &[T], id: impl Fn(&T) -> Id) -> Vec<T> {
    let mut scores: HashMap<Id, (f32, usize)> = HashMap::new();
    let mut items: Vec<&T> = Vec::new();
    for list in [first, second] {
        for (rank, item) in list.iter().enumerate() {
            let next = items.len();
            let entry = scores.entry(id(item)).or_insert((0.0, next));
            if entry.1 == next {
                items.push(item);
            }
            entry.0 += 1.0 / (K + rank as f32 + 1.0);
        }
    }
    let mut order: Vec<(f32, usize)> = scores.into_values().collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.into_iter().filter_map(|(_, at)| items.get(at).map(|item| (*item).clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_found_comes_first() {
        // b: 1/62 + 1/61; a: 1/61; d: 1/62; c: 1/63.
        assert_eq!(interleave(&["a", "b", "c"], &["b", "d"], |x| *x), ["b", "a", "d", "c"]);
        assert_eq!(interleave(&["a"], &[], |x| *x), ["a"]);
        assert!(interleave::<&str, _>(&[], &[], |x| *x).is_empty());
    }
}
