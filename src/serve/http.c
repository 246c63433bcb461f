// SPDX-License-Identifier: Apache-2.0
// HTTP by libmicrohttpd: implements serve.h. Of a request, only method, path, query, body and four
// headers are used. Every response says that it must not be cached, framed, sniffed or given to
// other pages, and that pages run only the server's own scripts.
#include <netinet/in.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "serve/assets.h"
#include "serve/bundle.h"
#include "serve/drops.h"
#include "serve/endpoints.h"
#include "serve/access.h"
#include "serve/guests.h"
#include "serve/mhd.h"
#include "serve/serve.h"

enum {
    TRUSTED = 128, // connections that have shown the token: places that guests can't take
    CONNECTIONS = STK_GUESTS_MAX + TRUSTED,
    SILENT_SECONDS = 20, // idle connections end
    CONNECTION_BYTES = 64 << 10,
    BODY_MAX = 64 << 10,   // of a POST: SQL
    STACK_BYTES = 1 << 20, // stack of a connection's thread; only touched pages take memory
    PATH_MAX_CHARS = 4096
};

struct stk_server {
    struct MHD_Daemon *daemon;
    struct stk_documents *documents;
    struct stk_access gate;
    struct stk_guests guests;
    const char *ui_dir;
    char address[256];
    struct stk_drops drops;
    pthread_mutex_t documents_lock, events_lock; // locks of enum stk_need; taken in this order
};

// A request whose body is still arriving.
struct pending {
    struct stk_body body;
    bool is_too_long;
    struct stk_drop_file *dropped; // for /api/drop: receives the body
};

static const char *const HEADERS[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
     "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin-allow-popups"},
    {"Cache-Control", "no-store"},
};

static enum MHD_Result send_off(struct MHD_Connection *c, unsigned code, const char *type,
                                struct MHD_Response *r, const char *allow)
{
    if (!r) {
        return MHD_NO;
    }
    stk_mhd.MHD_add_response_header(r, "Content-Type", type);
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
        stk_mhd.MHD_add_response_header(r, HEADERS[i][0], HEADERS[i][1]);
    }
    if (allow) {
        stk_mhd.MHD_add_response_header(r, "Allow", allow);
    }
    enum MHD_Result queued = stk_mhd.MHD_queue_response(c, code, r);
    stk_mhd.MHD_destroy_response(r);
    return queued;
}

// Copies the bytes: shared ones may be replaced before they are sent.
static enum MHD_Result give(struct MHD_Connection *c, unsigned code, const char *type,
                            const void *bytes, size_t n, const char *allow)
{
    struct MHD_Response *r =
        stk_mhd.MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
    return send_off(c, code, type, r, allow);
}

