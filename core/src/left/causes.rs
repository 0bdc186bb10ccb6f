//! What records say where the meaning of a name would say too little: why this object is left, in one clause.
//!
//! Each cause belongs to one name. `{}` stands for what only the record knows.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use core::fmt::{self, Write as _};
use core::ops::Deref;

use super::Left;

/// The words of a `why`. They come from a cause, from the meaning of a name or from a rule: nothing outside of this crate writes any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause(Cow<'static, str>);

impl Clause {
    /// The words of a rule, or of several reasons.
    pub(crate) fn new(words: String) -> Self {
        Self(Cow::Owned(words))
    }
}

impl Deref for Clause {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self)
    }
}

impl From<Cause> for Clause {
    fn from(cause: Cause) -> Self {
        Self(Cow::Borrowed(cause.text()))
    }
}

impl From<Clause> for String {
    fn from(words: Clause) -> Self {
        words.0.into_owned()
    }
}

/// What an `unresolved` record says is left, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The name.
    pub what: Left,
    /// Why.
    pub why: Clause,
}

impl From<Left> for Explained {
    fn from(what: Left) -> Self {
        Self { what, why: Clause::new(what.clause()) }
    }
}

impl From<Cause> for Explained {
    fn from(cause: Cause) -> Self {
        Self { what: cause.left(), why: cause.into() }
    }
}

macro_rules! causes {
    ($($left:ident { $($variant:ident $text:literal $(=> $advice:literal)?)+ })+) => {
        /// Why something is left as it is, where that has several causes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Cause {
            $($(#[doc = $text] $variant,)+)+
        }

        impl Cause {
            /// Every one, those of a name beside each other.
            pub const ALL: &[Cause] = &[$($(Cause::$variant,)+)+];

            /// The name that it belongs to.
            pub const fn left(self) -> Left {
                match self {
                    $($(Cause::$variant => Left::$left,)+)+
                }
            }

            /// The clause, with `{}` for what only the record knows.
            pub const fn text(self) -> &'static str {
                match self {
                    $($(Cause::$variant => $text,)+)+
                }
            }

            // Apart, so that a program that asks for no advice does not carry it.
            const fn own_advice(self) -> Option<&'static str> {
                match self {
                    $($(Cause::$variant => advice!($($advice)?),)+)+
                }
            }
        }
    };
}

macro_rules! advice {
    () => {
        None
    };
    ($advice:literal) => {
        Some($advice)
    };
}

impl Cause {
    /// What to do about it, without a capital and a full stop.
    pub fn advice(self) -> &'static str {
        self.own_advice().unwrap_or_else(|| self.left().advice())
    }

    /// With these values in the place of each `{}`.
    pub fn with(self, values: &[&dyn fmt::Display]) -> Explained {
        let mut parts = self.text().split("{}");
        let mut words = parts.next().unwrap_or_default().to_owned();
        for (part, value) in parts.zip(values) {
            // Writing to a string does not fail.
            let _ = write!(words, "{value}");
            words.push_str(part);
        }
        Explained { what: self.left(), why: Clause::new(words) }
    }

    /// Whether a record's `why` is this one with any values.
    fn is(self, why: &str) -> bool {
        let mut parts = self.text().split("{}");
        let Some(mut rest) = parts.next().and_then(|start| why.strip_prefix(start)) else { return false };
        let mut is_whole = rest.is_empty();
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = rest.get(at + part.len()..).unwrap_or_default();
            is_whole = part.is_empty() || rest.is_empty();
        }
        is_whole
    }
}

impl Left {
    /// The reasons of this name.
    pub fn causes(self) -> impl Iterator<Item = Cause> {
        Cause::ALL.iter().copied().filter(move |cause| cause.left() == self)
    }

    /// What to do about a record of this name that says `why`.
    pub fn advice_on(self, why: &str) -> &'static str {
        self.causes().find(|cause| cause.is(why)).map_or(self.advice(), Cause::advice)
    }
}

