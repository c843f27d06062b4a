//! What a call would do: a list of effects, each with the text it was read from.

use std::fmt;
use std::ops::Range;

use callgate_call::FileWrite;

use crate::bound::{Bound, EffectKind};
use crate::marks::Marks;
use crate::path::Path;
use crate::word::Word;

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What it does.
    pub action: Action,
    /// The text it was read from.
    pub at: EffectPlace,
}

/// What an effect does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a program.
    Runs(Run),
    /// Reads a file or a folder.
    Reads(Path, Access),
    /// Creates or changes a file.
    Writes(Path, Change),
    /// Removes a file or a folder.
    Deletes(Path, Scope),
    /// Talks to a host.
    Connects(Connection),
    /// Changes a setting that makes a later command run something else.
    Sets(Setting),
    /// Runs a database statement. The text is not analysed yet.
    Sql(String),
    /// Does something that cannot be read from the call.
    Opaque(Opaque),
}

/// A program that is run, after wrappers and quoting are taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its name without folders: `rm` for `/bin/rm`. What was written is the first of `words`.
    pub program: Word,
    /// The command line, the program's name first.
    pub words: Vec<Word>,
    /// The sub-command (`push`, `remote add`), where the model of the program knows some.
    pub sub_command: String,
    /// The flags that were given, each in the first spelling of the model: `--force` for `-f`. Flags
    /// that the model does not have keep their spelling.
    pub flags: Vec<String>,
    /// What the model says about a command of this form.
    pub marks: Marks,
    /// Whether there is a model of the program.
    pub knowledge: Knowledge,
}

/// Whether a program is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Knowledge {
    /// There is a model: what is not among the effects does not happen.
    Modelled,
    /// There is none: it may do more than the effects show.
    #[default]
    Unmodelled,
}

/// What is read of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Its content.
    Content,
    /// The content of everything below a folder.
    Tree,
    /// Only names, sizes, times or whether it exists.
    Names,
}

/// How a file is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// It is created, or gets new content.
    Content,
    /// Text is added at its end.
    Append,
    /// It becomes empty.
    Empty,
    /// It becomes a folder, or the folder gets unknown files.
    Folder,
    /// Its owner, mode or other attributes change.
    Attributes,
    /// It becomes a link to something else.
    Link,
    /// It gets code that attacks whenever it runs: that sends the user's keys away, for example.
    Planted,
}

/// How much is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The file itself, or an empty folder.
    One,
    /// Everything below it.
    Tree,
}

/// A connection to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The host, lower-cased, punycode, an IP address in its usual spelling.
    pub host: Word,
    /// The port, from the text or the scheme's default.
    pub port: Option<u16>,
    /// `https`, `ssh`, `git`; empty if it is not known.
    pub scheme: String,
    /// What it is for.
    pub purpose: Purpose,
    /// The address as written, where there is one.
    pub url: Option<Word>,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Data comes from the host.
    Fetch,
    /// Data goes to the host.
    Send,
    /// Code comes from the host and runs here: an installation, or a download into a shell.
    Execute,
    /// Commands run on the host: `ssh`.
    Remote,
    /// Others can connect to this machine.
    Listen,
    /// Traffic or a shell is passed on between hosts.
    Tunnel,
}

/// A setting that makes a later command behave differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `env:PATH`, `alias:ls`, `git:core.hooksPath`, `npm:registry`.
    pub name: Word,
    /// The new value; `None` if it is removed or not given.
    pub value: Option<Word>,
    /// How long it holds.
    pub reach: Reach,
}

/// How long a setting holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// For one command or for the rest of the text.
    Command,
    /// Until it is changed again: it is written to a file.
    Lasting,
}

/// Something that cannot be read from the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Why it cannot be read.
    pub why: Why,
    /// What it could do at most.
    pub could: Bound,
}

/// Why something cannot be read from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// The name of the program is not in the text: `$CMD`.
    Program,
    /// The code that runs is not in the text: `eval "$X"`, `sh < file`.
    Code,
    /// The code comes from another host: `curl … | sh`.
    NetworkCode,
    /// The code is in a file: `bash setup.sh`.
    Script,
    /// The code is written in a language that is not analysed, or hides what it does.
    Language,
    /// A statement, a whole folder that is deleted, or where data goes is not in the text.
    Value,
    /// Which file is written or removed, or which host is asked, is not in the text.
    Target,
    /// The text does not follow the shell's grammar.
    Syntax,
    /// There is more of it than is analysed: too long, too deep, too many commands.
    Size,
    /// The arguments of the call are not one readable object.
    Arguments,
}

/// Where an effect was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EffectPlace {
    /// Which argument; an index into [`Effects::arguments`].
    pub argument: usize,
    /// The bytes of that argument's decoded text.
    pub span: Range<usize>,
    /// Which sub-command; an index into [`Effects::commands`]. `None` outside of a shell.
    pub command: Option<usize>,
}

/// A sub-command of a shell text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubCommand {
    /// Its name without folders.
    pub program: Word,
    /// The bytes of the argument's text.
    pub span: Range<usize>,
    /// The command that runs it: `sudo`, `xargs`, `bash -c`.
    pub parent: Option<usize>,
}

/// Everything a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    list: Vec<Effect>,
    /// The kinds that are in the list.
    kinds: Bound,
    /// The arguments that were analysed, by path: `command`, `edits[0].path`, `$`.
    pub arguments: Vec<String>,
    /// The sub-commands of shell texts, in the order of the text.
    pub commands: Vec<SubCommand>,
    /// What is written into files, as far as the call shows it.
    pub files: Vec<FileWrite>,
}

