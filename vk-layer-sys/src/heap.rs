//! `VK_EXT_descriptor_heap`, which the bindings do not have: what samplers and images are written with, and the samplers that a pipeline
//! or a shader object embeds.

use ash::vk;
use core::ffi::{CStr, c_void};

/// Name of `VK_EXT_descriptor_heap`.
pub const EXT_DESCRIPTOR_HEAP_NAME: &CStr = c"VK_EXT_descriptor_heap";

/// `VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT`.
pub const PIPELINE_CREATE_2_DESCRIPTOR_HEAP: u64 = 1 << 36;

/// `PFN_vkWriteSamplerDescriptorsEXT`.
pub type PfnWriteSamplerDescriptors = unsafe extern "system" fn(
    device: vk::Device,
    count: u32,
    samplers: *const vk::SamplerCreateInfo<'_>,
    descriptors: *const HostAddressRangeEXT,
) -> vk::Result;

/// `PFN_vkWriteResourceDescriptorsEXT`.
pub type PfnWriteResourceDescriptors = unsafe extern "system" fn(
    device: vk::Device,
    count: u32,
    resources: *const ResourceDescriptorInfoEXT,
    descriptors: *const HostAddressRangeEXT,
) -> vk::Result;

/// `PFN_vkRegisterCustomBorderColorEXT`.
pub type PfnRegisterCustomBorderColor = unsafe extern "system" fn(
    device: vk::Device,
    color: *const vk::SamplerCustomBorderColorCreateInfoEXT<'_>,
    request_index: vk::Bool32,
    index: *mut u32,
) -> vk::Result;

/// `PFN_vkUnregisterCustomBorderColorEXT`.
pub type PfnUnregisterCustomBorderColor = unsafe extern "system" fn(device: vk::Device, index: u32);

