// SPDX-License-Identifier: Apache-2.0
// stoker_grow IN OUT SIZE: makes a profile of at least SIZE (100M, 2G) from IN (Kineto JSON plain
// or compressed, xplane.pb, nsys sqlite). OUT is plain; compress it yourself if needed.
#include "grow.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"

_Noreturn void grow_die(const char *what, const char *detail)
{
    fprintf(stderr, "stoker_grow: %s: %s\n", what, detail);
    exit(1);
}

uint8_t *grow_read(const char *path, size_t *size)
{
    struct stk_stream *s;
    struct stoker_err err;
    stk_err_init(&err);
    if (stk_stream_open(&s, path, NULL, &err) != STOKER_OK) {
        grow_die(path, err.message);
    }
    size_t cap = 1 << 24, got;
    uint8_t *data = malloc(cap);
    for (*size = 0; data; *size += got) {
        if (cap - *size < 1 << 20) {
            data = realloc(data, cap *= 2);
        }
        if (!data || stk_stream_read(s, data + *size, cap - *size, &got, &err) != STOKER_OK) {
            grow_die(path, "cannot be read");
        }
        if (got == 0) {
            break;
        }
    }
    stk_stream_close(s);
    if (!data) {
        grow_die(path, "out of memory");
    }
    return data;
}

static uint64_t parse_size(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    uint64_t unit = *end == 'k' ? 1000u : *end == 'M' ? 1000000u : *end == 'G' ? 1000000000u : 1u;
    return (uint64_t)(value * (double)unit);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: stoker_grow IN OUT SIZE (100M, 2G)\n");
        return 2;
    }
    uint64_t target = parse_size(argv[3]), repeats;
    size_t size;
    uint8_t *in = grow_read(argv[1], &size);
    if (size > 16 && memcmp(in, "SQLite format 3", 15) == 0) {
        repeats = grow_nsys(argv[1], argv[2], target);
    } else {
        FILE *out = fopen(argv[2], "wb");
        if (!out) {
            grow_die(argv[2], "cannot be written");
        }
        setvbuf(out, NULL, _IOFBF, 1 << 20);
        // An XSpace may start like white space (0x0a is its first plane's tag), but then follow a
        // length and a tag, not a bracket.
        size_t at = 0;
        while (at < size && at < 16 && (in[at] == ' ' || in[at] == '\n' || in[at] == '\r')) {
            at++;
        }
        bool text = at < size && (in[at] == '{' || in[at] == '[');
        repeats = text ? grow_json(in, size, out, target) : grow_xplane(in, size, out, target);
        if (fclose(out) != 0) {
            grow_die(argv[2], "cannot be written");
        }
    }
    printf("%s: %llu repeats\n", argv[2], (unsigned long long)repeats);
    free(in);
    return 0;
}
