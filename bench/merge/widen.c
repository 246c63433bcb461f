// SPDX-License-Identifier: Apache-2.0
// stoker_widen OUT RANKS PARTIAL...: a partial of a job of RANKS ranks, made of those that the
// partials hold: each is repeated under other numbers, and its collectives begin and end a little
// earlier or later, as those of other ranks would. For measuring merges of jobs that no disk here
// holds the profiles of.
// Limits: one rank with one device in each partial. Names and steps are the same in all repeats.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/partial/partial.h"
#include "base/hash.h"
#include "stoker/version.h"

#define SOURCES_MAX 64
#define SHIFT_NS 20000

static int fail(const char *what, const char *detail)
{
    fprintf(stderr, "stoker_widen: %s: %s\n", what, detail);
    return EXIT_FAILURE;
}

static bool load(const char *path, struct stk_arena *arena, struct stk_partial_item *item)
{
    struct stk_partial_file *f = NULL;
    struct stk_stream *rest = NULL;
    struct stk_partial_packed packed;
    struct stoker_err err;
    stk_err_init(&err);
    bool ok = stk_partial_open(path, stoker_version(), &f, &rest, &err) == STOKER_OK && f &&
              stk_partial_next(f, arena, &packed, &err) == STOKER_OK && packed.size &&
              stk_partial_unpack(&packed, arena, item, &err) == STOKER_OK && item->rank_count == 1;
    stk_partial_close(f);
    return ok;
}

// A copy of the rank's collectives, shifted. NULL: no memory.
static struct stk_collective *shifted(const struct stk_collective *of, uint32_t count,
                                      uint64_t seed, struct stk_arena *arena)
{
    struct stk_collective *list = stk_arena_array(arena, (size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < count; i++) {
        list[i] = of[i];
        int64_t late = (int64_t)(stk_hash_bytes(&(uint64_t){seed << 32 | i}, 8) % SHIFT_NS);
        int64_t less = late < list[i].dur_ns / 2 ? late : list[i].dur_ns / 2;
        list[i].start_ns += less;
        list[i].dur_ns -= less;
        list[i].exposed_ns =
            list[i].exposed_ns < list[i].dur_ns ? list[i].exposed_ns : list[i].dur_ns;
    }
    return list;
}

static bool put(struct stk_sink *sink, const struct stk_partial_item *from, int32_t rank)
{
    struct stk_arena arena;
    struct stk_partial_packed packed;
    struct stoker_err err;
    struct stk_partial_item item = *from;
    struct stk_rank_sum sum = *from->ranks[0], *ranks[] = {&sum};
    stk_arena_init(&arena, 0);
    stk_err_init(&err);
    const char *path = stk_arena_printf(&arena, "ranks/rank%d.pt.trace.json", (int)rank);
    const char *id = stk_arena_printf(&arena, "%d/0", (int)rank);
    item.path = path;
    item.info->path = path;
    item.rank_hint = sum.rank = rank;
    sum.devices[0].id = id;
    sum.devices[0].rank = rank;
    for (uint32_t i = 0; i < sum.step_count; i++) {
        sum.steps[i].rank = rank;
    }
    sum.collectives = shifted(sum.collectives, sum.collective_count, (uint64_t)rank + 1, &arena);
    item.ranks = ranks;
    bool ok = path && id && sum.collectives &&
              stk_partial_pack(&item, &arena, &packed, &err) == STOKER_OK;
    if (ok) {
        stk_partial_put(sink, &packed);
    }
    stk_arena_deinit(&arena);
    return ok;
}

static int write_bytes(void *file, const char *bytes, size_t n)
{
    return fwrite(bytes, 1, n, file) != n;
}

int main(int argc, char **argv)
{
    struct stk_partial_item sources[SOURCES_MAX];
    struct stk_arena arena;
    struct stk_sink sink;
    struct stoker_err err;
    long ranks = argc > 3 ? strtol(argv[2], NULL, 10) : 0;
    int count = argc - 3;
    if (ranks < 1 || ranks > STK_PARTIAL_ITEMS_MAX || count < 1 || count > SOURCES_MAX) {
        return fail("usage", "stoker_widen OUT RANKS PARTIAL...");
    }
    stk_err_init(&err);
    stk_arena_init(&arena, 0);
    FILE *out = fopen(argv[1], "wb");
    if (!out) {
        return fail(argv[1], "cannot be written");
    }
    for (int i = 0; i < count; i++) {
        if (!load(argv[3 + i], &arena, &sources[i])) {
            return fail(argv[3 + i], "not a partial of one rank");
        }
    }
    stk_sink_init(&sink, write_bytes, out);
    stk_partial_begin(&sink, stoker_version());
    for (int32_t r = 0; r < ranks; r++) {
        if (!put(&sink, &sources[r % count], r)) {
            return fail(argv[1], "a rank has no place in a partial");
        }
    }
    stk_partial_end(&sink);
    bool ok = stk_sink_finish(&sink, &err) == STOKER_OK;
    stk_arena_deinit(&arena);
    return fclose(out) == 0 && ok ? EXIT_SUCCESS : fail(argv[1], "cannot be written");
}
