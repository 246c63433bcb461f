// SPDX-License-Identifier: Apache-2.0
// An overview from the run's summary: where the time of its steps goes (like the report's
// breakdown, without parts that are 0), how long they take (used steps of the device of the
// report's median step; lower median, nearest rank), and the environment.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/strpool.h"
#include "base/vec.h"
#include "answers/passes/stats/stats_overview.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define BREAKDOWN_COLUMNS(C, R)                                                                    \
    C(R, part, TEXT, "part of a step, as in the report's breakdown, without empty ones")           \
    C(R, meaning, TEXT, "what the part is", .is_detail = true)                                     \
    C(R, total_ns, NS,                                                                             \
      "time of the part, summed over what the title names: the used steps of all devices, "        \
      "the devices' spans, or the CPU's steps")                                                    \
    C(R, share, SHARE, "share of the wall time of the same")
STK_TABLE_COLUMNS(breakdown, BREAKDOWN_COLUMNS)
const struct stk_table_info stk_overview_breakdown_table =
    STK_TABLE_INFO("breakdown", "Where the steps' time goes", breakdown_row, breakdown_columns);

#define STEP_TIMES_COLUMNS(C, R)                                                                   \
    C(R, statistic, TEXT,                                                                          \
      "max, p95, p75, median (lower), p25, min (nearest rank), mean, deviation (of a "             \
      "sample); a single step only has a median")                                                  \
    C(R, dur_ns, NS,                                                                               \
      "this statistic of the used steps' lengths, on the device with the report's median step")
STK_TABLE_COLUMNS(step_times, STEP_TIMES_COLUMNS)
const struct stk_table_info stk_overview_step_times_table =
    STK_TABLE_INFO("step_times", "How long the steps take", step_times_row, step_times_columns);

#define ENVIRONMENT_COLUMNS(C, R)                                                                  \
    C(R, what, TEXT, "format, recorded by, frameworks, hosts, ranks, devices")                     \
    C(R, value, TEXT, "what the profile says")
STK_TABLE_COLUMNS(environment, ENVIRONMENT_COLUMNS)
const struct stk_table_info stk_overview_environment_table = STK_TABLE_INFO(
    "environment", "What was recorded, and where", environment_row, environment_columns);

void stk_overview_add_breakdown(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    static const char *const titles[] = {
        [STK_SCOPE_STEPS] = "Where the steps' time goes",
        [STK_SCOPE_SPAN] = "Where the devices' time goes",
        [STK_SCOPE_HOST] = "Where the CPU steps' time goes",
    };
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *table = stk_table_add(doc, &stk_overview_breakdown_table);
    table->title = titles[run->scope];
    for (int p = 0; p < STK_PART_COUNT; p++) {
        const struct stk_part_info *part = stk_part_info((enum stk_part)p);
        if (run->parts[p] <= 0) {
            continue;
        }
        const struct breakdown_row row = {
            .part = stk_cell_text(part->key),
            .meaning = stk_cell_text(part->meaning),
            .total_ns = stk_cell_number(run->parts[p]),
            .share = stk_cell_share_of(run->parts[p], run->wall_ns),
        };
        stk_table_put(table, &row);
    }
    stk_table_sort(table, "total_ns");
}

static int by_length(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

static void add_time(struct stk_table *table, const char *statistic, int64_t ns)
{
    const struct step_times_row row = {
        .statistic = stk_cell_text(statistic),
        .dur_ns = stk_cell_number(ns),
    };
    stk_table_put(table, &row);
}

static int64_t deviation(const int64_t *ns, size_t n, int64_t mean_ns)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)(ns[i] - mean_ns) * (double)(ns[i] - mean_ns);
    }
    return (int64_t)(sqrt(sum / (double)(n - 1)) + 0.5);
}

static int64_t nearest_rank(const int64_t *sorted, size_t n, size_t percent)
{
    size_t rank = (n * percent + 99) / 100;
    return sorted[rank ? rank - 1 : 0];
}

void stk_overview_add_step_times(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    static const struct {
        const char *name;
        size_t percent;
    } ranks[] = {{"max", 100}, {"p95", 95}, {"p75", 75}, {"p25", 25}, {"min", 0}};
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *table = stk_table_add(doc, &stk_overview_step_times_table);
    if (run->median_step >= run->step_count) {
        return;
    }
    int64_t *ns = stk_alloc_array((size_t)run->step_count + 1, sizeof *ns);
    size_t n = 0;
    for (uint32_t i = 0; ns && i < run->step_count; i++) {
        if (!run->steps[i].excluded &&
            run->steps[i].device == run->steps[run->median_step].device) {
            ns[n++] = run->steps[i].dur_ns;
        }
    }
    doc->ran_out |= !ns;
    if (n > 0) {
        stk_sort(ns, n, sizeof *ns, by_length);
    }
    if (n == 1) { // one step has no distribution
        add_time(table, "median", run->step_median_ns);
    }
    for (size_t i = 0; n > 1 && i < COUNT_OF(ranks); i++) {
        if (ranks[i].percent == 25) {
            add_time(table, "median", run->step_median_ns);
        }
        add_time(table, ranks[i].name, nearest_rank(ns, n, ranks[i].percent));
    }
    if (n > 1) {
        add_time(table, "mean", run->step_mean_ns);
        add_time(table, "deviation", deviation(ns, n, run->step_mean_ns));
    }
    stk_free(ns);
}

