//! `samplin caps`: what devices can filter, compare, store and take as a border.

mod abilities;
mod compare;
mod query;

use std::path::{Path, PathBuf};

use samplin_core::storage::Stored;
use serde_json::json;

pub use self::abilities::{Abilities, CLASSES, Class, FormatAbilities};
use crate::devices::{self, DeviceFile, SHIPPED};
use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::output::{Cell, Output, Style, Table};
use crate::system::System;
use crate::trace::record::{grouped, listed, short};

/// The arguments of `samplin caps`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A device: a name from --list, a capability file, a report of vulkan.gpuinfo.org, a Vulkan Profile (`FILE#NAME` of several), `gpu` for this machine's (`gpu:1`, `gpu:part of its name`)
    #[arg(value_name = "A", conflicts_with_all = ["device", "all", "list"])]
    pub first: Option<String>,
    /// Another device, to compare with A
    #[arg(value_name = "B", requires = "first")]
    pub second: Option<String>,
    /// Another spelling of A
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Every device that comes with samplin, one line each
    #[arg(long, conflicts_with_all = ["device", "list"])]
    pub all: bool,
    /// The names of the devices that come with samplin
    #[arg(long)]
    pub list: bool,
    /// Every format instead of classes of formats
    #[arg(long)]
    pub formats: bool,
    /// Write what the device can do as a capability file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "list", "second"])]
    pub save: Option<PathBuf>,
    /// Write what the device can do as a Vulkan Profile
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "list", "second", "save"])]
    pub profile: Option<PathBuf>,
}

pub(crate) use self::query::loader_version;

/// Names of this machine's devices, with their versions.
pub(crate) fn titles() -> Result<Vec<String>> {
    let found = query::devices(None)?;
    Ok(found.iter().map(|abilities| format!("{}, Vulkan {}", abilities.title, abilities.api_version)).collect())
}

fn of(file: &DeviceFile) -> Result<Abilities> {
    Abilities::from_file(&file.name(), file.capability_file()?)
}

/// The abilities of the devices that a word means.
fn load(wanted: &str) -> Result<Vec<Abilities>> {
    match wanted.strip_prefix("gpu").map(|rest| (rest, rest.strip_prefix(':'))) {
        Some(("", _)) => query::devices(None),
        Some((_, Some(which))) => query::devices(Some(which)),
        _ => Ok(vec![of(&devices::find(wanted)?)?]),
    }
}

fn one(wanted: &str) -> Result<Abilities> {
    let mut found = load(wanted)?;
    if found.is_empty() {
        return Err(Failure::environment("there is no Vulkan device"));
    }
    Ok(found.swap_remove(0))
}

/// A capability file of a device of this machine, in the user's cache.
pub(crate) fn on_disk(wanted: &str) -> Result<PathBuf> {
    let path = Path::new("samplin/devices").join(format!("{}.json", wanted.replace(':', "-")));
    let text = serde_json::to_string_pretty(&one(wanted)?.to_file(&path)).unwrap_or_default();
    files::in_cache(&path, text.as_bytes(), &System::current())
}

/// Runs the command.
///
/// # Errors
///
/// When a device cannot be read or asked.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    if arguments.list {
        list(output);
        return Ok(Outcome::Fine);
    }
    if arguments.all {
        let all: Vec<Abilities> =
            SHIPPED.iter().map(|shipped| of(&DeviceFile::Shipped(shipped))).collect::<Result<_>>()?;
        if output.json {
            output.json(&all.iter().map(Abilities::summary).collect::<Vec<_>>());
        } else {
            overview(&all, output);
        }
        return Ok(Outcome::Fine);
    }
    let first = arguments.first.as_deref().or(arguments.device.as_deref());
    if let (Some(first), Some(second)) = (first, arguments.second.as_deref()) {
        return compare::run(&one(first)?, &one(second)?, output);
    }
    let found = load(first.unwrap_or("gpu"))?;
    if found.is_empty() {
        return Err(Failure::environment("there is no Vulkan device").hint(
            "`samplin doctor` looks for drivers; `samplin caps --all` shows the devices that come with samplin",
        ));
    }
    let outputs = [("--save", &arguments.save), ("--profile", &arguments.profile)];
    if let Some((option, path)) = outputs.iter().find_map(|(option, path)| Some((*option, path.as_ref()?))) {
        let [only] = found.as_slice() else {
            return Err(Failure::usage("there are several devices").hint("say which with gpu:0, gpu:1, …"));
        };
        let devices = devices::inputs(arguments.first.iter().chain(&arguments.device));
        files::must_not_replace(&[(option, path)], &[], &devices)?;
        let file = only.to_file(path);
        let written = if option == "--save" { file } else { samplin_reports::profile(&file) };
        let text = serde_json::to_string_pretty(&written).unwrap_or_default() + "\n";
        files::write_output(path, text.as_bytes())?;
        output.line(format!("{}: {} formats of {}", path.display(), only.formats.len(), only.title));
        return Ok(Outcome::Fine);
    }
    if output.json {
        output.json(&found.iter().map(Abilities::json).collect::<Vec<_>>());
        return Ok(Outcome::Fine);
    }
    for (index, abilities) in found.iter().enumerate() {
        if index > 0 {
            output.line("");
        }
        show(abilities, arguments.formats, output);
    }
    Ok(Outcome::Fine)
}

