//! Follows values through the text of a program, in any language: from where it reads a secret or
//! fetches code to where it sends or runs it.
//!
//! The text is not parsed. It is cut into names, literals and signs, and these into statements. A name
//! that a statement assigns has whatever the other parts of the statement have. That is enough to
//! distinguish code that sends a key away from code that happens to read one file and to talk to a host.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::effect::{Connection, Purpose};
use crate::host;
use crate::hosts::HostSet;
use crate::sets;
use crate::truth::Truth;
use crate::word::Word;

/// Parts of one text that are looked at.
const MAX_TOKENS: usize = 40_000;
/// How often the statements are gone through: functions are used before and after they are defined.
const PASSES: usize = 3;
/// Parts of the arguments of one call that are looked at.
const MAX_ARGUMENTS: usize = 512;
/// Commands of one text that are kept.
const MAX_COMMANDS: usize = 32;

/// What the code does with what it has read, whenever it runs.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// It does what no program needs: a private credential of the user or the whole environment goes to
    /// another host, a program is started that came without encryption or from a bare address, a
    /// parameter of a request or a packed text runs, or a shell is joined to a connection to another
    /// host.
    pub(super) attacks: bool,
    /// What another host has sent runs as code.
    pub(super) runs_fetched: bool,
    /// Literals of the statements that start programs.
    pub(super) commands: Vec<String>,
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style {
    /// `#` begins a comment.
    pub(super) hash: bool,
    /// `//` begins a comment.
    pub(super) slashes: bool,
}

/// What a value may have in it.
type Taint = u16;

const PATH: Taint = 1;
const SECRET: Taint = 1 << 1;
const ENVIRONMENT: Taint = 1 << 2;
const FETCHED: Taint = 1 << 3;
/// The address is not encrypted, or only a number.
const PLAIN: Taint = 1 << 4;
const ADDRESS: Taint = 1 << 5;
const REQUEST: Taint = 1 << 6;
/// An open connection.
const LINE: Taint = 1 << 7;
/// A text that only a program can read: base64, or digits.
const PACKED: Taint = 1 << 8;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'t> {
    /// With its parts: `os.environ.items`, `std::env::vars`, `$_POST`, `.read`.
    Name(&'t str),
    Text(&'t str),
    Sign(char),
}

#[derive(Debug, Clone, Copy)]
struct Statement {
    from: usize,
    to: usize,
}

/// Follows the values of a text.
pub(super) fn follow(text: &str, style: Style) -> Flow {
    let tokens = tokens(text, style);
    let statements = statements(&tokens);
    let literals: Vec<Taint> = (0..tokens.len()).map(|at| literal_at(&tokens, at)).collect();
    let mut reader = Reader {
        tokens: &tokens,
        has_address: literals.iter().any(|taint| taint & ADDRESS != 0),
        literals: &literals,
        names: HashMap::new(),
        opened: HashMap::new(),
        functions: HashMap::new(),
        function: None,
        flow: Flow::default(),
    };
    for pass in 0..PASSES {
        reader.function = None;
        let before = reader.state();
        for statement in &statements {
            reader.statement(*statement, pass == 0);
        }
        if reader.state() == before {
            break;
        }
    }
    reader.joins_shell();
    reader.flow
}

struct Reader<'t, 'k> {
    tokens: &'k [Token<'t>],
    /// What each literal is by itself.
    literals: &'k [Taint],
    names: HashMap<&'t str, Taint>,
    /// `f` of `open(path) as f`, and what the path is.
    opened: HashMap<&'t str, Vec<&'t str>>,
    /// The parameters of each function.
    functions: HashMap<&'t str, Vec<&'t str>>,
    function: Option<&'t str>,
    has_address: bool,
    flow: Flow,
}

