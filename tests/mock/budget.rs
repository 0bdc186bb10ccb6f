//! Limits and failures: what the layer does when it may not or cannot make a sampler, and what it leaves behind when a call of the
//! application fails.

use std::sync::Barrier;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_core::budget::IN_FLIGHT;

use crate::driver::Kind;
use crate::loader::*;
use crate::stress::Random;

fn biased(bias: f32) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo { mip_lod_bias: bias, ..linear_info() }
}

/// What is created, and whether the driver was given the application's own create info.
fn created(device: &Device, info: &vk::SamplerCreateInfo<'_>) -> Result<(vk::Sampler, bool), vk::Result> {
    device.try_created(info).map(|(sampler, _, is_own)| (sampler, is_own))
}

#[test]
fn the_last_sampler_is_the_applications() {
    let device = InstanceBuilder::new().traced("decisions").driver(|driver| driver.max_samplers = 4).device();
    let (set, view) = (device.plain_set(), device.view(INTEGERS));
    let samplers: Vec<_> = (0..3).map(|n| device.sampler(&biased(n as f32 / 4.0))).collect();
    for sampler in &samplers {
        for _ in 0..2 {
            assert_eq!(device.written_to(set, 0, pair(*sampler, view)), *sampler, "no place, no variant");
        }
    }
    let (last, is_own) = created(&device, &biased(1.0)).expect("a place is left");
    assert!(is_own);
    assert_eq!(created(&device, &biased(2.0)), Err(vk::Result::ERROR_TOO_MANY_OBJECTS), "as the driver says");
    device.driver.check();
    let (over, said): (Vec<_>, Vec<_>) =
        device.records("unresolved").into_iter().partition(|record| record["what"] == "limit exceeded");
    assert_eq!((over.len(), &over[0]["count"], &over[0]["max"]), (1, &5.into(), &4.into()), "{over:#?}");
    assert_eq!(said.len(), 3);
    for (record, sampler) in said.iter().zip(&samplers) {
        assert_eq!((&record["what"], &record["rule"]), (&"pair".into(), &"sampler-budget".into()));
        assert_eq!(record["sampler"], format!("{:#x}", sampler.as_raw()));
        let why = record["why"].as_str().unwrap_or_default();
        assert!(why.contains("variants hold 0 of the 0 samplers") && why.contains("4; "), "{why}");
    }
    assert_eq!(device.records("pair").len(), 0, "what could not be changed is no change");
    device.destroy_sampler(last);
    assert!(created(&device, &biased(2.0)).is_ok_and(|(_, is_own)| is_own));
}

#[test]
fn what_variants_hold_of_a_large_limit_is_named() {
    const LIMIT: u32 = 1024;
    let builder = InstanceBuilder::new().traced("decisions").driver(|driver| {
        (driver.max_samplers, driver.max_custom_borders) = (4000, LIMIT);
    });
    let device = with_custom_borders(builder);
    let mut samplers: Vec<_> = (0..LIMIT - 1).map(|n| Drawn::border(n, FILTERED).create(&device).unwrap().0).collect();
    // One place is left, and one of the share: the first pair of a class gets it, the second one finds no place.
    let other = device.view(BGRA);
    let set = device.plain_set();
    let variant = device.written_to(set, 0, pair(samplers[0], other));
    assert!(is_custom(&device, variant) && variant != samplers[0]);
    assert!(!is_custom(&device, device.written_to(set, 0, pair(samplers[1], other))));
    assert_eq!(device.records("unresolved").len(), 0);
    // The application is within its limit; the driver has the last word.
    let last = Drawn::border(LIMIT, FILTERED);
    assert_eq!(last.create(&device), Err(vk::Result::ERROR_TOO_MANY_OBJECTS));
    assert_eq!(last.create(&device), Err(vk::Result::ERROR_TOO_MANY_OBJECTS));
    let said = device.records("unresolved");
    assert_eq!((said.len(), &said[0]["what"], &said[0]["rule"]), (1, &"limit".into(), &"border-budget".into()));
    let why = &texts(&said, "why")[0];
    assert!(why.contains("maxCustomBorderColorSamplers is 1024") && why.contains("wants 1024"), "{why}");
    assert!(why.contains("variants hold 1"), "{why}");
    // Its own count may take the place once the variant is gone.
    device.destroy_sampler(samplers.swap_remove(0));
    assert!(last.create(&device).is_ok_and(|(_, is_own)| is_own));
    device.finish();

    let builder = InstanceBuilder::new().traced("decisions").driver(|driver| driver.max_samplers = LIMIT);
    let device = builder.device();
    let (set, view, sampler) = (device.plain_set(), device.view(INTEGERS), device.linear());
    assert_ne!(device.written_to(set, 0, pair(sampler, view)), sampler);
    for _ in 0..LIMIT - 2 {
        device.nearest();
    }
    assert_eq!(device.records("unresolved").len(), 0);
    assert_eq!(created(&device, &biased(1.0)), Err(vk::Result::ERROR_TOO_MANY_OBJECTS));
    let said = device.records("unresolved");
    assert_eq!((said.len(), &said[0]["what"], &said[0]["rule"]), (1, &"limit".into(), &"sampler-budget".into()));
    device.destroy_sampler(sampler);
    assert!(created(&device, &biased(1.0)).is_ok_and(|(_, is_own)| is_own));
}