fn list(output: &mut Output) {
    if output.json {
        let names: Vec<_> =
            SHIPPED.iter().map(|shipped| json!({ "short": shipped.short, "name": shipped.name })).collect();
        output.json(&names);
        return;
    }
    let mut table = Table::new(0);
    for shipped in SHIPPED {
        table.row([Cell::new(shipped.short).style(Style::Name), Cell::new(shipped.name)]);
    }
    output.table(&table);
}

fn overview(all: &[Abilities], output: &mut Output) {
    let mut table = Table::new(0);
    table.heading([
        "device",
        "Vulkan",
        "sampled",
        "not LINEAR",
        "min/max",
        "cubic",
        "stored",
        "lowered",
        "not",
        "anisotropy",
        "LOD bias",
        "samplers",
        "custom borders",
    ]);
    for abilities in all {
        let summary = abilities.summary();
        let number = |key: &str| Cell::number(summary.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0));
        table.row([
            Cell::new(&abilities.name).style(Style::Name),
            Cell::new(&abilities.api_version),
            number("sampled"),
            number("sampled_without_linear"),
            number("minmax"),
            number("cubic"),
            number("stored_native"),
            number("stored_lowered"),
            number("stored_not"),
            Cell::new(abilities.anisotropy()),
            Cell::new(abilities.limit_text("maxSamplerLodBias")),
            Cell::new(abilities.limit_text("maxSamplerAllocationCount")),
            Cell::new(abilities.border_text()),
        ]);
    }
    output.table(&table);
    output.line("");
    output.styled_line(
        Style::Dim,
        "not LINEAR: formats that can be sampled with optimal tiling but not filtered, without integers, stencil and Y′CbCr.",
    );
    output.styled_line(
        Style::Dim,
        "stored, lowered, not: formats of storage images, by whether the device stores them, storage=emulate does as integers, or \
         neither.",
    );
}

fn tick(on: bool) -> Cell {
    if on { Cell::new("yes").style(Style::Good) } else { Cell::new("no").style(Style::Warn) }
}

/// `all`, `none` or `3 of 6`.
fn share(part: usize, whole: usize) -> Cell {
    match (part, whole) {
        (_, 0) => Cell::new("-").style(Style::Dim),
        (part, whole) if part == whole => Cell::new("all").style(Style::Good),
        (0, _) => Cell::new("none").style(Style::Warn),
        (part, whole) => Cell::new(format!("{part} of {whole}")),
    }
}

fn show(abilities: &Abilities, every_format: bool, output: &mut Output) {
    let title = output.styled(Style::Heading, &abilities.title);
    output.line(format!("{title}, Vulkan {}", abilities.api_version));
    if !abilities.driver.is_empty() {
        output.line(format!("driver {}", abilities.driver));
    }
    if !abilities.source.is_empty() {
        output.styled_line(Style::Dim, format!("source: {}", abilities.source));
    }
    output.line("");
    if every_format {
        formats(abilities, output)
    } else {
        classes(abilities, output)
    }

    let mut table = Table::new(2);
    let mut row = |name: &str, cell: Cell| table.row([Cell::new(name).style(Style::Dim), cell]);
    row("anisotropy", Cell::new(abilities.anisotropy()));
    row("LOD bias", Cell::new(abilities.bias_text()));
    row("mirror clamp to edge", tick(abilities.has("mirrorClampToEdge")));
    row("min/max reduction", tick(abilities.has("filterMinmax")));
    row("cubic filter", tick(abilities.has("filterCubic")));
    row("non-seamless cubes", tick(abilities.has("nonSeamlessCubeMap")));
    row("custom border colours", Cell::new(abilities.border_text()));
    row("… without a format", tick(abilities.has("customBorderColorWithoutFormat")));
    row("… with a swizzle", tick(abilities.has("borderColorSwizzle")));
    row("… swizzle from the view", tick(abilities.has("borderColorSwizzleFromImage")));
    row("samplers at once", Cell::new(abilities.limit_text("maxSamplerAllocationCount")));
    output.line("");
    output.table(&table);
    for quirk in abilities.quirks.iter() {
        let name = output.styled(Style::Name, quirk.name());
        output.line(format!("  quirk {name}: {}", quirk.means()));
    }
}

