//! Views that are bound, held against what shaders declare of the images that they read and write.
//!
//! What a program declares and which views there are is known before anything is drawn ([`seen`](super::seen)), so binds are followed for
//! this only once something that is declared suits none of the views it may meet, or not all of them. From then on each draw that is
//! decided anew looks at what is bound.

use std::sync::atomic::Ordering;

use ash::vk::{self, FormatFeatureFlags2 as Feature, Handle};
use samplin_core::declared::{Declared, Mismatch, Viewed, differs};
use samplin_core::left::Left;
use samplin_hot::memory;
use samplin_spirv::Index;
use samplin_wire::record::{Descriptor, SourceLine};
use samplin_wire::text::handle;
use serde_json::json;

use super::Separate;
use super::command_buffers::BindPoint;
use super::found::LINKED;
use super::ladder::elements;
use super::layouts::hash_of;
use super::programs::{Program, Stage};
use super::progress::Drawn;
use super::recipe::Format;
use super::records::stages;
use super::seen::{AGAIN, EVER, Seen, Variable, add, role};
use super::stages::model;
use crate::decide::{Rule, ViewTraits};
use crate::device::aspects::ShownAspect;
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::hot::follow;
use crate::device::journal::Journal;
use crate::device::resolve::{On, Pairs};
use crate::format::{NumericClass, is_known, numeric_class};
use crate::names::{self, Spirv};

impl Program {
    /// Whether what is bound for it is held against what it declares.
    #[inline(always)]
    pub(super) fn looks_at_views(&self, separate: &Separate) -> bool {
        !self.variables.is_empty() && separate.seen.differs()
    }

    /// The numbers of the sets that it depends on, as bits; none if a key has no room for them.
    #[inline(always)]
    pub(super) fn key_sets(&self, separate: &Separate) -> Option<u32> {
        let own = self.key_sets?;
        if !separate.seen.differs() {
            return Some(own);
        }
        Some(own | self.variable_sets).filter(|sets| sets.count_ones() as usize <= LINKED)
    }
}

/// A variable with the views that are bound for it: elements, handles, and what they are, if that is known.
pub(super) struct Bound<'a> {
    /// Its position in the program's list.
    pub(super) position: usize,
    pub(super) variable: &'a Variable,
    pub(super) views: Vec<(u32, u64, Option<Viewed>)>,
    /// It may find other views after the bind.
    pub(super) after_bind: bool,
}

impl Bound<'_> {
    pub(super) fn is_wrong(&self, how: Mismatch) -> bool {
        let is_wrong =
            |(_, _, viewed): &(u32, u64, Option<Viewed>)| viewed.is_some_and(|viewed| self.differs(&viewed, how));
        // Which of several a shader means is for the shader to say: it may be one that suits.
        match self.variable.at.index {
            Index::Dynamic { .. } | Index::Push(_) => !self.views.is_empty() && self.views.iter().all(is_wrong),
            _ => self.views.iter().any(is_wrong),
        }
    }

    pub(super) fn differs(&self, viewed: &Viewed, how: Mismatch) -> bool {
        differs(&self.variable.declared, viewed, how)
    }

    /// Whether it is a variable of the same binding as this one, with numbers and dimension of the view.
    fn suits(&self, other: &Variable, viewed: &Viewed) -> bool {
        let at = |variable: &Variable| (variable.at.set, variable.at.binding);
        let mut kinds = [Mismatch::ViewType, Mismatch::Numbers].into_iter();
        at(self.variable) == at(other) && kinds.all(|how| !self.differs(viewed, how))
    }
}

impl Separate {
    /// Forgets a view of a texel buffer.
    pub fn forget_buffer_view(&self, view: vk::BufferView) {
        self.seen.buffers.remove(view.as_raw());
    }

    /// Whether what shaders declare is made what is bound.
    pub fn repairs_formats(&self) -> bool {
        self.seen.repairs
    }

    /// Nothing is known any more of views that alone have slots and are not noted all the time.
    fn forget_views(&self) {
        let types = !self.seen.kept.load(Ordering::Acquire);
        self.sets.for_each(&mut |entry| entry.forget_views(types));
    }

