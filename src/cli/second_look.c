// SPDX-License-Identifier: Apache-2.0
// A diagnosis from the cache (second_look.h). The partial's name contains a hash of everything that
// identifies the profiles, so a changed profile has another file, and several versions of stoker
// don't disturb each other.
//
// Limits: selections and --redact read the profiles. Two simultaneous runs both read them.
#include "cli/second_look.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/atomic_file.h"
#include "serve/cache.h"
#include "stoker/partial.h"

#define KIND "why"

struct keeping {
    struct stk_atomic_file file;
    bool failed;
};

static int keep(void *arg, const char *bytes, size_t n)
{
    struct keeping *k = arg;
    STK_ASSERT(k->file.fd >= 0);
    while (!k->failed && n > 0) {
        ssize_t done = write(k->file.fd, bytes, n);
        k->failed = done <= 0;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return k->failed;
}

// Reads the profiles, and keeps a partial if its file can be created.
static enum stoker_status first_look(const struct stk_cache *cache,
                                     const struct stk_cache_path *path, const char *const *paths,
                                     size_t count, const struct stoker_why_options *options,
                                     struct stoker_result **out, struct stoker_err *err)
{
    struct stoker_why_options keeps = *options;
    struct keeping k = {.failed = false};
    STK_ASSERT(cache && path->text[0] == '/');
    if (stk_atomic_file_open(&k.file, path->text) != 0) {
        return stoker_why(paths, count, options, out, err);
    }
    (void)fchmod(k.file.fd, 0600);
    keeps.partial = keep;
    keeps.partial_arg = &k;
    enum stoker_status status = stoker_why(paths, count, &keeps, out, err);
    bool is_whole = status == STOKER_OK && !k.failed && lseek(k.file.fd, 0, SEEK_END) > 0 &&
                    stk_cache_is_current(cache); // the profiles didn't change meanwhile
    if (stk_atomic_file_close(&k.file, is_whole) == 0 && is_whole) {
        stk_cache_drop_old(cache, KIND);
        stk_cache_tidy(cache);
    }
    return status;
}

enum stoker_status stk_second_look(const struct stk_args *args, const char *const *paths,
                                   size_t count, const struct stoker_why_options *options,
                                   struct stoker_result **out, struct stoker_err *err)
{
    struct stk_cache_path path;
    struct stk_cache *cache = args->values[STK_OPT_ID_NO_CACHE].set || options->stdin_name
                                  ? NULL
                                  : stk_cache_open(paths, count, options, STK_SECOND_LOOK_BYTES);
    enum stoker_status status = STOKER_EINPUT;
    bool has_path = stk_cache_own_path(cache, KIND, &path);
    if (has_path && access(path.text, R_OK) == 0) {
        status = stoker_plan_why(paths, count, path.text, options, out, err);
    }
    if (status != STOKER_OK && status != STOKER_EINTR) { // damaged: written again
        status = has_path ? first_look(cache, &path, paths, count, options, out, err)
                          : stoker_why(paths, count, options, out, err);
    }
    stk_cache_free(cache);
    return status;
}
