//! `callgate policy detectors`: what can be detected.

use anyhow::Result;
use callgate_scan::{DetectorInfo, Group, detectors};
use serde::Serialize;

use crate::exit::Exit;
use crate::render;
use crate::report;

pub(crate) fn run(json: bool) -> Result<Exit> {
    let text = if json {
        detectors().map(|it| report::line(&Listed::of(&it))).collect::<Result<_, _>>()?
    } else {
        let rows: Vec<_> = detectors()
            .map(|it| {
                [it.name.to_owned(), group(it.group).unwrap_or("-").to_owned(), it.what.to_owned()]
            })
            .collect();
        render::table(["detector", "group", "finds"], &rows)
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

#[derive(Debug, Serialize)]
struct Listed {
    detector: &'static str,
    group: Option<&'static str>,
    finds: &'static str,
}

impl Listed {
    fn of(detector: &DetectorInfo) -> Self {
        Self { detector: detector.name, group: group(detector.group), finds: detector.what }
    }
}

/// The word that asks for all of a group.
fn group(group: Group) -> Option<&'static str> {
    match group {
        Group::Secret => Some("secret"),
        Group::Personal => Some("personal"),
        Group::Alone => None,
    }
}
