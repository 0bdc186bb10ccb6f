//! What drivers are known to do where Vulkan leaves the result open, or against it: one table of names and what they mean.

/// One quirk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quirk(u8);

/// A row: the name in files, what it means, and settings that are others by default on a device that has it.
struct Row {
    name: &'static str,
    means: &'static str,
    defaults: &'static [(&'static str, &'static str)],
}

macro_rules! quirks {
    ($(#[doc = $means:literal] $constant:ident = $name:literal $(=> $($setting:literal = $value:literal),+)?;)+) => {
        const ROWS: &[Row] = &[
            $(Row { name: $name, means: $means.trim_ascii(), defaults: &[$($(($setting, $value)),+)?] },)+
        ];
        quirks!(@constants 0; $($means $constant)+);
    };
    (@constants $at:expr; $means:literal $constant:ident $($rest:tt)*) => {
        impl Quirk {
            #[doc = $means]
            pub const $constant: Self = Self($at);
        }
        quirks!(@constants $at + 1; $($rest)*);
    };
    (@constants $at:expr;) => {};
}

quirks! {
    /// Anisotropy blends texels where both filters are NEAREST.
    ANISOTROPY_SMOOTHS_NEAREST = "anisotropy-smooths-nearest" => "aniso_nearest" = "off";
    /// `vkCreateSampler` crashes if `maxAnisotropy` is less than 1 or not a number.
    ANISOTROPY_BELOW_ONE_CRASHES = "anisotropy-below-one-crashes";
    /// A lookup by LINEAR returns something between the texels of an integer format.
    LINEAR_BLENDS_INTEGERS = "linear-blends-integers";
    /// LINEAR filters as specified on formats that lack `SAMPLED_IMAGE_FILTER_LINEAR` and hold no integers.
    LINEAR_NEEDS_NO_BIT = "linear-needs-no-bit";
    /// A gather by LINEAR returns 1 for the texels of an integer format.
    INTEGER_GATHER_LINEAR_READS_1 = "integer-gather-linear-reads-1";
    /// The border `INT_OPAQUE_WHITE` reads 0 through a view of floats.
    INT_BORDER_WHITE_READS_0 = "int-border-white-reads-0";
    /// The border `FLOAT_OPAQUE_WHITE` reads as the bits of 1.0 through a view of integers.
    FLOAT_BORDER_WHITE_READS_BITS = "float-border-white-reads-bits";
    /// The border `FLOAT_OPAQUE_BLACK` has another colour on some format with four bits a channel.
    OPAQUE_BLACK_4444 = "opaque-black-4444";
    /// An instruction that compares works as specified on a colour format without `SAMPLED_IMAGE_DEPTH_COMPARISON`.
    COMPARE_NEEDS_NO_BIT = "compare-needs-no-bit";
    /// A view of depth and stencil shows something else than the depth to a shader that reads floats.
    BOTH_ASPECTS_READ_WRONG = "both-aspects-read-wrong";
    /// Storage images convert floats of less than 32 bits otherwise than Vulkan allows.
    SMALL_FLOATS_STORED_WRONG = "small-floats-stored-wrong";
}

impl Quirk {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ROWS.len()).filter_map(|index| u8::try_from(index).ok()).map(Self)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|quirk| quirk.name() == name)
    }

    fn row(self) -> &'static Row {
        &ROWS[usize::from(self.0)]
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What a driver that has it does, in a sentence.
    pub fn means(self) -> &'static str {
        self.row().means
    }
}

/// A set of quirks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quirks(u32);

const _: () = assert!(ROWS.len() <= 32, "a bit for each quirk");

impl Quirks {
    /// Those of these names. Others say nothing.
    pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        names.filter_map(Quirk::named).fold(Self::default(), Self::with)
    }

    /// These and another one.
    #[must_use]
    pub const fn with(self, quirk: Quirk) -> Self {
        Self(self.0 | 1 << quirk.0)
    }

    /// Whether it is among them.
    pub const fn has(self, quirk: Quirk) -> bool {
        self.0 >> quirk.0 & 1 == 1
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::all().filter(move |quirk| self.has(*quirk))
    }

    /// Settings that are others by default on a device that has these.
    pub fn defaults(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.iter().flat_map(|quirk| quirk.row().defaults.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_and_mean_something() {
        let names: std::collections::BTreeSet<&str> = Quirk::all().map(Quirk::name).collect();
        assert_eq!(names.len(), ROWS.len());
        for quirk in Quirk::all() {
            assert_eq!(Quirk::named(quirk.name()), Some(quirk));
            assert!(quirk.means().ends_with('.') && !quirk.means().starts_with(' '), "{}", quirk.means());
        }
        let some = Quirks::named(["opaque-black-4444", "no such quirk"].into_iter());
        assert_eq!(some.iter().collect::<Vec<_>>(), [Quirk::OPAQUE_BLACK_4444]);
    }

    #[test]
    fn a_quirk_changes_defaults() {
        let defaults = |quirk| Quirks::default().with(quirk).defaults().collect::<Vec<_>>();
        assert_eq!(defaults(Quirk::ANISOTROPY_SMOOTHS_NEAREST), [("aniso_nearest", "off")]);
        assert_eq!(defaults(Quirk::LINEAR_BLENDS_INTEGERS), []);
    }
}
