// SPDX-License-Identifier: Apache-2.0
// Loads nghttp2; see nghttp2_calls.h. STOKER_NGHTTP2_FILE: the library's file name with its
// version, as CMake found it with the header.
#include "job/capture/remote/nghttp2_calls.h"

struct stk_nghttp2 stk_nghttp2;

static const struct stk_late_call CALLS[] = {
#define X(f) {#f, &stk_nghttp2.f},
    STK_NGHTTP2_CALLS(X)
#undef X
};

static struct stk_late_library library = {
    .file = STOKER_NGHTTP2_FILE,
    .needs = "contacting a profiler server",
    .remedy = "install nghttp2 (Debian, Ubuntu: libnghttp2-dev), or profile TensorFlow and JAX "
              "without a server: `stoker run`",
    .calls = CALLS,
    .call_count = sizeof CALLS / sizeof *CALLS,
    .lock = PTHREAD_MUTEX_INITIALIZER};

enum stoker_status stk_nghttp2_load(struct stoker_err *err)
{
    return stk_late_library_load(&library, err);
}
