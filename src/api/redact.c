// SPDX-License-Identifier: Apache-2.0
// --redact: nothing in the report may reveal a host, a path, or a user's name for something. It is
// applied to the summaries before any text is made from them, so analyses and rules need not know
// about it. Names that reveal nothing about the user stay (public_name.h). Everything else becomes
// "name-7", the same number for the same text within a report. In a trace that stays readable, its
// classes follow ("name-7 [fetch]"), so its readers reach the same verdict.
#include <string.h>

#include "api/api.h"
#include "api/public_name.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "profile/store/names_said.h"

#define PATH_STEP " > "
enum { PATH_MAX_STEPS = 64, TYPE_LETTERS = 12 };

enum redacted { HOST, PATH, NAME, TRACK, DEVICE, PRODUCER, KINDS };
static const char *const words[KINDS] = {"host", "input", "name", "track", "device", "profiler"};

struct redactor {
    struct stk_map numbers; // hash of (kind, text) -> number
    struct stk_arena *arena;
    uint32_t last[KINDS];
    bool failed;
};

static const char *replace(struct redactor *r, enum redacted kind, const char *text)
{
    if (!text || !*text || r->failed) {
        return text;
    }
    int created = 0;
    uint32_t *number = stk_map_put(&r->numbers, stk_hash_table_bytes(text, strlen(text)),
                                   (uint64_t)kind, r->last[kind] + 1, &created);
    char *out = number ? stk_arena_printf(r->arena, "%s-%u", words[kind], *number) : NULL;
    if (created) {
        r->last[kind]++;
    }
    if (!out) {
        r->failed = true;
    }
    return out ? out : "";
}

// A name without " > ": what a framework puts around a private name stays.
static const char *redact_part(struct redactor *r, const char *part)
{
    if (stk_public_name(part)) {
        return part;
    }
    const struct stk_public_frame *f = stk_public_frame_of(part);
    if (!f) {
        return replace(r, NAME, part);
    }
    size_t before = strlen(f->before), n = strlen(part) - before - strlen(f->after);
    const char *inner = stk_arena_strndup(r->arena, part + before, n);
    char *out =
        inner ? stk_arena_printf(r->arena, "%s%s%s", f->before, replace(r, NAME, inner), f->after)
              : NULL;
    r->failed |= !out;
    return out ? out : "";
}

// For a path ("A > B"), each name by itself; a very long path counts as one name.
static const char *redact_name(struct redactor *r, const char *name)
{
    const char *parts[PATH_MAX_STEPS], *at = name, *end;
    size_t count = 0, n = 1;
    if (name && stk_public_name(name)) { // templates end like this, too: "f<g<int> >(int)"
        return name;
    }
    while (name && count < PATH_MAX_STEPS && (end = strstr(at, PATH_STEP)) != NULL) {
        parts[count++] = stk_arena_strndup(r->arena, at, (size_t)(end - at));
        at = end + sizeof PATH_STEP - 1;
    }
    if (!name || !*name || count == PATH_MAX_STEPS) {
        return replace(r, NAME, name);
    }
    if (count == 0) {
        return redact_part(r, name);
    }
    parts[count++] = at;
    for (size_t i = 0; i < count; i++) {
        parts[i] = parts[i] && *parts[i] ? redact_part(r, parts[i]) : "";
        n += strlen(parts[i]) + sizeof PATH_STEP - 1;
    }
    char *out = stk_arena_array(r->arena, n, 1), *to = out;
    for (size_t i = 0; out && i < count; i++) {
        to = stpcpy(stpcpy(to, i ? PATH_STEP : ""), parts[i]);
    }
    r->failed |= !out;
    return out ? out : "";
}

// "thread 1890023232" and "GPU 0 stream 7" reveal nothing; a named thread may.
static const char *redact_track(struct redactor *r, const char *track)
{
    static const char allowed[] = "0123456789 /";
    if (!track) {
        return NULL;
    }
    for (const char *p = track; *p;) {
        size_t n = strspn(p, allowed);
        if (n == 0) {
            static const char *const nouns[] = {"thread", "stream", "GPU",    "TPU",
                                                "device", "rank",   "process"};
            for (size_t i = 0; i < sizeof nouns / sizeof nouns[0] && n == 0; i++) {
                if (strncmp(p, nouns[i], strlen(nouns[i])) == 0) {
                    n = strlen(nouns[i]);
                }
            }
        }
        if (n == 0) {
            return replace(r, TRACK, track);
        }
        p += n;
    }
    return track;
}

