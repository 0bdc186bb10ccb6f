//! Render passes come back as they were given.

use std::ffi::c_void;
use std::ptr;

use ash::vk;

use super::made::pointer;
use super::{bytes, dangling, same, types, unknown};
use crate::kept::{RenderPass, RenderPassInfo};
use crate::pnext;
use samplin_core::left::Left;

type Type = vk::StructureType;

#[test]
fn a_render_pass_comes_back_when_its_create_info_is_gone() {
    let kept = {
        let attachments = [3, 4].map(|format| vk::AttachmentDescription {
            format: vk::Format::from_raw(format),
            final_layout: vk::ImageLayout::GENERAL,
            ..Default::default()
        });
        let of = |attachment| vk::AttachmentReference { attachment, layout: vk::ImageLayout::GENERAL };
        let (inputs, colors, resolves, depth) =
            ([of(7)], [of(0), of(vk::ATTACHMENT_UNUSED)], [of(1), of(vk::ATTACHMENT_UNUSED)], of(9));
        let preserved = [5, 6];
        let mut whole = vk::SubpassDescription::default()
            .input_attachments(&inputs)
            .color_attachments(&colors)
            .resolve_attachments(&resolves)
            .depth_stencil_attachment(&depth);
        (whole.preserve_attachment_count, whole.p_preserve_attachments) = (2, preserved.as_ptr());
        // What has no elements may dangle.
        let mut empty = vk::SubpassDescription::default();
        (empty.p_input_attachments, empty.p_color_attachments) = (dangling(), dangling());
        (empty.p_resolve_attachments, empty.p_preserve_attachments) = (dangling(), dangling());
        let dependencies = [vk::SubpassDependency { src_subpass: 1, dst_subpass: 2, ..Default::default() }];
        let (masks, offsets, correlated) = ([1, 2], [-1], [3]);
        let mut views = vk::RenderPassMultiviewCreateInfo::default()
            .view_masks(&masks)
            .view_offsets(&offsets)
            .correlation_masks(&correlated);
        let aspects =
            [vk::InputAttachmentAspectReference { subpass: 1, input_attachment_index: 2, ..Default::default() }];
        let mut aspects = vk::RenderPassInputAttachmentAspectCreateInfo::default().aspect_references(&aspects);
        let subpasses = [whole, empty];
        let info = vk::RenderPassCreateInfo::default()
            .flags(vk::RenderPassCreateFlags::TRANSFORM_QCOM)
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies)
            .push_next(&mut views)
            .push_next(&mut aspects);
        // SAFETY: a valid create info.
        unsafe { RenderPass::new(&info) }.1.unwrap()
    };
    kept.with_create_info(|info| {
        let RenderPassInfo::First(info) = info else { panic!("made by the first command") };
        same!(info, vk::RenderPassCreateInfo { flags: vk::RenderPassCreateFlags::TRANSFORM_QCOM, attachment_count: 2,
            subpass_count: 2, dependency_count: 1, ..Default::default() };
            flags, attachment_count, subpass_count, dependency_count);
        // SAFETY: what is handed out lives as long as the call.
        unsafe {
            assert_eq!((*info.p_attachments.add(1)).format.as_raw(), 4);
            assert_eq!((*info.p_dependencies).dst_subpass, 2);
            let (whole, empty) = (&*info.p_subpasses, &*info.p_subpasses.add(1));
            let of = |from: *const vk::AttachmentReference, at: usize| (*from.add(at)).attachment;
            assert_eq!(
                (of(whole.p_input_attachments, 0), of(whole.p_color_attachments, 1)),
                (7, vk::ATTACHMENT_UNUSED)
            );
            assert_eq!((of(whole.p_resolve_attachments, 0), of(whole.p_depth_stencil_attachment, 0)), (1, 9));
            assert_eq!(*whole.p_preserve_attachments.add(1), 6);
            assert!(empty.p_input_attachments.is_null() && empty.p_depth_stencil_attachment.is_null());
            assert!(empty.p_color_attachments.is_null() && empty.p_resolve_attachments.is_null());
            assert!(empty.p_preserve_attachments.is_null());
            let found = types(info.p_next);
            assert_eq!(
                found,
                [Type::RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO, Type::RENDER_PASS_MULTIVIEW_CREATE_INFO,]
            );
            let views = pnext::find::<vk::RenderPassMultiviewCreateInfo<'_>>(info.p_next).unwrap();
            assert_eq!((*views.p_view_masks.add(1), *views.p_view_offsets, *views.p_correlation_masks), (2, -1, 3));
            let aspects = pnext::find::<vk::RenderPassInputAttachmentAspectCreateInfo<'_>>(info.p_next).unwrap();
            assert_eq!((*aspects.p_aspect_references).input_attachment_index, 2);
        }
    });
}

