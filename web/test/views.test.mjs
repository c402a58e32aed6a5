// Every view shows the figures of the daemon's answers.
import assert from 'node:assert/strict';
import { ask, openText, shown, visit } from './browser.mjs';
import * as answers from './fake/answers.mjs';
import { kNow } from './fake/cluster.mjs';
import { accuracy, history } from './fake/records.mjs';
import { readView } from './read_page.mjs';
import { test } from './twice.mjs';
import { kNetworkNoise, makeWorld, until, withPage } from './world.mjs';

const world = makeWorld();
const show = async (page, hash) => {
  await visit(page, world.fake.url, hash);
  return readView(page, hash.split('?')[0]);
};

test('Now shows what the GPUs of each type do, and the waits by size', () =>
  withPage(world, async (page) => {
    const seen = await show(page, 'now');
    const { gpus, forecast } = answers.waits(world.fake.cluster);
    assert.deepEqual(
      seen.gpus.map(({ gpu, split }) => [gpu, split.free ?? 0, Object.values(split).reduce((sum, count) => sum + count, 0)]),
      gpus.map(({ gpu, free, total }) => [gpu, free, total]),
    );
    for (const [at, gpu] of gpus.entries()) {
      const asked = ['one', 'half_node', 'node'].map((shape) =>
        gpu.waits.find((wait) => wait.shape === shape && wait.time_limit_seconds === 28800),
      );
      const { waits } = seen.gpus[at];
      const cells = waits.length === 1 ? [waits[0], waits[0], waits[0]] : waits;
      const expected = asked.map((wait) =>
        wait.wait_p90_seconds < 30 ? [wait.wait_p50_seconds] : [wait.wait_p50_seconds, wait.wait_p90_seconds],
      );
      assert.deepEqual(
        cells.map((cell) => cell.values),
        expected,
      );
    }
    assert.match(seen.gpus[1].waits[0].words, /^any size up to a node, any limit up to 24 h: now$/);
    assert.match(seen.gpus[3].waits[2].words, /^2 h 30 – 6 h 30.*6 GPUs limit 1 h: 1 h 05 – 2 h 50.*limit 24 h: 3 h 53 – 10 h 06$/);
    assert.ok(seen.note.includes(forecast.note));
    assert.deepEqual(
      [seen.head.cluster, seen.head.pending, seen.head.running, seen.head.condition],
      ['seed', 14, world.fake.cluster.jobs.length - 14, 'live'],
    );
  }));

test('Nodes shows each node with a cell for each GPU, and the groups', () =>
  withPage(world, async (page) => {
    const seen = await show(page, 'nodes');
    const all = answers.nodes(world.fake.cluster, new URLSearchParams());
    assert.deepEqual(
      seen.groups,
      all.groups.map(({ gpu, gpu_name, ...group }) => ({ ...group, gpu_name: gpu_name || 'no GPUs' })),
    );
    assert.deepEqual(
      seen.nodes.map((node) => [node.name, node.condition]),
      all.nodes.map((node) => [node.name, node.condition]),
    );
    for (const [at, node] of all.nodes.entries()) {
      if (node.gpus.length === 0) continue;
      const { cells } = seen.nodes[at].gpus[0];
      const { total, used, free } = node.gpus[0];
      assert.equal(cells.length, total);
      assert.equal(cells.filter((cell) => cell === 'used').length, used);
      if (node.condition !== 'promised') assert.equal(cells.filter((cell) => cell === 'free').length, free);
    }
  }));

