//! The reference page of the config file, made from the table of fields.

use std::fmt::Write as _;

use crate::env;
use crate::fields::{self, Applies, SettingKind, SettingRow};
use crate::providers::KNOWN;

/// The text of `docs/reference/config.md`.
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    settings(&mut page);
    providers(&mut page);
    variables(&mut page);
    page.push_str(FOOT);
    page
}

const HEAD: &str = "\
# callgate.yaml

Generated from the table in `crates/config/src/fields.rs`. `callgate config check` finds every mistake in the file, `callgate config schema` \
prints its JSON Schema.

callgate reads the first of these files that is given or exists: the one that `--config` names, \
the one in `CALLGATE_CONFIG`, `callgate.yaml` in the user's config folder \
(`$XDG_CONFIG_HOME/callgate` or `~/.config/callgate`), `/etc/callgate/callgate.yaml`. Without \
any of these, the defaults apply, with `builtin:starter` as the policy. A `callgate.yaml` in the working directory is never read automatically, because an agent may have written it.

Every setting is optional, and paths are relative to the folder of the file. `$NAME` and `~` are not expanded. Do not put secrets in it.

";

const FOOT: &str = "
## A policy in the same file

The keys of a policy (`policy`, `mode`, `default`, `defaults`, `rules`, `text`) may be in the same \
file as the settings; that policy is then in force. This does not work together with `policies`: \
there, a policy is an entry of the list, as a mapping, or a file. See [policies](policy.md).

## Tools

