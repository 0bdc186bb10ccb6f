//! Every way a (sampler, view) pair reaches set 0 of a [`Probe`].
//!
//! The building blocks ([`SetLayout`], [`Pool`], [`write_combined`], [`Template`], [`DescriptorBuffer`]) can be used one by
//! one; [`sample_via`] binds the same pairs by any [`Path`] and samples them. Where a call takes application memory, the
//! helper checks afterwards that nobody wrote to it.

use crate::Capability;
use crate::context::Context;
use crate::image::{Buffer, View};
use crate::sampler::Sampler;
use crate::shader::{Access, Bind, Kind, Op, Point, Probe, Shape};
use crate::texel::Value;
use ash::vk::{self, Handle};

/// One binding of a set layout.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Binding number.
    pub binding: u32,
    /// Descriptor type.
    pub ty: vk::DescriptorType,
    /// Array size.
    pub count: u32,
    /// `count` immutable samplers, or none.
    pub immutable: Vec<vk::Sampler>,
}

impl Binding {
    /// `count` descriptors of `ty` at `binding`.
    pub fn new(binding: u32, ty: vk::DescriptorType, count: u32) -> Self {
        Self { binding, ty, count, immutable: Vec::new() }
    }

    /// `count` combined image samplers at `binding`.
    pub fn combined(binding: u32, count: u32) -> Self {
        Self::new(binding, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, count)
    }

    /// Makes the samplers immutable.
    pub fn immutable(mut self, samplers: &[&Sampler<'_>]) -> Self {
        self.immutable = samplers.iter().map(|sampler| sampler.handle()).collect();
        self
    }
}

/// A descriptor set layout, visible to compute and fragment shaders.
pub struct SetLayout<'c> {
    context: &'c Context,
    handle: vk::DescriptorSetLayout,
    bindings: Vec<Binding>,
}

impl<'c> SetLayout<'c> {
    /// A layout for ordinary sets.
    ///
    /// # Panics
    ///
    /// When `vkCreateDescriptorSetLayout` fails.
    pub fn new(context: &'c Context, bindings: &[Binding]) -> Self {
        Self::with_flags(context, bindings, vk::DescriptorSetLayoutCreateFlags::empty())
    }

    /// A layout with creation flags: push descriptors, descriptor buffer, …
    ///
    /// # Panics
    ///
    /// As [`SetLayout::new`].
    pub fn with_flags(context: &'c Context, bindings: &[Binding], flags: vk::DescriptorSetLayoutCreateFlags) -> Self {
        let raw: Vec<_> = bindings
            .iter()
            .map(|binding| {
                let raw = vk::DescriptorSetLayoutBinding::default()
                    .binding(binding.binding)
                    .descriptor_type(binding.ty)
                    .descriptor_count(binding.count)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT);
                if binding.immutable.is_empty() { raw } else { raw.immutable_samplers(&binding.immutable) }
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&raw);
        // SAFETY: bindings and immutable samplers are locals or borrowed for the call.
        let handle = unsafe { context.device().create_descriptor_set_layout(&info, None) };
        Self { context, handle: handle.expect("vkCreateDescriptorSetLayout"), bindings: bindings.to_vec() }
    }

    /// The harness's own set: points at binding 0, results at binding 1.
    pub(crate) fn storage_pair(context: &'c Context, in_buffer: bool) -> Self {
        let storage = |binding| Binding::new(binding, vk::DescriptorType::STORAGE_BUFFER, 1);
        let flags = if in_buffer {
            vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT
        } else {
            vk::DescriptorSetLayoutCreateFlags::empty()
        };
        Self::with_flags(context, &[storage(0), storage(1)], flags)
    }

    /// The handle.
    pub fn handle(&self) -> vk::DescriptorSetLayout {
        self.handle
    }

    /// The bindings it was made from.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }
}

impl Drop for SetLayout<'_> {
    fn drop(&mut self) {
        // SAFETY: layouts may be destroyed while sets and pipeline layouts made from them live on, which only tests that
        // want exactly that do.
        unsafe { self.context.device().destroy_descriptor_set_layout(self.handle, None) };
    }
}

/// A descriptor pool; its sets die with it.
pub struct Pool<'c> {
    context: &'c Context,
    handle: vk::DescriptorPool,
}