test('Nodes filters by partition, GPU, condition and search, and the address says so', () =>
  withPage(world, async (page) => {
    await show(page, 'nodes');
    await page.selectOption('select[name="gpu"]', 'l40s');
    await until(
      page,
      () => page.locator('.map > li').count(),
      (count) => count === 4,
    );
    await page.selectOption('select[name="condition"]', 'drained');
    await until(
      page,
      () => page.locator('.map > li').count(),
      (count) => count === 1,
    );
    assert.match(page.url(), /#\/nodes\?.*gpu=l40s/);
    assert.match(page.url(), /condition=drained/);
    await page.reload();
    await until(
      page,
      () => page.locator('.map > li').count(),
      (count) => count === 1,
    );
    const found = await show(page, 'nodes?search=host0');
    assert.deepEqual(
      found.nodes.map((node) => node.name),
      ['host01', 'host02', 'host03'],
    );
    assert.equal((await show(page, 'nodes?search=nothing-like-it')).nodes.length, 0);
    assert.equal(await page.locator('.empty').count(), 1);
  }));

test('A node opens its details: the reason, its jobs and their ends, also from its address', () =>
  withPage(world, async (page) => {
    const { details } = await show(page, 'nodes?node=classt26');
    assert.match(details, /fan 3 is loud, ticket 4711/);
    assert.match(details, /3 of 6 L40S in use, 0 free/);
    const jobs = world.fake.cluster.nodes.find((node) => node.name === 'classt26').jobs;
    const table = page.locator('.details table', { hasText: 'Jobs on this node and when they end' });
    assert.deepEqual(
      await table.locator('tbody th').evaluateAll((cells) => cells.map((cell) => Number(cell.textContent))),
      jobs.map((job) => job.job_id),
    );
  }));

test('Queue shows the jobs in the order of the answer with their starts, and the pools', () =>
  withPage(world, async (page) => {
    const seen = await show(page, 'queue');
    const all = answers.queue(world.fake.cluster, new URLSearchParams());
    assert.equal(seen.total, all.total);
    assert.deepEqual(
      seen.jobs.map((job) => [job.job_id, job.state, job.wait_p50]),
      all.jobs.map((job) => [job.job_id, job.state, job.wait_p50_seconds ?? null]),
    );
    assert.deepEqual(
      seen.pools.map((pool) => [pool.partition, pool.gpu_name || 'no GPUs', pool.pending, pool.running, pool.free]),
      all.pools.map((pool) => [pool.partition, pool.gpu_name || 'no GPUs', pool.pending, pool.running, pool.free]),
    );
    const held = seen.jobs.find((job) => job.why === 'its user holds it');
    assert.deepEqual([held.when, held.bars], ['not known', 0]);
    assert.ok(seen.jobs.every((job) => job.state !== 'RUNNING' || job.bars >= 2));
  }));

test('Queue shows each sweep as one row, and its number finds its jobs', () =>
  withPage(world, async (page) => {
    const { cluster } = world.fake;
    await show(page, 'queue');
    assert.equal(await page.locator('#sweeps').count(), 0);
    cluster.sweeps = [
      {
        job_id: 2030,
        name: '<b>search',
        user: 'ann',
        submitted_at: kNow - 600,
        arrays: [2030, 2031],
        runs: 80,
        done: 34,
        failed: 2,
        running: 12,
        waiting: 31,
        unknown: 1,
        moved: 6,
        end_p50: kNow + 3600,
        end_p90: kNow + 7200,
      },
    ];
    try {
      for (const hash of ['queue', 'queue?sort=gpu']) {
        await show(page, 'now');
        await show(page, hash);
        const cells = await page.locator('#sweeps tbody tr > *').allTextContents();
        assert.deepEqual(cells.slice(0, 10), ['2030', '<b>search', 'ann', '80', '34', '12', '31', '2', '1', '6'], hash);
        assert.match(cells[10], /\d\d:\d\d – /);
      }
      await page.click('#sweeps tbody a');
      await until(
        page,
        () => page.locator('tr[id^="job-"]').count(),
        (count) => count === 1,
      );
    } finally {
      delete cluster.sweeps;
    }
  }));

test('Queue filters by state and job id', () =>
  withPage(world, async (page) => {
    assert.ok((await show(page, 'queue?state=pending')).jobs.every((job) => job.state === 'PENDING'));
    await page.fill('input[name="search"]', '2030');
    await until(
      page,
      () => page.locator('tr[id^="job-"]').count(),
      (count) => count === 1,
    );
    assert.match(page.url(), /search=2030/);
  }));

test('History shows 168 hours of the chosen measure, and draws the rest', () =>
  withPage(world, async (page) => {
    const expected = history(world.fake.cluster, new URLSearchParams('weeks=8'));
    for (const measure of ['wait_p50_seconds', 'use']) {
      const seen = await show(page, `history?measure=${measure}`);
      assert.deepEqual(
        seen.heat.flat(),
        expected.heat.map((cell) => cell[measure]),
      );
      assert.equal(seen.canvases, 3);
    }
    await page.selectOption('select[name="gpu"]', 'l40s');
    await until(page, () => world.fake.log.some((entry) => entry.path === '/v1/history?weeks=8&gpu=l40s'), Boolean);
  }));

test('Now draws the last day of each type, as far as it is known', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    const { gpus } = history(world.fake.cluster, new URLSearchParams('weeks=8'));
    await page.waitForSelector('.last-day path');
    for (const { gpu, last_day } of gpus) {
      const mean = Math.round((100 * last_day.reduce((a, b) => a + b, 0)) / last_day.length);
      assert.equal(await page.locator(`[id="gpu-${gpu}"] .day .sub`).innerText(), `${mean} % allocated`);
      assert.equal((await page.locator(`[id="gpu-${gpu}"] .day path`).getAttribute('d')).split('L').length, 24);
    }
    world.fake.set({ young: true });
    await page.reload();
    await page.waitForSelector('.gpus-now .day');
    assert.equal(await page.locator('.last-day').count(), 0);
    world.fake.set({ young: false });
  }));

