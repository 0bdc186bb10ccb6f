//! Every structure that the table has, in one chain.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use ash::vk::{self, Handle};
use vk_layer_sys::sizes::{self, Array, PIPELINE};

use super::types;
use crate::kept::{Context, Graphics};
use crate::pnext::{self, Base};
use samplin_core::left::Left;

/// How many elements each array has.
const COUNT: usize = 3;

/// A structure full of a pattern, with arrays full of others.
struct Node {
    words: Vec<MaybeUninit<u64>>,
    flat: sizes::Flat,
    arrays: Vec<(Array, Vec<u8>)>,
}

impl Node {
    fn new(s_type: vk::StructureType, seed: u8) -> Self {
        let flat = sizes::in_pipeline(s_type).unwrap();
        let mut words = vec![MaybeUninit::new(u64::from_ne_bytes([seed; 8])); flat.size.div_ceil(8)];
        let at = words.as_mut_ptr().cast::<u8>();
        // SAFETY: it is as large as the table says, and a multiple of 8 bytes.
        unsafe { at.cast::<Base>().write(Base { s_type, p_next: ptr::null() }) };
        let mut arrays = Vec::new();
        for (number, array) in flat.arrays().enumerate() {
            let count = if array.count.is_some() { COUNT } else { 1 };
            let elements = vec![seed.wrapping_add(number as u8 + 1); array.element * count];
            let pointer = if array.element == 0 { ptr::null() } else { elements.as_ptr() };
            // SAFETY: the table's offsets lie inside, which its own test checks.
            unsafe {
                at.add(array.pointer).cast::<*const u8>().write(pointer);
                if let Some(offset) = array.count {
                    at.add(offset).cast::<u32>().write(COUNT as u32);
                }
            }
            arrays.push((array, elements));
        }
        Self { words, flat, arrays }
    }

    /// Compares byte by byte, but for pointers.
    ///
    /// # Safety
    ///
    /// `back` is a node of the same type.
    unsafe fn compare(&self, back: *const Base) {
        let own = self.words.as_ptr().cast::<u8>();
        let mut pointers = vec![std::mem::offset_of!(Base, p_next)];
        pointers.extend(self.arrays.iter().map(|(array, _)| array.pointer));
        for offset in 0..self.flat.size {
            if pointers.iter().any(|at| (*at..at + size_of::<usize>()).contains(&offset)) {
                continue;
            }
            // SAFETY: both have this size, and all of it was written.
            let (own, back) = unsafe { (*own.add(offset), *back.cast::<u8>().add(offset)) };
            assert_eq!(own, back, "byte {offset}");
        }
        for (array, elements) in &self.arrays {
            // SAFETY: the table's offset.
            let to = unsafe { *back.byte_add(array.pointer).cast::<*const u8>() };
            if array.element == 0 {
                assert!(to.is_null());
                continue;
            }
            assert_ne!(to, elements.as_ptr(), "a copy");
            // SAFETY: a copy of as many elements.
            assert_eq!(unsafe { std::slice::from_raw_parts(to, elements.len()) }, elements);
        }
    }
}

fn keep(p_next: *const c_void, render_pass: vk::RenderPass) -> Result<Graphics, Left> {
    let info = vk::GraphicsPipelineCreateInfo { p_next, render_pass, ..Default::default() };
    // SAFETY: the caller's chain, and nothing else.
    unsafe { Graphics::new(&info, Context::default()) }
}

