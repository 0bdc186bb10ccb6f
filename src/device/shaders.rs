//! Shaders that are rewritten as they come, whatever they are then used for: what of the passes of `spirv/` a device can need, and what
//! goes down in place of a module's words. `told` writes it down.

mod told;

use samplin_hot::memory;
use samplin_spirv::atomic_counters::{self, Target};
use samplin_spirv::image_access;
use samplin_spirv::passes::{self, ModuleOptions};
use samplin_spirv::scan::{Scan, scan};

use super::Device;
use crate::decide::DeviceCaps;
use crate::platform;
use crate::settings::{Counters, Settings, Storage};

/// What is done about the modules of one device.
pub struct Shaders {
    options: ModuleOptions,
}

impl Shaders {
    /// What settings ask for and the device can need.
    pub(super) fn new(settings: &Settings, caps: &DeviceCaps) -> Self {
        let (read, write) = (caps.storage_read_without_format, caps.storage_write_without_format);
        let relax = settings.storage == Storage::Emulate && (read || write);
        let may_declare = caps.format_feature_flags2;
        let can_find = relax || !(may_declare || read && write);
        let target = match settings.counters {
            Counters::None => caps.gl_shaders.then_some(Target::Auto),
            Counters::Auto => Some(Target::Auto),
            Counters::At { set, first } => Some(Target::At { set, first }),
        };
        let draw_parameters = caps.shader_draw_parameters;
        Self {
            options: ModuleOptions {
                images: can_find.then_some(image_access::Options { read, write, may_declare, relax }),
                counters: target.map(|target| atomic_counters::Options { target, draw_parameters }),
            },
        }
    }

    /// Whether a module can become another one.
    pub fn can_act(&self) -> bool {
        self.options != ModuleOptions::default()
    }
}

impl Device {
    /// The words that go down in place of a module's, if not these. What is of interest is written down before that.
    pub fn module_words(&self, words: &[u32]) -> Option<Vec<u32>> {
        let found = scan(words);
        let options = &self.shaders.options;
        let is_of_opengl = found.intersects(Scan::COUNTERS | Scan::GL);
        if options.counters.is_none() && is_of_opengl {
            self.opengl_unresolved(words, found);
        }
        if !self.shaders.can_act() {
            return None;
        }
        let started = platform::now_ns();
        let Ok(outcome) = passes::for_module(words, found, options) else { memory::give_up() };
        self.tell_of_module(words, &outcome, platform::now_ns().saturating_sub(started));
        outcome.words.filter(|_| !self.audit)
    }
}
