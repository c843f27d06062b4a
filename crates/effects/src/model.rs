//! The format of program models: what a program does with its flags and operands.
//!
//! A model is a constant. One file below `programs/` holds the models of one family, and
//! `programs.rs` lists the families. Adding a program is adding a [`Model`] to its family.
//!
//! # One full example
//!
//! ```ignore
//! use crate::model::*;
//!
//! pub(crate) const MODELS: &[Model] = &[
//!     model(&["sort"])                                  // every name the program has
//!         .flags(&[
//!             takes(&["-o", "--output"], &[WRITES]),     // takes a value: a file that is written
//!             takes(&["-k", "--key", "-t", "-S"], &[]),  // takes a value that does nothing
//!             takes(&["--compress-program"], &[PROGRAM]),// the value is a program that runs
//!             takes(&["--files0-from"], &[READS]),
//!             takes(&["-T", "--temporary-directory"], &[]),
//!         ])                                             // flags without a value and without an
//!                                                        // effect (`-n`, `-r`) may be left out
//!         .operands(each(&[READS]))                      // every operand is a file that is read
//!         .examples(&[
//!             ("sort -o out.txt in.txt", &["reads in.txt", "writes out.txt"]),
//!             ("sort -rn -oout.txt in.txt", &["reads in.txt", "writes out.txt"]),
//!             ("sort --compress-program=sh a", &["reads a", "runs sh"]),
//!         ]),
//!     model(&["terraform"])
//!         .style(Style::SingleDash)                      // `-chdir=x`, no bundles of letters
//!         .flags(&[takes(&["-chdir"], &[FOLDER])])       // operands are relative to this folder
//!         .subs(&[
//!             model(&["plan", "validate", "show"]),      // known to do nothing that matters
//!             model(&["destroy"]).always(&[mark(Mark::Infrastructure)]),
//!             model(&["apply"])
//!                 .flags(&[switch(&["-destroy"], &[mark(Mark::Infrastructure)])]),
//!         ])
//!         .examples(&[
//!             ("terraform -chdir=prod destroy -auto-approve", &["marks infrastructure"]),
//!             ("terraform plan -out=x", &[]),
//!         ]),
//! ];
//! ```
//!
//! # How a command line is read
//!
//! 1. The name without folders selects the model.
//! 2. Words are read by the [`Style`]. A flag is found in the flags of the sub-command, then in those
//!    of the commands around it. A long flag may be shortened (`--recur`), as GNU programs allow.
//!    An unknown flag takes no value; so nothing that follows it is hidden.
//! 3. The first operand that names a sub-command selects it, and the rest is read by its model.
//! 4. What is left are operands. [`Operands`] say what each one does. A flag can exchange them
//!    ([`Flag::operands`], used for `rm -r` and `tar -x`): of several such flags that are given, the
//!    last one in the model's list decides. A flag can stand in for the leading operands
//!    ([`Flag::instead`], used for `grep -e` and `sed -e`).
//! 5. [`Model::always`] applies whatever the flags are.
//!
//! # Examples
//!
//! Every example is a test. The left side is a command line. The right side lists the effects,
//! in any order, as [`Action`](crate::Action) prints them, and the marks of all commands as one
//! line `marks a b`. The run of the outermost program itself is left out; commands that it runs
//! are listed. The ground is unknown, so paths keep their spelling.
//!
//! | line | effect |
//! |---|---|
//! | `reads P`, `reads-tree P`, `lists P` | content, content of all below, only names |
//! | `writes P`, `appends P`, `empties P`, `makes P`, `changes P`, `links P` | [`Change`] |
//! | `deletes P`, `deletes-tree P` | one file, all below |
//! | `fetches H:PORT`, `sends …`, `executes …`, `remote …`, `listens …`, `tunnels …` | [`Purpose`] |
//! | `runs PROGRAM ARGS` | a command that the program starts |
//! | `sets NAME=VALUE` | a setting |
//! | `opaque WHY` | `program`, `code`, `network-code`, `script`, `language`, `value`, … |
//! | `marks M…` | the [`Mark`]s, sorted as in [`Mark::ALL`] |

use crate::effect::{Access, Change, Purpose, Reach, Scope};
use crate::marks::Mark;

/// What is known about a program, or about one of its sub-commands.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// All names it has: `&["vim", "vi", "view"]`.
    pub names: &'static [&'static str],
    /// How its command line is read. Sub-commands have the style of their program.
    pub style: Style,
    /// Its flags.
    pub flags: &'static [Flag],
    /// What it does with the words that are not flags.
    pub operands: Operands,
    /// Its sub-commands.
    pub subs: &'static [Model],
    /// What it does whatever the flags are.
    pub always: &'static [Does],
    /// What it does if it has no operands and no sub-command.
    pub bare: &'static [Does],
    /// Command lines and their effects.
    pub examples: &'static [CommandExample],
}

