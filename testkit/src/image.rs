//! Buffers, images and views: creation, upload from and read-back to [`Value`]s, blits.

use crate::Capability;
use crate::context::Context;
use crate::texel::{self, Value};
use ash::vk;
use std::cell::Cell;

/// A host-visible, coherent, persistently mapped buffer.
pub struct Buffer<'c> {
    context: &'c Context,
    handle: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
    size: usize,
}

impl<'c> Buffer<'c> {
    /// Creates a zero-filled buffer of `size` bytes.
    pub fn new(context: &'c Context, size: usize, usage: vk::BufferUsageFlags) -> Self {
        let device = context.device();
        let info = vk::BufferCreateInfo::default().size(size as u64).usage(usage);
        // SAFETY: the create info is a local without chain; usages are the caller's and checked by the tests' validation.
        let handle = unsafe { device.create_buffer(&info, None) }.expect("vkCreateBuffer");
        // SAFETY: created above.
        let requirements = unsafe { device.get_buffer_memory_requirements(handle) };
        let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let address = usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
        let memory = context.allocate(requirements, flags, address);
        // SAFETY: fresh memory of the required size and type, bound once.
        unsafe { device.bind_buffer_memory(handle, memory, 0) }.expect("vkBindBufferMemory");
        // SAFETY: the memory type is host visible and not mapped yet.
        let mapped = unsafe { device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
        let mapped = mapped.expect("vkMapMemory").cast::<u8>();
        // SAFETY: the mapping covers at least `size` bytes.
        unsafe { mapped.write_bytes(0, size) };
        Self { context, handle, memory, mapped, size }
    }

    /// The handle.
    pub fn handle(&self) -> vk::Buffer {
        self.handle
    }

    /// Size in bytes, as asked for.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Copies `bytes` to `offset` (bytes).
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.size, "write past the end of the buffer");
        // SAFETY: the range lies inside the mapping (checked above), which lives as long as `self`.
        unsafe { self.mapped.add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// A copy of `length` bytes from `offset`.
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        assert!(offset + length <= self.size, "read past the end of the buffer");
        let mut bytes = vec![0; length];
        // SAFETY: as in `write`, and `bytes` has `length` elements.
        unsafe { self.mapped.add(offset).copy_to_nonoverlapping(bytes.as_mut_ptr(), length) };
        bytes
    }

    /// Writes words from its beginning on.
    pub fn write_words(&self, words: &[u32]) {
        self.write(0, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
    }

    /// All of its words.
    pub fn words(&self) -> Vec<u32> {
        self.read(0, self.size()).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// The buffer's device address; it must have been created with that usage.
    pub fn address(&self) -> vk::DeviceAddress {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.handle);
        // SAFETY: the usage and the feature are the caller's side of this function's contract.
        unsafe { self.context.device().get_buffer_device_address(&info) }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the harness waits for each submission, so the buffer is not in use.
        unsafe { self.context.device().destroy_buffer(self.handle, None) };
        // SAFETY: nothing is bound to the memory any more; freeing unmaps it.
        unsafe { self.context.device().free_memory(self.memory, None) };
    }
}

/// Describes an image; start from one of the constructors and change fields.
#[derive(Clone, Copy, Debug)]
pub struct ImageDesc {
    /// Dimensionality.
    pub image_type: vk::ImageType,
    /// Format.
    pub format: vk::Format,
    /// Width, height, depth of level 0 in texels.
    pub extent: [u32; 3],
    /// Mip levels.
    pub levels: u32,
    /// Array layers; six times the cube count for cubes.
    pub layers: u32,
    /// Samples of a texel; only images of one can be filled and read.
    pub samples: vk::SampleCountFlags,
    /// Tiling.
    pub tiling: vk::ImageTiling,
    /// Usage; the constructors ask for sampling and transfers both ways.
    pub usage: vk::ImageUsageFlags,
    /// Creation flags.
    pub flags: vk::ImageCreateFlags,
}

impl ImageDesc {
    fn base(image_type: vk::ImageType, format: vk::Format, extent: [u32; 3]) -> Self {
        Self {
            image_type,
            format,
            extent,
            levels: 1,
            layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
            flags: vk::ImageCreateFlags::empty(),
        }
    }

