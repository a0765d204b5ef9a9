// The memory map of one subgraph: steps to the right, addresses upwards, a rectangle for each
// lifespan of a buffer.
//
//     pass 0 (even tiles)   pass 1 (odd tiles)
//   |  +------+           +------+
//   |  | x@0  |  +-----+  | x@0  |      bank 1       dots: written; rings: read
//   |--+------+--| y@1 |--+------+------------
//   |            +-----+                bank 0
//   |  mode a    mode b     mode a
//      conv1     conv2      conv1

// Top, right, bottom, left; the names of banks are on the right.
const mapMargins = [30, 14, 104, 92];
const bankMargin = 84;

// The buffers that live in the memory during the steps.
function buffersWithin(memory, [begin, end]) {
  return plan.buffers
    .map((buffer, index) => ({ buffer, index }))
    .filter(({ buffer }) => buffer.memory === memory && buffer.lives.some(([lower, upper]) => lower < end && begin < upper));
}

function sayBuffer(buffer) {
  const tensor = buffer.tensor >= 0 ? plan.tensors[buffer.tensor] : null;
  const last = buffer.offset + buffer.size;
  const touched = plan.memories[buffer.memory].banks.filter((bank) => bank.begin < last && buffer.offset < bank.end);
  return {
    title: buffer.id,
    rows: [
      ['role', buffer.role.replace('_', ' ')],
      ['size', `${grouped(buffer.size)} B  ${buffer.size >= 1024 ? bytesText(buffer.size) : ''}`],
      ['address', `${grouped(buffer.offset)} to ${grouped(last)}`],
      ['banks', touched.map((bank) => bank.name).join(', ')],
      ['lives', buffer.lives.map(([lower, upper]) => `[${lower}, ${upper})`).join(' ')],
      ['tensor', tensor ? `${tensor.id} ${shapeText(tensor.shape)} ${tensor.type}` : ''],
      ['operator', buffer.op >= 0 ? plan.operators[buffer.op].id : ''],
      ['written at', buffer.accesses.filter(([, , kind]) => kind === 'write').map(([step]) => step).join(' ')],
      ['read at', buffer.accesses.filter(([, , kind]) => kind === 'read').map(([step]) => step).join(' ')],
    ],
  };
}

function sayStep(step, memory) {
  const { phase, kind } = plan.steps[step];
  const mode = plan.schedules[memory]?.[step];
  return {
    title: `step ${step}: ${stepText(plan.steps[step])}`,
    rows: [['kind', kind], ['phase', phase], ['mode', mode === undefined ? '' : plan.memories[memory].modes[mode].name]],
  };
}

class MemoryMap {
  constructor(memory, steps) {
    Object.assign(this, { memory, steps });
    this.of = plan.memories[memory];
    this.buffers = buffersWithin(memory, steps);
    this.peak = Math.max(0, ...this.buffers.map(({ buffer }) => buffer.offset + buffer.size));
    // Shows the whole capacity where there are banks or the buffers fill at least a quarter of it.
    const whole = this.of.banks.length > 0 || this.of.capacity <= 4 * this.peak;
    this.extent = Math.max(1, whole ? this.of.capacity : this.peak * 1.1);
    this.surface = svg('svg', { class: 'surface map' });
    this.found = -1;
    this.viewport = new Viewport(this.surface, {
      x: steps,
      y: [0, this.extent],
      margins: mapMargins.with(1, this.of.banks.length > 0 ? bankMargin : mapMargins[1]),
      draw: () => this.draw(),
    });
  }

  draw() {
    if (!this.viewport) return queueMicrotask(() => this.draw());
    const { left, top, width, height } = this.viewport.frame;
    const { x, y } = this.viewport.view;
    this.x = (step) => left + ((step - x[0]) / (x[1] - x[0])) * width;
    this.y = (address) => top + (1 - (address - y[0]) / (y[1] - y[0])) * height;
    const clip = `clip-map-${this.memory}`;
    const inside = svg('g', { 'clip-path': `url(#${clip})` }, this.banks(), this.buffersDrawn(), this.reserved(), this.limits());
    this.surface.replaceChildren(
      svg('defs', {},
          svg('clipPath', { id: clip }, svg('rect', { x: left, y: top, width, height })),
          svg('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
              svg('path', { d: 'M0 0V6' }))),
      this.addresses(),
      inside,
      svg('rect', { class: 'frame', x: left, y: top, width, height }),
      this.passes(),
      this.stepAxis(),
    );
  }

