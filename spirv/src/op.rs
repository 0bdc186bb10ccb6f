//! Opcodes: which of them define an id, and the numbers of those that are looked into.

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

macro_rules! numbers {
    ($($name:ident $op:ident)*) => { $(pub(crate) const $name: u32 = Op::$op as u32;)* };
}

numbers! {
    SOURCE Source
    NAME Name
    MEMBER_NAME MemberName
    EXT_INST_IMPORT ExtInstImport
    EXT_INST ExtInst
    MEMORY_MODEL MemoryModel
    ENTRY_POINT EntryPoint
    EXECUTION_MODE ExecutionMode
    CAPABILITY Capability
    EXTENSION Extension
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

/// One more than the largest opcode that is known.
const KNOWN: usize = 6919;

static RESULTS: [Result; KNOWN] = table();

/// Whether and where `opcode` defines an id.
#[inline]
pub(crate) fn result(opcode: u32) -> Result {
    RESULTS.get(opcode as usize).copied().unwrap_or(Result::None)
}

const fn table() -> [Result; KNOWN] {
    const fn fill(mut table: [Result; KNOWN], ranges: &[(u16, u16)], with: Result) -> [Result; KNOWN] {
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
    fill(fill([Result::None; KNOWN], TYPED, Result::Typed), UNTYPED, Result::Id)
}

/// Opcodes, first and last, that define an id and give it a type (the unified grammar of SDK 1.4.341 and what came since).
#[rustfmt::skip]
const TYPED: &[(u16, u16)] = &[
    (1, 1), (12, 12), (41, 46), (48, 52), (54, 55), (57, 57), (59, 61), (65, 70), (77, 84), (86, 98), (100, 107),
    (109, 124), (126, 152), (154, 191), (194, 205), (207, 215), (227, 227), (229, 242), (245, 245), (259, 259),
    (261, 271), (274, 279), (282, 286), (291, 296), (299, 300), (303, 316), (318, 318), (320, 321), (323, 326),
    (328, 328), (333, 366), (400, 403), (4160, 4162), (4164, 4164), (4166, 4166), (4181, 4181), (4183, 4184),
    (4195, 4195), (4418, 4425), (4427, 4434), (4447, 4447), (4450, 4455), (4457, 4457), (4459, 4463), (4477, 4477),
    (4479, 4483), (4497, 4497), (4500, 4503), (4540, 4542), (4545, 4545), (5000, 5007), (5011, 5012), (5056, 5056),
    (5074, 5074), (5078, 5078), (5090, 5090), (5101, 5101), (5110, 5111), (5119, 5119), (5126, 5126), (5129, 5129),
    (5147, 5148), (5158, 5159), (5252, 5255), (5257, 5258), (5265, 5265), (5267, 5278), (5283, 5283), (5289, 5289),
    (5292, 5293), (5296, 5296), (5300, 5302), (5307, 5308), (5320, 5320), (5322, 5334), (5340, 5340), (5345, 5352),
    (5359, 5359), (5361, 5363), (5366, 5367), (5369, 5369), (5372, 5379), (5381, 5382), (5384, 5384), (5390, 5396),
    (5398, 5398), (5427, 5439), (5571, 5575), (5577, 5577), (5580, 5580), (5585, 5598), (5600, 5601), (5610, 5611),
    (5614, 5615), (5631, 5631), (5699, 5699), (5713, 5816), (5818, 5819), (5840, 5843), (5846, 5882), (5923, 5934),
    (5938, 5938), (5949, 5949), (6016, 6032), (6035, 6035), (6116, 6117), (6145, 6145), (6163, 6163), (6165, 6165),
    (6237, 6237), (6242, 6242), (6244, 6244), (6251, 6254), (6258, 6258), (6401, 6408), (6426, 6426), (6428, 6428),
    (6529, 6531), (6916, 6918),
];

/// Opcodes that define an id without a type: types themselves, labels, strings, imports, groups.
#[rustfmt::skip]
const UNTYPED: &[(u16, u16)] = &[
    (7, 7), (11, 11), (19, 38), (73, 73), (248, 248), (322, 322), (327, 327), (4163, 4163), (4190, 4190),
    (4417, 4417), (4456, 4456), (4472, 4472), (5076, 5076), (5103, 5104), (5115, 5115), (5281, 5281), (5288, 5288),
    (5313, 5313), (5341, 5341), (5358, 5358), (5370, 5371), (5609, 5609), (5700, 5712), (5911, 5913), (6086, 6086),
    (6199, 6199),
];
