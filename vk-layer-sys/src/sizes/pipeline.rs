// Written by scripts/structure-sizes; do not edit.

use super::Row;

/// By sType, ascending.
#[rustfmt::skip]
pub static PIPELINE: [Row; 40] = [
    (1000018000, [24, 12, 12], &[]), // VkPipelineRasterizationStateRasterizationOrderAMD
    (1000028002, [24, 16, 16], &[]), // VkPipelineRasterizationStateStreamCreateInfoEXT
    (1000044002, [40, 28, 28], &[[(24, 20, 4), (16, 12, 4), (16, 12, 4)]]), // VkPipelineRenderingCreateInfo
    (1000044008, [40, 20, 20], &[[(24, 16, 4), (12, 8, 4), (12, 8, 4)]]), // VkAttachmentSampleCountInfoAMD
    (1000044009, [24, 16, 16], &[]), // VkMultiviewPerViewAttributesInfoNVX
    (1000068000, [32, 24, 24], &[]), // VkPipelineRobustnessCreateInfo
    (1000087000, [32, 20, 20], &[[(24, 20, 8), (16, 12, 8), (16, 12, 8)]]), // VkPipelineViewportWScalingStateCreateInfoNV
    (1000098000, [32, 20, 20], &[[(24, 20, 16), (16, 12, 16), (16, 12, 16)]]), // VkPipelineViewportSwizzleStateCreateInfoNV
    (1000099001, [40, 24, 24], &[[(32, 24, 16), (20, 16, 16), (20, 16, 16)]]), // VkPipelineDiscardRectangleStateCreateInfoEXT
    (1000101001, [32, 20, 20], &[]), // VkPipelineRasterizationConservativeStateCreateInfoEXT
    (1000102001, [24, 16, 16], &[]), // VkPipelineRasterizationDepthClipStateCreateInfoEXT
    (1000117003, [24, 12, 12], &[]), // VkPipelineTessellationDomainOriginStateCreateInfo
    (1000129005, [24, 16, 16], &[]), // VkExternalFormatANDROID
    (1000143002, [64, 40, 40], &[[(32, 65535, 0), (16, 65535, 0), (16, 65535, 0)], [(56, 52, 8), (36, 32, 8), (36, 32, 8)]]), // VkPipelineSampleLocationsStateCreateInfoEXT
    (1000148002, [32, 20, 20], &[]), // VkPipelineColorBlendAdvancedStateCreateInfoEXT
    (1000149000, [32, 20, 20], &[]), // VkPipelineCoverageToColorStateCreateInfoNV
    (1000152000, [40, 28, 28], &[[(32, 28, 4), (24, 20, 4), (24, 20, 4)]]), // VkPipelineCoverageModulationStateCreateInfoNV
    (1000166001, [24, 12, 12], &[]), // VkPipelineRepresentativeFragmentTestStateCreateInfoNV
    (1000183000, [24, 12, 12], &[]), // VkPipelineCompilerControlCreateInfoAMD
    (1000190001, [32, 16, 16], &[[(24, 16, 8), (12, 8, 8), (12, 8, 8)]]), // VkPipelineVertexInputDivisorStateCreateInfo
    (1000205000, [32, 16, 16], &[[(24, 16, 16), (12, 8, 16), (12, 8, 16)]]), // VkPipelineViewportExclusiveScissorStateCreateInfoNV
    (1000225001, [24, 12, 12], &[]), // VkPipelineShaderStageRequiredSubgroupSizeCreateInfo
    (1000226001, [32, 24, 24], &[]), // VkPipelineFragmentShadingRateStateCreateInfoKHR
    (1000232001, [32, 16, 16], &[[(24, 16, 4), (12, 8, 4), (12, 8, 4)]]), // VkRenderingAttachmentLocationInfo
    (1000232002, [48, 24, 24], &[[(24, 16, 4), (12, 8, 4), (12, 8, 4)], [(32, 65535, 4), (16, 65535, 4), (16, 65535, 4)], [(40, 65535, 4), (20, 65535, 4), (20, 65535, 4)]]), // VkRenderingInputAttachmentIndexInfo
    (1000247000, [48, 24, 24], &[[(24, 16, 4), (12, 8, 4), (12, 8, 4)], [(40, 32, 4), (20, 16, 4), (20, 16, 4)]]), // VkValidationFeaturesEXT
    (1000250001, [24, 16, 16], &[]), // VkPipelineCoverageReductionStateCreateInfoNV
    (1000254001, [24, 12, 12], &[]), // VkPipelineRasterizationProvokingVertexStateCreateInfoEXT
    (1000259001, [32, 24, 24], &[]), // VkPipelineRasterizationLineStateCreateInfo
    (1000283002, [24, 16, 16], &[]), // VkDepthBiasRepresentationInfoEXT
    (1000320002, [24, 12, 12], &[]), // VkGraphicsPipelineLibraryCreateInfoEXT
    (1000326002, [32, 24, 24], &[]), // VkPipelineFragmentShadingRateEnumStateCreateInfoNV
    (1000355001, [24, 12, 12], &[]), // VkPipelineViewportDepthClipControlCreateInfoEXT
    (1000381001, [32, 16, 16], &[[(24, 16, 4), (12, 8, 4), (12, 8, 4)]]), // VkPipelineColorWriteCreateInfoEXT
    (1000452005, [24, 16, 16], &[]), // VkExternalFormatOHOS
    (1000462002, [32, 16, 16], &[[(24, 16, 1), (12, 8, 1), (12, 8, 1)]]), // VkPipelineShaderStageModuleIdentifierCreateInfoEXT
    (1000470005, [24, 16, 16], &[]), // VkPipelineCreateFlags2CreateInfo
    (1000582001, [32, 16, 16], &[[(24, 65535, 8), (12, 65535, 8), (12, 65535, 8)]]), // VkPipelineViewportDepthClampControlCreateInfoEXT
    (1000611002, [24, 12, 12], &[]), // VkPipelineFragmentDensityMapLayeredCreateInfoVALVE
    (1000628002, [40, 28, 28], &[[(24, 20, 4), (16, 12, 4), (16, 12, 4)]]), // VkCustomResolveCreateInfoEXT
];
