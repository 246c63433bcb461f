// SPDX-License-Identifier: Apache-2.0
// The analyses of `stoker stats` by name, and what they share.
#include "passes/stats/stats.h"

#include <string.h>

#include "base/alloc.h"

const struct stk_stats *const stk_stats_all[] = {
#define X(name) &stk_stats_##name,
#include "passes/stats/stats.def"
#undef X
};
const int stk_stats_count = sizeof stk_stats_all / sizeof stk_stats_all[0];

const struct stk_stats *stk_stats_find(const char *name)
{
    for (int i = 0; i < stk_stats_count; i++) {
        if (strcmp(stk_stats_all[i]->name, name) == 0) {
            return stk_stats_all[i];
        }
    }
    return NULL;
}

enum stk_status stk_stats_describe(const struct stk_stats *stats, const struct stk_pass_ctx *ctx,
                                   struct stk_table_doc *doc, struct stk_err *err)
{
    struct stk_report report = {.schema = NULL};
    enum stk_status status = stk_pass_profile.describe(ctx, &report, err);
    doc->profile = report.profile;
    if (status == STK_OK) {
        status = stats->describe(ctx, doc, err);
    }
    for (size_t i = 0; i < doc->table_count; i++) {
        stk_table_cut(&doc->tables[i], ctx->limit);
    }
    return status;
}

bool stk_stats_lacks_device(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    for (uint32_t d = 0; d < ctx->run->device_count; d++) {
        if (ctx->run->devices[d].ops > 0) {
            return false;
        }
    }
    stk_table_lacks(doc, "device operations",
                    "the profile holds no kernel, copy or memset of a device",
                    "record device activity: ProfilerActivity.CUDA in torch.profiler, "
                    "--trace=cuda in nsys profile, a TensorFlow or JAX build with GPU tracing");
    doc->inconclusive = true;
    return true;
}

bool stk_name_cache_init(struct stk_name_cache *c, const struct stk_trace *t,
                         struct stk_arena *arena)
{
    c->text = stk_alloc_zero((size_t)t->strings.count + 1, sizeof *c->text);
    c->t = t;
    c->arena = arena;
    return c->text != NULL;
}

void stk_name_cache_deinit(struct stk_name_cache *c)
{
    stk_free(c->text);
}

const char *stk_name_cache_get(struct stk_name_cache *c, uint32_t id)
{
    if (!c->text[id]) {
        struct stk_str s = stk_strpool_get(&c->t->strings, id);
        c->text[id] = stk_arena_strndup(c->arena, s.p, s.n);
    }
    return c->text[id];
}

struct stk_span stk_running_union_add(struct stk_running_union *u, int64_t start_ns, int64_t end_ns)
{
    int64_t start = start_ns > u->end_ns ? start_ns : u->end_ns;
    if (end_ns <= start) {
        return (struct stk_span){start, start};
    }
    u->total_ns += end_ns - start;
    u->end_ns = end_ns;
    return (struct stk_span){start, end_ns};
}
