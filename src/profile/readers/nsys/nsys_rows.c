// SPDX-License-Identifier: Apache-2.0
// One handler per table: a row becomes an event, or an issue.
//
// Device work goes to streams keyed by (process, device, stream), host rows on threads; a process
// is bits 47..24 of globalPid and globalTid, with the machine bits above where several machines
// meet. correlationId is unique per process only, which is what the store links by. Memory kinds
// are numbered differently from CUPTI (0 is pageable here). CUPTI's synchronization records are
// markers on a track of their own: they are not work. OS runtime calls are host operations like any
// other: their names (poll, futex, pthread_cond_wait) say that they wait.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// Value of an integer column; false if it is NULL or of another type (then counted).
static bool column_int(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells, int col,
                       int64_t *out)
{
    STK_ASSERT(col >= 0 && col < STK_NSYS_CELLS_MAX);
    const struct stk_nsys_cell *cell = &cells->cell[col];
    if (cell->type == STK_NSYS_INT) {
        *out = cell->integer;
        return true;
    }
    if (cell->type != STK_NSYS_NULL) {
        stk_shard_issue(u->shard, STK_ISSUE_FIELD_INVALID, 1, 0, -1, stk_str_from(u->table->name));
    }
    return false;
}

static bool column_real(const struct stk_nsys_cells *cells, int col, double *out)
{
    const struct stk_nsys_cell *cell = &cells->cell[col];
    *out = cell->type == STK_NSYS_FLOAT ? cell->real : (double)cell->integer;
    return (cell->type == STK_NSYS_FLOAT && isfinite(*out)) || cell->type == STK_NSYS_INT;
}

static int64_t column_or(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells, int col,
                         int64_t otherwise)
{
    int64_t value;
    return column_int(u, cells, col, &value) ? value : otherwise;
}

// Start and duration from columns 1 and 2.
static bool row_times(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells,
                      struct stk_row *row)
{
    int64_t end;
    if (column_int(u, cells, 1, &row->start_ns) && column_int(u, cells, 2, &end) &&
        !__builtin_sub_overflow(end, row->start_ns, &row->dur_ns) && row->dur_ns >= 0) {
        return true;
    }
    stk_shard_issue(u->shard, STK_ISSUE_TIME_INVALID, 1, 1, -1, stk_str_from(u->table->name));
    return false;
}

static void remember(struct stk_nsys_unit *u, struct stk_map *m, uint64_t a, uint64_t b,
                     uint32_t value)
{
    if (!stk_map_put(m, a, b, value, NULL) && m->count < m->max_count) {
        u->out_of_memory = true;
    }
}

// Track of a key whose process is given by a global id; few are in use at a time.
static uint32_t track_of(struct stk_nsys_unit *u, enum stk_track_kind kind, int64_t group,
                         int64_t process, int64_t device, int64_t id)
{
    uint64_t hash = stk_hash_u64((uint64_t)group * 31 + (uint64_t)device) + (uint64_t)id + kind;
    struct stk_nsys_track_slot *slot = &u->slots[hash % STK_NSYS_TRACK_SLOTS];
    if (slot->full && slot->kind == kind && slot->group == group && slot->device == device &&
        slot->id == id) {
        return slot->track;
    }
    struct stk_track_key key = {
        .kind = kind, .process = process, .device = device, .id = id, .sid = STK_STR("")};
    *slot = (struct stk_nsys_track_slot){.full = true,
                                         .kind = (uint8_t)kind,
                                         .group = group,
                                         .device = device,
                                         .id = id,
                                         .track = stk_shard_track(u->shard, &key)};
    if (slot->track == STK_NONE) {
        return STK_NONE; // over the cap: not asked about
    }
    if (kind == STK_TRACK_THREAD) {
        remember(u, &u->threads, (uint64_t)group, 0, 0);
    } else if (kind == STK_TRACK_STREAM) {
        remember(u, &u->devices, (uint64_t)process, (uint64_t)device, u->found->has_process);
    }
    return slot->track;
}

static uint32_t thread_track(struct stk_nsys_unit *u, int64_t global_tid)
{
    return track_of(u, STK_TRACK_THREAD, global_tid, stk_nsys_process_of(u->file, global_tid), -1,
                    global_tid & 0xffffff);
}

// Process of a row with a globalPid column, which may be NULL.
static int64_t row_process(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells, int col)
{
    int64_t global;
    return column_int(u, cells, col, &global) ? stk_nsys_process_of(u->file, global)
                                              : u->file->default_process;
}

