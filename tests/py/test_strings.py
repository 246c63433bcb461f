#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operations on strings, against what TensorFlow 2.21 gives (recorded)."""

import gzip
import hashlib
import re
import zlib

import checks as c
import numpy as np
import stoker.data as sd

ERROR = "an error"

# Expressions over m (the module) and S (its strings), and their values.
RECORDED = [
    ('S.as_string(m.constant([2**63-1],m.int64),width=8)', [b'9223372036854775807']),
    ('S.as_string(m.constant([3,-40]),shortest=True)', ERROR),
    ('S.as_string(m.constant([True,False]),)', [b'true', b'false']),
    ('S.as_string(m.constant([2**63-1],m.int64),shortest=True,precision=3)', ERROR),
    ('S.as_string(m.constant([2**63-1],m.int64),scientific=True,precision=2)', ERROR),
    ("S.as_string(m.constant([1.5],m.float16),precision=2,width=9,fill=' ')", [b'     1.50']),
    ("S.as_string(m.constant([True,False]),fill='q',width=3)", ERROR),
    ('S.as_string(m.constant([3,-40]),precision=3)', ERROR),
    ("S.as_string(m.constant([1.5,-2.25,1e10,1e-7,float('inf'),float('nan'),3.14159274]),fill='q',width=3)", ERROR),
    ('S.as_string(m.constant([True,False]),shortest=True)', ERROR),
    ('S.as_string(m.constant([1.5],m.float16),)', [b'1.500000']),
    ("S.length([b'a\\xc3\\xa9\\xe2\\x82\\xac',b'',b'\\xff\\x80a'],unit='BYTE')", [6, 0, 3]),
    ("S.length([b'a\\xc3\\xa9\\xe2\\x82\\xac',b'',b'\\xff\\x80a'],unit='UTF8_CHAR')", [3, 0, 2]),
    ("S.substr('a\\u00e9\\u20ac',5,9,unit='UTF8_CHAR')", ERROR),
    ("S.substr('a\\u00e9\\u20ac',0,9,unit='BYTE')", b'a\xc3\xa9\xe2\x82\xac'),
    ("S.substr('a\\u00e9\\u20ac',5,0,unit='BYTE')", b''),
    ("S.substr('a\\u00e9\\u20ac',-5,1,unit='UTF8_CHAR')", ERROR),
    ("S.substr('a\\u00e9\\u20ac',-4,1,unit='BYTE')", b'\xa9'),
    ("S.substr('a\\u00e9\\u20ac',-4,1,unit='UTF8_CHAR')", ERROR),
    ("S.substr('a\\u00e9\\u20ac',-7,1,unit='BYTE')", ERROR),
    ("S.substr('a\\u00e9\\u20ac',1,1,unit='UTF8_CHAR')", b'\xc3\xa9'),
    ("S.substr('a\\u00e9\\u20ac',-1,9,unit='BYTE')", b'\xac'),
    ("S.substr('a\\u00e9\\u20ac',6,0,unit='BYTE')", b''),
    ("S.substr('a\\u00e9\\u20ac',1,9,unit='BYTE')", b'\xc3\xa9\xe2\x82\xac'),
    ("S.substr('a\\u00e9\\u20ac',-2,9,unit='BYTE')", b'\x82\xac'),
    ("S.substr('a\\u00e9\\u20ac',7,1,unit='UTF8_CHAR')", ERROR),
    ("S.substr('a\\u00e9\\u20ac',2,2,unit='UTF8_CHAR')", b'\xe2\x82\xac'),
    ("S.split(['a','x y',''],'b',9).to_tensor('?')", [[b'a'], [b'x y'], [b'']]),
    ("S.split(['','x y',''],', ',-1).to_tensor('?')", [[b''], [b'x y'], [b'']]),
    ("S.split('a,b,,c',', ',2)", [b'a,b,,c']),
    ("S.split(['','x y',''],'',-1).to_tensor('?')", [[b'?', b'?'], [b'x', b'y'], [b'?', b'?']]),
    ("S.split('  ',',',2)", [b'  ']),
    ("S.split(['a,','x y',''],'',2).to_tensor('?')", [[b'a,', b'?', b'?'], [b'x', b'y', b''], [b'?', b'?', b'?']]),
    ("S.split('',',',1)", [b'']),
    ("S.split(['','x y',''],',',2).to_tensor('?')", [[b''], [b'x y'], [b'']]),
    ("S.split('a,b,,c',None,-1)", [b'a,b,,c']),
    ("S.split('a,b,,c',None,0)", [b'a,b,,c']),
    ("S.split([' a b  c ','x y',''],None,2).to_tensor('?')", [[b'a', b'b', b'c '], [b'x', b'y', b''], [b'?', b'?', b'?']]),
    ("S.split(' a b  c ',',',-1)", [b' a b  c ']),
    ("S.split('',', ',1)", [b'']),
    ("S.split(['','x y',''],', ',1).to_tensor('?')", [[b''], [b'x y'], [b'']]),
    ("S.bytes_split(b'a\\xc3\\xa9\\xe2\\x82\\xac\\n')", [b'a', b'\xc3', b'\xa9', b'\xe2', b'\x82', b'\xac', b'\n']),
    ("S.bytes_split(b'a\\xff')", [b'a', b'\xff']),
    ("S.bytes_split(b'\\xe2\\x82')", [b'\xe2', b'\x82']),
    ("S.bytes_split(b'\\xe2\\x82a')", [b'\xe2', b'\x82', b'a']),
    ("S.bytes_split(b'\\xf0\\x9f\\x98\\x80z')", [b'\xf0', b'\x9f', b'\x98', b'\x80', b'z']),
    ("S.bytes_split(b'\\xed\\xa0\\x80')", [b'\xed', b'\xa0', b'\x80']),
    ("S.bytes_split(b'\\xc0\\x80')", [b'\xc0', b'\x80']),
    ("S.bytes_split(b'\\xf4\\x90\\x80\\x80')", [b'\xf4', b'\x90', b'\x80', b'\x80']),
    ("S.bytes_split(b'\\xef\\xbf\\xbd')", [b'\xef', b'\xbf', b'\xbd']),
    ("S.bytes_split(b'')", []),
    ("S.bytes_split(b'\\xf4\\x8f\\xbf\\xbf')", [b'\xf4', b'\x8f', b'\xbf', b'\xbf']),
    ("S.bytes_split(b'\\x80\\x80')", [b'\x80', b'\x80']),
    ("S.unicode_split(b'a\\xc3\\xa9\\xe2\\x82\\xac\\n','UTF-8')", [b'a', b'\xc3\xa9', b'\xe2\x82\xac', b'\n']),
    ("S.unicode_split(b'a\\xff','UTF-8')", [b'a', b'\xef\xbf\xbd']),
    ("S.unicode_split(b'\\xe2\\x82','UTF-8')", [b'\xef\xbf\xbd']),
    ("S.unicode_split(b'\\xe2\\x82a','UTF-8')", [b'\xef\xbf\xbd', b'a']),
    ("S.unicode_split(b'\\xf0\\x9f\\x98\\x80z','UTF-8')", [b'\xf0\x9f\x98\x80', b'z']),
    ("S.unicode_split(b'\\xed\\xa0\\x80','UTF-8')", [b'\xef\xbf\xbd', b'\xef\xbf\xbd', b'\xef\xbf\xbd']),
    ("S.unicode_split(b'\\xc0\\x80','UTF-8')", [b'\xef\xbf\xbd', b'\xef\xbf\xbd']),
    ("S.unicode_split(b'\\xf4\\x90\\x80\\x80','UTF-8')", [b'\xef\xbf\xbd', b'\xef\xbf\xbd', b'\xef\xbf\xbd', b'\xef\xbf\xbd']),
    ("S.unicode_split(b'\\xef\\xbf\\xbd','UTF-8')", [b'\xef\xbf\xbd']),
    ("S.unicode_split(b'','UTF-8')", []),
    ("S.unicode_split(b'\\xf4\\x8f\\xbf\\xbf','UTF-8')", [b'\xf4\x8f\xbf\xbf']),
    ("S.unicode_split(b'\\x80\\x80','UTF-8')", [b'\xef\xbf\xbd', b'\xef\xbf\xbd']),
    ("S.unicode_decode([b'\\xf0\\x9f\\x98\\x80z',b'b'],'UTF-8').to_tensor(-1)", [[128512, 122], [98, -1]]),
    ("S.unicode_decode(b'\\xed\\xa0\\x80','UTF-8')", [65533, 65533, 65533]),
    ("S.unicode_decode(b'\\xe2\\x82a','UTF-8')", [65533, 97]),
    ("S.unicode_decode([b'\\xef\\xbf\\xbd',b'b'],'UTF-8').to_tensor(-1)", [[65533], [98]]),
    ("S.unicode_decode([b'\\xf4\\x8f\\xbf\\xbf',b'b'],'UTF-8').to_tensor(-1)", [[1114111], [98]]),
    ("S.unicode_decode([b'\\xe2\\x82',b'b'],'UTF-8').to_tensor(-1)", [[65533], [98]]),
    ("S.unicode_decode([b'',b'b'],'UTF-8').to_tensor(-1)", [[-1], [98]]),
    ("S.unicode_decode(b'\\xc0\\x80','UTF-8')", [65533, 65533]),
    ("S.unicode_decode([b'\\x80\\x80',b'b'],'UTF-8').to_tensor(-1)", [[65533, 65533], [98, -1]]),
    ("S.unicode_decode(b'a\\xc3\\xa9\\xe2\\x82\\xac\\n','UTF-8')", [97, 233, 8364, 10]),
    ("S.unicode_decode(b'','UTF-8')", []),
    ("S.unicode_decode(b'\\xf4\\x8f\\xbf\\xbf','UTF-8')", [1114111]),
    ("S.unicode_decode(b'a\\xff','UTF-8')", [97, 65533]),
    ("S.unicode_decode([b'\\xed\\xa0\\x80',b'b'],'UTF-8').to_tensor(-1)", [[65533, 65533, 65533], [98, -1, -1]]),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=[])", [[[b'a', b'b'], [b'c', b'd']], [[b'e', b'f'], [b'g', b'h']]]),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=1)", [[b'ac', b'bd'], [b'eg', b'fh']]),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=[1,0],separator='.')", [b'a.c.e.g', b'b.d.f.h']),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=[0,1],separator='.')", [b'a.e.c.g', b'b.f.d.h']),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),keepdims=True)", [[[b'abcdefgh']]]),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=[-1,-3],separator='ab')", [b'aabbabeabf', b'cabdabgabh']),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),)", b'abcdefgh'),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=3)", ERROR),
    ("S.reduce_join('a')", b'a'),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=0)", [[b'ae', b'bf'], [b'cg', b'dh']]),
    ("S.reduce_join(m.zeros([2,0],m.string),axis=1,separator=',')", [b'', b'']),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=[2,0])", [b'abef', b'cdgh']),
    ('S.reduce_join(m.zeros([2,0],m.string),axis=0)', []),
    ("S.reduce_join(m.constant([[['a','b'],['c','d']],[['e','f'],['g','h']]]),axis=-1,keepdims=True)", [[[b'ab'], [b'cd']], [[b'ef'], [b'gh']]]),
    ("S.to_hash_bucket_fast(['a','b'],0)", ERROR),
    ("S.to_hash_bucket_fast(['a','b'],3)", [0, 1]),
    ("S.to_hash_bucket_fast('abc',7)", 1),
    ("m.io.encode_base64(b'',pad=True)", b''),
    ("m.io.encode_base64(b'',pad=False)", b''),
    ("m.io.encode_base64(b'a',pad=True)", b'YQ=='),
    ("m.io.encode_base64(b'a',pad=False)", b'YQ'),
    ("m.io.encode_base64(b'ab',pad=True)", b'YWI='),
    ("m.io.encode_base64(b'ab',pad=False)", b'YWI'),
    ("m.io.encode_base64(b'abc',pad=True)", b'YWJj'),
    ("m.io.encode_base64(b'abc',pad=False)", b'YWJj'),
    ("m.io.encode_base64(b'\\xff\\xfe\\xfd\\xfc',pad=True)", b'__79_A=='),
    ("m.io.encode_base64(b'\\xff\\xfe\\xfd\\xfc',pad=False)", b'__79_A'),
    ("m.io.encode_base64([b'x', b'yz'],pad=True)", [b'eA==', b'eXo=']),
    ("m.io.encode_base64([b'x', b'yz'],pad=False)", [b'eA', b'eXo']),
    ("m.io.decode_base64('YR')", b'a'),
    ("m.io.decode_base64('__79_A')", b'\xff\xfe\xfd\xfc'),
    ("m.io.decode_base64('YWJ=YWJ=')", ERROR),
    ("m.io.decode_base64('==')", ERROR),
    ("m.io.decode_base64('a=')", ERROR),
    ("m.io.decode_base64('')", b''),
    ("m.io.decode_base64('YWJj')", b'abc'),
    ("m.io.decode_base64('YWJ=')", b'ab'),
    ("m.io.decode_base64('YQ===')", ERROR),
    ("m.io.decode_base64('=')", ERROR),
    ("m.io.decode_base64('//79')", ERROR),
    ("m.io.decode_base64('a-_b')", b'k\xef\xdb'),
    ("m.io.decode_base64('Y Q')", ERROR),
    ("m.io.decode_base64('YQ==')", b'a'),
    ("m.io.decode_compressed(b'hello','')", b'hello'),
    ("m.io.decode_compressed(b'hello','GZIP')", ERROR),
    ("m.io.decode_compressed(b'','ZLIB')", b''),
    ("m.io.decode_compressed(b'','GZIP')", b''),
    ("m.io.decode_compressed(b'a','LZ4')", ERROR),
    ("m.io.decode_raw([b'\\x01\\x02\\x03\\x04',b'\\x05\\x06\\x07\\x08'],m.uint16,little_endian=False)", [[258, 772], [1286, 1800]]),
    ("m.io.decode_raw([b'\\x01\\x02\\x03',b'\\x05'],m.uint8,fixed_length=4)", [[1, 2, 3, 0], [5, 0, 0, 0]]),
    ("m.io.decode_raw(b'\\x01\\x02\\x03',m.uint16)", ERROR),
    ("m.io.decode_raw([b'\\x01\\x02\\x03',b'\\x05'],m.uint16,fixed_length=2)", [[513], [5]]),
    ("m.io.decode_raw([b'\\x01\\x02\\x03\\x04',b''],m.uint16,fixed_length=3)", ERROR),
    ("m.io.decode_raw(b'\\x01\\x00',m.bool)", [True, False]),
    ("m.io.decode_raw([b'\\x01\\x02\\x03\\x04'],m.uint16,True,4)", [[513, 1027]]),
    ("m.io.decode_raw(b'',m.int32)", []),
    ("m.io.decode_raw([[b'ab'],[b'cd']],m.int8)", [[[97, 98]], [[99, 100]]]),
    ("S.regex_replace('é','\\\\pL','L')", b'L'),
    ("S.regex_replace(['abc','zz'],'x*','-',replace_global=False)", [b'-abc', b'-zz']),
    ("S.regex_replace(['ab12','zz'],'[a-z]+(\\\\d+)','\\\\1',replace_global=False)", [b'12', b'zz']),
    ("S.regex_replace('abc','b','X')", b'aXc'),
    ("S.regex_replace('(','(','x')", ERROR),
    ("S.regex_replace('aaa','a*','X')", b'X'),
    ("S.regex_replace(['abab','zz'],'(?:ab)+?','x',replace_global=False)", [b'xab', b'zz']),
    ("S.regex_replace(['Ab','zz'],'(?i)a','x',replace_global=False)", [b'xb', b'zz']),
    ("S.regex_replace(['éé','zz'],'x*','-',replace_global=False)", [b'-\xc3\xa9\xc3\xa9', b'-zz']),
    ("S.regex_replace('a\\nb','a.b','x')", b'a\nb'),
    ("S.regex_replace(['héé','zz'],'é*','-',replace_global=False)", [b'-h\xc3\xa9\xc3\xa9', b'-zz']),
    ("S.regex_replace(['a\\n','zz'],'a$','x',replace_global=False)", [b'a\n', b'zz']),
    ("S.regex_replace(['(','zz'],'(','x',replace_global=False)", ERROR),
    ("S.regex_replace('foo','o{2}','0')", b'f0'),
    ("S.regex_full_match('a\\n','a')", False),
    ("S.regex_full_match('abab','(?:ab)+?')", True),
    ("S.regex_full_match('a\\n','a$')", False),
    ("S.regex_full_match('baaac','a*')", False),
    ("S.regex_full_match('abc','a.c')", True),
    ("S.regex_full_match('a\\nb','a.b')", False),
    ("S.regex_full_match('line1\\nline2','(?m)^l')", False),
    ("S.regex_full_match('x','\\\\z')", False),
    ("S.regex_full_match('a.b','\\\\Q.\\\\E')", False),
    ("S.regex_full_match('aaa','a*')", True),
    ("S.regex_full_match('abc','(?P<n>b)')", False),
    ("S.regex_full_match('abc','')", False),
    ("S.regex_full_match(b'\\xff','.')", False),
    ("S.regex_full_match('ab ','[[:alpha:]]+')", False),
    ("S.join(['a',['b','c']],'-')", [b'a-b', b'a-c']),
    ("S.join([['x','y'],['b','c']])", [b'xb', b'yc']),
    ("S.upper('aBc')", b'ABC'),
    ("S.lower(['A','b'])", [b'a', b'b']),
    ("S.strip(['  a \\n',''])", [b'a', b'']),
    ("S.to_number('2147483648',m.float64)", 2147483648.0),
    ("S.to_number('1\\x00',m.int32)", ERROR),
    ("S.to_number('1f',m.int32)", ERROR),
    ("S.to_number('-INF',m.int32)", ERROR),
    ("S.to_number('1e5',m.int64)", ERROR),
    ("S.to_number('1.',m.int64)", ERROR),
    ("S.to_number('1e23',m.float64)", 1e+23),
    ("S.to_number('0x1p3',m.int64)", ERROR),
    ("S.to_number('.5',m.int64)", ERROR),
    ("S.to_number('0.1234567890123456789',m.int64)", ERROR),
    ("S.to_number('1e5',m.float32)", 100000.0),
    ("S.to_number('nan',m.int32)", ERROR),
    ("S.to_number('8388608.5',m.int32)", ERROR),
]


