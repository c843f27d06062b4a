//! Calls that touch files, processes or hosts, by language.

use crate::effect::{Change, Purpose, Scope};
use crate::model::Language;

/// What a call does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Runs the first argument: shell text, or a list of words.
    Shell,
    /// Runs all arguments as the words of a command.
    Program,
    /// Opens the first argument; the second is the mode.
    Open,
    Reads,
    /// Runs the file or the URL that the first argument names.
    Includes,
    /// Finds files by a pattern, to read them.
    ReadsPattern,
    Lists,
    /// As `Reads`, if the first argument is a path: `config.read("~/.x")`, not `file.read(10)`.
    ReadsPath,
    /// Asks for the address of a name. What the name is made of leaves the machine with it.
    Resolves,
    Writes(Change),
    Deletes(Scope),
    /// From the first argument to the second.
    Copies,
    Moves,
    Connects(Purpose),
    /// As `Connects`, if the first argument is a URL.
    ConnectsTo(Purpose),
    /// Fetches the first argument into the file that the second one names.
    Downloads,
    /// Reads the environment.
    Environment,
    /// Loads a module: opaque only if its name is not a literal.
    Loads,
    /// Builds code or calls at run time.
    Dynamic,
    /// Does nothing, though another call of that name does.
    Harmless,
    /// The argument is a path for the methods that follow.
    Receiver,
    /// A method of that path.
    OnReceiver(&'static Call),
}

/// Names and what they do. A name with a dot must match as a whole or at its end; one without
/// must be the last part.
pub(crate) type Table = &'static [(&'static [&'static str], Call)];

/// The call that a name is. The text says whether ambiguous names count.
pub(crate) fn find(table: Table, name: &str, text: &str) -> Option<Call> {
    let last = name.rsplit(['.', ':', '>']).next().unwrap_or(name);
    let fits = |known: &&'static str| match known.strip_prefix('?') {
        // Only with sockets: many things have a method of that name.
        Some(bare) if bare == "connect" => {
            last == bare && (text.contains("net") || text.contains("socket"))
        }
        // Only if the code loads processes at all: `exec` is a method of regular expressions, too.
        Some(bare) => {
            last == bare && (text.contains("child_process") || text.contains("subprocess"))
        }
        None if known.contains(['.', ':']) => {
            name == *known
                || name.strip_suffix(*known).is_some_and(|before| before.ends_with(['.', ':']))
        }
        None => last == *known,
    };
    table.iter().find(|(names, _)| names.iter().any(&fits)).map(|(_, call)| *call)
}

const FETCH: Call = Call::Connects(Purpose::Fetch);
const SEND: Call = Call::Connects(Purpose::Send);
const TUNNEL: Call = Call::Connects(Purpose::Tunnel);
const LISTEN: Call = Call::Connects(Purpose::Listen);
const WRITES: Call = Call::Writes(Change::Content);
const APPENDS: Call = Call::Writes(Change::Append);
const FOLDER: Call = Call::Writes(Change::Folder);
const EMPTIES: Call = Call::Writes(Change::Empty);
const ATTRIBUTES: Call = Call::Writes(Change::Attributes);
const DELETES: Call = Call::Deletes(Scope::One);
const DELETES_TREE: Call = Call::Deletes(Scope::Tree);

pub(crate) const TABLES: &[(Language, Table)] = &[
    (Language::Python, PYTHON),
    (Language::JavaScript, JAVASCRIPT),
    (Language::Perl, PERL),
    (Language::Ruby, RUBY),
    (Language::Php, PHP),
    (Language::Lua, LUA),
    (Language::R, R),
];

const R: Table = &[
    (&["system", "shell", "shell.exec"], Call::Shell),
    (&["system2", "processx::run", "sys::exec_wait"], Call::Program),
    (
        &[
            "read.csv",
            "read.csv2",
            "read.table",
            "read.delim",
            "readLines",
            "readRDS",
            "scan",
            "readr::read_csv",
            "read_csv",
            "fread",
            "readChar",
            "readBin",
            "load",
            "file",
            "fromJSON",
            "read_json",
            "read_excel",
            "read.dcf",
            "count.fields",
        ],
        Call::Reads,
    ),
    (&["source", "sys.source"], Call::Includes),
    (
        &[
            "write.csv",
            "write.csv2",
            "write.table",
            "writeLines",
            "saveRDS",
            "save",
            "sink",
            "png",
            "pdf",
            "svg",
            "jpeg",
            "ggsave",
            "fwrite",
            "write_csv",
            "file.create",
            "dput",
            "dump",
        ],
        WRITES,
    ),
    (&["dir.create"], FOLDER),
    (&["Sys.chmod"], ATTRIBUTES),
    (&["file.remove"], DELETES),
    (&["unlink"], DELETES_TREE),
    (&["file.copy"], Call::Copies),
    (&["file.rename"], Call::Moves),
    (&["list.files", "file.exists", "file.info", "dir"], Call::Lists),
    (&["download.file"], Call::Downloads),
    (&["url", "curl", "curl_download", "GET", "socketConnection"], FETCH),
    (&["POST", "PUT"], SEND),
    (&["Sys.getenv"], Call::Environment),
    (
        &[
            "eval",
            "parse",
            "do.call",
            "dyn.load",
            "install_github",
            "install_url",
            "install_git",
            "install_gitlab",
            "install_bitbucket",
            "install_svn",
            "source_url",
            "source_gist",
            "get",
            ".Call",
            ".C",
        ],
        Call::Dynamic,
    ),
];

