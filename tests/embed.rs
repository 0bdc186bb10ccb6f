//! What samplin-core says in Rust and in C is what the layer decides.

use std::ffi::CStr;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use ash::vk::{self, Handle};
use samplin::sampler_info;
use samplin_capi::*;
use samplin_checker::draw::{Dice, sampler, swizzle};
use samplin_checker::replay::identical;
use samplin_config::devices::SHIPPED;
use samplin_config::simulate;
use samplin_core::budget::{BorderPlace, BorderWish};
use samplin_core::decide::{self, Context, DeviceCaps, Exempt, Policy, SamplerState, ViewTraits};
use samplin_core::outcome::{self, Off, Refusal, Terms};
use samplin_core::{Change, Device, Image, Outcome, Reads, Tiling, View, names};

/// Pairs in all.
const PAIRS: usize = 1_000_000;

/// A device of `devices/`: as the library in Rust has it, as that in C has it, and what the layer that simulates it goes by.
struct Simulated {
    name: &'static str,
    device: Device,
    in_c: *mut SamplinDevice,
    caps: DeviceCaps,
    policy: Policy,
    simulation: simulate::Simulation,
}

// SAFETY: any thread may call the library with any object of it.
unsafe impl Sync for Simulated {}

/// Every device, made in C of what a program would fill in, and once of its file.
fn devices() -> Vec<Simulated> {
    let devices = SHIPPED.iter().enumerate().map(|(index, shipped)| {
        let simulation = simulate::load(shipped.name).unwrap();
        let device = simulation.reported().device();
        let smooths = simulation.reported().smooths_nearest();
        let mut in_c = ptr::null_mut();
        if index % 2 == 0 {
            let text = std::fs::read(&simulation.path).unwrap();
            // SAFETY: a text of that length; `in_c` can be written.
            let result =
                unsafe { samplin_device_from_json(text.as_ptr().cast(), text.len(), &mut in_c, ptr::null_mut(), 0) };
            assert_eq!(result, SamplinResult::Success);
        } else {
            let formats: Vec<SamplinFormat> = device
                .formats()
                .iter()
                .map(|(format, of)| SamplinFormat {
                    format: format.as_raw(),
                    reserved: 0,
                    optimal: of.optimal.as_raw(),
                    linear: of.linear.as_raw(),
                    buffer: of.buffer.as_raw(),
                })
                .collect();
            let (limits, features) = (SamplinLimits::new(&device.limits()), SamplinFeatures::new(&device.features()));
            let info = SamplinDeviceInfo {
                size: size_of::<SamplinDeviceInfo>() as u32,
                border_strict: 0,
                depth_linear_compare: 0,
                gl_clamp_rule_min: 0,
                aniso_nearest_off: smooths.into(),
                limits: &limits,
                features: &features,
                formats: formats.as_ptr(),
                format_count: formats.len(),
            };
            // SAFETY: whole structures and as many formats as are counted; `in_c` can be written.
            assert_eq!(unsafe { samplin_device_create(&info, &mut in_c) }, SamplinResult::Success);
        }
        let policy = Policy { flat_nearest: smooths, ..Policy::default() };
        Simulated { name: shipped.short, device, in_c, caps: simulation.reported().caps(), policy, simulation }
    });
    devices.collect()
}

