// SPDX-License-Identifier: Apache-2.0
// Stats of allocator events, counters and collectives, read a second time only if an analysis asked
// for them, so they cost nothing otherwise.
//
// TensorFlow's and JAX's BFC allocator writes the events MemoryAllocation and MemoryDeallocation; a
// counter is an event of the line "_counters_" whose stats are its values; an XLA collective has
// its bytes and groups in its HLO text; device work has the framework's operation with its name
// scopes in "tf_op", and the shapes of its inputs in "shape".
#include <stdio.h>

#include "base/assert.h"
#include "profile/readers/xplane/xplane_event.h"
#include "profile/store/words.h"

enum { SCOPE_OP, SCOPE_MODULE, SCOPE_HLO, SCOPE_SHAPES, SCOPE_LEVEL, SCOPE_STATS };

struct taking {
    struct stk_xp_decoder *d;
    struct stk_detail *out;
    size_t count;
    uint8_t kind;
    bool wants_scope, wants_update;
    struct stk_str scope[SCOPE_STATS]; // from the stats seen so far
};

static struct stk_detail *push(struct taking *t, enum stk_detail_key key)
{
    STK_ASSERT(t->count <= STK_XP_DETAILS_MAX);
    STK_ASSERT((unsigned)key < STK_DETAIL_COUNT);
    if (t->count == STK_XP_DETAILS_MAX) {
        return NULL;
    }
    struct stk_detail *d = &t->out[t->count++];
    *d = (struct stk_detail){.key = key, .number = 0};
    return d;
}

static bool value_real(const struct stk_xp_value *v, double *out)
{
    int64_t number;
    if (v->type == STK_XP_DOUBLE) {
        memcpy(out, &v->bits, sizeof *out);
    } else if (v->type == STK_XP_U64) {
        *out = (double)v->bits;
    } else if (stk_xp_value_i64(v, &number)) {
        *out = (double)number;
    } else {
        return false;
    }
    return *out - *out == 0; // finite
}

static void take_memory(struct taking *t, struct stk_str name, const struct stk_xp_value *v)
{
    static const struct {
        const char *name;
        enum stk_detail_key key;
    } stats[] = {{"addr", STK_DETAIL_ADDRESS},
                 {"index_on_host", STK_DETAIL_DEVICE}, // TPU
                 {"device_ordinal", STK_DETAIL_DEVICE},
                 {"bytes_allocated", STK_DETAIL_TOTAL},
                 {"bytes_available", STK_DETAIL_AVAILABLE},
                 {"bytes_reserved", STK_DETAIL_STACK},
                 {"peak_bytes_in_use", STK_DETAIL_PEAK},
                 {"fragmentation", STK_DETAIL_FRAGMENTATION},
                 {"allocator_name", STK_DETAIL_ALLOCATOR},
                 {"tf_op", STK_DETAIL_OP},
                 {"tf_op_name", STK_DETAIL_OP}};
    struct stk_str text;
    struct stk_detail *d;
    for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++) {
        if (!stk_str_eq(name, stk_str_from(stats[i].name))) {
            continue;
        }
        enum stk_detail_type type = stk_detail_type_of(stats[i].key);
        int64_t number = (int64_t)v->bits; // addresses use all bits
        double real;
        if (type == STK_DETAIL_TEXT && stk_xp_value_text(v, &text) && text.n) {
            if ((d = push(t, stats[i].key))) {
                d->text = stk_shard_intern(t->d->shard, text.p, text.n);
            }
        } else if (type == STK_DETAIL_REAL && value_real(v, &real)) {
            if ((d = push(t, stats[i].key))) {
                d->real = real;
            }
        } else if (type == STK_DETAIL_INT &&
                   (v->type == STK_XP_U64 || stk_xp_value_i64(v, &number))) {
            if ((d = push(t, stats[i].key))) {
                d->number = number;
            }
        }
        return;
    }
}

