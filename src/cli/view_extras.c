// SPDX-License-Identifier: Apache-2.0
// Files are recognized by their content: the first bytes of a proof name its schema, the first line
// of a ledger its columns. They are read again for each request, so a growing ledger stays current.
#include "cli/view_extras.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/json_check.h"

enum { HEAD_BYTES = 4096, FILE_MAX = 16 << 20 };

static enum stoker_status read_file(const char *path, struct stk_body *out, struct stoker_err *err)
{
    char buffer[65536];
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd >= 0 && out->n < FILE_MAX && (n = read(fd, buffer, sizeof buffer)) > 0) {
        if (stk_body_write(out, buffer, (size_t)n) != 0) {
            close(fd);
            return stk_err_nomem(err);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return n == 0 ? STOKER_OK
                  : stk_err_set(err, STOKER_EMISSING, "%s can't be read, or is too long", path);
}

static enum stoker_status make_file(const struct stk_view_extra *self, struct stk_body *out,
                                    struct stoker_err *err)
{
    enum stoker_status status = read_file(self->arg, out, err);
    if (status == STOKER_OK && strcmp(self->type, "application/json") == 0 &&
        !stk_json_is_value(out->p, out->n)) {
        status = stk_err_set(err, STOKER_EDAMAGE, "%s is not valid JSON", self->name);
    }
    return status;
}

// Reads the first bytes of a plain file; 0: not a plain file.
static size_t read_head(const char *path, char head[HEAD_BYTES + 1])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n =
        fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, HEAD_BYTES) : 0;
    if (fd >= 0) {
        close(fd);
    }
    n = n > 0 ? n : 0;
    head[n] = 0;
    return (size_t)n;
}

// Is this the header line of a ledger? It has several columns, among them a fix and a measured
// ratio.
static bool is_ledger(const char *head)
{
    char line[512];
    size_t n = strcspn(head, "\r\n");
    snprintf(line, sizeof line, "%.*s", n < sizeof line ? (int)n : (int)sizeof line - 1, head);
    return strchr(line, '\t') && strstr(line, "fix") &&
           (strstr(line, "measured") || strstr(line, "ratio"));
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool add(struct stk_view_extras *x, const char *kind, const char *path, const char *type,
                enum stoker_status (*make)(const struct stk_view_extra *, struct stk_body *,
                                           struct stoker_err *))
{
    STK_ASSERT(x->count <= STK_VIEW_EXTRAS_MAX);
    if (x->count == STK_VIEW_EXTRAS_MAX) {
        return false;
    }
    x->list[x->count++] = (struct stk_view_extra){
        .kind = kind, .name = base_of(path), .type = type, .make = make, .arg = path};
    return true;
}

void stk_view_extras_find(struct stk_view_extras *x, const char **words, size_t *n, bool *has_run)
{
    size_t kept = 0;
    *has_run = false;
    for (size_t i = 0; i < *n; i++) {
        char head[HEAD_BYTES + 1];
        bool taken = false;
        if (stk_view_is_run(words[i])) {
            *has_run |= add(x, "run", words[i], "application/json", stk_view_run_make);
        } else if (read_head(words[i], head) && head[0] == '{' && strstr(head, "\"stoker.proof/")) {
            taken = add(x, "proof", words[i], "application/json", make_file);
        } else if (head[0] && is_ledger(head)) {
            taken = add(x, "ledger", words[i], "text/tab-separated-values", make_file);
        }
        if (!taken) {
            words[kept++] = words[i];
        }
    }
    *n = kept;
}
