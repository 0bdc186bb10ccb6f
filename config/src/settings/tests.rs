//! [`resolve`] for every setting, precedence and kind of mistake. The process's environment is not touched: that is what
//! `tests/settings.rs` does, in processes of its own.

use super::*;

/// What one source says, as the tests write it.
#[derive(Default)]
struct Given<'a> {
    application: &'a [(&'a str, &'a str)],
    file: &'a str,
    environment: &'a [(&'a str, &'a str)],
}

impl Given<'_> {
    fn load(&self) -> Loaded {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let environment = pairs(self.environment).into_iter().map(|(key, value)| (key, Some(value))).collect();
        resolve(&pairs(self.application), file::parse("/etc/vk.txt", self.file), environment)
    }

    /// The settings, after a check that nothing was wrong.
    fn settings(&self) -> Settings {
        let loaded = self.load();
        assert_eq!(loaded.problems, []);
        loaded.settings
    }

    /// The one problem, after a check that the settings are the defaults.
    fn mistake(&self) -> Problem {
        let mut loaded = self.load();
        assert_eq!(loaded.settings, Settings::default());
        assert_eq!(loaded.problems.len(), 1, "{:?}", loaded.problems);
        loaded.problems.remove(0)
    }
}

fn from_file(file: &str) -> Given<'_> {
    Given { file, ..Given::default() }
}

/// Ways to write values that the table does not list itself: name, text, and whether the settings then hold it.
#[expect(clippy::type_complexity, reason = "a table")]
const VALUES: &[(&str, &str, fn(&Settings) -> bool)] = &[
    ("mode", "AuDiT", |s| s.mode == Mode::Audit),
    ("trace", "auto", |s| s.trace == TraceTarget::Auto),
    ("trace", "On", |s| s.trace == TraceTarget::Auto),
    ("trace", "off", |s| s.trace == TraceTarget::Off),
    ("trace", "NONE", |s| s.trace == TraceTarget::Off),
    ("trace", "0", |s| s.trace == TraceTarget::Off),
    ("trace", "STDERR", |s| s.trace == TraceTarget::Stderr),
    ("trace", "/T/%e-%p.jsonl", |s| s.trace == TraceTarget::Path("/T/%e-%p.jsonl".to_owned())),
    ("trace", "./off", |s| s.trace == TraceTarget::Path("./off".to_owned())),
    ("trace_limit", "64M", |s| s.trace_limit == 64 << 20),
    ("trace_limit", "1000", |s| s.trace_limit == 1000),
    ("trace_limit", "0", |s| s.trace_limit == 0),
    ("trace_limit", "512k", |s| s.trace_limit == 512 << 10),
    ("trace_limit", "64 MiB", |s| s.trace_limit == 64 << 20),
    ("trace_limit", "2GB", |s| s.trace_limit == 2 << 30),
    ("trace_limit", "1536M", |s| s.trace_limit == 3 << 29),
    ("trace_limit", "None", |s| s.trace_limit == u64::MAX),
    ("log", "Info", |s| s.log == Log::Info),
    ("log", "TRACE", |s| s.log == Log::Trace),
    ("config", "auto", |s| s.config.is_none()),
    ("config", "/Etc/a b=c.toml", |s| s.config.as_deref() == Some("/Etc/a b=c.toml")),
    ("device", "none", |s| s.device.is_none()),
    ("device", "off", |s| s.device.is_none()),
    ("device", "devices/v3d.json", |s| s.device.as_deref() == Some("devices/v3d.json")),
    ("device_visible", "TRUE", |s| s.device_visible),
    ("device_visible", "1", |s| s.device_visible),
    ("learned", "off", |s| s.learned.is_none()),
    ("learned", "~/%e.learned", |s| s.learned.as_deref() == Some("~/%e.learned")),
    ("resolve_memory", "64", |s| s.resolve_memory == 64),
    ("resolve_memory", "0", |s| s.resolve_memory == 0),
    ("augment", "False", |s| !s.augment),
    ("augment", "0", |s| !s.augment),
    ("storage", "base", |s| s.storage == Storage::Base),
    ("storage", "Emulate", |s| s.storage == Storage::Emulate),
    ("storage", "advertise", |s| s.storage == Storage::Advertise && s.storage.emulates()),
    ("counters", "none", |s| s.counters == Counters::None),
    ("counters", "AUTO", |s| s.counters == Counters::Auto),
    ("counters", "2:10", |s| s.counters == Counters::At { set: 2, first: 10 }),
];