test('The chart of GPUs over time has all GPUs as a line, and the table is of the range', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'history?range=24h');
    const panel = page.locator('#over-time');
    await panel.locator('canvas').first().waitFor();
    assert.match(await panel.innerText(), /all GPUs now/);
    await panel.locator('summary').click();
    const { series, until: end } = history(world.fake.cluster, new URLSearchParams('weeks=8'));
    assert.equal(await panel.locator('tbody tr').count(), series.filter((row) => row.time >= end - 86400).length);
  }));

test('Accuracy shows the record beside Slurm, the points and the calibration', () =>
  withPage(world, async (page) => {
    const seen = await show(page, 'accuracy');
    assert.deepEqual(Object.values(seen.figures), ['1,204', '3 s', '21 min', '91 %', '99 %', '25 min']);
    assert.deepEqual([seen.points, seen.calibration, seen.by_gpu, seen.few], [304, 9, accuracy().by_gpu.length, null]);
  }));

test('An address past the end leads to the last page', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue?offset=4000');
    await until(
      page,
      () => page.locator('tr[id^="job-"]').count(),
      (count) => count > 0,
    );
    assert.doesNotMatch(page.url(), /offset/);
  }));

test('A filter that the daemon refuses can be corrected where it is, and shows nothing of another', () =>
  withPage(
    world,
    async (page) => {
      for (const [view, name, rows] of [
        ['nodes', 'condition', '.map > li'],
        ['queue', 'state', 'tr[id^="job-"]'],
        ['history', 'gpu', '.heat td'],
      ]) {
        await show(page, view);
        await page.evaluate(([to, key]) => (location.hash = `#/${to}?${key}=nonsense`), [view, name]);
        await page.waitForSelector('.trouble');
        assert.equal(await page.locator(rows).count(), 0);
        await page.selectOption(`select[name="${name}"]`, '');
        await page.waitForSelector(rows);
        assert.equal(await page.locator('.trouble').count(), 0);
      }
    },
    { allow: kNetworkNoise },
  ));

test('Links of rows of one partition have names of their own', () =>
  withPage(world, async (page) => {
    for (const view of ['nodes', 'queue']) {
      await show(page, view);
      const names = await page.locator('.groups tbody a').evaluateAll((links) => links.map((link) => link.textContent));
      assert.ok(names.includes('gpu_shared, L40S'), names.join('; '));
      assert.equal(new Set(names).size, names.length);
    }
  }));

test('Young records are said to be young', () =>
  withPage(world, async (page) => {
    world.fake.set({ young: true });
    assert.match((await show(page, 'accuracy')).few, /4 of 30 jobs needed.*first impression/);
    assert.equal((await page.locator('main').innerText()).match(/not known yet/gi).length, 1);
    assert.equal((await show(page, 'history?weeks=4')).canvases, 0);
    assert.match(await page.locator('.empty').textContent(), /No history yet/);
    world.fake.set({ young: false });
  }));

