//! Opaque cursors over lists that are sorted by a name.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

use super::Failure;

/// Most entries of one page.
pub const PAGE_SIZE: usize = 50;

/// The page of `items` after `cursor`, and the cursor of the next. `name` is what they are sorted
/// by: a cursor holds the last name shown, so entries that come or go between pages shift nothing.
pub(crate) fn page<T>(
    mut items: Vec<T>,
    cursor: Option<&str>,
    name: impl Fn(&T) -> &str,
) -> Result<(Vec<T>, Option<String>), Failure> {
    items.sort_by(|a, b| name(a).cmp(name(b)));
    if let Some(cursor) = cursor {
        let after = BASE64_URL_SAFE_NO_PAD
            .decode(cursor)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or_else(|| {
                Failure::argument(
                    "cursor",
                    "is not one that this list handed out; leave it out to start over",
                )
            })?;
        items.retain(|item| name(item) > after.as_str());
    }
    let more = items.len() > PAGE_SIZE;
    items.truncate(PAGE_SIZE);
    let next = items.last().filter(|_| more).map(|last| BASE64_URL_SAFE_NO_PAD.encode(name(last)));
    Ok((items, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_everything_once() {
        let all: Vec<String> = (0..120).map(|n| format!("s{n:03}")).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        let mut pages = 0;
        loop {
            let (items, next) = page(all.clone(), cursor.as_deref(), |s| s).unwrap();
            pages += 1;
            seen.extend(items);
            match next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!((pages, seen), (3, all));
    }

    #[test]
    fn a_full_last_page_has_no_next() {
        let all: Vec<String> = (0..50).map(|n| format!("s{n:03}")).collect();
        assert_eq!(page(all, None, |s| s).unwrap().1, None);
    }

    #[test]
    fn a_made_up_cursor_is_an_invalid_argument() {
        assert!(page(vec!["a".to_owned()], Some("§§"), |s| s).is_err());
    }
}
