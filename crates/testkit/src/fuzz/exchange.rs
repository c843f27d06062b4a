//! Files of other systems: no text panics, every problem can be shown, and what is accepted loads.

use std::sync::LazyLock;

use callgate_document::{Source, render};
use callgate_effects::Catalogue;
use callgate_exchange::{Agent, Format, ImportTarget, WrittenPolicies, export, import};
use callgate_policy::Policies;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);

/// Checks one input. The first byte, a digit, says which format it is read as.
pub fn check(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source { name: "fuzz".into(), text: text.into() };
    let format = Format::ALL.get(usize::from(choice.wrapping_sub(b'0'))).copied();
    match import(&source, format) {
        Ok(imported) if imported.target == ImportTarget::Policy => {
            let policy = Source { name: "imported".into(), text: imported.text };
            let compiled = Policies::compile(std::slice::from_ref(&policy), &CATALOGUE);
            assert!(compiled.is_ok(), "{compiled:?}\n{}", policy.text);
            let mut policies = WrittenPolicies::default();
            assert!(policies.add_file(policy).is_ok());
            for agent in Agent::ALL {
                let exported = export(&policies, agent);
                assert!(exported.is_ok(), "{agent:?}: {exported:?}");
            }
        }
        Ok(_) => {}
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            for problem in problems {
                assert!(!render(&problem, &source, false).is_empty());
            }
        }
    }
}
