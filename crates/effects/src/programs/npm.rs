//! Package managers of JavaScript.

use crate::effect::{Change, Reach};
use crate::marks::Mark;
use crate::model::*;
use crate::programs::packages::{INDEX, PUBLISH, RECIPE, UNPUBLISH};

pub(crate) const MODELS: &[Model] = &[
    model(&["npm", "pnpm", "yarn", "yarnpkg", "cnpm", "rush", "lerna"])
        .flags(NPM_FLAGS)
        .subs(NPM_SUBS)
        .examples(&[
            ("npm ci", &[]),
            ("npm ls --depth=0", &[]),
            ("npm view react version", &[]),
            ("npm publish", &["marks publishes"]),
            ("npm pkg delete private", &["marks guard"]),
            ("yarn config get npmAuthToken", &["marks credentials"]),
            ("npm install https://h.example/p.tgz", &["executes h.example:443"]),
            ("npm install --registry=https://h.example", &["executes h.example:443"]),
            (
                concat!("npm config set registry https://registry.npmjs", ".org"),
                &[concat!("fetches registry.npmjs", ".org:443")],
            ),
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
            model(&["exec"]).style(Style::Posix).operands(leading(&[&[SHELL]], &[])),
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
            ("bun exec 'cat a'", &["runs cat a", "reads a"]),
        ]),
    model(&["zx"])
        .flags(&[takes(&["--eval", "-e"], &[Does::Code(Language::JavaScript)]).instead()])
        .operands(leading(&[&[Does::Script(Language::JavaScript)]], &[]))
        .bare(&[Does::RunsInput(Language::JavaScript)])
        .examples(&[("zx -e 'await $`cat a`'", &["runs cat a", "reads a"])]),
];

const NPM: Operands = each(&[Does::Package(Registry::Npm)]);

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
        joined(&["npmRegistryServer", "npmScopes"], &[Does::Sets("npm:registry", Reach::Lasting)]),
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
    model(&["get"]).operands(each(&[
        Does::MarksIfContains("_auth", Mark::Credentials),
        Does::MarksIfContains("_password", Mark::Credentials),
        Does::MarksIfContains("AuthToken", Mark::Credentials),
        Does::MarksIfContains("AuthIdent", Mark::Credentials),
    ])),
    model(&["list", "ls", "delete", "rm", "fix"]),
]);

const NPM_SET: Model = model(&["set"]).flags(&[
    joined(&["registry", "@"], &[Does::Sets("npm:registry", Reach::Lasting)]),
    joined(&["script-shell"], &[Does::Sets("npm:script-shell", Reach::Lasting)]),
    joined(&["strict-ssl"], &[Does::Sets("npm:strict-ssl", Reach::Lasting), mark(Mark::Guard)]),
    joined(&["npmRegistryServer"], &[Does::Sets("npm:registry", Reach::Lasting)]),
]);

const NPM_SUBS: &[Model] = &[
    NPM_SET,
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
        // What keeps a package from being published.
        model(&["delete"]).operands(each(&[Does::MarksIf(&["private"], Mark::Guard)])),
        model(&["get", "fix"]),
    ]),
    model(&["pack"]).flags(&[takes(&["--pack-destination"], &[MAKES])]),
    model(&["publish"]).always(PUBLISH),
    model(&["unpublish", "deprecate"]).always(UNPUBLISH),
    model(&["dist-tag", "owner", "access", "team", "hook", "org"]).subs(&[
        model(&["add", "rm", "set", "grant", "revoke", "create", "destroy", "update", "remove"])
            .always(UNPUBLISH),
        model(&["public", "restricted", "2fa-required", "2fa-not-required"]).always(UNPUBLISH),
    ]),
    model(&["token"]).subs(&[model(&["create"]).always(&[mark(Mark::Credentials)])]),
    model(&["login", "adduser", "logout", "profile"]),
    model(&["edit"]).always(&[Does::Hides]),
    model(&["explore"]).operands(leading(&[&[], &[COMMAND]], &[])),
    NPM_CONFIG,
];
