//! The gate of any dialect, on any bytes.

use std::sync::LazyLock;

use callgate_dialect::Dialect;
use callgate_gate::{Ending, OnDeny};
use callgate_policy::Policies;

use crate::{clients, drive};

/// Name, rules, and whether they deny every call.
type PolicyCase = (&'static str, Policies, bool);

static RULES: LazyLock<[PolicyCase; 4]> = LazyLock::new(|| {
    [
        ("allowed by name", drive::allow_all(), false),
        ("allowed by arguments", drive::allow_all_held(), false),
        ("denied by name", drive::deny_names(&["*"]), true),
        ("denied by arguments", drive::deny_all_by_arguments(), true),
    ]
});

/// Runs any bytes through a gate of the dialect.
///
/// Nothing panics, what is asked and which frames leave does not depend on how the input was cut,
/// and of a response whose calls are all denied no client makes out a call. The first two bytes
/// choose the cuts and what takes the place of a denied call.
pub fn check(dialect: Dialect, data: &[u8]) {
    let [cut, choice, input @ ..] = data else { return };
    let on_deny = if choice % 2 == 0 { OnDeny::Explain } else { OnDeny::Silent };
    for (name, policies, denies) in &*RULES {
        let run = |piece: usize| {
            drive::run(dialect, drive::settings(on_deny), policies, input.chunks(piece.max(1)))
        };
        let whole = run(input.len());
        let pieces = run(usize::from(*cut) + 1);
        assert_eq!(whole.ending, pieces.ending, "{name}: cuts change the end");
        assert_eq!(whole.judged, pieces.judged, "{name}: cuts change what is asked");
        // Nothing leaves after an error, so which frames had overtaken a held call by then depends
        // on the cuts. In garbage the filler text does too; the calls never do. For the responses of
        // the corpus, `crates/gate/tests/corpus.rs` compares every frame at every cut.
        if whole.ending == Ending::Clean {
            let read = |out: &[u8]| clients::readings(dialect, out);
            assert_eq!(read(&whole.out), read(&pieces.out), "{name}: cuts change what clients see");
        }
        if *denies {
            for run in [whole, pieces] {
                for (client, calls) in clients::readings(dialect, &run.out) {
                    assert!(calls.is_empty(), "{name}: {client} reads {calls:?}\n{}", run.text());
                }
            }
        }
    }
}
