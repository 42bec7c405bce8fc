'use strict';
// Figures as text, and geometry: functions without state, which tests run by themselves.

const KINDS = ['out-port', 'in-port', 'port', 'link', 'shared link', 'money'];
const TREE_COLOURS = ['#d1495b', '#1f78b4', '#2a9d5c', '#e08e0b', '#7b52ab', '#0f9ba8', '#b3589a', '#7a6a2f'];
const FAMILY_COLOURS = ['#a8d4f0', '#f7c796', '#a9dfbf', '#ecb3d3', '#f5e27a', '#c4b8ec', '#cfcfcf', '#bcd37f'];  // pale: trees are strong
const OTHER_TREES = '#8a939b';

function digits(value, count) {
  return value === 0 ? '0' : Number(value.toPrecision(count)).toString();
}

function scaled(value, units, base) {
  let power = 0;
  while (power + 1 < units.length && Math.abs(value) >= base * 0.99995) {
    value /= base;
    ++power;
  }
  return `${digits(value, 4)} ${units[power]}`;
}

function rateText(Bps) {
  return Number.isFinite(Bps) ? scaled(8 * Bps, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'], 1000) : '-';
}

function timeText(seconds) {
  if (!(seconds > 0)) return '0 s';
  if (seconds >= 120) return `${digits(seconds / 60, 4)} min`;
  return seconds >= 1 ? `${digits(seconds, 4)} s` : scaled(1e9 * seconds, ['ns', 'µs', 'ms'], 1000);
}

function percentText(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(share > 0 && share < 0.001 ? 2 : 1)} %` : '-';
}

function moneyText(amount, currency) {
  return Number.isFinite(amount) ? `${digits(amount, 4)}${currency ? ` ${currency}` : ''}` : '-';
}

// What a change gains: known exactly, or within what is proven of the optimum before and after.
function gainText(after, before) {
  const least = after.optimum_Bps / before.bound_Bps - 1;
  const most = after.bound_Bps / before.optimum_Bps - 1;
  if (most < 5e-5) return 'nothing';
  if (most - least < 1e-3) return after.gain < 5e-5 ? 'nothing' : `+${percentText(after.gain)}`;
  return `+${(100 * Math.max(0, least)).toFixed(1)} to +${percentText(most)}`;
}

// A network as the page has it, whose nodes and links name what they share by number, with these values in their place.
function unpacked(network) {
  const named = (node) => ({...node, ...('family' in node && {family: network.families[node.family]}), ...('group' in node && {group: network.groups[node.group]})});
  return {...network, nodes: network.nodes.map(named), links: network.links.map(([from, to, kind]) => [from, to, ...network.kinds[kind]])};
}

// The view that shows all nodes within width x height; y of the network is upwards.
function wholeView(nodes, width, height) {
  const xs = nodes.map((node) => node.x);
  const ys = nodes.map((node) => node.y);
  const range = (values) => values.reduce(([least, most], v) => [Math.min(least, v), Math.max(most, v)], [Infinity, -Infinity]);
  const [left, right] = range(xs);
  const [low, high] = range(ys);
  const margin = Math.min(60, width / 8, height / 8);
  const scale = Math.min((width - 2 * margin) / Math.max(right - left, 1e-9), (height - 2 * margin) / Math.max(high - low, 1e-9), 40);
  return {scale, x: width / 2 - scale * (left + right) / 2, y: height / 2 + scale * (low + high) / 2};
}

function toScreen(view, node) {
  return [view.x + view.scale * node.x, view.y - view.scale * node.y];
}

// The view in which the point (x, y) of the screen stays and all else is `factor` as large.
function zoomed(view, factor, x, y) {
  return {scale: view.scale * factor, x: x + (view.x - x) * factor, y: y + (view.y - y) * factor};
}

// The squared distance of (x, y) from the segment from a to b.
function distanceToSegment(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length));
  return (x - ax - along * dx) ** 2 + (y - ay - along * dy) ** 2;
}

// The place on a line of points at the share `at` of its length.
function placeAlong(points, at) {
  const lengths = points.slice(1).map(([x, y], i) => Math.hypot(x - points[i][0], y - points[i][1]));
  let left = at * lengths.reduce((sum, length) => sum + length, 0);
  for (let i = 0; i < lengths.length; ++i) {
    if (left <= lengths[i] || i + 1 === lengths.length) {
      const share = lengths[i] > 0 ? Math.min(1, left / lengths[i]) : 0;
      return [points[i][0] + share * (points[i + 1][0] - points[i][0]), points[i][1] + share * (points[i + 1][1] - points[i][1])];
    }
    left -= lengths[i];
  }
  return points[0];
}

// What moves at `time`, as [hop, share of its way], and how many segments each node has received.
function momentOf(hops, time, nodes) {
  const moving = [];
  const received = new Array(nodes).fill(0);
  for (const hop of hops) {
    if (hop[0] > time) break;  // by start
    if (hop[0] + hop[1] <= time) ++received[hop[5]];
    else moving.push([hop, (time - hop[0]) / Math.max(1, hop[1])]);
  }
  return {moving, received};
}

// 0 for the slowest to 1 for the fastest, on a logarithmic scale.
function placeOfRate(Bps, least, most) {
  return most > least ? Math.log(Bps / least) / Math.log(most / least) : 0.6;
}

function mixed(from, to, share) {
  const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  return `rgb(${[1, 3, 5].map((at) => Math.round(part(from, at) + share * (part(to, at) - part(from, at)))).join(', ')})`;
}

// Of trees by rate: the first have a colour each, the others grey.
function treeColour(place) {
  return place < TREE_COLOURS.length ? TREE_COLOURS[place] : OTHER_TREES;
}

// The lines of a trace, or the `most` of them that are busy longest, in their order.
function busiestRows(trace, most) {
  const busy = new Array(trace.lines.length).fill(0);
  for (const [line, , duration] of trace.bars) busy[line] += duration;
  const order = busy.map((_, line) => line).sort((a, b) => busy[b] - busy[a] || a - b);
  return order.slice(0, most).sort((a, b) => a - b);
}

// The rates that there are, if they are few; else some from the least to the greatest.
function legendRates(rates) {
  const few = new Map(rates.map((Bps) => [rateText(Bps), Bps]));
  if (few.size <= 5) return [...few.values()].sort((a, b) => a - b);
  const [least, most] = rates.reduce(([low, high], Bps) => [Math.min(low, Bps), Math.max(high, Bps)], [Infinity, 0]);
  return [0, 0.5, 1].map((share) => least * (most / least) ** share);
}