const PYTHON: Table = &[
    (
        &[
            "os.system",
            "os.popen",
            "system",
            "popen",
            "getoutput",
            "getstatusoutput",
            "create_subprocess_shell",
            "subprocess.run",
            "subprocess.call",
            "check_call",
            "check_output",
            "Popen",
            "pty.spawn",
            "?run",
            "?call",
            "pexpect.run",
            "pexpect.spawn",
            "delegator.run",
            "delegator.chain",
            "sarge.run",
            "sarge.capture_stdout",
            "invoke.run",
            "exec_command",
            "Context().run",
        ],
        Call::Shell,
    ),
    (
        &[
            "execl",
            "execlp",
            "execv",
            "execvp",
            "execve",
            "execvpe",
            "spawnl",
            "spawnlp",
            "spawnv",
            "spawnvp",
            "posix_spawn",
            "create_subprocess_exec",
            "startfile",
        ],
        Call::Program,
    ),
    (&["open", "io.open", "codecs.open", "fdopen"], Call::Open),
    (&["sqlite3.connect"], Call::Reads),
    (&["read_text", "read_bytes"], Call::OnReceiver(&Call::Reads)),
    (&["read", "load_dotenv"], Call::ReadsPath),
    (
        &["gethostbyname", "gethostbyname_ex", "getaddrinfo", "resolver.resolve", "resolver.query"],
        Call::Resolves,
    ),
    (&["write_text", "write_bytes", "touch"], Call::OnReceiver(&WRITES)),
    (&["glob.glob", "glob.iglob", "iglob"], Call::ReadsPattern),
    (&["os.remove", "os.unlink", "os.rmdir", "send2trash"], DELETES),
    (&["rmtree", "removedirs"], DELETES_TREE),
    (&["unlink", "rmdir"], Call::OnReceiver(&DELETES)),
    (&["Path", "PosixPath", "PurePath", "Path.home", "Path.cwd"], Call::Receiver),
    (
        &["shutil.copy", "copy2", "copyfile", "copytree", "os.link", "symlink", "os.symlink"],
        Call::Copies,
    ),
    (&["shutil.move", "os.rename", "os.replace", "os.renames"], Call::Moves),
    (&["os.mkdir", "makedirs"], FOLDER),
    (&["os.chmod", "os.chown"], ATTRIBUTES),
    (&["os.truncate"], EMPTIES),
    (
        &[
            "listdir",
            "scandir",
            "os.walk",
            "os.stat",
            "exists",
            "isfile",
            "isdir",
            "islink",
            "getsize",
            "getmtime",
            "os.access",
        ],
        Call::Lists,
    ),
    (&["urlretrieve", "wget.download", "hf_hub_download"], Call::Downloads),
    (
        &[
            "urlopen",
            "requests.get",
            "httpx.get",
            "requests.head",
            "requests.request",
            "HTTPSConnection",
            "HTTPConnection",
            "urllib.request.Request",
        ],
        FETCH,
    ),
    (
        &[
            "requests.post",
            "requests.put",
            "requests.patch",
            "httpx.post",
            "httpx.put",
            "requests.delete",
            "SMTP",
            "FTP",
        ],
        SEND,
    ),
    (&["create_connection", "?connect", "connect_ex", "bind"], TUNNEL),
    (
        &[
            "TCPServer",
            "HTTPServer",
            "ThreadingHTTPServer",
            "ss.TCPServer",
            "socketserver.TCPServer",
        ],
        LISTEN,
    ),
    (&["post", "put", "patch", "upload"], Call::ConnectsTo(Purpose::Send)),
    (&["get", "head"], Call::ConnectsTo(Purpose::Fetch)),
    (&["os.environ", "environ"], Call::Environment),
    (&["re.compile"], Call::Harmless),
    (&["import_module"], Call::Loads),
    (
        &[
            "exec",
            "eval",
            "compile",
            "__import__",
            "getattr",
            "globals",
            "locals",
            "vars",
            "__builtins__",
            "builtins",
            "__subclasses__",
            "__globals__",
            "runpy",
            "run_path",
            "run_module",
            "ctypes",
            "cdll",
            "CDLL",
            "marshal.loads",
            "pickle.loads",
            "loads_pickle",
            "b64decode",
            "fromhex",
            "unhexlify",
            "__getattribute__",
            "attrgetter",
            "methodcaller",
            "code.interact",
            "decompress",
        ],
        Call::Dynamic,
    ),
];

