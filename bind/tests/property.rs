//! Random streams of an application's calls, and what goes down of them, in two reference machines: each draw reads the same of everything
//! in both, but for what its plan says.
//!
//! `BIND_CALLS`: how many calls (default 2 million); `BIND_SEED`: the first stream.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use fastrand::Rng;
use samplin_bind::reference::{
    Call, DrawReads, GRAPHICS, Machine, POINTS, PipelineLayout, Program, Read, STATES, Set, SetLayout, WORDS, World,
};
use samplin_bind::{
    BindPoint, Binds, Brief, Calls, Descriptor, Executable, Hide, Layout, Needs, Objects, Other, Refused,
};

/// Definitions of set layouts: dynamic offsets, pushed.
const DEFINITIONS: [(u32, bool); 6] = [(0, false), (1, false), (2, false), (0, false), (0, true), (0, true)];
/// Its sets may be updated while they are bound.
const LOOSE: u32 = 3;
const HIDDEN: u32 = 100;
/// No set number.
const PIPELINE: usize = 100;
/// Calls of a stream.
const STREAM: u64 = 400;

struct Model;

/// A pipeline layout of the application's.
struct LayoutModel {
    own: Layout,
    /// A layout of the layer's own that is defined alike.
    twin: u64,
}

impl std::borrow::Borrow<Layout> for LayoutModel {
    fn borrow(&self) -> &Layout {
        &self.own
    }
}

impl Objects for Model {
    type Layout = LayoutModel;
    type Content = ();
    type Shader = ();
    type Program = ();
}

fn set_layout(definition: u32) -> SetLayout {
    let (dynamic, is_pushed) = DEFINITIONS.get(definition as usize).copied().unwrap_or_default();
    SetLayout { definition, dynamic, is_pushed }
}

fn add<T>(list: &mut Vec<Option<T>>, item: T) -> u64 {
    list.push(Some(item));
    list.len() as u64
}

/// A pipeline of the application's or shader objects that belong together, and what may run instead.
struct Code {
    point: usize,
    layout: Arc<PipelineLayout>,
    known: Arc<LayoutModel>,
    own: Vec<(u32, u64)>,
    second: Vec<(u32, u64)>,
    second_layout: Arc<LayoutModel>,
    is_pipeline: bool,
}

impl Code {
    fn executable(&self, of: &[(u32, u64)]) -> Executable {
        match self.is_pipeline {
            true => Executable::Pipeline(of[0].1),
            false => Executable::Shaders(of.into()),
        }
    }
}

/// What a plan has put in force.
#[derive(Clone, Default)]
struct Plan {
    programs: BTreeMap<u32, u64>,
    shadows: Vec<(usize, u64)>,
    pushes: Vec<(u32, Other)>,
    hidden: Option<(usize, u64)>,
}

impl Plan {
    /// What a draw reads with it that reads this without.
    fn apply(&self, asked: &DrawReads) -> DrawReads {
        let mut seen = DrawReads { programs: self.programs.clone(), ..asked.clone() };
        for (number, read) in &mut seen.reads {
            match read {
                Read::Set(set, _) => {
                    let shadow = self.shadows.iter().find(|(at, _)| at == number);
                    *set = shadow.map_or(*set, |(_, shadow)| *shadow);
                }
                Read::Pushed(pushed) => {
                    for (_, (binding, element, other)) in self.pushes.iter().filter(|(at, _)| *at as usize == *number) {
                        let descriptor = pushed.get_mut(&(*binding, *element)).expect("it was pushed");
                        // A sampler has another sampler, an image another view.
                        let word = if descriptor.ty == 0 { 0 } else { 1 };
                        descriptor.words[word] = *other;
                    }
                }
            }
        }
        if let Some((number, set)) = self.hidden {
            seen.reads.insert(number, Read::Set(set, Vec::new()));
        }
        seen
    }
}

/// What the layer has recorded of a bind point.
#[derive(Default)]
struct Recorded {
    point: BindPoint<Model>,
    plan: Plan,
    /// Set numbers, or [`PIPELINE`], at which a bind has not gone down: one that stands in for it may change nothing.
    kept: HashSet<usize>,
}

impl Recorded {
    fn clear(&mut self) {
        self.point.clear();
        self.kept.clear();
    }
}