impl<'c> Pool<'c> {
    /// A pool with room for one set of each given layout.
    ///
    /// # Panics
    ///
    /// When `vkCreateDescriptorPool` fails.
    pub fn new(context: &'c Context, layouts: &[&SetLayout<'_>]) -> Self {
        let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
        for binding in layouts.iter().flat_map(|layout| layout.bindings.iter()).filter(|binding| binding.count > 0) {
            match sizes.iter_mut().find(|size| size.ty == binding.ty) {
                Some(size) => size.descriptor_count += binding.count,
                None => sizes.push(vk::DescriptorPoolSize { ty: binding.ty, descriptor_count: binding.count }),
            }
        }
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET)
            .max_sets(u32::try_from(layouts.len()).expect("few layouts").max(1))
            .pool_sizes(&sizes);
        // SAFETY: the create info is a local.
        let handle = unsafe { context.device().create_descriptor_pool(&info, None) }.expect("vkCreateDescriptorPool");
        Self { context, handle }
    }

    /// The handle.
    pub fn handle(&self) -> vk::DescriptorPool {
        self.handle
    }

    /// Allocates one set.
    ///
    /// # Panics
    ///
    /// When the pool has no room left.
    pub fn allocate(&self, layout: &SetLayout<'_>) -> vk::DescriptorSet {
        let layouts = [layout.handle];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.handle).set_layouts(&layouts);
        // SAFETY: pool and layout are alive; `&self` of a type that is not shared between threads guards the pool.
        unsafe { self.context.device().allocate_descriptor_sets(&info) }.expect("vkAllocateDescriptorSets")[0]
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        // SAFETY: the harness waits for each submission, so no set of the pool is in use.
        unsafe { self.context.device().destroy_descriptor_pool(self.handle, None) };
    }
}

/// A view and a sampler to be bound together, and how the shader looks at them.
#[derive(Clone, Copy)]
pub struct Pair<'a, 'c> {
    /// The view.
    pub view: &'a View<'c>,
    /// The sampler.
    pub sampler: &'a Sampler<'c>,
    /// Kind of lookup.
    pub kind: Kind,
    /// Shape of the lookup.
    pub shape: Shape,
}

impl<'a, 'c> Pair<'a, 'c> {
    /// A pair looked at as the view's format and type ask for, without comparison.
    pub fn new(view: &'a View<'c>, sampler: &'a Sampler<'c>) -> Self {
        Self { view, sampler, kind: view.numeric_kind().into(), shape: Shape::of(view.view_type()) }
    }

    /// Uses depth-comparison lookups.
    pub fn shadow(mut self) -> Self {
        self.kind = Kind::Shadow;
        self
    }

    /// The descriptor, in the layout sampled images rest in.
    pub fn info(&self) -> vk::DescriptorImageInfo {
        vk::DescriptorImageInfo {
            sampler: self.sampler.handle(),
            image_view: self.view.handle(),
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        }
    }
}

fn raw_infos(infos: &[vk::DescriptorImageInfo]) -> Vec<(u64, u64, i32)> {
    infos.iter().map(|info| (info.sampler.as_raw(), info.image_view.as_raw(), info.image_layout.as_raw())).collect()
}

/// Writes `infos` as one write of `ty` from (`binding`, `element`) on, overflowing into following bindings when longer.
///
/// # Panics
///
/// When somebody changed `infos` during the call.
pub fn write_images(
    context: &Context,
    set: vk::DescriptorSet,
    (binding, element): (u32, u32),
    ty: vk::DescriptorType,
    infos: &[vk::DescriptorImageInfo],
) {
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(binding)
        .dst_array_element(element)
        .descriptor_type(ty)
        .image_info(infos);
    update(context, &[write], &[], infos);
}

/// Writes combined image samplers from (`binding`, `element`) on.
///
/// # Panics
///
/// As [`write_images`].
pub fn write_combined(context: &Context, set: vk::DescriptorSet, at: (u32, u32), pairs: &[Pair<'_, '_>]) {
    let infos: Vec<_> = pairs.iter().map(Pair::info).collect();
    write_images(context, set, at, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, &infos);
}

