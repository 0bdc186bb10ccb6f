//! What runs while calls fail: a program that makes objects of every kind that samplin looks at, binds pairs on four paths, draws and
//! looks at the pixels, twice, and goes on as well as it can without what failed.

use super::{Faults, Output, Run, Step};
use crate::run::Skip;
use ash::vk::{self, Handle};
use samplin_testkit::image::{FIRST, barrier, turned};
use samplin_testkit::shader::{Access, ResultKind, Shape, words};
use samplin_testkit::{ImageDesc, context, layer};
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
    let (min_lod, max_lod) = if index == LODS { (2.0, 0.5) } else { (0.0, 1.0) };
    let info = vk::SamplerCreateInfo::default().mag_filter(filter).min_filter(filter).min_lod(min_lod).max_lod(max_lod);
    info.address_mode_u(address).address_mode_v(address).address_mode_w(address)
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
    /// Each with a view of it.
    images: [Option<(vk::Image, vk::ImageView)>; IMAGES.len()],
    /// Where it is mapped, as well.
    buffer: Option<(vk::Buffer, *mut u8)>,
    immutable: Option<vk::Sampler>,
    /// For written, pushed and immutable pairs, and for points and results.
    layouts: [Option<vk::DescriptorSetLayout>; 4],
    /// For written, pushed and immutable pairs.
    pipeline_layouts: [Option<vk::PipelineLayout>; 3],
    /// By layout and numeric kind.
    pipelines: BTreeMap<(usize, usize), vk::Pipeline>,
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
            let mut script =
                Script { app: self, instance, physical, device: &device, made: Made::default(), gone: Vec::new() };
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
    /// Destroys what lives as long as the device, in the order of its making.
    gone: Vec<Box<dyn FnOnce(vk::Device)>>,
}

