//! What is bound in command buffers, and what the shaders of the bound pipelines read by it.
//!
//! A machine is fed with the commands themselves and follows the rules of the specification (Pipeline Layout Compatibility), not
//! the layer's idea of them. A test has two: one is fed with what the application calls, the other, in the driver, with
//! what arrives; what shaders read in the one and in the other is then compared.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk::{self, Handle};

/// Length of every array that is indexed by an input.
pub(crate) const ARRAY: u32 = 3;

/// A descriptor: set number, binding, element.
pub(crate) type Place = (u32, u32, u32);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) number: u32,
    pub(crate) ty: vk::DescriptorType,
    pub(crate) count: u32,
    stages: vk::ShaderStageFlags,
    pub(crate) flags: vk::DescriptorBindingFlags,
    immutable: Vec<u64>,
}

impl Binding {
    /// Samplers that are not copied either (VUID-VkCopyDescriptorSet-dstBinding-02753).
    fn is_fixed(&self) -> bool {
        self.ty == vk::DescriptorType::SAMPLER && !self.immutable.is_empty()
    }
}

/// A set layout; layouts that compare equal are defined identically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetLayout {
    flags: vk::DescriptorSetLayoutCreateFlags,
    pub(crate) bindings: Vec<Binding>,
}

impl SetLayout {
    /// # Safety
    ///
    /// The create info is valid.
    unsafe fn new(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> Self {
        // SAFETY: the arrays and the chain of a valid create info.
        unsafe {
            let flags = super::nodes(info.p_next)
                .iter()
                .find_map(super::Node::get::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>)
                .map_or_else(Vec::new, |node| super::array(node.p_binding_flags, node.binding_count));
            let bindings = super::array(info.p_bindings, info.binding_count);
            let mut bindings: Vec<Binding> = bindings
                .iter()
                .enumerate()
                .map(|(index, binding)| {
                    let immutable = !binding.p_immutable_samplers.is_null();
                    let count = if immutable { binding.descriptor_count } else { 0 };
                    let samplers = super::array(binding.p_immutable_samplers, count);
                    Binding {
                        number: binding.binding,
                        ty: binding.descriptor_type,
                        count: binding.descriptor_count,
                        stages: binding.stage_flags,
                        flags: flags.get(index).copied().unwrap_or_default(),
                        immutable: samplers.iter().map(|sampler| sampler.as_raw()).collect(),
                    }
                })
                .collect();
            bindings.sort_by_key(|binding| binding.number);
            Self { flags: info.flags, bindings }
        }
    }

    fn is_loose(&self) -> bool {
        self.bindings.iter().any(|binding| binding.flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND))
    }

