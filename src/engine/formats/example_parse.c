// SPDX-License-Identifier: Apache-2.0
// Example and SequenceExample parser: one walk over the wire bytes; values are written to their
// final place. A record with the same layout as an earlier one needs no walk (example_layout.h).
// Records of one file mostly hold their features in the same order, so a name is first compared
// with the one at the same place of the previous record, and only then looked up. A later feature
// of the same name overwrites the earlier one's values; missing and wrong features are judged at
// the record's end.
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/example_layout.h"

enum { ABSENT, GOOD, WRONG_TYPE, WRONG_COUNT };

struct state {
    uint8_t what;
    uint8_t type;   // type found, if WRONG_TYPE
    uint64_t count; // count found, if WRONG_COUNT
};

struct memo_entry {
    const char *text;
    uint32_t size, feature;
    char kept[STK_EXAMPLE_NAME_KEPT]; // has the text if the name wasn't requested
};

struct memo {
    uint32_t place, count;
    struct memo_entry entries[STK_EXAMPLE_MEMO];
};

struct stk_example_parser {
    const struct stk_example_spec *spec;
    enum stk_example_message message;
    struct state *states;
    struct memo plain, lists;
    struct stk_example_layouts layouts;
};

// One record being parsed into one row.
struct run {
    struct stk_example_parser *parser;
    struct stk_example_batch *batch;
    struct stk_example_layout *layout; // learned while parsing; may be NULL
    size_t row;
    bool out_of_memory;
};

enum { TAG_1 = 1 << 3 | 2, TAG_2 = 2 << 3 | 2, TAG_3 = 3 << 3 | 2 }; // fields with a length

static inline uint32_t look_up(struct memo *m, const struct stk_example_table *t,
                               struct stk_example_span name)
{
    size_t size = (size_t)(name.end - name.p);
    uint32_t place = m->place++;
    if (place < m->count && m->entries[place].size == size &&
        stk_example_same(name.p, m->entries[place].text, size)) {
        return m->entries[place].feature;
    }
    uint32_t feature = stk_example_find(t, name.p, size);
    if (place >= STK_EXAMPLE_MEMO) {
        return feature;
    }
    struct memo_entry *e = &m->entries[place];
    m->count = place >= m->count ? place + 1 : m->count;
    e->feature = feature;
    e->size = size <= STK_EXAMPLE_NAME_KEPT ? (uint32_t)size : UINT32_MAX;
    e->text = e->kept;
    if (size <= STK_EXAMPLE_NAME_KEPT && size > 0) {
        memcpy(e->kept, name.p, size);
    }
    return feature;
}

static size_t row_start(const struct run *run, const struct stk_example_column *c)
{
    if (c->kind == STK_EXAMPLE_FIXED && !c->is_list) {
        return run->row * c->elements;
    }
    size_t begin = (size_t)c->row_splits[run->row];
    if (!c->is_list) {
        return begin;
    }
    return c->kind == STK_EXAMPLE_FIXED ? begin * c->elements : (size_t)c->step_splits[begin];
}

// The most values that a list of n bytes can hold.
static size_t bound_of(enum stk_example_type type, size_t n)
{
    return type == STK_EXAMPLE_FLOAT ? n / 4 : type == STK_EXAMPLE_BYTES ? n / 2 : n;
}

// Reads the values of one Feature behind c->count, which stays. *type: the list's type; 0: no list.
static bool read_values(struct run *run, struct stk_example_column *c, struct stk_example_span v,
                        uint8_t *type, size_t *n)
{
    *type = 0;
    *n = 0;
    while (v.p < v.end) {
        uint64_t tag;
        struct stk_example_span list;
        if (!stk_example_varint(&v, &tag)) {
            return false;
        }
        if (tag != TAG_1 && tag != TAG_2 && tag != TAG_3) {
            if (!stk_example_skip(&v, tag)) {
                return false;
            }
            continue;
        }
        if (!stk_example_chunk(&v, &list)) {
            return false;
        }
        if (*type != tag >> 3) {
            *n = 0; // of a oneof, the last member counts
        }
        *type = (uint8_t)(tag >> 3);
        if (*type != c->type) {
            continue;
        }
        size_t capacity = c->elements;
        if (c->kind != STK_EXAMPLE_FIXED || c->is_list) {
            size_t most = *n + bound_of(c->type, (size_t)(list.end - list.p));
            capacity = c->kind == STK_EXAMPLE_FIXED && most > c->elements ? c->elements : most;
            run->out_of_memory = stk_example_reserve(c, capacity) != 0;
            if (run->out_of_memory) {
                return false;
            }
        }
        void *to =
            c->int64s ? (char *)c->values + c->count * stk_example_value_size(c->type) : NULL;
        if (!stk_example_list(list, c->type, to, capacity, n)) {
            return false;
        }
    }
    return true;
}

