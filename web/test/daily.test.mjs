// What a head of a lab and a user look at each day: totals, who waits and why, one job, usage, CSV,
// the zoom of a chart, the form of Ask, who one is, and what is said where nothing is known.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { ask, axeFaults, openText, visit } from './browser.mjs';
import * as answers from './fake/answers.mjs';
import { keepOne, kNow, nameJobs } from './fake/cluster.mjs';
import { usage } from './fake/records.mjs';
import { readView } from './read_page.mjs';
import { test } from './twice.mjs';
import { focused, kNetworkNoise, makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const texts = (page, selector) => page.locator(selector).evaluateAll((all) => all.map((one) => one.textContent));

function named(fake) {
  nameJobs(fake.cluster);
  fake.set({ user: 'ann' });
}

async function downloaded(page, click) {
  const waiting = page.waitForEvent('download');
  await click();
  const download = await waiting;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

test('Now answers when a job starts first, in an address that can be sent', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      const starts = async () => (await readView(page, 'now')).starts;
      const posted = () => own.fake.log.filter((entry) => entry.path === '/v1/select');
      await visit(page, own.fake.url, 'now');
      const { best, gpus } = answers.waits(own.fake.cluster);
      const choices = best.find((row) => row.gpus_per_node === 1 && row.time_limit_seconds === 28800).choices;
      assert.deepEqual(
        (await starts()).map((one) => one.gpu),
        choices.map((choice) => choice.gpu_name),
      );
      assert.deepEqual([(await starts())[0].time, (await starts())[0].range], ['now', 'at once']);
      assert.equal(posted().length, 0, 'the usual question is answered by /v1/waits');
      await page.fill('input[name="memory"]', '24');
      await page.press('input[name="memory"]', 'Tab');
      await page.fill('input[name="nodes"]', '2');
      await page.press('input[name="nodes"]', 'Tab');
      const large = gpus.filter((gpu) => gpu.memory_bytes >= 24e9).map((gpu) => gpu.gpu_name);
      await until(page, starts, (shown) => JSON.stringify(shown.map((one) => one.gpu)) === JSON.stringify(large));
      await until(
        page,
        starts,
        (shown) => shown[0].time === 'now' && /^\d\d:\d\d$/.test(shown[1].time) && /^now – \d\d:\d\d$/.test(shown[1].range),
      );
      assert.match(page.url(), /#\/now\?memory=24&nodes=2$/);
      assert.match(await page.locator('details', { hasText: 'cannot run it' }).textContent(), /3 places.*it is too small/);
      await page.goBack();
      await until(
        page,
        () => page.inputValue('input[name="nodes"]'),
        (value) => value === '1',
      );
      assert.equal(await page.inputValue('input[name="memory"]'), '24');
      await page.selectOption('select[name="begin"]', { index: 3 });
      await until(
        page,
        () => JSON.parse(posted().at(-1).body).job.begin ?? 0,
        (begin) => begin > kNow,
      );
      await until(page, starts, (shown) => shown[0].time !== 'now');
      const before = posted().length;
      own.fake.push();
      await until(
        page,
        () => posted().length,
        (count) => count > before,
        15_000,
      );
      await page.fill('input[name="memory"]', '999');
      await page.press('input[name="memory"]', 'Tab');
      await until(
        page,
        () => page.locator('.starts-place').textContent(),
        (words) => /No GPU of this cluster can run it: nothing fits/.test(words),
      );
    }),
  ));

