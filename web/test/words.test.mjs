// Pure functions: durations, routes, axes, scales, cells, commands.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

let server;
const load = (path) => server.ssrLoadModule(`/src/${path}`);

before(async () => {
  server = await createServer({
    root: fileURLToPath(new URL('..', import.meta.url)),
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    appType: 'custom',
    optimizeDeps: { noDiscovery: true },
    logLevel: 'error',
  });
});
after(() => server.close());

test('Durations read as people say them', async () => {
  const { duration, durationRange, length, shortDuration, waitLength, waitLevel, limit, workTime } = await load('words/durations.ts');
  const expected = [
    [0, 'now'],
    [29, 'now'],
    [-5, 'now'],
    [30, '30 s'],
    [59, '59 s'],
    [60, '1 min'],
    [1500, '25 min'],
    [3569, '59 min'],
    [3570, '1 h'],
    [3600, '1 h'],
    [11400, '3 h 10'],
    [86400, '24 h'],
    [172799, '48 h'],
    [172800, '2 d'],
    [187200, '2 d 4 h'],
    [null, '–'],
    [NaN, '–'],
  ];
  for (const [seconds, words] of expected) assert.equal(duration(seconds), words, String(seconds));
  assert.equal(durationRange(0, 10), 'now');
  assert.deepEqual([1.5e-5, 0.00246, 0.5, 2.44, 75, null].map(workTime), ['15 µs', '2.5 ms', '500 ms', '2.4 s', '1 min', '–']);
  assert.equal(durationRange(1500, 4200), '25 min – 1 h 10');
  assert.equal(durationRange(null, null), '–');
  assert.equal(length(0), '0 s');
  assert.deepEqual([0, 59, 60, null].map(waitLength), ['under a minute', 'under a minute', '1 min', '–']);
  assert.deepEqual([0, 40, 1500, 3590, 4000, 7200, 90000, 200000, null].map(shortDuration), [
    '0',
    '40s',
    '25m',
    '1h',
    '1.1h',
    '2h',
    '25h',
    '2d',
    '',
  ]);
  assert.deepEqual([0, 59, 60, 899, 900, 3600, 14400, 86400, 1e9, null].map(waitLevel), [0, 0, 1, 1, 2, 3, 4, 5, 5, null]);
  assert.deepEqual([3600, 86400, 172800, 604800, 5400, null].map(limit), ['1 h', '24 h', '48 h', '7 d', '1 h 30', 'no limit']);
});

test('Memory is in the unit in which it is a whole number', async () => {
  const { memoryUse } = await load('words/numbers.ts');
  assert.equal(memoryUse(19e9, 24 * 2 ** 30), '17.7 of 24 GiB');
  assert.equal(memoryUse(28.6e9, 48e9), '26.6 of 48 GiB', 'sold as 48 GB');
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
  assert.deepEqual(
    ['7', '-1', '1e9', 'x', ''].map((value) => numberParam(new URLSearchParams({ value }), 'value', 3)),
    [7, 3, 3, 3, 3],
  );
});

test('The time axis fits the rows, and clips what lies beyond', async () => {
  const { axisOf, placeOf, stepOf, ticksOf } = { ...(await load('views/queue/axis.ts')), ...(await load('charts/time_axis.tsx')) };
  const now = 1_000_000;
  const axis = axisOf(
    [
      { start_p50: now + 3600, start_p90: now + 7200, run_p50_seconds: 7200 },
      { end_p50: now + 600, end_p90: now + 900 },
    ],
    now,
    '',
  );
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
  const { mondayOf, soFar, weekWords } = await load('words/times.ts');
  const { dateWords, someOf } = await load('charts/ticks.ts');
  const day = 86400 * 20000;
  assert.deepEqual(dateWords([day - 43200, day - 21600, day, day + 21600], 21600), ['12:00\n3 Oct', '18:00', '00:00\n4 Oct', '06:00']);
  assert.deepEqual(dateWords([day, day + 86400], 86400), ['4 Oct', '5 Oct']);
  assert.deepEqual(someOf([1, 2, 3, 4, 5], 9), [1, 2, 3, 4, 5]);
  assert.deepEqual(someOf([1, 2, 3, 4, 5], 3), [1, 3, 5]);
  const monday = day + 3 * 86400;
  for (const hours of [-11, -2, 0, 1, 13]) {
    const start = monday - hours * 3600; // by a clock so many hours ahead of UTC
    assert.equal(mondayOf(start), monday);
    assert.deepEqual([weekWords(start, start + 604800), weekWords(start, start + 604799)], ['7 Oct', '7 Oct, so far']);
    assert.equal(soFar(start, start + 604800), null);
    assert.match(soFar(start, start + 5), /week of 7 Oct is not over/);
  }
});

