//! The Markdown files of the documentation, taken apart.

use std::fs;
use std::path::{Path, PathBuf};

/// A Markdown file of the documentation.
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
pub(crate) struct Block {
    pub(crate) line: usize,
    /// What follows the fence's backticks.
    pub(crate) info: String,
    pub(crate) text: String,
    /// The paragraph before it.
    pub(crate) before: String,
}

impl Block {
    /// The name of the file this block is, if it is one.
    pub(crate) fn file(&self) -> Option<&str> {
        let (language, name) = self.info.split_once(" file=")?;
        ["yaml", "json", "python", "javascript"].contains(&language).then_some(name)
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every page but those that are generated from `--help`.
pub(crate) fn pages() -> Vec<Page> {
    let mut names: Vec<String> =
        ["README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG"]
            .map(|name| format!("{name}.md"))
            .into();
    names.extend(["RELEASING.md".to_owned(), "crates/README.md".to_owned()]);
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().unwrap().is_dir() {
                folders.push(name);
            } else if name.ends_with(".md") && !GENERATED.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names.sort();
    names.iter().map(|name| page(name)).collect()
}

/// `crates/cli/tests/reference.rs` looks after these.
const GENERATED: [&str; 4] = [
    "docs/reference/cli.md",
    "docs/reference/config.md",
    "docs/reference/detectors.md",
    "docs/reference/exit-codes.md",
];

pub(crate) fn page(name: &str) -> Page {
    let text = fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    let (mut before, mut paragraph_over) = (String::new(), false);
    for (line, number) in text.lines().zip(1..) {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(info) => {
                let (info, before) = (info.trim().to_owned(), std::mem::take(&mut before));
                blocks.push(Block { line: number, info, text: String::new(), before });
                inside = true;
            }
            None if inside => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            None if line.trim().is_empty() => paragraph_over = true,
            None => {
                if std::mem::take(&mut paragraph_over) {
                    before.clear();
                }
                before.push_str(line);
                before.push(' ');
            }
        }
    }
    assert!(!inside, "{name}: a block is not closed");
    Page { name: name.to_owned(), text, blocks }
}

impl Page {
    /// The blocks whose commands are run.
    pub(crate) fn consoles(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.info == "console")
    }

    /// The lines outside of fenced blocks.
    pub(crate) fn prose(&self) -> impl Iterator<Item = &str> {
        let mut inside = false;
        self.text.lines().filter(move |line| {
            let fence = line.starts_with("```");
            inside ^= fence;
            !inside && !fence
        })
    }

    /// Everything in backticks.
    pub(crate) fn code_words(&self) -> Vec<String> {
        let words = self.prose().flat_map(|line| line.split('`').skip(1).step_by(2));
        words.map(str::to_owned).collect()
    }

    /// The words in backticks in the first column of a section's table.
    pub(crate) fn first_column(&self, section: &str) -> Vec<String> {
        let mut rows = self.prose().skip_while(|line| {
            !(line.starts_with('#') && line.trim_start_matches('#').trim() == section)
        });
        assert!(rows.next().is_some(), "{}: no section `{section}`", self.name);
        let rows = rows.take_while(|line| !line.starts_with('#'));
        let cells = rows.filter_map(|line| line.strip_prefix('|')?.split('|').next());
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
    }

    /// Where the relative links of the page lead.
    pub(crate) fn links(&self) -> Vec<String> {
        let targets = self
            .prose()
            .flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
        targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
    }
}
