//! Shaders that are rewritten as they come, whatever they are then used for: what of the passes of `spirv/` a device can need, and what
//! goes down in place of a module's words. `told` writes it down.

mod told;

use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory;
use samplin_spirv::atomic_counters::{self, Target};
use samplin_spirv::image_access;
use samplin_spirv::passes::{self, Change, ModuleOptions};
use samplin_spirv::scan::{Scan, scan};

use super::Device;
use crate::decide::DeviceCaps;
use crate::platform;
use crate::settings::{Counters, Settings, Storage};
use crate::table::HandleMap;

/// What is done about the modules of one device.
pub struct Shaders {
    options: ModuleOptions,
    /// Where modules have the buffers of their counters, by set and binding.
    counters: HandleMap<Vec<(u32, u32)>>,
}

/// What goes down in place of a module's words.
pub struct Rewritten {
    /// The words.
    pub words: Vec<u32>,
    /// Where they have the buffers of their counters, by set and binding.
    counters: Vec<(u32, u32)>,
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
                // What counts is whether the feature is enabled, by whomever.
                without_samples: !caps.sample_rate_shading,
            },
            counters: HandleMap::default(),
        }
    }

    /// Remembers where a module that was made of other words has its counters.
    pub fn insert(&self, module: vk::ShaderModule, made_of: &Rewritten) {
        if !made_of.counters.is_empty() {
            let mut counters = memory::vec(made_of.counters.len());
            counters.extend_from_slice(&made_of.counters);
            self.counters.insert(module.as_raw(), Arc::new(counters));
        }
    }

    /// Forgets a module.
    pub fn forget(&self, module: vk::ShaderModule) {
        if self.options.counters.is_some() {
            self.counters.remove(module.as_raw());
        }
    }

    /// Whether a module can become another one.
    pub fn can_act(&self) -> bool {
        self.options != ModuleOptions::default()
    }
}

impl Device {
    /// Forgets a module that is about to be destroyed.
    pub fn forget_module(&self, module: vk::ShaderModule) {
        if let Some(separate) = self.separate.as_deref() {
            separate.forget_module(module);
        }
        self.shaders.forget(module);
    }

    /// The words that go down in place of a module's, if not these. What is of interest is written down before that.
    pub fn module_words(&self, words: &[u32]) -> Option<Rewritten> {
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
        let buffers = outcome.changes.iter().filter_map(|(_, change)| match change {
            Change::Counters(buffer) => Some((buffer.set, buffer.binding)),
            _ => None,
        });
        let counters = memory::collect(buffers);
        outcome.words.filter(|_| !self.audit).map(|words| Rewritten { words, counters })
    }

    /// Says of the counters of a stage what of the layout is no storage buffer. Layouts are known with `separate=resolve` only.
    ///
    /// # Safety
    ///
    /// Both are valid or null, and not destroyed during the call.
    pub unsafe fn check_counters(&self, layout: vk::PipelineLayout, module: vk::ShaderModule) {
        let Some(separate) = self.separate.as_deref().filter(|_| self.shaders.options.counters.is_some()) else {
            return;
        };
        // SAFETY: the module is not destroyed meanwhile, by this function's contract.
        let Some(counters) = (unsafe { self.shaders.counters.get(module.as_raw()) }) else { return };
        for at in counters {
            // SAFETY: the layout is not destroyed meanwhile, by this function's contract.
            match unsafe { separate.descriptor_type(layout, *at) } {
                None | Some(Some(vk::DescriptorType::STORAGE_BUFFER | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC)) => {}
                Some(ty) => self.layout_unresolved(*at, ty),
            }
        }
    }
}
