// SPDX-License-Identifier: Apache-2.0
// Random rows through the builder. For any rows: no event is lost or changed, every track is
// in order and nests, links go both ways, and neither the number of shards nor of threads changes
// anything. Then the same with each allocation failing in turn.
#include "base/alloc.h"
#include "check.h"
#include "profile/store/build_impl.h"

static uint64_t random_state;

static uint64_t random_u64(void)
{
    random_state += 0x9e3779b97f4a7c15u; // splitmix64
    uint64_t z = random_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static uint64_t below(uint64_t n)
{
    return random_u64() % n;
}

#define TRACKS 7
struct item {
    int track, name;
    int64_t start_ns, dur_ns, corr;
    uint8_t kind;
    bool has_ext;
};

static struct stk_track_key key_of(int track)
{
    return (struct stk_track_key){.kind = track % 2 ? STK_TRACK_STREAM : STK_TRACK_THREAD,
                                  .process = track / 4,
                                  .device = track % 2 ? track / 2 : -1,
                                  .id = track,
                                  .sid = {"", 0}};
}

// Shapes: 0 anything, 1 in order, 2 nested by halving, 3 everything at a few times, 4 long.
static struct item make_item(int shape, uint32_t i)
{
    static const uint8_t host[] = {STK_KIND_RUNTIME, STK_KIND_HOST_OP, STK_KIND_UNSET};
    static const uint8_t device[] = {STK_KIND_KERNEL, STK_KIND_MEMCPY, STK_KIND_UNSET};
    struct item it = {.track = (int)below(TRACKS), .name = (int)below(40)};
    it.start_ns = (int64_t)below(1000000);
    it.dur_ns = (int64_t)below(2000);
    if (shape == 1) {
        it.start_ns = i * 100;
    }
    if (shape == 2) {
        it.dur_ns = 1ll << below(18), it.start_ns = it.start_ns / it.dur_ns * it.dur_ns;
    }
    if (shape == 3) {
        it.start_ns = (int64_t)below(4), it.dur_ns = (int64_t)below(4);
    }
    if (shape == 4 && below(3) == 0) {
        it.dur_ns = UINT32_MAX - 2ll + (int64_t)below(5);
    }
    it.kind = it.track % 2 ? device[below(3)] : host[below(3)];
    it.has_ext = below(2);
    it.corr = (int64_t)below(60) - 5;
    if (shape % 2) { // too far apart for a plain table
        it.corr *= INT64_MAX / 100;
    }
    return it;
}

static struct stk_trace *build(const struct item *items, uint32_t n, int shards, int threads)
{
    struct stk_build *b = NULL;
    struct stk_trace *t = NULL;
    if (stk_build_new(&b, NULL) != STOKER_OK) {
        return NULL;
    }
    for (int k = 0; k < shards; k++) {
        struct stk_shard *s = stk_build_shard(b);
        for (uint32_t i = n * (uint32_t)k / (uint32_t)shards;
             s && i < n * (uint32_t)(k + 1) / (uint32_t)shards; i++) {
            char name[32];
            struct stk_track_key key = key_of(items[i].track);
            int len = snprintf(name, sizeof name, items[i].name % 8 ? "name%d" : "cudaLaunch%d",
                               items[i].name);
            struct stk_row row = {.start_ns = items[i].start_ns,
                                  .dur_ns = items[i].dur_ns,
                                  .pos = i,
                                  .name = stk_shard_intern(s, name, (size_t)len),
                                  .track = stk_shard_track(s, &key),
                                  .kind = items[i].kind};
            struct stk_row_ext ext = {.has_corr = true, .corr = items[i].corr};
            stk_shard_add(s, &row, items[i].has_ext ? &ext : NULL);
        }
        if (!s) {
            goto done;
        }
    }
    if (stk_build_finish(b, threads, &t, NULL) != STOKER_OK) {
        CHECK(t == NULL);
    }
done:
    stk_build_free(b);
    return t;
}

static void check_track(const struct stk_trace *t, const struct stk_track *track)
{
    uint32_t open[4096], depth = 0;
    bool ordered = true, nested = true, depths = true;
    for (uint32_t i = track->first; i < track->first + track->count; i++) {
        if (i > track->first) {
            int64_t a = t->start_ns[i - 1], b = t->start_ns[i];
            ordered = ordered && (a < b || (a == b && stk_dur_ns(t, i - 1) >= stk_dur_ns(t, i)));
        }
        while (depth && stk_end_ns(t, open[depth - 1]) <= t->start_ns[i]) {
            depth--;
        }
        nested = nested && (!depth || stk_end_ns(t, i) <= stk_end_ns(t, open[depth - 1]));
        depths = depths && t->depth[i] == (depth < 255 ? depth : 255);
        if (depth < 4096) {
            open[depth++] = i;
        }
    }
    CHECK(ordered);
    CHECK(nested);
    CHECK(depths);
}

static void check_tracks(const struct stk_trace *t)
{
    uint32_t next = 0;
    uint64_t on_sub_rows = 0;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        CHECK_EQ(track->first, next);
        CHECK(track->count > 0);
        next += track->count;
        CHECK(track->process < t->process_count);
        CHECK(track->device == STK_NONE || track->device < t->device_count);
        if (track->parent != STK_NONE) {
            CHECK(track->parent < k && t->tracks[track->parent].parent == STK_NONE);
            on_sub_rows += track->count;
        }
        CHECK_EQ(stk_track_of(t, track->first), k);
        CHECK_EQ(stk_track_of(t, track->first + track->count - 1), k);
        check_track(t, track);
    }
    CHECK_EQ(next, t->count);
    CHECK_EQ(t->issues[STK_ISSUE_OVERLAP_SUBROW].count, on_sub_rows);
}

