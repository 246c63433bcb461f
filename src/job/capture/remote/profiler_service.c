// SPDX-License-Identifier: Apache-2.0
// tensorflow.ProfilerService/Profile; see profiler_service.h.
//
// Format: protobuf, tsl/profiler/protobuf/profiler_service.proto and profiler_options.proto.
// Versions seen: see docs/capture.md. Only Profile (and Terminate) are the same in all of them.
// emit_xspace (field 9) requests the profile in the answer (field 8); older servers write to
// repository_root/session_id on their own disk instead.
//
// The answer is in a file; the profile is copied out of it.
#include "job/capture/remote/profiler_service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/atomic_file.h"
#include "base/plain_file.h"
#include "base/protobuf.h"

enum {
    // ProfileRequest
    REQUEST_DURATION = 1,
    REQUEST_MAX_EVENTS = 2,
    REQUEST_TOOLS = 3,
    REQUEST_OPTIONS = 4,
    REQUEST_ROOT = 5,
    REQUEST_SESSION = 6,
    REQUEST_HOST = 7,
    REQUEST_EMIT = 9,
    // ProfileOptions
    OPTIONS_DATASET = 1,
    OPTIONS_HOST = 2,
    OPTIONS_DEVICE = 3,
    OPTIONS_PYTHON = 4,
    OPTIONS_VERSION = 5,
    OPTIONS_HLO = 7,
    OPTIONS_DURATION = 9,
    OPTIONS_ROOT = 10,
    // ProfileResponse
    RESPONSE_EMPTY = 7,
    RESPONSE_XSPACE = 8,
    MESSAGE_MAX = 8192,
    MAX_EVENTS = 1000000,
    COPY = 1 << 20
};
#define MOST (UINT64_C(4) << 30)
#define CONNECT_MS 10000
#define PIECE_MS 30000
#define WHOLE_MS 1200000 // MOST at 3.6 MB/s

struct text {
    uint8_t bytes[MESSAGE_MAX];
    size_t n;
    bool is_full;
};

