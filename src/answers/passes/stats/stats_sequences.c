// SPDX-License-Identifier: Apache-2.0
// Which sequences of short kernels occur repeatedly? A chain is two or more consecutive kernels of
// less than 10 us each on a stream, without other work or a gap of 50 us or more between them: a
// fused kernel, a compiler or a CUDA graph could merge them into one launch. Chains that occur at
// least twice are listed.
// saving_bound_ns: kernels and gaps of all occurrences without each one's longest kernel. Fusing
// cannot save more on this stream; where other streams work meanwhile, or the data is too large for
// one kernel, it saves less.
// Method: each stream is cut into runs of short kernels. Where a run repeats itself at once
// (layers, parameters of an optimizer), with a period of up to 32 kernels and three times or more,
// the period is the chain. The rest is one chain, or several if it is too long; it is cut depending
// on its content, so that equal stretches are cut alike. Chains are counted by hash. Cost: linear.
#include <string.h>

#include "base/alloc.h"
#include "answers/passes/stats/stats.h"

#define SHORT_KERNEL_NS 10000
#define GAP_NS 50000
#define LONGEST_CHAIN 32
#define LEAST_REPEATS 3
#define CUT_EVERY 16 // on average

struct link {
    int64_t start_ns, end_ns;
    uint32_t id;
};
struct chain {
    uint32_t line, length, first; // first: index into `ids`
    uint64_t count;
    int64_t total_ns, gap_ns, longest_ns; // sums over the occurrences
};

struct chain_row {
    const char *names;
    struct chain chain;
};
struct sequence_partial {
    struct chain_row *rows;
    uint32_t count;
    int64_t kernel_ns; // of all kernels
    uint64_t short_kernels;
};

struct sweep {
    const struct stk_analysis *view;
    struct stk_arena *arena;
    struct sequence_partial *out;
    struct stk_vec run;    // struct link
    struct stk_vec chains; // struct chain
    struct stk_vec ids;    // uint32_t: kernels of the chains, one after another
    struct stk_map known;  // hash -> index into chains
    struct stk_vec text;   // char
    uint32_t line;
};

// ---- finding ----

static bool add_chain(struct sweep *s, const struct link *links, uint32_t length)
{
    uint64_t a = s->line + 1, b = length;
    if (length < 2) {
        return true;
    }
    for (uint32_t i = 0; i < length; i++) {
        a = stk_hash_u64(a + links[i].id);
        b = stk_hash_u64(b ^ ((uint64_t)links[i].id << 32 | (i + 1)));
    }
    int created;
    uint32_t *at = stk_map_put(&s->known, a, b, (uint32_t)s->chains.count, &created);
    struct chain *c = !at ? NULL : created ? stk_vec_push(&s->chains) : stk_vec_at(&s->chains, *at);
    if (!c) {
        return false;
    }
    if (created) {
        *c = (struct chain){.line = s->line, .length = length, .first = (uint32_t)s->ids.count};
        uint32_t *ids = stk_vec_push_n(&s->ids, length);
        if (!ids) {
            return false;
        }
        for (uint32_t i = 0; i < length; i++) {
            ids[i] = links[i].id;
        }
    }
    int64_t longest_ns = 0, total_ns = 0;
    for (uint32_t i = 0; i < length; i++) {
        int64_t dur_ns = links[i].end_ns - links[i].start_ns;
        total_ns += dur_ns;
        longest_ns = dur_ns > longest_ns ? dur_ns : longest_ns;
        c->gap_ns += i && links[i].start_ns > links[i - 1].end_ns
                         ? links[i].start_ns - links[i - 1].end_ns
                         : 0;
    }
    c->count++;
    c->total_ns += total_ns;
    c->longest_ns += longest_ns;
    return true;
}

// Adds links that don't repeat directly: one chain, or several if that is too long.
static bool add_plain(struct sweep *s, const struct link *links, size_t n)
{
    size_t first = 0;
    for (size_t i = 1; i <= n; i++) {
        bool cut = i == n || i - first == LONGEST_CHAIN ||
                   (n > LONGEST_CHAIN && i - first > 1 &&
                    stk_hash_u64((uint64_t)links[i - 1].id << 32 | links[i].id) % CUT_EVERY == 0);
        if (!cut) {
            continue;
        }
        if (!add_chain(s, links + first, (uint32_t)(i - first))) {
            return false;
        }
        first = i;
    }
    return true;
}