/// Overrides ask for a sampler of each state, repairs for those that conflict.
#[test]
fn overrides_leave_places_to_repairs() {
    let rules = File::new("toml", "[[rule]]\nset = { mag_filter = \"nearest\" }\n");
    let builder = InstanceBuilder::new().set("config", rules.path()).traced("decisions");
    let device = builder.driver(|driver| driver.max_samplers = 1024).device();
    let [set, another] = [device.plain_set(), device.plain_set()];
    let (filtered, integers) = (device.view(FILTERED), device.view(INTEGERS));
    // An eighth of the limit, less a quarter of that.
    for n in 0..100 {
        let sampler = device.sampler(&biased(n as f32 / 64.0));
        let is_overridden = device.written_to(set, 0, pair(sampler, filtered)) != sampler;
        assert_eq!(is_overridden, n < 96, "{n}");
        if !is_overridden {
            assert_ne!(device.written_to(another, 0, pair(sampler, integers)), sampler, "{n}: a repair has a place");
        }
    }
    let said = device.records("unresolved");
    assert_eq!(said.len(), 4, "{said:#?}");
    for record in &said {
        assert_eq!((&record["what"], &record["rule"]), (&"pair".into(), &"sampler-budget".into()));
        assert!(record["why"].as_str().is_some_and(|why| why.contains("may use the first 96 of 1024")), "{record:#}");
    }
}

/// The application alone asks for more than a limit allows: one record, and exact figures in the summary. Exactly full is no fault.
#[test]
fn what_the_application_asks_for_beyond_a_limit_is_told_once() {
    const LIMIT: u32 = 8;
    let name_of = |border: bool| if border { "maxCustomBorderColorSamplers" } else { "maxSamplerAllocationCount" };
    for border in [false, true] {
        for (count, accepts) in [(LIMIT, false), (LIMIT + 3, false), (LIMIT + 3, true)] {
            let builder = InstanceBuilder::new().traced("decisions").driver(|driver| {
                let most = if accepts { 4000 } else { LIMIT };
                (driver.max_samplers, driver.max_custom_borders) = if border { (4000, most) } else { (most, 4096) };
            });
            // A driver that takes more than the limit that is told of: a simulated one.
            let file = accepts.then(|| simulated(name_of(border), LIMIT));
            let builder = match &file {
                Some(file) => builder.set("device", file.path()),
                None => builder,
            };
            let device = with_custom_borders(builder);
            let mut made = Vec::new();
            for n in 0..count {
                let of_border = || Drawn::border(n, FILTERED).create(&device).map(|(sampler, _)| sampler);
                let created = if border { of_border() } else { device.try_sampler(&biased(n as f32 / 16.0)) };
                made.extend(created.ok());
                if !border && !accepts && made.len() == LIMIT as usize && n >= LIMIT {
                    break;
                }
            }
            let said = device.records("unresolved");
            let what = format!("{} {count} {accepts}: {said:#?}", name_of(border));
            if count == LIMIT {
                assert_eq!(said.len(), 0, "{what}");
            } else {
                assert_eq!(said.len(), 1, "{what}");
                let rule = if border { "border-budget" } else { "sampler-budget" };
                assert_eq!((&said[0]["what"], &said[0]["rule"]), (&"limit exceeded".into(), &rule.into()), "{what}");
                assert_eq!((&said[0]["count"], &said[0]["max"]), (&(LIMIT + 1).into(), &LIMIT.into()), "{what}");
                assert_eq!(said[0]["limit"], name_of(border), "{what}");
                let vuid = &texts(&said, "vuid")[0];
                assert!(vuid.contains("VkSampler") || vuid.contains("vkCreate"), "{what}");
            }
            for sampler in made {
                device.destroy_sampler(sampler);
            }
            let trace = device.instance.keep_trace();
            device.finish();
            let summary = trace.read().events("summary").find(|record| record["scope"] == "device").cloned().unwrap();
            let asked = match (count, border, accepts) {
                (LIMIT, ..) => LIMIT,
                // The driver refused the first that was too much.
                (_, false, false) => LIMIT + 1,
                _ => count,
            };
            let expected = serde_json::json!({ "asked": asked, "limit": LIMIT });
            assert_eq!(summary["census"]["limits"][name_of(border)], expected, "{what}: {summary:#}");
        }
    }
}