    fn needs_update_pool(&self) -> bool {
        self.flags.contains(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
    }

    fn binding(&self, number: u32) -> Option<&Binding> {
        self.bindings.iter().find(|binding| binding.number == number)
    }
}

/// A pipeline layout.
#[derive(Debug)]
pub(crate) struct PipelineLayout {
    sets: Vec<Option<Arc<SetLayout>>>,
    ranges: Vec<(u32, u32, u32)>,
}

impl PipelineLayout {
    fn is_compatible(&self, other: &Self, set: usize) -> bool {
        set < self.sets.len()
            && set < other.sets.len()
            && self.ranges == other.ranges
            && self.sets[..=set] == other.sets[..=set]
    }
}

/// Sampler and view of each descriptor that was written.
pub(crate) type Content = BTreeMap<(u32, u32), (u64, u64)>;

fn content(layout: &SetLayout) -> Content {
    let mut content = Content::new();
    for binding in &layout.bindings {
        for (element, sampler) in binding.immutable.iter().enumerate() {
            content.insert((binding.number, element as u32), (*sampler, 0));
        }
    }
    content
}

#[derive(Clone, Debug)]
struct Set {
    serial: u64,
    version: u64,
    layout: Arc<SetLayout>,
    layout_serial: u64,
    pool: u64,
    content: Content,
}

/// An index, as far as shaders compute one.
#[derive(Clone, Debug)]
enum Expression {
    Constant(u32),
    /// By the location of the input.
    Input(u32),
    Add(Box<Expression>, Box<Expression>),
    Multiply(Box<Expression>, Box<Expression>),
    Subtract(Box<Expression>, Box<Expression>),
    Min(Box<Expression>, Box<Expression>),
    /// A word of the buffer of a binding, and how many it has.
    Word((u32, u32), Box<Expression>),
    Length((u32, u32)),
}

/// Words of memory.
pub(crate) type Words = Arc<[AtomicU32]>;

/// What a storage buffer of a binding shows: words, the first of them, and how many.
type Shown<'a> = &'a dyn Fn((u32, u32)) -> Result<(&'a Words, usize, usize), String>;

impl Expression {
    fn value(&self, inputs: [u32; 2], shown: Shown<'_>) -> Result<u32, String> {
        let of = |one: &Self| one.value(inputs, shown);
        Ok(match self {
            Self::Constant(value) => *value,
            Self::Input(location) => inputs[*location as usize],
            Self::Add(a, b) => of(a)?.wrapping_add(of(b)?),
            Self::Multiply(a, b) => of(a)?.wrapping_mul(of(b)?),
            Self::Subtract(a, b) => of(a)?.wrapping_sub(of(b)?),
            Self::Min(a, b) => of(a)?.min(of(b)?),
            Self::Word(binding, at) => {
                let ((words, first, count), at) = (shown(*binding)?, of(at)? as usize);
                if at >= count {
                    return Err(format!("word {at} of {count} in buffer {binding:?}"));
                }
                words[first + at].load(Ordering::Acquire)
            }
            Self::Length(binding) => shown(*binding)?.2 as u32,
        })
    }
}

/// Where a shader reads one of a pair.
#[derive(Clone, Debug)]
struct Operand {
    set: u32,
    binding: u32,
    index: Expression,
}

/// A place in a shader where an image and a sampler are joined.
type Site = (Operand, Operand);

/// Every `OpSampledImage` of a module without calls.
fn sites(words: &[u32]) -> Vec<Site> {
    let mut decorations: HashMap<(u32, u32), u32> = HashMap::new();
    let mut definitions: HashMap<u32, &[u32]> = HashMap::new();
    let mut joined = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        let instruction = &words[at..at + length];
        match words[at] & 0xffff {
            // OpDecorate
            71 if length == 4 => _ = decorations.insert((instruction[1], instruction[2]), instruction[3]),
            86 => joined.push((instruction[3], instruction[4])),
            // What has a type and a result: constants, variables, loads, chains, sums, products.
            12 | 43 | 59 | 61 | 65 | 68 | 128 | 130 | 132 => _ = definitions.insert(instruction[2], instruction),
            _ => {}
        }
        at += length;
    }
    fn expression(id: u32, definitions: &HashMap<u32, &[u32]>, decorations: &HashMap<(u32, u32), u32>) -> Expression {
        let of = |id| Box::new(expression(id, definitions, decorations));
        let bound = |variable| (decorations[&(variable, 34)], decorations[&(variable, 33)]);
        let instruction = definitions[&id];
        match instruction[0] & 0xffff {
            43 => Expression::Constant(instruction[3]),
            // UMin of GLSL.std.450
            12 if instruction[4] == 38 => Expression::Min(of(instruction[5]), of(instruction[6])),
            61 => match decorations.get(&(instruction[3], 30)) {
                Some(location) => Expression::Input(*location),
                None => {
                    let chain = definitions[&instruction[3]];
                    Expression::Word(bound(chain[3]), of(chain[5]))
                }
            },
            68 => Expression::Length(bound(instruction[3])),
            130 => Expression::Subtract(of(instruction[3]), of(instruction[4])),
            128 => Expression::Add(of(instruction[3]), of(instruction[4])),
            132 => Expression::Multiply(of(instruction[3]), of(instruction[4])),
            other => panic!("an index comes from instruction {other}"),
        }
    }
    let operand = |id: u32| {
        let pointer = definitions[&id][3];
        let instruction = definitions[&pointer];
        let (variable, index) = match instruction[0] & 0xffff {
            65 => (instruction[3], expression(instruction[4], &definitions, &decorations)),
            _ => (pointer, Expression::Constant(0)),
        };
        Operand { set: decorations[&(variable, 34)], binding: decorations[&(variable, 33)], index }
    };
    joined.into_iter().map(|(image, sampler)| (operand(image), operand(sampler))).collect()
}

/// A pipeline, or a shader object.
#[derive(Clone, Debug)]
struct Pipeline {
    serial: u64,
    layout: Arc<PipelineLayout>,
    sites: Vec<Site>,
    /// Shader objects that it is linked with, itself among them: they are bound together or not at all.
    linked: Vec<u64>,
}

/// What is bound at a set number.
#[derive(Clone, Debug)]
struct Bound {
    /// Null for pushed descriptors, which are `content`.
    set: u64,
    serial: u64,
    layout: Arc<PipelineLayout>,
    content: Content,
    offsets: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Point {
    /// Shader objects by their stages, or a pipeline at 0.
    programs: BTreeMap<u32, u64>,
    sets: Vec<Option<Bound>>,
}

/// One read of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) image: Place,
    pub(crate) sampler: Place,
    pub(crate) view: u64,
    pub(crate) handle: u64,
    /// The image may be rewritten while it is bound.
    pub(crate) is_loose: bool,
    /// The index is computed, and the descriptors of the binding that it does not come to need not be there.
    pub(crate) may_lack: bool,
    /// Dynamic offsets of the image's set.
    pub(crate) offsets: Vec<u32>,
}

/// The objects that a draw refers to.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    programs: Vec<(u64, u64)>,
    sets: Vec<(u64, u64, u64)>,
}

