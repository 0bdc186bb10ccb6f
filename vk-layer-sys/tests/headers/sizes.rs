//! The sizes that `scripts/structure-sizes` computed against those of the bindings and of a C compiler with the installed header.

use std::fmt::Write as _;
use std::mem::{align_of, size_of};

use ash::vk::{self, TaggedStructure};
use vk_layer_sys::sizes::{self, COLUMNS, ONE, PIPELINE, TABLE};

use crate::compiler::compile;
use crate::names::{self, NAMES};

#[test]
fn the_table_is_sorted_and_every_structure_holds_its_base() {
    assert!(TABLE.windows(2).all(|rows| rows[0].0 < rows[1].0));
    for ((s_type, columns), (_, names)) in TABLE.iter().zip(&NAMES) {
        for ((pointer, _), size) in COLUMNS.iter().zip(columns) {
            let (pointer, size) = (*pointer, usize::from(*size));
            assert!(size > 2 * pointer && size % pointer == 0, "{s_type} {names:?}: {size}");
        }
    }
    assert!(PIPELINE.windows(2).all(|rows| rows[0].0 < rows[1].0));
    for ((_, columns, arrays), (_, names, paths)) in PIPELINE.iter().zip(&names::PIPELINE) {
        assert_eq!(arrays.len(), paths.len(), "{names:?}");
        for (column, (pointer, _)) in COLUMNS.iter().enumerate() {
            let inside = |at: u16, width: usize| usize::from(at) + width <= usize::from(columns[column]);
            for (at, count, _) in arrays.iter().map(|array| array[column]) {
                assert!(inside(at, *pointer) && (count == ONE || inside(count, 4)), "{names:?}");
            }
        }
    }
}

#[test]
fn arrays_are_found_by_type() {
    use std::mem::offset_of;
    type Rendering = vk::PipelineRenderingCreateInfo<'static>;
    let found = sizes::in_pipeline(Rendering::STRUCTURE_TYPE).unwrap();
    let own = sizes::Array {
        pointer: offset_of!(Rendering, p_color_attachment_formats),
        count: Some(offset_of!(Rendering, color_attachment_count)),
        element: size_of::<vk::Format>(),
    };
    assert_eq!(found.arrays().collect::<Vec<_>>(), [own]);
    // Handles, what is written to, addresses, nested pointers.
    for s_type in [
        vk::PipelineLibraryCreateInfoKHR::STRUCTURE_TYPE,
        vk::PipelineCreationFeedbackCreateInfo::STRUCTURE_TYPE,
        vk::ComputePipelineIndirectBufferInfoNV::STRUCTURE_TYPE,
        vk::PipelineViewportShadingRateImageStateCreateInfoNV::STRUCTURE_TYPE,
        vk::SamplerCreateInfo::STRUCTURE_TYPE,
    ] {
        assert!(sizes::in_pipeline(s_type).is_none(), "{s_type:?}");
    }
}

/// A structure of a provisional extension that has a member more since the bindings were made. With pointers of 64 bits it fits where
/// nothing was.
const GROWN: &str = "PhysicalDeviceShaderEnqueueFeaturesAMDX";

