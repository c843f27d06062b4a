//! Phrases that read like a translation, with the plain words to write in their place.
//!
//! Comments, messages, documents and the names of functions are read word by word, across the ends
//! of lines. Only this file may contain the phrases.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::files::File;

/// The phrases and what to write.
const PHRASES: [(&str, &str); 81] = [
    ("what becomes of", "what happens to"),
    ("what became of", "what happened to"),
    ("become of", "happen to"),
    ("whoever", "anyone who, or name the person or program"),
    ("whomever", "anyone, or name the person or program"),
    ("somebody", "someone, or name the person or program"),
    ("is none", "is missing, is not valid, or does not exist"),
    ("are none", "are missing, are not valid, or do not exist"),
    ("is told", "is reported, or receives"),
    ("are told", "are reported, or receive"),
    ("was told", "was reported, or received"),
    ("were told", "were reported, or received"),
    ("be told", "be reported, known or distinguished"),
    ("been told", "been reported"),
    ("told of", "reported"),
    ("told once", "reported once"),
    ("told twice", "reported twice"),
    ("tells of", "reports, or mentions"),
    ("tell of", "report, or mention"),
    ("speaks of", "mentions, or is about"),
    ("speak of", "mention, or are about"),
    ("so many", "this many, or name the number"),
    ("and the like", "name the things, or write `such as`"),
    ("belong into", "belong in"),
    ("belongs into", "belongs in"),
    ("is no answer", "is not an answer"),
    ("is no call", "is not a call"),
    ("is no file", "is not a file"),
    ("is no JSON", "is not JSON"),
    ("is no key", "is not a valid key"),
    ("is no list", "is not a list"),
    ("is no message", "is not a message"),
    ("is no name", "is not a valid name"),
    ("is no number", "is not a number"),
    ("is no object", "is not an object"),
    ("is no path", "is not a valid path"),
    ("is no policy", "is not a policy"),
    ("is no server", "is not a server"),
    ("is no string", "is not a string"),
    ("is no text", "is not text"),
    ("is no tool", "is not a tool"),
    ("is no word", "is not valid text"),
    ("is no function", "is not a function"),
    ("broke off", "was cut off, was interrupted, or ended early"),
    ("break off", "be cut off, be interrupted, or end early"),
    ("breaks off", "is cut off, is interrupted, or ends early"),
    ("known of", "known about"),
    ("says of itself", "name the report or the description"),
    ("not looked at", "not checked, or not analysed"),
    ("to be had", "available"),
    ("lest", "so that … not"),
    ("of this moment", "current"),
    ("anew", "again"),
    ("amiss", "wrong"),
    ("as bad as", "name the severity"),
    ("many-th", "sequence number"),
    ("hangs on", "depends on"),
    ("hang on", "depend on"),
    ("hands on", "forwards, or passes on"),
    ("hand on", "forward, or pass on"),
    ("handed on", "forwarded, or passed on"),
    ("beside", "next to, or in addition to"),
    ("where it stands", "in place, or where it is"),
    ("wherever it stands", "wherever it is"),
    ("as it stands", "as it is"),
    ("stands at", "is at"),
    ("stands before", "is before"),
    ("stands behind", "is after"),
    ("stands between", "is between"),
    ("stands in a", "is in a"),
    ("stands in the", "is in the"),
    ("stands there", "is there"),
    ("stands twice", "occurs twice"),
    ("stands under", "is under"),
    ("in the place of", "in place of, or instead of"),
    ("comes along", "is sent with it"),
    ("goes along", "is sent with it"),
    ("has a say", "applies, or counts"),
    ("have a say", "apply, or count"),
    ("in vain", "without success"),
    ("its like", "others of its kind"),
];

/// Files with prose: sources, documents, settings.
const PROSE: [&str; 10] = ["rs", "md", "toml", "yaml", "yml", "py", "js", "mjs", "html", "service"];

/// The file with the phrases.
const OWN: &str = "xtask/src/tidy/phrases.rs";

static FIRST_WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let first = |(phrase, _): &(&str, &str)| phrase.split(' ').next().map(str::to_ascii_lowercase);
    PHRASES.iter().filter_map(first).collect()
});