/// The line width of a command buffer, which stands for all state that may be static or dynamic.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    width: Option<u32>,
    /// It was set since a pipeline was bound.
    is_set: bool,
    /// It comes from a pipeline, so that a draw with another has it set again.
    is_static: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    serials: u64,
    modules: HashMap<u64, Vec<Site>>,
    layouts: HashMap<u64, (u64, Arc<SetLayout>)>,
    pipeline_layouts: HashMap<u64, Arc<PipelineLayout>>,
    /// Room for sets and for descriptors of each type; pools without a size hold anything.
    pools: HashMap<u64, (u32, Vec<(vk::DescriptorType, u32)>)>,
    /// Pools with UPDATE_AFTER_BIND.
    update_pools: HashSet<u64>,
    /// Serials of set layouts with an immutable sampler that is gone.
    dead_layouts: HashSet<u64>,
    sets: HashMap<u64, Set>,
    pipelines: HashMap<u64, Pipeline>,
    commands: HashMap<u64, [Point; 3]>,
    /// Command buffers with transform feedback under way.
    feedback: HashSet<u64>,
    /// Line widths of pipelines that have them static.
    widths: HashMap<u64, u32>,
    lines: HashMap<u64, Line>,
    /// Bytes of buffers, and the memory of each.
    pub(crate) buffers: HashMap<u64, (u64, u64)>,
    /// Which part of its buffer a storage buffer of a set shows, by its binding.
    pub(crate) ranges: HashMap<(u64, u32), (u64, u64)>,
    /// Memory that the host has mapped.
    pub(crate) memory: HashMap<u64, Words>,
    pub(crate) errors: Vec<String>,
}

/// The place of a bind point.
pub(crate) fn place(point: vk::PipelineBindPoint) -> usize {
    match point {
        vk::PipelineBindPoint::COMPUTE => 1,
        vk::PipelineBindPoint::RAY_TRACING_KHR => 2,
        _ => 0,
    }
}

impl Machine {
    fn serial(&mut self) -> u64 {
        self.serials += 1;
        self.serials
    }

    fn error(&mut self, text: String) {
        self.errors.push(text);
    }

    // ---- objects ----

    pub(crate) fn module(&mut self, handle: u64, words: &[u32]) {
        self.modules.insert(handle, sites(words));
    }

    /// # Safety
    ///
    /// The create info is valid.
    pub(crate) unsafe fn layout(&mut self, handle: u64, info: &vk::DescriptorSetLayoutCreateInfo<'_>) {
        let serial = self.serial();
        // SAFETY: forwarded from the caller.
        self.layouts.insert(handle, (serial, Arc::new(unsafe { SetLayout::new(info) })));
    }

    /// # Safety
    ///
    /// The create info is valid.
    pub(crate) unsafe fn pipeline_layout(&mut self, handle: u64, info: &vk::PipelineLayoutCreateInfo<'_>) {
        // SAFETY: forwarded from the caller.
        let (sets, ranges) = unsafe {
            (
                super::array(info.p_set_layouts, info.set_layout_count),
                super::array(info.p_push_constant_ranges, info.push_constant_range_count),
            )
        };
        let layout = self.layout_of(&sets, &ranges);
        self.pipeline_layouts.insert(handle, Arc::new(layout));
    }

    /// Nothing is made of a layout once one of its immutable samplers is gone.
    fn alive(&mut self, layout_serial: u64) {
        if self.dead_layouts.contains(&layout_serial) {
            self.error("something is made of a set layout with a sampler that is gone".into());
        }
    }

    fn layout_of(&mut self, sets: &[vk::DescriptorSetLayout], ranges: &[vk::PushConstantRange]) -> PipelineLayout {
        let mut known = Vec::new();
        for set in sets {
            let layout = self.layouts.get(&set.as_raw()).map(|(serial, layout)| (*serial, Arc::clone(layout)));
            let layout = layout.map(|(serial, layout)| {
                self.alive(serial);
                layout
            });
            if layout.is_none() && *set != vk::DescriptorSetLayout::null() {
                self.error(format!("a pipeline layout of {set:?}, which does not live"));
            }
            known.push(layout);
        }
        let ranges = ranges.iter().map(|range| (range.stage_flags.as_raw(), range.offset, range.size)).collect();
        PipelineLayout { sets: known, ranges }
    }

    /// # Safety
    ///
    /// The create info is valid.
    pub(crate) unsafe fn shader(&mut self, handle: u64, info: &vk::ShaderCreateInfoEXT<'_>) {
        // SAFETY: forwarded from the caller.
        let (sets, ranges, words) = unsafe {
            (
                super::array(info.p_set_layouts, info.set_layout_count),
                super::array(info.p_push_constant_ranges, info.push_constant_range_count),
                super::array(info.p_code.cast::<u32>(), (info.code_size / 4) as u32),
            )
        };
        let layout = Arc::new(self.layout_of(&sets, &ranges));
        let is_read = info.code_type == vk::ShaderCodeTypeEXT::SPIRV;
        self.program(handle, layout, if is_read { sites(&words) } else { Vec::new() });
    }

