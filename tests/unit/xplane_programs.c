// SPDX-License-Identifier: Apache-2.0
// Compiled programs of a profile: HLO modules written here, field by field, what the reader keeps
// of them, and which differences the model reports between programs of one function.
#include "check.h"
#include "profile/model/analysis.h"
#include "profile/model/steps/jitted.h"
#include "xplane_writer.h"

#define F32 11
#define S32 4

// A parameter of an entry computation; packed: dimensions as writers of today put them.
static void put_parameter(struct pb *computation, int number, const char *name, int element,
                          int64_t rows, int64_t columns, bool packed)
{
    struct pb instruction = {0}, shape = {0}, metadata = {0}, dims = {0};
    pb_int(&shape, 2, element);
    if (packed) {
        pb_varint(&dims, (uint64_t)rows);
        pb_varint(&dims, (uint64_t)columns);
        pb_msg(&shape, 3, &dims);
    } else {
        pb_int(&shape, 3, rows);
        pb_int(&shape, 3, columns);
    }
    pb_str(&metadata, 2, name);
    pb_str(&instruction, 1, "Arg_0.1");
    pb_str(&instruction, 2, "parameter");
    pb_msg(&instruction, 3, &shape);
    pb_msg(&instruction, 7, &metadata);
    if (number) {
        pb_int(&instruction, 9, number);
    }
    pb_msg(computation, 2, &instruction);
}

// A program of two arguments, the second of which is `columns` wide and lies first in the file; a
// computation that it calls has a parameter, too. `path` is that of its operation.
static struct pb program_of(const char *name, int id, int element, int64_t columns,
                            const char *path)
{
    struct pb proto = {0}, module = {0}, called = {0}, entry = {0}, add = {0}, metadata = {0};
    put_parameter(&called, 0, "jit(step)/add", F32, 1, 1, true);
    pb_int(&called, 5, 7);
    put_parameter(&entry, 1, "x", element, 8, columns, id % 2);
    pb_str(&add, 2, "add");
    pb_str(&metadata, 2, path);
    pb_msg(&add, 7, &metadata);
    pb_msg(&entry, 2, &add);
    put_parameter(&entry, 0, "params[0]", F32, 64, 64, true);
    pb_int(&entry, 5, 9);
    pb_str(&module, 1, name);
    pb_msg(&module, 3, &called);
    pb_msg(&module, 3, &entry);
    if (id) {
        pb_int(&module, 5, id);
    }
    pb_int(&module, 6, 9);
    pb_msg(&proto, 1, &module);
    return proto;
}

static struct pb program(const char *name, int id, int element, int64_t columns)
{
    return program_of(name, id, element, columns, "jit(step)/jvp(dense)/add");
}

static void put_program(struct pb *plane, int64_t key, struct pb proto)
{
    struct pb entry = {0}, meta = {0}, stat = {0};
    pb_int(&entry, 1, key);
    pb_int(&meta, 1, key);
    pb_str(&meta, 2, "jit_step(1)");
    pb_int(&stat, 1, 4);
    pb_msg(&stat, 6, &proto);
    pb_msg(&meta, 5, &stat);
    pb_msg(&entry, 2, &meta);
    pb_msg(plane, 4, &entry);
}

static struct stk_trace *read_planes(struct pb *facts, bool packed)
{
    struct pb space = {0}, host = pb_plane("/host:CPU"), line = pb_line(7, "python", 1000);
    struct pb e = pb_event(1, 1000, 2000);
    struct stk_trace *t;
    struct stoker_err err;
    pb_msg(&line, 4, &e);
    pb_msg(&host, 3, &line);
    pb_named(&host, 4, 1, "PjitFunction(step)");
    pb_msg(&space, 1, facts);
    pb_msg(&space, 1, &host);
    struct pb bytes = packed ? pb_gzip(space.p, space.n) : space;
    CHECK_EQ(read_xplane_bytes(bytes.p, bytes.n, 2, &t, &err), STOKER_OK);
    if (!t) {
        exit(1);
    }
    free(space.p);
    if (packed) {
        free(bytes.p);
    }
    return t;
}

static void what_is_kept(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct pb facts = pb_plane("/host:metadata");
        put_program(&facts, 5, program("jit_step", 12, F32, 80));
        put_program(&facts, 2, program("jit_step", 3, F32, 64));
        put_program(&facts, 9, program("jit_apply", 0, S32, 1));
        struct stk_trace *t = read_planes(&facts, packed);
        CHECK_EQ(t->program_count, 3);
        CHECK_EQ(t->argument_count, 6);
        CHECK_EQ(t->programs_left_out, 0);
        CHECK_EQ(t->issues[STK_ISSUE_MESSAGE_INVALID].count, 0);
        const struct stk_program *p = t->programs; // of one name, by age
        CHECK_STR(text_of(t, p[0].name), "jit_step");
        CHECK_EQ(p[0].id, 3);
        CHECK_EQ(p[1].id, 12);
        CHECK_STR(text_of(t, p[2].name), "jit_apply");
        const struct stk_argument *first = &t->arguments[p[0].first];
        CHECK_EQ(p[0].count, 2);
        CHECK_STR(text_of(t, first[0].name), "params[0]");
        CHECK_STR(text_of(t, first[0].type), "f32[64,64]");
        CHECK_STR(text_of(t, first[1].name), "x");
        CHECK_STR(text_of(t, first[1].type), "f32[8,64]");
        CHECK_STR(text_of(t, t->arguments[p[2].first + 1].type), "s32[8,1]");
        stk_trace_free(t);
    }
}

