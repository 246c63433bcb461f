// SPDX-License-Identifier: Apache-2.0
// Takes staged rows in file order and passes them to the builder, in a new shard every
// STK_CHROME_SHARD_BLOCKS blocks. So neither order nor ids depend on the workers.
#include "profile/readers/trace_event/chrome_sink.h"

#include "base/alloc.h"
#include "base/assert.h"

#define METAS_MAX (1u << 24)

bool stk_chrome_sink_init(struct stk_chrome_sink *k, struct stk_build *build)
{
    memset(k, 0, sizeof *k);
    k->build = build;
    stk_arena_init(&k->arena, 0);
    stk_vec_init(&k->tracks, sizeof(struct stk_chrome_sink_track), STK_TRACKS_MAX);
    stk_map_init(&k->track_map, STK_TRACKS_MAX);
    stk_vec_init(&k->metas, sizeof(struct stk_chrome_meta), METAS_MAX);
    stk_map_init(&k->meta_map, METAS_MAX);
    stk_vec_init(&k->halves, sizeof(struct stk_chrome_half), UINT32_MAX - 1);
    k->shard = stk_build_shard(build);
    k->shard_number = 1;
    k->blocks_left = STK_CHROME_SHARD_BLOCKS;
    return stk_strpool_init(&k->half_names, 0) == 0 && k->shard;
}

void stk_chrome_sink_deinit(struct stk_chrome_sink *k)
{
    stk_arena_deinit(&k->arena);
    stk_vec_deinit(&k->tracks);
    stk_map_deinit(&k->track_map);
    stk_vec_deinit(&k->metas);
    stk_map_deinit(&k->meta_map);
    stk_vec_deinit(&k->halves);
    stk_strpool_deinit(&k->half_names);
}

static struct stk_str keep(struct stk_chrome_sink *k, struct stk_str text)
{
    char *p = text.n ? stk_arena_strndup(&k->arena, text.p, text.n) : NULL;
    k->failed |= text.n && !p;
    return p ? (struct stk_str){p, text.n} : STK_STR("");
}

static uint32_t new_track(struct stk_chrome_sink *k, const struct stk_chrome_track *from)
{
    struct stk_chrome_sink_track *t = stk_vec_push(&k->tracks);
    if (!t) {
        k->failed = true;
        return STK_NONE;
    }
    *t = (struct stk_chrome_sink_track){
        .key = from->key, .pid = from->pid, .tid = from->tid, .rank = -1};
    t->key.sid = keep(k, from->key.sid);
    t->pid.text = keep(k, from->pid.text);
    t->tid.text = keep(k, from->tid.text);
    return (uint32_t)k->tracks.count - 1;
}

// The sink's track for one of the worker's; NULL: no memory, or too many tracks.
static struct stk_chrome_sink_track *sink_track(struct stk_chrome_sink *k,
                                                struct stk_chrome_track *t)
{
    if (t->sink_track == STK_NONE) {
        uint32_t *at = stk_map_put(&k->track_map, t->hash_a, t->hash_b, STK_NONE, NULL);
        if (at && *at == STK_NONE) {
            *at = new_track(k, t);
        }
        t->sink_track = at ? *at : STK_NONE;
    }
    if (t->sink_track == STK_NONE) {
        k->failed |= k->tracks.count < STK_TRACKS_MAX;
        return NULL;
    }
    struct stk_chrome_sink_track *to = stk_vec_at(&k->tracks, t->sink_track);
    if (t->rank >= 0) {
        to->rank = t->rank;
    }
    return to;
}

// An event of a track beyond the cap. Ends of pairs were counted when they were read.
static void leave_out(struct stk_chrome_sink *k, uint64_t pos, bool was_counted)
{
    struct stk_chrome_issue one = {1, 1, pos, {"", 0}};
    stk_chrome_issue_merge(&k->total.issues[STK_ISSUE_TRACKS_LEFT_OUT], &one);
    k->total.by_kind[STK_KIND_OTHER] += !was_counted;
}

static uint32_t shard_track(struct stk_chrome_sink *k, struct stk_chrome_sink_track *t)
{
    if (t->shard_number != k->shard_number) {
        t->shard_track = stk_shard_track(k->shard, &t->key);
        t->shard_number = k->shard_number;
    }
    return t->shard_track;
}

