rule! { ($)
    /// Samplers lie in a descriptor heap, where samplin does not look.
    ///
    /// ## The specification
    ///
    /// `VK_EXT_descriptor_heap`: descriptors are bytes in the application's memory, and pairs exist in shaders only.
    ///
    /// ## Who trips over it
    ///
    /// Engines that moved to heaps.
    ///
    /// ## What is lost
    ///
    /// Nothing is changed, and pairs in heaps are neither judged nor repaired.
    ///
    /// ## In the application
    ///
    /// Ask the device for each format that is sampled with LINEAR, see `linear-filter`.
    ///
    /// ## Settings
    ///
    /// None.
    heap Heap "heap" {
    }
}
