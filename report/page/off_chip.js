// The memories off chip: slots to the right, addresses upwards. Each tensor has a colour: a dashed
// box from its first to its last use, and in it its chunks, which are needed only for a while. Two
// boxes that overlap share bytes; a frame is around what they share.
//
//   |     . - - - - .
//   |  . -|## y     |
//   |  |##|- -## . -'        ##  chunks of x and of y
//   |  |x ##- - -|
//   +--'- - - - -'------ slots

// Top, right, bottom, left.
const homeMargins = [26, 14, 34, 92];
const tensorColours = 8;
const mostNamed = 16;
const mostShared = 200;

const meet = ([a, b], [c, d]) => a < d && c < b;
const common = ([a, b], [c, d]) => [Math.max(a, c), Math.min(b, d)];
const addressesOf = (tensor) => [tensor.offset, tensor.offset + tensor.size];
const nameOf = (tensor) => plan.tensors[tensor.tensor].id;

// Pairs that share bytes while both are in use, those that share most first.
function sharingPairs(tensors) {
  const pairs = [];
  tensors.forEach((first, index) => {
    for (const second of tensors.slice(index + 1)) {
      if (!meet(first.life, second.life) || !meet(addressesOf(first), addressesOf(second))) continue;
      const bytes = common(addressesOf(first), addressesOf(second));
      pairs.push({ first, second, bytes, slots: common(first.life, second.life) });
    }
  });
  return pairs.sort((a, b) => b.bytes[1] - b.bytes[0] - (a.bytes[1] - a.bytes[0]));
}

// A colour that the fewest neighbours in time or address have, of these the one used least.
function colourTensors(tensors) {
  const used = Array(tensorColours).fill(0);
  const coloured = [];
  for (const tensor of [...tensors].sort((a, b) => a.life[0] - b.life[0] || a.offset - b.offset)) {
    const near = Array(tensorColours).fill(0);
    const [from, to] = tensor.life;
    for (const other of coloured) {
      if (meet([from - 1, to + 1], other.life) || meet(addressesOf(tensor), addressesOf(other))) ++near[other.colour];
    }
    tensor.colour = near.reduce((best, count, index) => (count < near[best] || (count === near[best] && used[index] < used[best]) ? index : best), 0);
    ++used[tensor.colour];
    coloured.push(tensor);
  }
}

class HomeMap {
  constructor(home) {
    Object.assign(this, { home, tensors: home.tensors, pairs: sharingPairs(home.tensors) });
    colourTensors(this.tensors);
    const low = Math.min(...this.tensors.map((tensor) => tensor.offset));
    const high = Math.max(...this.tensors.map((tensor) => tensor.offset + tensor.size));
    const begin = Math.min(...this.tensors.map((tensor) => tensor.life[0]), ...home.subgraphs.map(([from]) => from));
    const end = Math.max(...this.tensors.map((tensor) => tensor.life[1]), ...home.subgraphs.map(([, to]) => to));
    Object.assign(this, { low, high });
    this.surface = svg('svg', { class: 'surface home' });
    this.viewport = new Viewport(this.surface, {
      x: [begin, end],
      y: [low, high + (high - low) * 0.04],
      margins: homeMargins,
      draw: () => this.draw(),
    });
  }

  draw() {
    if (!this.viewport) return queueMicrotask(() => this.draw());
    const { left, top, width, height } = this.viewport.frame;
    const { x, y } = this.viewport.view;
    this.x = (slot) => left + ((slot - x[0]) / (x[1] - x[0])) * width;
    this.y = (address) => top + (1 - (address - y[0]) / (y[1] - y[0])) * height;
    const clip = `clip-home-${plan.homes.indexOf(this.home)}`;
    this.surface.replaceChildren(
      svg('defs', {}, svg('clipPath', { id: clip }, svg('rect', { x: left, y: top, width, height }))),
      svg('g', { 'clip-path': `url(#${clip})` }, this.bands(), this.lasting(), this.tensorsDrawn(), this.shared(), this.names(), this.limits()),
      this.addresses(),
      svg('rect', { class: 'frame', x: left, y: top, width, height }),
      this.subgraphAxis(),
    );
  }

  // The slots of subgraphs, alternately shaded.
  bands() {
    const { top, height } = this.viewport.frame;
    const group = svg('g', { class: 'banks' });
    this.home.subgraphs.forEach(([from, to], index) => {
      group.append(svg('rect', { class: index % 2 ? 'odd' : 'even', x: px(this.x(from)), y: top, width: px(this.x(to) - this.x(from)), height }));
    });
    return group;
  }

  // Constants and state.
  lasting() {
    const group = svg('g', { class: 'lasting' });
    for (const range of this.home.lasting) {
      if (!meet(range, this.viewport.view.y)) continue;
      const band = svg('rect', this.box(this.viewport.view.x, range));
      group.append(explain(band, () => ({ title: 'constants and state', rows: [['address', range.map(grouped).join(' to ')], ['size', bytesText(range[1] - range[0])]] })));
    }
    return group;
  }

