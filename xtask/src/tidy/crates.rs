//! What every crate must have, and the toolchain they agree on.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// A member of the workspace, as cargo describes it.
#[derive(Debug, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) description: String,
    /// What it needs to be built: everything but dev-dependencies.
    pub(crate) uses: Vec<String>,
    /// The root files of its library and programs.
    pub(crate) roots: Vec<String>,
}

/// Reads `cargo metadata --no-deps`.
pub(crate) fn members(metadata: &Value) -> Vec<Member> {
    list(metadata, "packages").map(member).collect()
}

fn member(package: &Value) -> Member {
    let needed = list(package, "dependencies").filter(|it| text(it, "kind") != "dev");
    let shipped = list(package, "targets").filter(|target| {
        list(target, "kind").any(|kind| matches!(kind.as_str(), Some("lib" | "bin" | "proc-macro")))
    });
    Member {
        name: text(package, "name"),
        description: text(package, "description"),
        uses: needed.map(|it| text(it, "name")).collect(),
        roots: shipped.map(|target| text(target, "src_path")).collect(),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Each crate says what it is for, to cargo and to its reader.
pub(crate) fn check(members: &[Member], root: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for member in members {
        if member.description.is_empty() {
            wrong.push(format!("{}: no description in Cargo.toml", member.name));
        }
        for path in &member.roots {
            let source = fs::read_to_string(path).unwrap_or_default();
            if !has_docs(&source) {
                let shown = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
                wrong.push(format!("{}: does not begin with crate docs (//!)", shown.display()));
            }
        }
    }
    wrong
}

/// Whether a file begins with docs, perhaps after attributes.
fn has_docs(source: &str) -> bool {
    let mut lines = source.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with("#!["));
    first.is_some_and(|line| line.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty()))
}

/// The oldest Rust that is promised is the one that is pinned, so it is the one that is tested.
pub(crate) fn toolchain(root: &Path) -> Result<Vec<String>> {
    let pinned = value_of(root, "rust-toolchain.toml", "channel")?;
    let mut wrong = Vec::new();
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        let promised = value_of(root, manifest, "rust-version")?;
        if !agree(&pinned, &promised) {
            wrong.push(format!(
                "{manifest}: rust-version {promised} is not the {pinned} of rust-toolchain.toml"
            ));
        }
    }
    Ok(wrong)
}

fn agree(pinned: &str, promised: &str) -> bool {
    let behind = pinned.strip_prefix(promised);
    behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
}

/// The value of the line `key = "value"`.
fn value_of(root: &Path, file: &str, key: &str) -> Result<String> {
    let text = fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
    let value = text.lines().find_map(|line| {
        let (found, value) = line.split_once('=')?;
        (found.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    });
    value.with_context(|| format!("{file} has no {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read() {
        let metadata = serde_json::json!({"packages": [{
            "name": "callgate-gate",
            "description": null,
            "dependencies": [
                {"name": "callgate-call", "kind": null},
                {"name": "cc", "kind": "build"},
                {"name": "callgate-testkit", "kind": "dev"},
            ],
            "targets": [
                {"kind": ["lib"], "src_path": "lib.rs"},
                {"kind": ["test"], "src_path": "test.rs"},
            ],
        }]});
        let members = members(&metadata);
        assert_eq!(members[0].uses, ["callgate-call", "cc"]);
        assert_eq!(members[0].roots, ["lib.rs"]);
        let wrong = check(&members, Path::new("/"));
        assert_eq!(wrong.len(), 2, "no description, and no such file: {wrong:?}");
    }

    #[test]
    fn docs_are_seen() {
        assert!(has_docs("//! A gate.\n"));
        assert!(has_docs("#![no_main]\n\n//! A target."));
        assert!(!has_docs("//!\nuse x;"));
        assert!(!has_docs("use x;\n//! late"));
        assert!(!has_docs(""));
    }

    #[test]
    fn versions_agree() {
        assert!(agree("1.95.0", "1.95"));
        assert!(agree("1.95.0", "1.95.0"));
        assert!(!agree("1.95.0", "1.9"));
        assert!(!agree("1.95.0", "1.94"));
    }
}
