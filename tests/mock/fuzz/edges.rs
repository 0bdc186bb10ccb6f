//! Calls that break rules where a layer must survive it: null handles, garbage in members that are ignored, counts of nothing and
//! of everything, values of no enumeration, handles that nobody made, chains without end.
//!
//! What is checked is that nothing falls over, that no hook panics, and that what the layer cannot understand arrives as it was
//! given. Memory rules are kept, because nobody can survive those being broken.

use std::ffi::c_void;
use std::ptr;

use ash::vk::{self, Handle};

use super::chain::{Unknown, info_of, put};
use crate::driver::{Args, Call, Kind, lock};
use crate::loader::*;
use crate::pages::{Guarded, dangling};
use crate::stress::Random;
use samplin_checker::draw::{self, Dice};

struct Edges {
    random: Random,
    device: Device,
    samplers: Vec<vk::Sampler>,
    views: Vec<vk::ImageView>,
    images: Vec<vk::Image>,
    layouts: Vec<vk::DescriptorSetLayout>,
    pipelines: Vec<vk::PipelineLayout>,
    templates: Vec<(vk::DescriptorUpdateTemplate, usize)>,
    pools: Vec<vk::DescriptorPool>,
    sets: Vec<vk::DescriptorSet>,
}

/// Runs one sequence; returns the number of calls.
pub(crate) fn sequence(seed: u64) -> u64 {
    let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
    let modes = ["legalize", "legalize", "legalize", "audit", "off"];
    let mode = modes[random.below(5) as usize];
    let device = InstanceBuilder::new().set("mode", mode).driver(|driver| driver.max_samplers = 60).device();
    // Kept by the thread for tests that look at them.
    crate::driver::ATTEMPTS.take();
    let mut edges = Edges {
        random,
        device,
        samplers: Vec::new(),
        views: Vec::new(),
        images: Vec::new(),
        layouts: Vec::new(),
        pipelines: Vec::new(),
        templates: Vec::new(),
        pools: Vec::new(),
        sets: Vec::new(),
    };
    const STEPS: u64 = 60;
    for _ in 0..STEPS {
        edges.step();
        edges.device.driver.calls();
    }
    edges.finish(mode);
    STEPS
}

impl Edges {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    /// A number that is likely to be at some edge.
    fn odd(&mut self) -> u32 {
        const POOL: [u32; 12] =
            [0, 1, 2, 7, 255, 256, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX];
        if self.chance(70) { POOL[self.below(12) as usize] } else { self.below(1 << 32) as u32 }
    }

    /// A value of some enumeration, or of none.
    fn value(&mut self) -> i32 {
        const POOL: [i32; 10] = [0, 1, 2, 3, 7, -1, i32::MIN, i32::MAX, 1_000_015_000, 0x7fff_0001];
        if self.chance(50) { self.below(12) as i32 } else { POOL[self.below(10) as usize] }
    }

    /// One of `of`, null, or a handle that nobody made.
    fn any<T: Handle + Copy>(&mut self, of: &[T]) -> T {
        match self.below(8) {
            0 => T::from_raw(0),
            1 => T::from_raw(0xffff_ffff_ffff_fff0),
            2 => T::from_raw(1),
            _ if of.is_empty() => T::from_raw(0),
            _ => of[self.below(of.len() as u64) as usize],
        }
    }

    fn pairs(&mut self, count: usize) -> Vec<vk::DescriptorImageInfo> {
        let (samplers, views) = (self.samplers.clone(), self.views.clone());
        (0..count)
            .map(|_| {
                let mut info = pair(self.any(&samplers), self.any(&views));
                info.image_layout = vk::ImageLayout::from_raw(self.value());
                info
            })
            .collect()
    }

    fn step(&mut self) {
        match self.below(14) {
            0 | 1 => self.sampler(),
            2 => self.image(),
            3 => self.view(),
            4 => self.layout(),
            5 => self.pipeline(),
            6 => self.sets(),
            7..10 => self.update(),
            10 => self.push(),
            11 => self.template(),
            12 => self.single(),
            _ => self.destroy(),
        }
    }

