//! Makes a body that shows a violation smaller.

use super::body::Body;
use super::oracle::{Violation, check};
use super::pool::{ClientLanguage, Pool};
use super::sample::BodySample;

/// Each round is one batch for the drivers.
const ROUNDS: usize = 40;
const CANDIDATES: usize = 48;

/// Drops frames, then members, as long as the same client still has the same kind of violation.
pub(super) fn minimise(pool: &mut Pool, sample: &BodySample, violation: &Violation) -> BodySample {
    let mut least = sample.clone();
    let mut tried = 0;
    for _ in 0..ROUNDS {
        let all = smaller(&least.body);
        let next: Vec<Body> = all.into_iter().skip(tried).take(CANDIDATES).collect();
        if next.is_empty() {
            break;
        }
        let count = next.len();
        match first_that_shows(pool, &least, next, violation) {
            Some((place, body)) => {
                least.body = body;
                // The attempts before it did not help, and most of them still would not.
                tried += place;
            }
            None => tried += count,
        }
    }
    least
}

/// Bodies with something left out, the largest parts first.
fn smaller(body: &Body) -> Vec<Body> {
    let mut bodies = Vec::new();
    let frames = body.frames.len();
    let mut size = frames / 2;
    while size > 0 {
        for start in (0..frames).step_by(size) {
            let mut less = body.clone();
            less.frames.drain(start..(start + size).min(frames));
            bodies.push(less);
        }
        size /= 2;
    }
    for (at, frame) in body.frames.iter().enumerate() {
        for path in frame.json().map(super::tree::Tree::paths).unwrap_or_default() {
            let mut less = body.clone();
            if let Some(tree) = less.frames[at].json_mut() {
                tree.remove(&path);
            }
            bodies.push(less);
        }
    }
    bodies
}

fn first_that_shows(
    pool: &mut Pool,
    sample: &BodySample,
    bodies: Vec<Body>,
    violation: &Violation,
) -> Option<(usize, Body)> {
    let policies = sample.policies();
    let samples: Vec<BodySample> =
        bodies.into_iter().map(|body| BodySample { body, ..sample.clone() }).collect();
    let gated: Vec<_> = samples.iter().map(|sample| sample.gated(&policies)).collect();
    let outputs = samples.iter().zip(&gated).map(|(sample, gated)| (sample, gated.out.as_slice()));
    let language = ClientLanguage::of(&violation.client);
    let seen = pool.read_with(&[language], &outputs.collect::<Vec<_>>());
    let shows = |place: &usize| {
        let found = check(&gated[*place], &policies, &seen[*place]).violations;
        found.iter().any(|it| it.client == violation.client && it.kind == violation.kind)
    };
    let place = (0..samples.len()).find(shows)?;
    Some((place, samples[place].body.clone()))
}
