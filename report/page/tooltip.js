// One tooltip for the page. A node with a tooltip registers a function. The page calls it when the
// pointer rests on the node or the node has the focus; it returns a title, and rows of [name,
// value].

const sayings = new WeakMap();

function explain(node, say) {
  sayings.set(node, say);
  return node;
}

function showTooltip(node, x, y) {
  const { title, rows = [] } = sayings.get(node)();
  const table = html('dl');
  for (const [name, value] of rows) {
    if (value === '' || value === undefined) continue;
    table.append(html('dt', {}, name), html('dd', {}, String(value)));
  }
  const tooltip = byId('tooltip');
  tooltip.replaceChildren(html('strong', {}, title), table);
  tooltip.classList.add('shown');
  const { width, height } = tooltip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
  const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
}

function startTooltips() {
  const explained = (target) => {
    for (let node = target; node instanceof Element; node = node.parentElement) if (sayings.has(node)) return node;
    return null;
  };
  const hide = () => byId('tooltip').classList.remove('shown');
  document.addEventListener('pointermove', (event) => {
    const node = event.buttons === 0 ? explained(event.target) : null;
    if (node) showTooltip(node, event.clientX, event.clientY);
    else hide();
  });
  document.addEventListener('focusin', (event) => {
    if (!sayings.has(event.target) || !event.target.matches(':focus-visible')) return;
    const box = event.target.getBoundingClientRect();
    showTooltip(event.target, box.left + box.width / 2, box.bottom - 12);
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('scroll', hide, { passive: true });
}
