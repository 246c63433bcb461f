// SPDX-License-Identifier: Apache-2.0
// Looks for run.json from the profile's folder upward: TensorFlow's and JAX's profilers write a few
// folders below the run's. Only the user's own plain file counts, because its command is printed to
// be pasted into a shell. Limits: reads the two keys that stoker run writes
// (job/capture/parent/run_out.c) and no other JSON; words that aren't UTF-8 come back with U+FFFD.
#include "api/job_command.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "results/run.h"

enum {
    FOLDERS_MOST = 5,      // searched upward from the profile
    JSON_MOST = 1 << 18,   // bytes of run.json read
    WORDS_MOST = 256,      // of a command
    COMMAND_MOST = 1 << 12 // bytes of a command to show
};

// A text in limited space; full: something didn't fit, so it is unusable.
struct line {
    char bytes[COMMAND_MOST];
    size_t n;
    bool is_full;
};

static void put(struct line *line, const char *text, size_t n)
{
    if (n >= sizeof line->bytes - line->n) {
        line->is_full = true;
        return;
    }
    memcpy(line->bytes + line->n, text, n);
    line->bytes[line->n += n] = 0;
}

static bool is_plain(const char *word)
{
    static const char *const plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "_@%+=:,./-";
    return *word && word[strspn(word, plain)] == 0;
}

// Does it contain terminal control characters?
static bool has_control(const char *word)
{
    struct stk_text_piece piece;
    for (struct stk_str s = stk_str_from(word); s.n > 0; s.p += piece.taken, s.n -= piece.taken) {
        stk_text_shown(&piece, s, false);
        if (piece.text != s.p) {
            return true;
        }
    }
    return false;
}

// Within $'...': printable characters stay, all others become \xNN.
static void put_escaped(struct line *line, const char *word)
{
    struct stk_text_piece piece;
    for (struct stk_str s = stk_str_from(word); s.n > 0; s.p += piece.taken, s.n -= piece.taken) {
        stk_text_shown(&piece, s, false);
        if (piece.text == s.p) {
            bool is_special = *s.p == '\'' || *s.p == '\\';
            put(line, "\\", is_special);
            put(line, s.p, piece.n);
            continue;
        }
        for (size_t i = 0; i < piece.taken; i++) {
            char hex[8];
            int n = stk_text_printf(hex, sizeof hex, "\\x%02x", (unsigned char)s.p[i]);
            put(line, hex, (size_t)n);
        }
    }
}

static void put_word(struct line *line, const char *word)
{
    if (is_plain(word)) {
        put(line, word, strlen(word));
        return;
    }
    if (has_control(word)) {
        put(line, "$'", 2);
        put_escaped(line, word);
        put(line, "'", 1);
        return;
    }
    put(line, "'", 1);
    for (const char *c = word; *c; c++) {
        put(line, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    }
    put(line, "'", 1);
}

const char *stk_shell_words(struct stk_arena *arena, const char *const *words, size_t count)
{
    struct line line = {.n = 0};
    for (size_t i = 0; i < count; i++) {
        put(&line, " ", i > 0);
        put_word(&line, words[i]);
    }
    return count == 0 || line.is_full ? NULL : stk_arena_strndup(arena, line.bytes, line.n);
}

// The code of \uXXXX; below 0: invalid, or half of a pair, which stoker run never writes.
static long code_at(const char *digits)
{
    long code = 0;
    for (int i = 0; i < 4; i++) {
        static const char hex[] = "0123456789abcdef0123456789ABCDEF";
        const char *at = digits[i] ? strchr(hex, digits[i]) : NULL;
        if (!at) {
            return -1;
        }
        code = code * 16 + (at - hex) % 16;
    }
    return code == 0 || (code >= 0xd800 && code < 0xe000) ? -1 : code;
}

static size_t put_utf8(char *to, long code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

// Decodes a JSON string in place, from after its opening quote. Returns the rest; NULL: not a
// string.
static char *take_string(char *text)
{
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    char *to = text;
    while (*text && *text != '"') {
        if (*text != '\\') {
            *to++ = *text++;
            continue;
        }
        const char *name = text[1] ? strchr(names, text[1]) : NULL;
        long code = name ? codes[name - names] : text[1] == 'u' ? code_at(text + 2) : -1;
        if (code < 0) {
            return NULL;
        }
        text += name ? 2 : 6;
        to += put_utf8(to, code); // never longer than its source
        STK_ASSERT(to <= text);
    }
    if (*text != '"') {
        return NULL;
    }
    *to = 0;
    return text + 1;
}

// The words of "command": [...]; 0: none is readable.
static size_t take_words(char *json, const char *words[WORDS_MOST])
{
    char *at = strstr(json, "\"schema\": \"" STK_RUN_SCHEMA "\"");
    at = at ? strstr(at, "\"command\": [") : NULL;
    size_t count = 0;
    for (at = at ? strchr(at, '[') + 1 : NULL; at && count < WORDS_MOST;) {
        at += strspn(at, ", \n");
        if (*at == ']') {
            return count;
        }
        words[count++] = at + 1;
        at = *at == '"' ? take_string(at + 1) : NULL;
    }
    return 0;
}

// The file's contents, to be freed with stk_free; NULL: there is no such file, or it belongs to
// someone else.
static char *read_own(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        st.st_size < JSON_MOST) {
        text = stk_alloc_zero(1, (size_t)st.st_size + 1);
    }
    ssize_t n = text ? pread(fd, text, (size_t)st.st_size, 0) : 0;
    if (text) {
        text[n > 0 ? n : 0] = 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

const char *stk_job_command(struct stk_arena *arena, const char *profile)
{
    char path[PATH_MAX], real[PATH_MAX], *json = NULL;
    const char *words[WORDS_MOST], *command = NULL;
    if (!realpath(profile, real)) {
        return NULL;
    }
    size_t n = strlen(real);
    for (int i = 0; i < FOLDERS_MOST && !json && n > 0; i++) {
        while (n > 0 && real[n - 1] != '/') {
            n--;
        }
        if (n + sizeof "run.json" > sizeof path) {
            return NULL;
        }
        memcpy(path, real, n);
        memcpy(path + n, "run.json", sizeof "run.json");
        json = read_own(path);
        n -= n > 0;
    }
    if (json) {
        command = stk_shell_words(arena, words, take_words(json, words));
    }
    stk_free(json);
    return command;
}
