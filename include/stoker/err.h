// SPDX-License-Identifier: Apache-2.0
// libstoker's public error type, and the rules of its functions (docs/library.md), which apply to
// every header unless noted.
//
// Errors: STOKER_OK, or the reason; output pointers are then NULL. NULL where a comment doesn't
// allow it is STOKER_EINVAL, and nothing was changed; functions without a status, which only return
// something about an object, must be given one.
// Ownership: arguments are borrowed for the call. The caller owns what comes through `out`, and
// frees it with the function named next to it. A const char * is borrowed: static, or as long-lived
// as the object it belongs to.
// Threads: different objects may be used by different threads at once, one object by one thread at
// a time.
// Units: times in nanoseconds since the profile's first event, sizes in bytes, shares from 0 to 1;
// texts are UTF-8.
#ifndef STOKER_ERR_H
#define STOKER_ERR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Values are stable. The command line maps them to its exit codes.
enum stoker_status {
    STOKER_OK = 0,
    STOKER_EUSAGE = 1, // an invalid request
    STOKER_EINVAL = 2, // a caller's bug
    STOKER_EINPUT = 3, // missing, unreadable or not a profile
    STOKER_ENOMEM = 4,
    STOKER_ELIMIT = 5,   // a resource limit was reached
    STOKER_EOUTPUT = 6,  // output could not be written
    STOKER_EINTR = 7,    // interrupted by the progress callback
    STOKER_EBUG = 8,     // broken invariant inside stoker: please report
    STOKER_EMISSING = 9, // a file doesn't exist
    STOKER_EDAMAGE = 10, // data lost: a checksum, a truncation, a wrong compression
    STOKER_ERANGE = 11,  // beyond the end of something
    STOKER_ECALLER = 12, // a function of the embedding language failed; it has the details
    STOKER_EDENIED = 13  // no permission to read or write a file
};

#define STOKER_ERR_CONTEXTS 4

// Owned by the caller, no allocation: what happened, where, and its context. Every function that
// takes one also takes NULL, and resets it: after success it is empty.
struct stoker_err {
    enum stoker_status code;
    int64_t offset;                         // byte position in the input, -1 if none
    char message[480];                      // what, where, what to do; no trailing newline
    char context[STOKER_ERR_CONTEXTS][160]; // "reading x.json", innermost first
    int contexts;
};

#ifdef __cplusplus
}
#endif
#endif