#[test]
fn a_render_pass_of_the_second_kind_comes_back_with_its_chains() {
    let kept = {
        let mut layouts =
            vk::AttachmentDescriptionStencilLayout::default().stencil_final_layout(vk::ImageLayout::GENERAL);
        let attachments =
            [vk::AttachmentDescription2::default().format(vk::Format::D32_SFLOAT_S8_UINT).push_next(&mut layouts)];
        let mut layout = vk::AttachmentReferenceStencilLayout::default().stencil_layout(vk::ImageLayout::GENERAL);
        let depth = vk::AttachmentReference2::default().attachment(4).push_next(&mut layout);
        let (resolved, rate) =
            (vk::AttachmentReference2::default().attachment(5), vk::AttachmentReference2::default().attachment(6));
        let mut resolve =
            vk::SubpassDescriptionDepthStencilResolve::default().depth_stencil_resolve_attachment(&resolved);
        let mut rates = vk::FragmentShadingRateAttachmentInfoKHR::default().fragment_shading_rate_attachment(&rate);
        let colors = [vk::AttachmentReference2::default().attachment(2)];
        let subpasses = [vk::SubpassDescription2::default()
            .view_mask(3)
            .color_attachments(&colors)
            .depth_stencil_attachment(&depth)
            .push_next(&mut resolve)
            .push_next(&mut rates)];
        let mut barrier = vk::MemoryBarrier2::default().src_access_mask(vk::AccessFlags2::SHADER_READ);
        let dependencies = [vk::SubpassDependency2::default().dst_subpass(1).push_next(&mut barrier)];
        let masks = [1, 6];
        let mut feedback = vk::RenderPassCreationFeedbackCreateInfoEXT::default();
        let mut density = vk::RenderPassFragmentDensityMapCreateInfoEXT::default();
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies)
            .correlated_view_masks(&masks)
            .push_next(&mut feedback)
            .push_next(&mut density);
        // SAFETY: a valid create info.
        unsafe { RenderPass::new2(&info) }.1.unwrap()
    };
    kept.with_create_info(|info| {
        let RenderPassInfo::Second(info) = info else { panic!("made by the second command") };
        // SAFETY: what is handed out lives as long as the call.
        unsafe {
            assert_eq!(
                types(info.p_next),
                [Type::RENDER_PASS_FRAGMENT_DENSITY_MAP_CREATE_INFO_EXT],
                "feedback is the driver's"
            );
            assert_eq!(bytes(info.p_correlated_view_masks, 2), bytes([1_u32, 6].as_ptr(), 2));
            let attachment = &*info.p_attachments;
            assert_eq!(types(attachment.p_next), [Type::ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT]);
            let barrier = pnext::find::<vk::MemoryBarrier2<'_>>((*info.p_dependencies).p_next).unwrap();
            assert_eq!(barrier.src_access_mask, vk::AccessFlags2::SHADER_READ);
            let subpass = &*info.p_subpasses;
            assert_eq!((subpass.view_mask, (*subpass.p_color_attachments).attachment), (3, 2));
            let depth = &*subpass.p_depth_stencil_attachment;
            assert_eq!((depth.attachment, types(depth.p_next)), (4, vec![Type::ATTACHMENT_REFERENCE_STENCIL_LAYOUT]));
            let resolve = pnext::find::<vk::SubpassDescriptionDepthStencilResolve<'_>>(subpass.p_next).unwrap();
            assert_eq!((*resolve.p_depth_stencil_resolve_attachment).attachment, 5);
            let rates = pnext::find::<vk::FragmentShadingRateAttachmentInfoKHR<'_>>(subpass.p_next).unwrap();
            assert_eq!((*rates.p_fragment_shading_rate_attachment).attachment, 6);
        }
    });
}

