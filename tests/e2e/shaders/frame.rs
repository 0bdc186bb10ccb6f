//! One frame with an image of a format that the device cannot store: cleared, copied to, rendered to, read, sampled, stored to, sampled
//! again and copied from, in one submission. What comes of it is what the driver itself makes of it.

use super::formats::{COLOR, Frame, STORED, check_sizes, compare, converts_otherwise, format, kinds};
use super::samples::{ONE, SHADED, fragment, pipeline, sampled};
use super::{Job, buffer, vulkan, write_buffer};
use crate::run::{self, Outcome, Skip, skip_if};
use ash::vk::{self, FormatFeatureFlags as Feature, ImageUsageFlags as Usage, SampleCountFlags as Samples};
use libtest_mimic::Trial;
use samplin_spirv::image_formats::{Channels, Codec};
use samplin_testkit::descriptor::{Binding, Pool};
use samplin_testkit::held::{self, Slot};
use samplin_testkit::image::{FIRST, barrier};
use samplin_testkit::shader::{COLOUR, Target, attachment, pipeline_layout};
use samplin_testkit::{Buffer, Capability, Context, Image, ImageDesc, SamplerDesc, ViewDesc};

pub(super) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("shaders/frame/plane", || every_use(1)),
        ("shaders/frame/linear-tiling", || every_use(2)),
        ("shaders/frame/array", || every_use(3)),
        ("shaders/frame/volume", || every_use(4)),
        ("shaders/frame/cube", || every_use(5)),
        ("shaders/frame/outside-of-an-image", outside),
        ("shaders/frame/no-image", nothing),
        ("shaders/frame/several-samples", several_samples),
    ])
}

/// A render pass that keeps what is there, in the layout GENERAL, and a framebuffer of a view.
fn pass<'c>(
    context: &'c Context,
    (format, samples): (vk::Format, Samples),
    view: vk::ImageView,
    [width, height, _]: [u32; 3],
) -> Target<'c> {
    let kept = attachment(format, vk::AttachmentLoadOp::LOAD, [vk::ImageLayout::GENERAL; 2]).samples(samples);
    Target::new(context, &[kept], COLOUR, &[view], [width, height])
}

/// That a texel is read as what was drawn there, as near as eight bits and interpolation are.
fn assert_drawn(codec: &Codec, read: &[u32], drawn: [f32; 4]) {
    for (at, drawn) in drawn.into_iter().enumerate() {
        let wanted = if codec.widths[at] > 0 { drawn } else { [0.0, 0.0, 0.0, 1.0][at] };
        let got = f32::from_bits(read[at]);
        assert!((got - wanted).abs() < 0.5 / 255.0 + 0.001, "component {at} of {drawn:?}: {got} and not {wanted}");
    }
}

