// SPDX-License-Identifier: Apache-2.0
// What did the sampled counters show: clocks, power, temperature, throttling, activity?
// A row per counter and device with the smallest, mean, largest and 95th percentile of its samples.
// Recorded are the counter events of Chrome traces, the line "_counters_" of TensorFlow and JAX,
// and the GPU metrics of Nsight Systems. Values are as recorded, in the unit in the counter's name.
// A throttle counter means throttled if it is not 0. If launches are recorded, one row is derived:
// work launched but not begun, weighted by time. Limits: samples aren't weighted by time; Nsight
// numbers devices as the machine does, which CUDA_VISIBLE_DEVICES may change for the process. Cost:
// linear, except for sorting launches of several threads.
#include <string.h>

#include "base/alloc.h"
#include "profile/model/median.h"
#include "answers/passes/stats/stats_launches.h"

#define DEPTHS 4096 // of the queue to count

struct counter_row {
    const char *name, *kind, *unit, *source; // NULL: not known
    int64_t device;                          // ordinal, -1 not known
    uint64_t count;
    double min, mean, max, p95;
    uint64_t zero_count;
    bool is_derived;
};
struct counter_partial {
    struct counter_row *rows;
    uint32_t count;
};

struct series {
    uint32_t track, name, series;
    int64_t device;
    uint32_t count, first;
};
struct sample {
    uint32_t series;
    int64_t key; // orders as the values do, see key_of
};

struct sweep {
    const struct stk_analysis *view;
    struct stk_arena *arena;
    struct stk_vec series;  // struct series
    struct stk_vec samples; // struct sample
    struct stk_map known;   // (track and name, series) -> index into series
    struct stk_vec rows;    // struct counter_row
    struct stk_spans selected;
};

// ---- recorded ----

// A finite number as an integer of the same order, and back: selection knows integers.
static int64_t key_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static double value_of(int64_t key)
{
    double value;
    key = key < 0 ? key ^ INT64_MAX : key;
    memcpy(&value, &key, sizeof value);
    return value;
}

static bool add_sample(struct sweep *s, uint32_t track, uint32_t event, uint32_t series,
                       int64_t device, double value)
{
    uint32_t name = s->view->t->name[event];
    int created;
    uint32_t *at =
        stk_map_put(&s->known, (uint64_t)track << 32 | name,
                    (uint64_t)series << 32 | (uint32_t)device, (uint32_t)s->series.count, &created);
    struct series *of = !at       ? NULL
                        : created ? stk_vec_push(&s->series)
                                  : stk_vec_at(&s->series, *at);
    struct sample *sample = of ? stk_vec_push(&s->samples) : NULL;
    if (!sample) {
        return false;
    }
    if (created) {
        *of = (struct series){.track = track, .name = name, .series = series, .device = device};
    }
    of->count++;
    *sample = (struct sample){*at, key_of(value)};
    return true;
}

static bool sweep_track(struct sweep *s, uint32_t index)
{
    const struct stk_analysis *v = s->view;
    const struct stk_trace *t = v->t;
    const struct stk_track *track = &t->tracks[index];
    struct stk_view_cursor cursor = {&s->selected, 0};
    int64_t device = track->device == STK_NONE ? -1 : t->devices[track->device].ordinal;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        uint32_t count, series = 0;
        const struct stk_detail *d = stk_details_of(t, e, &count);
        if (!stk_view_in(&cursor, t->start_ns[e])) {
            continue;
        }
        int64_t of = device;
        for (uint32_t i = 0; i < count; i++) {
            if (d[i].key == STK_DETAIL_DEVICE) {
                of = d[i].number;
            } else if (d[i].key == STK_DETAIL_SERIES) {
                series = d[i].text;
            } else if (d[i].key == STK_DETAIL_VALUE &&
                       !add_sample(s, index, e, series, of, d[i].real)) {
                return false;
            }
        }
    }
    return true;
}

// The selected host time; unknown if steps were only found on the device.
static bool select_time(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    if (!v->select->has_steps || v->steps_on_device) {
        return stk_spans_add(&s->selected, v->from_ns, v->to_ns);
    }
    for (uint32_t i = 0; i < v->step_count; i++) {
        const char *excluded = v->steps[i].excluded;
        if ((!excluded || strcmp(excluded, STK_EXCLUDED_UNSELECTED) != 0) &&
            !stk_spans_add(&s->selected, v->steps[i].start_ns, v->steps[i].end_ns)) {
            return false;
        }
    }
    return true;
}

