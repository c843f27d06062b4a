//! The policies a config names: found, read and compiled.

use std::path::{Path, PathBuf};

use callgate_call::Surface;
use callgate_document::{At, Diagnostic, Node, Problems, Source, SourceSpan, Warning};
use callgate_effects::{Catalogue, Entry};
use callgate_policy::{Policies, PolicyDocument, Relaxation, builtin, builtins};

use crate::error::{ConfigError, Rejected};
use crate::exposed::{self, Exposed};
use crate::file::WrittenPolicy;
use crate::find;
use crate::glob::{FileGlob, is_glob};
use crate::watch::Watched;

/// The prefix of policies that come with the binary.
const BUILTIN: &str = "builtin:";
const STARTER: &str = "builtin:starter";

/// Policies that are compiled, and where they came from.
#[derive(Debug)]
pub struct PolicySet {
    /// The policies. `None` if the operator decided that nothing is judged.
    pub compiled: Option<Policies>,
    /// The names of the files and built-in policies, in order.
    pub origins: Vec<String>,
    /// What to watch for changes.
    pub watched: Vec<Watched>,
    /// Things that are probably mistakes.
    pub warnings: Vec<Warning>,
    /// The texts, to show warnings in.
    pub sources: Vec<Source>,
    /// What entries of `policies` take away from built-in policies, one text for each.
    pub relaxed: Vec<Relaxed>,
    /// The files that were read, the config's own among them.
    pub files: Vec<PathBuf>,
    /// Which of them other users can change.
    pub exposed: Vec<Exposed>,
    /// Where in `sources` the policies are.
    pub parts: Vec<PolicyLocation>,
}

/// A built-in policy with something taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relaxed {
    /// Its name.
    pub policy: String,
    /// What is taken away, in a few words.
    pub what: String,
}

/// Reads and compiles the named policy files and built-in policies.
pub fn load_policies(files: &[PathBuf]) -> Result<PolicySet, ConfigError> {
    let mut gathered = Gathered::default();
    for file in files {
        let name = file.to_string_lossy();
        match name.strip_prefix(BUILTIN) {
            Some(_) if gathered.whole_builtin(&name) => {}
            Some(_) => return Err(ConfigError::NoSuchPolicy(name.into_owned())),
            None => gathered.file(find::read(file, "policy")?, file),
        }
    }
    let set = gathered.compile(&Surface::ALL);
    set.map_err(|(sources, problems)| {
        Rejected { what: "policy", sources, problems, watched: Vec::new() }.into()
    })
}

/// Policies that are not compiled yet. The sources come first, so that documents can borrow from
/// them.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    sources: Vec<Source>,
    parts: Vec<PolicyLocation>,
    origins: Vec<String>,
    relaxed: Vec<Relaxed>,
    watched: Vec<Watched>,
    /// Every file that was read.
    files: Vec<PathBuf>,
    /// Tools that the config adds to the catalogue.
    tools: Vec<Entry>,
}

/// Where in the sources policies are.
#[derive(Debug)]
pub enum PolicyLocation {
    /// A policy file.
    File(usize),
    /// These policies of a file: of the config, or of a built-in policy with something taken away.
    Inline(usize, Vec<Node>),
}

impl Gathered {
    /// A config file, which may contain policies.
    pub(crate) fn config(&mut self, source: Source, path: &Path) {
        self.files.push(path.to_owned());
        self.sources.push(source);
    }

    /// Tools that the config adds to the catalogue.
    pub(crate) fn tools(&mut self, tools: &[Entry]) {
        self.tools = tools.to_vec();
    }

    pub(crate) fn starter(&mut self) {
        self.whole_builtin(STARTER);
    }

    /// Adds a built-in policy as it is, if there is one of that name.
    fn whole_builtin(&mut self, name: &str) -> bool {
        let Some(source) = builtin(name) else { return false };
        let policy = At { value: name.to_owned(), span: SourceSpan::default() };
        let whole = Relaxation::none(policy).apply(&source, &mut Problems::new(&source));
        self.add_builtin(name.to_owned(), source, whole);
        true
    }

    /// Adds what an entry of `policies` leaves of a built-in policy.
    fn relaxed_builtin(&mut self, relaxed: &Relaxation, problems: &mut Problems<'_>) {
        let name = &relaxed.policy;
        let Some(source) = builtin(&name.value) else { return no_such(name, problems) };
        let left = relaxed.apply(&source, problems);
        let mut origin = name.value.clone();
        if let Some(what) = relaxed.describe() {
            origin = format!("{origin} ({what})");
            self.relaxed.push(Relaxed { policy: name.value.clone(), what });
        }
        self.add_builtin(origin, source, left);
    }

    fn add_builtin(&mut self, origin: String, source: Source, policy: Option<Node>) {
        self.origins.push(origin);
        self.parts.push(PolicyLocation::Inline(self.sources.len(), policy.into_iter().collect()));
        self.sources.push(source);
    }

    /// Policies of the config file itself, which was gathered first.
    pub(crate) fn inline(&mut self, nodes: Vec<Node>) {
        if let Some(config) = self.sources.first() {
            self.origins.push(config.name.clone());
            self.parts.push(PolicyLocation::Inline(0, nodes));
        }
    }

