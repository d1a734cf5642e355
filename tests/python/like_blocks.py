"""Allocators with the interface of vLLM's BlockPool, right and wrong, for tests of the adapter."""


class Block:
    def __init__(self, block_id):
        self.block_id, self.ref_cnt = block_id, 0


class BlockPool:
    def __init__(self, num_gpu_blocks):
        self.blocks, self.num_gpu_blocks, self.free = [], num_gpu_blocks, []

    def get_new_blocks(self, count):
        taken = []
        for _ in range(count):
            if not self.free:
                if len(self.blocks) == self.num_gpu_blocks:
                    raise ValueError("no block is free")
                self.blocks.append(Block(len(self.blocks)))
                self.free.append(self.blocks[-1])
            taken.append(self.free.pop())
            taken[-1].ref_cnt = 1
        return taken

    def touch(self, blocks):
        for block in blocks:
            block.ref_cnt += 1

    def free_blocks(self, blocks):
        for block in blocks:
            block.ref_cnt -= 1
            if block.ref_cnt == 0:
                self.free.append(block)


class ForkUncounted(BlockPool):
    """Shares a block with a fork and does not count it."""

    def touch(self, blocks):
        pass


class LastUncounted(BlockPool):
    """Counts all blocks of a fork but the last."""

    def touch(self, blocks):
        super().touch(blocks[:-1])


class FreesShared(BlockPool):
    """Gives out a block again when its first owner lets it go."""

    def free_blocks(self, blocks):
        for block in blocks:
            block.ref_cnt -= 1
            self.free.append(block)
