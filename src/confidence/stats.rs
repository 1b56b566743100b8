//! The few statistics that calibration needs.

/// Mean and population standard deviation; (0, 0) without values.
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// Quantile `q` in [0, 1] by linear interpolation (Hyndman and Fan's type 7); `None` without values.
pub(crate) fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = q.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let low = *sorted.get(at.floor() as usize)?;
    let high = *sorted.get(at.ceil() as usize)?;
    Some(low + (high - low) * at.fract())
}

/// The chance that a random value of `positive` exceeds a random one of `negative`, ties counting
/// half (Mann–Whitney U over n₁·n₀); `None` when either is empty.
pub(crate) fn auroc(positive: &[f64], negative: &[f64]) -> Option<f64> {
    if positive.is_empty() || negative.is_empty() {
        return None;
    }
    let mut sorted = negative.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins: f64 = positive
        .iter()
        .map(|p| {
            let below = sorted.partition_point(|n| n < p);
            let not_above = sorted.partition_point(|n| n <= p);
            below as f64 + 0.5 * (not_above - below) as f64
        })
        .sum();
    Some(wins / (positive.len() as f64 * negative.len() as f64))
}

/// `value` to nine decimals. Fitted numbers are kept no finer, so that they survive JSON to the digit:
/// serde_json reads numbers of up to fifteen digits exactly and longer ones to within a rounding.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_of_the_population() {
        assert_eq!(mean_and_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), (5.0, 2.0));
        assert_eq!(mean_and_deviation(&[]), (0.0, 0.0));
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 1.0), Some(4.0));
        assert_eq!(quantile(&[0.0, 10.0], 0.25), Some(2.5));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn ties_count_half() {
        // Pairs: 3>1, 3>2, 2>1, 2=2 → (3 + ½) / 4.
        assert_eq!(auroc(&[3.0, 2.0], &[1.0, 2.0]), Some(0.875));
        assert_eq!(auroc(&[1.0], &[1.0]), Some(0.5));
        assert_eq!(auroc(&[], &[1.0]), None);
    }
}
