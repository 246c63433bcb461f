// SPDX-License-Identifier: Apache-2.0
// Cursors over nested events, and the merged rows of a thread, against looking at every event.
#include "check.h"

#include "base/alloc.h"
#include "profile/model/threads/thread_events.h"
#include "profile/model/threads/thread_walk.h"

#define EVENTS 3000
#define ROWS 3

// A trace of one thread, whose rows follow one another.
struct world {
    struct stk_trace t;
    struct stk_analysis a;
    struct stk_track tracks[ROWS];
    struct stk_thread_info threads[ROWS];
    int64_t start_ns[EVENTS];
    uint32_t dur_low[EVENTS], name[EVENTS], ref[EVENTS], classes[1], random;
    uint8_t kind[EVENTS], depth[EVENTS];
};
static struct world world;

static uint32_t draw(struct world *w, uint32_t below)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (w->random >> 8) % below;
}

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->random = 7;
    w->t = (struct stk_trace){.start_ns = w->start_ns,
                              .dur_low = w->dur_low,
                              .name = w->name,
                              .ref = w->ref,
                              .kind = w->kind,
                              .depth = w->depth,
                              .tracks = w->tracks};
    w->a = (struct stk_analysis){.t = &w->t, .classes = w->classes, .threads = w->threads};
}

static void add(struct world *w, int64_t start_ns, int64_t end_ns, uint32_t depth)
{
    uint32_t e = w->t.count++;
    CHECK(e < EVENTS);
    w->start_ns[e] = start_ns;
    w->dur_low[e] = (uint32_t)(end_ns - start_ns);
    w->ref[e] = STK_NONE;
    w->kind[e] = STK_KIND_PYTHON;
    w->depth[e] = (uint8_t)(depth < 255 ? depth : 255);
}

// Functions that call others, in [start, end): some begin together, and some have no length.
static void fill(struct world *w, int64_t start_ns, int64_t end_ns, uint32_t depth, uint32_t until)
{
    while (start_ns < end_ns && w->t.count < until) {
        int64_t begin_ns = start_ns + draw(w, 3);
        int64_t stop_ns = begin_ns + draw(w, (uint32_t)(end_ns - start_ns) / 2 + 2);
        stop_ns = stop_ns < end_ns ? stop_ns : end_ns;
        if (begin_ns >= end_ns) {
            return;
        }
        add(w, begin_ns, stop_ns, depth);
        if (draw(w, 3)) {
            fill(w, begin_ns, stop_ns, depth + 1, until);
        }
        start_ns = stop_ns + (stop_ns == begin_ns); // longer ones come first
    }
}

static void end_row(struct world *w, uint32_t row)
{
    uint32_t first = row ? w->tracks[row - 1].first + w->tracks[row - 1].count : 0;
    w->tracks[row] =
        (struct stk_track){.parent = STK_NONE, .first = first, .count = w->t.count - first};
    w->threads[row].next_row = STK_NONE;
    w->threads[row].root = 0;
    if (row) {
        w->threads[row - 1].next_row = row;
    }
    w->t.track_count = row + 1;
}

static void check_stack(const struct world *w, const struct stk_thread_cursor *c, int64_t t_ns)
{
    uint32_t open = 0, next = 0;
    for (; next < w->t.count && w->start_ns[next] <= t_ns; next++) {
        if (stk_end_ns(&w->t, next) <= t_ns) {
            continue;
        }
        if (open < c->capacity) {
            CHECK(open < c->depth && c->stack[open].event == next);
            CHECK_EQ(c->stack[open].end_ns, stk_end_ns(&w->t, next));
        }
        open++;
    }
    CHECK_EQ(c->depth, open < c->capacity ? open : c->capacity);
    CHECK_EQ(c->next, next);
}