/// Calls `vkUpdateDescriptorSets` and checks that `watched`, which the writes point to, is unchanged.
///
/// # Panics
///
/// When it is not.
pub fn update(
    context: &Context,
    writes: &[vk::WriteDescriptorSet<'_>],
    copies: &[vk::CopyDescriptorSet<'_>],
    watched: &[vk::DescriptorImageInfo],
) {
    let before = raw_infos(watched);
    // SAFETY: sets, views and samplers are alive and not in use by a submission; the arrays are borrowed for the call.
    unsafe { context.device().update_descriptor_sets(writes, copies) };
    assert_eq!(before, raw_infos(watched), "vkUpdateDescriptorSets changed the application's image infos");
}

/// Writes storage buffers to consecutive bindings from 0 on.
///
/// `pImageInfo` of these writes is a wild pointer on purpose: it is ignored for buffers, so nobody may follow it.
pub fn write_storage(context: &Context, set: vk::DescriptorSet, buffers: &[&Buffer<'_>]) {
    let infos: Vec<[vk::DescriptorBufferInfo; 1]> = buffers
        .iter()
        .map(|buffer| [vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range: vk::WHOLE_SIZE }])
        .collect();
    let writes: Vec<_> = (0u32..)
        .zip(&infos)
        .map(|(binding, info)| {
            let mut write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(info);
            write.p_image_info = std::ptr::without_provenance(0x5a5);
            write
        })
        .collect();
    update(context, &writes, &[], &[]);
}

/// Bytes of one `VkDescriptorImageInfo`.
pub const IMAGE_INFO_SIZE: usize = size_of::<vk::DescriptorImageInfo>();

/// Application memory for an update template: image infos at `offset + i * stride`, every other byte `0xa5`.
pub struct TemplateData {
    // Words, so that the start is 8-byte aligned as a structure's would be.
    words: Vec<u64>,
}

impl TemplateData {
    /// Packs `infos` at `offset + i * stride` (bytes; any alignment).
    pub fn pack(infos: &[vk::DescriptorImageInfo], offset: usize, stride: usize) -> Self {
        let mut bytes = vec![0xa5u8; offset + infos.len() * stride.max(IMAGE_INFO_SIZE) + 64];
        for (index, info) in infos.iter().enumerate() {
            let at = offset + index * stride;
            bytes[at..][..8].copy_from_slice(&info.sampler.as_raw().to_ne_bytes());
            bytes[at + 8..][..8].copy_from_slice(&info.image_view.as_raw().to_ne_bytes());
            bytes[at + 16..][..4].copy_from_slice(&info.image_layout.as_raw().to_ne_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0xa5);
        let words =
            bytes.chunks_exact(8).map(|chunk| u64::from_ne_bytes(chunk.try_into().expect("chunks of eight"))).collect();
        Self { words }
    }

    /// Start of the memory, the `pData` of the calls.
    pub fn as_ptr(&self) -> *const std::ffi::c_void {
        self.words.as_ptr().cast()
    }

    /// Calls `use_data` with `pData` and checks that nobody wrote to it.
    ///
    /// # Panics
    ///
    /// When somebody did.
    pub fn watch(&self, use_data: impl FnOnce(*const std::ffi::c_void)) {
        let before = self.words.clone();
        use_data(self.as_ptr());
        assert_eq!(before, self.words, "an update template call changed the application's data");
    }
}

/// Whether a command is called by its core name or by that of the extension it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `vkCreateDescriptorUpdateTemplate`, `vkCmdPushDescriptorSet`.
    Core,
    /// `vkCreateDescriptorUpdateTemplateKHR`, `vkCmdPushDescriptorSetKHR`.
    Khr,
}

/// A descriptor update template.
pub struct Template<'c> {
    context: &'c Context,
    handle: vk::DescriptorUpdateTemplate,
    spelling: Spelling,
}

impl<'c> Template<'c> {
    /// A template for sets of `layout`.
    ///
    /// # Panics
    ///
    /// When creation fails.
    pub fn for_set(
        context: &'c Context,
        spelling: Spelling,
        layout: &SetLayout<'_>,
        entries: &[vk::DescriptorUpdateTemplateEntry],
    ) -> Self {
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(entries)
            .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
            .descriptor_set_layout(layout.handle);
        Self::create(context, spelling, &info)
    }

    /// A template for pushing set `set` of `layout` to compute.
    ///
    /// # Panics
    ///
    /// When creation fails.
    pub fn for_push(
        context: &'c Context,
        spelling: Spelling,
        layout: vk::PipelineLayout,
        set: u32,
        entries: &[vk::DescriptorUpdateTemplateEntry],
    ) -> Self {
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(entries)
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
            .pipeline_layout(layout)
            .set(set);
        Self::create(context, spelling, &info)
    }

    fn create(context: &'c Context, spelling: Spelling, info: &vk::DescriptorUpdateTemplateCreateInfo<'_>) -> Self {
        let device = context.device();
        let handle = match spelling {
            // SAFETY: the layouts named are alive, the entries borrowed for the call.
            Spelling::Core => unsafe { device.create_descriptor_update_template(info, None) },
            Spelling::Khr => {
                let mut handle = vk::DescriptorUpdateTemplate::null();
                let create = context.functions.template.fp().create_descriptor_update_template_khr;
                // SAFETY: as above, and `handle` is a local to be written.
                unsafe { create(device.handle(), info, std::ptr::null(), &mut handle) }.result_with_success(handle)
            }
        };
        Self { context, handle: handle.expect("vkCreateDescriptorUpdateTemplate"), spelling }
    }

    /// The handle.
    pub fn handle(&self) -> vk::DescriptorUpdateTemplate {
        self.handle
    }

    /// Updates a set.
    ///
    /// # Panics
    ///
    /// When somebody changed `data` during the call.
    pub fn update(&self, set: vk::DescriptorSet, data: &TemplateData) {
        let device = self.context.device();
        data.watch(|pointer| match self.spelling {
            // SAFETY: `data` holds an image info at each place the entries describe.
            Spelling::Core => unsafe { device.update_descriptor_set_with_template(set, self.handle, pointer) },
            Spelling::Khr => {
                let update = self.context.functions.template.fp().update_descriptor_set_with_template_khr;
                // SAFETY: as above.
                unsafe { update(device.handle(), set, self.handle, pointer) };
            }
        });
    }
}

impl Drop for Template<'_> {
    fn drop(&mut self) {
        let device = self.context.device();
        match self.spelling {
            // SAFETY: templates are only used during the calls that name them.
            Spelling::Core => unsafe { device.destroy_descriptor_update_template(self.handle, None) },
            Spelling::Khr => {
                let destroy = self.context.functions.template.fp().destroy_descriptor_update_template_khr;
                // SAFETY: as above.
                unsafe { destroy(device.handle(), self.handle, std::ptr::null()) };
            }
        }
    }
}

