//! Descriptor sets, templates and descriptor buffers that hold (sampler, view) pairs.
//!
//! The building blocks ([`SetLayout`], [`Pool`], [`write_combined`], [`Template`], [`DescriptorBuffer`]) can be used one by
//! one; [`sample_via`](crate::sample_via) binds the same pairs by any [`Path`](crate::Path) and samples them. Where a call takes application memory, the
//! helper checks afterwards that nobody wrote to it.

use crate::Capability;
use crate::context::Context;
use crate::image::{Buffer, View};
use crate::lookup::{Op, ResultKind, Shape};
use crate::sampler::Sampler;
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
    /// Flags of descriptor indexing, whose features the device then has to have.
    pub flags: vk::DescriptorBindingFlags,
    /// What a mutable descriptor may be.
    pub kinds: Vec<vk::DescriptorType>,
}

impl Binding {
    /// `count` descriptors of `ty` at `binding`.
    pub fn new(binding: u32, ty: vk::DescriptorType, count: u32) -> Self {
        let flags = vk::DescriptorBindingFlags::empty();
        Self { binding, ty, count, immutable: Vec::new(), flags, kinds: Vec::new() }
    }

    /// A descriptor at `binding` that is what is written to it: one of these.
    pub fn mutable(binding: u32, kinds: &[vk::DescriptorType]) -> Self {
        Self { kinds: kinds.to_vec(), ..Self::new(binding, vk::DescriptorType::MUTABLE_EXT, 1) }
    }

    /// One sampled image at `binding`.
    pub fn image(binding: u32) -> Self {
        Self::new(binding, vk::DescriptorType::SAMPLED_IMAGE, 1)
    }

    /// One sampler at `binding`.
    pub fn sampler(binding: u32) -> Self {
        Self::new(binding, vk::DescriptorType::SAMPLER, 1)
    }

    /// One storage buffer at `binding`.
    pub fn storage(binding: u32) -> Self {
        Self::new(binding, vk::DescriptorType::STORAGE_BUFFER, 1)
    }

    /// One storage image at `binding`.
    pub fn stored(binding: u32) -> Self {
        Self::new(binding, vk::DescriptorType::STORAGE_IMAGE, 1)
    }

