//! Why a change was made and what it loses, in words.

use ash::vk;

use super::{Aspect, Catalog, Change, DeviceCaps, Field, Reads, Value, ViewTraits};
use crate::budget;
use crate::features::Tiling;
use crate::names;

const RANGE_CLAMP: Value = Value::ReductionMode(vk::SamplerReductionMode::WEIGHTED_AVERAGE_RANGECLAMP_QCOM);
const BORDER: Value = Value::AddressMode(vk::SamplerAddressMode::CLAMP_TO_BORDER);

/// What a change was decided against, for the wording of its reason.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The device.
    pub caps: &'a DeviceCaps,
    /// The view, if one took part.
    pub view: Option<&'a ViewTraits>,
    /// Format of a blit's source image.
    pub source: Option<vk::Format>,
    /// Tiling whose features were looked at.
    pub tiling: Tiling,
    /// Shaders are made to saturate coordinates (`Decision::saturate`).
    pub saturates: bool,
    /// Shaders are made to filter (`Decision::emulate`).
    pub emulates: bool,
    /// Shaders are made to divide coordinates in texels.
    pub divides: bool,
    /// The sampler that was asked for is LINEAR between levels.
    pub trilinear: bool,
    /// Magnification and minification are LINEAR, by the sampler of the pair or by the shader.
    pub linear: [bool; 2],
    /// All that the shader does with the pair is gather, which reads four texels whatever the filter is.
    pub gathers: bool,
}

impl<'a> Context<'a> {
    /// The device, and nothing else.
    pub fn new(caps: &'a DeviceCaps) -> Self {
        Self {
            caps,
            view: None,
            source: None,
            tiling: Tiling::Optimal,
            saturates: false,
            emulates: false,
            divides: false,
            trilinear: false,
            linear: [false; 2],
            gathers: false,
        }
    }
}

/// Whether a change of the LOD is what a shader makes up for.
fn is_of_shader(change: &Change) -> bool {
    matches!(change.field, Field::MipLodBias | Field::MinLod | Field::MaxLod)
}

fn is_cube(view: &ViewTraits) -> bool {
    view.dimensions() == super::Dimensions::Cube
}

/// Why a variant has no custom border colour.
pub fn no_border_share(caps: &DeviceCaps) -> String {
    let limit = caps.max_custom_border_color_samplers;
    format!(
        "a variant takes the place that its own sampler left, or one of the {} that variants share of \
         maxCustomBorderColorSamplers, {limit}",
        budget::share(limit)
    )
}

