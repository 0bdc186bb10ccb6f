//! The findings as comma-separated values, one line for each change of a sampler and for each thing that is left.
//!
//! The page's script writes the same lines of what it shows: the elements say by `data-c` which of the columns they hold.

use samplin_wire::record::Draw;

use crate::failure::{Failure, Result};
use crate::output::visible_lines;

use super::findings::{Row, Unsolved};

/// The names of the columns.
pub(super) const COLUMNS: [&str; 21] = [
    "kind",
    "count",
    "rule",
    "format",
    "what",
    "before",
    "after",
    "why",
    "lost",
    "vuid",
    "view",
    "sampler",
    "sampler_name",
    "view_name",
    "path",
    "how",
    "shader",
    "applied",
    "frame",
    "draw",
    "label",
];

/// The lines, with the names of the columns first.
///
/// # Errors
///
/// When memory is short.
pub(super) fn of(rows: &[Row<'_>], left: &[Unsolved<'_>]) -> Result<Vec<u8>> {
    let trouble = |error: String| Failure::environment(format!("the table cannot be made: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let changes = rows.iter().map(|row| {
        let count = row.count.to_string();
        let applied = if row.applied { "yes" } else { "no" };
        let [frame, draw, label] = of_draw(row.draw);
        [
            "change",
            &count,
            row.rule,
            row.format,
            row.field,
            &row.from,
            &row.to,
            row.because,
            row.lost,
            row.vuid.unwrap_or_default(),
            &row.view,
            row.sampler,
            row.sampler_name.unwrap_or_default(),
            row.view_name.unwrap_or_default(),
            row.path,
            row.how.unwrap_or_default(),
            row.joined.as_deref().unwrap_or_default(),
            applied,
            &frame,
            &draw,
            &label,
        ]
        .map(cell)
    });
    let left = left.iter().map(|row| {
        let count = row.count.to_string();
        let [frame, draw, label] = of_draw(row.draw);
        [
            "unresolved",
            &count,
            row.rule.unwrap_or_default(),
            row.format,
            row.what,
            "",
            "",
            row.why,
            "",
            row.vuid.unwrap_or_default(),
            &row.view,
            row.sampler,
            row.sampler_name.unwrap_or_default(),
            row.view_name.unwrap_or_default(),
            "",
            "",
            row.joined.as_deref().unwrap_or_default(),
            "no",
            &frame,
            &draw,
            &label,
        ]
        .map(cell)
    });
    writer.write_record(COLUMNS).map_err(|error| trouble(error.to_string()))?;
    for line in changes.chain(left) {
        writer.write_record(line).map_err(|error| trouble(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| trouble(error.to_string()))
}

/// What is said of a draw, nothing if there is none.
fn of_draw(draw: Option<&Draw>) -> [String; 3] {
    draw.map_or_else(Default::default, |of| {
        [of.frame.to_string(), of.draw.to_string(), of.label.clone().unwrap_or_default()]
    })
}

/// A cell, in which a name of the application is neither a formula to a spreadsheet nor anything to a terminal.
fn cell(text: &str) -> String {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t']) && !is_number && text != "-Infinity";
    format!("{}{}", if is_formula { "'" } else { "" }, visible_lines(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay() {
        for (text, written) in [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("@SUM(1)", "'@SUM(1)"),
            ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
            ("\t=1", "'\t=1"),
            ("-0.5", "-0.5"),
            ("+1e-3", "+1e-3"),
            ("-Infinity", "-Infinity"),
            ("a=b", "a=b"),
            ("\u{202e}gpj", "\\u{202e}gpj"),
            ("", ""),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
