//! `describe_source`: the data card.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, Service, SourceSummary, view::View};
use crate::{
    access::{Caller, Scope, WriteMode},
    confidence::{Calibration, Policy, Profile},
    config::{Card, Freshness, Statements, Usage},
    sources::{Strategy, registry::Entry},
};

/// Arguments of `describe_source`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeSource {
    /// Slug of the source, as `list_sources` shows it.
    pub source: String,
}

/// Everything there is to know about a source.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SourceCard {
    /// Identifies this call in logs.
    pub request_id: String,
    /// What `list_sources` says of it.
    #[serde(flatten)]
    pub summary: SourceSummary,
    /// What its owner says of it.
    #[serde(flatten)]
    pub statements: Statements,
    /// How fresh it is.
    pub freshness: DataFreshness,
    /// How it may be used.
    pub usage_rules: Usage,
    /// Refine strategies, in the order `auto` prefers them.
    pub refine_strategies: Vec<Strategy>,
    /// Whether and how it takes writes.
    pub write_policy: WritePolicy,
    /// How its confidence was calibrated, and how good that is.
    pub calibration: Option<CalibrationNote>,
    /// The owner's vocabulary for this source.
    pub semantic_layer: SemanticLayer,
    /// Evaluation scores, where the owner has measured any.
    pub evaluation: Option<Value>,
    /// Questions it answers well.
    pub sample_queries: Vec<String>,
    /// Counts.
    pub counts: Counts,
    /// Whether it answers, and if not, why.
    pub health_note: Option<String>,
    /// How complete this card is.
    pub completeness: Completeness,
}

/// How fresh a source is, and is meant to be.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DataFreshness {
    /// What the owner says.
    #[serde(flatten)]
    pub stated: Freshness,
    /// When the content was last brought up to date, RFC 3339 in UTC.
    pub last_refreshed: Option<String>,
}

impl DataFreshness {
    pub(super) fn of(entry: &Entry) -> Self {
        let stated = entry.config().card.freshness.clone();
        Self { stated, last_refreshed: entry.status().last_refreshed }
    }
}

/// Whether and how a source takes writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WritePolicy {
    /// Whether agents may write.
    pub allowed: bool,
    /// The modes they may use.
    pub modes: Vec<WriteMode>,
    /// Largest content of one write, in bytes of UTF-8.
    pub max_bytes: usize,
    /// JSON Schema the content has to fulfil; any text without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl WritePolicy {
    fn of(entry: &Entry) -> Self {
        let config = entry.config();
        let allowed = config.policy.write.allowed;
        Self {
            allowed,
            modes: if allowed { config.policy.write.modes.clone() } else { Vec::new() },
            max_bytes: config.content.max_bytes,
            schema: config.content.schema.as_ref().map(|schema| schema.source().clone()),
        }
    }
}

/// How a source's confidence was calibrated.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CalibrationNote {
    /// Whether it was learnt from this source; otherwise weights pooled over other sources stand in.
    pub calibrated: bool,
    /// How well queries about this source and everyday queries can be told apart: AUROC, 1 is perfectly.
    pub sep: Option<f64>,
    /// How many queries of each kind it was learnt from: in the corpus, foreign, and known items.
    pub sizes: [usize; 3],
    /// Above this probability of being foreign to the source, it asks.
    pub t_ooc: Option<f64>,
    /// Above this probability of missing what is wanted, it asks.
    pub t_miss: f32,
    /// How readily it asks.
    pub profile: Profile,
    /// What labelled queries added; then confidence below `least_confidence` is what it asks at,
    /// unless thresholds are set by hand.
    pub labelled: Option<LabelledNote>,
    /// When it was fitted, RFC 3339 in UTC.
    pub fitted_at: Option<String>,
    /// Passages in the source at the time.
    pub passages: usize,
    /// What to know about it.
    pub note: Option<String>,
}

/// What labelled queries added to a calibration.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LabelledNote {
    /// Labelled queries used.
    pub queries: usize,
    /// How many of them found a right document.
    pub answerable: usize,
    /// Share of answerable queries that may be asked about.
    pub false_asks: f64,
    /// Below this confidence it asks.
    pub least_confidence: f64,
}

