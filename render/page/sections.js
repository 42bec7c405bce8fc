// Text and tables. Everything from files is put in as text, never as HTML.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// columns: [title, of(row) -> text or element, class].
function table(columns, rows) {
  const head = element('tr', {}, ...columns.map(([title, , kind]) => element('th', {scope: 'col', class: kind || ''}, title)));
  const body = rows.map((row) => element('tr', {}, ...columns.map(([, of, kind]) => element('td', {class: kind || ''}, of(row)))));
  return element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)));
}

function meter(share, hot = false) {
  const bar = element('i');
  bar.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return element('div', {class: hot ? 'meter hot' : 'meter'}, bar);
}

function fill(id, ...children) {
  const section = byId(id);
  section.hidden = false;
  section.append(...children);
}

function paragraphs(lines) {
  return lines.map((line) => element('p', {}, line));
}

function showHead(facts) {
  document.title = `${facts.title} · Espalier`;
  byId('title').textContent = facts.title;
  const problem = facts.problem;
  if (problem) byId('subtitle').textContent = `${problem.operation}${problem.source === null ? '' : ` ${problem.operation === 'broadcast' || problem.operation === 'scatter' ? 'from' : 'at'} ${problem.source}`}, ${problem.model} model`;
  const cards = [];
  if (facts.summary) {
    cards.push(['hosts', facts.summary.hosts]);
    if (facts.summary.relays > 0) cards.push(['switches', facts.summary.relays]);
    cards.push(['links', facts.summary.links]);
  }
  if (problem) {
    cards.push([problem.report.bound_final ? 'proven bound' : 'bound (not final)', rateText(problem.report.bound_Bps)]);
    cards.push(['optimum reached', rateText(problem.report.optimum_Bps)]);
  }
  if (facts.plans.length === 1) cards.push(['this plan', rateText(facts.plans[0].throughput_Bps)]);
  if (facts.trace) cards.push(['the run takes', timeText(facts.trace.end_s)]);
  byId('cards').append(...cards.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, String(value)))));
  byId('made').textContent = `Made by espalier report, version ${facts.version}.`;
}

function showLimits(facts) {
  if (facts.remarks.length > 0) fill('limits', ...paragraphs(facts.remarks));
  if (!facts.problem) return;
  const {sentences, best, report} = facts.problem;
  fill('limits', ...paragraphs([...sentences, ...best]));
  const factors = Math.max(0, ...report.bottlenecks.map((row) => row.faster.length));
  const columns = [
    ['bottleneck', (row) => row.name, 'name'],
    ['share of the bound', (row) => element('div', {}, percentText(row.price), meter(row.price, true))],
    ['busy', (row) => percentText(row.load), 'number'],
  ];
  for (let i = 0; i < factors; ++i) {
    const factor = report.bottlenecks.find((row) => row.faster.length > i).faster[i].factor;
    columns.push([factor === 2 ? 'twice as fast gives' : `${digits(100 * (factor - 1), 3)} % faster gives`, (row) => (row.faster[i] ? `${gainText(row.faster[i], report)} (${rateText(row.faster[i].optimum_Bps)})` : '-'), 'number']);
  }
  columns.push(['what is raised', (row) => row.raised]);
  if (report.bottlenecks.length > 0) {
    fill('limits', table(columns, report.bottlenecks), element('p', {class: 'note'}, 'Each change was solved again. A share of p means: 1 % more of it raises the bound by about p × 1 %, as long as the others do not take over. Rings on the map mark these hosts.'));
  }
}

function showPlans(facts, choose) {
  if (facts.plans.length === 0) return;
  // A plan that has no bound of its own is compared with the problem's, if it is a plan for it.
  const losses = facts.problem ? facts.problem.losses : {};
  facts.plans.forEach((plan, i) => {
    if (plan.relative === null && losses[i]) plan.relative = plan.throughput_Bps / facts.problem.report.bound_Bps;
  });
  const costs = facts.plans.some((plan) => plan.cost_per_GB !== undefined);
  const name = (plan) => {
    const button = element('button', {type: 'button'}, plan.file);
    button.addEventListener('click', () => choose(facts.plans.indexOf(plan)));
    return button;
  };
  const columns = [
    ['plan', name, 'name'],
    ['operation', (plan) => `${plan.operation}${plan.source ? `, ${plan.source}` : ''}, ${plan.model}`],
    ['algorithm', (plan) => plan.algorithm],
    ['trees', (plan) => String(plan.trees_in_all), 'number'],
    ['depth', (plan) => String(plan.depth), 'number'],
    ['throughput', (plan) => rateText(plan.throughput_Bps), 'number'],
    ['of its bound', (plan) => element('div', {}, plan.relative === null ? '-' : percentText(plan.relative), meter(plan.relative || 0))],
    ['busiest', (plan) => plan.busiest],
  ];
  if (costs) columns.push(['cost of a GB', (plan) => moneyText(plan.cost_per_GB, plan.currency), 'number']);
  fill('plans', table(columns, facts.plans));
  for (const [index, lines] of Object.entries(losses)) {
    fill('plans', ...paragraphs(facts.plans.length > 1 ? lines : lines.map((line) => line.replace(`${facts.plans[index].file} `, 'The plan '))));
  }
}

function showAlgorithms(facts) {
  const comparison = facts.comparison;
  if (!comparison) return;
  const rows = comparison.rows.filter((row) => row.relative !== null).sort((a, b) => b.relative - a.relative);
  const failed = comparison.rows.filter((row) => row.relative === null);
  const columns = [
    ['algorithm', (row) => row.algorithm, 'name'],
    ['of the bound', (row) => meter(row.relative)],
    ['', (row) => percentText(row.relative), 'number'],
    ['throughput', (row) => rateText(row.throughput_Bps), 'number'],
    ['trees', (row) => String(row.trees), 'number'],
    ['depth', (row) => String(row.depth), 'number'],
  ];
  if (rows.some((row) => row.cost_per_GB)) columns.push(['cost of a GB', (row) => moneyText(row.cost_per_GB, facts.network.currency), 'number']);
  fill('algorithms', element('p', {}, `The ${comparison.bound_final ? 'proven bound' : 'bound (not final)'} is ${rateText(comparison.bound_Bps)}: no set of trees carries more.`), table(columns, rows));
  if (failed.length > 0) fill('algorithms', element('p', {class: 'note'}, `Without a result, for want of time or because the network does not suit them: ${failed.map((row) => row.algorithm).join(', ')}.`));
}

function showCost(facts) {
  if (!facts.frontier_svg) return;
  const money = (key) => (row) => moneyText(row[key], facts.network.currency);
  fill('cost',
    element('img', {class: 'chart', alt: 'Throughput against cost: the best within each budget as a line, the algorithms as points', src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(facts.frontier_svg)}`}),
    table([['budget for a GB', money('budget_per_GB'), 'number'], ['costs', money('cost_per_GB'), 'number'], ['throughput', (row) => rateText(row.throughput_Bps), 'number'], ['bound', (row) => rateText(row.bound_Bps), 'number'], ['trees', (row) => String(row.trees), 'number']], facts.comparison.frontier));
}

function showCommands(facts) {
  if (!facts.commands) return;
  fill('commands', ...facts.commands.map(({why, command}) => {
    const copy = element('button', {type: 'button', 'aria-label': `Copy: ${command}`}, 'Copy');
    copy.addEventListener('click', () => navigator.clipboard && navigator.clipboard.writeText(command).then(() => { copy.textContent = 'Copied'; }));
    return element('div', {}, element('div', {}, why), element('div', {class: 'command'}, element('pre', {}, command), copy));
  }));
}
