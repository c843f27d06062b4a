//! Computes the pattern of all beginnings of a pattern's matches.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Class, Hir, HirKind, Repetition};

/// Higher repetition counts are treated as any number: each count would take a state.
const COUNTED: u32 = 64;

/// Parses a pattern as a caller writes it.
pub(crate) fn unicode(pattern: &str) -> Result<Hir, Box<regex_syntax::Error>> {
    regex_syntax::parse(pattern).map_err(Box::new)
}

/// Parses a pattern that matches bytes.
pub(crate) fn bytes(pattern: &str) -> Result<Hir, Box<regex_syntax::Error>> {
    let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
    parser.parse(pattern).map_err(Box::new)
}

/// The beginnings of matches of `hir`: empty, a part, or all of it. It may match too much, never
/// too little: it ignores the text next to a match (`^`, `\b`), and treats high counts as any
/// count.
pub(crate) fn beginnings(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => {
            let bytes = literal.0.iter().rev();
            bytes.fold(Hir::empty(), |rest, byte| {
                optional(Hir::concat(vec![Hir::literal(vec![*byte]), rest]))
            })
        }
        HirKind::Class(class) => optional(one_of(class)),
        HirKind::Capture(Capture { sub, .. }) => beginnings(sub),
        HirKind::Repetition(Repetition { max: Some(0), .. }) => Hir::empty(),
        HirKind::Repetition(repetition) => {
            let before = Repetition {
                min: 0,
                max: most(repetition.max.map(|max| max - 1)),
                greedy: true,
                sub: Box::new(anywhere(&repetition.sub)),
            };
            Hir::concat(vec![Hir::repetition(before), beginnings(&repetition.sub)])
        }
        HirKind::Concat(parts) => parts.iter().rev().fold(Hir::empty(), |rest, part| {
            let through = Hir::concat(vec![anywhere(part), rest]);
            Hir::alternation(vec![beginnings(part), through])
        }),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(beginnings).collect()),
    }
}

/// The same pattern without assertions about its place.
fn anywhere(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
        HirKind::Capture(Capture { sub, .. }) => anywhere(sub),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            min: if repetition.min > COUNTED { 1 } else { repetition.min },
            max: most(repetition.max),
            greedy: true,
            sub: Box::new(anywhere(&repetition.sub)),
        }),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(anywhere).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(anywhere).collect()),
    }
}

fn most(max: Option<u32>) -> Option<u32> {
    max.filter(|max| *max <= COUNTED)
}

fn one_of(class: &Class) -> Hir {
    Hir::class(class.clone())
}

fn optional(sub: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(sub) })
}
