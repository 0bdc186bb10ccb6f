//! What many programs share: images, layouts, pipelines and buffers, made on a device from the number of their block.

use super::catalog::{self, CODES, DEFINITIONS, FRAME, Slot, Texel};
use super::model::{self, DYNAMIC, Dynamic, FIXED, IMAGES, Mode, Pass, Pipeline, SIZE, State};
use crate::*;
use fastrand::Rng;
use samplin_compiler::{Language, compile};
use samplin_testkit::descriptor::{Spelling, Template};
use samplin_testkit::shader::{
    COLOUR, ShaderModule, Target, attachment, covering, link_graphics, make_compute, make_graphics, pipeline_layout,
};
use samplin_testkit::{Buffer, ImageDesc, ViewDesc};

/// Words of a part of the results; two parts.
pub(super) const RESULTS: usize = SLOTS * catalog::SLOT;
/// Draws of a program.
pub(super) const SLOTS: usize = 160;
/// Words between two values of the uniform buffer, as far apart as any device needs for offsets, and how many there are.
pub(super) const STEP: u32 = 64;
pub(super) const UNIFORMS: u32 = 16;
/// Bytes of a descriptor in the data of a template.
pub(super) const DATA: usize = 24;

/// The value of the uniform buffer at an offset in words.
pub(super) fn uniform(at: u32) -> u32 {
    0xb000 + at / STEP
}

/// What programs may use.
#[derive(Clone, Copy)]
pub(super) struct Abilities {
    pub(super) push: bool,
    pub(super) late: bool,
    pub(super) index: bool,
    pub(super) rendering: bool,
    pub(super) objects: bool,
    pub(super) libraries: bool,
    pub(super) null_sets: bool,
    /// Sets are bound that have descriptors which nobody has written or which are gone, and which nobody reads.
    pub(super) holes: bool,
    /// What is pushed for one bind point leaves the other as it was. Lavapipe 22 pushes to all stages of the layout, over the application's
    /// sets and the layer's.
    pub(super) pushes_apart: bool,
}

/// Whether the validation layer remembers samplers of another set than the image's, and takes them for those that are bound now.
fn remembers_samplers(context: &Context) -> bool {
    // SAFETY: global command of a loaded loader.
    let layers = unsafe { context.entry().enumerate_instance_layer_properties() }.unwrap_or_default();
    let name = samplin_testkit::layer::VALIDATION.as_bytes();
    let is_it = |layer: &&vk::LayerProperties| layer.layer_name_as_c_str().is_ok_and(|own| own.to_bytes() == name);
    layers.iter().find(is_it).is_some_and(|layer| layer.spec_version < vk::make_api_version(0, 1, 3, 240))
}

/// What is known of a driver that makes legal programs fail.
struct Driver {
    /// It goes through all descriptors of a set that is bound, read or not, as lavapipe does up to Mesa 22.
    reads_all: bool,
    /// A bind of a compute shader object takes static states from the graphics pipeline that is bound, as NVIDIA's does (580).
    loses_statics: bool,
}

fn driver(context: &Context) -> Driver {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: the version is 1.2 at least.
    unsafe { context.instance().get_physical_device_properties2(context.physical_device(), &mut properties) };
    let info = driver.driver_info_as_c_str().map_or_else(|_| String::new(), |info| info.to_string_lossy().into_owned());
    Driver {
        reads_all: driver.driver_id == vk::DriverId::MESA_LLVMPIPE && info.starts_with("Mesa 22"),
        loses_statics: driver.driver_id == vk::DriverId::NVIDIA_PROPRIETARY,
    }
}

/// A pipeline or a shader object, as its plan says.
#[derive(Clone, Copy)]
pub(super) enum Handle {
    Pipeline(vk::Pipeline),
    /// With the libraries that it is linked of.
    Linked(vk::Pipeline, [vk::Pipeline; 4]),
    Shader(vk::ShaderEXT),
}

/// A pipeline and its handle.
pub(super) struct Made {
    pub(super) plan: Pipeline,
    pub(super) handle: Handle,
    /// Links that it was drawn with when they conflicted, one bit each: what is written after a bind is repaired in these.
    pub(super) known: u32,
}