fn frame(context: &Context, codec: &Codec, which: usize) -> Result<Frame, Skip> {
    let device = context.device();
    let (format, name, _) = format(codec);
    let (glsl, at, desc, view) = kinds(format)[which];
    let usage = STORED | Usage::COLOR_ATTACHMENT;
    let features = context.format_features(format, desc.tiling);
    let needed = Feature::STORAGE_IMAGE | Feature::SAMPLED_IMAGE | Feature::COLOR_ATTACHMENT;
    let has = features.contains(needed);
    skip_if(
        (!has).then(|| format!("{} has not all uses of {format:?} with {:?}", context.device_name(), desc.tiling)),
    )?;
    let mut desc = ImageDesc { usage, ..desc };
    if desc.image_type == vk::ImageType::TYPE_3D {
        desc.flags |= vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE;
    }
    let image = Image::new(context, &desc).map_err(Skip)?;
    check_sizes(context, &image);
    let texels = desc.extent.iter().product::<u32>() * desc.layers;
    let sampled_type = if which == 5 {
        vk::ImageViewType::TYPE_2D_ARRAY
    } else {
        view.view_type.unwrap_or(vk::ImageViewType::TYPE_2D)
    };
    let sampler_type = if which == 5 { "sampler2DArray".to_owned() } else { glsl.replace("image", "sampler") };
    let head = format!(
        "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0, {name}) uniform {glsl} im;\n\
         layout(binding = 1) buffer B {{ uvec4 words[]; }};\nlayout(binding = 2) uniform {sampler_type} s;\n\
         void main() {{ uint n = gl_GlobalInvocationID.x;\nif (n >= {texels}) return;\n"
    );
    let work = vulkan(
        "comp",
        &format!(
            "{head} words[n] = floatBitsToUint(imageLoad(im, {at})); words[64 + n] = floatBitsToUint(texelFetch(s, {at}, 0));\n\
             if (n % 3 == 1) imageStore(im, {at}, vec4(n, 3.0 * n, 64 - n, n) / 64.0); }}\n"
        ),
    );
    let look = vulkan("comp", &format!("{head} words[128 + n] = floatBitsToUint(texelFetch(s, {at}, 0)); }}\n"));
    let bindings = [Binding::stored(0), Binding::storage(1), Binding::combined(2, 1)];
    let jobs = [work, look].map(|words| Job::new(context, &words, &bindings).expect("a pipeline"));
    let sampler = SamplerDesc::nearest().create(context);
    let stored = image.view(&view);
    let sampled = image.view(&ViewDesc { view_type: Some(sampled_type), ..ViewDesc::default() });
    let rendered = image.view(&ViewDesc {
        view_type: Some(vk::ImageViewType::TYPE_2D),
        layers: Some((0, 1)),
        ..ViewDesc::default()
    });
    let target = pass(context, (format, desc.samples), rendered.handle(), desc.extent);
    let [width, height, depth] = desc.extent;
    // What is left of the image by half of the clear, but for the row that was copied.
    let drawn = vk::Rect2D {
        offset: vk::Offset2D { x: (width / 2) as i32, y: 0 },
        extent: vk::Extent2D { width: width - width / 2, height: height - 1 },
    };
    let none = pipeline_layout(context, &[], &[]);
    let colors = fragment("o = vec4(place * 0.5 + 0.5, 0.25, 0.75);");
    let draws = pipeline(context, &colors, ONE, (none, target.pass), drawn);
    let read = buffer(context, &[7; 4 * 192]);
    let given = Buffer::new(context, 256, vk::BufferUsageFlags::TRANSFER_SRC);
    given.write(0, &(0..=255).map(|byte: u8| byte & 0x3b).collect::<Vec<u8>>());
    let left = Buffer::new(context, 4 * texels as usize, vk::BufferUsageFlags::TRANSFER_DST);
    let pools = jobs.each_ref().map(|job| Pool::new(context, &[&job.set_layout]));
    let sets = [pools[0].allocate(&jobs[0].set_layout), pools[1].allocate(&jobs[1].set_layout)];
    for set in sets {
        held::write(context, set, &[Slot::stored(&stored, 0), Slot::pair(&sampled, &sampler, 2, 0).general()]);
        write_buffer(context, set, 1, &read);
    }
    let general = vk::ImageLayout::GENERAL;
    let range = vk::ImageSubresourceRange { layer_count: desc.layers, ..FIRST };
    let layers = vk::ImageSubresourceLayers::default().aspect_mask(COLOR);
    context.submit(|commands| {
        let next = || barrier(device, commands, &[]);
        image.record_transition(commands, general);
        let color = vk::ClearColorValue { float32: [0.25, 0.5, 1.0, 0.0] };
        // SAFETY: the buffer is recording; the image is in this layout.
        unsafe { device.cmd_clear_color_image(commands, image.handle(), general, &color, &[range]) };
        next();
        // The last row of each layer.
        let row = vk::BufferImageCopy::default()
            .image_subresource(layers.layer_count(desc.layers))
            .image_offset(vk::Offset3D { x: 0, y: height as i32 - 1, z: 0 })
            .image_extent(vk::Extent3D { width, height: 1, depth });
        // SAFETY: as above; the buffer has as many texels.
        unsafe { device.cmd_copy_buffer_to_image(commands, given.handle(), image.handle(), general, &[row]) };
        next();
        let color = vk::ClearColorValue { float32: [0.75, 0.25, 0.5, 1.0] };
        let clear =
            vk::ClearAttachment { aspect_mask: COLOR, color_attachment: 0, clear_value: vk::ClearValue { color } };
        let half = vk::Rect2D { extent: vk::Extent2D { width: width / 2, height }, ..vk::Rect2D::default() };
        let rect = vk::ClearRect { rect: half, base_array_layer: 0, layer_count: 1 };
        // SAFETY: pass and pipeline belong together; what is cleared and drawn is inside.
        target.record(commands, &[], || unsafe {
            device.cmd_clear_attachments(commands, &[clear], &[rect]);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, draws);
            device.cmd_draw(commands, 3, 1, 0, 0);
        });
        for (job, set) in jobs.iter().zip(sets) {
            next();
            job.bind(commands, set);
            // SAFETY: set, layout and pipeline belong together.
            unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, job.pipeline);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
        }
        next();
        let whole = vk::BufferImageCopy::default()
            .image_subresource(layers.layer_count(desc.layers))
            .image_extent(vk::Extent3D { width, height, depth });
        // SAFETY: the image is in this layout; the buffer has room for all texels.
        unsafe { device.cmd_copy_image_to_buffer(commands, image.handle(), general, left.handle(), &[whole]) };
        next();
    });
    // SAFETY: the submission was waited for.
    unsafe {
        device.destroy_pipeline(draws, None);
        device.destroy_pipeline_layout(none, None);
    }
    let words = read.words();
    let [across, down] = [drawn.extent.width, drawn.extent.height];
    for (x, y) in (0..across).flat_map(|x| (0..down).map(move |y| (x, y))) {
        let at = 4 * (y * width + width / 2 + x) as usize;
        let [x, y] = [(x, across), (y, down)].map(|(at, length)| (at as f32 + 0.5) / length as f32);
        assert_drawn(codec, &words[at..at + 4], [x, y, 0.25, 0.75]);
    }
    Ok((left.read(0, left.size()), words, converts_otherwise(context)))
}