/// A capability file with one limit and nothing else.
fn simulated(limit: &str, value: u32) -> File {
    let sampled = serde_json::json!({ "optimalTilingFeatures": ["VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT"] });
    let formats = serde_json::json!({ "VK_FORMAT_R8G8B8A8_UNORM": sampled });
    caps_file(serde_json::json!({ limit: value }), formats)
}

#[test]
fn threads_together_keep_within_the_limit() {
    // The driver takes its time, so that whoever is going to ask for a variant does so before any is there.
    const LIMIT: usize = 1024;
    for _ in 0..3 {
        let device = InstanceBuilder::new().driver(|driver| driver.max_samplers = LIMIT as u32).device();
        let view = device.view(INTEGERS);
        let samplers: Vec<_> = (0..8).map(|n| device.sampler(&biased(n as f32 / 8.0))).collect();
        for _ in samplers.len()..LIMIT - IN_FLIGHT as usize - 2 {
            device.nearest();
        }
        let start = Barrier::new(8);
        device.driver.observe(|_, call| {
            if call.command == c"vkCreateSampler" {
                std::thread::sleep(std::time::Duration::from_millis(30));
            }
        });
        std::thread::scope(|scope| {
            for sampler in &samplers {
                let (device, start) = (&device, &start);
                scope.spawn(move || {
                    let set = device.plain_set();
                    let infos = [pair(*sampler, view)];
                    start.wait();
                    device.update(&[combined(set, 0, &infos)], &[]);
                });
            }
        });
        assert_eq!(device.driver.variants().len(), 2);
    }
}

// ---- applications that use a limit to its last place ----

/// A device that has custom border colours and wants their format.
fn with_custom_borders(builder: InstanceBuilder) -> Device {
    let feature = vk::PhysicalDeviceCustomBorderColorFeaturesEXT { custom_border_colors: 1, ..Default::default() };
    let instance = builder.instance();
    instance.device(&DeviceInfo {
        extensions: vec![ash::ext::custom_border_color::NAME],
        chain: std::ptr::from_ref(&feature).cast(),
        ..DeviceInfo::default()
    })
}

fn is_custom(device: &Device, sampler: vk::Sampler) -> bool {
    device.model(sampler.as_raw()).border_color == vk::BorderColor::FLOAT_CUSTOM_EXT
}

/// A sampler that an application may ask for.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    bias: f32,
    /// The colour and its format.
    border: Option<(f32, vk::Format)>,
}

impl Drawn {
    fn plain(bias: f32) -> Self {
        Self { bias, border: None }
    }

    fn border(n: u32, format: vk::Format) -> Self {
        Self { bias: 0.0, border: Some((n as f32 / 4096.0, format)) }
    }

