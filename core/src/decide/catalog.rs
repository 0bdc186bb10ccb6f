//! Names of rules, fields and values, and the [`Change`] that carries them.
//!
//! Rule names are a stable interface: traces, rules files and `samplin check` match on them.

use ash::vk;
use smallvec::SmallVec;

use super::BorderMapping;
use std::fmt;

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// Name of a family of rules, the `rule` member of a change record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule { $($(#[$doc])* $variant,)+ }

        impl Rule {
            /// Every rule, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

rules! {
    /// LINEAR min/mag filter on a view that cannot be filtered.
    LinearFilter = "linear-filter",
    /// LINEAR mipmap mode on a view that cannot be filtered.
    LinearMipmap = "linear-mipmap",
    /// MIN/MAX reduction on a view that cannot do it.
    Minmax = "minmax",
    /// CUBIC and unknown filters.
    Cubic = "cubic",
    /// Stencil views.
    Stencil = "stencil",
    /// Anisotropy.
    Anisotropy = "anisotropy",
    /// LOD bias.
    LodBias = "lod-bias",
    /// LOD range.
    LodRange = "lod-range",
    /// Unnormalized coordinates.
    Unnormalized = "unnormalized",
    /// MIRROR_CLAMP_TO_EDGE without the feature.
    MirrorClamp = "mirror-clamp",
    /// Address modes.
    AddressMode = "address-mode",
    /// Depth comparison.
    Compare = "compare",
    /// Reduction mode at creation.
    Reduction = "reduction",
    /// Kind (integer or float) of the border colour.
    BorderType = "border-type",
    /// Value of a custom border colour.
    BorderValue = "border-value",
    /// Format of a custom border colour.
    BorderFormat = "border-format",
    /// Swizzle of the border colour.
    BorderSwizzle = "border-swizzle",
    /// Custom border colours without the feature or the structure.
    BorderCustom = "border-custom",
    /// Number of custom border colours.
    BorderBudget = "border-budget",
    /// Y′CbCr conversions.
    Ycbcr = "ycbcr",
    /// Sampler flags.
    Flags = "flags",
    /// Number of samplers.
    SamplerBudget = "sampler-budget",
    /// Filter of a blit.
    BlitFilter = "blit-filter",
    /// Descriptor heaps, which nothing looks into.
    Heap = "heap",
    /// Usage that a view inherits and its format cannot have.
    ViewUsage = "view-usage",
    /// Descriptors of views with both aspects.
    Aspect = "aspect",
    /// Views whose format cannot be sampled at all.
    UnsupportedFormat = "unsupported-format",
    /// Views of other numbers or another dimension than the shader declares.
    DeclaredView = "declared-view",
    /// Usage of an image that its own format cannot have.
    ImageUsage = "image-usage",
    /// What shaders declare of storage images, and do not use.
    StorageAccess = "storage-access",
    /// Formats of storage images that compilers made up, and those that the device cannot store.
    StorageFormat = "storage-format",
    /// Storage images without a format, of a format that does not allow that.
    StorageUnknown = "storage-unknown",
    /// Shading for each sample.
    SampleShading = "sample-shading",
    /// Shaders of OpenGL's with atomic counters.
    AtomicCounters = "atomic-counters",
    /// `depth_linear=compare`.
    DepthCompare = "depth-compare",
    /// `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT`.
    GlClamp = "gl-clamp",
    /// Rules files.
    Override = "override",
}

impl Catalog {
    /// Whether a change of this row was made; wishes that were held back are reported and change nothing.
    pub fn is_made(self) -> bool {
        self.id() != "O-2"
    }

    /// Whether the shader divides coordinates in texels for it.
    pub fn is_divided(self) -> bool {
        self.id() == "S-5"
    }
}

/// Where a row's rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A valid-usage statement, by its id. Ids of action commands are given for `vkCmdDraw`; they exist for every one of them.
    Vuid(&'static str),
    /// The specification's running text: chapter and heading. Its breach is undefined, and nothing reports it.
    Text(&'static str),
    /// Not Vulkan's rule but the layer's own: a setting, a wish of the user, an address mode of OpenGL.
    Layer,
}

macro_rules! catalog {
    ($($variant:ident: $id:literal, $rule:ident, $source:ident $(($at:literal))?, $lost:literal;)+) => {
        /// One rule of the catalogue of sampling rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is its catalogue id")]
        pub enum Catalog { $($variant,)+ }

        impl Catalog {
            /// Every row.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Catalogue id, such as `B-1`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// The family the row belongs to.
            pub const fn rule(self) -> Rule {
                match self { $(Self::$variant => Rule::$rule,)+ }
            }

            /// Where the rule stands.
            pub const fn source(self) -> Source {
                match self { $(Self::$variant => Source::$source $(($at))?,)+ }
            }

            /// Valid-usage id the application's state breaks; `None` for rules that have none.
            pub const fn vuid(self) -> Option<&'static str> {
                match self.source() {
                    Source::Vuid(id) => Some(id),
                    Source::Text(_) | Source::Layer => None,
                }
            }

            /// What the application no longer gets.
            pub const fn lost(self) -> &'static str {
                match self { $(Self::$variant => $lost,)+ }
            }
        }
    };
}

