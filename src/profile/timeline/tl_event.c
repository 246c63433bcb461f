// SPDX-License-Identifier: Apache-2.0
// One event with its arguments, which are read from the profile's file, its neighbors and its
// links; and the results of a search by name.
#include "base/alloc.h"
#include "base/arena.h"
#include "profile/timeline/timeline.h"
#include "results/print/document.h"

#define LINKS_MOST 200
#define ARGS_MOST 10000

static int64_t id_at(const struct stk_tl_trace *x, uint32_t event)
{
    return stk_query_id(x->index, event);
}

struct stk_view_event stk_tl_event_of(const struct stk_tl_place *p)
{
    return (struct stk_view_event){.id = id_at(p->x, p->event),
                                   .name = stk_name_of(p->x->t, p->event).p,
                                   .track = id_at(p->x, p->root),
                                   .row = p->row,
                                   .start_ns = stk_tl_start(p->x, p->event),
                                   .dur_ns = stk_dur_ns(p->x->t, p->event)};
}

struct filling {
    struct stk_arena arena;
    struct stk_view_event_doc doc;
    struct stk_view_arg *args;
    uint64_t arg_count;
    bool failed; // no memory
};

// Its launch, or the work it launched; unselected events are left out.
static void fill_links(struct filling *f, const struct stk_tl_trace *x, uint32_t event)
{
    const struct stk_trace *t = x->t;
    bool call = t->kind[event] == STK_KIND_RUNTIME;
    uint32_t other =
        call || stk_kind_is_device_work(t->kind[event]) ? stk_link_of(t, event) : STK_NONE;
    struct stk_view_event *links = stk_arena_array(&f->arena, LINKS_MOST, sizeof *links);
    uint64_t count = 0;
    f->failed |= !links;
    while (links && other != STK_NONE && other < t->count) {
        if (x->x->tracks[stk_track_of(t, other)].taken && ++count <= LINKS_MOST) {
            struct stk_tl_place p;
            stk_tl_place(x, other, &p);
            links[count - 1] = stk_tl_event_of(&p);
            links[count - 1].dir = call ? "to" : "from";
        }
        const struct stk_ext *ext = call ? stk_ext_of(t, other) : NULL;
        other = ext ? ext->next : STK_NONE;
    }
    f->doc.links = (struct stk_list){.items = links,
                                     .count = (size_t)(count < LINKS_MOST ? count : LINKS_MOST)};
    f->doc.links_left_out = count - f->doc.links.count;
}

static void take_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct filling *f = arg;
    if (++f->arg_count > ARGS_MOST) {
        return;
    }
    const char *k = stk_arena_strndup(&f->arena, key.n ? key.p : "", key.n);
    const char *v = stk_arena_strndup(&f->arena, value.n ? value.p : "", value.n);
    f->args[f->arg_count - 1] = (struct stk_view_arg){k ? k : "", v ? v : ""};
}

static void fill_args(struct filling *f, const struct stk_timeline *t, const struct stk_tl_place *p,
                      struct stoker_err *why)
{
    const struct stk_query_source *source = &t->q->source;
    f->args = stk_arena_array(&f->arena, ARGS_MOST, sizeof *f->args);
    f->failed |= !f->args;
    stk_err_init(why);
    if (f->args && source->args &&
        source->args(source->arg, p->x->x->rank, p->event, take_arg, f, why) != STOKER_OK) {
        f->doc.args_error = why->message;
    }
    f->doc.has_more = f->arg_count > ARGS_MOST;
    f->doc.args = (struct stk_list){.items = f->args,
                                    .count = (size_t)(f->doc.has_more ? ARGS_MOST : f->arg_count)};
    f->doc.args_left_out = f->arg_count - f->doc.args.count;
}

