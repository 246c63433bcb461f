// SPDX-License-Identifier: Apache-2.0
// include/stoker/data.h: writes a whole dataset into an indexed file.
#include "engine/api/data_api.h"
#include "engine/formats/indexed.h"
#include "engine/run/pull.h"

#define WRITE_ELEMENTS 256

enum stoker_status stoker_dataset_write(struct stoker_dataset *ds,
                                        const struct stoker_run_options *options, const char *path,
                                        int (*progress)(void *arg, uint64_t elements), void *arg,
                                        uint64_t *count, struct stoker_err *err)
{
    struct stoker_iterator *it;
    struct stk_indexed_writer *w = NULL;
    struct stk_block block = {0};
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!ds || !path || !count) {
        return stk_err_misuse(
            err, "stoker_dataset_write needs a dataset, a path and a pointer for the count");
    }
    *count = 0;
    enum stoker_status opened = stoker_iterator_open(ds, options, &it, err);
    if (opened != STOKER_OK) {
        return opened;
    }
    enum stoker_status s = stk_indexed_create(&w, path, ((struct stk_dataset *)ds)->specs, err);
    while (s == STOKER_OK) {
        s = stk_iter_next(stk_data_root(it), WRITE_ELEMENTS, &block, err);
        if (s != STOKER_OK || block.n == 0) {
            break;
        }
        s = stk_indexed_append(w, &block, err);
        *count += s == STOKER_OK ? (uint64_t)block.n : 0;
        if (s == STOKER_OK && progress && progress(arg, *count)) {
            s = stk_err_set(err, STOKER_EINTR, "%s: interrupted after %llu elements", path,
                            (unsigned long long)*count);
        }
    }
    struct stoker_err at_end;
    enum stoker_status ended = stk_indexed_finish(w, s == STOKER_OK, &at_end);
    if (s == STOKER_OK && ended != STOKER_OK) {
        s = ended;
        *err = at_end;
    }
    stk_block_free(&block);
    stoker_iterator_free(it);
    return stk_err_end(err, s);
}
