//! Words that are no module, or hardly one.

use proptest::prelude::*;
use samplin_spirv::select::{self, Length, Lookup, PoolAt};
use samplin_spirv::split::{Part, split};
use samplin_spirv::{Editor, Error, Link, Module, Specialization};
use spirv::ExecutionModel;

use crate::corpus::{assembled, shaders};

/// Reads words and does everything with them that can be done; nothing may panic, whatever they are.
fn exercise(words: &[u32]) -> Result<usize, Error> {
    let module = Module::read(words)?;
    let mut all = 0;
    for entry in module.entry_points() {
        let name: Vec<u8> = entry.name().collect();
        let Ok(name) = String::from_utf8(name) else { continue };
        for values in [None, Some(&Specialization(&[(0, &[1, 0, 0, 0]), (3, &[0])]))] {
            let Ok(links) = module.links(&name, entry.model(), values) else { continue };
            all += links.len();
            let part = |link: &Link| Some(Part { image: link.image?, sampler: link.sampler?, binding: 1 });
            for part in links.iter().filter_map(part).take(8) {
                if let Ok(split) = split(&module, &name, entry.model(), values, 3, &[part]) {
                    Module::read(&split.words).expect("what was made can be read");
                }
                let lookup = Lookup { binding: 1, first: u32::MAX, length: Length::Fixed(0) };
                let part = select::Part { image: part.image, sampler: part.sampler, column: lookup, row: lookup };
                let place = PoolAt { set: 3, matrix: 1, pool: 0, count: 0 };
                if let Ok(words) = select::select(&module, &name, entry.model(), values, &place, &[part]) {
                    Module::read(&words).expect("what was made can be read");
                }
            }
        }
    }
    Ok(all)
}

#[test]
fn the_header_is_checked() {
    let words = &shaders()[0].words;
    let with = |at: usize, word: u32| {
        let mut words = words.clone();
        words[at] = word;
        Module::read(&words).map(|_| ())
    };
    assert_eq!(with(0, 0x0723_0203), Ok(()));
    assert_eq!(with(0, 0x0302_2307), Err(Error::BigEndian));
    assert_eq!(with(0, 0), Err(Error::NotSpirv));
    assert_eq!(with(3, 0), Err(Error::IdBound(0)));
    assert_eq!(with(3, Module::IDS), Ok(()));
    assert_eq!(with(3, Module::IDS + 1), Err(Error::IdBound(Module::IDS + 1)));
    // A version of the future is read as far as it is known.
    assert_eq!(with(1, 0x0001_0900), Ok(()));
    for length in 0..5 {
        assert_eq!(Module::read(&words[..length]).err(), Some(Error::NotSpirv));
    }
    assert!(Module::read(&words[..5]).is_ok());
    let mut large = words[..5].to_vec();
    large.resize(Module::WORDS + 1, 1 << 16);
    assert_eq!(Module::read(&large).err(), Some(Error::TooManyWords));
    large.truncate(Module::WORDS);
    assert!(Module::read(&large).is_ok());
}

/// What stands behind a header, and why it is not read.
#[test]
fn instructions_are_checked() {
    let cases: [(&[u32], usize, &str); 14] = [
        (&[0], 5, "too short"),
        (&[2 << 16 | 17], 5, "cut off"),
        (&[0xffff << 16], 5, "cut off"),
        (&[2 << 16 | 19, 1, 2 << 16 | 19, 1], 7, "defines an id again"),
        (&[2 << 16 | 19, 0], 5, "defines an id out of bounds"),
        (&[2 << 16 | 19, 100], 5, "defines an id out of bounds"),
        (&[2 << 16 | 54, 1], 5, "too short"),
        (&[1 << 16 | 56], 5, "an end without a function"),
        (&[5 << 16 | 54, 1, 2, 0, 3], 10, "a function without an end"),
        (&[5 << 16 | 54, 1, 2, 0, 3, 5 << 16 | 54, 1, 4, 0, 3], 10, "a function in a function"),
        // A capability behind the memory model, and what precedes types, in a function and behind one.
        (&[3 << 16 | 14, 0, 1, 2 << 16 | 17, 1], 8, "behind its section"),
        (&[5 << 16 | 54, 1, 2, 0, 3, 3 << 16 | 14, 0, 1, 1 << 16 | 56], 10, "behind its section"),
        (&[5 << 16 | 54, 1, 2, 0, 3, 3 << 16 | 71, 2, 0, 1 << 16 | 56], 10, "behind its section"),
        (&[5 << 16 | 54, 1, 2, 0, 3, 1 << 16 | 56, 3 << 16 | 71, 2, 0], 11, "behind its section"),
    ];
    for (body, at, what) in cases {
        for bound in [100, Module::IDS] {
            let mut words = vec![0x0723_0203, 0x0001_0000, 0, bound, 0];
            words.extend_from_slice(body);
            let out_of_bounds = body.last() == Some(&100);
            if !(out_of_bounds && bound > 100) {
                assert_eq!(Module::read(&words).err(), Some(Error::Instruction { at, what }), "{body:?}");
            }
        }
    }
}

