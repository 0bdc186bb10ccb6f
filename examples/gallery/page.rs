//! Drawing the page: text, tiles and the PNG file. Knows nothing about Vulkan.

use crate::cases::{PANEL, Picture, Rgb};
use embedded_graphics::Drawable;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::iso_8859_1::{
    FONT_6X13, FONT_6X13_BOLD, FONT_7X13, FONT_7X13_BOLD, FONT_9X15_BOLD, FONT_10X20,
};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor};
use embedded_graphics::prelude::Pixel;
use embedded_graphics::primitives::{
    Line, Primitive, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle, RoundedRectangle,
};
use embedded_graphics::text::{Baseline, Text};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

const INK: Rgb888 = Rgb888::new(28, 33, 40);
const SOFT: Rgb888 = Rgb888::new(92, 102, 115);
const PAPER: Rgb888 = Rgb888::new(240, 242, 245);
const CARD: Rgb888 = Rgb888::new(255, 255, 255);
const RULE: Rgb888 = Rgb888::new(216, 221, 228);
const CODE: Rgb888 = Rgb888::new(15, 82, 120);

const COLUMNS: usize = 3;
const MARGIN: i32 = 24;
const GAP: i32 = 18;
const PADDING: i32 = 16;
const BETWEEN: i32 = 14;
const CARD_WIDTH: i32 = 2 * PANEL as i32 + BETWEEN + 2 * PADDING;
const HEADER: i32 = 118;
const LINE: i32 = 15;

/// What a tile says happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The layer changed something.
    Rewritten,
    /// The layer enabled what the application had forgotten to, and changed nothing else.
    Enabled,
    /// The layer changed nothing, and nothing was wrong.
    LeftAlone,
    /// The layer let something illegal through.
    Unresolved,
    /// The device cannot do the case.
    Unsupported,
    /// The half with the layer was not drawn.
    NoLayer,
}

impl Verdict {
    fn label(self) -> (&'static str, Rgb888) {
        match self {
            Self::Rewritten => ("rewritten", Rgb888::new(176, 90, 0)),
            Self::Enabled => ("enabled", Rgb888::new(24, 88, 160)),
            Self::LeftAlone => ("left alone", Rgb888::new(26, 116, 60)),
            Self::Unresolved => ("unresolved", Rgb888::new(150, 30, 50)),
            Self::Unsupported => ("not supported", Rgb888::new(110, 118, 129)),
            Self::NoLayer => ("no layer", Rgb888::new(150, 30, 50)),
        }
    }
}

/// Kind of a line under the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Rule name or another heading.
    Strong,
    /// Ordinary text.
    Plain,
    /// Field, value, VUID.
    Code,
    /// Something is wrong.
    Alarm,
    /// Something is fine.
    Calm,
}

impl Style {
    fn font(self) -> &'static MonoFont<'static> {
        if self == Self::Strong { &FONT_7X13_BOLD } else { &FONT_6X13 }
    }

    fn ink(self) -> Rgb888 {
        match self {
            Self::Strong | Self::Plain => INK,
            Self::Code => CODE,
            Self::Alarm => Rgb888::new(168, 32, 40),
            Self::Calm => Rgb888::new(26, 116, 60),
        }
    }
}

/// One paragraph under the panels.
pub(crate) struct Note {
    pub(crate) style: Style,
    pub(crate) text: String,
}

/// What one half of a tile shows.
pub(crate) enum Panel {
    /// The picture.
    Picture(Picture),
    /// Words in its place.
    Words(String),
    /// Nothing.
    Blank,
}

/// One tile of the page.
pub(crate) struct Tile {
    pub(crate) title: String,
    pub(crate) asks: String,
    pub(crate) verdict: Verdict,
    /// What the first panel is; the second is with the layer.
    pub(crate) left: String,
    pub(crate) panels: [Panel; 2],
    pub(crate) notes: Vec<Note>,
}

/// The page before drawing.
pub(crate) struct Page {
    pub(crate) subtitle: Vec<String>,
    pub(crate) tiles: Vec<Tile>,
}

