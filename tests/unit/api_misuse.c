// SPDX-License-Identifier: Apache-2.0
// A caller's bugs at the public functions: STOKER_EINVAL with a text that names the function, with
// and without an error record. If assertions are on, the program aborts instead.
#include "check.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "stoker/data.h"
#include "stoker/device.h"
#include "stoker/diff.h"
#include "stoker/export.h"
#include "stoker/query.h"
#include "stoker/report.h"
#include "stoker/stats.h"

static int take(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    (void)bytes;
    (void)n;
    return 0;
}

static const char *const path[] = {"nothing.json", NULL};
static struct stoker_result *result;
static struct stoker_tables *tables;
static struct stoker_profiles *profiles;
static struct stoker_export *export_;
static struct stoker_diff *diff;
static struct stoker_bytes bytes;
static struct stoker_fn *fn;
static struct stoker_dataset *ds;
static struct stoker_iterator *it;
static struct stoker_record_writer *writer;
static struct stoker_inspection *inspection;
static struct stoker_stager *stager;
static struct stoker_device_batch *batch;
static struct stoker_tensor tensor;
static uint64_t count;
static size_t size = 8;
static int number;

// name(x): the call of a public entry with a mistake in it.
#define CALLS(X)                                                                                   \
    X(stoker_why, (NULL, 1, NULL, &result, err))                                                   \
    X(stoker_why, (path, 0, NULL, &result, err))                                                   \
    X(stoker_why, (path, 2, NULL, &result, err))                                                   \
    X(stoker_why, (path, 1, NULL, NULL, err))                                                      \
    X(stoker_result_write, (NULL, "text", NULL, take, NULL, err))                                  \
    X(stoker_schema, (NULL, take, NULL, err))                                                      \
    X(stoker_schema, ("report", NULL, NULL, err))                                                  \
    X(stoker_describe_report, (NULL, NULL, err))                                                   \
    X(stoker_describe_schema, (NULL, take, NULL, err))                                             \
    X(stoker_describe_schema, ("report", NULL, NULL, err))                                         \
    X(stoker_diff, (NULL, 1, path, 1, NULL, &diff, err))                                           \
    X(stoker_diff, (path, 1, path, 2, NULL, &diff, err))                                           \
    X(stoker_diff, (path, 1, path, 1, NULL, NULL, err))                                            \
    X(stoker_diff_write, (NULL, "text", NULL, take, NULL, err))                                    \
    X(stoker_describe_diff, (NULL, NULL, err))                                                     \
    X(stoker_stats, (NULL, path, 1, NULL, &tables, err))                                           \
    X(stoker_stats, ("kernels", path, 0, NULL, &tables, err))                                      \
    X(stoker_tables_write, (NULL, "csv", NULL, NULL, take, NULL, err))                             \
    X(stoker_describe_table, (NULL, NULL, err))                                                    \
    X(stoker_open, (path, 2, NULL, &profiles, err))                                                \
    X(stoker_open, (path, 1, NULL, NULL, err))                                                     \
    X(stoker_query, (NULL, "select 1", NULL, &tables, err))                                        \
    X(stoker_find, (NULL, "a", NULL, &tables, err))                                                \
    X(stoker_describe_tables, (NULL, take, NULL, err))                                             \
    X(stoker_export_open, (NULL, 0, NULL, &export_, err))                                          \
    X(stoker_export_write, (NULL, "csv", NULL, NULL, take, NULL, err))                             \
    X(stoker_describe_exports, (NULL, NULL, err))                                                  \
    X(stoker_fn_open, (NULL, 1, "f", &fn, err))                                                    \
    X(stoker_fn_open, (NULL, 0, "f", NULL, err))                                                   \
    X(stoker_fn_add, (NULL, "add", NULL, 0, NULL, NULL, &number, &number, err))                    \
    X(stoker_fn_finish, (NULL, NULL, 0, err))                                                      \
    X(stoker_op_call, (NULL, &tensor, 1, NULL, 0, &tensor, &number, err))                          \
    X(stoker_op_call, ("add", NULL, 2, NULL, 0, &tensor, &number, err))                            \
    X(stoker_plugin_load, (NULL, &number, &number, err))                                           \
    X(stoker_dataset_make, (NULL, NULL, 0, NULL, NULL, &ds, err))                                  \
    X(stoker_dataset_make, ("batch", NULL, 1, NULL, NULL, &ds, err))                               \
    X(stoker_dataset_explain, (NULL, NULL, &bytes, err))                                           \
    X(stoker_dataset_write, (NULL, NULL, "x", NULL, NULL, &count, err))                            \
    X(stoker_iterator_open, (NULL, NULL, &it, err))                                                \
    X(stoker_iterator_next, (NULL, &tensor, 1, &number, err))                                      \
    X(stoker_iterator_state, (NULL, &count, &size, err))                                           \
    X(stoker_iterator_resume, (NULL, NULL, &count, 8, &it, err))                                   \
    X(stoker_record_create, (NULL, "", 0, &writer, err))                                           \
    X(stoker_record_write, (NULL, "x", 1, err))                                                    \
    X(stoker_example_encode, (NULL, 1, 0, &bytes, err))                                            \
    X(stoker_inspect, (NULL, NULL, NULL, &inspection, err))                                        \
    X(stoker_inspect, ("x", NULL, NULL, NULL, err))                                                \
    X(stoker_stager_open_tables, (NULL, NULL, 0, 2, NULL, 0, &stager, err))                        \
    X(stoker_stager_next, (NULL, &tensor, 1, &batch, &number, err))                                \
    X(stoker_stager_explain, (NULL, NULL, &bytes, err))                                            \
    X(stoker_device_count, (NULL, err))                                                            \
    X(stoker_device_batch_await, (NULL, NULL, err))                                                \
    X(stoker_device_batch_wait, (NULL, err))                                                       \
    X(stoker_device_batch_read, (NULL, NULL, NULL, 1, err))

