// SPDX-License-Identifier: Apache-2.0
// Links of a terminal (OSC 8) to a line of the job's own code, as file:// addresses with the line
// as the fragment. Only files that exist below the current folder become links: names in a profile
// may come from other people, and must not link to anything else.
#include "results/print/link.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"

// Whether ".." is a part of the path: it would lead out of the folder.
static bool leads_up(const char *path)
{
    for (const char *p = path; (p = strstr(p, "..")); p += 2) {
        bool begins = p == path || p[-1] == '/';
        if (begins && (p[2] == '/' || p[2] == 0)) {
            return true;
        }
    }
    return false;
}

// The file's absolute path; false: no such file below the current folder.
static bool find_below(const char *file, char *path, size_t size)
{
    STK_ASSERT(size > PATH_MAX);
    if (!getcwd(path, PATH_MAX) || leads_up(file)) {
        return false;
    }
    size_t folder = strlen(path);
    int n = *file == '/' ? snprintf(path, size, "%s", strncmp(file, path, folder) == 0 ? file : "")
                         : snprintf(path + folder, size - folder, "/%s", file);
    bool is_whole = n > 0 && (size_t)n < size - (*file == '/' ? 0 : folder);
    return is_whole && path[folder] == '/' && access(path, F_OK) == 0;
}

static void put_encoded(struct stk_sink *sink, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    for (; *text; text++) {
        char code[8];
        if (strchr(plain, *text)) {
            stk_sink_put(sink, text, 1);
        } else {
            snprintf(code, sizeof code, "%%%02X", (unsigned char)*text);
            stk_sink_text(sink, code);
        }
    }
}

void stk_term_place(struct stk_term *t, const struct stk_rep_source *source, const char *text)
{
    char path[2 * PATH_MAX], host[256], line[32];
    if (!t->options->links || !find_below(source->file, path, sizeof path)) {
        stk_term_text(t, text);
        return;
    }
    if (gethostname(host, sizeof host) != 0) {
        host[0] = 0;
    }
    host[sizeof host - 1] = 0;
    snprintf(line, sizeof line, "#%lld", (long long)source->line);
    stk_sink_text(t->sink, "\033]8;;file://");
    put_encoded(t->sink, host);
    put_encoded(t->sink, path);
    stk_sink_text(t->sink, line);
    stk_sink_text(t->sink, "\033\\");
    stk_term_text(t, text);
    stk_sink_text(t->sink, "\033]8;;\033\\");
}
