//! Who is calling and what they may do.

/// The identity behind a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Stable name: what sealed state is bound to.
    pub subject: String,
}

impl Caller {
    /// The one caller there is while `auth.mode` is `none`.
    pub fn anonymous() -> Self {
        Self { subject: "anonymous".to_owned() }
    }
}