def plain(v):
    return v.tolist() if isinstance(v, (np.ndarray, np.generic)) else v


def test_recorded():
    for text, want in RECORDED:
        f = lambda: eval(text, {"m": sd, "S": sd.strings})
        if want == ERROR:
            c.raises(sd.errors.OpError, f)
        else:
            c.same(plain(f()), want, text)


def test_in_a_map():
    """The same inside of a function: each expression of a constant, and of an element."""
    texts = ["a b", "", "é c,d", "x" * 70]
    ds = sd.Dataset.from_tensor_slices(texts)
    ops = [
        lambda s: sd.strings.split(s),
        lambda s: sd.strings.split(s, ",", 1),
        lambda s: sd.strings.bytes_split(s),
        lambda s: sd.strings.unicode_split(s, "UTF-8"),
        lambda s: sd.strings.unicode_decode(s, "UTF-8"),
        lambda s: sd.strings.length(s, unit="UTF8_CHAR"),
        lambda s: sd.strings.substr(s, 0, 2, unit="UTF8_CHAR"),
        lambda s: sd.strings.regex_replace(s, "[a-c ]", "<\\0>"),
        lambda s: sd.strings.regex_full_match(s, "x+|"),
        lambda s: sd.strings.to_hash_bucket_fast(s, 1000),
        lambda s: sd.strings.reduce_join([s, s], separator="|"),
        lambda s: sd.io.decode_base64(sd.io.encode_base64(s)),
        lambda s: sd.strings.as_string(sd.strings.length(s), width=5, fill="0"),
        lambda s: sd.io.decode_raw(s, "uint8", fixed_length=4),
    ]
    for i, f in enumerate(ops):
        mapped = ds.map(f)
        c.true("python" not in mapped.explain().lower(), f"operation {i} is native")
        for have, t in zip(mapped, texts):
            c.same(plain(have), plain(f(np.array(t.encode(), dtype=object)[()])), f"operation {i} of {t!r}")
    batched = ds.batch(4).map(lambda s: sd.strings.split(s, " ").to_tensor("?"))
    c.same(plain(next(iter(batched))), [[b"a", b"b"], [b"", b"?"], ["é".encode(), b"c,d"], [b"x" * 70, b"?"]])