test('What is no answer stays in its field, is refused in a sentence, and nothing else is asked instead', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      const alerts = () => page.locator('.ask-line [role="alert"]').allInnerTexts();
      const asked = () => own.fake.log.filter((entry) => entry.path === '/v1/select').length;
      await visit(page, own.fake.url, 'now');
      for (const [name, text] of [
        ['gpus', '1.5'],
        ['gpus', 'abc'],
        ['nodes', '-3'],
        ['hours', '0.0001'],
        ['hours', '2000000'],
      ]) {
        await page.fill(`input[name="${name}"]`, text);
        await page.press(`input[name="${name}"]`, 'Tab');
        await until(page, alerts, (words) => words.length === 1 && /enter a (whole )?number from/.test(words[0]));
        const field = page.locator(`input[name="${name}"][aria-invalid="true"]`);
        assert.equal(await field.inputValue(), text);
        assert.equal(await field.getAttribute('aria-describedby'), `refused-${name}`);
        assert.equal(await page.locator('.starts, .free-start, .tell button').count(), 0);
        await page.fill(`input[name="${name}"]`, '');
        await page.press(`input[name="${name}"]`, 'Tab');
        await until(page, alerts, (words) => words.length === 0);
      }
      assert.equal(asked(), 0);
      assert.deepEqual(await page.locator('.ask-line input').evaluateAll((all) => all.map((one) => one.value)), ['1', '1', '8', '']);
      await page.fill('input[name="memory"]', '24.5');
      await page.press('input[name="memory"]', 'Tab');
      await until(page, asked, (count) => count === 1);
      assert.match(own.fake.log.at(-1).body, /"min_gpu_memory_bytes":24500000000/);
      await visit(page, own.fake.url, 'now?begin=99999999999&gpus=x');
      await until(page, alerts, (words) => words.length === 2 && /before the year 2100/.test(words[1]));
      assert.deepEqual(await axeFaults(page), []);
      await visit(page, own.fake.url, 'now?begin=4000000000');
      await until(
        page,
        () => page.locator('.start-time').allInnerTexts(),
        (words) => words.length === 3 && /^\d+ Oct 2096 \d\d:\d\d$/.test(words[0]),
      );
    }),
  ));

test('A job that is longer than the table knows is told so', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now?hours=48');
    assert.match(await page.locator('#waits .note').innerText(), /limit of 24 h \(the longest that is known here; your job has 48 h\)/);
  }));

/** GPUs of the table of types. */
async function freeAndKept(page) {
  const types = (await readView(page, 'now')).gpus.map((one) => one.split);
  const sum = (kind) => types.reduce((count, split) => count + (split[kind] ?? 0), 0);
  return { free: sum('free'), kept: sum('kept') };
}

test('Free GPUs that wait say for which job they are kept, and until when', () =>
  withOwnFake(world, {}, async (own) => {
    const gpu = 'rtx4090';
    keepOne(own.fake.cluster, gpu);
    await withPage(
      own,
      async (page) => {
        await visit(page, own.fake.url, 'now');
        const row = async () => (await readView(page, 'now')).gpus.find((one) => one.gpu === gpu);
        await until(
          page,
          async () => (await row()).why,
          (why) => /^1 GPU kept for job 1644 until .*\d\d:\d\d\. A job of up to 7 min may start now\.$/.test(why ?? ''),
        );
        assert.deepEqual((await row()).split, { kept: 1, 'in use': 7 });
        const { free, kept } = await freeAndKept(page);
        const { gpus } = answers.waiting(own.fake.cluster);
        assert.equal(free + kept, gpus.free + gpus.promised);
        assert.ok(kept > gpus.promised, 'some are free for short jobs alone');
        const figure = page.locator('#cluster .figure').first();
        assert.equal(await figure.locator('b').innerText(), String(free));
        assert.match(await figure.innerText(), new RegExp(`in use, ${kept} kept,`));
        await page.click('.kept a');
        await page.waitForSelector('main:has(h1:text-is("Queue"))');
        assert.match(page.url(), /job=1644/);
        await visit(page, own.fake.url, 'nodes?gpu=' + gpu);
        await until(
          page,
          () => page.locator('.kept-types').innerText(),
          (words) => /^RTX 4090: 1 GPU kept for job 1644 until .*\d\d:\d\d\. A job of up to 7 min may start now\.$/m.test(words),
        );
        const seen = await readView(page, 'nodes');
        const sum = (kind) => seen.groups.reduce((count, group) => count + group[kind], 0);
        assert.deepEqual([sum('free'), sum('promised')], [free, kept], 'Nodes counts as Now does');
        const [first] = seen.nodes;
        assert.equal(first.condition, 'promised');
        assert.deepEqual(first.gpus[0].cells.slice(-1), ['promised']);
        assert.match(first.words, /^kept to \d\d:\d\d$/);
        await page.click('.map button');
        assert.match(await page.locator('aside .facts').innerText(), /in use, 1 kept/);
        await visit(page, own.fake.url, 'nodes?map=cluster&gpu=' + gpu);
        await page.locator('.map-group h3', { hasText: /RTX 4090 .* 1 kept$/ }).waitFor();
      },
      { allow: kNetworkNoise },
    );
  }));

