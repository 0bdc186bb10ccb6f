//! A bind point: what the application has bound there, and what is bound there in truth.

use std::borrow::Borrow;
use std::sync::Arc;

use samplin_hot::memory::Room;

use crate::push::{Other, Pushed};
use crate::{Executable, Layout};

/// What stands behind the handles of a bind point.
pub trait Objects {
    /// A pipeline layout.
    type Layout: Borrow<Layout>;
    /// What is known of the descriptors in a set.
    type Content;
    /// A shader object.
    type Shader;
    /// Shader objects that are bound together.
    type Program;
}

/// What a bind remembers of what is in a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// A number that stands for this content and for no other; 0 if no set is bound.
    pub stamp: u64,
    /// What the samplers need, and in the upper half what the images lack.
    pub summary: u64,
    /// The set may be updated while it is bound.
    pub is_loose: bool,
}

impl Brief {
    /// Stamp of descriptors that were pushed: they are other ones each time.
    pub const PUSHED: u64 = u64::MAX;

    /// Of a set with nothing of interest, which is not as if none were bound. No set has this stamp.
    pub const EMPTY: Self = Self { stamp: 1, summary: 0, is_loose: false };
}

/// What is bound at a set number.
pub struct Bound<O: Objects> {
    /// The application's set; 0 for pushed descriptors and for none.
    pub set: u64,
    /// The layout that it was bound with; none if nothing is bound.
    pub layout: Option<Arc<O::Layout>>,
    /// Dynamic offsets.
    pub offsets: Vec<u32>,
    /// What is in it, if that was looked up; always there for pushed descriptors of interest.
    content: Option<Arc<O::Content>>,
    /// The descriptors that were pushed.
    pub pushed: Pushed,
    /// Of what is in it, unless that is still to be looked up.
    pub brief: Option<Brief>,
    /// The set that is bound in truth; 0 for none.
    actual: u64,
    /// Samplers that are pushed in truth in place of others.
    others: Vec<Other>,
    /// Pushed descriptors are there no more: something of the layer's own has disturbed them.
    is_lost: bool,
    /// The handle of the layout of a bind that has not reached the driver; 0 for none.
    kept: u64,
    /// Of `content`, `pushed`, `others`, `is_lost` and `kept` something may be there.
    has_more: bool,
    /// The layout of a bind before: the next is often with the same one, and need not count it again.
    spare: Option<Arc<O::Layout>>,
}

impl<O: Objects> Default for Bound<O> {
    fn default() -> Self {
        Self {
            set: 0,
            layout: None,
            offsets: Vec::new(),
            content: None,
            pushed: Pushed::default(),
            brief: None,
            actual: 0,
            others: Vec::new(),
            is_lost: false,
            kept: 0,
            has_more: false,
            spare: None,
        }
    }
}

impl<O: Objects> Bound<O> {
    /// Whether descriptors were pushed here; a null handle may have been bound as well.
    pub fn is_pushed(&self) -> bool {
        self.set == 0 && !self.pushed.is_empty()
    }

    /// Whether it was bound with a layout that is compatible with this one.
    #[inline(always)]
    pub fn is_for(&self, layout: &O::Layout, number: usize) -> bool {
        self.layout
            .as_deref()
            .is_some_and(|own| std::ptr::eq(own, layout) || own.borrow().is_compatible(layout.borrow(), number))
    }

    /// Whether something else is bound than the application has bound.
    pub(crate) fn differs(&self) -> bool {
        self.actual != self.set || !self.others.is_empty() || self.is_lost
    }

    /// What is in it.
    pub fn content(&self) -> Option<&O::Content> {
        self.content.as_deref()
    }

    /// Notes what is in it.
    pub fn set_content(&mut self, content: Option<Arc<O::Content>>) {
        self.has_more |= content.is_some();
        self.content = content;
    }

    /// The application's bind of a set has reached the driver.
    #[inline(always)]
    fn hold(&mut self, set: u64, offsets: &[u32]) {
        (self.set, self.actual, self.brief) = (set, set, None);
        self.offsets.clear();
        for offset in offsets {
            self.offsets.with_room().push(*offset);
        }
        if self.has_more {
            self.drop_more();
        }
    }

    #[inline(never)]
    fn drop_more(&mut self) {
        self.content = None;
        self.pushed.clear();
        self.others.clear();
        (self.is_lost, self.kept, self.has_more) = (false, 0, false);
    }

