//! Whom a file belongs to, and what the process may do.

use std::ptr;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{GetSecurityInfo, SE_FILE_OBJECT};
use windows_sys::Win32::Security::{
    EqualSid, GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, OWNER_SECURITY_INFORMATION, PSID,
    TOKEN_INFORMATION_CLASS, TOKEN_MANDATORY_LABEL, TOKEN_OWNER, TOKEN_QUERY, TOKEN_USER, TokenIntegrityLevel,
    TokenOwner, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Longer than what the three questions below answer: a structure of two words and a SID of at most 68 bytes.
type Answer = [u64; 32];

/// What the token of the process says, if it can be asked. What it says points into itself, so it must stay where it is.
fn ask(question: TOKEN_INFORMATION_CLASS, answer: &mut Answer) -> Option<()> {
    let mut token = ptr::null_mut();
    // SAFETY: the process's own handle needs no closing, and `token` is a place for a handle.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) } == 0 {
        return None;
    }
    let mut length = 0;
    // SAFETY: `answer` has as many bytes as are said here, and is aligned for every structure that a token answers with.
    let is_answered = unsafe {
        GetTokenInformation(token, question, answer.as_mut_ptr().cast(), size_of::<Answer>() as u32, &raw mut length)
    } != 0;
    // SAFETY: OpenProcessToken gave this handle, and nobody else has it.
    unsafe { CloseHandle(token) };
    is_answered.then_some(())
}

/// Whether a file belongs to the user as whom the process runs, or to whom new files of the process belong: those of an
/// administrator may be all administrators'.
pub(super) fn is_own(file: HANDLE) -> bool {
    let (mut user, mut owner): (Answer, Answer) = ([0; 32], [0; 32]);
    if ask(TokenUser, &mut user).is_none() || ask(TokenOwner, &mut owner).is_none() {
        return false;
    }
    // SAFETY: GetTokenInformation has answered TokenUser with a TOKEN_USER, and the SID that it points to lies in `user` too.
    let user: PSID = unsafe { (*user.as_ptr().cast::<TOKEN_USER>()).User.Sid };
    // SAFETY: likewise, a TOKEN_OWNER.
    let owner: PSID = unsafe { (*owner.as_ptr().cast::<TOKEN_OWNER>()).Owner };
    let (mut of_file, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the caller's handle is a file's, the two places are live, and what is not asked for needs no place.
    let failed = unsafe {
        GetSecurityInfo(
            file,
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut of_file,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut descriptor,
        )
    } != 0;
    if failed {
        return false;
    }
    // SAFETY: all three are valid SIDs: GetSecurityInfo has succeeded, and the others are the token's. Each outlives the call.
    let is_own = !of_file.is_null() && unsafe { EqualSid(of_file, user) != 0 || EqualSid(of_file, owner) != 0 };
    // SAFETY: GetSecurityInfo says that what it returns is to be freed with LocalFree; `of_file` is not used any more.
    unsafe { LocalFree(descriptor) };
    is_own
}

/// The integrity level of the process, `None` if it cannot be asked.
pub(super) fn integrity() -> Option<u32> {
    let mut answer: Answer = [0; 32];
    ask(TokenIntegrityLevel, &mut answer)?;
    // SAFETY: GetTokenInformation has answered with a TOKEN_MANDATORY_LABEL, whose SID lies in `answer` too. The last of its
    // sub-authorities is the level; it has at least one.
    unsafe {
        let level = (*answer.as_ptr().cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid;
        let count = *GetSidSubAuthorityCount(level);
        Some(*GetSidSubAuthority(level, u32::from(count.checked_sub(1)?)))
    }
}
