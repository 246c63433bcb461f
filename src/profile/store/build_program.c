// SPDX-License-Identifier: Apache-2.0
// Compiled programs in a profile, and the arrays that they take: facts from a reader. finish()
// sorts them by name and id, so those of one function are neighbors.
// Limits: STK_PROGRAMS_MAX programs with STK_ARGUMENTS_MAX arguments in all; a program without room
// for its last argument isn't kept at all, since programs are compared.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/store/build_impl.h"

// A slot; NULL: the cap is reached, or no memory.
static void *slot_in(struct stk_build *b, struct stk_vec *v)
{
    if (v->count == v->max_count) {
        return NULL;
    }
    void *slot = stk_vec_push(v);
    if (!slot) {
        b->failure = STOKER_ENOMEM;
    }
    return slot;
}

bool stk_build_program(struct stk_build *b, struct stk_str name, int64_t id)
{
    struct stk_program *program = slot_in(b, &b->programs);
    if (program) {
        *program = (struct stk_program){
            .name = stk_build_intern(b, name), .id = id, .first = (uint32_t)b->arguments.count};
    }
    return program != NULL;
}

bool stk_build_argument(struct stk_build *b, struct stk_str name, struct stk_str type)
{
    STK_ASSERT(b->programs.count);
    struct stk_program *program = stk_vec_at(&b->programs, b->programs.count - 1);
    struct stk_argument *argument = slot_in(b, &b->arguments);
    if (!argument) {
        b->arguments.count = program->first;
        b->programs.count--;
        return false;
    }
    *argument =
        (struct stk_argument){.name = stk_build_intern(b, name), .type = stk_build_intern(b, type)};
    program->count++;
    return true;
}

void stk_build_program_differentiates(struct stk_build *b)
{
    STK_ASSERT(b->programs.count);
    struct stk_program *program = stk_vec_at(&b->programs, b->programs.count - 1);
    program->differentiates = true;
}

void stk_build_program_left_out(struct stk_build *b)
{
    b->programs_left_out++;
}

STK_ORDER(by_name_and_id, struct stk_program, STK_UP(name) STK_UP(id) STK_UP(first))

// A copy of the builder's items for the trace; NULL: none, or no memory.
static void *copy_of(const struct stk_vec *v)
{
    void *copy = v->count ? stk_alloc_array(v->count, v->item_size) : NULL;
    return copy ? memcpy(copy, v->items, v->count * v->item_size) : NULL;
}

enum stoker_status stk_build_programs(struct stk_finish *f, struct stoker_err *err)
{
    struct stk_build *b = f->b;
    struct stk_trace *t = f->t;
    t->programs = copy_of(&b->programs);
    t->arguments = copy_of(&b->arguments);
    if ((b->programs.count && !t->programs) || (b->arguments.count && !t->arguments)) {
        return stk_err_nomem(err);
    }
    t->program_count = (uint32_t)b->programs.count;
    t->argument_count = (uint32_t)b->arguments.count;
    t->programs_left_out = b->programs_left_out;
    for (uint32_t i = 0; i < t->program_count; i++) {
        t->programs[i].name = f->builder_map[t->programs[i].name];
    }
    for (uint32_t i = 0; i < t->argument_count; i++) {
        t->arguments[i].name = f->builder_map[t->arguments[i].name];
        t->arguments[i].type = f->builder_map[t->arguments[i].type];
    }
    stk_sort(t->programs, t->program_count, sizeof *t->programs, by_name_and_id);
    return STOKER_OK;
}
