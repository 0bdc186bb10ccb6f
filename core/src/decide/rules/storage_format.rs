use alloc::{format, string::String};

use crate::decide::{Change, Context, Field};

rule! { ($)
    /// A storage image has a format that the shader's declaration does not fit, or that the device cannot store.
    ///
    /// ## The specification
    ///
    /// Image Operations > Texel Format Validation: where a shader declares a format, the view has it.
    /// VUID-VkImageViewCreateInfo-usage-02275: the view's format supports STORAGE_IMAGE.
    /// VUID-VkBufferViewCreateInfo-format-08779: that of a texel buffer which a shader writes supports STORAGE_TEXEL_BUFFER.
    ///
    /// ## Who trips over it
    ///
    /// HLSL and Slang shaders, whose compilers make formats up; `rgba8` with a `B8G8R8A8` view; `R11G11B10F` and 16-bit images on phones.
    ///
    /// ## What is lost
    ///
    /// Nothing with `storage=emulate`: the shader encodes and decodes the texels. The driver may compress the image less.
    ///
    /// ## In the application
    ///
    /// Declare the format that the view has (`[[vk::image_format("r11g11b10f")]]`), or use one that the device can store:
    ///   `vkGetPhysicalDeviceFormatProperties`, `VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT`.
    ///
    /// ## Settings
    ///
    /// - `storage=emulate` repairs both: a shader whose format is not that of the view that is bound gets none, and declares the
    ///   view's where the device cannot do without.
    /// - `storage=advertise` also tells the application that it can store the formats that shaders convert.
    storage_format StorageFormat "storage-format" {
        H4 "H-4" Text("Image Operations > Texel Format Validation")
            lost "nothing: with a view of the declared format the texels are the same", by made_up;
        H4View "H-4" Text("Image Operations > Texel Format Validation")
            lost "nothing: the texels are those of the view", by of_another_view;
        H5 "H-5" Vuid("VUID-VkImageViewCreateInfo-usage-02275")
            lost "nothing: the shader decodes and encodes the texels", by not_stored;
        H5Image "H-5" Vuid("VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251")
            lost "compression of the image, if the driver does not compress what has views of other formats",
            by stored_as_integers;
    }
}

pub(super) fn made_up(change: &Change, _: &Context<'_>) -> String {
    match change.field {
        Field::Capability => "images without a format need it".into(),
        _ => "HLSL and Slang have no formats: the compiler made it up, and a view of another one would be undefined"
            .into(),
    }
}

pub(super) fn of_another_view(change: &Change, _: &Context<'_>) -> String {
    match change.field {
        Field::Capability => "images without a format need it".into(),
        _ => "the view that is bound has another format".into(),
    }
}

pub(super) fn not_stored(change: &Change, context: &Context<'_>) -> String {
    match change.field {
        Field::ImageFormat => "the device does not store it: the shader reads and writes its bits".into(),
        _ => context.lacks("STORAGE_IMAGE") + ": shaders store through a view of unsigned integers of the same size",
    }
}

pub(super) fn stored_as_integers(_: &Change, context: &Context<'_>) -> String {
    format!("a view of unsigned integers stores in place of {}, which cannot", context.format())
}