  get frame() {
    return this.viewport.frame;
  }

  addresses() {
    const { left, width } = this.frame;
    const [low, high] = this.viewport.view.y;
    const tick = tickOf(high - low, 9, true);
    const group = svg('g', { class: 'axis' });
    for (let address = Math.ceil(low / tick) * tick; address <= high; address += tick) {
      const y = px(this.y(address));
      const text = tick % 1024 === 0 ? `${grouped(address / 1024)} KiB` : grouped(address);
      group.append(svg('path', { d: `M${left} ${y}h${width}` }), svg('text', { x: left - 7, y: y + 3.5, 'text-anchor': 'end' }, text));
    }
    return group;
  }

  banks() {
    const { left, width } = this.frame;
    const group = svg('g', { class: 'banks' });
    this.of.banks.forEach((bank, index) => {
      const [top, bottom] = [this.y(bank.end), this.y(bank.begin)];
      const band = svg('rect', { class: index % 2 ? 'odd' : 'even', x: left, y: px(top), width, height: px(bottom - top) });
      group.append(explain(band, () => ({ title: bank.name, rows: [['bank', `${grouped(bank.begin)} to ${grouped(bank.end)}`], ...(bank.sets ?? []).map(([key, names]) => [key.replace('_', ' '), names])] })));
    });
    return group;
  }

  bankNames() {
    const { left, top, width, height } = this.frame;
    const group = svg('g', { class: 'axis' });
    for (const bank of this.of.banks) {
      const [high, low] = [Math.max(top, this.y(bank.end)), Math.min(top + height, this.y(bank.begin))];
      if (low - high < 12) continue;
      group.append(svg('text', { x: left + width + 7, y: (high + low) / 2 + 4 }, cutText(bank.name, bankMargin - 10)));
    }
    return group;
  }

  reserved() {
    const { left, width } = this.frame;
    const group = svg('g');
    for (const { begin, end, reason } of this.of.reserved) {
      const top = this.y(end);
      const range = svg('rect', { class: 'reserved', x: left, y: px(top), width, height: px(this.y(begin) - top) });
      group.append(explain(range, () => ({ title: 'reserved', rows: [['', reason], ['address', `${grouped(begin)} to ${grouped(end)}`]] })));
    }
    return group;
  }

  limits() {
    const { left, width } = this.frame;
    const line = (address, kind, title) => {
      const y = px(this.y(address));
      const hit = svg('path', { class: 'hit', d: `M${left} ${y}h${width}` });
      const group = svg('g', { class: `limit ${kind}` }, hit, svg('path', { d: `M${left} ${y}h${width}` }));
      return explain(group, () => ({ title, rows: [['', `${grouped(address)} B`]] }));
    };
    return svg('g', {}, line(this.peak, 'peak', 'peak of this subgraph'), line(this.of.capacity, 'capacity', 'capacity'));
  }

  buffersDrawn() {
    const group = svg('g', { class: 'buffers' });
    for (const { buffer, index } of this.buffers) group.append(this.bufferDrawn(buffer, index));
    return group;
  }

  bufferDrawn(buffer, index) {
    const top = this.y(buffer.offset + buffer.size);
    const height = this.y(buffer.offset) - top;
    const group = svg('g', {
      class: index === this.found ? 'buffer chosen' : 'buffer',
      style: `--colour: ${colourOf('role', buffer.role)}`,
      'data-buffer': index,
    });
    const step = this.x(1) - this.x(0);
    for (const [lower, upper] of buffer.lives) {
      const [from, to] = [Math.max(lower, this.steps[0]), Math.min(upper, this.steps[1])];
      if (from >= to) continue;
      const [x, width] = [this.x(from), this.x(to) - this.x(from)];
      group.append(svg('rect', { x: px(x + 0.5), y: px(top), width: px(Math.max(1, width - 1)), height: px(Math.max(0.8, height)) }));
      const label = cutText(shortId(buffer), width - 6);
      if (height >= 12 && label) group.append(svg('text', { x: px(x + width / 2), y: px(top + height / 2 + (height > 30 ? 1 : 4)) }, label));
    }
    if (step >= 16 && height >= 30) group.append(...this.accesses(buffer, top + height - 7));
    return explain(group, () => sayBuffer(buffer));
  }

