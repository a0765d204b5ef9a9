'use strict';
// A row is an answer: the values of its point, its objectives and metrics. The plot, the parallel
// axes and the table show the rows that pass the filters.
const doc = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const state = { network: '', x: '', y: '', frontOnly: false, ranges: {}, picked: null, sort: '', up: true };

const axisNames = doc.axes.map((axis) => axis.name);
const columns = [...axisNames, ...doc.objectives.filter((name) => !axisNames.includes(name))];
const setName = 'all networks';

function rowOf(network, entry, front, answer) {
  const row = { network, point: entry.point, minimized: entry.minimized, front, answer, cells: {} };
  axisNames.forEach((name, i) => { row.cells[name] = doc.points[entry.point].values[i]; });
  doc.objectives.forEach((name, i) => { row.cells[name] = entry.values[i]; });
  return row;
}

function rowsOfNetworks() {
  const rows = [];
  for (const pair of doc.pairs) {
    const front = new Set((doc.fronts[pair.network] || []).map((each) => each.point + ' ' + each.minimized));
    for (const answer of pair.answers || []) {
      if (!answer.values) continue;
      const entry = { point: pair.point, minimized: answer.minimized, values: answer.values };
      rows.push(rowOf(pair.network, entry, front.has(pair.point + ' ' + answer.minimized), answer));
    }
  }
  return rows;
}

const rows = rowsOfNetworks().concat((doc.set_front || []).map((entry) => rowOf(setName, entry, true, null)));

function shorten(value) {
  if (typeof value !== 'number') return String(typeof value === 'object' ? JSON.stringify(value) : value);
  if (Number.isInteger(value)) return value.toLocaleString('en').replaceAll(',', ' ');
  return Math.abs(value) >= 1e6 ? Math.round(value).toLocaleString('en').replaceAll(',', ' ') : String(+value.toPrecision(5));
}

// The place of a value along a column: numbers by size, names by their order of appearance.
const scales = {};
function scaleOf(name) {
  const key = state.network + ' ' + name;
  if (scales[key]) return scales[key];
  const values = rows.filter((row) => row.network === state.network).map((row) => row.cells[name]);
  const numeric = values.every((value) => typeof value === 'number');
  const keys = numeric ? [] : [...new Set(values.map(shorten))];
  const numbers = numeric ? values : values.map((value) => keys.indexOf(shorten(value)));
  let low = Infinity, high = -Infinity;
  for (const number of numbers) { low = Math.min(low, number); high = Math.max(high, number); }
  const logs = numeric && low > 0 && high / low > 20;
  const place = (value) => {
    const number = numeric ? value : keys.indexOf(shorten(value));
    if (high <= low) return 0.5;
    return logs ? Math.log(number / low) / Math.log(high / low) : (number - low) / (high - low);
  };
  return scales[key] = { place, low: numeric ? low : keys[0], high: numeric ? high : keys[keys.length - 1], logs };
}

function passes(row) {
  if (row.network !== state.network || (state.frontOnly && !row.front)) return false;
  return Object.entries(state.ranges).every(([name, [from, to]]) => {
    const place = scaleOf(name).place(row.cells[name]);
    return from <= place && place <= to;
  });
}

function contextOf(canvas) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  context.font = '11px system-ui, sans-serif';
  return context;
}

const colorOf = (row) => row === state.picked ? '#c2410c' : row.front ? '#0b5cad' : '#9fb3c8';
const inFrontOrder = (shown) => [...shown].sort((a, b) => (a.front - b.front) || ((a === state.picked) - (b === state.picked)));

const plotFrame = (canvas) => ({ left: 92, top: 12, width: canvas.clientWidth - 112, height: canvas.clientHeight - 52 });
function plotPlace(frame, row) {
  return [frame.left + scaleOf(state.x).place(row.cells[state.x]) * frame.width,
          frame.top + (1 - scaleOf(state.y).place(row.cells[state.y])) * frame.height];
}