// Each stored event is the row that its position names.
static void check_events(const struct stk_trace *t, const struct item *items, uint32_t n)
{
    uint8_t *seen = calloc(n + 1, 1);
    uint32_t wrong = 0;
    CHECK_EQ(t->count, n);
    for (uint32_t k = 0; k < t->track_count && seen; k++) {
        for (uint32_t i = t->tracks[k].first, end = i + t->tracks[k].count; i < end; i++) {
            uint64_t pos = stk_pos(t, i);
            if (pos >= n || seen[pos]++) {
                wrong++;
                continue;
            }
            const struct item *it = &items[pos];
            char name[32];
            snprintf(name, sizeof name, it->name % 8 ? "name%d" : "cudaLaunch%d", it->name);
            wrong += t->tracks[k].id != it->track || t->start_ns[i] + t->base_ns != it->start_ns ||
                     stk_dur_ns(t, i) != it->dur_ns || strcmp(stk_name_of(t, i).p, name) != 0;
        }
    }
    CHECK_EQ(wrong, 0);
    free(seen);
}

static void check_links(const struct stk_trace *t, const struct item *items)
{
    uint32_t wrong = 0, linked = 0, chained = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct item *it = &items[stk_pos(t, i)];
        uint32_t link = stk_link_of(t, i);
        if (stk_kind_is_device_work(t->kind[i])) {
            linked += link != STK_NONE;
            if (link != STK_NONE) {
                wrong += t->kind[link] != STK_KIND_RUNTIME ||
                         items[stk_pos(t, link)].corr != it->corr ||
                         items[stk_pos(t, link)].track / 4 != it->track / 4;
            }
        } else if (t->kind[i] == STK_KIND_RUNTIME && link != STK_NONE) {
            int64_t last = INT64_MIN;
            for (uint32_t op = link; op != STK_NONE; op = t->ext[t->ref[op]].next) {
                chained++;
                wrong += stk_link_of(t, op) != i || t->start_ns[op] < last;
                last = t->start_ns[op];
            }
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(linked, chained);
}

static bool same_trace(const struct stk_trace *a, const struct stk_trace *b)
{
    if (a->count != b->count || a->track_count != b->track_count || a->base_ns != b->base_ns ||
        a->device_count != b->device_count || a->read != b->read) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->start_ns[i] != b->start_ns[i] || stk_dur_ns(a, i) != stk_dur_ns(b, i) ||
            stk_pos(a, i) != stk_pos(b, i) || a->kind[i] != b->kind[i] ||
            a->depth[i] != b->depth[i] || stk_link_of(a, i) != stk_link_of(b, i) ||
            !stk_str_eq(stk_name_of(a, i), stk_name_of(b, i))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->track_count; i++) {
        if (a->tracks[i].id != b->tracks[i].id || a->tracks[i].first != b->tracks[i].first ||
            a->tracks[i].parent != b->tracks[i].parent ||
            a->tracks[i].device != b->tracks[i].device) {
            return false;
        }
    }
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        if (a->issues[i].count != b->issues[i].count ||
            a->issues[i].first_offset != b->issues[i].first_offset) {
            return false;
        }
    }
    return true;
}

static void test_shape(int shape, uint32_t n)
{
    struct item *items = calloc(n + 1, sizeof *items);
    if (!items) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        items[i] = make_item(shape, i);
    }
    struct stk_trace *one = build(items, n, 1, 1);
    CHECK(one != NULL);
    if (one) {
        check_tracks(one);
        check_events(one, items, n);
        check_links(one, items);
        for (int shards = 2; shards <= 5; shards++) {
            struct stk_trace *many = build(items, n, shards, shards - 1);
            CHECK(many && same_trace(one, many));
            stk_trace_free(many);
        }
    }
    stk_trace_free(one);
    free(items);
}

static void test_no_memory(void)
{
    struct item items[300];
    for (uint32_t i = 0; i < 300; i++) {
        items[i] = make_item((int)(i % 5), i);
    }
    struct stk_trace *whole = build(items, 300, 3, 1);
    CHECK(whole != NULL);
    for (int sticky = 0; sticky < 2 && whole; sticky++) {
        uint32_t failures = 0;
        bool reached = true; // the failing allocation was asked for
        for (uint64_t at = 1; reached; at++) {
            uint64_t before = stk_alloc_count();
            stk_alloc_fail_at(at, sticky);
            struct stk_trace *t = build(items, 300, 3, 1);
            stk_alloc_fail_at(0, 0);
            reached = stk_alloc_count() - before >= at;
            failures += t == NULL;
            if (t) {
                CHECK(same_trace(whole, t));
            }
            stk_trace_free(t);
        }
        CHECK(failures > 50);
    }
    stk_trace_free(whole);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (uint32_t round = 0; round < 30; round++) {
        random_state = round;
        CHECK_RUN(test_shape, (int)(round % 5), (uint32_t)below(round < 25 ? 400 : 20000));
    }
    random_state = 99;
    CHECK_RUN(test_shape, 0, 150000); // more than one block, and long enough for every sort
    CHECK_RUN(test_shape, 2, 150000);
    CHECK_RUN(test_no_memory);
    return check_done("prop.store_random");
}
