// SPDX-License-Identifier: Apache-2.0
// A gRPC call to servers that are slow on purpose, or send invalid answers: it ends within its
// limits. A server is a thread on the loopback that sends some bytes once or repeatedly; frames are
// made by hand (RFC 9113).
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/capture/remote/grpc.h"
#include "check.h"

enum {
    DATA = 0,
    HEADERS = 1,
    SETTINGS = 4,
    PING = 6,
    UNKNOWN = 0x20, // to be passed over
    HEAD = 9,
    BIG = 16000, // bytes of a frame
    LIMIT_MS = 20000
};

struct server {
    int listener;
    char port[8];
    const uint8_t *once, *again; // sent at first; sent then until the other end closes
    size_t once_n, again_n;
    long pause_ns;
};

static size_t frame(uint8_t *to, uint8_t kind, uint8_t flags, uint32_t stream, const void *payload,
                    size_t n)
{
    const uint8_t head[HEAD] = {
        (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, kind, flags, 0, 0, 0, (uint8_t)stream};
    memcpy(to, head, HEAD);
    memcpy(to + HEAD, payload, n);
    return HEAD + n;
}

static void *serve(void *arg)
{
    const struct server *s = arg;
    uint8_t request[4096];
    int fd = accept(s->listener, NULL, NULL);
    bool goes_on = fd >= 0 && recv(fd, request, sizeof request, 0) > 0 &&
                   send(fd, s->once, s->once_n, MSG_NOSIGNAL) == (ssize_t)s->once_n;
    while (goes_on && s->again_n) {
        nanosleep(&(struct timespec){.tv_nsec = s->pause_ns}, NULL);
        while (recv(fd, request, sizeof request, MSG_DONTWAIT) > 0) {
        }
        goes_on = send(fd, s->again, s->again_n, MSG_NOSIGNAL) > 0;
    }
    while (goes_on && recv(fd, request, sizeof request, 0) > 0) {
    }
    close(fd);
    return NULL;
}

static enum stoker_status ask(struct server *s, uint64_t whole_ms, struct stk_grpc_answer *answer,
                              struct stoker_err *err)
{
    pthread_t thread;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof at;
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(s->listener, (struct sockaddr *)&at, n) == 0 && listen(s->listener, 1) == 0);
    CHECK(getsockname(s->listener, (struct sockaddr *)&at, &n) == 0);
    snprintf(s->port, sizeof s->port, "%d", ntohs(at.sin_port));
    CHECK(pthread_create(&thread, NULL, serve, s) == 0);
    struct stk_grpc_call call = {.host = "127.0.0.1",
                                 .port = s->port,
                                 .path = "/a/b",
                                 .message = "",
                                 .to = open("/tmp", O_TMPFILE | O_RDWR, 0600),
                                 .most = 1 << 30,
                                 .connect_ms = 1000,
                                 .answer_ms = 1000,
                                 .piece_ms = 1000,
                                 .whole_ms = whole_ms};
    uint64_t start_ns = stk_clock_ns();
    enum stoker_status status = stk_grpc_ask(&call, answer, err);
    CHECK(stk_clock_ns() - start_ns < LIMIT_MS * UINT64_C(1000000));
    close(s->listener);
    close(call.to);
    pthread_join(thread, NULL);
    return status;
}

// What a server says before its answer goes on: settings, a status, and the first of 1 GiB.
static size_t begin(uint8_t *to, bool has_data)
{
    static const uint8_t first[] = {0, 0x40, 0, 0, 0, 'a'};
    size_t n = frame(to, SETTINGS, 0, 0, "", 0);
    n += frame(to + n, HEADERS, 4, 1, "\x88", 1);
    return has_data ? n + frame(to + n, DATA, 0, 1, first, sizeof first) : n;
}

static void ends(uint8_t kind, size_t bytes, long pause_ns, bool has_data, uint64_t whole_ms,
                 const char *why)
{
    static uint8_t once[100], again[HEAD + BIG];
    static const uint8_t zeros[BIG];
    struct stk_grpc_answer answer;
    struct stoker_err err;
    struct server s = {.once = once, .again = again, .pause_ns = pause_ns};
    s.once_n = begin(once, has_data);
    for (size_t n = 0; n + HEAD + bytes <= sizeof again; s.again_n = n) {
        n += frame(again + n, kind, 0, kind == DATA ? 1 : 0, zeros, bytes);
        if (pause_ns) {
            s.again_n = n;
            break;
        }
    }
    stk_err_init(&err);
    CHECK(ask(&s, whole_ms, &answer, &err) == STOKER_ELIMIT);
    CHECK(strstr(err.message, why) != NULL);
}

static void test_whole(void)
{
    static const char status[] = "\x40\x0bgrpc-status\x01"
                                 "0";
    static const uint8_t message[] = {0, 0, 0, 0, 3, 'a', 'b', 'c'};
    static uint8_t once[200];
    struct stk_grpc_answer answer;
    struct stoker_err err;
    struct server s = {.once = once};
    size_t n = begin(once, false);
    n += frame(once + n, DATA, 0, 1, message, sizeof message);
    s.once_n = n + frame(once + n, HEADERS, 5, 1, status, sizeof status - 1);
    CHECK(ask(&s, 1000, &answer, &err) == STOKER_OK);
    CHECK_EQ(answer.bytes, 3);
    CHECK_EQ(answer.status, 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    if (!stk_grpc_is_there()) {
        check_skip("built without nghttp2");
        return check_done("unit.capture_grpc");
    }
    CHECK_RUN(test_whole);
    CHECK_RUN(ends, DATA, 1, 100000000, true, 100000, "too slow"); // byte by byte
    CHECK_RUN(ends, DATA, BIG, 10000000, true, 2000, "too slow");  // fast enough, and for ever
    CHECK_RUN(ends, PING, 8, 0, true, 100000, "most of what it sends");
    CHECK_RUN(ends, PING, 8, 0, false, 100000, "most of what it sends");
    CHECK_RUN(ends, UNKNOWN, BIG, 0, true, 100000, "most of what it sends");
    CHECK_RUN(ends, UNKNOWN, BIG, 0, false, 100000, "most of what it sends");
    CHECK_RUN(ends, PING, 8, 100000000, true, 100000, "too slow");
    CHECK_RUN(ends, PING, 8, 100000000, false, 100000, "no answer in time");
    return check_done("unit.capture_grpc");
}
