//! The devices that come with samplin, by the names that people type: one table for the layer and for the tool.

use crate::settings::nearest;

/// Calls a macro with each shipped device: the short name, and the name of its file in `devices/` without the ending.
#[macro_export]
macro_rules! shipped_devices {
    ($with:ident) => {
        $with! {
            "adreno-506" => "qualcomm-adreno-506-android",
            "adreno-540" => "qualcomm-adreno-540-android",
            "adreno-650" => "qualcomm-adreno-650-android",
            "adreno-750" => "qualcomm-adreno-750-turnip",
            "adreno-830" => "qualcomm-adreno-830-android",
            "apple-a8" => "apple-a8-moltenvk",
            "apple-a12" => "apple-a12-moltenvk",
            "apple-m1" => "apple-m1-moltenvk-1.2.11",
            "apple-m2" => "apple-m2-honeykrisp",
            "gtx-650ti" => "nvidia-gtx650ti-windows",
            "hd-620" => "intel-hd620-windows",
            "llvmpipe" => "llvmpipe-mesa-22.3-debian12",
            "mali-g57" => "arm-mali-g57-android",
            "mali-g610" => "arm-mali-g610-panvk",
            "mali-g720" => "arm-mali-g720-android",
            "mali-t830" => "arm-mali-t830-android",
            "powervr-bxm" => "imgtec-powervr-bxm-8-256-android",
            "powervr-ge8320" => "imgtec-powervr-ge8320-android",
            "rtx-5080" => "nvidia-rtx5080-windows",
            "rx-580" => "amd-polaris10-radv-25.0",
            "rx-5700xt" => "amd-rx5700xt-windows",
            "swiftshader" => "google-swiftshader-llvm16",
            "v3d-4.2" => "broadcom-v3d-4.2-v3dv",
            "v3d-7.1" => "broadcom-v3d-7.1-v3dv",
            "verisilicon" => "verisilicon-gc-debian",
            "xclipse-940" => "samsung-xclipse-940-android",
        }
    };
}

/// A device that comes with samplin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// What people type.
    pub short: &'static str,
    /// The file's name without its ending.
    pub name: &'static str,
}

macro_rules! names {
    ($($short:literal => $name:literal,)+) => {
        /// Every shipped device.
        pub const SHIPPED: &[Shipped] = &[$(Shipped { short: $short, name: $name },)+];
    };
}

shipped_devices!(names);

/// Why a name means no device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

/// Whether `part` occurs in `name` as whole words between dashes.
pub(crate) fn has_words(name: &str, part: &str) -> bool {
    format!("-{name}-").contains(&format!("-{part}-"))
}

/// The shipped device that a short name, a file's name or a part of one means, whatever the case.
///
/// # Errors
///
/// When nothing or too much fits.
pub fn find(wanted: &str) -> Result<&'static Shipped, Unknown> {
    let lower = wanted.to_ascii_lowercase();
    if let Some(exact) = SHIPPED.iter().find(|shipped| shipped.short == lower || shipped.name == lower) {
        return Ok(exact);
    }
    let fits = |how: &dyn Fn(&str) -> bool| -> Vec<&'static Shipped> {
        SHIPPED.iter().filter(|shipped| how(shipped.name) || how(shipped.short)).collect()
    };
    let mut fitting = fits(&|name| has_words(name, &lower));
    if fitting.is_empty() && lower.len() >= 3 {
        fitting = fits(&|name| name.contains(&lower));
    }
    let list = |of: &[&Shipped]| of.iter().map(|shipped| shipped.short).collect::<Vec<_>>().join(", ");
    match fitting.as_slice() {
        [one] => Ok(one),
        [] => {
            let shorts: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.short).collect();
            let near = nearest(&lower, &shorts).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
            let all = shorts.join(", ");
            Err(Unknown {
                message: format!("no device is called {wanted}"),
                hint: format!("{near}there are {all}; or name a capability file"),
            })
        }
        several => {
            Err(Unknown { message: format!("{wanted} may be any of {}", list(several)), hint: "say which".into() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_name_means_its_device() {
        for shipped in SHIPPED {
            for spelled in [shipped.short.to_owned(), shipped.name.to_owned(), shipped.short.to_uppercase()] {
                assert_eq!(find(&spelled), Ok(shipped), "{spelled}");
            }
        }
    }

    #[test]
    fn a_slip_is_answered_with_what_was_meant() {
        let said = |wanted| find(wanted).unwrap_err();
        assert!(said("aple-a12").hint.starts_with("did you mean apple-a12? "), "{:?}", said("aple-a12"));
        assert_eq!(said("voodoo").message, "no device is called voodoo");
        assert!(said("voodoo").hint.starts_with("there are adreno-506, "));
        assert_eq!(said("v3d").message, "v3d may be any of v3d-4.2, v3d-7.1");
        assert_eq!(find("polaris").map(|shipped| shipped.short), Ok("rx-580"));
    }
}
