//! Habits of the workspace that no compiler checks.
//!
//! Each check looks at the files or at `cargo metadata` and answers with what is wrong. Drift (long
//! files and functions, structs with many fields) is only shown.

mod crates;
mod directions;
mod drift;
pub(crate) mod files;
mod links;
mod marks;
mod phrases;
mod proofs;

use anyhow::{Result, bail};
use files::File;

use crate::workspace::Workspace;

pub(crate) fn tidy(workspace: &Workspace) -> Result<()> {
    let files = files::read(&workspace.root)?;
    let members = crates::members(&workspace.metadata);

    let mut wrong = directions::check(&members);
    wrong.extend(crates::check(&members, &workspace.root));
    wrong.extend(crates::toolchain(&workspace.root)?);
    for file in &files {
        wrong.extend(marks::check(file));
        wrong.extend(phrases::check(file));
        wrong.extend(proofs::check(file));
        wrong.extend(links::check(&workspace.root, file));
        wrong.extend(too_big(file));
    }

    for long in files.iter().flat_map(drift::check) {
        eprintln!("note: {long}");
    }
    if !wrong.is_empty() {
        bail!("{} things to tidy up\n  {}", wrong.len(), wrong.join("\n  "));
    }
    Ok(())
}

/// A big file stays in the history for ever.
fn too_big(file: &File) -> Option<String> {
    const MIB: usize = 1024 * 1024;
    let len = file.bytes.len();
    (len > MIB).then(|| format!("{}: {len} bytes, more than 1 MiB", file.name))
}