// What all tables of device work share: columns 1 to 6.
static bool device_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells,
                       struct stk_row *row, struct stk_row_ext *ext)
{
    if (!row_times(u, cells, row)) {
        return false;
    }
    int64_t process = row_process(u, cells, 6);
    int64_t device = column_or(u, cells, 3, 0);
    if (device < 0 || device > INT32_MAX) {
        device = 0;
    }
    row->track =
        track_of(u, STK_TRACK_STREAM, process, process, device, column_or(u, cells, 4, -1));
    row->pos = stk_nsys_pos(u->table, cells->rowid);
    ext->has_corr = column_int(u, cells, 5, &ext->corr);
    return true;
}

static void set_bytes(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells, int col,
                      struct stk_row_ext *ext)
{
    if (column_int(u, cells, col, &ext->value) && ext->value >= 0) {
        ext->flags |= STK_EXT_VALUE;
    } else {
        ext->value = 0;
    }
}

static void set_graph(const struct stk_nsys_cells *cells, int col, struct stk_row_ext *ext)
{
    STK_ASSERT(col >= 0 && col < STK_NSYS_CELLS_MAX);
    if (cells->cell[col].integer != 0) { // NULL or 0: not part of a graph
        ext->flags |= STK_EXT_GRAPH;
    }
}

static uint32_t column_size(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells, int col)
{
    int64_t size = column_or(u, cells, col, 0);
    return size > 0 && size <= UINT32_MAX ? (uint32_t)size : 0;
}

// Columns 9 to 17: grid, block, registers, shared memory.
static void set_config(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells,
                       struct stk_row_ext *ext)
{
    struct stk_launch_config config = STK_LAUNCH_CONFIG_UNKNOWN;
    for (int i = 0; i < 3; i++) {
        config.grid[i] = column_size(u, cells, 9 + i);
        config.block[i] = column_size(u, cells, 12 + i);
    }
    int64_t registers = column_or(u, cells, 15, -1);
    int64_t fixed = column_or(u, cells, 16, -1), more = column_or(u, cells, 17, -1);
    if (registers > 0 && registers <= INT32_MAX) {
        config.registers = (int32_t)registers;
    }
    if (fixed >= 0 && more >= 0 && fixed <= INT32_MAX && more <= INT32_MAX - fixed) {
        config.shared_bytes = (int32_t)(fixed + more);
    }
    if (config.grid[0] || config.block[0]) {
        stk_shard_set_config(u->shard, &config, ext);
    }
}

static void kernel_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    struct stk_row row = {.kind = STK_KIND_KERNEL};
    struct stk_row_ext ext = {0};
    if (!device_row(u, cells, &row, &ext)) {
        return;
    }
    row.name = stk_nsys_name(u, cells, 7, STK_NSYS_AS_IS);
    set_graph(cells, 8, &ext);
    if (stk_wants_grids(u->file->wants)) {
        set_config(u, cells, &ext);
    }
    stk_shard_add(u->shard, &row, &ext);
}

static uint8_t memory_of(int64_t kind)
{
    static const uint8_t memories[] = {STK_MEM_PAGEABLE, STK_MEM_PINNED,  STK_MEM_DEVICE,
                                       STK_MEM_ARRAY,    STK_MEM_MANAGED, STK_MEM_DEVICE,
                                       STK_MEM_MANAGED,  STK_MEM_UNKNOWN};
    return kind >= 0 && kind < 8 ? memories[kind] : STK_MEM_UNKNOWN;
}

static void memcpy_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    // By copyKind; the last three are migrations of unified memory.
    static const struct {
        const char *name;
        uint8_t dir;
    } kinds[] = {{"[CUDA memcpy]", STK_DIR_UNKNOWN},      {"[CUDA memcpy HtoD]", STK_DIR_H2D},
                 {"[CUDA memcpy DtoH]", STK_DIR_D2H},     {"[CUDA memcpy HtoA]", STK_DIR_H2D},
                 {"[CUDA memcpy AtoH]", STK_DIR_D2H},     {"[CUDA memcpy AtoA]", STK_DIR_D2D},
                 {"[CUDA memcpy AtoD]", STK_DIR_D2D},     {"[CUDA memcpy DtoA]", STK_DIR_D2D},
                 {"[CUDA memcpy DtoD]", STK_DIR_D2D},     {"[CUDA memcpy HtoH]", STK_DIR_H2H},
                 {"[CUDA memcpy PtoP]", STK_DIR_P2P},     {"[CUDA UVM memcpy HtoD]", STK_DIR_H2D},
                 {"[CUDA UVM memcpy DtoH]", STK_DIR_D2H}, {"[CUDA UVM memcpy DtoD]", STK_DIR_D2D}};
    struct stk_row row = {.kind = STK_KIND_MEMCPY};
    struct stk_row_ext ext = {0};
    if (!device_row(u, cells, &row, &ext)) {
        return;
    }
    set_bytes(u, cells, 7, &ext);
    int64_t kind = column_or(u, cells, 8, 0);
    if (kind < 0 || kind >= (int64_t)(sizeof kinds / sizeof kinds[0])) {
        kind = 0;
    }
    ext.dir = kinds[kind].dir;
    ext.src_mem = memory_of(column_or(u, cells, 9, -1));
    ext.dst_mem = memory_of(column_or(u, cells, 10, -1));
    set_graph(cells, 11, &ext);
    row.name = stk_shard_intern(u->shard, kinds[kind].name, strlen(kinds[kind].name));
    stk_shard_add(u->shard, &row, &ext);
}