/// A module whose ids are far apart is read as any other.
#[test]
fn ids_may_be_far_apart() {
    for shader in shaders().iter().filter(|shader| shader.valid) {
        let mut words = shader.words.clone();
        words[3] = Module::IDS;
        let (sparse, dense) = (Module::read(&words).expect("a module"), Module::read(&shader.words).expect("a module"));
        for table in &shader.tables {
            table.specialized(|values| {
                let links = |module: &Module<'_>| module.links(&table.name, table.model, values);
                assert_eq!(links(&sparse), links(&dense), "{}", shader.file);
            });
        }
    }
}

/// Instructions that nobody has heard of, with and without an id that is used later, and some of full length.
#[test]
fn unknown_instructions_are_passed_over() {
    for shader in shaders().iter().filter(|shader| shader.valid) {
        let module = Module::read(&shader.words).expect("a module");
        let mut editor = Editor::new(&module);
        let mut at = 5;
        let mut number = 0;
        while let Some(first) = shader.words.get(at) {
            number += 1;
            editor.insert(at, &[3 << 16 | 60_000, 1, number]).expect("room");
            if number % 32 == 0 {
                let mut long = vec![0xffff << 16 | 0xfffe];
                long.resize(0xffff, number);
                editor.insert(at, &long).expect("room");
            }
            at += (first >> 16) as usize;
        }
        let words = editor.finish().expect("words");
        let strange = Module::read(&words).expect("a module");
        for table in &shader.tables {
            table.specialized(|values| {
                let links = |module: &Module<'_>| module.links(&table.name, table.model, values).expect("links");
                assert_eq!(links(&strange), links(&module), "{}", shader.file);
            });
        }
    }
}

/// Untyped access chains, which have one operand more in front of their base, lead to the same variables.
#[test]
fn untyped_chains_are_followed() {
    let mut chains = 0;
    for shader in shaders().iter().filter(|shader| shader.valid) {
        let module = Module::read(&shader.words).expect("a module");
        let mut editor = Editor::new(&module);
        let mut at = 5;
        while let Some(first) = shader.words.get(at) {
            let (length, opcode) = ((first >> 16) as usize, first & 0xffff);
            let base = shader.words.get(at + 3).map_or(0, |base| module.type_of(*base));
            let class = module.definition(base).map_or(0, |pointer| pointer.word(2));
            // Those of buffers and push constants are left alone: their indices are looked into.
            if let (65 | 66, 0) = (opcode, class) {
                let mut chain = vec![(length as u32 + 1) << 16 | (opcode + 4419 - 65)];
                chain.extend(&shader.words[at + 1..at + 3]);
                chain.push(module.definition(base).map_or(0, |pointer| pointer.word(3)));
                chain.extend(&shader.words[at + 3..at + length]);
                editor.replace(at, length, &chain).expect("room");
                chains += 1;
            }
            at += length;
        }
        let words = editor.finish().expect("words");
        let untyped = Module::read(&words).expect("a module");
        for table in &shader.tables {
            table.specialized(|values| {
                let links = |module: &Module<'_>| module.links(&table.name, table.model, values).expect("links");
                assert_eq!(links(&untyped), links(&module), "{}", shader.file);
            });
        }
    }
    assert!(chains >= 20, "only {chains} chains");
}

