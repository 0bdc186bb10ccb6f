//! A set of which each descriptor is one value: what it is, and where it lies.

use crate::context::Context;
use crate::descriptor::{Binding, Pool, SetLayout, update, whole, write_images};
use crate::image::{Buffer, View};
use crate::sampler::Sampler;
use ash::vk;

/// A descriptor and its place in its set.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Binding and element.
    pub at: (u32, u32),
    /// What it is.
    pub ty: vk::DescriptorType,
    /// What it holds.
    pub info: vk::DescriptorImageInfo,
    /// The sampler that its layout has for it, or null.
    pub fixed: vk::Sampler,
}

impl Slot {
    /// An image by itself.
    pub fn image(view: &View<'_>, binding: u32, element: u32) -> Self {
        let info = vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view: view.handle(),
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        };
        Self { at: (binding, element), ty: vk::DescriptorType::SAMPLED_IMAGE, info, fixed: vk::Sampler::null() }
    }

    /// A sampler by itself.
    pub fn sampler(sampler: &Sampler<'_>, binding: u32, element: u32) -> Self {
        let info = vk::DescriptorImageInfo { sampler: sampler.handle(), ..Default::default() };
        Self { at: (binding, element), ty: vk::DescriptorType::SAMPLER, info, fixed: vk::Sampler::null() }
    }

    /// Both in one descriptor.
    pub fn pair(view: &View<'_>, sampler: &Sampler<'_>, binding: u32, element: u32) -> Self {
        let image = Self::image(view, binding, element);
        let info = vk::DescriptorImageInfo { sampler: sampler.handle(), ..image.info };
        Self { ty: vk::DescriptorType::COMBINED_IMAGE_SAMPLER, info, ..image }
    }

    /// A storage image, in the layout GENERAL.
    pub fn stored(view: &View<'_>, binding: u32) -> Self {
        Self { ty: vk::DescriptorType::STORAGE_IMAGE, ..Self::image(view, binding, 0).general() }
    }

    /// In the layout GENERAL.
    pub fn general(self) -> Self {
        Self { info: vk::DescriptorImageInfo { image_layout: vk::ImageLayout::GENERAL, ..self.info }, ..self }
    }

    /// With its sampler in the layout, and none in what is written.
    pub fn fixed(self) -> Self {
        let info = vk::DescriptorImageInfo { sampler: vk::Sampler::null(), ..self.info };
        Self { fixed: self.info.sampler, info, ..self }
    }

    /// The write of it alone.
    pub fn write(&self, set: vk::DescriptorSet) -> vk::WriteDescriptorSet<'_> {
        vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(self.at.0)
            .dst_array_element(self.at.1)
            .descriptor_type(self.ty)
            .image_info(std::slice::from_ref(&self.info))
    }

    /// The copy of it from one set to its place in another.
    pub fn copy(&self, from: vk::DescriptorSet, to: vk::DescriptorSet) -> vk::CopyDescriptorSet<'static> {
        let (binding, element) = self.at;
        let copy = vk::CopyDescriptorSet::default().src_set(from).src_binding(binding).src_array_element(element);
        copy.dst_set(to).dst_binding(binding).dst_array_element(element).descriptor_count(1)
    }

    /// The entry of it alone in a template whose data has it there.
    pub fn entry(&self, offset: usize) -> vk::DescriptorUpdateTemplateEntry {
        vk::DescriptorUpdateTemplateEntry {
            dst_binding: self.at.0,
            dst_array_element: self.at.1,
            descriptor_count: 1,
            descriptor_type: self.ty,
            offset,
            stride: 0,
        }
    }
}

/// The bindings that have these slots and no others, in the order of their first ones.
pub fn bindings(slots: &[Slot]) -> Vec<Binding> {
    let mut all: Vec<Binding> = Vec::new();
    for slot in slots {
        let found = all.iter().position(|binding| binding.binding == slot.at.0).unwrap_or(all.len());
        if found == all.len() {
            all.push(Binding::new(slot.at.0, slot.ty, 0));
        }
        let of = &mut all[found];
        of.count = of.count.max(slot.at.1 + 1);
        if slot.fixed != vk::Sampler::null() {
            of.immutable.push(slot.fixed);
        }
    }
    all
}

/// Writes each slot by itself; immutable samplers have nothing to write.
pub fn write(context: &Context, set: vk::DescriptorSet, slots: &[Slot]) {
    let nothing = |slot: &&Slot| slot.ty == vk::DescriptorType::SAMPLER && slot.fixed != vk::Sampler::null();
    for slot in slots.iter().filter(|slot| !nothing(slot)) {
        write_images(context, set, slot.at, slot.ty, &[slot.info]);
    }
}

/// Writes a whole uniform buffer to a binding.
pub fn write_uniform(context: &Context, set: vk::DescriptorSet, binding: u32, buffer: &Buffer<'_>) {
    let info = [whole(buffer)];
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).buffer_info(&info);
    update(context, &[write.descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)], &[], &[]);
}

/// A layout and one set of it.
pub struct Held<'c> {
    /// Where it was made.
    pub context: &'c Context,
    /// The layout.
    pub layout: SetLayout<'c>,
    /// The pool, which has room for this set.
    pub pool: Pool<'c>,
    /// The set.
    pub set: vk::DescriptorSet,
}

impl<'c> Held<'c> {
    /// A set of these bindings, of which these slots are written.
    pub fn new(context: &'c Context, bindings: &[Binding], slots: &[Slot]) -> Self {
        let layout = SetLayout::new(context, bindings);
        let (pool, set) = Pool::set(context, &layout);
        write(context, set, slots);
        Self { context, layout, pool, set }
    }

    /// A set that has these slots and no others.
    pub fn of(context: &'c Context, slots: &[Slot]) -> Self {
        Self::new(context, &bindings(slots), slots)
    }

    /// Writes each of these slots by itself.
    pub fn write(&self, slots: &[Slot]) {
        write(self.context, self.set, slots);
    }
}
