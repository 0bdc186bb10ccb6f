//! What became of pairs that only a shader joins, by the places that it finds them at, and by the application's debug labels.

use std::collections::BTreeMap;

use crate::output::{Cell, Output, Style, Table};
use crate::trace::analysis::Analysis;
use crate::trace::links;
use crate::trace::record::{self, grouped, short};

/// What became of each pair that only a shader joins. `asked`: a word also where there is none.
pub(super) fn by_link(analysis: &Analysis, asked: bool, limit: usize, output: &mut Output) {
    let groups = analysis.by_link();
    if groups.is_empty() && !asked {
        return;
    }
    output.line("");
    if groups.is_empty() {
        output.line("No shader joins an image and a sampler that do not fit, as far as the trace shows.");
        return;
    }
    output.styled_line(Style::Heading, "by link");
    let mut table = Table::new(2);
    table.heading(["", "stages", "image", "sampler", "format", "rule", "outcome"]);
    for group in groups.iter().take(limit) {
        let style = if group.repaired { Style::Good } else { Style::Warn };
        table.row([
            Cell::number(group.count),
            Cell::new(links::stages(&group.link)),
            Cell::new(links::descriptor(&group.link.image)),
            Cell::new(links::descriptor(&group.link.sampler)),
            Cell::new(group.format.as_deref().map_or("", short)),
            Cell::new(group.rule.as_deref().unwrap_or("")).style(Style::Name),
            Cell::new(group.outcome.as_deref().unwrap_or("left as it is")).style(style),
        ]);
    }
    output.table(&table);
    more(groups.len(), limit, 2, output);
}

/// In which debug label regions pairs were first met that only a shader joins. `asked`: a word also where there is none.
pub(super) fn by_label(analysis: &Analysis, asked: bool, limit: usize, output: &mut Output) {
    let groups = analysis.by_label();
    if !asked && groups.iter().all(|group| group.label.is_none()) {
        return;
    }
    output.line("");
    if groups.is_empty() {
        output.line("No record names a draw.");
        return;
    }
    output.styled_line(Style::Heading, "by label");
    let mut table = Table::new(2);
    table.heading(["", "label", "first draw", "changed", "left as it is"]);
    let counts = |counts: &BTreeMap<String, u64>| {
        let mut counts: Vec<_> = counts.iter().collect();
        counts.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        counts.iter().map(|(what, count)| format!("{what} {}", grouped(count))).collect::<Vec<_>>().join(", ")
    };
    for group in groups.iter().take(limit) {
        let label = match &group.label {
            Some(label) => Cell::new(format!("\"{label}\"")),
            None => Cell::new("(no label)").style(Style::Dim),
        };
        table.row([
            Cell::number(group.records),
            label,
            Cell::new(format!("frame {}, draw {}", group.first.frame, group.first.draw)),
            Cell::new(counts(&group.rules)).style(Style::Name),
            Cell::new(counts(&group.left)).style(Style::Warn),
        ]);
    }
    output.table(&table);
    more(groups.len(), limit, 2, output);
}

/// Says how many rows of a group are not shown.
pub(super) fn more(count: usize, limit: usize, indent: usize, output: &mut Output) {
    if let Some(more) = record::more(count, limit) {
        output.styled_line(Style::Dim, format!("{}{more} (--limit 0 shows all)", " ".repeat(indent)));
    }
}
