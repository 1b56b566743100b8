//! Labelled queries as files: BEIR's `queries.jsonl` and `qrels.tsv`, and gate files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// What is relevant to one query: gain by document id, all above 0.
pub type Relevance = BTreeMap<String, f64>;

/// A query of `queries.jsonl` with what is relevant to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Its words.
    pub text: String,
    /// What should be found; never empty.
    pub relevant: Relevance,
}

/// What a gate query is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A query as people put it.
    Real,
    /// Degraded: one of its words.
    Keep1,
    /// Degraded: two of its words.
    Keep2,
    /// Degraded: without its key noun.
    #[serde(rename = "dropnoun")]
    DropNoun,
    /// Degraded: in words the corpus does not know.
    #[serde(rename = "offvocab")]
    OffVocabulary,
    /// A query to another corpus.
    OocNear,
    /// A query to no corpus.
    OocFar,
}

impl Kind {
    /// Whether it was made from a real query by taking something away.
    pub fn is_degraded(self) -> bool {
        matches!(self, Self::Keep1 | Self::Keep2 | Self::DropNoun | Self::OffVocabulary)
    }

    /// Whether the corpus has nothing on it.
    pub fn is_foreign(self) -> bool {
        matches!(self, Self::OocNear | Self::OocFar)
    }
}

/// A line of a gate file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct GateQuery {
    /// What it is.
    pub kind: Kind,
    /// Its words.
    pub text: String,
    /// Ids of what should be found.
    #[serde(default)]
    pub relevant: BTreeSet<String>,
    /// The query it was degraded from: what the person behind it would answer.
    #[serde(default)]
    pub full: Option<String>,
}

impl GateQuery {
    /// What the person behind it would answer: the query it was degraded from, or itself.
    pub fn full(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.text)
    }
}

#[derive(Deserialize)]
struct QueryLine {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

/// The queries of a BEIR folder that have something relevant, in the order of the file.
///
/// # Errors
/// What is missing or malformed, with file and line.
pub fn queries(folder: &Path) -> Result<Vec<Query>, String> {
    let mut relevance = relevance(&folder.join("qrels.tsv"))?;
    let lines: Vec<QueryLine> = json_lines(&folder.join("queries.jsonl"))?;
    Ok(lines
        .into_iter()
        .filter_map(|line| Some(Query { relevant: relevance.remove(&line.id)?, text: line.text }))
        .collect())
}

/// The queries of a gate file.
///
/// # Errors
/// What is missing or malformed, with file and line.
pub fn gate_queries(file: &Path) -> Result<Vec<GateQuery>, String> {
    json_lines(file)
}

/// `query-id<TAB>corpus-id<TAB>score` under one line of headings; scores of 0 and less say nothing.
fn relevance(file: &Path) -> Result<BTreeMap<String, Relevance>, String> {
    let mut relevance: BTreeMap<String, Relevance> = BTreeMap::new();
    for (n, line) in read(file)?.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let judged = match cells.as_slice() {
            [query, document, score] => score.parse::<f64>().ok().map(|score| (*query, *document, score)),
            _ => None,
        };
        let Some((query, document, score)) = judged.filter(|(.., score)| score.is_finite()) else {
            return Err(format!(
                "{}:{}: is not query-id, corpus-id and score, separated by tabs",
                file.display(),
                n + 1
            ));
        };
        if score > 0.0 {
            relevance.entry(query.to_owned()).or_default().insert(document.to_owned(), score);
        }
    }
    Ok(relevance)
}

fn json_lines<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, String> {
    read(file)?
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(n, line)| {
            serde_json::from_str(line).map_err(|error| format!("{}:{}: {error}", file.display(), n + 1))
        })
        .collect()
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_judged_and_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "queries.jsonl",
            "{\"_id\": \"1\", \"text\": \"one\"}\n\n{\"_id\": \"2\", \"text\": \"two\"}\n{\"_id\": \"3\", \"text\": \"three\"}\n",
        );
        write("qrels.tsv", "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n3\tc\t1\n");
        let found = queries(folder.path()).unwrap();
        assert_eq!(found.iter().map(|q| q.text.as_str()).collect::<Vec<_>>(), ["one", "three"]);
        assert_eq!(found[0].relevant, Relevance::from([("a".to_owned(), 2.0)]));
        write("qrels.tsv", "query-id\tcorpus-id\tscore\n1\ta\n");
        assert!(queries(folder.path()).unwrap_err().contains("qrels.tsv:2"));
    }

    #[test]
    fn reads_every_kind() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let kinds = ["real", "keep1", "keep2", "dropnoun", "offvocab", "ooc_near", "ooc_far"];
        let lines: Vec<String> =
            kinds.iter().map(|kind| format!("{{\"kind\": \"{kind}\", \"text\": \"t\"}}")).collect();
        fs::write(file.path(), lines.join("\n")).unwrap();
        let read = gate_queries(file.path()).unwrap();
        assert_eq!(read.iter().filter(|q| q.kind.is_degraded()).count(), 4);
        assert_eq!(read.iter().filter(|q| q.kind.is_foreign()).count(), 2);
    }
}
