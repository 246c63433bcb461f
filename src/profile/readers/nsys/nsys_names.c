// SPDX-License-Identifier: Apache-2.0
// Names. Nearly all columns of an export hold an id of the table StringIds; each unit of work keeps
// an array from that id to the string id of its shard, so that a name costs one lookup and text is
// read once. Suffixes that profilers append are removed before a string is stored:
//   cudaLaunchKernel_v7000           the version of the API entry: one "_v" and 4 or more digits
//   aten::copy_, op_id = 991065      PyTorch's emit_nvtx: ", op_id = N", ", seq = N",
//                                    ", sizes = [...]", ", input_op_ids = [...]"
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include "base/alloc.h"

#define DENSE_MAX (4u << 20) // ids below get a slot of an array, others of a map
#define LOOSE_MAX (8u << 20) // strings read beforehand if their id isn't the rowid
#define LOOSE_BYTES_MAX (512u << 20)

struct stk_str stk_nsys_strip_version(struct stk_str name)
{
    size_t digits = 0;
    while (digits < name.n && name.p[name.n - 1 - digits] >= '0' &&
           name.p[name.n - 1 - digits] <= '9') {
        digits++;
    }
    size_t rest = name.n - digits;
    if (digits >= 4 && rest > 2 && name.p[rest - 1] == 'v' && name.p[rest - 2] == '_') {
        name.n = rest - 2;
    }
    return name;
}

struct stk_str stk_nsys_strip_nvtx(struct stk_str name, bool *torch)
{
    static const struct stk_str suffixes[] = {
        {", op_id = ", 10}, {", seq = ", 8}, {", sizes = [", 11}, {", input_op_ids = [", 18}};
    const char *p = name.p, *end = name.p + name.n;
    while (p < end && (p = memchr(p, ',', (size_t)(end - p)))) {
        struct stk_str rest = {p, (size_t)(end - p)};
        for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
            if (stk_str_starts(rest, suffixes[i])) {
                *torch = true;
                name.n = (size_t)(p - name.p);
                return name;
            }
        }
        p++;
    }
    return name;
}

static enum stoker_status read_loose(struct stk_nsys_schema *schema, struct stk_nsys_file *file,
                                     struct stk_shard *shard, struct stoker_err *err)
{
    sqlite3_stmt *st = stk_nsys_select(schema, "StringIds", "!id,!value", "");
    if (!st) {
        return STOKER_OK; // names stay unknown
    }
    enum stoker_status status = STOKER_OK;
    int rc;
    stk_map_init(&file->loose_ids, LOOSE_MAX);
    if (stk_strpool_init(&file->loose, LOOSE_BYTES_MAX)) {
        status = stk_err_nomem(err);
    }
    while (status == STOKER_OK && (rc = sqlite3_step(st)) != SQLITE_DONE) {
        if (rc != SQLITE_ROW) {
            stk_shard_issue(shard, STK_ISSUE_TABLE_UNREADABLE, 1, 0, -1, STK_STR("StringIds"));
            file->lacks_strings = true;
            break;
        }
        const char *text = (const char *)sqlite3_column_text(st, 1);
        size_t n = (size_t)sqlite3_column_bytes(st, 1);
        uint32_t id = stk_strpool_intern(&file->loose, text ? text : "", text ? n : 0);
        if (id == STK_STRPOOL_FAILED ||
            !stk_map_put(&file->loose_ids, (uint64_t)sqlite3_column_int64(st, 0), 0, id, NULL)) {
            stk_shard_issue(shard, STK_ISSUE_LIMIT_REACHED, 1, 0, -1, STK_STR("StringIds"));
            break;
        }
    }
    sqlite3_finalize(st);
    return status;
}

// Whether the column `id` is the table's rowid under another name.
static bool id_is_rowid(sqlite3 *db)
{
    sqlite3_stmt *st = NULL;
    bool is = false;
    int keys = 0;
    if (sqlite3_prepare_v2(db, "PRAGMA table_info(\"StringIds\")", -1, &st, NULL) == SQLITE_OK) {
        while (sqlite3_step(st) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(st, 1);
            const char *type = (const char *)sqlite3_column_text(st, 2);
            bool key = sqlite3_column_int(st, 5) > 0;
            keys += key;
            is |= key && name && type && strcmp(name, "id") == 0 &&
                  stk_str_eq_nocase(stk_str_from(type), STK_STR("INTEGER"));
        }
    }
    sqlite3_finalize(st);
    return is && keys == 1;
}