test('A logarithmic scale keeps order and ends on a tick', async () => {
  const { logScale } = await load('charts/log_scale.ts');
  const scale = logScale([0, 70, 5000, 50000]);
  assert.deepEqual([0, 60, 86400, 1e9].map(scale.place), [0, 0, 1, 1]);
  assert.ok(scale.place(600) < scale.place(6000));
  assert.deepEqual(
    scale.ticks.map((tick) => tick.words),
    ['≤ 1 min', '10 min', '1 h', '6 h', '1 d'],
  );
  assert.ok(logScale([]).ticks.length >= 2);
});

test('Cells of a node: used, free, promised, and what no job can have', async () => {
  const { cellsOf } = await load('views/nodes/condition.ts');
  const cells = (condition, total, used, free, short = []) =>
    cellsOf({ condition }, { gpu: 'a', total, used, free }, new Set(short)).join(' ');
  assert.equal(cells('partly', 4, 2, 2), 'used used free free');
  assert.equal(cells('partly', 4, 2, 1), 'used used free gone');
  assert.equal(cells('drained', 3, 1, 0), 'used gone gone');
  assert.equal(cells('down', 2, 0, 2), 'gone gone');
  assert.equal(cells('promised', 3, 1, 2), 'used promised promised');
  assert.equal(cells('partly', 4, 2, 1, ['a']), 'used used promised gone');
  assert.equal(cells('partly', 4, 2, 1, ['b']), 'used used free gone');
  assert.equal(cells('busy', 2, 5, 3), 'used used');
});

test('Heat levels run from 0 to 5', async () => {
  const { kMeasures, measureOf } = await load('views/history/measure.ts');
  const use = measureOf('use');
  assert.deepEqual(
    [0, 0.16, 0.5, 0.99, 1, 1.2].map((value) => use.level(value, 1)),
    [0, 0, 3, 5, 5, 5],
  );
  assert.equal(measureOf('nothing').key, 'wait_p90_seconds');
  for (const measure of kMeasures) assert.ok(measure.level(0, 0) >= 0);
});

