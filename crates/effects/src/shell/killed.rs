//! Which processes a pattern of `pkill`, `killall` or `pgrep` finds.
//!
//! A pattern is a regular expression: `[c]allgate` and `callg.*` find callgate without naming it. If one does,
//! the run gets the name as another word, so that rules on words see what the pattern means.

use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::word::Word;

/// callgate as a process list shows it.
const SHOWN: &str = "/usr/local/bin/callgate serve";

/// Steps that one comparison may take.
const MAX_STEPS: usize = 2000;

impl Shell<'_, '_> {
    /// Adds the name of callgate to a run whose pattern finds it.
    pub(crate) fn finds_callgate(&mut self, program: &str, line: &Line<'_>, context: &Context) {
        let has = |flags: &[&str]| {
            let words = line.words.iter().filter_map(Field::text);
            words.into_iter().any(|word| flags.contains(&word))
        };
        let is_whole = has(&["--full"]) || line.words.iter().any(shows_whole);
        let shown = if is_whole && program != "killall" { SHOWN } else { "callgate" };
        let is_pattern = program != "killall" || has(&["-r", "--regexp", "-m"]);
        // `pkill -v x`: everything else.
        let inverts = program == "pkill" && has(&["-v", "--inverse"]);
        let mut names = line.operands.iter();
        let found = if inverts {
            true
        } else if line.operands.is_empty() {
            // `pkill -u USER`: every process of that user.
            line.words.iter().any(selects_user)
        } else {
            is_pattern && names.any(|name| finds(name.word.known_part(), shown))
        };
        if found && let Some(run) = self.out.run_mut(context.run) {
            run.words.push(Word::known("callgate"));
        }
    }

    /// `grep '[c]allgate'` and `awk '/[c]allgate/'` look for callgate, too.
    pub(crate) fn looks_for_callgate(&mut self, line: &Line<'_>, context: &Context) {
        let shows = |field: &Field| {
            let text = field.word.known_part();
            let plain: String = text.chars().filter(|sign| !matches!(sign, '[' | ']')).collect();
            text.contains('[') && plain.contains("callg")
        };
        if line.words.iter().take(16).any(shows)
            && let Some(run) = self.out.run_mut(context.run)
        {
            run.words.push(Word::known("callgate"));
        }
    }
}

/// `-f`, also with other letters: the pattern is compared with the whole command line.
fn shows_whole(field: &Field) -> bool {
    let start = field.word.known_start();
    start.starts_with('-') && !start.starts_with("--") && start.contains('f')
}

fn selects_user(field: &Field) -> bool {
    let start = field.word.known_start();
    start.starts_with("-u")
        || start.starts_with("-U")
        || start.starts_with("--user")
        || start.starts_with("--euid")
}

/// One step of a pattern.
enum Item {
    Any,
    One(char),
    Set(Vec<char>, bool),
}

impl Item {
    fn fits(&self, letter: char) -> bool {
        match self {
            Self::Any => true,
            Self::One(one) => one.eq_ignore_ascii_case(&letter),
            Self::Set(letters, is_negated) => {
                let mut is_in = letters.contains(&letter);
                let mut at = 0;
                while let [from, '-', to] = letters.get(at..at + 3).unwrap_or_default() {
                    is_in |= (*from..=*to).contains(&letter);
                    at += 3;
                }
                is_in != *is_negated
            }
        }
    }
}

/// Whether a regular expression finds something in a text. Alternatives count one by one; what this does not
/// know (groups, back-references) is left out of the pattern.
fn finds(pattern: &str, text: &str) -> bool {
    if pattern.len() > 256 {
        return false;
    }
    let text: Vec<char> = text.chars().collect();
    pattern.split('|').any(|pattern| {
        let is_start = pattern.starts_with('^');
        let items = items(pattern);
        let mut steps = MAX_STEPS;
        let starts = if is_start { 0..=0 } else { 0..=text.len() };
        starts.into_iter().any(|from| {
            let rest = text.get(from..).unwrap_or_default();
            fits(&items, rest, pattern.ends_with('$'), &mut steps)
        })
    })
}

/// The steps of a pattern, and whether each may repeat or be missing.
fn items(pattern: &str) -> Vec<(Item, char)> {
    let mut items: Vec<(Item, char)> = Vec::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        let item = match letter {
            '^' | '$' | '(' | ')' => continue,
            '*' | '+' | '?' => {
                if let Some((_, repeat)) = items.last_mut() {
                    *repeat = letter;
                }
                continue;
            }
            '.' => Item::Any,
            '\\' => Item::One(letters.next().unwrap_or('\\')),
            '[' => {
                let is_negated = letters.next_if_eq(&'^').is_some();
                let set = letters.by_ref().take_while(|letter| *letter != ']').collect();
                Item::Set(set, is_negated)
            }
            other => Item::One(other),
        };
        items.push((item, '1'));
    }
    items
}

fn fits(items: &[(Item, char)], text: &[char], to_end: bool, steps: &mut usize) -> bool {
    // What takes too long may match.
    let Some(left) = steps.checked_sub(1) else { return true };
    *steps = left;
    let Some(((item, repeat), rest)) = items.split_first() else {
        return !to_end || text.is_empty();
    };
    let is_next = text.first().is_some_and(|letter| item.fits(*letter));
    let after = text.get(1..).unwrap_or_default();
    match repeat {
        '*' => fits(rest, text, to_end, steps) || is_next && fits(items, after, to_end, steps),
        '+' => is_next && (fits(rest, after, to_end, steps) || fits(items, after, to_end, steps)),
        '?' => fits(rest, text, to_end, steps) || is_next && fits(rest, after, to_end, steps),
        _ => is_next && fits(rest, after, to_end, steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_finds_what_pkill_finds() {
        for pattern in [
            "[c]allgate",
            "c.llgate",
            "callg",
            "gate serve",
            ".",
            "call.*",
            "x|^/usr.*gate",
            "ser?ve$",
        ] {
            assert!(finds(pattern, SHOWN), "{pattern}");
        }
        for pattern in
            ["node server.js", "vite serve", "[c]allgates", "^callgate", "next-server", "webpack"]
        {
            assert!(!finds(pattern, SHOWN), "{pattern}");
        }
        assert!(finds(&"(a*)*".repeat(20), "aaaaaaaaaaaaaaaaaaaaaaaaab"));
    }
}
