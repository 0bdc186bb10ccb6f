//! Pushed descriptors as words, so that they can be pushed again.

use ash::vk::{self, Handle};
use samplin_bind::{Descriptor, Pushed};
use samplin_hot::memory;

use super::layouts::SetShape;
use super::templates::{FilledRun, TemplateRun};
use crate::counters::Path;
use crate::device::ground::Ground;
use crate::device::live::Write;
use crate::device::resolve::Pairs;

/// Where the descriptors of a type are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DescribedIn {
    /// `VkDescriptorImageInfo`.
    Image,
    /// `VkDescriptorBufferInfo`.
    Buffer,
    /// `VkBufferView`.
    Texels,
    /// A handle in `VkWriteDescriptorSetAccelerationStructureKHR`, or in the data of a template.
    Structure,
}

/// The form of a type of descriptors that may be pushed (VUID-VkDescriptorSetLayoutCreateInfo-flags-00280, -02208, -04591); none for one that is not known.
fn form(ty: vk::DescriptorType) -> Option<DescribedIn> {
    use vk::DescriptorType as T;
    Some(match ty {
        T::SAMPLER
        | T::COMBINED_IMAGE_SAMPLER
        | T::SAMPLED_IMAGE
        | T::STORAGE_IMAGE
        | T::INPUT_ATTACHMENT
        | T::SAMPLE_WEIGHT_IMAGE_QCOM
        | T::BLOCK_MATCH_IMAGE_QCOM => DescribedIn::Image,
        T::UNIFORM_BUFFER | T::STORAGE_BUFFER => DescribedIn::Buffer,
        T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => DescribedIn::Texels,
        T::ACCELERATION_STRUCTURE_KHR => DescribedIn::Structure,
        _ => return None,
    })
}

fn image(info: &vk::DescriptorImageInfo) -> [u64; 3] {
    [info.sampler.as_raw(), info.image_view.as_raw(), u64::from(info.image_layout.as_raw() as u32)]
}

fn buffer(info: &vk::DescriptorBufferInfo) -> [u64; 3] {
    [info.buffer.as_raw(), info.offset, info.range]
}

/// Takes over a write that was pushed. Whether its descriptors are known.
pub(super) fn write(shape: &SetShape, write: Write<'_>, pushed: &mut Pushed) -> bool {
    let ty = write.descriptor_type;
    let places = shape.walk((write.dst_binding, write.dst_array_element), write.descriptor_count);
    let put = |words: &mut dyn Iterator<Item = [u64; 3]>| {
        for ((binding, element), words) in places.zip(words) {
            pushed.write((binding.binding, element), Descriptor { ty: ty.as_raw(), words });
        }
    };
    match form(ty) {
        Some(DescribedIn::Image) => put(&mut write.images().iter().map(image)),
        Some(DescribedIn::Buffer) => put(&mut write.buffers().iter().map(buffer)),
        Some(DescribedIn::Texels) => put(&mut write.texels().iter().map(|view| [view.as_raw(), 0, 0])),
        Some(DescribedIn::Structure) => {
            let Some(all) = write.structures() else { return false };
            put(&mut all.iter().map(|structure| [structure.as_raw(), 0, 0]));
        }
        None => return false,
    }
    true
}

/// Takes over an entry of a template that was pushed. Whether its descriptors are known.
pub(super) fn run(shape: &SetShape, filled: FilledRun<'_>, pushed: &mut Pushed) -> bool {
    let TemplateRun { ty, target, count, .. } = *filled.run;
    let Some(form) = form(ty) else { return false };
    for (index, (binding, element)) in (0..).zip(shape.walk(target, count)) {
        let words = match form {
            DescribedIn::Image => image(&filled.image(index)),
            DescribedIn::Buffer => buffer(&filled.buffer(index)),
            DescribedIn::Texels | DescribedIn::Structure => [filled.handle(index), 0, 0],
        };
        pushed.write((binding.binding, element), Descriptor { ty: ty.as_raw(), words });
    }
    true
}

impl Pairs {
    /// A pushed descriptor with the sampler that its view needs, if it has both.
    pub(super) fn repaired(&self, ground: &Ground, descriptor: Descriptor) -> Descriptor {
        let [sampler, view, layout] = descriptor.words;
        if descriptor.ty != vk::DescriptorType::COMBINED_IMAGE_SAMPLER.as_raw() {
            return descriptor;
        }
        let pair = match self.stand_ins.aspects.whole(view) {
            0 => ground.hot.gate.conflict(vk::Sampler::from_raw(sampler), vk::ImageView::from_raw(view)),
            whole => self.images.stencil_pair(&ground.hot, &ground.driver, sampler, whole),
        };
        let sampler = pair.map_or(sampler, |pair| self.choose(ground, pair, Path::Push));
        Descriptor { words: [sampler, view, layout], ..descriptor }
    }
}

/// Calls `with` with writes of these descriptors, one each.
pub(super) fn with_writes(descriptors: &[((u32, u32), Descriptor)], with: impl FnOnce(&[vk::WriteDescriptorSet<'_>])) {
    let type_of = |descriptor: &Descriptor| vk::DescriptorType::from_raw(descriptor.ty);
    let images = memory::collect(descriptors.iter().map(|(_, Descriptor { words: [sampler, view, layout], .. })| {
        vk::DescriptorImageInfo {
            sampler: vk::Sampler::from_raw(*sampler),
            image_view: vk::ImageView::from_raw(*view),
            image_layout: vk::ImageLayout::from_raw(*layout as u32 as i32),
        }
    }));
    let buffers = memory::collect(descriptors.iter().map(|(_, Descriptor { words: [buffer, offset, range], .. })| {
        vk::DescriptorBufferInfo { buffer: vk::Buffer::from_raw(*buffer), offset: *offset, range: *range }
    }));
    let views =
        memory::collect(descriptors.iter().map(|(_, descriptor)| vk::BufferView::from_raw(descriptor.words[0])));
    let structures = memory::collect(
        descriptors.iter().map(|(_, descriptor)| vk::AccelerationStructureKHR::from_raw(descriptor.words[0])),
    );
    let mut chained = memory::collect(structures.iter().map(|structure| {
        vk::WriteDescriptorSetAccelerationStructureKHR::default()
            .acceleration_structures(std::slice::from_ref(structure))
    }));
    let parts = images.iter().zip(&buffers).zip(&views).zip(&mut chained);
    let writes =
        memory::collect(descriptors.iter().zip(parts).map(|((at, descriptor), (((image, buffer), view), chained))| {
            let write = vk::WriteDescriptorSet::default()
                .dst_binding(at.0)
                .dst_array_element(at.1)
                .descriptor_type(type_of(descriptor));
            match form(type_of(descriptor)) {
                Some(DescribedIn::Buffer) => write.buffer_info(std::slice::from_ref(buffer)),
                Some(DescribedIn::Texels) => write.texel_buffer_view(std::slice::from_ref(view)),
                Some(DescribedIn::Structure) => {
                    let mut write = write.push_next(chained);
                    write.descriptor_count = 1;
                    write
                }
                Some(DescribedIn::Image) | None => write.image_info(std::slice::from_ref(image)),
            }
        }));
    with(&writes);
}
