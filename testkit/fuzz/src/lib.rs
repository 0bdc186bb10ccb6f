//! What is fuzzed: each function takes bytes that mean anything, and panics where something is wrong.
//!
//! `scripts/fuzz` runs them under libFuzzer (`fuzz/`), `tests/fuzz_targets.rs` on their seeds and a little more.

use std::cell::RefCell;
use std::ffi::c_void;
use std::path::{Path, PathBuf};

use ash::vk;
use samplin::{pnext, sampler_info};
use samplin_cli::trace::analysis::Analysis;
use samplin_cli::trace::reader;
use samplin_config::{overrides, settings};
use samplin_core::decide::YcbcrConversion;
use samplin_spirv::passes::{Step, run};
use samplin_spirv::sampling::{self, Keys, Limits, Passes, Slot, Task};
use samplin_spirv::scan::scan;
use samplin_spirv::select::{self, Length, Lookup, PoolAt, Refused, Why};
use samplin_spirv::split::{Part, split};
use samplin_spirv::{
    Editor, Link, Module, Specialization, atomic_counters, image_access, image_formats, sample_inputs,
};

/// The hidden set, which few words name by accident.
const HIDDEN: u32 = 0x5a3_0007;

/// Words of a node: more than any structure that the layer knows has.
const WORDS: usize = 24;

/// The walker of `pNext` chains and what it serves, on chains of any shape: every node is whole memory and leads to another one, to
/// itself, or nowhere.
pub fn chain(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut next = || bytes.next().unwrap_or(0);
    let count = usize::from(next()) % 12;
    let mut nodes: Vec<Box<[u64; WORDS]>> = (0..count).map(|_| Box::new([0; WORDS])).collect();
    let addresses: Vec<*mut u64> = nodes.iter_mut().map(|node| node.as_mut_ptr()).collect();
    let leads_to = |byte: u8| addresses.get(usize::from(byte)).map_or(0, |at| *at as u64);
    const TYPES: [vk::StructureType; 9] = [
        vk::StructureType::SAMPLER_REDUCTION_MODE_CREATE_INFO,
        vk::StructureType::SAMPLER_YCBCR_CONVERSION_INFO,
        vk::StructureType::SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT,
        vk::StructureType::SAMPLER_BORDER_COLOR_COMPONENT_MAPPING_CREATE_INFO_EXT,
        vk::StructureType::SAMPLER_CUBIC_WEIGHTS_CREATE_INFO_QCOM,
        vk::StructureType::SAMPLER_BLOCK_MATCH_WINDOW_CREATE_INFO_QCOM,
        vk::StructureType::OPAQUE_CAPTURE_DESCRIPTOR_DATA_CREATE_INFO_EXT,
        vk::StructureType::DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        vk::StructureType::from_raw(0x7fff_0001),
    ];
    for at in &addresses {
        let s_type = TYPES[usize::from(next()) % TYPES.len()].as_raw() as u32;
        // SAFETY: `at` is a node of this function, which has `WORDS` words.
        let words = unsafe { std::slice::from_raw_parts_mut(*at, WORDS) };
        words[0] = u64::from(s_type);
        words[1] = leads_to(next());
        // Small values mostly, and a few large ones: enumerations, flags, colours.
        for word in words.iter_mut().skip(2).take(8) {
            let low = u32::from(next()).wrapping_mul([1, 1, 0x0101_0101][usize::from(next()) % 3]);
            *word = u64::from(low) | u64::from(next()) << 32;
        }
    }
    let first = leads_to(next()) as usize as *const c_void;
    // SAFETY: every node is readable memory of the size of the largest structure.
    let length = unsafe { pnext::chain(first) }.count();
    assert!(length <= pnext::LIMIT);
    let mut info = vk::SamplerCreateInfo { p_next: first, ..Default::default() };
    info.mag_filter = vk::Filter::from_raw(i32::from(next()));
    info.border_color = vk::BorderColor::from_raw([0, 3, 1_000_287_003, 1_000_287_004, -1][usize::from(next()) % 5]);
    info.address_mode_u = vk::SamplerAddressMode::from_raw(i32::from(next()) % 5);
    let conversion = |handle: vk::SamplerYcbcrConversion| YcbcrConversion {
        handle: vk::Handle::as_raw(handle),
        chroma_filter: vk::Filter::LINEAR,
        separate_reconstruction: false,
        fingerprint: vk::Handle::as_raw(handle),
    };
    // SAFETY: as above, and each node is as large as its type asks for.
    let given = unsafe { sampler_info::read(&info, conversion) };
    // What is made of a state says that state, but for opaque data, which nothing but the original has.
    let alone = samplin_core::decide::SamplerState { opaque_capture: false, ..given.state };
    // SAFETY: as above.
    let again = unsafe { sampler_info::with_create_info(&alone, None, |info, _| sampler_info::read(info, conversion)) };
    assert!(again.state.key() == alone.key(), "{:?} became {:?}", alone, again.state);
    assert_eq!(again.unknown, None);
    // And with parts of it changed, beside the original chain.
    let mut changed = given.state;
    let bits = next();
    if bits & 1 != 0 {
        changed.reduction_mode = None;
    }
    if bits & 2 != 0 {
        (changed.custom_border, changed.border_color) = (None, vk::BorderColor::INT_OPAQUE_BLACK);
    }
    if bits & 4 != 0 {
        changed.border_mapping = None;
    }
    if bits & 8 != 0 {
        changed.opaque_capture = false;
    }
    // SAFETY: as above.
    let length = unsafe {
        sampler_info::with_create_info(&changed, Some((&info, &given.state)), |info, _| {
            pnext::chain(info.p_next).count()
        })
    };
    assert!(length <= pnext::LIMIT);
}

