/* What a Vulkan device makes of a sampler and an image view, and what to create instead.
 *
 * Made from capi/src by cbindgen; `UPDATE_DOCS=1 cargo test -p samplin-capi` writes it.
 *
 * Enumerants and flags are Vulkan's numbers. The first member of each structure is its size, `sizeof` in the program: a library that is
 * younger takes zero for the members that the program does not have, and one that is older refuses members that it does not know unless
 * they are zero. A pointer may be null where its function says so, and is else an error. No function keeps a pointer that it is given, and
 * all may be called from any thread, but for an object that another thread is destroying. */

#ifndef SAMPLIN_CORE_H
#define SAMPLIN_CORE_H

#include <stddef.h>
#include <stdint.h>

// What a function came to.
typedef enum SamplinResult {
  // It did what it is for.
  SAMPLIN_RESULT_SUCCESS = 0,
  // A pointer is null that must not be.
  SAMPLIN_RESULT_NULL = -1,
  // The size of a structure is too small, or members that this version does not know are not zero.
  SAMPLIN_RESULT_SIZE = -2,
  // There is nothing at that index.
  SAMPLIN_RESULT_INDEX = -3,
  // The text is of none of the forms that devices come in.
  SAMPLIN_RESULT_MALFORMED = -4,
  // A defect of the library, which has changed nothing.
  SAMPLIN_RESULT_DEFECT = -5,
} SamplinResult;

// A device. Made by `samplin_device_create` or `samplin_device_from_json`, and destroyed by `samplin_device_destroy`.
typedef struct SamplinDevice SamplinDevice;

// What a sampler came to. Made by `samplin_create` or `samplin_decide`, and destroyed by `samplin_outcome_destroy`.
typedef struct SamplinOutcome SamplinOutcome;

// The limits that matter for sampling.
typedef struct SamplinLimits {
  // `sizeof(SamplinLimits)`.
  uint32_t size;
  // `maxSamplerAnisotropy`.
  float max_sampler_anisotropy;
  // `maxSamplerLodBias`.
  float max_sampler_lod_bias;
  // `maxSamplerAllocationCount`.
  uint32_t max_sampler_allocation_count;
  // `maxCustomBorderColorSamplers`.
  uint32_t max_custom_border_color_samplers;
  // `filterMinmaxImageComponentMapping`, 0 or 1.
  uint32_t filter_minmax_image_component_mapping;
  // `maxBlockMatchWindow` of `VK_QCOM_image_processing2`.
  uint32_t max_block_match_window[2];
} SamplinLimits;

// The features and extensions that matter for sampling, as **enabled** on the device: 0 or 1 each.
typedef struct SamplinFeatures {
  // `sizeof(SamplinFeatures)`.
  uint32_t size;
  // `samplerAnisotropy`.
  uint32_t sampler_anisotropy;
  // `samplerMirrorClampToEdge`, or `VK_KHR_sampler_mirror_clamp_to_edge`.
  uint32_t sampler_mirror_clamp_to_edge;
  // `samplerFilterMinmax`, or `VK_EXT_sampler_filter_minmax`.
  uint32_t sampler_filter_minmax;
  // `samplerYcbcrConversion`.
  uint32_t sampler_ycbcr_conversion;
  // `customBorderColors`.
  uint32_t custom_border_colors;
  // `customBorderColorWithoutFormat`.
  uint32_t custom_border_color_without_format;
  // `borderColorSwizzle`.
  uint32_t border_color_swizzle;
  // `borderColorSwizzleFromImage`.
  uint32_t border_color_swizzle_from_image;
  // `nonSeamlessCubeMap`.
  uint32_t non_seamless_cube_map;
  // `VK_IMG_filter_cubic`.
  uint32_t filter_cubic_img;
  // `VK_EXT_filter_cubic`.
  uint32_t filter_cubic_ext;
  // `VK_IMG_filter_linear_2d`.
  uint32_t filter_linear_2d_img;
  // `cubicRangeClamp`.
  uint32_t cubic_range_clamp;
  // `selectableCubicWeights`.
  uint32_t selectable_cubic_weights;
  // `descriptorBufferCaptureReplay`.
  uint32_t descriptor_buffer_capture_replay;
  // `VK_KHR_portability_subset` is enabled, and its `samplerMipLodBias` is not.
  uint32_t lacks_sampler_mip_lod_bias;
  // `VK_KHR_portability_subset` is enabled, and its `mutableComparisonSamplers` is not.
  uint32_t lacks_mutable_comparison_samplers;
  // The program means `GL_CLAMP` and `GL_MIRROR_CLAMP_EXT` by address modes of OpenGL's numbers (`0x2900`, `0x8742`).
  uint32_t gl_address_modes;
  // An extension is enabled that may bring enumerants which samplin does not know. Such values then stay as they are.
  uint32_t unknown_extension;
} SamplinFeatures;

