"""kvcheck.record: what is written of arrays and of models, as a trace has it and as a replay reads it."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

import numpy

import kvcheck
import like_attention as like
from kvcheck import record

SOURCE = os.environ["KVCHECK_SOURCE"]
TEXT = " ".join("w%d" % number for number in numpy.random.default_rng(3).integers(0, 64, 90))


def tables(frequencies, tokens, scale=1.0, dtype=numpy.float32):
    angles = numpy.outer(numpy.arange(tokens), frequencies).astype(numpy.float32)
    return (scale * numpy.cos(angles)).astype(dtype), (scale * numpy.sin(angles)).astype(dtype)


def plain(theta, dims):
    return theta ** (-numpy.arange(0, dims, 2) / dims)


def twice(table, layout):
    return numpy.concatenate([table, table], 1) if layout == "half" else numpy.repeat(table, 2, 1)


def _contents(path):
    """The metadata and the arrays of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "u1"}
    metadata, at = header.pop("__metadata__"), 0
    arrays = {}
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        assert begin == at and (end + begin) % numpy.dtype(types[entry["dtype"]]).itemsize == 0
        arrays[name] = numpy.frombuffer(data[end + begin:end + stop], types[entry["dtype"]]).reshape(
            entry["shape"])
        at = stop
    assert end % 64 == 0 and end + at == len(data)
    return metadata, arrays


