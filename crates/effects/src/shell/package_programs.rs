//! Programs that come in a package or an image of another name: `npx vercel@latest`, `docker run curlimages/curl`.

use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::word::Word;

/// Packages of npm, and the programs in them. Sorted.
const PACKAGES: &[(&str, &str)] = &[
    ("@anthropic-ai/claude-code", "claude"),
    ("@aws-amplify/cli", "amplify"),
    ("@google/gemini-cli", "gemini"),
    ("@infisical/cli", "infisical"),
    ("@openai/codex", "codex"),
    ("@railway/cli", "railway"),
    ("@sentry/cli", "sentry-cli"),
    ("@smithery/cli", "smithery"),
    ("@sourcegraph/amp", "amp"),
    ("aws-cdk", "cdk"),
    ("dotenv-cli", "dotenv"),
    ("firebase-tools", "firebase"),
    ("netlify-cli", "netlify"),
];

/// Images, and the programs that they start. Sorted.
const IMAGES: &[(&str, &str)] = &[
    ("alpine/curl", "curl"),
    ("alpine/git", "git"),
    ("alpine/helm", "helm"),
    ("alpine/httpie", "http"),
    ("alpine/psql", "psql"),
    ("alpine/socat", "socat"),
    ("alpine/terragrunt", "terragrunt"),
    ("amazon/aws-cli", "aws"),
    ("bitnami/git", "git"),
    ("bitnami/kubectl", "kubectl"),
    ("cloudflare/cloudflared", "cloudflared"),
    ("curlimages/curl", "curl"),
    ("fatedier/frpc", "frpc"),
    ("hashicorp/packer", "packer"),
    ("hashicorp/terraform", "terraform"),
    ("instrumentisto/nmap", "nmap"),
    ("jpillora/chisel", "chisel"),
    ("minio/mc", "mc"),
    ("ngrok/ngrok", "ngrok"),
    ("opentofu/opentofu", "tofu"),
    ("public.ecr.aws/aws-cli/aws-cli", "aws"),
    ("rancher/kubectl", "kubectl"),
    ("rclone/rclone", "rclone"),
    ("restic/restic", "restic"),
    ("snowdreamtech/frpc", "frpc"),
    ("subfuzion/netcat", "nc"),
    ("tailscale/tailscale", "tailscaled"),
    ("wagoodman/dive", "dive"),
];

fn program<'t>(table: &[(&str, &'t str)], name: &str) -> Option<&'t str> {
    let at = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(at).map(|(_, program)| *program)
}

/// The program that an image starts.
pub(crate) fn of_image(image: &str) -> Option<&'static str> {
    let name = image.split('@').next().unwrap_or(image);
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    let slash = name.rfind('/').unwrap_or(0);
    let colon = name.rfind(':').filter(|at| *at > slash).unwrap_or(name.len());
    program(IMAGES, name.get(..colon).unwrap_or(name))
}

/// The program in a package of npm, if it has another name than the package as it is written.
fn of_package(package: &str) -> Option<&str> {
    let version = package.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1);
    let name = package.get(..version.unwrap_or(package.len())).unwrap_or(package);
    match program(PACKAGES, name) {
        Some(known) => Some(known),
        None => version.map(|_| name.rsplit('/').next().unwrap_or(name)),
    }
}

impl Shell<'_, '_> {
    /// `npx firebase-tools@latest …` runs `firebase`.
    pub(crate) fn package_program(&mut self, words: &[Field]) {
        let Some((first, rest)) = words.split_first() else { return };
        let Some(name) = first.text().and_then(of_package) else { return };
        self.run_named(name.to_owned(), first, rest);
    }

    /// `docker run curlimages/curl URL` runs `curl`.
    pub(crate) fn image_program(&mut self, words: &[Field]) {
        let Some((image, rest)) = words.split_first() else { return };
        if let Some(name) = image.text().and_then(of_image) {
            self.run_named(name.to_owned(), image, rest);
        }
    }

    /// `kubectl run NAME --image=curlimages/curl -- URL` runs `curl`.
    pub(crate) fn pod_program(&mut self, line: &Line<'_>) {
        let flag = "--image=";
        let image = line.words.iter().find(|field| field.word.known_start().starts_with(flag));
        let end = line.words.iter().position(|field| field.text() == Some("--"));
        if let (Some(image), Some(at)) = (image, end) {
            let mut words = vec![image.from(flag.len())];
            words.extend(line.words.iter().skip(at + 1).cloned());
            self.image_program(&words);
        }
    }

    fn run_named(&mut self, name: String, first: &Field, rest: &[Field]) {
        let mut all = vec![Field::new(Word::known(name), first.span.clone())];
        all.extend(rest.iter().cloned());
        self.run(&all, None);
    }

    /// `python -m code` runs what it reads.
    pub(crate) fn module_reads_input(&self, line: &Line<'_>) -> bool {
        line.flags.iter().any(|given| {
            given.spelling == "-m" && given.values.first().and_then(Field::text) == Some("code")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(PACKAGES.is_sorted() && IMAGES.is_sorted());
    }

    #[test]
    fn versions_and_tags_do_not_matter() {
        assert_eq!(of_package("vercel@latest"), Some("vercel"));
        assert_eq!(of_package("@railway/cli@4"), Some("railway"));
        assert_eq!(of_package("@scope/tool@1"), Some("tool"));
        assert_eq!(of_package("vercel"), None);
        assert_eq!(of_image("docker.io/curlimages/curl:8@sha256:1"), Some("curl"));
        assert_eq!(of_image("localhost:5000/curl"), None);
    }
}