#[test]
fn what_is_unknown_in_a_render_pass_is_refused() {
    let node = unknown();
    let p_next: *const c_void = pointer(&node);
    let subpasses = [vk::SubpassDescription2 { p_next, ..Default::default() }];
    let attachments = [vk::AttachmentDescription2 { p_next, ..Default::default() }];
    let dependencies = [vk::SubpassDependency2 { p_next, ..Default::default() }];
    let colors = [vk::AttachmentReference2 { p_next, ..Default::default() }];
    let of_colors = [vk::SubpassDescription2::default().color_attachments(&colors)];
    let info = vk::RenderPassCreateInfo2::default();
    for info in [
        vk::RenderPassCreateInfo2 { p_next, ..info },
        info.subpasses(&subpasses),
        info.attachments(&attachments),
        info.dependencies(&dependencies),
        info.subpasses(&of_colors),
    ] {
        // SAFETY: a valid create info.
        assert_eq!(unsafe { RenderPass::new2(&info) }.1.err(), Some(Left::PipelineChain));
    }
    let info = vk::RenderPassCreateInfo { p_next, ..Default::default() };
    // SAFETY: a valid create info.
    assert_eq!(unsafe { RenderPass::new(&info) }.1.err(), Some(Left::PipelineChain));
    let info = vk::RenderPassCreateInfo { p_next: ptr::null(), ..info };
    // SAFETY: a valid create info.
    assert!(unsafe { RenderPass::new(&info) }.1.is_ok());
}

/// The same for both kinds, also where there is no copy.
#[test]
fn what_subpasses_use_is_said_in_the_same_words() {
    const UNUSED: u32 = vk::ATTACHMENT_UNUSED;
    let node = unknown();
    for (colors, resolved, depth, expected) in [
        (&[][..], &[][..], None, (0, Some(false), false)),
        (&[UNUSED, 1], &[], Some(2), (2, Some(true), true)),
        (&[UNUSED], &[], Some(UNUSED), (1, Some(false), false)),
        // The driver may draw to what colours are resolved to.
        (&[UNUSED], &[3], None, (1, None, false)),
        (&[UNUSED], &[UNUSED], None, (1, Some(false), false)),
    ] {
        let first = |at: &u32| vk::AttachmentReference { attachment: *at, ..Default::default() };
        let second = |at: &u32| vk::AttachmentReference2 { attachment: *at, ..Default::default() };
        let lists: [Vec<_>; 3] = [colors, resolved, depth.as_slice()].map(|list| list.iter().map(first).collect());
        let mut subpass = vk::SubpassDescription::default().color_attachments(&lists[0]);
        subpass.p_resolve_attachments = if resolved.is_empty() { ptr::null() } else { lists[1].as_ptr() };
        subpass.p_depth_stencil_attachment = lists[2].first().map_or(ptr::null(), ptr::from_ref);
        let lists: [Vec<_>; 3] = [colors, resolved, depth.as_slice()].map(|list| list.iter().map(second).collect());
        let mut other = vk::SubpassDescription2::default().color_attachments(&lists[0]);
        other.p_resolve_attachments = if resolved.is_empty() { ptr::null() } else { lists[1].as_ptr() };
        other.p_depth_stencil_attachment = lists[2].first().map_or(ptr::null(), ptr::from_ref);
        let (subpasses, others) = ([vk::SubpassDescription::default(), subpass], [Default::default(), other]);
        for p_next in [ptr::null(), pointer(&node)] {
            let info = vk::RenderPassCreateInfo { p_next, ..Default::default() }.subpasses(&subpasses);
            let second = vk::RenderPassCreateInfo2 { p_next, ..Default::default() }.subpasses(&others);
            // SAFETY: valid create infos.
            let all = unsafe { [RenderPass::new(&info), RenderPass::new2(&second)] };
            for (uses, kept) in all {
                assert_eq!(kept.is_ok(), p_next.is_null());
                let uses: Vec<_> = uses.iter().map(|it| (it.colors, it.color, it.depth_stencil)).collect();
                assert_eq!(uses, [(0, Some(false), false), expected], "{colors:?}, {resolved:?}, {depth:?}");
            }
        }
    }
}
