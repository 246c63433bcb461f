// SPDX-License-Identifier: Apache-2.0
// Writes profiles in other formats: `stoker export`. To add one: a file export/export_<name>.c that
// ends in its descriptor `const struct stk_exporter stk_exporter_<name>`, and one line X(<name>) in
// exports.def; the command, its help and the docs take it from there.
//
// An exporter gets traces in memory, the results derived from them, and an output. It allocates
// only small tables, so memory use stays that of the store. There are three clocks: a trace counts
// from its own first event; adding `shift_ns` gives the run's common time, used by the report and
// the lanes; adding `base_ns` to that gives the clock of the files.
#pragma once

#include "base/arena.h"
#include "answers/export/export_out.h"
#include "profile/model/path_piece.h"
#include "profile/model/summary.h"
#include "results/report.h"
#include "profile/store/trace.h"

// A piece of a device's time line, with the part it belongs to.
struct stk_export_piece {
    int64_t start_ns, end_ns; // in the trace's time
    uint32_t device;          // index into the rank's devices
    uint32_t event;           // the event in it, or STK_NONE
    uint8_t part;             // enum stk_part
};

// One rank of one file.
struct stk_export_rank {
    uint32_t file;
    const struct stk_rank_sum *sum;        // in common time
    const struct stk_export_piece *pieces; // by device and time; disjoint within a device
    size_t piece_count;
    struct stk_path_pieces path; // critical path of a usual step
};

struct stk_export_process {
    int32_t rank;           // -1 unknown
    bool taken;             // its rank was selected
    int64_t pid;            // in the output: as recorded, unless two in the run would share it
    int64_t from_ns, to_ns; // events that overlap this are written; in the trace's time
};

struct stk_export_file {
    const struct stk_trace *t;
    const char *path;
    int64_t shift_ns;
    struct stk_export_process *processes; // parallel to the trace's
};

// A row that stoker adds: the verdict, findings, steps, a critical path, parts of the steps.
enum stk_export_lane_kind {
    STK_EXPORT_VERDICT,
    STK_EXPORT_FINDING,
    STK_EXPORT_STEPS,
    STK_EXPORT_PATH,
    STK_EXPORT_PARTS
};
struct stk_export_lane {
    enum stk_export_lane_kind kind;
    const char *name;
    uint32_t rank;                         // index into ranks (steps, parts)
    uint32_t device;                       // index into the rank's devices; STK_NONE: host
    const struct stk_export_slice *slices; // NULL: pieces [first, first + count) of the rank
    size_t first, count;
};
// A note on a slice: a text or a number.
struct stk_export_note {
    const char *key, *text; // text NULL: the number
    int64_t number;
};
#define STK_EXPORT_NOTES 24
struct stk_export_slice {
    int64_t start_ns, dur_ns; // common time
    const char *name;
    const struct stk_export_note *notes;
    size_t note_count;
};

// Counts for people.
struct stk_export_counts {
    uint64_t events;     // of the profiles, written
    uint64_t unselected; // left out, since not selected
    uint64_t lane_rows;  // added by stoker
    uint64_t overlaps;   // events that overlap others in their row without nesting
    uint64_t stacks;     // stacks with own time, in formats with stacks
    uint64_t folded;     // stacks merged into enclosing ones
};

typedef void stk_export_emit_fn(void *arg, struct stk_str key, struct stk_str value);

struct stk_export {
    struct stk_export_file *files;
    uint32_t file_count;
    struct stk_export_rank *ranks; // selected ones
    uint32_t rank_count;
    const struct stk_report *report;
    int64_t base_ns; // the file clock at common time 0
    bool has_device; // only `device` was selected
    int64_t device;
    const char *const *selection; // the selections, as text
    size_t selection_count;
    bool with_args;
    bool csv_raw; // keep CSV cells that a spreadsheet would run as formulas
    const char *version;
    // The arguments of an event as in its file; called if with_args.
    enum stoker_status (*args)(void *arg, uint32_t file, uint32_t event, stk_export_emit_fn *emit,
                               void *emit_arg, struct stoker_err *err);
    void *args_arg;
    // chrome: writes more members of the object, after the events; NULL: none.
    void (*tail)(void *arg, struct stk_export_out *out);
    void *tail_arg;
    struct stk_arena *arena;
    // Filled by stk_export_plan:
    struct stk_export_lane *lanes;
    uint32_t lane_count;
    struct stk_export_counts counts;
};

