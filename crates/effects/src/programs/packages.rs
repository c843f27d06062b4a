//! Package managers: what they install, from where, and which scripts they run.

use crate::effect::{Change, Purpose, Reach};
use crate::marks::Mark;
use crate::model::*;

const NPM: Operands = each(&[Does::Package(Registry::Npm)]);
const PIP: Operands = each(&[Does::Package(Registry::Pip)]);
const CARGO: Operands = each(&[Does::Package(Registry::Cargo)]);
const GEM: Operands = each(&[Does::Package(Registry::Gem)]);
const SYSTEM: Operands = each(&[Does::Package(Registry::System)]);
const INDEX: Use = &[Does::Connects(Purpose::Execute)];
/// The name of a script in a file of the project.
const RECIPE: Operands = each(&[]);
const PUBLISH: Use = &[mark(Mark::Publishes)];
const UNPUBLISH: Use = &[mark(Mark::RemoteDelete)];

const NPM_FLAGS: &[Flag] = &[
    takes(&["--registry"], INDEX),
    takes(&["--prefix", "-C", "--dir", "--cwd"], &[FOLDER]),
    takes(&["--script-shell"], &[PROGRAM]),
    takes(&["--userconfig", "--globalconfig"], &[READS]),
    takes(&["--call", "-c"], &[SHELL]),
    takes(&["--package", "-p"], &[Does::Package(Registry::Npm)]),
    takes(
        &[
            "--workspace",
            "-w",
            "--filter",
            "-F",
            "--tag",
            "--otp",
            "--loglevel",
            "--node-options",
            "--reporter",
            "--depth",
            "--cache",
        ],
        &[],
    ),
];

const NPM_CONFIG: Model = model(&["config", "c"]).subs(&[
    model(&["set"]).flags(&[
        joined(&["registry", "@"], &[Does::Sets("npm:registry", Reach::Lasting)]),
        joined(&["script-shell"], &[Does::Sets("npm:script-shell", Reach::Lasting)]),
        joined(&["strict-ssl"], &[Does::Sets("npm:strict-ssl", Reach::Lasting), mark(Mark::Guard)]),
        joined(&["ignore-scripts"], &[Does::Sets("npm:ignore-scripts", Reach::Lasting)]),
        joined(&["node-options"], &[Does::Sets("npm:node-options", Reach::Lasting)]),
        joined(
            &["proxy", "https-proxy", "git", "editor", "cafile"],
            &[Does::Sets("npm:proxy", Reach::Lasting)],
        ),
    ]),
    model(&["edit"]).always(&[Does::WritesFile("~/.npmrc", Change::Content)]),
    model(&["get", "list", "ls", "delete", "rm", "fix"]),
]);

const NPM_SUBS: &[Model] = &[
    model(&["install", "i", "add", "in", "ins", "isntall"]).operands(NPM),
    model(&[
        "ci",
        "clean-install",
        "install-test",
        "it",
        "rebuild",
        "fetch",
        "dedupe",
        "ddp",
        "prune",
        "update",
        "up",
        "upgrade",
        "audit",
        "import",
        "approve-builds",
    ]),
    model(&["run", "run-script", "rum", "urn"]).operands(RECIPE),
    model(&[
        "test",
        "t",
        "tst",
        "start",
        "stop",
        "restart",
        "build",
        "dev",
        "lint",
        "format",
        "typecheck",
        "serve",
    ])
    .always(&[]),
    model(&["exec", "x", "dlx"])
        .style(Style::Posix)
        .operands(leading(&[&[Does::Package(Registry::Npm), COMMAND]], &[])),
    model(&["create", "init", "innit"]).operands(leading(&[&[]], &[])),
    model(&["uninstall", "remove", "rm", "un", "unlink", "link", "ln"]),
    model(&[
        "list",
        "ls",
        "la",
        "ll",
        "outdated",
        "view",
        "info",
        "show",
        "search",
        "find",
        "why",
        "explain",
        "docs",
        "home",
        "repo",
        "bugs",
        "root",
        "bin",
        "prefix",
        "doctor",
        "ping",
        "whoami",
        "version",
        "help",
        "fund",
        "query",
        "diff",
        "cache",
        "store",
        "workspaces",
        "workspace",
        "licenses",
        "set-script",
        "sbom",
        "env",
        "node",
        "constraints",
        "plugin",
    ]),
    model(&["pkg"]).subs(&[
        model(&["set"]).always(&[Does::WritesFile("package.json", Change::Content)]),
        model(&["get", "delete", "fix"]),
    ]),
    model(&["pack"]).flags(&[takes(&["--pack-destination"], &[MAKES])]),
    model(&["publish"]).always(PUBLISH),
    model(&["unpublish", "deprecate", "dist-tag", "owner", "access", "team", "hook", "org"])
        .always(UNPUBLISH),
    model(&["token", "login", "adduser", "logout", "profile"]).always(&[mark(Mark::Credentials)]),
    model(&["edit"]).always(&[Does::Hides]),
    model(&["explore"]).operands(leading(&[&[], &[COMMAND]], &[])),
    NPM_CONFIG,
];