  box([from, to], [low, high]) {
    return { x: px(this.x(from)), y: px(this.y(high)), width: px(Math.max(1, this.x(to) - this.x(from))), height: px(Math.max(1, this.y(low) - this.y(high))) };
  }

  // First all boxes, so that none tints the chunks of another.
  tensorsDrawn() {
    const drawn = (tensor, node) => {
      const group = svg('g', { class: 'stay', style: `--colour: var(--tensor-${tensor.colour})`, 'data-tensor': tensor.tensor }, node);
      return explain(group, () => this.sayTensor(tensor));
    };
    const boxes = this.tensors.map((tensor) => drawn(tensor, svg('rect', this.box(tensor.life, addressesOf(tensor)))));
    const chunks = this.tensors.map((tensor) => drawn(tensor, svg('path', { d: tensor.chunks.map((chunk) => this.outline(tensor, chunk)).join('') })));
    return svg('g', {}, ...boxes, ...chunks);
  }

  outline(tensor, [low, high, from, to]) {
    const { x, y, width, height } = this.box([from, to], [tensor.offset + low, tensor.offset + high]);
    return `M${x} ${y}h${width}v${height}h${-width}z`;
  }

  names() {
    const group = svg('g', { class: 'names' });
    for (const tensor of this.tensors) {
      if (this.y(tensor.offset) - this.y(tensor.offset + tensor.size) < 12) continue;
      // In the chunk in the middle of its addresses.
      const middle = tensor.size / 2;
      const [low, high, from, to] = tensor.chunks.find(([, end]) => middle < end) ?? tensor.chunks[0];
      const label = cutText(nameOf(tensor), Math.min(this.x(tensor.life[1]) - this.x(tensor.life[0]), 2 * (this.x(to) - this.x(from))) - 6);
      const address = tensor.offset + Math.min(Math.max(middle, low), high);
      if (label) group.append(svg('text', { x: px(this.x((from + to) / 2)), y: px(this.y(address) + 4) }, label));
    }
    return group;
  }

  shared() {
    const group = svg('g', { class: 'shared' });
    for (const { slots, bytes } of this.pairs.slice(0, mostShared)) group.append(svg('rect', this.box(slots, bytes)));
    return group;
  }

  sayTensor(tensor) {
    const { unit } = this.home;
    const { shape, type, role } = plan.tensors[tensor.tensor];
    const sharing = this.pairs.filter(({ first, second }) => first === tensor || second === tensor);
    const others = sharing.slice(0, 6).map(({ first, second, bytes }) => `${nameOf(first === tensor ? second : first)}: ${bytesText(bytes[1] - bytes[0])}`);
    return {
      title: nameOf(tensor),
      rows: [
        ['role', role],
        ['shape', `${shapeText(shape)} ${type}`],
        ['size', `${grouped(tensor.size)} B  ${tensor.size >= 1024 ? bytesText(tensor.size) : ''}`],
        ['address', addressesOf(tensor).map(grouped).join(' to ')],
        ['in use', `${unit}s [${tensor.life[0]}, ${tensor.life[1]})`],
        ['chunks drawn', tensor.chunks.length > 1 ? grouped(tensor.chunks.length) : ''],
        ['shares with', others.join('\n') + (sharing.length > others.length ? `\nand ${sharing.length - others.length} more` : '')],
      ],
    };
  }

  addresses() {
    const { left } = this.viewport.frame;
    const [low, high] = this.viewport.view.y;
    const tick = tickOf(high - low, 8, true);
    const group = svg('g', { class: 'axis' });
    for (let address = Math.ceil(low / tick) * tick; address <= high; address += tick) {
      const y = px(this.y(address));
      const text = tick % 1024 === 0 ? `${grouped(address / 1024)} KiB` : grouped(address);
      group.append(svg('path', { d: `M${left - 4} ${y}h4` }), svg('text', { x: left - 7, y: y + 3.5, 'text-anchor': 'end' }, text));
    }
    return group;
  }

  limits() {
    const { left, width } = this.viewport.frame;
    const line = (address, kind, title) => {
      const d = `M${left} ${px(this.y(address))}h${width}`;
      return explain(svg('g', { class: `limit ${kind}` }, svg('path', { class: 'hit', d }), svg('path', { d })), () => ({ title, rows: [['', `${grouped(address)} B`]] }));
    };
    return svg('g', {}, line(this.home.peak, 'peak', 'off-chip peak'), line(this.home.capacity, 'capacity', 'capacity'));
  }