/// Makes the layer's own calls, each of which has to change something.
struct Down<'d> {
    world: &'d World,
    machine: &'d mut Machine,
    point: usize,
    calls: usize,
    kept: &'d mut HashSet<usize>,
}

impl Down<'_> {
    fn call(&mut self, call: &Call) {
        self.calls += 1;
        let before = self.machine.clone();
        if let Err(broken) = self.machine.call(self.world, call) {
            panic!("{call:?} breaks {broken}");
        }
        let may_be_for_nothing = match call {
            Call::BindSets { first, .. } => self.kept.remove(first),
            Call::BindPipeline { .. } => self.kept.remove(&PIPELINE),
            // What of a pushed set others stood in for is not known once the application has pushed to it: all is pushed again.
            _ => matches!(call, Call::Push { .. }),
        };
        assert!(may_be_for_nothing || *self.machine != before, "{call:?} is for nothing");
    }
}

impl Calls<Model> for Down<'_> {
    fn bind_pipeline(&mut self, pipeline: u64) {
        self.call(&Call::BindPipeline { point: self.point, pipeline });
    }

    fn bind_shaders(&mut self, shaders: &[(u32, u64)]) {
        self.call(&Call::BindShaders { shaders: shaders.to_vec() });
    }

    fn bind_kept(&mut self, layout: u64, number: usize, set: u64, offsets: &[u32]) {
        let (sets, offsets) = (vec![set], offsets.to_vec());
        self.call(&Call::BindSets { point: self.point, layout, first: number, sets, offsets });
    }

    fn bind_set(&mut self, layout: &LayoutModel, number: usize, set: u64, offsets: &[u32]) -> bool {
        let (sets, offsets) = (vec![set], offsets.to_vec());
        self.call(&Call::BindSets { point: self.point, layout: layout.twin, first: number, sets, offsets });
        true
    }

    fn push(&mut self, layout: &LayoutModel, number: usize, descriptors: &[((u32, u32), Descriptor)]) -> bool {
        let writes = descriptors.to_vec();
        self.call(&Call::Push { point: self.point, layout: layout.twin, number, writes });
        true
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    calls: u64,
    draws: u64,
    plans: u64,
    own_calls: u64,
    refused: u64,
    kept: u64,
    alike: u64,
}

struct Stream {
    rng: Rng,
    world: World,
    words: HashMap<(u64, u32), u64>,
    /// Handles of pipeline layouts of the application's, with what the layer knows of them, and how many have gone.
    layouts: Vec<(u64, Arc<LayoutModel>)>,
    gone: u64,
    codes: Vec<Code>,
    sets: Vec<u64>,
    shadows: HashMap<u64, [u64; 2]>,
    hidden: [u64; 3],
    /// What this recording has used: layouts, programs, sets.
    used: HashSet<(u8, u64)>,
    application: Machine,
    driver: Machine,
    recorded: [Recorded; POINTS],
    /// Nothing but the application's calls has gone down since the beginning.
    is_plain: bool,
    versions: u64,
    log: Vec<String>,
    tally: Tally,
}

impl Stream {
    fn new(seed: u64) -> Self {
        let mut stream = Self {
            rng: Rng::with_seed(seed),
            world: World::default(),
            words: HashMap::new(),
            layouts: Vec::new(),
            gone: 0,
            codes: Vec::new(),
            sets: Vec::new(),
            shadows: HashMap::new(),
            hidden: [0; 3],
            used: HashSet::new(),
            application: Machine::default(),
            driver: Machine::default(),
            recorded: Default::default(),
            is_plain: true,
            versions: 0,
            log: Vec::new(),
            tally: Tally::default(),
        };
        for place in 0..3 {
            stream.hidden[place] = stream.make_set(set_layout(HIDDEN));
        }
        for _ in 0..4 {
            let layout = stream.random_layout();
            stream.make_layout(layout);
        }
        (0..6).for_each(|_| stream.make_code());
        for definition in (0..4).chain(0..4) {
            let set = stream.make_set(set_layout(definition));
            stream.sets.push(set);
        }
        stream
    }

    // ---- objects ----

