//! What shaders that samplin has rewritten cost the device: GPU time of a pass, by timestamps.
//!
//! Each row has a pass as an application would write it for a device that can do all of it, and one under samplin that comes to the
//! same: `GL_CLAMP` beside coordinates that the shader clamps itself, a filter that the shader computes beside the device's own, a
//! storage image of a format that is taken away beside the format itself.

use std::ffi::CStr;
use std::process::Command;

use ash::vk;
use samplin_testkit::context::Context;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined, write_images};
use samplin_testkit::shader::{COLOUR, target_of};
use samplin_testkit::{Folder, Image, ImageDesc, Pair, SamplerDesc, Value, View, ViewDesc};
use serde_json::json;

/// Pixels on each side of what is painted, or texels of what is stored to.
const SIDE: u32 = 2048;
/// Passes between two timestamps.
const PASSES: u32 = 20;

const GL_CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::from_raw(0x2900);
const GL_MODES: &CStr = c"VK_SAMPLIN_gl_address_modes";

/// A row: the pass without the layer, and under samplin with these settings.
struct Row {
    name: &'static str,
    settings: &'static [(&'static str, &'static str)],
    plain: PassSetup,
    ours: PassSetup,
}

/// What a pass is made of.
#[derive(Clone, Copy)]
struct PassSetup {
    shader: &'static str,
    format: vk::Format,
    address: vk::SamplerAddressMode,
    mips: vk::SamplerMipmapMode,
    /// The sampler compares, and the shader asks for that.
    compares: bool,
}

const VERTEX: &str = "#version 450
void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.0, 1.0); }";

const PLAIN: &str = "texture(t, p)";
/// Between the first two levels.
const SMALLER: &str = "texture(t, p * 2.4)";
const CLAMPED: &str = "texture(t, clamp(p, 0.0, 1.0))";
const SMALLER_CLAMPED: &str = "texture(t, clamp(p * 2.4, 0.0, 1.0))";
/// With levels of detail of what is not clamped: what saturated coordinates have to cost at least.
const SMALLER_GRADED: &str = "textureGrad(t, clamp(p * 2.4, 0.0, 1.0), dFdx(p * 2.4), dFdy(p * 2.4))";

/// With a sampler that compares, of which the device can do nothing with colours.
const COMPARED: &str = "vec4(texture(t, vec3(p, 0.5)))";

/// Images and samplers of arrays: the same ones in tiles of so many pixels on each side.
const BY_PIXEL: &str = "1";
const BY_TILE: &str = "8";
const ELEMENTS: [u32; 2] = [1024, 64];

fn is_indexed(pass: &PassSetup) -> bool {
    [BY_PIXEL, BY_TILE].contains(&pass.shader)
}

fn indexed(tile: &str) -> String {
    let [images, samplers] = ELEMENTS;
    format!(
        "#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform texture2D t[{images}];
layout(set = 0, binding = 1) uniform sampler s[{samplers}];
layout(location = 0) out vec4 colour;
void main() {{
    vec2 p = gl_FragCoord.xy / {SIDE}.0 * 1.25 - 0.125;
    uvec2 tile = uvec2(gl_FragCoord.xy) / {tile};
    uint h = (tile.x * 73856093u ^ tile.y * 19349663u) * 2654435761u;
    uint i = (h >> 8) % ({images} - 1), j = (h >> 20) % {samplers};
    colour = texture(sampler2D(t[nonuniformEXT(i)], s[nonuniformEXT(j)]), p);
}}"
    )
}

fn fragment(pass: &PassSetup) -> String {
    if is_indexed(pass) {
        return indexed(pass.shader);
    }
    let (lookup, ty) = (pass.shader, if pass.compares { "sampler2DShadow" } else { "sampler2D" });
    format!(
        "#version 450
layout(set = 0, binding = 0) uniform {ty} t;
layout(location = 0) out vec4 colour;
void main() {{ vec2 p = gl_FragCoord.xy / {SIDE}.0 * 1.25 - 0.125; colour = {lookup}; }}"
    )
}

const STORE: &str = "#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r11f_g11f_b10f) uniform writeonly image2D t;
void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    imageStore(t, ivec2(at), vec4(vec2(at) / 2048.0, float(at.x ^ at.y) / 64.0, 1.0));
}";