    /// One of `kinds`, of which there are five.
    fn draw(random: &mut Random, kinds: &[u8]) -> Self {
        let n = random.below(40) as u32;
        match kinds[random.below(kinds.len() as u64) as usize] {
            0 => Self::plain(n as f32 / 16.0),
            1 => Self::border(n, FILTERED),
            2 => Self::plain(100.0 + n as f32),
            3 => Self::border(n, vk::Format::UNDEFINED),
            // The kind of the colour is not that of the format.
            _ => Self::border(n, INTEGERS),
        }
    }

    /// Whether it is legal by itself, limits aside.
    fn is_legal(&self) -> bool {
        self.bias <= 4.0 && self.border.is_none_or(|(_, format)| format == FILTERED)
    }

    fn create(&self, device: &Device) -> Result<(vk::Sampler, bool), vk::Result> {
        self.with_info(|info| created(device, info))
    }

    fn with_info<R>(&self, create: impl FnOnce(&vk::SamplerCreateInfo<'_>) -> R) -> R {
        let Some((value, format)) = self.border else { return create(&biased(self.bias)) };
        let color = vk::ClearColorValue { float32: [value, 0.5, 0.75, 1.0] };
        let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default().custom_border_color(color).format(format);
        let info = biased(self.bias).address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER);
        create(&info.border_color(vk::BorderColor::FLOAT_CUSTOM_EXT).push_next(&mut custom))
    }
}

/// How often a sequence was at the last place of a limit, and how many variants there were.
#[derive(Default)]
struct Reached {
    samplers: u64,
    borders: u64,
    variants: u64,
}

/// A capability file of a device with these limits, and with LINEAR for the two formats that the sequences filter.
fn limits_file(samplers: u32, borders: u32) -> File {
    let linear = ["SAMPLED_IMAGE_BIT", "SAMPLED_IMAGE_FILTER_LINEAR_BIT"].map(|bit| format!("VK_FORMAT_FEATURE_{bit}"));
    let features = serde_json::json!({ "optimalTilingFeatures": linear });
    caps_file(
        serde_json::json!({ "maxSamplerAllocationCount": samplers, "maxCustomBorderColorSamplers": borders }),
        serde_json::json!({ "VK_FORMAT_R8G8B8A8_UNORM": features, "VK_FORMAT_B8G8R8A8_UNORM": features }),
    )
}

/// A capability file with these limits and formats and nothing else.
fn caps_file(limits: serde_json::Value, formats: serde_json::Value) -> File {
    let file = serde_json::json!({
        "schema": "device-caps/1", "name": "limits", "effective": {}, "limits": limits, "formats": formats,
    });
    File::new("json", file.to_string())
}

