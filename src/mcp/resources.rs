//! Data cards as resources, `askback://sources/{slug}`.

use rmcp::{
    ErrorData,
    model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};

use super::wire;
use crate::{
    access::Caller,
    service::{DescribeSource, ListSources, Service},
};

const SCHEME: &str = "askback://sources/";

pub(super) async fn list(
    service: &Service,
    caller: &Caller,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let page = service
        .list_sources(caller, &ListSources { family: None, cursor }, "")
        .await
        .map_err(wire::protocol)?;
    let resources = page
        .sources
        .into_iter()
        .map(|source| {
            Resource::new(format!("{SCHEME}{}", source.slug), source.slug)
                .with_title(source.name)
                .with_description(format!("Data card. {}", source.description))
                .with_mime_type("application/json")
        })
        .collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = page.next_cursor;
    Ok(result)
}

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{slug}}"), "source-card")
        .with_title("Data card of a source")
        .with_description("What describe_source answers, by the slug that list_sources shows.")
        .with_mime_type("application/json")
}

pub(super) async fn read(
    service: &Service,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let Some(slug) = uri.strip_prefix(SCHEME) else {
        let named = serde_json::json!({ "uri": crate::text::excerpt(uri, 200) });
        return Err(ErrorData::resource_not_found(
            format!("resources here are {SCHEME}{{slug}}"),
            Some(named),
        ));
    };
    let request = DescribeSource { source: slug.to_owned() };
    let request_id = super::tools::request_id();
    let card = service.describe_source(caller, &request, &request_id).await.map_err(|mut failure| {
        if let Some(details) = failure.details.as_object_mut() {
            details.insert("uri".to_owned(), crate::text::excerpt(uri, 200).into());
        }
        wire::protocol(failure)
    })?;
    let text = serde_json::to_string(&card)
        .map_err(|error| wire::protocol(wire::internal(&format!("a card could not be written: {error}"))))?;
    let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
    Ok(ReadResourceResult::new(vec![contents]))
}
