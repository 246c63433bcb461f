// SPDX-License-Identifier: Apache-2.0
// Loads a shared library on first use; see late_library.h.
#include "base/late_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/assert.h"

static enum stoker_status load(struct stk_late_library *l, struct stoker_err *err)
{
    void *library = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        return stk_err_set(err, STOKER_ELIMIT, "%s needs %s, which can't be loaded (%.160s); %s",
                           l->needs, l->file, why ? why : "no reason given", l->remedy);
    }
    for (size_t i = 0; i < l->call_count; i++) {
        void *call = dlsym(library, l->calls[i].name);
        if (!call) {
            (void)dlclose(library);
            return stk_err_set(err, STOKER_ELIMIT, "%s needs %s, which has no function %s; %s",
                               l->needs, l->file, l->calls[i].name, l->remedy);
        }
        // through memory: C has no cast between object and function pointers
        memcpy(l->calls[i].at, &call, sizeof call);
    }
    return STOKER_OK;
}

enum stoker_status stk_late_library_load(struct stk_late_library *l, struct stoker_err *err)
{
    STK_ASSERT(l->file && l->needs && l->remedy && l->call_count > 0);
    pthread_mutex_lock(&l->lock);
    enum stoker_status status = l->is_loaded ? STOKER_OK : load(l, err);
    l->is_loaded = status == STOKER_OK;
    pthread_mutex_unlock(&l->lock);
    return status;
}
