//! Logistic regression on a handful of standardised features.

use serde::{Deserialize, Serialize};

use super::stats::{mean_and_deviation, rounded};

/// Newton converges quadratically: twenty steps are more than it takes.
const STEPS: usize = 20;

/// A fitted logistic regression: σ(bias + Σ weight · (x − mean) / deviation).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logistic {
    /// Intercept.
    pub bias: f64,
    /// One per feature.
    pub terms: Vec<Term>,
}

/// One feature's part in a [`Logistic`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Weight of the standardised feature.
    pub weight: f64,
    /// Mean of the feature where it was fitted.
    pub mean: f64,
    /// Standard deviation of the feature where it was fitted, above 0.
    pub deviation: f64,
}

impl Logistic {
    /// Fits by Newton's method with an L2 penalty ‖w‖²/(2C) on the weights, none on the intercept
    /// (what scikit-learn calls `C`). `None` unless both classes occur. Rows must be of one width.
    pub fn fit(rows: &[(Vec<f64>, bool)], c: f64) -> Option<Self> {
        let positives = rows.iter().filter(|(_, y)| *y).count();
        if positives == 0 || positives == rows.len() {
            return None;
        }
        let width = rows.first()?.0.len();
        let scale: Vec<(f64, f64)> = (0..width)
            .map(|k| {
                let column: Vec<f64> = rows.iter().filter_map(|(x, _)| x.get(k).copied()).collect();
                let (mean, deviation) = mean_and_deviation(&column);
                // A constant feature says nothing: any positive scale keeps it at zero.
                (mean, if deviation > 1e-9 { deviation } else { 1.0 })
            })
            .collect();
        let rows: Vec<(Vec<f64>, f64)> = rows
            .iter()
            .map(|(x, y)| {
                let standardised = x.iter().zip(&scale).map(|(x, (m, d))| (x - m) / d);
                (std::iter::once(1.0).chain(standardised).collect(), f64::from(u8::from(*y)))
            })
            .collect();
        let weights = newton(&rows, width + 1, 1.0 / c);
        let (bias, weights) = weights.split_first()?;
        let terms = weights
            .iter()
            .zip(scale)
            .map(|(&weight, (mean, deviation))| Term {
                weight: rounded(weight),
                mean: rounded(mean),
                deviation: rounded(deviation),
            })
            .collect();
        Some(Self { bias: rounded(*bias), terms })
    }

    /// The probability of the positive class, in [0, 1]. Features that are not finite count as average.
    pub fn probability(&self, features: &[f64]) -> f64 {
        let score = self.terms.iter().zip(features).fold(self.bias, |score, (term, x)| {
            let z = (x - term.mean) / term.deviation;
            score + if z.is_finite() { term.weight * z } else { 0.0 }
        });
        sigmoid(score)
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Penalised negative log-likelihood.
fn loss(rows: &[(Vec<f64>, f64)], w: &[f64], penalty: f64) -> f64 {
    let fit: f64 = rows
        .iter()
        .map(|(x, y)| {
            let s = dot(x, w);
            // ln(1 + eˢ) without overflow.
            s.max(0.0) + (-s.abs()).exp().ln_1p() - y * s
        })
        .sum();
    fit + 0.5 * penalty * w.iter().skip(1).map(|w| w * w).sum::<f64>()
}

fn newton(rows: &[(Vec<f64>, f64)], width: usize, penalty: f64) -> Vec<f64> {
    let mut w = vec![0.0; width];
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> =
            w.iter().enumerate().map(|(k, w)| if k == 0 { 0.0 } else { penalty * w }).collect();
        let mut curvature = Vec::with_capacity(rows.len());
        for (x, y) in rows {
            let p = sigmoid(dot(x, &w));
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g += (p - y) * x);
            curvature.push(p * (1.0 - p));
        }
        let step = solve(&gradient, |v| {
            let mut out: Vec<f64> =
                v.iter().enumerate().map(|(k, v)| if k == 0 { 0.0 } else { penalty * v }).collect();
            for ((x, _), c) in rows.iter().zip(&curvature) {
                let s = c * dot(x, v);
                out.iter_mut().zip(x).for_each(|(o, x)| *o += s * x);
            }
            out
        });
        // Halve a step that overshoots; the loss is convex, so one of these goes down.
        let before = loss(rows, &w, penalty);
        let Some(next) = (0..30)
            .map(|halvings| {
                let t = 0.5_f64.powi(halvings);
                w.iter().zip(&step).map(|(w, s)| w - t * s).collect::<Vec<_>>()
            })
            .find(|next| loss(rows, next, penalty) < before)
        else {
            break;
        };
        w = next;
    }
    w
}

