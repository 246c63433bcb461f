// SPDX-License-Identifier: Apache-2.0
// State of the reader of Perfetto traces (see perfetto.c) while it reads one.
//
//   perfetto.c         bytes of the stream to packets
//   perfetto_packet.c  a packet: its sequence's state, clocks, descriptors, what it carries
//   perfetto_tables.c  sequences, interned texts, tracks, clocks
//   perfetto_event.c   TrackEvent -> an event as Kineto has it        (perfetto_notes.c)
//   perfetto_gpu.c     GpuRenderStageEvent -> the same
//   perfetto_own.c     what stoker's export wrote -> rows as they were
//   perfetto_pairs.c   begins and ends -> durations
//   perfetto_args.c    annotations of one event, on demand
#pragma once

#include "base/inflate.h"
#include "base/protobuf.h"
#include "profile/readers/reader.h"
#include "profile/readers/trace_event/chrome_fix.h"

#define STK_PF_BOOTTIME 6 // the clock of timestamps without one
#define STK_PF_PAD 64     // readable bytes after every message

// Caps of what is kept; anything beyond is ignored.
#define STK_PF_SEQS_MAX (1u << 18)
#define STK_PF_TRACKS_MAX (2 * STK_TRACKS_MAX)
#define STK_PF_CLOCKS_MAX (1u << 16)
#define STK_PF_INTERNED_MAX (1u << 26)

// Interned texts, by the field of InternedData that holds them.
enum stk_pf_table {
    STK_PF_CATEGORIES = 1,
    STK_PF_NAMES = 2,
    STK_PF_NOTE_NAMES = 3,
    STK_PF_STAGES = 24,
    STK_PF_NOTE_TEXTS = 29,
    STK_PF_KERNELS = 100, // 1000 and 1001 of InternedData: keys have eight bits for the table
    STK_PF_KERNEL_ARGS = 101
};

// Packets of one writer, and the state that lets them leave out what they already sent.
struct stk_pf_seq {
    uint64_t default_track;
    uint32_t index, generation;
    uint32_t clock; // of timestamps without one; 0: the trace's
    bool has_default_track;
    bool is_lost; // packets are missing: no lookups until the state is cleared
    bool is_new;
};

struct stk_pf_clock {
    int64_t offset_ns; // its time plus this is the trace's time
    int64_t now;       // of incremental ones: the last time, in its unit
    int64_t unit_ns;
    bool is_incremental;
};

struct stk_pf_track {
    uint64_t uuid, parent;
    uint32_t name; // text; 0: none
    bool is_process, is_thread, is_counter, adds_up;
    int64_t pid, tid;
    int64_t unit, counter; // of counters: the factor of values; the last value
    // What events inherit from it, known from the first one on:
    bool is_resolved;
    struct stk_chrome_id event_pid, event_tid;
    int64_t device; // number of the device in its name; -1
    // Of stoker's own export:
    uint32_t own;                 // of the stager's tracks; STK_NONE
    uint32_t series, device_text; // counters: names of the event and its series
    int64_t own_device;
    // Begins and ends of slices so far:
    int64_t last_ns;
    bool is_unsorted;
};

// A slice's begin or end.
#define STK_PF_END UINT32_MAX
#define STK_PF_NO_ROW (UINT32_MAX - 1)
struct stk_pf_half {
    int64_t at_ns;
    uint32_t track, row; // row of the stager; STK_PF_END; STK_PF_NO_ROW: a slice that isn't kept
};

struct stk_pf_own; // perfetto_own.c

struct stk_pf {
    const struct stk_read_ctx *ctx; // NULL: only the annotations of some events are read
    bool wants_json;
    struct stk_chrome_stager stager;
    struct stk_chrome_sink sink;
    struct stk_strpool texts;
    struct stk_map interned; // (iid, sequence and generation and table) -> text
    struct stk_map seq_at, track_at, clock_at;
    struct stk_vec seqs, tracks, clocks; // struct stk_pf_seq, _track, _clock
    struct stk_vec halves;               // struct stk_pf_half
    uint32_t primary_clock;
    bool has_wall_clock;
    int64_t wall_ns; // the trace's time plus this is the time of day
    // Of the packet being read:
    uint64_t pos;
    bool is_nested; // it was in a compressed one
    int64_t now_ns;
    bool has_time;
    // Text of the event's arguments, as JSON.
    char *json;
    size_t json_len, json_size, json_most;
    uint32_t *memo; // per text: its id among the stager's names, STK_NONE
    size_t memo_size;
    char *clean; // scratch for texts that aren't valid UTF-8
    size_t clean_size;
    struct stk_pf_own *own; // NULL: not of stoker's export
    uint64_t inflated, deflated;
    uint64_t packets, events;
    bool failed; // no memory
};

