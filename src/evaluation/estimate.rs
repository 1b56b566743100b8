//! A figure with its uncertainty.

use serde::Serialize;

use crate::{confidence::stats, random::Rng};

/// Resamples of a bootstrap: enough for bounds that hold to two digits.
const RESAMPLES: usize = 1000;

/// Seed of the resampling: the same data give the same interval.
const SEED: u64 = 20_250_401;

/// A figure with its bootstrap 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// On the data as they are; absent if they hold nothing to compute it from.
    pub value: Option<f64>,
    /// 2.5th percentile over resamples.
    pub low: Option<f64>,
    /// 97.5th percentile over resamples.
    pub high: Option<f64>,
}

/// Percentile bootstrap (Efron, 1979) of `statistic`: every stratum is resampled by itself, so that
/// the mix of kinds of queries stays what the data set's makers chose.
pub fn estimate<T>(strata: &[Vec<&T>], statistic: impl Fn(&[&T]) -> Option<f64>) -> Estimate {
    let all: Vec<&T> = strata.iter().flatten().copied().collect();
    let value = statistic(&all);
    let mut random = Rng::new(SEED);
    let resampled: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let mut sample = Vec::with_capacity(all.len());
            for stratum in strata {
                sample.extend(
                    (0..stratum.len()).filter_map(|_| stratum.get(random.below(stratum.len())).copied()),
                );
            }
            statistic(&sample)
        })
        .collect();
    Estimate {
        value: value.map(stats::rounded),
        low: value.and(stats::quantile(&resampled, 0.025)).map(stats::rounded),
        high: value.and(stats::quantile(&resampled, 0.975)).map(stats::rounded),
    }
}

/// The mean of `values`; `None` without any.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_value_and_narrows_with_more_data() {
        let of = |n: usize| {
            let values: Vec<f64> = (0..n).map(|k| (k % 2) as f64).collect();
            let stratum: Vec<&f64> = values.iter().collect();
            estimate(&[stratum], |sample| mean(sample.iter().map(|v| **v)))
        };
        let (few, many) = (of(20), of(2000));
        assert_eq!((few.value, many.value), (Some(0.5), Some(0.5)));
        let width = |e: Estimate| e.high.unwrap() - e.low.unwrap();
        // The standard error of a fair coin's mean over n is ½/√n; 95 % are ± 1.96 of them.
        assert!((width(few) - 2.0 * 1.96 * 0.5 / 20.0_f64.sqrt()).abs() < 0.06, "{few:?}");
        assert!((width(many) - 2.0 * 1.96 * 0.5 / 2000.0_f64.sqrt()).abs() < 0.006, "{many:?}");
        assert_eq!(of(20), few);
    }

    #[test]
    fn nothing_has_no_value() {
        let none = estimate::<f64>(&[Vec::new()], |sample| mean(sample.iter().map(|v| **v)));
        assert_eq!(none, Estimate { value: None, low: None, high: None });
    }
}