// The features of a format: `VkFormatFeatureFlags2`. An array has them, so its size is fixed for ever.
typedef struct SamplinFormat {
  // `VkFormat`.
  int32_t format;
  // Zero.
  uint32_t reserved;
  // `optimalTilingFeatures`.
  uint64_t optimal;
  // `linearTilingFeatures`.
  uint64_t linear;
  // `bufferFeatures`.
  uint64_t buffer;
} SamplinFormat;

// What a device is made of. Of a format that is not listed nothing is known, so nothing is taken away because of it.
typedef struct SamplinDeviceInfo {
  // `sizeof(SamplinDeviceInfo)`.
  uint32_t size;
  // The setting `border=strict`, 0 or 1.
  uint32_t border_strict;
  // The setting `depth_linear=compare`.
  uint32_t depth_linear_compare;
  // The setting `gl_clamp_rule=min`.
  uint32_t gl_clamp_rule_min;
  // The setting `aniso_nearest=off`.
  uint32_t aniso_nearest_off;
  // May be null.
  const struct SamplinLimits *limits;
  // May be null.
  const struct SamplinFeatures *features;
  // May be null if there are none.
  const struct SamplinFormat *formats;
  // How many formats there are.
  uintptr_t format_count;
} SamplinDeviceInfo;

// What a sampler asks for: the members of `VkSamplerCreateInfo` and of the structures in its chain.
typedef struct SamplinSampler {
  // `sizeof(SamplinSampler)`.
  uint32_t size;
  // `flags`.
  uint32_t flags;
  // `magFilter`.
  int32_t mag_filter;
  // `minFilter`.
  int32_t min_filter;
  // `mipmapMode`.
  int32_t mipmap_mode;
  // `addressModeU`, `addressModeV` and `addressModeW`.
  int32_t address_mode[3];
  // `mipLodBias`.
  float mip_lod_bias;
  // `anisotropyEnable`.
  uint32_t anisotropy_enable;
  // `maxAnisotropy`.
  float max_anisotropy;
  // `compareEnable`.
  uint32_t compare_enable;
  // `compareOp`.
  int32_t compare_op;
  // `minLod`.
  float min_lod;
  // `maxLod`.
  float max_lod;
  // `borderColor`.
  int32_t border_color;
  // `unnormalizedCoordinates`.
  uint32_t unnormalized_coordinates;
  // `VkSamplerReductionModeCreateInfo` is chained.
  uint32_t has_reduction_mode;
  // Its `reductionMode`.
  int32_t reduction_mode;
  // `VkSamplerCustomBorderColorCreateInfoEXT` is chained.
  uint32_t has_custom_border;
  // The words of its `customBorderColor`.
  uint32_t custom_border_color[4];
  // Its `format`.
  int32_t custom_border_format;
  // `VkSamplerBorderColorComponentMappingCreateInfoEXT` is chained.
  uint32_t has_border_mapping;
  // Its `components`.
  int32_t border_components[4];
  // Its `srgb`.
  uint32_t border_srgb;
  // `VkSamplerCubicWeightsCreateInfoQCOM` is chained.
  uint32_t has_cubic_weights;
  // Its `cubicWeights`.
  int32_t cubic_weights;
  // `VkSamplerBlockMatchWindowCreateInfoQCOM` is chained.
  uint32_t has_block_match;
  // Its `windowExtent`.
  uint32_t block_match_extent[2];
  // Its `windowCompareMode`.
  int32_t block_match_compare_mode;
  // `VkOpaqueCaptureDescriptorDataCreateInfoEXT` is chained.
  uint32_t opaque_capture;
  // `VkSamplerYcbcrConversionInfo` is chained.
  uint32_t has_ycbcr;
  // The `chromaFilter` of its conversion.
  int32_t ycbcr_chroma_filter;
  // The features of its format allow filters that differ from `chromaFilter`, or are not known.
  uint32_t ycbcr_separate_reconstruction;
  // The handle of its conversion.
  uint64_t ycbcr_handle;
  // Anything that equal conversions have in common.
  uint64_t ycbcr_fingerprint;
} SamplinSampler;

