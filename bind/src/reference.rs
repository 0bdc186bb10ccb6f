//! A second model of what is bound in a command buffer, for tests: written from the specification's chapters on pipelines, pipeline
//! layouts, dynamic state, push constants, command buffers, shader objects and transform feedback. It has no cache and shares nothing with
//! the rest of this crate but the form of a pushed descriptor.
//!
//! A [`Machine`] takes the calls of one command buffer and says what a draw reads, or which statement it breaks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Descriptor;

/// How many states may be static or dynamic.
pub const STATES: usize = 3;
/// Words of push constants.
pub const WORDS: usize = 4;
/// Bind points.
pub const POINTS: usize = 2;
/// The graphics bind point.
pub const GRAPHICS: usize = 0;

/// A set layout: its definition, of which two are equal if their layouts are identically defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetLayout {
    /// Says how it is defined.
    pub definition: u32,
    /// Dynamic offsets.
    pub dynamic: u32,
    /// `VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT`.
    pub is_pushed: bool,
}

/// A pipeline layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineLayout {
    /// None for null set layouts.
    pub sets: Vec<Option<SetLayout>>,
    /// Says which push constant ranges it has.
    pub ranges: u32,
}

impl PipelineLayout {
    /// "Compatible for set N" (Pipeline Layout Compatibility): identically defined set layouts for sets zero through N, and identical push
    /// constant ranges.
    pub fn is_compatible(&self, other: &Self, number: usize) -> bool {
        self.ranges == other.ranges
            && number < self.sets.len()
            && number < other.sets.len()
            && self.sets[..=number] == other.sets[..=number]
    }
}

/// A pipeline, or a shader object.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its layout, or that of the set layouts that it was made with.
    pub layout: Arc<PipelineLayout>,
    /// Set numbers that its code reads.
    pub reads: Vec<usize>,
    /// Static states, with their values.
    pub statics: [Option<u64>; STATES],
    /// Shader objects that it is linked with (VK_SHADER_CREATE_LINK_STAGE_BIT_EXT), itself among them.
    pub linked: Vec<u64>,
}

/// A descriptor set.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// The layout that it was allocated with.
    pub layout: SetLayout,
    /// Moves with each change of what is in it.
    pub version: u64,
}

/// What lives, by handle: the position in its list, and 1. What is gone is none.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Pipeline layouts.
    pub layouts: Vec<Option<Arc<PipelineLayout>>>,
    /// Pipelines and shader objects.
    pub programs: Vec<Option<Program>>,
    /// Descriptor sets.
    pub sets: Vec<Option<Set>>,
}

fn at<T>(list: &[Option<T>], handle: u64) -> Option<&T> {
    list.get((handle as usize).checked_sub(1)?)?.as_ref()
}

impl World {
    /// A pipeline layout that lives.
    pub fn layout(&self, handle: u64) -> Option<&Arc<PipelineLayout>> {
        at(&self.layouts, handle)
    }

    /// A pipeline or shader object that lives.
    pub fn program(&self, handle: u64) -> Option<&Program> {
        at(&self.programs, handle)
    }

    /// A set that lives.
    pub fn set(&self, handle: u64) -> Option<&Set> {
        at(&self.sets, handle)
    }
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the parameters of the commands that the variants name")]
pub enum Call {
    /// `vkCmdBindPipeline`.
    BindPipeline { point: usize, pipeline: u64 },
    /// `vkCmdBindShadersEXT`: stage and handle, 0 for none. Stage 0 is that of compute.
    BindShaders { shaders: Vec<(u32, u64)> },
    /// `vkCmdBindDescriptorSets`.
    BindSets { point: usize, layout: u64, first: usize, sets: Vec<u64>, offsets: Vec<u32> },
    /// `vkCmdPushDescriptorSet`.
    Push { point: usize, layout: u64, number: usize, writes: Vec<((u32, u32), Descriptor)> },
    /// `vkCmdSetDescriptorBufferOffsetsEXT` and what else leaves no set bound.
    BindBuffers { point: usize },
    /// `vkCmdSet*` of a state that may be static or dynamic.
    SetState { state: usize, value: u64 },
    /// `vkCmdPushConstants`.
    PushConstants { layout: u64, word: usize, value: u32 },
    /// `vkCmdBeginTransformFeedbackEXT`.
    BeginFeedback,
    /// `vkCmdEndTransformFeedbackEXT`.
    EndFeedback,
    /// `vkCmdExecuteCommands`.
    Execute,
    /// `vkBeginCommandBuffer`, which resets as well.
    Begin,
}

/// What is bound at a set number.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Set { handle: u64, version: u64, offsets: Vec<u32> },
    Pushed(BTreeMap<(u32, u32), Descriptor>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    what: What,
    layout: Arc<PipelineLayout>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ModelPoint {
    /// By stage; a pipeline alone is at 0.
    programs: BTreeMap<u32, u64>,
    is_pipeline: bool,
    sets: Vec<Option<Bound>>,
}

/// A state of the graphics bind point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GraphicsState {
    value: Option<u64>,
    /// The value comes from a pipeline that had it static, so that a dynamic one has to be set again.
    is_static: bool,
    /// It was set since the pipeline was bound.
    is_set: bool,
}

/// What a draw reads at a set number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// A set, with its dynamic offsets.
    Set(u64, Vec<u32>),
    /// Pushed descriptors.
    Pushed(BTreeMap<(u32, u32), Descriptor>),
}

