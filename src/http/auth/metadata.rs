//! Protected-resource metadata (RFC 9728): where clients learn which issuer to ask for a token.

use axum::{
    Json, Router,
    http::{Method, header},
    response::IntoResponse,
    routing::get,
};
use reqwest::Url;
use serde_json::{Value, json};
use tower_http::cors::{Any, CorsLayer};

use crate::{
    access::Scope,
    identity::{Identity, JwtOptions},
};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Where the metadata of `resource` is: the well-known path goes between host and path (RFC 9728,
/// section 3.1).
pub(super) fn address(resource: &Url) -> String {
    let mut address = resource.clone();
    address.set_path(&path(resource));
    address.into()
}

fn path(resource: &Url) -> String {
    format!("{WELL_KNOWN}{}", resource.path().trim_end_matches('/'))
}

/// The routes, outside of every check; none where there is no issuer to be found.
pub(in crate::http) fn routes(identity: &Identity) -> Router {
    let Identity::Jwt(jwt) = identity else { return Router::new() };
    let document = document(jwt.options());
    let answer = get(move || async move {
        ([(header::CACHE_CONTROL, "public, max-age=300")], Json(document)).into_response()
    });
    // Behind a proxy that shortens paths the resource's own path is not `/mcp`; all of these are it.
    let mut paths = vec![WELL_KNOWN.to_owned(), format!("{WELL_KNOWN}/mcp"), path(&jwt.options().resource)];
    paths.sort_unstable();
    paths.dedup();
    let routes = paths.iter().filter(|path| !path.contains(['{', '}']));
    let routes = routes.fold(Router::new(), |router, path| router.route(path, answer.clone()));
    // Pages in browsers are clients too, and there is nothing here that is not for everybody.
    routes.layer(CorsLayer::new().allow_origin(Any).allow_methods([Method::GET]).allow_headers(Any))
}

fn document(options: &JwtOptions) -> Value {
    json!({
        "resource": options.resource.as_str(),
        "authorization_servers": [options.issuer],
        "scopes_supported": Scope::ALL.map(Scope::name),
        "bearer_methods_supported": ["header"],
        "resource_name": "askback",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_well_known_path_goes_before_the_resources_own() {
        for (resource, metadata) in [
            ("https://a.example.com/mcp", "https://a.example.com/.well-known/oauth-protected-resource/mcp"),
            ("https://a.example.com", "https://a.example.com/.well-known/oauth-protected-resource"),
            (
                "https://a.example.com:8443/x/mcp/",
                "https://a.example.com:8443/.well-known/oauth-protected-resource/x/mcp",
            ),
        ] {
            assert_eq!(address(&resource.parse().unwrap()), metadata);
        }
    }
}
