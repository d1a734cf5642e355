
// How a sentence names the parts of an address.
const linked = { trace: 'trace', policy: 'policy', budget: 'budget', seed: 'seed', layer: 'layer',
  head: 'head', other: 'other policy', otherBudget: 'budget of the other policy',
  otherSeed: 'seed of the other policy' };

// What the address names, as far as a page can have it at all.
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

// What the address names and the page does not have; empty if there is nothing.
function lackingSentence() {
  const link = new URLSearchParams(location.hash.slice(1));
  const lacking = Object.keys(linked)
    .filter((name) => link.get(name) && link.get(name) !== String(state[name]))
    .map((name) => linked[name] + ' ' + link.get(name));
  return lacking.length === 0 ? '' : 'The address names ' + lacking.join(', ') +
    ', which this page does not have.';
}

function writeLink() {
  history.replaceState(null, '', '#' + new URLSearchParams(state));
}
