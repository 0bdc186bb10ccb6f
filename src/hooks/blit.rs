//! Blits: the one filter that needs no sampler.

use ash::vk;

use crate::decide;
use crate::device::Device;
use crate::pnext::slice;

/// Whether a region copies texels one to one (mirrored or not), so that every filter gives the same result.
fn keeps_scale(source: [vk::Offset3D; 2], target: [vk::Offset3D; 2]) -> bool {
    let extent = |[a, b]: [vk::Offset3D; 2]| {
        [b.x.wrapping_sub(a.x), b.y.wrapping_sub(a.y), b.z.wrapping_sub(a.z)].map(i32::unsigned_abs)
    };
    extent(source) == extent(target)
}

/// The legal filter of a blit, recorded if it differs. `lossless` says whether no region scales.
fn legal_filter(device: &Device, source: vk::Image, filter: vk::Filter, lossless: impl FnOnce() -> bool) -> vk::Filter {
    if filter == vk::Filter::NEAREST {
        return filter;
    }
    device.ground.guard(
        || {
            let value = decide::Value::Filter(filter);
            if decide::is_unknown_enumerant(value, &device.ground.driver.caps) {
                device.ground.journal.unknown_enumerants(
                    &device.ground.driver,
                    &[(decide::Field::BlitFilter, value)],
                    None,
                    filter.as_raw() as u64,
                );
                return filter;
            }
            let Some((traits, tiling)) = device.pairs.images.blit_source(&device.ground.driver, source) else {
                return filter;
            };
            let off = device.ground.wishes.off_for_format(traits.format);
            let decision = decide::blit_except(filter, &traits, off);
            if !off.is_empty() {
                let full = decide::blit(filter, &traits);
                device.ground.wishes.exempt_blit(
                    &device.ground.journal,
                    &traits,
                    &decide::new_changes(&full.changes, &decision.changes),
                    filter,
                );
            }
            device.ground.journal.record_blit(&traits, tiling, &decision.changes, filter, lossless);
            if device.ground.wishes.audit { filter } else { decision.filter }
        },
        || filter,
    )
}

/// Names two images that may not be blitted to each other, once for each two formats. `aspects`: those of the source and of the target
/// in each region.
fn record_unblittable(
    device: &Device,
    source: vk::Image,
    target: vk::Image,
    mut aspects: impl Iterator<Item = [vk::ImageAspectFlags; 2]>,
) {
    let source_of = |image| device.pairs.images.blit_source(&device.ground.driver, image);
    device.ground.guard(
        || {
            let Some(((source, _), (target, _))) = source_of(source).zip(source_of(target)) else { return };
            let formats = [source.format, target.format];
            let of_formats = decide::unblittable(formats).map(|(vuid, why)| (vuid, why, 0));
            let of_aspects =
                || aspects.find_map(|own| decide::unblittable_aspects(formats, own)).map(|(vuid, why)| (vuid, why, 1));
            if let Some((vuid, why, of)) = of_formats.or_else(of_aspects) {
                let about = serde_json::json!({ "vuid": vuid });
                let key = (source.format.as_raw() as u64, (target.format.as_raw() as u64) << 1 | of);
                device.ground.journal.unresolved(why, None, about, key);
            }
        },
        || (),
    );
}

pub(crate) unsafe extern "system" fn cmd_blit_image(
    commands: vk::CommandBuffer,
    source: vk::Image,
    source_layout: vk::ImageLayout,
    target: vk::Image,
    target_layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageBlit,
    filter: vk::Filter,
) {
    let (device, next) = enter!(commands, cmd_blit_image);
    // SAFETY: VUID-vkCmdBlitImage-pRegions-parameter.
    let aspects =
        unsafe { slice(regions, count) }.iter().map(|region| [region.src_subresource, region.dst_subresource]);
    record_unblittable(device, source, target, aspects.map(|both| both.map(|of| of.aspect_mask)));
    let legal = legal_filter(device, source, filter, || {
        // SAFETY: VUID-vkCmdBlitImage-pRegions-parameter.
        unsafe { slice(regions, count) }.iter().all(|region| keeps_scale(region.src_offsets, region.dst_offsets))
    });
    // SAFETY: the application's own arguments but for the filter.
    unsafe { next(commands, source, source_layout, target, target_layout, count, regions, legal) };
}

pub(crate) unsafe extern "system" fn cmd_blit_image2(commands: vk::CommandBuffer, info: *const vk::BlitImageInfo2<'_>) {
    let (device, next) = enter!(commands, cmd_blit_image2);
    // SAFETY: valid by VUID-vkCmdBlitImage2-pBlitImageInfo-parameter.
    unsafe {
        let Some(given) = info.as_ref() else { return next(commands, info) };
        let regions = slice(given.p_regions, given.region_count).iter();
        let aspects = regions.map(|region| [region.src_subresource, region.dst_subresource].map(|of| of.aspect_mask));
        record_unblittable(device, given.src_image, given.dst_image, aspects);
        let legal = legal_filter(device, given.src_image, given.filter, || {
            slice(given.p_regions, given.region_count)
                .iter()
                .all(|region| keeps_scale(region.src_offsets, region.dst_offsets))
        });
        if legal == given.filter {
            next(commands, info);
        } else {
            next(commands, &vk::BlitImageInfo2 { filter: legal, ..*given });
        }
    }
}
