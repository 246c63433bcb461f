// SPDX-License-Identifier: Apache-2.0
// Iterates over events. Conditions on the start become a range by binary search; those on the end
// skip whole blocks; those that depend only on the track are tested once per track; the rest event
// by event.
#include "answers/query/event_scan.h"

#define STOP_EVERY 65536

void stk_query_scan_init(struct stk_query_scan *s, struct stk_query *q)
{
    *s = (struct stk_query_scan){.q = q,
                                 .kinds = UINT32_MAX,
                                 .start_min_ns = INT64_MIN,
                                 .start_max_ns = INT64_MAX,
                                 .end_min_ns = INT64_MIN,
                                 .dur_min_ns = INT64_MIN,
                                 .dur_max_ns = INT64_MAX,
                                 .id = -1,
                                 .launch = -1};
}

static void bound(int64_t *min, int64_t *max, enum stk_query_op op, int64_t value, bool *nothing)
{
    if ((op == STK_OP_GT && value == INT64_MAX) || (op == STK_OP_LT && value == INT64_MIN)) {
        *nothing = true;
        return;
    }
    int64_t low = op == STK_OP_GT ? value + 1 : value, high = op == STK_OP_LT ? value - 1 : value;
    if (op != STK_OP_LT && op != STK_OP_LE && low > *min) {
        *min = low;
    }
    if (op != STK_OP_GT && op != STK_OP_GE && high < *max) {
        *max = high;
    }
}

bool stk_query_scan_add(struct stk_query_scan *s, enum stk_query_field field, enum stk_query_op op,
                        int64_t value)
{
    if (field == STK_FIELD_START) {
        bound(&s->start_min_ns, &s->start_max_ns, op, value, &s->nothing);
        return true;
    }
    if (field == STK_FIELD_DUR) {
        bound(&s->dur_min_ns, &s->dur_max_ns, op, value, &s->nothing);
        return true;
    }
    if (field == STK_FIELD_ID && op == STK_OP_EQ) {
        s->nothing |= value < 0 || (s->id >= 0 && s->id != value);
        s->id = value;
        return true;
    }
    if (field == STK_FIELD_LAUNCH && op == STK_OP_EQ) {
        s->nothing |= value < 0 || (s->launch >= 0 && s->launch != value);
        s->launch = value;
        return true;
    }
    if (field == STK_FIELD_END && (op == STK_OP_GE || op == STK_OP_GT)) { // tested below as well
        s->end_min_ns = value > s->end_min_ns ? value : s->end_min_ns;
    }
    if (s->filter_count == STK_SCAN_FILTERS_MAX) {
        return false;
    }
    int at = s->filter_count++;
    if (stk_query_fields[field].key == STK_KEY_TRACK) {
        s->filters[at] = s->filters[s->track_filter_count];
        at = s->track_filter_count++;
    }
    s->filters[at].field = field;
    s->filters[at].op = op;
    s->filters[at].value = value;
    return true;
}

static bool scan_compare(int64_t a, enum stk_query_op op, int64_t b)
{
    switch (op) {
    case STK_OP_EQ:
        return a == b;
    case STK_OP_GT:
        return a > b;
    case STK_OP_GE:
        return a >= b;
    case STK_OP_LT:
        return a < b;
    default:
        return a <= b;
    }
}

// Filters number `from` to `to` - 1.
static bool passes(const struct stk_query_scan *s, const struct stk_query_event *v, int from,
                   int to)
{
    for (int i = from; i < to; i++) {
        int64_t value;
        if (!stk_query_number(v, s->filters[i].field, &value) ||
            !scan_compare(value, s->filters[i].op, s->filters[i].value)) {
            return false;
        }
    }
    return true;
}

bool stk_query_scan_takes(const struct stk_query_scan *s, const struct stk_query_event *v)
{
    const struct stk_trace *t = v->x->t;
    uint32_t e = v->event;
    if (!(s->kinds >> (t->kind[e] & 31) & 1)) {
        return false;
    }
    if (s->names && !s->names[v->trace].any) {
        const struct stk_scan_names *n = &s->names[v->trace];
        if (n->takes ? !n->takes[t->name[e]] : t->name[e] != n->only) {
            return false;
        }
    }
    if (s->launched && (!stk_kind_is_device_work(t->kind[e]) || stk_link_of(t, e) == STK_NONE)) {
        return false;
    }
    if (s->dur_min_ns != INT64_MIN || s->dur_max_ns != INT64_MAX) {
        int64_t dur_ns = stk_dur_ns(t, e);
        if (dur_ns < s->dur_min_ns || dur_ns > s->dur_max_ns) {
            return false;
        }
    }
    return passes(s, v, s->track_filter_count, s->filter_count);
}

static bool takes_track(const struct stk_query_scan *s, const struct stk_query_event *v)
{
    const struct stk_query_track *known = &v->x->tracks[v->track];
    if (!known->taken || (s->on_streams && v->x->t->tracks[v->track].kind != STK_TRACK_STREAM)) {
        return false;
    }
    if (s->device.p && !stk_str_eq(s->device, stk_str_from(known->device))) {
        return false;
    }
    return passes(s, v, 0, s->track_filter_count);
}

