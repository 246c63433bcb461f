# SPDX-License-Identifier: Apache-2.0
"""Text to token ids with Hugging Face's tokenizers, which process whole blocks of texts without the GIL. Padding and
masks are made here, from the lengths."""

import itertools
import os

import numpy as np

from ..core import _call, _dtypes
from ..core._named import named_class
from ..core._packages import need
from ..core._sparse import RaggedTensor
from ..core._spec import TensorSpec
from ..errors import InvalidArgumentError, NotFoundError
from ._many import by_many

# A tokenizer's outputs, by transformers' names: the attribute of the package's encoding. None: made from the lengths.
OUTPUTS = {
    "input_ids": "ids",
    "attention_mask": None,
    "token_type_ids": "type_ids",
    "special_tokens_mask": "special_tokens_mask",
}
PADDINGS = (None, "longest", "max_length")
_PAD_TOKENS = ("[PAD]", "<pad>", "<|pad|>", "<|padding|>", "<|finetune_right_pad_id|>")


def _of_file(path):
    name = os.fsdecode(path)
    if os.path.isdir(name):
        name = os.path.join(name, "tokenizer.json")
    try:
        with open(name, "rb") as f:
            return f.read().decode(), name
    except FileNotFoundError:
        raise NotFoundError(
            f"Tokenizer: there is no file {name}; names of the Hub are not looked up: save_pretrained(folder) "
            "writes a tokenizer.json"
        ) from None
    except UnicodeDecodeError as e:
        raise InvalidArgumentError(f"Tokenizer: {name} is not a tokenizer.json: {e}") from None


def _text_of(tokenizer):
    """The JSON text that describes the tokenizer, and its name for messages."""
    if isinstance(tokenizer, (str, bytes, os.PathLike)):
        return _of_file(tokenizer)
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)  # of transformers' fast tokenizers
    if not hasattr(inner, "to_str"):
        raise TypeError(
            "Tokenizer takes a tokenizer.json or its folder, a tokenizers.Tokenizer or a fast tokenizer of "
            f"transformers, not {type(tokenizer).__name__}"
        )
    return inner.to_str(), type(inner).__name__