/// A random application on a device with these limits on samplers and on custom border colours. What is legal by the
/// application's own counts goes down as it is, and the driver answers as it would without the layer: if the limits are not its
/// own (`simulated`), it takes what is beyond them.
fn use_every_place(
    device: &Device,
    (set, views): (vk::DescriptorSet, [vk::ImageView; 4]),
    (samplers, borders): (u32, u32),
    simulated: bool,
    random: &mut Random,
    reached: &mut Reached,
) {
    // With and without illegal ones, with and without others than those with a border.
    let kinds: [&[u8]; 4] = [&[0, 1, 1], &[0, 1, 1, 2, 3, 4], &[1], &[1, 1, 3, 4]];
    let kinds = kinds[random.below(4) as usize];
    let mut live: Vec<(vk::Sampler, Drawn)> = Vec::new();
    let mut descriptors: Vec<(vk::Sampler, vk::Sampler)> = Vec::new();
    let widest = [samplers, borders].into_iter().filter(|limit| *limit <= 96).max().unwrap_or(0);
    let steps = 6 * widest + 20;
    for step in 0..steps {
        // Up to the limit and over it, some way down, and up again.
        let fills = step < steps * 3 / 4 || step > steps * 7 / 8;
        match random.below(10) {
            0..3 if !live.is_empty() => {
                let (sampler, drawn) = live[random.below(live.len() as u64) as usize];
                let view = random.below(4) as usize;
                let down = device.written_to(set, 0, pair(sampler, views[view]));
                reached.variants += u64::from(down != sampler);
                assert!(down == sampler || !drawn.is_legal() || view > 0, "a legal pair is exchanged: {drawn:?}");
                descriptors.push((sampler, down));
            }
            kind if (kind < 9) == fills || live.is_empty() => {
                let asked = live.iter().filter(|(_, drawn)| drawn.border.is_some()).count() as u32;
                let drawn = Drawn::draw(random, kinds);
                let alone = (live.len() as u32) < samplers;
                let within = drawn.border.is_none() || asked < borders;
                reached.samplers += u64::from(live.len() as u32 + 1 == samplers);
                reached.borders += u64::from(drawn.border.is_some() && asked + 1 == borders);
                match drawn.create(device) {
                    Ok((sampler, is_own)) => {
                        assert!(alone || simulated, "the driver took more than it can");
                        assert!(is_own || !drawn.is_legal() || !within, "{drawn:?} is legal and was changed");
                        live.push((sampler, drawn));
                    }
                    Err(error) => {
                        let only = !alone && !simulated && error == vk::Result::ERROR_TOO_MANY_OBJECTS;
                        assert!(only, "{drawn:?}: {error:?} with {} samplers, {asked} with a border", live.len());
                    }
                }
            }
            _ => {
                if !live.is_empty() {
                    let (sampler, _) = live.swap_remove(random.below(live.len() as u64) as usize);
                    device.destroy_sampler(sampler);
                    descriptors.retain(|(of, _)| *of != sampler);
                }
            }
        }
        device.driver.check();
    }
    for (sampler, down) in descriptors {
        assert!(device.driver.sampler(down.as_raw()).is_some(), "{down:?} of {sampler:?} is gone");
    }
    for (sampler, _) in live {
        device.destroy_sampler(sampler);
    }
    device.driver.check();
    assert_eq!(device.driver.live(Kind::Sampler), [0; 0]);
    assert_eq!(device.entry().pairs.samplers.cache().with_borders(|borders| borders.taken()), 0);
}

#[test]
fn an_application_may_use_every_limit_to_its_last_place() {
    const SEQUENCES: u64 = 2_500;
    let some = [0, 1, 2, 24, 96];
    let limits: Vec<(u32, u32)> =
        some.into_iter().flat_map(|limit| [(limit, 4096), (4000, limit), (limit, limit)]).collect();
    let devices: Vec<_> =
        [false, true].into_iter().flat_map(|by_file| limits.iter().map(move |l| (by_file, *l))).collect();
    for (nth, (simulated, (samplers, borders))) in devices.iter().copied().enumerate() {
        let device = if simulated {
            let file = limits_file(samplers, borders);
            with_custom_borders(InstanceBuilder::new().set("samplers", "own").set("device", file.path()))
        } else {
            with_custom_borders(InstanceBuilder::new().set("samplers", "own").driver(|driver| {
                (driver.max_samplers, driver.max_custom_borders) = (samplers, borders);
            }))
        };
        let formats = [FILTERED, BGRA, INTEGERS, FLOATS];
        let objects = (device.plain_set(), formats.map(|format| device.view(format)));
        let mut reached = Reached::default();
        for seed in 0..SEQUENCES.div_ceil(devices.len() as u64) {
            let mut random = Random(seed << 8 | nth as u64);
            use_every_place(&device, objects, (samplers, borders), simulated, &mut random, &mut reached);
        }
        let Reached { samplers: full, borders: filled, variants } = reached;
        assert!(full > 0 || samplers == 0 || samplers > 96, "{samplers} samplers were never reached");
        assert!(filled > 0 || borders == 0 || borders > 96, "{borders} borders were never reached");
        assert!((variants > 0) == (samplers > 96), "{samplers}: {variants} variants");
    }
}

