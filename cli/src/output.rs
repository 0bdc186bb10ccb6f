//! Writing to standard output: colours only on a terminal, quiet when nobody reads on, tables.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

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

/// Standard output, or standard error for what accompanies another program.
pub struct Output {
    writer: BufWriter<Box<dyn Write>>,
    color: bool,
    /// Whether a command is to print JSON.
    pub json: bool,
    error: Option<io::Error>,
}

impl Output {
    /// Standard output.
    pub fn stdout(choice: ColorChoice, json: bool) -> Self {
        let stdout = io::stdout();
        let color = choice.decide(stdout.is_terminal()) && !json;
        Self { writer: BufWriter::new(Box::new(stdout)), color, json, error: None }
    }

    /// Standard error.
    pub fn stderr(choice: ColorChoice) -> Self {
        let stderr = io::stderr();
        let color = choice.decide(stderr.is_terminal());
        Self { writer: BufWriter::new(Box::new(stderr)), color, json: false, error: None }
    }

    /// Text with a style, if there are colours.
    pub fn styled(&self, style: Style, text: impl Display) -> String {
        if self.color && style != Style::Plain {
            format!("\u{1b}[{}m{text}\u{1b}[0m", style.code())
        } else {
            text.to_string()
        }
    }

    /// Writes a line. Errors are kept for [`Output::finish`].
    pub fn line(&mut self, text: impl Display) {
        if self.error.is_none()
            && let Err(error) = writeln!(self.writer, "{text}")
        {
            self.error = Some(error);
        }
    }

    /// Writes a line in a style.
    pub fn styled_line(&mut self, style: Style, text: impl Display) {
        let text = self.styled(style, text);
        self.line(text);
    }

    /// Writes text as it is.
    pub fn raw(&mut self, text: &[u8]) {
        if self.error.is_none()
            && let Err(error) = self.writer.write_all(text)
        {
            self.error = Some(error);
        }
    }

    /// Writes a value as JSON, pretty-printed.
    pub fn json(&mut self, value: &impl serde::Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(text),
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
        Self { text: text.to_string(), ..Self::default() }
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
        let output = Output { writer: BufWriter::new(Box::new(io::sink())), color: false, json: false, error: None };
        assert_eq!(
            table.lines(&output),
            [" ".repeat(3) + "count  what", "       5  é     x".into(), "  12 345  long  y".into()]
        );
    }
}
