// SPDX-License-Identifier: Apache-2.0
// Reads the few top-level values that matter. AMD's "compute capability" 9.x would be mistaken for
// Hopper's 9.0, so it is left out if keys or names show an AMD device.
#include "profile/readers/trace_event/chrome_facts.h"

#include "base/alloc.h"
#include "profile/readers/trace_event/chrome_json.h"

struct stk_chrome_device {
    int64_t id;
    struct stk_str name;
    int64_t sm_count, cc_major, cc_minor, memory_bytes;
    int64_t warp_threads, sm_threads, sm_registers, sm_shared_bytes;
};

#define DEVICES_MAX 4096

static struct stk_str keep(struct stk_chrome_facts *f, struct stk_str s)
{
    char *p = s.n ? stk_arena_strndup(&f->arena, s.p, s.n) : NULL;
    f->failed |= s.n && !p;
    return p ? (struct stk_str){p, s.n} : STK_STR("");
}

// Calls fn for each element of the JSON array.
static void each_element(struct stk_chrome_facts *f, struct stk_str json,
                         void (*fn)(struct stk_chrome_facts *f, struct stk_str element))
{
    struct stk_chrome_lexer *x = stk_alloc(sizeof *x);
    f->failed |= !x;
    if (!x) {
        return;
    }
    size_t start = 0;
    stk_chrome_lexer_init(x, json.p, json.n, 0);
    do {
        enum stk_chrome_token t = stk_chrome_lexer_next(x);
        if (t == STK_CHROME_TOK_CUT || t == STK_CHROME_TOK_BROKEN) {
            break;
        }
        if (t == STK_CHROME_TOK_OPEN && x->depth == 2) {
            start = x->at;
        } else if (t == STK_CHROME_TOK_CLOSE && x->depth == 1) {
            fn(f, (struct stk_str){json.p + start, x->pos - start});
        } else if (x->depth == 1 && (t == STK_CHROME_TOK_STRING || t == STK_CHROME_TOK_BARE)) {
            fn(f, x->str);
        }
    } while (x->depth > 0);
    stk_free(x);
}

struct device_reading {
    struct stk_chrome_facts *f;
    struct stk_chrome_device *d;
};

static void set_device_value(void *arg, struct stk_str key, struct stk_str value)
{
    struct device_reading *r = arg;
    if (stk_str_eq(key, STK_STR("id"))) {
        stk_str_to_i64(value, &r->d->id);
    } else if (stk_str_eq(key, STK_STR("name"))) {
        r->d->name = keep(r->f, value);
    } else if (stk_str_eq(key, STK_STR("totalGlobalMem"))) {
        stk_str_to_i64(value, &r->d->memory_bytes);
    } else if (stk_str_eq(key, STK_STR("numSms")) || stk_str_eq(key, STK_STR("maxComputeUnits"))) {
        stk_str_to_i64(value, &r->d->sm_count);
    } else if (stk_str_eq(key, STK_STR("warpSize"))) {
        stk_str_to_i64(value, &r->d->warp_threads);
    } else if (stk_str_eq(key, STK_STR("maxThreadsPerMultiprocessor"))) {
        stk_str_to_i64(value, &r->d->sm_threads);
    } else if (stk_str_eq(key, STK_STR("regsPerMultiprocessor"))) {
        stk_str_to_i64(value, &r->d->sm_registers);
    } else if (stk_str_eq(key, STK_STR("sharedMemPerMultiprocessor"))) {
        stk_str_to_i64(value, &r->d->sm_shared_bytes);
    } else if (stk_str_eq(key, STK_STR("computeMajor"))) {
        stk_str_to_i64(value, &r->d->cc_major);
    } else if (stk_str_eq(key, STK_STR("computeMinor"))) {
        stk_str_to_i64(value, &r->d->cc_minor);
    }
}

