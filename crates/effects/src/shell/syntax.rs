//! The syntax tree of shell text. All spans are byte ranges of the text that was parsed.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use crate::text::Text;
use crate::word::Fill;

/// Where something is in the text.
pub(crate) type Span = Range<usize>;

/// A whole text.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) list: List,
    pub(crate) heredocs: Vec<HereDoc>,
    /// What could not be read, if something could not.
    pub(crate) trouble: Option<(Trouble, Span)>,
}

/// Why text could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It breaks the grammar.
    Syntax,
    /// It is nested too deeply, or has too many commands.
    Size,
}

/// Pipelines, one after the other.
pub(crate) type List = Vec<Pipeline>;

/// Commands that are connected by `|`.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) commands: Vec<Command>,
    /// How it follows the pipeline in front of it.
    pub(crate) link: Link,
}

/// What is in front of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// `;`, `&`, a line break or nothing.
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// One command with its redirections.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) form: Form,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

/// What kind of command it is.
#[derive(Debug)]
pub(crate) enum Form {
    /// Assignments and words.
    Simple { assigns: Vec<Assign>, words: Vec<ShellWord> },
    /// `( … )`
    Subshell(List),
    /// `{ … }`
    Group(List),
    /// The parts of `if`, `while` and `until`, in the order of the text. Not all of them run.
    Branches(List),
    /// `for` and `select`. Without words it runs over the arguments.
    For { name: String, words: Option<Vec<ShellWord>>, body: List },
    /// `case`: the word, and all branches.
    Case { word: ShellWord, branches: Vec<(Vec<ShellWord>, List)> },
    /// A definition, which runs nothing yet.
    Function { name: String, body: Rc<Command> },
    /// `[[ … ]]`: only substitutions inside of it run something.
    Test(Vec<ShellWord>),
    /// `(( … ))`, and the one of `for ((…))`.
    Arithmetic(ShellWord),
}

/// `name=value`, `name+=value`, `name=(…)`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: String,
    /// What is between the brackets of `name[…]=value`, as written.
    pub(crate) element: String,
    /// The same, if it has to be expanded.
    pub(crate) index: Vec<Piece>,
    /// `+=`, or an element of an array: the old value stays part of it.
    pub(crate) adds: bool,
    pub(crate) value: AssignValue,
    pub(crate) span: Span,
}

/// What is assigned.
#[derive(Debug)]
pub(crate) enum AssignValue {
    Word(ShellWord),
    Array(Vec<ShellWord>),
}

/// A redirection.
#[derive(Debug)]
pub(crate) struct Redirect {
    /// The file descriptor, if it is written.
    pub(crate) fd: Option<u32>,
    pub(crate) target: Target,
    pub(crate) span: Span,
}

/// Where a redirection leads.
#[derive(Debug)]
pub(crate) enum Target {
    /// `< word`
    Read(ShellWord),
    /// `> word`, `>| word`, `&> word`
    Write(ShellWord),
    /// `>> word`, `&>> word`
    Append(ShellWord),
    /// `<> word`
    ReadWrite(ShellWord),
    /// `>& word`, `<& word`: a copy of a descriptor, or a file if it is not a number.
    Duplicate(ShellWord),
    /// `<< word`: an index into the script's here-documents.
    HereDoc(usize),
    /// `<<< word`
    HereString(ShellWord),
}

/// A here-document.
#[derive(Debug)]
pub(crate) struct HereDoc {
    pub(crate) body: ShellWord,
}

/// A word: pieces that follow each other without a blank.
#[derive(Debug, Clone)]
pub(crate) struct ShellWord {
    pub(crate) pieces: Pieces,
    pub(crate) span: Span,
}

/// The pieces of a word. Most words have one.
#[derive(Clone)]
pub(crate) enum Pieces {
    One(Piece),
    Many(Vec<Piece>),
}

impl Pieces {
    pub(crate) const NONE: Self = Self::Many(Vec::new());

    /// The same pieces in a list.
    pub(crate) fn into_list(self) -> Vec<Piece> {
        match self {
            Self::One(piece) => vec![piece],
            Self::Many(pieces) => pieces,
        }
    }
}

impl std::ops::Deref for Pieces {
    type Target = [Piece];

    fn deref(&self) -> &[Piece] {
        match self {
            Self::One(piece) => std::slice::from_ref(piece),
            Self::Many(pieces) => pieces,
        }
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Text without special meaning.
    Text(Text, Quoting),
    /// `{`, `,`, `}` or `..` outside of quotes; `brace expansion` gives them their meaning.
    Brace(char),
    /// `*`, `?` or `[…]` outside of quotes, with its spelling.
    Glob(Fill, String),
    /// `~` or `~user` at the start of a word or after `=` or `:` of an assignment.
    Tilde(String),
    /// `$name` and `${name…}`.
    Parameter(Box<Parameter>, Quoting),
    /// `$(…)` and backquotes.
    Command(Rc<List>, Quoting),
    /// Backquotes with escapes inside: text to parse again.
    Backquoted(String, Quoting),
    /// `$((…))`: a number.
    Arithmetic(Vec<Piece>),
    /// `<(…)`
    Process(Rc<List>),
    /// `>(…)`
    Sink(Rc<List>),
}

/// Whether a piece is inside quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    Quoted,
    Bare,
}

/// A parameter expansion.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// `HOME`, `1`, `@`.
    pub(crate) name: String,
    /// `[0]`, `[@]`.
    pub(crate) index: Option<String>,
    /// The same, if it has to be expanded: `[$i]`.
    pub(crate) subscript: Vec<Piece>,
    pub(crate) op: Op,
}

/// What is done with a parameter's value.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Nothing.
    Value,
    /// `:-`, `-`, `:=`, `=`: a default.
    Default { word: Vec<Piece>, assigns: bool },
    /// `:+`, `+`: something else if it is set.
    Alternative(Vec<Piece>),
    /// `:?`, `?`: the shell stops if it is empty.
    Required(Vec<Piece>),
    /// `:offset:length`
    Slice(String),
    /// `#`, `##`, `%`, `%%` and the pattern.
    Trim { from: Side, longest: bool, pattern: Vec<Piece> },
    /// `/a/b`, `//a/b`.
    Replace { all: bool, pattern: Vec<Piece>, with: Vec<Piece> },
    /// `^^`, `,,`, `^`, `,`.
    Case { letters: Letters, part: Part },
    /// `#name`: its length.
    Length,
    /// `!name`: the value of the variable it names; also lists of names.
    Indirect,
    /// Anything else: the value is unknown, and these pieces may run something.
    Other(Vec<Piece>),
}

/// What letters become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    Upper,
    Lower,
}

/// How much of a value changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    First,
    All,
}

/// A side of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Start,
    End,
}
