//! Writing to standard output: colours only on a terminal, quiet when nobody reads on, tables.
//!
//! Names come from programs, drivers and files, and may hold anything. Everything that is printed passes [`visible`] here, so that
//! no command has to think of it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::{Display, Write as _};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::rc::Rc;

use crate::failure::{Failure, Result};

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    fn decide(self, is_terminal: bool) -> bool {
        let set = |key: &str| std::env::var_os(key).is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            // https://no-color.org, https://bixense.com/clicolors
            Self::Auto if set("NO_COLOR") => false,
            Self::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0" && !value.is_empty()) => {
                true
            }
            Self::Auto => is_terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// A way to stress text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    #[default]
    Plain,
    /// A heading.
    Heading,
    /// Something of little weight.
    Dim,
    /// Something good.
    Good,
    /// Something to look at.
    Warn,
    /// Something bad.
    Bad,
    /// A name.
    Name,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
            Self::Name => "36",
        }
    }
}

/// Whether a terminal, a browser or an XML reader may do something else with a character than show it: control characters (C0,
/// DEL, C1), line separators, marks that turn the direction of writing, and what XML 1.0 does not allow.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// Text in which control characters and marks of writing direction stand as Rust writes them, `\n` or `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false, |character| character.escape_default().collect())
}

/// The same for text of several lines, which stays laid out as it is.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'), |character| character.escape_default().collect())
}

/// Text with a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn escaped(text: &str, keep: fn(char) -> bool, write: fn(char) -> String) -> Cow<'_, str> {
    let is_hit = |character: char| is_unsafe(character) && !keep(character);
    if !text.contains(is_hit) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::with_capacity(text.len() + 16), |mut out, character| {
        if is_hit(character) {
            out += &write(character)
        } else {
            out.push(character)
        }
        out
    }))
}

/// Standard output, or standard error for what accompanies another program.
pub struct Output {
    writer: BufWriter<Box<dyn Write>>,
    color: bool,
    /// What begins a style until the line is written. Nobody can guess it, so a name cannot bring styles of its own.
    mark: String,
    /// Whether a command is to print JSON.
    pub json: bool,
    error: Option<io::Error>,
}

impl Output {
    /// Standard output.
    pub fn stdout(choice: ColorChoice, json: bool) -> Self {
        let stdout = io::stdout();
        let color = choice.decide(stdout.is_terminal()) && !json;
        Self::to(Box::new(stdout), color, json)
    }

    /// Standard error.
    pub fn stderr(choice: ColorChoice) -> Self {
        let stderr = io::stderr();
        let color = choice.decide(stderr.is_terminal());
        Self::to(Box::new(stderr), color, false)
    }

    fn to(writer: Box<dyn Write>, color: bool, json: bool) -> Self {
        let mark = format!("\u{1b}{:016x}", RandomState::new().build_hasher().finish());
        Self { writer: BufWriter::new(writer), color, mark, json, error: None }
    }

    /// Text with a style, if there are colours, for [`Output::line`].
    pub fn styled(&self, style: Style, text: impl Display) -> String {
        if self.color && style != Style::Plain {
            format!("{mark}{}m{text}{mark}0m", style.code(), mark = self.mark)
        } else {
            text.to_string()
        }
    }

    /// Writes a line, [`visible`] but for its styles. Errors are kept for [`Output::finish`].
    pub fn line(&mut self, text: impl Display) {
        let mut line = String::new();
        for (index, part) in text.to_string().split(&self.mark).enumerate() {
            if index > 0 {
                line += "\u{1b}[";
            }
            line += &visible(part);
        }
        line.push('\n');
        self.write(&line);
    }

    /// Writes a line in a style.
    pub fn styled_line(&mut self, style: Style, text: impl Display) {
        let text = self.styled(style, text);
        self.line(text);
    }

    /// Writes a text of several lines, each with its break.
    pub fn document(&mut self, text: &str) {
        self.write(&visible_lines(text));
    }

    fn write(&mut self, text: &str) {
        if self.error.is_none()
            && let Err(error) = self.writer.write_all(text.as_bytes())
        {
            self.error = Some(error);
        }
    }

    /// Writes a value as JSON, pretty-printed.
    pub fn json(&mut self, value: &impl serde::Serialize) {
        match serde_json::to_string_pretty(value) {
            // Outside of strings there is only ASCII, and inside of them no line break.
            Ok(text) => {
                let text = escaped(
                    &text,
                    |character| character == '\n',
                    |character| {
                        character.encode_utf16(&mut [0; 2]).iter().fold(String::new(), |mut out, unit| {
                            // Writing to a string cannot fail.
                            let _ = write!(out, "\\u{unit:04x}");
                            out
                        })
                    },
                );
                self.write(&(text.into_owned() + "\n"));
            }
            Err(error) => self.error = Some(error.into()),
        }
    }

    /// Writes a table.
    pub fn table(&mut self, table: &Table) {
        for line in table.lines(self) {
            self.line(line);
        }
    }

