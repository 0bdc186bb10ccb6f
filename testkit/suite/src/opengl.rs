//! OpenGL without a window, for what OpenGL makes of a module or of a texture: the few commands that a compute shader takes, by EGL.

use crate::run::Skip;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

/// `GL_ATOMIC_COUNTER_BUFFER`.
pub const COUNTERS: c_uint = 0x92C0;
/// `GL_SHADER_STORAGE_BUFFER`.
pub const STORAGE: c_uint = 0x90D2;

type Any = *mut c_void;

/// Looks up functions of OpenGL's and EGL's.
struct Library {
    get: unsafe extern "C" fn(*const c_char) -> Any,
}

impl Library {
    fn open() -> Result<Self, Skip> {
        // SAFETY: names that end; the library's constructors have no precondition.
        let get = unsafe {
            let library = libc::dlopen(c"libEGL.so.1".as_ptr(), libc::RTLD_NOW);
            if library.is_null() {
                return Err(Skip("there is no libEGL".into()));
            }
            libc::dlsym(library, c"eglGetProcAddress".as_ptr())
        };
        assert!(!get.is_null(), "an EGL without eglGetProcAddress");
        // SAFETY: the function of that name has that signature.
        Ok(Self { get: unsafe { std::mem::transmute::<Any, unsafe extern "C" fn(*const c_char) -> Any>(get) } })
    }

    /// A function; `F` is its type.
    fn function<F: Copy>(&self, name: &CStr) -> Result<F, Skip> {
        // SAFETY: a name that ends.
        let found = unsafe { (self.get)(name.as_ptr()) };
        if found.is_null() {
            return Err(Skip(format!("OpenGL has no {}", name.to_string_lossy())));
        }
        assert_eq!(size_of::<F>(), size_of::<Any>());
        // SAFETY: a function pointer; that it is of the type `F` is each caller's word, by the registries of EGL and OpenGL.
        Ok(unsafe { std::mem::transmute_copy::<Any, F>(&found) })
    }
}

macro_rules! call {
    ($library:ident.$name:ident($($value:expr => $type:ty),*) $(-> $result:ty)?) => {{
        type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
        let name = CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()).expect("a name");
        let function: Function = $library.function(name)?;
        // SAFETY: a current context, from the first call of OpenGL's on; pointers of live locals with as much behind them as is said.
        unsafe { function($($value),*) }
    }};
}

/// Which OpenGL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Core = 1,
    Compatibility = 2,
}

/// A context of version 4.5, of llvmpipe's, which is current.
struct Context {
    gl: Library,
    display: Any,
    context: Any,
}

impl Drop for Context {
    /// Ends the driver's threads as well: Mesa frees what they use when the process ends, and does not wait for all of them.
    fn drop(&mut self) {
        let ended = || -> Result<(), Skip> {
            let (gl, none) = (&self.gl, ptr::null_mut());
            call!(gl.eglMakeCurrent(self.display => Any, none => Any, none => Any, none => Any) -> c_uint);
            if !self.context.is_null() {
                call!(gl.eglDestroyContext(self.display => Any, self.context => Any) -> c_uint);
            }
            call!(gl.eglTerminate(self.display => Any) -> c_uint);
            Ok(())
        };
        assert!(ended().is_ok(), "EGL lacks what every version has");
    }
}

/// Makes a context current.
fn begin(profile: Profile) -> Result<Context, Skip> {
    let gl = Library::open()?;
    // Without a surface and without a configuration.
    let display = call!(gl.eglGetPlatformDisplayEXT(0x31DD => c_uint, ptr::null_mut() => Any, ptr::null() => *const c_int) -> Any);
    let ready =
        call!(gl.eglInitialize(display => Any, ptr::null_mut() => *mut c_int, ptr::null_mut() => *mut c_int) -> c_uint);
    if ready == 0 {
        return Err(Skip("EGL has no display without a window".into()));
    }
    call!(gl.eglBindAPI(0x30A2 => c_uint) -> c_uint);
    let attributes: [c_int; 7] = [0x3098, 4, 0x30FB, 5, 0x30FD, profile as c_int, 0x3038];
    let context = call!(gl.eglCreateContext(display => Any, ptr::null_mut() => Any, ptr::null_mut() => Any, attributes.as_ptr() => *const c_int) -> Any);
    let begun = Context { gl, display, context };
    let (gl, none) = (&begun.gl, ptr::null_mut());
    let current = call!(gl.eglMakeCurrent(display => Any, none => Any, none => Any, context => Any) -> c_uint);
    if context.is_null() || current == 0 {
        return Err(Skip(format!("there is no OpenGL 4.5 ({profile:?})")));
    }
    let renderer = call!(gl.glGetString(0x1F01 => c_uint) -> *const c_char);
    // SAFETY: a string of the current context's, which lives as long as that.
    let renderer = unsafe { CStr::from_ptr(renderer) }.to_string_lossy();
    if !renderer.contains("llvmpipe") {
        // That of NVIDIA counts what an array's elements are to count in the first one.
        return Err(Skip(format!("OpenGL is that of {renderer}, and not llvmpipe's")));
    }
    Ok(begun)
}