// The start of the value of a field with this tag that takes up the rest of the message; NULL: it
// isn't the only field, or its length takes more than three bytes.
static inline const uint8_t *all_of(const uint8_t *p, const uint8_t *end, unsigned tag)
{
    size_t size = (size_t)(end - p);
    if (size < 2 || p[0] != tag) {
        return NULL;
    }
    if (p[1] < 0x80) {
        return p[1] == size - 2 ? p + 2 : NULL;
    }
    if (size < 4) {
        return NULL;
    }
    size_t n = (p[1] & 0x7fu) | (size_t)p[2] << 7;
    if (p[2] < 0x80) {
        return n == size - 3 ? p + 3 : NULL;
    }
    n = (n & 0x3fffu) | (size_t)p[3] << 14;
    return p[3] < 0x80 && n == size - 4 ? p + 4 : NULL;
}

static inline void note(struct run *run, uint32_t feature, struct stk_example_span value)
{
    if (run->layout && !stk_example_layout_note(run->layout, feature, value)) {
        run->layout = NULL;
    }
}

// Fast path: a FIXED feature whose list is all of its Feature, packed in one run or with one text.
// False: not that; nothing was done.
static inline bool take_usual(struct run *run, uint32_t feature, struct stk_example_span v)
{
    STK_ASSERT(feature < run->batch->column_count);
    struct stk_example_column *c = &run->batch->columns[feature];
    size_t at = run->row * c->elements;
    if (c->kind != STK_EXAMPLE_FIXED || c->is_list) {
        return false;
    }
    const uint8_t *p = all_of(v.p, v.end, c->type << 3 | 2);
    p = p ? all_of(p, v.end, TAG_1) : NULL;
    if (!p) {
        return false;
    }
    size_t size = (size_t)(v.end - p);
    if (c->type == STK_EXAMPLE_FLOAT) {
        if (size != 4 * c->elements) {
            return false;
        }
        stk_example_copy_floats(c->floats + at, p, size);
    } else if (c->elements != 1) {
        return false;
    } else if (c->type == STK_EXAMPLE_BYTES) {
        c->bytes[at] = (struct stk_example_bytes){p, size};
    } else {
        uint64_t value;
        struct stk_example_span run_of_one = {p, v.end};
        if (!stk_example_varint(&run_of_one, &value) || run_of_one.p != v.end) {
            return false;
        }
        c->int64s[at] = (int64_t)value;
    }
    run->parser->states[feature].what = GOOD;
    note(run, feature, (struct stk_example_span){p, v.end});
    return true;
}

// Does a Feature with a list of this type and length suit the column?
static bool judge(struct state *state, const struct stk_example_column *c, uint8_t type, size_t n)
{
    if (type && type != c->type) {
        *state = (struct state){.what = WRONG_TYPE, .type = type};
    } else if (c->kind == STK_EXAMPLE_FIXED && n != c->elements) {
        *state = (struct state){.what = WRONG_COUNT, .count = n};
    } else {
        state->what = GOOD;
    }
    return state->what == GOOD;
}

static bool take_feature(struct run *run, uint32_t feature, struct stk_example_span v)
{
    STK_ASSERT(feature < run->batch->column_count);
    struct stk_example_column *c = &run->batch->columns[feature];
    struct state *state = &run->parser->states[feature];
    uint8_t type;
    size_t n;
    size_t before = c->count;
    c->count = row_start(run, c);
    if (!read_values(run, c, v, &type, &n)) {
        return false;
    }
    if (type == 0 && c->kind == STK_EXAMPLE_FIXED) {
        c->count = before; // ignore it: an earlier one stays
    } else if (type == 0) {
        state->what = ABSENT;
    } else if (judge(state, c, type, n)) {
        c->count += n;
    }
    return true;
}