catalog! {
    A1Mag: "A-1", Cubic, Vuid("VUID-VkSamplerCreateInfo-magFilter-parameter"), "cubic kernel";
    A1Min: "A-1", Cubic, Vuid("VUID-VkSamplerCreateInfo-minFilter-parameter"), "cubic kernel";
    A1Mip: "A-1", Cubic, Vuid("VUID-VkSamplerCreateInfo-mipmapMode-parameter"), "what this driver happened to show";
    A2: "A-2", LodBias, Vuid("VUID-VkSamplerCreateInfo-mipLodBias-01069"), "part of the bias";
    A3: "A-3", LodBias, Vuid("VUID-VkSamplerCreateInfo-samplerMipLodBias-04467"), "bias";
    A4: "A-4", LodRange, Vuid("VUID-VkSamplerCreateInfo-maxLod-01973"), "nothing: the same two ends, in order";
    A5: "A-5", Anisotropy, Vuid("VUID-VkSamplerCreateInfo-anisotropyEnable-01070"), "anisotropic quality";
    A6: "A-6", Anisotropy, Vuid("VUID-VkSamplerCreateInfo-anisotropyEnable-01071"), "anisotropic quality";
    A7: "A-7", Anisotropy, Vuid("VUID-VkSamplerCreateInfo-magFilter-01081"), "anisotropic quality; CUBIC is kept";
    A10: "A-10", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072"), "one filter";
    A11: "A-11", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01073"), "nothing: only the first level is read";
    A12: "A-12", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01074"), "levels other than the first";
    A13: "A-13", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075"), "wrapping";
    A14: "A-14", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076"), "anisotropic quality";
    A15: "A-15", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077"), "comparison";
    A20U: "A-20", AddressMode, Vuid("VUID-VkSamplerCreateInfo-addressModeU-parameter"), "what this driver happened to show";
    A20V: "A-20", AddressMode, Vuid("VUID-VkSamplerCreateInfo-addressModeV-parameter"), "what this driver happened to show";
    A20W: "A-20", AddressMode, Vuid("VUID-VkSamplerCreateInfo-addressModeW-parameter"), "what this driver happened to show";
    A21: "A-21", MirrorClamp, Vuid("VUID-VkSamplerCreateInfo-addressModeU-01079"), "clamping beyond one mirrored copy";
    A22: "A-22", BorderType, Vuid("VUID-VkSamplerCreateInfo-addressModeU-01078"), "what this driver happened to show";
    A25: "A-25", Compare, Vuid("VUID-VkSamplerCreateInfo-compareEnable-01080"), "what this driver happened to show";
    A26: "A-26", Reduction, Vuid("VUID-VkSamplerCreateInfo-compareEnable-01423"), "footprint minimum or maximum";
    A27: "A-27", Reduction, Vuid("VUID-VkSamplerCreateInfo-pNext-06726"), "footprint minimum or maximum";
    A28: "A-28", Reduction, Vuid("VUID-VkSamplerCreateInfo-magFilter-07911"), "footprint minimum or maximum";
    A30: "A-30", BorderCustom, Vuid("VUID-VkSamplerCreateInfo-customBorderColors-04085"), "exact border colour";
    A30Exact: "A-30", BorderCustom, Vuid("VUID-VkSamplerCreateInfo-customBorderColors-04085"), "nothing: the predefined colour shows the same";
    A31: "A-31", BorderCustom, Vuid("VUID-VkSamplerCreateInfo-borderColor-04011"), "what this driver happened to show";
    A32: "A-32", BorderFormat, Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014"), "exact border colour";
    A32Exact: "A-32", BorderFormat, Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04014"), "nothing: the predefined colour shows the same";
    A33: "A-33", BorderValue, Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-07605"), "what this driver happened to show";
    A34: "A-34", BorderValue, Vuid("VUID-VkSamplerCreateInfo-borderColor-04442"), "values outside the format's range";
    A35: "A-35", BorderBudget, Vuid("VUID-VkSamplerCreateInfo-None-04012"), "exact border colour";
    A35Exact: "A-35", BorderBudget, Vuid("VUID-VkSamplerCreateInfo-None-04012"), "nothing: the predefined colour shows the same";
    A36: "A-36", BorderCustom, Vuid("VUID-VkSamplerBorderColorComponentMappingCreateInfoEXT-borderColorSwizzle-06437"), "nothing: each pair is decided by its view";
    A40: "A-40", Ycbcr, Vuid("VUID-VkSamplerCreateInfo-minFilter-01645"), "luma filter";
    A41: "A-41", Ycbcr, Vuid("VUID-VkSamplerCreateInfo-addressModeU-01646"), "addressing";
    A42: "A-42", Ycbcr, Vuid("VUID-VkSamplerCreateInfo-None-01647"), "footprint minimum or maximum";
    A43: "A-43", Ycbcr, Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-chromaFilter-01657"), "chroma smoothing";
    A44X: "A-44", Ycbcr, Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01651"), "half a texel of chroma position";
    A44Y: "A-44", Ycbcr, Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-xChromaOffset-01652"), "half a texel of chroma position";
    A45: "A-45", Ycbcr, Vuid("VUID-VkSamplerYcbcrConversionCreateInfo-forceExplicitReconstruction-01656"), "explicit reconstruction";
    A52: "A-52", Flags, Vuid("VUID-VkSamplerCreateInfo-nonSeamlessCubeMap-06788"), "seams between cube faces";
    A53Filter: "A-53", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-02574"), "one filter";
    A53Mip: "A-53", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-02575"), "mipmap mode";
    A53Lod: "A-53", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-02576"), "LOD range";
    A53Address: "A-53", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-02577"), "wrapping";
    A53Anisotropy: "A-53", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-02578"), "anisotropic quality";
    A53Compare: "A-53", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-02579"), "comparison";
    A53Unnormalized: "A-53", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-02580"), "subsampled images";
    A54Filter: "A-54", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-06964"), "smoothing";
    A54Mip: "A-54", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-06965"), "mipmap mode";
    A54Lod: "A-54", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-06966"), "LOD range";
    A54Address: "A-54", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-06967"), "wrapping";
    A54Border: "A-54", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-06968"), "border colour";
    A54Anisotropy: "A-54", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-06969"), "anisotropic quality";
    A54Compare: "A-54", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-06970"), "comparison";
    A55: "A-55", Flags, Vuid("VUID-VkSamplerBlockMatchWindowCreateInfoQCOM-WindowExtent-09210"), "window size";
    A56: "A-56", Flags, Vuid("VUID-VkSamplerCreateInfo-flags-08110"), "capture and replay";
    A57: "A-57", Flags, Vuid("VUID-VkSamplerCreateInfo-pNext-08111"), "capture and replay";
    A59Weights: "A-59", Cubic, Vuid("VUID-VkSamplerCubicWeightsCreateInfoQCOM-cubicWeights-parameter"), "what this driver happened to show";
    A59Reduction: "A-59", Reduction, Vuid("VUID-VkSamplerReductionModeCreateInfo-reductionMode-parameter"), "what this driver happened to show";
    B1: "B-1", LinearFilter, Vuid("VUID-vkCmdDraw-magFilter-04553"), "smoothing";
    B2: "B-2", LinearMipmap, Vuid("VUID-vkCmdDraw-mipmapMode-04770"), "blending between mip levels";
    B3: "B-3", Minmax, Vuid("VUID-vkCmdDraw-magFilter-09598"), "footprint minimum or maximum";
    B4: "B-4", Minmax, Vuid("VUID-vkCmdDraw-mipmapMode-09599"), "footprint minimum or maximum";
    B5: "B-5", Cubic, Vuid("VUID-vkCmdDraw-None-02692"), "cubic kernel";
    B6: "B-6", Cubic, Vuid("VUID-vkCmdDraw-None-02693"), "cubic kernel";
    B7: "B-7", Cubic, Vuid("VUID-vkCmdDraw-filterCubic-02694"), "cubic kernel";
    B8: "B-8", Cubic, Vuid("VUID-vkCmdDraw-filterCubicMinmax-02695"), "footprint minimum or maximum";
    B9: "B-9", Anisotropy, Text("Image Operations > Texel Anisotropic Filtering"), "anisotropic quality";
    B10: "B-10", Reduction, Vuid("VUID-vkCmdDraw-cubicRangeClamp-09212"), "range clamp";
    B11: "B-11", Reduction, Vuid("VUID-vkCmdDraw-reductionMode-09213"), "range clamp";
    B12: "B-12", Reduction, Vuid("VUID-vkCmdDraw-selectableCubicWeights-09214"), "cubic weights";
    B13: "B-13", Minmax, Text("Limits > VkPhysicalDeviceSamplerFilterMinmaxProperties"), "footprint minimum or maximum";
    B15: "B-15", Stencil, Text("Formats > VkFormatFeatureFlagBits2"), "nothing: stencil values have no average";
    B16: "B-16", LinearFilter, Vuid("VUID-vkCmdDraw-magFilter-04553"), "nothing: integer values have no average";
    B30Stencil: "B-30", Compare, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing: no instruction compares";
    B30: "B-30", Compare, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing: no instruction compares";
    B31: "B-31", Compare, Vuid("VUID-vkCmdDraw-None-06479"), "nothing: the shader compares, and filters what it finds";
    B36: "B-36", Compare, Vuid("VUID-VkDescriptorImageInfo-mutableComparisonSamplers-04450"), "comparison";
    B50: "B-50", BorderType, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "what this driver happened to show";
    B51: "B-51", BorderType, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "what this driver happened to show";
    B52: "B-52", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing";
    B52Exact: "B-52", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing: the predefined colour shows the same";
    B52Lossy: "B-52", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "exact border colour";
    B53: "B-53", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing";
    B53Exact: "B-53", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing: the predefined colour shows the same";
    B53Lossy: "B-53", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "exact border colour";
    B54: "B-54", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing";
    B55: "B-55", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing";
    B56: "B-56", BorderFormat, Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015"), "nothing";
    B56Exact: "B-56", BorderFormat, Vuid("VUID-VkSamplerCustomBorderColorCreateInfoEXT-format-04015"), "nothing: the predefined colour shows the same";
    B57: "B-57", BorderFormat, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing";
    B58: "B-58", BorderValue, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "values outside the view format's range";
    B64: "B-64", AddressMode, Vuid("VUID-vkCmdDraw-flags-02696"), "address mode";
    Override: "O-1", Override, Layer, "what the application asked for";
    HeldUnnormalized: "O-2", Override, Layer, "the override";
    HeldCompare: "O-2", Override, Layer, "the override";
    HeldYcbcr: "O-2", Override, Layer, "the override";
    HeldInteger: "O-2", Override, Layer, "the override";
    HeldAttachment: "O-2", Override, Layer, "the override";
    HeldSingleMip: "O-2", Override, Layer, "the override";
    HeldNearest: "O-2", Override, Layer, "the override";
    HeldOneDimensional: "O-2", Override, Layer, "the override";
    HeldLibrary: "O-2", Override, Layer, "the override";
    HeldSingleSample: "O-2", Override, Layer, "the override";
    HeldSideEffects: "O-2", Override, Layer, "the override";
    HeldShadingRate: "O-2", Override, Layer, "the override";
    HeldMaskOutput: "O-2", Override, Layer, "the override";
    HeldMaskInput: "O-2", Override, Layer, "the override";
    HeldInterlock: "O-2", Override, Layer, "the override";
    GlClamp: "S-4", GlClamp, Layer, "half of the border's influence until the shader saturates coordinates";
    GlClampEdge: "S-4", GlClamp, Layer, "nothing but what gathers read: without LINEAR it is edge texels only";
    GlMirrorClamp: "S-4", GlClamp, Layer, "the border";
    TexelFilter: "S-5", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072"), "nothing: the shader divides coordinates by the size of the level";
    TexelAddress: "S-5", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01075"), "nothing: the shader divides coordinates by the size of the level";
    TexelAnisotropy: "S-5", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01076"), "nothing: the shader divides coordinates by the size of the level";
    TexelCompare: "S-5", Unnormalized, Vuid("VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01077"), "nothing: the shader divides coordinates by the size of the level";
    TexelView: "S-5", Unnormalized, Vuid("VUID-vkCmdDraw-None-08609"), "nothing: the shader divides coordinates by the size of the level";
    TexelLevels: "S-5", Unnormalized, Vuid("VUID-vkCmdDraw-unnormalizedCoordinates-09635"), "nothing: the shader divides coordinates by the size of the level";
    TexelLookup: "S-5", Unnormalized, Vuid("VUID-vkCmdDraw-None-08610"), "nothing: the shader divides coordinates by the size of the level";
    TexelOffset: "S-5", Unnormalized, Vuid("VUID-vkCmdDraw-None-08611"), "nothing: the shader divides coordinates by the size of the level";
    TexelGather: "S-5", Unnormalized, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "nothing: the shader divides coordinates by the size of the level";
    AnisoNearest: "S-6", Anisotropy, Text("Image Operations > Texel Anisotropic Filtering"), "what this driver happened to show";
    DepthCompare: "S-2", DepthCompare, Vuid("VUID-vkCmdDraw-magFilter-04553"), "plain sampling is undefined by today's specification";
    B33: "B-33", Compare, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "";
    B35: "B-35", Compare, Vuid("VUID-vkCmdDraw-None-06479"), "";
    B40: "B-40", Unnormalized, Vuid("VUID-vkCmdDraw-None-08609"), "";
    B41: "B-41", Unnormalized, Vuid("VUID-vkCmdDraw-unnormalizedCoordinates-09635"), "";
    B65: "B-65", BorderSwizzle, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "";
    B66: "B-66", UnsupportedFormat, Vuid("VUID-VkImageViewCreateInfo-usage-02274"), "";
    B78: "B-78", Flags, Text("Image Operations > Instruction/Format/Sampler/Image View Validation"), "";
    C1: "C-1", BlitFilter, Vuid("VUID-vkCmdBlitImage-filter-02001"), "smoothing";
    C2: "C-2", BlitFilter, Vuid("VUID-vkCmdBlitImage-filter-02002"), "cubic kernel";
    C3: "C-3", BlitFilter, Vuid("VUID-vkCmdBlitImage-filter-00237"), "cubic kernel";
    C4: "C-4", BlitFilter, Vuid("VUID-vkCmdBlitImage-srcImage-00232"), "smoothing";
    H1Sampled: "H-1", ViewUsage, Vuid("VUID-VkImageViewCreateInfo-usage-02274"), "nothing: such a view cannot be sampled";
    H1Storage: "H-1", ViewUsage, Vuid("VUID-VkImageViewCreateInfo-usage-02275"), "nothing: such a view cannot be a storage image";
    H1Color: "H-1", ViewUsage, Vuid("VUID-VkImageViewCreateInfo-usage-08931"), "nothing: such a view cannot be rendered to";
    H1DepthStencil: "H-1", ViewUsage, Vuid("VUID-VkImageViewCreateInfo-usage-02277"), "nothing: such a view cannot be rendered to";
    H1Input: "H-1", ViewUsage, Vuid("VUID-VkImageViewCreateInfo-usage-08932"), "nothing: such a view cannot be an input attachment";
    H2: "H-2", ImageUsage, Vuid("VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251"), "nothing: views of the other formats have the usage";
    H3: "H-3", StorageAccess, Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740"), "nothing: the shader does not use what it declares";
    H3Write: "H-3", StorageAccess, Vuid("VUID-RuntimeSpirv-apiVersion-07954"), "nothing: the shader does not write the image";
    H3Read: "H-3", StorageAccess, Vuid("VUID-RuntimeSpirv-apiVersion-07955"), "nothing: the shader does not read the image";
    H4: "H-4", StorageFormat, Text("Image Operations > Texel Format Validation"), "nothing: with a view of the declared format the texels are the same";
    H4View: "H-4", StorageFormat, Text("Image Operations > Texel Format Validation"), "nothing: the texels are those of the view";
    H5: "H-5", StorageFormat, Vuid("VUID-VkImageViewCreateInfo-usage-02275"), "nothing: the shader decodes and encodes the texels";
    H5Image: "H-5", StorageFormat, Vuid("VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251"), "compression of the image, if the driver does not compress what has views of other formats";
    H6: "H-6", Aspect, Vuid("VUID-VkDescriptorImageInfo-imageView-01976"), "the other aspect, where the shader's type is not known";
    H7: "H-7", StorageUnknown, Vuid("VUID-vkCmdDraw-OpTypeImage-07028"), "nothing: the shader declares the format of the view";
    H8: "H-8", StorageUnknown, Vuid("VUID-vkCmdDraw-OpTypeImage-07027"), "nothing: the shader declares the format of the view";
    H9: "H-9", DeclaredView, Vuid("VUID-vkCmdDraw-format-07753"), "";
    H9Type: "H-9", DeclaredView, Vuid("VUID-vkCmdDraw-viewType-07752"), "";
    J2: "J-2", SampleShading, Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740"), "shading per sample, where there is more than one";
    J2One: "J-2", SampleShading, Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740"), "nothing: there is one sample";
    J2More: "J-2", SampleShading, Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740"), "shading per sample";
    J2Single: "J-2", SampleShading, Vuid("VUID-VkPipelineMultisampleStateCreateInfo-sampleShadingEnable-00784"), "nothing: there is one sample";
    J2Many: "J-2", SampleShading, Vuid("VUID-VkPipelineMultisampleStateCreateInfo-sampleShadingEnable-00784"), "shading per sample";
    J3: "J-3", SampleShading, Vuid("VUID-VkPipelineMultisampleStateCreateInfo-minSampleShading-00786"), "nothing: there is no less than none, and no more than every sample";
    J4: "J-4", SampleShading, Vuid("VUID-VkPipelineShaderStageCreateInfo-maxSampleMaskWords-00711"), "nothing: the shader only touches words that exist";
    K1: "K-1", AtomicCounters, Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740"), "nothing: the counters are in storage buffers";
    K1Valid: "K-1", AtomicCounters, Vuid("VUID-VkShaderModuleCreateInfo-pCode-08737"), "nothing: OpenGL has it, and Vulkan expresses it differently";
    K1Origin: "K-1", AtomicCounters, Vuid("VUID-StandaloneSpirv-OriginLowerLeft-04653"), "nothing: the shader does not read where it is";
    C10: "C-10", BlitFilter, Vuid("VUID-vkCmdBlitImage-filter-02001"), "nothing: integer values have no average";
}