impl CalibrationNote {
    fn new(calibration: &Calibration, policy: &Policy) -> Self {
        let sizes = calibration.sizes;
        Self {
            calibrated: calibration.calibrated,
            sep: calibration.sep,
            sizes: [sizes.in_corpus, sizes.foreign, sizes.known_item],
            t_ooc: policy.t_ooc.map(f64::from).or(calibration.t_ooc),
            t_miss: policy.t_miss(),
            profile: policy.profile,
            labelled: calibration.labelled.as_ref().map(|labelled| LabelledNote {
                queries: labelled.queries,
                answerable: labelled.answerable,
                false_asks: labelled.false_asks,
                least_confidence: labelled.least(policy.profile),
            }),
            fitted_at: calibration.fitted_at.clone(),
            passages: calibration.passages,
            note: calibration.note.clone(),
        }
    }
}

/// The owner's vocabulary, counted.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct SemanticLayer {
    /// Entities declared.
    pub entities: u32,
    /// Abbreviations declared.
    pub abbreviations: u32,
    /// Metrics declared.
    pub metrics: u32,
}

/// Counts of what a source holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Counts {
    /// Documents.
    pub documents: u64,
    /// Passages.
    pub passages: u64,
    /// The index that answers.
    pub index_version: Option<String>,
}

/// How complete a card is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Completeness {
    /// Share of the card's fields that are filled, in [0, 1].
    pub share: f32,
    /// Fields the owner has left empty.
    pub missing: Vec<&'static str>,
}

impl Service {
    /// The data card of a source: of any that the caller may know of, readable or not.
    ///
    /// # Errors
    /// `source_not_found`; `access_denied` without the scope.
    pub async fn describe_source(
        &self,
        caller: &Caller,
        request: &DescribeSource,
        request_id: &str,
    ) -> Result<SourceCard, Failure> {
        let view = self.view(caller, Scope::List, request_id).await?;
        Ok(self.card(&view, view.entry(&request.source)?))
    }

    fn card(&self, view: &View<'_>, entry: &Entry) -> SourceCard {
        let config = entry.config();
        let card = config.card.clone();
        let status = entry.status();
        let policy = config.clarify.policy(self.clarify.profile);
        SourceCard {
            request_id: view.request_id.to_owned(),
            summary: self.summary(view, entry),
            completeness: completeness(&card, &config.description),
            freshness: DataFreshness {
                stated: card.freshness,
                last_refreshed: status.last_refreshed.clone(),
            },
            usage_rules: card.usage,
            refine_strategies: entry.source().map(|source| source.strategies().to_vec()).unwrap_or_default(),
            write_policy: WritePolicy::of(entry),
            calibration: status
                .calibration
                .as_deref()
                .map(|calibration| CalibrationNote::new(calibration, &policy)),
            semantic_layer: SemanticLayer::default(),
            evaluation: None,
            sample_queries: card.sample_queries,
            counts: Counts {
                documents: status.documents,
                passages: status.passages,
                index_version: status.index_version,
            },
            health_note: status.health.note().map(str::to_owned),
            statements: card.statements,
        }
    }
}

/// Which of the card's fields are filled.
fn completeness(card: &Card, description: &str) -> Completeness {
    let said = &card.statements;
    let text = |field: &Option<String>| field.as_deref().is_some_and(|text| !text.trim().is_empty());
    let fields = [
        ("description", !description.trim().is_empty()),
        ("owner", text(&said.owner)),
        ("methodology", text(&said.methodology)),
        ("coverage", text(&said.coverage)),
        ("classification", text(&said.classification)),
        ("supported_conclusions", !said.supported_conclusions.is_empty()),
        ("unsupported_conclusions", !said.unsupported_conclusions.is_empty()),
        ("interpretation", !said.interpretation.is_empty()),
        ("known_biases", !said.known_biases.is_empty()),
        ("freshness.source", text(&card.freshness.source)),
        ("freshness.cadence", text(&card.freshness.cadence)),
        ("usage.citation", text(&card.usage.citation)),
        ("usage.handling", text(&card.usage.handling)),
        ("sample_queries", !card.sample_queries.is_empty()),
    ];
    let missing: Vec<&'static str> =
        fields.iter().filter(|(_, filled)| !filled).map(|(name, _)| *name).collect();
    let filled = fields.len() - missing.len();
    Completeness { share: filled as f32 / fields.len() as f32, missing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_card_misses_everything_and_a_filled_field_counts() {
        let empty = completeness(&Card::default(), "");
        assert_eq!((empty.share, empty.missing.len()), (0.0, 14));
        let statements = Statements {
            owner: Some("Docs".into()),
            methodology: Some("  ".into()),
            ..Statements::default()
        };
        let half = Card { statements, ..Card::default() };
        let half = completeness(&half, "text");
        assert_eq!(half.share, 2.0 / 14.0);
        assert!(!half.missing.contains(&"owner") && half.missing.contains(&"methodology"));
    }
}