/// A view that a program may create, legal or not.
fn view(random: &mut fastrand::Rng, formats: &[vk::Format]) -> View {
    use vk::ImageViewType as V;
    let format = formats[random.usize(..formats.len())];
    let types =
        [V::TYPE_2D, V::TYPE_2D, V::TYPE_2D_ARRAY, V::TYPE_3D, V::CUBE, V::CUBE_ARRAY, V::TYPE_1D, V::from_raw(9)];
    let view_type = types[random.usize(..types.len())];
    let bytes: [u8; 8] = random.u64(..).to_le_bytes();
    let [r, g, b, a] = swizzle(&mut Dice(&bytes));
    let mut view = View::new_2d(format);
    if random.u8(..4) == 0 {
        view.range.aspect_mask = vk::ImageAspectFlags::STENCIL;
    }
    view.view_type = view_type;
    view.components = if random.bool() { vk::ComponentMapping { r, g, b, a } } else { view.components };
    view.range.level_count = [1, 1, 2, vk::REMAINING_MIP_LEVELS][random.usize(..4)];
    view.range.layer_count = [1, 1, 6, vk::REMAINING_ARRAY_LAYERS][random.usize(..4)];
    view.usage = vk::ImageUsageFlags::from_raw(random.u32(..256));
    view.has_conversion = random.u8(..16) == 0;
    view.filter_cubic = random.u8(..4) > 0;
    view.filter_cubic_minmax = random.u8(..4) > 0;
    view.reads = [Reads::Unknown, Reads::Plain, Reads::Compared][random.usize(..3)];
    view.image = Image {
        image_type: [vk::ImageType::TYPE_2D, vk::ImageType::TYPE_3D, vk::ImageType::TYPE_1D][random.usize(..3)],
        tiling: if random.u8(..4) == 0 { Tiling::Linear } else { Tiling::Optimal },
        modifier: 0,
        flags: match random.u8(..16) {
            0 => vk::ImageCreateFlags::CORNER_SAMPLED_NV,
            1 => vk::ImageCreateFlags::SUBSAMPLED_EXT,
            _ => vk::ImageCreateFlags::empty(),
        },
        levels: 1 + random.u32(..3),
        layers: 1 + random.u32(..6),
    };
    view
}

/// The state that the layer reads from the create info of a program.
fn as_the_layer_reads(state: &SamplerState) -> SamplerState {
    // SAFETY: there is no original whose chain would have to be alive.
    unsafe {
        sampler_info::with_create_info(state, None, |info, _| {
            // SAFETY: the create info that is handed here is valid, and so is its chain.
            sampler_info::read(info, |handle| {
                let conversion = state.ycbcr.unwrap();
                assert_eq!(handle.as_raw(), conversion.handle);
                conversion
            })
            .state
        })
    }
}

/// What the layer makes of a view of a format with these features.
fn class_in_the_layer(on: &Simulated, view: &View) -> ViewTraits {
    let features = on.simulation.reported().own_features(view.format).with_tiling(view.image.tiling, 0);
    let is_cubic = features.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT);
    let traits = view.traits(Some(features), false);
    match on.caps.filter_cubic_ext && is_cubic {
        true => traits,
        false => ViewTraits { filter_cubic: true, filter_cubic_minmax: true, ..traits },
    }
}

/// What the layer makes of a pair: the state, and each change with why and what is lost.
fn in_the_layer(on: &Simulated, state: &SamplerState, view: &ViewTraits, tiling: Tiling) -> (SamplerState, Vec<Told>) {
    let terms = Terms { caps: &on.caps, policy: &on.policy, audit: false };
    let created = outcome::creation(state, Exempt::NONE, &terms, |wish| match wish {
        BorderWish::Take { .. } => BorderPlace::Held,
        BorderWish::GiveUp => BorderPlace::GivenUp,
    });
    let kept = created.kept(state);
    let meeting = outcome::meeting(&kept, view, [], Off::NONE, &terms, |_| Ok::<(), Refusal>(()));
    let context = Context {
        view: Some(view),
        tiling,
        trilinear: kept.original.mipmap_mode == vk::SamplerMipmapMode::LINEAR,
        linear: meeting.linear(false),
        ..Context::new(&on.caps)
    };
    let all = decide::pair(state, view, &on.caps, &on.policy).changes;
    (meeting.state, all.iter().map(|change| Told::of(change, &context)).collect())
}

/// A change in words.
#[derive(Debug, PartialEq)]
struct Told {
    words: [String; 7],
    vuid: Option<String>,
}

impl Told {
    fn of(change: &decide::Change, context: &Context<'_>) -> Self {
        let words = [
            change.catalog.rule().name().to_owned(),
            change.catalog.id().to_owned(),
            change.field.name().to_owned(),
            change.from.to_string(),
            change.to.to_string(),
            decide::because(change, context),
            decide::lost(change, context).to_owned(),
        ];
        Self { words, vuid: change.catalog.vuid().map(str::to_owned) }
    }

    fn is(&self, words: [&str; 7], vuid: Option<&str>) -> bool {
        self.words == words && self.vuid.as_deref() == vuid
    }

    fn is_in_rust(&self, of: &Change) -> bool {
        let (from, to) = (of.from.to_string(), of.to.to_string());
        self.is([of.rule, of.catalog, of.field, &from, &to, &of.because, of.lost], of.vuid)
    }

