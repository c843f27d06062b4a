//! Shows what the gate makes of one case: `show CASE allow|held|names|arguments|NAME [silent]`.

#![allow(clippy::unwrap_used, reason = "a tool for the one who holds it")]

use callgate_gate::OnDeny;
use callgate_testkit::{clients, corpus, drive};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [case, policy, rest @ ..] = args.as_slice() else {
        return eprintln!("usage: show CASE allow|held|arguments|NAME [silent]");
    };
    let case = corpus::all().into_iter().find(|c| c.name.ends_with(case.as_str())).unwrap();
    let policies = match policy.as_str() {
        "allow" => drive::allow_all(),
        "held" => drive::allow_all_held(),
        "arguments" => drive::deny_all_by_arguments(),
        name => drive::deny_names(&[name]),
    };
    let on_deny = if rest.is_empty() { OnDeny::Explain } else { OnDeny::Silent };
    let run = drive::run(case.dialect, drive::settings(on_deny), &policies, [case.body.as_slice()]);
    println!("{}", run.text());
    eprintln!("judged {:?}\nnotes {:?}\nending {:?}", run.judged, run.notes, run.ending);
    eprintln!("clients before {:#?}", clients::readings(case.dialect, &case.body));
    eprintln!("clients after {:#?}", clients::readings(case.dialect, &run.out));
}
