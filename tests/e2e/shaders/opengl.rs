//! OpenGL without a window, for what OpenGL makes of a module: the few commands that a compute shader takes, by EGL.

use crate::run::Skip;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

/// `GL_ATOMIC_COUNTER_BUFFER`.
pub(super) const COUNTERS: c_uint = 0x92C0;
/// `GL_SHADER_STORAGE_BUFFER`.
pub(super) const STORAGE: c_uint = 0x90D2;

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

/// Runs a compute shader in SPIR-V on so many groups; each buffer is (target, binding, words) and comes back as it is then.
pub(super) fn run(words: &[u32], groups: u32, buffers: &mut [(c_uint, u32, Vec<u32>)]) -> Result<(), Skip> {
    let gl = Library::open()?;
    // Without a surface and without a configuration, the core profile of version 4.5.
    let display = call!(gl.eglGetPlatformDisplayEXT(0x31DD => c_uint, ptr::null_mut() => Any, ptr::null() => *const c_int) -> Any);
    let ready =
        call!(gl.eglInitialize(display => Any, ptr::null_mut() => *mut c_int, ptr::null_mut() => *mut c_int) -> c_uint);
    if ready == 0 {
        return Err(Skip("EGL has no display without a window".into()));
    }
    call!(gl.eglBindAPI(0x30A2 => c_uint) -> c_uint);
    let attributes: [c_int; 7] = [0x3098, 4, 0x30FB, 5, 0x30FD, 1, 0x3038];
    let context = call!(gl.eglCreateContext(display => Any, ptr::null_mut() => Any, ptr::null_mut() => Any, attributes.as_ptr() => *const c_int) -> Any);
    let none = ptr::null_mut();
    let current = call!(gl.eglMakeCurrent(display => Any, none => Any, none => Any, context => Any) -> c_uint);
    if context.is_null() || current == 0 {
        return Err(Skip("there is no OpenGL 4.5".into()));
    }
    let renderer = call!(gl.glGetString(0x1F01 => c_uint) -> *const c_char);
    // SAFETY: a string of the current context's, which lives as long as that.
    let renderer = unsafe { CStr::from_ptr(renderer) }.to_string_lossy();
    if !renderer.contains("llvmpipe") {
        // That of NVIDIA counts what an array's elements are to count in the first one.
        return Err(Skip(format!("OpenGL is that of {renderer}, and not llvmpipe's")));
    }

    let shader = call!(gl.glCreateShader(0x91B9 => c_uint) -> c_uint);
    let size = size_of_val(words) as c_int;
    call!(gl.glShaderBinary(1 => c_int, &shader => *const c_uint, 0x9551 => c_uint, words.as_ptr().cast() => *const c_void, size => c_int));
    call!(gl.glSpecializeShaderARB(shader => c_uint, c"main".as_ptr() => *const c_char, 0 => c_uint, ptr::null() => *const c_uint, ptr::null() => *const c_uint));
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
