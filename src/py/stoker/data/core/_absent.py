# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's public names that are missing here, each with the closest alternative: the contents of MISSING, and the
error for using one. Rows cover tf.data, tf.io, tf.image, tf.strings, tf.math and related modules of TensorFlow 2.21;
tests/py/test_absent.py compares them with an installed TensorFlow.

A row: "group|names|alternative"; without a group, names of TensorFlow itself.
"""

import difflib
import importlib.util

from ..errors import UnimplementedError

ROWS = """
data|ThreadingOptions|sd.Options().threading
data|IteratorSpec,NumpyIterator|Dataset.element_spec and as_numpy_iterator()
data.experimental|SqlDataset|sqlite3 and Dataset.from_generator
data.experimental|DatasetInitializer,table_from_dataset,index_table_from_dataset|sd.lookup.KeyValueTensorInitializer of arrays
data.experimental|Optional,get_next_as_optional|next(iterator, None)
data.experimental|AutotuneAlgorithm,ExternalStatePolicy|sd.Options() has them as attributes: options.autotune, options.threading
data.experimental|group_by_reducer|group_by_window, or reduce
data.experimental|pad_to_cardinality|shard(remainder="pad"), or concatenate and take
data.experimental|from_variant,to_variant,get_model_proto,make_saveable_from_iterator|Dataset.element_spec, pickle.dumps(dataset), iterator.state()
data.experimental|distributed_save,SHARD_HINT|Dataset.save, and Dataset.shard on each host
data.experimental|enable_debug_mode|untraceable functions run as Python; explain() says which
data.experimental|service|Dataset.shard in each process; prefetch and threads keep one machine busy
autograph|to_code,to_graph,trace,set_verbosity|functions are traced as they are; Dataset.explain() shows which run as Python
|keras|keras itself, which isn't installed: its preprocessing layers run in map, and Dataset.to_keras() feeds fit
|distribute|Dataset.shard() in each process
|config|sd.set_limits for CPU cores and memory
|raw_ops|the operation's public name; for Bucketize, sd.searchsorted(boundaries, x, side="right")
|GradientTape,Module,gradients,hessians,UnconnectedGradients,RegisterGradient|training is TensorFlow's own: Dataset.to_tf()
|saved_model,lite,tpu,xla,summary,profiler,autodiff,graph_util,mixed_precision,quantization,test,mlir,sysconfig,types,feature_column,losses,metrics,optimizers,initializers,layers,queue,tools,security,__internal__,internal,version,app,flags,user_ops,dtensor,resource_loader|it is not for input pipelines: TensorFlow's own, on Dataset.to_tf(); absl has flags and app
|Graph,Operation,IndexedSlices,IndexedSlicesSpec,AggregationMethod,CriticalSection,DeviceSpec,VariableAggregation,VariableSynchronization,TensorArraySpec,OptionalSpec,NoneTensorSpec,TypeSpec,import_graph_def,variable_creator_scope,register_tensor_conversion_function,make_ndarray,make_tensor_proto,load_library,load_op_library_from_memory,convert_to_tensor_or_sparse_tensor,guarantee_const|pipelines have no TensorFlow graph: sd.TensorSpec describes values, np.asarray converts them, sd.load_op_library loads operations of stoker
|constant_initializer,ones_initializer,zeros_initializer,random_normal_initializer,random_uniform_initializer|sd.fill, sd.random.normal and sd.random.uniform
|variant,resource,qint8,qint16,qint32,quint8,quint16|values are numbers, bools and strings
|fingerprint|sd.strings.to_hash_bucket_fast
|approx_top_k|sd.math.top_k
|conv,conv2d_backprop_filter_v2,conv2d_backprop_input_v2|belongs to models; sd.image.extract_patches and sd.matmul filter images
|extract_volume_patches,batch_to_space,space_to_batch,space_to_batch_nd,required_space_to_batch_paddings|sd.reshape and sd.transpose
|broadcast_dynamic_shape,broadcast_static_shape|sd.broadcast_to, or np.broadcast_shapes
|eig,eigvals,matrix_square_root|a numpy_function with numpy.linalg
|check_pinned,random_index_shuffle,fftnd,ifftnd,irfftnd,rfftnd,ragged_fill_empty_rows,ragged_fill_empty_rows_grad,unregister_dispatch_for|a numpy_function
|sets|sd.unique, and sd.reduce_any of equal for membership; a numpy_function with np.isin
experimental|BatchableExtensionType,ExtensionType,ExtensionTypeBatchEncoder,ExtensionTypeSpec,DynamicRaggedShape,RowPartition,StructuredTensor,dispatch_for_api,dispatch_for_binary_elementwise_apis,dispatch_for_binary_elementwise_assert_apis,dispatch_for_unary_elementwise_apis,unregister_dispatch_for,async_clear_error,async_scope,enable_strict_mode,function_executor_type,register_filesystem_plugin,tensorrt,dtensor,extension_type|named tuples and dicts are structures of elements
experimental|numpy|sd's operation of that name, or NumPy itself in a numpy_function
experimental|dlpack|arrays have __dlpack__; Dataset.to_device gives DeviceArrays
experimental|float4_e2m1fn,float8_e4m3b11fnuz,float8_e4m3fn,float8_e4m3fnuz,float8_e5m2,float8_e5m2fnuz,int2,int4,uint2,uint4|sd.uint8, sd.int8 or sd.bfloat16
dtypes|QUANTIZED_DTYPES,qint16,qint32,qint8,quint16,quint8,resource,variant,experimental|sd.uint8, sd.int8 or sd.bfloat16; values are numbers, bools and strings
debugging|disable_check_numerics,enable_check_numerics,disable_traceback_filtering,enable_traceback_filtering,is_traceback_filtering_enabled,get_log_device_placement,set_log_device_placement,experimental|sd.debugging.check_numerics for a value; Dataset.explain() for the plan
io|decode_gif,image.decode_gif|image.decode_image gives the first picture
io|decode_jxl|a py_function with a library that reads JPEG XL
io|decode_json_example|json.loads and sd.io.Example, in a py_function
io|decode_proto,encode_proto|parse_example for Examples; a py_function for others
io|serialize_sparse,serialize_many_sparse,deserialize_many_sparse|sd.sparse.to_dense and sd.io.serialize_tensor
io|matching_files,match_filenames_once|Dataset.list_files, or sd.io.gfile.glob
io|write_graph|pickle.dumps(dataset)
image|decode_gif|image.decode_image gives the first picture
image|decode_jxl|a py_function with a library that reads JPEG XL
image|combined_non_max_suppression,non_max_suppression_overlaps,non_max_suppression_padded,non_max_suppression_with_scores,generate_bounding_box_proposals|sd.image.non_max_suppression; belongs to models: torchvision.ops.nms, or a py_function
image|extract_glimpse|image.crop_and_resize, or slice
image|ssim_multiscale|sd.image.ssim at several sizes; it belongs to evaluation
linalg|LinearOperator,LinearOperatorAdjoint,LinearOperatorBlockDiag,LinearOperatorBlockLowerTriangular,LinearOperatorCirculant,LinearOperatorCirculant2D,LinearOperatorCirculant3D,LinearOperatorComposition,LinearOperatorDiag,LinearOperatorFullMatrix,LinearOperatorHouseholder,LinearOperatorIdentity,LinearOperatorInversion,LinearOperatorKronecker,LinearOperatorLowRankUpdate,LinearOperatorLowerTriangular,LinearOperatorPermutation,LinearOperatorScaledIdentity,LinearOperatorToeplitz,LinearOperatorTridiag,LinearOperatorZeros|sd.matmul of the matrix
linalg|banded_triangular_solve,cholesky_solve,eig,eigh_tridiagonal,eigvals,experimental,logm,lstsq,lu,lu_matrix_inverse,lu_reconstruct,lu_solve,matrix_rank,slogdet,sqrtm,triangular_solve,tridiagonal_matmul,tridiagonal_solve|sd.linalg.solve, or a numpy_function with numpy.linalg
strings|unicode_script|a py_function with unicodedata
math|approx_max_k,approx_min_k|sd.math.top_k
math|sobol_sample|a numpy_function with scipy.stats.qmc
nn|RNNCellDeviceWrapper,RNNCellDropoutWrapper,RNNCellResidualWrapper,all_candidate_sampler,approx_max_k,approx_min_k,atrous_conv2d,atrous_conv2d_transpose,avg_pool1d,avg_pool3d,batch_norm_with_global_normalization,batch_normalization,collapse_repeated,compute_accidental_hits,compute_average_loss,conv1d,conv1d_transpose,conv2d_transpose,conv3d,conv3d_transpose,conv_transpose,convolution,ctc_beam_search_decoder,ctc_greedy_decoder,ctc_loss,ctc_unique_labels,depthwise_conv2d_backprop_filter,depthwise_conv2d_backprop_input,dilation2d,dropout,embedding_lookup_sparse,erosion2d,experimental,fixed_unigram_candidate_sampler,fractional_avg_pool,fractional_max_pool,isotonic_regression,learned_unigram_candidate_sampler,local_response_normalization,log_poisson_loss,lrn,max_pool1d,max_pool3d,max_pool_with_argmax,nce_loss,normalize_moments,pool,safe_embedding_lookup_sparse,sampled_softmax_loss,scale_regularization_loss,separable_conv2d,space_to_batch,sufficient_statistics,weighted_cross_entropy_with_logits,weighted_moments,with_space_to_batch|belongs to models; sd.image.gaussian_blur, sd.image.extract_patches and sd.matmul filter images
random|Algorithm,all_candidate_sampler,fixed_unigram_candidate_sampler,learned_unigram_candidate_sampler,log_uniform_candidate_sampler,uniform_candidate_sampler|sd.random.categorical, or uniform with integers
random.experimental|Algorithm,index_shuffle|sd.random.Generator; Dataset.shuffle for orders
random|poisson,stateless_poisson,stateless_binomial,stateless_gamma,stateless_parameterized_truncated_normal|sd.random.gamma, normal; a numpy_function draws outside of the seed
ragged|cross,cross_hashed,stack_dynamic_partitions|operations on .flat_values and .nested_row_splits; RaggedTensor.to_tensor()
signal|fftnd,ifftnd,inverse_mdct,irfft2d,irfft3d,irfftnd,mdct,rfft3d,rfftnd|signal.fft2d and fft3d; a numpy_function with numpy.fft or scipy
sparse|bincount,cross,cross_hashed,mask,maximum,minimum,reset_shape,sampled_addmm,segment_mean,segment_sqrt_n,segment_sum,softmax,split|sd.sparse.to_dense, then the operation on dense values
train|Checkpoint,CheckpointManager,CheckpointOptions,CheckpointView,checkpoints_iterator,get_checkpoint_state,latest_checkpoint,list_variables,load_checkpoint,load_variable,TrackableView|iterator.state() is a few bytes for any checkpoint; models' are TensorFlow's own
train|ClusterDef,ClusterSpec,Coordinator,ExponentialMovingAverage,JobDef,ServerDef,experimental|training is TensorFlow's own: Dataset.to_tf()
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