const PIP_FLAGS: &[Flag] = &[
    takes(
        &[
            "--index-url",
            "-i",
            "--extra-index-url",
            "--find-links",
            "-f",
            "--proxy",
            "--index",
            "--default-index",
        ],
        INDEX,
    ),
    takes(&["--requirement", "-r", "--constraint", "-c", "--cert", "--client-cert"], &[READS]),
    takes(&["--editable", "-e"], &[Does::Package(Registry::Pip)]),
    takes(
        &["--target", "-t", "--prefix", "--root", "--src", "--dest", "-d", "--wheel-dir", "-w"],
        &[MAKES],
    ),
    takes(&["--log"], &[WRITES]),
    takes(&["--report"], &[WRITES]),
    takes(&["--trusted-host"], &[mark(Mark::Guard)]),
    takes(
        &[
            "--platform",
            "--python-version",
            "--python",
            "-p",
            "--implementation",
            "--abi",
            "--global-option",
            "--config-settings",
            "--no-binary",
            "--only-binary",
            "--upgrade-strategy",
            "--timeout",
            "--retries",
            "--cache-dir",
            "--format",
            "--progress-bar",
            "--group",
            "--extra",
            "--package",
        ],
        &[],
    ),
];

const PIP_CONFIG: Model = model(&["config"]).subs(&[
    model(&["set"]).flags(&[
        joined(
            &[
                "global.index-url",
                "global.extra-index-url",
                "install.index-url",
                "user.index-url",
                "site.index-url",
            ],
            &[Does::Sets("pip:index-url", Reach::Lasting)],
        ),
        joined(
            &["global.trusted-host", "global.proxy", "global.find-links", "global.cert"],
            &[Does::Sets("pip:trusted-host", Reach::Lasting), mark(Mark::Guard)],
        ),
    ]),
    model(&["edit"]).flags(&[takes(&["--editor"], &[PROGRAM])]),
    model(&["get", "list", "debug", "unset"]),
]);

const PIP_SUBS: &[Model] = &[
    model(&["install", "download", "wheel"]).operands(PIP),
    model(&[
        "uninstall",
        "freeze",
        "list",
        "show",
        "check",
        "search",
        "cache",
        "index",
        "inspect",
        "hash",
        "debug",
        "help",
        "completion",
        "tree",
        "compile",
        "sync",
    ]),
    PIP_CONFIG,
];

const CARGO_FLAGS: &[Flag] = &[
    takes(&["--git"], &[Does::Repository(Purpose::Execute)]),
    takes(&["--index", "--registry"], INDEX),
    takes(&["--config"], &[Does::Hides]),
    takes(&["--target-dir", "--artifact-dir", "--root"], &[MAKES]),
    takes(&["-C"], &[FOLDER]),
    takes(
        &[
            "--package",
            "-p",
            "--bin",
            "--example",
            "--test",
            "--bench",
            "--features",
            "-F",
            "--target",
            "--profile",
            "--jobs",
            "-j",
            "--message-format",
            "--color",
            "--manifest-path",
            "--exclude",
            "--format-version",
            "--depth",
            "--branch",
            "--tag",
            "--rev",
            "--rename",
            "--vers",
            "--version-req",
            "-Z",
            "--edges",
            "-e",
            "--invert",
            "-i",
            "--prefix",
            "--lockfile-path",
        ],
        &[],
    ),
    takes(&["--path"], &[READS_TREE]),
];

