//! Processors that do not sleep. To wake one takes longer than most of what is measured, most of
//! all on a virtual machine, and what is between two programs pays for it twice.

use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result};

/// Something to do for every processor, for as long as this lives, that makes room for everything
/// else.
pub(crate) struct Awake(Vec<Child>);

impl Awake {
    pub(crate) fn start() -> Result<Self> {
        let mut awake = Self(Vec::new());
        for _ in 0..thread::available_parallelism()?.get() {
            let mut command = Command::new("chrt");
            command.args(["--idle", "0"]).arg(std::env::current_exe()?).arg("spin");
            let child = command.stdin(Stdio::piped()).spawn();
            awake.0.push(child.context("`chrt` cannot be run; it is part of util-linux")?);
        }
        Ok(awake)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            drop(child.stdin.take());
            child.wait().ok();
        }
    }
}

/// Does nothing, as fast as possible, until the process that started it is gone.
pub(crate) fn spin() -> Result<()> {
    thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
