
const state = { trace: 0, policy: '', budget: '', other: '', otherBudget: '', layer: '', head: '',
  shade: 'residency', of: 'a', stage: 0, seen: 0 };
const first = ['policy', 'budget', 'layer', 'head'];
let shown = null;
let drawnTrace = null;
const later = {};

// Calls `action` once nothing has called this with the same name for so long.
function settle(name, milliseconds, action) {
  clearTimeout(later[name]);
  later[name] = setTimeout(action, milliseconds);
}

const all = () => run.traces[state.trace].cells.flatMap((cell) => cell.units.map((unit) => ({
  cell, unit, policy: cell.label, budget: String(cell.budget), layer: String(unit.layer),
  head: String(unit.head) })));

// Fills a list with the values that are there; a value that it does not have becomes its first.
function fill(id, values, names = values) {
  const list = [...new Set(values)];
  if (!list.includes(state[id])) [state[id]] = list;
  at(id).replaceChildren(...list.map((value) => new Option(names[values.indexOf(value)], value)));
  at(id).value = state[id];
}

// The unit of the first cache, after its lists were filled from left to right.
function firstCache() {
  let left = all();
  first.forEach((part) => {
    fill(part, left.map((one) => one[part]));
    left = left.filter((one) => one[part] === state[part]);
  });
  return left[0];
}

// The unit of the second cache that is nearest to the first one's; null if there is no second.
function otherCache() {
  const policies = all().map((one) => one.policy);
  fill('other', ['', ...policies], ['no other policy', ...policies]);
  at('otherBudget').parentElement.hidden = state.other === '';
  if (state.other === '') return null;
  const cells = all().filter((one) => one.policy === state.other);
  fill('otherBudget', cells.map((one) => one.budget));
  const units = cells.filter((one) => one.budget === state.otherBudget);
  return units.find((one) => one.layer === state.layer && one.head === state.head) ??
    units.find((one) => one.layer === state.layer) ?? units[0];
}

function select() {
  const trace = run.traces[state.trace];
  at('trace').value = String(state.trace);
  const cacheOf = (one) => one && { ...one, evicted: evictedAt(trace, one.unit) };
  shown = { trace, a: cacheOf(firstCache()), b: cacheOf(otherCache()) };
  if (!shown.b) state.of = 'a';
  shown.focus = shown[state.of];
  const hasAttention = shown.a.unit.steps?.mass >= 0;
  if (!hasAttention) state.shade = 'residency';
  at('shade').querySelector('[value=attention]').disabled = !hasAttention;
  ['shade', 'of'].forEach((id) => { at(id).value = state[id]; });
  at('of').parentElement.hidden = !shown.b;
  if (drawnTrace !== trace) {
    drawText(trace);
    zoomTo(1, trace.tokens, trace.tokens);
  }
  drawnTrace = trace;
  if (state.seen === 0) state.seen = tellingStep(shown.focus.evicted);
  shown.parting = shown.b ? firstParting(shown.a.evicted, shown.b.evicted) : 0;
}

function aboutWords() {
  if (shown.trace.words.length > 0) return '';
  return all().some((one) => one.unit.steps)
    ? 'The trace has no words, so the numbers of positions stand for them.'
    : 'The words of this trace are not in the page, so the numbers of positions stand for them; ' +
      'kvcheck explore --trace FILE adds them if the trace has any.';
}

function aboutCells() {
  const about = (name, { cell, unit }) => name + cell.spec + ', seed ' + cell.seed +
    (cell.unit === 'kv-head' ? '' : ', a cache for each ' + cell.unit) +
    (shown.b && (unit.layer !== shown.a.unit.layer || unit.head !== shown.a.unit.head)
      ? ', layer ' + unit.layer + ', head ' + unit.head : '') + '. ';
  return about(shown.b ? 'A: ' : '', shown.a) + (shown.b ? about('B: ', shown.b) : '') +
    aboutWords();
}

function drawTables() {
  drawEvicted(shown, state.seen, drawTables);
  drawCache(shown, state.seen, drawTables);
}

function show() {
  const { trace, a, b } = shown;
  state.seen = Math.min(Math.max(1, state.seen), trace.tokens);
  const { seen } = state;
  at('time').max = trace.tokens;
  at('time').value = seen;
  at('time').setAttribute('aria-valuetext', seen + ' of ' + trace.tokens + ' tokens');
  at('seen').textContent = seen + ' of ' + trace.tokens;
  at('status').textContent = (b ? 'A: ' : '') + stepSentence(trace, a, seen);
  at('status-b').textContent = b ? 'B: ' + stepSentence(trace, b, seen) : '';
  at('difference').hidden = !b;
  at('counts').textContent = b ? difference(shown, seen) : '';
  at('parting').textContent = b ? partingSentence(shown, shown.parting) : '';
  at('to-parting').hidden = shown.parting === 0;
  at('spec').textContent = aboutCells();
  const where = b ? ', in ' + state.of.toUpperCase() : '';
  at('walk-title').textContent = 'This trim, in four stages' + where;
  at('query-title').textContent = 'The query and its mask' + where;
  paintText(shown, seen, state.shade === 'attention');
  keepInSight(at('text'), at('text').children[seen - 1]);
  drawCurve(shown, seen);
  drawMask(shown, seen);
  drawWalk(shown, seen, state.stage);
  drawTables();
  // Not at every step of the slider: a reader of the screen would be told each of them, and
  // browsers refuse addresses that change too often.
  settle('announce', 700, () => { at('announce').textContent = at('status').textContent; });
  settle('link', 150, () => history.replaceState(null, '', '#' + new URLSearchParams(state)));
}

