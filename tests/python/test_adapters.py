"""The adapters of frameworks, tried on classes with the same methods: the frameworks are not here."""

import os
import tempfile
import unittest

from checks import Checks, run

NUMPY = ("--arrays", "numpy")


class Transformers(Checks):
    def test_right_caches(self):
        self.holds("transformers:like_transformers:Cache", *NUMPY, "--dtype", "f16", tried=20)
        self.holds("transformers:like_transformers:LaterCache", *NUMPY, "--windows", tried=40)

    def test_layers_that_slide_beside_layers_that_do_not(self):
        self.holds("transformers:like_transformers:Cache", *NUMPY, "--windows", "--budgets", "6,0",
                   "--dtype", "bf16", tried=40)

    def test_memory_of_a_fixed_length(self):
        self.holds("transformers:like_transformers:PreallocatedCache", *NUMPY, tried=20)
        self.holds("transformers:like_transformers:SequencesCache", *NUMPY, "--filter",
                   "operation.*", tried=5)

    def test_crop_that_leaves_the_sequence_length(self):
        self.breaks("position.after-rollback", "transformers:like_transformers:CropLeavesLength", *NUMPY)

    def test_a_sliding_layer_that_keeps_one_row_too_many(self):
        self.breaks("size.stored", "transformers:like_transformers:OneRowTooMany", *NUMPY, "--windows")

    def test_a_mask_for_fewer_rows(self):
        self.breaks("survives", "transformers:like_transformers:MaskOneShort", *NUMPY)

    def test_reorder_that_shares_memory(self):
        self.breaks("row.place", "transformers:like_transformers:SharedRows", *NUMPY)

    def test_reorder_that_forgets_the_values(self):
        self.breaks("row.place", "transformers:like_transformers:ReorderForgetsValues", *NUMPY)

    def test_reset_that_leaves_rows(self):
        self.breaks("operation.reset", "transformers:like_transformers:ResetLeavesRows", *NUMPY)


class Mlx(Checks):
    def test_right_caches(self):
        self.holds("mlx:like_mlx:KVCache", *NUMPY, "--dtype", "bf16", tried=20)
        self.holds("mlx:like_mlx:RotatingKVCache", *NUMPY, tried=40)

    def test_a_ring_whose_order_is_wrong_after_the_wrap(self):
        self.breaks("visible.recent", "mlx:like_mlx:OrderAfterWrap", *NUMPY)

    def test_trim_of_rows_that_are_gone(self):
        self.breaks("operation.truncate", "mlx:like_mlx:TrimBeyondWindow", *NUMPY)

    def test_a_saved_state_without_its_offset(self):
        self.breaks("operation.snapshot", "mlx:like_mlx:MetaLosesOffset", *NUMPY)

    def test_trim_that_leaves_the_offset(self):
        self.breaks("position.after-rollback", "mlx:like_mlx:TrimLeavesOffset", *NUMPY)


class Kvpress(Checks):
    def test_right_presses(self):
        self.holds("kvpress:like_kvpress:KnormPress", *NUMPY, "--dtype", "f16", tried=20)
        self.holds("kvpress:like_kvpress:both", *NUMPY, "--filter", "size.*", "--filter", "row.*",
                   "--filter", "isolation.*", tried=12)
        self.holds("kvpress:like_kvpress:CompressOnly", *NUMPY, "--filter", "row.*", tried=4)

    def test_weights_reach_a_press(self):
        self.holds("kvpress:like_kvpress:ObservedPress", *NUMPY, "--wants-attention", "--filter",
                   "size.*", "--filter", "row.*", tried=6)

    def test_values_gathered_by_another_head(self):
        self.breaks("row.pairing", "kvpress:like_kvpress:ValuesOfHead0", *NUMPY)

    def test_a_row_too_few(self):
        self.breaks("size.full", "kvpress:like_kvpress:KeepsOneFewer", *NUMPY)

    def test_decoding_that_is_compressed_every_second_time(self):
        self.breaks("size.stored", "kvpress:like_kvpress:forgetful", *NUMPY)


