//! Shader objects: those that are bound together are to the layer what a pipeline is.
//!
//! What shaders that are bound for one draw read of the sets is decided together, because one set serves all of them, and all of them
//! are made with the same set layouts (vkCmdDraw, "must have been created with identical or identically defined descriptor set
//! layouts"). So where one link is split, each shader of the combination is made again over the layouts with the hidden set.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_bind::Executable;
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::command_buffers::{BindPoint, POINTS, Place};
use super::layouts::PipelineShape;
use super::objects::{Group, Shader};
use super::programs::{FoundLinks, HIDDEN, Program, Stage, code_of};
use super::recipe::{MadeOf, Recipe};
use super::seen::followed;
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::hot::follow;
use crate::device::live::{Live, Recording};
use crate::device::resolve::On;
use crate::kept;
use crate::table::{FastMap, HandleMap, lock};

/// Stages that are bound together: all of graphics.
const STAGES: usize = 8;

/// Numbers of the shaders that are bound together, in the order of their stages; 0 behind them.
type Key = [u64; STAGES];

/// Shader objects, and those that were bound together.
#[derive(Default)]
pub(super) struct Shaders {
    by_handle: HandleMap<Shader>,
    combinations: Mutex<Combinations>,
}

#[derive(Default)]
struct Combinations {
    by_key: FastMap<Key, Arc<Program>>,
    /// How many there are when those are looked for that nothing was made for and that are not bound.
    limit: usize,
}

impl Combinations {
    fn insert(&mut self, key: Key, program: &Arc<Program>) {
        if self.by_key.len() >= self.limit {
            self.by_key.retain(|_, program| program.splits.any() || Arc::strong_count(program) > 1);
            self.limit = 2 * self.by_key.len() + 64;
        }
        self.by_key.with_room().insert(key, Arc::clone(program));
    }
}

impl Shaders {
    /// Whether this is a shader object whose links are followed. It is not destroyed meanwhile.
    pub(super) fn has(&self, shader: u64) -> bool {
        // SAFETY: by this function's contract it is not removed meanwhile.
        unsafe { self.by_handle.share(shader) }.is_some()
    }

    pub(super) fn for_each_combination(&self, with: &mut dyn FnMut(&Program)) {
        lock(&self.combinations).by_key.values().for_each(|program| with(program));
    }

    /// How many combinations there are.
    pub(super) fn combinations(&self) -> usize {
        lock(&self.combinations).by_key.len()
    }
}

/// Index of the bind point that a stage of shader objects belongs to.
fn point_of(stage: vk::ShaderStageFlags) -> usize {
    usize::from(stage == vk::ShaderStageFlags::COMPUTE)
}

impl Separate {
    /// A new group of shaders.
    pub fn shader_group(&self, size: usize) -> Group {
        Group { number: self.number(), size }
    }

    /// What the bound shaders of a bind point come to; none if there are none, or if they do not belong together, which nobody draws
    /// with.
    fn combination(&self, point: &BindPoint) -> Option<Arc<Program>> {
        let shaders = || point.shaders.iter().map(|bound| &bound.own);
        let layout = &shaders().next()?.layout;
        let members = |group: Group| shaders().filter(|other| other.group == group).count();
        let belongs = |shader: &Shader| {
            let is_whole = shader.group.number == 0 || members(shader.group) == shader.group.size;
            is_whole && shader.layout.is_same(layout)
        };
        if point.shaders.len() > STAGES || !shaders().all(|shader| belongs(shader)) {
            return None;
        }
        let mut key = Key::default();
        key.iter_mut().zip(shaders()).for_each(|(number, shader)| *number = shader.number);
        let mut combinations = lock(&self.shaders.combinations);
        if let Some(program) = combinations.by_key.get(&key) {
            return Some(Arc::clone(program));
        }
        let mut found = FoundLinks::default();
        for shader in shaders() {
            found.extend(&shader.links, &shader.reads, &shader.variables, shader.blind);
            found.sets_read |= shader.sets_read;
        }
        let recipe = || {
            let mut parts = memory::vec(point.shaders.len());
            let mut stages = memory::vec(point.shaders.len());
            for shader in shaders() {
                let (kept, code) = shader.recipe.as_ref().map_err(|why| *why)?;
                parts.push((Arc::clone(kept), shader.group.number));
                stages.push(Arc::clone(code));
            }
            let (source, colors) = (MadeOf::Shaders(parts.into_boxed_slice()), self.limits.colors);
            Ok(Recipe { source, stages, colors, _counted: self.words.count(0) })
        };
        let own = memory::collect(point.shaders.iter().map(|bound| (bound.stage, bound.handle)));
        // Records name the last one with links: of graphics, the fragment shader as a rule.
        let named = shaders().rev().find(|shader| !shader.links.is_empty()).or(shaders().next())?.handle;
        let own = Executable::Shaders(own.into_boxed_slice());
        let program = Arc::new(Program::new(self, named, own, false, Arc::clone(layout), found, recipe));
        combinations.insert(key, &program);
        Some(program)
    }

