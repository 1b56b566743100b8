//! BM25 (k1 = 1.2, b = 0.75) over passages, by tantivy. A passage is scored half by itself and half
//! by itself with what stands around it: a document that was cut is still about what it is about.

use std::path::Path;

use tantivy::{
    Index, IndexReader, ReloadPolicy, TantivyDocument,
    collector::TopDocs,
    directory::{MmapDirectory, RamDirectory},
    query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery},
    schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions},
    tokenizer::TextAnalyzer,
};

use super::{
    SearchError,
    analysis::{self, Language, Term},
};

/// Most distinct terms of a query that are looked up: a longer one is a document, not a question.
const MAX_TERMS: usize = 128;

/// Saturation of a query's term frequency (Robertson et al., Okapi at TREC-3, 1994). What a long
/// question repeats is what it is about: worth 0.08 nDCG@10 on CISI, nothing on short questions.
const K3: f32 = 8.0;

/// Memory for building an index, in bytes; enough for one segment of any corpus meant for it.
const BUILD_MEMORY: usize = 64 << 20;

/// Share of a passage's score that its surroundings have a say in.
const CONTEXT_WEIGHT: f32 = 0.5;

const BODY: &str = "body";
const CONTEXT: &str = "context";
const ORDINAL: &str = "ordinal";
const ANALYZER: &str = "askback";

