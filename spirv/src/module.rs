//! The reader: one pass over the words, which checks them and remembers where things are.
//!
//! It knows where each id is defined, where the sections end, a few decorations, and per function its image instructions and calls.
//! It does not know what an instruction means beyond that; opcodes it has never heard of are passed over.

use std::collections::BinaryHeap;
use std::ops::Range;

use spirv::{Capability, Decoration, StorageClass};

use crate::error::{Error, filled, push};
use crate::op::{self, Result as Defines, Section};

/// An instruction where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'w> {
    /// Word offset in the module.
    pub at: usize,
    /// All its words, the first one with opcode and length.
    pub words: &'w [u32],
}

impl Instruction<'_> {
    /// The opcode, a number of [`spirv::Op`] or an unknown one.
    #[inline]
    pub fn opcode(&self) -> u32 {
        self.word(0) & 0xffff
    }

    /// The word that is the id it defines.
    #[inline]
    pub(crate) fn id_at(&self) -> Option<usize> {
        match op::result(self.opcode()) {
            Defines::None => None,
            Defines::Id => Some(1),
            Defines::Typed => Some(2),
        }
    }

    /// Word `n`, the one with the opcode being 0; 0, which is no id, if there are fewer.
    #[inline]
    pub fn word(&self, n: usize) -> u32 {
        self.words.get(n).copied().unwrap_or(0)
    }
}

/// Instructions one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Instructions<'w> {
    words: &'w [u32],
    at: usize,
    end: usize,
}

impl<'w> Iterator for Instructions<'w> {
    type Item = Instruction<'w>;

    fn next(&mut self) -> Option<Instruction<'w>> {
        if self.at >= self.end {
            return None;
        }
        let length = (self.words.get(self.at)? >> 16) as usize;
        let words = self.words.get(self.at..self.at + length)?;
        let instruction = Instruction { at: self.at, words };
        self.at = if length == 0 { self.end } else { self.at + length };
        Some(instruction)
    }
}

/// Ends of the sections of a module, as word offsets; a section that is empty ends where the one before it does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sections {
    pub(crate) capabilities: usize,
    pub(crate) extensions: usize,
    pub(crate) imports: usize,
    /// Of execution modes, strings and sources: where names may begin.
    pub(crate) sources: usize,
    pub(crate) annotations: usize,
    /// Of types, constants and global variables: where the first function begins, with its lines.
    pub(crate) globals: usize,
    /// Behind the last function.
    pub(crate) functions: usize,
}

/// A function: where it is, and what in it is of interest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// Its place in the list of functions.
    pub(crate) number: usize,
    /// From `OpFunction`, inclusive, to behind `OpFunctionEnd`.
    pub(crate) at: usize,
    pub(crate) end: usize,
    /// Ranges in the module's lists.
    parameters: (usize, usize),
    sites: (usize, usize),
    calls: (usize, usize),
}

/// Where ids are defined. A module whose bound is far above what its words can define does not get a table of that size.
#[derive(Debug)]
enum Ids {
    Dense(Vec<u32>),
    /// (id, word offset), sorted.
    Sparse(Vec<(u32, u32)>),
}

/// A module that was read: every instruction has its length, every id that is defined is within bounds and defined once.
#[derive(Debug)]
pub struct Module<'w> {
    words: &'w [u32],
    ids: Ids,
    pub(crate) sections: Sections,
    /// (target, decoration, operand), sorted; only those that `kept` names.
    decorations: Vec<(u32, u32, u32)>,
    /// (target, group), sorted.
    groups: Vec<(u32, u32)>,
    /// (structure, member, byte offset), sorted.
    members: Vec<(u32, u32, u32)>,
    /// Word offsets of entry points, and of what functions hold, in the order of the words.
    entries: Vec<u32>,
    parameters: Vec<u32>,
    sites: Vec<u32>,
    calls: Vec<u32>,
    functions: Vec<Function>,
}

/// Decorations that are kept, with one operand or none.
fn kept(decoration: u32) -> bool {
    const KEPT: [Decoration; 19] = [
        Decoration::SpecId,
        Decoration::ArrayStride,
        Decoration::Binding,
        Decoration::DescriptorSet,
        Decoration::NonUniform,
        Decoration::Block,
        Decoration::BuiltIn,
        Decoration::Centroid,
        Decoration::ExplicitInterpAMD,
        Decoration::Flat,
        Decoration::Location,
        Decoration::NonReadable,
        Decoration::NonWritable,
        Decoration::Offset,
        Decoration::PassthroughNV,
        Decoration::PerPrimitiveEXT,
        Decoration::PerVertexKHR,
        Decoration::RelaxedPrecision,
        Decoration::Sample,
    ];
    KEPT.iter().any(|kept| *kept as u32 == decoration)
}

