//! What is chained to a create info, its stages and its states.

use std::ffi::c_void;
use std::mem::offset_of;

use ash::vk;
use vk_layer_sys::sizes;

use super::Why;
use super::block::Block;
use crate::pnext::{self, Base};

/// What decides which members the specification lets an application leave unset.
#[derive(Clone, Copy, Default)]
pub(super) struct Facts<'a> {
    /// Dynamic states of the pipeline.
    pub(super) dynamic: &'a [vk::DynamicState],
    /// It is made for a render pass.
    pub(super) render_pass: bool,
    /// It never rasterizes.
    pub(super) discards: bool,
    /// It is a library, and another one has its fragment output interface.
    pub(super) without_output: bool,
}

impl Facts<'_> {
    /// Whether all of `states` are dynamic.
    pub(super) fn has(&self, states: &[vk::DynamicState]) -> bool {
        states.iter().all(|state| self.dynamic.contains(state))
    }
}

// Younger than the bindings.
pub(super) const PIPELINE_BINARY_INFO: vk::StructureType = vk::StructureType::from_raw(1_000_483_002);
pub(super) const CUSTOM_RESOLVE: vk::StructureType = vk::StructureType::from_raw(1_000_628_002);
pub(super) const DEPTH_CLAMP_CONTROL: vk::StructureType = vk::StructureType::from_raw(1_000_582_001);
const DEPTH_CLAMP_RANGE: vk::DynamicState = vk::DynamicState::from_raw(1_000_582_000);

/// A structure whose arrays the specification ignores under a condition.
struct Ignored {
    s_type: vk::StructureType,
    /// The dynamic state that has them ignored.
    by: vk::DynamicState,
    /// Offset of the 32-bit member that has them ignored while it is 0, and the dynamic state that has this member ignored.
    unless: Option<(usize, Option<vk::DynamicState>)>,
}

/// From the descriptions of the structures, and for the second and fifth from VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-01715
/// and VUID-VkPipelineViewportDepthClampControlCreateInfoEXT-pDepthClampRange-09646.
static IGNORED: [Ignored; 7] = [
    Ignored {
        s_type: vk::StructureType::PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
        by: vk::DynamicState::DISCARD_RECTANGLE_EXT,
        unless: None,
    },
    Ignored {
        s_type: vk::StructureType::PIPELINE_VIEWPORT_W_SCALING_STATE_CREATE_INFO_NV,
        by: vk::DynamicState::VIEWPORT_W_SCALING_NV,
        unless: Some((
            offset_of!(vk::PipelineViewportWScalingStateCreateInfoNV<'static>, viewport_w_scaling_enable),
            Some(vk::DynamicState::VIEWPORT_W_SCALING_ENABLE_NV),
        )),
    },
    Ignored {
        s_type: vk::StructureType::PIPELINE_VIEWPORT_EXCLUSIVE_SCISSOR_STATE_CREATE_INFO_NV,
        by: vk::DynamicState::EXCLUSIVE_SCISSOR_NV,
        unless: None,
    },
    Ignored {
        s_type: vk::StructureType::PIPELINE_COVERAGE_MODULATION_STATE_CREATE_INFO_NV,
        by: vk::DynamicState::COVERAGE_MODULATION_TABLE_NV,
        unless: Some((
            offset_of!(vk::PipelineCoverageModulationStateCreateInfoNV<'static>, coverage_modulation_table_enable),
            Some(vk::DynamicState::COVERAGE_MODULATION_TABLE_ENABLE_NV),
        )),
    },
    Ignored { s_type: DEPTH_CLAMP_CONTROL, by: DEPTH_CLAMP_RANGE, unless: Some((size_of::<Base>(), None)) },
    Ignored {
        s_type: vk::StructureType::PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT,
        by: vk::DynamicState::SAMPLE_LOCATIONS_EXT,
        unless: Some((
            offset_of!(vk::PipelineSampleLocationsStateCreateInfoEXT<'static>, sample_locations_enable),
            Some(vk::DynamicState::SAMPLE_LOCATIONS_ENABLE_EXT),
        )),
    },
    Ignored {
        s_type: vk::StructureType::PIPELINE_COLOR_WRITE_CREATE_INFO_EXT,
        by: vk::DynamicState::COLOR_WRITE_ENABLE_EXT,
        unless: None,
    },
];

/// Flags that a second pipeline has no use for: derivatives, whose parent may be gone; statistics and other things that are captured
/// for tools; and giving up where the driver would have to compile, which is what a second pipeline is made for.
const DROPPED: u64 = {
    let flags = vk::PipelineCreateFlags::ALLOW_DERIVATIVES.as_raw()
        | vk::PipelineCreateFlags::DERIVATIVE.as_raw()
        | vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR.as_raw()
        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR.as_raw()
        | vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED.as_raw()
        | vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE.as_raw();
    // VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR is younger than the bindings.
    flags as u64 | 1 << 31
};

/// The flags of a pipeline, wide ones included.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub unsafe fn all_flags(flags: vk::PipelineCreateFlags, p_next: *const c_void) -> u64 {
    // SAFETY: `p_next` is a valid chain by this function's contract, so a flags structure in it is whole.
    let wide = unsafe { pnext::find::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(p_next) };
    wide.map_or(u64::from(flags.as_raw()), |wide| wide.flags.as_raw())
}

/// The flags of a pipeline without those that are dropped.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub(super) unsafe fn flags(flags: vk::PipelineCreateFlags, p_next: *const c_void) -> u64 {
    // SAFETY: `p_next` is a valid chain by this function's contract.
    unsafe { all_flags(flags, p_next) & !DROPPED }
}

/// Whether a pipeline is a library.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub unsafe fn is_library(flags: vk::PipelineCreateFlags, p_next: *const c_void) -> bool {
    // SAFETY: `p_next` is a valid chain by this function's contract.
    unsafe { all_flags(flags, p_next) & u64::from(vk::PipelineCreateFlags::LIBRARY_KHR.as_raw()) != 0 }
}

