//! Every way of switching the layer on and off, proved on the Vulkan loader that this process would load.
//!
//! Each case starts the test program again as a small Vulkan application ([`probe`]) with an environment of its own, and
//! looks at three things: whether the library is mapped into that process, the layers the loader says it chained, and the
//! trace. Where loaders differ, both behaviours are asserted, by loader version. `LD_LIBRARY_PATH` picks the loader.

use ash::vk;
use samplin_testkit::{again, layer, skip};
use serde_json::Value;
use std::ffi::{CStr, CString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the application enables.
const PROBE_VARIABLE: &str = "SAMPLIN_TEST_PROBE";
/// What the probe puts in front of the lines it reports.
const REPORT: &str = "probe: ";
/// Set along with [`PROBE_VARIABLE`] when the probe is to chain this value of the setting `mode`.
const CHAINED_MODE_VARIABLE: &str = "SAMPLIN_TEST_PROBE_MODE";

/// First loader that honours the order of `VK_INSTANCE_LAYERS` again (1.3.234 had lost it).
const ORDER_HONOURED: u32 = vk::make_api_version(0, 1, 3, 247);
/// First loader that knows `VK_EXT_layer_settings`; older ones refuse instance extensions that they do not know.
const SETTINGS_KNOWN: u32 = vk::make_api_version(0, 1, 3, 272);
/// First loader that lets `VK_INSTANCE_LAYERS` name and order an implicit layer.
const IMPLICIT_BY_NAME: u32 = vk::make_api_version(0, 1, 4, 326);
/// The loader of Debian 12, whose behaviour is asserted where later ones differ.
const DEBIAN_12: u32 = vk::make_api_version(0, 1, 3, 239);

// --- the application ------------------------------------------------------------------------------------------------

/// Not a test by itself: the application that the other tests start. Comma-separated layer names in [`PROBE_VARIABLE`]
/// (or `-` for none) go to `ppEnabledLayerNames`; a name with the prefix `VK_EXT_` is an instance extension.
#[test]
fn probe() {
    if again::plays("probe") {
        application();
        again::tell(Ok(()));
    }
}

fn application() {
    let names = std::env::var_os(PROBE_VARIABLE).expect("the other process says which");
    let names = names.into_string().expect("names are UTF-8");
    let names: Vec<CString> =
        names.split(',').filter(|name| *name != "-").map(|name| CString::new(name).expect("no NUL")).collect();
    let (extensions, layers): (Vec<_>, Vec<_>) =
        names.iter().map(|name| name.as_c_str()).partition(|name| name.to_bytes().starts_with(b"VK_EXT_"));
    let pointers = |names: Vec<&CStr>| names.into_iter().map(CStr::as_ptr).collect::<Vec<_>>();
    let (extensions, layers) = (pointers(extensions), pointers(layers));

    // SAFETY: the library's initialisers are the loader's own; it stays loaded until the process ends.
    let entry = unsafe { ash::Entry::load() }.expect("a Vulkan loader");
    // SAFETY: the command has no preconditions.
    let version = unsafe { entry.try_enumerate_instance_version() }.expect("a version").unwrap_or(vk::API_VERSION_1_0);
    println!("{REPORT}loader {version}");

    let application = vk::ApplicationInfo::default().application_name(c"samplin-loader-probe").api_version(
        // The highest the loader knows, so that it has reason to warn about layers that know less.
        version,
    );
    let mode = std::env::var(CHAINED_MODE_VARIABLE).ok().map(|mode| CString::new(mode).expect("no NUL"));
    let values = [mode.as_ref().map_or(std::ptr::null(), |mode| mode.as_ptr())];
    let settings = [vk::LayerSettingEXT {
        p_layer_name: c"VK_LAYER_SAMPLIN_sampling".as_ptr(),
        p_setting_name: c"mode".as_ptr(),
        ty: vk::LayerSettingTypeEXT::STRING,
        value_count: 1,
        p_values: values.as_ptr().cast(),
        ..Default::default()
    }];
    let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    if mode.is_some() {
        info = info.push_next(&mut settings);
    }
    // SAFETY: every pointer in `info` lives until after the call.
    let instance = match unsafe { entry.create_instance(&info, None) } {
        Ok(instance) => instance,
        Err(error) => {
            println!("{REPORT}refused {error:?}");
            return;
        }
    };
    match layer::loaded_library() {
        Some(path) => println!("{REPORT}mapped {}", path.display()),
        None => println!("{REPORT}not mapped"),
    }

    // SAFETY: `instance` is alive.
    let physical = unsafe { instance.enumerate_physical_devices() }.expect("physical devices")[0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    let device_info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: `physical` came from `instance`; every device has a queue family 0.
    let device = unsafe { instance.create_device(physical, &device_info, None) }.expect("a device");
    // minLod above maxLod: illegal on every device (VUID-VkSamplerCreateInfo-maxLod-01973), harmless to every driver.
    let sampler_info = vk::SamplerCreateInfo::default().min_lod(2.0).max_lod(1.0);
    // SAFETY: the violation above is what this program is for; nothing is sampled.
    unsafe {
        let sampler = device.create_sampler(&sampler_info, None).expect("a sampler");
        device.destroy_sampler(sampler, None);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
    println!("{REPORT}done");
}

// --- starting it ----------------------------------------------------------------------------------------------------

/// An environment for one run of the application: a home of its own, and none of the variables that steer layers.
struct Run {
    home: PathBuf,
    command: Command,
}

/// What one run showed.
struct Outcome {
    /// Version of the loader.
    loader: u32,
    /// The layer's library is mapped into the process.
    mapped: bool,
    /// Layers of the instance, the application's end first.
    chain: Vec<String>,
    /// The trace, empty when there is none.
    trace: Vec<Value>,
    /// What the loader wrote.
    stderr: String,
}

impl Run {
    /// `name` is unique among the tests of this file.
    fn new(name: &str) -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loader").join(name);
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).expect("a folder for the test");
        let mut command = again::test(&again::program(), "probe");
        for (key, _) in std::env::vars_os() {
            let key = key.to_string_lossy();
            let steers =
                ["VK_", "SAMPLIN_", "ENABLE_", "DISABLE_", "XDG_"].iter().any(|prefix| key.starts_with(prefix));
            if steers && !matches!(&*key, "VK_ICD_FILENAMES" | "VK_DRIVER_FILES") {
                command.env_remove(&*key);
            }
        }
        command
            .env("HOME", &home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("SAMPLIN_TRACE", home.join("trace.jsonl"))
            .env("VK_LOADER_DEBUG", "error,warn,layer")
            .env(PROBE_VARIABLE, "-");
        Self { home, command }
    }

    fn env(mut self, key: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// The application enables these layers or instance extensions itself.
    fn names(self, names: &[&str]) -> Self {
        self.env(PROBE_VARIABLE, names.join(","))
    }

    /// The explicit manifest of the library under test is found through `VK_LAYER_PATH`.
    fn layer_path(self) -> Self {
        let folder = layer::locate().expect("the layer under test");
        self.env("VK_LAYER_PATH", folder)
    }

    /// Installs `manifest/VkLayer_samplin.{kind}.json` as it stands in the user's data folder, and the library where the
    /// dynamic linker looks.
    fn installed(self, kind: &str) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("manifest/VkLayer_samplin.{kind}.json"));
        let folder = self.home.join(format!("data/vulkan/{kind}_layer.d"));
        fs::create_dir_all(&folder).expect("a manifest folder");
        fs::copy(&source, folder.join("VkLayer_samplin.json")).expect("a copied manifest");
        let mut search = vec![library().parent().expect("the library has a folder").to_owned()];
        if let Some(present) = std::env::var_os("LD_LIBRARY_PATH") {
            search.extend(std::env::split_paths(&present));
        }
        self.env("LD_LIBRARY_PATH", std::env::join_paths(search).expect("folders without colons"))
    }

    /// The probe's reports and the loader's messages.
    fn reports(&mut self) -> (Vec<String>, String) {
        let ended = again::run(&mut self.command).expect("it skips nothing");
        let reports =
            ended.stdout.lines().filter_map(|line| Some(line[line.find(REPORT)? + REPORT.len()..].to_owned()));
        (reports.collect(), ended.stderr)
    }

    /// Runs an application that gets no instance, and returns the `VkResult`.
    fn refused(mut self) -> String {
        let (reports, stderr) = self.reports();
        let refusal = reports.iter().find_map(|line| line.strip_prefix("refused "));
        refusal.unwrap_or_else(|| panic!("an instance was created:\n{stderr}")).to_owned()
    }

    fn start(mut self) -> Outcome {
        let (reports, stderr) = self.reports();
        assert!(reports.iter().any(|line| line == "done"), "is a Vulkan driver installed? {reports:?}\n{stderr}");
        let loader = reports.iter().find_map(|line| line.strip_prefix("loader ")).expect("a loader version");
        let mapped = reports.iter().find_map(|line| line.strip_prefix("mapped "));
        if let Some(mapped) = mapped {
            let (mapped, built) = (fs::canonicalize(mapped), fs::canonicalize(library()));
            assert_eq!(mapped.ok(), built.ok(), "another library than the one under test was loaded");
        }
        let trace = fs::read_to_string(self.home.join("trace.jsonl")).unwrap_or_default();
        Outcome {
            loader: loader.parse().expect("a number"),
            mapped: mapped.is_some(),
            chain: instance_chain(&stderr),
            trace: trace.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect(),
            stderr,
        }
    }
}

impl Outcome {
    fn events(&self, event: &str) -> Vec<&Value> {
        self.trace.iter().filter(|record| record["event"] == event).collect()
    }

    /// Changes of the probe's one sampler.
    fn repairs(&self) -> usize {
        self.events("sampler")
            .iter()
            .filter_map(|record| record["changes"].as_array())
            .flatten()
            .filter(|change| change["rule"] == "lod-range")
            .count()
    }

    /// The setting as the `layer` record has it.
    fn setting(&self, key: &str) -> &Value {
        &self.events("layer").first().expect("a layer record")["settings"][key]
    }

    #[track_caller]
    fn assert_on(&self) {
        assert!(self.mapped, "the library is not loaded:\n{}", self.stderr);
        assert!(self.chain.iter().any(|name| name == layer::SAMPLIN), "not in the chain {:?}", self.chain);
        assert_eq!(self.events("layer").len(), 1, "no layer record: {:?}", self.trace);
        assert!(self.repairs() > 0, "the illegal sampler was not repaired: {:?}", self.trace);
    }

    /// Whether samplin is nearer the application than validation, or nothing where that is not installed.
    #[track_caller]
    fn is_above_validation(&self) -> Option<bool> {
        self.assert_on();
        let position = |wanted: &str| self.chain.iter().position(|name| name == wanted);
        let Some(validation) = position(layer::VALIDATION) else {
            skip("the Khronos validation layer is not installed");
            return None;
        };
        position(layer::SAMPLIN).map(|samplin| samplin < validation)
    }

    #[track_caller]
    fn assert_off(&self) {
        assert!(!self.mapped, "the library is loaded:\n{}", self.stderr);
        assert!(!self.chain.iter().any(|name| name == layer::SAMPLIN), "in the chain {:?}", self.chain);
        assert!(self.trace.is_empty(), "there is a trace: {:?}", self.trace);
    }
}

/// The library under test: what the manifest in `SAMPLIN_LAYER_DIR` names, else the one built along with this test.
fn library() -> PathBuf {
    let Some(folder) = std::env::var_os(layer::LAYER_DIR_VARIABLE).filter(|folder| !folder.is_empty()) else {
        return layer::built_library().expect("the built library");
    };
    let folder = PathBuf::from(folder);
    let text = fs::read_to_string(folder.join("layer.json")).expect("layer.json in SAMPLIN_LAYER_DIR");
    let manifest: Value = serde_json::from_str(&text).expect("layer.json is JSON");
    folder.join(manifest["layer"]["library_path"].as_str().expect("a library_path"))
}

/// Names in the first "vkCreateInstance layer callstack" that a loader prints with `VK_LOADER_DEBUG=layer`.
fn instance_chain(log: &str) -> Vec<String> {
    log.lines()
        .skip_while(|line| !line.contains("vkCreateInstance layer callstack"))
        .take_while(|line| !line.contains("<Drivers>"))
        .filter_map(|line| line.rsplit_once("LAYER:")?.1.trim().strip_prefix("VK_LAYER_"))
        .map(|rest| format!("VK_LAYER_{rest}"))
        .collect()
}

// --- on -------------------------------------------------------------------------------------------------------------

#[test]
fn found_but_not_named_is_off() {
    Run::new("unnamed").layer_path().start().assert_off();
}

#[test]
fn instance_layers_variable_switches_on() {
    Run::new("instance-layers").layer_path().env("VK_INSTANCE_LAYERS", layer::SAMPLIN).start().assert_on();
}

#[test]
fn installed_explicit_manifest_switches_on() {
    Run::new("installed").installed("explicit").env("VK_INSTANCE_LAYERS", layer::SAMPLIN).start().assert_on();
    Run::new("installed-unnamed").installed("explicit").start().assert_off();
}

#[test]
fn filter_variable_switches_on() {
    Run::new("filter").layer_path().env("VK_LOADER_LAYERS_ENABLE", layer::SAMPLIN).start().assert_on();
    Run::new("filter-glob").layer_path().env("VK_LOADER_LAYERS_ENABLE", "*samplin*").start().assert_on();
    Run::new("filter-other").layer_path().env("VK_LOADER_LAYERS_ENABLE", "*samplinx*").start().assert_off();
    // An implicit manifest needs no enabling variable then.
    Run::new("filter-implicit").installed("implicit").env("VK_LOADER_LAYERS_ENABLE", "*samplin*").start().assert_on();
}

#[test]
fn application_switches_on() {
    Run::new("application").layer_path().names(&[layer::SAMPLIN]).start().assert_on();
}

#[test]
fn implicit_manifest_switches_on_by_its_variable() {
    Run::new("implicit").installed("implicit").env("ENABLE_SAMPLIN", "1").start().assert_on();
    Run::new("implicit-unset").installed("implicit").start().assert_off();
    // The loader compares the whole value.
    Run::new("implicit-zero").installed("implicit").env("ENABLE_SAMPLIN", "0").start().assert_off();
    Run::new("implicit-yes").installed("implicit").env("ENABLE_SAMPLIN", "yes").start().assert_off();
}

#[test]
fn development_manifest_is_a_valid_implicit_one() {
    let run = Run::new("development").env("ENABLE_SAMPLIN", "1");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("layer.json")).expect("layer.json");
    let mut manifest: Value = serde_json::from_str(&text).expect("layer.json is JSON");
    manifest["layer"]["library_path"] = library().to_str().expect("a UTF-8 path").into();
    let folder = run.home.join("data/vulkan/implicit_layer.d");
    fs::create_dir_all(&folder).expect("a manifest folder");
    fs::write(folder.join("layer.json"), manifest.to_string()).expect("a written manifest");
    run.start().assert_on();
}