/// Sorts what is usually sorted, in place.
///
/// By a heap, because that is a tenth of the code of a slice's sort, and one comes with each type.
pub(crate) fn sort<T: Ord>(list: &mut Vec<T>) {
    if !list.is_sorted() {
        *list = BinaryHeap::from(std::mem::take(list)).into_sorted_vec();
    }
}

impl<'w> Module<'w> {
    /// Largest number of words that is read: 64 MiB.
    pub const WORDS: usize = 16 << 20;
    /// Largest bound of ids.
    pub const IDS: u32 = 4 << 20;
    /// Most links of an entry point.
    pub const LINKS: usize = 4096;
    /// A module takes no more than this many words of memory for each of its own, and [`Module::FIXED`] bytes.
    pub const MEMORY: usize = 16;
    /// Bytes of memory that a module takes however small it is.
    pub const FIXED: usize = 16 << 10;

    /// Words of the header.
    pub(crate) const HEADER: usize = 5;

    /// Reads `words`, which are in the host's byte order: the header first, then instructions to the end.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the words: [`Error::NotSpirv`], [`Error::BigEndian`], [`Error::TooManyWords`], [`Error::IdBound`],
    /// [`Error::Instruction`]; and [`Error::Memory`]. Versions are not checked: what is unknown is passed over.
    #[inline(never)]
    pub fn read(words: &'w [u32]) -> Result<Module<'w>, Error> {
        let [magic, _version, _generator, bound, _schema, ..] = *words else { return Err(Error::NotSpirv) };
        match magic {
            spirv::MAGIC_NUMBER => {}
            swapped if swapped == spirv::MAGIC_NUMBER.swap_bytes() => return Err(Error::BigEndian),
            _ => return Err(Error::NotSpirv),
        }
        if words.len() > Self::WORDS {
            return Err(Error::TooManyWords);
        }
        if bound == 0 || bound > Self::IDS {
            return Err(Error::IdBound(bound));
        }
        let ids = if bound as usize <= 2 * words.len() + 1024 {
            Ids::Dense(filled(bound as usize, 0)?)
        } else {
            Ids::Sparse(Vec::new())
        };
        let mut module = Module {
            words,
            ids,
            sections: Sections::default(),
            decorations: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            entries: Vec::new(),
            parameters: Vec::new(),
            sites: Vec::new(),
            calls: Vec::new(),
            functions: Vec::new(),
        };
        module.scan(bound)?;
        Ok(module)
    }

    fn scan(&mut self, bound: u32) -> Result<(), Error> {
        let words = self.words;
        // By section: where its last instruction ends, as far as annotations.
        let mut ends = [Self::HEADER; Section::Globals as usize];
        let mut latest = Section::Capabilities;
        // Where the globals end, once something else begins; where lines begin that belong to what comes next.
        let (mut globals, mut lines) = (None, None);
        let mut open: Option<Function> = None;
        let mut at = Self::HEADER;
        while let Some(&first) = words.get(at) {
            let wrong = |what| Error::Instruction { at, what };
            let length = (first >> 16) as usize;
            let opcode = first & 0xffff;
            let next = at + length;
            let Some(instruction) = words.get(at..next) else { return Err(wrong("cut off")) };
            let word = |n: usize| instruction.get(n).copied().unwrap_or(0);
            let need = |least: usize| if length < least { Err(wrong("too short")) } else { Ok(()) };
            need(1)?;
            match op::result(opcode) {
                Defines::None => {}
                Defines::Id => {
                    need(2)?;
                    self.define(word(1), bound, at)?;
                }
                Defines::Typed => {
                    need(3)?;
                    self.define(word(2), bound, at)?;
                }
            }
            let section = op::section(opcode);
            // Sections follow each other ("Logical Layout of a Module"). What is behind its own would be put there by edits as well.
            let is_in_functions = open.is_some() || !self.functions.is_empty();
            if section < Section::Globals && is_in_functions || section <= Section::Imports && latest > Section::Imports
            {
                return Err(wrong("behind its section"));
            }
            if let Some(end) = ends.get_mut(section as usize) {
                *end = next;
            }
            latest = match section {
                // Variables and what else stands here and in functions.
                Section::Any if op::result(opcode) != Defines::None => Section::Globals,
                Section::Any | Section::Lines => latest,
                section => latest.max(section),
            };
            if opcode == op::FUNCTION || section == Section::Graphs {
                globals = globals.or(Some(lines.unwrap_or(at)));
            }
            lines = if section == Section::Lines { lines.or(Some(at)) } else { None };
            match opcode {
                op::ENTRY_POINT => {
                    need(4)?;
                    push(&mut self.entries, at as u32)?;
                }
                op::DECORATE | op::DECORATE_ID | op::DECORATE_STRING => {
                    need(3)?;
                    if opcode == op::DECORATE && kept(word(2)) {
                        push(&mut self.decorations, (word(1), word(2), word(3)))?;
                    }
                }
                op::MEMBER_DECORATE | op::MEMBER_DECORATE_STRING => {
                    need(4)?;
                    if opcode == op::MEMBER_DECORATE && word(3) == Decoration::Offset as u32 {
                        push(&mut self.members, (word(1), word(2), word(4)))?;
                    }
                }
                op::GROUP_DECORATE => {
                    need(2)?;
                    for target in instruction.get(2..).unwrap_or_default() {
                        push(&mut self.groups, (*target, word(1)))?;
                    }
                }
                op::FUNCTION => {
                    need(5)?;
                    if open.is_some() {
                        return Err(wrong("a function in a function"));
                    }
                    let (parameters, sites, calls) = (self.parameters.len(), self.sites.len(), self.calls.len());
                    let (parameters, sites, calls) = ((parameters, parameters), (sites, sites), (calls, calls));
                    let number = self.functions.len();
                    open = Some(Function { number, at, end: next, parameters, sites, calls });
                }
                op::FUNCTION_END => {
                    let Some(mut function) = open.take() else { return Err(wrong("an end without a function")) };
                    function.end = next;
                    function.parameters.1 = self.parameters.len();
                    function.sites.1 = self.sites.len();
                    function.calls.1 = self.calls.len();
                    push(&mut self.functions, function)?;
                }
                op::FUNCTION_PARAMETER => {
                    if open.is_none() {
                        return Err(wrong("a parameter without a function"));
                    }
                    push(&mut self.parameters, at as u32)?;
                }
                op::FUNCTION_CALL => {
                    need(4)?;
                    if open.is_none() {
                        return Err(wrong("a call without a function"));
                    }
                    push(&mut self.calls, at as u32)?;
                }
                _ if is_site(opcode) => {
                    need(4)?;
                    if open.is_none() {
                        return Err(wrong("an image instruction without a function"));
                    }
                    push(&mut self.sites, at as u32)?;
                }
                _ => {}
            }
            at = next;
        }
        if open.is_some() {
            return Err(Error::Instruction { at, what: "a function without an end" });
        }
        // Behind the last of a section and of those before it.
        let end = |of: Section| ends.iter().take(of as usize + 1).copied().max().unwrap_or(Self::HEADER);
        let globals = globals.unwrap_or(words.len());
        self.sections = Sections {
            capabilities: end(Section::Capabilities),
            extensions: end(Section::Extensions),
            imports: end(Section::Imports),
            sources: end(Section::Sources),
            annotations: end(Section::Annotations),
            globals,
            functions: self.functions.last().map_or(globals, |function| function.end),
        };
        sort(&mut self.decorations);
        sort(&mut self.groups);
        sort(&mut self.members);
        if let Ids::Sparse(ids) = &mut self.ids {
            sort(ids);
            if let Some(pair) = ids.windows(2).find(|pair| matches!(pair, [a, b] if a.0 == b.0)) {
                let at = pair.last().map_or(0, |(_, at)| *at as usize);
                return Err(Error::Instruction { at, what: "defines an id again" });
            }
        }
        Ok(())
    }

    #[inline]
    fn define(&mut self, id: u32, bound: u32, at: usize) -> Result<(), Error> {
        if id == 0 || id >= bound {
            return Err(Error::Instruction { at, what: "defines an id out of bounds" });
        }
        match &mut self.ids {
            Ids::Dense(offsets) => match offsets.get_mut(id as usize) {
                Some(offset @ 0) => *offset = at as u32,
                _ => return Err(Error::Instruction { at, what: "defines an id again" }),
            },
            Ids::Sparse(ids) => push(ids, (id, at as u32))?,
        }
        Ok(())
    }

    /// The words it was read from.
    pub fn words(&self) -> &'w [u32] {
        self.words
    }

