//! Links that the text makes: which ones, and from where. Who writes to one writes to what is behind it.

use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::word::Word;

impl Shell<'_, '_> {
    /// `ln TARGET LINK`, `ln TARGET`, `ln TARGET… FOLDER`
    pub(crate) fn makes_links(&mut self, line: &Line<'_>) {
        let (link, targets) = match line.operands.as_slice() {
            [] => return,
            [only] => (Field::new(Word::known("."), only.span.clone()), std::slice::from_ref(only)),
            [targets @ .., link] => (link.clone(), targets),
        };
        for target in targets.iter().take(8) {
            let text = target.word.known_part().trim_end_matches('/');
            let name = target.word.from(text.rfind('/').map_or(0, |slash| slash + 1));
            let mut inside = link.word.clone();
            inside.push('/');
            inside.push_word(&name);
            self.keep_link(target, &Field::new(inside, link.span.clone()));
        }
        // With a slash at its end, it is a folder in any case.
        if let [target, link] = line.operands.as_slice()
            && !link.word.known_part().ends_with('/')
        {
            self.keep_link(target, link);
        }
    }

    /// `cp -l` and `cp -s` make links instead of copies.
    pub(crate) fn copies_as_links(&mut self, line: &Line<'_>) {
        let is_link = |name: &str| matches!(name, "-l" | "-s" | "--link" | "--symbolic-link");
        let given = line.flags.iter().map(|given| given.spelling.as_str());
        let unknown = line.unknown.iter().map(|(name, _)| name.as_str());
        if given.chain(unknown).any(is_link) {
            self.makes_links(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::shell::tests::{has, lacks};

    #[test]
    fn who_writes_to_a_link_writes_to_what_is_behind_it() {
        for text in [
            "ln -s ~/.bashrc r; echo x >> r",
            "ln ~/.bashrc r; echo x >> r",
            "cp -l ~/.bashrc r; echo x >> r",
            "cp -s ~/.bashrc r; echo x >> ./r",
            "d=$(mktemp -d); ln -s ~/.bashrc $d/n; echo x >> $d/n",
            "ln -s ~/.bashrc; echo x >> .bashrc",
            "ln -s ~/.bashrc a; ln -s a b; echo x >> b",
            "ln -s ~/.bashrc sub/; echo x >> sub/.bashrc",
        ] {
            has(text, &["appends /home/u/.bashrc"]);
        }
        has("ln -sf ~/.zshrc r; tee r <<< x", &["writes /home/u/.zshrc"]);
    }

    #[test]
    fn a_link_itself_can_be_replaced() {
        lacks("ln -s ~/.bashrc r; rm r; ln -sf b r", "deletes /home/u/.bashrc");
        lacks("ln -s ~/.bashrc r; ln -sf b r", "links /home/u/.bashrc");
    }
}