    /// Notes a new view of an image, with the usage that it has.
    pub fn note_view(&self, On { ground, pairs }: On<'_>, usage: u64, traits: &ViewTraits) {
        use vk::ImageUsageFlags as U;
        if !self.seen.is_on {
            return;
        }
        let roles = [(U::SAMPLED, role::SAMPLED), (U::STORAGE, role::STORAGE), (U::INPUT_ATTACHMENT, role::INPUT)];
        let has = |flag: U| usage & u64::from(flag.as_raw()) != 0;
        let roles = roles.into_iter().filter(|(flag, _)| has(*flag)).fold(0, |all, (_, role)| all | role);
        let is_lowered = usage & u64::from(U::STORAGE.as_raw()) != 0 && pairs.stand_ins.storage.lowers(traits.format);
        let viewed = Viewed { is_lowered, ..ground.driver.viewed_image(traits) };
        if is_lowered {
            self.watch_stand_ins(&ground.hot);
        }
        if roles != 0 && self.seen.view(roles, viewed) {
            self.follow_declared(&ground.hot);
        }
    }

    /// Notes a new view of a texel buffer.
    pub fn note_buffer_view(&self, On { ground, pairs }: On<'_>, view: vk::BufferView, format: vk::Format) {
        if !self.seen.is_on {
            return;
        }
        self.seen.buffers.insert(view.as_raw(), u64::from(format.as_raw() as u32) + 1);
        let is_lowered = pairs.stand_ins.storage.lowers_buffers(format);
        let viewed = Viewed { is_lowered, ..ground.driver.viewed_buffer(format) };
        if is_lowered {
            self.watch_stand_ins(&ground.hot);
        }
        if self.seen.view(role::TEXELS | role::STORAGE_TEXELS, viewed) {
            self.follow_declared(&ground.hot);
        }
    }

    /// Notes what a program declares, before it is bound.
    pub(super) fn note_declared(&self, hot: &Hot, variables: &[Variable]) {
        if !variables.is_empty() && self.seen.declare(variables) {
            self.follow_declared(hot);
        }
    }

    /// Notes writes at least so many times more.
    #[cold]
    fn watch_views(&self, hot: &Hot, least: i64) {
        self.seen.left.fetch_max(least, Ordering::AcqRel);
        if !self.seen.watches.swap(true, Ordering::AcqRel) {
            // What is written while nobody notes it has no trace in them.
            self.forget_views();
            hot.look_at_views(self.seen.types.load(Ordering::SeqCst));
        }
    }

    /// Integers stand in for a view, and shaders are made for what they find: what is stored through is noted as long as the device lives.
    fn watch_stand_ins(&self, hot: &Hot) {
        let seen = &self.seen;
        if seen.repairs && seen.kept.load(Ordering::Acquire) == 0 && seen.kept.swap(Seen::STORES, Ordering::AcqRel) == 0
        {
            hot.look_at_views(Seen::STORES);
            if !seen.is_watching() {
                self.sets.for_each(&mut |entry| entry.forget_views(Seen::STORES));
            }
        }
    }

    /// Follows binds from now on, and writes for a while.
    #[cold]
    fn follow_declared(&self, hot: &Hot) {
        let seen = &self.seen;
        self.watch_views(hot, if seen.repairs { EVER } else { AGAIN });
        if !seen.differs.swap(true, Ordering::AcqRel) {
            hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
            // What was found out looked at samplers alone.
            self.resolutions.look_again();
        }
    }

    /// Notes no more writes, if nothing was found for as long as that is looked for.
    #[inline(always)]
    pub fn rest_from_views(&self, ground: &Ground) {
        if self.seen.is_watching() && self.seen.left.load(Ordering::Relaxed) <= 0 {
            self.rest(ground);
        }
    }

    #[cold]
    #[inline(never)]
    fn rest(&self, ground: &Ground) {
        let rest = || {
            if self.seen.watches.swap(false, Ordering::AcqRel) {
                self.seen.differs.store(false, Ordering::Release);
                ground.hot.leave_views(self.seen.kept.load(Ordering::Acquire));
                self.forget_views();
                self.resolutions.look_again();
            }
        };
        ground.guard(rest, || ());
    }

