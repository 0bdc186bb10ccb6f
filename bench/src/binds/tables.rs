//! Sets that a shader looks up samplers for (`bindless=resolve`): writes to them, samplers that come, and a frame that indexes one heap of
//! samplers from push data.

use std::sync::OnceLock;

use ash::vk;
use samplin_testkit::context::Context;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_images};
use samplin_testkit::image::{Buffer, Image, ImageDesc};
use samplin_testkit::job::write_buffer;
use samplin_testkit::shader::make_compute;

use super::{FRAME_DRAWS, Parts};
use crate::sample::{CALLS, create_view, time};
use crate::shading::{compile, module};

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
/// Images and samplers of the arrays.
const IMAGES: u32 = 4096;
const SAMPLERS: u32 = 2048;
/// Sets of images that dispatches bind by turns.
const SETS: usize = 64;
/// Frames that one pass submits.
const FRAMES: usize = 4;

const SHADER: &str = "#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform texture2D t[N];
layout(set = 1, binding = 0) uniform sampler s[2048];
layout(set = 2, binding = 0) buffer Out { vec4 o; };
layout(push_constant) uniform Push { uint i, j; };
void main() { o = texture(sampler2D(t[N == 1 ? 0 : i], s[j]), vec2(0.5)); }";

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// So many images of one write, of one class or of two by turns.
    Images(u32, bool),
    Sampler,
    /// A sampler is created, written and destroyed, with so many others in the array.
    NewSampler(usize),
    /// The same of one whose border lets columns part.
    Parted(usize),
    /// A set of images is bound, data is pushed, and that is dispatched; whether any conflicts.
    Dispatch(bool),
    /// The same, and the set is written before.
    NewSet(bool),
    /// The same of images that conflict, beside an array of so many samplers that nobody may write after its bind.
    Fixed(u32),
    /// A frame, of which each draw is what `NewSet` does to a set of its own, and its submission.
    Frame(bool),
}

impl Looked {
    pub(crate) const ALL: [Self; 16] = [
        Self::Images(1, false),
        Self::Images(256, false),
        Self::Images(1, true),
        Self::Images(256, true),
        Self::Sampler,
        Self::NewSampler(0),
        Self::NewSampler(500),
        Self::Parted(500),
        Self::Dispatch(false),
        Self::Dispatch(true),
        Self::NewSet(false),
        Self::NewSet(true),
        Self::Fixed(16),
        Self::Fixed(1000),
        Self::Frame(false),
        Self::Frame(true),
    ];

    pub(crate) fn name(self) -> String {
        let images = |conflicts| if conflicts { "images that conflict" } else { "legal images" };
        match self {
            Self::Images(n, others) => {
                format!("update, {n} image(s) of {IMAGES}, {} class", if others { "another" } else { "the same" })
            }
            Self::Sampler => format!("update, a sampler of {SAMPLERS}"),
            Self::NewSampler(n) => format!("create, update and destroy a sampler beside {n}"),
            Self::Parted(n) => format!("create, update and destroy a sampler with a border of its own beside {n}"),
            Self::Dispatch(conflicts) => format!("bind, push and dispatch, {}", images(conflicts)),
            Self::NewSet(conflicts) => format!("update, bind, push and dispatch, {}", images(conflicts)),
            Self::Fixed(n) => format!("update, bind, push and dispatch, {} beside {n} fixed samplers", images(true)),
            Self::Frame(conflicts) => {
                format!("a dispatch of a submitted frame of {FRAME_DRAWS}, {}", images(conflicts))
            }
        }
    }

    fn images(self) -> u32 {
        let one = matches!(self, Self::Dispatch(_) | Self::NewSet(_) | Self::Fixed(_) | Self::Frame(_));
        if one { 1 } else { IMAGES }
    }

    /// Sets of them.
    fn sets(self) -> usize {
        match self {
            Self::Frame(_) => FRAME_DRAWS,
            _ if self.images() > 1 => 1,
            _ => SETS,
        }
    }
}

fn words(images: u32) -> &'static [u32] {
    static WORDS: [OnceLock<Vec<u32>>; 2] = [const { OnceLock::new() }; 2];
    let source = || compile("comp", &SHADER.replace('N', &images.to_string())).expect("a shader");
    WORDS[usize::from(images > 1)].get_or_init(source)
}

