// SPDX-License-Identifier: Apache-2.0
// Damaged XPlane profiles: truncated at every byte, flipped bits, wrong lengths, failing memory;
// and files that aren't XPlane profiles at all.
#include "check.h"
#include "xplane_writer.h"

// Two planes with two lines of four events each; event i of a line starts i * 10 ns into it.
static struct pb small_space(bool maps_first)
{
    struct pb space = {0};
    for (int k = 0; k < 2; k++) {
        struct pb plane = pb_plane(k ? "/device:GPU:0" : "/host:CPU");
        for (int pass = 0; pass < 2; pass++) {
            if ((pass == 0) == maps_first) {
                pb_named(&plane, 4, 1, "first");
                pb_named(&plane, 4, 300, "second");
                pb_named(&plane, 5, 1, "correlation_id");
                continue;
            }
            for (int l = 0; l < 2; l++) {
                struct pb line = pb_line(l + 1, k ? "Stream #1(Compute)" : "thread", 1000);
                for (int i = 0; i < 4; i++) {
                    struct pb e = pb_event(i % 2 ? 300 : 1, i * 10000, 5000);
                    pb_stat_int(&e, 4, 1, 3, k + 2 * l + 4 * i);
                    pb_msg(&line, 4, &e);
                }
                pb_msg(&plane, 3, &line);
            }
        }
        pb_msg(&space, 1, &plane);
    }
    pb_str(&space, 4, "host");
    return space;
}

// Cut after n bytes: never more events than before, never fewer than a shorter cut left, every
// event whole, and the cut is reported.
static void cut_everywhere(bool maps_first, bool compressed)
{
    struct pb space = small_space(maps_first);
    uint64_t before = 0;
    for (size_t n = 1; n <= space.n; n++) {
        struct stk_trace *t;
        struct stoker_err err;
        struct pb z = compressed ? pb_gzip(space.p, n) : (struct pb){0};
        enum stoker_status status =
            read_xplane_bytes(compressed ? z.p : space.p, compressed ? z.n : n, 1, &t, &err);
        free(z.p);
        CHECK(status == STOKER_OK || status == STOKER_EINPUT);
        CHECK((status == STOKER_OK) == (t != NULL));
        if (!t) {
            continue;
        }
        CHECK(t->count >= before && t->count <= 16);
        before = t->count;
        CHECK_EQ(t->read, t->count);
        CHECK_EQ(t->dropped, 0);
        for (uint32_t i = 0; i < t->count; i++) {
            CHECK_EQ(stk_dur_ns(t, i), 5);
        }
        uint64_t told = t->issues[STK_ISSUE_TRUNCATED].count;
        CHECK(told <= 1 && (n < space.n || !told));
        CHECK_EQ(t->cut, told ? STK_CUT_AT : STK_CUT_NOT);
        bool has_planes = n > space.n - strlen("host"); // cut in the text after them
        CHECK(!told || t->whole_until_ns == (has_planes ? INT64_MAX : INT64_MIN));
        bool named = find_event(t, "first", 0) != STK_NONE;
        if (t->count && !named) {
            CHECK(
                strstr(text_of(t, t->issues[STK_ISSUE_TRUNCATED].note), "the names of all events"));
        }
        CHECK(t->issues[STK_ISSUE_MESSAGE_INVALID].count == 0);
        stk_trace_free(t);
    }
    CHECK_EQ(before, 16);
    free(space.p);
}

