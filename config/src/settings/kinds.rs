//! How the table of settings is read: what a row becomes, and what each kind of setting accepts and shows.

use super::Settings;

/// What the documents, the manifests and `samplin settings` say of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The name.
    pub name: &'static str,
    /// What Vulkan Configurator calls it.
    pub label: &'static str,
    /// Whether Vulkan Configurator shows it to experts only.
    pub is_advanced: bool,
    /// What it takes.
    pub form: Form,
    about: &'static str,
}

impl Described {
    /// What it is for: sentences.
    pub fn about(&self) -> &'static str {
        self.about.trim_start()
    }

    /// The words that it takes; none if it takes other texts.
    pub fn words(&self) -> &'static [Word] {
        if let Form::Words(words) = self.form { words } else { &[] }
    }

    /// The environment variable.
    pub fn variable(&self) -> String {
        format!("{}{}", super::PREFIX, self.name.to_ascii_uppercase())
    }

    pub(super) const fn new(
        name: &'static str,
        label: &'static str,
        is_advanced: bool,
        about: &'static str,
        form: Form,
    ) -> Self {
        Self { name, label, is_advanced, form, about }
    }
}

/// A word that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// How far it is tested, as Vulkan Configurator calls it, where that is less than the layer.
    pub status: Option<&'static str>,
    meaning: &'static str,
}

impl Word {
    /// What it means: sentences.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim_start()
    }

    pub(super) const fn new(word: &'static str, status: &[&'static str], meaning: &'static str) -> Self {
        Self { word, status: status.first().copied(), meaning }
    }
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One of these words.
    Words(&'static [Word]),
    /// The path of an existing file; which names such files have.
    File(&'static str),
    /// A path, in which marks stand for parts.
    Path,
    /// A text of its own.
    Text,
}

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

pub(super) fn boolean(text: &str) -> Result<bool, Wrong> {
    let index = BOOLEAN.iter().position(|word| text.eq_ignore_ascii_case(word));
    index.map(|index| index % 2 == 0).ok_or(Wrong(BOOLEAN))
}

pub(super) fn show_boolean(value: bool) -> String {
    if value { "on" } else { "off" }.to_owned()
}

pub(super) fn path(text: &str, nothing: &[&str]) -> Option<String> {
    let is_nothing = nothing.iter().any(|word| text.eq_ignore_ascii_case(word));
    (!is_nothing).then(|| text.to_owned())
}

/// The suffixes of a number of bytes, and what they multiply it by.
const UNITS: [(&str, u64); 3] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];

/// A number of bytes, with one of [`UNITS`] or without; `u64::MAX` for `none`. `64M`, `64MiB` and `64 MB` are the same.
pub(super) fn size(text: &str) -> Result<u64, Wrong> {
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

pub(super) fn show_size(bytes: u64) -> String {
    if bytes == u64::MAX {
        return "none".to_owned();
    }
    match UNITS.into_iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit)) {
        Some((suffix, unit)) => format!("{}{suffix}", bytes / unit),
        None => bytes.to_string(),
    }
}

pub(super) fn no_doubt(_: &str) -> Option<String> {
    None
}

// Each kind of setting is a macro, which says of its arguments `(…)` and its words `{…}`: the `item` that it declares, the `type` of the
// member, its `default`, how a text is `read`, how a value is `show`n, what is in `doubt`, and its `form`.