static void take_counter(struct taking *t, struct stk_str name, const struct stk_xp_value *v)
{
    double real;
    if (!value_real(v, &real) || t->count + 2 > STK_XP_DETAILS_MAX) {
        return;
    }
    struct stk_detail *series = push(t, STK_DETAIL_SERIES), *value = push(t, STK_DETAIL_VALUE);
    series->text = stk_shard_intern(t->d->shard, name.p, name.n);
    value->real = real;
}

static void take_scope(struct taking *t, struct stk_str name, const struct stk_xp_value *v)
{
    static const char *const stats[SCOPE_STATS] = {"tf_op", "hlo_module", "hlo_op", "shape",
                                                   "level 0"};
    struct stk_str text;
    for (int i = 0; i < SCOPE_STATS; i++) {
        if (stk_str_eq(name, stk_str_from(stats[i])) && stk_xp_value_text(v, &text)) {
            t->scope[i] = text;
        }
    }
}

// "path" of "path:": a name without a type.
static struct stk_str without_colon(struct stk_str text)
{
    while (text.n && text.p[text.n - 1] == ':') {
        text.n--;
    }
    return text;
}

// The framework's path; XLA on a GPU and on the CPU only has the program and its operation.
static void put_scope(struct taking *t)
{
    char joined[512];
    struct stk_str path = without_colon(t->scope[SCOPE_OP]), module = t->scope[SCOPE_MODULE];
    if ((!path.n || stk_str_eq(path, STK_STR("XlaModule"))) && module.n) {
        int n = snprintf(joined, sizeof joined, "%.*s/%.*s", (int)(module.n < 250 ? module.n : 250),
                         module.p, (int)(t->scope[SCOPE_HLO].n < 250 ? t->scope[SCOPE_HLO].n : 250),
                         t->scope[SCOPE_HLO].p ? t->scope[SCOPE_HLO].p : "");
        path = (struct stk_str){joined, n > 0 ? (size_t)n : 0};
    }
    struct stk_detail *d = path.n ? push(t, STK_DETAIL_SCOPE) : NULL;
    if (d) {
        d->text = stk_shard_intern(t->d->shard, path.p, path.n);
    }
}

static void put_shapes(struct taking *t)
{
    struct stk_str shapes = t->scope[SCOPE_SHAPES];
    struct stk_detail *d = shapes.n ? push(t, STK_DETAIL_SHAPES) : NULL;
    if (d) {
        d->text = stk_shard_intern(t->d->shard, shapes.p, shapes.n);
    }
}

static void take_stat(struct taking *t, const uint8_t *p, size_t n)
{
    struct stk_xp_value v;
    int64_t id;
    if (!stk_xp_stat_parse(t->d->plane, p, n, &id, &v)) {
        return;
    }
    uint32_t at = stk_xp_ids_get(&t->d->plane->stat_ids, id);
    if (at == STK_NONE) {
        return;
    }
    struct stk_str name =
        ((const struct stk_xp_stat_meta *)stk_vec_at(&t->d->plane->stat_metas, at))->name;
    if (t->kind == STK_KIND_MEMORY) {
        take_memory(t, name, &v);
    } else if (t->wants_scope || t->wants_update) {
        take_scope(t, name, &v);
    } else {
        take_counter(t, name, &v);
    }
}

// number 0: every field is a stat.
static void take_stats(struct taking *t, const uint8_t *p, size_t n, uint32_t number)
{
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if ((number == 0 || f.number == number) && f.wire == STK_PB_LEN) {
            take_stat(t, f.data, (size_t)f.value);
        }
    }
}

// ---- collectives in HLO text: "%all-reduce.1 = f32[8,4]{1,0} all-reduce(...), replica_groups=..."

// Digits at *p; 0 and no move without digits.
static int64_t digits(const char **p, const char *end)
{
    int64_t n = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, **p - '0', &n)) {
            n = INT64_MAX;
        }
    }
    return n;
}