def test_long_texts():
    """Texts that are searched in several goes: as the standard library does it in one."""
    random = np.random.default_rng(3)
    letters = np.array(list("abé ü"))
    patterns = ["a", "[^b]b+", "é{3}", "(?<=b)a", "$", "^", "ü+é", "xyz|bab ", "b{9}|(?:[^ü]a){4}"]
    for length in [1000, 1023, 1024, 1025, 3071, 3072, 9000]:
        text = "".join(letters[random.integers(0, len(letters), length)])
        for pattern in patterns:
            for t in (text, text.replace("a", ""), "é" * length + "a"):
                have = sd.strings.regex_replace(t, pattern, "<>")
                c.same(have, re.sub(pattern, "<>", t).encode(), f"{pattern} in {length} characters")


def test_hash():
    """FarmHash of every length up to 200 and some more."""
    base = b"abcdefghijklmnopqrstuvwxyz0123456789\xff\x80" * 40
    texts = [base[:n] for n in [*range(200), 255, 256, 257, 1000, 1500]]
    have = sd.strings.to_hash_bucket_fast(texts, 2**63 - 1)
    text = ",".join(str(v) for v in have.tolist()).encode()
    c.same(hashlib.sha256(text).hexdigest(), "4a802512752a5e7d6447b363382e95a091666c2c5c4d3e67b3fbc393b78c18c6")