pub(super) struct World<'c> {
    pub(super) context: &'c Context,
    pub(super) push: ash::khr::push_descriptor::Device,
    pub(super) objects: ash::ext::shader_object::Device,
    pub(super) has: Abilities,
    /// See [`remembers_samplers`].
    remembers_samplers: bool,
    /// Nothing in it conflicts.
    pub(super) is_legal: bool,
    /// What samplers ask for, of which a software driver compiles a shader for each mix.
    pub(super) states: [State; 3],
    pub(super) images: Vec<Image<'c>>,
    /// Some that are defined alike, by definition; none where the device lacks what they need. The last is for sets alone, and goes.
    pub(super) set_layouts: Vec<Option<[SetLayout<'c>; 3]>>,
    /// Of all that can be written, and of samplers and what has one.
    pub(super) templates: Vec<Option<[Template<'c>; 2]>>,
    /// Some that are defined alike, by code; the first is that of the pipelines and stays.
    pub(super) layouts: Vec<Option<[vk::PipelineLayout; 3]>>,
    pub(super) pipelines: Vec<Made>,
    pub(super) uniforms: Buffer<'c>,
    pub(super) results: Buffer<'c>,
    pub(super) picture: Buffer<'c>,
    pub(super) arguments: Buffer<'c>,
    pub(super) target: Image<'c>,
    pub(super) target_view: View<'c>,
    pub(super) frame: Target<'c>,
    pub(super) commands: vk::CommandPool,
    fixed: Sampler<'c>,
}

pub(super) const TARGET: F = F::R32G32B32A32_UINT;
/// Arguments of an indirect draw, and behind them those of an indirect dispatch.
pub(super) const ARGUMENTS: [u32; 7] = [3, 1, 0, 0, 1, 1, 1];
pub(super) const DISPATCH_AT: u64 = 16;

pub(super) fn describe(state: State) -> SamplerDesc {
    let desc = if state.is_linear { SamplerDesc::linear() } else { SamplerDesc::nearest() };
    let desc = desc.border(match (state.is_int, state.is_white) {
        (false, false) => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        (false, true) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        (true, false) => vk::BorderColor::INT_TRANSPARENT_BLACK,
        (true, true) => vk::BorderColor::INT_OPAQUE_WHITE,
    });
    desc.address(match state.mode {
        Mode::Repeat => vk::SamplerAddressMode::REPEAT,
        Mode::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Mode::Edge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Mode::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    })
}

pub(super) fn descriptor_type(slot: Slot) -> vk::DescriptorType {
    use vk::DescriptorType as T;
    match slot {
        Slot::Image(_) => T::SAMPLED_IMAGE,
        Slot::Sampler | Slot::Fixed => T::SAMPLER,
        Slot::Pair(_) | Slot::FixedPair => T::COMBINED_IMAGE_SAMPLER,
        Slot::Uniform => T::UNIFORM_BUFFER,
        Slot::UniformMoved => T::UNIFORM_BUFFER_DYNAMIC,
        Slot::Results => T::STORAGE_BUFFER,
        Slot::ResultsMoved => T::STORAGE_BUFFER_DYNAMIC,
    }
}

pub(super) const STAGES: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw());

/// Areas that viewports and scissors are.
pub(super) fn area(random: &mut Rng) -> model::Area {
    let [width, height] = FRAME;
    let (x, y) = (random.u32(0..4), random.u32(0..2));
    if random.bool() { [0, 0, width, height] } else { [x, y, random.u32(1..=width - x), random.u32(1..=height - y)] }
}

/// Nothing, or all of the frame, as what is culled leaves it.
pub(super) fn culled(is_culled: bool) -> model::Area {
    if is_culled { [0; 4] } else { [0, 0, FRAME[0], FRAME[1]] }
}

