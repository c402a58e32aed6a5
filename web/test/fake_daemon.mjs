// A daemon that is made up: serves dist/ and answers of the API's shape, with faults to switch on.
//
//   node test/fake_daemon.mjs [--port 6828] [--large] [--hostile] [--named]
//
// In tests: const fake = await startFake({...}); fake.set({...}); fake.push(); await fake.stop().
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { counts, free, freeByType, job, map, nodes, queue, scheduler, select, timeline, waiting, waits } from './fake/answers.mjs';
import { keepOne, kNow, makeCluster, nameJobs } from './fake/cluster.mjs';
import { makeHostile } from './fake/hostile.mjs';
import { accuracy, history, usage, users } from './fake/records.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const kDist = join(here, '..', 'dist');
const kTypes = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const kPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const fixture = (name) => JSON.parse(readFileSync(join(here, 'fixtures', `${name}.json`), 'utf8'));

/** Faults: down (closes connections), starting (503), stale (its cause), slow (ms), late (ms by path), error (status), young, strange. */
const kWell = {
  down: false,
  starting: false,
  stale: null,
  slow: 0,
  late: null,
  error: 0,
  eventsError: 0,
  young: false,
  strange: false,
  user: null,
  note: null,
  accounts: undefined,
};

export async function startFake({ port = 0, large = false, hostile = false, prefix = '' } = {}) {
  const state = { cluster: makeCluster(large), faults: { ...kWell }, number: 1, takenAt: kNow, prefix, streams: new Set(), log: [] };
  if (hostile) makeHostile(state.cluster);
  const server = createServer((request, response) => void handle(state, request, response));
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${server.address().port}${prefix}/`;
  return {
    url: address,
    port: server.address().port,
    cluster: state.cluster,
    log: state.log,
    set(faults) {
      Object.assign(state.faults, faults);
      sendAll(state);
    },
    push(change = () => {}) {
      change(state.cluster);
      state.number += 1;
      state.takenAt += 30;
      sendAll(state);
    },
    streams: () => state.streams.size,
    alive() {
      for (const stream of state.streams) stream.write('event: alive\ndata: {}\n\n');
    },
    async stop() {
      for (const stream of state.streams) stream.destroy();
      server.closeAllConnections?.();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

const frame = (state) => ({
  meta: {
    version: '0.1.0',
    cluster: state.cluster.name,
    source: 'fake',
    snapshot_taken_at: state.faults.starting ? null : state.takenAt,
    stale_cause: state.faults.stale,
  },
  snapshot_age_seconds: state.faults.starting ? null : state.faults.stale ? 600 : 2,
  errors: [],
  warnings: [],
});

async function handle(state, request, response) {
  const url = new URL(request.url, 'http://x');
  const entry = { method: request.method, path: url.pathname.slice(state.prefix.length) + url.search, at: Date.now(), done: Infinity };
  state.log.push(entry);
  response.on('close', () => (entry.done = Date.now()));
  if (state.faults.down || !url.pathname.startsWith(`${state.prefix}/`)) return void request.socket.destroy();
  const path = url.pathname.slice(state.prefix.length);
  if (path === '/v1/events') return events(state, request, response);
  if (path.startsWith('/v1/')) return api(state, path, url.searchParams, request, response, entry);
  return file(path === '/' ? '/index.html' : path, response);
}

async function file(path, response) {
  try {
    const body = await readFile(join(kDist, normalize(path)));
    response.writeHead(200, {
      'Content-Type': kTypes[extname(path)] ?? 'application/octet-stream',
      'Content-Security-Policy': kPolicy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
}

function events(state, request, response) {
  if (state.faults.eventsError) return void response.writeHead(state.faults.eventsError).end();
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  state.streams.add(response);
  request.on('close', () => state.streams.delete(response));
  response.write('retry: 2000\n\n');
  send(state, response);
}

function send(state, response) {
  const starting = state.faults.starting;
  const data = {
    number: starting ? 0 : state.number,
    snapshot_taken_at: starting ? null : state.takenAt,
    snapshot_age_seconds: starting ? null : state.faults.stale ? 600 : 2,
    stale_cause: state.faults.stale,
    cluster: state.cluster.name,
    source: 'fake',
    version: '0.1.0',
    ...counts(state.cluster),
    free: freeByType(state.cluster),
  };
  response.write(`event: snapshot\ndata: ${JSON.stringify(data)}\n\n`);
}

function sendAll(state) {
  for (const stream of state.streams) {
    if (state.faults.down || state.faults.eventsError) stream.destroy();
    else send(state, stream);
  }
}

async function api(state, path, query, request, response, entry) {
  const body = await read(request);
  entry.body = body;
  const { faults } = state;
  const late = faults.slow || (faults.late?.[path] ?? 0);
  if (late) await new Promise((resolve) => setTimeout(resolve, late));
  if (faults.starting) return reply(state, response, 503, 'unavailable', 'no snapshot yet: slurmctld does not answer');
  if (faults.error) return reply(state, response, faults.error, 'internal', 'the answer could not be made');
  const answer = answerTo(state, path, query, body);
  if (!answer) return reply(state, response, 404, 'not_found', 'no such path');
  if (answer.bad) return reply(state, response, 400, 'bad_input', answer.bad);
  if (query.get('format') === 'csv') return csvFile(response, answer.jobs);
  const tag = `W/"${createHash('md5').update(JSON.stringify(answer)).digest('hex')}"`;
  if (request.headers['if-none-match'] === tag) {
    return void response.writeHead(304, { ETag: tag, 'Gpuadvise-Snapshot': String(state.takenAt) }).end();
  }
  response.writeHead(200, { 'Content-Type': 'application/json', ETag: tag });
  response.end(JSON.stringify({ ...frame(state), ...answer }));
}

function csvFile(response, jobs) {
  const heads = ['job_id', 'name', 'gpus'];
  response.writeHead(200, { 'Content-Type': 'text/csv; charset=utf-8' });
  response.end(
    [heads, ...jobs.map((job) => heads.map((head) => JSON.stringify(job[head])))].map((line) => `${line.join(',')}\r\n`).join(''),
  );
}

function reply(state, response, status, code, message) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ ...frame(state), errors: [{ code, message, pointer: '' }] }));
}

async function read(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

function answerTo(state, path, query, body) {
  const { cluster, faults } = state;
  const bad = ['state', 'condition', 'gpu'].find((name) => query.get(name) === 'nonsense');
  if (bad) return { bad: `${bad} is 'nonsense'; write another` };
  switch (path) {
    case '/v1/waits':
      return waits(cluster);
    case '/v1/free':
      return free(cluster, query);
    case '/v1/map':
      return map(cluster);
    case '/v1/scheduler':
      return faults.scheduler === undefined ? scheduler() : { ...scheduler(), read_at: null, problem: faults.scheduler };
    case '/v1/timeline':
      return timeline(cluster, query);
    case '/v1/nodes':
      return nodes(cluster, query);
    case '/v1/queue':
      return queue(cluster, query);
    case '/v1/history':
      return faults.young
        ? {
            ...history(cluster, query),
            since: null,
            gpus: history(cluster, query).gpus.map((one) => ({ ...one, last_day: [] })),
            heat: [],
            by_week: [],
            series: [],
            best_time: null,
            best_time_unknown: 'few_jobs',
            note: 'nothing is known yet: the history is new',
          }
        : history(cluster, query);
    case '/v1/me':
      return { user: faults.user, anonymous: faults.user === null, note: faults.note };
    case '/v1/waiting':
      return waiting(cluster);
    case '/v1/usage':
      return usage(query, faults.accounts === undefined ? (faults.user === null ? null : undefined) : faults.accounts);
    case '/v1/users':
      return faults.user === null ? null : users(cluster, query);
    case '/v1/presets':
      return { presets: ['gpt2', 'gr00t-n1-2b', 'llama-3.1-8b', 'qwen2.5-7b'] };
    case '/v1/accuracy':
      return faults.strange ? { all: {} } : accuracy(faults.young);
    case '/v1/select':
      return select(cluster, JSON.parse(body));
    case '/v1/advise':
    case '/v1/fit':
    case '/v1/scale':
      return training(path.slice('/v1/'.length), JSON.parse(body));
    default:
      return path.startsWith('/v1/jobs/') ? job(cluster, Number(path.slice('/v1/jobs/'.length))) : null;
  }
}

let asked = 0;

// A line "wrong: …" is an error with its line, as the daemon tells it.
function training(name, question) {
  const line = question.spec_yaml.split('\n').findIndex((one) => one.startsWith('wrong:'));
  if (line >= 0) return { bad: `train.yaml:${line + 1}: 'wrong' is no key; known are command, model, training` };
  if (question.spec_yaml.startsWith('sections:') && !question.section)
    return { bad: 'train.yaml: has the sections a and b; choose one with --section NAME' };
  if (question.objective === 'deadline') return { bad: 'the objective deadline needs a deadline' };
  const answer = { ...fixture(name), advice_id: String(++asked) };
  if (question.spec_yaml.startsWith('nowhere:')) return { ...answer, strategies: [] };
  if (name === 'advise' && /^deadline:/m.test(question.spec_yaml)) return inTime(answer);
  if (name === 'advise' && /array: 1-80/.test(question.spec_yaml)) return { ...answer, sweep: sweepOf(answer) };
  return question.objective ? { ...answer, objective: question.objective } : answer;
}

// 80 runs on the first two.
function sweepOf({ strategies: [first, second] }) {
  const spread = (name, p50) => ({ [`${name}_p10_seconds`]: p50 / 2, [`${name}_p50_seconds`]: p50, [`${name}_p90_seconds`]: p50 * 2 });
  const share = { members: 40, at_a_time: 12, start_p50_seconds: 600, ...spread('end', 80_000) };
  return {
    members: 80,
    array: '1-80',
    ...spread('makespan', 90_000),
    half_done_p50_seconds: 40_000,
    gpu_hours: 1234.5,
    others_delay_seconds: 7200,
    others_delayed: 3,
    shares: [
      { ...share, rank: first.rank, array: '1-40' },
      { ...share, rank: second.rank, array: '41-80' },
    ],
    single_rank: first.rank,
    ...spread('single_makespan', 150_000),
    later_than_played: false,
  };
}

// The first two make the deadline, the first of them surely.
function inTime(answer) {
  const strategies = answer.strategies.map((one, at) => ({
    ...one,
    deadline_chance: at === 0 ? 0.97 : at === 1 ? 0.914 : 0.2,
    makes_deadline: at < 2,
  }));
  return { ...answer, deadline: 1_790_086_400, strategies };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const port = given.includes('--port') ? Number(given[given.indexOf('--port') + 1]) : 6828;
  const fake = await startFake({ port, large: given.includes('--large'), hostile: given.includes('--hostile') });
  if (given.includes('--named')) {
    nameJobs(fake.cluster);
    keepOne(fake.cluster, 'rtx4090');
    fake.set({ user: 'ann' });
  }
  console.log(fake.url);
  setInterval(() => fake.push(), 10_000);
}
