// SPDX-License-Identifier: Apache-2.0
// Names of the input pipeline: see input_kinds.h. Asked once per distinct name.
#include "profile/model/input/input_kinds.h"

#include "profile/model/threads/python_frame.h"

enum scope { SCOPE_STAGE, SCOPE_OP, SCOPE_LOADER, SCOPE_INSIDE };
enum how { HOW_STARTS, HOW_IS, HOW_HAS };

struct row {
    struct stk_str pattern;
    uint8_t scope, how, kind;
    bool is_async;
};

static const struct row rows[] = {
#define I(scope, how, pattern, kind, is_async)                                                     \
    {{pattern, sizeof pattern - 1}, SCOPE_##scope, HOW_##how, STK_INPUT_##kind, is_async},
#include "profile/model/input/input_kinds.def"
};

const char *stk_input_kind_key(enum stk_input_kind kind)
{
    static const char *const keys[] = {
#define K(id, key, meaning) key,
#include "profile/model/input/input_kinds.def"
    };
    return (unsigned)kind < STK_INPUT_KINDS ? keys[kind] : "";
}

static bool matches(const struct row *r, struct stk_str s)
{
    bool any_case = r->scope == SCOPE_LOADER || r->scope == SCOPE_INSIDE;
    switch (r->how) {
    case HOW_IS:
        return stk_str_eq(s, r->pattern);
    case HOW_HAS:
        return any_case ? stk_str_contains_nocase(s, r->pattern) : stk_str_contains(s, r->pattern);
    default:
        return stk_str_starts(s, r->pattern);
    }
}

static const struct row *look_up(enum scope scope, struct stk_str s)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].scope == scope && matches(&rows[i], s)) {
            return &rows[i];
        }
    }
    return NULL;
}

// Here the index identifies an input. Elsewhere it counts passes or files.
static bool keeps_index(struct stk_str op)
{
    return stk_str_starts(op, STK_STR("Zip")) || stk_str_starts(op, STK_STR("Concatenate")) ||
           stk_str_starts(op, STK_STR("DirectedInterleave"));
}

static size_t iterator_path(struct stk_str name, char *out, size_t size)
{
    size_t n = 0, op = 0; // where the current operator begins
    for (size_t i = 0; i < name.n && n + 1 < size; i++) {
        if (name.p[i] == '[' && !keeps_index((struct stk_str){name.p + op, i - op})) {
            const char *close = memchr(name.p + i, ']', name.n - i);
            if (close) {
                i = (size_t)(close - name.p);
                continue;
            }
        }
        if (name.p[i] == ':') {
            op = i + 1;
        }
        out[n++] = name.p[i];
    }
    out[n] = '\0';
    return n;
}

static struct stk_str last_operator(struct stk_str path)
{
    size_t end = path.n, start;
    if (end && path.p[end - 1] == ']') { // the index is left out
        while (end && path.p[end - 1] != '[') {
            end--;
        }
        end = end ? end - 1 : path.n; // a bracket without an opening one doesn't count
    }
    for (start = end; start > 0 && path.p[start - 1] != ':'; start--)
        ;
    return (struct stk_str){path.p + start, end - start};
}

// Type of "scope/name:Type"; the whole name if it has none (DecodeImageV2Op::JPEG).
static struct stk_str operation_type(struct stk_str name)
{
    for (size_t i = name.n; i > 1; i--) {
        if (name.p[i - 1] == ':' && name.p[i - 2] == ':') {
            return name;
        } else if (name.p[i - 1] == ':') {
            return (struct stk_str){name.p + i, name.n - i};
        }
    }
    return name;
}

size_t stk_input_stage_text(struct stk_str name, struct stk_input_name what, char *out, size_t size)
{
    if (what.is_pipeline) {
        return iterator_path(name, out, size);
    }
    struct stk_str type = operation_type(name);
    // "cond/IteratorGetNext_4:IteratorGetNext" is one operation of many.
    bool is_operation = type.n < name.n && name.p[name.n - type.n - 1] == ':' &&
                        stk_str_starts(type, STK_STR("IteratorGetNext"));
    return stk_python_frame_text(is_operation ? type : name, out, size);
}

static struct stk_input_name named(enum stk_input_role role, const struct row *r,
                                   enum stk_input_kind otherwise)
{
    return (struct stk_input_name){.role = (uint8_t)role,
                                   .kind = (uint8_t)(r ? r->kind : otherwise),
                                   .is_async = r && r->is_async};
}