function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  const number = (name, least) => Math.max(least, Math.trunc(Number(link.get(name))) || least);
  Object.keys(state).forEach((name) => {
    if (link.has(name) && typeof state[name] === 'string') state[name] = link.get(name);
  });
  if (!['a', 'b'].includes(state.of)) state.of = 'a';
  if (!['residency', 'attention'].includes(state.shade)) state.shade = 'residency';
  if (run.traces[number('trace', 0)]?.cells.length > 0) state.trace = number('trace', 0);
  state.stage = Math.min(stages.length - 1, number('stage', 0));
  // select() replaces 0 by a step of the cache at which there is something to see.
  state.seen = number('seen', 0);
}

// Shows what the address names, and says what of it the page does not have.
function follow() {
  readLink();
  select();
  const link = new URLSearchParams(location.hash.slice(1));
  const names = { trace: 'trace', policy: 'policy', budget: 'budget', layer: 'layer',
    head: 'head', other: 'other policy', otherBudget: 'budget of the other policy' };
  const lacking = Object.keys(names)
    .filter((name) => link.get(name) && link.get(name) !== String(state[name]))
    .map((name) => names[name] + ' ' + link.get(name));
  at('lacking').hidden = lacking.length === 0;
  at('lacking').textContent = 'The address names ' + lacking.join(', ') +
    ', which this page does not have.';
}

function go(seen) {
  state.seen = seen;
  show();
}

function jump(direction) {
  const next = nextEviction(shown.focus.evicted, state.seen, direction);
  if (next > 0) go(next);
}

function toStage(stage) {
  state.stage = Math.min(stages.length - 1, Math.max(0, stage));
  show();
}

function zoomed(factor) {
  const { tokens } = shown.trace;
  if (factor === 0) zoomTo(1, tokens, tokens); else zoomBy(factor, state.seen, tokens);
  drawCurve(shown, state.seen);
}

// Whether the element that has the focus uses a key itself: lists use all, the slider those that
// move it, and parts that scroll those by which they have something to scroll.
function usesKey(target, key) {
  if (target.closest('select')) return true;
  const across = key === 'ArrowLeft' || key === 'ArrowRight';
  const ends = key === 'Home' || key === 'End';
  if (target.closest('input')) return across || ends;
  const part = target.closest('.scrolls');
  if (!part) return false;
  return (across && part.scrollWidth > part.clientWidth) ||
    (ends && part.scrollHeight > part.clientHeight);
}

const keys = {
  ArrowLeft: (step) => go(state.seen - step), ArrowRight: (step) => go(state.seen + step),
  Home: () => go(1), End: () => go(Infinity), n: () => jump(1), p: () => jump(-1),
  d: () => shown.parting && go(shown.parting), '+': () => zoomed(0.5), '-': () => zoomed(2),
  0: () => zoomed(0),
};

function listen() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (!Object.hasOwn(keys, event.key) || usesKey(event.target, event.key)) return;
    keys[event.key](event.shiftKey ? 10 : 1);
    event.preventDefault();
  });
  Object.keys(state).filter((name) => at(name)?.tagName === 'SELECT').forEach((name) => {
    at(name).addEventListener('change', () => {
      at('lacking').hidden = true;
      state[name] = name === 'trace' ? Number(at(name).value) : at(name).value;
      select();
      show();
    });
  });
  const clicks = { back: () => go(state.seen - 1), forward: () => go(state.seen + 1),
    before: () => jump(-1), after: () => jump(1), 'to-parting': () => go(shown.parting),
    'zoom-in': () => zoomed(0.5), 'zoom-out': () => zoomed(2), 'zoom-all': () => zoomed(0),
    'stage-back': () => toStage(state.stage - 1), 'stage-forward': () => toStage(state.stage + 1),
    'walk-next': () => jump(1), curve: (event) => go(tokensUnder(event)) };
  Object.entries(clicks).forEach(([id, action]) => at(id).addEventListener('click', action));
  stages.forEach((name, index) => {
    at('stage-' + name).addEventListener('click', () => toStage(index));
  });
  const hover = (n) => { zoom.hover = n; drawCurve(shown, state.seen); };
  at('curve').addEventListener('pointermove', (event) => hover(tokensUnder(event)));
  at('curve').addEventListener('pointerleave', () => hover(0));
  at('time').addEventListener('input', () => go(Number(at('time').value)));
  at('text').addEventListener('click', (event) => {
    const seen = stepOfWord(event, shown.focus.evicted);
    if (seen > 0) go(seen);
  });
  const resized = () => drawCurve(shown, state.seen);
  window.addEventListener('resize', () => settle('resize', 150, resized));
  at('text').addEventListener('pointerover', (event) => explainWord(event, shown));
  window.addEventListener('hashchange', () => { follow(); show(); });
}

async function start() {
  await readData();
  run.traces.forEach((trace, index) => {
    if (trace.cells.length > 0) at('trace').append(new Option(trace.name, String(index)));
  });
  state.trace = run.traces.findIndex((trace) => trace.cells.length > 0);
  const telling = mostTelling(run.traces[state.trace], all());
  first.forEach((part) => { state[part] = telling[part]; });
  at('choice').hidden = false;
  at('view').hidden = false;
  follow();
  listen();
  show();
  at('loading').hidden = true;
}

start().catch((error) => {
  at('loading').hidden = true;
  at('problem').textContent = error.message;
  at('problem').hidden = false;
});