/// [`compare`] of what has at least so many views in another format.
fn compare_views(numbers: &[u32], views: usize, run: impl Fn(&Context, &Codec) -> Result<Frame, Skip>) -> Outcome {
    compare(numbers, run, |judged| {
        // It was not the driver.
        let changed = judged.changes("view").iter().filter(|change| change.catalog == "H-5").count();
        assert!(changed >= views, "{:#?}", judged.changes("view"));
    })
}

/// All uses of an image in one submission.
fn every_use(which: usize) -> Outcome {
    compare_views(&[4, 7], 1, |context, codec| {
        let (bytes, words, otherwise) = frame(context, codec, which)?;
        // Something was cleared, rendered and stored.
        let colors: std::collections::BTreeSet<&[u8]> = bytes.chunks(4).collect();
        assert!(colors.len() > 12 && !words.contains(&7) || which == 5, "{bytes:?} {words:?}");
        Ok((bytes, words, otherwise))
    })
}

/// What a shader of 64 invocations leaves of a plane of 8 × 8 texels and 64 blocks of words. `view`: what is at binding 0, if not the
/// image.
fn dispatch(context: &Context, codec: &Codec, body: &str, view: Option<vk::ImageView>) -> Result<Frame, Skip> {
    let (format, name, _) = format(codec);
    let stores = context.format_features(format, vk::ImageTiling::OPTIMAL).contains(Feature::STORAGE_IMAGE);
    skip_if((!stores).then(|| format!("{} does not store {format:?}", context.device_name())))?;
    let words = vulkan(
        "comp",
        &format!(
            "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0, {name}) uniform image2D im;\n\
             layout(binding = 1) buffer B {{ uvec4 words[]; }};\nvoid main() {{ uint n = gl_GlobalInvocationID.x;\n\
             ivec2 at = ivec2(n % 8, n / 8); {body} }}\n"
        ),
    );
    let job = Job::new(context, &words, &[Binding::stored(0), Binding::storage(1)]).expect("a pipeline");
    let image = Image::new(context, &ImageDesc { usage: STORED, ..ImageDesc::d2(format, 8, 8) }).map_err(Skip)?;
    image.clear(vk::ClearColorValue { float32: [0.25, 0.5, 1.0, 1.0] });
    image.transition(vk::ImageLayout::GENERAL);
    let own = image.view(&ViewDesc::default());
    let read = buffer(context, &[7; 4 * 128]);
    job.run(1, |set| {
        let mut slot = Slot::stored(&own, 0);
        slot.info.image_view = view.unwrap_or(own.handle());
        held::write(context, set, &[slot]);
        write_buffer(context, set, 1, &read);
    });
    Ok((image.read_bytes(COLOR, 0, 0), read.words(), converts_otherwise(context)))
}

