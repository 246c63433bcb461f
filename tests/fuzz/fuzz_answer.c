// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of what answers `stoker capture`: a profiler's server (HTTP/2, gRPC, and the
// profile in its message), and a job that speaks Kineto's protocol. The first byte chooses; what is
// sent is bytes as they are, or frames and datagrams made of choices. Whatever comes, the call ends
// with a status and, where it fails, an error that says something; no file but the profile is left.
//
// Nothing waits: who answers is played in the callbacks in which the capture asks whether it is to
// stop, and which say so when there is nothing left to send.
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "job/capture/remote/kineto.h"
#include "job/capture/remote/profiler_service.h"
#include "fuzz.h"

enum {
    SENT_MAX = 1 << 16,
    DATAGRAMS_MAX = 8, // a socket of datagrams keeps ten
    KINETO_HEAD = 40,
    KINETO_TYPE = 32,
    LINE_MAX = 64,
    WAITS_MAX = 100,
    // HTTP/2 (RFC 9113, 6)
    FRAME_DATA = 0,
    FRAME_HEADERS = 1,
    FRAME_SETTINGS = 4,
    END_STREAM = 1,
    END_HEADERS = 4,
    STREAM = 1 // the first that a client opens
};

static char folder[64];
static void remove_folder(void)
{
    rmdir(folder);
}
static const char *own_folder(void)
{
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/dev/shm/stoker-answer-XXXXXX");
        FUZZ_REQUIRE(mkdtemp(folder) && atexit(remove_folder) == 0);
    }
    return folder;
}

// What the folder holds is removed. How many files there were.
static int empty_folder(void)
{
    DIR *d = opendir(own_folder());
    FUZZ_REQUIRE(d != NULL);
    int n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] != '.') {
            FUZZ_REQUIRE(unlinkat(dirfd(d), e->d_name, 0) == 0);
            n++;
        }
    }
    closedir(d);
    return n;
}

// ---- bytes to send ----

struct sent {
    uint8_t bytes[SENT_MAX];
    size_t n;
};
static void put(struct sent *s, const void *bytes, size_t n)
{
    n = n < sizeof s->bytes - s->n ? n : sizeof s->bytes - s->n;
    if (n > 0) { // a frame without bytes has no address of them, either
        memcpy(s->bytes + s->n, bytes, n);
    }
    s->n += n;
}
static void put_byte(struct sent *s, uint32_t value)
{
    uint8_t byte = (uint8_t)value;
    put(s, &byte, 1);
}
static void put_big(struct sent *s, uint32_t value, int bytes)
{
    while (bytes-- > 0) {
        put_byte(s, value >> (8 * bytes));
    }
}

static void put_frame(struct sent *s, uint32_t type, uint32_t flags, uint32_t stream,
                      const uint8_t *payload, size_t n)
{
    put_big(s, (uint32_t)n, 3);
    put_byte(s, type);
    put_byte(s, flags);
    put_big(s, stream, 4);
    put(s, payload, n);
}

// A header that no table keeps (RFC 7541, 6.2.2), without Huffman's code; both are below 127 bytes.
static void put_header(struct sent *s, const char *name, const uint8_t *value, size_t n)
{
    put_byte(s, 0);
    put_byte(s, (uint32_t)strlen(name));
    put(s, name, strlen(name));
    put_byte(s, (uint32_t)n);
    put(s, value, n);
}

static void put_headers(struct sent *s, struct fuzz_choices *c, bool is_last)
{
    static const char *const names[] = {"grpc-status", "grpc-message", "content-type", "x",
                                        ":status"};
    static const char *const values[] = {"200", "404",    "0",   "14",      "12",
                                         "",    "a%20b%", "%zz", "99999999"};
    struct sent block = {.n = 0};
    if (!is_last && fuzz_choose(c, 8) != 1) {
        put_header(&block, ":status", (const uint8_t *)"200", 3);
    }
    for (uint32_t i = fuzz_choose(c, 4); i > 0; i--) {
        const char *name = names[fuzz_choose(c, 5)];
        uint32_t which = fuzz_choose(c, 12);
        size_t n;
        const uint8_t *value = which < 9 ? (const uint8_t *)values[which] : fuzz_bytes(c, 100, &n);
        n = which < 9 ? strlen(values[which]) : n;
        put_header(&block, name, value, n);
    }
    put_frame(s, FRAME_HEADERS, END_HEADERS | (is_last ? END_STREAM : 0), STREAM, block.bytes,
              block.n);
}

