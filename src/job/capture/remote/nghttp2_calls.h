// SPDX-License-Identifier: Apache-2.0
// The functions of nghttp2 that a gRPC call needs, loaded at the first call, so that the library
// doesn't slow down the start of other commands.
#pragma once

#include <nghttp2/nghttp2.h>

#include "base/late_library.h"

#define STK_NGHTTP2_CALLS(X)                                                                       \
    X(nghttp2_http2_strerror)                                                                      \
    X(nghttp2_session_callbacks_del)                                                               \
    X(nghttp2_session_callbacks_new)                                                               \
    X(nghttp2_session_callbacks_set_on_data_chunk_recv_callback)                                   \
    X(nghttp2_session_callbacks_set_on_frame_recv_callback)                                        \
    X(nghttp2_session_callbacks_set_on_header_callback)                                            \
    X(nghttp2_session_callbacks_set_on_stream_close_callback)                                      \
    X(nghttp2_session_client_new)                                                                  \
    X(nghttp2_session_del)                                                                         \
    X(nghttp2_session_mem_recv)                                                                    \
    X(nghttp2_session_mem_send)                                                                    \
    X(nghttp2_session_set_local_window_size)                                                       \
    X(nghttp2_session_want_read)                                                                   \
    X(nghttp2_session_want_write)                                                                  \
    X(nghttp2_strerror)                                                                            \
    X(nghttp2_submit_request)                                                                      \
    X(nghttp2_submit_settings)

struct stk_nghttp2 {
    STK_NGHTTP2_CALLS(STK_LATE_MEMBER)
};
extern struct stk_nghttp2 stk_nghttp2; // usable once stk_nghttp2_load has succeeded

STK_MUST_CHECK enum stoker_status stk_nghttp2_load(struct stoker_err *err);
