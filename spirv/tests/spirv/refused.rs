//! What no pass can do is refused by name, and the module stays as it came.

use samplin_spirv::passes::{ModuleOptions, Outcome, for_module};
use samplin_spirv::scan::scan;
use samplin_spirv::{atomic_counters, image_access, image_formats};

use crate::corpus::assembled;
use samplin_compiler::bad::{self, Bad, all};

/// The passes of a device that can do nothing but what it says.
fn passed(bad: &Bad, words: &[u32]) -> Outcome {
    let target = match bad.counters.split_once(':') {
        Some((set, first)) => {
            let number = |text: &str| text.parse().expect("a number");
            atomic_counters::Target::At { set: number(set), first: number(first) }
        }
        None => atomic_counters::Target::Auto,
    };
    let images = image_access::Options { read: bad.reads, write: !bad.reads, may_declare: false, relax: true };
    // Rgba8 and R32i.
    let formats = image_formats::Options { images: 1 << 4 | 1 << 24, buffers: 0 };
    let options = ModuleOptions {
        images: Some(images),
        counters: Some(atomic_counters::Options {
            target,
            draw_parameters: false,
            storage_buffers: bad::STORAGE_BUFFERS,
        }),
        formats,
        without_samples: true,
        mask_words: 1,
    };
    for_module(words, scan(words), &options).expect("an outcome")
}

#[test]
fn what_cannot_be_done_is_named_and_stays() {
    let mut wrong = Vec::new();
    for bad in all() {
        let words = assembled(&bad.text);
        let outcome = passed(&bad, &words);
        let told: Vec<_> = outcome.refusals.iter().map(|(pass, why)| (pass.name(), why.left().name())).collect();
        // Passes read a module one after the other, and what cannot be read is so for each.
        let one = told.contains(&(bad.pass, bad.name)) && told.iter().all(|told| told.1 == bad.name);
        if !one || outcome.words.is_some() || !outcome.changes.is_empty() {
            wrong.push(format!("{} {}: {told:?} {:?}\n{}", bad.pass, bad.name, outcome.changes, bad.text));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all().len(), wrong.join("\n"));
}

/// The twins of what there is no place for: as many as there is, a buffer that nobody uses, and a limit that nobody knows.
#[test]
fn as_many_counters_as_there_is_place_for_become_buffers() {
    use atomic_counters::{Options, atomic_counters};
    let most = bad::STORAGE_BUFFERS;
    let known = Options { storage_buffers: most, ..Options::default() };
    for (text, options) in [
        (bad::beside_buffers(most - 3, 3, true), known),
        (bad::beside_buffers(most - 2, 3, false), known),
        (bad::beside_buffers(most, 1, false), known),
        (bad::beside_buffers(most, 3, true), Options::default()),
    ] {
        let words = assembled(&text);
        let rewrite = atomic_counters(&samplin_spirv::Module::read(&words).expect("a module"), &options);
        assert!(rewrite.expect("can be rewritten").words.is_some(), "{text}");
    }
    let one_more = assembled(&bad::beside_buffers(most - 2, 3, true));
    let module = samplin_spirv::Module::read(&one_more).expect("a module");
    assert_eq!(atomic_counters(&module, &known), Err(samplin_spirv::passes::Why::StorageBuffers(most)));
}
