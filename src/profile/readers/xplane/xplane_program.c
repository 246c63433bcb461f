// SPDX-License-Identifier: Apache-2.0
// The compiled programs of a profile: XLA's profilers put each whole HLO module into the plane
// `/host:metadata`. The reader takes its name, its number, and the names, types and shapes of its
// entry's parameters. If these differ between programs of one function, that is why it was compiled
// again. The reader also checks whether an operation of the entry is in the transpose of a
// function's linearization, JAX's name for the backward pass: then the program computes gradients.
//
// Format: an XEventMetadata per program, with a stat whose bytes are an HloProto (xla/service/
// hlo.proto and xla/xla_data.proto in openxla/xla). Seen: JAX 0.8 (AMD MI300X), 0.10 (CPU), TPU
// v6e. Method: a walk over the fields that skips everything but the entry computation by length.
// Only one program's parameters are in memory. Limits: PARAMETERS_MAX of them; names and types
// beyond NAME_MAX_BYTES are cut. Anything but an HloProto is skipped; damage inside one ends it.
// JAX removes parameters that the function doesn't use.
#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/sort.h"
#include "base/text.h"
#include "profile/readers/xplane/xplane_reading.h"

#define PARAMETERS_MAX ((size_t)1 << 16)
#define NAME_MAX_BYTES 96
#define PLANE_EVENT_METADATA 4
#define ENTRY_VALUE 2
#define META_STATS 5
#define STAT_BYTES 6
#define PROTO_MODULE 1
#define MODULE_NAME 1
#define MODULE_COMPUTATIONS 3
#define MODULE_ID 5
#define MODULE_ENTRY 6
#define COMPUTATION_INSTRUCTIONS 2
#define COMPUTATION_ID 5
#define INSTRUCTION_OPCODE 2
#define INSTRUCTION_SHAPE 3
#define INSTRUCTION_METADATA 7
#define INSTRUCTION_NUMBER 9
#define METADATA_OP_NAME 2
#define SHAPE_ELEMENT 2
#define SHAPE_DIMENSIONS 3

struct parameter {
    int64_t number;
    char name[NAME_MAX_BYTES], type[NAME_MAX_BYTES];
};

struct programs {
    struct stk_xp_reading *r;
    struct stk_pb_walk *walk;
    struct stk_vec parameters; // struct parameter, of the current program
    char name[NAME_MAX_BYTES];
    int64_t id, entry;
    int64_t computation; // id of the current one
    bool has_entry;      // of the current program
    bool whole;          // no part of it was lost
    bool differentiates; // an operation of its entry is of a backward pass
    bool no_memory;
};

typedef void field_fn(struct programs *s, const struct stk_pb_field *f);

// Calls fn for each field of the message [at, at + size). False: the message ended early.
static bool each(struct programs *s, uint64_t at, uint64_t size, field_fn *fn)
{
    struct stk_pb_walk *w = s->walk;
    uint64_t end = at + size;
    struct stk_pb_field f;
    enum stk_pb_step step = STK_PB_FIELD;
    w->pos = at;
    w->end = end;
    while (!s->no_memory && (step = stk_pb_walk_next(w, &f)) == STK_PB_FIELD) {
        uint64_t after = w->pos;
        fn(s, &f);
        w->pos = after;
        w->end = end;
    }
    return step == STK_PB_END && !s->no_memory;
}

static void copy_text(char to[NAME_MAX_BYTES], const uint8_t *p, size_t n)
{
    size_t kept = p ? (n < NAME_MAX_BYTES - 1 ? n : NAME_MAX_BYTES - 1) : 0;
    while (kept < n && kept > 0 && (p[kept] & 0xc0) == 0x80) { // not inside a character
        kept--;
    }
    if (kept) {
        memcpy(to, p, kept);
    }
    to[kept] = 0;
}