    fn random_layout(&mut self) -> PipelineLayout {
        // Often like another one up to some set.
        if let Some((handle, _)) = self.rng.choice(&self.layouts).filter(|_| self.rng.clone().u8(..) < 160) {
            let mut layout = (**self.world.layout(*handle).expect("it lives")).clone();
            if self.rng.bool() {
                layout.sets.truncate(self.rng.usize(1..=layout.sets.len()));
            }
            if layout.sets.len() < 4 && self.rng.bool() {
                layout.sets.push(Some(set_layout(self.rng.u32(0..4))));
            }
            return layout;
        }
        let count = self.rng.usize(1..5);
        let mut sets: Vec<_> = (0..count).map(|_| Some(set_layout(self.rng.u32(0..4)))).collect();
        if self.rng.u8(0..3) == 0 {
            sets[self.rng.usize(0..count)] = Some(set_layout(self.rng.u32(4..6)));
        }
        if self.rng.u8(0..6) == 0 {
            sets[self.rng.usize(0..count)] = None;
        }
        PipelineLayout { sets, ranges: self.rng.u32(0..2) }
    }

    /// What the layer knows of a layout: a word for each set that says all that is before it too.
    fn known(&mut self, layout: &PipelineLayout) -> Arc<LayoutModel> {
        let twin = add(&mut self.world.layouts, Arc::new(layout.clone()));
        let mut word = u64::from(layout.ranges);
        let mut compatible = Vec::new();
        for set in &layout.sets {
            let fresh = self.words.len() as u64 + 10;
            word = *self.words.entry((word, set.map_or(u32::MAX, |set| set.definition))).or_insert(fresh);
            compatible.push(word);
        }
        let dynamic = layout.sets.iter().map(|set| set.map_or(0, |set| set.dynamic)).collect();
        Arc::new(LayoutModel { own: Layout::new(compatible.into(), dynamic), twin })
    }

    fn make_layout(&mut self, layout: PipelineLayout) {
        let known = self.known(&layout);
        let handle = add(&mut self.world.layouts, Arc::new(layout));
        self.layouts.push((handle, known));
    }

    /// The handle comes back at once as another layout.
    fn remake_layout(&mut self) {
        let place = self.rng.usize(0..self.layouts.len());
        let handle = self.layouts[place].0;
        if self.used.contains(&(0, handle)) {
            return;
        }
        let layout = self.random_layout();
        self.log.push(format!("layout {handle} becomes {layout:?}"));
        let known = self.known(&layout);
        self.world.layouts[handle as usize - 1] = Some(Arc::new(layout));
        self.layouts[place] = (handle, known);
        self.gone += 1;
    }

    fn make_code(&mut self) {
        let (handle, known) = self.layouts[self.rng.usize(0..self.layouts.len())].clone();
        let layout = Arc::clone(self.world.layout(handle).expect("it lives"));
        let mut with_hidden = (*layout).clone();
        with_hidden.sets.push(Some(set_layout(HIDDEN)));
        let second_layout = self.known(&with_hidden);
        let with_hidden = Arc::new(with_hidden);
        let rng = &mut self.rng;
        let reads: Vec<usize> =
            (0..layout.sets.len()).filter(|at| layout.sets[*at].is_some() && rng.u8(0..5) > 0).collect();
        let (point, is_pipeline) = (rng.usize(0..POINTS), rng.u8(0..4) > 0);
        let statics = [(); STATES].map(|()| (is_pipeline && point == GRAPHICS && rng.bool()).then(|| rng.u64(..)));
        let stages: &[u32] = if is_pipeline || point != GRAPHICS { &[0] } else { &[1, 16] };
        let is_linked = stages.len() > 1 && rng.bool();
        let hidden_at = layout.sets.len();
        let make = |world: &mut World, layout: &Arc<PipelineLayout>, reads: &[usize]| -> Vec<(u32, u64)> {
            let program = |linked| Program { layout: Arc::clone(layout), reads: reads.to_vec(), statics, linked };
            let made: Vec<_> =
                stages.iter().map(|stage| (*stage, add(&mut world.programs, program(Vec::new())))).collect();
            if is_linked {
                let linked: Vec<u64> = made.iter().map(|(_, handle)| *handle).collect();
                for (_, handle) in &made {
                    world.programs[*handle as usize - 1] = Some(program(linked.clone()));
                }
            }
            made
        };
        let own = make(&mut self.world, &layout, &reads);
        let more: Vec<usize> = reads.iter().copied().chain([hidden_at]).collect();
        let second = make(&mut self.world, &with_hidden, &more);
        self.codes.push(Code { point, layout, known, own, second, second_layout, is_pipeline });
    }

