// SPDX-License-Identifier: Apache-2.0
// Errors that stop an operation: a status code that must be checked, and a caller-owned record of
// what happened where. Who detects an error describes it; each layer above adds at most one
// "while ..." line. No allocation, so it works when memory is what ran out.
#ifndef STK_BASE_ERR_H
#define STK_BASE_ERR_H

#include <stdarg.h>
#include <stdint.h>

enum stk_status {
    STK_OK = 0,
    STK_EUSAGE,   // the request makes no sense (exit code 2)
    STK_EINVAL,   // a caller's bug at a public entry
    STK_EINPUT,   // missing, unreadable or not a profile (exit code 3)
    STK_ENOMEM,   // allocation failed (5)
    STK_ELIMIT,   // a cap was reached (5)
    STK_EOUTPUT,  // output could not be written (5)
    STK_EINTR,    // interrupted (130)
    STK_EBUG,     // broken invariant of our own (70)
    STK_EMISSING, // a file that is not there (3)
    STK_EDAMAGE,  // data lost: a checksum, a truncation, a wrong compression (3)
    STK_ERANGE,   // beyond the end of something (2)
    STK_ECALLER,  // a function of the embedding language failed; it has the details (70)
    STK_EDENIED   // a file that may not be read or written (3)
};

#define STK_ERR_CONTEXTS 4

struct stk_err {
    enum stk_status code;
    int64_t offset;                      // byte position in the input, -1 if none
    char message[480];                   // what, where, what to do; no trailing newline
    char context[STK_ERR_CONTEXTS][160]; // "reading x.json", innermost first
    int contexts;
};

#define STK_MUST_CHECK __attribute__((warn_unused_result))
#define STK_PRINTF(f, a) __attribute__((format(printf, f, a)))

// Reset to "no error".
void stk_err_init(struct stk_err *err);
// Describe an error and return its code, so that a caller can write `return stk_err_set(...)`.
// err may be NULL. An error already set is overwritten.
enum stk_status stk_err_set(struct stk_err *err, enum stk_status code, const char *fmt, ...)
    STK_PRINTF(3, 4);
// The same with the byte position in the input.
enum stk_status stk_err_set_at(struct stk_err *err, enum stk_status code, int64_t offset,
                               const char *fmt, ...) STK_PRINTF(4, 5);
// Add one line of context ("while ..."); more than STK_ERR_CONTEXTS are ignored.
void stk_err_while(struct stk_err *err, const char *fmt, ...) STK_PRINTF(2, 3);
// What kind of error errno tells about a file: missing, denied, no room (STK_ELIMIT), or otherwise.
enum stk_status stk_err_of_file(int error, enum stk_status otherwise);
// STK_ENOMEM with a uniform text.
enum stk_status stk_err_nomem(struct stk_err *err);

#endif
