//! What is remembered of samplers and images that only shaders join: rows of [`crate::device::caches`].

use super::Separate;
use super::found::RESOLUTIONS_IN_ALL;
use super::hidden::MOST;
use super::lists::PLACES;
use super::recipe::FIXED;
use crate::device::caches::Cache;
use crate::table::lock;

/// A count of what a device keeps for `separate=resolve`.
macro_rules! count {
    (|$separate:ident| $count:expr) => {
        |_, separate| separate.map_or(0, |$separate: &Separate| $count)
    };
}

/// Lists whose entries of what is gone are looked for when there are twice as many as at the last look, and 64.
const SWEPT: usize = 2 * 64;

pub(in crate::device) const CACHES: [Cache; 18] = [
    Cache {
        name: "resolutions",
        owner: "the pipeline, and the samplers that they name",
        most: Some(RESOLUTIONS_IN_ALL),
        eviction: "the whole shard when it is full",
        count: count!(|separate| separate.resolutions.len()),
    },
    Cache {
        name: "hidden sets that are found",
        owner: "the last pipeline with such a set, and each sampler",
        most: Some(2 * MOST),
        eviction: "those that were asked for longest ago",
        count: count!(|separate| separate.hidden.count().0),
    },
    Cache {
        name: "hidden sets that are held",
        owner: "the command buffers that they are bound in",
        most: Some(MOST),
        eviction: "when no command buffer holds them",
        count: count!(|separate| separate.hidden.count().1),
    },
    Cache {
        name: "buffers of tasks",
        owner: "hidden sets",
        most: Some(1),
        eviction: "with their last slice, but for one",
        count: count!(|separate| separate.blocks.len()),
    },
    Cache {
        name: "rows and places of tables",
        owner: "samplers",
        most: Some(2 * PLACES as usize),
        eviction: "with the sampler",
        count: count!(|separate| separate.tables.count()),
    },
    Cache {
        name: "buffers of tables",
        owner: "sets, and hidden sets",
        most: None,
        eviction: "with their last slice, but for one",
        count: count!(|separate| separate.tables.blocks.len()),
    },
    Cache {
        name: "second pipelines",
        owner: "the pipeline that they stand in for",
        most: Some(2 * FIXED),
        eviction: "of those with tasks in their code, the one that was wanted longest ago and that no command buffer holds",
        count: count!(|separate| separate.of_programs(|program| program.splits.len())),
    },
    Cache {
        name: "links recorded once",
        owner: "the pipeline",
        most: Some(256),
        eviction: "the older half, which is recorded again if it is met again",
        count: count!(|separate| separate.of_programs(|program| lock(&program.records.links).len())),
    },
    Cache {
        name: "links recorded late",
        owner: "the pipeline",
        most: None,
        eviction: "none: one for each link at most",
        count: count!(|separate| separate.of_programs(|program| lock(&program.records.late).len())),
    },
    Cache {
        name: "combinations of shader objects",
        owner: "each of the shaders",
        most: Some(SWEPT),
        eviction: "those that nothing was made for and that are not bound",
        count: count!(|separate| separate.shaders.combinations()),
    },
    Cache {
        name: "arrays of descriptors",
        owner: "the set",
        most: Some(0),
        eviction: "none: no more than `resolve_memory`, and a set beyond that has none",
        count: count!(|separate| separate.arrays.count()),
    },
    Cache {
        name: "states and classes in arrays",
        owner: "the device",
        most: None,
        eviction: "none: only counted with `trace_level=all`",
        count: count!(|separate| separate.held_in_arrays()),
    },
    Cache {
        name: "words of modules",
        owner: "modules and pipelines with these words",
        most: Some(SWEPT),
        eviction: "those of words that are gone; `resolve_memory` bounds what only pipelines have",
        count: count!(|separate| separate.words.len()),
    },
    Cache {
        name: "pipelines that can be compiled again",
        owner: "the pipeline",
        most: Some(SWEPT),
        eviction: "the oldest when there are more bytes than `resolve_memory`, those that are split last",
        count: count!(|separate| lock(&separate.kept).len()),
    },
    Cache {
        name: "learned links",
        owner: "the device",
        most: Some(1 << 16),
        eviction: "none: the first stay",
        count: count!(|separate| separate.learned.count()),
    },
    Cache {
        name: "set definitions",
        owner: "layouts and hidden sets that are defined so",
        most: Some(2 * SWEPT + 2 * MOST),
        eviction: "those that are gone",
        count: count!(|separate| separate.layouts.definitions()),
    },
    Cache {
        name: "layouts of the layer's own",
        owner: "layouts, pipelines and hidden sets that are defined so",
        most: Some(2 * SWEPT + 2 * MOST),
        eviction: "those that are gone",
        count: count!(|separate| separate.layouts.own()),
    },
    Cache {
        name: "render passes of the layer's own",
        owner: "pipelines that can be compiled again with them",
        most: Some(2 * SWEPT + 2 * MOST),
        eviction: "those that are gone",
        count: count!(|separate| lock(&separate.own_passes).twins.len()),
    },
];