    /// Remembers a shader object. `stage`: its code, if that is SPIR-V.
    ///
    /// # Safety
    ///
    /// `info` is the valid create info that `shader` was made with.
    pub unsafe fn insert_shader(
        &self,
        On { ground, pairs }: On<'_>,
        shader: vk::ShaderEXT,
        info: &vk::ShaderCreateInfoEXT<'_>,
        group: Group,
        stage: Option<&Stage<'_>>,
    ) {
        // SAFETY: as many elements as the create info says (VUID-VkShaderCreateInfoEXT-pSetLayouts-parameter,
        // -pPushConstantRanges-parameter).
        let layout = unsafe {
            let sets = Live::all(crate::pnext::slice(info.p_set_layouts, info.set_layout_count));
            let ranges = crate::pnext::slice(info.p_push_constant_ranges, info.push_constant_range_count);
            Arc::new(self.shape_of_shader(sets, ranges))
        };
        let mut found = FoundLinks::default();
        let recipe = match stage {
            Some(stage) => {
                self.links_of(&ground.journal, &pairs.stand_ins.aspects, shader.as_raw(), stage, &mut found);
                // SAFETY: `info` is the shader's valid create info by this function's contract.
                let kept = unsafe { kept::Shader::new(info) };
                kept.map(|kept| (Arc::new(kept), Arc::new(code_of(stage))))
            }
            None => {
                found.blind = Some(HIDDEN);
                Err(HIDDEN)
            }
        };
        let (number, handle, blind, sets_read) = (self.number(), shader.as_raw(), found.blind, found.sets_read);
        let reads = found.take_reads(true);
        self.note_declared(&ground.hot, &found.variables);
        let variables = followed(std::mem::take(&mut found.variables), &layout);
        let links = found.into_links(self, &layout);
        self.follow_reads(&ground.hot, &reads, &links);
        if links.iter().any(|link| !link.is_noted) || reads.iter().any(|read| read.is_integer) || blind == Some(HIDDEN)
        {
            ground.hot.follow.fetch_max(follow::LINKED, Ordering::AcqRel);
        }
        let entry = Shader { number, handle, layout, links, reads, sets_read, variables, blind, group, recipe };
        self.shaders.by_handle.insert(handle, Arc::new(entry));
    }

    /// Forgets a shader object that is about to be destroyed, and what was made for it and others.
    pub fn forget_shader(&self, ground: &Ground, shader: vk::ShaderEXT) {
        let (driver, journal) = (&ground.driver, &ground.journal);
        // SAFETY: the shader is the application's to destroy, so no other call names it.
        let Some(entry) = (unsafe { self.shaders.by_handle.share(shader.as_raw()) }) else { return };
        self.shaders.by_handle.remove(shader.as_raw());
        journal.forget_name(vk::ObjectType::SHADER_EXT, shader.as_raw());
        let mut gone = Vec::new();
        lock(&self.shaders.combinations).by_key.retain(|key, program| {
            let stays = !key.contains(&entry.number);
            if !stays {
                gone.with_room().push(Arc::clone(program));
            }
            stays
        });
        gone.iter().for_each(|program| self.record_late(ground, program));
        if gone.iter().any(|program| program.splits.any()) {
            self.resolutions.clear();
        }
        gone.iter().for_each(|program| self.destroy_seconds_of(driver, program));
    }

