// The network on a canvas.
class NetworkMap {
  // callbacks: chosen(node), pointed(text, x, y), tellNode, tellLink, tellTree (texts), wayOf(from, to), colourOf(tree).
  constructor(canvas, network, callbacks) {
    this.canvas = canvas;
    this.network = network;
    this.callbacks = callbacks;
    this.view = null;
    this.chosen = null;
    this.trees = [];    // {colour, paths} to draw
    this.marks = [];    // per node 0 to 1: how much it limits
    this.limiting = new Map();  // "from,to" of links that limit
    this.lines = [];    // drawn ones, for the pointer
    this.points = [];
    this.moment = null;
    this.widths = new Map();
    // Links and trees, and names, are drawn once for each view. While the view moves, their picture moves with it.
    this.layers = ['drawBehind', 'drawNames'].map((draw) => ({draw, picture: document.createElement('canvas'), view: null}));
    this.links = network.links.map((link) => ({from: link[0], to: link[1], Bps: link[2], latency: link[3] || 0, price: link[4] || 0}));
    this.linkOf = new Map(this.links.map((link) => [link.from * network.nodes.length + link.to, link]));
    this.outOf = network.nodes.map(() => []);
    this.into = network.nodes.map(() => []);
    let [least, most] = [Infinity, 0];
    for (const link of this.links) {
      this.outOf[link.from].push(link);
      this.into[link.to].push(link);
      least = Math.min(least, link.Bps);
      most = Math.max(most, link.Bps);
    }
    this.rates = [least, most];
    const families = [...new Set(network.nodes.map((node) => node.family).filter(Boolean))].sort();
    this.families = families.length <= FAMILY_COLOURS.length ? families : [];
    this.listen();
  }

  link(from, to) {
    return this.linkOf.get(from * this.network.nodes.length + to);
  }