static const char *redact_product(struct redactor *r, enum redacted kind, const char *name)
{
    return name && stk_public_product(name) ? name : replace(r, kind, name);
}

static void redact_example(struct redactor *r, struct stk_example *e)
{
    e->name = redact_name(r, e->name);
    e->track = redact_track(r, e->track);
}

static void redact_cause(struct redactor *r, struct stk_cause *c)
{
    for (int i = 0; i < c->name_count; i++) {
        c->names[i].name = redact_name(r, c->names[i].name);
    }
    for (int i = 0; i < c->owner_count; i++) {
        c->owners[i].name = redact_name(r, c->owners[i].name);
    }
    for (int i = 0; i < c->example_count; i++) {
        redact_example(r, &c->examples[i]);
    }
}

// "what|where|stage|percent" without the second part, the user's source line.
static const char *redact_limit(struct redactor *r, const char *limit)
{
    const char *where = limit ? strchr(limit, '|') : NULL,
               *rest = where ? strchr(where + 1, '|') : NULL;
    if (!rest) {
        return NULL;
    }
    char *out = stk_arena_printf(r->arena, "%.*s|%s", (int)(where - limit), limit, rest);
    r->failed |= !out;
    return out;
}

// "0", "2568473/0"; from "/host:worker-7/device:GPU:0" only the device.
static const char *redact_source(struct redactor *r, const char *id)
{
    const char *device = id ? strstr(id, "/device:") : NULL;
    const char *p = device ? device + sizeof "/device:" - 1 : id;
    if (device) {
        p += strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        p += p - device <= TYPE_LETTERS && *p == ':';
    }
    bool is_plain = p && p[strspn(p, "0123456789/")] == 0;
    return !is_plain ? replace(r, NAME, id) : device ? device : id;
}

static void redact_collectives(struct redactor *r, struct stk_collective_class *c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        c[i].name = redact_name(r, c[i].name);
        c[i].group = redact_name(r, c[i].group);
    }
}

static void redact_kernels(struct redactor *r, struct stk_kernel_work *k)
{
    for (int i = 0; i < STK_KERNEL_KINDS; i++) {
        k->longest[i] = redact_name(r, k->longest[i]);
    }
    k->grids.emptiest = redact_name(r, k->grids.emptiest);
}

// A type is "f32[8,82,64]", or text from the program.
static const char *redact_type(struct redactor *r, const char *type)
{
    static const char known[] = "0123456789[](){},:*? <=";
    const char *letters = type ? type + strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789") : NULL;
    bool is_plain = type && letters - type <= TYPE_LETTERS && letters[strspn(letters, known)] == 0;
    return is_plain ? type : replace(r, NAME, type);
}

static void redact_recompiled(struct redactor *r, struct stk_recompiled *c)
{
    c->name = redact_name(r, c->name);
    c->function = redact_name(r, c->function);
    for (int k = 0; k < STK_CHANGED; k++) {
        c->changed[k].name = redact_name(r, c->changed[k].name);
        for (int t = 0; t < STK_CHANGED_TYPES; t++) {
            c->changed[k].types[t] = redact_type(r, c->changed[k].types[t]);
        }
    }
}

