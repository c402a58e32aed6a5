// Pure functions: durations, routes, axes, scales, cells, commands.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

let server;
const load = (path) => server.ssrLoadModule(`/src/${path}`);

before(async () => {
  server = await createServer({ root: fileURLToPath(new URL('..', import.meta.url)), server: { middlewareMode: true, watch: null, hmr: false, ws: false }, appType: 'custom', optimizeDeps: { noDiscovery: true }, logLevel: 'error' });
});
after(() => server.close());

test('Durations read as people say them', async () => {
  const { duration, durationRange, length, shortDuration, waitLevel, limit } = await load('words/durations.ts');
  const expected = [[0, 'now'], [29, 'now'], [-5, 'now'], [30, '30 s'], [59, '59 s'], [60, '1 min'], [1500, '25 min'], [3569, '59 min'], [3570, '1 h'], [3600, '1 h'], [11400, '3 h 10'], [86400, '24 h'], [172799, '48 h'], [172800, '2 d'], [187200, '2 d 4 h'], [null, '–'], [NaN, '–']];
  for (const [seconds, words] of expected) assert.equal(duration(seconds), words, String(seconds));
  assert.equal(durationRange(0, 10), 'now');
  assert.equal(durationRange(1500, 4200), '25 min – 1 h 10');
  assert.equal(durationRange(null, null), '–');
  assert.equal(length(0), '0 s');
  assert.deepEqual([0, 40, 1500, 3590, 4000, 7200, 90000, 200000, null].map(shortDuration), ['0', '40s', '25m', '1h', '1.1h', '2h', '25h', '2d', '']);
  assert.deepEqual([0, 59, 60, 899, 900, 3600, 14400, 86400, 1e9, null].map(waitLevel), [0, 0, 1, 1, 2, 3, 4, 5, 5, null]);
  assert.deepEqual([3600, 86400, 172800, 604800, 5400, null].map(limit), ['1 h', '24 h', '48 h', '7 d', '1 h 30', 'no limit']);
});

test('Memory is in the unit in which it is a whole number', async () => {
  const { memory, grouped, percent } = await load('words/numbers.ts');
  assert.deepEqual([25769803776, 48000000000, 11e9 + 5, 0, null].map(memory), ['24 GiB', '48 GB', '10.2 GiB', '–', '–']);
  assert.deepEqual([1204, null, 0].map(grouped), ['1,204', '–', '0']);
  assert.deepEqual([0.834, 1, null].map(percent), ['83 %', '100 %', '–']);
});

test('An address becomes a view and its parameters, and back', async () => {
  const { parseRoute, hashOf, requestOf, numberParam } = await load('parts/route.ts');
  const route = parseRoute('#/queue?state=pending&search=a%26b%3F%23');
  assert.deepEqual([route.view, route.params.get('state'), route.params.get('search')], ['queue', 'pending', 'a&b?#']);
  for (const hash of ['', '#', '#/', '#/nowhere', '#/now/', '#/__proto__']) assert.equal(parseRoute(hash).view, 'now');
  assert.equal(hashOf('nodes', { partition: 'a b', gpu: '', search: null, offset: 200 }), '#/nodes?partition=a+b&offset=200');
  assert.equal(requestOf('v1/nodes', { search: 'x?y' }), 'v1/nodes?search=x%3Fy');
  assert.deepEqual(['7', '-1', '1e9', 'x', ''].map((value) => numberParam(new URLSearchParams({ value }), 'value', 3)), [7, 3, 3, 3, 3]);
});

test('The time axis fits the rows, and clips what lies beyond', async () => {
  const { axisOf, placeOf, stepOf, ticksOf } = await load('views/queue/axis.ts');
  const now = 1_000_000;
  const axis = axisOf([{ start_p50: now + 3600, start_p90: now + 7200, run_p50_seconds: 7200 }, { end_p50: now + 600, end_p90: now + 900 }], now, '');
  assert.ok(Math.abs(axis.to - now - 10800 * 1.04) < 1);
  assert.equal(placeOf(axis, axis.to + 99), 1);
  assert.equal(placeOf(axis, 0), 0);
  assert.ok(placeOf(axis, now) > 0.04 && placeOf(axis, now) < 0.07);
  assert.equal(axisOf([], now, '24').to, now + 86400);
  assert.equal(axisOf([], now, '').to - now, 3600);
  for (const ahead of [3600, 9000, 40000, 86400 * 3, 86400 * 40, 86400 * 400]) {
    const ticks = ticksOf({ from: now - ahead / 20, to: now + ahead, now });
    assert.equal(ticks[0].words, 'now');
    assert.ok(ticks.length >= 2 && ticks.length <= 8, `${ahead}: ${ticks.map((tick) => tick.words)}`);
    assert.equal(new Set(ticks.map((tick) => tick.words)).size, ticks.length, `${ahead}: ${ticks.map((tick) => tick.words)}`);
  }
  assert.equal(stepOf({ from: now, to: now + 3600, now }), 600);
});

