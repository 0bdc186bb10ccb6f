//! The scene that is measured: samplers, views, sets and templates.

use ash::vk;
use samplin_testkit::capability::Capability;
use samplin_testkit::context::Context;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout};
use samplin_testkit::image::{Buffer, Image, ImageDesc};

use crate::noted::{Held, Noted};
use crate::row::{On, Pairs, Row, Shape, Turns, Under, Via};
use crate::sample::{CALLS, combined, create_view, create_view_of, time};
use crate::{binds, pipelines, samplers, stored};

/// Threads that can have a set at once.
const THREADS: usize = 128;

/// Median and range of a row's samples, in ns per call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Figure {
    pub(crate) fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        Some(Self { median: *samples.get(samples.len() / 2)?, min: *samples.first()?, max: *samples.last()? })
    }
}

/// A fixed sequence of numbers, the same for every layer.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// What `make` makes of the numbers below `size`, in their order but made in another one, so that what is alike does not lie together.
fn shuffled<T>(size: usize, mut make: impl FnMut(usize) -> T) -> Vec<T> {
    let mut draw = Draw(7);
    let mut order: Vec<usize> = (0..size).collect();
    (1..size).rev().for_each(|at| order.swap(at, draw.below(at + 1)));
    let mut made: Vec<(usize, T)> = order.into_iter().map(|number| (number, make(number))).collect();
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, made)| made).collect()
}

/// One of twelve ways to exchange components.
fn exchanged(n: usize) -> vk::ComponentMapping {
    use vk::ComponentSwizzle as C;
    let turned = |by: usize| [C::R, C::G, C::B, C::A][(n + by) % 4];
    let [r, g, b, a] = [0, 1, 2, 3].map(turned);
    match n / 4 % 3 {
        0 => vk::ComponentMapping { r, g, b, a },
        1 => vk::ComponentMapping { r: g, g: r, b, a },
        _ => vk::ComponentMapping { r, g: b, b: g, a },
    }
}

/// Everything that one device needs for the rows of a group.
pub(crate) enum Scene<'c> {
    Combined(Box<Combined<'c>>),
    Separate(Box<binds::Scene<'c>>),
}

impl<'c> Scene<'c> {
    /// Of as many samplers and views as `size` says, if it is one of combined ones.
    pub(crate) fn new(context: &'c Context, on: On, size: usize) -> Self {
        match on {
            On::Default | On::Under(_) => Self::Combined(Box::new(Combined::new(context, on, size))),
            On::Separate(state) => Self::Separate(Box::new(binds::Scene::new(context, state))),
        }
    }

    /// One sample per thread: ns of thread CPU time per call. Empty when the device cannot do the row.
    pub(crate) fn measure(&self, row: Row, threads: usize) -> Vec<f64> {
        match (self, row) {
            (Self::Separate(scene), Row::Separate(step, _)) => scene.measure(step, threads),
            (Self::Combined(scene), _) => scene.measure(row, threads),
            _ => Vec::new(),
        }
    }
}

/// A scene of combined image samplers.
pub(crate) struct Combined<'c> {
    parts: Parts<'c>,
    layout: SetLayout<'c>,
    pool: Pool<'c>,
    _immutable: Option<SetLayout<'c>>,
    _buffer: Buffer<'c>,
    _images: [Image<'c>; 2],
    _noted: Option<Held<'c>>,
}

/// What the measuring threads share.
struct Parts<'c> {
    context: &'c Context,
    samplers: Vec<vk::Sampler>,
    views: Vec<vk::ImageView>,
    /// One that filters, and one of integers.
    images: [(vk::Image, vk::Format); 2],
    noted: Option<Noted>,
    buffer: vk::Buffer,
    layout: vk::DescriptorSetLayout,
}

