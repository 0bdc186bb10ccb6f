//! The table of settings: for each its name, its default, what text it accepts and how its value is shown.

use super::words::{
    AnisoNearest, Aspect, BorderMode, Counters, DepthLinear, GlClampRule, Immutable, Log, Mode, Samplers, Separate,
    SeparateShared, ShaderKeys, SplitCompile, Storage, TraceIdentity, TraceLevel, TraceTarget, Unfilterable,
    Unnormalized,
};

/// One setting: its name, how text becomes its value and back.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Checks `text` and stores its value. Returns what is wrong with it otherwise, having changed nothing.
    pub(super) set: fn(&mut Settings, &str) -> Result<(), Wrong>,
    /// The effective value as text, which `set` would accept.
    pub(super) show: fn(&Settings) -> String,
    /// What is suspicious about a text that `set` accepts.
    pub(super) doubt: fn(&str) -> Option<String>,
}

/// The words that a setting accepts; the text was none of them.
pub(super) struct Wrong(pub(super) &'static [&'static str]);

/// The words for a boolean, in pairs.
const BOOLEAN: &[&str] = &["on", "off", "true", "false", "1", "0"];

fn boolean(text: &str) -> Result<bool, Wrong> {
    let index = BOOLEAN.iter().position(|word| text.eq_ignore_ascii_case(word));
    index.map(|index| index % 2 == 0).ok_or(Wrong(BOOLEAN))
}

fn show_boolean(value: bool) -> String {
    if value { "on" } else { "off" }.to_owned()
}

fn path(text: &str, nothing: &[&str]) -> Option<String> {
    let is_nothing = nothing.iter().any(|word| text.eq_ignore_ascii_case(word));
    (!is_nothing).then(|| text.to_owned())
}

/// The suffixes of a number of bytes, and what they multiply it by.
const UNITS: [(&str, u64); 3] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];

/// A number of bytes, with one of [`UNITS`] or without; `u64::MAX` for `none`. `64M`, `64MiB` and `64 MB` are the same.
fn size(text: &str) -> Result<u64, Wrong> {
    const WANTED: &[&str] = &["a number of bytes such as 65536, 512K, 64M or 1G", "none"];
    let text = text.to_ascii_uppercase();
    if ["NONE", "OFF"].contains(&text.as_str()) {
        return Ok(u64::MAX);
    }
    let bare = ["IB", "B"].into_iter().find_map(|end| text.strip_suffix(end)).unwrap_or(&text);
    let unit = UNITS.into_iter().find_map(|(suffix, bytes)| Some((bare.strip_suffix(suffix)?, bytes)));
    let (digits, bytes) = unit.unwrap_or((bare, 1));
    let digits = digits.trim_end();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { digits.parse().ok() } else { None };
    number.and_then(|number: u64| number.checked_mul(bytes)).ok_or(Wrong(WANTED))
}

fn show_size(bytes: u64) -> String {
    if bytes == u64::MAX {
        return "none".to_owned();
    }
    match UNITS.into_iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit)) {
        Some((suffix, unit)) => format!("{}{suffix}", bytes / unit),
        None => bytes.to_string(),
    }
}

fn no_doubt(_: &str) -> Option<String> {
    None
}

macro_rules! word_key {
    ($name:ident: $type:ident) => {
        Key {
            name: stringify!($name),
            set: |settings, text| {
                settings.$name = $type::from_word(text).ok_or(Wrong($type::WORDS))?;
                Ok(())
            },
            show: |settings| settings.$name.to_string(),
            doubt: no_doubt,
        }
    };
}

macro_rules! boolean_key {
    ($name:ident) => {
        Key {
            name: stringify!($name),
            set: |settings, text| {
                settings.$name = boolean(text)?;
                Ok(())
            },
            show: |settings| show_boolean(settings.$name),
            doubt: no_doubt,
        }
    };
}

macro_rules! path_key {
    ($name:ident, $nothing:expr) => {
        Key {
            name: stringify!($name),
            set: |settings, text| {
                settings.$name = path(text, &$nothing);
                Ok(())
            },
            show: |settings| settings.$name.clone().unwrap_or_else(|| $nothing[0].to_owned()),
            doubt: no_doubt,
        }
    };
}

/// Declares every setting, in the order in which they are shown: what it is, its default and its [`Key`].
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr, $key:expr;)+) => {
        /// The settings in effect for one `VkInstance`. The default is what the design's table of settings puts first.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct Settings { $($(#[$doc])* pub $name: $type,)+ }

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $($name: $default,)+ }
            }
        }

        /// Every setting.
        pub(super) const KEYS: [Key; [$(stringify!($name)),+].len()] = [$($key),+];
    };
}