    /// The version word: 0x00010300 is SPIR-V 1.3.
    pub fn version(&self) -> u32 {
        self.words.get(1).copied().unwrap_or(0)
    }

    /// One more than the largest id that the module may use.
    pub fn bound(&self) -> u32 {
        self.words.get(3).copied().unwrap_or(0)
    }

    /// The instruction at a word offset where one begins.
    #[inline]
    pub(crate) fn instruction(&self, at: usize) -> Instruction<'w> {
        let length = self.words.get(at).map_or(0, |first| (first >> 16) as usize);
        Instruction { at, words: self.words.get(at..at + length).unwrap_or_default() }
    }

    /// Whether a capability is declared.
    pub(crate) fn declares(&self, capability: Capability) -> bool {
        let mut preamble = self.instructions(Self::HEADER, self.sections.capabilities);
        preamble.any(|it| it.opcode() == op::CAPABILITY && it.word(1) == capability as u32)
    }

    /// What a storage buffer is called: its storage class came with SPIR-V 1.3, and with an extension.
    pub(crate) fn buffer_class(&self) -> (StorageClass, Decoration) {
        let name = "SPV_KHR_storage_buffer_storage_class";
        let mut preamble = self.instructions(Self::HEADER, self.sections.extensions);
        let mut declared = || preamble.any(|it| it.opcode() == op::EXTENSION && literal(it.words, 1).eq(name.bytes()));
        if self.version() >= 0x0001_0300 || declared() {
            (StorageClass::StorageBuffer, Decoration::Block)
        } else {
            (StorageClass::Uniform, Decoration::BufferBlock)
        }
    }

    /// The instruction that defines `id`; none if nothing known does.
    #[inline]
    pub fn definition(&self, id: u32) -> Option<Instruction<'w>> {
        let at = match &self.ids {
            Ids::Dense(offsets) => *offsets.get(id as usize)?,
            Ids::Sparse(ids) => ids.get(ids.binary_search_by_key(&id, |(id, _)| *id).ok()?)?.1,
        };
        (at != 0).then(|| self.instruction(at as usize))
    }

    /// The instruction that defines `id`, if it has this opcode.
    pub(crate) fn defined(&self, id: u32, opcode: u32) -> Option<Instruction<'w>> {
        self.definition(id).filter(|instruction| instruction.opcode() == opcode)
    }

    /// Set and binding of a variable, 0 for what it has not.
    pub(crate) fn descriptor(&self, id: u32) -> (u32, u32) {
        let of = |decoration| self.decoration(id, decoration).unwrap_or(0);
        (of(Decoration::DescriptorSet), of(Decoration::Binding))
    }

    /// The instruction behind the one that begins at a word offset.
    pub fn instruction_after(&self, at: usize) -> Option<Instruction<'w>> {
        let next = at + self.instruction(at).words.len();
        Some(self.instruction(next)).filter(|instruction| next > at && !instruction.words.is_empty())
    }

    /// The id of the type of `id`, 0 if it has none.
    pub fn type_of(&self, id: u32) -> u32 {
        match self.definition(id) {
            Some(instruction) if op::result(instruction.opcode()) == Defines::Typed => instruction.word(1),
            _ => 0,
        }
    }

    /// The operand of a decoration of `id`, its own or that of a group it is in; 0 for one without.
    ///
    /// Only those that are of interest to somebody here are kept.
    pub fn decoration(&self, id: u32, decoration: Decoration) -> Option<u32> {
        /// Groups of an id that are looked at: what is decorated more often is left undecorated instead of taking forever.
        const GROUPS: usize = 16;
        let own = |id: u32| {
            let key = (id, decoration as u32);
            let at = self.decorations.partition_point(|entry| (entry.0, entry.1) < key);
            self.decorations.get(at).filter(|entry| (entry.0, entry.1) == key).map(|entry| entry.2)
        };
        if let Some(value) = own(id) {
            return Some(value);
        }
        let first = self.groups.partition_point(|(target, _)| *target < id);
        let groups = self.groups.iter().skip(first).take_while(|(target, _)| *target == id);
        groups.take(GROUPS).find_map(|(_, group)| own(*group))
    }

    /// The byte offset of a member of a structure.
    pub(crate) fn member_offset(&self, structure: u32, member: u32) -> Option<u32> {
        let key = (structure, member);
        let at = self.members.partition_point(|entry| (entry.0, entry.1) < key);
        self.members.get(at).filter(|entry| (entry.0, entry.1) == key).map(|entry| entry.2)
    }

    /// Whether anything at all is decorated `NonUniform`.
    pub(crate) fn is_nonuniform(&self, id: u32) -> bool {
        self.decoration(id, Decoration::NonUniform).is_some()
    }

    /// The entry points in the order of the words.
    pub fn entry_points(&self) -> impl Iterator<Item = EntryPoint<'w>> + '_ {
        self.entries.iter().map(|at| EntryPoint { instruction: self.instruction(*at as usize) })
    }

    /// All instructions of a range of words that begins where an instruction does.
    pub(crate) fn instructions(&self, at: usize, end: usize) -> Instructions<'w> {
        Instructions { words: self.words, at, end }
    }

    pub(crate) fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The number in the list of functions of the one that `id` names.
    pub(crate) fn function(&self, id: u32) -> Option<usize> {
        let at = self.defined(id, op::FUNCTION)?.at;
        self.functions.binary_search_by_key(&at, |function| function.at).ok()
    }

    /// Image instructions of a function that read through a sampled image, or ask about an image.
    pub(crate) fn sites(&self, function: &Function) -> impl Iterator<Item = Instruction<'w>> + '_ {
        self.list(&self.sites, function.sites.0..function.sites.1)
    }

    /// Calls in a function.
    pub(crate) fn calls(&self, function: &Function) -> impl Iterator<Item = Instruction<'w>> + '_ {
        self.list(&self.calls, function.calls.0..function.calls.1)
    }

    /// Parameters of a function.
    pub(crate) fn parameters(&self, function: &Function) -> impl Iterator<Item = Instruction<'w>> + '_ {
        self.list(&self.parameters, function.parameters.0..function.parameters.1)
    }

    /// The position of the parameter that stands at a word offset.
    pub(crate) fn position(&self, function: &Function, at: usize) -> Option<u32> {
        let (first, last) = function.parameters;
        self.parameters.get(first..last)?.binary_search(&(at as u32)).ok().map(|position| position as u32)
    }

    fn list<'s>(&'s self, list: &'s [u32], range: Range<usize>) -> impl Iterator<Item = Instruction<'w>> + 's {
        list.get(range).unwrap_or_default().iter().map(|at| self.instruction(*at as usize))
    }
}

