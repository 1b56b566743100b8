//! The six tools, one file each: what an agent is told about it, and which use case it runs.

mod describe_source;
mod list_sources;
mod refine;
mod request_access;
mod retrieve;
mod write;

use std::{sync::OnceLock, time::Instant};

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, JsonObject, Tool, ToolAnnotations},
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    rounds::{Asked, Rounds},
    schema, wire,
};
use crate::{
    access::Caller,
    limits::{Class, Limits},
    service::{Failure, Service},
};

/// The definitions of all tools, in the order agents should read them.
pub(super) fn definitions() -> &'static [Tool] {
    static DEFINITIONS: OnceLock<Vec<Tool>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        vec![
            list_sources::definition(),
            describe_source::definition(),
            retrieve::definition(),
            refine::definition(),
            write::definition(),
            request_access::definition(),
        ]
    })
}

/// What sets tools apart for a client that decides what may run unasked.
struct Nature {
    read_only: bool,
    idempotent: bool,
}

fn define<Arguments: JsonSchema, Response: JsonSchema>(
    name: &'static str,
    title: &str,
    description: &'static str,
    nature: Nature,
) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(nature.read_only)
        .destructive(false)
        .idempotent(nature.idempotent)
        .open_world(false);
    let mut tool = Tool::new(name, description, schema::of::<Arguments>()).with_annotations(annotations);
    tool.title = Some(title.to_owned());
    tool.output_schema = Some(schema::of::<Response>());
    tool
}

/// A new id for a call: sorts by time, so that logs of replicas interleave.
pub(super) fn request_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Runs a tool.
pub(super) async fn call(
    service: &Service,
    rounds: &Rounds,
    limits: &Limits,
    caller: Caller,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let Some(tool) = definitions().iter().find(|tool| tool.name == request.name) else {
        let shown = crate::text::excerpt(&request.name, 64);
        return Err(ErrorData::invalid_params(
            format!("there is no tool `{shown}`; tools/list shows the six"),
            None,
        ));
    };
    let started = Instant::now();
    let request_id = request_id();
    let arguments = request.arguments.clone().unwrap_or_default();
    let call = Call { tool, arguments: &arguments, request_id: &request_id, limits };
    let subject = caller.subject.clone();
    let dispatch = async || match tool.name.as_ref() {
        list_sources::NAME => {
            let run = async |request| service.list_sources(&caller, &request, &request_id).await;
            Ok(call.answer(run).await)
        }
        describe_source::NAME => {
            let run = async |request| service.describe_source(&caller, &request, &request_id).await;
            Ok(call.answer(run).await)
        }
        write::NAME => {
            let run = async |request| service.write(&caller, &request, &request_id).await;
            Ok(call.answer(run).await)
        }
        request_access::NAME => {
            let run = async |request| service.request_access(&caller, &request, &request_id).await;
            Ok(call.answer(run).await)
        }
        retrieve::NAME => rounds.run::<retrieve::Retrieve>(call.asked(caller, &request), context).await,
        _ => rounds.run::<refine::Refine>(call.asked(caller, &request), context).await,
    };
    let response = match limits.count(&subject, class(&tool.name)) {
        Ok(()) => dispatch().await,
        Err(exceeded) => Ok(wire::failed(exceeded.into(), &request_id).into()),
    };
    tracing::info!(
        caller = subject,
        tool = %tool.name,
        source = source(&arguments),
        outcome = outcome(&response),
        ms = started.elapsed().as_millis() as u64,
        request_id,
        "call"
    );
    response
}

/// What a call of a tool counts as.
fn class(tool: &str) -> Class {
    match tool {
        write::NAME => Class::Write,
        request_access::NAME => Class::AccessRequest,
        _ => Class::Read,
    }
}

/// One call of one tool.
struct Call<'a> {
    tool: &'a Tool,
    arguments: &'a JsonObject,
    request_id: &'a str,
    limits: &'a Limits,
}

impl<'a> Call<'a> {
    async fn answer<Arguments: DeserializeOwned, Response: Serialize>(
        &self,
        run: impl AsyncFnOnce(Arguments) -> Result<Response, Failure>,
    ) -> CallToolResponse {
        let response = match schema::arguments(self.arguments, &self.tool.input_schema) {
            Ok(request) => self.limits.run(run(request)).await.map_err(Failure::from).flatten(),
            Err(failure) => Err(failure),
        };
        wire::result(response, self.request_id).into()
    }

    fn asked(&self, caller: Caller, request: &CallToolRequestParams) -> Asked<'a> {
        Asked {
            caller,
            tool: self.tool,
            arguments: self.arguments,
            request_id: self.request_id,
            responses: request.input_responses.clone(),
            state: request.request_state.clone(),
        }
    }
}

/// The source a call names, for its log line: a slug or a reference's slug, never more.
fn source(arguments: &JsonObject) -> String {
    let named = |key: &str| arguments.get(key).and_then(serde_json::Value::as_str);
    let reference = named("reference").and_then(|reference| reference.split('/').next());
    named("source").or(reference).map_or_else(|| "*".to_owned(), |slug| crate::text::excerpt(slug, 64))
}

fn outcome(response: &Result<CallToolResponse, ErrorData>) -> &'static str {
    match response {
        Ok(CallToolResponse::Complete(CallToolResult { is_error: Some(true), .. })) => "failed",
        Ok(CallToolResponse::InputRequired(_)) => "asked",
        Ok(_) => "answered",
        Err(_) => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_exactly_six_tools_fully_described() {
        let names: Vec<&str> = definitions().iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(
            names,
            ["list_sources", "describe_source", "retrieve", "refine", "write", "request_access"]
        );
        for tool in definitions() {
            assert!(tool.description.as_ref().is_some_and(|text| text.len() > 80), "{}", tool.name);
            for schema in [Some(&tool.input_schema), tool.output_schema.as_ref()] {
                let schema = schema.unwrap();
                assert_eq!(schema.get("type"), Some(&serde_json::json!("object")), "{}", tool.name);
                let properties = schema.get("properties").and_then(|p| p.as_object()).unwrap();
                for (name, property) in properties {
                    assert!(property.get("description").is_some(), "{}.{name} has no description", tool.name);
                }
            }
            let annotations = tool.annotations.as_ref().unwrap();
            assert_eq!(
                annotations.read_only_hint,
                Some(!matches!(tool.name.as_ref(), "write" | "request_access"))
            );
        }
    }
}