function drawPlot(shown) {
  const canvas = byId('plot'), context = contextOf(canvas), frame = plotFrame(canvas);
  context.strokeStyle = '#d5dde5';
  context.strokeRect(frame.left, frame.top, frame.width, frame.height);
  context.fillStyle = '#68788a';
  const x = scaleOf(state.x), y = scaleOf(state.y), bottom = frame.top + frame.height;
  context.fillText(shorten(x.low), frame.left, bottom + 16);
  context.textAlign = 'right';
  context.fillText(shorten(x.high), frame.left + frame.width, bottom + 16);
  context.fillText(shorten(y.low), frame.left - 4, bottom);
  context.fillText(shorten(y.high), frame.left - 4, frame.top + 8);
  context.textAlign = 'center';
  context.fillText(state.x + (x.logs ? ' (logarithmic)' : ''), frame.left + frame.width / 2, bottom + 32);
  context.save();
  context.translate(12, frame.top + frame.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(state.y + (y.logs ? ' (logarithmic)' : ''), 0, 0);
  context.restore();
  for (const row of inFrontOrder(shown)) {
    const [px, py] = plotPlace(frame, row);
    context.fillStyle = colorOf(row);
    context.beginPath();
    context.arc(px, py, row === state.picked ? 7 : row.front ? 5 : 3.5, 0, 2 * Math.PI);
    context.fill();
  }
}

const parallelX = (canvas, i) => 50 + i * (canvas.clientWidth - 100) / Math.max(1, columns.length - 1);
const parallelY = (canvas, place) => 40 + (1 - place) * (canvas.clientHeight - 64);

function drawParallel(shown) {
  const canvas = byId('parallel'), context = contextOf(canvas);
  for (const row of inFrontOrder(shown)) {
    context.strokeStyle = colorOf(row);
    context.lineWidth = row === state.picked ? 3 : 1;
    context.beginPath();
    columns.forEach((name, i) => context.lineTo(parallelX(canvas, i), parallelY(canvas, scaleOf(name).place(row.cells[name]))));
    context.stroke();
  }
  context.lineWidth = 1;
  context.textAlign = 'center';
  columns.forEach((name, i) => {
    const px = parallelX(canvas, i), range = state.ranges[name];
    context.strokeStyle = '#68788a';
    context.strokeRect(px, parallelY(canvas, 1), 0, parallelY(canvas, 0) - parallelY(canvas, 1));
    if (range) {
      context.fillStyle = 'rgba(194, 65, 12, 0.3)';
      context.fillRect(px - 5, parallelY(canvas, range[1]), 10, parallelY(canvas, range[0]) - parallelY(canvas, range[1]));
    }
    context.fillStyle = '#1b2733';
    const title = name.length > 18 ? '…' + name.slice(-17) : name;
    context.fillText(title, px, i % 2 ? 24 : 12);
    context.fillStyle = '#68788a';
    context.fillText(shorten(scaleOf(name).high), px, 36);
    context.fillText(shorten(scaleOf(name).low), px, canvas.clientHeight - 8);
  });
}

const kMostRows = 300;
function drawTable(shown) {
  const titles = ['point', ...columns, 'minimized', 'outcome', 'id'];
  const cellOf = (row, title) => title === 'point' ? row.point : title === 'minimized' ? row.minimized
      : title === 'outcome' ? (row.answer ? row.answer.outcome : '') : title === 'id' ? (row.answer ? row.answer.id : '')
      : row.cells[title];
  const head = document.createElement('tr');
  for (const title of titles) {
    const cell = document.createElement('th');
    cell.textContent = title + (state.sort === title ? (state.up ? ' ↑' : ' ↓') : '');
    cell.addEventListener('click', () => { state.up = state.sort === title ? !state.up : true; state.sort = title; draw(); });
    head.append(cell);
  }
  byId('table').tHead.replaceChildren(head);
  const sorted = [...shown].sort((a, b) => {
    if (!state.sort) return (b.front - a.front) || (a.point - b.point);
    const one = cellOf(a, state.sort), other = cellOf(b, state.sort);
    return (one < other ? -1 : one > other ? 1 : 0) * (state.up ? 1 : -1);
  });
  byId('table').tBodies[0].replaceChildren(...sorted.slice(0, kMostRows).map((row) => {
    const line = document.createElement('tr');
    line.className = (row.front ? 'front ' : '') + (row === state.picked ? 'picked' : '');
    for (const title of titles) line.insertCell().textContent = shorten(cellOf(row, title));
    line.addEventListener('click', () => pick(row));
    return line;
  }));
}

function drawDetail() {
  const box = byId('detail'), row = state.picked;
  box.replaceChildren();
  if (!row) return;
  const point = doc.points[row.point];
  const add = (text, tag = 'div') => { const line = document.createElement(tag); line.textContent = text; box.append(line); };
  add(`Point ${row.point} of ${row.network}, profile ${point.profile}, ${row.minimized} minimised: ` +
      columns.map((name) => `${name} ${shorten(row.cells[name])}`).join(', '));
  if (!row.answer) return;
  add(Object.entries(row.answer.metrics).map(([name, value]) => `${name} ${shorten(value)}`).join(', '));
  add(`tessera explore show STORE ${row.answer.id} --output plan.html`, 'code');
}

function pick(row) { state.picked = row; draw(); }

function draw() {
  const shown = rows.filter(passes);
  byId('shown').textContent = `${shown.length} answers, ${shown.filter((row) => row.front).length} on the front` +
      (shown.length > kMostRows ? `; the table has the first ${kMostRows}` : '');
  drawPlot(shown);
  drawParallel(shown);
  drawTable(shown);
  drawDetail();
}

function fill(id, names, chosen) {
  byId(id).append(...names.map((name) => new Option(name, name, false, name === chosen)));
  state[id] = chosen;
  byId(id).addEventListener('change', (event) => { state[id] = event.target.value; draw(); });
}

function start() {
  const counts = {};
  for (const pair of doc.pairs) counts[pair.settled] = (counts[pair.settled] || 0) + 1;
  byId('summary').textContent = `${doc.points.length} points, ${doc.networks.length} networks, ${doc.pairs.length} pairs: ` +
      Object.entries(counts).map(([how, count]) => `${count} ${how}`).join(', ');
  const networks = doc.networks.map((network) => network.name).concat(doc.set_front ? [setName] : []);
  fill('network', networks, networks[0]);
  fill('x', columns, doc.objectives.length > 1 ? doc.objectives[doc.objectives.length - 1] : columns[0]);
  fill('y', columns, doc.objectives[0]);
  byId('front').addEventListener('change', (event) => { state.frontOnly = event.target.checked; draw(); });
  byId('clear').addEventListener('click', () => { state.ranges = {}; draw(); });
  byId('plot').addEventListener('click', (event) => {
    const frame = plotFrame(event.target);
    let nearest = null, distance = 144;
    for (const row of rows.filter(passes)) {
      const [px, py] = plotPlace(frame, row);
      const away = (px - event.offsetX) ** 2 + (py - event.offsetY) ** 2;
      if (away < distance || (away === distance && row.front)) { nearest = row; distance = away; }
    }
    if (nearest) pick(nearest);
  });
  let drag = null;
  const canvas = byId('parallel');
  const placeAt = (event) => 1 - (event.offsetY - 40) / (canvas.clientHeight - 64);
  canvas.addEventListener('pointerdown', (event) => {
    const i = columns.findIndex((name, k) => Math.abs(parallelX(canvas, k) - event.offsetX) < 14);
    if (i >= 0) { drag = { name: columns[i], from: placeAt(event) }; canvas.setPointerCapture(event.pointerId); }
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const to = placeAt(event);
    state.ranges[drag.name] = [Math.min(drag.from, to), Math.max(drag.from, to)];
    draw();
  });
  canvas.addEventListener('pointerup', () => {
    if (drag && state.ranges[drag.name] && state.ranges[drag.name][1] - state.ranges[drag.name][0] < 0.01) delete state.ranges[drag.name];
    drag = null;
    draw();
  });
  window.addEventListener('resize', draw);
  draw();
}

start();