static void memset_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    struct stk_row row = {.kind = STK_KIND_MEMSET};
    struct stk_row_ext ext = {0};
    if (!device_row(u, cells, &row, &ext)) {
        return;
    }
    set_bytes(u, cells, 7, &ext);
    ext.dst_mem = memory_of(column_or(u, cells, 8, -1));
    set_graph(cells, 9, &ext);
    row.name = stk_shard_intern(u->shard, "[CUDA memset]", 13);
    stk_shard_add(u->shard, &row, &ext);
}

// A graph recorded as a whole: one long kernel, since its nodes are not in the file.
static void graph_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    struct stk_row row = {.kind = STK_KIND_KERNEL};
    struct stk_row_ext ext = {.flags = STK_EXT_GRAPH};
    char name[40];
    if (!device_row(u, cells, &row, &ext)) {
        return;
    }
    int64_t graph;
    int n = column_int(u, cells, 7, &graph)
                ? snprintf(name, sizeof name, "CUDA graph %" PRId64, graph)
                : snprintf(name, sizeof name, "CUDA graph");
    row.name = stk_shard_intern(u->shard, name, (size_t)n);
    stk_shard_add(u->shard, &row, &ext);
    stk_shard_issue(u->shard, STK_ISSUE_GRAPH_TRACE, 1, 0, -1, STK_STR(""));
}

static bool host_start(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells,
                       struct stk_row *row)
{
    int64_t global_tid;
    if (!row_times(u, cells, row)) {
        return false;
    }
    if (!column_int(u, cells, 3, &global_tid)) {
        stk_shard_issue(u->shard, STK_ISSUE_FIELD_INVALID, 1, 1, -1, stk_str_from(u->table->name));
        return false;
    }
    row->track = thread_track(u, global_tid);
    row->pos = stk_nsys_pos(u->table, cells->rowid);
    return true;
}

static void runtime_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    struct stk_row row = {.kind = STK_KIND_RUNTIME};
    struct stk_row_ext ext = {0};
    // Class 67 wraps a call that was recorded with a backtrace, and repeats it.
    if (u->file->drop_wrappers && cells->cell[6].integer == 67) {
        stk_shard_count(u->shard, STK_KIND_OTHER, 1);
        return;
    }
    if (!host_start(u, cells, &row)) {
        return;
    }
    ext.has_corr = column_int(u, cells, 4, &ext.corr);
    row.name = stk_nsys_name(u, cells, 5, STK_NSYS_API_VERSION);
    stk_shard_add(u->shard, &row, ext.has_corr ? &ext : NULL);
}

static void host_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    struct stk_row row = {.kind = STK_KIND_HOST_OP};
    if (!host_start(u, cells, &row)) {
        return;
    }
    row.name = stk_nsys_name(u, cells, 4, STK_NSYS_AS_IS);
    stk_shard_add(u->shard, &row, NULL);
}

static void overhead_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    // CUPTI's names, for rows without one.
    static const char *const types[] = {"Profiler overhead",
                                        "Profiler overhead",
                                        "Driver Compiler",
                                        "Buffer Flush",
                                        "Instrumentation",
                                        "Resource",
                                        "Runtime Triggered Module Loading",
                                        "Lazy Function Loading",
                                        "Command Buffer Full"};
    struct stk_row row = {.kind = STK_KIND_OTHER};
    if (!host_start(u, cells, &row)) {
        return;
    }
    row.name = stk_nsys_name(u, cells, 4, STK_NSYS_AS_IS);
    if (!row.name) {
        int64_t type = column_or(u, cells, 5, 0);
        const char *name = types[type >= 0 && type < 9 ? type : 0];
        row.name = stk_shard_intern(u->shard, name, strlen(name));
    }
    stk_shard_add(u->shard, &row, NULL);
}