    fn sampler(&mut self) {
        let bytes: Vec<u8> = (0..360).map(|_| self.below(256) as u8).collect();
        let mut state = draw::sampler(&mut Dice(&bytes));
        if let Some(ycbcr) = &mut state.ycbcr {
            // A conversion that nobody made.
            ycbcr.handle = 0xdddd_0000;
        }
        if self.chance(30) {
            state.mipmap_mode = vk::SamplerMipmapMode::from_raw(self.value());
            state.border_color = vk::BorderColor::from_raw(self.value());
            state.flags = vk::SamplerCreateFlags::from_raw(self.odd());
        }
        let unknown = [Unknown::None, Unknown::First, Unknown::Last][self.below(3) as usize];
        let endless = self.chance(10);
        let mut memory = Guarded::new();
        let mut info = info_of(&state, (unknown, true), &mut memory);
        // A chain that leads back to itself. The driver follows it for as long as the layer does.
        let mut looped = vk::BaseInStructure { s_type: vk::StructureType::from_raw(77), ..Default::default() };
        let at = &raw mut looped;
        // SAFETY: a live local.
        unsafe { (*at).p_next = at.cast_const() };
        if endless {
            info.p_next = at.cast_const().cast::<c_void>();
        }
        let (device, mut out) = (&self.device, vk::Sampler::null());
        let result = call!(device.create_sampler(device.raw, memory.value(info), allocator(), &mut out));
        if result == SUCCESS {
            self.samplers.push(out);
        }
    }

    fn image(&mut self) {
        let mut info = image_info(vk::Format::from_raw(self.value()));
        info.image_type = vk::ImageType::from_raw(self.value());
        info.tiling = vk::ImageTiling::from_raw(self.value());
        info.flags = vk::ImageCreateFlags::from_raw(self.odd());
        info.usage = vk::ImageUsageFlags::from_raw(self.odd());
        info.mip_levels = self.odd();
        info.array_layers = self.odd();
        if self.chance(60) {
            info.format = [FILTERED, INTEGERS, DEPTH][self.below(3) as usize];
            info.tiling = vk::ImageTiling::OPTIMAL;
        }
        let image = self.device.image_with(&info);
        self.images.push(image);
    }