impl<'c> World<'c> {
    pub(super) fn new(context: &'c Context, block: u64) -> Result<Self, Skip> {
        skip_if(context.missing(&[Capability::FragmentStores, Capability::UpdateTemplate]))?;
        if context.version() < vk::API_VERSION_1_3 {
            return Err(Skip(format!("{} is no device of Vulkan 1.3", context.device_name())));
        }
        let Driver { reads_all, loses_statics } = driver(context);
        let mut random = Rng::with_seed(block);
        let device = context.device();
        let has = Abilities {
            push: context.supports(Capability::PushDescriptor),
            late: context.supports(Capability::DescriptorIndexing),
            index: context.supports(Capability::ImageArrayIndexing),
            rendering: context.supports(Capability::DynamicRendering),
            objects: context.supports(Capability::ShaderObject) && !loses_statics,
            libraries: context.supports(Capability::GraphicsPipelineLibrary),
            null_sets: context.supports(Capability::GraphicsPipelineLibrary) && !reads_all,
            holes: !reads_all,
            pushes_apart: !reads_all,
        };
        let image = |number: usize| {
            let is_uint = number < IMAGES;
            let size = SIZE as u32;
            let desc = ImageDesc::d2(if is_uint { F::R32_UINT } else { F::R8G8B8A8_UNORM }, size, size);
            Image::filled(context, &desc, |_, _, _, [x, y, _]| match is_uint {
                true => Value::Uint([model::uint_texel(number, x as i32, y as i32), 0, 0, 1]),
                false => Value::Float(model::float_texel(number - IMAGES, x as i32, y as i32)),
            })
        };
        let images = (0..2 * IMAGES).map(image).collect::<Result<Vec<_>, _>>().map_err(Skip)?;
        let fixed = describe(FIXED).create(context);
        let set_layouts: Vec<_> = DEFINITIONS
            .iter()
            .map(|definition| {
                let is_lacking = (definition.is_pushed && !has.push)
                    || ((definition.is_late() || definition.is_partial()) && !has.late);
                (!is_lacking).then(|| [(); 3].map(|()| set_layout(context, definition, &fixed)))
            })
            .collect();
        let templates =
            set_layouts.iter().enumerate().map(|(number, layouts)| {
                let layout = layouts.as_ref().filter(|_| !DEFINITIONS[number].is_pushed).map(|[layout, ..]| layout)?;
                Some([false, true].map(|is_part| {
                    Template::for_set(context, Spelling::Core, layout, &template_entries(number, is_part))
                }))
            });
        let templates = templates.collect();

        let (width, height) = (FRAME[0], FRAME[1]);
        use vk::ImageUsageFlags as Usage;
        let usage = Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        let target_desc = ImageDesc { usage, ..ImageDesc::d2(TARGET, width, height) };
        let target = Image::new(context, &target_desc).map_err(Skip)?;
        let target_view = target.view(&ViewDesc::default());
        let attachments = [attachment(TARGET, vk::AttachmentLoadOp::LOAD, [vk::ImageLayout::GENERAL; 2])];
        let views = [target_view.handle()];
        let frame = Target::new(context, &attachments, COLOUR, &views, [width, height]);
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(context.queue_family())
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the create info is a local without pointers.
        let commands = unsafe { device.create_command_pool(&info, None) }.expect("vkCreateCommandPool");

        let buffer = |words: usize, usage| Buffer::new(context, words * 4, usage);
        let uniforms = buffer((UNIFORMS * STEP) as usize, vk::BufferUsageFlags::UNIFORM_BUFFER);
        uniforms.write_words(&(0..UNIFORMS * STEP).map(uniform).collect::<Vec<_>>());
        let arguments = buffer(ARGUMENTS.len(), vk::BufferUsageFlags::INDIRECT_BUFFER);
        arguments.write_words(&ARGUMENTS);
        let is_legal = block % 4 == 3;
        let mut world = Self {
            context,
            push: ash::khr::push_descriptor::Device::new(context.instance(), device),
            objects: ash::ext::shader_object::Device::new(context.instance(), device),
            has,
            remembers_samplers: remembers_samplers(context),
            is_legal,
            states: [State::default(); 3],
            images,
            set_layouts,
            templates,
            layouts: CODES.iter().map(|_| None).collect(),
            pipelines: Vec::new(),
            uniforms,
            results: buffer(2 * RESULTS, vk::BufferUsageFlags::STORAGE_BUFFER),
            picture: buffer((width * height * 4) as usize, vk::BufferUsageFlags::TRANSFER_DST),
            arguments,
            target,
            target_view,
            frame,
            commands,
            fixed,
        };
        world.make_pipelines(&mut random);
        Ok(world)
    }