class Blocks(Checks):
    def test_right_allocator(self):
        self.holds("blocks:like_blocks:BlockPool", tried=30)
        self.holds("blocks:like_blocks:BlockPool", "--budget", "0", "--filter", "operation.*", tried=3)

    def test_forks_that_are_not_counted(self):
        self.breaks("operation.fork", "blocks:like_blocks:ForkUncounted")
        self.breaks("operation.fork", "blocks:like_blocks:LastUncounted")

    def test_blocks_given_out_while_shared(self):
        self.breaks("operation.fork", "blocks:like_blocks:FreesShared")


class Mistakes(unittest.TestCase):
    def says(self, sentence, *words):
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, "^kvcheck check: " + sentence + "\n$")

    def test_each_is_one_sentence(self):
        self.says("transformers is not installed here; install it \\(pip install transformers\\), or "
                  "name a class of your own as transformers:MODULE:NAME", "transformers:DynamicCache")
        self.says("kvpress is not installed here; .*", "kvpress:KnormPress")
        self.says("mlx_lm is not installed here; .*pip install mlx-lm.*", "mlx:RotatingKVCache")
        self.says("vllm is not installed here; .*", "blocks:BlockPool")
        self.says("'nowhere' cannot be imported: there is no module 'nowhere' here",
                  "transformers:nowhere:Cache")
        self.says("module 'like_mlx' has no class or function 'KVCach'; did you mean 'KVCache'\\?",
                  "mlx:like_mlx:KVCach")
        self.says("--budget is 'many'; expected a number of tokens",
                  "mlx:like_mlx:KVCache", "--budget", "many")
        self.says("--budgets is '6,x'; expected numbers such as 16,0",
                  "mlx:like_mlx:KVCache", "--budgets", "6,x")
        self.says("--head-dim needs a value", "mlx:like_mlx:KVCache", "--head-dim")
        self.says("--head-dim is 'big'; expected a number", "mlx:like_mlx:KVCache", "--head-dim=big")
        self.says("--unordered takes no value; found 'yes'", "mlx:like_mlx:KVCache", "--unordered=yes")
        self.says("--arrays is 'jax'; expected torch, mlx or numpy",
                  "transformers:like_transformers:Cache", "--arrays", "jax")
        self.says("these caches take arrays of mlx, which is not installed here; .*",
                  "mlx:like_mlx:KVCache")
        self.says("head_dim is 7; expected an even number of at least 16, .*",
                  "mlx:like_mlx:KVCache", *NUMPY, "--head-dim", "7")
        self.says("--dtype is 'f8'; expected f32, f16 or bf16",
                  "mlx:like_mlx:KVCache", *NUMPY, "--dtype", "f8")
        self.says("--head-dim is for caches of tensors; these have none",
                  "blocks:like_blocks:BlockPool", "--head-dim", "64")
        self.says("causal needs the argument 'count', which no case has; .*",
                  "mlx:like_mlx:causal", *NUMPY)
        self.says(".*unknown timing 'lasy'; did you mean 'lazy'\\?\n.*",
                  "mlx:like_mlx:KVCache", *NUMPY, "--timing", "lasy")
        self.says("unknown option '--timming'.*", "mlx:like_mlx:KVCache", *NUMPY, "--timming", "lazy")

    def test_a_module_that_cannot_be_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "broken_module.py"), "w") as file:
                file.write("import no_such_framework\n")
            with open(os.path.join(folder, "raising_module.py"), "w") as file:
                file.write("raise RuntimeError('no licence\\nmore')\n")
            before = os.environ.get("PYTHONPATH", "")
            os.environ["PYTHONPATH"] = folder + os.pathsep + before
            try:
                self.says("'broken_module' cannot be imported: there is no module "
                          "'no_such_framework' here", "mlx:broken_module:A")
                self.says("'raising_module' cannot be imported: RuntimeError: no licence",
                          "mlx:raising_module:A")
            finally:
                os.environ["PYTHONPATH"] = before


if __name__ == "__main__":
    unittest.main()
