//! An application that does random things, and a model of what has to come of them.
//!
//! Every call keeps the rules that concern objects and memory; the *states* of samplers are anything (see
//! [`draw`](samplin_checker::draw)). The model knows what each sampler was created with, what the driver can do with each
//! view, and so, by the independent checker in [`samplin_checker`], which pairs are legal.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::fmt::Debug;
use std::path::PathBuf;
use std::ptr;
use std::rc::Rc;

use ash::vk::{self, Handle};
use samplin_core::decide::{
    self, Aspect, BlitSource, DeviceCaps, Divide, Policy, Reads, SamplerState, ViewTraits, YcbcrConversion,
    normalize_components,
};

use super::chain::{Unknown, info_of, put, read_back};
use crate::driver::{Args, Array, Call, Element, FormatSupport, Reuse, Write};
use crate::loader::*;
use crate::pages::{Guarded, dangling};
use crate::stress::Random;
use samplin_checker::draw::{self, Dice};
use samplin_checker::{blit_violations, fixable, formats, replay, replays, violations};

super::tally! { calls samplers changed_at_creation pairs repaired kept_while_alive blits }

struct Sampler {
    handle: u64,
    /// What the application asked for.
    original: SamplerState,
    /// Has a structure chained that the layer cannot carry over.
    unknown: bool,
    /// Immutable in a descriptor-buffer layout: never exchanged.
    pinned: bool,
}

struct Image {
    handle: u64,
    format: vk::Format,
    image_type: vk::ImageType,
    tiling: vk::ImageTiling,
    flags: vk::ImageCreateFlags,
    levels: u32,
    layers: u32,
    usage: vk::ImageUsageFlags,
}

struct View {
    handle: u64,
    image: u64,
    traits: ViewTraits,
}

struct Binding {
    number: u32,
    ty: Ty,
    count: u32,
    /// Empty, or as many as `count`.
    immutable: Vec<u64>,
}

struct Layout {
    handle: u64,
    bindings: Vec<Binding>,
}

impl Layout {
    /// The place that an element belongs to, after those beyond a binding's end have gone on to the next.
    fn resolve(&self, number: u32, element: u64) -> Option<(&Binding, u64)> {
        let start = self.bindings.iter().position(|binding| binding.number == number)?;
        let mut element = element;
        for binding in &self.bindings[start..] {
            if element < u64::from(binding.count) {
                return Some((binding, element));
            }
            element -= u64::from(binding.count);
        }
        None
    }
}

struct PipelineLayout {
    handle: u64,
    sets: Vec<Rc<Layout>>,
}

/// What a descriptor holds: the sampler and view it was given, and the sampler that the driver has.
#[derive(Clone, Copy)]
struct Slot {
    sampler: u64,
    view: u64,
    down: u64,
    state: SamplerState,
}

struct Set {
    handle: u64,
    pool: u64,
    layout: Rc<Layout>,
    slots: HashMap<(u32, u64), Slot>,
}

enum Target {
    Sets(Rc<Layout>),
    Push(Rc<PipelineLayout>, u32),
}

struct Template {
    handle: u64,
    target: Target,
    entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    size: usize,
}

/// Where writes go: the layout that rules them, and the set if there is one.
#[derive(Clone)]
struct Destination {
    layout: Rc<Layout>,
    set: Option<u64>,
}

/// A write: what it is to, binding and element, and pairs.
#[derive(Debug)]
struct Drawn {
    to: usize,
    number: u32,
    element: u32,
    ty: Ty,
    infos: Vec<vk::DescriptorImageInfo>,
}

/// A pair that is written: binding and element.
type Given = (Destination, u32, u64, vk::DescriptorImageInfo);

impl Drawn {
    fn raw(&self, dst_set: u64, infos: &'static [vk::DescriptorImageInfo]) -> vk::WriteDescriptorSet<'static> {
        vk::WriteDescriptorSet {
            p_next: unknown(),
            dst_set: vk::DescriptorSet::from_raw(dst_set),
            dst_binding: self.number,
            dst_array_element: self.element,
            descriptor_count: self.infos.len() as u32,
            descriptor_type: self.ty,
            p_image_info: if self.ty == Ty::UNIFORM_BUFFER { dangling() } else { infos.as_ptr() },
            // Ignored for this type, and needed by none of the driver's checks.
            p_buffer_info: dangling(),
            p_texel_buffer_view: dangling(),
            ..Default::default()
        }
    }

    fn pairs(&self, to: &Destination) -> Vec<Given> {
        let first = u64::from(self.element);
        let pairs = (first..).zip(&self.infos).filter(|_| self.ty == COMBINED);
        pairs.map(|(element, info)| (to.clone(), self.number, element, *info)).collect()
    }
}

/// A structure that the layer does not know, which stays where it is chained.
fn unknown() -> *const c_void {
    const NODE: &vk::BaseInStructure<'static> = &vk::BaseInStructure {
        s_type: vk::StructureType::from_raw(0x7fff_0098),
        p_next: ptr::null(),
        _marker: std::marker::PhantomData,
    };
    ptr::from_ref(NODE).cast()
}

/// What is ignored in place of a sampler.
const GARBAGE: [u64; 6] = [0, 1, u64::MAX, u64::MAX - 1, 0x5500_0000_0141, 0xdead_beef_0000];

/// Structures with the same members, whose pointers lead to the same places.
#[track_caller]
fn assert_same(down: impl Debug, given: impl Debug) {
    assert_eq!(format!("{down:?}"), format!("{given:?}"));
}

