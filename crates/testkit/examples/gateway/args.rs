//! What was typed.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::proxy::Kind;
use crate::scenario::{Scenario, Sizes};
use crate::script::Api;

pub(crate) const USAGE: &str = "\
usage: gateway [options]

  --quick              a short run, to see that everything works
  --first              ahead of everything else on the machine: for a busy one; needs root
  --rounds N           how often everything is measured (4; with --quick 1)
  --only A,B           startup, memory, burst, live, call, json, mixed, calls, counts
  --proxies A,B        direct, bytecopy, nginx, callgate, callgate-masked, callgate-disk,
                       callgate-off
  --dialects A,B       of burst and live: messages, chat, responses, gemini, ollama, converse
                       (messages,chat)
  --rules N            rules of callgate's policy (100)
  --callgate FILE      the binary (next to this program, else the one on the path)
  --nginx FILE         the binary (the one on the path)
  --json FILE          also write everything that was measured there
";

/// What to measure, of whom, how often.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) sizes: Sizes,
    pub(crate) priority: Priority,
    pub(crate) rounds: usize,
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) proxies: Vec<Kind>,
    pub(crate) dialects: Vec<Api>,
    pub(crate) rules: usize,
    pub(crate) callgate: PathBuf,
    pub(crate) nginx: PathBuf,
    pub(crate) json: Option<PathBuf>,
}

/// How the scheduler treats the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    Ordinary,
    /// Whatever else runs waits.
    First,
}

impl Args {
    pub(crate) fn read(words: &[String]) -> Result<Self> {
        let mut args = Self {
            sizes: Sizes::FULL,
            priority: Priority::Ordinary,
            rounds: 0,
            scenarios: Scenario::ALL.to_vec(),
            proxies: Kind::ALL.to_vec(),
            dialects: vec![Api::Messages, Api::Chat],
            rules: 100,
            callgate: next_to_this_program("callgate"),
            nginx: "nginx".into(),
            json: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--quick" {
                args.sizes = Sizes::QUICK;
                args.scenarios.retain(|it| *it != Scenario::Counts);
                continue;
            }
            if word == "--first" {
                args.priority = Priority::First;
                continue;
            }
            let value = words.next().with_context(|| format!("`{word}`?\n\n{USAGE}"))?;
            args.set(word, value)?;
        }
        if args.rounds == 0 {
            args.rounds = args.sizes.rounds;
        }
        Ok(args)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<()> {
        match option {
            "--rounds" => self.rounds = value.parse().context("--rounds takes a number")?,
            "--rules" => self.rules = value.parse().context("--rules takes a number")?,
            "--only" => self.scenarios = chosen(value, &Scenario::ALL, |it| it.word())?,
            "--proxies" => self.proxies = chosen(value, &Kind::ALL, |it| it.word())?,
            "--dialects" => self.dialects = chosen(value, &Api::ALL, |it| it.word())?,
            "--callgate" => self.callgate = value.into(),
            "--nginx" => self.nginx = value.into(),
            "--json" => self.json = Some(value.into()),
            _ => bail!("`{option}`?\n\n{USAGE}"),
        }
        Ok(())
    }
}

fn chosen<T: Copy>(value: &str, all: &[T], word: impl Fn(&T) -> &'static str) -> Result<Vec<T>> {
    let find = |name: &str| all.iter().find(|it| word(it) == name).copied();
    value.split(',').map(|name| find(name).with_context(|| format!("`{name}`?"))).collect()
}

/// A program that was built together with this one: examples lie one folder further down.
fn next_to_this_program(name: &str) -> PathBuf {
    let built = std::env::current_exe().ok().and_then(|us| Some(us.parent()?.parent()?.join(name)));
    built.filter(|path| path.exists()).unwrap_or_else(|| name.into())
}
