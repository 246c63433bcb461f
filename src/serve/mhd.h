// SPDX-License-Identifier: Apache-2.0
// The libmicrohttpd functions that the server calls, loaded when it starts: the library brings
// gnutls, which would cost every other command at least a millisecond at startup.
#pragma once

#include <microhttpd.h>

#include "base/late_library.h"

#define STK_MHD_CALLS(X)                                                                           \
    X(MHD_add_response_header)                                                                     \
    X(MHD_create_response_from_buffer)                                                             \
    X(MHD_create_response_from_buffer_with_free_callback)                                          \
    X(MHD_destroy_response)                                                                        \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_get_connection_values)                                                                   \
    X(MHD_get_daemon_info)                                                                         \
    X(MHD_lookup_connection_value)                                                                 \
    X(MHD_queue_response)                                                                          \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)

struct stk_mhd {
    STK_MHD_CALLS(STK_LATE_MEMBER)
};
extern struct stk_mhd stk_mhd; // usable after stk_mhd_load has succeeded

STK_MUST_CHECK enum stoker_status stk_mhd_load(struct stoker_err *err);
