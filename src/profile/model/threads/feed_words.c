// SPDX-License-Identifier: Apache-2.0
// Words of a function's name in feeds.def: split at anything but letters and digits, and at aB.
#include "profile/model/threads/feed_words.h"

#include "profile/model/threads/python_frame.h"

static const struct {
    struct stk_str word;
    enum stk_feed feed;
} words[] = {
#define SERVES(w) {{w, sizeof(w) - 1}, STK_FEED_OTHER},
#define FEEDS(w) {{w, sizeof(w) - 1}, STK_FEED_DATA},
#include "profile/model/threads/feeds.def"
};

static const struct stk_str ruling[] = {
#define RULES(w) {w, sizeof(w) - 1},
#include "profile/model/threads/feeds.def"
};

static const struct stk_str bringers[] = {
#define BRINGS(name) {name, sizeof(name) - 1},
#include "profile/model/threads/feeds.def"
};

static const struct stk_str takers[] = {
#define TAKES(name) {name, sizeof(name) - 1},
#include "profile/model/threads/feeds.def"
};

static const struct stk_str hands[] = {
#define HANDS(name) {name, sizeof(name) - 1},
#include "profile/model/threads/feeds.def"
};

static const struct stk_str putting[] = {
#define PUTS(name) {name, sizeof(name) - 1},
#include "profile/model/threads/feeds.def"
};

static const struct stk_str keys[] = {
#define KEYS(name) {name, sizeof(name) - 1},
#include "profile/model/threads/feeds.def"
};

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}
static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_border(struct stk_str s, size_t at)
{
    if (at == 0 || at == s.n) {
        return true;
    }
    char before = s.p[at - 1], after = s.p[at];
    bool inside = (is_lower(before) || is_upper(before)) && (is_lower(after) || is_upper(after));
    return !inside || (is_lower(before) && is_upper(after));
}

static bool has_word(struct stk_str s, struct stk_str word)
{
    for (size_t i = 0; i + word.n <= s.n; i++) {
        if (is_border(s, i) && is_border(s, i + word.n) &&
            stk_str_eq_nocase((struct stk_str){s.p + i, word.n}, word)) {
            return true;
        }
    }
    return false;
}

enum stk_feed stk_feed_of(struct stk_str function)
{
    enum stk_feed found = STK_FEED_UNKNOWN;
    for (size_t i = 0; i < sizeof words / sizeof *words && found != STK_FEED_OTHER; i++) {
        if (has_word(function, words[i].word)) {
            found = words[i].feed;
        }
    }
    return found;
}

static bool is_one_of(struct stk_str name, const struct stk_str *names, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        found = stk_str_eq(name, names[i]);
    }
    return found;
}

bool stk_feed_brings(struct stk_str function)
{
    return is_one_of(function, bringers, sizeof bringers / sizeof *bringers);
}

bool stk_feed_takes(struct stk_str function)
{
    return is_one_of(function, takers, sizeof takers / sizeof *takers);
}

bool stk_feed_hands_over(struct stk_str row)
{
    // Kineto shows torch's functions as methods of a type, NumPy's not.
    bool is_frameworks = (stk_str_starts(row, STK_STR("<built-in method ")) &&
                          stk_str_contains(row, STK_STR(" of type object"))) ||
                         stk_python_frame_owner(row) == STK_PYTHON_FRAMEWORK;
    return is_frameworks &&
           is_one_of(stk_python_frame_called(row), hands, sizeof hands / sizeof *hands);
}

bool stk_feed_puts(struct stk_str row)
{
    return is_one_of(row, putting, sizeof putting / sizeof *putting);
}

bool stk_feed_makes_keys(struct stk_str row)
{
    static const struct stk_str operations[] = {{"PjitFunction(_threefry_", 23},
                                                {"PjitFunction(threefry_", 22},
                                                {"PjitFunction(_rbg_", 18},
                                                {"PjitFunction(_unsafe_rbg_", 25}};
    struct stk_python_frame frame = stk_python_frame_parse(row);
    bool is_jaxs = stk_python_frame_owner(row) == STK_PYTHON_FRAMEWORK &&
                   stk_str_starts(frame.file, STK_STR("jax/"));
    is_jaxs = is_jaxs || (stk_str_starts(row, STK_STR("$")) && !frame.has_folder &&
                          (stk_str_eq(frame.file, STK_STR("random.py")) || // core.py in its folder
                           stk_str_eq(frame.file, STK_STR("core.py"))));
    bool found = is_jaxs && is_one_of(frame.function, keys, sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof operations / sizeof *operations && !found; i++) {
        found = stk_str_starts(row, operations[i]);
    }
    return found;
}

bool stk_feed_rules(struct stk_str function)
{
    bool found = false;
    for (size_t i = 0; i < sizeof ruling / sizeof *ruling && !found; i++) {
        found = has_word(function, ruling[i]);
    }
    return found;
}
