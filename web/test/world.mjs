// A fake daemon and a browser for a file of tests; every page is looked at afterwards for what must
// never happen: console errors, exceptions, requests elsewhere, breaches of the policy.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { openBrowser, openPage } from './browser.mjs';
import { startFake } from './fake_daemon.mjs';

/** Call at the top of a test file. `world.fake` and `world.browser` are there in its tests. */
export function makeWorld(options = {}) {
  const world = { fake: null, browser: null };
  before(async () => {
    world.fake = await startFake(options);
    world.browser = await openBrowser();
  });
  after(async () => {
    await world.browser?.close();
    await world.fake?.stop();
  });
  return world;
}

/** Runs `body(page, trouble)`; `allow` are patterns of console messages that belong to the test. */
export async function withPage(world, body, { allow = [], ...options } = {}) {
  const { page, context, trouble } = await openPage(world.browser, world.fake.url, options);
  try {
    await body(page, trouble);
    const console = trouble.console.filter((text) => !allow.some((pattern) => pattern.test(text)));
    assert.deepEqual({ ...trouble, console }, { console: [], exceptions: [], elsewhere: [], policy: [] });
  } finally {
    await context.close();
  }
}

/** What Chromium itself writes to the console when an answer is an error or does not come. */
export const kNetworkNoise = [/Failed to load resource/, /net::ERR/];

/** Waits until `read()` gives something that `wanted` accepts. */
export async function until(page, read, wanted, milliseconds = 10_000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    if (Date.now() > end) assert.fail(`still ${JSON.stringify(value)?.slice(0, 400)}`);
    await page.waitForTimeout(50);
  }
}

/** Waits until what matches `selector` has the focus: an effect gives it, after the page has drawn. */
export async function focused(page, selector) {
  await until(
    page,
    () => page.evaluate((wanted) => document.activeElement?.matches(wanted), selector),
    (matches) => matches,
  );
}

/** Runs `body(own)` with a daemon of its own and the same browser; the daemon may be started anew. */
export async function withOwnFake(world, options, body) {
  const own = { browser: world.browser, fake: await startFake(options) };
  try {
    await body(own);
  } finally {
    await own.fake.stop();
  }
}
