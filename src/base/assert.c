// SPDX-License-Identifier: Apache-2.0
// What a failed assertion does. The message is built on the stack and written with one call, so
// messages of several threads don't mix; long ones are truncated.
#include "base/assert.h"

#include <stdlib.h>
#include <unistd.h>

struct message {
    char text[1024];
    size_t len;
};

static void put(struct message *m, const char *s)
{
    while (*s && m->len + 1 < sizeof m->text) { // leave one byte for the end of the line
        m->text[m->len++] = *s++;
    }
}

static void put_number(struct message *m, int value)
{
    char digits[16];
    size_t at = sizeof digits - 1;
    unsigned left = value > 0 ? (unsigned)value : 0;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    put(m, digits + at);
}

void stk_assert_fail(const char *cond, const char *file, int line, const char *func)
{
    struct message m = {.len = 0};
    put(&m, file);
    put(&m, ":");
    put_number(&m, line);
    put(&m, ": ");
    put(&m, func);
    put(&m, ": assertion failed: ");
    put(&m, cond);
    m.text[m.len++] = '\n';
    ssize_t written = write(STDERR_FILENO, m.text, m.len);
    (void)written; // nothing more can be done about it
    abort();
}