impl Page {
    /// Draws the page and writes it to `path`.
    ///
    /// # Errors
    ///
    /// The failing file operation, with the path.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let canvas = self.draw();
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        let file = File::create(path).map_err(|error| failed(&error))?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), canvas.width, canvas.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(|error| failed(&error))?;
        writer.write_image_data(canvas.pixels.as_flattened()).map_err(|error| failed(&error))?;
        writer.finish().map_err(|error| failed(&error))
    }

    fn draw(&self) -> Canvas {
        let columns = COLUMNS.min(self.tiles.len().max(1));
        let rows: Vec<Row<'_>> = self.tiles.chunks(columns).map(Row::new).collect();
        // A single column still leaves room for the header.
        let wide = i32::try_from(columns).expect("few columns").max(2);
        let width = 2 * MARGIN + wide * CARD_WIDTH + (wide - 1) * GAP;
        let height = HEADER + rows.iter().map(|row| row.height() + GAP).sum::<i32>() + MARGIN - GAP;
        let mut canvas = Canvas::new(width, height);
        canvas.text(MARGIN, 22, &FONT_10X20, INK, "samplin gallery");
        for (line, text) in (0..).zip(&self.subtitle) {
            canvas.text(MARGIN, 50 + line * 17, &FONT_7X13, SOFT, text);
        }
        let mut y = HEADER;
        for row in rows {
            for (column, tile) in (0..).zip(row.tiles) {
                tile.draw(&mut canvas, MARGIN + column * (CARD_WIDTH + GAP), y, &row);
            }
            y += row.height() + GAP;
        }
        canvas
    }
}

/// Tiles beside each other, with the line counts that align them.
struct Row<'a> {
    tiles: &'a [Tile],
    asks: i32,
    notes: i32,
}

impl<'a> Row<'a> {
    fn new(tiles: &'a [Tile]) -> Self {
        let most = |count: fn(&Tile) -> i32| tiles.iter().map(count).max().unwrap_or(0);
        Self { tiles, asks: most(|tile| lines(&tile.asks_lines())), notes: most(|tile| lines(&tile.note_lines())) }
    }

    fn panels_top(&self) -> i32 {
        PADDING + 24 + self.asks * LINE + 26
    }

    fn height(&self) -> i32 {
        self.panels_top() + PANEL as i32 + 12 + self.notes * LINE + PADDING
    }
}

impl Tile {
    fn asks_lines(&self) -> Vec<String> {
        wrap(&self.asks, columns_of(&FONT_7X13))
    }

    fn note_lines(&self) -> Vec<(Style, String)> {
        self.notes
            .iter()
            .flat_map(|note| {
                let per_line = columns_of(note.style.font());
                wrap(&note.text, per_line).into_iter().map(|line| (note.style, line))
            })
            .collect()
    }

    fn draw(&self, canvas: &mut Canvas, x: i32, y: i32, row: &Row<'_>) {
        canvas.card(x, y, CARD_WIDTH, row.height());
        let (left, top) = (x + PADDING, y + PADDING);
        canvas.text(left, top, &FONT_9X15_BOLD, INK, &self.title);
        let (label, tint) = self.verdict.label();
        let chip = 6 * i32::try_from(label.len()).expect("short labels") + 12;
        canvas.chip(x + CARD_WIDTH - PADDING - chip, top - 2, chip, tint, label);
        for (line, text) in (0..).zip(self.asks_lines()) {
            canvas.text(left, top + 24 + line * LINE, &FONT_7X13, SOFT, &text);
        }
        let panels = y + row.panels_top();
        for (index, label) in (0..).zip([self.left.as_str(), "with the layer"]) {
            let at = left + index * (PANEL as i32 + BETWEEN);
            canvas.text(at, panels - 17, &FONT_6X13, SOFT, label);
            canvas.frame(at, panels);
            match &self.panels[index as usize] {
                Panel::Picture(picture) => canvas.picture(at, panels, picture),
                Panel::Words(words) => canvas.words(at, panels, words),
                Panel::Blank => canvas.blank(at, panels),
            }
        }
        for (line, (style, text)) in (0..).zip(self.note_lines()) {
            canvas.text(left, panels + PANEL as i32 + 12 + line * LINE, style.font(), style.ink(), &text);
        }
    }
}

fn lines<T>(list: &[T]) -> i32 {
    i32::try_from(list.len()).expect("few lines")
}

fn columns_of(font: &MonoFont<'_>) -> usize {
    (CARD_WIDTH - 2 * PADDING) as usize / font.character_size.width as usize
}

/// Breaks text at spaces, and words longer than a line after `-`, `_` or, failing those, anywhere.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let line = lines.last_mut().expect("never empty");
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + word.chars().count() <= width {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(word);
                break;
            }
            if used > 0 && word.chars().count() <= width {
                lines.push(String::new());
                continue;
            }
            // Too long for any line: split it.
            let room = width.saturating_sub(used + gap);
            let end = word.char_indices().nth(room).map_or(word.len(), |(index, _)| index);
            let cut = word[..end].rfind(['-', '_', '/']).map_or(if used > 0 { 0 } else { end }, |index| index + 1);
            if cut > 0 {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(&word[..cut]);
            }
            lines.push(String::new());
            word = &word[cut..];
        }
    }
    lines
}

struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

impl Canvas {
    fn new(width: i32, height: i32) -> Self {
        let (width, height) = (width as u32, height as u32);
        Self { width, height, pixels: vec![rgb(PAPER); (width * height) as usize] }
    }

    fn put(&mut self, x: i32, y: i32, colour: Rgb) {
        let inside = (0..self.width as i32).contains(&x) && (0..self.height as i32).contains(&y);
        if inside {
            self.pixels[y as usize * self.width as usize + x as usize] = colour;
        }
    }

    /// Draws one line of text with its top left corner at (x, y); `→` is drawn by hand, the fonts have none.
    fn text(&mut self, x: i32, y: i32, font: &MonoFont<'_>, ink: Rgb888, text: &str) {
        let style = MonoTextStyle::new(font, ink);
        let step = font.character_size.width as i32;
        let mut at = x;
        for part in text.split_inclusive('→') {
            let plain = part.trim_end_matches('→');
            never(Text::with_baseline(plain, Point::new(at, y), style, Baseline::Top).draw(self));
            at += step * i32::try_from(plain.chars().count()).expect("short lines");
            if plain.len() < part.len() {
                let middle = y + font.character_size.height as i32 / 2;
                for (from, to) in [((0, 0), (4, 0)), ((2, -2), (4, 0)), ((2, 2), (4, 0))] {
                    let place = |(dx, dy)| Point::new(at + dx, middle + dy);
                    let line = Line::new(place(from), place(to));
                    never(line.into_styled(PrimitiveStyle::with_stroke(ink, 1)).draw(self));
                }
                at += step;
            }
        }
    }

    fn card(&mut self, x: i32, y: i32, width: i32, height: i32) {
        let style = PrimitiveStyleBuilder::new().fill_color(CARD).stroke_color(RULE).stroke_width(1).build();
        let area = Rectangle::new(Point::new(x, y), Size::new(width as u32, height as u32));
        never(RoundedRectangle::with_equal_corners(area, Size::new(6, 6)).into_styled(style).draw(self));
    }

    fn chip(&mut self, x: i32, y: i32, width: i32, tint: Rgb888, label: &str) {
        let area = Rectangle::new(Point::new(x, y), Size::new(width as u32, 19));
        let style = PrimitiveStyle::with_fill(tint);
        never(RoundedRectangle::with_equal_corners(area, Size::new(4, 4)).into_styled(style).draw(self));
        self.text(x + 6, y + 3, &FONT_6X13_BOLD, Rgb888::WHITE, label);
    }

    /// A line around a panel, outside it.
    fn frame(&mut self, x: i32, y: i32) {
        let area = Rectangle::new(Point::new(x - 1, y - 1), Size::new(PANEL + 2, PANEL + 2));
        never(area.into_styled(PrimitiveStyle::with_fill(RULE)).draw(self));
    }

    fn picture(&mut self, x: i32, y: i32, picture: &Picture) {
        for (index, colour) in (0..).zip(picture) {
            self.put(x + index % PANEL as i32, y + index / PANEL as i32, *colour);
        }
    }

    /// Words on a dark panel.
    fn words(&mut self, x: i32, y: i32, words: &str) {
        for index in 0..(PANEL * PANEL) as i32 {
            self.put(x + index % PANEL as i32, y + index / PANEL as i32, [58, 20, 28]);
        }
        let per_line = (PANEL as usize - 24) / 7;
        for (line, text) in (0..).zip(wrap(words, per_line)) {
            self.text(x + 12, y + 12 + line * 17, &FONT_7X13, Rgb888::new(255, 214, 214), &text);
        }
    }

    /// A hatched place where a picture would be.
    fn blank(&mut self, x: i32, y: i32) {
        for index in 0..(PANEL * PANEL) as i32 {
            let (dx, dy) = (index % PANEL as i32, index / PANEL as i32);
            let colour = if (dx + dy) % 12 < 2 { [226, 230, 235] } else { [245, 247, 249] };
            self.put(x + dx, y + dy, colour);
        }
    }
}

fn rgb(colour: Rgb888) -> Rgb {
    [colour.r(), colour.g(), colour.b()]
}

/// Drawing on a [`Canvas`] cannot fail.
fn never<T>(outcome: Result<T, std::convert::Infallible>) {
    match outcome {
        Ok(_) => {}
        Err(impossible) => match impossible {},
    }
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.width, self.height)
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = std::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Self::Error> {
        for Pixel(at, colour) in pixels {
            self.put(at.x, at.y, rgb(colour));
        }
        Ok(())
    }
}