/// A file of the process's own, written anew for each input.
fn scratch(data: &[u8]) -> PathBuf {
    let folder = [Path::new("/dev/shm"), &std::env::temp_dir()].into_iter().find(|f| f.is_dir()).map(Path::to_owned);
    let file = folder.unwrap_or_default().join(format!("samplin-fuzz-{}.txt", std::process::id()));
    std::fs::write(&file, data).expect("writes a file");
    file
}

/// The settings: a settings file and an application that both say anything.
pub fn settings(data: &[u8]) {
    thread_local!(static FILE: RefCell<Option<PathBuf>> = const { RefCell::new(None) });
    let path = scratch(data);
    FILE.with_borrow_mut(|file| {
        if file.is_none() {
            // SAFETY: fuzz programs and the test that does this have one thread that looks at the environment.
            unsafe { std::env::set_var("VK_LAYER_SETTINGS_PATH", &path) };
            *file = Some(path);
        }
    });
    let text = String::from_utf8_lossy(data);
    let pairs: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim().trim_start_matches("samplin.").to_owned(), value.trim().to_owned()))
        .collect();
    let loaded = settings::load(&pairs);
    // Wherever a value comes from, it is one that the setting has, and whoever asks can be told of it.
    assert!(loaded.problems.iter().all(|problem| !problem.message.is_empty()));
}

/// The reader of rules files.
pub fn rules(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (overrides, problems) = overrides::Overrides::parse(Path::new("fuzz.toml"), text);
    let lines = text.lines().count().max(1) as u32 + 1;
    for problem in &problems {
        assert!(!problem.message.is_empty() && problem.line.is_some_and(|line| (1..=lines).contains(&line)));
    }
    let state = samplin_core::decide::SamplerState::default();
    let bits = overrides.match_sampler(&state, state.fingerprint(), 1, Some("name"));
    let view = samplin_core::decide::ViewTraits::new_2d(vk::Format::R8_UNORM, vk::FormatFeatureFlags2::empty());
    assert!(overrides.for_view(bits, &view).count() <= 64);
}