fn rows() -> Vec<Row> {
    let border = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    let (nearest, linear) = (vk::SamplerMipmapMode::NEAREST, vk::SamplerMipmapMode::LINEAR);
    let clamp = PassSetup {
        shader: CLAMPED,
        format: vk::Format::R8G8B8A8_UNORM,
        address: border,
        mips: nearest,
        compares: false,
    };
    let smaller = PassSetup { shader: SMALLER_CLAMPED, mips: linear, ..clamp };
    let ours = PassSetup { shader: SMALLER, address: GL_CLAMP, ..smaller };
    let repeat = vk::SamplerAddressMode::REPEAT;
    let float = PassSetup { shader: PLAIN, format: vk::Format::R32_SFLOAT, address: repeat, ..clamp };
    let colour = PassSetup { shader: PLAIN, address: repeat, ..clamp };
    let trilinear = PassSetup { shader: SMALLER, mips: linear, ..float };
    let store = PassSetup { shader: STORE, format: vk::Format::B10G11R11_UFLOAT_PACK32, ..clamp };
    let (by_pixel, by_tile) = (PassSetup { shader: BY_PIXEL, ..colour }, PassSetup { shader: BY_TILE, ..colour });
    let looked_up: &[_] = &[("bindless", "resolve"), ("device", "qualcomm-adreno-650-android")];
    let emulate: &[_] = &[("unfilterable", "emulate"), ("device", "qualcomm-adreno-650-android")];
    vec![
        Row {
            name: "GL_CLAMP beside clamped coordinates",
            settings: &[],
            plain: clamp,
            ours: PassSetup { shader: PLAIN, address: GL_CLAMP, ..clamp },
        },
        Row { name: "GL_CLAMP on 4 levels beside clamps", settings: &[], plain: smaller, ours },
        Row {
            name: "GL_CLAMP on 4 levels beside gradients",
            settings: &[],
            plain: PassSetup { shader: SMALLER_GRADED, ..smaller },
            ours,
        },
        Row { name: "bilinear R32_SFLOAT", settings: emulate, plain: float, ours: float },
        Row { name: "trilinear R32_SFLOAT", settings: emulate, plain: trilinear, ours: trilinear },
        Row {
            name: "compared R8G8B8A8 beside bilinear",
            // With which combined descriptors are followed; the format itself is filtered.
            settings: &[("unfilterable", "emulate")],
            plain: colour,
            ours: PassSetup { shader: COMPARED, compares: true, ..colour },
        },
        // One image that nobody reads is not filtered, so that each pair is looked up.
        Row { name: "looked up, another pair in each pixel", settings: looked_up, plain: by_pixel, ours: by_pixel },
        Row {
            name: "looked up, another pair in each 8 x 8 pixels",
            settings: looked_up,
            plain: by_tile,
            ours: by_tile,
        },
        Row {
            name: "stores of B10G11R11_UFLOAT",
            settings: &[("storage", "emulate"), ("device", "qualcomm-adreno-540-android")],
            plain: store,
            ours: store,
        },
    ]
}

pub(crate) fn compile(stage: &str, source: &str) -> Result<Vec<u32>, String> {
    let folder = Folder::new();
    let (text, words) = (folder.path().join(format!("shader.{stage}")), folder.path().join("shader.spv"));
    std::fs::write(&text, source).map_err(|error| error.to_string())?;
    let run = Command::new("glslangValidator").args(["--quiet", "-V", "-o"]).arg(&words).arg(&text).output();
    let run = run.map_err(|error| format!("glslangValidator: {error}"))?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stdout).into_owned());
    }
    let bytes = std::fs::read(&words).map_err(|error| error.to_string())?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

pub(crate) fn module(context: &Context, words: &[u32]) -> vk::ShaderModule {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: words of a module that glslangValidator has made for Vulkan.
    unsafe { context.device().create_shader_module(&info, None) }.expect("vkCreateShaderModule")
}

/// A target to paint to, and what paints.
struct Frame {
    render_pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
}

impl Frame {
    fn new(context: &Context, view: &View<'_>) -> Self {
        let device = context.device();
        let attachments = [vk::AttachmentDescription::default()
            .format(view.format())
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::DONT_CARE)
            .final_layout(vk::ImageLayout::GENERAL)];
        let (render_pass, framebuffer) = target_of(device, &attachments, COLOUR, &[view.handle()], [SIDE; 2]);
        Self { render_pass, framebuffer }
    }
}

