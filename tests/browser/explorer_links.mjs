// Checks of the addresses of the page of kvcheck explore, and of what else the page needs: no
// network, but scripts and a browser that inflates. The pages are those of explorer.mjs.
import assert from 'node:assert/strict';
import { open, run, textOf } from './browser.mjs';
import { explorer, linkTo, pick, ready, seenIn, settled, withSteps } from './explorer_page.mjs';

async function links(browser) {
  const state = { policy: 'h2o', budget: '64', other: 'window', otherBudget: '64', layer: '2',
    head: '3', of: 'b', stage: '2', seen: '300', shade: 'residency' };
  const page = await explorer(browser, state);
  for (const id of ['policy', 'budget', 'other', 'otherBudget', 'layer', 'head', 'of']) {
    assert.equal(await page.$eval('#' + id, (list) => list.value), state[id], id);
  }
  assert.equal(await seenIn(page), 300);
  assert.ok(await page.$('#stage-freed[aria-current=step]'));
  await pick(page, '#other', 'tova in-cache');
  await page.click('#forward');
  await settled(page);
  const [url, status] = [page.url(), await textOf(page, '#status-b')];
  assert.match(url, /other=tova/);
  const again = await open(browser, url);
  await ready(again);
  assert.equal(await textOf(again, '#status-b'), status);
  await again.evaluate((hash) => { location.hash = hash; }, linkTo({ ...state, seen: 77 }));
  await again.waitForFunction(() => document.getElementById('time').value === '77');
  assert.equal(await textOf(again, '#lacking'), '');
  for (const one of [page, again]) assert.deepEqual(one.mistakes, []);
}

// A printed page shows all of what scrolls on a screen.
async function printed(browser) {
  const page = await explorer(browser, { policy: 'h2o', seen: 300 });
  await page.emulateMediaType('print');
  const cut = await page.$$eval('.scrolls, #text', (parts) => parts.filter((part) =>
    part.offsetParent && part.scrollHeight > part.clientHeight + 1).map((part) => part.id));
  assert.deepEqual(cut, []);
}

// What an address names and the page does not have is said, with what is shown instead.
async function lacking(browser) {
  const nonsense = await explorer(browser, { policy: '<img>', budget: 'x', seed: '7', layer: '-1',
    head: '9', of: 'b', trace: '99', seen: '1e99', stage: '9', other: 'none', shade: 'light' });
  assert.equal(await seenIn(nonsense), 512);
  const name = await nonsense.$eval('#trace', (list) => list.selectedOptions[0].textContent);
  assert.equal(await textOf(nonsense, '#lacking'), 'The address of this page names trace 99, ' +
    'policy <img>, budget x, seed 7, layer -1, head 9, other policy none, details of b, shade light, ' +
    'stage 9 and step 1e99, which this page does not have; it shows trace 0 (' + name + '), ' +
    'policy h2o, budget 64, seed 1, layer 5, head 0, other policy none, details of a, shade ' +
    'residency, stage positions and step 512 instead.');
  assert.equal(await nonsense.$eval('#lacking', (line) => line.checkVisibility() &&
    line.parentElement.getAttribute('role')), 'status');
  // It is no longer said when the reader selects something else.
  await pick(nonsense, '#policy', 'window');
  assert.equal(await textOf(nonsense, '#lacking'), '');
  assert.equal(await nonsense.$eval('#lacking', (line) => line.checkVisibility()), false);
  const dense = await explorer(browser, { policy: 'dense', budget: '64' });
  assert.match(await textOf(dense, '#lacking'), /names budget 64, .* shows budget none instead\.$/);
  // Each part alone, when the address of an open page changes, and whether it is a number or not.
  const names = { policy: 'policy', budget: 'budget', seed: 'seed', layer: 'layer', head: 'head',
    seen: 'step', trace: 'trace' };
  const good = { policy: 'h2o', budget: '64', seed: '1', layer: '5', head: '0', seen: '200' };
  const page = await explorer(browser, good);
  for (const [part, title] of Object.entries(names)) {
    for (const value of ['4711', 'none']) {
      await page.evaluate((hash) => { location.hash = hash; }, linkTo({ ...good, [part]: value }));
      await page.waitForFunction((begin) => document.getElementById('lacking').textContent
        .startsWith(begin), {}, 'The address of this page names ' + title + ' ' + value + ', wh');
    }
  }
  await page.evaluate((hash) => { location.hash = hash; }, linkTo(good));
  await page.waitForFunction(() => document.getElementById('lacking').textContent === '');
  // The address of the last step is written just after the reader has changed it.
  await page.evaluate((hash) => {
    location.hash = hash;
    window.writeLink();
  }, linkTo({ ...good, seed: '4711' }));
  await page.waitForFunction(() => document.getElementById('lacking').textContent
    .startsWith('The address of this page names seed 4711, wh'));
  for (const one of [nonsense, dense, page]) assert.deepEqual(one.mistakes, []);
}

async function alone(browser) {
  const page = await explorer(browser, { policy: 'h2o', other: 'window', seen: 100 });
  await page.click('#forward');
  await settled(page);
  assert.deepEqual(page.requests.map((url) => url.split('#')[0]), [withSteps]);

  const off = await open(browser, withSteps, { prepare: (one) => one.setJavaScriptEnabled(false) });
  assert.match(await off.$eval('body', (body) => body.innerText),
    /This page needs JavaScript to show its data; please allow it/);
  assert.equal(await off.$eval('#view', (view) => view.checkVisibility()), false);
  assert.equal(await off.$eval('#loading', (one) => one.checkVisibility()), false);

  const expectProblem = async (prepare, sentence) => {
    const broken = await open(browser, withSteps, { prepare });
    await broken.waitForSelector('#problem:not([hidden])', { timeout: 30000 });
    assert.equal(await textOf(broken, '#problem'), sentence);
    assert.equal(await broken.$eval('#view', (view) => view.checkVisibility()), false);
    assert.equal(await broken.$eval('#loading', (one) => one.checkVisibility()), false);
  };
  const takeAway = (one) => one.evaluateOnNewDocument(() => { delete window.DecompressionStream; });
  await expectProblem(takeAway,
    'This browser cannot inflate the data of the page; please open it in Chromium 80, ' +
    'Firefox 113, Safari 16.4 or a later one.');
  await expectProblem((one) => one.evaluateOnNewDocument(() => {
    const decode = window.atob;
    window.atob = (text) => decode(text.slice(0, 4000));
  }), 'The data of this page are damaged; please write it again with kvcheck explore.');
}

await run({ links, lacking, printed, alone });