// Bytes of all shapes in text: "f32[5,1024]{1,0}", "(bf16[8], bf16[8])"; or of the largest of them.
// 0: not known.
static int64_t shape_bytes(struct stk_str text, bool of_largest)
{
    const char *p = text.p, *end = text.p + text.n;
    int64_t total = 0, largest = 0;
    while (p < end && (p = memchr(p, '[', (size_t)(end - p)))) {
        const char *bits_at = p;
        while (bits_at > text.p && bits_at[-1] >= '0' && bits_at[-1] <= '9') {
            bits_at--;
        }
        int64_t bytes = digits(&bits_at, p) / 8;
        if (p - text.p >= 4 && memcmp(p - 4, "pred", 4) == 0) {
            bytes = 1;
        } else if (p > text.p && strchr("nf", p[-1]) &&
                   memmem(text.p, (size_t)(p - text.p), "f8", 2)) {
            bytes = 1; // f8e4m3fn
        }
        for (p++; p < end && *p != ']';) {
            int64_t size = digits(&p, end);
            if (__builtin_mul_overflow(bytes, size, &bytes)) {
                return 0;
            }
            p += p < end && *p != ']';
        }
        largest = bytes > largest ? bytes : largest;
        if (__builtin_add_overflow(total, bytes, &total)) {
            return 0;
        }
    }
    return of_largest ? largest : total;
}

// Members of a group: "{{0,1},{2,3}}" or "[groups,members]<=...". 0: not known.
static int64_t group_size(struct stk_str text)
{
    const char *p = memmem(text.p, text.n, "replica_groups=", 15), *end = text.p + text.n;
    if (!p) {
        return 0;
    }
    p += 15;
    if (p < end && *p == '[') {
        p++;
        digits(&p, end);
        if (p >= end || *p != ',') {
            return 0;
        }
        p++;
        return digits(&p, end);
    }
    if (end - p < 3 || p[0] != '{' || p[1] != '{') {
        return 0;
    }
    int64_t members = 1;
    for (p += 2; p < end && *p != '}'; p++) {
        members += *p == ',';
    }
    return members;
}

static const struct hlo_collective {
    const char *call; // as in the text, with a blank before and a parenthesis after
    enum stk_collective_kind kind;
    bool has_input; // among its shapes
} hlo_collectives[] = {{" all-reduce(", STK_COLLECTIVE_ALL_REDUCE, false},
                       {" all-reduce-start(", STK_COLLECTIVE_ALL_REDUCE, false},
                       {" all-gather(", STK_COLLECTIVE_ALL_GATHER, false},
                       {" all-gather-start(", STK_COLLECTIVE_ALL_GATHER, true},
                       {" reduce-scatter(", STK_COLLECTIVE_REDUCE_SCATTER, false},
                       {" all-to-all(", STK_COLLECTIVE_ALL_TO_ALL, false},
                       {" collective-permute(", STK_COLLECTIVE_PERMUTE, false},
                       {" collective-permute-start(", STK_COLLECTIVE_PERMUTE, true}};
#define HLO_COLLECTIVES (sizeof hlo_collectives / sizeof hlo_collectives[0])

// "%all-reduce.3 = f32[...": XLA names an instruction after its operation, unless it was renamed.
bool stk_xp_is_collective(struct stk_str text)
{
    size_t skip = text.n && text.p[0] == '%';
    for (size_t i = 0; i < HLO_COLLECTIVES; i++) {
        size_t n = strlen(hlo_collectives[i].call) - 2;
        if (text.n >= skip + n && memcmp(text.p + skip, hlo_collectives[i].call + 1, n) == 0) {
            return true;
        }
    }
    return false;
}