#define X(entry, args) +1
enum { CALLS_COUNT = 0 CALLS(X) };
#undef X

static enum stoker_status run_call(int index, struct stoker_err *err, const char **name)
{
    int i = 0;
#define X(entry, args)                                                                             \
    if (i++ == index) {                                                                            \
        *name = #entry;                                                                            \
        return entry args;                                                                         \
    }
    CALLS(X)
#undef X
    *name = NULL;
    return STOKER_OK;
}

// Whether the call ends the process that makes it by abort().
static bool aborts(int index)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        const char *name;
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        (void)run_call(index, NULL, &name);
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void every_entry(void)
{
    for (int i = 0; i < CALLS_COUNT; i++) {
        const char *name;
        struct stoker_err err;
        if (STOKER_ASSERTIONS) {
            CHECK(aborts(i));
            continue;
        }
        memset(&err, 0x5a, sizeof err);
        enum stoker_status status = run_call(i, &err, &name);
        if (status != STOKER_EINVAL || err.code != STOKER_EINVAL || err.contexts != 0 ||
            strncmp(err.message, name, strlen(name)) != 0) {
            fprintf(stderr, "%s: status %d, \"%.60s\"\n", name, (int)status, err.message);
            CHECK(!"a caller's bug is reported");
        }
        CHECK_EQ(run_call(i, NULL, &name), STOKER_EINVAL);
    }
}

// What takes NULL says so in its header.
static void null_is_nothing(void)
{
    stoker_result_free(NULL);
    stoker_diff_free(NULL);
    stoker_tables_free(NULL);
    stoker_close(NULL);
    stoker_export_free(NULL);
    stoker_iterator_free(NULL);
    stoker_inspection_free(NULL);
    stoker_bytes_free(NULL);
    struct stoker_err err;
    CHECK_EQ(stoker_iterator_close(NULL, &err), STOKER_OK);
}

// Types and ranks that there are not: of specs that callers write themselves.
static void made_up_specs(void)
{
    static const struct {
        int dtype, rank;
    } wrong[] = {{-1, 0}, {STOKER_DTYPES, 0}, {0, -2}, {0, STOKER_RANK_MAX + 1}, {0, INT_MAX}};
    struct stoker_args *args = stoker_args_new();
    CHECK(args != NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct stoker_spec spec = {.dtype = wrong[i].dtype, .rank = wrong[i].rank};
        struct stoker_fn *made = NULL;
        struct stoker_err err;
        CHECK_EQ(stoker_fn_open(&spec, 1, "f", &made, &err), STOKER_EINVAL);
        CHECK(made == NULL && strstr(err.message, "input 0"));
        CHECK_EQ(stoker_args_specs(args, "specs", &spec, 1), 0);
        CHECK_EQ(stoker_args_bound(args, "bound", &spec, 1), 0);
    }
    struct stoker_spec good = {.dtype = STOKER_FLOAT32, .rank = STOKER_UNKNOWN};
    CHECK_EQ(stoker_args_specs(args, "specs", &good, 1), 1);
    stoker_args_free(args);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(every_entry);
    CHECK_RUN(null_is_nothing);
    CHECK_RUN(made_up_specs);
    return check_done("unit.api_misuse");
}