    fn make_set(&mut self, layout: SetLayout) -> u64 {
        self.versions += 1;
        add(&mut self.world.sets, Set { layout, version: self.versions })
    }

    fn shadows_of(&mut self, set: u64) -> [u64; 2] {
        if let Some(shadows) = self.shadows.get(&set) {
            return *shadows;
        }
        let layout = self.world.set(set).expect("it lives").layout;
        let shadows = [(); 2].map(|()| self.make_set(layout));
        self.shadows.insert(set, shadows);
        shadows
    }

    /// A set is updated, or freed so that its handle comes back as another: what was recorded with it is invalid.
    fn change_set(&mut self) {
        let set = self.sets[self.rng.usize(0..self.sets.len())];
        if self.used.contains(&(2, set)) {
            self.begin();
        }
        self.versions += 1;
        let version = self.versions;
        let definition = self.rng.u32(0..4);
        let is_freed = self.rng.u8(0..3) == 0;
        let entry = self.world.sets[set as usize - 1].as_mut().expect("it lives");
        entry.version = version;
        self.log.push(format!("set {set} changes, freed: {is_freed} {definition}"));
        if is_freed {
            entry.layout = set_layout(definition);
        }
        for shadow in self.shadows.remove(&set).into_iter().flatten() {
            self.world.sets[shadow as usize - 1] = None;
        }
    }

    // ---- the application's calls ----

    fn call(&mut self, call: &Call, goes_down: bool) {
        self.log.push(format!("{call:?}{}", if goes_down { "" } else { " (kept)" }));
        if let Err(broken) = self.application.call(&self.world, call) {
            panic!("the application breaks {broken}: {call:?}");
        }
        if goes_down && let Err(broken) = self.driver.call(&self.world, call) {
            panic!("what goes down breaks {broken}: {call:?}");
        }
        self.tally.calls += 1;
    }

    /// A bind goes down, or waits for a draw.
    fn keep(&mut self, point: usize, numbers: std::ops::Range<usize>, goes_down: bool) {
        if !goes_down {
            (self.is_plain, self.tally.kept) = (false, self.tally.kept + 1);
        }
        let kept = &mut self.recorded[point].kept;
        kept.retain(|number| !numbers.contains(number));
        kept.extend(numbers.filter(|_| !goes_down));
    }

    fn begin(&mut self) {
        self.call(&Call::Begin, true);
        self.used.clear();
        self.is_plain = true;
        self.recorded.iter_mut().for_each(Recorded::clear);
    }

    fn bind_code(&mut self) {
        let place = self.rng.usize(0..self.codes.len());
        let Code { point, own, is_pipeline, .. } = &self.codes[place];
        let (point, is_pipeline, own) = (*point, *is_pipeline, own.clone());
        if point == GRAPHICS && self.application.feeds_back() {
            return;
        }
        self.used.extend(own.iter().map(|(_, handle)| (1, *handle)));
        if is_pipeline {
            let pipeline = own[0].1;
            let is_kept = self.rng.u8(0..4) == 0 && self.recorded[point].point.keep_pipeline(pipeline);
            if !is_kept {
                self.recorded[point].point.bind_pipeline(pipeline);
            }
            self.keep(point, PIPELINE..PIPELINE + 1, !is_kept);
            return self.call(&Call::BindPipeline { point, pipeline }, !is_kept);
        }
        let mut shaders = own;
        match self.rng.u8(0..6) {
            0 => shaders.truncate(1),
            1 => shaders.iter_mut().for_each(|(_, shader)| *shader = 0),
            2 => shaders.reverse(),
            _ => {}
        }
        self.call(&Call::BindShaders { shaders: shaders.clone() }, true);
        let recorded = &mut self.recorded[point].point;
        for (stage, shader) in shaders {
            recorded.bind_shader(stage, (shader != 0).then(|| (shader, Arc::new(()))));
        }
    }

