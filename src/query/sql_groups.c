// SPDX-License-Identifier: Apache-2.0
// Making groups: one pass over each track, a slot per key, sums beside it. A group keeps its first
// event, which stands for it in every column that its keys decide. Where the step or a time of
// start is a key, a new one begins new groups, since events of a track come in time.
// Conditions on other columns must be tested here, before the sums: SQLite cannot test them after.
#include "query/sql_groups.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "query/sql_module.h"

#define BITS (1u << 13)
#define GROUPS_MAX ((size_t)1 << 26)

enum { N_NUMBER, SUM, LEAST, GREATEST, SUMS };

struct group {
    uint32_t trace, track, event; // of the first event
    bool overflow, has_bucket;
    int64_t n, bucket;
    int64_t sums[STK_GROUPS_COLUMNS][SUMS];
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct stk_query_scan scan;
    struct stk_sql_names names;
    struct stk_sql_groups_plan plan;
    struct stk_vec groups; // struct group
    size_t row;
    // While making them.
    bool mapped;     // keys go to the map: name and bits, or a bucket in no order
    uint32_t *slots; // dense keys: group + 1
    size_t slot_count;
    struct stk_map map; // keys of name and bits
    size_t epoch;       // first group of the current track and step
};

void stk_sql_groups_plan_write(const struct stk_sql_groups_plan *plan,
                               char out[STK_GROUPS_PLAN_SIZE])
{
    int used = snprintf(out, STK_GROUPS_PLAN_SIZE, "%d%d%d %d %d %" PRId64, plan->by_name,
                        plan->by_bits, plan->by_step, plan->filters, plan->bucket, plan->divisor);
    for (int i = 0; i < plan->field_count; i++)
        used += snprintf(out + used, (size_t)(STK_GROUPS_PLAN_SIZE - used), " %d", plan->fields[i]);
}

bool stk_sql_groups_plan_read(const char *text, struct stk_sql_groups_plan *plan)
{
    int used = 0, keys[3], n;
    *plan = (struct stk_sql_groups_plan){.filters = 0};
    if (sscanf(text, "%1d%1d%1d %d %d %" SCNd64 "%n", &keys[0], &keys[1], &keys[2], &plan->filters,
               &plan->bucket, &plan->divisor, &used) != 6)
        return false;
    if (plan->divisor < 0 || plan->bucket < 0 || plan->bucket >= STK_FIELD_COUNT)
        return false;
    plan->by_name = keys[0];
    plan->by_bits = keys[1];
    plan->by_step = keys[2];
    for (text += used; plan->field_count < STK_GROUPS_COLUMNS; text += used) {
        if (sscanf(text, "%d%n", &n, &used) != 1)
            break;
        if (n < 0 || n >= STK_FIELD_COUNT || stk_query_field_is_text((enum stk_query_field)n))
            return false;
        plan->fields[plan->field_count++] = n;
    }
    return *text == 0;
}

static int group_connect(sqlite3 *sql, void *module, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error)
{
    (void)argc;
    (void)argv;
    (void)error;
    char extra[64 + STK_GROUPS_COLUMNS * 100] = ",\"groups plan\" TEXT HIDDEN,\"groups n\" HIDDEN,"
                                                "\"groups bucket\" HIDDEN";
    size_t used = strlen(extra);
    for (int i = 0; i < STK_GROUPS_COLUMNS; i++)
        used += (size_t)snprintf(extra + used, sizeof extra - used,
                                 ",\"groups n%d\" HIDDEN,\"groups s%d\" HIDDEN,"
                                 "\"groups lo%d\" HIDDEN,\"groups hi%d\" HIDDEN",
                                 i, i, i, i);
    return stk_sql_connect(sql, module, extra, out);
}

static int group_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base;
    char plan[2 * STK_SCAN_FILTERS_MAX + 1];
    int n = 0, plan_at = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->usable && c->op == SQLITE_INDEX_CONSTRAINT_EQ &&
            c->iColumn == (int)v->table->column_count)
            plan_at = i;
    }
    if (plan_at < 0)
        return SQLITE_CONSTRAINT;
    info->aConstraintUsage[plan_at].argvIndex = 1;
    info->aConstraintUsage[plan_at].omit = 1;
    for (int i = 0; i < info->nConstraint && n < STK_SCAN_FILTERS_MAX; i++) {
        if (i == plan_at || !stk_sql_filter_takes(v->table, info, i, plan + 2 * n))
            continue;
        info->aConstraintUsage[i].argvIndex = ++n + 1;
        info->aConstraintUsage[i].omit = 1;
    }
    plan[2 * n] = 0;
    info->idxStr = sqlite3_mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    info->estimatedRows = 1000;
    info->estimatedCost = (double)v->q->event_count;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int group_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct cursor *c = stk_alloc_zero(1, sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    stk_vec_init(&c->groups, sizeof(struct group), GROUPS_MAX);
    stk_map_init(&c->map, GROUPS_MAX);
    *out = &c->base;
    return SQLITE_OK;
}

