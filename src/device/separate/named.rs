//! What the application calls pipelines and shader objects whose links are followed: records say it, and what is bound in their place is
//! named after them, so that debuggers and validation layers show what it is.

use std::ffi::CString;

use ash::vk;
use samplin_bind::Executable;

use super::Separate;
use super::programs::Program;
use super::recipe::Second;
use crate::device::driver::Driver;
use crate::device::journal::Journal;

/// What is behind the name of what is bound instead.
const SPLIT: &str = " (samplin split)";

impl Separate {
    /// Whether an object that is being named is a pipeline or a shader object whose links are followed.
    pub fn is_followed(&self, ty: vk::ObjectType, object: u64) -> bool {
        match ty {
            // SAFETY: the caller names it, and nobody may destroy what is being named: vkSetDebugUtilsObjectNameEXT wants objectHandle
            // externally synchronized.
            vk::ObjectType::PIPELINE => unsafe { self.programs.share(object) }.is_some(),
            vk::ObjectType::SHADER_EXT => self.shaders.has(object),
            _ => false,
        }
    }

    /// Names what was bound instead of a pipeline before it got its name.
    pub fn name_seconds_of(&self, driver: &Driver, journal: &Journal, ty: vk::ObjectType, object: u64) {
        if ty != vk::ObjectType::PIPELINE {
            return;
        }
        // SAFETY: it is being named, so that it cannot be destroyed meanwhile: objectHandle is externally synchronized.
        if let Some(program) = unsafe { self.programs.share(object) } {
            program.splits.for_each(&mut |second| driver.name_second(journal, &program, second));
        }
    }
}

impl Driver {
    /// Names what is bound instead of a program as that is named.
    pub(super) fn name_second(&self, journal: &Journal, program: &Program, second: &Second) {
        if !journal.has_names() {
            return;
        }
        match (&program.own, &second.made) {
            (Executable::Pipeline(own), Executable::Pipeline(made)) => {
                self.name_after(journal, vk::ObjectType::PIPELINE, *own, *made);
            }
            (Executable::Shaders(own), Executable::Shaders(made)) => {
                for (stage, made) in made {
                    if let Some((_, own)) = own.iter().find(|(other, _)| other == stage) {
                        self.name_after(journal, vk::ObjectType::SHADER_EXT, *own, *made);
                    }
                }
            }
            _ => {}
        }
    }

    fn name_after(&self, journal: &Journal, ty: vk::ObjectType, own: u64, made: u64) {
        let (Some(set_name), Some(name)) = (self.fns.set_debug_utils_object_name, journal.name(ty, own)) else {
            return;
        };
        let Ok(name) = CString::new(name + SPLIT) else { return };
        let info = vk::DebugUtilsObjectNameInfoEXT {
            object_type: ty,
            object_handle: made,
            p_object_name: name.as_ptr(),
            ..Default::default()
        };
        // SAFETY: the object is the layer's own and alive, since the program that holds it is; only a call that names the program, or
        // makes this object, comes here, and the name is read before the call returns. That there is no name is no harm.
        _ = unsafe { set_name(self.handle, &info) };
    }
}

impl Journal {
    /// The application's name of a program, for records.
    pub(super) fn program_name(&self, program: &Program) -> Option<String> {
        let ty = if program.is_of_shaders() { vk::ObjectType::SHADER_EXT } else { vk::ObjectType::PIPELINE };
        self.has_names().then(|| self.name(ty, program.handle)).flatten()
    }
}
