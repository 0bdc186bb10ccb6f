rule! { ($)
    /// More samplers are alive than the device allows.
    ///
    /// ## The specification
    ///
    /// VUID-vkCreateSampler-maxSamplerAllocationCount-04110: at most `maxSamplerAllocationCount` (4000 or more by the
    ///   specification; Apple A12 has 96, M1 has 1024).
    ///
    /// ## Who trips over it
    ///
    /// Engines and translators that make a sampler for each texture or draw.
    ///
    /// ## What is lost
    ///
    /// Nothing of the application's. Once seven eighths of the limit are alive, identical samplers become one sampler of the
    ///   driver, so that only different ones count.
    /// The application then gets equal handles, which Vulkan allows without `privateData` (Fundamentals > Object Model).
    /// Where samplin may not share samplers, the driver refuses those beyond the limit. samplin then makes fewer samplers of its
    ///   own, so some pairs are not repaired.
    ///
    /// ## In the application
    ///
    /// Keep one sampler for each distinct state in a table, with a use count.
    ///
    /// ## Settings
    ///
    /// - `samplers=share` shares them from the start, `samplers=own` never. samplin never shares samplers whose chain holds more
    ///   than a reduction mode, a border colour or mapping and a name, nor those for capture and replay. It shares none with
    ///   `privateData`, descriptor buffers, or rules that look at samplers.
    /// - A rule with `set = { repair = "off" }` leaves the pair as the application asked.
    sampler_budget SamplerBudget "sampler-budget" {
    }
}
