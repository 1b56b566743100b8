//! One tantivy index, on disk or in memory.

use std::path::Path;

use tantivy::{
    Index, IndexReader, ReloadPolicy, Searcher, TantivyDocument, Term,
    collector::TopDocs,
    directory::{MmapDirectory, RamDirectory},
    query::{Bm25StatisticsProvider, Query},
    schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions},
};

use super::InContext;
use crate::search::{
    SearchError,
    analysis::{self, Language},
};

/// Memory for building an index, in bytes; enough for one segment of any corpus meant for it.
const BUILD_MEMORY: usize = 64 << 20;

const BODY: &str = "body";
const CONTEXT: &str = "context";
const ORDINAL: &str = "ordinal";
const ANALYZER: &str = "askback";

/// An index of passages, immutable. Cheap to clone.
#[derive(Clone)]
pub(super) struct Layer {
    reader: IndexReader,
    /// The passage itself.
    pub(super) body: Field,
    /// The passage and what stands around it.
    pub(super) context: Field,
    documents: u64,
}

impl Layer {
    /// Builds an index of `texts`, each known by its place in the iteration.
    pub(super) fn build(
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
        Self::over(&index)
    }

    /// Opens an index built before.
    pub(super) fn open(folder: &Path, language: Language) -> Result<Self, SearchError> {
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
        Self::over(&index)
    }

    fn over(index: &Index) -> Result<Self, SearchError> {
        let failed = |error: tantivy::TantivyError| SearchError::of("opening the lexical index", error);
        let body = index.schema().get_field(BODY).map_err(failed)?;
        let context = index.schema().get_field(CONTEXT).map_err(failed)?;
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(failed)?;
        let documents = reader.searcher().num_docs();
        Ok(Self { reader, body, context, documents })
    }

    /// Passages held.
    pub(super) fn len(&self) -> u64 {
        self.documents
    }

    /// How many passages have a term.
    pub(super) fn frequency(&self, term: &str) -> Result<u64, SearchError> {
        self.reader
            .searcher()
            .doc_freq(&Term::from_field_text(self.body, term))
            .map_err(|error| SearchError::of("reading the lexical index", error))
    }

    /// Hands every term to `each`, once per segment that has it.
    pub(super) fn vocabulary(&self, each: &mut impl FnMut(&[u8])) -> Result<(), SearchError> {
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

    /// The best `limit` passages by `statistics`: place and score.
    pub(super) fn search(
        &self,
        query: &dyn Query,
        statistics: &Statistics,
        limit: usize,
    ) -> Result<Vec<(u32, f32)>, SearchError> {
        let failed = |error: tantivy::TantivyError| SearchError::of("searching the lexical index", error);
        let searcher = self.reader.searcher();
        let collector = TopDocs::with_limit(limit).order_by_score();
        let top = searcher.search_with_statistics_provider(query, &collector, statistics).map_err(failed)?;
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
        Ok(hits)
    }
}

/// What BM25 has to know of all passages of all layers. Their fields are the same: one schema.
pub(super) struct Statistics(Vec<Searcher>);

impl Statistics {
    pub(super) fn of<'a>(layers: impl Iterator<Item = &'a Layer>) -> Self {
        Self(layers.map(|layer| layer.reader.searcher()).collect())
    }

    fn sum(&self, of: impl Fn(&Searcher) -> tantivy::Result<u64>) -> tantivy::Result<u64> {
        self.0.iter().map(of).sum()
    }
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.sum(|searcher| searcher.total_num_tokens(field))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.sum(Bm25StatisticsProvider::total_num_docs)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.sum(|searcher| searcher.doc_freq(term))
    }
}
