//! Test switches: repairs that nothing asks for, with the application's own samplers, so that no result may differ.
//!
//! Only a library built with the feature `test-switches` has them; `scripts/switches` makes one. It reads two variables of the
//! environment when a device is made: `TESTSWITCH_SEPARATE`, `shadow`, `split`, `saturate`, `filter`, `table` or `aspect`, and
//! `TESTSWITCH_OUT`, a folder that gets a file for each copy of a set, for each module that a split pipeline was made of, for each of the
//! application's that was read, and for each view that descriptors show in place of an equal one.
//! `tests/separate/switch.rs` knows what each of them adds to a trace.

#[cfg(feature = "test-switches")]
pub(in crate::device) use on::Force;

/// Nothing is forced.
#[cfg(not(feature = "test-switches"))]
#[derive(Default)]
pub(in crate::device) struct Force(());

#[cfg(not(feature = "test-switches"))]
impl Force {
    /// Whether every set with samplers is bound as a copy.
    pub(super) const fn shadows(&self) -> bool {
        false
    }

    /// Whether every link that can be split is.
    pub(super) const fn splits(&self) -> bool {
        false
    }

    /// Whether shaders are bound that could do more for what they sample than is asked of them.
    pub(super) const fn tasks(&self) -> bool {
        false
    }

    /// Whether these could filter and fetch as well.
    pub(super) const fn filters(&self) -> bool {
        false
    }

    /// Whether shaders look up which sampler suits what they index, whatever that is.
    pub(super) const fn selects(&self) -> bool {
        false
    }

    /// Whether descriptors show another view in place of each, of the same aspect.
    pub(in crate::device) const fn twins(&self) -> bool {
        false
    }

    /// Whether anything is forced that binds need.
    pub(super) const fn any(&self) -> bool {
        false
    }

    /// Keeps the words of a module.
    pub(super) const fn keep_module(&self, _words: &[u32]) {}

    /// Keeps the words of a module of the application's, once.
    pub(super) const fn keep_read(&self, _words: &[u32]) {}

    /// Notes a copy.
    pub(super) const fn keep_shadow(&self) {}

    /// Notes a view in place of an equal one.
    pub(in crate::device) const fn keep_twin(&self) {}
}

#[cfg(feature = "test-switches")]
mod on {
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    use samplin_hot::memory;
    use samplin_platform::{close, env, exists, open_append, process_id, write};

    use crate::decide::fnv1a;

    /// Number of the next file of this process.
    static FILES: AtomicU64 = AtomicU64::new(0);

    /// What is forced.
    pub(in crate::device) struct Force {
        separate: Option<String>,
        out: Option<String>,
    }

    impl Default for Force {
        fn default() -> Self {
            Self { separate: env("TESTSWITCH_SEPARATE"), out: env("TESTSWITCH_OUT") }
        }
    }

    impl Force {
        pub(in super::super) fn shadows(&self) -> bool {
            self.separate.as_deref() == Some("shadow")
        }

        pub(in super::super) fn splits(&self) -> bool {
            self.separate.as_deref() == Some("split")
        }

        pub(in super::super) fn tasks(&self) -> bool {
            self.separate.as_deref() == Some("saturate") || self.filters()
        }

        pub(in super::super) fn filters(&self) -> bool {
            self.separate.as_deref() == Some("filter")
        }

        pub(in super::super) fn selects(&self) -> bool {
            self.separate.as_deref() == Some("table")
        }

        pub(in crate::device) fn twins(&self) -> bool {
            self.separate.as_deref() == Some("aspect")
        }

        pub(in super::super) fn any(&self) -> bool {
            self.shadows() || self.splits() || self.tasks() || self.selects()
        }

        pub(in super::super) fn keep_module(&self, words: &[u32]) {
            self.keep("spv", &bytes_of(words));
        }

        pub(in super::super) fn keep_read(&self, words: &[u32]) {
            let bytes = bytes_of(words);
            self.keep_as(&format!("{:016x}.read", fnv1a(bytes.iter().copied())), &bytes);
        }

        pub(in super::super) fn keep_shadow(&self) {
            self.keep("set", &[]);
        }

        pub(in crate::device) fn keep_twin(&self) {
            self.keep("twin", &[]);
        }

        fn keep(&self, kind: &str, bytes: &[u8]) {
            let number = FILES.fetch_add(1, Ordering::Relaxed);
            self.keep_as(&format!("{}-{number}.{kind}", process_id()), bytes);
        }

        /// Writes a file, if there is none of that name.
        fn keep_as(&self, name: &str, bytes: &[u8]) {
            let Some(folder) = &self.out else { return };
            let path = format!("{folder}/{name}");
            if exists(Path::new(&path)) {
                return;
            }
            // The script compares what is there with what it needs.
            let Ok(file) = open_append(Path::new(&path)) else { return };
            let id = file.id;
            let file = file.release();
            if write(file, bytes).is_err() {
                tracing::warn!(path, "not kept");
            }
            close(file, id);
        }
    }

    /// The bytes of words.
    fn bytes_of(words: &[u32]) -> Vec<u8> {
        let mut bytes = memory::vec(size_of_val(words));
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes
    }
}
