//! What the official clients make of the corpus, through the gateway.
//!
//! As in `sdk.rs`, which does the same with `callgate filter`: no client may see a denied call, and
//! where the clients agree on a response they must see the same when all is allowed. There the clients
//! read the whole corpus; here they read a part of it, and all with `cargo xtask test --all`.

use std::collections::{BTreeMap, BTreeSet};

use callgate_testkit::corpus::{self, Case};
use callgate_testkit::drive;
use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::sdk::{self, ResponseTreatment, every_name};
use callgate_testkit::upstream::Upstream;
use serde_json::{Value, json};

use crate::support::{corpus_server, setup};

/// How the upstream sends a body: as it came, byte by byte, or coded.
const WAYS: [&str; 8] =
    ["", "-dribble", "-gzip", "-deflate", "-br", "-zstd", "-gzip-br", "-zstd-gzip"];

/// Every how many cases one is sent in each way. With `--all`, all are sent as they came, and one in
/// nine in each other way.
const EVERY: usize = 72;

/// One test, because gateways and clients take seconds to start.
#[test]
fn official_clients_see_the_corpus_as_it_was_allowed() {
    let Some(interpreters) = sdk::interpreters() else { return };
    let cases = corpus::all();
    let upstream = corpus_server();
    let roots = Roots::start(&upstream, &cases);
    let mut readers = interpreters.readers();
    for (turn, way) in WAYS.into_iter().enumerate() {
        let is_plain = way.is_empty();
        let every = match (drive::runs_everything(), is_plain) {
            (true, true) => 1,
            (true, false) => EVERY / 8,
            (false, true) => EVERY / 4,
            (false, false) => EVERY,
        };
        // Other cases each time. Directly they come uncoded: not every client knows every coding.
        let jobs = roots.jobs(&cases, |number, treatment| {
            let fits = is_plain || cases[number].body.len() < 8 << 10;
            let chosen = number % every == turn && fits;
            chosen.then_some(if *treatment == ResponseTreatment::Direct { "" } else { way })
        });
        assert!(jobs.len() > 20, "{way}: only {} jobs", jobs.len());
        let seen = sdk::read(&mut readers, &jobs);
        check(&cases, &seen);
    }
}

/// One gateway for each treatment, and the upstream itself.
struct Roots {
    gateways: Vec<(ResponseTreatment, Gateway)>,
    direct: String,
}

impl Roots {
    fn start(upstream: &Upstream, cases: &[Case]) -> Self {
        let names: BTreeSet<String> = cases.iter().flat_map(every_name).collect();
        let names: Vec<String> = names.into_iter().collect();
        let start = |treatment: ResponseTreatment| {
            let policy = treatment.policy(&names)?;
            // Arguments that cannot be read could change callgate itself; this is about bytes.
            let settings = format!("on_deny: {}\nprotect: off", treatment.on_deny());
            Some((treatment, signing(setup(upstream, &policy, &settings))))
        };
        let gateways = ResponseTreatment::COMMON.into_iter().filter_map(start).collect();
        Self { gateways, direct: upstream.url() }
    }

    fn root(&self, treatment: &ResponseTreatment) -> Option<String> {
        if *treatment == ResponseTreatment::Direct {
            return Some(self.direct.clone());
        }
        let found = self.gateways.iter().find(|(known, _)| known == treatment)?;
        Some(found.1.url())
    }

    /// A job for each treatment of each case, in the way that `way` names; `None` leaves it out.
    fn jobs<'a>(
        &self,
        cases: &[Case],
        way: impl Fn(usize, &ResponseTreatment) -> Option<&'a str>,
    ) -> Vec<Value> {
        let mut jobs = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            for treatment in ResponseTreatment::of(case) {
                // Which tool is denied is another in each case, but the gateways serve them all.
                let (Some(root), Some(way)) = (self.root(&treatment), way(number, &treatment))
                else {
                    continue;
                };
                let model = format!("case-{number}{way}");
                jobs.push(sdk::job_at(case, &treatment.id(case), &root, &model));
            }
        }
        jobs
    }
}

/// A gateway that signs for Amazon's clients, which sign their requests to it.
fn signing(setup: Setup) -> Gateway {
    let file = setup.folder().join("callgate.yaml");
    let config = std::fs::read_to_string(file).unwrap();
    let signed =
        config.replace("dialect: bedrock-converse }", "dialect: bedrock-converse, sign: aws }");
    assert_ne!(config, signed);
    let keys = [
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "key"),
        ("AWS_REGION", "us-east-1"),
    ];
    let setup = setup.file("callgate.yaml", &signed);
    keys.into_iter().fold(setup, |setup, (name, value)| setup.env(name, value)).start()
}

fn check(cases: &[Case], seen: &BTreeMap<String, sdk::ClientResults>) {
    let policies = drive::allow_all_held();
    let read = cases.iter().filter(|case| seen.contains_key(&ResponseTreatment::Direct.id(case)));
    let mut failures = Vec::new();
    for case in read {
        // What a gate allows of it: the gateway judges by the same rule.
        let settings = drive::settings(callgate_gate::OnDeny::Explain);
        let run = drive::run(case.dialect, settings, &policies, [&*case.body]);
        let allowed = run.judged.into_iter().filter(|(_, _, allowed)| *allowed);
        let allowed = allowed.map(|(name, input, _)| json!([name, input])).collect();
        let allowed = BTreeMap::from([(ResponseTreatment::AllowHeld.id(case), allowed)]);
        failures.extend(sdk::check(case, seen, &allowed));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
