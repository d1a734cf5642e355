"""Arrays of the library of a cache's own, made and read."""

import numpy

DTYPES = ("f32", "f16", "bf16")


def array_of(tensor):
    """A NumPy array of what any library calls a tensor: of f32 if it holds real numbers, as NumPy has
    no bfloat16."""
    for step in ("detach", "cpu"):
        if hasattr(tensor, step):
            tensor = getattr(tensor, step)()
    if "bfloat16" in str(getattr(tensor, "dtype", "")):
        if hasattr(tensor, "float"):
            tensor = tensor.float()
        elif type(tensor).__module__.startswith("mlx"):
            import mlx.core
            tensor = tensor.astype(mlx.core.float32)
    array = numpy.asarray(tensor)
    return array if array.dtype.kind in "biu" else array.astype(numpy.float32, copy=False)


def unwritten(keys, values):
    """Which rows of [..., rows, dim] no one has written: memory that is 0 throughout."""
    return ~(keys.any(-1) | values.any(-1))


class Arrays:
    """Makes the arrays that a cache is given: "torch", "mlx" or "numpy" ones, or what a function of
    an array of f32 returns. NumPy's bf16 is f32 rounded to what a bfloat16 holds."""

    def __init__(self, kind="torch", dtype="f32", device=None):
        if dtype not in DTYPES:
            raise ValueError("dtype is %r; expected one of %s" % (dtype, ", ".join(DTYPES)))
        if device is not None and kind != "torch":
            raise ValueError("a device is named, but only torch has devices here")
        if callable(kind):
            self.floats, self.integers = kind, numpy.asarray
        elif kind == "numpy":
            self.floats = {"f32": numpy.array, "bf16": _rounded_to_bf16,
                           "f16": lambda array: array.astype(numpy.float16)}[dtype]
            self.integers = numpy.array
        elif kind == "torch":
            import torch
            torch.set_num_threads(1)  # more threads gain nothing for tensors this small
            torch.set_grad_enabled(False)
            exact_type = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
            self.floats = lambda array: torch.from_numpy(array).to(device=device, dtype=exact_type,
                                                                   copy=True)
            self.integers = lambda numbers: torch.as_tensor(numbers, device=device)
        elif kind == "mlx":
            import mlx.core
            exact_type = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}[dtype]
            self.floats = lambda array: mlx.core.array(array).astype(getattr(mlx.core, exact_type))
            self.integers = mlx.core.array
        else:
            raise ValueError("arrays is %r; expected torch, mlx, numpy or a function" % (kind,))

    def __deepcopy__(self, _):
        return self  # it has no state that branches could disturb


def _rounded_to_bf16(array):
    bits = numpy.ascontiguousarray(array, numpy.float32).view(numpy.uint32)
    rounded = bits + (0x7FFF + (bits >> 16 & 1)).astype(numpy.uint32) & numpy.uint32(0xFFFF0000)
    return rounded.view(numpy.float32)
