//! Code from folders into which anything is dropped: packages, libraries and hooks below `/tmp`.

use crate::bound::Bound;
use crate::effect::{Action, Why};
use crate::model::Registry;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Variables that name folders or files from which code is loaded.
const LOADED_FROM: &[&str] = &[
    "ANSIBLE_CALLBACK_PLUGINS",
    "ANSIBLE_CONFIG",
    "ANSIBLE_FILTER_PLUGINS",
    "ANSIBLE_INVENTORY",
    "ANSIBLE_LIBRARY",
    "ANSIBLE_ROLES_PATH",
    "AWKLIBPATH",
    "AWKPATH",
    "AWS_CONFIG_FILE",
    "BUNDLE_GEMFILE",
    "CAML_LD_LIBRARY_PATH",
    "CLASSPATH",
    "CLOUDSDK_CONFIG",
    "COMPILER_PATH",
    "CORECLR_PROFILER_PATH",
    "CURL_HOME",
    "DOTNET_STARTUP_HOOKS",
    "DYLD_LIBRARY_PATH",
    "ERL_LIBS",
    "FACTERLIB",
    "GCC_EXEC_PREFIX",
    "GCONV_PATH",
    "GHC_ENVIRONMENT",
    "GIT_EXEC_PATH",
    "GNUPGHOME",
    "GOENV",
    "GROFF_BIN_PATH",
    "HELM_PLUGINS",
    "HGRCPATH",
    "INPUTRC",
    "JULIA_LOAD_PATH",
    "LD_LIBRARY_PATH",
    "LESSKEY",
    "LESSKEYIN",
    "LUA_CPATH",
    "LUA_INIT",
    "LUA_PATH",
    "MAGICK_CONFIGURE_PATH",
    "MAKEFILES",
    "NODE_PATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PASSWORD_STORE_EXTENSIONS_DIR",
    "PERL5LIB",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PSQLRC",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "RIPGREP_CONFIG_PATH",
    "RUBYLIB",
    "R_PROFILE",
    "R_PROFILE_USER",
    "SCREENRC",
    "TF_CLI_CONFIG_FILE",
    "TF_PLUGIN_DIR",
    "VIMRUNTIME",
    "WGETRC",
];

/// Options of interpreters, in variables, after which a file with code follows.
const LOADING_OPTIONS: &[&str] = &[
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-javaagent:",
    "-agentpath:",
    "-agentlib:",
    "-Xbootclasspath",
    "--init-script",
    "-r",
    "-I",
    "-C linker",
    "-Clinker",
];

/// Options in variables that carry code or a program, and texts by which they are known.
const CODE_IN_OPTIONS: &[(&str, &[&str])] = &[
    ("ELIXIR_ERL_OPTIONS", &["-eval", "-run"]),
    ("ERL_AFLAGS", &["-eval", "-run"]),
    ("ERL_FLAGS", &["-eval", "-run"]),
    ("ERL_ZFLAGS", &["-eval", "-run"]),
    ("EXINIT", &["!", "system("]),
    ("FZF_DEFAULT_OPTS", &["execute", "become(", "reload(", "transform("]),
    ("GNUMAKEFLAGS", &["--eval", "SHELL="]),
    ("GOFLAGS", &["-toolexec", "-vettool", "-exec", "-overlay"]),
    ("LUA_INIT", &["os.", "io.", "require", "@/tmp/"]),
    ("MAKEFLAGS", &["--eval", "SHELL="]),
    ("MFLAGS", &["--eval", "SHELL="]),
    ("PERL5DB", &["system", "exec", "`", "qx"]),
    ("PERL5OPT", &["system", "exec", "`"]),
    ("PYTEST_ADDOPTS", &["-p ", "-c "]),
    ("PYTHONBREAKPOINT", &["os.", "subprocess.", "pty.", "builtins."]),
    (
        "TAR_OPTIONS",
        &["action=exec", "to-command", "use-compress-program", "info-script", "rsh-command"],
    ),
    ("VIMINIT", &["!", "system("]),
];

impl Shell<'_, '_> {
    /// Whether a path is in a folder that anybody fills, and nothing says that the text filled it.
    pub(crate) fn is_dropped(&self, word: &Word) -> bool {
        let path = self.resolve(word).resolved;
        let start = path.known_start();
        let own = self.out.ground.workspace.unwrap_or("/tmp/");
        let downloads = format!("{}/Downloads/", self.home().trim_end_matches('/'));
        let is_dropped = is_dropping(start) || start.starts_with(&downloads);
        is_dropped && !(own.len() > 1 && start.starts_with(own)) && !self.made(start)
    }

    /// Whether an earlier command of the text made the file or its folder.
    fn made(&self, path: &str) -> bool {
        self.out.effects.all().iter().any(|effect| match &effect.action {
            Action::Writes(written, _) => written.resolved.text().is_some_and(|written| {
                path.starts_with(written) && !matches!(written, "/" | "/tmp" | "/var/tmp")
            }),
            _ => false,
        })
    }