// An image view, and what matters of its image. `samplin_view_2d` fills in the usual one.
typedef struct SamplinView {
  // `sizeof(SamplinView)`.
  uint32_t size;
  // `format` of the view.
  int32_t format;
  // `viewType`.
  int32_t view_type;
  // `components`.
  int32_t components[4];
  // `subresourceRange.aspectMask`.
  uint32_t aspect_mask;
  // `subresourceRange.baseMipLevel`.
  uint32_t base_mip_level;
  // `subresourceRange.levelCount`.
  uint32_t level_count;
  // `subresourceRange.baseArrayLayer`.
  uint32_t base_array_layer;
  // `subresourceRange.layerCount`.
  uint32_t layer_count;
  // The usage of the view, which is the image's unless `VkImageViewUsageCreateInfo` is chained.
  uint32_t usage;
  // A `VkSamplerYcbcrConversion` is chained.
  uint32_t has_conversion;
  // The device was asked about the image, and answered without `filterCubic`.
  uint32_t lacks_filter_cubic;
  // The same without `filterCubicMinmax`.
  uint32_t lacks_filter_cubic_minmax;
  // How shaders read it: 0 if that is not known, 1 if none compares, 2 if one does.
  uint32_t reads;
  // `imageType`.
  int32_t image_type;
  // `tiling` of the image.
  int32_t image_tiling;
  // `flags` of the image.
  uint32_t image_flags;
  // `mipLevels` of the image.
  uint32_t image_levels;
  // `arrayLayers` of the image.
  uint32_t image_layers;
  // Its DRM format modifier.
  uint64_t image_modifier;
} SamplinView;

// One member of a create info that had to change.
typedef struct SamplinChange {
  // `sizeof(SamplinChange)`.
  uint32_t size;
  // The stable name of the rule, such as `linear-filter`.
  const char *rule;
  // The row of the catalogue of rules, such as `B-1`.
  const char *catalog;
  // Vulkan's name of the member.
  const char *field;
  // The value before, as Vulkan spells it.
  const char *from;
  // The value after.
  const char *to;
  // Why, in one clause.
  const char *because;
  // The valid usage that the value before breaks; null if no valid-usage id says so.
  const char *vuid;
  // What the application does not get.
  const char *lost;
} SamplinChange;

// Something that stays wrong, because only another view or another device could repair it.
typedef struct SamplinUnresolved {
  // `sizeof(SamplinUnresolved)`.
  uint32_t size;
  // The stable name of the rule.
  const char *rule;
  // The valid usage that is broken; null if no valid-usage id says so.
  const char *vuid;
  // What is wrong, in a sentence.
  const char *because;
} SamplinUnresolved;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, as `1.2.3`. Lasts for ever.
const char *samplin_version(void);