test('Of many types the nodes are asked for once a visitor opens the type', () =>
  withOwnFake(world, {}, async (own) => {
    for (const gpu of ['rtx4090', 'l40s', 'rtx4070']) keepOne(own.fake.cluster, gpu);
    await withPage(own, async (page) => {
      const asked = () => own.fake.log.filter((entry) => /^\/v1\/nodes\?gpu=/.test(entry.path)).length;
      for (const [view, place] of [
        ['nodes', '.kept-types'],
        ['now', '.gpus-now'],
      ]) {
        await visit(page, own.fake.url, view);
        const folds = page.locator(`${place} details.kept`);
        await until(
          page,
          () => folds.count(),
          (count) => count === 3,
        );
        const before = asked();
        await folds.first().locator('summary').click();
        await until(page, asked, (count) => count === before + 1);
        await until(
          page,
          () => folds.first().innerText(),
          (words) => /1 GPU kept for job 1644/.test(words),
        );
        assert.deepEqual(await axeFaults(page), []);
      }
      assert.equal(asked(), 2);
    });
  }));

test('Now ends with the cluster: two figures, the trend and the best time in a sentence', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now?clock=cluster');
    await page.locator('#waits').getByText('What is p90?').click();
    assert.ok(await page.getByText('the times by which 10, 50 and 90 % of such jobs start').isVisible());
    const { gpus, all } = answers.waiting(world.fake.cluster);
    const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Cluster', exact: true }) });
    await panel.locator('canvas').waitFor();
    assert.deepEqual(await panel.locator('.figure b').allTextContents(), [String(gpus.free), String(all.pending_gpus)]);
    const words = await panel.textContent();
    assert.match(words, /Allocated: \d+ % of all GPUs in the last 24 hours, \d+ % in the last 7 days, \d+ % in the 7 days before\./);
    assert.match(
      words,
      /Best time to submit: Monday to Friday, 04:00–08:00\. The 90th percentile of the wait is 25 min then \(210 jobs\), and 3 h 10 over the whole week\./,
    );
    assert.equal(await panel.locator('select').count(), 0);
    await panel.locator('summary').click();
    assert.ok((await panel.locator('tbody tr').count()) > 80);
  }));

test('Who waits and why: accounts for users, one row for strangers', () =>
  withOwnFake(world, {}, async (own) => {
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      assert.deepEqual(await texts(page, '.who tbody th'), ['all accounts']);
      assert.match(await page.locator('#who .note').textContent(), /names are hidden/);
      assert.match(await page.locator('.who-am-i').textContent(), /Public view/);
    });
    named(own.fake);
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await until(
        page,
        () => page.locator('.who-am-i').textContent(),
        (words) => words === 'Signed in as ann',
      );
      const expected = answers.waiting(own.fake.cluster);
      assert.deepEqual(await texts(page, '.who tbody th'), [...expected.accounts.map((row) => row.account), 'all accounts']);
      const reasons = await texts(page, '.who tbody tr:last-child .reason-list li');
      const [first] = expected.all.reasons;
      assert.ok(reasons.includes(`${first.jobs} ${first.jobs === 1 ? 'job' : 'jobs'}: ${first.reason_words}`), reasons.join('; '));
      await page.click('.who th button:has-text("Account")');
      await page.click('.who th button:has-text("Account")');
      await until(
        page,
        async () => (await texts(page, '.who tbody th')).slice(0, 3).join(),
        (accounts) => accounts === 'nlp,robotics,vision',
      );
      assert.equal(await page.locator('.who th[aria-sort="ascending"]').count(), 1);
      const file = await downloaded(page, () => page.click('#who .csv'));
      assert.equal(file.name, 'Who-waits-and-why.csv');
      assert.match(file.text, /^\uFEFF"Account","GPUs in use","Waiting jobs","GPUs requested"/);
      assert.equal(file.text.trim().split('\r\n').length, 4);
    });
  }));

