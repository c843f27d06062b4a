//! Which policy files apply, and what they compile to.

use std::env;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use callgate_facts::Catalogue;
use callgate_policy::{Diagnostic, Policies, Source, Warning, render, starter};

use crate::render::hinted;

/// The name of the policy that comes with the binary.
const BUILTIN: &str = "builtin:";

/// Ten thousand rules with examples stay below this; past it the file is refused.
const MAX_FILE: u64 = 16 << 20;

/// Policy files as text, and what became of them.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) sources: Vec<Source>,
    pub(crate) outcome: Result<(Policies, Vec<Warning>), Vec<Diagnostic>>,
}

/// Policies that cannot be used. It shows every problem with its place.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) sources: Vec<Source>,
    pub(crate) problems: Vec<Diagnostic>,
}

/// Reads and compiles the given files, or those that apply when none is given.
pub(crate) fn compile(files: &[PathBuf]) -> Result<Compiled> {
    let found = if files.is_empty() { vec![default_file()] } else { files.to_vec() };
    let sources = found.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
    let outcome = Policies::compile(&sources, &Catalogue::builtin());
    Ok(Compiled { sources, outcome })
}

/// Like [`compile`], where anything but usable policies is an error.
pub(crate) fn load(files: &[PathBuf]) -> Result<Policies> {
    let Compiled { sources, outcome } = compile(files)?;
    match outcome {
        Ok((policies, _)) => Ok(policies),
        Err(problems) => Err(Rejected { sources, problems }.into()),
    }
}

/// The user's config folder for callgate.
pub(crate) fn user_folder() -> Result<PathBuf> {
    // A relative $XDG_CONFIG_HOME is invalid and, worse, would name the working tree.
    let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = xdg.or_else(|| {
        let home = env::home_dir().filter(|home| home.is_absolute());
        home.map(|home| home.join(".config"))
    });
    let config = config.ok_or_else(|| {
        hinted("no home folder is known".to_owned(), "set HOME, or XDG_CONFIG_HOME")
    })?;
    Ok(config.join("callgate"))
}

/// The name of the one config file.
pub(crate) const FILE: &str = "callgate.yaml";

/// The file that applies when none is named. Never one of the working tree: an agent may have
/// written that.
fn default_file() -> PathBuf {
    if let Some(named) = env::var_os("CALLGATE_CONFIG").filter(|value| !value.is_empty()) {
        return named.into();
    }
    let user = user_folder().ok().map(|folder| folder.join(FILE));
    let system = Path::new("/etc/callgate").join(FILE);
    let mut candidates = user.into_iter().chain([system]);
    // A file that is there but cannot be read must fail, not be skipped.
    let there = candidates.find(|path| path.symlink_metadata().is_ok());
    there.unwrap_or_else(|| format!("{BUILTIN}starter").into())
}

fn read(file: &Path) -> Result<Source> {
    let name = file.to_string_lossy().into_owned();
    match name.strip_prefix(BUILTIN) {
        Some("starter") => return Ok(starter()),
        Some(_) => {
            let hint = "the only built-in policy is `builtin:starter`";
            return Err(hinted(format!("unknown policy `{name}`"), hint));
        }
        None => {}
    }
    let text = read_text(file).with_context(|| format!("cannot read policy `{name}`"))?;
    Ok(Source { name, text })
}

fn read_text(file: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        bail!("it is larger than {} MiB", MAX_FILE >> 20);
    }
    String::from_utf8(bytes)
        .map_err(|error| anyhow!("it is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
}

impl Rejected {
    /// Every problem, drawn with its place in the text.
    pub(crate) fn rendered(&self, color: bool) -> Vec<String> {
        let drawn = self.problems.iter().filter_map(|problem| {
            let source = self.sources.iter().find(|source| source.name == problem.source)?;
            Some(render(problem, source, color))
        });
        drawn.collect()
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() {
            1 => f.write_str("the policy is rejected: 1 problem"),
            n => write!(f, "the policy is rejected: {n} problems"),
        }
    }
}

impl std::error::Error for Rejected {}
