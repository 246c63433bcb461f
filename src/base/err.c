// SPDX-License-Identifier: Apache-2.0
// Error records: formatting into fixed buffers, so that reporting cannot fail.
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

void stk_err_init(struct stoker_err *err)
{
    memset(err, 0, sizeof *err);
    err->offset = -1;
}

static enum stoker_status set(struct stoker_err *err, enum stoker_status code, int64_t offset,
                              const char *fmt, va_list args)
{
    STK_ASSERT(code != STOKER_OK);
    if (!err) {
        return code;
    }
    // The arguments may point into the record itself (an error that wraps another).
    char text[sizeof err->message];
    stk_text_vprintf(text, sizeof text, fmt, args);
    stk_err_init(err);
    err->code = code;
    err->offset = offset;
    memcpy(err->message, text, sizeof text);
    return code;
}

enum stoker_status stk_err_set(struct stoker_err *err, enum stoker_status code, const char *fmt,
                               ...)
{
    va_list args;
    va_start(args, fmt);
    set(err, code, -1, fmt, args);
    va_end(args);
    return code;
}

enum stoker_status stk_err_set_at(struct stoker_err *err, enum stoker_status code, int64_t offset,
                                  const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    set(err, code, offset, fmt, args);
    va_end(args);
    return code;
}

void stk_err_while(struct stoker_err *err, const char *fmt, ...)
{
    if (!err || err->contexts >= STOKER_ERR_CONTEXTS) {
        return;
    }
    va_list args;
    va_start(args, fmt);
    stk_text_vprintf(err->context[err->contexts], sizeof err->context[0], fmt, args);
    va_end(args);
    err->contexts++;
}

enum stoker_status stk_err_of_file(int error, enum stoker_status otherwise)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return STOKER_EMISSING;
    case EACCES:
    case EPERM:
    case EROFS:
        return STOKER_EDENIED;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return STOKER_ELIMIT;
    default:
        return otherwise;
    }
}

enum stoker_status stk_err_misuse(struct stoker_err *err, const char *text)
{
#if STOKER_ASSERTIONS
    (void)err;
    stk_assert_fail(text, __FILE__, __LINE__, __func__);
#else
    return stk_err_set(err, STOKER_EINVAL, "%s", text);
#endif
}

struct stoker_err *stk_err_begin(struct stoker_err *err, struct stoker_err *own)
{
    err = err ? err : own;
    stk_err_init(err);
    return err;
}

enum stoker_status stk_err_fail(struct stoker_err *err)
{
    return err->code != STOKER_OK ? err->code
                                  : stk_err_set(err, STOKER_EBUG, "an error without a description");
}

enum stoker_status stk_err_end(struct stoker_err *err, enum stoker_status status)
{
    if (status != STOKER_OK) {
        return stk_err_fail(err);
    }
    if (err->code != STOKER_OK) { // of something tried without success
        stk_err_init(err);
    }
    return STOKER_OK;
}

// The advice depends on what is short: closing other programs doesn't help against a limit.
enum stoker_status stk_err_nomem(struct stoker_err *err)
{
    static const char smaller[] = "give fewer files, or record a shorter window";
    switch (stk_alloc_lack()) {
    case STK_LACK_LIMIT:
        return stk_err_set(err, STOKER_ENOMEM,
                           "out of memory: this process reached its memory limit (ulimit -v, -d). "
                           "Raise the limit, or %s",
                           smaller);
    case STK_LACK_MACHINE:
        return stk_err_set(err, STOKER_ENOMEM,
                           "out of memory: this needs more than the machine has; %s, or use a "
                           "machine with more memory",
                           smaller);
    case STK_LACK_CAP:
        return stk_err_set(err, STOKER_ENOMEM,
                           "out of memory: more items of one kind than stoker can hold; %s",
                           smaller);
    default:
        return stk_err_set(err, STOKER_ENOMEM,
                           "out of memory: close other programs, or use a machine with more "
                           "memory");
    }
}

enum stoker_status stk_err_whole(uint64_t before, enum stoker_status status, struct stoker_err *err)
{
    STK_ASSERT(before <= stk_alloc_refusals());
    return status == STOKER_OK && stk_alloc_refusals() != before ? stk_err_nomem(err) : status;
}
