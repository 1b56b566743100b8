//! What has to outlive every process and be shared by all replicas: contributed content, access
//! requests and grants, the audit record, and what is still to be delivered.
//!
//! [`StateStore`] is all that callers know. It is shaped by what happens, not by tables: each method
//! is one transaction, so that a store over another database needs no changes above it.

mod records;

pub use records::{
    Access, AccessRequest, Actor, AuditHead, AuditRecord, Contributed, Contribution, Decision, Delivery,
    Entry, Event, Grant, Item, NewGrant, NewRequest, Note, Receipt, RequestStatus, Requested, WriteResult,
};

use time::OffsetDateTime;

use super::StoreError;

/// Durable state shared by all processes of a deployment.
///
/// Every method blocks until what it did is durable, or what it read is current: call it off the async
/// threads. What one process has been told is done, every other sees in its next call. `now` is given
/// by the caller, so that what lapses with time can be tried without waiting.
pub trait StateStore: Send + Sync {
    /// Records a contribution: content, provenance, audit and idempotency in one transaction, or nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be used; so for all methods here.
    fn contribute(&self, contribution: &Contribution, now: OffsetDateTime)
    -> Result<Contributed, StoreError>;

    /// What a contribution with an idempotency key came to, if it was recorded before; `None` also
    /// without a key.
    fn repeated(&self, contribution: &Contribution) -> Result<Option<Contributed>, StoreError>;

    /// Number of the last change of what was contributed to `source`, 0 before the first.
    fn latest(&self, source: &str) -> Result<u64, StoreError>;

    /// The items of `source` whose current revision is younger than the change `after`, oldest first.
    fn items(&self, source: &str, after: u64) -> Result<Vec<Item>, StoreError>;

    /// All revisions of an item, oldest first.
    fn history(&self, source: &str, id: &str) -> Result<Vec<Item>, StoreError>;

    /// The notes of `source` younger than the change `after`, oldest first.
    fn notes(&self, source: &str, after: u64) -> Result<Vec<Note>, StoreError>;

    /// The grants of `subject` that are in force at `now`.
    fn grants(&self, subject: &str, now: OffsetDateTime) -> Result<Vec<Grant>, StoreError>;

    /// Every grant in force at `now`, oldest first.
    fn all_grants(&self, now: OffsetDateTime) -> Result<Vec<Grant>, StoreError>;

    /// Grants access without a request; the number of the grant.
    fn grant(&self, grant: &NewGrant, now: OffsetDateTime) -> Result<u64, StoreError>;

    /// Ends a grant; whether it was in force.
    fn revoke(&self, grant: u64, by: &Actor, now: OffsetDateTime) -> Result<bool, StoreError>;

    /// Asks for access. The same caller asking for the same again while the owner has not decided adds
    /// nothing.
    fn request(&self, request: &NewRequest, now: OffsetDateTime) -> Result<Requested, StoreError>;

    /// Requests, oldest first: those nobody has decided, or all.
    fn requests(&self, all: bool) -> Result<Vec<AccessRequest>, StoreError>;

    /// Decides a pending request; `None` if there is none of that number, otherwise the request as it
    /// stands now, which another decision may have been quicker to.
    fn decide(
        &self,
        request: u64,
        decision: &Decision,
        by: &Actor,
        now: OffsetDateTime,
    ) -> Result<Option<AccessRequest>, StoreError>;

    /// Adds a record of something that changed nothing else, such as a refusal.
    fn record(&self, event: &Event, now: OffsetDateTime) -> Result<(), StoreError>;

    /// Audit records younger than number `after`, oldest first, at most `limit`.
    fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditRecord>, StoreError>;

    /// What the last audit record is, by what the store keeps beside the records.
    fn audit_head(&self) -> Result<AuditHead, StoreError>;

    /// Takes messages that are due, at most `limit`, and keeps other processes from them until `until`.
    fn take_due(
        &self,
        limit: usize,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Notes that a message was delivered.
    fn delivered(&self, delivery: u64, now: OffsetDateTime) -> Result<(), StoreError>;

    /// Notes that a message was not delivered: it is due again at `due`, or given up without one.
    fn postpone(&self, delivery: u64, why: &str, due: Option<OffsetDateTime>) -> Result<(), StoreError>;
}