impl<'c> Combined<'c> {
    /// `size` samplers, every other one LINEAR, and `size` views, every other one of integers.
    fn new(context: &'c Context, on: On, size: usize) -> Self {
        let held = Held::of(context, on == On::Under(Under::Aspects), on == On::Under(Under::Compared));
        let image = Image::new(context, &ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 4, 4)).expect("an RGBA8 image");
        let integers = Image::new(context, &ImageDesc::d2(vk::Format::R32_UINT, 4, 4)).expect("an R32_UINT image");
        let samplers = shuffled(size, |n| {
            let filter = if n % 2 == 0 { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
            // Distinct states, so that nothing is shared by accident.
            let info = vk::SamplerCreateInfo::default()
                .mag_filter(filter)
                .min_filter(filter)
                .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .max_lod(n as f32 / 64.0);
            // SAFETY: a valid create info.
            unsafe { context.device().create_sampler(&info, None) }.expect("a sampler")
        });
        let views = shuffled(size, |n| {
            let of = if n % 2 == 0 { &image } else { &integers };
            let components = if on == On::Under(Under::Classes) { exchanged(n / 2) } else { Default::default() };
            create_view_of(context, of.handle(), of.desc().format, components)
        });
        // Kept in mind by the layer, though nothing is ever written for it.
        let immutable = (on == On::Under(Under::Immutable))
            .then(|| SetLayout::new(context, &[Binding { immutable: vec![samplers[0]], ..Binding::combined(0, 1) }]));
        let layout = SetLayout::new(
            context,
            &[
                Binding::combined(0, 256),
                Binding::new(1, vk::DescriptorType::UNIFORM_BUFFER, 1),
                Binding::new(2, vk::DescriptorType::STORAGE_BUFFER, 1),
            ],
        );
        let pool = Pool::new(context, &[&layout; THREADS]);
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
        let buffer = Buffer::new(context, 256, usage);
        let images = [&image, &integers].map(|image| (image.handle(), image.desc().format));
        let parts = Parts {
            context,
            samplers,
            views,
            images,
            noted: held.as_ref().map(Held::noted),
            buffer: buffer.handle(),
            layout: layout.handle(),
        };
        Self { parts, layout, pool, _immutable: immutable, _buffer: buffer, _images: [image, integers], _noted: held }
    }

    fn measure(&self, row: Row, threads: usize) -> Vec<f64> {
        let sets: Vec<vk::DescriptorSet> = (0..threads).map(|_| self.pool.allocate(&self.layout)).collect();
        let parts = &self.parts;
        let out = std::thread::scope(|scope| {
            let running: Vec<_> = sets
                .iter()
                .enumerate()
                .map(|(index, set)| scope.spawn(move || parts.sample(row, *set, index as u64 + 1)))
                .collect();
            running.into_iter().filter_map(|thread| thread.join().expect("a measuring thread")).collect()
        });
        // SAFETY: the sets are not in use; the pool was made for being reset.
        unsafe {
            parts
                .context
                .device()
                .reset_descriptor_pool(self.pool.handle(), vk::DescriptorPoolResetFlags::empty())
                .expect("a reset pool");
        }
        out
    }
}