static void put_varint(struct text *t, uint64_t value)
{
    STK_ASSERT(t->n <= sizeof t->bytes);
    do {
        if (t->n == sizeof t->bytes) {
            t->is_full = true;
            return;
        }
        t->bytes[t->n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
}

static void put_number(struct text *t, uint32_t field, uint64_t value)
{
    put_varint(t, (uint64_t)field << 3 | STK_PB_VARINT);
    put_varint(t, value);
}

static void put_bytes(struct text *t, uint32_t field, const void *bytes, size_t n)
{
    STK_ASSERT(t->n <= sizeof t->bytes);
    put_varint(t, (uint64_t)field << 3 | STK_PB_LEN);
    put_varint(t, n);
    if (n > sizeof t->bytes - t->n) {
        t->is_full = true;
        return;
    }
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
}

// Requests operations, stages of the input pipeline, and Python's calls, since JAX prepares input
// there.
static void write_request(const struct stk_service_plan *plan, struct text *request)
{
    struct text options = {0};
    put_number(&options, OPTIONS_DATASET, 1);
    put_number(&options, OPTIONS_HOST, 2);
    put_number(&options, OPTIONS_DEVICE, 1);
    put_number(&options, OPTIONS_PYTHON, 1);
    put_number(&options, OPTIONS_VERSION, 1);
    put_number(&options, OPTIONS_HLO, 1);
    put_number(&options, OPTIONS_DURATION, plan->duration_ms);
    put_bytes(&options, OPTIONS_ROOT, plan->folder, strlen(plan->folder));
    put_number(request, REQUEST_DURATION, plan->duration_ms);
    put_number(request, REQUEST_MAX_EVENTS, MAX_EVENTS);
    put_bytes(request, REQUEST_OPTIONS, options.bytes, options.n);
    put_bytes(request, REQUEST_ROOT, plan->folder, strlen(plan->folder));
    put_bytes(request, REQUEST_SESSION, plan->session, strlen(plan->session));
    put_bytes(request, REQUEST_HOST, plan->host, strlen(plan->host));
    put_number(request, REQUEST_EMIT, 1);
    request->is_full |= options.is_full;
}

static enum stoker_status refused(const struct stk_service_plan *plan,
                                  const struct stk_grpc_answer *a, struct stoker_err *err)
{
    enum { UNIMPLEMENTED = 12, UNAVAILABLE = 14, ALREADY = 6, FAILED_PRECONDITION = 9 };
    const char *what =
        a->status == UNIMPLEMENTED ? "this gRPC server has no tensorflow.ProfilerService"
        : a->status == ALREADY || a->status == FAILED_PRECONDITION || a->status == UNAVAILABLE
            ? "the program is already being profiled, or can't be profiled"
            : "the profiler server refused";
    return stk_err_set(err, STOKER_EINPUT, "%s:%s: %s (status %d%s%s)", plan->host, plan->port,
                       what, a->status, *a->message ? ": " : "", a->message);
}

// The answer's fields. *xspace: the profile's position.
static enum stoker_status read_response(const struct stk_service_plan *plan, const char *path,
                                        uint64_t bytes, struct stk_pb_field *xspace, bool *is_empty,
                                        struct stoker_err *err)
{
    const struct stk_stream_opts plain = {
        .seekable = 1, .codec_given = 1, .codec = STK_CODEC_PLAIN};
    struct stk_stream *stream = NULL;
    struct stk_pb_walk walk;
    *xspace = (struct stk_pb_field){0};
    *is_empty = false;
    if (bytes == 0) { // all its fields have their defaults
        return STOKER_OK;
    }
    enum stoker_status status = stk_stream_open(&stream, path, &plain, err);
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_pb_source source = {.stream = stream, .size = bytes};
    bool ok = stk_pb_walk_init(&walk, &source, err);
    enum stk_pb_step step = STK_PB_END;
    if (ok) {
        walk.pos = 0;
        walk.end = bytes;
        struct stk_pb_field f;
        while ((step = stk_pb_walk_next(&walk, &f)) == STK_PB_FIELD) {
            if (f.number == RESPONSE_XSPACE && f.wire == STK_PB_LEN) {
                *xspace = f;
            } else if (f.number == RESPONSE_EMPTY && f.wire == STK_PB_VARINT) {
                *is_empty = f.value != 0;
            }
        }
    }
    ok = ok && !walk.failed;
    stk_pb_walk_deinit(&walk);
    stk_stream_close(stream);
    if (!ok) {
        return stk_err_fail(err);
    }
    return step == STK_PB_END
               ? STOKER_OK
               : stk_err_set(err, STOKER_EDAMAGE, "%s:%s: its answer is not a ProfileResponse",
                             plan->host, plan->port);
}

// Copies bytes [from, from + n) of a file to the start of another one. 0, or an errno.
static int copy(int in, uint64_t from, uint64_t n, int out)
{
    STK_ASSERT(in >= 0 && out >= 0);
    static uint8_t buffer[COPY];
    uint64_t at = 0;
    while (at < n) {
        size_t piece = n - at < sizeof buffer ? (size_t)(n - at) : sizeof buffer;
        ssize_t k = pread(in, buffer, piece, (off_t)(from + at));
        if (k <= 0) {
            return k ? errno : EIO; // it was truncated
        }
        if (pwrite(out, buffer, (size_t)k, (off_t)at) != k) {
            return errno;
        }
        at += (uint64_t)k;
    }
    return 0;
}

static enum stoker_status cannot_write(const char *path, int error, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EOUTPUT, "%s: can't be written: %s", path, strerror(error));
}

static enum stoker_status keep_profile(const struct stk_pb_field *xspace, const char *answer,
                                       const char *path, struct stoker_err *err)
{
    struct stk_atomic_file file;
    int in = stk_plain_open(AT_FDCWD, answer);
    int error = in < 0 ? EIO : stk_atomic_file_open(&file, path);
    if (!error) {
        error = copy(in, xspace->offset, xspace->value, file.fd);
        int last = stk_atomic_file_close(&file, !error);
        error = error ? error : last;
    }
    if (in >= 0) {
        close(in);
    }
    return error ? cannot_write(path, error, err) : STOKER_OK;
}

static enum stoker_status ask(const struct stk_service_plan *plan, int to,
                              struct stk_grpc_answer *answer, struct stoker_err *err)
{
    static struct text request;
    request = (struct text){0};
    write_request(plan, &request);
    if (request.is_full) {
        return stk_err_set(err, STOKER_EUSAGE, "%.200s: the folder's name is too long",
                           plan->folder);
    }
    struct stk_grpc_call call = {.host = plan->host,
                                 .port = plan->port,
                                 .path = "/tensorflow.ProfilerService/Profile",
                                 .message = request.bytes,
                                 .bytes = request.n,
                                 .to = to,
                                 .most = MOST,
                                 .connect_ms = CONNECT_MS,
                                 .answer_ms = plan->duration_ms + plan->answer_ms,
                                 .piece_ms = PIECE_MS,
                                 .whole_ms = WHOLE_MS,
                                 .is_cancelled = plan->is_cancelled};
    enum stoker_status status = stk_grpc_ask(&call, answer, err);
    return status == STOKER_OK && answer->status > 0 ? refused(plan, answer, err) : status;
}

// While its fields are read, the answer is in a file next to the profile.
enum stoker_status stk_service_capture(const struct stk_service_plan *plan,
                                       enum stk_service_how *how, char *path, size_t size,
                                       struct stoker_err *err)
{
    struct stk_grpc_answer answer;
    struct stk_atomic_file kept;
    struct stk_pb_field xspace;
    bool is_empty;
    snprintf(path, size, "%s/%s.xplane.pb", plan->folder, plan->session);
    int error = stk_atomic_file_open(&kept, path);
    if (error) {
        return cannot_write(path, error, err);
    }
    enum stoker_status status = ask(plan, kept.fd, &answer, err);
    if (status == STOKER_OK) {
        status = read_response(plan, kept.concurrent, answer.bytes, &xspace, &is_empty, err);
    }
    if (status == STOKER_OK) {
        *how = xspace.value > 0 ? STK_SERVICE_SENT
               : is_empty       ? STK_SERVICE_NOTHING
                                : STK_SERVICE_WROTE;
        status = *how == STK_SERVICE_SENT ? keep_profile(&xspace, kept.concurrent, path, err)
                                          : STOKER_OK;
    }
    (void)stk_atomic_file_close(&kept, false);
    return status;
}