settings! {
    /// What the layer does with what it finds.
    mode: Mode = Mode::default(), word_key!(mode: Mode);
    /// Where the trace goes.
    trace: TraceTarget = TraceTarget::default(), Key {
        name: "trace",
        set: |settings, text| {
            settings.trace = TraceTarget::from_text(text);
            Ok(())
        },
        show: |settings| settings.trace.to_string(),
        doubt: |text| crate::template::doubt(text),
    };
    /// How much is written to the trace.
    trace_level: TraceLevel = TraceLevel::default(), word_key!(trace_level: TraceLevel);
    /// What the trace says about where it comes from.
    trace_identity: TraceIdentity = TraceIdentity::default(), word_key!(trace_identity: TraceIdentity);
    /// How many bytes the records of one instance may take; `u64::MAX` for any number.
    trace_limit: u64 = 64 << 20, Key {
        name: "trace_limit",
        set: |settings, text| {
            settings.trace_limit = size(text)?;
            Ok(())
        },
        show: |settings| show_size(settings.trace_limit),
        doubt: no_doubt,
    };
    /// How much of its own work the layer tells on standard error.
    log: Log = Log::default(), word_key!(log: Log);
    /// The path of the rules file; `None` to look in the user's configuration folder.
    config: Option<String> = None, path_key!(config, ["auto"]);
    /// The path of a capability file whose abilities are intersected with the device's; `None` for the device as it is.
    device: Option<String> = None, path_key!(device, ["none", "off"]);
    /// Whether the application sees the intersected abilities when it asks for the device's.
    device_visible: bool = false, boolean_key!(device_visible);
    /// What a LINEAR filter becomes on a format without the LINEAR bit.
    unfilterable: Unfilterable = Unfilterable::default(), word_key!(unfilterable: Unfilterable);
    /// What happens to coordinates in texels where a sampler, its view or an instruction excludes them.
    unnormalized: Unnormalized = Unnormalized::default(), word_key!(unnormalized: Unnormalized);
    /// What happens to anisotropy where both filters are NEAREST.
    aniso_nearest: AnisoNearest = AnisoNearest::default(), word_key!(aniso_nearest: AnisoNearest);
    /// What descriptors show of views with depth and stencil.
    aspect: Aspect = Aspect::default(), word_key!(aspect: Aspect);
    /// Whether samplers that ask for the same are one sampler of the driver.
    samplers: Samplers = Samplers::default(), word_key!(samplers: Samplers);
    /// What happens to immutable samplers.
    immutable: Immutable = Immutable::default(), word_key!(immutable: Immutable);
    /// What happens to samplers and images that only the shader combines.
    separate: Separate = Separate::default(), word_key!(separate: Separate);
    /// What happens to a sampler that images of one pipeline share which do not agree about it.
    separate_shared: SeparateShared = SeparateShared::default(), word_key!(separate_shared: SeparateShared);
    /// When a pipeline is made again whose link was found to conflict.
    split_compile: SplitCompile = SplitCompile::default(), word_key!(split_compile: SplitCompile);
    /// Where shaders that are rewritten find what they have to do for a descriptor.
    shader_keys: ShaderKeys = ShaderKeys::default(), word_key!(shader_keys: ShaderKeys);
    /// The path of the list of links that were found to conflict; `None` for none.
    learned: Option<String> = None, Key { doubt: |text| crate::template::doubt(text), ..path_key!(learned, ["off", "none"]) };
    /// How many MiB the copies may take that pipelines are made again of.
    resolve_memory: u64 = 64, Key {
        name: "resolve_memory",
        set: |settings, text| {
            const WANTED: &[&str] = &["a number of MiB such as 64"];
            settings.resolve_memory = text.parse().map_err(|_| Wrong(WANTED))?;
            Ok(())
        },
        show: |settings| settings.resolve_memory.to_string(),
        doubt: no_doubt,
    };
    /// Whether the layer may enable extensions and features that a repair needs and the application did not ask for.
    augment: bool = true, boolean_key!(augment);
    /// When the type of a border colour matters.
    border: BorderMode = BorderMode::default(), word_key!(border: BorderMode);
    /// When GL_CLAMP becomes CLAMP_TO_BORDER.
    gl_clamp_rule: GlClampRule = GlClampRule::default(), word_key!(gl_clamp_rule: GlClampRule);
    /// What a LINEAR filter on a depth view without the LINEAR bit becomes.
    depth_linear: DepthLinear = DepthLinear::default(), word_key!(depth_linear: DepthLinear);
    /// What happens to storage images that the device cannot store to as a shader declares them.
    storage: Storage = Storage::default(), word_key!(storage: Storage);
    /// Which storage buffers stand for the atomic counters of shaders for OpenGL.
    counters: Counters = Counters::default(), Key {
        name: "counters",
        set: |settings, text| {
            const WANTED: &[&str] = &["none", "auto", "a set and a binding such as 0:4"];
            settings.counters = Counters::from_text(text).ok_or(Wrong(WANTED))?;
            Ok(())
        },
        show: |settings| settings.counters.to_string(),
        doubt: no_doubt,
    };
}
