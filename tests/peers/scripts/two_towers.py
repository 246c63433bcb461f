# SPDX-License-Identifier: Apache-2.0
# Recommending: users and titles as numbers, hashed ids, features crossed, candidates in batches.
import tensorflow as tf

ratings = tf.data.Dataset.from_tensor_slices({
    "user": ["u1", "u2", "u1", "u3", "u2"],
    "title": ["One (1995)", "Two", "Two", "Three (2001)", "One (1995)"],
    "rating": [4.0, 3.5, 5.0, 1.0, 2.5],
})
titles = ratings.map(lambda x: x["title"]).unique()


def features(x):
    user = tf.strings.to_hash_bucket_fast(x["user"], 100)
    title = tf.strings.to_hash_bucket_fast(x["title"], 1000)
    crossed = tf.strings.to_hash_bucket_fast(tf.strings.join([x["user"], "_", x["title"]]), 10)
    year = tf.strings.regex_replace(x["title"], r".*\((\d{4})\)", r"\1")
    known = tf.strings.regex_full_match(year, r"\d{4}")
    number = tf.strings.to_number(tf.where(known, year, "0"), tf.int64)
    return {"user": user, "title": title, "crossed": crossed, "year": number, "liked": x["rating"] >= 3.5}


results = {
    "titles": [t.numpy() for t in titles],
    "features": [{k: v.numpy() for k, v in f.items()} for f in ratings.map(features).batch(2)],
    "mean": float(ratings.map(lambda x: x["rating"]).reduce(0.0, lambda s, r: s + r) / 5),
}