static bool take_step(struct run *run, struct stk_example_column *c, struct state *state,
                      struct stk_example_span v)
{
    uint8_t type;
    size_t n;
    bool ragged = c->kind == STK_EXAMPLE_RAGGED;
    if (!read_values(run, c, v, &type, &n)) {
        return false;
    }
    if (state->what != GOOD || !judge(state, c, type, n)) {
        return true;
    }
    if (ragged && stk_example_reserve_steps(c, 1)) {
        run->out_of_memory = true;
        return false;
    }
    c->count += n;
    c->steps++;
    if (ragged) {
        c->step_splits[c->steps] = (int64_t)c->count;
    }
    return true;
}

static bool take_list(struct run *run, uint32_t feature, struct stk_example_span v)
{
    STK_ASSERT(feature < run->batch->column_count);
    struct stk_example_column *c = &run->batch->columns[feature];
    struct state *state = &run->parser->states[feature];
    c->count = row_start(run, c);
    c->steps = (size_t)c->row_splits[run->row];
    state->what = GOOD;
    while (v.p < v.end) {
        uint64_t tag;
        struct stk_example_span step;
        if (!stk_example_varint(&v, &tag)) {
            return false;
        }
        bool good = tag == TAG_1 ? stk_example_chunk(&v, &step) && take_step(run, c, state, step)
                                 : stk_example_skip(&v, tag);
        if (!good) {
            return false;
        }
    }
    return true;
}

// Name and value of a map entry, in any order; the last of each counts.
static bool read_any_entry(struct stk_example_span e, struct stk_example_span *name,
                           struct stk_example_span *value)
{
    *name = *value = (struct stk_example_span){e.p, e.p};
    while (e.p < e.end) {
        uint64_t tag;
        if (!stk_example_varint(&e, &tag)) {
            return false;
        }
        bool good = tag == TAG_1   ? stk_example_chunk(&e, name)
                    : tag == TAG_2 ? stk_example_chunk(&e, value)
                                   : stk_example_skip(&e, tag);
        if (!good) {
            return false;
        }
    }
    return true;
}

static inline bool read_entry(struct stk_example_span e, struct stk_example_span *name,
                              struct stk_example_span *value)
{
    // as every encoder writes it, with a short name: tag, length, name, tag, length, value
    size_t size = (size_t)(e.end - e.p),
           name_size = size >= 4 && e.p[0] == TAG_1 ? e.p[1] : SIZE_MAX;
    if (name_size < 0x80 && name_size <= size - 4) {
        const uint8_t *p = e.p + 2 + name_size, *v = all_of(p, e.end, TAG_2);
        if (v) {
            *name = (struct stk_example_span){e.p + 2, p};
            *value = (struct stk_example_span){v, e.end};
            return true;
        }
    }
    return read_any_entry(e, name, value);
}

static inline void give_up_layout(struct run *run)
{
    if (run->layout) {
        run->layout->count = 0;
    }
    run->layout = NULL;
}

// Parses a Features or FeatureLists message: a map.
static bool take_map(struct run *run, struct stk_example_span s, bool of_lists)
{
    struct stk_example_parser *p = run->parser;
    struct memo *m = of_lists ? &p->lists : &p->plain;
    const struct stk_example_table *t = of_lists ? &p->spec->list_names : &p->spec->plain_names;
    while (s.p < s.end) {
        uint64_t tag;
        struct stk_example_span entry, name, value;
        if (!stk_example_varint(&s, &tag)) {
            return false;
        }
        if (tag != TAG_1) {
            if (!stk_example_skip(&s, tag)) {
                return false;
            }
            continue;
        }
        if (!stk_example_chunk(&s, &entry) || !read_entry(entry, &name, &value)) {
            return false;
        }
        uint32_t feature = look_up(m, t, name);
        if (feature == STK_EXAMPLE_UNKNOWN) {
            note(run, feature, value);
            continue;
        }
        if (!of_lists && take_usual(run, feature, value)) {
            continue;
        }
        give_up_layout(run);
        if (!(of_lists ? take_list : take_feature)(run, feature, value)) {
            return false;
        }
    }
    return true;
}

