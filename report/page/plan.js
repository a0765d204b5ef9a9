// The plan, as report/html_report.h writes it. Arrays refer to each other by index; -1 means
// none:
//
//   metrics     key, title, unit, counts_work (of the known work only), grows_with_work (so a lower
//               bound if work is unknown), is_of_front
//   profile_totals  title, unit, value: sums over the profile, such as its area
//   host        macs, all_macs, operators: op, reason why the host runs it
//   operators   id, kind, inputs, weights, outputs (tensors), macs
//   tensors     id, shape, type, role, bytes
//   subgraphs   first, last (operators), tile, tiles, weights, k_extent (with split_k), in_place,
//               halo, prefetch (if set), largest_proven, metrics, rejected_alternatives: last
//               (operator), tile (may be empty), weights, k_extent, halo, cause, score, taken,
//               needs_bytes
//   memories    name, capacity, banks, modes, reserved; the first one has the capacity in question.
//               A bank: name, begin, end, and where it is in any: sets [key, names of its banks]
//   steps       kind, subgraph, phase, op, transfers (tensors)
//   schedules   a mode for each step, by memory
//   loops       [begin, end) in steps
//   buffers     id, role, size, offset, memory, subgraph, tensor, op, lives [lower, upper),
//               accesses [step, engine, kind]
//   homes       memory, capacity, peak, lower_bound (if by_tiles), by_tiles, unit of time (slot or
//               subgraph), subgraphs [begin, end) in it, lasting [begin, end): addresses of constants
//               and state, all_chunks (before neighbours were joined), tensors that come and go:
//               tensor, offset, size, life [begin, end), chunks [begin, end, from, to): bytes from
//               its offset, and when
//   tracks      name, flow
//   timelines   by subgraph: cycles, busy, omissions, activities
//               [begin, end, track, kind, tile, op, tensor, bytes]

const plan = JSON.parse(byId('plan').textContent);

// The operator that makes each tensor, the operators that read it, and the subgraph of each
// operator.
const producerOf = plan.tensors.map(() => -1);
const readersOf = plan.tensors.map(() => []);
const subgraphOf = plan.operators.map(() => -1);
plan.operators.forEach((operator, index) => {
  for (const tensor of operator.outputs) producerOf[tensor] = index;
  for (const tensor of [...operator.inputs, ...operator.weights]) readersOf[tensor].push(index);
});
plan.subgraphs.forEach((subgraph, index) => {
  for (let op = subgraph.first; op <= subgraph.last; ++op) subgraphOf[op] = index;
});

// The steps of each subgraph, [begin, end).
const stepsOf = plan.subgraphs.map(() => [Infinity, 0]);
plan.steps.forEach((step, index) => {
  const range = stepsOf[step.subgraph];
  range[0] = Math.min(range[0], index);
  range[1] = Math.max(range[1], index + 1);
});

function spanOf(subgraph) {
  const first = plan.operators[subgraph.first].id;
  return subgraph.first === subgraph.last ? first : `${first} … ${plan.operators[subgraph.last].id}`;
}

function policyOf(subgraph) {
  const parts = [`weights ${subgraph.weights}`];
  if (subgraph.k_extent) parts[0] += ` ${subgraph.k_extent}`;
  if (subgraph.in_place) parts.push('results in place');
  if (subgraph.halo !== 'recompute') parts.push(`halo ${subgraph.halo}`);
  if (subgraph.serialized) parts.push('serialized');
  if (subgraph.second_stage !== undefined)
    parts.push(`two stages, the second from ${plan.operators[subgraph.second_stage].id}`);
  if (subgraph.prefetch) {
    const isSliced = subgraph.weights === 'streamed' && subgraph.tiles === 1;
    parts.push(`${isSliced ? 'first slices ' : ''}prefetched ${subgraph.prefetch[0]} ahead`);
  }
  return parts.join(', ');
}

function stepText(step) {
  if (step.kind === 'compute') return plan.operators[step.op].id;
  if (step.kind === 'copy') return `copy ${plan.operators[step.op].id}`;
  const moved = step.transfers.map((tensor) => plan.tensors[tensor].id).join(', ');
  return step.kind === 'load' || step.kind === 'store' ? `${step.kind} ${moved}` : step.kind;
}

// "s3/conv1@0" -> "conv1@0": the place of this text already shows the subgraph.
const shortId = (buffer) => buffer.id.replace(/^s\d+\//, '');

// Colours of kinds, roles and activities are variables of the style sheet: --kind-conv, --role-boundary, --do-load.
const colourOf = (family, name) => `var(--${family}-${name.replace(/[^a-z]+/g, '-')}, var(--other))`;
