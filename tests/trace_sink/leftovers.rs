//! Nothing is left behind in the process's threads.

use super::*;

/// The thread whose registrations are counted, 0 for none.
static WATCHED: AtomicU64 = AtomicU64::new(0);
static REGISTERED: AtomicU32 = AtomicU32::new(0);

type Destructor = unsafe extern "C" fn(*mut libc::c_void);

fn count() {
    if WATCHED.load(Ordering::Relaxed) == platform::thread_id() {
        REGISTERED.fetch_add(1, Ordering::Relaxed);
    }
}

/// The C library's function of this name, which one of ours has replaced in this program.
fn real(name: &std::ffi::CStr) -> *mut libc::c_void {
    // SAFETY: the name is NUL-terminated.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!real.is_null());
    real
}

/// Takes the place of the C library's function. Rust's standard library calls it for thread-local values that have a
/// destructor.
#[unsafe(no_mangle)]
extern "C" fn __cxa_thread_atexit_impl(
    destructor: Destructor,
    object: *mut libc::c_void,
    library: *mut libc::c_void,
) -> libc::c_int {
    type Real = unsafe extern "C" fn(Destructor, *mut libc::c_void, *mut libc::c_void) -> libc::c_int;
    count();
    // SAFETY: the function of that name has this type, and the arguments are those that our caller gave.
    unsafe {
        let real = std::mem::transmute::<*mut libc::c_void, Real>(real(c"__cxa_thread_atexit_impl"));
        real(destructor, object, library)
    }
}

/// Takes the place of the C library's function. Rust's standard library calls it to be told of the end of a thread.
#[unsafe(no_mangle)]
extern "C" fn pthread_setspecific(key: libc::pthread_key_t, value: *const libc::c_void) -> libc::c_int {
    type Real = unsafe extern "C" fn(libc::pthread_key_t, *const libc::c_void) -> libc::c_int;
    count();
    // SAFETY: the function of that name has this type, and the arguments are those that our caller gave.
    unsafe {
        let real = std::mem::transmute::<*mut libc::c_void, Real>(real(c"pthread_setspecific"));
        real(key, value)
    }
}

/// Runs `body` on a thread that Rust knows nothing of, as a process's own threads are, and counts the destructors that it
/// registers.
fn registrations(mut body: fn()) -> u32 {
    extern "C" fn start(body: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: the pointer is to the function pointer of the caller, who waits for this thread.
        let body = unsafe { *body.cast::<fn()>() };
        REGISTERED.store(0, Ordering::Relaxed);
        WATCHED.store(platform::thread_id(), Ordering::Relaxed);
        body();
        WATCHED.store(0, Ordering::Relaxed);
        std::ptr::null_mut()
    }
    let mut thread = 0;
    // SAFETY: all pointers are to live values; `body` outlives the thread, which is joined.
    unsafe {
        assert_eq!(libc::pthread_create(&raw mut thread, std::ptr::null(), start, (&raw mut body).cast()), 0);
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
    }
    REGISTERED.load(Ordering::Relaxed)
}

#[test]
fn no_thread_gets_a_destructor() {
    /// Whether the body below got what it expected. It does not panic: that would register a destructor.
    static IS_FINE: AtomicU32 = AtomicU32::new(0);
    fn everything() {
        let folder = std::env::temp_dir().join(format!("samplin-trace-destructors-{}", std::process::id()));
        let loaded = samplin_config::settings::load(&[("mode".to_owned(), "x".to_owned())]);
        let (trace, problems) = Trace::open(&target(&folder.join("%e-%p-%d.jsonl")), TraceLevel::All);
        let trace = Arc::new(trace);
        tracing::warn!("before there is a log");
        log::raise(Log::Warn);
        log::raise(Log::Trace);
        trace.emit("a", &loaded.effective());
        tracing::error!(what = "a", "b {}", 1);
        tracing::trace!("b");
        let (refused, _) = Trace::open(&target(&folder), TraceLevel::All);
        let is_fine = problems.is_empty() && trace.dropped() == 0 && trace.is_on() && !refused.is_on();
        IS_FINE.store(u32::from(is_fine), Ordering::Relaxed);
        drop((trace, refused));
        let _ = fs::remove_dir_all(folder);
    }
    fn something_else() {
        std::hint::black_box(std::thread::current());
    }
    fn a_scoped_subscriber() {
        tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::default(), || ());
    }
    assert_eq!(registrations(everything), 0);
    assert_eq!(IS_FINE.load(Ordering::Relaxed), 1);
    assert!(registrations(something_else) > 0, "the count works");
    assert!(registrations(a_scoped_subscriber) > 0, "and sees what it is there to see");
}
