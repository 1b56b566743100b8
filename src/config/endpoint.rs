//! What the sections of models behind HTTP have in common.

use std::{env, time::Duration};

use reqwest::Url;

use super::Problem;
use crate::search::remote::{Endpoint, Secret};

/// Checks the keys of a section, and notes what is wrong with them.
pub(super) struct Checks<'a> {
    pub(super) section: &'static str,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl Checks<'_> {
    pub(super) fn problem(&mut self, key: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(format!("{}.{key}", self.section), message));
    }

    pub(super) fn within(&mut self, key: &str, value: usize, low: usize, high: usize) {
        if !(low..=high).contains(&value) {
            self.problem(key, format!("must be from {low} to {high}"));
        }
    }

    pub(super) fn time(&mut self, key: &str, value: Duration) {
        if !(Duration::from_millis(10)..=Duration::from_secs(600)).contains(&value) {
            self.problem(key, "must be from 10ms to 10m");
        }
    }

    /// The service that `url`, `model` and `api_key_env` name; `path` is what is asked there.
    pub(super) fn endpoint(
        &mut self,
        url: Option<String>,
        path: &str,
        model: Option<String>,
        api_key_env: Option<String>,
    ) -> Option<Endpoint> {
        let url = self.url(url, path);
        let model = model.filter(|model| !model.trim().is_empty());
        if model.is_none() {
            self.problem("model", "is missing; name the model as the service knows it");
        }
        let key = api_key_env.map(|variable| self.key(&variable));
        Some(Endpoint { section: self.section, url: url?, model: model?, key: key.flatten() })
    }

    fn url(&mut self, base: Option<String>, path: &str) -> Option<Url> {
        let Some(base) = base else {
            self.problem(
                "url",
                "is missing; name the service's base address, such as http://localhost:8000/v1",
            );
            return None;
        };
        let parsed = Url::parse(&base).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(mut url) = parsed else {
            self.problem("url", "must be an address that begins with http:// or https://");
            return None;
        };
        if !url.username().is_empty() || url.password().is_some() {
            // Addresses are logged.
            self.problem(
                "url",
                "must not hold a name or password; put the key into a variable that api_key_env names",
            );
            return None;
        }
        if url.query().is_some() || url.fragment().is_some() {
            self.problem("url", "must end with its path, such as /v1");
            return None;
        }
        let base = url.path().trim_end_matches('/').to_owned();
        // Whoever copied the full address from somewhere means the same.
        let base = base.strip_suffix(path).map_or(base.as_str(), |base| base.trim_end_matches('/'));
        url.set_path(&format!("{base}/{path}"));
        Some(url)
    }

    /// The key itself, which stands in no file.
    fn key(&mut self, variable: &str) -> Option<Secret> {
        match env::var(variable) {
            Ok(key) if !key.trim().is_empty() => Some(Secret::new(key.trim().to_owned())),
            _ => {
                // Not named: somebody may have written the key itself here.
                self.problem(
                    "api_key_env",
                    "names an environment variable that is not set; set it to the key, or leave this out if the \
                     service needs none",
                );
                None
            }
        }
    }
}
