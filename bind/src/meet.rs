//! The calls between what is bound and what a draw needs.

use std::borrow::Borrow;
use std::sync::Arc;

use samplin_hot::memory::{self, Room};

use crate::point::{BindPoint, Bound, Hidden, Objects};
use crate::push::{Descriptor, Other, exchange};

/// What is bound to run: a pipeline, or shader objects by their stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executable {
    /// A pipeline.
    Pipeline(u64),
    /// `VkShaderStageFlagBits` and handle of each.
    Shaders(Box<[(u32, u64)]>),
}

impl Executable {
    /// The pipeline; 0 for shaders.
    pub fn pipeline(&self) -> u64 {
        match self {
            Self::Pipeline(pipeline) => *pipeline,
            Self::Shaders(_) => 0,
        }
    }
}

/// A set of the layer's own to bind behind the application's.
pub struct Hide<'n, O: Objects> {
    /// The set.
    pub set: u64,
    /// The layout to bind it with, whose last set it is.
    pub layout: &'n Arc<O::Layout>,
}

/// What a draw needs instead of what the application has bound.
pub struct Needs<'n, O: Objects> {
    /// What runs.
    pub executable: &'n Executable,
    /// The layout of the application's pipeline or shaders: what is bound with it is read.
    pub layout: &'n O::Layout,
    /// Set numbers, and the set to bind there in place of the application's.
    pub shadows: &'n [(usize, u64)],
    /// Set numbers, and samplers to push there in place of the application's.
    pub pushes: &'n [(u32, Other)],
    /// The hidden set, if one is read.
    pub hidden: Option<Hide<'n, O>>,
}

/// What is called in the driver. `false`: it cannot be called, for want of memory; the next draw tries again.
pub trait Calls<O: Objects> {
    /// Binds a pipeline.
    fn bind_pipeline(&mut self, pipeline: u64);

    /// Binds shader objects, each to its stage.
    fn bind_shaders(&mut self, shaders: &[(u32, u64)]);

    /// Binds a set as the application has, with its layout.
    fn bind_kept(&mut self, layout: u64, number: usize, set: u64, offsets: &[u32]);

    /// Binds one set with a layout that is compatible with this one for its number.
    fn bind_set(&mut self, layout: &O::Layout, number: usize, set: u64, offsets: &[u32]) -> bool;

    /// Pushes descriptors with a layout that is compatible with this one for their number.
    fn push(&mut self, layout: &O::Layout, number: usize, descriptors: &[((u32, u32), Descriptor)]) -> bool;
}

/// Why nothing is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Another pipeline is needed while transform feedback is active (VUID-vkCmdBindPipeline-None-02323).
    Feedback,
}

impl<O: Objects> BindPoint<O> {
    /// Binds what a draw needs and what is not bound yet. The point is clean after that, unless a call could not be made.
    ///
    /// # Errors
    ///
    /// Nothing is called where something else would have to run than may be bound.
    pub fn meet(&mut self, needs: &Needs<'_, O>, calls: &mut impl Calls<O>) -> Result<(), Refused> {
        if !self.has_bound(needs.executable) {
            if self.feeds_back {
                return Err(Refused::Feedback);
            }
            self.run(needs.executable, calls);
        }
        let mut is_all = true;
        for number in 0..self.sets.len() {
            let is_read = self.sets.get(number).is_some_and(|bound| bound.is_for(needs.layout, number));
            if is_read {
                let others = || needs.pushes.iter().filter(|(set, _)| *set as usize == number).map(|(_, other)| *other);
                let shadow = needs.shadows.iter().find(|(at, _)| *at == number).map(|(_, shadow)| *shadow);
                is_all &= self.meet_set(needs.layout, number, shadow, memory::collect(others()), calls);
            }
        }
        if let Some(hide) = &needs.hidden {
            is_all &= self.meet_hidden(hide, calls);
        }
        self.finish(is_all);
        Ok(())
    }

    /// Binds everything as the application has, each set with its own layout.
    pub fn give_back(&mut self, calls: &mut impl Calls<O>) {
        if !self.feeds_back {
            self.run_own(calls);
        }
        let mut is_all = true;
        for number in 0..self.sets.len() {
            let layout = self.sets.get(number).and_then(|bound| bound.layout.clone());
            if let Some(layout) = layout {
                is_all &= self.meet_set(&layout, number, None, Vec::new(), calls);
            }
        }
        self.finish(is_all);
    }

