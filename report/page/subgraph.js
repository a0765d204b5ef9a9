// The chosen subgraph: facts, its bottleneck, energy and traffic, memory map, timeline.

const detail = { maps: [], timeline: null };

function factsOf(subgraph) {
  const { metrics: cost } = subgraph;
  const recomputed = cost.recomputed_macs > 0 ? ` (${percent(cost.recomputed_macs / cost.macs)} again for overlap)` : '';
  const hosted = plan.host.operators.find(({ op }) => op === subgraph.first);
  const known = cost.macs > 0 ? `${macsText(cost.macs)}${recomputed}` : 'no multiplications';
  return [
    ...(hosted ? [['on the host', hosted.reason]] : []),
    ['tile', `${shapeText(subgraph.tile)}${subgraph.largest_proven ? ', the largest possible' : ''}`],
    ['tiles', grouped(subgraph.tiles)],
    ['policy', policyOf(subgraph)],
    ['cycles', [grouped(cost.latency), timeText(cost.latency)].filter(Boolean).join(' · ')],
    ['exposed', `${grouped(cost.exposed_cycles)} cycles beyond the steps of engines`],
    ['energy', energyText(cost.energy)],
    ['off chip', bytesText(cost.off_chip_bytes)],
    ['peak', `${grouped(cost.peak)} B of ${grouped(plan.memories[0].capacity)}`],
    ['work', cost.unknown_work > 0 ? `${known}, and ${count(cost.unknown_work, 'operator')} of unknown work` : known],
  ];
}

// The share of the subgraph's cycles in which each engine and link works; the longest decides.
function boundsCard(index) {
  const { busy, cycles } = plan.timelines[index];
  const bound = plan.subgraphs[index].metrics.bound_by;
  const rows = html('div', { class: 'bounds' });
  plan.tracks.forEach((track, at) => {
    if (busy[at] === 0) return;
    const share = busy[at] / Math.max(1, cycles);
    const decides = track.flow === 'compute' ? bound === 'compute' : track.name === bound;
    const way = { compute: '', in: ' in', out: ' out', both: '' }[track.flow];
    const row = html('div', { class: decides ? 'decides' : '' }, html('span', {}, track.name + way),
                     html('div', {}, html('i', { style: `width: ${px(100 * share)}%` })), html('b', {}, percent(share)));
    rows.append(explain(row, () => ({ title: track.name + way, rows: [['works', `${grouped(busy[at])} cycles`], ['of', `${grouped(cycles)} cycles`]] })));
  });
  const words = bound === 'compute' ? 'compute: the arithmetic takes longest'
    : bound === 'exposed transfers' ? 'exposed transfers: those that overlap with no step take more than half of the cycles'
    : `${bound}: what it moves takes longer than the arithmetic`;
  return html('div', { class: 'card' }, html('h3', {}, 'What bounds it'), rows, html('p', { class: 'faint' }, `Bound by ${words}.`));
}

function figure(title, drawing, legend, hint) {
  return html(
    'figure',
    {},
    html('figcaption', { class: 'bar-title' }, html('h3', {}, title), drawing.viewport.buttons(), html('span', { class: 'faint' }, hint)),
    html('div', { class: 'panel' }, drawing.surface, legend),
  );
}

function operatorTable(subgraph) {
  const rows = [];
  for (let op = subgraph.first; op <= subgraph.last; ++op) {
    const { id, kind, inputs, outputs, macs } = plan.operators[op];
    const shape = (tensors) => tensors.map((tensor) => shapeText(plan.tensors[tensor].shape)).join(' + ');
    rows.push(html('tr', { 'data-op': op }, html('td', {}, html('i', { class: 'swatch', style: `background: ${colourOf('kind', kind)}` }), id),
                   html('td', {}, kind.replace('_', ' ')), html('td', {}, shape(inputs)), html('td', {}, shape(outputs)),
                   html('td', {}, macs === undefined ? 'unknown' : macs > 0 ? grouped(macs) : '')));
  }
  const head = ['operator', 'kind', 'reads', 'makes', 'MAC, whole'].map((title) => html('th', {}, title));
  return html('details', { class: 'card operators' }, html('summary', {}, count(rows.length, 'operator')),
              html('div', { class: 'wide' }, html('table', {}, html('tr', {}, ...head), ...rows)));
}

function drawSubgraph(index) {
  const subgraph = plan.subgraphs[index];
  const facts = html('dl', { class: 'facts' });
  for (const [name, value] of factsOf(subgraph)) facts.append(html('div', {}, html('dt', {}, name), html('dd', {}, value)));
  const inUse = plan.memories.map((_, memory) => memory).filter((memory) => memory === 0 || buffersWithin(memory, stepsOf[index]).length > 0);
  detail.maps = inUse.map((memory) => new MemoryMap(memory, stepsOf[index]));
  detail.timeline = new TimelineDrawing(plan.timelines[index]);
  const parts = [
    html('h2', {}, html('span', { class: 'index' }, String(index)), spanOf(subgraph)),
    facts,
    html('div', { class: 'cards three' }, boundsCard(index),
         sharesBar('Energy by part', subgraph.metrics.energy_by_part, energyText),
         sharesBar('Off-chip traffic by cause', subgraph.metrics.off_chip_by_cause, bytesText, 'cause')),
    ...detail.maps.map((map) => figure(`Memory map of ${map.of.name}`, map, roleLegend(map.buffers),
                                       `steps ${stepsOf[index][0]} to ${stepsOf[index][1] - 1}, peak ${grouped(map.peak)} B`)),
    figure('Timeline', detail.timeline, activityLegend(plan.timelines[index]), `${grouped(plan.timelines[index].cycles)} cycles`),
    alternativesTable(subgraph),
    operatorTable(subgraph),
  ];
  byId('subgraph').replaceChildren(...parts.filter(Boolean));
}

// Marks a buffer and an operator in the drawings.
function markSubgraph({ op, buffer }) {
  for (const map of detail.maps) {
    map.found = buffer ?? -1;
    map.draw();
  }
  for (const row of byId('subgraph').querySelectorAll('tr[data-op]')) row.classList.toggle('chosen', Number(row.dataset.op) === op);
}
