# SPDX-License-Identifier: Apache-2.0
"""Plans the memory of neural accelerators before the program runs.

    import tessera as ts

    network = ts.load_network("mobilenet_v2.yaml")
    profile = ts.Profile("edge_npu_1mib.yaml").with_({"memories.sram.capacity_bytes": 512 * 1024})
    plan = ts.plan(network, profile, minimize="latency", timeout=5)
    print(plan.totals["latency"], "cycles in", len(plan.subgraphs), "subgraphs")
    plan.save("plan.html")

Sizes and addresses are in bytes, times of a plan in cycles, energies in pJ, and limits of calls in
seconds. Networks, profiles, plans, problems and allocations never change; threads may share them,
and pickle takes them to other processes. Long calls let other threads run, and end at Ctrl-C.
"""

from ._native import Canceller
from ._native import version as __version__
from .allocations import Allocation, Certificate, MemoryPeak, Problem, generate_problem
from .choices import Choice, Front, FrontPoint, choose, find_front
from .errors import (
    BadInput,
    Error,
    Infeasible,
    InternalError,
    NoAnswer,
    Stopped,
    Unknown,
    Unsupported,
)
from .evaluators import Evaluation, Evaluator
from .explorations import Exploration, explore
from .inputs import Network, NetworkSpace, Profile, load_network
from .plans import Buffer, Plan, Subgraph, Total, Totals, evaluate
from .questions import (
    ProfileFit,
    decode,
    explain,
    find_candidates,
    fit_profile,
    make_problem,
    modes,
)
from .reports import (
    CertificateReport,
    CheckReport,
    ExecuteReport,
    Explanation,
    MemoryModes,
    ModesAnswer,
    Progress,
    Tile,
    TileAnswer,
)
from .sessions import Session, SessionCounts, allocate, find_tiles, plan
from .tables import Table

__all__ = [
    "Allocation",
    "BadInput",
    "Buffer",
    "Canceller",
    "Certificate",
    "CertificateReport",
    "CheckReport",
    "Choice",
    "Error",
    "Evaluation",
    "Evaluator",
    "ExecuteReport",
    "Explanation",
    "Exploration",
    "Front",
    "FrontPoint",
    "Infeasible",
    "InternalError",
    "MemoryModes",
    "MemoryPeak",
    "ModesAnswer",
    "Network",
    "NetworkSpace",
    "NoAnswer",
    "Plan",
    "Problem",
    "Profile",
    "ProfileFit",
    "Progress",
    "Session",
    "SessionCounts",
    "Stopped",
    "Subgraph",
    "Table",
    "Tile",
    "TileAnswer",
    "Total",
    "Totals",
    "Unknown",
    "Unsupported",
    "__version__",
    "allocate",
    "choose",
    "decode",
    "evaluate",
    "explain",
    "explore",
    "find_candidates",
    "find_front",
    "find_tiles",
    "fit_profile",
    "generate_problem",
    "load_network",
    "make_problem",
    "modes",
    "plan",
]
