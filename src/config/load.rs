//! Reading the files and the environment.

use std::{env, path::Path};

use config::{Environment, File, FileFormat};
use serde_json::Value;

use super::{ConfigError, RawSettings, Settings, keys, sources};

/// Picks the profile file `{value}.toml` that is laid over `default.toml`.
pub const PROFILE_VARIABLE: &str = "ASKBACK_PROFILE";

/// Reads `default.toml` in `directory`, lays the profile's file and then `ASKBACK__…` variables
/// over it, and validates the result.
///
/// # Errors
/// [`ConfigError`], naming every key that is wrong and how to put it right.
pub fn load(directory: &Path) -> Result<Settings, ConfigError> {
    let profile = env::var(PROFILE_VARIABLE).ok().filter(|profile| !profile.is_empty());
    let files = ["default"].into_iter().chain(profile.as_deref());
    let mut builder = config::Config::builder();
    for name in files {
        // A profile is a file's name, never a way out of the folder.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return Err(ConfigError::Unreadable(format!(
                "{PROFILE_VARIABLE} must be a plain name, not a path"
            )));
        }
        let path = directory.join(format!("{name}.toml"));
        if !path.is_file() {
            return Err(ConfigError::Unreadable(format!(
                "there is no {}; point --config (or ASKBACK_CONFIG_DIR) at the folder that holds default.toml",
                path.display()
            )));
        }
        builder = builder.add_source(File::from(path).format(FileFormat::Toml));
    }
    let merged = builder
        .add_source(environment())
        .build()
        .and_then(config::Config::try_deserialize::<Value>)
        .map_err(|error| ConfigError::Unreadable(error.to_string()))?;
    validate(merged)
}

fn environment() -> Environment {
    Environment::with_prefix("ASKBACK")
        .prefix_separator("__")
        .separator("__")
        .try_parsing(true)
        // A variable that a compose file passes on unset is as good as none.
        .ignore_empty(true)
        .list_separator(",")
        .with_list_parse_key("server.allowed_hosts")
        .with_list_parse_key("server.allowed_origins")
        .with_list_parse_key("auth.jwt.algorithms")
        .with_list_parse_key("auth.jwt.audiences")
        .with_list_parse_key("clarify.skip_clients")
        .with_list_parse_key("clarify.state_keys")
}

/// Turns merged raw values into settings.
fn validate(merged: Value) -> Result<Settings, ConfigError> {
    let mut problems = Vec::new();
    let mut schema = schemars::schema_for!(RawSettings).to_value();
    // Sources are checked below, each against its kind; here the key merely exists.
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("sources".to_owned(), Value::Bool(true));
    }
    keys::unknown(&merged, &schema, "", &mut problems);
    let raw: RawSettings = serde_path_to_error::deserialize(merged).map_err(|error| {
        ConfigError::Invalid(vec![super::Problem::new(error.path().to_string(), error.inner().to_string())])
    })?;
    let server = raw.server.validate(&mut problems);
    let auth = raw.auth.validate(&server.address, &mut problems);
    let settings = Settings {
        server,
        data: raw.data,
        embedding: raw.embedding.validate(&mut problems),
        rerank: raw.rerank.and_then(|rerank| rerank.validate(&mut problems)),
        clarify: raw.clarify.validate(&mut problems),
        auth,
        access: raw.access.validate(&mut problems),
        limits: raw.limits.validate(&mut problems),
        log: raw.log,
        sources: sources::validate(raw.sources, &mut problems),
    };
    if problems.is_empty() { Ok(settings) } else { Err(ConfigError::Invalid(problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(value: Value) -> Vec<String> {
        match validate(value) {
            Ok(_) => Vec::new(),
            Err(ConfigError::Invalid(problems)) => problems.iter().map(ToString::to_string).collect(),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn an_empty_configuration_is_the_defaults() {
        let settings = validate(json!({})).unwrap();
        assert_eq!(settings.server.address.to_string(), "127.0.0.1:8080");
        assert_eq!(settings.clarify.max_rounds, 2);
        assert_eq!(settings.clarify.wait.as_secs(), 45);
        assert_eq!(settings.clarify.state_ttl.as_secs(), 900);
        assert!(settings.sources.is_empty());
    }

    #[test]
    fn every_problem_is_reported_with_its_key() {
        let found = problems(json!({
            "server": {"address": "here", "adress": "x"},
            "clarify": {"max_rounds": 0, "wait": "0s"},
            "sources": [{"slug": "Bad Slug", "kind": "documents", "path": "docs"}],
        }));
        let keys: Vec<&str> = found.iter().filter_map(|p| p.split(": ").next()).collect();
        assert_eq!(
            keys,
            [
                "server.adress",
                "server.address",
                "clarify.max_rounds",
                "clarify.wait",
                "sources[Bad Slug].slug"
            ]
        );
    }

    #[test]
    fn a_wrong_type_names_its_key() {
        assert!(problems(json!({"clarify": {"wait": 45}})).iter().all(|p| p.starts_with("clarify.wait: ")));
    }

    #[test]
    fn keys_of_models_are_checked_like_all_others() {
        assert_eq!(
            problems(json!({"embedding": {"query_prefx": "query: "}, "rerank": {"timout": "1s"}})),
            [
                "embedding.query_prefx: there is no such key; did you mean `query_prefix`?",
                "rerank.timout: there is no such key; did you mean `timeout`?",
                "rerank.url: is missing; name the service's base address, such as http://localhost:8000/v1",
                "rerank.model: is missing; name the model as the service knows it",
            ]
        );
        let rerank = json!({"url": "https://models.example.com/v1", "model": "m", "timeout": "1s"});
        let settings = validate(json!({"rerank": rerank})).unwrap();
        let rerank = settings.rerank.unwrap();
        assert_eq!(rerank.endpoint.url.as_str(), "https://models.example.com/v1/rerank");
        assert_eq!((rerank.timeout.as_secs(), rerank.top, rerank.weight), (1, 30, 0.5));
    }

    #[test]
    fn a_source_key_that_does_not_exist_finds_the_nearest() {
        let source =
            |key: &str| json!({"sources": [{"slug": "a", "kind": "documents", "path": "docs", key: "x"}]});
        assert_eq!(
            problems(source("descripton")),
            ["sources[a].descripton: there is no such key; did you mean `description`?"]
        );
        assert_eq!(
            problems(source("exlude")),
            ["sources[a].exlude: there is no such key; did you mean `exclude`?"]
        );
        assert_eq!(
            problems(json!({"sources": [{"slug": "a", "kind": "document", "path": "docs"}]})),
            ["sources[a].kind: `document` is not a kind; did you mean `documents`?"]
        );
    }

    #[test]
    fn two_sources_cannot_share_a_slug() {
        let one = json!({"slug": "a", "kind": "documents", "path": "docs"});
        assert_eq!(
            problems(json!({"sources": [one, one]})),
            ["sources[a].slug: is used by two sources; slugs are unique"]
        );
    }

    #[test]
    fn anonymous_access_from_other_machines_is_a_decision() {
        let open = |allow: bool| {
            problems(json!({"server": {"address": "0.0.0.0:8080"}, "auth": {"allow_anonymous": allow}}))
        };
        assert!(open(true).is_empty());
        assert!(open(false).first().is_some_and(|p| p.starts_with("auth.allow_anonymous: ")));
    }
}