test('Names that mean formulas are text in a file', () =>
  withOwnFake(world, {}, async (own) => {
    const evil = [
      '=HYPERLINK("http://evil.example","x")',
      '+1+1',
      '-2+3',
      '@SUM(A1)',
      '\t=1',
      '\r\n=1',
      ' =1',
      '\u200b',
      '\uFF1D1+1',
      '"quoted",=1',
      '|calc',
      '%0A=1',
    ];
    own.fake.cluster.jobs.forEach((job, at) =>
      Object.assign(job, { name: evil[at % evil.length], user: evil[(at + 1) % evil.length], account: evil[(at + 2) % evil.length] }),
    );
    own.fake.set({ user: 'ann' });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      const { text } = await downloaded(page, () => page.click('#who .csv'));
      const cells = text.slice(1).match(/"(?:[^"]|"")*"|[^,\r\n]+/g);
      assert.ok(cells.length > 20);
      for (const cell of cells) {
        const value = cell.startsWith('"') ? cell.slice(1, -1) : cell;
        assert.doesNotMatch(value, /^[\s]*[=+\-@\uFF1D|%]/, cell);
        assert.doesNotMatch(value, /[\r\n\t]/, cell);
      }
      assert.ok(text.includes(`"'+1+1"`), text.slice(0, 600));
      assert.equal(await page.evaluate(() => window.harmed), undefined);
    });
  }));

test('A click on a job says why it waits and what would start it sooner; Escape goes back', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue?state=pending');
    const job = world.fake.cluster.jobs.find((one) => one.state === 'PENDING' && one.wait_p50_seconds > 600);
    await page.click(`#job-${job.job_id} a`);
    await page.waitForSelector(`aside[aria-label="Job ${job.job_id}"] [aria-label="Why it waits"]`);
    await focused(page, `aside[aria-label="Job ${job.job_id}"]`);
    assert.match(page.url(), new RegExp(`state=pending.*job=${job.job_id}`));
    const why = await page.locator('[aria-label="Why it waits"]').textContent();
    assert.ok(why.includes(job.reason_words) && why.includes('3 jobs ahead of it'), why);
    const sooner = await page.locator('[aria-label="What would start it sooner"]').textContent();
    assert.match(sooner, /with -t 04:00:00 it would start in 25 min/);
    assert.match(sooner, /scontrol update jobid=\d+ timelimit=03:30:00/);
    assert.deepEqual(await axeFaults(page), []);
    await page.keyboard.press('Escape');
    await page.waitForSelector('aside[aria-label^="Job"]', { state: 'detached' });
    await focused(page, `#job-${job.job_id} a`);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`aside[aria-label="Job ${job.job_id}"]`);
  }));

test('Beside an open job the reason has the width of the list, and the chosen row is of one colour', () =>
  withOwnFake(world, {}, async (own) => {
    named(own.fake);
    for (const width of [1280, 1024]) {
      await withPage(
        own,
        async (page) => {
          await visit(page, own.fake.url, 'queue?job=2026');
          const row = page.locator('#job-2026');
          const [list, reason] = [await row.boundingBox(), await row.locator('.why').boundingBox()];
          assert.ok(reason.width > 0.95 * list.width, `${reason.width} of ${list.width} px`);
          const [whole, ...cells] = await row.evaluate((one) =>
            [one, ...one.children].map((part) => getComputedStyle(part).backgroundColor),
          );
          assert.notEqual(whole, 'rgba(0, 0, 0, 0)');
          assert.deepEqual([...new Set(cells)], ['rgba(0, 0, 0, 0)']);
        },
        { viewport: { width, height: 800 } },
      );
    }
  }));

