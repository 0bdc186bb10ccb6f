//! Completions and the manual page.

use clap_complete::Shell;

use crate::failure::{Failure, Outcome, Result};
use crate::output::Output;

/// The arguments of `samplin completions`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// Prints completions.
///
/// # Errors
///
/// None.
pub fn completions(arguments: &Completions, output: &mut Output) -> Result {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command(), "samplin", &mut text);
    output.document(&String::from_utf8_lossy(&text));
    Ok(Outcome::Fine)
}

/// Prints the manual page: the program, then each subcommand as a section of its own.
///
/// # Errors
///
/// When the page cannot be made.
pub fn page(output: &mut Output) -> Result {
    let mut command = crate::command().version(env!("CARGO_PKG_VERSION"));
    command.build();
    let mut text = Vec::new();
    let made = clap_mangen::Man::new(command.clone()).render(&mut text).and_then(|()| sections(&command, &mut text));
    made.map_err(|error| Failure::environment(format!("the manual page cannot be made: {error}")))?;
    // Everything is on this one page; there is no samplin-run(1) to look up.
    let text = String::from_utf8_lossy(&text).replace("(1)\n", "\n").replace(".SH EXTRA\n", ".SH \"EXIT STATUS\"\n");
    output.document(&text);
    Ok(Outcome::Fine)
}

/// A section for each subcommand, and for theirs.
fn sections(command: &clap::Command, text: &mut Vec<u8>) -> std::io::Result<()> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = sub.get_bin_name().unwrap_or_else(|| sub.get_name()).to_owned();
        let man = clap_mangen::Man::new(sub.clone().display_name(name.clone()));
        let mut section = Vec::new();
        man.render_description_section(&mut section)?;
        man.render_synopsis_section(&mut section)?;
        man.render_options_section(&mut section)?;
        // Made for a page of its own; here they stand one level deeper.
        let section = String::from_utf8_lossy(&section).replace(".SH DESCRIPTION\n", "").replace(".SH ", ".SS ");
        text.extend_from_slice(format!(".SH \"{}\"\n{section}", name.to_uppercase()).as_bytes());
        sections(sub, text)?;
    }
    Ok(())
}
