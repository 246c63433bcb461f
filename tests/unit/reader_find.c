// SPDX-License-Identifier: Apache-2.0
// Which reader a file gets, and the message for files without one.
#include "check.h"
#include "xplane_writer.h"

static const char *find(const void *p, size_t n, const char *suffix, struct stoker_err *err)
{
    char path[128];
    const char *plain = file_of(p, n);
    snprintf(path, sizeof path, "%s%s", plain, suffix);
    if (rename(plain, path)) {
        exit(2);
    }
    struct stk_stream *s = NULL;
    stk_err_init(err);
    CHECK(stk_stream_open(&s, path, &(struct stk_stream_opts){0}, err) == STOKER_OK);
    const struct stk_reader *r = s ? stk_reader_find(s, err) : NULL;
    stk_stream_close(s);
    unlink(path);
    return r ? r->name : NULL;
}

static void known(void)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU"), line = pb_line(1, "t", 0),
              e = pb_event(1, 0, 10);
    struct stoker_err err;
    pb_msg(&line, 4, &e);
    pb_msg(&plane, 3, &line);
    pb_named(&plane, 4, 1, "op");
    pb_msg(&space, 1, &plane);
    struct pb z = pb_gzip(space.p, space.n);
    CHECK_STR(find(space.p, space.n, "", &err), "xplane");
    CHECK_STR(find(z.p, z.n, ".json", &err), "xplane"); // content counts, not the name
    free(z.p);
    free(space.p);
    const char *json =
        "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 1}]}";
    CHECK_STR(find(json, strlen(json), ".xplane.pb", &err), "chrome");
    char sqlite[512] = "SQLite format 3";
    CHECK_STR(find(sqlite, sizeof sqlite, "", &err), "nsys");
}

static void strangers(void)
{
    static char tar[600], zeros[4096];
    memcpy(tar, "rank0.json", 10);
    memcpy(tar + 257, "ustar", 5);
    static const struct {
        const char *bytes;
        size_t n;
        const char *suffix, *say;
    } cases[] = {
#define C(bytes, suffix, say) {bytes, sizeof bytes - 1, suffix, say}
        C("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", "", "git lfs pull"),
        C("\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        ", ".json", "AppleDouble"),
        C("\n <!DOCTYPE html><html></html>", ".json", "web page"),
        C("<HTML><body>", "", "web page"),
        C("", ".xplane.pb", "the file is empty"),
        C("\x1f\x8b\x08\x00\x00\x00", ".json.gz", "nothing could be decompressed"),
        C("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00", ".pb",
          "the file is empty"),
        C("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\x00\x00", "", "Riegeli"),
        C("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}", ".pickle", "memory snapshot"),
        C("PK\x03\x04\x14\x00", ".zip", "zip"),
        C("anything at all", ".nsys-rep",
          "nsys export --type=sqlite --include-blobs=true --lazy=false"),
        C("just some text, nothing else", ".txt", "not a profile that stoker knows"),
        C("BZh91AY&SY", "", "bzip2"),
#undef C
        {tar, sizeof tar, ".tar", "tar archive"},
        {zeros, sizeof zeros, ".sqlite", "zeros"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stoker_err err;
        CHECK(find(cases[i].bytes, cases[i].n, cases[i].suffix, &err) == NULL);
        CHECK_EQ(err.code, STOKER_EINPUT);
        bool said = strstr(err.message, cases[i].say) != NULL;
        CHECK(said);
        if (!said) {
            fprintf(stderr, "wanted \"%s\" in: %s\n", cases[i].say, err.message);
        }
    }
}

static void paths(void)
{
    struct stk_trace *t;
    struct stoker_err err;
    stk_err_init(&err);
    CHECK(stk_reader_read_path("/nonexistent/profile.xplane.pb", 1, NULL, &t, &err) ==
          STOKER_EINPUT);
    CHECK(!t && strstr(err.message, "/nonexistent/profile.xplane.pb"));
    CHECK(stk_reader_read_path("/tmp", 1, NULL, &t, &err) == STOKER_EINPUT);
    struct pb z = pb_gzip((const uint8_t *)"SQLite format 3\0more", 20);
    const char *path = file_of(z.p, z.n);
    CHECK(stk_reader_read_path(path, 1, NULL, &t, &err) == STOKER_EINPUT);
    CHECK(strstr(err.message, "plain file"));
    unlink(path);
    free(z.p);
}

static int stop(void *arg, uint64_t done, uint64_t total)
{
    int *calls = arg;
    CHECK(done <= total);
    return ++*calls >= 2;
}

// A progress callback that says stop ends reading.
static void interrupted(void)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU"), line = pb_line(1, "t", 0);
    for (int64_t i = 0; i < 200000; i++) {
        struct pb e = pb_event(1, i * 1000, 10);
        pb_msg(&line, 4, &e);
    }
    pb_msg(&plane, 3, &line);
    pb_msg(&space, 1, &plane);
    const char *path = file_of(space.p, space.n);
    int calls = 0;
    struct stk_progress progress = {stop, &calls};
    struct stk_trace *t;
    struct stoker_err err;
    stk_err_init(&err);
    CHECK(stk_reader_read_path(path, 1, &progress, &t, &err) == STOKER_EINTR);
    CHECK(!t);
    CHECK_EQ(calls, 2);
    unlink(path);
    free(space.p);
}

static void fixtures(void)
{
    const char *dir = check_fixtures();
    if (!dir) {
        return;
    }
    static const char *const no[][2] = {
        {"xplane/xprof/tpu_inference_2.xplane.pb", "U+FFFD"},
        {"kineto/TraceLens/AppleDouble_._huvideo_traces_rank_0_step_3.json", "AppleDouble"},
        {"tf-tool-output/profiler/GPU-compute-bound.localhost.overview_page.pb", "TensorBoard"},
        {"tf-tool-output/profiler/GPU-input-bound.localhost.input_pipeline.pb", "TensorBoard"},
    };
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        char path[4096];
        struct stk_trace *t;
        struct stoker_err err;
        snprintf(path, sizeof path, "%s/%s", dir, no[i][0]);
        CHECK(stk_reader_read_path(path, 2, NULL, &t, &err) == STOKER_EINPUT);
        CHECK(strstr(err.message, no[i][1]));
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(known);
    CHECK_RUN(strangers);
    CHECK_RUN(paths);
    CHECK_RUN(interrupted);
    CHECK_RUN(fixtures);
    return check_done("unit.reader_find");
}
