//! `callgate mcp pins diff`: what a person should see before it is trusted.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use anyhow::Result;
use callgate_registry::{DiffPiece, Difference, Pin, PinStatus, diff};
use serde_json::{Value, json};

use super::super::store;
use super::{flags, unknown};
use crate::args::DefinitionArgs;
use crate::exit::Exit;
use crate::render::{self, Color, printable, talk};
use crate::report;

pub(super) fn run(
    server: Option<&str>,
    pick: &DefinitionArgs,
    json: bool,
    config: Option<&Path>,
) -> Result<Exit> {
    let mut pins = store::pins(config)?;
    pins.retain(|pin| {
        server.is_none_or(|server| pin.identity.server == server) && pick.fits(&pin.identity)
    });
    if let (Some(server), true) = (server, pins.is_empty()) {
        return Err(unknown(pick, server));
    }
    pins.retain(|pin| pin.status() != PinStatus::Trusted);
    if json {
        let lines = pins.iter().map(|pin| report::line(&as_json(pin)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if pins.is_empty() {
        talk("nothing has changed, and nothing is waiting for approval\n");
        return Ok(Exit::Success);
    }
    let color = Color::of(&io::stdout());
    let shown: Vec<String> = pins.iter().map(|pin| shown(pin, color)).collect();
    render::print(&shown.join("\n"))?;
    Ok(Exit::Success)
}

/// The differences; for a definition that is not trusted yet, all of it.
fn differences(pin: &Pin) -> Vec<Difference> {
    match pin.status() {
        PinStatus::Quarantined => diff("{}", &pin.version.definition),
        _ => pin.diff(),
    }
}

fn shown(pin: &Pin, color: Color) -> String {
    let mut text = String::new();
    let seen = &pin.seen().hash;
    let identity = printable(&pin.identity.to_string());
    let _ = match pin.status() {
        PinStatus::Quarantined => writeln!(text, "{identity}: new, as {}", seen.short()),
        _ => {
            let was = pin.version.hash.short();
            writeln!(text, "{identity}: trusted as {was}, seen as {}", seen.short())
        }
    };
    for difference in differences(pin) {
        text.push_str(&one(&difference, color));
    }
    let flags = printable(&flags(&pin.identity));
    let hash = seen.short();
    let _ = writeln!(text, "  to trust it: callgate mcp pins trust {flags} --hash {hash}");
    text
}

fn one(difference: &Difference, color: Color) -> String {
    let Difference { path, was, is, pieces } = difference;
    let path = if path.is_empty() { "(all of it)" } else { path };
    let mut text = format!("  {}\n", printable(path));
    if pieces.is_empty() {
        let removed = was.iter().flat_map(|value| value.lines());
        let removed = removed.map(|line| color.denied(&format!("- {}", printable(line))));
        let added = is.iter().flat_map(|value| value.lines());
        let added = added.map(|line| color.good(&format!("+ {}", printable(line))));
        text.extend(removed.chain(added).map(|line| format!("    {line}\n")));
    } else {
        let lines = words(pieces, color);
        text.extend(lines.iter().map(|line| format!("    ~ {line}\n")));
    }
    text
}

/// The lines of a text with its removed and added words marked.
fn words(pieces: &[DiffPiece], color: Color) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces {
        for (at, part) in piece.to_string().split('\n').enumerate() {
            let part = printable(part);
            let part = match piece {
                _ if part.is_empty() => part,
                DiffPiece::Same(_) => part,
                DiffPiece::Removed(_) => color.denied(&part),
                DiffPiece::Added(_) => color.good(&part),
            };
            match lines.last_mut() {
                Some(last) if at == 0 => last.push_str(&part),
                _ => lines.push(part),
            }
        }
    }
    // A line break at the end does not begin another line.
    lines.pop_if(|last| last.is_empty());
    lines
}

fn as_json(pin: &Pin) -> Value {
    let differences = differences(pin).into_iter().map(
        |difference| json!({ "path": difference.path, "was": difference.was, "is": difference.is }),
    );
    let was = (pin.status() == PinStatus::Changed).then(|| pin.version.hash.as_str());
    json!({
        "server": pin.identity.server,
        "kind": pin.identity.kind.as_str(),
        "name": pin.identity.name,
        "state": pin.status().as_str(),
        "was_hash": was,
        "hash": pin.seen().hash.as_str(),
        "differences": differences.collect::<Vec<_>>(),
    })
}