    pub(crate) fn pipeline(&mut self, handle: u64, layout: u64, modules: &[u64]) {
        let Some(layout) = self.pipeline_layouts.get(&layout).cloned() else {
            return self.error(format!("a pipeline of layout {layout:#x}, which does not live"));
        };
        self.widths.remove(&handle);
        let mut sites = Vec::new();
        for module in modules {
            match self.modules.get(module) {
                Some(own) => sites.extend(own.iter().cloned()),
                None => self.errors.push(format!("a pipeline of module {module:#x}, which does not live")),
            }
        }
        self.program(handle, layout, sites);
    }

    /// Shader objects are linked.
    pub(crate) fn link(&mut self, shaders: &[u64]) {
        for shader in shaders {
            if let Some(known) = self.pipelines.get_mut(shader) {
                known.linked = shaders.to_vec();
            }
        }
    }

    fn program(&mut self, handle: u64, layout: Arc<PipelineLayout>, sites: Vec<Site>) {
        let serial = self.serial();
        for operand in sites.iter().flat_map(|(image, sampler)| [image, sampler]) {
            let set = layout.sets.get(operand.set as usize).and_then(Option::as_ref);
            if set.and_then(|set| set.binding(operand.binding)).is_none() {
                self.errors.push(format!("a shader reads {operand:?}, which its layout does not have"));
            }
        }
        self.pipelines.insert(handle, Pipeline { serial, layout, sites, linked: Vec::new() });
    }

    /// # Safety
    ///
    /// The create info is valid.
    pub(crate) unsafe fn pool(&mut self, handle: u64, info: &vk::DescriptorPoolCreateInfo<'_>) {
        // SAFETY: forwarded from the caller.
        let sizes = unsafe { super::array(info.p_pool_sizes, info.pool_size_count) };
        if info.flags.contains(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND) {
            self.update_pools.insert(handle);
        }
        self.pools.insert(handle, (info.max_sets, sizes.iter().map(|size| (size.ty, size.descriptor_count)).collect()));
    }

    /// Allocates a set.
    pub(crate) fn allocate(&mut self, pool: u64, layout: u64, handle: u64) {
        let serial = self.serial();
        let Some((layout_serial, layout)) = self.layouts.get(&layout).cloned() else {
            return self.error(format!("a set of layout {layout:#x}, which does not live"));
        };
        self.alive(layout_serial);
        if layout.needs_update_pool() && !self.update_pools.contains(&pool) {
            self.error("pSetLayouts-03044: the pool has no UPDATE_AFTER_BIND".into());
        }
        if let Some((sets, sizes)) = self.pools.get_mut(&pool).filter(|(sets, _)| *sets > 0) {
            *sets -= 1;
            for binding in &layout.bindings {
                let mut needed = binding.count;
                for (_, room) in sizes.iter_mut().filter(|(ty, _)| *ty == binding.ty) {
                    let taken = needed.min(*room);
                    *room -= taken;
                    needed -= taken;
                }
                if needed > 0 {
                    self.errors.push(format!("pool {pool:#x} lacks room for {needed} of {:?}", binding.ty));
                }
            }
            if *sets == 0 {
                // The layer's pools hold one set each.
                self.pools.insert(pool, (u32::MAX, Vec::new()));
            }
        }
        let content = content(&layout);
        self.sets.insert(handle, Set { serial, version: 0, layout, layout_serial, pool, content });
    }

    pub(crate) fn free(&mut self, set: u64) {
        self.sets.remove(&set);
    }

    pub(crate) fn reset_pool(&mut self, pool: u64) {
        self.sets.retain(|_, set| set.pool != pool);
    }

    pub(crate) fn destroy_pool(&mut self, pool: u64) {
        self.reset_pool(pool);
        self.update_pools.remove(&pool);
        self.pools.remove(&pool);
    }

    pub(crate) fn destroy_layout(&mut self, layout: u64) {
        self.layouts.remove(&layout);
    }

    pub(crate) fn destroy_pipeline_layout(&mut self, layout: u64) {
        self.pipeline_layouts.remove(&layout);
    }

    pub(crate) fn destroy_module(&mut self, module: u64) {
        self.modules.remove(&module);
    }

    pub(crate) fn destroy_pipeline(&mut self, pipeline: u64) {
        self.pipelines.remove(&pipeline);
        self.widths.remove(&pipeline);
    }

    /// A sampler or a view is gone, and with it what was written with it.
    pub(crate) fn gone(&mut self, handle: u64) {
        let wipe = |content: &mut Content| {
            for (sampler, view) in content.values_mut() {
                *sampler = if *sampler == handle { 0 } else { *sampler };
                *view = if *view == handle { 0 } else { *view };
            }
        };
        self.sets.values_mut().for_each(|set| wipe(&mut set.content));
        let holds = |layout: &SetLayout| layout.bindings.iter().any(|binding| binding.immutable.contains(&handle));
        self.dead_layouts.extend(self.layouts.values().filter(|(_, layout)| holds(layout)).map(|(serial, _)| *serial));
        let points = self.commands.values_mut().flatten();
        points.flat_map(|point| point.sets.iter_mut().flatten()).for_each(|bound| wipe(&mut bound.content));
    }

