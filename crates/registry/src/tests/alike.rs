//! Similar names of servers and tools.

use callgate_scan::inspect::Similarity;

use super::*;
use crate::{FirstUse, ItemIdentity, Launch, Likeness, PinRegistry};

fn registry(tools: &[(&str, &str)]) -> PinRegistry {
    let mut registry = PinRegistry::default();
    for (server, name) in tools {
        let definition = tool(&format!(r#"{{"name":"{name}"}}"#));
        let launch = Launch::origin("http://localhost");
        let identity = ItemIdentity::of(*server, &definition);
        registry.observe(&identity, &launch, &definition, FirstUse::Trust, 0).unwrap();
    }
    registry
}

fn alike(registry: &PinRegistry, server: &str, name: &str) -> Vec<(String, Likeness)> {
    let found = registry.alike(&ItemIdentity::tool(server, name));
    found.into_iter().map(|it| (it.other.to_string(), it.how)).collect()
}

#[test]
fn names_that_are_easily_confused_are_reported() {
    let registry = registry(&[
        ("github", "create_issue"),
        ("github", "list_issues"),
        ("evil", "create_issue"),
        ("evil", "cre\u{430}te_issue"),
        ("evil", "Create-Issue"),
        ("githud", "weather"),
    ]);
    let found = alike(&registry, "evil", "create_issue");
    assert_eq!(found, [("github/create_issue".into(), Likeness::SameName)], "not its own");

    let found = alike(&registry, "forge", "create_issue");
    let of = |other: &str| found.iter().find(|(it, _)| it == other).map(|(_, how)| *how);
    assert_eq!(of("evil/Create-Issue"), Some(Likeness::Tool(Similarity::Case)));
    assert_eq!(of("evil/cre\u{430}te_issue"), Some(Likeness::Tool(Similarity::Confusable)));
    assert_eq!(of("github/list_issues"), None);

    let found = alike(&registry, "githud", "weather");
    assert_eq!(found, [("github/".into(), Likeness::Server(Similarity::Distance(1)))]);
    assert_eq!(alike(&registry, "weather", "forecast"), []);
}

#[test]
fn the_report_is_bounded() {
    let names: Vec<String> = (0..100).map(|n| format!("s{n}")).collect();
    let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "read_file")).collect();
    assert_eq!(alike(&registry(&tools), "other", "read_file").len(), PinRegistry::MAX_ALIKE);
}
