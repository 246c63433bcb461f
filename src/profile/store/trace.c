// SPDX-License-Identifier: Apache-2.0
// The trace's own functions: tables of kinds and issues, life cycle, and the two look-ups that are
// not worth inlining (long durations, track of an event).
#include "profile/store/trace.h"

#include "base/sort.h"
#include "base/alloc.h"
#include "base/assert.h"

static const char *const kind_keys[] = {
#define K(id, key, meaning) key,
#include "profile/store/kinds.def"
#undef K
};

static const struct stk_issue_info issue_infos[] = {
#define I(id, key, severity, meaning, remedy) {key, meaning, remedy, STK_SEVERITY_##severity},
#include "profile/store/issues.def"
#undef I
};

enum stk_detail_type stk_detail_type_of(enum stk_detail_key key)
{
    static const enum stk_detail_type types[] = {
#define D(id, name, type, meaning) STK_DETAIL_##type,
#include "profile/store/details.def"
#undef D
    };
    return (unsigned)key < STK_DETAIL_COUNT ? types[key] : STK_DETAIL_INT;
}

const char *stk_detail_key_text(enum stk_detail_key key)
{
    static const char *const keys[] = {
#define D(id, name, type, meaning) name,
#include "profile/store/details.def"
#undef D
    };
    return (unsigned)key < STK_DETAIL_COUNT ? keys[key] : "";
}

const char *stk_dir_key(uint8_t dir)
{
    static const char *const keys[] = {[STK_DIR_H2D] = "h2d",
                                       [STK_DIR_D2H] = "d2h",
                                       [STK_DIR_D2D] = "d2d",
                                       [STK_DIR_P2P] = "p2p",
                                       [STK_DIR_H2H] = "h2h"};
    return dir < sizeof keys / sizeof keys[0] ? keys[dir] : NULL;
}

const char *stk_mem_key(uint8_t mem)
{
    static const char *const keys[] = {[STK_MEM_PAGEABLE] = "pageable",
                                       [STK_MEM_PINNED] = "pinned",
                                       [STK_MEM_DEVICE] = "device",
                                       [STK_MEM_ARRAY] = "array",
                                       [STK_MEM_MANAGED] = "managed"};
    return mem < sizeof keys / sizeof keys[0] ? keys[mem] : NULL;
}

const char *stk_kind_key(enum stk_kind kind)
{
    return (unsigned)kind < STK_KIND_COUNT ? kind_keys[kind] : "unset";
}

const struct stk_issue_info *stk_issue_info(enum stk_issue_id id)
{
    static const struct stk_issue_info unknown = {"unknown", "", "", STK_SEVERITY_INFO};
    return (unsigned)id < STK_ISSUE_COUNT ? &issue_infos[id] : &unknown;
}

struct stk_trace *stk_trace_new(void)
{
    struct stk_trace *t = stk_alloc_zero(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    if (stk_strpool_init(&t->strings, 0) != 0) {
        stk_free(t);
        return NULL;
    }
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        t->issues[i].first_offset = -1;
    }
    t->rank = t->world_size = -1;
    t->format = "";
    return t;
}

static void free_columns(struct stk_trace *t)
{
    stk_free(t->start_ns);
    stk_free(t->dur_low);
    stk_free(t->name);
    stk_free(t->ref);
    stk_free(t->pos_low);
    stk_free(t->pos_high);
    stk_free(t->kind);
    stk_free(t->depth);
    stk_free(t->ext);
    stk_free(t->details);
    stk_free(t->detail_first);
    stk_free(t->configs);
    stk_free(t->long_durs);
    stk_free(t->processes);
    stk_free(t->devices);
    stk_free(t->tracks);
    stk_free(t->programs);
    stk_free(t->arguments);
}

void stk_trace_free(struct stk_trace *t)
{
    if (!t) {
        return;
    }
    if (!t->is_frozen) {
        free_columns(t);
    }
    stk_free(t->track_at);
    stk_strpool_deinit(&t->strings);
    stk_free(t);
}

uint64_t stk_trace_size_bytes(const struct stk_trace *t)
{
    uint64_t row = sizeof *t->start_ns + sizeof *t->dur_low + sizeof *t->name + sizeof *t->ref +
                   sizeof *t->pos_low + sizeof *t->pos_high + sizeof *t->kind + sizeof *t->depth;
    return t->count * row + t->ext_count * sizeof *t->ext + t->config_count * sizeof *t->configs +
           t->long_dur_count * sizeof *t->long_durs + t->track_count * sizeof *t->tracks +
           t->program_count * sizeof *t->programs + t->argument_count * sizeof *t->arguments +
           t->strings.used_bytes + t->strings.slot_count * 2 * sizeof(uint32_t) +
           t->strings.capacity * (sizeof *t->strings.strings + sizeof *t->strings.lengths);
}

int64_t stk_dur_long(const struct stk_trace *t, uint32_t event)
{
    STK_ASSERT(event < t->count && t->dur_low[event] == UINT32_MAX);
    uint32_t low = 0, high = t->long_dur_count;
    STK_BISECT(low, high, mid, t->long_durs[mid].event < event);
    if (low < t->long_dur_count && t->long_durs[low].event == event) {
        return t->long_durs[low].dur_ns;
    }
    return UINT32_MAX;
}

// The last of tracks [low, high) that begins at the event or before it; STK_NONE: none does.
static uint32_t last_before(const struct stk_trace *t, uint32_t low, uint32_t high, uint32_t event)
{
    STK_BISECT(low, high, mid, t->tracks[mid].first <= event); // the first that begins after it
    return low ? low - 1 : STK_NONE;
}

uint32_t stk_track_of(const struct stk_trace *t, uint32_t event)
{
    if (event >= t->count) {
        return STK_NONE;
    }
    if (!t->track_at) {
        return last_before(t, 0, t->track_count, event);
    }
    const uint32_t *at = &t->track_at[event / STK_TRACK_SPAN];
    return at[0] == at[1] ? at[0] : last_before(t, at[0], at[1] + 1, event);
}

void stk_trace_index_tracks(struct stk_trace *t)
{
    size_t spans = t->count / STK_TRACK_SPAN + 1;
    STK_ASSERT(!t->track_at);
    if (t->track_count == 0 || t->tracks[0].first != 0) {
        return;
    }
    t->track_at = stk_alloc_array(spans + 1, sizeof *t->track_at);
    for (size_t i = 0, track = 0; t->track_at && i <= spans; i++) {
        while (track + 1 < t->track_count && t->tracks[track + 1].first <= i * STK_TRACK_SPAN) {
            track++;
        }
        t->track_at[i] = (uint32_t)track;
    }
}
