//! Reads a command line by the model of its program: which words are flags, values, operands.

use crate::model::{Flag, Model, Operands, Style, Value};
use crate::shell::expand::Field;

/// A command line, taken apart.
pub(crate) struct Line<'f> {
    /// The model of the program, of its sub-command, and so on.
    pub(crate) models: Vec<&'static Model>,
    pub(crate) flags: Vec<Given>,
    pub(crate) operands: Vec<Field>,
    /// Flags that the model does not have, with the value that is in the same word.
    pub(crate) unknown: Vec<(String, Option<Field>)>,
    /// Operands right after a flag that the model does not have: they may be its value.
    pub(crate) doubtful: Vec<(usize, String)>,
    /// All words after the program's name.
    pub(crate) words: &'f [Field],
    /// What this program has and others of its family do not, innermost last.
    pub(crate) own: Vec<&'static Model>,
    /// The names of the sub-commands as they were given: `remote add`.
    sub_command: String,
}

/// A flag that was given.
pub(crate) struct Given {
    pub(crate) flag: &'static Flag,
    /// As it was written, without its value.
    pub(crate) spelling: String,
    /// Its values: none, one, or the words of a command.
    pub(crate) values: Vec<Field>,
}

impl<'f> Line<'f> {
    /// Takes the words after the program's name apart.
    pub(crate) fn read(model: &'static Model, name: &str, fields: &'f [Field]) -> Self {
        let known = crate::programs::own(name);
        let of_all = known.iter().copied().filter(|model| model.names.is_empty());
        let line = Self {
            models: vec![model],
            own: of_all.collect(),
            flags: Vec::new(),
            operands: Vec::new(),
            unknown: Vec::new(),
            doubtful: Vec::new(),
            words: fields,
            sub_command: String::new(),
        };
        let mut reader = Reader { fields, at: 0, known, line };
        reader.words();
        reader.line
    }

    /// Whether a flag says that nothing is done. A word after a flag that the model does not have
    /// may be its value, and is not believed. Nor is one that another one takes back.
    pub(crate) fn is_dry_run(&self) -> bool {
        let is_dry = |field: &Field| {
            matches!(
                field.text(),
                Some("--dry-run" | "--dryrun" | "--dry-run=client" | "--dry-run=server")
            )
        };
        let acts = |field: &Field| {
            matches!(
                field.text(),
                Some("--dry-run=none" | "--dry-run=false" | "--no-dry-run" | "--execute")
            )
        };
        let Some(at) = self.words.iter().position(is_dry) else { return false };
        let before = at.checked_sub(1).and_then(|at| self.words.get(at)).and_then(Field::text);
        let ends_flags = self.words.iter().take(at).any(|field| field.text() == Some("--"));
        let is_known = |word: &str| {
            let is_switch = |given: &Given| given.spelling == word && given.values.is_empty();
            crate::shell::shows::is_switch(word) || self.flags.iter().any(is_switch)
        };
        // `npm run x --dry-run` runs the script.
        let is_script = self.models.first().is_some_and(|model| model.names.contains(&"npm"))
            && self.sub_command().starts_with("run");
        !ends_flags
            && !is_script
            && !self.words.iter().any(acts)
            && before.is_none_or(|word| !word.starts_with('-') || is_known(word))
    }

    /// Whether a program that copies only says what it would copy: `rsync -n`, `aws s3 sync --dryrun`.
    pub(crate) fn only_compares(&self) -> bool {
        let name = self.models.first().and_then(|model| model.names.first()).copied();
        let is_short = |given: &Given| given.flag.names.first() == Some(&"--dry-run");
        match name {
            Some("rsync" | "rclone") => self.is_dry_run() || self.flags.iter().any(is_short),
            // For `cp`, the same flag only keeps what is there.
            Some("gsutil") if self.sub_command() == "rsync" => {
                self.words.iter().any(|word| word.text() == Some("-n"))
            }
            Some("aws" | "gcloud" | "s3cmd" | "s5cmd" | "mc" | "azcopy" | "b2") => {
                self.is_dry_run()
            }
            _ => false,
        }
    }

    /// Whether a flag asks for help only. A word that the program passes on is no flag of its own.
    pub(crate) fn asks_for_help(&self) -> bool {
        let is_help = |field: &Field| {
            field.word.known_start().starts_with('-')
                && matches!(field.text(), Some("--help" | "-help"))
        };
        self.words.iter().any(is_help)
            && !self.operands.iter().any(is_help)
            && !self.flags.iter().any(|given| given.values.iter().any(is_help))
    }

