//! Charts as inline SVG. Colours come from the page's style sheet, so that they follow its scheme.

use std::fmt::Write as _;

use crate::trace::analysis::{Census, Timeline};
use crate::trace::record::{duration, grouped};

/// Width of every chart in its own units; the page scales it.
const WIDTH: f64 = 440.0;

/// Number of colours for series; further series share the last.
const COLORS: usize = 8;

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn open(out: &mut String, title: &str, description: &str, height: f64) {
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}. {}\">",
        escape(title),
        escape(description)
    );
}

/// Horizontal bars, the longest first; what does not fit becomes one bar.
pub(super) fn bars(title: &str, groups: &[(String, u64)], limit: usize) -> Option<String> {
    let max = groups.iter().map(|(_, count)| *count).max().filter(|max| *max > 0)?;
    let mut shown: Vec<(String, u64)> = groups.iter().take(limit).cloned().collect();
    let rest: u64 = groups.iter().skip(limit).map(|(_, count)| count).sum();
    if rest > 0 {
        shown.push((format!("{} others", groups.len() - limit), rest));
    }
    let max = max.max(rest) as f64;
    let step = 34.0;
    let mut out = String::new();
    let description =
        shown.iter().take(5).map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ");
    open(&mut out, title, &description, step * shown.len() as f64);
    for (index, (name, count)) in shown.iter().enumerate() {
        let y = index as f64 * step;
        // A bar of one must be seen beside one of a million.
        let width = (*count as f64 / max * WIDTH).max(2.0);
        let _ = write!(
            out,
            "<g><title>{name}: {full}</title><text x=\"0\" y=\"{text}\">{name}</text><text x=\"{WIDTH}\" y=\"{text}\" class=\"end\">{full}</text><rect x=\"0\" y=\"{bar}\" width=\"{WIDTH}\" height=\"8\" rx=\"4\" class=\"track\"/><rect x=\"0\" y=\"{bar}\" width=\"{width:.1}\" height=\"8\" rx=\"4\" class=\"bar\"/></g>",
            name = escape(name),
            full = grouped(*count),
            text = y + 14.0,
            bar = y + 20.0,
        );
    }
    out += "</svg>";
    Some(out)
}

/// Axes and grid of a chart over time; returns the height of its plot.
fn frame(out: &mut String, top: f64, bottom: f64, max: u64, end: &str) {
    for part in [0.0, 0.5, 1.0] {
        let y = bottom - (bottom - top) * part;
        let _ = write!(out, "<line x1=\"0\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\" class=\"grid\"/>");
    }
    let _ = write!(
        out,
        "<text x=\"0\" y=\"{}\" class=\"axis\">{}</text><text x=\"0\" y=\"{y}\" class=\"axis\">0</text><text x=\"{WIDTH}\" y=\"{y}\" class=\"axis end\">{}</text>",
        top - 5.0,
        grouped(max),
        escape(end),
        y = bottom + 16.0,
    );
}

/// Changes over time, stacked by rule.
pub(super) fn over_time(timeline: &Timeline) -> Option<String> {
    let used = timeline.used;
    let mut series: Vec<(&str, Vec<u64>)> = timeline
        .rules
        .iter()
        .zip(&timeline.series)
        .map(|(rule, counts)| (rule.as_str(), counts.iter().take(used).copied().collect()))
        .collect();
    series.sort_by_key(|(_, counts): &(&str, Vec<u64>)| std::cmp::Reverse(counts.iter().sum::<u64>()));
    if series.len() > COLORS {
        let rest = series.split_off(COLORS - 1);
        let sum = (0..used).map(|slot| rest.iter().filter_map(|(_, counts)| counts.get(slot)).sum()).collect();
        series.push(("others", sum));
    }
    let totals: Vec<u64> =
        (0..used).map(|slot| series.iter().filter_map(|(_, counts)| counts.get(slot)).sum()).collect();
    let max = totals.iter().copied().max().filter(|max| *max > 0)?;
    let (top, bottom) = (20.0, 170.0);
    let end = duration(timeline.width_ns.saturating_mul(used as u64));
    let mut out = String::new();
    let legend_rows = series.len().div_ceil(2);
    open(
        &mut out,
        "Changes over time",
        &format!("at most {max} in {}", duration(timeline.width_ns)),
        200.0 + 18.0 * legend_rows as f64,
    );
    frame(&mut out, top, bottom, max, &end);
    let width = WIDTH / used as f64;
    let gap = if width > 4.0 { 1.0 } else { 0.0 };
    for slot in 0..used {
        let mut y = bottom;
        for (index, (rule, counts)) in series.iter().enumerate() {
            let count = counts.get(slot).copied().unwrap_or(0);
            if count == 0 {
                continue;
            }
            let height = count as f64 / max as f64 * (bottom - top);
            y -= height;
            // A gap, because neighbours need not differ enough.
            let height = (height - 1.0).max(height / 2.0);
            let _ = write!(
                out,
                "<rect x=\"{:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{height:.2}\" class=\"s{index}\"><title>{}: {} after {}</title></rect>",
                slot as f64 * width,
                (width - gap).max(0.8),
                escape(rule),
                grouped(count),
                duration(timeline.width_ns * slot as u64),
            );
        }
    }
    for (index, (rule, counts)) in series.iter().enumerate() {
        let (x, y) = ((index % 2) as f64 * WIDTH / 2.0, 200.0 + (index / 2) as f64 * 18.0);
        let _ = write!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" rx=\"2\" class=\"s{index}\"/><text x=\"{}\" y=\"{y}\" class=\"axis\">{} ({})</text>",
            y - 9.0,
            x + 16.0,
            escape(rule),
            grouped(counts.iter().sum::<u64>()),
        );
    }
    out += "</svg>";
    Some(out)
}

