//! The values that are words: each enumeration together with the words that stand for it.

use std::fmt::{self, Display};

use serde::{Serialize, Serializer};

/// Declares an enumeration together with the words that stand for it in settings and in the trace.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $name {
            /// The words that stand for the values, the default first.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word that stands for the value in settings and in the trace.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// The value that a word stands for, whatever its case; `None` for any other text.
            pub fn from_word(word: &str) -> Option<$name> {
                $(if word.eq_ignore_ascii_case($word) { return Some($name::$variant); })+
                None
            }
        }

        impl Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

words! {
    /// What the layer does with what it finds (`mode`).
    Mode {
        /// Repairs what the device cannot do, and logs it.
        #[default]
        Legalize = "legalize",
        /// Decides and logs everything, and hands the application's own structures down.
        Audit = "audit",
        /// Does nothing.
        Off = "off",
    }
}

words! {
    /// How much is written to the trace (`trace_level`).
    TraceLevel {
        /// What was changed, and what could not be.
        #[default]
        Decisions = "decisions",
        /// Legal pairs and every object as well.
        All = "all",
        /// Only the instance, the devices and the counts at the end.
        Summary = "summary",
    }
}

words! {
    /// What the trace says about where it comes from (`trace_identity`). Each value holds what those before it hold.
    #[derive(PartialOrd, Ord)]
    TraceIdentity {
        /// The program's first argument.
        #[default]
        Program = "program",
        /// All arguments.
        Arguments = "arguments",
        /// The name of the host.
        Host = "host",
    }
}

words! {
    /// How much of its own work the layer tells on standard error (`log`). Each value holds what those before it hold.
    #[derive(PartialOrd, Ord)]
    Log {
        /// Nothing.
        #[default]
        Off = "off",
        /// What the layer had to give up or take back.
        Warn = "warn",
        /// Instances and devices as they come and go.
        Info = "info",
        /// Each setting, addition and variant, and why there is none.
        Debug = "debug",
        /// Each command that is hooked.
        Trace = "trace",
    }
}

words! {
    /// What a LINEAR filter becomes on a format without the LINEAR bit (`unfilterable`).
    Unfilterable {
        /// NEAREST.
        #[default]
        Nearest = "nearest",
        /// Filtering in the shader.
        Emulate = "emulate",
    }
}

words! {
    /// What happens to coordinates in texels where a sampler, its view or an instruction excludes them (`unnormalized`).
    Unnormalized {
        /// The shader divides them by the size of the level, from the first sampler on that loses something otherwise.
        #[default]
        Exact = "exact",
        /// The same. Combined descriptors are followed from the start, so that it does not matter when the sampler is created.
        Always = "always",
        /// The sampler becomes legal by itself.
        Base = "base",
    }
}

words! {
    /// What descriptors show of views with depth and stencil (`aspect`).
    Aspect {
        /// The depth.
        #[default]
        Depth = "depth",
        /// What the driver makes of both.
        Keep = "keep",
    }
}

words! {
    /// What happens to anisotropy where both filters are NEAREST (`aniso_nearest`).
    AnisoNearest {
        /// It stays; what comes of it is up to the driver.
        #[default]
        Keep = "keep",
        /// It goes, so that texels keep their edges.
        Off = "off",
    }
}

words! {
    /// Whether samplers that ask for the same are one sampler of the driver (`samplers`).
    Samplers {
        /// Once there are nearly as many as the device allows.
        #[default]
        Auto = "auto",
        /// Always.
        Share = "share",
        /// Never.
        Own = "own",
    }
}

words! {
    /// What happens to immutable samplers (`immutable`).
    Immutable {
        /// They are repaired by themselves only; a conflict with a view is logged.
        #[default]
        Base = "base",
        /// Where a pair conflicts the shader reads another sampler in place of the immutable one.
        Demote = "demote",
    }
}

words! {
    /// What happens to samplers and images that only the shader combines (`separate`).
    Separate {
        /// Pairs are found in the shaders and repaired when their pipeline and their sets are bound.
        #[default]
        Resolve = "resolve",
        /// The sampler is repaired by itself only; one record says that there are pairs.
        Base = "base",
    }
}

words! {
    /// What happens to a sampler that images of one pipeline share which do not agree about it (`separate_shared`).
    SeparateShared {
        /// Those that need another one read it from a set of the layer's own.
        #[default]
        Split = "split",
        /// It stays as it is.
        Keep = "keep",
        /// All get the one that suits them all, if one of them needs that; else as `split`.
        Meet = "meet",
    }
}