    /// A 1D image.
    pub fn d1(format: vk::Format, width: u32) -> Self {
        Self::base(vk::ImageType::TYPE_1D, format, [width, 1, 1])
    }

    /// A 2D image.
    pub fn d2(format: vk::Format, width: u32, height: u32) -> Self {
        Self::base(vk::ImageType::TYPE_2D, format, [width, height, 1])
    }

    /// A 3D image.
    pub fn d3(format: vk::Format, width: u32, height: u32, depth: u32) -> Self {
        Self::base(vk::ImageType::TYPE_3D, format, [width, height, depth])
    }

    /// A cube: six square layers.
    pub fn cube(format: vk::Format, edge: u32) -> Self {
        let mut desc = Self::d2(format, edge, edge);
        desc.layers = 6;
        desc.flags = vk::ImageCreateFlags::CUBE_COMPATIBLE;
        desc
    }

    /// Sets the number of mip levels.
    pub fn levels(mut self, levels: u32) -> Self {
        self.levels = levels;
        self
    }

    /// Sets the number of array layers.
    pub fn layers(mut self, layers: u32) -> Self {
        self.layers = layers;
        self
    }

    /// Uses linear tiling.
    pub fn linear_tiling(mut self) -> Self {
        self.tiling = vk::ImageTiling::LINEAR;
        self
    }

    /// Lets views have another format.
    pub fn mutable(mut self) -> Self {
        self.flags |= vk::ImageCreateFlags::MUTABLE_FORMAT;
        self
    }

    /// Adds usages.
    pub fn usage(mut self, usage: vk::ImageUsageFlags) -> Self {
        self.usage |= usage;
        self
    }

    /// What the image is made of.
    pub fn info(&self) -> vk::ImageCreateInfo<'static> {
        let [width, height, depth] = self.extent;
        vk::ImageCreateInfo::default()
            .flags(self.flags)
            .image_type(self.image_type)
            .format(self.format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(self.levels)
            .array_layers(self.layers)
            .samples(self.samples)
            .tiling(self.tiling)
            .usage(self.usage)
    }

    /// Extent of one level in texels.
    pub fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|size| (size >> level).max(1))
    }
}

/// An image with its memory. All subresources share one layout, which the harness tracks.
pub struct Image<'c> {
    context: &'c Context,
    handle: vk::Image,
    memory: vk::DeviceMemory,
    desc: ImageDesc,
    layout: Cell<vk::ImageLayout>,
}

