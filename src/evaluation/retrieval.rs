//! How well the right documents are found, by each side of the index and by both together.

use serde::Serialize;

use super::{
    dataset::Relevance,
    estimate::{Estimate, estimate, mean},
    metrics::{ndcg, recall, reciprocal_rank},
};

/// The rankings of one query: document ids, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rankings {
    /// By keywords alone.
    pub lexical: Vec<String>,
    /// By meaning alone.
    pub dense: Vec<String>,
    /// As the service ranks.
    pub hybrid: Vec<String>,
}

/// The figures of all three.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Retrieval {
    /// By keywords alone.
    pub lexical: Figures,
    /// By meaning alone.
    pub dense: Figures,
    /// As the service ranks.
    pub hybrid: Figures,
}

/// Figures of one way to rank, means over queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// nDCG@10 with linear gain.
    pub ndcg10: Estimate,
    /// Recall@10.
    pub recall10: Estimate,
    /// Recall@100.
    pub recall100: Estimate,
    /// Mean reciprocal rank of the first ten.
    pub mrr10: Estimate,
}

/// The figures of queries and what they found.
pub fn measure(found: &[(Relevance, Rankings)]) -> Retrieval {
    let figures = |of: fn(&Rankings) -> &Vec<String>| {
        let values: Vec<[f64; 4]> = found
            .iter()
            .map(|(relevant, rankings)| {
                let ranking = of(rankings);
                [
                    ndcg(ranking, relevant, 10),
                    recall(ranking, relevant, 10),
                    recall(ranking, relevant, 100),
                    reciprocal_rank(ranking, relevant, 10),
                ]
            })
            .collect();
        let strata = [values.iter().collect::<Vec<_>>()];
        let [ndcg10, recall10, recall100, mrr10] = std::array::from_fn(|n| {
            estimate(&strata, |sample| mean(sample.iter().filter_map(|values| values.get(n).copied())))
        });
        Figures { ndcg10, recall10, recall100, mrr10 }
    };
    Retrieval {
        lexical: figures(|rankings| &rankings.lexical),
        dense: figures(|rankings| &rankings.dense),
        hybrid: figures(|rankings| &rankings.hybrid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_measured_by_itself() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let rankings = Rankings { lexical: ids(&["a"]), dense: ids(&["x", "a"]), hybrid: ids(&["x"]) };
        let measured = measure(&[(Relevance::from([("a".to_owned(), 1.0)]), rankings)]);
        let mrr = |figures: &Figures| figures.mrr10.value;
        assert_eq!(
            [&measured.lexical, &measured.dense, &measured.hybrid].map(mrr),
            [Some(1.0), Some(0.5), Some(0.0)]
        );
    }
}