/// Member of a create info (or of a structure in its chain), or what of a shader, that a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the member of that name")]
pub enum Field {
    Flags,
    MagFilter,
    MinFilter,
    MipmapMode,
    AddressModeU,
    AddressModeV,
    AddressModeW,
    MipLodBias,
    AnisotropyEnable,
    MaxAnisotropy,
    CompareEnable,
    CompareOp,
    MinLod,
    MaxLod,
    BorderColor,
    UnnormalizedCoordinates,
    ReductionMode,
    CustomBorderColor,
    CustomBorderColorFormat,
    BorderColorMapping,
    CubicWeights,
    BlockMatchWindow,
    OpaqueCapture,
    ChromaFilter,
    XChromaOffset,
    YChromaOffset,
    ForceExplicitReconstruction,
    BlitFilter,
    Usage,
    AspectMask,
    Capability,
    Extension,
    Decoration,
    ImageFormat,
    StorageClass,
    MemorySemantics,
    ExecutionMode,
    BuiltIn,
    Location,
    Interpolation,
    SampleShadingEnable,
    MinSampleShading,
    SampleMaskWords,
}

impl Field {
    /// The three address modes in axis order.
    pub const ADDRESS_MODES: [Self; 3] = [Self::AddressModeU, Self::AddressModeV, Self::AddressModeW];

