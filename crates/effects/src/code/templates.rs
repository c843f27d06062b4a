//! Templates of JavaScript that are commands: ``$`rm -rf ${folder}` `` of Bun, zx and execa.

use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::{Fill, Word};

/// Templates of one code that are analysed.
const MAX_TEMPLATES: usize = 64;

pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let mut rest = text;
    for _ in 0..MAX_TEMPLATES {
        let Some(at) = rest.find("$`") else { return };
        let inside = rest.get(at + 2..).unwrap_or_default();
        let end = inside.find('`').unwrap_or(inside.len());
        let template = inside.get(..end).unwrap_or_default();
        drop(shell.word_text(&Field::new(command(template), field.span.clone())));
        rest = inside.get((end + 1).min(inside.len())..).unwrap_or_default();
    }
}

/// The text, in which values of the code are missing.
fn command(template: &str) -> Word {
    let mut word = Word::default();
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        word.push_str(rest.get(..at).unwrap_or_default());
        word.push_gap(Fill::Name);
        let value = rest.get(at..).unwrap_or_default();
        let end = value.find('}').map_or(value.len(), |end| end + 1);
        rest = value.get(end..).unwrap_or_default();
    }
    word.push_str(rest);
    word
}

#[cfg(test)]
mod tests {
    use crate::{Ground, command};

    #[test]
    fn templates_are_commands() {
        let shown = |text: &str| {
            let effects = command(text, &Ground::default());
            effects.all().iter().map(|it| it.action.to_string()).collect::<Vec<_>>().join("|")
        };
        let found = shown("bun -e 'await Bun.$`cat a ${x}`; $`rm -rf b`'");
        assert!(found.contains("reads a") && found.contains("deletes-tree b"), "{found}");
        assert!(!shown("node -e 'console.log(`cat a`)'").contains("reads"));
    }
}
