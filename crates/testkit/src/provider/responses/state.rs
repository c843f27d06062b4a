//! What the API keeps.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::provider::ProviderRefusal;

/// Every response and every conversation.
#[derive(Debug, Default)]
pub(crate) struct State {
    responses: BTreeMap<String, StoredResponse>,
    conversations: BTreeMap<String, Vec<Value>>,
    made: usize,
}

/// A response.
#[derive(Debug, Clone)]
pub(super) struct StoredResponse {
    /// Everything it was made from.
    pub(super) input: Vec<Value>,
    /// As it is given.
    pub(super) response: Value,
}

impl StoredResponse {
    /// What a request continues from.
    pub(super) fn all(&self) -> Vec<Value> {
        let output = self.response["output"].as_array().cloned().unwrap_or_default();
        self.input.iter().cloned().chain(output).collect()
    }
}

impl State {
    pub(super) fn next_id(&mut self, kind: &str) -> String {
        self.made += 1;
        format!("{kind}_{}", self.made)
    }

    pub(super) fn keep(&mut self, id: &str, stored: StoredResponse) {
        self.responses.insert(id.to_owned(), stored);
    }

    pub(super) fn response(&self, id: &str) -> Result<&StoredResponse, ProviderRefusal> {
        let found = self.responses.get(id);
        found.ok_or_else(|| ProviderRefusal(format!("Response with id '{id}' not found.")))
    }

    pub(super) fn forget(&mut self, id: &str) -> Result<(), ProviderRefusal> {
        self.response(id)?;
        self.responses.remove(id);
        Ok(())
    }

    /// An item of a request, or the one that it refers to.
    pub(super) fn referred(&self, item: &Value) -> Result<Value, ProviderRefusal> {
        if item["type"] != "item_reference" {
            return Ok(item.clone());
        }
        let mut kept = self.responses.values().flat_map(StoredResponse::all);
        let found = kept.find(|kept| kept["id"] == item["id"]);
        found.ok_or_else(|| ProviderRefusal(format!("Item with id '{}' not found.", item["id"])))
    }

    /// Thinking that is not sealed in its item must be stored here.
    pub(super) fn knows_thinking(&self, items: &[Value]) -> Result<(), ProviderRefusal> {
        let is_open =
            |item: &&Value| item["type"] == "reasoning" && !item["encrypted_content"].is_string();
        for item in items.iter().filter(is_open) {
            self.referred(&json!({ "type": "item_reference", "id": item["id"] }))?;
        }
        Ok(())
    }

    pub(super) fn new_conversation(&mut self) -> Value {
        let id = self.next_id("conv");
        self.conversations.insert(id.clone(), Vec::new());
        conversation_object(&id)
    }

    pub(super) fn conversation(&self, id: &str) -> Result<&[Value], ProviderRefusal> {
        let found = self.conversations.get(id).map(Vec::as_slice);
        found.ok_or_else(|| ProviderRefusal(format!("Conversation with id '{id}' not found.")))
    }

    pub(super) fn append(&mut self, id: &str, items: Vec<Value>) -> Result<(), ProviderRefusal> {
        self.conversation(id)?;
        self.conversations.entry(id.to_owned()).or_default().extend(items);
        Ok(())
    }
}

pub(super) fn conversation_object(id: &str) -> Value {
    json!({ "id": id, "object": "conversation", "created_at": 1, "metadata": {} })
}