test('Ticks of time have a date at the first and at midnight, and weeks that are not over say so', async () => {
  const { soFar, weekWords } = await load('words/times.ts');
  const { dateWords, someOf } = await load('charts/ticks.ts');
  const day = 86400 * 20000;
  assert.deepEqual(dateWords([day - 43200, day - 21600, day, day + 21600], 21600), ['12:00\n3 Oct', '18:00', '00:00\n4 Oct', '06:00']);
  assert.deepEqual(dateWords([day, day + 86400], 86400), ['4 Oct', '5 Oct']);
  assert.deepEqual(someOf([1, 2, 3, 4, 5], 9), [1, 2, 3, 4, 5]);
  assert.deepEqual(someOf([1, 2, 3, 4, 5], 3), [1, 3, 5]);
  assert.deepEqual([weekWords(day, 0, day + 604800), weekWords(day, 0, day + 604799)], ['4 Oct', '4 Oct, so far']);
  assert.equal(soFar(day, 0, day + 604800), null);
  assert.match(soFar(day, 0, day + 5), /week of 4 Oct is not over/);
});

test('A logarithmic scale keeps order and ends on a tick', async () => {
  const { logScale } = await load('charts/log_scale.ts');
  const scale = logScale([0, 70, 5000, 50000]);
  assert.deepEqual([0, 60, 86400, 1e9].map(scale.place), [0, 0, 1, 1]);
  assert.ok(scale.place(600) < scale.place(6000));
  assert.deepEqual(scale.ticks.map((tick) => tick.words), ['≤ 1 min', '10 min', '1 h', '6 h', '1 d']);
  assert.ok(logScale([]).ticks.length >= 2);
});

test('Cells of a node: used, free, promised, and what no job can have', async () => {
  const { cellsOf } = await load('views/nodes/condition.ts');
  const cells = (condition, total, used, free) => cellsOf({ condition }, { total, used, free }).join(' ');
  assert.equal(cells('partly', 4, 2, 2), 'used used free free');
  assert.equal(cells('partly', 4, 2, 1), 'used used free gone');
  assert.equal(cells('drained', 3, 1, 0), 'used gone gone');
  assert.equal(cells('down', 2, 0, 2), 'gone gone');
  assert.equal(cells('promised', 3, 1, 2), 'used promised promised');
  assert.equal(cells('busy', 2, 5, 3), 'used used');
});

test('Heat levels run from 0 to 5', async () => {
  const { kMeasures, measureOf } = await load('views/history/measure.ts');
  const use = measureOf('use');
  assert.deepEqual([0, 0.16, 0.5, 0.99, 1, 1.2].map((value) => use.level(value, 1)), [0, 0, 3, 5, 5, 5]);
  assert.equal(measureOf('nothing').key, 'wait_p50_seconds');
  for (const measure of kMeasures) assert.ok(measure.level(0, 0) >= 0);
});

test('The submit command names the strategy, and nothing in it can break out of its quotes', async () => {
  const { errorLine, shellQuoted, submitCommand } = await load('views/ask/command.ts');
  const one = { partition: 'gpu', gres_type: 'l40s', gpu: 'l40s', gpus_per_node: 4, nodes: 2, account: 'lab', qos: 'high' };
  assert.equal(submitCommand(one, [one], { section: '', objective: '' }), 'gpuadvise submit train.yaml -p gpu --gpus-per-node l40s:4 -N 2');
  const twin = { ...one, qos: 'low' };
  assert.equal(submitCommand(one, [one, twin], { section: 'a b', objective: 'cost' }), "gpuadvise submit train.yaml --section 'a b' --objective cost -p gpu --gpus-per-node l40s:4 -N 2 -q high");
  assert.equal(shellQuoted("a'; rm -rf $HOME\n"), "'a'\\''; rm -rf $HOME_'");
  assert.equal(shellQuoted(''), "''");
  assert.deepEqual(['train.yaml:7: x', 'x: y', 'a:b:3: z', ''].map(errorLine), [7, null, null, null]);
});