/// Structures with their `sType`, if they have one, and the size and alignment of each on a target with pointers of 64 bits, of 32 bits,
/// and of 32 bits where a 64-bit number is aligned to 4 bytes.
macro_rules! structures {
    ($($(#[$doc:meta])+ $name:ident $(= $s_type:literal)? { $($(#[$member:meta])+ $field:ident: $type:ty,)+ } [$wide:literal $half:literal $packed:literal])+) => {
        $(
            $(#[$doc])+
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name {
                $($(#[$member])+ pub $field: $type,)+
            }

            $(impl $name {
                /// `sType` of the structure.
                pub const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($s_type);
            })?

            const _: () = assert!(size_of::<$name>() == match (size_of::<usize>(), align_of::<u64>()) {
                (8, _) => $wide,
                (_, 8) => $half,
                _ => $packed,
            });
        )+

        /// Name and size of each structure, for the comparison with the C header.
        pub const HEAP_STRUCTURES: &[(&str, usize)] = &[$((concat!("Vk", stringify!($name)), size_of::<$name>()),)+];
    };
}

structures! {
    /// `VkHostAddressRangeEXT`.
    HostAddressRangeEXT {
        /// First byte.
        address: *mut c_void,
        /// How many.
        size: usize,
    } [16 8 8]
    /// `VkDeviceAddressRangeKHR`.
    DeviceAddressRangeKHR {
        /// First byte.
        address: vk::DeviceAddress,
        /// How many.
        size: vk::DeviceSize,
    } [16 16 16]
    /// `VkTexelBufferDescriptorInfoEXT`.
    TexelBufferDescriptorInfoEXT = 1_000_135_000 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// Format of the texels.
        format: vk::Format,
        /// Where they are.
        address_range: DeviceAddressRangeKHR,
    } [40 32 28]
    /// `VkImageDescriptorInfoEXT`.
    ImageDescriptorInfoEXT = 1_000_135_001 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// The view.
        p_view: *const vk::ImageViewCreateInfo<'static>,
        /// The layout of the image.
        layout: vk::ImageLayout,
    } [32 16 16]
    /// `VkResourceDescriptorInfoEXT`.
    ResourceDescriptorInfoEXT = 1_000_135_002 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// Which member of the union is set.
        ty: vk::DescriptorType,
        /// What is described.
        data: ResourceDescriptorDataEXT,
    } [32 16 16]
    /// `VkBindHeapInfoEXT`.
    BindHeapInfoEXT = 1_000_135_003 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// The heap.
        heap_range: DeviceAddressRangeKHR,
        /// First byte of the driver's own part.
        reserved_range_offset: vk::DeviceSize,
        /// Bytes of the driver's own part.
        reserved_range_size: vk::DeviceSize,
    } [48 40 40]
    /// `VkPushDataInfoEXT`.
    PushDataInfoEXT = 1_000_135_004 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// First byte.
        offset: u32,
        /// What is pushed.
        data: HostAddressRangeEXT,
    } [40 20 20]
    /// `VkDescriptorMappingSourceConstantOffsetEXT`.
    DescriptorMappingSourceConstantOffsetEXT {
        /// First byte in the heap.
        heap_offset: u32,
        /// Bytes from one element of an array to the next.
        heap_array_stride: u32,
        /// The embedded sampler.
        p_embedded_sampler: *const vk::SamplerCreateInfo<'static>,
        /// First byte in the heap of samplers, of a combined descriptor.
        sampler_heap_offset: u32,
        /// Bytes from one element of an array to the next.
        sampler_heap_array_stride: u32,
    } [24 20 20]
    /// `VkDescriptorMappingSourcePushIndexEXT`, and `VkDescriptorMappingSourceShaderRecordIndexEXT`, which is laid out alike.
    DescriptorMappingSourcePushIndexEXT {
        /// First byte in the heap.
        heap_offset: u32,
        /// Where the index is.
        push_offset: u32,
        /// Bytes from one index to the next.
        heap_index_stride: u32,
        /// Bytes from one element of an array to the next.
        heap_array_stride: u32,
        /// The embedded sampler.
        p_embedded_sampler: *const vk::SamplerCreateInfo<'static>,
        /// Whether one index is for both halves of a combined descriptor.
        use_combined_image_sampler_index: vk::Bool32,
        /// The same four of the sampler of a combined descriptor.
        sampler: [u32; 4],
    } [48 40 40]
    /// `VkDescriptorMappingSourceIndirectIndexEXT`.
    DescriptorMappingSourceIndirectIndexEXT {
        /// First byte in the heap.
        heap_offset: u32,
        /// Where the address of the index is.
        push_offset: u32,
        /// Added to the address.
        address_offset: u32,
        /// Bytes from one index to the next.
        heap_index_stride: u32,
        /// Bytes from one element of an array to the next.
        heap_array_stride: u32,
        /// The embedded sampler.
        p_embedded_sampler: *const vk::SamplerCreateInfo<'static>,
        /// Whether one index is for both halves of a combined descriptor.
        use_combined_image_sampler_index: vk::Bool32,
        /// The same five of the sampler of a combined descriptor.
        sampler: [u32; 5],
    } [56 48 48]
    /// `VkDescriptorMappingSourceIndirectIndexArrayEXT`.
    DescriptorMappingSourceIndirectIndexArrayEXT {
        /// First byte in the heap.
        heap_offset: u32,
        /// Where the address of the indices is.
        push_offset: u32,
        /// Added to the address.
        address_offset: u32,
        /// Bytes from one index to the next.
        heap_index_stride: u32,
        /// The embedded sampler.
        p_embedded_sampler: *const vk::SamplerCreateInfo<'static>,
        /// Whether one index is for both halves of a combined descriptor.
        use_combined_image_sampler_index: vk::Bool32,
        /// The same four of the sampler of a combined descriptor.
        sampler: [u32; 4],
    } [48 40 40]
    /// `VkDescriptorSetAndBindingMappingEXT`.
    DescriptorSetAndBindingMappingEXT = 1_000_135_005 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// The set that the shader names.
        descriptor_set: u32,
        /// The first binding that the shader names.
        first_binding: u32,
        /// How many bindings.
        binding_count: u32,
        /// `VkSpirvResourceTypeFlagsEXT`: which variables of these bindings are meant.
        resource_mask: u32,
        /// [`DescriptorMappingSourceEXT`].
        source: DescriptorMappingSourceEXT,
        /// What the source says.
        source_data: DescriptorMappingSourceDataEXT,
    } [96 76 76]
    /// `VkShaderDescriptorSetAndBindingMappingInfoEXT`.
    ShaderDescriptorSetAndBindingMappingInfoEXT = 1_000_135_006 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// How many mappings.
        mapping_count: u32,
        /// The mappings.
        p_mappings: *const DescriptorSetAndBindingMappingEXT,
    } [32 16 16]
    /// `VkPhysicalDeviceDescriptorHeapPropertiesEXT`.
    PhysicalDeviceDescriptorHeapPropertiesEXT = 1_000_135_008 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *mut c_void,
        /// Alignment of a heap of samplers.
        sampler_heap_alignment: vk::DeviceSize,
        /// Alignment of a heap of resources.
        resource_heap_alignment: vk::DeviceSize,
        /// Bytes of a heap of samplers.
        max_sampler_heap_size: vk::DeviceSize,
        /// Bytes of a heap of resources.
        max_resource_heap_size: vk::DeviceSize,
        /// Bytes of the driver's own part of a heap of samplers.
        min_sampler_heap_reserved_range: vk::DeviceSize,
        /// The same where shaders embed samplers.
        min_sampler_heap_reserved_range_with_embedded: vk::DeviceSize,
        /// Bytes of the driver's own part of a heap of resources.
        min_resource_heap_reserved_range: vk::DeviceSize,
        /// Bytes of a sampler.
        sampler_descriptor_size: vk::DeviceSize,
        /// Bytes of an image.
        image_descriptor_size: vk::DeviceSize,
        /// Bytes of a buffer.
        buffer_descriptor_size: vk::DeviceSize,
        /// Alignment of a sampler.
        sampler_descriptor_alignment: vk::DeviceSize,
        /// Alignment of an image.
        image_descriptor_alignment: vk::DeviceSize,
        /// Alignment of a buffer.
        buffer_descriptor_alignment: vk::DeviceSize,
        /// Bytes that can be pushed.
        max_push_data_size: vk::DeviceSize,
        /// Bytes of what is captured of an image.
        image_capture_replay_opaque_data_size: usize,
        /// Different samplers that shaders may embed.
        max_descriptor_heap_embedded_samplers: u32,
        /// Most descriptors of a sampler with a conversion.
        sampler_ycbcr_conversion_count: u32,
        /// Heaps may be sparse.
        sparse_descriptor_heaps: vk::Bool32,
        /// Heaps may be protected.
        protected_descriptor_heaps: vk::Bool32,
    } [152 144 140]
    /// `VkPhysicalDeviceDescriptorHeapFeaturesEXT`.
    PhysicalDeviceDescriptorHeapFeaturesEXT = 1_000_135_009 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *mut c_void,
        /// There are heaps.
        descriptor_heap: vk::Bool32,
        /// What is in them can be captured.
        descriptor_heap_capture_replay: vk::Bool32,
    } [24 16 16]
    /// `VkSamplerCustomBorderColorIndexCreateInfoEXT`.
    SamplerCustomBorderColorIndexCreateInfoEXT = 1_000_135_011 {
        /// `sType`.
        s_type: vk::StructureType,
        /// Next node.
        p_next: *const c_void,
        /// The place of the colour among those that are registered.
        index: u32,
    } [24 12 12]
}

