//! The rules: each is one file, which has its page, its rows of the catalogue, and why a row applied and what it loses.
//!
//! The doc comment in `rule!` is the page: `samplin explain` prints it, and `docs/reference/rules/` has it. Names of rules are a stable
//! interface: traces, rules files and `samplin check` match on them. Code that one rule alone needs is in its file as well; steps that look at
//! several rules at once (`filter`, `border`, `address`, `sanitize`, `usage`) are beside this folder.

use alloc::{borrow::ToOwned, format, string::String};

use super::lost::Lost;
use super::{Change, Context, Field, RuleSource};

/// Declares a rule:
///
/// ```text
/// rule! { ($)
///     /// When it applies, in one sentence.
///     ///
///     /// ## The specification …
///     file_name Name "stable-name" lost_by function {
///         Row "A-1" Vuid("VUID-…") lost "what is lost", because "why it applied, in one clause";
///     }
/// }
/// ```
///
/// The source of a row is a valid-usage id (`Vuid`), chapter and heading of the specification (`Text`), or samplin's own (`Layer`).
/// In place of `because` stands `lacks "BIT"` for a bit of the format, `disabled "feature"`, or `by function` of the change and its
/// context. `lost_by` names a function for what is lost under conditions. The macro makes another one, with the name of the file, which
/// adds the rule to those of the files before it. It needs the dollar sign for that.
macro_rules! rule {
    (($d:tt) $(#[doc = $line:literal])+ $file:ident $rule:ident $name:literal $(lost_by $lost:ident)? { $($rows:tt)* }) => {
        /// The page of the rule, as its doc comment has it.
        pub(super) const PAGE: &str = concat!($($line, "\n"),+);

        macro_rules! $file {
            ($d then:ident [$d($d rest:ident)*] $d($d done:tt)*) => {
                $d then! { [$d($d rest)*] $d($d done)* { $file $rule $name [$($lost)?] $($rows)* } }
            };
        }
    };
}

/// Why a row applied.
enum Reason {
    Because(&'static str),
    Lacks(&'static str),
    Disabled(&'static str),
    By(fn(&Change, &Context<'_>) -> String),
}

macro_rules! reason {
    ($file:ident because $text:literal) => {
        Reason::Because($text)
    };
    ($file:ident lacks $bit:literal) => {
        Reason::Lacks($bit)
    };
    ($file:ident disabled $feature:literal) => {
        Reason::Disabled($feature)
    };
    ($file:ident by $function:ident) => {
        Reason::By($file::$function)
    };
}

/// What is lost under conditions.
macro_rules! condition {
    ($file:ident, $change:ident, $context:ident) => {
        None
    };
    ($file:ident $lost:ident, $change:ident, $context:ident) => {
        $file::$lost($change, $context).map(Lost::from)
    };
}

/// Collects the rules of the files that are named.
macro_rules! collect {
    ([$first:ident $($rest:ident)*] $($done:tt)*) => { $first! { collect [$($rest)*] $($done)* } };
    ([] $({
        $file:ident $rule:ident $name:literal [$($condition:ident)?]
        $($row:ident $id:literal $source:ident $(($at:literal))? lost $lost:literal, $how:ident $why:tt;)*
    })+) => {
        /// Name of a family of rules, the `rule` member of a change record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule { $(#[doc = concat!("`", $name, "`.")] $rule,)+ }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$rule,)+];

            /// The stable name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)+ }
            }

            /// Its page in Markdown: when it applies, and a section for each heading. A line is empty or begins with a blank. Outside of
            /// code one with three continues the line before it.
            pub const fn page(self) -> &'static str {
                match self { $(Self::$rule => $file::PAGE,)+ }
            }

            fn lost(self, change: &Change, context: &Context<'_>) -> Option<Lost> {
                match self { $(Self::$rule => condition!($file $($condition)?, change, context),)+ }
            }
        }

        /// One rule of the catalogue of sampling rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is its catalogue id")]
        pub enum Catalog { $($($row,)*)+ }

        impl Catalog {
            /// Every row.
            pub const ALL: &'static [Self] = &[$($(Self::$row,)*)+];

            /// Catalogue id, such as `B-1`.
            pub const fn id(self) -> &'static str {
                match self { $($(Self::$row => $id,)*)+ }
            }

            /// The family the row belongs to.
            pub const fn rule(self) -> Rule {
                match self { $($(Self::$row => Rule::$rule,)*)+ }
            }

            /// Where the rule stands.
            pub const fn source(self) -> RuleSource {
                match self { $($(Self::$row => RuleSource::$source $(($at))?,)*)+ }
            }

            /// What the application no longer gets.
            pub const fn lost(self) -> &'static str {
                match self { $($(Self::$row => $lost,)*)+ }
            }

            const fn reason(self) -> Reason {
                match self { $($(Self::$row => reason!($file $how $why),)*)+ }
            }
        }
    };
}

#[macro_use]
pub(super) mod address_mode;
#[macro_use]
pub(super) mod anisotropy;
#[macro_use]
pub(super) mod aspect;
#[macro_use]
pub(super) mod atomic_counters;
#[macro_use]
pub(super) mod blit_filter;
#[macro_use]
pub(super) mod border_budget;
#[macro_use]
pub(super) mod border_custom;
#[macro_use]
pub(super) mod border_format;
#[macro_use]
pub(super) mod border_swizzle;
#[macro_use]
pub(super) mod border_type;
#[macro_use]
pub(super) mod border_value;
#[macro_use]
pub(super) mod compare;
#[macro_use]
pub(super) mod cubic;
#[macro_use]
pub(super) mod declared_view;
#[macro_use]
pub(super) mod depth_compare;
#[macro_use]
pub(super) mod flags;
#[macro_use]
pub(super) mod gl_clamp;
#[macro_use]
pub(super) mod heap;
#[macro_use]
pub(super) mod image_usage;
#[macro_use]
pub(super) mod linear_filter;
#[macro_use]
pub(super) mod linear_mipmap;
#[macro_use]
pub(super) mod lod_bias;
#[macro_use]
pub(super) mod lod_range;
#[macro_use]
pub(super) mod minmax;
#[macro_use]
pub(super) mod mirror_clamp;
#[macro_use]
pub(super) mod overridden;
#[macro_use]
pub(super) mod reduction;
#[macro_use]
pub(super) mod sample_shading;
#[macro_use]
pub(super) mod sampler_budget;
#[macro_use]
pub(super) mod stencil;
#[macro_use]
pub(super) mod storage_access;
#[macro_use]
pub(super) mod storage_format;
#[macro_use]
pub(super) mod storage_unknown;
#[macro_use]
pub(super) mod unnormalized;
#[macro_use]
pub(super) mod unsupported_format;
#[macro_use]
pub(super) mod view_usage;
#[macro_use]
pub(super) mod ycbcr;

// In the order in which they are listed.
collect! { [
    linear_filter linear_mipmap minmax cubic stencil anisotropy lod_bias lod_range unnormalized mirror_clamp address_mode compare
    reduction border_type border_value border_format border_swizzle border_custom border_budget ycbcr flags sampler_budget
    blit_filter heap view_usage aspect unsupported_format declared_view image_usage storage_access storage_format storage_unknown
    sample_shading atomic_counters depth_compare gl_clamp overridden
] }

pub use border_budget::no_border_share;
pub use sample_shading::{AT_OFFSET, IN_PLACE, OF_SAMPLES};

impl Catalog {
    /// Valid-usage id the application's state breaks; `None` for rules that have none.
    pub const fn vuid(self) -> Option<&'static str> {
        match self.source() {
            RuleSource::Vuid(id) => Some(id),
            RuleSource::Text(_) | RuleSource::Layer => None,
        }
    }

    /// Whether a change of this row was made; wishes that were held back are reported and change nothing.
    pub fn is_made(self) -> bool {
        self.id() != "O-2"
    }

    /// Whether the shader divides coordinates in texels for it.
    pub fn is_divided(self) -> bool {
        self.id() == "S-5"
    }
}

