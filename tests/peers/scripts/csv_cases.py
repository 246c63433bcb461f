# SPDX-License-Identifier: Apache-2.0
"""CSV row by row: types, defaults, quotes, columns, missing values, headers; what is an error, and where."""

import os

import tensorflow as tf

results = {}
N = [0]


def write(text):
    N[0] += 1
    path = os.path.join(FOLDER, f"{N[0]}.csv")  # noqa: F821
    with open(path, "w", newline="") as f:
        f.write(text)
    return path


def plain(e):
    if isinstance(e, dict):
        return {k: plain(v) for k, v in e.items()}
    if isinstance(e, (tuple, list)):
        return [plain(v) for v in e]
    return e.numpy() if hasattr(e, "numpy") else e


def case(name, make, most=12):
    """Elements and the classes of errors, in turn; each error once for the row that it stands for."""
    got = []
    try:
        it = iter(make())
        while len(got) < most:
            try:
                got.append(plain(next(it)))
            except StopIteration:
                break
            except Exception as e:
                got.append("error " + type(e).__name__)
    except Exception as e:
        is_bad = isinstance(e, (ValueError, tf.errors.InvalidArgumentError))
        got.append("refused: " + ("argument" if is_bad else type(e).__name__))
    results[name] = got


def rows(name, text, defaults, **how):
    path = write(text)
    case(name, lambda: tf.data.experimental.CsvDataset(path, defaults, **how))


i, f, s, d, q = tf.int32, tf.float32, tf.string, tf.float64, tf.int64
TABLE = "a,b,c\n1,2.5,x\n2,,y\n,3.5,\n"
rows("defaults", TABLE, [tf.constant([7], i), tf.constant([0.5], f), tf.constant(["none"], s)], header=True)
rows("missing of a required one", TABLE, [i, f, s], header=True)
rows("header read as a row", TABLE, [i, f, s])
rows("empty defaults are required", TABLE, [tf.constant([], i), tf.constant([0.0], f), s], header=True)
rows("types", "1,2,3.5,4.25,t\n-5,9000000000,1e3,-1e-3,\n", [i, q, f, d, s])
rows("int32 beyond", "1\n3000000000\n-2147483648\n", [i])
rows("no numbers", "1\nx\n2\n1.5\n 3\n4 \n+5\n", [i])
rows("no floats", "1\nx\nnan\ninf\n-inf\n1e400\n.5\n5.\n", [f])
rows("plain numbers as defaults", "1,2,x\n1,,\n", [0, 4.5, "five"])
rows("select", "1,2,3\n4,5,6\n", [i, i], select_cols=[0, 2])
rows("select out of order", "1,2,3\n4,5,6\n", [i, i], select_cols=[2, 0])
rows("select too many", "1,2,3\n4,5,6\n", [i, i, i], select_cols=[0, 1])
rows("select beyond", "1,2,3\n4,5,6\n", [i], select_cols=[5])
rows("select below", "1,2,3\n", [i], select_cols=[-1])
rows("select twice", "1,2,3\n", [i, i], select_cols=[1, 1])
rows("exclude", "1,2,3\n4,5,6\n", [i, i], exclude_cols=[1])
rows("exclude and select", "1,2,3\n", [i], select_cols=[0], exclude_cols=[1])
rows("semicolons", "1;2,5\n3;4,5\n", [i, s], field_delim=";")
rows("tabs", "1\tx y\n2\tz\n", [i, s], field_delim="\t")
rows("two letters between fields", "1::2\n", [i, i], field_delim="::")
rows("na", "1,NA\nNA,x\nNAN,y\n", [tf.constant([9], i), tf.constant(["gone"], s)], na_value="NA")
rows("na of text alone", "1,NA\n2,\n", [i, tf.constant(["gone"], s)], na_value="NA")
rows("quotes", '1,"a,b"\n2,"say ""hi"""\n3,"two\nlines"\n4,""\n', [i, tf.constant(["none"], s)])
rows("quoted numbers", '"1","2.5"\n"","3"\n', [tf.constant([7], i), f])
rows("a quote inside", '1,a"b\n2,c\n', [i, s])
rows("behind a quote", '1,"a"b\n2,c\n', [i, s])
rows("a quote left open", '1,a\n2,"b\n3,c\n', [i, s])
rows("quotes are letters", '1,"a\n2,b"c"\n', [i, s], use_quote_delim=False)
rows("too few fields", "1,2\n3\n4,5\n", [i, i])
rows("too many fields", "1,2\n3,4,5\n6,7\n", [i, i])
rows("too many of selected", "1,2\n3,4,5\n6,7\n", [i], select_cols=[0])
rows("too few of selected", "1,2\n3\n6,7\n", [i], select_cols=[1])
rows("an empty line", "1\n\n2\n", [i])
rows("an empty line of text", "a\n\nb\n", [tf.constant(["none"], s)])
rows("no end of line", "1,x\n2,y", [i, s])
rows("carriage returns", "1,x\r\n2,y\r\n", [i, s])
rows("an empty file", "", [i])
rows("a header alone", "a,b\n", [i, s], header=True)
rows("spaces", "1, x \n 2,y\n", [i, s])
rows("unicode", "1,é☃\n2,ü\n", [i, s])
gone = os.path.join(FOLDER, "gone.csv")  # noqa: F821
case("a file that is not there", lambda: tf.data.experimental.CsvDataset(gone, [i]), 1)
first, second = write("a\n1\n2\n"), write("a\n3\n")
case("two files with headers", lambda: tf.data.experimental.CsvDataset([first, second], [i], header=True))
rows("no columns", "1\n", [])
rows("bool is no type of CSV", "1\n", [tf.bool])