#[test]
fn threads_never_take_a_place_that_the_application_wants() {
    const THREADS: u32 = 4;
    const EACH: usize = 6;
    let limit = THREADS * EACH as u32;
    let device = with_custom_borders(InstanceBuilder::new().driver(|driver| driver.max_custom_borders = limit));
    let views = [FILTERED, BGRA, INTEGERS].map(|format| device.view(format));
    device.forget_calls();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let device = &device;
            scope.spawn(move || {
                let mut random = Random(u64::from(thread));
                let set = device.plain_set();
                let mut live = Vec::new();
                for _ in 0..3000 {
                    if live.len() < EACH && random.below(3) > 0 {
                        let legal = random.below(2) == 0;
                        let format = if legal { FILTERED } else { vk::Format::UNDEFINED };
                        let drawn = Drawn { bias: 0.0, border: Some((random.below(8) as f32 / 8.0, format)) };
                        let sampler = drawn.with_info(|info| device.sampler(info));
                        assert!(!legal || is_custom(device, sampler), "a legal colour was changed");
                        live.push(sampler);
                    } else if !live.is_empty() {
                        let at = random.below(live.len() as u64) as usize;
                        let infos = [pair(live[at], views[random.below(3) as usize])];
                        device.update(&[combined(set, 0, &infos)], &[]);
                        if random.below(2) == 0 {
                            device.destroy_sampler(live.swap_remove(at));
                        }
                    }
                }
                live.into_iter().for_each(|sampler| device.destroy_sampler(sampler));
            });
        }
    });
    device.driver.check();
    assert_eq!(device.driver.live(Kind::Sampler), [0; 0]);
}

#[test]
fn a_variant_that_cannot_be_made_is_given_up() {
    for failure in [vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_TOO_MANY_OBJECTS] {
        let device = Device::traced();
        let (set, view, other) = (device.plain_set(), device.view(INTEGERS), device.view(FLOATS));
        let sampler = device.linear();
        device.driver.fail(c"vkCreateSampler", [failure]);
        assert_eq!(device.written_to(set, 0, pair(sampler, view)), sampler);
        let said = device.records("unresolved");
        assert_eq!((said.len(), &said[0]["rule"]), (1, &"sampler-budget".into()));
        let text = &texts(&said, "why")[0];
        assert!(text.contains(&format!("{failure:?}")), "{text}");
        // It is not tried again and again.
        assert_eq!(device.written_to(set, 0, pair(sampler, view)), sampler);
        assert_eq!(device.driver.live(Kind::Sampler), [sampler.as_raw()]);
        // Another class may have more luck.
        assert_ne!(device.written_to(set, 0, pair(sampler, other)), sampler);
        let mut out = vk::Sampler::from_raw(0xabab);
        device.driver.fail(c"vkCreateSampler", [failure]);
        let info = linear_info();
        assert_eq!(call!(device.create_sampler(device.raw, &info, allocator(), &mut out)), failure);
        assert_eq!(out.as_raw(), 0xabab, "the output stays as it was");
    }
}

