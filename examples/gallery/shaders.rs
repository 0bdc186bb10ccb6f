//! Painters of what a shader does besides sampling.

use crate::cases::{PANEL, Picture, colour, relief, scale};
use ash::vk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, update, write_images};
use samplin_testkit::shader::{Mapping, Painter, ResultKind, ShaderModule, make_compute, pipeline_layout};
use samplin_testkit::{Buffer, Context, Image, ImageDesc, Value, ViewDesc};
use std::ffi::CStr;

/// The extension that takes shaders for OpenGL.
pub(crate) const GL_SHADERS: &CStr = c"VK_SAMPLIN_gl_shaders";
/// How many shades there are a counter for.
const COUNTERS: usize = 16;
/// Work groups along an edge of the panel.
const GROUPS: u32 = PANEL / 8;

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Runs a shader once for each pixel of the panel, with a set of these bindings that `write` has written to.
fn dispatch(context: &Context, words: &[u32], bindings: &[Binding], write: impl FnOnce(vk::DescriptorSet)) {
    let device = context.device();
    let (module, set_layout) = (ShaderModule::new(context, words), SetLayout::new(context, bindings));
    let layout = pipeline_layout(context, &[&set_layout], &[]);
    let stage = module.stage(vk::ShaderStageFlags::COMPUTE);
    let pipeline = make_compute(device, &vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout));
    let (_pool, set) = Pool::set(context, &set_layout);
    write(set);
    context.submit(|commands| {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the buffer is recording; pipeline, layout and set belong together, and the set is written.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            device.cmd_dispatch(commands, GROUPS, GROUPS, 1);
        }
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_READ);
        let to = vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::TRANSFER;
        let (from, no) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::DependencyFlags::empty());
        // SAFETY: the buffer is recording outside of a render pass.
        unsafe { device.cmd_pipeline_barrier(commands, from, to, no, &[barrier], &[], &[]) };
    });
    // SAFETY: the submission above was waited for, and nothing else uses these three.
    unsafe {
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(layout, None);
    }
}

fn write_buffer(context: &Context, set: vk::DescriptorSet, binding: u32, buffer: &Buffer<'_>) {
    let infos = [vk::DescriptorBufferInfo { buffer: buffer.handle(), offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).buffer_info(&infos);
    update(context, &[write.descriptor_type(vk::DescriptorType::STORAGE_BUFFER)], &[], &[]);
}

/// The relief, and in front of it a bar for each shade that is as high as the shader has counted.
pub(crate) fn counters(context: &Context) -> Result<Picture, String> {
    if !context.extensions().contains(&GL_SHADERS) {
        return Err("Vulkan has no atomic counters; drivers crash on the shader".to_owned());
    }
    let places = || (0..PANEL * PANEL).map(|index| (index % PANEL, index / PANEL));
    let shade = |x: u32, y: u32| (relief(x / 16, y / 16) * 255.0) as u32;
    let shades = Buffer::new(context, 4 * (PANEL * PANEL) as usize, vk::BufferUsageFlags::STORAGE_BUFFER);
    shades.write(0, &places().flat_map(|(x, y)| shade(x, y).to_le_bytes()).collect::<Vec<_>>());
    let counts = Buffer::new(context, 4 * COUNTERS, vk::BufferUsageFlags::STORAGE_BUFFER);
    counts.write(0, &[0; 4 * COUNTERS]);
    // The counters' binding is the first that the shader leaves free.
    let bindings = [0, 1].map(|binding| Binding::new(binding, vk::DescriptorType::STORAGE_BUFFER, 1));
    dispatch(context, &words(include_bytes!(concat!(env!("OUT_DIR"), "/count.spv"))), &bindings, |set| {
        write_buffer(context, set, 0, &shades);
        write_buffer(context, set, 1, &counts);
    });
    let counted = words(&counts.read(0, 4 * COUNTERS));
    let most = counted.iter().copied().max().unwrap_or_default().max(1);
    let pixel = |(x, y): (u32, u32)| {
        let (bar, within) = (x as usize * COUNTERS / PANEL as usize, x % (PANEL / COUNTERS as u32));
        let high = counted[bar] * (PANEL - 12) / most;
        match within {
            1..=10 if PANEL - y <= high => scale((bar as f64 + 0.5) / COUNTERS as f64),
            _ => scale(f64::from(shade(x, y)) / 255.0).map(|c| 160 + c / 3),
        }
    };
    Ok(places().map(pixel).collect())
}

/// What is in an image of the panel's size after a shader has gone over it.
fn stored(context: &Context, format: vk::Format, bytes: &[u8]) -> Result<Vec<Value>, String> {
    let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let image = Image::new(context, &ImageDesc { usage, ..ImageDesc::d2(format, PANEL, PANEL) })?;
    image.clear(vk::ClearColorValue { uint32: [0; 4] });
    let view = image.view(&ViewDesc::default());
    let kind = vk::DescriptorType::STORAGE_IMAGE;
    dispatch(context, &words(bytes), &[Binding::new(0, kind, 1)], |set| {
        let info = vk::DescriptorImageInfo {
            image_view: view.handle(),
            image_layout: vk::ImageLayout::GENERAL,
            ..Default::default()
        };
        write_images(context, set, (0, 0), kind, &[info]);
    });
    Ok(image.read(vk::ImageAspectFlags::COLOR, 0, 0))
}

/// What a shader stores that declares Rgba32f, in an image of RGBA8.
pub(crate) fn store(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let values = stored(context, format, include_bytes!(concat!(env!("OUT_DIR"), "/store.spv")))?;
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

/// A device that stores no small floats.
pub(crate) const NO_SMALL_FLOATS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../devices/qualcomm-adreno-540-android.json");

/// Light that a shader adds up in an image of small floats; the brighter, the nearer to white.
pub(crate) fn lamps(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::B10G11R11_UFLOAT_PACK32;
    let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
    if !features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE) {
        return Err("the device says that it cannot store to R11G11B10F".to_owned());
    }
    let values = stored(context, format, include_bytes!(concat!(env!("OUT_DIR"), "/lamps.spv")))?;
    let pixel = |value: Value| {
        let [r, g, b, _] = value.components();
        [r, g, b].map(|light| (255.0 * light / (1.0 + light)).round() as u8)
    };
    Ok(values.into_iter().map(pixel).collect())
}

/// The device that [`samples`] is painted on with the layer.
pub(crate) const NO_SAMPLE_SHADING: &str = concat!(env!("OUT_DIR"), "/no-sample-shading.json");

/// What is shaded for each sample, on a target of one.
pub(crate) fn samples(context: &Context) -> Result<Picture, String> {
    let words = words(include_bytes!(concat!(env!("OUT_DIR"), "/samples.spv")));
    let layout = SetLayout::new(context, &[]);
    let (_pool, set) = Pool::set(context, &layout);
    // It reads no texture.
    let painter = Painter::of_words(context, &layout, ResultKind::Float, &words, [PANEL, PANEL])?;
    let values = painter.paint(set, &Mapping::rectangle([0.0; 2], [1.0; 2]));
    Ok(values.into_iter().map(|value| colour(vk::Format::R32G32B32A32_SFLOAT, value)).collect())
}