    // ---- contents ----

    fn written(&mut self, set: u64) -> Option<&mut Set> {
        let lives = self.sets.get(&set).map(|set| set.layout_serial);
        match lives {
            None => self.error(format!("set {set:#x} is written and does not live")),
            Some(serial) if !self.layouts.values().any(|(other, _)| *other == serial) => {
                self.error(format!("set {set:#x} is written or copied after its layout was destroyed"));
            }
            Some(_) => {}
        }
        let set = self.sets.get_mut(&set)?;
        set.version += 1;
        Some(set)
    }

    /// Writes descriptors to a set.
    pub(crate) fn write(
        &mut self,
        set: u64,
        ty: vk::DescriptorType,
        at: (u32, u32),
        infos: &[vk::DescriptorImageInfo],
    ) {
        if let Some(set) = self.written(set) {
            let layout = Arc::clone(&set.layout);
            put(&mut set.content, &layout, ty, at, infos);
        }
    }

    /// Writes descriptors of other types to a set.
    pub(crate) fn write_others(&mut self, set: u64, (binding, element): (u32, u32), others: &[(u64, u64)]) {
        if let Some(set) = self.written(set) {
            set.content.extend((element..).zip(others).map(|(element, other)| ((binding, element), *other)));
        }
    }

    pub(crate) fn copy(&mut self, copy: &vk::CopyDescriptorSet<'_>) {
        let (from, to) = (copy.src_set.as_raw(), copy.dst_set.as_raw());
        // A copy reads the layout of its source too.
        let version = self.sets.get(&from).map(|set| set.version);
        let Some(source) = self.written(from) else { return };
        source.version = version.unwrap_or(0);
        let (source_layout, source_pool) = (Arc::clone(&source.layout), source.pool);
        let elements: Vec<_> = (0..copy.descriptor_count)
            .map(|index| source.content.get(&(copy.src_binding, copy.src_array_element + index)).copied())
            .collect();
        let Some(target) = self.written(to) else { return };
        let (target_layout, target_pool) = (Arc::clone(&target.layout), target.pool);
        if source_layout.needs_update_pool() != target_layout.needs_update_pool() {
            self.error("srcSet-01918, -04885: only one of the layouts has UPDATE_AFTER_BIND_POOL".into());
        }
        if self.update_pools.contains(&source_pool) != self.update_pools.contains(&target_pool) {
            self.error("srcSet-01920, -04887: only one of the pools has UPDATE_AFTER_BIND".into());
        }
        let Some(target) = self.sets.get_mut(&to) else { return };
        if target.layout.binding(copy.dst_binding).is_some_and(Binding::is_fixed) {
            return self.error(format!("immutable samplers of {to:#x} are overwritten"));
        }
        for (index, element) in elements.into_iter().enumerate() {
            let place = (copy.dst_binding, copy.dst_array_element + index as u32);
            match element {
                Some(element) => _ = target.content.insert(place, element),
                None => _ = target.content.remove(&place),
            }
        }
    }

    /// Whether a set has descriptors that may be updated while it is bound.
    pub(crate) fn is_loose(&self, set: u64) -> bool {
        self.sets.get(&set).is_some_and(|set| set.layout.is_loose())
    }

    /// What is in a set.
    pub(crate) fn content(&self, set: u64) -> Option<&Content> {
        self.sets.get(&set).map(|set| &set.content)
    }

    // ---- command buffers ----

    fn point(&mut self, commands: u64, point: usize) -> &mut Point {
        &mut self.commands.entry(commands).or_default()[point]
    }

    /// Nothing is bound any more.
    pub(crate) fn clear(&mut self, commands: u64) {
        self.commands.remove(&commands);
        self.feedback.remove(&commands);
        self.lines.remove(&commands);
    }

    /// The line width of a pipeline is static.
    pub(crate) fn set_static_width(&mut self, pipeline: u64, width: f32) {
        self.widths.insert(pipeline, width.to_bits());
    }

    /// The line width is set in a command buffer.
    pub(crate) fn set_line_width(&mut self, commands: u64, width: f32) {
        self.lines.insert(commands, Line { width: Some(width.to_bits()), is_set: true, is_static: false });
    }

    /// The line width that a draw would have.
    pub(crate) fn line_width(&self, commands: u64) -> Option<u32> {
        self.lines.get(&commands).and_then(|line| line.width)
    }

    /// Whether transform feedback is under way.
    pub(crate) fn feeds_back(&self, commands: u64) -> bool {
        self.feedback.contains(&commands)
    }

    /// Nothing is bound any more at a bind point but its pipeline.
    pub(crate) fn forget_sets(&mut self, commands: u64, point: usize) {
        self.point(commands, point).sets.clear();
    }

    /// Transform feedback begins or ends.
    pub(crate) fn set_feedback(&mut self, commands: u64, active: bool) {
        let changed = if active { self.feedback.insert(commands) } else { self.feedback.remove(&commands) };
        assert!(changed, "the application is wrong");
    }