// gRPC's frame around a ProfileResponse: a profile, whether it is empty, and other bytes.
static void put_message(struct sent *s, struct fuzz_choices *c)
{
    struct sent message = {.n = 0};
    size_t n;
    const uint8_t *bytes = fuzz_bytes(c, 120, &n);
    if (fuzz_choose(c, 4) != 1) {
        put_byte(&message, 8 << 3 | 2);
        put_byte(&message, (uint32_t)(n + (fuzz_choose(c, 8) == 1)));
        put(&message, bytes, n);
    }
    if (fuzz_choose(c, 4) == 1) {
        put_byte(&message, 7 << 3);
        put_byte(&message, fuzz_choose(c, 2));
    }
    bytes = fuzz_bytes(c, fuzz_choose(c, 4) == 1 ? 60 : 0, &n);
    put(&message, bytes, n);
    struct sent data = {.n = 0};
    put_byte(&data, fuzz_choose(c, 16) == 1);
    put_big(&data, (uint32_t)message.n + (fuzz_choose(c, 8) == 1 ? fuzz_choose(c, 9) - 4 : 0), 4);
    put(&data, message.bytes, message.n);
    size_t first = fuzz_choose(c, 4) == 1 ? fuzz_choose(c, (uint32_t)data.n + 1) : data.n;
    put_frame(s, FRAME_DATA, 0, STREAM, data.bytes, first);
    if (first < data.n) {
        put_frame(s, FRAME_DATA, 0, STREAM, data.bytes + first, data.n - first);
    }
}

static void make_answer(struct sent *s, struct fuzz_choices *c)
{
    put_frame(s, FRAME_SETTINGS, 0, 0, NULL, 0);
    put_headers(s, c, false);
    for (uint32_t i = fuzz_choose(c, 3); i < 2; i++) { // mostly one or two
        put_message(s, c);
    }
    if (fuzz_choose(c, 4) == 1) { // any frame
        size_t n;
        uint32_t type = fuzz_choose(c, 12), flags = fuzz_byte(c), stream = fuzz_choose(c, 4);
        const uint8_t *bytes = fuzz_bytes(c, 40, &n);
        put_frame(s, type, flags, stream, bytes, n);
    }
    if (fuzz_choose(c, 8) != 1) {
        put_headers(s, c, true);
    }
}

// ---- a profiler's server ----

static struct {
    int listening, fd;
    char port[8];
    const struct sent *answer;
    size_t done;
    int asked; // so often with nothing left to send
} server = {.listening = -1, .fd = -1};

static void listen_once(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    if (server.listening >= 0) {
        return;
    }
    server.listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    FUZZ_REQUIRE(server.listening >= 0 &&
                 bind(server.listening, (struct sockaddr *)&at, sizeof at) == 0 &&
                 listen(server.listening, 8) == 0 &&
                 getsockname(server.listening, (struct sockaddr *)&at, &n) == 0);
    snprintf(server.port, sizeof server.port, "%u", ntohs(at.sin_port));
}

