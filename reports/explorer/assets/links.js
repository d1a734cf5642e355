
// How a sentence names the parts of an address.
const linked = { trace: 'trace', policy: 'policy', budget: 'budget', seed: 'seed', layer: 'layer',
  head: 'head', other: 'other policy', otherBudget: 'budget of the other policy',
  otherSeed: 'seed of the other policy', of: 'details of', shade: 'shade', stage: 'stage',
  seen: 'step' };

// The address that was read or written last.
let followed = '';

// What the address names, as far as a page can have it at all.
function readLink() {
  followed = location.hash;
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

function listed(words) {
  return words.length < 2 ? words.join('')
    : words.slice(0, -1).join(', ') + ' and ' + words.at(-1);
}

// What the address names and the page does not show, and what it shows instead; empty if there is
// nothing. It compares with what was drawn, so that it does not matter why something is missing.
function lackingSentence() {
  const link = new URLSearchParams(location.hash.slice(1));
  const lacking = Object.keys(linked)
    .filter((name) => link.get(name) && link.get(name) !== String(state[name]));
  if (lacking.length === 0) return '';
  // A cache that evicts nothing has the budget "-", and stages are shown by name.
  const value = (name) => (name === 'stage' ? stages[state.stage] : state[name]);
  const instead = (name) => linked[name] + ' ' +
    (['', '-'].includes(state[name]) ? 'none' : value(name)) +
    (name === 'trace' ? ' (' + shown.trace.name + ')' : '');
  const asked = lacking.map((name) => linked[name] + ' ' + link.get(name));
  return 'The address of this page names ' + listed(asked) + ', which this page does not have; ' +
    'it shows ' + listed(lacking.map(instead)) + ' instead.';
}

// An address that the reader has just changed is left alone: its event has yet to arrive.
function writeLink() {
  if (location.hash !== followed) return;
  history.replaceState(null, '', '#' + new URLSearchParams(state));
  followed = location.hash;
}
