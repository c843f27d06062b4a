//! Version control other than git, and the command lines of forges.

use crate::effect::{Change, Purpose, Reach, Scope};
use crate::marks::Mark;
use crate::model::*;
use crate::programs::git::GIT_PUSH;

const FROM: Use = &[Does::Repository(Purpose::Fetch)];
const TO: Use = &[Does::Repository(Purpose::Send)];
const MESSAGE: Flag = takes(&["--message", "-m"], &[]);

pub(crate) const MODELS: &[Model] = &[
    model(&["gh"]).flags(&[takes(&["--repo", "-R", "--hostname"], &[])]).subs(GH).examples(&[
        ("gh pr list", &[]),
        ("gh auth token", &["marks credentials"]),
        ("gh workflow disable codeql.yml", &["marks guard"]),
        ("gh workflow run ci.yml --ref main", &[]),
        ("gh secret set A -b c", &["marks infrastructure"]),
        ("gh repo delete a/b --yes", &["marks infrastructure"]),
        ("gh gist create a", &["reads a", "sends gist.github.com:443", "marks publishes"]),
        ("gh pr create --title x --body 'rm -rf /'", &[]),
    ]),
    model(&["glab", "tea", "hub"])
        .flags(&[takes(&["--repo", "-R"], &[])])
        .subs(&[
            model(&["mr", "issue", "pr", "pipeline", "ci", "release", "label"])
                .flags(&[takes(&["--title", "-t", "--description", "-d", "--message", "-m"], &[])])
                .subs(&[model(&["delete"]).always(&[mark(Mark::RemoteDelete)])]),
            model(&["repo"]).subs(&[
                model(&["delete", "transfer"]).always(&[mark(Mark::Infrastructure)]),
                model(&["view", "clone", "list", "search", "archive", "fork", "create"]),
            ]),
            GIT_PUSH,
            model(&["api"]).flags(&[takes(
                &["--method", "-X"],
                &[Does::MarksIf(&["DELETE"], Mark::RemoteDelete)],
            )]),
            model(&["delete"]).always(&[mark(Mark::Infrastructure)]),
            model(&["ssh-key", "gpg-key", "deploy-key"]).subs(&[
                model(&["add"]).operands(each(&[READS])).always(&[mark(Mark::Accounts)]),
                model(&["list", "get"]),
            ]),
            model(&["auth", "variable", "token"]).always(&[mark(Mark::Credentials)]),
            model(&["config"]).subs(&[
                model(&["get"])
                    .operands(each(&[Does::MarksIfContains("token", Mark::Credentials)])),
                model(&["set", "edit", "init"]),
            ]),
            model(&["snippet"]).subs(&[
                model(&["create"])
                    .operands(each(&[READS]))
                    .always(&[Does::ConnectsTo("gitlab.com", Purpose::Send)]),
                model(&["list", "view"]),
            ]),
        ])
        .examples(&[
            ("glab repo delete a/b", &["marks infrastructure"]),
            ("glab mr list", &[]),
            ("glab config get token", &["marks credentials"]),
            ("glab snippet create a", &["reads a", "sends gitlab.com:443"]),
            ("hub push -f", &["marks force-push"]),
            ("hub delete -y a/b", &["marks infrastructure"]),
            ("glab ssh-key add a.pub", &["reads a.pub", "marks accounts"]),
        ]),
    // The program of Android for many repositories.
    model(&["repo"])
        .subs(&[
            model(&["forall"])
                .style(Style::Posix)
                .flags(&[takes(&["-c", "--command"], &[SHELL]).value(Value::Rest)]),
            model(&["sync", "status", "list", "diff", "info", "start", "branches", "version"]),
            model(&["init"]).flags(&[takes(&["-u"], &[Does::Repository(Purpose::Execute)])]),
        ])
        .examples(&[("repo forall -c 'cat a'", &["runs cat a", "reads a"]), ("repo status", &[])]),
    model(&["bfg"])
        .always(&[mark(Mark::History)])
        .examples(&[("bfg --delete-files x", &["marks history"])]),
    model(&["svn"])
        .subs(&[
            model(&[
                "status", "st", "log", "info", "diff", "list", "ls", "blame", "propget", "stat",
            ]),
            model(&["cat"]).operands(each(&[READS])),
            model(&["checkout", "co", "export"]).operands(leading(&[FROM, &[MAKES]], &[])),
            model(&[
                "update", "up", "add", "revert", "resolve", "cleanup", "switch", "merge", "mkdir",
                "copy", "move",
            ]),
            model(&["commit", "ci", "import"]).flags(&[MESSAGE]),
            model(&["delete", "rm", "remove"])
                .flags(&[
                    MESSAGE,
                    joined(&["https:", "http:", "svn:", "svn+ssh:"], &[mark(Mark::RemoteDelete)]),
                ])
                .operands(each(&[DELETES_TREE])),
        ])
        .flags(&[
            takes(&["--config-option"], &[Does::Hides]),
            takes(&["--diff-cmd", "--editor-cmd", "--diff3-cmd"], &[PROGRAM]),
            takes(&["--username", "--password", "-r"], &[]),
        ])
        .examples(&[
            ("svn status", &[]),
            ("svn rm x", &["deletes-tree x"]),
            ("svn diff --diff-cmd ./x", &["runs x"]),
        ]),
    // `sl` is Sapling.
    model(&["hg", "sl"])
        .flags(&[
            takes(&["--config"], &[Does::Hides]),
            takes(&["--cwd"], &[FOLDER]),
            takes(&["--repository", "-R"], &[]),
        ])
        .subs(&[
            model(&[
                "status", "st", "log", "diff", "summary", "id", "annotate", "paths", "heads",
                "branches", "tags",
            ]),
            model(&["cat"]).operands(each(&[READS])),
            model(&["clone", "pull", "incoming"])
                .flags(&[takes(&["--ssh", "-e", "--remotecmd"], &[SHELL])])
                .operands(leading(&[FROM], &[])),
            model(&["push"])
                .flags(&[
                    switch(&["--force", "-f"], &[mark(Mark::ForcePush)]),
                    takes(&["--ssh", "-e"], &[SHELL]),
                ])
                .operands(leading(&[TO], &[])),
            model(&[
                "commit", "ci", "update", "up", "add", "merge", "revert", "shelve", "rebase",
                "branch", "bookmark",
            ])
            .flags(&[MESSAGE]),
        ])
        .examples(&[
            ("hg status", &[]),
            ("hg push -f", &["marks force-push"]),
            ("sl push --force --to main", &["marks force-push"]),
            ("hg --config alias.x='!cat a' x", &["opaque language"]),
        ]),
    model(&["jj"])
        .flags(&[takes(&["--repository", "-R", "--config", "--at-operation"], &[])])
        .subs(&[
            model(&["git"]).subs(&[
                model(&["push"])
                    .flags(&[switch(&["--deleted", "--all"], &[mark(Mark::RemoteDelete)])]),
                model(&["fetch", "clone", "import", "export", "remote", "init"]),
            ]),
            // A bookmark that goes back is pushed by force.
            model(&["bookmark"]).subs(&[model(&["set", "move"])
                .flags(&[switch(&["--allow-backwards", "-B"], &[mark(Mark::ForcePush)])])]),
            model(&["util"]).subs(&[model(&["exec"])
                .style(Style::Posix)
                .operands(leading(&[&[COMMAND]], &[]))]),
            model(&[
                "status", "st", "log", "diff", "show", "new", "commit", "describe", "desc", "edit",
                "squash", "rebase", "abandon", "undo", "op", "file", "split", "evolog",
            ])
            .flags(&[MESSAGE]),
        ])
        .examples(&[
            ("jj log", &[]),
            ("jj git push --deleted", &["marks remote-delete"]),
            ("jj util exec -- cat a", &["runs cat a", "reads a"]),
            ("jj bookmark set main -r @- --allow-backwards", &["marks force-push"]),
        ]),
    model(&[
        "tig",
        "lazygit",
        "gitk",
        "git-cliff",
        "gitui",
        "onefetch",
        "commitlint",
        "semantic-release",
        "standard-version",
        "changeset",
    ])
    .flags(&[takes(&["--output", "-o"], &[WRITES])])
    .examples(&[("changeset add --empty", &[]), ("git-cliff -o a", &["writes a"])]),
    model(&["git-lfs", "pre-commit", "lefthook", "husky"])
        .flags(&[takes(&["--output", "-o"], &[WRITES])])
        .subs(&[
            model(&["install", "add"]).always(&[Does::WritesFile(".git/hooks", Change::Folder)]),
            model(&["uninstall"])
                .always(&[Does::DeletesFile(".git/hooks", Scope::One), mark(Mark::SkipsCheck)]),
        ])
        .examples(&[
            ("pre-commit run --all-files", &[]),
            ("pre-commit install", &["makes .git/hooks"]),
        ]),
];

