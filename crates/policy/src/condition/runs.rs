//! The condition `runs`: which programs a call would run, and with what.

use callgate_document::{At, Mapping, Node, Problems, Yaml, boolean, list, text, texts};
use callgate_effects::{Action, EffectKind, Run, Word};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use crate::pattern::Wildcard;
use crate::tri::Tri;

/// Commands that a call runs.
#[derive(Debug, Clone)]
pub(crate) struct RunsCondition {
    commands: Vec<RuleCommand>,
    /// How the names of their programs begin; `None` if one of them may begin in any way.
    beginnings: Option<Beginnings>,
    written: String,
}

/// A command as a rule writes it.
#[derive(Debug, Clone, Default)]
struct RuleCommand {
    /// Empty for every program.
    programs: Vec<Wildcard>,
    /// The sub-command and the operands after it.
    words: Vec<Wildcard>,
    /// Each is one of the command's words, anywhere.
    args: Vec<Wildcard>,
    flags: Vec<String>,
    /// What counts of a word that is not known in full.
    missing: Missing,
}

/// Whether a word with a missing part may be the one that a rule names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Missing {
    /// It may: the condition is unknown.
    #[default]
    Counts,
    /// It is another one.
    Differs,
}

impl EffectCondition for RunsCondition {
    const KEY: &'static str = "runs";

    const MEANING: &'static str = "[commands](#commands): `git push`, `npm *`, or \
        `{ program, args, flags, known }`: the call runs one of them, also inside `sudo`, `bash -c` or a \
        pipe";

    const KIND: EffectKind = EffectKind::Runs;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let nodes = match &node.value {
            Yaml::List(_) => list(node, "`runs`", problems),
            _ => std::slice::from_ref(node),
        };
        if nodes.is_empty() {
            problems.add(node.span, "`runs` is an empty list, which nothing can match");
            return None;
        }
        let commands: Vec<_> = nodes.iter().map(|node| command(node, problems)).collect();
        let commands = commands.into_iter().collect::<Option<Vec<_>>>()?;
        let beginnings = Beginnings::of(&commands);
        Some(Self { commands, beginnings, written: node.to_json() })
    }

    fn fits(&self, found: FoundEffect<'_>, _: &Scene<'_>) -> Option<Tri> {
        match found.action() {
            Action::Runs(run) => {
                if self.beginnings.as_ref().is_some_and(|it| it.exclude(&run.program)) {
                    return Some(Tri::False);
                }
                Some(Tri::any(self.commands.iter().map(|command| command.matches(run))))
            }
            _ => None,
        }
    }

    fn operand(&self) -> &str {
        &self.written
    }
}

/// The first bytes of the names of programs, one bit for each.
#[derive(Debug, Clone)]
struct Beginnings([u64; 4]);

impl Beginnings {
    fn of(commands: &[RuleCommand]) -> Option<Self> {
        let mut bits = [0; 4];
        for command in commands {
            if command.programs.is_empty() {
                return None;
            }
            for program in &command.programs {
                let first = program.text().bytes().next();
                let first = first.filter(|first| !matches!(first, b'*' | b'?'))?;
                *bits.get_mut(usize::from(first / 64))? |= 1 << (first % 64);
            }
        }
        Some(Self(bits))
    }

    /// Whether a known program differs from all of them.
    fn exclude(&self, program: &Word) -> bool {
        let Some(first) = program.text().and_then(|name| name.bytes().next()) else { return false };
        self.0.get(usize::from(first / 64)).is_some_and(|bits| bits & 1 << (first % 64) == 0)
    }
}

fn command(node: &Node, problems: &mut Problems<'_>) -> Option<RuleCommand> {
    if let Yaml::Map(_) = &node.value {
        return long_form(node, problems);
    }
    let text = text(node, "`runs`", problems)?;
    if text.value.contains(['|', ';', '&', '"', '\'', '$', '>', '<']) {
        problems
            .add(text.span, format!("`{}` is not one command", text.value))
            .hint("write a program and its sub-command, like `git push`; each command of a pipe is judged on its own");
        return None;
    }
    let mut words = text.value.split_whitespace();
    let mut command = RuleCommand {
        programs: words.next().map(Wildcard::new).into_iter().collect(),
        ..RuleCommand::default()
    };
    for word in words {
        match word.starts_with('-') {
            true => command.flags.push(word.to_owned()),
            false => command.words.push(Wildcard::new(word)),
        }
    }
    Some(command)
}