test('The queue is filtered by whose jobs it shows, and a job begins with why it waits', () =>
  withOwnFake(world, {}, async (own) => {
    named(own.fake);
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'queue?job=2026');
      assert.equal(await page.locator('aside h4, aside dt').first().textContent(), 'Why it waits');
      for (const name of ['user', 'account', 'qos']) {
        const field = page.locator(`select[name="${name}"]`);
        const value = await field.locator('option').nth(1).getAttribute('value');
        await field.selectOption(value);
        await until(
          page,
          () => own.fake.log.at(-1).path + own.fake.log.at(-2).path,
          (paths) => paths.includes(`${name}=${value}`),
        );
      }
    });
  }));

test('A job that is gone says so, and one that runs has no remedies', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'queue?job=999999');
      await page.locator('aside', { hasText: 'neither waits nor runs now' }).waitFor();
      const running = world.fake.cluster.jobs.find((one) => one.state === 'RUNNING');
      await visit(page, world.fake.url, `queue?job=${running.job_id}`);
      await until(
        page,
        () => page.locator('aside[aria-label^="Job"]').textContent(),
        (words) => /Runningsince/.test(words),
      );
      assert.equal(await page.locator('[aria-label="What would start it sooner"]').count(), 0);
    },
    { allow: kNetworkNoise },
  ));

test('The rows of the queue sort by a column, in the address, and Back undoes it', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue');
    const ids = () => page.locator('tr[id^="job-"]').evaluateAll((rows) => rows.map((row) => Number(row.id.slice(4))));
    const become = (wanted) => until(page, ids, (now) => JSON.stringify(now) === JSON.stringify(wanted));
    const before = await ids();
    await page.click('.jobs th button:has-text("Job")');
    await become([...before].sort((a, b) => b - a));
    assert.match(page.url(), /sort=-Job/);
    await page.click('.jobs th button:has-text("Job")');
    await become([...before].sort((a, b) => a - b));
    await page.reload();
    await become([...before].sort((a, b) => a - b));
    await page.click('.jobs th button:has-text("Job")');
    await become(before);
    await page.goBack();
    await become([...before].sort((a, b) => a - b));
  }));

test('Where rows are blocks, the sorting is chosen from a list, and taken back', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'queue');
      await page.selectOption('.sort-select select', 'Job');
      assert.match(page.url(), /sort=-Job/);
      await page.selectOption('.sort-select select', '');
      assert.doesNotMatch(page.url(), /sort=/);
    },
    { viewport: { width: 360, height: 740 } },
  ));

test('A job says when it was submitted, who is ahead, and what its priority is made of', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      const waiting = own.fake.cluster.jobs
        .filter((one) => one.state === 'PENDING' && one.gpu === 'l40s')
        .sort((a, b) => b.priority - a.priority);
      const last = waiting.at(-1);
      await visit(page, own.fake.url, `queue?job=${last.job_id}`);
      const panel = page.locator(`aside[aria-label="Job ${last.job_id}"]`);
      await until(
        page,
        () => panel.textContent(),
        (words) => /Submitted.*ago/.test(words) && /Priority 10,000/.test(words) && /fair share 6,000/.test(words),
      );
      assert.deepEqual(await texts(page, `aside [aria-label="Jobs ahead of it"] li`), [
        'Job 7001, 4 GPUs, priority 12,000',
        'Job 7002, 4 GPUs, priority 12,000',
      ]);
      assert.deepEqual(await axeFaults(page), []);
    }),
  ));

test('The details of a job lead to all of its user, its account and its QOS', () =>
  withOwnFake(world, {}, async (own) => {
    named(own.fake);
    await withPage(own, async (page) => {
      const { jobs } = own.fake.cluster;
      const [job] = jobs.filter((one) => one.qos === 'high');
      for (const name of ['user', 'account', 'qos']) {
        await visit(page, own.fake.url, `queue?job=${job.job_id}`);
        await page.locator('aside .facts a', { hasText: job[name] }).first().click();
        const expected = jobs.filter((one) => one[name] === job[name]).length;
        assert.ok(expected > 1 && expected < jobs.length);
        await until(
          page,
          () => page.locator('tr[id^="job-"]').count(),
          (count) => count === expected,
        );
        assert.match(page.url(), new RegExp(`#/queue\\?${name}=${job[name]}$`));
        await page.selectOption(`select[name="${name}"]`, '');
        await until(
          page,
          () => page.locator('tr[id^="job-"]').count(),
          (count) => count === jobs.length,
        );
      }
    });
  }));