    /// Vulkan's name of the member.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flags => "flags",
            Self::MagFilter => "magFilter",
            Self::MinFilter => "minFilter",
            Self::MipmapMode => "mipmapMode",
            Self::AddressModeU => "addressModeU",
            Self::AddressModeV => "addressModeV",
            Self::AddressModeW => "addressModeW",
            Self::MipLodBias => "mipLodBias",
            Self::AnisotropyEnable => "anisotropyEnable",
            Self::MaxAnisotropy => "maxAnisotropy",
            Self::CompareEnable => "compareEnable",
            Self::CompareOp => "compareOp",
            Self::MinLod => "minLod",
            Self::MaxLod => "maxLod",
            Self::BorderColor => "borderColor",
            Self::UnnormalizedCoordinates => "unnormalizedCoordinates",
            Self::ReductionMode => "reductionMode",
            Self::CustomBorderColor => "customBorderColor",
            Self::CustomBorderColorFormat => "format",
            Self::BorderColorMapping => "components",
            Self::CubicWeights => "cubicWeights",
            Self::BlockMatchWindow => "windowExtent",
            Self::OpaqueCapture => "opaqueCaptureDescriptorData",
            Self::ChromaFilter => "chromaFilter",
            Self::XChromaOffset => "xChromaOffset",
            Self::YChromaOffset => "yChromaOffset",
            Self::ForceExplicitReconstruction => "forceExplicitReconstruction",
            Self::BlitFilter => "filter",
            Self::Usage => "usage",
            Self::AspectMask => "aspectMask",
            Self::Capability => "capability",
            Self::Extension => "extension",
            Self::Decoration => "decoration",
            Self::ImageFormat => "image format",
            Self::StorageClass => "storage class",
            Self::MemorySemantics => "memory semantics",
            Self::ExecutionMode => "execution mode",
            Self::BuiltIn => "built-in",
            Self::Location => "location",
            Self::Interpolation => "interpolation",
            Self::SampleShadingEnable => "sampleShadingEnable",
            Self::MinSampleShading => "minSampleShading",
            Self::SampleMaskWords => "sample mask words",
        }
    }
}

