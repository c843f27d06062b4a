//! What several commands of git do together, each of which is ordinary.

use crate::bound::{Bound, EffectKind};
use crate::effect::{Action, Run, Scope, Why};
use crate::marks::Mark;
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

    /// `git push origin $(git tag | sed 's/^/:/')`: what is pushed is not in the text, but a filter
    /// puts a colon in front of it.
    fn pushes_what_a_filter_made(&self, line: &Line<'_>) -> bool {
        const SIGNS: &[&str] =
            &["/:/", "|:|", "#:#", ",:,", "/:&", "|:&", "\":\"", "':'", ":%s", "\":", "/+/", "/+&"];
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
                        .any(|word| SIGNS.iter().any(|sign| word.known_part().contains(sign)))
            })
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
            "git --exec-path",
        ] {
            let shown = shown(text);
            let is_stopped = ["deletes-tree", "<history>", "<remote-delete>", "opaque program"];
            assert!(!is_stopped.iter().any(|it| shown.contains(it)), "{text}: {shown}");
        }
    }
}
