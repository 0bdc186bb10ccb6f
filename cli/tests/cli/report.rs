//! `samplin report`, as a process, and its page in a real browser (Chromium, over the DevTools protocol).

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::*;
use serde_json::{Value, json};

fn page(home: &Folder) -> PathBuf {
    borrow(home, "all.jsonl");
    samplin_in(home, ["report", "all.jsonl", "-o", "report.html"]).quiet(0);
    home.join("report.html")
}

/// Rows are grouped by rule, format and reason; the samplers and all that they sum up to are inside.
#[test]
fn changes_are_grouped_with_their_samplers_inside() {
    let home = Folder::new();
    let page = std::fs::read_to_string(page(&home)).unwrap();
    assert!(page.len() < 2_000_000, "{}", page.len());
    let number = |text: &str, after: &str| {
        let (_, rest) = text.split_once(after).unwrap();
        rest.split('"').next().unwrap().parse::<u64>().unwrap()
    };
    let value = |text: &str, mark: &str| {
        text.split_once(mark).map(|(_, rest)| rest.split("</").next().unwrap().to_owned()).unwrap_or_default()
    };
    let table = page.split("<table id=\"table\"").nth(1).unwrap().split("\n  </table>").next().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    let mut members = 0;
    for group in table.split("<tr class=\"row\"").skip(1) {
        let (row, inside) = group.split_once("<tr class=\"inside\">").unwrap();
        let key = ["data-c=\"2\">", "data-c=\"3\">", "data-c=\"7\">", "data-c=\"8\">", "data-c=\"9\">"]
            .map(|mark| value(row, mark));
        assert!(seen.insert(key.clone()), "{key:?} twice");
        let of = |member: &str| (number(member, "data-v=\""), member.matches("class=\"change\"").count());
        let inner: Vec<(u64, usize)> = inside.split("<tr data-c=\"1\"").skip(1).map(of).collect();
        let counts: Vec<u64> = inner.iter().map(|(count, _)| *count).collect();
        assert!(!counts.is_empty() && counts.is_sorted_by(|a, b| a >= b), "{key:?}: {counts:?}");
        assert_eq!(
            number(row, "data-v=\"yes\">\n      <td class=\"number\" data-v=\""),
            inner.iter().map(|(count, changes)| count * *changes as u64).sum::<u64>(),
            "{key:?}"
        );
        members += inner.iter().map(|(_, changes)| changes).sum::<usize>();
    }
    assert!(seen.len() > 20 && members > 3 * seen.len(), "{} groups of {members}", seen.len());
    let told = samplin_in(&home, ["--json", "inspect", "all.jsonl"]).quiet(0);
    let told: Value = serde_json::from_str(&told).unwrap();
    let changes: usize =
        told["decisions"].as_array().unwrap().iter().map(|d| d["changes"].as_array().unwrap().len()).sum();
    assert_eq!(members, changes);
}

/// Every finding says how to repair it: by the rule's page, and by the name of what is left.
#[test]
fn every_finding_says_how_to_repair_it() {
    let home = Folder::new();
    let page = std::fs::read_to_string(page(&home)).unwrap();
    let rows = page.matches("<tr class=\"row\"").count();
    assert_eq!(page.matches("<details class=\"repair\"").count(), rows);
    for rule in page.split("data-rule=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(page.matches(&format!("id=\"repair-{rule}\"")).count(), 1, "{rule}");
    }
    let repair = page.split("id=\"repair-linear-filter\"").nth(1).unwrap().split("</article>").next().unwrap();
    assert!(repair.contains("vkGetPhysicalDeviceFormatProperties(gpu, format, &amp;p);"), "{repair}");
    assert!(repair.contains("<code>VK_FORMAT_R16_SFLOAT</code>"), "{repair}");
}