#[test]
fn every_structure_comes_back_byte_by_byte() {
    let refused = [
        vk::StructureType::GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        vk::StructureType::PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT,
        // Loses flags, for which there is a test of its own.
        vk::StructureType::PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR,
    ];
    let all = PIPELINE.iter().map(|row| vk::StructureType::from_raw(row.0)).filter(|of| !refused.contains(of));
    let mut nodes: Vec<Node> = all.enumerate().map(|(seed, s_type)| Node::new(s_type, 4 * seed as u8 + 1)).collect();
    assert_eq!(nodes.len(), PIPELINE.len() - refused.len());
    let mut next = ptr::null::<c_void>();
    for node in nodes.iter_mut().rev() {
        let base = node.words.as_mut_ptr().cast::<Base>();
        // SAFETY: every node starts with a base.
        unsafe { (*base).p_next = next };
        next = base.cast_const().cast();
    }
    // SAFETY: the chain lives on this stack frame.
    let given = unsafe { types(next) };
    let kept = keep(next, vk::RenderPass::null()).unwrap();
    kept.with_create_info(
        vk::PipelineLayout::null(),
        vk::RenderPass::null(),
        |_| vk::ShaderModule::null(),
        |info| {
            // SAFETY: what is handed out lives as long as the call.
            unsafe {
                assert_eq!(types(info.p_next), given);
                for (node, back) in nodes.iter().zip(pnext::chain(info.p_next)) {
                    node.compare(back);
                }
            }
        },
    );
    let led_to: usize = nodes.iter().flat_map(|node| &node.arrays).map(|(_, elements)| elements.len()).sum();
    let of_nodes: usize = nodes.iter().map(|node| node.flat.size).sum();
    assert!(kept.bytes() > led_to + of_nodes);

    // With a render pass three of them are ignored, and of two it is not said whether their arrays may dangle then.
    let pass = vk::RenderPass::from_raw(1);
    assert_eq!(keep(next, pass).err(), Some(Left::PipelineChain));
    let of_local_reads = [
        vk::StructureType::RENDERING_ATTACHMENT_LOCATION_INFO_KHR,
        vk::StructureType::RENDERING_INPUT_ATTACHMENT_INDEX_INFO_KHR,
    ];
    for node in nodes.iter_mut() {
        let at = node.words.as_mut_ptr().cast::<u8>();
        // SAFETY: the node is as large as the table says, and starts with a base.
        unsafe {
            if of_local_reads.contains(&(*at.cast::<Base>()).s_type) {
                node.flat.arrays().for_each(|array| at.add(array.pointer).cast::<*const u8>().write(ptr::null()));
            }
        }
    }
    let kept = keep(next, pass).unwrap();
    kept.with_create_info(
        vk::PipelineLayout::null(),
        vk::RenderPass::null(),
        |_| vk::ShaderModule::null(),
        // SAFETY: the create info and its chain live during the call.
        |info| assert_eq!(unsafe { types(info.p_next) }.len(), given.len() - 3),
    );
}

/// Arrays of chained structures that a dynamic state has ignored.
#[test]
fn arrays_that_are_dynamic_are_not_read() {
    use vk::{DynamicState as Dynamic, StructureType as Type};
    for (s_type, state) in [
        (Type::PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT, Dynamic::DISCARD_RECTANGLE_EXT),
        (Type::PIPELINE_VIEWPORT_W_SCALING_STATE_CREATE_INFO_NV, Dynamic::VIEWPORT_W_SCALING_NV),
        (Type::PIPELINE_VIEWPORT_SWIZZLE_STATE_CREATE_INFO_NV, Dynamic::VIEWPORT_SWIZZLE_NV),
        (Type::PIPELINE_VIEWPORT_EXCLUSIVE_SCISSOR_STATE_CREATE_INFO_NV, Dynamic::EXCLUSIVE_SCISSOR_NV),
        (Type::PIPELINE_COVERAGE_MODULATION_STATE_CREATE_INFO_NV, Dynamic::COVERAGE_MODULATION_TABLE_NV),
        (Type::from_raw(1_000_582_001), Dynamic::from_raw(1_000_582_000)),
        (Type::PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT, Dynamic::SAMPLE_LOCATIONS_EXT),
        (Type::PIPELINE_COLOR_WRITE_CREATE_INFO_EXT, Dynamic::COLOR_WRITE_ENABLE_EXT),
    ] {
        let mut node = Node::new(s_type, 9);
        let at = node.words.as_mut_ptr().cast::<u8>();
        for array in node.flat.arrays() {
            // SAFETY: the table's offset.
            unsafe { at.add(array.pointer).cast::<*const u8>().write(super::dangling()) };
        }
        let states = [state];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let info = vk::GraphicsPipelineCreateInfo { p_next: at.cast(), ..Default::default() }.dynamic_state(&dynamic);
        // SAFETY: valid but for what is ignored.
        let kept = unsafe { Graphics::new(&info, Context::default()) }.unwrap();
        kept.with_create_info(
            vk::PipelineLayout::null(),
            vk::RenderPass::null(),
            |_| vk::ShaderModule::null(),
            |info| {
                // SAFETY: the create info and its chain live during the call; the table's offset.
                let is_null =
                    |array: Array| unsafe { (*info.p_next.byte_add(array.pointer).cast::<*const u8>()).is_null() };
                assert!(node.flat.arrays().all(is_null), "{s_type:?}");
            },
        );
    }
}