static void sync_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    static const char *const types[] = {"Synchronization", "Event sync", "Stream wait event",
                                        "Stream sync", "Context sync"};
    struct stk_row row = {.kind = STK_KIND_SYNC};
    if (!row_times(u, cells, &row)) {
        return;
    }
    int64_t process = row_process(u, cells, 3);
    int64_t type = column_or(u, cells, 5, 0);
    const char *name = types[type >= 0 && type < 5 ? type : 0];
    row.track = track_of(u, STK_TRACK_OTHER, process, process, -1, column_or(u, cells, 4, -1));
    row.name = stk_shard_intern(u->shard, name, strlen(name));
    row.pos = stk_nsys_pos(u->table, cells->rowid);
    stk_shard_add(u->shard, &row, NULL);
}

// Which memory, and the block's address where it is recorded.
static size_t memory_details(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells,
                             struct stk_detail *out)
{
    size_t n = 0;
    out[n++] = (struct stk_detail){.key = STK_DETAIL_DEVICE, .number = column_or(u, cells, 3, 0)};
    if (column_int(u, cells, 7, &out[n].number)) {
        out[n++].key = STK_DETAIL_ADDRESS;
    }
    return n;
}

// Bytes are negative where memory is freed.
static void memory_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    struct stk_row row = {.kind = STK_KIND_MEMORY};
    struct stk_row_ext ext = {.flags = STK_EXT_VALUE};
    if (!column_int(u, cells, 1, &row.start_ns) || !column_int(u, cells, 4, &ext.value) ||
        ext.value < 0) {
        stk_shard_issue(u->shard, STK_ISSUE_FIELD_INVALID, 1, 1, -1, stk_str_from(u->table->name));
        return;
    }
    if (column_or(u, cells, 5, 0) == 1) {
        ext.value = -ext.value;
    }
    int64_t process = row_process(u, cells, 2);
    // Not a device track: a device that only allocates has no timeline to judge.
    row.track = track_of(u, STK_TRACK_OTHER, process, process, -1,
                         INT64_C(1) << 32 | (uint32_t)column_or(u, cells, 3, 0));
    row.name = stk_shard_intern(u->shard, "[memory]", 8);
    row.pos = stk_nsys_pos(u->table, cells->rowid);
    ext.dst_mem = memory_of(column_or(u, cells, 6, -1));
    struct stk_detail details[2];
    size_t count = u->file->wants & STK_WANT_MEMORY ? memory_details(u, cells, details) : 0;
    stk_shard_add_detailed(u->shard, &row, &ext, details, count);
}

// A sample of a GPU's own counters. The device is numbered as the machine does, which may differ
// from how the process does; it is no device track for the reason given above.
static void metric_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    struct stk_row row = {.kind = STK_KIND_OTHER};
    int64_t type, metric;
    double value;
    if (!column_int(u, cells, 1, &row.start_ns) || !column_int(u, cells, 2, &type) ||
        !column_int(u, cells, 3, &metric) || !column_real(cells, 4, &value)) {
        stk_shard_issue(u->shard, STK_ISSUE_FIELD_INVALID, 1, 1, -1, stk_str_from(u->table->name));
        return;
    }
    struct stk_str name = stk_nsys_metric_name(u->file, type, metric);
    char unnamed[48];
    if (!name.n) {
        int n = snprintf(unnamed, sizeof unnamed, "metric %" PRId64, metric);
        name = (struct stk_str){unnamed, (size_t)n};
    }
    row.name = stk_shard_intern(u->shard, name.p, name.n);
    row.track = track_of(u, STK_TRACK_COUNTER, type, u->file->default_process, -1, type & 0xff);
    row.pos = stk_nsys_pos(u->table, cells->rowid);
    struct stk_detail details[] = {
        {.key = STK_DETAIL_DEVICE, .number = type & 0xff},
        {.key = STK_DETAIL_SERIES, .text = row.name},
        {.key = STK_DETAIL_VALUE, .real = value},
    };
    stk_shard_add_detailed(u->shard, &row, NULL, details, 3);
}

// "MPI Rank 3", set by MPI's NVTX wrapper as the name of the main thread.
static void thread_name(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells,
                        int64_t global_tid)
{
    struct stk_str name = cells->cell[5].text;
    int64_t rank;
    if (!stk_str_starts(name, STK_STR("MPI Rank "))) {
        return;
    }
    name.p += 9;
    name.n -= 9;
    if (stk_str_to_i64(name, &rank) && rank >= 0 && rank < INT32_MAX) {
        remember(u, &u->ranks, (uint64_t)stk_nsys_global_pid(global_tid), 0, (uint32_t)rank);
    }
}