static int group_close(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    stk_sql_names_free(&c->names, ((struct stk_sql_vtab *)base->pVtab)->q);
    stk_vec_deinit(&c->groups);
    stk_map_deinit(&c->map);
    stk_free(c->slots);
    stk_free(c);
    return SQLITE_OK;
}

static bool room_for_slots(struct cursor *c, size_t count)
{
    if (count <= c->slot_count)
        return true;
    stk_free(c->slots); // all zero between epochs
    c->slots = stk_alloc_zero(count, sizeof *c->slots);
    c->slot_count = c->slots ? count : 0;
    return c->slots != NULL;
}

static uint32_t dense_key(const struct cursor *c, const struct stk_trace *t, uint32_t event)
{
    return c->plan.by_name ? t->name[event] : c->plan.by_bits ? stk_query_bits(t, event) : 0;
}

struct bucket {
    bool known;
    int64_t quotient;
};

// Slot of an event's key, holding the group + 1, 0 for a new one. NULL: no memory.
static uint32_t *slot_of(struct cursor *c, const struct stk_query_event *v, struct bucket b)
{
    const struct stk_trace *t = v->x->t;
    uint64_t key = c->plan.by_name ? t->name[v->event] : 0;
    if (!c->mapped)
        return &c->slots[dense_key(c, t, v->event)];
    key = key << 16 | (c->plan.by_bits ? stk_query_bits(t, v->event) : 0);
    return stk_map_put(&c->map, key << 1 | b.known, (uint64_t)b.quotient, 0, NULL);
}

static void end_epoch(struct cursor *c)
{
    if (c->mapped) {
        stk_map_deinit(&c->map);
        stk_map_init(&c->map, GROUPS_MAX);
    } else {
        for (size_t i = c->epoch; i < c->groups.count; i++) {
            const struct group *g = stk_vec_at(&c->groups, i);
            c->slots[dense_key(c, c->scan.q->traces[g->trace].t, g->event)] = 0;
        }
    }
    c->epoch = c->groups.count;
}

static struct group *new_group(struct cursor *c, const struct stk_query_event *v, struct bucket b,
                               uint32_t *slot)
{
    struct group *g = stk_vec_push(&c->groups);
    if (!g)
        return NULL;
    *g = (struct group){.trace = v->trace,
                        .track = v->track,
                        .event = v->event,
                        .has_bucket = b.known,
                        .bucket = b.quotient};
    for (int i = 0; i < c->plan.field_count; i++) {
        g->sums[i][LEAST] = INT64_MAX;
        g->sums[i][GREATEST] = INT64_MIN;
    }
    *slot = (uint32_t)c->groups.count;
    return g;
}

static void add(const struct cursor *c, struct group *g, const struct stk_query_event *v)
{
    g->n++;
    for (int i = 0; i < c->plan.field_count; i++) {
        int64_t value, *sums = g->sums[i];
        if (!stk_query_number(v, (enum stk_query_field)c->plan.fields[i], &value))
            continue;
        sums[N_NUMBER]++;
        if (__builtin_add_overflow(sums[SUM], value, &sums[SUM]))
            g->overflow = true;
        sums[LEAST] = value < sums[LEAST] ? value : sums[LEAST];
        sums[GREATEST] = value > sums[GREATEST] ? value : sums[GREATEST];
    }
}

static struct bucket bucket_of(const struct cursor *c, const struct stk_query_event *v)
{
    struct bucket b = {.known = false};
    if (c->plan.divisor == 0)
        return b;
    b.known = stk_query_number(v, (enum stk_query_field)c->plan.bucket, &b.quotient);
    b.quotient = b.known ? b.quotient / c->plan.divisor : 0;
    return b;
}

