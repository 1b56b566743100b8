//! From a token's claims to a caller. Issuers agree on few names, so each is a setting.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    access::{Caller, CallerKind, Scope},
    identity::{Denied, unfit_subject},
};

/// Which claims say what. A name that begins with `/` is a JSON pointer (RFC 6901) into the claims, so
/// that nested ones can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimNames {
    /// Who it is: a text.
    pub subject: String,
    /// The groups: a list of texts, or one text.
    pub groups: String,
    /// The scopes: a text of words, or a list of texts.
    pub scopes: String,
    /// The kind of caller, `user`, `agent` or `service`, if a claim says.
    pub kind: Option<String>,
    /// The kind of caller when no claim says.
    pub default_kind: CallerKind,
}

impl Default for ClaimNames {
    fn default() -> Self {
        Self {
            subject: "sub".to_owned(),
            groups: "groups".to_owned(),
            scopes: "scope".to_owned(),
            kind: None,
            default_kind: CallerKind::User,
        }
    }
}

impl ClaimNames {
    /// The caller that `claims` describe.
    pub(super) fn caller(&self, claims: &Value) -> Result<Caller, Denied> {
        let subject = named(claims, &self.subject)
            .and_then(Value::as_str)
            .ok_or(Denied::Invalid("it does not say in the configured claim who it is for"))?;
        if let Some(why) = unfit_subject(subject) {
            return Err(Denied::Invalid(why));
        }
        let groups = named(claims, &self.groups);
        if groups.is_none() && claims.pointer("/_claim_names/groups").is_some() {
            // Microsoft Entra leaves the groups out of tokens of people who are in very many.
            tracing::warn!(subject, "a token refers to its groups instead of listing them; none are known");
        }
        let kind = self.kind.as_deref().and_then(|name| named(claims, name)).and_then(Value::as_str);
        Ok(Caller {
            subject: subject.to_owned(),
            kind: match kind {
                Some("user") => CallerKind::User,
                Some("agent") => CallerKind::Agent,
                Some("service") => CallerKind::Service,
                _ => self.default_kind,
            },
            groups: groups.map(texts).unwrap_or_default().into_iter().map(str::to_owned).collect(),
            scopes: named(claims, &self.scopes).map(scopes).unwrap_or_default(),
        })
    }
}

fn named<'a>(claims: &'a Value, name: &str) -> Option<&'a Value> {
    if name.starts_with('/') { claims.pointer(name) } else { claims.get(name) }
}

/// The texts of a list, or the one text.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The scopes among the words of a text (RFC 8693, section 4.2) or of a list's texts. Others are for
/// somebody else.
fn scopes(value: &Value) -> BTreeSet<Scope> {
    texts(value).into_iter().flat_map(str::split_whitespace).filter_map(Scope::named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn keycloak() {
        // Full group paths from the "Group Membership" mapper, realm roles in a nested claim.
        let claims = json!({
            "iss": "https://sso.example.com/realms/acme", "sub": "f3b1c2", "azp": "agent-ui",
            "scope": "openid profile sources.list sources.read",
            "groups": ["/staff", "/staff/hr"],
            "realm_access": {"roles": ["hr-reader", "offline_access"]},
        });
        let caller = ClaimNames::default().caller(&claims).unwrap();
        assert_eq!((caller.subject.as_str(), caller.kind), ("f3b1c2", CallerKind::User));
        assert_eq!(caller.groups, set(&["/staff", "/staff/hr"]));
        assert_eq!(caller.scopes, BTreeSet::from([Scope::List, Scope::Read]));
        let by_role = ClaimNames { groups: "/realm_access/roles".to_owned(), ..ClaimNames::default() };
        assert_eq!(by_role.caller(&claims).unwrap().groups, set(&["hr-reader", "offline_access"]));
    }

    #[test]
    fn entra() {
        let claims = json!({
            "iss": "https://login.microsoftonline.com/t/v2.0", "oid": "00aa-11", "sub": "pairwise",
            "scp": "sources.read sources.write", "groups": ["6e3f0f2a-1111"], "idtyp": "user",
        });
        let names = ClaimNames {
            subject: "oid".to_owned(),
            scopes: "scp".to_owned(),
            kind: Some("idtyp".to_owned()),
            ..ClaimNames::default()
        };
        let caller = names.caller(&claims).unwrap();
        assert_eq!((caller.subject.as_str(), caller.kind), ("00aa-11", CallerKind::User));
        assert_eq!(caller.groups, set(&["6e3f0f2a-1111"]));
        assert_eq!(caller.scopes, BTreeSet::from([Scope::Read, Scope::Write]));
        // A daemon's token has application roles instead of scopes.
        let daemon = json!({"oid": "00bb", "roles": ["sources.read"]});
        let names = ClaimNames { scopes: "roles".to_owned(), default_kind: CallerKind::Service, ..names };
        let caller = names.caller(&daemon).unwrap();
        assert_eq!((caller.kind, caller.scopes), (CallerKind::Service, BTreeSet::from([Scope::Read])));
    }

    #[test]
    fn auth0() {
        // Claims of one's own have the form of addresses; permissions come as a list.
        let claims = json!({
            "iss": "https://acme.eu.auth0.com/", "sub": "auth0|5f7c", "scope": "openid",
            "permissions": ["sources.list", "sources.read", "billing.read"],
            "https://askback.example.com/groups": "staff", "https://askback.example.com/kind": "agent",
        });
        let names = ClaimNames {
            groups: "https://askback.example.com/groups".to_owned(),
            scopes: "permissions".to_owned(),
            kind: Some("https://askback.example.com/kind".to_owned()),
            ..ClaimNames::default()
        };
        let caller = names.caller(&claims).unwrap();
        assert_eq!((caller.subject.as_str(), caller.kind), ("auth0|5f7c", CallerKind::Agent));
        assert_eq!(caller.groups, set(&["staff"]));
        assert_eq!(caller.scopes, BTreeSet::from([Scope::List, Scope::Read]));
    }

    #[test]
    fn what_a_claim_does_not_say_is_not_made_up() {
        let bare = ClaimNames::default().caller(&json!({"sub": "x"})).unwrap();
        assert_eq!((bare.groups, bare.scopes), (set(&[]), BTreeSet::new()));
        let odd = json!({"sub": "x", "groups": {"a": 1}, "scope": 7});
        let odd = ClaimNames::default().caller(&odd).unwrap();
        assert_eq!((odd.groups, odd.scopes), (set(&[]), BTreeSet::new()));
        // Part of a name is not the name.
        let near = json!({"sub": "x", "scope": "sources.readonly xsources.read SOURCES.READ"});
        assert_eq!(ClaimNames::default().caller(&near).unwrap().scopes, BTreeSet::new());
        for claims in [json!({}), json!({"sub": 7}), json!({"sub": ""}), json!({"sub": "anonymous"})] {
            assert!(matches!(ClaimNames::default().caller(&claims), Err(Denied::Invalid(_))), "{claims}");
        }
    }
}