    /// Nothing is bound any more; what was asked of the allocator stays, and the layout as a spare one.
    fn clear(&mut self) {
        self.hold(0, &[]);
        if self.layout.is_some() {
            self.spare = self.layout.take();
        }
    }

    /// Whether it is, or was before, bound with the layout at this address; then it is again.
    fn is_with(&mut self, layout: &O::Layout) -> bool {
        let same = |own: &Option<Arc<O::Layout>>| own.as_deref().is_some_and(|own| std::ptr::eq(own, layout));
        if !same(&self.layout) && same(&self.spare) {
            std::mem::swap(&mut self.layout, &mut self.spare);
        }
        same(&self.layout)
    }

    /// Something of the layer's own has taken its place.
    fn lose(&mut self) {
        self.actual = 0;
        (self.is_lost, self.has_more) = (true, true);
    }

    pub(crate) fn actual(&self) -> u64 {
        self.actual
    }

    /// The handle of the layout that its set was to be bound with, if that has not happened.
    pub(crate) fn kept(&self) -> Option<u64> {
        Some(self.kept).filter(|layout| *layout != 0)
    }

    /// A set is bound in truth, the application's or one in its place.
    pub(crate) fn show(&mut self, set: u64) {
        (self.actual, self.is_lost, self.kept) = (set, false, 0);
    }

    pub(crate) fn others(&self) -> &[Other] {
        &self.others
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Descriptors are pushed in truth, with these samplers in place of others.
    pub(crate) fn show_pushed(&mut self, others: Vec<Other>) {
        (self.others, self.is_lost, self.has_more) = (others, false, true);
    }
}

/// A shader object that is bound.
pub struct BoundShader<O: Objects> {
    /// `VkShaderStageFlagBits`.
    pub stage: u32,
    /// The application's.
    pub own: Arc<O::Shader>,
    /// Its handle.
    pub handle: u64,
    /// The one that is bound in truth.
    pub(crate) actual: u64,
}

/// A set of the layer's own that is bound behind the application's.
pub struct Hidden<O: Objects> {
    /// The set.
    pub set: u64,
    /// The layout that it was bound with, whose last set it is.
    pub layout: Arc<O::Layout>,
}

impl<O: Objects> Hidden<O> {
    /// Its set number.
    pub fn number(&self) -> usize {
        let layout: &Layout = (*self.layout).borrow();
        layout.sets().saturating_sub(1)
    }
}

/// A bind of sets.
#[derive(Clone, Copy, Debug)]
pub struct Binds<'a> {
    /// The pipeline layout's handle.
    pub layout: u64,
    /// How many pipeline layouts were destroyed before: as long as that stays, a handle is that of the same layout.
    pub gone: u64,
    /// Number of the first set.
    pub first: usize,
    /// Dynamic offsets of all of them.
    pub offsets: &'a [u32],
    /// Whether the bind reaches the driver. If not, the next draw that reads the set binds it or another.
    pub goes_down: bool,
}

/// A pipeline layout by its handle, at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Named {
    layout: u64,
    gone: u64,
}

/// A bind point.
pub struct BindPoint<O: Objects> {
    /// The application's pipeline; 0 for none, and for shader objects.
    pub pipeline: u64,
    /// The shader objects that are bound instead of a pipeline, in the order of their stages.
    pub shaders: Vec<BoundShader<O>>,
    /// What these are together, if that is known.
    pub program: Option<Arc<O::Program>>,
    /// By set number.
    pub sets: Vec<Bound<O>>,
    /// Transform feedback is active, during which no other pipeline may be bound (VUID-vkCmdBindPipeline-None-02323).
    pub feeds_back: bool,
    /// The next draw has to look at what is bound.
    pub is_dirty: bool,
    /// Something else may be bound than the application has bound.
    pub differs: bool,
    /// The pipeline that is bound in truth.
    actual: u64,
    hidden: Option<Hidden<O>>,
    /// The layout that all sets were bound with, if it is one.
    last: Named,
}

impl<O: Objects> Default for BindPoint<O> {
    fn default() -> Self {
        Self {
            pipeline: 0,
            shaders: Vec::new(),
            program: None,
            sets: Vec::new(),
            feeds_back: false,
            is_dirty: false,
            differs: false,
            actual: 0,
            hidden: None,
            last: Named::default(),
        }
    }
}

