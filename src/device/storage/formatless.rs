//! Shaders that read or write storage images without a format, where a view of integers stands in for the application's: they meet the
//! bits of texels and not their values, and nothing in a module says so.
//!
//! Which image a shader meets is known when something is drawn, and nobody looks there. Known before is to which binding a view was
//! written, its dimension and what its components are; where a shader has such an image without a format at a binding of that number,
//! in whatever set, that is recorded. Either may come first, and modules are gone before anything is drawn, so both are kept.

use std::sync::Mutex;

use samplin_core::declared::dimension;
use samplin_core::left::Cause;
use samplin_hot::memory::Room;
use samplin_spirv::Module;
use samplin_spirv::image_access::{Formatless, formatless};
use samplin_wire::record::Descriptor;
use serde_json::Value as Json;

use crate::decide::{Rule, ViewTraits};
use crate::device::ground::Ground;
use crate::device::images::Images;
use crate::device::journal::Journal;
use crate::device::modules::add_module;
use crate::device::shown::OWN;
use crate::device::storage::Storage;
use crate::format::{NumericClass, numeric_class};
use crate::names;
use crate::record;
use crate::table::{FlatTable, lock};

/// Shaders and views that may meet.
pub(super) struct Meetings {
    /// Images without a format, by the fingerprint of their module.
    shaders: Mutex<Vec<(u64, Formatless)>>,
    /// These fingerprints.
    modules: FlatTable,
    /// Where views were written: number of the class and 1, and binding.
    views: FlatTable,
}

/// Of a descriptor that lies in memory: any binding.
const ANY: u32 = u32::MAX;
/// In a key of `views`: of a texel buffer, which has no class.
const BUFFER: u64 = 1 << 63;
/// `Dim::DimBuffer`.
const DIM_BUFFER: u32 = 5;

impl Meetings {
    pub(super) fn new() -> Self {
        Self { shaders: Mutex::default(), modules: FlatTable::new(8), views: FlatTable::new(8) }
    }
}

impl Storage {
    /// Notes what a module reads or writes without a format.
    #[inline(never)]
    pub(in crate::device) fn formatless_module(&self, journal: &Journal, images: &Images, words: &[u32], module: u64) {
        let meetings = &self.meetings;
        let found = Module::read(words).and_then(|module| formatless(&module)).unwrap_or_default();
        if found.is_empty() || meetings.modules.insert(module, 1) != 0 {
            return;
        }
        // Here and in `stored_at` what is new is entered before the other side is looked through, so that one of two threads sees both.
        found.iter().for_each(|shader| lock(&meetings.shaders).with_room().push((module, *shader)));
        let record = &mut |view, _| {
            found.iter().for_each(|shader| self.record_formatless_meeting(journal, images, view, module, shader))
        };
        meetings.views.for_each(record);
    }

    /// Notes a view of integers that is written to a binding, if it is known to which: by its class, or as a texel buffer.
    #[inline(always)]
    pub(super) fn stored_at(&self, ground: &Ground, images: &Images, class: u64, binding: Option<u32>) {
        let of = if class == 0 { BUFFER } else { class << 32 };
        let key = of | u64::from(binding.unwrap_or(ANY));
        if self.meetings.views.get(key) == 0 {
            self.first_stored_to(ground, images, OWN, key);
        }
    }

    pub(super) fn first_stored_at(&self, journal: &Journal, images: &Images, key: u64) {
        let meetings = &self.meetings;
        meetings.views.insert(key, 1);
        lock(&meetings.shaders)
            .iter()
            .for_each(|(module, shader)| self.record_formatless_meeting(journal, images, key, *module, shader));
    }

    #[inline(never)]
    fn record_formatless_meeting(
        &self,
        journal: &Journal,
        images: &Images,
        view: u64,
        module: u64,
        shader: &Formatless,
    ) {
        let (class, binding) = (((view & !BUFFER) >> 32) as u32, view as u32);
        let (at, is_buffer) = (shader.binding, view & BUFFER != 0);
        let is_known = binding != ANY;
        // Draws look at what is bound, where they do.
        let is_looked_at = is_known && self.draws_look;
        if is_looked_at || (is_known && binding != at) || is_buffer != (shader.dim == DIM_BUFFER) {
            return;
        }
        let mut members = match images.class(class.wrapping_sub(1)) {
            Some(class) if !is_like(&class.traits, shader) => return,
            Some(class) => of_view(&class.traits),
            None => Json::Object(Default::default()),
        };
        add_module(&mut members, module, Some(Descriptor { set: shader.set, binding: at, element: None }));
        let key = (module, u64::from(shader.set) << 32 | u64::from(at));
        journal.unresolved(Cause::FormatlessBinding, Some(Rule::StorageFormat), members, key);
    }
}

/// What records say of a view that is stored to.
#[inline(never)]
pub(super) fn of_view(view: &ViewTraits) -> Json {
    let (format, view_type) = (names::format(view.format), names::view_type(view.view_type));
    record::object(&mut [("format", format.into()), ("view_type", view_type.into())])
}

/// Whether a shader can have the image of a view there: it has its dimension, and components of its kind.
fn is_like(view: &ViewTraits, shader: &Formatless) -> bool {
    let integer = match numeric_class(view.format) {
        NumericClass::Float => None,
        of => Some(of == NumericClass::Sint),
    };
    dimension(view.view_type) == Some((shader.dim, shader.arrayed)) && integer == shader.integer
}
