// SPDX-License-Identifier: Apache-2.0
// stk_trace_check finds each way in which a trace can be broken, and reports it; the dumps stay
// short and survive a broken trace.
#include "profile/store/trace_check.h"

#include "synth.h"

enum { MAIN = 1, STREAM = 7, STEPS = 4 };

// Nested host events, launches with work, a marker with a value, an event of more than 4 s.
static struct stk_trace *sound_trace(struct synth *s)
{
    synth_begin(s);
    for (int i = 0; i < STEPS; i++) {
        double at = 1000.0 * i;
        synth_step(s, MAIN, at, 900, i);
        synth_host(s, MAIN, at + 10, 500, "aten::linear", STK_KIND_HOST_OP);
        synth_launch(s, MAIN, at + 20, 5, "gemm", at + 40, 100, STREAM);
        synth_launch(s, MAIN, at + 30, 5, "relu", at + 150, 100, STREAM);
    }
    synth_host(s, 2, 0, 9e6, "long", STK_KIND_HOST_OP);
    CHECK(synth_summarize(s) != NULL);
    return s->trace;
}

static void check_says(const struct stk_trace *t, const char *part)
{
    const char *text = stk_trace_check(t);
    CHECK(text && strstr(text, part));
    if (!text || !strstr(text, part)) {
        fprintf(stderr, "wanted \"%s\", got %s\n", part, text ? text : "(nothing)");
    }
}

// The value is put back behind the check.
#define BROKEN(place, value, says)                                                                 \
    do {                                                                                           \
        __typeof__(place) was = (place);                                                           \
        (place) = (value);                                                                         \
        check_says(t, says);                                                                       \
        (place) = was;                                                                             \
    } while (0)

static uint32_t first_of(const struct stk_trace *t, enum stk_kind kind)
{
    uint32_t e = 0;
    while (e < t->count && t->kind[e] != kind) {
        e++;
    }
    CHECK(e < t->count);
    return e;
}

static void tables(struct stk_trace *t)
{
    BROKEN(t->read, t->read + 1, "counted by kind");
    BROKEN(t->host, t->strings.count, "host, producer");
    BROKEN(t->issues[0].note, t->strings.count, "note");
    BROKEN(t->issues[0].events_lost, 1, "1 events lost");
    BROKEN(t->processes[0].name, t->strings.count, "process 0");
    BROKEN(t->devices[0].process, t->process_count, "device 0");
    BROKEN(t->tracks[1].process, t->process_count, "track 1");
    BROKEN(t->tracks[1].device, t->device_count, "track 1");
    BROKEN(t->tracks[1].first, t->tracks[1].first + 1, "track 1 has");
    BROKEN(t->tracks[0].count, t->tracks[0].count - 1, "track 1 has");
    BROKEN(t->tracks[0].parent, 0, "isn't a sub-row");
    BROKEN(t->track_count, t->track_count - 1, "tracks have");
    BROKEN(t->long_dur_count, 0, "are listed");
    BROKEN(t->long_durs[0].event, 0, "long duration 0");
    BROKEN(t->start_ns, NULL, "a column is missing");
}

static void events(struct stk_trace *t)
{
    uint32_t op = first_of(t, STK_KIND_HOST_OP), step = first_of(t, STK_KIND_ANNOTATION);
    BROKEN(t->kind[op], STK_KIND_COUNT, "kind");
    BROKEN(t->name[op], t->strings.count, "name");
    BROKEN(t->ref[op], t->ext_count, "beyond the end");
    BROKEN(t->start_ns[op], -5, "begins at -5");
    BROKEN(t->start_ns[op + 2], t->start_ns[op], "before event");
    BROKEN(t->dur_low[op], 2000000, "not inside its parent");
    BROKEN(t->depth[op], 0, "overlaps one of its depth");
    BROKEN(t->depth[op], 2, "has depth 2 after");
    BROKEN(t->ext[t->ref[step]].dir, 9, "direction 9");
    BROKEN(t->long_durs[0].dur_ns, -1, "lasts -1 ns");
}

static void links(struct stk_trace *t)
{
    uint32_t call = first_of(t, STK_KIND_RUNTIME), work = t->ref[call];
    struct stk_ext *x = &t->ext[t->ref[work]];
    BROKEN(t->ref[call], t->count, "beyond the end");
    BROKEN(t->ref[call], call, "does not lead back");
    BROKEN(t->ref[call], STK_NONE, "have a launch call");
    BROKEN(x->link, call + 1, "does not lead back");
    BROKEN(x->next, work, "form a cycle");
    BROKEN(x->flags, (uint8_t)(x->flags | STK_EXT_CONFIG), "launch configuration");
}

static void details(struct stk_trace *t)
{
    struct stk_detail d = {.key = STK_DETAIL_OP, .text = t->strings.count};
    uint32_t *first = calloc((size_t)t->ext_count + 1, sizeof *first);
    if (!first) {
        exit(2);
    }
    for (uint32_t i = 1; i <= t->ext_count; i++) {
        first[i] = 1;
    }
    t->detail_count = 1;
    check_says(t, "belong to nothing");
    t->details = &d;
    t->detail_first = first;
    check_says(t, "detail 0");
    d.text = 0;
    CHECK(stk_trace_check(t) == NULL);
    BROKEN(first[0], 2, "end before they begin");
    BROKEN(t->detail_count, 0, "beyond their end");
    t->details = NULL;
    t->detail_first = NULL;
    t->detail_count = 0;
    free(first);
}

// What is written of the trace, as one text.
static const char *dumped(const struct stk_trace *t, uint32_t event, uint32_t track)
{
    static char text[20000];
    FILE *f = tmpfile();
    if (!f) {
        exit(2);
    }
    stk_trace_dump(t, f);
    stk_event_dump(t, event, f);
    stk_track_dump(t, track, 0, f);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void dumps(struct stk_trace *t)
{
    uint32_t call = first_of(t, STK_KIND_RUNTIME);
    const char *text = dumped(t, call, 0);
    CHECK(strstr(text, "trace: ") && strstr(text, "Test GPU") && strstr(text, "cudaLaunchKernel"));
    CHECK(strstr(text, "launched") && strstr(text, "\"gemm\"") && strstr(text, "ProfilerStep#0"));
    CHECK(strstr(dumped(t, t->ref[call], 0), "launched by"));
    CHECK(strstr(dumped(t, t->count, t->track_count), "no event "));
    t->name[call] = UINT32_MAX - 1;
    t->ref[call] = t->count + 5;
    CHECK(strstr(dumped(t, call, 0), "no such string"));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    struct synth s;
    struct stk_trace *t = sound_trace(&s);
    CHECK(t && stk_trace_check(t) == NULL);
    if (t) {
        CHECK_RUN(tables, t);
        CHECK_RUN(events, t);
        CHECK_RUN(links, t);
        CHECK_RUN(details, t);
        CHECK(stk_trace_check(t) == NULL); // everything was put back
        CHECK_RUN(dumps, t);
    }
    CHECK_RUN(synth_end, &s);
    return check_done("unit.trace_check");
}
