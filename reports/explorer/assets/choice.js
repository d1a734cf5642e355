
// What the reader selected, under the names that the address of the page has too.
const state = { trace: 0, policy: '', budget: '', seed: '', other: '', otherBudget: '',
  otherSeed: '', layer: '', head: '', shade: 'residency', of: 'a', stage: 0, seen: 0 };
const first = ['policy', 'budget', 'seed', 'layer', 'head'];
let usual = {};  // the cache with which the page opens
let shown = null;
let drawnTrace = null;
let selections = 0;
let busy = false;  // whether data of the last selection are still read

const all = () => run.traces[state.trace].cells.flatMap((cell) => cell.units.map((unit) => ({
  cell, unit, policy: cell.label, budget: String(cell.budget), seed: cell.seed,
  layer: String(unit.layer), head: String(unit.head) })));

// Fills a list with the values that are there. A value that it does not have becomes that of the
// cache with which the page opens, or else the first.
function fill(id, values, names = values) {
  const list = [...new Set(values)];
  if (!list.includes(state[id])) state[id] = list.includes(usual[id]) ? usual[id] : list[0];
  at(id).replaceChildren(...list.map((value) => new Option(names[values.indexOf(value)], value)));
  at(id).value = state[id];
}

// A list of seeds is there if some policy of the trace ran with several, and disabled for one that
// did not, so that the lists beside it keep their places.
function showSeeds(id, used) {
  const seeds = new Set(run.traces[state.trace].cells.map((cell) => cell.seed));
  at(id).parentElement.hidden = !used || seeds.size < 2;
  at(id).disabled = at(id).options.length < 2;
}

// The unit of the first cache, after its lists were filled from left to right.
function firstCache() {
  let left = all();
  first.forEach((name) => {
    fill(name, left.map((one) => one[name]));
    left = left.filter((one) => one[name] === state[name]);
  });
  showSeeds('seed', true);
  return left[0];
}

// The unit of the second cache that is nearest to the first one's; null if there is no second.
function otherCache() {
  const policies = all().map((one) => one.policy);
  fill('other', ['', ...policies], ['no other policy', ...policies]);
  at('otherBudget').parentElement.hidden = state.other === '';
  let left = all().filter((one) => one.policy === state.other);
  if (left.length > 0) {
    fill('otherBudget', left.map((one) => one.budget));
    left = left.filter((one) => one.budget === state.otherBudget);
    fill('otherSeed', left.map((one) => one.seed));
    left = left.filter((one) => one.seed === state.otherSeed);
  }
  showSeeds('otherSeed', state.other !== '');
  return left.find((one) => one.layer === state.layer && one.head === state.head) ??
    left.find((one) => one.layer === state.layer) ?? left[0] ?? null;
}

function setBusy(now) {
  busy = now;
  document.querySelector('main').setAttribute('aria-busy', String(now));
}

// Reads what the selected caches need. False if something else was selected meanwhile.
async function select() {
  selections += 1;
  const mine = selections;
  const trace = run.traces[state.trace];
  at('trace').value = String(state.trace);
  const pair = [firstCache(), otherCache()];
  setBusy(true);
  await Promise.all([loadWords(trace), ...pair.filter(Boolean).map(loadCache)]);
  if (mine !== selections) return false;
  setBusy(false);
  const [a, b] = pair.map((one) => one && { ...one, evicted: evictedAt(trace, one) });
  if (!b) state.of = 'a';
  shown = { trace, a, b, focus: state.of === 'a' ? a : b };
  const hasAttention = shown.focus.unit.steps?.mass >= 0;
  if (!hasAttention) state.shade = 'residency';
  at('shade').querySelector('[value=attention]').disabled = !hasAttention;
  ['shade', 'of'].forEach((id) => { at(id).value = state[id]; });
  at('of').parentElement.hidden = !b;
  at('choice').classList.toggle('pair', Boolean(b));
  if (state.seen === 0) state.seen = tellingStep(shown.focus.evicted);
  shown.parting = b ? firstParting(a.evicted, b.evicted) : 0;
  return true;
}
