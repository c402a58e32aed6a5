// Opens every view of a running daemon in Chromium and prints one JSON object: what each shows, and
// what must not be (console errors, requests elsewhere, faults that axe finds), with load times.
//
//   node test/visit.mjs URL [--theme light|dark] [--stay]
//
// --stay: afterwards reads lines "look VIEW" (prints that view's object on one line, without loading
// the page again) and "quit" from standard input.
import { createInterface } from 'node:readline';
import { ask, axeFaults, titleOf, kViews, openBrowser, openPage, shown, visit } from './browser.mjs';
import { readView } from './read_page.mjs';

const given = process.argv.slice(2);
const option = (name) => (given.includes(name) ? given[given.indexOf(name) + 1] : null);
const url = given
  .find((word) => /^https?:/.test(word))
  ?.replace(/[#?].*$/, '')
  .replace(/\/*$/, '/');
if (!url) {
  console.error('visit.mjs: give the address of the daemon, such as http://127.0.0.1:6828/');
  process.exit(2);
}
const theme = option('--theme') ?? 'light';
const kSettleMilliseconds = 300;

async function report(browser) {
  const { page, trouble } = await openPage(browser, url, { colorScheme: theme });
  const bytes = await countBytes(page);
  const loads = await timeLoads(browser);
  const views = {};
  const axe = {};
  for (const view of kViews) {
    await visit(page, url, view);
    if (view === 'ask') await ask(page);
    await page.waitForTimeout(kSettleMilliseconds);
    views[view] = await readView(page, view);
    axe[view] = await axeFaults(page);
  }
  return { page, trouble, result: { url, theme, first_view_ms: loads, bytes: bytes(), views, axe, trouble } };
}

// Bytes on the wire, by what the browser received.
async function countBytes(page) {
  const session = await page.context().newCDPSession(page);
  const sum = { received: 0 };
  await session.send('Network.enable');
  session.on('Network.loadingFinished', (event) => (sum.received += event.encodedDataLength));
  return () => sum.received;
}

// From the question to the first card on the screen, three times with an empty cache.
async function timeLoads(browser) {
  const times = [];
  for (let at = 0; at < 3; ++at) {
    const { page, context } = await openPage(browser, url);
    const start = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    await shown(page, 'now');
    times.push(Math.round(performance.now() - start));
    await context.close();
  }
  return times;
}

// Moves by the navigation, so that the page itself is not loaded again.
async function look(page, view) {
  await page.click(`nav.views a[href="#/${view}"]`);
  await page.waitForSelector(`main:has(h1:text-is("${titleOf(view)}"))`);
  await page.waitForSelector('.answered[aria-busy="false"], .ask', { timeout: 30_000 });
  return readView(page, view);
}

async function stay(page, trouble) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [word, view] = line.trim().split(/\s+/);
    if (word === 'quit') return;
    const answer =
      word === 'look' && kViews.includes(view)
        ? { view, ...(await look(page, view)), trouble }
        : { error: `'${line}' is not understood; write "look VIEW" or "quit"` };
    console.log(JSON.stringify(answer));
  }
}

const browser = await openBrowser();
try {
  const { page, trouble, result } = await report(browser);
  console.log(JSON.stringify(result));
  if (given.includes('--stay')) await stay(page, trouble);
} finally {
  await browser.close();
}