/// What a draw reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawReads {
    /// Code, by stage; a pipeline is at 0.
    pub programs: BTreeMap<u32, u64>,
    /// By set number, of those that the code reads.
    pub reads: BTreeMap<usize, Read>,
    /// States of graphics.
    pub states: Vec<Option<u64>>,
    /// Push constants.
    pub words: [Option<u32>; WORDS],
}

/// A command buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    points: [ModelPoint; POINTS],
    states: [GraphicsState; STATES],
    /// Push constants, and the ranges of the layout that they were pushed with.
    words: [Option<(u32, u32)>; WORDS],
    feeds_back: bool,
}

/// A statement that a call breaks.
pub type Broken = &'static str;

impl Machine {
    /// Whether transform feedback is active.
    pub fn feeds_back(&self) -> bool {
        self.feeds_back
    }

    /// Takes a command over.
    ///
    /// # Errors
    ///
    /// It breaks a statement of the specification; then nothing is changed.
    pub fn call(&mut self, world: &World, call: &Call) -> Result<(), Broken> {
        match call {
            Call::BindPipeline { point, pipeline } => {
                let program = world.program(*pipeline).ok_or("VUID-vkCmdBindPipeline-pipeline-parameter")?;
                if self.feeds_back && *point == GRAPHICS {
                    return Err("VUID-vkCmdBindPipeline-None-02323");
                }
                let at = &mut self.points[*point];
                (at.programs, at.is_pipeline) = (BTreeMap::from([(0, *pipeline)]), true);
                if *point == GRAPHICS {
                    for (state, value) in self.states.iter_mut().zip(program.statics) {
                        state.is_set = false;
                        if value.is_some() {
                            *state = GraphicsState { value, is_static: true, is_set: false };
                        }
                    }
                }
            }
            Call::BindShaders { shaders } => {
                for (stage, shader) in shaders {
                    let point = if *stage == 0 { 1 } else { GRAPHICS };
                    if *shader != 0 && world.program(*shader).is_none() {
                        return Err("VUID-vkCmdBindShadersEXT-pShaders-parameter");
                    }
                    if self.feeds_back && point == GRAPHICS {
                        return Err("left out: shader objects while transform feedback is active");
                    }
                    let at = &mut self.points[point];
                    if at.is_pipeline {
                        (at.programs, at.is_pipeline) = (BTreeMap::new(), false);
                    }
                    match shader {
                        0 => _ = at.programs.remove(stage),
                        _ => _ = at.programs.insert(*stage, *shader),
                    }
                }
            }
            Call::BindSets { point, layout, first, sets, offsets } => {
                self.bind_sets(world, *point, *layout, *first, sets, offsets)?;
            }
            Call::Push { point, layout, number, writes } => {
                let layout = world.layout(*layout).ok_or("VUID-vkCmdPushDescriptorSet-layout-parameter")?;
                if !layout.sets.get(*number).copied().flatten().is_some_and(|set| set.is_pushed) {
                    return Err("VUID-vkCmdPushDescriptorSet-set-00365");
                }
                let before = self.points[*point].sets.get(*number).cloned().flatten();
                self.disturb(*point, layout, *number, *number);
                let mut pushed = match before {
                    Some(Bound { what: What::Pushed(pushed), layout: own }) if own.is_compatible(layout, *number) => {
                        pushed
                    }
                    _ => BTreeMap::new(),
                };
                pushed.extend(writes.iter().copied());
                let bound = Bound { what: What::Pushed(pushed), layout: Arc::clone(layout) };
                self.points[*point].sets[*number] = Some(bound);
            }
            Call::BindBuffers { point } => self.points[*point].sets.clear(),
            Call::SetState { state, value } => {
                self.states[*state] = GraphicsState { value: Some(*value), is_static: false, is_set: true };
            }
            Call::PushConstants { layout, word, value } => {
                let layout = world.layout(*layout).ok_or("VUID-vkCmdPushConstants-layout-parameter")?;
                self.words[*word] = Some((*value, layout.ranges));
            }
            Call::BeginFeedback => {
                if self.feeds_back {
                    return Err("VUID-vkCmdBeginTransformFeedbackEXT-None-02367");
                }
                if !self.points[GRAPHICS].is_pipeline {
                    return Err("VUID-vkCmdBeginTransformFeedbackEXT-None-06233");
                }
                self.feeds_back = true;
            }
            Call::EndFeedback => {
                if !std::mem::take(&mut self.feeds_back) {
                    return Err("VUID-vkCmdEndTransformFeedbackEXT-None-02375");
                }
            }
            // "All state of the primary is undefined"; within transform feedback it may not be called (-02286).
            Call::Execute if self.feeds_back => return Err("VUID-vkCmdExecuteCommands-None-02286"),
            Call::Execute | Call::Begin => *self = Self::default(),
        }
        Ok(())
    }

