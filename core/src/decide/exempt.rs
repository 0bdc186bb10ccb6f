//! Repairs that the user has switched off, as a set of rows of the catalogue.

use alloc::vec::Vec;

use super::Catalog;

const WORDS: usize = Catalog::ALL.len().div_ceil(64);

/// Rows of the catalogue that change nothing: what they forbid stays as the application asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exempt([u64; WORDS]);

/// Whether a row repairs a sampler, a conversion or a blit, so that it may be switched off. What only another view mends is not repaired
/// and loses nothing. The address modes of OpenGL are no repair: no driver knows them.
fn is_repair(row: Catalog) -> bool {
    let is_of_samplers = row.id().starts_with(['A', 'B', 'C']) && !row.lost().is_empty();
    is_of_samplers || ["S-2", "S-5", "S-6"].contains(&row.id())
}

/// Whether a row judges a create info by itself. Without it, the layer would create objects that no view makes legal.
fn is_of_creation(row: Catalog) -> bool {
    row.id().starts_with('A')
}

impl Exempt {
    /// Nothing is switched off.
    pub const NONE: Self = Self([0; WORDS]);

    fn of(meant: impl Fn(Catalog) -> bool) -> Self {
        let mut out = Self::NONE;
        for row in Catalog::ALL.iter().filter(|row| is_repair(**row) && meant(**row)) {
            if let Some(word) = out.0.get_mut(*row as usize / 64) {
                *word |= 1 << (*row as usize % 64);
            }
        }
        out
    }

    /// Every repair.
    pub fn all() -> Self {
        Self::of(|_| true)
    }

    /// The repairs of a rule by its name (`linear-filter`), or of one row by its id in the catalogue (`B-1`).
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::of(|row| row.rule().name() == name || row.id().eq_ignore_ascii_case(name));
        (!found.is_empty()).then_some(found)
    }

    /// The names of the rules that [`Exempt::named`] knows.
    pub fn names() -> Vec<&'static str> {
        let mut names = Vec::new();
        for name in Catalog::ALL.iter().filter(|row| is_repair(**row)).map(|row| row.rule().name()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Whether nothing is switched off.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// Whether a row is switched off.
    pub fn contains(&self, row: Catalog) -> bool {
        self.0.get(row as usize / 64).is_some_and(|word| word >> (row as usize % 64) & 1 == 1)
    }

    /// What either of the two switches off.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let mut out = self;
        for (word, more) in out.0.iter_mut().zip(other.0) {
            *word |= more;
        }
        out
    }

    /// Of these what a view decides about, and nothing that a create info breaks by itself.
    #[must_use]
    pub fn of_views(self) -> Self {
        if self.is_empty() {
            return self;
        }
        let of_views = Self::of(|row| !is_of_creation(row));
        let mut out = self;
        for (word, mask) in out.0.iter_mut().zip(of_views.0) {
            *word &= mask;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_is_named_by_rule_and_by_id() {
        let linear = Exempt::named("linear-filter").unwrap();
        assert!(linear.contains(Catalog::B1) && linear.contains(Catalog::B16) && !linear.contains(Catalog::B2));
        let one = Exempt::named("b-1").unwrap();
        assert!(one.contains(Catalog::B1) && !one.contains(Catalog::B16));
        // What only another view mends is named, whoever switches repairs off.
        let compare = Exempt::named("compare").unwrap();
        assert!(compare.contains(Catalog::B30) && !compare.contains(Catalog::B33) && !compare.contains(Catalog::B35));
        for other in ["gl-clamp", "override", "view-usage", "unsupported-format", "B-33", "O-1", "S-4", "nothing", ""] {
            assert_eq!(Exempt::named(other), None, "{other}");
        }
        assert!(Exempt::names().iter().all(|name| Exempt::named(name).is_some()));
        let every = Exempt::names().iter().filter_map(|name| Exempt::named(name)).fold(Exempt::NONE, Exempt::union);
        assert_eq!(every, Exempt::all());
    }

    #[test]
    fn what_a_view_decides_is_apart_from_creation() {
        let all = Exempt::all();
        assert!(all.contains(Catalog::A6) && all.contains(Catalog::C1) && !all.contains(Catalog::GlClamp));
        assert!(all.of_views().contains(Catalog::B1) && !all.of_views().contains(Catalog::A6));
        assert!(Exempt::NONE.of_views().is_empty());
    }
}