// Moves through the row in strides of up to `most_ns`.
static void walk(struct world *w, uint32_t most_ns)
{
    struct stk_thread_cursor *c = stk_cursor_new(STK_WALK_DEPTH);
    int64_t last_ns = w->start_ns[w->t.count - 1] + 10;
    CHECK(c != NULL);
    stk_cursor_init(c, &w->a, 0);
    for (int64_t t_ns = 0; t_ns < last_ns; t_ns += 1 + draw(w, most_ns)) {
        stk_cursor_advance(c, t_ns);
        check_stack(w, c, t_ns);
    }
    stk_cursor_advance(c, INT64_MAX);
    CHECK_EQ(c->depth, 0);
    CHECK_EQ(c->next, w->t.count);
    stk_free(c);
}

static void check_walks(void)
{
    struct world *w = &world;
    static const uint32_t most_ns[] = {2, 50, 1000, 20000};
    begin(w);
    add(w, 0, 100000, 0); // the training loop
    fill(w, 0, 100000, 1, EVENTS);
    end_row(w, 0);
    CHECK(w->t.count > 1000);
    for (size_t i = 0; i < sizeof most_ns / sizeof *most_ns; i++) {
        walk(w, most_ns[i]);
    }
}

// Deeper than a depth is stored, and than a cursor's stack.
static void check_deep(void)
{
    struct world *w = &world;
    begin(w);
    for (uint32_t k = 0; k < 20; k++) {
        add(w, 1000 * k, 1000 * k + 999, 0);
        for (uint32_t d = 1; d < 30 * k; d++) {
            if (w->t.count < EVENTS) {
                add(w, 1000 * k + d, 1000 * k + 999 - d / 2, d);
            }
        }
        if (w->t.count == EVENTS) {
            break;
        }
    }
    end_row(w, 0);
    walk(w, 40);
    walk(w, 900);
}

static void check_seek(void)
{
    struct world *w = &world;
    begin(w);
    fill(w, 0, 50000, 0, EVENTS);
    end_row(w, 0);
    for (uint32_t from = 0; from < w->t.count; from += 1 + draw(w, 40)) {
        int64_t t_ns = w->start_ns[from] + draw(w, 20000);
        uint32_t e = from;
        while (e < w->t.count && w->start_ns[e] < t_ns) {
            e++;
        }
        CHECK_EQ(stk_row_seek(&w->t, from, w->t.count, t_ns), e);
    }
    CHECK_EQ(stk_row_seek(&w->t, w->t.count, w->t.count, 0), w->t.count);
}

static void check_merged(void)
{
    struct world *w = &world;
    begin(w);
    for (uint32_t row = 0; row < ROWS; row++) {
        fill(w, 3 * row, 30000, 0, (row + 1) * EVENTS / ROWS);
        end_row(w, row);
    }
    struct stk_thread_events x;
    stk_thread_events_init(&x, &w->a);
    CHECK(stk_thread_events_begin(&x, 0, NULL));
    uint32_t count = 0, last = STK_NONE;
    for (uint32_t e; (e = stk_thread_events_next(&x)) != STK_NONE; count++, last = e) {
        if (last == STK_NONE) {
            continue;
        }
        bool together = w->start_ns[last] == w->start_ns[e];
        CHECK(w->start_ns[last] <= w->start_ns[e]);
        CHECK(!together || stk_end_ns(&w->t, last) >= stk_end_ns(&w->t, e));
    }
    CHECK_EQ(count, w->t.count);
    CHECK(stk_thread_events_begin(&x, 0, NULL));
    stk_thread_events_skip(&x, 15000);
    for (count = 0; stk_thread_events_next(&x) != STK_NONE;) {
        count++;
    }
    for (uint32_t e = 0; e < w->t.count; e++) {
        count -= w->start_ns[e] > 15000;
    }
    CHECK_EQ(count, 0);
    stk_thread_events_deinit(&x);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_walks);
    CHECK_RUN(check_deep);
    CHECK_RUN(check_seek);
    CHECK_RUN(check_merged);
    return check_done("unit.thread_walk");
}
