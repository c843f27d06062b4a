//! The effects that have been found so far, and how much may still be looked at.

use callgate_call::{FileWrite, SessionFiles, WrittenContent};

use crate::effect::{Action, Effect, EffectPlace, Effects, Run, SubCommand};
use crate::ground::Ground;
use crate::shell::syntax::Span;

/// Bytes of derived texts (`bash -c`, decoded pipes) that are analysed for one call, in addition to
/// the arguments themselves.
const MAX_BYTES: usize = 1 << 20;
/// Commands, calls and substitutions that are followed for one call. Functions that call themselves
/// twice would double the work with each level.
const MAX_STEPS: usize = 6000;
/// Effects that one call can have. More of them make it opaque anyway.
const MAX_EFFECTS: usize = 4096;

/// Files that one call writes and that are kept for later calls.
const MAX_WRITES: usize = 512;

/// Collects the effects of one call.
pub(crate) struct Analysis<'g> {
    pub(crate) ground: &'g Ground<'g>,
    pub(crate) effects: Effects,
    /// The argument that is analysed: its index and its text.
    pub(crate) argument: usize,
    pub(crate) source: String,
    /// The files that this call writes.
    pub(crate) own: SessionFiles,
    /// The scripts that are being followed, so that one that runs itself is followed once.
    pub(crate) following: Vec<String>,
    bytes: usize,
    steps: usize,
}

impl<'g> Analysis<'g> {
    pub(crate) fn new(ground: &'g Ground<'g>) -> Self {
        Self {
            ground,
            effects: Effects::default(),
            argument: 0,
            source: String::new(),
            own: SessionFiles::default(),
            following: Vec::new(),
            bytes: 0,
            steps: 0,
        }
    }

    /// Starts with another argument.
    pub(crate) fn argument(&mut self, path: &str, text: &str) {
        self.argument = self.effects.arguments.len();
        self.effects.arguments.push(path.to_owned());
        self.source = text.to_owned();
    }

    /// Counts one command, call or substitution. `false` if there were too many.
    pub(crate) fn take_step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= MAX_STEPS
    }

    pub(crate) fn take_bytes(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes <= MAX_BYTES
    }

    /// The span within the text of the argument, between characters.
    fn fit(&self, span: Span) -> Span {
        let end = self.source.floor_char_boundary(span.end.min(self.source.len()));
        let start = self.source.floor_char_boundary(span.start.min(end));
        start..end
    }

    /// How many commands have been found.
    pub(crate) fn commands(&self) -> usize {
        self.effects.commands.len()
    }

    pub(crate) fn command(&mut self, command: SubCommand) -> usize {
        let span = self.fit(command.span);
        self.effects.commands.push(SubCommand { span, ..command });
        self.effects.commands.len() - 1
    }

    pub(crate) fn push(&mut self, action: Action, span: Span, command: Option<usize>) {
        if self.effects.all().len() < MAX_EFFECTS {
            let at = EffectPlace { argument: self.argument, span: self.fit(span), command };
            self.effects.push(Effect { action, at });
        }
    }

    /// Adds a run and returns where it is. Flags and marks are added to it later.
    pub(crate) fn push_run(&mut self, run: Run, span: Span, command: Option<usize>) -> usize {
        let at = EffectPlace { argument: self.argument, span: self.fit(span), command };
        self.effects.push_always(Effect { action: Action::Runs(run), at })
    }

    pub(crate) fn run_mut(&mut self, at: usize) -> Option<&mut Run> {
        self.effects.run_mut(at)
    }

    /// Keeps what is written into a file.
    pub(crate) fn wrote(&mut self, path: &str, content: WrittenContent) {
        if self.effects.files.len() < MAX_WRITES {
            let write = FileWrite { path: path.to_owned(), content };
            self.own.apply(write.clone());
            self.effects.files.push(write);
        }
    }

    /// The effects that were added since there were that many.
    pub(crate) fn since(&self, count: usize) -> &[Effect] {
        self.effects.all().get(count..).unwrap_or_default()
    }

    /// Everything that was found.
    pub(crate) fn finish(self) -> Effects {
        self.effects
    }
}