    /// Has the application's own pipeline or shaders run, and binds its sets where nothing was bound. Takes no memory.
    pub fn give_up(&mut self, calls: &mut impl Calls<O>) {
        if !self.feeds_back {
            self.run_own(calls);
        }
        self.give_up_sets(calls);
        self.is_dirty = false;
    }

    /// Binds the application's sets where nothing was bound, before others are that are not noted. Takes no memory.
    pub fn give_up_sets(&mut self, calls: &mut impl Calls<O>) {
        for (number, bound) in self.sets.iter_mut().enumerate() {
            if let Some(layout) = bound.kept() {
                calls.bind_kept(layout, number, bound.set, &bound.offsets);
                bound.show(bound.set);
            }
        }
    }

    fn run_own(&mut self, calls: &mut impl Calls<O>) {
        if self.actual() != self.pipeline {
            self.set_actual(self.pipeline);
            calls.bind_pipeline(self.pipeline);
        }
        for bound in self.shaders.iter_mut().filter(|bound| bound.actual != bound.handle) {
            bound.actual = bound.handle;
            calls.bind_shaders(&[(bound.stage, bound.handle)]);
        }
    }

    fn finish(&mut self, is_all: bool) {
        self.is_dirty = !is_all;
        self.differs = !self.runs_own() || self.sets.iter().any(Bound::differs);
    }

    fn run(&mut self, executable: &Executable, calls: &mut impl Calls<O>) {
        match executable {
            Executable::Pipeline(pipeline) => {
                self.set_actual(*pipeline);
                calls.bind_pipeline(*pipeline);
            }
            Executable::Shaders(wanted) => {
                let mut new = Vec::new();
                for bound in &mut self.shaders {
                    let Some(wanted) = wanted.iter().find(|(stage, _)| *stage == bound.stage) else { continue };
                    if bound.actual != wanted.1 {
                        bound.actual = wanted.1;
                        new.with_room().push(*wanted);
                    }
                }
                if !new.is_empty() {
                    calls.bind_shaders(&new);
                }
            }
        }
    }

    fn meet_set(
        &mut self,
        layout: &O::Layout,
        number: usize,
        shadow: Option<u64>,
        others: Vec<Other>,
        calls: &mut impl Calls<O>,
    ) -> bool {
        let Some(bound) = self.sets.get_mut(number) else { return true };
        if bound.is_pushed() {
            if !bound.is_lost() && bound.others() == others {
                return true;
            }
            let descriptors = next_pushes(bound, &others);
            if !calls.push(layout, number, &descriptors) {
                return false;
            }
            bound.show_pushed(others);
        } else {
            let wanted = shadow.unwrap_or(bound.set);
            if wanted == bound.actual() {
                return true;
            }
            if !calls.bind_set(layout, number, wanted, &bound.offsets) {
                return false;
            }
            bound.show(wanted);
        }
        self.reveal(number, layout);
        true
    }

    fn meet_hidden(&mut self, hide: &Hide<'_, O>, calls: &mut impl Calls<O>) -> bool {
        let hidden = Hidden::<O> { set: hide.set, layout: Arc::clone(hide.layout) };
        let number = hidden.number();
        let is_there = self.hidden().is_some_and(|own| {
            let is_for = (*own.layout).borrow().is_compatible((*hidden.layout).borrow(), number);
            own.set == hidden.set && own.number() == number && is_for
        });
        if is_there {
            return true;
        }
        if !calls.bind_set(&hidden.layout, number, hidden.set, &[]) {
            return false;
        }
        self.hide(hidden);
        self.differs = true;
        true
    }
}

/// The descriptors to push so that a pushed set is whole, with other samplers or views in some: all, or those that change.
fn next_pushes<O: Objects>(bound: &Bound<O>, others: &[Other]) -> Vec<((u32, u32), Descriptor)> {
    let mut all = bound.pushed.with(others);
    if !bound.is_lost() {
        all.retain(|(at, wanted)| {
            bound.pushed.get(*at).is_some_and(|own| exchange(own, *at, bound.others()) != *wanted)
        });
    }
    all
}
