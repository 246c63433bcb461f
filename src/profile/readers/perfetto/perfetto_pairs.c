// SPDX-License-Identifier: Apache-2.0
// Begins and ends of slices, joined once all of them are read: packets of a track may come in any
// order (PyTorch writes all begins of a kind, then all ends). A track whose times ever went back is
// sorted. Ties keep the file's order, except that in a sorted track open slices end before others
// begin, since adjacent ones would nest otherwise.
//
// A slice without an end lasts to the end of its track, as Perfetto shows it, and is counted
// (truncated). An end without a begin is dropped (time-invalid).
#include "base/assert.h"
#include "profile/readers/perfetto/perfetto_run.h"

#include "base/alloc.h"
#include "base/sort.h"

void stk_pf_half(struct stk_pf *in, struct stk_pf_track *t, uint32_t row)
{
    if (!in->has_time) {
        if (row == STK_PF_END) {
            stk_pf_issue(in, STK_ISSUE_TIME_INVALID, 1, STK_STR("the end of a slice"));
        }
        return;
    }
    struct stk_pf_half *h = stk_vec_push_raw(&in->halves);
    if (!h) {
        in->failed = true;
        return;
    }
    *h = (struct stk_pf_half){in->now_ns, (uint32_t)(t - (struct stk_pf_track *)in->tracks.items),
                              row};
    t->is_unsorted |= in->now_ns < t->last_ns;
    t->last_ns = in->now_ns > t->last_ns ? in->now_ns : t->last_ns;
}

// A half of one track.
struct half {
    int64_t at_ns;
    uint32_t order, row;
};

STK_ORDER(compare, struct half, STK_UP(at_ns) STK_UP(order))

struct pairing {
    struct stk_pf *in;
    struct half *open; // a stack, which reuses finished halves
    size_t depth;
    bool is_open; // some slice has no end
};

static struct stk_row *row_of(const struct pairing *p, uint32_t row)
{
    STK_ASSERT(row < p->in->stager.rows.count);
    return &((struct stk_chrome_staged *)stk_vec_at(&p->in->stager.rows, row))->row;
}

static void set_end(struct pairing *p, const struct half *begin, int64_t end_ns)
{
    STK_ASSERT(begin->at_ns <= end_ns);
    if (begin->row != STK_PF_NO_ROW) {
        row_of(p, begin->row)->dur_ns = end_ns - begin->at_ns;
    }
}

static void take_end(struct pairing *p, const struct half *h)
{
    if (p->depth) {
        set_end(p, &p->open[--p->depth], h->at_ns);
        return;
    }
    struct stk_chrome_issue one = {1, 0, 0, STK_STR("the end of a slice that did not begin")};
    stk_chrome_issue_merge(&p->in->stager.counts.issues[STK_ISSUE_TIME_INVALID], &one);
}

// Halves [from, to) of one time, in a track that had to be sorted.
static void take_tie(struct pairing *p, const struct half *halves, size_t from, size_t to)
{
    STK_ASSERT(from < to);
    size_t before = p->depth, early = 0;
    for (size_t i = from; i < to && early < before; i++) {
        if (halves[i].row == STK_PF_END) {
            take_end(p, &halves[i]);
            early++;
        }
    }
    for (size_t i = from, ended = 0; i < to; i++) {
        struct half h = halves[i];
        if (h.row != STK_PF_END) {
            p->open[p->depth++] = h;
        } else if (++ended > early) {
            take_end(p, &h);
        }
    }
}

static void join_track(struct pairing *p, struct half *halves, size_t n, bool is_unsorted)
{
    p->depth = 0;
    p->open = halves; // never ahead of the halves already read
    if (is_unsorted) {
        stk_sort(halves, n, sizeof *halves, compare);
    }
    for (size_t i = 0, to; i < n; i = to) {
        int64_t at_ns = halves[i].at_ns;
        to = i + 1;
        while (is_unsorted && to < n && halves[to].at_ns == at_ns) {
            to++;
        }
        if (to - i > 1) {
            take_tie(p, halves, i, to);
        } else if (halves[i].row == STK_PF_END) {
            take_end(p, &halves[i]);
        } else {
            p->open[p->depth++] = halves[i];
        }
    }
}

static void close_open(struct pairing *p, int64_t last_ns)
{
    while (p->depth) {
        const struct half *begin = &p->open[--p->depth];
        set_end(p, begin, last_ns);
        if (begin->row != STK_PF_NO_ROW) {
            struct stk_chrome_issue one = {1, 0, row_of(p, begin->row)->pos,
                                           STK_STR("a slice that does not end")};
            p->is_open = true;
            stk_chrome_issue_merge(&p->in->stager.counts.issues[STK_ISSUE_TRUNCATED], &one);
        }
    }
}

// Halves by track, in file order within each: first[t] to first[t + 1]. By their order, none is
// missing before *whole_until_ns.
static struct half *group(const struct stk_pf *in, size_t *first, int64_t *whole_until_ns)
{
    const struct stk_pf_half *h = in->halves.items;
    struct half *out = stk_alloc_array(in->halves.count, sizeof *out);
    size_t tracks = in->tracks.count;
    int64_t newest_ns = INT64_MIN, back_ns = 0;
    for (size_t i = 0; i < in->halves.count; i++) {
        first[h[i].track + 1]++;
        newest_ns = h[i].at_ns > newest_ns ? h[i].at_ns : newest_ns;
        int64_t step_ns;
        if (__builtin_sub_overflow(newest_ns, h[i].at_ns, &step_ns)) {
            step_ns = INT64_MAX;
        }
        back_ns = step_ns > back_ns ? step_ns : back_ns;
    }
    *whole_until_ns = newest_ns < INT64_MIN + back_ns ? INT64_MIN : newest_ns - back_ns;
    for (size_t t = 0; t < tracks; t++) {
        first[t + 1] += first[t];
    }
    for (size_t i = 0; out && i < in->halves.count; i++) {
        out[first[h[i].track]++] = (struct half){h[i].at_ns, (uint32_t)i, h[i].row};
    }
    for (size_t t = tracks; t; t--) {
        first[t] = first[t - 1];
    }
    first[0] = 0;
    return out;
}

void stk_pf_join(struct stk_pf *in)
{
    struct pairing p = {.in = in};
    size_t *first = stk_alloc_zero(in->tracks.count + 2, sizeof *first);
    if (in->halves.count == 0 || !first) {
        in->failed |= !first;
        stk_free(first);
        return;
    }
    int64_t whole_until_ns;
    struct half *halves = group(in, first, &whole_until_ns);
    in->failed |= !halves;
    stk_vec_deinit(&in->halves);
    for (size_t t = 0; halves && t < in->tracks.count; t++) {
        const struct stk_pf_track *track = stk_vec_at(&in->tracks, t);
        join_track(&p, halves + first[t], first[t + 1] - first[t], track->is_unsorted);
        close_open(&p, track->last_ns);
    }
    if (p.is_open) {
        stk_build_cut(in->sink.build, STK_CUT_SOMEWHERE, whole_until_ns);
    }
    stk_free(halves);
    stk_free(first);
}
