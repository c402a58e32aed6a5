// Nodes in time: what is drawn, what the table says, keys and filters; and how GPUs are given to jobs.
import assert from 'node:assert/strict';
import { axeFaults, visit } from './browser.mjs';
import { timeline } from './fake/answers.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withPage } from './world.mjs';

const world = makeWorld();
const bars = (page, kind) => page.locator(`.gantt-row .gantt-${kind}`).count();
const cells = (page, head) => page.locator(`.gantt-table td[data-head="${head}"]`).allInnerTexts();
const askedOf = (params) => timeline(world.fake.cluster, new URLSearchParams(params));
const jobsOf = (answer, kind) => answer.nodes.flatMap((node) => node.jobs.filter((job) => job.kind === kind));

test('A type in time has a row for each node and a bar for each job', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?map=time&gpu=l40s');
    await page.waitForSelector('.gantt-row');
    const answer = askedOf('gpu=l40s&limit=40');
    assert.ok(answer.nodes.length > 1);
    assert.deepEqual(
      await page.locator('.gantt-name').allInnerTexts(),
      answer.nodes.map((node) => node.name),
    );
    for (const kind of ['ended', 'running', 'forecast']) assert.equal(await bars(page, kind), jobsOf(answer, kind).length, kind);
    assert.match(await page.locator('#map .note').last().textContent(), /ended before .* are not known/);
    await page.selectOption('select[name="range"]', '6h');
    await until(
      page,
      () => page.locator('.gantt .ticks').innerText(),
      (words) => /now/.test(words) && /\+5 h|\+4 h|\+2 h|\+1 h/.test(words) && /−/.test(words),
    );
    await page.goBack();
  }));

test('The table says the same, by keys alone, and leads to the jobs', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?map=time&gpu=rtx4090');
    await page.waitForSelector('.gantt-row');
    assert.equal(await page.locator('.gantt[aria-hidden="true"]').count(), 1);
    await page.locator('.gantt-table summary').focus();
    await page.keyboard.press('Enter');
    const answer = askedOf('gpu=rtx4090&limit=40');
    const states = await cells(page, 'State');
    assert.equal(states.filter((words) => words === 'ended').length, jobsOf(answer, 'ended').length);
    assert.equal(states.length, answer.nodes.flatMap((node) => node.jobs).length);
    const links = await page.locator('.gantt-table a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    assert.ok(links.includes(`#/queue?job=${jobsOf(answer, 'running')[0].job_id}`), links.join(' '));
    assert.ok(!links.some((link) => link.includes('job=7000')), 'a job that has ended has no details');
    assert.deepEqual(await axeFaults(page), []);
  }));

test('A bar leads to its job, one of an ended job to nothing', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?map=time&gpu=rtx4090');
    await page.waitForSelector('.gantt-row');
    assert.equal(await page.locator('a.gantt-ended').count(), 0);
    const [job] = jobsOf(askedOf('gpu=rtx4090&limit=40'), 'running');
    await page.locator(`a.gantt-running[title^="job ${job.job_id},"]`).click();
    await page.waitForSelector('main:has(h1:text-is("Queue"))');
    assert.match(page.url(), new RegExp(`job=${job.job_id}$`));
  }));

test('A node says when its job ends, and why bars may overlap', () =>
  withPage(world, async (page) => {
    const node = world.fake.cluster.nodes.find((one) => one.next_end_p50 !== null && one.condition === 'busy');
    await visit(page, world.fake.url, `nodes?node=${node.name}`);
    await page.waitForSelector('aside .gantt-row');
    assert.match(await page.locator('aside .facts').innerText(), /Next job ends\s+(\S+ )?\d\d:\d\d, by its median/);
    assert.match(await page.locator(`#node-${node.name} .tile-until`).innerText(), /^job ends (soon|in )/);
    assert.match(await page.locator('aside .note').innerText(), /median of each job by itself, so bars of one GPU may overlap/);
  }));

test('A node shows its own in the details', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?node=classt21');
    await page.waitForSelector('aside .gantt-row');
    const [node] = askedOf('node=classt21').nodes;
    assert.equal(await page.locator('aside .gantt-bar').count(), node.jobs.length);
    assert.deepEqual(await axeFaults(page), []);
  }));
