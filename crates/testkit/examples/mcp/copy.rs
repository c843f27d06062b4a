//! What any program between the two costs: one that copies bytes and looks at nothing.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

pub(crate) fn copy(command: &[&str]) -> Result<()> {
    let (program, args) = command.split_first().context("there is no command")?;
    let mut child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (to, from) =
        (child.stdin.take().context("no input")?, child.stdout.take().context("no output")?);
    let out = std::thread::spawn(move || pump(from, std::io::stdout()));
    pump(std::io::stdin(), to)?;
    out.join().ok();
    child.wait()?;
    Ok(())
}

fn pump(mut from: impl Read, mut to: impl Write) -> Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer)?;
        let Some(read) = buffer.get(..count).filter(|read| !read.is_empty()) else { return Ok(()) };
        to.write_all(read)?;
        to.flush()?;
    }
}