class _Encoder:
    """Converts blocks of texts to arrays. Can be pickled: the tokenizer is recreated from its JSON."""

    def __init__(self, text, name, settings):
        self.text, self.name, self.settings = text, name, settings
        package = need("tokenizers", "Tokenizer")
        try:
            t = self.tokenizer = package.Tokenizer.from_str(text)
        except Exception as e:  # the package has no specific class for it
            raise InvalidArgumentError(f"Tokenizer: {name} is not a tokenizer.json: {e}") from e
        self.given_padding = t.padding
        t.no_padding()
        t.no_truncation()
        if settings["max_length"] is not None:
            t.enable_truncation(settings["max_length"], direction=settings["truncation_side"])
        only_ids = all(OUTPUTS[o] in ("ids", None) for o in settings["outputs"])
        self.encode_batch = getattr(t, "encode_batch_fast", t.encode_batch) if only_ids else t.encode_batch

    def __reduce__(self):
        return _Encoder, (self.text, self.name, self.settings)

    def pad_id(self):
        """The padding id: from the settings, the file, or a token with a common name."""
        if self.settings["pad_id"] is not None:
            return self.settings["pad_id"]
        if self.given_padding:
            return self.given_padding["pad_id"]
        found = (self.tokenizer.token_to_id(t) for t in _PAD_TOKENS)
        pad = next((i for i in found if i is not None), None)
        if pad is None:
            raise InvalidArgumentError(f"Tokenizer: {self.name} has no padding token; give pad_id=")
        return pad

    def __call__(self, n, *columns):
        counts = [np.size(t) for t in columns[0]]
        flat = [[b for t in column for b in np.ravel(t)] for column in columns]
        if any([np.size(t) for t in column] != counts for column in columns):
            k = next(i for i, c in enumerate(counts) if any(np.size(col[i]) != c for col in columns))
            return self.part(k, counts, flat, InvalidArgumentError("Tokenizer: a text and its pair differ in shape"))
        try:
            texts = [[b.decode() for b in side] for side in flat]
            encoded = self.encode(texts)
        except Exception:  # find out which text fails
            return self.part(*self.first_bad(counts, flat))
        return n, self.results(encoded, counts), None

    def encode(self, texts):
        texts = texts[0] if len(texts) == 1 else list(zip(*texts))
        return self.encode_batch(texts, add_special_tokens=self.settings["add_special_tokens"])

    def first_bad(self, counts, flat):
        """(element whose text fails, texts of each element, all texts, why)."""
        ends = np.cumsum(counts)
        for i in range(len(flat[0])):
            try:
                self.encode([[side[i].decode()] for side in flat])
            except Exception as e:
                text = next((s[i] for s in flat if not _is_utf8(s[i])), flat[0][i])
                error = InvalidArgumentError(f"Tokenizer: {self.name} cannot encode {bytes(text)[:40]!r}: {e}")
                return int(np.searchsorted(ends, i, "right")), counts, flat, error
        raise RuntimeError("the texts were encoded one by one, but not together")

    def part(self, k, counts, flat, error):
        """The elements before the k-th, and that one's error."""
        if k == 0:
            return 0, [[] for _ in range(self.settings["components"])], error
        n = int(np.sum(counts[:k]))
        encoded = self.encode([[b.decode() for b in side[:n]] for side in flat])
        return k, self.results(encoded, counts[:k]), error

    def results(self, encoded, counts):
        """Components of elements, given how many texts each has."""
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        flats = [self.values(o, encoded, int(lengths.sum())) for o in self.settings["outputs"]]
        if self.settings["padding"] == "max_length":
            size = self.settings["max_length"]
            rows = [self.padded(v, lengths, size, o) for o, v in zip(self.settings["outputs"], flats)]
            return rows if self.settings["rank"] == 0 else [_cut(r, counts) for r in rows]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        if self.settings["rank"] == 0:
            return [[v[a:b] for a, b in zip(ends[:-1], ends[1:])] for v in flats]
        out, at = [[] for _ in range(self.settings["components"])], 0
        for count in counts:
            first, last = ends[at], ends[at + count]
            own = lengths[at : at + count]
            for k, (o, v) in enumerate(zip(self.settings["outputs"], flats)):
                if self.settings["padding"] == "longest":
                    out[k].append(self.padded(v[first:last], own, int(own.max(initial=0)), o))
                else:
                    out[k].append(v[first:last])
            if self.settings["padding"] is None:
                out[-1].append(ends[at : at + count + 1] - first)
            at += count
        return out

    def values(self, output, encoded, total):
        dtype, name = self.settings["dtype"], OUTPUTS[output]
        if name is None:
            return np.ones(total, dtype)
        lists = (getattr(e, name) for e in encoded)
        return np.fromiter(itertools.chain.from_iterable(lists), dtype, total)

    def padded(self, values, lengths, size, output):
        fill = {"input_ids": self.settings["pad"], "special_tokens_mask": 1}.get(output, 0)
        out = np.full((len(lengths), size), fill, self.settings["dtype"])
        places = np.arange(size)
        is_value = places < lengths[:, None]
        if self.settings["padding_side"] == "left":
            is_value = places >= size - lengths[:, None]
        out[is_value] = values
        return out


def _is_utf8(b):
    try:
        b.decode()
    except UnicodeDecodeError:
        return False
    return True


def _cut(rows, counts):
    ends = np.cumsum(counts)
    return [rows[b - c : b] for b, c in zip(ends, counts)]


