//! Schemas that ask for more than their tool needs.

use std::ops::Range;

use super::chars;
use super::class::{FindingClass, Severity};
use super::document::{ValueSpan, Visited, shown};
use super::finding::{Finding, excerpt};
use super::fold::Folded;

/// People do not read longer descriptions. The longest of the reference servers has 2,800 bytes.
const LONG_DESCRIPTION: usize = 6_000;

/// A definition with more values is not reviewed, and costs every request. The largest of the
/// reference servers has some hundred.
const MANY_VALUES: usize = 3_000;

/// Nesting of real schemas stays below 20.
const DEEP: usize = 40;

/// This many alternatives in one `anyOf`, `oneOf` or `allOf` are too many.
const MANY_ALTERNATIVES: usize = 100;

/// Parameters whose name asks for what the model knows and the tool does not need.
const SIDE_CHANNELS: [&str; 30] = [
    "systemprompt",
    "conversationhistory",
    "chathistory",
    "chainofthought",
    "previousmessages",
    "messagehistory",
    "fullconversation",
    "conversationcontext",
    "toolslist",
    "availabletools",
    "toolcallhistory",
    "sidenote",
    "userprompt",
    "originalprompt",
    "fullcontext",
    "modelname",
    "sessiontranscript",
    "transcript",
    "conversation",
    "conversationlog",
    "agentinstructions",
    "internalreasoning",
    "llmcontext",
    "modelinstructions",
    "conversationsummary",
    "othertools",
    "userssecrets",
    "environmentvariables",
    "developermessage",
    "previoustoolresults",
];

/// Some honest tools, which wrap a model, have one of these.
const COMMON: [&str; 6] =
    ["systemprompt", "modelname", "transcript", "userprompt", "conversation", "chathistory"];

/// Names of parameters for a secret.
const SECRETS: [&str; 12] = [
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "privatekey",
    "credential",
    "accesskey",
    "authorization",
    "sshkey",
    "passphrase",
    "seedphrase",
];

/// What was found in the schemas of a definition so far.
#[derive(Debug, Default)]
pub(super) struct SchemaFindings {
    /// The name of the tool, and its span.
    pub(super) name: Option<(String, Range<usize>)>,
    found: Vec<Finding>,
    values: usize,
    deepest: usize,
    /// Parameters that ask for the conversation.
    side_channels: Vec<(String, String, Range<usize>)>,
}

impl SchemaFindings {
    pub(super) fn see(&mut self, seen: &Visited<'_>, place: &ValueSpan<'_>) {
        self.values += 1;
        self.deepest = self.deepest.max(place.path.len());
        match seen {
            Visited::Key(key) => self.key(key, place),
            Visited::String(text) => self.string(text, place),
            Visited::Begin | Visited::End | Visited::Other => {}
        }
        if let Visited::Begin | Visited::End | Visited::Other | Visited::String(_) = seen {
            self.alternatives(place);
        }
    }

    fn key(&mut self, key: &str, place: &ValueSpan<'_>) {
        if is_mixed(key) {
            let what =
                format!("a key that mixes alphabets or hides characters: `{}`", excerpt(key));
            self.add(FindingClass::LookAlike, Severity::High, what, place);
        }
        if is_parameter(place.path) {
            self.parameter(key, place);
        }
    }

    fn parameter(&mut self, name: &str, place: &ValueSpan<'_>) {
        let plain = plain(name);
        if SIDE_CHANNELS.contains(&plain.as_str()) || asks_for_conversation(&plain) {
            self.side_channels.push((plain, shown(place.path), place.span.clone()));
        } else if asks_for_file(&plain) {
            let what =
                format!("a parameter whose name asks for sensitive data: `{}`", excerpt(name));
            self.add(FindingClass::SchemaTrick, Severity::High, what, place);
        }
    }

    fn string(&mut self, text: &str, place: &ValueSpan<'_>) {
        let last = place.path.last().map_or("", String::as_str);
        match last {
            "name" if place.path.len() == 1 => {
                if is_mixed(text) {
                    let what = format!(
                        "a name that mixes alphabets or hides characters: `{}`",
                        excerpt(text)
                    );
                    self.add(FindingClass::LookAlike, Severity::High, what, place);
                }
                self.name = Some((text.to_owned(), place.span.clone()));
            }
            "description" if text.len() > LONG_DESCRIPTION => {
                let what = format!("a description of {} bytes", text.len());
                self.add(FindingClass::SchemaTrick, Severity::Medium, what, place);
            }
            "$ref" | "$dynamicRef" | "$schema" | "$id" => self.reference(last, text, place),
            "x-mcp-header" => self.header(text, place),
            _ => {}
        }
        let in_value = place.path.iter().any(|part| {
            matches!(part.as_str(), "default" | "const" | "enum" | "examples" | "example")
        });
        if in_value && is_secret_file(text) {
            let what = format!("a default value that names a file with keys: `{}`", excerpt(text));
            self.add(FindingClass::SchemaTrick, Severity::High, what, place);
        }
    }

