// SPDX-License-Identifier: Apache-2.0
// --files-from: paths in a file become words of the command, for more paths than fit on a command
// line. One path per line; if the file has a zero byte anywhere, zero bytes end the paths instead,
// and a path may contain line ends (find -print0). Empty lines are skipped; nothing is quoted or
// expanded.
//
// Limits: LIST_MAX bytes and PATHS_MAX paths.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "cli/cli.h"

#define LIST_MAX ((size_t)64 << 20)
#define PATHS_MAX 65536

// All bytes, zero-terminated. NULL: *why says what failed.
static char *read_all(FILE *from, size_t *n, const char **why)
{
    size_t room = 1 << 16;
    char *bytes = stk_alloc(room);
    *n = 0;
    *why = "out of memory";
    while (bytes) {
        *n += fread(bytes + *n, 1, room - 1 - *n, from);
        if (ferror(from)) {
            *why = strerror(errno);
            break;
        }
        if (*n < room - 1) {
            bytes[*n] = 0;
            return bytes;
        }
        if (room > LIST_MAX) {
            *why = "the list is larger than 64 MB";
            break;
        }
        room *= 2;
        char *larger = stk_realloc_array(bytes, room, 1);
        if (!larger) {
            break;
        }
        bytes = larger;
    }
    stk_free(bytes);
    return NULL;
}

static char *read_list(const char *path, size_t *n, const char **why)
{
    if (strcmp(path, "-") == 0) {
        return read_all(stdin, n, why);
    }
    FILE *from = fopen(path, "re");
    if (!from) {
        *why = strerror(errno);
        return NULL;
    }
    char *bytes = read_all(from, n, why);
    fclose(from);
    return bytes;
}

// Ends each path with a zero and returns their number.
static size_t split(char *bytes, size_t n)
{
    STK_ASSERT(bytes[n] == 0);
    char end = memchr(bytes, 0, n) ? '\0' : '\n';
    size_t count = 0, length = 0;
    for (size_t i = 0; i <= n; i++) {
        bool ends = i == n || bytes[i] == end;
        count += ends && length > 0;
        length = ends ? 0 : length + 1;
        bytes[i] = bytes[i] == end ? '\0' : bytes[i];
    }
    return count;
}

static bool add_words(struct stk_args *args, char *bytes, size_t n, size_t count)
{
    const char **words = stk_alloc_array((size_t)args->word_count + count + 1, sizeof *words);
    if (!words) {
        return false;
    }
    memcpy(words, args->words, (size_t)args->word_count * sizeof *words);
    stk_free(args->words);
    args->words = words;
    for (size_t i = 0; i < n; i += strlen(bytes + i) + 1) {
        if (bytes[i]) {
            args->words[args->word_count++] = bytes + i;
        }
    }
    return true;
}

static bool names_stdin(const struct stk_args *args)
{
    for (int i = 0; i < args->word_count; i++) {
        if (strcmp(args->words[i], "-") == 0) {
            return true;
        }
    }
    return false;
}

bool stk_files_from(const struct stk_cmd *cmd, struct stk_args *args)
{
    const struct stk_opt_value *v = &args->values[STK_OPT_ID_FILES_FROM];
    const char *why = NULL;
    size_t n = 0;
    if (!v->set) {
        return true;
    }
    if (args->separator > 0) {
        stk_usage(cmd, "--files-from can't be combined with --: give the paths of A as words");
        return false;
    }
    if (strcmp(v->text, "-") == 0 && names_stdin(args)) {
        stk_usage(cmd, "standard input (-) can't be both a profile and the list of --files-from");
        return false;
    }
    args->list = read_list(v->text, &n, &why);
    size_t count = args->list ? split(args->list, n) : 0;
    if (!args->list) {
        stk_usage(cmd, "--files-from %s: %s", v->text, why);
    } else if (count == 0 || count > PATHS_MAX) {
        stk_usage(cmd, "--files-from %s: %s", v->text,
                  count ? "more than 65536 paths: merge some with stoker partial first"
                        : "it has no path");
    } else if (add_words(args, args->list, n, count)) {
        return true;
    } else {
        fputs("stoker: error: out of memory\n", stderr);
    }
    return false;
}