static void flip_bits(void)
{
    struct pb space = small_space(true);
    unsigned long kept = 0;
    for (size_t i = 0; i < space.n * 8; i++) {
        struct stk_trace *t;
        struct stoker_err err;
        space.p[i / 8] ^= (uint8_t)(1 << i % 8);
        enum stoker_status status = read_xplane_bytes(space.p, space.n, 1 + (int)(i % 2), &t, &err);
        CHECK(status == STOKER_OK || status == STOKER_EINPUT);
        if (t) {
            CHECK(t->count + t->dropped <= t->read && t->read <= 64);
            kept += t->count > 0;
        }
        stk_trace_free(t);
        const char *why;
        int score = stk_reader_xplane.sniff(space.p, space.n, &why);
        CHECK(score >= 0 && score <= 2);
        space.p[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    CHECK(kept > space.n * 4); // most flips leave most of the file readable
    free(space.p);
}

// One bad event costs itself only. Of no bytes is an event of metadata 0, where there is such a
// one.
static void bad_event(bool zero)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU"), line = pb_line(1, "t", 0);
    struct pb e = pb_event(1, 0, 1000);
    pb_msg(&line, 4, &e);
    pb_bytes(&line, 4, "\x08\xff", 2);         // varint without end
    pb_bytes(&line, 4, "\x08\x01\x22\x7f", 4); // stat longer than its event
    pb_bytes(&line, 4, "\x0b\x0b", 2);         // group
    pb_bytes(&line, 4, "", 0);                 // all defaults
    e = pb_event(1, 5000, 1000);
    pb_msg(&line, 4, &e);
    pb_msg(&plane, 3, &line);
    pb_named(&plane, 4, 1, "ok");
    if (zero) {
        pb_named(&plane, 4, 0, "begin");
    }
    pb_msg(&space, 1, &plane);
    struct stk_trace *t;
    struct stoker_err err;
    CHECK(read_xplane_bytes(space.p, space.n, 1, &t, &err) == STOKER_OK);
    CHECK_EQ(t->read, 6);
    CHECK_EQ(t->count, zero ? 3 : 2);
    CHECK_EQ(t->dropped, zero ? 3 : 4);
    CHECK_EQ(t->issues[STK_ISSUE_MESSAGE_INVALID].count, t->dropped);
    stk_trace_free(t);
    free(space.p);
}

static void bad_events(void)
{
    bad_event(false);
    bad_event(true);
}

// A line that claims more than its plane has loses no existing event.
static void lying_length(void)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU"), line = pb_line(1, "t", 0);
    for (int i = 0; i < 3; i++) {
        struct pb e = pb_event(1, i * 1000, 1000);
        pb_msg(&line, 4, &e);
    }
    pb_varint(&plane, 3 << 3 | 2);
    pb_varint(&plane, line.n + 1000000);
    pb_raw(&plane, line.p, line.n);
    free(line.p);
    pb_msg(&space, 1, &plane);
    struct pb other = pb_plane("/device:GPU:0"), l = pb_line(2, "Stream #2(Compute)", 0),
              e = pb_event(1, 0, 10);
    pb_msg(&l, 4, &e);
    pb_msg(&other, 3, &l);
    pb_msg(&space, 1, &other);
    struct stk_trace *t;
    struct stoker_err err;
    CHECK(read_xplane_bytes(space.p, space.n, 1, &t, &err) == STOKER_OK);
    CHECK_EQ(t->count, 4);
    CHECK(t->issues[STK_ISSUE_MESSAGE_INVALID].count >= 1);
    CHECK_EQ(t->issues[STK_ISSUE_TRUNCATED].count, 0);
    stk_trace_free(t);
    free(space.p);
}

// A plane that claims 2^60 bytes allocates what is there, not what is claimed.
static void huge_claim(void)
{
    struct pb space = {0};
    pb_varint(&space, 1 << 3 | 2);
    pb_varint(&space, 1ull << 60);
    pb_str(&space, 2, "/host:CPU");
    struct pb line = pb_line(1, "t", 0), e = pb_event(1, 0, 1000);
    pb_msg(&line, 4, &e);
    pb_msg(&space, 3, &line);
    for (int compressed = 0; compressed < 2; compressed++) {
        struct pb z = pb_gzip(space.p, space.n);
        struct stk_trace *t;
        struct stoker_err err;
        CHECK(read_xplane_bytes(compressed ? z.p : space.p, compressed ? z.n : space.n, 1, &t,
                                &err) == STOKER_OK);
        CHECK_EQ(t->count, 1);
        CHECK_EQ(t->issues[STK_ISSUE_TRUNCATED].count, 1);
        CHECK_EQ(t->issues[STK_ISSUE_LIMIT_REACHED].count, 0); // no limit: the input ends before it
        stk_trace_free(t);
        free(z.p);
    }
    free(space.p);
}

// A line that claims more than its plane has, at the end of what is held of a packed file: damage,
// not the file's end, however the file comes.
static void false_end(void)
{
    struct pb plane = {0}, space = {0}, other = small_space(false);
    pb_str(&plane, 2, "/host:CPU");
    pb_varint(&plane, 3 << 3 | 2);
    pb_varint(&plane, 1ull << 40);
    struct pb line = pb_line(1, "t", 0), e = pb_event(1, 0, 1000);
    pb_msg(&line, 4, &e);
    pb_varint(&line, 4 << 3 | 2);
    pb_varint(&line, 100); // an event that is not there
    pb_raw(&plane, line.p, line.n);
    free(line.p);
    pb_msg(&space, 1, &plane);
    pb_raw(&space, other.p, other.n);
    for (int compressed = 0; compressed < 2; compressed++) {
        struct pb z = pb_gzip(space.p, space.n);
        struct stk_trace *t;
        struct stoker_err err;
        CHECK(read_xplane_bytes(compressed ? z.p : space.p, compressed ? z.n : space.n, 1, &t,
                                &err) == STOKER_OK);
        CHECK_EQ(t->issues[STK_ISSUE_MESSAGE_INVALID].count, 2);
        CHECK_EQ(t->issues[STK_ISSUE_TRUNCATED].count, 0);
        stk_trace_free(t);
        free(z.p);
    }
    free(space.p);
    free(other.p);
}