/// The trace reader of the command line tool, and what it makes of records.
pub fn trace(data: &[u8]) {
    let mut analysis = Analysis::default();
    let counts = reader::read(&mut &data[..], |record| analysis.record(0, record)).expect("memory can be read");
    assert_eq!(counts.bytes, data.len() as u64);
    let lines = data.split(|byte| *byte == b'\n').count() as u64;
    assert!(counts.records + counts.unknown + counts.damaged <= lines);
    for group in analysis.by_rule() {
        std::hint::black_box(group);
    }
    std::hint::black_box((analysis.census(), analysis.change_count(), analysis.processes(), analysis.settings()));
}

/// The reader of shaders, their links, and the pass that splits them.
pub fn spirv(data: &[u8]) {
    let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let Ok(module) = Module::read(&words) else { return };
    assert_eq!(Editor::new(&module).finish().as_ref(), Ok(&words));
    // As many entry points as real modules have: each is a walk over everything.
    for entry in module.entry_points().take(4) {
        let Ok(name) = String::from_utf8(entry.name().collect()) else { continue };
        for values in [None, Some(&Specialization(&[(0, &[1, 0, 0, 0]), (3, &[0])]))] {
            let Ok(links) = module.links(&name, entry.model(), values) else { continue };
            assert!(links.len() <= Module::LINKS);
            let part = |link: &Link| Some(Part { image: link.image?, sampler: link.sampler?, binding: 1 });
            for part in links.iter().filter_map(part).take(4) {
                if let Ok(split) = split(&module, &name, entry.model(), values, 3, &[part]) {
                    let again = Module::read(&split.words).expect("what was made can be read");
                    assert!(again.entry_points().count() == module.entry_points().count());
                }
            }
        }
    }
}

/// Links that look their samplers up: what is made can be read, is the same each time, and leaves nothing to do.
pub fn select(data: &[u8]) {
    let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let Ok(module) = Module::read(&words) else { return };
    let place = PoolAt { set: HIDDEN, matrix: 2, pool: 3, count: 16 };
    for entry in module.entry_points().take(2) {
        let Ok(name) = String::from_utf8(entry.name().collect()) else { continue };
        let Ok(links) = module.links(&name, entry.model(), None) else { continue };
        let of = |words: &[u32], parts: &[select::Part]| {
            let module = Module::read(words).expect("what was made can be read");
            select::select(&module, &name, entry.model(), None, &place, parts)
        };
        for length in [Length::One, Length::Fixed(words.len() as u32 % 100), Length::Rest] {
            let lookup = |binding| Lookup { binding, first: words.len() as u32 % 7, length };
            let (column, row) = (lookup(0), lookup(words.len() as u32 % 3));
            let part = |link: &Link| Some(select::Part { image: link.image?, sampler: link.sampler?, column, row });
            let mut parts: Vec<select::Part> = links.iter().filter_map(part).take(16).collect();
            let new = loop {
                match of(&words, &parts) {
                    Ok(new) => break new,
                    Err(Refused::Part(part, _)) => _ = parts.remove(part),
                    Err(Refused::Module(_)) => return,
                }
            };
            assert_eq!(Ok(&new), of(&words, &parts).as_ref(), "not the same twice");
            assert_eq!(parts.is_empty(), new == words);
            // What the words name without defining it is defined by accident now.
            let bound = Module::read(&new).expect("what was made can be read").bound();
            if words.iter().skip(5).any(|word| (module.bound()..bound).contains(word)) {
                continue;
            }
            for part in parts.iter().filter(|part| part.sampler.set != HIDDEN) {
                assert_eq!(of(&new, &[*part]), Err(Refused::Part(0, Why::NoLink)), "a second run finds something");
            }
        }
    }
}

