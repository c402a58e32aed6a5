// "Tell me": a notification when a job starts or GPUs are free, while the tab is open.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { axeFaults, visit } from './browser.mjs';
import { test } from './twice.mjs';
import { kNetworkNoise, makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const pressed = (page) => page.locator('.tell > button').getAttribute('aria-pressed');
const waits = (fake) => fake.cluster.jobs.find((job) => job.state === 'PENDING' && job.array_task_count === 1);
const told = (page) => page.evaluate(() => window.told);

/** A page of its own daemon; notifications are noted in window.told in place of being shown. */
function withTold(options, body) {
  const watch = (own) =>
    withPage(
      own,
      async (page) => {
        await page.context().grantPermissions(['notifications'], { origin: new URL(own.fake.url).origin });
        await page.addInitScript(() => {
          window.told = [];
          const construct = (_, [words, { tag }]) => {
            window.told.push({ words, tag });
            return {};
          };
          window.Notification = new Proxy(window.Notification, { construct });
        });
        await body(page, own.fake);
      },
      { allow: kNetworkNoise },
    );
  return withOwnFake(world, options, watch);
}

async function press(page) {
  await page.locator('.tell > button').press('Enter');
  await until(
    page,
    () => pressed(page),
    (value) => value === 'true',
  );
}

test('The start of a job is told once, also after a reload and in a hidden tab', () =>
  withTold({}, async (page, fake) => {
    const job = waits(fake);
    await visit(page, fake.url, `queue?job=${job.job_id}`);
    assert.equal(await page.locator('.tell > button').innerText(), 'Tell me when it starts');
    await press(page);
    assert.deepEqual(await axeFaults(page), []);
    await page.reload();
    await until(
      page,
      () => pressed(page),
      (value) => value === 'true',
    );
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    const from = fake.log.length;
    fake.push();
    await page.waitForTimeout(2500);
    assert.deepEqual(await told(page), []);
    assert.deepEqual(
      fake.log.slice(from).map(({ path }) => path),
      [`/v1/queue?state=pending&search=${job.job_id}`],
    );
    for (let at = 0; at < 2; ++at) {
      fake.push(() => (job.state = 'RUNNING'));
      await until(
        page,
        () => told(page),
        (list) => list.length > 0,
      );
    }
    assert.deepEqual(await told(page), [{ words: `Job ${job.job_id} has started.`, tag: `#/queue?job=${job.job_id}` }]);
    await until(
      page,
      () => fake.streams(),
      (count) => count === 0,
    ); // nothing is left to wait for in a hidden tab
  }));

test('A job that leaves the queue is told, and stays on the page until it is forgotten', () =>
  withTold({}, async (page, fake) => {
    const job = waits(fake);
    await visit(page, fake.url, `queue?job=${job.job_id}`);
    await press(page);
    fake.push((cluster) => cluster.jobs.splice(cluster.jobs.indexOf(job), 1));
    await until(
      page,
      async () => (await told(page)).map(({ words }) => words),
      (list) => list[0] === `Job ${job.job_id} is no longer in the queue.`,
    );
    await visit(page, fake.url, 'now');
    assert.match(await page.locator('.tell ul').innerText(), /is no longer in the queue/);
    assert.deepEqual(await axeFaults(page), []);
    await page.locator('.tell li button').press('Enter');
    assert.equal(await page.locator('.tell li').count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Tell me when they are free');
    await page.reload();
    await page.waitForSelector('.tell');
    assert.equal(await page.locator('.tell li').count(), 0);
  }));

test('Free GPUs are told once a job of the question starts at once', () =>
  withTold({}, async (page, fake) => {
    const open = (cluster, free) => {
      for (const gpus of cluster.nodes.flatMap((node) => node.gpus)) gpus.free = free ? gpus.total : 0;
    };
    fake.push((cluster) => open(cluster, false));
    await visit(page, fake.url, 'now?gpus=2&memory=20');
    await press(page);
    fake.push();
    await page.waitForTimeout(2500);
    assert.deepEqual(await told(page), []);
    fake.push((cluster) => open(cluster, true));
    const [{ words, tag }] = await until(
      page,
      () => told(page),
      (list) => list.length > 0,
    );
    assert.match(words, /: 2 GPUs × 1 node for 8 h, at least 20 GB are free\.$/);
    assert.equal(tag, '#/now?gpus=2&nodes=1&hours=8&memory=20');
    assert.equal(await pressed(page), 'false');
  }));

test('A second press takes it back', () =>
  withTold({}, async (page, fake) => {
    const job = waits(fake);
    await visit(page, fake.url, `queue?job=${job.job_id}`);
    await press(page);
    await page.locator('.tell > button').press('Enter');
    assert.equal(await pressed(page), 'false');
    fake.push(() => (job.state = 'RUNNING'));
    await page.waitForTimeout(2500);
    assert.deepEqual(await told(page), []);
  }));

test('Hostile names are in no notification', () =>
  withTold({ hostile: true }, async (page, fake) => {
    const job = waits(fake);
    await visit(page, fake.url, `queue?job=${job.job_id}`);
    await press(page);
    fake.push(() => (job.state = 'RUNNING'));
    await until(
      page,
      () => told(page),
      (list) => list.length > 0,
    );
    assert.equal((await told(page))[0].words, `Job ${job.job_id} has started.`);
    await visit(page, fake.url, 'now');
    assert.equal(await page.evaluate(() => window.harmed), undefined);
  }));

test('What the tab has kept may be nonsense', () =>
  withTold({}, async (page, fake) => {
    for (const kept of ['{', '{}', '[{"hash":"javascript:alert(1)","said":"x"},null]']) {
      await page.goto(fake.url);
      await page.evaluate((text) => window.sessionStorage.setItem('gpuadvise.watches', text), kept);
      await page.reload();
      await page.waitForSelector('.tell');
      assert.equal(await page.locator('.tell li').count(), 0, kept);
    }
  }));

test('A browser that blocks notifications is said, with the command that does without', () =>
  withPage(world, async (page) => {
    await page.context().grantPermissions([]);
    await visit(page, world.fake.url, 'now');
    await page.locator('.tell > button').press('Enter');
    assert.match(await page.locator('.tell [role="alert"]').innerText(), /browser.*notifications[^]*gpuadvise watch JOB --exec/);
    assert.equal(await pressed(page), 'false');
    assert.deepEqual(await axeFaults(page), []);
  }));

test('Over plain http the page says that browsers show none', async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--host-resolver-rules=MAP gpu.test 127.0.0.1'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    await page.goto(world.fake.url.replace('127.0.0.1', 'gpu.test'));
    await page.locator('.tell > button').press('Enter');
    assert.match(await page.locator('.tell [role="alert"]').innerText(), /only for pages over https or on localhost/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360));
  } finally {
    await browser.close();
  }
});
