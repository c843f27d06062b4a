//! The recipes of CONTRIBUTING.md, followed literally: each is applied to a copy of the tree, and the
//! commands that it names must succeed there.
//!
//! A recipe is a file in `recipes/`: the section that it follows, its edits, and its commands. The
//! section must name every file that is edited. One recipe is followed by default, all of them with
//! `CALLGATE_TEST_ALL`.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is a failed test"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

/// The one that is followed by default: conditions are added most often.
const USUAL: &str = "condition";

#[test]
fn recipes_work() {
    let all = std::env::var_os("CALLGATE_TEST_ALL").is_some();
    let one = std::env::var("CALLGATE_RECIPE").unwrap_or_else(|_| USUAL.to_owned());
    for recipe in recipes().iter().filter(|recipe| all || recipe.name == one) {
        recipe.follow();
    }
}

#[test]
fn every_edited_file_is_in_the_text() {
    let contributing = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    for recipe in recipes() {
        let heading = format!("\n## {}\n", recipe.text("section"));
        let (_, section) = contributing.split_once(&heading).expect(&heading);
        let section = section.split("\n## ").next().unwrap();
        let mut paths = Vec::new();
        for (kind, key) in [("new", "path"), ("edit", "path"), ("copy", "to")] {
            paths.extend(recipe.each(kind).map(|step| text(step, key)));
        }
        for path in paths {
            let file = section.contains(path);
            let folder = path.rsplit_once('/').is_some_and(|(folder, _)| {
                section.contains(&format!("`{folder}/`"))
                    || section.contains(&format!("`{folder}/<"))
            });
            assert!(file || folder, "`{}` does not name {path}", recipe.text("section"));
        }
        for run in recipe.each("run") {
            // Without the filter that selects the tests of the example.
            let words: Vec<&str> = text(run, "cargo").split(' ').collect();
            let target = words.iter().rposition(|word| word.starts_with("--")).unwrap() + 2;
            let command = words[..target].join(" ");
            assert!(section.contains(&command), "`{}` does not run {command}", recipe.name);
        }
    }
}

struct Recipe {
    name: String,
    steps: Table,
}

fn recipes() -> Vec<Recipe> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recipes");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| Recipe {
            name: file.file_stem().unwrap().to_string_lossy().into_owned(),
            steps: fs::read_to_string(file).unwrap().parse().unwrap(),
        })
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn text<'t>(table: &'t Table, key: &str) -> &'t str {
    table.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("a step without `{key}`"))
}

impl Recipe {
    fn text(&self, key: &str) -> &str {
        text(&self.steps, key)
    }

    fn each(&self, kind: &str) -> impl Iterator<Item = &Table> {
        let steps = self.steps.get(kind).and_then(Value::as_array);
        steps.into_iter().flatten().map(|step| step.as_table().unwrap())
    }

    fn follow(&self) {
        println!("following the recipe `{}`", self.name);
        let tree = scratch();
        for copy in self.each("copy") {
            copy_renamed(&tree.join(text(copy, "from")), &tree.join(text(copy, "to")), copy);
        }
        for new in self.each("new") {
            write(&tree.join(text(new, "path")), text(new, "text"));
        }
        for edit in self.each("edit") {
            let path = tree.join(text(edit, "path"));
            let (before, find) = (fs::read_to_string(&path).unwrap(), text(edit, "find"));
            assert_eq!(before.matches(find).count(), 1, "{find:?} in {}", path.display());
            let after = match edit.get("replace") {
                Some(_) => text(edit, "replace").to_owned(),
                None => format!("{find}{}", text(edit, "add")),
            };
            write(&path, &before.replace(find, &after));
        }
        for run in self.each("run") {
            self.run(&tree, run);
        }
        for shows in self.each("shows") {
            let page = fs::read_to_string(tree.join(text(shows, "path"))).unwrap();
            assert!(page.contains(text(shows, "text")), "{} does not show it", text(shows, "path"));
        }
    }

    /// Runs a command of the recipe. It shares what is built of libraries with this build, and leaves
    /// its own binaries elsewhere.
    fn run(&self, tree: &Path, run: &Table) {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(text(run, "cargo").split(' ').chain(["--offline"])).current_dir(tree);
        cargo
            .env("CARGO_BUILD_BUILD_DIR", target())
            .env("CARGO_TARGET_DIR", target().join("recipes"));
        for (key, value) in run.get("environment").and_then(Value::as_table).into_iter().flatten() {
            cargo.env(key, value.as_str().unwrap());
        }
        let output = cargo.output().expect("cargo");
        let shown = || {
            let (out, error) = (&output.stdout, &output.stderr);
            format!("{}\n{}", String::from_utf8_lossy(out), String::from_utf8_lossy(error))
        };
        assert!(
            output.status.success(),
            "recipe `{}`, {}:\n{}",
            self.name,
            text(run, "cargo"),
            shown()
        );
    }
}

/// The folder with everything that cargo builds.
fn target() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(set.unwrap_or_else(|| "target".into()))
}

/// A copy of the tree. Files that have not changed since the last time keep their date, so that cargo
/// does not build them again.
fn scratch() -> PathBuf {
    let tree = target().join("recipes/tree");
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root())
        .output()
        .expect("git");
    assert!(listed.status.success(), "git lists the files of the tree");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let files: BTreeSet<&str> = listed.split('\0').filter(|file| !file.is_empty()).collect();
    remove_others(&tree, &tree, &files);
    for file in files {
        let from = root().join(file);
        // Deleted, and not yet committed.
        if from.is_file() {
            let bytes = fs::read(from).unwrap();
            let bytes = if file == "Cargo.toml" { another_version(bytes) } else { bytes };
            write_bytes(&tree.join(file), &bytes);
        }
    }
    tree
}

/// Cargo tells the crates of the two trees apart by their version alone: with the same one, a build of
/// the copy would replace what this build has made.
fn another_version(manifest: Vec<u8>) -> Vec<u8> {
    let manifest = String::from_utf8(manifest).unwrap();
    let (before, rest) = manifest.split_once("[workspace.package]\nversion = \"").unwrap();
    let (version, after) = rest.split_once('"').unwrap();
    format!("{before}[workspace.package]\nversion = \"{version}-recipe\"{after}").into_bytes()
}

/// Removes what an earlier recipe has left.
fn remove_others(tree: &Path, folder: &Path, files: &BTreeSet<&str>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(tree).unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            remove_others(tree, &path, files);
        } else if !files.contains(name.as_str()) || !root().join(&name).is_file() {
            fs::remove_file(&path).unwrap();
        }
    }
}

fn copy_renamed(from: &Path, to: &Path, step: &Table) {
    if from.is_dir() {
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            copy_renamed(&path, &to.join(path.file_name().unwrap()), step);
        }
        return;
    }
    let Ok(mut text) = String::from_utf8(fs::read(from).unwrap()) else {
        return write_bytes(to, &fs::read(from).unwrap());
    };
    for (old, new) in step.get("rename").and_then(Value::as_table).into_iter().flatten() {
        text = text.replace(old, new.as_str().unwrap());
    }
    write_bytes(to, text.as_bytes());
}

fn write(path: &Path, text: &str) {
    write_bytes(path, text.as_bytes());
}

fn write_bytes(path: &Path, bytes: &[u8]) {
    if fs::read(path).is_ok_and(|before| before == bytes) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