/// Links that read tasks: what is made can be read, is the same each time, and leaves nothing to do.
pub fn sampling(data: &[u8]) {
    let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let Ok(module) = Module::read(&words) else { return };
    let tasks = [Task { flags: u32::MAX, bias: 0.5, min_lod: 0.0, max_lod: 3.0 }; 128];
    let limits = Limits { lod_bias: 16.0 };
    for entry in module.entry_points().take(2) {
        let Ok(name) = String::from_utf8(entry.name().collect()) else { continue };
        let Ok(links) = module.links(&name, entry.model(), None) else { continue };
        let (fetch, compare) = (words.len().is_multiple_of(2), words.len().is_multiple_of(3));
        let (divide, must_compare) = (words.len() % 5 < 3, words.len().is_multiple_of(9));
        let passes = Passes { saturate: true, filter: true, fetch, divide, compare, must_compare, own_sampler: false };
        let slot = |link: &Link| Some(Slot { image: link.image?, sampler: link.sampler?, first: 1, passes, row: 1 });
        let slots: Vec<Slot> = links.iter().filter_map(slot).take(16).collect();
        for keys in [Keys::Block { set: 3, binding: 1, count: 128 }, Keys::Fixed(&tasks)] {
            let of = |words: &[u32]| {
                let module = Module::read(words).expect("what was made can be read");
                sampling::sampling(&module, &name, entry.model(), None, keys, &slots, limits)
            };
            let Ok(sampled) = of(&words) else { continue };
            assert_eq!(Ok(&sampled), of(&words).as_ref(), "not the same twice");
            assert_eq!(sampled.changed == 0, sampled.words == words);
            // What the words name without defining it is defined by accident now.
            let bound = Module::read(&sampled.words).expect("what was made can be read").bound();
            if words.iter().skip(5).any(|word| (module.bound()..bound).contains(word)) {
                continue;
            }
            let again = of(&sampled.words).expect("a second run");
            assert!(again.changed == 0 && again.words == sampled.words, "a second run finds something");
        }
    }
}

/// A pass on any words: what it makes can be read, is the same each time, and leaves it nothing to do.
fn pass(data: &[u8], steps: &[Step<'_>]) {
    let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for step in steps {
        let made = |words: &[u32]| run(words, scan(words), [*step].iter()).expect("memory for the outcome");
        let outcome = made(&words);
        assert_eq!(outcome.words.is_some(), !outcome.changes.is_empty(), "{step:?}");
        let Some(new) = &outcome.words else { continue };
        assert_eq!(outcome, made(&words), "{step:?} is not the same twice");
        let module = Module::read(new).expect("what was made can be read");
        let before = Module::read(&words).expect("what was rewritten was read");
        assert_eq!(module.entry_points().count(), before.entry_points().count());
        assert_eq!(Editor::new(&module).finish().as_ref(), Ok(new));
        let again = made(new);
        assert!(again.words.is_none() && again.changes.is_empty(), "{step:?} again: {:?}", again.changes);
    }
}

/// Declarations of storage images, on devices of all kinds.
pub fn image_access(data: &[u8]) {
    let device =
        |read, write, relax| Step::ImageAccess(image_access::Options { read, write, may_declare: false, relax });
    pass(data, &[device(false, false, false), device(false, true, true), device(true, true, true)]);
}

/// Storage images of formats that no device stores, or some.
pub fn image_formats(data: &[u8]) {
    let lacking = |images, buffers| Step::ImageFormats(image_formats::Options { images, buffers });
    pass(data, &[lacking(u64::MAX, u64::MAX), lacking(1 << 4, 0)]);
}

/// Atomic counters.
pub fn atomic_counters(data: &[u8]) {
    let at = |target, draw_parameters| {
        Step::AtomicCounters(atomic_counters::Options { target, draw_parameters, storage_buffers: 4 })
    };
    let fixed = atomic_counters::Target::At { set: 1, first: 2 };
    pass(data, &[at(atomic_counters::Target::Auto, true), at(fixed, false)]);
}

/// Builtins of samples, and masks of them.
pub fn sample_builtins(data: &[u8]) {
    pass(data, &[Step::SampleBuiltins, Step::SampleMask(1)]);
}

/// Inputs that are interpolated for each sample, and what speaks against it.
pub fn sample_inputs(data: &[u8]) {
    pass(data, &[Step::SampleInputs("main")]);
    let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if let Ok(module) = Module::read(&words) {
        std::hint::black_box(sample_inputs::facts(&module, "main").is_ok());
    }
}