impl<'c> Image<'c> {
    /// Creates an image.
    /// The error is a sentence naming what the device cannot do: the combination is unsupported by
    /// `vkGetPhysicalDeviceImageFormatProperties`, or lacks `SAMPLED_IMAGE` where sampling is asked for.
    pub fn new(context: &'c Context, desc: &ImageDesc) -> Result<Self, String> {
        let device = context.device();
        let ImageDesc { image_type, format, tiling, usage, flags, .. } = *desc;
        let features = context.format_features(format, tiling);
        if usage.contains(vk::ImageUsageFlags::SAMPLED) && !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE) {
            return Err(format!("{} cannot sample {format:?} with {tiling:?} tiling", context.device_name()));
        }
        let physical = context.physical_device();
        // SAFETY: the physical device belongs to the instance; the call accepts any combination.
        let limits = unsafe {
            context
                .instance()
                .get_physical_device_image_format_properties(physical, format, image_type, tiling, usage, flags)
        };
        let fits = limits.as_ref().is_ok_and(|limits| {
            let most = limits.max_extent;
            desc.levels <= limits.max_mip_levels
                && desc.layers <= limits.max_array_layers
                && limits.sample_counts.contains(desc.samples)
                && desc.extent[0] <= most.width
                && desc.extent[1] <= most.height
                && desc.extent[2] <= most.depth
        });
        if !fits {
            return Err(format!("{} cannot create {desc:?}", context.device_name()));
        }
        // SAFETY: the combination was reported as supported just above.
        let handle = unsafe { device.create_image(&desc.info(), None) }.expect("vkCreateImage");
        // SAFETY: created above.
        let requirements = unsafe { device.get_image_memory_requirements(handle) };
        let memory = context.allocate(requirements, vk::MemoryPropertyFlags::DEVICE_LOCAL, false);
        // SAFETY: fresh memory of the required size and type, bound once.
        unsafe { device.bind_image_memory(handle, memory, 0) }.expect("vkBindImageMemory");
        Ok(Self { context, handle, memory, desc: *desc, layout: Cell::new(vk::ImageLayout::UNDEFINED) })
    }

    /// Creates an image and fills every texel of every aspect: `texel(aspect, level, layer, [x, y, z])`.
    pub fn filled(
        context: &'c Context,
        desc: &ImageDesc,
        mut texel: impl FnMut(vk::ImageAspectFlags, u32, u32, [u32; 3]) -> Value,
    ) -> Result<Self, String> {
        let image = Self::new(context, desc)?;
        for aspect in each_aspect(desc.format) {
            for level in 0..desc.levels {
                for layer in 0..desc.layers {
                    image.upload(aspect, level, layer, |at| texel(aspect, level, layer, at));
                }
            }
        }
        Ok(image)
    }

    /// The handle.
    pub fn handle(&self) -> vk::Image {
        self.handle
    }

    /// What it was made from.
    pub fn desc(&self) -> &ImageDesc {
        &self.desc
    }

    /// The context it belongs to.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// Uploads one level and layer of one aspect from `texel([x, y, z])` and leaves the image ready for sampling.
    pub fn upload(
        &self,
        aspect: vk::ImageAspectFlags,
        level: u32,
        layer: u32,
        mut texel: impl FnMut([u32; 3]) -> Value,
    ) {
        let [width, height, depth] = self.desc.level_extent(level);
        let mut bytes = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    texel::encode(self.desc.format, aspect, texel([x, y, z]), &mut bytes);
                }
            }
        }
        self.upload_bytes(aspect, level, layer, &bytes);
    }

    /// Uploads one level and layer of one aspect as it lies in memory and leaves the image ready for sampling.
    pub fn upload_bytes(&self, aspect: vk::ImageAspectFlags, level: u32, layer: u32, bytes: &[u8]) {
        let device = self.context.device();
        let staging = Buffer::new(self.context, bytes.len(), vk::BufferUsageFlags::TRANSFER_SRC);
        staging.write(0, bytes);
        self.context.submit(|commands| {
            self.record_transition(commands, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            let regions = [self.region(aspect, level, layer)];
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            // SAFETY: the staging buffer holds exactly the region's texels and outlives the submission; the layout was set
            // by the barrier above.
            unsafe { device.cmd_copy_buffer_to_image(commands, staging.handle(), self.handle, layout, &regions) };
            self.record_transition(commands, self.rest_layout());
        });
    }

    /// Reads one level and layer of one aspect back, x fastest, then y, then z.
    pub fn read(&self, aspect: vk::ImageAspectFlags, level: u32, layer: u32) -> Vec<Value> {
        let size = texel::size(self.desc.format, aspect);
        let bytes = self.read_bytes(aspect, level, layer);
        bytes.chunks_exact(size).map(|texel| texel::decode(self.desc.format, aspect, texel)).collect()
    }

    /// Reads one level and layer of one aspect back as it lies in memory.
    pub fn read_bytes(&self, aspect: vk::ImageAspectFlags, level: u32, layer: u32) -> Vec<u8> {
        let texels = self.desc.level_extent(level).into_iter().product::<u32>() as usize;
        let size = texel::size(self.desc.format, aspect);
        let device = self.context.device();
        let staging = Buffer::new(self.context, texels * size, vk::BufferUsageFlags::TRANSFER_DST);
        self.context.submit(|commands| {
            self.record_transition(commands, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
            let regions = [self.region(aspect, level, layer)];
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: the buffer has room for the region and outlives the submission; the layout was set above.
            unsafe { device.cmd_copy_image_to_buffer(commands, self.handle, layout, staging.handle(), &regions) };
            self.record_transition(commands, self.rest_layout());
            barrier(device, commands, &[]);
        });
        staging.read(0, texels * size)
    }

    /// Clears a colour image.
    pub fn clear(&self, value: vk::ClearColorValue) {
        self.context.submit(|commands| {
            let (layout, range) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, [self.whole()]);
            self.record_transition(commands, layout);
            // SAFETY: the layout was set above and the range covers the image's own levels and layers.
            unsafe { self.context.device().cmd_clear_color_image(commands, self.handle, layout, &value, &range) };
            self.record_transition(commands, self.rest_layout());
        });
    }

    /// Blits level 0, layer 0 of `source` onto the whole of this image, all aspects at once.
    ///
    /// The formats, usages and filter are passed on as they are, legal or not.
    /// Panics when the device lacks the commands `api` names.
    pub fn blit_from(&self, source: &Image<'_>, filter: vk::Filter, api: BlitApi) {
        let layers = |image: &Image<'_>| {
            vk::ImageSubresourceLayers::default().aspect_mask(texel::aspects(image.desc.format)).layer_count(1)
        };
        let corners = |image: &Image<'_>| {
            let [x, y, z] = image.desc.extent.map(|size| i32::try_from(size).expect("small images"));
            [vk::Offset3D::default(), vk::Offset3D { x, y, z }]
        };
        self.blit_region(source, filter, api, (layers(source), corners(source)), (layers(self), corners(self)));
    }

    /// Blits one region: (subresource, corners) of the source, then of the destination.
    pub fn blit_region(
        &self,
        source: &Image<'_>,
        filter: vk::Filter,
        api: BlitApi,
        from: (vk::ImageSubresourceLayers, [vk::Offset3D; 2]),
        to: (vk::ImageSubresourceLayers, [vk::Offset3D; 2]),
    ) {
        let device = self.context.device();
        let (out, into) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        let regions2 = [vk::ImageBlit2::default()
            .src_subresource(from.0)
            .src_offsets(from.1)
            .dst_subresource(to.0)
            .dst_offsets(to.1)];
        let info2 = vk::BlitImageInfo2::default()
            .src_image(source.handle)
            .src_image_layout(out)
            .dst_image(self.handle)
            .dst_image_layout(into)
            .regions(&regions2)
            .filter(filter);
        self.context.submit(|commands| {
            source.record_transition(commands, out);
            self.record_transition(commands, into);
            match api {
                BlitApi::Core => {
                    let regions = [vk::ImageBlit {
                        src_subresource: from.0,
                        src_offsets: from.1,
                        dst_subresource: to.0,
                        dst_offsets: to.1,
                    }];
                    // SAFETY: both layouts were set above; illegal filters are what the caller wants to send.
                    unsafe { device.cmd_blit_image(commands, source.handle, out, self.handle, into, &regions, filter) };
                }
                BlitApi::Core2 => {
                    assert!(self.context.supports(Capability::Copy2), "the device lacks vkCmdBlitImage2");
                    // SAFETY: as above; the structure is a local of this function.
                    unsafe { device.cmd_blit_image2(commands, &info2) };
                }
                BlitApi::Khr2 => {
                    assert!(self.context.supports(Capability::Copy2Khr), "the device lacks VK_KHR_copy_commands2");
                    // SAFETY: as above.
                    unsafe { self.context.functions.copy2.cmd_blit_image2(commands, &info2) };
                }
            }
            source.record_transition(commands, source.rest_layout());
            self.record_transition(commands, self.rest_layout());
        });
    }

    /// A view of the whole image in its own format; a single aspect must be named for depth-stencil images.
    pub fn view(&self, desc: &ViewDesc) -> View<'c> {
        let info = self.view_info(desc);
        // SAFETY: the image is alive; the rest of the create info is the caller's and has no chain.
        let handle = unsafe { self.context.device().create_image_view(&info, None) }.expect("vkCreateImageView");
        let vk::ImageViewCreateInfo { format, view_type, components, .. } = info;
        View {
            context: self.context,
            handle,
            format,
            aspect: info.subresource_range.aspect_mask,
            view_type,
            components,
        }
    }

    /// What the view is made of.
    pub fn view_info(&self, desc: &ViewDesc) -> vk::ImageViewCreateInfo<'static> {
        let aspect = if desc.aspect.is_empty() { texel::aspects(self.desc.format) } else { desc.aspect };
        let format = desc.format.unwrap_or(self.desc.format);
        let view_type = desc.view_type.unwrap_or_else(|| self.natural_view_type());
        let (base_level, level_count) = desc.levels.unwrap_or((0, self.desc.levels));
        let (base_layer, layer_count) = desc.layers.unwrap_or((0, self.desc.layers));
        vk::ImageViewCreateInfo::default()
            .image(self.handle)
            .view_type(view_type)
            .format(format)
            .components(desc.components)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: aspect,
                base_mip_level: base_level,
                level_count,
                base_array_layer: base_layer,
                layer_count,
            })
    }

    fn natural_view_type(&self) -> vk::ImageViewType {
        let cube = self.desc.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        match (self.desc.image_type, self.desc.layers) {
            (vk::ImageType::TYPE_1D, 1) => vk::ImageViewType::TYPE_1D,
            (vk::ImageType::TYPE_1D, _) => vk::ImageViewType::TYPE_1D_ARRAY,
            (vk::ImageType::TYPE_3D, _) => vk::ImageViewType::TYPE_3D,
            (_, 6) if cube => vk::ImageViewType::CUBE,
            (_, _) if cube => vk::ImageViewType::CUBE_ARRAY,
            (_, 1) => vk::ImageViewType::TYPE_2D,
            _ => vk::ImageViewType::TYPE_2D_ARRAY,
        }
    }

    /// The layout the image rests in between submissions.
    pub fn rest_layout(&self) -> vk::ImageLayout {
        if self.desc.usage.contains(vk::ImageUsageFlags::SAMPLED) {
            vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL
        } else {
            vk::ImageLayout::GENERAL
        }
    }

    fn whole(&self) -> vk::ImageSubresourceRange {
        let aspect_mask = texel::aspects(self.desc.format);
        vk::ImageSubresourceRange { aspect_mask, level_count: self.desc.levels, layer_count: self.desc.layers, ..FIRST }
    }

    fn region(&self, aspect: vk::ImageAspectFlags, level: u32, layer: u32) -> vk::BufferImageCopy {
        let [width, height, depth] = self.desc.level_extent(level);
        let subresource = vk::ImageSubresourceLayers::default().aspect_mask(aspect).mip_level(level);
        let subresource = subresource.base_array_layer(layer).layer_count(1);
        let extent = vk::Extent3D { width, height, depth };
        vk::BufferImageCopy::default().image_subresource(subresource).image_extent(extent)
    }

    /// Records a full barrier that moves the whole image to `layout`.
    pub fn record_transition(&self, commands: vk::CommandBuffer, layout: vk::ImageLayout) {
        let turn = turned(self.handle, self.whole(), [self.layout.replace(layout), layout]);
        barrier(self.context.device(), commands, &[turn]);
    }

    /// Moves the whole image to `layout`.
    pub fn transition(&self, layout: vk::ImageLayout) {
        self.context.submit(|commands| self.record_transition(commands, layout));
    }

    /// Notes a layout set by a render pass.
    pub fn set_layout(&self, layout: vk::ImageLayout) {
        self.layout.set(layout);
    }
}

