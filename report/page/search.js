// Finds operators, tensors and buffers by a part of their names.

const mostFound = 40;

// Searchable entries: a name, its kind, and the place that it leads to.
const findable = [
  ...plan.operators.map(({ id, kind }, op) => ({ name: id, what: kind.replace('_', ' '), subgraph: subgraphOf[op], mark: { op } })),
  ...plan.tensors.map(({ id, role }, tensor) => {
    const op = producerOf[tensor] >= 0 ? producerOf[tensor] : readersOf[tensor][0];
    const buffer = plan.buffers.findIndex((candidate) => candidate.tensor === tensor && candidate.subgraph === subgraphOf[op]);
    return { name: id, what: `tensor, ${role}`, subgraph: subgraphOf[op], mark: { op, buffer: buffer < 0 ? undefined : buffer } };
  }),
  ...plan.buffers.map(({ id, subgraph, role, lives }, buffer) => ({
    name: id,
    what: `buffer, ${role.replace('_', ' ')}`,
    subgraph: subgraph >= 0 ? subgraph : plan.steps[lives[0][0]].subgraph,
    mark: { buffer },
  })),
].filter(({ subgraph }) => subgraph >= 0);

// Names that begin with the words come first, then names that contain them; otherwise in order.
function find(words) {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  const hits = findable.filter(({ name }) => name.toLowerCase().includes(wanted));
  const begins = hits.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  return [...begins, ...hits.filter((hit) => !begins.includes(hit))];
}

function startSearch() {
  const input = byId('search').querySelector('input');
  const list = byId('found');
  let hits = [];
  let chosen = 0;
  const go = (hit) => {
    list.replaceChildren();
    input.blur();
    select(hit.subgraph, { ...hit.mark, reveal: true });
  };
  const show = () => {
    hits = find(input.value);
    const shown = hits.slice(0, mostFound);
    chosen = Math.min(chosen, Math.max(0, shown.length - 1));
    list.replaceChildren(...shown.map((hit, index) => {
      const item = html('li', { role: 'option', class: index === chosen ? 'chosen' : '' }, html('b', {}, hit.name),
                        html('span', {}, `${hit.what} · subgraph ${hit.subgraph}`));
      item.addEventListener('pointerdown', (event) => {
        event.preventDefault();
        go(hit);
      });
      return item;
    }));
    if (input.value.trim() && hits.length === 0) list.append(html('li', { class: 'none' }, 'nothing has that name'));
    if (hits.length > mostFound) list.append(html('li', { class: 'none' }, `and ${grouped(hits.length - mostFound)} more`));
    list.children[chosen]?.scrollIntoView({ block: 'nearest' });
  };
  input.addEventListener('input', () => {
    chosen = 0;
    show();
  });
  input.addEventListener('focus', show);
  input.addEventListener('blur', () => list.replaceChildren());
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      chosen = Math.max(0, chosen + step);
      show();
    } else if (event.key === 'Enter' && hits[chosen]) {
      go(hits[chosen]);
    } else if (event.key === 'Escape') {
      input.value = '';
      input.blur();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.matches('input, textarea')) return;
    event.preventDefault();
    input.focus();
  });
}