/// [`VALUES`] and every word of the table: name and text.
fn values() -> impl Iterator<Item = (&'static str, &'static str)> {
    let words = DESCRIBED.iter().flat_map(|row| row.words().iter().map(|word| (row.name, word.word)));
    words.chain(VALUES.iter().map(|(name, text, _)| (*name, *text)))
}

fn shown<'a>(loaded: &'a Loaded, name: &str) -> &'a str {
    loaded.sources.iter().find(|(key, ..)| *key == name).map_or("", |(_, value, _)| value)
}

#[test]
fn every_value_of_every_setting_is_taken_from_every_source() {
    for (name, text) in values() {
        let line = format!("samplin.{name} = {text}");
        let long_line = format!("SAMPLIN_Sampling.{name}={text}\r\n");
        let variable = format!("SAMPLIN_{}", name.to_ascii_uppercase());
        let pair = [(name, text)];
        let environment = [(variable.as_str(), text)];
        for (given, source) in [
            (Given { application: &pair, ..Given::default() }, SettingSource::Application),
            (from_file(&line), SettingSource::File),
            (from_file(&long_line), SettingSource::File),
            (Given { environment: &environment, ..Given::default() }, SettingSource::Environment),
        ] {
            given.settings();
            for (key, _, found) in given.load().sources {
                let expected = if key == name { source } else { SettingSource::Default };
                assert_eq!(found, expected, "{name} = {text}: source of {key}");
            }
        }
    }
}

#[test]
fn a_text_becomes_the_value_that_it_stands_for() {
    for (name, text, holds) in VALUES {
        assert!(holds(&Given { application: &[(*name, *text)], ..Given::default() }.settings()), "{name} = {text}");
    }
    for row in &DESCRIBED {
        for word in row.words() {
            let loaded = Given { application: &[(row.name, word.word)], ..Given::default() }.load();
            assert_eq!(shown(&loaded, row.name), word.word);
            assert!(word.meaning().ends_with('.'), "{}: {word:?}", row.name);
        }
    }
}

#[test]
fn every_setting_has_two_values_and_a_description() {
    for row in &DESCRIBED {
        assert!(values().filter(|(name, _)| *name == row.name).count() >= 2, "{}", row.name);
        assert!(row.about().ends_with('.') && !row.about().contains('\n'), "{}: {}", row.name, row.about());
    }
    assert_eq!(KEYS.map(|key| key.name), DESCRIBED.map(|row| row.name));
    let advanced: Vec<_> = DESCRIBED.iter().filter(|row| row.is_advanced).map(|row| row.name).collect();
    assert!(advanced.contains(&"log") && !advanced.contains(&"mode"), "{advanced:?}");
}

#[test]
fn nothing_given_is_the_default() {
    let loaded = Given::default().load();
    assert_eq!(loaded.settings, Settings::default());
    assert_eq!(loaded.problems, []);
    for row in &DESCRIBED {
        // The default of a word is the first one; that of a boolean is said of it.
        let first = row.words().first().map(|word| word.word).filter(|word| *word != "on");
        assert!(first.is_none_or(|word| shown(&loaded, row.name) == word), "{}", row.name);
    }
    assert_eq!(
        [shown(&loaded, "augment"), shown(&loaded, "trace_limit"), shown(&loaded, "device")],
        ["on", "64M", "none"]
    );
}

/// A device's own default is no more than that: who sets the setting is asked first.
#[test]
fn a_device_has_defaults_of_its_own() {
    let after = |given: Given<'_>| {
        let mut loaded = given.load();
        loaded.default_to("aniso_nearest", "off");
        let source =
            loaded.sources.iter().find(|(key, ..)| *key == "aniso_nearest").map(|found| (found.1.clone(), found.2));
        (loaded.settings.aniso_nearest, source)
    };
    let said = |value: &str, source| Some((value.to_owned(), source));
    assert_eq!(after(Given::default()), (AnisoNearest::Off, said("off", SettingSource::Default)));
    let keep = Given { application: &[("aniso_nearest", "keep")], ..Given::default() };
    assert_eq!(after(keep), (AnisoNearest::Keep, said("keep", SettingSource::Application)));
}