impl<O: Objects> BindPoint<O> {
    /// Nothing is bound any more; room that was asked of the allocator stays.
    pub fn clear(&mut self) {
        let (mut sets, mut shaders) = (std::mem::take(&mut self.sets), std::mem::take(&mut self.shaders));
        sets.iter_mut().for_each(Bound::clear);
        shaders.clear();
        *self = Self { sets, shaders, ..Self::default() };
    }

    /// Notes a bind of a pipeline that reaches the driver.
    #[inline(always)]
    pub fn bind_pipeline(&mut self, pipeline: u64) {
        self.is_dirty |= self.pipeline != pipeline || self.actual != pipeline;
        self.note_pipeline(pipeline);
        self.actual = pipeline;
    }

    /// Notes a bind of a pipeline that need not reach the driver, because the next draw binds what it needs. That is bound again even if it
    /// is there: a state that it has static may have been set since (VUID-vkCmdDraw-None-08608). Whether it may stay away: in the place of
    /// shader objects it has to reach the driver, as it unbinds them.
    #[must_use]
    pub fn keep_pipeline(&mut self, pipeline: u64) -> bool {
        if !self.shaders.is_empty() {
            self.bind_pipeline(pipeline);
            return false;
        }
        (self.is_dirty, self.differs) = (true, true);
        self.note_pipeline(pipeline);
        self.actual = 0;
        true
    }

    #[inline(always)]
    fn note_pipeline(&mut self, pipeline: u64) {
        self.pipeline = pipeline;
        if !self.shaders.is_empty() || self.program.is_some() {
            self.unbind_shaders();
        }
    }

    /// Shader objects of this bind point are bound no more (vkCmdBindPipeline).
    #[cold]
    fn unbind_shaders(&mut self) {
        (self.program, self.shaders) = (None, Vec::new());
    }

    /// Notes a bind of a shader object that reaches the driver; `None` where its stage has none any more. [`BindPoint::program`] is the
    /// caller's to set.
    pub fn bind_shader(&mut self, stage: u32, shader: Option<(u64, Arc<O::Shader>)>) {
        // The pipeline is bound no more (vkCmdBindShadersEXT).
        (self.pipeline, self.actual, self.is_dirty) = (0, 0, true);
        let place = self.shaders.binary_search_by_key(&stage, |bound| bound.stage);
        match (place, shader) {
            (Ok(place), Some((handle, own))) => {
                self.shaders[place] = BoundShader { stage, own, handle, actual: handle };
            }
            (Err(place), Some((handle, own))) => {
                self.shaders.with_room().insert(place, BoundShader { stage, own, handle, actual: handle });
            }
            (Ok(place), None) => _ = self.shaders.remove(place),
            (Err(_), None) => {}
        }
    }

    /// [`BindPoint::bind_sets`] of sets that reach the driver, with the layout that all sets were bound with, where nothing but sets was
    /// bound, and no more dynamic offsets than there is room for. Whether it was that. Takes no memory.
    #[inline(always)]
    pub fn bind_sets_alike(&mut self, binds: Binds<'_>, sets: impl ExactSizeIterator<Item = u64>) -> bool {
        let Binds { layout, gone, first, offsets, .. } = binds;
        let is_same = Named { layout, gone } == self.last && sets.len() > 0;
        let range = first..first.saturating_add(sets.len());
        let last = range.end.wrapping_sub(1);
        let Some(bound) = self.sets.get_mut(range).filter(|_| is_same) else { return false };
        if !offsets.is_empty() && !take_offsets(bound, first, offsets) {
            return false;
        }
        let mut is_dirty = false;
        for (bound, set) in bound.iter_mut().zip(sets) {
            // What was noted of the sets before is noted again then. A null handle has no offsets, and those of a bind before go with it.
            if bound.has_more || bound.layout.is_none() || (offsets.is_empty() || set == 0) && !bound.offsets.is_empty()
            {
                return false;
            }
            if bound.set != set || bound.actual != set || bound.brief.is_none_or(|brief| brief.is_loose) {
                (bound.set, bound.actual, bound.brief) = (set, set, None);
                is_dirty = true;
            }
        }
        self.is_dirty |= is_dirty;
        if self.hidden.is_some() {
            self.uncover(first, last);
        }
        true
    }

