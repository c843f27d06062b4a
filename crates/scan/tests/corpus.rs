//! Recorded model responses contain no secrets: none may be found in them, not even in the
//! signatures and encrypted blocks, which are long and random.

use std::fs;
use std::path::{Path, PathBuf};

/// The responses of the corpus, streams and bodies.
fn recordings(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            recordings(&path, found);
        } else if path.file_stem().is_some_and(|stem| stem == "upstream") {
            found.push(path);
        }
    }
}

#[test]
fn recordings_hold_no_secret() {
    let mut paths = Vec::new();
    recordings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus"), &mut paths);
    assert!(paths.len() > 100, "where is the corpus?");
    let mut wrong = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for found in callgate_scan::secrets(&text) {
            wrong.push(format!("{}: {} `{}`", path.display(), found.detector, &text[found.span]));
        }
        let shown = callgate_scan::redact_json(&text);
        if shown != text {
            wrong.push(format!("{}: changed as JSON", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
