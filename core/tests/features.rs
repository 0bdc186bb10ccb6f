//! What ash's structures enable is what the layer reads from them.

use samplin_core::ability::{ABILITIES, Member};
use samplin_core::vk::{self, TaggedStructure};
use samplin_core::{Device, FeatureStructure, Features, FormatProperties, Limits};

/// The features of a structure in which one member is set.
fn with_member<T: Default + FeatureStructure>(offset: usize) -> Features {
    let mut structure = T::default();
    assert!(offset + size_of::<vk::Bool32>() <= size_of::<T>());
    // SAFETY: a member of `T`, which is a `VkBool32`, begins at the offset.
    unsafe { (&raw mut structure).cast::<u8>().add(offset).cast::<vk::Bool32>().write(vk::TRUE) };
    let none = Features { sampler_mip_lod_bias: false, mutable_comparison_samplers: false, ..Features::default() };
    none.with(&structure)
}

fn features_of(member: &Member) -> Option<Features> {
    macro_rules! tagged {
        ($($type:ident)+) => {
            match member.s_type {
                $(<vk::$type<'_> as TaggedStructure>::STRUCTURE_TYPE => with_member::<vk::$type<'_>>(member.offset),)+
                vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 => {
                    let before = std::mem::offset_of!(vk::PhysicalDeviceFeatures2<'_>, features);
                    with_member::<vk::PhysicalDeviceFeatures>(member.offset - before)
                }
                _ => return None,
            }
        };
    }
    Some(tagged! {
        PhysicalDeviceVulkan11Features PhysicalDeviceSamplerYcbcrConversionFeatures PhysicalDeviceVulkan12Features
        PhysicalDeviceCustomBorderColorFeaturesEXT PhysicalDeviceBorderColorSwizzleFeaturesEXT
        PhysicalDeviceNonSeamlessCubeMapFeaturesEXT PhysicalDeviceCubicClampFeaturesQCOM
        PhysicalDeviceCubicWeightsFeaturesQCOM PhysicalDeviceDescriptorBufferFeaturesEXT
        PhysicalDevicePortabilitySubsetFeaturesKHR
    })
}

/// The abilities that are on.
fn on(features: &Features) -> Vec<&'static str> {
    let mut caps = *Device::from(&FormatProperties::new(), &Limits::default(), features).caps();
    ABILITIES.iter().filter(|one| one.field.is_some_and(|field| *field(&mut caps))).map(|one| one.name).collect()
}

#[test]
fn each_member_enables_its_feature_and_no_other() {
    let mut seen = 0;
    for ability in ABILITIES {
        for member in ability.members {
            let Some(features) = features_of(member) else { continue };
            // What decisions about samplers do not look at is none of these features.
            let known = on(&features);
            if !known.is_empty() {
                assert_eq!(known, [ability.name]);
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 15);
}

#[test]
fn each_extension_enables_what_it_is() {
    for ability in ABILITIES.iter().filter(|ability| ability.by_extension) {
        let name = ability.extensions[0].to_str().unwrap();
        let mut found = on(&Features::default().with_extensions([name]));
        found.retain(|one| !["samplerMipLodBias", "mutableComparisonSamplers"].contains(one));
        assert!(found.is_empty() || found == [ability.name], "{name}: {found:?}");
    }
    let portability = Features::default().with_extensions(["VK_KHR_portability_subset"]);
    assert_eq!(on(&portability), [""; 0]);
    let subset = vk::PhysicalDevicePortabilitySubsetFeaturesKHR::default().sampler_mip_lod_bias(true);
    assert_eq!(on(&portability.with(&subset)), ["samplerMipLodBias"]);
}