/// What becomes of a node.
enum Fate {
    Keep(sizes::Flat),
    /// It says nothing that a second pipeline needs.
    Drop,
}

/// The start of those that name other objects: base and their number.
#[repr(C)]
struct Counted {
    base: Base,
    count: u32,
}

/// # Safety
///
/// `node` is a node of the chain of a valid create info.
unsafe fn fate(node: *const Base, facts: &Facts<'_>) -> Result<Fate, Why> {
    use vk::StructureType as Type;
    // SAFETY: `node` is one of a valid chain by this function's contract, so its base can be read.
    let s_type = unsafe { (*node).s_type };
    // SAFETY: each of the structures for which this is asked has a count behind its base.
    let names_none = || unsafe { (*node.cast::<Counted>()).count } == 0;
    match s_type {
        // Written to by the driver; names and caches of modules; words, which are the caller's to keep.
        Type::PIPELINE_CREATION_FEEDBACK_CREATE_INFO
        | Type::DEBUG_UTILS_OBJECT_NAME_INFO_EXT
        | Type::SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT
        | Type::SHADER_MODULE_CREATE_INFO => Ok(Fate::Drop),
        // "If a graphics pipeline is created with a valid VkRenderPass, parameters of this structure are ignored."
        Type::PIPELINE_RENDERING_CREATE_INFO | Type::ATTACHMENT_SAMPLE_COUNT_INFO_AMD | CUSTOM_RESOLVE
            if facts.render_pass =>
        {
            Ok(Fate::Drop)
        }
        Type::PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT | PIPELINE_BINARY_INFO => {
            if names_none() {
                Ok(Fate::Drop)
            } else {
                Err(Why::HiddenSpirv)
            }
        }
        // Which libraries a second pipeline is linked of is the caller's to say.
        Type::PIPELINE_LIBRARY_CREATE_INFO_KHR => Ok(Fate::Drop),
        _ => sizes::in_pipeline(s_type).map(Fate::Keep).ok_or(Why::Chain),
    }
}