// Moves an answer made for this request only; `own` is empty afterwards. A header says how long it
// took to make.
static enum MHD_Result hand_over(struct MHD_Connection *c, const char *type, struct stk_body *own,
                                 uint64_t took_ns)
{
    char timing[64];
    struct MHD_Response *r = stk_mhd.MHD_create_response_from_buffer_with_free_callback(
        own->n, own->p ? own->p : (char *)(uintptr_t)"", own->p ? stk_free : NULL);
    if (!r) {
        return MHD_NO;
    }
    *own = (struct stk_body){.p = NULL};
    snprintf(timing, sizeof timing, "made;dur=%.3f", (double)took_ns / 1e6);
    stk_mhd.MHD_add_response_header(r, "Server-Timing", timing);
    return send_off(c, MHD_HTTP_OK, type, r, NULL);
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned code, const char *why)
{
    struct stk_body body = {.p = NULL};
    struct stk_sink sink;
    struct stk_json j;
    struct stoker_err err;
    stk_sink_init(&sink, stk_body_write, &body);
    stk_json_init(&j, &sink);
    stk_json_open(&j, '{', true);
    stk_json_key(&j, "error");
    stk_json_text(&j, why);
    stk_json_close(&j, '}');
    enum MHD_Result queued = MHD_NO;
    if (stk_sink_finish(&sink, &err) == STOKER_OK) {
        queued = give(c, code, "application/json", body.p, body.n,
                      code == MHD_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD, POST" : NULL);
    }
    stk_body_free(&body);
    return queued;
}

static unsigned code_of(enum stoker_status status)
{
    switch (status) {
    case STOKER_EUSAGE:
    case STOKER_ERANGE:
    case STOKER_EINVAL:
        return MHD_HTTP_BAD_REQUEST;
    case STOKER_EMISSING:
        return MHD_HTTP_NOT_FOUND;
    case STOKER_ELIMIT:
    case STOKER_ENOMEM:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

static const char *value_of(const void *request, const char *name)
{
    return stk_mhd.MHD_lookup_connection_value((struct MHD_Connection *)(uintptr_t)request,
                                               MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(struct MHD_Connection *c, const char *name)
{
    return stk_mhd.MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

struct counted {
    const char *name;
    int count;
};

static enum MHD_Result count_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct counted *n = arg;
    (void)kind;
    (void)value;
    n->count += strcasecmp(name, n->name) == 0;
    return MHD_YES;
}

// A header that identifies the client and occurs twice: programs differ in which one counts.
static bool is_doubled(struct MHD_Connection *c, const char *name)
{
    struct counted n = {.name = name};
    stk_mhd.MHD_get_connection_values(c, MHD_HEADER_KIND, count_header, &n);
    return n.count > 1;
}

// All modules as one script: a browser that loads them one by one waits for each level of imports.
static enum stoker_status make_script(struct stk_body *out, struct stoker_err *err)
{
    struct stk_sink sink;
    stk_sink_init(&sink, stk_body_write, out);
    enum stoker_status status = stk_bundle_script(&sink, err);
    return status == STOKER_OK ? stk_sink_finish(&sink, err) : status;
}

static enum MHD_Result give_asset(struct stk_server *s, struct MHD_Connection *c, const char *url)
{
    const char *name = url[1] ? url + 1 : "index.html";
    struct stk_body read = {.p = NULL};
    struct stoker_err err;
    const struct stk_asset *a = s->ui_dir ? NULL : stk_asset_find(name);
    bool is_script = a && strcmp(name, "main.js") == 0;
    if (a && !is_script) {
        return give(c, MHD_HTTP_OK, stk_asset_type(name), a->bytes, a->n, NULL);
    }
    enum stoker_status status = is_script   ? make_script(&read, &err)
                                : s->ui_dir ? stk_asset_read(s->ui_dir, name, &read, &err)
                                            : STOKER_EMISSING;
    enum MHD_Result queued =
        status == STOKER_OK
            ? give(c, MHD_HTTP_OK, stk_asset_type(name), read.p ? read.p : "", read.n, NULL)
            : refuse(c, code_of(status),
                     status == STOKER_EMISSING ? "nothing with that name" : err.message);
    stk_body_free(&read);
    return queued;
}

static void take(struct stk_server *s, enum stk_need need)
{
    if (need & STK_NEED_DOCUMENTS) {
        pthread_mutex_lock(&s->documents_lock);
    }
    if (need & STK_NEED_EVENTS) {
        pthread_mutex_lock(&s->events_lock);
    }
}

static void let_go(struct stk_server *s, enum stk_need need)
{
    if (need & STK_NEED_EVENTS) {
        pthread_mutex_unlock(&s->events_lock);
    }
    if (need & STK_NEED_DOCUMENTS) {
        pthread_mutex_unlock(&s->documents_lock);
    }
}

static enum MHD_Result give_answer(struct stk_server *s, struct MHD_Connection *c,
                                   const struct stk_endpoint *e, const char *rest,
                                   const struct pending *p)
{
    struct stoker_err err = {.code = STOKER_OK};
    struct stk_answer answer = {.type = "application/json"};
    const char *profile = value_of(c, "profile");
    const struct stk_asked asked = {.documents = profile ? stk_drops_documents(&s->drops, profile)
                                                         : s->documents,
                                    .rest = rest,
                                    .value = value_of,
                                    .request = c,
                                    .body = p->body.p,
                                    .drops = &s->drops,
                                    .dropped = p->dropped};
    if (!asked.documents) {
        return refuse(c, MHD_HTTP_NOT_FOUND, "no such dropped profile: drop the file again");
    }
    take(s, e->need);
    uint64_t start_ns = stk_clock_ns();
    enum stoker_status status = e->answer(&asked, &answer, &err);
    uint64_t took_ns = stk_clock_ns() - start_ns;
    enum MHD_Result queued;
    if (status != STOKER_OK) {
        queued = refuse(c, code_of(status), err.message);
    } else if (answer.shared) {
        queued = give(c, MHD_HTTP_OK, answer.type, answer.shared->p ? answer.shared->p : "",
                      answer.shared->n, NULL);
    } else {
        queued = hand_over(c, answer.type, &answer.own, took_ns);
    }
    let_go(s, e->need);
    stk_body_free(&answer.own);
    return queued;
}

static bool shows_token(const struct stk_server *s, struct MHD_Connection *c)
{
    const char *token = header(c, "X-Stoker-Token");
    return stk_access_knows_token(&s->gate, token ? token : value_of(c, "token"));
}

static enum MHD_Result answer_api(struct stk_server *s, struct MHD_Connection *c, const char *path,
                                  bool is_post, const struct pending *p)
{
    const char *rest;
    const struct stk_endpoint *e = stk_endpoint_find(path, &rest);
    if (!shows_token(s, c)) {
        return refuse(c, MHD_HTTP_FORBIDDEN,
                      "the token is missing or wrong: open the address that stoker view printed");
    }
    if (!e) {
        return refuse(c, MHD_HTTP_NOT_FOUND, "nothing with that name in /api/");
    }
    if (e->is_post != is_post) {
        return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "use another method for this");
    }
    if (p->is_too_long) {
        return refuse(c, MHD_HTTP_CONTENT_TOO_LARGE, "the body is larger than 64 kB");
    }
    return give_answer(s, c, e, rest, p);
}

static enum MHD_Result answer_whole(struct stk_server *s, struct MHD_Connection *c, const char *url,
                                    const char *method, const struct pending *p)
{
    bool is_post = strcmp(method, "POST") == 0;
    if (is_doubled(c, "Host") || is_doubled(c, "Origin")) {
        return refuse(c, MHD_HTTP_BAD_REQUEST, "Host or Origin is given twice");
    }
    if (!stk_access_knows_host(&s->gate, header(c, "Host")) ||
        !stk_access_knows_origin(&s->gate, header(c, "Origin"))) {
        return refuse(c, MHD_HTTP_FORBIDDEN,
                      "this server answers only its own pages, at the address that it printed");
    }
    if (!is_post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET, HEAD and POST are supported");
    }
    if (strlen(url) > PATH_MAX_CHARS || url[0] != '/') {
        return refuse(c, MHD_HTTP_URI_TOO_LONG, "no such path");
    }
    if (strncmp(url, "/api/", 5) == 0) {
        return answer_api(s, c, url + 5, is_post, p);
    }
    if (is_post) {
        return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "use another method for this");
    }
    return give_asset(s, c, url);
}

// A connection that has just shown the token stops being a guest.
static void see_token(struct stk_server *s, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        stk_mhd.MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info && info->socket_context && shows_token(s, c)) {
        stk_guest_trust(&s->guests, info->socket_context);
    }
}

static bool may_ask(const struct stk_server *s, struct MHD_Connection *c)
{
    return !is_doubled(c, "Host") && !is_doubled(c, "Origin") &&
           stk_access_knows_host(&s->gate, header(c, "Host")) &&
           stk_access_knows_origin(&s->gate, header(c, "Origin")) && shows_token(s, c);
}

// A file is written as it arrives: only for authorized clients.
static bool begin_request(struct stk_server *s, struct MHD_Connection *c, const char *url,
                          const char *method, struct pending *p)
{
    if (strcmp(url, "/api/drop") != 0 || strcmp(method, "POST") != 0 || !may_ask(s, c)) {
        return true;
    }
    p->dropped = stk_alloc_zero(1, sizeof *p->dropped);
    if (p->dropped) {
        stk_drop_begin(&s->drops, p->dropped, value_of(c, "name"));
    }
    return p->dropped != NULL;
}

// Called once for the headers, then for each piece of the body, then for its end.
static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_n, void **state)
{
    struct pending *p = *state;
    (void)version;
    if (!p) {
        see_token(cls, c);
        *state = p = stk_alloc_zero(1, sizeof *p);
        return p && begin_request(cls, c, url, method, p) ? MHD_YES : MHD_NO;
    }
    if (*data_n > 0 && p->dropped) {
        stk_drop_write(p->dropped, data, *data_n);
        *data_n = 0;
        return MHD_YES;
    }
    if (*data_n > 0) {
        p->is_too_long |= *data_n > BODY_MAX - p->body.n;
        if (!p->is_too_long && stk_body_write(&p->body, data, *data_n) != 0) {
            return MHD_NO;
        }
        *data_n = 0;
        return MHD_YES;
    }
    if (p->body.p && strlen(p->body.p) != p->body.n) {
        return refuse(c, MHD_HTTP_BAD_REQUEST, "the body is not text");
    }
    return answer_whole(cls, c, url, method, p);
}

static void completed(void *cls, struct MHD_Connection *c, void **state,
                      enum MHD_RequestTerminationCode how)
{
    struct pending *p = *state;
    (void)cls;
    (void)c;
    (void)how;
    if (p) {
        if (p->dropped) {
            stk_drop_cancel(p->dropped);
            stk_free(p->dropped);
        }
        stk_body_free(&p->body);
        stk_free(p);
    }
    *state = NULL;
}

static void connected(void *cls, struct MHD_Connection *c, void **guest,
                      enum MHD_ConnectionNotificationCode what)
{
    struct stk_server *s = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            stk_mhd.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        *guest = info ? stk_guest_enter(&s->guests, info->connect_fd) : NULL;
    } else {
        stk_guest_leave(&s->guests, *guest);
        *guest = NULL;
    }
}

