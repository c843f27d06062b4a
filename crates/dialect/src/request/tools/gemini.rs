//! The tools of a Gemini request. Keys have two spellings.

use callgate_json::{Error, Kind, Problem, Reader, Span};

use super::common::common;
use super::groups::Item;
use super::{Choice, Finder, Mention, entry};
use crate::json::elements;

impl Finder<'_> {
    /// Code Assist wraps the request.
    pub(super) fn gemini(&mut self, root: Span) -> Result<(), Error> {
        for key in ["request", "generateContentRequest"] {
            if let Some((_, inner)) = self.one_in(root, None, &[key])? {
                self.gemini_request(inner)?;
            }
        }
        self.gemini_request(root)
    }

    fn gemini_request(&mut self, object: Span) -> Result<(), Error> {
        // The functions are one list, everything else another.
        self.list += 2;
        let functions = self.list - 1;
        if let Some((item, tools)) = self.one_in(object, None, &["tools"])? {
            for (item, tool) in self.items(tools, item)? {
                self.gemini_tool(tool, item, functions)?;
            }
        }
        let config = self.one_in(object, None, &["toolConfig", "tool_config"])?;
        let Some((item, config)) = config else { return Ok(()) };
        self.all.choices.push(Choice { item, list: Choice::ALL, limits: false });
        let calling = ["functionCallingConfig", "function_calling_config"];
        let calling = self.one_in(config, Some(item), &calling)?;
        let Some((item, calling)) = calling else { return Ok(()) };
        let names = ["allowedFunctionNames", "allowed_function_names"];
        let allowed = self.one_in(calling, None, &names)?;
        self.all.choices.push(Choice { item, list: functions, limits: allowed.is_some() });
        if let Some((_, names)) = allowed {
            // Without the list its mode would mean something else, so all of it is removed.
            let group = self.all.groups.elements(self.data, names, Some(item));
            for (place, span) in elements(self.data, names).into_iter().enumerate() {
                let item = Item { group, place };
                if let Ok(name) =
                    Reader::at(self.data, span).string().and_then(|text| text.decode())
                {
                    let names = vec![name.into_owned()];
                    self.all.mentions.push(Mention { names, server: None, item });
                }
            }
        }
        Ok(())
    }

    /// Reads an object with functions under one key, and a provider tool under each other key.
    fn gemini_tool(&mut self, tool: Span, parent: Item, functions: usize) -> Result<(), Error> {
        if Reader::at(self.data, tool).kind()? != Kind::Object {
            return Err(Error::new(Problem::Unexpected, tool.start));
        }
        let group = self.all.groups.members(self.data, tool, Some(parent));
        self.one(group, &["functionDeclarations", "function_declarations"])?;
        let others = self.list;
        for (place, key, value) in self.all.groups.keys(group) {
            let item = Item { group, place };
            match key.as_str() {
                "functionDeclarations" | "function_declarations" => {
                    self.list = functions;
                    self.list(value, item, "")?;
                    self.list = others;
                }
                "mcpServers" | "mcp_servers" => self.gemini_servers(value, item),
                _ => {
                    let name = entry::camel(&key);
                    let mut also = vec![entry::snake(&name)];
                    also.extend(common(&name).map(str::to_owned));
                    self.add_as(name, also, value, item);
                }
            }
        }
        Ok(())
    }

    fn gemini_servers(&mut self, list: Span, parent: Item) {
        let group = self.all.groups.elements(self.data, list, Some(parent));
        for (place, span) in elements(self.data, list).into_iter().enumerate() {
            let name = entry::word(self.data, span, "name").unwrap_or_default();
            self.server(name, span, Item { group, place });
        }
    }
}