/// Flags, sub-commands and operands that some programs of a family have, and the others do not.
///
/// They come before those of the family's model. The names of the model are the sub-commands that it
/// is about (`env remove`); without a name it is about the whole program.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    /// The programs, as they are called.
    pub programs: &'static [&'static str],
    /// What they have.
    pub model: Model,
}

/// A command line and the effects it must have.
pub type CommandExample = (&'static str, &'static [&'static str]);

/// What is done with one value. Usually one thing, sometimes several.
pub type Use = &'static [Does];

/// How a program reads its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `-rf`, `-ofile`, `-o file`, `--out file`, `--out=file`; flags and operands in any order; `--`
    /// ends the flags.
    Gnu,
    /// As `Gnu`, but the first operand ends the flags: `ssh`, `env`, `python`.
    Posix,
    /// `-name value`, `-name=value`, `--name value`; no bundles: `find`, `terraform`, `java`, `openssl`.
    SingleDash,
    /// As `Gnu`, but the first word may be a bundle without a dash: `tar xzf`, `ps aux`.
    Bundle,
    /// No flags: every word is an operand: `echo`, `expr`.
    Plain,
}

/// A flag.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// All its spellings, dashes included: `&["--force", "-f"]`. The first one is the name that
    /// rules see. A spelling without a dash is a prefix of an operand: `of=`, `+`, `:`.
    pub names: &'static [&'static str],
    /// Whether it takes a value.
    pub value: Value,
    /// What it does with the value, or without one.
    pub does: Use,
    /// What operands mean if it is given.
    pub operands: Option<Operands>,
    /// Whether it stands in for the leading operands, as `grep -e PATTERN` does.
    pub instead: bool,
}

/// How a flag takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// It takes none.
    None,
    /// One: the rest of the word, or the next word.
    One,
    /// One, only in the same word: `-i.bak`, `--color=auto`, `of=file`.
    Joined,
    /// Digits in the same word, if any; more letters are flags of their own: `perl -0777pi`.
    Digits,
    /// Two words; the first one is used: `find -fprintf FILE FORMAT`.
    FirstOfTwo,
    /// Two words; the second one is used: `jq --slurpfile NAME FILE`, `nmap`, `ssh-keygen`.
    SecondOfTwo,
    /// All words up to `;` or `+`: `find -exec`.
    ToSemicolon,
    /// All remaining words: `xterm -e`.
    Rest,
}

/// What a program does with its operands.
#[derive(Debug, Clone, Copy)]
pub struct Operands {
    /// The leading ones, one by one.
    pub first: &'static [Use],
    /// The others.
    pub rest: Use,
    /// The last one, if there are at least two: the target of `cp`.
    pub last: Option<Use>,
}

