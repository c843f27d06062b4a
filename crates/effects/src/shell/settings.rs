//! Settings that make a later command run something, load something or talk to another host.

use crate::model::Language;

/// What the value of a setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Shell text or a program that runs.
    Command,
    /// A file with code that is loaded.
    Code(Language),
    /// Folders that programs or libraries are taken from, or another way to change what runs.
    Loads,
    /// A host or URL that traffic goes to.
    Host,
    /// A switch that turns a protection off.
    Guard,
}

/// What a setting means; `None` if it is harmless or not known. The name has its prefix: `env:PAGER`.
pub fn meaning(name: &str) -> Option<Meaning> {
    let (kind, bare) = name.split_once(':')?;
    match kind {
        "env" => environment(bare),
        "git" => git(&bare.to_ascii_lowercase()),
        "alias" | "function" => Some(Meaning::Command),
        "npm" => npm(bare),
        "go" if matches!(bare, "CC" | "CXX" | "AR" | "PKG_CONFIG") => Some(Meaning::Command),
        "go" => matches!(bare, "GOPROXY" | "GONOSUMDB" | "GOSUMDB" | "GOINSECURE" | "GOPRIVATE")
            .then_some(Meaning::Host),
        "cargo" => cargo(bare),
        "yarn" => matches!(bare, "npmRegistryServer" | "registry" | "httpProxy" | "httpsProxy")
            .then_some(Meaning::Host),
        // `source`: a file of a project that names a place where code comes from.
        "bundle" | "composer" | "source" => Some(Meaning::Host),
        "apt" => {
            (bare.contains("Invoke") || bare.starts_with("Dir::Bin")).then_some(Meaning::Command)
        }
        "ssh" => matches!(
            bare.to_ascii_lowercase().as_str(),
            "ssh_command" | "proxycommand" | "localcommand" | "knownhostscommand" | "remotecommand"
        )
        .then_some(Meaning::Command)
        .or_else(|| {
            let loads = ["pkcs11provider", "securitykeyprovider", "include"];
            loads.contains(&bare.to_ascii_lowercase().as_str()).then_some(Meaning::Loads)
        }),
        "php" => php(bare),
        "rustc" => (bare == "linker").then_some(Meaning::Command),
        "pip" => matches!(
            bare.rsplit('.').next().unwrap_or(bare),
            "index-url" | "extra-index-url" | "find-links" | "trusted-host"
        )
        .then_some(Meaning::Host),
        _ => None,
    }
}

/// Whether programs write into the folder or file that a variable names.
pub(crate) fn names_folder_to_write(name: &str) -> bool {
    matches!(
        name,
        "CARGO_TARGET_DIR"
            | "GOBIN"
            | "GOCACHE"
            | "GOMODCACHE"
            | "GOPATH"
            | "LESSHISTFILE"
            | "NODE_REPL_HISTORY"
            | "NODE_V8_COVERAGE"
            | "PIP_TARGET"
            | "PYTHONPYCACHEPREFIX"
            | "SQLITE_HISTORY"
            | "PSQL_HISTORY"
            | "MYSQL_HISTFILE"
            | "LLVM_PROFILE_FILE"
            | "GIT_TRACE"
            | "GIT_INDEX_FILE"
            | "SSLKEYLOGFILE"
            | "MALLOC_TRACE"
    )
}

/// Whether programs talk to the server that a variable names.
pub(crate) fn names_server(name: &str) -> bool {
    matches!(
        name,
        "PGHOST"
            | "PGHOSTADDR"
            | "MYSQL_HOST"
            | "GH_HOST"
            | "VAULT_ADDR"
            | "NOMAD_ADDR"
            | "CONSUL_HTTP_ADDR"
            | "AWS_ENDPOINT_URL"
            | "ARGOCD_SERVER"
            | "GITLAB_HOST"
    )
}

/// Whether assigning a variable of the environment makes something run or load.
pub(crate) fn runs_something(name: &str) -> bool {
    environment(name).is_some()
}

