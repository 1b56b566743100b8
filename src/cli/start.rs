//! From settings to a service: what `serve` and `ask` have in common.

use std::sync::Arc;

use super::CliError;
use crate::{
    config::{Auth, Data, EmbeddingChoice, Settings},
    dialogue::Sealer,
    identity::{Identity, Jwt, Tokens},
    limits::Limits,
    mcp::Handler,
    search::{
        embedder::{Embedding, Fixed},
        embedding::MiniLm,
        remote::{RemoteEmbedding, RemoteReranker, Transport},
        rerank::Reranker,
    },
    service::Service,
    sources::registry::{Registry, Surroundings},
    store::{EmbeddingStore, SqliteState, state::StateStore},
};

/// A service that can be served.
pub struct Started {
    /// The sources.
    pub registry: Arc<Registry>,
    /// The MCP server over them.
    pub handler: Handler,
    /// How callers are told apart.
    pub identity: Arc<Identity>,
    /// What all processes of the deployment share.
    pub state: Arc<dyn StateStore>,
}

/// Opens the sources and puts the service together. Quick: indexes that have to be built are
/// built by whoever refreshes the sources.
///
/// # Errors
/// If the embedding or the state keys cannot be used.
pub fn start(settings: &Settings) -> Result<Started, String> {
    let surroundings = surroundings(Some(settings))?;
    let registry = Arc::new(Registry::open(&settings.sources, &surroundings));
    let sealer = Sealer::new(&settings.clarify.state_keys, settings.clarify.state_ttl)
        .map_err(|error| error.to_string())?;
    if settings.clarify.enabled && settings.clarify.state_keys.is_empty() {
        tracing::warn!(
            "clarify.state_keys is not set: a random key seals what travels between rounds, so an answer must come \
             back to this very process; replicas need a shared key"
        );
    }
    let state: Arc<dyn StateStore> = Arc::clone(&surroundings.state);
    let service =
        Service::new(Arc::clone(&registry), settings.clarify.clone(), Arc::clone(&state), &settings.access);
    let limits = Arc::new(Limits::new(settings.limits.clone()));
    let identity = Arc::new(identity(&settings.auth)?);
    Ok(Started { registry, handler: Handler::new(service, sealer, limits), identity, state })
}

fn identity(auth: &Auth) -> Result<Identity, String> {
    Ok(match auth {
        Auth::None => Identity::Anonymous,
        Auth::Tokens(known) => Identity::Tokens(Tokens::new(known.clone())),
        Auth::Jwt(options) => Identity::Jwt(Box::new(Jwt::new(options.as_ref().clone())?)),
    })
}

/// Opens the sources.
pub(super) fn open(settings: &Settings) -> Result<Registry, String> {
    Ok(Registry::open(&settings.sources, &surroundings(Some(settings))?))
}

/// What every source is given, by `settings` or as shipped. Asks nothing of models that are services:
/// the server starts without them, too.
pub(super) fn surroundings(settings: Option<&Settings>) -> Result<Surroundings, String> {
    let data_dir = settings.map_or_else(|| Data::default().dir, |settings| settings.data.dir.clone());
    let remote = settings.and_then(|settings| match &settings.embedding {
        EmbeddingChoice::Remote(options) => Some(options.as_ref().clone()),
        EmbeddingChoice::Bundled => None,
    });
    let rerank = settings.and_then(|settings| settings.rerank.clone());
    let transport = (remote.is_some() || rerank.is_some()).then(Transport::new).transpose()?;
    let embedding: Arc<dyn Embedding> = match remote.zip(transport.clone()) {
        Some((options, transport)) => {
            Arc::new(RemoteEmbedding::new(transport, options, Arc::new(EmbeddingStore::new(&data_dir))))
        }
        None => Arc::new(Fixed::new(Arc::new(MiniLm::load().map_err(|error| error.to_string())?))),
    };
    let reranker = rerank
        .zip(transport)
        .map(|(options, transport)| Arc::new(RemoteReranker::new(transport, options)) as Arc<dyn Reranker>);
    let state = Arc::new(SqliteState::new(&data_dir));
    Ok(Surroundings { data_dir, embedding, reranker, state, configs: Arc::from([]) })
}

impl From<String> for CliError {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}
