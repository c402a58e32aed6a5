// The page follows the daemon: snapshots, restarts, old data, errors; and never asks too much.
import assert from 'node:assert/strict';
import { titleOf, visit } from './browser.mjs';
import { startFake } from './fake_daemon.mjs';
import { readView } from './read_page.mjs';
import { test } from './twice.mjs';
import { focused, kNetworkNoise, makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const asked = (fake, path) => fake.log.filter((entry) => entry.path.startsWith(path));
const condition = (page) => page.locator('.age').evaluate((age) => age.className.replace('age age-', ''));

test('A snapshot brings new figures, and only the shown view is asked for', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue?state=pending');
    const before = (await readView(page, 'queue')).total;
    const from = world.fake.log.length;
    world.fake.push((cluster) => cluster.jobs.splice(0, 3));
    await until(
      page,
      async () => (await readView(page, 'queue')).total,
      (total) => total === before - 3,
    );
    assert.equal((await readView(page, 'queue')).head.pending, before - 3);
    assert.deepEqual([...new Set(world.fake.log.slice(from).map((entry) => entry.path))], ['/v1/queue?state=pending&limit=100']);
  }));

test('The first snapshot event does not make the page ask twice', () =>
  withPage(world, async (page) => {
    const from = world.fake.log.length;
    await visit(page, world.fake.url, 'now');
    await page.waitForTimeout(2500);
    assert.equal(world.fake.log.slice(from).filter((entry) => entry.path === '/v1/waits').length, 1);
  }));

test('A view that is opened while the daemon is away comes once it is back', () =>
  withOwnFake(world, {}, (own) =>
    withPage(
      own,
      async (page) => {
        await visit(page, own.fake.url, 'now');
        own.fake.set({ down: true });
        await page.click('nav.views a[href="#/accuracy"]');
        await page.waitForSelector('.trouble:has-text("This view could not be loaded")');
        own.fake.set({ down: false });
        await page.waitForSelector('#record', { timeout: 30_000 });
      },
      { allow: kNetworkNoise },
    ),
  ));

test('There are never two requests of one view at once, however fast snapshots come', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    world.fake.set({ slow: 400 });
    const from = asked(world.fake, '/v1/waits').length;
    for (let at = 0; at < 12; ++at) {
      world.fake.push();
      await page.waitForTimeout(150);
    }
    await page.waitForTimeout(2200);
    world.fake.set({ slow: 0 });
    const entries = asked(world.fake, '/v1/waits').slice(from);
    assert.ok(entries.length >= 1 && entries.length <= 8, `${entries.length} requests`);
    for (const [at, entry] of entries.entries()) if (at > 0) assert.ok(entries[at - 1].done <= entry.at + 5);
  }));

test('A late answer for another filter is dropped', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes');
    world.fake.set({ slow: 500 });
    await page.selectOption('select[name="gpu"]', 'rtx4070');
    await page.waitForTimeout(100);
    world.fake.set({ slow: 0 });
    await page.selectOption('select[name="gpu"]', 'rtx4090');
    await page.waitForTimeout(900);
    assert.deepEqual(
      (await readView(page, 'nodes')).nodes.map((node) => node.name),
      ['classt21', 'classt22'],
    );
  }));

test('Focus, scroll and open details survive a refresh', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'nodes');
      await page.locator('#node-classt21 button').click();
      await focused(page, 'aside[aria-label="Node classt21"]');
      await page.locator('input[name="search"]').focus();
      await page.evaluate(() => window.scrollTo(0, 120));
      const scroll = await page.evaluate(() => window.scrollY);
      const from = asked(world.fake, '/v1/nodes').length;
      world.fake.push();
      await until(
        page,
        () => asked(world.fake, '/v1/nodes').length,
        (count) => count > from,
      );
      await page.waitForTimeout(200);
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute('name')), 'search');
      assert.equal(await page.evaluate(() => window.scrollY), scroll);
      assert.match((await readView(page, 'nodes')).details, /^classt21/);
    },
    { viewport: { width: 1200, height: 420 } },
  ));

