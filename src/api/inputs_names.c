// SPDX-License-Identifier: Apache-2.0
// What the names of profile files say: format, rank, worker and time of recording. Names are those
// of TensorFlow's and JAX's profiler plugin (<host>.xplane.pb), torch.profiler's trace handler
// (<worker>.<ms>.pt.trace.json[.gz]) and `nsys export` (<report>.sqlite).
#include "api/inputs_impl.h"

#include "base/stream.h"

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

bool stk_input_ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n >= k && stk_str_eq_nocase((struct stk_str){name + n - k, k}, stk_str_from(suffix));
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

// Number right after `at`, after at most one separator, and not part of a longer word; -1 none.
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

size_t stk_input_worker(const char *base, int64_t *recorded)
{
    struct stk_str s = stk_str_from(base);
    if (stk_input_ends(base, ".gz")) {
        s.n -= 3;
    }
    static const struct stk_str tail = {".pt.trace.json", 14};
    if (!stk_str_ends(s, tail)) {
        return 0;
    }
    s.n -= tail.n;
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

// First decompressed bytes of the file hold a trace's event list.
static bool looks_like_trace(const char *path, const char **why)
{
    struct stk_stream *stream = NULL;
    struct stk_stream_opts opts = {.seekable = 0};
    bool is = false;
    enum stk_status status = stk_stream_open(&stream, path, &opts, NULL);
    if (status == STK_ENOMEM) {
        return true; // reading it will say so
    }
    if (status != STK_OK) {
        *why = "cannot be read";
        return false;
    }
    const uint8_t *p;
    struct stk_str head = {NULL, stk_stream_peek(stream, &p)};
    head.p = (const char *)p;
    while (head.n && (unsigned char)*head.p <= ' ') {
        head.p++;
        head.n--;
    }
    if (head.n && (*head.p == '{' || *head.p == '[')) {
        is = stk_str_contains(head, STK_STR("\"traceEvents\"")) ||
             stk_str_contains(head, STK_STR("\"ph\""));
    }
    stk_stream_close(stream);
    *why = is ? NULL : "JSON, but not a trace";
    return is;
}

static bool is_sqlite(const char *path)
{
    struct stk_stream *stream = NULL;
    struct stk_stream_opts opts = {.seekable = 0};
    enum stk_status status = stk_stream_open(&stream, path, &opts, NULL);
    if (status != STK_OK) {
        return status == STK_ENOMEM;
    }
    const uint8_t *p;
    size_t n = stk_stream_peek(stream, &p);
    bool is = n >= 16 && memcmp(p, "SQLite format 3", 16) == 0;
    stk_stream_close(stream);
    return is;
}

// Files that tools keep beside profiles.
static const char *known_companion(const char *base)
{
    static const struct {
        const char *part, *why;
    } parts[] = {{".SSTABLE", "a cache of the viewer"},
                 {".op_stats", "derived from a profile by a tool"},
                 {".overview_page.", "derived from a profile by a tool"},
                 {".input_pipeline.", "derived from a profile by a tool"},
                 {".kernel_stats.", "derived from a profile by a tool"},
                 {".memory_profile.", "derived from a profile by a tool"},
                 {".tensorflow_stats.", "derived from a profile by a tool"},
                 {".hlo_proto.pb", "a compiled program, not a profile"},
                 {".pod_viewer.", "derived from a profile by a tool"},
                 {"tfevents", "a TensorBoard event file: it holds no profile"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (stk_str_contains_nocase(stk_str_from(base), stk_str_from(parts[i].part))) {
            return parts[i].why;
        }
    }
    return NULL;
}

static bool ends_with_any(const char *base, const char *const *suffixes)
{
    for (; *suffixes; suffixes++) {
        if (stk_input_ends(base, *suffixes)) {
            return true;
        }
    }
    return false;
}

enum stk_input_format stk_input_format(const char *path, const char *base, int64_t size_bytes,
                                       const char **why)
{
    static const char *const reports[] = {".nsys-rep", ".qdrep", ".qdstrm", NULL};
    static const char *const beside[] = {"-wal", "-shm", "-journal", NULL};
    static const char *const databases[] = {".sqlite", ".sqlite3", ".db", NULL};
    static const char *const json[] = {".json", ".json.gz", ".json.zst", NULL};
    static const char *const torch[] = {".pt.trace.json", ".pt.trace.json.gz", NULL};
    *why = NULL;
    if (strncmp(base, "._", 2) == 0) {
        *why = "an AppleDouble file: attributes that macOS keeps, no profile";
    } else if (base[0] == '.') {
        *why = "a hidden file";
    } else if (ends_with_any(base, beside)) {
        *why = "belongs to an SQLite database";
    } else if ((*why = known_companion(base))) {
        return STK_INPUT_NONE;
    }
    if (*why) {
        return STK_INPUT_NONE;
    }
    if (ends_with_any(base, reports)) {
        *why = "an Nsight Systems report: export it with nsys export --type=sqlite";
        return STK_INPUT_REPORT;
    }
    bool database = ends_with_any(base, databases);
    if (size_bytes == 0) {
        *why = "empty";
    } else if (stk_input_ends(base, ".xplane.pb")) {
        return STK_INPUT_XPLANE;
    } else if (ends_with_any(base, torch) ||
               (ends_with_any(base, json) && looks_like_trace(path, why))) {
        return STK_INPUT_JSON;
    } else if (database && is_sqlite(path)) {
        return STK_INPUT_NSYS;
    } else if (database) {
        *why = "not an SQLite database";
    } else if (!*why) {
        *why = "not a profile by its name";
    }
    return STK_INPUT_NONE;
}
