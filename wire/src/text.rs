//! How single values are written.

use serde::{Serialize, Serializer};

/// A handle as the trace shows it: `"0x"` and the value in lower-case hexadecimal without leading zeros.
pub fn handle(h: u64) -> String {
    format!("{h:#x}")
}

/// A version of Vulkan's API as `major.minor.patch`.
pub fn api_version(version: u32) -> String {
    use ash::vk;
    format!("{}.{}.{}", vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version))
}

/// A float for a record. JSON has no non-finite numbers: they become the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.
#[derive(Clone, Copy, Debug)]
pub struct Float(pub f32);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            // By its own digits: 0.6 as a wider number would read 0.6000000238418579. The wider number nearest to the digits is
            // narrowed to the same float again.
            serializer.serialize_f64(self.0.to_string().parse().unwrap_or_else(|_| self.0.into()))
        } else if self.0.is_nan() {
            serializer.serialize_str("NaN")
        } else if self.0 > 0.0 {
            serializer.serialize_str("Infinity")
        } else {
            serializer.serialize_str("-Infinity")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Float;

    #[test]
    fn floats_have_their_own_digits_and_come_back() {
        let text = |value| serde_json::to_string(&serde_json::to_value(Float(value)).unwrap()).unwrap();
        for (value, digits) in [(0.6, "0.6"), (-0.1, "-0.1"), (16.0, "16.0"), (1e-9, "1e-9"), (-0.0, "-0.0")] {
            assert_eq!(text(value), digits);
        }
        assert_eq!(
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(text),
            ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""]
        );
        // Every exponent with bits of all kinds behind it.
        let bits = (0..=0xff_u32)
            .flat_map(|exponent| [0, 1, 0x2a_aaaa, 0x55_5555, 0x7f_ffff].map(|rest| exponent << 23 | rest).into_iter());
        for value in bits.map(f32::from_bits).filter(|value| value.is_finite()) {
            let back: f64 = serde_json::from_str(&text(value)).unwrap();
            assert_eq!((back as f32).to_bits(), value.to_bits(), "{value}");
        }
    }
}
