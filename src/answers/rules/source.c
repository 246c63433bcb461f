// SPDX-License-Identifier: Apache-2.0
// The user's own line that causes a finding: the function with most of its time, else a Python
// frame among the names of its causes. If the hooks of `stoker run` saw a line inside that
// function, it is the line: a frame only has the function's first. Kineto writes "train.py(35):
// main", TensorFlow and JAX
// "$train.py:35 main"; a name may continue with " in another name". Frames of installed packages
// and of Python itself are skipped: nobody changes those.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "profile/model/threads/python_frame.h"
#include "answers/rules/finding.h"

#define MAX_LINE 10000000
#define PART_OF_CAUSE 4 // a frame with less than a quarter of it isn't its source

static bool parse_frame(struct stk_str frame, struct stk_str *file, int64_t *line)
{
    struct stk_python_frame f = stk_python_frame_parse(frame);
    *file = f.file;
    *line = f.line;
    return f.line > 0 && f.line <= MAX_LINE && f.file.n > 3 && stk_python_frame_is_users(frame);
}

bool stk_rule_parse_source(const char *name, struct stk_str *file, int64_t *line)
{
    while (name && *name) {
        const char *in = strstr(name, " in ");
        struct stk_str frame = {name, in ? (size_t)(in - name) : strlen(name)};
        if (parse_frame(frame, file, line)) {
            return true;
        }
        name = in ? in + 4 : NULL;
    }
    return false;
}

static const char *told(const struct stk_rule_ctx *ctx, enum stk_told_place at)
{
    STK_ASSERT(at < STK_TOLD_PLACES);
    return ctx->pass.run->facts.told[at];
}

// A frame without a folder may belong to any package. If the hooks recorded the job's own lines, it
// counts as the job's only in their files.
static bool may_be_anybodys(const struct stk_rule_ctx *ctx, const char *name, struct stk_str file)
{
    bool is_known = name[0] != '$' || !told(ctx, STK_TOLD_LINE);
    for (int i = 0; i < STK_TOLD_PLACES && !is_known; i++) {
        const char *place = told(ctx, (enum stk_told_place)i);
        const char *at = place ? memmem(place, strlen(place), file.p, file.n) : NULL;
        is_known = at && at[file.n] == ':';
    }
    return !is_known;
}

// The line of a place "Class.function (file.py:12)" if it is in this function; 0: it isn't.
static int64_t line_inside(const char *place, const struct stk_python_frame *frame)
{
    const char *open = place ? strrchr(place, '(') : NULL;
    const char *colon = open ? strrchr(open, ':') : NULL;
    if (!colon || open == place || open[-1] != ' ' || frame->function.n == 0) {
        return 0;
    }
    struct stk_str function = {place, (size_t)(open - 1 - place)};
    struct stk_str file = {open + 1, (size_t)(colon - open - 1)};
    const char *slash = memrchr(frame->file.p, '/', frame->file.n);
    const char *base = slash ? slash + 1 : frame->file.p;
    size_t before = function.n - frame->function.n; // of the class
    bool is_same =
        stk_str_eq(file, (struct stk_str){base, (size_t)(frame->file.p + frame->file.n - base)}) &&
        stk_str_ends(function, frame->function) && (before == 0 || function.p[before - 1] == '.');
    int64_t line = is_same ? strtoll(colon + 1, NULL, 10) : 0;
    return line >= frame->line && line <= MAX_LINE ? line : 0;
}

// The line inside a frame's function that takes the most of a part's time, if the hooks saw it: of
// fetches, where the loop fetches.
static int64_t line_of_frame(const struct stk_rule_ctx *ctx, const struct stk_python_frame *frame,
                             int part)
{
    static const enum stk_told_place lines[] = {STK_TOLD_LINE, STK_TOLD_LINE_2ND, STK_TOLD_LINE_3RD,
                                                STK_TOLD_PLACES};
    static const enum stk_told_place fetches[] = {STK_TOLD_LOOP, STK_TOLD_FETCH, STK_TOLD_FETCH_2ND,
                                                  STK_TOLD_PLACES};
    const enum stk_told_place *at = part == STK_PART_INPUT ? fetches : lines;
    int64_t line = 0;
    for (; *at != STK_TOLD_PLACES && line == 0; at++) {
        line = line_inside(told(ctx, *at), frame);
    }
    return line ? line : frame->line;
}

static bool take(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *name,
                 int part)
{
    struct stk_str file;
    int64_t line;
    if (!stk_rule_parse_source(name, &file, &line) || may_be_anybodys(ctx, name, file)) {
        return false;
    }
    struct stk_python_frame frame = stk_python_frame_parse(stk_str_from(name));
    bool is_frame = stk_str_eq(frame.file, file) && frame.line == line;
    f->source.file = stk_arena_strndup(ctx->pass.arena, file.p, file.n);
    f->source.line = is_frame ? line_of_frame(ctx, &frame, part) : line;
    f->has_source = f->source.file != NULL;
    return f->has_source;
}

// "function (file.py:12)", or without the function.
static void take_place(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *place)
{
    const char *open = place ? strrchr(place, '(') : NULL;
    const char *file = open ? open + 1 : place;
    const char *colon = file ? strrchr(file, ':') : NULL;
    int64_t line = colon ? strtoll(colon + 1, NULL, 10) : 0;
    if (line <= 0 || line > MAX_LINE || colon == file) {
        return;
    }
    f->source.file = stk_arena_strndup(ctx->pass.arena, file, (size_t)(colon - file));
    f->source.line = line;
    f->has_source = f->source.file != NULL;
}

void stk_finding_source(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, uint32_t parts)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    int64_t best_ns = -1;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        const struct stk_cause *c = &ctx->pass.run->causes[p];
        bool owners = stk_rule_owners_tell(c);
        const struct stk_cause_name *list = owners ? c->owners : c->names;
        int count = owners ? c->owner_count : c->name_count;
        for (int i = 0; i < count && (parts & (1u << p)); i++) {
            bool fills = owners || PART_OF_CAUSE * list[i].ns >= c->ns;
            int64_t ns = owners ? stk_owner_weight(list[i].ns, list[i].count) : list[i].ns;
            if (fills && ns > best_ns && take(ctx, f, list[i].name, p)) {
                best_ns = ns;
            }
        }
    }
    if (!f->has_source && stk_rule_on_host(ctx)) {
        bool input = parts == 1u << STK_PART_INPUT && told(ctx, STK_TOLD_LOOP);
        stk_finding_told(ctx, f, input ? STK_TOLD_LOOP : STK_TOLD_LINE);
    }
}

void stk_finding_told(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                      enum stk_told_place at)
{
    take_place(ctx, f, told(ctx, at));
}

const char *stk_rule_owner(const struct stk_rule_ctx *ctx, const char *name)
{
    struct stk_str file;
    int64_t line;
    if (!stk_rule_parse_source(name, &file, &line)) {
        return stk_rule_name(ctx, name);
    }
    struct stk_str function = stk_python_frame_parse(stk_str_from(name)).function;
    const char *slash = memrchr(file.p, '/', file.n); // the folder is in the finding's source
    const char *base = slash ? slash + 1 : file.p;
    return stk_rule_text(ctx, "%.*s (%.*s:%" PRId64 ")", (int)(function.n < 100 ? function.n : 100),
                         function.p, (int)(file.p + file.n - base), base, line);
}