def table(name, text, n=2, **how):
    path = write(text)
    how = {"num_epochs": 1, "shuffle": False, **how}
    case(name, lambda: tf.data.experimental.make_csv_dataset(path, n, **how))


PEOPLE = "name,age,height,big,label\nann,31,1.5,5000000000,0\nbob,,1.75,2,1\n,40,2,3,0\n"
table("people", PEOPLE)
table("people and labels", PEOPLE, label_name="label")
table("columns by name", PEOPLE, select_columns=["age", "label"], label_name="label")
table("columns by number", PEOPLE, select_columns=[1, 4])
table("columns out of order", PEOPLE, select_columns=["label", "age"])
table("columns that are not there", PEOPLE, select_columns=["weight"])
table("the label is not there", PEOPLE, label_name="weight")
table("the label is left out", PEOPLE, select_columns=["age"], label_name="label")
table("names of one's own", PEOPLE, column_names=["n", "a", "h", "b", "l"], label_name="l")
table("names without a header", "1,x\n2,y\n3,z\n", column_names=["n", "t"], header=False)
table("no names and no header", "1,x\n2,y\n", header=False)
table("one name twice", "a,a\n1,2\n")
table("defaults of one's own", PEOPLE, column_defaults=["nobody", -1, tf.float64, tf.int64, tf.constant([5], tf.int32)])
table("types of one's own", "a,b\n1,2\n3,4\n", column_defaults=[tf.float32, tf.string])
table("few rows to learn from", "a\n1\n2\n3.5\nx\n", num_rows_for_inference=2)
table("all rows to learn from", "a\n1\n2\n3.5\nx\n", num_rows_for_inference=None)
table("int32 and int64 and floats", "a,b,c,d\n1,3000000000,1.5,1e39\n2,1,2,1\n")
table("missing while learning", "a,b\n,x\n1,\n2.5,y\n")
table("na", "a,b\nNA,x\n1,NA\n", na_value="NA")
table("semicolons and quotes", 'a;b\n1;"x;y"\n2;"p""q"\n', field_delim=";")
table("a bad row", "a,b\n1,x\n3,y\n2\n4,z\n", num_rows_for_inference=1)
table("a bad row left out", "a,b\n1,x\n3,y\n2\n4,z\n", num_rows_for_inference=1, ignore_errors=True)
table("a bad number left out", "a,b\n1,x\nq,p\n3,y\n4,z\n", num_rows_for_inference=1, ignore_errors=True)
table("three epochs", "a\n1\n2\n3\n", num_epochs=3)
table("without end", "a\n1\n2\n3\n", num_epochs=None)
one, other = write("a,b\n1,x\n"), write("a,b\n2,y\n3,z\n")
case("several files", lambda: tf.data.experimental.make_csv_dataset([one, other], 2, num_epochs=1, shuffle=False))
