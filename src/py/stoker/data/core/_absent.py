# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's public names that are missing here, each with the closest alternative: the contents of
MISSING, and the error for using one. The rows are of tf.data, tf.io, tf.image, tf.strings, tf.math and their
neighbors in TensorFlow 2.21; tests/py/test_absent.py compares them with an installed TensorFlow.

A row: "group|names|alternative"; without a group, names of TensorFlow itself.
"""

from ..errors import UnimplementedError

ROWS = """
data|IteratorSpec,NumpyIterator|Dataset.element_spec and as_numpy_iterator()
data.experimental|at|Dataset.pick([i]) for random-access elements, or skip(i).take(1)
data.experimental|SqlDataset|sqlite3 and Dataset.from_generator
data.experimental|DatasetInitializer,table_from_dataset,index_table_from_dataset|sd.lookup.KeyValueTensorInitializer of arrays
data.experimental|Optional,get_next_as_optional|next(iterator, None)
data.experimental|Reducer,group_by_reducer|group_by_window, or reduce
data.experimental|from_variant,to_variant,get_structure,get_model_proto,make_saveable_from_iterator|Dataset.element_spec, pickle.dumps(dataset), iterator.state()
data.experimental|distributed_save,ServiceOptions,SHARD_HINT|Dataset.save, and Dataset.shard on each host
data.experimental|AutotuneAlgorithm,AutotuneOptions,DistributeOptions,OptimizationOptions,ThreadingOptions,ExternalStatePolicy|sd.Options() has them as attributes: options.autotune, options.threading
data.experimental|enable_debug_mode|untraceable functions run as Python; explain() says which
data.experimental|pad_to_cardinality|shard(remainder="pad"), or concatenate and take
|keras|import keras itself: its preprocessing layers run in map, and Dataset.to_keras() feeds fit
|distribute|Dataset.shard() in each process
|config|sd.set_limits for CPU cores and memory
|device|Dataset.to_device
|raw_ops|the operation's public name; for Bucketize, sd.searchsorted(boundaries, x, side="right")
|Tensor|sd.Value in functions, NumPy's arrays elsewhere
|GradientTape,Module|training is TensorFlow's own: Dataset.to_tf()
data|ThreadingOptions|sd.Options().threading
io|decode_gif,image.decode_gif|image.decode_image gives the first picture
io|decode_jxl|a py_function with a library that reads JPEG XL
io|decode_json_example|json.loads and sd.io.Example, in a py_function
io|decode_proto,encode_proto|parse_example for Examples; a py_function for others
io|serialize_sparse,serialize_many_sparse,deserialize_many_sparse|sd.sparse.to_dense and sd.io.serialize_tensor
io|matching_files,match_filenames_once|Dataset.list_files, or sd.io.gfile.glob
io|write_graph|pickle.dumps(dataset)
io.gfile|GFile,copy,get_registered_schemes,isdir,join,listdir,makedirs,mkdir,remove,rename,rmtree,stat,walk|Python's open, os and shutil
image|decode_gif|image.decode_image gives the first picture
image|decode_jxl|a py_function with a library that reads JPEG XL
image|random_jpeg_quality,stateless_random_jpeg_quality|sd.switch_case over adjust_jpeg_quality of some qualities
image|stateless_sample_distorted_bounding_box|image.sample_distorted_bounding_box with a seed
image|combined_non_max_suppression,non_max_suppression,non_max_suppression_overlaps,non_max_suppression_padded,non_max_suppression_with_scores,generate_bounding_box_proposals|belongs to models: torchvision.ops.nms, or a py_function
image|draw_bounding_boxes|a py_function with Pillow
image|extract_glimpse|image.crop_and_resize, or slice
image|image_gradients,sobel_edges|differences of slices: x[1:] - x[:-1]
image|ssim,ssim_multiscale|belongs to evaluation: a py_function
strings|format|sd.strings.join of sd.as_string(x)
strings|ngrams|sd.signal.frame of places, sd.gather and strings.reduce_join
strings|unicode_decode_with_offsets,unicode_split_with_offsets|strings.unicode_split, and sd.cumsum of strings.length
strings|unicode_encode,unicode_transcode,unicode_script|a py_function with str.encode and unicodedata
strings|unsorted_segment_join|a py_function
math|accumulate_n|sd.add_n
math|approx_max_k,approx_min_k|sd.math.top_k
math|bessel_i0,bessel_i0e,bessel_i1,bessel_i1e,betainc,digamma,erfcinv,erfinv,igamma,igammac,lbeta,lgamma,ndtri,polygamma,zeta,nextafter|a numpy_function with scipy.special
math|confusion_matrix|sd.math.bincount of labels * classes + predictions
math|conj|sd.identity: values are real
math|cumprod,cumulative_logsumexp|sd.scan
math|in_top_k|sd.math.top_k, and sd.reduce_any of equal
math|invert_permutation|sd.argsort
math|is_non_decreasing,is_strictly_increasing|sd.reduce_all(x[1:] >= x[:-1])
math|segment_max,segment_mean,segment_min,segment_prod,segment_sum,unsorted_segment_max,unsorted_segment_mean,unsorted_segment_min,unsorted_segment_prod,unsorted_segment_sqrt_n,unsorted_segment_sum|sd.matmul with sd.one_hot of the numbers, or a numpy_function
math|sobol_sample|a numpy_function with scipy.stats.qmc
random|Algorithm,all_candidate_sampler,fixed_unigram_candidate_sampler,learned_unigram_candidate_sampler,log_uniform_candidate_sampler,uniform_candidate_sampler|sd.random.categorical, or uniform with integers
random|poisson,stateless_poisson,stateless_binomial,stateless_gamma,stateless_parameterized_truncated_normal|sd.random.gamma, normal; a numpy_function draws outside of the seed
ragged|boolean_mask,cross,cross_hashed,map_flat_values,row_splits_to_segment_ids,segment_ids_to_row_splits,stack,stack_dynamic_partitions|operations on .flat_values and .nested_row_splits; RaggedTensor.to_tensor()
signal|dct,fft,fft2d,fft3d,fftnd,fftshift,idct,ifft,ifft2d,ifft3d,ifftnd,ifftshift,inverse_mdct,inverse_stft,inverse_stft_window_fn,irfft,irfft2d,irfft3d,irfftnd,kaiser_bessel_derived_window,kaiser_window,mdct,mfccs_from_log_mel_spectrograms,overlap_and_add,rfft2d,rfft3d,rfftnd,vorbis_window|signal.rfft and stft; a numpy_function with numpy.fft or scipy
audio|encode_wav|Python's module wave
sparse|add,bincount,concat,cross,cross_hashed,expand_dims,eye,fill_empty_rows,from_dense,map_values,mask,maximum,minimum,reduce_max,reduce_sum,reorder,reset_shape,reshape,retain,sampled_addmm,segment_mean,segment_sqrt_n,segment_sum,slice,softmax,sparse_dense_matmul,split,to_indicator,transpose|sd.sparse.to_dense, then the operation on dense values
"""


def rows():
    """{group: {name: alternative}}."""
    out = {}
    for line in ROWS.strip().splitlines():
        group, names, way = line.split("|")
        for name in names.split(","):
            out.setdefault(group, {})[name.split(".")[-1]] = way
    return out


TABLE = rows()


def missing():
    """{"math.zeta": alternative}: the contents of MISSING."""
    return {_full(g, n): way for g, names in TABLE.items() for n, way in names.items()}


def _full(group, name):
    return f"{group}.{name}" if group else name


def answers(group, package, *more):
    """A module's __getattr__ that names an alternative for TensorFlow's missing names."""
    absent = {n: (_full(g, n), way) for g in (group, *more) for n, way in TABLE.get(g, {}).items()}

    def __getattr__(name):
        if name in absent:
            full, way = absent[name]
            raise _Absent(f"tf.{full} is not available; use instead: {way}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__


class _Absent(AttributeError, UnimplementedError):
    """A missing name of TensorFlow: `hasattr` is False, and using it names an alternative."""
