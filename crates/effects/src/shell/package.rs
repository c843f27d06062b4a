//! Where a package comes from.

use crate::effect::{Access, Purpose};
use crate::host;
use crate::model::{Language, Registry};
use crate::shell::apply::is_path;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

impl Shell<'_, '_> {
    /// A package that is installed: code from its host runs here.
    pub(crate) fn package(&mut self, field: &Field, registry: Registry) {
        if let Some(stream) = &field.stream {
            let stream = std::rc::Rc::clone(stream);
            return self.run_output(crate::model::Language::Other, &stream, &field.span);
        }
        // `name @ https://…`, `name@https://…`, `name=git+https://…`
        let text = field.word.known_start();
        let url_at = text.find("://").map(|colon| {
            let scheme =
                |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
            let before = text.as_bytes().get(..colon).unwrap_or_default();
            colon - before.iter().rev().take_while(|byte| scheme(byte)).count()
        });
        if let Some(at) = url_at {
            let url = field.from(at);
            if let Some(address) = host::parse_url(&url.word) {
                return self.connect(
                    address,
                    Purpose::Execute,
                    Some(&url.word),
                    field.span.clone(),
                );
            }
            return self.read_file(&url, Access::Content);
        }
        if field.word.is_unknown() {
            return self.connect(
                host::parse_host(&field.word, ""),
                Purpose::Execute,
                None,
                field.span.clone(),
            );
        }
        // Podman's name for what was built here.
        if matches!(registry, Registry::Image) && field.word.known_start().starts_with("localhost/")
        {
            return;
        }
        let host = match registry {
            Registry::Npm => npm_host(field.word.known_part()),
            Registry::GoRun if !field.word.known_part().contains('@') => None,
            Registry::Go | Registry::GoRun => go_host(field.word.known_part()),
            Registry::Image => image_host(field.word.known_part()),
            Registry::Pip if is_path(&field.word) || is_archive(field.word.known_part()) => None,
            Registry::Pip => Some(concat!("pypi", ".org")),
            Registry::Cargo => Some(concat!("index.crates", ".io")),
            Registry::Gem => Some("rubygems.org"),
            Registry::System | Registry::Other => None,
        };
        match host.map(str::to_owned) {
            Some(host) => {
                let address = host::parse_host(&Word::known(host), "https");
                self.connect(address, Purpose::Execute, None, field.span.clone());
            }
            None if is_path(&field.word) || is_archive(field.word.known_part()) => {
                self.read_file(field, Access::Tree);
                self.installs_foreign(field, registry);
                self.known_script(Language::Other, field);
            }
            None => {}
        }
    }
}

fn is_archive(text: &str) -> bool {
    [".tgz", ".tar.gz", ".whl", ".deb", ".rpm", ".zip", ".gem", ".pkg", ".apk"]
        .iter()
        .any(|end| text.ends_with(end))
}

fn npm_host(text: &str) -> Option<&str> {
    for (prefix, host) in [
        ("github:", "github.com"),
        ("gitlab:", "gitlab.com"),
        ("bitbucket:", "bitbucket.org"),
        ("gist:", "gist.github.com"),
    ] {
        if text.starts_with(prefix) {
            return Some(host);
        }
    }
    if text.starts_with(['.', '/', '~']) || is_archive(text) || text.starts_with("file:") {
        return None;
    }
    // `git@host:user/repo`
    if let Some((host, _)) = text.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        return Some(host);
    }
    let is_short = !text.starts_with('@') && text.matches('/').count() == 1;
    Some(if is_short { "github.com" } else { concat!("registry.npmjs", ".org") })
}

fn go_host(text: &str) -> Option<&str> {
    if text.starts_with(['.', '/']) {
        return None;
    }
    let host = text.split('/').next()?;
    // The proxy serves what everybody can see; these hosts have hardly anything else.
    let is_usual = GO_HOSTS.contains(&host) || !host.contains('.');
    Some(if is_usual { "proxy.golang.org" } else { host })
}

/// Hosts in the names of Go packages that many projects use.
const GO_HOSTS: &[&str] = &[
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "golang.org",
    "google.golang.org",
    "cloud.google.com",
    "gopkg.in",
    "go.uber.org",
    "k8s.io",
    "sigs.k8s.io",
    "honnef.co",
    "mvdan.cc",
    "gotest.tools",
    "go.opentelemetry.io",
    "gorm.io",
    "modernc.org",
    "entgo.io",
    "istio.io",
    "helm.sh",
    "rsc.io",
    "go.etcd.io",
    "go.mongodb.org",
    "filippo.io",
    "gocloud.dev",
    "gonum.org",
    "gvisor.dev",
    "buf.build",
    "connectrpc.com",
    "go.dev",
    "golang.zx2c4.com",
];

fn image_host(text: &str) -> Option<&str> {
    let first = text.split('/').next()?;
    let is_host =
        text.contains('/') && (first.contains('.') || first.contains(':') || first == "localhost");
    Some(if is_host { first } else { "docker.io" })
}