    /// A pipeline is linked of others.
    pub(crate) fn include(&mut self, pipeline: u64, libraries: &[u64]) {
        let known = libraries.iter().filter_map(|library| self.pipelines.get(library));
        let sites: Vec<Site> = known.flat_map(|library| library.sites.iter().cloned()).collect();
        let width = libraries.iter().find_map(|library| self.widths.get(library)).copied();
        width.into_iter().for_each(|width| _ = self.widths.insert(pipeline, width));
        if let Some(pipeline) = self.pipelines.get_mut(&pipeline) {
            pipeline.sites.extend(sites);
        }
    }

    pub(crate) fn bind_pipeline(&mut self, commands: u64, point: usize, pipeline: u64) {
        if !self.pipelines.contains_key(&pipeline) {
            self.error(format!("pipeline {pipeline:#x} is bound and does not live"));
        }
        if point == 0 && self.feedback.contains(&commands) {
            self.error("a pipeline is bound while transform feedback is active".into());
        }
        self.point(commands, point).programs = BTreeMap::from([(0, pipeline)]);
        if point == 0 {
            let (own, line) = (self.widths.get(&pipeline).copied(), self.lines.entry(commands).or_default());
            *line = Line { width: own.or(line.width), is_set: false, is_static: own.is_some() || line.is_static };
        }
    }

    /// Binds shader objects; where there are none the stages are unbound.
    pub(crate) fn bind_shaders(&mut self, commands: u64, stages: &[vk::ShaderStageFlags], shaders: &[vk::ShaderEXT]) {
        for (index, stage) in stages.iter().enumerate() {
            let shader = shaders.get(index).map_or(0, |shader| shader.as_raw());
            if shader != 0 && !self.pipelines.contains_key(&shader) {
                self.error(format!("shader {shader:#x} is bound and does not live"));
            }
            let point = usize::from(*stage == vk::ShaderStageFlags::COMPUTE);
            let programs = &mut self.point(commands, point).programs;
            programs.remove(&0);
            if shader == 0 {
                programs.remove(&stage.as_raw());
            } else {
                programs.insert(stage.as_raw(), shader);
            }
        }
    }

    fn disturb(&mut self, commands: u64, point: usize, layout: &PipelineLayout, first: usize, last: usize) {
        let sets = &mut self.point(commands, point).sets;
        sets.resize_with(sets.len().max(last + 1), || None);
        let here = sets[last].as_ref().is_none_or(|bound| bound.layout.is_compatible(layout, last));
        for (number, bound) in sets.iter_mut().enumerate() {
            let stays = bound.as_ref().is_some_and(|bound| match number {
                _ if number < first => bound.layout.is_compatible(layout, number),
                _ if number > last => here && bound.layout.is_compatible(layout, last),
                _ => true,
            });
            if !stays {
                *bound = None;
            }
        }
    }

    pub(crate) fn bind_sets(
        &mut self,
        commands: u64,
        point: usize,
        layout: u64,
        first: u32,
        sets: &[vk::DescriptorSet],
        mut offsets: &[u32],
    ) {
        let Some(layout) = self.pipeline_layouts.get(&layout).cloned() else {
            return self.error(format!("sets are bound with layout {layout:#x}, which does not live"));
        };
        let first = first as usize;
        self.disturb(commands, point, &layout, first, first + sets.len() - 1);
        for (number, set) in (first..).zip(sets) {
            let Some(known) = self.sets.get(&set.as_raw()) else {
                self.error(format!("set {set:?} is bound and does not live"));
                continue;
            };
            if layout.sets.get(number).and_then(Option::as_deref) != Some(&*known.layout) {
                self.errors.push(format!("set {set:?} is bound at {number}, where the layout is another"));
            }
            let dynamic = |binding: &&Binding| binding.ty == vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC;
            let count: u32 = known.layout.bindings.iter().filter(dynamic).map(|binding| binding.count).sum();
            let (own, rest) = offsets.split_at((count as usize).min(offsets.len()));
            offsets = rest;
            let bound = Bound {
                set: set.as_raw(),
                serial: known.serial,
                layout: Arc::clone(&layout),
                content: Content::new(),
                offsets: own.to_vec(),
            };
            self.point(commands, point).sets[number] = Some(bound);
        }
    }

    /// Pushes descriptors.
    pub(crate) fn push(
        &mut self,
        commands: u64,
        point: usize,
        (layout, number): (u64, u32),
        ty: vk::DescriptorType,
        at: (u32, u32),
        infos: &[vk::DescriptorImageInfo],
    ) {
        let Some(layout) = self.pipeline_layouts.get(&layout).cloned() else {
            return self.error(format!("descriptors are pushed with layout {layout:#x}, which does not live"));
        };
        let number = number as usize;
        let Some(own) = layout.sets.get(number).cloned().flatten() else { return };
        let stays = |bound: &Bound| bound.set == 0 && bound.layout.is_compatible(&layout, number);
        let before = self.point(commands, point).sets.get(number).cloned().flatten().filter(stays);
        self.disturb(commands, point, &layout, number, number);
        let mut content = before.map_or_else(|| content(&own), |bound| bound.content);
        put(&mut content, &own, ty, at, infos);
        let bound = Bound { set: 0, serial: 0, layout, content, offsets: Vec::new() };
        self.point(commands, point).sets[number] = Some(bound);
    }

