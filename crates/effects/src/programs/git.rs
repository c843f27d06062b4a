//! Git.

use crate::effect::{Change, Purpose, Reach};
use crate::marks::Mark;
use crate::model::*;

pub(crate) const MODELS: &[Model] = &[model(&["git"])
    .flags(&[
        takes(&["-C"], &[FOLDER]),
        takes(&["-c"], &[Does::Assigns("git:", Reach::Command)]),
        takes(&["--config-env"], &[Does::Assigns("git:", Reach::Command)]),
        takes(&["--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source"], &[]),
        joined(&["--exec-path"], &[]),
        switch(
            &[
                "--no-pager",
                "-P",
                "--paginate",
                "-p",
                "--version",
                "--help",
                "--bare",
                "--literal-pathspecs",
            ],
            &[],
        ),
    ])
    .subs(GIT)
    .examples(&[
        ("git status", &[]),
        ("git restore --staged a", &[]),
        ("git restore a", &["writes a", "marks discards-work"]),
        ("git --no-pager log -5", &[]),
        ("git push --force origin main", &["marks force-push"]),
        ("git push -f", &["marks force-push"]),
        ("git push origin +main", &["marks force-push"]),
        ("git push origin :old", &["marks remote-delete"]),
        ("git push -d origin old", &["marks remote-delete"]),
        ("git push https://h.example/x.git", &["sends h.example:443"]),
        ("git clone https://h.example/x.git y", &["fetches h.example:443", "makes y"]),
        ("git rebase -x 'cat a' main", &["runs cat a", "reads a"]),
        ("git bisect run sh -c 'cat a'", &["runs sh -c cat a", "runs cat a", "reads a"]),
        ("git submodule foreach 'cat a'", &["runs cat a", "reads a"]),
        (
            "git filter-branch --tree-filter 'cat a' HEAD",
            &["runs cat a", "reads a", "marks history"],
        ),
        ("git reflog expire --all", &["marks history"]),
        ("git rm -r old", &["deletes-tree old"]),
        ("git commit -m 'rm -rf /'", &[]),
        ("git grep -n 'rm -rf'", &[]),
        ("git diff --no-index a b", &["reads a", "reads b"]),
        ("git reset --hard HEAD~1", &["marks discards-work"]),
        ("git worktree add ../x", &["makes ../x"]),
    ])];

const FROM: Use = &[Does::Repository(Purpose::Fetch)];
const TO: Use = &[Does::Repository(Purpose::Send)];
/// `--upload-pack=CMD` runs CMD on the other host, which is this one for a local path.
const PACK: Use = &[SHELL];
const MESSAGE: Flag = takes(&["--message", "-m"], &[]);
const FROM_FILE: Flag = takes(&["--file", "-F"], &[READS]);
const NO_VERIFY: Flag = switch(&["--no-verify"], &[mark(Mark::SkipsCheck)]);

/// `git push`; other programs have it too.
pub(super) const GIT_PUSH: Model = model(&["push", "send-pack", "http-push"])
    .flags(&[
        switch(&["--force", "-f", "--mirror", "--prune"], &[mark(Mark::ForcePush)]),
        joined(&["--force-with-lease"], &[mark(Mark::ForcePush)]),
        switch(&["--force-if-includes"], &[]),
        switch(&["--delete", "-d"], &[mark(Mark::RemoteDelete)]),
        joined(&["+"], &[mark(Mark::ForcePush)]),
        joined(&[":"], &[mark(Mark::RemoteDelete)]),
        takes(&["--receive-pack", "--exec"], PACK),
        takes(&["--push-option", "-o", "--repo"], &[]),
        NO_VERIFY,
    ])
    .operands(leading(&[TO], &[]));

const GIT_COMMIT: Model = model(&["commit"])
    .flags(&[
        MESSAGE,
        FROM_FILE,
        takes(
            &[
                "--reuse-message",
                "-C",
                "--reedit-message",
                "-c",
                "--fixup",
                "--squash",
                "--author",
                "--date",
                "--trailer",
                "--cleanup",
            ],
            &[],
        ),
        takes(&["--template", "-t", "--pathspec-from-file"], &[READS]),
        switch(&["--no-verify", "-n"], &[mark(Mark::SkipsCheck)]),
    ])
    .operands(each(&[READS]));

