//! Shader objects.

use std::mem::offset_of;

use ash::vk;
use samplin_core::left::Left;
use samplin_hot::memory;

use super::block::Block;
use super::chain;
use super::pointers::Facts;
use super::stage;

type Info = vk::ShaderCreateInfoEXT<'static>;

/// A deep copy of a `VkShaderCreateInfoEXT`, without its code and its set layouts, which are the caller's.
#[derive(Debug)]
pub struct Shader {
    block: Block,
}

impl Shader {
    /// Keeps `info`; code that is not SPIR-V is refused.
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreateShadersEXT-pCreateInfos-parameter).
    pub unsafe fn new(info: &vk::ShaderCreateInfoEXT<'_>) -> Result<Self, Left> {
        if info.code_type != vk::ShaderCodeTypeEXT::SPIRV {
            return Err(Left::HiddenSpirv);
        }
        let mut block = Block::default();
        block.value(info);
        for pointer in [offset_of!(Info, p_code), offset_of!(Info, p_set_layouts)] {
            block.clear(pointer);
        }
        // SAFETY: the chain of a create info that is valid by this function's contract.
        unsafe { chain::keep(&mut block, offset_of!(Info, p_next), info.p_next, &Facts::NONE) }?;
        // SAFETY: VUID-VkShaderCreateInfoEXT-pName-parameter.
        unsafe { stage::entry(&mut block, offset_of!(Info, p_name), info.p_name) };
        // SAFETY: VUID-VkShaderCreateInfoEXT-pSpecializationInfo-parameter.
        unsafe {
            stage::specialization(&mut block, offset_of!(Info, p_specialization_info), info.p_specialization_info);
        }
        let ranges = offset_of!(Info, p_push_constant_ranges);
        // SAFETY: VUID-VkShaderCreateInfoEXT-pPushConstantRanges-parameter.
        unsafe { block.array(ranges, info.p_push_constant_ranges, info.push_constant_range_count as usize) };
        Ok(Self { block: block.close() })
    }

    /// Calls `then` with the create infos of shaders for one call, each with code of its own, over other set layouts. What they lead to
    /// lives only as long as the call.
    pub fn with_create_infos<R>(
        shaders: &[(&Self, &[u32])],
        sets: &[vk::DescriptorSetLayout],
        then: impl FnOnce(&[vk::ShaderCreateInfoEXT<'_>]) -> R,
    ) -> R {
        let lives = memory::collect(shaders.iter().map(|(shader, _)| shader.block.live()));
        let infos = memory::collect(lives.iter().zip(shaders).map(|(live, (_, words))| {
            // SAFETY: `new` puts it first.
            let info: &vk::ShaderCreateInfoEXT<'_> = unsafe { live.get(0) };
            let info = info.set_layouts(sets);
            vk::ShaderCreateInfoEXT { code_size: size_of_val(*words), p_code: words.as_ptr().cast(), ..info }
        }));
        then(&infos)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.block.bytes()
    }
}
