//! Programs that run another command.

use crate::effect::{Change, Reach};
use crate::marks::Mark;
use crate::model::*;

/// The words from the first operand on are a command.
const RUNS: Operands = leading(&[&[COMMAND]], &[]);
/// One operand, then a command: `timeout 5 make`.
const RUNS_SECOND: Operands = leading(&[&[], &[COMMAND]], &[]);
const CODE: Operands = each(&[SHELL]);

pub(crate) const MODELS: &[Model] = &[
    model(&["sudo", "doas", "gsudo"])
        .style(Style::Posix)
        .flags(&[
            takes(
                &[
                    "--user",
                    "-u",
                    "--group",
                    "-g",
                    "--prompt",
                    "-p",
                    "--close-from",
                    "-C",
                    "--host",
                    "-h",
                    "--other-user",
                    "-U",
                    "--command-timeout",
                    "-T",
                    "--role",
                    "-r",
                    "--type",
                    "-t",
                ],
                &[],
            ),
            takes(&["--chdir", "-D"], &[FOLDER]),
            takes(&["--chroot", "-R"], &[mark(Mark::HostAccess)]),
            switch(&["--login", "-i", "--shell", "-s"], &[mark(Mark::Privilege)]),
            switch(&["--edit", "-e"], &[]).operands(each(&[READS, WRITES])),
            switch(
                &[
                    "--validate",
                    "-v",
                    "--list",
                    "-l",
                    "--version",
                    "-V",
                    "--remove-timestamp",
                    "-K",
                ],
                &[],
            ),
        ])
        .operands(RUNS)
        .always(&[mark(Mark::Elevates)])
        .examples(&[
            ("sudo rm a", &["runs rm a", "deletes a", "marks elevates"]),
            ("sudo -u dev -- cat a", &["runs cat a", "reads a", "marks elevates"]),
            ("sudo -i", &["marks privilege elevates"]),
            ("sudo -e a", &["reads a", "writes a", "marks elevates"]),
        ]),
    model(&["su", "runuser"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--command", "-c", "--session-command"], &[SHELL]),
            takes(&["--shell", "-s"], &[PROGRAM]),
            takes(&["--user", "-u"], &[]).operands(RUNS),
            takes(&["--group", "-g", "--supp-group", "-G", "--whitelist-environment", "-w"], &[]),
        ])
        .always(&[mark(Mark::Elevates)])
        .examples(&[
            ("su dev -c 'cat a'", &["runs cat a", "reads a", "marks elevates"]),
            ("su -c 'cat a' dev", &["runs cat a", "reads a", "marks elevates"]),
            ("runuser -u dev -- cat a", &["runs cat a", "reads a", "marks elevates"]),
        ]),
    model(&["sudoedit"])
        .operands(each(&[READS, WRITES]))
        .always(&[mark(Mark::Elevates)])
        .examples(&[("sudoedit a", &["reads a", "writes a", "marks elevates"])]),
    model(&["pkexec", "run0"])
        .style(Style::Posix)
        .flags(&[takes(&["--user"], &[])])
        .operands(RUNS)
        .bare(&[mark(Mark::Privilege)])
        .always(&[mark(Mark::Elevates)])
        .examples(&[("pkexec cat a", &["runs cat a", "reads a", "marks elevates"])]),
    model(&["xargs", "gxargs"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--arg-file", "-a"], &[READS]),
            takes(
                &[
                    "--delimiter",
                    "-d",
                    "--max-args",
                    "-n",
                    "--max-procs",
                    "-P",
                    "--max-chars",
                    "-s",
                    "-I",
                    "-E",
                    "-L",
                    "--process-slot-var",
                    "-J",
                    "-R",
                ],
                &[],
            ),
            joined(&["--replace", "-i", "--eof", "-e", "--max-lines", "-l"], &[]),
        ])
        .operands(leading(&[&[Does::CommandWithInput]], &[]))
        .examples(&[]),
    model(&["parallel"])
        .style(Style::Posix)
        .flags(&[
            joined(&[":::", "::::"], &[Does::Hides]),
            switch(
                &[
                    "--tag",
                    "--keep-order",
                    "-k",
                    "--bar",
                    "--eta",
                    "--progress",
                    "--verbose",
                    "-v",
                    "--dry-run",
                    "--null",
                    "-0",
                    "--line-buffer",
                    "--lb",
                    "--ungroup",
                    "-u",
                    "--will-cite",
                    "--halt-on-error",
                    "--no-notice",
                    "--quote",
                    "-q",
                    "-X",
                    "-m",
                    "--group",
                    "--xargs",
                ],
                &[],
            ),
            takes(
                &[
                    "--jobs",
                    "-j",
                    "--delay",
                    "--timeout",
                    "--retries",
                    "--colsep",
                    "-C",
                    "-I",
                    "--max-args",
                    "-n",
                    "-N",
                    "--tagstring",
                    "--load",
                    "--nice",
                    "--env",
                ],
                &[],
            ),
            takes(&["--arg-file", "-a"], &[READS]),
            takes(&["--joblog", "--results"], &[WRITES]),
            takes(&["--sshlogin", "-S"], &[Does::Connects(crate::effect::Purpose::Remote)]),
            takes(&["--workdir", "--wd"], &[FOLDER]),
        ])
        .bare(&[Does::RunsInput(Language::Shell)])
        .operands(leading(&[&[Does::CommandWithInput]], &[])),
    model(&["timeout", "gtimeout"])
        .style(Style::Posix)
        .flags(&[takes(&["--signal", "-s", "--kill-after", "-k"], &[])])
        .operands(RUNS_SECOND)
        .examples(&[("timeout -k 5 10 cat a", &["runs cat a", "reads a"])]),
    model(&[
        "nohup",
        "setsid",
        "setarch",
        "linux64",
        "linux32",
        "catchsegv",
        "eatmydata",
        "fakeroot",
        "unbuffer",
        "caffeinate",
        "systemd-inhibit",
        "arch",
        "winpty",
        "dbus-run-session",
        "xvfb-run",
        "torsocks",
        "tsocks",
        "torify",
        "firejail",
        "bwrap",
        "proxychains",
        "proxychains4",
        "cpulimit",
        "prlimit",
        "numactl",
        "chpst",
        "softlimit",
        "mprof",
        "heaptrack",
        "catatonit",
        "tini",
        "dumb-init",
        "gosu",
        "su-exec",
        "setpriv",
        "chrt",
    ])
    .style(Style::Posix)
    .flags(&[takes(
        &[
            "--pid",
            "-p",
            "--limit",
            "-l",
            "--server-args",
            "-s",
            "-n",
            "--server-num",
            "--what",
            "--why",
            "--who",
        ],
        &[],
    )])
    .operands(RUNS)
    .examples(&[
        ("nohup cat a", &["runs cat a", "reads a"]),
        ("setsid cat a", &["runs cat a", "reads a"]),
    ]),
    model(&["rlwrap"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--logfile", "-l"], &[APPENDS]),
            takes(&["--history-filename", "-H"], &[WRITES]),
            takes(&["--file", "-f"], &[READS]),
            takes(&["--filter", "-z"], &[SHELL]),
            takes(&["-b", "-C", "-p", "-s", "-D", "-P", "-S", "-t"], &[]),
        ])
        .operands(RUNS)
        .examples(&[("rlwrap -l l cat a", &["appends l", "runs cat a", "reads a"])]),
    model(&["nice", "gnice"])
        .style(Style::Posix)
        .flags(&[takes(&["--adjustment", "-n"], &[])])
        .operands(RUNS)
        .examples(&[("nice -n 5 cat a", &["runs cat a", "reads a"])]),
    model(&["ionice"])
        .style(Style::Posix)
        .flags(&[takes(&["--class", "-c", "--classdata", "-n", "--pid", "-p"], &[])])
        .operands(RUNS)
        .examples(&[("ionice -c3 cat a", &["runs cat a", "reads a"])]),
    model(&["stdbuf", "gstdbuf"])
        .style(Style::Posix)
        .flags(&[takes(&["--output", "-o", "--input", "-i", "--error", "-e"], &[])])
        .operands(RUNS)
        .examples(&[("stdbuf -oL cat a", &["runs cat a", "reads a"])]),
    model(&["taskset"])
        .style(Style::Posix)
        .flags(&[takes(&["--pid", "-p"], &[])])
        .operands(RUNS_SECOND)
        .examples(&[("taskset 1 cat a", &["runs cat a", "reads a"])]),
    model(&["time", "gtime"])
        .style(Style::Posix)
        .flags(&[takes(&["--output", "-o"], &[WRITES]), takes(&["--format", "-f"], &[])])
        .operands(RUNS)
        .examples(&[("gtime -o t cat a", &["writes t", "runs cat a", "reads a"])]),
    model(&["watch", "viddy"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--interval", "-n", "--equexit", "-q"], &[]),
            switch(&["--exec", "-x"], &[COMMAND]).value(Value::Rest),
        ])
        .operands(CODE)
        .examples(&[
            ("watch -x sh -c 'cat a'", &["runs sh -c cat a", "runs cat a", "reads a"]),
            ("watch -n 1 'cat a'", &["runs cat a", "reads a"]),
            ("watch cat a", &["runs cat a", "reads a"]),
        ]),
    model(&["watchexec", "reflex", "nodemon", "watchman-make", "modd", "air"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--exec", "-x"], &[SHELL]),
            takes(
                &["--watch", "-w", "--exts", "-e", "--filter", "-f", "--ignore", "-i", "-r", "-g"],
                &[],
            ),
        ])
        .operands(RUNS)
        .examples(&[
            ("watchexec -e rs cat a", &["runs cat a", "reads a"]),
            ("nodemon --exec 'cat a'", &["runs cat a", "reads a"]),
        ]),
    model(&["chokidar", "onchange"])
        .flags(&[takes(&["-c", "--command"], &[SHELL]), takes(&["-i", "-d", "-t"], &[])])
        .examples(&[("chokidar x -c 'cat a'", &["runs cat a", "reads a"])]),
    model(&["entr"])
        .style(Style::Posix)
        .operands(RUNS)
        .examples(&[("entr -r cat a", &["runs cat a", "reads a"])]),
    model(&["hyperfine", "poop"])
        .flags(&[
            takes(&["--prepare", "-p", "--setup", "-s", "--cleanup", "-c", "--conclude"], &[SHELL]),
            takes(&["--export-json", "--export-csv", "--export-markdown"], &[WRITES]),
            takes(
                &[
                    "--warmup",
                    "-w",
                    "--runs",
                    "-r",
                    "--min-runs",
                    "-m",
                    "--max-runs",
                    "-M",
                    "--command-name",
                    "-n",
                ],
                &[],
            ),
            takes(&["--shell", "-S"], &[PROGRAM]),
        ])
        .operands(leading(&[&[SHELL], &[SHELL], &[SHELL], &[SHELL]], &[SHELL]))
        .examples(&[("hyperfine -w 3 'cat a'", &["runs cat a", "reads a"])]),
    model(&["flock"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--command", "-c"], &[SHELL]),
            takes(&["--timeout", "--wait", "-w", "--conflict-exit-code", "-E"], &[]),
        ])
        .operands(leading(&[&[WRITES], &[COMMAND]], &[]))
        .examples(&[("flock l cat a", &["writes l", "runs cat a", "reads a"])]),
    model(&["script"])
        .flags(&[
            takes(&["--command", "-c"], &[SHELL]),
            takes(
                &["--log-out", "-O", "--log-in", "-I", "--log-io", "-B", "--log-timing", "-T"],
                &[WRITES],
            ),
        ])
        .operands(each(&[WRITES]))
        .examples(&[("script -q -c 'cat a' out", &["runs cat a", "reads a", "writes out"])]),
    model(&["unshare", "capsh"])
        .style(Style::Posix)
        .flags(&[
            takes(
                &[
                    "--setgroups",
                    "--propagation",
                    "--map-user",
                    "--map-group",
                    "-S",
                    "-G",
                    "--wd",
                    "-w",
                    "--drop",
                ],
                &[],
            ),
            takes(&["--root", "-R"], &[mark(Mark::HostAccess)]),
            takes(&["-c"], &[SHELL]),
        ])
        .operands(RUNS)
        .examples(&[("unshare -r cat a", &["runs cat a", "reads a"])]),
    model(&["nsenter"])
        .style(Style::Posix)
        .flags(&[takes(&["--target", "-t", "-S", "-G", "--setuid", "--setgid"], &[])])
        .operands(RUNS)
        .always(&[mark(Mark::HostAccess)])
        .examples(&[("nsenter -t 1 -m cat a", &["runs cat a", "reads a", "marks host-access"])]),
    model(&["chroot"])
        .style(Style::Posix)
        .flags(&[takes(&["--userspec", "--groups"], &[])])
        .operands(RUNS_SECOND)
        .examples(&[("chroot / cat a", &["runs cat a", "reads a"])]),
    model(&["strace", "ltrace", "dtruss"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--output", "-o"], &[WRITES]),
            takes(
                &["--trace", "-e", "--string-limit", "-s", "-S", "-a", "-O", "-I", "-x", "-u"],
                &[],
            ),
            takes(&["--attach", "-p"], &[mark(Mark::Spies)]),
            takes(&["-F", "--config"], &[READS]),
            takes(&["--env", "-E"], &[Does::Assigns("env:", Reach::Command)]),
        ])
        .operands(RUNS)
        .examples(&[("strace -o t cat a", &["writes t", "runs cat a", "reads a"])]),
    model(&["valgrind", "rr", "perf", "gprofng", "memusage", "samply", "flamegraph"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--log-file", "--output", "-o"], &[WRITES]),
            takes(&["-e", "-F", "-g", "-c"], &[]),
        ])
        .subs(&[
            model(&["record", "stat", "trace", "collect"])
                .flags(&[
                    takes(&["--output", "-o"], &[WRITES]),
                    takes(&["-e", "-F", "-p", "-a"], &[]),
                ])
                .operands(RUNS),
            model(&[
                "report", "annotate", "list", "script", "diff", "archive", "version", "replay",
            ]),
        ])
        .operands(RUNS)
        .examples(&[
            ("valgrind cat a", &["runs cat a", "reads a"]),
            ("perf stat cat a", &["runs cat a", "reads a"]),
            ("perf report", &[]),
        ]),
    model(&["gdb", "lldb", "cgdb", "rust-gdb", "rust-lldb"])
        .style(Style::SingleDash)
        .flags(&[
            takes(
                &["-ex", "--eval-command", "-iex", "-eval-command", "-o", "--one-line", "-O"],
                &[Does::Code(Language::Gdb)],
            ),
            takes(&["-x", "--command", "-s", "--source", "-ix"], &[Does::Script(Language::Gdb)]),
            takes(&["-p", "--pid"], &[mark(Mark::Spies)]),
            takes(&["-c", "--core"], &[READS]),
            switch(&["--args", "-args", "--"], &[COMMAND]).value(Value::Rest),
        ])
        .operands(each(&[READS]))
        .examples(&[
            ("gdb -batch -ex run -ex bt ./a", &["reads a"]),
            ("gdb -ex 'shell cat a'", &["runs cat a", "reads a"]),
            ("gdb -ex 'python import os'", &["opaque language"]),
        ]),
    model(&["tmux", "byobu"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-L", "-S", "-T"], &[]),
            takes(&["-f"], &[Does::Recipe]),
            takes(&["-c"], &[SHELL]),
        ])
        .subs(&[
            model(&[
                "new",
                "new-session",
                "neww",
                "new-window",
                "splitw",
                "split-window",
                "respawn-pane",
                "popup",
                "display-popup",
            ])
            .flags(&[
                takes(&["-s", "-n", "-t", "-x", "-y", "-F", "-e", "-l", "-p", "-w"], &[]),
                takes(&["-c"], &[FOLDER]),
            ])
            .operands(CODE),
            // Commands of tmux that run later.
            model(&["set-hook", "bind", "bind-key"])
                .flags(&[takes(&["-t", "-T"], &[])])
                .operands(leading(&[&[]], &[Does::MarksIfContains("run", Mark::Schedules)])),
            model(&["run", "run-shell", "if", "if-shell"])
                .flags(&[takes(&["-t"], &[])])
                .operands(CODE),
            model(&["pipe-pane"]).flags(&[takes(&["-t"], &[])]).operands(CODE),
            model(&["send", "send-keys"]).flags(&[takes(&["-t", "-N"], &[])]).operands(CODE),
            model(&["source", "source-file"]).operands(each(&[Does::Recipe])),
            model(&[
                "ls",
                "list-sessions",
                "lsw",
                "list-windows",
                "lsp",
                "list-panes",
                "attach",
                "attach-session",
                "a",
                "kill-session",
                "kill-window",
                "kill-pane",
                "capture-pane",
                "capturep",
                "has-session",
                "has",
                "display",
                "display-message",
                "select-window",
                "select-pane",
                "rename-window",
                "detach",
            ]),
        ])
        .examples(&[
            ("tmux new -d 'cat a'", &["runs cat a", "reads a"]),
            ("tmux ls", &[]),
            ("tmux run-shell 'cat a'", &["runs cat a", "reads a"]),
        ]),
    model(&["screen"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-S", "-p", "-t", "-h", "-e", "-T"], &[]),
            takes(&["-c"], &[Does::Recipe]),
            takes(&["-Logfile"], &[WRITES]),
            // What it does to a session is decided by its words.
            takes(&["-X"], &[]),
            switch(&["-ls", "-list", "-r", "-x"], &[]),
        ])
        .operands(RUNS)
        .examples(&[("screen -dm cat a", &["runs cat a", "reads a"])]),
    model(&["expect"])
        .style(Style::Posix)
        .flags(&[
            takes(&["-c"], &[Does::Code(Language::Expect)]),
            takes(&["-f"], &[Does::Script(Language::Expect)]).instead(),
        ])
        .operands(leading(&[&[Does::Script(Language::Expect)]], &[]))
        .bare(&[Does::RunsInput(Language::Expect)])
        .examples(&[
            ("expect -c 'spawn cat a; expect eof'", &["runs cat a", "reads a"]),
            ("expect -c 'eval $x'", &["opaque language"]),
        ]),
    model(&["batch"])
        .always(&[Does::RunsInput(Language::Shell), mark(Mark::Schedules)])
        .examples(&[("batch <<< 'cat a'", &["runs cat a", "reads a", "marks schedules"])]),
    model(&["at"])
        .flags(&[
            takes(&["-f"], &[Does::Script(Language::Shell)]),
            switch(&["-l", "-c", "-V"], &[]),
            takes(&["-q", "-t", "-d", "-r"], &[]),
        ])
        .operands(leading(&[&[mark(Mark::Schedules)]], &[]))
        .always(&[Does::RunsInput(Language::Shell)])
        .examples(&[("at -l", &[]), ("at now", &["marks schedules"])]),
    // Terminals.
    model(&[
        "xterm",
        "uxterm",
        "konsole",
        "urxvt",
        "rxvt",
        "alacritty",
        "foot",
        "terminator",
        "xfce4-terminal",
        "lxterminal",
        "mate-terminal",
        "tilix",
        "ghostty",
        "st",
        "terminology",
        "gnome-terminal",
        "x-terminal-emulator",
        "kgx",
        "ptyxis",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["-e", "-x", "--command"], &[COMMAND]).value(Value::Rest),
        takes(&["-T", "-title", "--title", "-geometry", "-fn", "-fa", "-fs", "-bg", "-fg"], &[]),
        takes(&["--working-directory"], &[FOLDER]),
    ])
    .operands(leading(&[&[COMMAND]], &[]))
    .examples(&[
        ("xterm -e 'cat a'", &["runs cat a", "reads a"]),
        ("konsole -e cat a", &["runs cat a", "reads a"]),
        ("gnome-terminal -- cat a", &["runs cat a", "reads a"]),
    ]),
    model(&["kubie", "granted", "assume"])
        .style(Style::Posix)
        .subs(&[
            model(&["exec"]).style(Style::Posix).operands(leading(&[&[], &[]], &[COMMAND])),
            model(&["ctx", "ns", "info", "lint", "edit"]),
        ])
        .examples(&[("kubie exec prod default cat a", &["runs cat a", "reads a"])]),
    model(&["lima", "orb"])
        .style(Style::Posix)
        .flags(&[takes(&["-m", "-u", "-w"], &[])])
        .subs(&[model(&["list", "start", "stop", "status", "info", "version", "create", "delete"])])
        .operands(leading(&[&[COMMAND]], &[]))
        .examples(&[("lima cat a", &["runs cat a", "reads a"])]),
    // Builtins of zsh.
    model(&["zf_rm"])
        .flags(&[switch(&["-r"], &[]).operands(each(&[DELETES_TREE]))])
        .operands(each(&[DELETES]))
        .examples(&[("zf_rm -rf a", &["deletes-tree a"])]),
    model(&["zf_mv"])
        .operands(sources_and_target(&[READS_TREE, DELETES_TREE], &[MAKES]))
        .examples(&[("zf_mv a b", &["reads-tree a", "deletes-tree a", "makes b"])]),
    model(&["zf_ln"])
        .operands(sources_and_target(&[READS], &[Does::Writes(Change::Link)]))
        .examples(&[("zf_ln -s a b", &["reads a", "links b"])]),
    model(&["systemd-run"])
        .style(Style::Posix)
        .flags(&[
            takes(
                &[
                    "--unit",
                    "-u",
                    "--property",
                    "-p",
                    "--gid",
                    "--slice",
                    "--description",
                    "--nice",
                    "--machine",
                    "-M",
                    "-H",
                ],
                &[],
            ),
            takes(&["--uid"], &[Does::MarksIf(&["0", "root"], Mark::Privilege)]),
            takes(
                &[
                    "--on-active",
                    "--on-calendar",
                    "--on-boot",
                    "--on-startup",
                    "--on-unit-active",
                    "--timer-property",
                ],
                &[mark(Mark::Schedules)],
            ),
            takes(&["--setenv", "-E"], &[Does::Assigns("env:", Reach::Command)]),
            takes(&["--working-directory", "-d"], &[FOLDER]),
            // Without one of these, the command runs as a service, outside of the session.
            switch(&["--scope", "--pipe", "-P", "--pty", "-t"], &[]).operands(RUNS),
            // A shell of its own, outside of the session.
            switch(&["--shell", "-S"], &[mark(Mark::Privilege)]),
        ])
        .operands(leading(&[&[mark(Mark::Schedules), COMMAND]], &[]))
        .examples(&[
            ("systemd-run --user --scope cat a", &["runs cat a", "reads a"]),
            ("systemd-run --wait cat a", &["runs cat a", "reads a", "marks schedules"]),
            ("systemd-run --on-active=60 cat a", &["runs cat a", "reads a", "marks schedules"]),
        ]),
    model(&["busybox", "toybox"])
        .style(Style::Posix)
        .operands(RUNS)
        .examples(&[("busybox cat a", &["runs cat a", "reads a"])]),
    model(&[
        "ld.so",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
        "ld-linux.so.2",
        "ld-musl-x86_64.so.1",
    ])
    .style(Style::Posix)
    .flags(&[
        takes(&["--library-path", "--argv0"], &[]),
        takes(&["--preload"], &[Does::Sets("env:LD_PRELOAD", Reach::Command)]),
        takes(&["--audit"], &[Does::Sets("env:LD_AUDIT", Reach::Command)]),
    ])
    .operands(RUNS)
    .examples(&[("ld.so /bin/cat a", &["runs cat a", "reads a"])]),
    model(&["start-stop-daemon"])
        .flags(&[
            takes(&["--exec", "-x", "--startas", "-a"], &[PROGRAM]),
            takes(
                &[
                    "--pidfile",
                    "-p",
                    "--name",
                    "-n",
                    "--user",
                    "-u",
                    "--chuid",
                    "-c",
                    "--signal",
                    "-s",
                ],
                &[],
            ),
        ])
        .examples(&[
            ("start-stop-daemon -S -x /bin/sh", &["runs sh"]),
            ("start-stop-daemon -S -x /bin/cat -- a", &["runs cat", "runs cat a", "reads a"]),
        ]),
    model(&["run-parts"])
        .flags(&[takes(&["--regex", "--arg", "-a", "--umask"], &[])])
        .operands(each(&[Does::Script(Language::Other), Does::Hides])),
    model(&["dotenv", "dotenvx", "env-cmd"])
        .style(Style::Posix)
        // The command gets the variables; they are not shown.
        .flags(&[takes(&["-e", "-f", "--env-file"], &[LISTS]), takes(&["-v"], &[])])
        .subs(&[
            model(&["run"]).style(Style::Posix).operands(RUNS),
            model(&["get", "list", "decrypt", "keypair"])
                .always(&[Does::ReadsFile(".env", crate::effect::Access::Content)]),
        ])
        .operands(RUNS)
        .examples(&[
            ("dotenvx run -- cat a", &["runs cat a", "reads a"]),
            ("dotenv -e .env cat a", &["lists .env", "runs cat a", "reads a"]),
        ]),
    model(&["concurrently", "npm-run-all", "run-s", "run-p", "wait-on"])
        .flags(&[takes(&["--names", "-n", "--prefix", "-p", "-c", "--kill-others-on-fail"], &[])])
        .operands(leading(&[&[SHELL], &[SHELL], &[SHELL], &[SHELL]], &[SHELL]))
        .examples(&[(
            "concurrently 'cat a' 'cat b'",
            &["runs cat a", "runs cat b", "reads a", "reads b"],
        )]),
    model(&["cross-env", "cross-env-shell"]).style(Style::Posix).operands(RUNS),
    model(&["wsl"])
        .style(Style::Posix)
        .flags(&[
            takes(&["--unregister"], &[mark(Mark::Infrastructure)]),
            takes(&["--distribution", "-d", "--user", "-u", "--cd", "--import", "--export"], &[]),
            switch(&["--exec", "-e", "--list", "-l", "--status", "--shutdown", "--version"], &[]),
        ])
        .operands(RUNS)
        .examples(&[
            ("wsl -d Ubuntu cat a", &["runs cat a", "reads a"]),
            ("wsl --unregister Ubuntu", &["marks infrastructure"]),
        ]),
    model(&["choom"]).style(Style::Posix).flags(&[takes(&["-n", "-p"], &[])]).operands(RUNS),
    model(&["logsave"])
        .style(Style::Posix)
        .operands(leading(&[&[WRITES], &[COMMAND]], &[]))
        .examples(&[("logsave l cat a", &["writes l", "runs cat a", "reads a"])]),
    model(&["multitime", "distcc", "ccache", "sccache", "bear", "intercept-build", "scan-build"])
        .style(Style::Posix)
        .operands(RUNS)
        .examples(&[("ccache cat a", &["runs cat a", "reads a"])]),
    model(&["open"])
        .flags(&[
            takes(&["-a", "-b"], &[]),
            switch(&["-e", "-t", "-R", "-n", "-g"], &[]),
            takes(&["--remote-debugging-port"], &[mark(Mark::Spies)]),
        ])
        .operands(each(&[
            Does::Repository(crate::effect::Purpose::Fetch),
            // Settings that an administrator gives.
            Does::MarksIfContains(".mobileconfig", Mark::Guard),
        ]))
        .examples(&[
            ("open ./a.html", &["reads-tree a.html"]),
            ("open https://h.example", &["fetches h.example:443"]),
        ]),
];
