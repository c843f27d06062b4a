//! `find . -name '*.rs' -delete`: every source file of a folder is as good as the folder.

use crate::effect::{Action, Change, Scope};
use crate::path::Path;
use crate::word::{Fill, Gap, Word};

/// What files are called that people write, and that no build makes. Sorted.
const EXTENSIONS: &[&str] = &[
    "c", "cc", "clj", "cpp", "cs", "cxx", "dart", "erl", "ex", "exs", "f90", "go", "h", "hpp",
    "hs", "ipynb", "java", "jl", "js", "jsx", "kt", "kts", "lua", "m", "ml", "mm", "php", "pl",
    "pm", "proto", "py", "r", "rb", "rs", "scala", "svelte", "swift", "tf", "ts", "tsx", "vue",
    "zig",
];

/// The content of the folder whose source files are all deleted or emptied: `./…/*.rs` is `./*`.
/// Emptying is never an everyday work, so `src/*.c` counts for it as well.
pub(crate) fn whole_folder(word: &Word, action: &Action) -> Option<Word> {
    let is_emptied = matches!(action, Action::Writes(_, Change::Empty));
    if !is_emptied && !matches!(action, Action::Deletes(..)) {
        return None;
    }
    let text = word.known_part();
    let (at, name) = match word.gaps() {
        [Gap { at, fill: Fill::Anything }, Gap { at: name, fill: Fill::Name }]
            if *name == at + 1 && text.get(*at..*name) == Some("/") =>
        {
            (*at, *name)
        }
        [Gap { at, fill: Fill::Name }] if is_emptied => (*at, *at),
        _ => return None,
    };
    let extension = text.get(name..)?.strip_prefix('.')?;
    EXTENSIONS.binary_search(&extension).ok()?;
    let mut folder = Word::known(text.get(..at)?);
    folder.push_gap(Fill::Name);
    Some(folder)
}

/// The same action on another path.
pub(crate) fn on(action: &Action, path: Path) -> Action {
    match action {
        Action::Writes(_, change) => Action::Writes(path, *change),
        _ => Action::Deletes(path, Scope::One),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ground;

    fn found(make: impl FnOnce(Path) -> Action) -> Option<String> {
        let mut word = Word::known("./");
        word.push_gap(Fill::Anything);
        word.push('/');
        word.push_gap(Fill::Name);
        word.push_str(".rs");
        let path = Path::resolve(&word, &Word::known("/w"), &Ground::default());
        whole_folder(&word, &make(path)).map(|folder| folder.to_string())
    }

    #[test]
    fn all_sources_of_a_folder_are_the_folder() {
        assert!(EXTENSIONS.is_sorted());
        let deleted = found(|path| Action::Deletes(path, crate::effect::Scope::One));
        assert_eq!(deleted.as_deref(), Some("./*"));
        assert_eq!(found(|path| Action::Reads(path, crate::effect::Access::Content)), None);
    }
}