/// A searchable index of passages.
pub struct LexicalIndex {
    reader: IndexReader,
    analyzer: TextAnalyzer,
    body: Field,
    context: Field,
    documents: u64,
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
        let failed = |error: tantivy::TantivyError| SearchError::of("building the lexical index", error);
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(ANALYZER)
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        let options = TextOptions::default().set_indexing_options(indexing);
        let body = schema.add_text_field(BODY, options.clone());
        let context = schema.add_text_field(CONTEXT, options);
        let ordinal = schema.add_u64_field(ORDINAL, NumericOptions::default().set_fast());
        let schema = schema.build();
        let settings = tantivy::IndexSettings::default();
        let index = match at {
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .map_err(|error| SearchError::of("making the index folder", error))?;
                let directory = MmapDirectory::open(folder)
                    .map_err(|error| SearchError::of("opening the index folder", error))?;
                Index::create(directory, schema, settings)
            }
            None => Index::create(RamDirectory::create(), schema, settings),
        }
        .map_err(failed)?;
        index.tokenizers().register(ANALYZER, analysis::analyzer(language));
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, BUILD_MEMORY).map_err(failed)?;
        for (n, text) in texts.enumerate() {
            let mut document = TantivyDocument::default();
            document.add_text(body, &text.text);
            document.add_text(context, text.context.as_deref().unwrap_or(&text.text));
            document.add_u64(ordinal, n as u64);
            writer.add_document(document).map_err(failed)?;
        }
        writer.commit().map_err(failed)?;
        writer.wait_merging_threads().map_err(failed)?;
        Self::over(index, language)
    }

    /// Opens an index built before.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(folder: &Path, language: Language) -> Result<Self, SearchError> {
        let failed = |error: tantivy::TantivyError| SearchError::of("opening the lexical index", error);
        let index = Index::open_in_dir(folder).map_err(failed)?;
        let damaged = index.validate_checksum().map_err(failed)?;
        if !damaged.is_empty() {
            return Err(SearchError(format!(
                "opening the lexical index: {} files are damaged",
                damaged.len()
            )));
        }
        index.tokenizers().register(ANALYZER, analysis::analyzer(language));
        Self::over(index, language)
    }

    fn over(index: Index, language: Language) -> Result<Self, SearchError> {
        let failed = |error: tantivy::TantivyError| SearchError::of("opening the lexical index", error);
        let body = index.schema().get_field(BODY).map_err(failed)?;
        let context = index.schema().get_field(CONTEXT).map_err(failed)?;
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(failed)?;
        let documents = reader.searcher().num_docs();
        Ok(Self { reader, analyzer: analysis::analyzer(language), body, context, documents })
    }

    /// Passages held.
    pub fn len(&self) -> u64 {
        self.documents
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Words of `text` that carry content, in order, as written.
    pub fn content_words(&self, text: &str) -> Vec<String> {
        analysis::terms(&self.analyzer, text, 512).into_iter().map(|term| term.surface).collect()
    }

    /// Inverse document frequency of a term that `frequency` passages have: ln(1 + (N − n + ½) / (n + ½)).
    pub fn idf(&self, frequency: u64) -> f32 {
        let (all, with) = (self.documents as f32, frequency as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// Hands every term of the index to `each`, once per segment that has it.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn vocabulary(&self, mut each: impl FnMut(&[u8])) -> Result<(), SearchError> {
        let failed = |error: &dyn std::fmt::Display| SearchError::of("reading the vocabulary", error);
        for segment in self.reader.searcher().segment_readers() {
            let index = segment.inverted_index(self.body).map_err(|error| failed(&error))?;
            let mut terms = index.terms().stream().map_err(|error| failed(&error))?;
            while terms.advance() {
                each(terms.key());
            }
        }
        Ok(())
    }

    /// The terms of a query.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn terms(&self, query: &str) -> Result<QueryTerms, SearchError> {
        let searcher = self.reader.searcher();
        let mut terms = QueryTerms::default();
        for term in analysis::terms(&self.analyzer, query, MAX_TERMS) {
            let frequency = searcher
                .doc_freq(&tantivy::Term::from_field_text(self.body, &term.text))
                .map_err(|error| SearchError::of("reading the lexical index", error))?;
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
        let failed = |error: tantivy::TantivyError| SearchError::of("searching the lexical index", error);
        // Built from terms, never from query syntax: what the user typed is only words.
        let clauses = terms
            .known
            .iter()
            .flat_map(|(term, _)| {
                let often = term.count as f32;
                let often = (K3 + 1.0) * often / (K3 + often);
                [(self.body, 1.0 - CONTEXT_WEIGHT), (self.context, CONTEXT_WEIGHT)].map(|(field, weight)| {
                    let term = tantivy::Term::from_field_text(field, &term.text);
                    let query = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                    let query: Box<dyn Query> = Box::new(BoostQuery::new(query, weight * often));
                    (Occur::Should, query)
                })
            })
            .collect();
        let searcher = self.reader.searcher();
        let top = searcher
            .search(&BooleanQuery::new(clauses), &TopDocs::with_limit(limit).order_by_score())
            .map_err(failed)?;
        let mut hits = Vec::with_capacity(top.len());
        for (score, address) in top {
            let segment = searcher.segment_reader(address.segment_ord);
            let ordinals = segment.fast_fields().u64(ORDINAL).map_err(failed)?;
            if let Some(ordinal) =
                ordinals.first(address.doc_id).and_then(|ordinal| u32::try_from(ordinal).ok())
            {
                hits.push((ordinal, score));
            }
        }
        // Equal scores in the order of the corpus, however segments happen to lie.
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(hits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> LexicalIndex {
        LexicalIndex::build(None, Language::English, texts.iter().copied()).unwrap()
    }

    #[test]
    fn scores_are_bm25() {
        // Three texts of two terms each, so every length is average and the length factor is 1:
        // idf = ln(1 + (3 − 1 + ½) / (1 + ½)) = ln(8/3); tf part = 1·(1.2 + 1) / (1 + 1.2) = 1.
        let index = index(&["red apple", "green pear", "green plum"]);
        let terms = index.terms("apples").unwrap();
        let hits = index.search(&terms, 10).unwrap();
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].0, 0);
        assert!((hits[0].1 - (8.0f32 / 3.0).ln()).abs() < 1e-5, "{hits:?}");
        assert!((terms.known[0].1 - (8.0f32 / 3.0).ln()).abs() < 1e-6);
    }

    #[test]
    fn what_a_query_repeats_counts_more_and_more_slowly() {
        // Factor of three occurrences: (8 + 1)·3 / (8 + 3) = 27/11.
        let index = index(&["red apple", "green pear", "green plum"]);
        let score = |query: &str| index.search(&index.terms(query).unwrap(), 10).unwrap()[0].1;
        assert!((score("apple apples apple") / score("apple") - 27.0 / 11.0).abs() < 1e-5);
    }

    #[test]
    fn surroundings_decide_between_equal_passages() {
        let with = |text: &str, context: &str| InContext { text: text.into(), context: Some(context.into()) };
        let stone = InContext::alone("grey stone");
        let texts = [with("red apple", "red apple pear"), with("red apple", "red apple stone"), stone];
        let index = LexicalIndex::build_in_context(None, Language::English, texts.into_iter()).unwrap();
        let found = index.search(&index.terms("apple stone").unwrap(), 10).unwrap();
        let place = |passage: u32| found.iter().position(|hit| hit.0 == passage).unwrap();
        assert!(place(1) < place(0), "{found:?}");
    }

    #[test]
    fn unknown_terms_are_told_apart() {
        let index = index(&["red apple", "green pear"]);
        let terms = index.terms("the red zebra").unwrap();
        assert_eq!(terms.known.iter().map(|(t, _)| t.text.as_str()).collect::<Vec<_>>(), ["red"]);
        assert_eq!(terms.unknown.iter().map(|t| t.surface.as_str()).collect::<Vec<_>>(), ["zebra"]);
    }

    #[test]
    fn query_syntax_is_only_words() {
        let index = index(&["red apple", "green pear"]);
        for query in ["body:red AND (", "\"", "*", "red^1000", "-red +pear", "ordinal:[0 TO 9]"] {
            let terms = index.terms(query).unwrap();
            index.search(&terms, 10).unwrap();
        }
    }
}
