//! Sample masks that are longer than the device has.

use samplin_spirv::Module;
use samplin_spirv::passes::{PassChange, Rewrite, Why};
use samplin_spirv::sample_mask::sample_mask;
use spirv::Op;

use crate::corpus::{assembled, having, meaning, validate};

fn rewritten(words: &[u32]) -> Result<Rewrite, Why> {
    sample_mask(&Module::read(words).expect("a module"), 1)
}

/// A fragment shader with masks of two words, in and out, and this in its function.
fn masks(variable: &str, body: &str) -> Vec<u32> {
    assembled(&format!(
        "OpCapability Shader
         OpMemoryModel Logical GLSL450
         OpEntryPoint Fragment %main \"main\" %in %out
         OpExecutionMode %main OriginUpperLeft
         OpDecorate %in BuiltIn SampleMask
         OpDecorate %in Flat
         OpDecorate %out BuiltIn SampleMask
         %void = OpTypeVoid
         %type = OpTypeFunction %void
         %int = OpTypeInt 32 1
         %uint = OpTypeInt 32 0
         %0 = OpConstant %int 0
         %1 = OpConstant %int 1
         %long = OpConstant %uint 2
         %n = OpSpecConstant %int 0
         %array = OpTypeArray %int %long
         %pointer_in = OpTypePointer Input %array
         %pointer_out = OpTypePointer Output %array
         %to_in = OpTypePointer Input %int
         %to_out = OpTypePointer Output %int
         %null = OpConstantNull %array
         %in = OpVariable %pointer_in Input
         %out = OpVariable %pointer_out Output {variable}
         %main = OpFunction %void None %type
         %label = OpLabel
         {body}
         OpReturn
         OpFunctionEnd\n"
    ))
}

const FIRST: &str = "%a = OpAccessChain %to_in %in %0
         %b = OpLoad %int %a
         %c = OpInBoundsAccessChain %to_out %out %0
         OpStore %c %b";

#[test]
fn masks_of_which_the_first_word_is_touched_become_shorter() {
    let words = masks("", FIRST);
    validate(&words, "vulkan1.1").expect("valid but for what a device has");
    let Rewrite { words: new, changes, left } = rewritten(&words).expect("can be rewritten");
    let new = new.expect("something to rewrite");
    validate(&new, "vulkan1.1").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((changes, left), (vec![PassChange::MaskShortened { from: 2, to: 1 }; 2], vec![]));
    assert_eq!(rewritten(&new), Ok(Rewrite::default()), "a second run finds something");
    // Both variables have an array of one element.
    let module = Module::read(&new).expect("a module");
    for variable in having(&new, Op::Variable) {
        let array = module.definition(module.definition(variable[1]).expect("a pointer").word(3)).expect("an array");
        assert_eq!(module.definition(array.word(3)).expect("a length").word(3), 1);
    }
    assert!(meaning(&new).iter().any(|line| line.contains("SampleMask")));
}

#[test]
fn masks_that_are_short_enough_stay() {
    let words = masks("", FIRST);
    assert_eq!(sample_mask(&Module::read(&words).expect("a module"), 2), Ok(Rewrite::default()));
}