/// Writes arrive with everything that was given but image infos, which are judged by themselves.
fn assert_alike(changed: bool, given: &[vk::WriteDescriptorSet<'_>], down: &Array<Write>) {
    assert!(changed || down.at == given.as_ptr() as usize, "what is legal goes down as it is");
    assert_eq!(down.items.len(), given.len());
    for (down, given) in down.items.iter().zip(given) {
        let p_image_info = if given.descriptor_type == COMBINED { given.p_image_info } else { down.raw.p_image_info };
        assert_same(vk::WriteDescriptorSet { p_image_info, ..down.raw }, given);
    }
}

/// The elements of a template's data arrive from where they are described, and nothing but pairs changes.
fn assert_elements(at: usize, elements: &[Element], entries: &[vk::DescriptorUpdateTemplateEntry], data: &[u8]) {
    // To 8 bytes: a single pair is copied to a place of its own.
    let alignment = |at: usize| at.trailing_zeros().min(3);
    assert!(alignment(at) >= alignment(data.as_ptr() as usize), "what was aligned stays aligned");
    for element in elements {
        let entry = &entries[element.entry];
        let offset = entry.offset + element.index * entry.stride;
        assert_eq!(element.at - at, offset);
        assert_eq!(element.bytes, data[offset..][..element.bytes.len()]);
        if let Some(image) = element.image.filter(|_| entry.descriptor_type != COMBINED) {
            // SAFETY: the block has room for every element; any bits are a valid image info.
            let given = unsafe { data.as_ptr().add(offset).cast::<vk::DescriptorImageInfo>().read_unaligned() };
            assert_same(image, given);
        }
    }
}

pub(crate) struct Application {
    random: Random,
    /// What the application passes in a call: it can only be read, and nothing behind it.
    memory: Guarded,
    device: Device,
    caps: DeviceCaps,
    policy: Policy,
    formats: Vec<(vk::Format, FormatSupport)>,
    audit: bool,
    /// The driver takes few samplers or custom colours, so that the layer may have to give up.
    limited: bool,
    /// A rules file is in force, so that legal samplers may change.
    rules: bool,
    samplers: Vec<Sampler>,
    images: Vec<Image>,
    views: Vec<View>,
    layouts: Vec<Rc<Layout>>,
    pipelines: Vec<Rc<PipelineLayout>>,
    pools: Vec<u64>,
    sets: Vec<Set>,
    templates: Vec<Template>,
    conversions: HashMap<u64, YcbcrConversion>,
    pub(crate) tally: Tally,
    /// What was done, for the message of a failure.
    pub(crate) log: Vec<String>,
}

/// Extensions that a device may have or not; each decides about rules.
const OPTIONAL: [&CStr; 16] = [
    ash::khr::sampler_mirror_clamp_to_edge::NAME,
    ash::ext::sampler_filter_minmax::NAME,
    ash::img::filter_cubic::NAME,
    ash::ext::filter_cubic::NAME,
    c"VK_IMG_filter_linear_2d",
    ash::ext::custom_border_color::NAME,
    ash::ext::border_color_swizzle::NAME,
    ash::ext::non_seamless_cube_map::NAME,
    ash::qcom::filter_cubic_clamp::NAME,
    ash::qcom::filter_cubic_weights::NAME,
    ash::ext::descriptor_buffer::NAME,
    ash::khr::portability_subset::NAME,
    ash::qcom::image_processing2::NAME,
    ash::ext::fragment_density_map::NAME,
    GL_ADDRESS_MODES,
    c"VK_SAMPLIN_gl_shaders",
];

/// Rules that touch every part of a sampler; names and order of creation among the conditions.
const RULES: &str = r#"
[[rule]]
name = "all"
set = { max_anisotropy = 8, mip_lod_bias = { add = -0.25 } }
[[rule]]
name = "named"
when = { name = "n*" }
set = { mag_filter = "nearest", min_lod = 0.5 }
[[rule]]
name = "integer"
when = { class = "color" }
set = { address_mode = { u = "mirrored_repeat" } }
"#;

impl Application {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        let bytes = bytes(&mut random);
        let dice = &mut Dice(&bytes);
        // Mostly everything, sometimes nothing, else each with a chance.
        let plenty = [90, 90, 50, 0][random.below(4) as usize];
        let has: Vec<bool> = OPTIONAL.iter().map(|_| random.below(100) < plenty).collect();
        // The subset takes abilities away and density maps bring another kind of sampler: rarely both.
        let on = |name: &CStr| OPTIONAL.iter().zip(&has).any(|(other, on)| *other == name && *on);
        let mut extensions: Vec<&'static CStr> = vec![
            ash::khr::push_descriptor::NAME,
            ash::khr::descriptor_update_template::NAME,
            ash::khr::maintenance6::NAME,
            ash::khr::copy_commands2::NAME,
            ash::khr::sampler_ycbcr_conversion::NAME,
            ash::ext::image_drm_format_modifier::NAME,
            ash::nvx::image_view_handle::NAME,
        ];
        extensions.extend(OPTIONAL.iter().zip(&has).filter(|(_, on)| **on).map(|(name, _)| *name));

        let mut formats: Vec<(vk::Format, FormatSupport)> = Vec::new();
        for _ in 0..10 {
            let format = draw::FORMATS[random.below(draw::FORMATS.len() as u64) as usize];
            // A value of no enumeration is no valid format.
            if format.as_raw() < 0 || formats.iter().any(|(other, _)| *other == format) {
                continue;
            }
            let [optimal, linear, nine] = std::array::from_fn(|_| draw::features(dice).unwrap_or_default());
            let modifiers = if random.below(2) == 0 { vec![(7, linear), (9, nine)] } else { Vec::new() };
            formats.push((format, FormatSupport { optimal, linear, modifiers, ..FormatSupport::default() }));
        }
        let few_samplers = random.below(12) == 0;
        let few_borders = random.below(12) == 0;
        let audit = random.below(16) == 0;
        let rules = !audit && random.below(10) == 0;
        let policy = Policy {
            strict_border: random.below(4) == 0,
            depth_compare: random.below(4) == 0,
            gl_clamp_min: random.below(4) == 0,
            saturates: !audit,
            emulates: false,
            divides: !audit,
            compares: !audit,
            flat_nearest: random.below(4) == 0,
        };
        let bit = |random: &mut Random| u32::from(random.below(100) < plenty);
        let core = vk::PhysicalDeviceFeatures { sampler_anisotropy: bit(&mut random), ..Default::default() };
        let custom = vk::PhysicalDeviceCustomBorderColorFeaturesEXT {
            custom_border_colors: u32::from(on(ash::ext::custom_border_color::NAME)),
            custom_border_color_without_format: bit(&mut random),
            ..Default::default()
        };
        let swizzle = vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT {
            border_color_swizzle: 1,
            border_color_swizzle_from_image: bit(&mut random),
            ..Default::default()
        };
        let seamless =
            vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT { non_seamless_cube_map: 1, ..Default::default() };
        let clamp = vk::PhysicalDeviceCubicClampFeaturesQCOM { cubic_range_clamp: 1, ..Default::default() };
        let weights = vk::PhysicalDeviceCubicWeightsFeaturesQCOM { selectable_cubic_weights: 1, ..Default::default() };
        let buffer = vk::PhysicalDeviceDescriptorBufferFeaturesEXT {
            descriptor_buffer: 1,
            descriptor_buffer_capture_replay: bit(&mut random),
            ..Default::default()
        };
        let subset = vk::PhysicalDevicePortabilitySubsetFeaturesKHR {
            sampler_mip_lod_bias: random.below(2) as u32,
            mutable_comparison_samplers: random.below(2) as u32,
            ..Default::default()
        };
        let (mut memory, mut next) = (Guarded::new(), ptr::null::<c_void>());
        macro_rules! chain {
            ($($node:ident $extension:expr),+) => {
                $(if on($extension) {
                    let mut node = $node;
                    node.p_next = next.cast_mut();
                    next = memory.value(node).cast();
                })+
            };
        }
        chain!(
            custom ash::ext::custom_border_color::NAME,
            swizzle ash::ext::border_color_swizzle::NAME,
            seamless ash::ext::non_seamless_cube_map::NAME,
            clamp ash::qcom::filter_cubic_clamp::NAME,
            weights ash::qcom::filter_cubic_weights::NAME,
            buffer ash::ext::descriptor_buffer::NAME,
            subset ash::khr::portability_subset::NAME
        );
        let caps = DeviceCaps {
            sampler_anisotropy: core.sampler_anisotropy != 0,
            max_sampler_anisotropy: [16.0, 2.0, 1.0][random.below(3) as usize],
            max_sampler_lod_bias: [4.0, 15.0, 0.0][random.below(3) as usize],
            max_sample_mask_words: 0,
            max_sampler_allocation_count: if few_samplers { 6 } else { 1 << 20 },
            sampler_mirror_clamp_to_edge: on(OPTIONAL[0]),
            sampler_filter_minmax: on(OPTIONAL[1]),
            filter_minmax_component_mapping: on(OPTIONAL[1]) && random.below(2) == 0,
            filter_cubic_img: on(OPTIONAL[2]),
            filter_cubic_ext: on(OPTIONAL[3]),
            filter_linear_2d_img: on(OPTIONAL[4]),
            custom_border_colors: on(OPTIONAL[5]),
            custom_border_color_without_format: on(OPTIONAL[5]) && custom.custom_border_color_without_format != 0,
            max_custom_border_color_samplers: match (on(OPTIONAL[5]), few_borders) {
                (false, _) => 0,
                (true, true) => 2,
                (true, false) => 1 << 20,
            },
            border_color_swizzle: on(OPTIONAL[6]),
            border_color_swizzle_from_image: on(OPTIONAL[6]) && swizzle.border_color_swizzle_from_image != 0,
            non_seamless_cube_map: on(OPTIONAL[7]),
            cubic_range_clamp: on(OPTIONAL[8]),
            selectable_cubic_weights: on(OPTIONAL[9]),
            descriptor_buffer_capture_replay: on(OPTIONAL[10]) && buffer.descriptor_buffer_capture_replay != 0,
            max_block_match_window: if on(OPTIONAL[12]) { [64, 64] } else { [0; 2] },
            sampler_mip_lod_bias: !on(OPTIONAL[11]) || subset.sampler_mip_lod_bias != 0,
            mutable_comparison_samplers: !on(OPTIONAL[11]) || subset.mutable_comparison_samplers != 0,
            sampler_ycbcr_conversion: false,
            gl_address_modes: on(OPTIONAL[14]),
            unknown_extension: false,
            // Of version 1.1, and the mock has a later one.
            view_usage: true,
            imageless_framebuffer: false,
            sample_rate_shading: core.sample_rate_shading != 0,
            storage_read_without_format: core.shader_storage_image_read_without_format != 0,
            storage_write_without_format: core.shader_storage_image_write_without_format != 0,
            format_feature_flags2: true,
            shader_draw_parameters: false,
            fragment_stores: core.fragment_stores_and_atomics != 0,
            vertex_stores: core.vertex_pipeline_stores_and_atomics != 0,
            gl_shaders: on(OPTIONAL[15]),
        };
        let mut builder = InstanceBuilder::new()
            .set("mode", if audit { "audit" } else { "legalize" })
            .set("border", if policy.strict_border { "strict" } else { "texels" })
            .set("depth_linear", if policy.depth_compare { "compare" } else { "nearest" })
            .set("samplers", "own")
            .set("aniso_nearest", if policy.flat_nearest { "off" } else { "keep" })
            .set("gl_clamp_rule", if policy.gl_clamp_min { "min" } else { "both" })
            .driver(|driver| {
                driver.extensions.extend([OPTIONAL[2], OPTIONAL[4]]);
                driver.formats.clone_from(&formats);
                driver.max_anisotropy = caps.max_sampler_anisotropy;
                driver.max_lod_bias = caps.max_sampler_lod_bias;
                driver.max_samplers = caps.max_sampler_allocation_count;
                driver.max_custom_borders = if few_borders { 2 } else { 1 << 20 };
                driver.filter_minmax_component_mapping = caps.filter_minmax_component_mapping;
                driver.reuse = if random.below(3) == 0 { Reuse::Never } else { Reuse::AtOnce };
            });
        // By the seed and not drawn, so that sequences are the same with and without.
        if seed % 16 == 3 {
            builder = builder.traced(if seed % 32 == 3 { "all" } else { "decisions" });
        }
        if rules {
            builder = builder.set("config", rules_file().to_str().expect("a path in UTF-8"));
        }
        let instance = builder.instance();
        let device = instance.device(&DeviceInfo { extensions, features: core, chain: next });
        assert_eq!(device.entry().ground.driver.caps, caps, "what the layer found out about the device");
        device.driver.calls();
        // Kept by the thread for tests that look at them.
        crate::driver::ATTEMPTS.take();
        Self {
            random,
            memory,
            device,
            caps,
            policy,
            formats,
            audit,
            limited: few_samplers || few_borders,
            rules,
            samplers: Vec::new(),
            images: Vec::new(),
            views: Vec::new(),
            layouts: Vec::new(),
            pipelines: Vec::new(),
            pools: Vec::new(),
            sets: Vec::new(),
            templates: Vec::new(),
            conversions: HashMap::new(),
            tally: Tally::default(),
            log: Vec::new(),
        }
    }

    /// Does one thing.
    pub(crate) fn step(&mut self) {
        self.tally.calls += 1;
        self.memory = Guarded::new();
        match self.random.below(32) {
            0..4 => self.create_sampler(),
            4 => self.destroy_sampler(),
            5 => self.create_image(),
            6 => self.destroy_image(),
            7..10 => self.create_view(),
            10 => self.destroy_view(),
            11 => self.create_layout(),
            12 => self.destroy_layout(),
            13 => self.create_pipeline_layout(),
            14 => self.create_sets(),
            15 => self.destroy_sets(),
            16 => self.create_template(),
            17 => self.destroy_template(),
            18..23 => self.update(),
            23..25 => self.push(),
            25..28 => self.apply_template(),
            28 => self.get_descriptor(),
            29 => self.blit(),
            30 => self.create_conversion(),
            _ => self.name(),
        }
        let places = self.device.entry().pairs.samplers.cache().with_borders(|borders| borders.taken());
        // Audit and replay hand down what is not enabled.
        let limit = self.caps.max_custom_border_color_samplers;
        assert!(limit == 0 || places <= limit, "{places} places for custom borders are taken");
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    fn index(&mut self, len: usize) -> usize {
        self.random.below(len as u64) as usize
    }

    /// One of so many, if there are any.
    fn some(&mut self, len: usize) -> Option<usize> {
        (len > 0).then(|| self.index(len))
    }

    fn pick<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.index(pool.len())].clone()
    }

    fn say(&mut self, text: String) {
        self.log.push(text);
    }

    fn lend<T: Copy>(&mut self, items: &[T]) -> &'static [T] {
        if items.is_empty() {
            return &[];
        }
        // SAFETY: a copy that lives until the next step, as no user of it does.
        unsafe { std::slice::from_raw_parts(self.memory.slice(items), items.len()) }
    }

    fn lend_one<T: Copy>(&mut self, value: T) -> &'static T {
        &self.lend(&[value])[0]
    }

    fn lend_writes(
        &mut self,
        drawn: &[Drawn],
        set: impl Fn(&Self, &Drawn) -> u64,
    ) -> &'static [vk::WriteDescriptorSet<'static>] {
        let writes: Vec<_> = drawn.iter().map(|write| write.raw(set(self, write), self.lend(&write.infos))).collect();
        self.lend(&writes)
    }

    // ---- samplers ----

    fn create_sampler(&mut self) {
        if self.samplers.len() >= 24 {
            return;
        }
        let drawn = bytes(&mut self.random);
        let mut original = draw::sampler(&mut Dice(&drawn));
        if original.ycbcr.is_some() {
            let handles: Vec<u64> = self.conversions.keys().copied().collect();
            original.ycbcr = (!handles.is_empty()).then(|| {
                let mut handles = handles;
                handles.sort_unstable();
                self.conversions[&handles[self.random.below(handles.len() as u64) as usize]]
            });
        }
        // Often the same as one that lives, so that states are shared.
        if !self.samplers.is_empty() && self.chance(30) {
            let index = self.index(self.samplers.len());
            let twin = self.samplers[index].original;
            if twin.ycbcr.is_none_or(|ycbcr| self.conversions.contains_key(&ycbcr.handle)) {
                original = twin;
            }
        }
        let unknown = match self.random.below(20) {
            0 => Unknown::First,
            1 => Unknown::Last,
            _ => Unknown::None,
        };
        let backwards = self.chance(50);
        let mut out = vk::Sampler::null();
        let info = info_of(&original, (unknown, backwards), &mut self.memory);
        let info = self.lend_one(info);
        let device = &self.device;
        let result = call!(device.create_sampler(device.raw, info, allocator(), &mut out));
        let own = ptr::from_ref(info) as usize;
        let calls = self.calls();
        if result != SUCCESS {
            assert!(self.limited && result == vk::Result::ERROR_TOO_MANY_OBJECTS, "{result:?}");
            self.say(format!("no sampler: {result:?}"));
            return;
        }
        let [Call { args: Args::CreateSampler { info: down, allocator: given, out: at }, .. }] = &calls[..] else {
            panic!("{calls:?}")
        };
        assert_eq!((*given, *at), (allocator() as usize, &raw const out as usize));
        let state = self.state_of(out.as_raw());
        let broken = self.fixable(&original, None);
        let gl = original.address_mode.iter().any(|mode| [0x2900, 0x8742].contains(&mode.as_raw()));
        self.tally.samplers += 1;
        self.tally.changed_at_creation += u64::from(down.at != own);
        if self.audit && !gl {
            assert_eq!(down.at, own, "audit changes nothing");
        } else if broken.is_empty() && !self.limited {
            assert_eq!(down.at, own, "a legal sampler goes down as it is: {original:?}");
        } else if !self.audit {
            let left = self.fixable(&state, None);
            assert!(left.is_empty(), "creation leaves {left:?} of {broken:?}: {state:?}");
        }
        self.say(format!("sampler {:#x} = {original:?}, unknown {unknown:?}, down {state:?}", out.as_raw()));
        self.samplers.push(Sampler {
            handle: out.as_raw(),
            original,
            unknown: unknown != Unknown::None,
            pinned: false,
        });
    }

    fn destroy_sampler(&mut self) {
        if self.chance(5) {
            self.device.destroy_sampler(vk::Sampler::null());
            let calls = self.calls();
            assert!(matches!(&calls[..], [Call { args: Args::Destroy { handle: 0, .. }, .. }]), "{calls:?}");
        }
        let Some(index) = self.some(self.samplers.len()) else { return };
        self.destroy_sampler_at(index);
    }

    fn destroy_sampler_at(&mut self, index: usize) {
        let handle = self.samplers[index].handle;
        let holds = |layout: &Layout| layout.bindings.iter().any(|binding| binding.immutable.contains(&handle));
        if self.layouts.iter().any(|layout| holds(layout)) {
            return;
        }
        self.samplers.swap_remove(index);
        self.sets.iter_mut().for_each(|set| set.slots.retain(|_, slot| slot.sampler != handle));
        self.say(format!("destroy sampler {handle:#x}"));
        self.device.destroy_sampler(vk::Sampler::from_raw(handle));
        self.calls();
        self.verify();
    }

    fn create_conversion(&mut self) {
        if self.conversions.len() >= 2 || !self.formats.iter().any(|(format, _)| *format == PLANAR) {
            return;
        }
        let filter = if self.chance(50) { Filter::LINEAR } else { Filter::NEAREST };
        let info = vk::SamplerYcbcrConversionCreateInfo { p_next: unknown(), ..Default::default() };
        let info = self.lend_one(info.format(PLANAR).chroma_filter(filter));
        let out = self.device.conversion(info);
        let calls = self.calls();
        let [Call { args: Args::CreateConversion { info: down, .. }, .. }] = &calls[..] else { panic!("{calls:?}") };
        let support = self.formats.iter().find(|(format, _)| *format == PLANAR).map(|(_, f)| f.clone()).unwrap();
        let all = support.modifiers.iter().fold(support.optimal | support.linear, |all, (_, f)| all | *f);
        let separate = vk::FormatFeatureFlags2::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER;
        self.conversions.insert(
            out.as_raw(),
            YcbcrConversion {
                handle: out.as_raw(),
                chroma_filter: down.value.chroma_filter,
                separate_reconstruction: all.contains(separate),
                fingerprint: 0,
            },
        );
        self.say(format!("conversion {:#x}", out.as_raw()));
    }

    fn name(&mut self) {
        let Some(index) = self.some(self.samplers.len()) else { return };
        let object = self.samplers[index].handle;
        let names = [c"n1", c"other", c""];
        let name = self.pick(&names);

        self.say(format!("name {object:#x} {name:?}"));
        self.device.name(vk::Sampler::from_raw(object), name);
        self.calls();
    }

    // ---- images and views ----

    fn create_image(&mut self) {
        if self.images.len() >= 10 || self.formats.is_empty() {
            return;
        }
        let index = self.index(self.formats.len());
        let format = self.formats[index].0;
        use vk::ImageType as T;
        let image_type = self.pick(&[T::TYPE_1D, T::TYPE_2D, T::TYPE_2D, T::TYPE_3D]);
        let mut flags = vk::ImageCreateFlags::MUTABLE_FORMAT;
        if image_type == vk::ImageType::TYPE_2D {
            flags |= vk::ImageCreateFlags::CUBE_COMPATIBLE;
            if self.chance(8) {
                flags |= vk::ImageCreateFlags::CORNER_SAMPLED_NV;
            }
            if self.chance(8) && self.device.driver.enabled.iter().any(|name| name == "VK_EXT_fragment_density_map") {
                flags |= vk::ImageCreateFlags::SUBSAMPLED_EXT;
            }
        }
        let usage = vk::ImageUsageFlags::SAMPLED
            | if self.chance(30) { vk::ImageUsageFlags::COLOR_ATTACHMENT } else { vk::ImageUsageFlags::empty() };
        use vk::ImageTiling as Tiling;
        let tilings = [Tiling::OPTIMAL, Tiling::OPTIMAL, Tiling::LINEAR, Tiling::DRM_FORMAT_MODIFIER_EXT];
        let mut image = Image {
            handle: 0,
            format,
            image_type,
            tiling: self.pick(&tilings),
            flags,
            levels: self.pick(&[1, 1, 5]),
            layers: if image_type == vk::ImageType::TYPE_3D { 1 } else { self.pick(&[1, 6, 12]) },
            usage,
        };
        let info = vk::ImageCreateInfo { p_next: unknown(), ..Default::default() }
            .flags(flags)
            .image_type(image_type)
            .format(format)
            .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
            .mip_levels(image.levels)
            .array_layers(image.layers)
            .tiling(image.tiling)
            .usage(usage);
        let info = self.lend_one(info);
        image.handle = self.device.image_with(info).as_raw();
        self.calls();
        self.say(format!("image {:#x} {format:?} {image_type:?} {:?}", image.handle, image.tiling));
        self.images.push(image);
    }

    fn destroy_image(&mut self) {
        let Some(index) = self.some(self.images.len()) else { return };
        let handle = self.images[index].handle;
        if self.views.iter().any(|view| view.image == handle) {
            return;
        }
        self.images.swap_remove(index);
        self.say(format!("destroy image {handle:#x}"));
        self.device.destroy_image(vk::Image::from_raw(handle));
        self.calls();
    }

    fn create_view(&mut self) {
        if self.views.len() >= 24 || self.images.is_empty() {
            return self.create_image();
        }
        use vk::ImageViewType as V;
        let index = self.index(self.images.len());
        let (levels, layers) = (self.images[index].levels, self.images[index].layers);
        let view_type = match self.images[index].image_type {
            vk::ImageType::TYPE_1D => self.pick(&[V::TYPE_1D, V::TYPE_1D_ARRAY]),
            vk::ImageType::TYPE_3D => V::TYPE_3D,
            _ if layers >= 6 => self.pick(&[V::TYPE_2D, V::TYPE_2D_ARRAY, V::CUBE, V::CUBE_ARRAY]),
            _ => self.pick(&[V::TYPE_2D, V::TYPE_2D_ARRAY]),
        };
        let base_mip = self.random.below(u64::from(levels)) as u32;
        let base_layer = if layers == 12 && self.chance(30) { 6 } else { 0 };
        let level_count = self.pick(&[1, vk::REMAINING_MIP_LEVELS]);
        let layer_count = match view_type {
            V::TYPE_1D | V::TYPE_2D | V::TYPE_3D => 1,
            V::CUBE => 6,
            _ => self.pick(&[vk::REMAINING_ARRAY_LAYERS, layers - base_layer]),
        };
        let drawn = bytes(&mut self.random);
        let components =
            if self.chance(60) { [vk::ComponentSwizzle::IDENTITY; 4] } else { draw::swizzle(&mut Dice(&drawn)) };
        let chained = self.chance(3) && !self.conversions.is_empty();
        let stencil_first = self.chance(50);
        let image = &self.images[index];
        let facts = formats::facts(image.format);
        let (aspect, aspect_mask) = match (facts.depth, facts.stencil) {
            (true, true) if stencil_first => (Aspect::Stencil, vk::ImageAspectFlags::STENCIL),
            (false, true) => (Aspect::Stencil, vk::ImageAspectFlags::STENCIL),
            (true, _) => (Aspect::Depth, vk::ImageAspectFlags::DEPTH),
            (false, false) => (Aspect::Color, vk::ImageAspectFlags::COLOR),
        };
        let features = self.features_of(image);
        let [r, g, b, a] = components;
        let mapping = vk::ComponentMapping { r, g, b, a };
        let traits = ViewTraits {
            format: image.format,
            aspect,
            view_type,
            image_type: image.image_type,
            components: normalize_components(mapping),
            features,
            levels: 0,
            single_level: level_count == 1 || base_mip + 1 == levels,
            single_layer: layer_count == 1 || (layer_count == u32::MAX && base_layer + 1 == layers),
            corner_sampled: image.flags.contains(vk::ImageCreateFlags::CORNER_SAMPLED_NV),
            subsampled: image.flags.contains(vk::ImageCreateFlags::SUBSAMPLED_EXT),
            attachment: image.usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT),
            ycbcr: chained || image.format == PLANAR,
            filter_cubic: true,
            filter_cubic_minmax: true,
            reads: Reads::Unknown,
            divide: Divide::Never,
            by_itself: false,
        };
        let handle = self.conversions.keys().next().copied().unwrap_or_default();
        let conversion = vk::SamplerYcbcrConversionInfo {
            p_next: unknown(),
            conversion: vk::SamplerYcbcrConversion::from_raw(handle),
            ..Default::default()
        };
        let image = self.images[index].handle;
        let conversion = self.lend_one(conversion);
        let info = vk::ImageViewCreateInfo {
            p_next: if chained { ptr::from_ref(conversion).cast() } else { unknown() },
            image: vk::Image::from_raw(image),
            view_type,
            format: traits.format,
            components: mapping,
            subresource_range: vk::ImageSubresourceRange {
                aspect_mask,
                base_mip_level: base_mip,
                level_count,
                base_array_layer: base_layer,
                layer_count,
            },
            ..Default::default()
        };
        let info = self.lend_one(info);
        let view = self.device.view_with(info);
        self.calls();
        self.say(format!("view {:#x} = {traits:?}", view.as_raw()));
        self.views.push(View { handle: view.as_raw(), image, traits });
    }

    /// What the driver can do with an image; nothing is known of external formats.
    fn features_of(&self, image: &Image) -> Option<vk::FormatFeatureFlags2> {
        if image.format == vk::Format::UNDEFINED {
            return None;
        }
        let support = self.formats.iter().find(|(format, _)| *format == image.format).map(|(_, f)| f);
        let features = support.and_then(|f| match image.tiling {
            vk::ImageTiling::OPTIMAL => Some(f.optimal),
            vk::ImageTiling::LINEAR => Some(f.linear),
            // The driver gives every image the modifier 9.
            _ => f.modifiers.iter().find(|m| m.0 == 9).map(|m| m.1),
        });
        Some(features.unwrap_or_default())
    }

    fn destroy_view(&mut self) {
        let Some(index) = self.some(self.views.len()) else { return };
        let handle = self.views.swap_remove(index).handle;
        self.sets.iter_mut().for_each(|set| set.slots.retain(|_, slot| slot.view != handle));
        self.say(format!("destroy view {handle:#x}"));
        self.device.destroy_view(vk::ImageView::from_raw(handle));
        self.calls();
        self.verify();
    }

    // ---- layouts and sets ----

    fn create_layout(&mut self) {
        if self.layouts.len() >= 8 {
            return;
        }
        const TYPES: [Ty; 6] = [COMBINED, COMBINED, COMBINED, SAMPLER, IMAGE, Ty::UNIFORM_BUFFER];
        let buffer = self.chance(10) && self.device.fns.get_descriptor.is_some();
        let mut number = 0;
        let mut bindings = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            number += 1 + self.random.below(3) as u32;
            let ty = self.pick(&TYPES);
            let count = self.pick(&[1, 1, 2, 5, 0]);
            let takes = matches!(ty, COMBINED | SAMPLER);
            let immutable = if takes && count > 0 && !self.samplers.is_empty() && self.chance(25) {
                (0..count)
                    .map(|_| {
                        let index = self.index(self.samplers.len());
                        self.samplers[index].handle
                    })
                    .collect()
            } else {
                Vec::new()
            };
            bindings.push(Binding { number, ty, count, immutable });
        }
        let handles: Vec<Vec<vk::Sampler>> = bindings
            .iter()
            .map(|binding| binding.immutable.iter().map(|handle| vk::Sampler::from_raw(*handle)).collect())
            .collect();
        let handles: Vec<_> = handles.iter().map(|handles| self.lend(handles)).collect();
        let mut infos: Vec<_> = bindings
            .iter()
            .zip(&handles)
            .map(|(of, handles)| vk::DescriptorSetLayoutBinding {
                p_immutable_samplers: match () {
                    () if !handles.is_empty() => handles.as_ptr(),
                    // Ignored for types that take no samplers, and without descriptors.
                    () if of.ty == Ty::UNIFORM_BUFFER || of.ty == IMAGE || of.count == 0 => dangling(),
                    () => ptr::null(),
                },
                ..binding(of.number, of.ty, of.count)
            })
            .collect();
        // Their order means nothing.
        if self.chance(50) {
            infos.reverse();
        }
        let mut info = vk::DescriptorSetLayoutCreateInfo { p_next: unknown(), ..Default::default() };
        info = info.bindings(self.lend(&infos));
        if buffer {
            info.flags = vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT;
            for sampler in &mut self.samplers {
                sampler.pinned |= bindings.iter().any(|binding| binding.immutable.contains(&sampler.handle));
            }
        }
        let info = self.lend_one(info);
        let handle = self.device.layout_of(info).as_raw();
        self.calls();
        let text: Vec<_> = bindings.iter().map(|b| (b.number, b.ty.as_raw(), b.count, &b.immutable)).collect();
        let text = format!("layout {handle:#x} {text:x?} buffer {buffer}");
        self.say(text);
        self.layouts.push(Rc::new(Layout { handle, bindings }));
    }

    fn destroy_layout(&mut self) {
        // Pipeline layouts first: they share set layouts.
        if !self.pipelines.is_empty() && self.chance(50) {
            let index = self.index(self.pipelines.len());
            if Rc::strong_count(&self.pipelines[index]) == 1 {
                let gone = self.pipelines.swap_remove(index);
                let device = &self.device;
                device.destroy_pipeline_layout(vk::PipelineLayout::from_raw(gone.handle));
                self.calls();
            }
        }
        let Some(index) = self.some(self.layouts.len()) else { return };
        if Rc::strong_count(&self.layouts[index]) == 1 {
            let gone = self.layouts.swap_remove(index);
            self.say(format!("destroy layout {:#x}", gone.handle));
            let device = &self.device;
            device.destroy_layout(vk::DescriptorSetLayout::from_raw(gone.handle));
            self.calls();
        }
    }

    fn some_layouts(&mut self) -> (Vec<Rc<Layout>>, Vec<vk::DescriptorSetLayout>) {
        let all = self.layouts.clone();
        let some: Vec<_> = (0..1 + self.random.below(3)).map(|_| self.pick(&all)).collect();
        let handles = some.iter().map(|layout| vk::DescriptorSetLayout::from_raw(layout.handle)).collect();
        (some, handles)
    }

    fn create_pipeline_layout(&mut self) {
        if self.layouts.is_empty() || self.pipelines.len() >= 6 {
            return;
        }
        let (sets, handles) = self.some_layouts();
        let info = vk::PipelineLayoutCreateInfo { p_next: unknown(), ..Default::default() };
        let info = info.set_layouts(self.lend(&handles));
        let (info, device) = (self.lend_one(info), &self.device);
        let handle = create!(device.create_pipeline_layout(info)).as_raw();
        self.calls();
        self.say(format!("pipeline layout {handle:#x} {handles:x?}"));
        self.pipelines.push(Rc::new(PipelineLayout { handle, sets }));
    }

    fn create_sets(&mut self) {
        if self.layouts.is_empty() || self.sets.len() >= 16 {
            return self.create_layout();
        }
        if self.pools.is_empty() || (self.pools.len() < 3 && self.chance(30)) {
            let pool = self.device.pool().as_raw();
            self.pools.push(pool);
        }
        let pool = self.pick(&self.pools.clone());
        let (layouts, handles) = self.some_layouts();
        let handles = self.lend(&handles);
        let made = self.device.sets(vk::DescriptorPool::from_raw(pool), handles);
        self.calls();
        self.say(format!("sets {made:x?} of {handles:x?} from {pool:#x}"));
        self.sets.extend(layouts.into_iter().zip(made).map(|(layout, set)| Set {
            handle: set.as_raw(),
            pool,
            layout,
            slots: HashMap::new(),
        }));
    }

    fn destroy_sets(&mut self) {
        let Some(index) = self.some(self.pools.len()) else { return };
        let pool = self.pools[index];
        let raw = vk::DescriptorPool::from_raw(pool);
        let kind = self.random.below(4);
        self.say(format!("pool {pool:#x}: {kind}"));
        let device = &self.device;
        match kind {
            0 => {
                self.sets.retain(|set| set.pool != pool);
                device.reset_pool(raw);
            }
            1 => {
                self.sets.retain(|set| set.pool != pool);
                self.pools.swap_remove(index);
                device.destroy_pool(raw);
            }
            _ => {
                let Some(set) = self.sets.iter().position(|set| set.pool == pool) else { return };
                let gone = self.sets.swap_remove(set);
                // Null ones are ignored.
                let sets = self.lend(&[vk::DescriptorSet::null(), vk::DescriptorSet::from_raw(gone.handle)]);
                self.device.free(raw, sets);
            }
        }
        self.calls();
    }

    // ---- writes ----

    /// A pair for a descriptor: sometimes without a view, and with an ignored sampler where the binding has its own.
    fn draw_pair(&mut self, of: &Binding) -> Option<vk::DescriptorImageInfo> {
        let view = match self.views.len() {
            0 => vk::ImageView::null(),
            _ if self.chance(4) => vk::ImageView::null(),
            len => {
                let index = self.index(len);
                vk::ImageView::from_raw(self.views[index].handle)
            }
        };
        if !of.immutable.is_empty() {
            let ignored = GARBAGE[self.index(GARBAGE.len())];
            return Some(pair(vk::Sampler::from_raw(ignored), view));
        }
        if self.samplers.is_empty() {
            return None;
        }
        let index = self.index(self.samplers.len());
        Some(pair(vk::Sampler::from_raw(self.samplers[index].handle), view))
    }

    /// A range of elements of a layout: binding, first element, count; the type and use of immutable samplers are the same for
    /// all of them.
    fn draw_range(&mut self, layout: &Layout) -> Option<(u32, u32, u32)> {
        let with: Vec<usize> = (0..layout.bindings.len()).filter(|at| layout.bindings[*at].count > 0).collect();
        if with.is_empty() {
            return None;
        }
        let at = self.pick(&with);
        let first = &layout.bindings[at];
        let element = self.random.below(u64::from(first.count)) as u32;
        let mut room = first.count - element;
        for next in &layout.bindings[at + 1..] {
            if next.ty != first.ty || next.immutable.is_empty() != first.immutable.is_empty() {
                break;
            }
            room += next.count;
        }
        let count = 1 + self.random.below(u64::from(room)) as u32;
        Some((first.number, element, count))
    }

    /// Writes to some of these layouts, each with a number of its own.
    fn draw_writes(&mut self, most: u64, mut layout: impl FnMut(&mut Self) -> (usize, Rc<Layout>)) -> Vec<Drawn> {
        let mut drawn = Vec::new();
        for _ in 0..self.random.below(most) {
            let (to, layout) = layout(self);
            let Some((number, element, count)) = self.draw_range(&layout) else { continue };
            let Some((of, _)) = layout.resolve(number, 0) else { continue };
            let infos: Option<Vec<_>> = (0..count).map(|_| self.draw_pair(of)).collect();
            let Some(infos) = infos else { continue };
            drawn.push(Drawn { to, number, element, ty: of.ty, infos });
        }
        drawn
    }

    fn update(&mut self) {
        if self.sets.is_empty() {
            return self.create_sets();
        }
        let drawn = self.draw_writes(5, |own| {
            let set = own.index(own.sets.len());
            (set, Rc::clone(&own.sets[set].layout))
        });
        let writes = self.lend_writes(&drawn, |own, write| own.sets[write.to].handle);
        let copies = self.draw_copies();
        let raw_copies = self.lend(&copies.iter().map(|(copy, ..)| *copy).collect::<Vec<_>>());
        self.say(format!("update {drawn:x?} copies {raw_copies:x?}"));
        self.device.update(writes, raw_copies);
        let to = |write: &Drawn| {
            let set = &self.sets[write.to];
            Destination { layout: Rc::clone(&set.layout), set: Some(set.handle) }
        };
        let given: Vec<_> = drawn.iter().flat_map(|write| write.pairs(&to(write))).collect();
        let calls = self.calls();
        let [Call { args: Args::Update { writes: down, copies: copied }, .. }] = &calls[..] else {
            panic!("{calls:?}")
        };
        assert_eq!(copied.at, raw_copies.as_ptr() as usize, "copies go down as they are");
        let changed = self.receive(&given, &calls);
        assert_alike(changed, writes, down);
        for (_, from, to) in copies {
            let slot = self.sets[from.0].slots.get(&from.1).copied();
            match slot {
                Some(slot) => self.sets[to.0].slots.insert(to.1, slot),
                None => self.sets[to.0].slots.remove(&to.1),
            };
        }
    }

    /// Copies of single descriptors between combined image samplers without immutable samplers.
    #[allow(clippy::type_complexity, reason = "source and target, each a set's index and a place in it")]
    fn draw_copies(&mut self) -> Vec<(vk::CopyDescriptorSet<'static>, (usize, (u32, u64)), (usize, (u32, u64)))> {
        let mut out = Vec::new();
        let plain = |set: &Set| -> Vec<(u32, u64)> {
            let of = set.layout.bindings.iter().filter(|b| b.ty == COMBINED && b.immutable.is_empty());
            of.flat_map(|b| (0..u64::from(b.count)).map(|element| (b.number, element))).collect()
        };
        for _ in 0..self.random.below(3) {
            let (from, to) = (self.index(self.sets.len()), self.index(self.sets.len()));
            let (sources, targets) = (plain(&self.sets[from]), plain(&self.sets[to]));
            if sources.is_empty() || targets.is_empty() {
                continue;
            }
            let (source, target) = (self.pick(&sources), self.pick(&targets));
            if (from, source) == (to, target) {
                continue;
            }
            let copy = vk::CopyDescriptorSet {
                src_set: vk::DescriptorSet::from_raw(self.sets[from].handle),
                src_binding: source.0,
                src_array_element: source.1 as u32,
                dst_set: vk::DescriptorSet::from_raw(self.sets[to].handle),
                dst_binding: target.0,
                dst_array_element: target.1 as u32,
                descriptor_count: 1,
                ..Default::default()
            };
            out.push((copy, (from, source), (to, target)));
        }
        out
    }

    fn push(&mut self) {
        let Some(index) = self.some(self.pipelines.len()) else { return self.create_pipeline_layout() };
        let pipeline = Rc::clone(&self.pipelines[index]);
        let number = self.index(pipeline.sets.len());
        let layout = Rc::clone(&pipeline.sets[number]);
        let drawn = self.draw_writes(4, |_| (0, Rc::clone(&layout)));
        // The set is ignored by pushes.
        let writes = self.lend_writes(&drawn, |_, _| dangling_handle());
        let raw = vk::PipelineLayout::from_raw(pipeline.handle);
        let info = vk::PushDescriptorSetInfoKHR { p_next: unknown(), ..Default::default() }
            .stage_flags(Stage::ALL)
            .layout(raw)
            .set(number as u32)
            .descriptor_writes(writes);
        let info = self.lend_one(info);
        self.say(format!("push {drawn:x?} set {number} of {:#x}", pipeline.handle));
        if self.chance(50) {
            self.device.push(raw, number as u32, writes);
        } else {
            self.device.push2(info);
        }
        let to = Destination { layout, set: None };
        let given: Vec<_> = drawn.iter().flat_map(|write| write.pairs(&to)).collect();
        let calls = self.calls();
        let changed = self.receive(&given, &calls);
        let down = match &calls[..] {
            [Call { args: Args::Push { writes, layout, set }, .. }] => {
                assert_eq!((*layout, *set), (pipeline.handle, number as u32));
                writes
            }
            [Call { args: Args::Push2 { writes, info: down }, .. }] => {
                assert!(changed || down.at == ptr::from_ref(info) as usize, "what is legal goes down as it is");
                let p_descriptor_writes = info.p_descriptor_writes;
                assert_same(vk::PushDescriptorSetInfoKHR { p_descriptor_writes, ..down.value }, info);
                writes
            }
            _ => panic!("{calls:?}"),
        };
        assert_alike(changed, writes, down);
    }

    // ---- templates ----

    fn create_template(&mut self) {
        if self.templates.len() >= 8 {
            return;
        }
        let pushes = self.chance(50);
        let target = if pushes {
            let Some(index) = self.some(self.pipelines.len()) else { return self.create_pipeline_layout() };
            let pipeline = Rc::clone(&self.pipelines[index]);
            let number = self.index(pipeline.sets.len()) as u32;
            Target::Push(pipeline, number)
        } else {
            let Some(index) = self.some(self.layouts.len()) else { return self.create_layout() };
            Target::Sets(Rc::clone(&self.layouts[index]))
        };
        let layout = target.layout();
        let mut entries: Vec<vk::DescriptorUpdateTemplateEntry> = Vec::new();
        let mut end = self.random.below(3) as usize * 8;
        for _ in 0..1 + self.random.below(4) {
            let Some((number, element, count)) = self.draw_range(&layout) else { continue };
            let Some((of, _)) = layout.resolve(number, 0) else { continue };
            let stride = self.pick(&[INFO, INFO, 32, 64, 28]);
            // Two entries may read the same bytes.
            let own = |e: &&vk::DescriptorUpdateTemplateEntry| {
                let used = layout.resolve(e.dst_binding, 0).is_some_and(|(of, _)| of.immutable.is_empty());
                used && e.descriptor_type == COMBINED
            };
            let same = entries.iter().rfind(own).copied().filter(|_| of.immutable.is_empty());
            let shared = |e: &vk::DescriptorUpdateTemplateEntry| count <= e.descriptor_count && stride == e.stride;
            let offset = match same {
                Some(same) if shared(&same) && matches!(of.ty, SAMPLER | COMBINED) && self.chance(50) => same.offset,
                _ => {
                    let start = end + self.random.below(2) as usize * 8;
                    end = start + stride * count as usize;
                    start
                }
            };
            entries.push(entry(number, element, count, of.ty, offset, stride));
        }
        if entries.is_empty() {
            return;
        }
        let lent = self.lend(&entries);
        let handle = match &target {
            Target::Sets(layout) => self.device.template(vk::DescriptorSetLayout::from_raw(layout.handle), lent),
            Target::Push(pipeline, set) => {
                let info = vk::DescriptorUpdateTemplateCreateInfo::default()
                    .descriptor_update_entries(lent)
                    .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
                    .pipeline_bind_point(GRAPHICS)
                    // Ignored for this type.
                    .descriptor_set_layout(vk::DescriptorSetLayout::from_raw(dangling_handle()))
                    .pipeline_layout(vk::PipelineLayout::from_raw(pipeline.handle))
                    .set(*set);
                self.device.template_of(&info)
            }
        };
        self.calls();
        self.say(format!("template {:#x} push {pushes} {entries:?}", handle.as_raw()));
        let size = entries.iter().map(|e| e.offset + e.stride * e.descriptor_count as usize).max().unwrap_or(0) + 64;
        self.templates.push(Template { handle: handle.as_raw(), target, entries, size });
    }

    fn destroy_template(&mut self) {
        let Some(index) = self.some(self.templates.len()) else { return };
        let gone = self.templates.swap_remove(index);
        self.say(format!("destroy template {:#x}", gone.handle));
        let device = &self.device;
        device.destroy_template(vk::DescriptorUpdateTemplate::from_raw(gone.handle));
        self.calls();
    }

    fn apply_template(&mut self) {
        let Some(index) = self.some(self.templates.len()) else { return self.create_template() };
        let template = self.templates.swap_remove(index);
        self.apply(&template);
        self.templates.push(template);
    }

    fn apply(&mut self, template: &Template) {
        let layout = template.target.layout();
        // Everything that no entry describes is garbage.
        let mut data = vec![0xa5_u8; template.size];
        for entry in &template.entries {
            let Some((of, _)) = layout.resolve(entry.dst_binding, 0) else { return };
            for index in 0..entry.descriptor_count as usize {
                let Some(info) = self.draw_pair(of) else { return };
                put(&mut data, entry.offset + index * entry.stride, &info);
            }
        }
        // Read again: where entries share bytes the last one counts.
        let mut given = Vec::new();
        let to = |set| Destination { layout: Rc::clone(&layout), set };
        let raw = vk::DescriptorUpdateTemplate::from_raw(template.handle);
        let (set, handle) = match &template.target {
            Target::Sets(layout) => {
                let fitting: Vec<u64> =
                    self.sets.iter().filter(|set| Rc::ptr_eq(&set.layout, layout)).map(|set| set.handle).collect();
                if fitting.is_empty() {
                    return;
                }
                let set = self.pick(&fitting);
                (Some(set), set)
            }
            Target::Push(pipeline, _) => (None, pipeline.handle),
        };
        for entry in template.entries.iter().filter(|entry| entry.descriptor_type == COMBINED) {
            for index in 0..entry.descriptor_count as usize {
                let at = entry.offset + index * entry.stride;
                // SAFETY: the block has room for every element; any bits are a valid image info.
                let info = unsafe { data.as_ptr().add(at).cast::<vk::DescriptorImageInfo>().read_unaligned() };
                given.push((to(set), entry.dst_binding, u64::from(entry.dst_array_element) + index as u64, info));
            }
        }
        let text: Vec<_> = given.iter().map(|g| (g.1, g.2, g.3)).collect();
        let text = format!("apply {:#x} to {handle:#x}: {text:x?}", template.handle);
        self.say(text);
        let pointer = self.lend(&data).as_ptr().cast::<c_void>();
        let number = if let Target::Push(_, number) = template.target { number } else { 0 };
        let info =
            vk::PushDescriptorSetWithTemplateInfoKHR { p_next: unknown(), p_data: pointer, ..Default::default() }
                .descriptor_update_template(raw)
                .layout(vk::PipelineLayout::from_raw(handle))
                .set(number);
        let info = self.lend_one(info);
        let device = &self.device;
        match &template.target {
            Target::Sets(_) => device.update_with_template(vk::DescriptorSet::from_raw(handle), raw, pointer),
            Target::Push(_, number) => {
                let layout = vk::PipelineLayout::from_raw(handle);
                if self.random.below(2) == 0 {
                    call!(device.push_with_template(device.commands, raw, layout, *number, pointer));
                } else {
                    call!(device.push_with_template2(device.commands, info));
                }
            }
        }
        let calls = self.calls();
        let changed = self.receive_with(&given, &calls, &template.entries);
        let (at, elements) = match &calls[0].args {
            Args::Template { target, template: used, data, elements } => {
                assert_eq!((*target, *used), (set.unwrap_or(number.into()), template.handle));
                (*data, elements)
            }
            Args::Template2 { info: down, elements } => {
                assert_same(vk::PushDescriptorSetWithTemplateInfoKHR { p_data: pointer, ..down.value }, info);
                let is_copy = down.value.p_data != pointer;
                assert_eq!(down.at != ptr::from_ref(info) as usize, is_copy, "copied only to be changed");
                (down.value.p_data as usize, elements)
            }
            _ => panic!("{calls:?}"),
        };
        assert!(changed || (at, calls.len()) == (pointer as usize, 1), "legal data goes down as it is");
        // SAFETY: lent for this step.
        let lent = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), data.len()) };
        assert_elements(at, elements, &template.entries, lent);
    }

    // ---- the rest ----

    fn get_descriptor(&mut self) {
        let Some(info) = self.draw_pair(&Binding { number: 0, ty: COMBINED, count: 1, immutable: Vec::new() }) else {
            return;
        };
        self.say(format!("get descriptor {info:x?}"));
        let info = self.lend_one(info);
        let get = vk::DescriptorGetInfoEXT {
            p_next: unknown(),
            ty: COMBINED,
            data: vk::DescriptorDataEXT { p_combined_image_sampler: info },
            ..Default::default()
        };
        let of_view = vk::ImageViewHandleInfoNVX { p_next: unknown(), ..handle_info(COMBINED, info) };
        let (get, of_view) = (self.lend_one(get), self.lend_one(of_view));
        let device = &self.device;
        let (down, same) = if device.fns.get_descriptor.is_some() && self.random.below(2) == 0 {
            let mut out = [0_u64; 4];
            call!(device.get_descriptor(device.raw, get, 32, out.as_mut_ptr().cast()));
            let calls = self.calls();
            let [Call { args: Args::GetDescriptor { info: arrived, image: Some((at, image)), .. }, .. }] = &calls[..]
            else {
                panic!("{calls:?}")
            };
            assert_eq!((arrived.value.p_next, arrived.value.ty), (get.p_next, COMBINED));
            assert_same(vk::DescriptorImageInfo { sampler: info.sampler, ..*image }, info);
            assert_eq!(out[0], image.sampler.as_raw(), "the descriptor is the driver's");
            let is_own = *at == ptr::from_ref(info) as usize;
            assert_eq!(is_own, arrived.at == ptr::from_ref(get) as usize);
            (image.sampler.as_raw(), is_own)
        } else {
            let handles = [
                call!(device.get_view_handle(device.raw, of_view)).into(),
                call!(device.get_view_handle64(device.raw, of_view)),
            ];
            let calls = self.calls();
            let [
                Call { args: Args::ViewHandle { info: one }, .. },
                Call { args: Args::ViewHandle { info: other }, .. },
            ] = &calls[..]
            else {
                panic!("{calls:?}")
            };
            let down = one.value.sampler;
            assert_eq!(handles, [down.as_raw() & u64::from(u32::MAX), down.as_raw()], "the handle is the driver's");
            for arrived in [one, other] {
                assert_same(arrived.value, vk::ImageViewHandleInfoNVX { sampler: down, ..*of_view });
                assert_eq!(arrived.at == ptr::from_ref(of_view) as usize, down == info.sampler);
            }
            (down.as_raw(), down == info.sampler)
        };
        self.judge(info.sampler.as_raw(), info.image_view.as_raw(), down);
        assert_eq!(same, down == info.sampler.as_raw(), "a legal pair goes down as it is");
    }

    fn blit(&mut self) {
        let Some(index) = self.some(self.images.len()) else { return };
        let filter = self.pick(&[Filter::NEAREST, Filter::LINEAR, Filter::LINEAR, Filter::CUBIC_EXT]);
        let image = &self.images[index];
        let features = self.features_of(image);
        let source = BlitSource { format: image.format, image_type: image.image_type, features };
        let raw = vk::Image::from_raw(image.handle);
        let general = vk::ImageLayout::GENERAL;
        let regions = self.lend(&[vk::ImageBlit::default(); 2]);
        let info = vk::BlitImageInfo2 { p_next: unknown(), ..Default::default() }
            .src_image(raw)
            .src_image_layout(general)
            .dst_image(raw)
            .dst_image_layout(general)
            .regions(self.lend(&[vk::ImageBlit2::default(); 2]))
            .filter(filter);
        let info = self.lend_one(info);
        let device = &self.device;
        let down = if self.random.below(2) == 0 {
            call!(device.blit(device.commands, raw, general, raw, general, 2, regions.as_ptr(), filter));
            match &self.calls()[..] {
                [Call { args: Args::Blit { filter, source, regions: at }, .. }] => {
                    assert_eq!((*source, *at), (raw.as_raw(), regions.as_ptr() as usize));
                    *filter
                }
                calls => panic!("{calls:?}"),
            }
        } else {
            call!(device.blit2(device.commands, info));
            match &self.calls()[..] {
                [Call { args: Args::Blit2 { info: down }, .. }] => {
                    assert_eq!(down.value.filter == filter, down.at == ptr::from_ref(info) as usize);
                    assert_same(vk::BlitImageInfo2 { filter, ..down.value }, info);
                    down.value.filter
                }
                calls => panic!("{calls:?}"),
            }
        };
        self.tally.blits += 1;
        let broken = blit_violations(filter, &source);
        if self.audit || broken.is_empty() {
            assert_eq!(down, filter, "{source:?}");
        } else {
            assert_eq!(blit_violations(down, &source), [""; 0], "{broken:?} {source:?}");
        }
    }

    // ---- judging ----

    /// The calls of the driver since the last look, without those that the layer makes for itself.
    fn calls(&self) -> Vec<Call> {
        let own = |call: &Call| match &call.args {
            Args::CreateSampler { allocator, .. } => *allocator == 0,
            Args::Destroy { allocator, .. } => *allocator == 0,
            _ => call.command == c"vkGetImageDrmFormatModifierPropertiesEXT",
        };
        self.device.driver.calls().into_iter().filter(|call| !own(call)).collect()
    }

    fn state_of(&self, handle: u64) -> SamplerState {
        let model = self.device.driver.sampler(handle);
        read_back(&model.unwrap_or_else(|| panic!("sampler {handle:#x} does not live")), &self.conversions)
    }

    fn fixable(&self, state: &SamplerState, view: Option<&ViewTraits>) -> Vec<&'static str> {
        fixable(&violations(state, view, view.is_some(), &self.caps, &self.policy))
    }

    fn receive(&mut self, given: &[Given], calls: &[Call]) -> bool {
        self.receive_with(given, calls, &[])
    }

    /// Judges every pair that was given by what has arrived for its place in the end, and remembers it. Tells whether any
    /// sampler is another.
    fn receive_with(&mut self, given: &[Given], calls: &[Call], entries: &[vk::DescriptorUpdateTemplateEntry]) -> bool {
        // By set, binding and element; later calls overwrite earlier ones.
        let mut arrived: HashMap<(u64, u32, u64), vk::DescriptorImageInfo> = HashMap::new();
        let mut wanted: HashMap<(u64, u32, u64), (Destination, vk::DescriptorImageInfo)> = HashMap::new();
        for (to, number, element, info) in given {
            let (of, element) = to.layout.resolve(*number, *element).expect("within the layout");
            wanted.insert((to.set.unwrap_or(0), of.number, element), (to.clone(), *info));
        }
        let layouts: HashMap<u64, Rc<Layout>> =
            given.iter().map(|(to, ..)| (to.set.unwrap_or(0), Rc::clone(&to.layout))).collect();
        let mut put = |set: u64, number: u32, element: u64, info: vk::DescriptorImageInfo| {
            let layout = layouts.get(&set).expect("nothing arrives that was not given");
            let (of, element) = layout.resolve(number, element).expect("within the layout");
            arrived.insert((set, of.number, element), info);
        };
        for call in calls {
            match &call.args {
                Args::Update { writes, .. } | Args::Push { writes, .. } | Args::Push2 { writes, .. } => {
                    let to_set = matches!(&call.args, Args::Update { .. });
                    for write in &writes.items {
                        for (at, info) in write.images.iter().enumerate() {
                            let set = if to_set { write.raw.dst_set.as_raw() } else { 0 };
                            put(set, write.raw.dst_binding, u64::from(write.raw.dst_array_element) + at as u64, *info);
                        }
                    }
                }
                Args::Template { elements, .. } | Args::Template2 { elements, .. } => {
                    let set = match &call.args {
                        Args::Template { target, .. } if call.command == c"vkUpdateDescriptorSetWithTemplate" => {
                            *target
                        }
                        _ => 0,
                    };
                    for element in elements {
                        let entry = &entries[element.entry];
                        if let (Some(info), true) = (element.image, entry.descriptor_type == COMBINED) {
                            let at = u64::from(entry.dst_array_element) + element.index as u64;
                            put(set, entry.dst_binding, at, info);
                        }
                    }
                }
                _ => panic!("{call:?}"),
            }
        }
        assert_eq!(arrived.len(), wanted.len());
        // A place that was given twice may have seen a change that nothing is left of.
        let mut changed = wanted.len() != given.len();
        for ((set, number, element), (to, info)) in wanted {
            let down = arrived[&(set, number, element)];
            assert_eq!((down.image_view, down.image_layout), (info.image_view, info.image_layout));
            let (sampler, view, down) = (info.sampler.as_raw(), info.image_view.as_raw(), down.sampler.as_raw());
            changed |= down != sampler;
            let (of, _) = to.layout.resolve(number, 0).expect("within the layout");
            if !of.immutable.is_empty() {
                assert_eq!(down, sampler, "a sampler that is ignored goes down as it is");
                continue;
            }
            self.judge(sampler, view, down);
            if let Some(set) = self.sets.iter().position(|other| to.set == Some(other.handle)) {
                let slot = Slot { sampler, view, down, state: self.state_of(down) };
                self.sets[set].slots.insert((number, element), slot);
            }
        }
        changed
    }

    /// Whether the driver was given the right sampler for a pair.
    fn judge(&mut self, sampler: u64, view: u64, down: u64) {
        self.tally.pairs += 1;
        self.tally.repaired += u64::from(sampler != down);
        let given = self.samplers.iter().find(|other| other.handle == sampler).expect("a live sampler");
        let Some(view) = self.views.iter().find(|other| other.handle == view) else {
            assert_eq!(down, sampler, "without a view nothing changes");
            return;
        };
        let gl = given.original.address_mode.iter().any(|mode| [0x2900, 0x8742].contains(&mode.as_raw()));
        if self.audit {
            assert!(down == sampler || gl, "audit changes nothing");
            return;
        }
        let state = self.state_of(down);
        let exempt = given.original.ycbcr.is_some() || view.traits.ycbcr;
        let replays = replays(&given.original, &self.caps);
        if given.unknown || given.pinned || replays || (exempt && !self.rules) {
            assert_eq!(down, sampler, "{:?} with {:?} is never exchanged", given.original, view.traits);
            return;
        }
        let gave_up = self.limited && down == sampler;
        let mut left = self.fixable(&state, Some(&view.traits));
        if !(0..=5).contains(&given.original.border_color.as_raw()) && !decide::is_custom(given.original.border_color) {
            // A colour of no enumeration that no address mode reaches has no kind, and may be shared with one that has.
            left.retain(|id| !["B-50", "B-51"].contains(id));
        }
        assert!(
            left.is_empty() || gave_up,
            "{left:?}: {:?}\nwith {:?}\narrives as {down:#x} {state:?}\non {:?} {:?}",
            given.original,
            view.traits,
            self.caps,
            self.policy
        );
        if self.rules {
            return;
        }
        if self.fixable(&given.original, Some(&view.traits)).is_empty() && !self.limited {
            assert_eq!(down, sampler, "a legal pair is exchanged: {:?} with {:?}", given.original, view.traits);
        }
        if !self.limited {
            let decided = decide::pair(&given.original, &view.traits, &self.caps, &self.policy).state;
            assert_eq!(state.key(), decided.key(), "what was decided is not what arrives");
        }
    }

    /// Every descriptor whose sampler and view live still has the sampler that it was given, as it was.
    fn verify(&mut self) {
        for set in &self.sets {
            for (place, slot) in &set.slots {
                let model = self.device.driver.sampler(slot.down);
                let now = model.map(|model| read_back(&model, &self.conversions));
                let same = now.is_some_and(|now| replay::identical(&now, &slot.state));
                assert!(same, "{:#x} in set {:#x} at {place:?} is gone: {now:?}", slot.down, set.handle);
                self.tally.kept_while_alive += 1;
            }
        }
    }

    /// Destroys everything and checks that nothing is left.
    pub(crate) fn finish(mut self) -> Tally {
        self.verify();
        assert!(!self.device.entry().ground.is_broken(), "a hook panicked");
        self.device.destroy_all();
        assert_nothing_left(&self.device, "at the end");
        self.device.finish();
        self.tally
    }
}

impl Target {
    fn layout(&self) -> Rc<Layout> {
        match self {
            Self::Sets(layout) => Rc::clone(layout),
            Self::Push(pipeline, set) => Rc::clone(&pipeline.sets[*set as usize]),
        }
    }
}

/// Enough bytes for the largest drawing.
fn bytes(random: &mut Random) -> Vec<u8> {
    (0..45).flat_map(|_| (random.below(u64::MAX >> 11)).to_le_bytes().into_iter().take(6)).chain([0; 90]).collect()
}

/// The rules file of this process, written once.
fn rules_file() -> PathBuf {
    static FILE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let file = FILE.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("samplin-fuzz-{}.toml", std::process::id()));
        std::fs::write(&path, RULES).expect("writes the rules");
        path
    });
    file.clone()
}
