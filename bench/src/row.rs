//! The rows of the table.

use crate::binds::{ConflictState, Step};
use crate::{pipelines, sample};

/// Which pairs a row draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairs {
    /// Only pairs that are legal.
    Legal,
    /// Any sampler with any view: a quarter is illegal.
    Any,
}

/// How descriptors of an immutable sampler are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    Update,
    Template,
    Push,
    PushTemplate,
}

/// How a template describes its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One entry, without gaps.
    Packed,
    /// An entry for each, as for the bindings of a structure.
    Entries,
    /// One entry, with as much between two pairs as they take.
    Gaps,
    /// An entry for each of two pairs and of two buffers between them.
    Mixed,
}

/// What is created and destroyed by turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turns {
    Samplers,
    Views,
}

/// What is on while descriptors of combined images and samplers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Under {
    /// Shaders may have to filter.
    Emulate,
    /// Samplers may clamp as those of OpenGL.
    Gl,
    /// A view of a format that the device cannot store is stored to through another one.
    Storage,
    /// The same might be, but there is no such view.
    Stored,
    /// A rule has all samples shaded.
    Shading,
    /// The device has seen a layout with an immutable sampler, which is in none of the sets that are written.
    Immutable,
    /// Views have twelve classes, and as many again that conflict with samplers.
    Classes,
    /// Samplers that ask for the same are one of the driver.
    Shared,
    /// There is a view with depth and stencil.
    Aspects,
    /// A shader has compared where a format cannot.
    Compared,
}

impl Under {
    const ALL: [Self; 10] = [
        Self::Emulate,
        Self::Gl,
        Self::Storage,
        Self::Stored,
        Self::Shading,
        Self::Immutable,
        Self::Classes,
        Self::Shared,
        Self::Aspects,
        Self::Compared,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Emulate => "unfilterable=emulate",
            Self::Gl => "GL address modes",
            Self::Storage => "storage=emulate",
            Self::Stored => "storage=emulate, none lowered",
            Self::Shading => "sample_shading",
            Self::Immutable => "beside an immutable sampler",
            Self::Classes => "of 24 view classes",
            Self::Shared => "samplers=share",
            Self::Aspects => "a view of depth and stencil",
            Self::Compared => "a comparison in the shader",
        }
    }

    /// Settings of the layer.
    pub(crate) fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Emulate => &[("unfilterable", "emulate")],
            Self::Gl | Self::Immutable | Self::Classes | Self::Aspects | Self::Compared => &[],
            Self::Storage | Self::Stored => &[("storage", "emulate"), ("device", "qualcomm-adreno-540-android")],
            Self::Shared => &[("samplers", "share")],
            Self::Shading => &[("config", concat!(env!("CARGO_MANIFEST_DIR"), "/sample-shading.toml"))],
        }
    }

    fn rows(self) -> Vec<Row> {
        let rows: &'static [Row] = match self {
            Self::Emulate | Self::Gl => &[
                Row::Update(1, Pairs::Legal),
                Row::Update(16, Pairs::Legal),
                Row::Array(256, Pairs::Legal),
                Row::Template(Shape::Entries, 16, Pairs::Legal),
                Row::Push(Pairs::Legal),
            ],
            Self::Storage => &[
                Row::Update(1, Pairs::Legal),
                Row::Array(256, Pairs::Legal),
                Row::Lowered(1),
                Row::Lowered(16),
                Row::Stored(1, 1),
                Row::Stored(16, 1),
                Row::Stored(1, 256),
            ],
            Self::Stored => &[Row::Stored(1, 1), Row::Stored(16, 1), Row::Stored(1, 256)],
            Self::Shading => &[Row::Pipeline],
            Self::Immutable => &[
                Row::Update(1, Pairs::Legal),
                Row::Update(1, Pairs::Any),
                Row::Update(16, Pairs::Legal),
                Row::Update(16, Pairs::Any),
                Row::Template(Shape::Packed, 1, Pairs::Legal),
                Row::Template(Shape::Packed, 1, Pairs::Any),
                Row::Template(Shape::Entries, 16, Pairs::Legal),
                Row::Template(Shape::Entries, 16, Pairs::Any),
                Row::Push(Pairs::Legal),
                Row::Push(Pairs::Any),
            ],
            Self::Aspects | Self::Compared => &[
                Row::Update(1, Pairs::Legal),
                Row::Update(16, Pairs::Legal),
                Row::Array(256, Pairs::Legal),
                Row::Template(Shape::Entries, 16, Pairs::Legal),
                Row::Noted(1),
                Row::Noted(256),
            ],
            Self::Shared => {
                &[Row::Sampler(true), Row::EqualSampler, Row::NewSampler, Row::Created(false), Row::Created(true)]
            }
            Self::Classes => &[Row::Update(1, Pairs::Any), Row::Update(16, Pairs::Any), Row::Array(256, Pairs::Any)],
        };
        rows.iter().map(|row| Row::Under(self, row)).collect()
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Update(usize, Pairs),
    Array(usize, Pairs),
    Mixed(Pairs),
    Buffers,
    Template(Shape, usize, Pairs),
    Push(Pairs),
    PushTemplate(usize, Pairs),
    /// 16 writes that take turns among four sets.
    Sets(Pairs),
    /// One write that goes on through 16 bindings of one descriptor each.
    Overflow(Pairs),
    /// 16 copies of one descriptor each.
    Copies,
    /// One write of an immutable LINEAR sampler, with views that are legal for it or with integers only.
    Immutable(Via, Pairs),
    /// Whether it is legal.
    Sampler(bool),
    /// One like which another one lives.
    EqualSampler,
    /// One of a state that was never seen before.
    NewSampler,
    /// Its creation alone; whether it is of a state that was never seen before.
    Created(bool),
    View,
    /// The same, and every other one conflicts with half of what there is: handles are used again by turns.
    Turns(Turns),
    /// A graphics pipeline of four samples.
    Pipeline,
    /// One write of so many storage images, in place of which others are written.
    Lowered(usize),
    /// So many writes of so many storage images each, which the device stores itself.
    Stored(usize, usize),
    /// One write of so many descriptors of a set of which all are noted, and by turns those that it writes.
    Noted(usize),
    /// Another row, where more is on.
    Under(Under, &'static Row),
    /// What frames are recorded with.
    Separate(Step, ConflictState),
}

