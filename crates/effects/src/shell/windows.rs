//! Which shell reads a text on Windows: PowerShell, `cmd` or the Bash of Git. Tools do not say it.

use crate::ground::Ground;
use crate::model::Language;

/// Text in front that is looked at.
const MAX_TEXT: usize = 1 << 14;

/// Whether commands run on Windows.
pub(crate) fn is_windows(ground: &Ground<'_>) -> bool {
    [ground.cwd, ground.workspace, ground.home].into_iter().flatten().any(is_drive)
}

/// `C:\src`
fn is_drive(folder: &str) -> bool {
    let bytes = folder.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && matches!(folder.get(1..3), Some(":\\" | ":/"))
}

/// The language of a text; `None` for the grammar of Unix shells.
pub(crate) fn dialect(text: &str) -> Option<Language> {
    let start = text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or(text);
    let commands = commands(start);
    if is_cmd(start, &commands) {
        return Some(Language::Cmd);
    }
    if is_powershell(start) || commands.iter().any(|words| names_powershell(words)) {
        return Some(Language::PowerShell);
    }
    // A Unix shell would drop the backslashes, so it is not one.
    has_bare_backslashes(start).then_some(Language::PowerShell)
}

/// The first words of the commands of a text.
fn commands(text: &str) -> Vec<Vec<&str>> {
    let mut quote = None;
    let ends = |letter: char| {
        match (quote, letter) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ';' | '|' | '&' | '\n' | '(' | '{' | '}') => return true,
            _ => {}
        }
        false
    };
    let words = text.split(ends).take(64).map(|it| it.split_whitespace().take(12).collect());
    words.filter(|words: &Vec<&str>| !words.is_empty()).collect()
}

/// Commands of `cmd`, whose switches begin with a slash.
const OF_CMD: &[&str] = &[
    "del", "erase", "rd", "rmdir", "md", "mkdir", "copy", "move", "xcopy", "robocopy", "type",
    "dir", "ren", "rename", "set", "cmd", "cmd.exe", "start", "attrib", "tree", "more", "mklink",
    "pushd",
];

fn is_cmd(text: &str, commands: &[Vec<&str>]) -> bool {
    let is_switch = |word: &&str| {
        let name = word.strip_prefix('/').unwrap_or_default();
        let bare = name.split(':').next().unwrap_or(name);
        matches!(bare.len(), 1..=3) && bare.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let is_one = |words: &Vec<&str>| {
        let Some((first, rest)) = words.split_first() else { return false };
        let name = first.trim_start_matches('@').replace('^', "").to_ascii_lowercase();
        let second = rest.first().copied().unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "if" => matches!(second.as_str(), "exist" | "not" | "defined" | "errorlevel" | "/i"),
            "for" => second.starts_with('%') || is_switch(&second.as_str()),
            name => OF_CMD.contains(&name) && rest.iter().any(is_switch),
        }
    };
    commands.iter().any(is_one) || has_variable(text)
}

/// `%USERPROFILE%`
fn has_variable(text: &str) -> bool {
    text.match_indices('%').take(64).any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let end = rest.find('%').unwrap_or(0);
        let name = rest.get(..end).unwrap_or_default();
        name.len() > 1
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'~'))
    })
}

/// Short names of cmdlets that are no programs elsewhere.
const SHORT_NAMES: &[&str] = &[
    "gci", "gc", "gi", "ri", "ni", "mi", "cpi", "rni", "iex", "iwr", "irm", "sls", "saps", "spps",
    "gps", "gsv", "gcm", "clc", "%", "?", "select", "where", "foreach",
];

fn names_powershell(words: &[&str]) -> bool {
    let Some(first) = words.first() else { return false };
    let name = first.to_ascii_lowercase();
    let is_variable = name.strip_prefix('$').is_some_and(|rest| {
        rest.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
    });
    SHORT_NAMES.contains(&name.as_str()) || is_variable && words.len() == 1
}

/// Words that only PowerShell has: `Get-Content`, `$env:NAME`, `$PROFILE`.
fn is_powershell(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let cmdlets = [
        "get-",
        "set-",
        "add-",
        "remove-",
        "new-",
        "copy-",
        "move-",
        "invoke-",
        "out-",
        "start-",
        "stop-",
        "select-",
        "where-",
        "foreach-",
        "test-",
        "write-",
        "clear-",
        "import-",
        "export-",
        "install-",
        "register-",
        "$env:",
        "$profile",
        "$home\\",
        "iex ",
        "iwr ",
        "irm ",
        "if ($",
        "if (!",
        "if (-not",
        "foreach ($",
        "while ($",
        "@'\n",
        "@\"\n",
        "[environment]::",
    ];
    let start = text.trim_start();
    let is_static = start.starts_with('[') && text.contains("]::");
    let is_assigned = start.starts_with('$') && text.contains(" = ");
    let is_call = ["& ", "&(", "&'", "&\"", ".(", ".'"].iter().any(|sign| start.starts_with(sign));
    is_static || is_assigned || is_call || cmdlets.iter().any(|cmdlet| lower.contains(cmdlet))
}

/// `C:\Users` and `src\bin` outside of quotes.
fn has_bare_backslashes(text: &str) -> bool {
    let mut quote = None;
    let bytes = text.as_bytes();
    let is_name = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    for (at, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(open), close) if open == close => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'\\') => {
                let before = at.checked_sub(1);
                let is_drive = before.and_then(|at| bytes.get(at)) == Some(&b':');
                let is_home = before.and_then(|at| bytes.get(at)) == Some(&b'~');
                let is_root = is_drive && bytes.get(at + 1).is_none_or(|byte| *byte == b' ');
                if is_root
                    || (is_drive || is_home || before.is_some_and(is_name)) && is_name(at + 1)
                {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_is_known_by_its_words() {
        for text in [
            "rd /s /q C:\\dev\\app",
            "cmd /c rd /s /q C:\\dev\\app",
            "if exist dist rmdir /s /q dist",
            "type %USERPROFILE%\\.ssh\\id_rsa",
            "for /d %d in (src\\*) do @rd /s /q \"%d\"",
            "npm ci && del /q *.log",
        ] {
            assert_eq!(dialect(text), Some(Language::Cmd), "{text}");
        }
        for text in [
            "gci . -r | ri -fo -r",
            "& ('Re'+'move-Item') x",
            "type C:\\Users\\u\\a.txt",
            "gc ~\\.ssh\\config",
            "npm ci; if ($LASTEXITCODE -eq 0) { npm test }",
            "$PSVersionTable",
            "mkdir src\\a",
        ] {
            assert_eq!(dialect(text), Some(Language::PowerShell), "{text}");
        }
        for text in [
            "npm ci && npm test",
            "grep -rn 'a\\.b' src | head",
            "find . -name \\*.ts",
            "cd /c/dev/app && git status",
            "for f in *.ts; do echo \"$f\"; done",
            "if [ -f a ]; then cat a; fi",
            "date +%Y%m%d",
            "git log --format='%h %s'",
        ] {
            assert_eq!(dialect(text), None, "{text}");
        }
    }
}
