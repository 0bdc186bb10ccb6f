//! Says which samplers of a program on wgpu other devices do not honour: `cargo run -- DEVICE.json…`
//!
//! wgpu asks its own device and rejects what that cannot do. This asks devices that are not there.

use samplin_core::{Sampler, View, vk};
use samplin_reports::Capabilities;
use wgpu_types as wgpu;

type SamplerDescriptor = wgpu::SamplerDescriptor<Option<&'static str>>;

/// A sampler as wgpu's Vulkan backend creates it.
fn sampler(of: &SamplerDescriptor) -> Sampler {
    let filter = |filter| match filter {
        wgpu::FilterMode::Nearest => vk::Filter::NEAREST,
        wgpu::FilterMode::Linear => vk::Filter::LINEAR,
    };
    let address = |mode| match mode {
        wgpu::AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        wgpu::AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        wgpu::AddressMode::MirrorRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        wgpu::AddressMode::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    };
    Sampler {
        mag_filter: filter(of.mag_filter),
        min_filter: filter(of.min_filter),
        mipmap_mode: match of.mipmap_filter {
            wgpu::MipmapFilterMode::Nearest => vk::SamplerMipmapMode::NEAREST,
            wgpu::MipmapFilterMode::Linear => vk::SamplerMipmapMode::LINEAR,
        },
        address_mode: [of.address_mode_u, of.address_mode_v, of.address_mode_w].map(address),
        anisotropy_enable: of.anisotropy_clamp > 1,
        max_anisotropy: of.anisotropy_clamp.into(),
        compare_enable: of.compare.is_some(),
        // `CompareFunction` counts from 1 what Vulkan counts from 0.
        compare_op: of.compare.map_or(vk::CompareOp::NEVER, |compare| vk::CompareOp::from_raw(compare as i32 - 1)),
        min_lod: of.lod_min_clamp,
        max_lod: of.lod_max_clamp,
        border_color: match of.border_color {
            None | Some(wgpu::SamplerBorderColor::TransparentBlack | wgpu::SamplerBorderColor::Zero) => {
                vk::BorderColor::FLOAT_TRANSPARENT_BLACK
            }
            Some(wgpu::SamplerBorderColor::OpaqueBlack) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
            Some(wgpu::SamplerBorderColor::OpaqueWhite) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        },
        ..Sampler::default()
    }
}

/// The formats of this program.
fn format(of: wgpu::TextureFormat) -> vk::Format {
    match of {
        wgpu::TextureFormat::Rgba8UnormSrgb => vk::Format::R8G8B8A8_SRGB,
        wgpu::TextureFormat::R32Float => vk::Format::R32_SFLOAT,
        wgpu::TextureFormat::Depth32Float => vk::Format::D32_SFLOAT,
        other => panic!("{other:?} is not among the program's formats"),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trilinear = SamplerDescriptor {
        label: Some("trilinear"),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        anisotropy_clamp: 16,
        ..Default::default()
    };
    let shadows = SamplerDescriptor {
        label: Some("shadows"),
        compare: Some(wgpu::CompareFunction::LessEqual),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    };
    let pairs = [
        (&trilinear, wgpu::TextureFormat::Rgba8UnormSrgb),
        (&trilinear, wgpu::TextureFormat::R32Float),
        (&shadows, wgpu::TextureFormat::Depth32Float),
    ];
    for path in std::env::args().skip(1) {
        let device = Capabilities::read(&std::fs::read_to_string(&path)?)?.device();
        for (descriptor, texture) in pairs {
            let outcome = device.decide(&sampler(descriptor), &View::new_2d(format(texture)));
            for change in &outcome.changes {
                println!("{path}: {} on {texture:?}: {change}; lost: {}", descriptor.label.unwrap_or_default(), change.lost);
            }
        }
    }
    Ok(())
}