/// Rows that are measured on devices of their own.
pub(crate) struct Group {
    pub(crate) rows: Vec<Row>,
    pub(crate) on: On,
}

/// What there is on the devices of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// Combined images and samplers, and nothing but what is on by default.
    Default,
    /// Combined ones, and more that is on.
    Under(Under),
    /// Separate images and samplers.
    Separate(ConflictState),
}

impl Row {
    /// Every row, in groups that get devices of their own: a device that has seen an immutable sampler looks at more from there on.
    pub(crate) fn groups() -> Vec<Group> {
        let immutable = |via| [Pairs::Legal, Pairs::Any].map(|pairs| Self::Immutable(via, pairs));
        let immutable = [Via::Update, Via::Template, Via::Push, Via::PushTemplate].map(immutable);
        let combined = [Self::without_immutable(), immutable.concat()].map(|rows| Group { rows, on: On::Default });
        let under = Under::ALL.map(|under| Group { rows: under.rows(), on: On::Under(under) });
        let separate = ConflictState::ALL.map(|state| Group {
            rows: Step::all(state).into_iter().map(|step| Self::Separate(step, state)).collect(),
            on: On::Separate(state),
        });
        combined.into_iter().chain(under).chain(separate).collect()
    }

    fn without_immutable() -> Vec<Self> {
        let mut out = Vec::new();
        for pairs in [Pairs::Legal, Pairs::Any] {
            out.extend([Self::Update(1, pairs), Self::Update(16, pairs), Self::Array(256, pairs), Self::Mixed(pairs)]);
            out.extend([1, 16, 256].map(|n| Self::Template(Shape::Packed, n, pairs)));
            out.extend([Shape::Entries, Shape::Gaps].map(|shape| Self::Template(shape, 16, pairs)));
            out.push(Self::Template(Shape::Mixed, 2, pairs));
            out.extend([Self::Push(pairs), Self::PushTemplate(16, pairs), Self::Sets(pairs), Self::Overflow(pairs)]);
        }
        out.extend([Self::Copies, Self::Buffers, Self::Sampler(true), Self::Sampler(false)]);
        out.extend([Self::EqualSampler, Self::NewSampler, Self::Created(false), Self::Created(true)]);
        out.extend([Self::View, Self::Pipeline]);
        out.extend([Self::Stored(1, 1), Self::Stored(16, 1), Self::Stored(1, 256)]);
        out.extend([Turns::Samplers, Turns::Views].map(Self::Turns));
        out
    }

