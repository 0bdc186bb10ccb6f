rule! { ($)
    /// A view is bound where the shader declares an image of other numbers or of another dimension.
    ///
    /// ## The specification
    ///
    /// VUID-vkCmdDraw-format-07753: the numeric type of the view's format (floats, signed or unsigned integers) is that of the
    ///   image's Sampled Type.
    /// VUID-vkCmdDraw-viewType-07752: the view's type is the image's Dim, with layers where the image has them.
    ///
    /// ## Who trips over it
    ///
    /// Emulators and translators that bind a texture of integers to a `sampler2D` (yuzu#12432).
    ///
    /// ## What is lost
    ///
    /// Nothing is changed, so whatever the driver makes of it: the values are undefined.
    ///
    /// ## In the application
    ///
    /// Declare the image as the view is (`usampler2D`, `sampler2DArray`), or create a view of the type and in a format that the
    ///   shader declares.
    ///
    /// ## Settings
    ///
    /// None repairs it.
    declared_view DeclaredView "declared-view" {
        H9 "H-9" Vuid("VUID-vkCmdDraw-format-07753")
            lost "", because "the shader declares an image of other numbers";
        H9Type "H-9" Vuid("VUID-vkCmdDraw-viewType-07752")
            lost "", because "the shader declares an image of another dimension";
    }
}
