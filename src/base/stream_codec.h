// SPDX-License-Identifier: Apache-2.0
// How an input's bytes are stored.
#pragma once

enum stk_stream_codec { STK_CODEC_PLAIN, STK_CODEC_GZIP, STK_CODEC_ZSTD, STK_CODEC_ZLIB };
