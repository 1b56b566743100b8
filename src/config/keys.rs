//! Keys that do not exist, and what was probably meant.

use serde_json::Value;

use super::Problem;

/// Reports every key of `value` that `schema` (a JSON Schema object) does not know.
///
/// The schema is derived from the very structs the values are read into, so there is no second
/// list of names to keep in step.
pub(super) fn unknown(value: &Value, schema: &Value, path: &str, problems: &mut Vec<Problem>) {
    walk(value, schema, schema, path, problems);
}

fn walk(value: &Value, schema: &Value, root: &Value, path: &str, problems: &mut Vec<Problem>) {
    let schema = resolve(schema, root);
    if let (Some(items), Some(element)) = (value.as_array(), schema.get("items")) {
        for (n, item) in items.iter().enumerate() {
            walk(item, element, root, &format!("{path}[{n}]"), problems);
        }
    }
    let (Some(entries), Some(known)) =
        (value.as_object(), schema.get("properties").and_then(Value::as_object))
    else {
        return;
    };
    for (key, entry) in entries {
        let full = join(path, key);
        match known.get(key) {
            Some(inner) => walk(entry, inner, root, &full, problems),
            None => problems.push(Problem::new(full, no_such_key(key, known.keys().map(String::as_str)))),
        }
    }
}

/// Follows `$ref`, and the one real branch of the `anyOf` that an optional field becomes.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
        return root.pointer(pointer.trim_start_matches('#')).unwrap_or(schema);
    }
    let branch = schema.get("anyOf").and_then(Value::as_array).and_then(|branches| {
        branches.iter().find(|branch| branch.get("type").and_then(Value::as_str) != Some("null"))
    });
    branch.map_or(schema, |branch| resolve(branch, root))
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The message for a key that does not exist, with the nearest that does.
pub(super) fn no_such_key<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    match crate::text::nearest(key, known.iter().copied(), 1).first() {
        Some(meant) => format!("there is no such key; did you mean `{meant}`?"),
        None => format!("there is no such key; known here: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(value: &Value) -> Vec<String> {
        let schema = json!({
            "properties": {
                "server": {"$ref": "#/$defs/Server"},
                "limits": {"anyOf": [{"$ref": "#/$defs/Server"}, {"type": "null"}]},
                "list": {"items": {"$ref": "#/$defs/Server"}},
            },
            "$defs": {"Server": {"properties": {"address": {}, "allowed_hosts": {}}}},
        });
        let mut problems = Vec::new();
        unknown(value, &schema, "", &mut problems);
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn known_keys_pass() {
        assert!(problems(&json!({"server": {"address": "x"}, "list": [{"allowed_hosts": []}]})).is_empty());
    }

    #[test]
    fn names_the_nearest_key_wherever_it_is() {
        assert_eq!(
            problems(
                &json!({"server": {"adress": 1}, "limits": {"alowed_hosts": 1}, "list": [{}, {"addres": 2}]})
            ),
            [
                "limits.alowed_hosts: there is no such key; did you mean `allowed_hosts`?",
                "list[1].addres: there is no such key; did you mean `address`?",
                "server.adress: there is no such key; did you mean `address`?",
            ]
        );
    }

    #[test]
    fn lists_what_exists_when_nothing_is_near() {
        assert_eq!(
            problems(&json!({"zzzzzz": 1})),
            ["zzzzzz: there is no such key; known here: limits, list, server"]
        );
    }
}
