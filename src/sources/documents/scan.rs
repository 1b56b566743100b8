//! Finding the files of a source.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use walkdir::{DirEntry, WalkDir};

use super::settings::DocumentsSettings;
use crate::store::Stamp;

/// Deepest folder looked into.
const MAX_DEPTH: usize = 64;

/// A file that was found.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Where it is.
    pub(super) location: PathBuf,
    /// How it looked, to tell later whether it changed.
    pub(super) stamp: Stamp,
}

/// The files of a source by path relative to its root, with `/` separators, and what was left out.
pub(super) struct Scan {
    pub(super) files: BTreeMap<String, Found>,
    pub(super) warnings: Vec<String>,
    /// Files and folders that could not be looked at: they may be there or not.
    pub(super) unreadable: Vec<String>,
}

impl Scan {
    /// Whether nothing can be said about `path`.
    pub(super) fn is_unknown(&self, path: &str) -> bool {
        self.unreadable.iter().any(|unreadable| {
            unreadable.is_empty()
                || path
                    .strip_prefix(unreadable.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// Finds the files that the settings select. Hidden files are skipped. Links are followed to files
/// inside the folder, as mounted configuration has them; nothing outside it gets in.
pub(super) fn scan(settings: &DocumentsSettings) -> Result<Scan, String> {
    let (include, exclude) =
        settings.selection().map_err(|error| format!("{}: {}", error.key, error.message))?;
    let root = &settings.path;
    if !root.exists() {
        return Err("the folder it reads from does not exist; check the source's path".to_owned());
    }
    let single = root.is_file();
    let inside = root
        .canonicalize()
        .map_err(|_| "the folder it reads from cannot be opened; check its permissions")?;
    let mut scan = Scan { files: BTreeMap::new(), warnings: Vec::new(), unreadable: Vec::new() };
    let walk = WalkDir::new(root).max_depth(MAX_DEPTH).follow_links(false).follow_root_links(true);
    for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry)) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().and_then(|path| relative(root, path, single)).unwrap_or_default();
                scan.warnings.push(format!("{path}: cannot be read; check its permissions"));
                scan.unreadable.push(path);
                continue;
            }
        };
        let linked = entry.path_is_symlink() && links_inside(&inside, entry.path());
        if !(entry.file_type().is_file() || linked || single) {
            continue;
        }
        let Some(path) = relative(root, entry.path(), single) else {
            scan.warnings.push("a file's name is not valid UTF-8; skipped".to_owned());
            continue;
        };
        if !single && (!include.is_match(&path) || exclude.is_match(&path)) {
            continue;
        }
        let Ok(metadata) = entry.path().metadata() else {
            scan.warnings.push(format!("{path}: cannot be read; check its permissions"));
            scan.unreadable.push(path);
            continue;
        };
        if metadata.len() > settings.max_file_bytes.as_u64() {
            let limit = settings.max_file_bytes;
            scan.warnings.push(format!("{path}: is larger than max_file_bytes ({limit}); skipped"));
            continue;
        }
        let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let stamp = Stamp {
            size: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
            modified_ns: modified.map_or(0, |at| i64::try_from(at.as_nanos()).unwrap_or(i64::MAX)),
        };
        scan.files.insert(path, Found { location: entry.path().to_owned(), stamp });
    }
    Ok(scan)
}

/// Whether a link leads to a file below `inside`.
fn links_inside(inside: &Path, link: &Path) -> bool {
    link.canonicalize().is_ok_and(|target| target.starts_with(inside) && target.is_file())
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(|name| name.starts_with('.'))
}

fn relative(root: &Path, path: &Path, single: bool) -> Option<String> {
    let inside = if single { Path::new(path.file_name()?) } else { path.strip_prefix(root).ok()? };
    let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/"))
}
