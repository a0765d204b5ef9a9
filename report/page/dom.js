// Elements. Strings among the children become text, and attributes are set by the DOM: nothing from
// a plan is parsed as markup.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
}

function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

// Rounds a coordinate to a hundredth of a pixel, so that a rectangle one step wide stays sharp.
function px(value) {
  return Math.round(value * 100) / 100;
}

function byId(id) {
  return document.getElementById(id);
}