enum stoker_status stk_nsys_strings_open(struct stk_nsys_schema *schema, struct stk_nsys_file *file,
                                         struct stk_shard *shard, struct stoker_err *err)
{
    file->has_strings = stk_nsys_has_column(schema, "StringIds", "value");
    if (!file->has_strings) {
        return STOKER_OK;
    }
    file->strings_by_rowid = id_is_rowid(schema->db);
    if (!file->strings_by_rowid) {
        return read_loose(schema, file, shard, err);
    }
    sqlite3_stmt *st = stk_nsys_select(schema, "StringIds", "!id", "ORDER BY rowid DESC LIMIT 1");
    if (st && sqlite3_step(st) == SQLITE_ROW) {
        file->string_max_id = sqlite3_column_int64(st, 0);
    }
    sqlite3_finalize(st);
    return STOKER_OK;
}

void stk_nsys_strings_close(struct stk_nsys_file *file)
{
    if (!file->has_strings || file->strings_by_rowid) {
        return;
    }
    stk_strpool_deinit(&file->loose);
    stk_map_deinit(&file->loose_ids);
}

sqlite3_stmt *stk_nsys_names_prepare(sqlite3 *db, const struct stk_nsys_file *file)
{
    static const char sql[] = "SELECT \"value\" FROM \"StringIds\" NOT INDEXED WHERE rowid = ?1";
    sqlite3_stmt *find = NULL;
    return file->strings_by_rowid && sqlite3_prepare_v2(db, sql, -1, &find, NULL) == SQLITE_OK
               ? find
               : NULL;
}

void stk_nsys_names_init(struct stk_nsys_names *names, const struct stk_nsys_file *file,
                         sqlite3_stmt *find)
{
    size_t wanted = file->string_max_id < 0           ? 0
                    : file->string_max_id < DENSE_MAX ? (size_t)file->string_max_id + 1
                                                      : DENSE_MAX;
    *names = (struct stk_nsys_names){.find = find};
    stk_map_init(&names->sparse, DENSE_MAX);
    names->dense = wanted ? stk_alloc_zero(wanted, sizeof *names->dense) : NULL;
    names->dense_count = names->dense ? wanted : 0; // without memory for it, the map is used
}

void stk_nsys_names_deinit(struct stk_nsys_names *names)
{
    stk_free(names->dense);
    stk_map_deinit(&names->sparse);
    names->dense = NULL;
    names->dense_count = 0;
}

static uint32_t store_text(struct stk_nsys_unit *u, struct stk_str text, enum stk_nsys_strip strip)
{
    if (strip == STK_NSYS_API_VERSION) {
        text = stk_nsys_strip_version(text);
    } else if (strip == STK_NSYS_NVTX) {
        text = stk_nsys_strip_nvtx(text, &u->saw_torch);
    }
    return stk_shard_intern(u->shard, text.p, text.n);
}

static uint32_t store_id(struct stk_nsys_unit *u, int64_t id, enum stk_nsys_strip strip)
{
    uint32_t sid = 0;
    bool known = false;
    sqlite3_stmt *find = u->names.find;
    if (find) {
        sqlite3_bind_int64(find, 1, id);
        if (sqlite3_step(find) == SQLITE_ROW) {
            const char *text = (const char *)sqlite3_column_text(find, 0);
            size_t n = (size_t)sqlite3_column_bytes(find, 0);
            sid = store_text(u, (struct stk_str){text ? text : "", text ? n : 0}, strip);
            known = true;
        }
        sqlite3_reset(find);
    } else if (u->file->has_strings && !u->file->strings_by_rowid) {
        const uint32_t *loose = stk_map_get(&u->file->loose_ids, (uint64_t)id, 0);
        known = loose != NULL;
        if (known) {
            sid = store_text(u, stk_strpool_get(&u->file->loose, *loose), strip);
        }
    }
    if (!known) {
        stk_shard_issue(u->shard, STK_ISSUE_FIELD_INVALID, 1, 0, -1,
                        STK_STR("a name's id is not in StringIds"));
    }
    return sid;
}

uint32_t stk_nsys_name(struct stk_nsys_unit *u, const struct stk_nsys_cells *cells, int col,
                       enum stk_nsys_strip strip)
{
    STK_ASSERT(col >= 0 && col < STK_NSYS_CELLS_MAX);
    const struct stk_nsys_cell *cell = &cells->cell[col];
    if (cell->type == STK_NSYS_TEXT) {
        return store_text(u, cell->text, strip);
    }
    if (cell->type != STK_NSYS_INT) {
        return 0;
    }
    int64_t id = cell->integer;
    struct stk_nsys_names *names = &u->names;
    if (id >= 0 && (uint64_t)id < names->dense_count) {
        if (!names->dense[id]) {
            names->dense[id] = store_id(u, id, strip) + 1;
        }
        return names->dense[id] - 1;
    }
    const uint32_t *cached = stk_map_get(&names->sparse, (uint64_t)id, 0);
    if (cached) {
        return *cached;
    }
    uint32_t sid = store_id(u, id, strip);
    stk_map_put(&names->sparse, (uint64_t)id, 0, sid, NULL); // if full, it is looked up again
    return sid;
}
