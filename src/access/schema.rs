//! The JSON Schema that contributed content has to fulfil.

use serde_json::Value;

/// A compiled schema.
pub struct ContentSchema {
    validator: jsonschema::Validator,
    source: Value,
}

impl std::fmt::Debug for ContentSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ContentSchema").field(&self.source).finish()
    }
}

/// Most violations told at a time: enough to mend the content in one go.
const TOLD: usize = 5;

impl ContentSchema {
    /// Compiles a schema. References to other documents are not followed.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let validator =
            jsonschema::validator_for(schema).map_err(|error| format!("is no JSON Schema: {error}"))?;
        Ok(Self { validator, source: schema.clone() })
    }

    /// The schema as the owner wrote it, for writers to read.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Checks content, which has to be JSON.
    ///
    /// # Errors
    /// What is wrong with it, a sentence each.
    pub fn check(&self, content: &str) -> Result<(), Vec<String>> {
        let value: Value = serde_json::from_str(content)
            .map_err(|error| vec![format!("the content is not JSON: {error}")])?;
        let violations: Vec<String> = self
            .validator
            .iter_errors(&value)
            .take(TOLD)
            .map(|error| {
                let at = error.instance_path().to_string();
                let at = if at.is_empty() { "the content" } else { &at };
                crate::text::excerpt(&format!("{at}: {}", error.masked()), 300)
            })
            .collect();
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn contact() -> ContentSchema {
        let schema = json!({
            "type": "object",
            "required": ["name", "phone"],
            "properties": {"name": {"type": "string"}, "phone": {"type": "string", "pattern": "^[+0-9 ]+$"}},
            "additionalProperties": false,
        });
        ContentSchema::compile(&schema).unwrap()
    }

    #[test]
    fn content_that_fulfils_it_passes() {
        assert_eq!(contact().check(r#"{"name": "Ada", "phone": "+44 20"}"#), Ok(()));
    }

    #[test]
    fn content_that_does_not_is_told_why() {
        let told = |content: &str| contact().check(content).unwrap_err().join("; ");
        assert!(told("Ada").contains("not JSON"), "{}", told("Ada"));
        assert!(told(r#"{"name": "Ada"}"#).contains("phone"));
        assert!(told(r#"{"name": "Ada", "phone": "call me"}"#).starts_with("/phone: "));
    }

    #[test]
    fn a_schema_that_is_none_or_points_elsewhere_is_refused() {
        assert!(ContentSchema::compile(&json!({"type": "objekt"})).is_err());
        assert!(ContentSchema::compile(&json!({"$ref": "https://example.com/schema.json"})).is_err());
    }
}
