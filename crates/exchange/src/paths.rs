//! Patterns for files, as globs of rules.

/// The globs for a pattern, or why there are none.
pub(crate) type PathGlobs = Result<Vec<String>, &'static str>;

/// Whether the globs may match more than the pattern, or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// For rules that restrict.
    Up,
    /// For rules that allow.
    Down,
}

/// A pattern as in `.gitignore`, as Claude Code reads it: `//` begins an absolute path, `~/` one in the
/// home folder, `/` one in the folder that the settings belong to.
pub(crate) fn gitignore(pattern: &str, rounding: Rounding) -> PathGlobs {
    let pattern = pattern.trim();
    if pattern.starts_with('!') {
        return Err("a pattern that begins with `!` has no counterpart");
    }
    if pattern.contains('\\') {
        return Err("a pattern with `\\` has no counterpart");
    }
    let pattern = braces(pattern, rounding)?;
    if let Some(absolute) = pattern.strip_prefix("//") {
        return Ok(with_folder(format!("/{absolute}"), rounding));
    }
    if pattern.starts_with("~/") || pattern == "~" {
        return Ok(with_folder(pattern, rounding));
    }
    if let Some(inner) = pattern.strip_prefix('/') {
        if rounding == Rounding::Down {
            return Err("a path that begins with `/` depends on where the settings file is");
        }
        let mut globs = with_folder(format!("workspace/{inner}"), rounding);
        globs.extend(with_folder(format!("~/.claude/{inner}"), rounding));
        return Ok(globs);
    }
    let inner = pattern.strip_prefix("./").unwrap_or(&pattern);
    let is_anchored = inner.trim_end_matches('/').contains('/');
    if inner.is_empty() {
        return Err("an empty pattern names nothing");
    }
    match (is_anchored, rounding) {
        (true, _) if inner.starts_with("**/") && rounding == Rounding::Up => {
            Ok(with_folder(inner.to_owned(), rounding))
        }
        (true, _) => Ok(with_folder(format!("workspace/{inner}"), rounding)),
        (false, Rounding::Up) => Ok(with_folder(format!("**/{inner}"), rounding)),
        (false, Rounding::Down) if pattern.starts_with("./") => {
            Ok(with_folder(format!("workspace/{inner}"), rounding))
        }
        (false, Rounding::Down) => Ok(with_folder(format!("workspace/**/{inner}"), rounding)),
    }
}

/// A pattern in which `*` is any text, slashes included, as opencode and others read it.
pub(crate) fn wildcard(pattern: &str, rounding: Rounding) -> PathGlobs {
    let pattern = pattern.trim();
    if pattern.is_empty() {
        return Err("an empty pattern names nothing");
    }
    if pattern.contains('\\') {
        return Err("a pattern with `\\` has no counterpart");
    }
    let pattern = braces(pattern, rounding)?;
    let pattern = pattern.strip_prefix("$HOME").map_or(pattern.clone(), |rest| format!("~{rest}"));
    let pattern = pattern.strip_prefix("./").unwrap_or(&pattern);
    let glob = crossing(pattern, rounding);
    let is_rooted = ["/", "~/"].iter().any(|start| pattern.starts_with(start)) || pattern == "~";
    Ok(vec![match (is_rooted, rounding) {
        (true, _) => glob,
        (false, Rounding::Up) if pattern.starts_with("**/") => glob,
        // It begins with any text: any folder.
        (false, Rounding::Up) if pattern.starts_with('*') => format!("**/{glob}"),
        (false, Rounding::Down) if pattern.starts_with('*') && !pattern.starts_with("**/") => {
            format!("workspace/**/{glob}")
        }
        (false, _) => format!("workspace/{glob}"),
    }])
}

/// `*` crosses slashes there. Here only `**` does, which has to be a whole name.
fn crossing(pattern: &str, rounding: Rounding) -> String {
    let count = pattern.split('/').count();
    let parts = pattern.split('/').enumerate().map(|(at, part)| {
        let is_last = at + 1 == count;
        match (part, rounding) {
            ("**", _) => part.to_owned(),
            ("*", Rounding::Up) => "**".to_owned(),
            ("*", Rounding::Down) if is_last => "**".to_owned(),
            (_, Rounding::Up) => part.replace("**", "*").replace('*', "{*,*/**/*}"),
            (_, Rounding::Down) => part.replace("**", "*"),
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Braces are ordinary characters there and alternatives here; sets of characters are the other way
/// round. One of either is one character.
fn braces(pattern: &str, rounding: Rounding) -> Result<String, &'static str> {
    match (pattern.contains(['{', '}', '[']), rounding) {
        (false, _) => Ok(pattern.to_owned()),
        (true, Rounding::Up) => Ok(without_sets(&pattern.replace(['{', '}'], "?"))),
        (true, Rounding::Down) => Err("a pattern with `{` or `[` has no counterpart"),
    }
}

/// The pattern with a `?` for each `[…]`.
fn without_sets(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        out.push('?');
        match after.char_indices().skip(1).find(|(_, letter)| *letter == ']') {
            Some((end, _)) => rest = after.get(end + 1..).unwrap_or_default(),
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

/// A pattern that names a folder covers what is in it.
fn with_folder(glob: String, rounding: Rounding) -> Vec<String> {
    if let Some(folder) = glob.strip_suffix('/') {
        return vec![format!("{folder}/**")];
    }
    if glob.ends_with("/**") || glob.ends_with("/*") || rounding == Rounding::Down {
        return vec![glob];
    }
    vec![format!("{glob}/**"), glob]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gitignore_patterns() {
        let up = |pattern| gitignore(pattern, Rounding::Up).unwrap();
        let down = |pattern| gitignore(pattern, Rounding::Down);
        assert_eq!(up("./secrets/**"), ["workspace/secrets/**"]);
        assert_eq!(up(".env"), ["**/.env/**", "**/.env"]);
        assert_eq!(up("//etc/passwd"), ["/etc/passwd/**", "/etc/passwd"]);
        assert_eq!(up("~/.ssh/"), ["~/.ssh/**"]);
        assert_eq!(up("**/*.key"), ["**/*.key/**", "**/*.key"]);
        assert_eq!(up("/x/**"), ["workspace/x/**", "~/.claude/x/**"]);
        assert_eq!(up("a{b}"), ["**/a?b?/**", "**/a?b?"]);
        assert_eq!(up("a[bc]d[e"), ["**/a?d?e/**", "**/a?d?e"]);
        assert_eq!(down("src/**").unwrap(), ["workspace/src/**"]);
        assert_eq!(down("./.env").unwrap(), ["workspace/.env"]);
        assert_eq!(down(".env").unwrap(), ["workspace/**/.env"]);
        assert!(down("/x").is_err());
        assert!(gitignore("!x", Rounding::Up).is_err());
    }

    #[test]
    fn wildcards_that_cross_slashes() {
        let up = |pattern| wildcard(pattern, Rounding::Up).unwrap();
        assert_eq!(up("*.env"), ["**/{*,*/**/*}.env"]);
        assert_eq!(up("src/*"), ["workspace/src/**"]);
        assert_eq!(up("~/x/*"), ["~/x/**"]);
        assert_eq!(up("$HOME/x"), ["~/x"]);
        assert_eq!(up("src/*/a*"), ["workspace/src/**/a{*,*/**/*}"]);
        let down = |pattern| wildcard(pattern, Rounding::Down).unwrap();
        assert_eq!(down("*.md"), ["workspace/**/*.md"]);
        assert_eq!(down("src/*/a*"), ["workspace/src/*/a*"]);
        assert_eq!(down("src/*"), ["workspace/src/**"]);
    }
}