/// Up to some loader before 1.4.326 naming an implicit layer was not enough, and nothing said so.
#[test]
fn implicit_manifest_by_name_depends_on_the_loader() {
    let outcome = Run::new("implicit-named").installed("implicit").env("VK_INSTANCE_LAYERS", layer::SAMPLIN).start();
    if outcome.loader >= IMPLICIT_BY_NAME {
        outcome.assert_on();
    } else if outcome.loader == DEBIAN_12 {
        outcome.assert_off();
    }
}

// --- off ------------------------------------------------------------------------------------------------------------

#[test]
fn disabling_variable_wins_over_the_enabling_one() {
    let run = |name: &str| Run::new(name).installed("implicit").env("ENABLE_SAMPLIN", "1");
    run("disabled").env("DISABLE_SAMPLIN", "1").start().assert_off();
    // Its presence counts, not its value.
    run("disabled-empty").env("DISABLE_SAMPLIN", "").start().assert_off();
}

#[test]
fn filter_variable_switches_off() {
    let explicit = |name: &str| Run::new(name).layer_path().env("VK_INSTANCE_LAYERS", layer::SAMPLIN);
    explicit("off-name").env("VK_LOADER_LAYERS_DISABLE", layer::SAMPLIN).start().assert_off();
    explicit("off-all").env("VK_LOADER_LAYERS_DISABLE", "~all~").start().assert_off();
    explicit("off-other").env("VK_LOADER_LAYERS_DISABLE", "*samplinx*").start().assert_on();
    let implicit = |name: &str| Run::new(name).installed("implicit").env("ENABLE_SAMPLIN", "1");
    implicit("off-implicit-name").env("VK_LOADER_LAYERS_DISABLE", "*samplin*").start().assert_off();
    implicit("off-implicit").env("VK_LOADER_LAYERS_DISABLE", "~implicit~").start().assert_off();
    implicit("off-explicit").env("VK_LOADER_LAYERS_DISABLE", "~explicit~").start().assert_on();
}