// Large lines are cut where the bytes look like events. Here an attachment that holds nothing but
// events lies where the first cut is looked for; none of them may appear in the trace.
static void false_events(void)
{
    struct pb space = {0}, plane = pb_plane("/host:CPU"), line = pb_line(1, "t", 0), fakes = {0};
    for (int i = 0; i < 60000; i++) {
        struct pb e = pb_event(2, 77, 88);
        pb_msg(&fakes, 4, &e);
    }
    int64_t n = 0;
    for (; line.n < ((size_t)8 << 20) - fakes.n / 2; n++) {
        struct pb e = pb_event(1, n * 1000, 1000);
        pb_msg(&line, 4, &e);
    }
    struct pb e = pb_event(1, n++ * 1000, 1000), stat = {0};
    pb_int(&stat, 1, 1);
    pb_msg(&stat, 6, &fakes);
    pb_msg(&e, 4, &stat);
    pb_msg(&line, 4, &e);
    for (; line.n < (size_t)20 << 20; n++) {
        e = pb_event(1, n * 1000, 1000);
        pb_msg(&line, 4, &e);
    }
    pb_msg(&plane, 3, &line);
    pb_named(&plane, 4, 1, "real");
    pb_named(&plane, 4, 2, "false");
    pb_msg(&space, 1, &plane);
    for (int threads = 1; threads <= 3; threads++) {
        struct stk_trace *t;
        struct stoker_err err;
        CHECK(read_xplane_bytes(space.p, space.n, threads, &t, &err) == STOKER_OK);
        CHECK_EQ(t->count, n);
        CHECK_EQ(t->read, (uint64_t)n);
        CHECK(find_event(t, "false", 0) == STK_NONE);
        CHECK_EQ(t->issues[STK_ISSUE_MESSAGE_INVALID].count, 0);
        stk_trace_free(t);
    }
    free(space.p);
}

static void failing_memory(void)
{
    struct pb space = small_space(false), z = pb_gzip(space.p, space.n);
    for (int compressed = 0; compressed < 2; compressed++) {
        for (int sticky = 0; sticky < 2; sticky++) {
            bool failed = true;
            for (uint64_t n = 1; failed && n < 10000; n++) {
                struct stk_trace *t;
                struct stoker_err err;
                const char *path = file_of(compressed ? z.p : space.p, compressed ? z.n : space.n);
                stk_alloc_fail_at(n, sticky);
                enum stoker_status status = read_xplane_file(path, 2, &t, &err);
                stk_alloc_fail_at(0, 0);
                unlink(path);
                failed = status != STOKER_OK;
                CHECK((status == STOKER_OK && t->count == 16) || (status == STOKER_ENOMEM && !t));
                stk_trace_free(t);
            }
            CHECK(!failed);
        }
    }
    free(z.p);
    free(space.p);
}

static int sniff(const void *p, size_t n, const char **why)
{
    *why = NULL;
    return stk_reader_xplane.sniff(p, n, why);
}

static void sniffing(void)
{
    struct pb space = small_space(false);
    const char *why;
    CHECK_EQ(sniff(space.p, space.n, &why), 2);
    CHECK_EQ(sniff(space.p, space.n / 2, &why), 2);
    struct pb extended = {0};
    pb_int(&extended, 90, 1);
    pb_raw(&space, extended.p, extended.n);
    free(extended.p);
    CHECK_EQ(sniff(space.p, space.n, &why), 2);
    static const char *const no[] = {
        "",
        "{",
        "{\"traceEvents\": []}",
        "[]",
        "\n",
        "\n\n\n\n",
        "SQLite format 3",
        "\x0a",
        "hello",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "<html>",
        "\x1f\x8b\x08",
        "PK\x03\x04",
        "\x0a\x05\x08\x01\x10\x02\x18\x03" /* plane: a varint where its name belongs */,
        "\x12\x24\x09\x81\xf4\x6c\x0b\x93\x34\x9c\x40\x11\x0a\xb5\x29\x1b" /* input_pipeline.pb */,
    };
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        CHECK_EQ(sniff(no[i], strlen(no[i]), &why), 0);
    }
    uint64_t x = 88172645463325252u;
    uint8_t noise[512];
    for (int k = 0; k < 2000; k++) {
        for (size_t i = 0; i < sizeof noise; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            noise[i] = (uint8_t)x;
        }
        noise[0] = 0x0a;
        CHECK_EQ(sniff(noise, sizeof noise, &why), 0);
    }
    // Saved as text: every byte that is not ASCII became EF BF BD.
    static const char mangled[] =
        "\x0a\xef\xbf\xbd\xef\xbf\xbd\x06\x08\x02\x12\x0a/device:TPU:0\n\x1a"
        "\xef\xbf\xbd\x34\xef\xbf\xbd";
    CHECK_EQ(sniff(mangled, sizeof mangled - 1, &why), 0);
    CHECK(why && strstr(why, "U+FFFD"));
    free(space.p);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(cut_everywhere, true, false);
    CHECK_RUN(cut_everywhere, false, false);
    CHECK_RUN(cut_everywhere, false, true);
    CHECK_RUN(flip_bits);
    CHECK_RUN(bad_events);
    CHECK_RUN(lying_length);
    CHECK_RUN(huge_claim);
    CHECK_RUN(false_end);
    CHECK_RUN(false_events);
    CHECK_RUN(failing_memory);
    CHECK_RUN(sniffing);
    return check_done("unit.xplane_damage");
}
