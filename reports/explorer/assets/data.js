'use strict';

// What the run holds; the format is described in the README of reports/explorer.
const run = JSON.parse(document.getElementById('data').textContent);

function numbersOf(text, bytes) {
  const raw = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return bytes === 2 ? new Uint16Array(raw.buffer) : new Uint32Array(raw.buffer);
}

// For each position, the number of tokens seen when it was evicted; more than all if it never was.
function evictedAt(trace, unit) {
  unit.numbers ??= numbersOf(unit.evicted, trace.bytes);
  return unit.numbers;
}

// What a position is after `seen` tokens, when the cache was trimmed.
function stateOf(evicted, position, seen) {
  if (position >= seen) return 'future';
  if (evicted[position] === seen) return 'now';
  if (evicted[position] < seen) return 'evicted';
  return position === seen - 1 ? 'newest' : 'resident';
}

// For n = 1 to tokens: how many positions the query of token n - 1 found resident, with its own.
function residentsOf(evicted) {
  const change = new Int32Array(evicted.length + 2);
  evicted.forEach((at) => { if (at < evicted.length) change[at + 1] -= 1; });
  const counts = new Int32Array(evicted.length + 1);
  for (let n = 1; n <= evicted.length; n += 1) counts[n] = counts[n - 1] + 1 + change[n];
  return counts;
}

// The nearest number of tokens after (or, with -1, before) `seen` at which something was evicted.
function nextEviction(evicted, seen, direction) {
  let best = 0;
  evicted.forEach((at) => {
    if (at > evicted.length || (at - seen) * direction <= 0) return;
    if (best === 0 || (best - at) * direction > 0) best = at;
  });
  return best;
}
