
const svgSpace = 'http://www.w3.org/2000/svg';
const at = (id) => document.getElementById(id);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function countOf(number, noun) {
  return number + ' ' + noun + (number === 1 ? '' : 's');
}

// A few digits, as a reader needs them; never 1e-7. Below 0.001 no digits, so that one column has
// one form of small numbers; 0 is exactly that.
function shortNumber(value, digits = 3) {
  if (value === null || Number.isNaN(value)) return '–';
  if (value !== 0 && Math.abs(value) < 0.001) return value < 0 ? '> −0.001' : '< 0.001';
  return String(Number(value.toPrecision(digits)));
}

function wordOf(trace, position) {
  return trace.words.length > 0 ? trace.words[position] : String(position);
}

const blanks = { ' ': '␣', '\n': '⏎', '\r': '␍', '\t': '⇥' };

// A word among others: blanks have signs if it has nothing else, and a long one is cut.
function shownWord(trace, position) {
  const word = wordOf(trace, position);
  if (word === '') return '(empty)';
  const characters = Array.from(word.trim() || word);
  const shown = word.trim() ? characters : characters.map((one) => blanks[one] ??
    'U+' + one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0'));
  return shown.length > 40 ? shown.slice(0, 39).join('') + '…' : shown.join('');
}

// Isolated, so that a word that is written from right to left does not move those beside it.
function namedToken(trace, position) {
  const word = trace.words.length > 0 ? '“\u2068' + shownWord(trace, position) + '\u2069” at ' : '';
  return word + 'position ' + position;
}

// At most `most` tokens by name, and how many more there are.
function namedTokens(trace, positions, most) {
  const named = positions.slice(0, most).map((position) => namedToken(trace, position)).join(', ');
  return positions.length > most ? named + ' and ' + (positions.length - most) + ' more' : named;
}

// One element per token; paint() below changes their classes only.
function drawText(trace) {
  const words = document.createDocumentFragment();
  for (let position = 0; position < trace.tokens; position += 1) {
    words.append(element('span', wordOf(trace, position) + (trace.words.length > 0 ? '' : ' ')));
  }
  at('text').replaceChildren(words);
}

const legends = {
  residency: [['resident', 'resident'], ['newest', 'newest'], ['now', 'evicted at this step'],
    ['evicted', 'evicted']],
  attention: [['paid', 'the stronger the colour, the more attention'],
    ['evicted', 'evicted']],
  both: [['in-both', 'in both'], ['only-a', 'only in A'], ['only-b', 'only in B'],
    ['evicted', 'in neither']],
};

function drawLegend(kind) {
  at('legend').replaceChildren(...legends[kind].map(([name, words]) => element('span', words, name)));
}

// The class of each position for a pair of caches, or for one if `other` is null.
function classOf(one, other, position, seen) {
  if (!other || position >= seen) return stateOf(one, position, seen);
  const inOne = one[position] > seen;
  const inOther = other[position] > seen;
  if (inOne && inOther) return 'in-both';
  if (inOne) return 'only-a';
  return inOther ? 'only-b' : 'evicted';
}

// Shades the words by residency in one cache or two, or by the attention of the newest token in the
// one whose details are shown.
function paintText(shown, seen, byAttention) {
  const { trace, a, b, focus } = shown;
  const words = at('text').children;
  const attention = byAttention ? attentionOf(focus, seen) : null;
  const shares = new Map();
  if (attention) {
    alive(focus.evicted, seen, seen - 1).forEach((p, rank) => shares.set(p, attention[rank]));
  }
  for (let position = 0; position < trace.tokens; position += 1) {
    let name = attention ? stateOf(focus.evicted, position, seen)
      : classOf(a.evicted, b?.evicted, position, seen);
    if (attention && shares.has(position)) name = 'paid';
    const word = words[position];
    if (word.className !== name) word.className = name;
    // The root, so that small shares can be seen beside the largest.
    const shade = name === 'paid' ? Math.sqrt(shares.get(position)).toFixed(3) : '';
    if ((word.dataset.shade ?? '') !== shade) {
      word.dataset.shade = shade;
      word.style.setProperty('--share', shade === '' ? '0' : shade);
    }
  }
  drawLegend(attention ? 'attention' : (b ? 'both' : 'residency'));
}

// What became of the word under the pointer.
function explainWord(event, shown) {
  const position = [...at('text').children].indexOf(event.target);
  if (position < 0) return;
  const fate = (evicted) => (evicted[position] === never ? 'never evicted'
    : 'evicted after ' + evicted[position] + ' tokens');
  event.target.title = 'position ' + position + ': ' + (shown.b
    ? fate(shown.a.evicted) + ' in A, ' + fate(shown.b.evicted) + ' in B' : fate(shown.a.evicted));
}

// The step at which the token under the pointer was evicted, or arrived if it never was; 0 if there
// is none, or if the reader has selected words.
function stepOfWord(event, evicted) {
  const position = [...at('text').children].indexOf(event.target);
  if (position < 0 || !window.getSelection().isCollapsed) return 0;
  return evicted[position] === never ? position + 1 : evicted[position];
}

// Scrolls the box, and not the page, until the part is in it: near its lower end, so that what was
// read before it is seen too.
function keepInSight(box, part) {
  const [outer, inner] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  if (inner.bottom <= outer.bottom && inner.top >= outer.top) return;
  box.scrollTop += inner.bottom - outer.bottom + 40;
}
