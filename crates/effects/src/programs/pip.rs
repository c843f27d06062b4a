//! Package managers of Python.

use crate::effect::Reach;
use crate::marks::Mark;
use crate::model::*;
use crate::programs::packages::{INDEX, PUBLISH};

pub(crate) const MODELS: &[Model] = &[
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
            takes(&["--channel", "-c"], &[Does::Package(Registry::Other)]),
            takes(&["--name", "-n", "--prefix", "-p", "--solver"], &[]),
            takes(&["--file", "-f"], &[Does::Repository(crate::effect::Purpose::Execute)]),
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
            ("mamba env create -f https://h.example/e.yml", &["executes h.example:443"]),
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
];

const PIP: Operands = each(&[Does::Package(Registry::Pip)]);

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
                "install.extra-index-url",
                "install.index-url",
                "user.index-url",
                "site.index-url",
            ],
            &[Does::Sets("pip:index-url", Reach::Lasting)],
        ),
        joined(
            &[
                "global.trusted-host",
                "global.proxy",
                "global.find-links",
                "global.cert",
                "install.trusted-host",
                "install.find-links",
                "install.proxy",
            ],
            &[Does::Sets("pip:trusted-host", Reach::Lasting), mark(Mark::Guard)],
        ),
    ]),
    model(&["edit"]).flags(&[takes(&["--editor"], &[PROGRAM])]),
    model(&["get", "list", "debug", "unset"]),
]);

const PIP_SUBS: &[Model] = &[
    model(&["install", "download", "wheel"]).operands(PIP),
    model(&["show"]).flags(&[switch(&["--files", "-f"], &[])]),
    model(&["list", "freeze"]).flags(&[switch(&["--editable", "-e"], &[])]),
    model(&[
        "uninstall",
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
