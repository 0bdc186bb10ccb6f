//! The instructions that samplin adds to each intercepted call.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::{Failure, Outcome, read, root, write};

const USAGE: &str = "\
Counts the instructions that samplin adds to each intercepted call, under callgrind, and compares them with the budgets.

    scripts/instructions [--bench PROGRAM] [--only ROW] [--update] [--json]

    --bench PROGRAM   the benchmark program (default: built with cargo)
    --only ROW        only rows whose name contains this
    --update          write the measured numbers as budgets, with a tenth and 3 instructions to spare
    --json            print JSON

Instructions are repeatable where time is not: the same library, driver and arguments give the same numbers on a busy machine. What
moves the heap, as a longer environment does, moves handles too, and with them how far look-ups in tables go: some rows then differ by
a tenth. So a row is over when it is so in each of several environments. The budgets are in bench/instructions.json, by row and size:
instructions added per call over no layer.";

const SIZES: &str = "1,64";

/// How many bytes the environment is made longer by, one after the other, for the rows that are over.
const LENGTHS: [usize; 5] = [300, 700, 1500, 3100, 6300];

/// The members of a JSON object, in their order.
struct Members<V>(Vec<(String, V)>);

impl<V> Members<V> {
    fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl<V: Serialize> Serialize for Members<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Members<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<V>(Vec<(String, V)>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
            type Value = Members<V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
                while let Some(member) = map.next_entry()? {
                    self.0.push(member);
                }
                Ok(Members(self.0))
            }
        }
        deserializer.deserialize_map(InOrder(Vec::new()))
    }
}

fn json(value: &impl Serialize) -> Result<String, Failure> {
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, format));
    written.map_err(|error| Failure::Input(error.to_string()))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[derive(Default)]
struct Arguments<'a> {
    bench: Option<&'a str>,
    only: Option<&'a str>,
    updates: bool,
    prints_json: bool,
}

impl<'a> Arguments<'a> {
    fn of(arguments: &[&'a str]) -> Option<Self> {
        let mut new = Arguments::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--bench" => new.bench = Some(rest.next()?),
                "--only" => new.only = Some(rest.next()?),
                "--update" => new.updates = true,
                "--json" => new.prints_json = true,
                _ => return None,
            }
        }
        Some(new)
    }
}

/// Builds the benchmark. As the tests are built, so that nothing is compiled for it alone: what the program itself takes is subtracted,
/// and only the layer has to be the released one.
fn program() -> Result<PathBuf, Failure> {
    let arguments = ["build", "--locked", "--workspace", "--bin", "samplin-bench", "--message-format", "json"];
    let done = Command::new("cargo").args(arguments).current_dir(root()).stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| Failure::Input(format!("cargo: {error}")))?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let messages = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut of_bench = messages.filter(|message| message["target"]["name"] == "samplin-bench");
    let path = of_bench.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.ok_or_else(|| Failure::Input("cargo built no samplin-bench".into()))
}