// Groups of the current track.
static int group_track(struct cursor *c)
{
    struct stk_query_event v = c->scan.at;
    const struct stk_query_steps *steps = v.x->tracks[v.track].steps;
    struct bucket bucket = {.known = false};
    uint32_t step = STK_NONE;
    int64_t step_end = INT64_MIN; // until when `step` is right
    for (; v.event < c->scan.end; v.event++) {
        if (v.event % 65536 == 0 && stk_sql_should_stop(c->scan.q))
            return SQLITE_INTERRUPT;
        if (!stk_query_scan_takes(&c->scan, &v))
            continue;
        int64_t start = v.x->t->start_ns[v.event];
        if (c->plan.by_step && start >= step_end) {
            uint32_t here = stk_query_step_at(steps, start);
            if (here != step)
                end_epoch(c);
            step = here;
            step_end = here == STK_NONE ? start + 1 : steps->v[here].end_ns;
        }
        struct bucket now = bucket_of(c, &v);
        if (!c->mapped && now.quotient != bucket.quotient)
            end_epoch(c);
        bucket = now;
        uint32_t *slot = slot_of(c, &v, bucket);
        struct group *g = !slot   ? NULL
                          : *slot ? stk_vec_at(&c->groups, *slot - 1)
                                  : new_group(c, &v, bucket, slot);
        if (!g)
            return SQLITE_NOMEM;
        add(c, g, &v);
    }
    end_epoch(c);
    return SQLITE_OK;
}

static int make_groups(struct cursor *c)
{
    c->groups.count = c->row = c->epoch = 0;
    c->mapped = (c->plan.by_name && c->plan.by_bits) ||
                (c->plan.divisor && c->plan.bucket != STK_FIELD_START);
    if (c->slot_count)
        memset(c->slots, 0, c->slot_count * sizeof *c->slots);
    stk_query_scan_begin(&c->scan);
    while (stk_query_scan_next_track(&c->scan)) {
        size_t keys = c->plan.by_name ? (size_t)c->scan.at.x->t->strings.count : BITS;
        int code = room_for_slots(c, keys + 1) ? group_track(c) : SQLITE_NOMEM;
        if (code == SQLITE_OK)
            code = stk_sql_state(&c->scan);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

// Conditions on columns that no key decides.
static int count_filters(const char *plan)
{
    int n = 0;
    for (; *plan; plan += 2)
        n += stk_query_fields[plan[0] - 'A'].key == STK_KEY_NONE;
    return n;
}

static int group_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                        sqlite3_value **argv)
{
    (void)number;
    struct cursor *c = (struct cursor *)base;
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base->pVtab;
    const char *text = (const char *)sqlite3_value_text(argv[0]);
    if (!text || !stk_sql_groups_plan_read(text, &c->plan) ||
        count_filters(plan) != c->plan.filters)
        return SQLITE_CONSTRAINT; // the caller asks the table itself
    stk_query_scan_init(&c->scan, v->q);
    if (v->table->kinds)
        c->scan.kinds = v->table->kinds;
    c->scan.on_streams = v->table->on_streams;
    c->scan.launched = v->table->launched;
    int code = stk_sql_filter_apply(&c->scan, &c->names, plan, argc - 1, argv + 1);
    if (code == SQLITE_OK && (c->scan.id >= 0 || c->scan.launch >= 0))
        return SQLITE_CONSTRAINT;
    return code == SQLITE_OK ? make_groups(c) : code;
}

static int group_next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->row++;
    return SQLITE_OK;
}

static int group_eof(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    return c->row >= c->groups.count;
}

static void put_sum(sqlite3_context *context, const struct group *g, int column)
{
    const int64_t *sums = g->sums[column / SUMS];
    int which = column % SUMS;
    if (which == SUM && g->overflow)
        sqlite3_result_error(context, "integer overflow", -1);
    else if (which == N_NUMBER || sums[N_NUMBER])
        sqlite3_result_int64(context, sums[which]);
    else
        sqlite3_result_null(context);
}

static int group_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *c = (struct cursor *)base;
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base->pVtab;
    const struct group *g = stk_vec_at(&c->groups, c->row);
    int extra = column - (int)v->table->column_count;
    if (extra < 0) {
        struct stk_query_value value;
        struct stk_query_event e = {&v->q->traces[g->trace], g->trace, g->track, g->event};
        stk_query_value_of(&e, (enum stk_query_field)v->table->columns[column].field, &value);
        stk_sql_result(context, &value);
    } else if (extra == 1) {
        sqlite3_result_int64(context, g->n);
    } else if (extra == 2 && g->has_bucket) {
        sqlite3_result_int64(context, g->bucket);
    } else if (extra > 2) {
        put_sum(context, g, extra - 3);
    }
    return SQLITE_OK;
}

static int group_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct cursor *)base)->row;
    return SQLITE_OK;
}

const sqlite3_module stk_sql_group_module = {
    .xConnect = group_connect,
    .xBestIndex = group_best_index,
    .xDisconnect = stk_sql_disconnect,
    .xOpen = group_open,
    .xClose = group_close,
    .xFilter = group_filter,
    .xNext = group_next,
    .xEof = group_eof,
    .xColumn = group_column,
    .xRowid = group_rowid,
};
