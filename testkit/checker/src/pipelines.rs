//! Rules of the multisample state of a pipeline.

/// The multisample state of a pipeline, as the create info has it.
#[derive(Clone, Copy, Debug)]
pub struct Multisample {
    /// `sampleShadingEnable`.
    pub sample_shading_enable: bool,
    /// `minSampleShading`.
    pub min_sample_shading: f32,
}

/// Rules of `VkPipelineMultisampleStateCreateInfo` that a state breaks on a device with or without `sampleRateShading`, with where each
/// stands.
pub fn multisample_violations(state: &Multisample, sample_rate_shading: bool) -> Vec<(&'static str, &'static str)> {
    let mut broken = Vec::new();
    // "If the sampleRateShading feature is not enabled, sampleShadingEnable must be VK_FALSE"
    if !sample_rate_shading && state.sample_shading_enable {
        broken.push(("J-2", "VUID-VkPipelineMultisampleStateCreateInfo-sampleShadingEnable-00784"));
    }
    // "minSampleShading must be in the range [0,1]", whether it is enabled or not. NaN is in no range.
    let in_range = 0.0 <= state.min_sample_shading && state.min_sample_shading <= 1.0;
    if !in_range {
        broken.push(("J-3", "VUID-VkPipelineMultisampleStateCreateInfo-minSampleShading-00786"));
    }
    broken
}
