//! Shader objects.

use std::ffi::CStr;

use ash::vk::{self, Handle};

use super::{bytes, dangling, same, types, unknown};
use crate::kept::Shader;
use samplin_core::left::Left;

const STAGE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

fn info() -> vk::ShaderCreateInfoEXT<'static> {
    vk::ShaderCreateInfoEXT::default().stage(STAGE).code_type(vk::ShaderCodeTypeEXT::SPIRV).name(c"main")
}

fn keep(info: &vk::ShaderCreateInfoEXT<'_>) -> Result<Shader, Left> {
    // SAFETY: each test passes what is valid but for members that are not looked at.
    unsafe { Shader::new(info) }
}

#[test]
fn a_shader_object_comes_back_when_its_create_info_is_gone() {
    let kept = {
        let mut name = c"other_main".to_owned().into_bytes_with_nul();
        let mut data = vec![1_u8, 2, 3, 4];
        let mut entries = vec![vk::SpecializationMapEntry { constant_id: 4, offset: 0, size: 4 }];
        let mut ranges = vec![vk::PushConstantRange { stage_flags: STAGE, offset: 4, size: 8 }];
        let mut subgroup = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default().required_subgroup_size(32);
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let info = vk::ShaderCreateInfoEXT {
            p_next: (&raw mut subgroup).cast(),
            // The caller's to keep.
            p_code: dangling::<u32>().cast(),
            code_size: 8,
            p_set_layouts: dangling(),
            set_layout_count: 2,
            ..info()
        };
        let info = info
            .flags(vk::ShaderCreateFlagsEXT::LINK_STAGE)
            .next_stage(vk::ShaderStageFlags::FRAGMENT)
            .name(CStr::from_bytes_with_nul(&name).unwrap())
            .push_constant_ranges(&ranges)
            .specialization_info(&constants);
        let kept = keep(&info).unwrap();
        name.fill(b'x');
        data.fill(0xff);
        entries.fill(vk::SpecializationMapEntry::default());
        ranges.fill(vk::PushConstantRange::default());
        kept
    };
    let (words, other, sets) = ([7_u32, 8, 9], [5_u32], [vk::DescriptorSetLayout::from_raw(3)]);
    Shader::with_create_infos(&[(&kept, &words), (&kept, &other)], &sets, |infos| {
        assert_eq!(infos.len(), 2);
        for (info, words) in infos.iter().zip([&words[..], &other]) {
            let wanted = info_like();
            same!(info, wanted; flags, stage, next_stage, code_type, set_layout_count, push_constant_range_count);
            assert_eq!(info.code_size, words.len() * 4);
            // SAFETY: what a create info leads to lives as long as the call.
            unsafe {
                assert_eq!(std::slice::from_raw_parts(info.p_code.cast::<u32>(), words.len()), words);
                assert_eq!(*info.p_set_layouts, sets[0]);
                assert_eq!(CStr::from_ptr(info.p_name), c"other_main");
                let range = *info.p_push_constant_ranges;
                assert_eq!((range.stage_flags, range.offset, range.size), (STAGE, 4, 8));
                let constants = &*info.p_specialization_info;
                assert_eq!(bytes(constants.p_data.cast::<u8>(), 4), [1, 2, 3, 4]);
                assert_eq!((*constants.p_map_entries).constant_id, 4);
                assert_eq!(
                    types(info.p_next),
                    [vk::StructureType::PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO]
                );
            }
        }
    });
}

/// What the members of the copies without pointers have to be.
fn info_like() -> vk::ShaderCreateInfoEXT<'static> {
    let info = info().flags(vk::ShaderCreateFlagsEXT::LINK_STAGE).next_stage(vk::ShaderStageFlags::FRAGMENT);
    vk::ShaderCreateInfoEXT { set_layout_count: 1, push_constant_range_count: 1, ..info }
}

#[test]
fn what_cannot_be_copied_has_a_name() {
    let binary = vk::ShaderCreateInfoEXT { p_name: dangling(), ..info() }.code_type(vk::ShaderCodeTypeEXT::BINARY);
    assert_eq!(keep(&binary).err(), Some(Left::HiddenSpirv));
    let unknown = unknown();
    let chained = vk::ShaderCreateInfoEXT { p_next: (&raw const unknown).cast(), ..info() };
    assert_eq!(keep(&chained).err(), Some(Left::PipelineChain));
    assert!(keep(&info()).is_ok());
}