/// An `OpEntryPoint`.
#[derive(Clone, Copy, Debug)]
pub struct EntryPoint<'w> {
    pub(crate) instruction: Instruction<'w>,
}

impl<'w> EntryPoint<'w> {
    /// The execution model, a number of [`spirv::ExecutionModel`] or an unknown one.
    pub fn model(&self) -> u32 {
        self.instruction.word(1)
    }

    /// The id of the function.
    pub fn function(&self) -> u32 {
        self.instruction.word(2)
    }

    /// The bytes of the name, without the zero at its end; up to the end of the instruction if there is none.
    pub fn name(&self) -> impl Iterator<Item = u8> + 'w {
        literal(self.instruction.words, 3)
    }

    /// The ids of the interface: inputs and outputs, from SPIR-V 1.4 on all global variables.
    pub fn interface(&self) -> &'w [u32] {
        let words = self.instruction.words.get(3..).unwrap_or_default();
        // The name ends with the first word that has a zero in it.
        let name = words.iter().position(|word| word.to_le_bytes().contains(&0));
        name.and_then(|name| words.get(name + 1..)).unwrap_or_default()
    }
}

/// The bytes of a literal string that begins with a word of an instruction.
fn literal(words: &[u32], at: usize) -> impl Iterator<Item = u8> + '_ {
    words.iter().skip(at).flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0)
}

/// Whether an instruction's operand in word 3 is a sampled image or an image that is sampled, fetched from or asked about.
fn is_site(opcode: u32) -> bool {
    match opcode {
        op::IMAGE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_DREF_GATHER
        | op::IMAGE_QUERY_FORMAT..=op::IMAGE_QUERY_SAMPLES
        | op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_SPARSE_DREF_GATHER
        | op::IMAGE_SAMPLE_FOOTPRINT_NV => true,
        _ => is_vendor(opcode),
    }
}

/// Whether an instruction reads images in a way of one vendor's, with more than one operand that may be a sampled image.
pub(crate) fn is_vendor(opcode: u32) -> bool {
    matches!(
        opcode,
        op::IMAGE_SAMPLE_WEIGHTED_QCOM..=op::IMAGE_BLOCK_MATCH_SADQCOM
            | op::IMAGE_BLOCK_MATCH_WINDOW_SSDQCOM..=op::IMAGE_BLOCK_MATCH_GATHER_SADQCOM
            | op::IMAGE_GATHER_QCOM
    )
}
