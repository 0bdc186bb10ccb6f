//! The editor: what is not named stays word for word, and what is added follows the rules.

use proptest::prelude::*;
use samplin_spirv::{Editor, Error, Module, assemble};
use spirv::{Capability, Decoration, Op, StorageClass};

use crate::corpus::{Shader, shaders, text, validate};

/// Word offsets of all instructions.
fn offsets(words: &[u32]) -> Vec<usize> {
    let (mut at, mut all) = (5, Vec::new());
    while let Some(first) = words.get(at) {
        all.push(at);
        at += (first >> 16) as usize;
    }
    all
}

#[test]
fn without_edits_words_are_identical() {
    for shader in shaders() {
        let module = Module::read(&shader.words).expect("a module");
        assert_eq!(Editor::new(&module).finish().expect("words"), shader.words, "{}", shader.file);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn an_edit_is_the_only_difference(
        place in 0..1000usize,
        at in any::<prop::sample::Index>(),
        whole in any::<bool>(),
        new in prop::collection::vec(any::<u32>(), 0..12),
    ) {
        let words = &shaders()[place % shaders().len()].words;
        let at = *at.get(&offsets(words));
        let remove = if whole { (words[at] >> 16) as usize } else { 0 };
        let module = Module::read(words).expect("a module");
        let mut editor = Editor::new(&module);
        editor.replace(at, remove, &new).expect("room");
        let after = editor.finish().expect("words");
        prop_assert_eq!(&after[..at], &words[..at]);
        prop_assert_eq!(&after[at..at + new.len()], &new[..]);
        prop_assert_eq!(&after[at + new.len()..], &words[at + remove..]);
    }

    #[test]
    fn edits_in_any_order_are_each_in_their_place(
        place in 0..1000usize,
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 1..5usize), 1..20),
    ) {
        let words = &shaders()[place % shaders().len()].words;
        let module = Module::read(words).expect("a module");
        let mut editor = Editor::new(&module);
        // The same, done slowly: what comes before each instruction, and whether it is there.
        let offsets = offsets(words);
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); offsets.len()];
        let mut instead: Vec<Option<Vec<u32>>> = vec![None; offsets.len()];
        for (number, (pick, replace, length)) in picks.into_iter().enumerate() {
            let pick = pick.index(offsets.len());
            let (at, new) = (offsets[pick], vec![number as u32; length]);
            if !replace {
                editor.insert(at, &new).expect("room");
                before[pick].extend(new);
            } else if instead[pick].is_none() {
                editor.replace(at, (words[at] >> 16) as usize, &new).expect("room");
                instead[pick] = Some(new);
            }
        }
        let mut expected = words[..5].to_vec();
        for (pick, at) in offsets.iter().enumerate() {
            expected.extend(&before[pick]);
            expected.extend(instead[pick].as_deref().unwrap_or(&words[*at..*at + (words[*at] >> 16) as usize]));
        }
        prop_assert_eq!(editor.finish().expect("words"), expected);
    }
}

#[test]
fn edits_that_overlap_are_an_error() {
    let words = &shaders()[0].words;
    let module = Module::read(words).expect("a module");
    for (first, second) in [
        ((5, 2), (6, 1)),
        ((5, 2), (5, 2)),
        ((5, 3), (7, 0)),
        ((words.len(), 1), (5, 0)),
        ((words.len() + 1, 0), (5, 0)),
    ] {
        let mut editor = Editor::new(&module);
        editor.replace(first.0, first.1, &[1]).expect("room");
        editor.replace(second.0, second.1, &[2]).expect("room");
        assert_eq!(editor.finish(), Err(Error::Edits), "{first:?} {second:?}");
    }
    let mut editor = Editor::new(&module);
    let instruction = module.definition(4).or_else(|| module.definition(2)).expect("an instruction");
    assert_eq!(editor.lengthen(&instruction, &vec![0; 0xffff]), Err(Error::TooLong));
    assert_eq!(assemble(&mut Vec::new(), Op::Name, &vec![0; 0xffff]), Err(Error::TooLong));
    assert_eq!(assemble(&mut Vec::new(), Op::Name, &vec![0; 0xfffe]), Ok(()));
}

