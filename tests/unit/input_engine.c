// SPDX-License-Identifier: Apache-2.0
// `stoker stats input` classifies the engine's stages by their names in a record. That must match
// their role, for every kind, including later ones.
#include <stdio.h>

#include "check.h"
#include "engine/run/stage_name.h"
#include "profile/model/input/input_kinds.h"

static bool fits(enum stk_dataset_role role, struct stk_input_name is)
{
    switch (role) {
    case STK_DS_SOURCE:
    case STK_DS_FILES:
    case STK_DS_PROGRAM:
        return is.kind == STK_INPUT_READ;
    case STK_DS_FUNCTION:
        return is.kind == STK_INPUT_PREPROCESS;
    case STK_DS_NESTED: // of files, or of groups
        return is.kind == STK_INPUT_READ || is.kind == STK_INPUT_BATCH;
    case STK_DS_BATCH:
    case STK_DS_PAD:
        return is.kind == STK_INPUT_BATCH;
    case STK_DS_FORM:
        return is.kind == STK_INPUT_BATCH || is.kind == STK_INPUT_CONTROL;
    case STK_DS_ORDER:
        return is.kind == STK_INPUT_SHUFFLE || is.kind == STK_INPUT_CONTROL;
    case STK_DS_AHEAD:
        return is.kind == STK_INPUT_BUFFER && is.is_async;
    case STK_DS_CACHE:
    case STK_DS_STORE:
        return is.kind == STK_INPUT_CACHE;
    default:
        return is.kind == STK_INPUT_CONTROL;
    }
}

static void kinds(void)
{
    CHECK(stk_dataset_kind_count > 30);
    for (int i = 0; i < stk_dataset_kind_count; i++) {
        char text[STK_STAGE_NAME];
        const struct stk_iter it = {.kind = stk_dataset_kinds[i]};
        stk_stage_name(&it, text);
        struct stk_str name = {text, strlen(text)};
        struct stk_input_name is = stk_input_classify(
            name, STK_KIND_INPUT, stk_name_classify(name, STK_KIND_INPUT), false);
        if (!fits(it.kind->role, is)) {
            printf("%s counts as %s: its row says by `called` what it is like\n", text,
                   stk_input_kind_key(is.kind));
        }
        CHECK(is.is_pipeline && fits(it.kind->role, is));
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(kinds);
    return check_done("unit.input_engine");
}