static void redact_rank(struct redactor *r, struct stk_rank_sum *rank)
{
    rank->host = replace(r, HOST, rank->host);
    redact_example(r, &rank->facts.first_use);
    for (uint32_t d = 0; d < rank->device_count; d++) {
        struct stk_device_sum *dev = &rank->devices[d];
        dev->host = replace(r, HOST, dev->host);
        dev->name = redact_product(r, DEVICE, dev->name);
        dev->source_id = redact_source(r, dev->source_id);
    }
    redact_collectives(r, rank->collective_classes, rank->collective_class_count);
    redact_kernels(r, &rank->facts.kernels);
    rank->facts.accelerator = redact_product(r, DEVICE, rank->facts.accelerator);
    rank->facts.input_limit = redact_limit(r, rank->facts.input_limit);
    rank->facts.recorded_limit = redact_limit(r, rank->facts.recorded_limit);
    rank->facts.long_what = redact_name(r, rank->facts.long_what);
    rank->facts.warm_up_what = redact_name(r, rank->facts.warm_up_what);
    rank->facts.input_filler = redact_name(r, rank->facts.input_filler);
    rank->facts.owner_calls = redact_name(r, rank->facts.owner_calls);
    rank->facts.owner_calling = redact_name(r, rank->facts.owner_calling);
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        rank->facts.told[i] = redact_name(r, rank->facts.told[i]);
    }
    for (int i = 0; i < STK_RECOMPILED; i++) {
        redact_recompiled(r, &rank->facts.recompiled[i]);
    }
    rank->slow_stage.stage = redact_name(r, rank->slow_stage.stage);
    rank->slow_stage.next = redact_name(r, rank->slow_stage.next);
    rank->facts.first_use.name = redact_name(r, rank->facts.first_use.name);
    for (int p = 0; p < STK_PART_COUNT; p++) {
        redact_cause(r, &rank->causes[p]);
    }
}

// Threads are named by the user's program; disks and GPUs are not.
static void redact_machine(struct redactor *r, struct stk_machine *m)
{
    for (uint32_t i = 0; m && i < m->series_count; i++) {
        enum stk_sample_scope scope = stk_sample_info(m->series[i].sample)->scope;
        bool is_users = scope == STK_SAMPLE_THREAD || scope == STK_SAMPLE_PROCESS;
        if (is_users && m->series[i].name[0]) {
            m->series[i].name = redact_name(r, m->series[i].name);
        }
    }
}

enum stoker_status stk_redact(struct stk_job *jobs, size_t count, struct stk_arena *arena,
                              struct stoker_err *err)
{
    struct redactor r = {.arena = arena};
    stk_map_init(&r.numbers, 1u << 22);
    for (size_t i = 0; i < count; i++) {
        struct stk_input_info *info = &jobs[i].info;
        info->path = replace(&r, PATH, info->path);
        info->producer = redact_product(&r, PRODUCER, info->producer);
        jobs[i].workers.item = redact_name(&r, jobs[i].workers.item);
        redact_machine(&r, jobs[i].machine);
        memset(info->issue_notes, 0, sizeof info->issue_notes); // notes may quote anything
        for (uint32_t k = 0; jobs[i].status == STOKER_OK && k < jobs[i].rank_count; k++) {
            redact_rank(&r, jobs[i].ranks[k]);
        }
    }
    stk_map_deinit(&r.numbers);
    return r.failed ? stk_err_nomem(err) : STOKER_OK;
}

static const char *redact_text(struct redactor *r, enum redacted kind, const char *text)
{
    switch (kind) {
    case NAME:
        return redact_name(r, text);
    case TRACK:
        return redact_track(r, text);
    case DEVICE:
    case PRODUCER:
        return redact_product(r, kind, text);
    default:
        return replace(r, kind, text);
    }
}

// The replacement of a name, with the name's classes, unless a public name around it already shows
// them.
static const char *say_classes(struct redactor *r, const char *replaced, uint32_t classes)
{
    char said[STK_NAME_SAID_MAX];
    if (!classes || !stk_str_starts(stk_str_from(replaced), STK_STR(STK_NAME_REPLACED)) ||
        strstr(replaced, PATH_STEP)) {
        return replaced;
    }
    stk_name_say(classes, said);
    const char *out = stk_arena_printf(r->arena, "%s%s", replaced, said);
    r->failed |= !out;
    return out ? out : "";
}

static bool redact_pool(struct redactor *r, struct stk_trace *t)
{
    uint32_t *classes = stk_names_classify(t);
    uint8_t *role = stk_alloc_zero((size_t)t->strings.count + 1, 1); // enum redacted + 1; 0: keep
    if (!role || !classes) {
        stk_free(role);
        stk_free(classes);
        return false;
    }
    memset(role, NAME + 1, t->strings.count);
    role[0] = 0;
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (t->tracks[k].name) {
            role[t->tracks[k].name] = TRACK + 1;
        }
    }
    for (uint32_t e = 0; e < t->count; e++) { // an event's name may also be a track's
        role[t->name[e]] = t->name[e] ? NAME + 1 : 0;
    }
    for (uint32_t d = 0; d < t->device_count; d++) {
        role[t->devices[d].name] = DEVICE + 1;
    }
    for (uint32_t p = 0; p < t->process_count; p++) {
        if (t->processes[p].host) {
            role[t->processes[p].host] = HOST + 1;
        }
    }
    if (t->host) {
        role[t->host] = HOST + 1;
    }
    role[t->producer] = t->producer ? PRODUCER + 1 : 0;
    for (uint32_t i = 1; i < t->strings.count && !r->failed; i++) {
        const char *text = t->strings.strings[i];
        const char *new = role[i] ? redact_text(r, (enum redacted)(role[i] - 1), text) : text;
        if (new != text) {
            new = say_classes(r, new, classes[i]);
            t->strings.lengths[i] = (uint32_t)strlen(new);
        }
        t->strings.strings[i] = new;
    }
    stk_strpool_reindex(&t->strings);
    stk_free(role);
    stk_free(classes);
    return !r->failed;
}

