//! JSON Schemas of arguments and results, and reading arguments by them.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{service::Failure, text};

/// The schema of `T`, self-contained: several clients do not follow `$ref`.
pub(super) fn of<T: JsonSchema>() -> Arc<JsonObject> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    drop_formats(&mut schema);
    match schema {
        Value::Object(mut object) => {
            // The type's Rust name says nothing to a client.
            object.remove("title");
            Arc::new(object)
        }
        _ => Arc::default(),
    }
}

/// Widths of Rust's numbers are no JSON Schema formats: clients warn about each.
fn drop_formats(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            object.values_mut().for_each(drop_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_formats),
        _ => {}
    }
}

/// Reads a tool's arguments. A null counts as an argument left out: models send it for options
/// they do not use.
pub(super) fn arguments<T: DeserializeOwned>(
    arguments: &JsonObject,
    schema: &JsonObject,
) -> Result<T, Failure> {
    let known = schema.get("properties").and_then(Value::as_object);
    for key in arguments.keys() {
        if known.is_none_or(|known| !known.contains_key(key)) {
            return Err(unknown(key, known));
        }
    }
    let given: JsonObject = arguments
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for required in
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !given.contains_key(required) {
            return Err(Failure::argument(required, "is required"));
        }
    }
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "arguments" } else { &path };
        Failure::argument(&text::excerpt(field, 64), wanted(field, known))
    })
}

/// What an argument has to be, in the schema's words: what the deserialiser says names Rust types.
fn wanted(field: &str, known: Option<&JsonObject>) -> String {
    let top = field.split(['.', '[']).next().unwrap_or(field);
    let Some(property) = known.and_then(|known| known.get(top)) else {
        return "does not have the form that tools/list describes".to_owned();
    };
    let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
    let values: Vec<&str> = options(property).collect();
    let kind = match property.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        _ => "",
    };
    let form = match (values.is_empty(), kind) {
        (false, _) => format!("must be one of {}", values.join(", ")),
        (true, "integer") => "must be a whole number".to_owned(),
        (true, "") => "does not have the right form".to_owned(),
        (true, kind) => format!("must be of type {kind}"),
    };
    text::excerpt(&format!("{form}. {description}"), 300)
}

/// The values an enumeration allows, wherever its schema lists them.
fn options(schema: &Value) -> impl Iterator<Item = &str> {
    let branches = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let all = std::iter::once(schema)
        .chain(branches.clone())
        .chain(branches.filter_map(|branch| branch.get("oneOf")?.as_array()).flatten());
    all.flat_map(|schema| {
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        listed.chain(schema.get("const")).filter_map(Value::as_str)
    })
}

fn unknown(key: &str, known: Option<&JsonObject>) -> Failure {
    let names = || known.into_iter().flat_map(|known| known.keys().map(String::as_str));
    let shown = text::excerpt(key, 64);
    match text::nearest(key, names(), 1).first() {
        Some(meant) => {
            Failure::argument(&shown, format!("there is no such argument; did you mean `{meant}`?"))
        }
        None => {
            let list = names().collect::<Vec<_>>().join(", ");
            Failure::argument(&shown, format!("there is no such argument; arguments: {list}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::{Code, Retrieve};
    use rstest::rstest;
    use serde_json::json;

    fn read(value: Value) -> Result<Retrieve, Failure> {
        arguments(value.as_object().unwrap(), &of::<Retrieve>())
    }

    #[test]
    fn defaults_fill_in_and_null_is_left_out() {
        let retrieve = read(json!({"query": "x", "top_k": null, "choice": null})).unwrap();
        assert_eq!((retrieve.top_k, retrieve.choice), (None, None));
    }

    #[rstest]
    #[case(json!({}), "query")]
    #[case(json!({"query": null}), "query")]
    #[case(json!({"query": 1}), "query")]
    #[case(json!({"query": "x", "topk": 3}), "topk")]
    #[case(json!({"query": "x", "top_k": "three"}), "top_k")]
    #[case(json!({"query": "x", "top_k": -1}), "top_k")]
    #[case(json!({"query": "x", "top_k": 1e300}), "top_k")]
    #[case(json!({"query": "x", "source": 5}), "source")]
    #[case(json!({"query": "x", "source": ["a", 1]}), "source")]
    #[case(json!({"query": "x", "clarify": "sometimes"}), "clarify")]
    #[case(json!({"query": "x", "filters": []}), "filters")]
    fn a_bad_argument_is_named(#[case] value: Value, #[case] field: &str) {
        let failure = read(value).unwrap_err();
        assert_eq!(failure.code, Code::InvalidArgument);
        assert_eq!(failure.details["field"], field, "{}", failure.message);
        for insider in ["u32", "struct", "Option", "variant", "map"] {
            assert!(!failure.message.contains(insider), "{}", failure.message);
        }
    }

    #[test]
    fn a_message_says_what_would_do() {
        let failure = read(json!({"query": "x", "clarify": "sometimes"})).unwrap_err();
        assert!(failure.message.contains("one of auto, never"), "{}", failure.message);
        let failure = read(json!({"query": "x", "top_k": "three"})).unwrap_err();
        assert!(failure.message.contains("whole number"), "{}", failure.message);
    }

    #[test]
    fn a_huge_value_is_not_repeated_back() {
        let failure = read(json!({"query": "x", "top_k": "y".repeat(1 << 20)})).unwrap_err();
        assert!(failure.message.len() < 500);
        let failure = read(json!({"query": "x", "z".repeat(1 << 20): 1})).unwrap_err();
        assert!(failure.message.len() < 500);
    }

    #[test]
    fn schemas_are_closed_objects_without_references() {
        let schema = Value::Object(of::<Retrieve>().as_ref().clone());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["query"]));
        assert!(!schema.to_string().contains("$ref"), "{schema}");
        assert!(!schema.to_string().contains("uint"), "{schema}");
    }
}