causes! {
    ImmutableLayout {
        BoundLayout "the pipeline layout that the set is bound with has other immutable samplers than the set"
        DrawnLayout "the pipeline's layout has other immutable samplers than the layout that the set is bound with"
    }
    HiddenSpirv {
        RuleOnHiddenShader "a rule names the pipeline, and samplin does not have the words of its fragment shader"
    }
    MalformedSpirv {
        UnreadableStage "the shader cannot be read: {}"
        RuleOnUnreadableShader "a rule names the pipeline, and its fragment shader cannot be read: {}"
    }
    EmbeddedSampler {
        UnknownMeetings "the device has views that the sampler does not suit, and samplin does not know which views it meets"
        SeveralTypes "the shader reads images of several types through the sampler, and no sampler suits all of them"
            => "give each type of image a sampler of its own"
    }
    Pair {
        Uncompared
            "a shader compares with a reference, and the sampler has no compareEnable, so the result is undefined"
            => "use a sampler with compareEnable, or sample without a reference"
        ChainedSampler "the sampler has a structure of type {} chained, which a variant could not carry"
            => "a newer samplin may know the structure"
        PinnedSampler "the sampler is immutable in a descriptor-buffer layout, so it must stay the same everywhere"
            => "put the sampler into the descriptor buffer, not into the layout"
        VariantShare
            "variants hold {} of the {} samplers that they share of maxSamplerAllocationCount, {}; the others are the application's"
            => "create fewer samplers: one for each distinct state"
        OverrideShare
            "variants hold {} places of maxSamplerAllocationCount, and overrides may use the first {} of {}; repairs and the application have the others"
            => "match fewer samplers, or change the rules less often"
        LastPlaces "{} samplers are live, maxSamplerAllocationCount is {}, and the last {} places are the application's"
            => "create fewer samplers: one for each distinct state"
        BorderShare
            "a variant takes the place that its own sampler left, or one of the {} that variants share of maxCustomBorderColorSamplers, {}"
            => "use fewer custom border colours"
        SamplerFailed "vkCreateSampler of the variant failed: {}"
        NoCreateSampler "the driver has no vkCreateSampler"
        NoMemoryForSampler "the host has no memory left for the variant"
            => "free memory"
    }
    ImmutablePair {
        SameForAll "the sampler is immutable, so it is the same for every view: {}"
    }
    Limit {
        PlacesHeld
            "{} is {}: the application wants {} of these samplers and variants hold {}, which cannot be destroyed while descriptors may name them"
    }
    LimitExceeded {
        SamplerOverrun "{} is {} and the application asks for {} samplers at a time"
        BorderOverrun
            "{} is {} and the application asks for {} samplers with custom border colours at a time; those beyond it get a predefined colour"
            => "use fewer custom border colours"
    }
    Blit {
        DepthFormats "{} and {} differ, and one of them has depth or stencil"
        SignedFormats "of {} and {} one alone holds signed integers"
        UnsignedFormats "of {} and {} one alone holds unsigned integers"
        BlitAspects "{} of {} is blitted to {} of {}"
            => "blit each aspect to itself"
    }
    UnknownStructure {
        LeftOut
            "samplin left out the structure of type {}, whose size it does not know and which stands before one that had to change"
    }
    UnknownEnumerant {
        YoungerExtension "{}: {} is younger than the layer and may have added it"
    }
    ViewUsage {
        StatedUsage "the application states the usage of the view itself"
            => "leave out of VkImageViewUsageCreateInfo what the view's format does not support"
        NoUsageStructure
            "no structure can say it: neither version 1.1 nor VK_KHR_maintenance2 is enabled, or the usage has more than 32 bits"
            => "enable VK_KHR_maintenance2"
        NothingLeft "nothing would be left that the view could be used for"
            => "use a format that supports the usage"
        NoViewFormat "no format that the image may be viewed with can be used that way either"
            => "create the image without the usage"
        ImagelessView "the view may become an attachment of an imageless framebuffer, which compares usages"
    }
    ImageUsage {
        SwapchainUsage "no format of the swapchain has the usage, whatever the surface offers"
            => "create the swapchain without the usage"
        ImageChain "the image's chain has structures beside the list of formats"
            => "add VK_IMAGE_CREATE_EXTENDED_USAGE_BIT"
        CapturedImage "the image may be captured for a replay"
            => "add VK_IMAGE_CREATE_EXTENDED_USAGE_BIT"
        ImagelessImage "the image may become an attachment of an imageless framebuffer, which compares flags"
            => "add VK_IMAGE_CREATE_EXTENDED_USAGE_BIT"
        NoExtendedImage "the device has no such image with VK_IMAGE_CREATE_EXTENDED_USAGE_BIT either"
    }
    PanicInAHook {
        Panicked "{}; the device is passed through from here on"
    }
    OutOfHostMemory {
        NoMemory "the host has no memory left; the device is passed through from here on"
    }
    StorageImage {
        NoFormatOfItsBits "the format cannot be stored, and no other format has its bits"
        NoStandIn "the format cannot be stored with its tiling, and nothing stands in for it"
        StoredWithoutViewUsage "neither version 1.1 nor VK_KHR_maintenance2 is enabled, which a view of another format needs"
            => "enable VK_KHR_maintenance2, or use a format with VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT"
        StoredCapture "the image may be captured for a replay"
        StoredModifier "the image's memory is laid out by a DRM format modifier, which others know it by"
        StoredChain "the image's chain has structures beside the list of formats"
        StoredSparse "the image is sparse"
        StoredImageless "the image may become an attachment of an imageless framebuffer, which compares flags"
        IntegersUnstored "unsigned integers of the format's size cannot be stored with the image's tiling either"
        NoIntegerImage "the device has no such image that may be viewed as unsigned integers"
    }
    StorageView {
        ViewUnmade "the view of unsigned integers could not be made"
        NotAliased "the view's image may not be viewed as unsigned integers"
        WideUsage "the view's usage has more than 32 bits"
        CapturedView "the view may be captured for a replay"
        StoredViewImageless "the view may become an attachment of an imageless framebuffer, which compares usages"
        ViewChain "the view's chain has a structure of unknown size"
        ReadOnlyBuffer "without VK_KHR_maintenance5 the buffer view cannot say that it is only read"
            => "enable VK_KHR_maintenance5, or use a format with VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT"
        StoredByHeap "a view whose format cannot be stored is written to a heap as a storage image"
        StoredByDescriptor
            "a view whose format cannot be stored is written to a descriptor of a storage image, and no other view stands in for it"
    }
    StorageWithoutFormat {
        FormatlessBinding
            "the shader declares no format, and a binding of this number holds an image that samplin stores as unsigned integers, whose bits it meets"
    }
    StorageBuffers {
        StageBuffers "with its counters the stage has more storage buffers than the device's {}"
    }
    StageChain {
        BeforeMappings "a structure that samplin cannot copy stands before the mappings of descriptors"
            => "chain VkShaderDescriptorSetAndBindingMappingInfoEXT first"
    }
    SampleCount {
        NoSampleShading
            "the device has no sampleRateShading, so the shader runs once for each pixel; a draw or the link of a library decides how many samples there are"
    }
    StoresAndAtomics {
        StageCannotWrite "the shader's counters are in storage buffers, which it may not write: {} is not enabled"
    }
    Module {
        Unreadable "the module cannot be read: {}"
    }
    Opcode {
        UnknownInstruction "instruction {} uses what would have to change in an unknown way"
    }
    CountersOverlap {
        OverlapAt "counters of different types share bytes at counter binding {}"
    }
    BindingTaken {
        LayoutType "the shader has the storage buffer of its counters where the pipeline layout has {}"
            => "add a storage buffer to the layout at that binding, or choose another one with counters=S:F"
    }
    DefaultBlockUniform {
        UniformAt "a uniform at location {} is in no block, for which Vulkan has no place"
    }
    Capability {
        ForeignCapability "capability {} does not go together with the change"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_one_clause_of_its_own() {
        for (at, cause) in Cause::ALL.iter().enumerate() {
            let (text, advice) = (cause.text(), cause.advice());
            assert!(text.starts_with(|c: char| c.is_ascii_lowercase() || c == '{') && !text.ends_with('.'), "{text}");
            assert!(!text.contains(". ") && !advice.ends_with('.'), "{text}");
            let others = cause.left().causes().filter(|other| other != cause);
            others.for_each(|other| assert_ne!(other.text(), text, "{at}"));
        }
    }

    #[test]
    fn each_takes_as_many_values_as_it_has_places() {
        for cause in Cause::ALL {
            let count = cause.text().matches("{}").count();
            let values = ["a value"; 4].map(|value| value.to_owned());
            let given: Vec<&dyn fmt::Display> =
                values.iter().take(count).map(|value| value as &dyn fmt::Display).collect();
            let explained = cause.with(&given);
            assert_eq!(explained.why.matches("a value").count(), count, "{}", cause.text());
            assert!(!explained.why.contains("{}") && cause.is(&explained.why), "{}", cause.text());
            assert_eq!((explained.what, cause.left().advice_on(&explained.why)), (cause.left(), cause.advice()));
        }
        assert_eq!(Left::Pair.advice_on("the view is a cube"), Left::Pair.advice());
        assert_eq!(Left::ViewUsage.advice_on(Cause::StatedUsage.text()), Cause::StatedUsage.advice());
    }
}