impl Default for PhysicalDeviceDescriptorHeapPropertiesEXT {
    fn default() -> Self {
        Self {
            s_type: Self::STRUCTURE_TYPE,
            p_next: core::ptr::null_mut(),
            sampler_heap_alignment: 0,
            resource_heap_alignment: 0,
            max_sampler_heap_size: 0,
            max_resource_heap_size: 0,
            min_sampler_heap_reserved_range: 0,
            min_sampler_heap_reserved_range_with_embedded: 0,
            min_resource_heap_reserved_range: 0,
            sampler_descriptor_size: 0,
            image_descriptor_size: 0,
            buffer_descriptor_size: 0,
            sampler_descriptor_alignment: 0,
            image_descriptor_alignment: 0,
            buffer_descriptor_alignment: 0,
            max_push_data_size: 0,
            image_capture_replay_opaque_data_size: 0,
            max_descriptor_heap_embedded_samplers: 0,
            sampler_ycbcr_conversion_count: 0,
            sparse_descriptor_heaps: 0,
            protected_descriptor_heaps: 0,
        }
    }
}

/// `VkResourceDescriptorDataEXT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ResourceDescriptorDataEXT {
    /// Of images.
    pub p_image: *const ImageDescriptorInfoEXT,
    /// Of texel buffers.
    pub p_texel_buffer: *const TexelBufferDescriptorInfoEXT,
    /// Of buffers and acceleration structures.
    pub p_address_range: *const DeviceAddressRangeKHR,
}