class Rotations(unittest.TestCase):
    def test_a_rotation_and_its_inverse_are_those_of_complex_numbers(self):
        random = numpy.random.default_rng(1)
        vectors = random.normal(size=(3, 50, 12)).astype(numpy.float32)
        cos, sin = tables(plain(10000, 8), 50, 1.5)
        rotate = (cos + 1j * sin).astype(numpy.complex128)
        for layout, first, second in (("half", slice(0, 4), slice(4, 8)),
                                      ("interleaved", slice(0, 8, 2), slice(1, 8, 2))):
            rotated = (vectors[..., first] + 1j * vectors[..., second]) * rotate
            got = record.rotate(vectors, cos, sin, layout)
            numpy.testing.assert_allclose(got[..., first], rotated.real, atol=1e-6)
            numpy.testing.assert_allclose(got[..., second], rotated.imag, atol=1e-6)
            numpy.testing.assert_array_equal(got[..., 8:], vectors[..., 8:])
            numpy.testing.assert_array_equal(
                record.rotate(vectors, twice(cos, layout), twice(sin, layout), layout), got)
            numpy.testing.assert_allclose(record.unrotate(got, cos, sin, layout), vectors, atol=1e-6)

    def test_a_base_is_found_in_the_tables(self):
        for theta in (10000.0, 500000.0, 1e6, 12345.678):
            found = record.rotation_of(*tables(plain(theta, 64), 3000), 64)
            self.assertEqual((found.layout, found.dims, found.scale), ("half", 64, 1.0))
            self.assertAlmostEqual(found.theta / theta, 1, places=5)
        # Of the types in which models keep tables.
        half = record.rotation_of(*tables(plain(500000.0, 64), 3000, dtype=numpy.float16), 64,
                                  epsilon=2.0 ** -11)
        self.assertEqual(half.theta, 500000.0)

    def test_a_base_of_the_configuration_is_taken_as_it_is(self):
        found = record.rotation_of(*tables(plain(12345.678, 64), 500), 64, among=[10000.0, 12345.678])
        self.assertEqual(found.theta, 12345.678)

    def test_other_frequencies_and_scales_are_found(self):
        frequencies = plain(10000, 64)
        frequencies[20:] /= 8
        found = record.rotation_of(*tables(frequencies, 4000, 1.2), 64)
        self.assertIsNone(found.theta)
        self.assertAlmostEqual(found.scale, 1.2, places=6)
        numpy.testing.assert_allclose(found.frequencies, frequencies, rtol=1e-6)

    def test_tables_of_other_positions_are_no_rotation(self):
        cos, sin = tables(plain(10000, 16), 40)
        self.assertIsNone(record.rotation_of(cos[::-1], sin[::-1], 16))
        self.assertIsNone(record.rotation_of(numpy.roll(cos, 3, 0), numpy.roll(sin, 3, 0), 16))
        late = numpy.concatenate([cos[:20], tables(plain(20000, 16), 40)[0][20:]])
        self.assertIsNone(record.rotation_of(late, sin, 16))

    def test_wrong_tables_are_refused(self):
        cos, sin = tables(plain(10000, 16), 40)
        vectors = numpy.ones((2, 40, 16), numpy.float32)
        for arguments, sentence in (
                ((vectors, cos[:39], sin[:39]), "39 rows; expected one for each of the 40 tokens"),
                ((vectors[..., :8], cos, sin), "rotate 16 dimensions; expected at most the 8"),
                ((vectors, cos, sin[:, :4]), "expected one shape"),
                ((vectors, cos * 0, sin * 0), "both 0"),
                ((vectors, cos[0], sin[0]), r"cos has the shape \[8\]"),
                ((vectors, cos * numpy.nan, sin), "not finite"),
                ((vectors, cos, sin, "pairs"), "layout is 'pairs'")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                record.unrotate(*arguments)


class Rows(unittest.TestCase):
    def test_rows_are_those_of_their_definition(self):
        random = numpy.random.default_rng(2)
        q, k = random.normal(size=(4, 9, 8)), random.normal(size=(2, 9, 8))
        sinks, slopes = [0.5, -1, 2, 0], [0.1, 0.2, 0, 0.4]
        rows = record.attention_rows(q, k, scale=0.7, window=4, soft_cap=3, sinks=sinks, slopes=slopes)
        for head in range(4):
            for i in range(9):
                weights = {j: numpy.exp(3 * numpy.tanh(0.7 * (q[head, i] @ k[head // 2, j]) / 3)
                                        - slopes[head] * (i - j)) for j in range(max(0, i - 3), i + 1)}
                total = sum(weights.values()) + numpy.exp(sinks[head])
                for j in range(9):
                    self.assertAlmostEqual(rows[head, i, j], weights.get(j, 0) / total, places=6)

    def test_large_logits_do_not_overflow(self):
        q = numpy.full((1, 3, 2), 1000.0)
        rows = record.attention_rows(q, q)
        numpy.testing.assert_allclose(rows.sum(axis=2), 1, atol=1e-6)

    def test_sampled_queries_are_rows_of_all(self):
        random = numpy.random.default_rng(2)
        q, k = random.normal(size=(2, 9, 8)), random.normal(size=(2, 9, 8))
        numpy.testing.assert_array_equal(
            record.attention_rows(q[:, [2, 7]], k, positions=[2, 7]),
            record.attention_rows(q, k)[:, [2, 7]])


class Words(unittest.TestCase):
    def test_words_join_to_the_decoded_text(self):
        ids = [3, 5, 5, 63]
        self.assertEqual(record.words_of(like.Tokenizer(), ids), ["w3 ", "w5 ", "w5 ", "w63 "])

    def test_a_character_of_several_tokens_belongs_to_the_last(self):
        class Bytes:
            def decode(self, ids, **_):
                return bytes(ids).decode(errors="replace")

        text = "a\u20acb\U0001f600c"
        words = record.words_of(Bytes(), text.encode())
        self.assertEqual(words, ["a", "", "", "\u20ac", "b", "", "", "", "\U0001f600", "c"])
        self.assertEqual(record.words_of(Bytes(), b"a\xe2\x82"), ["a", "", "\ufffd"])
        self.assertEqual("".join(record.words_of(Bytes(), b"\xff\xff\xff\xff\xffz")),
                         "\ufffd" * 5 + "z")

    def test_blanks_that_are_dropped_at_the_beginning_remain_within(self):
        class Pieces:
            words = ["\u2581the", "\u2581cat", "s"]

            def decode(self, ids, **_):
                return "".join(self.words[i] for i in ids).replace("\u2581", " ").lstrip(" ")

        self.assertEqual(record.words_of(Pieces(), [0, 1, 2] * 9), ["the", " cat", "s"] +
                         [" the", " cat", "s"] * 8)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name + "/t.safetensors"
        self.addCleanup(self.folder.cleanup)


class Files(Folder):
    def layer(self, number=0, heads=4, tokens=40, dim=8, **rules):
        random = numpy.random.default_rng(number)
        q, k, v = (random.normal(size=(count, tokens, dim)).astype(numpy.float32)
                   for count in (heads, 2, 2))
        return record.Layer(number, queries=q, keys=k, values=v, **rules)

    def test_arrays_arrive(self):
        layers = [self.layer(0), self.layer(7)]
        words = ["Ein", " \u00d6l", "", ","] * 10
        for storage, atol in (("f32", 0), ("f16", 2e-3), ("bf16", 2e-2)):
            record.write_trace(self.path, layers, words=words, token_ids=range(40), storage=storage,
                               losses=numpy.arange(40) / 4, model="toy", licence="none")
            trace = kvcheck.open_trace(self.path)
            self.assertEqual((trace.kind, trace.layers, trace.query_heads, trace.kv_heads, trace.head_dim),
                             ("qkv", [0, 7], 4, 2, 8))
            self.assertEqual((trace.words, trace.model), (words, "toy"))
            numpy.testing.assert_array_equal(trace.token_ids, numpy.arange(40))
            for index, layer in enumerate(layers):
                for got, given in ((trace.queries(index), layer.queries),
                                   (trace.keys(index), layer.keys),
                                   (trace.values(index), layer.values)):
                    numpy.testing.assert_allclose(got, given, rtol=0, atol=atol)
            self.assertEqual(kvcheck.run("trace", "verify", self.path).status, 0)

    def test_rows_arrive(self):
        random = numpy.random.default_rng(1)
        rows = record.attention_rows(random.normal(size=(4, 20, 8)), random.normal(size=(4, 20, 8)))
        record.write_trace(self.path, [record.Layer(3, attention=rows)], kv_heads=2)
        trace = kvcheck.open_trace(self.path)
        self.assertEqual((trace.kind, trace.layers, trace.kv_heads), ("attention", [3], 2))
        numpy.testing.assert_array_equal(trace.attention(), rows.astype(numpy.float16))

    def test_a_rotation_is_applied_by_a_replay(self):
        # Rows that are computed here, and rows that the replay computes.
        for layout in ("half", "interleaved"):
            layer = self.layer(rotation=record.Rotation(layout, 6, 1.0, 500.0, None))
            record.write_trace(self.path, [layer], storage="f32")
            cos, sin = layer.rotation.tables(40)
            rows = record.attention_rows(*(record.rotate(x, cos, sin, layout)
                                           for x in (layer.queries, layer.keys)))
            self.same_replay(kvcheck.open_trace(self.path), kvcheck.attention(rows, kv_heads=2))

    def same_replay(self, one, other, policies=("window", "streaming:sinks=2", "h2o", "tova")):
        kept = [kvcheck.replay(trace, list(policies), budgets=[12, 24]).cells["retained_mass"]
                for trace in (one, other)]
        numpy.testing.assert_allclose(kept[0], kept[1], rtol=0, atol=2e-6)

    def test_a_file_says_what_the_layers_do(self):
        # Read by the container's definition alone, so that a mistake of the writer has no twin.
        plain = record.Rotation("half", 6, 1.0, 500.0, None)
        table = record.Rotation("half", 6, 1.25, None, numpy.array([1, 0.1, 0.001]))
        for layers, options, version, expected in (
                ([{}], {}, "1", {"rope_layout": "none"}),
                ([{"rotation": plain}, {"rotation": plain}], {}, "1",
                 {"rope_layout": "half", "rope_dims": "6", "rope_theta": "500.0"}),
                ([{"rotation": plain}, {}], {}, "2", {"rope_layout": "half,none"}),
                ([{"rotation": table}, {"rotation": plain}], {}, "2",
                 {"rope_scale": "1.25,1.0", "layers.0.frequencies": [1, 0.1, 0.001],
                  "rope_theta": "500.0"}),
                ([{"rotation": plain}], {"rope_applied": True}, "2", {"rope_applied": "yes"}),
                ([{"window": 40, "scale": 8 ** -0.5}], {}, "1", {}),
                ([{"window": 39}, {}], {}, "2", {"window": "39,none"}),
                ([{"window": 7}, {"window": 7}], {}, "2", {"window": "7"}),
                ([{"scale": 0.5}], {}, "2", {"attention_scale": "0.5"}),
                ([{"soft_cap": 50}, {}], {}, "2", {"soft_cap": "50.0,none"}),
                ([{"sinks": [1, 2, 3, 4]}], {}, "2", {"layers.0.sinks": [1, 2, 3, 4]}),
                ([{}, {"slopes": [1, 2, 3, 4]}], {}, "2", {"layers.1.slopes": [1, 2, 3, 4]})):
            made = [self.layer(number, **rules) for number, rules in enumerate(layers)]
            record.write_trace(self.path, made, **options)
            metadata, arrays = _contents(self.path)
            self.assertEqual(metadata["version"], version, layers)
            if version == "1":
                self.assertEqual({"window", "attention_scale"} & set(metadata), set())
                self.assertEqual(kvcheck.open_trace(self.path).head_dim, 8)
            for name, value in expected.items():
                got = metadata[name] if name in metadata else arrays[name].tolist()
                self.assertEqual(got, value)

    def test_sampled_queries_are_written(self):
        layer = self.layer()
        some = record.Layer(0, queries=layer.queries[:, [3, 30]], keys=layer.keys, values=layer.values)
        record.write_trace(self.path, [some], queries=[3, 30], kv_head_numbers=[1, 5], storage="f32")
        metadata, arrays = _contents(self.path)
        self.assertEqual((metadata["version"], metadata["kv_head_numbers"]), ("2", "1,5"))
        self.assertEqual(arrays["queries"].tolist(), [3, 30])
        numpy.testing.assert_array_equal(arrays["layers.0.q"], some.queries)
        numpy.testing.assert_array_equal(arrays["layers.0.k"], some.keys)

    def test_wrong_arrays_are_refused(self):
        good = self.layer()

        def but(**changes):
            return record.Layer(**{**vars(good), **changes})

        huge = good.values.copy()
        huge[0, 0, 0] = 70000
        rows = numpy.full((2, 3, 3), 1 / 3, numpy.float32)
        causal = record.attention_rows(numpy.zeros((2, 3, 4)), numpy.zeros((2, 3, 4)))
        for layers, options, sentence in (
                ([], {}, "the layers have the numbers"),
                ([good, good], {}, "expected increasing ones"),
                ([but(keys=good.keys[:, :9])], {}, "values of layer 0 have the shape"),
                ([but(keys=good.keys[0])], {}, "expected three sizes"),
                ([but(keys=None)], {}, "keys of layer 0 have the shape"),
                ([but(queries=good.queries[:3])], {}, "3 query heads share 2 kv-heads"),
                ([but(values=huge)], {}, "reach 7e.04, which float16 cannot hold"),
                ([but(values=huge * numpy.nan)], {}, "not finite"),
                ([but(keys=good.keys.astype(int))], {}, "dtype int64"),
                ([good, self.layer(1, dim=6)], {}, "of layer 1 have the shape"),
                ([but(queries=good.queries[:, :5])], {}, "expected their positions in `queries`"),
                ([but(queries=good.queries[:, :3])], {"queries": [1, 1, 2]}, "3 increasing ones below 40"),
                ([but(queries=good.queries[:, :2])], {"queries": [1, 40]}, "increasing ones below 40"),
                ([but(sinks=[1, 2])], {}, "a finite number for each of the 4 query heads"),
                ([but(window=0)], {}, "a window is below 1"),
                ([good], {"rope_applied": True}, "no layer has a rotation"),
                ([good], {"words": ["a"]}, "1 words; expected one for each of the 40 tokens"),
                ([good], {"token_ids": [-1] * 40}, "token_ids has -1; expected a whole number from 0"),
                ([good], {"losses": [numpy.nan] * 40}, "a loss is not"),
                ([good], {"storage": "f8"}, "storage is 'f8'"),
                ([record.Layer(0, attention=rows)], {}, "of a key after its query"),
                ([record.Layer(0, attention=causal * 0.9)], {}, "head 0, query 0 sums to 0.9"),
                ([record.Layer(0, attention=causal)], {"kv_heads": 3}, "expected a divisor"),
                ([but(rotation=record.Rotation("half", 6, 1, 9.0, None)),
                  self.layer(1, rotation=record.Rotation("half", 4, 1, 9.0, None))], {},
                 "rotations differ in dims")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                record.write_trace(self.path, layers, **options)
            self.assertEqual(os.listdir(self.folder.name), [])
        with self.assertRaisesRegex(kvcheck.Error, "cannot write '/nowhere/t': No such file"):
            record.write_trace("/nowhere/t", [good])

    def test_links_remain_and_what_is_no_file_is_not_replaced(self):
        layers = [self.layer(0)]
        link, pipe = self.folder.name + "/link", self.folder.name + "/pipe"
        record.write_trace(self.path, layers)
        os.chmod(self.path, 0o640)
        os.symlink(os.path.basename(self.path), link)
        record.write_trace(link, layers, words=["w"] * 40)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)
        self.assertEqual(kvcheck.open_trace(self.path).words[0], "w")
        os.mkfifo(pipe)
        for path, what in ((pipe, "not a regular file"), (self.folder.name, "a directory")):
            with self.assertRaisesRegex(kvcheck.Error, "^cannot write '%s': it is %s$" % (path, what)):
                record.write_trace(path, layers)
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))

    def test_it_needs_the_sources_and_numpy_only(self):
        code = ("from kvcheck import record; import numpy; x = numpy.ones((1, 3, 4)); "
                "record.write_trace(%r, [record.Layer(0, queries=x, keys=x, values=x)])" % self.path)
        subprocess.run([sys.executable, "-B", "-c", code], check=True,
                       env=dict(os.environ, PYTHONPATH=SOURCE + "/python"))
        self.assertEqual(kvcheck.open_trace(self.path).tokens, 3)


class Models(Folder):
    """With arrays of NumPy; TorchModels has the same with tensors."""

    decoder = like.Decoder if hasattr(like, "Decoder") else None
    atol = 2e-5

    def recorded(self, config, text=TEXT, **options):
        model = self.decoder(config)
        rows = {}
        recorder = record.record_text(model, like.Tokenizer(), text, self.path, storage="f32",
                                      functions=like.FUNCTIONS, **options)
        for layer in model.layers:
            rows[layer.layer_idx] = numpy.asarray(layer.last_rows, numpy.float32)
        return recorder, rows

    def expect_rows_of_the_model(self, recorder, rows):
        """The rows that follow from what was recorded are those that the model computed."""
        for layer in recorder.layers():
            q, k = layer.queries, layer.keys
            if layer.rotation is not None:
                cos, sin = layer.rotation.tables(k.shape[1])
                q, k = (record.rotate(x, cos, sin, layer.rotation.layout) for x in (q, k))
            got = record.attention_rows(q, k, scale=layer.scale, window=layer.window, sinks=layer.sinks,
                                        soft_cap=layer.soft_cap)
            numpy.testing.assert_allclose(got, rows[layer.number], rtol=0, atol=self.atol)

    def test_a_plain_rotation_is_taken_back(self):
        for config in (like.Config(), like.Config(norm=True), like.Config(fused=True),
                       like.Config(layout="interleaved"), like.Config(rope_dims=8, theta=500000.0),
                       like.Config(twice=False), like.Config(twice=False, layout="interleaved"),
                       like.Config(heads=4, kv_heads=4), like.Config(heads=4, kv_heads=1)):
            recorder, rows = self.recorded(config)
            self.expect_rows_of_the_model(recorder, rows)
            self.assertEqual(recorder.unchecked, [])
            rotation = recorder.layers()[0].rotation
            self.assertEqual((rotation.theta, rotation.layout, rotation.dims),
                             (config.rope_theta, config.layout, config.rope_dims))
            trace = kvcheck.open_trace(self.path)
            self.assertEqual((trace.query_heads, trace.kv_heads, trace.layers, trace.model),
                             (config.heads, config.kv_heads, [0, 1], "like/attention"))
            self.assertEqual("".join(trace.words), TEXT + " ")
            self.same_replay(trace, rows, config.kv_heads)

    def same_replay(self, trace, rows, kv_heads):
        """A replay of the file has the numbers of a replay of the model's own rows."""
        own = numpy.stack([rows[layer] for layer in trace.layers])
        own /= own.sum(axis=3, keepdims=True)
        given = kvcheck.attention(own, kv_heads=kv_heads, layers=trace.layers)
        kept = [kvcheck.replay(one, ["window", "tova"], budgets=[12, 24]).cells["retained_mass"]
                for one in (trace, given)]
        numpy.testing.assert_allclose(kept[0], kept[1], rtol=0, atol=10 * self.atol)

    def test_layers_that_do_not_rotate_are_known_from_their_projections(self):
        recorder, rows = self.recorded(like.Config(rules=[{"rotates": False}, {}]))
        self.assertEqual([layer.rotation is None for layer in recorder.layers()], [True, False])
        self.expect_rows_of_the_model(recorder, rows)

    def test_windows_sinks_caps_and_scales_are_recorded(self):
        config = like.Config(scaling=0.4, layers=3, rules=[
            {"window": 20}, {"sinks": [0.5, -1, 2, 0]}, {"soft_cap": 4.0}])
        recorder, rows = self.recorded(config)
        layers = recorder.layers()
        self.assertEqual([layer.window for layer in layers], [20, None, None])
        self.assertEqual([layer.soft_cap for layer in layers], [None, None, 4.0])
        numpy.testing.assert_array_equal(layers[1].sinks, [0.5, -1, 2, 0])
        self.assertAlmostEqual(layers[0].scale, 0.4)
        self.expect_rows_of_the_model(recorder, rows)

    def test_layers_and_heads_are_selected(self):
        _, rows = self.recorded(like.Config(layers=4, heads=6, kv_heads=3), layers=[1, 3],
                                kv_heads=[0, 2])
        trace = kvcheck.open_trace(self.path)
        self.assertEqual((trace.layers, trace.query_heads, trace.kv_heads), ([1, 3], 4, 2))
        selected = {layer: rows[layer][[0, 1, 4, 5]] for layer in (1, 3)}
        self.same_replay(trace, selected, 2)

    def test_as_given_are_the_vectors_of_the_attention(self):
        config = like.Config()
        recorder = record.Recorder(self.decoder(config), rotation="as-given", functions=like.FUNCTIONS)
        with recorder:
            recorder.model(numpy.arange(30)[None])
        layer = recorder.layers()[1]
        rows = numpy.asarray(recorder.model.layers[1].last_rows, numpy.float32)
        self.assertEqual(layer.rotation.theta, 10000.0)
        numpy.testing.assert_allclose(record.attention_rows(layer.queries, layer.keys), rows, rtol=0,
                                      atol=self.atol)

    def test_rows_of_attention_are_recorded(self):
        _, rows = self.recorded(like.Config(scaling=0.3, rules=[{"window": 9}, {"soft_cap": 2.0}]),
                                kind="attention")
        trace = kvcheck.open_trace(self.path)
        self.assertEqual((trace.kind, trace.kv_heads), ("attention", 2))
        for index in (0, 1):
            numpy.testing.assert_allclose(trace.attention(index), rows[index], rtol=0, atol=self.atol)

    def test_a_generation_is_recorded_like_one_pass(self):
        config = like.Config(rules=[{}, {"window": 10}], implementation="sdpa")
        ids = numpy.random.default_rng(5).integers(0, 64, 40)
        whole = record.Recorder(self.decoder(config), functions=like.FUNCTIONS)
        with whole:
            whole.model(ids[None])
        for steps in ([1] * 40, [16] + [1] * 24, [13, 13, 14]):
            parts = record.Recorder(self.decoder(config), functions=like.FUNCTIONS)
            cache, at = {}, 0
            with parts:
                for count in steps:
                    parts.model(ids[None, at:at + count], cache=cache, first=at)
                    at += count
            for one, other in zip(whole.layers(), parts.layers()):
                self.assertEqual(one.window, other.window)
                for name in ("queries", "keys", "values"):
                    numpy.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0,
                                                  atol=20 * self.atol)

    def test_wrong_numbers_are_named(self):
        vectors = numpy.ones((1, 2, 4))
        for call, sentence in (
                (lambda: record.losses_of(numpy.zeros((3, 5)), [0, 1, 7]), "^ids has 7; expected numbers below"),
                (lambda: record.attention_rows(vectors, vectors, positions=[-1, 2]), "^positions has -1"),
                (lambda: record.rotation_of(numpy.zeros((0, 4)), numpy.zeros((0, 4)), 8), r"shape \[0, 4\]")):
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                call()

    def test_losses_are_those_of_the_logits(self):
        logits = numpy.log([[0.1, 0.9], [0.5, 0.5], [0.25, 0.75]]) + 7
        numpy.testing.assert_allclose(record.losses_of(logits, [0, 1, 0]),
                                      [0, -numpy.log(0.9), -numpy.log(0.5)], rtol=1e-6)

    def test_the_model_is_left_as_it_was(self):
        model = self.decoder(like.Config(implementation="sdpa"))
        eager, table = like.eager_attention_forward, dict(like.FUNCTIONS)
        before = [sorted(vars(module)) for module in model.modules()]
        expected = numpy.asarray(model(numpy.arange(9)[None]).logits)
        recorder = record.Recorder(model, functions=like.FUNCTIONS)
        with self.assertRaises(KeyboardInterrupt), recorder:
            got = numpy.asarray(model(numpy.arange(9)[None]).logits)
            raise KeyboardInterrupt
        numpy.testing.assert_array_equal(got, expected)
        self.assertIs(like.eager_attention_forward, eager)
        self.assertEqual(like.FUNCTIONS, table)
        after = [sorted(set(vars(module)) - {"last_rows"}) for module in model.modules()]
        self.assertEqual(after, [[name for name in names if name != "last_rows"] for names in before])
        model(numpy.arange(9)[None])
        self.assertEqual(recorder.layers()[0].keys.shape[1], 9)

    def test_other_models_are_not_recorded(self):
        recorder = record.Recorder(self.decoder(like.Config()), functions=like.FUNCTIONS)
        with recorder:
            recorder.model(numpy.arange(9)[None])
            self.decoder(like.Config())(numpy.arange(30)[None])
        self.assertEqual(recorder.layers()[0].keys.shape[1], 9)

    def test_wrong_calls_are_refused(self):
        def expect(sentence, call, config=None, **options):
            model = self.decoder(config or like.Config())
            with self.assertRaisesRegex(kvcheck.Error, sentence):
                recorder = record.Recorder(model, functions=like.FUNCTIONS, **options)
                with recorder:
                    call(recorder)
                recorder.save(self.path)
            self.assertEqual(os.listdir(self.folder.name), [])

        def run(recorder):
            recorder.model(numpy.arange(9)[None])

        expect("nothing was recorded of any layer", lambda recorder: None)
        expect("nothing was recorded of layer 5", run, layers=[0, 5])
        expect("expected numbers below the 2 of layer 0", run, kv_heads=[2])
        expect("none of the 9 tokens is in `queries`", run, queries=[20])
        expect("expected 'taken-back' or 'as-given'", run, rotation="back")
        expect("layers is \\[\\]; expected one or more", run, layers=[])
        expect("is 'flash', which its table of functions lacks", run, like.Config(implementation="flash"))

        class Elsewhere(like.Config):
            def tables(self, first, count):
                return super().tables(first + 5, count)

        expect("rotated by angles that do not grow with the position", run, Elsewhere())

        def padded(recorder):
            attention = recorder.model.layers[0]
            mask = numpy.zeros((1, 1, 9, 9))
            mask[:] = like._mask(None, 0, 9)
            mask[..., 0] = -1e9
            attention(recorder.model.embedding[numpy.arange(9)][None],
                      position_embeddings=recorder.model.tables(0, 9),
                      attention_mask=[recorder.model.make(mask)])

        expect("query at position 0 not see the key at position 0; expected a causal mask", padded)

        def batch(recorder):
            x = recorder.model.embedding[numpy.arange(18)].reshape(2, 9, -1)
            recorder.model.layers[0](x, position_embeddings=recorder.model.tables(0, 9),
                                     attention_mask=[recorder.model.make(like._mask(None, 0, 9))])

        expect("of one sequence", batch)

        def preallocated(recorder):
            run(recorder)
            memory = tuple(recorder.model.make(numpy.zeros((1, 2, 30, 16))) for _ in "kv")
            recorder.model(numpy.arange(3)[None], cache={0: memory, 1: memory}, first=30)

        expect("layer 0 attends to 33 keys after 12 tokens; expected a cache that holds tokens only",
               preallocated)

    def test_a_model_without_the_interface_is_refused(self):
        with self.assertRaisesRegex(kvcheck.Error, "no module with a layer_idx"):
            record.Recorder(like.Plain(), functions={})


@unittest.skipIf(like.torch is None, "torch is not installed here (Debian: python3-torch)")
class TorchModels(Models):
    decoder = getattr(like, "TorchDecoder", None)

    def test_bfloat16_is_recorded(self):
        model = self.decoder(like.Config(norm=True), like.torch.bfloat16)
        recorder = record.record_text(model, like.Tokenizer(), TEXT, self.path, storage="bf16",
                                      functions=like.FUNCTIONS)
        rotation = recorder.layers()[0].rotation
        self.assertEqual((rotation.theta, rotation.layout, recorder.unchecked), (10000.0, "half", []))
        self.assertEqual(kvcheck.run("trace", "verify", self.path).status, 0)


if __name__ == "__main__":
    unittest.main()