// ---- environment ----

// value NULL: no memory; empty: unknown.
static void add_fact(struct stk_table *table, const char *what, const char *value)
{
    const struct environment_row row = {
        .what = stk_cell_text(what),
        .value = stk_cell_text(value),
    };
    if (value && *value) {
        stk_table_put(table, &row);
    }
    table->ran_out |= !value;
}

// "a, b" with each once, and how many more; at most four.
struct names {
    const char *text[4];
    size_t shown, more;
};

static void overview_add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->shown; i++) {
        if (name && strcmp(names->text[i], name) == 0) {
            return;
        }
    }
    if (!name || !*name) {
        return;
    }
    if (names->shown < COUNT_OF(names->text)) {
        names->text[names->shown++] = name;
    } else {
        names->more++; // may count one twice
    }
}

static const char *join_names(const struct names *names, struct stk_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < names->shown && text; i++) {
        text = stk_arena_printf(arena, "%s%s%s", text, i ? ", " : "", names->text[i]);
    }
    return text && names->more ? stk_arena_printf(arena, "%s and others", text) : text;
}

// Devices of one name.
struct alike {
    const char *name;
    uint32_t count, idle;
};

static bool count_alike(const struct stk_run_sum *run, struct stk_strpool *names,
                        struct stk_vec *rows)
{
    struct stk_map at; // id of the name -> row
    bool ok = true;
    stk_map_init(&at, UINT32_MAX);
    for (uint32_t i = 0; i < run->device_count && ok; i++) {
        const char *name = run->devices[i].name ? run->devices[i].name : "";
        uint32_t id = stk_strpool_intern(names, name, strlen(name));
        uint32_t *row =
            id == STK_STRPOOL_FAILED ? NULL : stk_map_put(&at, id, 0, (uint32_t)rows->count, NULL);
        struct alike *a = !row                 ? NULL
                          : *row < rows->count ? stk_vec_at(rows, *row)
                                               : stk_vec_push(rows);
        if ((ok = a != NULL)) {
            a->name = name;
            a->count++;
            a->idle += run->devices[i].ops == 0;
        }
    }
    stk_map_deinit(&at);
    return ok;
}

static void add_devices(const struct stk_run_sum *run, struct stk_table *table,
                        struct stk_arena *arena)
{
    struct stk_strpool names;
    struct stk_vec rows;
    stk_vec_init(&rows, sizeof(struct alike), UINT32_MAX);
    bool ok = stk_strpool_init(&names, 0) == 0 && count_alike(run, &names, &rows);
    for (size_t i = 0; i < rows.count && ok; i++) {
        const struct alike *a = stk_vec_at(&rows, i);
        const char *text = stk_arena_printf(arena, "%" PRIu32 " x %s", a->count,
                                            *a->name ? a->name : "name not recorded");
        if (text && a->idle) {
            text = stk_arena_printf(arena, "%s, %" PRIu32 " without work", text, a->idle);
        }
        add_fact(table, "devices", text);
    }
    table->ran_out |= !ok;
    stk_strpool_deinit(&names);
    stk_vec_deinit(&rows);
}

void stk_overview_add_environment(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *table = stk_table_add(doc, &stk_overview_environment_table);
    struct names producers = {.shown = 0}, formats = {.shown = 0}, hosts = {.shown = 0};
    struct names seen = {.shown = 0};
    int32_t world = -1;
    for (uint32_t i = 0; i < ctx->input_count; i++) {
        overview_add_name(&producers, ctx->inputs[i].producer);
        overview_add_name(&formats, ctx->inputs[i].format);
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        overview_add_name(&hosts, run->ranks[r]->host);
        world = run->ranks[r]->world_size > world ? run->ranks[r]->world_size : world;
    }
    for (enum stk_framework f = 0; f < STK_FW_COUNT; f++) {
        overview_add_name(&seen, run->facts.frameworks & (1u << f) ? stk_framework_title(f) : NULL);
    }
    const char *ranks =
        world > 0 ? stk_arena_printf(ctx->arena, "%" PRIu32 " of %" PRId32, run->rank_count, world)
                  : stk_arena_printf(ctx->arena, "%" PRIu32, run->rank_count);
    add_fact(table, "format", join_names(&formats, ctx->arena));
    add_fact(table, "recorded by", join_names(&producers, ctx->arena));
    add_fact(table, "frameworks", join_names(&seen, ctx->arena));
    add_fact(table, "hosts", join_names(&hosts, ctx->arena));
    add_fact(table, "ranks", ranks);
    add_devices(run, table, ctx->arena);
}