fn long_form(node: &Node, problems: &mut Problems<'_>) -> Option<RuleCommand> {
    let fields = Mapping::of(node, "`runs`", problems)?;
    let before = problems.len();
    fields.check(&["program", "args", "flags", "known"], &[], problems);
    let known = fields.get("known").and_then(|node| boolean(node, "`known`", problems));
    let mut read = |key: &str| {
        let node = fields.get(key);
        node.map(|node| texts(node, &format!("`{key}`"), problems)).unwrap_or_default()
    };
    let (programs, args, flags) = (read("program"), read("args"), read("flags"));
    if fields.entries.is_empty() {
        problems.add(node.span, "`runs` names nothing").hint("write `{ program: git }`");
    }
    let globs = |texts: &[At<String>]| texts.iter().map(|it| Wildcard::new(&it.value)).collect();
    (problems.len() == before).then(|| RuleCommand {
        programs: globs(&programs),
        words: Vec::new(),
        args: globs(&args),
        flags: flags.into_iter().map(|at| at.value).collect(),
        missing: if known == Some(true) { Missing::Differs } else { Missing::Counts },
    })
}

impl RuleCommand {
    fn matches(&self, run: &Run) -> Tri {
        let program = match self.programs.as_slice() {
            [] => Tri::True,
            programs => Tri::any(programs.iter().map(|glob| fits(glob, &run.program))),
        };
        if program == Tri::False {
            return Tri::False;
        }
        let args = self.args.iter().map(|arg| Tri::any(operands(run).map(|it| fits(arg, it))));
        let flags = self.flags.iter().map(|flag| has_flag(run, flag));
        let found = program.and(Tri::all(args)).and(Tri::all(flags)).and(self.has_words(run));
        match self.missing {
            Missing::Counts => found,
            Missing::Differs => (found == Tri::True).into(),
        }
    }

    /// Whether the sub-command and the operands after it are these words.
    fn has_words(&self, run: &Run) -> Tri {
        if self.words.is_empty() {
            return Tri::True;
        }
        let known: Vec<Word> = run.sub_command.split_whitespace().map(Word::known).collect();
        let operands: Vec<&Word> =
            operands(run).filter(|word| !word.known_start().starts_with('-')).collect();
        // Values of flags may come first: `git -C folder push`.
        let first = known.first().and_then(|first| operands.iter().position(|word| *word == first));
        let from = operands.get(first.unwrap_or(0)..).unwrap_or_default();
        let begins = |words: &[&Word]| {
            Tri::all(
                self.words
                    .iter()
                    .enumerate()
                    .map(|(at, glob)| words.get(at).map_or(Tri::False, |word| fits(glob, word))),
            )
        };
        begins(from).or(begins(&known.iter().collect::<Vec<_>>()))
    }
}

fn operands(run: &Run) -> impl Iterator<Item = &Word> {
    run.words.iter().skip(1)
}

fn has_flag(run: &Run, flag: &str) -> Tri {
    let is_it = |word: &Word| {
        let given = word.known_start().split('=').next() == Some(flag);
        match given {
            true => Tri::True,
            false if word.is_unknown() => Tri::Unknown,
            false => Tri::False,
        }
    };
    Tri::from(run.flags.iter().any(|given| given == flag)).or(Tri::any(operands(run).map(is_it)))
}

/// Whether a word matches; unknown if a part of it is missing that could make it match.
fn fits(glob: &Wildcard, word: &Word) -> Tri {
    match word.text() {
        Some(text) => glob.matches(text).into(),
        None if glob.is_literal() && !glob.text().starts_with(word.known_start()) => Tri::False,
        None => Tri::Unknown,
    }
}
