//! What runs while calls fail: a program that makes objects of every kind that samplin looks at, binds pairs on four paths, draws and
//! looks at the pixels, twice, and goes on as well as it can without what failed.

use super::{Faults, Output, Run, Step};
use crate::run::Skip;
use ash::vk::{self, Handle};
use samplin_testkit::shader::{Access, ResultKind, Shape, words};
use samplin_testkit::{context, layer};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::ops::Range;
use std::ptr;

/// How a pair is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    Update,
    Template,
    Push,
    Immutable,
}

/// A view and a sampler.
pub(super) struct PairOf {
    pub(super) name: &'static str,
    /// Index of the image.
    image: usize,
    /// Index of the sampler.
    sampler: usize,
    pub(super) path: Path,
    /// The pair that it has to look like where the device cannot do it.
    pub(super) twin: usize,
}

const fn pair(name: &'static str, image: usize, sampler: usize, path: Path, twin: usize) -> PairOf {
    PairOf { name, image, sampler, path, twin }
}

const IMAGES: [vk::Format; 3] = [vk::Format::R32_UINT, vk::Format::D32_SFLOAT, vk::Format::R8G8B8A8_UNORM];
const NEAREST: usize = 0;
const LINEAR: usize = 1;
const REPEAT: usize = 2;
const MIRRORED: usize = 3;
/// Its LODs are in the wrong order.
const LODS: usize = 4;
const SAMPLERS: usize = 5;
/// All look inside of the image, where address modes make no difference.
pub(super) const PAIRS: [PairOf; 9] = [
    pair("uint, nearest", 0, NEAREST, Path::Update, 0),
    pair("uint, linear", 0, LINEAR, Path::Update, 0),
    pair("depth, nearest", 1, NEAREST, Path::Update, 2),
    pair("depth, linear, by template", 1, LINEAR, Path::Template, 2),
    pair("rgba, linear", 2, LINEAR, Path::Update, 4),
    pair("uint, linear and repeated, by template", 0, REPEAT, Path::Template, 0),
    pair("uint, linear and mirrored, pushed", 0, MIRRORED, Path::Push, 0),
    pair("rgba, linear and immutable", 2, LINEAR, Path::Immutable, 4),
    pair("uint, linear, LODs in the wrong order", 0, LODS, Path::Update, 0),
];
/// The rounds, and the pairs drawn in each.
const ROUNDS: [Range<usize>; 2] = [0..PAIRS.len(), 0..2];

/// Texels of an image along each side.
const EDGE: u32 = 4;
/// Bytes of an image.
const IMAGE_BYTES: usize = 64;
const POINTS: u32 = 8;
/// Where the buffer holds the points that are looked at, and a result for each pair.
const POINTS_AT: usize = 256;
const RESULTS_AT: usize = 1024;
const RESULT_BYTES: usize = 256;
const BUFFER_BYTES: usize = RESULTS_AT + PAIRS.len() * RESULT_BYTES;

/// What outputs hold before a call.
const GARBAGE: u64 = 0xabab;

