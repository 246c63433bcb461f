// SPDX-License-Identifier: Apache-2.0
// Public error type of libstoker, and the rules of its functions (docs/library.md): what holds in
// every header unless said otherwise.
//
// Errors: STOKER_OK, or why not; a pointer that was to be given is NULL then. NULL where a comment
// does not allow it is STOKER_EINVAL, and nothing was touched; functions without a status, which
// only tell something of an object, must be given one.
// Ownership: arguments are borrowed for the call; what comes through `out` is the caller's, freed
// with the function named next to it; a const char * is borrowed, static or as long-lived as the
// object it was asked of.
// Threads: different objects by different threads at once, one object by one thread at a time.
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
    STOKER_ELIMIT = 5,   // a resource cap was reached
    STOKER_EOUTPUT = 6,  // output could not be written
    STOKER_EINTR = 7,    // interrupted by the progress callback
    STOKER_EBUG = 8,     // broken invariant inside stoker: please report
    STOKER_EMISSING = 9, // a file that is not there
    STOKER_EDAMAGE = 10, // data lost: a checksum, a truncation, a wrong compression
    STOKER_ERANGE = 11,  // beyond the end of something
    STOKER_ECALLER = 12, // a function of the embedding language failed; it has the details
    STOKER_EDENIED = 13  // a file that may not be read or written
};

#define STOKER_ERR_CONTEXTS 4

// Caller-owned, no allocation: what happened, where, and the way there. Every function that takes
// one takes NULL too, and resets it: of a call that succeeded nothing is left in it.
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
