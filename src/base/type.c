// SPDX-License-Identifier: Apache-2.0
// The properties of each value type; see type.h.
#include "base/type.h"

#include <string.h>

#define TEXT "string", STK_HOLDS_TEXT, false, false
#define WHOLE "integer", STK_HOLDS_NUMBER, false, false
#define FROM_ZERO "integer", STK_HOLDS_NUMBER, true, false
#define REAL "number", STK_HOLDS_RATIO, false, false

const struct stk_type_info stk_types[STK_TYPE_COUNT_] = {
    [STK_TYPE_TEXT] = {"text", "TEXT", TEXT, "a name as recorded, or a word"},
    [STK_TYPE_COUNT] = {"count", "COUNT", FROM_ZERO, "a count, 0 or more"},
    [STK_TYPE_NS] = {"ns", "NS", WHOLE, "nanoseconds; times count from the run's first event"},
    [STK_TYPE_BYTES] = {"bytes", "BYTES", FROM_ZERO, "bytes"},
    [STK_TYPE_SHARE] = {"share", "SHARE", "number", STK_HOLDS_RATIO, true, true,
                        "0 to 1, six decimals"},
    [STK_TYPE_RATE] = {"rate", "RATE", REAL, "per second"},
    [STK_TYPE_BOOL] = {"bool", "BOOL", "boolean", STK_HOLDS_TRUTH, false, false, "yes or no"},
    [STK_TYPE_NUMBER] = {"number", "NUMBER", WHOLE,
                         "without a unit: an id, a step, a query result"},
    [STK_TYPE_REAL] = {"real", "REAL", REAL, "without a unit"},
    [STK_TYPE_RATIO] = {"ratio", "RATIO", REAL, NULL},
    [STK_TYPE_NAME] = {"text", "NAME TEXT", TEXT, NULL},
    [STK_TYPE_WORD] = {"text", "TEXT", TEXT, NULL},
    [STK_TYPE_OBJECT] = {"object", "", "object", STK_HOLDS_NOTHING, false, false, NULL},
    [STK_TYPE_ANY] = {"", "", "string", STK_HOLDS_UNSET, false, false, NULL},
};

enum stk_type stk_type_declared(const char *declared)
{
    for (int type = 0; declared && *declared && type < STK_TYPE_COUNT_; type++) {
        if (strcmp(stk_types[type].declared, declared) == 0) {
            return (enum stk_type)type;
        }
    }
    return STK_TYPE_ANY;
}
