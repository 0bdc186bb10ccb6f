//! What a program asks of the device: version, features and extensions.

use ash::vk;
use samplin_testkit::scene::Shape;
use samplin_testkit::{Path, SamplerDesc};
use serde::Serialize;

use crate::prove::case::{Case, Trial};

/// Features of a structure that is chained to the device's.
#[derive(Clone, Serialize)]
pub(super) struct Structure {
    name: &'static str,
    c_type: &'static str,
    c_s_type: &'static str,
    rust_type: &'static str,
    members: Vec<&'static str>,
    rust_members: Vec<&'static str>,
}

/// What a program asks of the device.
pub(super) struct Needs {
    pub(super) api: (&'static str, &'static str),
    pub(super) core: Vec<&'static str>,
    pub(super) core_rust: Vec<&'static str>,
    pub(super) structures: Vec<Structure>,
    pub(super) extensions: Vec<&'static str>,
    pub(super) words: String,
}

impl Needs {
    pub(super) fn of(trial: &Trial, legal: &SamplerDesc, case: &Case) -> Self {
        let mut needs = Self {
            api: ("VK_API_VERSION_1_1", "vk::API_VERSION_1_1"),
            core: Vec::new(),
            core_rust: Vec::new(),
            structures: Vec::new(),
            extensions: Vec::new(),
            words: String::new(),
        };
        let forms = [&trial.asked, legal];
        // What the application left off stays off.
        let on = |ability: &str| !case.off.iter().any(|off| off == ability);
        let any = |is: &dyn Fn(&SamplerDesc) -> bool| forms.iter().any(|sampler| is(sampler));
        let mut core = |c: &'static str, rust: &'static str| {
            needs.core.push(c);
            needs.core_rust.push(rust);
        };
        if on("samplerAnisotropy") && any(&|sampler| sampler.anisotropy_enable) {
            core("samplerAnisotropy", "sampler_anisotropy");
        }
        if trial.scene.shape == Shape::CubeArray {
            core("imageCubeArray", "image_cube_array");
        }
        let mut twelve: Vec<(&'static str, &'static str)> = Vec::new();
        let mirrored = |sampler: &SamplerDesc| sampler.address.contains(&vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE);
        if on("samplerMirrorClampToEdge") && any(&mirrored) {
            twelve.push(("samplerMirrorClampToEdge", "sampler_mirror_clamp_to_edge"));
        }
        if on("samplerFilterMinmax") && any(&|sampler| sampler.reduction.is_some()) {
            twelve.push(("samplerFilterMinmax", "sampler_filter_minmax"));
        }
        let mut chain = |name: &'static str,
                         c: [&'static str; 2],
                         rust: &'static str,
                         members: Vec<(&'static str, &'static str)>| {
            let (members, rust_members) = members.into_iter().unzip();
            needs.structures.push(Structure {
                name,
                c_type: c[0],
                c_s_type: c[1],
                rust_type: rust,
                members,
                rust_members,
            });
        };
        if on("customBorderColors") && any(&|sampler| sampler.custom_border.is_some()) {
            let mut members = vec![("customBorderColors", "custom_border_colors")];
            if on("customBorderColorWithoutFormat") {
                members.push(("customBorderColorWithoutFormat", "custom_border_color_without_format"));
            }
            let c = [
                "VkPhysicalDeviceCustomBorderColorFeaturesEXT",
                "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT",
            ];
            chain("custom_border", c, "PhysicalDeviceCustomBorderColorFeaturesEXT", members);
            needs.extensions.push("VK_EXT_custom_border_color");
        }
        if on("borderColorSwizzle") && any(&|sampler| sampler.border_mapping.is_some()) {
            let mut members = vec![("borderColorSwizzle", "border_color_swizzle")];
            if on("borderColorSwizzleFromImage") {
                members.push(("borderColorSwizzleFromImage", "border_color_swizzle_from_image"));
            }
            let c = [
                "VkPhysicalDeviceBorderColorSwizzleFeaturesEXT",
                "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BORDER_COLOR_SWIZZLE_FEATURES_EXT",
            ];
            chain("border_swizzle", c, "PhysicalDeviceBorderColorSwizzleFeaturesEXT", members);
            needs.extensions.push("VK_EXT_border_color_swizzle");
            if !needs.extensions.contains(&"VK_EXT_custom_border_color") {
                needs.extensions.push("VK_EXT_custom_border_color");
            }
        }
        if trial.way == Path::DescriptorBuffer {
            let c = [
                "VkPhysicalDeviceDescriptorBufferFeaturesEXT",
                "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT",
            ];
            chain(
                "descriptor_buffer",
                c,
                "PhysicalDeviceDescriptorBufferFeaturesEXT",
                vec![("descriptorBuffer", "descriptor_buffer")],
            );
            twelve.push(("bufferDeviceAddress", "buffer_device_address"));
            needs.extensions.push("VK_EXT_descriptor_buffer");
            needs.api = ("VK_API_VERSION_1_3", "vk::API_VERSION_1_3");
        } else if !twelve.is_empty() {
            needs.api = ("VK_API_VERSION_1_2", "vk::API_VERSION_1_2");
        }
        if !twelve.is_empty() {
            let c = ["VkPhysicalDeviceVulkan12Features", "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES"];
            chain("vulkan12", c, "PhysicalDeviceVulkan12Features", twelve);
        }
        if matches!(trial.way, Path::Push | Path::PushTemplate) {
            needs.extensions.push("VK_KHR_push_descriptor");
        }
        let members = needs.structures.iter().flat_map(|structure| structure.members.iter());
        let all: Vec<&str> = needs.core.iter().chain(members).chain(&needs.extensions).copied().collect();
        needs.words = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
        needs
    }
}
