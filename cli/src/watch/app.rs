//! What the page shows at the moment, and what keys do to it.

use std::path::PathBuf;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::detail;
use super::model::Model;
use super::rows::{self, About, Row, Tab};
use super::rules::{self, RulesFile, Switch};
use crate::trace::record::short;

/// What keys are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Moving in the list.
    List,
    /// Writing what is searched.
    Search,
    /// Reading the text about a row, or the help.
    Text,
}

/// Whether the program goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    On,
    /// It ends.
    Quit,
}

/// The page.
#[derive(Debug)]
pub struct App {
    /// What is known.
    pub model: Model,
    /// The list that is shown.
    pub tab: Tab,
    /// Its rows, searched and sorted.
    pub rows: Vec<Row>,
    /// The row that is chosen.
    pub selected: usize,
    /// The column that each tab is sorted by, and whether the smallest comes first.
    pub sorted: [(usize, bool); Tab::ALL.len()],
    /// What is searched.
    pub search: String,
    /// What keys are for.
    pub mode: Mode,
    /// The text that is read.
    pub text: Vec<String>,
    /// The first line of it that is shown.
    pub scroll: usize,
    /// How many rows or lines fit, as the last picture had it.
    pub height: usize,
    /// What was just done, until the next key.
    pub note: Option<String>,
    /// The rules file.
    pub rules: Option<RulesFile>,
    /// Whether somebody named it.
    is_rules_named: bool,
}

/// The text of `?`.
const HELP: &str = "\
Tab, 1 to 8      another list
Up, Down, j, k   another row; Page Up, Page Down, Home, End
Enter            everything about the row, with the text of `samplin explain`;
                 a process: look at it alone, and again for all
a                all processes
/                search in the rows; Esc ends it
s, S             sort by the next column; turn the order
Space            switch the repair of a rule, a format or a pair off or on, by
                 writing the rules file; in the list of the rules file, the rule
q                quit

A program follows the rules file while it runs if its setting live is on.
Otherwise the file counts from its next start.";

impl App {
    /// Of what is known. `rules`: the rules file, if somebody names it.
    pub fn new(model: Model, rules: Option<PathBuf>) -> Self {
        let mut app = Self {
            model,
            tab: Tab::Rules,
            rows: Vec::new(),
            selected: 0,
            sorted: [(0, false); Tab::ALL.len()],
            search: String::new(),
            mode: Mode::List,
            text: Vec::new(),
            scroll: 0,
            height: 10,
            note: None,
            is_rules_named: rules.is_some(),
            rules: rules.map(RulesFile::read),
        };
        app.refresh();
        app
    }

    /// Whether a running program follows the rules file.
    pub fn is_live(&self) -> bool {
        self.model.shown().any(|(_, process)| process.setting("live") == Some("on"))
    }

    /// Looks whether the rules file was changed; whether that is news.
    pub fn look_at_rules(&mut self) -> bool {
        if !self.is_rules_named {
            let found = self.model.shown().find_map(|(_, process)| {
                process.layer()?;
                rules::path_of(process.setting("config"), &process.name())
            });
            let is_other = found.is_some() && found.as_ref() != self.rules.as_ref().map(|rules| &rules.path);
            if let Some(path) = found.filter(|_| is_other) {
                self.rules = Some(RulesFile::read(path));
                return true;
            }
        }
        self.rules.as_mut().is_some_and(RulesFile::refresh)
    }

    /// Makes the rows anew. The chosen row stays chosen.
    pub fn refresh(&mut self) {
        let chosen = self.chosen().map(|row| (row.about.clone(), row.cells.get(1).cloned()));
        let rules = self.rules.as_ref();
        let is_off = |rule: &str, format: Option<&str>, fingerprint: Option<&str>| {
            rules.is_some_and(|rules| rules.is_off(rule, format, fingerprint))
        };
        let mut rows =
            if self.tab == Tab::File { rows::of_file(rules) } else { rows::rows(&self.model, self.tab, &is_off) };
        let search = self.search.to_lowercase();
        rows.retain(|row| row.has(&search));
        let (column, is_up) = self.sorted();
        rows.sort_by(|a, b| {
            // Numbers go down at first, and texts up.
            let order =
                if column == 0 { b.number.cmp(&a.number) } else { a.cells.get(column).cmp(&b.cells.get(column)) };
            let order = order.then_with(|| a.cells.cmp(&b.cells));
            if is_up { order.reverse() } else { order }
        });
        self.rows = rows;
        let same = chosen.and_then(|chosen| {
            self.rows.iter().position(|row| row.about == chosen.0 && row.cells.get(1) == chosen.1.as_ref())
        });
        self.selected = same.unwrap_or(self.selected).min(self.rows.len().saturating_sub(1));
    }

    /// The column that the list is sorted by, and whether the order is turned.
    pub fn sorted(&self) -> (usize, bool) {
        self.sorted.get(self.tab.index()).copied().unwrap_or_default()
    }

    /// The chosen row.
    pub fn chosen(&self) -> Option<&Row> {
        self.rows.get(self.selected)
    }

    /// Everything about the chosen row.
    pub fn about_chosen(&self) -> Vec<String> {
        self.chosen().map(|row| detail::lines(&self.model, self.rules.as_ref(), row)).unwrap_or_default()
    }

