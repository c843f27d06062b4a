//! The models of known programs, one file per family. See [`crate::model`] for the format.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::model::{Model, Own};

mod accounts;
mod agents;
mod archives;
mod build;
mod cloud;
mod containers;
mod credentials;
mod databases;
mod editors;
mod files;
mod git;
mod inspect;
mod interpreters;
mod jobs;
mod network;
mod npm;
mod own;
mod packages;
mod pip;
mod powershell;
mod servers;
mod sites;
mod system;
mod text;
mod unusual;
mod vcs;
mod wrappers;

/// All families.
const FAMILIES: &[&[Model]] = &[
    files::MODELS,
    text::MODELS,
    archives::MODELS,
    inspect::MODELS,
    wrappers::MODELS,
    interpreters::MODELS,
    editors::MODELS,
    network::MODELS,
    git::MODELS,
    vcs::MODELS,
    packages::MODELS,
    npm::MODELS,
    pip::MODELS,
    build::MODELS,
    containers::MODELS,
    cloud::MODELS,
    databases::MODELS,
    system::MODELS,
    accounts::MODELS,
    credentials::MODELS,
    agents::MODELS,
    unusual::MODELS,
    powershell::MODELS,
    jobs::MODELS,
    sites::MODELS,
    servers::MODELS,
];

/// The model of the program of that name, which must be without folders.
pub fn find(name: &str) -> Option<&'static Model> {
    BY_NAME.get(name).copied()
}

/// All models.
pub fn all() -> impl Iterator<Item = &'static Model> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// What the program of that name has for itself, besides what its family has.
pub(crate) fn own(name: &str) -> &'static [&'static Model] {
    OWN.get(name).map_or(&[], Vec::as_slice)
}

static OWN: LazyLock<HashMap<&'static str, Vec<&'static Model>>> = LazyLock::new(|| {
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    for Own { programs, model } in own::OWN {
        for program in *programs {
            all.entry(*program).or_default().push(model);
        }
    }
    all
});

static BY_NAME: LazyLock<HashMap<&'static str, &'static Model>> = LazyLock::new(|| {
    all().flat_map(|model| model.names.iter().map(move |name| (*name, model))).collect()
});

#[cfg(test)]
mod tests;