    /// The model of the innermost sub-command.
    pub(crate) fn model(&self) -> Option<&'static Model> {
        self.models.last().copied()
    }

    /// The models of the program and of its sub-commands, and what the program has for itself.
    pub(crate) fn all_models(&self) -> impl Iterator<Item = &'static Model> {
        self.models.iter().chain(&self.own).copied()
    }

    /// What the program has for itself right here, not for the commands around the sub-command.
    pub(crate) fn own_here(&self) -> impl Iterator<Item = &'static Model> {
        let path = self.sub_command.as_str();
        let is_here = move |model: &&Model| match model.names {
            [] => path.is_empty(),
            names => names.contains(&path),
        };
        self.own.iter().rev().copied().filter(is_here)
    }

    /// All flags that the program may have; those of the innermost sub-command, and its own, come first.
    fn all_flags(&self) -> impl Iterator<Item = &'static Flag> + use<'_, 'f> {
        self.own.iter().rev().chain(self.models.iter().rev()).flat_map(|model| model.flags.iter())
    }

    /// The sub-command: `remote add`.
    pub(crate) fn sub_command(&self) -> &str {
        &self.sub_command
    }

    /// What the operands mean, with the flags that were given.
    pub(crate) fn meaning(&self) -> Option<Operands> {
        let model = self.model()?;
        let is_given =
            |flag: &&Flag| self.flags.iter().any(|given| std::ptr::eq(given.flag, *flag));
        let flags = self.models.iter().chain(&self.own).flat_map(|model| model.flags.iter());
        let by_flag = flags.filter(is_given).filter_map(|flag| flag.operands).next_back();
        let own = self.own_here().map(|model| model.operands).find(|it| !it.is_empty());
        let mut operands = by_flag.or(own).unwrap_or(model.operands);
        if self.flags.iter().any(|given| given.flag.instead) {
            operands.first = &[];
        }
        Some(operands)
    }
}

struct Reader<'f> {
    fields: &'f [Field],
    at: usize,
    /// What the program has for itself.
    known: &'static [&'static Model],
    line: Line<'f>,
}