/// Makes the pass on this device and measures it: nanoseconds of device time for one pass, the median of `rounds`.
fn measure(context: &Context, pass: &PassSetup, rounds: usize) -> Result<f64, String> {
    let device = context.device();
    let is_store = pass.shader == STORE;
    let levels = if pass.mips == vk::SamplerMipmapMode::LINEAR { 4 } else { 1 };
    let desc = if is_store {
        ImageDesc::d2(pass.format, SIDE, SIDE).usage(vk::ImageUsageFlags::STORAGE)
    } else {
        ImageDesc::d2(pass.format, SIDE / 2, SIDE / 2).levels(levels)
    };
    let image = if is_store {
        Image::new(context, &desc)?
    } else {
        Image::filled(context, &desc, |_, level, _, [x, y, _]| {
            let value = ((x * 7 + y * 13 + level) % 256) as f32 / 255.0;
            Value::Float([value; 4])
        })?
    };
    let view = image.view(&ViewDesc::default());
    let kind = if is_store { vk::DescriptorType::STORAGE_IMAGE } else { vk::DescriptorType::COMBINED_IMAGE_SAMPLER };
    let (indexed, one) = (is_indexed(pass), [Binding::new(0, kind, 1)]);
    let bindings = [
        Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, ELEMENTS[0]),
        Binding::new(1, vk::DescriptorType::SAMPLER, ELEMENTS[1]),
    ];
    let layout = SetLayout::new(context, if indexed { &bindings[..] } else { &one });
    let (_pool, set) = Pool::set(context, &layout);
    let mut sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE).address(pass.address);
    sampler.mipmap_mode = pass.mips;
    if pass.compares {
        sampler = sampler.compare(vk::CompareOp::LESS);
    }
    let sampler = sampler.create(context);
    let float =
        Image::filled(context, &ImageDesc::d2(vk::Format::R32_SFLOAT, 8, 8), |_, _, _, _| Value::Float([0.5; 4]))?;
    let float = float.view(&ViewDesc::default());
    if indexed {
        let image = |view: &View<'_>| vk::DescriptorImageInfo {
            image_view: view.handle(),
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            ..Default::default()
        };
        let mut images = vec![image(&view); ELEMENTS[0] as usize];
        images[ELEMENTS[0] as usize - 1] = image(&float);
        let sampler = vk::DescriptorImageInfo { sampler: sampler.handle(), ..Default::default() };
        write_images(context, set, (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &images);
        write_images(context, set, (1, 0), vk::DescriptorType::SAMPLER, &vec![sampler; ELEMENTS[1] as usize]);
    } else if is_store {
        let info = vk::DescriptorImageInfo::default().image_view(view.handle()).image_layout(vk::ImageLayout::GENERAL);
        write_images(context, set, (0, 0), kind, &[info]);
    } else {
        write_combined(context, set, (0, 0), &[Pair::new(&view, &sampler)]);
    }
    let set_layouts = [layout.handle()];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
    // SAFETY: the set layout is alive.
    let pipeline_layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("vkCreatePipelineLayout");
    let target = ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, SIDE, SIDE).usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
    let target = Image::new(context, &target)?;
    let target = target.view(&ViewDesc::default());
    let frame = Frame::new(context, &target);
    let pipeline = if is_store {
        let words = compile("comp", STORE)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module(context, &words))
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(pipeline_layout);
        samplin_testkit::shader::make_compute(device, &info)
    } else {
        let (vertex, words) = (compile("vert", VERTEX)?, compile("frag", &fragment(pass))?);
        let stages = [(vk::ShaderStageFlags::VERTEX, &vertex), (vk::ShaderStageFlags::FRAGMENT, &words)].map(
            |(stage, words)| {
                let module = module(context, words);
                vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
            },
        );
        paint(context, &frame, pipeline_layout, &stages)
    };
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
    // SAFETY: a pool of timestamps needs nothing enabled.
    let queries = unsafe { device.create_query_pool(&info, None) }.expect("vkCreateQueryPool");
    let mut times = Vec::new();
    for _ in 0..rounds + 2 {
        context.submit(|commands| {
            let point = if is_store { vk::PipelineBindPoint::COMPUTE } else { vk::PipelineBindPoint::GRAPHICS };
            if is_store {
                image.set_layout(vk::ImageLayout::GENERAL);
            }
            let area =
                vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: SIDE, height: SIDE } };
            let begin = vk::RenderPassBeginInfo::default()
                .render_pass(frame.render_pass)
                .framebuffer(frame.framebuffer)
                .render_area(area);
            let barriers = [vk::ImageMemoryBarrier::default()
                .image(image.handle())
                .new_layout(vk::ImageLayout::GENERAL)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_access_mask(vk::AccessFlags::SHADER_WRITE)
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                })];
            // SAFETY: the buffer records, outside of a render pass but between begin and end; the pipeline, the set and the frame are
            // of this device, and what is painted is covered by viewport and scissor of the pipeline.
            unsafe {
                device.cmd_reset_query_pool(commands, queries, 0, 2);
                if is_store {
                    let (all, dependency) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
                    device.cmd_pipeline_barrier(commands, all, all, dependency, &[], &[], &barriers);
                }
                device.cmd_bind_pipeline(commands, point, pipeline);
                device.cmd_bind_descriptor_sets(commands, point, pipeline_layout, 0, &[set], &[]);
                device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, queries, 0);
                if is_store {
                    (0..PASSES).for_each(|_| device.cmd_dispatch(commands, SIDE / 8, SIDE / 8, 1));
                } else {
                    device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                    (0..PASSES).for_each(|_| device.cmd_draw(commands, 3, 1, 0, 0));
                    device.cmd_end_render_pass(commands);
                }
                device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, queries, 1);
            }
        });
        let mut ticks = [0_u64; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: both timestamps were written by what was submitted and waited for.
        unsafe { device.get_query_pool_results(queries, 0, &mut ticks, flags) }.expect("vkGetQueryPoolResults");
        let period = f64::from(context.limits().timestamp_period);
        times.push(ticks[1].wrapping_sub(ticks[0]) as f64 * period / f64::from(PASSES));
    }
    // The first ones compile and warm up. Objects die with the process.
    let mut times = times.split_off(2);
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn paint(
    context: &Context,
    frame: &Frame,
    layout: vk::PipelineLayout,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
) -> vk::Pipeline {
    let side = SIDE as f32;
    let viewports = [vk::Viewport { x: 0.0, y: 0.0, width: side, height: side, min_depth: 0.0, max_depth: 1.0 }];
    let scissors = [vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width: SIDE, height: SIDE } }];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&blend)
        .layout(layout)
        .render_pass(frame.render_pass);
    samplin_testkit::shader::make_graphics(context.device(), &info)
}