    /// A schema that is fetched may be different each time.
    fn reference(&mut self, key: &str, text: &str, place: &ValueSpan<'_>) {
        let lower = text.trim().to_ascii_lowercase();
        let remote = ["http:", "https:", "file:", "ftp:", "//", "data:"]
            .iter()
            .any(|scheme| lower.starts_with(scheme));
        // `$schema` and `$id` name a schema and fetch nothing.
        if remote && matches!(key, "$ref" | "$dynamicRef") {
            let what = format!("a reference to a schema elsewhere: `{}`", excerpt(text));
            self.add(FindingClass::SchemaTrick, Severity::High, what, place);
        }
    }

    /// An argument that a client repeats in a header is visible to every proxy and log on the way.
    fn header(&mut self, text: &str, place: &ValueSpan<'_>) {
        let parameter = place.path.iter().rev().nth(1).map_or("", String::as_str);
        let own_text = [parameter, text].map(plain);
        if SECRETS.iter().any(|secret| own_text.iter().any(|name| name.contains(secret))) {
            let what =
                format!("a secret argument is mirrored into a header: `{}`", excerpt(parameter));
            self.add(FindingClass::SchemaTrick, Severity::High, what, place);
        }
    }

    fn alternatives(&mut self, place: &ValueSpan<'_>) {
        let [.., composition, number] = place.path else { return };
        let composes = matches!(composition.as_str(), "anyOf" | "oneOf" | "allOf");
        if composes && *number == format!("[{MANY_ALTERNATIVES}]") {
            let what = format!("more than {MANY_ALTERNATIVES} alternatives in `{composition}`");
            self.add(FindingClass::SchemaTrick, Severity::Medium, what, place);
        }
    }

    fn add(
        &mut self,
        class: FindingClass,
        severity: Severity,
        detail: String,
        place: &ValueSpan<'_>,
    ) {
        // Further findings would add nothing new.
        if self.found.len() < super::document::MAX_FINDINGS {
            let path = shown(place.path);
            self.found.push(Finding { class, severity, detail, span: place.span.clone(), path });
        }
    }

    pub(super) fn findings(mut self) -> Vec<Finding> {
        let size = [
            (self.values > MANY_VALUES, format!("a definition of {} values", self.values)),
            (self.deepest > DEEP, format!("a definition {} levels deep", self.deepest)),
        ];
        for (_, detail) in size.into_iter().filter(|(big, _)| *big) {
            self.add(
                FindingClass::SchemaTrick,
                Severity::Medium,
                detail,
                &ValueSpan { path: &[], span: 0..0 },
            );
        }
        let several = self.side_channels.len() > 1;
        for (name, path, span) in std::mem::take(&mut self.side_channels) {
            let severity = match COMMON.contains(&name.as_str()) {
                true if !several => continue,
                true => Severity::Medium,
                false => Severity::High,
            };
            let detail = "a parameter that asks for the model's context".to_owned();
            self.found.push(Finding {
                class: FindingClass::SchemaTrick,
                severity,
                detail,
                span,
                path,
            });
        }
        self.found
    }
}

/// Whether the last part of a path names a parameter.
fn is_parameter(path: &[String]) -> bool {
    let [.., properties, _] = path else { return false };
    let first = path.first().map_or("", String::as_str);
    first == "inputSchema" && properties == "properties"
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    let folded = Folded::new(name).text;
    folded.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Names like `prior_conversation`, in any order.
fn asks_for_conversation(plain: &str) -> bool {
    let what = ["conversation", "dialogue", "chat"];
    let which = [
        "history",
        "prior",
        "previous",
        "full",
        "entire",
        "transcript",
        "past",
        "sofar",
        "earlier",
    ];
    let messages = ["previousmessage", "priormessage", "earliermessage", "pastmessage"];
    what.iter().any(|it| plain.contains(it)) && which.iter().any(|it| plain.contains(it))
        || messages.iter().any(|it| plain.contains(it))
}

/// Names like `content_of_ssh_id_rsa`: a model fills in what the name asks for.
fn asks_for_file(plain: &str) -> bool {
    let files = [
        "idrsa",
        "sshkey",
        "sshprivate",
        "etcpasswd",
        "dotenv",
        "envfile",
        "awscredential",
        "mcpjson",
        "privatekey",
        "systemprompt",
    ];
    let carries = ["content", "reading", "read", "file", "dump", "contents", "data"];
    files.iter().any(|file| plain.contains(file)) && carries.iter().any(|it| plain.contains(it))
}

/// A default that is one of the files with keys.
fn is_secret_file(text: &str) -> bool {
    let lower = text.trim().to_ascii_lowercase();
    let files = [
        "id_rsa",
        "id_ed25519",
        "/etc/shadow",
        ".aws/credentials",
        ".netrc",
        ".git-credentials",
        "mcp.json",
        ".gnupg",
        "claude_desktop_config.json",
        "/proc/self/environ",
        "/etc/passwd",
    ];
    files.iter().any(|file| lower.ends_with(file)) && !lower.contains(' ')
}

/// Latin letters together with look-alikes from other alphabets, or invisible characters.
fn is_mixed(name: &str) -> bool {
    if name.is_ascii() {
        return false;
    }
    let latin = name.bytes().any(|byte| byte.is_ascii_alphabetic());
    let alike = name.chars().any(|c| super::confusable::plain_letter(c).is_some());
    latin && alike || name.chars().any(chars::is_invisible)
}