/// That nothing was stored to an image that was cleared, and that what was read is zero, with an alpha of zero or one (Texel Input
/// Validation Operations).
fn assert_nothing((bytes, words, _): &Frame) {
    let mut texels = bytes.chunks(4);
    let first = texels.next().expect("a texel");
    assert!(texels.all(|texel| texel == first), "{bytes:?}");
    let one = 1_f32.to_bits();
    let is_zero = |texel: &[u32]| texel[..3] == [0; 3] && (texel[3] == 0 || texel[3] == one);
    assert!(words.chunks(4).all(is_zero), "{words:?}");
}

/// Reads and stores outside of the image, which robustness makes harmless.
fn outside() -> Outcome {
    compare_views(&[4, 7], 1, |context, codec| {
        context.skip_where(!context.supports(Capability::RobustImageAccess), "lacks robustImageAccess")?;
        let body = "words[n] = floatBitsToUint(imageLoad(im, at + 100)); words[64 + n] = floatBitsToUint(imageLoad(im, at - 9));\n\
                    imageStore(im, at + 8, vec4(0.75)); imageStore(im, -1 - at, vec4(0.75));";
        let left = dispatch(context, codec, body, None)?;
        assert_nothing(&left);
        // What differs is alpha, where either is right.
        Ok((left.0, Vec::new(), left.2))
    })
}

/// No image at all.
fn nothing() -> Outcome {
    compare_views(&[4, 7], 1, |context, codec| {
        context.skip_where(!context.supports(Capability::NullDescriptor), "lacks nullDescriptor")?;
        let body =
            "words[n] = floatBitsToUint(imageLoad(im, at)); words[64 + n] = words[n]; imageStore(im, at, vec4(0.75));";
        let left = dispatch(context, codec, body, Some(vk::ImageView::null()))?;
        assert_nothing(&left);
        Ok((left.0, Vec::new(), left.2))
    })
}

/// Where each of four samples is in its pixel (Rasterization, "Multisampling", standard sample locations).
const LOCATIONS: [[f32; 2]; 4] = [[0.375, 0.125], [0.875, 0.375], [0.125, 0.625], [0.625, 0.875]];

/// Draws over all of an image of four samples, each of which has its own place and number.
fn draw_samples(context: &Context, image: &Image<'_>, view: vk::ImageView) {
    let device = context.device();
    let (extent, format) = (image.desc().extent, (image.desc().format, Samples::TYPE_4));
    let target = pass(context, format, view, extent);
    let area = vk::Rect2D { extent: vk::Extent2D { width: extent[0], height: extent[1] }, ..Default::default() };
    let layout = pipeline_layout(context, &[], &[]);
    let colors = sampled("o = vec4(place * 0.5 + 0.5, gl_SampleID / 4.0, 0.75);");
    let draws = pipeline(context, &colors, SHADED, (layout, target.pass), area);
    context.submit(|commands| {
        // SAFETY: pass and pipeline belong together.
        target.record(commands, &[], || unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, draws);
            device.cmd_draw(commands, 3, 1, 0, 0);
        });
        barrier(context.device(), commands, &[]);
    });
    // SAFETY: the submission was waited for.
    unsafe {
        device.destroy_pipeline(draws, None);
        device.destroy_pipeline_layout(layout, None);
    }
}