static enum stoker_status listen_at(struct stk_server *s, const struct stk_serve_plan *plan,
                                    struct stoker_err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)plan->port)};
    if (inet_pton(AF_INET, plan->host, &at.sin_addr) != 1) {
        return stk_err_set(err, STOKER_EUSAGE, "--host %s: not an IPv4 address like 127.0.0.1",
                           plan->host);
    }
    s->daemon = stk_mhd.MHD_start_daemon(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION,
        (uint16_t)plan->port, NULL, NULL, handle, s, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&at,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_NOTIFY_COMPLETED, completed,
        NULL, MHD_OPTION_NOTIFY_CONNECTION, connected, s, MHD_OPTION_LISTENING_ADDRESS_REUSE, 0u,
        MHD_OPTION_END);
    if (!s->daemon) {
        return stk_err_set(err, STOKER_ELIMIT,
                           "can't listen on %s:%d: it is in use or not allowed; "
                           "--port 0 picks a free port",
                           plan->host, plan->port);
    }
    const union MHD_DaemonInfo *info =
        stk_mhd.MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    int port = info ? info->port : plan->port;
    atomic_store(&s->gate.port, port);
    snprintf(s->address, sizeof s->address, "http://%s:%d/?token=%s", plan->host, port,
             s->gate.token);
    return STOKER_OK;
}