/// A compute shader with these functions and this body of its main function.
fn with_functions(functions: &str, body: &str) -> Vec<u32> {
    assembled(&format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n\
         {functions}\n%main = OpFunction %void None %ft\n%mb = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    ))
}

#[test]
fn recursion_is_an_error() {
    let call = |name: &str, callee: &str| {
        format!(
            "%{name} = OpFunction %void None %ft\n%b{name} = OpLabel\n%c{name} = OpFunctionCall %void %{callee}\nOpReturn\nOpFunctionEnd\n"
        )
    };
    let links = |words: &[u32]| {
        let module = Module::read(words).expect("a module");
        module.links("main", ExecutionModel::GLCompute as u32, None).map(|links| links.len())
    };
    let to = |callee: &str| format!("%c = OpFunctionCall %void %{callee}");
    assert_eq!(links(&with_functions(&call("f", "f"), &to("f"))), Err(Error::Recursion));
    assert_eq!(
        links(&with_functions(&(call("f", "g") + &call("g", "h") + &call("h", "f")), &to("g"))),
        Err(Error::Recursion)
    );
    assert_eq!(links(&with_functions("", &to("main"))), Err(Error::Recursion));
    // Not reached, not looked at.
    assert_eq!(links(&with_functions(&call("f", "f"), "")), Ok(0));
    // Called twice on two ways is no recursion.
    assert_eq!(
        links(&with_functions(
            &(call("f", "g")
                + &call("g", "main2")
                + &call("h", "g")
                + &call("main2", "nothing")
                + "%nothing = OpFunction %void None %ft\n%bn = OpLabel\nOpReturn\nOpFunctionEnd\n"),
            &(to("f") + "\n%d = OpFunctionCall %void %h")
        )),
        Ok(0)
    );
}

