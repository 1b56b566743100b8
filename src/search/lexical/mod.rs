//! BM25 (k1 = 1.2, b = 0.75) over passages, by tantivy. A passage is scored half by itself and half
//! by itself with what stands around it: a document that was cut is still about what it is about.

mod layer;

use std::path::Path;

use tantivy::{
    query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery},
    schema::IndexRecordOption,
    tokenizer::TextAnalyzer,
};

use self::layer::{Layer, Statistics};
use super::{
    SearchError,
    analysis::{self, Language, Term},
};

/// Most distinct terms of a query that are looked up: a longer one is a document, not a question.
const MAX_TERMS: usize = 128;

/// Saturation of a query's term frequency (Robertson et al., Okapi at TREC-3, 1994). What a long
/// question repeats is what it is about: worth 0.08 nDCG@10 on CISI, nothing on short questions.
const K3: f32 = 8.0;

/// Share of a passage's score that its surroundings have a say in.
const CONTEXT_WEIGHT: f32 = 0.5;

/// A searchable index of passages: what was built, and what came since in a layer above it.
pub struct LexicalIndex {
    built: Layer,
    since: Option<Layer>,
    analyzer: TextAnalyzer,
    language: Language,
}

/// A text to index, and what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InContext {
    /// The text.
    pub text: String,
    /// The text with its surroundings, if it has any.
    pub context: Option<String>,
}

impl InContext {
    /// A text that stands alone.
    pub fn alone(text: &str) -> Self {
        Self { text: text.to_owned(), context: None }
    }
}

/// A query's terms, told apart by whether any passage has them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryTerms {
    /// Terms that occur, with their inverse document frequency.
    pub known: Vec<(Term, f32)>,
    /// Terms that occur nowhere.
    pub unknown: Vec<Term>,
}

impl LexicalIndex {
    /// Builds an index of texts without surroundings: see [`LexicalIndex::build_in_context`].
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn build(
        at: Option<&Path>,
        language: Language,
        texts: impl Iterator<Item = impl AsRef<str>>,
    ) -> Result<Self, SearchError> {
        Self::build_in_context(at, language, texts.map(|text| InContext::alone(text.as_ref())))
    }

    /// Builds an index of `texts`, each known by its place in the iteration, in the folder
    /// `at` (made if missing), or in memory without one.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn build_in_context(
        at: Option<&Path>,
        language: Language,
        texts: impl Iterator<Item = InContext>,
    ) -> Result<Self, SearchError> {
        Ok(Self::over(Layer::build(at, language, texts)?, None, language))
    }

    /// Opens an index built before.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(folder: &Path, language: Language) -> Result<Self, SearchError> {
        Ok(Self::over(Layer::open(folder, language)?, None, language))
    }

    /// What was built, with `texts` after it in memory: they are known by the places that follow. What
    /// an earlier call put there is not carried over.
    ///
    /// # Errors
    /// If the texts cannot be indexed.
    pub fn with(&self, texts: impl Iterator<Item = InContext>) -> Result<Self, SearchError> {
        let since = Layer::build(None, self.language, texts)?;
        Ok(Self::over(self.built.clone(), Some(since), self.language))
    }

    fn over(built: Layer, since: Option<Layer>, language: Language) -> Self {
        Self { built, since, analyzer: analysis::analyzer(language), language }
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.built).chain(&self.since)
    }

    /// Passages held.
    pub fn len(&self) -> u64 {
        self.layers().map(Layer::len).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Words of `text` that carry content, in order, as written.
    pub fn content_words(&self, text: &str) -> Vec<String> {
        analysis::terms(&self.analyzer, text, 512).into_iter().map(|term| term.surface).collect()
    }

    /// Inverse document frequency of a term that `frequency` passages have: ln(1 + (N − n + ½) / (n + ½)).
    pub fn idf(&self, frequency: u64) -> f32 {
        let (all, with) = (self.len() as f32, frequency as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// Hands every term of the index to `each`, once per segment that has it.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn vocabulary(&self, mut each: impl FnMut(&[u8])) -> Result<(), SearchError> {
        self.layers().try_for_each(|layer| layer.vocabulary(&mut each))
    }

    /// The terms of a query.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn terms(&self, query: &str) -> Result<QueryTerms, SearchError> {
        let mut terms = QueryTerms::default();
        for term in analysis::terms(&self.analyzer, query, MAX_TERMS) {
            let mut frequency = 0;
            for layer in self.layers() {
                frequency += layer.frequency(&term.text)?;
            }
            match frequency {
                0 => terms.unknown.push(term),
                frequency => terms.known.push((term, self.idf(frequency))),
            }
        }
        Ok(terms)
    }

    /// The best `limit` passages for any of the terms: place and BM25 score, best first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn search(&self, terms: &QueryTerms, limit: usize) -> Result<Vec<(u32, f32)>, SearchError> {
        if terms.known.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        // One set of statistics, so that scores of all layers mean the same.
        let statistics = Statistics::of(self.layers());
        let mut hits = Vec::new();
        let mut first = 0;
        for layer in self.layers() {
            let found = layer.search(&query(layer, terms), &statistics, limit)?;
            hits.extend(found.into_iter().map(|(place, score)| (first + place, score)));
            first += u32::try_from(layer.len()).unwrap_or(u32::MAX);
        }
        // Equal scores in the order of the corpus, however segments happen to lie.
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(limit);
        Ok(hits)
    }
}

/// Any of the terms. Built from terms, never from query syntax: what the user typed is only words.
fn query(layer: &Layer, terms: &QueryTerms) -> BooleanQuery {
    let clauses = terms
        .known
        .iter()
        .flat_map(|(term, _)| {
            let often = term.count as f32;
            let often = (K3 + 1.0) * often / (K3 + often);
            let fields = [(layer.body, 1.0 - CONTEXT_WEIGHT), (layer.context, CONTEXT_WEIGHT)];
            fields.map(|(field, weight)| {
                let term = tantivy::Term::from_field_text(field, &term.text);
                let query = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                let query: Box<dyn Query> = Box::new(BoostQuery::new(query, weight * often));
                (Occur::Should, query)
            })
        })
        .collect();
    BooleanQuery::new(clauses)
}

#[cfg(test)]
mod tests;
