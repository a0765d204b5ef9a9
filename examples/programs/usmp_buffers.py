# SPDX-License-Identifier: Apache-2.0
"""Plans four buffers in two pools with the algorithm for TVM's USMP, without TVM."""

from dataclasses import dataclass, field

from tessera.integrations.usmp import plan_buffers


@dataclass(eq=False)
class PoolInfo:
    pool_name: str
    size_hint_bytes: int = -1


@dataclass(eq=False)
class BufferInfo:
    """The fields of TVM's BufferInfo that an algorithm uses."""

    name_hint: str
    size_bytes: int
    pool_candidates: list
    alignment: int = 16
    conflicts: list = field(default_factory=list)


fast, slow = PoolInfo("sram", 8 * 1024), PoolInfo("dram")
names = {"input": 3136, "expanded": 18816, "projected": 3136, "sum": 3136}
buffers = {name: BufferInfo(name, size, [fast, slow]) for name, size in names.items()}
for a, b in [("input", "expanded"), ("input", "projected"), ("expanded", "projected"),
             ("input", "sum"), ("projected", "sum")]:
    buffers[a].conflicts.append(buffers[b])
places = plan_buffers(buffers.values(), 0, lambda pool, offset: (pool.pool_name, offset))
print("pool  offset   bytes  buffer")
for name, buffer in buffers.items():
    pool, offset = places[buffer]
    print(f"{pool:4}  {offset:6}  {buffer.size_bytes:6}  {name}")