test('An answer that is older than the newest snapshot says of when it is', () =>
  withOwnFake(world, {}, async (own) => {
    await withPage(own, async (page) => {
      const said = () => page.locator('#map .as-of, #groups .as-of').allInnerTexts();
      await visit(page, own.fake.url, 'nodes');
      assert.deepEqual(await said(), []);
      own.fake.set({ late: { '/v1/nodes': 20_000 } });
      for (let at = 0; at < 5; ++at) own.fake.push((cluster) => cluster.jobs.pop());
      await until(page, said, (words) => words.length === 2 && words.every((one) => /^as of \d\d:\d\d$/.test(one)));
    });
  }));

test('Old data is shown with its cause', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    world.fake.set({ stale: 'slurmctld does not answer: connect failure' });
    await until(
      page,
      () => condition(page),
      (is) => is === 'stale',
    );
    const seen = await readView(page, 'now');
    assert.match(seen.head.banner, /Slurm has not answered since .*: slurmctld does not answer/);
    assert.match(seen.head.age, /10 min ago/);
    assert.equal(seen.gpus.length, 5);
    world.fake.set({ stale: null });
    await until(
      page,
      () => condition(page),
      (is) => is === 'live',
    );
    assert.equal((await readView(page, 'now')).head.banner, '');
  }));

test('A daemon that is starting says so, and the page fills when it has started', () =>
  withPage(
    world,
    async (page) => {
      world.fake.set({ starting: true });
      await visit(page, world.fake.url, 'now');
      const seen = await readView(page, 'now');
      assert.match(seen.head.trouble, /gpuadvise is starting.*no snapshot yet/);
      await until(
        page,
        () => condition(page),
        (is) => is === 'starting',
      );
      assert.equal(await page.locator('.trouble, .banner, .waiting').count(), 1, 'it is said once');
      assert.doesNotMatch(await page.locator('main').innerText(), /asking/i);
      world.fake.set({ starting: false });
      world.fake.push();
      await until(
        page,
        async () => (await readView(page, 'now')).gpus.length,
        (count) => count === 5,
      );
      await until(
        page,
        async () => (await readView(page, 'now')).head.trouble,
        (trouble) => trouble === null,
      );
    },
    { allow: kNetworkNoise },
  ));

test('An error answer is shown in its own words beside the last data, and asked again', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'now');
      world.fake.set({ error: 500 });
      world.fake.push();
      await until(
        page,
        async () => (await readView(page, 'now')).head.trouble,
        (words) => /the answer could not be made/.test(words ?? ''),
      );
      assert.equal((await readView(page, 'now')).gpus.length, 5);
      world.fake.set({ error: 0 });
      await until(
        page,
        async () => (await readView(page, 'now')).head.trouble,
        (words) => words === null,
      );
    },
    { allow: kNetworkNoise },
  ));

test('Starts of one question never stand under another', () =>
  withOwnFake(world, {}, (own) =>
    withPage(
      own,
      async (page) => {
        const times = async () => (await readView(page, 'now')).starts.filter((one) => one.time !== undefined).length;
        const become = (count) => until(page, times, (now) => now === count);
        await visit(page, own.fake.url, 'now?memory=20');
        await become(2);
        own.fake.set({ late: { '/v1/select': 800 }, error: 429 });
        await page.evaluate(() => (location.hash = '#/now?memory=20&nodes=2'));
        await page.locator('.starts', { hasText: 'asking' }).waitFor();
        assert.equal(await times(), 0);
        await page.waitForSelector('#starts .trouble');
        assert.equal(await times(), 0);
        assert.doesNotMatch(await page.locator('#starts .trouble').textContent(), /last known/);
        own.fake.set({ late: null, error: 0 });
        await become(2);
        assert.equal(await page.locator('#starts .trouble').count(), 0);
      },
      { allow: kNetworkNoise },
    ),
  ));

