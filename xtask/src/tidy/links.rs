//! Relative links of Markdown files lead somewhere.

use std::path::Path;

use super::files::File;

pub(crate) fn check(root: &Path, file: &File) -> Vec<String> {
    if !file.is("md") {
        return Vec::new();
    }
    let folder = root.join(&file.name);
    let folder = folder.parent().unwrap_or(root);
    let mut wrong = Vec::new();
    let mut in_code = false;
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for target in targets(line) {
            let path = target.split('#').next().unwrap_or_default();
            if !is_elsewhere(target) && !path.is_empty() && !folder.join(path).exists() {
                wrong.push(format!("{}:{number}: broken link `{target}`", file.name));
            }
        }
    }
    wrong
}

/// What the links of a line point to: `[text](target)` and `[name]: target`.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut code = false;
    let mut at = 0;
    for piece in line.split_inclusive('`') {
        if !code {
            let inline = piece.match_indices("](").filter_map(|(open, _)| {
                let behind = line.get(at + open + 2..)?;
                behind.get(..behind.find(')')?)
            });
            found.extend(inline);
        }
        at += piece.len();
        code ^= piece.ends_with('`');
    }
    if let Some((_, target)) = line.strip_prefix('[').and_then(|line| line.split_once("]: ")) {
        found.push(target);
    }
    found.into_iter().filter_map(|target| target.split_whitespace().next()).collect()
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:") || target.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found() {
        assert_eq!(targets("see [a](b.md) and [`c`](d.md#e \"title\")"), ["b.md", "d.md#e"]);
        assert_eq!(targets("[a]: b.md"), ["b.md"]);
        assert_eq!(targets("`[a](b.md)` and plain"), Vec::<&str>::new());
    }

    #[test]
    fn broken_ones_are_wrong() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("README.md"), "").unwrap();
        let text =
            "[up](../README.md#a) [gone](gone.md)\n```\n[code](x)\n```\n[web](https://x) [h](#h)";
        let file = File::new("docs/a.md", text.as_bytes().to_vec());
        assert_eq!(check(root.path(), &file), ["docs/a.md:1: broken link `gone.md`"]);
    }
}