    /// Notes a bind of shaders.
    pub fn note_shaders(
        &self,
        ground: &Ground,
        commands: Recording<'_>,
        stages: &[vk::ShaderStageFlags],
        shaders: &[Live<'_, vk::ShaderEXT>],
    ) {
        let Some(buffer) = self.noted_now(ground, commands) else { return };
        for at in (0..POINTS).filter(|at| stages.iter().any(|stage| point_of(*stage) == *at)) {
            let note = |place: &mut Place| {
                place.is_unknown = false;
                for (index, stage) in stages.iter().enumerate().filter(|(_, stage)| point_of(**stage) == at) {
                    // A null array stands for one of null handles.
                    let entry = shaders.get(index).and_then(|shader| shader.share(&self.shaders.by_handle));
                    place.point.bind_shader(stage.as_raw(), entry.map(|entry| (entry.handle, entry)));
                }
                place.point.program = self.combination(&place.point);
            };
            if buffer.edit(at, note).is_none() {
                buffer.edit_late(at, |place| {
                    note(place);
                    let program = place.point.program.iter();
                    program.for_each(|program| self.began_before(&ground.hot, &ground.journal, program));
                });
            }
        }
    }

    /// Makes shaders of kept ones with other code, over the set layouts of `layout`: those of a group in one call.
    pub(super) fn make_shaders(
        &self,
        driver: &Driver,
        shaders: &[(Arc<kept::Shader>, u64)],
        codes: &[&[u32]],
        layout: &PipelineShape,
    ) -> Option<Vec<u64>> {
        let (create, sets) = (driver.fns.create_shaders?, self.twins_of_sets(driver, layout)?);
        let mut made = memory::vec(shaders.len());
        made.resize(shaders.len(), 0_u64);
        for (first, (_, group)) in shaders.iter().enumerate() {
            if shaders.iter().take(first).any(|(_, before)| before == group) {
                continue;
            }
            let own = memory::collect(
                shaders
                    .iter()
                    .zip(codes)
                    .filter(|((_, of), _)| of == group)
                    .map(|((kept, _), words)| (&**kept, *words)),
            );
            let mut some = memory::vec(own.len());
            some.resize(own.len(), vk::ShaderEXT::null());
            let result = kept::Shader::with_create_infos(&own, &sets, |infos| {
                // SAFETY: equal to create infos that the driver accepted in one call, or that are not linked, but for one more set layout
                // and code that reads it; as many handles as create infos.
                unsafe {
                    create(driver.handle, infos.len() as u32, infos.as_ptr(), std::ptr::null(), some.as_mut_ptr())
                }
            });
            let of_group = made.iter_mut().zip(shaders).filter(|(_, (_, of))| of == group);
            of_group.zip(&some).for_each(|((handle, _), shader)| *handle = shader.as_raw());
            if result != vk::Result::SUCCESS {
                // Some may have been made (vkCreateShadersEXT).
                made.iter().filter(|shader| **shader != 0).for_each(|shader| driver.destroy_shader(*shader));
                return None;
            }
        }
        Some(made)
    }
}

impl Driver {
    pub(super) fn destroy_shader(&self, shader: u64) {
        if let Some(destroy) = self.fns.destroy_shader {
            // SAFETY: made by `make_shaders` with a NULL allocator; nobody has seen it, or one that it is bound with is about to be
            // destroyed, so that what was recorded with it is complete (VUID-vkDestroyShaderEXT-shader-08481).
            unsafe { destroy(self.handle, Handle::from_raw(shader), std::ptr::null()) };
        }
    }
}