    fn bind_sets(
        &mut self,
        world: &World,
        point: usize,
        layout: u64,
        first: usize,
        sets: &[u64],
        mut offsets: &[u32],
    ) -> Result<(), Broken> {
        let layout = world.layout(layout).ok_or("VUID-vkCmdBindDescriptorSets-layout-parameter")?;
        // A null handle is no set (VUID-vkCmdBindDescriptorSets-pDescriptorSets-06563).
        for (number, set) in (first..).zip(sets).filter(|(_, set)| **set != 0) {
            let set = world.set(*set).ok_or("VUID-vkCmdBindDescriptorSets-pDescriptorSets-parameter")?;
            if layout.sets.get(number).copied().flatten() != Some(set.layout) {
                return Err("VUID-vkCmdBindDescriptorSets-pDescriptorSets-00358");
            }
        }
        let Some(last) = (first + sets.len()).checked_sub(1).filter(|_| !sets.is_empty()) else {
            return Err("VUID-vkCmdBindDescriptorSets-descriptorSetCount-arraylength");
        };
        self.disturb(point, layout, first, last);
        for (number, handle) in (first..).zip(sets) {
            let Some(set) = world.set(*handle) else {
                self.points[point].sets[number] = None;
                continue;
            };
            let (own, rest) = offsets
                .split_at_checked(set.layout.dynamic as usize)
                .ok_or("VUID-vkCmdBindDescriptorSets-dynamicOffsetCount-00359")?;
            offsets = rest;
            let what = What::Set { handle: *handle, version: set.version, offsets: own.to_vec() };
            self.points[point].sets[number] = Some(Bound { what, layout: Arc::clone(layout) });
        }
        Ok(())
    }

    /// What a bind of these numbers leaves of the others: lower ones that were bound with compatible layouts, and higher ones, if what was
    /// bound at the last number was bound with one that is compatible for it (Pipeline Layout Compatibility).
    fn disturb(&mut self, point: usize, layout: &PipelineLayout, first: usize, last: usize) {
        let sets = &mut self.points[point].sets;
        if sets.len() <= last {
            sets.resize(last + 1, None);
        }
        let is_like = sets[last].as_ref().is_none_or(|bound| bound.layout.is_compatible(layout, last));
        for (number, bound) in sets.iter_mut().enumerate() {
            let stays = |bound: &mut Bound| match number {
                _ if number < first => bound.layout.is_compatible(layout, number),
                _ if number > last => is_like && bound.layout.is_compatible(layout, last),
                _ => true,
            };
            bound.take_if(|bound| !stays(bound));
        }
    }

    /// What a draw or a dispatch reads.
    ///
    /// # Errors
    ///
    /// The statement that it breaks.
    pub fn draw(&self, world: &World, point: usize) -> Result<DrawReads, Broken> {
        let at = &self.points[point];
        let mut programs = Vec::new();
        for handle in at.programs.values() {
            programs.push(world.program(*handle).ok_or("VUID-vkDestroyPipeline-pipeline-00765")?);
        }
        let Some(first) = programs.first() else { return Err("VUID-vkCmdDraw-None-08606") };
        // "All bound shader objects must have been created with identical or identically defined set layouts" (-08878 and -08879).
        if programs.iter().any(|other| other.layout != first.layout) {
            return Err("VUID-vkCmdDraw-None-08878");
        }
        let is_bound = |shader: &u64| at.programs.values().any(|bound| bound == shader);
        if !programs.iter().flat_map(|program| &program.linked).all(is_bound) {
            return Err("VUID-vkCmdDraw-None-08698");
        }
        let mut reads = BTreeMap::new();
        for number in programs.iter().flat_map(|program| &program.reads) {
            let bound = at.sets.get(*number).and_then(Option::as_ref).ok_or("VUID-vkCmdDraw-None-08600")?;
            if !bound.layout.is_compatible(&first.layout, *number) {
                return Err("VUID-vkCmdDraw-None-08600");
            }
            let read = match &bound.what {
                What::Pushed(pushed) => Read::Pushed(pushed.clone()),
                What::Set { handle, version, offsets } => match world.set(*handle) {
                    Some(set) if set.version == *version => Read::Set(*handle, offsets.clone()),
                    _ => return Err("Command Buffer Lifecycle: a set that was changed or freed"),
                },
            };
            reads.insert(*number, read);
        }
        let mut states = Vec::new();
        if point == GRAPHICS {
            let statics = if at.is_pipeline { first.statics } else { [None; STATES] };
            for (state, own) in self.states.iter().zip(statics) {
                if own.is_some() && state.is_set {
                    return Err("VUID-vkCmdDraw-None-08608");
                }
                if own.is_none() && (state.is_static || state.value.is_none()) {
                    return Err("VUID-vkCmdDraw-None-07831");
                }
                states.push(state.value);
            }
        }
        // What was pushed with other ranges is not to be read.
        let words =
            self.words.map(|word| word.filter(|(_, ranges)| *ranges == first.layout.ranges).map(|(value, _)| value));
        Ok(DrawReads { programs: at.programs.clone(), reads, states, words })
    }
}