    /// Whether a message of a draw with this code is about something illegal.
    ///
    /// Newer validation layers report, as an error, that a pipeline is bound again after a state was set that is static in it: that is legal,
    /// and some drivers did it wrong. They take another sampler for one that was pushed to another set than the image's.
    pub(super) fn is_about_illegal(&self, message: &Message, code: Option<usize>) -> bool {
        let is_mistaken = |code: usize| {
            let links =
                CODES[code].links.iter().filter_map(|(image, sampler)| Some((image.set, sampler.as_ref()?.set)));
            links
                .filter(|(image, sampler)| image != sampler)
                .any(|(_, sampler)| self.remembers_samplers || CODES[code].definition(sampler).is_pushed)
        };
        let is_mistaken = code.is_some_and(is_mistaken) && message.id.ends_with("magFilter-04553");
        message.is_error() && message.id != "UNASSIGNED-vkCmdBindPipeline-Pipeline-Rebind" && !is_mistaken
    }

    fn is_possible(&self, code: usize) -> bool {
        let code = &CODES[code];
        code.sets.iter().all(|set| self.set_layouts[*set].is_some())
            && (self.has.index || !code.has_dynamic_index())
            && !(self.is_legal && code.sets.contains(&catalog::IMMUTABLE))
            // What is looked up takes a set of its own.
            && !(code.looks_up() && code.sets.len() == self.context.limits().max_bound_descriptor_sets as usize)
    }

    /// Some of the codes, mostly twice.
    fn make_pipelines(&mut self, random: &mut Rng) {
        let mut codes: Vec<usize> = (0..CODES.len()).filter(|code| self.is_possible(*code)).collect();
        random.shuffle(&mut codes);
        if random.bool() {
            // Those that begin alike.
            let first = CODES[codes[0]].sets;
            codes.sort_by_key(|code| CODES[*code].sets[..2] != first[..2]);
        }
        codes.truncate(6);
        // Where no set is left only LINEAR is mended, by the shader.
        let most = self.context.limits().max_bound_descriptor_sets as usize;
        let is_full = codes.iter().any(|code| CODES[*code].sets.len() == most);
        let modes = if self.is_legal || is_full { 3 } else { 4 };
        self.states = [false, true, random.bool()].map(|is_linear| State {
            is_linear: is_linear && !self.is_legal,
            mode: [Mode::Repeat, Mode::Mirror, Mode::Edge, Mode::Border][random.usize(0..modes)],
            is_white: random.bool(),
            is_int: random.bool(),
        });
        self.states[0].is_int = false;
        for code in codes {
            self.layouts[code] = Some([0; 3].map(|_| self.pipeline_layout(code, random)));
            for _ in 0..random.usize(1..=2) {
                let plan = self.plan(code, random);
                let handle = self.make(&plan);
                self.pipelines.push(Made { plan, handle, known: 0 });
            }
        }
    }

    fn plan(&self, code: usize, random: &mut Rng) -> Pipeline {
        let pass = random.bool().then(|| match self.has.rendering && random.bool() {
            true => Pass::Dynamic,
            false => Pass::Object,
        });
        let mut statics = [(); 3].map(|()| random.bool().then(|| area(random)));
        if statics[Dynamic::Cull as usize].is_some() {
            // All that is static is drawn.
            statics[Dynamic::Cull as usize] = Some(culled(false));
        }
        let is_object = pass.is_none() && self.has.objects && random.bool();
        let is_linked = pass == Some(Pass::Object) && self.has.libraries && random.bool();
        Pipeline { code, pass, statics, is_object, is_linked }
    }

