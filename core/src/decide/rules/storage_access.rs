use alloc::string::String;

use super::not_enabled;
use crate::decide::{Change, Context};

rule! { ($)
    /// A shader declares reads or writes of storage images without a format, and does not do them or may not.
    ///
    /// ## The specification
    ///
    /// VUID-VkShaderModuleCreateInfo-pCode-08740: a capability needs its feature.
    /// VUID-RuntimeSpirv-apiVersion-07954 and -07955: an image without a format is decorated NonWritable or NonReadable where the
    ///   feature lacks.
    ///
    /// ## Who trips over it
    ///
    /// Compilers that declare `StorageImageReadWithoutFormat` for every shader.
    ///
    /// ## What is lost
    ///
    /// Nothing: the shader does not use what it declares.
    ///
    /// ## In the application
    ///
    /// Compile without the capability, mark images `readonly` or `writeonly`, or enable `shaderStorageImageReadWithoutFormat` and
    ///   `…WriteWithoutFormat`.
    ///
    /// ## Settings
    ///
    /// - `storage=base` (the default) makes these corrections.
    storage_access StorageAccess "storage-access" {
        H3 "H-3" Vuid("VUID-VkShaderModuleCreateInfo-pCode-08740")
            lost "nothing: the shader does not use what it declares",
            because "the shader does nothing that needs it, and the device does not have it";
        H3Write "H-3" Vuid("VUID-RuntimeSpirv-apiVersion-07954")
            lost "nothing: the shader does not write the image", by never_written;
        H3Read "H-3" Vuid("VUID-RuntimeSpirv-apiVersion-07955")
            lost "nothing: the shader does not read the image", by never_read;
    }
}

pub(super) fn never_written(_: &Change, _: &Context<'_>) -> String {
    not_enabled("shaderStorageImageWriteWithoutFormat") + ", and the shader does not write the image"
}

pub(super) fn never_read(_: &Change, _: &Context<'_>) -> String {
    not_enabled("shaderStorageImageReadWithoutFormat") + ", and the shader does not read the image"
}
