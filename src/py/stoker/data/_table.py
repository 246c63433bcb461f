# SPDX-License-Identifier: Apache-2.0
"""The operations as a table: public names, the engine's operation, TensorFlow's arguments.

Arguments are "name>attribute=default:kind"; inputs come in their order, attributes under their names.

  T   a tensor; all T of one call have one dtype, literals follow    t   a tensor of its own dtype
  F   a tensor, float32 if a literal                                 i   a tensor, int32 if a literal
  s   a string tensor                                                L   a list of tensors, one dtype
  a   a number or text, as attribute                                 x   int or ints, as attribute
  d   a dtype, as attribute                                          D   the same, required to be given
  h   ints if known now, as attribute; else another input            c   an int if known, else an input
  -   accepted and unused (name=)
  {A,B}  one of these texts, as its number
"""

ROWS = """
add,math.add|add|x:T y:T
subtract,math.subtract|subtract|x:T y:T
multiply,math.multiply|multiply|x:T y:T
truediv,divide,math.divide,math.truediv|truediv|x:T y:T
floordiv,math.floordiv|floordiv|x:T y:T
floormod,mod,math.mod,math.floormod|mod|x:T y:T
pow,math.pow|pow|x:T y:T
maximum,math.maximum|maximum|x:T y:T
minimum,math.minimum|minimum|x:T y:T
math.squared_difference|squared_difference|x:T y:T
atan2,math.atan2|atan2|y:T x:T
math.divide_no_nan|div_no_nan|x:T y:T
equal,math.equal|equal|x:T y:T
not_equal,math.not_equal|not_equal|x:T y:T
less,math.less|less|x:T y:T
less_equal,math.less_equal|less_equal|x:T y:T
greater,math.greater|greater|x:T y:T
greater_equal,math.greater_equal|greater_equal|x:T y:T
logical_and,math.logical_and|logical_and|x:T y:T
logical_or,math.logical_or|logical_or|x:T y:T
math.logical_xor|logical_xor|x:T y:T
logical_not,math.logical_not|logical_not|x:t
bitwise.bitwise_and|bitwise_and|x:T y:T
bitwise.bitwise_or|bitwise_or|x:T y:T
bitwise.bitwise_xor|bitwise_xor|x:T y:T
bitwise.left_shift|left_shift|x:T y:T
bitwise.right_shift|right_shift|x:T y:T
bitwise.invert|invert|x:t
abs,math.abs|abs|x:t
negative,math.negative|negative|x:t
sign,math.sign|sign|x:t
square,math.square|square|x:t
exp,math.exp|exp|x:F
math.expm1|expm1|x:F
log,math.log|log|x:F
math.log1p|log1p|x:F
sqrt,math.sqrt|sqrt|x:F
math.rsqrt|rsqrt|x:F
math.reciprocal|reciprocal|x:F
round,math.round|round|x:t
floor,math.floor|floor|x:t
ceil,math.ceil|ceil|x:t
tanh,math.tanh,nn.tanh|tanh|x:F
sigmoid,math.sigmoid,nn.sigmoid|sigmoid|x:F
sin,math.sin|sin|x:F
cos,math.cos|cos|x:F
tan,math.tan|tan|x:F
asin,math.asin|asin|x:F
acos,math.acos|acos|x:F
atan,math.atan|atan|x:F
sinh,math.sinh|sinh|x:F
cosh,math.cosh|cosh|x:F
math.erf|erf|x:F
nn.relu|relu|features:F
math.softplus,nn.softplus|softplus|features:F
math.is_nan|is_nan|x:F
math.is_inf|is_inf|x:F
math.is_finite|is_finite|x:F
reduce_sum,math.reduce_sum|reduce_sum|input_tensor:t axis=None:x keepdims=False:a
reduce_mean,math.reduce_mean|reduce_mean|input_tensor:t axis=None:x keepdims=False:a
reduce_prod,math.reduce_prod|reduce_prod|input_tensor:t axis=None:x keepdims=False:a
reduce_max,math.reduce_max|reduce_max|input_tensor:t axis=None:x keepdims=False:a
reduce_min,math.reduce_min|reduce_min|input_tensor:t axis=None:x keepdims=False:a
reduce_any,math.reduce_any|reduce_any|input_tensor:t axis=None:x keepdims=False:a
reduce_all,math.reduce_all|reduce_all|input_tensor:t axis=None:x keepdims=False:a
math.reduce_variance|reduce_variance|input_tensor:F axis=None:x keepdims=False:a
math.reduce_std|reduce_std|input_tensor:F axis=None:x keepdims=False:a
expand_dims|expand_dims|input:t axis:a
squeeze|squeeze|input:t axis=None:x
reshape|reshape|tensor:t shape:h
shape|shape|input:t out_type=int32:D
size|size|input:t out_type=int32:D
rank|rank|input:t
transpose|transpose|a:t perm=None:x conjugate=False:-
concat|concat|values:L axis:a
stack|stack|values:L axis=0:a
reverse|reverse|tensor:t axis:x
slice|slice|input_:t begin:h size:h
gather|gather|params:t indices:i validate_indices=None:- axis=0:a batch_dims=0:-
boolean_mask|boolean_mask|tensor:t mask:t axis=None:x
clip_by_value|clip_by_value|t:T clip_value_min:T clip_value_max:T
zeros_like|zeros_like|input:t dtype=None:d
ones_like|ones_like|input:t dtype=None:d
argmax,math.argmax|argmax|input:t axis=0:a output_type=int64:D
argmin,math.argmin|argmin|input:t axis=0:a output_type=int64:D
cumsum,math.cumsum|cumsum|x:t axis=0:a exclusive=False:a reverse=False:a
tile|tile|input:t multiples:h
matmul,linalg.matmul|matmul|a:T b:T transpose_a=False:a transpose_b=False:a
identity|identity|input:t
bitcast|bitcast|input:t type:D
strings.length|string_length|input:s unit=BYTE:{BYTE,UTF8_CHAR}
strings.substr|string_substr|input:s pos:i len:i unit=BYTE:{BYTE,UTF8_CHAR}
strings.strip|string_strip|input:s
strings.regex_replace|string_regex_replace|input:s pattern:a rewrite:a replace_global=True:a
strings.regex_full_match|string_regex_full_match|input:s pattern:a
strings.to_number|string_to_number|input:s out_type=float32:D
strings.as_string,as_string|as_string|input:t precision=-1:a scientific=False:a shortest=False:a width=-1:a fill=:a
strings.to_hash_bucket_fast|string_to_hash_bucket_fast|input:s num_buckets:a
strings.to_hash_bucket_strong|string_to_hash_bucket_strong|input:s num_buckets:a key:x
strings.to_hash_bucket|string_to_hash_bucket|input:s num_buckets:a
strings.reduce_join|string_reduce_join|inputs:s axis=None:x keepdims=False:a separator=:a
io.decode_raw|decode_raw|input_bytes:s out_type>dtype:D little_endian=True:a fixed_length=None:a
io.read_file|read_file|filename:s
io.decode_base64|decode_base64|input:s
io.encode_base64|encode_base64|input:s pad=False:a
io.decode_compressed|decode_compressed|bytes:s compression_type=:a
image.decode_jpeg,io.decode_jpeg|decode_jpeg|contents:s channels=0:a ratio=1:a fancy_upscaling=True:a try_recover_truncated=False:a acceptable_fraction=1.0:a dct_method=:a
image.decode_and_crop_jpeg,io.decode_and_crop_jpeg|decode_and_crop_jpeg|contents:s crop_window:i channels=0:a ratio=1:a fancy_upscaling=True:a try_recover_truncated=False:a acceptable_fraction=1.0:a dct_method=:a
image.decode_png,io.decode_png|decode_png|contents:s channels=0:a dtype=uint8:D
image.decode_image,io.decode_image|decode_image|contents:s channels=0:a dtype=uint8:D expand_animations=True:a
image.encode_png,io.encode_png|encode_png|image:t compression=-1:a
image.encode_jpeg,io.encode_jpeg|encode_jpeg|image:t format=:a quality=95:a progressive=False:a optimize_size=False:a chroma_downsampling=True:a density_unit=in:a x_density=300:a y_density=300:a xmp_metadata=:-
image.extract_jpeg_shape,io.extract_jpeg_shape|extract_jpeg_shape|contents:s output_type=int32:D
image.resize|resize|images:t size:h method=bilinear:a preserve_aspect_ratio=False:a antialias=False:a
image.resize_with_crop_or_pad|resize_with_crop_or_pad|image:t target_height:c target_width:c
image.central_crop|central_crop|image:t central_fraction:a
image.crop_to_bounding_box|crop_to_bounding_box|image:t offset_height:c offset_width:c target_height:c target_width:c
image.pad_to_bounding_box|pad_to_bounding_box|image:t offset_height:c offset_width:c target_height:c target_width:c
image.crop_and_resize|crop_and_resize|image:t boxes:F box_indices:i crop_size:h method=bilinear:a extrapolation_value=0.0:a
image.flip_left_right|flip_left_right|image:t
image.flip_up_down|flip_up_down|image:t
image.transpose|transpose_image|image:t
image.rot90|rot90|image:t k=1:a
image.adjust_brightness|adjust_brightness|image:t delta:F
image.adjust_contrast|adjust_contrast|images:t contrast_factor:F
image.adjust_saturation|adjust_saturation|image:t saturation_factor:F
image.adjust_hue|adjust_hue|image:t delta:F
image.adjust_gamma|adjust_gamma|image:t gamma=1:a gain=1:a
image.rgb_to_grayscale|rgb_to_grayscale|images:t
image.grayscale_to_rgb|grayscale_to_rgb|images:t
image.rgb_to_hsv|rgb_to_hsv|images:t
image.hsv_to_rgb|hsv_to_rgb|images:t
image.per_image_standardization|per_image_standardization|image:t
image.convert_image_dtype|convert_image_dtype|image:t dtype:D saturate=False:a
"""

# Operations that draw random bits: per element inside of a dataset.
RANDOM_ROWS = """
random.shuffle|random_shuffle|value:t seed=None:a
image.random_flip_left_right|random_flip_left_right|image:t seed=None:a
image.random_flip_up_down|random_flip_up_down|image:t seed=None:a
image.random_brightness|random_brightness|image:t max_delta:a seed=None:a
image.random_contrast|random_contrast|image:t lower:a upper:a seed=None:a
image.random_saturation|random_saturation|image:t lower:a upper:a seed=None:a
image.random_hue|random_hue|image:t max_delta:a seed=None:a
"""
