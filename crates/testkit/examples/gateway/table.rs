//! The two tables at the end: what was measured, and where callgate stands.

use crate::goals::{Better, GOALS, Goal, Standing};
use crate::measure::median;
use crate::proxy::Kind;
use crate::results::{Metric, Results};

/// Medians of the rounds, each with its ratio to nginx.
pub(crate) fn measured(results: &Results) -> String {
    let kinds = results.kinds();
    let mut header = vec!["median of the rounds (x nginx)".to_owned()];
    header.extend(kinds.iter().map(|kind| kind.word().to_owned()));
    let mut rows = vec![header];
    for metric in results.metrics() {
        let mut row = vec![metric.title()];
        row.extend(kinds.iter().map(|kind| cell(results, metric, *kind)));
        rows.push(row);
    }
    align(&rows)
}

fn cell(results: &Results, metric: Metric, kind: Kind) -> String {
    let Some(value) = results.median(metric, kind) else { return "-".into() };
    let value = format!("{value:.*}", metric.digits());
    match median(&results.ratios(metric, kind, Kind::Nginx)) {
        Some(ratio) if kind != Kind::Nginx => format!("{value} ({ratio:.2})"),
        _ => value,
    }
}

/// Each goal with what was measured and whether that is enough.
pub(crate) fn goals(results: &Results) -> String {
    let mut rows = vec![
        ["callgate", "measured (least-most)", "first", "", "goal", ""].map(str::to_owned).to_vec(),
    ];
    for goal in &GOALS {
        let standing = goal.standing(results);
        let mut row = vec![goal.what.to_owned(), standing.as_ref().map_or("-".into(), shown)];
        for figure in [goal.first, goal.last] {
            row.push(figure.map_or(String::new(), |figure| format!("{} {figure}", sign(goal))));
            row.push(word(goal, standing.as_ref(), figure).to_owned());
        }
        rows.push(row);
    }
    align(&rows)
}

fn sign(goal: &Goal) -> &'static str {
    match goal.better {
        Better::Less => "<=",
        Better::More => ">=",
    }
}

fn is_met(goal: &Goal, measured: f64, figure: f64) -> bool {
    match goal.better {
        Better::Less => measured <= figure,
        Better::More => measured >= figure,
    }
}

fn shown(standing: &Standing) -> String {
    let Standing { middle, least, most, unit } = standing;
    let digits = if *most >= 100.0 { 0 } else { 2 };
    format!("{middle:.digits$}{unit} ({least:.digits$}-{most:.digits$})")
}

fn word(goal: &Goal, standing: Option<&Standing>, figure: Option<f64>) -> &'static str {
    match (standing, figure) {
        (_, None) if goal.first.is_none() && goal.last.is_none() => "",
        (_, None) => "",
        (None, Some(_)) => "not measured",
        (Some(standing), Some(figure)) if is_met(goal, standing.middle, figure) => "met",
        (Some(_), Some(_)) => "MISSED",
    }
}

/// Columns as wide as their widest cell, the first to the left, the others to the right.
fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let cell = match at {
                0 => format!("{cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            };
            line.push_str(&cell);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
