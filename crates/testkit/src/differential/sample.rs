//! One mutated response with its policy, made from a number.

use std::path::Path;

use callgate_dialect::Dialect;
use callgate_policy::Policies;
use serde_json::{Value, json};

use super::body::{Body, RequestMode};
use super::gated::{Gated, Passage};
use super::mutate::mutate;
use super::rules::policy;
use super::seeds::Seeds;
use crate::drive;
use crate::rng::Rng;

/// A body to try. The same number always gives the same one.
#[derive(Debug, Clone)]
pub(super) struct BodySample {
    pub(super) number: u64,
    pub(super) origin: String,
    pub(super) body: Body,
    pub(super) policy: String,
    pub(super) passage: Passage,
    pub(super) names: Vec<String>,
}

impl BodySample {
    pub(super) fn make(seeds: &Seeds, dialect: Dialect, mode: RequestMode, number: u64) -> Self {
        let mut rng = Rng::new(number);
        let seed = seeds.pick(dialect, mode, &mut rng);
        let policy = policy(&seed, &mut rng);
        let passage = Passage::pick(&mut rng);
        let mut body = seed.body;
        mutate(&mut body, seeds, &mut rng);
        Self { number, origin: seed.origin, body, policy, passage, names: seed.names }
    }

    pub(super) fn policies(&self) -> Policies {
        drive::policies(&self.policy)
    }

    pub(super) fn gated(&self, policies: &Policies) -> Gated {
        Gated::run(&self.body, policies, &self.passage)
    }

    /// A job for the drivers: these bytes, answered to this request.
    pub(super) fn job(&self, id: &str, file: &Path) -> Value {
        json!({
            "id": id,
            "dialect": self.body.dialect.as_str(),
            "mode": self.body.mode.as_str(),
            "content_type": self.body.content_type(),
            "body_file": file.to_str().unwrap(),
            "tools": self.names,
        })
    }
}
