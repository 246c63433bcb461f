// SPDX-License-Identifier: Apache-2.0
// Files of elements, written under a temporary name and renamed at the end (base/atomic_file.h),
// and their errors.
#pragma once

#include "base/atomic_file.h"
#include "engine/memory/spec.h"

// STOKER_EINVAL: elements that a file can't hold. STOKER_EOUTPUT: the name is a directory or
// device.
STK_MUST_CHECK enum stoker_status
stk_element_file_check(const char *path, const struct stk_specs *specs, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_element_file_open(struct stk_atomic_file *b, const char *path,
                                                        struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_element_file_close(struct stk_atomic_file *b, bool keeps,
                                                         struct stoker_err *err);
// `why` is an errno.
enum stoker_status stk_element_file_fail(const char *path, int why, struct stoker_err *err);
