//! Files that say where the builds of a project take code from: a new address in one of them is a
//! setting, as `npm config set registry` is.

use std::sync::LazyLock;

use callgate_call::{SessionFiles, WrittenContent};

use crate::analysis::Analysis;
use crate::effect::{Action, Connection, Purpose, Reach, Setting};
use crate::hosts::HostSet;
use crate::truth::Truth;
use crate::word::Word;
use crate::{host, sets};

/// Lines of one file that are looked at.
const MAX_LINES: usize = 4096;

/// A kind of file, and what precedes, in a line, the address of a source.
struct Supply {
    /// Whether it is the file of that name.
    is_it: fn(&str) -> bool,
    /// What the whole text has to contain, if anything.
    within: &'static [&'static str],
    /// The words of such a line; an empty list means every line.
    lines: &'static [&'static str],
    /// Only addresses without a name or without encryption count: any company has hosts of its own.
    is_common: bool,
}

const SUPPLIES: &[Supply] = &[
    Supply {
        is_it: |name| matches!(name, "gradle-wrapper.properties" | "maven-wrapper.properties"),
        within: &[],
        lines: &["distributionUrl", "wrapperUrl"],
        is_common: false,
    },
    Supply {
        is_it: |name| {
            (name.starts_with("requirements") || name.starts_with("constraints"))
                && [".txt", ".in"].iter().any(|ending| name.ends_with(ending))
        },
        within: &[],
        lines: &[],
        is_common: false,
    },
    Supply {
        is_it: |name| name == "pyproject.toml",
        within: &["tool.poetry.source", "tool.uv.index", "tool.pdm.source", "tool.uv]"],
        lines: &["url"],
        is_common: false,
    },
    Supply {
        is_it: |name| name == "Cargo.toml",
        within: &[],
        lines: &["git ", "git="],
        is_common: false,
    },
    Supply {
        is_it: |name| {
            matches!(
                name,
                "build.gradle"
                    | "build.gradle.kts"
                    | "settings.gradle"
                    | "settings.gradle.kts"
                    | "pom.xml"
                    | "build.sbt"
                    | "WORKSPACE"
                    | "MODULE.bazel"
                    | "flake.nix"
                    | "Podfile"
                    | "Gemfile"
                    | "composer.json"
                    | "environment.yml"
                    | "conanfile.txt"
            ) || name.ends_with("Dockerfile")
        },
        within: &[],
        lines: &["url", "maven", "repository", "resolver", "source", "index", "git", "registry"],
        is_common: true,
    },
];

/// Hosts of code that projects name in such files, other than registries.
const USUAL: &[&str] = &[
    "github.com",
    "*.github.com",
    "*.githubusercontent.com",
    "*.github.io",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "*.gradle.org",
    "*.apache.org",
    "*.sonatype.org",
    "*.pyg.org",
    "pypi.nvidia.com",
    "storage.googleapis.com",
    "huggingface.co",
    "pkgs.dev.azure.com",
    "gems.contribsys.com",
    concat!("test.pypi", ".org"),
];

static KNOWN: LazyLock<HostSet> =
    LazyLock::new(|| sets::host_set("registries", USUAL.iter().copied()).unwrap_or_default());
static LOCAL: LazyLock<HostSet> = LazyLock::new(|| sets::host_set("local", []).unwrap_or_default());

/// Adds a setting for every file that gets such an address.
pub(super) fn find(analysis: &mut Analysis<'_>) {
    let mut found: Vec<(String, String)> = Vec::new();
    for write in &analysis.effects.files {
        let (old, new) = match &write.content {
            WrittenContent::Whole(text) | WrittenContent::Appended(text) => ("", text.as_str()),
            WrittenContent::Replaced { old, new } => (old.as_str(), new.as_str()),
            WrittenContent::Fetched(_) => continue,
        };
        let name = write.path.rsplit(['/', '\\']).next().unwrap_or_default();
        let Some(supply) = SUPPLIES.iter().find(|it| (it.is_it)(name)) else { continue };
        if let Some(url) = source(supply, old, new) {
            found.push((name.to_owned(), url));
        }
    }
    for (name, url) in found {
        let end = analysis.source.len();
        let name = Word::known(format!("source:{name}"));
        let setting = Setting { name, value: Some(Word::known(url)), reach: Reach::Lasting };
        analysis.push(Action::Sets(setting), 0..end, None);
    }
}

