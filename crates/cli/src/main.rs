//! `callgate`: a firewall for the tool calls AI agents make.
//!
//! The binary is glue. `args` is what the user typed, `commands` has one file per verb, `exit` every
//! exit code; `sources` compiles the policies that apply, `given` reads a call from flags or JSON,
//! `judge` asks the policies, and `report` and `render` say what they answered, to programs and to
//! people. `records` opens the store, `table` and `when` show what is in it. `reload` takes changed
//! files over while a command runs, `served` lists the surfaces that something serves.

mod args;
mod call_text;
mod commands;
mod disk;
mod effects_text;
mod exit;
mod given_call;
mod judge;
mod marks;
mod operator;
mod recorded_call;
mod records;
mod reload;
mod render;
mod replay;
mod report;
mod rule_source;
mod served;
mod sessions;
mod sources;
mod surroundings;
mod table;
mod when;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

use crate::args::Args;
use crate::exit::Exit;

/// The allocator of the whole program: short responses are many small allocations.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let exit = match commands::run(Args::parse()) {
        Ok(exit) => exit,
        Err(error) => {
            commands::serve::logging::fatal(&error);
            Exit::Error
        }
    };
    commands::serve::logging::finish();
    exit.into()
}