/// What is done with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Reads the file that the value names.
    Reads(Access),
    /// Writes the file that the value names.
    Writes(Change),
    /// Deletes the file that the value names.
    Deletes(Scope),
    /// Talks to the URL, `host`, `host:port` or `user@host` that the value is.
    Connects(Purpose),
    /// A copy from (`Fetch`) or to (`Send`) a path that may be on another host: `scp`, `rsync`.
    /// `host:path`, `user@host:path` and URLs connect; anything else is a local path that is read
    /// (`Fetch`) or written (`Send`).
    Transfers(Purpose),
    /// The address of a repository: a URL, `host:path`, or a local folder that is read.
    Repository(Purpose),
    /// A package to install: a name (nothing more), a URL, `git+https://…`, `user/repo`, a local path.
    Package(Registry),
    /// `@file` reads that file; `-` is standard input; anything else is text: `curl -d`.
    AtFile,
    /// `name=@file`, `name=<file`, `name@file` reads that file: `curl -F`, `http`.
    FieldFile,
    /// The value is shell text that runs: `bash -c`, `ssh host TEXT`.
    Shell,
    /// As `Shell`, but on another machine or in a container: it runs, but its paths are not ours.
    RemoteShell,
    /// A file in a list of keys, or a path: `id=x,src=FILE`, `type=local,dest=FOLDER`, `json=FILE`. It is
    /// read (`Fetch`) or written (`Send`).
    KeyedFile(Purpose),
    /// A host in a list of keys, or a URL: `host=NAME user=x`, `smtp=NAME`.
    KeyedHost,
    /// The command line that starts here runs: `sudo`, `find -exec`.
    Command,
    /// As `Command`, but on another machine or in a container.
    RemoteCommand,
    /// As `Command`, with more words from standard input: `xargs`.
    CommandWithInput,
    /// The value names a program that runs, possibly with arguments: `--compress-program=sh`.
    Program,
    /// The value is code that runs.
    Code(Language),
    /// The value names a file with code that runs.
    Script(Language),
    /// The value names extensions: a plain name is one of the program's own, a path is a file with code.
    Extension,
    /// The value is a file with a list of what to do that is not analysed: a build file, a playbook.
    Recipe,
    /// The value becomes the folder that relative operands start from: `git -C`, `make -C`.
    Folder,
    /// `NAME=VALUE` sets that setting; the text is what to put in front of the name: `env:`, `git:`.
    Assigns(&'static str, Reach),
    /// The value is the new value of this setting: `git:core.editor`.
    Sets(&'static str, Reach),
    /// `SOURCE:TARGET[:OPTIONS]` or `type=bind,source=…` of a container.
    Mount,
    /// `PORT:HOST:PORT` of `ssh -L`, `-R` and `-D`.
    Forward,
    /// SQL text that runs.
    Sql,
    /// The whole command has this mark.
    Marks(Mark),
    /// The command has this mark if the value is one of these words.
    MarksIf(&'static [&'static str], Mark),
    /// The command has this mark if the value contains this text.
    MarksIfContains(&'static str, Mark),
    /// The value names a service, a process or a package that stops: if it guards the machine, the
    /// command has the mark `guard`.
    Stops,
    /// The value is the mode of a file: setuid and setgid give the command the mark `privilege`.
    Mode,
    /// Reads this file, whatever the value is.
    ReadsFile(&'static str, Access),
    /// Writes this file, whatever the value is.
    WritesFile(&'static str, Change),
    /// Deletes this file, whatever the value is.
    DeletesFile(&'static str, Scope),
    /// Connects to this host (`host` or `host:port`), whatever the value is.
    ConnectsTo(&'static str, Purpose),
    /// Code in standard input runs, unless there are operands: `bash`, `python` without a file.
    RunsInput(Language),
    /// Starts a shell for a person, unless the command line says what to run instead: `script`, `chroot`.
    StartsShell,
    /// Reads names of files or words from standard input and uses them as operands: `xargs`, `cpio`.
    OpaqueInput,
    /// Does something that the text does not show: `eval` of another language, a plugin.
    Hides,
}

/// Where packages of a program come from if they are only named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    /// npm, yarn, pnpm, bun: `user/repo` is a repository on GitHub.
    Npm,
    /// pip, uv, pipx.
    Pip,
    /// cargo.
    Cargo,
    /// go: the package's name is its host: `example.com/tool@latest`.
    Go,
    /// go run: a package only if its name has a version, otherwise a folder or a file.
    GoRun,
    /// RubyGems.
    Gem,
    /// apt, dnf, brew and other managers of the system; a local `.deb` or `.rpm` is a file.
    System,
    /// Container images: `registry.example.com/name:tag`; without a host it is Docker Hub.
    Image,
    /// Anything else: only URLs say where it comes from.
    Other,
}

/// The language of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// POSIX shell and its kin.
    Shell,
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// awk.
    Awk,
    /// sed.
    Sed,
    /// AppleScript.
    AppleScript,
    /// Lua.
    Lua,
    /// Vim commands: `:!cmd`, `:w file`.
    Vim,
    /// PowerShell.
    PowerShell,
    /// PowerShell in base64: `-EncodedCommand`.
    EncodedPowerShell,
    /// The command interpreter of Windows.
    Cmd,
    /// The shell of MongoDB.
    Mongo,
    /// R.
    R,
    /// Commands of a debugger.
    Gdb,
    /// C, Go, Rust, Java and their kin.
    Compiled,
    /// Tcl with the commands of `expect`.
    Expect,
    /// Expressions and templates that can read files, and nothing else: Terraform, Jsonnet, Nix.
    Expression,
    /// A language that cannot do anything to files, processes or the network: `jq`, `bc`.
    Harmless,
    /// Any other.
    Other,
}

/// The content of a file is read.
pub const READS: Does = Does::Reads(Access::Content);
/// The content of everything below a folder is read.
pub const READS_TREE: Does = Does::Reads(Access::Tree);
/// Only names or attributes are read.
pub const LISTS: Does = Does::Reads(Access::Names);
/// A file gets new content.
pub const WRITES: Does = Does::Writes(Change::Content);
/// Text is added to a file.
pub const APPENDS: Does = Does::Writes(Change::Append);
/// A folder is made or filled.
pub const MAKES: Does = Does::Writes(Change::Folder);
/// Attributes of a file change.
pub const CHANGES: Does = Does::Writes(Change::Attributes);
/// A file or an empty folder is removed.
pub const DELETES: Does = Does::Deletes(Scope::One);
/// A folder is removed with everything below it.
pub const DELETES_TREE: Does = Does::Deletes(Scope::Tree);
/// Data comes from the URL or host that the value names.
pub const FETCHES: Does = Does::Connects(Purpose::Fetch);
/// Data goes to the URL or host that the value names.
pub const SENDS: Does = Does::Connects(Purpose::Send);
/// The value names a program that runs.
pub const PROGRAM: Does = Does::Program;
/// The value is shell text that runs.
pub const SHELL: Does = Does::Shell;
/// The words from here on are a command that runs.
pub const COMMAND: Does = Does::Command;
/// The value is the folder that operands are relative to.
pub const FOLDER: Does = Does::Folder;

/// A mark for the whole command.
pub const fn mark(mark: Mark) -> Does {
    Does::Marks(mark)
}

/// A model of the program with these names that does nothing yet.
pub const fn model(names: &'static [&'static str]) -> Model {
    Model {
        names,
        style: Style::Gnu,
        flags: &[],
        operands: each(&[]),
        subs: &[],
        always: &[],
        bare: &[],
        examples: &[],
    }
}

impl Model {
    /// The same model with another style.
    #[must_use]
    pub const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The same model with these flags.
    #[must_use]
    pub const fn flags(mut self, flags: &'static [Flag]) -> Self {
        self.flags = flags;
        self
    }

    /// The same model with these operands.
    #[must_use]
    pub const fn operands(mut self, operands: Operands) -> Self {
        self.operands = operands;
        self
    }

    /// The same model with these sub-commands.
    #[must_use]
    pub const fn subs(mut self, subs: &'static [Model]) -> Self {
        self.subs = subs;
        self
    }

    /// The same model, doing this whatever the flags are.
    #[must_use]
    pub const fn always(mut self, always: Use) -> Self {
        self.always = always;
        self
    }

    /// The same model, doing this if there are neither operands nor a sub-command.
    #[must_use]
    pub const fn bare(mut self, bare: Use) -> Self {
        self.bare = bare;
        self
    }

    /// The same model with these examples.
    #[must_use]
    pub const fn examples(mut self, examples: &'static [CommandExample]) -> Self {
        self.examples = examples;
        self
    }
}

/// What a program of a family has for itself: see [`Own`].
pub const fn own(programs: &'static [&'static str], model: Model) -> Own {
    Own { programs, model }
}

/// A flag without a value.
pub const fn switch(names: &'static [&'static str], does: Use) -> Flag {
    Flag { names, value: Value::None, does, operands: None, instead: false }
}

