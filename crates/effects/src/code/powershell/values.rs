//! Values that PowerShell puts together: `'Re' + 'move'`, `[char]105`, `'a','b' -join ''`, `'{1}{0}' -f 'a','b'`.

use crate::word::Word;

/// How deep parentheses are followed.
const MAX_DEPTH: usize = 4;

/// What the value of a variable or of a text in double quotes is.
pub(super) trait Scope {
    /// The variable that begins the text, and the length of its name.
    fn variable(&self, text: &str) -> (Word, usize);
    /// A text in double quotes.
    fn interpolated(&self, text: &str) -> Word;
}

/// The value of an expression of literals and variables. `None` if it is another one.
pub(super) fn value(scope: &impl Scope, text: &str) -> Option<Word> {
    let mut reader = Reader { scope, rest: text.trim(), depth: 0 };
    let value = reader.expression()?;
    reader.rest.trim().is_empty().then_some(value)
}

/// `[Environment]::GetFolderPath('MyDocuments')`
pub(super) fn special_folder(text: &str) -> Option<Word> {
    let lower = text.trim().to_ascii_lowercase();
    let rest = lower.strip_prefix("[system.").or_else(|| lower.strip_prefix('['))?;
    let rest = rest.strip_prefix("environment]::getfolderpath(")?;
    let name = rest.strip_suffix(')')?.trim_matches(['\'', '"', ' ']);
    let name = name.rsplit("::").next().unwrap_or(name);
    Some(Word::known(match name {
        "userprofile" => "~",
        "mydocuments" | "personal" => "~/Documents",
        "desktop" | "desktopdirectory" => "~/Desktop",
        "mypictures" => "~/Pictures",
        "mymusic" => "~/Music",
        "myvideos" => "~/Videos",
        "applicationdata" => "~/AppData/Roaming",
        "localapplicationdata" => "~/AppData/Local",
        "startup" => "~/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
        "system" => "C:/Windows/System32",
        "windows" => "C:/Windows",
        "programfiles" => "C:/Program Files",
        _ => return None,
    }))
}

struct Reader<'s, 't, S> {
    scope: &'s S,
    rest: &'t str,
    depth: usize,
}

impl<S: Scope> Reader<'_, '_, S> {
    fn expression(&mut self) -> Option<Word> {
        let mut items = self.list()?;
        loop {
            if self.takes("+") {
                let more = self.list()?;
                let mut whole = joined(&items, " ")?;
                whole.push_word(&joined(&more, " ")?);
                items = vec![whole];
            } else if self.takes("-join") {
                let sign = self.term()?;
                items = vec![joined(&items, sign.text()?)?];
            } else if self.takes("-f") {
                let values = self.list()?;
                items = vec![formatted(items.first()?, &values)?];
            } else {
                return joined(&items, " ");
            }
        }
    }

    /// Terms with commas between them.
    fn list(&mut self) -> Option<Vec<Word>> {
        let mut items = vec![self.term()?];
        while self.takes(",") {
            items.push(self.term()?);
            if items.len() > 64 {
                return None;
            }
        }
        Some(items)
    }

    fn term(&mut self) -> Option<Word> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        match first {
            '\'' => {
                let inside = self.rest.get(1..)?;
                let end = inside.find('\'')?;
                self.rest = inside.get(end + 1..)?;
                Some(Word::known(inside.get(..end)?))
            }
            '"' => {
                let inside = self.rest.get(1..)?;
                let end = super::double_quoted_end(inside);
                self.rest = inside.get(end + 1..)?;
                Some(self.scope.interpolated(inside.get(..end)?))
            }
            '(' | '@' => {
                self.depth += 1;
                self.rest = self.rest.trim_start_matches('@').strip_prefix('(')?;
                let value = if self.depth > MAX_DEPTH { None } else { self.expression() }?;
                self.depth -= 1;
                self.takes(")").then_some(value)
            }
            '$' => {
                let (value, used) = self.scope.variable(self.rest);
                self.rest = self.rest.get(used..)?;
                (used > 1).then_some(value)
            }
            '[' => {
                let (cast, rest) = self.rest.get(1..)?.split_once(']')?;
                self.rest = rest.trim_start_matches([']', ' ']);
                match cast.to_ascii_lowercase().as_str() {
                    "char" => self.character(),
                    "string" | "char[" => self.term(),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The number of a character: `105`, `0x69`.
    fn character(&mut self) -> Option<Word> {
        let (digits, radix) = match self.rest.strip_prefix("0x") {
            Some(digits) => (digits, 16),
            None => (self.rest, 10),
        };
        let end = digits.find(|letter: char| !letter.is_digit(radix)).unwrap_or(digits.len());
        let number = u32::from_str_radix(digits.get(..end)?, radix).ok()?;
        self.rest = digits.get(end..)?;
        Some(Word::known(char::from_u32(number)?.to_string()))
    }

    /// Whether the sign comes next; then it is behind.
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        let is_next = rest.get(..sign.len()).is_some_and(|start| start.eq_ignore_ascii_case(sign));
        if is_next {
            self.rest = rest.get(sign.len()..).unwrap_or_default();
        }
        is_next
    }
}

fn joined(items: &[Word], sign: &str) -> Option<Word> {
    let (first, rest) = items.split_first()?;
    let mut whole = first.clone();
    for item in rest {
        whole.push_str(sign);
        whole.push_word(item);
    }
    Some(whole)
}

/// `'{1}{0}' -f 'a','b'`
fn formatted(pattern: &Word, values: &[Word]) -> Option<Word> {
    let mut whole = Word::default();
    let mut rest = pattern.text()?;
    while let Some((before, after)) = rest.split_once('{') {
        let (number, behind) = after.split_once('}')?;
        whole.push_str(before);
        whole.push_word(values.get(number.trim().parse::<usize>().ok()?)?);
        rest = behind;
    }
    whole.push_str(rest);
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Scope for Nothing {
        fn variable(&self, _: &str) -> (Word, usize) {
            (Word::unknown(), 2)
        }

        fn interpolated(&self, text: &str) -> Word {
            Word::known(text)
        }
    }

    #[test]
    fn values_are_put_together() {
        for (text, expected) in [
            ("'Re' + 'move-'+\"Item\"", "Remove-Item"),
            ("[char]105+[char]0x65+'x'", "iex"),
            ("'i','ex' -join ''", "iex"),
            ("('{1}{0}' -f 'ex','i')", "iex"),
            ("[string]'a' + ('b' + 'c')", "abc"),
            ("'a'", "a"),
        ] {
            assert_eq!(value(&Nothing, text).unwrap().text(), Some(expected), "{text}");
        }
        for text in ["Get-Item a", "'a'.Replace('a','b')", "[int]1", "((((('a')))))", ""] {
            assert!(value(&Nothing, text).is_none(), "{text}");
        }
    }

    #[test]
    fn folders_have_names() {
        let folder = |text| special_folder(text).and_then(|word| word.text().map(str::to_owned));
        assert_eq!(
            folder("[Environment]::GetFolderPath('MyDocuments')").as_deref(),
            Some("~/Documents")
        );
        assert_eq!(
            folder("[System.Environment]::GetFolderPath([Environment+SpecialFolder]::Desktop)")
                .as_deref(),
            Some("~/Desktop")
        );
        assert_eq!(folder("[Math]::Abs(1)"), None);
    }
}