/// Whether the arrays of a node are looked at.
///
/// # Safety
///
/// As for [`fate`].
unsafe fn are_read(node: *const Base, facts: &Facts<'_>) -> Result<bool, Why> {
    // SAFETY: `node` is one of a valid chain, as `fate` asks, so its base can be read.
    let s_type = unsafe { (*node).s_type };
    if s_type == vk::StructureType::PIPELINE_RENDERING_CREATE_INFO {
        // VUID-VkGraphicsPipelineCreateInfo-renderPass-06579 asks for them with fragment output interface state only.
        return Ok(!facts.discards && !facts.without_output);
    }
    let Some(ignored) = IGNORED.iter().find(|ignored| ignored.s_type == s_type) else { return Ok(true) };
    if facts.has(&[ignored.by]) {
        return Ok(false);
    }
    let Some((offset, dynamic)) = ignored.unless else { return Ok(true) };
    // SAFETY: the member at that offset of a structure of this type, 32 bits wide and aligned to them.
    if unsafe { *node.byte_add(offset).cast::<u32>() } != 0 {
        return Ok(true);
    }
    // Switched off, and the switch is dynamic: whether there has to be an array is not said.
    if dynamic.is_some_and(|state| facts.has(&[state])) { Err(Why::Chain) } else { Ok(false) }
}

/// Copies what is chained at `p_next` and links it to the member at `from`.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info of a pipeline, of a stage or of a state of it, to which `facts` apply.
pub(super) unsafe fn keep(
    block: &mut Block,
    mut from: usize,
    p_next: *const c_void,
    facts: &Facts<'_>,
) -> Result<(), Why> {
    block.clear(from);
    // SAFETY: `p_next` is a valid chain by this function's contract.
    for (number, node) in unsafe { pnext::chain(p_next) }.enumerate() {
        if number + 1 == pnext::LIMIT {
            return Err(Why::Chain);
        }
        // SAFETY: `chain` yields the nodes of the caller's chain.
        let Fate::Keep(flat) = (unsafe { fate(node, facts) })? else { continue };
        // SAFETY: a node of this type has this size.
        let at = unsafe { block.copy(node.cast(), flat.size) };
        block.link(from, at);
        from = at + offset_of!(Base, p_next);
        block.clear(from);
        // SAFETY: `node` is of the chain that is walked here, to which `facts` apply by this function's contract.
        let is_read = unsafe { are_read(node, facts) }?;
        for array in flat.arrays() {
            let pointer = at + array.pointer;
            block.clear(pointer);
            // SAFETY: the table says that there is a pointer.
            let source = unsafe { *node.byte_add(array.pointer).cast::<*const u8>() };
            if source.is_null() {
                continue;
            }
            if !is_read {
                // SAFETY: `node` is of the chain that is walked here, so its base can be read.
                let is_rendering = unsafe { (*node).s_type } == vk::StructureType::PIPELINE_RENDERING_CREATE_INFO;
                if let Some(count) = array.count.filter(|_| is_rendering) {
                    // Ignored like the formats, but no driver has to expect null here.
                    block.write(at + count, 0_u32);
                }
                continue;
            }
            // SAFETY: the table says that there is a count.
            let count = array.count.map_or(1, |count| unsafe { *node.byte_add(count).cast::<u32>() });
            let size = (count as usize).checked_mul(array.element).ok_or(Why::Chain)?;
            if array.element == 0 {
                return Err(Why::Chain);
            }
            // SAFETY: not ignored and not null, so it leads to that many elements (VUIDs …-parameter of each structure).
            unsafe { block.array(pointer, source, size) };
        }
        // SAFETY: a node of the caller's chain.
        if unsafe { (*node).s_type } == vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR {
            type Wide = vk::PipelineCreateFlags2CreateInfoKHR<'static>;
            // SAFETY: the sType says so (VUID-…-sType-sType).
            let wide = unsafe { (*node.cast::<Wide>()).flags.as_raw() };
            block.write(at + offset_of!(Wide, flags), wide & !DROPPED);
        }
    }
    Ok(())
}
