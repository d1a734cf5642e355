"""Allocators of blocks with reference counts, with the interface of vLLM's BlockPool (read in
vllm/v1/core/block_pool.py as of 2026):

    get_new_blocks(count)   returns that many blocks, each with one reference
    touch(blocks)           adds a reference to each
    free_blocks(blocks)     takes one from each; a block without references may be given out again
    block.block_id          the block's number
    block.ref_cnt           its references

The adapter is the engine around the allocator: a table of blocks for each cache, and rows in one pool
of memory for each case. A fork touches the blocks of its parent and shares them; before a token is
written into a block that has other references, the block is copied into a new one; blocks whose
tokens have all left the window are freed, and so are those that a rollback or a reset leaves empty.
An allocator that loses count gives a block to two owners, and the rows of one change.

The allocator is made once for each case. --page is the number of tokens in a block, 4 if not given.
"""

from ..serving import Facts, Refused, serve as serve_ids
from . import call

HOME = "vllm.v1.core.block_pool"
INSTALL = "pip install vllm"
ARRAYS = None
WORDS = ("num_gpu_blocks", "num_blocks", "block_size", "page", "enable_caching", "hash_block_size")
_BLOCKS = 1 << 14


class _Memory:
    """The rows of all blocks, and the allocator."""

    def __init__(self, factory, setup, page):
        self.page, self.rows = page, {}
        self.pool = call(factory, dict(
            setup, num_gpu_blocks=_BLOCKS, num_blocks=_BLOCKS, block_size=page, page=page,
            enable_caching=False, hash_block_size=page))

    def new(self):
        block, = self.pool.get_new_blocks(1)
        self.rows[block.block_id] = []
        return block

    def of(self, block):
        return self.rows[block.block_id]


class Paged:
    """One cache: a table of blocks, and how many tokens came before the first of them."""

    def __init__(self, memory, budget):
        self.memory, self.budget = memory, budget
        self.table, self.freed = [], 0

    def append(self, tokens):
        before = self.kept()
        for token in tokens:
            self._write(token)
        returned = before + tokens
        seen = []
        for query in range(len(before), len(returned)):
            first = max(0, query + 1 - self.budget) if self.budget else 0
            seen.append([first <= row <= query for row in range(len(returned))])
        self._slide()
        return Facts(returned, seen)

    def _write(self, token):
        page = self.memory.page
        if not self.table or len(self.memory.of(self.table[-1])) == page:
            self.table.append(self.memory.new())
        elif self.table[-1].ref_cnt > 1:
            shared = self.table[-1]
            self.table[-1] = self.memory.new()
            self.memory.of(self.table[-1]).extend(self.memory.of(shared))
            self.memory.pool.free_blocks([shared])
        self.memory.of(self.table[-1]).append(token)

    def _slide(self):
        while self.budget and len(self.kept()) - self.memory.page >= self.budget:
            self.memory.pool.free_blocks([self.table.pop(0)])
            self.freed += self.memory.page

    def kept(self):
        return [token for block in self.table for token in self.memory.of(block)]

    def fork(self):
        self.memory.pool.touch(self.table)
        other = Paged(self.memory, self.budget)
        other.table, other.freed = list(self.table), self.freed
        return other

    def truncate(self, length):
        left = length - self.freed
        if not 0 <= left <= len(self.kept()):
            raise Refused("its rows are %d to %d" % (self.freed, self.freed + len(self.kept())))
        if self.freed:
            raise Refused("blocks before the window are freed")
        full = -(-left // self.memory.page)
        while len(self.table) > full:
            self.memory.pool.free_blocks([self.table.pop()])
        rest = left - (full - 1) * self.memory.page if full else 0
        if full and rest < len(self.memory.of(self.table[-1])):
            last, self.table[-1] = self.table[-1], self.memory.new()
            self.memory.of(self.table[-1]).extend(self.memory.of(last)[:rest])
            self.memory.pool.free_blocks([last])

    def reset(self):
        while self.table:
            self.memory.pool.free_blocks([self.table.pop()])
        self.freed = 0


def serve(factory, options, name):
    page = options.contract.get("page", 4)
    if not isinstance(page, int) or page < 1:
        raise ValueError("--page is %r; expected a number of tokens" % (page,))
    memory = {}

    class Cache(Paged):
        def __init__(self, layers, kv_heads, group, sequences, sinks, recent, budget, seed, sequence,
                     layer, head):
            if (sequence, layer, head) == (0, 0, 0):  # the first of a case
                memory["now"] = _Memory(factory, dict(
                    layers=layers, kv_heads=kv_heads, group=group, sequences=sequences, sinks=sinks,
                    recent=recent, budget=budget, seed=seed), page)
            super().__init__(memory["now"], options.sizes.get("budget", budget))

    def contract(setup):
        budget = options.sized(setup)["budget"]
        return dict({"sinks": 0, "recent": budget, "budget": budget, "page": page},
                    **options.contract)

    serve_ids(Cache, contract, name, options.sizes or None)