/// The sub-commands of git.
const GIT: &[Model] = &[
    // History.
    model(&["filter-branch"])
        .flags(&[takes(
            &[
                "--tree-filter",
                "--index-filter",
                "--env-filter",
                "--msg-filter",
                "--commit-filter",
                "--parent-filter",
                "--tag-name-filter",
                "--setup",
            ],
            &[SHELL],
        )])
        .always(&[mark(Mark::History)]),
    model(&["filter-repo"])
        .flags(&[
            takes(&["--path", "--path-glob", "--path-regex", "--subdirectory-filter"], &[]),
            takes(
                &["--replace-text", "--mailmap", "--paths-from-file", "--replace-message"],
                &[READS],
            ),
            takes(
                &[
                    "--blob-callback",
                    "--commit-callback",
                    "--filename-callback",
                    "--message-callback",
                    "--refname-callback",
                ],
                &[Does::Code(Language::Python)],
            ),
        ])
        .always(&[mark(Mark::History)]),
    model(&["reflog"]).subs(&[
        model(&["show", "exists", "list"]),
        model(&["expire", "delete"]).always(&[mark(Mark::History)]),
    ]),
    model(&["update-ref"])
        .flags(&[switch(&["-d", "--stdin"], &[mark(Mark::History)]), takes(&["-m"], &[])]),
    model(&["gc", "prune", "repack", "maintenance"]).flags(&[joined(&["--prune"], &[])]),
    model(&["replace", "fast-import"]).always(&[mark(Mark::History)]),
    // Other repositories.
    GIT_PUSH,
    model(&["fetch", "pull", "ls-remote", "fetch-pack"])
        .flags(&[
            takes(&["--upload-pack", "--exec"], PACK),
            takes(
                &[
                    "--depth",
                    "--deepen",
                    "--shallow-since",
                    "--jobs",
                    "-j",
                    "--refmap",
                    "--strategy",
                    "-s",
                    "--strategy-option",
                    "-X",
                    "--server-option",
                    "-o",
                    "--sort",
                ],
                &[],
            ),
            NO_VERIFY,
        ])
        .operands(leading(&[FROM], &[])),
    model(&["clone"])
        .flags(&[
            takes(&["--upload-pack", "-u"], PACK),
            takes(&["--config", "-c"], &[Does::Assigns("git:", Reach::Command)]),
            takes(&["--template"], &[READS_TREE, Does::Hides]),
            takes(
                &[
                    "--branch",
                    "-b",
                    "--depth",
                    "--origin",
                    "-o",
                    "--jobs",
                    "-j",
                    "--filter",
                    "--shallow-since",
                    "--bundle-uri",
                ],
                &[],
            ),
            takes(&["--separate-git-dir"], &[MAKES]),
            takes(&["--reference", "--reference-if-able"], &[READS_TREE]),
        ])
        .operands(leading(&[FROM, &[MAKES]], &[])),
    model(&["submodule"]).subs(&[
        model(&["foreach"]).operands(each(&[SHELL])),
        model(&["add"])
            .flags(&[takes(&["-b", "--name", "--reference", "--depth"], &[])])
            .operands(leading(&[FROM, &[MAKES]], &[])),
        model(&[
            "update",
            "init",
            "status",
            "summary",
            "sync",
            "deinit",
            "set-branch",
            "absorbgitdirs",
        ]),
        model(&["set-url"])
            .operands(leading(&[&[], FROM], &[]))
            .always(&[Does::Sets("git:submodule", Reach::Lasting)]),
    ]),
    model(&["remote"]).subs(&[
        model(&["add", "set-url"])
            .flags(&[takes(&["-t", "-m"], &[])])
            .operands(leading(&[&[], &[Does::Sets("git:remote", Reach::Lasting)]], &[])),
        model(&[
            "show",
            "get-url",
            "update",
            "prune",
            "rename",
            "remove",
            "rm",
            "set-head",
            "set-branches",
        ]),
    ]),
    model(&["send-email"])
        .flags(&[
            takes(&["--to", "--cc", "--bcc"], &[SENDS]),
            takes(&["--from", "--subject"], &[]),
            takes(&["--smtp-server"], &[SENDS]),
            takes(&["--sendmail-cmd", "--to-cmd", "--cc-cmd", "--header-cmd"], &[SHELL]),
        ])
        .always(&[mark(Mark::Publishes)]),
    model(&["archive"]).flags(&[
        takes(&["--output", "-o"], &[WRITES]),
        takes(&["--exec"], PACK),
        takes(&["--remote"], FROM),
        takes(&["--format", "--prefix", "--add-virtual-file"], &[]),
        takes(&["--add-file"], &[READS]),
    ]),
    model(&["daemon", "instaweb", "http-backend"]).always(&[mark(Mark::Tunnel)]),
    model(&["bundle"]).subs(&[
        model(&["create"]).operands(leading(&[&[WRITES]], &[])),
        model(&["verify", "list-heads", "unbundle"]).operands(each(&[READS])),
    ]),
    // Only looking.
    model(&[
        "status",
        "log",
        "shortlog",
        "describe",
        "rev-parse",
        "rev-list",
        "ls-files",
        "ls-tree",
        "merge-base",
        "name-rev",
        "for-each-ref",
        "show-ref",
        "cherry",
        "whatchanged",
        "count-objects",
        "check-ignore",
        "check-attr",
        "check-ref-format",
        "show-branch",
        "var",
        "version",
        "help",
        "fsck",
        "verify-commit",
        "verify-tag",
        "diff-tree",
        "diff-files",
        "diff-index",
        "range-diff",
        "stripspace",
        "symbolic-ref",
        "cat-file",
        "get-tar-commit-id",
        "request-pull",
        "annotate",
        "blame",
        "interpret-trailers",
        "column",
        "patch-id",
        "show-index",
        "verify-pack",
        "bugreport",
    ])
    .flags(&[
        takes(
            &[
                "--max-count",
                "-n",
                "--format",
                "--pretty",
                "--since",
                "--until",
                "--after",
                "--before",
                "--author",
                "--grep",
                "-L",
                "-S",
                "-G",
                "--sort",
                "--date",
                "--skip",
                "--contents",
            ],
            &[],
        ),
        takes(&["--output"], &[WRITES]),
        takes(&["--exclude-from", "-X"], &[READS]),
    ]),
    model(&["diff", "show"]).flags(&[
        switch(&["--no-index"], &[]).operands(each(&[READS])),
        switch(&["--ext-diff"], &[]),
        takes(&["--output"], &[WRITES]),
        takes(
            &[
                "-S",
                "-G",
                "--diff-filter",
                "-U",
                "--unified",
                "--word-diff-regex",
                "-O",
                "--format",
                "--pretty",
                "--color",
            ],
            &[],
        ),
    ]),
    model(&["grep"])
        .flags(&[
            joined(&["--open-files-in-pager", "-O"], &[SHELL]),
            takes(&["-e"], &[]).instead(),
            takes(&["-f"], &[READS]),
            takes(&["--max-depth", "-A", "-B", "-C", "-m", "--threads"], &[]),
            switch(&["--no-index"], &[]).operands(leading(&[&[]], &[READS_TREE])),
        ])
        .operands(leading(&[&[]], &[])),
    // The work tree and the repository.
    GIT_COMMIT,
    model(&["add", "stage"])
        .flags(&[takes(&["--chmod"], &[]), takes(&["--pathspec-from-file"], &[READS])])
        .operands(each(&[READS])),
    model(&["rm"])
        .flags(&[
            switch(&["-r"], &[]).operands(each(&[DELETES_TREE])),
            switch(&["--cached", "--dry-run", "-n"], &[]).operands(each(&[])),
        ])
        .operands(each(&[DELETES])),
    model(&["mv"]).operands(sources_and_target(&[READS_TREE, DELETES_TREE], &[MAKES])),
    model(&["restore"])
        .flags(&[
            takes(&["--source", "-s"], &[]),
            switch(&["--staged", "-S"], &[]).operands(each(&[])),
            takes(&["--pathspec-from-file"], &[READS]),
        ])
        .operands(each(&[WRITES, mark(Mark::DiscardsWork)])),
    model(&["checkout", "switch"]).flags(&[
        takes(&["-b", "-B", "-c", "-C", "--orphan", "--conflict"], &[]),
        switch(&["--force", "-f", "--discard-changes"], &[mark(Mark::DiscardsWork)]),
    ]),
    model(&["reset"]).flags(&[switch(&["--hard", "--merge"], &[mark(Mark::DiscardsWork)])]),
    model(&["clean"]).flags(&[
        switch(&["--force", "-f"], &[mark(Mark::DiscardsWork)]).operands(each(&[DELETES_TREE])),
        switch(&["--dry-run", "-n"], &[]).operands(each(&[])),
        takes(&["--exclude", "-e"], &[]),
    ]),
    model(&["stash"]).subs(&[
        model(&["push", "save", "pop", "apply", "list", "show", "branch", "create", "store"])
            .flags(&[MESSAGE]),
        model(&["drop"]).always(&[mark(Mark::DiscardsWork)]),
        // Everything that was ever put aside, in all of them.
        model(&["clear"]).always(&[mark(Mark::DiscardsWork), mark(Mark::History)]),
    ]),
    model(&["rebase"]).flags(&[
        takes(&["--exec", "-x"], &[SHELL]),
        takes(&["--onto", "--strategy", "-s", "-X", "--whitespace", "-C"], &[]),
        NO_VERIFY,
    ]),
    model(&["merge", "cherry-pick", "revert", "am"]).flags(&[
        MESSAGE,
        FROM_FILE,
        takes(&["--strategy", "-s", "--strategy-option", "-X", "--mainline", "--into-name"], &[]),
        NO_VERIFY,
    ]),
    model(&["apply"])
        .flags(&[
            takes(&["--directory"], &[MAKES]),
            takes(&["-p", "-C", "--include", "--exclude", "--whitespace"], &[]),
            switch(&["--unsafe-paths"], &[Does::Hides]),
            switch(&["--check", "--stat", "--numstat", "--summary"], &[]),
        ])
        .operands(each(&[READS])),
    model(&["branch"]).flags(&[
        takes(
            &[
                "--set-upstream-to",
                "-u",
                "--contains",
                "--merged",
                "--sort",
                "--format",
                "--points-at",
            ],
            &[],
        ),
        switch(&["--delete", "-d", "-D", "--move", "-m", "-M", "--list", "-l"], &[]),
    ]),
    model(&["tag"]).flags(&[
        MESSAGE,
        FROM_FILE,
        takes(&["--local-user", "-u", "--sort", "--contains", "--points-at", "--format"], &[]),
    ]),
    model(&["worktree"]).subs(&[
        model(&["add"])
            .flags(&[takes(&["-b", "-B", "--reason"], &[])])
            .operands(leading(&[&[MAKES]], &[])),
        // Git refuses to remove a worktree with changes unless it is forced.
        model(&["remove"]).operands(each(&[LISTS])),
        model(&["list", "prune", "lock", "unlock", "repair", "move"]),
    ]),
    model(&["init"])
        .flags(&[
            takes(&["--template"], &[READS_TREE, Does::Hides]),
            takes(&["--separate-git-dir"], &[MAKES]),
            takes(&["--initial-branch", "-b", "--object-format"], &[]),
        ])
        .operands(each(&[MAKES])),
    model(&["config"]).flags(CONFIG_KEYS).subs(&[
        model(&["get", "list", "get-all"]),
        model(&["edit"]).always(&[Does::WritesFile(".git/config", Change::Content)]),
    ]),
    model(&["bisect"]).subs(&[
        model(&["run"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
        model(&[
            "start",
            "good",
            "bad",
            "new",
            "old",
            "skip",
            "reset",
            "log",
            "view",
            "visualize",
            "terms",
        ]),
        model(&["replay"]).operands(each(&[READS])),
    ]),
    model(&["difftool", "mergetool"])
        .flags(&[takes(&["--extcmd", "-x"], &[SHELL]), takes(&["--tool", "-t"], &[])]),
    model(&["format-patch"]).flags(&[
        takes(&["--output-directory", "-o"], &[MAKES]),
        takes(&["--subject-prefix", "--start-number", "-v", "-n", "--to", "--cc"], &[]),
    ]),
    model(&["checkout-index"]).operands(each(&[WRITES])),
    model(&["update-index"])
        .flags(&[takes(&["--cacheinfo"], &[]), takes(&["--chmod"], &[])])
        .operands(each(&[])),
    model(&["hash-object"]).operands(each(&[READS])).flags(&[takes(&["-t", "--path"], &[])]),
    model(&[
        "notes",
        "sparse-checkout",
        "rerere",
        "read-tree",
        "write-tree",
        "commit-tree",
        "pack-refs",
        "mktag",
        "mktree",
        "lfs",
        "flow",
        "absorb",
        "subtree",
        "citool",
        "gui",
        "hook",
        "multi-pack-index",
        "commit-graph",
    ]),
    model(&[
        "credential",
        "credential-store",
        "credential-cache",
        "credential-osxkeychain",
        "credential-manager",
    ])
    .always(&[mark(Mark::Credentials)]),
    // Histories of other systems are read.
    model(&["svn", "p4", "cvsimport"])
        .flags(&[
            takes(&["--authors-prog"], &[PROGRAM]),
            takes(&["-r", "--revision", "--authors-file", "-A", "-T", "-t", "-b", "-d"], &[]),
        ])
        .operands(each(&[Does::Repository(Purpose::Fetch)])),
    model(&["import"]).always(&[Does::Hides]),
];

/// Settings of git that name a command, a folder of hooks, another host or another file of settings.
const CONFIG_KEYS: &[Flag] = &[
    joined(
        &["core.hooksPath", "core.hookspath"],
        &[Does::Sets("git:core.hooksPath", Reach::Lasting)],
    ),
    joined(&["core.pager"], &[Does::Sets("git:core.pager", Reach::Lasting)]),
    joined(&["core.editor"], &[Does::Sets("git:core.editor", Reach::Lasting)]),
    joined(
        &["core.sshCommand", "core.sshcommand"],
        &[Does::Sets("git:core.sshCommand", Reach::Lasting)],
    ),
    joined(&["core.askPass", "core.askpass"], &[Does::Sets("git:core.askPass", Reach::Lasting)]),
    joined(&["core.gitProxy", "core.gitproxy"], &[Does::Sets("git:core.gitProxy", Reach::Lasting)]),
    joined(
        &["core.alternateRefsCommand"],
        &[Does::Sets("git:core.alternateRefsCommand", Reach::Lasting)],
    ),
    joined(&["core.worktree"], &[Does::Sets("git:core.worktree", Reach::Lasting)]),
    joined(&["filter."], &[Does::Sets("git:filter", Reach::Lasting)]),
    joined(&["diff.external"], &[Does::Sets("git:diff.external", Reach::Lasting)]),
    joined(
        &["difftool.", "mergetool.", "merge.tool"],
        &[Does::Sets("git:difftool", Reach::Lasting)],
    ),
    joined(
        &["gpg.program", "gpg.ssh.program", "gpg.openpgp.program"],
        &[Does::Sets("git:gpg.program", Reach::Lasting)],
    ),
    joined(
        &["include.path", "includeIf.", "includeif."],
        &[Does::Sets("git:include.path", Reach::Lasting)],
    ),
    joined(
        &["init.templateDir", "init.templatedir"],
        &[Does::Sets("git:init.templateDir", Reach::Lasting)],
    ),
    joined(&["url."], &[Does::Sets("git:url.insteadOf", Reach::Lasting)]),
    joined(
        &["http.proxy", "https.proxy", "http.sslVerify", "http.sslverify", "http.sslCAInfo"],
        &[Does::Sets("git:http", Reach::Lasting), mark(Mark::Guard)],
    ),
    joined(
        &["uploadpack.packObjectsHook", "uploadpack.packobjectshook"],
        &[Does::Sets("git:uploadpack.packObjectsHook", Reach::Lasting)],
    ),
    joined(&["sendemail."], &[Does::Sets("git:sendemail", Reach::Lasting)]),
    joined(&["sequence.editor"], &[Does::Sets("git:sequence.editor", Reach::Lasting)]),
    joined(&["pager."], &[Does::Sets("git:core.pager", Reach::Lasting)]),
    joined(&["protocol."], &[Does::Sets("git:protocol", Reach::Lasting)]),
    joined(
        &["remote.origin.url", "remote.origin.pushurl", "remote.pushDefault"],
        &[Does::Sets("git:remote", Reach::Lasting)],
    ),
    joined(&["submodule."], &[Does::Sets("git:submodule", Reach::Lasting)]),
    takes(&["--file", "-f", "--blob"], &[]),
    takes(&["--type", "--default", "--comment"], &[]),
    switch(&["--edit", "-e"], &[Does::WritesFile(".git/config", Change::Content)]),
];
