//! Recognising a model. A name says little: what a service serves under it can be replaced by
//! another version, a quantised copy, or something else altogether, and vectors of two models in one
//! index are noise. So a text of ours is embedded now and then, and the answer compared.

use sha2::{Digest, Sha256};

/// The text. Prose, a name, a number, code and other writing: whatever a model does differently
/// should show. Changing it makes every remote index anew.
pub(super) const CANARY: &str = "The canary of the Ilmenau mine sang at 05:42, then fell silent; nobody asked why. \
     if (gas > 0.5) { return Err(\"leave\") } — Der Kanarienvogel schwieg. Канарейка молчала. 金丝雀沉默了。";

/// Cosine from which on two answers are of one model. Services do not compute the same text to the
/// same digits every time, but differ by less than this; the same model quantised differs by more.
const SAME: f64 = 0.999;

/// How a model answered to the canary when it was first seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Sighting {
    /// The vector of the canary, of length one.
    pub canary: Vec<f32>,
}

impl Sighting {
    /// Whether both are of one model.
    pub fn is_same(&self, other: &Self) -> bool {
        self.canary.len() == other.canary.len() && cosine(&self.canary, &other.canary) >= SAME
    }

    /// A short name for it, the same for the same digits.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for component in &self.canary {
            hash.update(component.to_le_bytes());
        }
        crate::text::hex(&hash.finalize()).chars().take(8).collect()
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}

/// Where sightings are kept, across restarts and between processes. Errors are for logs.
pub trait Memory: Send + Sync {
    /// The sighting of `name` that was noted last.
    ///
    /// # Errors
    /// If it cannot be read.
    fn last(&self, name: &str) -> Result<Option<Sighting>, String>;

    /// Notes that `name` was seen like `now`: the earlier sighting that is the same, or, if there is
    /// none, this one as a new one.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn note(&self, name: &str, now: &Sighting) -> Result<Sighting, String>;

    /// Whether a sighting that is the same as `now` was noted before.
    ///
    /// # Errors
    /// If it cannot be read.
    fn knows(&self, name: &str, now: &Sighting) -> Result<bool, String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(degrees: f32) -> Sighting {
        Sighting { canary: vec![degrees.to_radians().cos(), degrees.to_radians().sin()] }
    }

    #[test]
    fn tells_rounding_from_replacement() {
        // cos 2° = 0.99939, cos 3° = 0.99863.
        assert!(at(0.0).is_same(&at(2.0)));
        assert!(!at(0.0).is_same(&at(3.0)));
        assert!(!at(0.0).is_same(&Sighting { canary: vec![1.0, 0.0, 0.0] }));
        assert!(!Sighting { canary: vec![f32::NAN] }.is_same(&Sighting { canary: vec![1.0] }));
        assert_ne!(at(0.0).fingerprint(), at(2.0).fingerprint());
        assert_eq!(at(0.0).fingerprint().len(), 8);
    }
}