/// `words(Enumeration) {…}`: one of several words, the default first.
macro_rules! words {
    (item $setting:ident ($name:ident) { $($(#[doc = $meaning:literal])+ $variant:ident = $word:literal $(($status:literal))?,)+ }) => {
        #[doc = concat!(" The values of `", stringify!($setting), "`. A greater one is further down in the table.")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $name { $($(#[doc = $meaning])+ $variant,)+ }

        impl $name {
            /// Every value, the default first.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The words that stand for the values, the default first.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The words, each with what its value means.
            const MEANINGS: &'static [Word] = &[$(Word::new($word, &[$($status)?], concat!($($meaning),+))),+];

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

        impl Default for $name {
            fn default() -> $name {
                $name::ALL[0]
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
    (type ($name:ident) $body:tt) => { $name };
    (default ($name:ident) $body:tt) => { $name::default() };
    (read $text:ident ($name:ident) $body:tt) => { $name::from_word($text).ok_or(Wrong($name::WORDS)) };
    (show $value:expr, $args:tt $body:tt) => { $value.to_string() };
    (doubt $args:tt $body:tt) => { no_doubt };
    (form ($name:ident) $body:tt) => { Form::Words($name::MEANINGS) };
}

/// `boolean(DEFAULT) {…}`: on or off.
macro_rules! boolean {
    (item $setting:ident $args:tt $body:tt) => {};
    (type $args:tt $body:tt) => { bool };
    (default ($default:literal) $body:tt) => { $default };
    (read $text:ident $args:tt $body:tt) => { kinds::boolean($text) };
    (show $value:expr, $args:tt $body:tt) => { kinds::show_boolean($value) };
    (doubt $args:tt $body:tt) => { no_doubt };
    (form $args:tt { $(#[doc = $on:literal])+ on, $(#[doc = $off:literal])+ off, }) => {
        Form::Words(&[Word::new("on", &[], concat!($($on),+)), Word::new("off", &[], concat!($($off),+))])
    };
}

/// `bytes(DEFAULT)`: a number of bytes.
macro_rules! bytes {
    (item $setting:ident $args:tt $body:tt) => {};
    (type $args:tt $body:tt) => {
        u64
    };
    (default ($default:expr) $body:tt) => {
        $default
    };
    (read $text:ident $args:tt $body:tt) => {
        kinds::size($text)
    };
    (show $value:expr, $args:tt $body:tt) => {
        kinds::show_size($value)
    };
    (doubt $args:tt $body:tt) => {
        no_doubt
    };
    (form $args:tt $body:tt) => {
        Form::Text
    };
}

/// `mebibytes(DEFAULT)`: a number of MiB.
macro_rules! mebibytes {
    (item $setting:ident $args:tt $body:tt) => {};
    (type $args:tt $body:tt) => {
        u64
    };
    (default ($default:literal) $body:tt) => {
        $default
    };
    (read $text:ident ($default:literal) $body:tt) => {
        $text.parse().map_err(|_| Wrong(&[concat!("a number of MiB such as ", $default)]))
    };
    (show $value:expr, $args:tt $body:tt) => {
        $value.to_string()
    };
    (doubt $args:tt $body:tt) => {
        no_doubt
    };
    (form $args:tt $body:tt) => {
        Form::Text
    };
}

/// `file(NAMES, NOTHING, …)`: the path of a file that exists, or one of the words for none, the default first.
macro_rules! file {
    (item $setting:ident $args:tt $body:tt) => {};
    (type $args:tt $body:tt) => { Option<String> };
    (default $args:tt $body:tt) => { None };
    (read $text:ident ($names:literal, $($nothing:literal),+) $body:tt) => { Ok::<_, Wrong>(kinds::path($text, &[$($nothing),+])) };
    (show $value:expr, ($names:literal, $first:literal $($rest:tt)*) $body:tt) => {
        $value.clone().unwrap_or_else(|| $first.to_owned())
    };
    (doubt $args:tt $body:tt) => { no_doubt };
    (form ($names:literal, $($nothing:literal),+) $body:tt) => { Form::File($names) };
}

/// `path(NOTHING, …)`: a path in which marks stand for parts (`crate::template`), or one of the words for none, the default first.
macro_rules! path {
    (item $setting:ident $args:tt $body:tt) => {};
    (type $args:tt $body:tt) => { Option<String> };
    (default $args:tt $body:tt) => { None };
    (read $text:ident ($($nothing:literal),+) $body:tt) => { Ok::<_, Wrong>(kinds::path($text, &[$($nothing),+])) };
    (show $value:expr, ($first:literal $($rest:tt)*) $body:tt) => { $value.clone().unwrap_or_else(|| $first.to_owned()) };
    (doubt $args:tt $body:tt) => { crate::template::doubt };
    (form $args:tt $body:tt) => { Form::Text };
}

/// `template(Type)`: a type that every text makes a value of, marks in it too.
macro_rules! template {
    (item $setting:ident $args:tt $body:tt) => {};
    (type ($type:ident) $body:tt) => {
        $type
    };
    (default ($type:ident) $body:tt) => {
        $type::default()
    };
    (read $text:ident ($type:ident) $body:tt) => {
        Ok::<_, Wrong>($type::from_text($text))
    };
    (show $value:expr, $args:tt $body:tt) => {
        $value.to_string()
    };
    (doubt $args:tt $body:tt) => {
        crate::template::doubt
    };
    (form $args:tt $body:tt) => {
        Form::Path
    };
}

/// `text(Type: EXPECTED, …)`: a type that reads its own texts, and what they look like.
macro_rules! text {
    (item $setting:ident $args:tt $body:tt) => {};
    (type ($type:ident: $($expected:literal),+) $body:tt) => { $type };
    (default ($type:ident: $($expected:literal),+) $body:tt) => { $type::default() };
    (read $text:ident ($type:ident: $($expected:literal),+) $body:tt) => { $type::from_text($text).ok_or(Wrong(&[$($expected),+])) };
    (show $value:expr, $args:tt $body:tt) => { $value.to_string() };
    (doubt $args:tt $body:tt) => { no_doubt };
    (form $args:tt $body:tt) => { Form::Text };
}

/// Declares every setting, in the order in which they are shown. A row is a doc comment (what it is for), a name, a label, a kind, and the
/// values of the kind.
macro_rules! settings {
    ($($(#[doc = $about:literal])+ $name:ident $label:literal $(, $view:ident)?: $kind:ident $args:tt $({ $($body:tt)* })?)+) => {
        $($kind!(item $name $args { $($($body)*)? });)+

        /// The settings in effect for one `VkInstance`. The default is what each row of the table puts first.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct Settings { $($(#[doc = $about])+ pub $name: $kind!(type $args { $($($body)*)? }),)+ }

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $($name: $kind!(default $args { $($($body)*)? }),)+ }
            }
        }

        /// How each setting is read and shown.
        pub(super) const KEYS: [Key; [$(stringify!($name)),+].len()] = [$(Key {
            name: stringify!($name),
            set: |settings, text| {
                settings.$name = $kind!(read text $args { $($($body)*)? })?;
                Ok(())
            },
            show: |settings| $kind!(show settings.$name, $args { $($($body)*)? }),
            doubt: $kind!(doubt $args { $($($body)*)? }),
        }),+];

        /// What each setting is for. Apart from how it is read, because the layer has no use for the texts.
        pub static DESCRIBED: [Described; KEYS.len()] = [$(Described::new(
            stringify!($name),
            $label,
            ["", $(stringify!($view))?].len() == 2,
            concat!($($about),+),
            $kind!(form $args { $($($body)*)? }),
        )),+];
    };
}
