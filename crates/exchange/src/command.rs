//! Patterns for commands, as conditions.
//!
//! A rule that restricts has to find the command anywhere in a line: it looks at what would run, and
//! at the text if that cannot be known. A rule that allows must be certain about the whole line, so it
//! looks at the text alone: one or more allowed commands, with nothing in them that a shell would act on.

use crate::draft::When;

/// One simple command, or the beginning of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    pieces: Vec<PatternPiece>,
    end: PatternEnd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPiece {
    Text(String),
    /// One of these words.
    OneOf(Vec<String>),
    /// Any text.
    Any,
    /// Any character.
    One,
}

/// How a pattern ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternEnd {
    /// With the command.
    Exact,
    /// With a word: more words may follow.
    Word,
    /// Anywhere.
    Open,
}

impl CommandPattern {
    /// The words at the beginning of a command; each position may have several.
    pub(crate) fn words(words: &[Vec<String>]) -> Self {
        let mut pieces = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                pieces.push(PatternPiece::Text(" ".to_owned()));
            }
            pieces.push(match word.as_slice() {
                [one] => PatternPiece::Text(one.clone()),
                several => PatternPiece::OneOf(several.to_vec()),
            });
        }
        Self { pieces, end: PatternEnd::Word }
    }

    /// A text without wildcards.
    pub(crate) fn text(text: &str, end: PatternEnd) -> Self {
        Self { pieces: vec![PatternPiece::Text(text.trim().to_owned())], end }
    }

    /// A text in which `*` is any text; a last ` *` may also be absent.
    pub(crate) fn wildcard(text: &str, question_mark: QuestionMark) -> Self {
        let text = text.trim();
        let (text, end) = match text.strip_suffix(" *") {
            Some(before) => (before, PatternEnd::Word),
            None => match text.strip_suffix('*') {
                Some(before) => (before, PatternEnd::Open),
                None => (text, PatternEnd::Exact),
            },
        };
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let piece = match letter {
                '*' => PatternPiece::Any,
                '?' if question_mark == QuestionMark::OneCharacter => PatternPiece::One,
                // An escaped wildcard stands for itself.
                '\\' if letters.as_str().starts_with(['*', '\\']) => {
                    literal.extend(letters.next());
                    continue;
                }
                _ => {
                    literal.push(letter);
                    continue;
                }
            };
            if !literal.is_empty() {
                pieces.push(PatternPiece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(piece);
        }
        if !literal.is_empty() {
            pieces.push(PatternPiece::Text(literal));
        }
        Self { pieces, end }
    }

    /// Whether it matches every command.
    pub(crate) fn is_everything(&self) -> bool {
        let is_empty = |piece: &PatternPiece| match piece {
            PatternPiece::Text(text) => text.trim().is_empty(),
            PatternPiece::Any => true,
            PatternPiece::OneOf(_) | PatternPiece::One => false,
        };
        let open = self.end != PatternEnd::Exact || self.pieces.contains(&PatternPiece::Any);
        open && self.pieces.iter().all(is_empty)
    }

    /// Whether the pattern is text with wildcards inside, which cannot be compared with what runs.
    pub(crate) fn is_only_text(&self) -> bool {
        self.plain_commands().is_none()
    }

    /// A condition for a rule that restricts. The text counts where nobody can say what would run.
    pub(crate) fn restricting(&self) -> When {
        let text = When::text("@command", "matches", self.anywhere());
        let Some(commands) = self.plain_commands() else { return text };
        let unreadable = UNREADABLE.iter().map(|reason| (*reason).to_owned()).collect();
        let unreadable = When::All(vec![When::Effect("opaque", unreadable), text]);
        When::Any(vec![When::Effect("runs", commands), unreadable])
    }

    /// The values of `runs` that cover it, if it is made of plain words.
    pub(crate) fn plain_commands(&self) -> Option<Vec<String>> {
        if self.end != PatternEnd::Word {
            return None;
        }
        let mut commands = vec![String::new()];
        for piece in &self.pieces {
            let words = match piece {
                PatternPiece::Text(text) => std::slice::from_ref(text),
                PatternPiece::OneOf(words) => words,
                PatternPiece::Any | PatternPiece::One => return None,
            };
            let longer = |command: &String| {
                words.iter().map(|word| format!("{command}{word}")).collect::<Vec<_>>()
            };
            commands = commands.iter().flat_map(longer).collect();
            if commands.len() > MOST_COMMANDS {
                return None;
            }
        }
        commands.iter().all(|command| is_plain(command)).then_some(())?;
        Some(commands.iter().map(|command| without_folder(command)).collect())
    }

    /// A regular expression that finds the command at the beginning of any command of a line.
    fn anywhere(&self) -> String {
        let end = match self.end {
            PatternEnd::Exact => r"\s*(?:$|[;&|)}`\n])",
            PatternEnd::Word => r"(?:$|[\s;&|)}`<>])",
            PatternEnd::Open => "",
        };
        format!(
            r"(?s)(?:^|[;&|(){{}}`\n]|\b(?:sudo|env|xargs|nohup|time)\s)\s*{}{end}",
            self.regex(r"\s+", ".*", ".")
        )
    }

    fn regex(&self, space: &str, any: &str, one: &str) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                PatternPiece::Text(text) => out.push_str(&literal(text, space)),
                PatternPiece::OneOf(words) => {
                    let words: Vec<String> = words.iter().map(|it| literal(it, space)).collect();
                    out.push_str(&format!("(?:{})", words.join("|")));
                }
                PatternPiece::Any => out.push_str(any),
                PatternPiece::One => out.push_str(one),
            }
        }
        out
    }

    /// A regular expression for one whole command, without anything that a shell would act on.
    fn whole(&self) -> String {
        let end = match self.end {
            PatternEnd::Exact => String::new(),
            PatternEnd::Word => format!("(?:[ \\t]{HARMLESS}*)?"),
            PatternEnd::Open => format!("{HARMLESS}*"),
        };
        format!("{}{end}", self.regex("[ \\t]+", &format!("{HARMLESS}*"), HARMLESS))
    }
}