test('A running job leads to its nodes, and a node to its jobs', () =>
  withPage(world, async (page) => {
    const node = world.fake.cluster.nodes.find((one) => one.jobs.length > 0 && one.gpus[0].total > 4);
    const [job] = node.jobs;
    await visit(page, world.fake.url, `queue?job=${job.job_id}`);
    await page.click(`aside a:has-text("${node.name}")`);
    await page.waitForSelector(`aside[aria-label="Node ${node.name}"]`);
    await page.click(`aside tbody a:has-text("${job.job_id}")`);
    await page.waitForSelector(`aside[aria-label="Job ${job.job_id}"]`);
  }));

test('History has GPU-hours and cost by account and week', () =>
  withOwnFake(world, {}, async (own) => {
    named(own.fake);
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'history?weeks=4');
      await page.waitForSelector('.usage tbody tr');
      const expected = usage(new URLSearchParams('weeks=4'));
      assert.deepEqual(await texts(page, '.usage tbody th'), [...expected.accounts.map((row) => row.account), 'all accounts']);
      const cells = await texts(page, '.usage tbody tr:first-child td');
      assert.equal(cells.length, 3 + 4);
      assert.equal(cells[1], expected.accounts[0].gpu_hours.toLocaleString('en-US', { maximumFractionDigits: 1 }));
      assert.equal(cells[2], expected.accounts[0].cost.toLocaleString('en-US', { maximumFractionDigits: 2 }));
      await page.selectOption('select[name="accounts"]', 'p90_seconds');
      await page.waitForSelector('#usage caption:has-text("Wait, p90 by account and week")', { state: 'attached' });
      assert.deepEqual((await texts(page, '.usage tbody tr:first-child td')).slice(2), [...Array(3).fill('2 h 30 of 31 jobs'), '–']);
      assert.match(page.url(), /accounts=p90_seconds/);
    });
    own.fake.set({ user: null });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'history?weeks=4');
      await page.locator('#usage', { hasText: 'names are hidden' }).waitFor();
      assert.deepEqual(await texts(page, '.usage tbody th'), ['all accounts']);
    });
  }));

test('Cost is of what has a price, and says what it is without', () =>
  withPage(world, async (page) => {
    await page.route('**/v1/usage*', async (route) => {
      const answer = await (await route.fetch()).json();
      Object.assign(answer.all, { cost: 120.5, unpriced_gpu_hours: 40 });
      const row = { ...answer.all, account: 'nlp' };
      await route.fulfill({
        json: { ...answer, accounts: [row, { ...row, account: 'vision', cost: null }, { ...row, unpriced_gpu_hours: 0 }] },
      });
    });
    await visit(page, world.fake.url, 'history?weeks=4');
    await page.waitForSelector('.usage tbody tr');
    assert.deepEqual(await texts(page, '.usage tbody [data-head="Cost"]'), ['≥ 120.5', '–', '120.5', '≥ 120.5']);
    await page.locator('#usage', { hasText: 'without 40 GPU-hours of GPU types that have no price' }).waitFor();
  }));

test('Weeks of which nothing is known are not 0 GPU-hours', () =>
  withPage(world, async (page) => {
    const hours = [0, 0, 12.5, 8];
    await page.route('**/v1/usage*', async (route) => {
      const answer = await (await route.fetch()).json();
      for (const row of [answer.all, ...answer.accounts]) row.weekly_gpu_hours = hours;
      await route.fulfill({ json: { ...answer, known_since: null } });
    });
    await visit(page, world.fake.url, 'history?weeks=4');
    await page.waitForSelector('.usage tbody tr');
    assert.deepEqual((await texts(page, '.usage tbody tr:first-child td')).slice(-4), ['8', '12.5', '–', '–']);
  }));

