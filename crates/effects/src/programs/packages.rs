//! Package managers of systems and of other languages.

use crate::effect::{Change, Purpose, Reach};
use crate::marks::Mark;
use crate::model::*;

const CARGO: Operands = each(&[Does::Package(Registry::Cargo)]);
const GEM: Operands = each(&[Does::Package(Registry::Gem)]);
const SYSTEM: Operands = each(&[Does::Package(Registry::System)]);
pub(super) const INDEX: Use = &[Does::Connects(Purpose::Execute)];
/// The name of a script in a file of the project.
pub(super) const RECIPE: Operands = each(&[]);
/// Removing a guard, such as callgate.
const GATE: Use = &[Does::Stops];
pub(super) const PUBLISH: Use = &[mark(Mark::Publishes)];
pub(super) const UNPUBLISH: Use = &[mark(Mark::RemoteDelete)];

const CARGO_FLAGS: &[Flag] = &[
    takes(&["--git"], &[Does::Repository(Purpose::Execute)]),
    takes(&["--index"], INDEX),
    // A name that the settings give a registry.
    takes(&["--registry"], &[Does::Package(Registry::Other)]),
    takes(&["--config"], &[Does::Assigns("cargo:", crate::effect::Reach::Command)]),
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
    takes(&["--path"], &[Does::Package(Registry::Other)]),
];