    fn bind_sets(&mut self) {
        // Mostly for something that may be bound there.
        let code = &self.codes[self.rng.usize(0..self.codes.len())];
        let own = self.layouts.iter().find(|(_, known)| Arc::ptr_eq(known, &code.known)).cloned();
        let (point, own) = (code.point, own.filter(|_| self.rng.u8(0..4) > 0));
        let (handle, known) = own.unwrap_or_else(|| self.layouts[self.rng.usize(0..self.layouts.len())].clone());
        let layout = Arc::clone(self.world.layout(handle).expect("it lives"));
        self.used.insert((0, handle));
        let mut first = if self.rng.bool() { 0 } else { self.rng.usize(0..layout.sets.len()) };
        while first < layout.sets.len() {
            let Some(own) = layout.sets[first] else {
                first += 1;
                continue;
            };
            if own.is_pushed {
                self.push(point, (handle, &known), first);
                first += 1;
                continue;
            }
            let (mut sets, mut offsets) = (Vec::new(), Vec::new());
            for own in layout.sets[first..].iter().map_while(|set| set.filter(|set| !set.is_pushed)) {
                let is_like = |set: &&u64| self.world.set(**set).expect("it lives").layout == own;
                let fitting: Vec<u64> = self.sets.iter().filter(is_like).copied().collect();
                let set = match self.rng.choice(&fitting) {
                    Some(set) => *set,
                    None => {
                        let set = self.make_set(own);
                        self.sets.push(set);
                        set
                    }
                };
                // Now and then none.
                let set = if self.rng.u8(0..12) == 0 { 0 } else { set };
                sets.push(set);
                if set == 0 {
                    continue;
                }
                offsets.extend((0..own.dynamic).map(|_| self.rng.u32(0..3)));
                if self.rng.u8(0..3) == 0 {
                    break;
                }
            }
            self.used.extend(sets.iter().map(|set| (2, *set)));
            let count = sets.len();
            let goes_down = self.rng.u8(0..6) > 0;
            self.keep(point, first..first + count, goes_down);
            let binds = Binds { layout: handle, gone: self.gone, first, offsets: &offsets, goes_down };
            let alike = (goes_down && self.rng.bool())
                .then(|| self.recorded[point].point.bind_sets_alike(binds, sets.iter().copied()));
            if alike == Some(true) {
                self.tally.alike += 1;
                self.call(&Call::BindSets { point, layout: handle, first, sets, offsets }, true);
                first += count;
                continue;
            }
            let find = || Some(Arc::clone(&known));
            assert!(self.recorded[point].point.bind_sets(binds, sets.iter().copied(), find));
            self.call(&Call::BindSets { point, layout: handle, first, sets, offsets }, goes_down);
            first += count;
            if self.rng.bool() {
                break;
            }
        }
    }

    fn push(&mut self, point: usize, (handle, known): (u64, &Arc<LayoutModel>), number: usize) {
        let mut writes = Vec::new();
        for binding in 0..3 {
            if self.rng.bool() {
                let ty = [0, 2, 6][binding as usize];
                writes.push((
                    (binding, self.rng.u32(0..2)),
                    Descriptor { ty, words: [(); 3].map(|()| self.rng.u64(1..9)) },
                ));
            }
        }
        if writes.is_empty() {
            return;
        }
        let write = |pushed: &mut samplin_bind::Pushed, _: Option<&()>| {
            writes.iter().for_each(|(at, descriptor)| pushed.write(*at, *descriptor));
        };
        self.recorded[point].point.push(known, number, || None, write);
        self.call(&Call::Push { point, layout: handle, number, writes }, true);
    }

    fn feed_back(&mut self) {
        if self.application.feeds_back() {
            self.call(&Call::EndFeedback, true);
            return self.recorded[GRAPHICS].point.feed_back(false);
        }
        let is_pipeline = self.recorded[GRAPHICS].point.pipeline != 0;
        if is_pipeline && self.application.draw(&self.world, GRAPHICS).is_ok() {
            self.draw(GRAPHICS);
            self.call(&Call::BeginFeedback, true);
            self.recorded[GRAPHICS].point.feed_back(true);
        }
    }

