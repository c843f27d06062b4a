//! What single programs have for themselves, besides what all programs of their family have.

use crate::effect::{Access, Change, Purpose};
use crate::marks::Mark;
use crate::model::*;

const READ: Operands = each(&[READS]);
const WRITE: Operands = each(&[WRITES]);
const RUNS: Operands = leading(&[&[COMMAND]], &[]);
const RUNS_SECOND: Operands = leading(&[&[], &[COMMAND]], &[]);
/// A script, or a project whose code runs.
const SCRIPT: Use = &[Does::Script(Language::Other)];
const OTHER_SCRIPT: Operands = leading(&[SCRIPT], &[]);
/// Code of the folders or files that the operands name runs: tests, builds.
const BUILDS: Operands = each(&[Does::Reads(Access::Tree)]);
const NEW_FOLDER: Operands = each(&[MAKES]);

pub(crate) const OWN: &[Own] = &[
    // Files.
    own(
        &["csplit"],
        model(&[]).flags(&[takes(&["--prefix", "-f", "--suffix-format", "-b"], &[WRITES])]),
    ),
    own(
        &["mktemp"],
        model(&[])
            .flags(&[takes(&["--tmpdir", "-p"], &[MAKES]), takes(&["--suffix"], &[])])
            .examples(&[("mktemp -p a", &["makes a"]), ("mktemp -d", &[])]),
    ),
    own(
        &["tar", "bsdtar", "gtar"],
        model(&[]).flags(&[
            takes(&["--volno-file"], &[WRITES]),
            joined(&["--one-top-level"], &[MAKES]),
            switch(&["--delete"], &[]).operands(each(&[])),
        ]),
    ),
    own(&["zip"], model(&[]).flags(&[joined(&["-i@", "-x@"], &[READS])])),
    own(&["mksquashfs"], model(&[]).operands(sources_and_target(&[READS_TREE], &[WRITES]))),
    own(
        &["rsync"],
        model(&[]).flags(&[
            takes(&["--only-write-batch"], &[WRITES]),
            takes(&["--temp-dir", "-T"], &[MAKES]),
            takes(&["--config"], &[Does::Recipe]),
            takes(&["--dparam", "-M"], &[Does::Hides]),
        ]),
    ),
    // Git.
    own(&["git"], model(&["shell"]).flags(&[takes(&["-c"], &[SHELL])])),
    own(&["git"], model(&["web--browse"]).flags(&[takes(&["-c"], &[SHELL])])),
    own(
        &["git"],
        model(&["maintenance"]).subs(&[
            model(&["start", "register"]).always(&[mark(Mark::Schedules)]),
            model(&["run", "stop", "unregister"]),
        ]),
    ),
    own(&["git"], model(&["remote-ext"]).operands(leading(&[&[], &[SHELL]], &[]))),
    own(&["git"], model(&["am", "interpret-trailers", "mailinfo"]).operands(READ)),
    own(
        &["git"],
        model(&["bugreport", "diagnose", "mailsplit"])
            .flags(&[takes(&["--output-directory", "-o"], &[MAKES])]),
    ),
    own(&["git"], model(&["checkout-index"]).flags(&[takes(&["--prefix"], &[MAKES])])),
    own(
        &["git"],
        model(&["daemon"])
            .always(&[Does::ConnectsTo("0.0.0.0", Purpose::Listen)])
            .examples(&[("git daemon", &["listens 0.0.0.0:443", "marks tunnel"])]),
    ),
    // Clients.
    own(
        &["curl"],
        model(&[]).flags(&[takes(&["--write-out", "-w", "--url-query"], &[Does::AtFile])]),
    ),
    own(&["wget"], model(&[]).flags(&[takes(&["--rejected-log", "--hsts-file"], &[WRITES])])),
    own(&["sftp"], model(&[]).operands(leading(&[&[SENDS]], &[WRITES]))),
    own(
        &["perl"],
        model(&[])
            .flags(&[takes(&["-M"], &[Does::KeyedFile(Purpose::Fetch)]).value(Value::Joined)])
            .examples(&[("perl -Mlib=./a -e 1", &["reads a"]), ("perl -MPOSIX -e 1", &[])]),
    ),
    // Editors and pagers.
    own(
        &["emacs"],
        model(&[]).flags(&[takes(
            &["-f", "--funcall"],
            &[Does::MarksIf(&["shell", "term", "eshell", "ansi-term"], Mark::Privilege)],
        )]),
    ),
    own(&["nano"], model(&[]).flags(&[takes(&["-C", "--backupdir"], &[MAKES])])),
    own(&["code", "cursor", "codium"], model(&[]).flags(&[takes(&["--user-data-dir"], &[MAKES])])),
    own(
        &["code"],
        model(&["tunnel"])
            .always(&[
                mark(Mark::Tunnel),
                Does::ConnectsTo("tunnels.api.visualstudio.com", Purpose::Tunnel),
            ])
            .examples(&[(
                "code tunnel",
                &["tunnels tunnels.api.visualstudio.com:443", "marks tunnel"],
            )]),
    ),
    // Languages.
    own(
        &["php"],
        model(&[])
            .flags(&[
                takes(&["-z"], &[Does::Hides]),
                takes(&["--define", "-d"], &[Does::Assigns("php:", crate::effect::Reach::Command)]),
            ])
            .examples(&[
                ("php -d memory_limit=1G a.php", &["reads a.php", "sets php:memory_limit=1G"]),
                (
                    "php -d auto_prepend_file=./b a.php",
                    &["reads b", "reads a.php", "sets php:auto_prepend_file=./b"],
                ),
            ]),
    ),
    own(
        &["java", "javaw"],
        model(&[])
            .flags(&[
                joined(&["-Xbootclasspath/a:", "-Xbootclasspath/p:"], SCRIPT),
                joined(&["@"], &[READS, Does::Hides]),
                joined(&["-XX:HeapDumpPath", "-Xloggc:", "-XX:LogFile"], &[WRITES]),
                joined(&["-XX:Flags", "-XX:VMOptionsFile"], &[READS, Does::Hides]),
            ])
            .examples(&[("java -XX:HeapDumpPath=a A", &["writes a"])]),
    ),
    own(&["javac"], model(&[]).flags(&[joined(&["-J-javaagent:"], SCRIPT)])),
    own(
        &["jmap"],
        model(&[])
            .flags(&[joined(&["-dump:file=", "-dump:live,file="], &[WRITES, mark(Mark::Spies)])]),
    ),
    own(&["jcmd"], model(&[]).operands(leading(&[&[], &[], &[WRITES]], &[]))),
    own(&["R"], model(&["CMD"]).operands(leading(&[&[]], &[READS_TREE]))),
    own(
        &["elixir", "iex"],
        model(&[]).flags(&[
            takes(&["--rpc-eval"], &[Does::Code(Language::Other)]).value(Value::SecondOfTwo)
        ]),
    ),
    own(&["mix"], model(&["eval"]).operands(each(&[Does::Code(Language::Other)]))),
    own(&["mix"], model(&["cmd", "do cmd"]).style(Style::Posix).operands(RUNS)),
    own(&["mix"], model(&["new", "phx.new"]).operands(NEW_FOLDER)),
    own(&["lein"], model(&["exec"]).flags(&[takes(&["-e"], &[Does::Code(Language::Other)])])),
    own(&["sbt"], model(&[]).operands(each(&[Does::MarksIfContains(".!", Mark::Schedules)]))),
    own(&["deno"], model(&["task"]).flags(&[takes(&["--eval"], &[SHELL])])),
    own(
        &["node", "nodejs"],
        model(&[])
            .flags(&[
                takes(&["--env-file", "--env-file-if-exists"], &[LISTS]),
                takes(&["--openssl-config", "--experimental-config-file"], &[READS, Does::Hides]),
                switch(&["--cpu-prof", "--heap-prof"], &[]),
                takes(&["--run"], &[Does::Script(Language::Shell)]),
                takes(&["--redirect-warnings", "--cpu-prof-dir", "--heap-prof-dir"], &[WRITES]),
                takes(&["--report-directory", "--report-dir", "--diagnostic-dir"], &[MAKES]),
            ])
            .examples(&[
                ("node --cpu-prof-dir a b.js", &["writes a", "reads b.js"]),
                ("node --openssl-config a b.js", &["reads a", "reads b.js", "opaque language"]),
            ]),
    ),
    own(
        &["virtualenv"],
        model(&[]).operands(NEW_FOLDER).examples(&[("virtualenv a", &["makes a"])]),
    ),
    own(
        &["swift"],
        model(&["run", "build", "test"]).flags(&[takes(&["--package-path"], &[READS_TREE])]),
    ),
    // Builds.
    own(
        &["make", "gmake"],
        model(&[])
            .flags(&[
                joined(&["DESTDIR="], &[MAKES]),
                joined(
                    &["CFLAGS=", "CXXFLAGS=", "LDFLAGS=", "CPPFLAGS="],
                    &[Does::MarksIfContains("$(shell", Mark::Schedules)],
                ),
            ])
            .examples(&[("make DESTDIR=a install", &["makes a"])]),
    ),
    own(
        &["cmake", "cmake3"],
        model(&[])
            .flags(&[
                joined(
                    &[
                        "-DCMAKE_C_COMPILER",
                        "-DCMAKE_CXX_COMPILER",
                        "-DCMAKE_C_COMPILER_LAUNCHER",
                        "-DCMAKE_CXX_COMPILER_LAUNCHER",
                        "-DCMAKE_MAKE_PROGRAM",
                        "-DCMAKE_LINKER",
                        "-DCMAKE_CROSSCOMPILING_EMULATOR",
                        "-DCMAKE_CXX_CLANG_TIDY",
                        "-DCMAKE_C_CLANG_TIDY",
                    ],
                    &[PROGRAM],
                ),
                joined(
                    &[
                        "-DCMAKE_TOOLCHAIN_FILE",
                        "-DCMAKE_PROJECT_INCLUDE",
                        "-DCMAKE_PROJECT_INCLUDE_BEFORE",
                        "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES",
                        "-DCMAKE_USER_MAKE_RULES_OVERRIDE",
                    ],
                    SCRIPT,
                ),
                joined(&["-DCMAKE_MODULE_PATH", "-DCMAKE_PREFIX_PATH"], &[READS_TREE]),
                takes(&["--toolchain", "-C"], SCRIPT),
                takes(&["--prefix"], &[MAKES]),
                takes(&["--graphviz", "--trace-redirect"], &[WRITES]),
                switch(&["--find-package", "--trace"], &[]),
            ])
            .examples(&[
                ("cmake -DCMAKE_C_COMPILER=clang .", &["runs clang"]),
                ("cmake --toolchain a .", &["reads a"]),
                ("cmake --install b --prefix a", &["makes a"]),
            ]),
    ),
    own(&["ctest"], model(&[]).flags(&[takes(&["--test-dir"], &[READS_TREE])])),
    own(
        &["meson"],
        model(&["test"])
            .flags(&[takes(&["--wrapper", "--wrap"], &[SHELL])])
            .examples(&[("meson test --wrap='cat a'", &["runs cat a", "reads a"])]),
    ),
    own(&["meson"], model(&["devenv"]).style(Style::Posix).operands(RUNS)),
    own(&["just"], model(&[]).flags(&[takes(&["--chooser", "--shell"], &[PROGRAM])])),
    own(
        &["gcc", "cc", "g++", "c++", "clang", "clang++"],
        model(&[])
            .flags(&[
                joined(&["-fuse-ld"], &[Does::MarksIfContains("/", Mark::Schedules)]),
                joined(&["-fpass-plugin", "-fplugin"], SCRIPT),
                joined(&["-ld-path", "--ld-path"], &[PROGRAM]),
                takes(&["-dumpdir", "-dumpbase"], &[WRITES]),
                takes(&["-MJ", "-serialize-diagnostics", "--serialize-diagnostics"], &[WRITES]),
            ])
            .examples(&[("clang -MJ a b.c", &["writes a", "reads b.c"])]),
    ),
    own(&["ld", "lld", "mold", "gold"], model(&[]).flags(&[takes(&["-Map", "--Map"], &[WRITES])])),
    own(
        &["clang-tidy"],
        model(&[]).flags(&[
            joined(&["-load"], SCRIPT),
            takes(&["-export-fixes", "--export-fixes"], &[WRITES]),
        ]),
    ),
    own(
        &["rustc"],
        model(&[])
            .flags(&[
                joined(&["-Clinker"], &[PROGRAM]),
                takes(
                    &["-C", "--codegen"],
                    &[Does::Assigns("rustc:", crate::effect::Reach::Command)],
                ),
                takes(&["--emit"], &[Does::KeyedFile(Purpose::Send)]),
                takes(&["--explain", "--print", "--cap-lints", "--edition", "--target"], &[]),
            ])
            .examples(&[(
                "rustc -C linker=clang a.rs",
                &["runs clang", "reads a.rs", "sets rustc:linker=clang"],
            )]),
    ),
    own(&["pkg-config"], model(&[]).flags(&[takes(&["--with-path"], &[READS_TREE])])),
    own(
        &["perf"],
        model(&["report", "annotate", "script"]).flags(&[
            takes(&["--addr2line", "--objdump"], &[PROGRAM]),
            takes(&["-s", "--script"], SCRIPT),
            takes(&["--input", "-i"], &[READS]),
        ]),
    ),
    own(
        &["coverage"],
        model(&["run"])
            .flags(&[
                takes(&["--rcfile"], &[READS]),
                takes(&["--data-file"], &[WRITES]),
                takes(&["--source", "--include", "--omit", "-m"], &[]),
            ])
            .operands(leading(&[&[Does::Script(Language::Python)]], &[]))
            .examples(&[("coverage run a.py", &["reads a.py"])]),
    ),
    own(
        &["coverage"],
        model(&["html", "xml", "json", "lcov", "annotate"])
            .flags(&[takes(&["--directory", "-d", "-o"], &[WRITES])]),
    ),
    own(
        &["pytest", "py.test", "rspec", "mocha", "behave", "cucumber", "phpunit"],
        model(&[]).operands(READ),
    ),
    own(&["rspec"], model(&[]).flags(&[takes(&["--out", "-o"], &[WRITES])])),
    own(&["c8", "nyc"], model(&[]).flags(&[takes(&["--report-dir", "-o"], &[MAKES])])),
    own(&["cypress"], model(&["run", "open"]).flags(&[takes(&["--config-file"], &[Does::Recipe])])),
    own(
        &["black", "isort", "autoflake", "pyupgrade", "docformatter", "ssort"],
        model(&[])
            .flags(&[
                switch(&["--check", "--diff", "--check-only"], &[]).operands(each(&[READS_TREE])),
                takes(&["--code", "-c"], &[]),
            ])
            .operands(each(&[READS_TREE, WRITES]))
            .examples(&[
                ("black --check a", &["reads-tree a"]),
                ("black a", &["reads-tree a", "writes a"]),
            ]),
    ),
    own(&["pylint"], model(&[]).flags(&[takes(&["--init-hook"], &[Does::Code(Language::Python)])])),
    own(&["mypy"], model(&[]).flags(&[takes(&["--python-executable"], &[PROGRAM])])),
    own(&["sphinx-build"], model(&[]).operands(leading(&[&[], &[MAKES]], &[]))),
    own(
        &["cookiecutter"],
        model(&[])
            .flags(&[takes(&["--output-dir", "-o"], &[MAKES])])
            .operands(leading(&[&[Does::Repository(Purpose::Fetch)]], &[])),
    ),
    own(
        &["jupyter"],
        model(&["nbconvert"]).flags(&[takes(&["--output-dir", "--output"], &[WRITES])]),
    ),
    own(&["rackup", "puma"], model(&[]).operands(leading(&[&[Does::Script(Language::Ruby)]], &[]))),
    own(
        &["tox"],
        model(&[]).flags(&[takes(
            &["--override", "-x"],
            &[Does::MarksIfContains("commands", Mark::Schedules)],
        )]),
    ),
    own(&["turbo"], model(&[]).flags(&[takes(&["--cwd"], &[READS_TREE])])),
    own(
        &["pm2"],
        model(&[]).flags(&[takes(&["--log", "-l", "--output", "-o", "--error", "-e"], &[WRITES])]),
    ),
    own(&["forever"], model(&[]).flags(&[takes(&["-c"], &[PROGRAM])])),
    own(&["msbuild"], model(&[]).operands(each(SCRIPT))),
    own(&["rpmbuild"], model(&[]).flags(&[takes(&["--define", "-D"], &[Does::Hides])])),
    // Packages.
    own(
        &["cargo"],
        model(&["new", "init", "vendor"])
            .operands(NEW_FOLDER)
            .examples(&[("cargo new a", &["makes a"])]),
    ),
    own(
        &["cargo"],
        model(&["watch"])
            .flags(&[
                takes(&["-x", "--exec", "-w", "--watch", "-i", "--ignore"], &[]),
                takes(&["-s", "--shell"], &[SHELL]),
            ])
            .operands(RUNS)
            .examples(&[
                ("cargo watch -- cat a", &["runs cat a", "reads a"]),
                ("cargo watch -x test", &[]),
            ]),
    ),
    own(&["cargo"], model(&["flamegraph"]).operands(RUNS)),
    own(&["cargo"], model(&[]).flags(&[takes(&["-C"], &[FOLDER])])),
    own(
        &["rustup"],
        model(&["toolchain"])
            .subs(&[model(&["link"]).operands(leading(&[&[], &[READS_TREE, Does::Hides]], &[]))])
            .examples(&[
                ("rustup toolchain list", &[]),
                ("rustup toolchain link x a", &["reads-tree a", "opaque language"]),
            ]),
    ),
    own(&["rustup"], model(&["default", "override set"]).operands(each(&[Does::Extension]))),
    own(
        &["go"],
        model(&[])
            .flags(&[
                takes(&["-ldflags"], &[Does::MarksIfContains("-extld", Mark::Schedules)]),
                takes(&["-gccgoflags"], &[Does::Hides]),
                takes(&["-pkgdir"], &[MAKES]),
            ])
            .examples(&[("go build -ldflags '-s -w' .", &[])]),
    ),
    own(&["go"], model(&["generate", "vet", "tool"]).operands(READ)),
    own(&["go"], model(&["mod download"]).operands(each(&[Does::Package(Registry::Go)]))),
    own(
        &["gem"],
        model(&[]).flags(&[
            takes(&["--install-dir", "-i", "--bindir", "-n", "--target"], &[MAKES]),
            takes(&["--config-file"], &[Does::Recipe]),
            takes(&["--file", "-g"], &[Does::Script(Language::Ruby)]),
        ]),
    ),
    own(
        &["gem"],
        model(&["build", "specification", "spec"])
            .operands(leading(&[&[Does::Script(Language::Ruby)]], &[]))
            .examples(&[("gem build a.gemspec", &["reads a.gemspec"])]),
    ),
    own(
        &["gem"],
        model(&["exec"]).operands(leading(&[&[Does::Package(Registry::Gem), COMMAND]], &[])),
    ),
    own(&["bundle"], model(&["install"]).flags(&[takes(&["--path"], &[MAKES])])),
    own(
        &["rails"],
        model(&["new"]).operands(NEW_FOLDER).flags(&[takes(&["--template", "-m"], SCRIPT)]),
    ),
    own(&["composer"], model(&["create-project"]).operands(leading(&[&[], &[MAKES]], &[]))),
    own(
        &["dotnet"],
        model(&["build", "test", "msbuild", "publish", "pack", "restore"])
            .operands(BUILDS)
            .flags(&[takes(&["--results-directory"], &[MAKES])])
            .examples(&[("dotnet test a", &["reads-tree a"])]),
    ),
    own(&["dotnet"], model(&["script"]).operands(OTHER_SCRIPT)),
    own(&["dotnet"], model(&[]).operands(OTHER_SCRIPT)),
    own(&["dart"], model(&["run"]).operands(OTHER_SCRIPT)),
    own(&["dart"], model(&["format"]).operands(each(&[READS, WRITES]))),
    own(
        &["dart"],
        model(&[]).flags(&[takes(&["--output", "-o"], &[WRITES])]).operands(OTHER_SCRIPT),
    ),
    own(&["flutter"], model(&["create"]).operands(NEW_FOLDER)),
    own(&["zig"], model(&["run"]).operands(OTHER_SCRIPT)),
    own(
        &["zig"],
        model(&[])
            .flags(&[joined(&["-femit-bin"], &[WRITES]), takes(&["--prefix", "-p"], &[MAKES])]),
    ),
    own(&["stack"], model(&["runghc", "script", "runhaskell"]).operands(OTHER_SCRIPT)),
    own(
        &["nix", "nix-build", "nix-env"],
        model(&[]).flags(&[takes(&["--out-link", "-o"], &[WRITES]), takes(&["--to"], &[SENDS])]),
    ),
    own(
        &["brew"],
        model(&["ruby", "irb"])
            .flags(&[takes(&["-e"], &[Does::Code(Language::Ruby)])])
            .operands(leading(&[&[Does::Script(Language::Ruby)]], &[]))
            .examples(&[("brew ruby -e 'system(\"cat a\")'", &["runs cat a", "reads a"])]),
    ),
    own(&["brew"], model(&["sh"]).flags(&[takes(&["-c"], &[SHELL])])),
    own(
        &["brew"],
        model(&["bundle"]).flags(&[takes(&["--file"], &[Does::Recipe])]).subs(&[
            model(&["exec"]).style(Style::Posix).operands(RUNS),
            model(&["install", "dump", "list", "check", "cleanup"]),
        ]),
    ),
    own(&["snap"], model(&["try"]).operands(BUILDS)),
    own(&["snap"], model(&["run"]).flags(&[takes(&["-c"], &[SHELL])])),
    own(&["flatpak"], model(&["enter", "build"]).style(Style::Posix).operands(RUNS_SECOND)),
    own(&["corepack"], model(&["use", "install"]).operands(each(&[Does::Extension]))),
    own(&["volta"], model(&["exec", "run"]).style(Style::Posix).operands(RUNS)),
    own(
        &["npm", "pnpm", "yarn", "npx"],
        model(&[])
            .flags(&[
                takes(
                    &[
                        "--viewer",
                        "--editor",
                        "--git",
                        "--browser",
                        "--script-shell",
                        "--config.script-shell",
                        "--shell",
                    ],
                    &[PROGRAM],
                ),
                takes(
                    &["--node-options", "--node-arg"],
                    &[
                        Does::MarksIfContains("require", Mark::Schedules),
                        Does::MarksIfContains("-r ", Mark::Schedules),
                        Does::MarksIfContains("import", Mark::Schedules),
                    ],
                ),
                takes(
                    &[
                        "--cache",
                        "--cache-folder",
                        "--logs-dir",
                        "--store-dir",
                        "--modules-dir",
                        "--modules-folder",
                        "--virtual-store-dir",
                    ],
                    &[MAKES],
                ),
            ])
            .examples(&[("npm --viewer cat help x", &["runs cat"])]),
    ),
    own(&["npm"], model(&["set-script"]).operands(leading(&[&[], &[SHELL]], &[]))),
    own(&["npm"], model(&["link", "init"]).operands(each(&[Does::Package(Registry::Npm)]))),
    own(&["yarn"], model(&["plugin import"]).operands(each(&[Does::Script(Language::JavaScript)]))),
    own(
        &["yarn"],
        model(&["plugin"]).subs(&[
            model(&["import"]).operands(each(&[Does::Extension])),
            model(&["list", "runtime", "remove"]),
        ]),
    ),
    own(&["poetry", "pdm", "hatch"], model(&["new", "init"]).operands(NEW_FOLDER)),
    own(&["poetry"], model(&["export", "build"]).flags(&[takes(&["--output", "-o"], &[WRITES])])),
    own(
        &["poetry"],
        model(&["self"]).subs(&[
            model(&["add"]).operands(each(&[Does::Package(Registry::Pip)])),
            model(&["show", "update", "lock"]),
        ]),
    ),
    own(
        &["uv"],
        model(&["venv", "init"]).operands(NEW_FOLDER).examples(&[("uv venv a", &["makes a"])]),
    ),
    own(
        &["uv"],
        model(&["build", "export", "pip compile"])
            .flags(&[takes(&["--out-dir", "--output-file", "-o"], &[WRITES])]),
    ),
    own(&["uv"], model(&["build"]).operands(BUILDS)),
    own(
        &["uv"],
        model(&[]).flags(&[
            takes(&["--config-file"], &[Does::Recipe]),
            takes(&["--with-editable"], &[READS_TREE]),
        ]),
    ),
    own(
        &["pip", "pip3"],
        model(&[]).flags(&[takes(&["--cache-dir", "--log", "--report"], &[WRITES])]),
    ),
    own(
        &["conda", "mamba"],
        model(&["create", "env remove", "env create", "install", "remove"])
            .flags(&[takes(&["--prefix", "-p"], &[MAKES])]),
    ),
    own(&["conda", "mamba"], model(&["env export"]).flags(&[takes(&["--file", "-f"], &[WRITES])])),
    own(
        &["mvn", "mvnw"],
        model(&[]).flags(&[
            takes(&["--log-file", "-l"], &[WRITES]),
            joined(&["-Dmaven.repo.local", "-DoutputDirectory"], &[MAKES]),
        ]),
    ),
    own(
        &["gradle", "gradlew"],
        model(&[]).flags(&[
            takes(&["--project-cache-dir", "--gradle-user-home", "-g"], &[MAKES]),
            joined(&["-Dorg.gradle.jvmargs"], &[Does::MarksIfContains("agent", Mark::Schedules)]),
        ]),
    ),
    own(
        &["apt-get", "apt", "aptitude"],
        model(&["changelog"]).flags(&[takes(
            &["-o", "--option"],
            &[Does::Assigns("apt:", crate::effect::Reach::Command)],
        )]),
    ),
    own(&["apt-key"], model(&["add"]).operands(READ)),
    own(&["emerge"], model(&[]).flags(&[takes(&["--config-root"], &[READS_TREE, Does::Hides])])),
    // Containers.
    own(
        &["docker", "podman", "nerdctl", "buildah"],
        model(&[]).flags(&[
            takes(&["--iidfile", "--metadata-file", "--cidfile"], &[WRITES]),
            takes(&["--hooks-dir"], &[READS_TREE, Does::Hides]),
        ]),
    ),
    own(
        &["docker", "podman", "nerdctl", "buildah"],
        model(&["build", "buildx build", "image build", "bud"])
            .flags(&[
                takes(&["--secret", "--ssh", "--cache-from"], &[Does::KeyedFile(Purpose::Fetch)]),
                takes(&["--output", "-o", "--cache-to"], &[Does::KeyedFile(Purpose::Send)]),
            ])
            .examples(&[
                ("docker build --secret id=x,src=b ./a", &["reads b", "reads-tree a"]),
                ("docker build -o type=local,dest=b ./a", &["writes b", "reads-tree a"]),
                ("docker build --secret id=x,env=T ./a", &["reads-tree a"]),
            ]),
    ),
    own(
        &["docker", "podman"],
        model(&["import", "load", "image import"])
            .operands(leading(&[&[READS]], &[]))
            .flags(&[takes(&["--input", "-i"], &[READS])]),
    ),
    own(
        &["docker", "podman"],
        model(&["secret create", "config create"]).operands(leading(&[&[], &[READS]], &[])),
    ),
    own(
        &["docker", "podman"],
        model(&["secret", "config"]).subs(&[
            model(&["create"]).operands(leading(&[&[], &[READS]], &[])),
            model(&["ls", "inspect", "rm"]),
        ]),
    ),
    own(&["docker"], model(&["sbom"]).flags(&[takes(&["--output", "-o"], &[WRITES])])),
    own(
        &["docker"],
        model(&["context"]).subs(&[
            model(&["create"]).flags(&[takes(&["--docker"], &[Does::KeyedHost])]),
            model(&["ls", "use", "show", "rm", "inspect", "export", "import", "update"]),
        ]),
    ),
    own(
        &["podman"],
        model(&["generate", "kube generate"]).flags(&[takes(&["--filename", "-f"], &[WRITES])]),
    ),
    own(
        &["podman"],
        model(&["play", "kube"]).subs(&[model(&["kube", "play"]).operands(each(&[Does::Recipe]))]),
    ),
    own(&["skopeo"], model(&["copy", "sync"]).operands(leading(&[&[FETCHES]], &[]))),
    own(&["ctr"], model(&["run"]).always(&[Does::StartsShell])),
    own(
        &["ctr"],
        model(&["tasks", "task", "t"]).subs(&[
            model(&["exec"])
                .flags(&[takes(&["--exec-id"], &[]), switch(&["-t"], &[])])
                .operands(RUNS_SECOND),
            model(&["ls", "kill", "rm"]),
        ]),
    ),
    own(
        &["kubectl"],
        model(&[])
            .flags(&[takes(&["--server", "-s"], &[FETCHES]), takes(&["--cache-dir"], &[MAKES])]),
    ),
    own(
        &["kubectl"],
        model(&["delete"]).flags(&[takes(
            &["--filename", "-f", "--kustomize", "-k"],
            &[Does::Reads(Access::Content)],
        )]),
    ),
    own(&["kubectl"], model(&["create"]).flags(&[takes(&["--cert", "--key"], &[READS])])),
    own(
        &["kubectl"],
        model(&["config"])
            .flags(&[
                takes(&["--server"], &[FETCHES]),
                takes(&["--exec-command"], &[SHELL]),
                takes(&["--kubeconfig"], &[READS, WRITES]),
            ])
            .operands(each(&[])),
    ),
    own(&["kubectl"], model(&["kustomize"]).operands(each(&[READS_TREE]))),
    own(
        &["kubectl"],
        model(&["proxy", "port-forward"])
            .flags(&[takes(&["--www"], &[READS_TREE])])
            .examples(&[("kubectl proxy --www a", &["reads-tree a"])]),
    ),
    own(
        &["helm"],
        model(&["pull", "package", "fetch"]).flags(&[takes(&["--destination", "-d"], &[MAKES])]),
    ),
    own(&["helm"], model(&["create"]).operands(NEW_FOLDER)),
    own(&["helm"], model(&["push"]).operands(leading(&[&[READS], &[SENDS]], &[]))),
    own(&["helm"], model(&["registry login"]).operands(each(&[FETCHES]))),
    own(
        &["helm"],
        model(&["registry"]).subs(&[model(&["login", "logout"]).operands(each(&[FETCHES]))]),
    ),
    own(
        &["systemd-nspawn"],
        model(&[]).style(Style::Posix).operands(RUNS).always(&[Does::StartsShell]),
    ),
    // Infrastructure.
    own(
        &["terraform", "tofu"],
        model(&["show", "apply", "fmt"])
            .flags(&[
                takes(&["-state-out", "-backup", "-generate-config-out", "-out"], &[WRITES]),
                takes(&["-var", "-target", "-replace", "-parallelism", "-lock-timeout"], &[]),
            ])
            .operands(READ),
    ),
    own(
        &["terraform", "tofu"],
        model(&["fmt"]).operands(each(&[READS, WRITES])).flags(&[switch(
            &["-check", "-diff"],
            &[],
        )
        .operands(READ)]),
    ),
    own(&["terraform", "tofu"], model(&["state"]).subs(&[model(&["push"]).operands(READ)])),
    own(
        &["terraform", "tofu"],
        model(&["providers"])
            .subs(&[model(&["mirror"]).operands(NEW_FOLDER), model(&["schema", "lock"])]),
    ),
    own(
        &["terraform", "tofu"],
        model(&["plan"]).flags(&[takes(&["-generate-config-out"], &[WRITES])]),
    ),
    own(&["pulumi"], model(&["stack"]).flags(&[takes(&["--file"], &[WRITES])])),
    own(
        &["vault"],
        model(&[]).flags(&[
            takes(&["-address"], &[FETCHES]),
            takes(&["-config"], &[Does::Recipe]),
            takes(&["-exec"], &[SHELL]),
        ]),
    ),
    own(&["vault"], model(&["kv put", "write"]).operands(each(&[Does::FieldFile]))),
    own(&["consul"], model(&["exec"]).operands(leading(&[&[SHELL]], &[]))),
    own(&["consul"], model(&["lock"]).operands(leading(&[&[], &[SHELL]], &[]))),
    own(&["consul"], model(&["watch"]).operands(leading(&[&[SHELL]], &[]))),
    own(
        &["consul"],
        model(&["kv"]).subs(&[
            model(&["put"]).operands(leading(&[&[], &[Does::AtFile]], &[])),
            model(&["get", "export", "import"]),
        ]),
    ),
    own(
        &["consul-template", "envconsul"],
        model(&[]).flags(&[takes(&["-exec"], &[SHELL]), takes(&["-config"], &[Does::Recipe])]),
    ),
    own(&["nomad"], model(&[]).flags(&[takes(&["-address"], &[FETCHES])])),
    own(
        &["nomad"],
        model(&["job"]).subs(&[
            model(&["run", "plan", "validate"]).operands(each(&[Does::Recipe])),
            model(&["status", "history", "inspect"]),
        ]),
    ),
    own(
        &["nomad"],
        model(&["alloc"]).subs(&[
            model(&["exec"]).style(Style::Posix).operands(RUNS_SECOND),
            model(&["status", "logs", "fs"]),
        ]),
    ),
    own(
        &["ansible-playbook", "ansible"],
        model(&[]).flags(&[
            takes(
                &["--extra-vars", "-e"],
                &[Does::AtFile, Does::MarksIfContains("interpreter", Mark::Schedules)],
            ),
            takes(
                &["--ssh-common-args", "--ssh-extra-args", "--sftp-extra-args", "--scp-extra-args"],
                &[Does::MarksIfContains("Command", Mark::Schedules)],
            ),
        ]),
    ),
    own(
        &["aws"],
        model(&["configure"]).subs(&[
            model(&["set"]).operands(leading(
                &[&[Does::MarksIfContains("credential_process", Mark::Schedules)]],
                &[],
            )),
            model(&["get", "list", "list-profiles", "sso", "import"]),
        ]),
    ),
    own(
        &["aws"],
        model(&["s3api"])
            .subs(&[model(&["get-object"])
                .flags(&[takes(&["--bucket", "--key", "--version-id", "--range"], &[])])
                .operands(WRITE)])
            .examples(&[("aws s3api get-object --bucket b --key k a", &["writes a"])]),
    ),
    own(
        &["aws"],
        model(&["lambda"]).subs(&[model(&["invoke"])
            .flags(&[takes(
                &[
                    "--function-name",
                    "--payload",
                    "--cli-binary-format",
                    "--invocation-type",
                    "--log-type",
                ],
                &[],
            )])
            .operands(WRITE)]),
    ),
    own(
        &["gcloud"],
        model(&["builds"]).subs(&[
            model(&["submit"]).operands(each(&[READS_TREE])),
            model(&["list", "log", "describe", "triggers"]),
        ]),
    ),
    own(
        &["gcloud"],
        model(&[]).flags(&[
            takes(&["--metadata-from-file"], &[Does::KeyedFile(Purpose::Fetch)]),
            takes(&["--ssh-flag"], &[Does::MarksIfContains("Command", Mark::Schedules)]),
        ]),
    ),
    own(
        &["gh", "glab"],
        model(&["alias"]).subs(&[
            model(&["set"])
                .flags(&[switch(&["--shell", "-s"], &[])
                    .operands(leading(&[&[], &[mark(Mark::Schedules), SHELL]], &[]))])
                .operands(leading(&[&[], &[Does::MarksIfContains("!", Mark::Schedules)]], &[])),
            model(&["list", "delete", "import"]),
        ]),
    ),
    own(
        &["gh", "glab"],
        model(&["config"]).subs(&[
            model(&["set"]).operands(leading(
                &[&[Does::MarksIf(&["editor", "pager", "browser"], Mark::Schedules)]],
                &[],
            )),
            model(&["get", "list", "clear-cache"]),
        ]),
    ),
    own(&["gh"], model(&["api", "auth login"]).flags(&[takes(&["--hostname"], &[FETCHES])])),
    own(&["gh"], model(&["gist clone"]).operands(leading(&[&[], &[MAKES]], &[]))),
    own(&["vercel", "netlify", "wrangler", "firebase"], model(&["deploy"]).operands(BUILDS)),
    own(
        &["vercel", "wrangler", "serverless", "sls"],
        model(&[]).flags(&[takes(&["--local-config", "--config", "-c"], &[Does::Recipe])]),
    ),
    own(&["firebase"], model(&["emulators:exec"]).operands(leading(&[&[SHELL]], &[]))),
    own(
        &["cdk"],
        model(&[])
            .flags(&[takes(&["--app", "-a"], &[SHELL]), takes(&["--output", "-o"], &[MAKES])]),
    ),
    own(&["eb"], model(&["ssh"]).flags(&[takes(&["--command", "-c"], &[Does::RemoteShell])])),
    own(&["heroku"], model(&["ps:exec"]).operands(leading(&[&[Does::RemoteShell]], &[]))),
    own(
        &["copilot"],
        model(&["svc", "task"])
            .subs(&[model(&["exec"]).flags(&[takes(&["--command", "-c"], &[Does::RemoteShell])])]),
    ),
    // Databases.
    own(
        &["mysql", "mariadb"],
        model(&[]).flags(&[
            takes(&["--plugin-dir"], &[READS_TREE, Does::Hides]),
            takes(&["--default-auth"], &[Does::Extension]),
        ]),
    ),
    own(
        &["mysqldump", "mariadb-dump"],
        model(&[]).flags(&[takes(&["--log-error", "--tab", "-T"], &[WRITES])]),
    ),
    own(
        &["mongosh", "mongo"],
        model(&[]).flags(&[takes(&["--file", "-f"], &[Does::Script(Language::Mongo)])]),
    ),
    own(&["redis-server"], model(&[]).operands(leading(&[&[Does::Recipe]], &[]))),
    own(&["redis-cli"], model(&[]).flags(&[takes(&["--cluster"], &[])])),
    own(&["sqlplus"], model(&[]).flags(&[joined(&["@"], &[READS, Does::Hides])])),
    own(
        &["pg_restore"],
        model(&[]).flags(&[
            takes(&["--file", "-f"], &[WRITES]),
            takes(&["--dbname", "-d"], &[Does::KeyedHost]),
        ]),
    ),
    own(
        &["pg_dump", "pg_dumpall"],
        model(&[]).flags(&[takes(&["--dbname", "-d"], &[Does::KeyedHost])]),
    ),
    own(
        &["pg_isready", "createdb", "dropdb", "vacuumdb", "createuser"],
        model(&[]).flags(&[takes(&["--host", "-h"], &[FETCHES])]),
    ),
    own(&["initdb"], model(&[]).flags(&[takes(&["--pgdata", "-D"], &[MAKES])])),
    own(
        &["mongodump", "mongoexport"],
        model(&[]).flags(&[
            takes(&["--archive", "--out", "-o"], &[WRITES]),
            takes(&["--uri"], &[FETCHES]),
        ]),
    ),
    own(
        &["mongorestore", "mongoimport"],
        model(&[]).flags(&[takes(&["--archive"], &[READS]), takes(&["--uri"], &[SENDS])]),
    ),
    own(&["cqlsh"], model(&[]).operands(leading(&[&[FETCHES]], &[]))),
    own(&["influx"], model(&[]).flags(&[takes(&["-path", "-p"], &[READS])])),
    own(
        &["kafka-console-producer"],
        model(&[]).flags(&[
            takes(&["--producer.config"], &[READS]),
            takes(&["--bootstrap-server", "--broker-list"], &[SENDS]),
        ]),
    ),
    own(
        &["django-admin"],
        model(&["startproject", "startapp"]).operands(leading(&[&[], &[MAKES]], &[])),
    ),
    // System.
    own(&["systemctl"], model(&["link", "enable"]).operands(each(&[Does::Extension]))),
    own(
        &["insmod", "kexec", "iptables-restore"],
        model(&[]).operands(READ).flags(&[takes(&["--load", "-l"], &[READS])]),
    ),
    own(&["iptables", "ip6tables"], model(&[]).flags(&[takes(&["--modprobe"], &[PROGRAM])])),
    own(
        &["iptables-save", "ip6tables-save"],
        model(&[]).flags(&[takes(&["--file", "-f"], &[WRITES])]),
    ),
    own(&["nft"], model(&[]).flags(&[takes(&["--file", "-f"], &[READS])])),
    own(
        &["haproxy", "supervisord", "supervisorctl", "monit"],
        model(&[]).flags(&[takes(&["-c", "-f", "--configuration"], &[Does::Recipe])]),
    ),
    own(&["caddy"], model(&[]).flags(&[takes(&["--config"], &[Does::Recipe])])),
    own(
        &["ip"],
        model(&["vrf"]).subs(&[
            model(&["exec"]).style(Style::Posix).operands(RUNS_SECOND),
            model(&["show", "identify", "pids"]),
        ]),
    ),
    own(&["newgrp"], model(&[]).always(&[Does::StartsShell])),
    own(
        &["update-alternatives", "alternatives"],
        model(&[]).flags(&[
            switch(&["--install"], &[]).operands(leading(&[&[WRITES], &[], &[READS]], &[]))
        ]),
    ),
    own(
        &["ldconfig"],
        model(&[]).flags(&[takes(&["-f"], &[READS, Does::Hides]), takes(&["-C"], &[WRITES])]),
    ),
    own(
        &["chroot", "nsenter", "unshare", "capsh", "arch-chroot"],
        model(&[])
            .always(&[Does::StartsShell])
            .examples(&[("chroot a", &["runs sh"]), ("unshare -r", &["runs sh"])]),
    ),
    own(
        &["script", "scriptlive"],
        model(&[])
            .always(&[Does::StartsShell])
            .examples(&[("script -q a", &["writes a", "runs sh"])]),
    ),
    own(
        &["screen", "tmux", "byobu"],
        model(&[])
            .bare(&[Does::StartsShell])
            .examples(&[("tmux -S x", &["runs sh"]), ("screen -ls", &[])]),
    ),
    own(
        &["tmux", "byobu"],
        model(&["new", "new-session", "neww", "new-window", "splitw", "split-window"])
            .bare(&[Does::StartsShell]),
    ),
    own(
        &["tmux", "byobu"],
        model(&["set", "set-option", "command-prompt"]).flags(&[takes(&["-t"], &[])]).operands(
            leading(
                &[&[
                    Does::MarksIf(&["default-command", "default-shell"], Mark::Schedules),
                    Does::MarksIfContains("run", Mark::Schedules),
                ]],
                &[],
            ),
        ),
    ),
    own(
        &["sash", "posh", "rc", "ksshell", "tclsh"],
        model(&[]).bare(&[Does::StartsShell]).examples(&[("posh", &["runs sh"])]),
    ),
    own(&["sg"], model(&[]).always(&[Does::StartsShell]).examples(&[("sg x", &["runs sh"])])),
    own(
        &["sg"],
        model(&["run", "scan", "test", "new", "lsp", "completions"])
            .flags(&[switch(&["--version"], &[])]),
    ),
    own(
        &["systemd-run"],
        model(&[])
            .flags(&[switch(&["--shell", "-S"], &[mark(Mark::Privilege), Does::StartsShell])])
            .examples(&[("systemd-run -S", &["runs sh", "marks privilege"])]),
    ),
    own(&["gosu", "su-exec"], model(&[]).style(Style::Posix).operands(RUNS_SECOND)),
    own(
        &["bwrap"],
        model(&[])
            .style(Style::Posix)
            .flags(&[
                takes(
                    &[
                        "--bind",
                        "--ro-bind",
                        "--dev-bind",
                        "--symlink",
                        "--setenv",
                        "--bind-try",
                        "--ro-bind-try",
                    ],
                    &[],
                )
                .value(Value::FirstOfTwo),
                takes(
                    &[
                        "--dev",
                        "--proc",
                        "--tmpfs",
                        "--chdir",
                        "--uid",
                        "--gid",
                        "--hostname",
                        "--unsetenv",
                    ],
                    &[],
                ),
            ])
            .examples(&[("bwrap --bind / / cat a", &["runs cat a", "reads a"])]),
    ),
    own(
        &["dtach", "abduco"],
        model(&[])
            .style(Style::Posix)
            .flags(&[takes(&["-A", "-c", "-n", "-N"], &[]).operands(RUNS)]),
    ),
    own(
        &["busybox", "toybox"],
        model(&["httpd"])
            .style(Style::Gnu)
            .flags(&[takes(&["-h"], &[READS_TREE]), takes(&["-p", "-b", "-r", "-c"], &[])])
            .always(&[Does::ConnectsTo("0.0.0.0", Purpose::Listen)])
            .examples(&[("busybox httpd -h a", &["reads-tree a", "listens 0.0.0.0:443"])]),
    ),
    own(
        &["busybox", "toybox"],
        model(&["ftpd", "tftpd", "telnetd", "udpsvd", "tcpsvd"])
            .style(Style::Gnu)
            .flags(&[takes(&["-l"], &[PROGRAM]), takes(&["-p", "-b", "-r", "-c"], &[])])
            .always(&[Does::ConnectsTo("0.0.0.0", Purpose::Listen), mark(Mark::Tunnel)]),
    ),
    own(
        &["busybox", "toybox"],
        model(&["ftpget"]).operands(leading(&[&[FETCHES], &[WRITES]], &[])),
    ),
    own(
        &["busybox", "toybox"],
        model(&["ftpput"]).operands(leading(&[&[SENDS], &[], &[READS]], &[])),
    ),
    own(&["bpftrace"], model(&[]).flags(&[takes(&["-c"], &[SHELL])])),
    own(
        &["gpg-agent"],
        model(&[]).flags(&[
            switch(&["--daemon"], &[]).operands(RUNS),
            takes(&["--pinentry-program"], &[PROGRAM]),
        ]),
    ),
    own(
        &["gpg", "gpg2"],
        model(&[]).flags(&[
            takes(
                &[
                    "--photo-viewer",
                    "--pinentry-program",
                    "--agent-program",
                    "--dirmngr-program",
                    "--gpg-agent",
                ],
                &[PROGRAM],
            ),
            takes(&["--exec-path", "--homedir"], &[LISTS]),
            takes(&["--log-file", "--status-file", "--logger-file"], &[WRITES]),
            takes(&["--recipient-file", "-f", "--hidden-recipient-file"], &[READS]),
        ]),
    ),
    own(&["openssl"], model(&["engine"]).flags(&[takes(&["-pre", "-post"], &[Does::Hides])])),
    own(&["ssh-agent"], model(&[]).flags(&[takes(&["-a"], &[WRITES])])),
    own(
        &["ssh-keygen"],
        model(&[])
            .flags(&[takes(&["-R"], &[Does::WritesFile("~/.ssh/known_hosts", Change::Content)])]),
    ),
    // Texts, images, sounds.
    own(
        &["mlr"],
        model(&["put", "filter"]).operands(leading(&[&[Does::Code(Language::Awk)]], &[READS])),
    ),
    own(&["mlr"], model(&["tee", "split"]).operands(leading(&[&[WRITES]], &[READS]))),
    own(&["gron", "fx"], model(&[]).operands(READ)),
    own(
        &["xmlstarlet"],
        model(&["ed"]).flags(&[
            switch(&["-L", "--inplace"], &[]).operands(each(&[READS, WRITES])),
            takes(&["-d", "-u", "-v", "-i", "-a", "-s", "-r", "-t", "-n"], &[]),
        ]),
    ),
    own(&["pandoc"], model(&[]).flags(&[takes(&["--extract-media", "--log"], &[WRITES])])),
    own(
        &["pdflatex", "xelatex", "lualatex", "latexmk"],
        model(&[]).flags(&[takes(&["-output-directory"], &[MAKES])]),
    ),
    own(
        &["mogrify"],
        model(&[])
            .flags(&[takes(&["-path"], &[MAKES]), takes(&["-format"], &[])])
            .operands(each(&[READS, WRITES])),
    ),
    own(
        &["convert", "magick", "montage", "composite"],
        model(&[]).flags(&[
            takes(&["-write"], &[WRITES]),
            takes(
                &[
                    "-define",
                    "-geometry",
                    "-background",
                    "-fill",
                    "-pointsize",
                    "-gravity",
                    "-annotate",
                    "-font",
                    "-crop",
                    "-rotate",
                    "-strip",
                    "-depth",
                    "-type",
                    "-colorspace",
                    "-alpha",
                    "-border",
                    "-bordercolor",
                    "-delay",
                    "-loop",
                    "-tile",
                ],
                &[],
            ),
        ]),
    ),
    own(
        &["gs"],
        model(&[])
            .flags(&[
                joined(&["-sOutputFile"], &[WRITES]),
                takes(&["-o"], &[WRITES]),
                takes(
                    &["-c"],
                    &[
                        Does::Code(Language::Other),
                        Does::MarksIfContains("%pipe%", Mark::Schedules),
                    ],
                ),
            ])
            .operands(READ),
    ),
    own(
        &["inkscape", "soffice", "libreoffice"],
        model(&[])
            .flags(&[takes(&["--export-filename", "-o", "--outdir"], &[WRITES])])
            .operands(READ),
    ),
    own(
        &["yt-dlp", "youtube-dl"],
        model(&[]).flags(&[
            takes(&["--netrc-cmd", "--exec", "--exec-before-download"], &[SHELL]),
            takes(&["--cookies"], &[READS, WRITES]),
        ]),
    ),
    own(&["latexmk"], model(&[]).flags(&[takes(&["-e"], &[Does::Code(Language::Perl)])])),
    own(
        &["rake"],
        model(&[]).flags(&[takes(
            &["--execute-print", "-p", "--execute-continue", "-E"],
            &[Does::Code(Language::Ruby)],
        )]),
    ),
    own(&["cobc"], model(&[]).flags(&[switch(&["-j"], &[]).operands(each(SCRIPT))])),
    // Networks.
    own(
        &["ab"],
        model(&[]).flags(&[takes(&["-g", "-e"], &[WRITES]), takes(&["-p", "-u"], &[READS])]),
    ),
    own(
        &["vegeta"],
        model(&[]).flags(&[
            takes(&["--targets", "-targets", "-body", "--body"], &[READS]),
            takes(&["-output", "--output"], &[WRITES]),
        ]),
    ),
    own(
        &["k6"],
        model(&["run"])
            .flags(&[
                takes(&["--out", "-o"], &[Does::KeyedFile(Purpose::Send)]),
                takes(&["--summary-export"], &[WRITES]),
            ])
            .operands(leading(&[&[Does::Script(Language::JavaScript)]], &[])),
    ),
    own(&["msmtp"], model(&[]).flags(&[takes(&["--host"], &[SENDS])])),
    own(
        &["mail", "mailx", "s-nail"],
        model(&[]).flags(&[takes(
            &["-S"],
            &[Does::KeyedHost, Does::MarksIfContains("sendmail=", Mark::Schedules)],
        )]),
    ),
    own(&["sendmail", "exim"], model(&[]).flags(&[switch(&["-be"], &[Does::Hides])])),
    own(
        &["mutt", "neomutt"],
        model(&[]).flags(&[takes(
            &["-e"],
            &[
                Does::MarksIfContains("!", Mark::Schedules),
                Does::MarksIfContains("source", Mark::Schedules),
                Does::Hides,
            ],
        )]),
    ),
    own(&["nc", "ncat", "netcat"], model(&[]).flags(&[takes(&["--proxy", "-x"], &[SENDS])])),
    own(&["nslookup"], model(&[]).operands(each(&[FETCHES]))),
    own(&["nmap"], model(&[]).flags(&[switch(&["--interactive"], &[Does::StartsShell])])),
    own(&["tshark", "wireshark"], model(&[]).flags(&[takes(&["-X"], &[Does::Hides])])),
    own(&["openvpn"], model(&[]).flags(&[takes(&["--remote"], &[SENDS])])),
    own(
        &["websocat"],
        model(&[]).operands(each(&[
            SENDS,
            Does::MarksIfContains("cmd:", Mark::Tunnel),
            Does::MarksIfContains("exec:", Mark::Tunnel),
        ])),
    ),
    own(&["rclone"], model(&[]).flags(&[takes(&["--metadata-mapper", "--auth-proxy"], &[SHELL])])),
    own(&["rclone"], model(&["mount", "purge", "delete"]).operands(leading(&[&[], &[MAKES]], &[]))),
    own(
        &["tailscale"],
        model(&["serve", "funnel"])
            .always(&[mark(Mark::Tunnel), Does::ConnectsTo("0.0.0.0", Purpose::Listen)])
            .operands(READ),
    ),
    own(&["ntpdate"], model(&[]).operands(each(&[FETCHES]))),
    own(&["sops"], model(&["exec-env", "exec-file"]).operands(leading(&[&[READS], &[SHELL]], &[]))),
    own(
        &["pass"],
        model(&["git"])
            .flags(&[takes(&["-c"], &[Does::Assigns("git:", crate::effect::Reach::Command)])]),
    ),
    own(
        &["dlv"],
        model(&["exec", "test", "core", "replay"])
            .operands(leading(&[SCRIPT], &[]))
            .flags(&[takes(&["--init"], SCRIPT)]),
    ),
    own(
        &["dlv"],
        model(&["debug", "attach", "connect", "trace", "dap"]).flags(&[takes(&["--init"], SCRIPT)]),
    ),
    own(&["ftp", "smbget"], model(&[]).flags(&[takes(&["-o"], &[WRITES])])),
    own(
        &["radare2", "r2"],
        model(&[]).flags(&[
            takes(&["-c"], &[Does::MarksIfContains("!", Mark::Schedules)]),
            takes(&["-i"], SCRIPT),
        ]),
    ),
    own(&["xmodmap"], model(&[]).operands(READ)),
    own(&["nvm"], model(&["exec", "run"]).style(Style::Posix).operands(RUNS_SECOND)),
    own(
        &["az"],
        model(&[
            "storage blob download",
            "storage blob download-batch",
            "storage file download",
            "keyvault secret download",
            "keyvault secret backup",
            "aks get-credentials",
        ])
        .flags(&[takes(&["--file", "-f", "--destination", "-d"], &[WRITES])]),
    ),
    own(
        &["gh", "glab"],
        model(&["alias set"])
            .flags(&[switch(&["--shell", "-s"], &[mark(Mark::Schedules)])])
            .operands(leading(&[&[]], &[Does::MarksIfContains("!", Mark::Schedules)]))
            .examples(&[
                ("gh alias set x '!cat a'", &["marks schedules", "sets gh:alias"]),
                ("gh alias set co 'pr checkout'", &["sets gh:alias"]),
            ]),
    ),
    own(
        &["aws"],
        model(&["configure set"]).operands(leading(
            &[&[Does::MarksIfContains("credential_process", Mark::Schedules)]],
            &[],
        )),
    ),
    own(&["consul"], model(&["kv put"]).operands(leading(&[&[], &[Does::AtFile]], &[]))),
    own(&["terraform", "tofu"], model(&["state push"]).operands(READ)),
    own(&["ctr"], model(&["tasks exec", "task exec"]).operands(RUNS_SECOND)),
    own(&["docker"], model(&["context create"]).flags(&[takes(&["--docker"], &[Does::KeyedHost])])),
    own(
        &["systemd-nspawn"],
        model(&[]).flags(&[takes(&["--directory", "-D", "--machine", "-M", "-u"], &[])]),
    ),
    own(&["proot"], model(&[]).flags(&[takes(&["-r", "-b", "-w", "-R", "-S"], &[])])),
    own(&["gcloud"], model(&[]).flags(&[takes(&["--data-file"], &[READS])])),
    own(
        &["ffmpeg"],
        model(&[]).flags(&[takes(&["-attach", "-filter_script:v", "-filter_script:a"], &[READS])]),
    ),
    own(
        &["objcopy"],
        model(&[]).flags(&[
            takes(&["--add-section", "--update-section"], &[Does::KeyedFile(Purpose::Fetch)]),
            takes(&["--dump-section"], &[Does::KeyedFile(Purpose::Send)]),
        ]),
    ),
    own(&["helm"], model(&[]).flags(&[takes(&["--set-file"], &[Does::KeyedFile(Purpose::Fetch)])])),
    own(
        &["kubectl"],
        model(&["create"])
            .flags(&[takes(&["--from-file"], &[READS, Does::KeyedFile(Purpose::Fetch)])]),
    ),
    own(&["mktemp"], model(&[]).operands(WRITE).examples(&[("mktemp a.abc", &["writes a.abc"])])),
    own(
        &["openssl"],
        model(&[])
            .flags(&[
                takes(
                    &["-pass", "-passin", "-passout", "-kfile"],
                    &[Does::KeyedFile(Purpose::Fetch)],
                ),
                takes(&["-keyout", "-sess_out", "-keylogfile", "-outdir", "-writerand"], &[WRITES]),
            ])
            .examples(&[("openssl rsa -passin file:/a -in b", &["reads /a", "reads b"])]),
    ),
    own(&["openssl"], model(&["s_client"]).operands(leading(&[&[FETCHES]], &[]))),
    // Modules that `python -m` runs.
    own(&["venv"], model(&[]).flags(&[takes(&["--prompt"], &[])]).operands(NEW_FOLDER)),
    own(&["compileall"], model(&[]).operands(each(&[READS_TREE, WRITES]))),
    own(
        &["cProfile", "profile", "trace"],
        model(&[])
            .style(Style::Posix)
            .flags(&[
                takes(&["-o", "-C", "--coverdir", "-f", "--file"], &[WRITES]),
                takes(&["-s", "-m"], &[]),
            ])
            .operands(leading(&[&[Does::Script(Language::Python)]], &[]))
            .examples(&[(
                "python3 -m cProfile -o a b.py",
                &["runs cProfile -o a b.py", "writes a", "reads b.py"],
            )]),
    ),
    own(&["dis", "py_compile"], model(&[]).operands(READ)),
    own(
        &["wg-quick"],
        model(&["up", "strip"])
            .operands(each(&[Does::Recipe]))
            .examples(&[("wg-quick up ./a", &["reads a", "marks tunnel"])]),
    ),
];