@named_class
class Tokenizer:
    """Converts text to token ids, with the package tokenizers: call it in functions of pipelines, and on arrays.

    tokenizer: a tokenizer.json or its folder, a tokenizers.Tokenizer, or a fast tokenizer of transformers. max_length:
    longer texts are truncated to it. padding: "longest" pads the texts of a batch
    to its longest, "max_length" each to max_length. outputs: "input_ids", "attention_mask" (the default with
    padding), "token_type_ids", "special_tokens_mask". pad_id: the padding id, if the tokenizer has no padding token.

    A call returns a dict of the outputs. Without padding, one text gives vectors of any length, and a vector of texts
    gives RaggedTensors.
    """

    def __init__(
        self,
        tokenizer,
        max_length=None,
        padding=None,
        outputs=None,
        dtype="int64",
        add_special_tokens=True,
        pad_id=None,
        padding_side="right",
        truncation_side="right",
    ):
        if padding not in PADDINGS:
            raise InvalidArgumentError(f'Tokenizer: padding is None, "longest" or "max_length", not {padding!r}')
        if max_length is not None and (not isinstance(max_length, (int, np.integer)) or max_length < 1):
            raise InvalidArgumentError(f"Tokenizer: max_length is a positive integer, not {max_length!r}")
        if padding == "max_length" and max_length is None:
            raise InvalidArgumentError('Tokenizer: padding="max_length" needs max_length')
        if {padding_side, truncation_side} - {"left", "right"}:
            raise InvalidArgumentError('Tokenizer: padding_side and truncation_side are "left" or "right"')
        if outputs is None:
            outputs = ("input_ids",) if padding is None else ("input_ids", "attention_mask")
        outputs = (outputs,) if isinstance(outputs, str) else tuple(outputs)
        if not outputs or set(outputs) - set(OUTPUTS) or len(set(outputs)) < len(outputs):
            raise InvalidArgumentError(f"Tokenizer: outputs are some of {', '.join(OUTPUTS)}, not {outputs!r}")
        dtype = _dtypes.as_dtype(dtype)
        if dtype.kind not in "iu" or dtype.itemsize < 4:
            raise InvalidArgumentError(f"Tokenizer: dtype is int32 or int64, not {dtype.name}")
        text, name = _text_of(tokenizer)
        self._settings = {
            "max_length": None if max_length is None else int(max_length),
            "padding": padding,
            "outputs": outputs,
            "dtype": dtype,
            "add_special_tokens": bool(add_special_tokens),
            "pad_id": pad_id,
            "padding_side": padding_side,
            "truncation_side": truncation_side,
        }
        one = _Encoder(text, name, dict(self._settings, pad=0, rank=0, components=len(outputs)))
        self._settings["pad"] = one.pad_id() if padding else 0
        self._text, self._name, self._encoders = text, name, {}
        self._vocab_size = one.tokenizer.get_vocab_size()

    def __repr__(self):
        return f"Tokenizer({self._name}, vocab_size={self._vocab_size})"

    def __reduce__(self):
        names = ("max_length", "padding", "outputs", "dtype", "add_special_tokens", "pad_id", "padding_side", "truncation_side")
        return _again, (self._text, self._name, {k: self._settings[k] for k in names})

    @property
    def vocab_size(self):
        """The size of the vocabulary, including added tokens."""
        return self._vocab_size

    def __call__(self, text, pair=None):
        """{output: ids} of a text (a scalar or a vector of strings), or of a text and its pair."""
        inputs = [_call.convert(v, _dtypes.string) for v in ((text,) if pair is None else (text, pair))]
        ranks = {None if v.shape is None else len(v.shape) for v in inputs}
        if len(ranks) > 1 or not ranks <= {0, 1}:
            raise TypeError(f"Tokenizer takes a text or a vector of texts, not shapes {[v.shape for v in inputs]}")
        rank, s = ranks.pop(), self._settings
        if rank == 0 and s["padding"] == "longest":
            raise InvalidArgumentError(
                'Tokenizer: padding="longest" pads the texts of a batch, and this is one text; batch(n) before it, '
                'or padding="max_length"'
            )
        is_ragged = rank == 1 and s["padding"] is None
        if rank not in self._encoders:
            more = {"rank": rank, "components": len(s["outputs"]) + is_ragged}
            self._encoders[rank] = _Encoder(self._text, self._name, dict(s, **more))
        values = by_many(
            self._encoders[rank], inputs, self._specs(inputs[0].shape, is_ragged), f"{self!r}: runs on blocks of texts"
        )
        if is_ragged:
            values = [RaggedTensor(v, [values[-1]]) for v in values[:-1]]
        return dict(zip(s["outputs"], values))

    def _specs(self, shape, is_ragged):
        s = self._settings
        if is_ragged:
            splits = TensorSpec([None if shape[0] is None else shape[0] + 1], "int64")
            return [TensorSpec([None], s["dtype"])] * len(s["outputs"]) + [splits]
        size = s["max_length"] if s["padding"] == "max_length" else None
        return [TensorSpec(tuple(shape) + (size,), s["dtype"])] * len(s["outputs"])


class _Text:
    """A tokenizer from its JSON text, in tokenizers.Tokenizer's format."""

    def __init__(self, text):
        self.to_str = lambda: text


def _again(text, name, settings):
    made = Tokenizer(_Text(text), **settings)
    made._name = name
    return made
