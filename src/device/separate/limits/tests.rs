//! Every limit exactly full, and with one place left.

use std::sync::Arc;

use ash::vk;

use super::{Limits, More, Most};
use crate::device::separate::Separate;
use crate::device::separate::layouts::PipelineShape;
use crate::device::separate::recipe::{NO_SAMPLER, NO_SET};
use crate::kept;

use vk::DescriptorType as T;
use vk::ShaderStageFlags as S;

/// Descriptors of a set: type, types that they may have, count and stages.
type Bindings<'a> = &'a [(T, &'a [T], u32, S)];

const LIMITS: u32 = 10;
const AFTER_BIND: vk::DescriptorSetLayoutCreateFlags = vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;

/// A pipeline layout of a set of `bindings` and one of nothing that may be updated after it was bound.
fn layout(separate: &Separate, bindings: Bindings<'_>, flags: vk::DescriptorSetLayoutCreateFlags) -> PipelineShape {
    let binding = |(binding, (kind, kinds, count, stages)): (usize, &(T, &[T], u32, S))| kept::Binding {
        binding: binding as u32,
        kind: *kind,
        count: *count,
        stages: *stages,
        flags: Default::default(),
        samplers: Vec::new(),
        kinds: kinds.to_vec(),
    };
    let bindings = bindings.iter().enumerate().map(binding).collect();
    let set = separate.shape_of(kept::SetLayout { flags, bindings }, |_| 0);
    separate.no_layout().with_set(separate.number(), Arc::clone(&set))
}

/// Limits that nothing exceeds.
fn wide() -> Limits {
    let most = Most { of_stage: [1000; 2], all: [1000; 2] };
    let (samplers, blocks, resources) = (most, most, most);
    Limits {
        sets: 4,
        samplers,
        blocks,
        resources,
        set_descriptors: 1000,
        colors: 8,
        host_types: 1,
        ..Limits::default()
    }
}

/// A limit, the descriptors that count towards it, and what is added.
struct Row {
    name: &'static str,
    limit: fn(&mut Limits) -> &mut u32,
    counts: &'static [T],
    /// Types that do not.
    others: &'static [T],
    added: T,
    of_stage: bool,
}

const RESOURCES: &[T] = &[
    T::COMBINED_IMAGE_SAMPLER,
    T::SAMPLED_IMAGE,
    T::STORAGE_IMAGE,
    T::UNIFORM_TEXEL_BUFFER,
    T::STORAGE_TEXEL_BUFFER,
    T::UNIFORM_BUFFER,
    T::STORAGE_BUFFER,
    T::UNIFORM_BUFFER_DYNAMIC,
    T::STORAGE_BUFFER_DYNAMIC,
    T::INPUT_ATTACHMENT,
];
const NO_SAMPLERS: &[T] = &[T::SAMPLED_IMAGE, T::UNIFORM_BUFFER, T::INLINE_UNIFORM_BLOCK, T::SAMPLE_WEIGHT_IMAGE_QCOM];
const NO_BLOCKS: &[T] = &[T::SAMPLER, T::STORAGE_BUFFER, T::INLINE_UNIFORM_BLOCK, T::ACCELERATION_STRUCTURE_KHR];

#[rustfmt::skip]
fn rows(after_bind: bool) -> Vec<Row> {
    let at: [fn(&mut Limits) -> &mut u32; 5] = if after_bind {
        [|it| &mut it.samplers.of_stage[1], |it| &mut it.samplers.all[1], |it| &mut it.blocks.of_stage[1],
            |it| &mut it.blocks.all[1], |it| &mut it.resources.of_stage[1]]
    } else {
        [|it| &mut it.samplers.of_stage[0], |it| &mut it.samplers.all[0], |it| &mut it.blocks.of_stage[0],
            |it| &mut it.blocks.all[0], |it| &mut it.resources.of_stage[0]]
    };
    let [stage_samplers, samplers, stage_blocks, blocks, resources] = at;
    let of_samplers = &[T::SAMPLER, T::COMBINED_IMAGE_SAMPLER];
    vec![
        Row { name: "maxPerStageDescriptorSamplers", limit: stage_samplers, counts: of_samplers, others: NO_SAMPLERS,
            added: T::SAMPLER, of_stage: true },
        Row { name: "maxDescriptorSetSamplers", limit: samplers, counts: of_samplers, others: NO_SAMPLERS,
            added: T::SAMPLER, of_stage: false },
        Row { name: "maxPerStageDescriptorUniformBuffers", limit: stage_blocks,
            counts: &[T::UNIFORM_BUFFER, T::UNIFORM_BUFFER_DYNAMIC], others: NO_BLOCKS, added: T::UNIFORM_BUFFER, of_stage: true },
        Row { name: "maxDescriptorSetUniformBuffers", limit: blocks, counts: &[T::UNIFORM_BUFFER],
            others: &[T::UNIFORM_BUFFER_DYNAMIC, T::SAMPLER, T::INLINE_UNIFORM_BLOCK], added: T::UNIFORM_BUFFER, of_stage: false },
        Row { name: "maxPerStageResources", limit: resources, counts: RESOURCES,
            others: &[T::SAMPLER, T::INLINE_UNIFORM_BLOCK, T::ACCELERATION_STRUCTURE_KHR], added: T::UNIFORM_BUFFER, of_stage: true },
    ]
}

#[test]
fn nothing_is_added_to_a_limit_that_is_full() {
    let separate = Separate::default();
    for after_bind in [false, true] {
        let flags = if after_bind { AFTER_BIND } else { Default::default() };
        for row in rows(after_bind) {
            let mut limits = wide();
            *(row.limit)(&mut limits) = LIMITS;
            let more = [More { kind: row.added, count: 1, stages: S::FRAGMENT }];
            let check = |bindings: Bindings<'_>, flags, colors| {
                limits.check(&layout(&separate, bindings, flags), &more, colors)
            };
            let (full, left) = (Err(NO_SAMPLER), Ok(()));
            for kind in row.counts {
                let name = format!("{} with {kind:?}, after bind: {after_bind}", row.name);
                assert_eq!(check(&[(*kind, &[], LIMITS, S::FRAGMENT)], flags, 0), full, "{name}");
                assert_eq!(check(&[(*kind, &[], LIMITS - 1, S::FRAGMENT)], flags, 0), left, "{name}");
                // Two bindings of it, and one of what counts beside it.
                let two = [(*kind, &[][..], LIMITS - 1, S::FRAGMENT), (row.counts[0], &[][..], 1, S::ALL)];
                assert_eq!(check(&two, flags, 0), full, "{name}");
                // Of several types it counts as each.
                let any = [(T::MUTABLE_EXT, &[*kind][..], LIMITS, S::ALL)];
                assert_eq!(check(&any, flags, 0), full, "{name}");
                // What another stage sees counts for all of them only.
                let elsewhere = check(&[(*kind, &[], LIMITS, S::VERTEX)], flags, 0);
                assert_eq!(elsewhere, if row.of_stage { left } else { full }, "{name}");
                // Of a set that may be updated after it was bound only the second limit knows.
                let other = check(&[(*kind, &[], LIMITS, S::FRAGMENT)], AFTER_BIND, 0);
                assert_eq!(other, if after_bind { full } else { left }, "{name}");
            }
            for kind in row.others {
                assert_eq!(check(&[(*kind, &[], 100, S::ALL)], flags, 0), left, "{} with {kind:?}", row.name);
            }
            let (count, of_colors) = (row.counts[0], row.name == "maxPerStageResources");
            let colors = check(&[(count, &[], LIMITS - 4, S::FRAGMENT)], flags, 4);
            assert_eq!(colors, if of_colors { full } else { left }, "{} and colour attachments", row.name);
            assert_eq!(check(&[(count, &[], LIMITS - 4, S::FRAGMENT)], flags, 3), left, "{} and fewer", row.name);
        }
    }
}

/// A set of the layer's own that may be updated after it was bound counts towards the second limits only.
#[test]
fn a_set_for_updates_after_the_bind_leaves_the_first_limits_alone() {
    let separate = Separate::default();
    let layout = layout(&separate, &[(T::SAMPLER, &[], LIMITS - 1, S::FRAGMENT)], Default::default());
    for after_bind in [false, true] {
        for row in rows(after_bind).into_iter().filter(|row| row.added == T::SAMPLER) {
            let mut limits = wide();
            *(row.limit)(&mut limits) = LIMITS;
            let check = |count, flags| {
                let more = [More { kind: T::SAMPLER, count, stages: S::FRAGMENT }];
                limits.check_with(&layout, &more, flags, 0)
            };
            let full = Err(NO_SAMPLER);
            assert_eq!([1, 2].map(|count| check(count, Default::default())), [Ok(()), full], "{}", row.name);
            let wanted = [Ok(()), if after_bind { full } else { Ok(()) }];
            assert_eq!([1, 2].map(|count| check(count, AFTER_BIND)), wanted, "{}", row.name);
        }
    }
}

#[test]
fn a_set_takes_a_number_and_holds_no_more_than_a_set_may() {
    let separate = Separate::default();
    let limits = Limits { sets: 2, set_descriptors: 3, ..wide() };
    let one = layout(&separate, &[(T::SAMPLER, &[], 1, S::ALL)], Default::default());
    let two = one.with_set(
        separate.number(),
        separate.shape_of(kept::SetLayout { flags: Default::default(), bindings: vec![] }, |_| 0),
    );
    let samplers = |count| [More { kind: T::SAMPLER, count, stages: S::ALL }];
    assert_eq!(limits.check(&one, &[], 0), Ok(()));
    assert_eq!(limits.check(&two, &[], 0), Err(NO_SET));
    assert_eq!(limits.check(&one, &samplers(3), 0), Ok(()));
    assert_eq!(limits.check(&one, &samplers(4), 0), Err(NO_SAMPLER));
    assert!(limits.has_room_for_block(&one, 0) && !limits.has_room_for_block(&two, 0));
    assert!(!Limits { host_types: 0, ..limits }.has_room_for_block(&one, 0), "without memory that the host writes");
}

#[test]
fn the_second_limit_is_the_greater_one() {
    let most = Most::new(16, 80, 4, 500_000);
    assert_eq!((most.of_stage, most.all), ([16, 16], [80, 500_000]));
}