    fn file(&mut self, source: Source, path: &Path) {
        self.watched.push(Watched::file(path));
        self.files.push(path.to_owned());
        self.origins.push(source.name.clone());
        self.parts.push(PolicyLocation::File(self.sources.len()));
        self.sources.push(source);
    }

    /// The entries of `policies` in the config file at `config`.
    pub(crate) fn listed(
        &mut self,
        list: &[WrittenPolicy],
        config: &Path,
        problems: &mut Problems<'_>,
    ) {
        for entry in list {
            match entry {
                WrittenPolicy::Relaxed(relaxed) => self.relaxed_builtin(relaxed, problems),
                WrittenPolicy::Inline(node) => self.inline(vec![node.clone()]),
                WrittenPolicy::Named(text) if text.value.starts_with(BUILTIN) => {
                    if !self.whole_builtin(&text.value) {
                        no_such(text, problems);
                    }
                }
                WrittenPolicy::Named(text) if is_glob(&text.value) => {
                    self.glob(text, config, problems);
                }
                WrittenPolicy::Named(text) => {
                    let path = relative_to(config, &text.value);
                    self.watched.push(Watched::file(&path));
                    self.read(&path, text, problems);
                }
            }
        }
    }

    fn glob(&mut self, text: &At<String>, config: &Path, problems: &mut Problems<'_>) {
        let glob = match FileGlob::new(&relative_to(config, &text.value)) {
            Ok(glob) => glob,
            Err(why) => {
                let message = format!("cannot read the glob `{}`", text.value);
                problems.add(text.span, message).label(why);
                return;
            }
        };
        // A glob over the policies may match the config itself.
        let files = glob.expand().into_iter().filter(|path| !same_file(path, config));
        let files: Vec<PathBuf> = files.collect();
        self.watched.push(Watched::glob(glob));
        for path in &files {
            // Reading a named pipe would block until something writes to it.
            match path.is_file() {
                true => self.read(path, text, problems),
                false => {
                    let message = format!("`{}` is not a file that can be read", path.display());
                    problems
                        .add(text.span, message)
                        .hint("remove it, or name the policies one by one");
                }
            }
        }
        if files.is_empty() {
            // A missing folder or a typing error must not silently remove rules.
            problems
                .add(text.span, format!("no file matches `{}`", text.value))
                .hint("paths are relative to the folder of this file");
        }
    }

    fn read(&mut self, path: &Path, text: &At<String>, problems: &mut Problems<'_>) {
        match find::read(path, "policy") {
            Ok(source) => {
                self.files.push(path.to_owned());
                self.origins.push(source.name.clone());
                self.parts.push(PolicyLocation::File(self.sources.len()));
                self.sources.push(source);
            }
            Err(error) => {
                let builtin = format!("{BUILTIN}{}", text.value);
                let hint = match builtins().any(|known| known == builtin) {
                    true => format!("did you mean `{builtin}`?"),
                    false => "paths are relative to the folder of this file".to_owned(),
                };
                problems.add(text.span, error.to_string()).hint(hint);
            }
        }
    }

    /// What to watch for changes.
    pub(crate) fn watched(&self) -> &[Watched] {
        &self.watched
    }

    /// Compiles all of them, or returns every problem.
    pub(crate) fn compile(
        self,
        served: &[Surface],
    ) -> Result<PolicySet, (Vec<Source>, Vec<Diagnostic>)> {
        let compiled = {
            let documents: Vec<PolicyDocument<'_>> =
                self.parts.iter().filter_map(|part| part.document(&self.sources)).collect();
            let catalogue = Catalogue::builtin().with(self.tools.iter().cloned());
            Policies::compile_documents(&documents, &catalogue, served)
        };
        match compiled {
            Err(problems) => Err((self.sources, problems)),
            Ok((policies, warnings)) => {
                let compiled = (!self.parts.is_empty()).then_some(policies);
                let Self { sources, parts, mut origins, relaxed, watched, files, .. } = self;
                origins.dedup();
                let exposed = exposed::among(&files);
                Ok(PolicySet {
                    compiled,
                    origins,
                    relaxed,
                    watched,
                    warnings,
                    sources,
                    files,
                    exposed,
                    parts,
                })
            }
        }
    }
}

impl PolicyLocation {
    fn document<'s>(&self, sources: &'s [Source]) -> Option<PolicyDocument<'s>> {
        match self {
            Self::File(at) => sources.get(*at).map(PolicyDocument::file),
            Self::Inline(at, nodes) => {
                sources.get(*at).map(|source| PolicyDocument::part(source, nodes.clone()))
            }
        }
    }
}

/// Policies without a rule, which know the tools of agents.
pub(crate) fn no_rules() -> Result<Policies, (Vec<Source>, Vec<Diagnostic>)> {
    let compiled = Policies::compile_documents(&[], &Catalogue::builtin(), &[]);
    compiled.map(|(policies, _)| policies).map_err(|problems| (Vec::new(), problems))
}

fn no_such(name: &At<String>, problems: &mut Problems<'_>) {
    let known: Vec<String> = builtins().map(|name| format!("`{name}`")).collect();
    problems
        .add(name.span, format!("unknown policy `{}`", name.value))
        .hint(format!("the built-in policies are {}", known.join(", ")));
}

/// A path of the config, relative to its folder.
pub(crate) fn relative_to(config: &Path, path: &str) -> PathBuf {
    config.parent().unwrap_or(Path::new("")).join(path)
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