static const char *element_name(uint64_t type)
{
    static const char *const names[] = {
        [1] = "pred",
        [2] = "s8",
        [3] = "s16",
        [4] = "s32",
        [5] = "s64",
        [6] = "u8",
        [7] = "u16",
        [8] = "u32",
        [9] = "u64",
        [10] = "f16",
        [11] = "f32",
        [12] = "f64",
        [13] = "tuple",
        [14] = "opaque",
        [15] = "c64",
        [16] = "bf16",
        [17] = "token",
        [18] = "c128",
        [19] = "f8e5m2",
        [20] = "f8e4m3fn",
        [21] = "s4",
        [22] = "u4",
        [23] = "f8e4m3b11fnuz",
        [24] = "f8e5m2fnuz",
        [25] = "f8e4m3fnuz",
    };
    return type < sizeof names / sizeof names[0] ? names[type] : NULL;
}

// A type as XLA writes it: "f32[8,82,64]".
struct shape {
    char dims[NAME_MAX_BYTES - 32];
    size_t used;
    uint64_t element;
};

static void add_dimension(struct shape *shape, uint64_t size)
{
    char number[STK_TEXT_NUMBER_MAX];
    size_t n = stk_text_put_i64(number, (int64_t)size);
    if (shape->used + n + 2 < sizeof shape->dims) {
        if (shape->used) {
            shape->dims[shape->used++] = ',';
        }
        memcpy(shape->dims + shape->used, number, n + 1);
        shape->used += n;
    }
}

static void write_type(char to[NAME_MAX_BYTES], const uint8_t *p, size_t n)
{
    struct shape shape = {.dims = ""};
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == SHAPE_ELEMENT && f.wire == STK_PB_VARINT) {
            shape.element = f.value;
        } else if (f.number == SHAPE_DIMENSIONS && f.wire == STK_PB_VARINT) {
            add_dimension(&shape, f.value);
        } else if (f.number == SHAPE_DIMENSIONS && f.wire == STK_PB_LEN) { // packed
            struct stk_pb_cursor packed = {f.data, f.data + f.value};
            uint64_t size;
            while (packed.p < packed.end && stk_pb_varint(&packed, &size) == STK_PB_FIELD) {
                add_dimension(&shape, size);
            }
        }
    }
    const char *element = element_name(shape.element);
    if (element) {
        snprintf(to, NAME_MAX_BYTES, "%s[%s]", element, shape.dims);
    } else {
        snprintf(to, NAME_MAX_BYTES, "type %" PRIu64 "[%s]", shape.element, shape.dims);
    }
}

// Is it the path of an operation like "jit(loss_fn)/transpose(jvp(dense))/dot_general"?
static bool is_backward(struct stk_str path)
{
    return stk_str_contains(path, STK_STR("/transpose(jvp("));
}

// "params[0]", the name of the function's parameter; paths of operations aren't parameter names.
static void read_op_name(struct programs *s, char to[NAME_MAX_BYTES], const uint8_t *p, size_t n)
{
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number != METADATA_OP_NAME || f.wire != STK_PB_LEN || !f.value) {
            continue;
        }
        if (!memchr(f.data, '/', (size_t)f.value)) {
            copy_text(to, f.data, (size_t)f.value);
        } else if (!s->differentiates) {
            s->differentiates =
                is_backward((struct stk_str){(const char *)f.data, (size_t)f.value});
        }
    }
}

static void keep_parameter(struct programs *s, const struct parameter *parameter)
{
    struct parameter *slot = NULL;
    if (s->parameters.count < s->parameters.max_count) {
        slot = stk_vec_push(&s->parameters);
        s->no_memory |= !slot;
    }
    s->whole &= slot != NULL;
    if (slot) {
        *slot = *parameter;
    }
}

static void instruction_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number != COMPUTATION_INSTRUCTIONS || f->wire != STK_PB_LEN ||
        f->value > STK_PB_WINDOW / 2) {
        return; // no parameter is that large
    }
    size_t n = (size_t)f->value;
    const uint8_t *p = n ? stk_pb_walk_bytes(s->walk, f->offset, n) : NULL;
    struct stk_pb_cursor c = {p, p ? p + n : p};
    struct stk_pb_field g;
    struct parameter parameter = {.name = ""};
    bool is_parameter = false;
    while (stk_pb_next(&c, &g) == STK_PB_FIELD) {
        if (g.number == INSTRUCTION_NUMBER && g.wire == STK_PB_VARINT) {
            parameter.number = (int64_t)g.value;
        }
        if (g.wire != STK_PB_LEN) {
            continue;
        }
        if (g.number == INSTRUCTION_OPCODE) {
            is_parameter = stk_str_eq((struct stk_str){(const char *)g.data, (size_t)g.value},
                                      STK_STR("parameter"));
        } else if (g.number == INSTRUCTION_SHAPE) {
            write_type(parameter.type, g.data, (size_t)g.value);
        } else if (g.number == INSTRUCTION_METADATA) {
            read_op_name(s, parameter.name, g.data, (size_t)g.value);
        }
    }
    if (is_parameter) {
        keep_parameter(s, &parameter);
    }
}

