//! Descriptor heaps (`VK_EXT_descriptor_heap`): memory with descriptors of samplers and images, and compute shaders that read them.

use crate::Capability;
use crate::context::Context;
use crate::image::Buffer;
use ash::vk;
use std::ffi::CStr;
use vk_layer_sys::*;

/// Bytes of each heap that are the tests' own.
const SIZE: usize = 1 << 16;

/// A command of the extension.
fn command<F: Copy>(context: &Context, name: &CStr) -> F {
    let found = context.device_proc(name).unwrap_or_else(|| panic!("the device has no {name:?}"));
    assert_eq!(size_of::<F>(), size_of::<fn()>());
    // SAFETY: both are function pointers, and the caller names the command's own type.
    unsafe { std::mem::transmute_copy::<unsafe extern "system" fn(), F>(&found) }
}

/// What the device says of its heaps.
pub fn properties(context: &Context) -> PhysicalDeviceDescriptorHeapPropertiesEXT {
    let mut own = PhysicalDeviceDescriptorHeapPropertiesEXT::default();
    let mut head = vk::PhysicalDeviceProperties2 { p_next: (&raw mut own).cast(), ..Default::default() };
    // SAFETY: the device has the extension whose structure is chained.
    unsafe { context.instance().get_physical_device_properties2(context.physical_device(), &mut head) };
    own
}

/// Both heaps of a context. Descriptors lie one after the other in each, by their numbers.
pub struct Heaps<'c> {
    context: &'c Context,
    properties: PhysicalDeviceDescriptorHeapPropertiesEXT,
    samplers: Buffer<'c>,
    resources: Buffer<'c>,
}

impl<'c> Heaps<'c> {
    /// Both heaps, empty.
    pub fn new(context: &'c Context) -> Self {
        assert!(context.supports(Capability::DescriptorHeap), "the device has no descriptor heaps");
        let properties = properties(context);
        let usage =
            vk::BufferUsageFlags::from_raw(BUFFER_USAGE_DESCRIPTOR_HEAP) | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let reserved = |bytes: u64| SIZE + bytes as usize;
        let samplers = reserved(properties.min_sampler_heap_reserved_range_with_embedded);
        let resources = reserved(properties.min_resource_heap_reserved_range);
        Self {
            context,
            properties,
            samplers: Buffer::new(context, samplers, usage),
            resources: Buffer::new(context, resources, usage),
        }
    }

    /// Bytes from one sampler to the next.
    pub fn sampler_stride(&self) -> u32 {
        self.properties.sampler_descriptor_size.next_multiple_of(self.properties.sampler_descriptor_alignment) as u32
    }

    /// Bytes from one image to the next.
    pub fn image_stride(&self) -> u32 {
        self.properties.image_descriptor_size.next_multiple_of(self.properties.image_descriptor_alignment) as u32
    }

