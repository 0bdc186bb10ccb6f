//! Measures what samplin adds to the calls it intercepts.
//!
//! One process holds three devices: without a layer, under a layer that only forwards, and under samplin (and any peer named).
//! Every row is measured on each of them in turn, round after round, in thread CPU time; a figure is the median of the rounds.
//! Absolute times belong to the machine, so read the columns `added` and `ratio`.

mod binds;
mod callgrind;
mod floor;
mod held;
mod noted;
mod pipelines;
mod row;
mod sample;
mod samplers;
mod scene;
mod shading;
mod stored;

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Parser;
use samplin_testkit::context::{Context, ContextBuilder, ContextError};
use serde_json::json;

use crate::binds::repaired::{self, Repaired};
use crate::row::{Group, On, Row, Under};
use crate::scene::{Figure, Scene};

/// Measures what samplin adds to the calls it intercepts.
#[derive(Parser)]
struct Args {
    /// Samplers and views to draw from: 1, 64 or 4096 of each.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 64, 4096])]
    sizes: Vec<usize>,
    /// Threads that update at once.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Rounds over the devices for each row.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Further layers to compare with, by name.
    #[arg(long)]
    peer: Vec<String>,
    /// Only rows whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// An atomic before each call, without a layer as well, as where a program takes a lock.
    #[arg(long)]
    atomics: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Also compare with the forwarding layer, whose manifest has to be in a folder of VK_LAYER_PATH.
    #[arg(long)]
    forward: bool,
    /// What loading costs (instance and device) and what views and samplers hold of memory, instead of the rows.
    #[arg(long)]
    footprint: bool,
    /// What shaders that samplin has rewritten cost the device, instead of the rows; needs glslangValidator.
    #[arg(long)]
    shading: bool,
    /// What loops cost that only do the loads which calls cannot do without, instead of the rows.
    #[arg(long)]
    floor: bool,
    /// For a run under callgrind: one sample of each row that the device can do, first without a layer and then under samplin, and the
    /// rows in that order on standard output.
    #[arg(long)]
    count: bool,
}

const FORWARD: &str = "VK_LAYER_SAMPLIN_forward";

fn context(layer: Option<&str>, on: On) -> Result<Context, ContextError> {
    let builder = Context::builder().application("samplin-bench", 1).without_messenger();
    match layer {
        None => builder.build(),
        Some("samplin") => {
            let set = |builder: ContextBuilder, (key, value): &(&str, &str)| builder.setting(key, value);
            let builder = builder.samplin().setting("trace", "off");
            match on {
                On::Default => builder.build(),
                On::Under(Under::Gl) => builder.extension(c"VK_SAMPLIN_gl_address_modes").build(),
                On::Under(under) => under.settings().iter().fold(builder, set).build(),
                On::Separate(state) => state.settings().iter().fold(builder, set).build(),
            }
        }
        Some(name) => builder.layer(name).build(),
    }
}

/// RenderDoc puts this into the environment of its process, which enables it for whatever instance is made later.
const ENABLES_RENDERDOC: &str = "ENABLE_VULKAN_RENDERDOC_CAPTURE";

/// A device for each layer.
fn make(layers: &[Option<&str>], on: On) -> Result<Vec<Context>, String> {
    let make = |layer: &Option<&str>| {
        // SAFETY: nothing reads the environment meanwhile: no instance or device is being made, and the threads of those that are there
        // only compute.
        unsafe { std::env::remove_var(ENABLES_RENDERDOC) };
        context(*layer, on).map_err(|error| format!("{}: {error} {}", layer.unwrap_or("no layer"), error.hint()))
    };
    layers.iter().map(make).collect()
}

