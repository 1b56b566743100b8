//! References: the stable, readable handles of hits, `slug/document#position`.

use std::{fmt, str::FromStr};

/// The handle of one passage: which source, which document in it, which passage of that.
///
/// A reference is opaque data from a hostile client until a source has looked it up: it is
/// compared with what is stored and never used as a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// Slug of the source.
    pub source: String,
    /// The document's id in its source, such as `guides/install.md`. May hold `/` and `#`.
    pub document: String,
    /// Index of the passage in the document, from 0.
    pub position: u32,
}

/// The text is not of the form `slug/document#position`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a reference has the form source/document#position, as found in a hit's `reference`")]
pub struct MalformedReference;

/// Longest reference accepted, in bytes: a document id is at most 512.
const MAX_BYTES: usize = 1024;

impl FromStr for Reference {
    type Err = MalformedReference;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > MAX_BYTES || text.chars().any(char::is_control) {
            return Err(MalformedReference);
        }
        let (source, rest) = text.split_once('/').ok_or(MalformedReference)?;
        let (document, position) = rest.rsplit_once('#').ok_or(MalformedReference)?;
        // `u32::from_str` takes "+5"; a reference has one spelling only.
        let digits = !position.is_empty()
            && position.bytes().all(|b| b.is_ascii_digit())
            && (position == "0" || !position.starts_with('0'));
        if source.is_empty() || document.is_empty() || !digits {
            return Err(MalformedReference);
        }
        Ok(Self {
            source: source.to_owned(),
            document: document.to_owned(),
            position: position.parse().map_err(|_| MalformedReference)?,
        })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}#{}", self.source, self.document, self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_prints() {
        for text in ["handbook/install.md#0", "code/src/a/b.rs#12", "faq/what#is#this#3"] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!(reference.to_string(), text);
        }
        let reference: Reference = "faq/what#is#this#3".parse().unwrap();
        assert_eq!((reference.document.as_str(), reference.position), ("what#is#this", 3));
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            "x",
            "x/y",
            "x/y#",
            "/y#1",
            "x/#1",
            "x/y#-1",
            "x/y#+1",
            "x/y#1.0",
            "x/y#00",
            "x/y#01",
            "x/y#4294967296",
            "x/y\u{0}#1",
        ] {
            assert_eq!(text.parse::<Reference>(), Err(MalformedReference), "{text:?}");
        }
        assert!(format!("x/{}#1", "y".repeat(2000)).parse::<Reference>().is_err());
    }
}