    /// Adds flags of descriptor indexing.
    pub fn flags(mut self, flags: vk::DescriptorBindingFlags) -> Self {
        self.flags |= flags;
        self
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
    pub fn new(context: &'c Context, bindings: &[Binding]) -> Self {
        Self::with_flags(context, bindings, vk::DescriptorSetLayoutCreateFlags::empty())
    }

    /// A layout for sets that are pushed.
    pub fn pushed(context: &'c Context, bindings: &[Binding]) -> Self {
        Self::with_flags(context, bindings, vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
    }

    /// A layout with creation flags beside those that the bindings ask for.
    pub fn with_flags(context: &'c Context, bindings: &[Binding], flags: vk::DescriptorSetLayoutCreateFlags) -> Self {
        Self::with_stages(context, bindings, flags, vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT)
    }

    /// The same with the stages that see its bindings.
    pub fn with_stages(
        context: &'c Context,
        bindings: &[Binding],
        flags: vk::DescriptorSetLayoutCreateFlags,
        stages: vk::ShaderStageFlags,
    ) -> Self {
        let raw: Vec<_> = bindings
            .iter()
            .map(|binding| {
                let raw = vk::DescriptorSetLayoutBinding::default()
                    .binding(binding.binding)
                    .descriptor_type(binding.ty)
                    .descriptor_count(binding.count)
                    .stage_flags(stages);
                if binding.immutable.is_empty() { raw } else { raw.immutable_samplers(&binding.immutable) }
            })
            .collect();
        let binding_flags: Vec<_> = bindings.iter().map(|binding| binding.flags).collect();
        let is_late = binding_flags.iter().any(|flags| flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND));
        let late = vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
        let flags = if is_late { flags | late } else { flags };
        let mut chained = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&binding_flags);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&raw);
        if binding_flags.iter().any(|flags| !flags.is_empty()) {
            info = info.push_next(&mut chained);
        }
        let lists: Vec<_> = bindings
            .iter()
            .map(|binding| vk::MutableDescriptorTypeListEXT::default().descriptor_types(&binding.kinds))
            .collect();
        let mut mutable = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
        if bindings.iter().any(|binding| !binding.kinds.is_empty()) {
            info = info.push_next(&mut mutable);
        }
        // SAFETY: bindings and immutable samplers are locals or borrowed for the call.
        let handle = unsafe { context.device().create_descriptor_set_layout(&info, None) };
        Self { context, handle: handle.expect("vkCreateDescriptorSetLayout"), bindings: bindings.to_vec() }
    }

    /// The harness's own set: points at binding 0, results at binding 1.
    pub(crate) fn storage_pair(context: &'c Context, in_buffer: bool) -> Self {
        let flags = match in_buffer {
            true => vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT,
            false => vk::DescriptorSetLayoutCreateFlags::empty(),
        };
        Self::with_flags(context, &[0, 1].map(Binding::storage), flags)
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
    pub fn new(context: &'c Context, layouts: &[&SetLayout<'_>]) -> Self {
        Self::with_flags(context, layouts, vk::DescriptorPoolCreateFlags::empty())
    }

    /// A pool and the one set that it has room for.
    pub fn set(context: &'c Context, layout: &SetLayout<'_>) -> (Self, vk::DescriptorSet) {
        let pool = Self::new(context, &[layout]);
        let set = pool.allocate(layout);
        (pool, set)
    }

    /// The same with flags beside those that the bindings ask for.
    pub fn with_flags(context: &'c Context, layouts: &[&SetLayout<'_>], flags: vk::DescriptorPoolCreateFlags) -> Self {
        let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
        for binding in layouts.iter().flat_map(|layout| layout.bindings.iter()).filter(|binding| binding.count > 0) {
            match sizes.iter_mut().find(|size| size.ty == binding.ty) {
                Some(size) => size.descriptor_count += binding.count,
                None => sizes.push(vk::DescriptorPoolSize { ty: binding.ty, descriptor_count: binding.count }),
            }
        }
        let late = layouts.iter().flat_map(|layout| &layout.bindings);
        let late = late.fold(vk::DescriptorBindingFlags::empty(), |all, binding| all | binding.flags);
        let mut flags = flags | vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET;
        if late.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND) {
            flags |= vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND;
        }
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(flags)
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
    pub fn allocate(&self, layout: &SetLayout<'_>) -> vk::DescriptorSet {
        self.allocate_with(layout, None)
    }

    /// Allocates one set, with this many descriptors in a last binding whose number varies.
    pub fn allocate_with(&self, layout: &SetLayout<'_>, last: Option<u32>) -> vk::DescriptorSet {
        let layouts = [layout.handle];
        let counts = [last.unwrap_or(0)];
        let mut counts = vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
        let mut info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.handle).set_layouts(&layouts);
        if last.is_some() {
            info = info.push_next(&mut counts);
        }
        // SAFETY: pool and layout are alive; `&self` of a type that is not shared between threads guards the pool.
        unsafe { self.context.device().allocate_descriptor_sets(&info) }.expect("vkAllocateDescriptorSets")[0]
    }

    /// Frees sets of it.
    pub fn free(&self, sets: &[vk::DescriptorSet]) {
        // SAFETY: the sets are null or of this pool, which lets them be freed, and each submission was waited for.
        unsafe { self.context.device().free_descriptor_sets(self.handle, sets) }.expect("vkFreeDescriptorSets");
    }

    /// Frees all of its sets.
    pub fn reset(&self) {
        let none = vk::DescriptorPoolResetFlags::empty();
        // SAFETY: as above.
        unsafe { self.context.device().reset_descriptor_pool(self.handle, none) }.expect("vkResetDescriptorPool");
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
    pub kind: ResultKind,
    /// Shape of the lookup.
    pub shape: Shape,
    /// The instruction.
    pub op: Op,
}

impl<'a, 'c> Pair<'a, 'c> {
    /// A pair looked at as the view's format and type ask for, without comparison.
    pub fn new(view: &'a View<'c>, sampler: &'a Sampler<'c>) -> Self {
        Self { view, sampler, kind: view.numeric_kind().into(), shape: Shape::of(view.view_type()), op: Op::Sample }
    }

