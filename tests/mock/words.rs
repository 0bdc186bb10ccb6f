//! The words of these tests: formats and types by one name each, and what an application does in one line.

use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use serde_json::Value;

use crate::driver::machine::{Read, place};
use crate::driver::{Args, Array, At, Call, Chained, Kind, OwnFailure, Write, lock};
use crate::loader::{Device, DeviceInfo, INFO, InstanceBuilder, SUCCESS, allocator};
use crate::loader::{binding, call, combined, create, entry, linear_info, pair};

pub(crate) use ash::vk::{DescriptorType as Ty, Filter, PipelineBindPoint as Point, ShaderStageFlags as Stage};

pub(crate) const COMPUTE: Point = Point::COMPUTE;
pub(crate) const GRAPHICS: Point = Point::GRAPHICS;
pub(crate) const IMAGE: Ty = Ty::SAMPLED_IMAGE;
pub(crate) const SAMPLER: Ty = Ty::SAMPLER;
pub(crate) const COMBINED: Ty = Ty::COMBINED_IMAGE_SAMPLER;

/// Formats that the driver filters.
pub(crate) const FILTERED: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub(crate) const BGRA: vk::Format = vk::Format::B8G8R8A8_UNORM;
/// Formats that it does not.
pub(crate) const INTEGERS: vk::Format = vk::Format::R32_UINT;
pub(crate) const FLOATS: vk::Format = vk::Format::R32_SFLOAT;
pub(crate) const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
pub(crate) const SRGB: vk::Format = vk::Format::B8G8R8A8_SRGB;
pub(crate) const PLANAR: vk::Format = vk::Format::G8_B8R8_2PLANE_420_UNORM;

/// The mode of `VK_SAMPLIN_gl_address_modes`, and the extension.
pub(crate) const GL_CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::from_raw(0x2900);
pub(crate) const GL_ADDRESS_MODES: &CStr = c"VK_SAMPLIN_gl_address_modes";

/// A descriptor of an image alone, and one of a sampler alone.
pub(crate) fn image_alone(view: vk::ImageView) -> vk::DescriptorImageInfo {
    pair(vk::Sampler::null(), view)
}

pub(crate) fn sampler_alone(sampler: vk::Sampler) -> vk::DescriptorImageInfo {
    pair(sampler, vk::ImageView::null())
}

/// What is asked about a descriptor of a view, and of a sampler if it is of both.
pub(crate) fn handle_info(ty: Ty, of: &vk::DescriptorImageInfo) -> vk::ImageViewHandleInfoNVX<'static> {
    vk::ImageViewHandleInfoNVX::default().image_view(of.image_view).descriptor_type(ty).sampler(of.sampler)
}

/// Bindings of compute shaders, one descriptor each, numbered from 0.
pub(crate) fn of_compute<const N: usize>(types: [Ty; N]) -> [vk::DescriptorSetLayoutBinding<'static>; N] {
    std::array::from_fn(|number| binding(number as u32, types[number], 1).stage_flags(Stage::COMPUTE))
}

/// A sampler with one address mode on all axes.
pub(crate) fn addressed(mode: vk::SamplerAddressMode) -> vk::SamplerCreateInfo<'static> {
    linear_info().address_mode_u(mode).address_mode_v(mode).address_mode_w(mode)
}

/// The features of custom border colours, with and without a format.
pub(crate) fn any_border() -> vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static> {
    let features = vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default().custom_border_colors(true);
    features.custom_border_color_without_format(true)
}

/// A sampler that reads the least of what it would filter.
pub(crate) fn least(device: &Device) -> vk::Sampler {
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MIN);
    device.sampler(&linear_info().push_next(&mut reduction))
}

/// A shader object of SPIR-V.
pub(crate) fn shader_info(stage: Stage, code: &[u8]) -> vk::ShaderCreateInfoEXT<'_> {
    let info = vk::ShaderCreateInfoEXT::default().stage(stage).code_type(vk::ShaderCodeTypeEXT::SPIRV);
    info.code(code).name(c"main")
}

pub(crate) fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// A multisample state, and a library with some parts of a pipeline.
pub(crate) fn sampled(samples: vk::SampleCountFlags) -> vk::PipelineMultisampleStateCreateInfo<'static> {
    vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples)
}