/// `VkDescriptorMappingSourceEXT`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorMappingSourceEXT(pub i32);

impl DescriptorMappingSourceEXT {
    /// `VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_CONSTANT_OFFSET_EXT`.
    pub const CONSTANT_OFFSET: Self = Self(0);
    /// `VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_PUSH_INDEX_EXT`.
    pub const PUSH_INDEX: Self = Self(1);
    /// `VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_EXT`.
    pub const INDIRECT_INDEX: Self = Self(2);
    /// `VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_INDIRECT_INDEX_ARRAY_EXT`.
    pub const INDIRECT_INDEX_ARRAY: Self = Self(3);
    /// `VK_DESCRIPTOR_MAPPING_SOURCE_PUSH_ADDRESS_EXT`.
    pub const PUSH_ADDRESS: Self = Self(6);
    /// `VK_DESCRIPTOR_MAPPING_SOURCE_HEAP_WITH_SHADER_RECORD_INDEX_EXT`.
    pub const SHADER_RECORD_INDEX: Self = Self(8);
}

/// `VkDescriptorMappingSourceDataEXT`; sources without a sampler have less than these.
#[repr(C)]
#[derive(Clone, Copy)]
pub union DescriptorMappingSourceDataEXT {
    /// Of [`DescriptorMappingSourceEXT::CONSTANT_OFFSET`].
    pub constant_offset: DescriptorMappingSourceConstantOffsetEXT,
    /// Of [`DescriptorMappingSourceEXT::PUSH_INDEX`].
    pub push_index: DescriptorMappingSourcePushIndexEXT,
    /// Of [`DescriptorMappingSourceEXT::INDIRECT_INDEX`].
    pub indirect_index: DescriptorMappingSourceIndirectIndexEXT,
    /// Of [`DescriptorMappingSourceEXT::INDIRECT_INDEX_ARRAY`].
    pub indirect_index_array: DescriptorMappingSourceIndirectIndexArrayEXT,
    /// Of [`DescriptorMappingSourceEXT::SHADER_RECORD_INDEX`].
    pub shader_record_index: DescriptorMappingSourcePushIndexEXT,
    /// Of sources that say one offset.
    pub offset: u32,
}

/// `VK_BUFFER_USAGE_2_DESCRIPTOR_HEAP_BIT_EXT`.
pub const BUFFER_USAGE_DESCRIPTOR_HEAP: u32 = 0x1000_0000;

/// `VK_SHADER_CREATE_DESCRIPTOR_HEAP_BIT_EXT`.
pub const SHADER_CREATE_DESCRIPTOR_HEAP: u32 = 0x400;

/// `VK_SPIRV_RESOURCE_TYPE_SAMPLER_BIT_EXT`.
pub const SPIRV_RESOURCE_SAMPLER: u32 = 0x1;
/// `VK_SPIRV_RESOURCE_TYPE_COMBINED_SAMPLED_IMAGE_BIT_EXT`.
pub const SPIRV_RESOURCE_COMBINED_SAMPLED_IMAGE: u32 = 0x10;