    // ---- draws ----

    fn content_of<'a>(&'a self, number: usize, bound: &'a Bound) -> Result<&'a Content, String> {
        if bound.set == 0 {
            return Ok(&bound.content);
        }
        let set = self.sets.get(&bound.set).filter(|set| set.serial == bound.serial);
        Ok(&set.ok_or_else(|| format!("set {:#x}, bound at {number}, is gone", bound.set))?.content)
    }

    fn descriptor(
        &self,
        point: &Point,
        pipeline: &PipelineLayout,
        operand: &Operand,
        inputs: [u32; 2],
    ) -> Result<Found, String> {
        let number = operand.set as usize;
        let bound =
            point.sets.get(number).and_then(Option::as_ref).ok_or_else(|| format!("nothing is bound at {number}"))?;
        if !bound.layout.is_compatible(pipeline, number) {
            return Err(format!("what is bound at {number} is of another layout"));
        }
        let element = operand.index.value(inputs, &|(set, binding)| {
            let bound = point.sets.get(set as usize).and_then(Option::as_ref);
            let content = self.content_of(set as usize, bound.ok_or_else(|| format!("nothing is bound at {set}"))?)?;
            let (_, buffer) = content.get(&(binding, 0)).copied().unwrap_or_default();
            let set = bound.map_or(0, |bound| bound.set);
            let (offset, range) = self.ranges.get(&(set, binding)).copied().unwrap_or_default();
            let words = self.buffers.get(&buffer).and_then(|(_, memory)| self.memory.get(memory));
            let words = words.ok_or_else(|| format!("buffer {buffer:#x} of binding {binding} has no memory"))?;
            Ok((words, offset as usize / 4, range as usize / 4))
        })?;
        let content = self.content_of(number, bound)?;
        let (sampler, view) = content.get(&(operand.binding, element)).copied().unwrap_or_default();
        let layout = pipeline.sets[number].as_ref();
        let is_loose = layout.is_some_and(|layout| layout.is_loose());
        let flags =
            layout.and_then(|layout| layout.binding(operand.binding)).map_or_else(Default::default, |it| it.flags);
        let is_constant = matches!(operand.index, Expression::Constant(_));
        Ok(Found {
            may_lack: !is_constant && flags.contains(vk::DescriptorBindingFlags::PARTIALLY_BOUND),
            place: (operand.set, operand.binding, element),
            sampler,
            view,
            is_loose,
            offsets: bound.offsets.clone(),
        })
    }

    /// What a draw or a dispatch would read, or why it may not be recorded; nothing without a pipeline.
    pub(crate) fn draw(&self, commands: u64, point: usize) -> Result<Vec<Read>, String> {
        let line = self.lines.get(&commands).copied().filter(|_| point == 0).unwrap_or_default();
        let (is_set, is_from_another) = (line.is_set, line.is_static);
        let Some(point) = self.commands.get(&commands).map(|points| &points[point]) else { return Ok(Vec::new()) };
        // VUID-vkCmdDraw-None-08608
        if is_set && point.programs.get(&0).is_some_and(|pipeline| self.widths.contains_key(pipeline)) {
            return Err("a state was set that the pipeline has static".into());
        }
        // VUID-vkCmdDraw-None-07833
        if is_from_another && !point.programs.get(&0).is_some_and(|pipeline| self.widths.contains_key(pipeline)) {
            return Err("a state that another pipeline had static was not set again".into());
        }
        let mut programs = Vec::new();
        for handle in point.programs.values() {
            programs.push(self.pipelines.get(handle).ok_or_else(|| format!("pipeline {handle:#x} is gone"))?);
        }
        let Some(first) = programs.first() else { return Ok(Vec::new()) };
        let same = |other: &&Pipeline| {
            let (one, other) = (&first.layout, &other.layout);
            one.ranges == other.ranges && one.sets == other.sets
        };
        if !programs.iter().all(same) {
            return Err("shaders of different layouts are bound".into());
        }
        // VUID-vkCmdDraw-None-08698
        let is_bound = |shader: &u64| point.programs.values().any(|bound| bound == shader);
        if !programs.iter().flat_map(|program| &program.linked).all(is_bound) {
            return Err("some of linked shaders are bound".into());
        }
        let mut reads = Vec::new();
        for (image, sampler) in programs.iter().flat_map(|program| &program.sites) {
            for inputs in (0..ARRAY).flat_map(|one| (0..ARRAY).map(move |two| [one, two])) {
                let image = self.descriptor(point, &first.layout, image, inputs)?;
                let sampler = self.descriptor(point, &first.layout, sampler, inputs)?;
                reads.push(Read {
                    image: image.place,
                    sampler: sampler.place,
                    view: image.view,
                    handle: sampler.sampler,
                    is_loose: image.is_loose || sampler.is_loose,
                    may_lack: image.may_lack || sampler.may_lack,
                    offsets: image.offsets,
                });
            }
        }
        Ok(reads)
    }

