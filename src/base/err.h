// SPDX-License-Identifier: Apache-2.0
// Errors that stop an operation: a status code that must be checked, and a caller-owned record of
// what happened where. Who detects an error describes it; each layer above adds at most one
// "while ..." line. No allocation, so it works when memory is what ran out.
#ifndef STK_BASE_ERR_H
#define STK_BASE_ERR_H

#include <stdarg.h>
#include <stdint.h>

#include "stoker/err.h"

// The library's own names for the public record and its codes: there is one of each, so that
// nothing is converted where an error leaves the library.
#define stk_err stoker_err
#define stk_status stoker_status
#define STK_OK STOKER_OK
#define STK_EUSAGE STOKER_EUSAGE     // exit code 2
#define STK_EINVAL STOKER_EINVAL     // at a public entry
#define STK_EINPUT STOKER_EINPUT     // 3
#define STK_ENOMEM STOKER_ENOMEM     // 5
#define STK_ELIMIT STOKER_ELIMIT     // 5
#define STK_EOUTPUT STOKER_EOUTPUT   // 5
#define STK_EINTR STOKER_EINTR       // 130
#define STK_EBUG STOKER_EBUG         // 70
#define STK_EMISSING STOKER_EMISSING // 3
#define STK_EDAMAGE STOKER_EDAMAGE   // 3
#define STK_ERANGE STOKER_ERANGE     // 2
#define STK_ECALLER STOKER_ECALLER   // 70
#define STK_EDENIED STOKER_EDENIED   // 3
#define STK_ERR_CONTEXTS STOKER_ERR_CONTEXTS

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

// A caller's bug at a public entry, which `text` names: aborts where assertions are on, else
// STK_EINVAL.
enum stk_status stk_err_misuse(struct stk_err *err, const char *text);

// How a public entry begins and ends. The caller's record, reset; `own`, on the stack, where the
// caller gave none.
struct stk_err *stk_err_begin(struct stk_err *err, struct stk_err *own);
// The code of what failed; one without a description is STK_EBUG and gets one.
enum stk_status stk_err_fail(struct stk_err *err);
// Either way: STK_OK leaves the record reset.
enum stk_status stk_err_end(struct stk_err *err, enum stk_status status);

#endif
