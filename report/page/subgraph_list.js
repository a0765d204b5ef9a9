// All subgraphs in order, each with its share of one metric, which the reader chooses.

const listMetrics = [
  { key: 'latency', title: 'cycles', text: grouped },
  { key: 'energy', title: 'energy', text: energyText },
  { key: 'off_chip_bytes', title: 'off chip', text: bytesText },
  { key: 'peak', title: 'peak', text: bytesText },
];

function drawList() {
  const items = plan.subgraphs.map((subgraph, index) => {
    const item = html(
      'a',
      { class: 'item', href: `#s${index}`, 'data-subgraph': index },
      html('span', { class: 'index' }, String(index)),
      html('span', { class: 'span' }, spanOf(subgraph)),
      html('span', { class: 'value' }),
      html('i', { class: 'share' }),
    );
    explain(item, () => ({ title: spanOf(subgraph), rows: [['operators', subgraph.last - subgraph.first + 1], ['bound by', subgraph.metrics.bound_by]] }));
    item.addEventListener('click', (event) => {
      event.preventDefault();
      select(index);
    });
    return item;
  });
  const buttons = listMetrics.map((metric) => {
    const button = html('button', { type: 'button' }, metric.title);
    button.addEventListener('click', () => rank(metric));
    return button;
  });
  const rank = (chosen) => {
    const values = plan.subgraphs.map(({ metrics: cost }) => cost[chosen.key]);
    const most = Math.max(...values, 1);
    items.forEach((item, index) => {
      item.querySelector('.value').textContent = chosen.text(values[index]);
      item.querySelector('.share').style.width = `${px((100 * values[index]) / most)}%`;
    });
    buttons.forEach((button, index) => button.setAttribute('aria-pressed', listMetrics[index] === chosen));
  };
  byId('list').append(
    html('h2', {}, 'Subgraphs'),
    html('div', { class: 'choice' }, ...buttons),
    html('div', { class: 'items' }, ...items),
  );
  rank(listMetrics[0]);
}

function markList(subgraph) {
  for (const item of byId('list').querySelectorAll('.item')) {
    const chosen = Number(item.dataset.subgraph) === subgraph;
    item.classList.toggle('chosen', chosen);
    if (!chosen) continue;
    // Only the list scrolls, never the page.
    const list = item.parentElement;
    if (item.offsetTop < list.scrollTop) list.scrollTop = item.offsetTop;
    const below = item.offsetTop + item.offsetHeight - list.clientHeight;
    if (below > list.scrollTop) list.scrollTop = below;
  }
}
