//! Checking the audit record: whether every record is there and as it was written.

use serde::Serialize;

use crate::store::{
    StoreError,
    state::{AuditHead, AuditRecord, StateStore},
};

/// Records read at a time.
const BATCH: usize = 1000;

/// What checking the record came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Verification {
    /// Every record is there and as it was written.
    Intact {
        /// The last of them.
        head: AuditHead,
    },
    /// One is not.
    Broken {
        /// The number of the first record that is missing, changed or out of place.
        number: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// Checks the whole record, and that it still begins with what ended at `known`, if that is given: an
/// end noted elsewhere is what somebody who can rewrite the whole store cannot rewrite.
///
/// # Errors
/// [`StoreError`] if it cannot be read.
pub fn verify(store: &dyn StateStore, known: Option<&AuditHead>) -> Result<Verification, StoreError> {
    // Read first: records that others append meanwhile come after it.
    let head = store.audit_head()?;
    let mut chain = Chain { number: 0, hash: "0".repeat(64) };
    loop {
        let records = store.audit(chain.number, BATCH)?;
        if records.is_empty() {
            break;
        }
        for record in &records {
            if let Err(what) = chain.extend(record) {
                return Ok(Verification::Broken { number: chain.number + 1, what });
            }
            for end in [Some(&head), known].into_iter().flatten() {
                if end.number == chain.number && end.hash != chain.hash {
                    let what = "is not the one that was there when its number was noted".to_owned();
                    return Ok(Verification::Broken { number: chain.number, what });
                }
            }
        }
    }
    for end in [Some(&head), known].into_iter().flatten() {
        if chain.number < end.number {
            let what = format!("is missing, and so are all up to {}", end.number);
            return Ok(Verification::Broken { number: chain.number + 1, what });
        }
    }
    Ok(Verification::Intact { head: AuditHead { number: chain.number, hash: chain.hash } })
}

/// The record as far as it has been checked.
struct Chain {
    number: u64,
    hash: String,
}

impl Chain {
    fn extend(&mut self, record: &AuditRecord) -> Result<(), String> {
        if record.number != self.number + 1 {
            return Err(format!("is missing: number {} comes next", record.number));
        }
        if record.previous != self.hash {
            return Err("does not follow on from the one before".to_owned());
        }
        if record.hash != record.expected_hash() {
            return Err("has been changed: its hash is of another text".to_owned());
        }
        self.number = record.number;
        self.hash.clone_from(&record.hash);
        Ok(())
    }
}