static bool take_message(struct run *run, struct stk_example_span s)
{
    bool sequence = run->parser->message == STK_EXAMPLE_SEQUENCE;
    run->parser->plain.place = run->parser->lists.place = 0;
    while (s.p < s.end) {
        uint64_t tag;
        struct stk_example_span part;
        if (!stk_example_varint(&s, &tag)) {
            return false;
        }
        bool good = tag == TAG_1 || (tag == TAG_2 && sequence)
                        ? stk_example_chunk(&s, &part) && take_map(run, part, tag == TAG_2)
                        : stk_example_skip(&s, tag);
        if (!good) {
            return false;
        }
    }
    return true;
}

static void fill_default(const struct run *run, struct stk_example_column *c,
                         const struct stk_example_feature *f)
{
    size_t size = stk_example_value_size(f->type);
    char *to = (char *)c->values + run->row * c->elements * size;
    if (f->default_count == c->elements) {
        if (c->elements) {
            memcpy(to, f->defaults, c->elements * size);
        }
        return;
    }
    for (size_t i = 0; i < c->elements; i++) {
        memcpy(to + i * size, f->defaults, size);
    }
}

static bool end_feature(const struct run *run, uint32_t feature)
{
    STK_ASSERT(feature < run->batch->column_count);
    struct stk_example_column *c = &run->batch->columns[feature];
    const struct stk_example_feature *f = &run->parser->spec->features[feature];
    struct state *state = &run->parser->states[feature];
    uint8_t what = state->what;
    if (what > GOOD) {
        return false;
    }
    if (c->kind == STK_EXAMPLE_FIXED && !c->is_list) {
        if (what == ABSENT && !f->defaults) {
            return false;
        }
        if (what == ABSENT) {
            fill_default(run, c, f);
        }
        c->count = (run->row + 1) * c->elements;
    } else {
        if (what == ABSENT && c->is_list && c->kind == STK_EXAMPLE_FIXED && !f->allow_missing) {
            return false;
        }
        int64_t end = (int64_t)(c->is_list ? c->steps : c->count);
        int64_t length = end - c->row_splits[run->row];
        c->row_splits[run->row + 1] = end;
        c->row_max = length > c->row_max ? length : c->row_max;
    }
    state->what = ABSENT;
    return true;
}

// Restores the state before the record.
static void undo(const struct run *run)
{
    for (size_t i = 0; i < run->batch->column_count; i++) {
        struct stk_example_column *c = &run->batch->columns[i];
        c->count = row_start(run, c);
        if (c->is_list) {
            c->steps = (size_t)c->row_splits[run->row];
        }
        run->parser->states[i].what = ABSENT;
    }
}

static const char *type_name(int type)
{
    return type == STK_EXAMPLE_BYTES ? "string" : type == STK_EXAMPLE_FLOAT ? "float" : "int64";
}

// "record 3 at byte 120".
static const char *place(const struct stk_record *record, char text[64])
{
    int n = snprintf(text, 64, "record %llu", (unsigned long long)record->number);
    if (record->offset != STK_RECORD_NO_OFFSET) {
        snprintf(text + n, 64 - (size_t)n, " at byte %llu", (unsigned long long)record->offset);
    }
    return text;
}

static void describe(const struct run *run, uint32_t feature, const struct stk_record *record,
                     struct stoker_err *err)
{
    STK_ASSERT(feature < run->batch->column_count);
    const struct stk_example_feature *f = &run->parser->spec->features[feature];
    const struct state *state = &run->parser->states[feature];
    const char *kind = f->is_list ? "feature list" : "feature", *type = type_name(f->type);
    char what[240], at[64], names[120];
    if (state->what == WRONG_TYPE) {
        snprintf(what, sizeof what, "Data types don't match. Data type: %s but expected type: %s",
                 type_name(state->type), type);
    } else if (state->what == WRONG_COUNT) {
        snprintf(what, sizeof what,
                 "Number of %s values != expected.  Values size: %llu but output shape holds %zu",
                 type, (unsigned long long)state->count, f->elements);
    } else {
        struct stk_example_span s = {record->data, record->data + record->size};
        stk_example_names(s, f->is_list, names, sizeof names);
        snprintf(what, sizeof what,
                 "(data type: %s) is required but could not be found; the record has %s", type,
                 names[0] ? names : "none");
    }
    stk_err_set_at(err, STOKER_EINPUT, (int64_t)record->offset, "%s, %s %.160s: %s",
                   place(record, at), kind, f->name, what);
}