// Makes a device of what it reports. Without limits or features they are the least of Vulkan 1.0.
//
// # Safety
//
// `info` points to a structure of its size whose pointers are null or point to as many elements as it says; `device` can be written.
enum SamplinResult samplin_device_create(const struct SamplinDeviceInfo *info,
                                         struct SamplinDevice **device);

// Makes a device of a capability file, a report of vulkan.gpuinfo.org, or a Vulkan Profile, with everything enabled that it has.
//
// If the text is none of these, `message` says why, in at most `message_size` bytes with the zero at the end. It may be null.
//
// # Safety
//
// `text` points to `length` bytes, `message` is null or points to `message_size` bytes that can be written; `device` can be written.
enum SamplinResult samplin_device_from_json(const char *text,
                                            uintptr_t length,
                                            struct SamplinDevice **device,
                                            char *message,
                                            uintptr_t message_size);

// Destroys a device, or nothing if it is null.
//
// # Safety
//
// The device is null, or is one of this library's and used no more.
void samplin_device_destroy(struct SamplinDevice *device);

// Says what `vkCreateSampler` may be called with instead of `sampler`.
//
// # Safety
//
// `device` is null or one of this library's; `sampler` points to a structure of its size; `outcome` can be written.
enum SamplinResult samplin_create(const struct SamplinDevice *device,
                                  const struct SamplinSampler *sampler,
                                  struct SamplinOutcome **outcome);

// Says what the sampler of a descriptor with `view` may be instead of `sampler`.
//
// # Safety
//
// `device` is null or one of this library's; `sampler` and `view` point to structures of their sizes; `outcome` can be written.
enum SamplinResult samplin_decide(const struct SamplinDevice *device,
                                  const struct SamplinSampler *sampler,
                                  const struct SamplinView *view,
                                  struct SamplinOutcome **outcome);

// Destroys an outcome with the texts that were read from it, or nothing if it is null.
//
// # Safety
//
// The outcome is null, or is one of this library's and used no more.
void samplin_outcome_destroy(struct SamplinOutcome *outcome);

// Writes the state to create the sampler with. The program sets `sampler->size` before.
//
// # Safety
//
// `outcome` is null or one of this library's; `sampler` points to a structure of its size that can be written.
enum SamplinResult samplin_outcome_sampler(const struct SamplinOutcome *outcome, struct SamplinSampler *sampler);

// How many changes there are; 0 of null.
//
// # Safety
//
// `outcome` is null or one of this library's.
uintptr_t samplin_outcome_change_count(const struct SamplinOutcome *outcome);

// Writes a change. Its texts last as long as the outcome. The program sets `change->size` before.
//
// # Safety
//
// `outcome` is null or one of this library's; `change` points to a structure of its size that can be written.
enum SamplinResult samplin_outcome_change(const struct SamplinOutcome *outcome,
                                          uintptr_t index,
                                          struct SamplinChange *change);

// How many things stay wrong; 0 of null.
//
// # Safety
//
// `outcome` is null or one of this library's.
uintptr_t samplin_outcome_unresolved_count(const struct SamplinOutcome *outcome);

// Writes something that stays wrong. Its texts last as long as the outcome. The program sets `unresolved->size` before.
//
// # Safety
//
// `outcome` is null or one of this library's; `unresolved` points to a structure of its size that can be written.
enum SamplinResult samplin_outcome_unresolved(const struct SamplinOutcome *outcome,
                                              uintptr_t index,
                                              struct SamplinUnresolved *unresolved);

// Fills in a 2D view with one level and one layer of an optimally tiled image of the format, for sampling. The program sets `view->size`
// before.
//
// # Safety
//
// `view` points to a structure of its size that can be written.
enum SamplinResult samplin_view_2d(int format,
                                   struct SamplinView *view);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SAMPLIN_CORE_H */