    /// A package in a file that nobody has built here.
    pub(crate) fn installs_foreign(&mut self, field: &Field, registry: Registry) {
        let text = field.word.known_part();
        let is_bare = !text.trim_start_matches("./").contains('/');
        let is_loose = registry == Registry::System && is_bare && !self.made(text);
        if is_loose || self.is_dropped(&field.word) {
            self.opaque(Why::Code, Bound::ALL, field.span.clone());
        }
    }

    /// Whether the text itself has put something into a folder.
    fn has_filled(&self, folder: &str) -> bool {
        if self.written.is_empty() || folder.is_empty() {
            return false;
        }
        let resolved = self.resolve(&Word::known(folder)).resolved;
        let Some(folder) = resolved.text() else { return false };
        self.written.keys().any(|path| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// A variable that makes every later program load code from such a folder.
    pub(crate) fn loads_foreign(&mut self, name: &str, value: &Field) {
        let hooks = ["git:core.hookspath", "git:init.templatedir", "git:include.path"];
        if hooks.contains(&name.to_ascii_lowercase().as_str()) && self.is_dropped(&value.word) {
            return self.opaque(Why::Code, Bound::ALL, value.span.clone());
        }
        let Some(bare) = name.strip_prefix("env:") else { return };
        let text = value.word.known_part();
        let codes = CODE_IN_OPTIONS.iter().filter(|(name, _)| *name == bare);
        if { codes }.any(|(_, signs)| signs.iter().any(|sign| text.contains(sign))) {
            return self.opaque(Why::Code, Bound::ALL, value.span.clone());
        }
        if bare.starts_with("BASH_FUNC_")
            && let Some(body) = text.trim_start().strip_prefix("()")
        {
            let body = Word::known(body.trim());
            drop(self.word_text(&Field::new(body, value.span.clone())));
            return;
        }
        let is_path = LOADED_FROM.contains(&bare);
        let is_option =
            bare.ends_with("_OPTIONS") || bare.ends_with("_OPTS") || bare.ends_with("OPT");
        let is_option = is_option || bare == "MAVEN_ARGS" || bare.ends_with("_node_options");
        let is_option = is_option || bare == "RUSTFLAGS";
        if !is_path && !is_option {
            return;
        }
        let is_foreign = match is_path {
            true => text.split(':').any(|folder| is_dropping(folder) || self.has_filled(folder)),
            false => LOADING_OPTIONS.iter().any(|option| {
                text.match_indices(option).any(|(at, _)| {
                    let rest = text.get(at + option.len()..).unwrap_or_default();
                    let file = rest.trim_start_matches(['=', ' ', '"', '\'']);
                    is_dropping(file) || file.starts_with("data:") || file.starts_with("http")
                })
            }),
        };
        if is_foreign {
            self.opaque(Why::Code, Bound::ALL, value.span.clone());
        }
    }
}

/// Folders that every program and every download fills.
fn is_dropping(path: &str) -> bool {
    ["/tmp/", "/var/tmp/", "/dev/shm/", "/private/tmp/"].iter().any(|it| path.starts_with(it))
}

#[cfg(test)]
mod tests {
    use crate::{Ground, command};

    fn is_opaque(text: &str) -> bool {
        let ground = Ground {
            cwd: Some("/home/dev/app"),
            home: Some("/home/dev"),
            workspace: Some("/home/dev/app"),
            ..Ground::default()
        };
        !command(text, &ground).could().is_empty()
    }

    #[test]
    fn packages_that_nobody_has_built_are_opaque() {
        for text in [
            "pip install -e /tmp/x",
            "pip install ~/Downloads/x.whl",
            "npm i /tmp/x.tgz",
            "cargo install --path /tmp/x",
            "sudo apt install ./x.deb",
            "sudo dpkg -i x.deb",
        ] {
            assert!(is_opaque(text), "{text}");
        }
        for text in [
            "pip install -e .",
            "pip install -e ../lib",
            "npm pack --pack-destination /tmp/out && npm i /tmp/out/x.tgz",
            "sudo dpkg -i target/debian/x.deb",
            "cargo install --path .",
        ] {
            assert!(!is_opaque(text), "{text}");
        }
    }

    #[test]
    fn code_that_variables_load_is_opaque_where_anybody_can_put_it() {
        for text in [
            "NODE_OPTIONS=--require=/tmp/x.js npm test",
            "export NODE_OPTIONS='--import data:text/javascript,1'",
            "PYTHONPATH=/tmp/x python3 a.py",
            "JAVA_TOOL_OPTIONS=-javaagent:/tmp/x.jar mvn test",
            "LD_LIBRARY_PATH=/tmp/x ls",
        ] {
            assert!(is_opaque(text), "{text}");
        }
        for text in [
            "NODE_OPTIONS='--require ./test/setup.js' npx mocha",
            "NODE_OPTIONS=--diagnostic-dir=/tmp/x npm test",
            "JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=/tmp/x mvn test",
            "PYTHONPATH=src:. pytest",
        ] {
            assert!(!is_opaque(text), "{text}");
        }
    }
}
