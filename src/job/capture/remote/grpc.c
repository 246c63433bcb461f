// SPDX-License-Identifier: Apache-2.0
// A call over HTTP/2; see grpc.h. nghttp2 handles the protocol; this file the socket, timeouts, and
// gRPC's own frame: one byte for compression, four for the message's length (big-endian).
//
// Sockets do not block; each wait has a limit, and so has the whole answer, since a peer can be
// slow on purpose, byte by byte, or forever send frames without any of it (PING, header blocks). A
// peer that is not an HTTP/2 server is recognized by its first bytes (RFC 9113, 3.4: it must begin
// with SETTINGS). Limits: no TLS, no compression; a host is tried at each of its addresses.
#include "job/capture/remote/grpc.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "job/capture/remote/nghttp2_calls.h"

enum {
    READ = 65536,
    WINDOW = 16 << 20, // bytes that the server may send unacknowledged
    TICK_MS = 100,
    PREFIX = 5,
    FIRST = 16,     // bytes from the server that are enough to recognize its protocol
    FRAME_KIND = 3, // its position in a frame's header
    PIECE = 64 << 10,
    BESIDE = 1 << 20 // bytes allowed besides the answer, plus as many as the answer has
};

struct conversation {
    const struct stk_grpc_call *call;
    struct stk_grpc_answer *answer;
    struct stoker_err *err;
    nghttp2_session *session;
    int fd;
    int32_t stream;
    size_t sent; // of prefix and message
    uint8_t out_prefix[PREFIX];
    uint8_t prefix[PREFIX]; // of the answer
    size_t prefix_n;
    uint64_t expected; // bytes of the answer's message
    uint64_t received; // bytes of anything
    uint64_t end_ns;   // of the wait for the whole answer
    uint64_t piece_ns; // when the last piece was complete
    uint64_t piece_at; // the answer's length at that time
    uint8_t first[FIRST];
    size_t first_n;
    bool is_greeted, is_closed, has_failed;
    uint32_t reset; // HTTP/2's code if the stream was reset
    int http_status;
};

bool stk_grpc_is_there(void)
{
    return stk_nghttp2_load(NULL) == STOKER_OK;
}

static enum stoker_status fail(struct conversation *c, enum stoker_status status, const char *what)
{
    c->has_failed = true;
    return stk_err_set(c->err, status, "%s:%s: %s", c->call->host, c->call->port, what);
}

// ---- the answer ----

static bool keep(struct conversation *c, const uint8_t *p, size_t n)
{
    STK_ASSERT(p || n == 0);
    while (n > 0) {
        ssize_t k = pwrite(c->call->to, p, n, (off_t)c->answer->bytes);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            fail(c, STOKER_EOUTPUT, "its answer could not be saved to disk");
            return false;
        }
        p += k;
        n -= (size_t)k;
        c->answer->bytes += (uint64_t)k;
    }
    return true;
}

