# SPDX-License-Identifier: Apache-2.0
# Simple audio recognition: WAV files to spectrograms.
import math
import os
import struct
import wave

import tensorflow as tf

names = []
for k, hertz in enumerate((200, 440, 1000)):
    path = os.path.join(FOLDER, f"{k}.wav")  # noqa: F821
    with wave.open(path, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(4000)
        tone = [int(20000 * math.sin(2 * math.pi * hertz * t / 4000)) for t in range(1500 + 100 * k)]
        w.writeframes(struct.pack(f"<{len(tone)}h", *tone))
    names.append(path)


def load(path):
    audio, rate = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1, desired_samples=1600)
    return tf.squeeze(audio, axis=-1), rate


def spectrogram(waveform, rate):
    s = tf.signal.stft(waveform, frame_length=255, frame_step=128)
    s = tf.abs(s)
    return s[..., tf.newaxis], rate


files = tf.data.Dataset.from_tensor_slices(names)
sounds = files.map(load, num_parallel_calls=tf.data.AUTOTUNE)
results = {
    "sounds": [(a.numpy(), r.numpy()) for a, r in sounds],
    "spectrograms": [s.numpy() for s, _ in sounds.map(spectrogram)],
    "loudest": [int(tf.argmax(tf.reduce_sum(s[..., 0], axis=0)).numpy()) for s, _ in sounds.map(spectrogram)],
    "batches": [s.numpy().shape for s, _ in sounds.map(spectrogram).batch(2)],
}