test('After a restart the page reconnects by itself and shows the new figures', () =>
  withOwnFake(world, {}, (own) =>
    withPage(
      own,
      async (page) => {
        await visit(page, own.fake.url, 'queue?state=pending');
        const before = (await readView(page, 'queue')).total;
        await own.fake.stop();
        await until(
          page,
          () => condition(page),
          (is) => is === 'lost',
        );
        const lost = await readView(page, 'queue');
        assert.match(lost.head.banner, /No connection to gpuadvised since/);
        assert.equal(lost.total, before);
        own.fake = await startFake({ port: own.fake.port });
        own.fake.push((cluster) => cluster.jobs.splice(0, 2));
        await until(
          page,
          () => condition(page),
          (is) => is === 'live',
          20_000,
        );
        await until(
          page,
          async () => (await readView(page, 'queue')).total,
          (total) => total === before - 2,
        );
      },
      { allow: kNetworkNoise },
    ),
  ));

test('A connection that died without a word is told by its silence', () =>
  withOwnFake(world, {}, (own) =>
    withPage(
      own,
      async (page) => {
        await page.clock.install();
        await visit(page, own.fake.url, 'now');
        const streams = () => asked(own.fake, '/v1/events').length;
        await page.clock.fastForward(30_000);
        own.fake.alive();
        await page.waitForTimeout(300);
        await page.clock.fastForward(30_000);
        await page.waitForTimeout(300);
        assert.equal(streams(), 1);
        await page.clock.fastForward(41_000);
        await until(
          page,
          async () => streams(),
          (count) => count > 1,
          20_000,
        );
        await until(
          page,
          () => condition(page),
          (is) => is === 'live',
          20_000,
        );
      },
      { allow: kNetworkNoise },
    ),
  ));

test('After a sleep the age is right at once, and the tab reconnects when it is seen', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      await page.clock.install();
      await visit(page, own.fake.url, 'now');
      await until(
        page,
        () => condition(page),
        (is) => is === 'live',
      );
      const seen = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await seen();
      assert.equal(asked(own.fake, '/v1/events').length, 1);
      await page.clock.setSystemTime(Date.now() + 7200_000);
      await until(
        page,
        () => page.locator('.age').textContent(),
        (words) => /^2 h ago$/.test(words),
      );
      await seen();
      await until(
        page,
        async () => asked(own.fake, '/v1/events').length,
        (count) => count === 2,
      );
      await until(
        page,
        () => page.locator('.age').textContent(),
        (words) => /^\d+ s ago$/.test(words),
      );
      await page.clock.setSystemTime(Date.now() - 7200_000);
      await page.clock.runFor(2000);
      assert.match(await page.locator('.age').textContent(), /^\d+ s ago$/);
    }),
  ));

test('A tab that nobody sees holds no connection, and is live again when it is seen', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      await visit(page, own.fake.url, 'queue?state=pending');
      const before = (await readView(page, 'queue')).total;
      const setHidden = (hidden) =>
        page.evaluate((value) => {
          Object.defineProperty(document, 'hidden', { value, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }, hidden);
      await until(
        page,
        async () => own.fake.streams(),
        (count) => count === 1,
      );
      await setHidden(true);
      await until(
        page,
        async () => own.fake.streams(),
        (count) => count === 0,
      );
      own.fake.push((cluster) => cluster.jobs.splice(0, 2));
      await setHidden(false);
      await until(
        page,
        async () => own.fake.streams(),
        (count) => count === 1,
      );
      await until(
        page,
        async () => (await readView(page, 'queue')).total,
        (total) => total === before - 2,
      );
      assert.equal(await condition(page), 'live');
    }),
  ));

test('A stream that answers with an HTTP error is tried again', () =>
  withPage(
    world,
    async (page) => {
      world.fake.set({ eventsError: 502 });
      await visit(page, world.fake.url, 'now');
      await until(
        page,
        () => condition(page),
        (is) => is === 'lost',
      );
      world.fake.set({ eventsError: 0 });
      await until(
        page,
        () => condition(page),
        (is) => is === 'live',
        20_000,
      );
    },
    { allow: kNetworkNoise },
  ));