static void add_device(struct stk_chrome_facts *f, struct stk_str element)
{
    if (element.n == 0 || element.p[0] != '{' || f->devices.count == DEVICES_MAX) {
        return;
    }
    struct stk_chrome_device *d = stk_vec_push(&f->devices);
    f->failed |= !d;
    if (!d) {
        return;
    }
    *d = (struct stk_chrome_device){.id = (int64_t)f->devices.count - 1};
    struct device_reading r = {f, d};
    if (!stk_chrome_flatten(element.p, element.n, STK_STR(""), set_device_value, &r)) {
        f->devices.count--;
    }
}

static void index_devices(struct stk_chrome_facts *f)
{
    const struct stk_chrome_device *first = f->devices.items;
    f->devices_alike = f->devices.count > 0;
    for (size_t i = 0; i < f->devices.count; i++) {
        f->failed |= !stk_map_put(&f->device_at, (uint64_t)first[i].id, 0, (uint32_t)i, NULL);
        f->devices_alike &=
            stk_str_eq(first[i].name, first->name) && first[i].sm_count == first->sm_count;
    }
}

static bool read_small(struct stk_str value, int32_t *out)
{
    int64_t v;
    if (!stk_str_to_i64(value, &v) || v < 0 || v > INT32_MAX) {
        return false;
    }
    *out = (int32_t)v;
    return true;
}

static void set_distributed(void *arg, struct stk_str key, struct stk_str value)
{
    struct stk_chrome_facts *f = arg;
    if (stk_str_eq(key, STK_STR("rank"))) {
        read_small(value, &f->rank);
    } else if (stk_str_eq(key, STK_STR("world_size"))) {
        read_small(value, &f->world_size);
    }
}

static void add_warning(struct stk_chrome_facts *f, struct stk_str line)
{
    if (f->warnings++ == 0) {
        f->first_warning = keep(f, line);
    }
}

static void add_error(struct stk_chrome_facts *f, struct stk_str line)
{
    if (f->errors++ == 0) {
        f->first_error = keep(f, line);
    }
}

// A captured scalar without its quotes.
static struct stk_str unquote(struct stk_str json)
{
    if (json.n >= 2 && json.p[0] == '"') {
        return (struct stk_str){json.p + 1, json.n - 2};
    }
    return json;
}

bool stk_chrome_facts_read(struct stk_chrome_facts *f, const struct stk_chrome_input *in)
{
    const struct stk_str *json = in->captures;
    memset(f, 0, sizeof *f);
    stk_arena_init(&f->arena, 0);
    stk_vec_init(&f->devices, sizeof(struct stk_chrome_device), DEVICES_MAX);
    stk_map_init(&f->device_at, DEVICES_MAX);
    f->rank = f->world_size = -1;
    f->is_amd = json[STK_CHROME_HIP].n > 0;
    f->is_kineto = json[STK_CHROME_SCHEMA].n || json[STK_CHROME_DEVICES].n ||
                   json[STK_CHROME_DISTRIBUTED].n || json[STK_CHROME_BASE_TIME].n;
    f->host = keep(f, unquote(json[STK_CHROME_HOST_NAME]));
    struct stk_str base = unquote(json[STK_CHROME_BASE_TIME]);
    int64_t base_ns;
    if (stk_str_to_i64(base, &base_ns) && base_ns >= 0 && base_ns <= STK_CHROME_TIME_MAX_NS) {
        f->base_ns = base_ns;
    }
    if (json[STK_CHROME_DEVICES].n) {
        each_element(f, json[STK_CHROME_DEVICES], add_device);
        index_devices(f);
    }
    if (json[STK_CHROME_DISTRIBUTED].n && json[STK_CHROME_DISTRIBUTED].p[0] == '{') {
        stk_chrome_flatten(json[STK_CHROME_DISTRIBUTED].p, json[STK_CHROME_DISTRIBUTED].n,
                           STK_STR(""), set_distributed, f);
    }
    if (json[STK_CHROME_WARNING].n && json[STK_CHROME_WARNING].p[0] == '[') {
        each_element(f, json[STK_CHROME_WARNING], add_warning);
    }
    if (json[STK_CHROME_ERROR].n && json[STK_CHROME_ERROR].p[0] == '[') {
        each_element(f, json[STK_CHROME_ERROR], add_error);
    }
    return !f->failed;
}

