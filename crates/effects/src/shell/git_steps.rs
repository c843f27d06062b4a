//! What several commands of git do together, each of which is ordinary.

use crate::bound::{Bound, EffectKind};
use crate::effect::{Access, Action, Change, Effect, Run, Scope, Why};
use crate::marks::Mark;
use crate::path::Path;
use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::word::Word;

/// Effects before a command that are looked at.
const RECENT: usize = 32;

impl Shell<'_, '_> {
    pub(crate) fn git_in_steps(&mut self, line: &Line<'_>, context: &Context) {
        match line.sub_command() {
            "clean" if is_forced(line) && self.has_run(forgets_files) => {
                let folder = Field::new(Word::known("."), context.span.clone());
                let could = Bound::just(EffectKind::Deletes);
                self.path_effect(&folder, could, |path| Action::Deletes(path, Scope::Tree));
            }
            // The history of a branch starts again, and the old one goes.
            "branch" if replaces_branch(line) && self.has_run(is_orphan) => {
                self.mark(context.run, Mark::History);
            }
            "push" if self.pushes_what_a_filter_made(line) => {
                self.mark(context.run, Mark::RemoteDelete);
            }
            // What was kept out of the history goes into it.
            "add" if adds_all(line) && self.opens_ignored() => {
                let file = Field::new(Word::known(".env"), context.span.clone());
                self.read_file(&file, Access::Content);
            }
            "update-index" | "read-tree" => self.puts_into_index(line),
            _ => {}
        }
        let is_path = |field: &&Field| field.word.known_part().starts_with("--exec-path=");
        if let Some(field) = line.words.iter().find(is_path) {
            self.opaque(Why::Program, Bound::ALL, field.span.clone());
        }
    }

    fn has_run(&self, is_it: impl Fn(&Run) -> bool) -> bool {
        self.out.effects.all().iter().rev().take(RECENT).any(|effect| match &effect.action {
            Action::Runs(run) => is_it(run),
            _ => false,
        })
    }

    /// The file with the names that git leaves out was deleted, or lost those of secrets.
    fn opens_ignored(&self) -> bool {
        let is_ignore = |path: &Path| path.resolved.known_part().ends_with("/.gitignore");
        let is_deleted =
            |effect: &Effect| matches!(&effect.action, Action::Deletes(path, _) if is_ignore(path));
        self.out.effects.all().iter().rev().take(RECENT).any(is_deleted)
            || self.has_run(drops_ignored)
    }

    /// `git update-index --cacheinfo 100644,HASH,PATH`, `git read-tree --prefix=PATH`: a file of the
    /// next commit, without a file on the disk.
    fn puts_into_index(&mut self, line: &Line<'_>) {
        let mut words = line.words.iter();
        while let Some(field) = words.next() {
            let text = field.word.known_part();
            let file = match text.strip_prefix("--prefix=") {
                Some(_) => Some(field.from("--prefix=".len())),
                None if text.starts_with("--cacheinfo") => {
                    // In one word with commas, or in three.
                    let given = if text.contains('=') { Some(field) } else { words.next() };
                    match given
                        .and_then(|field| field.word.known_part().rfind(',').zip(Some(field)))
                    {
                        Some((comma, field)) => Some(field.from(comma + 1)),
                        None => words.nth(1).cloned(),
                    }
                }
                None => None,
            };
            if let Some(file) = file {
                self.write_file(&file, Change::Content);
            }
        }
    }

    /// `git push origin $(git tag | sed 's/^/:/')`: what is pushed is not in the text, but a filter
    /// puts a colon in front of it.
    fn pushes_what_a_filter_made(&self, line: &Line<'_>) -> bool {
        const SIGNS: &[&str] = &["/:&", "|:&", "\":\"", "':'", ":%s", "\":", "/+&"];
        let is_unknown = line.operands.iter().skip(1).any(|field| field.word.is_unknown());
        is_unknown
            && self.has_run(|run| {
                if run.words.iter().any(|word| word.known_part().contains("format=:%")) {
                    return true;
                }
                let is_filter =
                    matches!(run.program.text(), Some("sed" | "awk" | "perl" | "printf" | "gawk"));
                is_filter
                    && run
                        .words
                        .iter()
                        .skip(1)
                        .map(Word::known_part)
                        .any(|word| SIGNS.iter().any(|it| word.contains(it)) || puts_sign(word))
            })
    }
}

/// `s#^#:refs/tags/#`: the replacement begins with a sign that deletes or forces.
fn puts_sign(text: &str) -> bool {
    text.match_indices('s').take(8).any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some(sign) = rest.chars().next().filter(char::is_ascii_punctuation) else {
            return false;
        };
        let replacement = rest.split(sign).nth(2);
        rest.split(sign).count() > 3 && replacement.is_some_and(|it| it.starts_with([':', '+']))
    })
}

