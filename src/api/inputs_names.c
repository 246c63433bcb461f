// SPDX-License-Identifier: Apache-2.0
// Reads rank, worker and time of recording from the names of profile files, and sorts them. The
// forms are those of TensorFlow's and JAX's profiler plugin (<host>.xplane.pb), torch.profiler's
// trace handler (<worker>.<ms>.pt.trace.json[.gz]) and `nsys export` (<report>.sqlite). The
// readers' rows say which format a name means.
#include "api/inputs_impl.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_alpha(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

struct stk_str stk_input_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return stk_str_from(slash ? slash + 1 : path);
}

int stk_input_compare(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        if (is_digit(*a) && is_digit(*b)) {
            size_t na, nb;
            while (*a == '0' && is_digit(a[1])) {
                a++;
            }
            while (*b == '0' && is_digit(b[1])) {
                b++;
            }
            for (na = 0; is_digit(a[na]); na++)
                ;
            for (nb = 0; is_digit(b[nb]); nb++)
                ;
            int order = na != nb ? (na < nb ? -1 : 1) : memcmp(a, b, na);
            if (order) {
                return order;
            }
            a += na - 1;
            b += nb - 1;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

// The number right after `at`, with at most one separator between, and not part of a longer word;
// -1: none.
static int32_t number_at(const char *p)
{
    if (*p && strchr("-_=.[", *p)) {
        p++;
    }
    size_t n = 0;
    int32_t value = 0;
    for (; is_digit(p[n]) && n < 8; n++) {
        value = value * 10 + (p[n] - '0');
    }
    return n == 0 || n >= 8 || is_alpha(p[n]) ? -1 : value;
}

static int32_t rank_after(const char *name, const char *word, bool needs_separator)
{
    size_t k = strlen(word);
    for (const char *p = name; *p; p++) {
        bool starts = p == name || !is_alpha(p[-1]);
        if (needs_separator) {
            starts = p > name && strchr("-_.", p[-1]);
        }
        if (!starts || strlen(p) < k ||
            !stk_str_eq_nocase((struct stk_str){p, k}, stk_str_from(word))) {
            continue;
        }
        if (needs_separator && !is_digit(p[k])) {
            continue;
        }
        int32_t rank = number_at(p + k);
        if (rank >= 0) {
            return rank;
        }
    }
    return -1;
}

int32_t stk_inputs_rank_of_name(const char *name)
{
    int32_t rank = rank_after(name, "rank", false);
    if (rank < 0) {
        rank = rank_after(name, "worker", false);
    }
    if (rank < 0) {
        rank = rank_after(name, "r", true);
    }
    return rank;
}

int32_t stk_input_rank(const struct stk_input_file *f)
{
    int32_t rank = stk_inputs_rank_of_name(f->base);
    if (rank >= 0) {
        return rank;
    }
    struct stk_str dir = stk_input_base(f->dir);
    rank = stk_inputs_rank_of_name(dir.p);
    int64_t whole;
    if (rank < 0 && dir.n && dir.n <= 3 && is_digit(dir.p[0]) && stk_str_to_i64(dir, &whole)) {
        rank = (int32_t)whole; // .../0/trace.json, .../1/trace.json
    }
    return rank;
}

static const struct stk_str torch_tail = {".pt.trace.json", 14};

bool stk_input_is_torch(const char *base)
{
    return stk_str_ends(stk_reader_unpacked_name(base), torch_tail);
}

size_t stk_input_worker(const char *base, int64_t *recorded)
{
    struct stk_str s = stk_reader_unpacked_name(base);
    if (!stk_input_is_torch(base)) {
        return 0;
    }
    s.n -= torch_tail.n;
    size_t digits = 0;
    while (digits < s.n && is_digit(s.p[s.n - 1 - digits])) {
        digits++;
    }
    if (digits < 10 || digits == s.n || s.p[s.n - 1 - digits] != '.') {
        return 0;
    }
    if (!stk_str_to_i64((struct stk_str){s.p + s.n - digits, digits}, recorded)) {
        return 0;
    }
    return s.n - digits - 1;
}
