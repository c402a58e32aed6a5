// The whole cluster on one picture: what is drawn, what is said, keys, the pointer, and how much it loads.
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { axeFaults, visit } from './browser.mjs';
import { map } from './fake/answers.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const groups = (page) => page.locator('.map-group h3').allInnerTexts();
const activeWords = (page, at = 0) => page.locator('[role="option"]').nth(at).textContent();

test('A group for each type says what its GPUs do', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?map=cluster');
    await page.waitForSelector('.gpu-map canvas');
    const said = await groups(page);
    const answer = map(world.fake.cluster).groups;
    assert.equal(said.length, new Set(answer.map((group) => group.gpu)).size);
    for (const words of said) {
      const [, gpus, rest] = /, ([\d,]+) GPUs?: (.*)$/.exec(words);
      const sum = [...rest.matchAll(/([\d,]+) (free|in use|kept|unavailable)/g)].reduce((total, [, count]) => total + Number(count), 0);
      assert.equal(sum, Number(gpus), words);
    }
    assert.deepEqual(await axeFaults(page), []);
    await page.selectOption('select[name="by"]', 'rack');
    await until(
      page,
      () => groups(page),
      (all) => all.length === 1 && all[0].startsWith('classt'),
    );
  }));

test('Each kind of GPU has its colour', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?map=cluster');
    await page.waitForSelector('.gpu-map canvas');
    const drawn = await until(
      page,
      () =>
        page.evaluate(() => {
          const colours = new Set();
          for (const canvas of document.querySelectorAll('.gpu-map canvas')) {
            const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height });
            const context = copy.getContext('2d', { willReadFrequently: true });
            if (canvas.width > 0 && canvas.height > 0) context.drawImage(canvas, 0, 0);
            const { data } = context.getImageData(0, 0, Math.max(1, canvas.width), Math.max(1, canvas.height));
            for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) colours.add(data.slice(at, at + 3).join());
          }
          return colours.size;
        }),
      (count) => count >= 3,
    );
    assert.ok(drawn <= 4);
  }));

test('Keys lead from node to node, Enter opens one, and closing gives the focus back', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?map=cluster');
    await page.waitForSelector('.gpu-map canvas');
    await page.locator('.gpu-map').first().focus();
    const first = await activeWords(page);
    await page.keyboard.press('ArrowRight');
    await until(
      page,
      () => activeWords(page),
      (words) => words !== first,
    );
    const name = (await activeWords(page)).split(',')[0];
    await until(
      page,
      () => page.locator('.map-tip').innerText(),
      (words) => words.includes(name),
    );
    await page.keyboard.press('Enter');
    await page.waitForSelector(`aside.details[aria-label="Node ${name}"]`);
    assert.deepEqual(await axeFaults(page), []);
    await page.keyboard.press('Escape');
    await until(
      page,
      () => page.evaluate(() => document.activeElement?.className),
      (focus) => focus === 'gpu-map',
    );
  }));

test('The pointer says what a node does, and a click opens it', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?map=cluster');
    const canvas = page.locator('.gpu-map canvas').first();
    await canvas.waitFor();
    const busy = world.fake.cluster.nodes.findIndex((node) => node.jobs.length > 0 && node.gpus[0].gpu === 'rtx2080ti');
    const width = 4 * 15 - 1 + 5; // of a node of four GPUs at the largest size
    await canvas.hover({ position: { x: busy * width + 4, y: 5 } });
    const { name, jobs } = world.fake.cluster.nodes[busy];
    await until(
      page,
      () => page.locator('.map-tip').innerText(),
      (words) => words.includes(name) && words.includes(`job ${jobs[0].job_id}`),
    );
    await canvas.click({ position: { x: busy * width + 4, y: 5 } });
    await page.waitForSelector(`aside.details[aria-label="Node ${name}"]`);
  }));

test('68,000 GPUs are drawn from one small answer', () =>
  withOwnFake(world, { large: true }, (own) =>
    withPage(own, async (page) => {
      const bytes = gzipSync(JSON.stringify(map(own.fake.cluster))).length;
      const from = Date.now();
      await visit(page, own.fake.url, 'nodes?map=cluster');
      await until(
        page,
        () => page.locator('.gpu-map canvas').count(),
        (count) => count === 3,
        30_000,
      );
      console.log(`# 9,000 nodes with GPUs: ${bytes} bytes, drawn after ${Date.now() - from} ms`);
      const asked = own.fake.log.filter((entry) => entry.path.startsWith('/v1/nodes'));
      assert.ok(
        asked.every((entry) => entry.path.includes('limit=0')),
        asked.map((entry) => entry.path).join(),
      );
    }),
  ));
