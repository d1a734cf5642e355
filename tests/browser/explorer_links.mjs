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
  const nonsense = await explorer(browser, { policy: '<img>', budget: 'x', layer: '-1', of: 'q',
    trace: '99', seen: '1e99', stage: '9', other: 'none', shade: 'light' });
  assert.equal(await seenIn(nonsense), 512);
  const lacking = await textOf(nonsense, '#lacking');
  assert.equal(lacking, 'The address names trace 99, policy <img>, budget x, layer -1, other ' +
    'policy none, which this page does not have.');
  assert.equal(await page.$eval('#lacking', (line) => line.hidden), true);
  for (const one of [page, again, nonsense]) assert.deepEqual(one.mistakes, []);
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

await run({ links, alone });