/// `git add -A`, `git add .`
fn adds_all(line: &Line<'_>) -> bool {
    let mut texts = line.words.iter().filter_map(Field::text);
    texts.any(|word| matches!(word, "-A" | "--all" | "." | ":/" | "*"))
}

/// A program that takes the names of secrets out of `.gitignore`: `sed -i '/^\.env/d' .gitignore`.
fn drops_ignored(run: &Run) -> bool {
    const SECRETS: &[&str] = &["env", "pem", "key", "secret", "credential"];
    let is_secret = |word: &str| SECRETS.iter().any(|part| word.contains(part));
    let on_file = || words(run).any(|word| word.ends_with(".gitignore"));
    match run.program.text() {
        Some("sed" | "gsed" | "perl") => {
            on_file()
                && words(run)
                    .any(|word| word.contains('d') && word.contains('/') && is_secret(word))
        }
        Some("grep" | "egrep" | "rg") => {
            let inverts = |word: &str| word.starts_with('-') && word.contains('v');
            on_file() && words(run).any(inverts) && words(run).any(is_secret)
        }
        // `echo '!.env' >> .gitignore`
        Some("echo" | "printf") => words(run)
            .any(|word| word.starts_with('!') && is_secret(word) && !word.contains(".example")),
        _ => false,
    }
}

fn words(run: &Run) -> impl Iterator<Item = &str> {
    run.words.iter().skip(1).filter_map(Word::text)
}

/// Afterwards every file of the project is one that git does not know.
fn forgets_files(run: &Run) -> bool {
    if run.program.text() != Some("git") {
        return false;
    }
    let has = |word: &str| words(run).any(|it| it == word);
    has("read-tree") && has("--empty")
        || has("rm") && has("--cached") && (has(".") || has("*"))
        || has("update-index") && has("--force-remove")
}

fn is_orphan(run: &Run) -> bool {
    run.program.text() == Some("git") && words(run).any(|word| word == "--orphan")
}

fn replaces_branch(line: &Line<'_>) -> bool {
    line.words.iter().filter_map(Field::text).any(|word| matches!(word, "-D" | "-M" | "-m"))
}

fn is_forced(line: &Line<'_>) -> bool {
    line.words.iter().filter_map(Field::text).any(|word| {
        word == "--force" || word.starts_with('-') && !word.starts_with("--") && word.contains('f')
    })
}

#[cfg(test)]
mod tests {
    use crate::{Ground, command};

    fn shown(text: &str) -> String {
        let ground = Ground { cwd: Some("/w"), workspace: Some("/w"), ..Ground::default() };
        let effects = command(text, &ground);
        let mut all = String::new();
        for effect in effects.all() {
            all.push_str(&effect.action.to_string());
            if let crate::Action::Runs(run) = &effect.action {
                run.marks.iter().for_each(|mark| all.push_str(&format!(" <{}>", mark.as_str())));
            }
            all.push('\n');
        }
        all
    }

    #[test]
    fn steps_count_together() {
        for (text, sign) in [
            ("git read-tree --empty && git clean -fdx", "deletes-tree /w\n"),
            ("git rm -r --cached . && git clean -fd", "deletes-tree /w\n"),
            ("git checkout --orphan new && git commit -m x && git branch -D main", "<history>"),
            ("git push origin $(git tag | sed 's/^/:/')", "<remote-delete>"),
            ("git tag | sed 's/^/:/' | xargs git push origin", "<remote-delete>"),
            ("git tag | sed 's#^#:refs/tags/#' | xargs git push origin", "<remote-delete>"),
            ("sed -i '/^\\.env/d' .gitignore && git add -A", "reads /w/.env"),
            ("rm .gitignore && git add .", "reads /w/.env"),
            ("echo '!.env' >> .gitignore; git add -A", "reads /w/.env"),
            (
                "git update-index --add --cacheinfo 100644,abc,.gitlab-ci.yml",
                "writes /w/.gitlab-ci.yml",
            ),
            ("git update-index --add --cacheinfo 100644 abc a/b.yml", "writes /w/a/b.yml"),
            ("git --exec-path=. x", "opaque program"),
        ] {
            assert!(shown(text).contains(sign), "{text}: {}", shown(text));
        }
        for text in [
            "git clean -fd",
            "git rm -r --cached . && git add .",
            "git branch -D old",
            "git push origin \"$(git branch --show-current)\"",
            "git push origin $BRANCH",
            "git branch | sed 's/^..//' | xargs git push origin",
            "echo .env >> .gitignore && git add -A",
            "sed -i '/^dist/d' .gitignore && git add -A",
            "echo '!.env.example' >> .gitignore && git add .",
            "git --exec-path",
        ] {
            let shown = shown(text);
            let is_stopped =
                ["deletes-tree", "<history>", "<remote-delete>", "opaque program", "/.env\n"];
            assert!(!is_stopped.iter().any(|it| shown.contains(it)), "{text}: {shown}");
        }
    }
}
