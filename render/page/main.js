// Puts the page together.
function start(facts) {
  const network = facts.network = unpacked(facts.network);
  const nodes = network.nodes;
  network.no_rates = !facts.summary;
  if (network.no_rates) network.drawn = Math.min(2000, network.links.length);
  const name = (node) => nodes[node].name;
  let plan = facts.plans.length > 0 ? 0 : -1;
  // All trees at once hide each other in a large network.
  const firstShown = (one) => (one.trees.length === 1 || one.trees.reduce((sum, tree) => sum + tree.paths.length, 0) <= 1500 ? 'all' : '0');
  let shown = 'network';

  // Loads of the chosen plan, and prices of the optimum, by node and by link.
  const byPlace = (resources, kinds) => {
    const found = new Map();
    for (const [kind, at, load, price] of resources || []) {
      if (!kinds.includes(kind)) continue;
      const key = String(at);
      found.set(key, [...(found.get(key) || []), {kind, load, price}]);
    }
    return found;
  };
  const prices = facts.problem ? facts.problem.resources : [];
  const pricesOfNodes = byPlace(prices, [0, 1, 2]);
  const pricesOfLinks = byPlace(prices, [3]);
  let loadsOfNodes = new Map();
  let loadsOfLinks = new Map();

  const portsText = (key, ofLoads, ofPrices) => {
    const lines = [];
    for (const {kind, load} of ofLoads.get(key) || []) lines.push(`${KINDS[kind]} busy ${percentText(load)}`);
    for (const {kind, price} of ofPrices.get(key) || []) lines.push(`${KINDS[kind]} is ${percentText(price)} of what limits the optimum`);
    return lines;
  };
  const linkLines = (link) => [`${name(link.from)} → ${name(link.to)}`]
    .concat(network.no_rates ? [] : [`${rateText(link.Bps)}${link.latency > 0 ? `, ${timeText(link.latency)}` : ''}${link.price > 0 ? `, ${moneyText(link.price, network.currency)} a GB` : ''}`])
    .concat(portsText(`${link.from},${link.to}`, loadsOfLinks, pricesOfLinks));

  const ways = new Map();  // over switches, as plans know them
  for (const one of facts.plans) {
    for (const tree of one.trees) for (const path of tree.paths) if (path.length > 2) ways.set(`${path[0]},${path[path.length - 1]}`, path);
  }

  const nodeLines = (node) => {
    const {group, relay, send_Bps: send, receive_Bps: receive} = nodes[node];
    const lines = [name(node) + (relay ? ' (switch)' : '')];
    if (group) lines.push(group);
    if (send) lines.push(`sends at most ${rateText(send)}`);
    if (receive) lines.push(`receives at most ${rateText(receive)}`);
    return lines.concat(portsText(String(node), loadsOfNodes, pricesOfNodes));
  };

  const map = new NetworkMap(byId('network'), network, {
    chosen: (node) => about(node),
    pointed: (text, x, y) => {
      const tip = byId('tip');
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      tip.style.left = `${Math.max(0, Math.min(x + 14, map.width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${Math.max(0, Math.min(y + 14, map.height - tip.offsetHeight - 4))}px`;
    },
    tellNode: (node) => nodeLines(node).join('\n'),
    tellLink: (link) => {
      const back = map.link(link.to, link.from);
      return linkLines(link).concat(back && back.Bps !== link.Bps ? linkLines(back) : []).join('\n');
    },
    tellTree: (tree, path) => {
      const link = path.length === 2 ? map.link(path[0], path[1]) : null;
      return [`tree ${tree.index}${tree.root === undefined ? '' : ` of ${tree.root}`}: ${rateText(tree.Bps)}`].concat(link ? linkLines(link) : [path.map(name).join(' → ')]).join('\n');
    },
    colourOf: (number) => colourOfTree(facts, number),
    wayOf: (from, to) => ways.get(`${from},${to}`) || [from, to],
  });

  function about(node) {
    const panel = byId('about');
    if (node === null) {
      const first = facts.problem ? facts.problem.report.bottlenecks.filter((row) => row.kind === 'resource').slice(0, 5) : [];
      panel.replaceChildren(...legend(), ...(first.length > 0 ? [element('h3', {}, 'What limits the optimum'), element('ul', {class: 'plain'}, ...first.map((row) => element('li', {}, `${row.name}: ${percentText(row.price)}`, meter(row.price, true))))] : []), element('p', {class: 'note'}, 'Choose a host to see its links.'));
      return;
    }
    const [title, ...lines] = nodeLines(node);
    const fastest = (links, other) => table([['', (link) => name(other(link)), 'name'], ['', (link) => rateText(link.Bps), 'number']], [...links].sort((a, b) => b.Bps - a.Bps).slice(0, 8));
    const parts = [element('h3', {}, title), ...paragraphs(lines)];
    if (!network.no_rates) {
      for (const [heading, links, other] of [['Fastest links out', map.outOf[node], (link) => link.to], ['Fastest links in', map.into[node], (link) => link.from]]) {
        if (links.length > 0) parts.push(element('h3', {}, heading), fastest(links, other));
      }
    }
    panel.replaceChildren(...parts);
  }

  function legend() {
    const swatch = (colour, text) => {
      const box = element('span', {class: 'swatch'});
      box.style.background = colour;
      return element('li', {}, box, text);
    };
    const trees = map.trees.length > 1 ? map.trees.slice(0, TREE_COLOURS.length) : map.trees;
    const colours = palette();
    const items = map.trees.length > 0
      ? trees.map((tree) => swatch(tree.colour, `tree ${tree.index}${tree.up ? ' (up)' : ''}${tree.root === undefined ? '' : ` of ${tree.root}`}: ${rateText(tree.Bps)}`)).concat(map.trees.length > trees.length ? [swatch(OTHER_TREES, `${map.trees.length - trees.length} more trees`)] : [])
      : network.no_rates ? [] : legendRates(map.links.map((link) => link.Bps)).map((Bps) => swatch(mixed(colours.slow, colours.fast, placeOfRate(Bps, ...map.rates)), rateText(Bps)));
    const families = map.families.map((family, i) => swatch(FAMILY_COLOURS[i], family));
    const heading = map.trees.length > 0 ? 'Trees' : 'Links';
    return [...(items.length > 0 ? [element('h3', {}, heading), element('ul', {class: 'plain'}, ...items)] : []), ...(families.length > 1 ? [element('h3', {}, 'Hosts'), element('ul', {class: 'plain'}, ...families)] : [])];
  }

  function listTrees() {
    const trees = plan < 0 ? [] : facts.plans[plan].trees;
    const options = [['network', 'the links']];
    if (trees.length > 0) options.push(['all', trees.length === 1 ? 'its tree' : `all ${trees.length} trees`]);
    if (trees.length > 1) trees.forEach((tree, i) => options.push([String(i), `tree ${tree.index}${tree.up ? ' (up)' : ''}${tree.root === undefined ? '' : ` of ${tree.root}`}, ${rateText(tree.Bps)}`]));
    byId('shown').replaceChildren(...options.map(([value, text]) => element('option', {value}, text)));
    byId('shown').value = shown;
  }

  // Draws the chosen plan and trees.
  function refresh() {
    const one = plan < 0 ? null : facts.plans[plan];
    const coloured = one ? one.trees.map((tree, place) => ({...tree, place, colour: treeColour(place)})) : [];
    map.trees = shown === 'network' ? [] : shown === 'all' ? coloured : [coloured[Number(shown)]];
    loadsOfNodes = byPlace(one ? one.resources : [], [0, 1, 2]);
    loadsOfLinks = byPlace(one ? one.resources : [], [3]);
    const source = one ? one.source : facts.problem ? facts.problem.source : null;
    map.source = source === null ? -1 : nodes.findIndex((node) => node.name === source);
    map.limiting = pricesOfLinks;
    map.marks = nodes.map((_, i) => (pricesOfNodes.get(String(i)) || []).reduce((sum, {price}) => sum + price, 0));
    for (const [key, ports] of pricesOfLinks) for (const end of key.split(',')) map.marks[Number(end)] += ports[0].price / 2;
    const notes = [];
    if (network.links_in_all > network.drawn) notes.push(`The map shows the ${network.drawn}${network.no_rates ? '' : ' strongest'} of ${network.links_in_all} links${network.links.length < network.links_in_all ? `; ${network.links.length} are in this page` : '; choose a host to see all of its links'}.`);
    if (one && one.trees.length < one.trees_in_all) notes.push(`Of ${one.trees_in_all} trees the ${one.trees.length} with the greatest rates are in this page.`);
    byId('map-note').textContent = notes.join(' ');
    if (map.chosen === null) about(null);
    map.draw(true);
  }

  function choosePlan(index) {
    plan = index;
    shown = plan < 0 ? 'network' : firstShown(facts.plans[plan]);
    byId('plan').value = String(plan);
    listTrees();
    refresh();
  }

  function chooseTree(step) {
    const options = [...byId('shown').options].map((option) => option.value);
    shown = options[(options.indexOf(shown) + step + options.length) % options.length];
    byId('shown').value = shown;
    refresh();
  }

  byId('plan').replaceChildren(...(facts.plans.length === 0 ? [element('option', {value: '-1'}, 'none')] : facts.plans.map((one, i) => element('option', {value: String(i)}, one.file))));
  byId('plan').parentElement.hidden = facts.plans.length < 2;
  byId('shown').parentElement.hidden = facts.plans.length === 0;
  byId('plan').addEventListener('change', () => choosePlan(Number(byId('plan').value)));
  byId('shown').addEventListener('change', () => {
    shown = byId('shown').value;
    refresh();
  });
  byId('names').replaceChildren(...nodes.slice(0, 2000).map((node) => element('option', {value: node.name})));
  byId('find').addEventListener('input', () => {
    const wanted = byId('find').value;
    const found = nodes.findIndex((node) => node.name === wanted);
    if (found >= 0) map.goTo(found);
  });
  byId('closer').addEventListener('click', () => map.zoom(1.4));
  byId('farther').addEventListener('click', () => map.zoom(1 / 1.4));
  byId('whole').addEventListener('click', () => map.showWhole());

  const timeline = facts.trace ? startTimeline(facts, map) : null;
  const keys = {
    ArrowLeft: () => map.pan(50, 0), ArrowRight: () => map.pan(-50, 0), ArrowUp: () => map.pan(0, 50), ArrowDown: () => map.pan(0, -50),
    '+': () => map.zoom(1.25), '=': () => map.zoom(1.25), '-': () => map.zoom(0.8), 0: () => map.showWhole(),
    n: () => map.goTo(map.chosen === null ? 0 : (map.chosen + 1) % nodes.length),
    p: () => map.goTo(map.chosen === null ? nodes.length - 1 : (map.chosen + nodes.length - 1) % nodes.length),
    t: () => chooseTree(1), r: () => chooseTree(-1), Escape: () => map.choose(null), ' ': () => timeline && byId('play').click(),
  };
  byId('network').addEventListener('keydown', (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  showHead(facts);
  showLimits(facts);
  showPlans(facts, (index) => {
    choosePlan(index);
    byId('map').scrollIntoView();
  });
  showAlgorithms(facts);
  showCost(facts);
  showCommands(facts);
  choosePlan(plan);

  const redraw = () => {
    map.resize();
    if (timeline) timeline.resize();
    refresh();
  };
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  byId('theme').addEventListener('click', () => {
    const isDark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : dark.matches;
    document.documentElement.dataset.theme = isDark ? 'light' : 'dark';
    redraw();
  });
  dark.addEventListener('change', redraw);
  // Paper is white. What is printed is drawn at once, not in the next frame.
  let theme = null;
  window.addEventListener('beforeprint', () => {
    theme = document.documentElement.dataset.theme || '';
    document.documentElement.dataset.theme = 'light';
    redraw();
    map.drawNow(true);
  });
  window.addEventListener('afterprint', () => {
    document.documentElement.dataset.theme = theme;
    if (!theme) delete document.documentElement.dataset.theme;
    redraw();
  });
  new ResizeObserver(redraw).observe(byId('network'));
  redraw();
}

// Of a trace's tree: that of the plan's tree, if the plan is on the page.
function colourOfTree(facts, number) {
  if (number < 0) return OTHER_TREES;
  const place = facts.plans.length > 0 ? facts.plans[0].trees.findIndex((tree) => tree.number === number) : number;
  return treeColour(place < 0 ? TREE_COLOURS.length : place);
}

function startTimeline(facts, map) {
  const trace = facts.trace;
  byId('player').hidden = false;
  const whole = momentOf(trace.hops, 1e6, facts.network.nodes.length).received;
  const most = Math.max(...whole, 1);
  const timeline = new Timeline(byId('timeline'), trace, (number) => colourOfTree(facts, number), (time) => {
    map.setMoment(time > 0 ? {...momentOf(trace.hops, time, facts.network.nodes.length), most} : null);
    byId('time').value = String(time);
    byId('clock').textContent = timeText(trace.end_s * time / 1e6);
  });
  byId('time').addEventListener('input', () => timeline.set(Number(byId('time').value)));
  const label = () => { byId('play').textContent = timeline.playing ? 'Pause' : 'Play'; };
  byId('play').addEventListener('click', () => {
    timeline.toggle(() => Number(byId('speed').value), label);
    label();
  });
  const notes = ['A row for each resource, a bar for each send, in the colour of its tree. While it plays, a host becomes opaque as segments arrive.'];
  if (timeline.rows.length < trace.lines.length) notes.push(`The ${timeline.rows.length} busiest of ${trace.lines.length} resources are shown.`);
  if (trace.every > 1) notes.push(`Of each ${trace.every} segments one is shown.`);
  if (trace.bars.length < trace.bars_in_all) notes.push(`${trace.bars.length} of ${trace.bars_in_all} bars.`);
  byId('player-note').textContent = notes.join(' ');
  return timeline;
}

// A fault is shown: who opens a page does not look at the console.
function startPage() {
  window.addEventListener('error', (event) => { byId('made').textContent = `This page's script failed: ${event.message}`; });
  start(JSON.parse(byId('facts').textContent));
}

if (typeof document !== 'undefined') startPage();