impl Parts<'_> {
    /// `count` image infos of a kind.
    fn infos(&self, count: usize, pairs: Pairs, seed: u64) -> Vec<vk::DescriptorImageInfo> {
        let mut draw = Draw(seed);
        (0..count)
            .map(|_| {
                let sampler = draw.below(self.samplers.len());
                let view = draw.below(self.views.len());
                // LINEAR with integers is what is illegal: the legal rows use the neighbour instead.
                let view = if pairs == Pairs::Legal && sampler.is_multiple_of(2) { view & !1 } else { view };
                vk::DescriptorImageInfo {
                    sampler: self.samplers[sampler],
                    image_view: self.views[view],
                    image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                }
            })
            .collect()
    }

    fn sample(&self, row: Row, set: vk::DescriptorSet, seed: u64) -> Option<f64> {
        let device = self.context.device();
        match row {
            Row::Update(n, pairs) => {
                let infos = self.infos(CALLS * n, pairs, seed);
                let calls: Vec<Vec<vk::WriteDescriptorSet<'_>>> = infos
                    .chunks(n)
                    .map(|chunk| {
                        chunk
                            .iter()
                            .enumerate()
                            .map(|(at, info)| combined(set, at as u32, std::slice::from_ref(info)))
                            .collect()
                    })
                    .collect();
                // SAFETY: valid writes to a set that only this thread uses.
                Some(time(&calls, |writes| unsafe { device.update_descriptor_sets(writes, &[]) }))
            }
            Row::Array(n, pairs) => {
                let infos = self.infos(CALLS * n, pairs, seed);
                let calls: Vec<_> = infos.chunks(n).map(|chunk| [combined(set, 0, chunk)]).collect();
                // SAFETY: as above.
                Some(time(&calls, |writes| unsafe { device.update_descriptor_sets(writes, &[]) }))
            }
            Row::Mixed(pairs) => {
                let infos = self.infos(CALLS * 2, pairs, seed);
                let buffer = [self.buffer_info()];
                let calls: Vec<_> = infos
                    .chunks(2)
                    .map(|pair| {
                        let [uniform, storage] = self.buffer_writes(set, &buffer);
                        [combined(set, 0, &pair[..1]), uniform, combined(set, 1, &pair[1..]), storage]
                    })
                    .collect();
                // SAFETY: as above.
                Some(time(&calls, |writes| unsafe { device.update_descriptor_sets(writes, &[]) }))
            }
            Row::Buffers => {
                let buffer = [self.buffer_info()];
                let [uniform, storage] = self.buffer_writes(set, &buffer);
                let calls = vec![[uniform, storage, uniform, storage]; CALLS];
                // SAFETY: as above.
                Some(time(&calls, |writes| unsafe { device.update_descriptor_sets(writes, &[]) }))
            }
            Row::Template(shape, n, pairs) => {
                let entries = entries(shape, n);
                let info = vk::DescriptorUpdateTemplateCreateInfo::default()
                    .descriptor_update_entries(&entries)
                    .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
                    .descriptor_set_layout(self.layout);
                // SAFETY: a valid create info.
                let template = unsafe { device.create_descriptor_update_template(&info, None) }.expect("a template");
                let infos = self.infos(CALLS * n, pairs, seed);
                let calls: Vec<Vec<Element>> = infos.chunks(n).map(|infos| self.data(shape, infos)).collect();
                let ns = time(&calls, |data| {
                    // SAFETY: the data is what the template describes; only this thread uses the set.
                    unsafe { device.update_descriptor_set_with_template(set, template, data.as_ptr().cast()) };
                });
                // SAFETY: the template is not in use.
                unsafe { device.destroy_descriptor_update_template(template, None) };
                Some(ns)
            }
            Row::Sets(pairs) => {
                let layout = SetLayout::new(self.context, &[Binding::combined(0, 256)]);
                let pool = Pool::new(self.context, &[&layout; 4]);
                let sets = [(); 4].map(|()| pool.allocate(&layout));
                let infos = self.infos(CALLS * 16, pairs, seed);
                let write = |(at, info)| combined(sets[at % 4], at as u32, std::slice::from_ref(info));
                let calls: Vec<Vec<_>> =
                    infos.chunks(16).map(|chunk| chunk.iter().enumerate().map(write).collect()).collect();
                // SAFETY: valid writes to sets that only this thread uses.
                Some(time(&calls, |writes: &Vec<_>| unsafe { device.update_descriptor_sets(writes, &[]) }))
            }
            Row::Overflow(pairs) => {
                let bindings: Vec<_> = (0..16).map(|binding| Binding::combined(binding, 1)).collect();
                let layout = SetLayout::new(self.context, &bindings);
                let pool = Pool::new(self.context, &[&layout]);
                let set = pool.allocate(&layout);
                let infos = self.infos(CALLS * 16, pairs, seed);
                let calls: Vec<_> = infos.chunks(16).map(|chunk| [combined(set, 0, chunk)]).collect();
                // SAFETY: as above; the bindings are alike, so a write goes on from one to the next.
                Some(time(&calls, |writes| unsafe { device.update_descriptor_sets(writes, &[]) }))
            }
            Row::Copies => {
                let infos = self.infos(16, Pairs::Legal, seed);
                // SAFETY: as above.
                unsafe { device.update_descriptor_sets(&[combined(set, 0, &infos)], &[]) };
                let copy = |at| {
                    let to = vk::CopyDescriptorSet::default().src_set(set).dst_set(set).descriptor_count(1);
                    to.src_array_element(at).dst_array_element(at + 16)
                };
                let copies: Vec<_> = (0..16).map(copy).collect();
                let calls = vec![copies; CALLS];
                // SAFETY: valid copies within a set that only this thread uses.
                Some(time(&calls, |copies| unsafe { device.update_descriptor_sets(&[], copies) }))
            }
            Row::Push(pairs) => self.push(pairs, seed),
            Row::PushTemplate(n, pairs) => self.push_template(n, pairs, seed),
            Row::Immutable(via, pairs) => self.immutable(via, pairs, seed),
            Row::Sampler(is_legal) => Some(samplers::seen(device, is_legal)),
            Row::EqualSampler => Some(samplers::equal(device)),
            Row::NewSampler => Some(samplers::new(device, Pairs::Legal)),
            Row::Created(is_new) => Some(samplers::created(device, is_new)),
            Row::View => Some(self.new_views(Pairs::Legal)),
            // Views of integers are every other one.
            Row::Turns(_) if self.views.len() < 2 => None,
            Row::Turns(Turns::Samplers) => Some(samplers::new(device, Pairs::Any)),
            Row::Turns(Turns::Views) => Some(self.new_views(Pairs::Any)),
            Row::Pipeline => Some(pipelines::measure(self.context)),
            Row::Lowered(n) => Some(stored::measure(self.context, stored::LOWERED, 1, n)),
            Row::Stored(writes, n) => Some(stored::measure(self.context, stored::STORED, writes, n)),
            Row::Noted(n) => {
                let plain = self.infos(256, Pairs::Legal, seed);
                self.noted.map(|noted| noted.measure(self.context, set, &plain, n))
            }
            Row::Under(_, row) => self.sample(*row, set, seed),
            Row::Separate(..) => None,
        }
    }

    /// Views, every other one of integers unless all are legal.
    fn new_views(&self, pairs: Pairs) -> f64 {
        let [image, integers] = self.images;
        let calls: Vec<usize> = (0..CALLS).collect();
        time(&calls, |call| {
            let is_legal = pairs == Pairs::Legal || call % 2 == 0;
            let (image, format) = if is_legal { image } else { integers };
            let view = create_view(self.context, image, format);
            // SAFETY: the view is not in use.
            unsafe { self.context.device().destroy_image_view(view, None) };
        })
    }

    fn push(&self, pairs: Pairs, seed: u64) -> Option<f64> {
        if !self.context.supports(Capability::PushDescriptor) {
            return None;
        }
        let device = self.context.device();
        let push = ash::khr::push_descriptor::Device::new(self.context.instance(), device);
        let layout = SetLayout::with_flags(
            self.context,
            &[Binding::combined(0, 1)],
            vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
        );
        let info =
            vk::PipelineLayoutCreateInfo { set_layout_count: 1, p_set_layouts: &layout.handle(), ..Default::default() };
        // SAFETY: a valid create info.
        let pipeline_layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let infos = self.infos(CALLS, pairs, seed);
        let calls: Vec<_> =
            infos.iter().map(|info| [combined(vk::DescriptorSet::null(), 0, std::slice::from_ref(info))]).collect();
        let ns = self.context.submit(|commands| {
            time(&calls, |writes| {
                // SAFETY: recording; valid writes for the layout.
                unsafe {
                    push.cmd_push_descriptor_set(commands, vk::PipelineBindPoint::COMPUTE, pipeline_layout, 0, writes);
                }
            })
        });
        // SAFETY: the submission is complete.
        unsafe { device.destroy_pipeline_layout(pipeline_layout, None) };
        Some(ns)
    }

    fn push_template(&self, n: usize, pairs: Pairs, seed: u64) -> Option<f64> {
        if !self.context.supports(Capability::PushDescriptor) {
            return None;
        }
        let device = self.context.device();
        let push = ash::khr::push_descriptor::Device::new(self.context.instance(), device);
        let layout = SetLayout::with_flags(
            self.context,
            &[Binding::combined(0, n as u32)],
            vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
        );
        let info =
            vk::PipelineLayoutCreateInfo { set_layout_count: 1, p_set_layouts: &layout.handle(), ..Default::default() };
        // SAFETY: a valid create info.
        let pipeline_layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let entries = entries(Shape::Entries, n);
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
            .pipeline_layout(pipeline_layout);
        // SAFETY: a valid create info.
        let template = unsafe { device.create_descriptor_update_template(&info, None) }.expect("a template");
        let infos = self.infos(CALLS * n, pairs, seed);
        let calls: Vec<&[vk::DescriptorImageInfo]> = infos.chunks(n).collect();
        let ns = self.context.submit(|commands| {
            time(&calls, |data| {
                let data = data.as_ptr().cast();
                // SAFETY: recording; the data is what the template describes.
                unsafe { push.cmd_push_descriptor_set_with_template(commands, template, pipeline_layout, 0, data) };
            })
        });
        // SAFETY: the submission is complete.
        unsafe {
            device.destroy_descriptor_update_template(template, None);
            device.destroy_pipeline_layout(pipeline_layout, None);
        }
        Some(ns)
    }

    /// What a template of this shape describes.
    fn data(&self, shape: Shape, infos: &[vk::DescriptorImageInfo]) -> Vec<Element> {
        let buffer = Element { buffer: self.buffer_info() };
        let between = matches!(shape, Shape::Gaps | Shape::Mixed).then_some(buffer);
        infos.iter().flat_map(|info| [Element { image: *info }].into_iter().chain(between)).collect()
    }

    fn immutable(&self, via: Via, pairs: Pairs, seed: u64) -> Option<f64> {
        let pushes = matches!(via, Via::Push | Via::PushTemplate);
        let conflicts = pairs == Pairs::Any;
        // Views of integers are every other one.
        if (pushes && !self.context.supports(Capability::PushDescriptor)) || (conflicts && self.views.len() < 2) {
            return None;
        }
        let device = self.context.device();
        let push = ash::khr::push_descriptor::Device::new(self.context.instance(), device);
        let binding = Binding { immutable: vec![self.samplers[0]], ..Binding::combined(0, 1) };
        let (flags, template_type) = if pushes {
            use vk::DescriptorSetLayoutCreateFlags as Flags;
            (Flags::PUSH_DESCRIPTOR_KHR, vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        } else {
            (Default::default(), vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        };
        let layout = SetLayout::with_flags(self.context, &[binding], flags);
        let info =
            vk::PipelineLayoutCreateInfo { set_layout_count: 1, p_set_layouts: &layout.handle(), ..Default::default() };
        // SAFETY: a valid create info.
        let pipeline_layout = unsafe { device.create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let entry = vk::DescriptorUpdateTemplateEntry {
            descriptor_count: 1,
            descriptor_type: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            stride: size_of::<vk::DescriptorImageInfo>(),
            ..Default::default()
        };
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(std::slice::from_ref(&entry))
            .template_type(template_type)
            .descriptor_set_layout(layout.handle())
            .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
            .pipeline_layout(pipeline_layout);
        // SAFETY: a valid create info.
        let template = unsafe { device.create_descriptor_update_template(&info, None) }.expect("a template");
        let mut draw = Draw(seed);
        let infos: Vec<_> = (0..CALLS)
            .map(|_| vk::DescriptorImageInfo {
                sampler: vk::Sampler::null(),
                image_view: self.views[(draw.below(self.views.len()) & !1) + usize::from(conflicts)],
                image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            })
            .collect();
        let pool = Pool::new(self.context, &[&layout]);
        let set = if pushes { vk::DescriptorSet::null() } else { pool.allocate(&layout) };
        let writes: Vec<_> = infos.iter().map(|info| [combined(set, 0, std::slice::from_ref(info))]).collect();
        let data = |info: &vk::DescriptorImageInfo| std::ptr::from_ref(info).cast();
        let ns = match via {
            // SAFETY: valid writes to a set that only this thread uses.
            Via::Update => time(&writes, |writes| unsafe { device.update_descriptor_sets(writes, &[]) }),
            Via::Template => {
                // SAFETY: the data is what the template describes; only this thread uses the set.
                time(&infos, |info| unsafe { device.update_descriptor_set_with_template(set, template, data(info)) })
            }
            Via::Push => self.context.submit(|commands| {
                let point = vk::PipelineBindPoint::COMPUTE;
                // SAFETY: recording; valid writes for the layout.
                time(&writes, |writes| unsafe {
                    push.cmd_push_descriptor_set(commands, point, pipeline_layout, 0, writes);
                })
            }),
            Via::PushTemplate => self.context.submit(|commands| {
                // SAFETY: recording; the data is what the template describes.
                time(&infos, |info| unsafe {
                    push.cmd_push_descriptor_set_with_template(commands, template, pipeline_layout, 0, data(info));
                })
            }),
        };
        // SAFETY: the submission is complete, and nothing uses these.
        unsafe {
            device.destroy_descriptor_update_template(template, None);
            device.destroy_pipeline_layout(pipeline_layout, None);
        }
        Some(ns)
    }

    fn buffer_info(&self) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo { buffer: self.buffer, offset: 0, range: vk::WHOLE_SIZE }
    }

    fn buffer_writes<'a>(
        &self,
        set: vk::DescriptorSet,
        info: &'a [vk::DescriptorBufferInfo],
    ) -> [vk::WriteDescriptorSet<'a>; 2] {
        let write = |binding, ty| {
            vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(ty).buffer_info(info)
        };
        [write(1, vk::DescriptorType::UNIFORM_BUFFER), write(2, vk::DescriptorType::STORAGE_BUFFER)]
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        let device = self.context.device();
        // SAFETY: nothing is in use any more.
        unsafe {
            self.samplers.iter().for_each(|sampler| device.destroy_sampler(*sampler, None));
            self.views.iter().for_each(|view| device.destroy_image_view(*view, None));
        }
    }
}