def test_packed():
    data = bytes(range(256)) * 999
    for kind, packed in (("ZLIB", zlib.compress(data)), ("GZIP", gzip.compress(data)), ("", data)):
        c.same(sd.io.decode_compressed(packed, kind), data)
        if kind:
            for bad in (packed[:-5], packed[: len(packed) // 2], b"x" + packed, packed[:40] + b"??" + packed[42:]):
                c.raises(sd.errors.DataLossError, lambda: sd.io.decode_compressed(bad, kind))
    c.raises(sd.errors.DataLossError, lambda: sd.io.decode_compressed(zlib.compress(b"a") + b"tail", "ZLIB"))
    c.same(sd.io.decode_compressed(gzip.compress(b"a") + gzip.compress(b"b"), "GZIP"), b"ab")


def test_what_differs():
    """From TensorFlow on purpose."""
    c.raises(ValueError, lambda: sd.strings.substr("abc", 0, -1))
    c.raises(ValueError, lambda: sd.strings.regex_replace("abc", "(", ""))
    c.raises(ValueError, lambda: sd.strings.regex_replace("abc", "(b)", "\\2"))
    text = ["Ärger é", "¿QUÉ?", "plain"]
    c.same(sd.strings.upper("é", encoding="utf-8"), "É".encode())
    c.same(list(sd.strings.lower(text, encoding="utf-8")), [t.lower().encode() for t in text])
    ds = sd.Dataset.from_tensor_slices(text).batch(2).map(lambda t: sd.strings.upper(t, "utf-8"))
    c.same([list(b) for b in ds], [["ÄRGER É".encode(), "¿QUÉ?".encode()], [b"PLAIN"]])
    c.same(tuple(ds.element_spec.shape), (None,))
    c.true("runs as Python" in ds.explain(), "explain() says so")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.strings.upper("é", encoding="utf-16"), "utf-8")
    c.same(sd.strings.regex_replace("ab", "b(?=c)|a(?=b)", "x"), b"xb")
    c.raises(ValueError, lambda: sd.strings.regex_full_match("x" * 60, "(x+x+)+(?:y|z)"))


if __name__ == "__main__":
    c.main(globals())