/// Why a rule applied, in one clause with the facts of the case.
pub fn because(change: &Change, context: &Context<'_>) -> String {
    match change.catalog.reason() {
        Reason::Because(text) => text.to_owned(),
        Reason::Lacks(bit) => context.lacks(bit),
        Reason::Disabled(feature) => not_enabled(feature),
        Reason::By(of) => of(change, context),
    }
}

/// What is lost under the conditions of the case; without them it is what the row says.
pub(super) fn lost_here(change: &Change, context: &Context<'_>) -> Lost {
    change.catalog.rule().lost(change, context).unwrap_or_else(|| change.catalog.lost().into())
}

/// Whether a change of the LOD is what a shader makes up for.
fn is_of_shader(field: Field) -> bool {
    matches!(field, Field::MipLodBias | Field::MinLod | Field::MaxLod)
}

fn not_enabled(feature: &str) -> String {
    format!("{feature} is not enabled")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_rule_is_one_file() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/decide/rules");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().replace('_', "-"))
            .collect();
        // The word is reserved.
        let name = |rule: &Rule| rule.name().replace("override", "overridden");
        assert_eq!(files, Rule::ALL.iter().map(name).collect());
    }

    #[test]
    fn a_page_begins_with_when_the_rule_applies() {
        for rule in Rule::ALL {
            let (first, rest) = rule.page().split_once("\n\n").unwrap_or_default();
            let first = first.replace("\n   ", " ");
            let is_sentence = first.starts_with(' ') && first.ends_with('.') && !first.contains('\n');
            assert!(is_sentence && rest.starts_with(" ## The specification\n"), "{}: {first}", rule.name());
        }
    }
}
