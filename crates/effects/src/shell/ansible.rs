//! `ansible HOSTS -m MODULE -a ARGUMENTS`: what a module does on this machine.

use crate::bound::Bound;
use crate::effect::{Access, Change, Why};
use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::line::Line;
use crate::word::Word;

/// Modules that only look.
const LOOKS: &[&str] = &[
    "debug",
    "ping",
    "setup",
    "gather_facts",
    "stat",
    "find",
    "assert",
    "package_facts",
    "service_facts",
    "wait_for",
];

/// Modules that write the file of their `dest` or `path`.
const WRITES: &[&str] =
    &["template", "copy", "lineinfile", "blockinfile", "replace", "assemble", "ini_file"];

impl Shell<'_, '_> {
    pub(crate) fn ansible_module(&mut self, line: &Line<'_>, context: &Context) {
        let value = |long: &str, short: &str| {
            let given = line.flags.iter().find(|it| it.spelling == long || it.spelling == short);
            given.and_then(|given| given.values.first())
        };
        let module = value("--module-name", "-m");
        let arguments = value("--args", "-a");
        if arguments.is_none() && module.is_none() {
            return;
        }
        let name = module.map_or(Some("command"), Field::text).unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or(name);
        // `{{ lookup('pipe', 'COMMAND') }}`
        let runs = |field: &&Field| {
            let text = field.word.known_part();
            text.contains("lookup(") || text.contains("query(")
        };
        let values = line.flags.iter().flat_map(|given| given.values.iter());
        let is_here = line
            .operands
            .first()
            .is_some_and(|hosts| matches!(hosts.text(), Some("localhost" | "127.0.0.1")));
        let is_plain = !values.take(32).any(|field| runs(&field));
        if is_plain && LOOKS.contains(&name) {
            return;
        }
        let known = arguments.filter(|field| field.word.is_known());
        let Some(arguments) = known.filter(|_| is_plain && is_here && WRITES.contains(&name))
        else {
            return self.opaque(Why::Language, Bound::ALL, context.span.clone());
        };
        for part in arguments.word.known_part().split_whitespace().take(32) {
            let Some((key, path)) = part.split_once('=') else { continue };
            let path = path.trim_matches(['\'', '"']);
            let file = Field::new(Word::known(path), arguments.span.clone());
            match key {
                "src" => self.read_file(&file, Access::Content),
                "dest" | "path" => self.write_file(&file, Change::Content),
                _ => {}
            }
        }
    }
}
