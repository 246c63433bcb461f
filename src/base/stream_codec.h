// SPDX-License-Identifier: Apache-2.0
// How the bytes of an input are stored.
#ifndef STK_BASE_STREAM_CODEC_H
#define STK_BASE_STREAM_CODEC_H

enum stk_stream_codec { STK_CODEC_PLAIN, STK_CODEC_GZIP, STK_CODEC_ZSTD, STK_CODEC_ZLIB };

#endif
