//! Sample queries as prompts: a person picks one and the agent runs it.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, ListPromptsResult, Prompt, PromptMessage, Role},
};

use super::wire;
use crate::{
    access::Caller,
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

fn samples(service: &Service, caller: &Caller, slug: &str) -> Vec<Sample> {
    let request = DescribeSource { source: slug.to_owned() };
    let Ok(card) = service.describe_source(caller, &request, "") else { return Vec::new() };
    card.sample_queries
        .into_iter()
        .enumerate()
        .map(|(n, query)| Sample { name: format!("{slug}-{}", n + 1), source: slug.to_owned(), query })
        .collect()
}

pub(super) fn list(
    service: &Service,
    caller: &Caller,
    cursor: Option<String>,
) -> Result<ListPromptsResult, ErrorData> {
    // Pages follow the sources: a page holds the samples of one page of sources.
    let page =
        service.list_sources(caller, &ListSources { family: None, cursor }, "").map_err(wire::protocol)?;
    let prompts = page
        .sources
        .iter()
        .flat_map(|source| samples(service, caller, &source.slug))
        .map(|sample| {
            Prompt::new(sample.name, Some(format!("Ask {}: {}", sample.source, sample.query)), None)
                .with_title(text::excerpt(&sample.query, 80))
        })
        .collect();
    let mut result = ListPromptsResult::with_all_items(prompts);
    result.next_cursor = page.next_cursor;
    Ok(result)
}

pub(super) fn get(service: &Service, caller: &Caller, name: &str) -> Result<GetPromptResult, ErrorData> {
    let sample = name
        .rsplit_once('-')
        .into_iter()
        .flat_map(|(slug, _)| samples(service, caller, slug))
        .find(|sample| sample.name == name)
        .ok_or_else(|| {
            ErrorData::invalid_params("there is no such prompt; prompts/list shows what there is", None)
        })?;
    let text = format!(
        "Use the retrieve tool on the source `{}` to answer this, citing hits by reference: {}",
        sample.source, sample.query
    );
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
