// SPDX-License-Identifier: Apache-2.0
// The cursor against a byte-by-byte reading of the same text, for every instruction set.
#include "check.h"
#include "profile/readers/chrome/chrome_scan.h"

#define MAX 20000

static uint64_t seed = 1;
static unsigned random_below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static bool is_bracket(char c)
{
    return c == '{' || c == '[' || c == '}' || c == ']';
}

// Offsets of quotes that are not escaped and of brackets outside strings.
static size_t read_plainly(const char *text, size_t n, size_t from, size_t *out)
{
    size_t count = 0;
    bool inside = false, escaped = false;
    for (size_t i = from; i < n; i++) {
        char c = text[i];
        bool plain = !escaped;
        escaped = c == '\\' && plain;
        inside ^= c == '"' && plain;
        if ((c == '"' && plain) || (!inside && is_bracket(c))) {
            out[count++] = i;
        }
    }
    return count;
}

static void check_text(const char *text, size_t n, size_t from)
{
    static size_t want[MAX];
    static struct stk_chrome_cursor c;
    size_t count = read_plainly(text, n, from, want), wrong = 0;
    stk_chrome_cursor_set(&c, text, n, from);
    for (size_t i = 0; i < count; i++) {
        wrong += stk_chrome_cursor_next(&c) != want[i];
    }
    CHECK_EQ(wrong, 0);
    CHECK(stk_chrome_cursor_next(&c) == STK_CHROME_END);
    CHECK(stk_chrome_cursor_next(&c) == STK_CHROME_END);
}

// From each opening bracket to its end.
static void check_skips(const char *text, size_t n)
{
    static struct stk_chrome_cursor c;
    stk_chrome_cursor_set(&c, text, n, 0);
    bool inside = false;
    for (size_t at; (at = stk_chrome_cursor_next(&c)) != STK_CHROME_END;) {
        inside ^= text[at] == '"';
        if (inside || (text[at] != '{' && text[at] != '[') || random_below(3)) {
            continue;
        }
        size_t i = at;
        long depth = 0;
        bool string = false, escaped = false;
        for (; i < n; i++) {
            bool plain = !escaped;
            escaped = text[i] == '\\' && plain;
            string ^= text[i] == '"' && plain;
            if (string || !is_bracket(text[i])) {
                continue;
            }
            depth += text[i] == '{' || text[i] == '[' ? 1 : -1;
            if (depth == 0) {
                break;
            }
        }
        CHECK_EQ(stk_chrome_cursor_skip(&c, at), i < n ? i : STK_CHROME_END);
        if (i >= n) {
            return;
        }
    }
}

static void check_random(void)
{
    static const char bytes[] = "{{[[}}]]\"\"\\\\ab:,\n \x80";
    static char text[MAX + STK_CHROME_PAD];
    for (int round = 0; round < 300; round++) {
        size_t n = 1 + random_below(MAX - 1);
        unsigned kinds = 1 + random_below(sizeof bytes - 1);
        for (size_t i = 0; i < n; i++) {
            text[i] = random_below(4) ? 'x' : bytes[random_below(kinds)];
        }
        memset(text + n, ' ', STK_CHROME_PAD);
        check_text(text, n, 0);
        check_text(text, n, random_below((unsigned)n));
        check_skips(text, n);
    }
}

static void check_flags(void)
{
    static char text[9000 + STK_CHROME_PAD];
    static struct stk_chrome_cursor c;
    memset(text, ' ', sizeof text);
    memcpy(text, "{\"a\n\"}", 6);
    memcpy(text + 5000, "{\"\xc3\"}", 5);
    memcpy(text + 8500, "{\"a\":\n1}", 8);
    stk_chrome_cursor_set(&c, text, 9000, 0);
    stk_chrome_cursor_begin(&c);
    CHECK(c.control && !c.odd);
    for (int i = 0; i < 5; i++) {
        stk_chrome_cursor_next(&c); // the brace at 5000
    }
    stk_chrome_cursor_begin(&c);
    CHECK(!c.control && c.odd);
    for (int i = 0; i < 4; i++) {
        stk_chrome_cursor_next(&c);
    }
    stk_chrome_cursor_begin(&c);
    CHECK(!c.control && !c.odd);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (int isa = STK_CHROME_ISA_AUTO; isa <= STK_CHROME_ISA_NEON; isa++) {
        if (!stk_chrome_scan_use((enum stk_chrome_isa)isa)) {
            continue;
        }
        seed = 1;
        CHECK_RUN(check_random);
        CHECK_RUN(check_flags);
    }
    return check_done("unit.chrome_scan");
}
