rule! { ($)
    /// `maxLod` is below `minLod`.
    ///
    /// ## The specification
    ///
    /// VUID-VkSamplerCreateInfo-maxLod-01973. The level of detail is clamped to a range that is empty, which is undefined.
    ///
    /// ## Who trips over it
    ///
    /// Streaming systems that raise `minLod` above a fixed `maxLod`; `maxLod` left at 0.
    ///
    /// ## What is lost
    ///
    /// Nothing: samplin exchanges the two ends.
    ///
    /// ## In the application
    ///
    /// ```c
    /// info.minLod = resident_level;
    /// info.maxLod = VK_LOD_CLAMP_NONE;   /* all levels of the view */
    /// ```
    ///
    /// ## Settings
    ///
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    lod_range LodRange "lod-range" {
        A4 "A-4" Vuid("VUID-VkSamplerCreateInfo-maxLod-01973")
            lost "nothing: the same two ends, in order", because "maxLod is less than minLod, or one of them is not a number";
    }
}