    /// Uses depth-comparison lookups.
    pub fn shadow(mut self) -> Self {
        self.kind = ResultKind::Shadow;
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

pub(crate) fn raw_infos(infos: &[vk::DescriptorImageInfo]) -> Vec<(u64, u64, i32)> {
    infos.iter().map(|info| (info.sampler.as_raw(), info.image_view.as_raw(), info.image_layout.as_raw())).collect()
}

/// Writes `infos` as one write of `ty` from (`binding`, `element`) on, overflowing into following bindings when longer.
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
pub fn write_combined(context: &Context, set: vk::DescriptorSet, at: (u32, u32), pairs: &[Pair<'_, '_>]) {
    let infos: Vec<_> = pairs.iter().map(Pair::info).collect();
    write_images(context, set, at, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, &infos);
}

/// Calls `vkUpdateDescriptorSets` and checks that `watched`, which the writes point to, is unchanged.
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

/// Records writes pushed to set 0 of a layout for compute.
pub fn push(
    context: &Context,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    let point = vk::PipelineBindPoint::COMPUTE;
    // SAFETY: the buffer is recording, and set 0 of the layout is a push set with these bindings.
    unsafe { context.functions.push.cmd_push_descriptor_set(commands, point, layout, 0, writes) };
}

/// A whole buffer.
pub fn whole(buffer: &Buffer<'_>) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range: vk::WHOLE_SIZE }
}

/// Writes storage buffers to consecutive bindings from 0 on.
///
/// `pImageInfo` of these writes is a wild pointer on purpose: it is ignored for buffers, so nobody may follow it.
pub fn write_storage(context: &Context, set: vk::DescriptorSet, buffers: &[&Buffer<'_>]) {
    let infos: Vec<_> = buffers.iter().map(|buffer| [whole(buffer)]).collect();
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
    /// So many bytes.
    pub fn new(length: usize) -> Self {
        Self { words: vec![0xa5a5_a5a5_a5a5_a5a5; length.div_ceil(8)] }
    }

    /// Packs `infos` at `offset + i * stride` (bytes; any alignment).
    pub fn pack(infos: &[vk::DescriptorImageInfo], offset: usize, stride: usize) -> Self {
        let mut data = Self::new(offset + infos.len() * stride.max(IMAGE_INFO_SIZE) + 64);
        infos.iter().enumerate().for_each(|(index, info)| data.put(offset + index * stride, *info));
        data
    }

    /// Puts a descriptor there, in bytes, aligned to nothing.
    pub fn put<T: Copy>(&mut self, at: usize, value: T) {
        assert!(at + size_of::<T>() <= self.words.len() * 8);
        // SAFETY: the range lies inside of the allocation (asserted above); alignment is not assumed.
        unsafe { self.words.as_mut_ptr().cast::<u8>().add(at).cast::<T>().write_unaligned(value) };
    }

    /// One buffer info.
    pub fn of_buffer(buffer: &Buffer<'_>, range: vk::DeviceSize) -> Self {
        Self { words: vec![buffer.handle().as_raw(), 0, range] }
    }

    /// Start of the memory, the `pData` of the calls.
    pub fn as_ptr(&self) -> *const std::ffi::c_void {
        self.words.as_ptr().cast()
    }

    /// Calls `use_data` with `pData` and checks that nobody wrote to it.
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
    pub fn for_push(
        context: &'c Context,
        spelling: Spelling,
        (point, layout): (vk::PipelineBindPoint, vk::PipelineLayout),
        set: u32,
        entries: &[vk::DescriptorUpdateTemplateEntry],
    ) -> Self {
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(entries)
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(point)
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
    /// Memory for one set of `layout` and one of `own`, the layout of the own set of a probe.
    pub fn new(context: &'c Context, layout: &SetLayout<'_>, own: &SetLayout<'_>) -> Self {
        assert!(context.supports(Capability::DescriptorBuffer), "the device has no descriptor buffers");
        let mut properties = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
        let mut head = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: the capability implies Vulkan 1.3 and the extension whose structure is chained.
        unsafe { context.instance().get_physical_device_properties2(context.physical_device(), &mut head) };
        let io = own.handle();
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
