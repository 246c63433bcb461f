// SPDX-License-Identifier: Apache-2.0
// Asking the rules of names.def. Private to names_classify.c.
#pragma once

#include "profile/store/names.h"

enum stk_name_scope {
    STK_SCOPE_CALL,
    STK_SCOPE_WORK,
    STK_SCOPE_HOST,
    STK_SCOPE_TYPE,
    STK_SCOPE_PYTHON,
    STK_SCOPE_WORDS,
    STK_SCOPE_COUNT
};

// Bits of all rules of the scope that the text matches.
uint32_t stk_names_ask(enum stk_name_scope scope, struct stk_str text);
