"""JSON texts, right ones and damaged ones, and what Python's json says of each.

A line of texts.txt: the text in hex, a tab, and what it holds or `-` where it is no JSON. Values stand as
{ and } of an object, [ and ], n: and s: with the hex of a name and a string, # with a number as it is written,
t, f and 0 (null). Python is told to be strict where it is lenient: NaN, half pairs, names that come twice.
"""

import json
import random

WHOLE = [
    r"null", r" true ", r"false", r"0", r"-0", r"-12.5e+3", r"1E400", r"18446744073709551615", r'""', r'"a"',
    r"[]", r"{}", r"[ ]", r"{ }", r"[[],[[]],{}]", r"[1,2 , 3]", r'{"a":1}', r'{"a":{"b":[]},"c":null}',
    r'{"__metadata__":{"format":"pt"},"w":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}',
    r'"\"\\\/\b\f\n\r\t"', r'"\u0041\u00e9\u20AC\ud83d\ude00\u0000"', '"\u00e9\u20ac\U0001f600\u007f"', r'{"\u0061":1,"b":2}',
    "[\n\t\r 1\n]", r'{"":{"":""}}', r'["a/b","~","\u2028"]', "[0.0,1.5,-3,0e0,1E-2]", r'{"a":[{"a":1},{"a":2}]}',
    "[" * 64 + "]" * 64, '{"a":' * 63 + "[]" + "}" * 63,
]
ODD = [
    b"", b" ", b"[1,]", b"[,1]", b"[1 2]", b'{"a":1,}', b'{"a"}', b'{"a" 1}', b"{1:2}", b'{"a":1 "b":2}', b"{,}", b"[", b"{", b'{"a":',
    b"]", b"}", b"[}", b"{]", b"01", b"-", b"+1", b".5", b"1.", b"1e", b"1e+", b"-01", b"0x10", b"1_0", b"NaN", b"Infinity",
    b"-Infinity", b"nan", b"nul", b"nulll", b"True", b"'a'", b'"', b'"a', b'"\\', b'"\\x41"', b'"\\u12"', b'"\\u12g4"', b'"\\ud800"',
    b'"\\udc00"', b'"\\ud800\\u0041"', b'"\\ud800x"', b'"\\ud800\\ud800"', b'"\x00"', b'"\x1f"', b'"a\nb"', b'"\t"', b"null null", b"1 2",
    b"{}x", b"[]]", b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00", b"{\x00}\x00", b"\x00{\x00}", b'"\x80"', b'"\xc0\x80"', b'"\xc1\xbf"', b'"\xc3"',
    b'"\xe0\x80\x80"', b'"\xe0\x9f\xbf"', b'"\xed\xa0\x80"', b'"\xed\x9f\xbf"', b'"\xee\x80\x80"', b'"\xf0\x80\x80\x80"', b'"\xf0\x90\x80\x80"',
    b'"\xf4\x8f\xbf\xbf"', b'"\xf4\x90\x80\x80"', b'"\xf5\x80\x80\x80"', b'"\xe2\x82"', b"\xa0{}", b"\x0c{}", b'{"a":1,"a":2}', b'{"a":1,"\\u0061":2}',
    b'{"b":1,"a":{"c":1,"d":[{"e":1,"e":1}]}}', b"[" * 65 + b"]" * 65, b"[1]//", b"/**/1", b'{"a":1;}', b'{"a"=1}', b"\x7f", b"[\x00]",
]
DAMAGE = b'{}[]",:\\u0d18eE+-. \n\x00\x1f\x7f\x80\xc3\xe0\xed\xf0\xf4\xff'


class Refused(ValueError):
    pass


def refuse(text):
    raise Refused(text)


def once(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise Refused("a name comes twice")
    return {"object": pairs}


def deepest(value):
    if isinstance(value, dict):
        return 1 + max((deepest(member) for _, member in value["object"]), default=0)
    if isinstance(value, list):
        return 1 + max((deepest(item) for item in value), default=0)
    return 0


class Number(str):
    """As it is written."""


def told(value):
    if isinstance(value, dict):
        return "{" + "".join(f"n:{name.encode().hex()} {told(member)}" for name, member in value["object"]) + "} "
    if isinstance(value, list):
        return "[" + "".join(map(told, value)) + "] "
    if isinstance(value, Number):
        return f"#{value} "
    if isinstance(value, str):
        return f"s:{value.encode().hex()} "
    return {True: "t ", False: "f ", None: "0 "}[value]


def verdict(text):
    try:
        value = json.loads(text.decode(), object_pairs_hook=once, parse_constant=refuse, parse_int=Number, parse_float=Number)
        return told(value).strip() if deepest(value) <= 64 else "-"
    except ValueError:  # also of what is no JSON, no UTF-8, or cannot be encoded again
        return "-"


def files():
    texts = [text.encode() for text in WHOLE] + ODD
    pick = random.Random(20261)
    for _ in range(1500):
        text = bytearray(pick.choice(WHOLE[:-2]).encode())
        for _ in range(pick.choice((1, 1, 2))):
            at = pick.randrange(len(text) + 1)
            way = pick.randrange(3)
            text[at : at + (way > 0)] = b"" if way == 2 else bytes([pick.choice(DAMAGE)])
        texts.append(bytes(text))
    return {"texts.txt": "".join(f"{text.hex()}\t{verdict(text)}\n" for text in dict.fromkeys(texts)).encode()}
