//! `callgate man`: the manual, from the same text as `--help`.

use std::path::Path;

use anyhow::{Context as _, Result};
use clap::CommandFactory;

use crate::args::Args;
use crate::exit::Exit;
use crate::render;

pub(crate) fn run(folder: Option<&Path>) -> Result<Exit> {
    match folder {
        None => print_page()?,
        Some(folder) => write_pages(folder)
            .with_context(|| format!("cannot write manual pages to `{}`", folder.display()))?,
    }
    Ok(Exit::Success)
}

fn print_page() -> Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page)?;
    render::print(&String::from_utf8_lossy(&page))?;
    Ok(())
}

fn write_pages(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Args::command(), folder)?;
    Ok(())
}
