// SPDX-License-Identifier: Apache-2.0
// Files of elements: validity checks and errors.
#include "engine/formats/element_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum stoker_status stk_element_file_check(const char *path, const struct stk_specs *specs,
                                          struct stoker_err *err)
{
    struct stat there; // renaming at the end would replace a device by a file
    for (int k = 0; k < specs->count; k++) {
        if (specs->items[k].dtype == STK_DT_DATASET) {
            return stk_err_set(
                err, STOKER_EINVAL,
                "%s: component %d contains datasets, which can't be stored in a file", path, k);
        }
    }
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        return stk_err_set(err, STOKER_EOUTPUT, "%s: can't be written: it exists and is not a file",
                           path);
    }
    return STOKER_OK;
}

enum stoker_status stk_element_file_fail(const char *path, int why, struct stoker_err *err)
{
    return why == ENOMEM ? stk_err_nomem(err)
                         : stk_err_set(err, stk_err_of_file(why, STOKER_EOUTPUT),
                                       "%s: can't be written: %s", path, strerror(why));
}

enum stoker_status stk_element_file_open(struct stk_atomic_file *b, const char *path,
                                         struct stoker_err *err)
{
    int why = stk_atomic_file_open(b, path);
    return why ? stk_element_file_fail(path, why, err) : STOKER_OK;
}

enum stoker_status stk_element_file_close(struct stk_atomic_file *b, bool keeps,
                                          struct stoker_err *err)
{
    char path[512]; // shorter if the file is gone
    snprintf(path, sizeof path, "%s", b->path ? b->path : "");
    int why = stk_atomic_file_close(b, keeps);
    return why ? stk_element_file_fail(path, why, err) : STOKER_OK;
}
