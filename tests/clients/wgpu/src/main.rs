//! Draws a texture with every address mode and filter of WebGPU, and a shadow test, into a PPM picture.
//!
//!     wgpu-client PICTURE.ppm
//!
//! With a word behind it, `linear` or `nearest`, it draws a depth texture through a filtering sampler instead, without comparison.
//! wgpu takes that, although no format of depths is filterable in WebGPU. With `shadows` it draws boxes under two lights.

mod shadows;

use std::process::ExitCode;

/// Pixels of a side of the picture, and of one of its cells.
const SIZE: u32 = 256;
const CELL: u32 = 64;

const SHADER: &str = "
struct Corner { @builtin(position) position: vec4f, @location(0) at: vec2f }

@vertex fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u), f32(index >> 1u));
    return Corner(vec4f(at * 2.0 - 1.0, 0.0, 1.0), at * 3.0 - 1.0);
}

@vertex fn slope(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(f32(index & 1u), f32(index >> 1u));
    return vec4f(at * 2.0 - 1.0, at.x * 0.7 + at.y * 0.3, 1.0);
}

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var filtering: sampler;
@fragment fn color(in: Corner) -> @location(0) vec4f { return textureSample(image, filtering, in.at); }

@group(0) @binding(0) var depth: texture_depth_2d;
@group(0) @binding(1) var comparing: sampler_comparison;
@fragment fn shadow(in: Corner) -> @location(0) vec4f {
    return vec4f(vec3f(textureSampleCompare(depth, comparing, in.at, 0.5)), 1.0);
}
@fragment fn plain(in: Corner) -> @location(0) vec4f { return vec4f(vec3f(textureSample(depth, filtering, in.at)), 1.0); }
";

/// What is drawn.
#[derive(Clone, Copy)]
enum Scene {
    /// Every sampler, in a cell each.
    All,
    /// Depths through a sampler with this filter.
    Depth(wgpu::FilterMode),
    /// Boxes and their shadows.
    Shadows,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (path, scene) = match words[..] {
        [path] => (path, Scene::All),
        [path, "linear"] => (path, Scene::Depth(wgpu::FilterMode::Linear)),
        [path, "nearest"] => (path, Scene::Depth(wgpu::FilterMode::Nearest)),
        [path, "shadows"] => (path, Scene::Shadows),
        _ => {
            eprintln!("usage: wgpu-client PICTURE.ppm [linear|nearest|shadows]");
            return ExitCode::from(2);
        }
    };
    match pollster::block_on(draw(scene)) {
        Ok(pixels) => {
            let mut file = format!("P6\n{SIZE} {SIZE}\n255\n").into_bytes();
            file.extend(pixels.chunks_exact(4).flat_map(|rgba| &rgba[..3]));
            match std::fs::write(path, file) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("wgpu-client: {path}: {error}");
                    ExitCode::from(3)
                }
            }
        }
        Err(error) => {
            eprintln!("wgpu-client: {error}");
            ExitCode::from(4)
        }
    }
}

/// The samplers of the color cells, row by row.
fn samplers() -> Vec<wgpu::SamplerDescriptor<'static>> {
    use wgpu::{AddressMode as A, FilterMode as F, MipmapFilterMode as M};
    let mut all = Vec::new();
    for mode in [A::ClampToEdge, A::Repeat, A::MirrorRepeat] {
        for (filter, mipmap_filter, anisotropy_clamp) in [
            (F::Nearest, M::Nearest, 1),
            (F::Linear, M::Nearest, 1),
            (F::Linear, M::Linear, 1),
            (F::Linear, M::Linear, 16),
        ] {
            all.push(wgpu::SamplerDescriptor {
                address_mode_u: mode,
                address_mode_v: mode,
                mag_filter: filter,
                min_filter: filter,
                mipmap_filter,
                anisotropy_clamp,
                ..Default::default()
            });
        }
    }
    all
}

/// The comparing samplers of the last row.
fn comparing() -> Vec<wgpu::SamplerDescriptor<'static>> {
    use wgpu::{CompareFunction as C, FilterMode as F};
    [(C::Less, F::Nearest), (C::Less, F::Linear), (C::GreaterEqual, F::Linear), (C::NotEqual, F::Nearest)]
        .map(|(compare, filter)| wgpu::SamplerDescriptor {
            mag_filter: filter,
            min_filter: filter,
            compare: Some(compare),
            ..Default::default()
        })
        .into()
}