    /// Destroys the layout of sets alone, and makes one like it.
    pub(super) fn remake_set_layout(&mut self, definition: usize) {
        let made = set_layout(self.context, &DEFINITIONS[definition], &self.fixed);
        if let Some([.., last]) = &mut self.set_layouts[definition] {
            *last = made;
        }
    }

    /// A pipeline layout of a code, of either of the set layouts that are defined alike.
    pub(super) fn pipeline_layout(&self, code: usize, random: &mut Rng) -> vk::PipelineLayout {
        let code = &CODES[code];
        let sets: Vec<_> = code
            .sets
            .iter()
            .map(|set| &self.set_layouts[*set].as_ref().expect("it is possible")[random.usize(0..2)])
            .collect();
        let ranges = [vk::PushConstantRange::default().stage_flags(STAGES).size(code.words as u32 * 4)];
        pipeline_layout(self.context, &sets, &ranges)
    }

    fn module(&self, stage: &str, source: &str) -> ShaderModule<'c> {
        ShaderModule::new(self.context, &compile(Language::Glsl("vulkan1.1"), stage, source))
    }

    pub(super) fn make(&self, plan: &Pipeline) -> Handle {
        if !plan.is_object {
            return self.pipeline(plan);
        }
        let code = &CODES[plan.code];
        let words = compile(Language::Glsl("vulkan1.1"), "comp", &catalog::source(code, true));
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        let layouts = |set: &usize| self.set_layouts[*set].as_ref().expect("it is possible")[0].handle();
        let layouts: Vec<_> = code.sets.iter().map(layouts).collect();
        let ranges = [vk::PushConstantRange::default().stage_flags(STAGES).size(code.words as u32 * 4)];
        let info = vk::ShaderCreateInfoEXT::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .code(&bytes)
            .name(c"main")
            .set_layouts(&layouts)
            .push_constant_ranges(&ranges);
        // SAFETY: the layouts are alive and match the shader's declarations.
        let made = unsafe { self.objects.create_shaders(&[info], None) };
        Handle::Shader(made.map_err(|(_, error)| error).expect("vkCreateShadersEXT")[0])
    }

    /// Nothing that uses it is pending.
    pub(super) fn destroy(&self, handle: Handle) {
        match handle {
            // SAFETY: as the caller says.
            Handle::Pipeline(pipeline) => unsafe { self.context.device().destroy_pipeline(pipeline, None) },
            Handle::Linked(pipeline, libraries) => {
                for pipeline in [pipeline].into_iter().chain(libraries) {
                    // SAFETY: as above.
                    unsafe { self.context.device().destroy_pipeline(pipeline, None) };
                }
            }
            // SAFETY: as above.
            Handle::Shader(shader) => unsafe { self.objects.destroy_shader(shader, None) },
        }
    }

    fn pipeline(&self, plan: &Pipeline) -> Handle {
        let device = self.context.device();
        let code = &CODES[plan.code];
        let layout = self.layouts[plan.code].expect("it was made")[0];
        let Some(pass) = plan.pass else {
            let module = self.module("comp", &catalog::source(code, true));
            let stage = module.stage(vk::ShaderStageFlags::COMPUTE);
            let info = vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage);
            return Handle::Pipeline(make_compute(device, &info));
        };
        let modules = [self.module("vert", catalog::VERTEX), self.module("frag", &catalog::source(code, false))];
        let stages = [modules[0].stage(vk::ShaderStageFlags::VERTEX), modules[1].stage(vk::ShaderStageFlags::FRAGMENT)];
        let viewports = plan.statics[Dynamic::Viewport as usize].map(viewport);
        let scissors = plan.statics[Dynamic::Scissor as usize].map(rectangle);
        let mut viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        if let Some(viewports) = &viewports {
            viewport = viewport.viewports(std::slice::from_ref(viewports));
        }
        if let Some(scissors) = &scissors {
            viewport = viewport.scissors(std::slice::from_ref(scissors));
        }
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR, vk::DynamicState::CULL_MODE];
        let states: Vec<_> = DYNAMIC
            .iter()
            .filter(|state| plan.statics[**state as usize].is_none())
            .map(|state| states[*state as usize])
            .collect();
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let formats = [TARGET];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        covering(&stages, vk::Rect2D::default(), 1, |info| {
            let info = info.viewport_state(&viewport).dynamic_state(&dynamic).layout(layout);
            let info = match pass {
                Pass::Object => info.render_pass(self.frame.pass),
                Pass::Dynamic => info.push_next(&mut rendering),
            };
            if plan.is_linked {
                let (pipeline, libraries) = link_graphics(device, &info, layout);
                return Handle::Linked(pipeline, libraries);
            }
            Handle::Pipeline(make_graphics(device, &info))
        })
    }
}