pub(crate) const MODELS: &[Model] = &[
    model(&["npm", "pnpm", "yarn", "yarnpkg", "cnpm", "rush", "lerna"])
        .flags(NPM_FLAGS)
        .subs(NPM_SUBS)
        .examples(&[
            ("npm ci", &[]),
            ("npm ls --depth=0", &[]),
            ("npm view react version", &[]),
            ("npm publish", &["marks publishes"]),
            ("npm install https://h.example/p.tgz", &["executes h.example:443"]),
            ("npm install --registry=https://h.example", &["executes h.example:443"]),
            ("npm exec -c 'cat a'", &["runs cat a", "reads a"]),
        ]),
    model(&["npx", "pnpx", "bunx"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--package", "-p"], &[Does::Package(Registry::Npm)]),
            takes(&["--call", "-c"], &[SHELL]),
            takes(&["--registry"], INDEX),
            takes(&["--node-options", "--workspace", "-w"], &[]),
            takes(&["--userconfig"], &[READS]),
            takes(&["--shell"], &[PROGRAM]),
        ])
        .operands(leading(&[&[Does::Package(Registry::Npm), COMMAND]], &[]))
        .examples(&[("npx -c 'cat a'", &["runs cat a", "reads a"])]),
    model(&["bun"])
        .flags(&[
            takes(&["--eval", "-e", "--print", "-p"], &[Does::Code(Language::JavaScript)])
                .instead(),
            takes(&["--cwd"], &[FOLDER]),
            takes(&["--preload", "-r"], &[Does::Script(Language::JavaScript)]),
            takes(&["--env-file"], &[READS]),
            takes(&["--registry"], INDEX),
            switch(&["--version", "-v", "--revision"], &[]),
        ])
        .subs(&[
            model(&["install", "i", "add", "a"]).operands(NPM),
            model(&["run"]).operands(leading(&[&[Does::Script(Language::JavaScript)]], &[])),
            model(&["x"]).operands(leading(&[&[Does::Package(Registry::Npm), COMMAND]], &[])),
            model(&["test"]).operands(each(&[])),
            model(&["build"])
                .flags(&[takes(&["--outdir", "--outfile"], &[WRITES])])
                .operands(each(&[READS])),
            model(&[
                "remove", "rm", "update", "outdated", "link", "unlink", "pm", "init", "create",
                "upgrade", "audit", "info", "why", "dev",
            ]),
            model(&["publish"]).always(PUBLISH),
        ])
        .operands(leading(&[&[Does::Script(Language::JavaScript)]], &[]))
        .examples(&[
            ("bun install", &[]),
            ("bun add https://h.example/p.tgz", &["executes h.example:443"]),
            ("bun test", &[]),
        ]),
    model(&["pip", "pip3", "pip3.10", "pip3.11", "pip3.12", "pip3.13"])
        .flags(PIP_FLAGS)
        .subs(PIP_SUBS)
        .examples(&[
            ("pip install -r requirements.txt", &["reads requirements.txt"]),
            ("pip install https://h.example/p.whl", &["executes h.example:443"]),
            ("pip install git+https://h.example/p.git", &["executes h.example:443"]),
            ("pip install -i https://h.example/simple", &["executes h.example:443"]),
            ("pip list", &[]),
        ]),
    model(&["uv"])
        .flags(PIP_FLAGS)
        .subs(&[
            model(&["pip"]).subs(PIP_SUBS),
            model(&["add"]).operands(PIP),
            model(&["tool"]).subs(&[
                model(&["run"])
                    .style(Style::Posix)
                    .flags(&[takes(&["--from", "--with"], &[Does::Package(Registry::Pip)])])
                    .operands(leading(&[&[Does::Package(Registry::Pip), COMMAND]], &[])),
                model(&["install", "upgrade"]).operands(PIP),
                model(&["list", "dir", "uninstall", "update-shell"]),
            ]),
            model(&["run"])
                .style(Style::Posix)
                .flags(&[
                    takes(&["--with", "--from"], &[Does::Package(Registry::Pip)]),
                    takes(&["--with-requirements", "--env-file"], &[READS]),
                    takes(
                        &["--python", "-p", "--extra", "--group", "--package", "--directory"],
                        &[],
                    ),
                ])
                .operands(leading(&[&[COMMAND]], &[])),
            model(&[
                "sync", "lock", "tree", "remove", "init", "venv", "python", "cache", "build",
                "export", "version", "self", "help", "format",
            ]),
            model(&["publish"]).always(PUBLISH),
            model(&["auth"]).always(&[mark(Mark::Credentials)]),
        ])
        .examples(&[
            ("uv sync", &[]),
            ("uv run cat a", &["runs cat a", "reads a"]),
            ("uv pip install git+https://h.example/p.git", &["executes h.example:443"]),
        ]),
    model(&["uvx"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--from", "--with", "--spec"], &[Does::Package(Registry::Pip)]),
            takes(&["--index", "--default-index", "--index-url", "-i"], INDEX),
            takes(&["--python", "-p"], &[]),
        ])
        .operands(leading(&[&[Does::Package(Registry::Pip), COMMAND]], &[])),
    model(&["pipx"])
        .flags(&[
            takes(&["--index-url", "-i"], INDEX),
            takes(&["--spec"], &[Does::Package(Registry::Pip)]),
            takes(&["--python", "--pip-args", "--suffix"], &[]),
        ])
        .subs(&[
            model(&["install", "inject", "upgrade"]).operands(PIP),
            model(&["run"])
                .style(Style::Posix)
                .operands(leading(&[&[Does::Package(Registry::Pip), COMMAND]], &[])),
            model(&[
                "list",
                "uninstall",
                "upgrade-all",
                "reinstall",
                "ensurepath",
                "environment",
                "runpip",
            ]),
        ])
        .examples(&[
            ("pipx install git+https://h.example/p.git", &["executes h.example:443"]),
            ("pipx list", &[]),
        ]),
    model(&["poetry", "pdm", "pipenv", "hatch", "rye"])
        .flags(&[
            takes(&["--directory", "-C", "--project", "-P"], &[FOLDER]),
            takes(&["--group", "-G", "--with", "--without", "--extras", "-E", "--python"], &[]),
            takes(&["--source"], &[]),
            takes(&["--index", "-i", "--pypi-mirror"], INDEX),
        ])
        .subs(&[
            model(&["add"]).operands(PIP),
            model(&["run"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
            model(&["install"]).operands(PIP),
            model(&[
                "sync",
                "lock",
                "update",
                "remove",
                "uninstall",
                "show",
                "check",
                "build",
                "version",
                "init",
                "new",
                "export",
                "shell",
                "list",
                "graph",
                "env",
                "search",
                "about",
                "cache",
                "self",
                "venv",
                "info",
                "test",
                "fmt",
                "dep",
            ]),
            model(&["source"]).subs(&[
                model(&["add"]).operands(leading(&[&[], INDEX], &[])),
                model(&["show", "remove"]),
            ]),
            model(&["config"]).always(&[Does::Sets("poetry:config", Reach::Lasting)]),
            model(&["publish"]).always(PUBLISH),
        ])
        .examples(&[
            ("poetry install", &[]),
            ("poetry run cat a", &["runs cat a", "reads a"]),
            ("poetry add git+https://h.example/x.git", &["executes h.example:443"]),
            ("poetry source add x https://h.example/simple", &["executes h.example:443"]),
        ]),
    model(&["conda", "mamba", "micromamba", "pixi"])
        .flags(&[
            takes(&["--channel", "-c"], INDEX),
            takes(&["--name", "-n", "--prefix", "-p", "--solver"], &[]),
            takes(&["--file", "-f"], &[READS]),
        ])
        .subs(&[
            model(&["run"])
                .style(Style::Posix)
                .flags(&[takes(&["-n", "-p", "--name", "--cwd"], &[])])
                .operands(leading(&[&[COMMAND]], &[])),
            model(&[
                "install",
                "create",
                "env",
                "update",
                "remove",
                "list",
                "info",
                "search",
                "clean",
                "activate",
                "deactivate",
                "init",
                "export",
                "add",
                "shell",
                "task",
            ]),
            model(&["config"]).always(&[Does::Sets("conda:config", Reach::Lasting)]),
        ])
        .examples(&[
            ("conda install numpy", &[]),
            ("conda install -c https://h.example/c x", &["executes h.example:443"]),
        ]),
    model(&["twine"])
        .flags(&[
            takes(&["--repository-url"], &[SENDS]),
            takes(&["--repository", "-r", "--username", "-u", "--password", "-p"], &[]),
            takes(&["--config-file", "--cert"], &[READS]),
        ])
        .subs(&[
            model(&["upload", "register"]).operands(each(&[READS])).always(PUBLISH),
            model(&["check"]).operands(each(&[READS])),
        ])
        .examples(&[
            ("twine upload dist/a", &["reads dist/a", "marks publishes"]),
            ("twine check dist/a", &["reads dist/a"]),
        ]),
    model(&["cargo"])
        .flags(CARGO_FLAGS)
        .subs(&[
            model(&["install", "add", "binstall"]).operands(CARGO),
            model(&["run", "r"]).always(&[]),
            model(&[
                "build",
                "b",
                "check",
                "c",
                "test",
                "t",
                "bench",
                "doc",
                "d",
                "clippy",
                "fmt",
                "tree",
                "metadata",
                "update",
                "search",
                "fetch",
                "vendor",
                "verify-project",
                "version",
                "locate-project",
                "pkgid",
                "fix",
                "generate-lockfile",
                "report",
                "rustc",
                "rustdoc",
                "read-manifest",
                "info",
                "help",
                "audit",
                "deny",
                "nextest",
                "expand",
                "outdated",
                "machete",
                "llvm-cov",
                "udeps",
                "hack",
                "bloat",
                "asm",
                "xtask",
                "insta",
                "edit",
                "upgrade",
                "watch",
                "criterion",
                "miri",
                "fuzz",
                "semver-checks",
                "package",
                "remove",
                "rm",
                "init",
                "new",
                "config",
            ]),
            model(&["clean"]).always(&[Does::DeletesFile("target", crate::effect::Scope::Tree)]),
            model(&["uninstall"]).always(&[]),
            model(&["publish"]).always(PUBLISH),
            model(&["yank", "owner"]).always(UNPUBLISH),
            model(&["login", "logout"]).always(&[mark(Mark::Credentials)]),
        ])
        .examples(&[
            ("cargo build --release", &[]),
            ("cargo test -p x -- --nocapture", &[]),
            ("cargo clean", &["deletes-tree target"]),
            ("cargo install --git https://h.example/x", &["executes h.example:443"]),
            ("cargo publish", &["marks publishes"]),
            ("cargo --config 'build.rustc=\"./x\"' build", &["opaque language"]),
        ]),
    model(&["rustup"])
        .subs(&[
            model(&["run"]).style(Style::Posix).operands(leading(&[&[], &[COMMAND]], &[])),
            model(&[
                "show",
                "toolchain",
                "component",
                "target",
                "update",
                "default",
                "override",
                "which",
                "doc",
                "completions",
                "check",
                "man",
                "set",
            ]),
            model(&["self"]).subs(&[
                model(&["uninstall"])
                    .always(&[Does::DeletesFile("~/.cargo", crate::effect::Scope::Tree)]),
                model(&["update"]),
            ]),
        ])
        .examples(&[
            ("rustup update stable", &[]),
            ("rustup run nightly cat a", &["runs cat a", "reads a"]),
        ]),
    model(&["gem"])
        .flags(&[
            takes(&["--source", "-s"], INDEX),
            takes(&["--version", "-v", "--install-dir", "-i", "--bindir", "-n"], &[]),
        ])
        .subs(&[
            model(&["install", "update", "fetch"]).operands(GEM),
            model(&[
                "list",
                "search",
                "env",
                "environment",
                "info",
                "outdated",
                "which",
                "contents",
                "cleanup",
                "uninstall",
                "specification",
                "dependency",
                "build",
                "help",
                "unpack",
            ]),
            model(&["sources"]).flags(&[takes(&["--add", "-a"], INDEX)]),
            model(&["push"]).always(PUBLISH),
            model(&["yank", "owner"]).always(UNPUBLISH),
            model(&["exec"]).operands(leading(&[&[Does::Package(Registry::Gem)]], &[])),
        ])
        .examples(&[
            ("gem env", &[]),
            ("gem install -s http://h.example", &["executes h.example:80"]),
            ("gem list", &[]),
        ]),
    model(&["bundle", "bundler"])
        .flags(&[takes(&["--gemfile", "--path", "--jobs", "--without"], &[])])
        .subs(&[
            model(&["exec", "e"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
            model(&[
                "install", "update", "check", "list", "show", "outdated", "add", "remove", "lock",
                "info", "init", "viz", "clean", "cache", "package", "binstubs", "doctor",
                "platform",
            ]),
            model(&["config"]).flags(&[joined(
                &["mirror.", "build."],
                &[Does::Sets("bundle:config", Reach::Lasting)],
            )]),
        ])
        .examples(&[("bundle install", &[]), ("bundle exec cat a", &["runs cat a", "reads a"])]),
    model(&["composer"])
        .flags(&[
            takes(&["--working-dir", "-d"], &[FOLDER]),
            takes(&["--repository", "--repository-url"], INDEX),
        ])
        .subs(&[
            model(&[
                "install",
                "update",
                "require",
                "remove",
                "show",
                "outdated",
                "validate",
                "dump-autoload",
                "dumpautoload",
                "diagnose",
                "audit",
                "why",
                "licenses",
                "create-project",
                "init",
                "search",
                "global",
                "self-update",
            ]),
            model(&["exec", "run", "run-script"]).operands(RECIPE),
            model(&["config"]).always(&[Does::Sets("composer:config", Reach::Lasting)]),
        ])
        .examples(&[
            ("composer install", &[]),
            (
                "composer config repositories.x vcs https://h.example",
                &["fetches h.example:443", "sets composer:config"],
            ),
        ]),
    model(&["apt", "apt-get", "aptitude"])
        .flags(&[
            takes(&["--option", "-o"], &[Does::Assigns("apt:", Reach::Command)]),
            takes(&["--config-file", "-c"], &[READS]),
            takes(&["--target-release", "-t", "--default-release"], &[]),
            switch(&["--allow-unauthenticated", "--force-yes"], &[mark(Mark::Guard)]),
        ])
        .subs(&[
            model(&["install", "reinstall", "build-dep"]).operands(SYSTEM),
            model(&["remove", "purge", "autoremove"]),
            model(&[
                "update",
                "upgrade",
                "full-upgrade",
                "dist-upgrade",
                "list",
                "show",
                "search",
                "policy",
                "depends",
                "rdepends",
                "download",
                "source",
                "clean",
                "autoclean",
                "changelog",
                "check",
            ]),
            model(&["edit-sources"])
                .always(&[Does::WritesFile("/etc/apt/sources.list", Change::Content)]),
        ])
        .examples(&[("apt-get install -y jq", &[]), ("apt update", &[])]),
    model(&["add-apt-repository", "apt-add-repository", "yum-config-manager"])
        .flags(&[
            takes(&["--add-repo"], INDEX),
            takes(&["--setopt", "--enable", "--disable", "-n"], &[]),
        ])
        .operands(each(&[Does::Hides])),
    model(&["apt-key", "rpmkeys", "pacman-key"]).always(&[mark(Mark::Guard)]),
    model(&["dpkg"])
        .flags(&[
            switch(&["--install", "-i", "--unpack"], &[]).operands(SYSTEM),
            switch(
                &[
                    "--list",
                    "-l",
                    "--status",
                    "-s",
                    "--listfiles",
                    "-L",
                    "--search",
                    "-S",
                    "--contents",
                    "-c",
                    "--print-architecture",
                    "--get-selections",
                    "--version",
                ],
                &[],
            )
            .operands(each(&[])),
            switch(&["--remove", "-r", "--purge", "-P", "--configure", "--verify", "-V"], &[])
                .operands(each(&[])),
            takes(&["--pre-invoke", "--post-invoke"], &[SHELL]),
            takes(&["--root", "--admindir", "--instdir"], &[]),
        ])
        .examples(&[("dpkg -l", &[]), ("dpkg -s bash", &[])]),
    model(&["rpm"])
        .flags(&[
            switch(&["--query", "-q", "--verify", "-V", "--querytags"], &[]).operands(each(&[])),
            switch(&["--eval", "-E"], &[Does::Hides]),
            takes(&["--root", "--dbpath", "--define", "-D"], &[]),
            switch(&["--install", "-i", "--upgrade", "-U", "--freshen", "-F", "--import"], &[])
                .operands(SYSTEM),
        ])
        .examples(&[
            ("rpm -qa", &[]),
            ("rpm -i https://h.example/x.rpm", &["executes h.example:443"]),
        ]),
    model(&[
        "dnf",
        "yum",
        "microdnf",
        "zypper",
        "apk",
        "pacman",
        "yay",
        "paru",
        "emerge",
        "xbps-install",
        "pkg",
        "pkg_add",
        "port",
        "brew",
        "snap",
        "flatpak",
        "choco",
        "scoop",
        "winget",
        "opkg",
        "slackpkg",
        "eopkg",
        "nala",
        "mas",
    ])
    .flags(&[
        takes(&["--repository", "-X", "--repofrompath", "--repo", "--from"], INDEX),
        takes(
            &[
                "--setopt",
                "--enablerepo",
                "--disablerepo",
                "--config",
                "-c",
                "--root",
                "-r",
                "--installroot",
                "--releasever",
                "--channel",
                "--track",
            ],
            &[],
        ),
        switch(
            &["--allow-untrusted", "--nogpgcheck", "--no-gpg-checks", "--dangerous", "--devmode"],
            &[mark(Mark::Guard)],
        ),
        switch(&["-S", "-U", "--sync", "--upgrade"], &[]).operands(SYSTEM),
        switch(&["-Q", "--query", "-Qi", "-Ql", "-Ss", "-Si"], &[]).operands(each(&[])),
    ])
    .subs(&[
        model(&["install", "add", "reinstall", "in", "localinstall", "upgrade"]).operands(SYSTEM),
        model(&["remove", "uninstall", "del", "erase", "rm", "autoremove", "purge"]),
        model(&[
            "update",
            "list",
            "search",
            "info",
            "show",
            "provides",
            "repolist",
            "history",
            "check-update",
            "clean",
            "outdated",
            "deps",
            "doctor",
            "config",
            "services",
            "leaves",
            "audit",
            "policy",
            "version",
            "uses",
            "home",
            "desc",
            "cat",
            "find",
            "refresh",
            "connections",
            "changes",
            "run",
            "ps",
            "group",
            "makecache",
            "shellenv",
            "cleanup",
            "pin",
            "link",
            "bundle",
        ]),
        model(&["tap", "addrepo", "remote-add", "ar", "bucket", "source"])
            .operands(leading(&[&[], INDEX], &[])),
    ])
    .examples(&[
        ("brew install jq", &[]),
        ("dnf install -y https://h.example/x.rpm", &["executes h.example:443"]),
        ("brew tap a/b https://h.example/t", &["executes h.example:443"]),
        (
            "apk add --repository https://h.example --allow-untrusted x",
            &["executes h.example:443", "marks guard"],
        ),
        ("brew list", &[]),
    ]),
    model(&[
        "apt-cache",
        "apt-mark",
        "dpkg-query",
        "apt-file",
        "repoquery",
        "pacman-conf",
        "pkgfile",
        "equery",
        "apt-config",
    ])
    .examples(&[("apt-cache search x", &[])]),
    model(&[
        "nix",
        "nix-env",
        "nix-shell",
        "nix-build",
        "nix-store",
        "nix-channel",
        "nixos-rebuild",
        "home-manager",
        "guix",
    ])
    .flags(&[
        takes(&["--run", "--command", "-c"], &[SHELL]),
        takes(
            &[
                "--packages",
                "-p",
                "--attr",
                "-A",
                "--option",
                "--arg",
                "--argstr",
                "--out-link",
                "-o",
            ],
            &[],
        ),
        takes(&["--expr", "-E"], &[Does::Hides]),
        takes(&["--file", "-f"], &[READS]),
    ])
    .subs(&[
        model(&["run", "shell", "develop", "build", "profile", "install", "bundle"])
            .operands(leading(&[&[Does::Package(Registry::Npm)]], &[])),
        model(&[
            "search",
            "flake",
            "eval",
            "repl",
            "log",
            "path-info",
            "store",
            "show-config",
            "doctor",
            "hash",
            "fmt",
            "registry",
            "why-depends",
        ]),
    ])
    .operands(each(&[Does::Package(Registry::Other)])),
    model(&[
        "asdf", "mise", "rtx", "nvm", "fnm", "volta", "pyenv", "rbenv", "nodenv", "sdk", "goenv",
        "jenv", "tfenv", "tfswitch", "n", "corepack", "proto", "ghcup", "juliaup", "opam",
        "direnv",
    ])
    .subs(&[
        model(&["exec", "x"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
        model(&[
            "install",
            "use",
            "local",
            "global",
            "shell",
            "ls",
            "list",
            "current",
            "which",
            "where",
            "uninstall",
            "versions",
            "version",
            "update",
            "enable",
            "disable",
            "alias",
            "default",
            "rehash",
            "init",
            "env",
            "pin",
            "reshim",
            "latest",
            "switch",
            "trust",
            "allow",
            "status",
            "doctor",
            "ls-remote",
            "list-all",
        ]),
        model(&["plugin", "plugin-add", "plugins"])
            .operands(each(&[Does::Package(Registry::Other)])),
        model(&["run"]).operands(RECIPE),
    ])
    .examples(&[("nvm use 20", &[]), ("asdf exec cat a", &["runs cat a", "reads a"])]),
    model(&["go"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-C"], &[FOLDER]),
            takes(&["-exec", "-toolexec", "-vettool"], &[SHELL]),
            takes(
                &["-o", "-coverprofile", "-cpuprofile", "-memprofile", "-trace", "-outputdir"],
                &[WRITES],
            ),
            takes(
                &[
                    "-run",
                    "-bench",
                    "-tags",
                    "-ldflags",
                    "-gcflags",
                    "-mod",
                    "-modfile",
                    "-count",
                    "-timeout",
                    "-p",
                    "-parallel",
                    "-cpu",
                    "-benchtime",
                    "-f",
                    "-skip",
                    "-covermode",
                    "-coverpkg",
                    "-asmflags",
                    "-overlay",
                ],
                &[],
            ),
        ])
        .subs(&[
            model(&[
                "build",
                "test",
                "vet",
                "fmt",
                "list",
                "version",
                "doc",
                "clean",
                "fix",
                "bug",
                "help",
                "telemetry",
                "work",
                "tool",
            ]),
            model(&["mod"]).subs(&[model(&[
                "tidy", "download", "verify", "vendor", "graph", "why", "init", "edit",
            ])]),
            model(&["run"]).operands(leading(&[&[]], &[])),
            model(&["generate"]).operands(RECIPE),
            model(&["get", "install"]).operands(each(&[Does::Package(Registry::Go)])),
            model(&["env"]).flags(&[
                switch(&["-w"], &[]).operands(each(&[Does::Assigns("go:", Reach::Lasting)])),
                switch(&["-u", "-json", "-changed"], &[]),
            ]),
        ])
        .examples(&[
            ("go build ./...", &[]),
            ("go test -race ./...", &[]),
            ("go build -o bin/x ./cmd/x", &["writes bin/x"]),
            ("go test -exec 'cat a' ./...", &["runs cat a", "reads a"]),
            ("go env GOPATH", &[]),
        ]),
    model(&["dotnet", "nuget"])
        .subs(&[
            model(&[
                "build",
                "test",
                "restore",
                "clean",
                "publish",
                "pack",
                "list",
                "new",
                "sln",
                "add",
                "remove",
                "format",
                "--info",
                "--version",
                "watch",
                "tool",
                "workload",
                "ef",
                "user-secrets",
                "dev-certs",
                "sdk",
            ])
            .flags(&[
                takes(&["--source", "-s"], INDEX),
                takes(&["--output", "-o"], &[MAKES]),
                takes(
                    &[
                        "--configuration",
                        "-c",
                        "--framework",
                        "-f",
                        "--filter",
                        "--logger",
                        "-l",
                        "--project",
                        "--version",
                        "-v",
                    ],
                    &[],
                ),
            ]),
            model(&["run"]).operands(leading(&[&[]], &[])),
            model(&["nuget"]).subs(&[
                model(&["push"]).operands(each(&[READS])).always(PUBLISH),
                model(&["delete"]).always(UNPUBLISH),
                model(&["add"]).operands(leading(&[&[], INDEX], &[])),
                model(&["list", "locals"]),
            ]),
            model(&["exec"]).operands(leading(&[&[Does::Script(Language::Other)]], &[])),
            model(&["push"]).operands(each(&[READS])).always(PUBLISH),
        ])
        .examples(&[
            ("dotnet build", &[]),
            ("dotnet test", &[]),
            ("dotnet nuget push a.nupkg", &["reads a.nupkg", "marks publishes"]),
        ]),
    model(&[
        "mix",
        "rebar3",
        "stack",
        "cabal",
        "sbt",
        "lein",
        "pub",
        "flutter",
        "dart",
        "pod",
        "carthage",
        "cpan",
        "cpanm",
        "luarocks",
        "conan",
        "vcpkg",
        "swift",
        "zig",
        "shards",
        "nimble",
        "gleam",
        "rebar",
        "elm",
        "spago",
        "mill",
        "bsp",
        "clj-kondo",
    ])
    .subs(&[
        model(&[
            "build",
            "test",
            "compile",
            "check",
            "format",
            "fmt",
            "deps.get",
            "deps.update",
            "deps",
            "get",
            "update",
            "clean",
            "doc",
            "docs",
            "run",
            "init",
            "new",
            "analyze",
            "lint",
            "doctor",
            "devices",
            "upgrade",
            "list",
            "search",
            "package",
            "make",
            "create",
            "repl",
            "bench",
            "haddock",
            "outdated",
            "fetch",
            "ecto.migrate",
            "phx.server",
            "phx.routes",
        ]),
        model(&["install", "add", "i"]).operands(each(&[Does::Package(Registry::Other)])),
        model(&["publish", "upload", "hex.publish"]).always(PUBLISH),
        model(&["ecto.drop", "ecto.reset"]).always(&[mark(Mark::Database)]),
        model(&["exec"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
    ])
    .examples(&[
        ("mix deps.get", &[]),
        ("flutter test", &[]),
        ("mix ecto.drop", &["marks database"]),
    ]),
];
