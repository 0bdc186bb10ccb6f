//! Drivers whose quirks were measured: the files of `manifest/quirks/`, which `samplin prove --quirks` writes.

use samplin_core::quirk::{Quirk, Quirks};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::overrides::Glob;

/// The files, with what they are called without the ending.
const FILES: [(&str, &str); 4] = [
    ("lavapipe-22", include_str!("../../manifest/quirks/lavapipe-22.toml")),
    ("lavapipe-25", include_str!("../../manifest/quirks/lavapipe-25.toml")),
    ("nvidia-580", include_str!("../../manifest/quirks/nvidia-580.toml")),
    ("swiftshader", include_str!("../../manifest/quirks/swiftshader.toml")),
];

/// What a driver says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// `VkPhysicalDeviceDriverProperties::driverID`; 0 is nobody's.
    pub driver_id: i32,
    /// `VkPhysicalDeviceProperties::driverVersion`.
    pub version: u32,
    /// `VkPhysicalDeviceDriverProperties::driverInfo`.
    pub info: &'a str,
}

/// A driver whose quirks are known.
#[derive(Clone, Debug)]
pub struct Known {
    /// The name of its file.
    pub file: &'static str,
    /// `driverName`.
    pub driver: String,
    /// The device and the versions that were measured.
    pub measured_on: String,
    /// The command that measured.
    pub measured_with: String,
    /// What the driver has, with what was observed.
    pub quirks: Vec<(Quirk, String)>,
    driver_id: i32,
    versions: (u32, u32),
    info: Option<Glob>,
}

impl Known {
    /// Those of the files.
    pub fn all() -> impl Iterator<Item = Self> {
        FILES.into_iter().filter_map(|(name, text)| Self::parse(name, text).ok())
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn parse(file: &'static str, text: &str) -> Result<Self, String> {
        let table = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
        let table = table.get_ref();
        let text_of = |key: &str| {
            let text = value(table, key).and_then(DeValue::as_str);
            text.map(str::to_owned).ok_or_else(|| format!("{key} must be a string"))
        };
        let part =
            |key: &str| value(table, key).and_then(DeValue::as_table).ok_or_else(|| format!("{key} must be a table"));
        let (versions, quirks) = (part("versions")?, part("quirks")?);
        let quirk = |(name, observed): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let name = name.get_ref();
            let quirk = Quirk::named(name).ok_or_else(|| format!("there is no quirk {name}"))?;
            let observed = observed.get_ref().as_str().ok_or_else(|| format!("{name} must be a string"))?;
            Ok::<_, String>((quirk, observed.to_owned()))
        };
        let mut quirks = quirks.iter().map(quirk).collect::<Result<Vec<_>, _>>()?;
        quirks.sort();
        Ok(Self {
            file,
            driver: text_of("driver")?,
            measured_on: text_of("measured_on")?,
            measured_with: text_of("measured_with")?,
            quirks,
            driver_id: number(table, "driver_id")?.cast_signed(),
            versions: (number(versions, "min")?, number(versions, "max")?),
            info: text_of("info").ok().map(Glob::new),
        })
    }

    /// Whether it is this driver.
    fn is(&self, driver: &Identity<'_>) -> bool {
        self.driver_id == driver.driver_id
            && (self.versions.0..=self.versions.1).contains(&driver.version)
            && self.info.as_ref().is_none_or(|info| info.matches(driver.info))
    }
}

fn value<'a, 'i>(of: &'a DeTable<'i>, key: &str) -> Option<&'a DeValue<'i>> {
    of.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
}

fn number(of: &DeTable<'_>, key: &str) -> Result<u32, String> {
    let number = match value(of, key) {
        Some(DeValue::Integer(number)) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    number.ok_or_else(|| format!("{key} must be a whole number"))
}

/// What a driver is known to do.
pub fn of_driver(driver: &Identity<'_>) -> Quirks {
    let known = Known::all().filter(|known| known.is(driver));
    known.flat_map(|known| known.quirks).fold(Quirks::default(), |all, (quirk, _)| all.with(quirk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_says_whose_quirks_it_has_and_how_they_were_measured() {
        for (name, text) in FILES {
            let known = Known::parse(name, text).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(!known.quirks.is_empty() && known.versions.0 <= known.versions.1, "{name}");
            let measured = [&known.measured_on, &known.measured_with];
            assert!(measured.iter().all(|text| !text.is_empty()), "{name}");
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../manifest/quirks");
        let there = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(there, FILES.len(), "a file of {folder} that is not built in");
    }

    #[test]
    fn drivers_are_told_apart_by_id_version_and_build() {
        let lavapipe = |info| of_driver(&Identity { driver_id: 13, version: 1, info });
        let gather = Quirk::INTEGER_GATHER_LINEAR_READS_1;
        assert!(lavapipe("Mesa 25.0.7-2 (LLVM 15.0.6)").has(gather));
        assert!(!lavapipe("Mesa 22.3.6 (LLVM 15.0.6)").has(gather));
        assert!(lavapipe("Mesa 22.3.6 (LLVM 15.0.6)").has(Quirk::LINEAR_NEEDS_NO_BIT));
        assert_eq!(lavapipe("Mesa 99.0.0"), Quirks::default());
        let swiftshader = |version| of_driver(&Identity { driver_id: 10, version, info: "" });
        assert!(swiftshader(0x0140_0000).has(Quirk::BOTH_ASPECTS_READ_WRONG));
        assert_eq!(swiftshader(0x0180_0000), Quirks::default());
        assert_eq!(of_driver(&Identity { driver_id: 0, version: 1, info: "Mesa 22.3.6" }), Quirks::default());
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let whole = FILES[0].1;
        let said = |from: &str, to: &str| Known::parse("x", &whole.replace(from, to)).unwrap_err();
        assert_eq!(said("linear-needs-no-bit =", "no-such = "), "there is no quirk no-such");
        assert_eq!(said("driver_id = 13", "driver_id = \"13\""), "driver_id must be a whole number");
        assert_eq!(said("[quirks]", "[quirk]"), "quirks must be a table");
    }
}
