//! `describe_source`.

use rmcp::model::Tool;

use super::{Nature, define};
use crate::service::{DescribeSource, SourceCard};

pub(super) const NAME: &str = "describe_source";

pub(super) fn definition() -> Tool {
    define::<DescribeSource, SourceCard>(
        NAME,
        "Describe a source",
        "Returns a source's data card: owner, coverage, which conclusions its content supports and which it does \
         not, known biases, freshness, rules for citing and handling, how its confidence is calibrated, sample \
         queries. Read it before you draw conclusions from a source you do not know.",
        Nature { read_only: true, idempotent: true },
    )
}