// How often the first `period` links repeat.
static size_t repeats(const struct link *links, size_t n, size_t period)
{
    size_t same = 0;
    while (same + period < n && links[same].id == links[same + period].id) {
        same++;
    }
    return same / period + 1;
}

static bool add_run(struct sweep *s)
{
    const struct link *links = s->run.items;
    size_t n = s->run.count, plain = 0, i = 0;
    bool ok = true;
    while (i < n && ok) {
        size_t best = 0, times = 0;
        for (size_t period = 2; period <= LONGEST_CHAIN && period * LEAST_REPEATS <= n - i;
             period++) {
            size_t found = repeats(links + i, n - i, period);
            if (found >= LEAST_REPEATS && found * period > times * best) {
                best = period;
                times = found;
            }
        }
        if (!best) {
            i++;
            continue;
        }
        ok = add_plain(s, links + plain, i - plain);
        for (size_t k = 0; k < times && ok; k++, i += best) {
            ok = add_chain(s, links + i, (uint32_t)best);
        }
        plain = i;
    }
    ok = ok && add_plain(s, links + plain, n - plain);
    s->run.count = 0;
    return ok;
}

static bool sweep_stream(struct sweep *s, const struct stk_track *track,
                         const struct stk_spans *selected)
{
    const struct stk_analysis *v = s->view;
    const struct stk_trace *t = v->t;
    struct stk_view_cursor cursor = {selected, 0};
    int64_t last_ns = INT64_MIN / 2;
    for (uint32_t e = track->first; e < track->first + track->count; e++) {
        int64_t start_ns = t->start_ns[e], end_ns = stk_end_ns(t, e);
        if (!stk_kind_is_device_work(t->kind[e])) {
            continue;
        }
        bool seen = start_ns >= v->from_ns && start_ns < v->to_ns && stk_view_in(&cursor, start_ns);
        bool kernel = seen && t->kind[e] == STK_KIND_KERNEL;
        bool brief = kernel && end_ns - start_ns < SHORT_KERNEL_NS;
        s->out->kernel_ns = stk_add_ns(s->out->kernel_ns, kernel ? end_ns - start_ns : 0);
        s->out->short_kernels += brief;
        if ((!brief || start_ns - last_ns >= GAP_NS) && !add_run(s)) {
            return false;
        }
        last_ns = end_ns;
        if (!brief) {
            continue;
        }
        struct link *link = stk_vec_push(&s->run);
        if (!link) {
            return false;
        }
        *link = (struct link){start_ns, end_ns, t->name[e]};
    }
    return add_run(s);
}

static bool sequences_sweep_device(struct sweep *s, struct stk_spans *selected)
{
    const struct stk_analysis *v = s->view;
    if (!stk_view_selected(v, s->line, selected)) {
        return false;
    }
    const struct stk_device_line *line = &v->lines[s->line];
    for (uint32_t i = 0; i < line->stream_count; i++) {
        if (!sweep_stream(s, &v->t->tracks[line->streams[i]], selected)) {
            return false;
        }
    }
    return true;
}

// ---- naming ----

static bool put_text(struct sweep *s, const char *p, size_t n)
{
    char *to = stk_vec_push_n(&s->text, n);
    if (to && n) {
        memcpy(to, p, n);
    }
    return to != NULL;
}

// The last part of a C++ name without arguments; for kernels that apply a functor, the functor.
static struct stk_str short_name(struct stk_str name)
{
    static const char *const applying[] = {"elementwise_kernel", "multi_tensor_apply_kernel",
                                           "reduce_kernel", "index_elementwise_kernel"};
    if (stk_str_starts(name, STK_STR("void "))) {
        name = (struct stk_str){name.p + 5, name.n - 5};
    }
    size_t end = 0, start = 0;
    if (stk_str_starts(name, STK_STR("<unnamed>::"))) {
        name = (struct stk_str){name.p + 11, name.n - 11};
    }
    while (end < name.n && name.p[end] != '<' &&
           (name.p[end] != '(' || (name.n - end > 10 && !memcmp(name.p + end, "(anonymous", 10)))) {
        end++;
    }
    for (size_t i = 0; i + 1 < end; i++) {
        if (name.p[i] == ':' && name.p[i + 1] == ':') {
            start = i + 2;
        }
    }
    struct stk_str base = {name.p + start, end - start}, rest = {name.p + end, name.n - end};
    bool applies = false;
    for (size_t i = 0; i < sizeof applying / sizeof applying[0]; i++) {
        applies |= stk_str_ends(base, stk_str_from(applying[i]));
    }
    const char *inner = applies && rest.n ? memmem(rest.p, rest.n, "at::native::", 12) : NULL;
    if (!inner) {
        return base.n ? base : name;
    }
    inner += 12;
    struct stk_str functor = {inner, 0};
    while (inner + functor.n < name.p + name.n && !strchr("<(,>{ ", inner[functor.n])) {
        functor.n++;
    }
    return functor.n ? functor : base;
}