#[test]
fn what_is_shown_is_accepted_again() {
    for (name, text) in values() {
        let given = [(name, text)];
        let first = Given { application: &given, ..Given::default() }.load();
        let shown: Vec<_> = first.sources.iter().map(|(key, value, _)| (*key, value.as_str())).collect();
        let second = Given { application: &shown, ..Given::default() }.settings();
        assert_eq!(first.settings, second, "{name} = {text}");
    }
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_application() {
    let application = [("mode", "off"), ("border", "strict"), ("trace_level", "all")];
    let file = "samplin.mode = audit\nsamplin.border = texels\nsamplin.separate = base";
    let environment = [("SAMPLIN_MODE", "legalize")];
    let loaded = Given { application: &application, file, environment: &environment }.load();
    assert_eq!(loaded.problems, []);
    let set: Vec<_> = loaded.sources.iter().filter(|(.., source)| *source != SettingSource::Default).cloned().collect();
    assert_eq!(
        set,
        [
            ("mode", "legalize".to_owned(), SettingSource::Environment),
            ("trace_level", "all".to_owned(), SettingSource::Application),
            ("separate", "base".to_owned(), SettingSource::File),
            ("border", "texels".to_owned(), SettingSource::File),
        ]
    );
}

#[test]
fn a_wrong_value_leaves_the_decision_to_the_next_source() {
    let environment = [("SAMPLIN_MODE", "loud")];
    let loaded = Given { application: &[], file: "samplin.mode = audit", environment: &environment }.load();
    assert_eq!(loaded.settings.mode, Mode::Audit);
    assert_eq!(loaded.sources[0], ("mode", "audit".to_owned(), SettingSource::File));
    assert_eq!(loaded.problems.len(), 1);
}

#[test]
fn an_empty_value_is_not_given() {
    let environment = [("SAMPLIN_MODE", " ")];
    let file = "samplin.trace =\nsamplin.config = # nothing\nsamplin.mode=audit";
    let settings = Given { application: &[("augment", "")], file, environment: &environment }.settings();
    assert_eq!(settings, Settings { mode: Mode::Audit, ..Settings::default() });
}

#[test]
fn a_wrong_value_in_the_file_is_told_with_its_place() {
    let file = "# settings\n\n  samplin.mode  =  legalise  # typo\n";
    let problem = from_file(file).mistake();
    assert_eq!(
        problem,
        Problem {
            level: Level::Error,
            key: "samplin.mode".to_owned(),
            file: Some("/etc/vk.txt".to_owned()),
            line: Some(3),
            column: Some(20),
            message: "\"legalise\" is not one of legalize, audit, off; did you mean \"legalize\"?".to_owned(),
        }
    );
    assert!(problem.to_string().starts_with("/etc/vk.txt:3:20: error: samplin.mode: \"legalise\""), "{problem}");
}

#[test]
fn an_unknown_key_in_the_file_is_told_with_its_place() {
    let problem = from_file("\u{feff}khronos_validation.x = 1\r\n\tsamplin.tracelevel = all\r\n").mistake();
    assert_eq!((problem.line, problem.column), (Some(2), Some(2)));
    assert_eq!(problem.message, "there is no such setting; did you mean samplin.trace_level?");
    let problem = from_file("é.x=1\nsamplin_sampling.colour = 1").mistake();
    assert_eq!((problem.key.as_str(), problem.line, problem.column), ("samplin_sampling.colour", Some(2), Some(1)));
    assert!(problem.message.contains("there are mode, trace, "), "{}", problem.message);
}

#[test]
fn every_wrong_value_is_one_error_with_the_choices() {
    for key in KEYS {
        let text = "#nonsense";
        let given = [(key.name, text)];
        let loaded = Given { application: &given, ..Given::default() }.load();
        // Any text is a path.
        if shown(&loaded, key.name) == text {
            assert_eq!(loaded.problems, [], "{}", key.name);
            continue;
        }
        assert_eq!(loaded.settings, Settings::default(), "{}", key.name);
        let [problem] = &loaded.problems[..] else {
            panic!("{}: {:?}", key.name, loaded.problems);
        };
        assert_eq!((problem.level, problem.key.as_str()), (Level::Error, key.name));
        assert_eq!((&problem.file, problem.line, problem.column), (&None, None, None));
        assert!(problem.message.starts_with("\"#nonsense\" is not one of "), "{}", problem.message);
    }
}

#[test]
fn a_size_that_is_none_is_an_error() {
    for text in ["-1", "+1", "1.5M", "M", "MiB", "1T", "64 M B", "18446744073709551616", "17179869184G"] {
        let problem = Given { application: &[("trace_limit", text)], ..Given::default() }.mistake();
        assert!(problem.message.contains("a number of bytes"), "{text}: {}", problem.message);
    }
}

#[test]
fn a_wrong_value_is_quoted_in_one_short_line() {
    let long = "a\nb".repeat(1000);
    let problem = Given { application: &[("mode", &long)], ..Given::default() }.mistake();
    assert!(problem.message.starts_with("\"a\\nba\\nb"), "{}", problem.message);
    assert!(problem.message.len() < 200 && !problem.message.contains('\n'), "{}", problem.message);
}

#[test]
fn an_unknown_variable_is_told_with_the_nearest_one() {
    let mistake = |name| Given { environment: &[(name, "x")], ..Given::default() }.mistake();
    assert_eq!(mistake("SAMPLIN_MOED").message, "there is no such setting; did you mean SAMPLIN_MODE?");
    assert_eq!(mistake("SAMPLIN_mode").message, "there is no such setting; did you mean SAMPLIN_MODE?");
    assert_eq!(
        mistake("SAMPLIN_GLCLAMP_RULE").message,
        "there is no such setting; did you mean SAMPLIN_GL_CLAMP_RULE?"
    );
    assert_eq!(mistake("SAMPLIN_").key, "SAMPLIN_");
    assert_eq!(mistake("SAMPLIN_TESTING").key, "SAMPLIN_TESTING");
    assert_eq!(mistake("SAMPLIN_LAYER_DIRECTORY").key, "SAMPLIN_LAYER_DIRECTORY");
}

#[test]
fn reserved_variables_are_nobodys_mistake() {
    let environment = [("SAMPLIN_TEST_ICD", "x"), ("SAMPLIN_TEST_", "x"), ("SAMPLIN_LAYER_DIR", "/x")];
    assert_eq!(Given { environment: &environment, ..Given::default() }.settings(), Settings::default());
}

#[test]
fn an_unknown_key_of_the_application_is_told_once() {
    let problem = Given { application: &[("Brder", "strict"), ("brder", "x")], ..Given::default() }.mistake();
    assert_eq!(problem.key, "Brder");
    assert_eq!(problem.message, "there is no such setting; did you mean border?");
}

#[test]
fn the_first_reference_of_the_application_counts() {
    let application = [("mode", "audit"), ("MODE", "off"), ("mode", "nonsense")];
    assert_eq!(Given { application: &application, ..Given::default() }.settings().mode, Mode::Audit);
}

#[test]
fn a_value_that_is_not_utf_8_is_told() {
    let loaded = resolve(&[], file::ParsedFile::default(), vec![("SAMPLIN_TRACE".to_owned(), None)]);
    assert_eq!(loaded.settings, Settings::default());
    assert_eq!(loaded.problems.len(), 1);
    assert!(loaded.problems[0].message.contains("UTF-8"), "{:?}", loaded.problems);
}

#[test]
fn the_last_line_about_a_setting_counts() {
    let loaded = from_file("samplin.mode = off\nsamplin.border = strict\nsamplin_sampling.mode = audit").load();
    assert_eq!(loaded.settings.mode, Mode::Audit);
    assert_eq!(loaded.settings.border, BorderMode::Strict);
    let [problem] = &loaded.problems[..] else {
        panic!("{:?}", loaded.problems);
    };
    assert_eq!((problem.level, problem.line, problem.column), (Level::Warning, Some(3), Some(1)));
    assert_eq!(problem.message, "line 1 sets this too and is ignored");
}

#[test]
fn a_line_without_an_equals_sign_is_told() {
    let problem = from_file("\nsamplin.mode audit\n").mistake();
    assert_eq!((problem.level, problem.line, problem.column), (Level::Error, Some(2), Some(1)));
    assert_eq!(problem.key, "samplin.mode audit");
}

#[test]
fn other_layers_lines_are_theirs() {
    let file = "khronos_validation.mode = nonsense\nsamplinx.mode = 1\nxsamplin.mode = 1\nsamplin\n=\n.mode = 1\n\
        # samplin.mode = off\nlunarg_api_dump.file = samplin.mode\nkhronos_validation.message_id_filter = 0x1,\u{0}\n";
    assert_eq!(from_file(file).settings(), Settings::default());
}

#[test]
fn a_path_may_hold_an_equals_sign() {
    assert_eq!(from_file("samplin.config = /a=b/c").settings().config.as_deref(), Some("/a=b/c"));
}

#[test]
fn an_unknown_mark_in_the_trace_path_is_a_warning_and_stays() {
    let loaded = from_file("samplin.trace = /t/%x.jsonl").load();
    assert_eq!(loaded.settings.trace, TraceTarget::Path("/t/%x.jsonl".to_owned()));
    let [problem] = &loaded.problems[..] else {
        panic!("{:?}", loaded.problems);
    };
    assert_eq!((problem.level, problem.line, problem.column), (Level::Warning, Some(1), Some(17)));
    assert!(problem.message.starts_with("\"%x\" stays"), "{}", problem.message);
}

#[test]
fn any_text_is_survived() {
    // A small linear congruential generator: the same texts in every run.
    let mut seed = 1_u32;
    let pieces =
        ["samplin", ".", "mode", "=", "#", "\n", "\r", " ", "é", "\u{0}", "audit", "%", "\u{feff}", "_sampling"];
    for _ in 0..2000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text += pieces[(seed >> 16) as usize % pieces.len()];
        }
        let loaded = from_file(&text).load();
        for problem in loaded.problems {
            assert!(problem.line.is_some() && problem.column.is_some() && !problem.message.contains('\n'), "{text:?}");
        }
    }
}