static struct stk_input_name classify_python(struct stk_str name, uint32_t classes, bool is_next)
{
    static const struct stk_input_name none;
    struct stk_str function = stk_python_frame_parse(name).function;
    if (classes & STK_NAME_FETCH) {
        return named(STK_ROLE_STAGE, NULL, STK_INPUT_FETCH);
    }
    if (classes & STK_NAME_PREP) {
        return named(STK_ROLE_STAGE, look_up(SCOPE_LOADER, function), STK_INPUT_PREPROCESS);
    }
    if (is_next) {
        return named(STK_ROLE_NEXT, NULL, STK_INPUT_FETCH);
    }
    const struct row *r =
        stk_str_starts(name, STK_STR("<")) ? NULL : look_up(SCOPE_INSIDE, function);
    return r ? named(STK_ROLE_INSIDE, r, STK_INPUT_PREPROCESS) : none;
}

static struct stk_input_name classify_iterator(struct stk_str name)
{
    struct stk_input_name n;
    if (stk_str_starts(name, STK_STR("Iterator::"))) {
        // The copy to a device that a distribution strategy puts in front of the pipeline.
        bool sends = stk_str_eq(name, STK_STR("Iterator::Prefetch::Generator"));
        n = named(STK_ROLE_STAGE, sends ? NULL : look_up(SCOPE_STAGE, last_operator(name)),
                  STK_INPUT_TRANSFER);
        n.is_pipeline = true;
        return n;
    }
    if (stk_str_starts(name, STK_STR("InstantiatedCapturedFunction::"))) {
        return named(stk_str_ends(name, STK_STR("::RunAsync")) ? STK_ROLE_RUN_AWAY
                                                               : STK_ROLE_RUN_HERE,
                     NULL, STK_INPUT_PREPROCESS);
    }
    if (stk_str_ends(name, STK_STR("Produce"))) {
        return named(STK_ROLE_PRODUCE, NULL, STK_INPUT_BUFFER);
    }
    if (stk_str_ends(name, STK_STR("Consume"))) {
        return (struct stk_input_name){0};
    }
    return named(STK_ROLE_OPERATION, look_up(SCOPE_OP, operation_type(name)), STK_INPUT_PREPROCESS);
}

struct stk_input_name stk_input_classify(struct stk_str name, uint8_t event_kind, uint32_t classes,
                                         bool is_next)
{
    static const struct stk_input_name none;
    if (stk_kind_is_device_work(event_kind) || event_kind == STK_KIND_RUNTIME) {
        return none;
    }
    if (event_kind == STK_KIND_PYTHON) {
        return classify_python(name, classes, is_next);
    }
    if (classes & STK_NAME_FETCH) {
        return named(STK_ROLE_STAGE, NULL, STK_INPUT_FETCH);
    }
    if (classes & STK_NAME_PREP) {
        return named(STK_ROLE_STAGE, look_up(SCOPE_LOADER, name), STK_INPUT_PREPROCESS);
    }
    if (classes & STK_NAME_ITERATOR) {
        return classify_iterator(name);
    }
    if (stk_str_eq(name, STK_STR("ExecutorState::Process")) ||
        stk_str_eq(name, STK_STR("ExecutorDoneCallback"))) {
        return named(STK_ROLE_FUNCTION, NULL, STK_INPUT_PREPROCESS);
    }
    struct stk_str type = operation_type(name);
    if (type.n < name.n &&
        (stk_str_starts(type, STK_STR("PyFunc")) || stk_str_starts(type, STK_STR("EagerPyFunc")))) {
        return named(STK_ROLE_OPERATION, look_up(SCOPE_OP, type), STK_INPUT_PREPROCESS);
    }
    // A loader that marks its own stages.
    return event_kind == STK_KIND_INPUT
               ? named(STK_ROLE_STAGE, look_up(SCOPE_LOADER, name), STK_INPUT_PREPROCESS)
               : none;
}

const char *stk_input_stage_itself(const char *stage)
{
    const char *last = strrchr(stage, ':');
    return last ? last + 1 : stage;
}

bool stk_input_is_in_memory(const char *stage)
{
    static const char *const sources[] = {"Tensor", "FromTensor", "Range"};
    bool found = false;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        found |= strncmp(stk_input_stage_itself(stage), sources[i], strlen(sources[i])) == 0;
    }
    return found;
}
