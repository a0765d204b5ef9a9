// The work of each engine and link in one subgraph, or in all of them: a row for each, cycles to
// the right. Tiles in the middle of a long loop are left out: a hatched gap replaces them.
//
//   subgraph |         0            |     1      |   in the timeline of the program
//   engine   |  C0 C1 |////|C0 C1 | |C2 |C2 |C2  |
//   dma      |ld |ld  |////|st    |st|ld         |
//            0       1000         9000    10000 cycles

const timelineMargins = [18, 12, 34, 118];
const rowHeight = 34;
const gapShare = 0.06;

// Maps cycles to a length, on which a gap takes a fixed share of the whole.
class Squeeze {
  constructor({ cycles, omissions }) {
    const shown = cycles - omissions.reduce((sum, { begin, end }) => sum + end - begin, 0);
    const gap = Math.max(1, (shown * gapShare) / (1 - gapShare));
    this.parts = [];
    let [at, length] = [0, 0];
    const add = (end, shown, gapOf) => {
      this.parts.push({ begin: at, end, from: length, to: length + shown, gapOf });
      [at, length] = [end, length + shown];
    };
    for (const omission of omissions) {
      add(omission.begin, omission.begin - at, null);
      add(omission.end, gap, omission);
    }
    add(cycles, cycles - at, null);
    this.length = Math.max(1, length);
  }

  lengthAt(cycle) {
    const part = this.parts.find(({ end }) => cycle <= end) ?? this.parts.at(-1);
    const share = part.end === part.begin ? 0 : (cycle - part.begin) / (part.end - part.begin);
    return part.from + share * (part.to - part.from);
  }
}

const activityTitles = {
  compute: (op) => op,
  load: (op, tensor) => `load ${tensor}`,
  store: (op, tensor) => `store ${tensor}`,
  constants: () => 'constants that stay',
  slices: (op) => `weights of ${op}`,
  direct: () => 'engines read or write in place',
  copy: () => 'kept rows are copied',
  prefetch: () => 'constants of later subgraphs',
};

// The timelines of all subgraphs, one after the other. `spans`: [begin, end) of each subgraph.
function programTimeline() {
  const whole = { cycles: 0, busy: plan.tracks.map(() => 0), omissions: [], activities: [], spans: [] };
  for (const { cycles, busy, omissions, activities } of plan.timelines) {
    const at = whole.cycles;
    whole.cycles += cycles;
    whole.spans.push([at, whole.cycles]);
    busy.forEach((time, track) => { whole.busy[track] += time; });
    for (const each of omissions) whole.omissions.push({ ...each, begin: at + each.begin, end: at + each.end });
    for (const [begin, end, ...rest] of activities) whole.activities.push([at + begin, at + end, ...rest]);
  }
  return whole;
}

class TimelineDrawing {
  constructor(timeline) {
    this.of = { spans: [], ...timeline };
    this.squeeze = new Squeeze(this.of);
    this.rows = plan.tracks.map((track, index) => ({ track, index })).filter(({ index }) => this.of.busy[index] > 0);
    this.head = this.of.spans.length > 0 ? 1 : 0;
    const height = timelineMargins[0] + timelineMargins[2] + rowHeight * (this.rows.length + this.head);
    this.surface = svg('svg', { class: 'surface timeline', style: `height: ${height}px` });
    this.viewport = new Viewport(this.surface, { x: [0, this.squeeze.length], margins: timelineMargins, draw: () => this.draw() });
  }

  draw() {
    if (!this.viewport) return queueMicrotask(() => this.draw());
    const { left, top, width, height } = this.viewport.frame;
    const [low, high] = this.viewport.view.x;
    this.x = (cycle) => left + ((this.squeeze.lengthAt(cycle) - low) / (high - low)) * width;
    this.surface.replaceChildren(
      svg('defs', {}, svg('clipPath', { id: 'clip-timeline' }, svg('rect', { x: left, y: 0, width, height: top + height }))),
      this.axis(),
      svg('g', { 'clip-path': 'url(#clip-timeline)' }, this.spans(), this.activities(), this.gaps()),
      this.rowNames(),
    );
  }

  rowNames() {
    const { top } = this.viewport.frame;
    const flows = { compute: '', in: ' in', out: ' out', both: '' };
    const group = svg('g', { class: 'axis' });
    if (this.head) group.append(svg('text', { class: 'name', x: timelineMargins[3] - 10, y: top + rowHeight / 2 + 4, 'text-anchor': 'end' }, 'subgraph'));
    this.rows.forEach(({ track, index }, row) => {
      const y = top + (row + this.head) * rowHeight + rowHeight / 2;
      group.append(
        svg('text', { class: 'name', x: timelineMargins[3] - 10, y: y + 0, 'text-anchor': 'end' }, cutText(track.name + flows[track.flow], timelineMargins[3] - 14)),
        svg('text', { x: timelineMargins[3] - 10, y: y + 12, 'text-anchor': 'end' }, `busy ${percent(this.of.busy[index] / Math.max(1, this.of.cycles))}`),
      );
    });
    return group;
  }

  // The subgraphs of the program; a click chooses one.
  spans() {
    const { left, top, width } = this.viewport.frame;
    const group = svg('g', { class: 'spans' });
    this.of.spans.forEach(([begin, end], subgraph) => {
      const [from, to] = [this.x(begin), this.x(end)];
      if (to < left || from > left + width) return;
      const shown = Math.min(to, left + width) - Math.max(from, left);
      const label = cutText(String(subgraph), shown - 2);
      const span = svg(
        'g',
        { class: ['span', subgraph % 2 ? 'odd' : '', subgraph === current ? 'chosen' : ''].join(' ').trim(), 'data-subgraph': subgraph },
        svg('rect', { x: px(from), y: top + 4, width: px(Math.max(0.6, to - from)), height: rowHeight - 8 }),
        label ? svg('text', { x: px(Math.max(from, left) + shown / 2), y: top + 21 }, label) : null,
      );
      span.addEventListener('click', () => select(subgraph));
      group.append(explain(span, () => ({
        title: `subgraph ${subgraph}`,
        rows: [['', spanOf(plan.subgraphs[subgraph])], ['cycles', `${grouped(begin)} to ${grouped(end)}`]],
      })));
    });
    return group;
  }