#[test]
fn the_effective_settings_serialise_with_their_sources() {
    let loaded = Given { application: &[("mode", "audit")], ..Given::default() }.load();
    let json = serde_json::to_value(loaded.effective()).expect("serialises");
    assert_eq!(json["mode"], serde_json::json!({"value": "audit", "source": "application"}));
    assert_eq!(json["augment"], serde_json::json!({"value": "on", "source": "default"}));
    assert_eq!(json.as_object().map(serde_json::Map::len), Some(KEYS.len()));
}

#[test]
fn a_problem_serialises_as_the_body_of_a_record() {
    let problem = from_file("samplin.mode = x").mistake();
    assert_eq!(
        serde_json::to_value(&problem).expect("serialises"),
        serde_json::json!({
            "level": "error", "key": "samplin.mode", "file": "/etc/vk.txt", "line": 1, "column": 16,
            "message": "\"x\" is not one of legalize, audit, off",
        })
    );
    let back: Problem = serde_json::from_str(&serde_json::to_string(&problem).expect("serialises")).expect("JSON");
    assert_eq!(back, problem);
    let problem = Given { environment: &[("SAMPLIN_X", "1")], ..Given::default() }.mistake();
    let json = serde_json::to_value(&problem).expect("serialises");
    assert_eq!(
        json.as_object().map(|members| members.keys().cloned().collect::<Vec<_>>()).unwrap_or_default(),
        ["key", "level", "message"]
    );
    assert_eq!(serde_json::from_value::<Problem>(json).expect("can be read"), problem);
}

#[test]
fn every_word_is_found_again() {
    for word in Mode::WORDS {
        assert_eq!(Mode::from_word(word).map(Mode::as_str), Some(*word));
    }
    assert_eq!(Mode::from_word(""), None);
}
