// The first screen of each view: it answers what is asked of it, and nothing on it moves once it is drawn. A picture is taken of
// each answer that was checked, into the folder PICTURES: those of docs/ are made so.
import assert from 'node:assert/strict';
import { ask, visit } from './browser.mjs';
import { keepOne, nameJobs } from './fake/cluster.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const kPictures = process.env.PICTURES ?? 'dist-test';
const kSizes = [
  { width: 1280, height: 800 },
  { width: 768, height: 1024 },
  { width: 360, height: 740 },
];
const kViews = [
  'now',
  'now?gpus=2&memory=20',
  'nodes',
  'nodes?map=cluster',
  'nodes?map=time',
  'nodes?condition=broken',
  'queue',
  'queue?job=2026',
  'history',
  'group',
  'accuracy',
  'ask',
];
const kMostShift = 0.02;
const kCalmLooks = 5;
const kScrollMilliseconds = 700; // Ask moves to its ranking

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

const time = /\d\d:\d\d/;
/** What is asked of the page most: where its answer stands, and what it says to somebody who is signed in. */
const kQuestions = [
  { asked: 'Which GPU type lets me start first?', view: 'now', at: '.starts > li:first-child', says: /now|\d\d:\d\d/ },
  { asked: 'Where is my job done first?', view: 'ask', at: '#ranking tbody tr:first-child', says: /L40S\s+× 4[^]*\d\d:\d\d – \d\d:\d\d/ },
  { asked: 'Why does my job wait?', view: 'queue?job=2026', at: 'aside h4:text("Why it waits") + *', says: /other jobs stand before it/ },
  { asked: 'When are GPUs free next?', view: 'now', at: '.gpus-now tbody tr:first-child .more', says: time },
  { asked: 'Which of my people wait?', view: 'group', at: '#group .lead', says: /^\d+ wait: \S+ \(\d+ (h|min)/ },
  {
    asked: 'How accurate is this?',
    view: 'accuracy',
    at: '#record .lead',
    says: /99 % did; half of the 304 said to wait came within 21 min/,
  },
  { asked: 'How did waits develop over the week?', view: 'history', at: '#heat .heat tbody tr:last-child', says: /\dm/ },
  { asked: 'What is broken, and since when?', view: 'nodes', at: '#map > .note', says: /down or drained: \d+ nodes?, \d+ GPUs? lost/ },
];

for (const [viewport, colorScheme] of [
  [kSizes[0], 'light'],
  [kSizes[2], 'dark'],
]) {
  for (const { asked, view, at, says } of kQuestions) {
    test(`${asked} Answered on the first screen, ${viewport.width} × ${viewport.height}`, () =>
      withOwnFake(world, {}, async (own) => {
        nameJobs(own.fake.cluster);
        own.fake.set({ user: 'ann' });
        await withPage(
          own,
          async (page) => {
            await visit(page, own.fake.url, view);
            if (view === 'ask') await ask(page);
            const answer = page.locator(at).first();
            await until(
              page,
              () => answer.innerText(),
              (words) => says.test(words),
            );
            await page.waitForTimeout(kScrollMilliseconds);
            const box = await answer.boundingBox();
            assert.ok(box.y >= 0 && box.y + box.height <= viewport.height, `${box.y} to ${box.y + box.height} px`);
            await page.screenshot({ path: `${kPictures}/${view.replace(/\?.*/, '')}-${viewport.width}.png` });
          },
          { viewport, colorScheme },
        );
      }));
  }
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
      },
      { viewport },
    ));

  test(`Nothing moves while answers come in, ${size}`, () =>
    withOwnFake(world, {}, async (own) => {
      keepOne(own.fake.cluster, 'rtx4090');
      // Late, and each at another moment.
      own.fake.set({
        late: {
          '/v1/waits': 250,
          '/v1/nodes': 150,
          '/v1/map': 300,
          '/v1/timeline': 400,
          '/v1/jobs/2026': 350,
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