pub(crate) fn library_of(
    parts: vk::GraphicsPipelineLibraryFlagsEXT,
) -> vk::GraphicsPipelineLibraryCreateInfoEXT<'static> {
    vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(parts)
}

/// The states of a usual graphics pipeline, which may be changed before it is made.
pub(crate) struct States<'a> {
    pub(crate) input: vk::PipelineVertexInputStateCreateInfo<'a>,
    pub(crate) assembly: vk::PipelineInputAssemblyStateCreateInfo<'a>,
    pub(crate) viewport: vk::PipelineViewportStateCreateInfo<'a>,
    pub(crate) raster: vk::PipelineRasterizationStateCreateInfo<'a>,
    pub(crate) samples: vk::PipelineMultisampleStateCreateInfo<'a>,
    pub(crate) dynamic: vk::PipelineDynamicStateCreateInfo<'a>,
}

impl<'a> States<'a> {
    pub(crate) fn new(dynamic: &'a [vk::DynamicState]) -> Self {
        const VIEWPORTS: &[vk::Viewport] =
            &[vk::Viewport { x: 0.0, y: 0.0, width: 0.0, height: 0.0, min_depth: 0.0, max_depth: 0.0 }];
        const SCISSORS: &[vk::Rect2D] =
            &[vk::Rect2D { offset: vk::Offset2D { x: 0, y: 0 }, extent: vk::Extent2D { width: 0, height: 0 } }];
        Self {
            input: Default::default(),
            assembly: Default::default(),
            viewport: vk::PipelineViewportStateCreateInfo::default().viewports(VIEWPORTS).scissors(SCISSORS),
            raster: vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0),
            samples: sampled(vk::SampleCountFlags::TYPE_1),
            dynamic: vk::PipelineDynamicStateCreateInfo::default().dynamic_states(dynamic),
        }
    }

    pub(crate) fn info(
        &'a self,
        stages: &'a [vk::PipelineShaderStageCreateInfo<'a>],
    ) -> vk::GraphicsPipelineCreateInfo<'a> {
        vk::GraphicsPipelineCreateInfo::default()
            .stages(stages)
            .vertex_input_state(&self.input)
            .input_assembly_state(&self.assembly)
            .viewport_state(&self.viewport)
            .rasterization_state(&self.raster)
            .multisample_state(&self.samples)
            .dynamic_state(&self.dynamic)
    }
}

/// A library with all parts.
pub(crate) fn whole_library() -> vk::GraphicsPipelineLibraryCreateInfoEXT<'static> {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    let shaders = Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER;
    library_of(Part::VERTEX_INPUT_INTERFACE | shaders | Part::FRAGMENT_OUTPUT_INTERFACE)
}

/// What records say under a member that has a text in each.
pub(crate) fn texts(records: &[Value], member: &str) -> Vec<String> {
    records.iter().map(|record| record[member].as_str().unwrap_or_default().to_owned()).collect()
}

/// A file of a test alone, removed at the end.
pub(crate) struct File(pub(crate) PathBuf);

