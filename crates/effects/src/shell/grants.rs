//! Programs for services that let others in, or send them what happens there: by their words.

use crate::effect::Purpose;
use crate::host;
use crate::marks::Mark;
use crate::shell::apply::Context;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;

/// Words of a command that are looked at.
const MAX_WORDS: usize = 32;

impl Shell<'_, '_> {
    /// `heroku access:add`, `gcloud compute instances add-metadata --metadata=ssh-keys=…`, and logs
    /// that go to another host: `heroku drains:add URL`.
    pub(crate) fn gives_access(&mut self, words: &[Field], context: &Context) {
        let texts = || words.iter().take(MAX_WORDS).filter_map(Field::text);
        let parts = || {
            let plain = texts().filter(|word| !word.starts_with('-')).take(4);
            plain.flat_map(|word| word.split([':', '-']))
        };
        let adds = parts().any(|part| matches!(part, "add" | "invite" | "create" | "update"));
        let is_access = parts().any(|part| {
            matches!(part, "access" | "members" | "member" | "teams" | "team" | "collaborators")
        });
        let invites = parts().any(|part| part == "invite");
        if adds && is_access && texts().any(|word| word.contains('@'))
            || invites && is_access
            || texts().any(gives_key)
        {
            self.mark(context.run, Mark::Accounts);
        }
        let forwards = parts().any(|part| {
            matches!(part, "drains" | "drain" | "webhooks" | "webhook" | "ship" | "sinks")
        });
        if !forwards {
            return;
        }
        for field in words.iter().take(MAX_WORDS) {
            if let Some(address) = host::parse_url(&field.word) {
                self.connect(address, Purpose::Send, Some(&field.word), field.span.clone());
            }
        }
    }
}

/// A key of a user of a virtual machine.
fn gives_key(word: &str) -> bool {
    let word =
        word.split_once('=').filter(|_| word.starts_with("--metadata")).map_or(word, |it| it.1);
    word.starts_with("ssh-keys=")
        || word.contains(",ssh-keys=")
        || matches!(word, "--ssh-key-value" | "--ssh-public-key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_for_machines_are_found() {
        assert!(gives_key("--metadata=ssh-keys=a:ssh-rsa b"));
        assert!(gives_key("ssh-keys=a:ssh-rsa b"));
        assert!(!gives_key("--metadata=startup-script=x"));
        assert!(!gives_key("--ssh-key-file=~/.ssh/x"));
    }
}
