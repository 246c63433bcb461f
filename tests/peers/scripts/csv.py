import os

import tensorflow as tf

path = os.path.join(FOLDER, "titanic.csv")
with open(path, "w") as f:
    f.write("survived,sex,age,n_siblings,fare,class\n")
    for row in ((0, "male", 22.0, 1, 7.25, "Third"), (1, "female", 38.0, 1, 71.28, "First"),
                (1, "female", "", 0, 7.925, "Third"), (0, '"ma,le"', 35.0, 0, 8.05, "Third")):
        f.write(",".join(str(v) for v in row) + "\n")

types = [tf.int32, tf.string, 30.0, 0, tf.float32, "Second"]
plain = tf.data.experimental.CsvDataset(path, types, header=True)
some = tf.data.experimental.CsvDataset(path, [tf.int32, tf.float32], header=True, select_cols=[0, 4])
COLUMNS = ["survived", "sex", "age", "n_siblings", "fare", "class"]


def parse_line(line):
    fields = tf.io.decode_csv(line, record_defaults=[[0], [""], [0.0], [0], [0.0], [""]])
    features = dict(zip(COLUMNS, fields))
    label = features.pop("survived")
    return features, label


lines = tf.data.TextLineDataset(path).skip(1).map(parse_line).batch(3)


def survived(line):
    return tf.not_equal(tf.strings.substr(line, 0, 1), "0")


results = {
    "plain": list(plain.as_numpy_iterator()),
    "some": list(some.as_numpy_iterator()),
    "lines": list(lines.as_numpy_iterator()),
    "survived": list(tf.data.TextLineDataset(path).skip(1).filter(survived).as_numpy_iterator()),
}
