//! The list of everything that a device remembers beyond the objects of the application, with what bounds it.
//!
//! Whoever adds a cache adds its row. `tests/mock/caches.rs` runs an application for 100,000 frames that replaces its objects in each, and
//! holds every row against its bound.

use super::activity::{self, Activity};
use super::resolve::On;
use super::separate::{self, Separate};

/// What is remembered of one kind.
pub struct Cache {
    /// Its name.
    pub name: &'static str,
    /// Whose end is the end of an entry.
    pub owner: &'static str,
    /// Most entries without an owner that is alive, or in one of them; none where only what the application defines differently counts.
    pub most: Option<usize>,
    /// What makes room.
    pub eviction: &'static str,
    /// Entries now.
    pub count: fn(On<'_>, Option<&Separate>) -> usize,
}

/// What every device has.
const GENERAL: [Cache; 8] = [
    Cache {
        name: "sampler states",
        owner: "samplers with the state",
        most: Some(512),
        eviction: "the state that has been without a sampler for longest",
        count: |On { ground, pairs }, _| pairs.samplers.rows(&ground.hot).kept(),
    },
    Cache {
        name: "variants",
        owner: "samplers that they stand in for",
        most: None,
        eviction: "none: an eighth of the device's samplers at most",
        count: |On { pairs, .. }, _| pairs.samplers.cache.variants().live as usize,
    },
    Cache {
        name: "image definitions",
        owner: "the device",
        most: None,
        eviction: "none: equal definitions are one entry",
        count: |On { pairs, .. }, _| pairs.images.image_definitions(),
    },
    Cache {
        name: "view classes",
        owner: "the device",
        most: None,
        eviction: "none: equal classes are one entry",
        count: |On { pairs, .. }, _| pairs.images.view_classes(),
    },
    Cache {
        name: "names",
        owner: "the object that is named",
        most: Some(0),
        eviction: "none",
        count: |On { ground, .. }, _| ground.journal.remembered()[0],
    },
    Cache {
        name: "things said once",
        owner: "the device",
        // Six lists, and a shorter one of links.
        most: Some(6 * 4096 + 512),
        eviction: "the older half, which is said again if it comes up",
        count: |On { ground, .. }, _| ground.journal.remembered()[1],
    },
    Cache {
        name: "command buffers with counted draws",
        owner: "the device",
        most: Some(activity::MOST),
        eviction: "all: those that are recorded are not counted",
        count: |On { pairs, .. }, _| pairs.activity.as_deref().map_or(0, Activity::remembered),
    },
    Cache {
        name: "samplers in heaps and shaders",
        owner: "the device",
        most: Some(2 * 4096),
        eviction: "none: what comes then is only counted",
        count: |On { pairs, .. }, _| pairs.heaps.remembered(),
    },
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Cache> {
    GENERAL.iter().chain(&separate::CACHES)
}
