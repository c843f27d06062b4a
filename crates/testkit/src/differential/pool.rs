//! The drivers of the official clients, all at work at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;

use callgate_dialect::Dialect;
use serde_json::Value;

use super::sample::BodySample;
use crate::sdk::{ClientResults, Driver, Interpreters};

/// Drivers that keep running from batch to batch. The clients in Python are slower, so there are
/// two of them.
#[derive(Debug)]
pub struct Pool {
    python: [Driver; 2],
    node: Driver,
    folder: PathBuf,
}

impl Pool {
    /// Starts the drivers. Bodies are handed to them in files below `folder`.
    pub fn start(interpreters: &Interpreters, folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).unwrap();
        let python = [interpreters.python_reader(), interpreters.python_reader()];
        Self { python, node: interpreters.node_reader(), folder }
    }

    /// What every client makes of each body, by its place in the list.
    pub(super) fn read(&mut self, bodies: &[(&BodySample, &[u8])]) -> Vec<ClientResults> {
        self.read_with(&[ClientLanguage::Python, ClientLanguage::Node], bodies)
    }

    /// What the clients in these languages make of each body.
    pub(super) fn read_with(
        &mut self,
        languages: &[ClientLanguage],
        bodies: &[(&BodySample, &[u8])],
    ) -> Vec<ClientResults> {
        let mut python: [Vec<Value>; 2] = Default::default();
        let mut node = Vec::new();
        for (place, (sample, bytes)) in bodies.iter().enumerate() {
            let file = self.folder.join(place.to_string());
            fs::write(&file, bytes).unwrap();
            let job = sample.job(&place.to_string(), &file);
            if languages.contains(&ClientLanguage::Node) && in_node(sample.body.dialect) {
                node.push(job.clone());
            }
            if languages.contains(&ClientLanguage::Python) {
                python[place % 2].push(job);
            }
        }
        let ([first, second], third) = (&mut self.python, &mut self.node);
        let [one, two] = python;
        let results = thread::scope(|scope| {
            let asked = [(first, one), (second, two), (third, node)];
            let asked = asked.map(|(driver, jobs)| scope.spawn(move || driver.ask(&jobs)));
            asked.map(|results| results.join().expect("a driver failed"))
        });
        let mut seen = vec![ClientResults::new(); bodies.len()];
        for (id, result) in results.into_iter().flat_map(BTreeMap::into_iter) {
            assert!(result["error"].is_null(), "{result}");
            let clients: ClientResults = serde_json::from_value(result["clients"].clone()).unwrap();
            seen[id.parse::<usize>().unwrap()].extend(clients);
        }
        seen
    }
}

/// What a client is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientLanguage {
    Python,
    Node,
}

impl ClientLanguage {
    /// The language of a client, by its name.
    pub(super) fn of(client: &str) -> Self {
        match client.contains("python") || client.starts_with("boto3") {
            true => Self::Python,
            false => Self::Node,
        }
    }
}

/// Whether there are clients in Node for a dialect.
fn in_node(dialect: Dialect) -> bool {
    !matches!(dialect, Dialect::Cohere | Dialect::Converse | Dialect::Invoke)
}
