//! Editors that change files in place and keep no line of them: `sed -i d`, `perl -i -ne ''`.

use crate::effect::Change;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;

impl Shell<'_, '_> {
    /// Files that keep no line are emptied.
    pub(crate) fn erases_in_place(&mut self, program: &str, line: &Line<'_>) {
        let is_in_place = |field: &Field| {
            let text = field.word.known_start();
            text.starts_with("--in-place")
                || text.starts_with('-') && !text.starts_with("--") && has_letter(text, 'i')
        };
        if !line.words.iter().any(is_in_place) {
            return;
        }
        let is_script = |spelling: &str| matches!(spelling, "-e" | "-E" | "--expression");
        let given = line.flags.iter().find(|given| is_script(&given.spelling));
        let script = given.and_then(|given| given.values.first()).or(line.operands.first());
        let skipped = usize::from(given.is_none());
        let Some(text) = script.and_then(Field::text).map(str::trim) else { return };
        let keeps_nothing = match program {
            "sed" => matches!(text, "d" | "1,$d" | "1,$ d" | "0,$d" | "D" | "Q" | "1Q" | "1,$c\\"),
            _ => {
                let prints_lines = line.words.iter().any(|field| {
                    let text = field.word.known_start();
                    text.starts_with('-') && !text.starts_with("--") && has_letter(text, 'p')
                });
                !prints_lines && !text.contains(['p', 'w']) && text.len() < 16
            }
        };
        if keeps_nothing {
            for file in line.operands.iter().skip(skipped).take(64) {
                self.write_file(file, Change::Empty);
            }
        }
    }
}

/// Whether a bundle of one-letter flags has this one: `-ni`, `-i.bak`, `-pi`. Behind `e` comes code.
fn has_letter(bundle: &str, letter: char) -> bool {
    let letters = bundle.trim_start_matches('-').split(['e', 'E', '.']).next();
    letters.is_some_and(|letters| letters.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_behind_code_is_no_flag() {
        assert!(has_letter("-ni", 'i') && has_letter("-i.bak", 'i'));
        assert!(!has_letter("-ei", 'i') && !has_letter("-n", 'i'));
    }
}
