// What Rust's library takes from a DLL that Wine has since version 9 only.

#include <stddef.h>

// RtlGenRandom, by the name that advapi32 exports.
int __stdcall random_bytes(void *bytes, unsigned long count) __asm__("SystemFunction036");

__declspec(dllexport) int ProcessPrng(void *bytes, size_t count) {
    return random_bytes(bytes, (unsigned long)count);
}