/// Whether the value of a variable is a socket or a file with which its owner is logged in elsewhere.
pub(crate) fn is_login(name: &str) -> bool {
    matches!(name, "KRB5CCNAME" | "SSH_AUTH_SOCK" | "TMUX" | "XAUTHORITY")
}

fn environment(name: &str) -> Option<Meaning> {
    Some(match name {
        "PAGER"
        | "EDITOR"
        | "VISUAL"
        | "BROWSER"
        | "MANPAGER"
        | "LESSOPEN"
        | "LESSCLOSE"
        | "PROMPT_COMMAND"
        | "SYSTEMD_EDITOR"
        | "SUDO_EDITOR"
        | "SUDO_ASKPASS"
        | "SSH_ASKPASS"
        | "GIT_ASKPASS"
        | "GIT_PAGER"
        | "GIT_EDITOR"
        | "GIT_SEQUENCE_EDITOR"
        | "GIT_SSH"
        | "GIT_SSH_COMMAND"
        | "GIT_PROXY_COMMAND"
        | "GIT_EXTERNAL_DIFF"
        | "CC"
        | "CXX"
        | "CARGO"
        | "CARGO_BUILD_RUSTC"
        | "CARGO_BUILD_RUSTDOC"
        | "RUSTDOC"
        | "RUSTFMT"
        | "CCACHE_PREFIX"
        | "CCACHE_COMPILER"
        | "RSYNC_CONNECT_PROG"
        | "CLOUDSDK_PYTHON"
        | "RUSTC_WRAPPER"
        | "RUSTC_WORKSPACE_WRAPPER"
        | "RUSTC"
        | "FCEDIT"
        | "KUBE_EDITOR"
        | "AWS_PAGER"
        | "GH_PAGER"
        | "GH_EDITOR"
        | "DELTA_PAGER"
        | "BAT_PAGER"
        | "RIPGREP_CONFIG_PATH"
        | "PSQL_EDITOR"
        | "PSQL_PAGER"
        | "MAKE_SHELL"
        | "RSYNC_RSH"
        | "CVS_RSH"
        | "SVN_SSH"
        | "LESSEDIT"
        | "KUBECTL_EXTERNAL_DIFF"
        | "GH_BROWSER"
        | "PKG_CONFIG"
        | "MAKESHELL"
        | "CONFIG_SHELL"
        | "ZYPP_ASKPASS"
        | "XARGS_SHELL" => Meaning::Command,
        "BASH_ENV" | "ENV" | "ZDOTDIR" => Meaning::Code(Language::Shell),
        "PYTHONSTARTUP" => Meaning::Code(Language::Python),
        "PATH"
        | "LD_PRELOAD"
        | "LD_LIBRARY_PATH"
        | "LD_AUDIT"
        | "DYLD_INSERT_LIBRARIES"
        | "DYLD_LIBRARY_PATH"
        | "PYTHONPATH"
        | "PYTHONHOME"
        | "NODE_OPTIONS"
        | "NODE_PATH"
        | "PERL5OPT"
        | "PERL5LIB"
        | "PERL5DB"
        | "RUBYOPT"
        | "RUBYLIB"
        | "JAVA_TOOL_OPTIONS"
        | "_JAVA_OPTIONS"
        | "JDK_JAVA_OPTIONS"
        | "PHP_INI_SCAN_DIR"
        | "PHPRC"
        | "LUA_INIT"
        | "GCONV_PATH"
        | "GIT_DIR"
        | "GIT_CONFIG"
        | "GIT_CONFIG_GLOBAL"
        | "GIT_CONFIG_SYSTEM"
        | "GIT_CONFIG_COUNT"
        | "GIT_CONFIG_PARAMETERS"
        | "GIT_EXEC_PATH"
        | "GIT_TEMPLATE_DIR"
        | "GIT_OBJECT_DIRECTORY"
        | "GIT_WORK_TREE"
        | "ANSIBLE_ACTION_PLUGINS"
        | "ANSIBLE_CALLBACK_PLUGINS"
        | "ANSIBLE_COLLECTIONS_PATH"
        | "ANSIBLE_CONNECTION_PLUGINS"
        | "ANSIBLE_FILTER_PLUGINS"
        | "ANSIBLE_INVENTORY"
        | "ANSIBLE_LOOKUP_PLUGINS"
        | "ANSIBLE_ROLES_PATH"
        | "ANSIBLE_VAULT_PASSWORD_FILE"
        | "AWKLIBPATH"
        | "AWKPATH"
        | "AWS_SHARED_CREDENTIALS_FILE"
        | "BUNDLE_APP_CONFIG"
        | "CGO_CFLAGS"
        | "CGO_LDFLAGS"
        | "CLOUDSDK_CONFIG"
        | "COMPILER_PATH"
        | "COMPOSER"
        | "FACTERLIB"
        | "GCC_EXEC_PREFIX"
        | "GNUPGHOME"
        | "GOENV"
        | "GOROOT"
        | "GOTOOLDIR"
        | "GRADLE_USER_HOME"
        | "GROFF_BIN_PATH"
        | "LESS"
        | "LUA_CPATH"
        | "LUA_PATH"
        | "MAGICK_CODER_MODULE_PATH"
        | "MAGICK_CONFIGURE_PATH"
        | "MANOPT"
        | "NODE_REPL_EXTERNAL_MODULE"
        | "NPM_CONFIG_PREFIX"
        | "PASSWORD_STORE_EXTENSIONS_DIR"
        | "PERLLIB"
        | "PKG_CONFIG_PATH"
        | "PYTEST_PLUGINS"
        | "TF_DATA_DIR"
        | "TF_PLUGIN_CACHE_DIR"
        | "YARN_YARN_PATH"
        | "MAKEFLAGS"
        | "MAVEN_OPTS"
        | "GRADLE_OPTS"
        | "RUSTFLAGS"
        | "CARGO_HOME"
        | "GOFLAGS"
        | "DOTNET_STARTUP_HOOKS"
        | "PS4"
        | "VIMINIT"
        | "EXINIT"
        | "INPUTRC"
        | "OPENSSL_CONF"
        | "OPENSSL_MODULES"
        | "SHELLOPTS"
        | "BASHOPTS"
        | "COMPOSER_HOME"
        | "GEM_HOME"
        | "GEM_PATH"
        | "KUBECONFIG"
        | "DOCKER_CONFIG"
        | "CLAUDE_CONFIG_DIR"
        | "CODEX_HOME"
        | "TAR_OPTIONS"
        | "ANSIBLE_CONFIG"
        | "ANSIBLE_LIBRARY"
        | "ANT_OPTS"
        | "AWS_CONFIG_FILE"
        | "BUNDLE_GEMFILE"
        | "CAML_LD_LIBRARY_PATH"
        | "CLASSPATH"
        | "CONDARC"
        | "CORECLR_PROFILER_PATH"
        | "CURL_HOME"
        | "ELIXIR_ERL_OPTIONS"
        | "ERL_AFLAGS"
        | "ERL_FLAGS"
        | "ERL_LIBS"
        | "ERL_ZFLAGS"
        | "FZF_DEFAULT_OPTS"
        | "GHC_ENVIRONMENT"
        | "GNUMAKEFLAGS"
        | "HELM_PLUGINS"
        | "HGRCPATH"
        | "JAVA_OPTS"
        | "JRUBY_OPTS"
        | "JULIA_LOAD_PATH"
        | "JVM_OPTS"
        | "LESSKEY"
        | "LESSKEYIN"
        | "MAKEFILES"
        | "MAVEN_ARGS"
        | "MYSQL_HOME"
        | "OPENSSL_ENGINES"
        | "PIP_CONFIG_FILE"
        | "PSQLRC"
        | "PYTEST_ADDOPTS"
        | "PYTHONBREAKPOINT"
        | "PYTHONUSERBASE"
        | "R_PROFILE"
        | "R_PROFILE_USER"
        | "SBT_OPTS"
        | "SCREENRC"
        | "TF_CLI_CONFIG_FILE"
        | "TF_PLUGIN_DIR"
        | "VIMRUNTIME"
        | "WGETRC"
        | "YARN_RC_FILENAME" => Meaning::Loads,
        "HTTP_PROXY"
        | "HTTPS_PROXY"
        | "ALL_PROXY"
        | "http_proxy"
        | "https_proxy"
        | "all_proxy"
        | "PIP_INDEX_URL"
        | "PIP_EXTRA_INDEX_URL"
        | "UV_INDEX_URL"
        | "UV_EXTRA_INDEX_URL"
        | "UV_DEFAULT_INDEX"
        | "NPM_CONFIG_REGISTRY"
        | "npm_config_registry"
        | "YARN_REGISTRY"
        | "GOPROXY"
        | "BUN_CONFIG_REGISTRY"
        | "CONDA_CHANNEL_ALIAS"
        | "COREPACK_NPM_REGISTRY"
        | "ELECTRON_MIRROR"
        | "FLUTTER_STORAGE_BASE_URL"
        | "HEX_MIRROR"
        | "HOMEBREW_API_DOMAIN"
        | "HOMEBREW_BOTTLE_DOMAIN"
        | "HOMEBREW_BREW_GIT_REMOTE"
        | "NVM_NODEJS_ORG_MIRROR"
        | "PLAYWRIGHT_DOWNLOAD_HOST"
        | "PUB_HOSTED_URL"
        | "PUPPETEER_DOWNLOAD_BASE_URL"
        | "RUSTUP_DIST_SERVER"
        | "RUSTUP_UPDATE_ROOT"
        | "YARN_NPM_REGISTRY_SERVER"
        | "DOCKER_HOST"
        | "ANTHROPIC_BASE_URL"
        | "OPENAI_BASE_URL"
        | "OPENAI_API_BASE"
        | "GOOGLE_GEMINI_BASE_URL"
        | "GEMINI_BASE_URL" => Meaning::Host,
        "NODE_TLS_REJECT_UNAUTHORIZED"
        | "DOCKER_CONTENT_TRUST"
        | "GIT_SSL_NO_VERIFY"
        | "PYTHONHTTPSVERIFY"
        | "HISTFILE"
        | "HISTSIZE"
        | "HISTCONTROL"
        | "HISTIGNORE"
        | "HISTFILESIZE"
        | "GONOSUMDB"
        | "GONOSUMCHECK"
        | "GOFLAGS_INSECURE"
        | "GOINSECURE"
        | "PIP_TRUSTED_HOST"
        | "CURL_CA_BUNDLE"
        | "REQUESTS_CA_BUNDLE"
        | "SSL_CERT_FILE"
        | "NODE_EXTRA_CA_CERTS" => Meaning::Guard,
        _ if name.starts_with("TF_CLI_ARGS") => Meaning::Loads,
        _ if name.starts_with("CARGO_REGISTRIES_") && name.ends_with("_INDEX") => Meaning::Host,
        _ if name.eq_ignore_ascii_case("npm_config_node_options")
            || name.eq_ignore_ascii_case("npm_config_userconfig")
            || name.eq_ignore_ascii_case("npm_config_globalconfig") =>
        {
            Meaning::Loads
        }
        _ if name.ends_with("RUSTC_WRAPPER")
            || name.ends_with("_COMPILER_LAUNCHER")
            || name.starts_with("CARGO_TARGET_")
                && (name.ends_with("_RUNNER") || name.ends_with("_LINKER"))
            || name.eq_ignore_ascii_case("npm_config_script_shell") =>
        {
            Meaning::Command
        }
        _ if ["_PAGER", "_EDITOR", "_COMMAND", "PAGER"].iter().any(|end| name.ends_with(end)) => {
            Meaning::Command
        }
        _ if name.starts_with("GIT_CONFIG_VALUE_")
            || name.starts_with("GIT_CONFIG_KEY_")
            || name.starts_with("BASH_FUNC_")
            || name.starts_with("CARGO_TARGET_") =>
        {
            Meaning::Loads
        }
        _ => return None,
    })
}

