// SPDX-License-Identifier: Apache-2.0
// State that all files of the library share; see inject.h.
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "job/capture/inject/inject.h"

struct stk_inject stk_inject;
STK_THREAD_LOCAL int stk_inject_inside;

void stk_inject_refuse(enum stk_capture_state state, const char *why)
{
    struct stk_control_slot *s = stk_inject.slot;
    strncpy(s->why, why, sizeof s->why - 1);
    stk_slot_set(&s->state, state);
}

void stk_inject_wake(uint32_t *word)
{
    int error = errno;
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    errno = error;
}