    /// # Safety
    ///
    /// The outcome of the change is alive.
    unsafe fn is_in_c(&self, of: &SamplinChange) -> bool {
        // SAFETY: a text with a zero at the end, as the header promises while the outcome is alive.
        let word = |at| unsafe { CStr::from_ptr(at) }.to_str().unwrap();
        let words = [of.rule, of.catalog, of.field, of.from, of.to, of.because, of.lost].map(word);
        self.is(words, (!of.vuid.is_null()).then(|| word(of.vuid)))
    }
}

/// Whether the library in C makes the same of it.
fn is_the_same_in_c(on: &Simulated, (state, view): (&SamplerState, &View), expected: &Outcome, told: &[Told]) -> bool {
    let (sampler, view) = (SamplinSampler::new(state), SamplinView::new(view));
    let mut outcome = ptr::null_mut();
    let mut instead = sampler;
    // SAFETY: whole structures with their sizes, an object of the library, and the outcome is destroyed last.
    unsafe {
        assert_eq!(samplin_decide(on.in_c, &sampler, &view, &mut outcome), SamplinResult::Success);
        assert_eq!(samplin_outcome_sampler(outcome, &mut instead), SamplinResult::Success);
        let is_told = told.iter().enumerate().all(|(index, told)| {
            let mut change = MaybeUninit::<SamplinChange>::zeroed().assume_init();
            change.size = size_of::<SamplinChange>() as u32;
            assert_eq!(samplin_outcome_change(outcome, index, &mut change), SamplinResult::Success);
            told.is_in_c(&change)
        });
        let counts = [samplin_outcome_change_count(outcome), samplin_outcome_unresolved_count(outcome)];
        samplin_outcome_destroy(outcome);
        is_told && identical(&instead.state(), &expected.state) && counts == [told.len(), expected.unresolved.len()]
    }
}

/// Draws pairs and compares; how many change, and of how many something stays.
fn compare(devices: &[Simulated], formats: &[vk::Format], seed: u64, pairs: usize) -> (usize, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut changed, mut stay) = (0, 0);
    for number in 0..pairs {
        let on = &devices[number % devices.len()];
        let mut bytes = [0; 160];
        random.fill(&mut bytes);
        let (state, view) = (sampler(&mut Dice(&bytes)), view(&mut random, formats));
        let outcome = on.device.decide(&state, &view);

        let class = class_in_the_layer(on, &view);
        // A format that nobody knows is one that the layer asks the device about, and the library is not told of.
        let is_told = on.device.formats().get(view.format).is_some();
        let class = if is_told { class } else { ViewTraits { features: None, ..class } };
        let (expected, told) = in_the_layer(on, &state, &class, view.image.tiling);
        // What a program has is what the layer reads from its create info. Data that was captured is never chained again.
        let plain = SamplerState { opaque_capture: false, ..state };
        assert_eq!(as_the_layer_reads(&plain).key(), plain.key());
        let about = || format!("{}: {state:?}\n{view:?}", on.name);
        assert!(identical(&outcome.state, &expected), "{}\n{:?}\n{expected:?}", about(), outcome.state);
        let is_told = told.len() == outcome.changes.len()
            && told.iter().zip(&outcome.changes).all(|(told, change)| told.is_in_rust(change));
        assert!(is_told, "{}\n{told:?}\n{:?}", about(), outcome.changes);
        assert!(is_the_same_in_c(on, (&state, &view), &outcome, &told), "{}", about());
        changed += usize::from(!outcome.changes.is_empty());
        stay += usize::from(!outcome.unresolved.is_empty());
    }
    (changed, stay)
}

#[test]
fn both_libraries_decide_as_the_layer_does() {
    let devices = devices();
    let formats: Vec<vk::Format> =
        names::formats().chain([vk::Format::UNDEFINED, vk::Format::from_raw(1_000_999_000)]).collect();
    let (devices, formats) = (&devices, &formats);
    let counts: Vec<(usize, usize)> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|seed| scope.spawn(move || compare(devices, formats, seed, PAIRS / 4))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for device in devices {
        // SAFETY: made above, and used no more.
        unsafe { samplin_device_destroy(device.in_c) };
    }
    let (changed, stay) = counts.into_iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    println!("{changed} of {PAIRS} pairs change, and of {stay} something stays");
    assert!(changed > PAIRS / 2 && stay > PAIRS / 100, "{changed} {stay}");
}
