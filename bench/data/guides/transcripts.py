# SPDX-License-Identifier: Apache-2.0
# Three to ten seconds of speech at 22 kHz with its text: spectrograms, normalized, padded to ten seconds.
import os
import wave

import numpy as np
import tensorflow as tf

random = np.random.default_rng(7)
sounds, texts = [], []
for k in range(16):
    path = os.path.join(FOLDER, f"{k}.wav")  # noqa: F821
    n = int(22050 * (3 + 7 * k / 16))
    tone = np.sin(np.arange(n) * 0.05 * (1 + k % 5)) * 9000 + random.normal(size=n) * 800
    with wave.open(path, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(22050)
        w.writeframes(tone.astype("<i2").tobytes())
    sounds.append(path)
    texts.append(random.integers(1, 34, 200).astype("int32"))

ROWS = 2754


def spectrogram(path):
    audio, _ = tf.audio.decode_wav(tf.io.read_file(path), 1)
    audio = tf.squeeze(audio, axis=-1)
    x = tf.math.pow(tf.abs(tf.signal.stft(audio, frame_length=200, frame_step=80, fft_length=256)), 0.5)
    means = tf.math.reduce_mean(x, 1, keepdims=True)
    stddevs = tf.math.reduce_std(x, 1, keepdims=True)
    x = (x - means) / stddevs
    return tf.pad(x, tf.constant([[0, ROWS], [0, 0]]), "CONSTANT")[:ROWS, :]


audio = tf.data.Dataset.from_tensor_slices(sounds).map(spectrogram)
both = tf.data.Dataset.zip((audio, tf.data.Dataset.from_tensor_slices(texts)))
named = both.map(lambda x, y: {"source": x, "target": y}).batch(4)
results = {
    "batches": list(named.as_numpy_iterator()),
}
