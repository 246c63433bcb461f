// SPDX-License-Identifier: Apache-2.0
// Runs the Python module for `stoker data`; see data_python.h. A conversion writes to a temporary
// file, which is renamed when complete.
#include "cli/data_python.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "stoker/data.h"

extern char **environ;

// Waits for the child, which gets Ctrl-C as well and handles it. Returns an exit code of the
// contract, also for Python's own failures (1: no such module; 120: its output couldn't be
// written).
static int code_of_child(pid_t child)
{
    struct stoker_err err = {.code = STOKER_EINPUT, .offset = -1};
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) {
        return STK_EXIT_INTERRUPTED;
    }
    if (WIFSIGNALED(status)) {
        snprintf(err.message, sizeof err.message, "python3 was ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
        return stk_fail(&err);
    }
    int code = WEXITSTATUS(status);
    if (code == 1) {
        snprintf(err.message, sizeof err.message,
                 "the Python module stoker.data can't be imported. Install it with './dev install' "
                 "or 'pip install .' in stoker's source folder");
        return stk_fail(&err);
    }
    return code == 120 ? STK_EXIT_LIMIT : code;
}

// Like python3 -m stoker.data, but without the current folder, which -m and -c put first on the
// path: a numpy.py next to somebody's data would run. -P, which omits that folder, needs Python
// 3.11. sys is built in, so nothing is searched before the path is fixed.
#define PROGRAM                                                                                    \
    "import sys\n"                                                                                 \
    "sys.path[:] = [p for p in sys.path if p]\n"                                                   \
    "try:\n"                                                                                       \
    "    from stoker.data.__main__ import main\n"                                                  \
    "except ModuleNotFoundError as e:\n"                                                           \
    "    sys.exit(f'python3: {e}')\n"                                                              \
    "sys.exit(main(sys.argv))\n"

int stk_data_python(const char *const *words)
{
    int count = 0;
    while (words[count]) {
        count++;
    }
    const char **argv = calloc((size_t)count + 4, sizeof argv[0]);
    struct stoker_err err = {.code = STOKER_EINPUT, .offset = -1};
    pid_t child;
    posix_spawnattr_t how;
    sigset_t defaults;
    if (!argv) {
        err.code = STOKER_ENOMEM;
        snprintf(err.message, sizeof err.message, "out of memory");
        return stk_fail(&err);
    }
    argv[0] = "python3";
    argv[1] = "-c";
    argv[2] = PROGRAM;
    memcpy(argv + 3, words, (size_t)count * sizeof words[0]);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    signal(SIGINT, SIG_IGN);
    int why = posix_spawnp(&child, argv[0], NULL, &how, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&how);
    free(argv);
    if (why) {
        snprintf(err.message, sizeof err.message, "can't run python3: %s", strerror(why));
        return stk_fail(&err);
    }
    return code_of_child(child);
}

// The kind of output by the end of its name; "indexed" for any other.
static const char *target_of(const char *path)
{
    static const struct {
        const char *end, *target;
    } rows[] = {{".parquet", "parquet"},
                {".arrow", "file"},
                {".feather", "file"},
                {".arrows", "stream"},
                {"/", "folder"}};
    struct stat info;
    size_t n = strlen(path);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        size_t size = strlen(rows[k].end);
        if (n > size && strcasecmp(path + n - size, rows[k].end) == 0) {
            return rows[k].target;
        }
    }
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? "folder" : "indexed";
}

// A folder of saved elements or of Hugging Face's `datasets`, recognized by a file that each has.
static bool is_dataset(const char *folder)
{
    static const char *const marks[] = {"structure.json", "state.json", "dataset_info.json",
                                        "dataset_dict.json"};
    char name[4096];
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        int n = snprintf(name, sizeof name, "%s/%s", folder, marks[i]);
        if (n > 0 && (size_t)n < sizeof name && access(name, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

// Recognizes a Parquet file, an Arrow file or stream by the first bytes. Pipes and devices aren't
// opened: that may wait forever.
static bool is_table(const char *path)
{
    char head[8] = {0};
    struct stat info;
    if (stat(path, &info) != 0) {
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        return S_ISDIR(info.st_mode) && is_dataset(path);
    }
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) {
        fclose(f);
    }
    return n >= 4 && (memcmp(head, "PAR1", 4) == 0 || memcmp(head, "\xff\xff\xff\xff", 4) == 0 ||
                      (n >= 6 && memcmp(head, "ARROW1", 6) == 0));
}

bool stk_data_is_pythons(const struct stk_args *args, const char *output)
{
    return strcmp(target_of(output), "indexed") != 0 || is_table(args->words[1]);
}

static int failed_output(const char *path, int why)
{
    struct stoker_err err = {.code = STOKER_EOUTPUT, .offset = -1};
    snprintf(err.message, sizeof err.message, "can't write %.300s: %s", path, strerror(why));
    return stk_fail(&err);
}

int stk_data_convert_python(const struct stk_args *args, const char *output)
{
    const char *target = target_of(output), *made = output;
    struct stk_atomic_file file = {0};
    char threads[24];
    // The engine's own files and folders get their name only when complete.
    bool is_renamed = strcmp(target, "indexed") != 0 && strcmp(target, "folder") != 0;
    int why = is_renamed ? stk_atomic_file_open(&file, output) : 0;
    if (why) {
        return failed_output(output, why);
    }
    made = is_renamed ? file.concurrent : output;
    const char **words = calloc((size_t)args->word_count + 5, sizeof words[0]);
    int code = STK_EXIT_LIMIT;
    if (words) {
        snprintf(threads, sizeof threads, "%d", (int)args->values[STK_OPT_ID_THREADS].number);
        words[0] = args->values[STK_OPT_ID_QUIET].set ? "convert-quietly" : "convert";
        words[1] = target;
        words[2] = made;
        words[3] = threads;
        memcpy(words + 4, args->words + 1, (size_t)(args->word_count - 1) * sizeof words[0]);
        code = stk_data_python(words);
        free(words);
    }
    why = is_renamed ? stk_atomic_file_close(&file, code == STK_EXIT_DONE) : 0;
    return why && code == STK_EXIT_DONE ? failed_output(output, why) : code;
}