/// Git's names are in any case; the sub-section keeps its own.
fn git(name: &str) -> Option<Meaning> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let section = name.split('.').next().unwrap_or(name);
    Some(match (section, last) {
        (
            "core",
            "pager"
            | "editor"
            | "sshcommand"
            | "askpass"
            | "fsmonitor"
            | "gitproxy"
            | "alternaterefscommand",
        )
        | ("sequence", "editor")
        | (
            "pager" | "interactive" | "gpg" | "diff" | "merge" | "filter" | "browser" | "man"
            | "difftool" | "mergetool" | "sendemail" | "web" | "trailer" | "imap" | "tar"
            | "instaweb",
            "pager" | "difffilter" | "program" | "external" | "textconv" | "command" | "driver"
            | "clean" | "smudge" | "process" | "cmd" | "path" | "smtpserver" | "sendmailcmd"
            | "tocmd" | "cccmd" | "tunnel" | "log" | "show" | "branch" | "status" | "browser"
            | "httpd",
        )
        | ("credential", "helper")
        | ("uploadpack", "packobjectshook")
        | ("remote", "uploadpack" | "receivepack" | "vcs")
        | ("protocol", "allow")
        | ("alias", _) => Meaning::Command,
        ("core", "hookspath" | "attributesfile" | "worktree" | "excludesfile")
        | ("include" | "includeif", "path")
        | ("init", "templatedir")
        | ("submodule", "recurse" | "update") => Meaning::Loads,
        ("url", "insteadof" | "pushinsteadof")
        | ("http" | "https", "proxy")
        | ("remote", "url" | "pushurl" | "proxy") => Meaning::Host,
        ("http", "sslverify")
        | ("commit" | "tag", "gpgsign")
        | ("safe", "directory")
        | ("transfer" | "receive" | "fetch", "fsckobjects") => Meaning::Guard,
        _ => return None,
    })
}

