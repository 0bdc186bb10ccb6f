//! Opcodes: which of them define an id, in which section of a module they stand, which of their operands are ids, and the numbers of
//! those that are looked into.

mod grammar;

use spirv::Op;

/// Whether an instruction defines an id, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Result {
    /// It defines none, or the opcode is unknown.
    None,
    /// Word 1 is the id.
    Id,
    /// Word 1 is the type, word 2 the id.
    Typed,
}

/// Where an opcode stands in a module (SPIR-V specification, "Logical Layout of a Module"). In the order of the sections, as far as
/// `Globals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// Capabilities.
    Capabilities,
    /// Extensions.
    Extensions,
    /// Imports of extended instruction sets.
    Imports,
    /// The memory model, entry points and execution modes.
    Modes,
    /// Strings and sources.
    Sources,
    /// Names of ids and members.
    Names,
    /// What processed the module.
    Processed,
    /// Decorations.
    Annotations,
    /// Types and constants.
    Globals,
    /// Graphs, which come behind all functions.
    Graphs,
    /// With what follows: lines.
    Lines,
    /// In functions, or among the globals as well; also what is unknown.
    Any,
}

macro_rules! numbers {
    ($($name:ident $op:ident)*) => { $(pub(crate) const $name: u32 = Op::$op as u32;)* };
}

numbers! {
    SOURCE Source
    STRING String
    LINE Line
    NO_LINE NoLine
    NAME Name
    EXTENSION Extension
    EXT_INST_IMPORT ExtInstImport
    EXT_INST ExtInst
    ENTRY_POINT EntryPoint
    EXECUTION_MODE ExecutionMode
    CAPABILITY Capability
    TYPE_BOOL TypeBool
    TYPE_INT TypeInt
    TYPE_FLOAT TypeFloat
    TYPE_VECTOR TypeVector
    TYPE_IMAGE TypeImage
    TYPE_SAMPLED_IMAGE TypeSampledImage
    TYPE_ARRAY TypeArray
    TYPE_RUNTIME_ARRAY TypeRuntimeArray
    TYPE_STRUCT TypeStruct
    TYPE_POINTER TypePointer
    TYPE_FUNCTION TypeFunction
    CONSTANT_TRUE ConstantTrue
    CONSTANT_FALSE ConstantFalse
    CONSTANT Constant
    CONSTANT_COMPOSITE ConstantComposite
    CONSTANT_NULL ConstantNull
    SPEC_CONSTANT_TRUE SpecConstantTrue
    SPEC_CONSTANT_FALSE SpecConstantFalse
    SPEC_CONSTANT SpecConstant
    SPEC_CONSTANT_COMPOSITE SpecConstantComposite
    SPEC_CONSTANT_OP SpecConstantOp
    FUNCTION Function
    LABEL Label
    FUNCTION_PARAMETER FunctionParameter
    FUNCTION_END FunctionEnd
    FUNCTION_CALL FunctionCall
    VARIABLE Variable
    LOAD Load
    STORE Store
    COPY_MEMORY CopyMemory
    COPY_MEMORY_SIZED CopyMemorySized
    BEGIN_INVOCATION_INTERLOCK_EXT BeginInvocationInterlockEXT
    TYPE_MATRIX TypeMatrix
    IMAGE_SPARSE_READ ImageSparseRead
    IMAGE_WRITE ImageWrite
    IMAGE_READ ImageRead
    IMAGE_TEXEL_POINTER ImageTexelPointer
    TYPE_UNTYPED_POINTER_KHR TypeUntypedPointerKHR
    ACCESS_CHAIN AccessChain
    IN_BOUNDS_ACCESS_CHAIN InBoundsAccessChain
    DECORATE Decorate
    MEMBER_DECORATE MemberDecorate
    DECORATION_GROUP DecorationGroup
    GROUP_DECORATE GroupDecorate
    GROUP_MEMBER_DECORATE GroupMemberDecorate
    DECORATE_ID DecorateId
    DECORATE_STRING DecorateString
    MEMBER_DECORATE_STRING MemberDecorateString
    COMPOSITE_EXTRACT CompositeExtract
    COPY_OBJECT CopyObject
    COPY_LOGICAL CopyLogical
    SAMPLED_IMAGE SampledImage
    IMAGE_SAMPLE_IMPLICIT_LOD ImageSampleImplicitLod
    IMAGE_SAMPLE_PROJ_DREF_EXPLICIT_LOD ImageSampleProjDrefExplicitLod
    IMAGE_FETCH ImageFetch
    IMAGE_GATHER ImageGather
    IMAGE_DREF_GATHER ImageDrefGather
    IMAGE Image
    IMAGE_QUERY_FORMAT ImageQueryFormat
    IMAGE_QUERY_LOD ImageQueryLod
    IMAGE_QUERY_SAMPLES ImageQuerySamples
    IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD ImageSparseSampleImplicitLod
    IMAGE_SPARSE_DREF_GATHER ImageSparseDrefGather
    IMAGE_SAMPLE_FOOTPRINT_NV ImageSampleFootprintNV
    IMAGE_SAMPLE_WEIGHTED_QCOM ImageSampleWeightedQCOM
    IMAGE_BLOCK_MATCH_SADQCOM ImageBlockMatchSADQCOM
    IMAGE_BLOCK_MATCH_WINDOW_SSDQCOM ImageBlockMatchWindowSSDQCOM
    IMAGE_BLOCK_MATCH_GATHER_SADQCOM ImageBlockMatchGatherSADQCOM
    UNTYPED_VARIABLE_KHR UntypedVariableKHR
    UNTYPED_ACCESS_CHAIN_KHR UntypedAccessChainKHR
    UNTYPED_IN_BOUNDS_ACCESS_CHAIN_KHR UntypedInBoundsAccessChainKHR
    CONTROL_BARRIER ControlBarrier
    MEMORY_BARRIER MemoryBarrier
    ATOMIC_LOAD AtomicLoad
    ATOMIC_STORE AtomicStore
    ATOMIC_COMPARE_EXCHANGE AtomicCompareExchange
    ATOMIC_COMPARE_EXCHANGE_WEAK AtomicCompareExchangeWeak
    ATOMIC_XOR AtomicXor
    SWITCH Switch
    SELECT Select
    PHI Phi
    S_CONVERT SConvert
    U_CONVERT UConvert
    BITCAST Bitcast
    S_NEGATE SNegate
    NOT Not
    I_ADD IAdd
    I_SUB ISub
    I_MUL IMul
    U_DIV UDiv
    S_DIV SDiv
    U_MOD UMod
    S_REM SRem
    S_MOD SMod
    SHIFT_RIGHT_LOGICAL ShiftRightLogical
    SHIFT_RIGHT_ARITHMETIC ShiftRightArithmetic
    SHIFT_LEFT_LOGICAL ShiftLeftLogical
    BITWISE_OR BitwiseOr
    BITWISE_XOR BitwiseXor
    BITWISE_AND BitwiseAnd
    LOGICAL_OR LogicalOr
    LOGICAL_AND LogicalAnd
    LOGICAL_NOT LogicalNot
    LOGICAL_EQUAL LogicalEqual
    LOGICAL_NOT_EQUAL LogicalNotEqual
    I_EQUAL IEqual
    I_NOT_EQUAL INotEqual
    U_GREATER_THAN UGreaterThan
    S_GREATER_THAN SGreaterThan
    U_GREATER_THAN_EQUAL UGreaterThanEqual
    S_GREATER_THAN_EQUAL SGreaterThanEqual
    U_LESS_THAN ULessThan
    S_LESS_THAN SLessThan
    U_LESS_THAN_EQUAL ULessThanEqual
    S_LESS_THAN_EQUAL SLessThanEqual
}

