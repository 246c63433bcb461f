# SPDX-License-Identifier: Apache-2.0
# One-second spoken commands at 16 kHz: WAV files, spectrograms, mel bands.
import math
import os
import struct
import wave

import tensorflow as tf

names = []
for k in range(8):
    path = os.path.join(FOLDER, f"{k}.wav")  # noqa: F821
    with wave.open(path, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(16000)
        tone = [int(20000 * math.sin(2 * math.pi * (200 + 50 * k) * t / 16000)) for t in range(16000)]
        w.writeframes(struct.pack(f"<{len(tone)}h", *tone))
    names.append(path)


def load(path):
    audio, _ = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1, desired_samples=16000)
    return tf.squeeze(audio, axis=-1)


def spectrogram(wave):
    return tf.abs(tf.signal.stft(wave, frame_length=255, frame_step=128))[..., tf.newaxis]


def louder(wave):
    return tf.clip_by_value(wave * tf.random.uniform([], 0.5, 1.5) + tf.random.normal([16000], 0.0, 0.01), -1.0, 1.0)


sounds = tf.data.Dataset.from_tensor_slices(names).map(load)
results = {
    "sounds": list(sounds.batch(16).as_numpy_iterator()),
    "spectrograms": list(sounds.map(spectrogram).batch(16).as_numpy_iterator()),
    "louder": list(sounds.map(louder).batch(16).as_numpy_iterator()),
}