impl Reader<'_> {
    fn style(&self) -> Style {
        let styles = self.line.models.iter().rev().map(|model| model.style);
        styles.into_iter().find(|style| *style != Style::Gnu).unwrap_or(Style::Gnu)
    }

    fn next(&mut self) -> Option<Field> {
        let field = self.fields.get(self.at).cloned();
        self.at += 1;
        field
    }

    fn words(&mut self) {
        let mut is_doubtful = false;
        while let Some(field) = self.next() {
            let unknown = self.line.unknown.len();
            let style = self.style();
            let start = field.word.known_start();
            let is_flag = start.len() > 1 && start.starts_with('-');
            if is_flag && style != Style::Plain {
                if start == "--" && field.word.is_known() {
                    self.take_rest();
                    return;
                }
                self.flag(&field, style);
                is_doubtful = self.line.unknown.len() > unknown;
                continue;
            } else if self.prefix(&field) {
            } else if style == Style::Bundle && self.at == 1 && is_bundle(start) {
                self.bundle(&field, 0);
            } else if let Some(sub) = self.sub(&field) {
                self.line.models.push(sub);
                self.line.sub_command = self.path_of(field.text().unwrap_or_default());
                let path = self.line.sub_command.as_str();
                let is_own = |model: &&&'static Model| {
                    model.names.contains(&path) && !std::ptr::eq(**model, sub)
                };
                self.line.own.extend(self.known.iter().filter(is_own));
            } else {
                if is_doubtful && let Some((name, None)) = self.line.unknown.last() {
                    self.line.doubtful.push((self.line.operands.len(), name.clone()));
                }
                self.line.operands.push(field);
                if style == Style::Posix {
                    self.take_rest();
                    return;
                }
            }
            is_doubtful = false;
        }
    }

    fn take_rest(&mut self) {
        self.line.operands.extend(self.fields.iter().skip(self.at).cloned());
    }

    fn sub(&self, field: &Field) -> Option<&'static Model> {
        if !self.line.operands.is_empty() {
            return None;
        }
        let name = field.text()?;
        let is_it = |sub: &&'static Model| sub.names.contains(&name);
        let by_family = self.line.model()?.subs.iter().find(is_it);
        let by_family =
            by_family.or_else(|| self.line.own_here().find_map(|own| own.subs.iter().find(is_it)));
        by_family.or_else(|| {
            let path = if self.known.is_empty() { None } else { Some(self.path_of(name)) };
            let is_it = |model: &&&'static Model| {
                path.as_deref().is_some_and(|path| model.names.contains(&path))
            };
            self.known.iter().find(is_it).copied()
        })
    }

    /// The sub-commands so far and this one: `remote add`.
    fn path_of(&self, name: &str) -> String {
        match self.line.sub_command.as_str() {
            "" => name.to_owned(),
            outer => format!("{outer} {name}"),
        }
    }

    fn find(&self, name: &str) -> Option<&'static Flag> {
        self.line.all_flags().find(|flag| flag.names.contains(&name))
    }

    /// A long flag, also shortened.
    fn find_long(&self, name: &str) -> Option<&'static Flag> {
        if let Some(flag) = self.find(name) {
            return Some(flag);
        }
        if name.len() < 4 {
            return None;
        }
        let is_it = |flag: &&Flag| flag.names.iter().any(|known| known.starts_with(name));
        self.line.all_flags().find(is_it)
    }

    /// An operand that begins with a prefix of the model: `of=`, `+`.
    fn prefix(&mut self, field: &Field) -> bool {
        let start = field.word.known_start();
        let found = self.line.all_flags().find_map(|flag| {
            let is_prefix = |name: &&&str| !name.starts_with('-') && start.starts_with(**name);
            flag.names.iter().find(is_prefix).map(|name| (flag, name.len()))
        });
        let Some((flag, length)) = found else { return false };
        let spelling = start.get(..length).unwrap_or(start).to_owned();
        self.line.flags.push(Given { flag, spelling, values: vec![field.from(length)] });
        true
    }

    fn flag(&mut self, field: &Field, style: Style) {
        let start = field.word.known_start();
        let name_end = start.find('=').unwrap_or(start.len());
        let name = start.get(..name_end).unwrap_or(start);
        let is_long = start.starts_with("--") || style == Style::SingleDash;
        let found = if is_long { self.find_long(name) } else { self.find(name) };
        let has_value = name_end < start.len();
        match found {
            Some(flag) if is_long || has_value || field.word.is_known() => {
                let joined = has_value.then(|| field.from(name_end + 1));
                self.given(flag, name, joined);
            }
            _ if style == Style::SingleDash && self.joined_flag(field) => {}
            _ if is_long => {
                let joined = has_value.then(|| field.from(name_end + 1));
                self.line.unknown.push((name.to_owned(), joined));
            }
            _ => self.bundle(field, 1),
        }
    }

    /// `-javaagent:x.jar`, `-oDIR`: the value begins right after the name.
    fn joined_flag(&mut self, field: &Field) -> bool {
        let start = field.word.known_start();
        let flags = self.line.all_flags();
        let found = flags.into_iter().filter(|flag| flag.value == Value::Joined).find_map(|flag| {
            // `-o/tmp` is `-o` with a folder, `-old` is another flag.
            let is_path = |rest: &str| rest.starts_with(['/', '~', '.']);
            let is_prefix = |name: &&&str| {
                start.strip_prefix(**name).is_some_and(|rest| name.len() > 2 || is_path(rest))
            };
            flag.names.iter().find(is_prefix).map(|name| (flag, *name))
        });
        let Some((flag, name)) = found else { return false };
        self.line.flags.push(Given {
            flag,
            spelling: name.to_owned(),
            values: vec![field.from(name.len())],
        });
        true
    }

    /// Letters that are flags of their own: `-rf`, `-ofile`.
    fn bundle(&mut self, field: &Field, skip: usize) {
        let letters: Vec<(usize, char)> =
            field.word.known_start().char_indices().skip(skip).collect();
        let mut takes_digits = false;
        for (at, letter) in letters {
            if takes_digits && letter.is_ascii_digit() {
                continue;
            }
            takes_digits = false;
            let name = format!("-{letter}");
            let Some(flag) = self.find(&name) else {
                self.line.unknown.push((name, None));
                continue;
            };
            let after = at + letter.len_utf8();
            let has_more = after < field.word.known_part().len()
                || field.word.gaps().iter().any(|gap| gap.at >= after);
            if matches!(flag.value, Value::None | Value::Digits) {
                self.given(flag, &name, None);
                takes_digits = flag.value == Value::Digits;
                continue;
            }
            // A bundle without a dash takes its values from the words after it: `tar xf a`.
            if has_more && skip == 0 && flag.value == Value::One {
                self.given(flag, &name, None);
                continue;
            }
            let joined = has_more.then(|| field.from(after));
            self.given(flag, &name, joined);
            return;
        }
    }

    fn given(&mut self, flag: &'static Flag, name: &str, joined: Option<Field>) {
        let spelling = name.to_owned();
        let mut values = Vec::new();
        match flag.value {
            Value::None | Value::Digits => {}
            Value::Joined => values.extend(joined),
            Value::One => values.extend(joined.or_else(|| self.next())),
            Value::FirstOfTwo => {
                values.extend(joined.or_else(|| self.next()));
                self.next();
            }
            Value::SecondOfTwo => {
                if joined.is_none() {
                    self.next();
                }
                values.extend(self.next());
            }
            Value::ToSemicolon => {
                values.extend(joined);
                while let Some(field) = self.next() {
                    let ends = field.text() == Some(";")
                        || field.text() == Some("+")
                            && values.last().is_some_and(|last: &Field| last.text() == Some("{}"));
                    if ends {
                        break;
                    }
                    values.push(field);
                }
            }
            Value::Rest => {
                values.extend(joined);
                values.extend(self.fields.iter().skip(self.at).cloned());
                self.at = self.fields.len();
            }
        }
        self.line.flags.push(Given { flag, spelling, values });
    }
}

fn is_bundle(start: &str) -> bool {
    !start.is_empty() && start.bytes().all(|byte| byte.is_ascii_alphabetic())
}