// A backward pass is known by the paths of operations; a function computes gradients if all of its
// programs do.
static void what_differentiates(void)
{
    struct pb facts = pb_plane("/host:metadata");
    const char *today = "jit(loss)/transpose(jvp())/mul", *plain = "jit(loss)/transpose";
    const char *once = "jit(loss)/jit(main)/transpose(jvp(dense))/dot_general";
    put_program(&facts, 1, program_of("jit_loss", 1, F32, 64, today));
    put_program(&facts, 2, program_of("jit_loss", 2, F32, 65, once));
    put_program(&facts, 3, program_of("jit__lambda_", 3, F32, 64, today));
    put_program(&facts, 4, program_of("jit__lambda_", 4, F32, 64, plain));
    put_program(&facts, 5, program_of("jit_turn", 5, F32, 64, plain));
    struct stk_trace *t = read_planes(&facts, false);
    CHECK_EQ(t->program_count, 5);
    CHECK(stk_jitted_differentiates(t, STK_STR("PjitFunction(loss)")));
    CHECK(!stk_jitted_differentiates(t, STK_STR("PjitFunction(<lambda>)")));
    CHECK(!stk_jitted_differentiates(t, STK_STR("PjitFunction(turn)")));
    CHECK(!stk_jitted_differentiates(t, STK_STR("PjitFunction(other)")));
    CHECK(!stk_jitted_differentiates(t, STK_STR("loss")));
    stk_trace_free(t);
}

// What is no program, or is cut inside, is passed over, and the rest is read.
static void what_is_not(void)
{
    struct pb facts = pb_plane("/host:metadata"), text = {0}, cut, proto = {0}, module = {0};
    pb_str(&text, 1, "any bytes");
    put_program(&facts, 1, text);
    pb_raw(&proto, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
    put_program(&facts, 2, proto);
    cut = program("jit_cut", 4, F32, 64);
    cut.n -= 9; // and the length says more
    put_program(&facts, 3, cut);
    proto = (struct pb){0};
    pb_str(&module, 1, "jit_none"); // its entry is not there
    pb_int(&module, 6, 1);
    pb_msg(&proto, 1, &module);
    put_program(&facts, 4, proto);
    put_program(&facts, 5, program("jit_step", 3, F32, 64));
    struct stk_trace *t = read_planes(&facts, false);
    CHECK_EQ(t->program_count, 1);
    CHECK_STR(text_of(t, t->programs[0].name), "jit_step");
    CHECK_EQ(t->programs[0].count, 2);
    stk_trace_free(t);
}

// Asks what differs between the programs of a function.
static struct stk_recompiled explain(struct stk_trace *t, const char *call, struct stk_arena *arena)
{
    struct stk_analysis a = {.t = t, .out = arena};
    struct stk_recompiled r = {.name = call};
    CHECK(stk_recompiled_explain(&a, &r));
    return r;
}

static void what_differs(void)
{
    struct pb facts = pb_plane("/host:metadata");
    struct stk_arena arena;
    stk_arena_init(&arena, 0);
    for (int i = 0; i < 5; i++) {
        put_program(&facts, i + 1, program("jit_step", 2 * i, F32, 64 + i));
        put_program(&facts, i + 11, program("jit__lambda_", 2 * i + 1, F32, 64));
        put_program(&facts, i + 21, program("jit_mixed", 2 * i, i % 2 ? F32 : S32, 64));
    }
    put_program(&facts, 31, program("jit_alone", 100, F32, 64));
    struct stk_trace *t = read_planes(&facts, false);
    struct stk_recompiled r = explain(t, "PjitFunction(step)", &arena);
    CHECK_EQ(r.programs, 5);
    CHECK_EQ(r.changed_count, 1);
    CHECK_STR(r.changed[0].name, "x");
    CHECK_EQ(r.changed[0].type_count, 5);
    CHECK_STR(r.changed[0].types[0], "f32[8,64]");
    CHECK_STR(r.changed[0].types[2], "f32[8,66]");
    r = explain(t, "PjitFunction(<lambda>)", &arena);
    CHECK_EQ(r.programs, 5);
    CHECK_EQ(r.changed_count, 0);
    r = explain(t, "PjitFunction(mixed)", &arena);
    CHECK_EQ(r.changed[0].type_count, 2);
    CHECK(r.changed[0].types[2] == NULL);
    CHECK_EQ(explain(t, "PjitFunction(alone)", &arena).programs, 0);
    CHECK_EQ(explain(t, "PjitFunction(other)", &arena).programs, 0);
    CHECK_EQ(explain(t, "PjitFunction()", &arena).programs, 0);
    CHECK_EQ(explain(t, "train_step", &arena).programs, 0);
    stk_trace_free(t);
    stk_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(what_is_kept);
    CHECK_RUN(what_differentiates);
    CHECK_RUN(what_is_not);
    CHECK_RUN(what_differs);
    return check_done("unit.xplane_programs");
}
