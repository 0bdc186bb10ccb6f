//! End to end: through the real loader, with the Khronos validation layer below samplin, on a real (software) driver.
//!
//! Most cases are a row of a table ([`cases`]) that runs three times: without samplin, when validation must report
//! exactly the expected violations; with it, when validation must be silent, the pixels those of the legalized sampler and the
//! trace exactly the expected changes; and as its legal twin, which must come out untouched. Start reading at
//! [`run`] for how a context is made and judged.
//!
//! A case that a device cannot do says so with `SKIP: <reason>`, and is ignored where the harness can tell; every skip has to
//! stand in a list of `tests/skips`.

#[path = "e2e/blits.rs"]
mod blits;
#[path = "e2e/cases.rs"]
mod cases;
#[path = "e2e/chain.rs"]
mod chain;
#[path = "e2e/faults.rs"]
mod faults;
#[path = "e2e/input.rs"]
mod input;
#[path = "e2e/instances.rs"]
mod instances;
#[path = "e2e/layouts.rs"]
mod layouts;
#[path = "e2e/legal.rs"]
mod legal;
#[path = "e2e/legality.rs"]
mod legality;
#[path = "e2e/paths.rs"]
mod paths;
#[path = "e2e/process.rs"]
mod process;
#[path = "e2e/random.rs"]
mod random;
#[path = "e2e/run.rs"]
mod run;
#[path = "e2e/scene.rs"]
mod scene;
#[path = "e2e/settings.rs"]
mod settings;
#[path = "e2e/threads.rs"]
mod threads;
#[path = "e2e/ycbcr.rs"]
mod ycbcr;

fn main() -> std::process::ExitCode {
    if let Some(status) = input::application().or_else(process::application).or_else(faults::application) {
        return status;
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = [
        chain::trials(),
        legality::trials(),
        legal::trials(),
        paths::trials(),
        blits::trials(),
        layouts::trials(),
        instances::trials(),
        settings::trials(),
        input::trials(),
        threads::trials(),
        ycbcr::trials(),
        random::trials(),
        process::trials(),
        faults::trials(),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}
