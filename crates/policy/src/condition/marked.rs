//! The condition `marked`: what is known about a command as a whole.

use callgate_document::{Mapping, Problems, texts};
use callgate_effects::{Action, EffectKind, Mark, Run, Word};

use super::Scene;
use super::effect::{EffectCondition, FoundEffect};
use super::effect_lists::words;
use super::sql::is_scratch;
use crate::tri::Tri;

/// Commands that the model of the program marks.
#[derive(Debug, Clone)]
pub(crate) struct MarkedCondition {
    marks: Vec<Mark>,
    written: String,
}

impl EffectCondition for MarkedCondition {
    const KEY: &'static str = "marked";

    const MEANING: &'static str = "a list of [marks](#marks), like `force-push`, `privilege` or \
        `infrastructure`, or `any` for all of them: the call runs a command of that form";

    const KIND: EffectKind = EffectKind::Runs;

    fn read(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get(Self::KEY)?;
        let before = problems.len();
        let known = Mark::ALL.map(|mark| (mark.as_str(), mark));
        let written = texts(node, "`marked`", problems);
        let marks = match written.as_slice() {
            [only] if only.value == ANY => Mark::ALL.to_vec(),
            _ => words(&written, "mark", &known, problems),
        };
        (problems.len() == before).then_some(Self { marks, written: node.to_json() })
    }

    fn fits(&self, found: FoundEffect<'_>, _: &Scene<'_>) -> Option<Tri> {
        let Action::Runs(run) = found.action() else { return None };
        let is_marked = |mark: &Mark| run.marks.contains(*mark) && counts(*mark, run);
        Some(self.marks.iter().any(is_marked).into())
    }

    fn operand(&self) -> &str {
        &self.written
    }
}

/// Every mark.
const ANY: &str = "any";

/// Whether a mark counts for this command. Overwriting a branch of one's own, and dropping a scratch
/// database, is everyday work.
fn counts(mark: Mark, run: &Run) -> bool {
    match mark {
        Mark::ForcePush => !pushes_own_branch(run),
        Mark::Database => !is_scratch(run),
        _ => true,
    }
}

/// Whether `git push` overwrites only branches that it names and that nobody shares; or the current
/// one, if nobody else has pushed to it.
fn pushes_own_branch(run: &Run) -> bool {
    if run.program.text() != Some("git") {
        return false;
    }
    let operands = run.words.iter().skip_while(|word| word.text() != Some("push")).skip(1);
    let (flags, operands): (Vec<&Word>, Vec<&Word>) =
        operands.partition(|word| word.known_start().starts_with('-'));
    let has = |flag: &str| flags.iter().any(|word| word.known_start().starts_with(flag));
    if ["--all", "--mirror", "--tags", "--prune", "--delete"].iter().any(|flag| has(flag)) {
        return false;
    }
    // A repository in a temporary folder is nobody's.
    let remote = operands.first().and_then(|remote| remote.text());
    if remote.is_some_and(|path| path.starts_with("/tmp/") && !path.contains("..")) {
        return true;
    }
    match operands.get(1..) {
        None | Some([]) => has("--force-with-lease"),
        Some(branches) => !branches.iter().any(|branch| is_shared(branch)),
    }
}

/// Names of branches that people share. What is not known may be one.
fn is_shared(refspec: &Word) -> bool {
    let Some(text) = refspec.text() else { return true };
    let target = text.rsplit(':').next().unwrap_or(text).trim_start_matches('+');
    let name = target.strip_prefix("refs/heads/").unwrap_or(target);
    let first = name.split(['/', '-']).next().unwrap_or(name);
    let is_version = name.strip_prefix('v').is_some_and(|rest| {
        rest.starts_with(|digit: char| digit.is_ascii_digit()) && !rest.contains(['/', '-'])
    });
    name.starts_with("refs/")
        || is_version
        || name.contains('*')
        || matches!(name, "" | "head" | "HEAD")
        || matches!(
            first,
            "main"
                | "master"
                | "trunk"
                | "develop"
                | "development"
                | "production"
                | "prod"
                | "staging"
                | "stable"
                | "release"
                | "releases"
        )
}