// "a > b x3 > c" in the arena; NULL: no memory.
static const char *chain_names(struct sweep *s, const struct chain *c)
{
    const uint32_t *ids = (const uint32_t *)s->ids.items + c->first;
    const struct stk_strpool *strings = &s->view->t->strings;
    s->text.count = 0;
    for (uint32_t i = 0; i < c->length;) {
        struct stk_str name = short_name(stk_strpool_get(strings, ids[i]));
        uint32_t same = 1;
        while (i + same < c->length &&
               stk_str_eq(short_name(stk_strpool_get(strings, ids[i + same])), name)) {
            same++;
        }
        char times[16] = "";
        if (same > 1) {
            times[0] = ' ', times[1] = 'x', times[2] = (char)('0' + same / 10),
            times[3] = (char)('0' + same % 10);
        }
        if (same > 1 && same < 10) {
            times[2] = times[3], times[3] = 0;
        }
        if (!put_text(s, " > ", i ? 3 : 0) || !put_text(s, name.p, name.n) ||
            !put_text(s, times, strlen(times))) {
            return NULL;
        }
        i += same;
    }
    return stk_arena_strndup(s->arena, s->text.items, s->text.count);
}

static bool sequences_keep(struct sweep *s)
{
    size_t repeated = 0;
    for (size_t i = 0; i < s->chains.count; i++) {
        repeated += ((const struct chain *)stk_vec_at(&s->chains, i))->count > 1;
    }
    s->out->rows = stk_arena_array(s->arena, repeated + 1, sizeof *s->out->rows);
    if (!s->out->rows) {
        return false;
    }
    for (size_t i = 0; i < s->chains.count; i++) {
        const struct chain *c = stk_vec_at(&s->chains, i);
        if (c->count < 2) {
            continue;
        }
        struct chain_row *row = &s->out->rows[s->out->count++];
        *row = (struct chain_row){chain_names(s, c), *c};
        if (!row->names) {
            return false;
        }
    }
    return true;
}

static enum stoker_status sequences_see(const struct stk_analysis *view, struct stk_arena *arena,
                                        void **partial, struct stoker_err *err)
{
    struct sweep s = {.view = view, .arena = arena};
    struct stk_spans selected;
    stk_spans_init(&selected);
    stk_vec_init(&s.run, sizeof(struct link), UINT32_MAX);
    stk_vec_init(&s.chains, sizeof(struct chain), UINT32_MAX - 1);
    stk_vec_init(&s.ids, sizeof(uint32_t), UINT32_MAX - 1);
    stk_vec_init(&s.text, 1, 1u << 24);
    stk_map_init(&s.known, UINT32_MAX - 1);
    *partial = s.out = stk_arena_alloc(arena, sizeof *s.out);
    bool ok = s.out != NULL;
    for (; s.line < view->sum->device_count && ok; s.line++) {
        ok = sequences_sweep_device(&s, &selected);
    }
    ok = ok && sequences_keep(&s);
    stk_vec_deinit(&s.run);
    stk_vec_deinit(&s.chains);
    stk_vec_deinit(&s.ids);
    stk_vec_deinit(&s.text);
    stk_map_deinit(&s.known);
    stk_spans_deinit(&selected);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// ---- table ----

#define SEQUENCES_COLUMNS(C, R)                                                                    \
    C(R, chain, TEXT,                                                                              \
      "kernels of the chain, by short names: two or more kernels below 10 us in a row on "         \
      "a stream, with gaps below 50 us",                                                           \
      .is_name = true)                                                                             \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, kernels, COUNT, "kernels of one occurrence")                                              \
    C(R, count, COUNT, "occurrences, two or more")                                                 \
    C(R, total_ns, NS, "durations of the kernels of all occurrences, summed")                      \
    C(R, mean_gap_ns, NS, "mean gap between kernels of an occurrence")                             \
    C(R, saving_bound_ns, NS,                                                                      \
      "kernels and gaps of all occurrences without each one's longest kernel: the most "           \
      "that fusing can save on this stream")