/// Memory of `VK_EXT_descriptor_buffer` holding set 0 (the pairs) and set 1 (the probe's own buffers).
pub struct DescriptorBuffer<'c> {
    context: &'c Context,
    buffer: Buffer<'c>,
    pairs: vk::DescriptorSetLayout,
    io: vk::DescriptorSetLayout,
    io_offset: vk::DeviceSize,
    combined_size: usize,
    storage_size: usize,
}

impl<'c> DescriptorBuffer<'c> {
    /// Memory for one set of `layout` and the own set of `probe`.
    ///
    /// # Panics
    ///
    /// When the capability is off or a Vulkan call fails.
    pub fn new(context: &'c Context, layout: &SetLayout<'_>, probe: &Probe<'_>) -> Self {
        assert!(context.supports(Capability::DescriptorBuffer), "the device has no descriptor buffers");
        let mut properties = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
        let mut head = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: the capability implies Vulkan 1.3 and the extension whose structure is chained.
        unsafe { context.instance().get_physical_device_properties2(context.physical_device(), &mut head) };
        let io = probe.io_layout().handle();
        // SAFETY: the layout was made with the descriptor-buffer flag (the caller's side of the contract).
        let pairs_size = unsafe { context.functions.buffer.get_descriptor_set_layout_size(layout.handle) };
        // SAFETY: the probe was made for descriptor buffers.
        let io_size = unsafe { context.functions.buffer.get_descriptor_set_layout_size(io) };
        let io_offset = pairs_size.next_multiple_of(properties.descriptor_buffer_offset_alignment.max(1));
        let usage = vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT
            | vk::BufferUsageFlags::SAMPLER_DESCRIPTOR_BUFFER_EXT
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        Self {
            context,
            buffer: Buffer::new(context, (io_offset + io_size) as usize, usage),
            pairs: layout.handle,
            io,
            io_offset,
            combined_size: properties.combined_image_sampler_descriptor_size,
            storage_size: properties.storage_buffer_descriptor_size,
        }
    }

