// SPDX-License-Identifier: Apache-2.0
// Assertions: conditions that must hold for any data, so a failure is a bug in this program or its
// caller. Bad data is an issue or an error, never an assertion. They are on in the presets debug,
// asan, tsan and fuzz, and off in release, where the condition is compiled but not evaluated: it
// must not have side effects.
#pragma once

#ifndef STOKER_ASSERTIONS // set by CMakeLists.txt; a file compiled without it follows the C library
#ifdef NDEBUG
#define STOKER_ASSERTIONS 0
#else
#define STOKER_ASSERTIONS 1
#endif
#endif

// Writes "file:line: function: assertion failed: condition" to stderr and aborts. It neither
// allocates nor locks, so it may be called from a signal handler and on any thread.
_Noreturn void stk_assert_fail(const char *cond, const char *file, int line, const char *func);

#if STOKER_ASSERTIONS
#define STK_ASSERT(cond) ((cond) ? (void)0 : stk_assert_fail(#cond, __FILE__, __LINE__, __func__))
// For a check that returns what is wrong, or NULL: prints that text.
#define STK_ASSERT_SOUND(check)                                                                    \
    do {                                                                                           \
        const char *stk_assert_text = (check);                                                     \
        if (stk_assert_text) {                                                                     \
            stk_assert_fail(stk_assert_text, __FILE__, __LINE__, __func__);                        \
        }                                                                                          \
    } while (0)
#else
#define STK_ASSERT(cond) ((void)sizeof(!(cond))) // uses the names in it, evaluates nothing
#define STK_ASSERT_SOUND(check) ((void)sizeof(check))
#endif