test('An address that changes while the page is being drawn is followed', () =>
  withPage(world, async (page) => {
    await page.addInitScript(() => {
      const drawn = new MutationObserver(() => {
        if (!document.querySelector('main')) return;
        drawn.disconnect();
        window.location.hash = '#/queue';
      });
      drawn.observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${world.fake.url}#/now`);
    await shown(page, 'queue');
  }));

test('An answer of another shape spoils its own view only, and not for good', () =>
  withPage(world, async (page) => {
    world.fake.set({ strange: true });
    await show(page, 'accuracy');
    assert.match(await page.locator('.trouble[role="alert"]').textContent(), /could not be drawn/);
    assert.equal((await show(page, 'now')).gpus.length, 5);
    world.fake.set({ strange: false });
    world.fake.push();
    await page.reload();
    assert.equal((await show(page, 'accuracy')).points, 304);
  }));

test('Ask ranks, shows memory and the scale curve, and gives the command of each row', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    const seen = await readView(page, 'ask');
    assert.deepEqual(seen.ranks.slice(0, 2), [
      { rank: 1, gpu: 'l40s', gpus: 4, wait_p50: 5, total_p50: 37608 },
      { rank: 2, gpu: 'rtx4090', gpus: 4, wait_p50: 1902, total_p50: 42288 },
    ]);
    assert.equal(seen.command, 'gpuadvise submit train.yaml -p gpu_shared --gpus-per-node gpul40s:4 -N 1');
    assert.deepEqual(
      seen.memory.map((row) => [row.gpu_name, row.fits]),
      [
        ['RTX 2080 Ti', false],
        ['RTX 4070', false],
        ['L40S', true],
        ['H100 MIG 1g.11gb', false],
        ['RTX 4090', true],
      ],
    );
    assert.deepEqual(seen.scale, { gpu: 'l40s', recommended: 4 });
    await page.click('button[aria-label="Command for RTX 4090 × 4"]');
    assert.match(await page.locator('#rank-2 .command').textContent(), /--gpus-per-node gpu4090:4 -N 1$/);
  }));

test('Ask marks the line of an error, keeps the draft, and asks with Ctrl+Enter', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'ask');
      await openText(page);
      await page.fill('textarea', 'name: x\nmodel: {}\nwrong: 1\n');
      await page.press('textarea', 'Control+Enter');
      await page.waitForSelector('[role="alert"]');
      assert.match((await readView(page, 'ask')).error, /train.yaml:3: 'wrong' is no key/);
      assert.equal((await page.locator('.gutter-error').textContent()).trim(), '3');
      const marked = () =>
        page.evaluate(() => {
          const area = document.querySelector('textarea');
          return area.value.slice(area.selectionStart, area.selectionEnd);
        });
      await until(page, marked, (text) => text === 'wrong: 1');
      await page.reload();
      await openText(page);
      assert.match(await page.inputValue('textarea'), /^name: x/);
    },
    { allow: kNetworkNoise },
  ));

test('Copying selects the command where the browser gives no clipboard', () =>
  withPage(world, async (page) => {
    await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    await page.click('.best-command button');
    await until(
      page,
      () => page.evaluate(() => String(getSelection())),
      (text) => /^gpuadvise submit train.yaml/.test(text),
    );
    await until(
      page,
      () => page.locator('.best-command button').textContent(),
      (words) => /Ctrl\+C/.test(words),
    );
  }));

test('Refused storage does not stop the page', () =>
  withPage(world, async (page) => {
    await page.addInitScript(() =>
      Object.defineProperty(window, 'localStorage', {
        get() {
          throw new DOMException('refused', 'SecurityError');
        },
      }),
    );
    await visit(page, world.fake.url, 'ask');
    await openText(page);
    await page.fill('textarea', 'name: y\n');
    await page.click('button.icon-button');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await page.inputValue('textarea'), 'name: y\n');
  }));
