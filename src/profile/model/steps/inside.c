// SPDX-License-Identifier: Apache-2.0
// Totals of the events inside a function of one row, as differences of prefix sums over the row.
// Functions nest by the dozen, and in hostile profiles by the ten thousand: visiting the content of
// each would take quadratic time.
// Method: one pass when opened, a binary search a function; 32 bytes an event of the row.
#include "profile/model/steps/inside.h"

#include "base/alloc.h"
#include "profile/model/threads/feed_words.h"
#include "profile/model/threads/python_frame.h"

#define LOOKED_AT 64 // events in a function, to find the row that shows that it is JAX's

enum { UNASKED, NEITHER, BRINGS, TAKES, DATA, KEYS_OF_RANDOM };

// Is an event a call that makes arrays from bytes or a file, reads the framework's results back,
// belongs to a data library, or makes random keys? Found once per name.
static uint8_t kind_of(const struct stk_analysis *a, uint32_t event, uint8_t *by_name)
{
    const struct stk_trace *t = a->t;
    uint8_t *known = &by_name[t->name[event]];
    bool is_python = t->kind[event] == STK_KIND_PYTHON;
    if (!is_python && !(stk_class_of(a, event) & STK_NAME_PJIT)) {
        return NEITHER;
    }
    if (*known == UNASKED) {
        struct stk_str name = stk_name_of(t, event);
        struct stk_str called = stk_python_frame_called(name);
        bool is_bringer = stk_feed_brings(called) || stk_feed_hands_over(name);
        *known = stk_feed_makes_keys(name)        ? KEYS_OF_RANDOM
                 : !is_python                     ? NEITHER
                 : is_bringer                     ? BRINGS
                 : stk_feed_takes(called)         ? TAKES
                 : stk_python_frame_is_data(name) ? DATA
                                                  : NEITHER;
    }
    return *known;
}

// Does an event show that data is processed? For a framework's Python function that makes arrays,
// only its calls show it: JAX takes long even for three numbers.
static bool is_data(const struct stk_analysis *a, uint32_t event, uint8_t kind, uint32_t work)
{
    bool brings = kind == BRINGS &&
                  (stk_python_frame_owner(stk_name_of(a->t, event)) != STK_PYTHON_FRAMEWORK);
    return brings || kind == DATA || (stk_class_of(a, event) & (work | STK_NAME_BLOCKED));
}

// JAX's tracer records no folder, and a job may have its own core.py with a split(). JAX's
// functions work on keys, whose type is in prng.py; a job's function that calls JAX's has those
// inside.
static bool makes_keys(const struct stk_analysis *a, uint32_t event, uint32_t end)
{
    const struct stk_trace *t = a->t;
    bool is_python = t->kind[event] == STK_KIND_PYTHON;
    if (!is_python || stk_python_frame_parse(stk_name_of(t, event)).has_folder) {
        return true;
    }
    int64_t end_ns = stk_end_ns(t, event);
    uint32_t last = end - event > LOOKED_AT ? event + LOOKED_AT : end;
    for (uint32_t e = event + 1; e < last && t->start_ns[e] < end_ns; e++) {
        struct stk_str name = stk_name_of(t, e);
        if (t->kind[e] != STK_KIND_PYTHON) {
            continue;
        }
        if (stk_str_eq(stk_python_frame_parse(name).file, STK_STR("prng.py"))) {
            return true;
        }
        if (stk_feed_makes_keys(name)) {
            return false;
        }
    }
    return false;
}

