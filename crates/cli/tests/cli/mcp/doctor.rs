//! What `callgate doctor` says of MCP servers.

use std::os::unix::fs::PermissionsExt as _;

use callgate_testkit::port::free_address;
use serde_json::json;

use super::{World, tool};
use crate::support::Test;

const CONFIG: &str = "\
store: sqlite:records.db
mcp:
  pins: { auto_trust_first: false }
  servers:
    good: { command: bin/server, env: [CALLGATE_TEST_UNSET], sha256: HASH }
    docs: { url: 'https://mcp.example.com/mcp', bearer_env: CALLGATE_TEST_TOKEN }
    open: { url: 'https://open.example.com/mcp' }
";

/// An address on which nobody answers.
fn nobody() -> String {
    free_address().to_string()
}

fn doctor(config: &str, args: &[&str]) -> Test {
    let test = Test::new(&[&["doctor", "--config", "c.yaml"], args].concat());
    let test = test.file("bin/server", "#!/bin/sh\n").env("CALLGATE_LISTEN", &nobody());
    let program = test.path().join("bin/server");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    test.file("c.yaml", config).env("CALLGATE_TEST_TOKEN", "secret")
}

/// The SHA-256 of `#!/bin/sh` and a line's end.
const HASH: &str = "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf";

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("mcp       ")).collect()
}

#[test]
fn servers_that_are_well() {
    let config = CONFIG.replace("HASH", HASH);
    let test = doctor(&config, &[]);
    let world = World::new(&test.path(), &config);
    world.lists("good", &[tool("a", "Does a."), tool("b", "Does b.")]);
    world.settle();
    let ran = test.run();
    let oauth = "OAuth sign-in does not work through callgate; use a fixed token, from `bearer_env` or as the client's own `Authorization`";
    let expected = [
        "good (stdio): bin/server".to_owned(),
        "good: the variable CALLGATE_TEST_UNSET is not set here; set it where the agent starts the server".to_owned(),
        "docs (http): https://mcp.example.com/mcp".to_owned(),
        "docs: a fixed token from CALLGATE_TEST_TOKEN is sent to it".to_owned(),
        format!("docs: {oauth}"),
        "open (http): https://open.example.com/mcp".to_owned(),
        "open: no token is sent to it; name one with `bearer_env`".to_owned(),
        format!("open: {oauth}"),
        "2 definitions to review: run `callgate mcp pins diff`".to_owned(),
    ];
    assert_eq!(lines(&ran.stdout), expected, "{}", ran.stderr);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(!ran.stdout.contains("secret"));
}

#[test]
fn programs_that_are_missing_or_others() {
    let gone = CONFIG.replace("bin/server", "bin/gone").replace(", sha256: HASH", "");
    let ran = doctor(&gone, &[]).run();
    let first = "good (stdio): there is no program `bin/gone`";
    assert_eq!((ran.code, lines(&ran.stdout)[0]), (1, first), "{}", ran.stdout);
    let other = CONFIG.replace("HASH", &"0".repeat(64));
    let ran = doctor(&other, &["--json"]).run();
    let found = &ran.json()[0];
    assert_eq!((ran.code, &found["ok"]), (1, &json!(false)), "{found}");
    let problem = found["mcp"]["servers"][0]["problems"][0].as_str().unwrap().to_owned();
    assert!(problem.contains("is not the file that was pinned: its SHA-256 is"), "{problem}");
    assert_eq!(found["mcp"]["waiting"], 0);
}
