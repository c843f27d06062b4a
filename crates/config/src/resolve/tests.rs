use std::fs;
use std::time::Duration;

use callgate_decide::{OnFailure, Oversize};
use callgate_gate::{Malformed, OnDeny};
use callgate_policy::Verdict;
use callgate_proxy::InspectionMode;
use tempfile::TempDir;

use super::*;
use crate::fields::{self, Applies, Users};
use crate::file::tests::{yaml, yaml_without};
use crate::restart::{Process, StartSettings};

mod mcp;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn with(config: &str) -> Self {
        Self::new().file("callgate.yaml", config)
    }

    fn file(self, name: &str, text: &str) -> Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn load(&self) -> Result<ResolvedConfig, ConfigError> {
        load(Some(&self.dir.path().join("callgate.yaml")), &Surface::ALL)
    }

    /// `file:line:column message` of each problem.
    #[track_caller]
    fn problems(&self) -> Vec<String> {
        let Err(ConfigError::Rejected(rejected)) = self.load() else {
            panic!("it is not rejected")
        };
        assert_eq!(rejected.rendered(false).len(), rejected.problems.len(), "all are drawn");
        rejected.problems.iter().map(|problem| self.place(problem)).collect()
    }

    fn place(&self, found: &Diagnostic) -> String {
        let name = Path::new(&found.source).strip_prefix(self.dir.path());
        let name = name.map_or(found.source.as_str(), |name| name.to_str().unwrap());
        let (line, column) = (found.span.line, found.span.column);
        format!("{name}:{line}:{column} {}", found.message)
    }
}

fn rule(id: &str) -> String {
    format!("policy: {id}\nrules:\n  - {{ id: {id}, tool: x, verdict: deny }}\n")
}

fn rules(resolved: &ResolvedConfig) -> Vec<String> {
    let compiled = resolved.policies.compiled.as_ref().unwrap();
    let own = compiled.rules().filter(|rule| rule.policy != "self-protection");
    own.map(|rule| rule.id).collect()
}

