//! Shells and interpreters.

use crate::effect::{Access, Change, Purpose};
use crate::marks::Mark;
use crate::model::*;

const PYTHON: Language = Language::Python;
const JS: Language = Language::JavaScript;

pub(crate) const MODELS: &[Model] = &[
    model(&["mix"])
        .flags(&[takes(&["--eval", "-e"], &[Does::Code(Language::Other)])])
        .subs(&[
            model(&["run", "eval"]).operands(leading(&[&[Does::Script(Language::Other)]], &[])),
            model(&["archive.install", "escript.install"])
                .subs(&[
                    model(&["hex"]),
                    model(&["github", "git"])
                        .always(&[Does::ConnectsTo("github.com", Purpose::Execute)]),
                ])
                .operands(each(&[Does::Package(Registry::Other)])),
        ])
        .examples(&[
            ("mix archive.install hex phx_new", &[]),
            ("mix archive.install github a/b", &["executes github.com:443"]),
            ("mix test", &[]),
            ("mix run -e 'IO.puts(1)'", &[]),
        ]),
    model(&[
        "bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "yash", "csh", "tcsh", "fish",
        "ksh93", "pdksh", "oksh", "hush", "osh",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["-c", "--command"], &[SHELL]).operands(each(&[])).instead(),
        takes(&["-o", "+o", "-O", "+O"], &[]),
        takes(&["--rcfile", "--init-file"], &[Does::Script(Language::Shell)]),
        takes(&["--init-command", "-C"], &[SHELL]),
        switch(&["-s"], &[Does::RunsInput(Language::Shell)]).operands(each(&[])),
        switch(&["-n", "--noexec"], &[]).operands(leading(&[&[READS]], &[])).instead(),
        switch(&["--version", "--help"], &[]),
    ])
    .operands(leading(&[&[Does::Script(Language::Shell)]], &[]))
    .bare(&[Does::RunsInput(Language::Shell)])
    .examples(&[
        ("bash -c 'cat a'", &["runs cat a", "reads a"]),
        ("bash -lc 'cat a' x y", &["runs cat a", "reads a"]),
        ("sh -c \"sh -c 'cat a'\"", &["runs sh -c cat a", "runs cat a", "reads a"]),
        ("echo 'cat a' | bash -n", &["runs bash -n"]),
    ]),
    // Here `-n` leaves out a file of settings, and the code runs.
    model(&["nu", "elvish", "xonsh"])
        .flags(&[
            takes(&["-c", "--commands", "--command"], &[SHELL]).operands(each(&[])).instead(),
            takes(&["--config", "--env-config", "-rc", "--rc"], &[Does::Script(Language::Shell)]),
            switch(&["--version", "--help"], &[]),
        ])
        .operands(leading(&[&[Does::Script(Language::Shell)]], &[]))
        .bare(&[Does::RunsInput(Language::Shell)])
        .examples(&[
            ("nu -c 'cat a'", &["runs cat a", "reads a"]),
            ("echo 'cat a' | nu -n", &["runs nu -n", "runs cat a", "reads a"]),
        ]),
    model(&[
        "python",
        "python2",
        "python3",
        "python3.8",
        "python3.9",
        "python3.10",
        "python3.11",
        "python3.12",
        "python3.13",
        "python3.14",
        "pypy",
        "pypy3",
        "micropython",
        "ipython",
        "ipython3",
        "bpython",
        "jython",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["-c"], &[Does::Code(PYTHON)]).operands(each(&[])).instead(),
        takes(&["-W", "-X", "--check-hash-based-pycs", "-Q"], &[]),
        switch(&["--version", "-V", "--help", "-h"], &[]),
        takes(&["-m"], &[COMMAND]).value(Value::Rest).instead(),
    ])
    .operands(leading(&[&[Does::Script(PYTHON)]], &[]))
    .bare(&[Does::RunsInput(PYTHON)])
    .examples(&[
        ("python3 -c 'print(1)'", &[]),
        ("python3 -c \"open('a').read()\"", &["reads a"]),
        ("python3 -c \"import os; os.system('cat a')\"", &["runs cat a", "reads a"]),
        ("python3 --version", &[]),
    ]),
    model(&[
        "venv",
        "virtualenv",
        "ensurepip",
        "compileall",
        "py_compile",
        "build",
        "site",
        "sysconfig",
        "pydoc",
        "doctest",
        "dis",
    ])
    .operands(each(&[]))
    .examples(&[("python3 -m venv .venv", &["runs venv .venv", "makes .venv"])]),
    // Modules of Python that run what they read.
    model(&["asyncio", "IPython", "ptpython"])
        .operands(each(&[]))
        .bare(&[Does::RunsInput(PYTHON)])
        .examples(&[("python3 -m asyncio", &["runs asyncio"])]),
    model(&["funcsave"])
        .always(&[Does::WritesFile("~/.config/fish/functions/x.fish", Change::Content)])
        .examples(&[("funcsave x", &["writes ~/.config/fish/functions/x.fish"])]),
    model(&["timeit"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-s", "--setup"], &[Does::Code(PYTHON)]),
            takes(&["-n", "--number", "-r", "--repeat", "-u", "--unit"], &[]),
        ])
        .operands(each(&[Does::Code(PYTHON)]))
        .examples(&[(
            "python3 -m timeit -s 'import os' 'os.system(\"cat a\")'",
            &["runs timeit -s import os os.system(\"cat a\")", "runs cat a", "reads a"],
        )]),
    model(&["cProfile", "profile", "trace", "runpy"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-o", "-s", "--file", "-f", "--coverdir", "-C"], &[]),
            takes(&["-c"], &[Does::Code(PYTHON)]),
            takes(&["-m"], &[COMMAND]).value(Value::Rest).instead(),
        ])
        .operands(leading(&[&[Does::Script(PYTHON)]], &[])),
    model(&["webbrowser"]).operands(each(&[Does::Connects(Purpose::Send)])),
    model(&["http.server"])
        .flags(&[
            takes(&["--directory", "-d"], &[READS_TREE]),
            takes(&["--bind", "-b", "--protocol", "-p"], &[]),
        ])
        .always(&[
            Does::ConnectsTo("localhost", Purpose::Listen),
            // Everything below the working folder can be read by others.
            Does::ReadsFile(".", Access::Tree),
        ])
        .examples(&[(
            "python3 -m http.server 8000",
            &["runs http.server 8000", "listens localhost:443", "reads-tree ."],
        )]),
    model(&["json.tool"])
        .flags(&[takes(&["--indent"], &[])])
        .operands(leading(&[&[READS], &[WRITES]], &[]))
        .examples(&[("python3 -m json.tool a.json", &["runs json.tool a.json", "reads a.json"])]),
    model(&["node", "nodejs"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--eval", "-e", "--print", "-p", "-pe"], &[Does::Code(JS)])
                .operands(each(&[]))
                .instead(),
            takes(
                &["--require", "-r", "--import", "--loader", "--experimental-loader"],
                &[Does::Script(JS)],
            ),
            takes(&["--env-file", "--env-file-if-exists"], &[LISTS]),
            takes(
                &[
                    "--max-old-space-size",
                    "--conditions",
                    "-C",
                    "--input-type",
                    "--test-name-pattern",
                    "--test-reporter",
                    "--stack-size",
                ],
                &[],
            ),
            joined(&["--inspect", "--inspect-brk"], &[]),
            switch(&["--check", "-c"], &[]).operands(each(&[READS])),
            switch(&["--version", "-v", "--help", "-h"], &[]),
            switch(&["--test"], &[]).operands(each(&[Does::Script(JS)])),
        ])
        .operands(leading(&[&[Does::Script(JS)]], &[]))
        .bare(&[Does::RunsInput(JS)])
        .examples(&[
            ("node --version", &[]),
            ("node -e \"console.log(1)\"", &[]),
            ("node -e \"require('fs').readFileSync('a')\"", &["reads a"]),
            ("node --check a.js", &["reads a.js"]),
        ]),
    model(&["deno"])
        .style(Style::Gnu)
        .flags(&[
            takes(&["--config", "-c", "--import-map", "--lock"], &[READS]),
            takes(&["--env-file"], &[LISTS]),
            switch(&["--version", "-V"], &[]),
        ])
        .subs(&[
            model(&["run", "serve", "test", "bench"])
                .flags(&[takes(&["--preload", "--require"], &[Does::Script(JS)])])
                .operands(leading(&[&[Does::Script(JS)]], &[])),
            model(&["eval"]).operands(each(&[Does::Code(JS)])),
            model(&["fmt"]).operands(each(&[READS_TREE, WRITES])),
            model(&["lint", "check", "info", "doc", "types"]).operands(each(&[READS])),
            model(&["task"]).operands(leading(&[&[Does::Recipe]], &[])),
            model(&["install", "add", "cache", "remove", "outdated", "update"])
                .operands(each(&[Does::Package(Registry::Other)])),
            model(&["compile", "bundle"])
                .flags(&[takes(&["--output", "-o"], &[WRITES])])
                .operands(each(&[READS])),
            model(&["upgrade", "completions", "init", "repl", "jupyter", "lsp"]),
            model(&["publish"]).always(&[mark(Mark::Publishes)]),
        ])
        .operands(leading(&[&[Does::Script(JS)]], &[]))
        .examples(&[
            ("deno --version", &[]),
            ("deno eval 'console.log(1)'", &[]),
            ("deno lint src", &["reads src"]),
        ]),
    model(&["perl", "perl5"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-e", "-E"], &[Does::Code(Language::Perl)]).instead().operands(each(&[READS])),
            joined(&["-i"], &[]).operands(each(&[READS, WRITES])),
            joined(&["-M", "-m", "-I", "-F", "-D", "-x"], &[]),
            digits(&["-0", "-l", "-C"]),
            switch(&["-v", "-V", "--version"], &[]),
        ])
        .operands(leading(&[&[Does::Script(Language::Perl)]], &[]))
        .bare(&[Does::RunsInput(Language::Perl)])
        .examples(&[
            ("perl -v", &[]),
            ("perl -e 'print 1'", &[]),
            ("perl -e 'system(\"cat a\")'", &["runs cat a", "reads a"]),
            ("perl -0777pi -e 's/a/b/' a", &["reads a", "writes a"]),
            ("perl -lpi.bak -e 's/a/b/' a", &["reads a", "writes a"]),
        ]),
    model(&["ruby", "jruby", "irb", "truffleruby"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-e"], &[Does::Code(Language::Ruby)]).instead().operands(each(&[READS])),
            joined(&["-r", "-I", "-K", "-E", "-F", "-x"], &[]),
            joined(&["-i"], &[]).operands(each(&[READS, WRITES])),
            digits(&["-0", "-W"]),
            takes(&["-C"], &[FOLDER]),
            switch(&["-c"], &[]).operands(each(&[READS])),
            switch(&["--version", "-v"], &[]),
        ])
        .operands(leading(&[&[Does::Script(Language::Ruby)]], &[]))
        .bare(&[Does::RunsInput(Language::Ruby)])
        .examples(&[
            ("ruby -e 'puts 1'", &[]),
            ("ruby -e 'system(\"cat a\")'", &["runs cat a", "reads a"]),
            ("ruby -c a.rb", &["reads a.rb"]),
            ("ruby -pi -e 'gsub(/a/, \"b\")' a", &["reads a", "writes a"]),
        ]),
    model(&["php", "php8", "hhvm"])
        .style(Style::Posix)
        .flags(&[
            takes(
                &[
                    "--run",
                    "-r",
                    "--process-begin",
                    "-B",
                    "--process-code",
                    "-R",
                    "--process-end",
                    "-E",
                ],
                &[Does::Code(Language::Php)],
            )
            .instead()
            .operands(each(&[])),
            takes(&["--file", "-f", "--process-file", "-F"], &[Does::Script(Language::Php)]),
            takes(&["--define", "-d", "-z"], &[]),
            takes(&["--docroot", "-t"], &[READS_TREE]),
            takes(&["--server", "-S"], &[Does::Connects(Purpose::Listen)]),
            switch(&["--syntax-check", "-l"], &[]).operands(each(&[READS])),
            switch(&["--info", "-i", "--version", "-v", "--modules", "-m", "--ini"], &[]),
        ])
        .operands(leading(&[&[Does::Script(Language::Php)]], &[]))
        .bare(&[Does::RunsInput(Language::Php)])
        .examples(&[
            ("php -l a.php", &["reads a.php"]),
            ("php -r 'system(\"cat a\");'", &["runs cat a", "reads a"]),
        ]),
    model(&["lua", "luajit", "lua5.1", "lua5.3", "lua5.4"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-e"], &[Does::Code(Language::Lua)]).instead(),
            takes(&["-l"], &[]),
            switch(&["-v"], &[]),
        ])
        .operands(leading(&[&[Does::Script(Language::Lua)]], &[]))
        .bare(&[Does::RunsInput(Language::Lua)])
        .examples(&[
            ("lua -v", &[]),
            ("lua -e 'os.execute(\"cat a\")'", &["runs cat a", "reads a"]),
        ]),
    model(&["osascript"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-e"], &[Does::Code(Language::AppleScript)]).instead(),
            takes(&["-l", "-s"], &[]),
        ])
        .operands(leading(&[&[Does::Script(Language::AppleScript)]], &[]))
        .bare(&[Does::RunsInput(Language::AppleScript)])
        .examples(&[("osascript -e 'do shell script \"cat a\"'", &["runs cat a", "reads a"])]),
    model(&["pwsh", "powershell", "powershell.exe", "pwsh.exe"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-Command", "-c", "-command", "-C"], &[Does::Code(Language::PowerShell)])
                .value(Value::Rest),
            // Read by `special`, in any case and length.
            takes(&["-EncodedCommand", "-enc", "-e", "-ec", "-encodedcommand"], &[]),
            takes(&["-File", "-f", "-file"], &[Does::Script(Language::PowerShell)]),
            takes(
                &[
                    "-ExecutionPolicy",
                    "-ep",
                    "-executionpolicy",
                    "-WindowStyle",
                    "-w",
                    "-ConfigurationName",
                    "-WorkingDirectory",
                ],
                &[],
            ),
        ])
        .operands(leading(&[&[Does::Code(Language::PowerShell)]], &[])),
    model(&["cmd", "cmd.exe"])
        .style(Style::Plain)
        .examples(&[("cmd /c type a", &["runs cat a", "reads a"])]),
    model(&["R", "Rscript", "littler"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-e"], &[Does::Code(Language::R)]).instead(),
            takes(&["-f", "--file"], &[Does::Script(Language::R)]),
            switch(&["--version", "--vanilla", "--no-save", "-q", "--quiet", "--slave"], &[]),
        ])
        .operands(leading(&[&[Does::Script(Language::R)]], &[]))
        .bare(&[Does::RunsInput(Language::R)])
        .examples(&[
            ("Rscript -e 'd <- read.csv(\"a\"); print(d)'", &["reads a"]),
            ("Rscript -e 'system(\"cat a\")'", &["runs cat a", "reads a"]),
            ("Rscript -e 'mean(c(1, 2))'", &[]),
        ]),
    model(&[
        "tclsh",
        "wish",
        "guile",
        "scheme",
        "racket",
        "sbcl",
        "clisp",
        "ecl",
        "ghci",
        "runghc",
        "runhaskell",
        "ocaml",
        "escript",
        "iex",
        "elixir",
        "julia",
        "octave",
        "scala",
        "groovy",
        "clojure",
        "clj",
        "bb",
        "kotlin",
        "jshell",
        "gjs",
        "qjs",
        "mono",
        "csi",
        "dotnet-script",
        "swipl",
        "gforth",
        "gst",
        "rexx",
        "janet",
        "raku",
        "perl6",
        "maxima",
        "gnuplot",
        "sage",
        "jrunscript",
        "ts-node",
        "tsx",
        "esno",
        "jiti",
        "vite-node",
        "coffee",
        "scala-cli",
        "texlua",
        "fennel",
        "newlisp",
        "gsi",
        "gosh",
        "chibi-scheme",
        "chez",
        "picolisp",
        "csharp",
        "fsharpi",
        "yaegi",
        "rust-script",
        "pike",
        "io",
        "utop",
        "bsh",
        "kscript",
        "wolframscript",
        "d8",
        "hermes",
        "mujs",
        "duk",
        "rhino",
        "jsc",
        "llrt",
        "tjs",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["--eval", "-e", "-E", "--expr", "-c", "-x"], &[Does::Code(Language::Other)])
            .instead(),
        takes(
            &["--load", "-l", "-s", "--script", "-f", "--file", "-r", "--require"],
            &[Does::Script(Language::Other)],
        ),
        switch(&["--version", "-v", "-V", "--help"], &[]),
    ])
    .operands(leading(&[&[Does::Script(Language::Other)]], &[]))
    .bare(&[Does::RunsInput(Language::Other)])
    .examples(&[
        ("julia --version", &[]),
        ("gosh -e '(sys-system \"x\")'", &["opaque language"]),
        ("fennel -e '(print 1)'", &[]),
    ]),
    model(&["erl", "werl", "lfe"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-eval"], &[Does::Code(Language::Other)]),
            takes(&["-pa", "-pz", "-sname", "-setcookie", "-boot", "-config", "-mnesia"], &[]),
        ])
        .examples(&[
            ("erl -noshell -eval 'os:cmd(\"x\"), halt().'", &["opaque language"]),
            ("erl -noshell -eval 'io:format(\"~s~n\", [erlang:system_info(otp_release)])'", &[]),
        ]),
    model(&["swift"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-e"], &[Does::Code(Language::Other)]).instead(),
            takes(&["-sdk", "-target", "-I", "-L", "-F", "-D", "-framework", "-module-name"], &[]),
            switch(&["--version", "-version", "--help"], &[]),
        ])
        .subs(&[
            model(&[
                "build", "test", "package", "run", "sdk", "format", "plugin", "demangle", "help",
            ])
            .flags(&[takes(&["--package-path", "-C"], &[FOLDER])]),
            model(&["repl"]).bare(&[Does::RunsInput(Language::Other)]),
        ])
        .operands(leading(&[&[Does::Script(Language::Other)]], &[]))
        .bare(&[Does::RunsInput(Language::Other)])
        .examples(&[
            ("swift --version", &[]),
            ("swift package resolve", &[]),
            ("swift -e 'print(1 + 1)'", &[]),
            ("swift -e 'print(try! String(contentsOfFile: \"a\"))'", &["opaque language"]),
        ]),
    model(&["kotlinc"])
        .style(Style::SingleDash)
        .flags(&[
            takes(&["-e", "-expression"], &[Does::Code(Language::Other)]).instead(),
            takes(&["-d"], &[WRITES]),
            takes(&["-cp", "-classpath", "-jvm-target", "-module-name", "-Xplugin"], &[]),
            switch(&["-script"], &[]).operands(leading(&[&[Does::Script(Language::Other)]], &[])),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("kotlinc a.kt -include-runtime -d a.jar", &["reads a.kt", "writes a.jar"]),
            ("kotlinc -e 'java.io.File(\"a\").readText()'", &["opaque language"]),
        ]),
    model(&["nim"])
        .style(Style::SingleDash)
        .flags(&[
            joined(&["--eval:", "--eval="], &[Does::Code(Language::Other)]),
            joined(&["-o:", "--out:"], &[WRITES]),
        ])
        .subs(&[
            model(&["e"]).operands(leading(&[&[Does::Script(Language::Other)]], &[])),
            model(&["c", "cc", "cpp", "objc", "js", "r", "compile", "check", "doc", "dump"])
                .operands(leading(&[&[READS]], &[])),
        ])
        .examples(&[
            ("nim c -r src/main.nim", &["reads src/main.nim"]),
            ("nim --eval:'echo readFile(\"a\")'", &["opaque language"]),
        ]),
    model(&["crystal"])
        .flags(&[takes(&["-o"], &[WRITES]), takes(&["-D", "--define"], &[])])
        .subs(&[
            model(&["eval"]).operands(each(&[Does::Code(Language::Other)])),
            model(&["run"]).operands(leading(&[&[Does::Script(Language::Other)]], &[])),
            model(&["build", "spec", "tool", "docs", "env", "init", "version", "play"])
                .operands(each(&[READS])),
        ])
        .operands(leading(&[&[Does::Script(Language::Other)]], &[]))
        .examples(&[
            ("crystal spec", &[]),
            ("crystal eval 'puts File.read(\"a\")'", &["opaque language"]),
        ]),
    model(&["java", "javaw"])
        .style(Style::SingleDash)
        .flags(&[
            takes(
                &["-cp", "-classpath", "--class-path", "-p", "--module-path"],
                &[Does::Package(Registry::Other)],
            ),
            takes(&["-jar"], &[Does::Script(Language::Other)]),
            takes(&["-m", "--module", "--add-opens", "--add-exports", "--add-modules"], &[]),
            joined(&["-XX:OnOutOfMemoryError", "-XX:OnError"], &[SHELL]),
            joined(&["-javaagent:", "-agentpath:"], &[Does::Script(Language::Other)]),
            switch(&["-version", "--version"], &[]),
            joined(
                &["-agentlib:jdwp"],
                &[
                    Does::MarksIfContains("address=*", Mark::Tunnel),
                    Does::MarksIfContains("0.0.0.0", Mark::Tunnel),
                ],
            ),
            joined(
                &["-Dcom.sun.management.jmxremote.authenticate"],
                &[Does::MarksIf(&["false"], Mark::Guard)],
            ),
        ])
        .examples(&[
            ("java -version", &[]),
            ("java -cp https://h.example/x.jar A", &["executes h.example:443"]),
        ]),
    model(&["units", "qalc", "numbat", "expr", "factor", "seq", "calc"])
        .style(Style::Plain)
        .examples(&[("expr 1 + 2", &[])]),
];
