//! A program that asks for much of what devices cannot store or shade: storage images and views of them in many formats, and shaders that
//! declare these, for trying predictions on. Nothing is drawn.
//!
//!     samplin run --trace-level all --set storage=emulate -- target/debug/examples/stores
//!
//! The shaders are compiled by `glslangValidator`, and kept.

use std::process::ExitCode;

use ash::vk::{self, Format as F, ImageUsageFlags as Usage};
use samplin_compiler::{Language, compile};
use samplin_testkit::{Capability, Context, ContextBuilder, SamplerDesc};

/// Names of formats in shaders, each with one of Vulkan's, and whether texels are integers.
const FORMATS: [(F, &str, &str); 8] = [
    (F::R8G8B8A8_UNORM, "rgba8", ""),
    (F::B10G11R11_UFLOAT_PACK32, "r11f_g11f_b10f", ""),
    (F::R16_SFLOAT, "r16f", ""),
    (F::R8_SNORM, "r8_snorm", ""),
    (F::R16G16_SINT, "rg16i", "i"),
    (F::R16G16B16A16_UNORM, "rgba16", ""),
    (F::A2B10G10R10_UINT_PACK32, "rgb10_a2ui", "u"),
    (F::R32_SFLOAT, "r32f", ""),
];

/// Fragment shaders that depend on samples.
const FRAGMENTS: [&str; 2] = [
    "#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(gl_SampleID); }\n",
    "#version 450\nlayout(location = 0) sample in vec4 i;\nlayout(location = 0) out vec4 o;\nvoid main() { o = i; }\n",
];

/// What an HLSL compiler makes a format up for.
const HLSL: &str = "RWTexture2D<float4> a : register(u0);\nRWTexture2D<float4> b : register(u1);\n\
    [numthreads(8, 8, 1)] void main(uint2 at : SV_DispatchThreadID) { a[at] = 1.0; b[at] = b[at] + 1.0; }\n";

/// Creates a module and lets it go.
fn module(context: &Context, words: &[u32]) {
    let device = context.device();
    // SAFETY: the words are a module's.
    unsafe {
        if let Ok(module) = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None) {
            device.destroy_shader_module(module, None);
        }
    }
}

/// Creates an image and views of these formats, as far as the driver has them, and lets them go.
fn image(context: &Context, format: F, list: Option<&[F]>, flags: vk::ImageCreateFlags, usage: Usage, views: &[F]) {
    let device = context.device();
    let mut formats = vk::ImageFormatListCreateInfo::default().view_formats(list.unwrap_or_default());
    let mut info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 4, height: 4, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    if list.is_some() {
        info = info.push_next(&mut formats);
    }
    let range =
        vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1);
    // SAFETY: create infos of locals; memory is bound before there is a view.
    unsafe {
        let Ok(image) = device.create_image(&info, None) else { return };
        let needs = device.get_image_memory_requirements(image);
        let allocation = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        let memory = device.allocate_memory(&allocation, None).expect("memory");
        device.bind_image_memory(image, memory, 0).expect("binds");
        for format in views {
            let view = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(*format)
                .subresource_range(range);
            if let Ok(view) = device.create_image_view(&view, None) {
                device.destroy_image_view(view, None);
            }
        }
        device.destroy_image(image, None);
        device.free_memory(memory, None);
    }
}

fn ask(context: &Context) {
    let glsl = Language::Glsl("vulkan1.0");
    let (sampled, both) = (Usage::SAMPLED, Usage::SAMPLED | Usage::STORAGE);
    let (plain, mutable) = (vk::ImageCreateFlags::empty(), vk::ImageCreateFlags::MUTABLE_FORMAT);
    for (format, name, letter) in FORMATS {
        image(context, format, None, plain, both, &[format]);
        image(context, format, None, plain, Usage::STORAGE, &[format]);
        image(context, format, None, plain, sampled, &[format]);
        image(context, format, Some(&[format]), mutable, both, &[format]);
        for (dim, at) in [("image2D", "ivec2(gl_GlobalInvocationID)"), ("imageBuffer", "int(gl_GlobalInvocationID.x)")]
        {
            let source = format!(
                "#version 450\nlayout(binding = 0, {name}) uniform {letter}{dim} im;\n\
                 void main() {{ imageStore(im, {at}, imageLoad(im, {at})); }}\n"
            );
            module(context, &compile(glsl, "comp", &source));
        }
    }
    let (unorm, srgb, bits) = (F::R8G8B8A8_UNORM, F::R8G8B8A8_SRGB, F::R32_UINT);
    image(context, unorm, None, mutable, both, &[unorm, srgb, bits]);
    image(context, unorm, Some(&[unorm, srgb]), mutable, both, &[unorm, srgb]);
    image(context, srgb, Some(&[srgb, unorm]), mutable, both, &[unorm, srgb]);
    image(context, unorm, None, mutable, both | Usage::COLOR_ATTACHMENT, &[unorm, srgb, F::E5B9G9R9_UFLOAT_PACK32]);
    for source in FRAGMENTS {
        module(context, &compile(glsl, "frag", source));
    }
    module(context, &compile(Language::Hlsl("vulkan1.0"), "comp", HLSL));
    // What anisotropy makes of NEAREST is up to the driver.
    if context.missing(&[Capability::SamplerAnisotropy]).is_none() {
        SamplerDesc::nearest().anisotropy(4.0).create(context);
    }
}

fn main() -> ExitCode {
    let builder = ContextBuilder::default().application("stores", 1).engine("samplin", 0).record_only();
    match builder.build() {
        Ok(context) => {
            ask(&context);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("stores: {error}");
            ExitCode::from(4)
        }
    }
}
