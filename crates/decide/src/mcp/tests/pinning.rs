//! Pins: the effect of each setting in each state.

use callgate_audit::{CallOutcome, ReasonCode, RecordKind};
use callgate_registry::{Definition, ItemIdentity, ItemKind, PinRegistry};

use super::super::*;
use super::support::*;

const OTHER: &str = r#"{"name":"echo","description":"Says it again, louder."}"#;

fn settings(on_change: CheckAction, auto_trust_first: bool) -> McpSettings {
    let pins = PinSettings { on_change, auto_trust_first };
    McpSettings { pins, ..McpSettings::default() }
}

#[test]
fn block_alert_and_allow_by_unseen_trusted_changed_and_quarantined() {
    use CheckAction::{Alert, Allow, Block};
    for (on_change, auto_trust_first, lists, shown, passes, action) in [
        // Unseen: nothing was listed.
        (Block, true, &[][..], None, true, CallOutcome::Allow),
        (Block, false, &[], None, false, CallOutcome::Deny),
        (Alert, false, &[], None, true, CallOutcome::Audit),
        (Allow, false, &[], None, true, CallOutcome::Allow),
        // Trusted at first sight.
        (Block, true, &[ECHO], Some(true), true, CallOutcome::Allow),
        (Alert, true, &[ECHO], Some(true), true, CallOutcome::Allow),
        (Allow, true, &[ECHO], Some(true), true, CallOutcome::Allow),
        // Quarantined at first sight.
        (Block, false, &[ECHO], Some(false), false, CallOutcome::Deny),
        (Alert, false, &[ECHO], Some(true), true, CallOutcome::Audit),
        (Allow, false, &[ECHO], Some(true), true, CallOutcome::Allow),
        // Changed.
        (Block, true, &[ECHO, OTHER], Some(false), false, CallOutcome::Deny),
        (Alert, true, &[ECHO, OTHER], Some(true), true, CallOutcome::Audit),
        (Allow, true, &[ECHO, OTHER], Some(true), true, CallOutcome::Allow),
        // Changed, and back again.
        (Block, true, &[ECHO, OTHER, ECHO], Some(true), true, CallOutcome::Allow),
    ] {
        let what = format!("{on_change:?} {auto_trust_first} {lists:?}");
        let world = World::new(settings(on_change, auto_trust_first));
        let session = world.session("srv");
        assert!(!session.knows_tools());
        let mut items = Vec::new();
        for list in lists {
            items = session.judge_tools(&[list], ListPage::ONLY);
            assert!(session.knows_tools());
        }
        let is_shown = items.first().map(|item| *item == ListAction::Keep);
        assert_eq!(is_shown, shown, "{what}: {items:?}");
        let called = call(&session, "echo");
        assert_eq!(called.is_ok(), passes, "{what}: {called:?}");
        let verdict = world.last(RecordKind::McpToolCalled).verdict.unwrap();
        // The policies do not matter here: none covers the call.
        assert_eq!(verdict.action, action, "{what}: {verdict:?}");
    }
}

#[test]
fn a_changed_tool_is_recorded_once_and_the_denial_names_the_fix() {
    let world = World::new(settings(CheckAction::Block, true));
    let session = world.listed("srv", &[ECHO]);
    for _ in 0..3 {
        session.judge_tools(&[OTHER], ListPage::ONLY);
    }
    let records = world.records();
    let of =
        |kind: RecordKind| records.iter().filter(|record| record.kind == kind).collect::<Vec<_>>();
    assert_eq!((of(RecordKind::McpToolSeen).len(), of(RecordKind::McpToolChanged).len()), (1, 1));
    let changed = of(RecordKind::McpToolChanged)[0];
    assert!(changed.detail.as_ref().unwrap().starts_with("was v1:"));
    assert_eq!(changed.mcp.as_ref().unwrap().pin.as_deref(), Some("changed"));
    let verdict = changed.verdict.as_ref().unwrap();
    let code = Some(ReasonCode::PinChanged);
    assert_eq!((verdict.action, verdict.code), (CallOutcome::Deny, code));
    let model_message = model_message(&call(&session, "echo").unwrap_err());
    assert!(
        model_message.contains("callgate mcp pins diff --server srv --tool echo"),
        "{model_message}"
    );
    let called = world.last(RecordKind::McpToolCalled).verdict.unwrap();
    assert_eq!(called.code, code, "a call of the tool has the same code");
}

