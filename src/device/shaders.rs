//! Shaders that are rewritten as they come, whatever they are then used for: what of the passes of `spirv/` a device can need, and what
//! reaches the driver in place of a module's words. `sampling` has what depends on the pipeline as well, `records` writes both down.

mod records;
mod shading;

use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory;
use samplin_spirv::Module;
use samplin_spirv::atomic_counters::{self, Target};
use samplin_spirv::image_access;
use samplin_spirv::image_formats;
use samplin_spirv::passes::{self, ModuleOptions, Pass, PassChange};
use samplin_spirv::scan::{Scan, scan};

pub use self::records::PipelineRecord;
pub use self::shading::{Shading, ShadingRequest};
use super::driver::Driver;
use super::ground::Ground;
use super::journal::Journal;
use super::live::Live;
use super::modules::fingerprint;
use super::resolve::Pairs;
use super::separate::Separate;
use crate::decide::{self, DeviceCaps};
use crate::platform;
use crate::settings::{Counters, Settings};
use crate::table::HandleMap;

/// What is done about the modules of one device.
pub struct Shaders {
    options: ModuleOptions,
    /// Overrides are about pipelines, so that words of fragment shaders are kept.
    pipelines: bool,
    modules: HandleMap<KeptModule>,
}

/// What is kept of a module.
#[derive(Default)]
struct KeptModule {
    /// Where it has the buffers of its counters, by set and binding.
    counters: Vec<(u32, u32)>,
    /// What was done because the device has no sample shading, and the fingerprint of what it was done to.
    lowered: (u64, Vec<decide::Change>),
    /// Its words, if they may be asked for and nobody else has them.
    words: Vec<u32>,
}

impl KeptModule {
    /// With words, of which a copy is made.
    fn with(&self, words: &[u32]) -> Self {
        Self {
            counters: memory::collect(self.counters.iter().copied()),
            lowered: (self.lowered.0, memory::collect(self.lowered.1.iter().copied())),
            words: memory::collect(words.iter().copied()),
        }
    }
}

/// What reaches the driver in place of a module's words.
pub struct Rewritten {
    /// The words.
    pub words: Vec<u32>,
    /// The same with the image formats that the application declares, if others stand for them.
    pub declared: Option<Vec<u32>>,
    kept: Arc<KeptModule>,
}

impl Rewritten {
    /// Says what is not known of a shader object: how many samples there will be.
    pub fn of_an_object(&self, journal: &Journal) {
        let (module, changes) = &self.kept.lowered;
        if !changes.is_empty() {
            journal.samples_unresolved(*module);
        }
    }
}