/// Every call that can fail, once, and uses of what they made. Returns what failed.
pub(crate) fn script(device: &Device, failure: vk::Result) -> Vec<&'static str> {
    let mut failed = Vec::new();
    macro_rules! create {
        ($create:ident $handle:ident = $info:expr) => {{
            let mut out = vk::$handle::from_raw(0xabab);
            let result = call!(device.$create(device.raw, $info, allocator(), &mut out));
            if result == SUCCESS {
                Some(out)
            } else {
                assert_eq!(result, failure, "the driver's result");
                assert_eq!(out.as_raw(), 0xabab, "the output stays as it was");
                failed.push(stringify!($create));
                None
            }
        }};
    }
    let image = create!(create_image Image = &image_info(INTEGERS).tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT));
    let view = image.and_then(|image| create!(create_view ImageView = &view_info(image, INTEGERS)));
    let mut samplers = Vec::new();
    for bias in [0.0, 0.0, 100.0] {
        samplers.extend(create!(create_sampler Sampler = &biased(bias)));
    }
    let bindings = [binding(0, COMBINED, 4), binding(1, COMBINED, samplers.len() as u32).immutable_samplers(&samplers)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let layout = create!(create_layout DescriptorSetLayout = &info);
    let layouts = [layout.unwrap_or_default()];
    let pipeline =
        create!(create_pipeline_layout PipelineLayout = &vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts));
    let pool = create!(create_pool DescriptorPool = &vk::DescriptorPoolCreateInfo::default());
    let entries = [entry(0, 0, 1, COMBINED, 0, INFO)];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .descriptor_set_layout(layouts[0]);
    let template = create!(create_template DescriptorUpdateTemplate = &info);
    let info =
        vk::SamplerYcbcrConversionCreateInfo { format: PLANAR, chroma_filter: Filter::LINEAR, ..Default::default() };
    create!(create_conversion SamplerYcbcrConversion = &info);
    let info = vk::SwapchainCreateInfoKHR::default().image_format(INTEGERS);
    let swapchain = create!(create_swapchain SwapchainKHR = &info);
    if let Some(swapchain) = swapchain {
        let (mut count, mut images) = (3, [vk::Image::from_raw(0xabab); 3]);
        let result = call!(device.get_swapchain_images(device.raw, swapchain, &mut count, images.as_mut_ptr()));
        if result != SUCCESS {
            assert_eq!((count, images), (3, [vk::Image::from_raw(0xabab); 3]));
            failed.push("get_swapchain_images");
        }
    }
    let mut sets = [vk::DescriptorSet::from_raw(0xabab); 2];
    if let (Some(pool), Some(layout)) = (pool, layout) {
        let layouts = [layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let result = call!(device.allocate_sets(device.raw, &info, sets.as_mut_ptr()));
        if result == SUCCESS {
            // Conflicts, so that variants are made (or not).
            for sampler in &samplers {
                let infos = [pair(*sampler, view.unwrap_or_default())];
                device.update(&[combined(sets[0], 0, &infos), combined(sets[1], 1, &infos)], &[]);
                if let Some(template) = template {
                    device.update_with_template(sets[0], template, infos.as_ptr().cast());
                }
                if let Some(layout) = pipeline {
                    device.push(layout, 0, &[combined(sets[0], 0, &infos)]);
                }
                call!(device.get_view_handle(device.raw, &handle_info(COMBINED, &infos[0])));
            }
        } else {
            assert_eq!(sets, [vk::DescriptorSet::from_raw(0xabab); 2]);
            failed.push("allocate_sets");
        }
    }
    failed
}

/// What calls fail with: every error that the calls of the script may have.
const FAILURES: [vk::Result; 4] = [
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    vk::Result::ERROR_TOO_MANY_OBJECTS,
    vk::Result::ERROR_DEVICE_LOST,
];

#[test]
fn any_call_may_fail_and_nothing_is_left_behind() {
    let mut injected = 0;
    for failure in FAILURES {
        injected += any_call_may_fail(failure);
    }
    println!("{injected} faults injected");
    assert!(injected > 60);
}

fn any_call_may_fail(failure: vk::Result) -> u64 {
    let mut failed = Vec::new();
    let mut injected = 0;
    for nth in 0.. {
        let device = Device::usual();
        device.driver.fail_nth.store(nth, Ordering::Relaxed);
        *crate::driver::lock(&device.driver.fail_with) = failure;
        let expected = script(&device, failure);
        let count = device.driver.fallible();
        device.destroy_all();
        assert_nothing_left(&device, &format!("after call {nth} failed"));
        device.finish();
        // A variant that fails is nobody's failure, nor is the modifier that is asked for behind the application's back.
        failed.extend(expected);
        if nth > count {
            break;
        }
        injected += u64::from(nth > 0);
    }
    failed.sort_unstable();
    failed.dedup();
    assert_eq!(
        failed,
        [
            "allocate_sets",
            "create_conversion",
            "create_image",
            "create_layout",
            "create_pipeline_layout",
            "create_pool",
            "create_sampler",
            "create_swapchain",
            "create_template",
            "create_view",
            "get_swapchain_images",
        ]
    );
    injected
}

#[test]
fn results_of_instances_and_devices_come_back() {
    for failure in [vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_INCOMPATIBLE_DRIVER] {
        crate::driver::NEXT_RESULTS.set([failure].into());
        assert_eq!(InstanceBuilder::new().create().err(), Some(failure));
        let instance = InstanceBuilder::new().instance();
        crate::driver::NEXT_RESULTS.set([failure].into());
        assert_eq!(instance.try_device(&Default::default()).err(), Some(failure));
        // The next one works.
        instance.device(&Default::default()).finish();
    }
}