    /// Gets the descriptor of `info` and stores it as the first element of `binding`.
    pub fn write_combined(&self, binding: u32, info: &vk::DescriptorImageInfo) {
        let before = raw_infos(std::slice::from_ref(info));
        let get = vk::DescriptorGetInfoEXT::default()
            .ty(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .data(vk::DescriptorDataEXT { p_combined_image_sampler: info });
        self.store(&get, self.pairs, 0, binding, self.combined_size);
        assert_eq!(before, raw_infos(std::slice::from_ref(info)), "vkGetDescriptorEXT changed the application's info");
    }

    /// Stores storage-buffer descriptors in the probe's own set.
    pub(crate) fn write_storage(&self, buffers: &[&Buffer<'_>]) {
        for (binding, buffer) in (0..).zip(buffers) {
            let address = vk::DescriptorAddressInfoEXT::default().address(buffer.address()).range(buffer.size() as u64);
            let get = vk::DescriptorGetInfoEXT::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .data(vk::DescriptorDataEXT { p_storage_buffer: &address });
            self.store(&get, self.io, self.io_offset, binding, self.storage_size);
        }
    }

    fn store(
        &self,
        get: &vk::DescriptorGetInfoEXT<'_>,
        layout: vk::DescriptorSetLayout,
        base: vk::DeviceSize,
        binding: u32,
        size: usize,
    ) {
        let functions = &self.context.functions.buffer;
        // SAFETY: the layout is alive, made for descriptor buffers, and has this binding.
        let offset = unsafe { functions.get_descriptor_set_layout_binding_offset(layout, binding) };
        let mut bytes = vec![0; size];
        // SAFETY: the union member matches the type, and `size` is the device's for that type.
        unsafe { functions.get_descriptor(get, &mut bytes) };
        self.buffer.write((base + offset) as usize, &bytes);
    }

    /// Binds both sets for compute.
    pub(crate) fn record_bind(&self, commands: vk::CommandBuffer, layout: vk::PipelineLayout) {
        let functions = &self.context.functions.buffer;
        let info = vk::DescriptorBufferBindingInfoEXT::default().address(self.buffer.address()).usage(
            vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT | vk::BufferUsageFlags::SAMPLER_DESCRIPTOR_BUFFER_EXT,
        );
        // SAFETY: the buffer is recording; the address is this live buffer's, with these usages.
        unsafe { functions.cmd_bind_descriptor_buffers(commands, &[info]) };
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: both offsets are aligned and inside the buffer bound above.
        unsafe {
            functions.cmd_set_descriptor_buffer_offsets(commands, point, layout, 0, &[0, 0], &[0, self.io_offset]);
        }
    }
}

/// A way to bind pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// `vkUpdateDescriptorSets`, one write per pair in one call.
    Update,
    /// One write per array binding.
    UpdateArray,
    /// One write that runs over into the following bindings, skipping unused numbers.
    UpdateOverflow,
    /// Written to one set and copied to another.
    Copy,
    /// `vkUpdateDescriptorSetWithTemplate`, one entry per pair, with gaps in the data.
    Template,
    /// The same with one entry per array binding.
    TemplateArray,
    /// `vkUpdateDescriptorSetWithTemplateKHR`.
    TemplateKhr,
    /// `vkCmdPushDescriptorSetKHR`.
    Push,
    /// `vkCmdPushDescriptorSetWithTemplateKHR`.
    PushTemplate,
    /// `vkCmdPushDescriptorSet2KHR`.
    Push2,
    /// `vkCmdPushDescriptorSetWithTemplate2KHR`.
    PushTemplate2,
    /// `vkCmdPushDescriptorSet`, Vulkan 1.4.
    PushCore,
    /// `vkCmdPushDescriptorSetWithTemplate`, Vulkan 1.4.
    PushTemplateCore,
    /// `vkCmdPushDescriptorSet2`, Vulkan 1.4.
    Push2Core,
    /// `vkCmdPushDescriptorSetWithTemplate2`, Vulkan 1.4.
    PushTemplate2Core,
    /// `vkGetDescriptorEXT`.
    DescriptorBuffer,
    /// Combined image samplers with an immutable sampler; the write names no sampler.
    Immutable,
    /// A sampled image and a sampler in two bindings.
    Separate,
    /// The same with an immutable sampler.
    SeparateImmutable,
}

impl Path {
    /// The paths on which view and sampler meet in one call.
    pub const COMBINED: [Self; 16] = [
        Self::Update,
        Self::UpdateArray,
        Self::UpdateOverflow,
        Self::Copy,
        Self::Template,
        Self::TemplateArray,
        Self::TemplateKhr,
        Self::Push,
        Self::PushTemplate,
        Self::Push2,
        Self::PushTemplate2,
        Self::PushCore,
        Self::PushTemplateCore,
        Self::Push2Core,
        Self::PushTemplate2Core,
        Self::DescriptorBuffer,
    ];

    /// The paths on which they meet in the layout or in the shader.
    pub const APART: [Self; 3] = [Self::Immutable, Self::Separate, Self::SeparateImmutable];

    /// Why the device cannot take this path; `None` when it can.
    pub fn missing(self, context: &Context) -> Option<String> {
        let template =
            || context.missing(&[Capability::UpdateTemplate]).and(context.missing(&[Capability::UpdateTemplateKhr]));
        let core_1_4 = || {
            (context.version() < vk::make_api_version(0, 1, 4, 0))
                .then(|| format!("{} is not used with Vulkan 1.4", context.device_name()))
        };
        let push = || context.missing(&[Capability::PushDescriptor]);
        let push2 = || context.missing(&[Capability::PushDescriptor, Capability::Maintenance6]);
        match self {
            Self::Template | Self::TemplateArray => context.missing(&[Capability::UpdateTemplate]),
            Self::TemplateKhr => context.missing(&[Capability::UpdateTemplateKhr]),
            Self::Push => push(),
            Self::PushTemplate => push().or_else(template),
            Self::Push2 => push2(),
            Self::PushTemplate2 => push2().or_else(template),
            Self::PushCore | Self::PushTemplateCore => push().or_else(core_1_4),
            Self::Push2Core | Self::PushTemplate2Core => push2().or_else(core_1_4),
            Self::DescriptorBuffer => context.missing(&[Capability::DescriptorBuffer]),
            _ => None,
        }
    }
}

/// How pairs are spread over array bindings: one binding per (kind, shape), since a shader declares each array with one
/// type and every element has to fit it.
struct Arrays {
    /// Of each binding, the indices of its pairs.
    groups: Vec<Vec<usize>>,
}

impl Arrays {
    fn of(pairs: &[Pair<'_, '_>]) -> Self {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, pair) in pairs.iter().enumerate() {
            let fits =
                |group: &&mut Vec<usize>| (pairs[group[0]].kind, pairs[group[0]].shape) == (pair.kind, pair.shape);
            match groups.iter_mut().find(fits) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        Self { groups }
    }