/// One element of a template's data.
#[derive(Clone, Copy)]
union Element {
    image: vk::DescriptorImageInfo,
    buffer: vk::DescriptorBufferInfo,
}

/// The entries of a template of `n` pairs.
fn entries(shape: Shape, n: usize) -> Vec<vk::DescriptorUpdateTemplateEntry> {
    let size = size_of::<Element>();
    let pairs = |element, count, offset, stride| vk::DescriptorUpdateTemplateEntry {
        dst_binding: 0,
        dst_array_element: element as u32,
        descriptor_count: count as u32,
        descriptor_type: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        offset,
        stride,
    };
    let buffer = |binding, descriptor_type, offset| vk::DescriptorUpdateTemplateEntry {
        dst_binding: binding,
        descriptor_type,
        ..pairs(0, 1, offset, size)
    };
    match shape {
        Shape::Packed => vec![pairs(0, n, 0, size)],
        Shape::Gaps => vec![pairs(0, n, 0, 2 * size)],
        Shape::Entries => (0..n).map(|at| pairs(at, 1, at * size, size)).collect(),
        Shape::Mixed => vec![
            pairs(0, 1, 0, size),
            buffer(1, vk::DescriptorType::UNIFORM_BUFFER, size),
            pairs(1, 1, 2 * size, size),
            buffer(2, vk::DescriptorType::STORAGE_BUFFER, 3 * size),
        ],
    }
}