fn sampler_info(index: usize) -> vk::SamplerCreateInfo<'static> {
    let filter = if index == NEAREST { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
    let address = match index {
        REPEAT => vk::SamplerAddressMode::REPEAT,
        MIRRORED => vk::SamplerAddressMode::MIRRORED_REPEAT,
        _ => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    vk::SamplerCreateInfo {
        mag_filter: filter,
        min_filter: filter,
        address_mode_u: address,
        address_mode_v: address,
        address_mode_w: address,
        min_lod: if index == LODS { 2.0 } else { 0.0 },
        max_lod: if index == LODS { 0.5 } else { 1.0 },
        ..Default::default()
    }
}

/// The bytes of an image.
fn texels(image: usize) -> Vec<u8> {
    let count = EDGE * EDGE;
    match IMAGES[image] {
        vk::Format::R32_UINT => (0..count).flat_map(|n| (n * 7919 + 5).to_ne_bytes()).collect(),
        vk::Format::D32_SFLOAT => (0..count).flat_map(|n| ((n * 5 % 16) as f32 / 16.0).to_ne_bytes()).collect(),
        _ => (0..count).flat_map(|n| [n as u8 * 15, 255 - n as u8 * 9, (n * 5 % 16) as u8 * 16, 200]).collect(),
    }
}

/// The points that are looked at, as the shader reads them.
fn points() -> Vec<u8> {
    let point = |n: u32| {
        let at = |n: u32| (n as f32 + 0.7) / EDGE as f32 - 0.05;
        [at(n % EDGE), at((n * 3 + 1) % EDGE), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    };
    (0..POINTS).flat_map(point).flat_map(f32::to_ne_bytes).collect()
}

/// A program that goes on as well as it can when a call of it fails.
pub(super) struct Application<'t> {
    faults: &'t Faults,
    /// Whether samplin is there, so that illegal pairs may be drawn.
    repaired: bool,
    run: Run,
}

/// What the application made of a device; `None` is what failed.
#[derive(Default)]
struct Made {
    images: [Option<vk::Image>; IMAGES.len()],
    memory: [Option<vk::DeviceMemory>; IMAGES.len() + 1],
    views: [Option<vk::ImageView>; IMAGES.len()],
    buffer: Option<vk::Buffer>,
    mapped: Option<*mut u8>,
    immutable: Option<vk::Sampler>,
    conversion: Option<vk::SamplerYcbcrConversion>,
    converting: Option<vk::Sampler>,
    /// For written, pushed and immutable pairs, and for points and results.
    layouts: [Option<vk::DescriptorSetLayout>; 4],
    /// For written, pushed and immutable pairs.
    pipeline_layouts: [Option<vk::PipelineLayout>; 3],
    /// By numeric kind: floats, unsigned integers.
    modules: [Option<vk::ShaderModule>; 2],
    /// By layout and numeric kind.
    pipelines: BTreeMap<(usize, usize), vk::Pipeline>,
    pool: Option<vk::DescriptorPool>,
    sets: Option<[vk::DescriptorSet; PAIRS.len()]>,
    io: Option<vk::DescriptorSet>,
    template: Option<vk::DescriptorUpdateTemplate>,
    commands: Option<vk::CommandPool>,
    uploaded: bool,
}

const WRITTEN: usize = 0;
const PUSHED: usize = 1;
const IMMUTABLE: usize = 2;
const IO: usize = 3;

/// Layout and numeric kind of a pair's pipeline.
fn program(pair: &PairOf) -> (usize, usize) {
    let layout = match pair.path {
        Path::Update | Path::Template => WRITTEN,
        Path::Push => PUSHED,
        Path::Immutable => IMMUTABLE,
    };
    (layout, usize::from(IMAGES[pair.image] == vk::Format::R32_UINT))
}

/// Handles that calls give out.
trait Out: Copy {
    fn garbage() -> Self;
    fn output(&self) -> Output;
}

impl<T: Handle + Copy> Out for T {
    fn garbage() -> Self {
        T::from_raw(GARBAGE)
    }

    fn output(&self) -> Output {
        match self.as_raw() {
            0 => Output::Null,
            GARBAGE => Output::Untouched,
            _ => Output::Set,
        }
    }
}

impl<'t> Application<'t> {
    /// Runs the script, whose first layer is nearest to it.
    pub(super) fn run(faults: &'t Faults, layers: &[&str]) -> Result<Run, Skip> {
        // SAFETY: the Vulkan loader is the system's library of that name; its constructors have no precondition.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| Skip(format!("no Vulkan loader: {error}")))?;
        let mut application = Self { faults, repaired: layers.first() == Some(&layer::SAMPLIN), run: Run::default() };
        let names: Vec<CString> = layers.iter().map(|name| CString::new(*name).expect("no NUL")).collect();
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let about = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
        let info = vk::InstanceCreateInfo::default().application_info(&about).enabled_layer_names(&pointers);
        // SAFETY: the create info consists of live locals.
        let instance = application
            .create("vkCreateInstance", |out| unsafe { (entry.fp_v1_0().create_instance)(&info, ptr::null(), out) });
        if let Some(instance) = instance {
            // SAFETY: made by this loader.
            let instance = unsafe { ash::Instance::load(entry.static_fn(), instance) };
            application.with_instance(&instance);
            // SAFETY: its device is gone.
            unsafe { instance.destroy_instance(None) };
        }
        Ok(application.run)
    }

    /// Makes a call that can fail and notes what came of it. `output` looks at its output.
    fn call(
        &mut self,
        command: &'static str,
        call: impl FnOnce() -> vk::Result,
        output: impl FnOnce() -> Output,
    ) -> bool {
        let first = self.faults.calls();
        let result = call();
        self.run.below.push(first..self.faults.calls());
        self.run.steps.push(Step { command, result, output: output() });
        result == vk::Result::SUCCESS
    }

    /// A call without output.
    fn act(&mut self, command: &'static str, call: impl FnOnce() -> vk::Result) -> bool {
        self.call(command, call, || Output::Untouched)
    }

    /// A call that gives out an object.
    fn create<T: Out>(&mut self, command: &'static str, create: impl FnOnce(*mut T) -> vk::Result) -> Option<T> {
        self.create_all::<T, 1>(command, create).map(|[made]| made)
    }

    /// A call that gives out some objects.
    fn create_all<T: Out, const N: usize>(
        &mut self,
        command: &'static str,
        create: impl FnOnce(*mut T) -> vk::Result,
    ) -> Option<[T; N]> {
        let made = RefCell::new([T::garbage(); N]);
        let done = self.call(
            command,
            || create(made.borrow_mut().as_mut_ptr()),
            || {
                let outputs = made.borrow().map(|made| made.output());
                assert!(outputs.iter().all(|output| *output == outputs[0]), "{command}: {outputs:?}");
                outputs[0]
            },
        );
        done.then(|| made.into_inner())
    }

    /// A call that tells a list, asked for its length first.
    fn list<T: Default + Clone>(
        &mut self,
        command: &'static str,
        list: impl Fn(*mut u32, *mut T) -> vk::Result,
    ) -> Vec<T> {
        let count = RefCell::new(GARBAGE as u32);
        let output = |count: &RefCell<u32>| {
            if *count.borrow() == GARBAGE as u32 { Output::Untouched } else { Output::Set }
        };
        if !self.call(command, || list(&mut *count.borrow_mut(), ptr::null_mut()), || output(&count)) {
            return Vec::new();
        }
        let mut all = vec![T::default(); *count.borrow() as usize];
        let done = self.call(command, || list(&mut *count.borrow_mut(), all.as_mut_ptr()), || output(&count));
        all.truncate(if done { count.into_inner() as usize } else { 0 });
        all
    }

    fn with_instance(&mut self, instance: &ash::Instance) {
        let (f, raw) = (instance.fp_v1_0(), instance.handle());
        // SAFETY: two calls, the second with room for as many as the first told; as are the other lists.
        let devices: Vec<vk::PhysicalDevice> = self.list("vkEnumeratePhysicalDevices", |count, out| unsafe {
            (f.enumerate_physical_devices)(raw, count, out)
        });
        let wanted = std::env::var(context::DEVICE_VARIABLE).unwrap_or_default().to_lowercase();
        let index = wanted.strip_prefix('#').and_then(|index| index.parse::<usize>().ok());
        let physical = devices.into_iter().enumerate().find(|(number, device)| {
            if let Some(index) = index {
                return *number == index;
            }
            // SAFETY: enumerated from this instance.
            let properties = unsafe { instance.get_physical_device_properties(*device) };
            properties.device_name_as_c_str().is_ok_and(|name| name.to_string_lossy().to_lowercase().contains(&wanted))
        });
        let Some((_, physical)) = physical else { return };
        let extensions: Vec<vk::ExtensionProperties> =
            // SAFETY: as above.
            self.list("vkEnumerateDeviceExtensionProperties", |count, out| unsafe {
                (f.enumerate_device_extension_properties)(physical, ptr::null(), count, out)
            });
        let push = ash::khr::push_descriptor::NAME;
        let push = extensions.iter().any(|found| found.extension_name_as_c_str() == Ok(push)).then_some(push.as_ptr());
        let mut ycbcr = vk::PhysicalDeviceSamplerYcbcrConversionFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut ycbcr);
        // SAFETY: version 1.1, and a chain of live locals.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        let extensions: Vec<_> = push.into_iter().collect();
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let converts = ycbcr.sampler_ycbcr_conversion != 0;
        let mut ycbcr = vk::PhysicalDeviceSamplerYcbcrConversionFeatures::default().sampler_ycbcr_conversion(converts);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut ycbcr);
        // SAFETY: extensions and features are the device's; family 0 of a software driver can do everything.
        let device =
            self.create("vkCreateDevice", |out| unsafe { (f.create_device)(physical, &info, ptr::null(), out) });
        if let Some(device) = device {
            // SAFETY: made just now.
            let device = unsafe { ash::Device::load(f, device) };
            let mut script = Script { app: self, instance, physical, device: &device, made: Made::default() };
            script.make(push.is_some(), converts);
            for (round, pairs) in ROUNDS.into_iter().enumerate() {
                script.round(round, pairs);
            }
            script.destroy();
            // SAFETY: nothing of it is left.
            unsafe { device.destroy_device(None) };
        }
    }
}