  // Activities that are narrower than a pixel join neighbours of their kind.
  activities() {
    const { left, top, width } = this.viewport.frame;
    const rowOf = new Map(this.rows.map(({ index }, row) => [index, row + this.head]));
    const group = svg('g', { class: 'activities' });
    const narrow = new Map();
    for (const [index, activity] of this.of.activities.entries()) {
      const [begin, end, track, kind, tile] = activity;
      const [from, to] = [this.x(begin), this.x(end)];
      if (to < left || from > left + width) continue;
      const before = narrow.get(track);
      if (to - from < 1 && before?.kind === kind && from - before.to < 1) {
        before.to = Math.max(before.to, to);
        before.rect.setAttribute('width', px(before.to - before.from));
        continue;
      }
      const y = top + rowOf.get(track) * rowHeight + 4;
      const title = this.titleOf(activity);
      const shown = Math.min(to, left + width) - Math.max(from, left);
      const label = cutText(title, shown - 6);
      const rect = svg('rect', { x: px(from), y, width: px(Math.max(0.6, to - from - 0.6)), height: rowHeight - 8, rx: px(Math.min(3, (to - from) / 4)) });
      narrow.set(track, to - from < 1 ? { kind, from, to, rect } : null);
      const block = svg(
        'g',
        { class: tile % 2 ? 'activity odd' : 'activity', style: `--colour: ${colourOf('do', kind)}`, 'data-activity': index },
        rect,
        label ? svg('text', { x: px(Math.max(from, left) + shown / 2), y: y + 17 }, label) : null,
      );
      group.append(explain(block, () => this.say(activity, title)));
    }
    return group;
  }

  titleOf([, , , kind, , op, tensor]) {
    return activityTitles[kind](plan.operators[op]?.id, plan.tensors[tensor]?.id);
  }

  say([begin, end, track, kind, tile, , , bytes], title) {
    return {
      title,
      rows: [
        ['what', kind],
        ['tile', tile],
        ['cycles', `${grouped(begin)} to ${grouped(end)}`],
        ['lasts', [grouped(end - begin), timeText(end - begin)].filter(Boolean).join(' · ')],
        ['moves', bytes > 0 ? bytesText(bytes) : ''],
        ['on', plan.tracks[track].name],
      ],
    };
  }

  gaps() {
    const { top, height } = this.viewport.frame;
    const head = this.head * rowHeight;
    const group = svg('g', { class: 'gaps' });
    for (const { begin, end, first, count: tiles } of this.of.omissions) {
      const [from, to] = [this.x(begin), this.x(end)];
      const gap = svg('g', {}, svg('rect', { x: px(from), y: top + head, width: px(to - from), height: height - head }),
                      svg('text', { x: px((from + to) / 2), y: top + (head + height) / 2 + 4 }, cutText(`+${grouped(tiles)}`, to - from)));
      group.append(explain(gap, () => ({
        title: `tiles ${first} to ${first + tiles - 1}`,
        rows: [['like their neighbours', `${grouped(end - begin)} cycles`]],
      })));
    }
    return group;
  }

  axis() {
    const { left, top, width, height } = this.viewport.frame;
    const group = svg('g', { class: 'axis' });
    const visible = (this.viewport.view.x[1] - this.viewport.view.x[0]);
    const tick = tickOf(visible, Math.max(2, width / 110), false);
    let last = -Infinity;
    for (const part of this.squeeze.parts.filter(({ gapOf }) => !gapOf)) {
      for (let cycle = Math.ceil(part.begin / tick) * tick; cycle <= part.end; cycle += tick) {
        const x = this.x(cycle);
        if (x < left - 1 || x > left + width + 1 || x - last < 60) continue;
        last = x;
        group.append(svg('path', { d: `M${px(x)} ${top}v${height + 4}` }));
        group.append(svg('text', { x: px(Math.min(x, left + width - 24)), y: top + height + 18, 'text-anchor': 'middle' }, grouped(cycle)));
      }
    }
    group.append(svg('text', { x: left - 10, y: top + height + 18, 'text-anchor': 'end' }, 'cycles'));
    return group;
  }
}

function activityLegend(timeline) {
  const kinds = [...new Set(timeline.activities.map(([, , , kind]) => kind))];
  const words = { compute: 'compute', load: 'tiles in', store: 'tiles out', constants: 'constants, once', slices: 'streamed weights', direct: 'direct access', copy: 'copies of kept rows', prefetch: 'constants, prefetched' };
  return html('ul', { class: 'legend' }, ...kinds.map((kind) =>
    html('li', {}, html('i', { style: `background: ${colourOf('do', kind)}` }), words[kind])));
}

// The timeline of the program, null before it is drawn.
let program = null;

function drawProgram() {
  const whole = programTimeline();
  program = new TimelineDrawing(whole);
  byId('program').replaceChildren(
    html('div', { class: 'bar-title' }, html('h2', {}, 'Program'), html('span', { class: 'faint' }, `${grouped(whole.cycles)} cycles in ${count(whole.spans.length, 'subgraph')}`), program.viewport.buttons()),
    html('div', { class: 'panel' }, program.surface, activityLegend(whole)),
  );
}
