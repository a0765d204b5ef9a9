# SPDX-License-Identifier: Apache-2.0
"""Calls: other threads run, signals arrive, sessions remember."""

import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import tessera as ts

from conftest import ROOT

# Plans with so much effort that no machine ends before the signal arrives.
LONG_CALL = f"""
import tessera as ts
network = ts.load_network(r"{ROOT}/examples/networks/mobilenet_v2.yaml")
profile = ts.Profile(r"{ROOT}/hw_profiles/edge_npu_64kib.yaml")
try:
    ts.plan(network, profile, budget=10**15, progress=lambda line: print(line, flush=True))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_call():
    process = subprocess.Popen([sys.executable, "-c", LONG_CALL], stdout=subprocess.PIPE, text=True)
    first = process.stdout.readline()  # the search has begun
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert first and rest.splitlines()[-1] == "interrupted" and process.returncode == 0


# A machine under load may have no plan after the first delay, and all of it after a long one.
def test_other_threads_run_during_a_call(mobilenet, npu):
    for delay in (0.05 * 2**step for step in range(8)):
        counted = []
        cancel = ts.Canceller()

        def count():
            counted.extend(range(1000))
            cancel.cancel()

        threading.Timer(delay, count).start()
        try:
            plan = ts.plan(mobilenet, npu, budget=10**15, canceller=cancel)
        except ts.Unknown:
            continue
        assert len(counted) == 1000 and plan.stopped and plan.outcome == "feasible"
        return
    pytest.fail("no plan after 6 s")


def test_deadlines_end_calls(mobilenet, npu):
    assert ts.plan(mobilenet, npu, budget=10**15, timeout=0.05).stopped


def test_progress_is_reported(mobilenet, npu):
    lines = []
    ts.plan(mobilenet, npu, budget=1000, timeout=0.5, progress=lines.append)
    assert lines and all(isinstance(line, str) for line in lines)
    counts = [line for line in lines if line.phase == "intervals"]
    assert 0 < counts[-1].done < counts[-1].total
    scores = [line.incumbent for line in lines if line.incumbent is not None]
    assert scores == sorted(scores, reverse=True) and 0 < lines[-1].bound <= scores[-1]


def test_what_progress_raises_leaves_the_call(mobilenet, npu):
    def refuse(line):
        raise KeyError(line)

    with pytest.raises(KeyError):
        ts.plan(mobilenet, npu, budget=10**15, progress=refuse)


def test_threads_share_inputs_and_a_session(chain, npu):
    session = ts.Session()
    sweep = [npu.with_({"memories.sram.capacity_bytes": kib << 10}) for kib in (64, 128)] * 2
    expected = [ts.plan(chain, profile).render("json") for profile in sweep[:2]] * 2
    with ThreadPoolExecutor(2) as pool:
        plans = pool.map(lambda profile: session.plan(chain, profile).render("json"), sweep)
    assert list(plans) == expected
    counts = session.counts()
    assert counts.hits + counts.misses == 4 and counts.hits > 0
    session.clear()
    assert session.counts().bytes == 0


def test_sessions_answer_every_kind_of_call(chain, npu):
    session = ts.Session(1 << 20)
    problem = ts.make_problem(chain, npu, operators="a", tile="8x32")
    for _ in range(2):
        assert session.allocate(problem).peak == ts.allocate(problem).peak
        assert session.find_tiles(chain, npu) == ts.find_tiles(chain, npu)
    assert session.counts().hits == 2


def score(job):
    network, profile = job
    return ts.plan(network, profile).score


def test_processes_take_jobs(chain, npu, plan):
    with ProcessPoolExecutor(1) as pool:
        assert list(pool.map(score, [(chain, npu)])) == [plan.score]


def test_calls_that_nothing_cuts_off_let_others_run():
    # 300 buffers that live together make a formula of some seconds.
    n = 300
    problem = ts.Problem.from_columns([0] * n, [1] * n, list(range(1, n + 1)), capacity=n * n)
    ended = threading.Event()
    steps = []

    def count():
        while not ended.is_set():
            steps.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    problem.encode()
    ended.set()
    thread.join()
    assert len(steps) > 5


# When the interpreter ends, it unwinds threads that ask for its lock. They print nothing, because
# Python ends with an error if one of them holds the lock of a standard stream then.
@pytest.mark.parametrize(
    "call",
    [
        "ts.plan(network, profile, budget=10**15)",
        "ts.plan(network, profile, budget=10**15, progress=lines.append)",
        "ts.plan(network, profile, max_operators=1, budget=100)",
        "ts.load_network(path)",
        "ts.allocate([0, 2, 0], [3, 9, 9], [4, 8, 16])",
    ],
)
def test_daemon_threads_may_call_until_the_end(call):
    program = f"""
