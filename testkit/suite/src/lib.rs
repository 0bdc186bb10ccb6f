//! What the end-to-end suites share: [`run`] makes contexts and judges them, [`scene`] has what they sample, [`opengl`] is what some
//! results are compared with.

pub mod opengl;
pub mod run;
pub mod scene;