static bool see_prefix(struct conversation *c)
{
    STK_ASSERT(c->prefix_n == PREFIX);
    const uint8_t *p = c->prefix;
    c->expected = (uint64_t)p[1] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 8 | p[4];
    if (p[0]) {
        fail(c, STOKER_EINPUT, "its answer is compressed, which stoker didn't ask for");
    } else if (c->expected > c->call->most) {
        fail(c, STOKER_ELIMIT, "its answer is too large: record a shorter window");
    }
    return !c->has_failed;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *p,
                   size_t n, void *arg)
{
    struct conversation *c = arg;
    (void)session;
    (void)flags;
    if (stream != c->stream) {
        return 0;
    }
    while (n > 0 && c->prefix_n < PREFIX) {
        c->prefix[c->prefix_n++] = *p++;
        n--;
        if (c->prefix_n == PREFIX && !see_prefix(c)) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }
    if (n > c->expected - c->answer->bytes) { // a unary call returns one message
        fail(c, STOKER_EINPUT, "its answer has more than one message");
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return keep(c, p, n) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int number_in(const uint8_t *p, size_t n)
{
    int value = 0;
    for (size_t i = 0; i < n && i < 6; i++) {
        if (p[i] < '0' || p[i] > '9') {
            return -1;
        }
        value = value * 10 + (p[i] - '0');
    }
    return n ? value : -1;
}

static int hex(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// grpc-message is percent-encoded.
static void decode(const uint8_t *p, size_t n, char *to, size_t size)
{
    STK_ASSERT(size > 0);
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < size; i++) {
        bool is_code = p[i] == '%' && i + 2 < n && hex(p[i + 1]) >= 0 && hex(p[i + 2]) >= 0;
        to[used++] = is_code ? (char)(hex(p[i + 1]) * 16 + hex(p[i + 2])) : (char)p[i];
        i += is_code ? 2 : 0;
    }
    to[used] = 0;
}

static bool is_name(const uint8_t *name, size_t n, const char *wanted)
{
    return n == strlen(wanted) && memcmp(name, wanted, n) == 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    struct conversation *c = arg;
    (void)session;
    (void)flags;
    if (frame->hd.stream_id != c->stream) {
        return 0;
    }
    if (is_name(name, name_n, ":status")) {
        c->http_status = number_in(value, value_n);
    } else if (is_name(name, name_n, "grpc-status")) {
        c->answer->status = number_in(value, value_n);
    } else if (is_name(name, name_n, "grpc-message")) {
        decode(value, value_n, c->answer->message, sizeof c->answer->message);
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct conversation *c = arg;
    (void)session;
    c->is_greeted |= frame->hd.type == NGHTTP2_SETTINGS;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *arg)
{
    struct conversation *c = arg;
    (void)session;
    if (stream == c->stream) {
        c->is_closed = true;
        c->reset = code;
    }
    return 0;
}

// ---- the request ----

static ssize_t give(nghttp2_session *session, int32_t stream, uint8_t *to, size_t size,
                    uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct conversation *c = arg;
    (void)session;
    (void)stream;
    (void)source;
    STK_ASSERT(c->sent <= PREFIX + c->call->bytes);
    size_t n = 0, whole = PREFIX + c->call->bytes;
    for (; n < size && c->sent < whole; n++, c->sent++) {
        to[n] = c->sent < PREFIX ? c->out_prefix[c->sent]
                                 : ((const uint8_t *)c->call->message)[c->sent - PREFIX];
    }
    if (c->sent == whole) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t)n;
}

#define PAIR(name, value, n)                                                                       \
    {(uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), sizeof(name) - 1, n,             \
     NGHTTP2_NV_FLAG_NONE}

static bool submit(struct conversation *c)
{
    char authority[300];
    const struct stk_grpc_call *call = c->call;
    bool is_v6 = strchr(call->host, ':') != NULL;
    int n =
        snprintf(authority, sizeof authority, is_v6 ? "[%s]:%s" : "%s:%s", call->host, call->port);
    const nghttp2_nv headers[] = {PAIR(":method", "POST", 4),
                                  PAIR(":scheme", "http", 4),
                                  PAIR(":path", call->path, strlen(call->path)),
                                  PAIR(":authority", authority, (size_t)n),
                                  PAIR("content-type", "application/grpc", 16),
                                  PAIR("te", "trailers", 8)};
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW}};
    const nghttp2_data_provider body = {.read_callback = give};
    for (int i = 0; i < 4; i++) {
        c->out_prefix[1 + i] = (uint8_t)(call->bytes >> (24 - 8 * i));
    }
    if (n < 0 || (size_t)n >= sizeof authority ||
        stk_nghttp2.nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
        stk_nghttp2.nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0,
                                                          WINDOW) != 0) {
        return false;
    }
    c->stream = stk_nghttp2.nghttp2_submit_request(c->session, NULL, headers,
                                                   sizeof headers / sizeof headers[0], &body, NULL);
    return c->stream > 0;
}

static bool open_session(struct conversation *c)
{
    nghttp2_session_callbacks *calls;
    if (stk_nghttp2.nghttp2_session_callbacks_new(&calls) != 0) {
        return false;
    }
    stk_nghttp2.nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
    stk_nghttp2.nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
    stk_nghttp2.nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
    stk_nghttp2.nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
    bool ok = stk_nghttp2.nghttp2_session_client_new(&c->session, calls, c) == 0;
    stk_nghttp2.nghttp2_session_callbacks_del(calls);
    return ok && submit(c);
}

// ---- the connection ----

static bool is_cancelled(const struct conversation *c)
{
    return c->call->is_cancelled && c->call->is_cancelled();
}

// Waits until the socket is ready for `events`; false: not in time, or canceled.
static bool await(const struct conversation *c, int fd, short events, uint64_t end_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    while (stk_clock_ns() < end_ns && !is_cancelled(c)) {
        if (poll(&p, 1, TICK_MS) > 0) {
            return true;
        }
    }
    return false;
}

