//! What a page with a gateway needs around it: a provider that follows a script, and a port.

use callgate_testkit::port::free_address;
use callgate_testkit::provider::{Provider, ScriptedTurn, TurnPart};
use callgate_testkit::upstream::{Answer, Request, Upstream};
use serde_json::{Value, json};

use crate::pages::Page;

/// The port every page shows: the one a gateway has by itself.
const PORT: &str = "8484";

/// The providers every page shows.
const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";

/// Replaces the network for one page.
pub(crate) struct World {
    upstream: Upstream,
    port: u16,
}

impl World {
    pub(crate) fn new() -> Self {
        let provider = Provider::default().script("clean", clean());
        let provider = provider.script("deploy", deploy()).script("build", build());
        let upstream = Upstream::start(move |request| answer(&provider, request));
        Self { upstream, port: free_address().port() }
    }

    /// The page with this world's addresses instead of the real ones.
    pub(crate) fn settle(&self, page: &mut Page) {
        for block in &mut page.blocks {
            block.text = self.settled(&block.text);
        }
    }

    fn settled(&self, text: &str) -> String {
        let root = self.upstream.url();
        text.replace(PORT, &self.port.to_string())
            .replace(ANTHROPIC, &root)
            .replace(OPENAI, &format!("{root}/v1"))
    }

    /// A config that changes nothing but where the providers and the gateway are: for pages that
    /// show a gateway without a config.
    pub(crate) fn config(&self) -> String {
        let config = format!(
            "listen: 127.0.0.1:{PORT}\nproviders:\n  \
             anthropic: {{ base_url: \"{ANTHROPIC}\", dialect: anthropic }}\n  \
             openai: {{ base_url: \"{OPENAI}\", dialect: openai-chat }}\n"
        );
        self.settled(&config)
    }
}

/// What the model of the pages does: one call that every shell rule against deleting denies, one
/// that is harmless; and then, once it has the results, a text.
fn clean() -> Vec<ScriptedTurn> {
    vec![
        vec![
            TurnPart::text("I will clean up, then look around."),
            TurnPart::call("toolu_01", "Bash", r#"{"command":"rm -rf ~"}"#),
            TurnPart::call("toolu_02", "Bash", r#"{"command":"ls"}"#),
        ],
        vec![TurnPart::text("There are two files here. I did not delete anything.")],
    ]
}

/// Asked to remove a folder, it wants too much at first.
fn build() -> Vec<ScriptedTurn> {
    vec![
        vec![
            TurnPart::text("I will clean up first."),
            TurnPart::call("toolu_01", "Bash", r#"{"command":"rm -rf ~"}"#),
        ],
        vec![
            TurnPart::text("Then I remove only the build folder."),
            TurnPart::call("toolu_02", "Bash", r#"{"command":"rm -rf ./build"}"#),
        ],
    ]
}

/// Asked to deploy, it has a secret in its call.
fn deploy() -> Vec<ScriptedTurn> {
    // In two pieces, so that nobody who looks for secrets takes it for one.
    let token = ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let input = json!({ "command": format!("GITHUB_TOKEN={token} make deploy") });
    vec![vec![
        TurnPart::text("I will deploy it."),
        TurnPart::call("toolu_03", "Bash", &input.to_string()),
    ]]
}

/// The answer to whatever the page asks: its question names no script, so one is put in.
fn answer(provider: &Provider, request: &Request) -> Answer {
    let mut body = request.json();
    let list = if body["messages"].is_array() { "messages" } else { "input" };
    let messages = body[list].as_array_mut();
    let first = messages.and_then(|all| all.iter_mut().find(|one| one["role"] == "user"));
    if let Some(Value::String(text)) = first.map(|first| question(&mut first["content"])) {
        let script = match &*text {
            text if text.contains("Deploy") => "deploy",
            text if text.contains("build folder") => "build",
            _ => "clean",
        };
        text.push_str(&format!(" [script {script} #1]"));
    }
    provider.answer(&Request { body: body.to_string().into_bytes(), ..request.clone() })
}

/// The text of a message: itself, or its first part.
fn question(content: &mut Value) -> &mut Value {
    if content.is_array() { &mut content[0]["text"] } else { content }
}