// Takes the connection, sends all, then closes its side; true where the client has seen that and
// still waits.
static bool serve(void)
{
    if (server.fd < 0) {
        server.fd = accept4(server.listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }
    if (server.fd < 0) {
        return false;
    }
    const struct sent *a = server.answer;
    if (server.done < a->n) {
        ssize_t k = send(server.fd, a->bytes + server.done, a->n - server.done, MSG_NOSIGNAL);
        server.done = k > 0 ? server.done + (size_t)k : a->n;
    }
    if (server.done == a->n && server.asked++ == 0) {
        shutdown(server.fd, SHUT_WR);
    }
    return server.asked > WAITS_MAX;
}

static void ask_server(const struct sent *answer)
{
    static struct stoker_err err;
    char path[4096];
    enum stk_service_how how;
    struct linger at_once = {1, 0};
    listen_once();
    server.answer = answer;
    server.done = 0;
    server.asked = 0;
    const struct stk_service_plan plan = {.host = "127.0.0.1",
                                          .port = server.port,
                                          .folder = own_folder(),
                                          .session = "s",
                                          .duration_ms = 1,
                                          .answer_ms = 5000,
                                          .is_cancelled = serve};
    err = (struct stoker_err){0};
    enum stoker_status status = stk_service_capture(&plan, &how, path, sizeof path, &err);
    FUZZ_REQUIRE(status == STOKER_OK || err.message[0]);
    int files = empty_folder();
    FUZZ_REQUIRE(files == (status == STOKER_OK && how == STK_SERVICE_SENT));
    if (server.fd >= 0) { // no connection lingers: there are many
        setsockopt(server.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(server.fd);
        server.fd = -1;
    }
}

// ---- a job that asks for orders ----

static struct {
    struct fuzz_choices choices;
    bool is_plain;
    int fd, sent, asked;
} job = {.fd = -1};

static void send_datagram(struct fuzz_choices *c)
{
    static const char *const types[] = {"req", "ctxt", "", "reqreqreqreqreqreqreqreqreqreqreqreq"};
    struct sent m = {.n = 0};
    size_t n;
    if (!job.is_plain) {
        char type[KINETO_TYPE] = {0};
        int32_t head[2] = {fuzz_choose(c, 3), (int32_t)fuzz_number(c)};
        int32_t first = fuzz_choose(c, 2) ? getpid() : (int32_t)fuzz_number(c);
        int64_t of_job = 0;
        snprintf(type, sizeof type, "%.31s", types[fuzz_choose(c, 8) % 4]);
        const uint8_t *rest = fuzz_bytes(c, LINE_MAX, &n);
        uint64_t bytes = sizeof head + sizeof of_job + sizeof first + n + (fuzz_choose(c, 8) == 1);
        put(&m, &bytes, sizeof bytes);
        put(&m, type, sizeof type);
        put(&m, head, sizeof head);
        put(&m, &of_job, sizeof of_job);
        put(&m, &first, sizeof first);
        put(&m, rest, n);
    } else {
        const uint8_t *bytes = fuzz_bytes(c, 255, &n);
        put(&m, bytes, n);
    }
    job.sent += send(job.fd, m.bytes, m.n, MSG_NOSIGNAL) == (ssize_t)m.n;
}

// The daemon's socket is there: all datagrams at once, from a socket that answers can reach.
static void play_job(void *arg, const char *what)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    (void)arg;
    (void)what;
    if (job.fd >= 0) { // the second time: orders were given
        return;
    }
    job.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    FUZZ_REQUIRE(job.fd >= 0 && bind(job.fd, (struct sockaddr *)&at, sizeof at.sun_family) == 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s/dynolog", own_folder());
    FUZZ_REQUIRE(connect(job.fd, (struct sockaddr *)&at, sizeof at) == 0);
    for (int i = 0; i < DATAGRAMS_MAX && job.choices.left > 0; i++) {
        send_datagram(&job.choices);
    }
}

static bool has_asked(void) // once before each datagram
{
    return ++job.asked > job.sent;
}

static void ask_job(const uint8_t *data, size_t size, bool is_plain)
{
    static struct stoker_err err;
    static struct stk_kineto_job how;
    char path[STK_KINETO_PATH];
    snprintf(how.socket_dir, sizeof how.socket_dir, "%s", own_folder());
    const struct stk_kineto_plan plan = {.pid = getpid(),
                                         .job = &how,
                                         .trace = "/dev/null/trace.json",
                                         .duration_ms = 1,
                                         .ask_ms = 1000,
                                         .write_ms = 1000,
                                         .is_cancelled = has_asked,
                                         .told = play_job};
    job.choices = (struct fuzz_choices){data, size};
    job.is_plain = is_plain;
    job.sent = job.asked = 0;
    err = (struct stoker_err){0};
    FUZZ_REQUIRE(stk_kineto_capture(&plan, path, &err) != STOKER_OK && err.message[0]);
    FUZZ_REQUIRE(empty_folder() == 0);
    close(job.fd);
    job.fd = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sent answer;
    if (size < 1) {
        return 0;
    }
    struct fuzz_choices rest = {data + 1, size - 1};
    answer.n = 0;
    switch (data[0] % 4) {
    case 0: // behind the greeting, without which all bytes but these are the same
        put_frame(&answer, FRAME_SETTINGS, 0, 0, NULL, 0);
        put(&answer, rest.p, rest.left);
        ask_server(&answer);
        break;
    case 1:
        make_answer(&answer, &rest);
        ask_server(&answer);
        break;
    case 2:
        ask_job(rest.p, rest.left, false);
        break;
    default:
        if (data[0] & 4) {
            put(&answer, rest.p, rest.left);
            ask_server(&answer);
        } else {
            ask_job(rest.p, rest.left, true);
        }
    }
    return 0;
}

FUZZ_MAIN(fuzz_once, 2000)
