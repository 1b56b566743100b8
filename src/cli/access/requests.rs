//! Requests for access: seeing and deciding them.

use clap::Args;
use serde_json::json;

use super::{Desk, days, table};
use crate::{
    cli::{CliError, say},
    store::state::{AccessRequest, Decision, RequestStatus},
};

/// Show requests for access.
#[derive(Args)]
pub(super) struct List {
    /// Those that were decided, too.
    #[arg(long)]
    all: bool,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

/// Grant what a request asks for.
#[derive(Args)]
pub(super) struct Approve {
    /// Number of the request.
    id: u64,
    /// For how many days; as long as was asked for, if left out.
    #[arg(long, value_parser = days())]
    days: Option<u32>,
}

/// Turn a request down.
#[derive(Args)]
pub(super) struct Deny {
    /// Number of the request.
    id: u64,
    /// Why, in words for the caller.
    #[arg(long)]
    why: String,
}

impl List {
    pub(super) fn run(&self, desk: &Desk) -> Result<(), CliError> {
        let requests = desk.state().requests(self.all)?;
        if self.json {
            say(&json!(requests).to_string());
        } else if requests.is_empty() {
            say(if self.all { "nobody has asked for access" } else { "no request waits for a decision" });
        } else {
            say(&table(
                &["id", "status", "caller", "kind", "source", "access", "days", "requested", "reason"],
                &requests.iter().map(row).collect::<Vec<_>>(),
            ));
        }
        Ok(())
    }
}

fn row(request: &AccessRequest) -> Vec<String> {
    vec![
        request.id.to_string(),
        status(request.status).to_owned(),
        request.subject.clone(),
        request.kind.clone(),
        request.source.clone(),
        request.access.name().to_owned(),
        request.days.map_or_else(|| "for good".to_owned(), |days| days.to_string()),
        request.requested_at.clone(),
        request.reason.clone(),
    ]
}

fn status(status: RequestStatus) -> &'static str {
    match status {
        RequestStatus::Pending => "pending",
        RequestStatus::Approved => "approved",
        RequestStatus::Denied => "denied",
    }
}

impl Approve {
    pub(super) fn run(&self, desk: &Desk) -> Result<(), CliError> {
        let request = decide(desk, self.id, &Decision::Approve { days: self.days })?;
        let until = self.days.or(request.days).map(|days| format!(" for {days} days"));
        let (subject, access, source) = shown(&request);
        say(&format!("{subject} may {access} {source}{}", until.unwrap_or_default()));
        Ok(())
    }
}

impl Deny {
    pub(super) fn run(&self, desk: &Desk) -> Result<(), CliError> {
        if self.why.trim().is_empty() {
            return Err(CliError::Usage("--why must say something: the caller is shown it".to_owned()));
        }
        let request = decide(desk, self.id, &Decision::Deny { why: self.why.clone() })?;
        let (subject, access, source) = shown(&request);
        say(&format!("{subject} may not {access} {source}, and is told why on asking again"));
        Ok(())
    }
}

fn shown(request: &AccessRequest) -> (String, &'static str, &str) {
    (crate::text::excerpt(&request.subject, 255), request.access.name(), &request.source)
}

fn decide(desk: &Desk, id: u64, decision: &Decision) -> Result<AccessRequest, CliError> {
    let pending = desk.state().requests(false)?.iter().any(|request| request.id == id);
    let Some(request) = desk.state().decide(id, decision, &desk.by, desk.now)? else {
        return Err(CliError::Failed(format!(
            "there is no request {id}; `askback access list` shows those there are"
        )));
    };
    if !pending {
        // Somebody else was quicker, and that decision stands.
        let by = request.decided_by.as_deref().unwrap_or("somebody");
        let at = request.decided_at.as_deref().unwrap_or("before");
        return Err(CliError::Failed(format!(
            "request {id} was {} by {by} at {at}; `askback access grant` and `revoke` change what holds",
            status(request.status)
        )));
    }
    Ok(request)
}
