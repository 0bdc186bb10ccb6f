//! Rules of the words of a module, on a device that has what is said of it.
//!
//! The words are read by a reader of its own, which knows the opcodes that the statements name and passes over all others.

use std::collections::BTreeMap;

/// What of a device these rules depend on.
#[derive(Clone, Copy, Debug)]
pub struct ModuleDevice {
    /// `sampleRateShading` is enabled.
    pub sample_rate_shading: bool,
    /// `maxSampleMaskWords`.
    pub max_sample_mask_words: u32,
    /// `shaderStorageImageReadWithoutFormat` and `-WriteWithoutFormat` are enabled.
    pub without_format: [bool; 2],
    /// Vulkan 1.3 or `VK_KHR_format_feature_flags2`, by which both capabilities may be declared in any case.
    pub format_feature_flags2: bool,
}

const CAPABILITY: &str = "VUID-VkShaderModuleCreateInfo-pCode-08740";

/// Rules that a module breaks, each once, with where each stands. Words that are no SPIR-V break none.
pub fn module_violations(words: &[u32], device: &ModuleDevice) -> Vec<(&'static str, &'static str)> {
    let mut broken = Vec::new();
    let mut check = |id, source, illegal: bool| {
        if illegal && !broken.contains(&(id, source)) {
            broken.push((id, source));
        }
    };
    let module = Declared::read(words);
    for capability in &module.capabilities {
        match capability {
            // "SampleRateShading" and "InterpolationFunction" are enabled by "sampleRateShading" (Capabilities).
            35 | 52 => check("J-2", CAPABILITY, !device.sample_rate_shading),
            // "AtomicStorage" and "AtomicStorageOps" are in no row of the table.
            21 | 4445 => check("K-1", CAPABILITY, true),
            // Either by a feature, by version 1.3, or by the extension.
            55 | 56 => {
                let has = device.without_format[*capability as usize - 55] || device.format_feature_flags2;
                check("H-3", CAPABILITY, !has);
            }
            _ => {}
        }
    }
    // "The OriginLowerLeft execution mode must not be used", "PixelCenterInteger must not be used".
    check("K-1", "VUID-StandaloneSpirv-OriginLowerLeft-04653", module.modes.contains(&8));
    check("K-1", "VUID-StandaloneSpirv-PixelCenterInteger-04654", module.modes.contains(&6));
    for (id, pointee) in &module.variables {
        // "If the identified entry point has any variable with a BuiltIn of SampleMask, it must be an array of at most
        // maxSampleMaskWords elements"
        let is_mask = module.decorations.contains(&(*id, 11, 20));
        let length = module.arrays.get(pointee).and_then(|(_, length)| module.constants.get(length));
        let source = "VUID-VkPipelineShaderStageCreateInfo-maxSampleMaskWords-00711";
        check("J-4", source, is_mask && length.is_some_and(|length| *length > device.max_sample_mask_words));
        // "any variable created with OpTypeImage with an Image Format of Unknown and Sampled 2 must be decorated with NonReadable"
        // where shaderStorageImageReadWithoutFormat is not enabled, "NonWritable" for writing.
        let element = module.arrays.get(pointee).map_or(*pointee, |(element, _)| *element);
        if !module.formatless.contains(&element) || device.format_feature_flags2 {
            continue;
        }
        let said = |decoration| module.decorations.iter().any(|(of, which, _)| (of, which) == (id, &decoration));
        check("H-3", "VUID-RuntimeSpirv-apiVersion-07955", !device.without_format[0] && !said(25));
        check("H-3", "VUID-RuntimeSpirv-apiVersion-07954", !device.without_format[1] && !said(24));
    }
    broken
}

/// What stands in front of the functions.
#[derive(Default)]
struct Declared {
    capabilities: Vec<u32>,
    modes: Vec<u32>,
    /// Id, decoration and its first operand or 0.
    decorations: Vec<(u32, u32, u32)>,
    constants: BTreeMap<u32, u32>,
    /// Element and id of the length; 0 without one.
    arrays: BTreeMap<u32, (u32, u32)>,
    pointees: BTreeMap<u32, u32>,
    /// Types of storage images without a format, but for those of the framebuffer.
    formatless: Vec<u32>,
    /// Ids and the types that they point to.
    variables: Vec<(u32, u32)>,
}

impl Declared {
    fn read(words: &[u32]) -> Self {
        let mut declared = Self::default();
        let mut rest = words.get(5..).unwrap_or_default();
        while let Some(first) = rest.first() {
            let length = (first >> 16) as usize;
            let Some(instruction) = rest.get(..length).filter(|it| !it.is_empty()) else { break };
            let word = |n: usize| instruction.get(n).copied().unwrap_or(0);
            match first & 0xffff {
                17 => declared.capabilities.push(word(1)),
                16 => declared.modes.push(word(2)),
                71 => declared.decorations.push((word(1), word(2), word(3))),
                43 => _ = declared.constants.insert(word(2), word(3)),
                28 => _ = declared.arrays.insert(word(1), (word(2), word(3))),
                29 => _ = declared.arrays.insert(word(1), (word(2), 0)),
                32 => _ = declared.pointees.insert(word(1), word(3)),
                // SubpassData is dimension 6.
                25 if word(7) == 2 && word(8) == 0 && word(3) != 6 => declared.formatless.push(word(1)),
                59 => {
                    let pointee = declared.pointees.get(&word(1)).copied().unwrap_or(0);
                    declared.variables.push((word(2), pointee));
                }
                54 => break,
                _ => {}
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        declared
    }
}