static void next_shard(struct stk_chrome_sink *k)
{
    struct stk_shard *fresh = stk_shard_failed(k->shard) ? NULL : stk_build_shard(k->build);
    k->failed |= !fresh && !stk_shard_failed(k->shard);
    if (!fresh) {
        return;
    }
    k->shard = fresh;
    k->shard_number++;
    k->blocks_left = STK_CHROME_SHARD_BLOCKS;
}

// Make s->name_in_shard fit the worker's names and the current shard.
static bool prepare_names(struct stk_chrome_sink *k, struct stk_chrome_stager *s)
{
    size_t known = s->names_in_shard;
    if (s->names.count > known) {
        size_t count = s->names.count + s->names.count / 2;
        uint32_t *grown = stk_realloc_array(s->name_in_shard, count, sizeof *grown);
        if (!grown) {
            return false;
        }
        s->name_in_shard = grown;
        s->names_in_shard = count;
    }
    if (s->shard_number != k->shard_number) {
        s->shard_number = k->shard_number;
        known = 0;
    }
    for (size_t i = known; i < s->names_in_shard; i++) {
        s->name_in_shard[i] = STK_NONE;
    }
    return true;
}

static uint32_t shard_name(struct stk_chrome_sink *k, struct stk_chrome_stager *s, uint32_t id)
{
    STK_ASSERT(id < s->names.count);
    uint32_t *name = &s->name_in_shard[id];
    if (*name == STK_NONE) {
        struct stk_str text = stk_strpool_get(&s->names, id);
        *name = stk_shard_intern(k->shard, text.p, text.n);
    }
    return *name;
}

// Details of row `row`, copied to out; *at moves past them.
static size_t take_details(struct stk_chrome_sink *k, struct stk_chrome_stager *s, size_t row,
                           size_t *at, struct stk_detail *out)
{
    STK_ASSERT(row < s->rows.count);
    size_t n = 0;
    for (; *at < s->details.count; ++*at) {
        const struct stk_chrome_detail *d = stk_vec_at(&s->details, *at);
        if (d->row > row) {
            break;
        }
        if (d->row < row || n == STK_CHROME_DETAILS_MAX) {
            continue;
        }
        out[n] = d->detail;
        if (stk_detail_type_of(out[n].key) == STK_DETAIL_TEXT) {
            out[n].text = shard_name(k, s, out[n].text);
        }
        n++;
    }
    return n;
}

// Launch configuration of row `row`; *at moves past it.
static void take_config(struct stk_chrome_sink *k, struct stk_chrome_stager *s, size_t row,
                        size_t *at, struct stk_row_ext *ext)
{
    STK_ASSERT(row < s->rows.count);
    for (; *at < s->configs.count; ++*at) {
        const struct stk_chrome_config *c = stk_vec_at(&s->configs, *at);
        if (c->row > row) {
            return;
        }
        if (c->row == row) {
            stk_shard_set_config(k->shard, &c->config, ext);
        }
    }
}

static void take_rows(struct stk_chrome_sink *k, struct stk_chrome_stager *s)
{
    struct stk_chrome_staged *g = s->rows.items;
    struct stk_detail details[STK_CHROME_DETAILS_MAX];
    size_t detail = 0, config = 0;
    uint32_t last = STK_NONE;
    struct stk_chrome_sink_track *t = NULL;
    for (size_t i = 0; i < s->rows.count; i++, g++) {
        if (g->row.track == STK_NONE) {
            continue;
        }
        if (g->row.track != last) {
            last = g->row.track;
            t = sink_track(k, stk_vec_at(&s->tracks, last));
        }
        if (!t) {
            leave_out(k, g->row.pos, false);
            continue;
        }
        g->row.name = shard_name(k, s, g->row.name);
        g->row.track = shard_track(k, t);
        t->rows++;
        t->calls += g->row.kind == STK_KIND_RUNTIME;
        if (config < s->configs.count) {
            take_config(k, s, i, &config, &g->ext);
        }
        size_t n = detail < s->details.count ? take_details(k, s, i, &detail, details) : 0;
        stk_shard_add_detailed(k->shard, &g->row, &g->ext, details, n);
    }
}