impl Shaders {
    /// What settings ask for and the device can need: formats that it cannot store, and how many storage buffers a stage may have.
    pub(super) fn new(
        settings: &Settings,
        caps: &DeviceCaps,
        looks_at_pipelines: bool,
        formats: image_formats::Options,
        storage_buffers: u32,
    ) -> Self {
        let (read, write) = (caps.storage_read_without_format, caps.storage_write_without_format);
        let relax = settings.storage.emulates() && (read || write);
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
                counters: target.map(|target| atomic_counters::Options { target, draw_parameters, storage_buffers }),
                formats,
                // What counts is whether the feature is enabled, by whomever.
                without_samples: !caps.sample_rate_shading,
                mask_words: caps.max_sample_mask_words,
            },
            pipelines: looks_at_pipelines,
            modules: HandleMap::default(),
        }
    }

    /// Forgets a module.
    pub fn forget(&self, module: vk::ShaderModule) {
        if self.can_act() {
            self.modules.remove(module.as_raw());
        }
    }

    /// Whether modules or pipelines can become other ones, but for masks that are too long.
    pub fn can_act(&self) -> bool {
        self.pipelines || ModuleOptions { mask_words: 0, ..self.options } != ModuleOptions::default()
    }

    /// Remembers of a module what pipelines of it depend on: the application's words, and what it was made of if not these.
    pub fn insert_module(
        &self,
        separate: Option<&Separate>,
        module: vk::ShaderModule,
        given: &[u32],
        made_of: Option<&Rewritten>,
    ) {
        let words = made_of.map_or(given, |made_of| &made_of.words);
        if let Some(separate) = separate {
            separate.insert_module(module, words, made_of.and_then(|made_of| made_of.declared.as_deref()));
        }
        let keeps = separate.is_none() && self.pipelines && scan(words).intersects(Scan::FRAGMENT);
        let kept = match made_of {
            None if !keeps => return,
            None => Arc::new(KeptModule::default().with(words)),
            Some(made_of) if keeps => Arc::new(made_of.kept.with(words)),
            Some(made_of) if made_of.kept.counters.is_empty() && made_of.kept.lowered.1.is_empty() => return,
            Some(made_of) => Arc::clone(&made_of.kept),
        };
        self.modules.insert(module.as_raw(), kept);
    }

    /// Forgets a module that is about to be destroyed.
    pub fn forget_module(&self, separate: Option<&Separate>, module: vk::ShaderModule) {
        if let Some(separate) = separate {
            separate.forget_separate_module(module);
        }
        self.forget(module);
    }

    /// The words that reach the driver in place of a module's, if not these. What is of interest is written down before that.
    pub fn module_words(&self, ground: &Ground, pairs: &Pairs, words: &[u32]) -> Option<Rewritten> {
        let found = scan(words);
        if ground.journal.records_all() {
            ground.journal.record_weaker(words, found);
        }
        let options = &self.options;
        let is_of_opengl = found.intersects(Scan::COUNTERS | Scan::GL);
        if options.counters.is_none() && is_of_opengl {
            ground.journal.opengl_unresolved(words, found);
        }
        if !self.can_act() && !found.intersects(Scan::SAMPLE_MASK) {
            return None;
        }
        let started = platform::now_ns();
        let Ok(outcome) = passes::for_module(words, found, options) else { memory::give_up() };
        ground.journal.record_module(words, &outcome, platform::now_ns().saturating_sub(started));
        if found.intersects(Scan::STORAGE_IMAGES) && pairs.stand_ins.storage.is_lowering() {
            pairs.stand_ins.storage.formatless_module(
                &ground.journal,
                &pairs.images,
                outcome.words.as_deref().unwrap_or(words),
                fingerprint(words),
            );
        }
        let buffers = outcome.changes.iter().filter_map(|(_, change)| match change {
            PassChange::Counters(buffer) => Some((buffer.set, buffer.binding)),
            _ => None,
        });
        let counters = memory::collect(buffers);
        if !counters.is_empty() {
            self.stores_unresolved(&ground.driver, &ground.journal, words);
        }
        let lowered = outcome.changes.iter().filter(|(pass, _)| *pass == Pass::SampleBuiltins);
        let lowered = memory::collect(lowered.filter_map(|(pass, change)| records::change(*pass, change)));
        let lowered = (if lowered.is_empty() { 0 } else { fingerprint(words) }, lowered);
        let kept = Arc::new(KeptModule { counters, lowered, words: Vec::new() });
        let words = outcome.words.filter(|_| !ground.wishes.audit)?;
        Some(Rewritten { words, declared: outcome.declared, kept })
    }

    /// Words of which a pass has made others before formats were converted, with that done again.
    pub fn with_formats(&self, words: Vec<u32>) -> Rewritten {
        let options = ModuleOptions { formats: self.options.formats, ..ModuleOptions::default() };
        let Ok(outcome) = passes::for_module(&words, scan(&words), &options) else { memory::give_up() };
        let (words, kept) = (outcome.words.unwrap_or(words), Arc::default());
        Rewritten { words, declared: outcome.declared, kept }
    }

    /// Names the stages of a module that may not write buffers, where its counters have become some.
    fn stores_unresolved(&self, driver: &Driver, journal: &Journal, words: &[u32]) {
        let Ok(module) = Module::read(words) else { return };
        for entry in module.entry_points() {
            let lacking = match entry.model() {
                // Vertex, both of tessellation, geometry.
                0..=3 if !driver.caps.vertex_stores => "vertexPipelineStoresAndAtomics",
                4 if !driver.caps.fragment_stores => "fragmentStoresAndAtomics",
                _ => continue,
            };
            journal.stage_unresolved(words, lacking);
        }
    }

    /// Says of the counters of a stage what of the layout is no storage buffer. Layouts are known with `separate=resolve` only.
    pub fn check_counters(
        &self,
        journal: &Journal,
        separate: Option<&Separate>,
        layout: Live<'_, vk::PipelineLayout>,
        module: Live<'_, vk::ShaderModule>,
    ) {
        let Some(separate) = separate.filter(|_| self.options.counters.is_some()) else {
            return;
        };
        let Some(kept) = module.of(&self.modules) else { return };
        for at in &kept.counters {
            match separate.descriptor_type(layout, at.0, at.1) {
                None | Some(Some(vk::DescriptorType::STORAGE_BUFFER | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC)) => {}
                Some(ty) => journal.layout_unresolved(at.0, at.1, ty),
            }
        }
    }
}
