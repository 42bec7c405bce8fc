// Functions of the page without state. Run by: node figures_test.js
'use strict';
const assert = require('node:assert');
const {readFileSync} = require('node:fs');
const path = require('node:path');

const source = readFileSync(path.join(__dirname, '../../render/page/figures.js'), 'utf8');
const names = [...source.matchAll(/^function (\w+)/gm)].map((match) => match[1]);
const page = new Function(`${source}; return {${names.join(', ')}};`)();

// Figures as people write them.
assert.equal(page.rateText(1.25e8), '1 Gbit/s');
assert.equal(page.rateText(124.99e6), '999.9 Mbit/s');
assert.equal(page.rateText(1.24999e8), '1 Gbit/s');  // not 1000 Mbit/s
assert.equal(page.rateText(NaN), '-');
assert.equal(page.timeText(0.0125), '12.5 ms');
assert.equal(page.timeText(2.8e-7), '280 ns');
assert.equal(page.timeText(150), '2.5 min');
assert.equal(page.percentText(0.7687), '76.9 %');
assert.equal(page.percentText(null), '-');
assert.equal(page.moneyText(2.425, 'USD'), '2.425 USD');

// What nodes and links share is written once in the page.
const packed = {families: ['v', 'k'], groups: ['r/0'], kinds: [[5], [7, 0.1]],
  nodes: [{name: 'a', family: 1, group: 0}, {name: 'b'}], links: [[0, 1, 1], [1, 0, 0]]};
assert.deepEqual(page.unpacked(packed).nodes, [{name: 'a', family: 'k', group: 'r/0'}, {name: 'b'}]);
assert.deepEqual(page.unpacked(packed).links, [[0, 1, 7, 0.1], [1, 0, 5]]);

// A gain is stated within what is proven.
const before = {optimum_Bps: 100, bound_Bps: 100};
assert.equal(page.gainText({optimum_Bps: 120, bound_Bps: 120, gain: 0.2}, before), '+20.0 %');
assert.equal(page.gainText({optimum_Bps: 100, bound_Bps: 100, gain: 0}, before), 'nothing');
assert.equal(page.gainText({optimum_Bps: 110, bound_Bps: 120, gain: 0.1}, before), '+10.0 to +20.0 %');

// The whole network is within the canvas, however it is shaped, and y is upwards.
for (const nodes of [[{x: 0, y: 0}, {x: 1000, y: 1}], [{x: -5, y: 0}, {x: -5, y: 700}], [{x: 3, y: 3}]]) {
  const view = page.wholeView(nodes, 400, 300);
  for (const node of nodes) {
    const [x, y] = page.toScreen(view, node);
    assert.ok(x >= 0 && x <= 400 && y >= 0 && y <= 300, `${x}, ${y}`);
  }
}
assert.ok(page.toScreen({scale: 1, x: 0, y: 0}, {x: 0, y: 5})[1] < 0);

// Zooming leaves what is under the pointer where it is.
const view = {scale: 2, x: 30, y: 40};
const node = {x: 10, y: -5};
const at = page.toScreen(view, node);
assert.deepEqual(page.toScreen(page.zoomed(view, 3, ...at), node), at);

assert.equal(page.distanceToSegment(5, 3, [0, 0], [10, 0]), 9);
assert.equal(page.distanceToSegment(13, 4, [0, 0], [10, 0]), 25);
assert.equal(page.distanceToSegment(3, 4, [0, 0], [0, 0]), 25);

// Half of the way over a switch, by length.
assert.deepEqual(page.placeAlong([[0, 0], [10, 0], [10, 30]], 0.5), [10, 10]);
assert.deepEqual(page.placeAlong([[0, 0], [10, 0]], 1), [10, 0]);

// Hops: [start, duration, tree, segment, from, to]. The second has not begun at 50, the first has arrived at 100.
const hops = [[0, 100, 0, 0, 0, 1], [60, 100, 0, 1, 0, 1]];
assert.deepEqual(page.momentOf(hops, 50, 2), {moving: [[hops[0], 0.5]], received: [0, 0]});
assert.deepEqual(page.momentOf(hops, 100, 2), {moving: [[hops[1], 0.4]], received: [0, 1]});
assert.deepEqual(page.momentOf(hops, 160, 2), {moving: [], received: [0, 2]});

assert.equal(page.placeOfRate(10, 1, 100), 0.5);
assert.equal(page.placeOfRate(1, 1, 1), 0.6);
assert.equal(page.mixed('#000000', '#ff8000', 0.5), 'rgb(128, 64, 0)');
assert.deepEqual(page.busiestRows({lines: ['a', 'b', 'c'], bars: [[0, 0, 5, 0, 0], [2, 0, 3, 0, 0], [2, 9, 9, 0, 0]]}, 2), [0, 2]);
assert.deepEqual(page.legendRates([2e9, 1e9, 2e9]), [1e9, 2e9]);
assert.deepEqual(page.legendRates([1, 2, 3, 4, 5, 100].map((rate) => 1e6 * rate)).map(page.rateText), ['8 Mbit/s', '80 Mbit/s', '800 Mbit/s']);