void stk_chrome_sink_add(struct stk_chrome_sink *k, struct stk_row *row)
{
    static const struct stk_row_ext none;
    struct stk_chrome_sink_track *t = stk_vec_at(&k->tracks, row->track);
    struct stk_str name = stk_strpool_get(&k->half_names, row->name);
    row->name = stk_shard_intern(k->shard, name.p, name.n);
    row->track = shard_track(k, t);
    t->rows++;
    t->calls += row->kind == STK_KIND_RUNTIME;
    stk_shard_add(k->shard, row, &none);
}

static void take_half(struct stk_chrome_sink *k, struct stk_chrome_stager *s,
                      const struct stk_chrome_half *half)
{
    if (half->track == STK_NONE) {
        return;
    }
    struct stk_chrome_track *t = stk_vec_at(&s->tracks, half->track);
    if (!sink_track(k, t)) {
        leave_out(k, half->pos, !half->begins);
        return;
    }
    struct stk_str name = stk_strpool_get(&s->names, half->name);
    uint32_t id = stk_strpool_intern(&k->half_names, name.p, name.n);
    struct stk_chrome_half *kept = stk_vec_push(&k->halves);
    if (!kept || id == STK_STRPOOL_FAILED) {
        k->failed = true;
        return;
    }
    *kept = *half;
    kept->name = id;
    kept->track = t->sink_track;
}

static void take_meta(struct stk_chrome_sink *k, struct stk_chrome_stager *s,
                      const struct stk_chrome_meta *m)
{
    int created;
    const struct stk_chrome_id none = {{"", 0}, 0};
    const struct stk_chrome_id *thread = m->type == STK_CHROME_THREAD_NAME ? &m->tid : &none;
    uint32_t *index = stk_map_put(&k->meta_map, stk_chrome_id_hash(&m->pid) * 4 + m->type,
                                  stk_chrome_id_hash(thread), (uint32_t)k->metas.count, &created);
    struct stk_chrome_meta *kept = !index    ? NULL
                                   : created ? stk_vec_push(&k->metas)
                                             : stk_vec_at(&k->metas, *index);
    if (!kept) {
        k->failed |= k->metas.count < METAS_MAX;
        return;
    }
    struct stk_str label = stk_chrome_stage_clean(s, m->label);
    if (created) {
        *kept = (struct stk_chrome_meta){.type = m->type, .label = {"", 0}};
    }
    if (!stk_str_eq(kept->label, label)) {
        kept->label = keep(k, label);
    }
}

void stk_chrome_sink_take_counts(struct stk_chrome_sink *k, struct stk_chrome_stager *s)
{
    struct stk_chrome_counts *from = &s->counts, *to = &k->total;
    for (int i = 0; i < STK_KIND_COUNT; i++) {
        to->by_kind[i] += from->by_kind[i];
    }
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        struct stk_chrome_issue *issue = &from->issues[i];
        if (issue->count && !to->issues[i].count) {
            issue->note = keep(k, stk_chrome_stage_clean(s, issue->note));
        }
        stk_chrome_issue_merge(&to->issues[i], issue);
    }
    if (from->foreign && !to->foreign) {
        to->foreign_pos = from->foreign_pos;
        to->foreign_cat = keep(k, stk_chrome_stage_clean(s, from->foreign_cat));
    }
    to->span_pos = from->span_pos ? from->span_pos : to->span_pos;
    to->foreign += from->foreign;
    to->kernels += from->kernels;
    to->known_cats += from->known_cats;
    to->raw_pids += from->raw_pids;
    to->without_ph += from->without_ph;
    memset(from, 0, sizeof *from);
}

void stk_chrome_sink_take(struct stk_chrome_sink *k, struct stk_chrome_stager *s)
{
    if (k->blocks_left-- == 0) {
        next_shard(k);
    }
    if (!prepare_names(k, s)) {
        k->failed = true;
        return;
    }
    take_rows(k, s);
    if (s->rows.count) {
        k->last_row_pos =
            ((const struct stk_chrome_staged *)stk_vec_at(&s->rows, s->rows.count - 1))->row.pos;
    }
    for (size_t i = 0; i < s->metas.count; i++) {
        take_meta(k, s, stk_vec_at(&s->metas, i));
    }
    for (size_t i = 0; i < s->halves.count; i++) {
        take_half(k, s, stk_vec_at(&s->halves, i));
    }
    stk_chrome_sink_take_counts(k, s);
    k->failed |= s->failed;
    stk_chrome_stage_begin(s);
}