for (const hasTouch of [false, true]) {
  test(`A chart is zoomed by ${hasTouch ? 'a finger' : 'dragging'} and by its range, and a new snapshot does not undo it`, () =>
    withPage(
      world,
      async (page) => {
        await visit(page, world.fake.url, 'history');
        const panel = page.locator('figure', { has: page.getByRole('img', { name: /^GPUs over time/ }) });
        const controls = page.locator('#over-time .zoom');
        const part = () => controls.innerText();
        await panel.locator('canvas').waitFor();
        await panel.scrollIntoViewIfNeeded();
        const box = await panel.locator('.u-over').boundingBox();
        const at = (share) => [box.x + box.width * share, box.y + box.height / 2];
        if (hasTouch) {
          const session = await page.context().newCDPSession(page);
          const touch = (type, ...points) =>
            session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
          await touch('touchStart', at(0.4));
          for (const share of [0.45, 0.5, 0.55, 0.6]) await touch('touchMove', at(share));
          await touch('touchEnd');
        } else {
          await page.mouse.move(...at(0.4));
          await page.mouse.down();
          await page.mouse.move(...at(0.6), { steps: 5 });
          await page.mouse.up();
        }
        await until(page, part, (words) => /\d\d:\d\d – .*\d\d:\d\d/.test(words));
        const before = await part();
        await controls.getByRole('button', { name: 'Later' }).click();
        await until(page, part, (words) => words !== before);
        await controls.getByRole('button', { name: 'Show all' }).click();
        await until(page, part, (words) => !/\d\d:\d\d/.test(words));
        await controls.getByRole('combobox').selectOption({ label: 'last 24 hours' });
        const day = await until(page, part, (words) => /\d\d:\d\d – /.test(words));
        world.fake.push();
        await page.waitForTimeout(2500);
        assert.equal(await part(), day);
      },
      { hasTouch },
    ));
}

test('The form and the text of Ask change each other', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    await openText(page);
    const text = () => page.inputValue('textarea');
    assert.equal(await page.inputValue('[name="steps"]'), '10000');
    await page.fill('[name="steps"]', '2500');
    await page.press('[name="steps"]', 'Tab');
    assert.match(await text(), /\n {2}max_steps: 2500\n/);
    await page.selectOption('[name="form-gpu"]', 'l40s');
    assert.match(await text(), /resources: \{cpus_per_gpu: 8, mem_per_gpu: 20G, max_nodes: 1, gpus: l40s\}/);
    await page.selectOption('[name="form-gpu"]', '');
    assert.match(await text(), /resources: \{cpus_per_gpu: 8, mem_per_gpu: 20G, max_nodes: 1\}/);
    await page.fill('[name="preset"]', 'gpt2');
    await page.press('[name="preset"]', 'Tab');
    assert.match(await text(), /model:\n {2}# memory of one process[^\n]*\n {2}preset: gpt2\n {2}memory: /);
    await page.fill('[name="steps"]', '12; rm');
    await page.press('[name="steps"]', 'Tab');
    assert.equal(await page.inputValue('[name="steps"]'), '2500');
    await page.fill('textarea', 'model: {preset: qwen2.5-7b}\ntraining: {max_steps: 77} # short\n');
    assert.equal(await page.inputValue('[name="steps"]'), '77');
    assert.equal(await page.inputValue('[name="preset"]'), 'qwen2.5-7b');
    await page.fill('textarea', 'model:\n  preset: [a, b]\n');
    assert.ok(await page.locator('[name="preset"]').isDisabled());
    await ask(page, 'model: {preset: gpt2}\n');
    assert.equal(await page.locator('#ranking').count(), 1);
  }));

