//! Globs of rules, taken apart for systems that have fewer forms.

/// The glob without braces, once for each alternative.
pub(super) fn alternatives(glob: &str) -> Vec<String> {
    let Some(open) = glob.find('{') else { return vec![glob.to_owned()] };
    let mut depth = 0_usize;
    let mut parts = vec![String::new()];
    let mut close = None;
    for (at, letter) in glob.char_indices().skip_while(|(at, _)| *at < open) {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_outer = (letter == '{' && depth == 1) || (letter == '}' && depth == 0);
        match letter {
            ',' if depth == 1 => parts.push(String::new()),
            _ if is_outer => {}
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.push(letter);
                }
            }
        }
        if depth == 0 {
            close = Some(at);
            break;
        }
    }
    let Some(close) = close else { return vec![glob.to_owned()] };
    let (before, after) =
        (glob.get(..open).unwrap_or_default(), glob.get(close + 1..).unwrap_or_default());
    let joined = parts.iter().map(|part| format!("{before}{part}{after}"));
    joined.flat_map(|glob| alternatives(&glob)).collect()
}

/// Whether an exception may take files out of a glob. Only names are compared, so it may be wrong in this
/// direction, and in the other only for exceptions about whole folders.
pub(super) fn has_exception(glob: &str, exceptions: &[String]) -> bool {
    let name = glob.rsplit('/').next().unwrap_or(glob);
    exceptions.iter().any(|exception| {
        let exception = exception.trim_start_matches('!');
        alternatives(exception).iter().any(|exception| {
            let other = exception.rsplit('/').next().unwrap_or(exception);
            match name.contains(['*', '?']) {
                true => !other.starts_with("**"),
                false => other != "**" && callgate_policy::Globs::new([other]).matches(name),
            }
        })
    })
}

/// Whether a glob is a folder of which only a part is meant: other globs of the list are inside. Agents
/// that read globs as `.gitignore` does would take all of it.
pub(super) fn is_only_folder(glob: &str, globs: &[String], exceptions: &[String]) -> bool {
    let inside = format!("{glob}/");
    let of_exceptions = exceptions.iter().flat_map(|it| alternatives(it.trim_start_matches('!')));
    let has_exceptions = of_exceptions.into_iter().any(|it| it.starts_with(&inside));
    let whole = format!("{glob}/**");
    let has_parts = globs.iter().any(|other| other.starts_with(&inside)) || is_usual_folder(glob);
    has_exceptions || (has_parts && !globs.contains(&whole))
}

/// The home folder, the project, and folders at the root.
fn is_usual_folder(glob: &str) -> bool {
    let at_root = glob.strip_prefix('/').is_some_and(|rest| !rest.contains('/'));
    matches!(glob, "~" | "workspace") || at_root
}

/// Whether a glob is for Windows.
pub(super) fn has_drive(glob: &str) -> bool {
    let mut letters = glob.chars();
    letters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && letters.next() == Some(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_taken_apart() {
        assert_eq!(alternatives("a"), ["a"]);
        assert_eq!(alternatives("x/{a,b{c,d}}.e"), ["x/a.e", "x/bc.e", "x/bd.e"]);
        assert_eq!(alternatives("{a"), ["{a"]);
    }

    #[test]
    fn exceptions_are_found_by_name() {
        let exceptions = ["!**/*.pub".to_owned(), "!**/x/{config*,y}".to_owned()];
        assert!(!has_exception("**/id_rsa", &exceptions));
        assert!(has_exception("**/id.pub", &exceptions));
        assert!(has_exception("**/x/*", &exceptions));
        assert!(has_exception("**/x/config", &exceptions));
    }
}