// First event of [first, end) that starts at `ns` or later.
static uint32_t lower_bound(const struct stk_trace *t, uint32_t first, uint32_t end, int64_t ns)
{
    while (first < end) {
        uint32_t mid = first + (end - first) / 2;
        if (t->start_ns[mid] < ns) {
            first = mid + 1;
        } else {
            end = mid;
        }
    }
    return first;
}

static int64_t minus(int64_t a, int64_t b)
{
    int64_t out;
    return __builtin_sub_overflow(a, b, &out) ? (b < 0 ? INT64_MAX : INT64_MIN) : out;
}

// The part of the current track within the bounds on the start. False: empty.
static bool range(struct stk_query_scan *s)
{
    const struct stk_trace *t = s->at.x->t;
    const struct stk_track *track = &t->tracks[s->at.track];
    uint32_t first = track->first, end = first + track->count;
    if (s->start_min_ns != INT64_MIN) {
        first = lower_bound(t, first, end, minus(s->start_min_ns, s->at.x->shift_ns));
    }
    if (s->start_max_ns != INT64_MAX) {
        int64_t max = minus(s->start_max_ns, s->at.x->shift_ns);
        end = max == INT64_MAX ? end : lower_bound(t, first, end, max + 1);
    }
    s->at.event = first;
    s->end = end;
    return first < end;
}

bool stk_query_scan_next_track(struct stk_query_scan *s)
{
    while (!s->nothing && s->at.trace < s->q->trace_count) {
        s->at.x = &s->q->traces[s->at.trace];
        if (++s->at.track >= s->at.x->t->track_count) {
            s->at.trace++;
            s->at.track = UINT32_MAX;
            continue;
        }
        s->at.event = s->at.x->t->tracks[s->at.track].first;
        if (s->at.x->t->tracks[s->at.track].count && takes_track(s, &s->at) && range(s)) {
            return true;
        }
    }
    return false;
}

void stk_query_scan_begin(struct stk_query_scan *s)
{
    s->at = (struct stk_query_event){.track = UINT32_MAX};
    s->next = s->end = 0;
    s->chain = STK_NONE;
    s->stopped = false;
    s->countdown = STOP_EVERY;
    if (s->id < 0 && s->launch < 0) {
        return;
    }
    struct stk_query_trace *x = stk_query_trace_of(s->q, s->id >= 0 ? s->id : s->launch);
    uint32_t event = (uint32_t)(s->id >= 0 ? s->id : s->launch);
    if (!x || event >= x->t->count) {
        s->nothing = true;
        return;
    }
    s->at.x = x;
    s->at.trace = (uint32_t)(x - s->q->traces);
    if (s->id >= 0) {
        s->chain = event;
    } else if (x->t->kind[event] == STK_KIND_RUNTIME) {
        s->chain = stk_link_of(x->t, event);
    }
}

// The one event, or the work of one call.
static bool next_of_chain(struct stk_query_scan *s)
{
    const struct stk_trace *t = s->at.x->t;
    while (s->chain != STK_NONE && s->chain < t->count) {
        uint32_t e = s->chain;
        const struct stk_ext *x = stk_ext_of(t, e);
        s->chain = s->id >= 0 || !x ? STK_NONE : x->next;
        s->at.event = e;
        s->at.track = stk_track_of(t, e);
        int64_t start = t->start_ns[e] + s->at.x->shift_ns, launch;
        if (start < s->start_min_ns || start > s->start_max_ns || !takes_track(s, &s->at) ||
            !stk_query_scan_takes(s, &s->at)) {
            continue;
        }
        if (s->launch >= 0 &&
            (!stk_query_number(&s->at, STK_FIELD_LAUNCH, &launch) || launch != s->launch)) {
            continue;
        }
        return true;
    }
    return false;
}

static void skip_blocks(struct stk_query_scan *s)
{
    const int64_t *ends = stk_query_block_ends(s->at.x); // without memory nothing is skipped
    int64_t min = minus(s->end_min_ns, s->at.x->shift_ns);
    while (ends && s->next < s->end && ends[s->next / STK_QUERY_BLOCK] < min) {
        s->next = (s->next / STK_QUERY_BLOCK + 1) * STK_QUERY_BLOCK;
    }
}

bool stk_query_scan_next(struct stk_query_scan *s)
{
    if (s->nothing) {
        return false;
    }
    if (s->id >= 0 || s->launch >= 0) {
        return next_of_chain(s);
    }
    for (;;) {
        bool entered = false;
        while (s->next >= s->end) {
            if (!stk_query_scan_next_track(s)) {
                return false;
            }
            s->next = s->at.event;
            entered = true;
        }
        if (s->end_min_ns != INT64_MIN && (entered || s->next % STK_QUERY_BLOCK == 0)) {
            skip_blocks(s);
            if (s->next >= s->end) {
                continue;
            }
        }
        s->at.event = s->next++;
        if (--s->countdown == 0) {
            s->countdown = STOP_EVERY;
            s->stopped = s->stop && s->stop(s->stop_arg);
            if (s->stopped) {
                return false;
            }
        }
        if (stk_query_scan_takes(s, &s->at)) {
            return true;
        }
    }
}
