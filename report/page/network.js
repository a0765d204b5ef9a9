// The network with its cuts: a box for each subgraph, which can be clicked; operators coloured by
// kind; tensors as lines.

const networkView = { viewport: null, nodes: [], boxes: [], layout: null };

function cutText(text, width) {
  const letters = Math.floor(width / 6.3);
  if (text.length <= letters) return text;
  return letters < 3 ? '' : `${text.slice(0, letters - 1)}…`;
}

function sayTensor(tensor) {
  const { id, shape, type, role, bytes } = plan.tensors[tensor];
  return { title: id, rows: [['', role], ['shape', shapeText(shape)], ['type', type], ['whole', bytesText(bytes)]] };
}

function sayOperator(op) {
  const { id, kind, macs, inputs, outputs } = plan.operators[op];
  const tensors = (list) => list.map((tensor) => `${plan.tensors[tensor].id} ${shapeText(plan.tensors[tensor].shape)}`).join('\n');
  return {
    title: id,
    rows: [
      ['kind', kind],
      ['subgraph', subgraphOf[op]],
      ['reads', tensors(inputs)],
      ['makes', tensors(outputs)],
      ['work', macs === undefined ? 'unknown' : macs > 0 ? macsText(macs) : ''],
    ],
  };
}

function drawNode(node) {
  const { id, kind, inputs, outputs } = plan.operators[node.op];
  const enters = inputs.some((tensor) => producerOf[tensor] < 0);
  const leaves = outputs.some((tensor) => ['network output', 'next value of a state'].includes(plan.tensors[tensor].role));
  const middle = node.y + nodeSize.height / 2;
  const group = svg(
    'g',
    { class: 'node', style: `--colour: ${colourOf('kind', kind)}`, tabindex: 0, 'data-op': node.op },
    svg('rect', { x: node.x, y: node.y, width: nodeSize.width, height: nodeSize.height, rx: 5 }),
    svg('rect', { class: 'stripe', x: node.x, y: node.y, width: 5, height: nodeSize.height, rx: 2 }),
    svg('text', { x: node.x + 12, y: node.y + 16 }, cutText(id, nodeSize.width - 16)),
  );
  if (enters) group.append(svg('path', { class: 'port', d: `M${node.x - 9} ${middle - 4}l7 4l-7 4z` }));
  if (leaves) group.append(svg('path', { class: 'port', d: `M${node.x + nodeSize.width + 2} ${middle - 4}l7 4l-7 4z` }));
  return explain(group, () => sayOperator(node.op));
}

function drawBox(box) {
  const subgraph = plan.subgraphs[box.index];
  const group = svg(
    'g',
    { class: 'box', 'data-subgraph': box.index },
    svg('rect', { x: box.x, y: box.y, width: box.width, height: box.height, rx: 9 }),
    svg('text', { class: 'title', x: box.x + boxPadding.side, y: box.y + 18 },
        cutText(`${box.index} · ${count(subgraph.tiles, 'tile')}`, box.width - 20)),
  );
  explain(group, () => ({
    title: `subgraph ${box.index}`,
    rows: [
      ['operators', subgraph.last - subgraph.first + 1],
      ['tile', shapeText(subgraph.tile)],
      ['tiles', grouped(subgraph.tiles)],
      ['cycles', `${grouped(subgraph.metrics.latency)}  ${percent(subgraph.metrics.latency / plan.totals.latency)}`],
      ['bound by', subgraph.metrics.bound_by],
    ],
  }));
  return group;
}

// Large labels for a small scale, where names are too small to read.
function drawNumber(box) {
  const size = Math.min(56, box.height * 0.75, box.width * 0.5);
  return svg('text', { class: 'number', x: box.x + box.width / 2, y: box.y + box.height / 2, style: `font-size: ${px(size)}px` },
             String(box.index));
}

function drawLines(layout) {
  const lines = svg('g', { class: 'lines' });
  let lane = 0;
  plan.tensors.forEach((_, tensor) => {
    const from = layout.nodes[producerOf[tensor]];
    if (!from) return;
    let crosses = false;
    for (const reader of new Set(readersOf[tensor])) {
      const to = layout.nodes[reader];
      const inside = from.box === to.box;
      crosses ||= !inside;
      const path = inside ? innerPath(from, to) : boundaryPath(layout, from, to, lane);
      const line = svg('g', { class: inside ? 'line' : 'line boundary' }, svg('path', { class: 'hit', d: path }), svg('path', { d: path }));
      lines.append(explain(line, () => sayTensor(tensor)));
    }
    if (crosses) ++lane;
  });
  return lines;
}

function kindLegend() {
  const kinds = [...new Set(plan.operators.map(({ kind }) => kind))];
  return html('ul', { class: 'legend' }, ...kinds.map((kind) =>
    html('li', {}, html('i', { style: `background: ${colourOf('kind', kind)}` }), kind.replaceAll('_', ' '))));
}

function drawNetwork() {
  const surface = svg('svg', { class: 'surface network' });
  const canvas = svg('g');
  surface.append(canvas);
  const title = html('h2', {}, 'Network and its cuts');
  byId('network').append(html('div', { class: 'bar-title' }, title), html('div', { class: 'panel' }, surface, kindLegend()));
  const layout = layoutNetwork(surface.clientWidth / surface.clientHeight);
  networkView.layout = layout;
  networkView.boxes = layout.boxes.map(drawBox);
  networkView.nodes = layout.nodes.map(drawNode);
  canvas.append(svg('g', {}, ...networkView.boxes), drawLines(layout), svg('g', {}, ...networkView.nodes),
                svg('g', { class: 'numbers' }, ...layout.boxes.map(drawNumber)));
  // Limits the height to that of the drawing at full width.
  surface.style.maxHeight = `${Math.max(220, Math.ceil((layout.height / layout.width) * surface.clientWidth))}px`;
  networkView.viewport = new Viewport(surface, {
    x: [-gutter.between, layout.width - gutter.between],
    y: [-gutter.rows, layout.height - gutter.rows],
    square: true,
    draw() {
      const scale = this.frame.width / (this.view.x[1] - this.view.x[0]);
      canvas.setAttribute('transform', `scale(${scale}) translate(${-this.view.x[0]} ${-this.view.y[0]})`);
      surface.classList.toggle('far', scale < 0.42);
    },
  });
  title.after(networkView.viewport.buttons());
  surface.addEventListener('click', (event) => {
    const node = event.target.closest('.node');
    const box = event.target.closest('.box');
    if (node) select(subgraphOf[node.dataset.op], { op: Number(node.dataset.op) });
    else if (box) select(Number(box.dataset.subgraph));
  });
}

// Marks the chosen subgraph and operator, and scrolls to them if requested.
function markNetwork(subgraph, op, reveal) {
  networkView.boxes.forEach((box, index) => box.classList.toggle('chosen', index === subgraph));
  networkView.nodes.forEach((node, index) => node.classList.toggle('chosen', index === op));
  if (!reveal) return;
  const node = networkView.layout.nodes[op];
  const box = networkView.layout.boxes[subgraph];
  // An operator with its neighbours, or the whole box.
  networkView.viewport.show(node
    ? { x: [node.x - nodeSize.width, node.x + 2 * nodeSize.width], y: [node.y - 3 * layerStep, node.y + 4 * layerStep] }
    : { x: [box.x, box.x + box.width], y: [box.y, box.y + box.height] }, 0.8);
}