const TITLE: Flag = takes(
    &[
        "--title",
        "-t",
        "--body",
        "-b",
        "--notes",
        "-n",
        "--label",
        "-l",
        "--assignee",
        "-a",
        "--reviewer",
        "-r",
        "--base",
        "-B",
        "--head",
        "-H",
        "--milestone",
        "-m",
        "--json",
        "--jq",
        "-q",
        "--template",
        "--limit",
        "-L",
        "--state",
        "-s",
        "--search",
        "-S",
        "--branch",
        "--workflow",
        "-w",
        "--author",
        "-A",
        "--ref",
    ],
    &[],
);
const BODY_FILE: Flag = takes(&["--body-file", "-F", "--notes-file"], &[READS]);

/// Sub-commands of the GitHub command line.
const GH: &[Model] = &[
    model(&["label", "cache"]),
    model(&[
        "pr",
        "issue",
        "project",
        "run",
        "search",
        "status",
        "browse",
        "org",
        "ruleset",
        "attestation",
        "discussion",
    ])
    .flags(&[TITLE, BODY_FILE])
    .subs(&[
        model(&["delete"]).always(&[mark(Mark::RemoteDelete)]),
        model(&["download"]).flags(&[takes(&["--dir", "-D"], &[MAKES])]),
        model(&[
            "list", "ls", "view", "diff", "checks", "status", "create", "new", "edit", "comment",
            "close", "reopen", "ready", "review", "checkout", "co", "merge", "watch", "rerun",
            "cancel", "enable", "disable", "clone", "transfer", "lock", "unlock", "pin", "unpin",
            "develop",
        ])
        .flags(&[TITLE, BODY_FILE]),
    ]),
    model(&["workflow"]).subs(&[
        model(&["disable"]).always(&[mark(Mark::Guard)]),
        model(&["list", "view", "run", "enable"])
            .flags(&[takes(&["--ref", "-r", "--field", "-F", "--raw-field", "-f"], &[])]),
    ]),
    model(&["auth"]).subs(&[
        model(&["status", "login", "refresh", "switch", "setup-git"])
            .flags(&[switch(&["--show-token", "-t"], &[mark(Mark::Credentials)])]),
        model(&["token", "git-credential"]).always(&[mark(Mark::Credentials)]),
        model(&["logout"]).always(&[mark(Mark::Guard)]),
    ]),
    model(&["repo"]).flags(&[TITLE]).subs(&[
        model(&["delete", "archive"]).always(&[mark(Mark::Infrastructure)]),
        model(&["sync"]).flags(&[switch(&["--force"], &[mark(Mark::ForcePush)])]),
        model(&["edit"]).flags(&[
            takes(
                &["--visibility"],
                &[mark(Mark::Publishes), Does::MarksIf(&["public"], Mark::Guard)],
            ),
            joined(
                &[
                    "--enable-secret-scanning",
                    "--enable-secret-scanning-push-protection",
                    "--enable-advanced-security",
                ],
                &[Does::MarksIf(&["false"], Mark::Guard)],
            ),
        ]),
        model(&["create"]).flags(&[
            switch(&["--public", "--push"], &[mark(Mark::Publishes)]),
            takes(&["--source"], &[READS_TREE]),
        ]),
        model(&["clone"]).operands(leading(&[&[], &[MAKES]], &[])),
        model(&["deploy-key"]).subs(&[
            model(&["add"]).operands(each(&[READS])).always(&[mark(Mark::Privilege)]),
            model(&["list", "delete"]),
        ]),
        model(&[
            "view",
            "list",
            "fork",
            "sync",
            "set-default",
            "rename",
            "unarchive",
            "autolink",
            "license",
            "gitignore",
        ]),
    ]),
    model(&["release"]).flags(&[TITLE, BODY_FILE]).subs(&[
        model(&["delete", "delete-asset"]).always(&[mark(Mark::RemoteDelete)]),
        model(&["create", "upload"])
            .operands(leading(&[&[]], &[READS]))
            .always(&[mark(Mark::Publishes)]),
        model(&["download"]).flags(&[
            takes(&["--dir", "-D", "--output", "-O"], &[WRITES]),
            takes(&["--pattern", "-p"], &[]),
        ]),
        model(&["list", "view", "edit", "verify"]),
    ]),
    model(&["gist"]).subs(&[
        model(&["create", "edit"])
            .flags(&[takes(&["--desc", "-d", "--filename", "-f"], &[])])
            .operands(each(&[READS]))
            .always(&[mark(Mark::Publishes), Does::ConnectsTo("gist.github.com", Purpose::Send)]),
        model(&["delete"]).always(&[mark(Mark::RemoteDelete)]),
        model(&["list", "view", "clone"]),
    ]),
    model(&["api"]).flags(&[
        takes(
            &["--method", "-X"],
            &[Does::MarksIf(&["DELETE", "PUT", "PATCH"], Mark::RemoteDelete)],
        ),
        takes(
            &["--field", "-F"],
            &[Does::FieldFile, Does::ConnectsTo("api.github.com", Purpose::Fetch)],
        ),
        takes(
            &["--header", "-H", "--jq", "-q", "--template", "-t", "--preview", "-p", "--cache"],
            &[],
        ),
        takes(&["--input"], &[READS, Does::ConnectsTo("api.github.com", Purpose::Send)]),
        takes(&["--raw-field", "-f"], &[Does::ConnectsTo("api.github.com", Purpose::Fetch)]),
    ]),
    model(&["secret"]).subs(&[
        // Jobs of CI get the new value from now on.
        model(&["set"])
            .flags(&[
                takes(&["--body", "-b", "--env", "-e", "--org", "-o"], &[]),
                takes(&["--env-file", "-f"], &[READS]),
            ])
            .always(&[mark(Mark::Infrastructure)]),
        model(&["list", "get"]),
        model(&["delete", "remove"]).always(&[mark(Mark::RemoteDelete)]),
    ]),
    model(&["variable"]).subs(&[
        model(&["set"]).flags(&[
            takes(&["--body", "-b", "--env", "-e", "--org", "-o"], &[]),
            takes(&["--env-file", "-f"], &[READS]),
        ]),
        model(&["list", "get"]),
        model(&["delete", "remove"]).always(&[mark(Mark::RemoteDelete)]),
    ]),
    model(&["ssh-key", "gpg-key"]).subs(&[
        model(&["add"]).operands(each(&[READS])).always(&[mark(Mark::Privilege)]),
        model(&["list"]),
        model(&["delete"]),
    ]),
    model(&["extension"]).subs(&[
        model(&["install", "upgrade", "exec"]).operands(each(&[Does::Package(Registry::Npm)])),
        model(&["list", "search", "browse", "remove", "create"]),
    ]),
    model(&["alias"]).subs(&[
        model(&["set", "import"]).always(&[Does::Sets("gh:alias", Reach::Lasting)]),
        model(&["list", "delete"]),
    ]),
    model(&["codespace"]).subs(&[
        model(&["ssh"]).operands(each(&[Does::RemoteShell])),
        model(&["list", "view", "create", "code", "logs", "stop", "ports", "cp"]),
        model(&["delete"]).always(&[mark(Mark::Infrastructure)]),
    ]),
    model(&["config", "completion", "version", "copilot", "help"]),
];