/// As a table for other programs: every change and all that is left, whatever the page holds.
#[test]
fn the_findings_are_written_as_csv() {
    let home = holding(["all.jsonl"]);
    samplin_in(&home, ["report", "all.jsonl", "-o", "page.html", "--csv", "all.csv", "--rows", "3"]).quiet(0);
    let mut reader = csv::Reader::from_path(home.join("all.csv")).unwrap();
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|found| found == name).unwrap();
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let told: Value = serde_json::from_str(&samplin_in(&home, ["--json", "inspect", "all.jsonl"]).quiet(0)).unwrap();
    let sum = |kind: &str| {
        let of_kind = lines.iter().filter(|line| &line[at("kind")] == kind);
        of_kind.map(|line| line[at("count")].parse::<u64>().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("change"), told["changes"]);
    let left: u64 = told["unresolved"].as_array().unwrap().iter().map(|item| item["count"].as_u64().unwrap()).sum();
    assert_eq!(sum("unresolved"), left);
    assert!(lines.iter().any(|line| &line[at("what")] == "no-free-set" && &line[at("sampler_name")] == "of all sets"));

    let printed = samplin_in(&home, ["report", "all.jsonl", "-o", "page.html", "--csv", "-"]).quiet(0);
    assert_eq!(printed, home.read("all.csv"));
    samplin_in(&home, ["report", "all.jsonl", "-o", "-", "--csv", "-"]).fails(2);
    samplin_in(&home, ["report", "all.jsonl", "-o", "one", "--csv", "one"]).fails(2);
    samplin_in(&home, ["report", "all.jsonl", "--csv", "all.jsonl"]).fails(2);
    let told = samplin_in(&home, ["--json", "report", "all.jsonl", "--csv", "b.csv"]).quiet(0);
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["csv"], "b.csv");
}

#[test]
fn a_page_is_written() {
    let home = holding(["decisions.jsonl"]);
    // What is in the page, without what it looks like.
    samplin_in(&home, ["report", "decisions.jsonl", "-o", "short.html", "--rows", "8"]).quiet(0);
    let page = home.read("short.html");
    let body = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    snapshot("report-body.txt", &(lines.join("\n") + "\n"));
}