    /// What a variable finds in a descriptor; none if that is not known.
    fn viewed(&self, hot: &Hot, driver: &Driver, pairs: &Pairs, variable: &Variable, view: u64) -> Option<Viewed> {
        let viewed = if variable.is_buffer() {
            let format = u32::try_from(self.seen.buffers.get(view).checked_sub(1)?).ok()?;
            driver.viewed_buffer(vk::Format::from_raw(format as i32))
        } else {
            let viewed = driver.viewed_image(&pairs.images.class((hot.gate.view(view) as u32).checked_sub(1)?)?.traits);
            match pairs.stand_ins.aspects.shown(view, viewed.format) {
                ShownAspect::Itself => viewed,
                // A shader reads the aspect that it declares: depth is of floats, and stencil is unsigned.
                ShownAspect::OneAspect if variable.declared.class == NumericClass::Float => viewed,
                ShownAspect::OneAspect => Viewed { class: Some(NumericClass::Uint), ..viewed },
                ShownAspect::Unknown => Viewed { class: None, ..viewed },
            }
        };
        if !variable.declared.is_storage {
            return Some(viewed);
        }
        let is_lowered = pairs.stand_ins.storage.is_stood_in_for(view, variable.is_buffer())?;
        Some(Viewed { is_lowered, ..viewed })
    }

    /// What is bound for a program, of the images that it declares.
    pub(super) fn bound<'a>(
        &self,
        hot: &Hot,
        driver: &Driver,
        pairs: &Pairs,
        program: &'a Program,
        point: &BindPoint,
    ) -> Vec<Bound<'a>> {
        if !program.looks_at_views(self) {
            return Vec::new();
        }
        let bound_of = |(position, variable): (usize, &'a Variable)| {
            let number = variable.at.set as usize;
            let bound = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number));
            let entry = bound.and_then(|bound| bound.content())?;
            let binding = entry.shape.binding(variable.at.binding)?;
            let views = elements(&variable.at, binding)?.filter_map(|element| {
                let view = entry.get(binding.image_slot(element)?);
                (view != 0).then(|| (element, view, self.viewed(hot, driver, pairs, variable, view)))
            });
            Some(Bound { position, variable, views: memory::collect(views), after_bind: binding.after_bind })
        };
        memory::collect(program.variables.iter().enumerate().filter_map(bound_of))
    }

    /// Records, once for a binding and a class of views, what is bound and is not as the shader declares it. `mended`: positions of variables
    /// whose format the shader declares by now.
    pub(super) fn record_declared(
        &self,
        journal: &Journal,
        program: Drawn<'_>,
        all: &[Bound<'_>],
        mended: &[(usize, Format)],
    ) {
        if all.iter().any(|bound| Mismatch::ALL.into_iter().any(|how| bound.is_wrong(how))) {
            self.seen.left.store(EVER, Ordering::Release);
        }
        for bound in all {
            for how in Mismatch::ALL.into_iter().filter(|how| bound.is_wrong(*how)) {
                let is_format = !matches!(how, Mismatch::ViewType | Mismatch::Numbers);
                if is_format && mended.iter().any(|(position, _)| *position == bound.position) {
                    continue;
                }
                for (element, view, viewed) in &bound.views {
                    // Which of several variables of one binding the shader reads is for the shader to say.
                    let is_other = |viewed: &Viewed| all.iter().any(|other| other.suits(bound.variable, viewed));
                    let is_wrong = |viewed: &Viewed| bound.differs(viewed, how) && (is_format || !is_other(viewed));
                    if let Some(viewed) = viewed.filter(is_wrong) {
                        journal.record_mismatches(program, bound.variable, *element, *view, viewed, how);
                    }
                }
            }
        }
    }

    /// Finds what a stage declares of images. `program`: the handle that records name it by.
    pub(super) fn variables_of(&self, stage: &Stage<'_>, all: &mut Vec<Variable>) {
        let Some(model) = model(stage.stage).filter(|_| self.seen.is_on) else { return };
        let constants = samplin_spirv::Specialization(stage.constants);
        let module = samplin_spirv::Module::read(stage.words.declared());
        // What cannot be read was recorded when links were looked for.
        let found = module.and_then(|module| module.declared(stage.name, model, Some(&constants)));
        add(all, found.unwrap_or_default().into_iter().map(|one| Variable::of(one, stage.stage)));
    }
}