    fn bindings(&self) -> Vec<Binding> {
        (0..).zip(&self.groups).map(|(binding, group)| Binding::combined(binding, length(group))).collect()
    }

    /// The items of each binding.
    fn split<T: Copy>(&self, items: &[T]) -> Vec<Vec<T>> {
        self.groups.iter().map(|group| group.iter().map(|index| items[*index]).collect()).collect()
    }

    fn access(&self, pair: usize) -> Access {
        let found = (0..).zip(&self.groups).find_map(|(binding, group)| {
            let element = group.iter().position(|index| *index == pair)?;
            let element = u32::try_from(element).expect("few pairs");
            Some(Access::Array { binding, count: length(group), element })
        });
        found.expect("every pair is in a group")
    }
}

fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).expect("short lists")
}

/// Binds `pairs` by `path` and samples each at `points`; one list of results per pair, in order.
///
/// Where a path fills several bindings or elements, all pairs are bound together.
///
/// # Errors
///
/// What the device lacks, see [`Path::missing`].
///
/// # Panics
///
/// When a Vulkan call fails or somebody changed application memory.
pub fn sample_via(
    context: &Context,
    path: Path,
    pairs: &[Pair<'_, '_>],
    points: &[Point],
) -> Result<Vec<Vec<Value>>, String> {
    if let Some(missing) = path.missing(context) {
        return Err(missing);
    }
    let infos: Vec<_> = pairs.iter().map(Pair::info).collect();
    let count = length(pairs);
    let combined = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let single = |binding| Access::Single { binding };
    let arrays = Arrays::of(pairs);
    let element = |index: u32| arrays.access(index as usize);
    let one_each: Vec<_> = (0..count).map(|binding| Binding::combined(binding, 1)).collect();
    // Runs every pair's probe over one set.
    let over_set = |layout: &SetLayout<'_>, set: vk::DescriptorSet, access: &dyn Fn(u32) -> Access| {
        (0..)
            .zip(pairs)
            .map(|(index, pair)| {
                let probe = Probe::new(context, layout, Op::Sample, pair.shape, pair.kind, access(index));
                probe.run(&Bind::Set(set), points)
            })
            .collect()
    };
    let entry = |binding, element, descriptor_count, offset, stride| vk::DescriptorUpdateTemplateEntry {
        dst_binding: binding,
        dst_array_element: element,
        descriptor_count,
        descriptor_type: combined,
        offset,
        stride,
    };
    // Gaps that are no multiple of the structure's size.
    const OFFSET: usize = 12;
    const STRIDE: usize = IMAGE_INFO_SIZE + 20;
    let entries: Vec<_> = (0..count).map(|index| entry(index, 0, 1, OFFSET + index as usize * STRIDE, 0)).collect();

    Ok(match path {
        Path::Update => {
            let layout = SetLayout::new(context, &one_each);
            let pool = Pool::new(context, &[&layout]);
            let set = pool.allocate(&layout);
            let writes: Vec<_> = (0..)
                .zip(&infos)
                .map(|(binding, info)| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(set)
                        .dst_binding(binding)
                        .descriptor_type(combined)
                        .image_info(std::slice::from_ref(info))
                })
                .collect();
            update(context, &writes, &[], &infos);
            over_set(&layout, set, &single)
        }
        Path::UpdateArray => {
            let layout = SetLayout::new(context, &arrays.bindings());
            let pool = Pool::new(context, &[&layout]);
            let set = pool.allocate(&layout);
            for (binding, infos) in (0..).zip(arrays.split(&infos)) {
                write_images(context, set, (binding, 0), combined, &infos);
            }
            over_set(&layout, set, &element)
        }
        Path::UpdateOverflow => {
            // Bindings 0, 2, 4, …: the numbers between are skipped by the overflow.
            let bindings: Vec<_> = (0..count).map(|index| Binding::combined(index * 2, 1)).collect();
            let layout = SetLayout::new(context, &bindings);
            let pool = Pool::new(context, &[&layout]);
            let set = pool.allocate(&layout);
            write_images(context, set, (0, 0), combined, &infos);
            over_set(&layout, set, &|index| single(index * 2))
        }
        Path::Copy => {
            let layout = SetLayout::new(context, &arrays.bindings());
            let pool = Pool::new(context, &[&layout, &layout]);
            let (from, to) = (pool.allocate(&layout), pool.allocate(&layout));
            let mut copies = Vec::new();
            for (binding, infos) in (0..).zip(arrays.split(&infos)) {
                write_images(context, from, (binding, 0), combined, &infos);
                let copy = vk::CopyDescriptorSet::default().src_set(from).src_binding(binding);
                let length = length(&infos);
                copies.push(copy.dst_set(to).dst_binding(binding).descriptor_count(length));
            }
            update(context, &[], &copies, &[]);
            over_set(&layout, to, &element)
        }
        Path::Template | Path::TemplateKhr => {
            let spelling = if path == Path::Template { Spelling::Core } else { Spelling::Khr };
            let layout = SetLayout::new(context, &one_each);
            let pool = Pool::new(context, &[&layout]);
            let set = pool.allocate(&layout);
            let template = Template::for_set(context, spelling, &layout, &entries);
            template.update(set, &TemplateData::pack(&infos, OFFSET, STRIDE));
            over_set(&layout, set, &single)
        }
        Path::TemplateArray => {
            let layout = SetLayout::new(context, &arrays.bindings());
            let pool = Pool::new(context, &[&layout]);
            let set = pool.allocate(&layout);
            let parts = arrays.split(&infos);
            let mut offset = OFFSET;
            let mut entries = Vec::new();
            for (binding, part) in (0..).zip(&parts) {
                entries.push(entry(binding, 0, length(part), offset, STRIDE));
                offset += part.len() * STRIDE;
            }
            let template = Template::for_set(context, Spelling::Core, &layout, &entries);
            template.update(set, &TemplateData::pack(&parts.concat(), OFFSET, STRIDE));
            over_set(&layout, set, &element)
        }
        Path::DescriptorBuffer => {
            let flags = vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT;
            let layout = SetLayout::with_flags(context, &one_each, flags);
            (0..)
                .zip(pairs)
                .map(|(index, pair)| {
                    let probe = Probe::with_descriptor_buffer(context, &layout, pair.shape, pair.kind, single(index));
                    let memory = DescriptorBuffer::new(context, &layout, &probe);
                    for (binding, info) in (0..).zip(&infos) {
                        memory.write_combined(binding, info);
                    }
                    probe.run(&Bind::Buffer(&memory), points)
                })
                .collect()
        }
        Path::Immutable => {
            let bindings: Vec<_> = (0..)
                .zip(pairs)
                .map(|(binding, pair)| Binding::combined(binding, 1).immutable(&[pair.sampler]))
                .collect();
            let layout = SetLayout::new(context, &bindings);
            let pool = Pool::new(context, &[&layout]);
            let set = pool.allocate(&layout);
            for (binding, info) in (0..).zip(&infos) {
                let info = vk::DescriptorImageInfo { sampler: vk::Sampler::null(), ..*info };
                write_images(context, set, (binding, 0), combined, &[info]);
            }
            over_set(&layout, set, &single)
        }
        Path::Separate | Path::SeparateImmutable => pairs
            .iter()
            .zip(&infos)
            .map(|(pair, info)| {
                let mut sampler = Binding::new(1, vk::DescriptorType::SAMPLER, 1);
                if path == Path::SeparateImmutable {
                    sampler = sampler.immutable(&[pair.sampler]);
                }
                let image = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, 1);
                let layout = SetLayout::new(context, &[image, sampler]);
                let pool = Pool::new(context, &[&layout]);
                let set = pool.allocate(&layout);
                let image = vk::DescriptorImageInfo { sampler: vk::Sampler::null(), ..*info };
                write_images(context, set, (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &[image]);
                if path == Path::Separate {
                    let sampler = vk::DescriptorImageInfo { sampler: info.sampler, ..Default::default() };
                    write_images(context, set, (1, 0), vk::DescriptorType::SAMPLER, &[sampler]);
                }
                let access = Access::Separate { image: 0, sampler: 1 };
                let probe = Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, access);
                probe.run(&Bind::Set(set), points)
            })
            .collect(),
        _ => push_and_sample(context, path, pairs, &infos, &one_each, &entries, points, (OFFSET, STRIDE)),
    })
}

