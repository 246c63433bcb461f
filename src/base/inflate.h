// SPDX-License-Identifier: Apache-2.0
// Raw deflate (RFC 1951) decoders with one small interface, so that the gzip framing on top doesn't
// depend on the library, and tests can compare them: ISA-L if installed (several times faster),
// zlib everywhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Both pointers advance as bytes are consumed and produced.
struct stk_inflate_io {
    const uint8_t *in;
    size_t in_len;
    uint8_t *out;
    size_t out_len;
};

enum stk_inflate_result {
    STK_INFLATE_MORE, // needs more input or more room
    STK_INFLATE_END,  // the final block ended, and all its bytes are output
    STK_INFLATE_BAD,  // damaged; all bytes before the damage are output
    STK_INFLATE_NOMEM
};

struct stk_inflate_engine {
    const char *name;
    void *(*open)(void);    // a decoder at the start of a deflate stream; NULL: no memory
    void (*close)(void *e); // takes NULL
    void (*reset)(void *e); // to the start of another deflate stream
    enum stk_inflate_result (*run)(void *e, struct stk_inflate_io *io);
    uint32_t (*crc)(const void *e); // CRC-32 of the output since the start
    // After END: input bytes taken from after the deflate stream. A decoder that reads ahead holds
    // up to 8 of them: never more than the gzip trailer that follows.
    size_t (*surplus)(void *e, uint8_t bytes[8]);
    // The state between two runs. save: NULL if memory is short. load: 0 ok, -1 no memory; after
    // that only reset, load and close are allowed.
    void *(*save)(const void *e);
    int (*load)(void *e, const void *saved);
    void (*free_saved)(void *saved); // takes NULL
};

extern const struct stk_inflate_engine stk_inflate_zlib;
#if STOKER_HAVE_ISAL
extern const struct stk_inflate_engine stk_inflate_isal;
#define STK_INFLATE_DEFAULT (&stk_inflate_isal)
#else
#define STK_INFLATE_DEFAULT (&stk_inflate_zlib)
#endif
