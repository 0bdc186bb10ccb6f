//! From lines of a trace to the page: what is known of them, what the lists hold, what keys do, and how it looks.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use samplin_testkit::Folder;

use super::app::{App, Flow, Mode};
use super::find::Target;
use super::follow::Look;
use super::model::{Life, Model};
use super::page;
use super::rows::Tab;
use crate::trace::record::grouped;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn model(paths: &[PathBuf]) -> Model {
    let mut model = Model::new(Target::Files(paths.to_vec()));
    model.look_around();
    while model.read(u64::MAX) == Look::Behind {}
    model.look_around();
    model
}

/// A page about the trace of the tests, with a rules file of its own.
fn app(folder: &Folder) -> App {
    App::new(model(&[data("all.jsonl")]), Some(folder.join("rules.toml")))
}

fn press(app: &mut App, keys: &str) {
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            '\t' => KeyCode::Tab,
            '↓' => KeyCode::Down,
            letter => KeyCode::Char(letter),
        };
        assert_eq!(app.key(KeyEvent::new(code, KeyModifiers::NONE)), Flow::On, "{key}");
    }
}

/// The picture as lines.
fn picture(app: &mut App, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| page::draw(frame, app)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(line).collect()
}

fn column(app: &App, index: usize) -> Vec<&str> {
    app.rows.iter().map(|row| row.cells[index].as_str()).collect()
}

#[test]
fn lists_are_sorted_and_searched() {
    let folder = Folder::new();
    let mut app = app(&folder);
    assert_eq!(column(&app, 1)[..3], ["linear-filter", "minmax", "border-type"]);
    press(&mut app, "s");
    assert_eq!(column(&app, 1)[..2], ["anisotropy", "border-format"]);
    press(&mut app, "S");
    assert_eq!(column(&app, 1)[0], "stencil");
    press(&mut app, "2");
    assert_eq!((app.tab, column(&app, 1)[0]), (Tab::Formats, "D32_SFLOAT_S8_UINT"));
    press(&mut app, "/bc1\n");
    assert_eq!((app.mode, column(&app, 1)), (Mode::List, vec!["BC1_RGBA_UNORM_BLOCK"]));
    press(&mut app, "\u{1b}5");
    assert!(column(&app, 1).contains(&"no-free-set") && column(&app, 4).iter().any(|why| why.contains("has all sets")));
    press(&mut app, "6");
    assert_eq!(column(&app, 0), ["32 749", "32 726"]);
    assert_eq!(app.key(KeyEvent::from(KeyCode::Char('q'))), Flow::Quit);
}

#[test]
fn the_chosen_row_stays_chosen_while_the_trace_grows() {
    let folder = Folder::new();
    let path = folder.join("t.jsonl");
    let record = |rule: &str, number: usize| {
        format!(
            "{{\"seq\":{number},\"t_ns\":1,\"pid\":7,\"event\":\"blit\",\"src_format\":\"VK_FORMAT_R32_SFLOAT\",\"changes\":[{{\"rule\":\"{rule}\",\"field\":\"filter\",\"from\":\"VK_FILTER_LINEAR\",\"to\":\"VK_FILTER_NEAREST\"}}]}}\n"
        )
    };
    std::fs::write(&path, record("a", 0) + &record("a", 1) + &record("b", 2)).unwrap();
    let mut app = App::new(model(std::slice::from_ref(&path)), None);
    press(&mut app, "↓");
    assert_eq!((app.selected, app.chosen().unwrap().cells[1].as_str()), (1, "b"));
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    file.write_all((record("b", 3) + &record("b", 4)).as_bytes()).unwrap();
    assert_eq!(app.model.read(u64::MAX), Look::Grown);
    app.refresh();
    assert_eq!((app.selected, app.chosen().unwrap().cells[1].as_str()), (0, "b"));
    assert_eq!(app.chosen().unwrap().number, 3);
}