/// The push-descriptor paths of [`sample_via`].
#[expect(clippy::too_many_arguments, reason = "the second half of one function")]
fn push_and_sample(
    context: &Context,
    path: Path,
    pairs: &[Pair<'_, '_>],
    infos: &[vk::DescriptorImageInfo],
    bindings: &[Binding],
    entries: &[vk::DescriptorUpdateTemplateEntry],
    points: &[Point],
    (offset, stride): (usize, usize),
) -> Vec<Vec<Value>> {
    let layout = SetLayout::with_flags(context, bindings, vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
    let writes: Vec<_> = (0..)
        .zip(infos)
        .map(|(binding, info)| {
            vk::WriteDescriptorSet::default()
                .dst_binding(binding)
                .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
                .image_info(std::slice::from_ref(info))
        })
        .collect();
    let data = TemplateData::pack(infos, offset, stride);
    let functions = &context.functions;
    let template_spelling = if context.supports(Capability::UpdateTemplate) { Spelling::Core } else { Spelling::Khr };
    let stages = vk::ShaderStageFlags::COMPUTE;
    (0..)
        .zip(pairs)
        .map(|(index, pair)| {
            let access = Access::Single { binding: index };
            let probe = Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, access);
            let template = Template::for_push(context, template_spelling, probe.layout(), 0, entries);
            let push = |commands: vk::CommandBuffer, pipeline_layout: vk::PipelineLayout| {
                let point = vk::PipelineBindPoint::COMPUTE;
                let before = raw_infos(infos);
                let info2 = vk::PushDescriptorSetInfoKHR::default()
                    .stage_flags(stages)
                    .layout(pipeline_layout)
                    .descriptor_writes(&writes);
                let template2 = |data| {
                    let mut info = vk::PushDescriptorSetWithTemplateInfoKHR::default()
                        .descriptor_update_template(template.handle)
                        .layout(pipeline_layout);
                    info.p_data = data;
                    info
                };
                match path {
                    // SAFETY: recording; set 0 of the layout is a push set with these bindings.
                    Path::Push => unsafe {
                        functions.push.cmd_push_descriptor_set(commands, point, pipeline_layout, 0, &writes);
                    },
                    Path::PushTemplate => data.watch(|data| {
                        let template = template.handle;
                        // SAFETY: as above; the data holds an info at each place the entries describe.
                        unsafe {
                            functions.push.cmd_push_descriptor_set_with_template(
                                commands,
                                template,
                                pipeline_layout,
                                0,
                                data,
                            );
                        }
                    }),
                    // SAFETY: as above.
                    Path::Push2 => unsafe { functions.maintenance6.cmd_push_descriptor_set2(commands, &info2) },
                    Path::PushTemplate2 => data.watch(|data| {
                        // SAFETY: as above.
                        unsafe {
                            functions.maintenance6.cmd_push_descriptor_set_with_template2(commands, &template2(data));
                        }
                    }),
                    Path::PushCore => {
                        let address = context.device_proc(c"vkCmdPushDescriptorSet").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSetKHR = unsafe { std::mem::transmute(address) };
                        let count = length(&writes);
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, point, pipeline_layout, 0, count, writes.as_ptr()) };
                    }
                    Path::PushTemplateCore => data.watch(|data| {
                        let address =
                            context.device_proc(c"vkCmdPushDescriptorSetWithTemplate").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR =
                            unsafe { std::mem::transmute(address) };
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, template.handle, pipeline_layout, 0, data) };
                    }),
                    Path::Push2Core => {
                        let address = context.device_proc(c"vkCmdPushDescriptorSet2").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSet2KHR = unsafe { std::mem::transmute(address) };
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, &info2) };
                    }
                    Path::PushTemplate2Core => data.watch(|data| {
                        let address =
                            context.device_proc(c"vkCmdPushDescriptorSetWithTemplate2").expect("a 1.4 command");
                        // SAFETY: the command of that name has this type (Vulkan 1.4).
                        let command: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR =
                            unsafe { std::mem::transmute(address) };
                        // SAFETY: as for the KHR name.
                        unsafe { command(commands, &template2(data)) };
                    }),
                    _ => unreachable!("{path:?} pushes nothing"),
                }
                assert_eq!(before, raw_infos(infos), "a push command changed the application's image infos");
            };
            probe.run(&Bind::Push(&push), points)
        })
        .collect()
}

/// Binds one pair by `vkUpdateDescriptorSets` and samples it at `points`.
///
/// # Panics
///
/// As [`sample_via`].
pub fn sample(context: &Context, pair: Pair<'_, '_>, points: &[Point]) -> Vec<Value> {
    let mut results = sample_via(context, Path::Update, &[pair], points).expect("every device takes this path");
    results.remove(0)
}
