//! `askback access`: what owners and operators decide about callers. Works on the state store itself,
//! so it needs no running service, and a running one sees each decision with its next call.

mod audit;
mod grants;
mod requests;
mod token;

use clap::{Args, Subcommand};
use time::OffsetDateTime;

use super::CliError;
use crate::{
    config::Settings,
    store::{
        SqliteState, StoreError,
        state::{Actor, StateStore},
    },
};

/// See and decide who may do what.
#[derive(Args)]
pub(super) struct Access {
    /// Who decides, for the audit record.
    #[arg(long, global = true, env = "USER", default_value = "operator")]
    by: String,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show requests for access that wait for a decision.
    List(requests::List),
    /// Grant what a request asks for.
    Approve(requests::Approve),
    /// Turn a request down.
    Deny(requests::Deny),
    /// Show grants in force.
    Grants(grants::List),
    /// Grant access without a request.
    Grant(grants::Give),
    /// End a grant.
    Revoke(grants::Revoke),
    /// Print the audit record as JSON Lines, or check it.
    Audit(audit::Audit),
    /// Make a bearer token for auth.mode = "tokens".
    Token(token::Token),
}

/// What decisions are made with.
struct Desk {
    settings: Settings,
    state: SqliteState,
    by: Actor,
    now: OffsetDateTime,
}

pub(super) fn run(
    arguments: Access,
    settings: impl Fn() -> Result<Settings, CliError>,
) -> Result<(), CliError> {
    let Access { by, command } = arguments;
    // An empty variable is as good as none.
    let by = if by.trim().is_empty() { "operator".to_owned() } else { by };
    let desk = || -> Result<Desk, CliError> {
        let settings = settings()?;
        let state = SqliteState::new(&settings.data.dir);
        let by = Actor { subject: by, kind: "operator".to_owned() };
        Ok(Desk { settings, state, by, now: OffsetDateTime::now_utc() })
    };
    match command {
        Command::List(list) => list.run(&desk()?),
        Command::Approve(approve) => approve.run(&desk()?),
        Command::Deny(deny) => deny.run(&desk()?),
        Command::Grants(list) => list.run(&desk()?),
        Command::Grant(grant) => grant.run(&desk()?),
        Command::Revoke(revoke) => revoke.run(&desk()?),
        Command::Audit(audit) => audit.run(&desk()?),
        // Needs no configuration: what it prints goes into one.
        Command::Token(token) => token.run(),
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::failed("the state store", error)
    }
}

impl Desk {
    fn state(&self) -> &dyn StateStore {
        &self.state
    }
}

/// Days that access can be given for.
fn days() -> impl clap::builder::TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=3650)
}

/// Rows in columns as wide as their widest cell. Cells hold what callers wrote: nothing in them moves a
/// terminal's cursor.
fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let clean = |cell: &str| crate::text::excerpt(cell, 80);
    let rows: Vec<Vec<String>> = std::iter::once(header.iter().map(|cell| (*cell).to_owned()).collect())
        .chain(rows.iter().map(|row| row.iter().map(|cell| clean(cell)).collect()))
        .collect();
    let mut widths = vec![0; header.len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["1".to_owned(), "ada".to_owned()], vec!["20".to_owned(), String::new()]];
        assert_eq!(table(&["id", "who"], &rows), "id  who\n1   ada\n20");
    }

    #[test]
    fn what_callers_wrote_stays_in_its_cell() {
        let shown = table(&["why"], &[vec!["a\n\u{1b}[2Jb\u{202e}c".to_owned()]]);
        assert_eq!(shown.lines().count(), 2);
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
}