STK_TABLE(sequences, "Chains of short kernels by what fusing could save", SEQUENCES_COLUMNS)

static int64_t saving_of(const struct chain *c)
{
    return stk_add_ns(c->total_ns - c->longest_ns, c->gap_ns);
}

static void sequences_fill_row(struct stk_table *table, const struct stk_rank_sum *rank,
                               const struct chain_row *r)
{
    const struct chain *c = &r->chain;
    const struct sequences_row row = {
        .chain = stk_cell_text(r->names),
        .device = stk_cell_text(rank->devices[c->line].id),
        .kernels = stk_cell_number(c->length),
        .count = stk_cell_number((int64_t)c->count),
        .total_ns = stk_cell_number(c->total_ns),
        .mean_gap_ns = stk_cell_number(c->gap_ns / ((int64_t)c->count * (c->length - 1))),
        .saving_bound_ns = stk_cell_number(saving_of(c)),
    };
    stk_table_put(table, &row);
}

#define SEQUENCES_FIGURES(C, R)                                                                    \
    C(R, chains, COUNT, "occurrences of the listed chains", .label = "chains of short kernels")    \
    C(R, chain_kernels, COUNT, "kernels in them", .label = "kernels in chains")                    \
    C(R, short_chain_ns, NS, "durations of these kernels, summed", .label = "time in chains")      \
    C(R, short_chain_share, SHARE, "`short_chain_ns` as a share of the time of all kernels",       \
      .label = "time in chains, share")                                                            \
    C(R, gap_ns, NS, "gaps between the kernels of an occurrence, summed",                          \
      .label = "gaps within chains")                                                               \
    C(R, saving_bound_ns, NS, "`saving_bound_ns` of all chains, summed",                           \
      .label = "most that fusing saves")
STK_SUMMARY(sequences, SEQUENCES_FIGURES)

static void sequences_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &sequences_table);
    struct chain all = {.count = 0};
    int64_t kernel_ns = 0, saving_ns = 0;
    uint64_t kernels = 0;
    if (stk_stats_lacks_device(ctx, doc)) {
        return;
    }
    stk_table_keep(table, "saving_bound_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct stk_rank_sum *rank = ctx->run->ranks[r];
        const struct sequence_partial *p = rank->partial;
        for (uint32_t i = 0; p && i < p->count; i++) {
            const struct chain *c = &p->rows[i].chain;
            sequences_fill_row(table, rank, &p->rows[i]);
            all.count += c->count;
            all.total_ns = stk_add_ns(all.total_ns, c->total_ns);
            all.gap_ns = stk_add_ns(all.gap_ns, c->gap_ns);
            saving_ns = stk_add_ns(saving_ns, saving_of(c));
            kernels += c->count * c->length;
        }
        kernel_ns = stk_add_ns(kernel_ns, p ? p->kernel_ns : 0);
    }
    stk_table_sort(table, "saving_bound_ns");
    const struct sequences_summary summary = {
        .chains = stk_cell_number((int64_t)all.count),
        .chain_kernels = stk_cell_number((int64_t)kernels),
        .short_chain_ns = stk_cell_number(all.total_ns),
        .short_chain_share = stk_cell_share_of(all.total_ns, kernel_ns),
        .gap_ns = stk_cell_number(all.gap_ns),
        .saving_bound_ns = stk_cell_number(saving_ns),
    };
    stk_table_summarize(doc, &sequences_summary_info, &summary);
}

const struct stk_stats stk_stats_sequences = {
    .name = "sequences",
    .question = "Which short kernels recur in a row and could be fused?",
    .needs = "kernels of a device",
    .tables = {&sequences_table},
    .summary = &sequences_summary_info,
    .missing = {&stk_missing_device},
    .hook = {.see = sequences_see},
    .describe = sequences_describe,
};
