// The totals: each metric with the lower bound and the layer-by-layer result, then the shares of
// energy and traffic.
//
//   Latency                       0        bound    plan          alone
//   3 443 507 cycles              |----------|=======|-------------|

// The value of a metric as text, and the same in other words, by its unit.
const unitTexts = { cycles: (value) => `${grouped(value)} cycles`, pJ: energyText, bytes: bytesText };
const unitAsides = { cycles: timeText, bytes: (value) => `${grouped(value)} B` };
const textIn = (unit) => unitTexts[unit] ?? ((value) => `${value < 1000 ? Number(value.toPrecision(4)) : grouped(value)} ${unit}`);

function metricCard({ key, title, unit, counts_work: countsWork, grows_with_work: grows }) {
  const text = textIn(unit);
  const aside = unitAsides[unit] ?? (() => '');
  const value = plan.totals[key];
  const bound = plan.lower_bounds[key];
  const alone = plan.baseline?.complete ? plan.baseline.totals[key] : undefined;
  const most = 1.06 * Math.max(value, alone ?? 0, bound, 1);
  const at = (number) => `${px((100 * number) / most)}%`;
  const scale = html(
    'div',
    { class: 'scale' },
    html('i', { class: 'bar', style: `width: ${at(value)}` }),
    html('i', { class: 'mark bound', style: `left: ${at(bound)}` }),
    alone === undefined ? null : html('i', { class: 'mark alone', style: `left: ${at(alone)}` }),
  );
  explain(scale, () => ({
    title,
    rows: [
      ['this plan', text(value)],
      ['layer by layer', alone === undefined ? (plan.baseline ? 'does not fit' : 'not known') : text(alone)],
      ['lower bound', text(bound)],
    ],
  }));
  const claims = plan.totals.unknown_work > 0 && countsWork ? [grows ? 'at least: work is unknown' : 'without unknown work'] : [];
  if (bound > 0) claims.push(`${(value / bound).toFixed(2)} × bound`);
  if (alone > 0) claims.push(`${percent(Math.abs(1 - value / alone))} ${value <= alone ? 'below' : 'above'} alone`);
  const wanted = key in plan.objective.weights;
  return html(
    'div',
    { class: 'card' },
    html('h3', {}, title, wanted ? html('em', {}, 'minimised') : null),
    html('p', { class: 'figure' }, text(value), html('small', {}, aside(value))),
    scale,
    html('p', { class: 'faint' }, claims.join(' · ')),
  );
}

// Shares of a whole as one bar with its legend; `family` names the colours.
function sharesBar(title, shares, text, family) {
  const parts = Object.entries(shares).filter(([, value]) => value > 0);
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  const bar = html('div', { class: 'shares' });
  const legend = html('ul', { class: 'legend' });
  parts.sort((a, b) => b[1] - a[1]);
  parts.forEach(([name, value], index) => {
    const colour = family ? colourOf(family, name) : `var(--part-${index % 6})`;
    const part = html('i', { style: `width: ${px((100 * value) / total)}%; background: ${colour}` });
    explain(part, () => ({ title: name, rows: [[percent(value / total), text(value)]] }));
    bar.append(part);
    legend.append(
      html('li', {}, html('i', { style: `background: ${colour}` }), `${name} `, html('b', {}, text(value))),
    );
  });
  if (total === 0) legend.append(html('li', {}, 'none'));
  return html('div', { class: 'card' }, html('h3', {}, title), bar, legend);
}

// Lines of text under a title; nothing where there are none.
function listCard(title, lines) {
  if (lines.length === 0) return [];
  const items = lines.map((line) => html('li', {}, line));
  return [html('details', { class: 'card notes', open: '' }, html('summary', {}, title), html('ul', {}, ...items))];
}

function drawHeading() {
  const edges = `${count(plan.operators.length, 'operator')} in ${count(plan.subgraphs.length, 'subgraph')}`;
  const hardware = plan.profile_totals.map(({ title, unit, value }) => `${title} ${Number(value.toPrecision(6))} ${unit} · `);
  const { macs, all_macs: allMacs, operators: hosted } = plan.host;
  const host = hosted.length > 0 ? `${percent(allMacs > 0 ? macs / allMacs : 0)} of the MACs on the host · ` : '';
  byId('heading').append(
    html('h1', {}, plan.network, html('span', {}, ' on '), plan.profile),
    html('p', { class: 'faint' }, `${edges} · ${hardware.join('')}${host}${plan.status} · seed ${plan.seed} · tessera ${plan.version}`),
  );
}

function drawHeadline() {
  const alone = (plan.baseline?.do_not_fit ?? []).map((op) => plan.operators[op].id);
  const notes = [...plan.notes];
  if (plan.kept.length > 0)
    notes.push(`kept on chip from subgraph to subgraph: ${plan.kept.map((tensor) => plan.tensors[tensor].id).join(', ')}`);
  if (alone.length > 0) notes.push(`alone, these operators do not fit: ${alone.join(', ')}`);
  if (alone.length === 0 && plan.baseline?.complete === false)
    notes.push('layer by layer, the memories have no room for all tensors between subgraphs');
  const asked = { ...plan.objective.weights, ...plan.objective.limits };
  const shown = plan.metrics.filter(({ key, is_of_front: isOfFront }) => isOfFront || key in asked);
  byId('headline').append(
    html('div', { class: shown.length > 4 ? 'cards five' : 'cards four' }, ...shown.map(metricCard)),
    html(
      'p',
      { class: 'key faint' },
      html('i', { class: 'mark bound' }),
      'lower bound that no plan beats',
      html('i', { class: 'mark alone' }),
      'every operator as a subgraph of its own',
    ),
    html(
      'div',
      { class: 'cards two' },
      sharesBar('Energy by part', plan.totals.energy_by_part, energyText),
      sharesBar('Off-chip traffic by cause', plan.totals.off_chip_by_cause, bytesText, 'cause'),
    ),
    ...listCard('Memory off chip', plan.peaks_at_home),
    ...listCard('Constraints', plan.constraints),
    ...listCard('What the search says', notes),
  );
}