/// Chains of calls that double at each step do not take forever, and links have a limit.
#[test]
fn work_is_bounded() {
    let preamble = |arrays: u32| {
        format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
             OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %i DescriptorSet 0\nOpDecorate %i Binding 0\n\
             OpDecorate %s DescriptorSet 0\nOpDecorate %s Binding 1\n%void = OpTypeVoid\n%ft = OpTypeFunction %void\n\
             %float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n%v2 = OpTypeVector %float 2\n%uint = OpTypeInt 32 0\n\
             %it = OpTypeImage %float 2D 0 0 0 1 Unknown\n%st = OpTypeSampler\n%pt = OpTypeSampledImage %it\n\
             %n = OpConstant %uint {arrays}\n%ia = OpTypeArray %it %n\n%ip = OpTypePointer UniformConstant %it\n\
             %iap = OpTypePointer UniformConstant %ia\n%sp = OpTypePointer UniformConstant %st\n\
             %rt = OpTypeFunction %void %ip %sp\n%zero = OpConstant %float 0\n%at = OpConstantComposite %v2 %zero %zero\n\
             %i = OpVariable %iap UniformConstant\n%s = OpVariable %sp UniformConstant\n"
        )
    };
    let elements = |count: u32| (0..count).map(|n| format!("%e{n} = OpConstant %uint {n}\n")).collect::<String>();
    let links = |text: &str| {
        let words = assembled(text);
        let module = Module::read(&words).expect("a module");
        module.links("main", ExecutionModel::GLCompute as u32, None).map(|links| links.len())
    };
    // As many links as there are elements.
    for (count, expected) in [(4096, Ok(4096)), (4097, Err(Error::TooManyLinks))] {
        let body: String = (0..count)
            .map(|n| {
                format!(
                    "%c{n} = OpAccessChain %ip %i %e{n}\n%l{n} = OpLoad %it %c{n}\n%j{n} = OpSampledImage %pt %l{n} %sl\n\
                     %t{n} = OpImageSampleExplicitLod %v4 %j{n} %at Lod %zero\n"
                )
            })
            .collect();
        let text = preamble(count)
            + &elements(count)
            + "%main = OpFunction %void None %ft\n%mb = OpLabel\n%sl = OpLoad %st %s\n"
            + &body
            + "OpReturn\nOpFunctionEnd\n";
        assert_eq!(links(&text), expected);
    }
    // 2 to the power of 40 ways to one instruction.
    let mut functions = String::new();
    for n in 0..40 {
        let call = |which: &str| format!("%{which}{n} = OpFunctionCall %void %f{} %p{n} %q{n}\n", n + 1);
        functions += &format!(
            "%f{n} = OpFunction %void None %rt\n%p{n} = OpFunctionParameter %ip\n%q{n} = OpFunctionParameter %sp\n\
             %b{n} = OpLabel\n{}{}OpReturn\nOpFunctionEnd\n",
            call("x"),
            call("y")
        );
    }
    functions += "%f40 = OpFunction %void None %rt\n%p40 = OpFunctionParameter %ip\n%q40 = OpFunctionParameter %sp\n\
        %b40 = OpLabel\n%l = OpLoad %it %p40\n%sl = OpLoad %st %q40\n%j = OpSampledImage %pt %l %sl\n\
        %t = OpImageSampleExplicitLod %v4 %j %at Lod %zero\nOpReturn\nOpFunctionEnd\n";
    let text = preamble(2)
        + &elements(1)
        + &functions
        + "%main = OpFunction %void None %ft\n%mb = OpLabel\n%c = OpAccessChain %ip %i %e0\n\
           %r = OpFunctionCall %void %f0 %c %s\nOpReturn\nOpFunctionEnd\n";
    assert_eq!(links(&text), Ok(1));
    // A chain of copies that many instructions follow back to its end.
    let copies: String = (0..4000).map(|n| format!("%x{} = OpCopyObject %st %x{n}\n", n + 1)).collect();
    let reads: String = (0..4000)
        .map(|n| {
            format!("%j{n} = OpSampledImage %pt %l %x4000\n%t{n} = OpImageSampleExplicitLod %v4 %j{n} %at Lod %zero\n")
        })
        .collect();
    let text = preamble(2)
        + &elements(1)
        + "%main = OpFunction %void None %ft\n%mb = OpLabel\n%c = OpAccessChain %ip %i %e0\n%l = OpLoad %it %c\n\
           %x0 = OpLoad %st %s\n"
        + &copies
        + &reads
        + "OpReturn\nOpFunctionEnd\n";
    assert_eq!(links(&text), Err(Error::TooComplex));
}

/// A module of the corpus.
fn any_shader() -> impl Strategy<Value = &'static [u32]> {
    (0..shaders().len()).prop_map(|place| &*shaders()[place].words)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_words_are_survived(words in prop::collection::vec(any::<u32>(), 0..64)) {
        let _ = exercise(&words);
        let mut with_header = vec![0x0723_0203, 0x0001_0300, 0, 64, 0];
        with_header.extend(words.iter().map(|word| word & 0x0007_01ff));
        let _ = exercise(&with_header);
    }

    #[test]
    fn truncated_modules_are_survived(words in any_shader(), length in any::<prop::sample::Index>()) {
        let _ = exercise(&words[..length.index(words.len())]);
    }

    #[test]
    fn changed_modules_are_survived(
        words in any_shader(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u32>(), 0..256u32]), 1..6),
    ) {
        let mut words = words.to_vec();
        for (at, word) in changes {
            let at = at.index(words.len());
            // Mostly the opcode stays, or the length does.
            words[at] = match word % 4 {
                0 => word,
                1 => words[at] & 0xffff_0000 | word & 0xffff,
                2 => words[at] ^ 1 << (word % 32),
                _ => word >> 2 & 0xff,
            };
        }
        let _ = exercise(&words);
    }

    #[test]
    fn spliced_modules_are_survived(
        (one, other) in (any_shader(), any_shader()),
        cuts in prop::array::uniform3(any::<prop::sample::Index>()),
    ) {
        let at = cuts[0].index(one.len());
        let (from, to) = (cuts[1].index(other.len()), cuts[2].index(other.len()));
        let mut words = one[..at].to_vec();
        words.extend_from_slice(&other[from.min(to)..from.max(to)]);
        words.extend_from_slice(&one[at..]);
        let _ = exercise(&words);
    }
}
