//! Whose tokens a call takes.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::Upstream;

use crate::access::add_key;
use crate::support::{MESSAGES, ask, setup, whole_turns};

/// Two calls an hour, counted as `by` says.
fn two_calls(by: &str) -> String {
    format!(
        "policy: rates\nrules:\n  - {{ id: slowly, limit: {{ calls: 2, per: hour{by} }}, \
         verdict: deny, reason: Too many. }}\n"
    )
}

/// Whether the call in the answer is let through.
#[track_caller]
fn passes(gateway: &Gateway, ask: Ask) -> bool {
    let reply = ask.send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.text().contains("tool_use\"")
}

#[test]
fn nobody_uses_up_the_limit_of_another_key() {
    let upstream =
        Upstream::start(|_| whole_turns("read_file", "{}").into_iter().next().unwrap().1);
    let (plain, claims) = (Vec::new(), ["x-callgate-session", "x-callgate-agent"].to_vec());
    for (by, claims) in [
        ("", &plain),
        ("", &claims),
        (", by: [agent]", &claims),
        (", by: [session, agent]", &claims),
        (", by: [tool]", &plain),
        // Neither key has a team.
        (", by: [team]", &plain),
    ] {
        let setup = setup(&upstream, &two_calls(by), "").listen("0.0.0.0:0");
        let (mine, theirs) = (add_key(&setup, &["mine"]), add_key(&setup, &["theirs"]));
        let gateway = setup.start();
        let ask = |key: &str| {
            let ask = ask(MESSAGES).header("x-callgate-key", key);
            claims.iter().fold(ask, |ask, name| ask.header(name, "of-mine"))
        };
        assert!(passes(&gateway, ask(&theirs)) && passes(&gateway, ask(&theirs)));
        assert!(!passes(&gateway, ask(&theirs)), "by `{by}`: there is no limit");
        assert!(passes(&gateway, ask(&mine)), "by `{by}`, claiming {claims:?}");
    }
}

/// A team's bucket is shared, for that is what the rule says.
#[test]
fn a_limit_by_team_counts_all_keys_of_the_team() {
    let upstream =
        Upstream::start(|_| whole_turns("read_file", "{}").into_iter().next().unwrap().1);
    let setup = setup(&upstream, &two_calls(", by: [team]"), "").listen("0.0.0.0:0");
    let keys = [("one", "a"), ("two", "a"), ("three", "b")]
        .map(|(name, team)| add_key(&setup, &[name, "--team", team]));
    let gateway = setup.start();
    let passes = |key: &str| passes(&gateway, ask(MESSAGES).header("x-callgate-key", key));
    assert!(passes(&keys[0]) && passes(&keys[1]));
    assert!(!passes(&keys[0]) && !passes(&keys[1]));
    assert!(passes(&keys[2]), "the other team has its own");
}