#[test]
fn sizes_are_those_of_the_bindings() {
    let mut compared = 0;
    macro_rules! compare {
        ($($type:ident,)+) => {
            $(
                let own = Some(size_of::<vk::$type<'static>>());
                let of = sizes::of(vk::$type::STRUCTURE_TYPE);
                let has_grown = stringify!($type) == GROWN && of > own;
                assert!(of == own || has_grown, "{}: {of:?} and {own:?}", stringify!($type));
                compared += 1;
            )+
        };
    }
    names::in_ash!(compare);
    assert!(compared > 200, "{compared} of {} are compared", TABLE.len());
    let before = compared;
    macro_rules! compare_in_pipelines {
        ($($type:ident,)+) => {
            $(
                let own = Some(size_of::<vk::$type<'static>>());
                assert_eq!(sizes::in_pipeline(vk::$type::STRUCTURE_TYPE).map(|of| of.size), own, stringify!($type));
                compared += 1;
            )+
        };
    }
    names::pipeline_in_ash!(compare_in_pipelines);
    assert!(compared - before > 30, "{} of {} are compared", compared - before, PIPELINE.len());
    // Younger than the bindings, and the loader's own.
    macro_rules! younger {
        ($($type:ident)+) => {
            $(assert_eq!(sizes::of(vk_layer_sys::$type::STRUCTURE_TYPE), Some(size_of::<vk_layer_sys::$type>()));)+
        };
    }
    younger!(ImageCreateFlags2CreateInfoKHR ImageUsageFlags2CreateInfoKHR ImageViewUsage2CreateInfoKHR ImageStencilUsage2CreateInfoKHR);
    let loader = size_of::<vk_layer_sys::LayerDeviceCreateInfo>();
    assert_eq!(sizes::of(vk::StructureType::LOADER_DEVICE_CREATE_INFO), Some(loader));
    // What cannot stand in these chains, and what nobody knows.
    for s_type in [vk::BufferCreateInfo::STRUCTURE_TYPE, vk::StructureType::from_raw(0x7fff_0001)] {
        assert_eq!(sizes::of(s_type), None);
    }
}

const INCLUDES: &str = "#define VK_ENABLE_BETA_EXTENSIONS\n#include <stddef.h>\n#include <vulkan/vulkan.h>\n";

/// Compares column `column` with what the compiler makes of the installed header; `wrong` is added to every size, to see that it
/// looks. Returns the number of structures that the header has, and the compiler's complaints.
fn probe(column: usize, arguments: &[&str], wrong: u16) -> (usize, Vec<String>) {
    let (_, rule, errors) = compile(&["-M"], INCLUDES);
    let headers: String = rule
        .split_whitespace()
        .filter(|word| word.ends_with("/vulkan_core.h") || word.ends_with("/vulkan_beta.h"))
        .map(|path| std::fs::read_to_string(path).expect("what the compiler read can be read"))
        .collect();
    assert!(!headers.is_empty(), "this test needs the Vulkan headers (Debian: libvulkan-dev): {errors}");
    let words: std::collections::HashSet<&str> =
        headers.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut source = INCLUDES.to_owned();
    let mut found = 0;
    for ((value, sizes), (s_type, names)) in TABLE.iter().zip(&NAMES) {
        let Some(name) = names.iter().find(|name| words.contains(**name)) else { continue };
        found += 1;
        writeln!(source, "_Static_assert(sizeof({name}) == {}, \"{name}\");", sizes[column] + wrong).unwrap();
        if words.contains(s_type) {
            writeln!(source, "_Static_assert({s_type} == {value}, \"{s_type}\");").unwrap();
        }
    }
    for ((value, sizes, arrays), (s_type, names, paths)) in PIPELINE.iter().zip(&names::PIPELINE) {
        let Some(name) = names.iter().find(|name| words.contains(**name)) else { continue };
        found += 1;
        let mut wants = vec![format!("sizeof({name}) == {}", sizes[column] + wrong)];
        for (array, (pointer, count)) in arrays.iter().zip(*paths) {
            let (at, count_at, size) = array[column];
            wants.push(format!("offsetof({name}, {pointer}) == {at}"));
            if count_at != ONE {
                wants.push(format!("offsetof({name}, {count}) == {count_at}"));
            }
            if size != 0 {
                wants.push(format!("sizeof(*(({name}*)0)->{pointer}) == {size}"));
            }
        }
        writeln!(source, "_Static_assert({}, \"{name}\");", wants.join(" && ")).unwrap();
        if words.contains(s_type) {
            writeln!(source, "_Static_assert({s_type} == {value}, \"{s_type}\");").unwrap();
        }
    }
    let (compiled, _, errors) = compile(&[&["-fsyntax-only"], arguments].concat(), &source);
    let complaints: Vec<String> = errors.lines().filter(|line| line.contains("error")).map(str::to_owned).collect();
    assert_eq!(compiled, complaints.is_empty(), "{errors}");
    (found, complaints)
}

#[test]
fn sizes_are_those_of_the_c_header() {
    let column = COLUMNS.iter().position(|of| *of == (size_of::<usize>(), align_of::<u64>())).unwrap();
    let (found, complaints) = probe(column, &[], 0);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(found > 150, "the header has {found} of {}", TABLE.len());
    let (found, complaints) = probe(column, &[], 1);
    assert_eq!(complaints.len(), found, "the compiler compares each of them");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn sizes_with_32_bit_pointers_are_those_of_the_c_header() {
    // Only parsed, not linked, so no 32-bit libraries are needed; the second puts 64-bit numbers on 8 bytes, as ARM does.
    for (column, arguments) in
        [(2, &["-m32", "-ffreestanding"][..]), (1, &["-m32", "-malign-double", "-ffreestanding"][..])]
    {
        let (found, complaints) = probe(column, arguments, 0);
        assert!(complaints.is_empty(), "{:?}: {}", COLUMNS[column], complaints.join("\n"));
        assert!(found > 150, "the header has {found} of {}", TABLE.len());
        assert_eq!(probe(column, arguments, 1).1.len(), found, "the compiler compares each of them");
    }
}
