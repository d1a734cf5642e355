
const mostBoxes = 120;
const stages = ['visible', 'selected', 'freed', 'positions'];

// Those of many tokens that a reader needs: both ends, and the selected with their neighbours.
function elided(tokens) {
  if (tokens.length <= mostBoxes) return tokens;
  const wanted = new Set();
  const want = (index) => { if (index >= 0 && index < tokens.length) wanted.add(index); };
  for (let i = 0; i < 10; i += 1) { want(i); want(tokens.length - 1 - i); }
  tokens.forEach((token, index) => {
    if (!token.selected || wanted.size > mostBoxes) return;
    for (let i = -3; i <= 3; i += 1) want(index + i);
  });
  const boxes = [];
  tokens.forEach((token, index) => {
    if (wanted.has(index)) boxes.push(token);
    else if (boxes.at(-1)?.skipped) boxes.at(-1).skipped += 1;
    else boxes.push({ skipped: 1 });
  });
  return boxes;
}

function protectedText(cell) {
  const parts = [];
  if (cell.sinks > 0) parts.push(cell.sinks === 1 ? 'the sink' : 'the ' + cell.sinks + ' sinks');
  if (cell.recent > 0) parts.push(cell.recent === 1 ? 'the newest token'
    : 'the ' + cell.recent + ' newest tokens');
  return parts.length === 0 ? 'No token is protected.'
    : 'Protected are ' + parts.join(' and ') + '.';
}

function selectedText({ trace, focus }, seen, gone) {
  const { cell, unit } = focus;
  const begin = protectedText(cell) + ' ';
  const victims = namedTokens(trace, gone, 6);
  if (!unit.steps) {
    return begin + 'Of the others, ' + cell.policy + ' selects ' + victims + '. By which score ' +
      'is not in the page; kvcheck explore --trace FILE adds it.';
  }
  const decisions = decisionsAt(unit, seen);
  if (decisions.length === 0) {
    return begin + 'There is nothing to decide: the oldest token that is not protected is ' +
      'evicted, ' + victims + '.';
  }
  const sentences = decisions.slice(0, 4).map((one) => {
    const what = 'Of ' + countOf(one.candidates, 'candidate') + ', ' + cell.policy + ' keeps ' +
      (one.candidates - one.victims.length) + ' and selects ' +
      one.victims.slice(0, 6).map(([p, score]) => namedToken(trace, p) +
        (score === null ? '' : ' (score ' + shortNumber(score) + ')')).join(', ') +
      (one.victims.length > 6 ? ' and ' + (one.victims.length - 6) + ' more' : '') + '.';
    if (one.next.length === 0) return what + ' This policy reports no scores.';
    return what + ' The lowest scores that remain: ' + one.next.slice(0, 3).map(([p, score]) =>
      namedToken(trace, p) + ' with ' + shortNumber(score)).join(', ') + '.';
  });
  const rest = decisions.length > 4 ? ' ' + (decisions.length - 4) + ' more decisions follow.' : '';
  return begin + sentences.join(' ') + rest;
}

function freedText({ trace, focus }, gone, kept) {
  const slots = slotsOf(trace, focus.unit);
  const where = slots ? ' (' + (gone.length === 1 ? 'slot ' : 'slots ') +
    runsOf(gone.map((p) => slots[p]).sort((a, b) => a - b), 8) + ')' : '';
  const late = focus.cell.visibility === 'window'
    ? ' Each query has a window of its own, so rows are freed when the chunk ends.' : '';
  return (gone.length === 1 ? 'Its row' : 'Their rows') + where +
    (gone.length === 1 ? ' is' : ' are') + ' given to the next tokens; no other row moves. ' +
    kept + ' of ' + (kept + gone.length) + ' rows remain.' + late;
}

function positionsText({ focus }, seen, gone, kept) {
  if (!focus.cell.ranks) {
    return 'The tokens that remain keep the positions of the stream, and gaps remain between ' +
      'them. The next query is at position ' + seen + '.';
  }
  const closed = kept.filter((p) => p > gone[0]).length;
  return 'The gaps close: ' + countOf(closed, 'token') + ' behind the first gap ' +
    (closed === 1 ? 'has' : 'have') + ' a lower rank now, and the next query is at rank ' +
    kept.length + ', not ' + seen + '.';
}

function boxOf(token, stage, cell) {
  if (token.skipped) return element('li', '… ' + token.skipped + ' …', 'skipped');
  const gone = token.selected && stage >= 2;
  const label = stage === 3 && cell.ranks ? token.rank : token.p;
  let name = 'seen';
  if (stage >= 1 && token.kind !== 'middle') name = 'guarded';
  if (token.selected && stage >= 1) name = gone ? 'freed' : 'now';
  return element('li', gone ? '' : String(label), name);
}

// One trim in four stages: what the query saw, which tokens are selected, which rows are freed, and
// at which positions the others go on.
function drawWalk(shown, seen, stage) {
  const { focus } = shown;
  const gone = evictedNow(focus.evicted, seen);
  at('walk-nothing').hidden = gone.length > 0;
  at('walk-part').hidden = gone.length === 0;
  at('walk-next').hidden = nextEviction(focus.evicted, seen, 1) === 0;
  if (gone.length === 0) return;
  const seenTokens = alive(focus.evicted, seen, seen - 1);
  const kept = seenTokens.filter((p) => focus.evicted[p] > seen);
  const ranks = new Map(kept.map((p, rank) => [p, rank]));
  const tokens = seenTokens.map((p) => ({ p, selected: focus.evicted[p] === seen,
    kind: kindOf(focus.cell, p, seen), rank: ranks.get(p) }));
  const shownTokens = stage === 3 ? tokens.filter((token) => !token.selected) : tokens;
  const boxes = elided(shownTokens);
  at('boxes').replaceChildren(...boxes.map((token) => boxOf(token, stage, focus.cell)));
  const when = focus.cell.timing === 'trim-then-attend'
    ? ' The trim makes room before the next token attends.' : ' The trim follows.';
  at('walk-text').textContent = [
    'The query of token ' + (seen - 1) + ' attends to ' + countOf(seenTokens.length, 'token') +
      ', its own included.' + when,
    selectedText(shown, seen, gone),
    freedText(shown, gone, kept.length),
    positionsText(shown, seen, gone, kept)][stage];
  stages.forEach((name, index) => {
    if (index === stage) at('stage-' + name).setAttribute('aria-current', 'step');
    else at('stage-' + name).removeAttribute('aria-current');
  });
}
