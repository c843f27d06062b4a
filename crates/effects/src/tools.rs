//! From a call to its effects.

use crate::analysis::Analysis;
use crate::effect::Effects;
use crate::ground::Ground;
use crate::path::working_folder;
use crate::shell::eval::{Locator, Shell};

/// The effects of a command line.
pub fn command(text: &str, ground: &Ground<'_>) -> Effects {
    let mut analysis = Analysis::new(ground);
    analysis.argument("$", text);
    Shell::new(&mut analysis, working_folder(ground)).text(text, Locator::At(0));
    analysis.finish()
}
