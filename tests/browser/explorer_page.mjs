// What the checks of the page of kvcheck explore share.
import { open, pages } from './browser.mjs';

export const [withSteps, without] = pages;

// The fragment of an address that names a state of the explorer.
export const linkTo = (state) => '#' + new URLSearchParams(state);

// The explorer shows its first view, or what was selected last.
export const ready = (page) => page.waitForSelector('#loading[hidden]', { timeout: 30000 });
export const idle = (page) => page.waitForSelector('main[aria-busy=false]', { timeout: 30000 });

// Selects a value in a list of the explorer, and waits until it is shown.
export async function pick(page, selector, value) {
  await page.select(selector, value);
  await idle(page);
}

// The first page, in the state that its address names.
export async function explorer(browser, state, options) {
  const page = await open(browser, withSteps + linkTo(state), options);
  await ready(page);
  return page;
}

export const seenIn = (page) => page.$eval('#time', (slider) => Number(slider.value));
export const settled = (page) => new Promise((done) => { setTimeout(done, 900); })
  .then(() => page);
