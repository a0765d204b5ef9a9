# SPDX-License-Identifier: Apache-2.0
"""Plans four tensors of a residual block with the algorithm for ExecuTorch, without ExecuTorch."""

from dataclasses import dataclass

from tessera.integrations.executorch import MemoryPlanner


@dataclass(eq=False)
class TensorSpec:
    """The fields of ExecuTorch's TensorSpec that a planner uses."""

    name: str
    allocated_memory: int
    lifetime: list
    mem_id: int = None
    mem_offset: int = None

    def realign(self, alignment):
        self.allocated_memory = -(-self.allocated_memory // alignment) * alignment


specs = [
    TensorSpec("input", 3136, [0, 3]),
    TensorSpec("expanded", 18816, [1, 2]),
    TensorSpec("projected", 3136, [2, 3]),
    TensorSpec("sum", 3136, [3, 4]),
]
result = MemoryPlanner({2: 8 * 1024, 1: None})(16, set(specs))
print("memory  offset   bytes  tensor")
for spec in specs:
    at = result.spec_dict[spec]
    print(f"{at.mem_id:6}  {at.mem_offset:6}  {spec.allocated_memory:6}  {spec.name}")
print("sizes of memories:", result.bufsizes)