words! {
    /// When a pipeline is made again whose link was found to conflict (`split_compile`).
    SplitCompile {
        /// In the bind that finds it.
        #[default]
        Wait = "wait",
        /// Not at all; later pipelines with such a link are.
        Learn = "learn",
    }
}

words! {
    /// Where shaders that are rewritten find what they have to do for a descriptor (`shader_keys`).
    ShaderKeys {
        /// In a uniform buffer of the layer's, so that one pipeline does for all samplers.
        #[default]
        Uniform = "uniform",
        /// In their code, so that there is a pipeline for each combination of samplers that is bound.
        Pipeline = "pipeline",
    }
}

words! {
    /// When the type of a border colour matters (`border`).
    BorderMode {
        /// When an address mode can reach the border.
        #[default]
        Texels = "texels",
        /// Always, as the valid usage rules say literally.
        Strict = "strict",
    }
}

words! {
    /// When GL_CLAMP becomes CLAMP_TO_BORDER rather than CLAMP_TO_EDGE where shaders are not rewritten (`gl_clamp_rule`).
    GlClampRule {
        /// When both the minifying and the magnifying filter are LINEAR.
        #[default]
        Both = "both",
        /// When the minifying filter is LINEAR.
        Min = "min",
    }
}

words! {
    /// What a LINEAR filter on a depth view without the LINEAR bit becomes (`depth_linear`).
    DepthLinear {
        /// NEAREST.
        #[default]
        Nearest = "nearest",
        /// LINEAR with a comparison that is always true.
        Compare = "compare",
    }
}

words! {
    /// What the layer does about storage images that the device cannot store to as a shader declares them (`storage`).
    Storage {
        /// Corrects what shaders declare, where that is all it takes.
        #[default]
        Base = "base",
        /// Changes formats in shaders as well.
        Emulate = "emulate",
        /// Tells the application of the formats that it changes as well.
        Advertise = "advertise",
    }
}

impl Storage {
    /// Whether formats change in shaders.
    pub fn emulates(self) -> bool {
        self != Storage::Base
    }
}

/// Which storage buffers stand for the atomic counters of shaders for OpenGL (`counters`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Counters {
    /// None: such a shader goes down as it is, unless the application enables `VK_SAMPLIN_gl_shaders`.
    #[default]
    None,
    /// Those of set 0 that come behind the module's own bindings.
    Auto,
    /// Counter binding *n* is the binding `first` + *n* of this set.
    At {
        /// The descriptor set.
        set: u32,
        /// The binding for counter binding 0.
        first: u32,
    },
}

impl Counters {
    pub(super) fn from_text(text: &str) -> Option<Counters> {
        match text.split_once(':') {
            Some((set, first)) => Some(Counters::At { set: set.parse().ok()?, first: first.parse().ok()? }),
            None if text.eq_ignore_ascii_case("none") || text.eq_ignore_ascii_case("off") => Some(Counters::None),
            None => text.eq_ignore_ascii_case("auto").then_some(Counters::Auto),
        }
    }
}

impl Display for Counters {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Counters::None => out.write_str("none"),
            Counters::Auto => out.write_str("auto"),
            Counters::At { set, first } => write!(out, "{set}:{first}"),
        }
    }
}

/// Where the trace goes (`trace`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TraceTarget {
    /// A file per process in the user's state folder, the newest 20 kept.
    #[default]
    Auto,
    /// Nowhere.
    Off,
    /// Standard error.
    Stderr,
    /// A file. `%e` stands for the executable, `%p` for the process id, `%d` for the date, `%%` for `%`; a leading `~/`
    /// for the home folder. See `Trace::open` of the layer.
    Path(String),
}

impl TraceTarget {
    /// What the text of the setting means.
    pub fn from_text(text: &str) -> TraceTarget {
        // The boolean words are what a person tries first; none of them is a likely file name.
        const AUTO: [&str; 4] = ["auto", "on", "true", "1"];
        const OFF: [&str; 4] = ["off", "none", "false", "0"];
        let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if is_one_of(&AUTO) {
            TraceTarget::Auto
        } else if is_one_of(&OFF) {
            TraceTarget::Off
        } else if is_one_of(&["stderr"]) {
            TraceTarget::Stderr
        } else {
            TraceTarget::Path(text.to_owned())
        }
    }
}

impl Display for TraceTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            TraceTarget::Auto => "auto",
            TraceTarget::Off => "off",
            TraceTarget::Stderr => "stderr",
            TraceTarget::Path(path) => path,
        })
    }
}
