//! Boxes on a floor under two lights with a shadow map each: `tests/clients/shadows.wgsl`, which Dawn draws as well.

use wgpu::TextureFormat as F;
use wgpu::TextureUsages as U;

/// The commands that draw the scene into `target`.
pub fn draw(device: &wgpu::Device, queue: &wgpu::Queue, target: &wgpu::Texture) -> wgpu::CommandBuffer {
    let texture = |format, size: u32, layers, usage| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: size, height: size, depth_or_array_layers: layers },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        })
    };
    let maps = texture(F::Depth32Float, target.width(), 2, U::RENDER_ATTACHMENT | U::TEXTURE_BINDING);
    let depth = texture(F::Depth32Float, target.width(), 1, U::RENDER_ATTACHMENT);
    let tiles = texture(F::Rgba8Unorm, 4, 1, U::TEXTURE_BINDING | U::COPY_DST);
    let texels: Vec<u8> = (0..16u8)
        .flat_map(|at| {
            let is_light = (at + (at >> 2)) % 2 == 1;
            let [red, green] = if is_light { [255, 240] } else { [90, 120] };
            [red, green, 60 + 10 * at, 255]
        })
        .collect();
    queue.write_texture(
        tiles.as_image_copy(),
        &texels,
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(16), rows_per_image: None },
        tiles.size(),
    );

    let module = device.create_shader_module(wgpu::include_wgsl!("../../shadows.wgsl"));
    let pipeline = |vertex, light: f64, fragment: Option<&str>| {
        let targets = [Some(F::Rgba8Unorm.into())];
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(vertex),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[("LIGHT", light)],
                    ..Default::default()
                },
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: F::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
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
    let drawing = pipeline("place", 0.0, Some("shade"));
    let linear = wgpu::SamplerDescriptor {
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    };
    let smoothly = device.create_sampler(&wgpu::SamplerDescriptor {
        address_mode_u: wgpu::AddressMode::Repeat,
        address_mode_v: wgpu::AddressMode::Repeat,
        ..linear.clone()
    });
    let nearer =
        device.create_sampler(&wgpu::SamplerDescriptor { compare: Some(wgpu::CompareFunction::Less), ..linear });
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    let bound = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &drawing.get_bind_group_layout(0),
        entries: &[
            entry(0, wgpu::BindingResource::TextureView(&tiles.create_view(&Default::default()))),
            entry(1, wgpu::BindingResource::Sampler(&smoothly)),
            entry(2, wgpu::BindingResource::TextureView(&maps.create_view(&Default::default()))),
            entry(3, wgpu::BindingResource::Sampler(&nearer)),
        ],
    });

    let mut encoder = device.create_command_encoder(&Default::default());
    for light in 0..2 {
        let view = maps.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2),
            base_array_layer: light,
            array_layer_count: Some(1),
            ..Default::default()
        });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            depth_stencil_attachment: Some(cleared(&view)),
            ..Default::default()
        });
        pass.set_pipeline(&pipeline("obstruct", f64::from(light), None));
        pass.draw(0..36, 0..5);
    }
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &target.create_view(&Default::default()),
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: Some(cleared(&depth.create_view(&Default::default()))),
        ..Default::default()
    });
    pass.set_pipeline(&drawing);
    pass.set_bind_group(0, &bound, &[]);
    pass.draw(0..36, 0..5);
    drop(pass);
    encoder.finish()
}

/// Depths that are cleared before anything is drawn.
fn cleared(view: &wgpu::TextureView) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store }),
        stencil_ops: None,
    }
}
