rule! { ($)
    /// Samplers and images in descriptor heaps do not suit each other, and a shader may join them.
    ///
    /// ## The specification
    ///
    /// VUID-vkCmdDraw-magFilter-04553, -mipmapMode-04770 and others speak of a sampler and a view that are used together. In the heaps of
    ///   `VK_EXT_descriptor_heap` both are bytes in the application's memory, which a shader finds by an index.
    ///
    /// ## Who trips over it
    ///
    /// Engines that moved to heaps.
    ///
    /// ## What is lost
    ///
    /// Nothing is changed for the sake of such a pair. One record for each device counts the states and classes that do not suit each
    ///   other. Images of integers count only if some shader reads integers through a sampler of a heap, and other images only if
    ///   some shader reads floats so.
    ///
    /// The rest of a heap is repaired:
    ///
    /// - A sampler that `vkWriteSamplerDescriptorsEXT` writes follows every rule of creation (`path`: `heap_write`).
    /// - A sampler that a shader embeds also suits what the shader declares of the image: integers or floats, and the dimension (`path`:
    ///   `embedded`). If the shader reads images of several types through it, only the rules of creation hold, and a record
    ///   names it (`embedded-sampler`).
    /// - A view that `vkWriteResourceDescriptorsEXT` describes follows `view-usage`, `aspect` and `storage-format`.
    ///
    /// ## In the application
    ///
    /// Query the features of each format that is sampled with LINEAR, see `linear-filter`.
    ///
    /// ## Settings
    ///
    /// - A rule with `apply = "sampler"` also holds for samplers in heaps and in shaders. No view is known there, so only the guards
    ///   `unnormalized`, `compare`, `ycbcr` and `nearest` can hold it back, and for an embedded sampler also `integer` and
    ///   `one_dimensional`.
    heap Heap "heap" {
    }
}
