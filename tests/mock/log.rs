//! The layer's own log: what it tells at which level, where it goes, and that it changes nothing else.
//!
//! There is one log a process, so each case runs in a process of its own.

use ash::vk;
use samplin::log;
use samplin_config::settings::{Log, log_of_environment};
use samplin_testkit::again::{Ended, alone};
use serde_json::Value;

use crate::driver::NEXT_RESULTS;
use crate::loader::*;

/// A name that would clear a terminal, begin a line of its own and turn the rest of it round.
const HOSTILE: &str = "/none/\u{1b}[2J\nsamplin: warn: forged\u{202e}\u{9b}.toml";

/// The life of two devices in which everything happens that the log tells: additions, one that is refused, variants, one that is
/// refused, commands that are missing, a panic, a setting that is wrong. Prints the records of the trace.
fn life(builder: InstanceBuilder) {
    let builder = builder.set("brder", "strict").traced("all").driver(|driver| {
        driver.tells_features = true;
        // An eighth of so few is none that a variant may have.
        driver.max_samplers = 1000;
        driver.hidden = vec![c"vkCmdBlitImage2"];
    });
    let instance = builder.instance();
    let trace = instance.keep_trace();
    for results in [vec![], vec![vk::Result::ERROR_TOO_MANY_OBJECTS]] {
        let is_refused = !results.is_empty();
        NEXT_RESULTS.set(results.into());
        let device = instance.device(&DeviceInfo::default());
        let (sampler, view, set) = (device.linear(), device.view(INTEGERS), device.plain_set());
        device.update(&[combined(set, 0, &[pair(sampler, view)])], &[]);
        if is_refused {
            assert_eq!(device.entry().ground.guard(|| panic!("provoked"), || 2), 2);
        }
        device.destroy_sampler(sampler);
        device.destroy_view(view);
    }
    drop(instance);
    // The harness has begun a line.
    println!();
    for mut record in trace.read().records {
        if record["event"] == "summary" {
            // The address of an object of the mock's.
            record["device"].take();
        }
        for member in ["t_ns", "pid", "tid", "settings"] {
            record.as_object_mut().expect("an object").remove(member);
        }
        println!("record {record}");
    }
}

/// A variant that finds a place, which [`life`] has none for.
fn a_variant() {
    let device = InstanceBuilder::new().device();
    let (sampler, view, set) = (device.linear(), device.view(INTEGERS), device.plain_set());
    device.update(&[combined(set, 0, &[pair(sampler, view)])], &[]);
    assert_eq!(device.driver.variants().len(), 1);
}

/// The lines of the log.
fn lines(errors: &str) -> Vec<&str> {
    errors.lines().filter(|line| line.starts_with("samplin")).collect()
}

fn records(said: &str) -> Vec<Value> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("record "));
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// [`life`] and [`a_variant`] with this level: records and lines of the log.
fn at(name: &str, level: &str) -> (Vec<Value>, Vec<String>) {
    let Ended { stdout: said, stderr: errors } = alone(name, || {
        life(InstanceBuilder::new().set("log", level).set("config", HOSTILE));
        a_variant();
    });
    (records(&said), lines(&errors).into_iter().map(str::to_owned).collect())
}