impl<'t> Reader<'t, '_> {
    /// Grows with everything that is found.
    fn state(&self) -> (usize, u32) {
        (self.functions.len(), self.names.values().map(|taint| taint.count_ones()).sum())
    }

    fn token(&self, at: usize) -> Option<Token<'t>> {
        self.tokens.get(at).copied()
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        self.token(at) == Some(Token::Sign(sign))
    }

    fn statement(&mut self, statement: Statement, is_first: bool) {
        let Statement { from, to } = statement;
        let mut mask = 0;
        for at in from..to {
            mask |= self.taint(at);
        }
        let calls: Vec<(usize, &'t str)> = (from..to)
            .filter_map(|at| match self.token(at) {
                Some(Token::Name(name)) => Some((at, name)),
                _ => None,
            })
            .collect();
        self.define(&calls, to);
        let is = |names: &[&str]| calls.iter().any(|(_, name)| is_one_of(name, names));
        if mask & PATH != 0 && is(READS) {
            mask |= SECRET;
        }
        let is_loaded = calls.iter().any(|(at, name)| self.is_of_module(*at, name));
        if mask & ADDRESS != 0 && (is_loaded || is(FETCHES)) {
            mask |= FETCHED;
        }
        if is_loaded || is(LINES) {
            mask |= LINE;
        }
        // A credential in a header is used, not sent away.
        if self.is_login(from, to) {
            mask &= !(SECRET | PATH);
        }
        self.sinks(&calls, statement, mask, is_first);
        self.assign(&calls, statement, mask);
    }

    /// `require('https').request(…)`
    fn is_of_module(&self, at: usize, name: &str) -> bool {
        let module = at.checked_sub(2).and_then(|at| self.token(at));
        matches!(name, ".request" | ".get" | ".connect" | ".createConnection")
            && matches!(
                module,
                Some(Token::Text(
                    "http" | "https" | "net" | "tls" | "node:http" | "node:https" | "node:net"
                ))
            )
    }

    /// What one part of a statement has.
    fn taint(&self, at: usize) -> Taint {
        match self.token(at) {
            Some(Token::Text(text)) => {
                let mut taint = self.literals.get(at).copied().unwrap_or(0);
                taint |= self.names.get(text).copied().unwrap_or(0);
                for (name, is_part) in embedded(text) {
                    let found = self.names.get(name).copied().unwrap_or(0);
                    taint |= if is_part { found & !ENVIRONMENT } else { found };
                }
                taint
            }
            Some(Token::Name(name)) => {
                let is_key = self.is_sign(at + 1, ':') && !self.is_sign(at + 2, ':')
                    || self.is_sign(at + 1, '=')
                        && !self.is_sign(at + 2, '=')
                        && (self.is_sign(at.wrapping_sub(1), '(')
                            || self.is_sign(at.wrapping_sub(1), ','));
                if is_key {
                    return 0;
                }
                let mut taint = self.names.get(base(name)).copied().unwrap_or(0);
                // `env.PORT` is one value of it.
                let is_part = name.contains(['.', '>']) && !is_one_of(name, WHOLE)
                    || self.is_sign(at + 1, '[');
                if is_part {
                    taint &= !ENVIRONMENT;
                }
                taint | self.source(at, name)
            }
            _ => 0,
        }
    }

    /// What a name stands for by itself.
    fn source(&self, at: usize, name: &str) -> Taint {
        let next = self.token(at + 1);
        let is_indexed = next == Some(Token::Sign('['));
        let is_empty_call = self.is_sign(at + 1, '(') && self.is_sign(at + 2, ')');
        let is_asked = matches!(
            at.checked_sub(1).and_then(|at| self.token(at)),
            Some(Token::Name("in" | "env" | "environment"))
        );
        let is_whole = match name {
            "os.environ" | "environ" | "process.env" | "Deno.env" | "$_ENV" | "ENV" => {
                !is_indexed && (name != "ENV" || next == Some(Token::Sign(')')))
            }
            "os.environ.items"
            | "os.environ.copy"
            | "os.environ.values"
            | "ENV.each"
            | "ENV.map"
            | "ENV.inspect"
            | "Deno.env.toObject"
            | "os.Environ"
            | "env::vars"
            | "std::env::vars"
            | "Environment.GetEnvironmentVariables" => true,
            "System.getenv" | "getenv" => is_empty_call,
            _ => name.starts_with("ENV.to_"),
        };
        // `process.env !== null`, `value(process.env, "NAME")`
        let is_named =
            next == Some(Token::Sign(',')) && matches!(self.token(at + 2), Some(Token::Text(_)));
        let is_compared = matches!(next, Some(Token::Sign('=' | '!' | '&' | '?')));
        if is_whole && !is_named && !is_compared && (!is_asked || name.ends_with(".items")) {
            return ENVIRONMENT;
        }
        let is_request = match name {
            "$_GET"
            | "$_POST"
            | "$_REQUEST"
            | "$_COOKIE"
            | "request.getParameter"
            | "Request.QueryString"
            | "Request.Form"
            | "req.FormValue"
            | "r.FormValue" => true,
            // A header of the request.
            "$_SERVER" => {
                matches!(self.token(at + 2), Some(Token::Text(key)) if key.starts_with("HTTP_"))
            }
            _ => [
                "request.args",
                "request.form",
                "request.values",
                "request.json",
                "req.query",
                "req.body",
                "req.params",
                "request.GET",
                "request.POST",
                "request.query",
                "ctx.query",
                "request.params",
                "request.headers",
                "req.headers",
            ]
            .iter()
            .any(|known| {
                name.strip_prefix(known)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }),
        };
        if is_request { REQUEST } else { 0 }
    }

    /// Remembers a function, and what its parameters get where it is called.
    fn define(&mut self, calls: &[(usize, &'t str)], to: usize) {
        for (index, (at, name)) in calls.iter().enumerate() {
            let defines = matches!(*name, "def" | "function" | "fn" | "func" | "sub");
            let Some((named, own)) = calls.get(index + 1).filter(|_| defines) else { continue };
            if *named == at + 1 {
                let end = self.closing(named + 1, to);
                let parameters = self.plain_names(named + 1, end);
                self.functions.insert(own, parameters);
                self.function = Some(own);
            }
        }
        for (at, name) in calls {
            let Some(parameters) = self.functions.get(base(name)).cloned() else { continue };
            let is_defined = matches!(
                at.checked_sub(1).and_then(|at| self.token(at)),
                Some(Token::Name("def" | "function" | "fn" | "func" | "sub"))
            );
            if !self.is_sign(at + 1, '(') || is_defined {
                continue;
            }
            let end = self.closing(at + 1, to.min(at + MAX_ARGUMENTS));
            let mut taint = 0;
            for inner in at + 1..end {
                taint |= self.taint(inner);
            }
            self.give(&parameters, taint);
        }
    }

    fn give(&mut self, names: &[&'t str], taint: Taint) {
        if taint == 0 {
            return;
        }
        for name in names {
            if name.len() > 1 && !KEYWORDS.contains(name) || name.len() == 1 {
                *self.names.entry(name).or_default() |= taint;
            }
        }
    }

    /// The sign that closes the bracket at that place.
    fn closing(&self, open: usize, to: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..to {
            match self.token(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth += 1,
                Some(Token::Sign(')' | ']' | '}')) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at;
                    }
                }
                _ if depth == 0 => return at,
                _ => {}
            }
        }
        to
    }

    /// Names without parts between two places.
    fn plain_names(&self, from: usize, to: usize) -> Vec<&'t str> {
        let name = |at: usize| match self.token(at) {
            Some(Token::Name(name)) if !name.contains(['.', ':', '>']) => Some(base(name)),
            _ => None,
        };
        (from..to).filter_map(name).collect()
    }

    fn is_login(&self, from: usize, to: usize) -> bool {
        (from..to).any(|at| match self.token(at) {
            Some(Token::Text(text) | Token::Name(text)) => {
                let bytes = text.len();
                bytes < 4096 && LOGINS.iter().any(|word| contains_ignoring_case(text, word))
            }
            Some(Token::Sign(_)) | None => false,
        })
    }

    fn sinks(
        &mut self,
        calls: &[(usize, &'t str)],
        statement: Statement,
        mask: Taint,
        is_first: bool,
    ) {
        let Statement { from, to } = statement;
        let is_definition = matches!(
            self.token(from),
            Some(Token::Name("def" | "function" | "import" | "from" | "use" | "using"))
        );
        if is_definition {
            return;
        }
        for (at, name) in calls {
            let has_arguments = self.is_sign(at + 1, '(');
            let receiver = self.names.get(base(name)).copied().unwrap_or(0);
            let is_known = mask & (SECRET | ENVIRONMENT) != 0
                && (mask & ADDRESS != 0 || receiver & LINE != 0)
                && self.has_address;
            let sends = is_one_of(name, FETCHES) || is_one_of(name, SENDS);
            let passes = receiver & LINE != 0 && is_one_of(name, PASSES_ON);
            if is_known && has_arguments && (sends || passes) {
                self.flow.attacks = true;
            }
            let is_code = is_one_of(name, RUNS_CODE)
                && (has_arguments || self.is_sign(at + 1, ')'))
                && (!name.contains('.') || !name.ends_with("exec"));
            let starts = self.starts(*at, name);
            if is_code && mask & FETCHED != 0 {
                self.flow.runs_fetched = true;
            }
            let unpacks = || calls.iter().any(|(_, name)| is_one_of(name, UNPACKS));
            if is_code && mask & PACKED != 0 && unpacks() {
                self.flow.attacks = true;
            }
            let is_program = || {
                self.first_argument(at + 2, to) & FETCHED != 0
                    || self.says(*at, to.min(at + MAX_ARGUMENTS), "chmod ")
            };
            if starts && mask & FETCHED != 0 && mask & PLAIN != 0 && is_program() {
                self.flow.attacks = true;
            }
            let is_php = || is_one_of(name, PHP_RUNS) && self.is_superglobal(at + 2);
            if (is_code || starts || is_php())
                && has_arguments
                && self.first_argument(at + 2, to) & REQUEST != 0
            {
                self.flow.attacks = true;
            }
        }
        let starts = calls.iter().any(|(at, name)| self.starts(*at, name));
        if starts && is_first {
            for at in from..to {
                if let Some(Token::Text(text)) = self.token(at)
                    && text.len() > 6
                    && text.contains(char::is_whitespace)
                    && self.flow.commands.len() < MAX_COMMANDS
                {
                    self.flow.commands.push(command(text));
                }
            }
        }
    }

    /// Whether a name starts a program. Many things have a method `exec`.
    fn starts(&self, at: usize, name: &str) -> bool {
        match name.strip_suffix("exec") {
            Some("" | "child_process." | "cp." | "childProcess." | "Kernel.") => true,
            // `Runtime.getRuntime().exec(…)`, `require("child_process").exec(…)`
            Some(".") => {
                let before = |back: usize| at.checked_sub(back).and_then(|at| self.token(at));
                matches!(before(3), Some(Token::Name(name)) if name.ends_with("getRuntime"))
                    || matches!(before(2), Some(Token::Text(name)) if name.ends_with("child_process"))
            }
            Some(_) => false,
            // `["sh", "-c", "…"].execute()`
            None => name == ".execute" || is_one_of(name, STARTS),
        }
    }

    fn is_superglobal(&self, at: usize) -> bool {
        matches!(self.token(at), Some(Token::Name(name)) if name.starts_with("$_"))
    }

    fn says(&self, from: usize, to: usize, part: &str) -> bool {
        (from..to)
            .any(|at| matches!(self.token(at), Some(Token::Text(text)) if text.contains(part)))
    }

    /// What the first argument of a call begins with: `eval(request.args["c"])`,
    /// `system(base64_decode($_POST["x"]))`.
    fn first_argument(&self, from: usize, to: usize) -> Taint {
        for at in from..to.min(from + 12) {
            match self.token(at) {
                Some(Token::Name(name)) if is_one_of(name, DECODES) => {}
                Some(Token::Sign('(' | '@' | '[')) => {}
                Some(Token::Name(_) | Token::Text(_)) => return self.taint(at),
                _ => return 0,
            }
        }
        0
    }

    /// Gives the names that a statement assigns what is in it.
    fn assign(&mut self, calls: &[(usize, &'t str)], statement: Statement, mask: Taint) {
        let Statement { from, to } = statement;
        let mut targets: Vec<&'t str> = Vec::new();
        let mut depth = 0_i32;
        let mut group: Option<&'t str> = None;
        let mut is_typed = false;
        let mut is_done = false;
        let mut environment_for_child = false;
        for at in from..to {
            match self.token(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth += 1,
                Some(Token::Sign(')' | ']' | '}')) => depth -= 1,
                Some(Token::Sign(',')) if depth == 0 && !is_done => {
                    targets.extend(group.take());
                    is_typed = false;
                }
                Some(Token::Sign(':')) if depth == 0 && !is_done => is_typed = group.is_some(),
                Some(Token::Name(name)) => {
                    if depth == 0 && !is_done && !is_typed {
                        group = Some(target(name));
                    }
                    let has_value = self.is_sign(at + 1, '=') || self.is_sign(at + 1, ':');
                    environment_for_child |= name == "env" && depth > 0 && has_value;
                    if self.is_sign(at + 1, '=') && self.is_sign(at + 2, '>') {
                        targets.push(target(name));
                    }
                    if self.is_sign(at + 1, '+') && self.is_sign(at + 2, '=') {
                        targets.push(target(name));
                    }
                    if matches!(name, "as")
                        && let Some(Token::Name(next)) = self.token(at + 1)
                    {
                        targets.push(target(next));
                        self.open(calls, from, at, target(next));
                    }
                }
                Some(Token::Sign('=')) if depth == 0 && !is_done => {
                    let before = at.checked_sub(1).and_then(|at| self.token(at));
                    let compares = matches!(before, Some(Token::Sign('=' | '!' | '<' | '>')))
                        || self.is_sign(at + 1, '=')
                        || self.is_sign(at + 1, '~');
                    if compares {
                        group = None;
                    } else if let Some(name) = group.take() {
                        targets.push(name);
                        self.open(calls, at, to, name);
                    }
                    is_done = true;
                }
                Some(Token::Sign('|')) if depth == 0 && self.is_sign(at + 2, '|') => {
                    if let Some(Token::Name(name)) = self.token(at + 1) {
                        targets.push(target(name));
                    }
                }
                _ => {}
            }
        }
        if let Some(Token::Name("for" | "foreach" | "with")) = self.token(from) {
            let end = (from..to).find(|at| {
                matches!(self.token(*at), Some(Token::Name("in" | "of")) | Some(Token::Sign(':')))
            });
            targets.extend(self.plain_names(from + 1, end.unwrap_or(from)));
        }
        // `(error, data) => {`, `function (data) {`
        let is_head = self.is_sign(to, '{');
        if is_head || self.is_sign(to.wrapping_sub(1), '>') {
            let open = (from..to).rev().find(|at| self.is_sign(*at, '('));
            if let Some(open) = open {
                targets.extend(self.plain_names(open, self.closing(open, to)));
            }
        }
        for (at, name) in calls {
            if !self.is_sign(at + 1, '(') {
                continue;
            }
            if is_one_of(name, ADDS) && name.contains(['.', '>']) {
                targets.push(base(name));
                targets.extend(self.opened.get(base(name)).into_iter().flatten());
            }
            if is_one_of(name, DOWNLOADS) {
                let end = self.closing(at + 1, to.min(at + MAX_ARGUMENTS));
                targets.extend(self.plain_names(at + 1, end));
                targets.extend(self.literals(at + 1, end));
            }
        }
        let returns = matches!(self.token(from), Some(Token::Name("return" | "yield")));
        if returns && let Some(function) = self.function {
            targets.push(function);
        }
        let mask = if environment_for_child { mask & !ENVIRONMENT } else { mask };
        self.give(&targets, mask);
    }

    /// `open("x", "wb") as f`
    fn open(&mut self, calls: &[(usize, &'t str)], from: usize, to: usize, name: &'t str) {
        let opens = ["open", "create", "createWriteStream", "fopen", "FileOutputStream", "Create"];
        let call = calls.iter().find(|(at, known)| {
            (from..to).contains(at) && is_one_of(known, &opens) && self.is_sign(at + 1, '(')
        });
        if let Some((at, _)) = call {
            let end = self.closing(at + 1, to.min(at + MAX_ARGUMENTS));
            let mut files = self.plain_names(at + 1, end);
            files.extend(self.literals(at + 1, end));
            self.opened.insert(name, files);
        }
    }

    /// Literals that may be names of files.
    fn literals(&self, from: usize, to: usize) -> Vec<&'t str> {
        let literal = |at: usize| match self.token(at) {
            Some(Token::Text(text))
                if text.len() > 3 && text.contains(['/', '.', '\\']) && !text.contains("://") =>
            {
                Some(text)
            }
            _ => None,
        };
        (from..to).filter_map(literal).collect()
    }

    /// A shell of which both ends are a connection: `dup2`, `.pipe`, `Stdin = conn`.
    fn joins_shell(&mut self) {
        const JOINS: &[&str] = &[
            "dup2",
            "pipe",
            "Stdin",
            "stdin",
            "StandardInput",
            "getInputStream",
            "proc_open",
            "RedirectStandardInput",
            "pty.spawn",
            "reopen",
            "fdopen",
        ];
        const SHELLS: &[&str] = &[
            "/bin/sh",
            "/bin/bash",
            "sh",
            "bash",
            "cmd.exe",
            "cmd",
            "powershell.exe",
            "powershell",
            "/bin/sh -i",
            "/bin/bash -i",
            "/bin/zsh",
            "zsh",
            "sh -i",
            "bash -i",
        ];
        let is_near_call = |at: usize| {
            (1..6).any(|back| {
                matches!(
                    at.checked_sub(back).and_then(|at| self.token(at)),
                    Some(Token::Name(name)) if is_one_of(name, CONNECTS)
                )
            })
        };
        let names = || {
            self.tokens.iter().filter_map(|token| match token {
                Token::Name(name) => Some(*name),
                _ => None,
            })
        };
        let is_shell =
            |token: &Token<'_>| matches!(token, Token::Text(text) if SHELLS.contains(text));
        let is_foreign = |at: usize| {
            self.literals.get(at).is_some_and(|taint| taint & ADDRESS != 0) && is_near_call(at)
        };
        self.flow.attacks |= self.tokens.iter().any(is_shell)
            && (0..self.tokens.len()).any(is_foreign)
            && names().any(|name| is_one_of(name, JOINS));
    }
}

const READS: &[&str] = &[
    "open",
    "read",
    "read_text",
    "read_bytes",
    "readFile",
    "readFileSync",
    "read_to_string",
    "ReadFile",
    "ReadAll",
    "ReadAllText",
    "ReadAllBytes",
    "ReadAllLines",
    "readAllBytes",
    "readString",
    "readAllLines",
    "readlines",
    "file_get_contents",
    "fopen",
    "File.read",
    "IO.read",
    "File.binread",
    "createReadStream",
    "readText",
    "fs::read",
    "File::open",
    "slurp",
    "copy",
    "copyfile",
    "copytree",
    "make_archive",
    "tarfile.open",
    "ZipFile",
    "tar.add",
    "String",
    "contentsOfFile",
    "Data",
    "os.Open",
    "FileReader",
    "FileInputStream",
    "glob",
    "rglob",
    "iterdir",
    "walk",
    "UploadFile",
    "readdirSync",
    "upload",
    "slurp",
    "readLines",
];
const FETCHES: &[&str] = &[
    "urlopen",
    "urllib.request.Request",
    "requests.get",
    "requests.post",
    "requests.put",
    "requests.request",
    "requests.patch",
    "httpx.get",
    "httpx.post",
    "httpx.put",
    "httpx.stream",
    "session.get",
    "session.post",
    "s.post",
    "fetch",
    "axios",
    "axios.get",
    "axios.post",
    "axios.put",
    "axios.request",
    "got",
    "got.post",
    "needle",
    "http.get",
    "https.get",
    "http.request",
    "https.request",
    "http.Get",
    "http.Post",
    "http.PostForm",
    "http.NewRequest",
    "DownloadString",
    "DownloadData",
    "DownloadFile",
    "DownloadFileTaskAsync",
    "GetStringAsync",
    "GetByteArrayAsync",
    "GetAsync",
    "PostAsync",
    "UploadString",
    "UploadData",
    "UploadValues",
    "UploadFile",
    "Net::HTTP.get",
    "Net::HTTP.post",
    "Net::HTTP.post_form",
    "URI.open",
    "HTTParty.get",
    "HTTParty.post",
    "Faraday.post",
    "RestClient.post",
    "file_get_contents",
    "curl_init",
    "curl_setopt",
    "reqwest::get",
    "reqwest::blocking::get",
    "ureq::get",
    "ureq::post",
    "urlretrieve",
    "wget.download",
    "openStream",
    "HttpRequest.newBuilder",
    "importScripts",
    "$.get",
    "$.post",
    "$.getScript",
    "Net::HTTP.start",
    "LWP::Simple::get",
    "dataTask",
    "open_uri",
    "HTTPSConnection",
    "HTTPConnection",
    "sendBeacon",
    "navigator.sendBeacon",
    "WebSocket",
    "post",
    "client.post",
    "client.put",
];
const SENDS: &[&str] = &[
    "post",
    "put",
    "patch",
    "gethostbyname",
    "getaddrinfo",
    "create_connection",
    "sendBeacon",
    "dns.lookup",
    "dns.resolve",
    "resolve4",
    "LookupHost",
    "sendmail",
    "send_message",
    "curl_setopt",
    "curl_exec",
    "POST",
    "uploadTask",
    "send",
    "set_body",
    "body",
];
/// Methods that send through a connection that is open.
const PASSES_ON: &[&str] = &[
    "send",
    "sendall",
    "write",
    "end",
    "request",
    "sendto",
    "Write",
    "WriteLine",
    "write_all",
    "puts",
    "print",
    "emit",
];
const LINES: &[&str] = &[
    "https.request",
    "http.request",
    "socket.socket",
    "XMLHttpRequest",
    "net.connect",
    "net.createConnection",
    "WebSocket",
    "fsockopen",
    "TcpClient",
    "HTTPSConnection",
    "HTTPConnection",
    "Dial",
    "TCPSocket.new",
    "TcpStream::connect",
    "create_connection",
    "openConnection",
    "tls.connect",
    "urllib.request.Request",
    "http.NewRequest",
];
/// Calls whose first argument may be the name of a host.
const CONNECTS: &[&str] = &[
    "HTTPSConnection",
    "HTTPConnection",
    "connect",
    "fsockopen",
    "create_connection",
    "TcpClient",
    "gethostbyname",
    "getaddrinfo",
    "Socket",
    "TCPSocket.new",
    "lookup",
    "sendto",
    "Dial",
    "DialTimeout",
    "inet_addr",
    "inet_pton",
    "createConnection",
    "TcpStream::connect",
    "getByName",
];
const RUNS_CODE: &[&str] = &[
    "exec",
    "eval",
    "iex",
    "Function",
    "runInThisContext",
    "runInNewContext",
    "runInContext",
    "vm.Script",
    "instance_eval",
    "class_eval",
    "module_eval",
    "loadstring",
    "create_function",
    "Assembly.Load",
    "defineClass",
    "_compile",
    "execScript",
    "InvokeScript",
];
/// Functions of PHP that run a text, and are something else in other languages.
const PHP_RUNS: &[&str] = &["assert", "include", "include_once", "require", "require_once"];
const STARTS: &[&str] = &[
    "os.system",
    "os.popen",
    "subprocess.run",
    "subprocess.call",
    "subprocess.Popen",
    "subprocess.check_output",
    "subprocess.check_call",
    "subprocess.getoutput",
    "Popen",
    "check_output",
    "check_call",
    "execSync",
    "spawn",
    "spawnSync",
    "exec",
    "execFile",
    "execFileSync",
    "system",
    "shell_exec",
    "passthru",
    "proc_open",
    "popen",
    "Command::new",
    "exec.Command",
    "exec.CommandContext",
    "Process.Start",
    "ProcessBuilder",
    "ProcessStartInfo",
    "os.startfile",
    "os.execv",
    "os.execl",
    "os.execvp",
    "syscall.Exec",
    "IO.popen",
    "Open3.capture2",
    "Open3.capture3",
    "os.execute",
    "io.popen",
    "posix_spawn",
    "pty.spawn",
    "Sys.command",
    "System.cmd",
    "os.cmd",
    "execve",
    "execl",
    "execlp",
    "execvp",
    "run_command",
    "CDLL",
    "create_subprocess_shell",
    "getRuntime",
    "launchPath",
    "execute_process",
    "sh",
    "bat",
    "commandLine",
];
const ADDS: &[&str] = &[
    "append",
    "push",
    "update",
    "add",
    "set",
    "put",
    "write",
    "extend",
    "insert",
    "writestr",
    "concat",
    "push_str",
    "Add",
    "WriteString",
    "merge",
    "setdefault",
    "pipe",
    "writeAsBytes",
    "Write",
];
const DOWNLOADS: &[&str] = &[
    "DownloadFile",
    "urlretrieve",
    "writeFile",
    "writeFileSync",
    "File.WriteAllBytes",
    "WriteAllBytes",
    "WriteFile",
    "file_put_contents",
    "File.write",
    "fs::write",
    "copyfileobj",
    "io.Copy",
    "Files.copy",
    "DownloadFileTaskAsync",
    "wget.download",
    "copyFileSync",
    "write_bytes",
    "write_text",
    "shutil.copy",
    "copyfile",
    "copy2",
];
const DECODES: &[&str] = &[
    "base64_decode",
    "gzinflate",
    "gzuncompress",
    "str_rot13",
    "b64decode",
    "base64.b64decode",
    "urldecode",
    "stripslashes",
    "trim",
    "atob",
    "str",
    "String",
    "unescape",
    "hex2bin",
    "strrev",
    "Buffer.from",
    "decode",
];
/// Calls that make code of a text that nobody can read.
const UNPACKS: &[&str] = &[
    "b64decode",
    "b32decode",
    "b85decode",
    "a85decode",
    "decompress",
    "fromhex",
    "unhexlify",
    "atob",
    "Buffer.from",
    "base64_decode",
    "gzinflate",
    "gzuncompress",
    "hex2bin",
    "Base64.decode64",
    "decode64",
    "unpack1",
    "inflateSync",
    "gunzipSync",
    "FromBase64String",
];
/// Methods that keep everything of what they are called on.
const WHOLE: &[&str] = &["items", "copy", "entries", "values", "to_h", "to_s", "to_json", "encode"];
const LOGINS: &[&str] = &["authorization", "bearer ", "x-api-key", "private-token", "x-auth-token"];
const KEYWORDS: &[&str] = &[
    "const", "let", "var", "if", "else", "for", "while", "return", "await", "async", "new", "try",
    "with", "as", "in", "of", "not", "and", "or", "def", "function", "self", "this", "import",
    "from", "true", "false", "null", "None", "True", "False", "static", "public", "private",
    "final", "mut", "err", "error", "e", "_", "print", "String", "string", "os", "json", "sys",
    "require", "console",
];

/// Folders and files in which programs keep what a user logs in with, as they are written in code.
const STORES: &[&str] = &[
    ".ssh",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker/config.json",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".cargo/credentials",
    ".config/gh",
    ".config/gcloud",
    "application_default_credentials",
    ".azure",
    ".claude/.credentials",
    ".codex/auth",
    "Login Data",
    "key4.db",
    "logins.json",
    "Keychains",
    "login.keychain",
    "keyrings",
    ".bash_history",
    ".zsh_history",
    "fish_history",
    "ConsoleHost_history",
    "wallet.dat",
    ".electrum",
    ".config/solana",
    ".password-store",
    ".vault-token",
    "credentials.tfrc.json",
    "/etc/shadow",
    "/proc/self/environ",
    ".mozilla/firefox",
    "Cookies.binarycookies",
    ".config/google-chrome",
    "User Data\\Default",
    "Local Storage/leveldb",
    ".ethereum/keystore",
    ".m2/settings.xml",
    ".gem/credentials",
    ".terraform.d/credentials",
];
/// Files of these folders that are not secret.
const PUBLIC: &[&str] = &[".pub", "known_hosts", ".ssh/config", "authorized_keys", ".kube/cache"];

/// What a literal is.
fn literal(text: &str) -> Taint {
    let mut taint = 0;
    if text.len() > 512 && !text.contains("://") {
        return taint;
    }
    let is_store = STORES.iter().any(|store| match text.find(store) {
        // `.aws` and not `.awsome`, `hosts.yml` and not `myhosts.yml`.
        Some(at) => {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + store.len()..).and_then(|after| after.chars().next());
            let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
            !is_letter(before) && !is_letter(after)
        }
        None => false,
    });
    if is_store
        && text.len() < 256
        && !text.contains("://")
        && !PUBLIC.iter().any(|part| text.contains(part))
    {
        taint |= PATH;
    }
    for scheme in ["http://", "https://", "ws://", "wss://", "ftp://", "tcp://"] {
        for (at, _) in text.match_indices(scheme).take(4) {
            taint |= address(text.get(at..).unwrap_or_default());
        }
    }
    if public_address(text.split(':').next().unwrap_or(text)) {
        taint |= ADDRESS | PLAIN;
    }
    taint
}

/// What the literal at that place is, also if it is only the name of a host.
fn literal_at(tokens: &[Token<'_>], at: usize) -> Taint {
    let Some(Token::Text(text)) = tokens.get(at) else { return 0 };
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    let is_host = (1..5).any(|back| match before(back) {
        Some(Token::Name(name)) if back < 3 => {
            matches!(*name, "host" | "hostname") || is_one_of(name, CONNECTS)
        }
        Some(Token::Name(name)) => is_one_of(name, CONNECTS),
        _ => false,
    });
    let is_name = text.contains('.') && !text.contains(['/', ' ']) && !text.starts_with('.');
    let taint = literal(text) | if is_packed(text) { PACKED } else { 0 };
    match is_host && is_name && taint & ADDRESS == 0 {
        true => taint | address(&format!("https://{text}")),
        false => taint,
    }
}

/// Whether a literal is one long run of base64 or hexadecimal digits. Prose and names are not.
fn is_packed(text: &str) -> bool {
    let is_digit =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    text.len() >= 32
        && text.bytes().all(|byte| is_digit(byte) || matches!(byte, b'\n' | b'\r' | b'\\'))
        && text.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=')
}

static LOCAL: LazyLock<HostSet> = LazyLock::new(|| hosts("local"));
static REGISTRIES: LazyLock<HostSet> = LazyLock::new(|| hosts("registries"));
static APIS: LazyLock<HostSet> = LazyLock::new(|| hosts("apis"));

fn hosts(name: &str) -> HostSet {
    sets::host_set(name, []).unwrap_or_default()
}

/// Whether a host is this machine or one next to it.
pub(super) fn is_near(connection: &Connection) -> bool {
    LOCAL.matches(connection) != Truth::No
}

/// An address of a host that is not near.
fn address(text: &str) -> Taint {
    let end = text.find(|letter: char| letter.is_whitespace() || "\"'`<>|)".contains(letter));
    let url = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
    // `https://{key}.x.example`
    let after = url.rsplit('}').next().unwrap_or(url).strip_prefix('.');
    let parsed = host::parse_host(&Word::known(after.unwrap_or(url)), "https");
    let name = parsed.host.text().unwrap_or_default().to_owned();
    if !name.contains(['.', ':']) {
        return 0;
    }
    let connection = Connection {
        host: parsed.host,
        port: parsed.port,
        scheme: parsed.scheme,
        purpose: Purpose::Send,
        url: None,
    };
    let is_in = |set: &HostSet| set.matches(&connection) == Truth::Yes;
    let is_chat = matches!(name.as_str(), "slack.com" | "discord.com" | "api.telegram.org");
    if is_in(&LOCAL) || is_in(&REGISTRIES) || is_in(&APIS) && !is_chat {
        return 0;
    }
    if name.contains(['{', '$', '%']) || name.ends_with(".internal") {
        return 0;
    }
    match text.starts_with("http://") || text.starts_with("ws://") || public_address(&name) {
        true => ADDRESS | PLAIN,
        false => ADDRESS,
    }
}

/// A number that is an address on the internet.
fn public_address(text: &str) -> bool {
    let Ok(address) = text.parse::<std::net::Ipv4Addr>() else { return false };
    !(address.is_private()
        || address.is_loopback()
        || address.is_unspecified()
        || address.is_link_local()
        || address.is_broadcast())
}

/// The name that a value is under: `d` of `d.items`, `key` of `self.key`.
fn base(name: &str) -> &str {
    let name = name.trim_start_matches(['$', '@']);
    let mut parts = name.split(['.', ':', '>', '-', '?']).filter(|part| !part.is_empty());
    match parts.next() {
        Some("self" | "this") => parts.next().unwrap_or("self"),
        Some(first) => first,
        None => name,
    }
}

/// The name that an assignment gives a value to.
fn target(name: &str) -> &str {
    base(name)
}

/// Whether a name, or the end of it, is one of these.
fn is_one_of(name: &str, known: &[&str]) -> bool {
    known.iter().any(|known| {
        name.strip_suffix(known).is_some_and(|before| {
            before.is_empty() || before.ends_with(['.', ':', '>', '?', '$', '@', '\\'])
        })
    })
}

fn contains_ignoring_case(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

/// A literal as a command: `-c "chmod +x a; a"` is what is behind `-c`.
fn command(text: &str) -> String {
    let plain = crate::shell::ansi::unescape(text);
    let inner = ["-c ", "/c ", "/C ", "-Command "].iter().find_map(|flag| plain.strip_prefix(flag));
    inner.map_or_else(|| plain.clone(), |inner| inner.trim().trim_matches(['"', '\'']).to_owned())
}

/// The names that a literal contains: `{name}`, `${name.x}`, `#{name}`, `$name`.
/// Whether only a part of the value is used is said next to the name.
fn embedded(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.match_indices(['{', '$']).take(32).filter_map(|(at, sign)| {
        let rest = text.get(at + sign.len()..)?.trim_start_matches(['{', '$', '@', ' ']);
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let (name, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        (!name.is_empty()).then_some((name, after.starts_with(['.', '['])))
    })
}

/// Cuts a text into its parts, without comments.
fn tokens(text: &str, style: Style) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        if tokens.len() >= MAX_TOKENS {
            break;
        }
        let rest = text.get(at..).unwrap_or_default();
        let is_start = at == 0 || bytes.get(at - 1).is_some_and(u8::is_ascii_whitespace);
        match byte {
            b'#' if style.hash && is_start => at = line_end(text, at),
            b'/' if style.slashes && rest.starts_with("//") => at = line_end(text, at),
            b'/' if style.slashes && rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            }
            b'"' | b'\'' | b'`' => {
                let (end, inner) = quoted(rest, byte);
                tokens.extend(inner.map(Token::Text));
                at += end;
            }
            b'\n' => {
                tokens.push(Token::Sign('\n'));
                at += 1;
            }
            _ if byte.is_ascii_whitespace() => at += 1,
            _ if is_name(byte) || byte == b'$' || byte >= 0x80 || begins_method(rest) => {
                let end = name_end(bytes, at);
                if let Some(name) = text.get(at..end) {
                    tokens.push(Token::Name(name));
                }
                at = end;
            }
            _ => {
                tokens.push(Token::Sign(char::from(byte)));
                at += 1;
            }
        }
    }
    tokens
}

fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// `.read()` behind a bracket.
fn begins_method(rest: &str) -> bool {
    let rest = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'));
    rest.and_then(|rest| rest.bytes().next()).is_some_and(|byte| byte.is_ascii_alphabetic())
}

/// Where a name with its parts ends.
fn name_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(byte) if is_name(*byte) || *byte >= 0x80 || *byte == b'$' => at += 1,
            Some(b'.') if bytes.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic()) => {
                at += 1
            }
            Some(b'?') if bytes.get(at + 1) == Some(&b'.') => at += 2,
            Some(b':')
                if bytes.get(at + 1) == Some(&b':')
                    && bytes.get(at + 2).is_some_and(|next| next.is_ascii_alphabetic()) =>
            {
                at += 2;
            }
            Some(b'-') if bytes.get(at + 1) == Some(&b'>') => at += 2,
            _ => return at.max(from + 1),
        }
    }
}

