//! The table of settings: a setting is one row.
//!
//! What is read from a row: the parser and its mistakes (`kinds.rs`), `samplin settings`, `samplin explain`, completions and the manual
//! page. What `scripts/manifests` writes from it: the settings of `layer.json` and both installable manifests,
//! `manifest/vk_layer_settings.txt`, `docs/reference/settings.md`, and what `manifest/trace.schema.json` says of a `layer` record.

use std::fmt::{self, Display};

use serde::{Serialize, Serializer};

use super::kinds::{self, Described, Form, Key, Word, Wrong, no_doubt};
use super::values::{Counters, TraceTarget};

settings! {
    /// What samplin does with a sampler that the device cannot honour.
    mode "Mode": words(Mode) {
        /// Replace it by one that the device can honour.
        Legalize = "legalize",
        /// Decide and record, but change nothing.
        Audit = "audit",
        /// Do nothing.
        Off = "off",
    }
    /// Where the JSON lines go. Empty or 'auto': one file for each process in $XDG_STATE_HOME/samplin, of which the newest 20
    /// stay. Otherwise 'off', 'stderr', or a path in which %e stands for the executable, %p for the process id and %d for the
    /// date.
    trace "Trace": template(TraceTarget)
    /// How much the trace holds.
    trace_level "Trace Level": words(TraceLevel) {
        /// What was changed, and what could not be.
        Decisions = "decisions",
        /// Legal pairs and every object as well, and what shader rewrites would do on weaker devices.
        All = "all",
        /// Only instances, devices and the counts at the end.
        Summary = "summary",
    }
    /// What the trace says about where it comes from, beside version, commit and start.
    trace_identity "Trace Identity", advanced: words(TraceIdentity) {
        /// The program's first argument.
        Program = "program",
        /// All arguments of the program, which may hold paths and names.
        Arguments = "arguments",
        /// All arguments, and the name of the machine.
        Host = "host",
    }
    /// How many bytes the records of one instance may take: a number, with K, M or G for KiB, MiB or GiB, or 'none'. The first
    /// record that does not fit and all later ones are left out. The summary is always written, and says how many.
    trace_limit "Trace Limit": bytes(64 << 20)
    /// How much samplin says about its own work on standard error, for people who work on the layer. If several instances set
    /// it, the most verbose wins.
    log "Log", advanced: words(Log) {
        /// Nothing.
        Off = "off",
        /// What the layer had to give up or take back.
        Warn = "warn",
        /// Instances and devices as well.
        Info = "info",
        /// Settings, additions and replacement samplers as well.
        Debug = "debug",
        /// Each hooked command as well.
        Trace = "trace",
    }
    /// The rules file. Empty or 'auto': EXECUTABLE.toml, else samplin.toml, in $XDG_CONFIG_HOME/samplin.
    config "Rules File": file("*.toml", "auto")
    /// Whether samplin reads the rules file again when it changes, at a submission and at most every 250 ms. Everything that samples
    /// then goes the way of samplers with a rule, which costs time. A file with a mistake changes nothing, and a record says the line.
    live "Live Rules", advanced: boolean(false) {
        /// Rules follow the file. Descriptors follow at the next draw that is recorded, and pipelines that are created later.
        on,
        /// The rules stay those of the start.
        off,
    }
    /// Whether a `pulse` record about once a second counts frames, draws and those of them that read a repaired pair, and says what is left
    /// of limits. samplin then counts each draw and notes each combined descriptor, which costs time. `samplin watch -- PROGRAM` sets it.
    pulse "Pulse", advanced: boolean(false) {
        /// samplin counts draws, and writes a record at a present or a submission once a second has passed.
        on,
        /// samplin counts no draws.
        off,
    }
    /// A capability file, or its short name such as adreno-650. samplin treats the device as if it could do no more than that
    /// one.
    device "Simulated Device": file("*.json", "none", "off")
    /// Whether the application sees the simulated device when it queries features and formats.
    device_visible "Show the Simulated Device", advanced: boolean(false) {
        /// It sees the simulated device, and cannot enable what that one lacks.
        on,
        /// It sees the device as it is.
        off,
    }
    /// What LINEAR becomes on a float or depth format that the device cannot filter.
    unfilterable "Unfilterable Formats": words(Unfilterable) {
        /// NEAREST.
        Nearest = "nearest",
        /// NEAREST in the sampler, and the shader weighs up to 4 samples a level in 2D and 8 in 3D. samplin compiles each
        /// sampling pipeline a second time for that.
        Emulate = "emulate" ("BETA"),
    }
    /// What happens where a sampler with unnormalized coordinates also wraps, compares or has other state that Vulkan excludes
    /// beside them, or where its image view or an instruction does not suit them.
    unnormalized "Unnormalized Coordinates": words(Unnormalized) {
        /// The shader divides the coordinates by the size of the level and reads a sampler with normalized coordinates, which
        /// keeps the rest of its state. Combined descriptors are followed from the first sampler with unnormalized coordinates on.
        Exact = "exact" ("BETA"),
        /// As `exact`, with combined descriptors followed from the start. This also repairs pipelines and set layouts that are
        /// older than the sampler, and costs time in every descriptor update.
        Always = "always" ("BETA"),
        /// samplin makes the sampler legal by itself: it clamps, and reads one level with one filter.
        Base = "base",
    }
    /// What happens to anisotropy where both filters of a sampler are NEAREST. Vulkan does not define the result, and some
    /// drivers smooth.
    aniso_nearest "Anisotropy on NEAREST Filters": words(AnisoNearest) {
        /// The driver gets what the application asks for.
        Keep = "keep",
        /// samplin switches anisotropy off there, so that texels keep their edges on every driver. Simulated devices that are
        /// known to smooth have this as their default.
        Off = "off",
    }
    /// What a descriptor shows of a view that has depth and stencil. Vulkan allows one of them, and drivers differ in which
    /// they read.
    aspect "Views with Depth and Stencil": words(Aspect) {
        /// The depth to shaders that declare floats, the stencil to those that declare integers.
        Depth = "depth",
        /// The driver gets the view as it is: for programs that read the stencil through such a view on a driver that shows it.
        Keep = "keep",
    }
    /// Whether samplers that ask for the same are one sampler of the driver, so that only different ones count against
    /// `maxSamplerAllocationCount`. The application then gets equal handles, as Vulkan allows. samplin never shares samplers
    /// whose chain holds more than a reduction mode, a border colour or mapping and a name, or whose descriptors are captured.
    /// It shares none on a device with `privateData` or descriptor buffers, or with rules that look at samplers.
    samplers "Shared Samplers": words(Samplers) {
        /// samplin shares samplers once seven eighths of what the device allows are alive.
        Auto = "auto",
        /// samplin shares samplers from the start.
        Share = "share",
        /// Each sampler of the application is one of the driver.
        Own = "own",
    }
    /// What happens when an immutable sampler does not suit the image view of its descriptor.
    immutable "Immutable Samplers": words(Immutable) {
        /// samplin repairs the sampler by itself and names the pair.
        Base = "base",
        /// The shader reads another sampler, from a descriptor set of samplin's own. Set layouts stay as they are.
        Demote = "demote" ("ALPHA"),
    }
    /// What happens to samplers and images in descriptors of their own, which only a shader joins.
    separate "Separate Samplers": words(Separate) {
        /// samplin finds the pairs in the shaders and repairs them for each pipeline and its descriptor sets.
        Resolve = "resolve",
        /// samplin makes the sampler legal by itself, does not look at pairs, and intercepts no command for them.
        Base = "base",
    }
    /// What happens where a shader's index alone says which sampler meets which image: in arrays of more than 64 descriptors, and in
    /// bindings with UPDATE_AFTER_BIND.
    bindless "Bindless Arrays": words(Bindless) {
        /// The shader looks up in tables which sampler suits the image, and samples once. samplin compiles a pipeline a second time
        /// when its link can reach a pair that conflicts.
        Resolve = "resolve",
        /// The driver gets the pipeline as it is, and a record names a link that can reach a pair that conflicts.
        Name = "name",
    }
    /// What happens to a sampler that several images of one pipeline share, if some of them need another one. `samplin predict`
    /// judges each pair alone and ignores other images that share its sampler.
    separate_shared "Shared Separate Samplers", advanced: words(SeparateShared) {
        /// Those images read another sampler, from a descriptor set of samplin's own.
        Split = "split",
        /// The sampler stays as it is, and a record names it (shared-sampler).
        Keep = "keep",
        /// All images get the sampler that one of them needs, if it suits all; otherwise as split. No pipeline is compiled for
        /// it, but images that could be smoothed are not.
        Meet = "meet",
    }
    /// When samplin compiles a second pipeline for a pair.
    split_compile "Split Pipelines", advanced: words(SplitCompile) {
        /// When the pair is found, which may hitch.
        Wait = "wait",
        /// Never while commands are recorded: the pair stays as it is, and later pipelines with the same link are compiled
        /// twice at creation.
        Learn = "learn",
    }
    /// Where rewritten shaders find what to do for each descriptor.
    shader_keys "Shader Keys", advanced: words(ShaderKeys) {
        /// In a uniform buffer: one second pipeline serves all samplers.
        Uniform = "uniform",
        /// In their code: one pipeline for each combination of samplers.
        Pipeline = "pipeline",
    }
    /// A text file that keeps which links need a sampler of their own, so that later runs compile their pipelines at creation:
    /// 'off', or a path in which %e stands for the executable. Processes may share it.
    learned "Learned Links", advanced: path("off", "none")
    /// How many MiB the copies of shaders and create infos may take that samplin needs to compile pipelines a second time.
    /// Shader modules that exist do not count. Beyond that it forgets the oldest pipelines, those with a conflict last.
    /// Arrays of more than 64 descriptors, and bindings with UPDATE_AFTER_BIND, may take as much again. Sets beyond that are named.
    resolve_memory "Memory for Split Pipelines", advanced: mebibytes(64)
    /// Whether samplin may enable extensions and features that a repair needs or that only make something about sampling legal,
    /// that the application did not enable, and that change no legal result.
    augment "Augment the Device": boolean(true) {
        /// Enable what a repair needs.
        on,
        /// Create the device exactly as the application asked.
        off,
    }
    /// When the type of a border colour has to fit the format of the view.
    border "Border Colour", advanced: words(BorderMode) {
        /// Where an address mode can reach the border.
        Texels = "texels",
        /// Always, as the specification reads literally.
        Strict = "strict",
    }
    /// When GL_CLAMP becomes CLAMP_TO_BORDER where shaders are not rewritten; otherwise it becomes CLAMP_TO_EDGE.
    gl_clamp_rule "GL_CLAMP Rule", advanced: words(GlClampRule) {
        /// When both filters are LINEAR.
        Both = "both",
        /// When the minification filter is LINEAR.
        Min = "min",
    }
    /// What LINEAR without comparison becomes on a depth format that the device cannot filter.
    depth_linear "Linear Depth", advanced: words(DepthLinear) {
        /// NEAREST.
        Nearest = "nearest",
        /// A comparison that always passes. Today's specification leaves the result undefined.
        Compare = "compare",
    }
    /// What happens to storage images that the device cannot read or write as a shader declares them.
    storage "Storage Images": words(Storage) {
        /// samplin removes capabilities that the shader declares but does not need.
        Base = "base",
        /// As base; formats that HLSL and Slang compilers made up become Unknown; and shaders encode and decode formats that
        /// the device cannot store.
        Emulate = "emulate",
        /// As emulate; and samplin reports these formats to the application as storage formats.
        Advertise = "advertise",
    }
    /// Which storage buffers stand for the atomic counters of OpenGL shaders: 'none', 'auto' (set 0, behind the shader's
    /// highest binding), or a set and the binding of the first one, such as 0:4. An application that enables
    /// VK_SAMPLIN_gl_shaders gets 'auto'.
    counters "Atomic Counters", advanced: text(Counters: "none", "auto", "a set and a binding such as 0:4")
}
