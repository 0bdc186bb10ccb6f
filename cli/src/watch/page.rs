//! The page as a picture.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Clear, Paragraph, Row as Cells, Table};

use super::app::{App, Mode};
use super::model::describe;
use super::rows::Tab;
use crate::inspect;
use crate::output::visible;
use crate::trace::record::{counted, grouped};

/// From this width on, the text about the chosen row stands beside the list.
const WIDE: u16 = 140;

/// The most that a column takes but for the last one.
const WIDEST: usize = 30;

/// Columns between two columns.
const GAP: usize = 2;

/// A column with less room is left out.
const NARROWEST: usize = 8;

const KEYS: &str = "↑↓ move  Enter open  / search  s sort  Space on/off  Tab next  ? help  q quit";

/// Draws the page.
pub fn draw(frame: &mut Frame<'_>, app: &mut App) {
    let heading = heading(app);
    let [head, tabs, body, foot] = Layout::vertical([
        Constraint::Length(heading.len() as u16),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(heading), head);
    frame.render_widget(Paragraph::new(tab_line(app)), tabs);
    let is_wide = body.width >= WIDE;
    let (list, side) = if is_wide {
        let [list, gap, side] =
            Layout::horizontal([Constraint::Fill(3), Constraint::Length(2), Constraint::Fill(2)]).areas(body);
        let _ = gap;
        (list, Some(side))
    } else {
        (body, None)
    };
    match (app.mode, side) {
        (Mode::Text, None) => text(frame, app, body),
        (Mode::Text, Some(side)) => {
            rows(frame, app, list);
            text(frame, app, side);
        }
        (_, side) => {
            rows(frame, app, list);
            if let Some(side) = side {
                let about = app.about_chosen();
                let lines = about.iter().flat_map(|line| wrap(line, side.width.into())).map(Line::raw);
                frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), side);
            }
        }
    }
    frame.render_widget(Paragraph::new(footer(app)), foot);
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn heading(app: &App) -> Vec<Line<'static>> {
    let model = &app.model;
    let shown: Vec<_> = model.shown().map(|(_, process)| process).collect();
    let mut title = match shown.as_slice() {
        [] => "waiting for a trace".to_owned(),
        [one] => describe(one),
        several => format!("{}: {}", grouped(several.len()) + " processes", {
            let names: Vec<String> = several.iter().map(|process| describe(process)).collect();
            names.join("; ")
        }),
    };
    if model.only.is_some() && model.processes.len() > 1 {
        title += &format!(" (1 of {}, a: all)", model.processes.len());
    }
    let (read, length) = model.progress();
    if read < length {
        title += &format!(" · reading, {} %", read * 100 / length.max(1));
    }
    let mut place: Vec<String> = Vec::new();
    for process in &shown {
        let devices = inspect::devices(&process.tail.analysis);
        place.extend(devices.iter().filter_map(|line| line.split(", augmented").next()).map(str::to_owned));
    }
    place.dedup();
    let devices = if place.is_empty() { "no device yet".to_owned() } else { format!("on {}", place.join("; ")) };
    let sums = model.sums();
    let changes = format!("{} in {}", counted(sums.changes, "change"), counted(sums.repaired, "record"));
    let counts = format!("{changes} · {} left · {} switched off", grouped(sums.left), grouped(sums.exempt));
    let mut rates = Vec::new();
    if let Some((repaired, of)) = sums.share() {
        let what = if sums.writes.is_some() { "descriptors" } else { "records" };
        let percent = repaired as f64 * 100.0 / of.max(1) as f64;
        rates.push(format!("repaired {} of {} {what} ({percent:.1} %)", grouped(repaired), grouped(of)));
    }
    if let Some(pulse) = sums.pulse
        && let Some([frames, draws, _]) = pulse.a_second
    {
        let share = pulse.share().map(|share| format!(", {share:.1} % repaired")).unwrap_or_default();
        rates.push(format!("{frames:.1} frames and {} draws a second{share}", grouped(draws.round() as u64)));
    }
    let room = sums.pulse.map(|pulse| {
        let [samplers, borders] = [pulse.samplers, pulse.custom_borders].map(u64::from).map(grouped);
        format!("room for {samplers} samplers and {borders} border colours · copied sets: {}", grouped(pulse.copies))
    });
    let has_rates = sums.pulse.is_some_and(|pulse| pulse.a_second.is_some());
    rates.extend((!has_rates).then(|| match (sums.frames, sums.frames_a_second) {
        (Some(frames), Some(rate)) => format!("frames: at least {}, {rate:.1} a second", grouped(frames)),
        (Some(frames), None) => format!("frames: at least {}", grouped(frames)),
        (None, _) => "frames: no record names one".to_owned(),
    }));
    let rules = match &app.rules {
        Some(rules) => {
            let retunes: u64 = shown.iter().map(|process| process.retunes()).sum();
            let live = match (app.is_live(), retunes) {
                (false, 0) => "from the next start".to_owned(),
                (true, 0) => "live".to_owned(),
                (_, retunes) => {
                    let kept: u64 = shown.iter().map(|process| process.kept()).sum();
                    let stay = if kept > 0 { format!(", {} stay", grouped(kept)) } else { String::new() };
                    format!("live, changed {}{stay}", counted(retunes, "time"))
                }
            };
            format!("rules ({live}): {}", rules.path.display())
        }
        None => "rules: no file is known yet".to_owned(),
    };
    let line = |text: String, style: Style| Line::styled(visible(&text).into_owned(), style);
    let mut lines = vec![
        Line::from(vec![Span::styled("samplin watch  ", bold()), Span::raw(visible(&title).into_owned())]),
        line(devices, dim()),
        line(counts, Style::new()),
        line(rates.join(" · "), Style::new()),
    ];
    lines.extend(room.map(|room| line(room, Style::new())));
    lines.push(line(rules, dim()));
    lines
}

