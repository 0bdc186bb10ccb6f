//! End to end: through the real loader, with the Khronos validation layer below samplin, on a real (software) driver.
//!
//! Most cases are a row of a table ([`cases`]) that runs three times: without samplin, when validation must report
//! exactly the expected violations; with it, when validation must be silent, the pixels those of the legalized sampler and the
//! trace exactly the expected changes; and as its legal twin, which must come out untouched. Start reading at
//! [`run`] for how a context is made and judged.
//!
//! A case that a device cannot do says so with `SKIP: <reason>`, and is ignored where the harness can tell; every skip has to
//! stand in a list of `tests/skips`.

mod aspects;
mod attachments;
mod blits;
mod cases;
mod chain;
mod faults;
mod heap;
mod input;
mod instances;
mod kept;
mod layouts;
mod legal;
mod legality;
mod named;
mod paths;
mod process;
mod random;
mod settings;
mod shaders;
mod stencils;
mod threads;
mod usages;
mod ycbcr;

use samplin_suite::{run, scene};
use samplin_testkit::again;

fn main() -> std::process::ExitCode {
    if let Some(part) = again::part() {
        again::tell(match part.split_once('/') {
            Some(("input", mode)) => input::application(mode),
            Some(("process", case)) => process::application(case),
            Some(("faults", case)) => faults::application(case),
            Some(("shaders", case)) => shaders::application(case),
            _ => panic!("{part} is no part"),
        });
        return std::process::ExitCode::SUCCESS;
    }
    let trials = [
        aspects::trials(),
        named::trials(),
        attachments::trials(),
        stencils::trials(),
        chain::trials(),
        legality::trials(),
        legal::trials(),
        paths::trials(),
        blits::trials(),
        heap::trials(),
        layouts::trials(),
        instances::trials(),
        kept::trials(),
        settings::trials(),
        shaders::trials(),
        input::trials(),
        threads::trials(),
        usages::trials(),
        ycbcr::trials(),
        random::trials(),
        process::trials(),
        faults::trials(),
    ];
    samplin_suite::forked::main(trials.into_iter().flatten().collect())
}
