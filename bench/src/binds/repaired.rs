//! What a frame costs with the calls that repairs add to it, recorded on the driver itself, without a layer.
//!
//! Of the layer's own work there is only what cannot be left out where no draw is looked at: finding the command buffer by its handle,
//! and comparing what is bound.

use ash::vk::{self, Handle};
use samplin_hot::table::FlatTable;
use samplin_testkit::context::Context;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_images};

use super::{AsItComes, Binds, ConflictState, FRAME_DRAWS, FRAME_THREADS, Parts, SETS, Scene, on_threads, pipelines};

/// What goes down for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// What the application calls.
    Own,
    /// The same, and each bind is compared with what is bound.
    Followed,
    /// Copies of the sets that conflict in their places.
    Agreed,
    /// Second pipelines and their hidden sets.
    Shared,
}

/// What [`Repaired::measure`] measures.
pub(crate) const ROWS: [(&str, bool, Calls); 8] = [
    ("frame, sorted", true, Calls::Own),
    ("frame, sorted, binds compared", true, Calls::Followed),
    ("frame, sorted, 10 links, agreed: the copy's binds", true, Calls::Agreed),
    ("frame, sorted, 10 links, shared: hidden sets and second pipelines", true, Calls::Shared),
    ("frame, mixed", false, Calls::Own),
    ("frame, mixed, binds compared", false, Calls::Followed),
    ("frame, mixed, 10 links, agreed: the copy's binds", false, Calls::Agreed),
    ("frame, mixed, 10 links, shared: hidden sets and second pipelines", false, Calls::Shared),
];

/// The row that a row of [`ROWS`] is compared with: the first of its frame.
pub(crate) const fn base(row: usize) -> usize {
    row / (ROWS.len() / 2) * (ROWS.len() / 2)
}

/// A scene, and what a layer would have made for it.
pub(crate) struct Repaired<'s, 'c> {
    parts: &'s Parts<'c>,
    /// The application's sets and one behind them.
    layout: vk::PipelineLayout,
    pipelines: Vec<vk::Pipeline>,
    /// For sets that conflict with nothing, and for the others.
    hidden: [vk::DescriptorSet; 2],
    copy: vk::DescriptorSet,
    _pool: Pool<'c>,
    _layouts: [SetLayout<'c>; 2],
}

impl<'s, 'c> Repaired<'s, 'c> {
    pub(crate) fn new(scene: &'s Scene<'c>) -> Self {
        let parts = &scene.parts;
        let context: &'c Context = parts.context;
        // Two links of each set: the layer splits those that conflict, and the links of set 0 are two.
        let of_hidden = SetLayout::new(context, &[Binding::sampler(3), Binding::sampler(4)]);
        let of_copy = SetLayout::new(context, &[Binding::image(0), Binding::image(1), Binding::sampler(2)]);
        let pool = Pool::new(context, &[&of_hidden, &of_hidden, &of_copy]);
        let hidden = [pool.allocate(&of_hidden), pool.allocate(&of_hidden)];
        let copy = pool.allocate(&of_copy);
        let sampler = [vk::DescriptorImageInfo { sampler: parts.sampler, ..Default::default() }];
        for (set, binding) in hidden.iter().flat_map(|set| [(*set, 3), (*set, 4)]).chain([(copy, 2)]) {
            write_images(context, set, (binding, 0), vk::DescriptorType::SAMPLER, &sampler);
        }
        let mut handles = vec![of_copy.handle(); SETS as usize];
        handles.push(of_hidden.handle());
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles);
        // SAFETY: a valid create info.
        let layout = unsafe { context.device().create_pipeline_layout(&info, None) }.expect("a pipeline layout");
        let pipelines = pipelines(context, layout, parts.pass, parts.pipelines.len());
        Self { parts, layout, pipelines, hidden, copy, _pool: pool, _layouts: [of_hidden, of_copy] }
    }

    /// The state of the scene that it is made for.
    pub(crate) const STATE: ConflictState = ConflictState::Disagree;

