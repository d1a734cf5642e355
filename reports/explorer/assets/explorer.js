
const at = (id) => document.getElementById(id);
const state = { trace: 0, policy: '', budget: '', layer: '', head: '', seen: 1 };
const parts = ['policy', 'budget', 'layer', 'head'];
let drawn = null;

// The units that remain when the parts before `part` are selected, as values of all parts.
function candidates(part) {
  const before = parts.slice(0, parts.indexOf(part));
  const all = run.traces[state.trace].cells.flatMap((cell) => cell.units.map((unit) => ({
    cell, unit, policy: cell.label, budget: String(cell.budget),
    layer: String(unit.layer), head: String(unit.head),
  })));
  return all.filter((one) => before.every((name) => one[name] === state[name]));
}

// Fills the lists from left to right; a value that a list does not have becomes its first.
function fillLists() {
  parts.forEach((part) => {
    const values = [...new Set(candidates(part).map((one) => one[part]))];
    if (!values.includes(state[part])) state[part] = values[0];
    at(part).replaceChildren(...values.map((value) => new Option(value, value)));
    at(part).value = state[part];
  });
  const last = candidates('head').find((one) => one.head === state.head);
  return last;
}

function show() {
  const trace = run.traces[state.trace];
  const { cell, unit } = fillLists();
  const evicted = evictedAt(trace, unit);
  state.seen = Math.min(Math.max(1, state.seen), trace.tokens);
  if (drawn !== trace) drawText(trace);
  drawn = trace;
  at('trace').value = String(state.trace);
  at('time').max = trace.tokens;
  at('time').value = state.seen;
  at('seen').textContent = state.seen + ' of ' + trace.tokens;
  at('status').textContent = paint(trace, evicted, state.seen);
  at('spec').textContent = cell.spec + ', seed ' + cell.seed + '. ' + (trace.words.length > 0 ? ''
    : 'The words of this trace are not in the page, so the numbers of positions stand for them; ' +
      'kvcheck explore --trace FILE adds them.');
  drawCurve(evicted, state.seen);
  history.replaceState(null, '', '#' + new URLSearchParams(state));
  return evicted;
}

function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  parts.forEach((part) => { if (link.has(part)) state[part] = link.get(part); });
  const number = (name, least) => Math.max(least, Math.trunc(Number(link.get(name))) || least);
  if (run.traces[number('trace', 0)]?.cells.length > 0) state.trace = number('trace', 0);
  state.seen = number('seen', 1);
}

function go(seen) {
  state.seen = seen;
  show();
}

function jump(direction) {
  const next = nextEviction(show(), state.seen, direction);
  if (next > 0) go(next);
}

const keys = {
  ArrowLeft: (step) => go(state.seen - step), ArrowRight: (step) => go(state.seen + step),
  Home: () => go(1), End: () => go(Infinity), n: () => jump(1), p: () => jump(-1),
};

document.addEventListener('keydown', (event) => {
  // Lists and the slider have keys of their own.
  if (event.target.closest('select, input')) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (!Object.hasOwn(keys, event.key)) return;
  keys[event.key](event.shiftKey ? 10 : 1);
  event.preventDefault();
});
parts.forEach((part) => at(part).addEventListener('change', () => {
  state[part] = at(part).value;
  show();
}));
at('trace').addEventListener('change', () => { state.trace = Number(at('trace').value); show(); });
at('time').addEventListener('input', () => go(Number(at('time').value)));
at('back').addEventListener('click', () => go(state.seen - 1));
at('forward').addEventListener('click', () => go(state.seen + 1));
at('before').addEventListener('click', () => jump(-1));
at('after').addEventListener('click', () => jump(1));
window.addEventListener('hashchange', () => { readLink(); show(); });

run.traces.forEach((trace, index) => {
  if (trace.cells.length > 0) at('trace').append(new Option(trace.name, String(index)));
});
state.trace = run.traces.findIndex((trace) => trace.cells.length > 0);
readLink();
at('choice').hidden = false;
at('view').hidden = false;
show();
