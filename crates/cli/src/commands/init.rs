//! `callgate init`: a commented policy to begin with.

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

pub(crate) fn run(args: &args::Init) -> Result<Exit> {
    let folder = if args.project { PathBuf::from(".") } else { sources::user_folder()? };
    let path = folder.join(callgate_config::FILE);
    // Whoever can write the file or replace it decides what it allows, so others never may, whatever
    // the umask says.
    let made = DirBuilder::new().recursive(true).mode(0o755).create(&folder);
    made.with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    write(&path, &contents(args.project), args.force)?;
    talk(&next(&path, args.project));
    Ok(Exit::Success)
}

/// Writes a new file. With `force` an old one is replaced whole, never half.
fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let failed = || format!("cannot write `{}`", path.display());
    let target = if force { beside(path) } else { path.to_owned() };
    if force {
        remove_leftover(&target).with_context(failed)?;
    }
    // `create_new` does not follow a link that a hostile repository put there.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&target);
    let mut file = match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let there = format!("`{}` is already there", path.display());
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

fn beside(path: &Path) -> PathBuf {
    path.with_extension(format!("yaml.{}", std::process::id()))
}

fn remove_leftover(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn contents(project: bool) -> String {
    let place = if project { PROJECT } else { USER };
    format!("{place}{HEAD}\n{}", starter().text)
}

const USER: &str = "\
# callgate: what the tools of your agents may do. Every callgate command on this machine reads
# this file, unless `--policy` names another one.
";

const PROJECT: &str = "\
# callgate: what the tools of agents may do in this project. An agent can write to the working
# tree, so nothing reads this file by itself: name it with `--policy callgate.yaml`.
";

const HEAD: &str = r#"#
# A rule has an id, says which calls it is about (tool, server, agent, surface; when: the
# arguments), and its verdict: allow, audit or deny. Of the rules that match, the strictest
# decides; without a match the policy's `default` does. A rule of your own:
#
#   - id: no-force-push
#     tool: "@shell"                     # every agent's shell tool; or names and globs
#     when:
#       arg: command
#       matches: 'git\s+push\s.*--force'
#     verdict: deny
#     reason: History on the server stays as it is.
#     hint: Push to a branch of your own.
#     examples:                          # checked whenever the file is read
#       match:    [{ tool: Bash, input: { command: "git push origin --force" } }]
#       no_match: [{ tool: Bash, input: { command: "git push" } }]
#
# Add `mode: shadow` to a rule, or to the policy, to see what it would do before it does it.
# After a change: `callgate policy check` on this file. Settings may stand beside the policy; then
# `callgate config check` is the one to ask.
"#;

fn next(path: &Path, project: bool) -> String {
    let shown = printable(&path.display().to_string());
    let option = if project { format!(" --policy {shown}") } else { String::new() };
    // The gateway serves no single project.
    let serve = if project { "" } else { "  put it before an agent        callgate serve\n" };
    format!(
        "wrote {shown}\n\
         \n\
         next:\n  \
           edit it, then find mistakes   callgate policy check {shown}\n  \
           see its rules                 callgate policy list {shown}\n  \
           try a call                    callgate check{option} --tool Bash --input '{{\"command\":\"ls\"}}'\n  \
           judge a model's response      callgate filter{option} --dialect anthropic < response.sse\n\
         {serve}"
    )
}