    /// ns of thread CPU time per draw, of each row.
    pub(crate) fn measure(&self) -> [f64; ROWS.len()] {
        ROWS.map(|(_, is_sorted, calls)| {
            let frame = |thread| match calls {
                Calls::Own => self.parts.record_frame(thread, is_sorted, &mut AsItComes(self.parts)),
                _ => self.parts.record_frame(thread, is_sorted, &mut Followed::new(self, calls)),
            };
            on_threads(frame) / FRAME_DRAWS as f64
        })
    }
}

impl Drop for Repaired<'_, '_> {
    fn drop(&mut self) {
        let device = self.parts.context.device();
        // SAFETY: nothing was submitted.
        unsafe {
            self.pipelines.iter().for_each(|pipeline| device.destroy_pipeline(*pipeline, None));
            device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// What is bound in a command buffer.
struct Record {
    sets: [vk::DescriptorSet; SETS as usize],
    is_split: bool,
    /// A set that conflicts is bound.
    conflicts: bool,
    hidden: vk::DescriptorSet,
}

/// Binds with what is added to them.
struct Followed<'r, 's, 'c> {
    repaired: &'r Repaired<'s, 'c>,
    calls: Calls,
    buffers: FlatTable,
    records: Vec<Record>,
}

impl<'r, 's, 'c> Followed<'r, 's, 'c> {
    fn new(repaired: &'r Repaired<'s, 'c>, calls: Calls) -> Self {
        Self { repaired, calls, buffers: FlatTable::new(16), records: Vec::new() }
    }

    fn record(&mut self, commands: vk::CommandBuffer) -> &mut Record {
        let handle = commands.as_raw();
        let mut at = self.buffers.get(handle) as usize;
        if at == 0 {
            let (sets, hidden) = Default::default();
            self.records.push(Record { sets, is_split: false, conflicts: false, hidden });
            at = self.records.len();
            self.buffers.insert(handle, at as u64);
        }
        &mut self.records[at - 1]
    }
}

impl Record {
    /// Binds the hidden set of a second pipeline, if that is not bound.
    fn bind_hidden(&mut self, repaired: &Repaired<'_, '_>, commands: vk::CommandBuffer) {
        let wanted = repaired.hidden[usize::from(self.conflicts)];
        if self.is_split && self.hidden != wanted {
            self.hidden = wanted;
            let (device, point) = (repaired.parts.context.device(), vk::PipelineBindPoint::GRAPHICS);
            // SAFETY: the command buffer is recording; the set is of the layout's last one.
            unsafe { device.cmd_bind_descriptor_sets(commands, point, repaired.layout, SETS, &[wanted], &[]) };
        }
    }
}

impl Binds for Followed<'_, '_, '_> {
    fn pipeline(&mut self, commands: vk::CommandBuffer, at: usize) {
        let (repaired, calls) = (self.repaired, self.calls);
        let record = self.record(commands);
        // Those with sets that conflict, and those that come while such sets are still bound.
        record.is_split = calls == Calls::Shared && at / FRAME_THREADS % 20 < 2;
        if !record.is_split {
            return repaired.parts.bind(commands, at);
        }
        let (device, point) = (repaired.parts.context.device(), vk::PipelineBindPoint::GRAPHICS);
        // SAFETY: the command buffer is recording.
        unsafe { device.cmd_bind_pipeline(commands, point, repaired.pipelines[at]) };
        record.bind_hidden(repaired, commands);
    }

    fn sets(&mut self, commands: vk::CommandBuffer, first: u32, sets: &[vk::DescriptorSet]) {
        let (repaired, calls) = (self.repaired, self.calls);
        let record = self.record(commands);
        let bound = &mut record.sets[first as usize..];
        if *bound != *sets {
            bound.copy_from_slice(sets);
            record.conflicts = record.sets[0] == repaired.parts.stated[0][0];
        }
        if calls == Calls::Agreed && first == 0 && record.conflicts {
            let mut all = record.sets;
            all[0] = repaired.copy;
            return repaired.parts.bind_sets_from(commands, first, &all);
        }
        repaired.parts.bind_sets_from(commands, first, sets);
        record.bind_hidden(repaired, commands);
    }
}
