// SPDX-License-Identifier: Apache-2.0
// Files of elements are written beside their name and renamed at the end: there is never half a
// file of that name, and several writers do not meet. What a writer that was killed left behind is
// removed by the next one: it is a file that nobody holds the lock of.
#ifndef STK_DATA_ATOMIC_FILE_H
#define STK_DATA_ATOMIC_FILE_H

#include "data/memory/spec.h"

struct stk_atomic_file {
    char *path, *concurrent;
    int fd;   // to write to; whoever takes it closes it and says so with -1
    int lock; // a descriptor; below 0: none
};

// STOKER_EINVAL: elements that no file can hold; STOKER_EOUTPUT: the name is a directory's or
// device's.
STK_MUST_CHECK enum stoker_status
stk_atomic_file_check(const char *path, const struct stk_specs *specs, struct stoker_err *err);
// Makes the file to write, which is nobody else's: what already has its name, a link above all, is
// left alone, and another name taken. Others leave it alone from now on. Removes what is left of
// dead writers.
STK_MUST_CHECK enum stoker_status stk_atomic_file_open(struct stk_atomic_file *b, const char *path,
                                                       struct stoker_err *err);
// Renames or removes the file, and lets go of all in any case. All zero is nothing.
STK_MUST_CHECK enum stoker_status stk_atomic_file_close(struct stk_atomic_file *b, bool keeps,
                                                        struct stoker_err *err);

#endif