fn classes(abilities: &Abilities, output: &mut Output) {
    let mut table = Table::new(2);
    table.heading([
        "optimal tiling",
        "sampled",
        "linear",
        "min/max",
        "cubic",
        "compare",
        "blit from",
        "stored",
        "lowered",
        "not",
        "cannot be filtered",
    ]);
    let mut absent: Vec<&str> = Vec::new();
    for class in CLASSES {
        let sampled: Vec<&FormatAbilities> =
            abilities.formats.iter().filter(|format| format.sampled() && class.holds(&format.name)).collect();
        if sampled.is_empty() {
            absent.push(class.name);
            continue;
        }
        let count = |has: fn(&FormatAbilities) -> bool| sampled.iter().filter(|format| has(format)).count();
        let stored = |how| match sampled.iter().filter(|format| abilities.stored(format) == how).count() {
            0 => Cell::new(""),
            some => Cell::number(some as u64),
        };
        let unfilterable: Vec<&str> = if class.is_integer() {
            Vec::new()
        } else {
            sampled.iter().filter(|format| !format.linear()).map(|format| short(&format.name)).collect()
        };
        let list = listed(&unfilterable, 4);
        let compare = if class.is_depth() && abilities.knows_compare {
            share(count(FormatAbilities::compare), sampled.len())
        } else if class.is_depth() {
            Cell::new("?").style(Style::Dim)
        } else {
            Cell::new("")
        };
        table.row([
            Cell::new(class.name),
            Cell::number(sampled.len() as u64),
            if class.is_integer() {
                Cell::new("-").style(Style::Dim)
            } else {
                share(count(FormatAbilities::linear), sampled.len())
            },
            share(count(FormatAbilities::minmax), sampled.len()),
            share(count(FormatAbilities::cubic), sampled.len()),
            compare,
            share(count(FormatAbilities::blit_source), sampled.len()),
            stored(Stored::Natively),
            stored(Stored::Lowered),
            stored(Stored::Not),
            Cell::new(list),
        ]);
    }
    output.table(&table);
    absent.retain(|name| *name != "other");
    if !absent.is_empty() {
        output.styled_line(Style::Dim, format!("  not sampled at all: {}", absent.join("; ")));
    }
    let other = abilities
        .formats
        .iter()
        .filter(|format| {
            format.sampled() && format.linear() && format.sampled_linear_tiling() && !format.linear_linear_tiling()
        })
        .count();
    if other > 0 {
        output.styled_line(
            Style::Dim,
            format!("  {} formats can be filtered with optimal tiling only, not with linear tiling.", grouped(other)),
        );
    }
}

fn formats(abilities: &Abilities, output: &mut Output) {
    let mut table = Table::new(2);
    table.heading(["format", "linear", "min/max", "cubic", "compare", "blit from", "stored", "linear tiling"]);
    let mark = |on: bool| if on { Cell::new("yes") } else { Cell::new("-").style(Style::Dim) };
    for format in abilities.formats.iter().filter(|format| format.sampled()) {
        let tiling = match (format.sampled_linear_tiling(), format.linear_linear_tiling()) {
            (false, _) => Cell::new("not sampled").style(Style::Dim),
            (true, false) => Cell::new("sampled"),
            (true, true) => Cell::new("sampled, linear"),
        };
        table.row([
            Cell::new(short(&format.name)).style(Style::Name),
            mark(format.linear()),
            mark(format.minmax()),
            mark(format.cubic()),
            mark(format.compare()),
            mark(format.blit_source()),
            match abilities.stored(format) {
                Stored::Not => Cell::new("not").style(Style::Dim),
                how => Cell::new(how.word()),
            },
            tiling,
        ]);
    }
    output.table(&table);
}