    /// Does what a key says.
    pub fn key(&mut self, key: KeyEvent) -> Flow {
        self.note = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Flow::Quit;
        }
        match self.mode {
            Mode::Search => self.search_key(key.code),
            Mode::Text => self.text_key(key.code),
            Mode::List => return self.list_key(key.code),
        }
        Flow::On
    }

    fn search_key(&mut self, key: KeyCode) {
        match key {
            KeyCode::Esc => {
                self.search.clear();
                self.mode = Mode::List;
            }
            KeyCode::Enter | KeyCode::Down | KeyCode::Up => self.mode = Mode::List,
            KeyCode::Backspace => drop(self.search.pop()),
            KeyCode::Char(letter) => self.search.push(letter),
            _ => {}
        }
        self.refresh();
    }

    fn text_key(&mut self, key: KeyCode) {
        // How many lines there are depends on the width, so the picture holds it to the last one.
        match moved(key, self.scroll, usize::MAX / 2, self.height) {
            Some(to) => self.scroll = to,
            None => self.mode = Mode::List,
        }
    }

    fn list_key(&mut self, key: KeyCode) -> Flow {
        let last = self.rows.len().saturating_sub(1);
        if let Some(to) = moved(key, self.selected, last, self.height) {
            self.selected = to;
            return Flow::On;
        }
        let tabs = Tab::ALL.len();
        match key {
            KeyCode::Char('q') => return Flow::Quit,
            KeyCode::Tab | KeyCode::Right => self.show((self.tab.index() + 1) % tabs),
            KeyCode::BackTab | KeyCode::Left => self.show((self.tab.index() + tabs - 1) % tabs),
            KeyCode::Char(digit @ '1'..='8') => self.show(digit as usize - '1' as usize),
            KeyCode::Char('/') => self.mode = Mode::Search,
            KeyCode::Esc => self.search.clear(),
            KeyCode::Char('s') => self.sort(1, false),
            KeyCode::Char('S') => self.sort(0, true),
            KeyCode::Char('a') => self.model.only = None,
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Enter => self.open(),
            KeyCode::Char('?' | 'h') => self.read(HELP.lines().map(str::to_owned).collect()),
            _ => {}
        }
        self.refresh();
        Flow::On
    }

    fn show(&mut self, index: usize) {
        if let Some((tab, ..)) = Tab::ALL.get(index) {
            (self.tab, self.selected) = (*tab, 0);
            self.rows.clear();
        }
    }

    fn sort(&mut self, step: usize, is_turned: bool) {
        let columns = self.tab.columns().len();
        if let Some((column, is_up)) = self.sorted.get_mut(self.tab.index()) {
            *column = (*column + step) % columns.max(1);
            *is_up = is_turned && !*is_up;
        }
    }

    fn read(&mut self, text: Vec<String>) {
        (self.text, self.scroll, self.mode) = (text, 0, Mode::Text);
    }

    fn open(&mut self) {
        match self.chosen().map(|row| row.about.clone()) {
            Some(About::Process(index)) if self.tab == Tab::Processes => {
                self.model.only = if self.model.only == Some(index) { None } else { Some(index) };
            }
            Some(_) => self.read(self.about_chosen()),
            None => {}
        }
    }

    /// The repair that the chosen row is about.
    fn switch(&self) -> Option<Switch> {
        let decision =
            |process: usize, index: usize| self.model.processes.get(process)?.tail.analysis.decisions.get(index);
        match &self.chosen()?.about {
            About::Rule(rule) => Some(Switch { rules: vec![rule.clone()], ..Switch::default() }),
            About::Format(format) => Some(Switch { format: Some(short(format).to_owned()), ..Switch::default() }),
            About::Decision(process, index) => {
                let decision = decision(*process, *index)?;
                Some(Switch {
                    rules: rows::rules_of(decision).into_iter().map(str::to_owned).collect(),
                    format: decision.format.as_deref().map(|format| short(format).to_owned()),
                    fingerprint: decision.fingerprint.clone(),
                })
            }
            _ => None,
        }
    }

    fn toggle(&mut self) {
        let entry = match (self.tab, self.chosen()) {
            (Tab::File, Some(row)) => Some((row.cells.get(1).cloned().unwrap_or_default(), row.number)),
            _ => None,
        };
        let switch = self.switch();
        let is_live = self.is_live();
        let Some(rules) = &mut self.rules else {
            self.note =
                Some("no rules file is known yet: wait for the first record, or name one with --rules".to_owned());
            return;
        };
        let done = match (entry, switch) {
            (Some((name, line)), _) => rules.toggle_entry(&name, usize::try_from(line).unwrap_or(0)),
            (None, Some(switch)) => rules.toggle(&switch),
            (None, None) => Err("this row has no repair to switch: look at rules, formats or pairs".to_owned()),
        };
        let when = if is_live { "" } else { " (from the next start: live is off)" };
        self.note = Some(done.map_or_else(|error| error, |done| format!("{done}{when}")));
    }
}

/// Where a key leads to among so many; nothing if it is another kind of key.
fn moved(key: KeyCode, at: usize, last: usize, page: usize) -> Option<usize> {
    Some(match key {
        KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => (at + 1).min(last),
        KeyCode::PageUp => at.saturating_sub(page.max(1)),
        KeyCode::PageDown => (at + page.max(1)).min(last),
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => last,
        _ => return None,
    })
}
