//! What the end-to-end suites share: [`case`] says what a case is, [`forked`] has their main function, [`run`] makes contexts and judges
//! them, [`scene`] has what they sample, [`opengl`] is what some results are compared with.

pub mod case;
pub mod forked;
pub mod opengl;
pub mod run;
pub use samplin_testkit::scene;