struct stk_exporter {
    const char *name;       // "perfetto"
    const char *extension;  // ".pftrace", of file names
    const char *summary;    // one line
    const char *opens_with; // programs that read it
    const char *keeps;      // what the format keeps, in sentences
    const char *drops;      // what it loses
    bool is_text;
    bool needs_file; // writes to out->path instead of the stream
    bool one_rank;   // only one rank per file
    bool takes_args; // writes arguments if x->with_args
    bool wants_gzip; // its files are always compressed; the caller does that
    bool has_stacks; // has the time of each stack (export_stacks.h) instead of events
    STK_MUST_CHECK enum stoker_status (*write)(struct stk_export *x, struct stk_export_out *out,
                                               struct stoker_err *err);
};

#define X(name) extern const struct stk_exporter stk_exporter_##name;
#include "answers/export/exports.def"
#undef X
extern const struct stk_exporter *const stk_exporters[];
extern const int stk_exporter_count;
const struct stk_exporter *stk_exporter_find(const char *name); // NULL: none

// Numbers the processes and makes the lanes, from files, ranks and report. STOKER_ENOMEM.
STK_MUST_CHECK enum stoker_status stk_export_plan(struct stk_export *x, struct stoker_err *err);
// Slice i of a lane. Its notes are valid until the next call with the same `room`.
struct stk_export_lane_capacity {
    struct stk_export_note notes[2];
    char cause[512];
};
void stk_export_lane_at(const struct stk_export *x, const struct stk_export_lane *lane, size_t i,
                        struct stk_export_lane_capacity *capacity, struct stk_export_slice *out);

static inline struct stk_str stk_export_text(const struct stk_export_file *f, uint32_t id)
{
    return stk_strpool_get(&f->t->strings, id);
}
// Whether rows of the process and device are selected.
bool stk_export_takes_track(const struct stk_export *x, const struct stk_export_file *f,
                            const struct stk_track *track);
static inline bool stk_export_takes(const struct stk_trace *t, const struct stk_export_process *p,
                                    uint32_t event)
{
    int64_t start_ns = t->start_ns[event];
    return start_ns < p->to_ns && (start_ns >= p->from_ns || stk_end_ns(t, event) > p->from_ns);
}
// The start of an event in the clock of the files.
static inline int64_t stk_export_clock_ns(const struct stk_export *x,
                                          const struct stk_export_file *f, int64_t trace_ns)
{
    return trace_ns + f->shift_ns + x->base_ns;
}
// "thread 7 (loader)", "stream 13", "stream 13 (row 2)": unique on its device or process. Cut to
// `size`; returns its length.
size_t stk_export_track_name(const struct stk_export_file *f, uint32_t track, char *buffer,
                             size_t size);
// "GPU 0 (NVIDIA H100)", after "rank 3: " if there are several ranks.
size_t stk_export_device_label(const struct stk_export *x, const struct stk_export_file *f,
                               uint32_t device, char *buffer, size_t size);
// The next value of a counter's event, starting at detail *at, with its series (a string id; 0:
// none) and device (-1: the track's). False: no more.
struct stk_export_sample {
    double value;
    uint32_t series;
    int64_t device;
};
bool stk_export_next_sample(const struct stk_detail *details, uint32_t count, uint32_t *at,
                            struct stk_export_sample *out);
// Whether an argument's text is a number in JSON's syntax, and which kind.
enum stk_export_number { STK_EXPORT_NO_NUMBER, STK_EXPORT_WHOLE, STK_EXPORT_REAL };
enum stk_export_number stk_export_number(struct stk_str text, int64_t *whole, double *real);
// "kind_src:pageable kind_dst:device size:4 async:1", as XPlane profiles describe a copy; then
// "dir:h2d" and "waits:1", which stoker adds. Returns the length.
#define STK_EXPORT_DETAILS_MAX 192
size_t stk_export_details(const struct stk_ext *e, bool with_own,
                          char buffer[STK_EXPORT_DETAILS_MAX]);

// The events of a track and its sub-rows, in order of time.
struct stk_export_rows {
    const struct stk_trace *t;
    struct stk_export_row {
        uint32_t next, end; // events
    } *heap;
    uint32_t count;
};
// `track` must not be a sub-row. False: no memory. Call stk_export_rows_end in any case.
bool stk_export_rows_begin(struct stk_export_rows *r, const struct stk_trace *t, uint32_t track);
uint32_t stk_export_rows_next(struct stk_export_rows *r); // STK_NONE at the end
void stk_export_rows_end(struct stk_export_rows *r);