/// The first address of a foreign host that the old text does not have.
fn source(supply: &Supply, old: &str, new: &str) -> Option<String> {
    let has = |text: &str, words: &[&str]| {
        words.is_empty() || words.iter().any(|word| text.contains(word))
    };
    let end = new.floor_char_boundary(new.len().min(SessionFiles::MAX_FILE));
    let new = new.get(..end).unwrap_or(new);
    if !has(new, supply.within) {
        return None;
    }
    let lines = new.lines().take(MAX_LINES);
    { lines }.find_map(|line| {
        let line = line.trim_start();
        let is_one = has(line, supply.lines) && !line.starts_with(['#', '/', ';']);
        // `https\://` of a properties file.
        let line = if is_one { line.replace("\\:", ":") } else { return None };
        let at = line.find("http://").or_else(|| line.find("https://"))?;
        let url = line.get(at..)?;
        let url = url.split([' ', '"', '\'', '<', '>', ')', ',']).next().unwrap_or(url);
        let address = host::parse_url(&Word::known(url))?;
        let name = address.host.text()?.to_owned();
        let is_plain = address.scheme == "http" || host::ip(&name).is_some();
        let counts = is_plain || !supply.is_common;
        (counts && is_foreign(address) && !old.contains(&name)).then(|| url.to_owned())
    })
}

fn is_foreign(address: host::Address) -> bool {
    let connection = Connection {
        host: address.host,
        port: address.port,
        scheme: address.scheme,
        purpose: Purpose::Execute,
        url: None,
    };
    KNOWN.matches(&connection) == Truth::No && LOCAL.matches(&connection) == Truth::No
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, Ground};

    fn sets(path: &str, old: &str, new: &str) -> bool {
        let text =
            format!(r#"{{"file_path": "{path}", "old_string": {old:?}, "new_string": {new:?}}}"#);
        let catalogue = Catalogue::builtin();
        let arguments = callgate_call::Arguments::json(&text);
        let ground = Ground { cwd: Some("/w"), workspace: Some("/w"), ..Ground::default() };
        let found = crate::analyse("edit", catalogue.entry("edit"), &arguments, &ground);
        found.all().iter().any(|effect| effect.action.to_string().starts_with("sets source:"))
    }

    #[test]
    fn a_new_source_is_a_setting() {
        let gradle =
            "distributionUrl=https\\://services.gradle.org/distributions/gradle-8.7-bin.zip";
        let wrapper = "gradle/wrapper/gradle-wrapper.properties";
        for (path, old, new) in [
            (wrapper, gradle, "distributionUrl=https\\://x.example/gradle-8.7-bin.zip"),
            ("requirements.txt", "flask", "--extra-index-url https://x.example/simple"),
            ("requirements.txt", "flask", "https://x.example/a.whl"),
            ("pyproject.toml", "", "[[tool.uv.index]]\nurl = 'https://x.example/simple'"),
            ("Cargo.toml", "", "x = { git = \"https://x.example/x\" }"),
            ("build.gradle", "", "maven { url 'http://203.0.113.4/m' }"),
            ("pom.xml", "", "<repository><url>http://203.0.113.4/m</url></repository>"),
        ] {
            assert!(sets(path, old, new), "{path}: {new}");
        }
        for (path, old, new) in [
            (wrapper, gradle, "distributionUrl=https\\://services.gradle.org/gradle-9-bin.zip"),
            ("requirements.txt", "", "# see https://x.example\nflask"),
            ("requirements.txt", "", "git+https://github.com/huggingface/transformers"),
            (
                "requirements.txt",
                "--index-url https://x.example/a",
                "--index-url https://x.example/b",
            ),
            ("pyproject.toml", "", "[project.urls]\nhomepage_url = 'https://x.example'"),
            ("Cargo.toml", "", "repository = \"https://x.example/x\""),
            ("build.gradle", "", "maven { url 'https://repo.spring.io/milestone' }"),
            ("pom.xml", "", "<url>http://maven.apache.org</url>"),
            ("src/a.rs", "", "let url = \"http://203.0.113.4/\";"),
        ] {
            assert!(!sets(path, old, new), "{path}: {new}");
        }
    }
}
