//! The audit record: printing and checking it.

use std::str::FromStr;

use clap::Args;
use serde_json::json;

use super::Desk;
use crate::{
    access::audit::{Verification, verify},
    cli::{CliError, say},
    store::state::AuditHead,
};

/// Records read at a time.
const BATCH: usize = 1000;

/// Print the audit record as JSON Lines, or check it.
#[derive(Args)]
pub(super) struct Audit {
    /// Print only what came after the record of this number.
    #[arg(long, default_value_t = 0, conflicts_with = "verify")]
    after: u64,
    /// Check that every record is there and as it was written.
    #[arg(long)]
    verify: bool,
    /// With --verify: an end noted before, as it printed it. Shows also a record that was cut or
    /// rewritten as a whole since then.
    #[arg(long, requires = "verify", value_name = "NUMBER:HASH")]
    head: Option<Head>,
    /// With --verify: print one JSON object.
    #[arg(long, requires = "verify")]
    json: bool,
}

#[derive(Clone)]
struct Head(AuditHead);

impl FromStr for Head {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "must be a number, a colon, and 64 hexadecimal digits".to_owned();
        let (number, hash) = text.split_once(':').ok_or_else(form)?;
        let number = number.parse().map_err(|_| form())?;
        if hash.len() != 64 || !hash.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(form());
        }
        Ok(Self(AuditHead { number, hash: hash.to_ascii_lowercase() }))
    }
}

impl Audit {
    pub(super) fn run(&self, desk: &Desk) -> Result<(), CliError> {
        if self.verify { self.check(desk) } else { self.print(desk) }
    }

    fn print(&self, desk: &Desk) -> Result<(), CliError> {
        let mut after = self.after;
        loop {
            let records = desk.state().audit(after, BATCH)?;
            let Some(last) = records.last() else { return Ok(()) };
            after = last.number;
            for record in &records {
                say(&json!(record).to_string());
            }
        }
    }

    fn check(&self, desk: &Desk) -> Result<(), CliError> {
        let found = verify(desk.state(), self.head.as_ref().map(|head| &head.0))?;
        if self.json {
            say(&json!(found).to_string());
        }
        match found {
            Verification::Intact { head } => {
                if !self.json {
                    say(&format!("intact: {} records\nhead: {}:{}", head.number, head.number, head.hash));
                }
                Ok(())
            }
            Verification::Broken { number, what } => {
                Err(CliError::Failed(format!("the audit record is broken: record {number} {what}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_number_and_a_hash() {
        let hash = "Ab".repeat(32);
        let head = format!("12:{hash}").parse::<Head>().map(|head| head.0);
        assert_eq!(head, Ok(AuditHead { number: 12, hash: "ab".repeat(32) }));
        for wrong in [
            "",
            "12",
            "12:",
            "x:ab",
            &format!(":{hash}"),
            &format!("12:{hash}0"),
            &format!("12:{}", "zz".repeat(32)),
        ] {
            assert!(wrong.parse::<Head>().is_err(), "{wrong}");
        }
    }
}
