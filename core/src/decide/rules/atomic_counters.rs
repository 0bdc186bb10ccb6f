rule! { ($)
    /// A shader for OpenGL uses atomic counters.
    ///
    /// ## The specification
    ///
    /// VUID-VkShaderModuleCreateInfo-pCode-08740: Vulkan does not know the capability `AtomicStorage`. samplin turns counters into
    ///   storage buffers.
    ///
    /// ## Who trips over it
    ///
    /// Translators that hand OpenGL's SPIR-V to Vulkan.
    ///
    /// ## What is lost
    ///
    /// Nothing: the counters are in storage buffers.
    ///
    /// ## In the application
    ///
    /// Declare a storage buffer and use `atomicAdd`:
    ///
    /// ```glsl
    /// layout(set = 0, binding = 4, std430) buffer Counters { uint count; };
    /// ```
    ///
    /// ## Settings
    ///
    /// - `counters=auto` or `counters=S:F` says which buffers stand for the counters; `VK_SAMPLIN_gl_shaders` asks for `auto`.
    atomic_counters AtomicCounters "atomic-counters" {
        K1 "K-1" Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740")
            lost "nothing: the counters are in storage buffers", because "Vulkan has no atomic counters";
        K1Valid "K-1" Vuid("VUID-VkShaderModuleCreateInfo-pCode-08737")
            lost "nothing: OpenGL has it, and Vulkan expresses it differently", because "OpenGL has it, Vulkan does not";
        K1Origin "K-1" Vuid("VUID-StandaloneSpirv-OriginLowerLeft-04653")
            lost "nothing: the shader does not read where it is",
            because "Vulkan's origin is the upper left, and its pixel centres are not integers";
    }
}
