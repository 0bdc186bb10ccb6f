//! Stages of shaders as SPIR-V numbers them.

use ash::vk;

/// Number of the execution model of a stage; none for a stage that reads no images here.
pub fn model(stage: vk::ShaderStageFlags) -> Option<u32> {
    use vk::ShaderStageFlags as S;
    // SPIR-V specification, "Execution Model".
    let models: &[(vk::ShaderStageFlags, u32)] = &[
        (S::VERTEX, 0),
        (S::TESSELLATION_CONTROL, 1),
        (S::TESSELLATION_EVALUATION, 2),
        (S::GEOMETRY, 3),
        (S::FRAGMENT, 4),
        (S::COMPUTE, 5),
        (S::RAYGEN_KHR, 5313),
        (S::INTERSECTION_KHR, 5314),
        (S::ANY_HIT_KHR, 5315),
        (S::CLOSEST_HIT_KHR, 5316),
        (S::MISS_KHR, 5317),
        (S::CALLABLE_KHR, 5318),
        (S::TASK_EXT, 5364),
        (S::MESH_EXT, 5365),
    ];
    models.iter().find(|(other, _)| *other == stage).map(|(_, model)| *model)
}
