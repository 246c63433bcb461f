# SPDX-License-Identifier: Apache-2.0
"""The operations as a table: public names, the engine's operation, TensorFlow's arguments.

Values are "name:kind" in the order of the operation's inputs. The others are arguments of the
engine's operation, "name" or "name>its name there": whether they are required, their types and what
they are by default stand in its rows (`stoker data --list --markdown`, docs/pipelines.md).

  T   a tensor; all T of one call have one dtype, literals follow    t   a tensor of its own dtype
  F   a tensor, float32 if a literal                                 i   a tensor, int32 if a literal
  s   a string tensor                                                L   a list of tensors, one dtype
  -   "name=default:-", accepted and unused
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
reduce_sum,math.reduce_sum|reduce_sum|input_tensor:t axis keepdims
reduce_mean,math.reduce_mean|reduce_mean|input_tensor:t axis keepdims
reduce_prod,math.reduce_prod|reduce_prod|input_tensor:t axis keepdims
reduce_max,math.reduce_max|reduce_max|input_tensor:t axis keepdims
reduce_min,math.reduce_min|reduce_min|input_tensor:t axis keepdims
reduce_any,math.reduce_any|reduce_any|input_tensor:t axis keepdims
reduce_all,math.reduce_all|reduce_all|input_tensor:t axis keepdims
math.reduce_variance|reduce_variance|input_tensor:F axis keepdims
math.reduce_std|reduce_std|input_tensor:F axis keepdims
expand_dims|expand_dims|input:t axis
squeeze|squeeze|input:t axis
reshape|reshape|tensor:t shape
shape|shape|input:t out_type
size|size|input:t out_type
rank|rank|input:t
transpose|transpose|a:t perm conjugate=False:-
concat|concat|values:L axis
stack|stack|values:L axis
reverse|reverse|tensor:t axis
slice|slice|input_:t begin size
gather|gather|params:t indices:i validate_indices=None:- axis batch_dims=0:-
boolean_mask|boolean_mask|tensor:t mask:t
clip_by_value|clip_by_value|t:T clip_value_min:T clip_value_max:T
zeros_like|zeros_like|input:t dtype
ones_like|ones_like|input:t dtype
argmax,math.argmax|argmax|input:t axis output_type
argmin,math.argmin|argmin|input:t axis output_type
cumsum,math.cumsum|cumsum|x:t axis exclusive reverse
tile|tile|input:t multiples
matmul,linalg.matmul|matmul|a:T b:T transpose_a transpose_b
identity|identity|input:t
bitcast|bitcast|input:t type
strings.length|string_length|input:s unit
strings.substr|string_substr|input:s pos:i len:i unit
strings.strip|string_strip|input:s
strings.regex_replace|string_regex_replace|input:s pattern rewrite replace_global
strings.regex_full_match|string_regex_full_match|input:s pattern
strings.to_number|string_to_number|input:s out_type
strings.as_string,as_string|as_string|input:t precision scientific shortest width fill
strings.to_hash_bucket_fast|string_to_hash_bucket_fast|input:s num_buckets
strings.to_hash_bucket_strong|string_to_hash_bucket_strong|input:s num_buckets key
strings.to_hash_bucket|string_to_hash_bucket|input:s num_buckets
strings.reduce_join|string_reduce_join|inputs:s axis keepdims separator
io.decode_raw|decode_raw|input_bytes:s out_type>dtype little_endian fixed_length
io.read_file|read_file|filename:s
io.decode_base64|decode_base64|input:s
io.encode_base64|encode_base64|input:s pad
io.decode_compressed|decode_compressed|bytes:s compression_type
image.decode_jpeg,io.decode_jpeg|decode_jpeg|contents:s channels ratio fancy_upscaling try_recover_truncated acceptable_fraction dct_method
image.decode_and_crop_jpeg,io.decode_and_crop_jpeg|decode_and_crop_jpeg|contents:s crop_window:i channels ratio fancy_upscaling try_recover_truncated acceptable_fraction dct_method
image.decode_png,io.decode_png|decode_png|contents:s channels dtype
image.decode_image,io.decode_image|decode_image|contents:s channels dtype expand_animations
image.encode_png,io.encode_png|encode_png|image:t compression
image.encode_jpeg,io.encode_jpeg|encode_jpeg|image:t format quality progressive optimize_size chroma_downsampling density_unit x_density y_density xmp_metadata=:-
image.extract_jpeg_shape,io.extract_jpeg_shape|extract_jpeg_shape|contents:s output_type
image.resize|resize|images:t size method preserve_aspect_ratio antialias
image.resize_with_crop_or_pad|resize_with_crop_or_pad|image:t target_height target_width
image.central_crop|central_crop|image:t central_fraction
image.crop_to_bounding_box|crop_to_bounding_box|image:t offset_height offset_width target_height target_width
image.pad_to_bounding_box|pad_to_bounding_box|image:t offset_height offset_width target_height target_width
image.crop_and_resize|crop_and_resize|image:t boxes:F box_indices:i crop_size method extrapolation_value
image.flip_left_right|flip_left_right|image:t
image.flip_up_down|flip_up_down|image:t
image.transpose|transpose_image|image:t
image.rot90|rot90|image:t k
image.adjust_brightness|adjust_brightness|image:t delta:F
image.adjust_contrast|adjust_contrast|images:t contrast_factor:F
image.adjust_saturation|adjust_saturation|image:t saturation_factor:F
image.adjust_hue|adjust_hue|image:t delta:F
image.adjust_gamma|adjust_gamma|image:t gamma gain
image.rgb_to_grayscale|rgb_to_grayscale|images:t
image.grayscale_to_rgb|grayscale_to_rgb|images:t
image.rgb_to_hsv|rgb_to_hsv|images:t
image.hsv_to_rgb|hsv_to_rgb|images:t
image.per_image_standardization|per_image_standardization|image:t
image.convert_image_dtype|convert_image_dtype|image:t dtype saturate
"""

# Operations that draw random bits: per element inside of a dataset.
RANDOM_ROWS = """
random.shuffle|random_shuffle|value:t seed
image.random_flip_left_right|random_flip_left_right|image:t seed
image.random_flip_up_down|random_flip_up_down|image:t seed
image.random_brightness|random_brightness|image:t max_delta seed
image.random_contrast|random_contrast|image:t lower upper seed
image.random_saturation|random_saturation|image:t lower upper seed
image.random_hue|random_hue|image:t max_delta seed
"""