/// An image of four samples: rendered to with a colour for each, read, stored to, and read again, also through a sampler.
fn several_samples() -> Outcome {
    compare_views(&[4, 7], 1, |context, codec| {
        let (format, name, _) = format(codec);
        let uses = Feature::STORAGE_IMAGE | Feature::SAMPLED_IMAGE | Feature::COLOR_ATTACHMENT;
        let has = context.supports(Capability::StorageMultisample)
            && context.supports(Capability::SampleRateShading)
            && context.properties().limits.standard_sample_locations != vk::FALSE
            && context.format_features(format, vk::ImageTiling::OPTIMAL).contains(uses);
        let device = context.device_name();
        skip_if((!has).then(|| format!("{device} lacks storage images of several samples, or shading of each")))?;
        let usage = Usage::SAMPLED | Usage::STORAGE | Usage::COLOR_ATTACHMENT;
        let desc = ImageDesc { usage, samples: Samples::TYPE_4, ..ImageDesc::d2(format, 8, 8) };
        let image = Image::new(context, &desc).map_err(Skip)?;
        check_sizes(context, &image);
        image.transition(vk::ImageLayout::GENERAL);
        let view = image.view(&ViewDesc::default());
        draw_samples(context, &image, view.handle());
        let shader = |body: &str| {
            vulkan(
                "comp",
                &format!(
                    "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0, {name}) uniform image2DMS im;\n\
                     layout(binding = 1) buffer B {{ uvec4 words[]; }};\nlayout(binding = 2) uniform sampler2DMS s;\n\
                     void main() {{ uint n = gl_GlobalInvocationID.x;\nivec2 at = ivec2(n % 8, n / 8);\n\
                     for (int i = 0; i < 4; i++) {{ {body} }} }}\n"
                ),
            )
        };
        let bindings = [Binding::stored(0), Binding::storage(1), Binding::combined(2, 1)];
        let read = buffer(context, &[7; 4 * 512]);
        let sampler = SamplerDesc::nearest().create(context);
        let drawn = buffer(context, &[7; 4 * 512]);
        let reads = "words[4 * n + i] = floatBitsToUint(imageLoad(im, at, i));\n\
             words[256 + 4 * n + i] = floatBitsToUint(texelFetch(s, at, i));";
        // What the format has, so that it is stored alike however a driver rounds.
        let largest = if codec.kind == Channels::Unorm { "255.0" } else { "256.0" };
        let stores = format!("imageStore(im, at, i, vec4(n + 64 * i, 64 - n, 16 * i, 3 * n + i) / {largest});");
        for (body, buffer) in [(reads, &drawn), (stores.as_str(), &read), (reads, &read)] {
            Job::new(context, &shader(body), &bindings).expect("a pipeline").run(1, |set| {
                held::write(context, set, &[Slot::stored(&view, 0), Slot::pair(&view, &sampler, 2, 0).general()]);
                write_buffer(context, set, 1, buffer);
            });
        }
        let [drawn, mut words] = [drawn, read].map(|buffer| buffer.words());
        // Samples differ, and both ways to read agree.
        let step = u32::from(converts_otherwise(context));
        for words in [&drawn, &words] {
            let (stored, sampled) = words.split_at(1024);
            let mut pairs = std::iter::zip(stored, sampled).enumerate();
            let other = pairs.find(|(_, (stored, sampled))| stored.abs_diff(**sampled) > step);
            assert_eq!(other, None, "component, read of the image and of the texture");
            assert_ne!(words[..4], words[4..8], "two samples");
        }
        for (texel, read) in drawn[..1024].chunks(4).enumerate() {
            let ([x, y], sample) = ([texel / 4 % 8, texel / 32].map(|at| at as f32), texel % 4);
            let [right, down] = LOCATIONS[sample];
            assert_drawn(codec, read, [(x + right) / 8.0, (y + down) / 8.0, sample as f32 / 4.0, 0.75]);
        }
        words.extend(drawn);
        Ok((Vec::new(), words, converts_otherwise(context)))
    })
}
