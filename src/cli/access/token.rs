//! Making bearer tokens. The token is printed once and kept nowhere; what goes into the configuration
//! is its SHA-256.

use clap::{Args, ValueEnum};
use serde_json::json;
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use super::days;
use crate::{
    access::{CallerKind, Scope},
    cli::{CliError, say},
    identity::{tokens, unfit_subject},
    text::hex,
};

/// Make a bearer token.
#[derive(Args)]
pub(super) struct Token {
    /// Whom it speaks for.
    #[arg(long)]
    subject: String,
    /// What kind of caller that is.
    #[arg(long, value_enum, default_value_t = Kind::Agent)]
    kind: Kind,
    /// A group the caller is in. Can be given several times.
    #[arg(long)]
    group: Vec<String>,
    /// What it is good for. Can be given several times; listing and reading, if left out.
    #[arg(long, value_parser = scope)]
    scope: Vec<Scope>,
    /// Days until it is no longer accepted; never, if left out.
    #[arg(long, value_parser = days())]
    days: Option<u32>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    User,
    Agent,
    Service,
}

fn scope(name: &str) -> Result<Scope, String> {
    Scope::named(name).ok_or_else(|| format!("there are {}", Scope::ALL.map(Scope::name).join(", ")))
}

impl Token {
    pub(super) fn run(self) -> Result<(), CliError> {
        if let Some(why) = unfit_subject(&self.subject) {
            return Err(CliError::Usage(format!("--subject will not do: {why}")));
        }
        let token = tokens::mint().map_err(|error| CliError::failed("making a token", error))?;
        let entry = self.entry(&token, OffsetDateTime::now_utc())?;
        say(&if self.json {
            json!({ "token": token, "sha256": hex(&tokens::digest(&token)), "entry": entry }).to_string()
        } else {
            format!(
                "The token, shown this once; give it to the caller:\n\n{token}\n\nIts entry in the configuration, where \
                 auth.mode is \"tokens\":\n\n{entry}"
            )
        });
        Ok(())
    }

    fn entry(&self, token: &str, now: OffsetDateTime) -> Result<String, CliError> {
        let kind = match self.kind {
            Kind::User => CallerKind::User,
            Kind::Agent => CallerKind::Agent,
            Kind::Service => CallerKind::Service,
        };
        let scopes = if self.scope.is_empty() { &[Scope::List, Scope::Read][..] } else { &self.scope };
        // JSON's texts and lists of texts are TOML's, too.
        let mut lines = vec![
            "[[auth.tokens]]".to_owned(),
            format!("sha256 = \"{}\"", hex(&tokens::digest(token))),
            format!("subject = {}", json!(self.subject)),
            format!("kind = \"{}\"", kind.name()),
            format!("groups = {}", json!(self.group)),
            format!("scopes = {}", json!(scopes)),
        ];
        if let Some(days) = self.days {
            let end = now.saturating_add(Duration::days(days.into())).replace_nanosecond(0).unwrap_or(now);
            let end = end.format(&Rfc3339).map_err(|error| CliError::failed("writing the time", error))?;
            lines.push(format!("expires_at = \"{end}\""));
        }
        Ok(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn the_entry_is_what_the_configuration_reads() {
        let token = Token {
            subject: "build \"7\"".to_owned(),
            kind: Kind::Service,
            group: vec!["ci".to_owned()],
            scope: vec![],
            days: Some(30),
            json: false,
        };
        let entry = token.entry("abc", datetime!(2026-12-01 12:00:00.5 UTC)).unwrap_or_default();
        assert_eq!(
            entry,
            "[[auth.tokens]]\n\
             sha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n\
             subject = \"build \\\"7\\\"\"\n\
             kind = \"service\"\n\
             groups = [\"ci\"]\n\
             scopes = [\"sources.list\",\"sources.read\"]\n\
             expires_at = \"2026-12-31T12:00:00Z\""
        );
    }
}
