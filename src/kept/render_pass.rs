//! Render passes.

use std::ffi::c_void;
use std::mem::offset_of;

use ash::vk;
use samplin_core::left::Left;
use samplin_hot::memory;

use super::Subpass;
use super::block::Block;
use crate::pnext::{self, Base, slice};

/// A deep copy of a `VkRenderPassCreateInfo` or `VkRenderPassCreateInfo2`.
#[derive(Debug)]
pub struct RenderPass {
    block: Block,
    is_second: bool,
}

/// What a render pass is made with again.
#[derive(Clone, Copy, Debug)]
pub enum RenderPassInfo<'a> {
    /// By `vkCreateRenderPass`.
    First(&'a vk::RenderPassCreateInfo<'a>),
    /// By `vkCreateRenderPass2`.
    Second(&'a vk::RenderPassCreateInfo2<'a>),
}

/// What subpasses use, which both create infos say in the same words: each array is null or has as many elements as its count says.
macro_rules! uses {
    ($info:expr) => {{
        let subpasses = slice($info.p_subpasses, $info.subpass_count).iter().map(|subpass| {
            let count = subpass.color_attachment_count;
            let [colors, resolved, depth_stencil] = [
                slice(subpass.p_color_attachments, count),
                slice(subpass.p_resolve_attachments, count),
                slice(subpass.p_depth_stencil_attachment, 1),
            ]
            .map(|references| references.iter().any(|it| it.attachment != vk::ATTACHMENT_UNUSED));
            Subpass {
                colors: count,
                color: if colors { Some(true) } else { (!resolved).then_some(false) },
                depth_stencil,
            }
        });
        memory::collect(subpasses).into_boxed_slice()
    }};
}

