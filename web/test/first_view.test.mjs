// The first screen of Now: it answers the first question, and nothing on it moves once it is drawn.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { visit } from './browser.mjs';
import { makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const kSizes = [
  { width: 1280, height: 800 },
  { width: 768, height: 1024 },
  { width: 360, height: 740 },
];
const kViews = ['now', 'now?gpus=2&memory=20', 'nodes', 'queue', 'history', 'group', 'accuracy', 'ask'];
const kMostShift = 0.02;
const kCalmLooks = 5;

function watchShifts() {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
}

/** Waits until nothing is asked and nothing is busy, for a while: one answer may lead to the next question. */
async function settled(page, log) {
  let calm = 0;
  let seen = 0;
  await until(
    page,
    async () => {
      const open = log.filter((entry) => entry.done === Infinity && entry.path !== '/v1/events').length;
      const busy = await page.locator('[aria-busy="true"]').count();
      calm = open === 0 && busy === 0 && log.length === seen ? calm + 1 : 0;
      seen = log.length;
      return { open, busy, calm };
    },
    (now) => now.calm >= kCalmLooks,
  );
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

for (const viewport of kSizes) {
  const size = `${viewport.width} × ${viewport.height}`;

  test(`The first screen says when a job starts, ${size}`, () =>
    withPage(
      world,
      async (page) => {
        await visit(page, world.fake.url, 'now');
        const starts = page.locator('.starts > li');
        assert.equal(await starts.count(), 3);
        const box = await page.locator('.starts').boundingBox();
        assert.ok(box.y + box.height < viewport.height * 0.75, `the answers end at ${box.y + box.height} px`);
        for (const one of await starts.allInnerTexts()) assert.match(one, /^\S.*\n(.*\n)*(now|\S*\s?\d\d:\d\d)\n/);
        mkdirSync('dist-test', { recursive: true });
        await page.screenshot({ path: `dist-test/now-${viewport.width}.png` });
      },
      { viewport },
    ));

  test(`Nothing moves while answers come in, ${size}`, () =>
    withOwnFake(world, {}, async (own) => {
      // Late, and each at another moment.
      own.fake.set({
        late: {
          '/v1/waits': 250,
          '/v1/nodes': 150,
          '/v1/waiting': 450,
          '/v1/history': 700,
          '/v1/me': 350,
          '/v1/select': 200,
          '/v1/free': 550,
        },
      });
      for (const view of kViews) {
        await withPage(
          own,
          async (page) => {
            await page.addInitScript(watchShifts);
            await visit(page, own.fake.url, view);
            await settled(page, own.fake.log);
            const shift = await page.evaluate(() => window.shift);
            console.log(`# layout shift of ${view} at ${size}: ${shift.toFixed(4)}`);
            assert.ok(shift < kMostShift, `${view} moves by ${shift}`);
          },
          { viewport },
        );
      }
    }));
}
