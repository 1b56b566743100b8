//! Grants: seeing, giving and ending them.

use clap::{Args, ValueEnum};
use serde_json::json;

use super::{Desk, days, table};
use crate::{
    cli::{CliError, say},
    identity::unfit_subject,
    store::state::{Access, Grant, NewGrant},
};

/// Show grants in force.
#[derive(Args)]
pub(super) struct List {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

/// Grant access without a request.
#[derive(Args)]
pub(super) struct Give {
    /// The caller: the subject of its token.
    subject: String,
    /// Slug of the source.
    source: String,
    /// What for.
    access: Kind,
    /// For how many days; for good, if left out.
    #[arg(long, value_parser = days())]
    days: Option<u32>,
}

/// End a grant.
#[derive(Args)]
pub(super) struct Revoke {
    /// Number of the grant.
    id: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Read,
    Write,
}

impl List {
    pub(super) fn run(&self, desk: &Desk) -> Result<(), CliError> {
        let grants = desk.state().all_grants(desk.now)?;
        if self.json {
            say(&json!(grants).to_string());
        } else if grants.is_empty() {
            say("no grant is in force");
        } else {
            say(&table(
                &["id", "caller", "source", "access", "until", "granted", "by", "request"],
                &grants.iter().map(row).collect::<Vec<_>>(),
            ));
        }
        Ok(())
    }
}

fn row(grant: &Grant) -> Vec<String> {
    vec![
        grant.id.to_string(),
        grant.subject.clone(),
        grant.source.clone(),
        grant.access.name().to_owned(),
        grant.expires_at.clone().unwrap_or_else(|| "for good".to_owned()),
        grant.granted_at.clone(),
        grant.granted_by.clone(),
        grant.request.map(|request| request.to_string()).unwrap_or_default(),
    ]
}

impl Give {
    pub(super) fn run(self, desk: &Desk) -> Result<(), CliError> {
        // `anonymous` can be granted something: it is the one caller there is without authentication.
        if self.subject != crate::identity::ANONYMOUS
            && let Some(why) = unfit_subject(&self.subject)
        {
            return Err(CliError::Usage(format!("SUBJECT will not do: {why}")));
        }
        let mut slugs = desk.settings.sources.iter().map(|source| source.slug.as_str());
        if !slugs.clone().any(|slug| slug == self.source) {
            let nearest = crate::text::nearest(&self.source, slugs.by_ref(), 1);
            let remedy = match nearest.first() {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "see [[sources]] in the configuration".to_owned(),
            };
            return Err(CliError::Usage(format!("there is no source `{}`; {remedy}", self.source)));
        }
        let access = match self.access {
            Kind::Read => Access::Read,
            Kind::Write => Access::Write,
        };
        let grant = NewGrant {
            subject: self.subject,
            source: self.source,
            access,
            days: self.days,
            by: desk.by.clone(),
        };
        let id = desk.state().grant(&grant, desk.now)?;
        let until = self.days.map(|days| format!(" for {days} days")).unwrap_or_default();
        say(&format!("grant {id}: {} may {} {}{until}", grant.subject, access.name(), grant.source));
        Ok(())
    }
}

impl Revoke {
    pub(super) fn run(&self, desk: &Desk) -> Result<(), CliError> {
        if !desk.state().revoke(self.id, &desk.by, desk.now)? {
            return Err(CliError::Failed(format!(
                "no grant {} is in force; `askback access grants` shows those that are",
                self.id
            )));
        }
        say(&format!("grant {} has ended", self.id));
        Ok(())
    }
}
