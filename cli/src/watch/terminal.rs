//! The loop: look at traces, draw what is new, wait for keys.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::app::{App, Flow};
use super::follow::Look;
use super::page;
use super::program::Program;
use crate::os;

/// How long to wait for keys between two looks at the traces.
const WAIT: Duration = Duration::from_millis(250);

/// The same after a while without news.
const LONG_WAIT: Duration = Duration::from_millis(500);

/// How long without news that is.
const QUIET: Duration = Duration::from_secs(5);

/// How often to look for other traces and for processes that ended.
const AROUND: Duration = Duration::from_secs(1);

/// How much is read between two looks at the keys.
const PIECE: u64 = 32 << 20;

/// The least time between two pictures.
const PICTURE: Duration = Duration::from_millis(100);

/// The same while there is more to read.
const RARE_PICTURE: Duration = Duration::from_millis(400);

/// Shows the page until somebody ends it.
///
/// # Errors
///
/// When the terminal cannot be used.
pub(super) fn run(app: &mut App, program: Option<&mut Program>) -> io::Result<()> {
    let is_over = Arc::new(AtomicBool::new(false));
    os::note_end(&is_over)?;
    let mut terminal = ratatui::try_init()?;
    let result = follow(app, program, &mut terminal, &is_over);
    ratatui::try_restore()?;
    result
}

fn follow(
    app: &mut App,
    mut program: Option<&mut Program>,
    terminal: &mut ratatui::DefaultTerminal,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let (mut around, mut picture, mut news) = (None::<Instant>, None::<Instant>, Instant::now());
    let mut is_new = true;
    while !is_over.load(Ordering::Relaxed) {
        if around.is_none_or(|last| last.elapsed() >= AROUND) {
            is_new |= app.model.look_around();
            is_new |= app.look_at_rules();
            if let Some(note) = program.as_mut().and_then(|program| program.look()) {
                app.note = Some(note);
                is_new = true;
            }
            around = Some(Instant::now());
        }
        let look = app.model.read(PIECE);
        is_new |= look != Look::Same;
        // Lists of much that is read on at once would cost more than reading.
        let least = if look == Look::Behind { RARE_PICTURE } else { PICTURE };
        if is_new && picture.is_none_or(|last| last.elapsed() >= least) {
            app.refresh();
            terminal.draw(|frame| page::draw(frame, app))?;
            (picture, news, is_new) = (Some(Instant::now()), Instant::now(), false);
        }
        let mut wait = match look {
            Look::Behind => Duration::ZERO,
            _ if is_new => PICTURE,
            _ if news.elapsed() > QUIET => LONG_WAIT,
            _ => WAIT,
        };
        // Keys that came together are one picture.
        while event::poll(wait)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    if app.key(key) == Flow::Quit {
                        return Ok(());
                    }
                }
                Event::Resize(..) => {}
                _ => {
                    wait = Duration::ZERO;
                    continue;
                }
            }
            (is_new, picture, wait) = (true, None, Duration::ZERO);
        }
    }
    Ok(())
}