#[test]
fn a_record_is_opened_with_its_explanation() {
    let folder = Folder::new();
    let mut app = app(&folder);
    press(&mut app, "4/linear-filter\n\n");
    assert_eq!(app.mode, Mode::Text);
    let text = app.text.join("\n");
    for part in ["fingerprint: ", "magFilter LINEAR → NEAREST", "VUID-vkCmdDraw-magFilter-04553", "In the application"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    press(&mut app, "x");
    assert_eq!(app.mode, Mode::List);
    press(&mut app, "\u{1b}5/no-free-set\n\n");
    assert!(app.text.join("\n").contains("To repair it"), "{:?}", app.text);
}

#[test]
fn space_writes_the_rules_file() {
    let folder = Folder::new();
    let mut app = app(&folder);
    let file = || std::fs::read_to_string(folder.join("rules.toml")).unwrap();
    press(&mut app, " ");
    assert!(file().contains("when = { rule = \"linear-filter\" }\nset = { repair = \"off\" }"), "{}", file());
    assert!(app.note.as_ref().unwrap().contains("from the next start"));
    assert_eq!(column(&app, 2)[..2], ["off", "on"]);
    // Its pairs are off as well, and so is the rule of the file.
    press(&mut app, "4/linear-filter\n");
    assert!(app.rows.iter().filter(|row| row.cells[2].contains("linear-filter")).all(|row| row.cells[1] == "off"));
    press(&mut app, "\u{1b}8");
    assert_eq!(column(&app, 1), ["linear-filter off"]);
    press(&mut app, " ");
    assert!(file().starts_with("#off [[rule]]"), "{}", file());
    press(&mut app, "1");
    assert_eq!(column(&app, 2)[0], "on");
    // One pair alone.
    press(&mut app, "4/stencil\n ");
    let off = column(&app, 1).iter().filter(|is| **is == "off").count();
    assert!((1..app.rows.len()).contains(&off), "{off} of {}", app.rows.len());
    press(&mut app, " \u{1b}5 ");
    assert!(app.note.as_ref().unwrap().contains("no repair to switch"));
    assert!(!file().contains("stencil"), "{}", file());
}

#[test]
fn several_processes_are_one_page_or_one_each() {
    let folder = Folder::new();
    let mut app = App::new(model(&[data("all.jsonl"), data("all.jsonl").with_file_name("decisions.jsonl")]), None);
    let all = app.model.sums().changes;
    let _ = &folder;
    press(&mut app, "7");
    assert_eq!(app.rows.len(), 2);
    press(&mut app, "\n");
    let one = app.model.sums().changes;
    assert!(0 < one && one < all, "{one} of {all}");
    assert_eq!(app.rows.len(), 2, "another one can be chosen");
    press(&mut app, "a");
    assert_eq!(app.model.sums().changes, all);
}

/// A killed program leaves a trace without an end, and maybe half a line.
#[test]
fn what_became_of_a_process_is_told() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(data("all.jsonl")).unwrap();
    let first: Vec<&str> = text.lines().take(20).collect();
    // No process has this number.
    let killed = first.join("\n").replacen("\"pid\":28235", "\"pid\":4294967295", 100);
    folder.write("killed.jsonl", &killed[..killed.len() - 10]);
    let mut app = App::new(model(&[folder.join("killed.jsonl"), data("all.jsonl"), folder.join("none.jsonl")]), None);
    let lives: Vec<Life> = app.model.processes.iter().map(|process| process.life).collect();
    assert_eq!(lives, [Life::Stopped, Life::Ended, Life::Waiting]);
    press(&mut app, "7");
    let shown = picture(&mut app, 160, 24).join("\n");
    assert!(shown.contains("died") && shown.contains("the last line is cut off"), "{shown}");
    assert!(shown.contains("No such file"), "{shown}");
}

#[test]
fn the_page_fits_80_columns_and_24_lines() {
    let folder = Folder::new();
    let mut app = app(&folder);
    let shown = picture(&mut app, 80, 24);
    let expected = [
        "samplin watch  scene (9585), ended",
        "on 2 × llvmpipe (LLVM 15.0.6, 256 bits), Vulkan 1.3.230",
        "269 changes in 115 records · 18 left · 0 switched off",
        "repaired 111 of 320 descriptors (34.7 %) · frames: no record names one",
    ];
    assert_eq!(shown[..4], expected);
    assert!(shown[4].starts_with("rules (from the next start): "), "{}", shown[4]);
    let expected = [
        "1 Rules 2 Formats 3 Labels 4 Pairs 5 Left 6 Limits 7 Processes 8 Rules file",
        "changes ▾  rule           repair  most frequent change",
        "      124  linear-filter  on      magFilter LINEAR → NEAREST",
        "       39  minmax         on      magFilter LINEAR → NEAREST",
    ];
    assert_eq!(shown[5..9], expected);
    assert_eq!(shown[23], "↑↓ move  Enter open  / search  s sort  Space on/off  Tab next  ? help  q quit");
    for tab in 0..Tab::ALL.len() {
        press(&mut app, &(tab + 1).to_string());
        let shown = picture(&mut app, 80, 24);
        let (_, _, columns) = Tab::ALL[tab];
        assert!(shown[6].contains(columns[1]), "{shown:#?}");
        press(&mut app, "?");
        assert!(picture(&mut app, 80, 24)[6].starts_with("Tab, 1 to 8"));
        press(&mut app, "x");
    }
    // What does not fit is left out, and what is beside it has the room.
    press(&mut app, "4");
    assert!(picture(&mut app, 80, 24)[6].ends_with("change"));
    assert!(picture(&mut app, 130, 24)[6].contains("change") && picture(&mut app, 130, 24)[6].ends_with("sampler"));
    // Even this does not panic.
    for (width, height) in [(1, 1), (7, 3), (30, 8), (500, 100)] {
        picture(&mut app, width, height);
        press(&mut app, "1\n");
        picture(&mut app, width, height);
        press(&mut app, "x");
    }
}

