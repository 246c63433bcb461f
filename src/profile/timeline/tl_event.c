// SPDX-License-Identifier: Apache-2.0
// One event with its arguments, which are read from the profile's file, its neighbours and its
// links; and what a search by name finds.
#include "profile/timeline/timeline.h"

#define LINKS_MOST 200
#define ARGS_MOST 10000

static int64_t id_at(const struct stk_tl_trace *x, uint32_t event)
{
    return stk_query_id(x->index, event);
}

void stk_tl_put_event(const struct stk_tl_place *p, struct stk_json *j)
{
    stk_json_key(j, "id");
    stk_json_i64(j, id_at(p->x, p->event));
    stk_json_key(j, "name");
    stk_json_text(j, stk_name_of(p->x->t, p->event).p);
    stk_json_key(j, "track");
    stk_json_i64(j, id_at(p->x, p->root));
    stk_json_key(j, "row");
    stk_json_u64(j, p->row);
    stk_json_key(j, "start_ns");
    stk_json_i64(j, stk_tl_start(p->x, p->event));
    stk_json_key(j, "dur_ns");
    stk_json_i64(j, stk_dur_ns(p->x->t, p->event));
}

static void put_link(const struct stk_tl_trace *x, uint32_t event, const char *dir,
                     struct stk_json *j)
{
    struct stk_tl_place p;
    stk_tl_place(x, event, &p);
    stk_json_open(j, '{', true);
    stk_tl_put_event(&p, j);
    stk_json_key(j, "dir");
    stk_json_text(j, dir);
    stk_json_close(j, '}');
}

// What launched it, or what it launched; what is not selected is left out.
static void put_links(const struct stk_tl_trace *x, uint32_t event, struct stk_json *j)
{
    const struct stk_trace *t = x->t;
    bool call = t->kind[event] == STK_KIND_RUNTIME;
    uint32_t other =
        call || stk_kind_is_device_work(t->kind[event]) ? stk_link_of(t, event) : STK_NONE;
    uint64_t count = 0;
    stk_json_key(j, "links");
    stk_json_open(j, '[', false);
    while (other != STK_NONE && other < t->count) {
        if (x->x->tracks[stk_track_of(t, other)].taken && ++count <= LINKS_MOST) {
            put_link(x, other, call ? "to" : "from", j);
        }
        const struct stk_ext *ext = call ? stk_ext_of(t, other) : NULL;
        other = ext ? ext->next : STK_NONE;
    }
    stk_json_close(j, ']');
    stk_json_key(j, "links_left_out");
    stk_json_u64(j, count > LINKS_MOST ? count - LINKS_MOST : 0);
}

struct args {
    struct stk_json *j;
    uint64_t count;
};

static void put_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct args *a = arg;
    struct stk_arena arena;
    if (++a->count > ARGS_MOST) {
        return;
    }
    stk_arena_init(&arena, 0);
    const char *k = stk_arena_strndup(&arena, key.n ? key.p : "", key.n);
    const char *v = stk_arena_strndup(&arena, value.n ? value.p : "", value.n);
    stk_json_open(a->j, '[', true);
    stk_json_text(a->j, k ? k : "");
    stk_json_text(a->j, v ? v : "");
    stk_json_close(a->j, ']');
    stk_arena_deinit(&arena);
}

static void put_args(const struct stk_timeline *t, const struct stk_tl_place *p, struct stk_json *j)
{
    const struct stk_query_source *source = &t->q->source;
    struct args args = {.j = j};
    struct stoker_err err;
    stk_err_init(&err);
    enum stoker_status status = STOKER_OK;
    stk_json_key(j, "args");
    stk_json_open(j, '[', false);
    if (source->args) {
        status = source->args(source->arg, p->x->x->rank, p->event, put_arg, &args, &err);
    }
    stk_json_close(j, ']');
    if (args.count > ARGS_MOST) {
        stk_json_key(j, "args_left_out");
        stk_json_u64(j, args.count - ARGS_MOST);
    }
    if (status != STOKER_OK) {
        stk_json_key(j, "args_error");
        stk_json_text(j, err.message);
    }
}

static void put_neighbour(const struct stk_tl_place *p, const struct stk_tl_row *row,
                          const char *key, bool is_there, uint32_t at, struct stk_json *j)
{
    stk_json_key(j, key);
    if (is_there) {
        stk_json_i64(j, id_at(p->x, stk_tl_event(p->x, row, at)));
    } else {
        stk_json_null(j);
    }
}

enum stoker_status stk_tl_event_json(const struct stk_timeline *t, int64_t id, struct stk_json *j,
                                     struct stoker_err *err)
{
    struct stk_tl_place p;
    enum stoker_status status = stk_tl_find(t, id, &p, err);
    if (status != STOKER_OK) {
        return status;
    }
    const struct stk_tl_row *row = &p.x->rows[p.x->tracks[p.root].first_row + p.row];
    const struct stk_query_steps *steps = p.x->x->tracks[stk_track_of(p.x->t, p.event)].steps;
    uint32_t step = stk_query_step_at(steps, p.x->t->start_ns[p.event]);
    stk_json_open(j, '{', false);
    stk_tl_put_event(&p, j);
    stk_json_key(j, "kind");
    stk_json_text(j, stk_kind_key((enum stk_kind)p.x->t->kind[p.event]));
    stk_json_key(j, "step");
    if (step != STK_NONE) {
        stk_json_i64(j, steps->v[step].number);
    } else {
        stk_json_null(j);
    }
    put_neighbour(&p, row, "prev", p.at > row->first, p.at - 1, j);
    put_neighbour(&p, row, "next", p.at + 1 < row->end, p.at + 1, j);
    put_links(p.x, p.event, j);
    put_args(t, &p, j);
    stk_json_close(j, '}');
    return STOKER_OK;
}

// The columns of stk_query_find.
enum { FIND_ID = 8 };

static enum stoker_status no_columns(void *arg, const struct stk_query_column *columns,
                                     size_t count, struct stoker_err *err)
{
    (void)arg;
    (void)columns;
    return count > FIND_ID ? STOKER_OK : stk_err_set(err, STOKER_EBUG, "the search has no ids");
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

static void put_hits(const struct stk_timeline *t, const struct stk_vec *ids, uint64_t count,
                     struct stk_json *j)
{
    stk_json_open(j, '{', false);
    stk_json_key(j, "count");
    stk_json_u64(j, count);
    stk_json_key(j, "hits");
    stk_json_open(j, '[', false);
    for (size_t i = 0; i < ids->count; i++) {
        struct stk_tl_place p;
        if (stk_tl_find(t, *(const int64_t *)stk_vec_at(ids, i), &p, NULL) == STOKER_OK) {
            stk_json_open(j, '{', true);
            stk_tl_put_event(&p, j);
            stk_json_close(j, '}');
        }
    }
    stk_json_close(j, ']');
    stk_json_close(j, '}');
}

enum stoker_status stk_tl_search_json(const struct stk_timeline *t, const char *pattern,
                                      size_t limit, struct stk_json *j, struct stoker_err *err)
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
        put_hits(t, &ids, found.count, j);
    }
    stk_vec_deinit(&ids);
    return status;
}