const JAVASCRIPT: Table = &[
    (
        &[
            "execSync",
            "execaCommandSync",
            "execaCommand",
            "?exec",
            "child_process.exec",
            "Deno.run",
            "Deno.Command",
            "Bun.spawn",
            "Bun.spawnSync",
        ],
        Call::Shell,
    ),
    (&["spawn", "spawnSync", "execFile", "execFileSync", "?fork"], Call::Program),
    (
        &[
            "readFileSync",
            "readFile",
            "createReadStream",
            "readTextFile",
            "readTextFileSync",
            "Bun.file",
            "Deno.readFile",
        ],
        Call::Reads,
    ),
    (&["globSync"], Call::ReadsPattern),
    (&["readdirSync", "readdir", "existsSync", "statSync", "lstatSync", "accessSync"], Call::Lists),
    (
        &[
            "writeFileSync",
            "writeFile",
            "createWriteStream",
            "writeTextFile",
            "writeTextFileSync",
            "Bun.write",
            "openSync",
        ],
        WRITES,
    ),
    (&["appendFileSync", "appendFile"], APPENDS),
    (&["truncateSync"], EMPTIES),
    (&["mkdirSync", "mkdir", "mkdtempSync"], FOLDER),
    (&["chmodSync", "chownSync"], ATTRIBUTES),
    (&["unlinkSync", "unlink", "Deno.remove"], DELETES),
    (
        &[
            "rmSync",
            "rmdirSync",
            "fs.rm",
            "promises.rm",
            "fs.rmdir",
            "rimraf",
            "rimrafSync",
            "removeSync",
            "emptyDirSync",
        ],
        DELETES_TREE,
    ),
    (&["copyFileSync", "copyFile", "cpSync", "symlinkSync", "linkSync"], Call::Copies),
    (&["renameSync", "fs.rename", "promises.rename", "moveSync"], Call::Moves),
    (
        &[
            "fetch",
            "http.get",
            "https.get",
            "http.request",
            "https.request",
            "axios.get",
            "got",
            "axios",
            "importScripts",
        ],
        FETCH,
    ),
    (&["axios.post", "axios.put", "sendBeacon"], SEND),
    (&["post", "put", "patch"], Call::ConnectsTo(Purpose::Send)),
    (&["get"], Call::ConnectsTo(Purpose::Fetch)),
    (&["dns.resolve", "dns.lookup", "resolveTxt", "resolve4", "resolveAny"], Call::Resolves),
    (
        &[
            "net.connect",
            "?connect",
            "createConnection",
            "net.createServer",
            "net.Socket",
            "tls.connect",
            "WebSocket",
            "dgram.createSocket",
        ],
        TUNNEL,
    ),
    (&["process.env"], Call::Environment),
    (&["require", "import"], Call::Loads),
    (
        &[
            "eval",
            "Function",
            "runInNewContext",
            "runInThisContext",
            "runInContext",
            "vm.Script",
            "process.binding",
            "dlopen",
            "atob",
            "fromCharCode",
            "constructor",
            "_load",
        ],
        Call::Dynamic,
    ),
];

const PERL: Table = &[
    (&["system", "exec", "qx", "readpipe"], Call::Shell),
    (&["open", "sysopen"], Call::Dynamic),
    (&["slurp", "path"], Call::Reads),
    (&["unlink", "rmdir"], DELETES),
    (&["rmtree", "remove_tree"], DELETES_TREE),
    (&["rename", "move"], Call::Moves),
    (&["copy"], Call::Copies),
    (&["mkdir"], FOLDER),
    (&["chmod", "chown"], ATTRIBUTES),
    (&["truncate"], EMPTIES),
    (&["getstore"], Call::Downloads),
    (&["LWP::Simple::get"], FETCH),
    (&["post", "put", "post_form"], Call::ConnectsTo(Purpose::Send)),
    (&["get", "mirror"], Call::ConnectsTo(Purpose::Fetch)),
    (
        &[
            "eval",
            "require",
            "do",
            "syscall",
            "socket",
            "Socket",
            "INET",
            "decode_base64",
            "pack",
            "unpack",
            "LWP",
            "UserAgent",
            "HTTP",
        ],
        Call::Dynamic,
    ),
];