    fn view(&mut self) {
        let images = self.images.clone();
        let image = self.any(&images);
        let mut info = view_info(image, vk::Format::from_raw(self.value()));
        if self.chance(60) {
            info.format = [FILTERED, INTEGERS, DEPTH][self.below(3) as usize];
        } else {
            info.view_type = vk::ImageViewType::from_raw(self.value());
            info.components.r = vk::ComponentSwizzle::from_raw(self.value());
            info.components.a = vk::ComponentSwizzle::from_raw(self.value());
            info.subresource_range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::from_raw(self.odd()),
                base_mip_level: self.odd(),
                level_count: self.odd(),
                base_array_layer: self.odd(),
                layer_count: self.odd(),
            };
        }
        let view = self.device.view_with(&info);
        self.views.push(view);
    }

    fn layout(&mut self) {
        let (samplers, count) = (self.samplers.clone(), self.below(4));
        let arrays: Vec<Vec<vk::Sampler>> =
            (0..count).map(|_| (0..self.below(4)).map(|_| self.any(&samplers)).collect()).collect();
        let bindings: Vec<_> = arrays
            .iter()
            .map(|array| {
                let number = self.odd();
                if !array.is_empty() && self.chance(40) {
                    let ty = if self.chance(70) { COMBINED } else { SAMPLER };
                    return vk::DescriptorSetLayoutBinding {
                        p_immutable_samplers: array.as_ptr(),
                        ..binding(number, ty, array.len() as u32)
                    };
                }
                // Counts of everything; immutable samplers of types that have none, and of no descriptors.
                let ty = Ty::from_raw(self.value());
                let takes = ty == COMBINED || ty == SAMPLER;
                let size = if takes { 0 } else { self.odd() };
                vk::DescriptorSetLayoutBinding { p_immutable_samplers: dangling(), ..binding(number, ty, size) }
            })
            .collect();
        let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        info.flags = vk::DescriptorSetLayoutCreateFlags::from_raw(self.odd());
        if bindings.is_empty() {
            info.p_bindings = dangling();
        }
        let layout = self.device.layout_of(&info);
        self.layouts.push(layout);
    }

    fn pipeline(&mut self) {
        let layouts = self.layouts.clone();
        let sets: Vec<_> = (0..self.below(4)).map(|_| self.any(&layouts)).collect();
        let layout = self.device.pipeline_layout(&sets);
        self.pipelines.push(layout);
    }

    fn sets(&mut self) {
        if self.pools.is_empty() {
            self.pools.push(self.device.pool());
        }
        let layouts = self.layouts.clone();
        let wanted: Vec<_> = (0..self.below(4)).map(|_| self.any(&layouts)).collect();
        let pool = self.pools[0];
        let made = self.device.sets(pool, &wanted);
        self.sets.extend(made);
    }

    fn update(&mut self) {
        let sets = self.sets.clone();
        let counts: Vec<usize> = (0..self.below(5)).map(|_| self.below(4) as usize).collect();
        let infos: Vec<_> = counts.iter().map(|count| self.pairs(*count)).collect();
        let writes: Vec<vk::WriteDescriptorSet<'_>> = infos
            .iter()
            .map(|infos| {
                let combined = self.chance(70);
                vk::WriteDescriptorSet {
                    dst_set: self.any(&sets),
                    dst_binding: self.odd(),
                    dst_array_element: self.odd(),
                    // Everything but the types that the layer reads may have a count of everything and lead nowhere; storage
                    // images are read once a view has lost storing, and input attachments once a view has depth and stencil.
                    descriptor_count: if combined { infos.len() as u32 } else { self.odd() },
                    descriptor_type: match Ty::from_raw(self.value().saturating_abs()) {
                        _ if combined => COMBINED,
                        Ty::INPUT_ATTACHMENT => Ty::UNIFORM_BUFFER,
                        ty => ty.max(Ty::UNIFORM_TEXEL_BUFFER),
                    },
                    p_image_info: if combined && !infos.is_empty() { infos.as_ptr() } else { dangling() },
                    p_buffer_info: dangling(),
                    p_texel_buffer_view: dangling(),
                    ..Default::default()
                }
            })
            .collect();
        let device = &self.device;
        let first = if writes.is_empty() { dangling() } else { writes.as_ptr() };
        call!(device.update(device.raw, writes.len() as u32, first, 0, dangling()));
        let calls = self.device.driver.calls();
        let update = calls.iter().find_map(|call| match call {
            Call { args: Args::Update { writes, .. }, .. } => Some(writes),
            _ => None,
        });
        let down = update.expect("the call arrives");
        assert_eq!(down.items.len(), writes.len());
        for (mine, arrived) in writes.iter().zip(&down.items) {
            assert_eq!(
                (mine.dst_set, mine.dst_binding, mine.dst_array_element, mine.descriptor_count, mine.descriptor_type),
                (
                    arrived.raw.dst_set,
                    arrived.raw.dst_binding,
                    arrived.raw.dst_array_element,
                    arrived.raw.descriptor_count,
                    arrived.raw.descriptor_type
                )
            );
            if mine.descriptor_type != COMBINED {
                assert_eq!(mine.p_image_info, arrived.raw.p_image_info);
            }
        }
        for (given, arrived) in infos.iter().zip(&down.items) {
            for (given, arrived) in given.iter().zip(&arrived.images) {
                // Of a view with depth and stencil a descriptor shows the layer's own.
                let is_own = self.device.driver.is_layers(Kind::View, arrived.image_view.as_raw());
                assert!(is_own || given.image_view == arrived.image_view, "{given:?} arrives as {arrived:?}");
                assert_eq!(given.image_layout, arrived.image_layout);
                if !self.samplers.contains(&given.sampler) || !self.views.contains(&given.image_view) {
                    assert_eq!(given.sampler, arrived.sampler, "what is not known stays as it is");
                }
            }
        }
    }

    fn push(&mut self) {
        let (pipelines, count) = (self.pipelines.clone(), self.below(4) as usize);
        let infos = self.pairs(count);
        let write = vk::WriteDescriptorSet {
            dst_set: vk::DescriptorSet::from_raw(0xdead_beef),
            dst_binding: self.odd(),
            dst_array_element: self.odd(),
            descriptor_count: infos.len() as u32,
            descriptor_type: COMBINED,
            p_image_info: if infos.is_empty() { dangling() } else { infos.as_ptr() },
            ..Default::default()
        };
        let (layout, set) = (self.any(&pipelines), self.odd());
        if self.chance(50) {
            self.device.push(layout, set, &[write]);
        } else {
            let writes = [write];
            let info = vk::PushDescriptorSetInfoKHR::default().layout(layout).set(set).descriptor_writes(&writes);
            self.device.push2(&info);
        }
    }

    fn template(&mut self) {
        if self.chance(50) || self.templates.is_empty() {
            let layouts = self.layouts.clone();
            let entries: Vec<_> = (0..self.below(4))
                .map(|_| {
                    let count = self.below(5) as u32;
                    match self.below(4) {
                        // No element: offset and stride lead nowhere.
                        0 => entry(self.odd(), self.odd(), 0, COMBINED, usize::MAX - 3, usize::MAX),
                        // Inline blocks count bytes and have no stride.
                        1 => entry(self.odd(), self.odd(), count * 4, Ty::INLINE_UNIFORM_BLOCK, 4, usize::MAX),
                        // A type that nobody knows has elements of a size that nobody knows.
                        2 => entry(self.odd(), self.odd(), count, Ty::from_raw(0x7fff_0001), 8, 40),
                        // Elements that share bytes, or lie on odd addresses.
                        _ => entry(
                            self.odd(),
                            self.odd(),
                            count,
                            COMBINED,
                            self.below(64) as usize,
                            [0, 1, 8, INFO - 1, INFO, INFO + 1, 64][self.below(7) as usize],
                        ),
                    }
                })
                .collect();
            let info = vk::DescriptorUpdateTemplateCreateInfo {
                descriptor_update_entry_count: entries.len() as u32,
                p_descriptor_update_entries: if entries.is_empty() { dangling() } else { entries.as_ptr() },
                template_type: vk::DescriptorUpdateTemplateType::from_raw(self.value()),
                descriptor_set_layout: self.any(&layouts),
                pipeline_bind_point: Point::from_raw(self.value()),
                pipeline_layout: vk::PipelineLayout::from_raw(0xdead_beef),
                set: self.odd(),
                ..Default::default()
            };
            let template = self.device.template_of(&info);
            self.templates.push((template, 1024));
        }
        let index = self.below(self.templates.len() as u64) as usize;
        let (template, size) = self.templates[index];
        let mut data: Vec<u8> = (0..size).map(|_| self.below(256) as u8).collect();
        let infos = self.pairs(size / INFO);
        for (at, info) in infos.into_iter().enumerate() {
            put(&mut data, at * INFO, &info);
        }
        let before = data.clone();
        let (sets, pipelines) = (self.sets.clone(), self.pipelines.clone());
        let (set, pipeline, number) = (self.any(&sets), self.any(&pipelines), self.odd());
        let device = &self.device;
        match self.random.below(3) {
            0 => device.update_with_template(set, template, data.as_ptr().cast()),
            1 => call!(device.push_with_template(device.commands, template, pipeline, number, data.as_ptr().cast())),
            _ => {
                device.push_with_template2(template, (pipeline, number), data.as_ptr().cast(), ptr::null());
            }
        }
        assert_eq!(data, before, "the application's data is not written to");
    }

    /// Calls without descriptors.
    fn single(&mut self) {
        let images = self.images.clone();
        let (image, filter) = (self.any(&images), Filter::from_raw(self.value()));
        let (objects, ty) = ([0, 1, u64::MAX][self.below(3) as usize], vk::ObjectType::from_raw(self.value()));
        let info = self.pairs(1)[0];
        let device = &self.device;
        match self.random.below(4) {
            0 => {
                let layout = vk::ImageLayout::from_raw(-9);
                call!(device.blit(device.commands, image, layout, image, layout, 0, dangling(), filter));
            }
            1 => {
                let name = c"\xff\xfe not UTF-8";
                let info = vk::DebugUtilsObjectNameInfoEXT {
                    object_type: ty,
                    object_handle: objects,
                    p_object_name: if self.random.below(2) == 0 { ptr::null() } else { name.as_ptr() },
                    ..Default::default()
                };
                assert_eq!(call!(device.set_name(device.raw, &info)), SUCCESS);
            }
            2 => {
                let get = vk::DescriptorGetInfoEXT {
                    ty: Ty::from_raw(if self.random.below(2) == 0 { 1 } else { 0x7fff_0001 }),
                    data: vk::DescriptorDataEXT { p_combined_image_sampler: &info },
                    ..Default::default()
                };
                let mut out = [0_u8; 32];
                call!(device.get_descriptor(device.raw, &get, out.len(), out.as_mut_ptr().cast()));
            }
            _ => {
                call!(device.get_view_handle(device.raw, &handle_info(COMBINED, &info)));
            }
        }
    }

    /// Null, unknown, live: in any order, whatever still uses it. The application may not use those again.
    fn destroy(&mut self) {
        let device = &self.device;
        let raw = device.raw;
        match self.random.below(9) {
            0 => device.destroy_sampler(self.samplers.pop().unwrap_or_default()),
            1 => device.destroy_view(self.views.pop().unwrap_or_default()),
            2 => device.destroy_image(self.images.pop().unwrap_or_default()),
            3 => device.destroy_layout(self.layouts.pop().unwrap_or_default()),
            4 => device.destroy_pipeline_layout(self.pipelines.pop().unwrap_or_default()),
            5 => {
                let gone = self.templates.pop().map(|(template, _)| template).unwrap_or_default();
                device.destroy_template(gone);
            }
            6 => {
                self.sets.clear();
                let gone = self.pools.pop().unwrap_or_default();
                device.destroy_pool(gone);
            }
            7 => {
                let pool = self.pools.first().copied().unwrap_or_default();
                let unknown = [vk::DescriptorSet::null(), vk::DescriptorSet::from_raw(0x77)];
                assert_eq!(call!(device.free_sets(raw, pool, 2, unknown.as_ptr())), SUCCESS);
                assert_eq!(call!(device.free_sets(raw, pool, 0, dangling())), SUCCESS);
            }
            _ => {
                // Handles that were never made.
                device.destroy_view(vk::ImageView::from_raw(0x1234_5670));
                device.destroy_image(vk::Image::from_raw(0x1234_5670));
                device.destroy_pool(vk::DescriptorPool::from_raw(0x1234_5670));
            }
        }
    }

    fn finish(mut self, mode: &str) {
        for _ in 0..400 {
            self.destroy();
        }
        let device = &self.device;
        device.destroy_all();
        for kind in [Kind::Sampler, Kind::View, Kind::Image, Kind::Layout, Kind::PipelineLayout] {
            assert_eq!(device.driver.live(kind), [0; 0], "{kind:?}");
        }
        if mode != "off" {
            assert!(!device.entry().ground.is_broken(), "a hook panicked");
            assert_nothing_left(device, "at the end");
        }
        // What a driver may not be asked was asked of it on purpose.
        lock(&self.device.driver.errors).clear();
        self.device.finish();
    }
}