enum stoker_status stk_tl_event_json(const struct stk_timeline *t, int64_t id, struct stk_sink *to,
                                     struct stoker_err *err)
{
    struct stk_tl_place p;
    struct stoker_err why;
    enum stoker_status status = stk_tl_find(t, id, &p, err);
    if (status != STOKER_OK) {
        return status;
    }
    const struct stk_tl_row *row = &p.x->rows[p.x->tracks[p.root].first_row + p.row];
    const struct stk_query_steps *steps = p.x->x->tracks[stk_track_of(p.x->t, p.event)].steps;
    uint32_t step = stk_query_step_at(steps, p.x->t->start_ns[p.event]);
    const struct stk_view_event event = stk_tl_event_of(&p);
    bool has_prev = p.at > row->first, has_next = p.at + 1 < row->end;
    struct filling f = {
        .doc = {.event = {.object = &event},
                .kind = stk_kind_key((enum stk_kind)p.x->t->kind[p.event]),
                .has_step = step != STK_NONE,
                .step = step != STK_NONE ? steps->v[step].number : 0,
                .has_prev = has_prev,
                .prev = has_prev ? id_at(p.x, stk_tl_event(p.x, row, p.at - 1)) : 0,
                .has_next = has_next,
                .next = has_next ? id_at(p.x, stk_tl_event(p.x, row, p.at + 1)) : 0}};
    stk_arena_init(&f.arena, 0);
    fill_links(&f, p.x, p.event);
    fill_args(&f, t, &p, &why);
    if (!f.failed) {
        stk_json_document(&stk_view_event_doc_info, &f.doc, false, to);
    }
    stk_arena_deinit(&f.arena);
    return f.failed ? stk_err_nomem(err) : STOKER_OK;
}

// The columns of stk_query_find.
enum { FIND_ID = 8 };

static enum stoker_status no_columns(void *arg, const struct stk_query_column *columns,
                                     size_t count, struct stoker_err *err)
{
    (void)arg;
    (void)columns;
    return count > FIND_ID ? STOKER_OK : stk_err_set(err, STOKER_EBUG, "the search needs ids");
}

static enum stoker_status keep_id(void *arg, const struct stk_query_value *values,
                                  struct stoker_err *err)
{
    int64_t *id = stk_vec_push(arg);
    if (!id) {
        return stk_err_nomem(err);
    }
    *id = values[FIND_ID].number;
    return STOKER_OK;
}

static enum stoker_status put_hits(const struct stk_timeline *t, const struct stk_vec *ids,
                                   uint64_t count, struct stk_sink *to, struct stoker_err *err)
{
    struct stk_view_event *hits = stk_alloc_array(ids->count + 1, sizeof *hits);
    struct stk_view_hits doc = {.count = count, .hits = {.items = hits}};
    for (size_t i = 0; hits && i < ids->count; i++) {
        struct stk_tl_place p;
        if (stk_tl_find(t, *(const int64_t *)stk_vec_at(ids, i), &p, NULL) == STOKER_OK) {
            hits[doc.hits.count++] = stk_tl_event_of(&p);
        }
    }
    if (hits) {
        stk_json_document(&stk_view_hits_info, &doc, false, to);
    }
    stk_free(hits);
    return hits ? STOKER_OK : stk_err_nomem(err);
}

enum stoker_status stk_tl_search_json(const struct stk_timeline *t, const char *pattern,
                                      size_t limit, struct stk_sink *to, struct stoker_err *err)
{
    const struct stk_find find = {.pattern = stk_str_from(pattern),
                                  .max_dur_ns = INT64_MAX,
                                  .kind = -1,
                                  .by_time = true,
                                  .limit = limit};
    struct stk_vec ids;
    struct stk_found found;
    stk_vec_init(&ids, sizeof(int64_t), limit);
    struct stk_query_sink sink = {.begin = no_columns, .row = keep_id, .arg = &ids};
    enum stoker_status status = stk_query_find(t->q, &find, &sink, &found, err);
    if (status == STOKER_OK) {
        status = put_hits(t, &ids, found.count, to, err);
    }
    stk_vec_deinit(&ids);
    return status;
}