# Names only in tf.compat.v1: "names|alternative".
V1_ROWS = """
Session,InteractiveSession,get_default_session,ConfigProto,GPUOptions,GraphOptions,RunOptions,RunMetadata|loop over the dataset: for element in dataset
placeholder,placeholder_with_default,sparse_placeholder|sd.TensorSpec, or an argument of the function
get_variable,variable_scope,Variable,assign,assign_add,assign_sub,global_variables_initializer,local_variables_initializer,variables_initializer,trainable_variables,global_variables,add_to_collection,get_collection|sd.Variable, or an argument of the function
Graph,GraphDef,get_default_graph,GraphKeys,NodeDef,MetaGraphDef|pipelines have no graph to run: Dataset.explain() shows the plan
TFRecordReader,TextLineReader,WholeFileReader,FixedLengthRecordReader,IdentityReader,LMDBReader,ReaderBase|sd.TFRecordDataset, sd.TextLineDataset, sd.FixedLengthRecordDataset and sd.io.read_file
FIFOQueue,PaddingFIFOQueue,PriorityQueue,RandomShuffleQueue,QueueBase|Dataset.prefetch, padded_batch and shuffle
train.batch,train.batch_join,train.maybe_batch,train.maybe_batch_join|Dataset.batch
train.shuffle_batch,train.shuffle_batch_join,train.maybe_shuffle_batch,train.maybe_shuffle_batch_join|Dataset.shuffle and batch
train.string_input_producer,train.input_producer,train.slice_input_producer,train.range_input_producer,train.limit_epochs,train.match_filenames_once,train.start_queue_runners,train.QueueRunner,train.add_queue_runner|Dataset.from_tensor_slices, list_files, shuffle and repeat
app,flags|app and flags of absl, which isn't installed
errors.error_code_from_exception_type,errors.exception_type_from_error_code,errors.raise_exception_on_not_ok_status|the classes of sd.errors
layers,losses,metrics,estimator.Estimator,estimator.EstimatorSpec,estimator.TrainSpec,estimator.EvalSpec,estimator.RunConfig,summary,saved_model,keras,distribute,tpu|training is TensorFlow's own: Dataset.to_tf()
"""
V1_WAYS = {n: way for names, way in (line.split("|") for line in V1_ROWS.strip().splitlines()) for n in names.split(",")}


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
            found = installed(full)
            if found is not None:
                return found
            raise Absent(f"tf.{full} is not available; use instead: {way}")
        if name.startswith("__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        raise Absent(f"module {package!r} has no attribute {name!r}{nearest(name, group)}")

    return __getattr__


INSTALLED = {"keras": "keras", "flags": "absl.flags", "app": "absl.app"}  # names that other packages have


def installed(name):
    """The package that TensorFlow shows under that name, if it is installed; else None."""
    package = INSTALLED.get(name)
    if package is None or importlib.util.find_spec(package.partition(".")[0]) is None:
        return None
    return importlib.import_module(package)


_public = []  # full names that exist: "random.uniform"


def know(names):
    """Existing names, for errors about others."""
    _public.extend(names)


def nearest(name, group=""):
    """Text to add to the error for an unknown name: "; did you mean sd.random.uniform?", or where to look."""
    wanted = f"{group}_{name}".lower() if group not in ("", "data") else name.lower()
    keys = {n.replace(".", "_").lower(): n for n in sorted(_public, reverse=True)}
    for n in sorted(_public, key=len, reverse=True):  # by its last part, in any group
        keys.setdefault(n.rpartition(".")[2].lower(), n)
    found = difflib.get_close_matches(wanted, keys, 1, 0.75) or difflib.get_close_matches(name.lower(), keys, 1, 0.75)
    if found:
        return f"; did you mean sd.{keys[found[0]]}?"
    return "; docs/pipelines.md lists all names, and sd.py_function runs Python in the middle of a function"


class Absent(AttributeError, UnimplementedError):
    """A missing name of TensorFlow: `hasattr` is False, and using it names an alternative."""