pub(crate) fn check(file: &File) -> Vec<String> {
    if file.name == OWN || !PROSE.iter().any(|extension| file.is(extension)) {
        return Vec::new();
    }
    let words = words(file);
    let mut wrong = Vec::new();
    // Most words begin no phrase, and comparing each with all of them takes most of a minute.
    let begins_phrase = |word: &Word| FIRST_WORDS.contains(word.text.to_ascii_lowercase().as_str());
    for at in (0..words.len()).filter(|at| words.get(*at).is_some_and(begins_phrase)) {
        let rest = words.get(at..).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let found = PHRASES.iter().filter(|(phrase, _)| begins_with(rest, before, phrase));
        wrong.extend(found.map(|(phrase, instead)| {
            let line = rest.first().map_or(0, |word| word.line);
            format!("{}:{line}: do not write `{phrase}`; write: {instead}", file.name)
        }));
    }
    wrong
}

/// A word of a sentence.
#[derive(Debug)]
struct Word {
    /// Without the punctuation around it.
    text: String,
    line: usize,
    /// Whether punctuation separates it from the word before it.
    begins: bool,
    /// Whether punctuation separates it from the word after it.
    ends: bool,
}

/// The words of a file in order. The name of a function counts as a sentence.
fn words(file: &File) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (line, text) in file.lines() {
        let text = text.trim_start().trim_start_matches(['/', '!', '#', '>', '*']);
        let text = text.replace('"', " \" ");
        let mut is_name = false;
        for piece in text.split_whitespace() {
            if is_name {
                let name = piece.split(['(', '<']).next().unwrap_or_default();
                words.extend(name.split('_').map(|part| word(part, line)));
                if let Some(last) = words.last_mut() {
                    last.ends = true;
                }
            } else {
                words.push(word(piece, line));
            }
            is_name = piece == "fn";
        }
    }
    words
}

fn word(piece: &str, line: usize) -> Word {
    let separates = |letter: char| !letter.is_alphanumeric();
    let text = piece.trim_matches(separates);
    let text = text.strip_suffix("'s").unwrap_or(text).to_owned();
    Word { text, line, begins: piece.starts_with(separates), ends: piece.ends_with(separates) }
}

/// Whether the phrase begins here. "There is none" and "there is no key" are plain English, and
/// only the first word of a phrase can begin a sentence: `is None` is code.
fn begins_with(words: &[Word], before: Option<&Word>, phrase: &str) -> bool {
    let mut parts = phrase.split(' ').peekable();
    if matches!(parts.peek(), Some(&"is" | &"are"))
        && before.is_some_and(|word| word.text.eq_ignore_ascii_case("there"))
    {
        return false;
    }
    let count = phrase.split(' ').count();
    let last = count - 1;
    words.len() >= count
        && words.iter().zip(parts).enumerate().all(|(at, (word, part))| {
            let is_same =
                if at == 0 { word.text.eq_ignore_ascii_case(part) } else { word.text == part };
            is_same && (at == 0 || !word.begins) && (at == last || !word.ends)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(name: &str, text: &str) -> Vec<String> {
        check(&File::new(name, text.as_bytes().to_vec()))
    }

    #[test]
    fn every_planted_phrase_is_refused_with_the_words_to_write() {
        for (phrase, instead) in PHRASES {
            let planted = format!("fn a() {{}}\n// The store {phrase} it.\n");
            let found = wrong("crates/store/src/a.rs", &planted);
            let expected =
                format!("crates/store/src/a.rs:2: do not write `{phrase}`; write: {instead}");
            assert!(found.contains(&expected), "{phrase}: {found:?}");
        }
    }

    #[test]
    fn messages_documents_and_names_of_functions_are_read() {
        assert_eq!(wrong("a.rs", "    bail!(\"`{name}` is no name\");").len(), 1);
        assert_eq!(wrong("a.md", "Whoever reads this.").len(), 1);
        assert_eq!(wrong("a.rs", "fn the_client_is_told() {").len(), 1);
        assert_eq!(wrong("a.rs", "/// A head that is\n    /// none.\n").len(), 1);
        assert_eq!(wrong("a.toml", "why = \"a key stands twice\"").len(), 1);
    }

    #[test]
    fn plain_sentences_and_code_pass() {
        let plain = [
            "if there is none, or if there are none",
            "what it is. None of them",
            "if x.is_none() { told() }",
            "    if x is None:",
            "Err(hinted(\"there is no key `a`\"))",
            "it stands for the user; an absolute path; so, many do",
            "the list behind it",
        ];
        for text in plain {
            assert_eq!(wrong("a.rs", text), [""; 0], "{text}");
        }
        assert_eq!(wrong("corpus/a/upstream.sse", "whoever"), [""; 0]);
    }
}