static const char *kind_of(struct stk_str name)
{
    static const struct {
        const char *word, *kind;
    } kinds[] = {{"throttl", "throttling"}, {"event_reason", "throttling"},
                 {"clock", "clock"},        {"freq", "clock"},
                 {"mhz", "clock"},          {"power", "power"},
                 {"watt", "power"},         {"temp", "temperature"},
                 {"queue", "queue"},        {"bandwidth", "bandwidth"},
                 {"pcie", "bandwidth"},     {"nvlink", "bandwidth"},
                 {"dram", "bandwidth"},     {"active", "activity"},
                 {"util", "activity"},      {"occupancy", "activity"},
                 {"issue", "activity"},     {"tensor", "activity"},
                 {"memory", "memory"},      {"bytes", "memory"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (stk_str_contains_nocase(name, stk_str_from(kinds[i].word))) {
            return kinds[i].kind;
        }
    }
    return "other";
}

// The unit that a name gives: "GPC Clock Frequency [MHz]", "sm_clock_mhz", "power (W)".
static const char *unit_of(struct sweep *s, struct stk_str name, bool *failed)
{
    static const struct {
        const char *ending, *unit;
    } endings[] = {{"_mhz", "MHz"},   {"_mw", "mW"},       {"_w", "W"},
                   {"_c", "C"},       {"_pct", "%"},       {"%", "%"},
                   {"_percent", "%"}, {"_bytes", "bytes"}, {"_gbps", "GB/s"}};
    char close = name.n ? name.p[name.n - 1] : 0;
    if (close == ']' || close == ')') {
        size_t open = name.n - 1;
        while (open > 0 && name.p[open] != (close == ']' ? '[' : '(')) {
            open--;
        }
        struct stk_str unit = {name.p + open + 1, name.n - open - 2};
        if (stk_str_starts(unit, STK_STR("Throughput "))) {
            unit = (struct stk_str){unit.p + 11, unit.n - 11};
        }
        if (unit.n == 0 || unit.n > 16 || open == 0) {
            return NULL;
        }
        const char *copy = stk_arena_strndup(s->arena, unit.p, unit.n);
        *failed |= !copy;
        return copy;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        struct stk_str ending = stk_str_from(endings[i].ending);
        if (name.n > ending.n &&
            stk_str_eq_nocase((struct stk_str){name.p + name.n - ending.n, ending.n}, ending)) {
            return endings[i].unit;
        }
    }
    return NULL;
}

static void counters_measure(struct counter_row *row, int64_t *keys, size_t n)
{
    double sum = 0;
    row->count = n;
    row->min = row->max = value_of(keys[0]);
    for (size_t i = 0; i < n; i++) {
        double value = value_of(keys[i]);
        sum += value / (double)n; // the sum of them all may be too large
        row->min = value < row->min ? value : row->min;
        row->max = value > row->max ? value : row->max;
        row->zero_count += value == 0;
    }
    row->mean = sum < row->min ? row->min : sum > row->max ? row->max : sum;
    row->p95 = value_of(stk_nth_value(keys, n, (n * 95 + 99) / 100 - 1));
}

static bool describe_series(struct sweep *s, const struct series *of, struct counter_row *row)
{
    const struct stk_trace *t = s->view->t;
    const struct stk_process *process = &t->processes[t->tracks[of->track].process];
    struct stk_str name = stk_strpool_get(&t->strings, of->name);
    struct stk_str series = stk_strpool_get(&t->strings, of->series);
    struct stk_str source = stk_strpool_get(&t->strings, process->name);
    bool failed = false, plain = stk_str_eq(name, series) || series.n == 0 ||
                                 stk_str_eq(series, STK_STR("value")) ||
                                 stk_str_eq(series, STK_STR("counter_value"));
    row->name = plain ? stk_arena_strndup(s->arena, name.p, name.n)
                      : stk_arena_printf(s->arena, "%.*s: %.*s", (int)name.n, name.p, (int)series.n,
                                         series.p);
    row->source = source.n ? stk_arena_strndup(s->arena, source.p, source.n) : NULL;
    row->kind = kind_of(name);
    if (strcmp(row->kind, "other") == 0 && !plain) {
        row->kind = kind_of(series);
    }
    row->unit = unit_of(s, plain ? name : series, &failed);
    if (!row->unit && !plain) {
        row->unit = unit_of(s, name, &failed);
    }
    row->device = of->device;
    return row->name && (row->source || !source.n) && !failed;
}

static bool fill_recorded(struct sweep *s)
{
    size_t n = s->samples.count;
    int64_t *values = stk_alloc_array(n + 1, sizeof *values);
    uint32_t first = 0;
    bool ok = values != NULL;
    for (size_t i = 0; i < s->series.count; i++) {
        struct series *of = stk_vec_at(&s->series, i);
        of->first = first;
        first += of->count;
        of->count = 0;
    }
    for (size_t i = 0; i < n && ok; i++) {
        const struct sample *sample = stk_vec_at(&s->samples, i);
        struct series *of = stk_vec_at(&s->series, sample->series);
        values[of->first + of->count++] = sample->key;
    }
    for (size_t i = 0; i < s->series.count && ok; i++) {
        const struct series *of = stk_vec_at(&s->series, i);
        struct counter_row *row = stk_vec_push(&s->rows);
        ok = row && describe_series(s, of, row);
        if (ok) {
            counters_measure(row, values + of->first, of->count);
        }
    }
    stk_free(values);
    return ok;
}

// ---- derived: how much work is launched and has not begun ----

static void measure_queue(struct counter_row *row, const struct stk_queue *queue,
                          int64_t *at_depth_ns)
{
    const int64_t *launches = queue->launches, *starts = queue->starts;
    size_t in = 0, out = 0, depth = 0, least = SIZE_MAX, most = 0, n = queue->count;
    int64_t now_ns = launches[0], total_ns = 0, below_ns = 0;
    double weighted = 0;
    while (out < n) {
        bool enters = in < n && launches[in] <= starts[out];
        int64_t t_ns = enters ? launches[in] : starts[out];
        if (t_ns > now_ns) {
            at_depth_ns[depth < DEPTHS ? depth : DEPTHS - 1] += t_ns - now_ns;
            weighted += (double)depth * (double)(t_ns - now_ns);
            total_ns += t_ns - now_ns;
            least = depth < least ? depth : least;
            now_ns = t_ns;
        }
        in += enters;
        out += !enters;
        depth = in - out;
        most = depth > most ? depth : most;
    }
    row->count = n;
    row->min = least == SIZE_MAX ? 0 : (double)least;
    row->max = (double)most;
    row->mean = total_ns > 0 ? weighted / (double)total_ns : 0;
    for (int64_t d = 0; d < DEPTHS; d++) {
        below_ns += at_depth_ns[d];
        row->p95 = (double)d;
        if ((double)below_ns >= 0.95 * (double)total_ns) {
            break;
        }
    }
    row->p95 = row->p95 < row->max ? row->p95 : row->max;
}

static bool add_queue(struct sweep *s, uint32_t line, struct stk_spans *selected)
{
    const struct stk_analysis *v = s->view;
    struct stk_queue queue;
    int64_t *depths = stk_alloc_zero(DEPTHS, sizeof *depths);
    bool ok = stk_queue_collect(v, line, selected, &queue) && depths;
    struct counter_row *row = ok && queue.count ? stk_vec_push(&s->rows) : NULL;
    if (row) {
        *row = (struct counter_row){.name = "launched and not yet begun",
                                    .kind = "queue",
                                    .source = "derived from launches",
                                    .device = v->sum->devices[line].ordinal,
                                    .is_derived = true};
        measure_queue(row, &queue, depths);
    }
    ok = ok && (row || queue.count == 0);
    stk_queue_deinit(&queue);
    stk_free(depths);
    return ok;
}

static bool counters_sweep_all(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    struct stk_spans selected;
    bool ok = select_time(s);
    for (uint32_t k = 0; k < v->t->track_count && ok; k++) {
        if (v->t->tracks[k].kind == STK_TRACK_COUNTER && v->in_rank[v->t->tracks[k].process]) {
            ok = sweep_track(s, k);
        }
    }
    ok = ok && fill_recorded(s);
    stk_spans_init(&selected);
    for (uint32_t d = 0; d < v->sum->device_count && ok; d++) {
        ok = add_queue(s, d, &selected);
    }
    stk_spans_deinit(&selected);
    return ok;
}

static enum stoker_status counters_see(const struct stk_analysis *view, struct stk_arena *arena,
                                       void **partial, struct stoker_err *err)
{
    struct sweep s = {.view = view, .arena = arena};
    struct counter_partial *out = stk_arena_alloc(arena, sizeof *out);
    stk_vec_init(&s.series, sizeof(struct series), 1u << 22);
    stk_vec_init(&s.samples, sizeof(struct sample), UINT32_MAX - 1);
    stk_vec_init(&s.rows, sizeof(struct counter_row), UINT32_MAX - 1);
    stk_map_init(&s.known, 1u << 22);
    stk_spans_init(&s.selected);
    bool ok = out && counters_sweep_all(&s);
    if (ok) {
        out->rows = stk_arena_items(arena, &s.rows);
        out->count = (uint32_t)s.rows.count;
        ok = out->rows != NULL;
    }
    *partial = ok ? out : NULL;
    stk_vec_deinit(&s.series);
    stk_vec_deinit(&s.samples);
    stk_vec_deinit(&s.rows);
    stk_map_deinit(&s.known);
    stk_spans_deinit(&s.selected);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// ---- table ----

#define COUNTERS_COLUMNS(C, R)                                                                     \
    C(R, device, TEXT,                                                                             \
      "device, as the report names it: `rank/ordinal`; empty where the counter has none")          \
    C(R, counter, TEXT,                                                                            \
      "name of the counter as recorded; `launched and not yet begun` is derived from "             \
      "launches, weighted by time",                                                                \
      .is_name = true)                                                                             \
    C(R, kind, TEXT,                                                                               \
      "what it counts, judging by its name: clock, power, temperature, throttling, "               \
      "activity, bandwidth, memory, queue, other",                                                 \
      .is_detail = true)                                                                           \
    C(R, unit, TEXT, "unit of the values, if the name includes it", .is_name = true)               \
    C(R, min, REAL, "smallest sample")                                                             \
    C(R, mean, REAL, "time-weighted mean")                                                         \
    C(R, p95, REAL, "95th percentile of the samples")                                              \
    C(R, max, REAL, "largest sample")                                                              \
    C(R, samples, COUNT, "samples in the selected time; for derived counters, operations",         \
      .is_detail = true)                                                                           \
    C(R, source, TEXT, "track of the profile that has the counter", .is_name = true,               \
      .is_detail = true)
STK_TABLE(counters, "Counters", COUNTERS_COLUMNS)

struct counter_totals {
    uint64_t recorded, samples, throttle_samples, throttled;
    int64_t depth_p95; // -1: not known
    double clock_drop; // below 0: not known
    bool clock, power, temperature;
};

// Without the digits that binary fractions add: 6 after the point of what is below 1000.
static double plain(double value)
{
    double scale = value < 1e3 && value > -1e3 ? 1e6 : 1e3;
    if (value > 1e12 || value < -1e12) {
        return value;
    }
    return (double)(int64_t)(value * scale + (value < 0 ? -0.5 : 0.5)) / scale;
}

static void add_totals(struct counter_totals *all, const struct counter_row *c)
{
    if (c->is_derived) {
        all->depth_p95 = (int64_t)c->p95 > all->depth_p95 ? (int64_t)c->p95 : all->depth_p95;
        return;
    }
    all->recorded++;
    all->samples += c->count;
    all->power |= strcmp(c->kind, "power") == 0;
    all->temperature |= strcmp(c->kind, "temperature") == 0;
    if (strcmp(c->kind, "throttling") == 0) {
        all->throttle_samples += c->count;
        all->throttled += c->count - c->zero_count;
    }
    if (strcmp(c->kind, "clock") != 0) {
        return;
    }
    all->clock = true;
    if (c->max <= 0 || c->mean < 0 || c->mean > c->max) {
        return;
    }
    double drop = 1 - c->mean / c->max;
    all->clock_drop = drop > all->clock_drop ? drop : all->clock_drop;
}

// Devices by their ordinal; of several the first. False: no memory.
static bool index_devices(const struct stk_rank_sum *rank, struct stk_map *at)
{
    bool ok = true;
    for (uint32_t d = 0; d < rank->device_count && ok; d++) {
        ok = stk_map_put(at, (uint64_t)rank->devices[d].ordinal, 0, d, NULL) != NULL;
    }
    return ok;
}

static void counters_fill_rows(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                               const struct stk_map *devices, struct stk_table *table,
                               struct counter_totals *all)
{
    const struct counter_partial *p = rank->partial;
    for (uint32_t i = 0; p && i < p->count; i++) {
        const struct counter_row *c = &p->rows[i];
        if (ctx->select->has_device && c->device != ctx->select->device) {
            continue;
        }
        const uint32_t *device = stk_map_get(devices, (uint64_t)c->device, 0);
        const char *id = device ? rank->devices[*device].id : NULL;
        if (!id && c->device >= 0) {
            id = stk_arena_printf(ctx->arena, "%d/%lld", rank->rank < 0 ? 0 : (int)rank->rank,
                                  (long long)c->device);
        }
        add_totals(all, c);
        const struct counters_row row = {
            .device = stk_cell_text(id),
            .counter = stk_cell_text(c->name),
            .kind = stk_cell_text(c->kind),
            .unit = stk_cell_text(c->unit),
            .min = stk_cell_ratio(plain(c->min)),
            .mean = stk_cell_ratio(plain(c->mean)),
            .p95 = stk_cell_ratio(plain(c->p95)),
            .max = stk_cell_ratio(plain(c->max)),
            .samples = stk_cell_number((int64_t)c->count),
            .source = stk_cell_text(c->source),
        };
        stk_table_put(table, &row);
    }
}

static bool counters_fill_rank(const struct stk_pass_ctx *ctx, const struct stk_rank_sum *rank,
                               struct stk_table *table, struct counter_totals *all)
{
    struct stk_map devices;
    stk_map_init(&devices, UINT32_MAX);
    bool ok = index_devices(rank, &devices);
    counters_fill_rows(ctx, rank, &devices, table, all);
    stk_map_deinit(&devices);
    return ok;
}

#define REMEDY                                                                                     \
    "nsys profile --gpu-metrics-devices=all samples clocks and activity; beside the run, "         \
    "nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu,"                                 \
    "clocks_event_reasons.active --format=csv --loop-ms=100"
static const struct stk_missing no_counters = {"sampled counters", "the profile has none", REMEDY};
static const struct stk_missing no_clocks = {"clocks", "none of their counters was recorded",
                                             REMEDY};
static const struct stk_missing no_power = {"power and temperature",
                                            "none of their counters was recorded", REMEDY};

static void counters_say_missing(const struct counter_totals *all, struct stk_table_doc *doc)
{
    if (all->recorded == 0) {
        stk_table_lacks(doc, &no_counters);
        doc->inconclusive = true;
    } else if (!all->clock) {
        stk_table_lacks(doc, &no_clocks);
    } else if (!all->power && !all->temperature) {
        stk_table_lacks(doc, &no_power);
    }
}

#define COUNTERS_FIGURES(C, R)                                                                     \
    C(R, counters, COUNT, "recorded counters, each per device")                                    \
    C(R, samples, COUNT, "their samples in the selected time")                                     \
    C(R, clock_drop_share, SHARE,                                                                  \
      "1 − mean / largest sample of a clock, for the clock where it is largest",                   \
      .label = "largest clock drop")                                                               \
    C(R, throttled_share, SHARE, "share of throttle counters' samples that aren't 0",              \
      .label = "samples throttled")                                                                \
    C(R, queue_depth_p95, COUNT,                                                                   \
      "95th percentile over time of operations launched but not yet started, on the "              \
      "device where it is largest",                                                                \
      .label = "launch queue depth, p95")
STK_SUMMARY(counters, COUNTERS_FIGURES)

static void counters_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &counters_table);
    struct counter_totals all = {.depth_p95 = -1, .clock_drop = -1};
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        doc->ran_out |= !counters_fill_rank(ctx, ctx->run->ranks[r], table, &all);
    }
    const struct counters_summary summary = {
        .counters = stk_cell_number((int64_t)all.recorded),
        .samples = stk_cell_number((int64_t)all.samples),
        .clock_drop_share =
            all.clock_drop >= 0 ? stk_cell_ratio(all.clock_drop) : stk_cell_unknown(),
        .throttled_share = stk_cell_share_of((int64_t)all.throttled, (int64_t)all.throttle_samples),
        .queue_depth_p95 = all.depth_p95 >= 0 ? stk_cell_number(all.depth_p95) : stk_cell_unknown(),
    };
    stk_table_summarize(doc, &counters_summary_info, &summary);
    counters_say_missing(&all, doc);
}

const struct stk_stats stk_stats_counters = {
    .name = "counters",
    .question = "What did the sampled counters show: clocks, power, temperature, activity?",
    .needs = "counters in the profile",
    .tables = {&counters_table},
    .summary = &counters_summary_info,
    .missing = {&no_counters, &no_clocks, &no_power},
    .hook = {.see = counters_see, .wants = STK_WANT_COUNTERS},
    .describe = counters_describe,
};