static int connect_one(const struct conversation *c, const struct addrinfo *a, uint64_t end_ns,
                       int *error)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    socklen_t n = sizeof *error;
    *error = errno;
    if (fd < 0) {
        return -1;
    }
    *error = connect(fd, a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
    if (*error == EINPROGRESS) {
        *error = ETIMEDOUT;
        if (await(c, fd, POLLOUT, end_ns)) {
            getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &n);
        }
    }
    if (*error) {
        close(fd);
        return -1;
    }
    return fd;
}

static enum stoker_status connect_all(struct conversation *c, uint64_t end_ns)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list = NULL;
    int why = getaddrinfo(c->call->host, c->call->port, &hints, &list), error = 0;
    if (why != 0) {
        return fail(c, STOKER_EINPUT, gai_strerror(why));
    }
    for (const struct addrinfo *a = list; a && c->fd < 0 && !is_cancelled(c); a = a->ai_next) {
        c->fd = connect_one(c, a, end_ns, &error);
    }
    freeaddrinfo(list);
    if (c->fd >= 0) {
        return STOKER_OK;
    }
    return fail(c, is_cancelled(c) ? STOKER_EINTR : STOKER_EINPUT,
                is_cancelled(c) ? "interrupted"
                : error == ECONNREFUSED
                    ? "connection refused: no profiler server is listening. The "
                      "program starts one with jax.profiler.start_server(PORT) or "
                      "tf.profiler.experimental.server.start(PORT)"
                    : strerror(error));
}

// Names the protocol of first bytes that aren't HTTP/2's SETTINGS.
static const char *other_protocol(const uint8_t *p, size_t n)
{
    if (n >= 5 && memcmp(p, "HTTP/", 5) == 0) {
        return "this is an HTTP/1 server, not a profiler server. If it is TensorBoard's page, use "
               "the program's own profiler port";
    }
    if (n >= 2 && (p[0] == 0x15 || p[0] == 0x16) && p[1] == 3) {
        return "the server speaks TLS. The profiler servers of TensorFlow and JAX don't, so use "
               "their own port";
    }
    return "the server doesn't speak HTTP/2, so it is not a profiler server";
}

static enum stoker_status flush(struct conversation *c)
{
    const uint8_t *p;
    ssize_t n;
    while (!c->has_failed && (n = stk_nghttp2.nghttp2_session_mem_send(c->session, &p)) != 0) {
        if (n < 0) {
            return fail(c, STOKER_ELIMIT, stk_nghttp2.nghttp2_strerror((int)n));
        }
        while (n > 0) {
            ssize_t k = send(c->fd, p, (size_t)n, MSG_NOSIGNAL);
            if (k < 0 && (errno == EAGAIN || errno == EINTR)) {
                uint64_t end_ns = stk_clock_ns() + c->call->piece_ms * 1000000u;
                if (!await(c, c->fd, POLLOUT, end_ns < c->end_ns ? end_ns : c->end_ns)) {
                    return fail(c, STOKER_ELIMIT, "it stopped accepting data");
                }
                continue;
            }
            if (k < 0) {
                return fail(c, STOKER_EINPUT,
                            c->is_greeted ? "the connection broke"
                                          : "the connection was closed at once: not a profiler "
                                            "server, or one that requires TLS");
            }
            p += k;
            n -= k;
        }
    }
    return STOKER_OK;
}

static enum stoker_status take(struct conversation *c)
{
    static uint8_t buffer[READ];
    ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return STOKER_OK;
    }
    if (n <= 0) {
        return fail(
            c, STOKER_EINPUT,
            c->is_greeted
                ? "the connection ended before its answer did: the program or its server ended"
                : "the connection was closed at once: not a profiler server, or one "
                  "that requires TLS");
    }
    for (ssize_t i = 0; i < n && c->first_n < FIRST; i++) {
        c->first[c->first_n++] = buffer[i];
    }
    if (c->first_n > FRAME_KIND && c->first[FRAME_KIND] != NGHTTP2_SETTINGS) {
        return fail(c, STOKER_EINPUT, other_protocol(c->first, c->first_n));
    }
    ssize_t used = stk_nghttp2.nghttp2_session_mem_recv(c->session, buffer, (size_t)n);
    if (c->has_failed) {
        return c->err->code;
    }
    c->received += (uint64_t)n;
    if (used == NGHTTP2_ERR_FLOODED || c->received > 2 * c->answer->bytes + BESIDE) {
        return fail(c, STOKER_ELIMIT, "most of what it sends is not an answer");
    }
    return used >= 0 ? STOKER_OK
                     : fail(c, STOKER_EINPUT,
                            c->is_greeted ? "it stopped sending valid HTTP/2"
                                          : other_protocol(c->first, c->first_n));
}