fn cargo(name: &str) -> Option<Meaning> {
    let last = name.rsplit('.').next().unwrap_or(name).trim();
    let runs = ["rustc", "rustdoc", "rustc-wrapper", "rustc-workspace-wrapper", "linker", "runner"];
    let first = name.split('.').next().unwrap_or(name).trim();
    match first {
        "alias" | "credential-alias" => Some(Meaning::Command),
        "env" | "include" | "patch" => Some(Meaning::Loads),
        "source" | "registry" | "registries" | "http" => Some(Meaning::Host),
        "profile" | "term" | "net" | "unstable" | "future-incompat-report" => None,
        _ if runs.contains(&last) => Some(Meaning::Command),
        _ if last.contains("flags") => Some(Meaning::Loads),
        _ => None,
    }
}

fn php(name: &str) -> Option<Meaning> {
    Some(match name {
        "auto_prepend_file" | "auto_append_file" => Meaning::Code(Language::Php),
        "sendmail_path" | "mail.force_extra_parameters" => Meaning::Command,
        "extension" | "zend_extension" | "extension_dir" | "include_path" => Meaning::Loads,
        _ => return None,
    })
}

fn npm(name: &str) -> Option<Meaning> {
    Some(match name {
        "registry" | "proxy" | "https-proxy" => Meaning::Host,
        _ if name.ends_with(":registry") => Meaning::Host,
        "script-shell" | "shell" | "editor" | "viewer" | "git" | "node-options" | "init-module" => {
            Meaning::Command
        }
        "strict-ssl" | "ignore-scripts" | "audit" | "cafile" | "ca" => Meaning::Guard,
        _ => return None,
    })
}