/// Solves H·x = b by conjugate gradients for a small positive definite H given as a product.
fn solve(b: &[f64], product: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut x = vec![0.0; b.len()];
    let mut residual = b.to_vec();
    let mut direction = residual.clone();
    let mut norm = dot(&residual, &residual);
    // n steps are exact in exact arithmetic; the rest mops up rounding.
    for _ in 0..3 * b.len() {
        if norm < 1e-24 {
            break;
        }
        let image = product(&direction);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            break;
        }
        let along = norm / curvature;
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += along * d);
        residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= along * i);
        let next = dot(&residual, &residual);
        let keep = next / norm;
        direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + keep * *d);
        norm = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows() -> Vec<(Vec<f64>, bool)> {
        [(0, 1, false), (1, 3, false), (2, 0, true), (3, 2, false), (4, 5, true), (5, 1, true)]
            .map(|(a, b, y)| (vec![f64::from(a), f64::from(b)], y))
            .to_vec()
    }

    #[test]
    fn two_symmetric_points_solve_by_hand() {
        // x = ±1, C = 1/2: the gradient −2(1 − σ(w)) + 2w vanishes where w = 1 − σ(w), i.e. at 0.401058.
        let model = Logistic::fit(&[(vec![1.0], true), (vec![-1.0], false)], 0.5).unwrap();
        let weight = model.terms[0].weight;
        assert!((weight - (1.0 - sigmoid(weight))).abs() < 1e-9 && (weight - 0.401_058).abs() < 1e-6);
        assert!(model.bias.abs() < 1e-9);
    }

    #[test]
    fn agrees_with_a_quasi_newton_minimiser() {
        // Expected values: scipy.optimize.minimize (BFGS, gtol 1e-10) on the penalised loss, run apart.
        let model = Logistic::fit(&rows(), 0.3).unwrap();
        assert!((model.bias - 0.000_222).abs() < 1e-6, "{model:?}");
        assert!((model.terms[0].weight - 0.429_767).abs() < 1e-5, "{model:?}");
        assert!((model.terms[1].weight + 0.031_903).abs() < 1e-5, "{model:?}");
    }

    #[test]
    fn one_class_or_a_constant_feature_is_no_trouble() {
        assert_eq!(Logistic::fit(&[(vec![1.0], true)], 0.3), None);
        assert_eq!(Logistic::fit(&[], 0.3), None);
        let flat = Logistic::fit(&[(vec![2.0], true), (vec![2.0], false)], 0.3).unwrap();
        assert!((flat.probability(&[2.0]) - 0.5).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn probabilities_follow_the_sign_of_the_weights(x in -1e6_f64..1e6, step in 0.0_f64..1e6) {
            let model = Logistic::fit(&rows(), 0.3).unwrap();
            let (low, high) = (model.probability(&[x, 0.0]), model.probability(&[x + step, 0.0]));
            prop_assert!((0.0..=1.0).contains(&low) && low <= high);
        }

        #[test]
        fn separable_data_stay_finite(n in 2_usize..40) {
            let rows: Vec<_> = (0..n).map(|i| (vec![i as f64], i >= n / 2)).collect();
            let model = Logistic::fit(&rows, 0.3).unwrap();
            prop_assert!(model.bias.is_finite() && model.terms[0].weight > 0.0);
        }
    }
}
