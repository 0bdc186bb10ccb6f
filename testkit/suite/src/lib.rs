//! What the end-to-end suites share: [`run`] makes contexts and judges them, [`scene`] has what they sample.

pub mod run;
pub mod scene;