pub(crate) const MODELS: &[Model] = &[
    model(&["cargo"])
        .flags(CARGO_FLAGS)
        .subs(&[
            model(&["install", "add", "binstall"]).operands(CARGO),
            model(&["run", "r"]).always(&[]),
            model(&["watch"]).flags(&[
                takes(&["--shell", "-s"], &[SHELL]),
                takes(&["--exec", "-x", "--watch", "-w", "--ignore", "-i", "--delay", "-d"], &[]),
            ]),
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
            model(&["uninstall"]).operands(each(GATE)),
            model(&["publish"]).always(PUBLISH),
            model(&["yank"]).always(UNPUBLISH),
            model(&["owner"]).flags(&[takes(&["--add", "-a", "--remove", "-r"], UNPUBLISH)]),
            model(&["login", "logout"]),
        ])
        .examples(&[
            ("cargo build --release", &[]),
            ("cargo test -p x -- --nocapture", &[]),
            ("cargo clean", &["deletes-tree target"]),
            ("cargo install --git https://h.example/x", &["executes h.example:443"]),
            ("cargo publish", &["marks publishes"]),
            (
                "cargo --config 'build.rustc=\"./x\"' build",
                &["runs x", "sets cargo:build.rustc=./x"],
            ),
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
            model(&["open"]).flags(&[takes(&["--editor", "-e"], &[SHELL])]),
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
                "install", "update", "check", "list", "show", "outdated", "remove", "lock", "info",
                "help", "init", "viz", "clean", "cache", "package", "binstubs", "doctor",
                "platform",
            ]),
            model(&["add"]).flags(&[
                takes(&["--git", "--source", "-s"], INDEX),
                takes(&["--github"], &[Does::ConnectsTo("github.com", Purpose::Execute)]),
                takes(&["--version", "-v", "--group", "-g", "--branch", "--path"], &[]),
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
            model(&["exec"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
            model(&["run", "run-script"]).operands(RECIPE),
            model(&["config"]).always(&[Does::Sets("composer:config", Reach::Lasting)]),
        ])
        .examples(&[
            ("composer install", &[]),
            ("composer exec cat a", &["runs cat a", "reads a"]),
            (
                "composer config repositories.x vcs https://h.example",
                &["fetches h.example:443", "sets composer:config"],
            ),
        ]),
    model(&["apt", "apt-get", "aptitude"])
        .flags(&[
            takes(&["--option", "-o"], &[Does::Assigns("apt:", Reach::Command)]),
            takes(&["--config-file", "-c"], &[Does::Recipe]),
            takes(&["--target-release", "-t", "--default-release"], &[]),
            switch(&["--allow-unauthenticated", "--force-yes"], &[mark(Mark::Guard)]),
        ])
        .subs(&[
            model(&["install", "reinstall", "build-dep"]).operands(SYSTEM),
            model(&["remove", "purge", "autoremove"]).operands(each(GATE)),
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
    model(&["apt-key", "rpmkeys", "pacman-key"])
        .flags(&[switch(
            &["--import", "--add", "-a", "--recv-keys", "-r", "--lsign-key", "--delete", "--erase"],
            &[mark(Mark::Guard)],
        )])
        .subs(&[model(&["add", "adv", "del", "net-update"]).always(&[mark(Mark::Guard)])])
        .examples(&[("apt-key list", &[]), ("apt-key add a", &["reads a", "marks guard"])]),
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
            switch(&["--configure", "--verify", "-V"], &[]).operands(each(&[])),
            switch(&["--remove", "-r", "--purge", "-P"], &[]).operands(each(GATE)),
            takes(&["--pre-invoke", "--post-invoke"], &[SHELL]),
            takes(&["--root", "--admindir", "--instdir"], &[]),
        ])
        .examples(&[("dpkg -l", &[]), ("dpkg -P auditd", &["marks guard"]), ("dpkg -P vim", &[])]),
    model(&["rpm"])
        .flags(&[
            takes(&["--pipe"], &[SHELL]),
            switch(&["--query", "-q", "--verify", "-V", "--querytags"], &[]).operands(each(&[])),
            switch(&["--eval", "-E"], &[Does::Hides]),
            takes(&["--root", "--dbpath", "--define", "-D"], &[]),
            switch(&["--install", "-i", "--upgrade", "-U", "--freshen", "-F", "--import"], &[])
                .operands(SYSTEM),
            switch(&["--erase", "-e"], &[]).operands(each(GATE)),
        ])
        .examples(&[
            ("rpm -qa", &[]),
            ("rpm -e falcon-sensor", &["marks guard"]),
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
        switch(&["--all"], &[]),
        switch(&["-e", "--erase", "-P", "--purge", "--remove", "-R", "-Rs", "-Rns"], &[])
            .operands(each(GATE)),
        switch(&["-S", "-U", "--sync", "--upgrade"], &[]).operands(SYSTEM),
        switch(&["-Q", "--query", "-Qi", "-Ql", "-Ss", "-Si"], &[]).operands(each(&[])),
    ])
    .subs(&[
        model(&["install", "add", "reinstall", "in", "localinstall", "upgrade"]).operands(SYSTEM),
        model(&[
            "remove",
            "uninstall",
            "del",
            "delete",
            "deinstall",
            "erase",
            "rm",
            "autoremove",
            "purge",
        ])
        .operands(each(GATE)),
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
        ("brew uninstall callgate", &["marks guard"]),
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
        takes(&["--flake"], &[Does::Package(Registry::Npm)]),
    ])
    .subs(&[
        model(&["run", "shell", "develop", "build", "profile", "install", "bundle"])
            .flags(&[takes(&["--command", "-c"], &[COMMAND]).value(Value::Rest)])
            .operands(leading(&[&[Does::Package(Registry::Npm)]], &[])),
        model(&["eval"]).flags(&[
            takes(&["--expr", "-E", "--apply"], &[Does::Code(Language::Expression)]),
            switch(&["--impure", "--raw", "--json"], &[]),
        ]),
        model(&[
            "search",
            "flake",
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
    .operands(each(&[Does::Package(Registry::Other)]))
    .examples(&[
        ("nix eval --expr '1 + 1'", &[]),
        ("nix eval --expr 'builtins.readFile ./a'", &["reads a"]),
    ]),
    model(&["nix-instantiate"])
        .flags(&[
            switch(&["--expr", "-E"], &[]).operands(each(&[Does::Code(Language::Expression)])),
            takes(&["--attr", "-A", "-I"], &[]),
            takes(&["--arg", "--argstr"], &[]).value(Value::SecondOfTwo),
        ])
        .operands(each(&[READS]))
        .examples(&[("nix-instantiate --eval -E 'builtins.readFile ./a'", &["reads a"])]),
    model(&["direnv"])
        .subs(&[
            model(&["exec"]).style(Style::Posix).operands(leading(&[&[], &[COMMAND]], &[])),
            model(&["allow", "deny", "edit", "reload", "status", "hook", "export", "version"]),
        ])
        .examples(&[("direnv exec . cat a", &["runs cat a", "reads a"]), ("direnv allow", &[])]),
    model(&[
        "asdf", "mise", "rtx", "nvm", "fnm", "volta", "pyenv", "rbenv", "nodenv", "sdk", "goenv",
        "jenv", "tfenv", "tfswitch", "n", "corepack", "proto", "ghcup", "juliaup", "opam",
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
            takes(&["-exec", "-toolexec", "-vettool"], &[PROGRAM]),
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
            model(&["run"]).operands(leading(&[&[Does::Package(Registry::GoRun)]], &[])),
            model(&["generate"]).operands(RECIPE),
            model(&["get", "install"]).operands(each(&[Does::Package(Registry::Go)])),
            model(&["env"]).flags(&[
                switch(&["-w"], &[]).operands(each(&[
                    Does::Assigns("go:", Reach::Lasting),
                    Does::MarksIfContains("toolexec", Mark::Schedules),
                ])),
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
                "dev-certs",
                "sdk",
            ])
            // MSBuild's own options, such as `-warnaserror`, are words with one dash.
            .style(Style::SingleDash)
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
            model(&["user-secrets"]).subs(&[
                model(&["list"]).always(&[mark(Mark::Credentials)]),
                model(&["set", "init", "remove", "clear"]),
            ]),
            model(&["ef"])
                .flags(&[
                    takes(&["--output", "-o"], &[WRITES]),
                    takes(
                        &[
                            "--project",
                            "-p",
                            "--startup-project",
                            "-s",
                            "--context",
                            "-c",
                            "--framework",
                        ],
                        &[],
                    ),
                ])
                .subs(&[model(&["database"]).subs(&[
                    model(&["drop"]).always(&[mark(Mark::Database)]),
                    model(&["update"]),
                ])]),
            model(&["fsi"]).operands(leading(&[&[Does::Script(Language::Other)]], &[])),
            model(&["run"]).operands(leading(&[&[]], &[])),
            model(&["nuget"]).subs(&[
                model(&["push"])
                    .flags(&[
                        takes(&["--source", "-s"], &[SENDS]),
                        takes(&["--api-key", "-k"], &[]),
                    ])
                    .operands(each(&[READS]))
                    .always(PUBLISH),
                model(&["delete"]).always(UNPUBLISH),
                model(&["add"]).operands(leading(&[&[], INDEX], &[])),
                model(&["list", "locals"]),
            ]),
            model(&["exec"]).operands(leading(&[&[Does::Script(Language::Other)]], &[])),
            model(&["push"]).operands(each(&[READS])).always(PUBLISH),
        ])
        .examples(&[
            ("dotnet build", &[]),
            ("dotnet build -c Release -v q -warnaserror", &[]),
            ("dotnet restore -s https://a.example/x", &["executes a.example:443"]),
            ("dotnet test", &[]),
            ("dotnet nuget push a.nupkg", &["reads a.nupkg", "marks publishes"]),
        ]),
    model(&[
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