/// Samplers that are each of another state.
fn sampler(context: &Context, number: usize, border: Option<vk::Format>) -> vk::Sampler {
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default().format(border.unwrap_or_default());
    let mut info = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR).min_filter(vk::Filter::LINEAR);
    info.max_lod = number as f32 / 64.0;
    if border.is_some() {
        let mode = vk::SamplerAddressMode::CLAMP_TO_BORDER;
        info = info.address_mode_u(mode).address_mode_v(mode).border_color(vk::BorderColor::FLOAT_CUSTOM_EXT);
        info = info.push_next(&mut custom);
    }
    // SAFETY: a valid create info.
    unsafe { context.device().create_sampler(&info, None) }.expect("a sampler")
}

fn image_info(view: vk::ImageView) -> vk::DescriptorImageInfo {
    let image_layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    vk::DescriptorImageInfo { image_view: view, image_layout, ..Default::default() }
}

fn sampler_info(sampler: vk::Sampler) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo { sampler, ..Default::default() }
}

impl Parts<'_> {
    /// ns of thread CPU time per call.
    #[expect(clippy::too_many_lines, reason = "one scene")]
    pub(super) fn looked(&self, looked: Looked, pool: usize) -> f64 {
        use vk::DescriptorBindingFlags as B;
        let (context, device) = (self.context, self.context.device());
        let late = B::UPDATE_AFTER_BIND | B::PARTIALLY_BOUND;
        let (set_flags, pool_flags) = (
            vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL,
            vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND,
        );
        let images = Binding::new(0, vk::DescriptorType::SAMPLED_IMAGE, looked.images());
        let layouts = if looked.images() == 1 {
            SetLayout::new(context, &[images])
        } else {
            SetLayout::with_flags(context, &[images.flags(late)], set_flags)
        };
        let heap = match looked {
            Looked::Fixed(n) => SetLayout::new(context, &[Binding::new(0, vk::DescriptorType::SAMPLER, n)]),
            _ => {
                let heap = Binding::new(0, vk::DescriptorType::SAMPLER, SAMPLERS).flags(late);
                SetLayout::with_flags(context, &[heap], set_flags)
            }
        };
        let out = SetLayout::new(context, &[Binding::new(0, vk::DescriptorType::STORAGE_BUFFER, 1)]);
        let handles = [layouts.handle(), heap.handle(), out.handle()];
        let range = vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: 8 };
        let ranges = [range];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles).push_constant_ranges(&ranges);
        // SAFETY: a valid create info.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let shader = module(context, words(looked.images()));
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(c"main");
        let pipeline = make_compute(device, &vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout));
        let is_late = looked.images() > 1;
        let pools = Pool::with_flags(
            context,
            &vec![&layouts; looked.sets()],
            if is_late { pool_flags } else { vk::DescriptorPoolCreateFlags::empty() },
        );
        let is_fixed = matches!(looked, Looked::Fixed(_));
        let heaps = Pool::with_flags(context, &[&heap], if is_fixed { Default::default() } else { pool_flags });
        let outs = Pool::new(context, &[&out]);
        let sets: Vec<_> = (0..looked.sets()).map(|_| pools.allocate(&layouts)).collect();
        let (heap, out) = (heaps.allocate(&heap), outs.allocate(&out));
        let formats = [vk::Format::R32_SFLOAT, vk::Format::R8G8B8A8_UNORM];
        let made = formats.map(|format| Image::new(context, &ImageDesc::d2(format, 4, 4)).expect("an image"));
        // Of each format two views: the first conflicts with every sampler here.
        let views = [0, 1, 0, 1].map(|at: usize| create_view(context, made[at].handle(), formats[at]));
        let beside = match looked {
            Looked::NewSampler(n) | Looked::Parted(n) => n,
            Looked::Fixed(n) => n as usize,
            _ => 2,
        };
        let samplers: Vec<_> = (0..beside.max(2)).map(|n| sampler(context, n, None)).collect();
        let image = |set, element, view| {
            write_images(context, set, (0, element), vk::DescriptorType::SAMPLED_IMAGE, &[image_info(view)])
        };
        for (at, own) in (0..).zip(&samplers) {
            write_images(context, heap, (0, at), vk::DescriptorType::SAMPLER, &[sampler_info(*own)]);
        }
        let dispatch = |commands: vk::CommandBuffer, set: vk::DescriptorSet, element: u32| {
            // SAFETY: recording; sets and data are of the layout.
            unsafe {
                device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 0, &[set], &[]);
                let data = [0, element].map(u32::to_ne_bytes).concat();
                device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &data);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
        };
        let bind = |commands: vk::CommandBuffer| {
            // SAFETY: recording; sets and pipeline are of the layout.
            unsafe {
                device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
                device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 0, &[sets[0], heap, out], &[]);
            }
        };
        // From here on the pipeline looks up.
        sets.iter().for_each(|set| image(*set, 0, views[0]));
        self.record(pool, |commands| {
            bind(commands);
            dispatch(commands, sets[0], 0);
        });
        let update = |write: &vk::WriteDescriptorSet<'_>| {
            // SAFETY: a valid write to a set that is in no command buffer.
            unsafe { device.update_descriptor_sets(std::slice::from_ref(write), &[]) };
        };
        let ns = match looked {
            Looked::Images(count, others) => {
                let infos = [0, 1].map(|turn| {
                    let view =
                        |at: u32| views[if others { (at as usize + turn) % 2 } else { 2 * ((at as usize + turn) % 2) }];
                    (0..count).map(|at| image_info(view(at))).collect::<Vec<_>>()
                });
                let write = |call: usize| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(sets[0])
                        .dst_array_element(call as u32 % 16)
                        .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
                        .image_info(&infos[call % 2])
                };
                time(&(0..CALLS).map(write).collect::<Vec<_>>(), update)
            }
            Looked::Sampler => {
                let infos = [0, 1].map(|at| [sampler_info(samplers[at])]);
                let write = |call: usize| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(heap)
                        .dst_array_element(call as u32 % 16)
                        .descriptor_type(vk::DescriptorType::SAMPLER)
                        .image_info(&infos[call % 2])
                };
                time(&(0..CALLS).map(write).collect::<Vec<_>>(), update)
            }
            Looked::NewSampler(_) | Looked::Parted(_) => {
                image(sets[0], 1, views[1]);
                let border = matches!(looked, Looked::Parted(_)).then_some(formats[0]);
                time(&(0..CALLS).collect::<Vec<_>>(), |number| {
                    let made = sampler(context, 1000 + number, border);
                    let info = [sampler_info(made)];
                    update(&crate::sample::sampler_write(heap, 0, &info));
                    // SAFETY: nothing was submitted.
                    unsafe { device.destroy_sampler(made, None) };
                })
            }
            Looked::Dispatch(_) | Looked::NewSet(_) | Looked::Fixed(_) | Looked::Frame(_) => {
                let conflicts =
                    !matches!(looked, Looked::Dispatch(false) | Looked::NewSet(false) | Looked::Frame(false));
                let view_at = |at: usize| usize::from(!conflicts || !at.is_multiple_of(4));
                let view = |at: usize| views[view_at(at)];
                sets.iter().enumerate().for_each(|(at, set)| image(*set, 0, view(at)));
                // In each round over the sets another view of the same class.
                let other = |at: usize, round: usize| {
                    if round.is_multiple_of(2) { view(at) } else { views[view_at(at) + 2] }
                };
                if matches!(looked, Looked::Frame(_)) {
                    made.iter().for_each(|image| image.transition(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL));
                    let buffer = Buffer::new(context, size_of::<[f32; 4]>(), vk::BufferUsageFlags::STORAGE_BUFFER);
                    write_buffer(context, out, 0, &buffer);
                    let frame = |round: usize| {
                        context.submit(|commands| {
                            bind(commands);
                            for (at, set) in sets.iter().enumerate() {
                                image(*set, 0, other(at, round));
                                dispatch(commands, *set, at as u32 % 2);
                            }
                        });
                    };
                    time(&(0..FRAMES).collect::<Vec<_>>(), |round| frame(*round)) / sets.len() as f64
                } else {
                    let calls: Vec<_> = (0..CALLS).map(|call| (call % SETS, call as u32 % 2, call)).collect();
                    self.record(pool, |commands| {
                        bind(commands);
                        time(&calls, |(at, element, call)| {
                            if !matches!(looked, Looked::Dispatch(_)) {
                                image(sets[*at], 0, other(*at, *call / SETS));
                            }
                            dispatch(commands, sets[*at], *element);
                        })
                    })
                }
            }
        };
        // SAFETY: what was submitted is done, and what was recorded is freed.
        unsafe {
            device.destroy_pipeline(pipeline, None);
            device.destroy_shader_module(shader, None);
            device.destroy_pipeline_layout(layout, None);
            samplers.into_iter().for_each(|sampler| device.destroy_sampler(sampler, None));
            views.into_iter().for_each(|view| device.destroy_image_view(view, None));
        }
        ns
    }
}
