//! Code that walks a folder and deletes what it finds: `os.walk`, `File::Find`, `RecursiveDirectoryIterator`.

use super::deletes;
use crate::effect::Scope;
use crate::model::Language;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// How a language walks, and how it deletes.
type Walk = (Language, &'static [&'static str], &'static [&'static str]);

const WALKS: &[Walk] = &[
    (
        Language::Python,
        &["os.walk(", "os.scandir(", "os.listdir(", "os.fwalk("],
        &["os.remove(", "os.unlink(", "os.rmdir(", ".unlink(", "rmtree("],
    ),
    (
        Language::Perl,
        &["find(", "finddepth(", "find ", "finddepth "],
        &["unlink", "rmdir", "remove_tree", "rmtree"],
    ),
    (
        Language::Php,
        &["RecursiveDirectoryIterator(", "DirectoryIterator(", "scandir("],
        &["unlink(", "rmdir("],
    ),
    (
        Language::Ruby,
        &["Find.find(", "Dir.each_child(", "Dir.children(", "Dir.foreach(", "Dir.entries("],
        &["File.delete", "File.unlink", "FileUtils.rm", ".delete", ".unlink"],
    ),
    (
        Language::JavaScript,
        &["readdirSync(", "readdir(", "walkSync("],
        &["unlinkSync(", "unlink(", "rmSync(", "rmdirSync(", "rm("],
    ),
];

/// Ways to name every file of the project.
const EVERYTHING: &[&str] = &[
    "git ls-files",
    "'git','ls-files'",
    "'git', 'ls-files'",
    "\"git\",\"ls-files\"",
    "\"git\", \"ls-files\"",
    "Dir[\"*\"]",
    "Dir['*']",
    "Dir.glob(\"*\"",
    "Dir.glob('*'",
    "glob.glob(\"*\")",
    "glob.glob('*')",
    "Dir[\"**/*\"]",
    "Dir['**/*']",
    "Dir.glob(\"**/*\"",
    "Dir.glob('**/*'",
    "glob.glob(\"**/*\"",
    "glob.glob('**/*'",
    "globSync(\"**/*\"",
    "globSync('**/*'",
    "Path('.').rglob('*')",
    "Path(\".\").rglob(\"*\")",
    "Path().rglob(",
];

/// Tests of names: only some of the files are meant.
const TESTS: &[&str] = &[
    "endswith",
    "startswith",
    "endsWith",
    "startsWith",
    "splitext",
    "suffix",
    "fnmatch",
    "=~",
    "match",
    "mtime",
    "st_size",
    "getsize",
    "extname",
    "end_with?",
    "start_with?",
    "' in ",
    "\" in ",
    "isEmpty",
    "/\\.",
    ".includes(",
    ".test(",
    "tmp",
    "cache",
];

/// Text that is looked at: code that deletes on purpose is short.
const MAX_TEXT: usize = 4096;

/// Adds the folders that the code empties.
pub(super) fn scan(shell: &mut Shell<'_, '_>, language: Language, text: &str, field: &Field) {
    let Some((_, walks, removes)) = WALKS.iter().find(|(known, ..)| *known == language) else {
        return;
    };
    if text.len() > MAX_TEXT
        || !removes.iter().any(|call| text.contains(call))
        || TESTS.iter().any(|test| text.contains(test))
    {
        return;
    }
    if EVERYTHING.iter().any(|walk| text.contains(walk)) {
        deletes(shell, &Field::new(Word::known("."), field.span.clone()), Scope::Tree);
    }
    for walk in *walks {
        for (at, _) in text.match_indices(walk).take(4) {
            let behind = text.get(at + walk.len()..).unwrap_or_default();
            if let Some(folder) = folder(language, behind) {
                let word = Word::known(folder);
                deletes(shell, &Field::new(word, field.span.clone()), Scope::Tree);
            }
        }
    }
}

/// The folder is the first argument, in Perl the last one.
fn folder(language: Language, behind: &str) -> Option<&str> {
    if language == Language::Perl {
        let end = behind.find(';').unwrap_or(behind.len());
        let call = behind.get(..end)?;
        let (_, last) = call.rsplit_once(',')?;
        return literal(last);
    }
    match behind.trim_start() {
        rest if rest.starts_with(')') => Some("."),
        rest => literal(rest),
    }
}

fn literal(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|it| matches!(it, '\'' | '"' | '`'))?;
    text.get(1..)?.split(quote).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_first_argument_or_the_last_one() {
        assert_eq!(folder(Language::Python, "'src'): x"), Some("src"));
        assert_eq!(folder(Language::Python, ")"), Some("."));
        assert_eq!(folder(Language::Perl, "sub { unlink }, \".\")"), Some("."));
        assert_eq!(folder(Language::Python, "name)"), None);
    }
}