/// The part of the script that has a device.
struct Script<'s, 't> {
    app: &'s mut Application<'t>,
    instance: &'s ash::Instance,
    physical: vk::PhysicalDevice,
    device: &'s ash::Device,
    made: Made,
}

impl Script<'_, '_> {
    /// Whether optimal images of a format can do something.
    fn can(&self, format: vk::Format, what: vk::FormatFeatureFlags) -> bool {
        // SAFETY: the physical device is the instance's.
        let found = unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        found.optimal_tiling_features.contains(what)
    }

    fn allocate(&mut self, needs: vk::MemoryRequirements, flags: vk::MemoryPropertyFlags) -> Option<vk::DeviceMemory> {
        // SAFETY: the physical device is the instance's.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let index = (0..types.memory_type_count).find(|index| {
            needs.memory_type_bits >> index & 1 == 1
                && types.memory_types[*index as usize].property_flags.contains(flags)
        })?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        let device = self.device;
        // SAFETY: a memory type of the device.
        self.app.create("vkAllocateMemory", |out| unsafe {
            (device.fp_v1_0().allocate_memory)(device.handle(), &info, ptr::null(), out)
        })
    }

    fn sampler(&mut self, info: &vk::SamplerCreateInfo<'_>) -> Option<vk::Sampler> {
        let device = self.device;
        // SAFETY: the create info and its chain are live; what the device cannot do in it is what the script is about.
        self.app.create("vkCreateSampler", |out| unsafe {
            (device.fp_v1_0().create_sampler)(device.handle(), info, ptr::null(), out)
        })
    }

    fn image(&mut self, index: usize) {
        let (device, raw, f) = (self.device, self.device.handle(), self.device.fp_v1_0());
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(IMAGES[index])
            .extent(vk::Extent3D { width: EDGE, height: EDGE, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        // SAFETY: every device can do such images.
        let image = self.app.create("vkCreateImage", |out| unsafe { (f.create_image)(raw, &info, ptr::null(), out) });
        self.made.images[index] = image;
        let Some(image) = image else { return };
        // SAFETY: made just now.
        let needs = unsafe { device.get_image_memory_requirements(image) };
        self.made.memory[index] = self.allocate(needs, vk::MemoryPropertyFlags::empty());
        let Some(memory) = self.made.memory[index] else { return };
        // SAFETY: the memory is as the image needs it.
        if !self.app.act("vkBindImageMemory", || unsafe { (f.bind_image_memory)(raw, image, memory, 0) }) {
            return;
        }
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(IMAGES[index])
            .subresource_range(range(index));
        self.made.views[index] =
            // SAFETY: the image has memory.
            self.app.create("vkCreateImageView", |out| unsafe { (f.create_image_view)(raw, &info, ptr::null(), out) });
    }

    fn buffer(&mut self) {
        let (device, raw, f) = (self.device, self.device.handle(), self.device.fp_v1_0());
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::STORAGE_BUFFER;
        let info = vk::BufferCreateInfo::default().size(BUFFER_BYTES as u64).usage(usage);
        self.made.buffer =
            // SAFETY: a plain buffer.
            self.app.create("vkCreateBuffer", |out| unsafe { (f.create_buffer)(raw, &info, ptr::null(), out) });
        let Some(buffer) = self.made.buffer else { return };
        // SAFETY: made just now.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        self.made.memory[IMAGES.len()] = self.allocate(needs, flags);
        let Some(memory) = self.made.memory[IMAGES.len()] else { return };
        // SAFETY: the memory is as the buffer needs it.
        if !self.app.act("vkBindBufferMemory", || unsafe { (f.bind_buffer_memory)(raw, buffer, memory, 0) }) {
            return;
        }
        let mut mapped = ptr::null_mut();
        // SAFETY: the memory is host visible; the pointer is a local.
        let done = self.app.act("vkMapMemory", || unsafe {
            (f.map_memory)(raw, memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty(), &mut mapped)
        });
        self.made.mapped = done.then_some(mapped.cast());
        for (at, bytes) in (0..IMAGES.len()).map(|n| (n * IMAGE_BYTES, texels(n))).chain([(POINTS_AT, points())]) {
            self.write(at, &bytes);
        }
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= BUFFER_BYTES);
        if let Some(mapped) = self.made.mapped {
            // SAFETY: within the mapping, and nothing is submitted.
            unsafe { mapped.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }

    /// A conversion, and a sampler with it whose address modes it does not allow. Nothing is drawn with them.
    fn conversion(&mut self) {
        const FORMAT: vk::Format = vk::Format::G8_B8R8_2PLANE_420_UNORM;
        let location = [
            (vk::FormatFeatureFlags::MIDPOINT_CHROMA_SAMPLES, vk::ChromaLocation::MIDPOINT),
            (vk::FormatFeatureFlags::COSITED_CHROMA_SAMPLES, vk::ChromaLocation::COSITED_EVEN),
        ];
        let Some((_, location)) = location.into_iter().find(|(bit, _)| self.can(FORMAT, *bit)) else { return };
        let (device, raw) = (self.device, self.device.handle());
        let info = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(FORMAT)
            .ycbcr_model(vk::SamplerYcbcrModelConversion::YCBCR_709)
            .x_chroma_offset(location)
            .y_chroma_offset(location);
        // SAFETY: the feature is enabled and the format has conversions.
        self.made.conversion = self.app.create("vkCreateSamplerYcbcrConversion", |out| unsafe {
            (device.fp_v1_1().create_sampler_ycbcr_conversion)(raw, &info, ptr::null(), out)
        });
        let Some(conversion) = self.made.conversion else { return };
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let info = vk::SamplerCreateInfo { max_lod: 0.0, ..sampler_info(NEAREST) };
        let repeat = vk::SamplerAddressMode::REPEAT;
        self.made.converting = self.sampler(&info.address_mode_u(repeat).push_next(&mut chained));
    }

    /// Everything that lives as long as the device.
    fn make(&mut self, push: bool, converts: bool) {
        let (device, raw, f) = (self.device, self.device.handle(), self.device.fp_v1_0());
        for index in 0..IMAGES.len() {
            self.image(index);
        }
        self.buffer();
        if converts {
            self.conversion();
        }
        // Of a state of its own: what samplin could not repair stays so as long as a sampler of its state lives.
        self.made.immutable = self.sampler(&vk::SamplerCreateInfo { max_lod: 3.0, ..sampler_info(LINEAR) });
        let immutable = [self.made.immutable.unwrap_or_default()];
        let combined = |binding: u32| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let pushed = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
        let io = [
            combined(0).descriptor_type(vk::DescriptorType::STORAGE_BUFFER),
            combined(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER_DYNAMIC),
        ];
        let bindings = [&[combined(0)][..], &[combined(0)], &[combined(0).immutable_samplers(&immutable)], &io];
        for (layout, bindings) in bindings.into_iter().enumerate() {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
            let info = if layout == PUSHED { info.flags(pushed) } else { info };
            if (layout != PUSHED || push) && (layout != IMMUTABLE || self.made.immutable.is_some()) {
                // SAFETY: the bindings and the immutable sampler are alive.
                self.made.layouts[layout] = self.app.create("vkCreateDescriptorSetLayout", |out| unsafe {
                    (f.create_descriptor_set_layout)(raw, &info, ptr::null(), out)
                });
            }
        }
        let size = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(4)];
        for layout in [WRITTEN, PUSHED, IMMUTABLE] {
            let (Some(pairs), Some(io)) = (self.made.layouts[layout], self.made.layouts[IO]) else { continue };
            let layouts = [pairs, io];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&size);
            // SAFETY: both set layouts are alive.
            self.made.pipeline_layouts[layout] = self.app.create("vkCreatePipelineLayout", |out| unsafe {
                (f.create_pipeline_layout)(raw, &info, ptr::null(), out)
            });
        }
        for (number, kind) in [ResultKind::Float, ResultKind::Uint].into_iter().enumerate() {
            let words = words("sample", Shape::D2, kind, Access::Single { binding: 0 });
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            // SAFETY: the words are a whole module.
            self.made.modules[number] = self.app.create("vkCreateShaderModule", |out| unsafe {
                (f.create_shader_module)(raw, &info, ptr::null(), out)
            });
        }
        let programs: BTreeSet<(usize, usize)> = PAIRS.iter().map(program).collect();
        for (layout, kind) in programs {
            let parts = (self.made.pipeline_layouts[layout], self.made.modules[kind]);
            let (Some(pipeline_layout), Some(module)) = parts else { continue };
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(pipeline_layout);
            // SAFETY: module and layout are alive and fit each other.
            let made = self.app.create("vkCreateComputePipelines", |out| unsafe {
                (f.create_compute_pipelines)(raw, vk::PipelineCache::null(), 1, &info, ptr::null(), out)
            });
            self.made.pipelines.extend(made.map(|made| ((layout, kind), made)));
        }
        let sizes = [
            (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, PAIRS.len() as u32),
            (vk::DescriptorType::STORAGE_BUFFER, 1),
            (vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, 1),
        ]
        .map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(PAIRS.len() as u32 + 1).pool_sizes(&sizes);
        // SAFETY: the create info is a local.
        self.made.pool = self.app.create("vkCreateDescriptorPool", |out| unsafe {
            (f.create_descriptor_pool)(raw, &info, ptr::null(), out)
        });
        let layouts = PAIRS.each_ref().map(|pair| match pair.path {
            Path::Immutable => self.made.layouts[IMMUTABLE],
            _ => self.made.layouts[WRITTEN],
        });
        if let Some(pool) = self.made.pool {
            if layouts.iter().all(Option::is_some) {
                let layouts = layouts.map(Option::unwrap_or_default);
                let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                // SAFETY: the pool has room and the layouts are alive.
                self.made.sets = self.app.create_all("vkAllocateDescriptorSets", |out| unsafe {
                    (f.allocate_descriptor_sets)(raw, &info, out)
                });
            }
            if let Some(layout) = self.made.layouts[IO] {
                let layouts = [layout];
                let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                // SAFETY: as above.
                self.made.io = self
                    .app
                    .create("vkAllocateDescriptorSets", |out| unsafe { (f.allocate_descriptor_sets)(raw, &info, out) });
            }
        }
        if let (Some(set), Some(buffer), Some(_)) = (self.made.io, self.made.buffer, self.made.mapped) {
            let part = |offset: usize, range: usize| {
                [vk::DescriptorBufferInfo { buffer, offset: offset as u64, range: range as u64 }]
            };
            let (points, results) = (part(POINTS_AT, POINTS as usize * 32), part(RESULTS_AT, RESULT_BYTES));
            let write = vk::WriteDescriptorSet::default().dst_set(set);
            let writes = [
                write.dst_binding(0).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&points),
                write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER_DYNAMIC).buffer_info(&results),
            ];
            // SAFETY: set and buffer are alive.
            unsafe { device.update_descriptor_sets(&writes, &[]) };
        }
        if let Some(layout) = self.made.layouts[WRITTEN] {
            let entries = [vk::DescriptorUpdateTemplateEntry {
                descriptor_count: 1,
                descriptor_type: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
                ..Default::default()
            }];
            let info = vk::DescriptorUpdateTemplateCreateInfo::default()
                .descriptor_update_entries(&entries)
                .descriptor_set_layout(layout);
            // SAFETY: the layout is alive.
            self.made.template = self.app.create("vkCreateDescriptorUpdateTemplate", |out| unsafe {
                (device.fp_v1_1().create_descriptor_update_template)(raw, &info, ptr::null(), out)
            });
        }
        let info = vk::CommandPoolCreateInfo::default();
        // SAFETY: family 0 has the device's queue.
        self.made.commands = self
            .app
            .create("vkCreateCommandPool", |out| unsafe { (f.create_command_pool)(raw, &info, ptr::null(), out) });
    }

    /// New samplers, pairs written, drawn and looked at, samplers destroyed.
    fn round(&mut self, round: usize, pairs: Range<usize>) {
        let samplers: [_; SAMPLERS] = std::array::from_fn(|index| self.sampler(&sampler_info(index)));
        let mut ready = Vec::new();
        for index in pairs {
            if self.bind(round, index, &samplers) {
                ready.push((index, samplers[PAIRS[index].sampler].unwrap_or_default()));
            }
        }
        self.write(RESULTS_AT, &[0xee; PAIRS.len() * RESULT_BYTES]);
        for index in self.draw(round, &ready).unwrap_or_default() {
            let mut pixels = vec![0; POINTS as usize * 16];
            let mapped = self.made.mapped.expect("was drawn into");
            // SAFETY: within the mapping; the draw has been waited for.
            unsafe {
                let from = mapped.add(RESULTS_AT + index * RESULT_BYTES);
                from.copy_to_nonoverlapping(pixels.as_mut_ptr(), pixels.len());
            }
            self.app.run.pixels.insert((round, index), pixels);
        }
        for sampler in samplers.into_iter().flatten() {
            // SAFETY: nothing that uses it is pending; sets that name it are written again before they are used.
            unsafe { self.device.destroy_sampler(sampler, None) };
        }
    }

    /// Writes a pair to its set and tells whether it can be drawn. Pushed pairs are written when they are drawn.
    fn bind(&mut self, round: usize, index: usize, samplers: &[Option<vk::Sampler>; SAMPLERS]) -> bool {
        let pair = &PAIRS[index];
        let needs = if pair.sampler == NEAREST { vk::FormatFeatureFlags::empty() } else { LINEAR_FILTER };
        if pair.sampler == LODS || !self.can(IMAGES[pair.image], needs) {
            self.app.run.illegal.insert(index);
        }
        let parts = (self.made.views[pair.image], samplers[pair.sampler], self.made.sets);
        let (Some(view), Some(sampler), Some(sets)) = parts else { return false };
        let (device, set) = (self.device, sets[index]);
        let info = [image_info(view, sampler)];
        let write = write(set, &info);
        match (pair.path, self.made.template) {
            (Path::Update, _) => {
                // SAFETY: set, view and sampler are alive and not in use.
                self.watch((round, index), Some(sampler), || unsafe { device.update_descriptor_sets(&[write], &[]) });
            }
            // SAFETY: as above; the sampler is ignored.
            (Path::Immutable, _) => unsafe { device.update_descriptor_sets(&[write], &[]) },
            (Path::Template, Some(template)) => {
                // SAFETY: as above; the template reads one such structure.
                self.watch((round, index), None, || unsafe {
                    device.update_descriptor_set_with_template(set, template, info.as_ptr().cast());
                });
            }
            (Path::Template, None) => return false,
            (Path::Push, _) => {}
        }
        // Without a repair such a pair is not for drawing with.
        let broken = self.app.run.illegal.contains(&index) && !self.app.repaired;
        !broken && !self.app.run.given_up.contains(&(round, index))
    }

    /// Binds a pair with `bind`. A call that fails meanwhile is one of samplin's.
    fn watch(&mut self, place: (usize, usize), sampler: Option<vk::Sampler>, bind: impl FnOnce()) {
        let faults = self.app.faults;
        let before = faults.injected();
        bind();
        if faults.injected() > before {
            self.app.run.given_up.push(place);
        }
        if let Some(sampler) = sampler {
            self.app.run.watched.push(place);
            if faults.written() != sampler.as_raw() {
                self.app.run.rewritten.push(place);
            }
        }
    }

    /// Draws pairs, and tells which of them were drawn; `None` when nothing was.
    fn draw(&mut self, round: usize, ready: &[(usize, vk::Sampler)]) -> Option<Vec<usize>> {
        let (device, raw, f) = (self.device, self.device.handle(), self.device.fp_v1_0());
        let (pool, io, _) = (self.made.commands?, self.made.io?, self.made.mapped?);
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is alive; the buffer dies with it.
        let commands: vk::CommandBuffer = self
            .app
            .create("vkAllocateCommandBuffers", |out| unsafe { (f.allocate_command_buffers)(raw, &info, out) })?;
        let begin = vk::CommandBufferBeginInfo::default();
        // SAFETY: a new command buffer.
        if !self.app.act("vkBeginCommandBuffer", || unsafe { (f.begin_command_buffer)(commands, &begin) }) {
            return None;
        }
        let uploads = !self.made.uploaded;
        if uploads {
            self.upload(commands);
        }
        let mut drawn = Vec::new();
        for (index, sampler) in ready {
            if self.dispatch(commands, round, *index, *sampler, io) {
                drawn.push(*index);
            }
        }
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
        // SAFETY: recording.
        unsafe { device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]) };
        // SAFETY: recording.
        if !self.app.act("vkEndCommandBuffer", || unsafe { (f.end_command_buffer)(commands) }) {
            return None;
        }
        let info = vk::FenceCreateInfo::default();
        let fence: vk::Fence =
            // SAFETY: the create info is a local.
            self.app.create("vkCreateFence", |out| unsafe { (f.create_fence)(raw, &info, ptr::null(), out) })?;
        // SAFETY: queue 0 of family 0 was asked for.
        let queue = unsafe { device.get_device_queue(0, 0) };
        let buffers = [commands];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the buffer is complete and the fence is not in use.
        let mut done = self.app.act("vkQueueSubmit", || unsafe { (f.queue_submit)(queue, 1, &submit, fence) });
        if done {
            self.made.uploaded |= uploads;
            // Each way of waiting once.
            done = if round == 0 {
                // SAFETY: the fence is going to be signalled.
                self.app.act("vkWaitForFences", || unsafe { (f.wait_for_fences)(raw, 1, &fence, 1, u64::MAX) })
            } else {
                // SAFETY: the queue is used by this thread alone.
                self.app.act("vkQueueWaitIdle", || unsafe { (f.queue_wait_idle)(queue) })
            };
        }
        // SAFETY: waited for; the layer that fails calls waits as well.
        unsafe { device.destroy_fence(fence, None) };
        done.then_some(drawn)
    }

    /// Fills the images that there are.
    fn upload(&self, commands: vk::CommandBuffer) {
        let Some(buffer) = self.made.buffer else { return };
        for (index, image) in (0..).zip(self.made.images).filter(|(index, _)| self.made.views[*index].is_some()) {
            let image = image.unwrap_or_default();
            let turn = |(from, to), (before, after), (access, later)| {
                let barrier = vk::ImageMemoryBarrier::default()
                    .src_access_mask(access)
                    .dst_access_mask(later)
                    .old_layout(from)
                    .new_layout(to)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .image(image)
                    .subresource_range(range(index));
                let none = vk::DependencyFlags::empty();
                // SAFETY: recording; the image has memory.
                unsafe { self.device.cmd_pipeline_barrier(commands, before, after, none, &[], &[], &[barrier]) };
            };
            use vk::{AccessFlags as A, ImageLayout as L, PipelineStageFlags as S};
            turn((L::UNDEFINED, L::TRANSFER_DST_OPTIMAL), (S::HOST, S::TRANSFER), (A::empty(), A::TRANSFER_WRITE));
            let region = vk::BufferImageCopy {
                buffer_offset: (index * IMAGE_BYTES) as u64,
                image_subresource: vk::ImageSubresourceLayers {
                    aspect_mask: range(index).aspect_mask,
                    layer_count: 1,
                    ..Default::default()
                },
                image_extent: vk::Extent3D { width: EDGE, height: EDGE, depth: 1 },
                ..Default::default()
            };
            let layout = L::TRANSFER_DST_OPTIMAL;
            // SAFETY: recording; the buffer holds the texels.
            unsafe { self.device.cmd_copy_buffer_to_image(commands, buffer, image, layout, &[region]) };
            turn(
                (L::TRANSFER_DST_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL),
                (S::TRANSFER, S::COMPUTE_SHADER),
                (A::TRANSFER_WRITE, A::SHADER_READ),
            );
        }
    }

    /// Records the draw of a pair; tells whether it could.
    fn dispatch(
        &mut self,
        commands: vk::CommandBuffer,
        round: usize,
        index: usize,
        sampler: vk::Sampler,
        io: vk::DescriptorSet,
    ) -> bool {
        let (device, pair) = (self.device, &PAIRS[index]);
        let program = program(pair);
        let parts = (self.made.pipelines.get(&program).copied(), self.made.pipeline_layouts[program.0]);
        let (Some(pipeline), Some(layout)) = parts else { return false };
        let point = vk::PipelineBindPoint::COMPUTE;
        if pair.path == Path::Push {
            let info = [image_info(self.made.views[pair.image].unwrap_or_default(), sampler)];
            let write = write(vk::DescriptorSet::null(), &info);
            let push = ash::khr::push_descriptor::Device::new(self.instance, device);
            // SAFETY: recording; set 0 of the layout is pushed.
            self.watch((round, index), Some(sampler), || unsafe {
                push.cmd_push_descriptor_set(commands, point, layout, 0, &[write]);
            });
            if self.app.run.given_up.contains(&(round, index)) {
                return false;
            }
        } else {
            let sets = [self.made.sets.expect("was written")[index]];
            // SAFETY: recording; the set was written.
            unsafe { device.cmd_bind_descriptor_sets(commands, point, layout, 0, &sets, &[]) };
        }
        let offset = [(index * RESULT_BYTES) as u32];
        // SAFETY: recording; the layout has these sets and constants, and the shader stays within them.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout, 1, &[io], &offset);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &POINTS.to_ne_bytes());
            device.cmd_dispatch(commands, 1, 1, 1);
        }
        true
    }

    fn destroy(&mut self) {
        let (device, raw, f) = (self.device, self.device.handle(), self.device.fp_v1_0());
        // SAFETY: the device is alive.
        self.app.act("vkDeviceWaitIdle", || unsafe { (f.device_wait_idle)(raw) });
        let made = std::mem::take(&mut self.made);
        // SAFETY: nothing is pending, users go before what they use, and null is ignored.
        unsafe {
            device.destroy_command_pool(made.commands.unwrap_or_default(), None);
            device.destroy_descriptor_update_template(made.template.unwrap_or_default(), None);
            device.destroy_descriptor_pool(made.pool.unwrap_or_default(), None);
            made.pipelines.into_values().for_each(|pipeline| device.destroy_pipeline(pipeline, None));
            made.modules.into_iter().flatten().for_each(|module| device.destroy_shader_module(module, None));
            let layouts = made.pipeline_layouts.into_iter().flatten();
            layouts.for_each(|layout| device.destroy_pipeline_layout(layout, None));
            let layouts = made.layouts.into_iter().flatten();
            layouts.for_each(|layout| device.destroy_descriptor_set_layout(layout, None));
            device.destroy_sampler(made.immutable.unwrap_or_default(), None);
            device.destroy_sampler(made.converting.unwrap_or_default(), None);
            if let Some(conversion) = made.conversion {
                device.destroy_sampler_ycbcr_conversion(conversion, None);
            }
            made.views.into_iter().flatten().for_each(|view| device.destroy_image_view(view, None));
            made.images.into_iter().flatten().for_each(|image| device.destroy_image(image, None));
            device.destroy_buffer(made.buffer.unwrap_or_default(), None);
            made.memory.into_iter().flatten().for_each(|memory| device.free_memory(memory, None));
        }
    }
}

const LINEAR_FILTER: vk::FormatFeatureFlags = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;

/// All of an image.
fn range(image: usize) -> vk::ImageSubresourceRange {
    let depth = IMAGES[image] == vk::Format::D32_SFLOAT;
    vk::ImageSubresourceRange {
        aspect_mask: if depth { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR },
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    }
}

fn image_info(image_view: vk::ImageView, sampler: vk::Sampler) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo { sampler, image_view, image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL }
}

fn write(set: vk::DescriptorSet, info: &[vk::DescriptorImageInfo]) -> vk::WriteDescriptorSet<'_> {
    vk::WriteDescriptorSet::default()
        .dst_set(set)
        .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
        .image_info(info)
}