/// What there is to say of a comparison that stays.
fn compared(context: &Context<'_>) -> &'static str {
    match context.view.map(|view| view.reads) {
        Some(Reads::Compared) => {
            ", and a shader compares with it. That is as undefined without compareEnable, so the sampler stays as it is; use a depth \
             format, or compare in the shader"
        }
        _ => {
            ". Whether a shader compares is not known here, so the sampler stays as it is; use a depth format, or a sampler without \
             compareEnable if no shader compares"
        }
    }
}

/// Why a rule applied, in one clause with the facts of the case.
pub fn because(change: &Change, context: &Context<'_>) -> String {
    let caps = context.caps;
    let format = context.view.map(|view| view.format).or(context.source).map_or_else(String::new, names::format);
    let lacks = |bit: &str| format!("{format} lacks {bit} ({})", context.tiling.name());
    let not_enabled = |feature: &str| format!("{feature} is not enabled");
    let divided = |rule: &str| format!("unnormalized coordinates {rule}, so the shader normalizes them");
    match change.catalog {
        Catalog::A1Mag | Catalog::A1Min => {
            if change.from == Value::Filter(vk::Filter::CUBIC_EXT) {
                "neither VK_EXT_filter_cubic nor VK_IMG_filter_cubic is enabled".into()
            } else {
                "the value is not a VkFilter".into()
            }
        }
        Catalog::A1Mip => "the value is not a VkSamplerMipmapMode".into(),
        Catalog::A2 if matches!(change.from, Value::Float(bias) if bias.is_nan()) => "the bias is not a number".into(),
        Catalog::A2 => format!("maxSamplerLodBias is {}", caps.max_sampler_lod_bias),
        Catalog::A3 => not_enabled("samplerMipLodBias"),
        Catalog::A4 => "maxLod is less than minLod, or one of them is not a number".into(),
        Catalog::A5 => not_enabled("samplerAnisotropy"),
        Catalog::A6 => {
            format!("maxAnisotropy must be within 1 and maxSamplerAnisotropy, {}", caps.max_sampler_anisotropy)
        }
        Catalog::A7 => "CUBIC and anisotropy exclude each other".into(),
        Catalog::A10 => "unnormalized coordinates need equal min and mag filters".into(),
        Catalog::A11 => "unnormalized coordinates need mipmapMode NEAREST".into(),
        Catalog::A12 => "unnormalized coordinates need minLod and maxLod 0".into(),
        Catalog::A13 => "unnormalized coordinates need CLAMP_TO_EDGE or CLAMP_TO_BORDER on U and V".into(),
        Catalog::A14 => "unnormalized coordinates exclude anisotropy".into(),
        Catalog::A15 => "unnormalized coordinates exclude comparison".into(),
        Catalog::TexelFilter => divided("need equal filters"),
        Catalog::TexelAddress => divided("cannot wrap"),
        Catalog::TexelAnisotropy => divided("exclude anisotropy"),
        Catalog::TexelCompare => divided("exclude comparison"),
        Catalog::TexelView => divided("need a 1D or 2D view"),
        Catalog::TexelLevels => divided("need a view of one level and layer"),
        Catalog::TexelLookup => divided("exclude implicit levels of detail and projection"),
        Catalog::TexelOffset => divided("exclude offsets and biases"),
        Catalog::TexelGather => divided("exclude offsets, of gathers too"),
        Catalog::A20U | Catalog::A20V | Catalog::A20W => "the value is not a VkSamplerAddressMode".into(),
        Catalog::A21 => "neither samplerMirrorClampToEdge nor VK_KHR_sampler_mirror_clamp_to_edge is enabled".into(),
        Catalog::A22 => "an axis clamps to the border and the value is not a VkBorderColor".into(),
        Catalog::A25 => "the value is not a VkCompareOp".into(),
        Catalog::A26 => "comparison and a reduction mode exclude each other".into(),
        Catalog::A27 => not_enabled("samplerFilterMinmax"),
        Catalog::A28 => "CUBIC with a reduction mode needs VK_EXT_filter_cubic".into(),
        Catalog::A30 | Catalog::A30Exact => not_enabled("customBorderColors"),
        Catalog::A31 => "VkSamplerCustomBorderColorCreateInfoEXT is not chained".into(),
        Catalog::A32 | Catalog::A32Exact => not_enabled("customBorderColorWithoutFormat"),
        Catalog::A33 => "the kind of the border colour is not that of its format".into(),
        Catalog::A34 => "the value cannot be represented in the border colour's format".into(),
        Catalog::A35 | Catalog::A35Exact if context.view.is_some() => no_border_share(caps),
        Catalog::A35 | Catalog::A35Exact => format!(
            "{} samplers with a custom border colour are live, as many as maxCustomBorderColorSamplers allows",
            caps.max_custom_border_color_samplers
        ),
        Catalog::A36 => not_enabled("borderColorSwizzle"),
        Catalog::A40 => "the conversion has no separate reconstruction filter".into(),
        Catalog::A41 => "a Y′CbCr conversion needs CLAMP_TO_EDGE, normalized coordinates and no anisotropy".into(),
        Catalog::A42 => "a Y′CbCr conversion excludes a reduction mode".into(),
        Catalog::A43 => lacks("SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER"),
        Catalog::A44X => lacks("COSITED_CHROMA_SAMPLES"),
        Catalog::A44Y => lacks("MIDPOINT_CHROMA_SAMPLES"),
        Catalog::A45 => lacks("SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE"),
        Catalog::A52 => not_enabled("nonSeamlessCubeMap"),
        Catalog::A53Filter
        | Catalog::A53Mip
        | Catalog::A53Lod
        | Catalog::A53Address
        | Catalog::A53Anisotropy
        | Catalog::A53Compare
        | Catalog::A53Unnormalized => "the flag VK_SAMPLER_CREATE_SUBSAMPLED_BIT_EXT excludes it".into(),
        Catalog::A54Filter
        | Catalog::A54Mip
        | Catalog::A54Lod
        | Catalog::A54Address
        | Catalog::A54Border
        | Catalog::A54Anisotropy
        | Catalog::A54Compare => "the flag VK_SAMPLER_CREATE_IMAGE_PROCESSING_BIT_QCOM excludes it".into(),
        Catalog::A55 => {
            let [width, height] = caps.max_block_match_window;
            format!("maxBlockMatchWindow is {width}×{height}")
        }
        Catalog::A56 => not_enabled("descriptorBufferCaptureReplay"),
        Catalog::A57 => "the capture and replay flag is not set".into(),
        Catalog::A59Weights => "the value is not a VkCubicFilterWeightsQCOM".into(),
        Catalog::A59Reduction => "the value is not a VkSamplerReductionMode".into(),
        Catalog::B1 | Catalog::B2 if is_of_shader(change) => {
            "the filtering shader samples whole levels, and adds it itself".into()
        }
        Catalog::B1 | Catalog::B2 => lacks("SAMPLED_IMAGE_FILTER_LINEAR"),
        Catalog::B3 | Catalog::B4 => lacks("SAMPLED_IMAGE_FILTER_MINMAX"),
        Catalog::B5 => lacks("SAMPLED_IMAGE_FILTER_CUBIC"),
        Catalog::B6 => format!(
            "{} views need VK_EXT_filter_cubic",
            context.view.map_or_else(String::new, |view| names::view_type(view.view_type))
        ),
        Catalog::B7 => format!("filterCubic is false for this image of {format}"),
        Catalog::B8 => format!("filterCubicMinmax is false for this image of {format}"),
        Catalog::AnisoNearest => "the result of anisotropy with NEAREST filters is implementation-defined, and some drivers smooth".into(),
        Catalog::B9 => "anisotropy without a LINEAR filter is implementation-defined".into(),
        Catalog::B10 => not_enabled("cubicRangeClamp"),
        Catalog::B11 => "range clamp needs CUBIC".into(),
        Catalog::B12 => not_enabled("selectableCubicWeights"),
        Catalog::B13 => "filterMinmaxImageComponentMapping is false and the view swizzles R".into(),
        Catalog::B15 => format!("the view reads the stencil aspect of {format}, for which no filter is defined"),
        Catalog::B16 => format!("{format} holds integers"),
        Catalog::B30Stencil => "the view reads the stencil aspect, and no instruction that reads it compares".into(),
        Catalog::B30 => {
            format!("{}, and no instruction that reads it compares", lacks("SAMPLED_IMAGE_DEPTH_COMPARISON"))
        }
        Catalog::B31 if is_of_shader(change) => "the comparing shader samples whole levels, and adds it itself".into(),
        Catalog::B31 if matches!(change.field, Field::MagFilter | Field::MinFilter | Field::MipmapMode) => {
            "the shader compares texels one by one, and weighs the results".into()
        }
        Catalog::B31 => format!("{}, so the shader compares", lacks("SAMPLED_IMAGE_DEPTH_COMPARISON")),
        Catalog::B33 => format!("the view reads the stencil aspect{}", compared(context)),
        Catalog::B35 => format!("{}{}", lacks("SAMPLED_IMAGE_DEPTH_COMPARISON"), compared(context)),
        Catalog::B36 => not_enabled("mutableComparisonSamplers"),
        Catalog::B50 => format!("{format} is read as floats"),
        Catalog::B51 => match context.view.map(|view| view.aspect) {
            Some(Aspect::Stencil) => "the view reads the stencil aspect, which holds integers".into(),
            _ => format!("{format} holds integers"),
        },
        Catalog::B52 | Catalog::B53 => "the view swizzles and borderColorSwizzleFromImage is not enabled".into(),
        Catalog::B52Exact | Catalog::B52Lossy | Catalog::B53Exact | Catalog::B53Lossy => {
            "the view swizzles and neither borderColorSwizzleFromImage nor borderColorSwizzle is enabled".into()
        }
        Catalog::B66 => format!("{format} cannot be sampled at all ({})", context.tiling.name()),
        Catalog::B65 => {
            "the view swizzles the border colour, neither borderColorSwizzleFromImage nor borderColorSwizzle is enabled, and no \
             predefined colour is nearer than what the driver may show instead"
                .into()
        }
        Catalog::B54 => "the border's component mapping is not the view's".into(),
        Catalog::B55 => format!("srgb does not say what {format} is"),
        Catalog::B56 | Catalog::B56Exact => format!("a custom border on {format} needs its format"),
        Catalog::B57 => format!("the border's format is not the view's, {format}"),
        Catalog::B58 => format!("{format} cannot hold the value"),
        Catalog::Override => "a rule asks for it".into(),
        Catalog::HeldUnnormalized => "held back: the sampler has unnormalized coordinates (guard unnormalized)".into(),
        Catalog::HeldCompare => "held back: the sampler compares (guard compare)".into(),
        Catalog::HeldYcbcr => "held back: the pair has a Y′CbCr conversion (guard ycbcr)".into(),
        Catalog::HeldInteger => format!("held back: {format} is read as integers (guard integer)"),
        Catalog::HeldAttachment => "held back: the image is rendered to (guard attachment)".into(),
        Catalog::HeldSingleMip => "held back: the view has one mip level (guard single_mip)".into(),
        Catalog::HeldNearest => "held back: the sampler does not filter (guard nearest)".into(),
        Catalog::HeldOneDimensional => "held back: the view is 1D (guard one_dimensional)".into(),
        Catalog::GlClamp => format!("the pair filters {format}, so the border blends in"),
        Catalog::GlClampEdge => match context.view {
            Some(_) if context.linear[0] != context.linear[1] => {
                "gl_clamp_rule needs the other filter to be LINEAR too".into()
            }
            Some(_) => "the pair does not filter, so only edge texels are read".into(),
            None => "no view is known yet, and the edge is safe with every view".into(),
        },
        Catalog::GlMirrorClamp if change.to == BORDER => {
            format!("the pair filters {format}, so the border blends in; the shader mirrors")
        }
        Catalog::GlMirrorClamp => "Vulkan has no mirrored clamp to the border".into(),
        Catalog::B64 => "the image has VK_IMAGE_CREATE_CORNER_SAMPLED_BIT_NV".into(),
        Catalog::DepthCompare => format!("{format} lacks SAMPLED_IMAGE_FILTER_LINEAR and depth_linear is compare"),
        Catalog::B40 => "the view is neither 1D nor 2D".into(),
        Catalog::B41 => "the view has more than one level or layer".into(),
        Catalog::B78 if context.view.is_some_and(|view| view.subsampled) => {
            "a subsampled image is read through an immutable sampler that is subsampled".into()
        }
        Catalog::B78 => "the sampler is subsampled and the image is not".into(),
        Catalog::C1 => lacks("SAMPLED_IMAGE_FILTER_LINEAR"),
        Catalog::C2 => lacks("SAMPLED_IMAGE_FILTER_CUBIC"),
        Catalog::C3 => "CUBIC needs a 2D source image".into(),
        Catalog::C4 => format!("{format} has depth or stencil"),
        Catalog::C10 => format!("{format} holds integers"),
        Catalog::H1Sampled => lacks("SAMPLED_IMAGE"),
        Catalog::H1Storage => lacks("STORAGE_IMAGE"),
        Catalog::H1Color => lacks("COLOR_ATTACHMENT"),
        Catalog::H1DepthStencil => lacks("DEPTH_STENCIL_ATTACHMENT"),
        Catalog::H1Input => lacks("COLOR_ATTACHMENT and DEPTH_STENCIL_ATTACHMENT"),
        Catalog::H6 => "a descriptor shows depth or stencil, not both".into(),
        Catalog::H3 => "the shader does nothing that needs it, and the device does not have it".into(),
        Catalog::H3Write => {
            not_enabled("shaderStorageImageWriteWithoutFormat") + ", and the shader does not write the image"
        }
        Catalog::H3Read => {
            not_enabled("shaderStorageImageReadWithoutFormat") + ", and the shader does not read the image"
        }
        Catalog::H4 if change.field == Field::Capability => "images without a format need it".into(),
        Catalog::H4 => {
            "HLSL and Slang have no formats: the compiler made it up, and a view of another one would be undefined"
                .into()
        }
        Catalog::H4View if change.field == Field::Capability => "images without a format need it".into(),
        Catalog::H4View => "the view that is bound has another format".into(),
        Catalog::H7 => "the device does not read the format of the view without one in the shader".into(),
        Catalog::H8 => "the device does not write the format of the view without one in the shader".into(),
        Catalog::H9 => "the shader declares an image of other numbers".into(),
        Catalog::H9Type => "the shader declares an image of another dimension".into(),
        Catalog::HeldLibrary => "held back: the pipeline is a library, or linked of some (guard library)".into(),
        Catalog::HeldSingleSample => "held back: the pipeline has one sample (guard single-sample)".into(),
        Catalog::HeldSideEffects => "held back: the shader writes memory that others see (guard side-effects)".into(),
        Catalog::HeldShadingRate => {
            "held back: the shader or the pipeline has a shading rate (guard shading-rate)".into()
        }
        Catalog::HeldMaskOutput => "held back: the shader writes a sample mask (guard mask-output)".into(),
        Catalog::HeldMaskInput => "held back: the shader reads the sample mask (guard mask-input)".into(),
        Catalog::HeldInterlock => "held back: fragments wait for each other (guard interlock)".into(),
        Catalog::J2 | Catalog::J2One | Catalog::J2More | Catalog::J2Single | Catalog::J2Many => {
            not_enabled("sampleRateShading")
        }
        Catalog::H5 if change.field == Field::ImageFormat => {
            "the device does not store it: the shader reads and writes its bits".into()
        }
        Catalog::H5 => lacks("STORAGE_IMAGE") + ": shaders store through a view of unsigned integers of the same size",
        Catalog::H5Image => format!("a view of unsigned integers stores in place of {format}, which cannot"),
        Catalog::J4 => "the array is longer than maxSampleMaskWords".into(),
        Catalog::J3 => "minSampleShading must be within 0 and 1".into(),
        Catalog::K1 => "Vulkan has no atomic counters".into(),
        Catalog::K1Valid => "OpenGL has it, Vulkan does not".into(),
        Catalog::K1Origin => "Vulkan's origin is the upper left, and its pixel centres are not integers".into(),
        Catalog::H2 => format!("only other formats that the image may be viewed with have the usage, {format} has not"),
    }
}

/// What [`Field::Interpolation`] has for an instruction whose value at an offset follows from derivatives.
pub const AT_OFFSET: &str = "InterpolateAtOffset";

/// What it becomes where derivatives are taken in place, although neighbours may go another way.
pub const IN_PLACE: &str = "DPdx";
/// What [`Field::BuiltIn`] has for a mask that each sample wrote for itself.
pub const OF_SAMPLES: &str = "SampleMask of a sample";

/// What the specification leaves undefined may look like anything.
const UNDEFINED: &str = "what this driver happened to show";

/// Whether the application's value was no value at all, so that nothing was asked for.
fn is_garbage(change: &Change) -> bool {
    match (change.catalog, change.from) {
        (Catalog::A1Mag | Catalog::A1Min, from) => from != Value::Filter(vk::Filter::CUBIC_EXT),
        (Catalog::A2 | Catalog::A3 | Catalog::A4 | Catalog::A6, Value::Float(value)) => value.is_nan(),
        _ => false,
    }
}

/// What is lost; a change of the anisotropy itself loses less than switching it off.
pub fn lost(change: &Change, context: &Context<'_>) -> &'static str {
    let is_integer = context.view.is_some_and(ViewTraits::is_integer);
    match (change.catalog, change.field) {
        _ if is_garbage(change) => UNDEFINED,
        (Catalog::A27 | Catalog::A28, _) if change.from == RANGE_CLAMP => "range clamp",
        (Catalog::A41, Field::AnisotropyEnable) => Catalog::A5.lost(),
        (Catalog::A41, Field::UnnormalizedCoordinates) => "coordinates in texels",
        (Catalog::A10, _) if context.divides => "one filter, where no shader divides coordinates",
        (Catalog::A12, _) if context.divides => "levels other than the first, where no shader divides coordinates",
        (Catalog::A13, _) if context.divides => "wrapping, where no shader divides coordinates",
        (Catalog::A14, _) if context.divides => "anisotropic quality, where no shader divides coordinates",
        (Catalog::A15, _) if context.divides => "comparison, where no shader divides coordinates",
        // The value and the format of a custom colour follow its kind.
        (Catalog::A33 | Catalog::B50 | Catalog::B51, Field::CustomBorderColor) => {
            "what the format cannot hold of the colour"
        }
        (Catalog::B50 | Catalog::B51, Field::CustomBorderColorFormat) => "nothing",
        // Of stencil values and of those that MIN and MAX were not asked for, the reduction is what goes.
        (Catalog::B15, Field::ReductionMode) => Catalog::B3.lost(),
        (Catalog::B2 | Catalog::B4, Field::MipmapMode) if context.view.is_some_and(|view| view.single_level) => {
            "nothing: the view has one level"
        }
        (Catalog::B2, Field::MipmapMode) if is_integer => Catalog::B16.lost(),
        (Catalog::B1, Field::MagFilter | Field::MinFilter) if context.gathers => {
            "nothing: the shader gathers, and gathers use no filter"
        }
        (Catalog::A6, Field::MaxAnisotropy) => "anisotropic quality above the limit",
        (Catalog::B31, _) if change.from == Value::Filter(vk::Filter::CUBIC_EXT) => Catalog::B5.lost(),
        (Catalog::B31, Field::MagFilter | Field::MinFilter) if context.view.is_some_and(is_cube) => {
            "seam: the texels beside edges of faces are approximate"
        }
        (Catalog::B1 | Catalog::B2, _) if is_of_shader(change) => {
            "nothing where the shader filters, the requested value elsewhere"
        }
        (Catalog::B1 | Catalog::B2, _) if context.emulates && context.view.is_some_and(is_cube) => {
            "seam: the texels beside edges of faces are approximate; smoothing where no shader filters"
        }
        (Catalog::B1 | Catalog::B2, _) if context.emulates && !is_integer => {
            "nothing where the shader filters, smoothing elsewhere"
        }
        (Catalog::GlClamp, _) if context.saturates && context.trilinear => {
            "trilinear-offset: between two levels offsets are those of the nearer one; the exact border where no shader saturates"
        }
        (Catalog::GlMirrorClamp, _) if context.trilinear && change.to == BORDER => {
            "trilinear-offset: between two levels offsets are those of the nearer one, and beside the axis shows a bit of the \
             border; the mirrored half where no shader mirrors"
        }
        (Catalog::GlClampEdge, _) if context.view.is_none() => "nothing: each pair is decided by its view",
        (Catalog::GlClampEdge, _) if context.linear.contains(&true) => "the border of the filter that is LINEAR",
        (Catalog::GlClamp, _) if context.linear[0] != context.linear[1] => {
            "nothing where the shader saturates coordinates, edge texels of the filter that is NEAREST elsewhere"
        }
        (Catalog::GlClamp, _) if context.saturates => {
            "nothing where the shader saturates coordinates, half of the border's influence elsewhere"
        }
        (Catalog::J2 | Catalog::J2One | Catalog::J2More, Field::Interpolation)
            if change.to == Value::Spirv(IN_PLACE) =>
        {
            "shading per sample; the value where neighbours take another branch"
        }
        (Catalog::J2 | Catalog::J2More, Field::BuiltIn) if change.from == Value::Spirv(OF_SAMPLES) => {
            "shading per sample, and coverage: one mask for all"
        }
        (Catalog::J2One, Field::Interpolation) if change.from == Value::Spirv(AT_OFFSET) => {
            "nothing without perspective; else what it bends within the offset"
        }
        (Catalog::GlMirrorClamp, _) if change.to == BORDER => {
            "nothing where the shader mirrors and saturates coordinates, the mirrored half elsewhere"
        }
        (catalog, _) => catalog.lost(),
    }
}