  listen() {
    const canvas = this.canvas;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const pointers = new Map();
    let moved = 0;
    canvas.addEventListener('pointerdown', (event) => {
      pointers.set(event.pointerId, at(event));
      canvas.setPointerCapture(event.pointerId);
      if (pointers.size === 1) moved = 0;
    });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = at(event);
      const before = pointers.get(event.pointerId);
      if (!before) return this.point(x, y);
      const others = [...pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      if (others.length > 0) {  // two fingers
        const [ox, oy] = others[0];
        this.view = zoomed(this.view, Math.hypot(x - ox, y - oy) / Math.max(1, Math.hypot(before[0] - ox, before[1] - oy)), ox, oy);
      } else {
        this.view = {...this.view, x: this.view.x + x - before[0], y: this.view.y + y - before[1]};
      }
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      pointers.set(event.pointerId, [x, y]);
      this.callbacks.pointed(null);
      this.draw();
    });
    const release = (event) => {
      if (pointers.delete(event.pointerId) && event.type === 'pointerup' && moved < 6) this.choose(this.nodeAt(...at(event)));
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointerleave', () => this.callbacks.pointed(null));
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 400), ...at(event));
    }, {passive: false});
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    this.view = zoomed(this.view, factor, x, y);
    this.draw();
  }

  pan(x, y) {
    this.view = {...this.view, x: this.view.x + x, y: this.view.y + y};
    this.draw();
  }

  showWhole() {
    this.view = wholeView(this.network.nodes, this.width, this.height);
    this.draw();
  }

  choose(node) {
    this.chosen = node;
    this.callbacks.chosen(node);
    this.draw(true);
  }

  // Brings a node into sight.
  goTo(node) {
    const [x, y] = toScreen(this.view, this.network.nodes[node]);
    if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) this.view = {...this.view, x: this.view.x + this.width / 2 - x, y: this.view.y + this.height / 2 - y};
    this.choose(node);
  }

  nodeAt(x, y) {
    let best = null;
    let least = (this.radius() + 6) ** 2;
    this.points.forEach(([px, py], i) => {
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  }

  // What is under the pointer: a node, or one of the lines that are drawn.
  point(x, y) {
    const node = this.nodeAt(x, y);
    if (node !== null) return this.callbacks.pointed(this.callbacks.tellNode(node), x, y);
    let best = null;
    let least = 36;
    for (const [a, b, text] of this.lines) {
      const distance = distanceToSegment(x, y, this.points[a], this.points[b]);
      if (distance < least) [best, least] = [text, distance];
    }
    this.callbacks.pointed(best === null ? null : best(), x, y);
  }

  // moment: what momentOf says, and the most that a node receives; null: nothing is played.
  setMoment(moment) {
    const changed = (moment === null) !== (this.moment === null);  // trees are pale while something moves
    this.moment = moment;
    this.draw(changed);
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const first = !this.view || this.width === 0;
    const whole = !first && JSON.stringify(this.view) === JSON.stringify(wholeView(this.network.nodes, this.width, this.height));
    const dots = window.devicePixelRatio || 1;
    [this.width, this.height] = [box.width, box.height];
    this.canvas.width = Math.round(box.width * dots);
    this.canvas.height = Math.round(box.height * dots);
    this.dots = dots;
    if (first || whole) this.view = wholeView(this.network.nodes, this.width, this.height);
    this.draw(true);
  }

  radius() {
    const base = Math.max(2.5, Math.min(7, 90 / Math.sqrt(this.network.nodes.length)));
    return base * Math.max(0.8, Math.min(2, Math.sqrt(this.view.scale / wholeView(this.network.nodes, this.width, this.height).scale)));
  }

  // Once for each frame, however often it is called. `changed`: what is drawn, not only where or when.
  draw(changed = false) {
    if (changed) this.layers.forEach((layer) => { layer.view = null; });
    if (this.waiting || !this.view) return;
    this.waiting = requestAnimationFrame(() => this.drawNow());
  }

  // Calls that follow each other closely are of one movement; what takes long is drawn after it.
  drawNow(atRest = false) {
    this.waiting = null;
    this.colours = palette();
    this.points = this.network.nodes.map((node) => toScreen(this.view, node));
    const pen = this.canvas.getContext('2d');
    pen.setTransform(this.dots, 0, 0, this.dots, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    const [behind, names] = this.layers;
    this.putLayer(pen, behind, atRest);
    this.drawMoving(pen);
    this.drawNodes(pen);
    this.putLayer(pen, names, atRest);
    clearTimeout(this.resting);
    if (this.layers.some((layer) => layer.view !== this.view)) this.resting = setTimeout(() => this.drawNow(true), 120);
  }

  // The layer as it is, moved to where the view is now; drawn again where that is quick, or at rest.
  putLayer(pen, layer, atRest) {
    if (layer.view !== this.view && (atRest || !layer.view || layer.took < 8)) {
      const begun = performance.now();
      layer.picture.width = this.canvas.width;
      layer.picture.height = this.canvas.height;
      const own = layer.picture.getContext('2d');
      own.setTransform(this.dots, 0, 0, this.dots, 0, 0);
      this[layer.draw](own);
      layer.view = this.view;
      layer.took = performance.now() - begun;
    }
    const factor = this.view.scale / layer.view.scale;
    pen.drawImage(layer.picture, this.view.x - factor * layer.view.x, this.view.y - factor * layer.view.y, factor * this.width, factor * this.height);
  }

  drawBehind(pen) {
    this.lines = [];
    this.drawLinks(pen);
    this.many = this.trees.reduce((sum, tree) => sum + tree.paths.length, 0) > 1500;
    for (const tree of [...this.trees].reverse()) this.drawTree(pen, tree);  // the fastest on top
  }

  drawLinks(pen) {
    const behind = this.trees.length > 0;
    const chosen = this.chosen === null || behind ? [] : [...this.outOf[this.chosen], ...this.into[this.chosen]];
    const drawn = behind || chosen.length === 0 ? this.links.slice(0, this.network.drawn) : chosen;
    const many = drawn.length > 400;
    pen.lineCap = 'round';
    for (const link of [...drawn].sort((a, b) => a.Bps - b.Bps)) {
      const share = placeOfRate(link.Bps, ...this.rates);
      pen.globalAlpha = behind ? 0.25 : many ? 0.35 + 0.5 * share : 0.9;
      const limits = this.limiting.has(`${link.from},${link.to}`);
      if (limits) pen.globalAlpha = 1;
      pen.strokeStyle = limits ? this.colours.limit : behind || this.network.no_rates ? this.colours.faint : mixed(this.colours.slow, this.colours.fast, share);
      pen.lineWidth = limits ? 3 : behind ? 0.6 : (many ? 0.5 : 0.8) + (many ? 1.2 : 2.5) * share;
      this.stroke(pen, [link.from, link.to]);
      if (!behind) this.lines.push([link.from, link.to, () => this.callbacks.tellLink(link)]);
    }
    pen.globalAlpha = 1;
  }

  stroke(pen, path) {
    pen.beginPath();
    path.forEach((node, i) => (i === 0 ? pen.moveTo(...this.points[node]) : pen.lineTo(...this.points[node])));
    pen.stroke();
  }

  // To the right of the link, so that trees on one link, and the two directions, are told apart.
  strokeBeside(pen, from, to, distance) {
    const [[ax, ay], [bx, by]] = [this.points[from], this.points[to]];
    const shift = distance / Math.max(1, Math.hypot(bx - ax, by - ay));
    const [x, y] = [-shift * (by - ay), shift * (bx - ax)];
    pen.beginPath();
    pen.moveTo(ax + x, ay + y);
    pen.lineTo(bx + x, by + y);
    pen.stroke();
  }

  drawTree(pen, tree) {
    const alone = this.trees.length === 1;
    const size = Math.min(6, this.radius() + 1);
    const drawn = new Set();  // paths over switches share links
    pen.strokeStyle = pen.fillStyle = tree.colour;
    pen.lineWidth = this.many || tree.paths.length > 500 ? 1 : alone ? 1.8 : 1.2;
    for (const path of tree.paths) {
      const near = this.chosen === null || path.includes(this.chosen);
      pen.globalAlpha = (!near ? 0.12 : alone ? 0.95 : this.many ? 0.35 : 0.75) * (this.moment ? 0.3 : 1);
      for (let i = 0; i + 1 < path.length; ++i) {
        const key = path[i] * this.network.nodes.length + path[i + 1];
        if (drawn.has(key) && !(near && this.chosen !== null)) continue;
        drawn.add(key);
        this.strokeBeside(pen, path[i], path[i + 1], this.many ? 0 : 1 + 1.8 * (tree.place % 4));
        this.lines.push([path[i], path[i + 1], () => this.callbacks.tellTree(tree, path)]);
      }
      if (near && (!this.many || this.chosen !== null)) this.drawArrow(pen, this.points[path[path.length - 2]], this.points[path[path.length - 1]], size);
    }
    pen.globalAlpha = 1;
  }

  drawArrow(pen, [ax, ay], [bx, by], size) {
    const length = Math.hypot(bx - ax, by - ay);
    if (length < 3 * size) return;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const [x, y] = [bx - ux * this.radius(), by - uy * this.radius()];
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x - size * ux + 0.5 * size * uy, y - size * uy - 0.5 * size * ux);
    pen.lineTo(x - size * ux - 0.5 * size * uy, y - size * uy + 0.5 * size * ux);
    pen.fill();
  }

  drawMoving(pen) {
    if (!this.moment) return;
    for (const [hop, share] of this.moment.moving) {
      const path = this.callbacks.wayOf(hop[4], hop[5]);
      const points = path.map((node) => this.points[node]);
      pen.strokeStyle = pen.fillStyle = this.callbacks.colourOf(hop[2]);
      pen.globalAlpha = 0.8;
      pen.lineWidth = 1.5;
      this.stroke(pen, path);
      pen.globalAlpha = 1;
      pen.beginPath();
      pen.arc(...placeAlong(points, share), 4.5, 0, 2 * Math.PI);
      pen.fill();
      pen.strokeStyle = this.colours.back;
      pen.stroke();
    }
  }

  drawNodes(pen) {
    const radius = this.radius();
    const most = this.moment ? Math.max(1, this.moment.most) : 1;
    this.network.nodes.forEach((node, i) => {
      const [x, y] = this.points[i];
      const family = this.families.indexOf(node.family);
      pen.globalAlpha = 1;
      pen.fillStyle = node.relay ? this.colours.faint : FAMILY_COLOURS[Math.max(0, family)];
      if (this.moment && i !== this.source) pen.globalAlpha = 0.2 + 0.8 * Math.min(1, this.moment.received[i] / most);
      pen.beginPath();
      if (node.relay) pen.rect(x - 0.8 * radius, y - 0.8 * radius, 1.6 * radius, 1.6 * radius);
      else pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.fill();
      pen.globalAlpha = 1;
      pen.strokeStyle = this.colours.soft;
      pen.lineWidth = 0.8;
      pen.stroke();
      if (this.marks[i] > 0) {
        pen.strokeStyle = this.colours.limit;
        pen.lineWidth = 1.5 + 3 * Math.min(1, 2 * this.marks[i]);
        pen.beginPath();
        pen.arc(x, y, radius + 2.5, 0, 2 * Math.PI);
        pen.stroke();
      }
      if (i === this.chosen || i === this.source) {
        pen.strokeStyle = this.colours.text;
        pen.lineWidth = i === this.chosen ? 2.5 : 1.5;
        pen.beginPath();
        pen.arc(x, y, radius + (i === this.chosen ? 5.5 : 1), 0, 2 * Math.PI);
        pen.stroke();
      }
    });
  }

  // Names where there is room, the most important first.
  drawNames(pen) {
    pen.font = '11px system-ui, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif';
    pen.textBaseline = 'middle';
    const rank = (i) => (i === this.chosen ? 9 : i === this.source ? 8 : 0) + (this.marks[i] || 0) - (this.network.nodes[i].relay ? 1 : 0);
    const order = this.points.map((_, i) => i).filter((i) => this.points[i][0] > -50 && this.points[i][1] > -10 && this.points[i][0] < this.width && this.points[i][1] < this.height + 10);
    order.sort((a, b) => rank(b) - rank(a) || a - b);
    const taken = new Set();
    let drawn = 0;
    for (const i of order) {
      const name = this.network.nodes[i].name;
      if (!this.widths.has(name)) this.widths.set(name, pen.measureText(name).width);
      const width = this.widths.get(name);
      const y = this.points[i][1];
      let x = this.points[i][0] + this.radius() + 4;
      if (x + width > this.width - 2 && this.points[i][0] < this.width) x = this.points[i][0] - this.radius() - 4 - width;
      const cells = [];
      for (let cx = Math.floor(x / 12); cx <= Math.floor((x + width) / 12); ++cx) {
        for (let cy = Math.floor((y - 6) / 12); cy <= Math.floor((y + 6) / 12); ++cy) cells.push(`${cx},${cy}`);
      }
      if (rank(i) < 8 && cells.some((cell) => taken.has(cell))) continue;
      cells.forEach((cell) => taken.add(cell));
      pen.lineWidth = 3;
      pen.strokeStyle = this.colours.halo;
      pen.strokeText(name, x, y);
      pen.fillStyle = this.colours.text;
      pen.fillText(name, x, y);
      if (++drawn >= 400) break;
    }
  }
}

function palette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {text: colour('text'), soft: colour('soft'), line: colour('line'), accent: colour('accent'), limit: colour('limit'), faint: colour('faint'), slow: colour('slow'), fast: colour('fast'), halo: colour('halo'), back: colour('back')};
}