/// Draws the picture; returns its RGBA pixels, `SIZE` times `SIZE`.
async fn draw(scene: Scene) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let instance = wgpu::Instance::default();
    let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await?;
    println!("{}", adapter.get_info().name);
    let (device, queue) = adapter.request_device(&wgpu::DeviceDescriptor::default()).await?;
    let texture = |format, size: u32, mip_level_count, usage| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: size, height: size, depth_or_array_layers: 1 },
            mip_level_count,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        })
    };
    use wgpu::TextureUsages as U;
    let target = texture(wgpu::TextureFormat::Rgba8Unorm, SIZE, 1, U::RENDER_ATTACHMENT | U::COPY_SRC);
    if let Scene::Shadows = scene {
        queue.submit([shadows::draw(&device, &queue, &target)]);
        return read(&device, &queue, &target);
    }
    let image = texture(wgpu::TextureFormat::Rgba8Unorm, 8, 4, U::TEXTURE_BINDING | U::COPY_DST);
    for level in 0..4 {
        let side = 8u32 >> level;
        let texels: Vec<u8> = (0..side * side)
            .flat_map(|at| {
                let (x, y) = (at % side, at / side);
                let checker = if (x ^ y) & 1 == 1 { 255 } else { 0 };
                [(x * 255 / side) as u8, (y * 255 / side) as u8, checker, 255]
            })
            .collect();
        queue.write_texture(
            wgpu::TexelCopyTextureInfo { mip_level: level, ..image.as_image_copy() },
            &texels,
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(side * 4), rows_per_image: None },
            wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
        );
    }
    // Depth cannot be written from memory: a pass of its own draws a slope.
    let depth = texture(wgpu::TextureFormat::Depth32Float, 8, 1, U::TEXTURE_BINDING | U::RENDER_ATTACHMENT);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline = |vertex, fragment: Option<&str>| {
        let targets = [Some(wgpu::TextureFormat::Rgba8Unorm.into())];
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(vertex),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::TriangleStrip, ..Default::default() },
            depth_stencil: fragment.is_none().then(|| wgpu::DepthStencilState {
                format: wgpu::TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: fragment.map(|entry| wgpu::FragmentState {
                module: &module,
                entry_point: Some(entry),
                compilation_options: Default::default(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    };
    let fragment = |entry| pipeline("corner", Some(entry));
    let (color, shadow, plain) = (fragment("color"), fragment("shadow"), fragment("plain"));
    let slope = pipeline("slope", None);
    let group = |pipeline: &wgpu::RenderPipeline, texture: &wgpu::Texture, sampler: &wgpu::SamplerDescriptor<'_>| {
        let entries = [
            wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(&texture.create_view(&Default::default())),
            },
            wgpu::BindGroupEntry {
                binding: 1,
                resource: wgpu::BindingResource::Sampler(&device.create_sampler(sampler)),
            },
        ];
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    };
    let mut cells = Vec::new();
    match scene {
        Scene::All => {
            cells.extend(samplers().iter().map(|sampler| (&color, group(&color, &image, sampler))));
            cells.extend(comparing().iter().map(|sampler| (&shadow, group(&shadow, &depth, sampler))));
        }
        Scene::Depth(filter) => {
            let sampler = wgpu::SamplerDescriptor { mag_filter: filter, min_filter: filter, ..Default::default() };
            cells.push((&plain, group(&plain, &depth, &sampler)));
        }
        Scene::Shadows => {}
    }

    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth.create_view(&Default::default()),
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&slope);
        pass.draw(0..4, 0..1);
    }
    {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        for (at, (pipeline, group)) in cells.iter().enumerate() {
            let (column, row) = (at as u32 % 4, at as u32 / 4);
            // The third column is so small that the texture is minified.
            let side = if column == 2 { 18 } else { CELL - 4 };
            let [x, y, side] = [column * CELL + 2, row * CELL + 2, side].map(|pixels| pixels as f32);
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.set_viewport(x, y, side, side, 0.0, 1.0);
            pass.draw(0..4, 0..1);
        }
    }
    queue.submit([encoder.finish()]);
    read(&device, &queue, &target)
}

/// The pixels of a texture, `SIZE` times `SIZE`.
fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    target: &wgpu::Texture,
) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut encoder = device.create_command_encoder(&Default::default());
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(SIZE * SIZE * 4),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    encoder.copy_texture_to_buffer(
        target.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIZE * 4), rows_per_image: None },
        },
        wgpu::Extent3d { width: SIZE, height: SIZE, depth_or_array_layers: 1 },
    );
    queue.submit([encoder.finish()]);
    buffer
        .map_async(wgpu::MapMode::Read, .., |result| result.expect("a buffer that was made to be read can be mapped"));
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let pixels = buffer.get_mapped_range(..)?.to_vec();
    Ok(pixels)
}