fn tab_line(app: &App) -> Line<'static> {
    let mut spans = Vec::new();
    for (index, (tab, name, _)) in Tab::ALL.iter().enumerate() {
        let style = if *tab == app.tab { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        spans.push(Span::styled(format!("{} {name}", index + 1), style));
        spans.push(Span::raw(" "));
    }
    Line::from(spans)
}

fn width(text: &str) -> usize {
    Span::raw(text).width()
}

fn rows(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let height = usize::from(area.height.saturating_sub(1));
    app.height = height;
    let first = app.selected.saturating_sub(height.saturating_sub(1));
    let columns = app.tab.columns();
    let (sorted, is_up) = app.sorted();
    let heading = |(index, name): (usize, &&str)| match (index == sorted, is_up) {
        (false, _) => (*name).to_owned(),
        (true, false) => format!("{name} ▾"),
        (true, true) => format!("{name} ▴"),
    };
    let headings: Vec<String> = columns.iter().enumerate().map(heading).collect();
    let shown = app.rows.iter().enumerate().skip(first).take(height);
    // The widths are those of all rows, so that nothing jumps while one moves; of the first of very many.
    let widest = |(column, heading): (usize, &String)| {
        let cells = app.rows.iter().take(500).filter_map(|row| row.cells.get(column)).map(|cell| width(cell));
        cells.max().unwrap_or(0).max(width(heading)).min(WIDEST.min(usize::from(area.width / 4)).max(NARROWEST))
    };
    let widths = fitting(&headings.iter().enumerate().map(widest).collect::<Vec<_>>(), area.width.into());
    let numbers = widths.first().copied().unwrap_or(0);
    let body = shown.map(|(index, row)| {
        let cells = row.cells.iter().take(widths.len()).enumerate().map(|(column, cell)| match column {
            0 => Cell::new(format!("{cell:>numbers$}")),
            _ => Cell::new(cell.as_str()),
        });
        let style = if row.is_warning { Style::new().fg(Color::Yellow) } else { Style::new() };
        let chosen = if index == app.selected { style.add_modifier(Modifier::REVERSED) } else { style };
        Cells::new(cells).style(chosen)
    });
    let head = Cells::new(headings.iter().take(widths.len()).map(String::as_str)).style(dim());
    let lengths = widths.iter().map(|width| Constraint::Length(u16::try_from(*width).unwrap_or(u16::MAX)));
    let table = Table::new(body.collect::<Vec<_>>(), lengths).header(head).column_spacing(GAP as u16);
    frame.render_widget(table, area);
    if app.rows.is_empty() {
        let inner = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
        frame.render_widget(Paragraph::new(nothing(app)), inner);
    }
}

/// What an empty list says.
fn nothing(app: &App) -> &'static str {
    if !app.search.is_empty() {
        return "Nothing has this text. Esc ends the search.";
    }
    match app.tab {
        Tab::Rules | Tab::Formats | Tab::Pairs => "Nothing was changed so far.",
        Tab::Labels => "No record names a draw so far.",
        Tab::Left => "Nothing is left so far.",
        Tab::Limits => "No device was created so far.",
        Tab::Processes => "There is no trace so far.",
        Tab::File => "The rules file has no rule. Space in another list writes one.",
    }
}

/// The widths that columns get of so many: what they ask for, from the left; the last one that fits gets the rest.
pub(super) fn fitting(asked: &[usize], room: usize) -> Vec<usize> {
    let (mut widths, mut used) = (Vec::new(), 0);
    for asked in asked {
        let left = room.saturating_sub(used);
        if widths.len() > 1 && left < NARROWEST {
            break;
        }
        widths.push((*asked).min(left));
        used += asked + GAP;
    }
    let before: usize = widths.iter().rev().skip(1).map(|width| width + GAP).sum();
    widths.last_mut().into_iter().for_each(|last| *last = room.saturating_sub(before));
    widths
}

fn text(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    app.height = area.height.into();
    let lines: Vec<String> = app.text.iter().flat_map(|line| wrap(line, area.width.into())).collect();
    app.scroll = app.scroll.min(lines.len().saturating_sub(app.height));
    let lines = lines.into_iter().skip(app.scroll).take(app.height).map(Line::raw);
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}

fn footer(app: &App) -> Line<'static> {
    match (&app.note, app.mode) {
        (Some(note), _) => Line::styled(visible(note).into_owned(), bold()),
        (None, Mode::Search) => Line::styled(format!("/{}▏", visible(&app.search)), bold()),
        (None, Mode::Text) => Line::styled("↑↓ scroll  any other key closes", dim()),
        (None, Mode::List) if !app.search.is_empty() => {
            Line::styled(format!("{} with \"{}\"  Esc all  {KEYS}", app.rows.len(), visible(&app.search)), dim())
        }
        (None, Mode::List) => Line::styled(KEYS, dim()),
    }
}

/// A line in pieces that fit, broken between words; what follows begins as the line does.
pub fn wrap(line: &str, fits: usize) -> Vec<String> {
    let indent: String = line.chars().take_while(|character| *character == ' ').collect();
    let mut lines = vec![indent.clone()];
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let Some(last) = lines.last_mut() else { break };
        let has_word = last.len() > indent.len();
        if has_word && width(last) + 1 + width(word) > fits {
            lines.push(format!("{indent}{word}"));
        } else {
            *last += if has_word { " " } else { "" };
            *last += word;
        }
    }
    lines
}