fn run(args: &Args) -> Result<(), String> {
    sample::BEHIND_ATOMICS.store(args.atomics, Ordering::Relaxed);
    let mut layers: Vec<Option<&str>> = vec![None];
    if args.forward {
        layers.push(Some(FORWARD));
    }
    layers.push(Some("samplin"));
    layers.extend(args.peer.iter().map(|name| Some(name.as_str())));
    let names: Vec<&str> = layers.iter().map(|layer| layer.unwrap_or("no layer")).collect();
    if args.count {
        return count(args, &layers);
    }
    if args.floor {
        return floor(args);
    }
    if args.shading {
        return shading::run(args.rounds, args.only.as_deref(), args.json);
    }
    if args.footprint {
        return footprint(args, &layers, &names, &make(&layers, On::Default)?);
    }
    let mut device = String::new();
    let mut out = Vec::new();
    for Group { rows, on } in groups(args) {
        let contexts = make(&layers, on)?;
        device = contexts.first().map_or(device, Context::device_name);
        for (size, threads) in sizes(args, on).flat_map(|size| args.threads.iter().map(move |threads| (size, *threads)))
        {
            let scenes: Vec<Scene<'_>> = contexts.iter().map(|context| Scene::new(context, on, size)).collect();
            for &row in &rows {
                if threads > 1 && !row.is_threaded() {
                    continue;
                }
                let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); scenes.len()];
                for _ in 0..args.rounds {
                    for (scene, samples) in scenes.iter().zip(&mut rounds) {
                        samples.extend(scene.measure(row, threads));
                    }
                }
                let figures: Vec<Option<Figure>> = rounds.into_iter().map(Figure::of).collect();
                out.push((size, threads, row, figures));
            }
        }
    }

    if args.json {
        let rows: Vec<_> = out
            .iter()
            .map(|(size, threads, row, figures)| {
                let per_layer: serde_json::Map<_, _> = names
                    .iter()
                    .zip(figures)
                    .map(|(name, figure)| {
                        let value = figure.as_ref().map(|f| json!({"median_ns": f.median, "min_ns": f.min, "max_ns": f.max}));
                        ((*name).to_owned(), json!(value))
                    })
                    .collect();
                json!({"row": row.name(), "size": size, "threads": threads, "descriptors": row.descriptors(), "layers": per_layer})
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?);
        return Ok(());
    }
    println!("{device}");
    println!("thread CPU time per call in ns, median of {} rounds; (added per call, ratio) over no layer", args.rounds);
    for (size, threads, row, figures) in &out {
        let bare = figures.first().copied().flatten();
        let cells: Vec<String> = names
            .iter()
            .zip(figures)
            .map(|(name, figure)| match (figure, bare) {
                (Some(figure), Some(bare)) if *name != "no layer" => format!(
                    "{name} {:.1} ({:+.1}, {:.2})",
                    figure.median,
                    figure.median - bare.median,
                    figure.median / bare.median
                ),
                (Some(figure), _) => format!("{name} {:.1}", figure.median),
                (None, _) => format!("{name} not supported"),
            })
            .collect();
        println!("{size:>5}² {threads} thread(s)  {:<34} {}", row.name(), cells.join("  |  "));
    }
    Ok(())
}

/// The rows that were asked for.
fn groups(args: &Args) -> Vec<Group> {
    let mut groups = Row::groups();
    let is_asked = |row: &Row| args.only.as_ref().is_none_or(|only| row.name().contains(only.as_str()));
    groups.iter_mut().for_each(|group| group.rows.retain(is_asked));
    groups.retain(|group| !group.rows.is_empty());
    groups
}

/// The sizes of a group's scenes: those of separate images and samplers have one.
fn sizes(args: &Args, on: On) -> impl Iterator<Item = usize> {
    args.sizes.iter().copied().take(if matches!(on, On::Separate(_)) { 1 } else { usize::MAX })
}