/// The first level and layer of colours.
pub const FIRST: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

/// An image goes from one layout to another.
pub fn turned(
    image: vk::Image,
    range: vk::ImageSubresourceRange,
    [old, new]: [vk::ImageLayout; 2],
) -> vk::ImageMemoryBarrier<'static> {
    let every = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    vk::ImageMemoryBarrier::default()
        .src_access_mask(every)
        .dst_access_mask(every)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(range)
}

/// Records that everything before is done and seen by everything behind, the host included.
pub fn barrier(device: &ash::Device, commands: vk::CommandBuffer, images: &[vk::ImageMemoryBarrier<'_>]) {
    let every = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let memory = [vk::MemoryBarrier::default().src_access_mask(every).dst_access_mask(every)];
    let stages = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
    let none = vk::DependencyFlags::empty();
    // SAFETY: the buffer is recording outside of a render pass, and the images are in the layouts that they leave.
    unsafe { device.cmd_pipeline_barrier(commands, stages, stages, none, &memory, &[], images) };
}

/// The aspects of a format one by one.
pub fn each_aspect(format: vk::Format) -> impl Iterator<Item = vk::ImageAspectFlags> {
    let present = texel::aspects(format);
    [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL]
        .into_iter()
        .filter(move |aspect| present.contains(*aspect))
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        // SAFETY: the harness waits for each submission; views may dangle but are not used after their image.
        unsafe { self.context.device().destroy_image(self.handle, None) };
        // SAFETY: nothing is bound to the memory any more.
        unsafe { self.context.device().free_memory(self.memory, None) };
    }
}

