//! What must not reach the process while the layer writes for itself: signals that its writes raise, and a thread's cancellation.

use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// Keeps a pending cancellation (`pthread_cancel`) from the calling thread while it lives.
///
/// Opening, reading, writing and closing are cancellation points (pthreads(7)). Cancelling unwinds the thread's stack by force,
/// which must not pass frames of Rust: glibc ends the process then ("exception not rethrown"). It would also be the layer's doing
/// that a call of Vulkan, which is no cancellation point, does not return. The cancellation stays pending, and the thread
/// meets it at the next cancellation point of its own.
///
/// Android has no cancellation.
pub(crate) struct Uncancelled {
    /// The thread's state before; `None` if it could not be changed.
    #[cfg(not(target_os = "android"))]
    before: Option<libc::c_int>,
    /// The state is the thread's.
    _of_thread: PhantomData<*const ()>,
}

#[cfg(all(not(target_os = "android"), not(miri)))]
unsafe extern "C" {
    /// Of `pthread.h`. The call is no cancellation point itself (POSIX.1-2017, "Cancellation Points").
    fn pthread_setcancelstate(state: libc::c_int, before: *mut libc::c_int) -> libc::c_int;
}

/// There is no cancellation in the interpreter either.
#[cfg(miri)]
unsafe fn pthread_setcancelstate(_: libc::c_int, _: *mut libc::c_int) -> libc::c_int {
    1
}

/// Of `pthread.h`, in glibc and musl.
#[cfg(not(target_os = "android"))]
const PTHREAD_CANCEL_DISABLE: libc::c_int = 1;

#[cfg(not(target_os = "android"))]
impl Uncancelled {
    /// Starts keeping it.
    pub(crate) fn begin() -> Uncancelled {
        let mut before = 0;
        // SAFETY: the state is one that pthread.h names, and `before` is a live integer to write the old one to.
        let changed = unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &raw mut before) } == 0;
        Uncancelled { before: changed.then_some(before), _of_thread: PhantomData }
    }
}

#[cfg(not(target_os = "android"))]
impl Drop for Uncancelled {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let mut unused = 0;
            // SAFETY: `before` is the state that the thread had, on which this still is, and `unused` is a live integer: a null
            // pointer is an extension of glibc's.
            unsafe { pthread_setcancelstate(before, &raw mut unused) };
        }
    }
}

#[cfg(target_os = "android")]
impl Uncancelled {
    /// Does nothing.
    pub(crate) fn begin() -> Uncancelled {
        Uncancelled { _of_thread: PhantomData }
    }
}

/// Keeps SIGPIPE and SIGXFSZ from the calling thread while it lives. Other threads and the process's handlers are not
/// touched. Both signals are directed at the thread that writes (pthreads(7) and signal(7): "synchronously generated").
pub(super) struct SignalGuard {
    /// The thread's mask before, `None` if it could not be changed.
    before: Option<libc::sigset_t>,
    /// Of SIGPIPE and SIGXFSZ, those that were pending before: not ours to consume.
    pending: [bool; 2],
}

const GUARDED: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

impl SignalGuard {
    pub(super) fn block() -> SignalGuard {
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        let blocked = signal_set(&GUARDED);
        // SAFETY: `blocked` is an initialised set and `before` is storage for one (pthread_sigmask(3)).
        let changed = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, before.as_mut_ptr()) } == 0;
        if !changed {
            return SignalGuard { before: None, pending: [true; 2] };
        }
        // SAFETY: pthread_sigmask returned 0 and was given a place for the old set, so it has filled it.
        let before = unsafe { before.assume_init() };
        let mut pending = [false; 2];
        // A signal can only have been pending before if it was blocked before, which spares the usual case a system call.
        if GUARDED.iter().any(|&signal| is_member(&before, signal)) {
            let mut set = MaybeUninit::<libc::sigset_t>::uninit();
            // SAFETY: `set` is storage for a signal set, which sigpending fills if it returns 0 (sigpending(2)).
            if unsafe { libc::sigpending(set.as_mut_ptr()) } == 0 {
                // SAFETY: sigpending returned 0.
                let set = unsafe { set.assume_init() };
                pending = GUARDED.map(|signal| is_member(&set, signal));
            }
        }
        SignalGuard { before: Some(before), pending }
    }

    /// Takes back the signal that a failed write has just raised.
    pub(super) fn consume(&self, signal: libc::c_int) {
        let was_pending = GUARDED.iter().zip(self.pending).any(|(&guarded, pending)| guarded == signal && pending);
        if was_pending {
            return;
        }
        let set = signal_set(&[signal]);
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            // SAFETY: `set` is an initialised set holding a signal that this thread blocks, `at_once` a valid time, and a
            // null pointer says that no details are wanted (sigtimedwait(2)).
            let taken = unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const at_once) };
            if taken >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                return;
            }
        }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: `before` is the set that pthread_sigmask returned, and no old set is asked for.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
        }
    }
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set it is given and cannot fail on storage of the right type (sigsetops(3)).
    let mut set = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    };
    for &signal in signals {
        // SAFETY: the set is initialised; an unknown signal number gives EINVAL and changes nothing.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

fn is_member(set: &libc::sigset_t, signal: libc::c_int) -> bool {
    // SAFETY: `set` is a reference to an initialised set.
    unsafe { libc::sigismember(set, signal) == 1 }
}
