//! Self-protection: a group of rules that keeps agents from changing or stopping callgate, whatever the
//! policies say.

use std::path::{Component, Path, PathBuf};

use callgate_document::{Diagnostic, Node, Problems, Yaml, parse};
use callgate_effects::Catalogue;

use crate::document::PolicyDocument;
use crate::policies::Policies;
use crate::relax::without_examples;
use crate::{Source, compile, source};

/// The name of the group. Policies cannot have it.
pub const NAME: &str = "self-protection";

/// What is true of this installation.
#[derive(Debug, Clone, Default)]
pub struct Protection {
    /// callgate's files, as absolute paths.
    pub files: Vec<PathBuf>,
    /// Its folders.
    pub folders: Vec<PathBuf>,
    /// Beginnings of such paths: `callgate.db` stands for `callgate.db.journal`, too.
    pub prefixes: Vec<PathBuf>,
    /// The programs. Folders above them can be deleted, as `cargo clean` does.
    pub programs: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The process that judges.
    pub pid: u32,
    /// The port of the gateway.
    pub port: u16,
}

impl Policies {
    /// The same policies, and the rules that protect callgate.
    pub fn protected(mut self, protection: &Protection) -> Result<Self, Vec<Diagnostic>> {
        let source = Source {
            name: format!("builtin:{NAME}"),
            text: without_examples(include_str!("packs/protect.yaml")),
        };
        let mut problems = Problems::of_builtin(&source);
        if let Some(template) = parse(&source, &mut problems) {
            let mut filled = template.clone();
            protection.fill(&mut filled);
            let (as_written, filled) = (
                PolicyDocument::part(&source, vec![template]),
                PolicyDocument::part(&source, vec![filled]),
            );
            let sketches = source::policies(&as_written, &mut problems);
            let written = source::policies(&filled, &mut problems);
            for (mut policy, template) in written.into_iter().zip(sketches) {
                // Another path, port or process is not another rule.
                policy.sketch = template.sketch;
                // Its rules name no tools, so they need no catalogue.
                let policy = compile::policy(policy, &Catalogue::default(), &mut problems);
                self.push(policy);
            }
        }
        let problems = problems.into_list();
        if problems.is_empty() { Ok(self) } else { Err(problems) }
    }

    /// Whether callgate protects itself.
    pub fn is_protected(&self) -> bool {
        self.policies().iter().any(|policy| policy.name == NAME)
    }
}

impl Protection {
    /// Replaces the placeholders. The tree is a file of callgate's own, so its depth is known.
    pub(crate) fn fill(&self, node: &mut Node) {
        match &mut node.value {
            // Few texts have a placeholder.
            Yaml::String(text) if !text.contains('$') => {}
            Yaml::String(text) => match self.list(text) {
                Some(list) => node.value = Yaml::List(texts(node, &list)),
                None => {
                    let text = text.replace("$PID", &self.pid.to_string());
                    node.value = Yaml::String(text.replace("$PORT", &self.port.to_string()));
                }
            },
            Yaml::List(items) => {
                let mut filled = Vec::with_capacity(items.len());
                for mut item in std::mem::take(items) {
                    let list = match &item.value {
                        Yaml::String(text) => self.list(text),
                        _ => None,
                    };
                    if let Some(list) = list {
                        filled.extend(texts(&item, &list));
                    } else {
                        self.fill(&mut item);
                        filled.push(item);
                    }
                }
                *items = filled;
            }
            Yaml::Map(entries) => entries.iter_mut().for_each(|(_, node)| self.fill(node)),
            Yaml::Null | Yaml::Bool(_) | Yaml::Number { .. } => {}
        }
    }

    fn list(&self, placeholder: &str) -> Option<Vec<String>> {
        match placeholder {
            "$FILES" => Some(self.own()),
            "$FOLDERS" => Some(self.folders()),
            "$ABOVE" => Some(self.above()),
            "$RELATIVE" => Some(self.relative()),
            _ => None,
        }
    }

    /// callgate's own files, and everything in its folders.
    fn own(&self) -> Vec<String> {
        let whole = self.files.iter().chain(&self.folders).chain(&self.programs);
        let whole = whole.flat_map(|path| self.spellings(path));
        let begun = self.prefixes.iter().flat_map(|path| self.spellings(path));
        let whole = whole.flat_map(|path| [format!("{path}/**"), path]);
        let begun = begun.flat_map(|path| [format!("{path}*/**"), format!("{path}*")]);
        distinct(whole.chain(begun))
    }

    /// The folders that they are in.
    fn folders(&self) -> Vec<String> {
        let paths = self.files.iter().chain(&self.prefixes);
        let folders = paths.filter_map(|path| path.parent());
        distinct(folders.flat_map(|folder| self.spellings(folder)))
    }

    /// The folders above them: who deletes one deletes them. The root is in every policy's reach.
    fn above(&self) -> Vec<String> {
        let paths = self.files.iter().chain(&self.folders).chain(&self.prefixes);
        let folders = paths.flat_map(|path| path.ancestors().skip(1));
        let folders = folders.filter(|folder| folder.parent().is_some());
        distinct(folders.flat_map(|folder| self.spellings(folder)))
    }

    /// How they are spelled from the folders above them.
    fn relative(&self) -> Vec<String> {
        let ends = |path: &Path, more: &str| {
            let names: Vec<String> = path.components().filter_map(name).collect();
            (0..names.len())
                .map(|from| names.get(from..).unwrap_or_default().join("/") + more)
                .collect::<Vec<_>>()
        };
        let whole = self.files.iter().flat_map(|path| ends(path, ""));
        let begun = self.prefixes.iter().flat_map(|path| ends(path, "*"));
        distinct(whole.chain(begun).chain(["callgate.yaml".to_owned()]))
    }

    /// A path as a glob, and from the home directory.
    fn spellings(&self, path: &Path) -> Vec<String> {
        let in_home = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        let in_home = in_home.map(|rest| match rest.as_os_str().is_empty() {
            true => "~".to_owned(),
            false => format!("~/{}", literal(&rest.to_string_lossy())),
        });
        let whole = path.to_string_lossy();
        let whole = literal(whole.trim_end_matches('/'));
        std::iter::once(whole).chain(in_home).filter(|path| !path.is_empty()).collect()
    }
}

fn name(part: Component<'_>) -> Option<String> {
    match part {
        Component::Normal(name) => Some(literal(&name.to_string_lossy())),
        _ => None,
    }
}

/// A path in which the signs of globs match any character.
fn literal(path: &str) -> String {
    path.replace(['[', ']', '{', '}', '*', '!', '@', ','], "?")
}

fn texts(place: &Node, items: &[String]) -> Vec<Node> {
    let node = |text: &String| Node { span: place.span, value: Yaml::String(text.clone()) };
    items.iter().map(node).collect()
}

fn distinct(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut items: Vec<String> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}