test('The submit command names the strategy, and nothing in it can break out of its quotes', async () => {
  const { errorLine, shellQuoted, submitCommand } = await load('views/ask/command.ts');
  const one = { partition: 'gpu', gres_type: 'l40s', gpu: 'l40s', gpus_per_node: 4, nodes: 2, account: 'lab', qos: 'high' };
  assert.equal(submitCommand(one, [one], { section: '', objective: '' }), 'gpuadvise submit train.yaml -p gpu --gpus-per-node l40s:4 -N 2');
  const twin = { ...one, qos: 'low' };
  assert.equal(
    submitCommand(one, [one, twin], { section: 'a b', objective: 'cost' }),
    "gpuadvise submit train.yaml --section 'a b' --objective cost -p gpu --gpus-per-node l40s:4 -N 2 -q high",
  );
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
  assert.deepEqual(['a', 'a"b', 'a,b', '=1', '+1', '-1', '@x', '\t=1', '\n=1', ' =1', '\uFF0B1', 'a\nb'].map(csvCell), [
    '"a"',
    '"a""b"',
    '"a,b"',
    `"'=1"`,
    `"'+1"`,
    `"'-1"`,
    `"'@x"`,
    `"' =1"`,
    `"' =1"`,
    `"' =1"`,
    `"'\uFF0B1"`,
    '"a b"',
  ]);
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
  assert.deepEqual(value('training:\n  "max_steps": "10" # x\n'), { kind: 'value', value: '10' });
  assert.deepEqual(value('training: &a {max_steps: [10]}\n'), { kind: 'value', value: '10' });
  const odds = ['max_steps: *x', 'max_steps: [1, 2]', 'max_steps: |\n    3', 'max_steps: {a: 1}'].map(
    (line) => `a: &x 1\ntraining:\n  ${line}\n`,
  );
  for (const odd of [
    ...odds,
    'training: 3\n',
    '- training\n',
    'training:\n  max_steps: 1\ntraining:\n  max_steps: 2\n',
    'sections:\n  a: {}\n',
    'a: 1\n---\nb: 1\n',
    'training: {\n',
  ]) {
    assert.deepEqual(value(odd), { kind: 'other' }, odd);
    assert.equal(writeValue(odd, steps, '9'), odd);
  }
  const written = [
    ['training:\n  max_steps: 10   # keep\n  bf16: auto\n', '9', 'training:\n  max_steps: 9   # keep\n  bf16: auto\n'],
    ['training:\n    bf16: auto\n', '9', 'training:\n    max_steps: 9\n    bf16: auto\n'],
    ['training: {bf16: auto} # c\n', '9', 'training: {bf16: auto, max_steps: 9} # c\n'],
    ['training: {}\n', '9', 'training: {max_steps: 9}\n'],
    ['training:\n  max_steps:\n', '9', 'training:\n  max_steps: 9\n'],
    ['training: # none\nname: x\n', '9', 'training: # none\n  max_steps: 9\nname: x\n'],
    ['name: x\n', '9', 'name: x\n\ntraining:\n  max_steps: 9\n'],
    ['', '9', '\n\ntraining:\n  max_steps: 9\n'],
    ['# only this\n', '9', '# only this\n\ntraining:\n  max_steps: 9\n'],
    ['training:\n  max_steps: 10\n  bf16: auto\n', '', 'training:\n  bf16: auto\n'],
    ['training: {gpus: [a, b], max_steps: 10}\n', '', 'training: {gpus: [a, b]}\n'],
    ['training: {max_steps: 10, gpus: [a, b]}\n', '', 'training: {gpus: [a, b]}\n'],
    ['training: {max_steps: 10}\n', '', 'training: {}\n'],
    ['name: x\n', '', 'name: x\n'],
  ];
  for (const [text, to, expected] of written) {
    assert.equal(writeValue(text, steps, to), expected);
    if (to !== '') assert.deepEqual(value(expected), { kind: 'value', value: '9' });
  }
  assert.equal(writeValue('name: x\n', ['deadline'], '"fri 18:00"'), 'name: x\n\ndeadline: "fri 18:00"\n');
  assert.deepEqual(['l40s', 'h100-1g.11gb', 'fri 18:00', 'a: b', 'yes', '12', '-x', '"', 'x\ny: 1', ''].map(plainWord), [
    'l40s',
    'h100-1g.11gb',
    '"fri 18:00"',
    '"a: b"',
    '"yes"',
    '"12"',
    null,
    null,
    null,
    null,
  ]);
});

test('Names at the ends of lines keep their distance and their order', async () => {
  const { spread } = await load('charts/line_names.ts');
  assert.deepEqual(spread([50, 10, 90], 13, 100), [50, 10, 90]);
  assert.deepEqual(spread([50, 52, 51], 10, 100), [50, 70, 60]);
  assert.deepEqual(spread([99, 98], 10, 100), [100, 90]);
});

