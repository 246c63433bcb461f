// SPDX-License-Identifier: Apache-2.0
// Errors that stop an operation: a status code that must be checked, and a caller-owned record of
// what happened where. Both are those of the public header, so nothing is converted when an error
// leaves the library. The code that detects an error describes it; each layer above adds at most
// one "while ..." line. It never allocates, so it works when memory runs out.
#pragma once

#include <stdarg.h>
#include <stdint.h>

#include "base/attribute.h"
#include "stoker/err.h"

// Reset to "no error".
void stk_err_init(struct stoker_err *err);
// Describe an error and return its code, so that a caller can write `return stk_err_set(...)`.
// err may be NULL. An error already set is overwritten.
enum stoker_status stk_err_set(struct stoker_err *err, enum stoker_status code, const char *fmt,
                               ...) STK_PRINTF(3, 4);
// The same with the byte position in the input.
enum stoker_status stk_err_set_at(struct stoker_err *err, enum stoker_status code, int64_t offset,
                                  const char *fmt, ...) STK_PRINTF(4, 5);
// Add one line of context ("while ..."); more than STOKER_ERR_CONTEXTS are ignored.
void stk_err_while(struct stoker_err *err, const char *fmt, ...) STK_PRINTF(2, 3);
// The kind of error that errno means for a file: missing, denied, disk full (STOKER_ELIMIT), or
// `otherwise`.
enum stoker_status stk_err_of_file(int error, enum stoker_status otherwise);
// STOKER_ENOMEM with a uniform text.
enum stoker_status stk_err_nomem(struct stoker_err *err);
// The status of a result started when stk_alloc_refusals() was `before`. Parts that run out of
// memory leave something out; if the system refused any request since, in any thread, this returns
// STOKER_ENOMEM instead of an incomplete result.
enum stoker_status stk_err_whole(uint64_t before, enum stoker_status status,
                                 struct stoker_err *err);

// A caller's bug at a public entry point, named by `text`: aborts if assertions are on, else
// STOKER_EINVAL.
enum stoker_status stk_err_misuse(struct stoker_err *err, const char *text);

// Start and end of a public entry point. Returns the caller's record, reset; or `own`, on the
// stack, if the caller gave none.
struct stoker_err *stk_err_begin(struct stoker_err *err, struct stoker_err *own);
// The code of a failure; one without a description becomes STOKER_EBUG with one.
enum stoker_status stk_err_fail(struct stoker_err *err);
// For success and failure: STOKER_OK leaves the record reset.
enum stoker_status stk_err_end(struct stoker_err *err, enum stoker_status status);