/// Which command records a blit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlitApi {
    /// `vkCmdBlitImage`.
    Core,
    /// `vkCmdBlitImage2`.
    Core2,
    /// `vkCmdBlitImage2KHR`.
    Khr2,
}

/// Describes a view; the default covers the whole image in its own format and natural type.
#[derive(Clone, Copy, Debug, Default)]
pub struct ViewDesc {
    /// View type; natural for the image when `None`.
    pub view_type: Option<vk::ImageViewType>,
    /// View format; the image's when `None`.
    pub format: Option<vk::Format>,
    /// Swizzle.
    pub components: vk::ComponentMapping,
    /// Aspect; all of the image's when empty.
    pub aspect: vk::ImageAspectFlags,
    /// First level and level count.
    pub levels: Option<(u32, u32)>,
    /// First layer and layer count.
    pub layers: Option<(u32, u32)>,
}

impl ViewDesc {
    /// A view of one aspect.
    pub fn aspect(aspect: vk::ImageAspectFlags) -> Self {
        Self { aspect, ..Self::default() }
    }

    /// A view in another format.
    pub fn format(format: vk::Format) -> Self {
        Self { format: Some(format), ..Self::default() }
    }

    /// A view with a swizzle.
    pub fn swizzle(components: vk::ComponentMapping) -> Self {
        Self { components, ..Self::default() }
    }
}

/// An image view and what the harness needs to know to sample it.
pub struct View<'c> {
    context: &'c Context,
    handle: vk::ImageView,
    format: vk::Format,
    aspect: vk::ImageAspectFlags,
    view_type: vk::ImageViewType,
    components: vk::ComponentMapping,
}

impl<'c> View<'c> {
    /// Where it was made.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The handle.
    pub fn handle(&self) -> vk::ImageView {
        self.handle
    }

    /// Format of the view.
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// Aspects of the view.
    pub fn aspect(&self) -> vk::ImageAspectFlags {
        self.aspect
    }

    /// Type of the view.
    pub fn view_type(&self) -> vk::ImageViewType {
        self.view_type
    }

    /// Swizzle of the view.
    pub fn components(&self) -> vk::ComponentMapping {
        self.components
    }

    /// What a shader reads from it.
    pub fn numeric_kind(&self) -> texel::NumericKind {
        texel::numeric_kind(self.format, self.aspect)
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        // SAFETY: the harness waits for each submission, so the view is not in use.
        unsafe { self.context.device().destroy_image_view(self.handle, None) };
    }
}