callgate knows the tools of common agents and MCP servers: what [kind](policy.md#kinds-of-tools) each is, and which argument carries what. Any other tool has \
the effects that its arguments show by themselves, so rules on effects hold its calls back until their arguments are complete. `tools:` adds to what is known:

```yaml
tools:
  get_weather: { effects: none }
  deploy: { kind: \"@shell\", args: { cmdline: \"@command\" } }
  archive: { kind: [\"@read\", \"@delete\"], args: { \"files[*].name\": \"@path\" } }
  notify: { effects: [connects] }
```

Calls of `get_weather` are streamed again. Rules on `@shell`, on `@command` and on what a command would do now cover `deploy`. `notify` can only connect: its arguments are searched for hosts, and nothing else.

- Names are compared like those in rules. A name means the agents' own tool and the tool of every server under `mcp.servers`, never a tool of any other server.
- Kinds: `@shell`, `@read`, `@write`, `@edit`, `@delete`, `@fetch`, `@search`, `@sql`, `@agent`. Effects: `runs`, `reads`, `writes`, `deletes`, `connects`, `sets`, `sql`.
- For a tool that callgate knows, `kind` and `args` add to what is known; its `effects` cannot be changed.
- Policies that are given with `--policy` are judged without a config, and so without `tools:`.

## MCP servers

Without settings under `mcp:`, every server and tool may be used, each tool is pinned to its first definition, and findings are recorded. \
See [MCP servers](../guide/mcp.md).

```yaml
mcp:
  servers:
    github: { command: github-mcp-server, args: [stdio], env: [GITHUB_TOKEN], reads: [\"get_*\"], sends: [\"create_*\"] }
    docs: { url: \"https://mcp.example.com/mcp\", bearer_env: DOCS_TOKEN }
  fail_closed: true
  deny_tools: [{ server: github, tool: \"delete_*\" }]
  rate: { calls: 600, per: minute, burst: 50 }
```

## Changes while callgate runs

`callgate serve` and `callgate mcp wrap` watch the file and every policy it names, including new \
files that match a glob, and apply changes within a second; `callgate serve` also reloads on \
SIGHUP. A request or call that has begun is finished with the policies and settings that were in force when it began. An \
invalid file is rejected as a whole: the last valid policies and settings stay in force, the attempt is recorded as `policy_rejected`, and `/healthz` says `degraded`.

The table above says which settings apply at once, like policies, and which only after a restart. Until then the log, \
`restart_needed` in `/healthz` and `callgate doctor` name those that were changed. An MCP server behind `callgate mcp wrap` is restarted by its agent. \
Environment variables are read when the process starts: the gateway rejects a reload that names a variable that was not set then.

## Who may write the file

Anyone who can write the config or a policy decides what agents may do. callgate warns (`serve`, `mcp wrap`, `config check`, `policy check`, `doctor`) if \
the group or other users can write one of these files or its folder, or if its owner is neither root nor the user who runs callgate. A folder with the sticky bit, like \
`/tmp`, counts as safe, and so does a file system that is mounted read-only. With `callgate serve --strict` and `callgate config check --strict` it \
is an error: the gateway does not start, and a reload is rejected, as for an invalid file. callgate checks only the mode and the owner of the file and its folder, not access control lists and not parent folders.
";

fn settings(page: &mut String) {
    page.push_str(
        "## Settings\n\n| key | takes | default | a change applies | |\n|---|---|---|---|---|\n",
    );
    for field in fields::all().filter(|field| !matches!(field.kind, SettingKind::Section)) {
        let path = field.path.replace('*', "<name>").replace(".[]", "[]");
        let default = match field.default {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let (takes, applies, doc) = (takes(field), applies(field), field.doc);
        let _ = writeln!(page, "| `{path}` | {takes} | {default} | {applies} | {doc} |");
    }
    page.push_str(
        "\nSizes are numbers of bytes or have a unit: `KB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB`, `TiB`. Durations have one: `ms`, `s`, `m`, \
         `h`, `d`.\n",
    );
}

/// When a change takes effect in running processes.
fn applies(field: &SettingRow) -> &'static str {
    match field.applies {
        Applies::AtReload => "at once",
        Applies::AtRestart(..) => "after a restart",
        Applies::AsItsKeysSay => "",
    }
}

fn takes(field: &SettingRow) -> String {
    let count = |range: std::ops::RangeInclusive<i64>| format!("{}–{}", range.start(), range.end());
    match field.kind {
        SettingKind::Section | SettingKind::Named(_) => "a mapping".to_owned(),
        SettingKind::Each => "a list of mappings".to_owned(),
        SettingKind::Address(_) => "an IP address and a port".to_owned(),
        SettingKind::Store => "`sqlite:PATH` or `memory`".to_owned(),
        SettingKind::Socket => "a path or `off`".to_owned(),
        SettingKind::Url => "an http or https URL".to_owned(),
        SettingKind::Command => "a program's name or path".to_owned(),
        SettingKind::Variable => "a variable's name".to_owned(),
        SettingKind::Variables => "a list of variables' names".to_owned(),
        SettingKind::Flag(_) => "`true`, `false`".to_owned(),
        SettingKind::Words(words, _) => listed(&words()),
        SettingKind::WordsOrNone(words, _) => format!("{} or `none`", listed(&words())),
        SettingKind::Sha256 => "64 hexadecimal digits".to_owned(),
        SettingKind::DefinitionHash => "a hash of a definition".to_owned(),
        SettingKind::Glob => "a name, with `*` and `?`".to_owned(),
        SettingKind::Globs => "a list of names, with `*` and `?`".to_owned(),
        SettingKind::Texts => "a list of texts".to_owned(),
        SettingKind::Line => "one line of text".to_owned(),
        SettingKind::Template => "text with placeholders".to_owned(),
        SettingKind::Size(_) => "a size".to_owned(),
        SettingKind::SizeOrNone(_) => "a size or `none`".to_owned(),
        SettingKind::Duration(_) => "a duration".to_owned(),
        SettingKind::DurationOrNone(_) => "a duration or `none`".to_owned(),
        SettingKind::Count(counts, _) => count(counts.range()),
        SettingKind::CountOrNone(counts, _) => format!("{} or `none`", count(counts.range())),
        SettingKind::Paths(_) => "a list of URL paths".to_owned(),
        SettingKind::Policies => "a list".to_owned(),
        SettingKind::ToolKinds => "a kind or a list of kinds".to_owned(),
        SettingKind::ArgumentRoles => "a mapping of arguments to roles".to_owned(),
        SettingKind::Effects => "`none`, an effect or a list of effects".to_owned(),
    }
}

fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn providers(page: &mut String) {
    page.push_str(
        "\n## Providers that are built in\n\n| name | `base_url` | `dialect` |\n|---|---|---|\n",
    );
    for known in KNOWN {
        let _ = writeln!(
            page,
            "| `{}` | `{}` | `{}` |",
            known.name,
            known.base_url,
            known.dialect.as_str()
        );
    }
    page.push_str(OWN_PROVIDERS);
}

const OWN_PROVIDERS: &str = "
A provider that uses one of the dialects takes three lines, here Amazon Bedrock in a region and Azure OpenAI with a resource:

```yaml
providers:
  bedrock:
    base_url: https://bedrock-runtime.eu-central-1.amazonaws.com
    dialect: bedrock-converse
  azure:
    base_url: https://my-resource.openai.azure.com
    dialect: openai-chat
```

Its paths begin with its name: `/bedrock/model/…`, `/azure/openai/deployments/…`. Without a name, `/v1/messages` goes to `anthropic`, \
`/v1/chat/completions` and `/v1/responses` to `openai`, `/v1beta/…` to `gemini`, `/v1/projects/…` and `/v1beta1/…` to `vertex`, \
`/v1internal:…` to `code-assist`, `/api/…` to `ollama`, `/api/v1/…` to `openrouter`, `/v2/…` to `cohere` and `/model/…` to `bedrock`; if \
no provider with that name has the API, the request goes to the first provider that has it.

With `api_key_env`, the gateway sends the provider's key in `x-api-key` (dialect `anthropic`), `x-goog-api-key` (`gemini`), `api-key` (a host of \
`azure.com`), and as `authorization: Bearer` otherwise. Clients may send their gateway key in any \
of these, or in the query as `key=`; the gateway removes it from all of them. A request that a \
client has signed for Amazon's own host cannot be forwarded. Use a Bedrock API key, or `sign: aws`: then \
the gateway signs with its own credentials, which it reads from its environment at startup.
";

fn variables(page: &mut String) {
    page.push_str("\n## Environment\n\n| variable | |\n|---|---|\n");
    for variable in env::ALL {
        let _ = writeln!(page, "| `{}` | {} |", variable.name, variable.doc);
    }
}
