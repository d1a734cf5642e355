"""Rows with tags, and caches of tensors under the laws."""

import unittest

import numpy

from checks import Checks
from kvcheck.arrays import Arrays, array_of
from kvcheck.serving import IDS_PER_VARIANT, Refused
from kvcheck.tags import Tags

SIZES = [16, 18, 20, 22, 24, 32, 64, 80, 128]


class Rows(unittest.TestCase):
    def setUp(self):
        draws = numpy.random.default_rng(7)
        self.tokens = [int(variant) * IDS_PER_VARIANT + int(position) for variant, position in zip(
            draws.integers(0, 256, 100), draws.integers(0, 9900, 100))]
        self.positions = [[token % IDS_PER_VARIANT for token in self.tokens]] * 2

    def test_every_row_is_recognised_in_every_type(self):
        for size in SIZES:
            for dtype in ("f32", "f16", "bf16"):
                tags = Tags(size, interleaved=size % 32 == 0)
                rounded = Arrays("numpy", dtype).floats
                marks = tags.tags(self.tokens, 3, 2, 4)
                keys = array_of(rounded(tags.keys(marks, self.positions))).reshape(-1, size)
                values = array_of(rounded(tags.values(marks))).reshape(-1, size)
                expected = [(token, [sequence, layer, head]) for layer in range(2)
                            for sequence in range(3) for head in range(4) for token in self.tokens]
                self.assertEqual(tags.read_values(values), expected)
                readings = tags.read_keys(keys)
                self.assertEqual([reading[:3] for reading in readings],
                                 [(*one, one[0] % IDS_PER_VARIANT) for one in expected])
                self.assertLess(max(reading[3] for reading in readings),
                                {"f32": 1e-7, "f16": 5e-4, "bf16": 4e-3}[dtype])

    def test_any_other_number_in_a_row_is_noticed(self):
        tags = Tags(64)
        marks = tags.tags([5], 1, 1, 1)
        key, value = tags.keys(marks, [[5]])[0, 0, 0, 0], tags.values(marks)[0, 0, 0, 0]
        for at in range(64):
            for row, read in ((key, tags.read_keys), (value, tags.read_values)):
                self.assertEqual(read(row[None])[0][0], 5)
                for wrong in (row[at] + 1.7, 0.0, numpy.nan, numpy.inf):
                    if abs(row[at] - wrong) < 0.6:
                        continue  # no more than rounding does
                    changed = row.copy()
                    changed[at] = wrong
                    token = read(changed[None])[0]
                    self.assertTrue(token[0] == -1 or (row is key and token[3] > 0.01), (at, wrong))

    def test_rows_made_of_two_tokens_belong_to_none(self):
        self.mixed(Tags(64))
        self.mixed(Tags(24, 12))  # no digit is there twice, so the check bits alone tell

    def mixed(self, tags):
        rows = tags.values(tags.tags(range(200), 1, 1, 1))[0, 0, 0]
        for cut in range(1, tags.value_dim):
            mixed = numpy.concatenate([rows[:-1, :cut], rows[1:, cut:]], 1)
            # Neighbours have many digits in common, so a cut may leave one of them whole.
            whole = {position for position in range(199)
                     if (mixed[position] == rows[position]).all()
                     or (mixed[position] == rows[position + 1]).all()}
            read = [token for position, (token, _) in enumerate(tags.read_values(mixed))
                    if position not in whole]
            self.assertLessEqual(sum(token != -1 for token in read), 1, cut)

    def test_a_rotated_row_has_its_position(self):
        tags = Tags(32, theta=500000.0)
        for at in (0, 1, 63, 4000, 9000, 0.5):
            key = tags.keys(tags.tags([12], 1, 1, 1), [[at]])[0, 0, 0]
            self.assertEqual(tags.read_keys(key)[0][2], at if at != 0.5 else
                             tags.read_keys(key)[0][2])
            self.assertAlmostEqual(tags.read_keys(key)[0][2], at, 4)

    def test_limits_are_sentences(self):
        for size in (0, 14, 17, -2, 2.0):
            with self.assertRaisesRegex(ValueError, "head_dim is .*even number of at least 16"):
                Tags(size)
        with self.assertRaisesRegex(ValueError, "value_dim is 6"):
            Tags(64, 6)
        with self.assertRaisesRegex(ValueError, "theta is 1"):
            Tags(64, theta=1)
        with self.assertRaisesRegex(Refused, "room for 16"):
            Tags(64).tags([0], 17, 1, 1)
        with self.assertRaisesRegex(ValueError, "dtype is 'f8'"):
            Arrays("numpy", "f8")
        with self.assertRaisesRegex(ValueError, "arrays is 'jax'"):
            Arrays("jax")

    def test_tensors_of_other_libraries(self):
        class Tensor:
            """What torch calls a tensor, on a device and in a type that NumPy lacks."""
            dtype, steps = "torch.bfloat16", ()

            def __getattr__(self, name):
                if name in ("detach", "cpu", "float"):
                    return lambda: self._after(name)
                raise AttributeError(name)

            def _after(self, name):
                other = Tensor()
                other.steps = (*self.steps, name)
                return other

            def __array__(self, dtype=None):
                if self.steps != ("detach", "cpu", "float"):
                    raise TypeError("it is on a device")
                return numpy.ones(3, numpy.float32)

        self.assertEqual(array_of(Tensor()).tolist(), [1, 1, 1])
        self.assertEqual(array_of([[1.5]]).dtype, numpy.float32)
        self.assertEqual(array_of(numpy.ones(2, bool)).dtype, bool)


class Served(Checks):
    def served(self, *words):
        return "python served_tensors.py " + " ".join(words)

    def test_head_dim_64_in_f16_with_equal_sizes(self):
        self.holds(self.served("SinkWindow"), tried=40)

    def test_bf16_and_masks_that_are_added(self):
        self.holds(self.served("Additive", "dtype=bf16", "head_dim=80"), tried=40)

    def test_half_of_a_row_is_of_another_token(self):
        self.breaks("row.pairing", self.served("HalfCopied"))

    def test_a_fork_that_shares_memory(self):
        self.breaks("operation.fork", self.served("SharedFork"))

    def test_attention_reaches_the_cache(self):
        self.holds(self.served("Tova", "dtype=f32"), "--filter", "reference.*", "--filter", "attention.*", tried=3)
        self.breaks("reference.model", self.served("TovaOfOneHead", "dtype=f32"))

    def test_keys_rotated_by_the_cache(self):
        self.holds(self.served("Rotates", "dtype=f32"), "--filter", "position.*", tried=3)
        self.breaks("position.distance", self.served("RotatesSinksTwice", "dtype=f32"))


if __name__ == "__main__":
    unittest.main()
