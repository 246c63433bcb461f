// SPDX-License-Identifier: Apache-2.0
// Checks for test programs: count, say in which test function what failed with which values, carry
// on.
//
//   static void sums(void) { CHECK(1 + 1 == 2); CHECK_EQ(f(), 3); }
//   int main(int argc, char **argv)
//   {
//       check_begin(argc, argv);
//       CHECK_RUN(sums);          // CHECK_RUN(sums, 1, "x") calls sums(1, "x")
//       return check_done("unit.example");
//   }
//
// test_example --list prints the names of its functions, test_example sums runs that one alone:
// what main does besides is done as well, but checks outside of the functions chosen do not count
// then. A program without a single check fails; one that could check nothing says why with
// check_skip() and is skipped (77).
#ifndef STK_TESTS_CHECK_H
#define STK_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Under sanitizers a program is several times slower: tests that repeat themselves do a fifth.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_ROUNDS(n) ((n) > 5 ? (n) / 5 : 1)
#else
#define CHECK_ROUNDS(n) (n)
#endif

// Each n-th of a loop under ThreadSanitizer, which looks for races between threads.
#if defined(__SANITIZE_THREAD__)
#define CHECK_STRIDE(n) (n)
#else
#define CHECK_STRIDE(n) 1
#endif

enum { CHECK_NAMES = 100, CHECK_SKIPPED = 77 };

static unsigned long check_count, check_failures, check_skipped;
static const char *check_why;                           // of the first part that was skipped
static const char *check_now;                           // the call that runs, as written
static char **check_words;                              // of the command line
static int check_word_count, check_chosen, check_found; // chosen: words that are names
static bool check_lists;
static const char *check_names[CHECK_NAMES]; // listed so far
static int check_name_count;

// A value of any type, as CHECK_EQ compares and prints it.
struct check_value {
    const char *type;
    enum { CHECK_SIGNED, CHECK_UNSIGNED, CHECK_FLOAT, CHECK_POINTER } kind;
    int64_t i;
    double d;
};

static inline struct check_value check_of_signed(int64_t i, const char *type)
{
    return (struct check_value){type, CHECK_SIGNED, i, (double)i};
}

static inline struct check_value check_of_unsigned(uint64_t u, const char *type)
{
    return (struct check_value){type, CHECK_UNSIGNED, (int64_t)u, (double)u};
}

static inline struct check_value check_of_float(double d, const char *type)
{
    return (struct check_value){type, CHECK_FLOAT, 0, d};
}

static inline struct check_value check_of_pointer(const void *p, const char *type)
{
    return (struct check_value){type, CHECK_POINTER, (int64_t)(uintptr_t)p, 0};
}

#define CHECK_TYPE(x)                                                                              \
    _Generic((x),                                                                                  \
        _Bool: "bool",                                                                             \
        char: "char",                                                                              \
        signed char: "signed char",                                                                \
        unsigned char: "unsigned char",                                                            \
        short: "short",                                                                            \
        unsigned short: "unsigned short",                                                          \
        int: "int",                                                                                \
        unsigned: "unsigned",                                                                      \
        long: "long",                                                                              \
        unsigned long: "unsigned long",                                                            \
        long long: "long long",                                                                    \
        unsigned long long: "unsigned long long",                                                  \
        float: "float",                                                                            \
        double: "double",                                                                          \
        default: "pointer")
#define CHECK_VALUE(x)                                                                             \
    _Generic((x),                                                                                  \
        char: check_of_signed,                                                                     \
        signed char: check_of_signed,                                                              \
        short: check_of_signed,                                                                    \
        int: check_of_signed,                                                                      \
        long: check_of_signed,                                                                     \
        long long: check_of_signed,                                                                \
        _Bool: check_of_unsigned,                                                                  \
        unsigned char: check_of_unsigned,                                                          \
        unsigned short: check_of_unsigned,                                                         \
        unsigned: check_of_unsigned,                                                               \
        unsigned long: check_of_unsigned,                                                          \
        unsigned long long: check_of_unsigned,                                                     \
        float: check_of_float,                                                                     \
        double: check_of_float,                                                                    \
        default: check_of_pointer)((x), CHECK_TYPE(x))

// Whether a check counts: outside of what was chosen it does not.
static inline bool check_counts(void)
{
    return check_now || (!check_chosen && !check_lists);
}

static inline void check_fail(const char *file, int line)
{
    check_failures++;
    fprintf(stderr, "%s:%d: %.100s%s", file, line, check_now ? check_now : "",
            check_now ? ": " : "");
}

static inline void check_that(bool good, const char *cond, const char *file, int line)
{
    if (!check_counts()) {
        return;
    }
    check_count++;
    if (!good) {
        check_fail(file, line);
        fprintf(stderr, "failed: %s\n", cond);
    }
}

static inline void check_print(const struct check_value *v)
{
    switch (v->kind) {
    case CHECK_SIGNED:
        fprintf(stderr, "%" PRId64, v->i);
        break;
    case CHECK_UNSIGNED:
        fprintf(stderr, "%" PRIu64, (uint64_t)v->i);
        break;
    case CHECK_FLOAT:
        fprintf(stderr, "%.17g", v->d);
        break;
    case CHECK_POINTER:
        fprintf(stderr, "0x%" PRIx64, (uint64_t)v->i);
        break;
    }
    fprintf(stderr, " (%s)", v->type);
}