    pub(crate) fn name(self) -> String {
        let pairs = |pairs| if pairs == Pairs::Legal { "all legal" } else { "a quarter illegal" };
        match self {
            Self::Update(n, p) => format!("update, {n} write(s), {}", pairs(p)),
            Self::Array(n, p) => format!("update, array of {n}, {}", pairs(p)),
            Self::Mixed(p) => format!("update, 4 mixed writes, {}", pairs(p)),
            Self::Buffers => "update, 4 buffer writes".to_owned(),
            Self::Template(Shape::Packed, n, p) => format!("template, {n}, {}", pairs(p)),
            Self::Template(Shape::Entries, n, p) => format!("template, {n} entries of one, {}", pairs(p)),
            Self::Template(Shape::Gaps, n, p) => format!("template, {n} with gaps, {}", pairs(p)),
            Self::Template(Shape::Mixed, n, p) => format!("template, {n} pairs and 2 buffers, {}", pairs(p)),
            Self::PushTemplate(n, p) => format!("push template, {n}, {}", pairs(p)),
            Self::Sets(p) => format!("update, 16 writes to 4 sets, {}", pairs(p)),
            Self::Overflow(p) => format!("update, array over 16 bindings, {}", pairs(p)),
            Self::Copies => "update, 16 copies".to_owned(),
            Self::Push(p) => format!("push, 1, {}", pairs(p)),
            Self::Immutable(via, p) => {
                let via = match via {
                    Via::Update => "update",
                    Via::Template => "template",
                    Via::Push => "push",
                    Via::PushTemplate => "push template",
                };
                format!("{via}, immutable, {} view", if p == Pairs::Legal { "legal" } else { "conflicting" })
            }
            Self::Sampler(true) => "create and destroy a sampler".to_owned(),
            Self::Sampler(false) => "create and destroy an illegal sampler".to_owned(),
            Self::EqualSampler => "create and destroy a sampler, an equal one lives".to_owned(),
            Self::NewSampler => "create and destroy a sampler of a new state".to_owned(),
            Self::Created(is_new) => format!("create a sampler{}", if is_new { " of a new state" } else { "" }),
            Self::View => "create and destroy a view".to_owned(),
            Self::Turns(Turns::Samplers) => format!("{}, every other one conflicts", Self::NewSampler.name()),
            Self::Turns(Turns::Views) => format!("{}, every other one conflicts", Self::View.name()),
            Self::Pipeline => "create and destroy a pipeline of 4 samples".to_owned(),
            Self::Lowered(n) => format!("update, {n} storage image(s)"),
            Self::Stored(n, 1) => format!("update, {n} write(s) of storage images"),
            Self::Stored(_, n) => format!("update, array of {n} storage images"),
            Self::Noted(n) => format!("update, {n} of 256 that are noted"),
            Self::Under(under, row) => format!("{}, {}", row.name(), under.name()),
            Self::Separate(step, state) => step.name(state),
        }
    }

    /// Combined image samplers per call.
    pub(crate) fn descriptors(self) -> usize {
        match self {
            Self::Update(n, _) | Self::Array(n, _) | Self::Template(_, n, _) | Self::PushTemplate(n, _) => n,
            Self::Sets(_) | Self::Overflow(_) => 16,
            Self::Mixed(_) => 2,
            Self::Push(_) | Self::Immutable(..) => 1,
            Self::Under(_, row) => row.descriptors(),
            Self::Lowered(_)
            | Self::Noted(_)
            | Self::Stored(..)
            | Self::Copies
            | Self::Buffers
            | Self::Sampler(_)
            | Self::EqualSampler
            | Self::NewSampler
            | Self::Created(_)
            | Self::View
            | Self::Turns(_)
            | Self::Pipeline
            | Self::Separate(..) => 0,
        }
    }

    pub(crate) fn is_threaded(self) -> bool {
        match self {
            Self::Separate(step, _) => step.is_threaded(),
            _ => matches!(self, Self::Update(..) | Self::Template(..)),
        }
    }

    /// Whether its instructions are not counted: it has the driver's compiler at work, or
    /// something that does not count between its passes.
    pub(crate) fn is_timed_only(self) -> bool {
        match self {
            Self::Separate(step, _) => step.is_timed_only(),
            Self::Under(_, row) => row.is_timed_only(),
            Self::Created(_) => true,
            _ => false,
        }
    }

    /// Whether only instructions of the layer itself count: the driver keeps all commands on its heap, of which the order
    /// varies, or has its compiler at work.
    pub(crate) fn is_own(self) -> bool {
        self.is_pipeline() || matches!(self, Self::Separate(step, _) if step.is_own())
    }

    fn is_pipeline(self) -> bool {
        matches!(self, Self::Pipeline | Self::Under(_, Self::Pipeline))
    }

    /// Calls that one sample of instructions covers.
    pub(crate) fn counted(self) -> usize {
        match self {
            Self::Separate(step, _) => step.counted(),
            _ if self.is_pipeline() => pipelines::COUNTED,
            _ => sample::COUNTED,
        }
    }
}
