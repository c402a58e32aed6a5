// What is broken: the list of down and drained nodes, the way there from Now, and the links between jobs and nodes.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { axeFaults, shown, visit } from './browser.mjs';
import { nodes } from './fake/answers.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const broken = () => nodes(world.fake.cluster, new URLSearchParams({ condition: 'broken', limit: 1000 })).nodes;
const rows = (page) => page.locator('.broken tbody tr');
const unused = (page) => page.locator('#map table tbody tr');

test('Every broken node has its state, reason, who gave it, since when, and the GPUs lost', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?condition=broken');
    const all = broken();
    assert.ok(all.length > 0);
    assert.equal(await rows(page).count(), all.length);
    for (const [at, node] of all.entries()) {
      const text = await rows(page).nth(at).innerText();
      const lost = node.gpus.reduce((sum, gpus) => sum + gpus.total - gpus.used, 0);
      for (const part of [node.name, node.state, node.reason, node.reason_user, ' h', String(lost)]) assert.ok(text.includes(part), text);
    }
    const lost = all.flatMap((node) => node.gpus).reduce((sum, gpus) => sum + gpus.total - gpus.used, 0);
    assert.match(await page.locator('#map > .note').innerText(), new RegExp(`down or drained: ${all.length} nodes?, ${lost} GPUs? lost`));
    assert.deepEqual(await axeFaults(page), []);
    const waiting = page.waitForEvent('download');
    await page.click('button[aria-label="Download CSV: Broken nodes"]');
    const file = await readFile(await (await waiting).path(), 'utf8');
    assert.equal(file.trim().split('\r\n').length, all.length + 1);
  }));

test('Unavailable GPUs on Now lead to the list', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    await page.click('#cluster a:has-text("unavailable")');
    await shown(page, 'nodes');
    await until(
      page,
      () => rows(page).count(),
      (count) => count === broken().length,
    );
    await page.click('#map > .note a');
    await page.waitForSelector('ul.map');
  }));

test('A node of the list opens, its jobs lead to the queue, and from there back to the node', () =>
  withPage(world, async (page) => {
    const node = world.fake.cluster.nodes.find((one) => one.jobs.length > 0);
    await visit(page, world.fake.url, `nodes?node=${node.name}`);
    await page.click(`aside.details a:has-text("${node.jobs[0].job_id}")`);
    await shown(page, 'queue');
    await page.click(`aside.details a:has-text("${node.name}")`);
    await shown(page, 'nodes');
    await page.waitForSelector(`aside.details[aria-label="Node ${node.name}"]`);
    const first = broken()[0].name;
    await visit(page, world.fake.url, `nodes?condition=broken`);
    await page.click(`.broken button:has-text("${first}")`);
    await page.waitForSelector(`aside.details[aria-label="Node ${first}"]`);
    assert.match(await page.locator('aside.details').innerText(), /Since/);
  }));

test('Operators see how long the scheduler takes, or why that is not known', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      await visit(page, own.fake.url, 'nodes');
      const words = await page.locator('#scheduler').innerText();
      assert.match(words, /Main scheduler, mean cycle\s+2\.1 ms/);
      assert.match(words, /Backfill, mean cycle\s+2\.4 s/);
      assert.match(words, /looks at 230 jobs, 400 in its queue; 1,234 jobs started/);
      assert.match(words, /RPCs\s+98,765\s+mean 420 µs/);
      own.fake.set({ scheduler: 'sdiag ended with status 1: Access denied' });
      await page.reload();
      await until(
        page,
        () => page.locator('#scheduler').innerText(),
        (said) => /Access denied/.test(said) && !/RPCs/.test(said),
      );
    }),
  ));

test('Allocated GPUs that do nothing are listed with the jobs that hold them, where they are known', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      await visit(page, own.fake.url, 'nodes');
      assert.doesNotMatch(await page.locator('#map').innerText(), /did nothing/);
      const node = own.fake.cluster.nodes.find((one) => one.jobs.length > 0);
      node.idle_allocated = 1;
      await page.reload();
      await page.click('#map .note:has-text("at least 1 allocated GPU on 1 node did nothing") a');
      await until(
        page,
        () => unused(page).count(),
        (count) => count === 1,
      );
      const words = await unused(page).innerText();
      assert.ok(words.includes(node.name) && words.includes(String(node.jobs[0].job_id)), words);
      assert.deepEqual(await axeFaults(page), []);
      await page.click(`#map table button:has-text("${node.name}")`);
      assert.match(await page.locator('aside.details').innerText(), /at least 1 GPU, for 30 minutes/);
      own.fake.cluster.idle = { nodes: 0, gpus: 0, problem: 'nothing listens there' };
      await visit(page, own.fake.url, 'nodes');
      await page.waitForSelector('#map .note:has-text("Unused GPUs are not known: nothing listens there")');
    }),
  ));