#[test]
fn a_whole_file() {
    let place = Place::with(
        "listen: '[::1]:9000'
store: sqlite:state/records.db
providers:
  anthropic: { base_url: 'http://127.0.0.1:1/' }
  local-llm: { base_url: http://127.0.0.1:2/v1, dialect: openai-chat, api_key_env: PATH }
on_deny: silent
malformed: pass
oversize: deny
limits: { arguments: 64KB, calls: 3 }
gateway: { mode: calls-only, passthrough: [/v1/embeddings], workers: 3, idle_timeout: 90s }
audit: { durability: process, on_failure: allow, retention: { age: none, records: 5, size: 1GB } }
",
    );
    let resolved = place.load().unwrap();
    let proxy = &resolved.proxy;
    assert_eq!(proxy.listen.to_string(), "[::1]:9000");
    let providers: Vec<_> = proxy
        .providers
        .iter()
        .map(|one| (one.name.as_str(), one.base_url.as_str(), one.api_key.is_some()))
        .collect();
    assert_eq!(providers.first(), Some(&("anthropic", "http://127.0.0.1:1/", false)));
    assert_eq!(providers.get(1), Some(&("openai", "https://api.openai.com/v1", false)));
    assert_eq!(providers.last(), Some(&("local-llm", "http://127.0.0.1:2/v1", true)));
    assert_eq!(providers.len(), crate::providers::KNOWN.len() + 1);
    assert_eq!((proxy.on_deny, proxy.malformed), (OnDeny::Silent, Malformed::Pass));
    assert_eq!((proxy.limits.arguments, proxy.limits.calls, proxy.workers), (64_000, 3, 3));
    assert_eq!(
        (proxy.mode, proxy.timeouts.idle),
        (InspectionMode::CallsOnly, Duration::from_secs(90))
    );
    assert_eq!(proxy.passthrough, ["/v1/embeddings"]);
    let decide = &resolved.decide;
    assert_eq!((decide.oversize, decide.on_failure), (Oversize::Deny, OnFailure::Allow));
    let audit = &resolved.audit;
    assert_eq!(audit.store, Location::Sqlite(place.dir.path().join("state/records.db")));
    let kept = &audit.retention;
    assert_eq!((kept.age, kept.records, kept.bytes), (None, Some(5), Some(1_000_000_000)));
    assert_eq!(resolved.policies.origins, ["builtin:starter"]);
}

#[test]
fn where_the_api_listens() {
    use callgate_control::Listen;
    let place = Place::with("api: { listen: run/api.sock }");
    let path = place.dir.path().join("run/api.sock");
    assert_eq!(place.load().unwrap().api, Listen::Chosen(path));
    assert_eq!(Place::with("api: { listen: off }").load().unwrap().api, Listen::Off);
    assert!(matches!(Place::with("{}").load().unwrap().api, Listen::Usual(_)));
}

/// The defaults of the table are those that hold.
#[test]
fn the_table_tells_the_real_defaults() {
    let settings = |text: &str| {
        let resolved = Place::with(text).load().unwrap();
        let bounds =
            (resolved.mcp_message_limit, resolved.mcp_conversations, resolved.mcp_list_timeout);
        let api = matches!(resolved.api, callgate_control::Listen::Chosen(_));
        let ResolvedConfig { proxy, audit, protect, decide, mcp, mcp_servers, .. } = resolved;
        format!(
            "{proxy:?} {audit:?} {api} {protect:?} {decide:?} {mcp:?} {mcp_servers:?} {bounds:?}"
        )
    };
    for field in fields::all() {
        let plain = settings(&yaml_without(field.path));
        if !field.default.is_empty() {
            let text = yaml(field.path, field.default);
            assert_eq!(settings(&text), plain, "{text}");
        }
        // Policies, and the tools that they know, are compared elsewhere.
        let is_of_policies = field.path == "policies" || field.path.starts_with("tools");
        if !field.example.is_empty() && !is_of_policies {
            let text = yaml(field.path, field.example);
            let changed = settings(&text);
            // The first is what it is already, the second needs credentials around it.
            let same = ["providers.*.dialect", "providers.*.sign"].contains(&field.path);
            assert_eq!(changed == plain, same, "{text}");
        }
    }
}

#[test]
fn which_policies() {
    let own = rule("own");
    let table: [(&str, &[&str]); 6] = [
        (&own, &["own"]),
        (
            "listen: 127.0.0.1:1\npolicy: own\nrules: [{ id: mine, tool: x, verdict: deny }]",
            &["mine"],
        ),
        ("policies: [a.yaml, rules/b.yaml]", &["a", "b"]),
        ("policies: ['rules/*.yaml', a.yaml]", &["b", "c", "a"]),
        ("policies: ['*.yaml']", &["a"]),
        (
            "policies: [{ policy: in, rules: [{ id: in, tool: x, verdict: deny }] }, a.yaml]",
            &["in", "a"],
        ),
    ];
    for (config, expected) in table {
        let place = Place::with(config)
            .file("a.yaml", &rule("a"))
            .file("rules/b.yaml", &rule("b"))
            .file("rules/c.yaml", &rule("c"))
            .file("rules/.hidden.yaml", "policy: [");
        assert_eq!(rules(&place.load().unwrap()), expected, "{config}");
    }
}

#[test]
fn no_policies_is_not_the_starter() {
    let resolved = Place::with("policies: []\nprotect: off").load().unwrap();
    assert!(resolved.policies.compiled.is_none());
    let resolved = Place::with("policies: []").load().unwrap();
    let policies = resolved.policies.compiled.unwrap();
    assert!(policies.rules().all(|rule| rule.policy == "self-protection"));
    assert!(policies.is_protected());
    assert_eq!(policies.rule_count(), 0, "they are not among the user's");
    let resolved = Place::with("{}").load().unwrap();
    let deny = |rule: &callgate_policy::RuleInfo| rule.verdict == Verdict::Deny;
    assert!(resolved.policies.compiled.unwrap().rules().any(|rule| deny(&rule)));
}

#[test]
fn a_built_in_policy_can_be_relaxed() {
    let entry = "{ use: builtin:starter, disable: [no-shutdown], except: [{ rule: no-sending, when: { connects: a.example } }] }";
    let resolved = Place::with(&format!("policies:\n  - {entry}\n")).load().unwrap();
    let policies = resolved.policies;
    let origin =
        r#"builtin:starter (without no-shutdown; no-sending except {"connects":"a.example"})"#;
    assert_eq!(policies.origins, [origin]);
    let ids: Vec<String> = policies.compiled.unwrap().rules().map(|rule| rule.id).collect();
    assert!(!ids.iter().any(|id| id == "no-shutdown"), "{ids:?}");
    assert!(ids.iter().any(|id| id == "no-secrets"), "{ids:?}");
    let broken = "policies:\n  - { use: builtin:starter, disable: [nothing], except: [{ rule: no-secrets, when: { reads: '@x' } }] }\n  - { use: builtin:x }\n";
    assert_eq!(
        Place::with(broken).problems(),
        [
            "callgate.yaml:2:39 no rule `nothing` in `builtin:starter`",
            "callgate.yaml:2:93 unknown set of paths `@x`",
            "callgate.yaml:3:12 unknown policy `builtin:x`",
        ]
    );
}

#[test]
fn a_glob_without_a_match_is_a_problem() {
    let place = Place::with("policies:\n  - builtin:starter\n  - 'rules/*.yaml'\n");
    let Err(ConfigError::Rejected(rejected)) = place.load() else { panic!("it was taken") };
    let problems: Vec<_> = rejected.problems.iter().map(|problem| place.place(problem)).collect();
    assert_eq!(problems, ["callgate.yaml:3:5 no file matches `rules/*.yaml`"]);
}

#[test]
fn files_that_are_gone_are_not_no_policies() {
    let place = Place::with("policies: ['rules/*.yaml']");
    assert_eq!(place.problems(), ["callgate.yaml:1:12 no file matches `rules/*.yaml`"]);
}

#[test]
fn problems_of_settings_and_policies_together_in_the_order_of_the_text() {
    let place = Place::with(
        "listen: 127.0.0.1:1
policies:
  - policy: first
    rules:
      - id: one
        tool: x
        verdict: denny
  - missing.yaml
  - bad.yaml
  - builtin:nothing
on_deny: shout
",
    )
    .file("bad.yaml", "policy: bad\nruls: []\n");
    let found = place.problems();
    let missing = &found[1];
    assert!(missing.starts_with("callgate.yaml:8:5 cannot read policy `"), "{missing}");
    assert!(missing.ends_with("missing.yaml`: No such file or directory (os error 2)"));
    assert_eq!(found[0], "callgate.yaml:7:18 unknown verdict `denny`");
    assert_eq!(found[2], "callgate.yaml:10:5 unknown policy `builtin:nothing`");
    assert_eq!(found[3], "callgate.yaml:11:10 unknown value for `on_deny`: `shout`");
    assert_eq!(found[4], "bad.yaml:2:1 unknown key `ruls`");
    assert_eq!(found.len(), 5);
}

#[test]
fn a_policy_in_a_shared_file_has_its_lines() {
    let text = "# settings\nlisten: 127.0.0.1:1\n\npolicy: own\nrules:\n  - id: a\n    verdict: deny\n    when: { arg: x }\n";
    assert_eq!(Place::with(text).problems(), ["callgate.yaml:8:13 this argument has no operator"]);
    let error = Place::with(text).load().unwrap_err();
    assert_eq!(error.to_string(), "the policy is rejected: 1 problem");
    let unnamed = "listen: 127.0.0.1:1\nrules: []\n";
    assert_eq!(Place::with(unnamed).problems(), ["callgate.yaml:2:1 the policy has no name"]);
}

#[test]
fn a_variable_that_is_not_set() {
    let text = "providers:\n  openai:\n    api_key_env: CALLGATE_TEST_IS_NOT_SET\n";
    let place = Place::with(text);
    let resolved = place.load().unwrap();
    assert_eq!(resolved.missing.len(), 1);
    let error = resolved.check_variables().unwrap_err();
    let ConfigError::Rejected(rejected) = error else { panic!() };
    assert_eq!(
        place.place(&rejected.problems[0]),
        "callgate.yaml:3:18 the variable CALLGATE_TEST_IS_NOT_SET is not set"
    );
    assert_eq!(rejected.rendered(false).len(), 1);
}

#[test]
fn files_that_cannot_be_read() {
    let place = Place::new();
    let text = place.load().unwrap_err().to_string();
    assert!(text.starts_with("cannot read config `"), "{text}");
    let place = Place::new().file("callgate.yaml", "");
    fs::write(place.dir.path().join("callgate.yaml"), b"listen: \xff").unwrap();
    let text = place.load().unwrap_err().to_string();
    assert!(text.ends_with("callgate.yaml`: it is not UTF-8 (byte 8)"), "{text}");
}

/// Every setting says truly whether a process that runs can take it over.
#[test]
fn settings_that_need_a_restart_are_listed_separately() {
    let shim = Process::Shim { server: "openai" };
    for field in fields::all().filter(|field| !field.example.is_empty()) {
        // The other settings must not hide what it changes.
        let place = Place::new();
        let resolved = |text: String| {
            let path = place.dir.path().join("callgate.yaml");
            fs::write(&path, text).unwrap();
            settings(Some(&path)).unwrap()
        };
        let before = resolved(yaml_without(field.path));
        let now = resolved(yaml(field.path, field.example));
        let changed = |process| {
            StartSettings::of(&before, process).changed(&StartSettings::of(&now, process))
        };
        let (gateway, shim) = (changed(Process::Gateway), changed(shim));
        let path = field.path.replace('*', "openai");
        let told = |by: &[String]| by.contains(&path);
        let expected = match field.applies {
            Applies::AtReload | Applies::AsItsKeysSay => (false, false),
            Applies::AtRestart(Users::Gateway, _) => (true, false),
            Applies::AtRestart(Users::Shims, _) => (false, true),
            Applies::AtRestart(Users::Both, _) => (true, true),
        };
        assert_eq!((told(&gateway), told(&shim)), expected, "{path}: {gateway:?} {shim:?}");
    }
}
