// SPDX-License-Identifier: Apache-2.0
// Private folders; see scratch.h. They stay open, so that nothing that a job puts in their place is
// removed.
#include "job/capture/parent/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/remove.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/mark.h"
#include "job/capture/parent/own_folder.h"
#include "job/capture/parent/whose.h"

// Places for scratch folders; the second has no variable.
enum { PLACES = 4 };
static const char *place_at(int i)
{
    STK_ASSERT(i >= 0 && i < PLACES);
    static const char *const variables[PLACES] = {"TMPDIR", NULL, "XDG_RUNTIME_DIR", "HOME"};
    const char *value = variables[i] ? getenv(variables[i]) : "/tmp";
    return value && *value ? value : NULL;
}

static enum stoker_status cannot(const char *path, int error, struct stoker_err *err)
{
    return stk_err_set(err, stk_err_of_file(error, STOKER_EOUTPUT), "%s: %s", path,
                       strerror(error));
}

enum stoker_status stk_scratch_make(const char *above, struct stk_scratch *to,
                                    struct stoker_err *err)
{
    const char *place = above ? above : place_at(0) ? place_at(0) : place_at(1);
    char *real = realpath(place, NULL);
    *to = STK_NO_SCRATCH;
    if (!real) {
        return cannot(place, errno, err);
    }
    to->path = stk_folder_path(real, "stoker-XXXXXX");
    free(real);
    if (!to->path) {
        return stk_err_nomem(err);
    }
    bool is_made = mkdtemp(to->path) != NULL;
    if (is_made) {
        to->folder = stk_folder_itself(AT_FDCWD, to->path);
    }
    if (to->folder < 0) {
        enum stoker_status status = cannot(to->path, errno, err);
        if (is_made) {
            (void)stk_remove_folder(AT_FDCWD, to->path);
        }
        stk_free(to->path);
        to->path = NULL;
        return status;
    }
    to->mark = stk_mark_put(to->folder);
    return STOKER_OK;
}

enum stoker_status stk_scratch_make_safe(struct stk_scratch *to, struct stoker_err *err)
{
    for (int i = 0; i < PLACES; i++) {
        if (place_at(i) && stk_scratch_make(place_at(i), to, err) == STOKER_OK) {
            if (stk_is_safe_path(to->path)) {
                return STOKER_OK;
            }
            stk_scratch_remove(to);
        }
    }
    return stk_err_set(
        err, STOKER_EOUTPUT,
        "no safe folder for the hooks: other users can write to the run's folder, TMPDIR, /tmp, "
        "XDG_RUNTIME_DIR and HOME. "
        "Choose a folder with --out that only you can write to, as well as those above it");
}

void stk_scratch_remove(struct stk_scratch *s)
{
    if (s->path) {
        (void)stk_remove_contents(s->folder, STK_MARK);
        (void)stk_remove_folder(AT_FDCWD, s->path);
        close(s->folder);
        stk_mark_release(s->mark);
    }
    stk_free(s->path);
    *s = STK_NO_SCRATCH;
}

static bool is_scratch(const char *name)
{
    return strncmp(name, "stoker-", 7) == 0 && strlen(name) == 13;
}

static void sweep_scratch(int above, const char *name, const char *path)
{
    struct stk_scratch s = {.folder = stk_own_folder(above, name)};
    s.mark = s.folder >= 0 ? stk_mark_take(s.folder, path) : -1;
    if (s.mark >= 0) {
        (void)stk_remove_contents(s.folder, STK_MARK);
        (void)stk_remove_folder(above, name);
        stk_mark_release(s.mark);
    }
    if (s.folder >= 0) {
        close(s.folder);
    }
}

void stk_scratch_sweep(void)
{
    for (int i = 0; i < PLACES; i++) {
        char *place = place_at(i) ? realpath(place_at(i), NULL) : NULL;
        int above = place ? stk_folder_itself(AT_FDCWD, place) : -1;
        if (above >= 0) {
            stk_each_name(above, place, is_scratch, sweep_scratch);
            close(above);
        }
        free(place);
    }
}