test('The question of Now is read from its address, and answered without asking where that is known', async () => {
  const { firstOfTypes, knownStarts, limitFor, questionOf, refusalsOf, selectBody } = await load('views/now/question.ts');
  const question = (query) => questionOf(new URLSearchParams(query));
  assert.deepEqual(question(''), { gpus: 1, nodes: 1, hours: 8, memory: 0, begin: null });
  assert.deepEqual(question('gpus=4&nodes=2&hours=0.5&memory=24&begin=1795300000'), {
    gpus: 4,
    nodes: 2,
    hours: 0.5,
    memory: 24,
    begin: 1795300000,
  });
  assert.deepEqual(question('gpus=0&nodes=-1&hours=x&memory=1e9&begin=0'), question(''));
  const refused = (query) => Object.keys(refusalsOf(new URLSearchParams(query)));
  for (const fine of ['', 'memory=24.5&hours=0.001', 'hours=87600&gpus=1024&nodes=10000', 'begin=4102444800', 'gpus=&memory=0'])
    assert.deepEqual(refused(fine), [], fine);
  for (const bad of ['gpus=1.5', 'gpus=-3', 'gpus=abc', 'gpus=99999999999', 'nodes=0', 'hours=20000000', 'hours=0.0001', 'hours=0x10'])
    assert.deepEqual(refused(bad), [bad.split('=')[0]], bad);
  assert.deepEqual(refused('memory=1e3&begin=99999999999'), ['memory', 'begin']);
  assert.equal(selectBody(question('memory=24.5')).min_gpu_memory_bytes, 24.5e9);
  assert.deepEqual(selectBody(question('gpus=4&nodes=2&hours=0.5')), { job: { gres: 'gpu:4', nodes: 2, time_limit_seconds: 1800 } });
  assert.equal(selectBody(question('memory=24')).min_gpu_memory_bytes, 24e9);
  const wait = { gpus_per_node: 1, nodes: 1, time_limit_seconds: 28800, wait_p10_seconds: 5, wait_p50_seconds: 60, wait_p90_seconds: 90 };
  const waits = {
    gpus: [{ gpu: 'a', gpu_name: 'A', memory_bytes: 1, waits: [wait, { ...wait, time_limit_seconds: 3600 }] }],
    best: [{ ...wait, choices: [{ gpu: 'a', partition: 'p', wait_p50_seconds: 60, wait_p90_seconds: 90 }] }],
  };
  assert.deepEqual(
    knownStarts(waits, question('')).map(({ gpu, p10, p50, p90 }) => [gpu, p10, p50, p90]),
    [['a', 5, 60, 90]],
  );
  for (const other of ['gpus=2', 'nodes=2', 'hours=9', 'memory=1', 'begin=1795300000'])
    assert.equal(knownStarts(waits, question(other)), null, other);
  assert.deepEqual(
    firstOfTypes([{ gpu: 'a', p50: 1 }, { gpu: 'a', p50: 2 }, { gpu: 'b' }, { gpu: 'c' }], 2).map((one) => one.gpu),
    ['a', 'b'],
  );
  assert.deepEqual(
    [0.5, 1, 2, 9].map((hours) => limitFor(waits.gpus, hours)),
    [3600, 3600, 28800, 28800],
  );
});

test('GPUs are kept by jobs that start before a job would end', async () => {
  const { keepingOf } = await load('views/now/keepers.ts');
  const node = (job_id, start, free = 1) => ({ gpus: [{ gpu: 'a', free }], promised: { job_id, start } });
  const of = (nodes, total = nodes.length) => {
    const { gpus, keepers, longest } = keepingOf({ nodes, total }, 'a', 1000, 3600);
    return [gpus, keepers.map(({ job, start, free }) => [job, start, free]), longest];
  };
  assert.deepEqual(of([node(2, 2000), node(1, 1500), node(2, 2000, 3)]), [
    5,
    [
      [1, 1500, 1],
      [2, 2000, 4],
    ],
    1000,
  ]);
  assert.deepEqual(of([node(null, 2000), node(null, 1500)]), [2, [[null, 1500, 2]], 1000]);
  assert.deepEqual(of([node(1, 1500), node(2, 4600)]), [1, [[1, 1500, 1]], 0]);
  assert.deepEqual(of([node(1, 1500)], 300), [1, [[1, 1500, 1]], 0]);
  assert.deepEqual(of([node(1, 4600), node(2, 900), node(3, 1500, 0), { gpus: [], promised: null }]), [0, [], 0]);
});

