//! `callgate policy detectors`: what can be detected.

use anyhow::Result;
use callgate_scan::{DetectorGroup, DetectorInfo, detectors};
use serde::Serialize;

use super::list::ListFormat;
use crate::exit::Exit;
use crate::render;
use crate::report;
use crate::table::Listing;

pub(crate) fn run(output: ListFormat) -> Result<Exit> {
    let text = match output {
        ListFormat::Json => detectors()
            .map(|it| report::line(&ListedDetector::of(&it)))
            .collect::<Result<_, _>>()?,
        ListFormat::Table(fit) => {
            let mut table = Listing::new(["detector", "group", "finds"]).whole(0).fit(fit);
            for it in detectors() {
                let group = group(it.group).unwrap_or("-").to_owned();
                table.row([it.name.to_owned(), group, it.what.to_owned()]);
            }
            table.text()
        }
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

#[derive(Debug, Serialize)]
struct ListedDetector {
    detector: &'static str,
    group: Option<&'static str>,
    finds: &'static str,
}

impl ListedDetector {
    fn of(detector: &DetectorInfo) -> Self {
        Self { detector: detector.name, group: group(detector.group), finds: detector.what }
    }
}

/// The word that asks for all of a group.
fn group(group: DetectorGroup) -> Option<&'static str> {
    match group {
        DetectorGroup::Secret => Some("secret"),
        DetectorGroup::Personal => Some("personal"),
        DetectorGroup::Alone => None,
    }
}