bool stk_pf_init(struct stk_pf *in, const struct stk_read_ctx *ctx, struct stk_build *b);
void stk_pf_deinit(struct stk_pf *in);
// One packet: `n` bytes at p, STK_PF_PAD readable ones after them.
void stk_pf_packet(struct stk_pf *in, const uint8_t *p, size_t n);
// Only the sequence's state of a packet. True: the sequence restarts.
bool stk_pf_scan(struct stk_pf *in, const uint8_t *p, size_t n);
// Arguments of the event that the packet holds, as JSON in `in`; false: it holds none.
bool stk_pf_packet_args(struct stk_pf *in, const uint8_t *p, size_t n, struct stk_str *json);
void stk_pf_issue(struct stk_pf *in, enum stk_issue_id id, uint64_t lost, struct stk_str note);

// ---- tables ----

struct stk_pf_seq *stk_pf_seq_of(struct stk_pf *in, uint64_t id);                // NULL: no memory
struct stk_pf_track *stk_pf_track_of(struct stk_pf *in, uint64_t uuid);          // makes it
struct stk_pf_track *stk_pf_track_known(const struct stk_pf *in, uint64_t uuid); // or NULL
void stk_pf_resolve(struct stk_pf *in, struct stk_pf_track *t);
void stk_pf_intern(struct stk_pf *in, const struct stk_pf_seq *s, enum stk_pf_table table,
                   uint64_t iid, struct stk_str text);
// Its id in in->texts; 0 if it was never sent.
uint32_t stk_pf_text_of(const struct stk_pf *in, const struct stk_pf_seq *s,
                        enum stk_pf_table table, uint64_t iid);
static inline struct stk_str stk_pf_text(const struct stk_pf *in, uint32_t id)
{
    return stk_strpool_get(&in->texts, id);
}
uint32_t stk_pf_put_text(struct stk_pf *in, struct stk_str text);
bool stk_pf_is_plain(struct stk_str text);             // ASCII without NUL
uint32_t *stk_pf_memo(struct stk_pf *in, uint32_t id); // NULL: no memory
// The same text, or a copy without invalid UTF-8, until the next call.
struct stk_str stk_pf_clean(struct stk_pf *in, struct stk_str text);
void stk_pf_clocks(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c);
// A time of a clock in the trace's; false: it is out of range.
bool stk_pf_time(struct stk_pf *in, const struct stk_pf_seq *s, uint32_t clock, uint64_t time,
                 int64_t *ns);

// ---- events ----

// A value of an annotation.
enum stk_pf_type { STK_PF_NOTHING, STK_PF_INT, STK_PF_REAL, STK_PF_TEXT, STK_PF_LIST, STK_PF_DICT };
struct stk_pf_note {
    struct stk_str name, text;
    enum stk_pf_type type;
    uint32_t name_id; // text, where the name was interned
    bool is_inline;   // the name was in the annotation itself
    int64_t number;
    double real;
    const uint8_t *p; // of lists and dictionaries: the message
    size_t n;
};
bool stk_pf_note_read(struct stk_pf *in, const struct stk_pf_seq *s, const uint8_t *p, size_t n,
                      struct stk_pf_note *out);
// All annotations of the event to r and, if details are wanted, to in->json.
void stk_pf_notes(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor event,
                  struct stk_chrome_raw *r);
void stk_pf_json_begin(struct stk_pf *in, size_t event_bytes);
void stk_pf_json_note(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_str key,
                      const struct stk_pf_note *note);
void stk_pf_json_end(struct stk_pf *in, struct stk_chrome_raw *r);
void stk_pf_take_note(const struct stk_pf_note *note, struct stk_chrome_raw *r);

void stk_pf_track_event(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c);
void stk_pf_stage_notes(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c,
                        struct stk_chrome_raw *r);
void stk_pf_render_stage(struct stk_pf *in, const struct stk_pf_seq *s, struct stk_pb_cursor c);
void stk_pf_set_name(struct stk_pf *in, uint32_t id, struct stk_str name, struct stk_chrome_raw *r);
// Row of the event; STK_PF_NO_ROW: it made none.
uint32_t stk_pf_stage(struct stk_pf *in, const struct stk_chrome_raw *r);
void stk_pf_half(struct stk_pf *in, struct stk_pf_track *t, uint32_t row);
// Gives the rows their durations. A half without its other is dropped, or ends with the trace.
void stk_pf_join(struct stk_pf *in);

// ---- on demand (struct stk_reader) ----

enum stoker_status stk_pf_args_open(struct stk_stream *stream, const char *path, void **state,
                                    struct stoker_err *err);
enum stoker_status stk_pf_args_next(void *state, const struct stk_trace *t, uint32_t event,
                                    stk_emit_fn *emit, void *arg, struct stoker_err *err);
void stk_pf_args_close(void *state); // takes NULL

// ---- stoker's own export ----

struct stk_pf_event {
    uint64_t type, track, name_iid, flow;
    uint32_t category; // text
    struct stk_str name;
    bool has_track, has_flow, has_value, has_real;
    int64_t value, legacy_dur_us;
    double real;
    uint64_t launch; // the first device operation that it launched, by its annotation
    struct stk_pb_cursor bytes;
};
bool stk_pf_own_begin(struct stk_pf *in);
void stk_pf_own_free(struct stk_pf_own *own);
void stk_pf_own_event(struct stk_pf *in, const struct stk_pf_seq *s, const struct stk_pf_event *e);
void stk_pf_own_finish(struct stk_pf *in, const struct stk_chrome_input *input);
