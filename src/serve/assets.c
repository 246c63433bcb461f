// SPDX-License-Identifier: Apache-2.0
// Files of web/ by name; see assets.h. A requested name is only compared: the name that is opened
// comes from the folder itself.
#include "serve/assets.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ASSET_MAX (1 << 20)

const struct stk_asset *stk_asset_find(const char *name)
{
    for (const struct stk_asset *a = stk_assets; a->name; a++) {
        if (strcmp(a->name, name) == 0) {
            return a;
        }
    }
    return NULL;
}

const char *stk_asset_type(const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".svg", "image/svg+xml"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++) {
        if (strcmp(dot, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

static enum stoker_status read_file(int folder, const char *name, struct stk_body *out,
                                    struct stoker_err *err)
{
    char buffer[16384];
    ssize_t n;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return stk_err_set(err, STOKER_EMISSING, "%s can't be read", name);
    }
    while ((n = read(fd, buffer, sizeof buffer)) > 0 && out->n + (size_t)n <= ASSET_MAX) {
        if (stk_body_write(out, buffer, (size_t)n) != 0) {
            break;
        }
    }
    close(fd);
    return n == 0 ? STOKER_OK
                  : stk_err_set(err, STOKER_EINPUT, "%s: too long, or not a file", name);
}

enum stoker_status stk_asset_read(const char *folder, const char *name, struct stk_body *out,
                                  struct stoker_err *err)
{
    DIR *dir = opendir(folder);
    enum stoker_status status = STOKER_EMISSING;
    if (!dir) {
        return stk_err_set(err, STOKER_EINPUT, "%s: no such folder", folder);
    }
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] != '.' && strcmp(e->d_name, name) == 0) {
            status = read_file(dirfd(dir), e->d_name, out, err);
            break;
        }
    }
    closedir(dir);
    return status == STOKER_EMISSING ? stk_err_set(err, STOKER_EMISSING, "no file with that name")
                                     : status;
}
