//! Decisions with real stores.

use std::time::Duration;

use callgate_audit::{CallOutcome, Filter, RecordKind, RecordOrder, StoredRecord};
use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
use callgate_effects::Catalogue;
use callgate_policy::{Policies, Source};
use callgate_store::{Durability, Location, Retention, Store};

use crate::*;

const RULES: &str = "
policy: p
rules:
  - { id: no-mail, tool: send_email, verdict: deny, reason: No mail. }
  - { id: no-rm, tool: Bash, when: { arg: command, contains: rm }, verdict: deny, reason: No rm. }
  - { id: clean, tool: post, verdict: sanitize, sanitize: { detectors: [email] }, reason: Private. }
  - { id: slowly, tool: search, limit: { calls: 2, per: hour }, verdict: deny, reason: Too many. }
";

fn policies(text: &str) -> Policies {
    let source = Source { name: "p.yaml".into(), text: text.into() };
    Policies::compile(&[source], &Catalogue::builtin()).unwrap().0
}

/// Replaces the policies and keeps the settings.
pub(crate) fn swap_policies(decider: &Decider, policies: Policies) {
    let settings = (*decider.inner().in_force()).clone();
    let in_force = InForce { policies: Some(policies.into()), ..settings };
    decider.swap(in_force, &PolicyProvenance::default(), Vec::new());
}

fn audit(store: Location) -> Store {
    let (durability, retention) = (Durability::Process, Retention::default());
    Store::open(&callgate_store::Settings {
        durability,
        retention,
        ..callgate_store::Settings::at(store)
    })
    .unwrap()
}

fn decider(settings: Settings) -> (Decider, Store) {
    let audit = audit(Location::Memory);
    (Decider::new(Some(policies(RULES)), audit.clone(), settings), audit)
}

fn call(name: &str, arguments: Arguments) -> ToolCall {
    ToolCall {
        id: CallId::from("call_1"),
        name: ToolName::parse(name).unwrap(),
        arguments,
        origin: Origin::at(Surface::Response),
        caller: None,
    }
}

fn response_decider(decider: &Decider) -> ResponseDecider {
    let mut context = RequestContext::new(Origin::at(Surface::Response));
    context.request = Some("request".into());
    decider.response_decider(context).unwrap()
}

/// A call of the first answer.
pub(crate) fn nth(call: u32) -> CallNumber {
    CallNumber { answer: 0, call }
}

fn decide(pending: PendingDecision) -> Result<Recorded<Permit>, Box<Denial>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    match runtime.block_on(pending) {
        Decision::Allow(permit) => Ok(permit),
        Decision::Deny(denial) => Err(Box::new(denial)),
    }
}

fn records(audit: &Store) -> Vec<StoredRecord> {
    audit.flush().wait().unwrap();
    let filter = Filter { order: RecordOrder::OldestFirst, ..Filter::default() };
    audit.reader().unwrap().records(&filter).unwrap()
}