enum stoker_status stk_server_open(struct stk_server **out, const struct stk_serve_plan *plan,
                                   struct stoker_err *err)
{
    struct stk_server *s = stk_alloc_zero(1, sizeof *s);
    *out = NULL;
    if (!s) {
        return stk_err_nomem(err);
    }
    s->ui_dir = plan->ui_dir;
    stk_drops_open(&s->drops, plan->drop_dir);
    stk_guests_open(&s->guests);
    pthread_mutex_init(&s->documents_lock, NULL);
    pthread_mutex_init(&s->events_lock, NULL);
    enum stoker_status status = stk_mhd_load(err);
    if (status == STOKER_OK) {
        status = stk_access_open(&s->gate, plan->host, err);
    }
    if (status == STOKER_OK) {
        status = stk_documents_open(&s->documents, &plan->view, err);
    }
    if (status == STOKER_OK) {
        status = listen_at(s, plan, err);
    }
    if (status != STOKER_OK) {
        stk_server_close(s);
        return status;
    }
    *out = s;
    return STOKER_OK;
}

const char *stk_server_address(const struct stk_server *s)
{
    return s->address;
}

void stk_server_keep(struct stk_server *s, int (*interrupted)(void *arg), void *arg)
{
    stk_documents_keep(s->documents, interrupted, arg);
}

void stk_server_close(struct stk_server *s)
{
    if (!s) {
        return;
    }
    if (s->daemon) {
        stk_mhd.MHD_stop_daemon(s->daemon);
    }
    stk_guests_close(&s->guests);
    stk_documents_free(s->documents);
    stk_drops_close(&s->drops);
    pthread_mutex_destroy(&s->documents_lock);
    pthread_mutex_destroy(&s->events_lock);
    stk_free(s);
}
