
const svgSpace = 'http://www.w3.org/2000/svg';

function wordOf(trace, position) {
  return trace.words.length > 0 ? trace.words[position] : position + ' ';
}

function namedToken(trace, position) {
  const word = trace.words.length > 0 ? '“' + trace.words[position].trim() + '” at ' : '';
  return word + 'position ' + position;
}

// One element per token; paint() below changes their classes only.
function drawText(trace) {
  const text = document.getElementById('text');
  text.replaceChildren();
  for (let position = 0; position < trace.tokens; position += 1) {
    const word = document.createElement('span');
    word.textContent = wordOf(trace, position);
    text.append(word);
  }
}

function paint(trace, evicted, seen) {
  const words = document.getElementById('text').children;
  const states = { resident: 0, newest: 0, now: 0, evicted: 0, future: 0 };
  const gone = [];
  for (let position = 0; position < trace.tokens; position += 1) {
    const state = stateOf(evicted, position, seen);
    states[state] += 1;
    if (state === 'now') gone.push(position);
    if (words[position].className === state) continue;
    words[position].className = state;
    words[position].title = 'position ' + position + (evicted[position] > trace.tokens
      ? ', never evicted' : ', evicted after ' + evicted[position] + ' tokens');
  }
  const named = gone.slice(0, 8).map((position) => namedToken(trace, position)).join(', ');
  const rest = gone.length > 8 ? ' and ' + (gone.length - 8) + ' more' : '';
  const now = gone.length === 0 ? 'Nothing is evicted at this step.'
    : 'At this step ' + (gone.length === 1 ? 'one token is' : gone.length + ' tokens are') +
      ' evicted: ' + named + rest + '.';
  return 'After ' + seen + ' tokens, ' + (states.resident + states.newest) +
    ' are resident and ' + (states.evicted + states.now) + ' have been evicted. ' + now;
}

// The residents that each query finds, and a line at the present.
function drawCurve(evicted, seen) {
  const curve = document.getElementById('curve');
  const counts = residentsOf(evicted);
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  const x = (n) => (n * 1000 / evicted.length).toFixed(2);
  let path = 'M0 138';
  for (let n = 1; n < counts.length; n += 1) {
    path += 'L' + x(n) + ' ' + (138 - counts[n] * 130 / most).toFixed(2);
  }
  const line = document.createElementNS(svgSpace, 'path');
  line.setAttribute('d', path);
  const now = document.createElementNS(svgSpace, 'line');
  Object.entries({ x1: x(seen), x2: x(seen), y1: 0, y2: 140 })
    .forEach(([name, value]) => now.setAttribute(name, value));
  curve.replaceChildren(curve.querySelector('title'), line, now);
  document.getElementById('curve-caption').textContent =
    'Residents that each query finds, its own token included; at most ' + most +
    ', and ' + counts[seen] + ' at this step. The vertical line is the present.';
}
