//! Cosines between the first hits of a search.

/// A small symmetric matrix of cosines with ones on its diagonal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Similarity {
    size: usize,
    /// Row-major, `size × size`.
    cosines: Vec<f32>,
}

impl Similarity {
    /// Builds the matrix from `cosine(i, j)`, called once for each pair `i < j < size`.
    pub fn new(size: usize, mut cosine: impl FnMut(usize, usize) -> f32) -> Self {
        let mut cosines = vec![1.0; size * size];
        for i in 0..size {
            for j in i + 1..size {
                let value = cosine(i, j);
                for at in [i * size + j, j * size + i] {
                    if let Some(cell) = cosines.get_mut(at) {
                        *cell = value;
                    }
                }
            }
        }
        Self { size, cosines }
    }

    /// How many hits it covers.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The cosine between hits `i` and `j`; 0 outside the matrix.
    pub fn get(&self, i: usize, j: usize) -> f32 {
        if i >= self.size || j >= self.size {
            return 0.0;
        }
        self.cosines.get(i * self.size + j).copied().unwrap_or(0.0)
    }
}
