use alloc::{format, string::String};

use crate::decide::{Change, Context};

rule! { ($)
    /// A rule of a rules file changed a sampler, or would have and a guard held it back.
    ///
    /// ## The specification
    ///
    /// Not a rule of Vulkan's: an override of the user. samplin makes the result legal as it does for the application's own samplers.
    ///
    /// ## Who trips over it
    ///
    /// Players who force anisotropy, sharpness or filters.
    ///
    /// ## What is lost
    ///
    /// What the application asked for. An override that a guard holds back changes nothing.
    ///
    /// ## In the application
    ///
    /// Nothing to do.
    ///
    /// ## Settings
    ///
    /// - `config` names the rules file; `samplin rules check` reads it.
    /// - `guards_off` in a rule switches guards off by name.
    overridden Override "override" {
        Override "O-1" Layer
            lost "what the application asked for", because "a rule asks for it";
        HeldUnnormalized "O-2" Layer
            lost "the override", because "held back: the sampler has unnormalized coordinates (guard unnormalized)";
        HeldCompare "O-2" Layer
            lost "the override", because "held back: the sampler compares (guard compare)";
        HeldYcbcr "O-2" Layer
            lost "the override", because "held back: the pair has a Y′CbCr conversion (guard ycbcr)";
        HeldInteger "O-2" Layer
            lost "the override", by read_as_integers;
        HeldAttachment "O-2" Layer
            lost "the override", because "held back: the image is rendered to (guard attachment)";
        HeldSingleMip "O-2" Layer
            lost "the override", because "held back: the view has one mip level (guard single_mip)";
        HeldAlreadyBiased "O-2" Layer
            lost "the override", because "held back: the application has a negative bias of its own (guard already-biased)";
        HeldNearest "O-2" Layer
            lost "the override", because "held back: the sampler does not filter (guard nearest)";
        HeldOneDimensional "O-2" Layer
            lost "the override", because "held back: the view is 1D (guard one_dimensional)";
        HeldLibrary "O-2" Layer
            lost "the override", because "held back: the pipeline is a library, or linked of some (guard library)";
        HeldSingleSample "O-2" Layer
            lost "the override", because "held back: the pipeline has one sample (guard single-sample)";
        HeldSideEffects "O-2" Layer
            lost "the override", because "held back: the shader writes memory that others see (guard side-effects)";
        HeldShadingRate "O-2" Layer
            lost "the override", because "held back: the shader or the pipeline has a shading rate (guard shading-rate)";
        HeldMaskOutput "O-2" Layer
            lost "the override", because "held back: the shader writes a sample mask (guard mask-output)";
        HeldMaskInput "O-2" Layer
            lost "the override", because "held back: the shader reads the sample mask (guard mask-input)";
        HeldInterlock "O-2" Layer
            lost "the override", because "held back: fragments wait for each other (guard interlock)";
    }
}

pub(super) fn read_as_integers(_: &Change, context: &Context<'_>) -> String {
    format!("held back: {} is read as integers (guard integer)", context.format())
}