/// Runs a compute shader on so many groups; each buffer is (target, binding, words) and comes back as it is then.
fn dispatch(gl: &Library, shader: c_uint, groups: u32, buffers: &mut [(c_uint, u32, Vec<u32>)]) -> Result<(), Skip> {
    let program = call!(gl.glCreateProgram() -> c_uint);
    call!(gl.glAttachShader(program => c_uint, shader => c_uint));
    call!(gl.glLinkProgram(program => c_uint));
    let mut linked = 0;
    call!(gl.glGetProgramiv(program => c_uint, 0x8B82 => c_uint, &mut linked => *mut c_int));
    assert_eq!(linked, 1, "OpenGL does not link the module");
    call!(gl.glUseProgram(program => c_uint));

    let mut names = vec![0; buffers.len()];
    call!(gl.glGenBuffers(names.len() as c_int => c_int, names.as_mut_ptr() => *mut c_uint));
    for (name, (target, binding, words)) in names.iter().zip(buffers.iter()) {
        call!(gl.glBindBuffer(*target => c_uint, *name => c_uint));
        let size = size_of_val(&words[..]) as isize;
        call!(gl.glBufferData(*target => c_uint, size => isize, words.as_ptr().cast() => *const c_void, 0x88E8 => c_uint));
        call!(gl.glBindBufferBase(*target => c_uint, *binding => c_uint, *name => c_uint));
    }
    call!(gl.glDispatchCompute(groups => c_uint, 1 => c_uint, 1 => c_uint));
    call!(gl.glMemoryBarrier(u32::MAX => c_uint));
    for (name, (target, _, words)) in names.iter().zip(buffers) {
        call!(gl.glBindBuffer(*target => c_uint, *name => c_uint));
        let size = size_of_val(&words[..]) as isize;
        call!(gl.glGetBufferSubData(*target => c_uint, 0 => isize, size => isize, words.as_mut_ptr().cast() => *mut c_void));
    }
    assert_eq!(call!(gl.glGetError() -> c_uint), 0, "OpenGL complains");
    Ok(())
}

/// Runs a compute shader in SPIR-V on so many groups; each buffer is (target, binding, words) and comes back as it is then.
/// Panics if OpenGL refuses the module, or reports an error.
pub fn run(words: &[u32], groups: u32, buffers: &mut [(c_uint, u32, Vec<u32>)]) -> Result<(), Skip> {
    let context = begin(Profile::Core)?;
    let gl = &context.gl;
    let shader = call!(gl.glCreateShader(0x91B9 => c_uint) -> c_uint);
    let size = size_of_val(words) as c_int;
    call!(gl.glShaderBinary(1 => c_int, &shader => *const c_uint, 0x9551 => c_uint, words.as_ptr().cast() => *const c_void, size => c_int));
    call!(gl.glSpecializeShaderARB(shader => c_uint, c"main".as_ptr() => *const c_char, 0 => c_uint, ptr::null() => *const c_uint, ptr::null() => *const c_uint));
    dispatch(gl, shader, groups, buffers)
}

/// A texture, and how it is sampled.
#[derive(Clone, Debug)]
pub struct Texture<'a> {
    /// `GL_TEXTURE_1D` and so on.
    pub target: c_uint,
    /// Width, height and depth of each level, where layers are the last one, and its texels: four floats, or a depth.
    pub levels: &'a [([u32; 3], Vec<f32>)],
    /// Whether it has depths of 32 bits, which are compared (`GL_LESS`), and not colours of 8.
    pub is_depth: bool,
    /// Whether magnification, minification and mip levels are LINEAR.
    pub linear: [bool; 3],
    /// Wrap modes.
    pub wrap: [c_uint; 3],
    /// The highest level of detail.
    pub max_lod: f32,
    /// The border.
    pub border: [f32; 4],
}

