//! Layouts of sets and pipelines.

use ash::vk::{self, Handle};

use super::{dangling, same, types, unknown};
use crate::kept::{PipelineLayout, SetLayout};

const FLAGS: vk::DescriptorSetLayoutCreateFlags = vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
const LATE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
const NONE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::empty();

fn binding(number: u32, kind: vk::DescriptorType, count: u32) -> vk::DescriptorSetLayoutBinding<'static> {
    let stages = vk::ShaderStageFlags::FRAGMENT | vk::ShaderStageFlags::COMPUTE;
    vk::DescriptorSetLayoutBinding::default()
        .binding(number)
        .descriptor_type(kind)
        .descriptor_count(count)
        .stage_flags(stages)
}

fn keep(
    bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    flags: Option<&[vk::DescriptorBindingFlags]>,
    lists: Option<&[vk::MutableDescriptorTypeListEXT<'_>]>,
) -> SetLayout {
    let mut info = vk::DescriptorSetLayoutCreateInfo::default().flags(FLAGS).bindings(bindings);
    let mut flags_node = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default();
    let mut lists_node = vk::MutableDescriptorTypeCreateInfoEXT::default();
    if let Some(flags) = flags {
        flags_node = flags_node.binding_flags(flags);
        info = info.push_next(&mut flags_node);
    }
    if let Some(lists) = lists {
        lists_node = lists_node.mutable_descriptor_type_lists(lists);
        info = info.push_next(&mut lists_node);
    }
    // SAFETY: everything lives on this stack frame or the caller's.
    unsafe { SetLayout::new(&info) }.expect("nothing unknown is chained")
}

#[test]
fn a_set_layout_comes_back_member_by_member() {
    let samplers = [vk::Sampler::from_raw(0x51), vk::Sampler::from_raw(0x52)];
    let types_of = [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::SAMPLED_IMAGE];
    let given = [
        binding(7, vk::DescriptorType::SAMPLER, 2).immutable_samplers(&samplers),
        binding(2, vk::DescriptorType::MUTABLE_EXT, 3),
        binding(4, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 5),
    ];
    let lists = [
        vk::MutableDescriptorTypeListEXT::default(),
        vk::MutableDescriptorTypeListEXT::default().descriptor_types(&types_of),
    ];
    let kept = keep(&given, Some(&[NONE, LATE, NONE]), Some(&lists));
    kept.with_create_info(|info| {
        assert_eq!((info.flags, info.binding_count), (FLAGS, 3));
        // SAFETY: there are three.
        let back = unsafe { std::slice::from_raw_parts(info.p_bindings, 3) };
        for (back, given) in back.iter().zip([&given[1], &given[2], &given[0]]) {
            same!(back, given; binding, descriptor_type, descriptor_count, stage_flags);
        }
        assert!(back[0].p_immutable_samplers.is_null() && back[1].p_immutable_samplers.is_null());
        assert_ne!(back[2].p_immutable_samplers, samplers.as_ptr(), "a copy");
        // SAFETY: two were given.
        assert_eq!(unsafe { std::slice::from_raw_parts(back[2].p_immutable_samplers, 2) }, samplers);
        // SAFETY: the chain lives as long as the call.
        let (flags, mutable) = unsafe {
            (
                crate::pnext::find::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>(info.p_next).unwrap(),
                crate::pnext::find::<vk::MutableDescriptorTypeCreateInfoEXT<'_>>(info.p_next).unwrap(),
            )
        };
        // SAFETY: as many as bindings (VUID-VkDescriptorSetLayoutBindingFlagsCreateInfo-bindingCount-03002).
        assert_eq!(unsafe { std::slice::from_raw_parts(flags.p_binding_flags, 3) }, [LATE, NONE, NONE]);
        assert_eq!((flags.binding_count, mutable.mutable_descriptor_type_list_count), (3, 3));
        // SAFETY: three lists, and two types in the first.
        let list = unsafe { &*mutable.p_mutable_descriptor_type_lists };
        assert_eq!(list.descriptor_type_count, 2);
        // SAFETY: the first list has two types.
        let kinds = unsafe { std::slice::from_raw_parts(list.p_descriptor_types, 2) };
        assert!(types_of.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        // SAFETY: it is valid.
        assert_eq!(unsafe { SetLayout::new(info) }.as_ref(), Some(&kept));
    });
    assert!(kept.bytes() >= 3 * size_of::<crate::kept::Binding>() + size_of_val(&samplers) + size_of_val(&types_of));
}

#[test]
fn order_and_zeros_do_not_matter_and_everything_else_does() {
    let samplers = [vk::Sampler::from_raw(0x51), vk::Sampler::from_raw(0x52)];
    let first = binding(0, vk::DescriptorType::SAMPLER, 2).immutable_samplers(&samplers);
    let second = binding(1, vk::DescriptorType::SAMPLED_IMAGE, 1);
    let kept = keep(&[first, second], None, None);
    let hash = |layout: &SetLayout| {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        layout.hash(&mut hasher);
        hasher.finish()
    };
    let moved = samplers;
    let same = [
        keep(&[second, first], None, None),
        keep(&[first, second], Some(&[NONE, NONE]), None),
        keep(&[first, second], Some(&[]), Some(&[])),
        keep(&[first.immutable_samplers(&moved), second], None, None),
    ];
    for same in same {
        assert_eq!(same, kept);
        assert_eq!(hash(&same), hash(&kept));
    }
    let swapped = [samplers[1], samplers[0]];
    let unlike = [
        keep(&[first], None, None),
        keep(&[first, second.binding(2)], None, None),
        keep(&[first, second.descriptor_type(vk::DescriptorType::STORAGE_IMAGE)], None, None),
        keep(&[first, second.descriptor_count(2)], None, None),
        keep(&[first, second.stage_flags(vk::ShaderStageFlags::ALL)], None, None),
        keep(&[first.immutable_samplers(&swapped), second], None, None),
        keep(&[binding(0, vk::DescriptorType::SAMPLER, 2), second], None, None),
        keep(&[first, second], Some(&[NONE, LATE]), None),
    ];
    for unlike in unlike {
        assert_ne!(unlike, kept);
    }
    // SAFETY: nothing is led to.
    let (plain, flagged) = unsafe {
        let info = vk::DescriptorSetLayoutCreateInfo::default();
        (SetLayout::new(&info), SetLayout::new(&info.flags(FLAGS)))
    };
    assert_ne!(plain, flagged);
}

#[test]
fn types_of_a_mutable_binding_are_a_set() {
    let kinds = [vk::DescriptorType::SAMPLED_IMAGE, vk::DescriptorType::STORAGE_BUFFER];
    let (there, back) = (kinds, [kinds[1], kinds[0]]);
    let [there, back, one] = [&there[..], &back[..], &kinds[..1]].map(|kinds| {
        let list = vk::MutableDescriptorTypeListEXT::default().descriptor_types(kinds);
        keep(&[binding(0, vk::DescriptorType::MUTABLE_EXT, 1)], None, Some(&[list]))
    });
    assert_eq!(there, back);
    assert_ne!(there, one);
}

#[test]
fn ignored_members_of_a_set_layout_are_not_read() {
    let mut given = [binding(0, vk::DescriptorType::UNIFORM_BUFFER, 4), binding(1, vk::DescriptorType::SAMPLER, 0)];
    given[0].p_immutable_samplers = dangling();
    given[1].p_immutable_samplers = dangling();
    let list = vk::MutableDescriptorTypeListEXT {
        descriptor_type_count: 0,
        p_descriptor_types: dangling(),
        ..Default::default()
    };
    let kept = keep(&given, None, Some(&[list]));
    assert!(kept.bindings.iter().all(|binding| binding.samplers.is_empty() && binding.kinds.is_empty()));
    kept.with_create_info(|info| {
        assert!(info.p_next.is_null(), "nothing has to be said");
        // SAFETY: there are two.
        let back = unsafe { std::slice::from_raw_parts(info.p_bindings, 2) };
        assert!(back.iter().all(|binding| binding.p_immutable_samplers.is_null()));
    });
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo { p_binding_flags: dangling(), ..Default::default() };
    let mut info = vk::DescriptorSetLayoutCreateInfo::default().push_next(&mut flags);
    info.p_bindings = dangling();
    // SAFETY: all counts are 0.
    assert!(unsafe { SetLayout::new(&info) }.is_some());
}

#[test]
fn what_is_unknown_is_not_kept() {
    let node = unknown();
    let p_next = (&raw const node).cast();
    let flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo { p_next, ..Default::default() };
    let info = vk::DescriptorSetLayoutCreateInfo::default();
    for p_next in [(&raw const node).cast(), (&raw const flags).cast()] {
        // SAFETY: the nodes live on this stack frame.
        assert!(unsafe { SetLayout::new(&vk::DescriptorSetLayoutCreateInfo { p_next, ..info }) }.is_none());
    }
    let info = vk::PipelineLayoutCreateInfo { p_next: (&raw const node).cast(), ..Default::default() };
    // SAFETY: the node lives on this stack frame.
    assert!(unsafe { PipelineLayout::new(&info) }.is_none());
}

#[test]
fn a_pipeline_layout_comes_back_over_other_sets() {
    let ranges = [
        vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::VERTEX, offset: 0, size: 16 },
        vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::FRAGMENT, offset: 16, size: 8 },
    ];
    let flags = vk::PipelineLayoutCreateFlags::INDEPENDENT_SETS_EXT;
    let mut info = vk::PipelineLayoutCreateInfo::default().flags(flags).push_constant_ranges(&ranges);
    // Somebody else's.
    (info.set_layout_count, info.p_set_layouts) = (3, dangling());
    // SAFETY: it is valid but for what is not read.
    let kept = unsafe { PipelineLayout::new(&info) }.unwrap();
    let sets = [vk::DescriptorSetLayout::from_raw(0x61), vk::DescriptorSetLayout::from_raw(0x62)];
    kept.with_create_info(&sets, |info| {
        assert_eq!((info.flags, info.push_constant_range_count, info.set_layout_count), (flags, 2, 2));
        // SAFETY: two each.
        let (back, over) = unsafe {
            (
                std::slice::from_raw_parts(info.p_push_constant_ranges, 2),
                std::slice::from_raw_parts(info.p_set_layouts, 2),
            )
        };
        for (back, given) in back.iter().zip(&ranges) {
            same!(back, given; stage_flags, offset, size);
        }
        assert_eq!(over, sets);
        // SAFETY: nothing is chained.
        assert_eq!(unsafe { types(info.p_next) }, []);
    });
    assert_eq!(kept.bytes(), size_of_val(&ranges));
}
