//! Which scopes a request needs. Said here so that a client can be told in OAuth's own terms, and get
//! a token that does; the tools decide by the same scopes once more.

use std::collections::BTreeSet;

use crate::{access::Scope, http::body::Messages};

/// The scopes that `messages` need, all of them together.
pub(super) fn needed(messages: &Messages) -> BTreeSet<Scope> {
    messages.iter().filter_map(|message| of(&message.method, message.tool.as_deref())).collect()
}

fn of(method: &str, tool: Option<&str>) -> Option<Scope> {
    match (method, tool) {
        ("tools/call", Some("retrieve" | "refine")) => Some(Scope::Read),
        ("tools/call", Some("write")) => Some(Scope::Write),
        ("tools/call", Some("list_sources" | "describe_source" | "request_access")) => Some(Scope::List),
        // Both show data cards.
        ("resources/list" | "resources/read" | "prompts/list" | "prompts/get", _) => Some(Scope::List),
        // Getting to know the server takes no more than being let in.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_needs_its_scope_and_a_batch_all_of_them() {
        let body = |tool: &str| format!(r#"{{"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        for (tool, scope) in [
            ("list_sources", Scope::List),
            ("describe_source", Scope::List),
            ("request_access", Scope::List),
            ("retrieve", Scope::Read),
            ("refine", Scope::Read),
            ("write", Scope::Write),
        ] {
            assert_eq!(needed(&Messages::of(body(tool).as_bytes())), BTreeSet::from([scope]), "{tool}");
        }
        let batch = format!("[{},{}]", body("retrieve"), body("write"));
        assert_eq!(needed(&Messages::of(batch.as_bytes())), BTreeSet::from([Scope::Read, Scope::Write]));
    }

    #[test]
    fn getting_to_know_the_server_needs_none() {
        for method in ["initialize", "server/discover", "tools/list", "ping", "notifications/initialized"] {
            assert_eq!(of(method, None), None, "{method}");
        }
        for method in ["resources/list", "resources/read", "prompts/list", "prompts/get"] {
            assert_eq!(of(method, None), Some(Scope::List), "{method}");
        }
    }
}
