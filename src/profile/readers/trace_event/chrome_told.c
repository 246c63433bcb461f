// SPDX-License-Identifier: Apache-2.0
// Reads the names and values under `stoker`. Texts are used as they are between their quotes: the
// hooks only escape letters beyond ASCII, which stay escaped.
#include "profile/readers/trace_event/chrome_told.h"

#include <string.h>

#include "profile/readers/trace_event/chrome_json.h"

enum { PLACE_MAX = 512, PERMILLE_MAX = 1000 };

static const char *const places[STK_TOLD_PLACES] = {
#define P(id, key) [STK_TOLD_##id] = key,
#define N(id, key)
#include "profile/store/told.def"
#undef P
#undef N
};
static const char *const numbers[STK_TOLD_NUMBERS] = {
#define P(id, key)
#define N(id, key) [STK_TOLD_##id] = key,
#include "profile/store/told.def"
#undef P
#undef N
};

struct reading {
    struct stk_told_texts *told;
    struct stk_arena *arena;
    bool failed;
};

static void set_place(struct reading *r, int at, struct stk_str rest, struct stk_str value)
{
    struct stk_told_texts *told = r->told;
    int64_t share;
    if (rest.n == 0 && value.n > 0 && value.n <= PLACE_MAX) {
        char *copy = stk_arena_strndup(r->arena, value.p, value.n);
        r->failed |= !copy;
        told->places[at] = copy ? (struct stk_str){copy, value.n} : STK_STR("");
    } else if (stk_str_eq(rest, STK_STR("_permille")) && stk_str_to_i64(value, &share) &&
               share >= 0 && share <= PERMILLE_MAX) {
        told->permille[at] = (uint32_t)share;
    }
}

static void set_value(void *arg, struct stk_str key, struct stk_str value)
{
    struct reading *r = arg;
    int64_t number;
    for (int i = 0; i < STK_TOLD_NUMBERS; i++) {
        if (stk_str_eq(key, stk_str_from(numbers[i])) && stk_str_to_i64(value, &number) &&
            number >= 0) {
            r->told->numbers[i] = number;
        }
    }
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        struct stk_str name = stk_str_from(places[i]);
        if (stk_str_starts(key, name)) {
            set_place(r, i, (struct stk_str){key.p + name.n, key.n - name.n}, value);
        }
    }
}

bool stk_chrome_told_read(struct stk_str json, struct stk_arena *arena, struct stk_told_texts *told)
{
    struct reading r = {told, arena, false};
    memset(told, 0, sizeof *told);
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        told->places[i] = STK_STR("");
    }
    if (json.n && json.p[0] == '{') {
        stk_chrome_flatten(json.p, json.n, STK_STR(""), set_value, &r);
    }
    return !r.failed;
}
