//! Arguments of builtins that are code: the shell runs them later, or for each line that it reads.

use crate::bound::Bound;
use crate::effect::Why;
use crate::marks::Mark;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// What the value of a flag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Shell text.
    Code,
    /// The name of a function.
    Function,
    /// Words that are expanded.
    Words,
    /// A library that becomes part of the shell.
    Library,
}

/// Flags of builtins whose value runs.
const CALLBACKS: &[(&[&str], char, Part)] = &[
    (&["mapfile", "readarray"], 'C', Part::Code),
    (&["compgen", "complete"], 'C', Part::Code),
    (&["compgen", "complete"], 'F', Part::Function),
    (&["compgen", "complete"], 'W', Part::Words),
    (&["bind"], 'x', Part::Code),
    (&["enable"], 'f', Part::Library),
];

/// Functions that the shell calls by itself.
const HOOKS: &[&str] = &[
    "command_not_found_handle",
    "command_not_found_handler",
    "precmd",
    "preexec",
    "chpwd",
    "periodic",
    "zshexit",
];

/// Whether the shell calls a function of this name by itself.
pub(crate) fn is_hook(name: &str) -> bool {
    HOOKS.contains(&name)
}

impl Shell<'_, '_> {
    /// Runs the arguments of a builtin that are code.
    pub(crate) fn callbacks(&mut self, builtin: &str, arguments: &[Field]) {
        for (names, flag, part) in CALLBACKS {
            if names.contains(&builtin) {
                for value in values(arguments, *flag) {
                    self.callback(*part, &value);
                }
            }
        }
    }

    fn callback(&mut self, part: Part, value: &Field) {
        match part {
            Part::Code => drop(self.word_text(value)),
            Part::Words => self.expand_again(value.word.known_part(), &value.span),
            Part::Library => self.opaque(Why::Code, Bound::ALL, value.span.clone()),
            Part::Function => {
                let function = value.text().and_then(|name| self.functions.get(name)).cloned();
                if let Some(function) = function {
                    self.call(&function, vec![Word::unknown()], None);
                }
            }
        }
    }

    /// `trap [--] CODE SIGNAL…`
    pub(crate) fn trap(&mut self, arguments: &[Field]) {
        let is_end = arguments.first().and_then(Field::text) == Some("--");
        let rest = if is_end { arguments.get(1..).unwrap_or_default() } else { arguments };
        let Some(code) = rest.first() else { return };
        let is_listing = !is_end && matches!(code.text(), Some("-l" | "-p" | "-P"));
        if code.text() != Some("-") && !is_listing {
            self.word_text(code);
        }
        // Each command that is typed goes to a file.
        let is_each = rest.iter().skip(1).any(|signal| signal.text() == Some("DEBUG"));
        let text = code.word.known_part();
        if is_each && text.contains("BASH_COMMAND") && text.contains('>') {
            self.mark_parent(Mark::Spies);
        }
    }

    /// `hash -p PROGRAM NAME`: the name runs that program from now on.
    pub(crate) fn remember_program(&mut self, arguments: &[Field]) {
        let Some(program) = values(arguments, 'p').into_iter().next() else { return };
        let name = arguments.last().and_then(Field::text).map(str::to_owned);
        match (name, program.text()) {
            (Some(name), Some(program)) => drop(self.aliases.insert(name, program.to_owned())),
            _ => self.opaque(Why::Program, Bound::ALL, program.span.clone()),
        }
    }

    /// `BASH_ALIASES[name]=CODE`
    pub(crate) fn alias_element(
        &mut self,
        index: &str,
        value: &Word,
        span: &std::ops::Range<usize>,
    ) {
        self.word_text(&Field::new(value.clone(), span.clone()));
        self.aliases.insert(index.to_owned(), value.known_part().to_owned());
    }

    /// `env 'BASH_FUNC_name%%=() { … }'`: a shell below it has that function.
    pub(crate) fn function_in_environment(&mut self, field: &Field) -> bool {
        let text = field.word.known_part();
        let Some(equals) = text.find('=').filter(|_| text.starts_with("BASH_FUNC_")) else {
            return false;
        };
        let body = field.from(equals + 1);
        let at = body.word.known_part().find('{').unwrap_or(0);
        self.word_text(&body.from(at));
        true
    }
}

/// The values of a flag, in words of their own or in the same word.
fn values(arguments: &[Field], flag: char) -> Vec<Field> {
    let mut values = Vec::new();
    for (at, field) in arguments.iter().enumerate() {
        let start = field.word.known_start();
        let is_flags = start.starts_with('-') && !start.starts_with("--");
        let Some(place) = start.find(flag).filter(|place| is_flags && *place < 8) else { continue };
        let after = place + flag.len_utf8();
        let has_more = after < field.word.known_part().len() || !field.word.is_known();
        let value = if has_more { Some(field.from(after)) } else { arguments.get(at + 1).cloned() };
        values.extend(value);
    }
    values
}

#[cfg(test)]
mod tests {
    use crate::shell::tests::{has, only_runs};

    #[test]
    fn what_a_builtin_calls_is_judged() {
        for text in [
            "mapfile -t -C 'rm -rf ~ #' -c 1 a < README.md",
            "readarray -tC'rm -rf ~;' -c1 a <<< x",
            "compgen -C 'rm -rf ~' x",
            "compgen -W '$(rm -rf ~)'",
            "f() { rm -rf ~; }; complete -F f git",
            "trap -- 'rm -rf ~' INT; kill -INT $$",
            "command_not_found_handle() { rm -rf ~; }; nosuchcmd",
            "env 'BASH_FUNC_ls%%=() { rm -rf ~; }' bash -c ls",
            "shopt -s expand_aliases\nBASH_ALIASES[x]='rm -rf ~'\nx",
            "hash -p /bin/rm ls; ls -rf ~",
        ] {
            has(text, &["deletes-tree /home/u"]);
        }
        has("enable -f ./evil.so evil", &["opaque code"]);
        has("mapfile -C \"$X\" a < README.md", &["opaque code"]);
    }

    #[test]
    fn builtins_without_a_callback_run_nothing() {
        only_runs("mapfile -t lines; trap - INT; trap -p; hash -r; compgen -A function; bind -l");
        only_runs(
            "complete -W 'start stop' svc; trap 'echo bye' EXIT; trap 'kill $(jobs -p)' EXIT",
        );
    }
}
