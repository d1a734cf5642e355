
const later = {};

// Calls `action` once nothing has called this with the same name for so long.
function settle(name, milliseconds, action) {
  clearTimeout(later[name]);
  later[name] = setTimeout(action, milliseconds);
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
      ? ', layer ' + unit.layer + ', head ' + unit.head : '') + '.';
  return [about(shown.b ? 'A: ' : '', shown.a), shown.b ? about('B: ', shown.b) : '', aboutWords()]
    .filter((line) => line !== '').join('\n');
}

function drawTables() {
  drawEvicted(shown, state.seen, drawTables);
  drawCache(shown, state.seen, drawTables);
}

function show() {
  if (busy) return;  // select() has not ended, and draw() follows it
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
  at('text-title').textContent = 'Text' + (state.shade === 'attention' ? where : '');
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
  settle('link', 150, writeLink);
}

// Draws what was selected; the first time of a trace with its words.
function draw() {
  const { trace } = shown;
  if (drawnTrace !== trace) {
    drawText(trace);
    zoomTo(1, trace.tokens, trace.tokens);
  }
  drawnTrace = trace;
  show();
}

function fail(error) {
  ['choice', 'view', 'loading'].forEach((id) => { at(id).hidden = true; });
  at('problem').textContent = error.message;
  at('problem').hidden = false;
}

// After the reader selected something else.
function refresh() {
  at('lacking').textContent = '';
  select().then((newest) => { if (newest) draw(); }).catch(fail);
}

// Shows what the address names, and says what of it the page does not have.
async function follow() {
  readLink();
  if (!await select()) return;
  ['choice', 'view'].forEach((id) => { at(id).hidden = false; });
  draw();
  at('lacking').textContent = lackingSentence();
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
function usesKey({ target, key, shiftKey }) {
  if (target.closest('select')) return true;
  const across = key === 'ArrowLeft' || key === 'ArrowRight';
  const ends = key === 'Home' || key === 'End';
  if (target.closest('input')) return (across && !shiftKey) || ends;
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
    if (!Object.hasOwn(keys, event.key) || usesKey(event)) return;
    keys[event.key](event.shiftKey ? 10 : 1);
    event.preventDefault();
  });
  Object.keys(state).filter((name) => at(name)?.tagName === 'SELECT').forEach((name) => {
    at(name).addEventListener('change', () => {
      state[name] = name === 'trace' ? Number(at(name).value) : at(name).value;
      refresh();
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
  window.addEventListener('hashchange', () => { follow().catch(fail); });
}

async function start() {
  await readIndex();
  run.traces.forEach((trace, index) => {
    if (trace.cells.length > 0) at('trace').append(new Option(trace.name, String(index)));
  });
  state.trace = run.traces.findIndex((trace) => trace.cells.length > 0);
  readLink();  // the trace, whose most telling cache is shown unless the address names another
  const { cells, telling } = run.traces[state.trace];
  usual = all().find(({ unit }) => unit === cells[telling[0]].units[telling[1]]);
  first.forEach((name) => { state[name] = usual[name]; });
  await follow();
  listen();
  at('loading').hidden = true;
  performance.mark('ready');
}

start().catch(fail);