enum stoker_status stk_redact_traces(struct stk_job *jobs, size_t count, struct stk_arena *arena,
                                     struct stoker_err *err)
{
    struct redactor r = {.arena = arena};
    bool ok = true;
    stk_map_init(&r.numbers, 1u << 22);
    for (size_t i = 0; i < count && ok; i++) {
        ok = !jobs[i].trace || redact_pool(&r, jobs[i].trace);
    }
    stk_map_deinit(&r.numbers);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

static void redact_doc(struct redactor *r, struct stk_table_doc *doc)
{
    for (size_t i = 0; i < doc->table_count; i++) {
        struct stk_table *table = &doc->tables[i];
        struct stk_cell *cells = table->cells.items;
        for (size_t n = 0; n < table->cells.count; n++) {
            if (table->columns[n % table->column_count].is_name && cells[n].known) {
                cells[n].text = redact_name(r, cells[n].text);
            }
        }
    }
    for (size_t i = 0; i < doc->summary_count; i++) {
        if (doc->summary[i].is_name && doc->summary[i].value.known) {
            doc->summary[i].value.text = redact_name(r, doc->summary[i].value.text);
        }
    }
}

enum stoker_status stk_redact_tables(struct stk_table_doc *docs, size_t count,
                                     struct stk_arena *arena, struct stoker_err *err)
{
    struct redactor r = {.arena = arena};
    stk_map_init(&r.numbers, 1u << 22);
    for (size_t i = 0; i < count; i++) {
        redact_doc(&r, &docs[i]);
    }
    stk_map_deinit(&r.numbers);
    return r.failed ? stk_err_nomem(err) : STOKER_OK;
}

// Names of both sides are in one list, so they stay aligned.
enum stoker_status stk_redact_diff(struct stk_diff *diff, struct stk_arena *arena,
                                   struct stoker_err *err)
{
    struct redactor r = {.arena = arena};
    const struct stk_list *lists[] = {&diff->kernels, &diff->ops};
    stk_map_init(&r.numbers, 1u << 22);
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        struct stk_diff_name *rows = (struct stk_diff_name *)(uintptr_t)lists[k]->items;
        for (size_t i = 0; i < lists[k]->count; i++) {
            rows[i].name = redact_name(&r, rows[i].name);
        }
    }
    stk_map_deinit(&r.numbers);
    return r.failed ? stk_err_nomem(err) : STOKER_OK;
}

static void redact_rows(struct redactor *r, const struct stk_list *list)
{
    struct stk_whatif_path_row *rows = (struct stk_whatif_path_row *)(uintptr_t)list->items;
    for (size_t i = 0; i < list->count; i++) {
        rows[i].name = redact_name(r, rows[i].name);
    }
}

enum stoker_status stk_redact_critical(struct stk_whatif_critical *path, struct stk_arena *arena,
                                       struct stoker_err *err)
{
    struct redactor r = {.arena = arena};
    stk_map_init(&r.numbers, 1u << 22);
    redact_rows(&r, &path->names);
    redact_rows(&r, &path->beside);
    struct stk_whatif_path_event *events =
        (struct stk_whatif_path_event *)(uintptr_t)path->events.items;
    for (size_t i = 0; i < path->events.count; i++) {
        events[i].name = redact_name(&r, events[i].name);
        events[i].where = redact_track(&r, events[i].where);
    }
    stk_map_deinit(&r.numbers);
    return r.failed ? stk_err_nomem(err) : STOKER_OK;
}
