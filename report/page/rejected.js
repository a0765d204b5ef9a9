// Alternatives that the search rejected for a subgraph, and the causes.
//
//   instead              policy              would take                why not
//   1×64×28×56           weights resident    70 210 cycles  −12 %      needs at least 1 204 224 B
//                                                                      of 1 048 576
//   joined with conv4    ...                 96 480 cycles  +9 %       no better

// The objective's unit: for a single metric its own unit, else a plain number, where 1 is ideal.
function scoreText(score) {
  const wanted = Object.keys(plan.objective.weights);
  const metric = wanted.length === 1 ? plan.metrics.find(({ key }) => key === wanted[0]) : null;
  return metric ? textIn(metric.unit)(score) : Number(score.toPrecision(4)).toString();
}

// "+9 %" relative to the plan.
function againstText({ score, taken }) {
  if (score === undefined || taken <= 0 || score === taken) return score === taken ? 'the same' : '';
  return `${score > taken ? '+' : '−'}${percent(Math.abs(score / taken - 1))}`;
}

function causeText({ cause, needs_bytes: needs }, joined) {
  const { capacity } = plan.memories[0];
  if (cause === 'undecided') return 'not settled when the search ended';
  if (cause === 'score') return joined ? 'no better than both apart' : 'no better';
  if (needs > capacity) return `needs at least ${grouped(needs)} B of ${grouped(capacity)}`;
  return needs > 0 ? `no placement exists, though no more than ${grouped(needs)} B are needed at once` : 'no tile fits';
}

function alternativeRow(rejection, subgraph) {
  const joined = rejection.last > subgraph.last;
  const next = joined ? plan.subgraphs[subgraphOf[subgraph.last + 1]] : null;
  const tile = rejection.tile.length > 0 ? `${joined ? ', tile ' : ''}${shapeText(rejection.tile)}` : '';
  const bounded = rejection.tile.length === 0 && rejection.cause !== 'room';
  return html(
    'tr',
    { 'data-cause': rejection.cause },
    html('td', {}, `${joined ? `joined with ${spanOf(next)}` : ''}${tile}`),
    html('td', {}, rejection.tile.length > 0 ? policyOf({ ...rejection, in_place: false }) : 'any'),
    html('td', {}, 'score' in rejection ? `${bounded ? 'at least ' : ''}${scoreText(rejection.score)}` : ''),
    html('td', {}, againstText(rejection)),
    html('td', {}, causeText(rejection, joined)),
  );
}

function alternativesTable(subgraph) {
  if (subgraph.rejected_alternatives.length === 0) return null;
  const head = ['instead', 'policy', 'would take', '', 'why not'].map((title) => html('th', {}, title));
  const rows = subgraph.rejected_alternatives.map((rejection) => alternativeRow(rejection, subgraph));
  return html('details', { class: 'card rejected', open: '' }, html('summary', {}, 'Rejected alternatives'),
              html('div', { class: 'wide' }, html('table', {}, html('tr', {}, ...head), ...rows)));
}
