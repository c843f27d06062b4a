//! Conversations in which calls are denied: by name and by arguments, some and all of a turn.

use super::{Provider, ScriptedTurn, TurnPart};

/// The tools of the scripts.
pub const TOOLS: [&str; 3] = ["read_file", "delete_all", "bash"];

/// Denies `delete_all` by its name and `bash` by its arguments.
pub const POLICY: &str = "\
policy: scripts
rules:
  - { id: no-delete, tool: delete_all, verdict: deny, reason: Nothing is deleted here. }
  - id: no-rm
    tool: bash
    when: { arg: command, contains: rm -rf }
    verdict: deny
    reason: Nothing is removed for good.
";

/// What a script holds, turn by turn: the calls that are allowed, and the ids of those denied.
#[derive(Debug)]
pub struct Scripted {
    /// The name of the key.
    pub name: &'static str,
    /// Of each turn, the tools whose calls are left.
    pub left: [&'static [&'static str]; 2],
    /// Of each turn, the ids of the denied calls, with `{n}` for the conversation.
    pub denied: [&'static [&'static str]; 2],
}

/// The scripts, each of two turns.
pub const SCRIPTS: [Scripted; 5] = [
    Scripted {
        name: "one by name",
        left: [&["read_file"], &["read_file"]],
        denied: [&["{n}_1b"], &["{n}_2a"]],
    },
    Scripted {
        name: "all by name",
        left: [&[], &[]],
        denied: [&["{n}_1a"], &["{n}_2a", "{n}_2b"]],
    },
    Scripted {
        name: "one by arguments",
        left: [&["bash"], &["bash"]],
        denied: [&["{n}_1a"], &["{n}_2b"]],
    },
    Scripted {
        name: "all by arguments",
        left: [&[], &[]],
        denied: [&["{n}_1a", "{n}_1b"], &["{n}_2a"]],
    },
    Scripted {
        name: "between thoughts",
        left: [&["read_file"], &["read_file", "bash"]],
        denied: [&["{n}_1a"], &["{n}_2b"]],
    },
];

// Arguments of calls that reach a client are as every client writes them again. Those of denied
// calls never leave the gateway and come back to the byte: spaces, `1.0`, a number no client keeps.
const READ: &str = r#"{"path":"a/b.txt"}"#;
const LIST: &str = r#"{"command":"ls"}"#;
const DELETE: &str = r#"{ "path": "/", "depth": 1.0, "id": 123456789012345678901, "u": "\u00fc" }"#;
const REMOVE: &str = r#"{"command": "rm -rf /", "why": "Größe"}"#;

impl Provider {
    /// A model that knows [`SCRIPTS`].
    pub fn scripted() -> Self {
        Self::default()
            .script("one by name", one_by_name())
            .script("all by name", all_by_name())
            .script("one by arguments", one_by_arguments())
            .script("all by arguments", all_by_arguments())
            .script("between thoughts", between_thoughts())
    }
}

fn one_by_name() -> Vec<ScriptedTurn> {
    vec![
        vec![
            TurnPart::thinking("First I look.", "sig/{n}/1=="),
            TurnPart::text("I read and delete ({n})."),
            TurnPart::call("{n}_1a", "read_file", READ),
            TurnPart::call("{n}_1b", "delete_all", DELETE),
        ],
        vec![
            TurnPart::thinking("Once more.", "sig/{n}/2=="),
            TurnPart::text("I delete and read ({n})."),
            TurnPart::call("{n}_2a", "delete_all", DELETE),
            TurnPart::call("{n}_2b", "read_file", READ),
        ],
    ]
}

fn all_by_name() -> Vec<ScriptedTurn> {
    vec![
        vec![
            TurnPart::thinking("It must go.", "sig/{n}/1=="),
            TurnPart::text("I delete ({n})."),
            TurnPart::call("{n}_1a", "delete_all", DELETE),
        ],
        vec![
            TurnPart::thinking("It must.", "sig/{n}/2=="),
            TurnPart::text("I delete twice ({n})."),
            TurnPart::call("{n}_2a", "delete_all", DELETE),
            TurnPart::call("{n}_2b", "delete_all", "{}"),
        ],
    ]
}

fn one_by_arguments() -> Vec<ScriptedTurn> {
    vec![
        vec![
            TurnPart::Redacted("cmVkYWN0ZWQ={n}".into()),
            TurnPart::text("I clean up and list ({n})."),
            TurnPart::call("{n}_1a", "bash", REMOVE),
            TurnPart::call("{n}_1b", "bash", LIST),
        ],
        vec![
            TurnPart::thinking("List first.", "sig/{n}/2=="),
            TurnPart::text("I list and clean up ({n})."),
            TurnPart::call("{n}_2a", "bash", LIST),
            TurnPart::call("{n}_2b", "bash", REMOVE),
        ],
    ]
}

fn all_by_arguments() -> Vec<ScriptedTurn> {
    vec![
        vec![
            TurnPart::thinking("Clean.", "sig/{n}/1=="),
            TurnPart::text("I clean up twice ({n})."),
            TurnPart::call("{n}_1a", "bash", REMOVE),
            TurnPart::call("{n}_1b", "bash", REMOVE),
        ],
        vec![
            TurnPart::thinking("Cleaner.", "sig/{n}/2=="),
            TurnPart::text("I clean up again ({n})."),
            TurnPart::call("{n}_2a", "bash", REMOVE),
        ],
    ]
}

fn between_thoughts() -> Vec<ScriptedTurn> {
    vec![
        vec![
            TurnPart::thinking("One.", "sig/{n}/1a=="),
            TurnPart::text("I delete, think and read ({n})."),
            TurnPart::call("{n}_1a", "delete_all", DELETE),
            TurnPart::thinking("Two.", "sig/{n}/1b=="),
            TurnPart::call("{n}_1b", "read_file", READ),
        ],
        vec![
            TurnPart::thinking("Three.", "sig/{n}/2a=="),
            TurnPart::text("I read, think, delete and list ({n})."),
            TurnPart::call("{n}_2a", "read_file", READ),
            TurnPart::thinking("Four.", "sig/{n}/2b=="),
            TurnPart::call("{n}_2b", "delete_all", DELETE),
            TurnPart::call("{n}_2c", "bash", LIST),
        ],
    ]
}