/// A flag with a value.
pub const fn takes(names: &'static [&'static str], does: Use) -> Flag {
    Flag { names, value: Value::One, does, operands: None, instead: false }
}

/// A flag whose value, if any, is in the same word; also the prefix of an operand (`of=`).
pub const fn joined(names: &'static [&'static str], does: Use) -> Flag {
    Flag { names, value: Value::Joined, does, operands: None, instead: false }
}

/// A flag that digits may follow.
pub const fn digits(names: &'static [&'static str]) -> Flag {
    Flag { names, value: Value::Digits, does: &[], operands: None, instead: false }
}

impl Flag {
    /// The same flag, taking values in another way.
    #[must_use]
    pub const fn value(mut self, value: Value) -> Self {
        self.value = value;
        self
    }

    /// The same flag; operands mean this if it is given.
    #[must_use]
    pub const fn operands(mut self, operands: Operands) -> Self {
        self.operands = Some(operands);
        self
    }

    /// The same flag; it stands in for the leading operands.
    #[must_use]
    pub const fn instead(mut self) -> Self {
        self.instead = true;
        self
    }
}

impl Operands {
    /// Whether operands mean nothing.
    pub(crate) const fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_empty() && self.last.is_none()
    }
}

/// Every operand is used like this.
pub const fn each(rest: Use) -> Operands {
    Operands { first: &[], rest, last: None }
}

/// The last operand is used differently if there are at least two: `cp SOURCE… TARGET`.
pub const fn sources_and_target(rest: Use, last: Use) -> Operands {
    Operands { first: &[], rest, last: Some(last) }
}

/// The leading operands are used one by one, the others alike: `grep PATTERN FILE…`.
pub const fn leading(first: &'static [Use], rest: Use) -> Operands {
    Operands { first, rest, last: None }
}