/// What samples a texture, which is `pair` at binding 0.
#[derive(Clone, Debug)]
pub enum Shader<'a> {
    /// A compute shader in GLSL; so many groups, what they read from storage buffer 0, and the words that they write to buffer 1.
    Compute(&'a str, u32, Vec<u32>, usize),
    /// A fragment shader that paints an image of so many pixels on each side.
    Fragment(&'a str, u32),
}

/// `GL_TEXTURE_1D`.
pub const D1: c_uint = 0x0DE0;
/// `GL_TEXTURE_2D`.
pub const D2: c_uint = 0x0DE1;
/// `GL_TEXTURE_1D_ARRAY`, which has layers for a height.
pub const D1_ARRAY: c_uint = 0x8C18;
/// `GL_TEXTURE_2D_ARRAY`.
pub const D2_ARRAY: c_uint = 0x8C1A;
/// `GL_TEXTURE_3D`.
pub const D3: c_uint = 0x806F;
/// `GL_TEXTURE_RECTANGLE`, which has one level.
pub const RECTANGLE: c_uint = 0x84F5;

/// Makes a texture and binds it.
fn bind(gl: &Library, texture: &Texture<'_>) -> Result<(), Skip> {
    let target = texture.target;
    let mut name: c_uint = 0;
    call!(gl.glGenTextures(1 => c_int, &mut name => *mut c_uint));
    call!(gl.glActiveTexture(0x84C0 => c_uint));
    call!(gl.glBindTexture(target => c_uint, name => c_uint));
    // `GL_DEPTH_COMPONENT32F` or `GL_RGBA8`, made of `GL_DEPTH_COMPONENT` or `GL_RGBA` in `GL_FLOAT`.
    let (kind, format) = if texture.is_depth { (0x8CAC, 0x1902) } else { (0x8058, 0x1908) };
    for (level, (size, texels)) in (0..).zip(texture.levels) {
        let [width, height, depth] = size.map(|size| size as c_int);
        let texels = texels.as_ptr().cast();
        match target {
            D1 => {
                call!(gl.glTexImage1D(target => c_uint, level => c_int, kind => c_int, width => c_int, 0 => c_int, format => c_uint, 0x1406 => c_uint, texels => *const c_void))
            }
            D2 | D1_ARRAY | RECTANGLE => {
                call!(gl.glTexImage2D(target => c_uint, level => c_int, kind => c_int, width => c_int, height => c_int, 0 => c_int, format => c_uint, 0x1406 => c_uint, texels => *const c_void))
            }
            _ => {
                call!(gl.glTexImage3D(target => c_uint, level => c_int, kind => c_int, width => c_int, height => c_int, depth => c_int, 0 => c_int, format => c_uint, 0x1406 => c_uint, texels => *const c_void))
            }
        }
    }
    let [mag, min, mip] = texture.linear.map(c_int::from);
    let last = texture.levels.len() as c_int - 1;
    let least = if target == RECTANGLE { 0x2600 + min } else { 0x2700 + min + 2 * mip };
    let compares = if texture.is_depth { 0x884E } else { 0 };
    let [s, t, r] = texture.wrap.map(|mode| mode as c_int);
    for (parameter, value) in [
        (0x2802, s),
        (0x2803, t),
        (0x8072, r),
        (0x2800, 0x2600 + mag),
        (0x2801, least),
        (0x813D, last),
        (0x884C, compares),
        (0x884D, 0x0201),
    ] {
        call!(gl.glTexParameteri(target => c_uint, parameter => c_uint, value => c_int));
    }
    call!(gl.glTexParameterf(target => c_uint, 0x813B => c_uint, texture.max_lod => f32));
    call!(gl.glTexParameterfv(target => c_uint, 0x1004 => c_uint, texture.border.as_ptr() => *const f32));
    Ok(())
}

/// Compiles a shader.
fn compile(gl: &Library, kind: c_uint, source: &str) -> Result<c_uint, Skip> {
    let shader = call!(gl.glCreateShader(kind => c_uint) -> c_uint);
    let (text, length) = (source.as_ptr().cast::<c_char>(), source.len() as c_int);
    call!(gl.glShaderSource(shader => c_uint, 1 => c_int, &text => *const *const c_char, &length => *const c_int));
    call!(gl.glCompileShader(shader => c_uint));
    let mut compiled = 0;
    call!(gl.glGetShaderiv(shader => c_uint, 0x8B81 => c_uint, &mut compiled => *mut c_int));
    assert_eq!(compiled, 1, "OpenGL does not compile {source}");
    Ok(shader)
}

/// Paints an image of four floats a pixel, from the lower left.
fn paint(gl: &Library, source: &str, side: u32) -> Result<Vec<u32>, Skip> {
    let vertex = "#version 450\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }";
    let program = call!(gl.glCreateProgram() -> c_uint);
    for (kind, source) in [(0x8B31, vertex), (0x8B30, source)] {
        let shader = compile(gl, kind, source)?;
        call!(gl.glAttachShader(program => c_uint, shader => c_uint));
    }
    call!(gl.glLinkProgram(program => c_uint));
    call!(gl.glUseProgram(program => c_uint));
    let (mut target, mut frame, mut array, size) = (0, 0, 0, side as c_int);
    call!(gl.glGenRenderbuffers(1 => c_int, &mut target => *mut c_uint));
    call!(gl.glBindRenderbuffer(0x8D41 => c_uint, target => c_uint));
    call!(gl.glRenderbufferStorage(0x8D41 => c_uint, 0x8814 => c_uint, size => c_int, size => c_int));
    call!(gl.glGenFramebuffers(1 => c_int, &mut frame => *mut c_uint));
    call!(gl.glBindFramebuffer(0x8D40 => c_uint, frame => c_uint));
    call!(gl.glFramebufferRenderbuffer(0x8D40 => c_uint, 0x8CE0 => c_uint, 0x8D41 => c_uint, target => c_uint));
    call!(gl.glGenVertexArrays(1 => c_int, &mut array => *mut c_uint));
    call!(gl.glBindVertexArray(array => c_uint));
    call!(gl.glViewport(0 => c_int, 0 => c_int, size => c_int, size => c_int));
    call!(gl.glDrawArrays(4 => c_uint, 0 => c_int, 3 => c_int));
    let mut words = vec![0_u32; (side * side * 4) as usize];
    call!(gl.glReadPixels(0 => c_int, 0 => c_int, size => c_int, size => c_int, 0x1908 => c_uint, 0x1406 => c_uint, words.as_mut_ptr().cast() => *mut c_void));
    assert_eq!(call!(gl.glGetError() -> c_uint), 0, "OpenGL complains");
    Ok(words)
}

/// What a shader finds, in fours, in each of the textures.
/// Panics if OpenGL refuses the shader, or reports an error.
pub fn look(textures: &[Texture<'_>], shader: &Shader<'_>) -> Result<Vec<Vec<[f32; 4]>>, Skip> {
    let context = begin(Profile::Compatibility)?;
    let gl = &context.gl;
    let mut all = Vec::new();
    for texture in textures {
        bind(gl, texture)?;
        let words = match shader {
            Shader::Compute(source, groups, input, output) => {
                let shader = compile(gl, 0x91B9, source)?;
                let mut buffers = [(STORAGE, 0, input.clone()), (STORAGE, 1, vec![0; *output])];
                dispatch(gl, shader, *groups, &mut buffers)?;
                let [_, (_, _, words)] = buffers;
                words
            }
            Shader::Fragment(source, side) => paint(gl, source, *side)?,
        };
        all.push(words.as_chunks().0.iter().map(|four: &[u32; 4]| four.map(f32::from_bits)).collect());
    }
    Ok(all)
}

/// A texture of 8-bit colours with `GL_CLAMP` on all its axes.
pub struct Clamped<'a> {
    /// How many it has, up to 3.
    pub axes: usize,
    /// Width, height and depth of each level, and its texels.
    pub levels: &'a [([u32; 3], Vec<[u8; 4]>)],
    /// Whether magnification, minification and mip levels are LINEAR.
    pub linear: [bool; 3],
    /// The border.
    pub border: [f32; 4],
}

/// What a lookup at each of the coordinates gives, at one level of detail.
/// Panics if OpenGL refuses the shader, or reports an error.
pub fn sample(texture: &Clamped<'_>, points: &[[f32; 4]], lod: f32) -> Result<Vec<[f32; 4]>, Skip> {
    let (target, suffix, at) = [(D1, "1D", "x"), (D2, "2D", "xy"), (D3, "3D", "xyz")][texture.axes - 1];
    let source = format!(
        "#version 450 compatibility\n\
         layout(local_size_x = 1) in;\n\
         layout(binding = 0) uniform sampler{suffix} pair;\n\
         layout(std430, binding = 0) readonly buffer Points {{ vec4 points[]; }};\n\
         layout(std430, binding = 1) writeonly buffer Results {{ vec4 results[]; }};\n\
         void main() {{\n\
             uint n = gl_GlobalInvocationID.x;\n\
             results[n] = textureLod(pair, points[n].{at}, {lod:.8});\n\
         }}\n"
    );
    let floats = |texels: &Vec<[u8; 4]>| texels.iter().flatten().map(|byte| f32::from(*byte) / 255.0).collect();
    let levels: Vec<_> = texture.levels.iter().map(|(size, texels)| (*size, floats(texels))).collect();
    let (wrap, linear, border) = ([0x2900; 3], texture.linear, texture.border);
    let texture = Texture { target, levels: &levels, is_depth: false, linear, wrap, max_lod: 1000.0, border };
    let words = points.iter().flatten().map(|coordinate| coordinate.to_bits()).collect();
    let shader = Shader::Compute(&source, points.len() as u32, words, points.len() * 4);
    Ok(look(&[texture], &shader)?.remove(0))
}
