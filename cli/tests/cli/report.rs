//! `samplin report`, as a process, and its page in a real browser (Chromium, over the DevTools protocol).

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{Folder, borrow, samplin_in, skip, snapshot};
use serde_json::{Value, json};

fn page(home: &Folder) -> PathBuf {
    borrow(home, "all.jsonl");
    samplin_in(home, ["report", "all.jsonl", "-o", "report.html"]).quiet(0);
    home.join("report.html")
}

#[test]
fn the_page_says_where_a_shader_finds_a_pair() {
    let home = Folder::new();
    borrow(&home, "all.jsonl");
    let page = samplin_in(&home, ["report", "all.jsonl", "-o", "-"]).quiet(0);
    for part in [
        "draw, shadow<br><span class=\"muted\">fragment: image at set 0 binding 0, sampler at set 0 binding 1</span>",
        "draw, split<br><span class=\"muted\">compute: image at set 0 binding 2, sampler at set 0 binding 1</span>",
        "no-free-set<br>“of all sets”<br><span class=\"muted\">compute: image at set 0 binding 2",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_page_is_written() {
    let home = Folder::new();
    borrow(&home, "decisions.jsonl");
    let told = samplin_in(&home, ["report", "decisions.jsonl", "-o", "page.html", "--title", "A <title>"]).quiet(0);
    assert!(told.starts_with("page.html: ") && told.contains("changes"), "{told}");
    let page = std::fs::read_to_string(home.join("page.html")).unwrap();
    assert!(page.contains("<h1>A &lt;title&gt;</h1>"));
    assert!(page.contains("VUID-vkCmdDraw-magFilter-04553"));
    let printed = samplin_in(&home, ["report", "decisions.jsonl", "-o", "-", "--title", "A <title>"]).quiet(0);
    assert_eq!(printed, page);
    // What is in the page, without what it looks like.
    samplin_in(&home, ["report", "decisions.jsonl", "-o", "short.html", "--rows", "8"]).quiet(0);
    let page = std::fs::read_to_string(home.join("short.html")).unwrap();
    let body = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    snapshot("report-body.txt", &(lines.join("\n") + "\n"));
}

#[test]
fn the_table_is_bounded() {
    let home = Folder::new();
    borrow(&home, "all.jsonl");
    samplin_in(&home, ["report", "all.jsonl", "-o", "page.html", "--rows", "10"]).quiet(0);
    let page = std::fs::read_to_string(home.join("page.html")).unwrap();
    let table = page.split("<table id=\"table\">").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(table.matches("<tr>").count(), 11, "ten rows and the head");
    assert!(page.contains("The table holds the 10 most frequent of"));
}

#[test]
fn a_page_that_cannot_be_is_refused() {
    let home = Folder::new();
    borrow(&home, "decisions.jsonl");
    let failure = samplin_in(&home, ["report", "decisions.jsonl", "-o", "decisions.jsonl"]).fails(2);
    assert!(failure.contains("take the place of the trace"), "{failure}");
    home.write("blocked", "a file");
    assert!(
        samplin_in(&home, ["report", "decisions.jsonl", "-o", "blocked/page.html"])
            .fails(4)
            .contains("blocked/page.html")
    );
    assert!(samplin_in(&home, ["report", "none.jsonl"]).fails(3).contains("none.jsonl: No such file"));
}

#[test]
fn hostile_text_stays_text() {
    let home = Folder::new();
    let name = r#"</script><script>alert(1)</script>\"'&"#;
    let line = format!(
        r#"{{"seq":1,"t_ns":1,"pid":1,"tid":1,"event":"pair","sampler":"0x1","view":"0x2","names":{{"sampler":"{name}","view":null}},"fingerprint":"00000000000000aa","format":"VK_FORMAT_D16_UNORM","aspect":"depth","view_type":"VK_IMAGE_VIEW_TYPE_2D","swizzle":"rgba","path":"update","changes":[{{"rule":"<b>","catalog":"B-1","vuid":"\"><img src=x>","field":"magFilter","from":"<i>","to":null,"because":"<u>","lost":"<s>"}}],"variant":null}}"#
    );
    home.write("hostile.jsonl", line + "\n");
    samplin_in(&home, ["report", "hostile.jsonl", "-o", "page.html"]).quiet(0);
    let page = std::fs::read_to_string(home.join("page.html")).unwrap();
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own");
    for tag in ["<b>", "<i>", "<u>", "<s>", "<img"] {
        assert!(!page.contains(tag), "{tag}");
    }
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
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-first-run",
                "--disable-gpu",
                "--disable-background-networking",
            ])
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
    fn column(&mut self, index: usize) -> Vec<String> {
        let expression = format!(
            "[...document.querySelectorAll('#table tbody tr:not([hidden])')].map(row => row.cells[{index}].dataset.v ?? row.cells[{index}].textContent.trim())"
        );
        let value = self.value(&expression);
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// Whether a column of the rows that are shown is in order, as people sort: numbers inside names count as numbers.
    fn is_sorted(&mut self, index: usize, down: bool) -> bool {
        let values = serde_json::to_string(&self.column(index)).unwrap();
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
                    !url.starts_with("file://") && !url.starts_with("about:")
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
    assert!(total > 100, "{total}");
    assert_eq!(browser.column(0).len(), total.min(300));

    // Sorting: by count from the largest at first, by another column on a click, back on the next one.
    let counts: Vec<u64> = browser.column(0).iter().map(|text| text.parse().unwrap()).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b));
    browser.click("th[data-key=format] button");
    assert!(browser.is_sorted(4, false), "{:?}", browser.column(4));
    assert_eq!(browser.text("document.querySelector('th[data-key=format]').ariaSort"), "ascending");
    assert_eq!(browser.value("document.querySelector('th[data-key=count]').ariaSort"), Value::Null);
    browser.click("th[data-key=format] button");
    assert!(browser.is_sorted(4, true), "{:?}", browser.column(4));
    assert!(browser.text("location.hash").contains("sort=format&dir=desc"));

    // Filtering: by rule, then by words, then neither.
    browser.value("(() => { const s = document.getElementById('rule'); s.value = 'stencil'; s.dispatchEvent(new Event('change')); })()");
    let rules = browser.column(1);
    assert!(!rules.is_empty() && rules.len() < total && rules.iter().all(|rule| rule == "stencil"), "{rules:?}");
    assert_eq!(count(&browser.text("document.getElementById('shown').textContent")), rules.len());

    // With the keyboard alone: / to the search, words, Escape, Tab and Enter to sort.
    browser.key("/", "/");
    assert_eq!(browser.text("document.activeElement.id"), "query");
    browser.call("Input.insertText", json!({ "text": "trilinear mipmapmode" }));
    let found = browser.column(1);
    assert!(!found.is_empty() && found.len() < rules.len(), "{found:?}");
    assert!(browser.text("location.hash").contains("q=trilinear"));
    browser.key("Escape", "");
    assert_eq!(browser.column(1).len(), rules.len());
    browser.click("#filters button[type=reset]");
    browser.value("new Promise(done => setTimeout(done, 50))");
    assert_eq!(count(&browser.text("document.getElementById('shown').textContent")), total);
    browser.value("document.querySelector('th[data-key=rule] button').focus()");
    browser.key("Enter", "\r");
    assert!(browser.is_sorted(1, false));
    let order = browser.value(
        "[...document.querySelectorAll('a, button, input, select, [tabindex=\"0\"], summary')].every(e => e.tabIndex >= 0)",
    );
    assert_eq!(order, true, "everything can be reached with Tab");

    // The address brings a view back.
    browser.open(&path, "#rule=minmax&sort=from&dir=asc");
    assert!(browser.column(1).iter().all(|rule| rule == "minmax"));
    assert!(browser.is_sorted(2, false));
    browser.open(&path, "#rule=%3Cnonsense%3E&sort=__proto__&dir=up");
    assert_eq!(count(&browser.text("document.getElementById('shown').textContent")), total);

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
        for (width, height) in [(1280, 900), (400, 800)] {
            browser.call(
                "Emulation.setDeviceMetricsOverride",
                json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 }),
            );
            browser.open(&path, "");
            let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
            assert!(wide <= width, "{scheme}: {wide} of {width} wide: the page must not scroll sideways");
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
  for (const e of document.querySelectorAll('h1, h2, p, dt, dd, th button, td, td *, .card span, label, summary, a:not(.skip)')) {
    if (!e.textContent.trim() || e.closest('[hidden]')) continue;
    const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(ground(e))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()";