bool stk_inside_open(struct stk_inside *in, const struct stk_analysis *a, uint32_t row,
                     uint32_t work)
{
    const struct stk_trace *t = a->t;
    uint32_t n = t->tracks[row].count;
    int64_t busy_ns = INT64_MIN, data_ns = INT64_MIN, keys_ns = INT64_MIN;
    *in = (struct stk_inside){.t = t, .first = t->tracks[row].first, .count = n};
    in->works = stk_alloc_array((size_t)n + 1, sizeof *in->works);
    in->brings = stk_alloc_array((size_t)n + 1, sizeof *in->brings);
    in->takes = stk_alloc_array((size_t)n + 1, sizeof *in->takes);
    in->calls = stk_alloc_array((size_t)n + 1, sizeof *in->calls);
    in->work_ns = stk_alloc_array((size_t)n + 1, sizeof *in->work_ns);
    in->data_ns = stk_alloc_array((size_t)n + 1, sizeof *in->data_ns);
    uint8_t *by_name = stk_alloc_zero((size_t)t->strings.count + 1, 1);
    bool ok =
        in->works && in->brings && in->takes && in->calls && in->work_ns && in->data_ns && by_name;
    struct stk_inside_sum sum = {0};
    uint32_t calls = 0;
    for (uint32_t i = 0; ok && i <= n; i++) {
        uint32_t e = in->first + i;
        in->works[i] = sum.works;
        in->brings[i] = sum.brings;
        in->takes[i] = sum.takes;
        in->calls[i] = calls;
        in->work_ns[i] = sum.work_ns;
        in->data_ns[i] = sum.data_ns;
        bool is_work = i < n && (stk_class_of(a, e) & work);
        sum.works += is_work;
        uint8_t kind = i < n ? kind_of(a, e, by_name) : NEITHER;
        if (kind == KEYS_OF_RANDOM && t->start_ns[e] >= keys_ns &&
            makes_keys(a, e, in->first + n)) {
            keys_ns = stk_end_ns(t, e);
        }
        bool shows = i < n && t->start_ns[e] >= keys_ns; // calls that make keys don't show data
        sum.brings += kind == BRINGS && shows;
        sum.takes += kind == TAKES;
        calls += shows && t->kind[e] != STK_KIND_PYTHON && (stk_class_of(a, e) & STK_NAME_PJIT);
        if (is_work && t->start_ns[e] >= busy_ns) {
            sum.work_ns = stk_add_ns(sum.work_ns, stk_dur_ns(t, e));
            busy_ns = stk_end_ns(t, e);
        }
        if (shows && t->start_ns[e] >= data_ns && is_data(a, e, kind, work)) {
            sum.data_ns = stk_add_ns(sum.data_ns, stk_dur_ns(t, e));
            data_ns = stk_end_ns(t, e);
        }
    }
    stk_free(by_name);
    if (!ok) {
        stk_inside_close(in);
    }
    return ok;
}

void stk_inside_close(struct stk_inside *in)
{
    stk_free(in->works);
    stk_free(in->brings);
    stk_free(in->takes);
    stk_free(in->calls);
    stk_free(in->work_ns);
    stk_free(in->data_ns);
    *in = (struct stk_inside){0};
}

struct stk_inside_sum stk_inside_of(const struct stk_inside *in, uint32_t function)
{
    int64_t end_ns = stk_end_ns(in->t, function);
    uint32_t from = function - in->first + 1, low = from, high = in->count;
    while (low < high) { // first that begins after it
        uint32_t mid = low + (high - low) / 2;
        if (in->t->start_ns[in->first + mid] < end_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return (struct stk_inside_sum){.works = in->works[low] - in->works[from],
                                   .brings = in->brings[low] - in->brings[from],
                                   .takes = in->takes[low] - in->takes[from],
                                   .work_ns = in->work_ns[low] - in->work_ns[from],
                                   .data_ns = in->data_ns[low] - in->data_ns[from]};
}

bool stk_inside_is_data(const struct stk_inside *in, uint32_t event)
{
    return in->data_ns[event - in->first + 1] > in->data_ns[event - in->first];
}

int64_t stk_inside_data_ns(const struct stk_inside *in, uint32_t first, uint32_t end)
{
    return in->data_ns[end - in->first] - in->data_ns[first - in->first];
}

uint32_t stk_inside_calls(const struct stk_inside *in, uint32_t first, uint32_t end)
{
    return in->calls[end - in->first] - in->calls[first - in->first];
}
