import tensorflow as tf

elements = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
dataset = tf.data.Dataset.from_generator(lambda: elements, tf.int64, output_shapes=[None])
plain = dataset.bucket_by_sequence_length(
    element_length_func=lambda elem: tf.shape(elem)[0],
    bucket_boundaries=[3, 5],
    bucket_batch_sizes=[2, 2, 2],
)
padded = dataset.bucket_by_sequence_length(
    element_length_func=lambda elem: tf.shape(elem)[0],
    bucket_boundaries=[4, 7],
    bucket_batch_sizes=[2, 2, 2],
    pad_to_bucket_boundary=True,
    padding_values=tf.constant(-1, tf.int64),
)
results = {
    "plain": list(plain.as_numpy_iterator()),
    "padded": list(padded.as_numpy_iterator()),
}
