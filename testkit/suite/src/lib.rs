//! What the end-to-end suites share: [`run`] makes contexts and judges them, [`forked`] is the main
//! function, [`scene`] has what they sample, [`opengl`] is what some
//! results are compared with.

pub mod forked;
pub mod opengl;
pub mod run;
pub mod scene;
