// Numbers as text for readers.

// 361984 -> "361 984", with a narrow space that does not break.
function grouped(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

// Three figures and a suitable unit: 361984 -> "353 KiB".
function scaled(number, base, units) {
  let unit = 0;
  while (Math.abs(number) >= base && unit + 1 < units.length) {
    number /= base;
    ++unit;
  }
  const digits = number >= 100 || unit === 0 ? 0 : number >= 10 ? 1 : 2;
  return `${Number(number.toFixed(digits))}\u00a0${units[unit]}`;
}

const bytesText = (bytes) => scaled(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB']);
const energyText = (picojoules) => scaled(picojoules, 1000, ['pJ', 'nJ', 'µJ', 'mJ', 'J']);
const macsText = (macs) => scaled(macs, 1000, ['MAC', 'kMAC', 'MMAC', 'GMAC', 'TMAC']);
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)}\u202f%`;
const shapeText = (shape) => shape.join('×');
const count = (number, thing) => `${grouped(number)} ${thing}${number === 1 ? '' : 's'}`;

function timeText(cycles) {
  if (!(plan.clock_hz > 0)) return '';
  const nanoseconds = (cycles / plan.clock_hz) * 1e9;
  return scaled(nanoseconds, 1000, ['ns', 'µs', 'ms', 's']);
}

// The least of 1, 2, 5 times a power of ten (a power of two for bytes) that divides `extent` into
// at most `most` steps.
function tickOf(extent, most, binary) {
  let tick = 1;
  for (let i = 0; extent / tick > most; ++i) tick *= binary ? 2 : i % 3 === 1 ? 2.5 : 2;
  return tick;
}