static inline void check_equal(struct check_value got, struct check_value want, const char *what,
                               const char *file, int line)
{
    if (!check_counts()) {
        return;
    }
    bool has_float = got.kind == CHECK_FLOAT || want.kind == CHECK_FLOAT;
    check_count++;
    if (has_float ? got.d == want.d : got.i == want.i) {
        return;
    }
    check_fail(file, line);
    fprintf(stderr, "%s is ", what);
    check_print(&got);
    fprintf(stderr, ", wanted ");
    check_print(&want);
    fputc('\n', stderr);
}

static inline void check_string(const char *got, const char *want, const char *what,
                                const char *file, int line)
{
    if (!check_counts()) {
        return;
    }
    check_count++;
    if (!got || strcmp(got, want) != 0) {
        check_fail(file, line);
        fprintf(stderr, "%s is \"%s\", wanted \"%s\"\n", what, got ? got : "(null)", want);
    }
}

#define CHECK(cond) check_that((cond) ? true : false, #cond, __FILE__, __LINE__)
// Integers by their 64 bits, floating-point numbers by value.
#define CHECK_EQ(got, want)                                                                        \
    check_equal(CHECK_VALUE(got), CHECK_VALUE(want), #got, __FILE__, __LINE__)
// CHECK with a line of the test's own where it fails: CHECK_SAY(n == 3, "%s: %d events", path, n).
#define CHECK_SAY(cond, ...)                                                                       \
    do {                                                                                           \
        unsigned long check_before = check_failures;                                               \
        CHECK(cond);                                                                               \
        if (check_failures != check_before) {                                                      \
            fprintf(stderr, "  " __VA_ARGS__);                                                     \
            fputc('\n', stderr);                                                                   \
        }                                                                                          \
    } while (0)
#define CHECK_STR(got, want) check_string((got), (want), #got, __FILE__, __LINE__)

// Leaves out a part of the test.
static inline void check_skip(const char *why)
{
    check_skipped++;
    if (!check_why || strcmp(check_why, why) != 0) {
        printf("skipped: %s\n", why);
    }
    check_why = check_why ? check_why : why;
}

// Where real profiles lie, or NULL with a message: the test then skips what needs them.
static inline const char *check_fixtures(void)
{
    const char *dir = getenv("STOKER_FIXTURES");
    static char fallback[] = "../shared/fixtures";
    if (!dir || !*dir) {
        dir = fallback;
    }
    char probe[4096];
    snprintf(probe, sizeof probe, "%s/expected.json", dir);
    FILE *f = fopen(probe, "rb");
    if (!f) {
        check_skip("no further profiles; set STOKER_FIXTURES to their folder");
        return NULL;
    }
    fclose(f);
    return dir;
}

// Words that begin with a letter are names of test functions; others are left to the program.
static inline bool check_is_name(const char *word)
{
    return (*word >= 'a' && *word <= 'z') || (*word >= 'A' && *word <= 'Z');
}

static inline void check_begin(int argc, char **argv)
{
    check_words = argv + 1;
    check_word_count = argc > 1 ? argc - 1 : 0;
    for (int i = 0; i < check_word_count; i++) {
        check_lists = check_lists || strcmp(check_words[i], "--list") == 0;
        check_chosen += check_is_name(check_words[i]);
    }
}

static inline void check_list(const char *name)
{
    for (int i = 0; i < check_name_count; i++) {
        if (strcmp(check_names[i], name) == 0) {
            return;
        }
    }
    if (check_name_count < CHECK_NAMES) {
        check_names[check_name_count++] = name;
    }
    puts(name);
}

// Whether the function is to run now; if so, it runs as `call` until check_end().
static inline bool check_enter(const char *name, const char *call)
{
    bool is_chosen = !check_chosen && !check_lists;
    if (check_lists) {
        check_list(name);
    }
    for (int i = 0; i < check_word_count && !check_lists && !is_chosen; i++) {
        is_chosen = strcmp(check_words[i], name) == 0;
    }
    check_found += is_chosen;
    check_now = is_chosen ? call : NULL;
    return is_chosen;
}

#define CHECK_RUN(function, ...)                                                                   \
    do {                                                                                           \
        if (check_enter(#function, #function "(" #__VA_ARGS__ ")")) {                              \
            function(__VA_ARGS__);                                                                 \
            check_now = NULL;                                                                      \
        }                                                                                          \
    } while (0)

static inline int check_done(const char *test)
{
    if (check_lists) {
        return 0;
    }
    if (check_chosen && !check_found) {
        fprintf(stderr, "%s has no function of that name; --list tells which\n", test);
        return 2;
    }
    printf("%s: %lu checks, %lu failed", test, check_count, check_failures);
    if (check_skipped) {
        printf(", %lu skipped: %s", check_skipped, check_why);
    }
    printf("\n");
    if (check_failures) {
        fprintf(stderr, "alone: ctest --test-dir build/release -R '^%s$' -V\n", test);
        return 1;
    }
    if (!check_count && check_skipped) {
        return CHECK_SKIPPED;
    }
    if (!check_count) {
        fprintf(stderr, "failed: %s checked nothing\n", test);
    }
    return check_count ? 0 : 1;
}

#endif