/// Different variants seen so far.
pub(super) fn variants(timeline: &Timeline) -> Option<String> {
    let used = timeline.used;
    let mut sum = 0;
    let grown: Vec<u64> = timeline
        .variants
        .iter()
        .take(used)
        .map(|new| {
            sum += new;
            sum
        })
        .collect();
    if sum == 0 {
        return None;
    }
    let (top, bottom) = (20.0, 170.0);
    let mut out = String::new();
    let end = duration(timeline.width_ns.saturating_mul(used as u64));
    open(&mut out, "Variants over time", &format!("{sum} different ones at the end"), 190.0);
    frame(&mut out, top, bottom, sum, &end);
    let width = WIDTH / used as f64;
    let mut line = format!("M0 {bottom}");
    for (slot, count) in grown.iter().enumerate() {
        let y = bottom - *count as f64 / sum as f64 * (bottom - top);
        let _ = write!(line, " L{:.2} {y:.2} L{:.2} {y:.2}", slot as f64 * width, (slot + 1) as f64 * width);
    }
    let _ =
        write!(out, "<path d=\"{line} L{WIDTH} {bottom} Z\" class=\"area\"/><path d=\"{line}\" class=\"line\"/></svg>");
    Some(out)
}

/// How much of each limit was used.
pub(super) fn limits(census: &Census) -> String {
    let shown: Vec<_> = census
        .headroom
        .iter()
        .filter_map(|(name, headroom)| {
            let limit = headroom.limit.filter(|limit| *limit > 0)?;
            Some(match census.exceeded.get(name) {
                Some(over) => (name, u64::from(over.limit), u64::from(over.asked)),
                None => (name, limit, limit.saturating_sub(headroom.left)),
            })
        })
        .collect();
    let step = 40.0;
    let mut out = String::new();
    open(&mut out, "Use of limits", &format!("{} limits", shown.len()), (step * shown.len() as f64).max(1.0));
    for (index, (name, limit, used)) in shown.iter().enumerate() {
        let share = *used as f64 / *limit as f64;
        let class = match share {
            share if share > 0.9 => "bad",
            share if share > 0.6 => "warn",
            _ => "good",
        };
        let y = index as f64 * step;
        let _ = write!(
            out,
            "<g><text x=\"0\" y=\"{text}\">{name}</text><text x=\"{WIDTH}\" y=\"{text}\" class=\"end\">{} of {}</text><rect x=\"0\" y=\"{bar}\" width=\"{WIDTH}\" height=\"10\" rx=\"5\" class=\"track\"/><rect x=\"0\" y=\"{bar}\" width=\"{:.1}\" height=\"10\" rx=\"5\" class=\"{class}\"/></g>",
            grouped(*used),
            grouped(*limit),
            (share.min(1.0) * WIDTH).max(3.0),
            name = escape(name),
            text = y + 14.0,
            bar = y + 21.0,
        );
    }
    out + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_makes_no_chart() {
        assert_eq!(bars("x", &[], 5), None);
        assert_eq!(over_time(&Timeline::default()), None);
        assert_eq!(variants(&Timeline::default()), None);
    }

    #[test]
    fn names_are_escaped_and_the_rest_is_summed() {
        let groups: Vec<(String, u64)> = (0..10).map(|n| (format!("<{n}>"), 10 - n)).collect();
        let chart = bars("x", &groups, 4).unwrap();
        assert!(chart.contains("&lt;0&gt;") && !chart.contains("<0>"));
        assert!(chart.contains("6 others"));
    }
}
