// Draws the page and follows the reader's choices. Clicks, search, the arrow keys on the list, and
// the address of the page (#s3) choose a subgraph.

let current = -1;

function select(subgraph, mark = {}) {
  if (subgraph !== current) drawSubgraph(subgraph);
  current = subgraph;
  history.replaceState(null, '', `#s${subgraph}`);
  markNetwork(subgraph, mark.op, mark.reveal);
  markList(subgraph);
  program?.draw();
  markSubgraph(mark);
  // Scrolls to the operator in the network, or to the buffer in its map.
  if (!mark.reveal) return;
  const place = mark.op === undefined ? byId('subgraph').querySelector('.map') : byId('network').querySelector('.surface');
  place?.scrollIntoView({ block: 'center' });
}

function selectFromAddress() {
  const asked = Number(/^#s(\d+)$/.exec(location.hash)?.[1] ?? 0);
  select(Math.min(asked, plan.subgraphs.length - 1));
}

// Follows the system's theme until the reader chooses one.
function startTheme() {
  const themes = ['auto', 'light', 'dark'];
  const button = byId('theme');
  let theme = 'auto';
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = { auto: '◐', light: '☀', dark: '☾' }[theme];
    button.title = `Colours: ${theme}`;
    button.setAttribute('aria-label', button.title);
  };
  button.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    apply();
  });
  apply();
}

startTheme();
startTooltips();
drawHeading();
drawHeadline();
drawNetwork();
drawProgram();
drawList();
drawHomes();
startSearch();
selectFromAddress();
window.addEventListener('hashchange', selectFromAddress);
document.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.closest('#list')) return;
  event.preventDefault();
  select(Math.min(plan.subgraphs.length - 1, Math.max(0, current + step)));
});