#[test]
fn a_permit_comes_with_its_record() {
    let (decider, audit) = decider(Settings::default());
    let mut response_decider = response_decider(&decider);
    let bash = call("Bash", Arguments::json(r#"{"command":"ls"}"#));
    assert!(matches!(response_decider.decide_by_name(nth(0), &bash), NameDecision::NeedArguments));
    assert!(decide(response_decider.decide(bash.clone())).unwrap().covers(&bash));
    let records = records(&audit);
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(record.record.verdict.as_ref().unwrap().action, CallOutcome::Allow);
    assert_eq!(record.record.tool.as_ref().unwrap().input.as_deref(), Some(r#"{"command":"ls"}"#));
}

#[test]
fn what_passed_unread_is_not_recorded_as_denied() {
    let (decider, audit) = decider(Settings::default());
    let mut response_decider = response_decider(&decider);
    response_decider.record_oddity(Oddity::PassedUnread, None, "not UTF-8");
    response_decider.record_oddity(Oddity::Withheld, None, "not UTF-8");
    let records = records(&audit);
    let action = |at: usize| records[at].record.verdict.as_ref().unwrap().action;
    assert_eq!((action(0), action(1)), (CallOutcome::Unjudged, CallOutcome::Deny));
    assert_eq!(records[0].record.detail.as_deref(), Some("unread: not UTF-8"));
}

#[test]
fn the_record_shows_sanitized_arguments() {
    let (decider, audit) = decider(Settings::default());
    let mut response_decider = response_decider(&decider);
    let post = call("post", Arguments::json(r#"{"to":"ann@acme.org"}"#));
    assert!(matches!(response_decider.decide_by_name(nth(0), &post), NameDecision::NeedArguments));
    let permit = decide(response_decider.decide(post.clone())).unwrap();
    assert!(permit.covers(&post));
    let left = r#"{"to":"[REDACTED:email]"}"#;
    assert_eq!(permit.rewritten(), Some(left));
    let records = records(&audit);
    let record = &records[0].record;
    assert_eq!(record.tool.as_ref().unwrap().input.as_deref(), Some(left));
    let verdict = record.verdict.as_ref().unwrap();
    assert_eq!(verdict.sanitized[0].rule.as_deref(), Some("clean"));
    assert_eq!(verdict.replaced, ["email"]);
}

#[test]
fn a_denial_names_its_record() {
    let (decider, audit) = decider(Settings::default());
    let mut response_decider = response_decider(&decider);
    let bash = call("Bash", Arguments::json(r#"{"command":"rm x"}"#));
    let denial = decide(response_decider.decide(bash.clone())).unwrap_err();
    assert_eq!(denial.rule.as_deref(), Some("no-rm"));
    assert_eq!(denial.record, Some(records(&audit)[0].record.id.to_string()));
}

#[test]
fn a_denial_by_name_gets_its_input_later() {
    let (decider, audit) = decider(Settings::default());
    let mut response_decider = response_decider(&decider);
    let named = call("send_email", Arguments::pending());
    let NameDecision::Deny(denial) = response_decider.decide_by_name(nth(3), &named) else {
        panic!()
    };
    let before = records(&audit);
    assert_eq!(before[0].record.tool.as_ref().unwrap().input, None);
    // The call with the same number of the next answer is another one.
    let later = CallNumber { answer: 1, ..nth(3) };
    response_decider.record_input(later, &call("send_email", Arguments::json(r#"{"to":"y"}"#)));
    assert_eq!(records(&audit)[0].record.tool.as_ref().unwrap().input, None);
    response_decider.record_input(nth(3), &call("send_email", Arguments::json(r#"{"to":"x"}"#)));
    let after = records(&audit);
    let [record] = after.as_slice() else { panic!("{after:?}") };
    assert_eq!(Some(record.record.id.to_string()), denial.record);
    assert_eq!(record.record.tool.as_ref().unwrap().input.as_deref(), Some(r#"{"to":"x"}"#));
}

#[test]
fn a_limit_counts_over_all_responses() {
    let (decider, _audit) = decider(Settings::default());
    let search = call("search", Arguments::json("{}"));
    for number in 0..3 {
        let mut response_decider = response_decider(&decider);
        assert!(matches!(
            response_decider.decide_by_name(nth(0), &search),
            NameDecision::NeedArguments
        ));
        let decided = decide(response_decider.decide(search.clone()));
        assert_eq!(decided.is_ok(), number < 2, "{number}");
    }
}

#[test]
fn a_response_keeps_the_policies_it_began_with() {
    let (decider, audit) = decider(Settings::default());
    let bash = call("Bash", Arguments::json(r#"{"command":"rm x"}"#));
    let mut before = response_decider(&decider);
    swap_policies(&decider, policies("policy: p\nrules: []\n"));
    assert!(decide(before.decide(bash.clone())).is_err());
    assert!(decide(response_decider(&decider).decide(bash.clone())).is_ok());
    decider.reject("line 3: what?");
    assert_eq!(decider.policy_state(), PolicyState::Rejected { why: "line 3: what?".into() });
    assert!(decide(response_decider(&decider).decide(bash.clone())).is_ok());
    let kinds: Vec<RecordKind> = records(&audit).iter().map(|stored| stored.record.kind).collect();
    assert!(
        kinds.contains(&RecordKind::PolicyLoaded) && kinds.contains(&RecordKind::PolicyRejected)
    );
}

#[test]
fn large_arguments_are_judged_denied_or_let_pass() {
    let large = |name| call(name, Arguments::oversize(r#"{"command":"#));
    let with = |oversize| {
        let (decider, audit) = decider(Settings { oversize, ..Settings::default() });
        (response_decider(&decider), audit)
    };
    let (mut judged, _audit) = with(Oversize::Judge);
    assert!(decide(judged.decide(large("Bash"))).is_err());
    assert!(decide(judged.decide(large("Read"))).is_ok());
    let (mut denied, _audit) = with(Oversize::Deny);
    assert!(decide(denied.decide(large("Read"))).is_err());
    let (mut allowed, audit) = with(Oversize::Allow);
    assert!(decide(allowed.decide(large("Bash"))).is_ok());
    assert!(decide(allowed.decide(large("send_email"))).is_err());
    assert_eq!(records(&audit)[0].record.kind, RecordKind::ToolCallWarning);
}

#[test]
fn odd_arguments_may_be_denied() {
    let odd = call("Read", Arguments::json("[1]"));
    let (lenient, _audit) = decider(Settings::default());
    assert!(decide(response_decider(&lenient).decide(odd.clone())).is_ok());
    let settings = Settings { arguments: OddArguments::Deny, ..Settings::default() };
    let (strict, _audit) = decider(settings);
    assert!(decide(response_decider(&strict).decide(odd.clone())).is_err());
    let fine = call("Read", Arguments::json("{}"));
    assert!(decide(response_decider(&strict).decide(fine.clone())).is_ok());
}

#[test]
fn without_a_record_there_is_no_permit_unless_the_operator_allows_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.db");
    let audit = audit(Location::Sqlite(path));
    // Another process holds the lock and never releases it.
    let lock = std::fs::File::open(folder.path().join("records.db.journal/lock")).unwrap();
    lock.lock().unwrap();
    let read = call("Read", Arguments::json("{}"));
    for (on_failure, passes) in [(OnFailure::Deny, false), (OnFailure::Allow, true)] {
        let record_timeout = Duration::from_millis(200);
        let settings = Settings { on_failure, record_timeout, ..Settings::default() };
        let decider = Decider::new(Some(policies(RULES)), audit.clone(), settings);
        let decided = decide(response_decider(&decider).decide(read.clone()));
        assert_eq!(decided.is_ok(), passes, "{decided:?}");
    }
}

#[test]
fn a_store_that_hangs_holds_up_removed_calls_no_longer_than_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let audit = audit(Location::Sqlite(folder.path().join("records.db")));
    // Another process holds the lock, and the writer waits for it for two seconds.
    let lock = std::fs::File::open(folder.path().join("records.db.journal/lock")).unwrap();
    lock.lock().unwrap();
    let record_timeout = Duration::from_millis(200);
    let settings = Settings { record_timeout, ..Settings::default() };
    let decider = Decider::new(Some(policies(RULES)), audit, settings);
    response_decider(&decider).record_oddity(Oddity::Withheld, None, "not UTF-8");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let entry = RemovedEntry {
        binding: [1; 32],
        signs: vec![[2; 32]],
        keys: Vec::new(),
        alike: None,
        content: b"{}".to_vec(),
    };
    let begun = std::time::Instant::now();
    runtime.block_on(decider.keep_removed(entry));
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[test]
fn without_a_policy_there_is_no_response_decider() {
    let audit = audit(Location::Memory);
    let decider = Decider::new(None, audit.clone(), Settings::default());
    let context = RequestContext::new(Origin::at(Surface::Response));
    assert!(decider.response_decider(context.clone()).is_none());
    decider.record_unjudged(&context, "there is no policy");
    let records = records(&audit);
    assert_eq!(records[0].record.verdict.as_ref().unwrap().action, CallOutcome::Unjudged);
}

#[test]
fn a_turn_without_calls_is_counted_and_one_with_calls_recorded() {
    let (decider, audit) = decider(Settings::default());
    response_decider(&decider).end(TurnEnd {
        tokens: Tokens { input: Some(5), output: Some(7), ..Tokens::default() },
        ..TurnEnd::default()
    });
    assert!(records(&audit).is_empty());
    let stats = audit.reader().unwrap().stats(&Filter::default()).unwrap();
    assert_eq!(stats.turns.without_calls, Some(1));
    let mut second = response_decider(&decider);
    decide(second.decide(call("Read", Arguments::json("{}")))).unwrap();
    let stop_reason = Some("tool_use".to_owned());
    second.end(TurnEnd { calls: 1, stop_reason, ..TurnEnd::default() });
    let records = records(&audit);
    assert_eq!(records[0].record.stop_reason.as_deref(), Some("tool_use"));
    assert_eq!(records[1].record.kind, RecordKind::Turn);
}
