// A view of a drawing that is larger than its place. Dragging moves it; the wheel with Ctrl and the
// buttons zoom. The drawing states its extent, [low, high] along x and, where it can move that way,
// along y. It is drawn again whenever the view changes. With `square` both axes keep one scale.
//
//   extent  |---------------------------------|
//   view            |===========|

class Viewport {
  constructor(surface, { x, y, square = false, margins = [0, 0, 0, 0], draw }) {
    Object.assign(this, { surface, square, margins, draw });
    this.extent = { x, y };
    this.view = {};
    this.fit();
    this.listen();
    new ResizeObserver(() => (this.square ? this.fit() : this.draw())).observe(surface);
  }

  // The place of the drawing in pixels: margins are top, right, bottom, left.
  get frame() {
    const [top, right, bottom, left] = this.margins;
    return {
      left,
      top,
      width: Math.max(1, this.surface.clientWidth - left - right),
      height: Math.max(1, this.surface.clientHeight - top - bottom),
    };
  }

  // Shows everything.
  fit() {
    this.view = { x: [...this.extent.x], y: this.extent.y && [...this.extent.y] };
    if (this.square) {
      const { width, height } = this.frame;
      const lengths = { x: this.view.x[1] - this.view.x[0], y: this.view.y[1] - this.view.y[0] };
      const unit = Math.max(lengths.x / width, lengths.y / height);
      for (const [axis, room] of [['x', width], ['y', height]]) {
        const spare = (unit * room - lengths[axis]) / 2;
        this.view[axis] = [this.view[axis][0] - spare, this.view[axis][1] + spare];
      }
    }
    this.whole = { x: [...this.view.x], y: this.view.y && [...this.view.y] };
    this.draw();
  }

  // Scales by `factor` about a point; the point is given in shares of the frame.
  zoom(factor, atX = 0.5, atY = 0.5) {
    for (const [axis, at] of [['x', atX], ['y', atY]]) {
      const range = this.view[axis];
      if (!range) continue;
      const length = range[1] - range[0];
      const least = (this.whole[axis][1] - this.whole[axis][0]) / 400;
      const wanted = Math.min(Math.max(length / factor, least), this.whole[axis][1] - this.whole[axis][0]);
      const centre = range[0] + at * length;
      this.place(axis, centre - at * wanted, wanted);
    }
    this.draw();
  }

  // Moves by shares of the frame.
  move(shareX, shareY) {
    for (const [axis, share] of [['x', shareX], ['y', shareY]]) {
      const range = this.view[axis];
      if (range) this.place(axis, range[0] + share * (range[1] - range[0]), range[1] - range[0]);
    }
    this.draw();
  }

  // Moves a box into the middle, as large as `share` of the frame allows.
  show(box, share = 0.5) {
    const lengths = {};
    for (const axis of ['x', 'y']) lengths[axis] = (box[axis][1] - box[axis][0]) / share;
    const { width, height } = this.frame;
    const unit = Math.max(lengths.x / width, lengths.y / height);
    for (const [axis, room] of [['x', width], ['y', height]]) {
      const wanted = Math.min(unit * room, this.whole[axis][1] - this.whole[axis][0]);
      this.place(axis, (box[axis][0] + box[axis][1] - wanted) / 2, wanted);
    }
    this.draw();
  }

  place(axis, low, length) {
    const [least, most] = this.whole[axis];
    const begin = Math.min(Math.max(low, least), Math.max(least, most - length));
    this.view[axis] = [begin, begin + length];
  }

  listen() {
    const share = (event) => {
      const box = this.surface.getBoundingClientRect();
      const { left, top, width, height } = this.frame;
      const across = (event.clientX - box.left - left) / width;
      const down = (event.clientY - box.top - top) / height;
      // Addresses grow upwards.
      return [Math.min(1, Math.max(0, across)), Math.min(1, Math.max(0, this.square ? down : 1 - down))];
    };
    this.surface.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY / 300), ...share(event));
      },
      { passive: false },
    );
    let last = null;
    let dragged = 0;
    this.surface.addEventListener('pointerdown', (event) => {
      last = event.button === 0 ? [event.clientX, event.clientY] : null;
      dragged = 0;
    });
    this.surface.addEventListener('pointermove', (event) => {
      if (!last || event.buttons !== 1) return;
      const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
      dragged += Math.abs(dx) + Math.abs(dy);
      // A click is not a drag. Capturing the pointer earlier would take clicks away from the drawn
      // nodes.
      if (dragged < 5) return;
      if (!this.surface.hasPointerCapture(event.pointerId)) this.surface.setPointerCapture(event.pointerId);
      last = [event.clientX, event.clientY];
      const { width, height } = this.frame;
      this.move(-dx / width, (this.square ? -dy : dy) / height);
    });
    this.surface.addEventListener('click', (event) => dragged >= 5 && event.stopPropagation(), true);
    this.surface.addEventListener('dblclick', (event) => this.zoom(2, ...share(event)));
  }

  // The buttons next to the drawing's title.
  buttons() {
    const button = (text, title, act) => {
      const node = html('button', { type: 'button', title, 'aria-label': title }, text);
      node.addEventListener('click', act);
      return node;
    };
    return html(
      'span',
      { class: 'zoom', title: 'Drag to move, Ctrl and wheel to zoom' },
      button('−', 'Zoom out', () => this.zoom(1 / 1.6)),
      button('+', 'Zoom in', () => this.zoom(1.6)),
      button('fit', 'Show everything', () => this.fit()),
    );
  }
}