/// What the layer itself took, and nothing that it calls.
fn own(text: &str) -> u64 {
    let (mut total, mut is_inside, mut is_call) = (0, false, false);
    let mut names: HashMap<&str, &str> = HashMap::new();
    for line in text.lines() {
        let object = line.strip_prefix("ob=").map(|rest| (false, rest));
        if let Some((is_callee, rest)) = object.or_else(|| line.strip_prefix("cob=").map(|rest| (true, rest))) {
            let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
            if !name.is_empty() {
                names.insert(number, name);
            }
            if !is_callee {
                is_inside = names.get(number).is_some_and(|name| name.ends_with("libVkLayer_samplin.so"));
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| "-+*".contains(first) || first.is_ascii_digit())
            && let Some((_, cost)) = line.split_once(' ')
            && let Ok(cost) = cost.parse::<u64>()
        {
            total += if is_inside && !is_call { cost } else { 0 };
            is_call = false;
        }
    }
    total
}

/// What the benchmark says of a sample.
#[derive(Deserialize)]
struct Row {
    row: String,
    size: u64,
    supported: bool,
    #[serde(default)]
    own: bool,
    #[serde(default)]
    layer: bool,
    #[serde(default)]
    calls: f64,
    counted: Option<bool>,
}

impl Row {
    fn key(&self) -> String {
        format!("{} @ {}", self.row, self.size)
    }
}

/// A folder that goes with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("samplin-instructions-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Instructions added per call, by row and size, and the rows that the device cannot do.
type Measured = (Members<f64>, BTreeSet<String>);

/// Runs the benchmark; `length` makes the environment longer by that many bytes.
fn measure(bench: &Path, only: Option<&str>, length: usize) -> Result<Measured, Failure> {
    let folder = Scratch::new()?;
    let out = folder.0.join("out");
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", "--instr-atstart=no", "--combine-dumps=no"]);
    command.arg(format!("--callgrind-out-file={}", out.display())).arg(bench).args(["--count", "--sizes", SIZES]);
    command.args(only.iter().flat_map(|row| ["--only", row]));
    // The released layer, whatever was built last.
    if std::env::var_os("SAMPLIN_LAYER_DIR").is_none() {
        command.env("SAMPLIN_LAYER_DIR", root());
    }
    if length > 0 {
        command.env("PADDING", "x".repeat(length));
    }
    let done = command.stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| Failure::Input(format!("valgrind: {error} (apt-get install valgrind)")))?;
    if !done.status.success() {
        return Err(Failure::Input(format!("the benchmark ended with {}", done.status)));
    }
    let rows: Vec<Row> =
        serde_json::from_slice(&done.stdout).map_err(|error| Failure::Input(format!("the benchmark: {error}")))?;
    let (rows, unsupported): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.supported);
    let mut bare: BTreeMap<String, f64> = BTreeMap::new();
    let mut added = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let text = read(&folder.0.join(format!("out.{}", at + 1)))?;
        if !text.contains("Client Request: sample") {
            return Err(Failure::Input(format!("dump {} is not of a sample", at + 1)));
        }
        // Where the heap is in another order each time, which is most of what a frame takes, only what the layer took. Elsewhere not
        // the summary, which also has what callgrind adds to functions that were entered before the sample, or takes back.
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
        let count = if row.own { Some(own(&text)) } else { total };
        let count = count.ok_or_else(|| Failure::Input(format!("dump {} has no total", at + 1)))? as f64;
        let key = row.key();
        if row.counted == Some(false) {
            continue;
        } else if row.layer {
            let without =
                bare.get(&key).ok_or_else(|| Failure::Input(format!("{key} has no run without the layer")))?;
            added.push((key, ((count - without) / row.calls * 10.0).round() / 10.0));
        } else {
            bare.insert(key, count);
        }
    }
    Ok((Members(added), unsupported.iter().map(Row::key).collect()))
}

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let arguments = Arguments::of(arguments).ok_or(Failure::Usage(USAGE))?;
    let bench = arguments.bench.map_or_else(program, |path| Ok(PathBuf::from(path)))?;
    let path = root().join("bench/instructions.json");
    let budgets = || -> Result<Members<u64>, Failure> {
        serde_json::from_str(&read(&path)?).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
    };
    let (mut added, unsupported) = measure(&bench, arguments.only, 0)?;
    if arguments.updates {
        // Rows that --only leaves out keep their budgets. Less than nothing is what the driver is not called for.
        let is_left = |key: &str| arguments.only.is_some_and(|only| !key.contains(only));
        let (before, budget) = (budgets()?, |value: f64| (value.max(0.0) * 1.1 + 3.0) as u64);
        let mut new: Vec<(String, u64)> = added.0.iter().map(|(key, value)| (key.clone(), budget(*value))).collect();
        for (key, kept) in before.0.into_iter().filter(|(key, _)| unsupported.contains(key) || is_left(key)) {
            match new.iter_mut().find(|(name, _)| *name == key) {
                Some(member) => member.1 = kept,
                None => new.push((key, kept)),
            }
        }
        write(&path, &(json(&Members(new))? + "\n"))?;
    }
    let budgets = budgets()?;
    if arguments.prints_json {
        #[derive(Serialize)]
        struct Answer<'a> {
            added: &'a Members<f64>,
            budgets: &'a Members<u64>,
        }
        println!("{}", json(&Answer { added: &added, budgets: &budgets })?);
    }
    let is_over = |key: &str, value: f64| budgets.get(key).is_some_and(|budget| value > *budget as f64);
    for length in LENGTHS {
        let over = added.0.iter().filter(|(key, value)| is_over(key, *value));
        let rows: BTreeSet<String> = over.filter_map(|(key, _)| Some(key.rsplit_once(" @ ")?.0.to_owned())).collect();
        // Many at once are measured faster together.
        let rows: Vec<Option<&str>> = match rows.len() {
            0..16 => rows.iter().map(|row| Some(row.as_str())).collect(),
            _ => vec![arguments.only],
        };
        for row in rows {
            let (again, _) = measure(&bench, row, length)?;
            for (key, value) in &mut added.0 {
                *value = again.get(key).map_or(*value, |other| value.min(*other));
            }
        }
    }
    let [mut well, mut none, mut over] = [const { Vec::new() }; 3];
    for (key, value) in &added.0 {
        let (list, verdict) = match budgets.get(key) {
            None => (&mut none, "no budget"),
            Some(_) if is_over(key, *value) => (&mut over, "over"),
            Some(_) => (&mut well, "ok"),
        };
        let budget = budgets.get(key).map_or_else(|| "None".to_owned(), u64::to_string);
        list.push(format!("{value:9.1}  of {budget:>6}  {verdict:9}  {key}"));
    }
    let mut holds = none.is_empty() && over.is_empty();
    if !arguments.prints_json {
        // What is wrong comes last, where it is seen.
        [well, none, over].iter().flatten().for_each(|line| println!("{line}"));
    }
    if arguments.only.is_none() {
        let is_missing = |key: &&String| added.get(key).is_none() && !unsupported.contains(*key);
        let missing: BTreeSet<&String> = budgets.0.iter().map(|(key, _)| key).filter(is_missing).collect();
        missing.iter().for_each(|key| eprintln!("not measured: {key}"));
        holds &= missing.is_empty();
    }
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_layer_itself_took_counts() {
        let text = "ob=(1) /l/libVkLayer_samplin.so\nfn=(1) a\n12 30\n+1 4\ncob=(2) /l/libc.so\ncfn=(2) b\ncalls=1 0\n* 500\n-2 6\n\
            ob=(2)\nfn=(2)\n7 900\nob=(1)\n8 2\n";
        assert_eq!(own(text), 30 + 4 + 6 + 2);
    }

    #[test]
    fn members_keep_their_order() {
        let text = "{\n    \"b @ 1\": 2,\n    \"a @ 1\": 1\n}";
        let members: Members<u64> = serde_json::from_str(text).unwrap();
        assert_eq!((json(&members).ok().unwrap(), members.get("a @ 1")), (text.to_owned(), Some(&1)));
    }

    #[test]
    fn arguments_are_its_own() {
        let of = |list: &[&str]| Arguments::of(list).map(|found| (found.only.map(str::to_owned), found.updates));
        assert_eq!(of(&["--only", "x", "--update"]), Some((Some("x".to_owned()), true)));
        assert!(of(&["--only"]).is_none() && of(&["x"]).is_none());
    }
}