    /// The pipeline that is bound, or the shader object of the last stage.
    pub(crate) fn bound_pipeline(&self, commands: u64, point: usize) -> u64 {
        let programs = self.commands.get(&commands).map(|points| &points[point].programs);
        programs.and_then(|programs| programs.values().last()).copied().unwrap_or(0)
    }

    /// The sets that are bound at a bind point, by number; 0 for none.
    pub(crate) fn sets_at(&self, commands: u64, point: usize) -> Vec<u64> {
        let sets = self.commands.get(&commands).map(|points| &points[point].sets);
        sets.into_iter().flatten().map(|bound| bound.as_ref().map_or(0, |bound| bound.set)).collect()
    }

    /// The sampler and the view of a descriptor that was pushed.
    pub(crate) fn pushed(&self, commands: u64, point: usize, number: usize, at: (u32, u32)) -> Option<(u64, u64)> {
        let bound = self.commands.get(&commands)?[point].sets.get(number)?.as_ref().filter(|bound| bound.set == 0)?;
        bound.content.get(&at).copied()
    }

    /// Whether two sets are of layouts that are defined alike.
    pub(crate) fn layout_is_same(&self, one: u64, other: u64) -> bool {
        let layout = |set| self.sets.get(&set).map(|set: &Set| &set.layout);
        layout(one).zip(layout(other)).is_some_and(|(one, other)| one == other)
    }

    /// What is in a set but for samplers of their own.
    pub(crate) fn others(&self, set: u64) -> Option<Content> {
        let set = self.sets.get(&set)?;
        let is_other = |number| set.layout.binding(number).is_none_or(|it| it.ty != vk::DescriptorType::SAMPLER);
        Some(set.content.iter().filter(|((number, _), _)| is_other(*number)).map(|(at, it)| (*at, *it)).collect())
    }

    /// The sets that are bound in a command buffer.
    pub(crate) fn bound_sets(&self, commands: u64) -> Vec<u64> {
        let points = self.commands.get(&commands).into_iter().flatten();
        points.flat_map(|point| point.sets.iter().flatten().map(|bound| bound.set)).filter(|set| *set != 0).collect()
    }

    /// What a draw refers to.
    pub(crate) fn snapshot(&self, commands: u64, point: usize) -> Option<Snapshot> {
        let point = &self.commands.get(&commands)?[point];
        let programs: Option<Vec<_>> = point
            .programs
            .values()
            .map(|handle| self.pipelines.get(handle).map(|program| (*handle, program)))
            .collect();
        let programs = programs.filter(|programs| !programs.is_empty())?;
        let mut sets = Vec::new();
        let sites = programs.iter().flat_map(|(_, program)| &program.sites);
        for operand in sites.flat_map(|(image, sampler)| [image, sampler]) {
            if let Some(Some(bound)) = point.sets.get(operand.set as usize)
                && let Some(set) = self.sets.get(&bound.set)
                && !set.layout.is_loose()
            {
                sets.push((bound.set, bound.serial, set.version));
            }
        }
        let programs = programs.into_iter().map(|(handle, program)| (handle, program.serial)).collect();
        Some(Snapshot { programs, sets })
    }

    /// Why something recorded can be executed no more, if that is so.
    pub(crate) fn broken(&self, snapshot: &Snapshot) -> Option<String> {
        for (pipeline, serial) in &snapshot.programs {
            if self.pipelines.get(pipeline).is_none_or(|pipeline| pipeline.serial != *serial) {
                return Some(format!("pipeline {pipeline:#x} was recorded and is gone"));
            }
        }
        let gone = snapshot.sets.iter().find(|(set, serial, version)| {
            self.sets.get(set).is_none_or(|set| (set.serial, set.version) != (*serial, *version))
        });
        gone.map(|(set, ..)| format!("set {set:#x} was recorded and is gone or another"))
    }
}

struct Found {
    place: Place,
    sampler: u64,
    view: u64,
    is_loose: bool,
    may_lack: bool,
    offsets: Vec<u32>,
}

/// Writes descriptors; immutable samplers stay. The tests write within one binding.
fn put(
    content: &mut Content,
    layout: &SetLayout,
    ty: vk::DescriptorType,
    (binding, element): (u32, u32),
    infos: &[vk::DescriptorImageInfo],
) {
    let immutable = layout.binding(binding).is_some_and(|binding| !binding.immutable.is_empty());
    for (index, info) in infos.iter().enumerate() {
        let value = match ty {
            vk::DescriptorType::SAMPLER if immutable => continue,
            vk::DescriptorType::SAMPLER => (info.sampler.as_raw(), 0),
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER => (info.sampler.as_raw(), info.image_view.as_raw()),
            _ => (0, info.image_view.as_raw()),
        };
        content.insert((binding, element + index as u32), value);
    }
}
