// SPDX-License-Identifier: Apache-2.0
// Errors that stop an operation: a status code that must be checked, and a caller-owned record of
// what happened where; both are those of the public header, so that nothing is converted where an
// error leaves the library. Who detects an error describes it; each layer above adds at most one
// "while ..." line. No allocation, so it works when memory is what ran out.
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
// What kind of error errno tells about a file: missing, denied, no room (STOKER_ELIMIT), or
// otherwise.
enum stoker_status stk_err_of_file(int error, enum stoker_status otherwise);
// STOKER_ENOMEM with a uniform text.
enum stoker_status stk_err_nomem(struct stoker_err *err);
// What became of an answer that was begun when stk_alloc_refusals() was `before`. Parts that do
// without memory leave something out; if the system refused any since, in any thread, the
// answer is STOKER_ENOMEM instead of one with a part missing.
enum stoker_status stk_err_whole(uint64_t before, enum stoker_status status,
                                 struct stoker_err *err);

// A caller's bug at a public entry, which `text` names: aborts where assertions are on, else
// STOKER_EINVAL.
enum stoker_status stk_err_misuse(struct stoker_err *err, const char *text);

// How a public entry begins and ends. The caller's record, reset; `own`, on the stack, where the
// caller gave none.
struct stoker_err *stk_err_begin(struct stoker_err *err, struct stoker_err *own);
// The code of what failed; one without a description is STOKER_EBUG and gets one.
enum stoker_status stk_err_fail(struct stoker_err *err);
// Either way: STOKER_OK leaves the record reset.
enum stoker_status stk_err_end(struct stoker_err *err, enum stoker_status status);