#[test]
fn a_pulse_gives_rates_and_headroom() {
    let folder = Folder::new();
    let pulse = |t_ns: u64, [frames, draws, repaired]: [u64; 3]| {
        let headroom = "{\"maxSamplerAllocationCount\":32700,\"maxCustomBorderColorSamplers\":16}";
        format!(
            "{{\"seq\":0,\"t_ns\":{t_ns},\"pid\":7,\"tid\":7,\"event\":\"pulse\",\"device\":\"0x1\",\"frames\":{frames},\
             \"draws\":{draws},\"repaired\":{repaired},\"headroom\":{headroom},\"copies\":3}}\n"
        )
    };
    folder.write("t.jsonl", &(pulse(1_000_000_000, [10, 100, 0]) + &pulse(2_000_000_000, [70, 12_500, 3100])));
    let mut app = App::new(model(&[folder.join("t.jsonl")]), None);
    let shown = picture(&mut app, 80, 24);
    let [draws, samplers] = [12_400, 32_700].map(grouped);
    let expected = [
        format!("60.0 frames and {draws} draws a second, 25.0 % repaired"),
        format!("room for {samplers} samplers and 16 border colours · copied sets: 3"),
    ];
    assert_eq!(shown[3..5], expected);
    let json = app.model.json();
    let rates = serde_json::json!({ "frames": 60.0, "draws": 12_400.0, "repaired": 3100.0 });
    assert_eq!((&json["pulse"]["a_second"], &json["pulse"]["draws"]), (&rates, &12_500.into()));
    // A trace without one says nothing of it.
    assert!(App::new(model(&[data("all.jsonl")]), None).model.json()["pulse"].is_null());
}

#[test]
fn a_wide_page_has_the_text_beside_the_list() {
    let folder = Folder::new();
    let mut app = app(&folder);
    press(&mut app, "4/linear-filter\n");
    let shown = picture(&mut app, 200, 50);
    assert!(shown[6].contains("sampler") && shown[6].contains("change"), "{}", shown[6]);
    assert!(shown[7..].iter().any(|line| line.contains("D16_UNORM") && line.contains("magFilter LINEAR → NEAREST")));
    let beside =
        shown[7..49].iter().map(|line| line.chars().skip(118).collect::<String>()).collect::<Vec<_>>().join("\n");
    assert!(beside.contains("fingerprint: ") && beside.contains("linear-filter (rule)"), "{beside}");
    press(&mut app, "\n↓↓");
    let scrolled = picture(&mut app, 200, 50);
    assert!(scrolled[6..].iter().any(|line| line.contains("D16_UNORM")) && scrolled[49].contains("scroll"));
}

#[test]
fn columns_share_the_width() {
    assert_eq!(page::fitting(&[10, 10, 10], 40), [10, 10, 16]);
    assert_eq!(page::fitting(&[10, 10, 10], 32), [10, 10, 8]);
    // Two characters of the third are no use to anybody.
    assert_eq!(page::fitting(&[10, 10, 10], 26), [10, 14]);
    assert_eq!(page::fitting(&[10, 10, 10], 5), [5, 0]);
    assert_eq!(page::fitting(&[], 5), [0; 0]);
}

#[test]
fn lines_are_wrapped_between_words() {
    assert_eq!(page::wrap("  one two three", 9), ["  one two", "  three"]);
    assert_eq!(page::wrap("longerthanthat a", 5), ["longerthanthat", "a"]);
    assert_eq!(page::wrap("", 5), [""]);
}
