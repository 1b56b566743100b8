//! Questions as elicitation forms.

use rmcp::model::{
    ConstTitle, ElicitRequestParams, ElicitationSchema, EnumSchema, LegacyEnumSchema,
    PrimitiveSchemaDefinition, SingleSelectEnumSchema, StringSchema, TitledSingleSelectEnumSchema,
};

use crate::dialogue::{Choice, Form, MAX_TEXT, NONE_OF_THESE, Question};

/// What "none of these" reads as.
const NONE_LABEL: &str = "None of these: I say it in my own words";

/// The elicitation that asks `question`. `titled` picks the spelling of options: `oneOf` with
/// titles from 2025-11-25 on, `enum` with `enumNames` before.
pub(super) fn elicitation(question: &Question, titled: bool) -> ElicitRequestParams {
    let words = |title: &'static str| {
        PrimitiveSchemaDefinition::String(StringSchema::new().title(title).length(1, MAX_TEXT))
    };
    let form = match question.form {
        Form::Clarification => ElicitationSchema::builder()
            .required_property("clarification", words("What are you looking for?")),
        Form::Choice => ElicitationSchema::builder()
            .required_property("choice", PrimitiveSchemaDefinition::Enum(options(&question.options, titled)))
            .property("clarification", words("In your own words (optional)")),
    };
    let requested_schema = form.build_unchecked();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.message.clone(),
        requested_schema,
    }
}

fn options(choices: &[Choice], titled: bool) -> EnumSchema {
    let all = choices
        .iter()
        .map(|choice| (choice.reference.clone(), choice.label.clone()))
        .chain([(NONE_OF_THESE.to_owned(), NONE_LABEL.to_owned())]);
    const TITLE: &str = "Which one do you mean?";
    if titled {
        let mut schema = TitledSingleSelectEnumSchema::new(
            all.map(|(value, label)| ConstTitle::new(value, label)).collect(),
        );
        schema.title = Some(TITLE.into());
        return EnumSchema::Single(SingleSelectEnumSchema::Titled(schema));
    }
    let (values, labels) = all.unzip();
    let mut schema = LegacyEnumSchema::new(values);
    schema.title = Some(TITLE.into());
    schema.enum_names = Some(labels);
    EnumSchema::Legacy(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::gate::Reason;
    use serde_json::{Value, json};

    fn form(form: Form, titled: bool) -> Value {
        let options = match form {
            Form::Choice => [("s/a#0", "Alpha"), ("s/b#1", "Beta")]
                .map(|(reference, label)| Choice { reference: reference.into(), label: label.into() })
                .to_vec(),
            Form::Clarification => Vec::new(),
        };
        let question = Question {
            form,
            slot: None,
            reason: Reason::Ambiguous,
            message: "Which?".into(),
            subject: String::new(),
            options,
        };
        serde_json::to_value(elicitation(&question, titled)).unwrap()
    }

    #[test]
    fn a_clarification_is_one_required_text() {
        assert_eq!(
            form(Form::Clarification, true)["requestedSchema"],
            json!({
                "type": "object",
                "properties": {"clarification": {"type": "string", "title": "What are you looking for?", "minLength": 1, "maxLength": 1000}},
                "required": ["clarification"],
            })
        );
    }

    #[test]
    fn a_choice_titles_its_options_by_one_of() {
        let choice = &form(Form::Choice, true)["requestedSchema"];
        assert_eq!(choice["required"], json!(["choice"]));
        assert_eq!(
            choice["properties"]["choice"]["oneOf"],
            json!([
                {"const": "s/a#0", "title": "Alpha"},
                {"const": "s/b#1", "title": "Beta"},
                {"const": "none", "title": NONE_LABEL},
            ])
        );
        assert_eq!(choice["properties"]["clarification"]["type"], "string");
    }

    #[test]
    fn older_protocols_get_names_beside_the_enum() {
        let choice = &form(Form::Choice, false)["requestedSchema"]["properties"]["choice"];
        assert_eq!(choice["enum"], json!(["s/a#0", "s/b#1", "none"]));
        assert_eq!(choice["enumNames"], json!(["Alpha", "Beta", NONE_LABEL]));
        assert_eq!(choice.get("oneOf"), None);
    }
}