static void take_collective(struct taking *t, struct stk_str text)
{
    const char *shape = memmem(text.p, text.n, " = ", 3), *call = NULL;
    enum stk_collective_kind kind = STK_COLLECTIVE_NONE;
    bool of_largest = false;
    for (size_t i = 0; shape && !call && i < HLO_COLLECTIVES; i++) {
        const struct hlo_collective *c = &hlo_collectives[i];
        kind = c->kind;
        of_largest = c->has_input;
        call = memmem(shape, (size_t)(text.p + text.n - shape), c->call, strlen(c->call));
    }
    if (!call) {
        return;
    }
    struct stk_detail *d = push(t, STK_DETAIL_COLLECTIVE);
    const char *word = stk_collective_word(kind);
    d->text = stk_shard_intern(t->d->shard, word, strlen(word));
    int64_t members = group_size(text);
    int64_t bytes = shape_bytes((struct stk_str){shape, (size_t)(call - shape)}, of_largest);
    bool scatters = kind == STK_COLLECTIVE_REDUCE_SCATTER; // the shape is one part's
    if (scatters && (members == 0 || __builtin_mul_overflow(bytes, members, &bytes))) {
        bytes = 0;
    }
    if (bytes > 0 && (d = push(t, STK_DETAIL_BYTES))) {
        d->number = bytes;
    }
    if (members > 0 && (d = push(t, STK_DETAIL_GROUP_SIZE))) {
        d->number = members;
    }
}

// A kernel that applies a gradient to a TensorFlow variable shows the gradient's size.
static void put_update(struct taking *t)
{
    struct stk_str op = t->scope[SCOPE_OP].n ? t->scope[SCOPE_OP] : t->scope[SCOPE_LEVEL];
    int64_t width = 0, n = stk_xp_update_elements(op, t->scope[SCOPE_SHAPES], &width);
    struct stk_detail *d;
    if (n > 0 && (d = push(t, STK_DETAIL_IN_ELEMENTS))) {
        d->number = n;
    }
    if (n > 0 && (d = push(t, STK_DETAIL_ELEMENT_BYTES))) {
        d->number = width;
    }
}

static bool has_scope(uint8_t kind)
{
    return stk_kind_is_device_work(kind) || kind == STK_KIND_HOST_OP;
}

size_t stk_xp_details(struct stk_xp_decoder *d, const struct stk_xp_prepared *x, uint8_t kind,
                      const uint8_t *p, size_t n, struct stk_detail *out)
{
    const struct stk_xp_event_meta *m = stk_xp_prepared_meta(d, x);
    bool is_thread = d->line->kind == STK_XP_LINE_THREAD;
    if (is_thread && !(d->wants & (STK_WANT_SCOPES | STK_WANT_MEMORY | STK_WANT_COLLECTIVES))) {
        return d->wants & STK_WANT_INPUT && x->input
                   ? stk_xp_input_details(d, (enum stk_xp_input)x->input, p, n, out)
                   : 0;
    }
    struct taking t = {.d = d, .out = out, .kind = kind};
    bool is_counter = d->line->kind == STK_XP_LINE_COUNTER;
    if (m && m->name.n && d->line->kind == STK_XP_LINE_OPS) {
        bool is_named = kind == STK_KIND_COLLECTIVE || x->is_collective;
        if (is_named ? stk_wants_messages(d->wants) : (d->wants & STK_WANT_COLLECTIVES) != 0) {
            take_collective(&t, m->name);
        }
    }
    t.wants_scope = d->wants & STK_WANT_SCOPES && has_scope(kind);
    t.wants_update = d->wants & STK_WANT_COLLECTIVES && kind == STK_KIND_KERNEL &&
                     d->line->kind == STK_XP_LINE_STREAM;
    if (t.wants_scope || t.wants_update ||
        (d->wants & STK_WANT_MEMORY && kind == STK_KIND_MEMORY) ||
        (d->wants & STK_WANT_COUNTERS && is_counter)) {
        if (m) {
            take_stats(&t, (const uint8_t *)m->raw_stats.p, m->raw_stats.n, 0);
        }
        take_stats(&t, p, n, 4);
    }
    if (t.wants_scope) {
        put_scope(&t);
    }
    if (t.wants_scope && d->wants & STK_WANT_SHAPES) {
        put_shapes(&t);
    }
    if (t.wants_update) {
        put_update(&t);
    }
    if (d->wants & STK_WANT_INPUT && x->input && d->line->kind == STK_XP_LINE_THREAD) {
        enum stk_xp_input input = (enum stk_xp_input)x->input;
        t.count += stk_xp_input_details(d, input, p, n, out + t.count);
    }
    return t.count;
}