    /// Writes what is waiting, so that it stands before what another program writes.
    pub fn flush(&mut self) {
        if self.error.is_none()
            && let Err(error) = self.writer.flush()
        {
            self.error = Some(error);
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    ///
    /// When anything could not be written, except that the reader went away: then nobody wants to know.
    pub fn finish(mut self) -> Result<()> {
        let flushed = self.writer.flush();
        let error = self.error.or(flushed.err());
        // Its buffer would be tried again, and panic nobody but print nothing either.
        match error {
            None => Ok(()),
            Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Some(error) => Err(Failure::environment(format!("standard output cannot be written: {error}"))),
        }
    }
}

/// What `print` writes, without colours.
pub(crate) fn text_of(print: impl FnOnce(&mut Output)) -> String {
    printed(false, print)
}

fn printed(color: bool, print: impl FnOnce(&mut Output)) -> String {
    #[derive(Clone, Default)]
    struct Page(Rc<RefCell<Vec<u8>>>);
    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let page = Page::default();
    let mut output = Output::to(Box::new(page.clone()), color, false);
    print(&mut output);
    // Nothing can fail in memory.
    let _ = output.finish();
    String::from_utf8_lossy(&page.0.borrow()).into_owned()
}

/// One cell of a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    /// Text.
    pub fn new(text: impl Display) -> Self {
        Self { text: visible(&text.to_string()).into_owned(), ..Self::default() }
    }

    /// A number, aligned to the right.
    pub fn number(number: u64) -> Self {
        Self { text: crate::trace::record::grouped(number), right: true, ..Self::default() }
    }

    /// The same cell in a style.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Rows of cells in columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    indent: usize,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table, each line of which begins with `indent` spaces.
    pub fn new(indent: usize) -> Self {
        Self { indent, rows: Vec::new() }
    }

    /// Adds a heading.
    pub fn heading<'t>(&mut self, names: impl IntoIterator<Item = &'t str>) {
        self.rows.push(names.into_iter().map(|name| Cell::new(name).style(Style::Dim)).collect());
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn lines(&self, output: &Output) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).map(|c| width(&c.text)).max().unwrap_or(0))
            .collect();
        // A heading above numbers is aligned as they are.
        let right: Vec<bool> =
            (0..columns).map(|column| self.rows.iter().filter_map(|row| row.get(column)).any(|c| c.right)).collect();
        self.rows
            .iter()
            .map(|row| {
                let mut line = " ".repeat(self.indent);
                for (column, cell) in row.iter().enumerate() {
                    let pad = widths.get(column).map_or(0, |w| w - width(&cell.text));
                    let is_last = column + 1 == row.len();
                    if right.get(column) == Some(&true) {
                        line += &" ".repeat(pad);
                        line += &output.styled(cell.style, &cell.text);
                    } else {
                        line += &output.styled(cell.style, &cell.text);
                        if !is_last {
                            line += &" ".repeat(pad);
                        }
                    }
                    if !is_last {
                        line += "  ";
                    }
                }
                line.truncate(line.trim_end().len());
                line
            })
            .collect()
    }
}

/// Columns that a text takes on a terminal: one a character, which holds for all that Vulkan names are made of.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(2);
        table.heading(["count", "what"]);
        table.row([Cell::number(5), Cell::new("é"), Cell::new("x")]);
        table.row([Cell::number(12_345), Cell::new("long"), Cell::new("y")]);
        let output = Output::to(Box::new(io::sink()), false, false);
        assert_eq!(
            table.lines(&output),
            [" ".repeat(3) + "count  what", "       5  é     x".into(), "  12 345  long  y".into()]
        );
    }

    const NASTY: &str = "a\u{1b}[31mb\u{7}c\nd\u{202e}e\u{2066}f\u{9b}g\u{7f}h\u{2028}";
    const TAME: &str = "a\\u{1b}[31mb\\u{7}c\\nd\\u{202e}e\\u{2066}f\\u{9b}g\\u{7f}h\\u{2028}";

    #[test]
    fn control_characters_are_shown_and_not_sent() {
        assert_eq!(printed(true, |output| output.line(NASTY)), format!("{TAME}\n"));
        let styled = printed(true, |output| output.styled_line(Style::Bad, NASTY));
        assert_eq!(styled, format!("\u{1b}[31m{TAME}\u{1b}[0m\n"));
        let table = printed(true, |output| {
            let mut table = Table::new(0);
            table.row([Cell::new(NASTY).style(Style::Name), Cell::new("x")]);
            table.row([Cell::new("y".repeat(TAME.len())), Cell::new("x")]);
            output.table(&table);
        });
        assert_eq!(table, format!("\u{1b}[36m{TAME}\u{1b}[0m  x\n{}  x\n", "y".repeat(TAME.len())));
        assert_eq!(printed(false, |output| output.document("a\n\u{1b}[31m\r\n")), "a\n\\u{1b}[31m\\r\n");
    }

    #[test]
    fn capitals_begin_a_text() {
        assert_eq!(["", "a b", "Ab", "é", "ß", "1a"].map(capital), ["", "A b", "Ab", "É", "SS", "1a"]);
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in ["", "plain", "é × “Größe” 日本語 👩\u{200d}🚀", "\\n", "%0A", "]]>"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "name": NASTY, "\u{9b}": ["\u{fffe}", "é"] });
        let text = printed(false, |output| output.json(&value));
        assert!(!text.contains(|c| c != '\n' && is_unsafe(c)), "{text:?}");
        assert!(text.contains("\\u202e") && text.contains("é"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
