// SPDX-License-Identifier: Apache-2.0
// Looks up a Python frame in names_block.def, in the forms that tracers write:
//   Kineto            "queue.py(154): get", "<built-in method acquire of _thread.lock object at
//   0x7>",
//                     "<built-in function sleep>"
//   TensorFlow, JAX   "$queue.py:154 get", "$time sleep", "$<unknown> acquire" (methods in C)
// Limit: a user's file with the same name as Python's own counts as that one.
#include "profile/store/names_block.h"

#include <string.h>

struct block_row {
    struct stk_str place, function;
    enum stk_block_end end;
};
#define ROW(place, function, by)                                                                   \
    {{place, sizeof(place) - 1}, {function, sizeof(function) - 1}, STK_ENDED_BY_##by},
static const struct block_row blocks[] = {
#define BLOCKS(place, function, by) ROW(place, function, by)
#define LETS_GO(place, function, by)
#include "profile/store/names_block.def"
};
static const struct block_row lets_go[] = {
#define BLOCKS(place, function, by)
#define LETS_GO(place, function, by) ROW(place, function, by)
#include "profile/store/names_block.def"
};

static struct stk_str between(struct stk_str s, size_t from, size_t to)
{
    return (struct stk_str){s.p + from, to - from};
}

static size_t find(struct stk_str s, size_t from, const char *mark)
{
    const char *at = from < s.n ? memmem(s.p + from, s.n - from, mark, strlen(mark)) : NULL;
    return at ? (size_t)(at - s.p) : s.n;
}

static bool split_built_in(struct stk_str s, struct stk_str *place, struct stk_str *function)
{
    size_t skip = stk_str_starts(s, STK_STR("<built-in method "))     ? 17
                  : stk_str_starts(s, STK_STR("<built-in function ")) ? 19
                                                                      : 0;
    size_t of = find(s, skip, " of "), end = find(s, skip, ">");
    if (!skip || end == s.n) {
        return false;
    }
    *function = between(s, skip, of < end ? of : end);
    *place = of < end ? between(s, of + 4, find(s, of, " object")) : STK_STR("");
    return true;
}

// The file without its folders, and the function.
static bool split(struct stk_str s, struct stk_str *place, struct stk_str *function)
{
    if (s.n && s.p[0] == '<') {
        return split_built_in(s, place, function);
    }
    bool dollar = s.n && s.p[0] == '$';
    size_t stop = find(s, 0, dollar ? " " : "): ");
    if (stop == s.n) {
        return false;
    }
    *function = between(s, stop + (dollar ? 1 : 3), s.n);
    size_t end = stop, first = dollar;
    for (size_t i = stop; i-- > first && end == stop;) {
        end = s.p[i] == (dollar ? ':' : '(') ? i : stop;
    }
    for (size_t i = first; i < end; i++) {
        first = s.p[i] == '/' || s.p[i] == '\\' ? i + 1 : first;
    }
    *place = between(s, first, end);
    return true;
}

static enum stk_block_end look_up(const struct block_row *rows, size_t count, struct stk_str frame)
{
    struct stk_str place, function;
    if (!split(frame, &place, &function)) {
        return STK_ENDED_BY_NOTHING;
    }
    for (size_t i = 0; i < count; i++) {
        if (stk_str_eq(rows[i].function, function) && stk_str_eq(rows[i].place, place)) {
            return rows[i].end;
        }
    }
    return STK_ENDED_BY_NOTHING;
}

enum stk_block_end stk_name_blocks(struct stk_str frame)
{
    return look_up(blocks, sizeof blocks / sizeof *blocks, frame);
}

enum stk_block_end stk_name_lets_go(struct stk_str frame)
{
    return look_up(lets_go, sizeof lets_go / sizeof *lets_go, frame);
}