    /// Writes samplers from the beginning on, and returns the bytes of each.
    pub fn write_samplers(&self, infos: &[vk::SamplerCreateInfo<'_>]) -> Vec<Vec<u8>> {
        let write: PfnWriteSamplerDescriptors = command(self.context, c"vkWriteSamplerDescriptorsEXT");
        let size = self.properties.sampler_descriptor_size as usize;
        let mut bytes = vec![vec![0_u8; size]; infos.len()];
        let ranges: Vec<_> =
            bytes.iter_mut().map(|own| HostAddressRangeEXT { address: own.as_mut_ptr().cast(), size }).collect();
        // SAFETY: as many ranges as create infos, each of the device's size.
        let result =
            unsafe { write(self.context.device().handle(), infos.len() as u32, infos.as_ptr(), ranges.as_ptr()) };
        assert_eq!(result, vk::Result::SUCCESS, "vkWriteSamplerDescriptorsEXT");
        for (number, own) in bytes.iter().enumerate() {
            self.samplers.write(number * self.sampler_stride() as usize, own);
        }
        bytes
    }

    /// Writes an image as the one with this number, and returns its bytes.
    pub fn write_image(
        &self,
        number: u32,
        ty: vk::DescriptorType,
        view: &vk::ImageViewCreateInfo<'_>,
        layout: vk::ImageLayout,
    ) -> Vec<u8> {
        let write: PfnWriteResourceDescriptors = command(self.context, c"vkWriteResourceDescriptorsEXT");
        let image = ImageDescriptorInfoEXT {
            s_type: ImageDescriptorInfoEXT::STRUCTURE_TYPE,
            p_next: std::ptr::null(),
            p_view: std::ptr::from_ref(view).cast(),
            layout,
        };
        let resource = ResourceDescriptorInfoEXT {
            s_type: ResourceDescriptorInfoEXT::STRUCTURE_TYPE,
            p_next: std::ptr::null(),
            ty,
            data: ResourceDescriptorDataEXT { p_image: &image },
        };
        let size = self.properties.image_descriptor_size as usize;
        let mut bytes = vec![0_u8; size];
        let range = HostAddressRangeEXT { address: bytes.as_mut_ptr().cast(), size };
        // SAFETY: one resource, whose union holds the member of its type, and a range of the device's size.
        let result = unsafe { write(self.context.device().handle(), 1, &resource, &range) };
        assert_eq!(result, vk::Result::SUCCESS, "vkWriteResourceDescriptorsEXT");
        self.resources.write(number as usize * self.image_stride() as usize, &bytes);
        bytes
    }

    /// Binds both heaps, and pushes the address of a buffer.
    pub fn record(&self, commands: vk::CommandBuffer, output: &Buffer<'_>) {
        let bind: PfnCmdWithInfo = command(self.context, c"vkCmdBindSamplerHeapEXT");
        let heap = |buffer: &Buffer<'_>, reserved: u64| BindHeapInfoEXT {
            s_type: BindHeapInfoEXT::STRUCTURE_TYPE,
            p_next: std::ptr::null(),
            heap_range: DeviceAddressRangeKHR { address: buffer.address(), size: buffer.size() as u64 },
            reserved_range_offset: buffer.size() as u64 - reserved,
            reserved_range_size: reserved,
        };
        let samplers = heap(&self.samplers, self.properties.min_sampler_heap_reserved_range_with_embedded);
        // SAFETY: a recording command buffer, and a heap that lives for as long as this.
        unsafe { bind(commands, (&raw const samplers).cast()) };
        let bind: PfnCmdWithInfo = command(self.context, c"vkCmdBindResourceHeapEXT");
        let resources = heap(&self.resources, self.properties.min_resource_heap_reserved_range);
        // SAFETY: as above.
        unsafe { bind(commands, (&raw const resources).cast()) };
        let push: PfnCmdWithInfo = command(self.context, c"vkCmdPushDataEXT");
        let address = output.address();
        let info = PushDataInfoEXT {
            s_type: PushDataInfoEXT::STRUCTURE_TYPE,
            p_next: std::ptr::null(),
            offset: 0,
            data: HostAddressRangeEXT { address: (&raw const address).cast_mut().cast(), size: 8 },
        };
        // SAFETY: as above; the data is copied by the command.
        unsafe { push(commands, (&raw const info).cast()) };
    }

    /// Registers a border colour.
    pub fn register(&self, color: &vk::SamplerCustomBorderColorCreateInfoEXT<'_>) -> Result<u32, vk::Result> {
        let register: PfnRegisterCustomBorderColor = command(self.context, c"vkRegisterCustomBorderColorEXT");
        let mut index = 0;
        // SAFETY: a whole structure, and an index that may be written.
        match unsafe { register(self.context.device().handle(), color, vk::FALSE, &mut index) } {
            vk::Result::SUCCESS => Ok(index),
            other => Err(other),
        }
    }

    /// Ends a registration.
    pub fn unregister(&self, index: u32) {
        let unregister: PfnUnregisterCustomBorderColor = command(self.context, c"vkUnregisterCustomBorderColorEXT");
        // SAFETY: an index that was registered.
        unsafe { unregister(self.context.device().handle(), index) };
    }
}

/// A mapping of one binding of set 0 to a place in a heap.
pub fn mapping(binding: u32, heap_offset: u32) -> DescriptorSetAndBindingMappingEXT {
    DescriptorSetAndBindingMappingEXT {
        s_type: DescriptorSetAndBindingMappingEXT::STRUCTURE_TYPE,
        p_next: std::ptr::null(),
        descriptor_set: 0,
        first_binding: binding,
        binding_count: 1,
        resource_mask: 0x7fff_ffff,
        source: DescriptorMappingSourceEXT::CONSTANT_OFFSET,
        source_data: DescriptorMappingSourceDataEXT {
            constant_offset: DescriptorMappingSourceConstantOffsetEXT {
                heap_offset,
                heap_array_stride: 0,
                p_embedded_sampler: std::ptr::null(),
                sampler_heap_offset: 0,
                sampler_heap_array_stride: 0,
            },
        },
    }
}