/// Value of a field before or after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is the Vulkan type of that name")]
pub enum Value {
    Filter(vk::Filter),
    MipmapMode(vk::SamplerMipmapMode),
    AddressMode(vk::SamplerAddressMode),
    CompareOp(vk::CompareOp),
    BorderColor(vk::BorderColor),
    ReductionMode(vk::SamplerReductionMode),
    SamplerFlags(vk::SamplerCreateFlags),
    ImageFlags(u64),
    Usage(u64),
    Aspects(u64),
    ChromaLocation(vk::ChromaLocation),
    Format(vk::Format),
    Bool(bool),
    Float(f32),
    /// Float words of a custom border colour.
    FloatColor([u32; 4]),
    /// Integer words of a custom border colour.
    IntColor([u32; 4]),
    Extent([u32; 2]),
    Mapping(BorderMapping),
    Raw(i32),
    /// A word of SPIR-V's.
    Spirv(&'static str),
    /// The structure is chained.
    Present,
    /// The structure is not chained.
    Absent,
}

/// One change to one field, with the rule that asked for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The rule.
    pub catalog: Catalog,
    /// What was changed.
    pub field: Field,
    /// Value before.
    pub from: Value,
    /// Value after.
    pub to: Value,
}

/// The changes of one decision, in the order they were made. A field may appear twice (CUBIC to LINEAR
/// to NEAREST); the second `from` is then the first `to`.
///
/// Room for four without allocating, which is more than most samplers that change at all need; small, because every decision
/// carries it.
#[derive(Clone, Default)]
pub struct Changes(SmallVec<[Change; 4]>);

impl Changes {
    /// No change.
    pub fn new() -> Self {
        Self(SmallVec::new())
    }

    pub(crate) fn push(&mut self, change: Change) {
        self.0.push(change);
    }

    /// The changes in order.
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
    }

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