/// What loops cost that only do the loads which calls cannot do without.
fn floor(args: &Args) -> Result<(), String> {
    for size in &args.sizes {
        let rounds: Vec<_> = (0..args.rounds).map(|_| floor::measure(*size)).collect();
        for (at, name) in floor::ROWS.iter().enumerate() {
            let figure = Figure::of(rounds.iter().map(|rows| rows[at]).collect()).ok_or("no rounds")?;
            println!("{size:>5}² {name:<60} {:.2} ns ({:.2} to {:.2})", figure.median, figure.min, figure.max);
        }
    }
    let context = context(None, On::Default).map_err(|error| format!("{error} {}", error.hint()))?;
    println!("{}, without a layer: added to the driver's own", context.device_name());
    let rounds: Vec<_> = (0..args.rounds).map(|_| floor::measure_over(&context)).collect();
    for (at, name) in floor::ROWS_OVER.iter().enumerate() {
        let figure = Figure::of(rounds.iter().map(|rows| rows[at]).collect()).ok_or("no rounds")?;
        println!("{name:<66} {:.1} ns ({:.1} to {:.1})", figure.median, figure.min, figure.max);
    }
    let scene = binds::Scene::new(&context, Repaired::STATE);
    let repaired = Repaired::new(&scene);
    let rounds: Vec<_> = (0..args.rounds).map(|_| repaired.measure()).collect();
    println!(
        "{}, without a layer: a draw of a frame, and the median of its ratios in the same round",
        context.device_name()
    );
    for (at, (name, ..)) in repaired::ROWS.iter().enumerate() {
        let figure = Figure::of(rounds.iter().map(|rows| rows[at]).collect()).ok_or("no rounds")?;
        let ratios = rounds.iter().map(|rows| rows[at] / rows[repaired::base(at)]).collect();
        let ratio = Figure::of(ratios).ok_or("no rounds")?.median;
        println!("{name:<66} {:.1} ns ({:.1} to {:.1}), {ratio:.3}", figure.median, figure.min, figure.max);
    }
    Ok(())
}

/// What loading costs and what objects hold.
fn footprint(args: &Args, layers: &[Option<&str>], names: &[&str], contexts: &[Context]) -> Result<(), String> {
    let mut loading: Vec<Vec<f64>> = vec![Vec::new(); layers.len()];
    for _ in 0..args.rounds {
        for (layer, samples) in layers.iter().zip(&mut loading) {
            let start = sample::thread_ns();
            let made = context(*layer, On::Default).map_err(|error| error.to_string())?;
            samples.push(sample::thread_ns() - start);
            drop(made);
        }
    }
    let mut rows = Vec::new();
    for ((name, samples), context) in names.iter().zip(loading).zip(contexts) {
        let figure = Figure::of(samples).ok_or("no rounds")?;
        let held = held::held(context);
        rows.push(json!({
            "layer": name,
            "instance_and_device_us": figure.median / 1000.0,
            "bytes_per_view": held.view,
            "bytes_per_sampler": held.sampler,
            "bytes_left_by_a_million_views": held.left,
        }));
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?);
    } else {
        for row in rows {
            println!("{row}");
        }
    }
    Ok(())
}

/// One sample of each row on each device, in which callgrind counts instructions.
fn count(args: &Args, layers: &[Option<&str>]) -> Result<(), String> {
    let mut counted = Vec::new();
    for Group { rows, on } in groups(args) {
        let contexts = make(layers, on)?;
        for size in sizes(args, on) {
            let scenes: Vec<Scene<'_>> = contexts.iter().map(|context| Scene::new(context, on, size)).collect();
            // Once for all rows: what runs is translated again after each start and stop.
            callgrind::start();
            // The first sample of a scene of separate ones finds a heap in another order than the next: it is made twice.
            let first = rows.first().filter(|_| matches!(on, On::Separate(_)));
            for (index, &row) in first.into_iter().chain(&rows).enumerate() {
                if row.is_timed_only() {
                    continue;
                }
                let is_counted = index > 0 || first.is_none();
                for (layer, scene) in scenes.iter().enumerate() {
                    let is_supported = !scene.measure(row, 1).is_empty();
                    counted.push(json!({
                        "row": row.name(),
                        "size": size,
                        "layer": layer > 0,
                        "descriptors": row.descriptors(),
                        "calls": row.counted(),
                        "own": row.is_own(),
                        "counted": is_counted,
                        "supported": is_supported,
                    }));
                }
            }
            callgrind::stop();
        }
    }
    println!("{}", serde_json::to_string(&counted).map_err(|error| error.to_string())?);
    Ok(())
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("samplin-bench: {error}");
            ExitCode::from(4)
        }
    }
}
