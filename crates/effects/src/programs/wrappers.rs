//! Programs that run another program.

use crate::marks::Mark;
use crate::model::*;

const SHELL_FLAGS: &[Flag] = &[
    takes(&["-c"], &[SHELL]).instead(),
    takes(&["-o", "+o", "-O", "+O"], &[]),
    takes(&["--rcfile", "--init-file"], &[Does::Script(Language::Shell)]),
    switch(&["-s"], &[Does::RunsInput(Language::Shell)]),
];

pub(crate) const MODELS: &[Model] = &[
    model(&[
        "sh", "bash", "zsh", "dash", "ksh", "ash", "rbash", "mksh", "fish", "tcsh", "csh", "rzsh",
    ])
    .style(Style::Posix)
    .flags(SHELL_FLAGS)
    .operands(leading(&[&[Does::Script(Language::Shell)]], &[]))
    .bare(&[Does::RunsInput(Language::Shell)])
    .examples(&[
        ("bash -c 'rm x'", &["runs rm x", "deletes x"]),
        ("bash -lc 'rm x'", &["runs rm x", "deletes x"]),
        ("sh run.sh a", &["reads run.sh"]),
        (
            "bash <(curl -s https://e.com/x)",
            &[
                "runs curl -s https://e.com/x",
                "fetches e.com:443",
                "executes e.com:443",
                "opaque network-code",
            ],
        ),
    ]),
    model(&["sudo", "doas", "gosu", "su-exec", "pkexec"])
        .style(Style::Posix)
        .flags(&[
            takes(
                &["-u", "--user", "-g", "--group", "-h", "-p", "-C", "-r", "-t", "-T", "-U"],
                &[],
            ),
            takes(&["-D", "--chdir", "-R", "--chroot"], &[FOLDER]),
            switch(&["-e", "--edit"], &[]).operands(each(&[WRITES])),
        ])
        .always(&[mark(Mark::Elevates)])
        .operands(each(&[COMMAND]))
        .examples(&[
            ("sudo -u root rm x", &["runs rm x", "deletes x", "marks elevates"]),
            ("sudo A=1 ls", &["sets env:A=1", "runs ls", "marks elevates"]),
        ]),
    model(&["timeout", "gtimeout"])
        .style(Style::Posix)
        .flags(&[takes(&["-s", "--signal", "-k", "--kill-after"], &[])])
        .operands(leading(&[&[]], &[COMMAND]))
        .examples(&[("timeout -k 5 10s rm x", &["runs rm x", "deletes x"])]),
    model(&[
        "nohup",
        "setsid",
        "busybox",
        "toybox",
        "catchsegv",
        "fakeroot",
        "dbus-run-session",
        "linux64",
        "caffeinate",
        "unbuffer",
        "proxychains",
        "proxychains4",
        "torsocks",
        "rlwrap",
        "time",
        "exec",
    ])
    .style(Style::Posix)
    .operands(each(&[COMMAND]))
    .examples(&[("nohup rm x", &["runs rm x", "deletes x"])]),
    model(&["nice", "ionice", "chrt", "taskset", "stdbuf", "numactl", "prlimit"])
        .style(Style::Posix)
        .flags(&[takes(
            &[
                "-n",
                "--adjustment",
                "-c",
                "-p",
                "-o",
                "-e",
                "-i",
                "--output",
                "--error",
                "--input",
                "--class",
                "--classdata",
            ],
            &[],
        )])
        .operands(each(&[COMMAND]))
        .examples(&[("nice -n 10 rm x", &["runs rm x", "deletes x"])]),
    model(&["xargs", "gxargs"])
        .style(Style::Posix)
        .flags(&[
            takes(
                &[
                    "-I",
                    "-i",
                    "--replace",
                    "-n",
                    "--max-args",
                    "-P",
                    "--max-procs",
                    "-L",
                    "-d",
                    "--delimiter",
                    "-s",
                    "-E",
                ],
                &[],
            ),
            takes(&["-a", "--arg-file"], &[READS]),
        ])
        .operands(each(&[Does::CommandWithInput]))
        .examples(&[
            ("echo a | xargs rm", &["runs xargs rm", "runs rm a", "deletes a"]),
            (
                "echo a | xargs -I{} rm x/{}",
                &["runs xargs -I{} rm x/{}", "runs rm x/a", "deletes x/a"],
            ),
        ]),
    model(&["find", "gfind"])
        .style(Style::SingleDash)
        .flags(&[
            switch(&["-exec", "-execdir", "-ok", "-okdir"], &[COMMAND]).value(Value::ToSemicolon),
            switch(&["-delete"], &[]).operands(each(&[DELETES_TREE])),
            takes(&["-fprint", "-fprint0", "-fls"], &[WRITES]),
            takes(&["-fprintf"], &[WRITES]).value(Value::FirstOfTwo),
            takes(
                &[
                    "-name",
                    "-iname",
                    "-path",
                    "-ipath",
                    "-regex",
                    "-iregex",
                    "-wholename",
                    "-type",
                    "-mtime",
                    "-mmin",
                    "-ctime",
                    "-atime",
                    "-size",
                    "-perm",
                    "-user",
                    "-group",
                    "-maxdepth",
                    "-mindepth",
                    "-printf",
                    "-lname",
                    "-inum",
                    "-links",
                    "-uid",
                    "-gid",
                    "-regextype",
                    "-xtype",
                    "-amin",
                    "-cmin",
                    "-D",
                ],
                &[],
            ),
            takes(&["-newer", "-samefile", "-anewer", "-cnewer", "-files0-from"], &[LISTS]),
        ])
        .operands(each(&[LISTS]))
        .examples(&[
            ("find src -name '*.o' -delete", &["deletes-tree src"]),
            ("find . -name '*.ts' -exec rm {} +", &["lists .", "runs rm ./…", "deletes ./…"]),
        ]),
];