/// Measures each row whose name contains `only` and prints it.
///
/// # Errors
///
/// A sentence when a device or a shader cannot be made.
pub(crate) fn run(rounds: usize, only: Option<&str>, as_json: bool) -> Result<(), String> {
    let mut out = Vec::new();
    let mut name = String::new();
    for row in rows().iter().filter(|row| only.is_none_or(|only| row.name.contains(only))) {
        let builder = Context::builder().application("samplin-bench", 1).without_messenger();
        let plain = builder.clone().build().map_err(|error| format!("no layer: {error} {}", error.hint()))?;
        name = plain.device_name();
        let without = measure(&plain, &row.plain, rounds)?;
        let mut builder = builder.samplin().setting("trace", "off");
        if row.ours.address == GL_CLAMP {
            builder = builder.extension(GL_MODES);
        }
        for (key, value) in row.settings {
            builder = builder.setting(key, value);
        }
        let ours = builder.build().map_err(|error| format!("samplin: {error} {}", error.hint()))?;
        let with = measure(&ours, &row.ours, rounds)?;
        out.push((row.name, without, with));
    }
    if as_json {
        let rows: Vec<_> = out
            .iter()
            .map(|(row, plain, ours)| json!({"row": row, "without_ns": plain, "samplin_ns": ours, "ratio": ours / plain}))
            .collect();
        println!("{}", json!({"device": name, "side": SIDE, "rows": rows}));
        return Ok(());
    }
    println!("{name}: device time of a pass of {SIDE} x {SIDE}");
    for (row, plain, ours) in out {
        println!("{row:<40} {:>9.1} us {:>9.1} us  {:.2}", plain / 1e3, ours / 1e3, ours / plain);
    }
    Ok(())
}