    /// Notes a bind of sets. `find` looks the layout up; without one nothing is known of any set any more, and it reaches the driver.
    /// Whether it was found.
    #[inline(always)]
    pub fn bind_sets(
        &mut self,
        binds: Binds<'_>,
        sets: impl ExactSizeIterator<Item = u64>,
        find: impl FnOnce() -> Option<Arc<O::Layout>>,
    ) -> bool {
        let (first, end) = (binds.first, binds.first.saturating_add(sets.len()));
        if first == end {
            return true;
        }
        let named = Named { layout: binds.layout, gone: binds.gone };
        // Then nothing of the application's is disturbed.
        let is_same = named == self.last && self.sets.get(first..end).is_some_and(all_bound);
        if !is_same && !self.reach_for(named, first..end, find) {
            return false;
        }
        if binds.goes_down {
            self.uncover(first, end - 1);
        }
        let mut offsets = binds.offsets;
        for (number, (bound, set)) in (first..).zip(self.sets.iter_mut().skip(first).zip(sets)) {
            let count = bound.layout.as_deref().map_or(0, |layout| layout.borrow().dynamic_of(number, set));
            let (own, rest) = offsets.split_at(count.min(offsets.len()));
            offsets = rest;
            // A set that is bound stays what it is until the command buffer is of no use any more (Command Buffer Lifecycle), but for those
            // that may be updated meanwhile.
            let is_again = bound.set == set && set != 0 && bound.actual == set && bound.offsets == own;
            if !is_again || bound.brief.is_none_or(|brief| brief.is_loose) {
                bound.hold(set, own);
                self.is_dirty = true;
            }
            if !binds.goes_down {
                (bound.actual, bound.kept, bound.has_more) = (0, binds.layout, true);
                (self.is_dirty, self.differs) = (true, true);
            }
        }
        true
    }

    /// Makes room for a bind with a layout that is not that of all that is bound, and forgets what it disturbs. Whether the layout is known.
    #[inline(never)]
    fn reach_for(
        &mut self,
        named: Named,
        range: std::ops::Range<usize>,
        find: impl FnOnce() -> Option<Arc<O::Layout>>,
    ) -> bool {
        let Some(layout) = find() else {
            self.forget_sets();
            return false;
        };
        self.disturb(&layout, range.start, range.end - 1);
        while self.sets.len() < range.end {
            self.sets.with_room().push(Bound::default());
        }
        for bound in self.sets.iter_mut().take(range.end).skip(range.start) {
            let before = bound.layout.as_ref().map(Arc::as_ptr);
            if !bound.is_with(&layout) {
                bound.layout = Some(Arc::clone(&layout));
            }
            self.is_dirty |= before != Some(Arc::as_ptr(&layout));
        }
        let is_all = |bound: &Bound<O>| bound.layout.as_ref().is_none_or(|own| Arc::ptr_eq(own, &layout));
        self.last = if self.sets.iter().all(is_all) { named } else { Named::default() };
        true
    }

    /// Forgets what a bind of the numbers from `first` to `last` with `layout` disturbs (Pipeline Layout Compatibility).
    fn disturb(&mut self, layout: &O::Layout, first: usize, last: usize) {
        for (number, bound) in self.sets.iter_mut().enumerate() {
            let witness = if number < first { number } else { last };
            if !(first..=last).contains(&number) && !bound.is_for(layout, witness) {
                bound.clear();
            }
        }
    }

    /// Forgets the hidden set if a bind of the application's at these numbers disturbs it; its layout is that of the first of them.
    #[inline(never)]
    fn uncover(&mut self, first: usize, last: usize) {
        let Some(hidden) = &self.hidden else { return };
        let number = hidden.number();
        let witness = if number < first { number } else { last };
        let is_for = self.sets.get(first).is_some_and(|bound| bound.is_for(&hidden.layout, witness));
        if (first..=last).contains(&number) || !is_for {
            (self.hidden, self.is_dirty) = (None, true);
        }
    }

    /// Notes descriptors that were pushed: `write` puts them into what was pushed there before, and into what is known of it, made by
    /// `content` where there is none.
    pub fn push(
        &mut self,
        layout: &Arc<O::Layout>,
        number: usize,
        content: impl FnOnce() -> Option<Arc<O::Content>>,
        write: impl FnOnce(&mut Pushed, Option<&O::Content>),
    ) {
        self.disturb(layout, number, number);
        while self.sets.len() <= number {
            self.sets.with_room().push(Bound::default());
        }
        let Some(bound) = self.sets.get_mut(number) else { return };
        // Descriptors that were pushed before stay, if the layout is compatible.
        if !(bound.is_pushed() && bound.is_for(layout, number)) {
            bound.clear();
            bound.content = content();
        }
        bound.has_more = true;
        bound.layout = Some(Arc::clone(layout));
        // What is pushed now is there in truth: nothing else is known of the descriptors among it that others stood in for.
        if !bound.others.is_empty() {
            bound.is_lost = true;
        }
        bound.brief = None;
        write(&mut bound.pushed, bound.content.as_deref());
        (self.is_dirty, self.last) = (true, Named::default());
        self.uncover(number, number);
    }