test('Retries are spread between half of the back-off and the whole of it', async () => {
  const { retryDelay } = await load('api/loader.ts');
  for (let failures = 1; failures < 30; ++failures) {
    const whole = Math.min(20_000, 1000 * 2 ** (failures - 1));
    const delay = retryDelay(failures, 20_000);
    assert.ok(delay >= whole / 2 && delay <= whole, `${failures}: ${delay}`);
  }
});

test('A cell of a file is never a formula', async () => {
  const { csvCell, csvOf } = await load('parts/csv.ts');
  assert.deepEqual([-5, 1.5, NaN, null, undefined].map(csvCell), ['-5', '1.5', '', '', '']);
  assert.deepEqual(['a', 'a"b', 'a,b', '=1', '+1', '-1', '@x', '\t=1', '\n=1', ' =1', '\uFF0B1', 'a\nb'].map(csvCell), ['"a"', '"a""b"', '"a,b"', `"'=1"`, `"'+1"`, `"'-1"`, `"'@x"`, `"' =1"`, `"' =1"`, `"' =1"`, `"'\uFF0B1"`, '"a b"']);
  assert.equal(csvOf(['A'], [[1], ['x']]), '"A"\r\n1\r\n"x"\r\n');
});

test('The form reads and writes the plain forms of a train.yaml and leaves others alone', async () => {
  const { plainWord, readValue, writeValue } = await load('views/ask/yaml_edit.ts');
  const steps = ['training', 'max_steps'];
  const value = (text) => readValue(text, steps);
  assert.deepEqual(value('training:\n  max_steps: 10 # x\n'), { kind: 'value', value: '10' });
  assert.deepEqual(value('training: {bf16: auto, max_steps: 10}\n'), { kind: 'value', value: '10' });
  assert.deepEqual(value('model:\n  max_steps: 3\n'), { kind: 'absent' });
  assert.deepEqual(value('training:\n  inner:\n    max_steps: 3\n'), { kind: 'absent' });
  for (const odd of ['training:\n  max_steps: *x\n', 'training:\n  max_steps: |\n    3\n', 'training: &a {max_steps: 1}\n', 'training: {a: {max_steps: 1}}\n', 'training:\n  max_steps: 1\ntraining:\n  max_steps: 2\n', 'sections:\n  a: {}\n', '---\ntraining:\n  max_steps: 1\n']) {
    assert.deepEqual(value(odd), { kind: 'other' }, odd);
    assert.equal(writeValue(odd, steps, '9'), odd);
  }
  const written = [
    ['training:\n  max_steps: 10   # keep\n  bf16: auto\n', '9', 'training:\n  max_steps: 9   # keep\n  bf16: auto\n'],
    ['training:\n    bf16: auto\n', '9', 'training:\n    max_steps: 9\n    bf16: auto\n'],
    ['training: {bf16: auto} # c\n', '9', 'training: {bf16: auto, max_steps: 9} # c\n'],
    ['name: x\n', '9', 'name: x\n\ntraining:\n  max_steps: 9\n'],
    ['', '9', '\ntraining:\n  max_steps: 9\n'],
    ['training:\n  max_steps: 10\n  bf16: auto\n', '', 'training:\n  bf16: auto\n'],
    ['training: {gpus: [a, b], max_steps: 10}\n', '', 'training: {gpus: [a, b]}\n'],
    ['name: x\n', '', 'name: x\n'],
  ];
  for (const [text, to, expected] of written) {
    assert.equal(writeValue(text, steps, to), expected);
    if (to !== '') assert.deepEqual(value(expected), { kind: 'value', value: '9' });
  }
  assert.deepEqual(['l40s', 'h100-1g.11gb', 'a: b', 'yes', '12', '-x', '"', 'x\ny: 1', ''].map(plainWord), ['l40s', 'h100-1g.11gb', null, '"yes"', '"12"', null, null, null, null]);
});

test('Cards are spread evenly over their rows', async () => {
  const { columnsFor } = await load('views/now/cards.tsx');
  assert.deepEqual([[5, 1404], [5, 1644], [5, 320], [4, 1404], [1, 1404], [9, 1404], [0, 900]].map(([count, width]) => columnsFor(count, width)), [3, 5, 1, 4, 1, 3, 1]);
});
