//! Which crate may use which. A stage never reaches back, a rule never sees a provider's format,
//! and what judges does no I/O.

use super::crates::Member;

/// Every crate, in the order data flows, and what it may use. Test code is free.
const TABLE: [(&str, May); 22] = [
    ("json", May::Use(&[])),
    ("document", May::Use(&["json"])),
    ("call", May::Use(&["json"])),
    ("wire", May::Use(&[])),
    ("dialect", May::Use(&["json", "call", "wire"])),
    ("effects", May::Use(&["json", "call"])),
    ("scan", May::Use(&["json"])),
    ("policy", May::Use(&["json", "document", "call", "effects", "scan"])),
    // Other systems' rules: text in, text out.
    ("exchange", May::Use(&["json", "document", "call", "effects", "policy"])),
    ("gate", May::Use(&["json", "call", "wire", "dialect", "policy"])),
    ("audit", May::Use(&["call", "scan"])),
    ("store", May::Use(&["call", "policy", "scan", "audit"])),
    ("registry", May::Use(&["json", "call", "scan"])),
    (
        "decide",
        May::Use(&["json", "call", "effects", "scan", "policy", "audit", "store", "registry"]),
    ),
    ("proxy", May::Use(&["call", "wire", "dialect", "gate", "scan", "decide"])),
    ("mcp", May::Use(&["json", "call", "wire", "scan", "decide"])),
    ("hook", May::Use(&["call", "decide"])),
    ("egress", May::Use(&["call", "decide"])),
    // It reads the calls that it is asked about (call), and redacts their secrets (scan).
    ("control", May::Use(&["json", "call", "scan", "policy", "audit", "store", "decide"])),
    ("config", May::UseAll),
    ("cli", May::UseAll),
    ("testkit", May::UseAll),
];

/// The crates that no other may use: the binary, and the test helpers.
const TOPS: [&str; 2] = ["cli", "testkit"];

/// Crates that only compute: no task, no socket, no clock, no disk.
const PURE: [&str; 11] = [
    "json", "document", "call", "wire", "dialect", "effects", "scan", "policy", "exchange", "gate",
    "registry",
];

/// Libraries that would bring those.
const IMPURE: [&str; 12] = [
    "async-std",
    "axum",
    "chrono",
    "futures",
    "hyper",
    "jiff",
    "mio",
    "reqwest",
    "rusqlite",
    "smol",
    "time",
    "tokio",
];

/// What a crate may use of them all the same. `policy` has the time zones of jiff, which it builds
/// without `std`: without its clock and without the files of the system.
const EXCEPT: [(&str, &str); 1] = [("policy", "jiff")];

#[derive(Debug, Clone, Copy)]
enum May {
    Use(&'static [&'static str]),
    UseAll,
}

pub(crate) fn check(members: &[Member]) -> Vec<String> {
    members.iter().filter(|member| member.name != "xtask").flat_map(check_one).collect()
}

fn check_one(member: &Member) -> Vec<String> {
    let name = short(&member.name).unwrap_or(&member.name);
    let Some((_, may)) = TABLE.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{name}: not in the table of xtask/src/tidy/directions.rs")];
    };
    let mut wrong = Vec::new();
    for used in &member.uses {
        if let Some(used) = short(used) {
            let listed = match may {
                May::Use(list) => list.contains(&used),
                May::UseAll => true,
            };
            if !listed || TOPS.contains(&used) {
                wrong.push(format!(
                    "{name} must not use {used}: see the table of allowed directions"
                ));
            }
        } else if PURE.contains(&name)
            && IMPURE.contains(&used.as_str())
            && !EXCEPT.contains(&(name, used.as_str()))
        {
            wrong.push(format!("{name} must not use {used}: it does no I/O and knows no clock"));
        }
    }
    wrong
}

/// The folder of one of our crates; `None` if it is not ours.
fn short(package: &str) -> Option<&str> {
    if package == "callgate" { Some("cli") } else { package.strip_prefix("callgate-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(name: &str, uses: &[&str]) -> Vec<String> {
        let uses = uses.iter().map(|&name| name.to_owned()).collect();
        check(&[Member { name: name.into(), uses, ..Member::default() }])
    }

    #[test]
    fn the_table_holds() {
        assert!(
            wrong("callgate-dialect", &["callgate-call", "callgate-wire", "thiserror"]).is_empty()
        );
        assert!(wrong("callgate", &["callgate-gate", "tokio"]).is_empty());
        assert!(wrong("xtask", &["anyhow"]).is_empty());
    }

    #[test]
    fn reaching_back_is_wrong() {
        assert_eq!(wrong("callgate-policy", &["callgate-wire"]).len(), 1);
        assert_eq!(wrong("callgate-call", &["callgate-wire"]).len(), 1);
        assert_eq!(wrong("callgate-gate", &["tokio", "callgate-testkit"]).len(), 2);
        assert_eq!(wrong("callgate-config", &["callgate"]).len(), 1);
    }

    #[test]
    fn a_new_crate_must_be_placed() {
        assert_eq!(wrong("callgate-utils", &[]).len(), 1);
    }

    #[test]
    fn the_table_has_no_circle() {
        for (at, (name, may)) in TABLE.iter().enumerate() {
            if let May::Use(list) = may {
                let above: Vec<&str> = TABLE[..at].iter().map(|(name, _)| *name).collect();
                assert!(list.iter().all(|used| above.contains(used)), "{name}");
            }
        }
    }
}
