//! Editors. A human opens a file with them; an agent uses them in batch mode.

use crate::effect::Purpose;
use crate::marks::Mark;
use crate::model::*;

const FILE: Operands = each(&[READS, WRITES]);

pub(crate) const MODELS: &[Model] = &[
    model(&["vim", "vi", "nvim", "gvim", "vimdiff", "ex", "rvim", "evim", "mvim", "nvi", "elvis"])
        .style(Style::Gnu)
        .flags(&[
            takes(&["-c", "--cmd"], &[Does::Code(Language::Vim)]),
            joined(&["+"], &[Does::Code(Language::Vim)]),
            // Ex mode is silent with `-s`.
            takes(&["-S", "-u", "-U"], &[Does::Script(Language::Vim)]),
            switch(&["-es", "-Es", "-e", "-E", "-s"], &[]),
            takes(&["-w", "-W", "--startuptime"], &[WRITES]),
            takes(&["-l"], &[Does::Script(Language::Lua)]),
            takes(&["-i", "-t", "-T", "--servername", "--remote-send", "--remote-expr"], &[]),
            switch(&["-R", "-M"], &[]).operands(each(&[READS])),
            switch(&["--version", "--help", "-h"], &[]),
        ])
        .operands(FILE)
        .examples(&[
            ("vim a", &["reads a", "writes a"]),
            ("vim -R a", &["reads a"]),
            ("vim -c ':!touch x' -c q", &["runs touch x", "changes x"]),
            ("vim +42 a", &["reads a", "writes a"]),
        ]),
    model(&["view", "rview", "gview"])
        .flags(&[
            takes(&["-c", "--cmd"], &[Does::Code(Language::Vim)]),
            joined(&["+"], &[Does::Code(Language::Vim)]),
            takes(&["-S", "-u"], &[Does::Script(Language::Vim)]),
        ])
        .operands(each(&[READS]))
        .examples(&[("view a", &["reads a"])]),
    model(&[
        "nano", "pico", "rnano", "micro", "hx", "helix", "kak", "joe", "jed", "ne", "mg", "mcedit",
        "gedit", "kate", "mousepad", "leafpad", "xed", "pluma", "geany", "notepad", "textmate",
        "mate", "bbedit", "nvim-qt", "tilde", "dte",
    ])
    .flags(&[
        takes(&["--speller", "-s"], &[PROGRAM]),
        takes(
            &[
                "--operatingdir",
                "-o",
                "--backupdir",
                "-C",
                "--syntax",
                "-Y",
                "--tabsize",
                "-T",
                "--fill",
                "-r",
            ],
            &[],
        ),
        takes(&["--rcfile", "-f", "--config"], &[READS]),
        switch(&["--view", "-v"], &[]).operands(each(&[READS])),
        joined(&["+"], &[]),
    ])
    .operands(FILE)
    .examples(&[("nano a", &["reads a", "writes a"]), ("nano -v a", &["reads a"])]),
    model(&["emacs", "emacsclient", "xemacs", "zile"])
        .flags(&[
            takes(&["--eval", "--execute", "-e"], &[Does::Code(Language::Other)]),
            takes(&["--load", "-l", "--script", "-script"], &[Does::Script(Language::Other)]),
            takes(&["--funcall", "-f"], &[]),
            takes(&["--directory", "-L", "--user", "-u", "--socket-name", "-s", "--chdir"], &[]),
            joined(&["+"], &[]),
        ])
        .operands(FILE)
        .examples(&[("emacs a", &["reads a", "writes a"])]),
    model(&["ed", "red"])
        .flags(&[takes(&["--prompt", "-p"], &[])])
        .operands(FILE)
        .always(&[Does::RunsInput(Language::Vim)]),
    model(&[
        "code",
        "code-insiders",
        "codium",
        "cursor",
        "windsurf",
        "zed",
        "subl",
        "atom",
        "idea",
        "pycharm",
        "webstorm",
        "goland",
        "fleet",
        "trae",
        "kiro",
        "vscodium",
    ])
    .flags(&[
        takes(&["--install-extension"], &[Does::Package(Registry::Other)]),
        takes(
            &["--add-mcp"],
            &[Does::WritesFile("~/.config/Code/User/mcp.json", crate::effect::Change::Content)],
        ),
        takes(&["--goto", "-g"], &[]),
        takes(&["--add", "-a"], &[LISTS]),
        takes(
            &[
                "--user-data-dir",
                "--extensions-dir",
                "--profile",
                "--locale",
                "--uninstall-extension",
                "--disable-extension",
                "--folder-uri",
            ],
            &[],
        ),
        switch(
            &[
                "--list-extensions",
                "--version",
                "-v",
                "--help",
                "-h",
                "--wait",
                "-w",
                "--new-window",
                "-n",
                "--reuse-window",
                "-r",
                "--diff",
                "-d",
                "--status",
            ],
            &[],
        ),
    ])
    .subs(&[
        model(&["tunnel", "serve-web"]).always(&[mark(Mark::Tunnel)]),
        model(&["ext", "chat", "version"]),
    ])
    .operands(each(&[LISTS]))
    .examples(&[
        ("code .", &["lists ."]),
        ("code --add a", &["lists a"]),
        ("code tunnel", &["tunnels tunnels.api.visualstudio.com:443", "marks tunnel"]),
        ("code --list-extensions", &[]),
    ]),
    model(&[
        "xdg-open",
        "gio",
        "gnome-open",
        "kde-open",
        "start",
        "wslview",
        "sensible-browser",
        "firefox",
        "chromium",
        "google-chrome",
        "chrome",
        "chromium-browser",
        "google-chrome-stable",
        "brave",
        "brave-browser",
        "vivaldi",
        "opera",
        "safari",
        "microsoft-edge",
        "msedge",
    ])
    .subs(&[
        model(&["trash", "remove"]).operands(each(&[DELETES_TREE])),
        model(&["open", "cat", "info", "list", "tree"]).operands(each(&[READS])),
        model(&["copy", "move"]).operands(sources_and_target(&[READS_TREE], &[MAKES])),
    ])
    .flags(&[
        takes(&["--remote-debugging-port", "--load-extension"], &[mark(Mark::Spies)]),
        takes(&["--print-to-pdf", "--screenshot", "--user-data-dir"], &[]),
    ])
    .operands(each(&[Does::Repository(Purpose::Fetch)]))
    .examples(&[
        ("gio trash a", &["deletes-tree a"]),
        ("xdg-open https://h.example/x", &["fetches h.example:443"]),
    ]),
];
