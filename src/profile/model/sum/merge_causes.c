// SPDX-License-Identifier: Apache-2.0
// Gathering causes; see merge_causes.h. Names are appended as they come and summed by sorting, so
// the work is O(n log n) for any number of distinct names.
#include "profile/model/sum/merge_causes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/sum/merge_rows.h"

void stk_gathered_init(struct stk_gathered *g)
{
    memset(g, 0, sizeof *g);
    stk_vec_init(&g->names, sizeof(struct stk_cause_name), UINT32_MAX);
    stk_vec_init(&g->owners, sizeof(struct stk_cause_name), UINT32_MAX);
}

static void append(struct stk_gathered *g, struct stk_vec *to, const struct stk_cause_name *names,
                   int count)
{
    struct stk_cause_name *at = count > 0 ? stk_vec_push_n(to, (size_t)count) : NULL;
    if (at) {
        memcpy(at, names, (size_t)count * sizeof *names);
    }
    g->failed |= count > 0 && !at;
}

static void add_example(struct stk_cause *into, const struct stk_example *from)
{
    int at = into->example_count;
    while (at > 0 && into->examples[at - 1].dur_ns < from->dur_ns) {
        at--;
    }
    if (at == STK_CAUSE_EXAMPLES) {
        return;
    }
    int last =
        into->example_count < STK_CAUSE_EXAMPLES ? into->example_count++ : STK_CAUSE_EXAMPLES - 1;
    memmove(&into->examples[at + 1], &into->examples[at], (size_t)(last - at) * sizeof *from);
    into->examples[at] = *from;
}

static void merge_sums(struct stk_cause *a, const struct stk_cause *b)
{
#define MEMBER STK_MERGE_MEMBER
#include "profile/model/cause.def"
#undef MEMBER
}

void stk_gathered_add(struct stk_gathered *g, const struct stk_cause *from)
{
    STK_ASSERT(from->name_count <= STK_CAUSE_NAMES && from->owner_count <= STK_CAUSE_OWNERS &&
               from->example_count <= STK_CAUSE_EXAMPLES);
    merge_sums(&g->sums, from);
    for (int i = 0; i < from->example_count; i++) {
        add_example(&g->sums, &from->examples[i]);
    }
    append(g, &g->names, from->names, from->name_count);
    append(g, &g->owners, from->owners, from->owner_count);
}

// A name's sum, where it was first seen.
struct place {
    struct stk_cause_name sum;
    int64_t weight;
    size_t at;
};

static int by_name(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    return strcmp(a->sum.name, b->sum.name);
}

STK_ORDER(by_weight, struct place, STK_DOWN(weight) STK_UP(at))

// The `most` heaviest names into `out`; their count, -1: no memory.
static int heaviest(const struct stk_vec *names, bool are_owners, struct stk_cause_name *out,
                    size_t most)
{
    struct place *p = stk_alloc_array(names->count + 1, sizeof *p);
    size_t n = 0;
    if (!p) {
        return -1;
    }
    for (size_t i = 0; i < names->count; i++) {
        p[i] = (struct place){.sum = *(struct stk_cause_name *)stk_vec_at(names, i), .at = i};
    }
    stk_sort(p, names->count, sizeof *p, by_name);
    for (size_t i = 0; i < names->count; i++) { // the sort is stable: the first seen comes first
        if (n > 0 && strcmp(p[n - 1].sum.name, p[i].sum.name) == 0) {
            p[n - 1].sum.ns = stk_add_ns(p[n - 1].sum.ns, p[i].sum.ns);
            p[n - 1].sum.count += p[i].sum.count;
        } else {
            p[n++] = p[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        p[i].weight = are_owners ? stk_owner_weight(p[i].sum.ns, p[i].sum.count) : p[i].sum.ns;
    }
    stk_sort(p, n, sizeof *p, by_weight);
    n = n < most ? n : most;
    for (size_t i = 0; i < n; i++) {
        out[i] = p[i].sum;
    }
    stk_free(p);
    return (int)n;
}

bool stk_gathered_finish(struct stk_gathered *g, struct stk_cause *out)
{
    *out = g->sums;
    int names = heaviest(&g->names, false, out->names, STK_CAUSE_NAMES);
    int owners = heaviest(&g->owners, true, out->owners, STK_CAUSE_OWNERS);
    out->name_count = names < 0 ? 0 : names;
    out->owner_count = owners < 0 ? 0 : owners;
    stk_vec_deinit(&g->names);
    stk_vec_deinit(&g->owners);
    return !g->failed && names >= 0 && owners >= 0;
}