/// A mapping of one binding of set 0 to an embedded sampler, and to an image where both are one descriptor.
pub fn embedding(
    binding: u32,
    heap_offset: u32,
    sampler: &vk::SamplerCreateInfo<'_>,
) -> DescriptorSetAndBindingMappingEXT {
    let mut out = mapping(binding, heap_offset);
    out.source_data.constant_offset.p_embedded_sampler = std::ptr::from_ref(sampler).cast();
    out
}

/// A mapping of one binding of set 0 to a buffer whose address is pushed.
pub fn pushed(binding: u32) -> DescriptorSetAndBindingMappingEXT {
    let data = DescriptorMappingSourceDataEXT { offset: 0 };
    DescriptorSetAndBindingMappingEXT {
        source: DescriptorMappingSourceEXT::PUSH_ADDRESS,
        source_data: data,
        ..mapping(binding, 0)
    }
}

/// How a compute shader is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// As a pipeline.
    Pipeline,
    /// As a shader object.
    Object,
}

/// Runs a compute shader of one workgroup, whose descriptors are mapped so, and returns the words that it wrote.
pub fn run(
    heaps: &Heaps<'_>,
    made: Made,
    words: &[u32],
    mappings: &[DescriptorSetAndBindingMappingEXT],
    count: usize,
) -> Vec<u32> {
    let (context, device) = (heaps.context, heaps.context.device());
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let output = Buffer::new(context, count * 4, usage);
    let mapped = ShaderDescriptorSetAndBindingMappingInfoEXT {
        s_type: ShaderDescriptorSetAndBindingMappingInfoEXT::STRUCTURE_TYPE,
        p_next: std::ptr::null(),
        mapping_count: mappings.len() as u32,
        p_mappings: mappings.as_ptr(),
    };
    let p_next = (&raw const mapped).cast();
    match made {
        Made::Pipeline => {
            let module = crate::shader::ShaderModule::new(context, words);
            let flags = vk::PipelineCreateFlags2KHR::from_raw(PIPELINE_CREATE_2_DESCRIPTOR_HEAP);
            let mut flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(flags);
            let stage = vk::PipelineShaderStageCreateInfo { p_next, ..module.stage(vk::ShaderStageFlags::COMPUTE) };
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).push_next(&mut flags);
            let pipeline = crate::shader::make_compute(device, &info);
            context.submit(|commands| {
                // SAFETY: the buffer is recording; pipeline and heaps are alive.
                unsafe { device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline) };
                heaps.record(commands, &output);
                // SAFETY: as above.
                unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
            });
            // SAFETY: the submission is complete.
            unsafe { device.destroy_pipeline(pipeline, None) };
        }
        Made::Object => {
            let functions = ash::ext::shader_object::Device::new(context.instance(), device);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let info = vk::ShaderCreateInfoEXT { p_next, ..Default::default() }
                .flags(vk::ShaderCreateFlagsEXT::from_raw(SHADER_CREATE_DESCRIPTOR_HEAP))
                .stage(vk::ShaderStageFlags::COMPUTE)
                .code_type(vk::ShaderCodeTypeEXT::SPIRV)
                .code(&bytes)
                .name(c"main");
            // SAFETY: the words were compiled for Vulkan; the chain and what it leads to is alive.
            let shader = unsafe { functions.create_shaders(&[info], None) }.expect("vkCreateShadersEXT");
            context.submit(|commands| {
                // SAFETY: the buffer is recording; shader and heaps are alive.
                unsafe { functions.cmd_bind_shaders(commands, &[vk::ShaderStageFlags::COMPUTE], &shader) };
                heaps.record(commands, &output);
                // SAFETY: as above.
                unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
            });
            // SAFETY: the submission is complete.
            unsafe { functions.destroy_shader(shader[0], None) };
        }
    }
    output.words()
}