/// Things that are there are found, others are made once, and the module stays valid.
#[test]
fn declarations_are_found_or_added() {
    for shader in shaders().iter().filter(|shader| shader.valid) {
        let module = Module::read(&shader.words).expect("a module");
        let mut editor = Editor::new(&module);
        for _ in 0..2 {
            editor.capability(Capability::Shader).expect("room");
            editor.capability(Capability::ImageQuery).expect("room");
            editor.extension("SPV_KHR_storage_buffer_storage_class").expect("room");
        }
        let float = editor.ty(Op::TypeFloat, &[32]).expect("a type");
        assert!(float < module.bound(), "{}: every shader here has floats", shader.file);
        let half = editor.constant(float, &[0.4375f32.to_bits()]).expect("a constant");
        assert_eq!(editor.constant(float, &[0.4375f32.to_bits()]), Ok(half));
        assert_ne!(editor.constant(float, &[0.5625f32.to_bits()]), Ok(half));
        let vector = editor.ty(Op::TypeVector, &[float, 3]).expect("a type");
        let pointer = editor.ty(Op::TypePointer, &[StorageClass::Private as u32, vector]).expect("a type");
        assert_eq!(editor.ty(Op::TypePointer, &[StorageClass::Private as u32, vector]), Ok(pointer));
        let standard = editor.import("GLSL.std.450").expect("an import");
        assert_eq!(editor.import("GLSL.std.450"), Ok(standard));
        let variable = editor.variable(pointer, StorageClass::Private).expect("a variable");
        editor.decorate(variable, Decoration::RelaxedPrecision, &[]).expect("room");
        let words = editor.finish().expect("words");
        validate(&words, &shader.environment).unwrap_or_else(|error| panic!("{}: {error}", shader.file));
        // All of it once more changes nothing but the number of ids.
        let again = Module::read(&words).expect("a module");
        let mut editor = Editor::new(&again);
        editor.capability(Capability::ImageQuery).expect("room");
        editor.extension("SPV_KHR_storage_buffer_storage_class").expect("room");
        assert_eq!(editor.constant(float, &[0.4375f32.to_bits()]), Ok(half));
        assert_eq!(editor.import("GLSL.std.450"), Ok(standard));
        assert_eq!(editor.ty(Op::TypePointer, &[StorageClass::Private as u32, vector]), Ok(pointer));
        assert_eq!(editor.finish().expect("words"), words);
    }
}

/// Replaces each plain sample of a pair of two global variables by a call of a function that does the same.
fn outlined(shader: &Shader) -> (Vec<u32>, usize) {
    let words = &shader.words;
    let module = Module::read(words).expect("a module");
    let mut editor = Editor::new(&module);
    let variable = |id: u32| {
        let load = module.definition(id).filter(|load| load.opcode() == Op::Load as u32)?;
        let pointer = load.word(3);
        module.definition(pointer).filter(|it| it.opcode() == Op::Variable as u32).map(|_| (pointer, load.word(1)))
    };
    let mut count = 0;
    for at in offsets(words) {
        if words[at] != 5 << 16 | Op::ImageSampleImplicitLod as u32 {
            continue;
        }
        let (ty, id, pair, at) = (words[at + 1], words[at + 2], words[at + 3], words[at + 4]);
        let sample = module.definition(id).expect("the instruction");
        let joined = module.definition(pair).expect("a pair");
        if joined.opcode() != Op::SampledImage as u32 {
            continue;
        }
        let (Some(image), Some(sampler)) = (variable(joined.word(3)), variable(joined.word(4))) else { continue };
        let coordinate = module.type_of(at);
        let function = editor.ty(Op::TypeFunction, &[ty, coordinate]).expect("a type");
        let ids: Vec<u32> = (0..7).map(|_| editor.id().expect("an id")).collect();
        let mut body = Vec::new();
        for (opcode, operands) in [
            (Op::Function, &[ty, ids[0], 0, function][..]),
            (Op::FunctionParameter, &[coordinate, ids[1]]),
            (Op::Label, &[ids[2]]),
            (Op::Load, &[image.1, ids[3], image.0]),
            (Op::Load, &[sampler.1, ids[4], sampler.0]),
            (Op::SampledImage, &[joined.word(1), ids[5], ids[3], ids[4]]),
            (Op::ImageSampleImplicitLod, &[ty, ids[6], ids[5], ids[1]]),
            (Op::ReturnValue, &[ids[6]]),
            (Op::FunctionEnd, &[]),
        ] {
            assemble(&mut body, opcode, operands).expect("an instruction");
        }
        editor.function(&body).expect("room");
        editor.call_instead(&sample, ids[0], &[at]).expect("a call");
        count += 1;
    }
    (editor.finish().expect("words"), count)
}

#[test]
fn an_instruction_becomes_a_call() {
    let mut all = 0;
    for shader in shaders().iter().filter(|shader| shader.valid) {
        let (words, count) = outlined(shader);
        validate(&words, &shader.environment).unwrap_or_else(|error| panic!("{}: {error}", shader.file));
        let links = |words: &[u32]| -> Vec<Vec<String>> {
            let module = Module::read(words).expect("a module");
            let of = |table: &crate::corpus::Table| {
                let links = table.specialized(|values| module.links(&table.name, table.model, values)).expect("links");
                let mut links: Vec<String> = links.iter().map(text).collect();
                links.sort();
                links
            };
            shader.tables.iter().map(of).collect()
        };
        assert_eq!(links(&words), links(&shader.words), "{}", shader.file);
        all += count;
    }
    assert!(all >= 10, "only {all} instructions");
    let module = Module::read(&shaders()[0].words).expect("a module");
    let entry = module.entry_points().next().expect("an entry point").function();
    let mut editor = Editor::new(&module);
    let label = module.instruction_after(module.definition(entry).expect("a function").at).expect("a label");
    assert_eq!(editor.call_instead(&label, 1, &[]), Err(Error::Edits));
}
