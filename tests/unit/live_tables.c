// SPDX-License-Identifier: Apache-2.0
// The tables of a record that is followed: an ended entry makes room for one that arrives while a
// table is full; a running one keeps its place, and those without a place cost no time.
#include "job/live/live_tables.h"

#include "base/clock.h"
#include "check.h"

enum { PROCESSES = 6000, VALUES = 6, DISKS = 200000 };
#define SECOND INT64_C(1000000000)

static const enum stk_sampled of_process[] = {
    STK_SAMPLE_OF_PROCESS_THREADS, STK_SAMPLE_OF_PROCESS_RESIDENT, STK_SAMPLE_OF_PROCESS_PARENT,
    STK_SAMPLE_OF_PROCESS_MINOR,   STK_SAMPLE_OF_PROCESS_WRITE,    STK_SAMPLE_OF_PROCESS_READ};
static struct stk_live_tables tables;

static void put(enum stk_sampled sample, uint32_t track, int64_t time_ns, double value)
{
    struct stk_live_series *s = stk_live_series_of(&tables, sample, track);
    CHECK(s != NULL);
    if (s) {
        stk_live_series_put(&tables, s, time_ns, value);
    }
}

// 36,000 series of processes that run one after the other, ten seconds each.
static void processes_that_end(void)
{
    stk_live_tables_init(&tables);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        struct stk_live_track *t = stk_live_track_add(&tables, i + 1, 1000 + i, 0);
        CHECK(t != NULL);
        snprintf(t->name, sizeof t->name, "p%u", i);
        for (size_t k = 0; k < VALUES; k++) {
            put(of_process[k], i + 1, (i + 1) * 10 * SECOND, i);
        }
        const struct stk_live_series *s = stk_live_series_of(&tables, of_process[0], i + 1);
        char name[16];
        snprintf(name, sizeof name, "p%u", i);
        CHECK(s && s->process == 1000 + i && s->value[0] == i && strcmp(s->name, name) == 0);
    }
    CHECK(!tables.has_failed);
    CHECK_EQ(tables.lost, 0);
    CHECK(tables.series.count <= STK_LIVE_SERIES && tables.tracks.count <= STK_LIVE_TRACKS);
    stk_live_tables_deinit(&tables);
}

// More than the table holds, none of which ends: the first are kept, and the others are refused
// without a look at all of these for each.
static void disks_that_stay(void)
{
    uint64_t start_ns = stk_clock_ns();
    uint32_t kept = 0;
    stk_live_tables_init(&tables);
    for (uint32_t i = 0; i < DISKS; i++) {
        struct stk_live_track *t = stk_live_track_add(&tables, i + 1, -1, i);
        struct stk_live_series *s =
            t ? stk_live_series_of(&tables, STK_SAMPLE_OF_DISK_BUSY, i + 1) : NULL;
        if (s) {
            stk_live_series_put(&tables, s, SECOND, i);
            kept++;
        }
    }
    CHECK_EQ(kept, STK_LIVE_SERIES);
    CHECK(tables.lost >= DISKS - STK_LIVE_SERIES && !tables.has_failed);
    const struct stk_live_series *first = stk_vec_at(&tables.series, 0);
    CHECK(first->number == 0 && first->value[0] == 0);
    CHECK(stk_clock_ns() - start_ns < 60 * (uint64_t)SECOND);
    stk_live_tables_deinit(&tables);
}

// A thread keeps its values when its name's track is sent again.
static void tracks_that_come_anew(void)
{
    stk_live_tables_init(&tables);
    for (uint32_t i = 0; i < 3 * STK_LIVE_TRACKS; i++) {
        struct stk_live_track *t = stk_live_track_add(&tables, i + 1, 7, 8);
        CHECK(t != NULL);
        CHECK(t && stk_live_track_of(&tables, i + 1) == t);
        put(STK_SAMPLE_OF_THREAD_CPU, i + 1, SECOND + i, 1);
    }
    CHECK_EQ(tables.series.count, 1);
    CHECK(stk_live_track_of(&tables, 1) == NULL);
    const struct stk_live_series *s =
        stk_live_series_of(&tables, STK_SAMPLE_OF_THREAD_CPU, 3 * STK_LIVE_TRACKS);
    CHECK(s && s->time_ns[(s->count - 1) % STK_LIVE_RING] == tables.newest_ns);
    CHECK(stk_live_track_add(&tables, 3 * STK_LIVE_TRACKS, 7, 8) == NULL); // the id is taken
    CHECK(stk_live_series_of(&tables, STK_SAMPLE_OF_THREAD_CPU, 1) == NULL);
    stk_live_tables_deinit(&tables);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(processes_that_end);
    CHECK_RUN(disks_that_stay);
    CHECK_RUN(tracks_that_come_anew);
    return check_done("unit.live_tables");
}