/// `OpImageGatherQCOM`, newer than the numbers.
pub(crate) const IMAGE_GATHER_QCOM: u32 = 4545;

static RESULTS: [Result; grammar::KNOWN] = {
    let typed = fill([Result::None; grammar::KNOWN], grammar::TYPED, Result::Typed);
    fill(typed, grammar::UNTYPED, Result::Id)
};

/// Whether and where `opcode` defines an id.
#[inline]
pub(crate) fn result(opcode: u32) -> Result {
    RESULTS.get(opcode as usize).copied().unwrap_or(Result::None)
}

/// Which operands, counted behind type and id of the result, are ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandLayout {
    /// Nobody knows.
    Unknown,
    /// All of them.
    All,
    /// The first few; the others are literals, or ids of constants as memory operands have them.
    First(u8),
    /// All but the one at this position.
    Except(u8),
}

static LAYOUTS: [OperandLayout; grammar::OF_SHADERS] = {
    let mut table = [OperandLayout::Unknown; grammar::OF_SHADERS];
    let mut row = 0;
    while row < grammar::OPERANDS.len() {
        let (first, last, layout) = grammar::OPERANDS[row];
        table = fill(table, &[(first, last)], layout);
        row += 1;
    }
    table
};

/// Which operands of `opcode` are ids.
#[inline]
pub(crate) fn layout(opcode: u32) -> OperandLayout {
    LAYOUTS.get(opcode as usize).copied().unwrap_or(OperandLayout::Unknown)
}

static SECTIONS: [Section; grammar::KNOWN] = {
    let mut table = [Section::Any; grammar::KNOWN];
    let mut section = 0;
    while section < OPCODES.len() {
        table = fill(table, OPCODES[section].1, OPCODES[section].0);
        section += 1;
    }
    table
};

const OPCODES: [(Section, &[(u16, u16)]); 11] = [
    (Section::Capabilities, grammar::CAPABILITIES),
    (Section::Extensions, grammar::EXTENSIONS),
    (Section::Imports, grammar::IMPORTS),
    (Section::Modes, grammar::MODES),
    (Section::Sources, grammar::SOURCES),
    (Section::Names, grammar::NAMES),
    (Section::Processed, grammar::PROCESSED),
    (Section::Annotations, grammar::ANNOTATIONS),
    (Section::Globals, grammar::GLOBALS),
    (Section::Graphs, grammar::GRAPHS),
    (Section::Lines, grammar::LINES),
];

/// Where `opcode` stands.
#[inline]
pub(crate) fn section(opcode: u32) -> Section {
    SECTIONS.get(opcode as usize).copied().unwrap_or(Section::Any)
}

/// The table with `with` in all ranges, each with its last opcode.
const fn fill<T: Copy, const N: usize>(mut table: [T; N], ranges: &[(u16, u16)], with: T) -> [T; N] {
    let mut range = 0;
    while range < ranges.len() {
        let mut opcode = ranges[range].0;
        while opcode <= ranges[range].1 {
            table[opcode as usize] = with;
            opcode += 1;
        }
        range += 1;
    }
    table
}
