// SPDX-License-Identifier: Apache-2.0
// The table of export formats.
#include <string.h>

#include "answers/export/export.h"

const struct stk_exporter *const stk_exporters[] = {
#define X(name) &stk_exporter_##name,
#include "answers/export/exports.def"
#undef X
};
const int stk_exporter_count = sizeof stk_exporters / sizeof stk_exporters[0];

const struct stk_exporter *stk_exporter_find(const char *name)
{
    for (int i = 0; i < stk_exporter_count; i++) {
        if (strcmp(stk_exporters[i]->name, name) == 0) {
            return stk_exporters[i];
        }
    }
    return NULL;
}