// The state of the range's name; names are judged once per string id.
static uint8_t *name_state(struct stk_nsys_unit *u, uint32_t sid)
{
    if (sid >= u->name_marks.count) {
        size_t old = u->name_marks.count, count = (size_t)sid + 1;
        if (!stk_vec_push_n(&u->name_marks, count - old)) {
            u->out_of_memory |= count <= u->name_marks.max_count;
            return NULL;
        }
        memset(stk_vec_at(&u->name_marks, old), STK_NSYS_NAME_UNSEEN, count - old);
    }
    return stk_vec_at(&u->name_marks, sid);
}

// Column with the range's name: its own text, or else the id of one.
static int range_column(const struct stk_nsys_cells *cells)
{
    return cells->cell[5].type == STK_NSYS_TEXT ? 5 : 6;
}

// The range's own text, or that of its id. Valid until the row is left.
static struct stk_str range_text(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    const struct stk_nsys_cell *cell = &cells->cell[range_column(cells)];
    if (cell->type == STK_NSYS_TEXT) {
        return cell->text;
    }
    sqlite3_stmt *find = u->names.find;
    struct stk_str text = STK_STR("");
    if (find && cell->type == STK_NSYS_INT) {
        sqlite3_bind_int64(find, 1, cell->integer);
        if (sqlite3_step(find) == SQLITE_ROW) {
            text = (struct stk_str){(const char *)sqlite3_column_text(find, 0),
                                    (size_t)sqlite3_column_bytes(find, 0)};
        }
    }
    return text.p ? text : STK_STR("");
}

// Keep the range back if its name may be that of a step.
static bool keep_mark(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells,
                      const struct stk_row *row, int64_t global_tid)
{
    uint8_t *state = name_state(u, row->name);
    if (!state || *state == STK_NSYS_NAME_PLAIN) {
        return false;
    }
    bool torch;
    struct stk_nsys_mark mark = {.row = *row, .global_tid = global_tid, .unit = u->index};
    struct stk_str text = stk_nsys_strip_nvtx(range_text(u, cells), &torch);
    bool may = stk_nsys_step_parse(text, &mark.family, &mark.number);
    if (u->names.find) {
        sqlite3_reset(u->names.find);
    }
    *state = may ? STK_NSYS_NAME_MARK : STK_NSYS_NAME_PLAIN;
    struct stk_nsys_mark *kept = may ? stk_vec_push(&u->marks) : NULL;
    if (kept) {
        *kept = mark;
    } else {
        u->out_of_memory |= may && u->marks.count < u->marks.max_count;
    }
    return kept != NULL;
}

static void nvtx_row(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells)
{
    enum { MARK = 34, THREAD_NAME = 39, PUSH_POP = 59, START_END = 60 };
    struct stk_row row = {.kind = STK_KIND_ANNOTATION};
    int64_t type = column_or(u, cells, 3, PUSH_POP), global_tid;
    if (type == THREAD_NAME && column_int(u, cells, 4, &global_tid)) {
        thread_name(u, cells, global_tid);
    }
    if (type != PUSH_POP && type != START_END && type != MARK) {
        stk_shard_count(u->shard, STK_KIND_OTHER, 1);
        return;
    }
    bool timed = type == MARK ? column_int(u, cells, 1, &row.start_ns) : row_times(u, cells, &row);
    if (!timed || !column_int(u, cells, 4, &global_tid)) {
        if (timed || type == MARK) {
            stk_shard_issue(u->shard, STK_ISSUE_FIELD_INVALID, 1, 1, -1,
                            stk_str_from(u->table->name));
        }
        return;
    }
    row.track = thread_track(u, global_tid);
    row.pos = stk_nsys_pos(u->table, cells->rowid);
    row.name = stk_nsys_name(u, cells, range_column(cells), STK_NSYS_NVTX);
    if (type == MARK || !keep_mark(u, cells, &row, global_tid)) {
        stk_shard_add(u->shard, &row, NULL);
    }
}

const struct stk_nsys_table stk_nsys_tables[] = {
#define T(number, name, handler, columns) {number, name, columns, handler##_row},
#include "profile/readers/nsys/nsys_tables.def"
#undef T
};
const int stk_nsys_table_count = sizeof stk_nsys_tables / sizeof stk_nsys_tables[0];
_Static_assert(sizeof stk_nsys_tables / sizeof stk_nsys_tables[0] <= STK_NSYS_TABLES_MAX,
               "raise STK_NSYS_TABLES_MAX");