test('GPUs are added up over partitions only where each is counted once', async () => {
  const { splitOf } = await load('views/now/split.ts');
  const gpu = { gpu: 'a', total: 8, usable: 6, free: 3 };
  const group = { gpu: 'a', gpus: 8, free: 3, used: 2, promised: 1, unavailable: 2 };
  const now = { wait_p50_seconds: 0 };
  const waits = { wait_p50_seconds: 600 };
  const split = (groups, one, keptFor) => {
    const { free, kept, barred, used, unavailable, known } = splitOf(gpu, groups, one, keptFor);
    assert.equal(barred, waits === one ? 4 - kept : 0);
    return [free, kept, used, unavailable, known];
  };
  assert.deepEqual(split([group, group], now), [3, 1, 2, 2, true]);
  assert.deepEqual(split([group], waits), [0, 1, 2, 2, true]);
  assert.deepEqual(split([group], waits, 3), [0, 3, 2, 2, true]);
  assert.deepEqual(split([group], waits, 9), [0, 4, 2, 2, true]);
  assert.deepEqual(
    split(
      [
        { ...group, gpus: 4, free: 1, used: 1, promised: 0, unavailable: 2 },
        { ...group, gpus: 4, free: 2, used: 1, promised: 1, unavailable: 0 },
      ],
      now,
    ),
    [3, 1, 2, 2, true],
  );
  assert.deepEqual(
    split(
      [
        { ...group, gpus: 5 },
        { ...group, gpus: 6 },
      ],
      now,
    ),
    [3, 0, 3, 2, false],
  );
});

test('Moments are told by one clock', async () => {
  const { clockRange, clockTime, setClock } = await load('words/times.ts');
  const noon = 86400 * 20000 + 43200;
  setClock(0);
  assert.deepEqual(
    [clockTime(noon, noon), clockTime(noon + 43200, noon), clockRange(noon, noon + 3600, noon), clockRange(noon, noon + 86400, noon)],
    ['12:00', 'Sat 00:00', '12:00 – 13:00', '12:00 – Sat 12:00'],
  );
  setClock(12 * 3600);
  assert.equal(clockTime(noon, noon), '00:00');
  setClock(null);
});

test('Jobs of a node lie on neighbouring GPUs that are free', async () => {
  const { barsOf } = await load('views/nodes/gantt_lanes.ts');
  const lanesOf = (jobs, total) =>
    barsOf(
      jobs.map(([gpus, start, end], at) => ({ job_id: at, gpus, start, end })),
      total,
    ).map((bar) => [bar.lane, bar.lanes]);
  assert.deepEqual(
    lanesOf(
      [
        [2, 0, 10],
        [1, 0, 5],
        [1, 0, null],
        [1, 5, 20],
        [2, 10, 20],
      ],
      4,
    ),
    [
      [0, 2],
      [2, 1],
      [3, 1],
      [2, 1],
      [0, 2],
    ],
  );
  assert.deepEqual(
    lanesOf(
      [
        [8, 0, 10],
        [4, 5, 20],
        [0, 6, 7],
      ],
      4,
    ).map(([lane, lanes]) => lane + lanes <= 4 && lanes > 0),
    [true, true, true],
  );
});

test('A range of the address is of a length or from one moment to another, and is else none', async () => {
  const { hoursFor, partOf, rangeOf, weeksFor } = await load('parts/range.ts');
  const now = 1_790_000_000;
  const range = (said) => rangeOf(new URLSearchParams({ range: said }), now);
  assert.deepEqual(range('24h'), [now - 86400, now]);
  assert.deepEqual(range('7d'), [now - 7 * 86400, now]);
  assert.deepEqual(range('1789000000-1789500000'), [1789000000, 1789500000]);
  for (const said of ['', '0h', '24', '-24h', '24h ', '5-5', '9-3', '1e3-1e4', '123456789012-123456789013'])
    assert.equal(range(said), null, said);
  assert.deepEqual(
    [hoursFor(null, now), hoursFor(range('6h'), now), hoursFor(range('30d'), now), hoursFor([now + 5, now + 9], now)],
    [24, 6, 48, 1],
  );
  assert.deepEqual([weeksFor(null, now, 8), weeksFor(range('24h'), now, 8), weeksFor(range('60d'), now, 8)], [8, 8, 9]);
  assert.equal(weeksFor(range('9999d'), now, 8), 57);
  const x = [10, 20, 30, 40];
  assert.deepEqual([partOf(null, x), partOf([0, 50], x), partOf([15, 35], x), partOf([15, 99], x)], [null, null, [15, 35], [15, 40]]);
  assert.deepEqual([partOf([15, 25], x), partOf([50, 90], x), partOf([1, 2], [])], [null, null, null]);
});
