//! What `callgate mcp wrap` and `callgate serve` cost: a call and its answer through them, against the same server directly and
//! behind a program that copies bytes and looks at nothing.
//!
//! All ways are open at once and take turns, so that what else the machine does hits them alike. Run it
//! with `cargo xtask bench mcp`.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic ends the measurement"
)]

mod awake;
mod client;
mod copy;
mod network;
mod server;
mod table;
mod ways;

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::awake::Awake;
use crate::client::Client;
use crate::ways::{Place, Way};

const USAGE: &str = "\
usage: mcp [options]

  --quick              a short run, to see that everything works
  --rounds N           how often everything is measured (20; with --quick 2)
  --awake              keep the processors from sleeping in between
  --callgate FILE      the binary (the one on the path)
  --everything NODE JS the reference server server-everything as well: Node, and its file
";

/// Calls of one round, one after the other.
const CALLS: usize = 250;
/// Calls of one round with [`Client::AT_ONCE`] under way at a time.
const MANY: usize = 1000;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // We are all parts of the play ourselves.
        ["serve"] => server::serve(),
        ["spin"] => awake::spin(),
        ["copy", command @ ..] => copy::copy(command),
        options => measure(&Args::read(options)?),
    }
}

/// What to measure.
struct Args {
    rounds: usize,
    awake: bool,
    callgate: String,
    everything: Option<[String; 2]>,
}

impl Args {
    fn read(words: &[&str]) -> Result<Self> {
        let callgate = "callgate".to_owned();
        let mut args = Self { rounds: 20, awake: false, callgate, everything: None };
        let mut words = words.iter().map(|word| (*word).to_owned());
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}`?\n\n{USAGE}"));
            match word.as_str() {
                "--quick" => args.rounds = 2,
                "--awake" => args.awake = true,
                "--rounds" => args.rounds = value()?.parse().context("--rounds takes a number")?,
                "--callgate" => args.callgate = value()?,
                "--everything" => args.everything = Some([value()?, value()?]),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(args)
    }
}

/// What was measured of one way.
#[derive(Debug, Default)]
struct Measured {
    /// Each call by itself.
    calls: Vec<Duration>,
    /// Calls a second with several under way, by round.
    rates: Vec<f64>,
}

fn measure(args: &Args) -> Result<()> {
    let _awake = args.awake.then(Awake::start).transpose()?;
    let place = Place::new(&args.callgate)?;
    let us = std::env::current_exe()?.display().to_string();
    println!("a small server in Rust, {} rounds of {CALLS} calls", args.rounds);
    server_by_every_way(args, &place, &[us.clone(), "serve".to_owned()], "echo")?;
    if let Some([node, script]) = &args.everything {
        println!("\nserver-everything, {} rounds of {CALLS} calls", args.rounds);
        let command = [node.clone(), script.clone(), "stdio".to_owned()];
        // A store of its own: in the other one `echo` is pinned to another server's.
        server_by_every_way(args, &Place::new(&args.callgate)?, &command, "echo")?;
    }
    println!("\na small server over HTTP, {} rounds of {CALLS} calls", args.rounds);
    network::measure(args)
}

fn server_by_every_way(args: &Args, place: &Place, command: &[String], tool: &str) -> Result<()> {
    let mut clients = Vec::new();
    for way in Way::ALL {
        let mut client = Client::start(place.command(way, command)?)?;
        client.hello()?;
        // The first calls list the tools and open files.
        (0..50).try_for_each(|_| client.call(tool).map(drop))?;
        clients.push((way, client, Measured::default()));
    }
    for round in 0..args.rounds {
        let count = clients.len();
        for turn in 0..count {
            let (_, client, measured) =
                clients.get_mut((round + turn) % count).expect("one of them");
            for _ in 0..CALLS {
                measured.calls.push(client.call(tool)?);
            }
            let took = client.many(tool, MANY)?;
            measured.rates.push(MANY as f64 / took.as_secs_f64());
        }
    }
    let results: Vec<(Way, Measured)> =
        clients.into_iter().map(|(way, client, measured)| (way, client.end(measured))).collect();
    table::print(&results);
    Ok(())
}
