//! `callgate init`: a short config to start with.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use callgate_policy::starter;

use crate::args;
use crate::exit::Exit;
use crate::render::{hinted, printable, talk};
use crate::sources;

pub(crate) fn run(args: &args::InitArgs, config: Option<&Path>) -> Result<Exit> {
    let target = InitTarget::of(args, config)?;
    let path = target.path();
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        // Anyone who can write the file or replace it decides what it allows, so other users never
        // can, whatever the umask is.
        let made = DirBuilder::new().recursive(true).mode(0o755).create(folder);
        made.with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    }
    let rules = if args.copy_starter { StarterRules::Copied } else { StarterRules::BuiltIn };
    write(path, &contents(&target, rules), args.force)?;
    talk(&next(&target));
    Ok(Exit::Success)
}

/// Where the file goes.
enum InitTarget {
    /// Where every command finds it.
    User(PathBuf),
    /// Where commands find it only if it is named.
    Named(PathBuf),
}

impl InitTarget {
    fn of(args: &args::InitArgs, config: Option<&Path>) -> Result<Self> {
        match (config, args.project) {
            (Some(path), false) => Ok(Self::Named(path.to_owned())),
            (None, true) => Ok(Self::Named(PathBuf::from(callgate_config::FILE))),
            (None, false) => Ok(Self::User(sources::user_folder()?.join(callgate_config::FILE))),
            (Some(_), true) => Err(hinted(
                "`--project` and `--config` name two different files".to_owned(),
                format!("leave one of them out; `--project` writes ./{}", callgate_config::FILE),
            )),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::User(path) | Self::Named(path) => path,
        }
    }
}

/// Which rules of `builtin:starter` the file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StarterRules {
    /// None: it names the built-in policy.
    BuiltIn,
    /// All of them.
    Copied,
}

/// Writes a new file. With `force` an old one is replaced whole, never half.
fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let failed = || format!("cannot write `{}`", path.display());
    let target = if force { temporary(path) } else { path.to_owned() };
    if force {
        remove_leftover(&target).with_context(failed)?;
    }
    // `create_new` does not follow a link that a hostile repository put there.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&target);
    let mut file = match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let there = format!("`{}` already exists", path.display());
            return Err(hinted(there, "use `--force` to overwrite it"));
        }
        file => file.with_context(failed)?,
    };
    file.write_all(text.as_bytes()).with_context(failed)?;
    if force {
        fs::rename(&target, path).with_context(failed)?;
    }
    Ok(())
}

fn temporary(path: &Path) -> PathBuf {
    path.with_extension(format!("yaml.{}", std::process::id()))
}

fn remove_leftover(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn contents(target: &InitTarget, rules: StarterRules) -> String {
    let place = match target {
        InitTarget::User(_) => USER,
        InitTarget::Named(_) => NAMED,
    };
    match rules {
        StarterRules::BuiltIn => format!("{place}{RULES}"),
        StarterRules::Copied => format!("{place}{COPIED}\n{}", starter().text),
    }
}

const USER: &str = "\
# What the tools of your agents may do. Every callgate command reads this file.
";

const NAMED: &str = "\
# What the tools of agents may do. Nothing reads this file unless `--config` names it.
";

const RULES: &str = r#"# After a change, run `callgate config check`.
policies:
  - builtin:starter              # the rules that come with callgate
  - policy: mine                 # your own rules; the strictest verdict wins
    rules:
      - id: no-force-push
        when:                    # what a call would do, with the tools of every agent
          runs: [git push --force, git push -f]
        verdict: deny            # or audit, or allow
        reason: Pushed history stays as it is.
        hint: Push to a new branch instead.
"#;

const COPIED: &str = "\
# A copy of `builtin:starter`: change it as you like. New versions of callgate do not update it.
# After a change, run `callgate config check`.
";

fn next(target: &InitTarget) -> String {
    let shown = printable(&target.path().display().to_string());
    let option = match target {
        InitTarget::User(_) => String::new(),
        InitTarget::Named(_) => format!(" --config {shown}"),
    };
    format!(
        "wrote {shown}\n\
         \n\
         Next:\n  \
           check it     callgate config check{option}\n  \
           list rules   callgate policy list{option}\n  \
           try a call   callgate check{option} --tool Bash --input '{{\"command\":\"git push -f\"}}'\n  \
           start        callgate serve{option}\n"
    )
}