impl Driver {
    /// Features with the two that say whether shaders may do without a format. Where formats do not say so, the features of the device go
    /// for all of them (VkPhysicalDeviceFeatures, `shaderStorageImageReadWithoutFormat`).
    fn with_formatless(&self, features: Feature) -> Feature {
        let of = |can: bool, bit: Feature| if can { bit } else { Feature::empty() };
        match self.formats.reports_formatless() {
            true => features,
            false => {
                features
                    | of(self.caps.storage_read_without_format, Feature::STORAGE_READ_WITHOUT_FORMAT)
                    | of(self.caps.storage_write_without_format, Feature::STORAGE_WRITE_WITHOUT_FORMAT)
            }
        }
    }

    /// What of a class of views shaders declare.
    fn viewed_image(&self, traits: &ViewTraits) -> Viewed {
        let class = traits.class_is_known().then(|| traits.numeric_class());
        let features = traits.features.map(|features| self.with_formatless(features));
        Viewed { format: traits.format, view_type: Some(traits.view_type), class, features, is_lowered: false }
    }

    fn viewed_buffer(&self, format: vk::Format) -> Viewed {
        // SAFETY: `formats` was made for this device's instance, which outlives the device.
        let features = unsafe { self.formats.get(&self.instance_fns, format) };
        let features = features.map(|features| self.with_formatless(features.buffer));
        let class = is_known(format).then(|| numeric_class(format));
        Viewed { format, view_type: None, class, features, is_lowered: false }
    }
}

impl Journal {
    #[inline(never)]
    fn record_mismatches(
        &self,
        program: Drawn<'_>,
        variable: &Variable,
        element: u32,
        view: u64,
        viewed: Viewed,
        how: Mismatch,
    ) {
        let Variable { at, declared, stages: own, line, .. } = variable;
        let descriptor = Descriptor { set: at.set, binding: at.binding, element: None };
        let words = match how {
            Mismatch::ViewType => dimension(declared),
            Mismatch::Numbers => numbers(declared.class).to_owned(),
            _ => names::spirv(Spirv::ImageFormat, declared.format).to_owned(),
        };
        let mut about = self.of_program(
            program,
            json!({
                "view": handle(view),
                "format": names::format(viewed.format),
                "descriptor": descriptor,
                "declared": words,
                "stages": stages(*own),
            }),
        );
        let is_formatless = matches!(how, Mismatch::Read | Mismatch::Write);
        if let Some(vuid) = how.vuid(variable.is_buffer()).filter(|_| !viewed.is_lowered) {
            about["vuid"] = json!(vuid);
        }
        if let Some(view_type) = viewed.view_type {
            about["view_type"] = json!(names::view_type(view_type));
        }
        if at.count != 1 {
            about["element"] = json!(element);
        }
        if let Some((file, line)) = line {
            about["source"] = json!(SourceLine { file: file.clone(), line: *line });
        }
        let rule = match how {
            Mismatch::ViewType | Mismatch::Numbers => Rule::DeclaredView,
            Mismatch::Read | Mismatch::Write if !viewed.is_lowered => Rule::StorageUnknown,
            _ => Rule::StorageFormat,
        };
        if rule != Rule::DeclaredView && !viewed.is_lowered {
            about["setting"] = json!("storage=emulate");
        }
        let what = if viewed.is_lowered && is_formatless { Left::StorageWithoutFormat } else { how.left() };
        let key = (hash_of(&(at.set, at.binding, declared)), hash_of(&viewed));
        self.unresolved(what, Some(rule), about, key);
    }
}

fn numbers(class: NumericClass) -> &'static str {
    match class {
        NumericClass::Float => "float",
        NumericClass::Sint => "int",
        NumericClass::Uint => "uint",
    }
}

fn dimension(declared: &Declared) -> String {
    let dim = ["1D", "2D", "3D", "Cube"].get(declared.dim as usize).copied().unwrap_or("other");
    if declared.arrayed { format!("{dim} array") } else { dim.to_owned() }
}
