// Positions of operators, boxes of subgraphs, and the tensors between them.
//
// Subgraphs run one after another, so their boxes are laid out like words: from left to right, in
// rows. In a box, operators are in layers, each below all that it reads; branches are side by side.
// Tensors that stay in a box run down; a skip bends to the right around the operators that it
// skips. Tensors between boxes leave to the right. Unless the next box reads them, they run in the
// gutters between boxes and rows, so that no line crosses a box.

const nodeSize = { width: 128, height: 24 };
const layerStep = nodeSize.height + 13;
const columnStep = nodeSize.width + 26;
const boxPadding = { side: 13, top: 28, bottom: 13 };
const gutter = { between: 38, rows: 44 };

// Operators of one subgraph, from the corner of its box.
function layoutBox(subgraph) {
  const place = new Map();
  const taken = new Set();
  const skips = [];
  for (let op = subgraph.first; op <= subgraph.last; ++op) {
    const makers = plan.operators[op].inputs.map((tensor) => producerOf[tensor]).filter((maker) => place.has(maker));
    const last = makers.reduce((best, maker) => (!best || place.get(maker).layer > best.layer ? place.get(maker) : best), null);
    const layer = last ? last.layer + 1 : 0;
    let column = last ? last.column : 0;
    while (taken.has(`${layer}/${column}`)) ++column;
    taken.add(`${layer}/${column}`);
    place.set(op, { op, layer, column });
    for (const maker of makers) if (layer - place.get(maker).layer > 1) skips.push(maker);
  }
  const nodes = [...place.values()].map(({ op, layer, column }) => ({
    op,
    x: boxPadding.side + column * columnStep,
    y: boxPadding.top + layer * layerStep,
  }));
  const columns = 1 + Math.max(...[...place.values()].map(({ column }) => column));
  const layers = 1 + Math.max(...[...place.values()].map(({ layer }) => layer));
  return {
    nodes,
    width: 2 * boxPadding.side + (columns - 1) * columnStep + nodeSize.width + (skips.length > 0 ? 12 : 0),
    height: boxPadding.top + boxPadding.bottom + (layers - 1) * layerStep + nodeSize.height,
  };
}

// Boxes in rows at most `width` wide; the whole is then [width, height].
function wrapBoxes(boxes, width) {
  const rows = [];
  let x = 0;
  for (const box of boxes) {
    if (rows.length === 0 || (x > 0 && x + box.width > width)) {
      rows.push({ boxes: [], height: 0 });
      x = 0;
    }
    const row = rows.at(-1);
    row.boxes.push({ box, x });
    row.height = Math.max(row.height, box.height);
    x += box.width + gutter.between;
  }
  return rows;
}

function extentOf(rows) {
  const width = Math.max(...rows.map((row) => Math.max(...row.boxes.map(({ box, x }) => x + box.width))));
  const height = rows.reduce((sum, row) => sum + row.height + gutter.rows, -gutter.rows);
  return { width: width + 2 * gutter.between, height: height + 2 * gutter.rows };
}

// The number of boxes in a row that makes the whole largest in a place of that shape.
function layoutNetwork(aspect) {
  const boxes = plan.subgraphs.map((subgraph, index) => ({ index, ...layoutBox(subgraph) }));
  const total = boxes.reduce((sum, box) => sum + box.width + gutter.between, 0);
  let best = null;
  for (let parts = 1; parts <= boxes.length; ++parts) {
    const rows = wrapBoxes(boxes, total / parts);
    const { width, height } = extentOf(rows);
    const unit = Math.max(width / aspect, height);
    if (!best || unit < best.unit) best = { unit, rows };
  }
  let y = 0;
  best.rows.forEach((row, index) => {
    for (const { box, x } of row.boxes) {
      Object.assign(box, { x, y, row: index });
      for (const node of box.nodes) Object.assign(node, { x: node.x + x, y: node.y + y, box });
    }
    Object.assign(row, { top: y, bottom: y + row.height });
    y += row.height + gutter.rows;
  });
  const nodes = boxes.flatMap((box) => box.nodes);
  nodes.sort((a, b) => a.op - b.op);
  return { boxes, nodes, rows: best.rows, ...extentOf(best.rows) };
}

// The line of a tensor from its maker to a reader in the same box.
function innerPath(from, to) {
  const [x1, y1] = [from.x + nodeSize.width / 2, from.y + nodeSize.height];
  const [x2, y2] = [to.x + nodeSize.width / 2, to.y];
  const skips = to.y - from.y > 1.5 * layerStep && from.x === to.x;
  if (!skips) return `M${x1} ${y1}C${x1} ${y1 + 9} ${x2} ${y2 - 9} ${x2} ${y2}`;
  const right = from.x + nodeSize.width;
  const [top, bottom] = [from.y + nodeSize.height / 2, to.y + nodeSize.height / 2];
  return `M${right} ${top}C${right + 20} ${top} ${right + 20} ${bottom} ${right} ${bottom}`;
}

// The line between boxes; lines that share a gutter have separate lanes.
function boundaryPath(layout, from, to, lane) {
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2];
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2];
  const aside = 9 + 4 * (lane % 7);
  const right = from.box.x + from.box.width + aside;
  const left = to.box.x - aside;
  if (to.box.index === from.box.index + 1 && to.box.row === from.box.row) {
    const middle = (from.box.x + from.box.width + to.box.x) / 2;
    return roundedPath([[x1, y1], [middle, y1], [middle, y2], [x2, y2]]);
  }
  const below = layout.rows[from.box.row].bottom + aside;
  if (to.box.row <= from.box.row + 1) return roundedPath([[x1, y1], [right, y1], [right, below], [left, below], [left, y2], [x2, y2]]);
  const above = layout.rows[to.box.row].top - aside;
  return roundedPath([[x1, y1], [right, y1], [right, below], [-aside, below], [-aside, above], [left, above], [left, y2], [x2, y2]]);
}

// Straight lines through the points with their corners rounded.
function roundedPath(points) {
  let path = `M${points[0].join(' ')}`;
  for (let i = 1; i + 1 < points.length; ++i) {
    const [before, corner, after] = [points[i - 1], points[i], points[i + 1]];
    const toward = (point) => {
      const distance = Math.hypot(point[0] - corner[0], point[1] - corner[1]);
      const share = distance === 0 ? 0 : Math.min(7, distance / 2) / distance;
      return [corner[0] + (point[0] - corner[0]) * share, corner[1] + (point[1] - corner[1]) * share].map(px).join(' ');
    };
    path += `L${toward(before)}Q${corner.join(' ')} ${toward(after)}`;
  }
  return `${path}L${points.at(-1).join(' ')}`;
}
