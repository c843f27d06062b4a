//! Terminal sequences: where one ends, and its effect.

/// Longer strings inside an operating-system command are not a command: terminals give up there
/// too. Then only the introducer counts as the sequence.
const MAX_STRING: usize = 4096;

/// The most parameters of a control sequence; terminals read a few dozen.
const MAX_PARAMETERS: usize = 128;

/// The purpose of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SequencePurpose {
    /// Colours and weight.
    Style,
    /// Text that is not drawn.
    Conceal,
    /// Moves, erases, scrolls: the screen no longer shows what was written.
    Move,
    /// A link whose target differs from its text.
    Link,
    /// Writes the clipboard.
    Clipboard,
    /// Anything else.
    Other,
}

impl SequencePurpose {
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Style => "colours",
            Self::Conceal => "text that is not drawn",
            Self::Move => "moves or erases text on the screen",
            Self::Link => "a link whose address is not shown",
            Self::Clipboard => "writes to the clipboard",
            Self::Other => "a command to the terminal",
        }
    }
}

/// Whether a sequence may begin with this character.
pub(super) fn begins(c: char) -> bool {
    matches!(c, '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}' | '\u{9e}' | '\u{9f}')
}

/// The number of characters in the sequence that begins with the first, and its kind. `None` if no
/// sequence begins there.
pub(super) fn sequence(chars: impl Iterator<Item = char>) -> Option<(usize, SequencePurpose)> {
    let mut chars = chars.fuse();
    match chars.next().filter(|c| begins(*c))? {
        '\u{9b}' => Some(control(1, chars)),
        '\u{9d}' => Some(string(1, chars, true)),
        '\u{1b}' => Some(match chars.next() {
            Some('[') => control(2, chars),
            Some(']') => string(2, chars, true),
            Some('P' | 'X' | '^' | '_') => string(2, chars, false),
            Some('\u{20}'..='\u{2f}') => match chars.next() {
                Some('\u{30}'..='\u{7e}') => (3, SequencePurpose::Other),
                _ => (2, SequencePurpose::Other),
            },
            Some('\u{30}'..='\u{7e}') => (2, SequencePurpose::Other),
            // Only the escape; what follows may be text, or another escape.
            _ => (1, SequencePurpose::Other),
        }),
        _ => Some(string(1, chars, false)),
    }
}

/// Parameters, then one final letter. An invalid one ends before what does not belong to it.
fn control(head: usize, chars: impl Iterator<Item = char>) -> (usize, SequencePurpose) {
    let mut parameters = String::new();
    for c in chars.take(MAX_PARAMETERS) {
        match c {
            '\u{20}'..='\u{3f}' => parameters.push(c),
            '\u{40}'..='\u{7e}' => return (head + parameters.len() + 1, purpose(c, &parameters)),
            _ => break,
        }
    }
    (head + parameters.len(), SequencePurpose::Other)
}

fn purpose(last: char, parameters: &str) -> SequencePurpose {
    match last {
        'm' if parameters.split(';').any(|number| number == "8") && !is_colour(parameters) => {
            SequencePurpose::Conceal
        }
        'm' => SequencePurpose::Style,
        'A'..='K' | 'S' | 'T' | 'X' | 'd' | 'f' | 's' | 'u' | 'h' | 'l' => SequencePurpose::Move,
        _ => SequencePurpose::Other,
    }
}

/// `38;5;8` is a colour of a palette, not the code for concealed text.
fn is_colour(parameters: &str) -> bool {
    parameters.contains("38;") || parameters.contains("48;")
}

/// A string up to its terminator: a bell, or escape and backslash, or the one character for both.
fn string(
    head: usize,
    chars: impl Iterator<Item = char>,
    is_command: bool,
) -> (usize, SequencePurpose) {
    let mut inside = String::new();
    let mut escaped = false;
    for (count, c) in chars.take(MAX_STRING).enumerate() {
        let whole = head + count + 1;
        match c {
            '\\' if escaped => return (whole, meaning(&inside, is_command)),
            '\u{7}' | '\u{9c}' => return (whole, meaning(&inside, is_command)),
            // Another sequence begins inside: this one never ended.
            _ if escaped => break,
            '\u{1b}' => escaped = true,
            // Only the number at the start determines its kind.
            c if inside.len() < 8 => inside.push(c),
            _ => {}
        }
    }
    (head, SequencePurpose::Other)
}

fn meaning(inside: &str, is_command: bool) -> SequencePurpose {
    match inside.split(';').next() {
        Some("8") if is_command => SequencePurpose::Link,
        Some("52") if is_command => SequencePurpose::Clipboard,
        _ => SequencePurpose::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Option<(usize, SequencePurpose)> {
        sequence(text.chars())
    }

    #[test]
    fn sequences_end_where_terminals_end_them() {
        for (text, length, kind) in [
            ("\u{1b}[31mred", 5, SequencePurpose::Style),
            ("\u{1b}[8mx", 4, SequencePurpose::Conceal),
            ("\u{1b}[38;5;8mx", 9, SequencePurpose::Style),
            ("\u{1b}[2Kx", 4, SequencePurpose::Move),
            ("\u{9b}2Jx", 3, SequencePurpose::Move),
            ("\u{1b}]8;;http://x\u{1b}\\a", 15, SequencePurpose::Link),
            ("\u{1b}]52;c;aGk=\u{7}a", 12, SequencePurpose::Clipboard),
            ("\u{1b}]0;title\u{7}", 10, SequencePurpose::Other),
            ("\u{1b}]no end", 2, SequencePurpose::Other),
            ("\u{1b}Pq\u{1b}\\a", 5, SequencePurpose::Other),
            ("\u{1b}(Bx", 3, SequencePurpose::Other),
            ("\u{1b}cx", 2, SequencePurpose::Other),
            ("\u{1b}", 1, SequencePurpose::Other),
            ("\u{1b}\u{202e}", 1, SequencePurpose::Other),
            ("\u{1b}[31é", 4, SequencePurpose::Other),
        ] {
            assert_eq!(seen(text), Some((length, kind)), "{text:?}");
        }
        assert_eq!(seen("[31m"), None);
    }
}