/// A browser with one page.
struct Browser {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// Events that came while an answer was waited for.
    events: RefCell<Vec<Value>>,
    _profile: Folder,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    /// Starts Chromium; `None`, and says so, where there is none.
    fn start() -> Option<Self> {
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
            std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
                .any(|folder| folder.join(name).is_file())
        });
        let Some(program) = program else {
            skip("there is no chromium");
            return None;
        };
        let profile = Folder::new();
        let mut child = Command::new("sh")
            // The browser talks on descriptors 3 and 4.
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh", program])
            .args(
                "--headless=new --remote-debugging-pipe --no-first-run --disable-gpu --disable-background-networking"
                    .split(' '),
            )
            .args(["--disable-component-update", "--disable-sync", "--no-default-browser-check", "--hide-scrollbars"])
            // Tests often run as root, or in containers without user namespaces.
            .arg("--no-sandbox")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts a shell");
        let input = child.stdin.take().expect("is piped");
        let output = BufReader::new(child.stdout.take().expect("is piped"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for message in output.split(0) {
                let Ok(message) = message else { return };
                if sender.send(serde_json::from_slice(&message).expect("JSON")).is_err() {
                    return;
                }
            }
        });
        let mut browser =
            Self { child, input, answers, next: 0, session: None, events: RefCell::default(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    fn receive(&self) -> Value {
        self.answers.recv_timeout(Duration::from_secs(120)).expect("the browser answers")
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).expect("writes");
        self.input.flush().expect("writes");
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.borrow_mut().push(answer);
        }
    }

    fn open(&mut self, path: &Path, hash: &str) {
        // To nowhere first: a change of the part behind # alone would not load the page anew.
        for url in ["about:blank".to_owned(), format!("file://{}{hash}", path.display())] {
            self.events.borrow_mut().retain(|event| event["method"] != "Page.loadEventFired");
            self.call("Page.navigate", json!({ "url": url }));
            while !self.events.borrow().iter().any(|event| event["method"] == "Page.loadEventFired") {
                let event = self.receive();
                self.events.borrow_mut().push(event);
            }
        }
    }

    /// The value of an expression in the page.
    #[track_caller]
    fn value(&mut self, expression: &str) -> Value {
        let answer = self
            .call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    #[track_caller]
    fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// Texts of a column of the rows that are shown.
    fn column(&mut self, table: &str, index: usize) -> Vec<String> {
        let expression = format!(
            "[...document.querySelectorAll('#{table} > tbody:not([hidden]) > .row')].map(row => row.cells[{index}].dataset.v ?? row.cells[{index}].textContent.trim())"
        );
        let value = self.value(&expression);
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// Whether a column of the rows that are shown is in order, as people sort: numbers inside names count as numbers.
    fn is_sorted(&mut self, table: &str, index: usize, down: bool) -> bool {
        let values = serde_json::to_string(&self.column(table, index)).unwrap();
        let sign = if down { "<= 0" } else { ">= 0" };
        let expression = format!(
            "{values}.every((value, index, all) => !index || new Intl.Collator('en', {{numeric: true, sensitivity: 'base'}}).compare(value, all[index - 1]) {sign})"
        );
        self.value(&expression) == true
    }

    /// Clicks the middle of an element, as a mouse does.
    fn click(&mut self, selector: &str) {
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    fn key(&mut self, key: &str, text: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            _ => 0,
        };
        let down = json!({ "type": "keyDown", "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
    }

    /// What the page complained about: exceptions, errors and warnings in the console, requests to anywhere.
    fn complaints(&mut self) -> Vec<String> {
        self.value("1");
        let events = self.events.borrow();
        events
            .iter()
            .filter(|event| match event["method"].as_str().unwrap_or("") {
                "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled" => true,
                "Network.requestWillBeSent" => {
                    let url = event["params"]["request"]["url"].as_str().unwrap_or("");
                    !["file://", "about:", "blob:"].iter().any(|own| url.starts_with(own))
                }
                _ => false,
            })
            .map(Value::to_string)
            .collect()
    }
}

#[test]
fn the_page_works_in_a_browser() {
    let home = Folder::new();
    let path = page(&home);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&path, "");
    let count = |text: &str| text.split(' ').next().unwrap().parse::<usize>().unwrap();
    let total = count(&browser.text("document.getElementById('shown').textContent"));
    assert!(total > 20, "{total}");
    assert_eq!(browser.column("table", 0).len(), total.min(300));

    // Sorting: by count from the largest at first, by another column on a click, back on the next one.
    let counts: Vec<u64> = browser.column("table", 0).iter().map(|text| text.parse().unwrap()).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b));
    browser.click("th[data-key=format] button");
    assert!(browser.is_sorted("table", 2, false), "{:?}", browser.column("table", 2));
    assert_eq!(browser.text("document.querySelector('th[data-key=format]').ariaSort"), "ascending");
    assert_eq!(browser.value("document.querySelector('th[data-key=count]').ariaSort"), Value::Null);
    browser.click("th[data-key=format] button");
    assert!(browser.is_sorted("table", 2, true), "{:?}", browser.column("table", 2));
    assert!(browser.text("location.hash").contains("sort=format&dir=desc"));

    // Filtering: by rule, then by words, then neither.
    browser.value("(() => { const s = document.getElementById('rule'); s.value = 'linear-filter'; s.dispatchEvent(new Event('change')); })()");
    let rules = browser.column("table", 1);
    assert!(!rules.is_empty() && rules.len() < total && rules.iter().all(|rule| rule == "linear-filter"), "{rules:?}");
    assert_eq!(count(&browser.text("document.getElementById('shown').textContent")), rules.len());

    // With the keyboard alone: / to the search, words, Escape, Tab and Enter to sort.
    browser.key("/", "/");
    assert_eq!(browser.text("document.activeElement.id"), "query");
    browser.call("Input.insertText", json!({ "text": "trilinear d16_unorm" }));
    let found = browser.column("table", 1);
    assert!(!found.is_empty() && found.len() < rules.len(), "{found:?}");
    assert!(browser.text("location.hash").contains("q=trilinear"));
    browser.key("Escape", "");
    assert_eq!(browser.column("table", 1).len(), rules.len());
    browser.click("#filters button[type=reset]");
    browser.value("new Promise(done => setTimeout(done, 50))");
    assert_eq!(count(&browser.text("document.getElementById('shown').textContent")), total);
    browser.value("document.querySelector('th[data-key=rule] button').focus()");
    browser.key("Enter", "\r");
    assert!(browser.is_sorted("table", 1, false));
    let order = browser.value(
        "[...document.querySelectorAll('a, button, input, select, [tabindex=\"0\"], summary')].every(e => e.tabIndex >= 0)",
    );
    assert_eq!(order, true, "everything can be reached with Tab");

    // The address brings a view back.
    browser.open(&path, "#rule=minmax&sort=format&dir=asc");
    assert!(browser.column("table", 1).iter().all(|rule| rule == "minmax"));
    assert!(browser.is_sorted("table", 2, false));
    browser.open(&path, "#rule=%3Cnonsense%3E&sort=__proto__&dir=up");
    assert_eq!(count(&browser.text("document.getElementById('shown').textContent")), total);

    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Samplers are folded in and out, and the repair is shown where it is asked for.
#[test]
fn findings_open_in_a_browser() {
    let home = Folder::new();
    let path = page(&home);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&path, "#rule=linear-filter");
    let first = "#table > tbody:not([hidden])";
    let seen = format!("document.querySelector('{first} .members').checkVisibility()");
    assert_eq!(browser.value(&seen), false);
    browser.click(&format!("{first} summary"));
    assert_eq!(browser.value(&seen), true);
    browser.click(&format!("{first} .repair summary"));
    browser.value("new Promise(done => setTimeout(done, 50))");
    let text = browser.text(&format!("document.querySelector('{first} .repair').innerText"));
    assert!(text.contains("vkGetPhysicalDeviceFormatProperties(gpu, format, &p);"), "{text}");
    assert!(browser.text("location.hash").contains("rule=linear-filter"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// What is left is sorted and searched like what is changed, and each keeps its own view in the address.
#[test]
fn what_is_left_is_sorted_and_searched_in_a_browser() {
    let home = Folder::new();
    let path = page(&home);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&path, "");
    let all = browser.column("left-table", 1);
    let changes = browser.column("table", 1).len();
    assert!(all.len() > 5, "{all:?}");
    let counts: Vec<u64> = browser.column("left-table", 0).iter().map(|text| text.parse().unwrap()).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    for down in [false, true] {
        browser.click("#left-table th[data-key=format] button");
        assert!(browser.is_sorted("left-table", 3, down), "{:?}", browser.column("left-table", 3));
    }
    browser.value("document.getElementById('left-query').focus()");
    browser.call("Input.insertText", json!({ "text": "no-free-set" }));
    let found = browser.column("left-table", 1);
    assert!(
        !found.is_empty() && found.len() < all.len() && found.iter().all(|what| what == "no-free-set"),
        "{found:?}"
    );
    assert_eq!(browser.column("table", 1).len(), changes, "the other table is as it was");
    let hash = browser.text("location.hash");
    assert_eq!(hash, "#left-q=no-free-set&left-sort=format&left-dir=desc");
    browser.open(&path, &hash);
    assert_eq!(browser.column("left-table", 1), found);
    browser.click("#left-filters button[type=reset]");
    browser.value("new Promise(done => setTimeout(done, 50))");
    assert_eq!(browser.column("left-table", 1).len(), all.len());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The buttons save what is shown: all that `--csv` writes, or what the filters leave of it.
#[test]
fn the_page_saves_what_it_shows() {
    let home = holding(["all.jsonl"]);
    // Names that a spreadsheet or a table could take for something else.
    let name = "=1+1, \"two\"\nlines <b>&amp;";
    let pair = pair(json!({ "sampler": name, "view": "@x" }), "VK_FORMAT_D16_UNORM", json!([made("lod-bias")]));
    home.write("all.jsonl", home.read("all.jsonl") + &pair);
    samplin_in(&home, ["report", "all.jsonl", "-o", "report.html", "--csv", "all.csv"]).quiet(0);
    let lines = |path: PathBuf| {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
        let mut lines: Vec<Vec<String>> =
            reader.records().map(|line| line.unwrap().iter().map(str::to_owned).collect()).collect();
        let head = lines.remove(0);
        lines.sort();
        (head, lines)
    };
    let (head, all) = lines(home.join("all.csv"));
    assert!(all.iter().any(|line| line.iter().any(|cell| cell == "'=1+1, \"two\"\nlines <b>&amp;")), "{all:?}");
    let Some(mut browser) = Browser::start() else { return };
    let downloads = home.join("downloads");
    std::fs::create_dir(&downloads).unwrap();
    browser.call("Page.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": downloads }));
    let save = |browser: &mut Browser, hash: &str, prefix: &str, kind: &str| {
        let file = downloads.join(format!("samplin-{kind}.csv"));
        let _ = std::fs::remove_file(&file);
        browser.open(&home.join("report.html"), hash);
        browser.click(&format!("#{prefix}csv"));
        for _ in 0..200 {
            if file.is_file() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let (found, lines) = lines(file);
        assert_eq!(found, head);
        lines
    };
    let of = |test: &dyn Fn(&[String]) -> bool| all.iter().filter(|line| test(line)).cloned().collect::<Vec<_>>();
    let changes = save(&mut browser, "", "", "change");
    assert_eq!(changes, of(&|line| line[0] == "change"));
    assert_eq!(save(&mut browser, "", "left-", "unresolved"), of(&|line| line[0] == "unresolved"));
    let drawn = save(&mut browser, "#rule=linear-filter&path=draw", "", "change");
    assert_eq!(drawn, of(&|line| line[0] == "change" && line[2] == "linear-filter" && line[14] == "draw"));
    assert!(!drawn.is_empty() && drawn.len() < changes.len());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_page_follows_scheme_and_width() {
    let home = Folder::new();
    let path = page(&home);
    let Some(mut browser) = Browser::start() else { return };
    let background = "getComputedStyle(document.documentElement).backgroundColor";
    let mut seen = Vec::new();
    for scheme in ["light", "dark"] {
        browser.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
        for (width, height) in [(1400, 900), (420, 800), (320, 640)] {
            browser.call(
                "Emulation.setDeviceMetricsOverride",
                json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 }),
            );
            browser.open(&path, "");
            browser.value("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
            browser.value("new Promise(done => setTimeout(done, 50))");
            let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
            let beyond = browser.value(BEYOND);
            assert!(wide <= width, "{scheme}: {wide} of {width} wide, by {beyond}: the page must not scroll sideways");
            let contrast = browser.value(CONTRAST).as_f64().unwrap();
            assert!(contrast >= 4.5, "{scheme}, {width}: text and ground differ by {contrast:.1} only");
        }
        seen.push(browser.text(background));
    }
    assert_ne!(seen[0], seen[1], "dark is not light");
    // The button overrides the system, here dark: auto, light, dark, auto.
    browser.click("#theme");
    assert_eq!(browser.text(background), seen[0]);
    browser.click("#theme");
    assert_eq!(browser.text(background), seen[1]);
    browser.click("#theme");
    assert_eq!(browser.text("document.querySelector('#theme span').textContent"), "auto");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Elements that reach beyond the right edge.
const BEYOND: &str = "[...document.querySelectorAll('body *')]
  .filter((e) => !e.closest('pre') && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .slice(0, 8).map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 30)}`)";

/// The least contrast (WCAG 2.2, 1.4.3) of the page's text colours with what is behind them.
const CONTRAST: &str = "(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  let least = 21;
  for (const e of document.querySelectorAll('h1, h2, h3, p, li, pre, code, dt, dd, th button, td, td *, .card span, label, summary, button, input, select, kbd, output, a:not(.skip)')) {
    if (!e.textContent.trim() || e.closest('[hidden]')) continue;
    const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(ground(e))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()";

/// What the tool predicts of a run on a device, as records.
fn natively(home: &Folder, device: &str) -> Vec<Value> {
    let printed = samplin_in(home, ["predict", "all.jsonl", "--device", device, "-o", "-"]).quiet(0);
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The code in the page decides what the tool decides, on every device that comes with samplin.
#[test]
fn the_pages_code_decides_as_the_tool_does() {
    const ASK: &str = r#"
        const fs = require("fs");
        const [code, trace, ...devices] = process.argv.slice(1);
        const module = new WebAssembly.Module(fs.readFileSync(code));
        for (const device of devices) {
            const { exports } = new WebAssembly.Instance(module, {});
            const put = (bytes) => {
                const at = exports.room(bytes.length);
                new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
                return at;
            };
            const [a, b] = [fs.readFileSync(trace), fs.readFileSync(device)];
            const at = exports.predicted(put(a), a.length, put(b), b.length, 0);
            const length = new DataView(exports.memory.buffer).getUint32(at, true);
            console.log(Buffer.from(exports.memory.buffer, at + 4, length).toString());
        }
    "#;
    if Command::new("node").arg("--version").output().is_err() {
        return skip("there is no node");
    }
    let home = holding(["all.jsonl"]);
    let code = home.write("decide.wasm", samplin_cli::report::interactive::CODE);
    let shipped = samplin_cli::devices::SHIPPED;
    let files: Vec<PathBuf> = shipped.iter().map(|one| home.write(&format!("{}.json", one.short), one.text)).collect();
    let said = Command::new("node").arg("-e").arg(ASK).arg(&code).arg(home.join("all.jsonl")).args(&files).output();
    let said = said.expect("node starts");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let answers = String::from_utf8(said.stdout).unwrap();
    assert_eq!(answers.lines().count(), shipped.len());
    for (device, answer) in shipped.iter().zip(answers.lines()) {
        let answer: Value = serde_json::from_str(answer).unwrap();
        let own = samplin_page::predict(&home.read("all.jsonl"), device.text, false);
        assert!(answer == own, "{}: scripts/page-code builds the code anew", device.short);
    }
    // The tool reads the trace by itself.
    for device in shipped.iter().step_by(5) {
        let answer = samplin_page::predict(&home.read("all.jsonl"), device.text, false);
        assert_eq!(answer["records"].as_array().unwrap(), &natively(&home, device.short), "{}", device.short);
    }
}

/// A reader chooses a device, or gives a file, and sees what the run would be there, from the page alone.
#[test]
fn a_page_predicts_by_itself() {
    let home = holding(["all.jsonl"]);
    samplin_in(&home, ["report", "all.jsonl", "-o", "report.html", "--interactive"]).quiet(0);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&home.join("report.html"), "");
    assert_eq!(browser.value("document.getElementById('other-result').hidden"), true);
    // How many changes it tells of, or what else it says.
    let told = |browser: &mut Browser| -> Value {
        let waited = "new Promise((done) => { const told = document.getElementById('other-told'); \
                      const look = () => told.textContent && !told.textContent.startsWith('Predicting') \
                      ? done(Number(told.dataset.changes ?? NaN) || told.textContent) : setTimeout(look, 20); look(); })";
        browser.value(waited)
    };
    let expected = |device: &str| -> u64 {
        let changes = |record: &Value| record["changes"].as_array().map_or(0, Vec::len) as u64;
        natively(&home, device).iter().map(changes).sum()
    };
    let choose =
        "const s = document.getElementById('other-name'); s.value = NAME; s.dispatchEvent(new Event('change'))";
    browser.value(&format!("(() => {{ {} }})()", choose.replace("NAME", "'adreno-650'")));
    assert_eq!(told(&mut browser), expected("adreno-650"));
    assert_eq!(browser.value("document.getElementById('other-result').hidden"), false);
    let rows = browser.value("document.querySelector('#other-table tbody').rows.length").as_u64().unwrap();
    assert!(rows > 5, "{rows}");

    // A file of another device, dropped.
    let text = samplin_cli::devices::SHIPPED.iter().find(|one| one.short == "apple-a8").unwrap().text;
    browser.value(&format!(
        "(() => {{ const data = new DataTransfer(); data.items.add(new File([{}], 'a8.json')); \
         document.getElementById('other-told').textContent = ''; \
         document.getElementById('other').dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, cancelable: true }})); }})()",
        Value::from(text)
    ));
    assert_eq!(told(&mut browser), expected("apple-a8"));
    let name = browser.text("document.getElementById('other-told').textContent");
    assert!(name.starts_with("apple-a8-moltenvk: "), "{name}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
