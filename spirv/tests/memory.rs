//! What a module takes: never more than a fixed multiple of its words, whatever they say.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use samplin_spirv::Module;
use samplin_spirv::scan::scan;

/// Counts what is allocated.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with what the caller gave, who has to follow the same rules.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's layout, of which GlobalAlloc::alloc asks what System asks.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` above, hence from System, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that were allocated at once while `words` were read and their links found.
fn peak(words: &[u32]) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    if let Ok(module) = Module::read(words) {
        std::hint::black_box(&module);
    }
    PEAK.load(Ordering::Relaxed) - before
}

fn module(bound: u32, mut body: impl FnMut(u32) -> Vec<u32>, words: usize) -> Vec<u32> {
    let mut all = vec![0x0723_0203, 0x0001_0300, 0, bound, 0];
    let mut number = 1;
    while all.len() < words {
        all.extend(body(number));
        number += 1;
    }
    all
}

/// One test, because the count is of the whole process.
#[test]
fn memory_is_a_fixed_multiple_of_the_words() {
    let mut worst: f64 = 0.0;
    for words in [0, 10, 1000, 70_000, 300_000] {
        for bound in [1000, 600_000, Module::IDS] {
            let cases: [(&str, Vec<u32>); 8] = [
                ("nothing", module(bound, |_| vec![1 << 16], words)),
                ("types", module(bound, |n| vec![2 << 16 | 19, n], words)),
                ("functions", module(bound, |n| vec![5 << 16 | 54, 1, n, 0, 1, 1 << 16 | 56], words)),
                (
                    "groups",
                    module(
                        bound,
                        |n| [vec![32 << 16 | 74, 1], (0..30).map(|i| i * 7919 + n).collect()].concat(),
                        words,
                    ),
                ),
                ("members", module(bound, |n| vec![5 << 16 | 72, n ^ 0x155, n, 35, 0], words)),
                ("decorations", module(bound, |n| vec![3 << 16 | 71, n ^ 0x155, 5300], words)),
                ("entry points", module(bound, |_| vec![4 << 16 | 15, 4, 1, 0], words)),
                ("image instructions", {
                    let mut first = true;
                    let body = |n: u32| {
                        let head = if std::mem::take(&mut first) { vec![5 << 16 | 54, 1, 1, 0, 1] } else { Vec::new() };
                        [head, vec![4 << 16 | 100, 1, 2 * n, 1, 4 << 16 | 104, 1, 2 * n + 1, 1]].concat()
                    };
                    let mut all = module(bound, body, words);
                    all.push(1 << 16 | 56);
                    all
                }),
            ];
            for (name, words) in cases {
                let (before, found) = (NOW.load(Ordering::Relaxed), scan(&words));
                PEAK.store(before, Ordering::Relaxed);
                assert_eq!(scan(&words), found);
                assert_eq!(PEAK.load(Ordering::Relaxed), before, "{name}: the pre-scan asks for memory");
                let bytes = peak(&words);
                let limit = Module::MEMORY * 4 * words.len() + Module::FIXED;
                assert!(bytes <= limit, "{name}, bound {bound}: {bytes} bytes for {} words", words.len());
                worst = worst.max(bytes.saturating_sub(Module::FIXED) as f64 / (4 * words.len()) as f64);
            }
        }
    }
    println!("at most {worst:.1} times the words");
    assert!(worst > 1.0, "nothing was counted");
}