impl File {
    /// Nothing is there yet.
    pub(crate) fn at(ending: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("samplin-mock-{}-{}.{ending}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let file = Self(std::env::temp_dir().join(name));
        let _ = std::fs::remove_file(&file.0);
        file
    }

    pub(crate) fn new(ending: &str, text: impl AsRef<[u8]>) -> Self {
        let file = Self::at(ending);
        std::fs::write(&file.0, text).expect("the file is written");
        file
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// How pairs of image and sampler reach the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Update,
    Template,
    Push,
    Push2,
    PushTemplate,
    PushTemplate2,
}

impl Way {
    pub(crate) const PUSHES: [Self; 4] = [Self::Push, Self::Push2, Self::PushTemplate, Self::PushTemplate2];
}

/// A device with a LINEAR sampler, a view that suits it and one that does not. Nothing of how they were made is written down.
pub(crate) struct Pairs {
    pub(crate) device: Device,
    pub(crate) sampler: vk::Sampler,
    pub(crate) legal: vk::ImageView,
    pub(crate) illegal: vk::ImageView,
}

impl std::ops::Deref for Pairs {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

impl Pairs {
    pub(crate) fn on(device: Device) -> Self {
        let (sampler, legal, illegal) = (device.linear(), device.view(FILTERED), device.view(INTEGERS));
        device.driver.calls();
        Self { device, sampler, legal, illegal }
    }

    pub(crate) fn usual() -> Self {
        Self::on(Device::usual())
    }

    pub(crate) fn traced() -> Self {
        Self::on(Device::traced())
    }
}

impl InstanceBuilder {
    /// A device with these extensions and no others, of an instance of its own.
    pub(crate) fn bare(self, extensions: &[&'static CStr]) -> Device {
        self.instance().device(&DeviceInfo { extensions: extensions.to_vec(), ..DeviceInfo::default() })
    }

    /// A device on which binds are followed, below and above the layer, with a trace of decisions.
    pub(crate) fn followed(self) -> Self {
        self.driver(|config| config.follows = true).set("separate", "resolve").traced("decisions")
    }
}

impl Device {
    // ---- objects ----

    pub(crate) fn layout_flagged(
        &self,
        flags: vk::DescriptorSetLayoutCreateFlags,
        bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    ) -> vk::DescriptorSetLayout {
        let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(bindings);
        self.layout_of(&info)
    }

    /// A layout whose bindings have these flags; one of sets that are updated after a bind, if one of them has that.
    pub(crate) fn layout_with(
        &self,
        bindings: &[vk::DescriptorSetLayoutBinding<'_>],
        of_bindings: &[vk::DescriptorBindingFlags],
    ) -> vk::DescriptorSetLayout {
        let mut chained = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(of_bindings);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings).push_next(&mut chained);
        if of_bindings.iter().any(|flags| flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND)) {
            info.flags |= vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
        }
        self.layout_of(&info)
    }

    pub(crate) fn pool_flagged(&self, flags: vk::DescriptorPoolCreateFlags) -> vk::DescriptorPool {
        create!(self.create_pool(&vk::DescriptorPoolCreateInfo::default().flags(flags)))
    }

    pub(crate) fn compute_with(&self, info: &vk::ComputePipelineCreateInfo<'_>) -> vk::Pipeline {
        create!(self.create_compute_pipelines(vk::PipelineCache::null(), 1, info))
    }

    pub(crate) fn graphics_with(&self, info: &vk::GraphicsPipelineCreateInfo<'_>) -> vk::Pipeline {
        create!(self.create_graphics_pipelines(vk::PipelineCache::null(), 1, info))
    }

    pub(crate) fn command_pool(&self) -> vk::CommandPool {
        create!(self.create_command_pool(&vk::CommandPoolCreateInfo::default()))
    }

    pub(crate) fn command_buffers<const N: usize>(&self, pool: vk::CommandPool) -> [vk::CommandBuffer; N] {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(N as u32);
        let mut commands = [vk::CommandBuffer::null(); N];
        assert_eq!(call!(self.allocate_command_buffers(self.raw, &info, commands.as_mut_ptr())), SUCCESS);
        commands
    }

    pub(crate) fn conversion(&self, info: &vk::SamplerYcbcrConversionCreateInfo<'_>) -> vk::SamplerYcbcrConversion {
        create!(self.create_conversion(info))
    }

    pub(crate) fn free(&self, pool: vk::DescriptorPool, sets: &[vk::DescriptorSet]) {
        assert_eq!(call!(self.free_sets(self.raw, pool, sets.len() as u32, sets.as_ptr())), SUCCESS);
    }

    pub(crate) fn reset_pool(&self, pool: vk::DescriptorPool) {
        assert_eq!(call!(self.reset_pool(self.raw, pool, vk::DescriptorPoolResetFlags::empty())), SUCCESS);
    }

    pub(crate) fn name<T: Handle>(&self, object: T, text: &CStr) {
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(text);
        assert_eq!(call!(self.set_name(self.raw, &info)), SUCCESS);
    }

    // ---- descriptors ----

    /// Writes one descriptor: its binding and element.
    pub(crate) fn write(&self, set: vk::DescriptorSet, at: (u32, u32), ty: Ty, info: vk::DescriptorImageInfo) {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(at.0).dst_array_element(at.1);
        self.update(&[write.descriptor_type(ty).image_info(&[info])], &[]);
    }

    pub(crate) fn write_image(&self, set: vk::DescriptorSet, number: u32, view: vk::ImageView) {
        self.write(set, (number, 0), IMAGE, image_alone(view));
    }

    pub(crate) fn write_sampler(&self, set: vk::DescriptorSet, number: u32, sampler: vk::Sampler) {
        self.write(set, (number, 0), SAMPLER, sampler_alone(sampler));
    }

    /// Writes to sets; what arrives.
    #[track_caller]
    pub(crate) fn updates(&self, writes: &[vk::WriteDescriptorSet<'_>]) -> Array<Write> {
        self.driver.calls();
        self.update(writes, &[]);
        crate::args!(self, c"vkUpdateDescriptorSets", Args::Update { writes, .. });
        writes
    }

    /// Writes one pair to a set; the sampler that arrives.
    #[track_caller]
    pub(crate) fn written_to(&self, set: vk::DescriptorSet, number: u32, info: vk::DescriptorImageInfo) -> vk::Sampler {
        self.updates(&[combined(set, number, &[info])]).items[0].images[0].sampler
    }

    /// Pushes with a template and this chain.
    pub(crate) fn push_with_template2(
        &self,
        template: vk::DescriptorUpdateTemplate,
        (layout, set): (vk::PipelineLayout, u32),
        p_data: *const c_void,
        p_next: *const c_void,
    ) {
        let info = vk::PushDescriptorSetWithTemplateInfoKHR { p_next, p_data, set, layout, ..Default::default() };
        call!(self.push_with_template2(self.commands, &info.descriptor_update_template(template)));
    }

    /// Pushes one pair to a set of a layout, or by a template of no layout to a set of its own; the sampler that arrives.
    #[track_caller]
    pub(crate) fn sent(
        &self,
        way: Way,
        (layout, set, number): (vk::PipelineLayout, u32, u32),
        info: vk::DescriptorImageInfo,
    ) -> vk::Sampler {
        let (infos, entries) = ([info], [entry(number, 0, 1, COMBINED, 0, INFO)]);
        let writes = [combined(vk::DescriptorSet::from_raw(0x123), number, &infos)];
        let at = infos.as_ptr().cast();
        if way == Way::Update {
            return self.written_to(self.plain_set(), number, info);
        }
        let (own, template) = match way {
            Way::Template => (self.plain_set(), self.template(self.layout(&[]), &entries)),
            Way::PushTemplate | Way::PushTemplate2 => (Default::default(), self.push_template(&entries)),
            _ => Default::default(),
        };
        self.driver.calls();
        match way {
            Way::Push => self.push(layout, set, &writes),
            Way::Push2 => {
                self.push2(&vk::PushDescriptorSetInfoKHR::default().layout(layout).set(set).descriptor_writes(&writes))
            }
            Way::PushTemplate => call!(self.push_with_template(self.commands, template, layout, set, at)),
            Way::PushTemplate2 => {
                self.push_with_template2(template, (layout, set), at, std::ptr::null());
            }
            _ => self.update_with_template(own, template, at),
        }
        let arrived = self.driver.calls().into_iter().find_map(|call| match call.args {
            Args::Push { writes, .. } | Args::Push2 { writes, .. } => Some(writes.items[0].images[0].sampler),
            Args::Template { elements, .. } | Args::Template2 { elements, .. } => Some(elements[0].image?.sampler),
            _ => None,
        });
        arrived.expect("the call arrives")
    }

    /// Asks for a descriptor in memory. Says whether the application's own structure went down, and what it led to there.
    #[track_caller]
    pub(crate) fn described(
        &self,
        ty: Ty,
        data: vk::DescriptorDataEXT,
    ) -> (bool, At<vk::DescriptorImageInfo>, At<vk::DescriptorAddressInfoEXT<'static>>) {
        let info = vk::DescriptorGetInfoEXT { ty, data, ..Default::default() };
        let mut out = [0_u64; 2];
        self.driver.calls();
        call!(self.get_descriptor(self.raw, &info, 16, out.as_mut_ptr().cast()));
        crate::args!(self, c"vkGetDescriptorEXT", Args::GetDescriptor { info: down, image, texels });
        (down.at == std::ptr::from_ref(&info) as usize, image, texels)
    }

    // ---- commands ----

    pub(crate) fn bind_pipeline(&self, commands: vk::CommandBuffer, point: Point, pipeline: vk::Pipeline) {
        call!(self.bind_pipeline(commands, point, pipeline));
    }

    pub(crate) fn bind_sets(
        &self,
        commands: vk::CommandBuffer,
        point: Point,
        layout: vk::PipelineLayout,
        sets: &[vk::DescriptorSet],
    ) {
        self.bind_sets_at(commands, point, (layout, 0), sets, &[]);
    }

    pub(crate) fn bind_sets_at(
        &self,
        commands: vk::CommandBuffer,
        point: Point,
        (layout, first): (vk::PipelineLayout, u32),
        sets: &[vk::DescriptorSet],
        offsets: &[u32],
    ) {
        let [count, dynamic] = [sets.len() as u32, offsets.len() as u32];
        call!(self.bind_sets(commands, point, layout, first, count, sets.as_ptr(), dynamic, offsets.as_ptr()));
    }

    /// Records a dispatch or a draw: a pipeline, and sets from number 0 on.
    pub(crate) fn record(
        &self,
        commands: vk::CommandBuffer,
        (point, pipeline): (Point, vk::Pipeline),
        layout: vk::PipelineLayout,
        sets: &[vk::DescriptorSet],
    ) {
        self.begin(commands);
        self.bind_pipeline(commands, point, pipeline);
        self.bind_sets(commands, point, layout, sets);
        self.act(commands, point);
    }

    /// Begins transform feedback, or ends it.
    pub(crate) fn feed_back(&self, commands: vk::CommandBuffer, begins: bool) {
        let (buffers, offsets) = (std::ptr::null(), std::ptr::null());
        match begins {
            true => call!(self.begin_feedback(commands, 0, 0, buffers, offsets)),
            false => call!(self.end_feedback(commands, 0, 0, buffers, offsets)),
        }
    }

    /// Blits an image to itself; the filter that arrives.
    pub(crate) fn blits_with(&self, image: vk::Image, filter: Filter) -> Filter {
        let layout = vk::ImageLayout::GENERAL;
        self.driver.calls();
        call!(self.blit(self.commands, image, layout, image, layout, 0, std::ptr::null(), filter));
        crate::args!(self, c"vkCmdBlitImage", Args::Blit { filter, .. });
        filter
    }

    // ---- what arrived ----

    /// Creates a sampler. What the driver was given, and whether that is the application's own create info.
    #[track_caller]
    pub(crate) fn try_created(
        &self,
        info: &vk::SamplerCreateInfo<'_>,
    ) -> Result<(vk::Sampler, Chained<vk::SamplerCreateInfo<'static>>, bool), vk::Result> {
        self.driver.calls();
        let made = self.try_sampler(info);
        crate::args!(self, c"vkCreateSampler", Args::CreateSampler { info: down, .. });
        let is_own = down.at == std::ptr::from_ref(info) as usize;
        made.map(|sampler| (sampler, down, is_own))
    }

    #[track_caller]
    pub(crate) fn created(
        &self,
        info: &vk::SamplerCreateInfo<'_>,
    ) -> (vk::Sampler, Chained<vk::SamplerCreateInfo<'static>>, bool) {
        self.try_created(info).expect("the sampler is created")
    }

    /// Whether the only call of a command since the last look came with the application's own pointer.
    #[track_caller]
    pub(crate) fn took<T: ?Sized>(&self, command: &CStr, given: *const T) -> bool {
        let calls = self.driver.calls_of(command);
        assert_eq!(calls.len(), 1, "{command:?} was called {} times", calls.len());
        calls[0].at() == given.cast::<u8>() as usize
    }

    /// What a dispatch or a draw reads that was recorded last, if that were submitted now.
    #[track_caller]
    pub(crate) fn reads(&self, commands: vk::CommandBuffer, point: Point) -> Vec<Read> {
        self.driver.check();
        let reads = lock(&self.driver.machine).draw(commands.as_raw(), place(point));
        reads.expect("what is bound can be drawn with")
    }

    pub(crate) fn bound_pipeline(&self, commands: vk::CommandBuffer, point: Point) -> u64 {
        lock(&self.driver.machine).bound_pipeline(commands.as_raw(), place(point))
    }

    pub(crate) fn bound_sets(&self, commands: vk::CommandBuffer) -> Vec<u64> {
        lock(&self.driver.machine).bound_sets(commands.as_raw())
    }

    /// What a live sampler was created with.
    #[track_caller]
    pub(crate) fn model(&self, handle: u64) -> vk::SamplerCreateInfo<'static> {
        self.driver.sampler(handle).expect("a live sampler").info
    }

    pub(crate) fn is_variant(&self, sampler: vk::Sampler) -> bool {
        self.driver.variants().contains(&sampler.as_raw())
    }

    /// How many objects of the layer's own are alive.
    pub(crate) fn own(&self, kind: Kind) -> usize {
        self.driver.live(kind).into_iter().filter(|handle| self.driver.is_layers(kind, *handle)).count()
    }

    /// Calls of the layer's own for this command fail: so many from now on.
    pub(crate) fn fail_own(&self, command: &'static CStr, left: u64) {
        let result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        *lock(&self.driver.own_failure) = Some(OwnFailure { command, result, left, hit: 0 });
    }

    /// How many have failed; from now on none does.
    pub(crate) fn failed(&self) -> u64 {
        lock(&self.driver.own_failure).take().map_or(0, |failure| failure.hit)
    }

    /// Nothing is written down of calls from here on.
    pub(crate) fn forget_calls(&self) {
        self.driver.recording.store(false, Ordering::Relaxed);
    }

    /// What `look` makes of each call from here on, as it arrives.
    pub(crate) fn sees<T: Send + 'static>(
        &self,
        look: impl Fn(&Call) -> Option<T> + Send + Sync + 'static,
    ) -> Arc<Mutex<Vec<T>>> {
        let seen: Arc<Mutex<Vec<T>>> = Arc::default();
        let writes = Arc::clone(&seen);
        self.driver.observe(move |_, call| lock(&writes).extend(look(call)));
        seen
    }

    /// What `look` makes of the create info of each call of a command from here on, which is of that type.
    pub(crate) fn sees_created<I: 'static, T: Send + 'static>(
        &self,
        command: &'static CStr,
        look: impl Fn(&I) -> T + Send + Sync + 'static,
    ) -> Arc<Mutex<Vec<T>>> {
        self.sees(move |call| {
            let (true, Args::Create { info, .. }) = (call.command == command, &call.args) else { return None };
            // SAFETY: the create info of a call that is under way.
            Some(look(unsafe { &*(*info as *const I) }))
        })
    }

    // ---- records ----

    pub(crate) fn records(&self, event: &str) -> Vec<Value> {
        self.instance.records(event)
    }

    /// Names of what was left as it is.
    pub(crate) fn left(&self) -> Vec<String> {
        texts(&self.records("unresolved"), "what")
    }

    /// The records about what was left, by name.
    pub(crate) fn left_as(&self, what: &str) -> Vec<Value> {
        self.records("unresolved").into_iter().filter(|record| record["what"] == what).collect()
    }
}

/// Commands that destroy an object with the application's allocator, users of others first.
macro_rules! destroys {
    ($($name:ident $handle:ident $kind:ident)+) => {
        impl Device {
            $(pub(crate) fn $name(&self, object: vk::$handle) {
                call!(self.$name(self.raw, object, allocator()));
            })+

            /// Destroys what is alive of the application's.
            pub(crate) fn destroy_all(&self) {
                $(
                    let mut all = self.driver.live(Kind::$kind);
                    all.retain(|own| !self.driver.is_layers(Kind::$kind, *own));
                    all.into_iter().for_each(|own| self.$name(Handle::from_raw(own)));
                )+
            }
        }
    };
}

destroys! {
    destroy_pipeline Pipeline Pipeline
    destroy_shader ShaderEXT Shader
    destroy_render_pass RenderPass RenderPass
    destroy_module ShaderModule Module
    destroy_command_pool CommandPool CommandPool
    destroy_template DescriptorUpdateTemplate Template
    destroy_pool DescriptorPool Pool
    destroy_pipeline_layout PipelineLayout PipelineLayout
    destroy_layout DescriptorSetLayout Layout
    destroy_sampler Sampler Sampler
    destroy_conversion SamplerYcbcrConversion Conversion
    destroy_view ImageView View
    destroy_image Image Image
    destroy_swapchain SwapchainKHR Swapchain
}

impl Device {
    /// Destroys all that the application has left, and the device: nothing is left in the driver.
    pub(crate) fn end(self) {
        self.destroy_all();
        let driver = Arc::clone(&self.driver);
        driver.check();
        drop(self);
        driver.check();
        for kind in Kind::ALL {
            assert_eq!(driver.live(*kind), [0; 0], "{kind:?} after the device");
        }
    }
}
