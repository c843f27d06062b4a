//! The tool choice of a request.

use callgate_json::{Error, Kind, Reader, Span};

use super::groups::Item;
use super::{Choice, Finder, Mention, entry};
use crate::json::{elements, member};

impl Choice {
    /// Chooses among all tools of a request. Lists are numbered from one.
    pub(super) const ALL: usize = 0;
}

impl Finder<'_> {
    /// Reads a choice: it names nothing, one tool, or a list of allowed tools.
    pub(super) fn choice(&mut self, value: Span, item: Item, list: usize) -> Result<(), Error> {
        let is_object = Reader::at(self.data, value).kind()? == Kind::Object;
        let allowed = self.allowed(value).filter(|_| is_object);
        self.all.choices.push(Choice { item, list, limits: allowed.is_some() });
        if let Some(tools) = allowed {
            let group = self.all.groups.elements(self.data, tools, Some(item));
            for (place, span) in elements(self.data, tools).into_iter().enumerate() {
                self.mention(span, Item { group, place })?;
            }
            return Ok(());
        }
        match is_object {
            // Converse names the tool in a separate object.
            true => self.mention(member(self.data, value, "tool").unwrap_or(value), item),
            false => Ok(()),
        }
    }

    /// `allowed_tools` is next to its list in one API and around it in others.
    fn allowed(&self, choice: Span) -> Option<Span> {
        let around = member(self.data, choice, "allowed_tools").unwrap_or(choice);
        member(self.data, around, "tools")
    }

    fn mention(&mut self, span: Span, item: Item) -> Result<(), Error> {
        let entry::Entry { mut names, server, .. } = entry::read(self.data, span)?;
        if names.len() > 1 {
            // The type of a choice, not a name.
            names.retain(|name| name != "tool");
        }
        self.all.mentions.push(Mention { names, server, item });
        Ok(())
    }

    /// Interactions has the choice among other settings.
    pub(super) fn in_generation_config(&mut self, root: Span) -> Result<(), Error> {
        let list = self.list;
        for key in ["generation_config", "generationConfig"] {
            let Some((item, config)) = self.one_in(root, None, &[key])? else { continue };
            let choice = self.one_in(config, Some(item), &["tool_choice", "toolChoice"])?;
            if let Some((item, choice)) = choice {
                self.choice(choice, item, list)?;
            }
        }
        Ok(())
    }
}