pub(super) fn viewport([x, y, width, height]: model::Area) -> vk::Viewport {
    let [x, y, width, height] = [x, y, width, height].map(|pixels| pixels as f32);
    vk::Viewport { x, y, width, height, min_depth: 0.0, max_depth: 1.0 }
}

pub(super) fn rectangle([x, y, width, height]: model::Area) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D { x: x as i32, y: y as i32 }, extent: vk::Extent2D { width, height } }
}

fn set_layout<'c>(context: &'c Context, definition: &catalog::Definition, fixed: &Sampler<'_>) -> SetLayout<'c> {
    use vk::DescriptorSetLayoutCreateFlags as Flags;
    let binding = |entry: &catalog::Entry| {
        let mut binding = Binding::new(entry.binding, descriptor_type(entry.slot), entry.count);
        if matches!(entry.slot, Slot::Fixed | Slot::FixedPair) {
            binding = binding.immutable(&[fixed]);
        }
        if entry.is_late {
            binding = binding.flags(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND);
        }
        if entry.is_partial {
            binding = binding.flags(vk::DescriptorBindingFlags::PARTIALLY_BOUND);
        }
        binding
    };
    let bindings: Vec<_> = definition.entries.iter().map(binding).collect();
    let flags = match (definition.is_pushed, definition.is_late()) {
        (true, _) => Flags::PUSH_DESCRIPTOR_KHR,
        (_, true) => Flags::UPDATE_AFTER_BIND_POOL,
        _ => Flags::empty(),
    };
    SetLayout::with_flags(context, &bindings, flags)
}

/// Whether a descriptor of this kind is written by a template of a part.
pub(super) fn is_in_part(slot: Slot) -> bool {
    matches!(slot, Slot::Sampler | Slot::Pair(_) | Slot::Results | Slot::ResultsMoved)
}

/// Entries of a template whose data has a record for each descriptor, one after the other.
pub(super) fn template_entries(definition: usize, is_part: bool) -> Vec<vk::DescriptorUpdateTemplateEntry> {
    let (mut entries, mut offset) = (Vec::new(), 0);
    let all = DEFINITIONS[definition].entries.iter().filter(|entry| entry.slot != Slot::Fixed);
    let part: Vec<_> = all.clone().filter(|entry| is_part && is_in_part(entry.slot)).collect();
    // A template has an entry at least.
    let chosen = if part.is_empty() { all.collect() } else { part };
    for entry in chosen {
        entries.push(vk::DescriptorUpdateTemplateEntry {
            dst_binding: entry.binding,
            dst_array_element: 0,
            descriptor_count: entry.count,
            descriptor_type: descriptor_type(entry.slot),
            offset,
            stride: DATA,
        });
        offset += entry.count as usize * DATA;
    }
    entries
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        self.pipelines.iter().for_each(|made| self.destroy(made.handle));
        let device = self.context.device();
        // SAFETY: each submission was waited for, and nothing else uses what goes.
        unsafe {
            device.destroy_command_pool(self.commands, None);
            self.layouts.iter().flatten().flatten().for_each(|layout| device.destroy_pipeline_layout(*layout, None));
        }
    }
}

/// Whether an image of this kind is at this number.
pub(super) fn is_of(texel: Texel, image: usize) -> bool {
    (texel == Texel::Uint) == (image < IMAGES)
}