void stk_chrome_facts_free(struct stk_chrome_facts *f)
{
    if (f->arena.cap_bytes) {
        stk_arena_deinit(&f->arena);
        stk_vec_deinit(&f->devices);
        stk_map_deinit(&f->device_at);
    }
}

static int32_t clamp32(int64_t v)
{
    return v < 0 || v > INT32_MAX ? 0 : (int32_t)v;
}

// ROCm numbers its rows by agent, not by device. If no device has the number and all are alike, any
// of them will do.
static const struct stk_chrome_device *find_device(const struct stk_chrome_facts *f, int64_t device)
{
    const uint32_t *at = stk_map_get(&f->device_at, (uint64_t)device, 0);
    if (at) {
        return stk_vec_at(&f->devices, *at);
    }
    return f->devices_alike ? f->devices.items : NULL;
}

void stk_chrome_facts_device(const struct stk_chrome_facts *f, int64_t device,
                             struct stk_device_facts *facts)
{
    const struct stk_chrome_device *d = find_device(f, device);
    if (!d) {
        return;
    }
    bool amd = f->is_amd || stk_str_starts(d->name, STK_STR("AMD"));
    facts->name = d->name.n == 0 && amd ? STK_STR("AMD GPU") : d->name;
    facts->sm_count = clamp32(d->sm_count);
    facts->memory_bytes = d->memory_bytes > 0 ? d->memory_bytes : 0;
    facts->limits = (struct stk_device_limits){.warp_threads = clamp32(d->warp_threads),
                                               .sm_threads = clamp32(d->sm_threads),
                                               .sm_registers = clamp32(d->sm_registers),
                                               .sm_shared_bytes = clamp32(d->sm_shared_bytes)};
    if (!amd) {
        facts->cc_major = clamp32(d->cc_major);
        facts->cc_minor = clamp32(d->cc_minor);
    }
}

// What follows "device:GPU:" in any case, or NULL.
static const char *behind_device(struct stk_str name, const char *kind, size_t n)
{
    for (size_t i = 0; i + n <= name.n; i++) {
        if (stk_str_starts_nocase((struct stk_str){name.p + i, name.n - i},
                                  (struct stk_str){kind, n})) {
            return name.p + i + n;
        }
    }
    return NULL;
}

static const char *device_number(struct stk_str name, enum stk_device_kind *kind)
{
    const char *p = behind_device(name, "device:GPU:", 11);
    *kind = STK_DEVICE_GPU;
    if (!p) {
        p = behind_device(name, "/gpu:", 5);
    }
    if (!p) {
        p = behind_device(name, "device:TPU:", 11);
        *kind = STK_DEVICE_TPU;
    }
    return p && p < name.p + name.n && *p >= '0' && *p <= '9' ? p : NULL;
}

void stk_chrome_parse_device(struct stk_str name, int64_t *device, enum stk_device_kind *kind)
{
    enum stk_device_kind found;
    const char *p = device_number(name, &found), *end = name.p + name.n;
    if (!p) {
        return;
    }
    int64_t number = 0;
    for (; p < end && *p >= '0' && *p <= '9' && number < 1000000; p++) {
        number = number * 10 + (*p - '0');
    }
    *device = number;
    *kind = found;
}

struct stk_str stk_chrome_device_name(struct stk_str name)
{
    enum stk_device_kind kind;
    const char *p = device_number(name, &kind), *end = name.p + name.n;
    while (p && p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    while (p && p < end && *p == ' ') {
        p++;
    }
    return p && p < end && *p != '/' ? (struct stk_str){p, (size_t)(end - p)} : STK_STR("");
}
