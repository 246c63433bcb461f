// SPDX-License-Identifier: Apache-2.0
// Loads libmicrohttpd; see mhd.h. STOKER_MICROHTTPD_FILE: the library's file name with its version,
// as CMake found it next to the header.
#include "serve/mhd.h"

struct stk_mhd stk_mhd;

static const struct stk_late_call CALLS[] = {
#define X(f) {#f, &stk_mhd.f},
    STK_MHD_CALLS(X)
#undef X
};

static struct stk_late_library library = {
    .file = STOKER_MICROHTTPD_FILE,
    .needs = "stoker view",
    .remedy = "install libmicrohttpd (Debian, Ubuntu: libmicrohttpd-dev), or write the pages to a "
              "file: `stoker report PROFILE --html FILE`",
    .calls = CALLS,
    .call_count = sizeof CALLS / sizeof *CALLS,
    .lock = PTHREAD_MUTEX_INITIALIZER};

enum stoker_status stk_mhd_load(struct stoker_err *err)
{
    return stk_late_library_load(&library, err);
}