/// What `?` means in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionMark {
    Itself,
    OneCharacter,
}

/// A condition for a rule that allows: a line of commands of which each is one of these.
pub(crate) fn allowing(patterns: &[CommandPattern]) -> When {
    let commands: Vec<String> = patterns.iter().map(CommandPattern::whole).collect();
    let all = format!(r"^(?:[ \t]*(?:{})[ \t]*(?:$|&&|\|\||[;|]))+$", commands.join("|"));
    When::text("@command", "matches", all)
}

/// The characters of a command that no shell acts on, except for spaces and quotes.
const HARMLESS: &str = r"[^;&|<>$`\\(){}\r\n]";

/// Why it may not be known what a text runs.
const UNREADABLE: [&str; 4] = ["syntax", "size", "language", "arguments"];

/// Words of the shell that are no programs.
const KEYWORDS: [&str; 16] = [
    "time", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case",
    "esac", "select", "function", "coproc",
];

/// More alternatives are compared as text only.
const MOST_COMMANDS: usize = 64;

/// Words that `runs` compares as they are.
fn is_plain(command: &str) -> bool {
    let plain = |it: char| {
        it.is_ascii_alphanumeric()
            || matches!(it, ' ' | '-' | '_' | '.' | '/' | ':' | '@' | '=' | '+' | ',')
    };
    let first = command.split(' ').next().unwrap_or_default();
    !command.trim().is_empty()
        && command.chars().all(plain)
        && !first.starts_with('-')
        && !KEYWORDS.contains(&first)
        && !first.contains('=')
        && !first.ends_with('/')
}

/// `runs` compares the names of programs, without their folder.
fn without_folder(command: &str) -> String {
    let (program, rest) = command.split_once(' ').map_or((command, None), |(a, b)| (a, Some(b)));
    let program = program.rsplit('/').next().unwrap_or(program);
    rest.map_or_else(|| program.to_owned(), |rest| format!("{program} {rest}"))
}

/// A text as a regular expression, with any amount of space for each space.
pub(crate) fn literal(text: &str, space: &str) -> String {
    let mut out = String::new();
    let mut was_space = false;
    for letter in text.chars() {
        let is_space = letter == ' ' || letter == '\t';
        if is_space && !was_space {
            out.push_str(space);
        } else if !is_space {
            out.push_str(&regex::escape(&letter.to_string()));
        }
        was_space = is_space;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    fn parts(pattern: &str) -> CommandPattern {
        CommandPattern::wildcard(pattern, QuestionMark::Itself)
    }

    fn finds(pattern: &str, line: &str) -> bool {
        Regex::new(&parts(pattern).anywhere()).unwrap().is_match(line)
    }

    fn allows(patterns: &[&str], line: &str) -> bool {
        let patterns: Vec<_> = patterns.iter().map(|it| parts(it)).collect();
        let When::Arg { value: crate::draft::Operand::Text(regex), .. } = allowing(&patterns)
        else {
            panic!()
        };
        Regex::new(&regex).unwrap().is_match(line)
    }

    #[test]
    fn a_restricted_command_is_found_anywhere_in_a_line() {
        for (pattern, line, expected) in [
            ("git push *", "git push", true),
            ("git push *", "cd x && git  push -f", true),
            ("git push *", "git pushy", false),
            ("git push*", "git pushy", true),
            ("git push", "git push origin", false),
            ("git push", "git push; ls", true),
            ("git * main", "git push origin main", true),
            ("git * main", "git push origin mainly", false),
            ("rm *", "echo $(rm x)", true),
            ("rm *", "sudo rm x", true),
            ("rm *", "echo rm x", false),
        ] {
            assert_eq!(finds(pattern, line), expected, "{pattern}: {line}");
        }
    }

    #[test]
    fn an_allowed_line_consists_of_allowed_commands() {
        let list = ["npm run test *", "git status", "ls*"];
        for (line, expected) in [
            ("npm run test", true),
            ("npm run test -- --watch 'a b'", true),
            ("npm run tests", false),
            ("git status && npm run test", true),
            ("git status -s", false),
            ("lsof -i", true),
            ("npm run test > out", false),
            ("npm run test; rm x", false),
            ("npm run test $(rm x)", false),
            ("npm run test & rm x", false),
            ("npm run test\nrm x", false),
            ("./npm run test", false),
            ("A=b npm run test", false),
            ("", false),
        ] {
            assert_eq!(allows(&list, line), expected, "{line}");
        }
    }

    #[test]
    fn what_runs_covers() {
        assert_eq!(parts("git push *").plain_commands().unwrap(), ["git push"]);
        assert_eq!(parts("/usr/bin/git push *").plain_commands().unwrap(), ["git push"]);
        let words = [vec!["npm".into()], vec!["i".into(), "install".into()]];
        let words = CommandPattern::words(&words);
        assert_eq!(words.plain_commands().unwrap(), ["npm i", "npm install"]);
        assert!(parts("git push").is_only_text());
        assert!(parts("git * main *").is_only_text());
        assert!(parts("*").is_everything());
        assert!(!parts("l*").is_everything());
    }
}
