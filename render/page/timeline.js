// What each resource does and when, and the clock that plays it.
class Timeline {
  constructor(canvas, trace, colourOf, onTime) {
    this.canvas = canvas;
    this.trace = trace;
    this.colourOf = colourOf;
    this.onTime = onTime;
    this.time = 0;  // millionths of the run
    this.playing = null;
    this.picture = document.createElement('canvas');
    this.rows = busiestRows(trace, 140);
    const at = (event) => this.set((event.clientX - canvas.getBoundingClientRect().left - this.left) / (this.width - this.left - 8) * 1e6);
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      at(event);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (event.buttons) at(event);
    });
  }

  get rowHeight() {
    return Math.max(2, Math.min(15, Math.floor(420 / Math.max(1, this.rows.length))));
  }

  resize() {
    const rows = this.rows.length;
    this.canvas.style.height = `${rows * this.rowHeight + 24}px`;
    const box = this.canvas.getBoundingClientRect();
    this.dots = window.devicePixelRatio || 1;
    [this.width, this.height] = [box.width, box.height];
    for (const canvas of [this.canvas, this.picture]) {
      canvas.width = Math.round(box.width * this.dots);
      canvas.height = Math.round(box.height * this.dots);
    }
    this.drawBars();
    this.draw();
  }

  // The bars do not change with the time.
  drawBars() {
    const pen = this.picture.getContext('2d');
    const colours = palette();
    const height = this.rowHeight;
    const named = height >= 9 && this.width > 500;
    this.left = named ? 190 : 8;
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = `${Math.min(11, height)}px system-ui, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif`;
    pen.textBaseline = 'middle';
    pen.fillStyle = colours.soft;
    if (named) {
      this.rows.forEach((line, row) => {
        let shown = this.trace.lines[line];
        while (shown.length > 4 && pen.measureText(shown).width > this.left - 14) shown = `${shown.slice(0, -2)}…`.replace('……', '…');
        pen.fillText(shown, 8, row * height + height / 2 + 1);
      });
    }
    const scale = (this.width - this.left - 8) / 1e6;
    const rowOf = new Map(this.rows.map((line, row) => [line, row]));
    for (const [line, start, duration, tree, segment] of this.trace.bars) {
      const row = rowOf.get(line);
      if (row === undefined) continue;
      pen.fillStyle = this.colourOf(tree);
      pen.globalAlpha = segment % 2 === 0 ? 0.95 : 0.65;
      pen.fillRect(this.left + scale * start, row * height + 1, Math.max(0.4, scale * duration), Math.max(1, height - 2));
    }
    pen.globalAlpha = 1;
    pen.fillStyle = colours.soft;
    pen.font = '11px system-ui, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif';
    for (let tick = 0; tick <= 4; ++tick) {
      pen.textAlign = tick === 0 ? 'left' : tick === 4 ? 'right' : 'center';
      pen.fillText(timeText(this.trace.end_s * tick / 4), this.left + scale * 250000 * tick, this.height - 10);
    }
  }

  draw() {
    const pen = this.canvas.getContext('2d');
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.picture, 0, 0);
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    pen.fillStyle = palette().text;
    pen.fillRect(this.left + (this.width - this.left - 8) * this.time / 1e6 - 0.75, 0, 1.5, this.height - 18);
  }

  set(time) {
    this.time = Math.max(0, Math.min(1e6, time));
    this.draw();
    this.onTime(this.time);
  }

  // Plays the rest of the run, or pauses. seconds: for the whole run.
  toggle(seconds, onEnd) {
    if (this.playing) {
      cancelAnimationFrame(this.playing);
      this.playing = null;
      return;
    }
    if (this.time >= 1e6) this.time = 0;
    let before = performance.now();
    const step = (now) => {
      this.set(this.time + (now - before) / (1000 * seconds()) * 1e6);
      before = now;
      this.playing = this.time < 1e6 ? requestAnimationFrame(step) : null;
      if (!this.playing) onEnd();
    };
    this.playing = requestAnimationFrame(step);
  }
}
