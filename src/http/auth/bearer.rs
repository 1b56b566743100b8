//! The token of a request: in the `Authorization` header and nowhere else (RFC 6750, section 2.1). In
//! an address it would end up in logs.

use axum::http::{HeaderMap, header};

use crate::identity::Denied;

/// The token, if there is one.
pub(super) fn token(headers: &HeaderMap) -> Result<Option<&str>, Denied> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        // Two of them: the one a proxy looked at need not be the one looked at here.
        return match headers.contains_key(header::AUTHORIZATION) {
            true => Err(Denied::Invalid("there is more than one Authorization header")),
            false => Ok(None),
        };
    };
    let value = value.to_str().map_err(|_| Denied::Invalid("it has characters that no token has"))?;
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        // Other schemes are not ours; what they carry is not looked at.
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_of(values: &[&str]) -> Result<Option<String>, Denied> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        token(&headers).map(|token| token.map(str::to_owned))
    }

    #[test]
    fn is_what_follows_the_scheme() {
        assert_eq!(token_of(&["Bearer abc"]), Ok(Some("abc".to_owned())));
        assert_eq!(token_of(&["bearer  abc "]), Ok(Some("abc".to_owned())));
        assert_eq!(token_of(&["Bearer "]), Ok(Some(String::new())));
        for none in [&[][..], &["Basic YTpi"], &["Bearer"], &["Bearerabc"], &[""]] {
            assert_eq!(token_of(none), Ok(None), "{none:?}");
        }
        assert!(token_of(&["Bearer a", "Bearer b"]).is_err());
    }
}
