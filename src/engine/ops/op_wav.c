// SPDX-License-Identifier: Apache-2.0
// decode_wav: the samples of a WAV file as float32 in [-1, 1), (samples, channels), and its rate.
// RIFF with a "fmt " and a "data" chunk; 16 bits a sample, uncompressed, like tf.audio.decode_wav.
// Other chunks are skipped; a data chunk longer than the file ends with it.
#include <string.h>

#include "engine/ops/op_util.h"

enum { ARG_CHANNELS, ARG_SAMPLES };
static const struct stk_arg_row wav_args[] = {
    [ARG_CHANNELS] =
        STK_ARG("desired_channels", INT,
                "channels of the result, repeated if the file has fewer; -1: the file's",
                .fallback = -1, .min = -1, .max = 1024),
    [ARG_SAMPLES] = STK_ARG("desired_samples", INT,
                            "samples of the result, cut or padded with zeros; -1: the file's",
                            .fallback = -1, .min = -1, .max = INT32_MAX),
    {0}};

enum { FORMAT_PCM = 1, FORMAT_EXTENSIBLE = 0xfffe, CHUNK = 8, FORMAT_BYTES = 16 };

struct wav {
    const uint8_t *data;
    int64_t samples, channels;
    uint32_t rate;
};

static uint32_t le16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
    return le16(p) | le16(p + 2) << 16;
}

// NULL, or what is wrong.
static const char *wav_read(struct wav *w, const uint8_t *data, size_t size)
{
    *w = (struct wav){0};
    if (size < 12 || memcmp(data, "RIFF", 4) != 0 || memcmp(data + 8, "WAVE", 4) != 0) {
        return "not a WAV file: it does not begin with RIFF and WAVE";
    }
    for (size_t at = 12; size - at >= CHUNK;) {
        const uint8_t *chunk = data + at;
        size_t length = le32(chunk + 4), left = size - at - CHUNK;
        bool is_data = memcmp(chunk, "data", 4) == 0;
        if (memcmp(chunk, "fmt ", 4) == 0) {
            if (length < FORMAT_BYTES || left < FORMAT_BYTES) {
                return "a damaged WAV file: its format chunk is too short";
            }
            uint32_t format = le16(chunk + 8), bits = le16(chunk + 22);
            w->channels = le16(chunk + 10);
            w->rate = le32(chunk + 12);
            if ((format != FORMAT_PCM && format != FORMAT_EXTENSIBLE) || bits != 16) {
                return "a WAV file of another kind than 16 bits a sample, uncompressed";
            }
            if (w->channels == 0 || w->rate == 0) {
                return "a damaged WAV file: no channels, or no rate";
            }
        }
        if (is_data && w->channels == 0) {
            return "a damaged WAV file: samples without a format";
        }
        length = length < left ? length : left;
        if (is_data) {
            w->data = chunk + CHUNK;
            w->samples = (int64_t)(length / (2 * (size_t)w->channels));
            return NULL;
        }
        at += CHUNK + length + (length & 1 && length < left);
    }
    return "a damaged WAV file: there are no samples in it";
}

static enum stoker_status wav_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    (void)err;
    int64_t samples = c->args[ARG_SAMPLES].i, channels = c->args[ARG_CHANNELS].i;
    c->n_out = 2;
    c->out[0] = (struct stk_spec){
        .dtype = STK_DT_F32,
        .shape = {2,
                  {samples >= 0 ? samples : STK_UNKNOWN, channels > 0 ? channels : STK_UNKNOWN}}};
    c->out[1] = (struct stk_spec){.dtype = STK_DT_I32};
    return STOKER_OK;
}

static void put_samples(float *out, const struct wav *w, const struct stk_shape *shape)
{
    for (int64_t i = 0; i < shape->dim[0]; i++) {
        for (int64_t k = 0; k < shape->dim[1]; k++) {
            int64_t from = k < w->channels ? k : w->channels - 1; // missing channels repeat the
                                                                  // last one
            uint32_t v = i < w->samples ? le16(w->data + 2 * (i * w->channels + from)) : 0;
            *out++ = (float)(int16_t)v / 32768.0F;
        }
    }
}

static enum stoker_status wav_run(struct stk_op_run *r, struct stoker_err *err)
{
    for (int64_t i = 0; i < r->n; i++) {
        const struct stk_bytes *file = stk_op_scalar(r->in[0], i);
        struct wav w;
        const char *why = file ? wav_read(&w, file->data, file->size) : "takes one file";
        int64_t samples = r->args[ARG_SAMPLES].i, channels = r->args[ARG_CHANNELS].i;
        if (why) {
            return stk_op_fail(r, i, STOKER_EINVAL, "%s", why);
        }
        struct stk_shape shape = {
            2, {samples >= 0 ? samples : w.samples, channels > 0 ? channels : w.channels}};
        float *out = stk_op_append(r, 0, STK_DT_F32, &shape, err);
        if (!out) {
            return err->code;
        }
        put_samples(out, &w, &shape);
        struct stk_shape scalar = {0};
        int32_t *rate = stk_op_append(r, 1, STK_DT_I32, &scalar, err);
        if (!rate) {
            return err->code;
        }
        *rate = (int32_t)w.rate;
    }
    return STOKER_OK;
}

const struct stk_op stk_op_decode_wav = {.name = "decode_wav",
                                         .summary = "Decodes a WAV file: samples and sample rate",
                                         .cost_ns = 1,
                                         .signature = "string[]",
                                         .infer = wav_infer,
                                         .run = wav_run,
                                         .args = wav_args};
