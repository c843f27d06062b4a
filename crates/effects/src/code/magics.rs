//! Lines that only IPython knows: `!command`, `%run script.py`, `%%bash`.

use crate::effect::Access;
use crate::model::Language;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Lines of one cell that are looked at.
const MAX_LINES: usize = 256;

/// Adds the effects of such lines.
pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    if !text.contains(['!', '%']) {
        return;
    }
    let word = |text: &str| Field::new(Word::known(text.trim()), field.span.clone());
    let mut rest = text;
    for _ in 0..MAX_LINES {
        let trimmed = rest.trim_start();
        let end = trimmed.find('\n').unwrap_or(trimmed.len());
        let (line, after) = trimmed.split_at(end);
        if line.is_empty() {
            return;
        }
        if let Some(cell) = line.strip_prefix("%%") {
            let name = cell.split_whitespace().next().unwrap_or_default();
            match name {
                "bash" | "sh" | "script" | "system" | "sx" | "!" => {
                    drop(shell.word_text(&word(after)));
                }
                "perl" => shell.code(Language::Perl, &word(after)),
                "ruby" => shell.code(Language::Ruby, &word(after)),
                "javascript" | "js" | "html" | "markdown" | "latex" | "svg" => {}
                "writefile" | "file" => {
                    let path = cell.split_whitespace().filter(|part| !part.starts_with('-')).nth(1);
                    if let Some(path) = path {
                        shell.write_file(&word(path), crate::effect::Change::Content);
                    }
                }
                _ => {
                    rest = after;
                    continue;
                }
            }
            return;
        }
        line_magic(shell, line, field);
        rest = after;
    }
}

fn line_magic(shell: &mut Shell<'_, '_>, line: &str, field: &Field) {
    let word = |text: &str| Field::new(Word::known(text.trim()), field.span.clone());
    // `files = !ls`
    let value = line.split_once('=').map_or(line, |(_, value)| value.trim_start());
    for text in [line, value] {
        if let Some(command) = text.strip_prefix('!') {
            drop(shell.word_text(&word(command.trim_start_matches('!'))));
            return;
        }
    }
    let Some(magic) = line.strip_prefix('%').or_else(|| value.strip_prefix('%')) else { return };
    let (name, operands) = magic.split_once(' ').unwrap_or((magic, ""));
    match name {
        "sx" | "system" | "sc" | "bash" | "sh" => drop(shell.word_text(&word(operands))),
        "pip" | "conda" | "mamba" | "uv" | "cat" | "rm" | "cp" | "mv" | "cd" | "less" | "more"
        | "rmdir" | "mkdir" => drop(shell.word_text(&word(magic))),
        "run" | "load" | "loadpy" | "pycat" | "pfile" => {
            let file = operands.split_whitespace().find(|part| !part.starts_with('-'));
            let Some(file) = file.map(word) else { return };
            match crate::host::parse_url(&file.word) {
                Some(address) => {
                    let purpose = crate::effect::Purpose::Execute;
                    shell.connect(address, purpose, Some(&file.word), file.span.clone());
                }
                None => shell.read_file(&file, Access::Content),
            }
        }
        _ => {}
    }
}
