// SPDX-License-Identifier: Apache-2.0
// How the bytes of an input are stored.
#pragma once

enum stk_stream_codec { STK_CODEC_PLAIN, STK_CODEC_GZIP, STK_CODEC_ZSTD, STK_CODEC_ZLIB };