  // A click on the number of a subgraph chooses it.
  subgraphAxis() {
    const { left, top, width, height } = this.viewport.frame;
    const group = svg('g', { class: 'axis' });
    let free = left;
    this.home.subgraphs.forEach(([begin, end], index) => {
      const [from, to] = [Math.max(left, this.x(begin)), Math.min(left + width, this.x(end))];
      if (to - from < 2 || (from + to) / 2 - 11 < free) return;
      free = (from + to) / 2 + 11;
      const label = to - from > 60 ? cutText(`${index}  ${spanOf(plan.subgraphs[index])}`, to - from - 6) : String(index);
      const text = svg('text', { class: 'choose', x: px((from + to) / 2), y: top - 8, 'text-anchor': 'middle' }, label);
      text.addEventListener('click', () => select(index));
      group.append(explain(text, () => ({ title: `subgraph ${index}: ${spanOf(plan.subgraphs[index])}`, rows: [[`${this.home.unit}s`, `[${begin}, ${end})`]] })));
    });
    const [low, high] = this.viewport.view.x;
    const tick = Math.max(1, tickOf(high - low, 10, false));
    for (let slot = Math.ceil(low / tick) * tick; slot <= high; slot += tick) {
      const x = px(this.x(slot));
      group.append(svg('path', { d: `M${x} ${top + height}v4` }), svg('text', { x, y: top + height + 17, 'text-anchor': 'middle' }, grouped(slot)));
    }
    group.append(svg('text', { x: left + width, y: top + height + 30, 'text-anchor': 'end' }, `${this.home.unit}s`));
    return group;
  }

  legend() {
    const bySize = [...this.tensors].sort((a, b) => b.size - a.size);
    const items = bySize.slice(0, mostNamed).map((tensor) => {
      const item = html('li', {}, html('i', { style: `background: var(--tensor-${tensor.colour})` }), html('b', {}, cutText(nameOf(tensor), 160)), ` ${bytesText(tensor.size)}`);
      const mark = (on) => this.surface.querySelectorAll(`[data-tensor="${tensor.tensor}"]`).forEach((node) => node.classList.toggle('found', on));
      item.addEventListener('pointerenter', () => mark(true));
      item.addEventListener('pointerleave', () => mark(false));
      return item;
    });
    const more = bySize.length - items.length;
    return html('ul', { class: 'legend' }, ...items, more > 0 ? html('li', {}, `and ${count(more, 'smaller tensor')}`) : null,
                this.home.lasting.some((range) => meet(range, [this.low, this.high])) ? html('li', {}, html('i', { style: 'background: var(--other)' }), 'constants and state') : null,
                this.pairs.length > 0 ? html('li', {}, html('i', { class: 'shared-key' }), 'bytes that two tensors share while both are in use') : null);
  }

  caption() {
    const { home } = this;
    const drawn = this.tensors.reduce((sum, tensor) => sum + tensor.chunks.length, 0);
    const bound = home.lower_bound ? `, at least ${grouped(home.lower_bound)} B` : '';
    const sentences = [`Peak ${grouped(home.peak)} B${bound}.`];
    if (home.unit === 'slot') {
      sentences.push('A slot is a tile of a subgraph. A dashed box is a tensor from its first to its last use; its full parts are chunks, each until no tile needs it.');
    } else if (home.by_tiles) {
      sentences.push('Tensors share bytes tile by tile, but there are too many tiles to draw: each is drawn for whole subgraphs.');
    } else {
      sentences.push('A tensor keeps all its bytes from the subgraph that makes it to its last reader.');
    }
    if (drawn < home.all_chunks) {
      sentences.push(`${grouped(home.all_chunks)} chunks are drawn as ${grouped(drawn)}: neighbours are joined, and drawn as long as any of them is needed.`);
    }
    if (this.pairs.length > mostShared) sentences.push(`Of ${grouped(this.pairs.length)} pairs that share bytes, the largest ${mostShared} have a frame.`);
    const lasting = home.lasting.reduce((sum, [begin, end]) => sum + end - begin, 0);
    if (lasting > 0) sentences.push(`${bytesText(lasting)} of constants and state are there at all times (grey); the drawing covers addresses ${grouped(this.low)} to ${grouped(this.high)}, where tensors come and go.`);
    return sentences.join(' ');
  }
}

// A drawing for each memory in which tensors come and go.
function drawHomes() {
  for (const home of plan.homes) {
    if (home.tensors.length === 0) continue;
    const map = new HomeMap(home);
    byId('off-chip').append(
      html('div', { class: 'bar-title' }, html('h2', {}, `Memory off chip: ${home.memory}`), html('span', { class: 'faint' }, count(home.tensors.length, 'tensor') + ' that come and go'), map.viewport.buttons()),
      html('div', { class: 'panel' }, map.surface, map.legend()),
      html('p', { class: 'faint caption' }, map.caption()),
    );
  }
}