/// The lines of which each level must have the one that begins so, and those before it too.
const TOLD: &[(&str, &[&str])] = &[
    (
        "warn",
        &[
            r#"error: brder: there is no such setting; did you mean border?"#,
            r#"vkCreateDevice failed; tried again without what was added result=ERROR_TOO_MANY_OBJECTS added=["VK_"#,
            r#"the device is passed through from here on what="panic in a hook" why="provoked""#,
        ],
    ),
    ("info", &[r#"instance created exe="mock-"#, r#"device created name=""#, "device destroyed", "instance destroyed"]),
    (
        "debug",
        &[
            r#"setting name="trace_level" value="all" source=Application"#,
            r#"setting name="mode" value="legalize" source=Default"#,
            r#"added what="VK_EXT_custom_border_color""#,
            r#"not added what="samplerAnisotropy" why="nothing wants it""#,
            r#"not hooked: the device has no such command name="vkCmdBlitImage2""#,
            "variant refused state=",
            r#"variant made sampler="0x"#,
        ],
    ),
    ("trace", &[r#"hooked name="vkCreateSampler""#]),
];

fn check_level(name: &str, level: &str) {
    let (_, lines) = at(name, level);
    let mut is_wanted = true;
    for (of, starts) in TOLD {
        let prefix = format!("samplin: {of}: ");
        let told: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix(&prefix)).collect();
        for start in *starts {
            let found = told.iter().any(|line| line.starts_with(start));
            assert_eq!(found, is_wanted, "{level}: {prefix}{start}\n{}", lines.join("\n"));
        }
        assert!(is_wanted || told.is_empty(), "{level}: {told:?}");
        is_wanted &= *of != level;
    }
    for line in &lines {
        let is_plain = |character: char| !character.is_control() && character != '\u{202e}';
        assert!(line.chars().all(is_plain) && line.starts_with("samplin: "), "{line:?}");
        assert!(!line.starts_with("samplin: warn: forged"), "{line}");
    }
    if level == "debug" {
        let hostile = r#"value="/none/\u{1b}[2J\nsamplin: warn: forged\u{202e}\u{9b}.toml""#;
        assert!(lines.iter().any(|line| line.contains(hostile)), "{}", lines.join("\n"));
    }
}

#[test]
fn warn_tells_what_was_given_up() {
    check_level("log::warn_tells_what_was_given_up", "warn");
}

#[test]
fn info_tells_of_instances_and_devices_too() {
    check_level("log::info_tells_of_instances_and_devices_too", "info");
}

#[test]
fn debug_tells_of_settings_additions_and_variants_too() {
    check_level("log::debug_tells_of_settings_additions_and_variants_too", "debug");
}

#[test]
fn trace_tells_of_each_command_too() {
    check_level("log::trace_tells_of_each_command_too", "trace");
}

#[test]
fn off_tells_nothing() {
    const NAME: &str = "log::off_tells_nothing";
    let Ended { stderr: errors, .. } = alone(NAME, || {
        life(InstanceBuilder::new());
        a_variant();
    });
    assert_eq!(lines(&errors), [""; 0]);
}

#[test]
fn the_log_changes_no_record() {
    const NAME: &str = "log::the_log_changes_no_record";
    let Ended { stdout: said, stderr: errors } = alone(NAME, || {
        life(InstanceBuilder::new());
        println!("record null");
        life(InstanceBuilder::new().set("log", "trace"));
    });
    // A second may end between the two.
    let mut all = records(&said);
    all.iter_mut().filter_map(Value::as_object_mut).for_each(|record| _ = record.remove("started"));
    let (without, with) = all.split_at(all.iter().position(Value::is_null).expect("both"));
    assert!(without.len() > 8 && !lines(&errors).is_empty());
    assert_eq!(without, &with[1..]);
}

/// The trace may be what a process finds behind descriptor 2 when it has closed its own: never the layer's doing.
#[test]
fn without_standard_error_the_log_goes_nowhere() {
    const NAME: &str = "log::without_standard_error_the_log_goes_nowhere";
    let Ended { stdout: said, stderr: errors } = alone(NAME, || {
        // SAFETY: nothing in this process owns the number.
        unsafe { libc::close(2) };
        life(InstanceBuilder::new().set("log", "trace"));
    });
    // Each line of the trace was read as a record.
    assert!(records(&said).iter().any(|record| record["event"] == "unresolved"), "{said}");
    assert_eq!(errors, "");
}

#[test]
fn negotiation_is_told_if_the_environment_asks() {
    const NAME: &str = "log::negotiation_is_told_if_the_environment_asks";
    let Ended { stderr: errors, .. } = alone(NAME, || {
        assert_eq!(negotiate_with(1, 2).0, SUCCESS);
        // SAFETY: no other thread of this process reads the environment now.
        unsafe { std::env::set_var("SAMPLIN_LOG", " Debug ") };
        assert_eq!(log_of_environment(), Log::Debug);
        assert_eq!(negotiate_with(1, 6).0, SUCCESS);
        assert_ne!(negotiate_with(1, 1).0, SUCCESS);
    });
    assert_eq!(
        lines(&errors),
        [
            "samplin: debug: negotiated with the loader version=6 agreed=2",
            "samplin: warn: negotiation with the loader failed s_type=1 version=1",
        ]
    );
}

#[test]
fn the_most_talkative_instance_counts() {
    const NAME: &str = "log::the_most_talkative_instance_counts";
    let Ended { stderr: errors, .. } = alone(NAME, || {
        tracing::info!("one");
        for level in [Log::Warn, Log::Info, Log::Off, Log::Warn] {
            log::raise(level);
            tracing::info!(level = level.as_str(), "two");
        }
    });
    let told = ["info", "off", "warn"].map(|level| format!("samplin: info: two level=\"{level}\""));
    assert_eq!(lines(&errors), told);
}

#[test]
fn mode_off_is_told() {
    const NAME: &str = "log::mode_off_is_told";
    let Ended { stderr: errors, .. } = alone(NAME, || {
        let device = InstanceBuilder::new().set("log", "trace").set("mode", "off").device();
        device.finish();
    });
    let lines = lines(&errors);
    assert!(lines.iter().any(|line| line.starts_with("samplin: info: mode is off")), "{errors}");
    assert!(lines.contains(&"samplin: info: device created; nothing is hooked, since mode is off"), "{errors}");
    assert!(!lines.iter().any(|line| line.contains("trace: hooked") || line.contains("added")), "{errors}");
}