#[test]
fn mode_off_changes_and_writes_nothing() {
    let run = |name: &str| Run::new(name).layer_path().env("VK_INSTANCE_LAYERS", layer::SAMPLIN);
    let off = run("mode-off").env("SAMPLIN_MODE", "off").start();
    assert!(off.mapped, "the loader did not load the library:\n{}", off.stderr);
    assert_eq!(off.repairs(), 0);
    assert!(off.trace.is_empty(), "{:?}", off.trace);
    run("mode-legalize").env("SAMPLIN_MODE", "legalize").start().assert_on();
}

// --- the chain ------------------------------------------------------------------------------------------------------

/// Validation is to check what samplin sends down, so samplin's folder is put in front: it then comes first with loaders
/// that take layers as they find them, and the listed order agrees for the others.
#[test]
fn samplin_is_above_validation() {
    let folder = layer::locate().expect("the layer under test");
    let run = |name: &str, layers: &[&str]| {
        Run::new(name).env("VK_ADD_LAYER_PATH", &folder).env("VK_INSTANCE_LAYERS", layers.join(":")).start()
    };
    let outcome = run("above", &[layer::SAMPLIN, layer::VALIDATION]);
    let Some(is_above) = outcome.is_above_validation() else { return };
    assert!(is_above, "{:?}", outcome.chain);

    let listed_last = run("below", &[layer::VALIDATION, layer::SAMPLIN]);
    let samplin_first = listed_last.is_above_validation().expect("it is installed");
    if listed_last.loader >= ORDER_HONOURED {
        assert!(!samplin_first, "{:?}", listed_last.chain);
    } else if listed_last.loader == DEBIAN_12 {
        assert!(samplin_first, "{:?}", listed_last.chain);
    }
}