static void computation_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number == COMPUTATION_ID && f->wire == STK_PB_VARINT) {
        s->computation = (int64_t)f->value;
    }
}

// The entry's number comes after all computations, and each computation's own number after its
// instructions.
static void find_entry(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number != MODULE_COMPUTATIONS || f->wire != STK_PB_LEN) {
        return;
    }
    s->computation = -1;
    s->whole &= each(s, f->offset, f->value, computation_field);
    if (s->computation == s->entry) {
        s->has_entry = true;
        s->parameters.count = 0;
        s->whole &= each(s, f->offset, f->value, instruction_field);
    }
}

static void module_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number == MODULE_NAME && f->wire == STK_PB_LEN) {
        size_t n = (size_t)(f->value < NAME_MAX_BYTES ? f->value : NAME_MAX_BYTES);
        copy_text(s->name, n ? stk_pb_walk_bytes(s->walk, f->offset, n) : NULL, n);
    } else if (f->number == MODULE_ID && f->wire == STK_PB_VARINT) {
        s->id = (int64_t)f->value;
    } else if (f->number == MODULE_ENTRY && f->wire == STK_PB_VARINT) {
        s->entry = (int64_t)f->value;
    }
}

STK_ORDER(by_number, struct parameter, STK_UP(number))

static void hand_over(struct programs *s)
{
    struct stk_build *b = s->r->build;
    bool kept = stk_build_program(b, stk_str_from(s->name), s->id);
    stk_sort(s->parameters.items, s->parameters.count, sizeof(struct parameter), by_number);
    for (size_t i = 0; i < s->parameters.count && kept; i++) {
        const struct parameter *p = stk_vec_at(&s->parameters, i);
        kept = stk_build_argument(b, stk_str_from(p->name), stk_str_from(p->type));
    }
    if (!kept) {
        stk_build_program_left_out(b);
    } else if (s->differentiates) {
        stk_build_program_differentiates(b);
    }
}

static void proto_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number != PROTO_MODULE || f->wire != STK_PB_LEN) {
        return;
    }
    s->name[0] = 0;
    s->id = 0;
    s->entry = -1;
    s->has_entry = false;
    s->whole = true;
    s->differentiates = false;
    s->parameters.count = 0;
    if (each(s, f->offset, f->value, module_field) && s->name[0] && s->entry >= 0 &&
        each(s, f->offset, f->value, find_entry) && s->has_entry && s->whole) {
        hand_over(s);
    }
}

static void stat_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number == STAT_BYTES && f->wire == STK_PB_LEN) {
        (void)each(s, f->offset, f->value, proto_field);
    }
}

static void meta_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number == META_STATS && f->wire == STK_PB_LEN) {
        (void)each(s, f->offset, f->value, stat_field);
    }
}

static void entry_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number == ENTRY_VALUE && f->wire == STK_PB_LEN) {
        (void)each(s, f->offset, f->value, meta_field);
    }
}

static void plane_field(struct programs *s, const struct stk_pb_field *f)
{
    if (f->number == PLANE_EVENT_METADATA && f->wire == STK_PB_LEN) {
        (void)each(s, f->offset, f->value, entry_field);
    }
}

enum stoker_status stk_xp_read_programs(struct stk_xp_reading *r, struct stk_pb_walk *walk,
                                        uint64_t offset, uint64_t size)
{
    STK_ASSERT(r && walk);
    struct programs s = {.r = r, .walk = walk};
    stk_vec_init(&s.parameters, sizeof(struct parameter), PARAMETERS_MAX);
    (void)each(&s, offset, size, plane_field);
    stk_vec_deinit(&s.parameters);
    if (walk->failed) {
        return r->err->code;
    }
    return s.no_memory ? stk_err_nomem(r->err) : STOKER_OK;
}