// The deadline for the next bytes. An answer that has begun must continue piece by piece.
static uint64_t deadline(struct conversation *c, uint64_t start_ns)
{
    const struct stk_grpc_call *call = c->call;
    if (!c->is_greeted) {
        return start_ns + call->connect_ms * 1000000u;
    }
    if (c->answer->bytes == 0) {
        return start_ns + (call->connect_ms + call->answer_ms) * 1000000u;
    }
    if (c->piece_at == 0 || c->answer->bytes >= c->piece_at + PIECE) {
        c->piece_at = c->answer->bytes;
        c->piece_ns = stk_clock_ns();
    }
    uint64_t next_ns = c->piece_ns + call->piece_ms * 1000000u;
    return next_ns < c->end_ns ? next_ns : c->end_ns;
}

static enum stoker_status not_in_time(struct conversation *c)
{
    if (is_cancelled(c)) {
        return fail(c, STOKER_EINTR, "interrupted");
    }
    return fail(c, STOKER_ELIMIT,
                !c->is_greeted         ? "connected, but nothing was sent: not a profiler server"
                : c->answer->bytes > 0 ? "its answer is too slow: it timed out"
                                       : "no answer in time");
}

static enum stoker_status converse(struct conversation *c, uint64_t start_ns)
{
    const struct stk_grpc_call *call = c->call;
    c->end_ns = start_ns + (call->connect_ms + call->answer_ms + call->whole_ms) * 1000000u;
    enum stoker_status status = flush(c);
    while (status == STOKER_OK && !c->is_closed) {
        if (!stk_nghttp2.nghttp2_session_want_read(c->session) &&
            !stk_nghttp2.nghttp2_session_want_write(c->session)) {
            return fail(c, STOKER_EINPUT,
                        c->is_greeted ? "the server ended the connection"
                                      : other_protocol(NULL, 0));
        }
        if (!await(c, c->fd, POLLIN, deadline(c, start_ns))) {
            return not_in_time(c);
        }
        status = take(c);
        status = status == STOKER_OK ? flush(c) : status;
    }
    return status;
}

static enum stoker_status judge(struct conversation *c)
{
    char text[128];
    if (c->answer->status > 0) {
        return STOKER_OK; // the caller reports it
    }
    if (c->reset != NGHTTP2_NO_ERROR) {
        snprintf(text, sizeof text, "the call was reset (%s)",
                 stk_nghttp2.nghttp2_http2_strerror(c->reset));
        return fail(c, STOKER_EINPUT, text);
    }
    if (c->http_status != 200) {
        snprintf(text, sizeof text, "HTTP status %d: not a profiler server", c->http_status);
        return fail(c, STOKER_EINPUT, text);
    }
    if (c->prefix_n < PREFIX || c->answer->bytes != c->expected) {
        return fail(c, STOKER_EDAMAGE, "its answer is incomplete");
    }
    return STOKER_OK;
}

enum stoker_status stk_grpc_ask(const struct stk_grpc_call *call, struct stk_grpc_answer *answer,
                                struct stoker_err *err)
{
    STK_ASSERT(call->host && call->port && call->path);
    struct conversation c = {.call = call, .answer = answer, .err = err, .fd = -1};
    uint64_t start_ns = stk_clock_ns();
    *answer = (struct stk_grpc_answer){.status = -1};
    enum stoker_status status = stk_nghttp2_load(err);
    if (status != STOKER_OK) {
        return status;
    }
    status = connect_all(&c, start_ns + call->connect_ms * 1000000u);
    if (status == STOKER_OK && !open_session(&c)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        status = converse(&c, stk_clock_ns());
    }
    if (status == STOKER_OK) {
        status = judge(&c);
    }
    stk_nghttp2.nghttp2_session_del(c.session);
    if (c.fd >= 0) {
        close(c.fd);
    }
    return status;
}