/// An implicit layer is nearer the application than any explicit one.
#[test]
fn implicit_samplin_is_above_validation() {
    let outcome = Run::new("implicit-above")
        .installed("implicit")
        .env("ENABLE_SAMPLIN", "1")
        .env("VK_INSTANCE_LAYERS", layer::VALIDATION)
        .start();
    assert!(outcome.is_above_validation().unwrap_or(true), "{:?}", outcome.chain);
}

/// Nothing in the manifests or the library makes a loader complain, for an application of its own Vulkan version.
#[test]
fn loader_has_no_complaint() {
    let explicit = Run::new("quiet").layer_path().env("VK_INSTANCE_LAYERS", layer::SAMPLIN).start();
    let implicit = Run::new("quiet-implicit").installed("implicit").env("ENABLE_SAMPLIN", "1").start();
    for outcome in [explicit, implicit] {
        outcome.assert_on();
        let complaints: Vec<&str> = outcome
            .stderr
            .lines()
            .filter(|line| line.contains("WARN") || line.contains("ERROR"))
            .filter(|line| line.to_lowercase().contains("samplin"))
            // Newer loaders announce the variable itself.
            .filter(|line| !line.contains("env var 'VK_INSTANCE_LAYERS' defined"))
            .collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

/// The manifest lists `VK_EXT_layer_settings`, so a loader that knows it lets an application enable it.
#[test]
fn layer_settings_extension_can_be_enabled() {
    let run = |name: &str| {
        Run::new(name)
            .layer_path()
            .env("VK_INSTANCE_LAYERS", layer::SAMPLIN)
            .env(CHAINED_MODE_VARIABLE, "audit")
            .names(&["VK_EXT_layer_settings"])
    };
    let unfiltered = run("settings-unfiltered").env("VK_LOADER_DISABLE_INST_EXT_FILTER", "1").start();
    unfiltered.assert_on();
    assert_eq!(unfiltered.setting("mode")["value"], "audit", "{:?}", unfiltered.trace);
    if unfiltered.loader >= SETTINGS_KNOWN {
        let enabled = run("settings").start();
        enabled.assert_on();
        assert_eq!(enabled.setting("mode")["value"], "audit", "{:?}", enabled.trace);
    } else {
        assert_eq!(run("settings-refused").refused(), "ERROR_EXTENSION_NOT_PRESENT");
    }
}

/// With an older loader the structure can still be chained; it is read whether or not the extension is enabled.
#[test]
fn chained_settings_reach_the_layer() {
    let run = |name: &str| Run::new(name).layer_path().env("VK_INSTANCE_LAYERS", layer::SAMPLIN);
    let chained = run("chained").env(CHAINED_MODE_VARIABLE, "audit").start();
    chained.assert_on();
    assert_eq!(chained.setting("mode")["value"], "audit", "{:?}", chained.trace);
    let unchained = run("unchained").start();
    unchained.assert_on();
    assert_eq!(unchained.setting("mode")["value"], "legalize", "{:?}", unchained.trace);
}

/// The two sides of [`instance_chain`] on text as loaders 1.3.239 and 1.4.364 print it.
#[test]
fn chain_is_read_from_both_formats() {
    let old = "LAYER:   vkCreateInstance layer callstack setup to:\nLAYER:   <Application>\nLAYER:     ||\n\
               LAYER:   VK_LAYER_A\nLAYER:       Manifest: VkLayer_a.json\nLAYER:     ||\nLAYER:   <Drivers>\n\
               LAYER:   VK_LAYER_B\n";
    let new = "[Vulkan Loader] LAYER:  vkCreateInstance layer callstack setup to:\n[Vulkan Loader] LAYER:  VK_LAYER_A\n\
               [Vulkan Loader] LAYER:      Enabled By: VK_LAYER_B\n[Vulkan Loader] LAYER:  <Drivers>\n";
    assert_eq!(instance_chain(old), ["VK_LAYER_A"]);
    assert_eq!(instance_chain(new), ["VK_LAYER_A"]);
    assert!(instance_chain("nothing").is_empty());
}