test('The page works under the path of a reverse proxy', () =>
  withOwnFake(world, { prefix: '/tools/gpu' }, (own) =>
    withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await until(
        page,
        () => condition(page),
        (is) => is === 'live',
      );
      assert.equal((await readView(page, 'now')).gpus.length, 5);
      await visit(page, own.fake.url, 'nodes?gpu=l40s');
      assert.equal((await readView(page, 'nodes')).nodes.length, 4);
    }),
  ));

test('An answer that the page has already is not sent again, and still is of the newest snapshot', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      await visit(page, own.fake.url, 'nodes');
      const statuses = [];
      page.on('response', (response) => response.url().includes('v1/nodes') && statuses.push(response.status()));
      own.fake.push();
      await until(
        page,
        () => statuses.at(-1),
        (status) => status === 304,
      );
      own.fake.push((cluster) => (cluster.nodes[0].condition = cluster.nodes[0].condition === 'down' ? 'drained' : 'down'));
      await until(
        page,
        () => statuses.at(-1),
        (status) => status === 200,
      );
    }),
  ));

test('Large answers are asked for less often than small ones, so that an open page takes 1 MB an hour at most', () =>
  withOwnFake(world, { large: true }, (own) =>
    withPage(own, async (page) => {
      await page.clock.install();
      await visit(page, own.fake.url, 'queue');
      const bytes = { large: 0, requests: 0 };
      page.on('response', async (response) => {
        if (!response.url().includes('v1/queue')) return;
        bytes.large += (await response.text()).length / 8;
        bytes.requests += 1;
      });
      for (let at = 0; at < 40; ++at) {
        own.fake.push((cluster) => cluster.jobs.pop()); // every 30 s
        await page.waitForTimeout(20);
        await page.clock.runFor(30_000);
      }
      assert.ok(bytes.requests >= 8 && bytes.requests <= 28, `${bytes.requests} requests in 20 minutes`);
      assert.ok(bytes.large * 3 < 1_000_000, `${bytes.large * 3} bytes an hour`);
    }),
  ));

const kMostGrowth = { megabytes: 5, nodes: 100, megabytesOfARound: 0.4 };

// A leak grows with every round; what Chromium makes of the code that runs often grows once.
test('A page that has seen 1,200 snapshots has grown by less than 5 MB, and not with each view that is opened', () =>
  withPage(world, async (page) => {
    const session = await page.context().newCDPSession(page);
    const used = async () => {
      for (let at = 0; at < 3; ++at) await session.send('HeapProfiler.collectGarbage');
      const { nodes } = await session.send('Memory.getDOMCounters');
      return { megabytes: (await session.send('Runtime.getHeapUsage')).usedSize / 1e6, nodes };
    };
    // A handle of Playwright's would keep a whole view, so it is waited for without one.
    const open = async (view) => {
      await page.evaluate((hash) => (window.location.hash = hash), `#/${view}`);
      await page
        .locator(`main:has(h1:text-is("${titleOf(view)}")) .answered[aria-busy="false"] .panel`)
        .first()
        .waitFor();
    };
    const round = async (snapshots) => {
      for (const view of ['history', 'queue', 'nodes', 'now']) {
        await open(view);
        for (let at = 0; at < snapshots / 4; ++at) {
          world.fake.push();
          await page.waitForTimeout(15);
        }
      }
    };
    await page.goto(world.fake.url);
    const seen = [];
    for (let at = 0; at < 6; ++at) {
      await round(200);
      seen.push(await used());
    }
    const least = (key) => Math.min(...seen.slice(1).map((now, at) => now[key] - seen[at][key]));
    const growth = seen.at(-1).megabytes - seen[0].megabytes;
    console.log(
      `# heap ${seen.map(({ megabytes }) => megabytes.toFixed(1)).join(', ')} MB; nodes ${seen.map(({ nodes }) => nodes).join(', ')}`,
    );
    assert.ok(growth < kMostGrowth.megabytes, `${growth} MB`);
    assert.ok(least('nodes') < kMostGrowth.nodes, 'each round leaves nodes behind');
    assert.ok(least('megabytes') < kMostGrowth.megabytesOfARound, 'each round leaves memory behind');
  }));