    fn step(&mut self) {
        let point = self.rng.usize(0..POINTS);
        match self.rng.u8(0..100) {
            0..18 => self.bind_code(),
            18..45 => self.bind_sets(),
            45..52 => {
                let (state, value) = (self.rng.usize(0..STATES), self.rng.u64(..));
                self.call(&Call::SetState { state, value }, true);
            }
            52..55 => {
                let layout = self.layouts[self.rng.usize(0..self.layouts.len())].0;
                self.used.insert((0, layout));
                let (word, value) = (self.rng.usize(0..WORDS), self.rng.u32(..));
                self.call(&Call::PushConstants { layout, word, value }, true);
            }
            55..57 => {
                self.call(&Call::BindBuffers { point }, true);
                self.recorded[point].point.forget_sets();
            }
            57..60 => self.feed_back(),
            60..61 if !self.application.feeds_back() => {
                self.call(&Call::Execute, true);
                self.recorded.iter_mut().for_each(Recorded::clear);
            }
            61..63 => self.begin(),
            63..65 => self.change_set(),
            65..66 => self.remake_layout(),
            66..67 if self.codes.len() < 12 => {
                if self.layouts.len() < 8 {
                    let layout = self.random_layout();
                    self.make_layout(layout);
                }
                self.make_code();
            }
            67..68 => self.give_back(point),
            68..100 if self.application.draw(&self.world, point).is_ok() => self.draw(point),
            _ => {}
        }
    }

    // ---- draws ----

    /// What a draw that is to be looked at needs.
    fn plan(&mut self, point: usize, asked: &DrawReads) -> (usize, Plan) {
        let first = *asked.programs.first_key_value().expect("something runs").1;
        let place =
            self.codes.iter().position(|code| code.own.iter().any(|(_, own)| *own == first)).expect("it is known");
        let mut plan = Plan { programs: asked.programs.clone(), ..Plan::default() };
        if self.rng.u8(0..3) == 0 {
            return (place, plan);
        }
        // Shader objects of several groups are not made again together here.
        let is_own = asked.programs.len() == self.codes[place].own.len()
            && self.codes[place].own.iter().all(|(stage, own)| asked.programs.get(stage) == Some(own));
        if self.rng.bool() && is_own {
            plan.programs = self.codes[place].second.iter().copied().collect();
            plan.hidden = Some((self.codes[place].layout.sets.len(), self.hidden[self.rng.usize(0..3)]));
        }
        for (number, read) in &asked.reads {
            match read {
                Read::Set(set, _) if self.rng.u8(0..3) == 0 => {
                    let shadow = self.shadows_of(*set)[self.rng.usize(0..2)];
                    plan.shadows.push((*number, shadow));
                }
                Read::Pushed(all) => {
                    assert!(self.recorded[point].point.sets[*number].is_pushed());
                    for (binding, element) in all.keys() {
                        if self.rng.u8(0..3) == 0 {
                            plan.pushes.push((*number as u32, (*binding, *element, self.rng.u64(100..103))));
                        }
                    }
                }
                Read::Set(..) => {}
            }
        }
        (place, plan)
    }

    /// Has what is bound brought in line with a plan. Whether it was.
    fn meet(&mut self, point: usize, place: usize, plan: &Plan) -> Result<usize, Refused> {
        let Self { world, driver, recorded, codes, .. } = self;
        let code = &codes[place];
        let programs: Vec<(u32, u64)> = plan.programs.iter().map(|(stage, handle)| (*stage, *handle)).collect();
        let executable = code.executable(&programs);
        let hidden = plan.hidden.map(|(_, set)| Hide { set, layout: &code.second_layout });
        let needs = Needs {
            executable: &executable,
            layout: &*code.known,
            shadows: &plan.shadows,
            pushes: &plan.pushes,
            hidden,
        };
        let Recorded { point: recorded, kept, .. } = &mut recorded[point];
        let mut down = Down { world, machine: driver, point, calls: 0, kept };
        recorded.meet(&needs, &mut down)?;
        let calls = std::mem::take(&mut down.calls);
        // Once more changes nothing.
        recorded.meet(&needs, &mut down)?;
        assert_eq!(down.calls, 0, "not all was bound at once");
        Ok(calls)
    }