/// A command that makes an object of a device, and one that destroys it.
type Create<I, T> =
    unsafe extern "system" fn(vk::Device, *const I, *const vk::AllocationCallbacks<'_>, *mut T) -> vk::Result;
type Destroy<T> = unsafe extern "system" fn(vk::Device, T, *const vk::AllocationCallbacks<'_>);

impl Script<'_, '_> {
    /// Whether optimal images of a format can do something.
    fn can(&self, format: vk::Format, what: vk::FormatFeatureFlags) -> bool {
        // SAFETY: the physical device is the instance's.
        let found = unsafe { self.instance.get_physical_device_format_properties(self.physical, format) };
        found.optimal_tiling_features.contains(what)
    }

    /// An object of the device. What is in its create info is alive and valid, but for samplers, which the script is about.
    fn create<I, T: Out>(&mut self, command: &'static str, create: Create<I, T>, info: &I) -> Option<T> {
        let raw = self.device.handle();
        // SAFETY: as above.
        self.app.create(command, |out| unsafe { create(raw, info, ptr::null(), out) })
    }

    /// The same for as long as the device lives.
    fn keep<I, T: Out + 'static>(
        &mut self,
        command: &'static str,
        (create, destroy): (Create<I, T>, Destroy<T>),
        info: &I,
    ) -> Option<T> {
        let made = self.create(command, create, info)?;
        // SAFETY: nothing is pending then, and who uses it was made later and is gone.
        self.gone.push(Box::new(move |device| unsafe { destroy(device, made, ptr::null()) }));
        Some(made)
    }

    fn allocate(&mut self, needs: vk::MemoryRequirements, flags: vk::MemoryPropertyFlags) -> Option<vk::DeviceMemory> {
        // SAFETY: the physical device is the instance's.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let index = (0..types.memory_type_count).find(|index| {
            needs.memory_type_bits >> index & 1 == 1
                && types.memory_types[*index as usize].property_flags.contains(flags)
        })?;
        let (info, f) = (vk::MemoryAllocateInfo::default(), self.device.fp_v1_0());
        let info = info.allocation_size(needs.size).memory_type_index(index);
        self.keep("vkAllocateMemory", (f.allocate_memory, f.free_memory), &info)
    }

    fn sampler(&mut self, info: &vk::SamplerCreateInfo<'_>) -> Option<vk::Sampler> {
        self.create("vkCreateSampler", self.device.fp_v1_0().create_sampler, info)
    }

    /// The same for as long as the device lives.
    fn kept_sampler(&mut self, info: &vk::SamplerCreateInfo<'_>) -> Option<vk::Sampler> {
        let f = self.device.fp_v1_0();
        self.keep("vkCreateSampler", (f.create_sampler, f.destroy_sampler), info)
    }

    fn image(&mut self, index: usize) -> Option<(vk::Image, vk::ImageView)> {
        let (device, raw, f) = (self.device, self.device.handle(), self.device.fp_v1_0());
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let info = ImageDesc { usage, ..ImageDesc::d2(IMAGES[index], EDGE, EDGE) }.info();
        let image = self.keep("vkCreateImage", (f.create_image, f.destroy_image), &info)?;
        // SAFETY: made just now.
        let needs = unsafe { device.get_image_memory_requirements(image) };
        let memory = self.allocate(needs, vk::MemoryPropertyFlags::empty())?;
        // SAFETY: the memory is as the image needs it.
        if !self.app.act("vkBindImageMemory", || unsafe { (f.bind_image_memory)(raw, image, memory, 0) }) {
            return None;
        }
        let info = vk::ImageViewCreateInfo::default().image(image).view_type(vk::ImageViewType::TYPE_2D);
        let info = info.format(IMAGES[index]).subresource_range(range(index));
        Some((image, self.keep("vkCreateImageView", (f.create_image_view, f.destroy_image_view), &info)?))
    }

    fn buffer(&mut self) -> Option<(vk::Buffer, *mut u8)> {
        let (device, raw, f) = (self.device, self.device.handle(), self.device.fp_v1_0());
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::STORAGE_BUFFER;
        let info = vk::BufferCreateInfo::default().size(BUFFER_BYTES as u64).usage(usage);
        let buffer = self.keep("vkCreateBuffer", (f.create_buffer, f.destroy_buffer), &info)?;
        // SAFETY: made just now.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = self.allocate(needs, flags)?;
        // SAFETY: the memory is as the buffer needs it.
        if !self.app.act("vkBindBufferMemory", || unsafe { (f.bind_buffer_memory)(raw, buffer, memory, 0) }) {
            return None;
        }
        let mut mapped = ptr::null_mut();
        // SAFETY: the memory is host visible; the pointer is a local.
        let done = self.app.act("vkMapMemory", || unsafe {
            (f.map_memory)(raw, memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty(), &mut mapped)
        });
        done.then_some((buffer, mapped.cast()))
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= BUFFER_BYTES);
        if let Some((_, mapped)) = self.made.buffer {
            // SAFETY: within the mapping, and nothing is submitted.
            unsafe { mapped.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }

    /// A conversion, and a sampler with it whose address modes it does not allow. Nothing is drawn with them.
    fn conversion(&mut self) -> Option<vk::Sampler> {
        const FORMAT: vk::Format = vk::Format::G8_B8R8_2PLANE_420_UNORM;
        let location = [
            (vk::FormatFeatureFlags::MIDPOINT_CHROMA_SAMPLES, vk::ChromaLocation::MIDPOINT),
            (vk::FormatFeatureFlags::COSITED_CHROMA_SAMPLES, vk::ChromaLocation::COSITED_EVEN),
        ];
        let (_, location) = location.into_iter().find(|(bit, _)| self.can(FORMAT, *bit))?;
        let f = self.device.fp_v1_1();
        let info = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(FORMAT)
            .ycbcr_model(vk::SamplerYcbcrModelConversion::YCBCR_709)
            .x_chroma_offset(location)
            .y_chroma_offset(location);
        let commands = (f.create_sampler_ycbcr_conversion, f.destroy_sampler_ycbcr_conversion);
        let conversion = self.keep("vkCreateSamplerYcbcrConversion", commands, &info)?;
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let info = vk::SamplerCreateInfo { max_lod: 0.0, ..sampler_info(NEAREST) };
        self.kept_sampler(&info.address_mode_u(vk::SamplerAddressMode::REPEAT).push_next(&mut chained))
    }

    /// Everything that lives as long as the device.
    fn make(&mut self, push: bool, converts: bool) {
        let f = self.device.fp_v1_0();
        self.made.images = std::array::from_fn(|index| self.image(index));
        self.made.buffer = self.buffer();
        for (at, bytes) in (0..IMAGES.len()).map(|n| (n * IMAGE_BYTES, texels(n))).chain([(POINTS_AT, points())]) {
            self.write(at, &bytes);
        }
        if converts {
            self.conversion();
        }
        // Of a state of its own: what samplin could not repair stays so as long as a sampler of its state lives.
        self.made.immutable = self.kept_sampler(&vk::SamplerCreateInfo { max_lod: 3.0, ..sampler_info(LINEAR) });
        let immutable = [self.made.immutable.unwrap_or_default()];
        let combined = |binding: u32| {
            let of = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_count(1);
            of.descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER).stage_flags(vk::ShaderStageFlags::COMPUTE)
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
                let commands = (f.create_descriptor_set_layout, f.destroy_descriptor_set_layout);
                self.made.layouts[layout] = self.keep("vkCreateDescriptorSetLayout", commands, &info);
            }
        }
        let size = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(4)];
        for layout in [WRITTEN, PUSHED, IMMUTABLE] {
            let (Some(pairs), Some(io)) = (self.made.layouts[layout], self.made.layouts[IO]) else { continue };
            let layouts = [pairs, io];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&size);
            let commands = (f.create_pipeline_layout, f.destroy_pipeline_layout);
            self.made.pipeline_layouts[layout] = self.keep("vkCreatePipelineLayout", commands, &info);
        }
        // By numeric kind: floats, unsigned integers.
        let modules = [ResultKind::Float, ResultKind::Uint].map(|kind| {
            let words = words("sample", Shape::D2, kind, Access::Single { binding: 0 });
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            self.keep("vkCreateShaderModule", (f.create_shader_module, f.destroy_shader_module), &info)
        });
        let programs: BTreeSet<(usize, usize)> = PAIRS.iter().map(program).collect();
        for (layout, kind) in programs {
            let (Some(of), Some(module)) = (self.made.pipeline_layouts[layout], modules[kind]) else { continue };
            let stage = vk::PipelineShaderStageCreateInfo::default().module(module).name(c"main");
            let info = vk::ComputePipelineCreateInfo::default().layout(of);
            let info = info.stage(stage.stage(vk::ShaderStageFlags::COMPUTE));
            let (raw, none) = (self.device.handle(), vk::PipelineCache::null());
            // SAFETY: module and layout are alive and fit each other.
            let made = self.app.create("vkCreateComputePipelines", |out| unsafe {
                (f.create_compute_pipelines)(raw, none, 1, &info, ptr::null(), out)
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
        let commands = (f.create_descriptor_pool, f.destroy_descriptor_pool);
        if let Some(pool) = self.keep("vkCreateDescriptorPool", commands, &info) {
            self.made.sets = self.allocate_sets(
                pool,
                PAIRS.each_ref().map(|pair| match pair.path {
                    Path::Immutable => self.made.layouts[IMMUTABLE],
                    _ => self.made.layouts[WRITTEN],
                }),
            );
            self.made.io = self.allocate_sets(pool, [self.made.layouts[IO]]).map(|[io]| io);
        }
        if let (Some(set), Some((buffer, _))) = (self.made.io, self.made.buffer) {
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
            unsafe { self.device.update_descriptor_sets(&writes, &[]) };
        }
        if let Some(layout) = self.made.layouts[WRITTEN] {
            let entries = [vk::DescriptorUpdateTemplateEntry {
                descriptor_count: 1,
                descriptor_type: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
                ..Default::default()
            }];
            let info = vk::DescriptorUpdateTemplateCreateInfo::default();
            let info = info.descriptor_update_entries(&entries).descriptor_set_layout(layout);
            let f = self.device.fp_v1_1();
            let commands = (f.create_descriptor_update_template, f.destroy_descriptor_update_template);
            self.made.template = self.keep("vkCreateDescriptorUpdateTemplate", commands, &info);
        }
        // Family 0 has the device's queue.
        let commands = (f.create_command_pool, f.destroy_command_pool);
        self.made.commands = self.keep("vkCreateCommandPool", commands, &vk::CommandPoolCreateInfo::default());
    }

    /// Sets of a pool that has room for them, if all of their layouts are there.
    fn allocate_sets<const N: usize>(
        &mut self,
        pool: vk::DescriptorPool,
        layouts: [Option<vk::DescriptorSetLayout>; N],
    ) -> Option<[vk::DescriptorSet; N]> {
        let (raw, f) = (self.device.handle(), self.device.fp_v1_0());
        let layouts = layouts.iter().all(Option::is_some).then(|| layouts.map(Option::unwrap_or_default))?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room and the layouts are alive.
        self.app.create_all("vkAllocateDescriptorSets", |out| unsafe { (f.allocate_descriptor_sets)(raw, &info, out) })
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
            let (_, mapped) = self.made.buffer.expect("was drawn into");
            // SAFETY: within the mapping; the draw has been waited for.
            let from = unsafe { mapped.add(RESULTS_AT + index * RESULT_BYTES) };
            // SAFETY: as above.
            unsafe { from.copy_to_nonoverlapping(pixels.as_mut_ptr(), pixels.len()) };
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
        let parts = (self.made.images[pair.image], samplers[pair.sampler], self.made.sets);
        let (Some((_, view)), Some(sampler), Some(sets)) = parts else { return false };
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
        let (pool, io, _) = (self.made.commands?, self.made.io?, self.made.buffer?);
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
        barrier(device, commands, &[]);
        // SAFETY: recording.
        if !self.app.act("vkEndCommandBuffer", || unsafe { (f.end_command_buffer)(commands) }) {
            return None;
        }
        let fence = self.create("vkCreateFence", f.create_fence, &vk::FenceCreateInfo::default())?;
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
        use vk::ImageLayout as L;
        let Some((buffer, _)) = self.made.buffer else { return };
        for (index, (image, _)) in
            self.made.images.iter().enumerate().filter_map(|(index, made)| Some((index, (*made)?)))
        {
            let turn = |layouts| barrier(self.device, commands, &[turned(image, range(index), layouts)]);
            turn([L::UNDEFINED, L::TRANSFER_DST_OPTIMAL]);
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(range(index).aspect_mask).layer_count(1);
            let region = vk::BufferImageCopy::default()
                .buffer_offset((index * IMAGE_BYTES) as u64)
                .image_subresource(layers)
                .image_extent(vk::Extent3D { width: EDGE, height: EDGE, depth: 1 });
            let layout = L::TRANSFER_DST_OPTIMAL;
            // SAFETY: recording; the buffer holds the texels.
            unsafe { self.device.cmd_copy_buffer_to_image(commands, buffer, image, layout, &[region]) };
            turn([L::TRANSFER_DST_OPTIMAL, L::SHADER_READ_ONLY_OPTIMAL]);
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
            let info = [image_info(self.made.images[pair.image].unwrap_or_default().1, sampler)];
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
        for pipeline in std::mem::take(&mut self.made.pipelines).into_values() {
            // SAFETY: nothing is pending.
            unsafe { device.destroy_pipeline(pipeline, None) };
        }
        self.gone.drain(..).rev().for_each(|gone| gone(raw));
    }
}

const LINEAR_FILTER: vk::FormatFeatureFlags = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;

/// All of an image.
fn range(image: usize) -> vk::ImageSubresourceRange {
    let depth = IMAGES[image] == vk::Format::D32_SFLOAT;
    let aspect_mask = if depth { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR };
    vk::ImageSubresourceRange { aspect_mask, ..FIRST }
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
