//! Sample queries as prompts: a person picks one and the agent runs it.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, ListPromptsResult, Prompt, PromptMessage, Role},
};

use super::wire;
use crate::{
    access::{AccessLevel, Caller},
    service::{DescribeSource, ListSources, Service},
    text,
};

/// One sample query of one source.
struct Sample {
    /// `{slug}-{n}`, n from 1.
    name: String,
    source: String,
    query: String,
}

/// The sample queries of a source, if the caller may put them to it.
async fn samples(service: &Service, caller: &Caller, slug: &str) -> Vec<Sample> {
    let request = DescribeSource { source: slug.to_owned() };
    let Ok(card) = service.describe_source(caller, &request, "").await else { return Vec::new() };
    if !matches!(card.summary.access, AccessLevel::Read | AccessLevel::Write) {
        return Vec::new();
    }
    card.sample_queries
        .into_iter()
        .enumerate()
        .map(|(n, query)| Sample { name: format!("{slug}-{}", n + 1), source: slug.to_owned(), query })
        .collect()
}

pub(super) async fn list(
    service: &Service,
    caller: &Caller,
    cursor: Option<String>,
) -> Result<ListPromptsResult, ErrorData> {
    // Pages follow the sources: a page holds the samples of one page of sources.
    let page = service
        .list_sources(caller, &ListSources { family: None, cursor }, "")
        .await
        .map_err(wire::protocol)?;
    let mut found = Vec::new();
    for source in &page.sources {
        found.extend(samples(service, caller, &source.slug).await);
    }
    let prompts = found
        .into_iter()
        .map(|sample| {
            Prompt::new(sample.name, Some(format!("Ask {}: {}", sample.source, sample.query)), None)
                .with_title(text::excerpt(&sample.query, 80))
        })
        .collect();
    let mut result = ListPromptsResult::with_all_items(prompts);
    result.next_cursor = page.next_cursor;
    Ok(result)
}

pub(super) async fn get(
    service: &Service,
    caller: &Caller,
    name: &str,
) -> Result<GetPromptResult, ErrorData> {
    let slug = name.rsplit_once('-').map_or(name, |(slug, _)| slug);
    let sample =
        samples(service, caller, slug).await.into_iter().find(|sample| sample.name == name).ok_or_else(
            || ErrorData::invalid_params("there is no such prompt; prompts/list shows what there is", None),
        )?;
    let text = format!(
        "Use the retrieve tool on the source `{}` to answer this, citing hits by reference: {}",
        sample.source, sample.query
    );
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