    fn draw(&mut self, point: usize) {
        let asked = self.application.draw(&self.world, point).expect("a legal draw");
        self.look_up(point, &asked);
        if self.recorded[point].point.is_dirty {
            self.tally.plans += 1;
            let (place, mut plan) = self.plan(point, &asked);
            let calls = match self.meet(point, place, &plan) {
                Ok(calls) => calls,
                Err(Refused::Feedback) => {
                    // What is bound stays; if that is the layer's own it reads a hidden set.
                    self.tally.refused += 1;
                    let actual = self.recorded[point].point.actual();
                    let is_second = self.codes[place].second[0].1 == actual;
                    plan.programs = BTreeMap::from([(0, actual)]);
                    plan.hidden = is_second.then(|| (self.codes[place].layout.sets.len(), self.hidden[0]));
                    self.meet(point, place, &plan).expect("nothing else is to run")
                }
            };
            let is_nothing = plan.apply(&asked) == asked;
            self.is_plain &= is_nothing;
            assert!(!self.is_plain || calls == 0, "calls for nothing");
            self.tally.own_calls += calls as u64;
            self.log.push(format!(
                "draw at {point}: {:?} {:?} {:?} {:?}",
                plan.programs, plan.shadows, plan.pushes, plan.hidden
            ));
            self.recorded[point].plan = plan;
        } else {
            self.log.push(format!("draw at {point}, clean"));
        }
        self.tally.draws += 1;
        let mut found =
            self.driver.draw(&self.world, point).unwrap_or_else(|broken| panic!("a legal draw breaks {broken}"));
        leave_unread(&asked, &mut found);
        assert_eq!(self.recorded[point].plan.apply(&asked), found);
    }

    /// Looks up what is in the sets that a draw reads, where that is not known.
    fn look_up(&mut self, point: usize, asked: &DrawReads) {
        for number in asked.reads.keys() {
            let bound = &mut self.recorded[point].point.sets[*number];
            let Some(set) = self.world.set(bound.set) else { continue };
            let is_loose = set.layout.definition == LOOSE;
            let brief = bound.brief.get_or_insert(Brief { stamp: set.version, summary: 0, is_loose });
            assert_eq!(
                (brief.stamp, brief.is_loose),
                (set.version, is_loose),
                "what is known of a set is of another content"
            );
        }
    }

    /// Everything as the application has it, for a command that draws what is not known.
    fn give_back(&mut self, point: usize) {
        let Ok(asked) = self.application.draw(&self.world, point) else { return };
        if point == GRAPHICS && self.application.feeds_back() {
            return;
        }
        self.log.push(format!("give back {point}"));
        let Self { world, driver, recorded, .. } = self;
        let Recorded { point: recorded, kept, .. } = &mut recorded[point];
        let mut down = Down { world, machine: driver, point, calls: 0, kept };
        recorded.give_back(&mut down);
        assert!(!self.is_plain || down.calls == 0);
        assert!(!self.recorded[point].point.differs);
        // The plan in force is that of the application's own, and it is as if nothing had been kept.
        self.recorded[point].point.is_dirty = true;
        let mut found = self.driver.draw(&self.world, point).expect("a legal draw");
        leave_unread(&asked, &mut found);
        assert_eq!(found, asked);
    }
}

/// Takes out what was pushed before a set that did not go down: the application has not pushed it again, so its shaders must not read it.
fn leave_unread(asked: &DrawReads, found: &mut DrawReads) {
    for (number, read) in &mut found.reads {
        if let (Read::Pushed(found), Some(Read::Pushed(asked))) = (read, asked.reads.get(number)) {
            found.retain(|at, _| asked.contains_key(at));
        }
    }
}

fn run(seed: u64) -> Tally {
    let mut stream = Stream::new(seed);
    for _ in 0..STREAM {
        let step = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stream.step()));
        if let Err(panic) = step {
            stream.log.iter().rev().take(60).rev().for_each(|line| eprintln!("{line}"));
            eprintln!("stream {seed}");
            std::panic::resume_unwind(panic);
        }
    }
    stream.tally
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn what_goes_down_reads_what_the_application_bound() {
    let (wanted, mut seed) = (variable("BIND_CALLS", 2_000_000), variable("BIND_SEED", 0));
    let mut sum = Tally::default();
    while sum.calls < wanted {
        let tally = run(seed);
        seed += 1;
        sum.calls += tally.calls;
        sum.draws += tally.draws;
        sum.plans += tally.plans;
        sum.own_calls += tally.own_calls;
        sum.refused += tally.refused;
        sum.kept += tally.kept;
        sum.alike += tally.alike;
    }
    println!("{seed} streams: {sum:?}");
    let about =
        [sum.draws * 20, sum.plans * 40, sum.own_calls * 20, sum.refused * 5000, sum.kept * 100, sum.alike * 500];
    assert!(about.iter().all(|count| *count > sum.calls), "{sum:?}");
}