  accesses(buffer, y) {
    return buffer.accesses
      .filter(([step]) => this.steps[0] <= step && step < this.steps[1])
      .map(([step, , kind]) => svg('circle', { class: kind, cx: px(this.x(step + 0.5) + (kind === 'read' ? 4 : -4)), cy: px(y), r: 2.4 }));
  }

  // Runs of steps with one phase in one kind of place: "even tiles", "odd tiles".
  passes() {
    const { left, top, width } = this.frame;
    const group = svg('g', { class: 'axis' }, this.bankNames());
    const bracket = (begin, end, text, y) => {
      const [from, to] = [Math.max(left, this.x(begin) + 2), Math.min(left + width, this.x(end) - 2)];
      if (to - from < 8) return;
      group.append(svg('path', { class: 'bracket', d: `M${px(from)} ${y + 5}v-4H${px(to)}v4` }));
      group.append(svg('text', { x: px((from + to) / 2), y: y - 3, 'text-anchor': 'middle' }, cutText(text, to - from)));
    };
    for (const [begin, end] of plan.loops) {
      if (begin < this.steps[0] || end > this.steps[1]) continue;
      const middle = plan.steps.findIndex((step, index) => begin <= index && index < end && step.phase === 1);
      if (middle < 0) bracket(begin, end, 'loop: every tile', top - 11);
      else {
        bracket(begin, middle, 'loop: even tiles', top - 11);
        bracket(middle, end, 'odd tiles', top - 11);
      }
    }
    return group;
  }

  stepAxis() {
    const { left, top, width, height } = this.frame;
    const group = svg('g', { class: 'axis' });
    const step = this.x(1) - this.x(0);
    const every = Math.max(1, Math.ceil(14 / step));
    const below = top + height;
    const named = this.of.modes.length > 0 ? 30 : 14;
    for (let at = this.steps[0]; at < this.steps[1]; ++at) {
      const [from, to] = [Math.max(left, this.x(at)), Math.min(left + width, this.x(at + 1))];
      if (to <= from) continue;
      const mode = plan.schedules[this.memory]?.[at];
      if (mode !== undefined) group.append(this.modeDrawn(at, mode, from, to, below + 4));
      if ((at - this.steps[0]) % every > 0 || to - from < Math.min(step, 14) * 0.6) continue;
      const middle = px((from + to) / 2);
      const label = svg('text', { transform: `translate(${middle + 3} ${below + named + 14}) rotate(-38)`, 'text-anchor': 'end' },
                        cutText(stepText(plan.steps[at]), 100));
      const number = svg('text', { class: 'number', x: middle, y: below + named, 'text-anchor': 'middle' }, String(at));
      group.append(explain(svg('g', {}, step >= 22 ? number : null, label), () => sayStep(at, this.memory)));
    }
    return group;
  }

  modeDrawn(step, mode, from, to, y) {
    const { name, banks } = this.of.modes[mode];
    const rect = svg('rect', { class: `mode mode-${mode % 4}`, x: px(from + 0.5), y, width: px(Math.max(0.5, to - from - 1)), height: 13 });
    const label = svg('text', { x: px((from + to) / 2), y: y + 10, 'text-anchor': 'middle' }, cutText(name, to - from - 2));
    return explain(svg('g', {}, rect, label), () => ({
      title: `step ${step}: mode ${name}`,
      rows: banks.map((allowed, bank) => [this.of.banks[bank].name, allowed]),
    }));
  }
}

function roleLegend(buffers) {
  const roles = [...new Set(buffers.map(({ buffer }) => buffer.role))];
  return html(
    'ul',
    { class: 'legend' },
    ...roles.map((role) => html('li', {}, html('i', { style: `background: ${colourOf('role', role)}` }), role.replace('_', ' '))),
    html('li', {}, html('i', { class: 'dot write' }), 'written'),
    html('li', {}, html('i', { class: 'dot read' }), 'read'),
  );
}