test('What is wrong is said with the time since when', () =>
  withOwnFake(world, {}, async (own) => {
    await withPage(
      own,
      async (page) => {
        await visit(page, own.fake.url, 'now');
        own.fake.set({ stale: 'Unable to contact slurm controller (connect failure)' });
        await page.waitForSelector('.banner-stale');
        assert.match(
          await page.locator('.banner').textContent(),
          /^Slurm has not answered since .*\d\d:\d\d: Unable to contact slurm controller/,
        );
        own.fake.set({ stale: null, down: true });
        for (const end of [() => own.fake.stop()]) await end();
        await page.waitForSelector('.banner-lost');
        assert.match(
          await page.locator('.banner').textContent(),
          /^No connection to gpuadvised since .*\d\d:\d\d\. Trying again; the last known data is shown\.$/,
        );
        assert.ok((await page.locator('tr[id^="gpu-"]').count()) === 5, 'what was known stays');
      },
      { allow: kNetworkNoise },
    );
  }));

test('Nothing is invented where there is no history', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.set({ young: true, accounts: [] });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await until(
        page,
        () => page.locator('#cluster').textContent(),
        (words) => /No history yet\. Trends appear/.test(words) && !words.includes('too little history'),
      );
      assert.equal(await page.locator('canvas').count(), 0);
      const { height } = await page.locator('#cluster').boundingBox();
      assert.ok(height < 260, `${height} px, of which most are empty`);
    });
  }));

test('Of a few hours there is a line, but no share of a day', () =>
  withPage(world, async (page) => {
    await page.route('**/v1/history*', async (route) => {
      const answer = await (await route.fetch()).json();
      answer.series.slice(0, -3).forEach((row) => (row.busy_gpus = null));
      for (const gpu of answer.gpus) gpu.last_day = gpu.last_day.slice(-3);
      await route.fulfill({ json: answer });
    });
    await visit(page, world.fake.url, 'now');
    await page.waitForSelector('#cluster canvas');
    assert.doesNotMatch(await page.locator('#cluster').innerText(), /Allocated: /);
    assert.deepEqual([...new Set(await texts(page, '.gpus-now .day'))], ['–']);
  }));

test('A login proxy that names somebody unknown is said', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.set({ note: "the login proxy names 'zoe', and this machine knows no such user" });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await until(
        page,
        () => page.locator('.who-am-i').textContent(),
        (words) => /zoe/.test(words),
      );
    });
  }));

for (const width of [360, 768, 1280, 1920]) {
  test(`Nothing is cut or runs over at ${width} px`, () =>
    withOwnFake(world, {}, async (own) => {
      named(own.fake);
      await withPage(
        own,
        async (page) => {
          for (const view of ['now', 'queue', 'queue?job=2001', 'history', 'ask', 'nodes', 'accuracy']) {
            await visit(page, own.fake.url, view);
            if (view === 'ask') await ask(page);
            await page.waitForTimeout(200);
            const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
            assert.ok(over <= 0, `${view} is ${over} px too wide`);
          }
          await visit(page, own.fake.url, 'now');
          const cut = await page
            .locator('.gpus-now th .name, .gpus-now .wait, .start .name, .who tbody th')
            .evaluateAll((all) =>
              all
                .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
                .map((one) => one.textContent),
            );
          assert.deepEqual(cut, []);
          if (width === 360) {
            const hidden = await page
              .locator('.who .reason-list, .gpus-now td')
              .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length);
            assert.equal(hidden, 0, 'columns beyond the edge');
          }
          await visit(page, own.fake.url, 'ask');
          await openText(page);
          const editor = await page.locator('textarea').boundingBox();
          assert.ok(editor.width >= Math.min(440, width - 100), `the editor is ${editor.width} px wide`);
        },
        { viewport: { width, height: 900 } },
      );
    }));
}

test('The keyboard alone sorts, downloads and opens a job', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue');
    await page.locator('.jobs th button').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('.jobs th[aria-sort="descending"]').waitFor();
    await page.locator('.time-line .csv').focus();
    const file = await downloaded(page, () => page.keyboard.press('Enter'));
    assert.match(file.text, /^\uFEFFjob_id,name,gpus\r\n\d+,/);
    assert.ok(kNow > 0);
  }));