impl RenderPass {
    /// What the subpasses of `info` use, and its copy.
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreateRenderPass-pCreateInfo-parameter).
    pub unsafe fn new(info: &vk::RenderPassCreateInfo<'_>) -> (Box<[Subpass]>, Result<Self, Left>) {
        // SAFETY: `info` is valid by this function's contract, and so are its subpasses.
        unsafe { (uses!(info), Self::keep(info)) }
    }

    /// # Safety
    ///
    /// As for [`RenderPass::new`].
    unsafe fn keep(info: &vk::RenderPassCreateInfo<'_>) -> Result<Self, Left> {
        type Info = vk::RenderPassCreateInfo<'static>;
        type Subpass = vk::SubpassDescription<'static>;
        let mut block = Block::default();
        block.value(info);
        // SAFETY: `info` is valid by this function's contract: each array has as many elements as it says, or is null
        // (VUID-VkRenderPassCreateInfo-pAttachments-parameter, -pSubpasses-parameter, -pDependencies-parameter and those of
        // VkSubpassDescription).
        unsafe {
            chain(&mut block, offset_of!(Info, p_next), info.p_next)?;
            block.array(offset_of!(Info, p_attachments), info.p_attachments, info.attachment_count as usize);
            block.array(offset_of!(Info, p_dependencies), info.p_dependencies, info.dependency_count as usize);
            for (at, subpass) in block.each(offset_of!(Info, p_subpasses), info.p_subpasses, info.subpass_count) {
                let (inputs, colors) =
                    (subpass.input_attachment_count as usize, subpass.color_attachment_count as usize);
                let preserved = subpass.preserve_attachment_count as usize;
                block.array(at + offset_of!(Subpass, p_input_attachments), subpass.p_input_attachments, inputs);
                block.array(at + offset_of!(Subpass, p_color_attachments), subpass.p_color_attachments, colors);
                block.array(at + offset_of!(Subpass, p_resolve_attachments), subpass.p_resolve_attachments, colors);
                let depth_stencil = at + offset_of!(Subpass, p_depth_stencil_attachment);
                block.array(depth_stencil, subpass.p_depth_stencil_attachment, 1);
                block.array(
                    at + offset_of!(Subpass, p_preserve_attachments),
                    subpass.p_preserve_attachments,
                    preserved,
                );
            }
        }
        Ok(Self { block: block.close(), is_second: false })
    }

    /// What the subpasses of `info` use, and its copy.
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreateRenderPass2-pCreateInfo-parameter).
    pub unsafe fn new2(info: &vk::RenderPassCreateInfo2<'_>) -> (Box<[Subpass]>, Result<Self, Left>) {
        // SAFETY: `info` is valid by this function's contract, and so are its subpasses.
        unsafe { (uses!(info), Self::keep2(info)) }
    }

    /// # Safety
    ///
    /// As for [`RenderPass::new2`].
    unsafe fn keep2(info: &vk::RenderPassCreateInfo2<'_>) -> Result<Self, Left> {
        type Info = vk::RenderPassCreateInfo2<'static>;
        type Subpass = vk::SubpassDescription2<'static>;
        let mut block = Block::default();
        block.value(info);
        // SAFETY: `info` is valid by this function's contract: each array has as many elements as it says, or is null
        // (VUID-VkRenderPassCreateInfo2-pAttachments-parameter, -pSubpasses-parameter, -pDependencies-parameter,
        // -pCorrelatedViewMasks-parameter and those of VkSubpassDescription2), and each structure a valid chain.
        unsafe {
            chain(&mut block, offset_of!(Info, p_next), info.p_next)?;
            for (at, it) in block.each(offset_of!(Info, p_attachments), info.p_attachments, info.attachment_count) {
                chain(&mut block, at + offset_of!(vk::AttachmentDescription2<'static>, p_next), it.p_next)?;
            }
            for (at, it) in block.each(offset_of!(Info, p_dependencies), info.p_dependencies, info.dependency_count) {
                chain(&mut block, at + offset_of!(vk::SubpassDependency2<'static>, p_next), it.p_next)?;
            }
            let (masks, count) = (info.p_correlated_view_masks, info.correlated_view_mask_count as usize);
            block.array(offset_of!(Info, p_correlated_view_masks), masks, count);
            for (at, subpass) in block.each(offset_of!(Info, p_subpasses), info.p_subpasses, info.subpass_count) {
                let (inputs, colors) = (subpass.input_attachment_count, subpass.color_attachment_count);
                let preserved = subpass.preserve_attachment_count as usize;
                for (pointer, from, count) in [
                    (offset_of!(Subpass, p_input_attachments), subpass.p_input_attachments, inputs),
                    (offset_of!(Subpass, p_color_attachments), subpass.p_color_attachments, colors),
                    (offset_of!(Subpass, p_resolve_attachments), subpass.p_resolve_attachments, colors),
                    (offset_of!(Subpass, p_depth_stencil_attachment), subpass.p_depth_stencil_attachment, 1),
                ] {
                    references(&mut block, at + pointer, from, count)?;
                }
                block.array(
                    at + offset_of!(Subpass, p_preserve_attachments),
                    subpass.p_preserve_attachments,
                    preserved,
                );
                chain(&mut block, at + offset_of!(Subpass, p_next), subpass.p_next)?;
            }
        }
        Ok(Self { block: block.close(), is_second: true })
    }

    /// Calls `then` with the create info. What it leads to lives only as long as the call.
    pub fn with_create_info<R>(&self, then: impl FnOnce(RenderPassInfo<'_>) -> R) -> R {
        let live = self.block.live();
        // SAFETY: `new` and `new2` put theirs first.
        let info = unsafe {
            if self.is_second { RenderPassInfo::Second(live.get(0)) } else { RenderPassInfo::First(live.get(0)) }
        };
        then(info)
    }
}

/// Copies references with their chains, and links them to the member at `pointer`.
///
/// # Safety
///
/// `from` is null, or leads to `count` valid references.
unsafe fn references(
    block: &mut Block,
    pointer: usize,
    from: *const vk::AttachmentReference2<'_>,
    count: u32,
) -> Result<(), Left> {
    // SAFETY: null, or as many references, each with a valid chain, by this function's contract.
    unsafe {
        for (at, it) in block.each(pointer, from, count) {
            chain(block, at + offset_of!(vk::AttachmentReference2<'static>, p_next), it.p_next)?;
        }
    }
    Ok(())
}

/// Copies what is chained at `p_next` and links it to the member at `from`.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info of a render pass, or of a structure of one.
unsafe fn chain(block: &mut Block, mut from: usize, p_next: *const c_void) -> Result<(), Left> {
    use vk::StructureType as Type;
    block.clear(from);
    // SAFETY: `p_next` is a valid chain by this function's contract.
    for (number, node) in unsafe { pnext::chain(p_next) }.enumerate() {
        // SAFETY: `chain` yields the nodes of the caller's chain.
        let s_type = unsafe { (*node).s_type };
        let size = match s_type {
            _ if number + 1 == pnext::LIMIT => return Err(Left::PipelineChain),
            // Written to by the driver.
            Type::RENDER_PASS_CREATION_FEEDBACK_CREATE_INFO_EXT
            | Type::RENDER_PASS_SUBPASS_FEEDBACK_CREATE_INFO_EXT => {
                continue;
            }
            Type::RENDER_PASS_MULTIVIEW_CREATE_INFO => size_of::<vk::RenderPassMultiviewCreateInfo<'_>>(),
            Type::RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO => {
                size_of::<vk::RenderPassInputAttachmentAspectCreateInfo<'_>>()
            }
            Type::RENDER_PASS_FRAGMENT_DENSITY_MAP_CREATE_INFO_EXT => {
                size_of::<vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>>()
            }
            Type::RENDER_PASS_CREATION_CONTROL_EXT => size_of::<vk::RenderPassCreationControlEXT<'_>>(),
            Type::ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT => size_of::<vk::AttachmentDescriptionStencilLayout<'_>>(),
            Type::ATTACHMENT_REFERENCE_STENCIL_LAYOUT => size_of::<vk::AttachmentReferenceStencilLayout<'_>>(),
            Type::EXTERNAL_FORMAT_ANDROID => size_of::<Base>() + size_of::<u64>(),
            Type::MEMORY_BARRIER_2 => size_of::<vk::MemoryBarrier2<'_>>(),
            Type::SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE => {
                size_of::<vk::SubpassDescriptionDepthStencilResolve<'_>>()
            }
            Type::FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR => {
                size_of::<vk::FragmentShadingRateAttachmentInfoKHR<'_>>()
            }
            Type::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_INFO_EXT => {
                size_of::<vk::MultisampledRenderToSingleSampledInfoEXT<'_>>()
            }
            _ => return Err(Left::PipelineChain),
        };
        // SAFETY: a node of this type has this size.
        let at = unsafe { block.copy(node.cast(), size) };
        block.link(from, at);
        from = at + offset_of!(Base, p_next);
        block.clear(from);
        // SAFETY: the sType says what the node is (VUID-…-sType-sType); its arrays are valid by the `-parameter` VUIDs of each structure.
        unsafe {
            match s_type {
                Type::RENDER_PASS_MULTIVIEW_CREATE_INFO => {
                    type Node = vk::RenderPassMultiviewCreateInfo<'static>;
                    let it = &*node.cast::<Node>();
                    block.array(at + offset_of!(Node, p_view_masks), it.p_view_masks, it.subpass_count as usize);
                    block.array(at + offset_of!(Node, p_view_offsets), it.p_view_offsets, it.dependency_count as usize);
                    let masks = at + offset_of!(Node, p_correlation_masks);
                    block.array(masks, it.p_correlation_masks, it.correlation_mask_count as usize);
                }
                Type::RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO => {
                    type Node = vk::RenderPassInputAttachmentAspectCreateInfo<'static>;
                    let it = &*node.cast::<Node>();
                    let (count, aspects) = (it.aspect_reference_count as usize, it.p_aspect_references);
                    block.array(at + offset_of!(Node, p_aspect_references), aspects, count);
                }
                Type::SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE => {
                    type Node = vk::SubpassDescriptionDepthStencilResolve<'static>;
                    let to = (*node.cast::<Node>()).p_depth_stencil_resolve_attachment;
                    references(block, at + offset_of!(Node, p_depth_stencil_resolve_attachment), to, 1)?;
                }
                Type::FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR => {
                    type Node = vk::FragmentShadingRateAttachmentInfoKHR<'static>;
                    let to = (*node.cast::<Node>()).p_fragment_shading_rate_attachment;
                    references(block, at + offset_of!(Node, p_fragment_shading_rate_attachment), to, 1)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}
