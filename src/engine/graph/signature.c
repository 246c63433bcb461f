// SPDX-License-Identifier: Apache-2.0
// Checks inputs and infers outputs by an operation's signature, such as "uint8[...hwc], any? ->
// same". struct stk_op in op.h has the grammar. A malformed signature is a bug: it fails an
// assertion.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "engine/graph/op.h"

#define PARTS_MAX 8

struct part {
    char type[16], shape[16];
    bool has_shape, is_optional;
};

static void put(char *to, size_t room, const char *from, size_t size)
{
    STK_ASSERT(size < room);
    memcpy(to, from, size);
    to[size] = '\0';
}

// The next of the comma-separated parts; NULL at the end.
static const char *read_part(const char *at, struct part *p)
{
    *p = (struct part){0};
    at += strspn(at, ", ");
    size_t size = strcspn(at, "[?, ");
    if (size == 0 || strncmp(at, "->", 2) == 0) {
        return NULL;
    }
    put(p->type, sizeof p->type, at, size);
    at += size;
    p->has_shape = *at == '[';
    if (p->has_shape) {
        size = strcspn(++at, "]");
        put(p->shape, sizeof p->shape, at, size);
        at += size + 1;
    }
    p->is_optional = *at == '?';
    return at + p->is_optional;
}

enum stoker_status stk_op_want_inputs(const struct stk_op_infer *c, int least, int most,
                                      struct stoker_err *err)
{
    if (c->n_in >= least && c->n_in <= most) {
        return STOKER_OK;
    }
    return least == most ? stk_err_set(err, STOKER_EINVAL, "%s: takes %d value%s, got %d",
                                       c->op->name, most, most == 1 ? "" : "s", c->n_in)
                         : stk_err_set(err, STOKER_EINVAL, "%s: takes %d to %d values, got %d",
                                       c->op->name, least, most, c->n_in);
}

// A dtype's name, or "@" and the name of an argument that is one.
static enum stk_dtype type_of(const struct stk_op_infer *c, const char *name)
{
    enum stk_dtype type = STK_DT_BOOL;
    if (name[0] != '@') {
        bool is_there = stk_dtype_find(name, &type);
        STK_ASSERT(is_there);
        return type;
    }
    int k = 0;
    while (c->op->args[k].name && strcmp(c->op->args[k].name, name + 1) != 0) {
        k++;
    }
    STK_ASSERT(c->op->args[k].name && c->op->args[k].type == STK_ARG_DTYPE);
    return (enum stk_dtype)c->args[k].i;
}

static enum stoker_status check_input(const struct stk_op_infer *c, const struct stk_spec *in,
                                      const struct part *p, struct stoker_err *err)
{
    bool is_any = strcmp(p->type, "any") == 0;
    enum stk_dtype want = is_any ? in->dtype : type_of(c, p->type);
    char shape[STK_SHAPE_TEXT];
    if (in->dtype != want) {
        return stk_err_set(err, STOKER_EINVAL, "%s: takes %s%s, not %s", c->op->name, p->type,
                           want == STK_DT_STRING || want == STK_DT_BOOL ? "s" : "",
                           stk_dtype_name(in->dtype));
    }
    bool may_be_more = strncmp(p->shape, "...", 3) == 0;
    int rank = (int)strlen(p->shape) - (may_be_more ? 3 : 0), more = in->shape.rank - rank;
    if (p->has_shape && in->shape.rank >= 0 && more != 0 && !(may_be_more && more == 1)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: takes %s, not shape %s", c->op->name,
                           rank == 0 ? "one value"
                                     : (may_be_more ? "an image, or a stack of them" : "a vector"),
                           stk_shape_text(&in->shape, shape));
    }
    return STOKER_OK;
}

static void infer_output(const struct stk_op_infer *c, struct stk_spec *out, const struct part *p)
{
    if (strcmp(p->type, "same") == 0) {
        stk_spec_copy(out, &c->in[0]);
        return;
    }
    out->dtype = type_of(c, p->type);
    STK_ASSERT(p->has_shape || c->n_in > 0);
    out->shape = p->has_shape ? (struct stk_shape){.rank = p->shape[0] != '\0'} : c->in[0].shape;
    if (p->has_shape && p->shape[0]) {
        out->shape.dim[0] = isdigit((unsigned char)p->shape[0]) ? atoi(p->shape) : STK_UNKNOWN;
    }
}

enum stoker_status stk_op_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    const char *at = c->op->signature, *next;
    enum stoker_status s = STOKER_OK;
    struct part in[PARTS_MAX], out;
    int most = 0, least = 0;
    while (at && (next = read_part(at, &in[most])) != NULL) {
        least += !in[most++].is_optional;
        STK_ASSERT(most < PARTS_MAX); // with its terminator
        at = next;
    }
    s = at ? stk_op_want_inputs(c, least, most, err) : s;
    for (int j = 0; at && s == STOKER_OK && j < c->n_in; j++) {
        s = check_input(c, &c->in[j], &in[j], err);
    }
    const char *arrow = at ? strstr(at, "->") : NULL;
    at = arrow ? arrow + 2 : NULL;
    for (int k = 0; s == STOKER_OK && at && (next = read_part(at, &out)) != NULL; k++) {
        infer_output(c, &c->out[k], &out);
        c->n_out = k + 1;
        at = next;
    }
    return s == STOKER_OK && c->op->infer ? c->op->infer(c, err) : s;
}