static enum stoker_status parse_row(struct run *run, const struct stk_record *record,
                                    struct stoker_err *err)
{
    const struct stk_example_spec *spec = run->parser->spec;
    struct stk_example_span s = {record->data, record->data + record->size};
    char at[64];
    bool good = record->size == 0 || take_message(run, s);
    enum stoker_status status = STOKER_OK;
    if (!good && run->out_of_memory) {
        status = stk_err_nomem(err);
    } else if (!good) {
        status =
            stk_err_set_at(err, STOKER_EINPUT, (int64_t)record->offset,
                           "%s: could not parse it as %s", place(record, at),
                           run->parser->message == STK_EXAMPLE_SEQUENCE ? "tf.train.SequenceExample"
                                                                        : "tf.train.Example");
    }
    for (uint32_t i = 0; i < spec->count && !status; i++) {
        struct stk_example_column *c = &run->batch->columns[i];
        if (run->parser->states[i].what == GOOD && c->kind == STK_EXAMPLE_FIXED && !c->is_list) {
            c->count = (run->row + 1) * c->elements;
            run->parser->states[i].what = ABSENT;
            continue;
        }
        give_up_layout(run);
        if (end_feature(run, i)) {
            continue;
        }
        describe(run, i, record, err);
        status = STOKER_EINPUT;
    }
    if (status) {
        give_up_layout(run);
        undo(run);
    } else if (run->layout) {
        stk_example_layout_end(run->layout, record);
    }
    return status;
}

// Sets the counts of fixed-length columns from the number of rows: rows parsed by layout don't
// count their values.
static void count_values(struct stk_example_batch *b)
{
    for (size_t i = 0; i < b->column_count; i++) {
        struct stk_example_column *c = &b->columns[i];
        if (c->kind == STK_EXAMPLE_FIXED && !c->is_list) {
            c->count = b->rows * c->elements;
        }
    }
}

enum stoker_status stk_example_parse(struct stk_example_parser *p, struct stk_example_batch *b,
                                     const struct stk_record *records, size_t count, bool skip_bad,
                                     size_t *done, struct stoker_err *err)
{
    *done = 0;
    if (b->spec != p->spec) {
        return stk_err_set(err, STOKER_EINVAL, "the batch was opened with another specification");
    }
    enum stoker_status status = stk_example_reserve_rows(b, count, err);
    for (; *done < count && !status; ++*done) {
        if (stk_example_layouts_take(&p->layouts, b, &records[*done])) {
            b->rows++;
            continue;
        }
        struct run run = {.parser = p,
                          .batch = b,
                          .layout = stk_example_layouts_begin(&p->layouts, &records[*done]),
                          .row = b->rows};
        status = parse_row(&run, &records[*done], skip_bad ? NULL : err);
        if (!status) {
            b->rows++;
        } else if (status == STOKER_EINPUT && skip_bad) {
            b->skipped++;
            status = STOKER_OK;
        } else {
            break;
        }
    }
    count_values(b);
    return status;
}

enum stoker_status stk_example_parser_open(struct stk_example_parser **out,
                                           const struct stk_example_spec *spec,
                                           enum stk_example_message message, struct stoker_err *err)
{
    *out = NULL;
    if (message == STK_EXAMPLE_SINGLE && spec->list_count > 0) {
        return stk_err_set(err, STOKER_EINVAL,
                           "%.200s is a feature list, which an Example can't have",
                           spec->features[spec->lists[0]].name);
    }
    struct stk_example_parser *p = stk_alloc_zero(1, sizeof *p);
    struct state *states = stk_alloc_zero(spec->count + 1, sizeof *states);
    if (!p || !states) {
        stk_free(p);
        stk_free(states);
        return stk_err_nomem(err);
    }
    stk_example_layouts_init(&p->layouts);
    p->spec = spec;
    p->message = message;
    p->states = states;
    *out = p;
    return STOKER_OK;
}

void stk_example_parser_close(struct stk_example_parser *p)
{
    if (!p) {
        return;
    }
    stk_free(p->states);
    stk_free(p);
}