    /// Nothing is known of what runs.
    pub fn forget_program(&mut self) {
        self.note_pipeline(0);
        self.actual = 0;
    }

    /// Nothing is known of what sets are bound.
    pub fn forget_sets(&mut self) {
        self.sets.iter_mut().for_each(Bound::clear);
        (self.hidden, self.last, self.is_dirty) = (None, Named::default(), true);
    }

    /// Takes note that transform feedback has begun or ended.
    pub fn feed_back(&mut self, active: bool) {
        (self.feeds_back, self.is_dirty) = (active, true);
    }

    /// The pipeline that is bound in truth; 0 where shader objects are.
    pub fn actual(&self) -> u64 {
        self.actual
    }

    /// The set of the layer's own that is bound.
    pub fn hidden(&self) -> Option<&Hidden<O>> {
        self.hidden.as_ref()
    }

    pub(crate) fn set_actual(&mut self, pipeline: u64) {
        self.actual = pipeline;
    }

    /// Whether a pipeline or shaders are bound in truth.
    pub fn has_bound(&self, what: &Executable) -> bool {
        match what {
            Executable::Pipeline(pipeline) => self.actual == *pipeline,
            Executable::Shaders(shaders) => self.shaders.iter().all(|bound| {
                let wanted = shaders.iter().find(|(stage, _)| *stage == bound.stage);
                wanted.is_none_or(|(_, wanted)| *wanted == bound.actual)
            }),
        }
    }

    /// Whether what is bound in truth to run is the application's own.
    pub fn runs_own(&self) -> bool {
        self.actual == self.pipeline && self.shaders.iter().all(|bound| bound.actual == bound.handle)
    }

    /// Takes note that a hidden set is bound: what was at its number and behind it is bound no more, nor is what was bound below with a
    /// layout that is not compatible (Pipeline Layout Compatibility).
    pub(crate) fn hide(&mut self, hidden: Hidden<O>) {
        let from = hidden.number();
        for (number, bound) in self.sets.iter_mut().enumerate() {
            if (bound.set != 0 || bound.is_pushed()) && (number >= from || !bound.is_for(&hidden.layout, number)) {
                bound.lose();
            }
        }
        self.hidden = Some(hidden);
    }

    /// Takes note that the layer has bound or pushed at a number with `layout`: a hidden set at its number or before it, which is of a
    /// shorter pipeline layout, is bound no more, nor is one behind it whose layout is not compatible.
    pub(crate) fn reveal(&mut self, number: usize, layout: &O::Layout) {
        self.hidden.take_if(|hidden| {
            let is_for = (*hidden.layout).borrow().is_compatible(layout.borrow(), number);
            hidden.number() <= number || !is_for
        });
    }

    /// [`BindPoint::differs`], found out anew where it says so: the application may have bound its own since.
    #[inline(always)]
    pub fn looks_different(&mut self) -> bool {
        self.differs = self.differs && (!self.runs_own() || self.sets.iter().any(Bound::differs));
        self.differs
    }

    /// What all sets need and lack; what is not looked up yet counts for nothing.
    #[inline(always)]
    pub fn summary(&self) -> u64 {
        self.sets.iter().fold(0, |all, bound| all | bound.brief.map_or(0, |brief| brief.summary))
    }
}

/// Takes over the dynamic offsets of sets that are bound, if there is room for them: the sets reach the driver with them, which is all that
/// they are for.
#[inline(never)]
fn take_offsets<O: Objects>(bound: &mut [Bound<O>], first: usize, mut offsets: &[u32]) -> bool {
    for (number, bound) in (first..).zip(bound) {
        let count = bound.layout.as_deref().map_or(0, |layout| layout.borrow().dynamic(number));
        let (own, rest) = offsets.split_at(count.min(offsets.len()));
        if own.len() > bound.offsets.capacity() {
            return false;
        }
        bound.offsets.clear();
        bound.offsets.extend_from_slice(own);
        offsets = rest;
    }
    true
}

fn all_bound<O: Objects>(sets: &[Bound<O>]) -> bool {
    sets.iter().all(|bound| bound.layout.is_some())
}