impl Effects {
    /// All effects, in the order of the text.
    pub fn all(&self) -> &[Effect] {
        &self.list
    }

    /// The effects of one kind.
    pub fn of(&self, kind: EffectKind) -> impl Iterator<Item = &Effect> {
        let list: &[Effect] = if self.kinds.contains(kind) { &self.list } else { &[] };
        list.iter().filter(move |effect| effect.action.kind() == kind)
    }

    /// The kinds of effects there are.
    pub fn kinds(&self) -> Bound {
        self.kinds
    }

    /// Whether the call does nothing that is known.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Everything that the parts which cannot be read could do.
    pub fn could(&self) -> Bound {
        let opaque = |effect: &Effect| match &effect.action {
            Action::Opaque(opaque) => opaque.could,
            _ => Bound::NONE,
        };
        self.of(EffectKind::Opaque).map(opaque).fold(Bound::NONE, Bound::or)
    }

    /// Adds an effect, unless the same one of the same sub-command is there.
    pub fn push(&mut self, effect: Effect) {
        let same = |known: &Effect| {
            known.at.command == effect.at.command
                && known.at.argument == effect.at.argument
                && known.action == effect.action
        };
        if self.list.iter().rev().take(RECENT).any(same) {
            return;
        }
        self.push_always(effect);
    }

    /// The effects of these kinds, and what cannot be read.
    pub(crate) fn within(mut self, bound: Bound) -> Self {
        let bound = bound.with(EffectKind::Opaque);
        self.list.retain(|effect| bound.contains(effect.action.kind()));
        self.kinds = self.kinds.and(bound);
        self
    }

    /// Adds an effect and returns where it is.
    pub(crate) fn push_always(&mut self, effect: Effect) -> usize {
        self.kinds = self.kinds.with(effect.action.kind());
        self.list.push(effect);
        self.list.len() - 1
    }

    /// Drops effects behind that place of the list which turn out not to happen.
    pub(crate) fn forget(&mut self, from: usize, is_wrong: impl Fn(&Action) -> bool) {
        let mut at = 0;
        self.list.retain(|effect| {
            at += 1;
            at <= from || !is_wrong(&effect.action)
        });
        self.kinds = self.list.iter().fold(Bound::NONE, |kinds, it| kinds.with(it.action.kind()));
    }

    /// The run at that place of the list.
    pub(crate) fn run_mut(&mut self, at: usize) -> Option<&mut Run> {
        match self.list.get_mut(at) {
            Some(Effect { action: Action::Runs(run), .. }) => Some(run),
            _ => None,
        }
    }
}

/// How far back equal effects are looked for. The bound keeps the analysis linear.
const RECENT: usize = 32;

impl Action {
    /// The kind of effect it is.
    pub fn kind(&self) -> EffectKind {
        match self {
            Self::Runs(_) => EffectKind::Runs,
            Self::Reads(..) => EffectKind::Reads,
            Self::Writes(..) => EffectKind::Writes,
            Self::Deletes(..) => EffectKind::Deletes,
            Self::Connects(_) => EffectKind::Connects,
            Self::Sets(_) => EffectKind::Sets,
            Self::Sql(_) => EffectKind::Sql,
            Self::Opaque(_) => EffectKind::Opaque,
        }
    }
}

/// One line, as the examples of program models write it: `deletes-tree build`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs(run) => write!(f, "{run}"),
            Self::Reads(path, access) => write!(f, "{} {path}", access.as_str()),
            Self::Writes(path, change) => write!(f, "{} {path}", change.as_str()),
            Self::Deletes(path, scope) => write!(f, "{} {path}", scope.as_str()),
            Self::Connects(connection) => write!(f, "{connection}"),
            Self::Sets(setting) => write!(f, "{setting}"),
            Self::Sql(text) => write!(f, "sql {text}"),
            Self::Opaque(opaque) => write!(f, "opaque {}", opaque.why.as_str()),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "runs {}", self.program)?;
        self.words.iter().skip(1).try_for_each(|word| write!(f, " {word}"))
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.purpose.as_str(), self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sets {}", self.name)?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, "={value}"))
    }
}

impl Access {
    /// The word for it in one-line notation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Content => "reads",
            Self::Tree => "reads-tree",
            Self::Names => "lists",
        }
    }
}

impl Change {
    /// The word for it in one-line notation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Content => "writes",
            Self::Append => "appends",
            Self::Empty => "empties",
            Self::Folder => "makes",
            Self::Attributes => "changes",
            Self::Link => "links",
            Self::Planted => "plants",
        }
    }
}

impl Scope {
    /// The word for it in one-line notation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::One => "deletes",
            Self::Tree => "deletes-tree",
        }
    }
}

impl Purpose {
    /// The word for it in one-line notation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fetch => "fetches",
            Self::Send => "sends",
            Self::Execute => "executes",
            Self::Remote => "remote",
            Self::Listen => "listens",
            Self::Tunnel => "tunnels",
        }
    }
}

impl Why {
    /// The word for it in one-line notation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Code => "code",
            Self::NetworkCode => "network-code",
            Self::Script => "script",
            Self::Language => "language",
            Self::Value => "value",
            Self::Target => "target",
            Self::Syntax => "syntax",
            Self::Size => "size",
            Self::Arguments => "arguments",
        }
    }
}