import threading, time
import tessera as ts
path = r"{ROOT}/examples/networks/mobilenet_v2.yaml"
network = ts.load_network(path)
profile = ts.Profile(r"{ROOT}/hw_profiles/edge_npu_64kib.yaml")
lines = []
def work():
    while True:
        {call}
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""
    end = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (end.returncode, end.stderr) == (0, "")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_cannot_be_pickled_says_so(protocol):
    with pytest.raises(TypeError, match="cannot pickle a 'Canceller' object"):
        pickle.dumps(ts.Canceller(), protocol)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_tables_are_pickled(plan, protocol):
    for table in (plan.totals, plan.totals.table, plan.subgraphs):
        again = pickle.loads(pickle.dumps(table, protocol))
        assert list(again) == list(table) and type(again) is type(table)


def test_a_forked_process_does_not_wait_for_calls_of_its_parent():
    code = """
import os, signal, threading
import tessera as ts
net = ts.load_network("{root}/examples/networks/mobilenet_v2.yaml")
npu = ts.Profile("{root}/hw_profiles/edge_npu_1mib.yaml")
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    ts.plan(net, npu, budget=10**15)
except KeyboardInterrupt:
    pass
child = os.fork()
if child == 0:
    chain = ts.load_network("{root}/examples/networks/patent_chain.yaml")
    ts.plan(chain, npu)
    raise SystemExit(0)
print(os.waitpid(child, 0)[1])
""".format(root=ROOT)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout.strip() == "0", ended.stderr


# Pages that malloc keeps for later calls depend on the order of the calls; malloc_trim returns them,
# so that those in use are counted. The bytes in use show leaks that fit into these pages.
MANY_CALLS = f"""
import ctypes, gc, sys
import tessera as ts
PROFILE = ts.Profile(r"{ROOT}/hw_profiles/edge_npu_1mib.yaml")
LIBC = ctypes.CDLL(None)

class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]

LIBC.mallinfo2.restype = Mallinfo2

def plan(number):
    extent = 8 + number // 10 % 10
    operators = [
        {{"id": "a", "kind": "conv", "inputs": ["x"], "out_channels": 8 + 8 * (number % 10),
          "kernel": 3}},
        {{"id": "b", "kind": "conv", "inputs": ["a"], "out_channels": 16 + number // 100,
          "kernel": 1}},
    ]
    inputs = [{{"id": "x", "shape": [1, 3, extent, extent]}}]
    ts.plan(ts.Network.parse({{"schema": 1, "name": "n", "inputs": inputs,
                               "operators": operators, "outputs": ["b"]}}), PROFILE)

def memory():
    plan(0)
    gc.collect()
    LIBC.malloc_trim(0)
    heap = LIBC.mallinfo2()
    resident = int(open("/proc/self/statm").read().split()[1])
    return resident, heap.uordblks + heap.hblkhd, sys.getallocatedblocks()

for number in range(1000):
    if number == 200:
        before = memory()
    plan(number)
print(*before, *memory())
"""


def test_many_calls_do_not_grow_the_process():
    output = subprocess.run([sys.executable, "-c", MANY_CALLS], capture_output=True, text=True,
                            check=True).stdout
    numbers = list(map(int, output.split()))
    pages, heap, blocks = zip(numbers[:3], numbers[3:])
    assert pages[1] < 1.01 * pages[0]
    assert heap[1] < heap[0] + 40_000  # 50 bytes a call
    assert blocks[1] < blocks[0] + 400  # an object every second call