#[test]
fn trust_in_another_process_counts_at_the_next_call() {
    let world = World::new(settings(CheckAction::Block, false));
    let session = world.listed("srv", &[ECHO]);
    assert_eq!(stopped_by(&session, "echo"), "mcp.pins");
    let identity = ItemIdentity::tool("srv", "echo");
    let mut registry: PinRegistry = load_registry(&world.audit).unwrap();
    assert!(registry.trust(&identity, None).unwrap());
    world.audit.put_pin(&stored_pin(registry.get(&identity).unwrap())).unwrap();
    assert_eq!(stopped_by(&session, "echo"), "");
    world.audit.remove_pin("srv", "tool", "echo").unwrap();
    assert_eq!(stopped_by(&session, "echo"), "mcp.pins");
}

#[test]
fn two_processes_agree_on_one_pin() {
    let first = World::new(settings(CheckAction::Block, true));
    let second = World::at(first.audit.clone(), settings(CheckAction::Block, true), "  []\n");
    let (here, there) = (first.session("srv"), second.session("srv"));
    assert_eq!(there.judge_tools(&[], ListPage::ONLY), []);
    assert_eq!(here.judge_tools(&[ECHO], ListPage::ONLY), [ListAction::Keep]);
    // The other process sees a different definition, which is compared with the first.
    assert!(matches!(&there.judge_tools(&[OTHER], ListPage::ONLY)[..], [ListAction::Hide { .. }]));
    assert_eq!(stopped_by(&there, "echo"), "mcp.pins");
    // Here the server shows the trusted definition, even if another instance shows something else.
    assert_eq!(stopped_by(&here, "echo"), "");
    let pins = first.audit.pins().unwrap();
    assert_eq!((pins.len(), pins[0].state.as_str()), (1, "changed"));
}

#[test]
fn a_server_that_is_started_differently_is_another_server() {
    let world = World::new(settings(CheckAction::Block, true));
    world.listed("srv", &[ECHO]);
    let context =
        crate::RequestContext::new(callgate_call::Origin::at(callgate_call::Surface::Mcp));
    let moved = world.decider.mcp("srv", &Launch::command("evil", &["--stdio"], None), context);
    assert!(matches!(&moved.judge_tools(&[ECHO], ListPage::ONLY)[..], [ListAction::Hide { .. }]));
    let detail = world.last(RecordKind::McpToolChanged).detail.unwrap();
    assert!(detail.contains("the server was srv") && detail.contains("is evil"), "{detail}");
}

#[test]
fn prompts_and_instructions_are_pinned_too() {
    let world = World::new(settings(CheckAction::Block, true));
    let session = world.session("srv");
    assert_eq!(session.judge_instructions(r#""Use it gently.""#), ListAction::Keep);
    assert!(matches!(session.judge_instructions(r#""Use it often.""#), ListAction::Hide { .. }));
    let prompt = r#"{"name":"greet","description":"Says hello."}"#;
    assert_eq!(session.judge_prompts(&[prompt]), [ListAction::Keep]);
    session.judge_read(ClientRead::Prompt { name: "greet", arguments: "" }, Vec::new()).unwrap();
    let other = r#"{"name":"greet","description":"Says goodbye."}"#;
    assert!(matches!(&session.judge_prompts(&[other])[..], [ListAction::Hide { .. }]));
    let denial = session
        .judge_read(ClientRead::Prompt { name: "greet", arguments: "{}" }, Vec::new())
        .unwrap_err();
    assert_eq!(denial.rule.as_deref(), Some("mcp.pins"));
    assert!(model_message(&denial).contains("--prompt greet"));
    let kinds: Vec<String> = world.audit.pins().unwrap().into_iter().map(|pin| pin.kind).collect();
    assert_eq!(kinds, ["instructions", "prompt"]);
}

#[test]
fn a_pin_survives_the_store() {
    let definition = Definition::read(ItemKind::Tool, ECHO).unwrap();
    let launch = Launch::origin("https://example.org");
    let mut registry = PinRegistry::default();
    let identity = ItemIdentity::of("srv", &definition);
    let first = callgate_registry::FirstUse::Quarantine;
    registry.observe(&identity, &launch, &definition, first, 7).unwrap();
    let pin = registry.get(&identity).unwrap();
    assert_eq!(pin_of(stored_pin(pin)).as_ref(), Some(pin));
    // An invalid state allows nothing.
    let odd = callgate_store::StoredPin { state: "trusty".into(), ..stored_pin(pin) };
    assert_eq!(pin_of(odd).unwrap().status(), callgate_registry::PinStatus::Quarantined);
}