const RUBY: Table = &[
    (
        &[
            "system",
            "exec",
            "spawn",
            "IO.popen",
            "popen",
            "Open3.capture2",
            "capture2e",
            "capture3",
            "popen3",
            "PTY.spawn",
        ],
        Call::Shell,
    ),
    (&["File.open", "open", "File.new"], Call::Open),
    (
        &[
            "File.read",
            "IO.read",
            "File.readlines",
            "IO.readlines",
            "File.foreach",
            "binread",
            "YAML.load_file",
        ],
        Call::Reads,
    ),
    (&["Dir.glob"], Call::ReadsPattern),
    (&["Dir.entries", "Dir.children", "File.exist?", "File.stat"], Call::Lists),
    (&["File.write", "IO.write", "binwrite"], WRITES),
    (&["File.truncate"], EMPTIES),
    (&["File.delete", "File.unlink", "Dir.rmdir", "FileUtils.rm", "FileUtils.rm_f"], DELETES),
    (&["rm_rf", "rm_r", "remove_entry", "remove_dir"], DELETES_TREE),
    (&["FileUtils.cp", "cp_r", "FileUtils.copy", "ln_s", "File.symlink"], Call::Copies),
    (&["IO.copy_stream"], Call::Copies),
    (&["FileUtils.mv", "File.rename"], Call::Moves),
    (&["mkdir_p", "Dir.mkdir"], FOLDER),
    (&["File.chmod", "File.chown", "FileUtils.chmod"], ATTRIBUTES),
    (&["URI.open", "Net::HTTP.get", "HTTP.get", "URI", "URI.parse", "open-uri"], FETCH),
    (&["Net::HTTP.post", "post_form", "HTTP.post"], SEND),
    (&["post", "put"], Call::ConnectsTo(Purpose::Send)),
    (
        &[
            "TCPSocket.new",
            "TCPSocket.open",
            "TCPServer.new",
            "UDPSocket.new",
            "TCPSocket",
            "Socket.tcp",
        ],
        TUNNEL,
    ),
    (&["Resolv.getaddress", "Addrinfo.getaddrinfo", "getaddress"], Call::Resolves),
    (&["ENV"], Call::Environment),
    (&["require", "load"], Call::Loads),
    (
        &[
            "eval",
            "instance_eval",
            "class_eval",
            "module_eval",
            "send",
            "__send__",
            "public_send",
            "const_get",
            "Marshal.load",
            "Fiddle",
            "Fiddle.dlopen",
            "syscall",
            "unpack",
            "unpack1",
            "decode64",
            "fork",
        ],
        Call::Dynamic,
    ),
];

const PHP: Table = &[
    (
        &["system", "exec", "shell_exec", "passthru", "popen", "proc_open", "pcntl_exec"],
        Call::Shell,
    ),
    (&["fopen"], Call::Open),
    (
        &[
            "file_get_contents",
            "readfile",
            "file",
            "highlight_file",
            "show_source",
            "parse_ini_file",
        ],
        Call::Reads,
    ),
    (&["glob"], Call::ReadsPattern),
    (&["scandir", "opendir", "file_exists", "is_file", "is_dir", "stat"], Call::Lists),
    (&["file_put_contents", "touch"], WRITES),
    (&["unlink", "rmdir"], DELETES),
    (&["copy", "symlink", "link"], Call::Copies),
    (&["rename", "move_uploaded_file"], Call::Moves),
    (&["mkdir"], FOLDER),
    (&["chmod", "chown"], ATTRIBUTES),
    (&["curl_init", "get_headers"], FETCH),
    (&["mail"], SEND),
    (&["gethostbyname", "dns_get_record", "checkdnsrr"], Call::Resolves),
    (&["fsockopen", "pfsockopen", "stream_socket_client", "socket_connect"], TUNNEL),
    (&["getenv", "_ENV", "phpinfo"], Call::Environment),
    (&["include", "include_once", "require", "require_once"], Call::Includes),
    (
        &[
            "eval",
            "assert",
            "create_function",
            "call_user_func",
            "call_user_func_array",
            "base64_decode",
            "gzinflate",
            "str_rot13",
            "hex2bin",
            "unserialize",
            "preg_replace_callback",
            "ReflectionFunction",
            "dl",
            "putenv",
        ],
        Call::Dynamic,
    ),
];

const LUA: Table = &[
    (&["os.execute", "io.popen", "vim.fn.system", "jobstart"], Call::Shell),
    (&["io.open"], Call::Open),
    (&["io.lines", "readfile"], Call::Reads),
    (&["dofile", "loadfile"], Call::Includes),
    (&["os.remove"], DELETES),
    (&["os.rename"], Call::Moves),
    (&["os.getenv"], Call::Lists),
    (&["socket.connect", "?connect"], TUNNEL),
    (&["request"], Call::ConnectsTo(Purpose::Fetch)),
    (&["require"], Call::Loads),
    (
        &["load", "loadstring", "package.loadlib", "setfenv", "string.char", "vim.cmd"],
        Call::Dynamic,
    ),
];