/// The length of a quoted text with its quotes, and what is inside.
fn quoted(rest: &str, quote: u8) -> (usize, Option<&str>) {
    let triple = match quote {
        b'"' => "\"\"\"",
        b'\'' => "'''",
        _ => "```",
    };
    if let Some(inner) = rest.strip_prefix(triple) {
        let end = inner.find(triple).unwrap_or(inner.len());
        return ((end + 6).min(rest.len()), inner.get(..end));
    }
    let bytes = rest.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'\\' => at += 2,
            b'\n' if quote != b'`' => return (at, None),
            byte if byte == quote => return (at + 1, rest.get(1..at)),
            _ => at += 1,
        }
    }
    (rest.len(), None)
}

/// Cuts the parts into statements: at line ends and semicolons outside of brackets, and at the braces of
/// blocks.
fn statements(tokens: &[Token<'_>]) -> Vec<Statement> {
    let mut found = Vec::new();
    // For each open bracket, whether it is the brace of a block.
    let mut open: Vec<bool> = Vec::new();
    let mut from = 0;
    let mut end = |from: &mut usize, to: usize| {
        if *from < to {
            found.push(Statement { from: *from, to });
        }
        *from = to + 1;
    };
    for (at, token) in tokens.iter().enumerate() {
        let Token::Sign(sign) = token else { continue };
        let is_inside = open.last() == Some(&false);
        match sign {
            '(' | '[' => open.push(false),
            ')' | ']' if is_inside => drop(open.pop()),
            ')' | ']' => {}
            '{' => {
                let before = tokens.get(..at).unwrap_or_default();
                let is_block = begins_block(before);
                if is_block {
                    end(&mut from, at);
                }
                open.push(is_block);
            }
            '}' if open.pop() == Some(true) => end(&mut from, at),
            '}' => {}
            ';' if !is_inside => end(&mut from, at),
            '\n' if !is_inside && !continues(tokens, at) => end(&mut from, at),
            _ => {}
        }
    }
    end(&mut from, tokens.len());
    found
}

/// Whether a brace behind these parts is that of a block, and not of a value.
fn begins_block(before: &[Token<'_>]) -> bool {
    let mut last = before.iter().rev().filter(|token| **token != Token::Sign('\n'));
    match last.next() {
        Some(Token::Sign(')' | '>' | ';' | '{' | '}')) | None => true,
        // `[]string{…}`
        Some(Token::Name(name)) => *name != "return" && last.next() != Some(&Token::Sign(']')),
        _ => false,
    }
}

/// Whether the statement goes on behind this line end.
fn continues(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let is_open = matches!(before, Some(Token::Sign('=' | ',' | '+' | '\\' | '|' | '&' | '?')));
    let next = tokens.iter().skip(at + 1).find(|token| **token != Token::Sign('\n'));
    let is_method = matches!(next, Some(Token::Name(name)) if name.starts_with(['.', '?', '-']));
    is_open || is_method
}
